"""Farthest-first seeding: prototypes as far from each other as rows can be, without chance.

Problem.    Choose K rows so that the largest distance of any row from the nearest of them is small (the K-centre problem).
Update.     Begin with the row nearest to the mean; then take, K - 1 times, the row farthest from those taken.
Guarantee.  The largest distance is at most twice the smallest possible (Gonzalez 1985, theorem 2.2).

Of equally far rows the first is taken. A row of weight 0 is never taken, and a weight only says whether a row is there, beyond
its part in the mean: so k copies of a row are the same as one of weight k.
"""

import numpy as np

from halfspace._dispatch import compiled
from halfspace._typing import FloatArray, View
from halfspace.rows.distances import sqdist
from halfspace.rows.views import axpy, n_columns, n_rows

__all__ = ["farthest_first"]


@compiled
def _lower(X: View, W: FloatArray, k: int, nearest: FloatArray) -> None:
    """Lower the squared distances from the nearest prototype, shape (n,), where prototype k is nearer."""
    for i in range(nearest.size):
        nearest[i] = min(nearest[i], sqdist(X, i, W, k))


@compiled
def _add_rows(X: View, s: FloatArray, total: FloatArray) -> None:
    """Add Σ s_i x_i to `total`, shape (d,)."""
    for i in range(s.size):
        axpy(s[i], X, i, total)


def farthest_first(X: View, s: FloatArray, K: int) -> FloatArray:
    """Choose K rows of a view, weighted by s, shape (n,), as prototypes, shape (K, d).

    Where there are fewer different rows than K, rows are taken again.
    """
    W = np.zeros((K, n_columns(X)))
    _add_rows(X, s / s.sum(), W[0])
    nearest = np.full(n_rows(X), np.inf)
    _lower(X, W, 0, nearest)
    row = int(np.argmin(np.where(s > 0.0, nearest, np.inf)))
    nearest[:] = np.where(s > 0.0, np.inf, -1.0)
    for k in range(K):
        W[k] = 0.0
        axpy(1.0, X, row, W[k])
        _lower(X, W, k, nearest)
        row = int(np.argmax(nearest))
    return W
