"""Kernel values of the training examples, computed when they are asked for: `LazyGram` never holds n x n of them.

Four kinds, chosen by the kernel: *plain* (few examples: NumPy is as fast, and nothing is compiled), *tiled* (a compiled form
exists: values are cheaper to compute than to fetch), *stored* (a matrix that was given, or one of any kernel that fits in
memory), *blocked* (any kernel, block by block; also sparse rows where there is no time to make all of them dense).
The clamped input adds its square to every value.
"""

from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.kernels import RBF, Kernel, Laplacian, Precomputed
from halfspace.kernels.fast.blocked_products import FEW, Prepared, prepare, single_error, times, values
from halfspace.rows.threads import one_blas_thread

__all__ = ["VALUES", "LazyGram"]

STORED = 1 << 28
"""Bytes up to which the matrix of a kernel without compiled form is stored."""
PLAIN, FAR = 700, 1e3
"""Examples up to which NumPy computes the Gaussian kernel; and the largest exponent, half a squared length in widths, of which
single precision keeps four digits behind the point."""
SHARED = 1024
"""Examples up to which the values of few of them are taken from those of all, computed once."""
VALUES = 5e7
"""Kernel values of short rows that are computed in a second, where the machine is slow."""
TAKEN = 1e10
"""Products of a kernel value and a coefficient that are added in a second, where the machine is slow."""
READY = 1e8
"""Entries of rows that are made ready for products in a second."""
BLOCK = 1 << 22
"""Values computed at a time otherwise."""


class _Source(Protocol):
    def block(self, rows: IntArray, columns: IntArray, out: Any, packed: Any) -> None: ...

    def times(self, rows: IntArray, coefficients: FloatArray, columns: IntArray, dtype: Any) -> FloatArray: ...


class _Tiled:
    """Values by compiled tiles; rows are prepared once for each precision."""

    def __init__(self, kernel: Kernel, X: Matrix, prepared: Prepared) -> None:
        self.kernel, self.X = kernel, X
        self.rows: dict[Any, Prepared] = {np.float32: prepared}

    def prepared(self, dtype: Any) -> Prepared:
        if dtype not in self.rows:
            rows = prepare(self.kernel, self.X, dtype, self.rows[np.float32].centre)
            if rows is None:
                raise AssertionError("a kernel has a compiled form in both precisions or in none")
            self.rows[dtype] = rows
        return self.rows[dtype]

    def block(self, rows: IntArray, columns: IntArray, out: Any, packed: Any) -> None:
        P = self.prepared(out.dtype.type)
        values(P, rows, P, columns, out, symmetric=rows is columns, packed=packed)

    def times(self, rows: IntArray, coefficients: FloatArray, columns: IntArray, dtype: Any) -> FloatArray:
        P = self.prepared(dtype)
        return times(P, rows, coefficients, P, columns)


class _Plain:
    """Values of the Gaussian kernel of few dense examples, by NumPy: nothing to compile.

    In single precision they are exp(u·v - ½‖u‖² - ½‖v‖²) of rows u = √(2γ) (x - mean), where these are not too long for that.
    """

    def __init__(self, kernel: RBF, X: FloatArray) -> None:
        self.kernel, self.X = kernel, X
        with np.errstate(over="ignore"):
            rows = (X - X.mean(axis=0)) * np.sqrt(2.0 * float(kernel.gamma))
            half = 0.5 * np.einsum("ij,ij->i", rows, rows)
        self.near = bool(half.max() <= FAR)
        if self.near:
            self.rows, self.half = rows.astype(np.float32), half.astype(np.float32)

    def block(self, rows: IntArray, columns: IntArray, out: Any, packed: Any) -> None:  # noqa: ARG002
        if out.dtype == np.float64:
            out[:] = self.kernel.exact(self.X[rows], None if rows is columns else self.X[columns])
            return
        with one_blas_thread():  # the same bits for any number of them
            np.matmul(self.rows[rows], self.rows[columns].T, out=out)
        out -= self.half[rows][:, None]
        out -= self.half[columns]
        np.exp(np.minimum(out, 0.0, out=out), out=out)

    def times(self, rows: IntArray, coefficients: FloatArray, columns: IntArray, dtype: Any) -> FloatArray:
        out = np.empty(columns.size)
        for part in _chunks(columns.size, rows.size):
            values = np.empty((columns[part].size, rows.size), dtype=dtype)
            self.block(columns[part], rows, values, None)
            with one_blas_thread():
                out[part] = values @ coefficients.astype(dtype)
        return out


