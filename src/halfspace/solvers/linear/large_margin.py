"""Large margins: which accelerator when.

Sweeps of AdaTron's rule come first, always. Where rows are many and columns few, some sweeps (or, for large data, the answer
on every eighth row) start Newton's method, which finishes; everywhere else the sweeps go on to the end. A free bias is
found by the method of multipliers: solve with a clamped input, move the fixed part of the bias by what the clamped one
found, again. Errors forbidden: on small data sweeps show which few examples decide, and their linear system gives the answer;
else, with second order, raise the cap until nobody needs it.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from halfspace._typing import FloatArray
from halfspace.rows.operations import take
from halfspace.rows.views import Clamped, entries_per_row, n_columns, n_rows
from halfspace.solvers.linear.active_set import most_inside, pivoted
from halfspace.solvers.linear.newton import bend_for, descend
from halfspace.solvers.linear.shrinking import FEW_SWEEPS, Begun, ascend, ascend_few, begin_each, relaxation
from halfspace.solvers.linear.soft_margin import Beat, Pace, Point, Problem, combined, unclamped, value
from halfspace.solvers.outcome import Reason
from halfspace.solvers.run import Budget, Run, at_once

__all__ = ["LargeMargin", "Plan", "State", "begun", "second_order"]

SWEEPS = 12
"""Sweeps before the second-order finish."""
SMALL = 1 << 18
"""Entries up to which Newton's method waits for sweeps that take about a millisecond."""
COARSE = 8
"""On large data, one row in so many is solved first."""
LARGE = 1 << 20
"""Entries from which data are large."""
WIDEST = 1500
"""Columns up to which a matrix of columns by columns is worth factorising."""
PATIENCE = 50
"""Sweeps after which a hard-margin run computes its bracket, so that inseparable data are noticed."""
SETTLING, LOOKS = 100, 3
"""Sweeps between two looks at whether few examples decide a hard margin, and looks before caps are tried."""
FREE = 2.0
"""Clamped input on the way to a free bias, in units of a typical entry: more slows the sweeps, less the multipliers."""


class Plan(NamedTuple):
    """How to go about it."""

    tol: float
    rate: float | None = None
    plain: bool = False  # the plain rule, no accelerator
    free: bool = False  # a free bias
    few: bool = True  # many sweeps first where entries are few; not on the way to another problem's answer
    begun: Begun | None = None  # these sweeps, if they were made already, with those of other problems


Beats = Generator[Beat, None, None]


def second_order(problem: Problem) -> bool:
    """Tell whether Newton's method pays: many rows, few columns."""
    D = n_columns(problem.X)
    return D <= WIDEST and n_rows(problem.X) >= 2 * D


def begins_few(problem: Problem, plan: Plan) -> bool:
    """Tell whether a problem that is given to Newton's method begins with many sweeps over few entries."""
    return plan.few and n_rows(problem.X) * entries_per_row(problem.X) <= SMALL


def begun(
    problems: Sequence[Problem], plan: Plan, seeds: Sequence[int], alphas: FloatArray, budget: Budget
) -> list[Begun | None]:
    """Make the first sweeps of all problems in one call, if only their labels differ, they begin so, and there is no hurry.

    `alphas`, shape (K, n), are the strengths to begin with.
    """
    first = problems[0]
    sweeps = begins_few(first, plan) and second_order(first) and not (plan.plain or plan.free or first.hard)
    if not sweeps or budget.max_time is not None or min(budget.max_iter, budget.piece) < FEW_SWEEPS:
        return [None] * len(problems)
    A = np.minimum(alphas, first.c)
    Y = np.stack([problem.y for problem in problems])
    return [*begin_each(first, Y, A, seeds, tol=plan.tol, rate=plan.rate or relaxation(first))]


