"""Probabilities for any classifier of this package."""

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from halfspace._learnt import Learnt
from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.certificates import Certificate, Verdict
from halfspace.certificates.log_odds import LogOdds
from halfspace.errors import InputError
from halfspace.models.certified import Certified
from halfspace.models.parameters import is_count, read_matrix, require, restored_on_error
from halfspace.models.planes.adatron import AdaTron
from halfspace.rows.labels import read_classes
from halfspace.rows.threads import one_blas_thread
from halfspace.solvers.outcome import Outcome

__all__ = ["Calibrated"]


class Calibrated(Learnt, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier with probabilities that come true: `predict_proba` for an AdaTron, a kernel machine, a perceptron.

    The classifier is fitted to all examples, and to all but one fold in turn. From the outputs for the examples left out,
    log-odds are learnt as a curve that rises with the output (`halfspace.certificates.log_odds`); `class_weight` of the
    classifier does not distort them. The predicted class is the most probable one, which need not be the side of the plane.

    Parameters
    ----------
    estimator : classifier, optional
        A classifier of this package with `decision_function`; by default `AdaTron()`.
    cv : int, default 5
        Folds, stratified; fewer if a class has fewer examples.
    random_state : int, default 0
        Seed of the folds.

    Attributes
    ----------
    estimator_ : classifier
        The one fitted to all examples.
    calibration_ : LogOdds
        From its outputs to probabilities.
    out_of_fold_ : ndarray, shape (n,) or (n, K)
        Outputs for examples left out.
    certificate_, outcome_ : Certificate, Outcome
        Those of `estimator_`.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import halfspace as hs
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = hs.Calibrated(hs.HebbClassifier()).fit(X, y)
    >>> model.predict_proba(X[:2]).shape, bool(model.verify(X, y))
    ((2, 2), True)
    """

    learnt: ClassVar[dict[str, Any]] = {
        "n_features_in_": "=d",
        "?feature_names_in_": "names(d)",
        "classes_": "distinct(c)",
        "estimator_": "model",
        "calibration_": LogOdds,
        "out_of_fold_": "finite8(n) | finite8(n,c)",
    }

    def __init__(self, estimator: Any = None, *, cv: int = 5, random_state: int = 0) -> None:
        self.estimator = estimator
        self.cv = cv
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Take sparse rows where the classifier does."""
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._asked()).input_tags
        return tags

    def _asked(self) -> Any:
        """Return the classifier that is asked for."""
        return AdaTron() if self.estimator is None else self.estimator

    def fit(self, X: Matrix, y: Labels) -> Self:
        """Fit the classifier and its probabilities.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        y : array, shape (n,)
            Labels of two or more classes, of each at least 2 examples.

        Returns
        -------
        self
        """
        with restored_on_error(self), one_blas_thread():
            asked = self._asked()
            ours = isinstance(asked, Certified) and isinstance(asked, ClassifierMixin) and hasattr(asked, "decision_function")
            require(self, "estimator", "None or a classifier of halfspace with decision_function", holds=ours)
            require(self, "cv", "a whole number of at least 2", holds=is_count(self.cv) and self.cv >= 2)
            X, y = read_matrix(self, X, y, reset=True)
            self.classes_, target = read_classes(y, type(self).__name__)
            fewest = int(np.bincount(target).min())
            if fewest < 2:
                alone = self.classes_.tolist()[np.bincount(target).argmin()]
                msg = (
                    f"Calibrated leaves examples out, so every class needs at least 2, but {alone!r} has 1. Leave that one out."
                )
                raise InputError(msg)
            folds = StratifiedKFold(min(self.cv, fewest), shuffle=True, random_state=self.random_state)
            self.out_of_fold_ = np.empty((target.size,) if self.classes_.size == 2 else (target.size, self.classes_.size))
            for train, held in folds.split(X, target):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # the fit to all examples says what there is to say
                    model = clone(asked).fit(X[train], y[train])
                if model.outcome_.reason == "interrupted":
                    raise KeyboardInterrupt
                self.out_of_fold_[held] = model.decision_function(X[held])
            self.estimator_ = clone(asked).fit(X, y)
            self.calibration_ = LogOdds.of(self.out_of_fold_, target)
            return self

    @property
    def certificate_(self) -> Certificate:
        """The proof of the classifier that was fitted to all examples."""
        check_is_fitted(self, "estimator_")
        proof: Certificate = self.estimator_.certificate_
        return proof

    @property
    def outcome_(self) -> Outcome:
        """Why its fit stopped."""
        check_is_fitted(self, "estimator_")
        outcome: Outcome = self.estimator_.outcome_
        return outcome

    def predict_proba(self, X: Matrix) -> FloatArray:
        """Return the probabilities of the classes, shape (n, K).

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        """
        check_is_fitted(self, "estimator_")
        outputs = self.estimator_.decision_function(read_matrix(self, X, reset=False))
        return self.calibration_.probabilities(np.asarray(outputs, dtype=np.float64))

    def predict(self, X: Matrix) -> Labels:
        """Return the most probable labels, shape (n,).

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        """
        P = self.predict_proba(X)
        labels: Labels = self.classes_[P.argmax(axis=1)]
        return labels

    def verify(self, X: Matrix, y: Labels) -> Verdict:
        """Check the classifier's proof, and that the probabilities are those that the outputs for examples left out make.

        Those outputs are reported by the fit and not proved.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            The examples given to `fit`.
        y : array, shape (n,)
            Their labels.
        """
        check_is_fitted(self, "estimator_")
        same = np.array_equal(self.classes_, self.estimator_.classes_)
        model = Verdict.of((same, "the labels are not those of the model")) and self.estimator_.verify(X, y)
        if not model:
            return model
        with one_blas_thread():
            fair = self.calibration_.agrees(self.out_of_fold_, np.searchsorted(self.classes_, y))
        return Verdict.of((fair, "the probabilities are not those of the outputs for rows left out"))

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse a classifier of other rows or labels, and probabilities that would not be any."""
        inner = vars(fitted["estimator_"])
        if inner.get("n_features_in_") != sizes["d"] or not np.array_equal(inner.get("classes_", ()), fitted["classes_"]):
            raise ValueError("Calibrated: the classifier knows other features or classes")
        if not fitted["calibration_"].sound(sizes["c"]):
            raise ValueError("Calibrated: its probabilities would not be any")
