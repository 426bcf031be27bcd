"""Linear regression: least squares, ridge, the λ that the data choose, and the path over many λ."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils.validation import check_is_fitted

from halfspace._typing import FloatArray, Matrix
from halfspace.certificates.regression.ridge import PerOutput, RidgeGap
from halfspace.errors import InputError
from halfspace.models.certified import Certified
from halfspace.models.parameters import UNLABELLED, require, require_number, restored_on_error
from halfspace.models.regression.base import Regression, RegressionMixin, read_regression, read_ridges, table
from halfspace.rows.threads import one_blas_thread
from halfspace.solvers.outcome import Outcome, Reason
from halfspace.solvers.regression.evidence import least_ridge, log_evidence, maximise, precisions, problem
from halfspace.solvers.regression.ridge import (
    RidgeFit,
    Spreads,
    default_ridges,
    from_spectrum,
    leave_one_out,
    path_weights,
    ridge_regression,
    seconds_of_square,
    too_large,
)
from halfspace.solvers.regression.spectrum import spectrum
from halfspace.solvers.run import Budget

__all__ = ["LinearRegression", "RidgePath", "ridge_path"]


EIGENVALUES = 10.0
"""Seconds of all eigenvalues and vectors, relative to those of a factor."""
FEWEST = 50
"""Rows of the smallest sample that chooses a λ."""
PROOF = 5e7
"""Entries of the data that are read in a second for the proof, where the machine is slow."""


class _Choice(NamedTuple):
    """The λ that was taken, the fit with it, and how it was chosen."""

    ridge: float
    fit: RidgeFit
    how: str = ""
    remedy: str = ""
    n_iter: int = 1


class LinearRegression(Certified, RegressionMixin, MultiOutputMixin, RegressorMixin, CallbackSupportMixin, BaseEstimator):
    """Least squares with an optional price λ on the length of the weights: min Σ s_i (y_i - w·x_i - c)² + λ‖w‖².

    The penalty is also called ridge, weight decay or Tikhonov regularisation.

    Parameters
    ----------
    ridge : float, "evidence" or "cv", default 0.0
        λ. 0: least squares, the smallest weights where several fit equally well. "evidence": the λ under which the targets
        are most probable, all weights integrated out. "cv": the λ of `ridges` with the least leave-one-out error, exactly.
    ridges : array, shape (L,), optional
        The grid for "cv"; None: 50 values that span the data's own scale.
    intercept : {"free", "clamped", "none"}, default "free"
        The constant: unpenalised, as in scikit-learn; the weight of one more input, which λ prices too; or none.
    intercept_scaling : float, default 1.0
        Value of the clamped input: the larger, the less λ holds the constant.
    max_time : float, optional
        Seconds for the fit. Where a factorisation would take longer, weights are found by iterating as long as there is time,
        and "evidence" and "cv" choose λ on a sample of the rows; `outcome_` says so.

    Attributes
    ----------
    coef_ : ndarray, shape (d,) or (m, d)
        Weights.
    intercept_ : float or ndarray, shape (m,)
        Constant.
    ridge_ : float
        The λ used, the same for all targets.
    alpha_ : ndarray, shape (n,) or (m, n)
        Strengths with `w = Σ alpha_i x_i` (of examples less their mean, if the intercept is free). With more examples than
        inputs there are many; with λ > 0 these are the residuals over λ, wherever that is accurate.
    sigma2_ : float or ndarray, shape (m,)
        Maximum likelihood: the mean squared residual.
    log_likelihood_ : float or ndarray, shape (m,)
        Of the targets, at `sigma2_`.
    degrees_of_freedom_ : float
        Examples less the effective number of parameters, Σ s²/(s² + λ) over the singular values s.
    noise_variance_ : float or ndarray, shape (m,)
        Squared residuals per degree of freedom; NaN where there are none left.
    tau2_ : float or ndarray, shape (m,)
        Maximum a posteriori: λ is the price of a prior of variance `tau2_ = noise_variance_ / ridge_` on every weight.
    standard_errors_ : ndarray, shape (d,) or (m, d)
        Of the weights; with λ > 0 their posterior standard deviations. NaN where the data do not determine a weight, or
        leave no degrees of freedom to measure noise with. With fewer examples than inputs they cost as much as the weights:
        they are computed when first asked for, from the examples given to `fit`, which must not have been changed since.
    intercept_standard_error_ : float or ndarray, shape (m,)
        Of the constant.
    rank_ : int
        Directions in which there are data; -1 if the solver was iterative.
    history_ : dict
        After "cv": arrays `ridges` and `loo_errors`, shape (L,).
    certificate_ : RidgeGap or PerOutput
        Objective, how far it can be above the least, and likelihood, recomputed from the data.
    outcome_, n_features_in_, feature_names_in_, n_iter_
        As for the other estimators.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 3.0, 5.0, 7.5])
    >>> model = LinearRegression().fit(X, y)
    >>> model.coef_.round(6).tolist(), round(model.intercept_, 6), bool(model.certificate_.verify(X, y))
    ([2.15], 0.9, True)
    """

    learnt: ClassVar[dict[str, Any]] = {
        **UNLABELLED,
        "coef_": "finite8(d) | finite8(m,d)",
        "standard_errors_": "f8(d) | f8(m,d)",
        "alpha_": "none | f8(n) | f8(m,n)",
        **dict.fromkeys(("intercept_", "sigma2_", "noise_variance_", "tau2_", "log_likelihood_"), "number | f8(m)"),
        "intercept_standard_error_": "number | f8(m)",
        **dict.fromkeys(("ridge_", "degrees_of_freedom_"), "number"),
        "rank_": "int",
    }
    earlier: ClassVar[dict[str, Any]] = {"max_time": None}
    left_out: ClassVar[frozenset[str]] = frozenset({"_spreads"})
    made_late: ClassVar[tuple[str, ...]] = ("standard_errors_", "intercept_standard_error_")

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:  # noqa: ARG003  (the same for all models)
        """Refuse numbers of one target beside weights of several, or the other way round."""
        each = ("intercept_", "intercept_standard_error_", "noise_variance_", "log_likelihood_")
        alike = all(np.ndim(fitted[name]) == fitted["coef_"].ndim - 1 for name in each)
        if not alike or fitted["standard_errors_"].shape != fitted["coef_"].shape:
            raise ValueError("LinearRegression: its numbers are not one for each target")

    def __init__(
        self,
        *,
        ridge: float | str = 0.0,
        ridges: Any = None,
        intercept: str = "free",
        intercept_scaling: float = 1.0,
        max_time: float | None = None,
    ) -> None:
        self.ridge = ridge
        self.ridges = ridges
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.max_time = max_time

    @with_callbacks
    def fit(self, X: Matrix, y: Any, sample_weight: Any = None) -> Self:
        """Fit weights to targets.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples; float32 and float64 are used as they are, sums are float64.
        y : array, shape (n,) or (n, m)
            Targets.
        sample_weight : array, shape (n,), optional
            A weight of 2 is the same as an example twice; leave-one-out then leaves out one of the two.

        Returns
        -------
        self
        """
        with restored_on_error(self), one_blas_thread():
            began = time.perf_counter()
            self._check_parameters()
            data = read_regression(self, X, y, sample_weight)
            reserve = data.Y.shape[1] * data.design.entries / PROOF
            choice = self._chosen(data, Budget(1, self.max_time, began=began, reserve=reserve))
            self._store(data, choice)
            self.outcome_ = _explained(data, choice, self.certificate_)
            return self

    def _check_parameters(self) -> None:
        self._check_intercept()
        if isinstance(self.ridge, str):
            require(self, "ridge", "a number >= 0, 'evidence' or 'cv'", holds=self.ridge in {"evidence", "cv"})
        else:
            require_number(self, "ridge", least=0.0)
        if self.max_time is not None:
            require_number(self, "max_time")

    def _chosen(self, data: Regression, budget: Budget) -> _Choice:
        """Return λ and the fit with it."""
        self.history_: dict[str, FloatArray] = {}
        if not isinstance(self.ridge, str):
            ridge = float(self.ridge)
            fit = ridge_regression(data.design, data.centred, ridge, budget)
            return _Choice(ridge, fit, n_iter=1 if fit.run is None else fit.run.rounds)
        left = budget.left()
        needed = (1.0 + EIGENVALUES) * seconds_of_square(data.design)
        if left is not None and needed > left:
            return self._by_sample(data, budget, needed)
        if too_large(data.design):
            size = f"{data.design.n:,} rows and {data.design.D:,} inputs"
            msg = (
                f"LinearRegression(ridge={self.ridge!r}) decomposes the data, but {size} are too many for that. Give a number."
            )
            raise InputError(msg)
        return self._by_evidence(data) if self.ridge == "evidence" else self._by_errors(data)

    def _by_sample(self, data: Regression, budget: Budget, needed: float) -> _Choice:
        """Choose λ on a sample of the rows, in a third of the time, and fit all rows with it."""
        left, n = budget.left() or 0.0, data.design.n
        few = min(max(FEWEST, int(n * np.sqrt(left / (3.0 * needed)))), n)
        rows = np.sort(np.random.default_rng(0).choice(n, few, replace=False, p=data.design.s / data.total))
        sample = data.some(rows)
        chosen = self._by_evidence(sample) if self.ridge == "evidence" else self._by_errors(sample)
        ridge = chosen.ridge * data.total / sample.total
        self.history_ = {name: v * data.total / sample.total if name == "ridges" else v for name, v in self.history_.items()}
        fit = ridge_regression(data.design, data.centred, ridge, budget)
        how = f"The ridge, {ridge:.4g}, was chosen on a sample of {few:,} rows, as max_time={self.max_time:g} allows no more."
        return _Choice(ridge, fit, how, "Raise max_time.", chosen.n_iter)

    def _by_evidence(self, data: Regression) -> _Choice:
        """Choose the λ of the largest evidence, the same for all targets."""
        parts = spectrum(data.design, data.centred, 0.0)
        found = maximise(problem(parts, data.total, data.floor, least_ridge(data.design.centre, data.total)))
        fit = from_spectrum(data.design, parts, data.centred, found.ridge)
        how, remedy = {
            "": (f"The evidence is largest at ridge {found.ridge:.4g}.", ""),
            "high": (
                f"The evidence rises with the ridge without end (taken: {found.ridge:.4g}): the data show no linear effect.",
                "Look for other features.",
            ),
            "low": (
                f"The evidence rises as the ridge vanishes (taken: {found.ridge:.4g}): the targets are fitted without noise.",
                "ridge='cv', or a number, does not need noise.",
            ),
        }[found.at_edge]
        return _Choice(found.ridge, fit, how, remedy, found.n_iter)

    def _by_errors(self, data: Regression) -> _Choice:
        """Choose the λ of the least leave-one-out error, averaged over the targets."""
        given = None if self.ridges is None else read_ridges(self.ridges, "LinearRegression")
        parts = spectrum(data.design, data.centred, None if given is None else float(given[0]))
        ridges = default_ridges(parts) if given is None else given
        errors = leave_one_out(data.design, parts, data.centred, ridges, constant=data.free)
        best = int(np.argmin(errors)) if np.isfinite(errors).any() else ridges.size - 1
        ridge = float(ridges[best])
        self.history_ = {"ridges": ridges, "loo_errors": errors}
        how, remedy = f"The leave-one-out error is least, {errors[best]:.4g}, at ridge {ridge:.4g}.", ""
        if best in {0, ridges.size - 1} and ridges.size > 1:
            end = "smallest" if best == 0 else "largest"
            how = f"{how} That is the {end} of the {ridges.size} tried."
            remedy = f"Give ridges that reach {'lower' if best == 0 else 'higher'}, unless the errors have levelled off."
        return _Choice(ridge, from_spectrum(data.design, parts, data.centred, ridge), how, remedy, ridges.size)

    def _store(self, data: Regression, choice: _Choice) -> None:
        """Keep the weights, their readings and the proof."""
        fit, d = choice.fit, data.X.shape[1]
        constants = data.constants(fit.W)
        certificates = _measured(data, fit.W, constants, choice.ridge)
        self.coef_, self.intercept_ = data.shaped(fit.W[:d].T), data.shaped(constants)
        self.ridge_, self.rank_, self.n_iter_ = choice.ridge, fit.rank, choice.n_iter
        self.alpha_ = data.shaped(fit.strengths.T)
        self.degrees_of_freedom_ = float(data.total - fit.gamma - data.free)
        sigma2 = np.array([part.sigma2 for part in certificates])
        left = self.degrees_of_freedom_ if self.degrees_of_freedom_ > 1e-9 * data.total else np.nan
        noise = sigma2 * data.total / left
        self.sigma2_, self.noise_variance_ = data.shaped(sigma2), data.shaped(noise)
        self.tau2_ = data.shaped(noise / choice.ridge if choice.ridge else np.full(noise.size, np.inf))
        self.log_likelihood_ = data.shaped(np.array([part.log_likelihood for part in certificates]))
        self.certificate_: RidgeGap | PerOutput = certificates[0] if data.single else PerOutput(certificates)
        for name in self.made_late:
            self.__dict__.pop(name, None)
        self._spreads = _checked_spreads(data, fit)

    @cached_property
    def standard_errors_(self) -> FloatArray:  # noqa: D102  (described above, with the other attributes)
        self._require_spreads()
        noise, (spread, _) = np.atleast_1d(self.noise_variance_), self._spreads()
        return np.asarray(np.sqrt(noise[:, None] * spread[: self.n_features_in_]).reshape(self.coef_.shape))

    @cached_property
    def intercept_standard_error_(self) -> Any:  # noqa: D102
        self._require_spreads()
        found = np.sqrt(np.atleast_1d(self.noise_variance_) * self._spreads()[1])
        return float(found[0]) if self.coef_.ndim == 1 else found

    def _require_spreads(self) -> None:
        """Refuse to say what a model that is not fitted does not know."""
        if "_spreads" not in vars(self):
            check_is_fitted(self)

    def _forget_data(self) -> None:
        """Compute what is made late, and let go of the examples that it is made from."""
        for name in self.made_late if "_spreads" in vars(self) else ():
            getattr(self, name)
        self.__dict__.pop("_spreads", None)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is copied or pickled: numbers, without the examples."""
        self._forget_data()
        return dict(super().__getstate__())

    def predict(self, X: Matrix) -> FloatArray:
        """Return the predicted targets, shape (n,) or (n, m).

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        """
        return self._means(self._read(X))

    def summary(self) -> str:
        """Return a table: each weight with its standard error, by the feature's name, and the likelihood below.

        Examples
        --------
        >>> import numpy as np
        >>> print(LinearRegression().fit(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.5])).summary())
        feature           weight    std. error
        x0                  2.25       0.14434
        (constant)       0.91667       0.18634
        3 examples, 1 degree of freedom, noise 0.20412, log-likelihood 2.1582
        """
        check_is_fitted(self)
        W, errors = np.atleast_2d(self.coef_), np.atleast_2d(self.standard_errors_)
        constants, own = np.atleast_1d(self.intercept_), np.atleast_1d(self.intercept_standard_error_)
        noise, likelihood = np.atleast_1d(self.noise_variance_), np.atleast_1d(self.log_likelihood_)
        examples = "" if self.alpha_ is None else f"{self.alpha_.shape[-1]:,} examples, "
        left = f"{self.degrees_of_freedom_:.5g} degree{'' if self.degrees_of_freedom_ == 1 else 's'} of freedom"
        lines = []
        for k in range(W.shape[0]):
            lines += [f"target {k}"] * (W.shape[0] > 1)
            lines += table(self, np.append(W[k], constants[k]), np.append(errors[k], own[k]), "std. error")
            lines.append(f"{examples}{left}, noise {np.sqrt(noise[k]):.5g}, log-likelihood {likelihood[k]:.5g}")
        return "\n".join(lines)


