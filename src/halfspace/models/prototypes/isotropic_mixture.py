"""The mixture of isotropic Gaussians, learnt by expectation and maximisation."""

import time
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.certificates.prototypes.mixture import MixtureLikelihood
from halfspace.models import parameters as _checks
from halfspace.models.certified import Certified
from halfspace.models.parameters import UNLABELLED, read_matrix, require_choice, require_number
from halfspace.models.progress import Reporter
from halfspace.models.prototypes.starts import first_prototypes, row_weights
from halfspace.rows.views import view_of
from halfspace.solvers.outcome import Outcome, Reason
from halfspace.solvers.prototypes.em import Climb, Climbing, State, quantised, spread
from halfspace.solvers.prototypes.mixture import Common, Each, Fixed, Mixture, Sigma, carried, responsibilities
from halfspace.solvers.run import Budget, Progress, run

__all__ = ["IsotropicMixture"]

NO_SPREAD = 1e-140
"""Deviation below which rows count as all the same: squares of the smallest sigma would underflow."""
PASSES, RATE = 4, 1.5e8
"""Passes over the rows that the shortest climb makes with its proof; differences of rows and centres, by number, a second."""


class IsotropicMixture(Certified, DensityMixin, CallbackSupportMixin, BaseEstimator):
    """A mixture of isotropic Gaussians: prototypes with a width and a weight, and a share of every row in each.

    EM raises the likelihood in every step and ends near one of its many maxima. With sigma -> 0 it is K-means.

    Parameters
    ----------
    n_prototypes : int, default 8
        Number K of Gaussians.
    sigma : {"common", "each"} or float, default "common"
        Their deviation: one for all, one for each, or a number that is not learnt.
    sigma_floor : float, default 1e-4
        Smallest sigma to be learnt, as a share of the deviation of all rows. Without a floor the likelihood has no maximum: a
        prototype on a single row makes it infinite.
    init : {"k-means++", "farthest", "sample"} or array, shape (K, d), default "k-means++"
        First prototypes: rows far apart by chance (Arthur and Vassilvitskii 2007), rows far apart without chance (Gonzalez
        1985), random rows, or those given. One step of K-means from there makes the first mixture.
    n_starts : int, default 1
        Starts of which the likeliest is kept; one is made where there is no chance in the start.
    max_iter : int, default 1000
        Most EM steps of a start.
    tol : float, default 1e-5
        Stop when a step would raise the log-likelihood by no more than this per row.
    max_time : float, optional
        Time limit in seconds, for all starts together; the best mixture so far is kept.
    warm_start : bool, default False
        Go on from the last mixture, if it has the same shape.
    verbose : int, default 0
        1: a line every half second; 2: a line every step.
    random_state : int, RandomState or None
        Seed of the starts.

    Attributes
    ----------
    prototypes_ : ndarray, shape (K, d)
        Centres of the Gaussians.
    sigma_ : float, or ndarray of shape (K,) with sigma="each"
        Deviation in every direction.
    weights_ : ndarray, shape (K,)
        Shares of the Gaussians, which sum to 1; 0 for one that no row belongs to.
    log_likelihood_ : float
        Sum of the log densities of the rows, with their weights.
    certificate_ : MixtureLikelihood
        The log-likelihood and the gain of one more step, recomputed from the data by `verify(X)`.
    history_ : dict
        "log_likelihood": at the start and after every step, shape `(n_iter_ + 1,)`; it never falls.
    outcome_, n_iter_, n_features_in_
        Why it stopped, steps of the start that was kept, number of features.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-5.0], [-6.0], [-4.0], [5.0], [4.0], [6.0]])
    >>> model = IsotropicMixture(2, random_state=0).fit(X)
    >>> np.sort(model.prototypes_.ravel()).round(3).tolist(), round(model.sigma_, 3), model.weights_.round(3).tolist()
    ([-5.0, 5.0], 0.816, [0.5, 0.5])
    >>> bool(model.certificate_.verify(X))
    True
    """

    learnt: ClassVar[dict[str, Any]] = {
        **UNLABELLED,
        "prototypes_": "finite8(P,d)",
        "sigma_": "finite > 0 | finite8(P) > 0",
        "weights_": "finite8(P) >= 0",
        "log_likelihood_": "number",
    }

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:  # noqa: ARG003  (the same for all models)
        """Refuse weights that are no shares."""
        if not abs(fitted["weights_"].sum() - 1.0) < 1e-9:
            raise ValueError("IsotropicMixture: its weights do not add up to 1")

    def __init__(
        self,
        n_prototypes: int = 8,
        *,
        sigma: str | float = "common",
        sigma_floor: float = 1e-4,
        init: Any = "k-means++",
        n_starts: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-5,
        max_time: float | None = None,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_prototypes = n_prototypes
        self.sigma = sigma
        self.sigma_floor = sigma_floor
        self.init = init
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.tol = tol
        self.max_time = max_time
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Say that sparse matrices are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # ------------------------------------------------------------ learning
    @with_callbacks
    def fit(self, X: Matrix, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from examples.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        y : ignored
            There for scikit-learn's pipelines.
        sample_weight : array, shape (n,), optional
            Weights >= 0 of the rows; a weight of 2 is the same as a row twice.
        """
        with _checks.restored_on_error(self):
            return self._learn(X, y, sample_weight)

    def fit_predict(self, X: Matrix, y: Any = None, sample_weight: Any = None) -> IntArray:
        """Learn from examples X, shape (n, d), and return the likeliest Gaussian of each, shape (n,)."""
        self.fit(X, y, sample_weight)
        return self.predict(X)

    def _check_parameters(self) -> None:
        _checks.check_common(self)
        if isinstance(self.sigma, str):
            require_choice(self, "sigma", "common", "each")
        else:
            require_number(self, "sigma")
        require_number(self, "sigma_floor", least=1e-7)
        require_number(self, "tol", least=0.0)
        if isinstance(self.init, str):
            require_choice(self, "init", "k-means++", "farthest", "sample")

    def _learn(self, X: Matrix, y: Any, sample_weight: Any) -> Self:
        began = time.perf_counter()
        self._check_parameters()
        old = self._mixture() if self.warm_start and hasattr(self, "prototypes_") else None
        given, X = X, read_matrix(self, X, reset=True)
        view, _ = _checks.usable_rows(X, None, type(self).__name__)
        s, rng = row_weights(self, X, sample_weight), check_random_state(self.random_state)
        given_weights, kept = s, self._affordable(s, X.shape[1], began, rng)
        if kept is not None:
            X, s = X[kept], s[kept]
            view = view_of(X)
        found = spread(view, s)
        scale = found if found > NO_SPREAD else 1.0  # rows that are all the same have no scale
        rule, by_chance = self._rule(scale), isinstance(self.init, str) and self.init != "farthest"
        known = old is not None and old.centres.shape == (self.n_prototypes, X.shape[1])

        def first() -> Mixture:
            if old is not None and known:
                return old._replace(sigmas=carried(old, rule))
            return quantised(view, s, first_prototypes(self, X, view, s, rng), scale, rule)

        starts = int(self.n_starts) if by_chance and not known else 1
        method = Climbing(view, s, rule, self.tol * float(s.sum()), int(self.max_iter), first, starts)
        state: Any = State()

        def text(at: Progress) -> str:
            course = at.state.climb.course
            return f"step {len(course) - 1}: log-likelihood {course[-1] / s.sum():.6g} a row"

        most = int(self.max_iter) * starts
        reporter = Reporter(self, given, y, lambda: self._attributes(state.climb.mixture), most, text)
        end = run(method, Budget(most, self.max_time, began=began), state, reporter.watch)
        if state.best is None:
            raise KeyboardInterrupt
        self.outcome_ = self._explained(state.best, end.outcome.reason, rule, float(s.sum()))
        if kept is not None:
            sample = f"Learnt from a sample of {kept.size:,} of {given_weights.size:,} rows, for want of time."
            self.outcome_ = Outcome("time budget spent", f"{sample} {self.outcome_.sentence}", self.outcome_.remedy)
            s = np.zeros(given_weights.size)
            s[kept] = given_weights[kept]
        reporter.line(str(self.outcome_))
        reporter.close()
        self._conclude(state.best, rule, s, weighted=sample_weight is not None or kept is not None)
        return self

    def _affordable(self, s: FloatArray, d: int, began: float, rng: Any) -> IntArray | None:
        """Return a sample of the rows whose weights s, shape (n,), are not 0, if PASSES over all would take too long."""
        if self.max_time is None:
            return None
        left, some = began + float(self.max_time) - time.perf_counter(), np.flatnonzero(s)
        most = max(int(0.6 * left * RATE / (PASSES * int(self.n_prototypes) * (d + 4))), int(self.n_prototypes) + 1)
        return None if some.size <= most else np.sort(rng.choice(some, most, replace=False))

    def _rule(self, scale: float) -> Sigma:
        """Return how sigma is set."""
        floor = float(self.sigma_floor) * scale
        if isinstance(self.sigma, str):
            return Common(floor) if self.sigma == "common" else Each(floor)
        return Fixed(float(self.sigma))

    def _attributes(self, mixture: Mixture) -> dict[str, Any]:
        """Return the fitted attributes that are the mixture."""
        sigma = mixture.sigmas if self.sigma == "each" else float(mixture.sigmas[0])
        return {"prototypes_": mixture.centres, "sigma_": sigma, "weights_": mixture.weights}

    def _conclude(self, end: Climb, rule: Sigma, s: FloatArray, *, weighted: bool) -> None:
        """Store what was learnt and its proof."""
        self.__dict__.update(self._attributes(end.mixture))
        self.log_likelihood_ = end.course[-1]
        self.n_iter_, self.history_ = len(end.course) - 1, {"log_likelihood": np.array(end.course)}
        sigma = ("fixed", 0.0) if isinstance(rule, Fixed) else (str(self.sigma), rule.floor)
        self.certificate_ = MixtureLikelihood.of(
            end.mixture, end.found, end.gain, n=s.size, sigma=sigma, s=s if weighted else None, course=end.course
        )

    def _explained(self, end: Climb, reason: Reason, rule: Sigma, rows: float) -> Outcome:
        """Say why the climb ended, how far it came, and what is odd about the mixture."""
        text = f"{reason.capitalize()} after {len(end.course) - 1} EM steps: log-likelihood {end.course[-1] / rows:.6g} a row,"
        text += f" one more step would add {max(end.gain, 0.0) / rows:.2g} (tol={self.tol:g})."
        remedy = [] if reason == "converged" else ["Raise max_iter or max_time, or go on with warm_start=True."]
        floored = 0 if isinstance(rule, Fixed) else int((end.mixture.sigmas <= rule.floor).sum())
        empty = int((end.mixture.weights == 0.0).sum())
        if floored:
            text += (
                f" sigma of {floored} of {self.n_prototypes} prototypes stands at its floor: they sit on equal or single rows."
            )
            remedy.append("Lower n_prototypes, take sigma='common', or change sigma_floor.")
        if empty:
            text += f" {empty} prototypes have no rows."
            remedy.append("Lower n_prototypes, or try another init.")
        return Outcome(reason, text, " ".join(remedy))

    # ------------------------------------------------------------ using what was learnt
    def _mixture(self) -> Mixture:
        """Return what was learnt as a value."""
        return Mixture(self.weights_, self.prototypes_, np.full(self.weights_.size, self.sigma_))

    def _measured(self, X: Matrix) -> tuple[FloatArray, FloatArray]:
        """Return responsibilities and log densities of new rows."""
        check_is_fitted(self)
        X = X if _checks.is_ready(self, X) else read_matrix(self, X, reset=False)
        return responsibilities(_checks.usable_rows(X, None, type(self).__name__)[0], self._mixture())

    def responsibilities(self, X: Matrix) -> FloatArray:
        """Return how much of each row of X, shape (n, d), belongs to each prototype, shape (n, K); rows sum to 1."""
        return self._measured(X)[0]

    def predict(self, X: Matrix) -> IntArray:
        """Return the prototype that each row of X, shape (n, d), belongs to most, shape (n,); of equals the first."""
        winners: IntArray = self.responsibilities(X).argmax(axis=1)
        return winners

    def score_samples(self, X: Matrix) -> FloatArray:
        """Return the log density at each row of X, shape (n,)."""
        return self._measured(X)[1]

    def score(self, X: Matrix, y: Any = None) -> float:
        """Return the mean log density at the rows of X, shape (n, d)."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[FloatArray, IntArray]:
        """Draw rows, shape (n_samples, d), and return them with the prototypes they came from, shape (n_samples,)."""
        check_is_fitted(self)
        rng, mixture = check_random_state(self.random_state if random_state is None else random_state), self._mixture()
        source = rng.choice(mixture.weights.size, n_samples, p=mixture.weights)
        noise = rng.standard_normal((n_samples, self.prototypes_.shape[1]))
        return mixture.centres[source] + mixture.sigmas[source, None] * noise, source

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters: prototypes, weights, and the deviations that are learnt."""
        K, d = self.prototypes_.shape
        return int(K * d + K - 1 + {"common": 1, "each": K}.get(str(self.sigma), 0))

    def bic(self, X: Matrix) -> float:
        """Return Schwarz' criterion on X, shape (n, d): lower is better."""
        log_densities = self.score_samples(X)
        return float(-2.0 * log_densities.sum() + self.n_parameters_ * np.log(log_densities.size))

    def aic(self, X: Matrix) -> float:
        """Return Akaike's criterion on X, shape (n, d): lower is better."""
        return float(-2.0 * self.score_samples(X).sum() + 2.0 * self.n_parameters_)