class _Stored:
    """Values looked up in a matrix."""

    def __init__(self, K: Any) -> None:
        self.K = K

    def block(self, rows: IntArray, columns: IntArray, out: Any, packed: Any) -> None:  # noqa: ARG002
        out[:] = self.K[np.ix_(rows, columns)]

    def times(self, rows: IntArray, coefficients: FloatArray, columns: IntArray, dtype: Any) -> FloatArray:  # noqa: ARG002
        out = np.empty(columns.size)
        for part in _chunks(columns.size, rows.size):
            out[part] = self.K[np.ix_(columns[part], rows)] @ coefficients
        return out


class _Blocked:
    """Values of any kernel, by its `matrix`, or its `exact` where rows are to stay sparse, a block at a time."""

    def __init__(self, kernel: Kernel, X: Matrix, *, thin: bool = False) -> None:
        self.kernel, self.X, self.thin = kernel, X, thin

    def matrix(self, A: Matrix, B: Matrix | None, dtype: Any) -> Any:
        return self.kernel.exact(A, B).astype(dtype, copy=False) if self.thin else self.kernel.matrix(A, B, dtype=dtype)

    def block(self, rows: IntArray, columns: IntArray, out: Any, packed: Any) -> None:  # noqa: ARG002
        out[:] = self.matrix(self.X[rows], None if rows is columns else self.X[columns], out.dtype)

    def times(self, rows: IntArray, coefficients: FloatArray, columns: IntArray, dtype: Any) -> FloatArray:
        out = np.empty(columns.size)
        for part in _chunks(columns.size, rows.size):
            out[part] = self.matrix(self.X[columns[part]], self.X[rows], dtype) @ coefficients.astype(dtype)
        return out


