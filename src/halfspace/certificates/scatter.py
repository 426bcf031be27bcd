"""A lower bound on the error of any K prototypes, from the eigenvalues of the scatter matrix.

Theorem (Ding and He 2004, theorem 3.1). For any prototypes w_1..w_K and weights s_i >= 0

    Σ s_i min_k ‖x_i - w_k‖²  >=  Σ_{j >= K} λ_j(S),    S = Σ s_i (x_i - m)(x_i - m)ᵀ,   m the weighted mean.

Why: the best prototypes of a partition are its means; these, about m, span at most K - 1 directions, and a projection on
K - 1 directions takes at most the K - 1 largest eigenvalues from the trace.

The smaller of S (d x d) and the matrix of inner products (n x n), which has the same eigenvalues, is computed.
"""

import numpy as np
from scipy import sparse

from halfspace._typing import FloatArray, Matrix
from halfspace.certificates.arithmetic import EPS

__all__ = ["spectral_bound"]

LARGEST = 2000
"""Most rows of the matrix whose eigenvalues are computed."""
WORK = 2e10
"""Most multiplications spent on the bound: about a second."""
BLOCK_ENTRIES = 1 << 18
"""Entries of a block of rows: they stay in cache."""


def spectral_bound(X: Matrix, s: FloatArray | None, K: int) -> tuple[float, float]:
    """Return the sum of all but the K - 1 largest eigenvalues of the scatter, and a bound on its rounding.

    Parameters
    ----------
    X : ndarray or CSR matrix, shape (n, d)
        Rows.
    s : ndarray, shape (n,), or None
        Their weights, if not all 1.
    K : int
        Number of prototypes.

    Returns
    -------
    (float, float)
        The bound, 0 where computing it would take too long, and its rounding.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [0.0, -1.0], [5.0, 1.0], [5.0, -1.0]])
    >>> round(spectral_bound(X, None, 2)[0], 9)
    4.0
    """
    n, d = X.shape
    small = min(n, d)
    if small > LARGEST or n * d * small + 10 * small**3 > WORK:
        return 0.0, 0.0
    weights = np.ones(n) if s is None else s
    if not weights.any():
        return 0.0, 0.0
    matrix, size = _scatter(X, weights) if d <= n else _inner_products(X, weights)
    eigenvalues = np.linalg.eigvalsh(matrix)  # rising
    # Σ of the largest K - 1 moves by at most √K times the Frobenius norm of a perturbation (Cauchy and Schwarz, Weyl).
    noise = 4.0 * np.sqrt(min(K, small)) * (n + d + 64) * EPS * size
    return float(eigenvalues[: max(small - K + 1, 0)].sum()), float(noise)


def _scatter(X: Matrix, s: FloatArray) -> tuple[FloatArray, float]:
    """Return S, shape (d, d), and the size of the sums it is made of."""
    n, d = X.shape
    mean = np.asarray(s @ X, dtype=np.float64).ravel() / s.sum()
    root = np.sqrt(s)[:, None]
    S, step = np.zeros((d, d)), max(1, BLOCK_ENTRIES // d)
    for first in range(0, n, step):
        rows = X[first : first + step]
        block = (rows.toarray() if sparse.issparse(rows) else rows.astype(np.float64, copy=False)) - mean
        block *= root[first : first + step]
        S += block.T @ block
    # The computed mean is off by n eps of the mean length, which adds its square, weighted, to the scatter.
    return S, float(np.trace(S) + s.sum() * (mean @ mean) * n * EPS)


def _inner_products(X: Matrix, s: FloatArray) -> tuple[FloatArray, float]:
    """Return √s_i √s_j (x_i - m)·(x_j - m), shape (n, n), and the size of the sums it is made of."""
    if sparse.issparse(X):
        products = (X @ X.T).toarray().astype(np.float64)
    else:
        rows = X - X.mean(axis=0, dtype=np.float64)
        products = rows @ rows.T
    size = 4.0 * float(s @ np.diag(products))
    share = s / s.sum()
    with_mean = products @ share
    products += share @ with_mean - with_mean[:, None] - with_mean
    root = np.sqrt(s)
    return products * root * root[:, None], size
