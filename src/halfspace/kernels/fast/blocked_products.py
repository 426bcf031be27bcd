"""Kernel values in tiles: products of panels, bent into kernel values while they are in cache, stored or summed up at once.

Most kernels are a function of the inner product of prepared rows u, v and of one number per row:

    RBF         exp(-γ‖x - x'‖²)   = 2^(u·v - ½‖u‖² - ½‖v‖²),   u = sqrt(2 γ log2 e) (x - mean)
    Laplacian   exp(-γ‖x - x'‖)    = 2^-sqrt(‖u - v‖²),          u = γ log2 e (x - mean)
    Polynomial  (γ x·x' + c)^m     = (u·v + c)^m,               u = sqrt(γ) x
    Linear      x·x'               = u·v,                       u = x

Subtracting the mean changes no distance and keeps cancellation small. Sums run in the precision of the prepared rows; each
value has a relative rounding error of about the unit roundoff times the size of its exponent. Certificates do not use this.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import config
from scipy import sparse

from halfspace._dispatch import compiled_as_written, compiled_inside_as_written
from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.kernels.fast.activations import Bare, Exp2, ExpRoot, Power, bend
from halfspace.kernels.fast.manhattan import fill_manhattan
from halfspace.kernels.fast.microkernel import ROWS, columns_of, panel_product
from halfspace.rows.threads import each
from halfspace.rows.views import writable

__all__ = ["Group", "Prepared", "combined", "fill", "prepare", "single_error", "times", "values"]

TILE_ROWS, TILE_COLUMNS = 48, 128
CHUNK, PIECE, SPAN, PACK = 1024, 192, 2048, 960
"""Columns of sums, rows and columns of values, and rows to be packed, in a piece of work for a thread: cut by the problem,
never by the number of threads; multiples of the panels."""
FEW = 3
"""Functions up to which sums are taken one by one."""
LARGEST_DENSE = 1 << 29
"""Bytes up to which sparse rows are stored densely for products."""


@compiled_as_written
def _scale(X: Any, centre: Any, factor: float, U: Any, a: Any) -> None:
    """Prepare rows: subtract the centre and scale, in double precision, then round; half their squared length."""
    for i in range(X.shape[0]):
        row, out, total = X[i], U[i], 0.0
        for j in range(row.size):
            value = (row[j] - centre[j]) * factor
            out[j] = value
            total += np.float64(out[j]) * np.float64(out[j])
        a[i] = 0.5 * total


@compiled_as_written
def _pack(U: Any, rows: Any, width: int, out: Any) -> None:
    """Lay rows side by side in panels, the inner dimension slowest; what is missing in the last panel is 0."""
    d = U.shape[1]
    for p in range((rows.size + width - 1) // width):
        panel = out[p * d * width : (p + 1) * d * width]
        for q in range(width):
            if p * width + q < rows.size:
                row = U[rows[p * width + q]]
                for k in range(d):
                    panel[k * width + q] = row[k]
            else:
                for k in range(d):
                    panel[k * width + q] = 0


@compiled_inside_as_written
def _products(left: Any, right: Any, d: int, corner: Any, width: int, tile: Any) -> None:
    """Fill a tile with the products of the rows and columns in corner = (first row, last row, first column, last column)."""
    top, bottom, begin, end = corner
    for c in range(begin // width, (end + width - 1) // width):
        for r in range(top // ROWS, (bottom + ROWS - 1) // ROWS):
            at = (r * ROWS - top) * TILE_COLUMNS + c * width - begin
            panel_product(left, r * d * ROWS, right, c * d * width, d, tile, at, TILE_COLUMNS)


@compiled_inside_as_written
def _bend_row(shape: Any, t: Any, a: Any, b: Any, out: Any) -> None:
    for j in range(t.size):
        out[j] = bend(shape, t[j], a, b[j])


@compiled_inside_as_written
def _add_row(shape: Any, t: Any, a: Any, coefficient: Any, b: Any, out: Any) -> None:
    for j in range(t.size):
        out[j] += coefficient * bend(shape, t[j], a, b[j])


@compiled_as_written
def _fill(shape: Any, d: int, left: Any, a: Any, right: Any, b: Any, out: Any, top: int, edge: int) -> None:
    """Write the kernel values of the rows and columns of one piece, whose corner of `out` is (top, edge)."""
    n, m, width = a.size, b.size, 64 // left.itemsize
    tile = np.empty(TILE_ROWS * TILE_COLUMNS, left.dtype)
    for begin in range(0, m, TILE_COLUMNS):
        end = min(begin + TILE_COLUMNS, m)
        for first in range(0, n, TILE_ROWS):
            last = min(first + TILE_ROWS, n)
            _products(left, right, d, (first, last, begin, end), width, tile)
            for i in range(first, last):
                at = (i - first) * TILE_COLUMNS
                row = out[top + i, edge + begin : edge + end]
                _bend_row(shape, tile[at : at + end - begin], a[i], b[begin:end], row)


@compiled_as_written
def _times(shape: Any, d: int, left: Any, a: Any, coefficients: Any, right: Any, b: Any, out: Any) -> None:
    """Add to out the kernel values of the columns of one piece times the coefficients of the rows."""
    n, m, width = a.size, b.size, 64 // left.itemsize
    tile, part = np.empty(TILE_ROWS * TILE_COLUMNS, left.dtype), np.empty(TILE_COLUMNS, left.dtype)
    for begin in range(0, m, TILE_COLUMNS):
        end = min(begin + TILE_COLUMNS, m)
        for first in range(0, n, TILE_ROWS):
            last = min(first + TILE_ROWS, n)
            _products(left, right, d, (first, last, begin, end), width, tile)
            part[:] = 0
            for i in range(first, last):
                at = (i - first) * TILE_COLUMNS
                _add_row(shape, tile[at : at + end - begin], a[i], coefficients[i], b[begin:end], part[: end - begin])
            for j in range(end - begin):  # sums of many tiles are kept in double precision
                out[begin + j] += part[j]


@compiled_as_written
def _mirror(K: Any, first: int, last: int) -> None:
    """Copy what is below the diagonal to above it, rows first..last, block by block."""
    for i in range(first, last, 64):
        for j in range(0, i + 64, 64):
            for r in range(i, min(i + 64, last)):
                for c in range(j, min(j + 64, r)):
                    K[c, r] = K[r, c]


class Prepared(NamedTuple):
    """Rows made ready for products: the shape of the kernel, u and a of every row, and what was subtracted."""

    shape: Any
    U: Any  # (n, d) float32 or float64
    a: Any  # (n,)
    centre: Any  # (d,)

    def panels(self, rows: IntArray, width: int) -> Any:
        """Return copies of some rows in panels."""
        d = self.U.shape[1]
        out = np.empty(-(-rows.size // width) * width * d, dtype=self.U.dtype)

        def work(first: int) -> None:
            _pack(self.U, rows[first : first + PACK], width, out[first * d :])

        each(work, rows.size, PACK, rows.size * d)
        return out


def _shape_of(kernel: Any, dtype: Any) -> tuple[Any, float, bool] | None:
    """Return shape, factor of the rows and whether their mean may be subtracted; None if the kernel has no such form."""
    name = type(kernel).__name__
    if name == "RBF":
        return Exp2(), math.sqrt(2.0 * kernel.gamma * math.log2(math.e)), True
    if name == "Laplacian":
        return ExpRoot(dtype(0.0)), kernel.gamma * math.log2(math.e), True
    if name == "Linear":
        return Bare(dtype(0.0)), 1.0, False
    if name == "Polynomial":
        coef0, degree = dtype(kernel.coef0), int(kernel.degree)
        return Bare(coef0) if degree == 1 else Power(coef0, degree), math.sqrt(kernel.gamma), False
    return None


def prepare(kernel: Any, X: Matrix, dtype: Any, centre: FloatArray | None = None) -> Prepared | None:
    """Make rows ready for products with each other, or None if the kernel has no form for that (or there is no compiler).

    `centre`, shape (d,), is subtracted: the same for rows that are to meet, by default the mean.
    """
    form = None if config.DISABLE_JIT else _shape_of(kernel, dtype)  # type: ignore[attr-defined]
    if form is None or (sparse.issparse(X) and 8 * X.shape[0] * X.shape[1] > LARGEST_DENSE):
        return None
    shape, factor, movable = form
    if centre is None:
        centre = np.asarray(X.mean(axis=0), dtype=np.float64).ravel() if movable else np.zeros(X.shape[1])
    dense = writable(np.ascontiguousarray(X.toarray() if sparse.issparse(X) else X))
    U, a = np.empty(dense.shape, dtype=dtype), np.empty(dense.shape[0], dtype=dtype)

    def work(first: int) -> None:
        rows = slice(first, first + CHUNK)
        _scale(dense[rows], centre, factor, U[rows], a[rows])

    each(work, dense.shape[0], CHUNK, dense.size)
    too_long = not float(a.max(initial=0.0)) < np.finfo(dtype).max ** 0.75
    return None if too_long else Prepared(shape, U, a, centre)


def single_error(P: Prepared) -> float:
    """Bound the relative error of any value computed in single precision from these rows; infinite where no bound is known.

    With u = 2^-24 and R the longest prepared row: rounding the rows moves the exponent by at most 2 u R ‖u - v‖, which the
    value outweighs; the product of d terms errs by (d + 2) u R², squares and differences by 4 u R² (Higham 2002, section
    3.1); the polynomial and its rounding by 1e-6.
    """
    if not isinstance(P.shape, Exp2):
        return np.inf
    unit, square = 2.0**-24, 2.0 * float(P.a.max(initial=0.0))
    exponent = 1.1 * unit * ((P.U.shape[1] + 8) * square + 2.0 * math.sqrt(square))
    return math.expm1(exponent) + 1e-6 if exponent < 0.1 else np.inf


def values(
    P: Prepared, rows: IntArray, Q: Prepared, columns: IntArray, out: Any, *, symmetric: bool = False, packed: Any = None
) -> None:
    """Write k(row, column) into out, shape (rows, columns).

    `symmetric`: both are the same, so half of it is computed; `packed`: the panels of the columns, if they are at hand.
    """
    n, m, d = rows.size, columns.size, P.U.shape[1]
    left, a = P.panels(rows, ROWS), P.a[rows]
    right, b = Q.panels(columns, columns_of(P.U.itemsize)) if packed is None else packed, Q.a[columns]
    symmetric = symmetric and d > 96  # below, copying costs as much as computing
    corners = [(r, c) for r in range(0, n, PIECE) for c in range(0, m, SPAN) if not symmetric or c < r + PIECE]

    def work(k: int) -> None:
        first, begin = corners[k]
        last = min(first + PIECE, n)
        end = min(begin + SPAN, last if symmetric else m)
        _fill(P.shape, d, left[first * d :], a[first:last], right[begin * d :], b[begin:end], out, first, begin)

    each(work, len(corners), 1, n * m * d)
    if symmetric:
        each(lambda first: _mirror(out, first, min(first + PIECE, n)), n, PIECE, n * m)


def times(P: Prepared, rows: IntArray, coefficients: FloatArray, Q: Prepared, columns: IntArray) -> FloatArray:
    """Return Σ_r coefficients_r k(row_r, column) for every column, shape (columns,), without storing a kernel value."""
    width, d = columns_of(P.U.itemsize), P.U.shape[1]
    left, a, c = P.panels(rows, ROWS), P.a[rows], coefficients.astype(P.U.dtype)
    out = np.zeros(columns.size)

    def work(first: int) -> None:
        piece = columns[first : first + CHUNK]
        _times(P.shape, d, left, a, c, Q.panels(piece, width), Q.a[piece], out[first : first + CHUNK])

    each(work, columns.size, CHUNK, rows.size * columns.size * d)
    return out


Group = tuple[IntArray, IntArray]
"""Rows of A, and the functions that have coefficients other than 0 there."""


def combined(
    kernel: Any, A: Matrix, coefficients: FloatArray, B: Matrix, dtype: Any, groups: tuple[Group, ...] = ()
) -> FloatArray | None:
    """Return Σ_i coefficients[k, i] k(a_i, b) for the rows b of B, shape (m, K); None if the kernel has no compiled form.

    Few functions are summed up without storing a kernel value; many share blocks of values and matrix products, one for
    each group: of functions about pairs of classes most have nothing to do with most rows.
    """
    P = prepare(kernel, A, dtype)
    Q = None if P is None else prepare(kernel, B, dtype, P.centre)
    if P is None or Q is None:
        return None
    m, K = Q.U.shape[0], coefficients.shape[0]
    out, columns = np.empty((m, K)), np.arange(m)
    if K <= FEW:
        for k, c in enumerate(coefficients):
            rows = np.flatnonzero(c)
            out[:, k] = times(P, rows, c[rows], Q, columns)
        return out
    groups = groups or ((np.arange(P.U.shape[0]), np.arange(K)),)
    rows, step = np.concatenate([group for group, _ in groups]), max(1, (1 << 22) // P.U.shape[0])
    factors = [np.ascontiguousarray(coefficients[np.ix_(which, group)].T, dtype=dtype) for group, which in groups]
    ends = np.cumsum([group.size for group, _ in groups]).tolist()
    block, out[:] = np.empty((min(step, m), rows.size), dtype=dtype), 0.0
    for first in range(0, m, step):
        part = columns[first : first + step]
        values(Q, part, P, rows, block[: part.size])
        for (group, which), factor, end in zip(groups, factors, ends, strict=True):
            out[first : first + step, which] += block[: part.size, end - group.size : end] @ factor
    return out


def fill(kernel: Any, A: Matrix, B: Matrix, out: Any) -> bool:
    """Write k(A, B) into out, shape (n, m); False, and nothing done, if the kernel has no compiled form."""
    if type(kernel).__name__ == "Manhattan" and not (sparse.issparse(A) or sparse.issparse(B)):
        fill_manhattan(kernel.gamma, A, B, out)
        return True
    P = prepare(kernel, A, out.dtype.type)
    if P is None:
        return False
    Q = P if B is A else prepare(kernel, B, out.dtype.type, P.centre)
    if Q is None:
        return False
    values(P, np.arange(P.U.shape[0]), Q, np.arange(Q.U.shape[0]), out, symmetric=Q is P)
    return True
