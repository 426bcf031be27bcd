"""Ridge regression: least squares with a price on the weights' length, for one λ and for many.

Problem    min over w of  Σ s_i (y_i - w·x̃_i)² + λ ‖w‖²,  the w of smallest norm where λ = 0 and several do.
Method     w = (X̃ᵀSX̃ + λI)⁻¹ X̃ᵀSY  if there are at least as many rows as inputs; else from strengths,
           a = √S (√S X̃X̃ᵀ √S + λI)⁻¹ √S Y,  w = X̃ᵀa. By Cholesky and one step of iterative refinement where the matrix is well
           conditioned (LAPACK's estimate is above 1e-7); of a few rows about their mean, after adding a multiple of uuᵀ, u = √s
           being the direction in which their square vanishes and in which there are no targets. Else by the singular values
           of the design's triangle, which do not square the condition number. Conjugate gradients, on (√S X̃; √λ I), where
           that would make large sparse rows dense, where the square does not fit in memory, or where there is no time.
Guarantee  With refinement, as accurate as the singular values allow; `RidgeGap` measures whatever comes out.
Reference  Golub and Van Loan 2013, sections 5.3 and 6.1; Björck 1996, sections 6.6 and 7.4.

Many λ, from one decomposition:
Problem    For each λ of a grid: the weights, and the mean squared error on examples left out one at a time.
Method     With √S X̃ = U s Vᵀ and k_j = λ/(s_j² + λ) the residuals are  y - U b + Σ_j U_j b_j k_j,  and an example's pull on its
           own prediction is  h_i = Σ_j U_ij² (1 - k_j). Leaving it out makes its error  r_i / (1 - h_i): no refit is needed.
Guarantee  Exact, for every λ (Allen 1974; Golub, Heath and Wahba 1979, section 2). Both r and 1 - h are summed from the k_j, so
           that small λ lose no digits.
Reference  Golub, Heath and Wahba 1979, "Generalized cross-validation"; Hastie, Tibshirani and Friedman 2009, section 7.10.

An example of weight s counts as s examples: one is left out at a time, all of it where its weight is below 1.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from halfspace._memory import room
from halfspace._typing import FloatArray, IntArray
from halfspace.rows.design import Design
from halfspace.rows.threads import one_blas_thread
from halfspace.solvers.regression.conjugate import ConjugateGradients
from halfspace.solvers.regression.spectrum import FLOPS, TRUSTED, Spectrum, decomposable, free_rows, least_default, spectrum
from halfspace.solvers.run import Budget, Run, run

__all__ = ["RidgeFit", "default_ridges", "from_spectrum", "leave_one_out", "path_weights", "ridge_regression", "too_large"]

SQUARE = 4000
"""Sparse rows with more rows and more inputs than this are solved by iteration."""
PAIR_BYTES = 48.0
"""Bytes of a pair of inputs (or rows, if they are fewer) in a decomposition."""
IDENTIFIED = 1e-8
"""Share of a weight that may lie in directions without data, before it counts as undetermined."""
ROUNDING = 1e-14
"""Backward error, and residual relative to the targets, at which an iteration ends."""
SMALLEST = 1e-12
"""Shares 1 - h below this are rounding: such an example decides its own prediction."""

Solve = Callable[[FloatArray], FloatArray]
Spreads = tuple[FloatArray, float]
"""Diagonal of (X̃ᵀSX̃ + λI)⁻¹, shape (D,), NaN for a weight the data do not determine; and cᵀ(X̃ᵀSX̃ + λI)⁻¹c for the design's
centre c: what the weights add to the variance of an unpenalised constant."""


class RidgeFit(NamedTuple):
    """Weights and what is known of them."""

    W: FloatArray
    """Weights, shape (D, m)."""
    strengths: FloatArray
    """a with w = X̃ᵀa, shape (n, m)."""
    spreads: Callable[[], Spreads]
    """Computes them: of a wide design as costly as the weights."""
    gamma: float
    """Effective number of weights, Σ s²/(s² + λ); NaN where unknown."""
    rank: int
    """Directions in which there are data; -1 where unknown."""
    route: str
    run: Run | None = None
    """The iteration, if there was one."""


def too_large(design: Design) -> bool:
    """Tell whether a design is too large to be decomposed: in time if it is sparse, or in memory."""
    side = min(design.n, design.D)
    return (sparse.issparse(design.X) and side > SQUARE) or PAIR_BYTES * side * side > room(design.X)


def ridge_regression(design: Design, Y: FloatArray, ridge: float, budget: Budget | None = None) -> RidgeFit:
    """Solve for the weights of targets Y, shape (n, m), with λ = `ridge`; iterate where the budget's time asks for it."""
    left = None if budget is None else budget.left()
    with one_blas_thread():
        found = None
        if not too_large(design) and (left is None or seconds_of_square(design) <= left):
            found = _by_cholesky(design, Y, ridge)
            left = None if budget is None else budget.left()
            if found is None and decomposable(design, left):
                found = from_spectrum(design, spectrum(design, Y, ridge), Y, ridge)
        return found if found is not None else _by_iteration(design, Y, ridge, budget)


