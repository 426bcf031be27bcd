"""What a kernel perceptron keeps between calls, all its support vectors or a budget of them, and what that proves."""

import hashlib
from copy import copy, deepcopy
from itertools import repeat
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.certificates import (
    BudgetedMistakes,
    Certificate,
    KernelBracket,
    MistakeBound,
    Novikoff,
    PerClass,
    Projection,
)
from halfspace.certificates.margins.ballot import Ballot
from halfspace.kernels import Kernel
from halfspace.kernels.gram import LazyGram
from halfspace.models.kernel.prediction import Expansion, Measured, fit_single, measured, stacked
from halfspace.models.parameters import PROVED, Examples
from halfspace.rows.orders import Orders
from halfspace.solvers.kernel.perceptron import KernelPresenting, Training, overlaps
from halfspace.solvers.kernel.projectron import Keep, Projecting, start_keep
from halfspace.solvers.kernel.slots import form_of
from halfspace.solvers.rules.averaged import Mean
from halfspace.solvers.rules.sweep import PRESENTED, SEED, Forget, State, Task
from halfspace.solvers.rules.voted import Log, join, poll, start_log, votes_of
from halfspace.solvers.run import Course

__all__ = ["OnBudget", "Setting", "Unbounded", "fingerprint", "mistakes_certificate"]

BUDGETED = 350
"""Entries that are read in the time that the Projectron's bound takes, for one example in one problem."""
UNSURE = 1e-6
"""Share by which a sum of rests is rounded up: they come from an inverse that is brought up to date, not computed anew."""


class Setting(NamedTuple):
    """What does not change while learning."""

    kernel: Kernel
    shift: Annotated[float, "number"]  # square of the clamped input
    variant: str
    room: Annotated[float, "number"]  # bytes for the kernel matrix


class _Page(NamedTuple):
    """Support vectors of finished calls."""

    support: Annotated[Matrix, "rows(_m,d)"]
    rows: Annotated[IntArray, "i8(_m)"]  # (m,) the examples they are
    signed: Annotated[FloatArray, "f8(K,_m)"]  # (K, m) strengths times labels
    missing: Annotated[FloatArray, "f8(K,_m)"]  # (K, m) what is missing from the mean, times the clock
    log: Log


def fingerprint(X: Matrix, target: IntArray) -> str:
    """Return a hash of examples and class numbers: a warm start goes on only with the data it was made on."""
    parts = (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)
    digest = hashlib.blake2b(repr(X.shape).encode(), digest_size=16)
    for part in (*parts, target):
        digest.update(np.ascontiguousarray(part).view(np.uint8).data)
    return digest.hexdigest()


