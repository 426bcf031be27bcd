"""The singular values of a design: one decomposition that serves every ridge.

Problem    √S X̃ = U s Vᵀ, and b = Uᵀ√S Y: with these, weights, leave-one-out errors and evidence are sums over s for any λ.
Method     The eigenvalues of the smaller of X̃ᵀSX̃ and √S X̃X̃ᵀ √S, gathered in one pass over blocks of rows (or of columns).
           Squaring the data squares their condition number: where the smallest s² + λ falls below 1e-7 of the largest, or the
           targets are fitted so well that ‖Y‖² - ‖b‖² would be rounding, the design itself is decomposed: a wide one at once,
           of a tall one the triangle R that a QR factorisation block by block leaves (Demmel et al. 2012, "TSQR").
Guarantee  s² + λ is accurate to 1e-9 of itself by the first route, s to rounding of the largest s by the second. Directions
           with an s below the rounding of the data, before their centre was subtracted, count as none.
Reference  Golub and Van Loan 2013, sections 5.3 and 8.6; Demmel, Grigori, Hoemmen and Langou 2012, algorithm 1.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import linalg

from halfspace._typing import FloatArray
from halfspace.rows.design import Design

__all__ = ["Spectrum", "spectrum", "triangle"]

TRUSTED = 1e-7
"""Smallest s² + λ, relative to the largest s², that eigenvalues of the square are trusted with."""
WORK = 1e13
"""Multiplications above which the design itself is not decomposed."""
WIDE = 1 << 28
"""Entries above which a wide design is not: it would be held in memory as a whole."""
EPS = float(np.finfo(np.float64).eps)


class Spectrum(NamedTuple):
    """√S X̃ = U s Vᵀ without its zero directions, and the targets in it.

    `basis` holds V, shape (D, r), if the design is tall, else U, shape (n, r).
    """

    s: FloatArray
    basis: FloatArray
    b: FloatArray
    rest: FloatArray
    """Squared length of each target outside the columns of the design, shape (m,)."""
    right: FloatArray | None = None
    """V, shape (D, r), where the design itself was decomposed."""


def spectrum(design: Design, Y: FloatArray, ridge: float, *, precise: bool = False) -> Spectrum:
    """Decompose a design, with targets Y, shape (n, m), for ridges of at least `ridge`; `precise`: by the design itself."""
    found = None if precise else _by_square(design, Y, ridge)
    if found is not None:
        return found
    return _by_triangle(design, Y) if design.tall else _at_once(design, Y)


def _by_square(design: Design, Y: FloatArray, ridge: float) -> Spectrum | None:
    """Decompose AᵀA; None where that is not accurate enough."""
    values, vectors = linalg.eigh(design.normal())
    values, vectors = values[::-1], vectors[:, ::-1]
    weighted = design.root * Y
    affordable = float(max(design.n, design.D)) * min(design.n, design.D) ** 2 <= WORK and (
        design.tall or design.n * design.D <= WIDE
    )
    if affordable and not values[-1] + ridge > TRUSTED * values[0]:
        return None
    kept = values > max(min(design.n, design.D) * EPS * values[0], _noise(design, 0.0) ** 2)
    s, basis = np.sqrt(values[kept]), vectors[:, kept]
    if not design.tall:
        b = basis.T @ weighted
        return Spectrum(s, basis, b, ((weighted - basis @ b) ** 2).sum(axis=0))
    b = basis.T @ design.combine(design.s[:, None] * Y) / s[:, None]
    length = (weighted**2).sum(axis=0)
    rest = length - (b**2).sum(axis=0)
    if affordable and (rest <= TRUSTED * length).any():
        return None
    return Spectrum(s, basis, b, np.maximum(rest, 0.0))


def _noise(design: Design, largest: float) -> float:
    """Return the singular value that rounding alone can make, where the largest one is known."""
    subtracted = float(np.linalg.norm(design.centre)) * np.sqrt(design.s.sum())
    return max(design.n, design.D) * EPS * max(largest, subtracted)


def _at_once(design: Design, Y: FloatArray) -> Spectrum:
    """Decompose a wide design."""
    weighted = design.root * Y
    V, s, Ut = linalg.svd(design.block(0, design.D), full_matrices=False)
    kept = s > _noise(design, s[0])
    U = Ut[kept].T
    b = U.T @ weighted
    return Spectrum(s[kept], U, b, ((weighted - U @ b) ** 2).sum(axis=0), V[:, kept])


def _by_triangle(design: Design, Y: FloatArray) -> Spectrum:
    """Decompose the triangle R of a tall design; its targets ride along as further columns."""
    D = design.D
    R = triangle(design, design.root * Y)
    P, s, Vt = linalg.svd(R[:D, :D], full_matrices=False)
    kept = s > _noise(design, s[0])
    V, inside = Vt[kept].T, P.T @ R[:D, D:]
    rest = (inside[~kept] ** 2).sum(axis=0) + (R[D:, D:] ** 2).sum(axis=0)
    return Spectrum(s[kept], V, inside[kept], rest, V)


def triangle(design: Design, joined: FloatArray) -> FloatArray:
    """Return R of (A, joined) = QR, A tall: factor block below triangle, again and again, then all triangles together."""
    width = design.D + joined.shape[1]

    def work(ranges: Iterator[tuple[int, int]]) -> FloatArray:
        R = np.zeros((0, width))
        for start, stop in ranges:
            R = _upper(np.vstack([R, np.hstack([design.block(start, stop), joined[start:stop]])]))
        return R

    R = _upper(np.vstack(design.over_blocks(work, least=2 * width)))
    return np.vstack([R, np.zeros((max(width - R.shape[0], 0), width))])


def _upper(A: FloatArray) -> FloatArray:
    """Return R of A = QR, shape (min(n, k), k); SciPy's own call holds the interpreter's lock."""
    return np.asarray(np.linalg.qr(A, mode="r"))
