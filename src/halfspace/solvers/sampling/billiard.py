"""Random members of a cone, by a billiard.

Problem    Draw w from the normal distribution cut to the cone  A w >= 0;  its direction is then uniform on the part of the
           sphere inside: the version space, with rows a_i = y_i x_i.
Rule       From w, with a fresh normal velocity v, follow  w cos t + v sin t  for the time π/2. At the first wall i, where
           (A w)_i = 0, reflect:  v -= 2 (A v)_i/‖a_i‖² a_i.  The wall is the least ratio (A v)_i/(A w)_i, reached at the time
           π/2 + atan(ratio).  A v follows by the products G = A Aᵀ, so that a bounce costs n + N.
Theorem    The motion keeps the energy ‖w‖² + ‖v‖² and the volume in phase space, and a reflection does too: the cut normal
           distribution is stationary, without a rejection and with nothing to tune.
Reference  Ruján 1997 (playing billiards in version space); Pakman and Paninski 2014, algorithm 1.
"""

import math

import numpy as np

from halfspace._dispatch import compiled
from halfspace._typing import FloatArray

__all__ = ["billiard"]

FRESH = 16
"""After so many members A w is computed anew, before roundings add up."""
MOST = 100_000
"""Bounces after which a velocity is given up: a corner so narrow that its walls are one in floats."""


@compiled
def _play(A: FloatArray, G: FloatArray, w: FloatArray, Aw: FloatArray, V: FloatArray, AV: FloatArray, out: FloatArray) -> None:
    """Write one member per velocity; w and A w are moved along."""
    n, N = A.shape
    for s in range(V.shape[0]):
        v, Av = V[s], AV[s]
        left = 0.5 * math.pi
        for _ in range(MOST):
            wall, least = -1, 1e300
            for i in range(n):
                if Av[i] < least * Aw[i]:
                    wall, least = i, Av[i] / Aw[i] if Aw[i] > 0.0 else -np.inf
            t = min(left, 0.5 * math.pi + math.atan(least)) if wall >= 0 else left
            cos, sin = math.cos(t), math.sin(t)
            for j in range(N):
                w[j], v[j] = cos * w[j] + sin * v[j], cos * v[j] - sin * w[j]
            for i in range(n):
                Aw[i], Av[i] = max(cos * Aw[i] + sin * Av[i], 0.0), cos * Av[i] - sin * Aw[i]
            left -= t
            if left <= 0.0:
                break
            turn = 2.0 * Av[wall] / G[wall, wall]
            Aw[wall] = 0.0
            for j in range(N):
                v[j] -= turn * A[wall, j]
            for i in range(n):
                Av[i] -= turn * G[wall, i]
        out[s] = w


def billiard(A: FloatArray, G: FloatArray, w: FloatArray, size: int, rng: np.random.Generator) -> FloatArray:
    """Return members of the cone A w >= 0, shape (size, N), that follow its member w, shape (N,); go on from the last."""
    out = np.empty((size, w.size))
    w = w.copy()
    for begin in range(0, size, FRESH):
        part = out[begin : begin + FRESH]
        V = rng.standard_normal(part.shape)
        _play(A, G, w, np.maximum(A @ w, 0.0), V, V @ A.T, part)
    return out
