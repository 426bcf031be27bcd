"""What models chosen by cross-validation share: the folds, and the model fitted to all examples, which answers for them."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.certificates import Certificate, Verdict
from halfspace.models.certified import Certified
from halfspace.models.parameters import LABELLED, Examples, require

__all__ = ["CrossValidated"]


class CrossValidated(Certified, ClassifierMixin, BaseEstimator):
    """A model with `cv` and `random_state`; the one that was chosen and fitted to all examples is `estimator_`."""

    learnt: ClassVar[dict[str, Any]] = {key: LABELLED[key] for key in ("n_features_in_", "?feature_names_in_", "classes_")}
    learns_more: ClassVar[bool] = True

    cv: Any
    random_state: Any

    def __sklearn_tags__(self) -> Any:
        """Say that sparse matrices are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _folds(self, data: Examples) -> list[tuple[IntArray, IntArray]]:
        """Return the rows to learn from and to score, for every fold."""
        cv = check_cv(self.cv, data.y, classifier=True)
        if isinstance(self.cv, int | np.integer):
            require(self, "cv", "at least 2 folds, or a splitter", holds=int(self.cv) >= 2)
            cv.shuffle, cv.random_state = True, check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
            fewest = int(np.bincount(data.target).min())
            require(self, "cv", f"at most {fewest}, the size of the smallest class", holds=int(self.cv) <= fewest)
        return list(cv.split(data.X, data.target))

    def _chosen(self) -> Any:
        """Return the model that was chosen, if there is one."""
        check_is_fitted(self, "estimator_")
        return self.estimator_

    @property
    def certificate_(self) -> Certificate:
        """The proof of the model fitted to all examples."""
        proof: Certificate = self._chosen().certificate_
        return proof

    def verify(self, X: Matrix, y: Any = None) -> Verdict:
        """Check the chosen model's certificate, and that it predicts with the numbers that this is about: see its `verify`."""
        verdict: Verdict = self._chosen().verify(X, y)
        return verdict

    @property
    def alpha_(self) -> FloatArray:
        """Strengths, shape (n,) or (K, n)."""
        alpha: FloatArray = self._chosen().alpha_
        return alpha

    @property
    def support_(self) -> IntArray:
        """Rows of positive strength in any class, shape (m,)."""
        rows: IntArray = self._chosen().support_
        return rows

    @property
    def intercept_(self) -> FloatArray:
        """Bias, shape (K,)."""
        bias: FloatArray = self._chosen().intercept_
        return bias

    @property
    def n_iter_(self) -> int:
        """Iterations of the fit to all examples."""
        return int(self._chosen().n_iter_)

    def support_table(self, *, everyone: bool = False) -> Any:
        """List the support vectors, as the chosen model's `support_table` does."""
        return self._chosen().support_table(everyone=everyone)

    def decision_function(self, X: Matrix) -> FloatArray:
        """Return the outputs f(x), shape (n,) for two classes and (n, K) for more."""
        outputs: FloatArray = self._chosen().decision_function(X)
        return outputs

    def predict(self, X: Matrix) -> Labels:
        """Return the predicted labels, shape (n,)."""
        labels: Labels = self._chosen().predict(X)
        return labels

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse a model fitted to other features or classes."""
        inner = vars(fitted["estimator_"])
        same = inner.get("n_features_in_") == sizes["d"] and np.array_equal(inner.get("classes_", ()), fitted["classes_"])
        if not same:
            msg = f"{cls.__name__}: its model knows other features or classes"
            raise ValueError(msg)
