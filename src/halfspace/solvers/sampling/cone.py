"""A version space as a cone: where its walls are, a first member, and random members one after the other.

Planes     Rows a_i = y_i (x_i, clamp): members are w with A w > 0.
Functions  Of a kernel, a_i = y_i φ(x_i) in the span of the examples: with K = V diag(λ) Vᵀ the row of example i is
           y_i V_i diag(√λ), and coefficients of the examples are  c = V diag(1/√λ) w.  Directions with λ below 1e-10 of the
           largest are left out: functions along them are all but zero on the examples.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from halfspace._typing import FloatArray, Labels
from halfspace.rows.threads import one_blas_thread
from halfspace.rows.views import view_of
from halfspace.solvers.exact.separating import Finding, Signed, search
from halfspace.solvers.outcome import Reason
from halfspace.solvers.sampling.billiard import FRESH, billiard

__all__ = ["Cone", "Drawing", "Drawn", "bytes_of_cone", "spanned"]

BURN_IN = 96
"""Members left out at first."""
RANK = 1e-10
"""Directions of a kernel's space below this share of the longest are left out."""
FRUITLESS = 20
"""Times as many members as asked for, after which none is known to be inside: too thin for floats."""
PIECE = 1 << 22
"""Numbers that a step of drawing reads, about: n (n + N) for a handful of bounces."""


def spanned(K: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the directions that examples span in a kernel's space, shape (n, r), and their lengths √λ, (r,)."""
    with one_blas_thread():
        values, vectors = np.linalg.eigh(K)
    long = values > RANK * values[-1]
    return vectors[:, long], np.sqrt(values[long])


def bytes_of_cone(n: int, N: int, members: int, *, kernel: bool) -> float:
    """Predict the bytes of a cone of n walls and N weights, and of the members drawn."""
    matrices = 4.0 * n * n if kernel else 3.0 * n * N + n * n
    return 8.0 * (matrices + 3.0 * members * N)


class Cone:
    """All w with A w > 0.

    Parameters
    ----------
    walls : ndarray, shape (n, N)
        The rows a_i.
    basis : ndarray, shape (n, N), or None
        What turns members into coefficients of the examples, for a kernel.
    """

    def __init__(self, walls: FloatArray, basis: FloatArray | None = None) -> None:
        self.walls, self.basis = walls, basis
        self.at, self.burnt = np.zeros(walls.shape[1]), 0

    @classmethod
    def of_kernel(cls, K: FloatArray, signs: FloatArray) -> "Cone":
        """Return the cone of functions in the span of the examples, from their kernel values (n, n) and signs (n,)."""
        return cls.in_span(*spanned(K), signs)

    @classmethod
    def in_span(cls, vectors: FloatArray, roots: FloatArray, signs: FloatArray) -> "Cone":
        """Return the cone of functions, from the directions (n, r) and lengths (r,) of `spanned`, and signs (n,)."""
        return cls(signs[:, None] * vectors * roots, vectors / roots)

    @cached_property
    def G(self) -> FloatArray:  # noqa: N802  (a matrix)
        """Products of the walls, shape (n, n): for the billiard, not for a first member."""
        with one_blas_thread():  # members are the same bits for any number of threads
            return np.asarray(self.walls @ self.walls.T)

    def enter(self, signs: FloatArray, late: Callable[[], bool] = lambda: False) -> Finding:
        """Look for a first member, or for multipliers that prove that there is none, and stand there."""
        rows = np.ascontiguousarray(self.walls * signs[:, None])
        with one_blas_thread():
            found = search(Signed(rows, view_of(rows, 0.0), signs, 0.0), late, exact=self.basis is None)
        length = float(np.linalg.norm(found.weights))
        self.at = found.weights / length if length > 0.0 else found.weights
        return found

    def draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Return the next n members by the billiard, shape (n, N), each of length 1."""
        drawn = billiard(self.walls, self.G, self.at, n, rng)
        self.at = drawn[-1]
        unit: FloatArray = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
        return unit

    def shown(self, members: FloatArray) -> FloatArray:
        """Return members as weights, or as coefficients of the examples."""
        return members if self.basis is None else members @ self.basis.T


@dataclass
class Drawn:
    """Members so far, each known to be inside, and how many were drawn in vain."""

    parts: list[FloatArray]
    kept: int = 0
    vain: int = 0

    def members(self, n: int) -> FloatArray:
        """Return the first n members, shape (n, D) or fewer."""
        return np.concatenate(self.parts)[:n]


@dataclass(frozen=True)
class Drawing:
    """Draw members of a cone until there are enough that are surely inside."""

    cone: Cone
    size: int
    rng: np.random.Generator
    outside: Callable[[FloatArray], Labels]
    """Tells of members as they are shown, shape (m, D), which are not surely inside."""
    unit: str = "batch"
    columns: tuple[str, ...] = ()

    def start(self) -> Drawn:
        """Begin with none."""
        width = self.cone.walls.shape[1] if self.cone.basis is None else self.cone.basis.shape[0]
        return Drawn([np.empty((0, width))])

    def step(self, state: Drawn, most: int) -> tuple[FloatArray, ...]:  # noqa: ARG002  (a step is a batch)
        """Draw a batch."""
        with one_blas_thread():
            return self._step(state)

    def _step(self, state: Drawn) -> tuple[FloatArray, ...]:
        n, N = self.cone.walls.shape
        if self.cone.burnt < BURN_IN:
            self.cone.draw(FRESH, self.rng)
            self.cone.burnt += FRESH
            return ()
        batch = min(max(FRESH, PIECE // max(n * (n + N), 1)), self.size - state.kept)
        found = self.cone.shown(self.cone.draw(max(batch, 1), self.rng))
        found = found[~self.outside(found)]
        state.parts.append(found)
        state.kept += len(found)
        state.vain += max(batch, 1) - len(found)
        return (np.ones(1),)

    def status(self, state: Drawn) -> Reason | None:
        """Tell whether there are enough, or whether floats cannot tell members from the walls."""
        if state.kept >= self.size:
            return "solved"
        return "rounding limit reached" if state.vain > FRUITLESS * self.size else None
