"""Large margins in a kernel's space: nested samples, one working set in cache, and a gap that is never believed unchecked.

Problem   max  Σ y_i b_i - ½ bᵀKb   over   lo_i <= b_i <= hi_i  (and Σ b_i = 0 if the bias is free);   h = y - K b.
Gap       P - D = Σ max((h_i - o)(hi_i - b_i), (o - h_i)(b_i - lo_i)),   every term >= 0, for any bias o: one pass over h
          decides when to stop and which examples still matter.
Levels    Random halves of halves of the examples, the smallest first; each starts from the strengths found below.
Rounds    The working set W holds the examples that are free, violate the optimality conditions, or lie near the margin (without
          those the small problem overshoots, and thousands of false violators appear). Pairs climb on the square matrix
          of W (`pair_steps`); then h of the others is brought up to date in one pass of kernel values that are never stored.
Precision Squares and passes are in single precision. At the end h is computed anew in double; what single precision missed is
          one more problem of the same kind, started from the true h: iterative refinement, until the true gap is small enough.
Hard      No errors tolerated: soft margins with a cap that rises until nobody needs it. If no strength of the soft-margin
          optimum is at the cap C, it is the optimum for every larger cap, and so the plane of largest margin. Its bracket:
          ½(Σ alpha)²/‖f‖² <= ½/kappa*² <= ½‖f‖²/(least potential)². It ends when that bracket is as narrow as asked, or the cap
          so large that the margin, if there is one, is below what double precision tells from 0.

A generator plans: it chooses working sets, and takes in what came of them. The method's `step` climbs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from halfspace._typing import FloatArray, IntArray
from halfspace.kernels.gram import LazyGram
from halfspace.rows.threads import n_threads
from halfspace.solvers.kernel.few import Few, climb_few
from halfspace.solvers.kernel.grid import Place, Shared, enlarge, room_of
from halfspace.solvers.kernel.pair_steps import Box, Free, Penalised, climb_free, climb_pairs, gap_at, middle
from halfspace.solvers.kernel.working_set import WorkingSet, in_double, working_set
from halfspace.solvers.linear.soft_margin import best_bias, stretched
from halfspace.solvers.outcome import Reason
from halfspace.solvers.run import Budget, Run, at_once

__all__ = [
    "Climb",
    "KernelAnswer",
    "KernelMachine",
    "KernelProblem",
    "State",
    "hard_gap",
    "share_values",
    "soft_plan",
    "solve_at_once",
]

FEW = 320
"""Examples up to which the whole square is in double precision: below, that is less work than going about it cleverly."""
ROUNDS = 8
"""Rounds on so few that are made in one call, with those of other problems."""
SMALLEST, FEWEST = 1500, 16
"""Examples of the smallest level; and where there is little time."""
SINGLE = 0.5
"""Time for a kernel value in single precision, where one in double takes 1."""
NEAR = 0.25
"""Examples with a potential this near to 1 join the working set."""
GROWTH = 256
"""The working set grows by at most half its size and so many in a round."""
DOUBLE = 1 << 31
"""Bytes up to which a working set in double precision is tried where single leads no further."""
STEPS, MOST = 1 << 14, 1 << 62
"""Pair steps between two looks at the clock, and in all."""
FIRST, FACTOR, LAST = 100.0, 30.0, 1e9
"""Caps of a hard margin, in units of 1 over the mean squared length of an example."""


class KernelProblem(NamedTuple):
    """What is to be solved: kernel values, the rows that count, their labels ±1 and caps, and whether the bias is free."""

    gram: LazyGram
    rows: IntArray
    y: FloatArray
    c: FloatArray
    free: bool
    room: int = 20_000  # largest working set
    seconds: float = np.inf  # about how long it may take: the smallest level is one that leaves time for its proof
    total: float = 0.0  # sum of the signed strengths with a free bias; other than 0 in a problem of one class (`one_class.py`)

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and the highest signed strengths."""
        return np.where(self.y > 0, 0.0, -self.c), np.where(self.y > 0, self.c, 0.0)

    @property
    def hard(self) -> bool:
        """Whether errors are forbidden."""
        return bool(np.isinf(self.c[0]))

    @property
    def bias(self) -> Free | Penalised:
        """The kind of bias."""
        return Free() if self.free else Penalised()


