"""What answers in prototype classifiers: d_k = ‖Ω(x - w_k)‖² for a plain, a diagonal, a full or a classwise Ω, block by block.

Rows of any storage are copied into a dense block first, so that all that follows is compiled once. Differences are squared as
they are (no ‖x‖² - 2x·w + ‖w‖²), and taken from the prototypes' mean, so that small distances far from 0 keep their digits.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from halfspace._dispatch import compiled
from halfspace._typing import FloatArray, IntArray, View
from halfspace.rows.operations import gathered
from halfspace.rows.threads import in_chunks, one_blas_thread
from halfspace.rows.views import n_columns, n_rows

__all__ = ["Prototypes", "class_distances", "distances", "map_blocks"]

BLOCK = 1024
"""Rows of a block: with their distances they stay in cache."""
BLOCK_ENTRIES = 1 << 22
"""Numbers of a block of very wide rows, which are dense in it whatever they were."""


@compiled
def _square_distances(Z: FloatArray, Q: FloatArray, D: FloatArray) -> None:
    for i in range(Z.shape[0]):
        for k in range(Q.shape[0]):
            total = 0.0
            for j in range(Z.shape[1]):
                difference = Z[i, j] - Q[k, j]
                total += difference * difference
            D[i, k] = total


class Prototypes(NamedTuple):
    """What predicts: prototypes, sorted by class, their class numbers, and the metric: ω (d,), Ω (m, d), or (K, m, d)."""

    W: FloatArray  # (P, d)
    labels: IntArray  # (P,)
    omega: FloatArray

    def outputs(self, X: View, n_classes: int) -> FloatArray:
        """Return the squared distances of the nearest prototype of each class, shape (n, K)."""

        def work(_rows: IntArray, block: FloatArray) -> FloatArray:
            return class_distances(distances(block, *self), self.labels, n_classes)

        return np.concatenate(map_blocks(work, X, self.W.size + self.omega.size))


def project(rows: FloatArray, omega: FloatArray) -> FloatArray:
    """Return Ωx for every row, shape (n, m); a vector ω stands for its diagonal matrix."""
    return np.asarray(rows * omega if omega.ndim == 1 else rows @ omega.T)


def distances(rows: FloatArray, W: FloatArray, labels: IntArray, omega: FloatArray) -> FloatArray:
    """Return the squared distances of dense rows (n, d) from prototypes W (P, d), shape (n, P)."""
    D, centre = np.empty((rows.shape[0], W.shape[0])), W.mean(axis=0)
    rows, W = rows - centre, W - centre
    if omega.ndim < 3:
        _square_distances(project(rows, omega), project(W, omega), D)
        return D
    for c, own in enumerate(omega):
        first, last = np.searchsorted(labels, (c, c + 1))
        _square_distances(project(rows, own), project(W[first:last], own), D[:, first:last])
    return D


def class_distances(D: FloatArray, labels: IntArray, n_classes: int) -> FloatArray:
    """Return the distances of the nearest prototype of each class, shape (n, K); infinite for a class without prototypes."""
    out = np.full((D.shape[0], n_classes), np.inf)
    present, starts = np.unique(labels, return_index=True)
    out[:, present] = np.minimum.reduceat(D, starts, axis=1)
    return out


def map_blocks(work: Callable[[IntArray, FloatArray], Any], X: View, cost: float) -> list[Any]:
    """Call `work(rows, block)` on dense blocks that cover all rows, in threads where there is much to do; in row order.

    `cost` is the number of multiplications per row. The cuts do not depend on the number of threads.
    """
    step = max(1, min(BLOCK, BLOCK_ENTRIES // n_columns(X)))
    dense = isinstance(X, np.ndarray) and X.dtype == np.float64 and X.flags.carray  # blocks of it are as good as copies

    def chunk(start: int, stop: int) -> list[Any]:
        cuts = [np.arange(first, min(first + step, stop)) for first in range(start, stop, step)]
        return [work(rows, X[rows[0] : rows[-1] + 1] if dense else gathered(X, rows)) for rows in cuts]

    with one_blas_thread():
        return [part for parts in in_chunks(chunk, n_rows(X), cost) for part in parts]
