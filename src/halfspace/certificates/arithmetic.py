"""The sums a certificate is made of: NumPy only, double precision, with bounds on their rounding.

For a sum of m products the computed value is off by at most m·eps times the sum of absolute values (Higham 2002,
section 3.1). With rows of length at most R and D columns that gives the two bounds below, each doubled to be safe.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from halfspace._matrices import admitted
from halfspace._typing import FloatArray, Label, Labels, Matrix
from halfspace.errors import InputError
from halfspace.rows.threads import in_chunks, one_blas_thread

__all__ = [
    "as_rows",
    "block_squares",
    "both_signs",
    "checked_rows",
    "columns_scaled",
    "combination",
    "exponent",
    "held",
    "in_range",
    "known_labels",
    "largest_entry",
    "matching",
    "norm",
    "one_weight_each",
    "plain_floats",
    "potentials_and_sums",
    "projected",
    "radius",
    "rounding",
    "row_outputs",
    "scaled",
    "signs",
    "some_weight",
    "squares",
    "vanishes_exactly",
    "visible",
]

EPS = float(np.finfo(np.float64).eps)
BLOCK_ENTRIES = 1 << 20
CACHED = 1 << 15
"""Numbers that are added to again and again."""
SQUARES_KEPT = 1e-100
"""Where the largest of some numbers is above this, and below one over this, no square that matters is lost or too large."""
SMALLEST_ENTRY, LARGEST_ENTRY = 1e-146, 1e150
"""Where the largest number of a table is between these, its square has all its digits, and sums of squares are finite."""
SUBNORMAL = float(np.finfo(np.float64).smallest_subnormal)
NORMAL = 4.0 * float(np.finfo(np.float64).smallest_normal)
"""Lengths from here on have all their digits, and so has what is rounded off them once or twice."""
EXACT_ENTRIES = 200_000
"""Exact sums over more entries than this are not attempted: they would take seconds."""


def as_rows(X: Matrix, y: Labels) -> tuple[Any, Labels]:
    """Check examples and labels handed to a checker: an array or CSR matrix of finite floats, one label per row."""
    rows = checked_rows(X)
    if type(y) is np.ndarray and y.shape == rows.shape[:1]:
        return rows, y
    labels = column_or_1d(y)
    check_consistent_length(rows, labels)
    return rows, labels


def checked_rows(X: Matrix) -> Any:
    """Check examples handed to a checker: the numbers that a model would see, finite, sparse ones in canonical form."""
    if plain_floats(X) and X.ndim == 2:
        return X
    X = admitted(X, "verify")
    return check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X")


def plain_floats(array: Any) -> bool:
    """Tell whether this is an array of finite floats, which scikit-learn's checks would return as it is."""
    floats = type(array) is np.ndarray and array.dtype in (np.float64, np.float32) and array.size > 0
    return floats and bool(np.isfinite(array).all())


def signs(y: Labels, positive: Label) -> FloatArray:
    """Return +1.0 where the label is the positive one, -1.0 elsewhere."""
    return np.where(np.asarray(y) == positive, 1.0, -1.0)


def known_labels(y: Labels, classes: tuple[Label, ...]) -> tuple[bool, str]:
    """Return the claim that y has no labels but these."""
    strangers = set(y.tolist()) - set(classes)
    return not strangers, f"y has labels the certificate does not know: {sorted(map(str, strangers))}"


def both_signs(y: Labels, positive: Label) -> tuple[bool, str]:
    """Return the claim that some labels are the positive one and some are not: a single class is separated from nothing."""
    mine = np.asarray(y) == positive
    both = np.shape(mine) == np.shape(y) and bool(np.any(mine)) and not bool(np.all(mine))
    return both, f"not both {positive!r} and others in y"


def matching(weights: FloatArray, clamp: float, X: Matrix) -> tuple[bool, str]:
    """Return the claim that weights, the clamped one last on the last axis, are for data of this width."""
    D, inputs = X.shape[1] + bool(clamp), weights.shape[-1]
    return inputs == D, f"weights for {inputs} inputs, but the data have {D}"


