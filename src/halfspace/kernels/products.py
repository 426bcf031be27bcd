"""What kernels are computed from: checked rows, their inner products and their distances, in double precision.

Rounding  A sum of d products is off by at most d·eps times the sum of absolute values (Higham 2002, section 3.1), so an inner
          product by at most d·eps ‖a‖‖b‖. Each bound here is at least doubled to be safe.
Distances ‖a - b‖² = ‖a‖² + ‖b‖² - 2 a·b loses digits when rows are long and close together. Dense rows are therefore moved
          by the mean of the second set first, which changes no distance; where a relative error is needed (Laplacian),
          close pairs are computed again from their difference.
"""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from halfspace._matrices import admitted
from halfspace._typing import FloatArray, Matrix
from halfspace.errors import InputError

__all__ = ["checked", "checked_pair", "distances", "inner", "inner_bounds", "reach", "squared_distances", "squares"]

EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)
CLOSE = 1e-4
"""Pairs closer than this share of their squared lengths are computed again where a relative error is needed."""
CHUNK = 1 << 20
HIDDEN = 1e-3
"""Rounding of the eigenvalues beyond this share of the largest could hide a negative one that matters."""


def checked(X: Matrix, name: str, who: str) -> Any:
    """Return rows as a float64 or float32 array or CSR matrix, finite and not empty, or refuse them."""
    if type(X) is np.ndarray and X.ndim == 2 and X.size and X.dtype in (np.float64, np.float32):
        with np.errstate(all="ignore"):
            if np.isfinite(X.sum()):  # as of rows that a model has checked before: nothing else can be wrong
                return X
    X = admitted(X, who, name)
    try:
        return check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name=name, estimator=who)
    except (TypeError, ValueError) as error:
        msg = f"{who}: rows of finite numbers, shape (n, d), expected in {name}; {error}"
        raise InputError(msg) from error


def checked_pair(A: Matrix, B: Matrix | None, who: str) -> tuple[Any, Any]:
    """Return both sets of rows, checked; without B the second is the first itself."""
    first = checked(A, "A", who)
    if B is None or B is A:
        return first, first
    second = checked(B, "B", who)
    if first.shape[1] != second.shape[1]:
        msg = f"{who}: A has {first.shape[1]} columns and B has {second.shape[1]}; both must have the same"
        raise InputError(msg)
    return first, second


def doubled(X: Any) -> Any:
    """Return rows in float64, without copying those that are."""
    return X.astype(np.float64, copy=False)


def squares(X: Any) -> FloatArray:
    """Return ‖x_i‖² for every row, shape (n,)."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X), dtype=np.float64)


def reach(X: Any) -> float:
    """Return the length of the longest row, rounded up; 0 for nothing but zeros."""
    longest = squares(X).max()
    if longest == 0.0 and not (X.data if sparse.issparse(X) else X).any():
        return 0.0
    return float(np.sqrt(longest) * (1 + (X.shape[1] + 8) * EPS) + TINY)


def dense(X: Any) -> FloatArray:
    """Return rows as a new float64 array."""
    return np.array(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def inner(A: Any, B: Any) -> FloatArray:
    """Return a_i · b_j, shape (n, m), as a new dense array."""
    if sparse.issparse(A):
        product = A @ B.T
    elif sparse.issparse(B):
        product = (B @ A.T).T
    else:
        product = A @ B.T
    return np.asarray(product.toarray() if sparse.issparse(product) else product, dtype=np.float64)


def inner_bounds(A: Any, B: Any) -> tuple[float, float]:
    """Return bounds on |a_i · b_j| and on its rounding error."""
    size = reach(A) * reach(B)
    lost = TINY if size > 0.0 else 0.0
    return size, 2.0 * (A.shape[1] + 8) * (EPS * size + lost)


def unit_rows(A: Any) -> Any:
    """Return the rows divided by their lengths; rows of zeros stay."""
    if sparse.issparse(A):
        rows = sparse.csr_array(A, copy=True)
        largest = np.asarray(abs(rows).max(axis=1).toarray(), dtype=np.float64).ravel()
        counts = np.diff(rows.indptr)
        rows.data /= np.repeat(np.where(largest > 0, largest, 1.0), counts)
        lengths = np.sqrt(squares(rows))
        rows.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), counts)
        return rows
    largest = np.abs(A).max(axis=1, keepdims=True)  # first, so that squares are neither lost nor too large
    rows = A / np.where(largest > 0, largest, 1.0)
    lengths = np.sqrt(squares(rows))[:, None]
    return rows / np.where(lengths > 0, lengths, 1.0)


def moved(A: Any, B: Any) -> tuple[Any, Any]:
    """Return both sets of dense rows moved by the mean of the second; sparse ones as they are."""
    if sparse.issparse(A) or sparse.issparse(B):
        return A, B
    centre = B.mean(axis=0)
    second = B - centre
    return (second if A is B else A - centre), second


def squared_distances(A: Any, B: Any, *, closely: bool = False) -> FloatArray:
    """Return ‖a_i - b_j‖², shape (n, m); `closely`: with a small relative error even for rows that nearly agree."""
    first, second = moved(A, B)
    mine = squares(first)
    other = mine if A is B else squares(second)
    out = inner(first, second)
    out *= -2.0
    both = mine[:, None] + other[None, :]
    out += both
    np.maximum(out, 0.0, out=out)
    if closely:
        both *= CLOSE
        i, j = np.nonzero(out < both)
        step = max(1, CHUNK // A.shape[1])
        for begin in range(0, i.size, step):
            part = slice(begin, begin + step)
            out[i[part], j[part]] = squares(sparse_or_dense_difference(A[i[part]], B[j[part]]))
    if A is B:
        np.fill_diagonal(out, 0.0)
    return out


def sparse_or_dense_difference(A: Any, B: Any) -> Any:
    """Return a_i - b_i for matching rows, whatever they are stored in."""
    difference = A - B
    return np.asarray(difference) if not sparse.issparse(difference) else difference


def distances(A: Any, B: Any) -> FloatArray:
    """Return ‖a_i - b_j‖, shape (n, m), with a small relative error."""
    squared = squared_distances(A, B, closely=True)
    return np.sqrt(squared, out=squared)


def distance_reach(A: Any, B: Any) -> float:
    """Return a bound on ‖a - c‖ + ‖b - c‖ for the centre c that rows, or any part of them, would be moved by."""
    first, second = moved(A, B)
    mine, other = reach(first), reach(second)
    # A part of the second rows has another mean, which is no farther from this one than they are.
    return mine + other if first is A else mine + 3.0 * other
