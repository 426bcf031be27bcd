"""The version space of a noise-free teacher: a random member (Gibbs), the centre (Bayes), votes of members, the volume.

Problem    The planes that agree with all P = alpha N labels are a patch V of the unit sphere in N dimensions.
Theorem    For large N two random members of V have overlap q, as each has with the teacher, where with g = sqrt(q/(1-q))
               q/sqrt(1-q) = (alpha/π) ∫ Dt exp(-q t²/2)/H(sqrt(q) t),
           the stationary point of  ln V/N = ln(1-q)/2 + q/2 + 2 alpha ∫ Dt H(g t) ln H(g t), relative to the whole sphere.
           A random member errs with arccos(q)/π and the centre of mass, which no rule beats, with arccos(sqrt(q))/π. At a new
           point a share p = Phi(g t) of V says +1, with normal t; the teacher is one of V, so that the majority of K random
           members errs with  ∫ Dt [p (1-M) + (1-p) M],  M the probability that most of K say +1.
Reference  Györgyi and Tishby (1990), Opper and Haussler (1991); the vote follows from the law of p.

All is solved for g, and integrals are over x = g t, so that 1 - q keeps its digits as alpha grows.
"""

from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, erfcx, log_ndtr, ndtr

from halfspace._typing import FloatArray
from halfspace.theory.arguments import at_each
from halfspace.theory.integrals import density

__all__ = ["angle_ratio", "log_volume", "vote_error"]

STEP = 0.125
LINE = np.arange(-80, 81) * STEP
"""The trapezium rule with this step is exact to double precision for what is integrated here: all is analytic."""


def angle_ratio(alpha: float) -> float:
    """Return g = sqrt(q/(1-q)), the cotangent of the angle between centre and teacher."""
    if not alpha:
        return 0.0

    def excess(log_g: float) -> float:
        g = np.exp(log_g)
        root = g / np.hypot(1.0, g)
        integral = STEP * (density(LINE) @ (2.0 / erfcx(root * LINE / np.sqrt(2.0))))
        return float(2.0 * log_g - np.log(np.hypot(1.0, g)) - np.log(alpha * integral / np.pi))

    low, high = 0.5 * np.log(alpha) - 3.0, np.log1p(alpha) + 0.5 * min(np.log(alpha), 0.0) + 3.0
    return float(np.exp(brentq(excess, low, high, xtol=1e-14)))


def _line(g: float, step: float = STEP) -> tuple[FloatArray, FloatArray]:
    """Return x = g t and weights Dt, for what vanishes like H(|x|)."""
    z = LINE if step == STEP else np.arange(-int(10.0 / step), int(10.0 / step) + 1) * step
    root = g / np.hypot(1.0, g)
    return root * z, step * root / g * density(root * z / g)


def vote_error(alpha: float, members: int) -> float:
    """Return the error of the majority of so many random members of the version space; ties are broken by a coin."""
    if not alpha:
        return 0.5
    odd = members - 1 + members % 2  # with a tie-breaking coin an even number is as good as one fewer
    x, weights = _line(angle_ratio(alpha), STEP / np.ceil(np.sqrt(odd) / 4.0))
    p = ndtr(-np.abs(x))
    M = betainc(0.5 * (odd + 1), 0.5 * (odd + 1), p)
    return float(weights @ (p * (1.0 - M) + (1.0 - p) * M))


def log_volume(alpha: Any) -> Any:
    """Return ln V/N of the version space after P = alpha N examples of a noise-free teacher, relative to the whole sphere.

    ln V/N = ln(1-q)/2 + q/2 + 2 alpha ∫ Dt H(g t) ln H(g t), with g = sqrt(q/(1-q)) and q the overlap of two of its members
    (Györgyi and Tishby 1990).

    Parameters
    ----------
    alpha : float or array
        P/N, not negative.

    Returns
    -------
    float or ndarray
        Natural logarithm of the share of the sphere, over N. The first examples halve it: -alpha ln 2.

    Examples
    --------
    >>> import halfspace as hs
    >>> round(hs.theory.log_volume(2.0), 3)
    -1.031
    """

    def at(alpha: float) -> float:
        if not alpha:
            return 0.0
        g = angle_ratio(alpha)
        x, weights = _line(g)
        q = (g / np.hypot(1.0, g)) ** 2
        return float(-np.log(np.hypot(1.0, g)) + 0.5 * q + 2.0 * alpha * (weights @ (ndtr(-x) * log_ndtr(-x))))

    return at_each("log_volume", at, alpha)
