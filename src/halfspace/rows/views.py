"""Views: how rows are stored, and the three row operations that are all an algorithm ever asks of them.

- `dot(X, i, w)`: the inner product of row i with the weights
- `axpy(a, X, i, w)`: w += a x_i
- `sqnorm(X, i)`: ‖x_i‖²

A dense view is the array itself (C order, float32 or float64; sums are float64). `CSR` holds a sparse matrix' own
buffers. `Gram` holds a kernel matrix, and the weights are the outputs f(x_j) of all examples: `dot` reads one of them, `axpy`
adds a row of the matrix. *The kernel trick is a data type.* A method that asks for the length of its weights calls
`sqlength(X, w, alpha, y)`, which in a kernel's space needs the strengths. `Clamped` adds the clamped input, a constant column
that is never stored: the last weight is the bias. With a clamped input of 0 it adds none, so that a fit without a bias runs the
code compiled for one with it. `Shifted` adds a bias that belongs to no weight.

`ahead(X, i)` does nothing but ask for row i before its turn comes; `lead_of(X)` says how many rows before.

Invariant: an operation loops over the columns of the row, never over the weights, so `w` may be longer than the row.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from halfspace._dispatch import open_function
from halfspace._fetching import fetch
from halfspace._matrices import canonical
from halfspace._typing import FloatArray, Matrix, View

__all__ = [
    "CSR",
    "Clamped",
    "Gram",
    "Shifted",
    "ahead",
    "axpy",
    "dot",
    "entries_per_row",
    "lead_of",
    "n_columns",
    "n_rows",
    "sqlength",
    "sqnorm",
    "view_of",
    "writable",
]


LINE = 64
"""Bytes of a cache line."""
FETCHED = 1 << 13
"""Bytes of a row that are asked for ahead; of longer ones the processor finds the rest by itself."""
LEAD = 12_000
"""Bytes to ask ahead for."""
NEAR, NEAREST = 1 << 24, 1 << 19
"""Bytes of all rows up to which that is not worth while, as they are in cache: in order, and one here, one there."""


class CSR(NamedTuple):
    """Sparse rows: values and column numbers of row i lie at `indptr[i]:indptr[i + 1]`.

    Column numbers are unsigned: a signed index makes compiled code test for "counted from the end" at every entry, which
    costs a fifth to a half of the time.
    """

    data: Any
    indices: Any
    indptr: Any
    n_columns: int


class Gram(NamedTuple):
    """Rows in a feature space known only by its inner products K, symmetric; the weights are the outputs of all rows."""

    K: Any


class Clamped(NamedTuple):
    """The rows of another view, each with one more column that always holds `scale`, or as they are if that is 0."""

    rows: Any
    scale: float


class Shifted(NamedTuple):
    """The rows of another view; every output is higher by `shift`."""

    rows: Any
    shift: float


@open_function
def dot(X: View, i: int, w: FloatArray) -> float:
    """Inner product of row i with the weights."""


@open_function
def axpy(a: float, X: View, i: int, w: FloatArray) -> None:
    """Add a times row i to the weights."""


@open_function
def sqnorm(X: View, i: int) -> float:
    """Squared length of row i."""


@open_function
def sqlength(X: View, w: FloatArray, alpha: FloatArray, y: FloatArray) -> float:
    """Squared length of the weights w = Σ alpha_i y_i x_i."""


@open_function
def ahead(X: View, i: int) -> None:
    """Ask for the memory of row i, which is wanted soon."""


@open_function
def n_rows(X: View) -> int:
    """Count the rows."""


@open_function
def n_columns(X: View) -> int:
    """Count the weights a row acts on."""


# ---------------------------------------------------------------- dense
@dot.register(np.ndarray)
def _(X: View, i: int, w: FloatArray) -> float:
    total = 0.0
    for j in range(X.shape[1]):
        total += X[i, j] * w[j]
    return total


@axpy.register(np.ndarray)
def _(a: float, X: View, i: int, w: FloatArray) -> None:
    for j in range(X.shape[1]):
        w[j] += a * X[i, j]


@sqnorm.register(np.ndarray)
def _(X: View, i: int) -> float:
    total = 0.0
    for j in range(X.shape[1]):
        x = np.float64(X[i, j])
        total += x * x
    return total


@ahead.register(np.ndarray)
def _(X: View, i: int) -> None:
    for j in range(0, min(X.shape[1], FETCHED // X.itemsize), LINE // X.itemsize):
        fetch(X, (i, j))


@n_rows.register(np.ndarray)
def _(X: View) -> int:
    return X.shape[0]


@n_columns.register(np.ndarray)
def _(X: View) -> int:
    return X.shape[1]


# ---------------------------------------------------------------- sparse
@dot.register(CSR)
def _(X: View, i: int, w: FloatArray) -> float:
    total = 0.0
    for p in range(X.indptr[i], X.indptr[i + 1]):
        total += X.data[p] * w[X.indices[p]]
    return total


@axpy.register(CSR)
def _(a: float, X: View, i: int, w: FloatArray) -> None:
    for p in range(X.indptr[i], X.indptr[i + 1]):
        w[X.indices[p]] += a * X.data[p]


@sqnorm.register(CSR)
def _(X: View, i: int) -> float:
    total = 0.0
    for p in range(X.indptr[i], X.indptr[i + 1]):
        x = np.float64(X.data[p])
        total += x * x
    return total


@ahead.register(CSR)
def _(X: View, i: int) -> None:
    first, step = X.indptr[i], LINE // X.data.itemsize
    for p in range(first, min(X.indptr[i + 1], first + FETCHED // X.data.itemsize), step):
        fetch(X.data, p)
        fetch(X.indices, p)


@n_rows.register(CSR)
def _(X: View) -> int:
    return X.indptr.size - 1


@n_columns.register(CSR)
def _(X: View) -> int:
    return X.n_columns


# ---------------------------------------------------------------- kernel rows
@dot.register(Gram)
def _(X: View, i: int, w: FloatArray) -> float:
    return w[i]


@axpy.register(Gram)
def _(a: float, X: View, i: int, w: FloatArray) -> None:
    for j in range(X.K.shape[1]):
        w[j] += a * X.K[i, j]


@sqnorm.register(Gram)
def _(X: View, i: int) -> float:
    return np.float64(X.K[i, i])


@ahead.register(Gram)
def _(X: View, i: int) -> None:
    pass


@n_rows.register(Gram)
def _(X: View) -> int:
    return X.K.shape[0]


@n_columns.register(Gram)
def _(X: View) -> int:
    return X.K.shape[1]


@sqlength.register(Gram)
def _(X: View, w: FloatArray, alpha: FloatArray, y: FloatArray) -> float:
    total = 0.0
    for i in range(w.size):
        total += alpha[i] * y[i] * w[i]
    return total


# ---------------------------------------------------------------- the clamped input
@dot.register(Clamped)
def _(X: View, i: int, w: FloatArray) -> float:
    return dot(X.rows, i, w) + X.scale * w[w.size - 1]


@axpy.register(Clamped)
def _(a: float, X: View, i: int, w: FloatArray) -> None:
    axpy(a, X.rows, i, w)
    w[w.size - 1] += a * X.scale


@sqnorm.register(Clamped)
def _(X: View, i: int) -> float:
    return sqnorm(X.rows, i) + X.scale * X.scale


@ahead.register(Clamped)
def _(X: View, i: int) -> None:
    ahead(X.rows, i)


@n_rows.register(Clamped)
def _(X: View) -> int:
    return n_rows(X.rows)


@n_columns.register(Clamped)
def _(X: View) -> int:
    return n_columns(X.rows) + (1 if X.scale != 0.0 else 0)


# ---------------------------------------------------------------- a bias that belongs to no weight
@dot.register(Shifted)
def _(X: View, i: int, w: FloatArray) -> float:
    return dot(X.rows, i, w) + X.shift


@axpy.register(Shifted)
def _(a: float, X: View, i: int, w: FloatArray) -> None:
    axpy(a, X.rows, i, w)


@sqnorm.register(Shifted)
def _(X: View, i: int) -> float:
    return sqnorm(X.rows, i)


@ahead.register(Shifted)
def _(X: View, i: int) -> None:
    ahead(X.rows, i)


@n_rows.register(Shifted)
def _(X: View) -> int:
    return n_rows(X.rows)


@n_columns.register(Shifted)
def _(X: View) -> int:
    return n_columns(X.rows)


def _own_sqlength(X: View, w: FloatArray, alpha: FloatArray, y: FloatArray) -> float:
    total = 0.0
    for j in range(w.size):
        total += w[j] * w[j]
    return total


for kind in (np.ndarray, CSR, Clamped):
    sqlength.register(kind)(_own_sqlength)


class _Memory:
    """The memory of an array, offered as writable."""

    def __init__(self, array: Any) -> None:
        self.owner = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


def writable(array: Any) -> Any:
    """See a read-only array (a memory map, say) as writable: views are never written to, and Numba would compile anew."""
    return array if array.flags.writeable else np.asarray(_Memory(array))


def _unsigned(indices: Any, largest: int = 2**64) -> Any:
    """See the same bytes as unsigned numbers; hold 64 bits in 32 where those will do, as Numba would compile anew for 64."""
    if indices.dtype.itemsize == 8 and largest < 2**32:
        return indices.astype(np.uint32)
    return writable(indices).view(np.uint32 if indices.dtype.itemsize == 4 else np.uint64)


def view_of(X: Matrix, clamp: float | None = None) -> View:
    """Make the view of a checked matrix, without copying it where that can be avoided.

    Parameters
    ----------
    X : ndarray or scipy.sparse matrix, shape (n, d)
        Finite float32 or float64 values. Not copied when dense in C order, or CSR without duplicate entries (64-bit column
        numbers are, where 32 bits will do). Other orders are: a row of a column-ordered array touches a cache line per entry.
    clamp : float, optional
        Value of the clamped input, for a `Clamped` view; in one with a clamp of 0 there is no such input.

    Returns
    -------
    View
        What `dot`, `axpy` and `sqnorm` accept.

    Examples
    --------
    >>> X = np.array([[3.0, 4.0]])
    >>> float(sqnorm(view_of(X), 0)), float(sqnorm(view_of(X, clamp=1.0), 0))
    (25.0, 26.0)
    """
    rows: View
    if sparse.issparse(X):
        matrix = X.tocsr()
        matrix = matrix if matrix.has_canonical_format else canonical(matrix, "view_of")
        numbers, starts = (_unsigned(part, max(matrix.shape[1], matrix.nnz)) for part in (matrix.indices, matrix.indptr))
        rows = CSR(writable(matrix.data), numbers, starts, int(matrix.shape[1]))
    else:
        rows = writable(np.ascontiguousarray(X))
    return rows if clamp is None else Clamped(rows, float(clamp))


def entries_per_row(X: View) -> float:
    """Return the mean number of stored entries in a row: what one presentation reads."""
    if isinstance(X, Clamped):
        return entries_per_row(X.rows) + (X.scale != 0.0)
    return X.data.size / max(n_rows(X), 1) if isinstance(X, CSR) else float(n_columns(X))


def lead_of(X: View, *, scattered: bool = False) -> int:
    """Return how many rows ahead to ask for memory; 0 for rows that are in cache anyway, or are not read from memory.

    `scattered` says that rows are read one here, one there.
    """
    while isinstance(X, Clamped | Shifted):
        X = X.rows
    if isinstance(X, Gram):
        return 0
    size = X.data.nbytes + X.indices.nbytes if isinstance(X, CSR) else X.nbytes
    return 0 if size <= (NEAREST if scattered else NEAR) else 1 + int(LEAD * n_rows(X) // size)
