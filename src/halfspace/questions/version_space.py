"""The version space: all planes that agree with the labels, as a patch of the unit sphere.

A plane is its weights, and the examples are walls: row i allows the half-sphere y_i w·x_i > 0. What all of them allow is the
version space, from which a teacher cannot be told apart by the labels given. Its centre of mass is the plane that disagrees
least with a random member; an example is informative if its plane cuts the patch, and otherwise its label is forced.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from halfspace._memory import admit
from halfspace._typing import FloatArray, Label, Labels, Matrix
from halfspace.certificates.margins.separability import Separability
from halfspace.certificates.rational import dense_rows
from halfspace.certificates.version_space import bounds, outside
from halfspace.errors import InputError
from halfspace.kernels import Kernel, as_kernel
from halfspace.models.parameters import read_matrix
from halfspace.questions.separability import separability
from halfspace.rows.labels import read_classes
from halfspace.solvers.exact.spherical_polygon import corners
from halfspace.solvers.run import Budget, run
from halfspace.solvers.sampling.cone import Cone, Drawing, bytes_of_cone
from halfspace.solvers.sampling.splitting import log_share_of_sphere

__all__ = ["Informative", "LogVolume", "SphericalPolygon", "VersionSpace"]

OWNER = type("VersionSpace", (BaseEstimator,), {})
"""In whose name scikit-learn's checks speak."""
CENTRE, BATCHES = 2000, 20
"""Members for the centre; batches for standard errors."""
LEVEL = 20_000
"""Members for each level of the volume, over the number of weights."""


class LogVolume(NamedTuple):
    """The logarithm of a share of the sphere, and its standard error."""

    value: float
    standard_error: float


class Informative(NamedTuple):
    """Whether the label of an example can still be either, with a proof for each label, the positive one last."""

    informative: bool
    forced: Label | None
    proofs: tuple[Separability, Separability]


@dataclass(frozen=True)
class SphericalPolygon:
    """A version space with two or three weights, exactly.

    Parameters
    ----------
    corners : tuple of tuple of int
        Corners in order, as whole vectors without rounding; the two ends of an arc.
    rows : tuple of int
        The examples that bound it: of the edge from each corner to the next; of an arc, at each end.
    vertices : ndarray, shape (m, D)
        The corners as unit vectors.
    area : float
        Area of the patch, or length of the arc; the whole sphere has 4π, the circle 2π.
    centre : ndarray, shape (D,)
        Direction of the centre of mass.
    """

    corners: tuple[tuple[int, ...], ...]
    rows: tuple[int, ...]
    vertices: FloatArray
    area: float
    centre: FloatArray


