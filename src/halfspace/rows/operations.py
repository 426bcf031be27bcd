"""Rows taken together: outputs, lengths and potentials, copies of some rows, their weighted Gram matrix, equal ones.

What models and accelerators need beyond the three row operations, written once for every view. Outputs are computed row by
row, so a prediction does not depend on which rows come with it.
"""

from functools import reduce
from itertools import pairwise
from operator import iadd
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg.blas import dsyrk

from halfspace._dispatch import compiled
from halfspace._typing import FloatArray, IntArray, Matrix, View
from halfspace.rows.threads import CHUNK_ENTRIES, in_chunks, one_blas_thread
from halfspace.rows.views import CSR, Clamped, ahead, axpy, dot, entries_per_row, lead_of, n_columns, n_rows, sqnorm, writable

__all__ = [
    "distinct_rows",
    "few_doubles",
    "fill_squared_norms",
    "gathered",
    "gram",
    "learnt_outputs",
    "outputs",
    "potentials",
    "sparsified",
    "squared_norms",
    "take",
]

SPARSE = 0.25
"""Share of entries other than 0 below which rows are cheaper to read as sparse ones."""


@compiled
def _outputs(X: View, W: FloatArray, out: FloatArray, start: int, stop: int, lead: int) -> None:
    for i in range(start, stop):
        if 0 < lead < stop - i:
            ahead(X, i + lead)
        for k in range(W.shape[0]):
            out[i, k] = dot(X, i, W[k])


@compiled
def _squared_norms(X: View, out: FloatArray, start: int, stop: int) -> None:
    for i in range(start, stop):
        out[i] = sqnorm(X, i)


def _fill_norms(X: View, out: FloatArray, start: int, stop: int) -> None:
    """Write the squared lengths of a range of rows; dense doubles need nothing compiled for that."""
    rows, scale = (X.rows, X.scale) if isinstance(X, Clamped) else (X, 0.0)
    if not (isinstance(rows, np.ndarray) and rows.dtype == np.float64):
        _squared_norms(X, out, start, stop)
        return
    np.einsum("ij,ij->i", rows[start:stop], rows[start:stop], out=out[start:stop])
    out[start:stop] += scale * scale


def outputs(X: View, W: FloatArray) -> FloatArray:
    """Return the outputs of weights W, shape (K, D), on the rows of a view, shape (n, K)."""
    W, out, lead = writable(W), np.empty((n_rows(X), W.shape[0])), lead_of(X)
    in_chunks(lambda start, stop: _outputs(X, W, out, start, stop, lead), n_rows(X), entries_per_row(X))
    return out


def few_doubles(X: View) -> tuple[FloatArray, float] | None:
    """Return rows and clamp of a small view of dense doubles, which NumPy passes over with nothing compiled; else None."""
    rows, scale = (X.rows, X.scale) if isinstance(X, Clamped) else (X, 0.0)
    return (rows, scale) if isinstance(rows, np.ndarray) and rows.dtype == np.float64 and rows.size < CHUNK_ENTRIES else None


def learnt_outputs(X: View, W: FloatArray) -> FloatArray:
    """Return the outputs of weights W, shape (K, D), on the rows they were learnt from, shape (n, K); of few by one product.

    The last digit on a row may then depend on the rows that come with it, as that of a prediction must not.
    """
    few = few_doubles(X)
    if few is None:
        return outputs(X, W)
    rows, scale = few
    with one_blas_thread():
        out: FloatArray = rows @ W[:, : rows.shape[1]].T
    if scale != 0.0:
        out += scale * W[:, -1]
    return out


def fill_squared_norms(X: View, out: FloatArray) -> None:
    """Write the squared length of every row of a view into `out`, shape (n,), in the calling thread alone."""
    _fill_norms(X, out, 0, out.size)


def squared_norms(X: View) -> FloatArray:
    """Return the squared length of every row of a view, shape (n,)."""
    out = np.empty(n_rows(X))
    in_chunks(lambda start, stop: _fill_norms(X, out, start, stop), n_rows(X), entries_per_row(X))
    return out


@compiled
def _potentials(X: View, y: FloatArray, w: FloatArray, out: FloatArray, start: int, stop: int) -> None:
    for i in range(start, stop):
        out[i] = y[i] * dot(X, i, w)


def potentials(X: View, y: FloatArray, w: FloatArray, out: FloatArray) -> None:
    """Write y_i w·x_i into `out`, shape (n,)."""
    in_chunks(lambda start, stop: _potentials(X, y, w, out, start, stop), n_rows(X), entries_per_row(X))


@compiled
def _take_sparse(X: CSR, rows: IntArray, data: Any, indices: Any, starts: Any) -> None:
    for r in range(rows.size):
        first, last = X.indptr[rows[r]], X.indptr[rows[r] + 1]
        for p in range(last - first):
            data[starts[r] + p] = X.data[first + p]
            indices[starts[r] + p] = X.indices[first + p]


