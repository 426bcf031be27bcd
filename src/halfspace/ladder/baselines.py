"""The baselines: the majority class or the mean, and scikit-learn's nearest neighbours with k chosen by leaving one out."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.certificates.baselines import ClassCounts, NeighbourErrors, NeighbourMeans, TargetMean
from halfspace.errors import InputError
from halfspace.kernels.products import dense
from halfspace.models.certified import Certified
from halfspace.rows.threads import libraries
from halfspace.solvers.outcome import Outcome

__all__ = ["Majority", "Mean", "NeighbourMean", "Neighbours", "seconds_of_neighbours"]

VOTES = 1 << 24
"""Counts of votes kept at a time."""
CHOICES = (1, 3, 5, 9, 15)
MEANS = (*CHOICES, 25)
"""Numbers of neighbours whose targets are averaged: noise is averaged out by more than a vote needs."""
SMALL = 5_000_000
"""Products up to which a second thread costs more than it brings: OpenMP's threads wait by spinning."""


SEARCHED, PROVED = 1e-8, 4e-8
"""Seconds for a pair of short rows: to find neighbours, by tree or not, and to prove whose neighbours they are."""


def seconds_of_neighbours(X: Matrix, tested: int, folds: int) -> float:
    """Predict the seconds to choose k on rows X, shape (n, d), and to predict `tested` others, in all folds, and of a proof."""
    n, width = X.shape[0], X.nnz / X.shape[0] if hasattr(X, "nnz") else X.shape[1]
    return float(n * (((folds + 1) * n + folds * tested) * SEARCHED * (1.0 + width / 200) + n * PROVED))


@contextmanager
def few_threads(X: Matrix) -> Iterator[None]:
    """Restrict scikit-learn to one thread on small problems."""
    if X.shape[0] ** 2 * X.shape[1] > SMALL:
        yield
        return
    with libraries().limit(limits=1, user_api="openmp"):
        yield


def _nearest(X: Matrix, choices: tuple[int, ...]) -> tuple[list[int], IntArray]:
    """Return the choices of k that there are others for, and the nearest others of every row, shape (n, most)."""
    possible = [k for k in choices if k < X.shape[0]]
    if not possible:
        raise InputError("nearest neighbours need at least 2 examples")
    with few_threads(X):
        found: IntArray = NearestNeighbors(n_neighbors=possible[-1]).fit(X).kneighbors(return_distance=False)
    return possible, found


def _as_examples(X: Matrix, examples: Matrix) -> Matrix:
    """Return rows dense if the examples are: scikit-learn's trees take no sparse ones."""
    return dense(X) if isinstance(examples, np.ndarray) and not isinstance(X, np.ndarray) else X


