"""Questions about the rows: some of them, and whether a plane separates each class from the rest."""

import time
from typing import Any

import numpy as np
from scipy import sparse

from halfspace._typing import IntArray, Label, Labels, Matrix
from halfspace.certificates import Separability
from halfspace.ladder.climbing import Ground
from halfspace.notes import Note
from halfspace.questions.separability import separability
from halfspace.tables.columns import as_table

__all__ = ["dense_if_small", "plain", "separable", "take"]

PATIENCE = 10.0
"""Time limit in seconds for all classes together."""
LARGE, THIN = 50_000_000, 0.1
"""Entries of a matrix that is kept sparse in any case, and share of entries below which it is."""


def take(X: Any, rows: IntArray) -> Any:
    """Return some rows of an array, a sparse matrix or a table.

    Examples
    --------
    >>> take(np.arange(6).reshape(3, 2), np.array([2, 0])).tolist()
    [[4, 5], [0, 1]]
    """
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "take") and hasattr(X, "schema"):  # pyarrow
        return X.take(rows)
    if hasattr(X, "__arrow_c_stream__"):
        return as_table(X).take(rows)
    return (X.tocsr() if hasattr(X, "tocsr") else np.asarray(X))[rows]


def plain(X: Any) -> Matrix:
    """Return what an encoder gave as an array or CSR matrix: some give data frames.

    Examples
    --------
    >>> plain([[1.0]]).tolist()
    [[1.0]]
    """
    return X.tocsr() if sparse.issparse(X) else np.asarray(X)


def dense_if_small(X: Matrix) -> Matrix:
    """Return a sparse matrix that is neither large nor empty as a dense one, which is then quicker to learn from.

    Examples
    --------
    >>> type(dense_if_small(sparse.eye(3, format="csr"))).__name__
    'ndarray'
    """
    if not sparse.issparse(X):
        return X
    size = X.shape[0] * X.shape[1]
    return X.toarray() if size <= LARGE and X.nnz > THIN * size else X


def separable(ground: Ground, classes: Labels) -> tuple[tuple[tuple[Label, Separability], ...], list[Note]]:
    """Ask for each class whether a plane separates it from the rest, and say in a note what there was no time for."""
    left = ground.seconds_left()
    deadline = time.perf_counter() + (PATIENCE if left is None else min(PATIENCE, max(left, 0.5)))
    asked = classes[1:] if classes.size == 2 else classes
    found: list[tuple[Label, Separability]] = []
    for label in asked.tolist():
        seconds = deadline - time.perf_counter()
        try:
            if seconds > 0.0:
                found.append((label, separability(ground.X, ground.y == label, max_time=seconds)))
                continue
        except KeyboardInterrupt:  # the climb is done: its result is not lost for this
            pass
        rest = asked.size - len(found)
        return tuple(found), [Note("no time", count=rest)]
    return tuple(found), []