def seconds_of_square(design: Design) -> float:
    """Return about how many seconds it takes to make the smaller matrix and its factor."""
    side = min(design.n, design.D)
    return (2.0 * side * design.entries + side**3) / FLOPS


def _solved(design: Design, Y: FloatArray, ridge: float, solve: Solve, size: float) -> tuple[FloatArray, FloatArray]:
    """Return weights and strengths from `solve`, which applies the inverse of the smaller matrix, of norm `size`; refined."""
    s, root = design.s[:, None], design.root
    if design.tall:
        W = solve(design.combine(s * Y))
        W = W + solve(design.residuals(Y, W)[1] - ridge * W)
        a = s * (Y - design.outputs(W)) / ridge if ridge else s * design.outputs(solve(W))
        if ridge < TRUSTED * size:  # dividing residuals by a small λ enlarges their rounding
            a = a + s * design.outputs(solve(W - design.combine(a)))
        return W, a
    a = solve(root * Y)
    a = a + solve(root * (Y - design.outputs(design.combine(root * a))) - ridge * a)
    return design.combine(root * a), root * a


def _by_cholesky(design: Design, Y: FloatArray, ridge: float) -> RidgeFit | None:
    """Solve by the Cholesky factor of the smaller matrix; None if it is too ill conditioned for that."""
    M = design.normal()
    width, u = M.shape[0], free_rows(design, M)
    added = 0.0 if u is None else float(np.trace(M)) / width
    if u is not None:
        M += added * u * u.T
    empty = np.flatnonzero(M.diagonal() == 0.0) if design.tall and ridge == 0.0 else np.empty(0, dtype=np.int64)
    M[empty, empty] = float(np.trace(M)) / width  # columns without data: their weights are 0
    M.flat[:: width + 1] += ridge
    size = linalg.norm(M, 1)
    factor, failed = linalg.lapack.dpotrf(M, lower=1, overwrite_a=0)
    if failed or linalg.lapack.dpocon(factor, size, uplo="L")[0] < TRUSTED:
        return None

    def solve(b: FloatArray) -> FloatArray:
        return np.asarray(linalg.lapack.dpotrs(factor, b, lower=1)[0])

    W, strengths = _solved(design, Y, ridge, solve, size)

    def inverse() -> FloatArray:
        return np.asarray(np.square(linalg.lapack.dtrtri(factor, lower=1)[0]).sum(axis=0))

    gamma = float(width - empty.size if ridge == 0.0 else width - ridge * inverse().sum())
    gamma -= 0.0 if u is None else added / (added + ridge)  # in that direction there are no data
    return RidgeFit(
        W,
        strengths,
        _tall_spreads(design, ridge, solve, inverse, empty) if design.tall else _wide_spreads(design, ridge, solve, factor),
        gamma,
        width - empty.size - (u is not None),
        "Cholesky",
    )


def _tall_spreads(
    design: Design, ridge: float, solve: Solve, inverse: Callable[[], FloatArray], empty: IntArray
) -> Callable[[], Spreads]:
    """Return what computes the spreads of a tall design, without its examples."""
    c = _centre(design)

    def spreads() -> Spreads:
        spread = inverse()
        spread[empty] = np.nan
        return spread, _centre_spread(c, ridge, solve, spread)

    return spreads


def _wide_spreads(design: Design, ridge: float, solve: Solve, factor: FloatArray) -> Callable[[], Spreads]:
    """Return what computes the spreads of a wide design."""

    def spreads() -> Spreads:
        spread = _wide_spread(design, factor, ridge)
        return spread, _centre_spread(_centre(design), ridge, solve, spread, design)

    return spreads


def _wide_spread(design: Design, factor: FloatArray, ridge: float) -> FloatArray:
    """Return the diagonal of (AAᵀ + λI)⁻¹ = (I - A (AᵀA + λI)⁻¹ Aᵀ)/λ, shape (D,), for the factor of AᵀA + λI.

    Without λ: that of the pseudo-inverse, A (AᵀA)⁻² Aᵀ, for the few weights that the data determine.
    """
    if ridge == 0.0 and design.s.sum() <= design.n:
        return np.full(design.D, np.nan)  # the targets are reproduced: there is no noise to measure spreads with

    def work(ranges: Iterator[tuple[int, int]]) -> list[FloatArray]:
        found = []
        for start, stop in ranges:
            half = linalg.solve_triangular(factor, design.block(start, stop).T, lower=True, check_finite=False)
            missing = np.maximum(1.0 - np.einsum("ij,ij->j", half, half), 0.0)
            if ridge:
                found.append(missing / ridge)
            else:
                whole = linalg.solve_triangular(factor, half, lower=True, trans=1, check_finite=False)
                found.append(np.where(missing <= IDENTIFIED, np.einsum("ij,ij->j", whole, whole), np.nan))
        return found

    return np.concatenate([part for piece in design.over_blocks(work) for part in piece])