def _checked_spreads(data: Regression, fit: RidgeFit) -> Callable[[], Spreads]:
    """Return a function for the spreads of the weights (D,) and of the constant.

    Of a wide design it needs the examples, and refuses those that were changed.
    """
    wide, free, total = None if data.design.tall else data.design, data.free, data.total
    clamp, d, find = data.design.clamp, data.X.shape[1], fit.spreads
    seen: FloatArray = np.empty(0) if wide is None else wide.outputs(fit.W)
    W = fit.W

    @cache
    def spreads() -> Spreads:
        if wide is not None and not np.allclose(wide.outputs(W), seen, rtol=1e-9, atol=1e-9 * float(np.abs(seen).max())):
            msg = "LinearRegression: X was changed in place since the fit, so its standard errors are not known. Fit again."
            raise InputError(msg)
        with one_blas_thread():
            spread, centre = find()
        return spread, centre + 1.0 / total if free else clamp**2 * spread[d:].sum()

    return spreads


def _measured(data: Regression, W: FloatArray, constants: FloatArray, ridge: float) -> tuple[RidgeGap, ...]:
    """Return the certificate of each target."""
    return tuple(
        RidgeGap.measure(
            data.X,
            data.Y[:, k],
            weights=W[:, k],
            ridge=ridge,
            constant=float(constants[k]) if data.free else None,
            clamp=data.design.clamp,
            sample_weight=data.sample_weight,
        )
        for k in range(W.shape[1])
    )


