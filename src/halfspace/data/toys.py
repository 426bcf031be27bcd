"""Toy problems, with their true margin where one is known.

Each returns a `Toy`: examples, labels, and for separable problems a unit teacher (through the origin) and its margin.
"""

from typing import NamedTuple

import numpy as np

from halfspace._typing import FloatArray, IntArray
from halfspace.errors import InputError

__all__ = ["Toy", "checkerboard", "rings", "spirals", "teacher_student", "two_clouds", "xor"]

Seed = int | np.random.Generator | None


class Toy(NamedTuple):
    """A generated problem.

    Parameters
    ----------
    X : ndarray, shape (n, d)
        Examples.
    y : ndarray, shape (n,)
        Labels, -1 or +1.
    teacher : ndarray, shape (d,), or None
        A unit vector that separates the classes through the origin, if the problem was made by one.
    margin : float or None
        `min_i y_i teacher·x_i`, so a lower bound on the best margin.
    """

    X: FloatArray
    y: IntArray
    teacher: FloatArray | None = None
    margin: float | None = None


def _unit_rows(X: FloatArray) -> FloatArray:
    """Scale every row to length 1."""
    unit: FloatArray = X / np.linalg.norm(X, axis=1, keepdims=True)
    return unit


def teacher_student(n_examples: int = 100, n_features: int = 20, margin: float = 0.0, random_state: Seed = 0) -> Toy:
    """Examples uniform on the unit sphere, labelled by a random teacher, none closer to its plane than `margin`.

    A realizable rule, which a student (a perceptron) can learn: the usual setting for the generalisation error.

    Parameters
    ----------
    n_examples, n_features : int
        P and N.
    margin : float, default 0.0
        Smallest stability, below 1. Examples inside the gap are moved out of it along the teacher and back on the sphere,
        which keeps them uniform in the other directions.
    random_state : int, Generator or None
        Random seed.

    Returns
    -------
    Toy
        With the teacher and the margin it really has.

    Examples
    --------
    >>> toy = teacher_student(200, 10, margin=0.2)
    >>> toy.X.shape, bool(toy.margin >= 0.2)
    ((200, 10), True)
    """
    if not 0.0 <= margin < 1.0:
        msg = f"teacher_student: 'margin' must be at least 0 and below 1 (examples have length 1). Got {margin!r} instead."
        raise InputError(msg)
    rng = np.random.default_rng(random_state)
    teacher = _unit_rows(rng.standard_normal((1, n_features)))[0]
    X = _unit_rows(rng.standard_normal((n_examples, n_features)))
    along = X @ teacher
    side = np.where(along > 0, 1, -1)
    wanted = np.maximum(np.abs(along), margin * (1 + 1e-9)) * side
    across = X - along[:, None] * teacher
    lengths = np.linalg.norm(across, axis=1, keepdims=True)
    across = np.divide(across, lengths, out=np.zeros_like(across), where=lengths > 1e-12)
    X = wanted[:, None] * teacher + np.sqrt(np.maximum(1.0 - wanted**2, 0.0))[:, None] * across
    return Toy(X, side, teacher, float((side * (X @ teacher)).min()))


def two_clouds(n_examples: int = 200, n_features: int = 2, distance: float = 4.0, random_state: Seed = 0) -> Toy:
    """Two round Gaussian clouds of unit width, their centres `distance` apart.

    Examples
    --------
    >>> two_clouds(10).y.tolist()
    [-1, -1, -1, -1, -1, 1, 1, 1, 1, 1]
    """
    rng = np.random.default_rng(random_state)
    y = np.where(np.arange(n_examples) < n_examples // 2, -1, 1)
    X = rng.standard_normal((n_examples, n_features))
    X[:, 0] += 0.5 * distance * y
    return Toy(X, y)


def xor() -> Toy:
    """Return the four corners of a square, opposite corners in one class: no line separates them.

    Examples
    --------
    >>> xor().y.tolist()
    [1, -1, -1, 1]
    """
    return Toy(np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]), np.array([1, -1, -1, 1]))


def spirals(n_examples: int = 194, turns: float = 1.75, noise: float = 0.0, random_state: Seed = 0) -> Toy:
    """Two interlocking spirals, each the other turned by half a circle.

    Examples
    --------
    >>> toy = spirals()
    >>> bool(np.allclose(toy.X[0::2], -toy.X[1::2]))
    True
    """
    rng = np.random.default_rng(random_state)
    step = np.repeat(np.arange((n_examples + 1) // 2), 2)[:n_examples]
    share = step / max(step.max(), 1)
    angle, length = 2 * np.pi * turns * share, 0.1 + 0.9 * share
    y = np.where(np.arange(n_examples) % 2 == 0, 1, -1)
    X = (y * length)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return Toy(X + noise * rng.standard_normal(X.shape), y)


def checkerboard(n_examples: int = 1000, squares: int = 4, random_state: Seed = 0) -> Toy:
    """Points uniform on the unit square, coloured like a chess board of `squares` by `squares` fields.

    Examples
    --------
    >>> sorted(set(checkerboard(50).y.tolist()))
    [-1, 1]
    """
    X = np.random.default_rng(random_state).random((n_examples, 2))
    return Toy(X, np.where(np.floor(X * squares).astype(int).sum(axis=1) % 2 == 0, 1, -1))


def rings(n_examples: int = 400, radii: tuple[float, float] = (0.5, 1.0), noise: float = 0.05, random_state: Seed = 0) -> Toy:
    """One class on a ring around the other.

    Examples
    --------
    >>> rings(6, noise=0.0).y.tolist()
    [-1, 1, -1, 1, -1, 1]
    """
    rng = np.random.default_rng(random_state)
    y = np.where(np.arange(n_examples) % 2 == 0, -1, 1)
    angle = rng.random(n_examples) * 2 * np.pi
    length = np.where(y < 0, radii[0], radii[1])
    X = length[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return Toy(X + noise * rng.standard_normal(X.shape), y)
