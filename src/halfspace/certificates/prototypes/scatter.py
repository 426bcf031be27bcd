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
from halfspace.certificates.prototypes.nearest import TINY, dense_blocks

__all__ = ["spectral_bound"]

LARGEST = 2000
"""Most rows of the matrix whose eigenvalues are computed."""
WORK = 2e10
"""Most multiplications spent on the bound: about a second."""


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
        The bound, 0 where computing it would take too long or overflow, and its rounding.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [0.0, -1.0], [5.0, 1.0], [5.0, -1.0]])
    >>> round(spectral_bound(X, None, 2)[0], 9)
    4.0
    """
    n, d = X.shape
    small = min(n, d)
    weights = np.ones(n) if s is None else s
    if small > LARGEST or n * d * small + 10 * small**3 > WORK or not weights.any():
        return 0.0, 0.0
    matrix, shift = _scatter(X, weights)
    size = float(np.trace(matrix)) + shift
    if not np.isfinite(size):
        return 0.0, 0.0
    eigenvalues = np.linalg.eigvalsh(matrix)  # rising
    # The trace, and the sum of the largest K - 1, move by at most 1 + √K times the size of a perturbation (Weyl).
    noise = 4.0 * (1.0 + np.sqrt(min(K, small))) * (n + d + 64) * EPS * size
    return float(eigenvalues[: max(small - K + 1, 0)].sum()), float(noise) + small * n * TINY


def _scatter(X: Matrix, s: FloatArray) -> tuple[FloatArray, float]:
    """Return S, or with fewer rows than columns the inner products of rows, and what the mean's rounding may add to it.

    The computed mean is off by n eps of the rows' mean length, which adds its square, weighted, to the scatter.
    """
    (n, d), root = X.shape, np.sqrt(s)
    mean = np.zeros(d)
    for rows, block in dense_blocks(X, d):
        mean += (s[rows] / s.sum()) @ block
    matrix = np.zeros((min(n, d), min(n, d)))
    if d <= n:
        for rows, block in dense_blocks(X, d):
            part = (block - mean) * root[rows, None]
            matrix += part.T @ part
    else:
        columns = X.T.tocsr() if sparse.issparse(X) else X.T
        for rows, block in dense_blocks(columns, n):
            part = (block - mean[rows, None]) * root
            matrix += part.T @ part
    return matrix, float(s.sum() * (mean @ mean) * n * EPS)
