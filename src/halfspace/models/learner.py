"""The learner and the teacher: one challenge after the other, each answered before it is corrected."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from halfspace._text import plural
from halfspace._typing import FloatArray, Label
from halfspace.certificates import MarginBracket
from halfspace.errors import InputError, NotSeparatedWarning
from halfspace.models.planes.adatron import AdaTron
from halfspace.models.planes.presenting import PresentingClassifier

__all__ = ["Learner"]


class Learner:
    """A learner that answers challenges, is corrected by a teacher, and counts its mistakes against the theorem's bound.

    It answers before it has seen any example, by zero weights: the first of `classes`. A correction is `partial_fit` of a row,
    so that the weights are the same bits as if the rows had come in one table. Features are known by name, as in River; those
    that an example lacks are 0.

    In the words of lectures: a student and a teacher, learning as a sequence of trials.

    Parameters
    ----------
    estimator : Perceptron or another model that learns by presenting examples
        What learns; a copy of it does.
    classes : sequence, default (False, True)
        All labels there will ever be, the positive one last.
    features : sequence, optional
        Names of the features, in the order of columns; by default in the order in which they turn up.
    teacher : mapping or array, shape (d,) or (D,), optional
        Weights of a plane that separates all examples, for the bound: by name, or by column with a bias last if there is one.
        By default the plane of largest margin on the examples seen, which are kept.

    Attributes
    ----------
    estimator_ : estimator
        What has learnt so far; unfitted before the first correction.
    features_ : list
        Names of the columns.
    presented_ : int
        Corrections so far.
    mistakes_ : int
        Those of them that were mistakes.

    Examples
    --------
    >>> import halfspace as hs
    >>> learner = hs.Learner(hs.Perceptron(), classes=["ham", "spam"])
    >>> learner.predict_one({"offer": 1.0, "meeting": 0.0})  # it has seen nothing yet
    'ham'
    >>> for words, label in [({"offer": 1.0}, "spam"), ({"meeting": 1.0}, "ham"), ({"offer": 2.0, "meeting": 1.0}, "spam")]:
    ...     learner = learner.learn_one(words, label)
    >>> learner.predict_one({"offer": 3.0})
    'spam'
    >>> print(learner)
    2 mistakes in 3 examples; at most 12 are possible
    """

    def __init__(
        self,
        estimator: PresentingClassifier,
        classes: Sequence[Label] = (False, True),
        *,
        features: Sequence[Any] | None = None,
        teacher: Mapping[Any, float] | FloatArray | None = None,
    ) -> None:
        if not isinstance(estimator, PresentingClassifier):
            msg = f"Learner needs a model that presents examples, such as Perceptron(). Got {type(estimator).__name__} instead."
            raise InputError(msg)
        self.classes, self.teacher = np.asarray(classes), teacher
        if self.classes.ndim != 1 or np.unique(self.classes).size != self.classes.size or self.classes.size < 2:
            msg = f"The 'classes' of Learner must be two or more different labels. Got {classes!r} instead."
            raise InputError(msg)
        self.classes = np.sort(self.classes)
        self.estimator_: Any = clone(estimator)
        self.features_ = list(features) if features is not None else []
        self._numbers = {name: j for j, name in enumerate(self.features_)}
        self.presented_ = 0
        self._examples: list[tuple[FloatArray, Label]] = []

    @property
    def mistakes_(self) -> int:
        """Mistakes so far."""
        return int(np.sum(self.estimator_.mistakes_)) if self.presented_ else 0

    def predict_one(self, x: Any) -> Label:
        """Answer a challenge.

        Parameters
        ----------
        x : mapping of feature names to numbers, or array, shape (d,)
            An example; features never seen before count for nothing.

        Returns
        -------
        label
            One of `classes`; before any correction that of the weights to start from.
        """
        row = self._row(x, grow=False)
        answers: Any = self.estimator_.predict(row[None]) if self.presented_ else self.classes[[self._first_answer(row)]]
        label: Label = answers.tolist()[0]
        return label

    def _first_answer(self, row: FloatArray) -> int:
        """Return the class number that the weights to start from say."""
        model, K = self.estimator_, 1 if self.classes.size == 2 else self.classes.size
        clamp = model._asked_clamp()  # noqa: SLF001  (of this package)
        inputs = np.append(row, [clamp] * bool(clamp))
        W = model._first_weights((K, inputs.size))  # noqa: SLF001  (of this package)
        f = np.zeros(K) if W is None or not inputs.size else W @ inputs
        return int(f[0] > 0.0) if K == 1 else int(f.argmax())

    def learn_one(self, x: Any, y: Label) -> Self:
        """Be corrected: learn from one example.

        Parameters
        ----------
        x : mapping of feature names to numbers, or array, shape (d,)
            The example; new features are taken in, with weight 0 so far.
        y : label
            Its label.

        Returns
        -------
        self
            Ready for the next challenge.
        """
        row = self._row(x, grow=True)
        if not row.size:
            msg = "Learner: the first example must have a feature, or name them all: features=[...]."
            raise InputError(msg)
        known = getattr(self.estimator_, "n_features_in_", row.size)
        if row.size > known:
            self.estimator_._widen(row.size - known)  # noqa: SLF001  (of this package)
        self.estimator_.partial_fit(row[None], np.asarray([y]), classes=None if self.presented_ else self.classes)
        self.presented_ += 1
        self._examples.append((row, y))
        return self

    def _row(self, x: Any, *, grow: bool) -> FloatArray:
        """Return an example as a row of columns."""
        if not isinstance(x, Mapping):
            row = np.asarray(x, dtype=np.float64)
            if row.ndim != 1 or (self.features_ and row.size != len(self.features_)):
                msg = f"Learner: 'x' must be a mapping, or {len(self.features_) or 'the'} numbers in a row. Got {x!r} instead."
                raise InputError(msg)
            if not self.features_ and grow:
                self.features_ = list(range(row.size))
                self._numbers = {j: j for j in self.features_}
            return row
        if grow:
            for name in x:
                if name not in self._numbers:
                    self._numbers[name] = len(self.features_)
                    self.features_.append(name)
        row = np.zeros(len(self.features_))
        for name, value in x.items():
            if name in self._numbers:
                row[self._numbers[name]] = value
        return row

    def bound(self) -> float:
        """Return the most mistakes that the theorem allows on the examples seen so far; infinite if no plane separates them.

        Of two classes, by the longest example and the margin of the teacher, or the largest there is (`AdaTron(C=inf)`).
        """
        model = self.estimator_
        if self.classes.size != 2:
            msg = "Learner.bound is about two classes; `estimator_.certify(X, y)` measures the margins of more."
            raise InputError(msg)
        labels = [label for _, label in self._examples]
        if len(set(labels)) < 2:
            return np.inf
        X, y = np.zeros((len(labels), len(self.features_))), np.asarray(labels)
        for i, (row, _) in enumerate(self._examples):
            X[i, : row.size] = row
        clamp = model._clamp  # noqa: SLF001  (of this package)
        bracket = MarginBracket.measure(
            X, y, weights=self._teacher(X, y, clamp), clamp=clamp, positive=self.classes.tolist()[1]
        )
        began = float(np.linalg.norm(model._began[0]))  # noqa: SLF001  (of this package)
        weights = model.class_weight or {}
        s = np.array([float(weights.get(label, 1.0)) for label in labels])
        return float(model._theorem(s, began).bound(bracket.radius, bracket.lower))  # noqa: SLF001  (of this package)

    def _teacher(self, X: FloatArray, y: Any, clamp: float) -> FloatArray:
        """Return weights to measure the margin of, shape (D,)."""
        d, D = X.shape[1], X.shape[1] + bool(clamp)
        if isinstance(self.teacher, Mapping):
            return np.array([float(self.teacher.get(name, 0.0)) for name in self.features_] + [0.0] * bool(clamp))
        if self.teacher is not None:
            w = np.asarray(self.teacher, dtype=np.float64)
            if w.shape not in {(d,), (D,)}:
                msg = f"The 'teacher' of Learner must have {d} weights, or {D} with a bias. Got shape {w.shape} instead."
                raise InputError(msg)
            return np.append(w, [0.0] * (D - w.size))
        intercept = "clamped" if clamp else "none"
        best = AdaTron(C=np.inf, intercept=intercept, intercept_scaling=clamp or 1.0, tol=1e-3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotSeparatedWarning)  # then the bound is infinite
            best.fit(X, y)
        return np.append(best.coef_[0], best.intercept_ / clamp if clamp else [])

    def __str__(self) -> str:
        told = f"{plural(self.mistakes_, 'mistake')} in {plural(self.presented_, 'example')}"
        most = self.bound() if self.classes.size == 2 else np.inf
        return f"{told}; at most {np.floor(most * (1 + 1e-9)):,.0f} are possible" if np.isfinite(most) else told
