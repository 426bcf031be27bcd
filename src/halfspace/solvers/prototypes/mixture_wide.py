"""The pass of a mixture over wide rows, by matrix products: the accelerator of `mixture.sums`.

About the mean c = Σ π_k w_k of the mixture (after a step of EM that is the mean of the rows), with y = x - c and v = w - c:

    q_ik = ‖y_i‖² - 2 y_i·v_k + ‖v_k‖²,      M_k = Σ_i s_i r_ik y_i - N_k v_k,

two matrix products instead of 2 K d differences a row. The price is rounding:  q is off by (d + 8) eps (‖y‖ + ‖v‖)², however
near x and w are. Where that, over 2σ², is more than the certificate's rounding, the rows of a block are summed by differences.
"""

import numpy as np

from halfspace._dispatch import compiled
from halfspace._typing import FloatArray, View
from halfspace.rows.threads import in_chunks, one_blas_thread
from halfspace.rows.views import axpy, n_columns
from halfspace.solvers.prototypes import mixture as by_differences
from halfspace.solvers.prototypes.mixture import BLOCK, Mixture, Part, Sums, coefficients, summing, terms, total

__all__ = ["sums"]

WIDE = 32
"""Columns from which matrix products are faster than differences."""
BLOCK_ENTRIES = 1 << 16
"""Entries of the rows that are read at a time: half a megabyte, about a second-level cache."""
EPS = float(np.finfo(np.float64).eps)


@compiled
def _read(X: View, start: int, centre: FloatArray, Y: FloatArray, squares: FloatArray) -> None:
    """Write the rows from `start` on, less the centre, into Y (m, d), and their squared lengths into `squares` (m,)."""
    for r in range(Y.shape[0]):
        row = Y[r]
        for j in range(row.size):
            row[j] = -centre[j]
        axpy(1.0, X, start + r, row)
        total = 0.0
        for j in range(row.size):
            total += row[j] * row[j]
        squares[r] = total


@compiled
def _expand(q: FloatArray, squares: FloatArray, norms: FloatArray) -> None:
    """Turn products v_k·y_i, shape (K, m), into squared distances."""
    for k in range(q.shape[0]):
        row = q[k]
        for i in range(row.size):
            row[i] = max(squares[i] + norms[k] - 2.0 * row[i], 0.0)


@compiled
def _weigh(q: FloatArray, r: FloatArray, level: FloatArray, s: FloatArray, out: FloatArray) -> float:
    """Turn terms into weighted responsibilities s_i r_ik; write N and Q into `out` (K, 2); return Σ s_i log2 Σ_k 2^a_ik."""
    top, total = level[0], level[1]
    L = 0.0
    for i in range(s.size):
        L += s[i] * (top[i] + np.log2(total[i]))
        total[i] = s[i] / total[i]
    for k in range(q.shape[0]):
        mass, spread = 0.0, 0.0
        for i in range(s.size):
            r[k, i] *= total[i]
            mass += r[k, i]
            spread += r[k, i] * q[k, i]
        out[k, 0], out[k, 1] = mass, spread
    return L


def sums(X: View, s: FloatArray, mixture: Mixture) -> Sums:
    """Pass over the rows of a view, weighted by s, shape (n,), in the faster way: see `mixture.sums`."""
    if n_columns(X) < WIDE:
        return by_differences.sums(X, s, mixture)
    d, step = n_columns(X), max(1, BLOCK_ENTRIES // n_columns(X))
    plain, products = summing(X, s, mixture), _Products(X, s, mixture)

    def work(start: int, stop: int) -> list[Part]:
        parts, refused = list[Part](), start  # those from `refused` on, up to the first that is not, are summed together
        for first in range(start, stop, step):
            part = products(first, min(first + step, stop))
            if part is not None:
                parts += [*(plain(refused, first) if refused < first else ()), part]
                refused = first + step
        return parts + (plain(refused, stop) if refused < stop else [])

    entries = mixture.centres.size if s.size >= BLOCK else 0  # fewer rows fill one block of differences: no chunks of them
    with one_blas_thread():
        return total(in_chunks(work, s.size, entries), s, d)


class _Products:
    """What all blocks share; called with a range of rows it returns their sums, or None where rounding would be too large."""

    def __init__(self, X: View, s: FloatArray, mixture: Mixture) -> None:
        d = n_columns(X)
        self.X, self.s, self.coefficients = X, s, coefficients(mixture)
        self.centre = mixture.weights @ mixture.centres
        self.V = mixture.centres - self.centre
        self.norms = np.einsum("kj,kj->k", self.V, self.V)
        # (d + 8) eps (‖y‖ + ‖v‖)² / 2σ² <= allowed, a quarter of what the certificate allows a row of log-likelihood d
        allowed = min(2.0 * max(s.size, d + 16) * d * EPS, 1e-9)
        self.longest = mixture.sigmas.min() * np.sqrt(2.0 * allowed / ((d + 8) * EPS)) - np.sqrt(self.norms.max())

    def __call__(self, first: int, last: int) -> Part | None:
        (K, d), m = self.V.shape, last - first
        Y, squares = np.empty((m, d)), np.empty(m)
        _read(self.X, first, self.centre, Y, squares)
        if not np.sqrt(squares.max()) <= self.longest:
            return None
        q: FloatArray = self.V @ Y.T
        _expand(q, squares, self.norms)
        r, level, out = np.empty((K, m)), np.empty((2, m)), np.empty((K, d + 2))
        terms(*self.coefficients, q, r, level)
        L = _weigh(q, r, level, self.s[first:last], out[:, d:])
        out[:, :d] = r @ Y - out[:, d : d + 1] * self.V
        return L, out
