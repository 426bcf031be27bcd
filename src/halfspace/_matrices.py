"""The one entrance for numbers: what a model learns from and what a checker reads are the same numbers, to the last bit.

Sparse    An entry may be stored several times, meaning the sum, and in any order. Squares, and whatever else looks at one
          stored entry at a time, would take such a matrix for another one; so rows are put into canonical form first.
Wide      Floats of 64 bits hold whole numbers up to 2^53 and some beyond. Numbers that would be rounded on the way in are
          refused: a proof would be about other data than those given. Decimal text has no other choice and rounds.
"""

import numbers
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from halfspace._typing import Matrix
from halfspace.errors import InputError

__all__ = ["LARGEST_WHOLE", "admitted", "canonical", "held_exactly", "rounded"]

LARGEST_WHOLE = 2**53
"""Up to here every whole number is a float."""


def admitted(X: Matrix, owner: str, name: str = "X") -> Matrix:
    """Return what was handed in, sparse rows as a canonical CSR matrix; refuse numbers that float64 would round.

    Nothing of the caller's is changed. Shapes, missing values and text are left to scikit-learn's checks.

    Examples
    --------
    >>> try:
    ...     admitted([[2**53 + 2], [2**53 + 1]], "Perceptron")
    ... except InputError as error:
    ...     print(str(error)[:77])
    Perceptron: X holds 9007199254740993, a whole number that float64 would round
    """
    if sparse.issparse(X):
        X = canonical(X, owner, name)
        parts: Iterable[tuple[str, Any]] = [(name, X.data)]
    else:
        parts = _arrays(X, name)
    for where, values in parts:
        found = rounded(values)
        if found is not None:
            msg = (
                f"{owner}: {where} holds {found} that float64 would round, so that different rows could become equal."
                " Subtract an offset or rescale; or convert to float yourself, if the rounding does no harm."
            )
            raise InputError(msg)
    return X


def held_exactly(number: int) -> bool:
    """Tell whether a whole number is a float."""
    return abs(number) <= LARGEST_WHOLE or int(float(number)) == number


# ------------------------------------------------------------ sparse rows
def canonical(X: Matrix, owner: str, name: str = "X") -> Matrix:
    """Return a sparse matrix as CSR with rising column numbers, no entry twice and nothing beyond the last; or as it is.

    Examples
    --------
    >>> twice = sparse.csr_matrix(([1.0, 2.0, 4.0], [1, 0, 1], [0, 3]), shape=(1, 2))
    >>> canonical(twice, "Perceptron").data.tolist(), twice.data.tolist()
    ([2.0, 5.0], [1.0, 2.0, 4.0])
    """
    _refuse_damaged(X, owner, name)
    rows = X.tocsr()
    starts, indices = rows.indptr, rows.indices
    if _rising(starts, indices) and rows.data.size == indices.size == starts[-1]:
        rows.has_canonical_format = True  # so that nobody looks again
        return rows
    end = int(starts[-1])
    parts = (rows.data[:end].copy(), indices[:end].copy(), starts.copy())
    rows = type(rows)(parts, shape=rows.shape)
    rows.sum_duplicates()
    rows.eliminate_zeros()  # parts that cancel: sums over rows with and without them may round differently
    return rows


def _rising(starts: Any, indices: Any) -> bool:
    """Tell whether the column numbers of every row rise, each there once."""
    rising = indices[1:] > indices[:-1]
    firsts = starts[1:-1]
    rising[firsts[(firsts > 0) & (firsts < indices.size)] - 1] = True
    return bool(rising.all())


def _refuse_damaged(X: Matrix, owner: str, name: str) -> None:
    """Refuse a sparse matrix whose index arrays point outside it: compiled code would follow them."""
    n, d = X.shape
    if X.format in {"csr", "csc", "bsr"}:
        height, width = (d, n) if X.format == "csc" else (n, d)
        block = X.blocksize if X.format == "bsr" else (1, 1)
        entries = min(X.indices.size, X.data.shape[0])
        starts = X.indptr
        sound = starts.size == height // block[0] + 1 and starts[0] == 0 and starts[-1] <= entries
        sound = sound and bool((starts[1:] >= starts[:-1]).all()) and _inside(X.indices, width // block[1])
    else:
        sound = X.format != "coo" or (_inside(X.row, n) and _inside(X.col, d) and X.row.size == X.col.size == X.data.size)
    if not sound:
        msg = f"{owner}: the sparse matrix {name} is damaged: its index arrays point outside its {n} rows and {d} columns."
        raise InputError(msg)


def _inside(indices: Any, end: int) -> bool:
    """Tell whether all numbers are from 0 to below the end."""
    return indices.size == 0 or bool(indices.min() >= 0 and indices.max() < end)


# ------------------------------------------------------------ wide numbers
def _arrays(X: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the arrays that X is made of, with what to call each: columns of a table that are not all plain floats."""
    if hasattr(X, "iloc") and getattr(X, "ndim", 0) == 2:  # pandas
        for j, kind in enumerate(X.dtypes):
            if not _plain(kind):
                yield f"column {X.columns[j]!r} of {name}", X.iloc[:, j].dropna().to_numpy()
    elif hasattr(X, "get_columns"):  # polars
        yield from ((f"column {one.name!r} of {name}", one.drop_nulls().to_numpy()) for one in X.get_columns())
    elif isinstance(X, np.ndarray):
        yield name, X
    else:
        yield name, _from_sequence(X)


def _from_sequence(X: Any) -> Any:
    """Return nested lists, or what else becomes an array, as one; a mixture of floats and large whole numbers as objects."""
    try:
        values = np.asarray(X)
        if values.dtype.kind == "f" and isinstance(X, list | tuple):
            large = np.abs(values) >= LARGEST_WHOLE
            return np.asarray(X, dtype=object)[large] if large.any() else values
    except (ValueError, TypeError, OverflowError):  # ragged, or no numbers: scikit-learn says it better
        return np.zeros(0)
    return values


def _plain(kind: Any) -> bool:
    """Tell whether all values of a type are floats of 64 bits, or no numbers at all."""
    if not isinstance(kind, np.dtype):
        return False
    return kind.kind in "bSUVmMc" or (kind.kind == "f" and kind.itemsize <= 8) or (kind.kind in "iu" and kind.itemsize < 8)


def rounded(values: Any) -> str | None:
    """Return the first number found that float64 would round, in words."""
    values = np.asarray(values)
    if values.size == 0 or _plain(values.dtype):
        return None
    if values.dtype.kind == "f":
        return f"{values.dtype} numbers"
    if values.dtype.kind in "iu":
        if max(int(values.max()), -int(values.min())) <= LARGEST_WHOLE:
            return None
        values = values[(values > LARGEST_WHOLE) | (values < -LARGEST_WHOLE)] if values.dtype.kind == "i" else values
    return next(filter(None, map(_wide, values.ravel().tolist())), None)


def _wide(value: Any) -> str | None:
    """Say what is wrong with one value; None where nothing is, or others will."""
    if isinstance(value, float | bool | complex | str | bytes) or not isinstance(value, numbers.Number):
        return None
    if isinstance(value, np.generic):
        return None if _plain(value.dtype) else rounded(np.asarray(value))
    if not isinstance(value, int):
        return f"{type(value).__name__} numbers"
    try:
        return None if held_exactly(value) else f"{value}, a whole number"
    except OverflowError:  # beyond all floats: others say so
        return None
