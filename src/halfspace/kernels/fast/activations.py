"""How an inner product becomes a kernel value: small values with an open function `bend`, and an exponential that vectorises.

The exponential: adding 1.5·2^23 rounds a number to a whole one, which then stands in the lowest bits; 2 to the power of what
is left is a polynomial, and the whole part goes into the exponent by adding bits. Relative error 2e-7 in single precision
(degree 5) and 1e-15 in double (degree 11). Nothing in it may be reordered.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from halfspace._dispatch import compiled_as_written, only_inlined, open_function

__all__ = ["Bare", "Exp2", "ExpRoot", "Power", "bend", "exp2", "exp2_inplace"]


class Exp2(NamedTuple):
    """2^(t - a - b)."""

    nothing: int = 0


class ExpRoot(NamedTuple):
    """2^-sqrt(2 (a + b - t))."""

    zero: Any  # in the precision of the rows


class Bare(NamedTuple):
    """t + coef0."""

    coef0: Any


class Power(NamedTuple):
    """(t + coef0)^degree."""

    coef0: Any
    degree: int


def _chebyshev(degree: int) -> tuple[float, ...]:
    """Fit 2^r on [-½, ½] by a polynomial, least squares of the relative error on Chebyshev nodes."""
    r = 0.5 * np.cos((np.arange(400) + 0.5) * np.pi / 400)
    powers = np.vander(r, degree + 1, increasing=True) / np.exp2(r)[:, None]
    return tuple(np.linalg.lstsq(powers, np.ones(400), rcond=None)[0].tolist())


A0, A1, A2, A3, A4, A5 = (np.float32(a) for a in _chebyshev(5))
B0, B1, B2, B3, B4, B5, B6, B7, B8, B9, B10, B11 = _chebyshev(11)
MAGIC32, MAGIC64 = np.float32(1.5 * 2**23), 1.5 * 2.0**52
"""Adding this rounds to a whole number, which then stands in the lowest bits."""


def exp2(z: Any) -> Any:
    """Return 2^z for z <= 0 by a polynomial that vectorises; what is below 2^-120 counts as that."""
    return np.exp2(z)


def _exp2_single(z: Any) -> Any:
    z = max(z, np.float32(-120.0))
    t = z + MAGIC32
    r = z - (t - MAGIC32)
    p = A0 + r * (A1 + r * (A2 + r * (A3 + r * (A4 + r * A5))))
    bits = np.float32(p).view(np.int32) + (np.float32(t).view(np.int32) << np.int32(23))
    return np.int32(bits).view(np.float32)


def _exp2_double(z: Any) -> Any:
    z = max(z, -120.0)
    t = z + MAGIC64
    r = z - (t - MAGIC64)
    high = B6 + r * (B7 + r * (B8 + r * (B9 + r * (B10 + r * B11))))
    p = B0 + r * (B1 + r * (B2 + r * (B3 + r * (B4 + r * (B5 + r * high)))))
    bits = np.float64(p).view(np.int64) + (np.float64(t).view(np.int64) << np.int64(52))
    return np.int64(bits).view(np.float64)


@overload(exp2, strict=False, inline="always")
def _choose_exp2(z: Any) -> Any:
    return _exp2_single if z is types.float32 else _exp2_double


only_inlined(_choose_exp2)


@compiled_as_written
def exp2_inplace(z: Any) -> None:
    """Replace every z <= 0 by 2^z: for loops whose sums may be reordered, which would undo the rounding."""
    for i in range(z.size):
        z[i] = exp2(z[i])


@open_function
def bend(shape: Any, t: Any, a: Any, b: Any) -> Any:
    """Make a kernel value of the product t of two prepared rows with the numbers a, b."""


@bend.register(Exp2)
def _(shape: Exp2, t: Any, a: Any, b: Any) -> Any:
    return exp2(t - a - b)


@bend.register(ExpRoot)
def _(shape: ExpRoot, t: Any, a: Any, b: Any) -> Any:
    half = max(a + b - t, shape.zero)
    return exp2(-np.sqrt(half + half))


@bend.register(Power)
def _(shape: Power, t: Any, a: Any, b: Any) -> Any:
    base = t + shape.coef0
    value = base * base
    if shape.degree >= 3:  # the usual degrees without a loop, so that columns can share a vector
        value = value * base
    if shape.degree >= 4:
        value = value * base
    for _ in range(shape.degree - 4):
        value = value * base
    return value


@bend.register(Bare)
def _(shape: Bare, t: Any, a: Any, b: Any) -> Any:
    return t + shape.coef0
