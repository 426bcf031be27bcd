"""The volume of a cone, by splitting.

Problem    The share of the sphere with A w >= 0, far too small to be hit by chance.
Rule       Add the rows a few at a time. At each level, members of the cone of the rows so far show how many of the next rows at
           least half of them satisfy (the pilot); other members then measure that share. The volume is the product.
Theorem    Each share is an unbiased estimate, as the pilot that chose its level has no part in it. The standard error of the
           logarithm adds up the relative variances, by means over batches, as members of a billiard are nearly independent.
Reference  Kahn and Harris 1951; Cérou, Del Moral, Furon and Guyader 2012.
"""

import numpy as np

from halfspace._typing import FloatArray
from halfspace.solvers.sampling.billiard import billiard

__all__ = ["log_share_of_sphere"]

BATCHES = 20


def log_share_of_sphere(A: FloatArray, w: FloatArray, size: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return the logarithm of the share of the sphere with A w >= 0, and its standard error.

    A member w of the cone is where it begins; `size` members are drawn for each level, and half as many for its pilot.
    """
    G, m, value, variance = A @ A.T, 0, 0.0, 0.0
    while m < A.shape[0]:
        pilot = _members(A[:m], G[:m, :m], w, size // 2, rng)
        kept = np.logical_and.accumulate(pilot @ A[m:].T > 0.0, axis=1).mean(axis=0)
        ahead = max(1, int(np.count_nonzero(kept >= 0.5)))
        drawn = _members(A[:m], G[:m, :m], pilot[-1], size, rng)
        inside = (drawn @ A[m : m + ahead].T > 0.0).all(axis=1)
        p = inside.mean()
        if p == 0.0:  # one row that hardly any member satisfies: look longer
            size *= 2
            continue
        means = np.array([batch.mean() for batch in np.array_split(inside, BATCHES)])
        value += float(np.log(p))
        variance += float(means.var(ddof=1) / BATCHES / p**2)
        w, m = drawn[np.flatnonzero(inside)[-1]], m + ahead
    return value, float(np.sqrt(variance))


def _members(A: FloatArray, G: FloatArray, w: FloatArray, size: int, rng: np.random.Generator) -> FloatArray:
    """Return members of a cone; of the whole space, normal vectors."""
    return billiard(A, G, w, size, rng) if A.shape[0] else rng.standard_normal((size, w.size))