class KernelAnswer(NamedTuple):
    """Signed strengths, bias, the gradient in double precision, and both values.

    Where the gradient is so far on the safe side that single precision is enough to know it, `error` bounds how far off it is.
    """

    b: Annotated[FloatArray, "f8(_r)"]
    bias: Annotated[float, "number"]
    h: Annotated[FloatArray, "f8(_r)"]
    error: Annotated[FloatArray, "f8(_r)"]
    primal: Annotated[float, "number"]
    dual: Annotated[float, "number"]


@dataclass
class Level:
    """A soft-margin problem with its examples in a random order, of which the first m count."""

    problem: KernelProblem
    permutation: IntArray
    start: FloatArray | None = None

    def __post_init__(self) -> None:
        problem, order = self.problem, self.permutation
        n = order.size
        self.order = problem.rows[order]  # rows of the kernel matrix
        self.lo, self.hi = (side[order] for side in problem.bounds())
        self.y = problem.y[order]
        self.b = np.zeros(n) if self.start is None else np.clip(self.start[order], self.lo, self.hi)
        self.h = self.y.copy()
        self.travelled = np.full(n, np.inf)  # sum of the changes of strengths that h was updated by, in single precision
        self.bias = 0.0

    @cached_property
    def work(self) -> WorkingSet:
        """The working set, made when asked for."""
        return working_set(self.problem.gram, self.order, self.problem.room)

    def values(self, m: int) -> tuple[float, float, float]:
        """Return bias, gap and primal value of the first m examples; of one class ½‖f‖², which is to be least."""
        h, b, lo, hi, total = self.h[:m], self.b[:m], self.lo[:m], self.hi[:m], self.problem.total
        o = self.bias = _bias(h, self.y[:m], hi - lo, self.bias, total) if self.problem.free else 0.0
        r, half = h - o, 0.5 * float(b @ (self.y[:m] - h))
        loss = 0.0 if total else float(np.where(r > 0.0, r * hi, r * lo).sum())  # hi or lo is 0
        return o, float(gap_at(h, b, lo, hi, o)), half + loss

    def answer(self, error: FloatArray, o: float, gap: float, primal: float) -> KernelAnswer:
        """Return the strengths and the gradient, known up to `error`, in the order of the problem, and their values."""
        b, h, off = np.empty((3, self.b.size))
        b[self.permutation], h[self.permutation], off[self.permutation] = self.b, self.h, error
        return KernelAnswer(b, o, h, off, primal, primal - gap)

    def selected(self, m: int, o: float, threshold: float) -> IntArray:
        """Return the examples that are free or hold a part of the gap, and a third as many that lie nearest to the margin."""
        h, b, lo, hi = self.h[:m] - o, self.b[:m], self.lo[:m], self.hi[:m]
        needed = ((b > lo) & (b < hi)) | (_terms(h, b, lo, hi) > threshold)
        away = np.where(needed, np.inf, np.abs(h))
        room = np.count_nonzero(needed) // 3
        limit = min(NEAR, np.partition(away, room)[room]) if room < m else NEAR
        chosen = np.flatnonzero(needed | (away < limit))
        return chosen if chosen.size <= self.problem.room else self.foremost(chosen, o)

    def foremost(self, rows: IntArray, o: float) -> IntArray:
        """Return as many of these examples as there is room for: those with the largest parts of the gap."""
        terms = _terms(self.h[rows] - o, self.b[rows], self.lo[rows], self.hi[rows])
        room = self.problem.room
        return np.sort(rows[np.argpartition(-terms, room)[:room]])

    def missing(self, m: int, o: float, threshold: float) -> IntArray:
        """Return the examples outside the working set that hold a part of the gap, at the best bias or at that of the set."""
        h, b, lo, hi, members = self.h[:m], self.b[:m], self.lo[:m], self.hi[:m], self.work.members
        wanted = np.zeros(m, dtype=bool)
        inner = middle(self.h[members], self.b[members], self.lo[members], self.hi[members])[0] if self.problem.free else 0.0
        for bias in (o, inner) if self.problem.free else (o,):
            wanted |= _terms(h - bias, b, lo, hi) > threshold
        wanted[members] = False
        new, most = np.flatnonzero(wanted), GROWTH + members.size // 2
        if new.size > most:  # most of so many are there because the set was too small, and will go by themselves
            terms = _terms(h[new] - o, b[new], lo[new], hi[new])
            new = np.sort(new[np.argpartition(-terms, most)[:most]])
        return new

    def refined(self) -> FloatArray:
        """Compute h anew in double precision, but for examples surely outside the margin; return bounds on its error there."""
        support, n = np.flatnonzero(self.b), self.h.size
        single = self.problem.gram.single_error
        known = self.work.outputs(support, self.b[support]) if np.isfinite(single) else None
        if known is not None:
            self.h, error = self.y - known[0], 1.01 * known[1] * single
        else:
            error = self.travelled * single if np.isfinite(single) else np.full(n, np.inf)
        error[support] = np.inf
        rounds = 3 if (error < np.inf).any() else 0
        for _ in range(rounds):  # the bias moves with h, and who is sure moves with the bias
            sure = self.y * (self.h - self.values(n)[0]) + 2.0 * error < -1e-3
            unsure = np.flatnonzero(~sure & (error > 0.0))
            if unsure.size == 0:
                return error
            self.h[unsure] = self.exact(support, unsure)
            error[unsure] = self.travelled[unsure] = 0.0
        unsure = np.flatnonzero(error > 0.0)
        self.h[unsure] = self.exact(support, unsure)
        self.travelled[unsure] = 0.0
        return np.zeros(n)

    def exact(self, support: IntArray, rows: IntArray) -> FloatArray:
        """Return h of some examples in double precision."""
        outputs = self.problem.gram.times(self.order[support], self.b[support], self.order[rows], np.float64)
        h: FloatArray = self.y[rows] - outputs
        return h


