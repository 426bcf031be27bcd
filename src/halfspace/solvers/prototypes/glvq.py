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
Solvers    optimizer="plain" runs `learn_plain` below, the rule as it stands here. The others are accelerators, tested to do the
           same: "online" keeps projections and lays prototypes out for speed (`glvq_online`, `gmlvq_online`), "batch" descends
           the whole cost (`glvq_batch`).
Reference  Sato and Yamada 1996; GRLVQ: Hammer and Villmann 2002 (who step along λ and cut at 0; with λ = ω² there is nothing to
           cut); GMLVQ: Schneider, Biehl and Hammer 2009.
"""

from typing import Annotated, NamedTuple, Self

import numpy as np

from halfspace._dispatch import compiled
from halfspace._typing import FloatArray, IntArray

__all__ = ["Book", "Rates", "bend", "learn_plain", "share", "slope", "slopes"]


class Book(NamedTuple):
    """Prototypes with their class numbers and metric, changed in place by every presentation.

    The tally counts presentations, sums d₊ + d₋ and ‖Λv₊‖² + ‖Λv₋‖², and carries ‖Ω‖². `omega` holds ω, shape (d,); or Ω,
    shape (m, d), filled up with zero rows to a multiple of four, which then has a length of 1 up to the factor in the tally.
    """

    W: Annotated[FloatArray, "f8(P,d)"]  # (P, d)
    labels: Annotated[IntArray, "i8(P)"]  # (P,), rising
    omega: Annotated[FloatArray, "f8(d) | f8(_m,d)"]
    Q: Annotated[FloatArray, "f8(P,0) | f8(P,_m)"]  # (P, m): the prototypes projected by a matrix, or (P, 0)
    tally: Annotated[FloatArray, "f8(4)"]  # (4,)

    @classmethod
    def of(cls, W: FloatArray, labels: IntArray, omega: FloatArray, tally: FloatArray | None = None) -> Self:
        """Return a book with copies of prototypes (P, d), sorted by class, and a metric of length 1."""
        if omega.ndim == 2:
            omega = np.concatenate([omega, np.zeros((-omega.shape[0] % 4, omega.shape[1]))])
        Q = W @ omega.T if omega.ndim == 2 else np.empty((W.shape[0], 0))
        marks = np.array([0.0, 0.0, 0.0, 1.0]) if tally is None else tally.copy()
        return cls(_aligned(W), labels.copy(), _aligned(omega), _aligned(Q), marks)

    def copied(self) -> Self:
        """Return a copy."""
        W, labels, omega, Q, tally = self
        return type(self)(_aligned(W), labels.copy(), _aligned(omega), _aligned(Q), tally.copy())

    def restore(self, other: Self) -> None:
        """Become what another book of the same shapes is."""
        for array, value in zip(self, other, strict=True):
            array[...] = value


class Rates(NamedTuple):
    """Step lengths of prototypes and metric, and the slope β of the sigmoid (0: identity)."""

    prototypes: float
    metric: float
    beta: float

    def scaled(self, factor: float) -> Self:
        """Return the same with shorter steps."""
        return self._replace(prototypes=factor * self.prototypes, metric=factor * self.metric)


def _aligned(array: FloatArray) -> FloatArray:
    """Return a copy that begins on a cache line: a vector that straddles two lines takes twice as long to read."""
    room = np.empty(array.size + 8)
    first = -(room.ctypes.data // 8) % 8
    copy = room[first : first + array.size].reshape(array.shape)
    copy[...] = array
    return copy


@compiled
def bend(beta: float, mu: float) -> float:
    """Return f(μ)."""
    return mu if beta == 0.0 else 1.0 / (1.0 + np.exp(-beta * mu))


@compiled
def slope(beta: float, mu: float) -> float:
    """Return f'(μ)."""
    f = bend(beta, mu)
    return 1.0 if beta == 0.0 else beta * f * (1.0 - f)


@compiled
def slopes(beta: float, d_plus: float, d_minus: float) -> tuple[float, float]:
    """Return ξ₊ = ∂f/∂d₊ and ξ₋ = -∂f/∂d₋; both 0 where x lies on a prototype of its class and on one of another."""
    total = d_plus + d_minus
    if not 1e-290 < total < np.inf:
        return 0.0, 0.0
    steep = 2.0 * slope(beta, (d_plus - d_minus) / total) / total
    return steep * (d_minus / total), steep * (d_plus / total)


@compiled
def share(rate: float, d: float, square: float) -> float:
    """Return the share of a step Λv of squared length `square` to make, at distance d: none past x."""
    return min(rate, d / square) if square > 0.0 else 0.0


def learn_plain(rows: FloatArray, target: IntArray, s: FloatArray, book: Book, rates: Rates) -> int:
    """Present rows (n, d) with weights s of their steps by the rule above; return how many were classified wrongly."""
    W, omega, tally = book.W, book.omega, book.tally
    wrong = 0
    for x, c, weight in zip(rows, target, s, strict=True):
        matrix = omega if omega.ndim == 2 else np.diag(omega)
        V = x - W
        d = np.square(V @ matrix.T).sum(axis=1)
        plus, minus = np.where(book.labels == c, d, np.inf).argmin(), np.where(book.labels == c, np.inf, d).argmin()
        if book.labels[minus] == c or not np.isfinite(d[minus]):
            continue
        wrong += bool(d[plus] > d[minus] or (d[plus] == d[minus] and minus < plus))
        xi_plus, xi_minus = slopes(rates.beta, d[plus], d[minus])
        step_plus, step_minus = (matrix.T @ (matrix @ V[k]) for k in (plus, minus))
        squares = step_plus @ step_plus, step_minus @ step_minus
        tally[:3] += 1.0, d[plus] + d[minus], sum(squares)
        rate = 2.0 * weight * rates.prototypes * tally[1] ** 2 / (tally[0] * tally[2]) if tally[2] > 0.0 else 0.0
        W[plus] += share(rate * xi_plus, d[plus], squares[0]) * step_plus
        W[minus] -= share(rate * xi_minus, d[minus], squares[1]) * step_minus
        if rates.metric > 0.0:
            gradient = matrix @ (xi_plus * np.outer(V[plus], V[plus]) - xi_minus * np.outer(V[minus], V[minus]))
            omega -= 2.0 * weight * rates.metric * (gradient if omega.ndim == 2 else gradient.diagonal())
            omega /= np.linalg.norm(omega)
    if omega.ndim == 2:
        tally[3], book.Q[:] = np.square(omega).sum(), W @ omega.T
    return int(wrong)
