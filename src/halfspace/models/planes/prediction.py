"""What models with weights share: outputs, labels, the plane behind them, and the checks of a stream."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.errors import InputError
from halfspace.models.certified import Certified
from halfspace.models.parameters import LABELLED, is_ready, read_matrix, restored_on_error, usable_rows
from halfspace.rows.labels import given_classes
from halfspace.rows.operations import outputs
from halfspace.solvers.outcome import Outcome

__all__ = ["PlaneMixin", "PredictingMixin", "StreamMixin", "shared"]


def shared(W: FloatArray) -> FloatArray:
    """See weights as read-only: a certificate then holds the very array that predicts, not a copy."""
    view = W.view()
    view.flags.writeable = False
    return view


class PredictingMixin(Certified):
    """`decision_function` and `predict` of a model that has weights and strengths (`_answer`) and outputs (`_scores`)."""

    learnt: ClassVar[dict[str, Any]] = {**LABELLED, "_fitted_clamp": "finite in 0..1e51"}

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


class StreamMixin(PredictingMixin):
    """A model that can take in the next examples at any time."""

    left_out: ClassVar[frozenset[str]] = frozenset({"_seen"})

    multi_class: str = "ovr"
    class_weight: dict[Any, float] | str | None
    classes_: Labels
    mistakes_: int | IntArray
    n_iter_: int
    outcome_: Outcome
    _native: bool

    def _check_parameters(self) -> None:
        """Refuse parameters out of range."""
        raise NotImplementedError

    def _take_in(self, X: Matrix, y: Labels, sample_weight: Any) -> Self:
        """Present checked rows in order."""
        raise NotImplementedError

    def partial_fit(self, X: Matrix, y: Labels, classes: Labels | None = None) -> Self:
        """Learn from the next examples of a stream, each once and in order; any cut into chunks gives the same weights.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            The next examples.
        y : array, shape (n,)
            Their labels.
        classes : array, shape (K,), optional
            All labels there will ever be; needed at the first call.

        Returns
        -------
        self
            Ready to predict. A stream has no data set to certify against, so a `certificate_` of an earlier fit is removed;
            `certify(X, y)` makes one for any examples at hand. `alpha_` is of the rows of this call.
        """
        return self._partial_fit(X, y, classes)

    def _partial_fit(self, X: Matrix, y: Labels, classes: Labels | None, sample_weight: Any = None) -> Self:
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            msg = "class_weight='balanced' needs all labels at once: pass a dict of weights to use partial_fit."
            raise InputError(msg)
        if not hasattr(self, "classes_"):
            with restored_on_error(self):
                return self._start_stream(X, y, classes, sample_weight)
        seen = self._recheck()
        if classes is not None and not self._same_classes(classes):
            msg = f"classes={classes!r} is not the same as on the first call to partial_fit: {self.classes_.tolist()}."
            raise InputError(msg)
        if not (is_ready(self, X) and isinstance(y, np.ndarray) and y.shape == (X.shape[0],)):
            X, y = read_matrix(self, X, y, reset=False)
        self._take_in(X, y, sample_weight)
        self._seen = seen
        return self

    def _recheck(self) -> dict[str, Any]:
        """Check the parameters if one was set since the last chunk, which must not pay for it each time; return them."""
        own = vars(self)
        seen: dict[str, Any] = own.get("_seen", {})
        if seen and all(own[name] is value for name, value in seen.items()):
            return seen
        self._check_parameters()
        return {name: value for name, value in own.items() if name[0] != "_" and name[-1] != "_"}

    def _same_classes(self, classes: Any) -> bool:
        """Tell whether these are the classes announced first."""
        try:
            return np.array_equal(given_classes(classes, type(self).__name__), self.classes_)
        except ValueError:
            return False

    def _start_stream(self, X: Matrix, y: Labels, classes: Labels | None, sample_weight: Any) -> Self:
        """Check the parameters, fix classes and width, and take in the first chunk."""
        self._check_parameters()
        if classes is None:
            msg = "classes must be passed on the first call to partial_fit: all labels there will ever be."
            raise InputError(msg)
        X, y = read_matrix(self, X, y, reset=True)
        self._fitted_clamp = self._asked_clamp()
        self.classes_ = given_classes(classes, type(self).__name__)
        self._native = self.multi_class == "native" and self.classes_.size > 2
        return self._take_in(X, y, sample_weight)