class VersionSpace:
    """All planes that agree with the labels of two classes: random members, centre, volume, outline, and what is left to ask.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Examples.
    y : array, shape (n,)
        Labels of two classes, which some plane must separate.
    kernel : Kernel, str or None, default None
        A kernel, in whose space the planes are then; None for planes in the input space.
    intercept : {"clamped", "none"}, default "clamped"
        Bias as the weight of a clamped input of 1 (of a kernel: K + 1), or none.
    random_state : int or Generator, default 0
        Seed of the members drawn.

    Attributes
    ----------
    classes : ndarray, shape (2,)
        The labels; the last counts as +1.
    A : ndarray, shape (n, D)
        Signed examples y_i (x_i, 1): members have A w > 0. Of a kernel: y_i (K_ij + 1), for coefficients of the examples.

    Examples
    --------
    >>> import numpy as np, halfspace as hs
    >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1, 0])
    >>> space = hs.VersionSpace(X, y, intercept="none")  # a quarter of the circle
    >>> round(space.polygon().area / np.pi, 6), (space.polygon().centre * np.sqrt(2)).round(6).tolist()
    (0.5, [1.0, -1.0])
    >>> members = space.sample(1000)
    >>> bool((members @ space.A.T > 0).all()), bool(abs(space.log_volume.value - np.log(0.25)) < 0.2)
    (True, True)
    >>> space.informative([1.0, 1.0]).informative, space.informative([1.0, -1.0]).forced
    (True, 1)
    """

    def __init__(
        self, X: Matrix, y: Labels, kernel: Kernel | str | None = None, *, intercept: str = "clamped", random_state: Any = 0
    ) -> None:
        if intercept not in {"clamped", "none"}:
            msg = f"The 'intercept' parameter of VersionSpace must be 'clamped' or 'none'. Got {intercept!r} instead."
            raise InputError(msg)
        self.X, self.y = read_matrix(OWNER(), X, y, reset=True)
        self.classes, target = read_classes(self.y, "VersionSpace")
        if self.classes.size != 2:
            msg = f"VersionSpace needs labels of two classes. Got {self.classes.size} instead: {self.classes.tolist()[:5]}."
            raise InputError(msg)
        self.intercept, self.clamp = intercept, float(intercept == "clamped")
        signs = np.where(target == 1, 1.0, -1.0)
        n, d = self.X.shape
        needed = bytes_of_cone(n, n if kernel is not None else d + 1, CENTRE, kernel=kernel is not None)
        admit("VersionSpace", needed, f"the walls of {n:,} x {d:,}", "give fewer rows or columns", self.X)
        if kernel is None:
            self.kernel = None
            self.A = signs[:, None] * _clamped(self.X, self.clamp)
            self._cone = Cone(self.A)
        else:
            self.kernel = as_kernel(kernel).resolved(self.X)
            K = self.kernel.exact(self.X) + self.clamp
            self.A, self._cone = signs[:, None] * K, Cone.of_kernel(K, signs)
        self._rng = np.random.default_rng(random_state)
        found = self._cone.enter(signs)
        if not found.margin > 0.0:
            why = "proved by multipliers" if found.multipliers else "too thin to be found in floats"
            msg = f"VersionSpace: no plane agrees with all labels ({why}), so there is none; `separability` says more."
            raise InputError(msg)

    def sample(self, n: int = 1000) -> FloatArray:
        """Return random members, uniform on the version space, each proved inside in rational arithmetic.

        By the billiard of `halfspace.solvers.sampling.billiard`; each call goes on where the last one ended.

        Parameters
        ----------
        n : int, default 1000
            Number of members.

        Returns
        -------
        ndarray, shape (n, D)
            Weights of length 1, the bias last if there is one. Of a kernel: coefficients of the examples.
        """
        drawing = Drawing(self._cone, max(int(n), 1), self._rng, lambda members: outside(self.A, members))
        done = run(drawing, Budget(1 << 62))
        if done.outcome.reason == "interrupted":
            raise KeyboardInterrupt
        if not done.outcome.converged:
            msg = "VersionSpace: too thin to draw members that are inside it without rounding. "
            msg += "Scale the columns, or take fewer rows."
            raise InputError(msg)
        members: FloatArray = done.state.members(int(n))
        return members

    @cached_property
    def _centre(self) -> tuple[FloatArray, float]:
        members = self.sample(CENTRE)
        means = np.stack([part.mean(axis=0) for part in np.array_split(members, BATCHES)])
        centre, spread = means.mean(axis=0), means - means.mean(axis=0)
        K = np.eye(centre.size) if self.kernel is None else self.kernel.exact(self.X) + self.clamp
        length = float(np.sqrt(centre @ K @ centre))
        return centre / length, float(np.sqrt(np.einsum("bi,ij,bj->", spread, K, spread) / (BATCHES * (BATCHES - 1)))) / length

    @property
    def centre(self) -> FloatArray:
        """Centre of mass of the version space by sampling, length 1, shape (D,); inside, as the patch is convex."""
        return self._centre[0]

    @property
    def centre_error(self) -> float:
        """Standard error of the centre's direction, an angle in radians."""
        return self._centre[1]

    @cached_property
    def log_volume(self) -> LogVolume:
        """Logarithm of the version space's share of the whole sphere, with its standard error, by splitting."""
        size = int(np.clip(LEVEL // self._cone.at.size, 200, 4000))
        return LogVolume(*log_share_of_sphere(self._cone.walls, self._cone.at, size, self._rng))

    def share(self, X: Matrix, n: int = 1000) -> FloatArray:
        """Return the share of n random members that say the positive class, shape (m,), for examples X, shape (m, d)."""
        members, X = self.sample(n), read_matrix(OWNER(), X, reset=True)
        rows = _clamped(X, self.clamp) if self.kernel is None else self.kernel.exact(X, self.X) + self.clamp
        said: FloatArray = (rows @ members.T > 0.0).mean(axis=1)
        return said

    def polygon(self) -> SphericalPolygon:
        """Return the exact outline of a version space of two or three weights, its area and its centre of mass.

        Corners are whole numbers, checked to bound all members and nothing else. The area is the sum of triangles (Girard); the
        centre is ½ Σ (length of edge)·(unit normal of its row), by Stokes' theorem.

        Returns
        -------
        SphericalPolygon
            The outline.
        """
        A = self.A
        if self.kernel is not None or A.shape[1] not in {2, 3}:
            msg = f"VersionSpace.polygon needs two or three weights, without a kernel. Got {A.shape[1]} instead."
            raise InputError(msg)
        ring, edges = corners(A)
        if not ring:
            msg = "VersionSpace.polygon: the examples do not span the space, so the version space reaches around the sphere."
            raise InputError(msg)
        if not bounds(A, ring, edges):
            msg = "VersionSpace.polygon: the outline could not be confirmed; please report this."
            raise RuntimeError(msg)
        V = np.array([[x / max(map(abs, v)) for x in v] for v in ring], dtype=np.float64)
        V /= np.linalg.norm(V, axis=1, keepdims=True)
        if A.shape[1] == 2:
            area, centre = _angle(V[0], V[1]), V.sum(axis=0)
        else:
            normals = A[edges] / np.linalg.norm(A[edges], axis=1, keepdims=True)
            lengths = np.array([_angle(a, b) for a, b in zip(V, np.roll(V, -1, axis=0), strict=True)])
            area, centre = _area(V), 0.5 * lengths @ normals
        return SphericalPolygon(tuple(ring), tuple(edges), V, area, centre / np.linalg.norm(centre))

    def informative(self, x: Any) -> Informative:
        """Tell whether both labels of a new example are still possible, or one is forced, by an exact proof for each label.

        A label is possible if a plane agrees with it and all others; it is impossible by Gordan's multipliers.

        Parameters
        ----------
        x : array, shape (d,)
            A new example.

        Returns
        -------
        Informative
            `informative`, the label that is `forced` if it is not, and both proofs, about the examples with x as the last row.
        """
        if self.kernel is not None:
            msg = "VersionSpace.informative proves labels of planes in the input space: use it without a kernel."
            raise InputError(msg)
        row = np.asarray(x, dtype=np.float64).reshape(1, -1)
        if row.shape[1] != self.X.shape[1]:
            msg = f"VersionSpace.informative: 'x' must have {self.X.shape[1]} numbers. Got {row.shape[1]} instead."
            raise InputError(msg)
        X = np.vstack([_clamped(self.X, 0.0), row])
        negative, positive = (separability(X, np.append(self.y, label), intercept=self.intercept) for label in self.classes)
        possible = [proof.verdict != "inseparable" for proof in (negative, positive)]
        forced = None if all(possible) or not any(possible) else self.classes.tolist()[possible.index(True)]
        return Informative(all(possible), forced, (negative, positive))


def _clamped(X: Matrix, clamp: float) -> FloatArray:
    """Return rows as a dense array, the clamped input last."""
    return dense_rows(X, np.arange(X.shape[0]), clamp)


def _angle(a: FloatArray, b: FloatArray) -> float:
    """Return the angle between unit vectors, small ones to all their digits."""
    return float(2.0 * np.arctan2(np.linalg.norm(a - b), np.linalg.norm(a + b)))


def _area(V: FloatArray) -> float:
    """Return the area of a convex spherical polygon, as a fan of triangles (van Oosterom and Strackee 1983)."""
    total = 0.0
    for b, c in pairwise(V[1:]):
        volume = abs(float(np.linalg.det(np.stack([V[0], b - V[0], c - V[0]]))))
        total += 2.0 * float(np.arctan2(volume, 1.0 + V[0] @ b + b @ c + c @ V[0]))
    return total