def _silently(beats: Generator[Beat, None, tuple[FloatArray, float]]) -> Generator[Beat, None, tuple[FloatArray, float]]:
    """Pass on the beats without their points, which belong to another problem."""
    while True:
        try:
            beat = next(beats)
        except StopIteration as end:
            w, mu = end.value
            return w, mu
        yield beat._replace(point=None)


def _coarse(
    problem: Problem, plan: Plan, rng: np.random.Generator, pace: Pace, start: Point | None = None
) -> Generator[Beat, None, tuple[FloatArray, float]]:
    """Return weights and a width of the bend to start Newton's method with."""
    n, D = n_rows(problem.X), n_columns(problem.X)
    m = n // COARSE
    if m > 10 * D and n * entries_per_row(problem.X) > LARGE:
        rows = np.arange(m) * COARSE + rng.integers(0, COARSE, m)
        X, y, c, q, shift = problem
        part = Problem(take(X, rows), y[rows], c[rows] * (n / m), q[rows], shift)
        w, mu = yield from _silently(_coarse(part, plan, rng, pace))
        w, mu = yield from _silently(descend(part, w, mu, tol=max(plan.tol, 0.2 * D / m), pace=pace))
        return w, min(1.0, 4.0 * mu)
    few, rate, begun = begins_few(problem, plan), plan.rate or relaxation(problem), plan.begun
    if begun is None:
        alpha = np.zeros(n) if start is None else np.minimum(start.alpha, problem.c)
        w = combined(problem, alpha)
    else:
        alpha, w, _ = begun
    beats = ascend_few(problem, alpha, w, rng, tol=plan.tol, rate=rate, pace=pace, begun=begun) if few else None
    point = start
    for beat in beats or ascend(problem, alpha, w, rng, tol=plan.tol, rate=rate, patience=SWEEPS, pace=pace):
        yield beat
        point = beat.point or point
        if beat.point is not None and (not few or pace.hurry):
            break
    if point is None:
        raise AssertionError("sweeps end with a point")
    if few and point.gap > plan.tol and not pace.hurry:
        found = yield from pivoted(problem, alpha, pace)
        if found is not None:
            w = combined(problem, found)
            point = value(problem, w, found, w)
            yield Beat(0, point)
    best = point if start is None or point.primal < start.primal else start
    return best.w.copy(), bend_for(problem, point)


def _soft(problem: Problem, plan: Plan, rng: np.random.Generator, pace: Pace, start: Point | None) -> Beats:
    """Sweeps, then Newton's method where it pays; sweeps again should it fail."""
    best = start
    if second_order(problem) and not plan.plain and not problem.hard:
        if start is not None and start.w.any() and n_rows(problem.X) * entries_per_row(problem.X) > LARGE:
            w, mu = start.w, bend_for(problem, start)
        else:
            w, mu = yield from _coarse(problem, plan, rng, pace, start)
        for beat in descend(problem, w, mu, tol=plan.tol, pace=pace):
            yield beat
            best = beat.point if beat.point is not None and np.isfinite(beat.point.primal) else best
    alpha = np.zeros(n_rows(problem.X)) if best is None else np.minimum(best.alpha, problem.c)
    rate = plan.rate or relaxation(problem)
    patience = PATIENCE if problem.hard else 0
    w = combined(problem, alpha)
    yield from ascend(problem, alpha, w, rng, tol=plan.tol, rate=rate, shrink=not plan.plain, patience=patience, pace=pace)


