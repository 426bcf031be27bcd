"""The student of maximal stability (the optimal perceptron, AdaTron's and MinOver's limit) of a noise-free teacher.

Problem    max kappa with  y_i w·x_i >= kappa ‖w‖  for P = alpha N examples labelled by a teacher.
Theorem    For large N, kappa and the angle follow from  max_R kappa  with  alpha E (kappa - R|t| - sqrt(1-R²) g)₊² = 1 - R²
           (`halfspace.theory.storage`). In a = R/sqrt(1-R²) = cot(angle) and k = kappa/sqrt(1-R²) the best R satisfies
               a = alpha sqrt(2/π) (k Phi(k) + phi(k)),      alpha E G(k - a|t|) = 1,
           the first by setting the derivative to zero and integrating by parts. The second is then one equation in k. The share
           of the examples that sit on the margin, with alpha_i > 0, is E Phi(k - a|t|).
Reference  Opper, Kinzel, Kleinz and Nehl (1990), Gordon (1988).
"""

from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from halfspace.theory.arguments import at_each
from halfspace.theory.integrals import hinge, over_half_line, squared_hinge

__all__ = ["cotangent", "stability", "support_share"]


def _cotangent(alpha: float, k: float) -> float:
    return float(alpha * np.sqrt(2.0 / np.pi) * hinge(k))


def _point(alpha: float) -> tuple[float, float]:
    """Return a and k for alpha > 0."""

    def excess(k: float) -> float:
        x, weights = over_half_line(k, _cotangent(alpha, k))
        return float(alpha * (weights @ squared_hinge(x)) - 1.0)

    k = brentq(excess, 0.0, 4.0 + 2.0 / np.sqrt(alpha), xtol=1e-14)
    return _cotangent(alpha, k), k


def cotangent(alpha: float) -> float:
    """Return the cotangent of the angle between student and teacher."""
    return _point(alpha)[0] if alpha else 0.0


def stability(alpha: Any) -> Any:
    """Return the largest stability that a plane reaches on P = alpha N examples of a noise-free teacher.

    kappa = max_R kappa with alpha E (kappa - R|t| - sqrt(1-R²) g)₊² = 1 - R² for normal t and g (Gordon 1988).

    Parameters
    ----------
    alpha : float or array
        P/N, not negative.

    Returns
    -------
    float or ndarray
        min y w·x/‖w‖, for inputs of variance 1: divide by sqrt(N) for rows of length 1. Infinite at alpha = 0.

    Examples
    --------
    >>> import halfspace as hs
    >>> hs.theory.stability([0.5, 2.0, 10.0]).round(4).tolist()
    [1.2564, 0.4546, 0.0999]
    """

    def at(alpha: float) -> float:
        if not alpha:
            return float("inf")
        a, k = _point(alpha)
        return float(k / np.hypot(1.0, a))

    return at_each("stability", at, alpha)


def support_share(alpha: Any) -> Any:
    """Return the share of the examples that are support vectors of the plane of maximal stability.

    E Phi(k - a|t|) at the solution of the two equations in `halfspace.theory.maximal_stability`.

    Parameters
    ----------
    alpha : float or array
        P/N, not negative.

    Returns
    -------
    float or ndarray
        Number of support vectors over P. By leave-one-out it is no smaller than the expected error on a new example.

    Examples
    --------
    >>> import halfspace as hs
    >>> round(hs.theory.support_share(3.0), 4)
    0.2989
    """

    def at(alpha: float) -> float:
        if not alpha:
            return 1.0
        a, k = _point(alpha)
        x, weights = over_half_line(k, a)
        return float(weights @ ndtr(x))

    return at_each("support_share", at, alpha)
