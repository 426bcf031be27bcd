"""Rows in dense blocks, and the nearest prototype of each, with no doubt left by rounding.

One matrix product gives all expanded squares  ‖y‖² - 2 y·v + ‖v‖²,  y = x - c and v = w - c about a centre c: each is off by
at most  (d + 8) eps (‖y‖ + ‖v‖)²  (Higham 2002, section 3.1; y and v are off by eps of themselves). Where that leaves more than
one prototype possible, the differences x - w are squared and summed: such a distance is off by (d + 4) eps of itself, wherever
the origin is, and by `TINY` a column where squares are too small for a float.

Blocks are dense float64 arrays whatever X is, so that a claim is the same, bit by bit, for the same numbers in any storage.
"""

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.certificates.arithmetic import EPS

__all__ = ["TINY", "dense_blocks", "nearest", "own_squares"]

BLOCK_ENTRIES = 1 << 18
"""Entries held at a time: they stay in cache."""
TINY = float(np.finfo(np.float64).tiny)
"""A product that underflows is off by less than this."""


def dense_blocks(X: Matrix, width: int) -> Iterator[tuple[slice, FloatArray]]:
    """Yield the rows of X, shape (n, d), as dense float64 blocks of about `BLOCK_ENTRIES` / `width` rows.

    Examples
    --------
    >>> [(rows.stop, block.dtype.name) for rows, block in dense_blocks(sparse.csr_array(np.eye(3, dtype="f4")), 3)]
    [(3, 'float64')]
    """
    step = max(1, BLOCK_ENTRIES // width)
    for first in range(0, X.shape[0], step):
        rows = slice(first, min(first + step, X.shape[0]))
        block = X[rows].toarray() if sparse.issparse(X) else X[rows]
        yield rows, np.ascontiguousarray(block, dtype=np.float64)


def own_squares(differences: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Σ_j of squared differences for every row, shape (m,), and a bound on its rounding; exact zeros have none.

    Examples
    --------
    >>> squares, noise = own_squares(np.array([[3.0, 4.0], [0.0, 0.0], [1e-200, 0.0]]))
    >>> squares.tolist(), (noise > 0.0).tolist()
    ([25.0, 0.0, 0.0], [True, False, True])
    """
    d = differences.shape[1]
    squares: FloatArray = np.einsum("ij,ij->i", differences, differences)
    noise = (d + 4) * EPS * squares
    lost = np.flatnonzero(squares < 1e-280)
    noise[lost] += d * TINY * differences[lost].any(axis=1)
    return squares, noise


def nearest(block: FloatArray, W: FloatArray) -> IntArray:
    """Return the nearest of the prototypes W, shape (K, d), for every row of a block, shape (m,); of equal ones the first.

    Examples
    --------
    >>> nearest(np.array([[0.0], [2.0], [9.0]]) + 1e9, np.array([[1.0], [10.0], [-1e30]]) + 1e9).tolist()
    [0, 0, 1]
    """
    centre = np.median(W, axis=0)  # not the mean, which one prototype far away would move
    low, high = _expanded(block - centre, W - centre)
    labels: IntArray = low.argmin(axis=1)
    possible = ~(low > high.min(axis=1, keepdims=True))  # also where a sum overflowed
    unsure = np.flatnonzero(np.count_nonzero(possible, axis=1) != 1)
    if unsure.size:
        labels[unsure] = np.stack([own_squares(block[unsure] - w)[0] for w in W], axis=1).argmin(axis=1)
    return labels


def _expanded(Y: FloatArray, V: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a lower and an upper bound of ‖y_i - v_k‖², each of shape (m, K)."""
    squares, norms = np.einsum("ij,ij->i", Y, Y), np.einsum("kj,kj->k", V, V)
    distances = Y @ (-2.0 * V.T)
    distances += norms
    distances += squares[:, None]
    spare = np.sqrt(squares)[:, None] + np.sqrt(norms)
    spare *= spare
    spare *= (V.shape[1] + 8) * EPS
    spare += 4 * V.shape[1] * TINY
    return distances - spare, distances + spare
