"""A bias that costs nothing: the best one for given weights, and strengths that balance.

Problem    min over b of  Σ c_i max(0, 1 - y_i (f_i + b))  for outputs f_i without bias.
Rule       The slope in b rises by c_i at each  b = y_i - f_i,  from -Σ_{y=+1} c_i: the minimum is where it passes 0, a
           weighted quantile. Where it is 0 between two such points, all in between are as good: take the middle.
           If no errors are allowed, the best bias makes the extreme outputs of both classes equally far from 0.
Theorem    A free bias adds the constraint  Σ alpha_i y_i = 0  to the dual. Lowering strengths keeps them within their
           bounds, so strengths of any solver can be made to balance, at a cost that vanishes as they come to balance by
           themselves.
"""

from typing import Any

import numpy as np

from halfspace._typing import FloatArray
from halfspace.rows.operations import potentials
from halfspace.solvers.linear.soft_margin import Point, Problem, combined, dual_value

__all__ = ["balanced", "best_bias", "unclamped"]


def best_bias(outputs: FloatArray, y: FloatArray, c: FloatArray) -> float:
    """Return the bias that costs least for these outputs without bias, labels ±1 and caps, each of shape (n,).

    Examples
    --------
    >>> best_bias(np.array([3.0, 1.0]), np.array([1.0, -1.0]), np.ones(2))
    -2.0
    """
    if np.isinf(c[0]):
        return -0.5 * float(outputs[y > 0].min() + outputs[y < 0].max())
    points = y - outputs
    order = np.argsort(points, kind="stable")
    slopes = np.cumsum(c[order])
    needed = float(c[y > 0].sum())
    k = min(int(np.searchsorted(slopes, needed * (1.0 - 1e-12))), points.size - 1)
    flat = k + 1 < points.size and slopes[k] <= needed * (1.0 + 1e-12)
    return float(0.5 * (points[order[k]] + points[order[k + 1]]) if flat else points[order[k]])


def balanced(alpha: FloatArray, problem: Problem | Any) -> FloatArray:
    """Weaken the class that is too strong, so that Σ alpha_i y_i = 0: its free strengths, or if need be all of them."""
    y = problem.y
    excess = float(alpha @ y)
    strong = y > 0 if excess > 0 else y < 0
    free = strong & (alpha < problem.c)
    weakened = free if float(alpha[free].sum()) >= abs(excess) else strong
    total = float(alpha[weakened].sum())
    if total <= 0.0:
        return alpha
    rest: FloatArray = np.where(weakened, alpha * max(0.0, 1.0 - abs(excess) / total), alpha)
    return rest


def unclamped(problem: Problem, clamped: Problem, point: Point) -> Point:
    """Return what a point of the problem with a clamped input says about the one with a free bias."""
    X, y, c, _, _ = problem
    alpha, w, E = balanced(point.alpha, problem), point.w[:-1].copy(), np.empty(y.size)
    potentials(X, y, w, E)
    bias = best_bias(E * y, y, c)
    E += bias * y
    square, least = 0.5 * float(w @ w), float(E.min())
    scaled = square / least**2 if least > 0.0 else np.inf
    primal = scaled if problem.hard else square + float(c @ np.maximum(0.0, 1.0 - E))
    return Point(w, alpha, primal, dual_value(problem, alpha, combined(problem, alpha)), bias)
