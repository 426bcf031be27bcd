"""The largest margin in a kernel's space, no errors tolerated: soft margins with a cap that rises until nobody needs it.

Theorem   If no strength of the soft-margin optimum is at the cap C, it is the optimum for every larger cap, and so the plane of
          largest margin. Its bracket:  ½(Σ alpha)²/‖f‖² <= ½/kappa*² <= ½‖f‖²/(least potential)².
Stops     when that bracket is as narrow as asked; when the cap is so large that the margin, if there is one, is below what
          double precision tells from 0; or when a budget is spent.
"""

import numpy as np

from halfspace._typing import FloatArray
from halfspace.solvers.kernel.machine import KernelAnswer, KernelLimits, KernelProblem, solve_kernel
from halfspace.solvers.linear.soft_margin import best_bias

__all__ = ["hard_gap", "solve_hard"]

FIRST, FACTOR, LAST = 100.0, 30.0, 1e9
"""Caps in units of 1 over the mean squared length of an example."""


def hard_gap(y: FloatArray, b: FloatArray, h: FloatArray, *, free: bool) -> tuple[float, float, float]:
    """Return bias, primal and dual value of signed strengths with gradient h, errors forbidden; the primal may be infinite."""
    bias = 0.0
    if free:
        bias = best_bias(y - h, y, np.full(1, np.inf))
    least = float((y * (y - h + bias)).min())
    square, total = float(b @ (y - h)), float(np.abs(b).sum())
    primal = 0.5 * square / least**2 if least > 0.0 else np.inf
    return bias, primal, 0.5 * total**2 / square if square > 0.0 else 0.0


def solve_hard(
    problem: KernelProblem, tol: float, limits: KernelLimits, rng: np.random.Generator, start: FloatArray | None = None
) -> KernelAnswer:
    """Find the largest margin, to a relative gap of `tol`."""
    size = max(float(problem.gram.diagonal[problem.rows].mean()), 1e-30)
    cap = FIRST / size
    if start is not None:
        cap = max(cap, 2.0 * float(np.abs(start).max()))
    course, rounds, inner = [], 0, 0.3 * tol
    while True:
        soft = problem._replace(c=np.full(problem.y.size, cap))
        left = limits._replace(max_iter=limits.max_iter - rounds)
        answer = solve_kernel(soft, inner, left, rng, start)
        bias, primal, dual = hard_gap(problem.y, answer.b, answer.h, free=problem.free)
        rounds += answer.rounds
        course += [(rounds - answer.rounds + at, seconds, np.inf, 0.0) for at, seconds, _, _ in answer.course[:-1]]
        course.append((rounds, answer.course[-1][1], primal, dual))
        answer = answer._replace(bias=bias, primal=primal, dual=min(dual, primal), rounds=rounds, course=course)
        if np.isfinite(primal) and primal - dual <= tol * primal:
            return answer._replace(reason="converged")
        if answer.reason != "converged":
            return answer
        if (np.abs(answer.b) >= cap).any():
            if cap * size > LAST:
                return answer._replace(reason="rounding limit reached")
            cap *= FACTOR
        elif inner > 1e-12:
            inner *= 0.1
        else:
            return answer._replace(reason="rounding limit reached")
        start = answer.b
