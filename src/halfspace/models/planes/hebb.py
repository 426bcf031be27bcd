"""Hebb's classifier."""

from typing import Any, Self

from sklearn.callback import with_callbacks

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.certificates import Certificate
from halfspace.models.parameters import restored_on_error
from halfspace.models.planes.presenting import PresentingClassifier
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.rules.hebb import Hebb
from halfspace.solvers.run import Budget, run

__all__ = ["HebbClassifier"]


class HebbClassifier(PresentingClassifier):
    """Hebb's rule: add every example once, times its label. The simplest thing that learns.

    Hebbian learning: all embedding strengths are equal, but for class weights.

    Parameters
    ----------
    intercept : {"clamped", "none"}, default "clamped"
        Bias as the weight of a clamped input, or none.
    intercept_scaling : float, default 1.0
        Value of the clamped input.
    class_weight : dict or "balanced", optional
        How much of an example of each class is added.
    verbose : int, default 0
        1 or more: say when done.

    Attributes
    ----------
    certificate_ : MarginBracket or PerClass
        The margin of the plane, and an upper bound on any plane's.
    mistakes_ : int or ndarray, shape (K,)
        Examples that were on the wrong side when they were shown.
    outcome_, coef_, intercept_, alpha_, history_, classes_, n_features_in_, n_iter_
        As for `Perceptron`.

    Examples
    --------
    >>> import numpy as np, halfspace as hs
    >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]), np.array([1, 1, 0])
    >>> hs.HebbClassifier(intercept="none").fit(X, y).coef_.tolist()
    [[2.0, 2.0]]
    """

    def __init__(
        self,
        *,
        intercept: str = "clamped",
        intercept_scaling: float = 1.0,
        class_weight: dict[Any, float] | str | None = None,
        verbose: int = 0,
    ) -> None:
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        """Say that it may score poorly: where the class means are not opposite, adding everything up is a weak rule."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    @with_callbacks
    def fit(self, X: Matrix, y: Labels, sample_weight: Any = None) -> Self:
        """Learn from examples.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        y : array, shape (n,)
            Labels.
        sample_weight : array, shape (n,), optional
            Weights of the examples; a weight of 2 is the same as showing an example twice.
        """
        with restored_on_error(self):
            data, method, training = self._prepare(X, y, sample_weight)
            reporter = self._reporter(X, y, data, method, training)
            return self._store(data, method, run(method, Budget(1), training, reporter.watch), reporter)

    def partial_fit(self, X: Matrix, y: Labels, classes: Labels | None = None, sample_weight: Any = None) -> Self:
        """Learn from the next examples of a stream; see `Perceptron.partial_fit`.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            The next examples.
        y : array, shape (n,)
            Their labels.
        classes : array, shape (K,), optional
            All labels there will ever be; needed at the first call.
        sample_weight : array, shape (n,), optional
            Weights of the examples.
        """
        return self._partial_fit(X, y, classes, sample_weight)

    def _rule(self) -> Hebb:
        return Hebb()

    def _claim(self, mistakes: int, bracket: Certificate, s: FloatArray, began: float) -> Certificate:
        return bracket

    def _explained(self, outcome: Outcome) -> Outcome:
        return Outcome("passes done", "One pass, every example added once: Hebb's rule has nothing more to do.")
