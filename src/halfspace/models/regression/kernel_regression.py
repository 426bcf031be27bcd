"""Kernel ridge regression: the Adaline in a kernel's space, its width and ridge chosen by exact leave-one-out."""

import time
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.errors import InputError
from halfspace.kernels import Kernel, as_kernel
from halfspace.models.kernel.grid import Width, read_grid
from halfspace.models.parameters import UNLABELLED, require, require_number, require_switch, restored_on_error
from halfspace.models.progress import Reporter
from halfspace.models.regression.base import Regression, read_ridges
from halfspace.models.regression.kernel_ridge import DECOMPOSED, KernelRidgeModel
from halfspace.rows.threads import alone, one_blas_thread, side_by_side
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.regression.kernel_ridge import (
    decompose,
    default_kernel_ridges,
    left_out_residuals,
)

__all__ = ["KernelRegression"]


COARSE = 4
"""Of many rows, this share of one rules out widths first, then half of them."""
LEFT = {COARSE: 4, 2: 2}
"""Most widths that these parts of the rows leave."""
MANY = 1_000
"""Rows from which that pays."""


class _Scored(NamedTuple):
    """A width on some rows: the ridges tried, and the squared leave-one-out error of every row for each, shape (L, n)."""

    ridges: FloatArray
    errors: FloatArray

    @property
    def best(self) -> int:
        """The ridge with the least error."""
        return int(np.argmin(self.errors.mean(axis=1)))


