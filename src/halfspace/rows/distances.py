"""Rows and prototypes: the two row operations of all that quantises, as `dot` and `axpy` are those of planes.

- `sqdist(X, i, W, k)`: ‖x_i - w_k‖²
- `pull(rate, X, i, W, k)`: w_k += rate (x_i - w_k); a negative rate pushes away

Both run over all columns, also of a sparse row: where x_ij = 0 the prototype is not. Prototypes W, shape (K, d), are dense
float64 whatever the rows are; sums are float64.
"""

import numpy as np

from halfspace._dispatch import open_function
from halfspace._typing import FloatArray, View
from halfspace.rows.views import CSR

__all__ = ["pull", "sqdist"]


@open_function
def sqdist(X: View, i: int, W: FloatArray, k: int) -> float:
    """Squared distance of row i from prototype k."""


@open_function
def pull(rate: float, X: View, i: int, W: FloatArray, k: int) -> None:
    """Move prototype k towards row i by a share of their difference."""


@sqdist.register(np.ndarray)
def _(X: View, i: int, W: FloatArray, k: int) -> float:
    total = 0.0
    for j in range(W.shape[1]):
        difference = X[i, j] - W[k, j]
        total += difference * difference
    return total


@pull.register(np.ndarray)
def _(rate: float, X: View, i: int, W: FloatArray, k: int) -> None:
    for j in range(W.shape[1]):
        W[k, j] += rate * (X[i, j] - W[k, j])


@sqdist.register(CSR)
def _(X: View, i: int, W: FloatArray, k: int) -> float:
    total = 0.0
    j = 0
    for p in range(X.indptr[i], X.indptr[i + 1]):
        while j < X.indices[p]:
            total += W[k, j] * W[k, j]
            j += 1
        difference = X.data[p] - W[k, j]
        total += difference * difference
        j += 1
    while j < W.shape[1]:
        total += W[k, j] * W[k, j]
        j += 1
    return total


@pull.register(CSR)
def _(rate: float, X: View, i: int, W: FloatArray, k: int) -> None:
    for j in range(W.shape[1]):
        W[k, j] -= rate * W[k, j]
    for p in range(X.indptr[i], X.indptr[i + 1]):
        W[k, X.indices[p]] += rate * np.float64(X.data[p])