def _few(
    problem: Problem, plan: Plan, rng: np.random.Generator, pace: Pace, start: Point | None
) -> Generator[Beat, None, Point | None]:
    """Sweep until few examples have a strength, and solve the system of these; return the last point.

    Points without a separating plane are kept back: they would ask for a proof that there is none.
    """
    alpha = np.zeros(n_rows(problem.X)) if start is None else start.alpha.copy()
    w, point, looks = combined(problem, alpha), start, 0
    rate = plan.rate or relaxation(problem)
    for beat in ascend(problem, alpha, w, rng, tol=plan.tol, rate=rate, patience=SETTLING, pace=pace):
        point = point if beat.point is None else beat.point
        yield beat if beat.point is not None and np.isfinite(beat.point.primal) else beat._replace(point=None)
        if beat.point is None:
            continue
        looks += 1
        found = None
        if 0 < np.count_nonzero(alpha) <= most_inside(problem) and not pace.hurry:
            found = yield from pivoted(problem, alpha, pace)
        if found is not None:
            w = combined(problem, found)
            point = value(problem, w, found, w)
            yield Beat(0, point)
        if found is not None or looks == LOOKS or pace.hurry:
            break
    return point


def _hard(problem: Problem, plan: Plan, rng: np.random.Generator, pace: Pace, start: Point | None) -> Beats:
    """Solve the system of few examples; else raise the cap until nobody needs it; then, or if that fails, sweep without any."""
    point, cap = start, 1.0 / max(float(np.mean(problem.q)), 1e-300)
    if not plan.plain and n_rows(problem.X) * entries_per_row(problem.X) <= LARGE:
        point = yield from _few(problem, plan, rng, pace, start)
    if second_order(problem) and not plan.plain and cap < 1e300:
        for _ in range(10):
            soft = problem._replace(c=np.full(problem.y.size, cap))
            goal = plan._replace(tol=0.2 * plan.tol, few=False)
            guess = None if point is None else value(soft, point.w, np.minimum(point.alpha, cap), point.w)
            for beat in _soft(soft, goal, rng, pace, guess):
                yield beat._replace(point=None)
                if beat.point is not None:
                    point = beat.point
                    if point.gap <= goal.tol or pace.hurry:
                        break
            if point is not None:
                yield Beat(0, value(problem, point.w, point.alpha, combined(problem, point.alpha)))
            cap *= 30.0
    yield from _soft(problem, plan, rng, pace, point)


def _free(problem: Problem, plan: Plan, rng: np.random.Generator, pace: Pace, start: Point | None) -> Beats:
    """Find an unpenalised bias by the method of multipliers around a clamped one."""
    X, y, c, q, _ = problem
    scale = float(np.sqrt(np.mean(q) / (entries_per_row(X) or 1.0))) * FREE or 1.0
    rows = X.rows if isinstance(X, Clamped) else X
    clamped = Problem(Clamped(rows, scale), y, c, q + scale * scale, 0.0 if start is None else start.bias)
    goal, inner = plan._replace(tol=max(plan.tol, 1e-2), few=False), None
    if start is not None:
        inner = value(clamped, np.append(start.w, 0.0), start.alpha, combined(clamped, start.alpha))
    while True:
        for beat in (_hard if problem.hard else _soft)(clamped, goal, rng, pace, inner):
            yield beat._replace(point=None)
            if beat.point is not None:
                inner = beat.point
                if np.isinf(inner.primal):
                    yield Beat(0, unclamped(problem, clamped, inner))
                elif inner.gap <= goal.tol or pace.hurry:
                    break
        if inner is None:
            return
        point = unclamped(problem, clamped, inner)
        yield Beat(0, point)
        goal = goal._replace(tol=max(0.1 * plan.tol, min(0.1 * point.gap, goal.tol)))
        clamped = clamped._replace(shift=point.bias)
        inner = inner._replace(w=np.append(point.w, 0.0))


def _nothing() -> Beats:
    """Do nothing more."""
    yield from ()


