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
"""

import time

import numpy as np

from halfspace._typing import FloatArray, IntArray
from halfspace.solvers.kernel.pair_steps import Box, climb_free, climb_pairs, gap_at, middle
from halfspace.solvers.kernel.run import KernelAnswer, KernelLimits, KernelProblem, Run
from halfspace.solvers.kernel.working_set import in_double, working_set

__all__ = ["KernelAnswer", "KernelLimits", "KernelProblem", "solve_kernel"]

SMALLEST = 1500
"""Examples of the smallest level."""
NEAR = 0.25
"""Examples with a potential this near to 1 join the working set."""
GROWTH = 256
"""The working set grows by at most half its size and so many in a round."""
DOUBLE = 1 << 31
"""Bytes up to which a working set in double precision is tried where single leads no further."""
STEPS = 1 << 14
"""Pair steps between two looks at the clock."""


def _climb(run: Run, target: float) -> tuple[int, FloatArray]:
    """Climb on the working set until its gap is at most `target`; return the steps and the changes of strengths."""
    members, free = run.work.members, run.problem.free
    before, h, lo, hi = run.b[members], run.h[members], run.lo[members], run.hi[members]
    shift = middle(h, before, lo, hi)[0] if free else 0.0  # what is near 0 has digits to spare
    box = Box(run.work.K, run.work.diagonal, (h - shift).astype(run.work.K.dtype), before.copy(), lo, hi)
    climb, steps, most = climb_free if free else climb_pairs, 0, 200 * members.size + 10_000
    stretch = max(STEPS, 4 * members.size)
    while steps < most:
        done = climb(box, target, stretch)
        steps += done
        if done < stretch or run.stopped(np.nan):
            break
        steps += _shrunk(box, target, free=free)
    run.b[members], run.h[members], run.travelled[members] = box.b, box.h + shift, np.inf  # by steps without number
    return steps, box.b - before


def _shrunk(box: Box, target: float, *, free: bool) -> int:
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


def _selected(run: Run, m: int, o: float, threshold: float) -> IntArray:
    """Return the examples that are free or hold a part of the gap, and a third as many that lie nearest to the margin."""
    h, b, lo, hi = run.h[:m] - o, run.b[:m], run.lo[:m], run.hi[:m]
    needed = ((b > lo) & (b < hi)) | (_terms(h, b, lo, hi) > threshold)
    away = np.where(needed, np.inf, np.abs(h))
    room = np.count_nonzero(needed) // 3
    limit = min(NEAR, np.partition(away, room)[room]) if room < m else NEAR
    chosen = np.flatnonzero(needed | (away < limit))
    return chosen if chosen.size <= run.problem.room else _foremost(run, chosen, o)


def _foremost(run: Run, rows: IntArray, o: float) -> IntArray:
    """Return as many of these examples as there is room for: those with the largest parts of the gap."""
    terms = _terms(run.h[rows] - o, run.b[rows], run.lo[rows], run.hi[rows])
    room = run.problem.room
    return np.sort(rows[np.argpartition(-terms, room)[:room]])


def _terms(r: FloatArray, b: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray:
    """Return the part of each example in the gap."""
    terms: FloatArray = np.where(r > 0.0, r * (hi - b), -r * (b - lo))
    return terms


def _level(run: Run, m: int, tol: float) -> None:
    """Solve the problem of the first m examples to a relative gap, as single precision sees it."""
    o, gap, primal = run.state(m)
    work, first, moved, before = run.work, True, False, np.inf
    new = np.empty(0, dtype=np.int64)
    while gap > tol * primal and not run.stopped(gap / max(primal, 1e-300)):
        threshold = 0.2 * tol * primal / m
        if first:
            work.choose(np.arange(m) if m <= min(SMALLEST, run.problem.room) else _selected(run, m, o, threshold), m)
        else:
            new = _missing(run, m, o, threshold)
            if work.members.size + new.size > run.problem.room:
                work.choose(_foremost(run, np.arange(m), o), m)
            elif new.size:
                work.grow(new)
            elif not moved or gap > 0.9 * before:  # all are there, and it leads no further in this precision
                return
        members = work.members
        inside = gap_at(run.h[members], run.b[members], run.lo[members], run.hi[members], o)
        few = not first and 20 * new.size < members.size  # nearly all that matter are there: go to the end
        target = max((0.02 if first else 0.2) * inside * (not few), 0.5 * tol * primal)
        before = gap
        steps, change = _climb(run, target)
        run.rounds, first, moved = run.rounds + 1, False, steps > 0
        outside = np.ones(m, dtype=bool)
        outside[members] = False
        rest = np.flatnonzero(outside)
        if rest.size and steps:
            run.h[rest] -= work.effect(change, rest)
            run.travelled[rest] += float(np.abs(change).sum())
        o, gap, primal = run.state(m)
        run.course.append((run.rounds, time.perf_counter() - run.began, primal, primal - gap))


def _missing(run: Run, m: int, o: float, threshold: float) -> IntArray:
    """Return the examples outside the working set that hold a part of the gap, at the best bias or at that of the set."""
    h, b, lo, hi, members = run.h[:m], run.b[:m], run.lo[:m], run.hi[:m], run.work.members
    wanted = np.zeros(m, dtype=bool)
    inner = middle(run.h[members], run.b[members], run.lo[members], run.hi[members])[0] if run.problem.free else 0.0
    for bias in (o, inner) if run.problem.free else (o,):
        wanted |= _terms(h - bias, b, lo, hi) > threshold
    wanted[members] = False
    new, most = np.flatnonzero(wanted), GROWTH + members.size // 2
    if new.size > most:  # most of so many are there because the set was too small, and will go by themselves
        terms = _terms(h[new] - o, b[new], lo[new], hi[new])
        new = np.sort(new[np.argpartition(-terms, most)[:most]])
    return new


def _refined(run: Run) -> FloatArray:
    """Compute h anew in double precision, but for examples surely outside the margin; return bounds on its error there."""
    support, n = np.flatnonzero(run.b), run.h.size
    single = run.problem.gram.single_error
    known = run.work.outputs(support, run.b[support]) if np.isfinite(single) else None
    if known is not None:
        run.h, error = run.y - known[0], 1.01 * known[1] * single
    else:
        error = run.travelled * single if np.isfinite(single) else np.full(n, np.inf)
    error[support] = np.inf
    rounds = 3 if (error < np.inf).any() else 0
    for _ in range(rounds):  # the bias moves with h, and who is sure moves with the bias
        sure = run.y * (run.h - run.state(n)[0]) + 2.0 * error < -1e-3
        unsure = np.flatnonzero(~sure & (error > 0.0))
        if unsure.size == 0:
            return error
        run.h[unsure] = run.y[unsure] - run.times(support, unsure, dtype=np.float64)
        error[unsure] = run.travelled[unsure] = 0.0
    unsure = np.flatnonzero(error > 0.0)
    run.h[unsure] = run.y[unsure] - run.times(support, unsure, dtype=np.float64)
    run.travelled[unsure] = 0.0
    return np.zeros(n)


def solve_kernel(
    problem: KernelProblem, tol: float, limits: KernelLimits, rng: np.random.Generator, start: FloatArray | None = None
) -> KernelAnswer:
    """Solve to a relative gap of `tol`, true in double precision."""
    n = problem.y.size
    order = rng.permutation(n)
    lo, hi = (side[order] for side in problem.bounds())
    y = problem.y[order]
    work = working_set(problem.gram, problem.rows[order], problem.room)
    run = Run(
        problem, problem.rows[order], y, lo, hi, np.zeros(n), y.copy(), limits, work, np.full(n, np.inf), time.perf_counter()
    )
    sizes = [n]
    if start is None:
        while sizes[0] > SMALLEST:
            sizes.insert(0, -(-sizes[0] // 32) * 16)  # halves, in whole panels
    else:
        run.b[:] = np.clip(start[order], lo, hi)
    known = 0
    for m in sizes:
        support = np.flatnonzero(run.b)
        run.h[known:m] = y[known:m] - work.entry(support, run.b[support], known, m)
        run.travelled[known:m] = float(np.abs(run.b).sum())
        _level(run, m, 0.9 * tol if m == n else max(tol, 1e-2))
        known = m
        if run.reason:
            break
    o, gap, primal, error = 0.0, 0.0, 0.0, np.zeros(n)
    precise = False
    for attempt in range(50):
        error = _refined(run)
        before, (o, gap, primal) = gap, run.state(n)
        if run.reason or gap <= tol * primal:
            break
        if attempt and gap > 0.9 * before:
            if precise or 8 * n * n > DOUBLE:
                run.reason = "rounding limit reached"
                break
            precise, run.work = True, in_double(problem.gram, run.order)
        _level(run, n, 0.5 * tol)
    run.course.append((run.rounds, time.perf_counter() - run.began, primal, primal - gap))
    b, h, off = np.empty(n), np.empty(n), np.empty(n)
    b[order], h[order], off[order] = run.b, run.h, error
    return KernelAnswer(b, o, h, off, primal, primal - gap, run.reason or "converged", run.rounds, run.course)
