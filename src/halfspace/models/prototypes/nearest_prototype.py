"""Answers by the nearest prototype: labels, relative distances, and the right to refuse an answer."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.certificates.prototypes.errors import PrototypeErrors
from halfspace.errors import InputError
from halfspace.models.parameters import is_ready, read_matrix, usable_rows
from halfspace.rows.labels import class_numbers
from halfspace.rows.threads import one_blas_thread
from halfspace.solvers.prototypes.distances import class_distances, distances, map_blocks

__all__ = ["NearestPrototypeMixin", "RejectCurve"]


class RejectCurve(NamedTuple):
    """What a threshold on the relative distance would do, threshold by threshold."""

    thresholds: FloatArray  # (m,), rising
    accepted: FloatArray  # (m,) share of rows answered
    accuracy: FloatArray  # (m,) share of right answers among them


class NearestPrototypeMixin:
    """`predict` and all that belongs to it, of a model with `prototypes_`, `prototype_labels_` and `classes_`.

    Of prototypes equally near, the one that comes first answers.
    """

    classes_: Labels
    prototypes_: FloatArray
    prototype_labels_: Labels

    def __sklearn_tags__(self) -> Any:
        """Say that sparse matrices are welcome."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags

    def _metric(self) -> FloatArray:
        """Return Ω, or ω for a diagonal one."""
        return np.ones(self.prototypes_.shape[1])

    def _beta(self) -> float | None:
        """Return the slope of the cost's sigmoid, 0 for the identity, None if there is no cost."""
        return None

    def _numbers(self) -> IntArray:
        """Return the class numbers of the prototypes, shape (P,)."""
        return np.searchsorted(self.classes_, self.prototype_labels_).astype(np.int64)

    def _near(self, X: Matrix) -> FloatArray:
        """Return the squared distances of the nearest prototype of each class, shape (n, K)."""
        check_is_fitted(self)
        if not is_ready(self, X):
            X = read_matrix(self, X, reset=False)
        view, _ = usable_rows(X, 0.0, type(self).__name__)
        W, labels, omega = self.prototypes_, self._numbers(), self._metric()

        def work(_rows: IntArray, block: FloatArray) -> FloatArray:
            return class_distances(distances(block, W, labels, omega), labels, self.classes_.size)

        return np.concatenate(map_blocks(work, view, W.size + omega.size))

    def predict(self, X: Matrix) -> Labels:
        """Return the label of the nearest prototype of each row, shape (n,).

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        """
        winner = self._near(X).argmin(axis=1)
        return np.asarray(self.classes_[winner])

    def decision_function(self, X: Matrix) -> FloatArray:
        """Return relative distances, from -1 to 1: (d_others - d_class) / (d_others + d_class).

        d_class is the squared distance of the nearest prototype of a class, d_others that of the nearest of any other.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.

        Returns
        -------
        ndarray, shape (n,) or (n, K)
            For two classes of the second one, otherwise of every class; the label is that of the largest.
        """
        near = self._near(X)
        if near.shape[1] == 2:
            return _relative(near[:, 0], near[:, 1])
        winner, two = near.argmin(axis=1), np.partition(near, 1, axis=1)
        others = np.where(np.arange(near.shape[1]) == winner[:, None], two[:, 1:2], two[:, :1])
        return _relative(others, near)

    def reject_score(self, X: Matrix) -> FloatArray:
        """Return how clear each answer is, shape (n,): 0 on the border between two classes, 1 on a prototype.

        The relative distance of the class that answers: (d_others - d_class) / (d_others + d_class).

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        """
        two = np.partition(self._near(X), 1, axis=1)
        return _relative(two[:, 1], two[:, 0])

    def predict_with_reject(self, X: Matrix, threshold: float, rejected: Any = None) -> Labels:
        """Return the labels of clear answers, and `rejected` where `reject_score` is below a threshold, shape (n,).

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        threshold : float
            Least score of an answer, from 0 (answer all) to 1; `reject_curve` shows what each would do.
        rejected : label, default None
            What stands for no answer.
        """
        near = self._near(X)
        two = np.partition(near, 1, axis=1)
        labels = self.classes_[near.argmin(axis=1)]
        unclear = _relative(two[:, 1], two[:, 0]) < threshold
        if not unclear.any() and rejected is None:
            return np.asarray(labels)
        return np.where(unclear, np.array(rejected), labels)

    def reject_curve(self, X: Matrix, y: Labels) -> RejectCurve:
        """Return what every threshold would do on examples with known labels.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples, best those that were not learnt from.
        y : array, shape (n,)
            Their labels.

        Returns
        -------
        RejectCurve
            `thresholds`, `accepted` (share of rows answered) and `accuracy` (share of right answers among them), each
            of shape (m,); the first threshold accepts all.
        """
        scores, answers = self.reject_score(X), self.predict(X)
        if np.shape(y) != answers.shape:
            msg = f"{type(self).__name__}.reject_curve: one label per row expected, but y has shape {np.shape(y)}."
            raise InputError(msg)
        right = answers == np.asarray(y)
        order = np.argsort(scores, kind="stable")
        thresholds, first = np.unique(scores[order], return_index=True)
        left = scores.size - first
        answered = np.cumsum(right[order][::-1])[::-1][first]
        return RejectCurve(thresholds, left / scores.size, answered / left)

    def certify(self, X: Matrix, y: Labels) -> PrototypeErrors:
        """Measure errors, safe radii and cost on any examples.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        y : array, shape (n,)
            Their labels, of the classes the model knows.

        Returns
        -------
        PrototypeErrors
            For these examples; not stored on the model.
        """
        check_is_fitted(self)
        X, y = read_matrix(self, X, y, reset=False)
        usable_rows(X, 0.0, type(self).__name__)
        class_numbers(y, self.classes_, type(self).__name__)
        return self._measured(X, y)

    def _measured(self, X: Matrix, y: Labels, **about: Any) -> PrototypeErrors:
        """Return the certificate for checked examples."""
        omega = self._metric()
        plain = omega.ndim == 1 and bool((omega == 1.0).all())
        with one_blas_thread():
            return PrototypeErrors.measure(
                X,
                y,
                prototypes=self.prototypes_,
                labels=self.prototype_labels_,
                omega=None if plain else omega,
                beta=self._beta(),
                **about,
            )


def _relative(far: FloatArray, near: FloatArray) -> FloatArray:
    """Return (far - near) / (far + near); 0 where both are 0, ±1 where only one class has prototypes."""
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = (far - near) / (far + near)
    unknown = np.where(np.isinf(near), -1.0, np.where(np.isinf(far), 1.0, 0.0))
    return np.asarray(np.where(np.isfinite(ratio), ratio, unknown))
