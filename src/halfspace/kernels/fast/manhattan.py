"""Sums of absolute differences of rows, compiled: the Manhattan distance for the kernel matrix and its gradient.

The inner loop runs along the second rows, laid out by column, so that it vectorises without reordering any sum; a block of them
and of sums stays in the processor's cache while the columns go by. Without a compiler SciPy and NumPy do the same, slower.
"""

from typing import Any

import numpy as np
from numba import config
from scipy.spatial.distance import cdist

from halfspace._dispatch import compiled
from halfspace.rows.threads import each

__all__ = ["fill_manhattan", "manhattan", "pulls"]

SPAN, PIECE = 1024, 256
"""Sums held at a time, and rows of a piece of work."""


@compiled
def _sums(A: Any, Bt: Any, out: Any) -> None:
    """Write Σ_j |a_ij - b_kj| into out, shape (n, m), for rows A (n, d) and columns Bt (d, m)."""
    for begin in range(0, Bt.shape[1], SPAN):
        end = min(begin + SPAN, Bt.shape[1])
        for i in range(A.shape[0]):
            sums = out[i, begin:end]
            sums[:] = 0
            for j in range(A.shape[1]):
                a, b = A[i, j], Bt[j, begin:end]
                for k in range(end - begin):
                    sums[k] += abs(a - b[k])


@compiled
def _pulls(A: Any, Bt: Any, W: Any, out: Any) -> None:
    """Write Σ_k w_ik sign(a_ij - b_kj) into out, shape (n, d)."""
    for i in range(A.shape[0]):
        w = W[i]
        for j in range(A.shape[1]):
            a, b, total = A[i, j], Bt[j], W[i, 0] * 0
            for k in range(b.size):
                total += w[k] if a > b[k] else (-w[k] if a < b[k] else w[k] * 0)
            out[i, j] = total


def manhattan(A: Any, B: Any, out: Any) -> None:
    """Write ‖a_i - b_j‖₁ into out, shape (n, m), in its precision, in pieces cut by the problem."""
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        out[...] = cdist(A, B, "cityblock")
        return
    first, second = (np.ascontiguousarray(rows, dtype=out.dtype) for rows in (A, B.T))
    each(lambda k: _sums(first[k : k + PIECE], second, out[k : k + PIECE]), first.shape[0], PIECE, out.size * A.shape[1])


def pulls(A: Any, B: Any, W: Any) -> Any:
    """Return Σ_k w_ik sign(a_ij - b_kj), shape (n, d), for rows A (n, d), B (m, d), weights W (n, m), all of one precision."""
    out = np.empty_like(A)
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        for j in range(A.shape[1]):
            out[:, j] = (W * np.sign(A[:, j : j + 1] - B[:, j])).sum(axis=1)
        return out
    second = np.ascontiguousarray(B.T)

    def work(first: int) -> None:
        rows = slice(first, first + PIECE)
        _pulls(A[rows], second, W[rows], out[rows])

    each(work, A.shape[0], PIECE, W.size * A.shape[1])
    return out


def fill_manhattan(gamma: float, A: Any, B: Any, out: Any) -> None:
    """Write exp(-gamma ‖a_i - b_j‖₁) into out, shape (n, m)."""
    manhattan(A, B, out)
    out *= out.dtype.type(-gamma)
    np.exp(out, out=out)