@dataclass
class State:
    """The weights of the lowest primal value and the strengths of the highest dual value so far, and the work that goes on."""

    w: FloatArray
    alpha: FloatArray
    work: Beats
    pace: Pace = field(default_factory=Pace)
    primal: float = np.inf
    dual: float = 0.0
    bias: float = 0.0
    current: bool = False  # nothing was done since the last point
    asked: bool = False
    reason: Reason | None = None

    def point(self) -> Point:
        """Return the best of both sides."""
        return Point(self.w, self.alpha, self.primal, self.dual, self.bias)

    def see(self, point: Point) -> None:
        """Keep what is better than before; as long as no primal value is finite, the latest weights."""
        if np.isnan(point.primal) or np.isnan(point.dual):
            return
        if point.primal < self.primal or np.isinf(self.primal):
            np.copyto(self.w, point.w)
            self.primal, self.bias = point.primal, point.bias
        if point.dual > self.dual:
            np.copyto(self.alpha, point.alpha)
            self.dual = point.dual


@dataclass(frozen=True)
class LargeMargin:
    """The method: until the relative gap is at most `plan.tol`, or inseparability is proved.

    An iteration is a sweep or a Newton step. `inseparable` is asked once, when no separating plane has been found though one
    is demanded: is there a proof that none exists?
    """

    problem: Problem
    plan: Plan
    seed: int
    inseparable: Callable[[], bool] = lambda: False

    unit: ClassVar[str] = "iteration"
    columns: ClassVar[tuple[str, ...]] = ("primal", "dual")

    def start(self, before: Point | None = None) -> State:
        """Return the state to begin with, or to go on from an earlier point."""
        problem, plan, pace = self.problem, self.plan, Pace()
        solve = _free if plan.free else _hard if problem.hard else _soft
        work = solve(problem, plan, np.random.default_rng(self.seed), pace, before)
        state = State(np.zeros(n_columns(problem.X)), np.zeros(n_rows(problem.X)), work, pace)
        if before is not None:
            state.see(before)
            state.reason = "converged" if state.point().gap <= plan.tol else None
        return state

    def finished(self, budget: Budget) -> Run | None:
        """Return the run that the sweeps of `plan.begun` have ended already, if they have."""
        begun = self.plan.begun
        if begun is None or not begun.point.gap <= self.plan.tol:
            return None
        w, alpha, primal, dual, _ = begun.point
        state = State(w, alpha, _nothing(), primal=primal, dual=dual, current=True, reason="converged")
        return at_once(self, state, ([primal] * begun.sweeps, [dual] * begun.sweeps), budget)

    def step(self, state: State, most: int) -> tuple[list[float], ...]:
        """Do a piece of work: some sweeps, or part of a Newton step."""
        state.pace.left = most
        beat = next(state.work, None)
        if beat is None:
            state.reason = "converged"
            return ()
        state.current = beat.point is not None
        if beat.point is not None:
            state.see(beat.point)
            if state.point().gap <= self.plan.tol:
                state.reason = "converged"
            elif np.isinf(state.primal) and not state.asked:
                state.asked = True
                state.reason = "proved inseparable" if self.inseparable() else None
        return ([state.primal] * beat.iterations, [state.dual] * beat.iterations) if beat.iterations else ()

    def status(self, state: State) -> Reason | None:
        """Return why nothing is left to do, or None."""
        return state.reason

    def finish(self, state: State) -> None:
        """Come to a point: strengths and weights whose values are known."""
        state.pace.hurry = True
        while not state.current and state.reason is None:
            self.step(state, 1)
        state.pace.hurry = False  # there may be time to go on

    def certify(self, state: State) -> Point:
        """Return the best weights and strengths, whose values enclose the optimum.

        Of a hard margin the least potential is 1, and the strengths are at their best multiple.
        """
        w, alpha, primal, dual, bias = point = state.point()
        length, total = float(np.linalg.norm(w)), float(alpha.sum())
        stretch = np.sqrt(2.0 * primal) / length if self.problem.hard and np.isfinite(primal) and length > 0.0 else 1.0
        if abs(stretch - 1.0) < 1e-14:  # a point seen before stays as it is
            return point
        return Point(w * stretch, alpha * (2.0 * dual / total if total > 0.0 else 1.0), primal, dual, bias * stretch)
