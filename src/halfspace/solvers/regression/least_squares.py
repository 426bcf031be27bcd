"""Least squares at once: what the delta rule tends to.

Problem    min over w of  ½ Σ s_i (y_i - w·x_i)²,  the w of smallest norm where several do.
Method     w = X⁺ y by the route the shape asks for: a singular value decomposition of X where it is small; the normal equations
           XᵀX w = Xᵀy (more rows than columns) or the strengths  XXᵀ a = y, w = Xᵀa  (more columns than rows) by Cholesky,
           refined once, where it is large; conjugate gradients where X is sparse, which is then never stored densely, where
           neither square fits in memory, or where a factorisation would take more time than there is.
Guarantee  None is claimed here: `LeastSquaresGap` measures the backward error of whatever comes out.
Reference  Golub and Van Loan 2013, chapter 5; Biehl's lectures for the strengths.

The strengths returned satisfy w = Σ alpha_i y_i x_i; those of a factorisation have the smallest norm of all such.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from halfspace._typing import FloatArray, Matrix
from halfspace.rows.threads import one_blas_thread
from halfspace.solvers.regression.conjugate import ConjugateGradients
from halfspace.solvers.run import Budget, Run, run

__all__ = ["Fitted", "least_squares"]

SMALL, FEW = 1 << 22, 1 << 18
"""Entries up to which the decomposition of X itself is affordable: of dense rows, and of sparse ones, stored densely for it."""
SQUARE = 4000
"""Largest square system solved densely."""
FLOPS = 2e9
"""Operations of a factorisation in a second, where the machine is slow."""


class Fitted(NamedTuple):
    """Weights (K, D) and signed strengths (K, n); the run, if they were found by iterating."""

    W: FloatArray
    strengths: FloatArray
    run: Run | None


def least_squares(X: Matrix, Y: FloatArray, s: FloatArray, clamp: float, tol: float, budget: Budget) -> Fitted:
    """Fit the targets Y, shape (n, K), of rows X, shape (n, d), weighted by s, (n,).

    `clamp` is the value of the clamped input; 0 for none. Where it has to be done by iterating, `tol` is the backward error to
    end at, and `budget` says how long to go on.
    """
    with one_blas_thread():  # its threads spin: beside other work two are slower than one
        root, end = np.sqrt(s)[:, None], None
        A = _weighted(X, root, clamp)
        if _is_affordable(A, budget.left()):
            W, a = _by_values(A, root * Y) if A.shape[0] * A.shape[1] <= SMALL else _by_square(A, root * Y)
        else:
            method = ConjugateGradients(A, root * Y, tol)
            end = run(method, budget)
            W, a = end.state.W, end.state.a
    return Fitted(np.ascontiguousarray(W.T), np.ascontiguousarray((root * a).T), end)


def _is_affordable(A: Any, left: float | None) -> bool:
    """Tell whether to factorise A, in the seconds left."""
    small, large = sorted(A.shape)
    if sparse.issparse(A):
        return small * large <= FEW
    by_values = small * large <= SMALL
    operations = (20.0 if by_values else 4.0) * small * small * (large if by_values else max(large / 2, small))
    return (by_values or small <= SQUARE) and (left is None or operations <= FLOPS * left)


def _by_values(A: Any, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Solve by singular values."""
    inverse = _pseudo_inverse(A.toarray() if sparse.issparse(A) else A)
    W = inverse @ Y
    return W, inverse.T @ W


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
    solve = _solver(A.T @ A if tall else A @ A.T)
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
