"""Decimal text to the nearest double, exactly, in compiled code.

For a number w·10^q with w < 2^64, the product of w and 10^q, the latter to 128 bits, decides the rounding of all but very few
numbers; those are handed back to Python's `float`. Reference: D. Lemire, "Number parsing at a gigabyte per second", Software:
Practice and Experience 51 (2021), algorithm of section 5.

No fast-math here, and integers of one kind in every operation: Numba makes a float of a signed and an unsigned one.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

__all__ = ["exactly", "nearest_double", "read_decimal"]

F = TypeVar("F", bound=Callable[..., Any])


def exactly(function: F) -> F:
    """Compile without any leave to reorder or contract: bits are the result."""
    return cast("F", njit(cache=True, nogil=True, error_model="numpy")(function))


SMALLEST, LARGEST = -342, 308


def _powers_of_five() -> Any:
    """Return 5^q for q from -342 to 308, scaled into [2^127, 2^128), as high and low halves (reciprocals rounded up)."""
    halves = []
    for q in range(SMALLEST, LARGEST + 1):
        power = 5 ** abs(q)
        if q >= 0:
            scaled = power << 128 >> power.bit_length()
        else:
            bits = (power - 1).bit_length()
            scaled = (1 << (bits + 127 if q >= -27 else 2 * bits + 128)) // power + 1
            scaled >>= max(0, scaled.bit_length() - 128)
        halves.append((scaled >> 64, scaled & (2**64 - 1)))
    return np.array(halves, dtype=np.uint64)


POWERS = _powers_of_five()
NOUGHT, ONE, TEN, FULL = np.uint64(0), np.uint64(1), np.uint64(10), np.uint64(2**64 - 1)
HALF, LOW_HALF = np.uint64(32), np.uint64(2**32 - 1)
HIDDEN, SIGN, INFINITY = np.uint64(2**52), np.uint64(2**63), np.uint64(0x7FF << 52)
ZERO, NINE, POINT, PLUS, MINUS, SMALL_E, LARGE_E, HASH, SPACE = (np.uint8(ord(c)) for c in "09.+-eE# ")


@exactly
def _product(a: Any, b: Any) -> Any:
    """Multiply two 64-bit numbers; return the high and the low 64 bits."""
    a_high, a_low, b_high, b_low = a >> HALF, a & LOW_HALF, b >> HALF, b & LOW_HALF
    low = a_low * b_low
    middle = a_high * b_low + (low >> HALF)
    other = a_low * b_high + (middle & LOW_HALF)
    return a_high * b_high + (middle >> HALF) + (other >> HALF), (other << HALF) | (low & LOW_HALF)


@exactly
def _leading_zeros(w: Any) -> Any:
    """Count the zero bits above the highest one of w > 0."""
    count = NOUGHT
    for step in (32, 16, 8, 4, 2, 1):
        if w >> np.uint64(64 - step) == NOUGHT:
            w <<= np.uint64(step)
            count += np.uint64(step)
    return count


@exactly
def nearest_double(w: Any, q: int) -> Any:
    """Return the bits of the double nearest to w·10^q, and whether they are certain.

    Parameters
    ----------
    w : uint64
        Digits as a whole number.
    q : int
        Exponent of ten.

    Returns
    -------
    bits : uint64
        IEEE 754 binary64.
    certain : bool
        False if 128 bits do not decide the rounding.

    Examples
    --------
    >>> bits, certain = nearest_double(np.uint64(15), -1)
    >>> float(np.uint64(bits).view(np.float64)), certain
    (1.5, True)
    """
    if w == NOUGHT or q < SMALLEST:
        return NOUGHT, True
    if q > LARGEST:
        return INFINITY, True
    zeros = _leading_zeros(w)
    w <<= zeros
    high, low = _product(w, POWERS[q - SMALLEST, 0])
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):
        more, _ = _product(w, POWERS[q - SMALLEST, 1])
        if low > FULL - more:
            high += ONE
            low = more - (FULL - low) - ONE
        else:
            low += more
    if low == FULL and not -27 <= q <= 55:
        return NOUGHT, False
    upper = high >> np.uint64(63)
    shift = upper + np.uint64(9)
    mantissa = high >> shift
    exponent = ((217706 * q) >> 16) + 63 + int(upper) - int(zeros) + 1023
    if exponent <= 0:
        return _subnormal(mantissa, exponent), True
    if low <= ONE and -4 <= q <= 23 and mantissa & np.uint64(3) == ONE and mantissa << shift == high:
        mantissa -= ONE  # exactly half-way: to even
    mantissa = (mantissa + (mantissa & ONE)) >> ONE
    if mantissa >= HIDDEN << ONE:
        mantissa = HIDDEN
        exponent += 1
    if exponent >= 0x7FF:
        return INFINITY, True
    return (mantissa - HIDDEN) | (np.uint64(exponent) << np.uint64(52)), True


@exactly
def _subnormal(mantissa: Any, exponent: int) -> Any:
    """Round to a number below the smallest normal one; the hidden bit carries into the exponent by itself."""
    if exponent <= -63:
        return NOUGHT
    mantissa >>= np.uint64(1 - exponent)
    return (mantissa + (mantissa & ONE)) >> ONE


@exactly
def _read_exponent(text: Any, p: int) -> Any:
    """Read the digits after an e; return the exponent, the place after it, and whether there were digits."""
    negative = text[p] == MINUS
    if text[p] == MINUS or text[p] == PLUS:
        p += 1
    exponent, begin = 0, p
    while ZERO <= text[p] <= NINE:
        exponent = min(exponent * 10 + int(text[p]) - 48, 100_000)
        p += 1
    return -exponent if negative else exponent, p, p > begin


@exactly
def read_decimal(text: Any, p: int) -> Any:
    """Read a number from bytes that end with a line end.

    Parameters
    ----------
    text : ndarray of uint8
        The bytes.
    p : int
        Where the number begins.

    Returns
    -------
    bits : uint64
        Of the nearest double.
    end : int
        Place of the first byte that is no part of the number.
    certain : bool
        False if Python's `float` must decide: more than 19 digits, nan, or no number at all.

    Examples
    --------
    >>> bits, end, certain = read_decimal(np.frombuffer(b"-2.5e1 3", np.uint8), 0)
    >>> float(np.uint64(bits).view(np.float64)), end, certain
    (-25.0, 6, True)
    """
    sign = SIGN if text[p] == MINUS else NOUGHT
    if text[p] == MINUS or text[p] == PLUS:
        p += 1
    w, q, n_digits, any_digit, certain = NOUGHT, 0, 0, False, True
    after_point = False
    while True:
        c = text[p]
        if ZERO <= c <= NINE:
            any_digit = True
            if n_digits < 19:
                w = w * TEN + np.uint64(c - ZERO)
                n_digits += int(w > NOUGHT)
                q -= int(after_point)
            else:
                certain = False
        elif c == POINT and not after_point:
            after_point = True
        else:
            break
        p += 1
    if text[p] == SMALL_E or text[p] == LARGE_E:
        exponent, p, found = _read_exponent(text, p + 1)
        q += exponent
        certain = certain and found
    ends = text[p] <= SPACE or text[p] == HASH
    if not (certain and any_digit and ends):
        return NOUGHT, p, False
    bits, certain = nearest_double(w, q)
    return bits | sign, p, certain
