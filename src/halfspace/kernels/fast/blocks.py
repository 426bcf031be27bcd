"""Kernel matrices in blocks of rows, by two threads.

The cuts depend on the shape of the matrix alone, and every block is computed by one thread from start to end, so the number
of threads changes no bit of the result.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from halfspace.kernels.rows import doubled

__all__ = ["cuts", "fill"]

BLOCK_ENTRIES = 1 << 20
"""Kernel values that are computed at a time: 8 MB."""


def cuts(n: int, m: int) -> list[slice]:
    """Cut n rows of m values into blocks."""
    step = max(1, BLOCK_ENTRIES // max(m, 1))
    return [slice(begin, min(begin + step, n)) for begin in range(0, n, step)]


def quickly(kernel: Any, A: Any, B: Any) -> Any:
    """Return the values of float64 rows, compiled where there is a compiled form."""
    from halfspace.kernels.fast import blocked_products as tiles  # noqa: PLC0415  (compiled code: never loaded by a checker)

    out = np.empty((A.shape[0], B.shape[0]))
    return out if tiles.fill(kernel, A, B, out) else kernel.composed(A, B, quickly)


def fill(kernel: Any, A: Any, B: Any, out: Any, threads: int = 2) -> None:
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

    if len(blocks) == 1 or threads == 1:
        for rows in blocks:
            work(rows)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, blocks))
    if mirror:
        for rows in blocks:
            out[: rows.start, rows] = out[rows, : rows.start].T
            square = out[rows, rows]
            square[...] = np.tril(square) + np.tril(square, -1).T
