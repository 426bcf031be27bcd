"""The matrices of one kernel for many widths: distances are computed once, each width is one pass over them.

RBF         exp(-γ‖x - x'‖²)   from the squared distances
Laplacian   exp(-γ‖x - x'‖)    from the distances
Others      are computed anew for every width, by `Kernel.matrix`.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from halfspace._dispatch import compiled_as_written
from halfspace._typing import Matrix
from halfspace.kernels import RBF, Kernel, Laplacian
from halfspace.kernels.fast.activations import exp2
from halfspace.kernels.products import distances, doubled, squared_distances

__all__ = ["WidthMatrices"]

BLOCK = 1 << 22
"""Distances computed at a time."""
PLAIN = 1000
"""Up to as many examples steps run on the whole matrix; above, on a square with at most SHARE of them."""
SHARE = 0.7


@compiled_as_written
def _fade(D: Any, slope: Any, clamped: Any, out: Any) -> None:
    """Write 2^(-slope·D) + clamped."""
    for i in range(D.shape[0]):
        row, target = D[i], out[i]
        for j in range(row.size):
            target[j] = exp2(-slope * row[j]) + clamped


class WidthMatrices:
    """Kernel matrices in single precision, one after another into memory that is used again.

    Parameters
    ----------
    kernels : list of Kernel
        One per width, with numbers for parameters.
    X : array or CSR matrix, shape (n, d)
        Examples; of a precomputed kernel its matrix.
    clamp : float
        Value of the clamped input: its square is added to every value.

    Examples
    --------
    >>> matrices = WidthMatrices([RBF(0.5), RBF(2.0)], np.array([[0.0], [1.0]]), 1.0)
    >>> [round(float(matrices.fill(k, matrices.memory())[0, 1]), 4) for k in (0, 1)]
    [1.6065, 1.1353]
    """

    def __init__(self, kernels: list[Kernel], X: Matrix, clamp: float) -> None:
        self.kernels, self.X, self.n = kernels, X, int(X.shape[0])
        self.clamped = np.float32(clamp * clamp)
        kind = type(kernels[0])
        self.radial = kind in {RBF, Laplacian} and all(type(kernel) is kind for kernel in kernels)
        self._D = self._distances(distances if kind is Laplacian else squared_distances) if self.radial else None

    @staticmethod
    def megabytes(n: int, workers: int) -> float:
        """Return the memory that n examples and some threads need."""
        return 4e-6 * n * n * (1.0 + workers * (1.0 + (SHARE * SHARE if n > PLAIN else 0.0)))

    def _distances(self, measure: Callable[[Any, Any], Any]) -> Any:
        X, n = doubled(self.X), self.n
        D, step = np.empty((n, n), np.float32), max(1, BLOCK // n)
        for first in range(0, n, step):
            D[first : first + step] = measure(X[first : first + step], X)
        np.fill_diagonal(D, 0.0)
        return D

    def memory(self) -> Any:
        """Return room for one matrix, for a thread to keep."""
        return np.empty((self.n, self.n) if self.radial else (0, 0), np.float32)

    def room(self) -> Any:
        """Return room for a square of some examples, for a thread to keep."""
        return np.empty(int(SHARE * self.n) ** 2 if self.n > PLAIN else 0, np.float32)

    def fill(self, number: int, memory: Any) -> Any:
        """Return the matrix of a width, in this memory where that is possible."""
        kernel = self.kernels[number]
        if self._D is None:
            K = kernel.matrix(self.X, dtype=np.float32)
            K += self.clamped
            return K
        slope = float(kernel.get_params()["gamma"]) * math.log2(math.e)
        _fade(self._D, np.float32(min(slope, 1e38)), self.clamped, memory)
        return memory
