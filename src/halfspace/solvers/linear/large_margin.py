"""Large margins: which accelerator when, and how a run ends.

Sweeps of AdaTron's rule come first, always. Where rows are many and columns few, some sweeps (or, for large data, the answer
on every eighth row) start Newton's method, which finishes; everywhere else the sweeps go on to the end. A free bias is
found by the method of multipliers: solve with a clamped input, move the fixed part of the bias by what the clamped one
found, again. Errors forbidden and second order: raise the cap until nobody needs it.
"""

import time
from collections.abc import Callable, Generator
from typing import NamedTuple

import numpy as np

from halfspace._typing import FloatArray
from halfspace.rows.operations import take
from halfspace.rows.views import Clamped, entries_per_row, n_columns, n_rows
from halfspace.solvers.linear.free_bias import unclamped
from halfspace.solvers.linear.newton import bend_for, descend
from halfspace.solvers.linear.shrinking import ascend, relaxation
from halfspace.solvers.linear.soft_margin import Beat, Haste, Point, Problem, combined, value
from halfspace.solvers.outcome import Reason

__all__ = ["Answer", "Limits", "Plan", "second_order", "solve"]

SWEEPS = 12
"""Sweeps before the second-order finish."""
COARSE = 8
"""On large data, one row in so many is solved first."""
LARGE = 1 << 20
"""Entries from which data are large."""
WIDEST = 1500
"""Columns up to which a matrix of columns by columns is worth factorising."""
PATIENCE = 50
"""Sweeps after which a hard-margin run computes its bracket, so that inseparable data are noticed."""
FREE = 2.0
"""Clamped input on the way to a free bias, in units of a typical entry: more slows the sweeps, less the multipliers."""


class Plan(NamedTuple):
    """How to go about it."""

    tol: float
    rate: float | None = None
    plain: bool = False  # the plain rule, no accelerator
    free: bool = False  # a free bias
    haste: Haste = Haste()  # `solve` gives every run its own


class Limits(NamedTuple):
    """How long to go on, and whom to tell."""

    max_iter: int
    deadline: float | None = None  # by time.perf_counter()
    inseparable: Callable[[], bool] = lambda: False  # asked once if no plane has been found: is there a proof of none?
    watch: Callable[[int, Point], bool] = lambda _iteration, _point: False
    cancelled: Callable[[], bool] = lambda: False


class Answer(NamedTuple):
    """The best point reached, why the run ended, and its course: (iteration, seconds, primal, dual)."""

    point: Point
    reason: Reason
    iterations: int
    course: list[tuple[int, float, float, float]]


Beats = Generator[Beat, None, None]


def second_order(problem: Problem) -> bool:
    """Tell whether Newton's method pays: many rows, few columns."""
    D = n_columns(problem.X)
    return D <= WIDEST and n_rows(problem.X) >= 2 * D


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
    problem: Problem, plan: Plan, rng: np.random.Generator, start: Point | None = None
) -> Generator[Beat, None, tuple[FloatArray, float]]:
    """Return weights and a width of the bend to start Newton's method with."""
    n, D = n_rows(problem.X), n_columns(problem.X)
    m = n // COARSE
    if m > 10 * D and n * entries_per_row(problem.X) > LARGE:
        rows = np.arange(m) * COARSE + rng.integers(0, COARSE, m)
        X, y, c, q, shift = problem
        part = Problem(take(X, rows), y[rows], c[rows] * (n / m), q[rows], shift)
        w, mu = yield from _silently(_coarse(part, plan, rng))
        w, mu = yield from _silently(descend(part, w, mu, tol=max(plan.tol, 0.2 * D / m), haste=plan.haste))
        return w, min(1.0, 4.0 * mu)
    alpha = np.zeros(n) if start is None else np.minimum(start.alpha, problem.c)
    w, rate = combined(problem, alpha), plan.rate or relaxation(problem)
    for beat in ascend(problem, alpha, w, rng, tol=plan.tol, rate=rate, patience=SWEEPS, haste=plan.haste):
        yield beat
        if beat.point is not None:
            best = beat.point if start is None or beat.point.primal < start.primal else start
            return best.w.copy(), bend_for(problem, beat.point)
    raise AssertionError("sweeps never end by themselves")


def _soft(problem: Problem, plan: Plan, rng: np.random.Generator, start: Point | None) -> Beats:
    """Sweeps, then Newton's method where it pays; sweeps again should it fail."""
    best = start
    if second_order(problem) and not plan.plain and not problem.hard:
        if start is not None and start.w.any() and n_rows(problem.X) * entries_per_row(problem.X) > LARGE:
            w, mu = start.w, bend_for(problem, start)
        else:
            w, mu = yield from _coarse(problem, plan, rng, start)
        for beat in descend(problem, w, mu, tol=plan.tol, haste=plan.haste):
            yield beat
            best = beat.point if beat.point is not None and np.isfinite(beat.point.primal) else best
    alpha = np.zeros(n_rows(problem.X)) if best is None else np.minimum(best.alpha, problem.c)
    rate = plan.rate or relaxation(problem)
    patience = PATIENCE if problem.hard else 0
    w = combined(problem, alpha)
    yield from ascend(
        problem, alpha, w, rng, tol=plan.tol, rate=rate, shrink=not plan.plain, patience=patience, haste=plan.haste
    )


