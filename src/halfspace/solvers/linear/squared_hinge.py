"""Newton's method on the squared hinge: a plane within a few solves, or strengths that balance.

Problem    Minimise  f(w) = ½ Σ_i max(0, 1 - w·a_i)²  over w, for signed rows a_i = y_i x̃_i.
Rule       On the rows with  ξ_i = 1 - w·a_i > 0  solve  (AᵀA + ε) v = Aᵀ ξ,  and go to the minimum of f along v.
Theorem    f is piecewise quadratic and convex, so the steps end at a minimum after finitely many (Mangasarian 2002, theorem
           3.7). If some plane separates the rows, the minimum is 0 and  w·a_i >= 1  for all i. If not, the gradient there says
           Σ ξ_i a_i = 0:  the ξ are Gordan's multipliers, up to rounding.
Reference  Mangasarian 2002, "A finite Newton method for classification"; Gordan 1873.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lstsq

from halfspace._typing import FloatArray

__all__ = ["newton"]

STEPS = 50
"""Limit on the steps: thin margins need more than is worth waiting for here."""
RIDGE = 1e-10
"""ε as a share of the mean diagonal: the rows need not span all directions."""


def newton(A: FloatArray, w: FloatArray, *, careful: bool = False) -> tuple[FloatArray, FloatArray]:
    """Return weights, shape (D,), and ξ, shape (m,), for rows A, shape (m, D), from a start w; the rows are of length 1.

    It stops at the minimum, or as soon as all potentials are positive. Squaring A in AᵀA loses gaps below about 1e-7 of the
    rows; a `careful` run solves by orthogonal factors instead, which is slower and sees gaps of 1e-13.
    """
    E = A @ w
    for _ in range(STEPS):
        if E.min() > 0.0:
            break
        active = E < 1.0
        xi, rows = 1.0 - E[active], A[active]
        gradient = rows.T @ xi
        if np.linalg.norm(gradient) <= 1e-12 * xi.sum():
            break
        v = lstsq(rows, xi, cond=1e-15, lapack_driver="gelsy")[0] if careful else _direction(rows, xi, gradient)
        Av = A @ v
        step = _along(E, Av)
        w, E = w + step * v, E + step * Av
    return w, np.maximum(0.0, 1.0 - E)


def _direction(rows: FloatArray, xi: FloatArray, gradient: FloatArray) -> FloatArray:
    """Solve for the step in the smaller of the two spaces."""
    wide = rows.shape[0] < rows.shape[1]
    G = rows @ rows.T if wide else rows.T @ rows
    G[np.diag_indices_from(G)] += RIDGE * np.trace(G) / G.shape[0]
    factor = cho_factor(G, overwrite_a=True)
    v: FloatArray = rows.T @ cho_solve(factor, xi) if wide else cho_solve(factor, gradient)
    return v


def _along(E: FloatArray, Av: FloatArray) -> float:
    """Return the step to the minimum of f along a direction, by doubling and halving on the sign of the slope."""

    def falls(step: float) -> bool:
        return float(np.maximum(0.0, 1.0 - E - step * Av) @ Av) > 0.0

    low, high = 0.0, 1.0
    while falls(high) and high < 64.0:
        low, high = high, 2.0 * high
    for _ in range(12):
        middle = (low + high) / 2.0
        low, high = (middle, high) if falls(middle) else (low, middle)
    return low if low > 0.0 else high
