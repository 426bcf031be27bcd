"""Kernel values among n examples: all of them at once if they fit the stated memory, else only those asked for.

The clamped input is a constant added to the kernel: `K + shift` with shift = `intercept_scaling`², because the products of
the constant columns are all that it adds. With a precomputed kernel the examples *are* the matrix.
"""

from typing import Any

import numpy as np

from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.kernels import Kernel

__all__ = ["KernelRows"]

CHUNK = 1 << 22
"""Kernel values made at a time where they are not kept."""


class KernelRows:
    """The kernel matrix of n examples, plus a constant.

    Parameters
    ----------
    kernel : Kernel
        With all its parameters known (`resolved`).
    X : ndarray or CSR matrix, shape (n, d)
        Examples; with a precomputed kernel its matrix, shape (n, n).
    shift : float, default 0.0
        Added to every value: the square of the clamped input.
    room : float, default 512e6
        Bytes the matrix may take; `whole` is None where it would take more.
    dtype : dtype, optional
        Of the values; float32 for float32 examples and float64 otherwise, unless one is given.

    Examples
    --------
    >>> from halfspace.kernels import Linear
    >>> rows = KernelRows(Linear(), np.array([[1.0, 2.0], [3.0, 0.0]]), shift=1.0)
    >>> rows.whole.tolist(), rows.diagonal().tolist()
    ([[6.0, 4.0], [4.0, 10.0]], [6.0, 10.0])
    """

    def __init__(self, kernel: Kernel, X: Matrix, shift: float = 0.0, room: float = 512e6, dtype: Any = None) -> None:
        self.kernel, self.X, self.shift, self.n = kernel, X, shift, int(X.shape[0])
        self.dtype = np.dtype(dtype or (np.float32 if X.dtype == np.float32 else np.float64))
        self.given = bool(kernel.is_precomputed)
        self.whole: Any = None
        if self.n * self.n * self.dtype.itemsize <= room:
            everyone = slice(0, self.n)
            self.whole = self.between(everyone, everyone)

    def between(self, rows: IntArray | slice, columns: IntArray | slice) -> Any:
        """Return the values of some examples with some others, shape (rows, columns)."""
        if self.given:
            part = self.X[rows][:, columns]
            values = np.array(part.toarray() if hasattr(part, "toarray") else part, dtype=self.dtype)
        else:
            mine = self.X[rows]
            same = rows is columns  # then half of the values will do, and those of the diagonal are exact
            values = np.ascontiguousarray(self.kernel.matrix(mine, None if same else self.X[columns], dtype=self.dtype))
            if same:
                np.fill_diagonal(values, self.kernel.diagonal(mine))
        if self.shift:
            values += self.dtype.type(self.shift)
        return values

    def diagonal(self) -> FloatArray:
        """Return the values of the examples with themselves, shape (n,)."""
        diagonal = self.X.diagonal() if self.given else self.kernel.diagonal(self.X)
        return np.asarray(diagonal, dtype=np.float64) + self.shift

    def add_combination(self, rows: IntArray, coefficients: FloatArray, out: FloatArray) -> None:
        """Add Σ_r coefficients[k, r] k(x_r, ·) to the outputs `out`, shape (K, n), a chunk of examples at a time."""
        step = max(1, CHUNK // max(rows.size, 1))
        for first in range(0, self.n, step):
            chunk = slice(first, min(first + step, self.n))
            values = self.between(rows, chunk) if self.whole is None else self.whole[rows, chunk]
            out[:, chunk] += coefficients.astype(values.dtype, copy=False) @ values
