"""The version space: members, centre, volume, outline, and what is left to ask."""

from fractions import Fraction
from importlib import import_module
from inspect import signature

import numpy as np
import pytest
from scipy import sparse

import halfspace as hs
from halfspace.certificates import version_space as checker
from halfspace.certificates.version_space import bounds, outside
from halfspace.errors import InputError
from halfspace.kernels import RBF
from halfspace.solvers.exact.spherical_polygon import corners
from halfspace.solvers.sampling import cone

questions = import_module("halfspace.questions.version_space")


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


@pytest.mark.parametrize("seed", range(5))
def test_areas_are_those_of_girard(seed):
    """The area is the sum of the corners' angles less π for each beyond two; the centre is that of thin slices of the patch."""
    space = hs.VersionSpace(*problem(8, 3, seed), intercept="none")
    found = space.polygon()
    V, m = found.vertices, len(found.corners)
    assert np.linalg.norm(V, axis=1) == pytest.approx(np.ones(m))
    assert all(V[k] @ np.array(v, dtype=float) > 0 for k, v in enumerate(found.corners))
    angles, moment = 0.0, np.zeros(3)
    for k in range(m):
        before, at, after = V[k - 1], V[k], V[(k + 1) % m]
        to = [side - (side @ at) * at for side in (before, after)]
        angles += np.arccos(to[0] @ to[1] / np.linalg.norm(to[0]) / np.linalg.norm(to[1]))
        normal = np.cross(at, after)
        moment += np.arccos(at @ after) * normal / np.linalg.norm(normal)
        assert abs(space.A[found.rows[k]] @ at) + abs(space.A[found.rows[k]] @ after) < 1e-12
    assert found.area == pytest.approx(angles - (m - 2) * np.pi, abs=1e-10)
    moment *= np.sign(moment @ V.sum(axis=0))
    assert found.centre == pytest.approx(moment / np.linalg.norm(moment), abs=1e-9)


def test_arcs_have_their_length_and_middle():
    """With two weights the patch is an arc between its ends."""
    space = hs.VersionSpace(*problem(9, 2, 1), intercept="none")
    found = space.polygon()
    a, b = found.vertices
    assert found.area == pytest.approx(np.arccos(a @ b))
    assert found.centre == pytest.approx((a + b) / np.linalg.norm(a + b))
    tiny = np.array([np.cos(1e-9), np.sin(1e-9)])
    assert questions._angle(np.array([1.0, 0.0]), tiny) == pytest.approx(1e-9, rel=1e-6)


def test_members_are_drawn_until_there_are_enough(monkeypatch):
    """96 are left out once; those outside are drawn again, until twenty times as many were in vain; at least one is drawn."""
    asked = []

    def billiard(walls, G, at, n, rng):  # noqa: ARG001
        asked.append(n)
        return np.tile(at, (n, 1)) * 2.0

    def beyond(A, W):  # noqa: ARG001
        return np.arange(len(W)) >= (len(W) + 1) // 2

    monkeypatch.setattr(cone, "billiard", billiard)
    monkeypatch.setattr(questions, "outside", beyond)
    space = hs.VersionSpace(*problem(9, 3, 0))
    members = space.sample(8)
    assert members.shape == (8, 4)
    assert np.linalg.norm(members, axis=1) == pytest.approx(np.ones(8))
    assert asked == [16] * 6 + [8, 4, 2, 1]
    asked.clear()
    monkeypatch.setattr(questions, "outside", lambda A, W: np.zeros(len(W), dtype=bool))  # noqa: ARG005
    assert space.sample(3).shape == (3, 4)
    assert space.sample(0).shape == (0, 4)
    assert space.sample().shape == (1000, 4)
    assert asked == [3, 1, 1000]
    asked.clear()
    monkeypatch.setattr(questions, "outside", lambda A, W: np.ones(len(W), dtype=bool))  # noqa: ARG005
    with pytest.raises(InputError, match="too thin"):
        space.sample(5)
    assert asked == [5] * 21
    left = [3]
    monkeypatch.setattr(questions, "outside", lambda A, W: np.arange(len(W)) >= (left.pop() if left else 1))  # noqa: ARG005
    assert len(space.sample(5)) == 5


@pytest.mark.parametrize("kernel", [None, RBF(0.5)])
def test_centres_are_means_of_batches(kernel, monkeypatch):
    """The mean of 2,000 members, in the kernel's length; its error is that of the mean of twenty batches."""
    X, y = problem(6, 2, 0)
    space = hs.VersionSpace(X, y, kernel)
    D = space.A.shape[1]
    drawn = 1.0 + np.random.default_rng(0).random((2000, D))
    monkeypatch.setattr(space, "sample", lambda n: drawn[:n])
    K = np.eye(D) if kernel is None else kernel.exact(X) + 1.0
    mean = drawn.mean(axis=0)
    length = np.sqrt(mean @ K @ mean)
    off = drawn.reshape(20, 100, D).mean(axis=1) - mean
    assert space.centre == pytest.approx(mean / length)
    assert space.centre_error == pytest.approx(np.sqrt(sum(one @ K @ one for one in off) / (20 * 19)) / length)
    assert (cone.BURN_IN, questions.CENTRE, questions.BATCHES, questions.LEVEL) == (96, 2000, 20, 20_000)


