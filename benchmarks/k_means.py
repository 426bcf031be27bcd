"""K-means: our class over scikit-learn's own, the same results to the bit, and how much time it adds."""

from functools import partial

import numpy as np
from sklearn import cluster

from benchmarks.race import Case
from halfspace import KMeans

SIZES = [(1_000, 2, 8, 40), (20_000, 10, 10, 40), (100_000, 20, 10, 7), (300_000, 50, 20, 3)]
"""Rows, features, prototypes, repeats."""


def blobs(n, d, K):
    """Draw rows around K centres that overlap, so that Lloyd's steps have something to do."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((K, d))[rng.integers(K, size=n)] + rng.standard_normal((n, d))


def same(outputs):
    """Check that both gave the same bits."""
    ours, theirs = outputs.values()
    for name in ("cluster_centers_", "labels_"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    if (ours.inertia_, ours.n_iter_) != (theirs.inertia_, theirs.n_iter_):
        message = "KMeans differs from scikit-learn's"
        raise AssertionError(message)
    return f"bit-equal after {ours.n_iter_} steps; {ours.certificate_}"


def cases():
    """Yield one case per size."""
    for n, d, K, repeats in SIZES:
        X = blobs(n, d, K)
        contestants = {
            "halfspace": partial(KMeans(K, random_state=0).fit, X),
            "scikit-learn": partial(cluster.KMeans(K, random_state=0).fit, X),
        }
        yield Case(f"KMeans, {n:,} x {d}, K = {K}", contestants, bar=1.05, at_most=True, check=same, repeats=repeats)
