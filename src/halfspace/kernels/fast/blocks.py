"""Kernel matrices in blocks of rows, in threads.

The cuts depend on the shape of the matrix alone, and every block is computed by one thread from start to end, so the number
of threads changes no bit of the result.
"""

from typing import Any

import numpy as np

from halfspace.kernels.rows import doubled
from halfspace.rows.threads import each

__all__ = ["cuts", "fill"]

BLOCK_VALUES = 1 << 20
"""Kernel values that are computed at a time: 8 MB."""


def cuts(n: int, m: int) -> list[slice]:
    """Cut n rows of m values into blocks."""
    step = max(1, BLOCK_VALUES // max(m, 1))
    return [slice(begin, min(begin + step, n)) for begin in range(0, n, step)]


def quickly(kernel: Any, A: Any, B: Any) -> Any:
    """Return the values of float64 rows, compiled where there is a compiled form."""
    from halfspace.kernels.fast import blocked_products as tiles  # noqa: PLC0415  (compiled code: never loaded by a checker)

    out = np.empty((A.shape[0], B.shape[0]))
    return out if tiles.fill(kernel, A, B, out) else kernel.composed(A, B, quickly)


def fill(kernel: Any, A: Any, B: Any, out: Any) -> None:
    """Fill `out`, shape (n, m), with k(a_i, b_j); of a symmetric matrix only half is computed, the rest copied."""
    from halfspace.kernels.fast import blocked_products as tiles  # noqa: PLC0415  (compiled code: never loaded by a checker)

    if tiles.fill(kernel, A, B, out):
        return
    mirror = A is B and kernel.is_symmetric()
    wide, blocks = doubled(B), cuts(*out.shape)

    def work(rows: slice) -> None:
        columns = slice(0, rows.stop) if mirror else slice(0, wide.shape[0])
        with np.errstate(all="ignore"):
            out[rows, columns] = kernel.composed(doubled(A[rows]), wide[columns], quickly)

    each(lambda k: work(blocks[k]), len(blocks), 1, len(blocks) << 20)
    if mirror:
        for rows in blocks:
            out[: rows.start, rows] = out[rows, : rows.start].T
            square = out[rows, rows]
            square[...] = np.tril(square) + np.tril(square, -1).T
