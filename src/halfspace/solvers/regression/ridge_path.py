"""Ridge regression for many λ from one decomposition: weights, leave-one-out errors, evidence.

Problem    For each λ of a grid: the weights, and the mean squared error on examples left out one at a time.
Method     With √S X̃ = U s Vᵀ and k_j = λ/(s_j² + λ) the residuals are  y - U b + Σ_j U_j b_j k_j,  and an example's pull on its
           own prediction is  h_i = Σ_j U_ij² (1 - k_j). Leaving it out makes its error  r_i / (1 - h_i): no refit is needed.
Guarantee  Exact, for every λ (Allen 1974; Golub, Heath and Wahba 1979, section 2). Both r and 1 - h are summed from the k_j, so
           that small λ lose no digits.
Reference  Golub, Heath and Wahba 1979, "Generalized cross-validation"; Hastie, Tibshirani and Friedman 2009, section 7.10.

An example of weight s counts as s examples: one is left out at a time, all of it where its weight is below 1.
"""

import numpy as np

from halfspace._typing import FloatArray
from halfspace.rows.design import Design
from halfspace.rows.threads import one_blas_thread
from halfspace.solvers.regression.spectrum import Spectrum

__all__ = ["default_ridges", "leave_one_out", "path_weights"]

SMALLEST = 1e-12
"""Shares 1 - h below this are rounding: such an example decides its own prediction."""


def default_ridges(parts: Spectrum, count: int = 50) -> FloatArray:
    """Return ridges from a millionth of the mean s² to a thousand times the largest, evenly by logarithm, shape (count,).

    Examples
    --------
    >>> one = Spectrum(np.ones(1), np.ones((1, 1)), np.ones((1, 1)), np.zeros(1))
    >>> default_ridges(one, 4).tolist()
    [1e-06, 0.001, 1.0, 1000.0]
    """
    squares = parts.s**2 if parts.s.size else np.ones(1)
    return np.geomspace(1e-6 * squares.mean(), 1e3 * squares.max(), count)


def path_weights(design: Design, parts: Spectrum, ridges: FloatArray) -> FloatArray:
    """Return the weights for every λ, shape (L, D, m).

    Examples
    --------
    >>> line = Design(np.array([[1.0], [2.0]]), np.ones(2), 0.0, np.zeros(1))
    >>> parts = Spectrum(np.sqrt(np.array([5.0])), np.ones((1, 1)), np.array([[15.0]]) / np.sqrt(5.0), np.zeros(1))
    >>> path_weights(line, parts, np.array([0.0, 5.0])).ravel().round(12).tolist()
    [3.0, 1.5]
    """
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

    Infinite where an example decides its own prediction.

    Parameters
    ----------
    design : Design
        Rows x̃_i with weights.
    parts : Spectrum
        Its decomposition.
    Y : ndarray, shape (n, m)
        Targets, less the unpenalised constant.
    ridges : ndarray, shape (L,)
        Values of λ.
    constant : bool
        Whether an unpenalised constant is fitted too.

    Examples
    --------
    >>> mean = Design(np.zeros((2, 1)), np.ones(2), 0.0, np.zeros(1))
    >>> none = Spectrum(np.zeros(0), np.zeros((1, 0)), np.zeros((0, 1)), np.ones(1))
    >>> leave_one_out(mean, none, np.array([[-1.0], [1.0]]), np.ones(1), constant=True).tolist()
    [4.0]
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
