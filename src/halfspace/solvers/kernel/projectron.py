"""The Projectron: a kernel perceptron on a budget, which projects a new example on the support vectors there are.

Problem    Follow a stream of examples with a function of at most B support vectors, none of which is ever forgotten.
Rule       On a mistake,  y_t f(x_t) <= 0,  let  k_t = k(x_t, ·)  have the projection  p_t = Σ_b d_b k(x_b, ·),
           d = K⁻¹ (k(x_b, x_t))_b,  on the span of the support vectors, and the rest  δ_t = k_t - p_t.  While there is room and
           δ_t is not negligible, x_t joins the support vectors,  f <- f + y_t k_t;  otherwise  f <- f + y_t p_t,  which changes
           weights only.
Theorem    For any g with hinge losses  l_t = max(0, 1 - y_t g(x_t)/R²),  R² the largest k(x, x),
               M <= (‖g‖/R)² + 2 Σ l_t + 2 (‖g‖/R) Σ ‖δ_t‖/R - Σ ‖δ_t‖²/R²,
           the sums of the rests over the mistakes that were projected: each mistake brings f nearer to g by at least
           R²(1 - 2 l_t) - 2‖g‖‖δ_t‖ + ‖δ_t‖².
Reference  Orabona, Keshet and Caputo 2009, algorithm 2 and the proof of theorem 3, with the threshold replaced by the budget.
Cost       B kernel values per example, B² per mistake.

`slots.sums` holds R², Σ ‖δ_t‖ and Σ ‖δ_t‖².
"""

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import block_diag

from halfspace._dispatch import compiled, compiled_inside
from halfspace._typing import FloatArray, IntArray
from halfspace.kernels.gram import VALUES, LazyGram
from halfspace.rows.orders import Orders
from halfspace.solvers.kernel.perceptron import Epochs
from halfspace.solvers.kernel.slots import Slots, Tabled, fill_values, form_of, output_of, place, seat, start_slots
from halfspace.solvers.outcome import Reason
from halfspace.solvers.rules.sweep import Task
from halfspace.solvers.run import PIECE

__all__ = ["Counts", "Keep", "Projecting", "Projectron", "present_budgeted", "start_keep"]

NEGLIGIBLE = 1e-6
"""Squared rest, as a share of k(x, x), below which an example is taken to lie in the span: the inverse stays accurate."""
BLOCK = 256
"""Examples whose kernel values are tabled at a time."""


class Projectron(NamedTuple):
    """Project on a full budget."""

    inverse: Annotated[FloatArray, "f8(B,B)"]  # (B, B) inverse of the kernel matrix of the slots in use


@compiled_inside
def _coordinates(inverse: FloatArray, slots: Slots) -> float:
    """Write d = K⁻¹ value to `slots.scratch`; return the squared length of the projection, d·value."""
    m, value, d, total = slots.counts[0], slots.value, slots.scratch, 0.0
    for b in range(m):
        dot, row = 0.0, inverse[b]
        for o in range(m):
            dot += row[o] * value[o]
        d[b] = dot
        total += dot * value[b]
    return total


@compiled
def _extend(inverse: FloatArray, d: FloatArray, m: int, rest: float) -> None:
    """Bring the inverse up to date for one more row: a change of rank one."""
    for b in range(m):
        share, row = d[b] / rest, inverse[b]
        for o in range(m):
            row[o] += share * d[o]
        row[m] = -share
        inverse[m, b] = -share
    inverse[m, m] = 1.0 / rest


@compiled
def learn(rule: Projectron, form: Any, slots: Slots, i: int, t: int, change: float, square: float) -> None:
    """Add `change` (signed) of example i to f, whose kernel values are in `slots.value`; `square` is k(x_i, x_i)."""
    m, d = slots.counts[0], slots.scratch
    rest = max(square - _coordinates(rule.inverse, slots), 0.0)
    if m < slots.weight.size and rest > NEGLIGIBLE * square:
        _extend(rule.inverse, d, m, rest)
        place(form, slots, i, t, m)
        seat(slots, i, m, change, square)
        slots.counts[0] = m + 1
    else:
        for b in range(m):
            slots.weight[b] += change * d[b]
        slots.sums[1] += np.sqrt(rest)
        slots.sums[2] += rest


