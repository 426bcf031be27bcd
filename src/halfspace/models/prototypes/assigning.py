"""What all models with prototypes of rows share: assigning rows to the nearest, distances, error, certificate."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.cluster import kmeans_plusplus
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from halfspace._typing import FloatArray, IntArray, Matrix, View
from halfspace.certificates.prototypes.quantisation import Quantisation, dense_blocks, own_squares
from halfspace.errors import InputError
from halfspace.models.parameters import read_matrix, usable_rows
from halfspace.rows.threads import one_blas_thread
from halfspace.solvers.prototypes.quantising import all_distances, winners

__all__ = ["AssigningMixin", "first_prototypes", "given_prototypes", "require_unchanged"]


class AssigningMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """A model with `prototypes_`, shape (K, d)."""

    prototypes_: FloatArray

    @property
    def cluster_centers_(self) -> FloatArray:
        """The prototypes, by scikit-learn's name, shape (K, d)."""
        return self.prototypes_

    @property
    def _n_features_out(self) -> int:
        return len(self.prototypes_)

    def _read(self, X: Matrix) -> tuple[Matrix, View]:
        """Check rows, and return them and their view."""
        check_is_fitted(self, "prototypes_")
        X = read_matrix(self, X, reset=False)
        return X, usable_rows(X, 0.0, type(self).__name__)[0]

    def predict(self, X: Matrix) -> IntArray:
        """Return the number of the nearest prototype of each row; of equally near ones the first.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Rows.

        Returns
        -------
        ndarray of int, shape (n,)
            Numbers of prototypes.
        """
        return winners(self._read(X)[1], self.prototypes_)[0]

    def transform(self, X: Matrix) -> FloatArray:
        """Return the distances of rows X, shape (n, d), from all prototypes, shape (n, K)."""
        return all_distances(self._read(X)[1], self.prototypes_)

    def score(self, X: Matrix, y: Any = None) -> float:
        """Return minus the quantisation error of rows X, shape (n, d): larger is better. A y is not looked at."""
        del y
        return -float(winners(self._read(X)[1], self.prototypes_)[1].sum())

    def certify(self, X: Matrix) -> Quantisation:
        """Measure the present prototypes on any rows X, shape (n, d); the certificate is not stored on the model."""
        X, _ = self._read(X)
        with one_blas_thread():
            return Quantisation.measure(X, prototypes=self.prototypes_)

    def __sklearn_tags__(self) -> Any:
        """Say that sparse rows are taken."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def as_dense(rows: Matrix) -> FloatArray:
    """Return rows as a float64 array of their own."""
    return np.array(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)


def given_prototypes(init: Any, K: int, d: int, owner: str) -> FloatArray:
    """Return the array given as `init`, shape (K, d); refuse any other shape."""
    W = check_array(init, dtype=np.float64, input_name="init", estimator=owner)
    if W.shape != (K, d):
        msg = (
            f"The 'init' parameter of {owner} must have one row per prototype and one column per feature: "
            f"shape {(K, d)}. Got shape {W.shape} instead."
        )
        raise InputError(msg)
    return np.array(W)


def first_prototypes(X: Matrix, init: Any, K: int, chance: Any, owner: str) -> FloatArray:
    """Return K prototypes to start from: rows drawn at random, k-means++, or those given.

    Parameters
    ----------
    X : array or CSR matrix, shape (n, d)
        Rows.
    init : "sample", "k-means++" or array, shape (K, d)
        How to choose.
    K : int
        Number of prototypes, at most n.
    chance : RandomState
        Random number generator.
    owner : str
        Who asks, for messages.
    """
    if not isinstance(init, str):
        return given_prototypes(init, K, X.shape[1], owner)
    if init == "k-means++":
        with one_blas_thread():
            return as_dense(kmeans_plusplus(X, K, random_state=chance)[0])
    return as_dense(X[np.sort(chance.choice(X.shape[0], K, replace=False))])


def require_unchanged(model: Any, X: Matrix, s: FloatArray | None) -> None:
    """Refuse rows X, weighted by s, that are not those a model was fitted to: their error, as labelled, is not `inertia_`.

    √error is the length of all differences x - w taken together: rounding the prototypes by r each changes it by at most
    r √(Σ s_i). Sums may be in the precision of the rows, and expanded (‖x‖² - 2 x·w + ‖w‖²) where these are sparse.
    """
    W, weights = np.asarray(model.prototypes_, dtype=np.float64), np.ones(X.shape[0]) if s is None else s
    squares = [own_squares(block - W[model.labels_[rows]])[0] for rows, block in dense_blocks(X, X.shape[1])]
    error = float(weights @ np.concatenate(squares))
    precision = np.finfo(X.dtype)
    step = np.sqrt(precision.eps) if sparse.issparse(X) else precision.eps
    reach = step * np.sqrt((W * W).sum(axis=1).max()) + np.sqrt(X.shape[1] * precision.tiny)
    spare = (1e-6 + X.shape[0] * precision.eps) * np.sqrt(model.inertia_) + 16.0 * np.sqrt(weights.sum()) * reach
    if not abs(np.sqrt(error) - np.sqrt(model.inertia_)) <= spare:
        msg = (
            f"{type(model).__name__}: the X that fit was given has been changed since: its error is {error:.6g}, "
            f"but inertia_ is {model.inertia_:.6g}. Ask for certificate_ before changing X, or certify(X) with the old rows."
        )
        raise InputError(msg)