class Unbounded:
    """Keeps every example a mistake was made on."""

    setting: Setting
    base: _Page | None  # of earlier calls
    page: _Page | None  # of this call too, once settled
    clock: int
    mistakes: Annotated[IntArray, "i8(K)"]
    mark: str
    state: State
    memory: Forget | Mean | Log
    logs: list[Log]
    signs: Annotated[FloatArray, "f8(K,n)"]
    whole: bool

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.base = self.page = None
        self.clock, self.mistakes = 0, np.zeros(1, dtype=np.int64)

    def check(self, sizes: dict[str, int]) -> None:
        """Refuse what was read from a file and does not fit together; make room for the mistakes of the next epoch."""
        K, n = self.state.alpha.shape
        kinds = {"plain": Forget, "averaged": Mean, "voted": Log}
        if self.state.W.shape != (K, n) or not isinstance(self.memory, kinds.get(self.setting.variant, ())):
            raise ValueError("KernelPerceptron: its state or its memory is not that of the variant")
        if self.page is None:
            raise ValueError("KernelPerceptron: nothing was learnt yet")
        self.expansion().check(sizes["d"])
        for page in (self.base, self.page):
            if page is not None:
                page.log.check(page.rows.size)
        for log in self.logs:
            log.check(n)
        if isinstance(self.memory, Log):
            self.memory = self.memory.emptied(K * n)

    def begin(
        self, X: Matrix, task: Task, orders: Orders, mark: str = "", seconds: float | None = None
    ) -> tuple[KernelPresenting, Training]:
        """Return method and state for these examples, starting from what was learnt before; `mark` is their fingerprint."""
        self.base, self.mark = self.page, mark
        before = None if self.base is None else self._function(self.base.signed).outputs(X).T
        method = self._method(X, task, orders, seconds, before)
        self.state, self.memory, self.logs = training = method.start()
        if self.base is not None:
            self.state.mistakes[:], self.state.clock[PRESENTED] = self.mistakes, self.clock
        return method, training

    def _method(
        self, X: Matrix, task: Task, orders: Orders, seconds: float | None, before: FloatArray | None = None
    ) -> KernelPresenting:
        """Return what presents these examples: with the whole kernel matrix if there is room and time, in blocks otherwise."""
        setting, clamp = self.setting, float(np.sqrt(self.setting.shift))
        gram = LazyGram(setting.kernel, X, clamp, stored=0.0, seconds=seconds)
        dtype = np.float32 if X.dtype == np.float32 and fit_single(gram.diagonal) else np.float64
        whole = gram.whole(dtype, setting.room, seconds)
        method = KernelPresenting(gram, task, orders, whole, before, self._remembering, dtype=dtype, seconds=seconds)
        self.signs, self.whole = method.signs, whole is not None
        return method

    def _remembering(self, state: State) -> Any:
        """Return the memory that the variant needs."""
        if self.setting.variant == "voted":
            return start_log(state.alpha.size)
        empty = np.zeros((state.alpha.shape[0], 0))
        return Mean(np.zeros_like(state.alpha), empty, empty) if self.setting.variant == "averaged" else Forget()

    @property
    def seed(self) -> int:
        """Seed of the orders so far."""
        return int(self.state.clock[SEED])

    def resumed(self) -> Self:
        """Return a copy that can go on with the same examples while this one stays as it is."""
        other = copy(self)
        other.state, other.memory, other.logs = deepcopy(self.state), deepcopy(self.memory), list(self.logs)
        return other

    def go_on(self, X: Matrix, task: Task, orders: Orders, seconds: float | None = None) -> tuple[KernelPresenting, Training]:
        """Return method and state for the same examples again."""
        method = self._method(X, task, orders, seconds)
        return method, method.start(Training(self.state, self.memory, self.logs))

    def history(self, course: Course) -> dict[str, Any]:
        """Return the course of a run, with the overlap of the functions along the way with the last one."""
        return overlaps(_by_epoch(course), course.snapshots, self.signs, self.state)

    def settle(self, X: Matrix) -> None:
        """Take the examples that mistakes were made on into the support; may be called at any time."""
        state, memory, K = self.state, self.memory, self.signs.shape[0]
        rows = np.flatnonzero(state.alpha.any(axis=0))
        beta = memory.beta[:, rows] if isinstance(memory, Mean) else np.zeros((K, rows.size))
        log = join(self.logs)
        page = _Page(X[rows], rows, (state.alpha * self.signs)[:, rows], beta, log._replace(row=np.searchsorted(rows, log.row)))
        self.page = page if self.base is None else _joined(self.base, page)
        self.clock, self.mistakes = int(state.clock[PRESENTED]), state.mistakes.copy()

    def alpha(self) -> FloatArray:
        """Return the strengths of the examples of this call, shape (K, n)."""
        if isinstance(self.memory, Mean):
            return np.asarray(self.state.alpha - np.abs(self.memory.beta) / max(int(self.state.clock[PRESENTED]), 1))
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

    def ballots(self, data: Examples, brackets: list[KernelBracket]) -> list[Ballot | None]:
        """Return the vote of each problem on the examples of a data set, which all support vectors are of; None without one."""
        if self.setting.variant != "voted":
            return [None] * len(brackets)
        page, found = self._settled(), list[Ballot | None]()
        for k, bracket in enumerate(brackets):
            own = page.log.k == k
            ballot = Ballot(0, page.rows[page.log.row[own]], page.log.change[own], page.log.time[own], self.clock)
            sign = np.where(data.target == data.positive[k], 1.0, -1.0)
            found.append(ballot.counted(data.X, sign, bracket))
        return found

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


def _by_epoch(course: Course) -> dict[str, Any]:
    """Return the course as arrays by name, epochs counted from 0."""
    history = course.history()
    history["epoch"] = history.pop("round") - 1
    return history


