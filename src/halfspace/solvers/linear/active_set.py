"""The large margin at once, where it is known which few examples decide: their linear system.

Problem    As in `adatron.py`: 0 <= alpha <= c, with  E_i >= 1  where alpha_i = 0,  E_i <= 1  where alpha_i = c_i, and  E_i = 1
           between. Without errors c is infinite.
Rule       For a set S of examples that are free, and others at their caps, solve  E_i = 1  (i in S), a linear system in the
           strengths of S. Whoever is wrong changes sides: out of S to the bound that its strength is beyond, into S where E_i
           is on the wrong side of 1. If that leads to no fewer wrong ones three times, only the last does.
Theorem    If nobody is wrong, the sides are right and alpha is the optimum. With one change at a time it ends (without caps);
           after some tries it is given up, and a system that is not positive definite ends it at once: other methods find the
           optimum in any case.
Reference  Murty 1974; Júdice and Pires 1994 (block principal pivoting).
"""

from collections.abc import Generator

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from halfspace._typing import FloatArray
from halfspace.rows.operations import gathered, potentials
from halfspace.rows.views import n_columns
from halfspace.solvers.linear.soft_margin import Beat, Pace, Problem, combined

__all__ = ["most_inside", "pivoted"]

TRIES = 20
"""Systems solved before it is given up."""
CROWDED = 0.97
"""With more examples than this share of the weights, the system is all but singular."""
LARGEST = 1 << 22
"""Numbers of the copied rows, or of the system, at most."""
PATIENCE = 3
"""Times that it may lead to no fewer wrong ones."""
NEGATIVE, SHORT = 1e-12, 1e-9
"""A strength this far beyond a bound, as a share of the largest, or a potential this far on the wrong side of 1 is wrong."""


def most_inside(problem: Problem) -> float:
    """Return how many examples may decide: fewer than weights, and few enough to be copied."""
    D = n_columns(problem.X)
    return min(CROWDED * D, LARGEST / max(D, 1), LARGEST**0.5)


def pivoted(problem: Problem, alpha: FloatArray, pace: Pace) -> Generator[Beat, None, FloatArray | None]:
    """Return the best strengths, shape (n,), found from the sides that the examples are on now; or None."""
    X, y, c = problem.X, problem.y, problem.c
    capped = alpha >= c
    free, best, left, E, room = (alpha > 0.0) & ~capped, y.size + 1, PATIENCE, np.empty(y.size), most_inside(problem)
    for _ in range(TRIES):
        S = np.flatnonzero(free)
        if S.size > room or pace.hurry:
            return None
        found = np.where(capped, c, 0.0)
        w = combined(problem, found)
        if S.size:
            A = gathered(X, S) * y[S, None]
            factor, failed = dpotrf((A @ A.T).T, lower=1, overwrite_a=1)
            if failed:
                return None
            found[S] = dpotrs(factor, 1.0 - problem.shift * y[S] - A @ w, lower=1)[0]
            w = w + found[S] @ A
        potentials(X, y, w, E)
        E += problem.shift * y
        beyond = NEGATIVE * np.abs(found).max(initial=0.0)
        above = free & (found > c + beyond)
        wrong = np.where(free, above | (found < -beyond), np.where(capped, E > 1.0 + SHORT, E < 1.0 - SHORT))
        count = int(np.count_nonzero(wrong))
        yield Beat(1)
        if count == 0:
            return np.clip(found, 0.0, c)
        if count < best:
            best, left = count, PATIENCE
        else:
            left -= 1
        if left < 0:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        capped = (capped & ~wrong) | (above & wrong)
        free ^= wrong
    return None
