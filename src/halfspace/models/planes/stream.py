"""Learning from a stream: what `partial_fit` checks before it takes in the next examples."""

from typing import Any, ClassVar, Self

import numpy as np

from halfspace._typing import IntArray, Labels, Matrix
from halfspace.errors import InputError
from halfspace.models.parameters import is_ready, read_matrix, restored_on_error
from halfspace.models.planes.prediction import PredictingMixin
from halfspace.rows.labels import given_classes
from halfspace.solvers.outcome import Outcome

__all__ = ["StreamMixin"]


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
