"""What a kernel perceptron keeps from one call to the next: all its support vectors, or those that a budget has room for."""

import hashlib
from copy import copy, deepcopy
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.kernels import Kernel
from halfspace.models.kernel.prediction import Expansion, stacked
from halfspace.solvers.kernel.budgeted import Budgeted, Keep, form_of, keep
from halfspace.solvers.kernel.forgetron import Forgetron
from halfspace.solvers.kernel.perceptron import CachedOutputs, start
from halfspace.solvers.kernel.rows import KernelRows
from halfspace.solvers.rules.averaged import Mean
from halfspace.solvers.rules.rosenblatt import Rosenblatt
from halfspace.solvers.rules.sweep import Forget, Task
from halfspace.solvers.rules.voted import Log, drain, join, poll, start_log, votes_of

__all__ = ["OnBudget", "Setting", "Unbounded", "fingerprint"]


class Setting(NamedTuple):
    """What does not change while learning."""

    kernel: Kernel
    shift: float  # square of the clamped input
    variant: str
    room: float  # bytes for the kernel matrix


class _Page(NamedTuple):
    """Support vectors of finished calls."""

    support: Matrix
    rows: IntArray  # (m,) the examples they are
    signed: FloatArray  # (K, m) strengths times labels
    missing: FloatArray  # (K, m) what is missing from the mean, times the clock
    log: Log


def fingerprint(X: Matrix, target: IntArray) -> str:
    """Return a hash of examples and class numbers: a warm start goes on only with the data it was made on.

    Examples
    --------
    >>> fingerprint(np.eye(2), np.array([0, 1])) == fingerprint(np.eye(2), np.array([1, 0]))
    False
    """
    parts = (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)
    digest = hashlib.blake2b(repr(X.shape).encode(), digest_size=16)
    for part in (*parts, target):
        digest.update(np.ascontiguousarray(part).view(np.uint8).data)
    return digest.hexdigest()


class Unbounded:
    """Keeps every example a mistake was made on."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.base: _Page | None = None  # of earlier calls
        self.page: _Page | None = None  # of this call too, once settled
        self.clock, self.mistakes = 0, np.zeros(1, dtype=np.int64)

    def begin(self, X: Matrix, task: Task, mark: str = "") -> CachedOutputs:
        """Return who presents these examples, starting from what was learnt before; `mark` is the data's fingerprint."""
        K, n = task.positive.size, task.target.size
        self.base, self.mark = self.page, mark
        before = None if self.base is None else self._function(self.base.signed).outputs(X).T
        self.state = start(task, before)
        if self.base is not None:
            self.state.mistakes[:], self.state.clock[0] = self.mistakes, self.clock
        empty = np.zeros((K, 0))
        memories = {"plain": Forget(), "averaged": Mean(np.zeros((K, n)), empty, empty)}
        self.logs: list[Log] = []
        self.memory: Any = start_log(K * n) if self.setting.variant == "voted" else memories[self.setting.variant]
        return self._presenter(X, task)

    def _presenter(self, X: Matrix, task: Task) -> CachedOutputs:
        """Return who presents, with the kernel values of these examples."""
        kernel = KernelRows(self.setting.kernel, X, self.setting.shift, self.setting.room)
        presenter = CachedOutputs(Rosenblatt(), self.memory, kernel, task, self.state)
        self.signs, self.whole = presenter.signs, kernel.whole is not None
        return presenter

    def resumed(self) -> Self:
        """Return a copy that can go on with the same examples while this one stays as it is."""
        other = copy(self)
        other.state, other.memory, other.logs = deepcopy(self.state), deepcopy(self.memory), list(self.logs)
        return other

    def go_on(self, X: Matrix, task: Task) -> CachedOutputs:
        """Return who presents the same examples again."""
        return self._presenter(X, task)

    def settle(self, X: Matrix) -> None:
        """Take the examples that mistakes were made on into the support; may be called at any time."""
        if isinstance(self.memory, Log):
            self.logs.append(drain(self.memory))
        state, memory, K = self.state, self.memory, self.signs.shape[0]
        rows = np.flatnonzero(state.alpha.any(axis=0))
        beta = memory.beta[:, rows] if isinstance(memory, Mean) else np.zeros((K, rows.size))
        log = join(self.logs)
        page = _Page(X[rows], rows, (state.alpha * self.signs)[:, rows], beta, log._replace(row=np.searchsorted(rows, log.row)))
        self.page = page if self.base is None else _joined(self.base, page)
        self.clock, self.mistakes = int(state.clock[0]), state.mistakes.copy()

    def alpha(self) -> FloatArray:
        """Return the strengths of the examples of this call, shape (K, n)."""
        if isinstance(self.memory, Mean):
            return np.asarray(self.state.alpha - np.abs(self.memory.beta) / max(int(self.state.clock[0]), 1))
        return self.state.alpha.copy()

    def expansion(self) -> Expansion:
        """Return the answer, once settled: the last function, or the mean of all."""
        page = self._settled()
        return self._function(page.signed - page.missing / max(self.clock, 1))

    def _settled(self) -> _Page:
        """Return the support vectors of a model that has some."""
        if self.page is None:
            raise AttributeError("nothing was learnt yet")
        return self.page

    def _function(self, coefficients: FloatArray) -> Expansion:
        """Return the function with these coefficients (K, m) at the support vectors."""
        page, bias = self._settled(), self.setting.shift * coefficients.sum(axis=1)
        return Expansion(self.setting.kernel, page.support, page.rows, coefficients, bias)

    def votes(self) -> tuple[Log, FloatArray]:
        """Return the mistakes in order and the votes of the function that each of them made, shape (m,)."""
        page = self._settled()
        return page.log, votes_of(page.log, page.signed.shape[0], self.clock)

    def tally(self, X: Matrix) -> FloatArray:
        """Return the votes for minus those against, as a share of all, shape (n, K)."""
        (log, votes), page = self.votes(), self._settled()
        function = self._function(page.signed)
        tally = np.zeros((X.shape[0], page.signed.shape[0]))
        for rows in function.blocks(X):
            products = np.ascontiguousarray(function.values(X[rows]), dtype=np.float64) + self.setting.shift
            poll(products, log, votes, np.zeros((products.shape[0], tally.shape[1])), tally[rows])
        return tally / max(self.clock, 1)


