"""Against a kernel: points and coefficients with Σ c_i c_j k(x_i, x_j) < 0, beyond what rounding could explain."""

from typing import Any, NamedTuple

import numpy as np

from halfspace._typing import FloatArray, IntArray
from halfspace.errors import InputError
from halfspace.kernels.base import Kernel
from halfspace.kernels.rows import EPS

__all__ = ["Spectrum", "Witness", "is_asymmetric", "quadratic_form", "search", "shortest_witness", "spectrum"]

LARGEST = 10_000
"""Examples of which the eigenvalues are computed: beyond, that would take many minutes."""


class Spectrum(NamedTuple):
    """The eigenvalues of a kernel matrix, and how far rounding may have moved them."""

    values: FloatArray  # (n,), rising
    vectors: FloatArray  # (n, n), in columns
    matrix: FloatArray  # (n, n), symmetric
    error: float


class Witness(NamedTuple):
    """Rows of the data and their coefficients, the longest of length 1."""

    rows: IntArray  # (m,)
    coefficients: FloatArray  # (m,)


def spectrum(K: FloatArray, rounding: float) -> Spectrum:
    """Return the eigenvalues of a kernel matrix whose entries are off by at most `rounding`."""
    n = K.shape[0]
    if n > LARGEST:
        msg = f"mercer: eigenvalues of at most {LARGEST} examples are computed, got {n}; give a sample of the rows"
        raise InputError(msg)
    symmetric = 0.5 * (K + K.T)
    values, vectors = np.linalg.eigh(symmetric)
    # Weyl: eigenvalues move by no more than the norm of the change; eigh itself is off by a few n·eps of the largest.
    error = n * rounding + 8 * n * EPS * float(np.abs(values).max())
    return Spectrum(values, vectors, symmetric, float(error))


def quadratic_form(K: FloatArray, c: FloatArray, rounding: float) -> tuple[float, float]:
    """Return Σ c_i c_j K_ij and a bound on its rounding error, that of the entries included."""
    sizes = np.abs(c)
    error = 4 * (c.size + 8) * EPS * float(sizes @ np.abs(K) @ sizes) + rounding * float(sizes.sum()) ** 2
    return float(c @ K @ c), error


def is_asymmetric(K: FloatArray, rounding: float) -> tuple[int, int] | None:
    """Return a pair with K_ij != K_ji beyond rounding, the worst one; None if there is none."""
    away = np.abs(K - K.T)
    i, j = np.unravel_index(int(away.argmax()), away.shape)
    allowed = 2 * rounding + 4 * EPS * max(abs(K[i, j]), abs(K[j, i]))
    return (int(i), int(j)) if away[i, j] > allowed else None


def shortest_witness(found: Spectrum, rounding: float) -> Witness | None:
    """Return a certified witness on as few rows as a greedy choice finds; None if rounding could explain it."""
    order = np.argsort(-np.abs(found.vectors[:, 0]), kind="stable")
    for m in [*range(1, 9), 12, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, order.size]:
        rows = np.sort(order[:m])
        part = found.matrix[np.ix_(rows, rows)]
        c = np.linalg.eigh(part)[1][:, 0]
        value, error = quadratic_form(part, c, rounding)
        if value < -error and (value < -0.01 * abs(found.values[0]) or rows.size == order.size):
            return Witness(rows, c)
        if m >= order.size:
            return None
    return None


def search(kernel: Kernel) -> tuple[Any, Witness] | None:
    """Look for a witness on small sets of points in one, two and three dimensions: the clearest one, None if there is none."""
    best, clearest = None, 0.0
    for points in _small_sets():
        try:
            K, rounding = kernel.exact(points), kernel.rounding(points)
        except InputError:
            continue  # a kernel of other dimensions, or values too large
        witness = shortest_witness(spectrum(K, rounding), rounding)
        if witness is not None:
            rows, c = witness
            part, sizes = K[np.ix_(rows, rows)], np.abs(c)
            share = float(c @ part @ c) / float(sizes @ np.abs(part) @ sizes)
            if share < clearest:
                best, clearest = (points, witness), share
    return best


def _small_sets() -> list[FloatArray]:
    """Return sets of points of many sizes: the origin, a line, a cloud."""
    rng = np.random.default_rng(0)
    line = np.linspace(0.0, 1.0, 8)[:, None]
    sets = [np.zeros((1, d)) for d in (1, 2, 3)]
    for scale in [2.0**k for k in range(-4, 5)]:
        for d in (1, 2, 3):
            sets += [scale * line * np.ones(d), scale * rng.normal(size=(16, d))]
    return sets
