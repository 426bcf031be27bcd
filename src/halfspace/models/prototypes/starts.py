"""Where prototypes start: given, rows far apart or drawn, or within each class its mean or k-means."""

import warnings
from typing import Any

import numpy as np
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from halfspace._typing import FloatArray, IntArray, Matrix, View
from halfspace.errors import InputError
from halfspace.models.parameters import Examples, require
from halfspace.rows.labels import example_weights
from halfspace.rows.threads import libraries
from halfspace.solvers.prototypes.farthest_first import farthest_first

__all__ = [
    "check_counts",
    "counts_per_class",
    "first_prototypes",
    "given_prototypes",
    "parameter_of_count",
    "require_rows",
    "row_weights",
    "starting_prototypes",
]

RATE, ITERATIONS, SHARE = 5e8, 100, 0.2
"""Products a second and iterations of k-means, for a prediction of its time, and the share of a time limit that it may take."""
BEGIN, MANY = 5e-4, 30
"""Seconds of a class below which rows are drawn instead, of more classes than this: to begin k-means takes milliseconds."""
LEAST = 100
"""Rows for each prototype that k-means sees however little time there is."""
NOISE = 0.1
"""Spread of several prototypes around a class's mean, as a share of the class's own spread."""


def check_counts(estimator: Any) -> None:
    """Refuse a number of prototypes that is neither a positive integer nor a dict of such."""
    value = estimator.n_prototypes
    counts = list(value.values()) if isinstance(value, dict) else [value]
    whole = all(isinstance(count, int | np.integer) and not isinstance(count, bool) and count > 0 for count in counts)
    require(estimator, "n_prototypes", "a positive integer, or a dict from each label to one", holds=bool(counts) and whole)


def counts_per_class(estimator: Any, classes: Any) -> IntArray:
    """Return how many prototypes each class asks for, shape (K,)."""
    value = estimator.n_prototypes
    if not isinstance(value, dict):
        return np.full(classes.size, int(value))
    labels = classes.tolist()
    if set(value) != set(labels):
        msg = (
            f"The 'n_prototypes' parameter of {type(estimator).__name__} must have the labels of y as its keys: {labels}. "
            f"Got {value!r} instead."
        )
        raise InputError(msg)
    return np.array([int(value[label]) for label in labels])


def starting_prototypes(estimator: Any, data: Examples, s: FloatArray, rng: Any) -> tuple[FloatArray, IntArray]:
    """Return the first prototypes, shape (P, d), sorted by class, and their class numbers, shape (P,).

    A class with fewer rows than it asks prototypes for gets one prototype per row.
    """
    parts, labels = [], []
    limit = np.inf if estimator.max_time is None else SHARE * float(estimator.max_time) / data.classes.size
    hurried = estimator.init == "k-means" and limit < BEGIN and data.classes.size > MANY
    for c, count in enumerate(counts_per_class(estimator, data.classes)):
        rows = np.flatnonzero((data.target == c) & (s > 0.0))
        if rows.size == 0:  # a class without weight still answers
            rows = np.flatnonzero(data.target == c)
        weight = s[rows] if s[rows].any() else np.ones(rows.size)
        most = max(LEAST * int(count), limit * RATE / (ITERATIONS * int(count) * data.X.shape[1]))
        if estimator.init == "k-means" and rows.size > most:  # which would take too long: a sample of the rows will do
            kept = np.sort(rng.choice(rows.size, int(most), replace=False, p=weight / weight.sum()))
            rows, weight = rows[kept], np.ones(kept.size)
        own = data.X[rows].astype(np.float64)  # squares of float32 overflow early
        parts.append(_start("sample" if hurried else estimator.init, own, weight, min(int(count), rows.size), rng))
        labels += [c] * parts[-1].shape[0]
    return np.vstack(parts), np.array(labels, dtype=np.int64)


def _start(init: str, X: Matrix, s: FloatArray, count: int, rng: Any) -> FloatArray:
    """Return the first prototypes of one class, shape (count, d), from its rows weighted by s."""
    if init == "sample":
        return _dense(X[rng.choice(s.size, count, replace=False)])
    mean = np.asarray(X.T @ (s / s.sum()), dtype=np.float64).ravel()
    if count == 1:
        return mean[None]
    if init == "k-means":
        seed = rng.randint(np.iinfo(np.int32).max)
        # Equal rows give equal prototypes. One thread: on few rows they would only wait, and sums depend on their number.
        silent = warnings.catch_warnings(action="ignore", category=ConvergenceWarning)
        with silent, libraries().limit(limits=1):
            return _dense(KMeans(count, n_init=1, random_state=seed).fit(X, sample_weight=s).cluster_centers_)
    square = np.asarray(X.multiply(X).T @ s if hasattr(X, "multiply") else (X * X).T @ s, dtype=np.float64).ravel() / s.sum()
    spread = np.sqrt(np.maximum(square - mean**2, 0.0))
    return np.asarray(mean + NOISE * spread * rng.standard_normal((count, mean.size)))


def _dense(rows: Any) -> FloatArray:
    """Return rows as a dense float64 array."""
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)


# ------------------------------------------------------------ without labels
def parameter_of_count(estimator: Any) -> str:
    """Return the name of the parameter that says how many prototypes an estimator has."""
    return "n_clusters" if hasattr(estimator, "n_clusters") else "n_prototypes"


def require_rows(estimator: Any, n: int) -> None:
    """Refuse fewer rows than prototypes."""
    name = parameter_of_count(estimator)
    K = getattr(estimator, name)
    if n < K:
        msg = f"{type(estimator).__name__}: n_samples={n} should be >= {name}={K}. Lower {name}, or give more rows."
        raise InputError(msg)


def given_prototypes(estimator: Any, d: int) -> FloatArray:
    """Return the array given as `init`, shape (K, d); refuse any other shape."""
    given: FloatArray = check_array(estimator.init, dtype=np.float64, copy=True, input_name="init", estimator=estimator)
    expected = (int(getattr(estimator, parameter_of_count(estimator))), d)
    words = f"one row per prototype and one column per feature: shape {expected}"
    require(estimator, "init", words, holds=given.shape == expected)
    return given


def first_prototypes(estimator: Any, X: Matrix, view: View, s: FloatArray, rng: Any) -> FloatArray:
    """Return the first prototypes, shape (K, d), that an estimator's `init` asks for on rows weighted by s, shape (n,)."""
    init, K = estimator.init, int(getattr(estimator, parameter_of_count(estimator)))
    if not isinstance(init, str):
        return given_prototypes(estimator, X.shape[1])
    if init == "farthest":
        return farthest_first(view, s, K)
    if init == "k-means++":
        return _dense(kmeans_plusplus(X, K, sample_weight=(s / s.max()).astype(X.dtype), random_state=rng)[0])
    return _dense(X[np.sort(rng.choice(s.size, K, replace=np.count_nonzero(s) < K, p=s / s.sum()))])


def row_weights(estimator: Any, X: Matrix, sample_weight: Any) -> FloatArray:
    """Return the weights of the rows of X, shape (n,); refuse fewer rows than prototypes, and rows without weight."""
    owner, n = type(estimator).__name__, X.shape[0]
    require_rows(estimator, n)
    s = example_weights(None, sample_weight, np.zeros(1), np.zeros(n, dtype=np.int64), owner)
    if not s.any():
        msg = f"{owner}: all sample weights are 0, so there is nothing to learn from. Give some rows a positive weight."
        raise InputError(msg)
    return s
