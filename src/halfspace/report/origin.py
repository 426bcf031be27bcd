"""The data themselves: rows, classes, and rows that contradict each other."""

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy import sparse

from halfspace._typing import IntArray, Matrix
from halfspace.ladder.preparing import take
from halfspace.report.findings import Balance, Contradictions
from halfspace.report.texts import shown

__all__ = ["MOST_ROWS", "balance", "contradictions"]

BATCH, MOST_ROWS = 16_384, 1_000_000
"""Rows encoded at a time, and rows that are compared at most."""
MOST_GROUPS, MOST_LABELS = 10, 10


def balance(classes: Sequence[object], truth: IntArray) -> Balance:
    """Count the rows of the ten largest classes.

    Examples
    --------
    >>> balance(["a", "b"], np.array([1, 1, 0]))
    Balance(labels=('b', 'a'), counts=(2, 1), n_others=0)
    """
    counts = np.bincount(truth, minlength=len(classes))
    order = np.argsort(-counts, kind="stable")[:MOST_LABELS]
    labels = tuple(shown(classes[k]) for k in order)
    return Balance(labels, tuple(counts[order].tolist()), len(classes) - order.size)


def contradictions(encode: Callable[[Any], Matrix], X: Any, truth: IntArray, file_rows: IntArray) -> Contradictions:
    """Find rows that the model cannot tell apart but whose labels differ; it compares at most a million rows.

    Parameters
    ----------
    encode : callable
        From rows to numbers, shape (m, D).
    X : table or matrix, n rows
        The rows as given.
    truth : ndarray, shape (n,)
        Class numbers.
    file_rows : ndarray, shape (n,)
        Their rows in the file.

    Examples
    --------
    >>> X = np.array([[1.0], [2.0], [1.0], [2.0]])
    >>> contradictions(lambda rows: rows, X, np.array([0, 1, 1, 1]), np.arange(4))
    Contradictions(n_groups=1, n_rows=2, groups=((0, 2),))
    """
    n = min(truth.size, MOST_ROWS)
    starts = range(0, n, BATCH)
    digests = [d for a in starts for d in _digests(encode(take(X, np.arange(a, min(a + BATCH, n)))))]
    _, group = np.unique(np.array(digests, dtype=np.uint64), return_inverse=True)
    low, high = np.full(n, len(truth)), np.full(n, -1)
    np.minimum.at(low, group, truth[:n])
    np.maximum.at(high, group, truth[:n])
    mixed = np.flatnonzero(low < high)
    rows = np.flatnonzero(np.isin(group, mixed))
    order = rows[np.argsort(group[rows], kind="stable")]
    groups = np.split(order, np.flatnonzero(np.diff(group[order])) + 1) if order.size else []
    first = sorted(tuple(file_rows[part].tolist()) for part in groups)[:MOST_GROUPS]
    return Contradictions(n_groups=len(groups), n_rows=int(rows.size), groups=tuple(first))


def _digests(encoded: Matrix) -> Iterator[int]:
    """Return a number for each row, the same for equal rows; two others agree with probability 2⁻⁶⁴."""
    if sparse.issparse(encoded):
        encoded = encoded.tocsr(copy=True)
        encoded.sum_duplicates()
        encoded.eliminate_zeros()
        columns = encoded.indices.astype(np.int64)
        ends = zip(encoded.indptr[:-1], encoded.indptr[1:], strict=True)
        pieces = (columns[a:b].tobytes() + encoded.data[a:b].tobytes() for a, b in ends)
    else:
        pieces = (row.tobytes() for row in np.asarray(encoded) + 0.0)  # -0.0 becomes 0.0
    for piece in pieces:
        yield int.from_bytes(blake2b(piece, digest_size=8).digest(), "little")
