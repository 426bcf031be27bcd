"""Least squares at once: what the delta rule tends to.

Problem    min over w of  ½ Σ s_i (y_i - w·x_i)²,  the w of smallest norm where several do.
Method     w = X⁺ y by the route the shape asks for: a singular value decomposition of X where it is small; the normal equations
           XᵀX w = Xᵀy (more rows than columns) or the strengths  XXᵀ a = y, w = Xᵀa  (more columns than rows) by Cholesky,
           refined once, where it is large; the iteration LSMR where X is sparse and neither square fits in memory.
Guarantee  None is claimed here: `LeastSquaresGap` measures the backward error of whatever comes out.
Reference  Golub and Van Loan 2013, chapter 5; Fong and Saunders 2011 for LSMR; Biehl's lectures for the strengths.

The strengths returned satisfy w = Σ alpha_i y_i x_i; among all such they have the smallest norm.
"""

from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import lsmr

from halfspace._typing import FloatArray, Matrix
from halfspace.rows.threads import one_blas_thread

__all__ = ["least_squares"]

SMALL = 1 << 22
"""Entries up to which the decomposition of X itself is affordable."""
SQUARE = 4000
"""Largest square system solved densely."""


def least_squares(X: Matrix, Y: FloatArray, s: FloatArray, clamp: float) -> tuple[FloatArray, FloatArray]:
    """Return the weights (K, D) and signed strengths (K, n) that fit the targets Y, shape (n, K), of rows weighted by s, (n,).

    `clamp` is the value of the clamped input; 0 for none.
    """
    with one_blas_thread():  # its threads spin: beside other work two are slower than one
        root = np.sqrt(s)[:, None]
        A = _weighted(X, root, clamp)
        n, D = A.shape
        if n * D <= SMALL:
            dense = A.toarray() if sparse.issparse(A) else A
            inverse = _pseudo_inverse(dense)
            W = inverse @ (root * Y)
            a = inverse.T @ W
        elif min(n, D) <= SQUARE:
            W, a = _by_square(A, root * Y)
        else:
            W = np.column_stack([_lsmr(A, y) for y in (root * Y).T])
            a = np.column_stack([_lsmr(A.T, w) for w in W.T])
    return np.ascontiguousarray(W.T), np.ascontiguousarray((root * a).T)


def _pseudo_inverse(A: FloatArray) -> FloatArray:
    """Return A⁺ by singular values: of A, or where it is far from square of the triangle R in A = QR, which has the same."""
    n, D = A.shape
    if 2 * n < D:
        return _pseudo_inverse(A.T).T
    if n <= 2 * D:
        return linalg.pinv(A)
    Q, R = linalg.qr(A, mode="economic")
    return linalg.pinv(R, rtol=n * np.finfo(float).eps) @ Q.T


def _weighted(X: Matrix, root: FloatArray, clamp: float) -> Any:
    """Return the rows with the clamped input, each times the root of its weight."""
    ones = np.full((X.shape[0], 1), clamp)
    if sparse.issparse(X):
        joined = sparse.hstack([X, sparse.csr_array(ones)]) if clamp else X
        return sparse.csr_array(sparse.diags_array(root[:, 0]) @ joined)
    return root * (np.hstack([X, ones]) if clamp else X)


def _by_square(A: Any, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Solve by the smaller of AᵀA and AAᵀ; fall back on the eigenvalues where it is singular."""
    tall = A.shape[0] >= A.shape[1]
    G = A.T @ A if tall else A @ A.T
    G = G.toarray() if sparse.issparse(G) else G
    solve = _solver(G)
    if tall:
        W = solve(A.T @ Y)
        W = W + solve(A.T @ (Y - A @ W))
        return W, A @ solve(W)
    a = solve(Y)
    a = a + solve(Y - A @ (A.T @ a))
    return A.T @ a, a


def _solver(G: FloatArray) -> Any:
    """Return b -> G⁺ b, by Cholesky if G is well conditioned, by eigenvalues otherwise."""
    try:
        factor = linalg.cho_factor(G)
        pivots = np.abs(np.diag(factor[0]))
        if pivots.min() > 1e-6 * pivots.max():
            return lambda b: linalg.cho_solve(factor, b)
    except linalg.LinAlgError:
        pass
    values, vectors = linalg.eigh(G)
    kept = values > values[-1] * G.shape[0] * np.finfo(float).eps
    V = vectors[:, kept] / np.sqrt(values[kept])
    return lambda b: V @ (V.T @ b)


def _lsmr(A: Any, b: FloatArray) -> Any:
    """Iterate until the residual or the gradient is at rounding level."""
    return lsmr(A, b, atol=1e-12, btol=1e-12, conlim=0, maxiter=10 * min(A.shape))[0]
