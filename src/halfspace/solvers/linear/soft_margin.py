"""The large-margin problem that the accelerators around AdaTron's rule share, how good an answer to it is, and its free bias.

Problem    min ½‖w‖² + Σ c_i max(0, 1 - E_i)  with  E_i = y_i (w·x_i + b).
Free bias  For given weights the slope in b rises by c_i at each  b = y_i - f_i,  from -Σ_{y=+1} c_i: the minimum is where it
           passes 0, a weighted quantile. Where it is 0 between two such points, all in between are as good: take the middle.
           If no errors are allowed, the best bias makes the extreme outputs of both classes equally far from 0.
Theorem    A free bias adds the constraint  Σ alpha_i y_i = 0  to the dual. Lowering strengths keeps them within their
           bounds, so strengths of any solver can be made to balance, at a cost that vanishes as they come to balance by
           themselves.
"""

from typing import Any, NamedTuple

import numpy as np

from halfspace._dispatch import compiled
from halfspace._typing import FloatArray, View
from halfspace.rows.operations import few_doubles, potentials
from halfspace.rows.threads import in_chunks, one_blas_thread
from halfspace.rows.views import axpy, dot, entries_per_row, n_columns, n_rows

__all__ = [
    "Beat",
    "Pace",
    "Point",
    "Problem",
    "balanced",
    "best_bias",
    "combined",
    "dual_value",
    "primal_value",
    "stretched",
    "unclamped",
    "value",
]


class Problem(NamedTuple):
    """min ½‖w‖² + Σ c_i max(0, 1 - E_i)  with  E_i = y_i (w·x_i + shift);  c_i = inf demands E_i >= 1."""

    X: View
    y: FloatArray  # (n,) labels, ±1.0
    c: FloatArray  # (n,) caps
    q: FloatArray  # (n,) squared norms
    shift: float = 0.0  # a bias that stays as it is

    @property
    def hard(self) -> bool:
        """Whether errors are forbidden."""
        return bool(np.isinf(self.c[0]))


class Point(NamedTuple):
    """Weights and strengths, each with the value it proves: dual <= optimum <= primal.

    The arrays are the solver's own: copy what is to outlive the next piece of work.
    """

    w: FloatArray
    alpha: FloatArray
    primal: float
    dual: float
    bias: float = 0.0  # a free one

    @property
    def gap(self) -> float:
        """The relative duality gap."""
        if not np.isfinite(self.primal):
            return np.inf
        return (self.primal - self.dual) / self.primal if self.primal > 0.0 else 0.0


class Pace:
    """What the driver asks of the work: how many iterations may still be made, and whether to come to a point at once."""

    def __init__(self) -> None:
        self.left, self.hurry = 1 << 62, False


class Beat(NamedTuple):
    """One piece of work is done: how many iterations that completed, and where things stand if that is known."""

    iterations: int
    point: Point | None = None


@compiled
def _losses(X: View, y: FloatArray, c: FloatArray, w: FloatArray, shift: float, start: int, stop: int) -> tuple[float, float]:
    """Return Σ c_i max(0, 1 - E_i), or 0 for infinite caps, and min E_i."""
    loss, least = 0.0, np.inf
    for i in range(start, stop):
        E = y[i] * (dot(X, i, w) + shift)
        least = min(least, E)
        if E < 1.0 and c[i] < np.inf:
            loss += c[i] * (1.0 - E)
    return loss, least


@compiled
def _combine(X: View, y: FloatArray, alpha: FloatArray, out: FloatArray, start: int, stop: int) -> None:
    for i in range(start, stop):
        if alpha[i] != 0.0:
            axpy(alpha[i] * y[i], X, i, out)


def combined(problem: Problem, alpha: FloatArray) -> FloatArray:
    """Return Σ alpha_i y_i x_i, shape (D,)."""
    X, y = problem.X, problem.y
    if not alpha.any():
        return np.zeros(n_columns(X))
    few = few_doubles(X)
    if few is not None:
        rows, scale = few
        signed = alpha * y
        with one_blas_thread():
            w: FloatArray = signed @ rows
        return np.append(w, scale * signed.sum()) if scale != 0.0 else w

    def work(start: int, stop: int) -> FloatArray:
        part = np.zeros(n_columns(X))
        _combine(X, y, alpha, part, start, stop)
        return part

    return np.asarray(sum(in_chunks(work, n_rows(X), entries_per_row(X))), dtype=np.float64)


def primal_value(problem: Problem, w: FloatArray) -> float:
    """Return what the weights cost; without errors allowed, what they cost once scaled to least potential 1."""
    X, y, c, _, shift = problem
    parts = in_chunks(lambda start, stop: _losses(X, y, c, w, shift, start, stop), n_rows(X), entries_per_row(X))
    square = 0.5 * float(w @ w)
    if not problem.hard:
        return square + float(sum(loss for loss, _ in parts))
    least = min(least for _, least in parts)
    return stretched(square, least)


def stretched(square: float, least: float) -> float:
    """Return what weights that cost `square` cost once scaled from least potential `least` to 1; infinite if it is not > 0."""
    ratio = square**0.5 / least if least > 0.0 else np.inf  # the square of a small potential would underflow
    return ratio * ratio


def dual_value(problem: Problem, alpha: FloatArray, v: FloatArray) -> float:
    """Return the lower bound that strengths with v = Σ alpha_i y_i x_i prove; without caps, at their best scale."""
    total = float(alpha.sum() - problem.shift * (alpha @ problem.y) if problem.shift else alpha.sum())
    square = float(v @ v)
    if not problem.hard:
        return total - 0.5 * square
    return 0.5 * total * (total / square) if square > 0.0 else 0.0  # total² could overflow


def value(problem: Problem, w: FloatArray, alpha: FloatArray, v: FloatArray) -> Point:
    """Return the point with both its values."""
    return Point(w, alpha, primal_value(problem, w), dual_value(problem, alpha, v))


def best_bias(outputs: FloatArray, y: FloatArray, c: FloatArray, total: float = 0.0) -> float:
    """Return the bias that costs least for outputs without it, labels ±1 and caps, each (n,), if Σ alpha_i y_i is `total`."""
    if np.isinf(c[0]):
        return -0.5 * float(outputs[y > 0].min() + outputs[y < 0].max())
    points = y - outputs
    order = np.argsort(points, kind="stable")
    slopes = np.cumsum(c[order])
    needed = float(c[y > 0].sum()) - total
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
    primal = stretched(square, least) if problem.hard else square + float(c @ np.maximum(0.0, 1.0 - E))
    return Point(w, alpha, primal, dual_value(problem, alpha, combined(problem, alpha)), bias)
