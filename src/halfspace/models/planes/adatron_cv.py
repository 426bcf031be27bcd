"""The AdaTron whose cap is chosen by cross-validation."""

import time
import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.metrics import check_scoring

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.models.cv import CrossValidated
from halfspace.models.multiclass import tasks_of
from halfspace.models.parameters import (
    Examples,
    budget_of,
    read_caps,
    read_examples,
    require_number,
    require_switch,
    restored_on_error,
)
from halfspace.models.planes.adatron import AdaTron
from halfspace.models.planes.adatron_path import climb
from halfspace.models.planes.large_margin import Fitting
from halfspace.rows.labels import example_weights
from halfspace.rows.threads import n_workers, one_blas_thread, side_by_side
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.run import SMALL, Budget, Shares

__all__ = ["AdaTronCV"]


class AdaTronCV(CrossValidated):
    """An AdaTron whose cap is chosen by stratified cross-validation.

    The data are checked and read once; in every fold the caps are climbed from the smallest, each fit starting where the
    last one ended; folds run side by side.

    Parameters
    ----------
    Cs : sequence of float, default (0.001, 0.01, 0.1, 1, 10, 100)
        Caps to choose from.
    cv : int or splitter, default 5
        Number of stratified folds, shuffled by `random_state`, or a scikit-learn splitter.
    one_standard_error : bool, default False
        Take the smallest cap whose mean score is within one standard error of the best: the simplest model that is as good.
    scoring : str or callable, optional
        What to score by; accuracy by default.
    cv_tol : float, optional
        Relative duality gap at which to stop inside the cross-validation; `tol` by default.
    tol, intercept, intercept_scaling, max_iter, class_weight, n_jobs, verbose, random_state
        As for `AdaTron`.
    max_time : float, optional
        Time limit in seconds; the search stops at four fifths of it, and the best cap so far is fitted.

    Attributes
    ----------
    C_ : float
        The cap chosen.
    estimator_ : AdaTron
        The model fitted to all examples with that cap; `certificate_`, `outcome_`, `coef_`, `intercept_` are its own.
    scores_ : ndarray, shape (m, folds)
        Score of every cap in every fold.
    mean_scores_, standard_errors_ : ndarray, shape (m,)
        Their means and standard errors.
    classes_, n_features_in_
        As in scikit-learn.

    Examples
    --------
    >>> import halfspace as hs
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = hs.AdaTronCV(Cs=[0.001, 0.1, 10.0]).fit(scale(X), y)
    >>> model.C_, bool(model.certificate_.verify(scale(X), y))
    (0.1, True)
    """

    learnt: ClassVar[dict[str, Any]] = {"estimator_": "model:AdaTron"}

    def __init__(
        self,
        *,
        Cs: Sequence[float] = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0),
        cv: Any = 5,
        one_standard_error: bool = False,
        scoring: Any = None,
        tol: float = 1e-4,
        cv_tol: float | None = None,
        intercept: str = "clamped",
        intercept_scaling: float = 1.0,
        max_iter: int = 10_000,
        max_time: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = 0,
    ) -> None:
        self.Cs = Cs
        self.cv = cv
        self.one_standard_error = one_standard_error
        self.scoring = scoring
        self.tol = tol
        self.cv_tol = cv_tol
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.max_time = max_time
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _model(self, C: float, *, n_jobs: int | None, tol: float | None = None) -> AdaTron:
        """Return an unfitted AdaTron with a cap and the parameters of this one, but perhaps for the tolerance."""
        shared = ("intercept", "intercept_scaling", "max_iter", "max_time", "class_weight", "random_state")
        own = {name: getattr(self, name) for name in shared}
        return AdaTron(C=C, n_jobs=n_jobs, tol=self.tol if tol is None else tol, **own)

    def fit(self, X: Matrix, y: Labels, sample_weight: Any = None) -> Self:
        """Choose the cap and learn from all examples with it.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        y : array, shape (n,)
            Labels.
        sample_weight : array, shape (n,), optional
            Multiplies the caps per example in every fold; scores are not weighted.
        """
        with restored_on_error(self):
            began = time.perf_counter()
            caps = read_caps(self.Cs, type(self).__name__)
            require_switch(self, "one_standard_error")
            if self.cv_tol is not None:
                require_number(self, "cv_tol")
            asked = self._model(caps[0], n_jobs=self.n_jobs)
            asked.verbose = self.verbose
            asked._check_parameters()  # noqa: SLF001
            data = read_examples(self, X, y, asked._asked_clamp())  # noqa: SLF001
            data.inspection()
            s = example_weights(self.class_weight, sample_weight, data.classes, data.target, type(self).__name__)
            self.classes_ = data.classes
            tasks = tasks_of(data, s)
            budget = budget_of(asked, began, (1 + len(tasks)) * data.entries)
            self.scores_ = self._scores(data, s, caps, budget)
            with np.errstate(invalid="ignore"), warnings.catch_warnings(action="ignore", category=RuntimeWarning):
                self.mean_scores_ = np.nanmean(self.scores_, axis=1)  # NaN: there was no time for it
                self.standard_errors_ = np.nanstd(self.scores_, axis=1, ddof=1) / np.sqrt(self.scores_.shape[1])
            known = [m for m in range(len(caps)) if np.isfinite(self.mean_scores_[m])]
            best = max(known, key=lambda m: (self.mean_scores_[m], -caps[m]))
            spare = np.nan_to_num(self.standard_errors_[best]) if self.one_standard_error else 0.0
            self.C_ = min(caps[m] for m in known if self.mean_scores_[m] >= self.mean_scores_[best] - spare)
            self.estimator_ = self._model(self.C_, n_jobs=self.n_jobs)
            self.estimator_.verbose = self.verbose
            names = {"n_features_in_", "feature_names_in_"}
            self.estimator_.__dict__.update({name: value for name, value in vars(self).items() if name in names})
            self.estimator_._learn(Fitting.of(data, s), tasks, {}, budget, (X, y))  # noqa: SLF001
            return self

    def _scores(self, data: Examples, s: FloatArray, caps: list[float], budget: Budget) -> FloatArray:
        """Return the score of every cap in every fold; NaN where the time was over before, but for one."""
        folds, left = [test for _, test in self._folds(data)], budget.left()
        workers = 1 if data.entries < SMALL else n_workers(self.n_jobs, len(folds))
        shares = Shares.of(budget._replace(max_time=left and 0.8 * left), workers, len(folds))
        tol = self.tol if self.cv_tol is None else self.cv_tol

        def work(test: IntArray) -> list[float]:
            own = shares.next()
            if own.max_time == 0.0 and begun:
                return [np.nan] * len(caps)
            begun.append(True)
            kept = s.copy()
            kept[test] = 0.0
            models = [self._model(C, n_jobs=1, tol=tol) for C in caps]
            climb(models, Fitting.of(data, kept), tasks_of(data, kept), (None, None), own, certify=False)
            return [self._score(model, data, test) if hasattr(model, "classes_") else np.nan for model in models]

        begun: list[bool] = []
        with one_blas_thread():
            return np.array(side_by_side(work, folds, workers)).T

    def _score(self, model: AdaTron, data: Examples, test: IntArray) -> float:
        """Score a model on examples it has not seen."""
        X, y = data.X[test], data.y[test]
        if self.scoring is None:
            return float(np.mean(model.predict(X) == y))
        return float(check_scoring(model, self.scoring)(model, X, y))

    # ------------------------------------------------------------ the model chosen
    @property
    def outcome_(self) -> Outcome:
        """Why the last fit stopped."""
        outcome: Outcome = self._chosen().outcome_
        return outcome

    @property
    def coef_(self) -> FloatArray:
        """Weights of the features, shape (K, d)."""
        weights: FloatArray = self._chosen().coef_
        return weights