def _errors(near: IntArray, target: IntArray, choices: list[int], K: int) -> list[int]:
    """Return how many examples the vote of their k nearest, classes of shape (n, k), gets wrong, for every choice of k."""
    errors, step = [0] * len(choices), max(1, VOTES // K)
    for first in range(0, target.size, step):
        part, truth = near[first : first + step], target[first : first + step]
        votes, everyone, known = np.zeros((truth.size, K), dtype=np.int16), np.arange(truth.size), 0
        for place, k in enumerate(choices):
            for j in range(known, k):
                votes[everyone, part[:, j]] += 1
            known = k
            errors[place] += int((votes.argmax(axis=1) != truth).sum())
    return errors


class Majority(Certified, ClassifierMixin, BaseEstimator):
    """Predict the class that most examples have; of equals the first."""

    learnt: ClassVar[dict[str, Any]] = {
        "classes_": "distinct(c)",
        "certificate_": "certificate:ClassCounts",
        "outcome_": Outcome,
    }

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:  # noqa: ARG003  (one signature for all)
        """Refuse counts of other classes."""
        if list(fitted["certificate_"].classes) != fitted["classes_"].tolist():
            raise ValueError("Majority: its counts are of other classes")

    def fit(self, X: Matrix, y: Labels) -> Self:  # noqa: ARG002  (a baseline looks at labels only)
        """Count the labels y, shape (n,)."""
        self.classes_, counts = np.unique(y, return_counts=True)
        self.certificate_ = ClassCounts(tuple(self.classes_.tolist()), tuple(counts.tolist()))
        self.outcome_ = Outcome("solved", "Counted once.")
        return self

    def decision_function(self, X: Matrix) -> FloatArray:
        """Return the logarithm of each class's share, shape (n, K); for two classes their difference, shape (n,)."""
        counts = np.array(self.certificate_.counts, dtype=np.float64)
        scores = np.tile(np.log(counts / counts.sum()), (X.shape[0], 1))
        return scores[:, 1] - scores[:, 0] if counts.size == 2 else scores

    def predict(self, X: Matrix) -> Labels:
        """Return the majority class for every row, shape (n,)."""
        label = self.classes_[int(np.argmax(self.certificate_.counts))]
        return np.full(X.shape[0], label, dtype=self.classes_.dtype)

    def to_graph(self, graph: Any, X: str) -> Any:
        """Add the outputs, the same for every row, to an ONNX graph; return their name."""
        scores = np.atleast_1d(np.squeeze(self.decision_function(np.zeros((1, 1)))))
        return graph("Add", graph.sum(graph("Mul", X, 0.0)), scores)


class Neighbours(Certified, ClassifierMixin, BaseEstimator):
    """Vote of the k nearest examples: scikit-learn's KNeighborsClassifier, k the one that errs least when leaving one out."""

    learnt: ClassVar[dict[str, Any]] = {
        "classes_": "distinct(c)",
        "k_": "int",
        "X_": "rows(n,d)",
        "target_": "i8(n) in 0..c",
        "outcome_": Outcome,
        "_certificate": "none | certificate",
    }

    def fit(self, X: Matrix, y: Labels) -> Self:
        """Keep the examples X, shape (n, d), and choose k."""
        self.classes_, target = np.unique(y, return_inverse=True)
        choices, near = _nearest(X, CHOICES)
        errors = _errors(target[near], target, choices, self.classes_.size)
        self.k_ = choices[int(np.argmin(errors))]
        self.X_, self.target_ = X, target
        self.outcome_ = Outcome("solved", f"{self.k_} neighbours err least when leaving one out.")
        self._certificate: NeighbourErrors | None = None
        return self

    @property
    def certificate_(self) -> NeighbourErrors:
        """How many examples their neighbours misclassify; counted on first access."""
        if self._certificate is None:
            self._certificate = NeighbourErrors.measure(self.X_, self.classes_[self.target_], k=self.k_)
        return self._certificate

    def decision_function(self, X: Matrix) -> FloatArray:
        """Return the shares of the votes, shape (n, K); for two classes their difference, shape (n,)."""
        model: Any = KNeighborsClassifier(n_neighbors=self.k_).fit(self.X_, self.target_)
        with few_threads(self.X_):
            shares: FloatArray = model.predict_proba(_as_examples(X, self.X_))
        return shares[:, 1] - shares[:, 0] if self.classes_.size == 2 else shares

    def predict(self, X: Matrix) -> Labels:
        """Return the class with the most votes, shape (n,); of equals the first."""
        shares = self.decision_function(X)
        labels: Labels = self.classes_[(shares > 0).astype(int) if shares.ndim == 1 else shares.argmax(axis=1)]
        return labels

    def to_graph(self, graph: Any, X: str) -> Any:
        """Add the vote to an ONNX graph; return the name of the shares, for two classes of their difference."""
        examples = dense(self.X_)
        squares = graph.each_row(X, examples.shape[1], examples)
        nearest = graph.second("TopK", squares, np.array([self.k_]), axis=1, largest=0, sorted=1)
        votes = graph("Gather", np.eye(self.classes_.size)[self.target_], nearest, axis=0)
        shares = graph("ReduceMean", votes, np.array([1]), keepdims=0)
        return graph("MatMul", shares, np.array([[-1.0], [1.0]])) if self.classes_.size == 2 else shares

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse more neighbours than examples, and classes without any."""
        if not 1 <= fitted["k_"] <= sizes["n"]:
            raise ValueError("Neighbours: there are fewer examples than neighbours")
        if np.unique(fitted["target_"]).size < sizes["c"]:
            raise ValueError("Neighbours: a class has no example")


class Mean(Certified, RegressorMixin, BaseEstimator):
    """Predict the mean of the targets."""

    learnt: ClassVar[dict[str, Any]] = {
        "n_features_in_": "=d",
        "mean_": "finite",
        "certificate_": "certificate:TargetMean",
        "outcome_": Outcome,
    }

    def fit(self, X: Matrix, y: FloatArray) -> Self:
        """Average the targets y, shape (n,), of examples X, shape (n, d)."""
        self.n_features_in_ = int(X.shape[1])
        self.certificate_ = TargetMean.measure(X, y)
        self.mean_ = self.certificate_.mean
        self.outcome_ = Outcome("solved", "Averaged once.")
        return self

    def predict(self, X: Matrix) -> FloatArray:
        """Return the mean for every row, shape (n,)."""
        return np.full(X.shape[0], self.mean_)

    def to_graph(self, graph: Any, X: str) -> Any:
        """Add the mean, the same for every row, to an ONNX graph; return its name."""
        return graph("Add", graph.sum(graph("Mul", X, 0.0)), self.mean_)


class NeighbourMean(Certified, RegressorMixin, BaseEstimator):
    """Mean target of the k nearest examples: scikit-learn's KNeighborsRegressor, k of the least error when leaving one out."""

    learnt: ClassVar[dict[str, Any]] = {
        "n_features_in_": "=d",
        "k_": "int",
        "X_": "rows(n,d)",
        "target_": "finite8(n)",
        "left_out_": "finite8(n)",
        "outcome_": Outcome,
        "_certificate": "none | certificate",
    }

    def fit(self, X: Matrix, y: FloatArray) -> Self:
        """Keep the examples X, shape (n, d), with targets y, shape (n,), and choose k."""
        target = np.array(y, dtype=np.float64)
        choices, near = _nearest(X, MEANS)
        sums = np.cumsum(target[near], axis=1)
        predicted = {k: sums[:, k - 1] / k for k in choices}
        with np.errstate(over="ignore"):
            self.k_ = min(choices, key=lambda k: float(np.square(predicted[k] - target).sum()))
        self.n_features_in_, self.X_, self.target_, self.left_out_ = int(X.shape[1]), X, target, predicted[self.k_]
        self.outcome_ = Outcome("solved", f"{self.k_} neighbours err least when leaving one out.")
        self._certificate: NeighbourMeans | None = None
        return self

    @property
    def certificate_(self) -> NeighbourMeans:
        """How far the neighbours' mean is from the truth, at most; measured on first access."""
        if self._certificate is None:
            self._certificate = NeighbourMeans.measure(self.X_, self.target_, k=self.k_)
        return self._certificate

    def predict(self, X: Matrix) -> FloatArray:
        """Return the mean target of the nearest examples, shape (n,)."""
        model: Any = KNeighborsRegressor(n_neighbors=self.k_).fit(self.X_, self.target_)
        with few_threads(self.X_):
            found: FloatArray = model.predict(_as_examples(X, self.X_))
        return found

    def to_graph(self, graph: Any, X: str) -> Any:
        """Add the mean to an ONNX graph; return its name."""
        examples = dense(self.X_)
        squares = graph.each_row(X, examples.shape[1], examples)
        nearest = graph.second("TopK", squares, np.array([self.k_]), axis=1, largest=0, sorted=1)
        return graph.sum(graph("Gather", self.target_, nearest, axis=0), "ReduceMean")

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse more neighbours than examples."""
        if not 1 <= fitted["k_"] <= sizes["n"]:
            raise ValueError("NeighbourMean: there are fewer examples than neighbours")