class OnBudget:
    """Keeps as many support vectors as the budget has room for."""

    setting: Setting
    budget: Annotated[int, "=B"]
    whole: bool
    kept: Keep | None
    mark: str
    signs: Annotated[FloatArray, "f8(K,n)"]
    clock: int
    mistakes: Annotated[IntArray, "i8(K)"]
    signed: Annotated[FloatArray, "f8(K,n)"]
    answer: Expansion

    def check(self, sizes: dict[str, int]) -> None:
        """Refuse what was read from a file and does not fit together."""
        if self.setting.variant != "plain" or self.kept is None:
            raise ValueError("KernelPerceptron: only the plain variant has a budget")
        self.answer.check(sizes["d"])
        self.kept.check(sizes, self.signs.shape[1])
        for slots, rows in zip(self.kept.slots, self.kept.rows, strict=True):
            dense = slots.columns.shape[0] == sizes["d"]
            if (rows is None) != dense or (rows is not None and rows.shape[0] < slots.counts[0]):
                raise ValueError("KernelPerceptron: there is not one support vector for each slot in use")

    def __init__(self, setting: Setting, budget: int) -> None:
        self.setting, self.budget, self.whole = setting, budget, True
        self.kept = None

    def begin(
        self, X: Matrix, task: Task, orders: Orders, mark: str = "", seconds: float | None = None
    ) -> tuple[Projecting, Keep]:
        """Return method and state for these examples; those of a data set, which have a fingerprint, are measured first."""
        if self.kept is None:
            width = 0 if form_of(self.setting.kernel, X, self.setting.shift) is None else X.shape[1]
            self.kept = start_keep(task.positive.size, self.budget, width)
            self.kept.counts.clock[SEED] = orders.seed
        self.mark = mark
        method = self._method(X, task, orders, seconds)
        largest = float(method.gram.diagonal.max())  # refuses what overflows, before anything is changed
        for slots in self.kept.slots:
            slots.row[:] = -1
            if mark:
                slots.sums[0] = largest
        return method, method.start()

    def _method(self, X: Matrix, task: Task, orders: Orders, seconds: float | None) -> Projecting:
        """Return what presents these examples."""
        self.signs = np.where(task.target == task.positive[:, None], 1.0, -1.0)
        gram = LazyGram(self.setting.kernel, X, np.sqrt(self.setting.shift), stored=0.0, seconds=seconds)
        return Projecting(gram, task, orders, self._kept(), seconds)

    def _kept(self) -> Keep:
        """Return what is kept, once there is something."""
        if self.kept is None:
            raise AttributeError("nothing was learnt yet")
        return self.kept

    @property
    def seed(self) -> int:
        """Seed of the orders so far."""
        return int(self._kept().counts.clock[SEED])

    def resumed(self) -> Self:
        """Return a copy that can go on with the same examples while this one stays as it is."""
        other = copy(self)
        other.kept = self._kept().copy()
        return other

    def go_on(self, X: Matrix, task: Task, orders: Orders, seconds: float | None = None) -> tuple[Projecting, Keep]:
        """Return method and state for the same examples again."""
        method = self._method(X, task, orders, seconds)
        return method, method.start()

    def history(self, course: Course) -> dict[str, Any]:
        """Return the course of a run; functions along the way are not kept."""
        history = _by_epoch(course)
        return {**history, "overlap": np.full(history["squared_norm"].shape, np.nan)}

    def settle(self, X: Matrix) -> None:
        """Read the answer from the slots."""
        kept, K, n = self._kept(), *self.signs.shape
        self.clock, self.mistakes = int(kept.counts.clock[PRESENTED]), kept.counts.mistakes.copy()
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


def mistakes_certificate(
    learner: Unbounded | OnBudget,
    expansion: Expansion,
    data: Examples,
    s: FloatArray,
    shift: float,
    seconds: float | None = None,
) -> tuple[Certificate, Measured]:
    """Return the proof, one certificate or one per class, and the potentials of the answer.

    Without a budget it is the bracket of the answer and Novikoff's bound. With a budget it is the bound of the Projectron's
    theorem, with the answer as competitor; the theorem knows one rate only, so with unequal weights it is the bracket alone,
    as it is where the bounds of all problems would take longer than `seconds`.
    """
    seen = measured(data, shift, learner.alpha(), expansion)
    parts: list[Certificate] = list(seen.parts)
    if isinstance(learner, Unbounded):
        theorem = Novikoff(float(s.min()), float(s.max()))
        ballots = learner.ballots(data, seen.parts)
        parts = [MistakeBound.of(*each) for each in zip(learner.mistakes, seen.parts, repeat(theorem), ballots, strict=False)]
    elif s.min() == s.max() and (seconds is None or data.y.size * len(parts) * BUDGETED / PROVED <= seconds):
        parts = [_budgeted(learner, data, k, seen) for k in range(len(seen.parts))]
    return parts[0] if len(parts) == 1 else PerClass(tuple(data.classes.tolist()), tuple(parts)), seen


def _budgeted(learner: OnBudget, data: Examples, k: int, seen: Measured) -> Certificate:
    """Return the mistake bound of problem k against the best multiple of the answer."""
    bracket = seen.parts[k]
    if bracket.radius < 1e-100 or learner.kept is None:  # nothing but zeros: no theorem has anything to say
        return bracket
    scale = bracket.radius**2
    lost = float(learner.kept.slots[k].sums[1] / np.sqrt(scale) * (1.0 + UNSURE))
    return BudgetedMistakes.measure(
        int(learner.mistakes[k]),
        data.X,
        data.y,
        kernel=learner.setting.kernel,
        coefficients=learner.signed[k] / seen.lengths[k] if seen.lengths[k] > 0.0 else learner.signed[k],
        theorem=Projection(learner.budget, lost),
        clamp=data.clamp,
        scale=scale,
        positive=bracket.positive,
        passes=max(1, -(-learner.clock // data.y.size)),
        rescale=True,
        answer=bracket,
    )
