"""Sparse matrices: each column over its largest absolute value, so that zeros stay zeros."""

from typing import Any

import numpy as np
from scipy import sparse

from halfspace._typing import FloatArray, Matrix
from halfspace.errors import InputError
from halfspace.tables.numbers import FARTHEST

__all__ = ["divide", "learn"]


def learn(X: Matrix, columns: tuple[str, ...], scale: str) -> dict[str, Any]:
    """Learn the largest absolute value of each column of a CSR matrix, shape (n, d), 1 where there is none."""
    if scale == "rank":
        msg = "TableEncoder: rank scaling would make a sparse matrix dense. Use scale='standard' or 'none'."
        raise InputError(msg)
    _refuse_unusable(X, columns)
    largest = np.ones(X.shape[1])
    if scale == "standard":
        top = np.zeros(X.shape[1])
        np.maximum.at(top, X.indices, np.abs(X.data.astype(np.float64)))
        largest = np.where(top > 0.0, top, 1.0)
    return {
        "recipes_": [],
        "groups_": tuple((name, j, j + 1) for j, name in enumerate(columns)),
        "dropped_": (),
        "notes_": (),
        "sparse_": True,
        "largest_": largest,
    }


def divide(X: Matrix, largest: FloatArray, columns: tuple[str, ...]) -> Matrix:
    """Return a CSR matrix, shape (n, d), each column over its largest absolute value in `fit`; far beyond, cut off."""
    _refuse_unusable(X, columns)
    with np.errstate(over="ignore"):
        data = np.clip(X.data / largest[X.indices], -FARTHEST, FARTHEST)
    return sparse.csr_matrix((data, X.indices, X.indptr), shape=X.shape)


def _refuse_unusable(X: Matrix, columns: tuple[str, ...]) -> None:
    """Refuse NaN and infinity by the name of their column."""
    bad = np.flatnonzero(~np.isfinite(X.data))
    if bad.size:
        name, value = columns[X.indices[bad[0]]], X.data[bad[0]]
        msg = (
            f"TableEncoder: column {name!r} of the sparse matrix contains {value}. Put numbers where NaN and infinity are;"
            " missing values are supported in dense tables only."
        )
        raise InputError(msg)