def _terms(r: FloatArray, b: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray:
    """Return the part of each example in the gap."""
    terms: FloatArray = np.where(r > 0.0, r * (hi - b), -r * (b - lo))
    return terms


def _bias(h: FloatArray, y: FloatArray, c: FloatArray, guess: float, total: float) -> float:
    """Return the best bias; only examples near the last one are sorted, if it did not move far."""
    needed = float(c[y > 0].sum()) - total
    for width in (1e-3, 3e-2):
        low = h < guess - width
        near = np.flatnonzero((h <= guess + width) ^ low)
        below, points = float(c[low].sum()), h[near]
        order = np.argsort(points)
        slopes = below + np.cumsum(c[near][order])
        k = int(np.searchsorted(slopes, needed * (1.0 - 1e-12)))
        if below < needed and k + 1 < slopes.size:
            flat = slopes[k] <= needed * (1.0 + 1e-12)  # all biases in between are as good: the middle
            return float(0.5 * (points[order[k]] + points[order[k + 1]]) if flat else points[order[k]])
    return best_bias(y - h, y, c, total)


def hard_gap(y: FloatArray, b: FloatArray, h: FloatArray, *, free: bool) -> tuple[float, float, float]:
    """Return bias, primal and dual value of signed strengths with gradient h, errors forbidden; the primal may be infinite."""
    bias = 0.0
    if free:
        bias = best_bias(y - h, y, np.full(1, np.inf))
    least = float((y * (y - h + bias)).min())
    square, total = float(b @ (y - h)), float(np.abs(b).sum())
    return bias, stretched(0.5 * max(square, 0.0), least), 0.5 * total**2 / square if square > 0.0 else 0.0


# ------------------------------------------------------------ the plan
@dataclass
class Climb:
    """A working set to be climbed on until its gap is at most `target`."""

    box: Box
    target: float
    members: IntArray
    steps: int = 0


@dataclass
class State:
    """Where a machine stands: the level it works on, the working set it climbs on, and the plan that goes on from there."""

    plan: Iterator[Climb | None] = field(default_factory=lambda: iter(()))
    level: Level | None = None
    climb: Climb | None = None
    hurry: bool = False
    reason: Reason | None = None
    answer: KernelAnswer | None = None  # none while there is something to refine
    course: list[tuple[float, float]] = field(default_factory=list)  # primal and dual value of rounds not yet told
    due: float = 0.0  # kernel values, in double precision, that the plan will compute before its next look at the clock
    gap: float = np.inf  # relative, as single precision sees it

    def known_answer(self, *, hard: bool) -> KernelAnswer:
        """Return the answer; if there is none yet, that of the strengths as they are."""
        level = self.level
        if self.answer is not None and not hard:
            return self.answer
        if level is None:
            raise AssertionError("a plan begins with a level")
        if self.answer is None:
            n = level.b.size
            level.h = level.exact(np.flatnonzero(level.b), np.arange(n))
            self.answer = level.answer(np.zeros(n), *level.values(n))
        if not hard:
            return self.answer
        y, b, h = level.problem.y, self.answer.b, self.answer.h
        bias, primal, dual = hard_gap(y, b, h, free=level.problem.free)
        return self.answer._replace(bias=bias, primal=primal, dual=min(dual, primal))


def _rounds(state: State, level: Level, m: int, tol: float) -> Iterator[Climb | None]:
    """Plan rounds on the first m examples up to a relative gap, as single precision sees it.

    None ends a round, or asks for a look at the clock before so many kernel values are computed as `state.due` says.
    """
    o, gap, primal = level.values(m)
    work, first, moved, before = level.work, True, False, np.inf
    new = np.empty(0, dtype=np.int64)
    while gap > tol * primal and not state.hurry:
        threshold = 0.2 * tol * primal / m
        if first:
            work.choose(np.arange(m) if m <= min(SMALLEST, level.problem.room) else level.selected(m, o, threshold))
        else:
            new = level.missing(m, o, threshold)
            if work.members.size + new.size > level.problem.room:
                work.choose(level.foremost(np.arange(m), o))
            elif new.size:
                work.grow(new)
            elif not moved or gap > 0.9 * before:  # all are there, and it leads no further in this precision
                return
        members = work.members
        held, h, lo, hi = level.b[members], level.h[members], level.lo[members], level.hi[members]
        inside = gap_at(h, held, lo, hi, o)
        few = not first and 20 * new.size < members.size  # nearly all that matter are there: go to the end
        target = max((0.02 if first else 0.2) * inside * (not few), 0.5 * tol * primal)
        before = gap
        shift = middle(h, held, lo, hi)[0] if level.problem.free else 0.0  # what is near 0 has digits to spare
        box = Box(work.K, work.diagonal, (h - shift).astype(work.K.dtype), held.copy(), lo, hi)
        climb, state.due = Climb(box, target, members), 0.0
        yield climb
        change = box.b - held
        level.b[members], level.h[members], level.travelled[members] = box.b, box.h + shift, np.inf  # by steps without number
        first, moved = False, climb.steps > 0
        outside = np.ones(m, dtype=bool)
        outside[members] = False
        rest = np.flatnonzero(outside)
        if rest.size and moved:
            state.due = SINGLE * rest.size * np.count_nonzero(change)
            yield None
            if state.hurry:  # all of h will be computed anew
                level.travelled[:] = np.inf
                return
            level.h[rest] -= work.effect(change, rest)
            level.travelled[rest] += float(np.abs(change).sum())
        o, gap, primal = level.values(m)
        state.gap = gap / max(primal, 1e-300)
        state.course.append((primal, primal - gap))
        state.due = SINGLE * members.size * min(m, GROWTH + members.size // 2)
        yield None


def _levels(problem: KernelProblem) -> list[int]:
    """Return how many examples count on each level; the first are fewer where rows are so long, or time so short."""
    n, smallest = problem.y.size, SMALLEST
    while smallest > FEWEST and problem.gram.seconds(smallest * (smallest + 0.5 * n)) > 0.5 * problem.seconds:
        smallest = max(smallest // 2, FEWEST)
    sizes = [n]
    while sizes[0] > smallest:
        sizes.insert(0, -(-sizes[0] // 32) * 16)  # halves, in whole panels
    return sizes


def _few(state: State, problem: KernelProblem, tol: float, start: FloatArray | None) -> Iterator[Climb | None]:
    """Plan a soft margin of few examples, a round at a time."""
    level = state.level = Level(problem, np.arange(problem.y.size), start)
    state.answer, state.reason = None, None
    K, few = problem.gram.square(problem.rows), Few.of(*(side[None] for side in (level.y, level.b, level.lo, level.hi)))
    level.h = few.places.h[0]
    while True:
        known = max(few.rounds(0), 0)
        table = climb_few(problem.bias, K, few, tol, 0 if state.hurry else 1)
        state.course.extend(table[0, : few.rounds(0) - known].tolist())
        state.reason, state.gap, level.bias = few.reason(0), few.gap(0), float(few.found[0, 2])
        if state.reason is not None or state.hurry:
            break
        yield None
    state.answer = _answer(problem, few, 0)


def _answer(problem: KernelProblem, few: Few, k: int) -> KernelAnswer:
    """Return what climbing on few examples has come to, a free bias at its best."""
    b, h, (o, gap, primal) = few.places.b[k], few.places.h[k], few.found[k, 2:].tolist()
    if problem.free:
        o, before = best_bias(problem.y - h, problem.y, problem.c), gap
        gap = float(gap_at(h, b, *problem.bounds(), o))
        primal += gap - before
    return KernelAnswer(b, o, h, np.zeros(b.size), primal, primal - gap)


def _shared(state: State, level: Level, tol: float) -> Iterator[Climb | None]:
    """Plan to climb on all examples at once, whose kernel values are at hand; a round is some thousand pair steps."""
    gram, n = level.problem.gram, level.y.size
    room = room_of(n)
    shared = Shared(gram.shared, gram.diagonal.astype(np.float32), room, level.problem.bias)
    places, found = Place(*(part[None] for part in (level.y, level.h, level.b, level.lo, level.hi))), np.ones((1, 4))
    while found[0, 3] and not state.hurry:
        enlarge(shared, places, places.hi, (1.0, 1.0), tol, (STEPS, MOST), found)
        gap, primal = found[0, :2].tolist()
        state.gap = gap / max(primal, 1e-300)
        state.course.append((primal, primal - gap))
        yield None


def _by_levels(state: State, level: Level, sizes: list[int], tol: float) -> Iterator[Climb | None]:
    """Plan rounds on more and more examples, all in the end."""
    known = 0
    for m in sizes:
        support = np.flatnonzero(level.b)
        if known:
            state.due = SINGLE * (support.size * (m - known) + min(m, GROWTH + 2 * support.size) ** 2)
            yield None
            if state.hurry:
                return
        level.h[known:m] = level.y[known:m] - level.work.entry(support, level.b[support], known, m)
        level.travelled[known:m] = float(np.abs(level.b).sum())
        yield from _rounds(state, level, m, 0.9 * tol if m == sizes[-1] else max(tol, 1e-2))
        known = m
        if state.hurry:
            return


def soft_plan(state: State, problem: KernelProblem, tol: float, seed: int, start: FloatArray | None) -> Iterator[Climb | None]:
    """Plan a soft margin, to a relative gap of `tol` that is true in double precision."""
    n = problem.y.size
    if n <= FEW and problem.total == 0.0:
        yield from _few(state, problem, tol, start)
        return
    if problem.gram.shared is not None and start is None and n == problem.gram.n:
        level = state.level = Level(problem, np.argsort(problem.rows))
        state.answer = state.reason = None
        yield from _shared(state, level, 0.9 * tol)
    else:
        level = state.level = Level(problem, np.random.default_rng(seed).permutation(n), start)
        state.answer = state.reason = None
        yield from _by_levels(state, level, _levels(problem) if start is None else [n], tol)
    o = gap = primal = 0.0
    error, precise = np.zeros(n), False
    reason: Reason = "converged"
    for attempt in range(50):
        error = level.refined()
        before, (o, gap, primal) = gap, level.values(n)
        if state.hurry or gap <= tol * primal:
            break
        if attempt and gap > 0.9 * before:
            if precise or 8 * n * n > DOUBLE:
                reason = "rounding limit reached"
                break
            precise, level.work = True, in_double(problem.gram, level.order)
        yield from _rounds(state, level, n, 0.5 * tol)
    state.answer = level.answer(error, o, gap, primal)
    state.reason = None if state.hurry and gap > tol * primal else reason


def _hard(state: State, problem: KernelProblem, tol: float, seed: int, start: FloatArray | None) -> Iterator[Climb | None]:
    """Plan the largest margin, to a relative gap of `tol`, by soft margins with rising caps."""
    size = max(float(problem.gram.diagonal[problem.rows].mean()), 1e-30)
    cap, inner = FIRST / size, 0.3 * tol
    if start is not None:
        cap = max(cap, 2.0 * float(np.abs(start).max()))
    while True:
        for climb in soft_plan(state, problem._replace(c=np.full(problem.y.size, cap)), inner, seed, start):
            state.course = [(np.inf, 0.0)] * len(state.course)  # values of a soft margin are none of the hard one
            yield climb
        answer, solved = state.known_answer(hard=True), state.reason == "converged"
        start = answer.b
        if np.isfinite(answer.primal) and answer.primal - answer.dual <= tol * answer.primal:
            state.reason = "converged"
        elif not solved:
            pass  # the reason stays: rounding, or none but the driver's
        elif (np.abs(answer.b) >= cap).any() and cap * size <= LAST:
            cap, state.reason = cap * FACTOR, None
            continue
        elif not (np.abs(answer.b) >= cap).any() and inner > 1e-12:
            inner, state.reason = 0.1 * inner, None
            continue
        else:
            state.reason = "rounding limit reached"
        return


# ------------------------------------------------------------ the method
@dataclass(frozen=True)
class KernelMachine:
    """The method: pair steps on working sets, until the relative gap in double precision is at most `tol`."""

    problem: KernelProblem
    tol: float
    seed: int = 0

    unit: ClassVar[str] = "round"
    columns: ClassVar[tuple[str, ...]] = ("primal", "dual")

    def start(self, before: FloatArray | None = None) -> State:
        """Return the state to begin with, or to go on from signed strengths."""
        state, plan = State(), _hard if self.problem.hard else soft_plan
        state.plan = plan(state, self.problem, self.tol, self.seed, before)
        return state

    def finished(self, few: Few, k: int, table: FloatArray, budget: Budget) -> Run | None:
        """Return the run that ended with rounds made already, with those of other problems, if they have ended it."""
        if few.reason(k) is None:
            return None
        state = State(answer=_answer(self.problem, few, k), reason=few.reason(k), gap=few.gap(k))
        return at_once(self, state, tuple(table[k, : few.rounds(k)].T), budget)

    def step(self, state: State, most: int) -> tuple[FloatArray, ...]:
        """Climb for some thousand pair steps on the working set; one that is climbed ends the round."""
        del most
        if state.climb is None:
            state.climb = next(state.plan, None)
        climb, free = state.climb, self.problem.free
        if climb is not None and state.level is not None:
            done = stretch = max(STEPS, 4 * climb.members.size)
            limit = 200 * climb.members.size + 10_000
            if climb.steps:
                climb.steps += _climb_fewer(climb.box, climb.target, free=free)
            if climb.steps < limit:
                done = climb_free(climb.box, climb.target, stretch) if free else climb_pairs(climb.box, climb.target, stretch)
                climb.steps += done
            state.level.b[climb.members] = climb.box.b
            if done < stretch or climb.steps >= limit:
                state.climb = next(state.plan, None)
        rows, state.course = np.array(state.course).reshape(-1, 2), []
        return tuple(rows.T) if rows.size else ()

    def status(self, state: State) -> Reason | None:
        """Return why nothing is left to do, or None."""
        return state.reason

    def finish(self, state: State) -> None:
        """Take in what was climbed and compute the gradient in double precision."""
        state.hurry = True
        for _ in state.plan:
            state.climb = None

    def so_far(self, state: State) -> tuple[FloatArray, float]:
        """Return the signed strengths as they stand, shape (n,), and their bias; the state is not touched."""
        if state.answer is not None:
            answer = state.known_answer(hard=self.problem.hard)
            return answer.b, answer.bias
        b, level = np.zeros(self.problem.y.size), state.level
        if level is None:
            return b, 0.0
        b[level.permutation] = level.b
        return b, level.bias

    def ending(self, state: State) -> float:
        """Predict the seconds for what is due, and for the gradient in double precision: what the support gives to all."""
        support = 0 if state.level is None else np.count_nonzero(state.level.b)
        return self.problem.gram.seconds(float(self.problem.y.size) * support + state.due) / n_threads()

    def certify(self, state: State) -> KernelAnswer:
        """Return the strengths with their gradient in double precision, and both values."""
        if state.level is None and state.answer is None:  # interrupted before anything was done
            n = self.problem.y.size
            state.level = Level(self.problem._replace(c=np.ones(n)) if self.problem.hard else self.problem, np.arange(n))
        return state.known_answer(hard=self.problem.hard)


def _climb_fewer(box: Box, target: float, *, free: bool) -> int:
    """Climb for a while with only those that are free or violate, if they are much fewer; return the steps."""
    K, diagonal, h, b, lo, hi = box
    r = h - middle(h, b, lo, hi)[0] if free else h
    moving = ((r > 0) | (b > lo)) & ((r < 0) | (b < hi))
    active, others = np.flatnonzero(moving), np.flatnonzero(~moving)
    if active.size > 0.8 * h.size or active.size < 2:
        return 0
    part = Box(K[np.ix_(active, active)], diagonal[active], h[active], b[active], lo[active], hi[active])
    steps = int((climb_free if free else climb_pairs)(part, 0.5 * target, 16 * h.size))
    change = (part.b - b[active]).astype(h.dtype)
    b[active], h[active] = part.b, part.h
    h[others] -= K[np.ix_(others, active)] @ change
    return steps


def share_values(methods: Sequence[KernelMachine]) -> None:
    """Compute all kernel values at once if problems on all examples would compute half as many for their first levels alone."""
    gram, problem = methods[0].problem.gram, methods[0].problem
    own = float(_levels(problem)[0]) ** 2 if problem.y.size > FEW else 0.0
    if 2.0 * len(methods) * own >= float(gram.n) ** 2 and all(method.problem.y.size == gram.n for method in methods):
        gram.share(None if np.isinf(problem.seconds) else problem.seconds * len(methods))


def solve_at_once(methods: Sequence[KernelMachine], budget: Budget) -> list[Run | None]:
    """Solve soft margins of the same few examples in one call; None for what is left to do, a round at a time."""
    first, n = methods[0].problem, methods[0].problem.y.size
    same = all(np.array_equal(method.problem.rows, first.rows) for method in methods[1:])
    if n > FEW or first.hard or first.total or not same or budget.max_time is not None or budget.max_iter < ROUNDS:
        return [None] * len(methods)
    lo, hi = np.stack([method.problem.bounds() for method in methods], axis=1)
    few = Few.of(np.stack([method.problem.y for method in methods]), np.zeros(lo.shape), lo, hi)
    table = climb_few(first.bias, first.gram.square(first.rows), few, methods[0].tol, ROUNDS)
    return [method.finished(few, k, table, budget) for k, method in enumerate(methods)]