def _hard(problem: Problem, plan: Plan, rng: np.random.Generator, start: Point | None) -> Beats:
    """Raise the cap until nobody needs it; then, or if that fails, sweep without any."""
    point, cap = start, 1.0 / max(float(np.mean(problem.q)), 1e-300)
    if second_order(problem) and not plan.plain and cap < 1e300:
        for _ in range(10):
            soft = problem._replace(c=np.full(problem.y.size, cap))
            goal = plan._replace(tol=0.2 * plan.tol)
            guess = None if point is None else value(soft, point.w, np.minimum(point.alpha, cap), point.w)
            for beat in _soft(soft, goal, rng, guess):
                yield beat._replace(point=None)
                if beat.point is not None:
                    point = beat.point
                    if point.gap <= goal.tol or plan.haste.now:
                        break
            if point is not None:
                yield Beat(0, value(problem, point.w, point.alpha, combined(problem, point.alpha)))
            cap *= 30.0
    yield from _soft(problem, plan, rng, point)


def _free(problem: Problem, plan: Plan, rng: np.random.Generator, start: Point | None) -> Beats:
    """Find an unpenalised bias by the method of multipliers around a clamped one."""
    X, y, c, q, _ = problem
    scale = float(np.sqrt(np.mean(q) / entries_per_row(X))) * FREE or 1.0
    clamped = Problem(Clamped(X, scale), y, c, q + scale * scale, 0.0 if start is None else start.bias)
    goal, inner = plan._replace(tol=max(plan.tol, 1e-2)), None
    if start is not None:
        inner = value(clamped, np.append(start.w, 0.0), start.alpha, combined(clamped, start.alpha))
    while True:
        for beat in (_hard if problem.hard else _soft)(clamped, goal, rng, inner):
            yield beat._replace(point=None)
            if beat.point is not None:
                inner = beat.point
                if np.isinf(inner.primal):
                    yield Beat(0, unclamped(problem, clamped, inner))
                elif inner.gap <= goal.tol or plan.haste.now:
                    break
        if inner is None:
            return
        point = unclamped(problem, clamped, inner)
        yield Beat(0, point)
        goal = plan._replace(tol=max(0.1 * plan.tol, min(0.1 * point.gap, goal.tol)))
        clamped = clamped._replace(shift=point.bias)
        inner = inner._replace(w=np.append(point.w, 0.0))


def _beats(problem: Problem, plan: Plan, rng: np.random.Generator, start: Point | None) -> Beats:
    if plan.free:
        return _free(problem, plan, rng, start)
    return (_hard if problem.hard else _soft)(problem, plan, rng, start)


def solve(problem: Problem, plan: Plan, limits: Limits, rng: np.random.Generator, start: Point | None = None) -> Answer:
    """Run until the gap is below `plan.tol`, a limit is reached, inseparability is proved or the user interrupts.

    Parameters
    ----------
    problem : Problem
        The data.
    plan : Plan
        Tolerance, rate and kind.
    limits : Limits
        Iterations (sweeps and Newton steps), time, and callbacks.
    rng : Generator
        Random number generator.
    start : Point, optional
        Where to go on from; a point good enough is returned at once.

    Returns
    -------
    Answer
        With the best point reached.
    """
    run, plan = _Run(problem, plan.tol, limits), plan._replace(haste=Haste(limits.max_iter))
    if start is not None:
        run.see(start)
    try:
        for beat in () if run.point().gap <= plan.tol else _beats(problem, plan, rng, start):
            if run.ends(beat, plan.haste):
                break
    except KeyboardInterrupt:
        run.reason = "interrupted"
    point = _to_scale(run.point()) if problem.hard else run.point()
    return Answer(point, run.reason, run.iterations, run.course)


def _to_scale(point: Point) -> Point:
    """Return a hard-margin point with least potential 1 and strengths at their best multiple, for which its values hold."""
    w, alpha, primal, dual, bias = point
    length, total = float(np.linalg.norm(w)), float(alpha.sum())
    stretch = np.sqrt(2.0 * primal) / length if np.isfinite(primal) and length > 0.0 else 1.0
    if abs(stretch - 1.0) < 1e-14:  # a point seen before stays as it is
        return point
    return Point(w * stretch, alpha * (2.0 * dual / total if total > 0.0 else 1.0), primal, dual, bias * stretch)


class _Run:
    """How a run is going: the weights of the lowest primal value and the strengths of the highest dual value so far."""

    def __init__(self, problem: Problem, tol: float, limits: Limits) -> None:
        self.w, self.alpha = np.zeros(n_columns(problem.X)), np.zeros(n_rows(problem.X))
        self.primal, self.dual, self.bias = np.inf, 0.0, 0.0
        self.tol, self.limits, self.asked = tol, limits, False
        self.began, self.iterations = time.perf_counter(), 0
        self.reason: Reason = "converged"
        self.course: list[tuple[int, float, float, float]] = []

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
        self.course.append((self.iterations, time.perf_counter() - self.began, self.primal, self.dual))

    def ends(self, beat: Beat, haste: Haste) -> bool:
        """Take in a piece of work; tell whether it was the last, and ask for haste when a limit is reached."""
        self.iterations += beat.iterations
        haste.left = max(self.limits.max_iter - self.iterations, 1)
        if beat.point is not None:
            self.see(beat.point)
            verdict = self._verdict(beat.point)
            if verdict is not None:
                self.reason = verdict
                return True
            if haste.now:
                return True
        if self.limits.cancelled():
            self.reason = "interrupted"
            return True
        if not haste.now and self.limits.deadline is not None and time.perf_counter() >= self.limits.deadline:
            haste.now, self.reason = True, "time budget spent"
        if not haste.now and self.iterations >= self.limits.max_iter:
            haste.now, self.reason = True, "iteration budget spent"
        return False

    def _verdict(self, point: Point) -> Reason | None:
        """Return why a run need not go on, or None."""
        if self.point().gap <= self.tol:
            return "converged"
        if np.isinf(self.primal) and not self.asked:
            self.asked = True
            if self.limits.inseparable():
                return "proved inseparable"
        return "stopped by callback" if self.limits.watch(self.iterations, point) else None
