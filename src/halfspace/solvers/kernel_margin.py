"""Large margins in a kernel's space: nested samples, one working set in cache, and a gap that is never believed unchecked.

Problem   max  Σ y_i b_i - ½ bᵀKb   over   lo_i <= b_i <= hi_i  (and Σ b_i = 0 if the bias is free);   h = y - K b.
Gap       P - D = Σ max((h_i - o)(hi_i - b_i), (o - h_i)(b_i - lo_i)),   every term >= 0, for any bias o: one pass over h decides
          when to stop and which examples still matter.
Levels    Random halves of halves of the examples, the smallest first; each starts from the strengths found below.
Rounds    The working set W holds the examples that are free, violate the optimality conditions, or lie near the margin (without
          those the small problem overshoots, and thousands of false violators appear). Pairs climb on the square matrix
          of W (`pair_steps`); then h of the others is brought up to date in one pass of kernel values that are never stored.
Precision Squares and passes are in single precision. At the end h is computed anew in double; what single precision missed is
          one more problem of the same kind, started from the true h: iterative refinement, until the true gap is small enough.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from halfspace._typing import FloatArray, IntArray
from halfspace.kernels.lazy import LazyGram
from halfspace.solvers.free_bias import best_bias
from halfspace.solvers.outcome import Reason
from halfspace.solvers.pair_steps import Box, climb_free, climb_pairs, gap_at, middle

__all__ = ["KernelAnswer", "KernelLimits", "KernelProblem", "solve_kernel"]

SMALLEST = 1500
"""Examples of the smallest level."""
NEAR = 0.25
"""Examples with a potential this near to 1 join the working set."""
STEPS = 1 << 14
"""Pair steps between two looks at the clock."""


class KernelProblem(NamedTuple):
    """What is to be solved: kernel values, the rows that count, their labels ±1 and caps, and whether the bias is free."""

    gram: LazyGram
    rows: IntArray
    y: FloatArray
    c: FloatArray
    free: bool
    room: int = 20_000  # most examples in the working set

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and the highest signed strengths."""
        return np.where(self.y > 0, 0.0, -self.c), np.where(self.y > 0, self.c, 0.0)


class KernelLimits(NamedTuple):
    """How long to go on, and whom to tell."""

    max_iter: int = 10_000
    deadline: float | None = None  # by time.perf_counter()
    watch: Callable[[int, float], bool] = lambda _round, _gap: False
    cancelled: Callable[[], bool] = lambda: False


class KernelAnswer(NamedTuple):
    """Signed strengths, bias, the gradient in double precision, both values, why the run ended, and its course."""

    b: FloatArray
    bias: float
    h: FloatArray
    primal: float
    dual: float
    reason: Reason
    rounds: int
    course: list[tuple[int, float, float, float]]


@dataclass
class _Run:
    """A run on the examples in a random order, of which the first m count."""

    problem: KernelProblem
    order: IntArray  # rows of the kernel matrix
    y: FloatArray
    lo: FloatArray
    hi: FloatArray
    b: FloatArray
    h: FloatArray
    limits: KernelLimits
    began: float
    rounds: int = 0
    reason: Reason | None = None
    course: list[tuple[int, float, float, float]] = field(default_factory=list)

    def state(self, m: int) -> tuple[float, float, float]:
        """Return bias, gap and primal value of the first m examples."""
        h, b, lo, hi = self.h[:m], self.b[:m], self.lo[:m], self.hi[:m]
        o = best_bias(self.y[:m] - h, self.y[:m], hi - lo) if self.problem.free else 0.0
        r = h - o
        loss = float(np.where(r > 0.0, r * hi, r * lo).sum())  # hi or lo is 0
        return o, float(gap_at(h, b, lo, hi, o)), 0.5 * float(b @ (self.y[:m] - h)) + loss

    def times(self, rows: IntArray, columns: IntArray, change: FloatArray | None = None, dtype: Any = np.float32) -> FloatArray:
        """Return what the strengths (or changes) of `rows` give on `columns`."""
        coefficients = self.b[rows] if change is None else change
        return self.problem.gram.times(self.order[rows], coefficients, self.order[columns], dtype)

    def stopped(self, gap: float) -> bool:
        """Tell whether to stop, for a reason other than success."""
        limits = self.limits
        if limits.cancelled():
            self.reason = "interrupted"
        elif limits.deadline is not None and time.perf_counter() >= limits.deadline:
            self.reason = "time budget spent"
        elif self.rounds >= limits.max_iter:
            self.reason = "iteration budget spent"
        elif limits.watch(self.rounds, gap):
            self.reason = "stopped by callback"
        return self.reason is not None


