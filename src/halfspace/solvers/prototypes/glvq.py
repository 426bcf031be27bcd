"""Generalised learning vector quantisation: prototypes, and with them the metric, learn by the gradient of a cost.

Problem    min over prototypes w_k and Ω of  Φ = Σ s_i f(μ_i),  μ = (d₊ - d₋) / (d₊ + d₋),  d_k = ‖Ω(x - w_k)‖².
           d₊ is the distance of the nearest prototype of x's own class, d₋ that of the nearest of any other: μ < 0 just where
           x is classified correctly. f is the identity (β = 0) or the sigmoid 1 / (1 + exp(-βμ)).
           GLVQ: Ω = 1.  GRLVQ: Ω = diag(ω), relevances λ_j = ω_j².  GMLVQ: Ω any (m, d) matrix, Λ = ΩᵀΩ.
Rule       With ξ₊ = f'(μ) 2 d₋ / (d₊ + d₋)² and ξ₋ = f'(μ) 2 d₊ / (d₊ + d₋)²
               w₊ += 2 rate ξ₊ Λ (x - w₊),    w₋ -= 2 rate ξ₋ Λ (x - w₋),
               Ω  -= 2 metric_rate Ω (ξ₊ v₊v₊ᵀ - ξ₋ v₋v₋ᵀ),  v = x - w before the step (its diagonal for GRLVQ),
           then Ω is divided by its length, so that Σ λ_j = trace Λ = 1.
Units      Λ and d may be scaled without changing μ, lengths may not. So the prototypes' rate is a pure number times
           (Σ d)² / (n Σ ‖Λv‖²) over all presentations so far, which is the mean of d₊ + d₋ for GLVQ: data in other units learn
           the same. A prototype is never pulled past x: its step is cut at d / ‖Λv‖².
Theorem    The rule is stochastic gradient descent of Φ. Φ does not depend on Ω's length, so its gradient is at right angles to
           Ω, and a step G lengthens Ω by exactly √(1 + ‖G‖²).
Ties       Of prototypes equally near, the one that comes first is the nearest.
Reference  Sato and Yamada 1996; GRLVQ: Hammer and Villmann 2002 (who step along λ and cut at 0; with λ = ω² there is nothing to
           cut); GMLVQ: Schneider, Biehl and Hammer 2009.
"""

from typing import NamedTuple

import numpy as np

from halfspace._dispatch import compiled
from halfspace._typing import FloatArray, IntArray

__all__ = ["Book", "Rates", "bend", "present", "slope", "slopes"]


class Book(NamedTuple):
    """Prototypes with their class numbers and metric.

    The tally counts presentations and sums d₊ + d₋ and ‖Λv₊‖² + ‖Λv₋‖²; `omega` holds ω, shape (d,), or Ω, shape (m, d).
    """

    W: FloatArray  # (P, d)
    labels: IntArray  # (P,)
    omega: FloatArray
    tally: FloatArray  # (3,)


class Rates(NamedTuple):
    """Step lengths of prototypes and metric, and the slope β of the sigmoid (0: identity)."""

    prototypes: float
    metric: float
    beta: float


@compiled
def bend(beta: float, mu: float) -> float:
    """Return f(μ).

    Examples
    --------
    >>> bend(0.0, -0.5), float(bend(2.0, 0.0))
    (-0.5, 0.5)
    """
    return mu if beta == 0.0 else 1.0 / (1.0 + np.exp(-beta * mu))


@compiled
def slope(beta: float, mu: float) -> float:
    """Return f'(μ).

    Examples
    --------
    >>> slope(0.0, -0.5), float(slope(2.0, 0.0))
    (1.0, 0.5)
    """
    f = bend(beta, mu)
    return 1.0 if beta == 0.0 else beta * f * (1.0 - f)


@compiled
def slopes(beta: float, d_plus: float, d_minus: float) -> tuple[float, float]:
    """Return ξ₊ = ∂f/∂d₊ and ξ₋ = -∂f/∂d₋; both 0 where x lies on a prototype of its class and on one of another.

    Examples
    --------
    >>> slopes(0.0, 1.0, 3.0), slopes(0.0, 0.0, 0.0)
    ((0.375, 0.125), (0.0, 0.0))
    """
    total = d_plus + d_minus
    if not 1e-290 < total < np.inf:
        return 0.0, 0.0
    steep = 2.0 * slope(beta, (d_plus - d_minus) / total) / total
    return steep * (d_minus / total), steep * (d_plus / total)


def present(x: FloatArray, c: int, book: Book, rates: Rates) -> Book:
    """Return the book after one presentation of x, shape (d,), of class c: the rule as it stands above.

    The compiled passes keep projections and lay prototypes out for speed; they are tested to do exactly this.

    Examples
    --------
    >>> book = Book(np.array([[0.0], [4.0]]), np.array([0, 1]), np.ones(1), np.zeros(3))
    >>> present(np.array([1.0]), 0, book, Rates(0.1, 0.0, 0.0)).W.round(3).tolist()
    [[0.36], [4.12]]
    """
    W, labels, omega, tally = book.W.copy(), book.labels, book.omega, book.tally
    matrix = omega if omega.ndim == 2 else np.diag(omega)
    V = x - W
    d = np.square(V @ matrix.T).sum(axis=1)
    plus, minus = np.where(labels == c, d, np.inf).argmin(), np.where(labels == c, np.inf, d).argmin()
    xi_plus, xi_minus = slopes(rates.beta, d[plus], d[minus])
    step_plus, step_minus = (matrix.T @ (matrix @ V[k]) for k in (plus, minus))
    squares = step_plus @ step_plus, step_minus @ step_minus
    tally = tally + np.array([1.0, d[plus] + d[minus], sum(squares)])
    rate = 2.0 * rates.prototypes * tally[1] ** 2 / (tally[0] * tally[2]) if tally[2] > 0.0 else 0.0
    W[plus] += _cut(rate * xi_plus, d[plus], squares[0]) * step_plus
    W[minus] -= _cut(rate * xi_minus, d[minus], squares[1]) * step_minus
    if rates.metric > 0.0:
        gradient = matrix @ (xi_plus * np.outer(V[plus], V[plus]) - xi_minus * np.outer(V[minus], V[minus]))
        omega = omega - 2.0 * rates.metric * (gradient if omega.ndim == 2 else gradient.diagonal())
        omega = omega / np.linalg.norm(omega)
    return Book(W, labels, omega, tally)


def _cut(share: float, d: float, square: float) -> float:
    """Return the share of the step to make: none past x."""
    return min(share, d / square) if square > 0.0 else 0.0
