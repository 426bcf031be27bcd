"""What is inside a version space, and what bounds it, decided in rational arithmetic: every float is a fraction.

Member     w with  a_i·w > 0  for all rows a_i = y_i x_i. A float sum decides where it is larger than its own rounding,
           |error| <= (N + 4) 2^-52 ‖a_i‖ ‖w‖;  the others are computed without rounding.
Kernel     The values of a kernel are rounded themselves: a function is a member if every potential is larger than what all
           roundings together can make of it (`halfspace.certificates.expansion`).
Polygon    Corners c_1 ... c_m with  A c >= 0  are in the closed patch, and so is all between them. The other way round: if the
           edge from c_k to c_{k+1} lies on a row e_k,  e_k·c_k = e_k·c_{k+1} = 0,  the patch is within the half-spaces of these
           rows, whose common part is the polygon, as no other corner is on that row. Each end of an arc is on a row of its own.
"""

import numpy as np

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.certificates.arithmetic import EPS
from halfspace.certificates.expansion import Scales, outputs
from halfspace.certificates.rational import exact_potentials, whole
from halfspace.kernels import Kernel

__all__ = ["bounds", "outside", "unsure"]

BLOCK_ENTRIES = 1 << 22
"""Potentials held at a time."""


def outside(A: FloatArray, W: FloatArray) -> Labels:
    """Tell of vectors W, shape (S, N), which are not strictly inside A w > 0, for rows A, shape (n, N): shape (S,), of bool."""
    lengths = np.linalg.norm(A, axis=1)
    step = max(1, BLOCK_ENTRIES // max(A.shape[0], 1))
    parts = [_outside(A, W[begin : begin + step], lengths) for begin in range(0, W.shape[0], step)]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=bool)


def _outside(A: FloatArray, W: FloatArray, lengths: FloatArray) -> Labels:
    E = W @ A.T
    scale = np.linalg.norm(W, axis=1)[:, None] * lengths
    rounding = 2.0 * (A.shape[1] + 4) * EPS * scale + A.shape[1] * np.finfo(np.float64).tiny
    out: Labels = ~(rounding > -E).all(axis=1)
    for s, i in zip(*np.nonzero(~(rounding < E)), strict=True):
        out[s] = out[s] or exact_potentials(A[i : i + 1], W[s])[0] <= 0
    return out


def unsure(
    kernel: Kernel, X: Matrix, signs: FloatArray, C: FloatArray, clamp: float, size: Scales, slack: float = 1.0
) -> Labels:
    """Tell of functions with coefficients C, shape (S, n), at all examples which are not surely right on each: shape (S,).

    A potential counts if it is larger than `slack` times the bound on its rounding.
    """
    rows = np.arange(signs.size)
    step, out = max(1, BLOCK_ENTRIES // max(signs.size, 1)), np.zeros(C.shape[0], dtype=bool)
    for begin in range(0, C.shape[0], step):
        c = C[begin : begin + step].T
        E = signs[:, None] * outputs(kernel, X, rows, c, clamp)
        out[begin : begin + step] = ~(slack * size.errors(rows, c)[0] < E).all(axis=0)
    return out


def bounds(A: FloatArray, corners: list[tuple[int, ...]], edges: list[int]) -> bool:
    """Tell whether whole vectors in order are the corners of the patch A w >= 0, with the rows that bound its edges."""
    if len(corners) < A.shape[1] or len(corners) != len(edges) or not all(0 <= e < A.shape[0] for e in edges):
        return False
    rows, ring = whole(A)[0].reshape(A.shape), np.array(corners, dtype=object)
    inside = rows @ ring.T
    if (inside < 0).any():
        return False
    k = np.arange(len(corners))
    ends = [k] if A.shape[1] == 2 else [k, (k + 1) % k.size]
    on_edge = inside[edges] == 0
    return all(on_edge[k, end].all() for end in ends) and bool((on_edge.sum(axis=1) == len(ends)).all())