class KernelRegression(MultiOutputMixin, RegressorMixin, KernelRidgeModel):
    """Kernel ridge regression, the Adaline in a kernel's space: min Σ s_i (y_i - f(x_i) - c)² + λ‖f‖².

    One eigendecomposition per width gives the exact leave-one-out error for every λ, so width and ridge are chosen without
    folds. Examples with equal rows are solved as one, exactly: the cost is that of the different rows. A quarter of many rows
    leaves at most four widths, half of them two: those with the least error, and none that is worse by more than two standard
    errors of the difference.
    Beyond `kernel_rows` examples both are chosen on a sample, and the space is cut into cells with a machine each.

    Parameters
    ----------
    kernel : str, Kernel or callable, default "rbf"
        "rbf", "laplacian", "poly", "linear", ..., or a kernel of `halfspace.kernels`.
    gamma : float, "cv", "scale", "auto" or "median", default "cv"
        Width of a kernel given by name. "cv": the one of `gammas` with the least leave-one-out error.
    gammas : sequence of float, optional
        The widths to choose from; by default ten around the one that the median distance of the rows suggests.
    degree, coef0 : int, float
        Of the polynomial kernel.
    ridge : float or "cv", default "cv"
        λ > 0. "cv": the one of `ridges` with the least leave-one-out error, exactly.
    ridges : sequence of float, optional
        The ridges to choose from; by default 20, from 1e-5 to 100 times the mean of k(x, x).
    intercept : {"free", "clamped", "none"}, default "free"
        An unpenalised constant; a clamped input, which adds the square of `intercept_scaling` to the kernel; or none.
    intercept_scaling : float, default 1.0
        Value of the clamped input.
    kernel_rows : int, default 4000
        Most examples of one machine; of more, cells of about this many examples are made.
    full_grid : bool, default False
        Score every width on all rows, also those that a part of them rules out.
    max_time : float, optional
        Time limit in seconds; the search stops at two thirds of it and the best point so far is fitted.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.
    verbose : int, default 0
        1 prints a line for every width.
    random_state : int, RandomState or None, default 0
        Seed of the sample and of the cells.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel, every parameter a number.
    ridge_ : float
        The λ used.
    dual_coef_ : ndarray, shape (n,) or (m, n)
        Coefficients of the examples: f = Σ_j dual_coef_j k(x_j, ·).
    intercept_ : float or ndarray
        Constant, a number or shape (m,); with cells one row for each, shape (cells, m).
    left_out_ : ndarray, shape (n,) or (n, m)
        Prediction for every example by a machine that has not seen it; NaN without weight.
    left_out_error_ : float or ndarray, shape (m,)
        Mean squared error of these.
    history_ : dict
        Of the search: `gammas`, shape (W,), `ridges` and `errors`, shape (W, L): leave-one-out errors as shares of the
        variance of the targets, averaged over the targets; NaN for widths that were left.
    certificate_ : KernelRidgeGap or KernelRidgeCells
        How far f can be from the best function, and its leave-one-out error.
    outcome_, n_features_in_, feature_names_in_, n_iter_
        As for the other estimators; `n_iter_` is the number of widths tried.

    Examples
    --------
    >>> import numpy as np, halfspace as hs
    >>> X = np.linspace(0.0, 6.0, 40)[:, None]
    >>> model = hs.KernelRegression().fit(X, np.sin(X[:, 0]))
    >>> model.predict([[1.0]]).round(3).tolist(), bool(model.certificate_.verify(X, np.sin(X[:, 0])))
    ([0.841], True)
    """

    learnt: ClassVar[dict[str, Any]] = UNLABELLED

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: float | str = "cv",
        gammas: Any = None,
        degree: int = 3,
        coef0: float = 0.0,
        ridge: float | str = "cv",
        ridges: Any = None,
        intercept: str = "free",
        intercept_scaling: float = 1.0,
        kernel_rows: int = 4000,
        full_grid: bool = False,
        max_time: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.gammas = gammas
        self.degree = degree
        self.coef0 = coef0
        self.ridge = ridge
        self.ridges = ridges
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.kernel_rows = kernel_rows
        self.full_grid = full_grid
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Say that rows of a precomputed kernel belong together with their columns."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = getattr(self.kernel, "is_precomputed", False) or self.kernel == "precomputed"
        return tags

    def fit(self, X: Matrix, y: Any, sample_weight: Any = None) -> Self:
        """Choose width and ridge, and fit the function.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples; of a precomputed kernel its matrix, shape (n, n).
        y : array, shape (n,) or (n, m)
            Targets.
        sample_weight : array, shape (n,), optional
            A weight of 2 is the same as an example twice; leave-one-out leaves out both.

        Returns
        -------
        self
        """
        with restored_on_error(self), one_blas_thread():
            began = time.perf_counter()
            self._check_parameters()
            self._learn(X, y, sample_weight, began)
            return self

    def _check_parameters(self) -> None:
        self._check_intercept()
        self._check_rows()
        require_switch(self, "full_grid")
        if isinstance(self.ridge, str):
            require(self, "ridge", "a positive number or 'cv'", holds=self.ridge == "cv")
        else:
            require_number(self, "ridge")
        self._asked_kernel()

    def _asked_kernel(self) -> Kernel:
        """Return the kernel that the parameters ask for; with gamma="cv" it has the width that the median distance suggests."""
        gamma = self.gamma if self.gamma != "cv" else "scale"
        try:
            return as_kernel(self.kernel, gamma=gamma, degree=self.degree, coef0=self.coef0)
        except InputError as error:
            msg = f"The 'kernel' parameter of {type(self).__name__} (with 'gamma', 'degree', 'coef0') cannot be used: {error}"
            raise InputError(msg) from error

    def _plan(self, data: Regression) -> list[Width]:
        """Return the kernels to choose from, every parameter a number."""
        owner, kernel = type(self).__name__, self._asked_kernel()
        if self.gamma == "cv":
            return read_grid(owner, None, self.gammas, kernel, data.X)[1]
        require(self, "gammas", "None unless gamma='cv'", holds=self.gammas is None)
        return [Width(np.nan, kernel.resolved(data.X))]

    def _divisible(self, plan: list[Width]) -> bool:
        return not plan[0].kernel.is_precomputed

    def _searching(self, plan: list[Width], r: int, matrix: float) -> float:
        given = len(plan) == 1 and not isinstance(self.ridge, str)
        coarse = r > MANY and not self.full_grid
        searched = 0.0 if given else len(plan) / COARSE**3 + min(len(plan), 3) if coarse else len(plan)
        return searched * (matrix + DECOMPOSED * r**3)

    def _search(self, data: Regression, rows: IntArray, plan: list[Width], rng: Any, began: float) -> Kernel:
        """Choose the ridge, and return the kernel of the width chosen, by what they do on some rows."""
        widths = plan
        if len(widths) == 1 and not isinstance(self.ridge, str):
            self.ridge_, self.history_, self.n_iter_ = float(self.ridge), {}, 1
            return widths[0].kernel
        given = None if self.ridges is None else read_ridges(self.ridges, type(self).__name__)
        given = given if isinstance(self.ridge, str) else np.array([float(self.ridge)])
        deadline = None if self.max_time is None else began + float(self.max_time) * 2.0 / 3.0
        reporter = Reporter(self, data.X, data.Y, dict, len(widths))
        spread = np.maximum(data.Y[rows].var(axis=0), np.finfo(np.float64).tiny)
        found: dict[int, _Scored] = {}

        def score(k: int, some: IntArray) -> _Scored | None:
            if found and deadline is not None and time.perf_counter() > deadline:
                return None
            with alone():
                K, of = self._matrix(data, widths[k].kernel, some)
                ridges = default_kernel_ridges(np.diag(K)[of]) if given is None else given
                s = data.design.s[some]
                left_out = left_out_residuals(decompose(K, data.Y[some], s, of, free=data.free), ridges)
            errors = np.einsum("mln,m->ln", left_out**2, 1.0 / spread) * (s / s.mean()) / spread.size
            scored = found[k] = _Scored(ridges, np.where(np.isnan(errors), np.inf, errors))
            reporter.line(f"gamma {widths[k].gamma:.3g}, {some.size:,} rows: error {scored.errors.mean(axis=1).min():.4g}")
            return scored

        kept = list(range(len(widths)))
        if rows.size > MANY and len(widths) > 1 and not self.full_grid:
            for part in (COARSE, 2):
                few = np.sort(rng.choice(rows, rows.size // part, replace=False))
                if len(kept) > 1:
                    coarse = side_by_side(partial(score, some=few), kept, self.n_jobs)
                    kept = [kept[j] for j in _not_ruled_out(coarse)[: LEFT[part]]]
                found.clear()
        side_by_side(lambda k: score(k, rows), kept, self.n_jobs)
        reporter.close()
        best = min(sorted(found), key=lambda k: float(found[k].errors.mean(axis=1).min()))
        self.ridge_, self.n_iter_ = float(found[best].ridges[found[best].best]), len(found)
        nothing = np.full((len(widths), found[best].ridges.size), np.nan)
        self.history_ = {"gammas": np.array([width.gamma for width in widths]), "ridges": nothing, "errors": nothing.copy()}
        for k, scored in found.items():
            self.history_["ridges"][k], self.history_["errors"][k] = scored.ridges, scored.errors.mean(axis=1)
        return widths[best].kernel

    def _explained(self, plan: list[Width], cells: int) -> Outcome:
        """Say how width and ridge were chosen, and what was solved."""
        about = f" in {cells} cells, an approximation" if cells > 1 else ""
        sentence = f"Solved by Cholesky{about}: {str(self.certificate_).splitlines()[0]}."
        if not self.history_:
            return Outcome("solved", sentence)
        errors, remedy = self.history_["errors"], ""
        k, at = np.unravel_index(int(np.nanargmin(errors)), errors.shape)
        width = "" if np.isnan(self.history_["gammas"][k]) else f"gamma {self.history_['gammas'][k]:.4g} and "
        sentence += f" The leave-one-out error is least at {width}ridge {self.ridge_:.4g}."
        if errors.shape[1] > 1 and at in {0, errors.shape[1] - 1}:
            remedy = (
                f"The best ridge is the {'smallest' if at == 0 else 'largest'} of those tried: give ridges that reach further."
            )
        elif len(plan) > 1 and k in {0, len(plan) - 1}:
            remedy = (
                f"The best gamma is the {'smallest' if k == 0 else 'largest'} of those tried: give gammas that reach further."
            )
        return Outcome("solved", sentence, remedy)

    def predict(self, X: Matrix) -> FloatArray:
        """Return the predicted targets, shape (n,) or (n, m).

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        """
        found = self._outputs(X)
        return found[:, 0] if self._single else found


def _not_ruled_out(scored: list[_Scored | None]) -> list[int]:
    """Return the widths whose error is not above the least by more than two standard errors of the difference, best first."""
    done = {k: one.errors[one.best] for k, one in enumerate(scored) if one is not None}
    least = min(done.values(), key=lambda errors: float(errors.mean()))
    apart = {k: errors - least for k, errors in done.items()}
    near = [k for k, d in apart.items() if d.mean() <= 2.0 * d.std(ddof=1) / np.sqrt(d.size)]
    return sorted(near, key=lambda k: float(apart[k].mean()))