class Counts(NamedTuple):
    """What has happened so far."""

    mistakes: Annotated[IntArray, "i8(K)"]  # (K,)
    updates: Annotated[IntArray, "i8(K)"]  # (K,)
    earlier: Annotated[IntArray, "i8(K)"]  # (K,) updates before this epoch
    active: Annotated[IntArray, "i8(K)"]  # (K,) 1 for the problems that the last full epoch changed
    clock: Annotated[
        IntArray, "i8(4) in 0..1e18"
    ]  # (4,) examples presented, epoch, examples of the epoch presented, seed of the orders


@compiled
def present_budgeted(rule: Projectron, form: Any, task: Task, slots: Slots, counts: Counts, k: int, order: IntArray) -> None:
    """Present the examples in `order`, one block, to problem k; an output of 0 is a mistake for both labels."""
    mistakes = 0
    for t in range(order.size):
        i = order[t]
        square = fill_values(form, slots, i, t)
        slots.sums[0] = max(slots.sums[0], square)
        y = 1.0 if task.target[i] == task.positive[k] else -1.0
        if y * output_of(slots) <= 0.0 and task.s[i] > 0.0:
            learn(rule, form, slots, i, t, y * task.s[i], square)
            mistakes += 1
    counts.mistakes[k] += mistakes
    counts.updates[k] += mistakes


class Keep:
    """What budgeted perceptrons keep between examples: slots, rules and counts of K problems, and the rows of tabled slots."""

    slots: list[Slots]
    rules: list[Projectron]
    counts: Counts
    rows: Annotated[list[Any], ["none | rows(_r,d)"]]

    def __init__(self, slots: list[Slots], rules: list[Projectron], counts: Counts) -> None:
        self.slots, self.rules, self.counts = slots, rules, counts
        self.rows = [None] * len(slots)

    def check(self, sizes: dict[str, int], n: int) -> None:
        """Refuse slots read from a file that do not fit the problems, the budget or the n examples."""
        if not len(self.slots) == len(self.rules) == len(self.rows) == sizes["K"]:
            raise ValueError("KernelPerceptron: there is not one set of slots per problem")
        for slots in self.slots:
            inside = 0 <= slots.counts[0] <= sizes["B"] and slots.columns.shape[0] in (0, sizes["d"])
            if not inside or not -1 <= slots.row.min(initial=-1) <= slots.row.max(initial=-1) < n:
                raise ValueError("KernelPerceptron: more slots are in use than there are, or of other examples")

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


def start_keep(n_problems: int, budget: int, n_features: int) -> Keep:
    """Make room for `budget` support vectors per problem, of `n_features` inputs (0 where the kernel hands in tables)."""
    slots = [start_slots(budget, n_features) for _ in range(n_problems)]
    mistakes, updates, earlier = np.zeros((3, n_problems), dtype=np.int64)
    counts = Counts(mistakes, updates, earlier, np.ones(n_problems, dtype=np.int64), np.zeros(4, dtype=np.int64))
    return Keep(slots, [Projectron(np.zeros((budget, budget))) for _ in slots], counts)


