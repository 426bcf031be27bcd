"""Exact arithmetic on floats: every float is a whole number times a power of 2, so sums of products need not round.

Most rows never come here. A sum of D products computed in floats, in any order, is off by at most  γ Σ|w_j x_ij|  with
γ = (D + 2) u / (1 - (D + 2) u)  (Higham 2002, section 3.1), plus what underflow takes; a potential beyond that bound has
the sign its float has. Only rows within it are computed anew in whole numbers.
"""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.certificates.arithmetic import EPS, norm, radius, row_outputs, unit_scale

__all__ = ["Potentials", "combination_vanishes", "dense_rows", "exact_potentials", "margin_holds", "potentials", "whole"]

COLUMNS, ROWS = 256, 1024
"""Columns, or rows, that are turned into whole numbers at a time."""
CLEAR = 8.0
"""A potential of this many rounding bounds needs no exact arithmetic."""


class Potentials(NamedTuple):
    """Potentials of the weights times a power of 2, each within `error` of the truth."""

    E: FloatArray  # (n,)
    error: FloatArray  # (n,)
    length: float  # ‖w‖ without the bias, times the same power of 2, rounded up


def whole(values: FloatArray) -> tuple[Any, int]:
    """Return whole numbers k (an array of Python integers) and an exponent e with values = k·2^e exactly."""
    mantissa, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    k = np.ldexp(mantissa, 53).astype(np.int64)
    zeros = np.where(k == 0, 0, np.frexp((k & -k).astype(np.float64))[1] - 1)  # trailing ones of binary zeros
    k >>= zeros
    exponent = exponent.astype(np.int64) - 53 + zeros
    least = int(exponent[k != 0].min()) if k.any() else 0
    return k.astype(object) << np.where(k == 0, 0, exponent - least).astype(object), least


def dense_rows(X: Matrix, rows: IntArray, clamp: float) -> FloatArray:
    """Return some rows of a checked matrix as a float64 array, clamped input last."""
    block = X[rows]
    block = block.toarray() if sparse.issparse(block) else block
    last = np.full((rows.size, int(bool(clamp))), clamp)
    return np.hstack([np.asarray(block, dtype=np.float64), last])


def exact_potentials(A: FloatArray, w: FloatArray) -> list[Fraction]:
    """Return A w without rounding, for rows A, shape (m, D), and weights w, shape (D,)."""
    v, f = whole(w)
    done: list[Fraction] = []
    for begin in range(0, A.shape[0], ROWS):
        k, e = whole(A[begin : begin + ROWS])
        done += [int(total) * Fraction(2) ** (e + f) for total in k @ v]
    return done


def potentials(X: Matrix, y: FloatArray, w: FloatArray, clamp: float) -> Potentials:
    """Return y_i w·x̃_i of all rows with bounds on their rounding: by the longest row, or each where that is too coarse."""
    w = unit_scale(w)
    plane = w[: X.shape[1]]
    gamma = 2.0 * (w.size + 4) * EPS
    E = y * row_outputs(X, w[None], clamp)[:, 0]
    tiny = 8.0 * w.size * np.finfo(np.float64).smallest_subnormal
    R = radius(X, clamp)
    error = np.full(E.size, gamma * R * norm(w) + tiny * (1.0 + R))
    near = np.flatnonzero(~(CLEAR * error < E))
    if near.size:
        sizes = row_outputs(abs(X[near]), np.abs(w)[None], abs(clamp))[:, 0]
        error[near] = np.minimum(error[near], gamma * sizes + tiny * (1.0 + R))
    return Potentials(E, error, norm(plane) * (1 + (w.size + 8) * EPS))


def margin_holds(X: Matrix, y: FloatArray, w: FloatArray, clamp: float, margin: float) -> IntArray:
    """Return the rows with y_i w·x̃_i <= 0 or below margin·‖w‖ (bias not counted), decided in rational arithmetic."""
    found = potentials(X, y, w, clamp)
    needed = margin * found.length * (1 + 8 * EPS)
    unclear = np.flatnonzero(~(found.E - found.error > needed))
    squared = Fraction(margin) ** 2 * sum(exact_potentials(w[None, : X.shape[1]], w[: X.shape[1]]), Fraction(0))
    exact = exact_potentials(dense_rows(X, unclear, clamp) * y[unclear, None], w)
    short: IntArray = unclear[np.array([E <= 0 or squared > E * E for E in exact], dtype=bool)]
    return short


def combination_vanishes(X: Matrix, rows: IntArray, coefficients: list[int], clamp: float) -> bool:
    """Tell whether Σ c_i x̃_i = 0 for whole numbers c_i of any length: in whole numbers, nothing is rounded."""
    c = np.array(coefficients, dtype=object)
    if clamp and c.sum() != 0:
        return False
    block = X[rows]
    for begin in range(0, X.shape[1], COLUMNS):
        part = block[:, begin : begin + COLUMNS]
        part = part.toarray() if sparse.issparse(part) else part
        if any((c @ whole(part)[0]).tolist()):
            return False
    return True
