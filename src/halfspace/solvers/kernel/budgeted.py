"""Presents examples to budgeted kernel perceptrons: picks the form of the kernel, and keeps the support vectors' rows."""

from copy import deepcopy
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import block_diag

from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.kernels import RBF, Kernel, Linear, Polynomial
from halfspace.rows.views import view_of
from halfspace.solvers.kernel.budget import Counts, Gaussian, Powers, Slots, Tabled, present_budgeted, start_slots
from halfspace.solvers.kernel.forgetron import Forgetron
from halfspace.solvers.kernel.projectron import Projectron
from halfspace.solvers.kernel.rows import KernelRows
from halfspace.solvers.rules.sweep import Task
from halfspace.solvers.run import PIECE

__all__ = ["Budgeted", "Keep", "form_of", "keep"]

BLOCK = 256
"""Examples whose kernel values are tabled at a time."""


def form_of(kernel: Kernel, X: Matrix, shift: float) -> Any:
    """Return the kernel on these rows as the compiled loop computes it; None where it has to be tabled.

    Examples
    --------
    >>> from halfspace.kernels import Cosine
    >>> form_of(Linear(), np.eye(2), 1.0).degree, form_of(Cosine(), np.eye(2), 1.0)
    (1, None)
    """
    if sparse.issparse(X):
        return None
    if type(kernel) is RBF:
        return Gaussian(view_of(X), float(kernel.gamma), shift)
    if type(kernel) is Linear:
        return Powers(view_of(X), 1.0, 0.0, 1, shift)
    if type(kernel) is Polynomial:
        return Powers(view_of(X), float(kernel.gamma), float(kernel.coef0), int(kernel.degree), shift)
    return None


class Keep:
    """What budgeted perceptrons keep between examples: slots, rules and counts of K problems, and the rows of tabled slots."""

    def __init__(self, slots: list[Slots], rules: list[Any], counts: Counts) -> None:
        self.slots, self.rules, self.counts = slots, rules, counts
        self.rows: list[Any] = [None] * len(slots)

    def support(self, k: int) -> Any:
        """Return the support vectors of problem k, shape (m, d)."""
        m = int(self.slots[k].counts[0])
        return np.ascontiguousarray(self.slots[k].columns[:, :m].T) if self.rows[k] is None else self.rows[k][:m]

    def all_support(self) -> Any:
        """Return the support vectors of all problems, one below the other."""
        parts = [self.support(k) for k in range(len(self.slots)) if self.slots[k].counts[0]]
        return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)

    def all_weights(self) -> FloatArray:
        """Return the signed strengths of the support vectors of all problems, shape (K, m): each problem's own, else 0."""
        return np.asarray(block_diag(*(slots.weight[None, : int(slots.counts[0])] for slots in self.slots)))

    def copy(self) -> "Keep":
        """Copy everything, so that what fails leaves the old one as it was."""
        return deepcopy(self)


def keep(n_problems: int, budget: int, n_features: int, rule: str, fastest: float = 1.0) -> Keep:
    """Make room for `budget` support vectors per problem, ruled by "forgetron" or "projectron"."""
    slots = [start_slots(budget, n_features) for _ in range(n_problems)]
    zeros = np.zeros(n_problems, dtype=np.int64)
    rules: list[Any] = [
        Forgetron(np.zeros(1, dtype=np.int64), fastest) if rule == "forgetron" else Projectron(np.zeros((budget, budget)))
        for _ in range(n_problems)
    ]
    return Keep(slots, rules, Counts(zeros, zeros.copy(), np.zeros(1, dtype=np.int64)))


class Budgeted:
    """Presents examples to K budgeted problems.

    Parameters
    ----------
    kernel : KernelRows
        The kernel and the examples; its matrix is not needed.
    task : Task
        Labels and weights.
    kept : Keep
        Updated in place.
    """

    def __init__(self, kernel: KernelRows, task: Task, kept: Keep) -> None:
        self.kernel, self.task, self.kept, self.state = kernel, task, kept, kept.counts
        B, direct = kept.slots[0].weight.size, kept.slots[0].columns.shape[0] > 0
        X = kernel.X.toarray() if direct and sparse.issparse(kernel.X) else kernel.X
        self.form = form_of(kernel.kernel, X, kernel.shift) if direct else None
        work = B * (16 + (kernel.X.shape[1] if self.form is not None else 0)) * len(kept.slots)
        self.piece = BLOCK if self.form is None else max(1, PIECE // work)

    def present(self, order: IntArray, active: IntArray) -> None:
        """Present the examples in `order`, at most `piece` of them, to the problems in `active`."""
        for k in active:
            slots = self.kept.slots[k]
            if self.form is not None:
                present_budgeted(self.kept.rules[k], self.form, self.task, slots, self.state, k, order)
            else:
                self._present_tabled(int(k), slots, order)
        self.state.clock[0] += order.size

    def _present_tabled(self, k: int, slots: Slots, order: IntArray) -> None:
        """Present a block by tables of kernel values, and keep the rows of the slots that changed."""
        kernel, m, rows = self.kernel, int(slots.counts[0]), self.kept.rows[k]
        among = kernel.between(order, order).astype(np.float64, copy=False)
        table = np.zeros((order.size, slots.weight.size))
        if m and kernel.given:
            table[:, :m] = kernel.between(order, slots.row[:m])
        elif m:
            table[:, :m] = kernel.kernel.matrix(kernel.X[order], rows[:m]) + kernel.shift
        before = slots.row.copy()
        slots.row[:] = -1
        present_budgeted(self.kept.rules[k], Tabled(table, among), self.task, slots, self.state, k, order)
        changed = slots.row >= 0
        if changed.any():
            self.kept.rows[k] = _replaced(rows, kernel.X[slots.row[changed]], changed, int(slots.counts[0]))
        slots.row[~changed] = before[~changed]

    def squares(self) -> FloatArray:
        """Return ‖f‖² of every problem, shape (K,)."""
        return np.array([slots.weight @ slots.K @ slots.weight for slots in self.kept.slots])


def _replaced(rows: Any, new: Any, changed: Any, m: int) -> Any:
    """Return the rows of m slots, the changed ones replaced by the new ones in their order."""
    old = new[:0] if rows is None else rows
    where = np.arange(m)
    where[changed[:m]] = old.shape[0] + np.arange(new.shape[0])
    either = sparse.issparse(new) or sparse.issparse(old)
    both = sparse.vstack([*map(sparse.csr_array, (old, new))], format="csr") if either else np.concatenate([old, new])
    return both[where]
