"""Sparse matrices: each column over its largest absolute value, so that zeros stay zeros.

A very wide matrix is taken for what it holds: columns without a value in `fit` are left out, for nothing can be learnt from
them, and numbers per column would need memory that the matrix does not.
"""

from typing import Any

import numpy as np
from scipy import sparse

from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.errors import InputError
from halfspace.tables.numbers import FARTHEST

__all__ = ["divide", "learn", "narrowed"]

WIDE = 100_000
"""Columns beyond which those without a value are left out."""


def learn(X: Matrix, scale: str) -> dict[str, Any]:
    """Learn the largest absolute value of each column of a CSR matrix, shape (n, d), 1 where there is none."""
    if scale not in ("standard", "none"):
        msg = f"TableEncoder: scale={scale!r} would make a sparse matrix dense. Use scale='standard' or 'none'."
        raise InputError(msg)
    _refuse_unusable(X)
    used = np.unique(X.indices).astype(np.int64) if X.shape[1] > WIDE else None
    if used is not None:
        used = used if used.size else np.zeros(1, dtype=np.int64)
        X = narrowed(X, used)
    columns = tuple(f"x{j}" for j in (range(X.shape[1]) if used is None else used.tolist()))
    largest = np.ones(X.shape[1])
    if scale == "standard":
        top = np.zeros(X.shape[1])
        np.maximum.at(top, X.indices, np.abs(X.data.astype(np.float64)))
        largest = np.where(top > 0.0, top, 1.0)
    return {
        "columns_": columns,
        "used_": used,
        "recipes_": [],
        "groups_": tuple((name, j, j + 1) for j, name in enumerate(columns)),
        "dropped_": (),
        "notes_": (),
        "sparse_": True,
        "largest_": largest,
    }


def narrowed(X: Matrix, used: IntArray | None) -> Matrix:
    """Return some columns of a CSR matrix, shape (n, m), their numbers ascending; SciPy would allocate all columns for it."""
    if used is None:
        return X
    place = np.minimum(np.searchsorted(used, X.indices), used.size - 1)
    kept = used[place] == X.indices
    starts = np.concatenate([[0], np.cumsum(kept)])[X.indptr]
    return sparse.csr_matrix((X.data[kept], place[kept], starts), shape=(X.shape[0], used.size))


def divide(X: Matrix, largest: FloatArray, used: IntArray | None) -> Matrix:
    """Return a CSR matrix, shape (n, m), each column over its largest absolute value in `fit`; far beyond, cut off."""
    _refuse_unusable(X)
    X = narrowed(X, used)
    with np.errstate(over="ignore"):
        data = np.clip(X.data / largest[X.indices], -FARTHEST, FARTHEST)
    return sparse.csr_matrix((data, X.indices, X.indptr), shape=X.shape)


def _refuse_unusable(X: Matrix) -> None:
    """Refuse NaN and infinity by the name of their column."""
    bad = np.flatnonzero(~np.isfinite(X.data))
    if bad.size:
        name, value = f"x{X.indices[bad[0]]}", X.data[bad[0]]
        msg = (
            f"TableEncoder: column {name!r} of the sparse matrix contains {value}. Put numbers where NaN and infinity are;"
            " missing values are supported in dense tables only."
        )
        raise InputError(msg)