def test_walls_of_a_kernel_are_those_of_its_matrix():
    """Their products are those of the matrix with the clamped input, signs included; directions of no length are left out."""
    X, y = problem(7, 2, 1)
    sign = np.where(y == 1, 1.0, -1.0)
    twice, labels = np.vstack([X, X]), np.concatenate([y, y])
    for data, of, clamp in ((X, y, 1.0), (X, y, 0.0), (twice, labels, 1.0)):
        space = hs.VersionSpace(data, of, RBF(0.5), intercept="clamped" if clamp else "none")
        s = np.where(of == 1, 1.0, -1.0)
        K = RBF(0.5).exact(data) + clamp
        np.testing.assert_allclose(space.A, s[:, None] * K, rtol=1e-12)
        np.testing.assert_allclose(space._cone.walls @ space._cone.walls.T, s[:, None] * K * s, atol=1e-10)
        assert space._cone.walls.shape[1] == 7
        c = space.sample(3)
        assert (space.A @ c.T > 0).all()
        assert np.einsum("si,ij,sj->s", c, K, c) == pytest.approx(np.ones(3))
        shares = space.share(data, 20)
        assert shares.tolist() == (of == 1).astype(float).tolist()
    assert cone.RANK == 1e-10
    plain = hs.VersionSpace(X, y)
    np.testing.assert_allclose(plain.A, sign[:, None] * np.hstack([X, np.ones((7, 1))]))
    assert np.linalg.norm(plain._cone.at) == pytest.approx(1.0)
    assert signature(hs.VersionSpace.sample).parameters["n"].default == 1000
    assert signature(hs.VersionSpace.share).parameters["n"].default == 1000
    assert signature(hs.VersionSpace).parameters["random_state"].default == 0


@pytest.mark.parametrize(("D", "size"), [(3, 4000), (10, 2000), (120, 200)])
def test_levels_of_the_volume_have_so_many_members(D, size, monkeypatch):
    """20,000 over the number of weights, but from 200 to 4,000."""
    monkeypatch.setattr(questions, "log_share_of_sphere", lambda walls, at, members, rng: (float(members), 0.5))  # noqa: ARG005
    space = hs.VersionSpace(*problem(4, D, 0), intercept="none")
    assert space.log_volume == (size, 0.5)


def test_an_output_of_zero_is_not_positive():
    """The share of members counts outputs above 0."""
    space = hs.VersionSpace(np.eye(2), np.array([1, 0]), intercept="none")
    assert space.share(np.zeros((1, 2)), 5).tolist() == [0.0]


def test_which_sums_are_decided_exactly(monkeypatch):
    """Those within twice (N + 4) roundings of the lengths; beyond, the float decides, to either side."""
    asked = []
    plain = checker.exact_potentials
    monkeypatch.setattr(checker, "EPS", 2.0**-20)
    monkeypatch.setattr(checker, "exact_potentials", lambda A, w: asked.append(w[0]) or plain(A, w))
    A = np.array([[3.0, 0.0, 0.0]])
    edge = 2.0 * 7 * 2.0**-20
    at = [-2.0 * edge, -1.01 * edge, -0.99 * edge, 0.0, 0.99 * edge, 1.01 * edge]
    W = np.array([[x, 1.0, 0.0] for x in at])
    assert outside(A, W).tolist() == [True, True, True, True, False, False]
    assert asked == at[2:5]
    assert outside(A, np.zeros((1, 3))).tolist() == [True]
    assert outside(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]])).tolist() == [
        False,
        True,
        True,
    ]


def test_outlines_need_enough_corners_inside_and_edges_of_their_own():
    """Fewer corners than weights, an edge that is no row, a corner outside, or a row through a third corner."""
    A = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    ring, edges = [(1, 0, 0), (0, 1, 0), (0, 0, 1)], [2, 0, 1]
    assert bounds(A, ring, edges)
    for wrong in ([2, 0, -1], [2, 0, 3], [2, 0], [0, 2, 1]):
        assert not bounds(A, ring, wrong)
    assert not bounds(A, [(1, 0, 0), (0, 1, 0), (0, -1, 1)], edges)
    assert not bounds(A, ring[:2], edges[:2])
    assert not bounds(A, [*ring, (0, 1, 1)], [2, 0, 1, 0])
    assert bounds(np.eye(2), [(0, 1), (1, 0)], [0, 1])
    assert not bounds(np.eye(2), [(0, 1), (1, 0)], [1, 0])
    assert not bounds(np.eye(2), [(0, 1)], [0])
    assert not bounds(np.eye(2), [(0, 1), (0, 2)], [0, 0])


def test_corners_of_any_size_have_directions():
    """Whole numbers far beyond the largest float are corners like others."""
    found = hs.VersionSpace(np.array([[1.0, 2.0**-600], [2.0**-600, 1.0]]), np.array([1, 0]), intercept="none").polygon()
    assert max(abs(x) for corner in found.corners for x in corner) >= 2**600
    assert np.abs(found.vertices).max(axis=1) == pytest.approx(np.ones(2))
    assert found.area == pytest.approx(np.pi / 2)