def from_spectrum(design: Design, parts: Spectrum, Y: FloatArray, ridge: float) -> RidgeFit:
    """Solve for the weights of targets Y, shape (n, m), from a decomposition of the design."""
    s, basis = parts.s, parts.basis
    damped = s * s + ridge

    def solve(c: FloatArray) -> FloatArray:
        return basis @ (basis.T @ c / damped[:, None])

    if parts.right is None:
        W, strengths = _solved(design, Y, ridge, solve, float(damped.max(initial=0.0)))
    else:  # the singular vectors of the design are better than anything refined through its square
        W = parts.right @ (parts.b * (s / damped)[:, None])
        along = parts.b / damped[:, None]
        strengths = design.root * (_held(design, basis / s, along) if design.tall else basis @ along)

    c, wide = _centre(design), None if design.tall else design

    def spreads() -> Spreads:
        spread = _spread(parts, ridge, wide)
        return spread, _centre_spread(c, ridge, solve, spread, wide, basis)

    return RidgeFit(W, strengths, spreads, float((s * s / damped).sum()), s.size, "singular values")


def _held(design: Design, scaled: FloatArray, along: FloatArray) -> FloatArray:
    """Return c, shape (n, m), with Uᵀc = `along`, for the left singular vectors U = √S X̃ (V/s) of a tall design.

    As computed, those of small singular values are not quite orthogonal; c = U (UᵀU)⁻¹ `along` does not ask for that.
    """

    def left(start: int, stop: int) -> FloatArray:
        return np.asarray(design.root[start:stop] * (design.rows(start, stop) @ scaled))

    def square(start: int, stop: int) -> FloatArray:
        U = left(start, stop)
        return U.T @ U

    if along.shape[0] == 0:
        return np.zeros((design.n, along.shape[1]))
    inside = linalg.solve(sum(design.in_rows(square, design.D)), along, assume_a="pos")
    return np.concatenate(design.in_rows(lambda a, b: left(a, b) @ inside, design.D))


def _spread(parts: Spectrum, ridge: float, wide: Design | None) -> FloatArray:
    """Return the diagonal of (X̃ᵀSX̃ + λI)⁻¹; without data and without λ a weight's spread is NaN."""
    if wide is None:
        squares = parts.basis**2
    elif parts.right is not None:
        squares = parts.right**2
    else:
        design, across = wide, parts.basis / parts.s
        done = design.over_blocks(lambda ranges: [(design.block(a, b) @ across) ** 2 for a, b in ranges])
        squares = np.concatenate([part for piece in done for part in piece])
    missing = np.maximum(1.0 - squares.sum(axis=1), 0.0)
    known = squares @ (1.0 / (parts.s**2 + ridge))
    if ridge == 0.0:
        return np.where(missing <= IDENTIFIED, known, np.nan)
    return np.asarray(known + np.where(missing <= 1e-12, 0.0, missing) / ridge)


def _centre(design: Design) -> FloatArray:
    """Return the centre as weights, shape (D, 1)."""
    c = np.zeros((design.D, 1))
    c[: design.centre.size, 0] = design.centre
    return c


def _centre_spread(
    c: FloatArray,
    ridge: float,
    solve: Solve,
    spread: FloatArray,
    wide: Design | None = None,
    basis: FloatArray | None = None,
) -> float:
    """Return cᵀ(X̃ᵀSX̃ + λI)⁻¹c for the centre c; NaN if a weight it needs is undetermined."""
    if not c.any():
        return 0.0
    if np.isnan(spread[c[:, 0] != 0]).any():
        return np.nan
    if wide is not None:
        inside = wide.root * wide.outputs(c)
        back = solve(inside)
        return float((c**2).sum() - (inside * back).sum()) / ridge if ridge else float((back**2).sum())
    missing = 0.0 if basis is None or ridge == 0.0 else float(((c - basis @ (basis.T @ c)) ** 2).sum()) / ridge
    return float((c * solve(c)).sum()) + missing