class _Square:
    """The working set and its square matrix, which grows in place."""

    def __init__(self, run: _Run, members: IntArray) -> None:
        self.run, self.members = run, members
        self.K = run.problem.gram.block(run.order[members], run.order[members])
        self._own()

    def _own(self) -> None:
        self.diagonal = self.run.problem.gram.diagonal[self.run.order[self.members]].astype(np.float32)

    def grow(self, new: IntArray) -> None:
        """Let further examples join."""
        run, w = self.run, self.members.size
        everyone = np.concatenate([self.members, new])
        rows = run.problem.gram.block(run.order[new], run.order[everyone])
        if everyone.size > self.K.shape[0]:
            room = np.empty((max(everyone.size, w + w // 4),) * 2, dtype=np.float32)
            room[:w, :w] = self.K[:w, :w]
            self.K = room
        self.K[w : everyone.size, : everyone.size] = rows
        self.K[:w, w : everyone.size] = rows[:, :w].T
        self.members = everyone
        self._own()

    def climb(self, target: float) -> tuple[int, FloatArray]:
        """Climb on the working set until its gap is at most `target`; return the steps and the changes of strengths."""
        run, members = self.run, self.members
        before = run.b[members]
        box = Box(self.K, self.diagonal, run.h[members].astype(np.float32), before.copy(), run.lo[members], run.hi[members])
        climb, steps, most = climb_free if run.problem.free else climb_pairs, 0, 200 * members.size + 10_000
        while steps < most:
            done = climb(box, target, STEPS)
            steps += done
            if done < STEPS or run.stopped(np.nan):
                break
        run.b[members] = box.b
        run.h[members] = box.h
        return steps, box.b - before


def _selected(run: _Run, m: int, o: float) -> IntArray:
    """Return the examples that are free or violate, and half as many that lie nearest to the margin."""
    h, b, lo, hi = run.h[:m] - o, run.b[:m], run.lo[:m], run.hi[:m]
    needed = ((h > 0.0) | (b > lo)) & ((h < 0.0) | (b < hi))
    away = np.where(needed, np.inf, np.abs(h))
    room = np.count_nonzero(needed) // 2
    limit = min(NEAR, np.partition(away, room)[room]) if room < m else NEAR
    chosen = np.flatnonzero(needed | (away < limit))
    return chosen if chosen.size <= run.problem.room else _foremost(run, chosen, o)


def _foremost(run: _Run, rows: IntArray, o: float) -> IntArray:
    """Return as many of these examples as there is room for: those with the largest parts of the gap."""
    terms = _terms(run.h[rows] - o, run.b[rows], run.lo[rows], run.hi[rows])
    room = run.problem.room
    return np.sort(rows[np.argpartition(-terms, room)[:room]])


def _terms(r: FloatArray, b: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray:
    """Return the part of each example in the gap."""
    terms: FloatArray = np.where(r > 0.0, r * (hi - b), -r * (b - lo))
    return terms


def _level(run: _Run, m: int, tol: float) -> None:
    """Solve the problem of the first m examples to a relative gap, as single precision sees it."""
    o, gap, primal = run.state(m)
    square: _Square | None = None
    first = True
    while gap > tol * primal and not run.stopped(gap / max(primal, 1e-300)):
        if square is None:
            square = _Square(run, np.arange(m) if m <= min(SMALLEST, run.problem.room) else _selected(run, m, o))
        else:
            new = _missing(run, m, o, square.members, 0.2 * tol * primal / m)
            if square.members.size + new.size > run.problem.room:
                square = _Square(run, _foremost(run, np.arange(m), o))
            elif new.size:
                square.grow(new)
            elif not moved:
                return
        inside = gap_at(run.h[square.members], run.b[square.members], run.lo[square.members], run.hi[square.members], o)
        target = max((0.02 if first else 0.2) * inside, 0.5 * tol * primal)
        steps, change = square.climb(target)
        run.rounds, first, moved = run.rounds + 1, False, steps > 0
        outside = np.ones(m, dtype=bool)
        outside[square.members] = False
        rest, moving = np.flatnonzero(outside), np.flatnonzero(change)
        if rest.size and moving.size:
            run.h[rest] -= run.times(square.members[moving], rest, change[moving])
        o, gap, primal = run.state(m)
        run.course.append((run.rounds, time.perf_counter() - run.began, primal, primal - gap))


def _missing(run: _Run, m: int, o: float, members: IntArray, threshold: float) -> IntArray:
    """Return the examples outside the working set that hold a part of the gap, at the best bias or at that of the set."""
    h, b, lo, hi = run.h[:m], run.b[:m], run.lo[:m], run.hi[:m]
    wanted = np.zeros(m, dtype=bool)
    inner = middle(run.h[members], run.b[members], run.lo[members], run.hi[members])[0] if run.problem.free else 0.0
    for bias in (o, inner) if run.problem.free else (o,):
        wanted |= _terms(h - bias, b, lo, hi) > threshold
    wanted[members] = False
    return np.flatnonzero(wanted)


def solve_kernel(
    problem: KernelProblem, tol: float, limits: KernelLimits, rng: np.random.Generator, start: FloatArray | None = None
) -> KernelAnswer:
    """Solve to a relative gap of `tol`, true in double precision."""
    n = problem.y.size
    order = rng.permutation(n)
    lo, hi = (side[order] for side in problem.bounds())
    y = problem.y[order]
    run = _Run(problem, problem.rows[order], y, lo, hi, np.zeros(n), y.copy(), limits, time.perf_counter())
    everyone = np.arange(n)
    sizes = [n]
    if start is None:
        while sizes[0] > SMALLEST:
            sizes.insert(0, -(-sizes[0] // 2))
    else:
        run.b[:] = np.clip(start[order], lo, hi)
    known = 0
    for m in sizes:
        new, support = np.arange(known, m), np.flatnonzero(run.b)
        run.h[new] = y[new] - run.times(support, new)
        _level(run, m, 0.9 * tol if m == n else max(tol, 1e-2))
        known = m
        if run.reason:
            break
    o = gap = primal = 0.0
    for attempt in range(30):
        support = np.flatnonzero(run.b)
        run.h[:] = y - run.times(support, everyone, dtype=np.float64)
        before, (o, gap, primal) = gap, run.state(n)
        if run.reason or gap <= tol * primal:
            break
        if attempt and gap > 0.9 * before:
            run.reason = "rounding limit reached"
            break
        _level(run, n, 0.5 * tol)
    run.course.append((run.rounds, time.perf_counter() - run.began, primal, primal - gap))
    b, h = np.empty(n), np.empty(n)
    b[order], h[order] = run.b, run.h
    return KernelAnswer(b, o, h, primal, primal - gap, run.reason or "converged", run.rounds, run.course)
