"""Ridge regression for many λ at once: the path."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from halfspace._typing import FloatArray, Matrix
from halfspace.errors import InputError
from halfspace.models.regression.base import read_regression, read_ridges
from halfspace.models.regression.linear_regression import LinearRegression
from halfspace.rows.threads import one_blas_thread
from halfspace.solvers.regression.evidence import log_evidence, precisions, problem
from halfspace.solvers.regression.ridge import too_large
from halfspace.solvers.regression.ridge_path import default_ridges, leave_one_out, path_weights
from halfspace.solvers.regression.spectrum import spectrum

__all__ = ["RidgePath", "ridge_path"]


@dataclass(frozen=True, eq=False)
class RidgePath:
    """Weights, errors and evidence for every λ of a grid, from one decomposition.

    Parameters
    ----------
    ridges : ndarray, shape (L,)
        Values of λ, rising.
    coefs : ndarray, shape (L, d) or (L, m, d)
        Weights.
    intercepts : ndarray, shape (L,) or (L, m)
        Constants.
    effective_parameters : ndarray, shape (L,)
        Σ s²/(s² + λ) over the singular values s of the data, and 1 for a free constant.
    loo_errors : ndarray, shape (L,)
        Exact mean squared leave-one-out error, averaged over the targets.
    log_evidence : ndarray, shape (L,)
        Log probability of all targets at the best noise variance of each.
    """

    ridges: FloatArray
    coefs: FloatArray
    intercepts: FloatArray
    effective_parameters: FloatArray
    loo_errors: FloatArray
    log_evidence: FloatArray


def ridge_path(
    X: Matrix,
    y: Any,
    ridges: Any = None,
    *,
    intercept: str = "clamped",
    intercept_scaling: float = 1.0,
    sample_weight: Any = None,
) -> RidgePath:
    """Fit ridge regressions for many λ from one decomposition of the data.

    Parameters
    ----------
    X : array or CSR matrix, shape (n, d)
        Examples.
    y : array, shape (n,) or (n, m)
        Targets.
    ridges : array, shape (L,), optional
        Values of λ > 0; None: 50 values that span the data's own scale.
    intercept, intercept_scaling
        As for `LinearRegression`.
    sample_weight : array, shape (n,), optional
        Weights of the examples.

    Returns
    -------
    RidgePath

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0], [2.0], [4.0]]), np.array([1.0, 2.5, 3.5])
    >>> path = ridge_path(X, y, [1.0, 21.0], intercept="none")
    >>> path.coefs.round(6).ravel().tolist(), path.effective_parameters.round(6).tolist()
    ([0.909091, 0.47619], [0.954545, 0.5])
    """
    model = LinearRegression(ridge="cv", ridges=ridges, intercept=intercept, intercept_scaling=intercept_scaling)
    model._check_parameters()  # noqa: SLF001  (the same checks)
    grid = None if ridges is None else read_ridges(ridges, "ridge_path")
    data = read_regression(model, X, y, sample_weight)
    if too_large(data.design):
        msg = f"ridge_path decomposes the data, but this sparse matrix has {data.design.n:,} rows and {data.design.D:,} inputs."
        raise InputError(msg)
    with one_blas_thread():
        parts = spectrum(data.design, data.centred, 0.0 if grid is None else float(grid[0]))
        grid = default_ridges(parts) if grid is None else grid
        W = path_weights(data.design, parts, grid)
        errors = leave_one_out(data.design, parts, data.centred, grid, constant=data.free)
    task = problem(parts, data.total, data.floor)
    coefs = W[:, : data.X.shape[1]].transpose(0, 2, 1)
    constants = np.array([data.constants(w) for w in W])
    return RidgePath(
        grid,
        np.ascontiguousarray(coefs[:, 0] if data.single else coefs),
        constants[:, 0] if data.single else constants,
        np.array([task.terms(ridge)[0] + data.free for ridge in grid]),
        errors,
        np.array([log_evidence(task, ridge, precisions(task, ridge)).sum() for ridge in grid]),
    )