def some_weight(sample_weight: FloatArray | None) -> tuple[bool, str]:
    """Return the claim that some example has weight."""
    return sample_weight is None or bool(sample_weight.any()), "no example has a positive weight"


def one_weight_each(sample_weight: FloatArray | None, n: int) -> tuple[bool, str]:
    """Return the claim that there is one weight for each of n examples, if there are weights."""
    return sample_weight is None or sample_weight.shape == (n,), "one sample weight per example expected"


def held(array: Any) -> FloatArray:
    """Return the numbers of a certificate in float64: the array itself if it is read-only, a copy if it could be changed."""
    numbers: FloatArray = np.asarray(array, dtype=np.float64)
    return numbers.copy() if numbers.flags.writeable else numbers


def _blocks(X: Matrix, start: int = 0, stop: int | None = None) -> list[slice]:
    """Cut a range of rows into blocks of about a million entries: small enough to widen to float64 and to stay in cache."""
    entries, stop = X.nnz if sparse.issparse(X) else X.size, X.shape[0] if stop is None else stop
    step = max(1, int(BLOCK_ENTRIES * X.shape[0] // max(entries, 1)))
    return [slice(begin, min(begin + step, stop)) for begin in range(start, stop, step)]


def _in_threads(X: Matrix, work: Callable[[int, int], Any], sums: int = 1) -> list[Any]:
    """Return work(start, stop) for ranges that cover all rows, in threads where they are dense and many.

    There are at most 16 ranges, cut by the data alone; one where the `sums` functions that are added up have few rows each.
    """
    if sparse.issparse(X) or 64 * sums > X.shape[0]:
        return [work(0, X.shape[0])]
    with one_blas_thread():
        return in_chunks(work, *X.shape)


def _float64(X: Matrix, rows: slice) -> Any:
    """Return a block of rows in float64, without copying float64 data."""
    if not sparse.issparse(X):
        return X[rows].astype(np.float64, copy=False)
    first, last = X.indptr[rows.start], X.indptr[rows.stop]
    parts = (
        X.data[first:last].astype(np.float64, copy=False),
        X.indices[first:last],
        X.indptr[rows.start : rows.stop + 1] - first,
    )
    return sparse.csr_array(parts, shape=(rows.stop - rows.start, X.shape[1]))


def row_outputs(X: Matrix, W: FloatArray, clamp: float) -> FloatArray:
    """Return the outputs X̃ Wᵀ, shape (n, K), of rows X, shape (n, d), for weights W, shape (K, D), the clamped one last."""
    d = X.shape[1]
    if W.shape[1] != d + bool(clamp):
        msg = f"the certificate is for {W.shape[1] - bool(clamp)} features, but X has {d}"
        raise InputError(msg)
    V = W[0, :d] if W.shape[0] == 1 else np.ascontiguousarray(W[:, :d].T)

    def part(start: int, stop: int) -> FloatArray:
        blocks = [np.asarray(_float64(X, rows) @ V).reshape(-1, W.shape[0]) for rows in _blocks(X, start, stop)]
        return np.concatenate(blocks)

    outputs = np.concatenate(_in_threads(X, part))
    return outputs + clamp * W[:, d] if clamp else outputs


def potentials_and_sums(X: Matrix, W: FloatArray, c: FloatArray, clamp: float) -> tuple[FloatArray, FloatArray]:
    """Return the outputs X̃ Wᵀ, shape (n, K), and the sums Σ c_i x̃_i, shape (K, D), for coefficients c, shape (K, n)."""

    def part(start: int, stop: int) -> tuple[list[FloatArray], FloatArray]:
        outputs, sums = [], np.zeros((c.shape[0], X.shape[1] + bool(clamp)))
        for rows in _blocks(X, start, stop):  # each is read twice while it is in cache
            block = _float64(X, rows)
            outputs.append(row_outputs(block, W, clamp))
            sums += combination(block, c[:, rows], clamp)
        return outputs, sums

    parts = _in_threads(X, part, c.shape[0])
    return np.concatenate([block for outputs, _ in parts for block in outputs]), np.asarray(sum(sums for _, sums in parts))


def columns_scaled(X: Matrix, scale: FloatArray | None) -> Any:
    """Return rows with every column times its scale, in float64, an array or CSR matrix as before; as they are without one."""
    if scale is None:
        return X
    return sparse.csr_array(X, dtype=np.float64).multiply(scale[None]).tocsr() if sparse.issparse(X) else X * scale


def combination(X: Matrix, c: FloatArray, clamp: float) -> FloatArray:
    """Return the sums Σ c_i x̃_i, shape (K, D), for coefficients c, shape (K, n)."""
    K, d = c.shape[0], X.shape[1]

    def part(start: int, stop: int) -> FloatArray:
        sums = np.zeros((K, d + bool(clamp)))
        for rows in _blocks(X, start, stop):
            sums[:, :d] += (c[0, rows] if K == 1 else c[:, rows]) @ _float64(X, rows)
        return sums

    sums = np.asarray(sum(_in_threads(X, part, K)))
    if clamp:
        sums[:, d] = clamp * c.sum(axis=1)
    return sums


def squares(X: Matrix) -> FloatArray:
    """Return ‖x_i‖² for every row, shape (n,), without the clamped input."""

    def part(start: int, stop: int) -> FloatArray:
        return np.concatenate([block_squares(_float64(X, rows)) for rows in _blocks(X, start, stop)])

    return np.concatenate(_in_threads(X, part))


def block_squares(block: Any) -> FloatArray:
    """Return ‖x_i‖² for every row of a float64 array or CSR matrix, shape (n,), all at once."""
    if sparse.issparse(block):
        return np.asarray(block.multiply(block).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", block, block))


def largest_entry(X: Matrix) -> float:
    """Return the largest absolute value in X, without a copy of the data."""
    values = X.data if sparse.issparse(X) else X
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def radius(X: Matrix, clamp: float) -> float:
    """Return the length R of the longest row, clamped input included, rounded up."""
    largest = max(largest_entry(X), abs(clamp))
    if largest > 0.0 and not 1e-100 < largest < 1e100:  # squares would be lost: scale first
        e = int(np.frexp(largest)[1])
        return float(np.ldexp(radius(scaled(X, e), float(np.ldexp(clamp, -e))), e))
    return float(np.sqrt(squares(X).max() + clamp * clamp) * (1 + (X.shape[1] + 8) * EPS))


def norm(w: FloatArray) -> float:
    """Return the length of w, safe from overflow and underflow."""
    scale = float(np.abs(w).max(initial=0.0))
    if SQUARES_KEPT < scale < 1.0 / SQUARES_KEPT:
        wide = np.asarray(w, dtype=np.float64)
        return math.sqrt(np.vdot(wide, wide))
    return scale * float(np.linalg.norm(w / scale)) if scale > 0.0 and np.isfinite(scale) else scale


def unit_scale(W: FloatArray) -> FloatArray:
    """Return the weights times the power of 2 that makes the largest about 1: exact, and safe from overflow."""
    _, exponent = np.frexp(np.abs(W).max(initial=0.0))
    scaled: FloatArray = np.ldexp(W, -exponent)
    return scaled


def shares(strengths: FloatArray) -> FloatArray:
    """Return strengths as shares of their sum, safe from overflow."""
    scaled = unit_scale(strengths)
    share: FloatArray = scaled / scaled.sum()
    return share


def exponent(*parts: Any) -> int:
    """Return e such that 2^-e brings the largest of all numbers near 1; 0 where its square is neither lost nor too large."""
    largest = max(largest_entry(part if sparse.issparse(part) else np.asarray(part)) for part in parts)
    return 0 if largest == 0.0 or 1e-60 < largest < 1e60 else int(np.frexp(largest)[1])


def in_range(*parts: Any) -> tuple[bool, str]:
    """Return the claim that squares of all these numbers are neither lost nor too large."""
    largest = max(largest_entry(part if sparse.issparse(part) else np.asarray(part)) for part in parts)
    sound = largest == 0.0 or SMALLEST_ENTRY < largest < LARGEST_ENTRY
    size = "so large" if largest > 1.0 else "so small"
    lost = f"squares are lost beyond {SMALLEST_ENTRY:g} to {LARGEST_ENTRY:g}"
    return sound, f"the numbers are {size} (largest {largest:.3g}) that {lost}; scale the features"


def visible(R: float) -> tuple[bool, str]:
    """Return the claim that the longest example has all its digits, or none: lengths below the normal floats have fewer."""
    return R == 0.0 or R >= NORMAL, f"all of X is so small (length {R:.3g}) that digits underflow; scale the features"


def scaled(values: Any, e: int) -> Any:
    """Return an array or CSR matrix over 2^e, exactly but for what becomes too small for a float; itself for e = 0."""
    if e == 0:
        return values
    if sparse.issparse(values):
        return sparse.csr_array(
            (np.ldexp(values.data.astype(np.float64), -e), values.indices, values.indptr), shape=values.shape
        )
    return np.ldexp(np.asarray(values, dtype=np.float64), -e)


def rounding(terms: int, R: float) -> float:
    """Return a bound on the rounding error of a stability, or of a mean of signed rows: sums of `terms` products."""
    return 2.0 * (terms + 8) * (EPS * R + (SUBNORMAL if R > 0.0 else 0.0))


def vanishes_exactly(X: Matrix, c: FloatArray, clamp: float) -> bool:
    """Tell whether Σ c_i x̃_i = 0 in rational arithmetic, where every float is a fraction.

    A float residual, however small, proves nothing: it could be the rounding of a sum that is not zero. Too large a sum
    (over `EXACT_ENTRIES` entries) is not attempted and answers False.
    """
    used = np.flatnonzero(c)
    block = X[used]
    entries = block.nnz if sparse.issparse(block) else block.size
    if used.size == 0 or entries > EXACT_ENTRIES:
        return False
    coefficients = [Fraction(float(v)) for v in c[used]]
    if clamp and sum(coefficients) != 0:
        return False
    totals: dict[int, Fraction] = {}
    block = sparse.coo_array(block)
    for i, j, x in zip(*block.coords, block.data, strict=True):
        totals[j] = totals.get(j, Fraction(0)) + coefficients[i] * Fraction(float(x))
    return not any(totals.values())


def projected(X: Any, mean: FloatArray, V: FloatArray) -> FloatArray:
    """Return V (x - mean) of rows X (n, d), V of shape (k, d), as V x - V mean: shape (n, k).

    Products are added input by input, so that a row gives the same numbers alone or among others, stored densely or sparsely,
    and on any processor, which the sums of a matrix product do not.

    Examples
    --------
    >>> projected(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 1.0]), np.array([[1.0, 0.5]]))
    array([[0.5],
           [3.5]])
    """
    T, shift = np.zeros((X.shape[0], len(V))), np.zeros(len(V))
    by_input = np.ascontiguousarray(V.T, dtype=np.float64)
    for m, v in zip(mean.tolist(), by_input, strict=True):
        shift += m * v
    if sparse.issparse(X):
        columns = sparse.csc_array(X)
        columns.sum_duplicates()
        for v, first, last in zip(by_input, columns.indptr[:-1], columns.indptr[1:], strict=True):
            T[columns.indices[first:last]] += columns.data[first:last, None] * v
        return T - shift
    step = max(1, CACHED // len(V))
    for first in range(0, X.shape[0], step):
        block, part = np.ascontiguousarray(X[first : first + step].T, dtype=np.float64), T[first : first + step]
        for x, v in zip(block, by_input, strict=True):
            part += x[:, None] * v
    return T - shift
