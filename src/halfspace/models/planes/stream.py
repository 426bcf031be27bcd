"""Learning from a stream: `partial_fit`, and certificates for whatever examples are at hand."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.certificates import Certificate, KeslerBracket, MarginBracket, PerClass
from halfspace.errors import InputError
from halfspace.models.parameters import is_ready, read_matrix, restored_on_error, usable_rows
from halfspace.models.planes.prediction import PredictingMixin
from halfspace.rows.labels import class_numbers, example_weights, given_classes
from halfspace.solvers.loop import Method, present_rows
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.rules.sweep import Forget, State, Task, start

__all__ = ["StreamMixin"]


class StreamMixin(PredictingMixin):
    """A model that can take in the next examples at any time."""

    multi_class: str = "ovr"
    class_weight: dict[Any, float] | str | None
    classes_: Labels
    mistakes_: int | IntArray
    n_iter_: int
    outcome_: Outcome
    _state: State
    _memory: Any
    _began: FloatArray
    _native: bool

    def _check_parameters(self) -> None:
        """Refuse parameters out of range."""
        raise NotImplementedError

    def _rule(self) -> Callable[[int], Any]:
        """Return the rule in force in each epoch, counted from 0."""
        raise NotImplementedError

    def _remembering(self, state: State) -> Any:
        """Return a fresh memory for a state."""
        return Forget()

    def _renewed(self, memory: Any, state: State) -> Any:
        """Return the memory for new rows: what concerns the weights stays, what concerns the old rows goes."""
        return self._remembering(state) if memory is None else memory

    def _settled(self, task: Task) -> None:
        """Bring the memory up to date, so that `_answer` can be read."""

    def _first_weights(self, task: Task) -> FloatArray | None:
        """Return the weights to start from; None for zero."""
        return None

    def _mistakes(self) -> int | IntArray:
        """Mistakes so far: a number, or one per class for one-vs-rest."""
        counts = self._state.mistakes
        return int(counts.sum()) if counts.size == 1 or self._native else counts.copy()

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
        self._memory = None
        return self._take_in(X, y, sample_weight)

    def _take_in(self, X: Matrix, y: Labels, sample_weight: Any) -> Self:
        """Present checked rows in order."""
        owner = type(self).__name__
        view, q = usable_rows(X, self._clamp, owner)
        target = class_numbers(y, self.classes_, owner)
        s = example_weights(self.class_weight, sample_weight, self.classes_, target, owner)
        positive = np.array([1]) if self.classes_.size == 2 else np.arange(self.classes_.size)
        task = Task(view, target, positive, q, s)
        state: State | None = getattr(self, "_state", None)
        if state is None:
            state = start(task, self._first_weights(task))
            self._began = state.W.copy()
        else:
            state = state._replace(alpha=np.zeros((positive.size, target.size)))
        self._state = state
        self._memory = self._renewed(self._memory, state)
        order = np.arange(target.size)
        present_rows(Method(self._rule(), self._memory, self._native), 0, task, state, order, np.arange(positive.size))
        self._settled(task)
        self.mistakes_ = self._mistakes()
        self.n_iter_ = 1
        self.outcome_ = Outcome("passes done", f"{int(state.clock[0]):,} examples of a stream, each seen once.")
        vars(self).pop("certificate_", None)
        vars(self).pop("history_", None)
        return self

    def certify(self, X: Matrix, y: Labels) -> Certificate:
        """Measure the margin bracket of the current plane on any examples.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        y : array, shape (n,)
            Their labels, of the classes the model knows.

        Returns
        -------
        MarginBracket, KeslerBracket or PerClass
            For these examples; not stored on the model.
        """
        check_is_fitted(self)
        X, y = read_matrix(self, X, y, reset=False)
        class_numbers(y, self.classes_, type(self).__name__)
        usable_rows(X, self._clamp, type(self).__name__)
        W = self._answer()[0]
        if self._native:
            nothing = np.zeros((W.shape[0], y.size))
            return KeslerBracket.measure(X, y, weights=W, strengths=nothing, clamp=self._clamp, classes=self.classes_)
        labels = self.classes_.tolist()
        positives = labels[1:] if len(labels) == 2 else labels
        parts = [MarginBracket.measure(X, y, weights=W[k], clamp=self._clamp, positive=p) for k, p in enumerate(positives)]
        return parts[0] if len(parts) == 1 else PerClass(tuple(labels), tuple(parts))
