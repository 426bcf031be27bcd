"""Integrals over the normal distribution that the formulas share.

G(k) = E (k - g)₊² = (1 + k²) Phi(k) + k phi(k) for a normal g, and half its slope, E (k - g)₊ = k Phi(k) + phi(k). Both
vanish as k -> -inf, where the terms cancel; what is lost is below 1e-16, and no integral is much below 1/alpha.
"""

from typing import Any

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.special import ndtr

from halfspace._typing import FloatArray

__all__ = ["END", "density", "hinge", "over_half_line", "squared_hinge"]

END = 9.0
"""The normal distribution has 1e-19 beyond."""
NODES, WEIGHTS = leggauss(100)


def density(x: Any) -> Any:
    """Return phi(x)."""
    return np.exp(-0.5 * np.square(x)) / np.sqrt(2.0 * np.pi)


def hinge(k: Any) -> Any:
    """Return E (k - g)₊."""
    return k * ndtr(k) + density(k)


def squared_hinge(k: Any) -> Any:
    """Return G(k) = E (k - g)₊²."""
    return (1.0 + np.square(k)) * ndtr(k) + k * density(k)


def over_half_line(k: float, a: float) -> tuple[FloatArray, FloatArray]:
    """Return k - a t and weights 2 phi(t) dt, for ∫ Dt f(k - a |t|) with f that vanishes at -inf as G does; a >= 0."""
    end = min(END, (max(k, 0.0) + END) / max(a, 1e-300))
    t = 0.5 * end * (NODES + 1.0)
    return k - a * t, end * WEIGHTS * density(t)
