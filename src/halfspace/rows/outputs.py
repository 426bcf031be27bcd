"""Outputs of linear models: each row by itself, so a prediction does not depend on which rows come with it."""

import numpy as np

from halfspace._dispatch import compiled
from halfspace._typing import FloatArray, View
from halfspace.rows.threads import in_chunks
from halfspace.rows.views import dot, entries_per_row, n_rows, sqnorm

__all__ = ["fill_squared_norms", "outputs", "squared_norms"]


@compiled
def _outputs(X: View, W: FloatArray, out: FloatArray, start: int, stop: int) -> None:
    for i in range(start, stop):
        for k in range(W.shape[0]):
            out[i, k] = dot(X, i, W[k])


@compiled
def _squared_norms(X: View, out: FloatArray, start: int, stop: int) -> None:
    for i in range(start, stop):
        out[i] = sqnorm(X, i)


def outputs(X: View, W: FloatArray) -> FloatArray:
    """Return the outputs of weights W, shape (K, D), on the rows of a view, shape (n, K).

    Examples
    --------
    >>> outputs(np.array([[1.0, 2.0]]), np.array([[1.0, 1.0], [0.0, -1.0]]))
    array([[ 3., -2.]])
    """
    out = np.empty((n_rows(X), W.shape[0]))
    in_chunks(lambda start, stop: _outputs(X, W, out, start, stop), n_rows(X), entries_per_row(X))
    return out


def fill_squared_norms(X: View, out: FloatArray) -> None:
    """Write the squared length of every row of a view into `out`, shape (n,), in the calling thread alone.

    Examples
    --------
    >>> out = np.empty(1)
    >>> fill_squared_norms(np.array([[3.0, 4.0]]), out)
    >>> out
    array([25.])
    """
    _squared_norms(X, out, 0, out.size)


def squared_norms(X: View) -> FloatArray:
    """Return the squared length of every row of a view, shape (n,).

    Examples
    --------
    >>> squared_norms(np.array([[3.0, 4.0], [0.0, 1.0]]))
    array([25.,  1.])
    """
    out = np.empty(n_rows(X))
    in_chunks(lambda start, stop: _squared_norms(X, out, start, stop), n_rows(X), entries_per_row(X))
    return out