def _joined(old: _Page, new: _Page) -> _Page:
    """Put the support vectors of this call behind those of earlier ones, whose rows are no longer at hand."""
    m = old.signed.shape[1]
    return _Page(
        stacked(old.support, new.support),
        np.concatenate([np.full(m, -1), new.rows]),
        np.concatenate([old.signed, new.signed], axis=1),
        np.concatenate([old.missing, new.missing], axis=1),
        join([old.log, new.log._replace(row=new.log.row + m)]),
    )


class OnBudget:
    """Keeps as many support vectors as the budget has room for."""

    def __init__(self, setting: Setting, budget: int, rule: str) -> None:
        self.setting, self.budget, self.rule, self.whole = setting, budget, rule, True
        self.kept: Keep | None = None

    def begin(self, X: Matrix, task: Task, mark: str = "") -> Budgeted:
        """Return who presents these examples; those of a data set, which have a fingerprint, are measured beforehand."""
        fastest = float(task.s.max())
        if self.kept is None:
            width = 0 if form_of(self.setting.kernel, X, self.setting.shift) is None else X.shape[1]
            self.kept = keep(task.positive.size, self.budget, width, self.rule, fastest)
        self.mark, kernel = mark, KernelRows(self.setting.kernel, X, self.setting.shift, room=0.0)
        largest = float(kernel.diagonal().max())  # refuses what overflows, before anything is changed
        for k, slots in enumerate(self.kept.slots):
            slots.row[:] = -1
            rule = self.kept.rules[k]
            if isinstance(rule, Forgetron):
                self.kept.rules[k] = rule._replace(fastest=max(fastest, rule.fastest))
            if mark:
                slots.sums[0] = largest
        return self._presenter(kernel, task)

    def _presenter(self, kernel: KernelRows, task: Task) -> Budgeted:
        """Return who presents."""
        self.signs = np.where(task.target == task.positive[:, None], 1.0, -1.0)
        return Budgeted(kernel, task, self._kept())

    def _kept(self) -> Keep:
        """Return what is kept, once there is something."""
        if self.kept is None:
            raise AttributeError("nothing was learnt yet")
        return self.kept

    def resumed(self) -> Self:
        """Return a copy that can go on with the same examples while this one stays as it is."""
        other = copy(self)
        other.kept = self._kept().copy()
        return other

    def go_on(self, X: Matrix, task: Task) -> Budgeted:
        """Return who presents the same examples again."""
        return self._presenter(KernelRows(self.setting.kernel, X, self.setting.shift, room=0.0), task)

    def settle(self, X: Matrix) -> None:
        """Read the answer from the slots."""
        kept, K, n = self._kept(), *self.signs.shape
        self.clock, self.mistakes = int(kept.counts.clock[0]), kept.counts.mistakes.copy()
        self.signed, known = np.zeros((K, n)), True
        for k, slots in enumerate(kept.slots):
            used = slots.row[: int(slots.counts[0])]
            mine = used >= 0
            np.add.at(self.signed[k], used[mine], slots.weight[: used.size][mine])
            known &= bool(mine.all())
        if known:
            rows = np.flatnonzero(self.signed.any(axis=0))
            support, c = X[rows], self.signed[:, rows]
        else:
            support, c = kept.all_support(), kept.all_weights()
            rows = np.full(c.shape[1], -1)
        bias = self.setting.shift * c.sum(axis=1)
        self.answer = Expansion(self.setting.kernel, support, rows, c, bias)

    def alpha(self) -> FloatArray:
        """Return the strengths of the examples of this call, shape (K, n); a projection can make them negative."""
        return self.signed * self.signs

    def expansion(self) -> Expansion:
        """Return the answer, once settled."""
        return self.answer
