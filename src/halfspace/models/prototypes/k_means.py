"""K-means: scikit-learn's own, with the outcome and the proof of this package."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Self, cast
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse
from sklearn import cluster, config_context
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from halfspace._matrices import admitted
from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.certificates.arithmetic import plain_floats
from halfspace.certificates.prototypes.quantisation import Quantisation, dense_blocks, own_squares
from halfspace.errors import InputError
from halfspace.models.certified import Certified
from halfspace.models.parameters import (
    UNLABELLED,
    is_count,
    lent_generator,
    read_matrix,
    require,
    require_choice,
    require_number,
    restored_on_error,
    usable_rows,
)
from halfspace.models.progress import Reporter
from halfspace.models.prototypes.starts import row_weights
from halfspace.rows.threads import one_blas_thread
from halfspace.solvers.outcome import Outcome, Reason
from halfspace.solvers.prototypes.farthest_first import farthest_first
from halfspace.solvers.run import Budget, Progress, run

__all__ = ["KMeans"]

_PARAMETERS = frozenset(cluster.KMeans().get_params())

_LEARNT_FROM: WeakKeyDictionary[Any, tuple[Any, Any]] = WeakKeyDictionary()
"""The data of models whose certificate has not been asked for; not part of a model, so never pickled or saved with it."""


QUICK = 3e7
"""Distances of rows and prototypes that are computed in a second, where the machine is slow."""
DRAWN = 2e-3
"""Seconds to draw one prototype far from the others, at least."""
SPARE = 0.75
"""Part of the time left that a start may take by prediction."""


@dataclass
class _Tried:
    """Starts made, the attributes of the best, and whether time cut the last one and the best one short."""

    made: int = 0
    best: dict[str, Any] = field(default_factory=dict)
    cut: bool = False
    best_cut: bool = False


@dataclass
class _First:
    """First prototypes that are drawn once, and the seconds that took: a start can be made again from them."""

    draw: Any  # as scikit-learn's `init`: "k-means++", or a function
    sample_weight: Any
    left: float
    drawn: Any = None
    seconds: float = 0.0

    def __call__(self, X: Matrix, n_clusters: int, random_state: Any) -> Any:
        """Return the first prototypes for rows that scikit-learn has centred."""
        if self.drawn is None:
            began = time.perf_counter()
            if callable(self.draw):
                self.drawn = self.draw(X, n_clusters, random_state)
            else:
                self.drawn = self._spread(X, n_clusters, random_state)
            self.seconds = time.perf_counter() - began
        return self.drawn.copy()

    def _spread(self, X: Matrix, n_clusters: int, random_state: Any) -> Any:
        """Draw rows far apart, as scikit-learn does; of so many that it would take too long, from a sample, or any rows."""
        if n_clusters * DRAWN > SPARE * self.left:
            some = X[np.sort(random_state.choice(X.shape[0], n_clusters, replace=False))]
            return some.toarray() if hasattr(some, "toarray") else some
        tried, weight = X.shape[0] * n_clusters * (2.0 + np.log(n_clusters)) * (1.0 + X.shape[1] / 8), self.sample_weight
        most = max(int(X.shape[0] * min(1.0, SPARE * self.left * QUICK / tried)), n_clusters)
        if most < X.shape[0]:
            some = np.sort(random_state.choice(X.shape[0], most, replace=False))
            X, weight = X[some], None
        return cluster.kmeans_plusplus(X, n_clusters, sample_weight=weight, random_state=random_state)[0]


@dataclass(frozen=True)
class _Starts:
    """The method that makes one start after the other; a round is a whole fit by scikit-learn, or what there is time for."""

    model: Any
    X: Matrix
    sample_weight: Any
    count: int
    left: Callable[[], float | None] = lambda: None
    unit: ClassVar[str] = "start"
    columns: ClassVar[tuple[str, ...]] = ("error",)

    def start(self, before: Any = None) -> _Tried:
        """Return the state before the first start."""
        return before or _Tried()

    def step(self, state: _Tried, most: int) -> tuple[FloatArray, ...]:
        """Make a start, and keep it if it is the best."""
        del most
        left, best = self.left(), state.best
        fit = partial(self.model.fit, self.X, sample_weight=self.sample_weight)
        model = fit() if left is None else self._in_time(fit, state, left)
        if not best or (model.inertia_ < best["inertia_"] and not _same_cells(model.labels_, best["labels_"])):
            state.best, state.best_cut = dict(vars(model)), state.cut
        state.made += 1
        return (np.array([model.inertia_]),)

    def _in_time(self, fit: Callable[[], Any], state: _Tried, left: float) -> Any:
        """Make a start in the time left: at once if that is plenty, else with as many steps as one says there is time for.

        scikit-learn's loop cannot be stopped, but begun again from the same prototypes it does the same.
        """
        model, rows, size = self.model, self.X.shape[0], self.model.n_clusters * (1.0 + self.X.shape[1] / 8)
        asked = {"init": model.init, "max_iter": model.max_iter}
        if rows * size * (asked["max_iter"] + 10) < SPARE * left * QUICK:
            return fit()
        began, rng = time.perf_counter(), model.random_state.get_state()
        first = asked["init"]
        if callable(first) or (isinstance(first, str) and first == "k-means++"):
            first = _First(first, self.sample_weight, left)
        try:
            model.set_params(init=first, max_iter=1)
            fit()
            one = (time.perf_counter() - began - getattr(first, "seconds", 0.0)) / 2.0  # it measures the error, too
            most = int(min(asked["max_iter"], SPARE * (left - (time.perf_counter() - began)) / max(one, 1e-9) - 1.0))
            if most > 1:
                if first is asked["init"]:
                    model.random_state.set_state(rng)
                model.set_params(max_iter=most)
                fit()
            state.cut = model.n_iter_ >= max(most, 1) and max(most, 1) < asked["max_iter"]
        finally:
            model.set_params(**asked)
        return model

    def status(self, state: _Tried) -> Reason | None:
        """Return why nothing is left to do, or None."""
        if state.cut:
            return "time budget spent"
        return "passes done" if state.made >= self.count else None


class KMeans(Certified, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, CallbackSupportMixin, BaseEstimator):
    """K-means: each prototype is the mean of the rows nearest to it (Lloyd 1982).

    `sklearn.cluster.KMeans` does the work, and the results are its own to the last bit.

    Parameters
    ----------
    n_clusters : int, default 8
        Number K of prototypes.
    init : {"k-means++", "sample", "farthest"}, array of shape (K, d) or callable, default "k-means++"
        First prototypes: rows far apart by chance (Arthur and Vassilvitskii 2007), random rows (scikit-learn: "random"), rows
        far apart without chance (Gonzalez 1985), those given, or what `init(X, n_clusters, random_state)` returns.
    n_init : int or "auto", default "auto"
        Starts of which the one with the least error is kept; "auto" is 10 for "sample" and callables, else 1.
    max_iter : int, default 300
        Maximum number of steps per start.
    tol : float, default 1e-4
        Stop when the prototypes move by less than this, relative to the variance of the features; or when no row changes cells.
    max_time : float, optional
        Time limit in seconds. scikit-learn's loop cannot be stopped, so a start for which there may be no time makes a step to
        measure it, and then as many as there is time for; where even "k-means++" would take too long, it draws from a sample
        of the rows. Ctrl-C keeps the best start that is done if they are made one by one: with `max_time`, `verbose` or a
        callback. Else scikit-learn makes all in one call, and an interrupt leaves the model as it was; so does one during the
        first start.
    algorithm : {"lloyd", "elkan"}, default "lloyd"
        How distances are saved; the answer is the same.
    verbose : int, default 0
        1: a line per start, at most every half second; 2: every start, and scikit-learn's line for each step.
    random_state : int, RandomState or None
        Seed of the starts.

    Attributes
    ----------
    prototypes_, cluster_centers_ : ndarray, shape (K, d)
        The prototypes, by our name and by scikit-learn's.
    labels_ : ndarray of int, shape (n,)
        The nearest prototype of each row.
    inertia_ : float
        The quantisation error Σ s_i ‖x_i - w_label(i)‖².
    certificate_ : Quantisation
        Error, assignment, gain of one more step, and a bound below which no K prototypes can come; `verify(X)` recomputes them.
        Its labels are the nearest prototypes also where scikit-learn's `labels_` are not, by rounding or an early stop.
        Measured when first asked for, from the X that `fit` was given: so ask before changing that in place (an X whose error
        is no longer `inertia_` is refused). It is measured before a copy or a pickle is made, which take it with them.
    outcome_, n_iter_, n_features_in_
        Why it stopped, steps of the start that was kept, number of features.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [0.0, -1.0], [5.0, 1.0], [5.0, -1.0]])
    >>> model = KMeans(2, random_state=0).fit(X)
    >>> print(model.certificate_)
    error 4 with 2 prototypes, none below 4 (gap 0.00 %), a Lloyd step gains 0
    """

    learnt: ClassVar[dict[str, Any]] = {
        **{key: spec for key, spec in UNLABELLED.items() if key not in ("?certificate_", "?history_")},
        "cluster_centers_": "rows(P,d)",
        "labels_": "i4(n) in 0..P",
        "inertia_": "number",
        "_certificate": "none | certificate",
        "_tol": "number",
        "_algorithm": "str",
        "_n_features_out": "=P",
        "_n_init": "int",
        "_n_threads": "int in 1..4097",
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        max_time: float | None = None,
        algorithm: str = "lloyd",
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.max_time = max_time
        self.algorithm = algorithm
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Say that sparse matrices are welcome, and that single precision is kept."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
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
            Weights >= 0 of the rows.
        """
        with restored_on_error(self), one_blas_thread():  # whose threads would spin while rows far apart are drawn
            began = time.perf_counter()
            self._check_parameters()
            X = admitted(X, type(self).__name__)
            one_by_one = self.max_time is not None or self.verbose or getattr(self, "_skl_callbacks", None)
            if sample_weight is not None:
                sample_weight = row_weights(self, read_matrix(self, X, reset=True), sample_weight)
            try:
                if one_by_one:
                    best, reason, cut = self._best_in_time(X, y, sample_weight, began)
                else:
                    seeded = self.random_state is None or is_count(self.random_state) or self.random_state == 0
                    checked = isinstance(self.init, str) and seeded
                    sure = checked and plain_floats(X)
                    with (
                        config_context(skip_parameter_validation=checked, assume_finite=sure),
                        lent_generator(self.random_state if seeded else None) as rng,
                    ):
                        model = self._scikit(X, sample_weight, random_state=rng if seeded else self.random_state)
                        best, reason, cut = model.fit(X, sample_weight=sample_weight), None, False
            except InputError:
                raise
            except ValueError as error:
                raise InputError(str(error)) from error
            self.__dict__.update(_learnt(best))
            self.outcome_ = self._explained(reason, cut=cut)
        self._certificate: Quantisation | None = None
        _LEARNT_FROM[self] = X, sample_weight
        return self

    def _check_parameters(self) -> None:
        for name in ("n_clusters", "max_iter"):
            require(self, name, "a positive integer", holds=is_count(getattr(self, name)))
        require(self, "n_init", "a positive integer or 'auto'", holds=self.n_init == "auto" or is_count(self.n_init))
        require_number(self, "tol", least=0.0)
        require_choice(self, "algorithm", "lloyd", "elkan")
        if isinstance(self.init, str):
            require_choice(self, "init", "k-means++", "sample", "farthest")
        if self.max_time is not None:
            require_number(self, "max_time")
        require(self, "verbose", "a whole number >= 0", holds=isinstance(self.verbose, int | np.integer) and self.verbose >= 0)

    def _scikit(self, X: Matrix, sample_weight: Any, **changed: Any) -> Any:
        """Return the scikit-learn estimator of these parameters."""
        parameters = {
            "n_clusters": self.n_clusters,
            "init": self._first(X, sample_weight),
            "n_init": self.n_init,
            "max_iter": self.max_iter,
            "tol": self.tol,
            "algorithm": self.algorithm,
            "verbose": int(self.verbose > 1),
            "random_state": self.random_state,
        }
        return cluster.KMeans(**{**parameters, **changed})

    def _first(self, X: Matrix, sample_weight: Any) -> Any:
        """Return where to start, in scikit-learn's words."""
        if not isinstance(self.init, str) or self.init == "k-means++":
            return self.init
        if self.init == "sample":
            return "random"
        X = read_matrix(self, X, reset=True)
        view, _ = usable_rows(X, None, type(self).__name__)
        return farthest_first(view, row_weights(self, X, sample_weight), int(self.n_clusters))

    def _best_in_time(self, X: Matrix, y: Any, sample_weight: Any, began: float) -> tuple[Any, Reason | None, bool]:
        """Make one start after the other, as scikit-learn would; say what else ended it."""
        chance = callable(self.init) or (isinstance(self.init, str) and self.init == "sample")
        count = (10 if chance else 1) if self.n_init == "auto" else int(self.n_init)
        model = self._scikit(X, sample_weight, n_init=1, random_state=check_random_state(self.random_state))
        budget = Budget(count, self.max_time, began=began)
        starts = _Starts(model, X if hasattr(X, "shape") else np.asarray(X), sample_weight, count, budget.left)

        def text(at: Progress) -> str:
            return f"start {at.round}: error {at.state.best['inertia_']:.6g}, {at.seconds:.1f} s"

        reporter = Reporter(self, X, y, lambda: _learnt(model), count, text)
        end = run(starts, budget, watch=reporter.watch)
        reporter.close()
        if not end.state.best:
            raise KeyboardInterrupt
        vars(model).update(end.state.best)
        return model, None if end.outcome.reason == "passes done" else end.outcome.reason, end.state.best_cut

    def _explained(self, reason: Reason | None, *, cut: bool) -> Outcome:
        """Say what was reached."""
        found = f"error {self.inertia_:.6g} with {self.n_clusters} prototypes"
        if self.n_iter_ >= self.max_iter:
            sentence = f"Stopped after max_iter={self.max_iter} steps, perhaps short of a fixed point: {found}."
            return Outcome(
                reason or "iteration budget spent", sentence, "Raise max_iter; certificate_.step_gain is what a step gains."
            )
        if cut:
            sentence = (
                f"Stopped after {self.n_iter_} steps (max_time={self.max_time:g}), perhaps short of a fixed point: {found}."
            )
            return Outcome("time budget spent", sentence, "Raise max_time; certificate_.step_gain is what a step gains.")
        sentence = f"Converged in {self.n_iter_} steps: {found}. Other starts may do better."
        if reason is None:
            return Outcome("converged", sentence)
        return Outcome(
            reason, f"{reason.capitalize()} before all {self.n_init} starts were made. Best: {sentence}", "Raise max_time."
        )

    # ------------------------------------------------------------ the proof
    @property
    def certificate_(self) -> Quantisation:
        """Error, assignment and bounds; measured when first asked for."""
        if getattr(self, "_certificate", None) is None:
            if self not in _LEARNT_FROM:
                msg = "this KMeans is not fitted, or a copy that no longer knows its data: call fit(X) or certify(X)"
                raise AttributeError(msg)
            X, s = _LEARNT_FROM[self]
            X = read_matrix(self, X, reset=False)
            proof = self._measured(X, s)
            same = np.array_equal(proof.labels, self.labels_)
            _require_unchanged(self, X, s, proof.error if same else _error(self, X, s))
            self._certificate = proof
            del _LEARNT_FROM[self]
        return cast("Quantisation", self._certificate)

    def __getstate__(self) -> Any:
        """Return what a copy or a pickle holds: the proof too, since a copy does not know X."""
        if self in _LEARNT_FROM:
            with suppress(InputError):  # X has been changed since: the copy is without a proof until it is certified
                _ = self.certificate_
        return super().__getstate__()

    def certify(self, X: Matrix, sample_weight: Any = None) -> Quantisation:
        """Measure the prototypes on examples X, shape (n, d), and keep the proof as `certificate_`."""
        check_is_fitted(self)
        X = read_matrix(self, X, reset=False)
        self._certificate = self._measured(X, None if sample_weight is None else row_weights(self, X, sample_weight))
        return self._certificate

    def _measured(self, X: Matrix, s: FloatArray | None) -> Quantisation:
        """Return the proof for rows and weights that were read."""
        with one_blas_thread():
            return Quantisation.measure(X, prototypes=self.cluster_centers_, sample_weight=s)

    @property
    def prototypes_(self) -> FloatArray:
        """The prototypes, shape (K, d)."""
        return np.asarray(self.cluster_centers_)

    # ------------------------------------------------------------ using what was learnt
    def _fitted_scikit(self) -> Any:
        """Return a scikit-learn estimator that knows what this one does."""
        check_is_fitted(self)
        model = cluster.KMeans(self.n_clusters)
        vars(model).update({name: value for name, value in _learnt(self).items() if name != "feature_names_in_"})
        return model

    def _read(self, X: Matrix) -> Matrix:
        """Return rows in the precision of the prototypes: scikit-learn's loops take one for both."""
        return read_matrix(self, X, reset=False).astype(self.cluster_centers_.dtype, copy=False)

    def predict(self, X: Matrix) -> IntArray:
        """Return the nearest prototype of each row of X, shape (n,)."""
        return np.asarray(self._fitted_scikit().predict(self._read(X)))

    def transform(self, X: Matrix) -> FloatArray:
        """Return the distances of the rows of X from the prototypes, shape (n, K)."""
        distances: FloatArray = self._fitted_scikit().transform(self._read(X))
        return distances

    def score(self, X: Matrix, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the quantisation error of the rows of X, shape (n, d)."""
        return float(self._fitted_scikit().score(self._read(X), y, sample_weight))


def _learnt(model: Any) -> dict[str, Any]:
    """Return the attributes of an estimator that are not parameters of scikit-learn's, numbers as Python's own."""
    learnt = {name: value for name, value in vars(model).items() if name not in _PARAMETERS}
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in learnt.items()}


def _same_cells(labels: IntArray, others: IntArray) -> bool:
    """Tell whether two labellings cut the rows into the same cells, however these are numbered."""
    pairs = np.unique(np.stack([labels, others]), axis=1)
    return bool(pairs.shape[1] == np.unique(labels).size)


def _error(model: Any, X: Matrix, s: FloatArray | None) -> float:
    """Return the error of rows X, weighted by s, as they are labelled."""
    W = np.asarray(model.prototypes_, dtype=np.float64)
    squares = np.concatenate([own_squares(block - W[model.labels_[rows]])[0] for rows, block in dense_blocks(X, X.shape[1])])
    return float(squares.sum() if s is None else s @ squares)


def _require_unchanged(model: Any, X: Matrix, s: FloatArray | None, error: float) -> None:
    """Refuse rows X, weighted by s, that are not those a model was fitted to: their error, as labelled, is not `inertia_`.

    √error is the length of all differences x - w taken together: rounding the prototypes by r each changes it by at most
    r √(Σ s_i). Sums may be in the precision of the rows, and expanded (‖x‖² - 2 x·w + ‖w‖²) where these are sparse.
    """
    W, total = np.asarray(model.prototypes_, dtype=np.float64), X.shape[0] if s is None else s.sum()
    precision = np.finfo(X.dtype)
    step = np.sqrt(precision.eps) if sparse.issparse(X) else precision.eps
    reach = step * np.sqrt((W * W).sum(axis=1).max()) + np.sqrt(X.shape[1] * precision.tiny)
    spare = (1e-6 + X.shape[0] * precision.eps) * np.sqrt(model.inertia_) + 16.0 * np.sqrt(total) * reach
    if not abs(np.sqrt(error) - np.sqrt(model.inertia_)) <= spare:
        msg = (
            f"{type(model).__name__}: the X that fit was given has been changed since: its error is {error:.6g}, "
            f"but inertia_ is {model.inertia_:.6g}. Ask for certificate_ before changing X, or certify(X) with the old rows."
        )
        raise InputError(msg)
