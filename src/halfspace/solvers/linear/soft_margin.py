"""The large-margin problem that the accelerators around AdaTron's rule share, and how good an answer to it is."""

from typing import NamedTuple

import numpy as np

from halfspace._dispatch import compiled
from halfspace._typing import FloatArray, View
from halfspace.rows.threads import in_chunks
from halfspace.rows.views import axpy, dot, entries_per_row, n_columns, n_rows

__all__ = ["Beat", "Haste", "Point", "Problem", "combined", "dual_value", "primal_value", "value"]


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


class Haste:
    """Set by whoever consumes a solver's work: from then on it should come to a point, which is all that is waited for."""

    def __init__(self, left: int = 1 << 62) -> None:
        self.now = False
        self.left = left  # iterations that may still be made


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
    """Return Σ alpha_i y_i x_i, shape (D,).

    Examples
    --------
    >>> combined(Problem(np.eye(2), np.array([1.0, -1.0]), np.ones(2), np.ones(2)), np.array([3.0, 2.0]))
    array([ 3., -2.])
    """
    X, y = problem.X, problem.y

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
    return square / least**2 if least > 0.0 else np.inf


def dual_value(problem: Problem, alpha: FloatArray, v: FloatArray) -> float:
    """Return the lower bound that strengths with v = Σ alpha_i y_i x_i prove; without caps, at their best scale."""
    total = float(alpha.sum() - problem.shift * (alpha @ problem.y) if problem.shift else alpha.sum())
    square = float(v @ v)
    if not problem.hard:
        return total - 0.5 * square
    return 0.5 * total * total / square if square > 0.0 else 0.0


def value(problem: Problem, w: FloatArray, alpha: FloatArray, v: FloatArray) -> Point:
    """Return the point with both its values.

    Examples
    --------
    >>> problem = Problem(np.eye(1), np.ones(1), np.ones(1), np.ones(1))
    >>> value(problem, np.array([1.0]), np.array([1.0]), np.array([1.0])).gap
    0.0
    """
    return Point(w, alpha, primal_value(problem, w), dual_value(problem, alpha, v))
