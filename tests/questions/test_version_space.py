"""The version space: members, centre, volume, outline, and what is left to ask."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import halfspace as hs
from halfspace.certificates.version_space import bounds, outside
from halfspace.errors import InputError
from halfspace.solvers.exact.spherical_polygon import corners


def problem(P, N, seed):
    rng = np.random.default_rng(seed)
    teacher, X = rng.standard_normal(N), rng.standard_normal((P, N))
    return X, (X @ teacher > 0).astype(int)


@pytest.mark.parametrize("seed", range(4))
def test_centre_and_volume_are_those_of_the_exact_polygon(seed):
    """Sampled centre and volume are within four standard errors of the exact patch's."""
    space = hs.VersionSpace(*problem(10, 3, seed), intercept="none", random_state=seed)
    polygon = space.polygon()
    assert np.arccos(min(1.0, polygon.centre @ space.centre)) < 4 * space.centre_error
    value, error = space.log_volume
    assert abs(value - np.log(polygon.area / (4 * np.pi))) < 4 * error


def test_an_octant_is_an_eighth_of_the_sphere():
    """The outline of the positive octant has three corners, area π/2 and its centre on the diagonal."""
    space = hs.VersionSpace(np.diag([1.0, -1.0, 3.0]), [1, 0, 1], intercept="none")
    polygon = space.polygon()
    assert sorted(polygon.corners) == [(0, 0, 1), (0, 1, 0), (1, 0, 0)]
    assert polygon.area == pytest.approx(np.pi / 2)
    assert polygon.centre == pytest.approx(np.full(3, 1 / np.sqrt(3)))


@pytest.mark.parametrize("N", [2, 3])
def test_outlines_are_confirmed_and_false_ones_are_not(N):
    """The checker confirms the outline, and refuses one without a corner, with another edge, or around other rows."""
    X, y = problem(30, N, 5)
    A = X * np.where(y == 1, 1.0, -1.0)[:, None]
    ring, edges = corners(A)
    assert bounds(A, ring, edges)
    assert not bounds(A, ring[1:], edges[1:])
    assert not bounds(A, ring, edges[1:] + edges[:1])
    assert not bounds(A, ring, [*edges[:-1], len(A)])
    inside = np.sum([np.array(v, dtype=float) / np.abs(np.array(v, dtype=float)).max() for v in ring], axis=0)
    cut = np.vstack([A, np.array([inside[1], -inside[0]] if N == 2 else np.cross(inside, A[0]))])
    assert not bounds(cut, ring, edges)
    assert not bounds(A[[i for i in range(30) if i not in edges]], ring, edges)


def test_members_are_inside_without_rounding():
    """Every member drawn is inside by fractions, in the input space, with a bias, from sparse rows, and in a kernel's space."""
    X, y = problem(40, 5, 1)
    for space in (hs.VersionSpace(X, y), hs.VersionSpace(X, y, "rbf"), hs.VersionSpace(sparse.csr_array(X), y)):
        for w in space.sample(5):
            exact = [
                sum((Fraction(a) * Fraction(b) for a, b in zip(row, w.tolist(), strict=True)), Fraction(0)) for row in space.A
            ]
            assert min(exact) > 0
        assert not outside(space.A, space.centre[None]).any()


def test_what_is_outside_by_less_than_rounding_is_outside():
    """Vectors on a wall, or beyond it by less than a float sum can tell, are outside; those as little inside are inside."""
    A = np.array([[1.0, 1.0, -2.0]])
    tiny = 2.0**-60
    W = np.array([[1.0, 1.0, 1.0], [1.0, 1.0 + 2.0**-52, 1.0], [1.0, -1.0, tiny], [1.0, -1.0, -tiny]])
    assert outside(A, W).tolist() == [True, False, True, False]


def test_the_same_seed_draws_the_same_members():
    """Members depend on the seed alone, and go on where they ended."""
    X, y = problem(20, 4, 2)
    one, other = hs.VersionSpace(X, y, random_state=3), hs.VersionSpace(X, y, random_state=3)
    assert np.array_equal(one.sample(20), other.sample(20))
    assert not np.array_equal(one.sample(20), other.sample(5)[:1].repeat(20, axis=0))


def test_labels_are_informative_or_forced_with_proofs():
    """Inside the classes' hulls a label is forced, between them both are possible, and each verdict is confirmed."""
    X, y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [3.0, 3.0]]), np.array(["no", "no", "no", "yes"])
    space = hs.VersionSpace(X, y)
    for x, expected in (([0.2, 0.2], "no"), ([4.0, 4.0], "yes"), ([1.5, 1.0], None)):
        found = space.informative(x)
        assert (found.informative, found.forced) == (expected is None, expected)
        for label, proof in zip(space.classes, found.proofs, strict=True):
            assert proof.verify(np.vstack([X, x]), np.append(y, label))


def test_shares_are_those_of_the_arc():
    """On a quarter circle the share of members with a positive output is the share of the angle."""
    space = hs.VersionSpace(np.eye(2), np.array([1, 0]), intercept="none")
    at = np.array([[1.0, 1.0], [np.cos(np.pi / 8), np.sin(np.pi / 8)], [1.0, -1.0]])
    assert space.share(at, 4000) == pytest.approx([0.5, 0.75, 1.0], abs=0.03)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: hs.VersionSpace([[0.0], [1.0], [2.0]], [0, 1, 0]), "no plane agrees with all labels .proved by multipliers."),
        (lambda: hs.VersionSpace([[0.0], [1.0], [2.0]], [0, 1, 2]), "labels of two classes. Got 3"),
        (lambda: hs.VersionSpace([[0.0], [1.0]], [0, 1], intercept="free"), "'clamped' or 'none'. Got 'free'"),
        (lambda: hs.VersionSpace(*problem(9, 5, 0)).polygon(), "two or three weights, without a kernel. Got 6"),
        (lambda: hs.VersionSpace([[1.0, 0.0], [-1.0, 0.0]], [1, 0], intercept="none").polygon(), "do not span the space"),
        (lambda: hs.VersionSpace([[0.0], [1.0]], [0, 1]).informative([1.0, 2.0]), "'x' must have 1 numbers. Got 2"),
        (lambda: hs.VersionSpace([[0.0], [1.0]], [0, 1], "rbf").informative([1.0]), "without a kernel"),
    ],
)
def test_what_cannot_be_answered_is_said(call, said):
    """Errors say what was expected and what came."""
    with pytest.raises(InputError, match=said):
        call()