def take(X: View, rows: IntArray) -> View:
    """Return a view of copies of some rows."""
    if isinstance(X, Clamped):
        return Clamped(take(X.rows, rows), X.scale)
    if not isinstance(X, CSR):
        return X[rows]
    starts = np.zeros(rows.size + 1, dtype=X.indptr.dtype)
    np.cumsum(X.indptr[rows + 1] - X.indptr[rows], out=starts[1:])
    copy = CSR(np.empty(int(starts[-1]), X.data.dtype), np.empty(int(starts[-1]), X.indices.dtype), starts, X.n_columns)
    _take_sparse(X, rows, copy.data, copy.indices, starts)
    return copy


@compiled
def _scaled_rows(X: View, rows: IntArray, scale: FloatArray, out: FloatArray) -> None:
    for r in range(rows.size):
        row = out[r]
        row[:] = 0.0
        axpy(scale[r], X, rows[r], row)


def gathered(X: View, rows: IntArray, room: FloatArray | None = None) -> FloatArray:
    """Return copies of some rows as a dense float64 block, whatever their storage; in `room`, if there is some already."""
    block = np.empty((rows.size, n_columns(X))) if room is None else room[: rows.size]
    _scaled_rows(X, rows, np.ones(rows.size), block)
    return block


@compiled
def _sparse_gram(X: CSR, clamp: float, rows: IntArray, scale: FloatArray, H: FloatArray) -> None:
    last = H.shape[0] - 1
    for r in range(rows.size):
        first, stop = X.indptr[rows[r]], X.indptr[rows[r] + 1]
        square = scale[r] * scale[r]
        for p in range(first, stop):
            value, row = square * X.data[p], H[X.indices[p]]
            for o in range(p, stop):
                row[X.indices[o]] += value * X.data[o]
            if clamp != 0.0:
                row[last] += value * clamp
        if clamp != 0.0:
            H[last, last] += square * clamp * clamp


def gram(X: View, rows: IntArray, scale: FloatArray) -> FloatArray:
    """Return Σ scale_r² x_r x_rᵀ over the rows named, shape (D, D): the upper triangle, in C order."""
    D = n_columns(X)
    rows_of, clamp = (X.rows, X.scale) if isinstance(X, Clamped) else (X, 0.0)
    if isinstance(rows_of, CSR):
        H = np.zeros((D, D))
        _sparse_gram(rows_of, clamp, rows, scale, H)
        return H

    def work(start: int, stop: int) -> FloatArray:
        block = np.empty((stop - start, D))
        _scaled_rows(X, rows[start:stop], scale[start:stop], block)
        product: FloatArray = dsyrk(1.0, block.T, lower=1).T
        return product

    # Pieces of fewer rows than columns would take longer to add up than to make.
    return np.asarray(reduce(iadd, in_chunks(work, rows.size, min(D * D / 16, CHUNK_ENTRIES / D))))


@compiled
def _count_entries(X: View, out: IntArray, start: int, stop: int) -> None:
    for i in range(start, stop):
        count = 0
        for j in range(X.shape[1]):
            count += X[i, j] != 0.0
        out[i] = count


@compiled
def _pick_entries(X: View, data: Any, indices: Any, starts: Any, start: int, stop: int) -> None:
    for i in range(start, stop):
        p = starts[i]
        for j in range(X.shape[1]):
            if X[i, j] != 0.0:
                data[p] = X[i, j]
                indices[p] = j
                p += 1


def sparsified(X: View) -> View:
    """Return the same rows as a sparse view if they are stored densely but are mostly zeros, else the view itself.

    Examples
    --------
    >>> type(sparsified(np.eye(500))).__name__, type(sparsified(np.ones((500, 500)))).__name__
    ('CSR', 'ndarray')
    """
    if isinstance(X, Clamped):
        rows = sparsified(X.rows)
        return X if rows is X.rows else Clamped(rows, X.scale)
    if isinstance(X, CSR) or X.size < 1 << 16 or X.size > 1 << 31:
        return X
    sample = X[:: max(1, X.shape[0] // 256)]
    if np.count_nonzero(sample) > SPARSE * sample.size:
        return X
    n, d = X.shape
    counts = np.empty(n, dtype=np.int64)
    in_chunks(lambda start, stop: _count_entries(X, counts, start, stop), n, d)
    starts = np.zeros(n + 1, dtype=np.uint32)
    np.cumsum(counts, out=starts[1:], dtype=np.uint32)
    if starts[-1] > SPARSE * X.size:
        return X
    sparse = CSR(np.empty(int(starts[-1]), X.dtype), np.empty(int(starts[-1]), np.uint32), starts, d)
    in_chunks(lambda start, stop: _pick_entries(X, sparse.data, sparse.indices, starts, start, stop), n, d)
    return sparse


def distinct_rows(X: Matrix) -> tuple[IntArray, IntArray]:
    """Return the first of each set of equal rows of X (n, d), in their order, and the number of its set for every row (n,)."""
    if sparse.issparse(X):
        contents = (X.indices[a:b].tobytes() + X.data[a:b].tobytes() for a, b in pairwise(X.indptr))
    else:
        contents = (row.tobytes() for row in X)
    known: dict[bytes, int] = {}
    of = np.array([known.setdefault(content, len(known)) for content in contents], dtype=np.int64)
    return np.unique(of, return_index=True)[1], of
