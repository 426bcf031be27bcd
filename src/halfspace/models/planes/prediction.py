"""Prediction: outputs, labels, and the plane behind them."""

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from halfspace._learnt import Learnt
from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.models.parameters import LABELLED, is_ready, read_matrix, usable_rows
from halfspace.rows.outputs import outputs

__all__ = ["PlaneMixin", "PredictingMixin", "shared"]


def shared(W: FloatArray) -> FloatArray:
    """See weights as read-only: a certificate then holds the very array that predicts, not a copy."""
    view = W.view()
    view.flags.writeable = False
    return view


class PredictingMixin(Learnt):
    """`decision_function` and `predict` of a model that has weights and strengths (`_answer`) and outputs (`_scores`)."""

    learnt: ClassVar[dict[str, Any]] = {**LABELLED, "_fitted_clamp": "number"}

    intercept: str
    intercept_scaling: float
    _fitted_clamp: float

    def __sklearn_tags__(self) -> Any:
        """Say that sparse matrices are welcome."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags

    def _answer(self) -> tuple[FloatArray, FloatArray]:
        """Return the weights (K, D) and strengths (K, n) that are the answer."""
        raise NotImplementedError

    def _scores(self, X: Matrix) -> FloatArray:
        """Return the outputs for checked X, shape (n, K)."""
        raise NotImplementedError

    def _known(self) -> tuple[FloatArray, FloatArray]:
        """Return the answer of a fitted model; an unfitted one lacks the attribute asked for."""
        if not hasattr(self, "classes_"):
            msg = f"this {type(self).__name__} is not fitted yet: call fit first"
            raise AttributeError(msg)
        return self._answer()

    @property
    def _clamp(self) -> float:
        """Value of the clamped input of the model as fitted; 0 for none."""
        return float(self._fitted_clamp)

    def _asked_clamp(self) -> float:
        """Value of the clamped input that the parameters ask for."""
        return float(self.intercept_scaling) if self.intercept == "clamped" else 0.0

    @property
    def alpha_(self) -> FloatArray:
        """Strengths, shape (n,) or (K, n): how much of each example the weights hold."""
        alpha = self._known()[1]
        return alpha[0].copy() if alpha.shape[0] == 1 else alpha.copy()

    @property
    def support_(self) -> IntArray:
        """Rows that the weights hold some of, in any class, shape (m,)."""
        return np.flatnonzero((self._known()[1] != 0).any(axis=0))

    def decision_function(self, X: Matrix) -> FloatArray:
        """Return the outputs f(x), shape (n,) for two classes and (n, K) for more.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        """
        check_is_fitted(self)
        scores = self._scores(X if is_ready(self, X) else read_matrix(self, X, reset=False))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Matrix) -> Labels:
        """Return the predicted labels, shape (n,); f(x) = 0 predicts the negative class.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        """
        scores = self.decision_function(X)
        classes: Any = self.classes_  # type: ignore[attr-defined]
        labels: Labels = classes[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]
        return labels

    @classmethod
    def sizes(cls, fitted: dict[str, Any]) -> dict[str, int]:
        """Return what letters stand for; D weights are one per feature, and one for the clamped input."""
        found = super().sizes(fitted)
        clamp = fitted.get("_fitted_clamp")
        return {**found, "D": found["d"] + bool(isinstance(clamp, float) and clamp)} if "d" in found else found


class PlaneMixin(PredictingMixin):
    """A model whose answer is a plane (or one per class): `coef_` and `intercept_`."""

    @property
    def coef_(self) -> FloatArray:
        """Weights of the features, shape (K, d); K = 1 for two classes."""
        W = self._known()[0]
        return W[:, :-1].copy() if self._clamp else W.copy()

    @property
    def intercept_(self) -> FloatArray:
        """Bias, shape (K,): the clamped weight times the clamped input."""
        W = self._known()[0]
        return W[:, -1] * self._clamp if self._clamp else np.zeros(W.shape[0])

    def _scores(self, X: Matrix) -> FloatArray:
        view, _ = usable_rows(X, self._clamp, type(self).__name__)
        return outputs(view, self._answer()[0])