class _Damped:
    """The rows √S X̃ of a design with √λ I below them, as products alone; `T` is the transpose."""

    def __init__(self, design: Design, ridge: float) -> None:
        self.design, self.price = design, np.sqrt(ridge)
        self.shape = design.n + (design.D if ridge else 0), design.D

    @property
    def length(self) -> float:
        """The length, by Frobenius; that of the centre is added, not subtracted: it only tells when to end."""
        X, s, shape = self.design.X, self.design.s, self.shape
        rows = np.asarray(X.multiply(X).sum(axis=1)).ravel() if sparse.issparse(X) else np.einsum("ij,ij->i", X, X)
        return float(np.sqrt((s * (rows + self.design.clamp**2)).sum() + self.price**2 * shape[1]))

    def __matmul__(self, W: FloatArray) -> FloatArray:
        """Return the products of the rows with weights W, shape (D, m)."""
        above = self.design.root * self.design.outputs(W)
        return np.vstack([above, self.price * W]) if self.price else above

    @property
    def T(self) -> "_Turned":  # noqa: N802  (as of arrays)
        """The transpose."""
        return _Turned(self)


class _Turned(NamedTuple):
    """The transpose of rows."""

    rows: _Damped

    def __matmul__(self, R: FloatArray) -> FloatArray:
        """Return the sums of the rows times R, shape (n, m)."""
        n = self.rows.design.n
        above = self.rows.design.combine(self.rows.design.root * R[:n])
        return above + self.rows.price * R[n:] if self.rows.price else above


def _by_iteration(design: Design, Y: FloatArray, ridge: float, budget: Budget | None) -> RidgeFit:
    """Solve by conjugate gradients until the gradient is at rounding level, or as long as there is time."""
    A = _Damped(design, ridge)
    targets = np.vstack([design.root * Y, np.zeros((A.shape[0] - design.n, Y.shape[1]))])
    limit = Budget(10 * min(design.n, design.D)) if budget is None else budget._replace(max_iter=10 * min(design.n, design.D))
    end = run(ConjugateGradients(A, targets, ROUNDING, ROUNDING), limit)
    W = end.state.W
    strengths = design.s[:, None] * (Y - design.outputs(W)) / ridge if ridge else design.root * end.state.a

    def unknown() -> Spreads:
        return np.full(design.D, np.nan), np.nan

    return RidgeFit(W, strengths, unknown, np.nan, -1, "conjugate gradients", end)


def default_ridges(parts: Spectrum, count: int = 50) -> FloatArray:
    """Return ridges from a millionth of the mean s² to a thousand times the largest, evenly by logarithm, shape (count,)."""
    squares = parts.s**2 if parts.s.size else np.ones(1)
    return np.geomspace(least_default(squares), 1e3 * squares.max(), count)


def path_weights(design: Design, parts: Spectrum, ridges: FloatArray) -> FloatArray:
    """Return the weights for every λ, shape (L, D, m)."""
    damped = parts.s**2 + ridges[:, None]  # (L, r)
    right = parts.basis if design.tall else parts.right
    if right is not None:
        return np.asarray(right @ (parts.b * (parts.s / damped)[:, :, None]))
    with one_blas_thread():
        a = parts.basis @ (parts.b / damped[:, :, None])  # (L, n, m)
        flat = (design.root[None] * a).transpose(1, 0, 2).reshape(design.n, -1)
        return design.combine(flat).reshape(design.D, ridges.size, -1).transpose(1, 0, 2)


def leave_one_out(design: Design, parts: Spectrum, Y: FloatArray, ridges: FloatArray, *, constant: bool) -> FloatArray:
    """Return the mean squared leave-one-out error over examples and targets for every λ, shape (L,).

    Infinite where an example decides its own prediction. Y (n, m) are the targets less the unpenalised constant, if one is
    fitted too (`constant`).
    """
    keep = (ridges / (parts.s[:, None] ** 2 + ridges)) if parts.s.size else np.zeros((0, ridges.size))  # (r, L)
    across = parts.basis / (parts.s if design.tall else np.where(design.root > 0, design.root, np.inf))
    own = 1.0 / design.s.sum() if constant else 0.0
    m, L = Y.shape[1], ridges.size
    moved = (parts.b[:, :, None] * keep[:, None, :]).reshape(-1, m * L)

    def work(start: int, stop: int) -> FloatArray:
        s = design.s[start:stop]
        U = design.rows(start, stop) @ across if design.tall else across[start:stop]
        share = np.minimum(s, 1.0)[:, None]
        squares = U * U
        free = 1.0 - share * (own + squares.sum(axis=1, keepdims=True)) + share * (squares @ keep)  # 1 - h, (k, L)
        r = (Y[start:stop] - U @ parts.b)[:, :, None] + (U @ moved).reshape(-1, m, L)
        with np.errstate(divide="ignore", invalid="ignore"):
            r /= free[:, None, :]
            r *= r
        errors = np.einsum("i,iml->l", s, r)
        return np.where((free[s > 0] > SMALLEST).all(axis=0), errors, np.inf)

    with one_blas_thread():
        total = sum(design.in_rows(work, max(design.D, m * L)))
    return np.asarray(total) / (design.s.sum() * m)