def _explained(data: Regression, choice: _Choice, certificate: Any) -> Outcome:
    """Say what was solved, how λ was chosen, and what the data leave open."""
    fit, D = choice.fit, data.design.D
    sentences = [f"Solved by {fit.route}: {str(certificate).splitlines()[0]}.", choice.how]
    remedies = [choice.remedy]
    if 0 <= fit.rank < D and choice.ridge == 0.0:
        exact = fit.rank + data.free >= np.count_nonzero(data.design.s)
        many = "Infinitely many weights fit exactly" if exact else "Infinitely many weights fit equally well"
        sentences.append(f"{many} (rank {fit.rank} of {D} inputs); these are the smallest.")
        remedies.append("Drop constant or collinear columns, or set ridge > 0, for weights that the data determine.")
    reason: Reason = "solved"
    if fit.run is not None:
        sentences.append("Not decomposed: standard errors and degrees of freedom are unknown.")
        if fit.run.outcome.reason != "converged":
            reason = fit.run.outcome.reason
            sentences.append(fit.run.outcome.sentence)
            remedies.append(fit.run.outcome.remedy)
    elif data.total - fit.gamma - data.free <= 1e-9 * data.total:
        sentences.append("No degrees of freedom are left to measure noise with, so there are no standard errors.")
    return Outcome(reason, " ".join(filter(None, sentences)), " ".join(filter(None, remedies)))


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
    intercept: str = "free",
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
        parts = spectrum(data.design, data.centred, None if grid is None else float(grid[0]))
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
