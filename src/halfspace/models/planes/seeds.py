"""Where prototypes start."""

from typing import Any

import numpy as np
from sklearn.cluster import kmeans_plusplus
from sklearn.utils import check_array

from halfspace._typing import FloatArray, Matrix, View
from halfspace.errors import InputError
from halfspace.models.parameters import require
from halfspace.rows.labels import example_weights
from halfspace.solvers.prototypes.farthest_first import farthest_first

__all__ = ["first_prototypes", "row_weights"]


def first_prototypes(estimator: Any, X: Matrix, view: View, s: FloatArray, rng: Any) -> FloatArray:
    """Return the first prototypes, shape (K, d), that an estimator's `init` asks for on rows weighted by s, shape (n,)."""
    init, K = estimator.init, int(estimator.n_prototypes)
    if not isinstance(init, str):
        given: FloatArray = check_array(init, dtype=np.float64, copy=True, input_name="init", estimator=estimator)
        expected = (K, X.shape[1])
        require(estimator, "init", f"an array of shape {expected}", holds=given.shape == expected)
        return given
    if init == "farthest":
        return farthest_first(view, s, K)
    if init == "k-means++":
        chosen = kmeans_plusplus(X, K, sample_weight=(s / s.max()).astype(X.dtype), random_state=rng)[0]
    else:
        chosen = X[np.sort(rng.choice(s.size, K, replace=np.count_nonzero(s) < K, p=s / s.sum()))]
    return np.asarray(chosen.toarray() if hasattr(chosen, "toarray") else chosen, dtype=np.float64)


def row_weights(estimator: Any, X: Matrix, sample_weight: Any) -> FloatArray:
    """Return the weights of the rows of X, shape (n,); refuse fewer rows than prototypes, and rows without weight."""
    owner, n, K = type(estimator).__name__, X.shape[0], estimator.n_prototypes
    if n < K:
        msg = f"{owner}: n_samples={n} should be >= n_prototypes={K}. Lower n_prototypes, or give more rows."
        raise InputError(msg)
    s = example_weights(None, sample_weight, np.zeros(1), np.zeros(n, dtype=np.int64), owner)
    if not s.any():
        msg = f"{owner}: all sample weights are 0, so there is nothing to learn from. Give some rows a positive weight."
        raise InputError(msg)
    return s
