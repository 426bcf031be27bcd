"""Bayesian linear regression: a belief about the weights, and what it says about new examples."""

import time
from typing import Any, ClassVar, Self

import numpy as np
from scipy import linalg, stats
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from halfspace._memory import admit
from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.certificates.regression.posterior import GaussianPosterior, Sums
from halfspace.errors import InputError
from halfspace.models.certified import Certified
from halfspace.models.parameters import UNLABELLED, require, require_choice, require_number, restored_on_error
from halfspace.models.regression.base import Regression, RegressionMixin, read_regression, table
from halfspace.rows.design import Design
from halfspace.rows.threads import one_blas_thread
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.regression.posterior import Posterior, gathered, infer, integrated, joined, seconds

__all__ = ["BayesianRegression"]

PAIR_BYTES = 48.0
"""Bytes of a pair of weights: its covariance, the triangle of the examples, and what decomposing it takes."""
FEWEST = 50
"""Rows of the smallest sample."""


class BayesianRegression(Certified, RegressionMixin, RegressorMixin, CallbackSupportMixin, BaseEstimator):
    """Linear regression that knows how sure it is: weights ~ N(0, I/α), noise of variance 1/β, the posterior in closed form.

    Parameters
    ----------
    prior_precision : float, optional
        α, the precision (inverse variance) of the prior on every weight; `lambda_` of scikit-learn's BayesianRidge, α in
        MacKay and Bishop. None: the one that maximises the evidence.
    noise_precision : float, optional
        β, the precision of the noise; `alpha_` of scikit-learn's BayesianRidge (in this package `alpha_` always means the
        strengths of examples). None: the one that maximises the evidence.
    noise : {"evidence", "unknown"}, default "evidence"
        The noise's precision is taken as known, given or of the largest evidence; or its variance σ² is integrated over too,
        with the prior 1/σ². Predictions are then Student's t, with wider intervals from few examples, and `prior_precision`
        is in units of the noise's: λ = α/β.
    intercept : {"free", "clamped", "none"}, default "free"
        The constant: without a prior, at the mean of the data, as in scikit-learn; the weight of one more input, with the same
        prior; or none.
    intercept_scaling : float, default 1.0
        Value of the clamped input.
    max_time : float, optional
        Seconds for a fit, proof included. Where all rows would take longer, it is that of a sample of them, and `outcome_` says
        so: the others have the weight 0 in the certificate. The covariance alone may take longer: that is refused.

    Attributes
    ----------
    coef_ : ndarray, shape (d,)
        Posterior mean of the weights.
    intercept_ : float
        Posterior mean of the constant.
    covariance_ : ndarray, shape (D, D)
        Posterior covariance of the weights, the clamped one last if there is one; of unknown noise the squared scale of
        their t distribution.
    prior_precision_, noise_precision_ : float
        α and β, as given or found; of unknown noise β = 1/s², where ν s²/σ² is chi-square with ν degrees of freedom.
    degrees_of_freedom_ : float
        ν of unknown noise: the examples, less one for a free constant; infinite if the noise is taken as known.
    gamma_ : float
        Effective number of weights: how many the data determine rather than the prior.
    log_evidence_ : float
        Log probability of the targets, all weights integrated out.
    certificate_ : GaussianPosterior
        Every equation of the posterior, recomputed from the data: after `partial_fit` from all batches together.
    outcome_, n_features_in_, feature_names_in_, n_iter_
        As for the other estimators.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 3.0, 5.0, 7.5])
    >>> model = BayesianRegression().fit(X, y)
    >>> mean, std = model.predict(np.array([[1.5], [10.0]]), return_std=True)
    >>> mean.round(2).tolist(), std.round(2).tolist(), bool(model.certificate_.verify(X, y))
    ([4.12, 22.38], [0.18, 0.63], True)
    """

    learnt: ClassVar[dict[str, Any]] = {
        **UNLABELLED,
        "coef_": "finite8(d)",
        "covariance_": "finite8(w,w)",
        **dict.fromkeys(("intercept_", "gamma_", "log_evidence_"), "number"),
        **dict.fromkeys(("prior_precision_", "noise_precision_"), "real > 0"),
        "?degrees_of_freedom_": "real > 0",
        "_floor": "number",
        "_clamp": "finite in 0..1e51",
        "_sums": {"triangle": "finite8(k,v)", "total": "finite > 0", "x_mean": "finite8(d)", "y_mean": "finite"},
        "_rows": "int",
        "_weights": "none | f8(n)",
        "_free": "bool",
    }
    earlier: ClassVar[dict[str, Any]] = {"max_time": None}

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse sums over other weights than the posterior's."""
        inputs = sizes["d"] + (fitted["_clamp"] != 0.0)
        if not sizes["w"] == inputs == sizes["v"] - 1:
            raise ValueError("BayesianRegression: its sums are not over the weights")

    def __init__(
        self,
        *,
        prior_precision: float | None = None,
        noise_precision: float | None = None,
        noise: str = "evidence",
        intercept: str = "free",
        intercept_scaling: float = 1.0,
        max_time: float | None = None,
    ) -> None:
        self.prior_precision = prior_precision
        self.noise_precision = noise_precision
        self.noise = noise
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.max_time = max_time

    outcome_: Outcome
    _rows: int
    _weights: FloatArray | None

    @with_callbacks
    def fit(self, X: Matrix, y: Any, sample_weight: Any = None) -> Self:
        """Infer the weights from examples, forgetting earlier ones.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        y : array, shape (n,)
            Targets.
        sample_weight : array, shape (n,), optional
            A weight of 2 is the same as an example twice.

        Returns
        -------
        self
        """
        with restored_on_error(self):
            return self._learn(X, y, sample_weight, afresh=True)

    def partial_fit(self, X: Matrix, y: Any, sample_weight: Any = None) -> Self:
        """Infer from more examples: the posterior so far is the prior of these.

        A triangle of the examples is kept: any number of batches gives what all of them at once would; precisions that
        maximise the evidence are found anew from all of it. Parameters as for `fit`.
        """
        with restored_on_error(self):
            return self._learn(X, y, sample_weight, afresh=not hasattr(self, "_sums"))

    def _learn(self, X: Matrix, y: Any, sample_weight: Any, *, afresh: bool) -> Self:
        """Gather the sums of these examples, join them with the earlier ones, and infer."""
        began = time.perf_counter()
        self._check_parameters()
        data = read_regression(self, X, y, sample_weight, reset=afresh, multi=False)
        D = data.design.D
        admit("BayesianRegression", PAIR_BYTES * D * D, f"the covariance of {D:,} weights", "give fewer features", X)
        if not afresh and (self._clamp, self._free) != (data.design.clamp, data.free):
            msg = "BayesianRegression.partial_fit: the intercept's parameters have changed since the last batch. Call fit."
            raise InputError(msg)
        rows = self._affordable(data, 0 if afresh else len(self._sums["triangle"]), began)
        learnt = data if rows is None else data.some(rows)
        with one_blas_thread():
            sums = gathered(learnt.design, learnt.centred[:, 0], float(learnt.y_mean[0]))
            self._remember(learnt, sums if afresh else joined(Sums(**self._sums), sums), afresh=afresh)
            self._weigh(data, rows, afresh=afresh)
            try:
                self._store(self._inferred(Sums(**self._sums)))
            except np.linalg.LinAlgError as error:
                msg = f"BayesianRegression: numbers of these sizes cannot be computed with ({error}). Scale the features."
                raise InputError(msg) from error
        if rows is not None:
            sample = f"a sample of {rows.size:,} of {np.count_nonzero(data.design.s):,} examples: max_time={self.max_time:g}"
            outcome: Outcome = self.outcome_
            remedy = "Raise max_time, or give fewer features."
            sentence = f"Learnt from {sample} allows no more. {outcome.sentence}"
            self.outcome_ = Outcome("time budget spent", sentence, f"{remedy} {outcome.remedy}".strip())
        return self

    def _check_parameters(self) -> None:
        """Refuse what cannot be used."""
        self._check_intercept()
        require_choice(self, "noise", "evidence", "unknown")
        for name in ("prior_precision", "noise_precision", "max_time"):
            if getattr(self, name) is not None:
                require_number(self, name)
        known = self.noise_precision is None or self.noise == "evidence"
        require(self, "noise_precision", "None with noise='unknown'", holds=known)

    def _affordable(self, data: Regression, before: int, began: float) -> IntArray | None:
        """Return rows that there is time for, beside a triangle of `before` rows; None for all of them."""
        if self.max_time is None:
            return None
        left, D = began + float(self.max_time) - time.perf_counter(), data.design.D
        used = np.flatnonzero(data.design.s)
        sizes = [used.size, *(few for k in range(1, 80) if (few := int(used.size * 0.85**k)) > FEWEST), min(FEWEST, used.size)]
        count = next((count for count in sizes if seconds(before + count, D) <= left), None)
        if count is None:
            needed = seconds(before + sizes[-1], D)
            msg = (
                f"BayesianRegression: the covariance of {D:,} weights and its proof take about {needed:.2g} s, "
                f"max_time={self.max_time:g} leaves {max(left, 0.0):.2g}. Raise max_time, or give fewer features."
            )
            raise InputError(msg)
        return None if count == used.size else np.sort(np.random.default_rng(0).choice(used, count, replace=False))

    def _inferred(self, sums: Sums) -> Posterior:
        """Return the posterior of the sums over all examples, and set how many degrees of freedom the noise has."""
        self.degrees_of_freedom_ = np.inf
        if self.noise == "evidence":
            return infer(sums, self._floor, *self._given())
        self.degrees_of_freedom_ = sums.total - self._free
        if not self.degrees_of_freedom_ > 0.0:
            msg = "BayesianRegression(noise='unknown') with a free constant needs more than one example to know of noise."
            raise InputError(msg)
        prior = self._given()[0]
        found = infer(sums, self._floor, prior, None if prior is None else 1.0)
        return integrated(sums, found, self._floor, self.degrees_of_freedom_)

    def _given(self) -> tuple[float | None, float | None]:
        """Return the precisions that were given."""
        prior, noise = self.prior_precision, self.noise_precision
        return None if prior is None else float(prior), None if noise is None else float(noise)

    def _remember(self, data: Regression, sums: Sums, *, afresh: bool) -> None:
        """Keep what the next batch will need."""
        self._sums = sums._asdict()
        self._floor: float = float(data.floor[0]) + (0.0 if afresh else self._floor)
        self._clamp, self._free = data.design.clamp, data.free

    def _weigh(self, data: Regression, rows: IntArray | None, *, afresh: bool) -> None:
        """Keep the weights of all examples so far; those that were not learnt from have none."""
        before: int = 0 if afresh else self._rows
        old: FloatArray | None = None if afresh else self._weights
        new = data.sample_weight
        if rows is not None:
            new = np.zeros(data.design.n)
            new[rows] = data.design.s[rows]
        if old is not None or new is not None:
            new = np.concatenate([np.ones(before) if old is None else old, data.design.s if new is None else new])
        self._rows, self._weights = before + data.design.n, new

    def _store(self, found: Posterior) -> None:
        """Keep the posterior and its proof."""
        sums, d = Sums(**self._sums), self.n_features_in_
        self.prior_precision_, self.noise_precision_ = found.alpha, found.beta
        self.covariance_ = found.covariance
        self.coef_, self.n_iter_ = found.mean[:d], found.n_iter
        constant = sums.y_mean - sums.x_mean @ self.coef_ if self._free else self._clamp * found.mean[d:].sum()
        self.intercept_ = float(constant)
        unset = tuple(name for name, given in zip(("alpha", "beta"), self._given(), strict=True) if given is None)
        unset = unset if self.noise == "evidence" else unset[: len(unset) - 1]  # the noise is integrated over
        self.certificate_ = GaussianPosterior.of(
            sums,
            alpha=found.alpha,
            beta=found.beta,
            weights=found.mean,
            covariance=found.covariance,
            maximised=() if found.at_edge else unset,
            free=self._free,
            clamp=self._clamp,
            sample_weight=self._weights,
            freedom=None if self.degrees_of_freedom_ == np.inf else self.degrees_of_freedom_,
        )
        self.gamma_, self.log_evidence_ = self.certificate_.gamma, self.certificate_.log_evidence
        sound = self.certificate_.well_formed()
        if not sound:
            msg = (
                f"BayesianRegression: with prior_precision {found.alpha:.3g} and noise_precision {found.beta:.3g} the "
                f"posterior of these data is lost in rounding ({'; '.join(sound.reasons)}). Give precisions closer to "
                "those of the data, or None."
            )
            raise InputError(msg)
        self.outcome_ = _explained(found, unset, self.certificate_)

    def predict(self, X: Matrix, return_std: bool = False) -> Any:  # noqa: FBT001, FBT002  (scikit-learn's signature)
        """Return the predictive means, shape (n,), and with `return_std` their standard deviations, shape (n,), as well.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        return_std : bool, default False
            The deviations hold the noise, the doubt about the weights, and with a free intercept that about the constant;
            those of Student's t with two degrees of freedom or fewer are infinite.
        """
        X = self._read(X)
        if not return_std:
            return self._means(X)
        mean, scale = self._believed(X)
        return mean, scale * self._wider()

    def interval(self, X: Matrix, coverage: float = 0.9) -> tuple[FloatArray, FloatArray]:
        """Return the ends, each of shape (n,), of central intervals that hold a new target with this probability.

        That is a belief, right if prior, line and Gaussian noise are: of unknown noise quantiles of Student's t, else of the
        normal distribution.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        coverage : float, default 0.9
            Between 0 and 1.

        Examples
        --------
        >>> import numpy as np
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 3.0, 5.0, 7.5])
        >>> low, high = BayesianRegression(noise="unknown").fit(X, y).interval(np.array([[1.5]]))
        >>> low.round(2).tolist(), high.round(2).tolist()
        ([3.64], [4.61])
        """
        number = isinstance(coverage, int | float | np.number) and not isinstance(coverage, bool)
        if not (number and 0.0 < coverage < 1.0):
            msg = f"BayesianRegression.interval: coverage must be between 0 and 1. Got {coverage!r} instead."
            raise InputError(msg)
        mean, scale = self._believed(self._read(X))
        half = scale * stats.t.ppf(0.5 + 0.5 * coverage, getattr(self, "degrees_of_freedom_", np.inf))
        return mean - half, mean + half

    def _wider(self) -> float:
        """Return by how much a standard deviation is larger than the scale of its t distribution; 1 of a normal one."""
        freedom = getattr(self, "degrees_of_freedom_", np.inf)
        if freedom == np.inf:
            return 1.0
        return float(np.sqrt(freedom / (freedom - 2.0))) if freedom > 2.0 else np.inf

    def _believed(self, X: Matrix) -> tuple[FloatArray, FloatArray]:
        """Return mean and scale of the predictions for checked X, each of shape (n,)."""
        mean = self._means(X)
        centre = np.asarray(self._sums["x_mean"])
        design = Design(X, np.ones(X.shape[0]), self._clamp, centre)

        def variance(start: int, stop: int) -> FloatArray:
            block = design.rows(start, stop)
            return np.asarray(np.einsum("ij,ij->i", block @ self.covariance_, block))

        with one_blas_thread():
            doubt = np.concatenate(design.in_rows(variance, design.D))
        noise = (1.0 + (1.0 / self._sums["total"] if self._free else 0.0)) / self.noise_precision_
        return mean, np.sqrt(doubt + noise)

    def sample_posterior(self, n: int = 1, random_state: Any = None) -> tuple[FloatArray, FloatArray]:
        """Draw weights from the posterior.

        Parameters
        ----------
        n : int, default 1
            Number of draws.
        random_state : int, RandomState or None
            Seed.

        Returns
        -------
        coefs : ndarray, shape (n, d)
            Weights.
        intercepts : ndarray, shape (n,)
            Constants that go with them.

        Examples
        --------
        >>> import numpy as np
        >>> X, y = np.array([[1.0], [2.0]]), np.array([1.0, 3.0])
        >>> model = BayesianRegression(prior_precision=1.0, noise_precision=1.0).fit(X, y)
        >>> coefs, intercepts = model.sample_posterior(5, random_state=0)
        >>> coefs.shape, intercepts.shape
        ((5, 1), (5,))
        """
        check_is_fitted(self)
        if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 1:
            msg = f"BayesianRegression.sample_posterior: n must be a positive integer. Got {n!r} instead."
            raise InputError(msg)
        rng = check_random_state(random_state)
        values, vectors = linalg.eigh(self.covariance_)
        d, D = self.n_features_in_, values.size
        freedom = getattr(self, "degrees_of_freedom_", np.inf)
        spread = np.ones(n) if freedom == np.inf else np.sqrt(freedom / rng.chisquare(freedom, n))  # a noise for each draw
        moves = spread[:, None] * rng.standard_normal((n, D)) * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
        coefs = self.coef_ + moves[:, :d]
        if not self._free:
            return coefs, self.intercept_ + self._clamp * moves[:, d:].sum(axis=1)
        own = spread * rng.standard_normal(n) / np.sqrt(self.noise_precision_ * self._sums["total"])
        return coefs, self._sums["y_mean"] - coefs @ self._sums["x_mean"] + own

    def summary(self) -> str:
        """Return a table: the posterior mean and standard deviation of each weight, by the feature's name.

        Examples
        --------
        >>> import numpy as np
        >>> X, y = np.array([[1.0], [2.0]]), np.array([1.0, 3.0])
        >>> model = BayesianRegression(prior_precision=1.0, noise_precision=1.0, intercept="clamped").fit(X, y)
        >>> print(model.summary())
        feature           weight     std. dev.
        x0                     1       0.57735
        (constant)       0.33333        0.8165
        2 examples, 1 effective weights, noise 1, prior 1, log evidence -3.7698
        """
        check_is_fitted(self)
        d, variances = self.n_features_in_, np.diag(self.covariance_)
        centre = np.append(self._sums["x_mean"], np.zeros(variances.size - d))
        free = centre @ self.covariance_ @ centre + 1.0 / (self.noise_precision_ * self._sums["total"])
        constant = free if self._free else self._clamp**2 * variances[d:].sum()
        deviations = self._wider() * np.sqrt(np.append(variances[:d], constant))
        noise, prior = 1.0 / np.sqrt(self.noise_precision_), 1.0 / np.sqrt(self.prior_precision_)
        last = (
            f"{self._rows:,} examples, {self.gamma_:.5g} effective weights, noise {noise:.5g}, prior {prior:.5g}, "
            f"log evidence {self.log_evidence_:.5g}"
        )
        return "\n".join([*table(self, np.append(self.coef_, self.intercept_), deviations, "std. dev."), last])


def _explained(found: Posterior, unset: tuple[str, ...], certificate: GaussianPosterior) -> Outcome:
    """Say what was inferred, and where the evidence has no maximum."""
    noise, prior = 1.0 / np.sqrt(found.beta), 1.0 / np.sqrt(found.alpha)
    how = f"Solved: {certificate}. Noise {noise:.4g}, prior {prior:.4g} (standard deviations)"
    how += "; the evidence is largest there." if unset and not found.at_edge else "."
    sentence, remedy = {
        "": ("", ""),
        "high": (
            "The evidence has no maximum: the data show no linear effect.",
            "Look for other features, or give prior_precision.",
        ),
        "low": (
            "The evidence has no maximum: it rises as the ridge α/β vanishes: the targets are fitted without noise.",
            "Give noise_precision.",
        ),
    }[found.at_edge]
    return Outcome("solved", f"{how} {sentence}".strip(), remedy)
