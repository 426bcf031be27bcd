"""The exact line search of a hinge with a bend: its derivative rises piecewise linearly."""

import numpy as np

from halfspace._dispatch import compiled
from halfspace._typing import FloatArray

__all__ = ["line_search"]

ENOUGH = 0.1
"""Share of the first slope that may be left: a step need not be better than the direction it follows."""


@compiled
def _slope(c: FloatArray, u: FloatArray, dE: FloatArray, mu: float, t: float) -> tuple[float, float]:
    """Return the slope of Σ c_i loss(u_i - t dE_i) in t, and the slope of that."""
    first, second = 0.0, 0.0
    for i in range(u.size):
        x = u[i] - t * dE[i]
        if x >= mu:
            first -= c[i] * dE[i]
        elif x > 0.0:
            k = c[i] * dE[i] / mu
            first -= k * x
            second += k * dE[i]
    return first, second


@compiled
def line_search(c: FloatArray, u: FloatArray, dE: FloatArray, mu: float, linear: float, square: float) -> float:
    """Return the t > 0 where  linear t + square t²/2 + Σ c_i loss(u_i - t dE_i)  is nearly smallest.

    Newton's method on the slope, which rises, kept inside a bracket.

    Examples
    --------
    >>> one = np.ones(1)
    >>> float(line_search(one, one, one, 0.5, 0.0, 0.1))  # the slope there, 0.1, is a tenth of the first
    1.0
    """
    start = _slope(c, u, dE, mu, 0.0)[0] + linear
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(50):
        first, second = _slope(c, u, dE, mu, t)
        value = first + linear + t * square
        if abs(value) <= ENOUGH * abs(start):
            break
        if value < 0.0:
            low = t
        else:
            high = t
        t -= value / (second + square)
        if not low < t < high:
            t = 0.5 * (low + high) if high < np.inf else 2.0 * low
    return t