@dataclass(frozen=True)
class Projecting:
    """Present examples to K budgeted problems, in pieces of an epoch, until an epoch brings no mistake."""

    gram: LazyGram
    """Kernel and examples; their matrix is never made."""
    task: Task
    """Labels and weights."""
    orders: Orders
    kept: Keep
    """What to begin with."""
    seconds: float | None = None
    """Time limit: what a step adds to the proof takes a tenth of it at most."""
    unit: str = "epoch"
    columns: tuple[str, ...] = ("mistakes", "squared_norm")
    form: Any = field(init=False, repr=False)
    epochs: Epochs = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epochs", Epochs(self.orders))
        X, direct = self.gram.X, self.kept.slots[0].columns.shape[0] > 0
        dense = X.toarray() if direct and sparse.issparse(X) else X  # a stream that began with dense rows
        object.__setattr__(self, "form", form_of(self.gram.kernel, dense, self.gram.clamped) if direct else None)

    @property
    def piece(self) -> int:
        """Examples of a step."""
        B, width = self.kept.slots[0].weight.size, self.gram.width
        most = BLOCK if self.form is None else max(1, PIECE // (B * (16 + width) * len(self.kept.slots)))
        return most if self.seconds is None else max(1, min(most, int(0.1 * self.seconds / self._proof(1))))

    def _proof(self, support: int) -> float:
        """Predict the seconds for the outputs that so many support vectors give to all examples."""
        return self.gram.n * support * (1.0 + self.gram.width / 64) / VALUES

    def start(self, before: Keep | None = None) -> Keep:
        """Begin, or go on."""
        kept = self.kept if before is None else before
        kept.counts.active[:] = 1
        return kept

    def step(self, kept: Keep, most: int) -> tuple[Any, ...]:
        """Present a piece of an epoch."""
        del most
        rows = self.epochs.piece(kept.counts.clock, self.piece)
        for k in np.flatnonzero(kept.counts.active).tolist():
            if self.form is not None:
                present_budgeted(kept.rules[k], self.form, self.task, kept.slots[k], kept.counts, k, rows)
            else:
                self._present_tabled(kept, k, rows)
        if not self.epochs.closed(kept.counts, rows.size):
            return ()
        squares = [slots.weight @ slots.K @ slots.weight for slots in kept.slots]
        return kept.counts.mistakes[None].copy(), np.array([squares])

    def _present_tabled(self, kept: Keep, k: int, order: IntArray) -> None:
        """Present a block by tables of kernel values, and keep the rows of the slots that changed."""
        gram, slots, rows = self.gram, kept.slots[k], kept.rows[k]
        m, table = int(slots.counts[0]), np.zeros((order.size, slots.weight.size))
        if m and gram.kernel.is_precomputed:
            table[:, :m] = gram.block(order, slots.row[:m], np.float64)
        elif m:
            table[:, :m] = gram.kernel.matrix(gram.X[order], rows[:m]) + gram.clamped
        among = gram.block(order, order, np.float64)
        np.fill_diagonal(among, gram.diagonal[order])
        before = slots.row.copy()
        slots.row[:] = -1
        present_budgeted(kept.rules[k], Tabled(table, among), self.task, slots, kept.counts, k, order)
        changed = slots.row >= 0
        if changed.any():
            kept.rows[k] = _replaced(rows, gram.X[slots.row[changed]], changed, int(slots.counts[0]))
        slots.row[~changed] = before[~changed]

    def status(self, kept: Keep) -> Reason | None:
        """Tell whether nothing changes any more."""
        return None if kept.counts.active.any() else "converged"

    def ending(self, kept: Keep) -> float:
        """Predict the seconds for the outputs of all problems, which the proof needs."""
        return self._proof(sum(int(slots.counts[0]) for slots in kept.slots))

    def certify(self, kept: Keep) -> Keep:
        """Return the state, which `models` makes a certificate of."""
        return kept


def _replaced(rows: Any, new: Any, changed: Any, m: int) -> Any:
    """Return the rows of m slots, the changed ones replaced by the new ones in their order."""
    old = new[:0] if rows is None else rows
    where = np.arange(m)
    where[changed[:m]] = old.shape[0] + np.arange(new.shape[0])
    either = sparse.issparse(new) or sparse.issparse(old)
    both = sparse.vstack([*map(sparse.csr_array, (old, new))], format="csr") if either else np.concatenate([old, new])
    return both[where]