def _chunks(n: int, width: int) -> list[slice]:
    """Cut n columns into parts of at most BLOCK values."""
    step = max(1, BLOCK // max(width, 1))
    return [slice(first, min(first + step, n)) for first in range(0, n, step)]


def _varying(kernel: Kernel, X: Matrix) -> Matrix:
    """Leave out constant columns where only differences of rows count."""
    if sparse.issparse(X) or not isinstance(kernel, RBF | Laplacian):
        return X
    varying = X.max(axis=0) > X.min(axis=0)
    return X[:, varying] if 0.0 < varying.mean() < 0.95 else X


class LazyGram:
    """Kernel values of n examples with each other, on demand.

    Parameters
    ----------
    kernel : Kernel
        With numbers for parameters.
    X : array or CSR matrix, shape (n, d)
        Examples; for a precomputed kernel the matrix itself.
    clamp : float, default 0.0
        Value of the clamped input: its square is added to every value.
    stored : float, default 256 MB
        Bytes up to which the values of a kernel without compiled form are computed once, in plain NumPy, and stored.
    seconds : float, optional
        Time limit of those who ask: sparse rows stay sparse if it takes a tenth of that to make them ready for compiled tiles.

    Examples
    --------
    >>> from halfspace.kernels import Linear
    >>> gram = LazyGram(Linear(), np.array([[1.0], [2.0]]), clamp=1.0)
    >>> everything = np.arange(2)
    >>> gram.block(everything, everything).tolist(), gram.times(everything, np.ones(2), everything).tolist()
    ([[2.0, 3.0], [3.0, 5.0]], [5.0, 8.0])
    """

    def __init__(
        self, kernel: Kernel, X: Matrix, clamp: float = 0.0, stored: float = STORED, seconds: float | None = None
    ) -> None:
        self.n, self.clamped, self.width = int(X.shape[0]), float(clamp) ** 2, int(X.shape[1])
        self.kernel, self.X, self.stored = kernel, X, stored
        self.shared: Any = None  # all values in single precision, once `share` was called
        late = seconds is not None and self.n * self.width / READY > 0.1 * seconds
        self.thin = late and sparse.issparse(X) and not kernel.is_precomputed
        if self.thin:  # columns that two rows have in common cost what a column of short rows does
            self.width = int(X.nnz**2 / (max(self.n, 1) ** 2 * max(self.width, 1)))

    @cached_property
    def diagonal(self) -> FloatArray:
        """Values of the examples with themselves, shape (n,)."""
        return np.asarray(self.kernel.exact_diagonal(self.X) + self.clamped)

    @cached_property
    def _source(self) -> _Source:
        kernel, X = self.kernel, self.X
        if kernel.is_precomputed:
            plain = type(kernel) is Precomputed and not sparse.issparse(X)
            return _Stored(X if plain else kernel.exact(X))
        if self.thin:
            return _Blocked(kernel, X, thin=True)
        X = _varying(kernel, X)
        if self.n <= PLAIN and type(kernel) is RBF and not sparse.issparse(X):
            few = _Plain(kernel, X)
            if few.near:
                return few
        prepared = prepare(kernel, X, np.float32)
        if prepared is not None:
            return _Tiled(kernel, X, prepared)
        return _Stored(kernel.exact(X)) if 8 * self.n * self.n <= self.stored else _Blocked(kernel, X)

    @cached_property
    def _whole(self) -> FloatArray:
        """All values, of few examples."""
        return np.asarray(self.kernel.exact(self.X) + self.clamped)

    def square(self, rows: IntArray) -> FloatArray:
        """Return k(row, row') of few examples, shape (rows, rows), in double precision, by plain NumPy: nothing to compile."""
        if self.n <= SHARED:
            everyone = rows.size == self.n and bool((rows[1:] > rows[:-1]).all())
            return self._whole if everyone else self._whole[np.ix_(rows, rows)]
        part = self.X[rows][:, rows] if self.kernel.is_precomputed else self.X[rows]
        return np.asarray(self.kernel.exact(part) + self.clamped)

    @cached_property
    def single_error(self) -> float:
        """Bound on the relative error of values in single precision, sums of a few included; infinite where none is known."""
        if not isinstance(self._source, _Tiled):
            return np.inf
        return single_error(self._source.prepared(np.float32)) + 64 * 2.0**-24

    def seconds(self, values: float, functions: int = 0) -> float:
        """Predict the seconds for so many values in double precision, each taken by some functions, and to make rows ready."""
        source = vars(self).get("_source")  # to look must not make it
        ready = not self.thin and (source is None or (isinstance(source, _Tiled) and np.float64 not in source.rows))
        return values * ((1.0 + self.width / 64) / VALUES + functions / TAKEN) + ready * self.n * self.width / READY

    @property
    def lookup(self) -> bool:
        """Whether values are looked up, not computed."""
        return isinstance(self._source, _Stored)

    def block(self, rows: IntArray, columns: IntArray, dtype: Any = np.float32, out: Any = None, packed: Any = None) -> Any:
        """Return k(row, column), shape (rows, columns), in `out` if that is given; faster if both are the same array.

        `packed` is what `packed(columns)` returned: worth it where the same columns are needed again.
        """
        out = np.empty((rows.size, columns.size), dtype=dtype) if out is None else out
        self._source.block(rows, columns, out, packed)
        if self.clamped:
            out += out.dtype.type(self.clamped)
        return out

    def packed(self, columns: IntArray) -> Any:
        """Return the panels of these examples in single precision; of 16 k of them and further from `[16 k d:]` on."""
        return self._source.prepared(np.float32).panels(columns, 16) if isinstance(self._source, _Tiled) else None

    @property
    def inputs(self) -> int:
        """Columns of the prepared rows: constant ones are left out."""
        return int(self._source.prepared(np.float32).U.shape[1]) if isinstance(self._source, _Tiled) else self.width

    def times(self, rows: IntArray, coefficients: FloatArray, columns: IntArray, dtype: Any = np.float32) -> FloatArray:
        """Return Σ_r coefficients_r k(row_r, column) for every column, shape (columns,), values in this precision."""
        if rows.size == 0:
            return np.zeros(columns.size)
        out = self._source.times(rows, coefficients, columns, dtype)
        if self.clamped:
            out += self.clamped * coefficients.sum()
        return out

    def whole(self, dtype: Any, room: float, seconds: float | None = None) -> Any:
        """Return the kernel matrix, shape (n, n), with an exact diagonal; None if it does not fit `room` bytes or the time."""
        late = seconds is not None and self.seconds(float(self.n) ** 2) > 0.5 * seconds
        if late or self.n * self.n * np.dtype(dtype).itemsize > room:
            return None
        everyone = np.arange(self.n)
        K = self.block(everyone, everyone, dtype)
        np.fill_diagonal(K, self.diagonal)
        return K

    def share(self, seconds: float | None = None) -> None:
        """Compute all values in single precision, for several problems on all examples; not where time or memory are short."""
        if isinstance(self._source, _Tiled | _Plain):
            self.shared = self.whole(np.float32, self.stored, seconds)

    def add(self, rows: IntArray, coefficients: FloatArray, out: FloatArray, dtype: Any = np.float64) -> None:
        """Add Σ_r coefficients[k, r] k(row_r, ·) to the outputs `out` of all examples, shape (K, n)."""
        everyone = np.arange(self.n)
        if coefficients.shape[0] <= FEW:
            for k, c in enumerate(coefficients):
                some = np.flatnonzero(c)
                out[k] += self.times(rows[some], c[some], everyone, dtype)
            return
        for part in _chunks(self.n, rows.size):
            out[:, part] += coefficients.astype(dtype, copy=False) @ self.block(rows, everyone[part], dtype)
