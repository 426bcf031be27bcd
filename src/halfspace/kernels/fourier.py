"""The Fourier transform of a shift-invariant function of one variable (Bochner: a kernel if and only if it is >= 0).

k(x, x') = g(x - x') with g even, so  G(ω) = ∫ g(t) cos(ωt) dt.  The integral is a sum over a fine grid; its error is what a
grid half as fine changes, plus what was left out beyond the last point. That is an estimate, not a bound: g is known at the
points of the grid only.
"""

from typing import Any, NamedTuple

import numpy as np

from halfspace._typing import FloatArray
from halfspace.errors import InputError
from halfspace.kernels.base import Kernel

__all__ = ["Transform", "transform"]

POINTS = 1 << 13
"""Points of the finer grid on the positive half line."""
FADED = 1e-7
"""What g must stay below, relative to g(0), to count as gone."""


class Transform(NamedTuple):
    """The lowest value of the transform, where it is, and how wrong it may be."""

    lowest: float
    frequency: float
    error: float
    highest_frequency: float
    extent: float  # where the function has faded away


def _samples(kernel: Kernel, t: Any) -> FloatArray:
    """Return g(t) = k(t, 0)."""
    return kernel.exact(t[:, None], np.zeros((1, 1)))[:, 0]


def _check(kernel: Kernel) -> None:
    """Refuse a function that depends on more than the difference of two numbers."""
    rng = np.random.default_rng(0)
    for t, s in rng.integers(-64, 65, size=(32, 2)) / 16.0:  # shifts by such numbers do not round
        values = [kernel([a], [b]) for a, b in ((t, 0.0), (t + s, s), (0.0, t))]
        if not np.allclose(values, values[0], rtol=1e-9, atol=1e-12):
            msg = f"{kernel} is said to be shift-invariant, but k({t:g}, 0), k({t + s:g}, {s:g}) and k(0, {t:g}) are {values}"
            raise InputError(msg)


def _extent(kernel: Kernel) -> tuple[float, float] | None:
    """Return a distance beyond which g has faded, and what is left there; None if it does not fade."""
    whole = abs(float(_samples(kernel, np.zeros(1))[0])) or 1.0
    for T in [2.0**k for k in range(-6, 14)]:
        rest = float(np.abs(_samples(kernel, T * np.geomspace(1.0, 64.0, 400))).max())
        if rest <= FADED * whole:
            return 2.0 * T, rest
    return None


def _cosines(g: FloatArray, step: float, padded: int) -> FloatArray:
    """Return 2 ∫ g(t) cos(ωt) dt by the trapezoidal rule at ω = 2πk / (padded · step)."""
    weighted = g.copy()
    weighted[0] *= 0.5
    whole: FloatArray = 2.0 * step * np.fft.rfft(weighted, padded).real
    return whole


def transform(kernel: Kernel) -> Transform | None:
    """Return the lowest value of the Fourier transform of a kernel of one variable; None if it does not fade away."""
    _check(kernel)
    found = _extent(kernel)
    if found is None:
        return None
    T, rest = found
    step = T / POINTS
    g = _samples(kernel, np.arange(POINTS) * step)
    padded = 64 * POINTS
    fine, coarse = _cosines(g, step, padded), _cosines(g[::2], 2.0 * step, padded // 2)
    kept = padded // 16  # a quarter of what the coarser grid can see
    error = float(np.abs(fine[:kept] - coarse[:kept]).max()) + 2.0 * T * rest
    omega = 2.0 * np.pi * np.arange(kept) / (padded * step)
    at = int(fine[:kept].argmin())
    return Transform(float(fine[at]), float(omega[at]), error, float(omega[-1]), T)
