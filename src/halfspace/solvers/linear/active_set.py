"""The largest margin at once, where it is known which few examples decide: their linear system.

Problem    As in `adatron.py` without caps: alpha >= 0 with  E_i >= 1  for all i, and  E_i = 1  where alpha_i > 0.
Rule       For a set S of examples solve  Σ_{j in S} y_i y_j x_i·x_j alpha_j = 1  (i in S). Whoever is wrong changes sides: out
           of S with alpha_i < 0, into S with E_i < 1. If that leads to no fewer wrong ones three times, only the last does.
Theorem    If nobody is wrong, S is right and alpha the optimum. With one change at a time it ends; after some tries it is given
           up, and a system that is not positive definite ends it at once: sweeps find the optimum in any case.
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
"""A strength this far below 0, as a share of the largest, or a potential this far below 1 is wrong."""


def most_inside(problem: Problem) -> float:
    """Return how many examples may decide: fewer than weights, and few enough to be copied."""
    D = n_columns(problem.X)
    return min(CROWDED * D, LARGEST / max(D, 1), LARGEST**0.5)


def pivoted(problem: Problem, alpha: FloatArray, pace: Pace) -> Generator[Beat, None, FloatArray | None]:
    """Return the strengths of the largest margin, shape (n,), from the examples whose strengths are now positive; or None."""
    X, y = problem.X, problem.y
    inside, best, left, E, room = alpha > 0.0, y.size + 1, PATIENCE, np.empty(y.size), most_inside(problem)
    for _ in range(TRIES):
        S = np.flatnonzero(inside)
        if S.size > room or pace.hurry:
            return None
        A = gathered(X, S) * y[S, None]
        factor, failed = dpotrf((A @ A.T).T, lower=1, overwrite_a=1)
        if failed:
            return None
        found = np.zeros(y.size)
        found[S] = dpotrs(factor, 1.0 - problem.shift * y[S], lower=1)[0]
        potentials(X, y, combined(problem, found), E)
        E += problem.shift * y
        wrong = np.where(inside, found < -NEGATIVE * np.abs(found).max(initial=0.0), E < 1.0 - SHORT)
        count = int(np.count_nonzero(wrong))
        yield Beat(1)
        if count == 0:
            return np.maximum(found, 0.0)
        if count < best:
            best, left = count, PATIENCE
        else:
            left -= 1
        if left < 0:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        inside ^= wrong
    return None
