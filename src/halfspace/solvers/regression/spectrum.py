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
from scipy import linalg, sparse

from halfspace._memory import room
from halfspace._typing import FloatArray
from halfspace.rows.design import Design

__all__ = ["FLOPS", "Spectrum", "decomposable", "free_rows", "least_default", "spectrum", "triangle"]

TRUSTED = 1e-7
"""Smallest s² + λ, relative to the largest s², that eigenvalues of the square are trusted with."""
WORK, SPARSE_WORK = 3e11, 2e10
"""Multiplications above which the design itself is not decomposed; of sparse rows, which would be made dense for it."""
FLOPS = 5e9
"""Operations of a decomposition in a second, where the machine is slow."""
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


def spectrum(design: Design, Y: FloatArray, ridge: float | None, *, precise: bool = False) -> Spectrum:
    """Decompose a design, with targets Y, shape (n, m), for ridges of at least `ridge`; `precise`: by the design itself.

    None: for `least_default` of the singular values.
    """
    found = None if precise else _by_square(design, Y, ridge)
    if found is not None:
        return found
    return _by_triangle(design, Y) if design.tall else _at_once(design, Y)


def least_default(squares: FloatArray) -> float:
    """Return the smallest λ that is tried if none is given, a millionth of the mean of the squared singular values (r,)."""
    return 1e-6 * float(squares.mean()) if squares.size else 1e-6


def decomposable(design: Design, seconds: float | None = None) -> bool:
    """Tell whether the design itself can be decomposed: it fits in memory if it is wide, and in so many seconds."""
    short, long = sorted((design.n, design.D))
    work = float(long) * short**2
    fits = design.tall or 32.0 * design.n * design.D <= room(design.X)
    in_time = seconds is None or 20.0 * work <= FLOPS * seconds
    return fits and in_time and work <= (SPARSE_WORK if sparse.issparse(design.X) else WORK)


def free_rows(design: Design, square: FloatArray) -> FloatArray | None:
    """Return the direction u, shape (n, 1), in which the square AᵀA of a wide design vanishes as its rows are about their mean.

    None where they are not: Σ s_i x̃_i = 0 is looked up, not believed.
    """
    if design.tall or not design.centre.any():
        return None
    u = design.root / np.linalg.norm(design.root)
    return u if np.linalg.norm(square @ u) <= 1e-9 * np.trace(square) / design.n else None


def _by_square(design: Design, Y: FloatArray, ridge: float | None) -> Spectrum | None:
    """Decompose AᵀA; None where that is not accurate enough."""
    square = design.normal()
    known = int(free_rows(design, square) is not None)
    values, vectors = linalg.eigh(square)
    values, vectors = values[known:][::-1], vectors[:, known:][:, ::-1]
    weighted, affordable = design.root * Y, decomposable(design)
    least = least_default(values) if ridge is None else ridge
    if affordable and values.size and not values[-1] + least > TRUSTED * values[0]:
        return None
    kept = values > max(min(design.n, design.D) * EPS * values.max(initial=0.0), _noise(design, 0.0) ** 2)
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
