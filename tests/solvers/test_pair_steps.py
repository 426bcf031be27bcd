"""Pair steps climb: within the bounds, never down, to the optimum of an independent solver."""

import numpy as np
import pytest
from sklearn.svm import SVC

from halfspace.solvers.kernel.pair_steps import Box, climb_free, climb_pairs, gap_at, middle

KINDS = [np.float32, np.float64]


def problem(n, seed, C=1.0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    lo, hi = np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)
    return K, y, Box(K.astype(dtype), np.ones(n, dtype), y.astype(dtype), np.zeros(n), lo, hi)


def value(K, y, b):
    return float(b @ y - 0.5 * b @ K @ b)


@pytest.mark.parametrize("climb", [climb_free, climb_pairs])
@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_every_step_climbs_within_the_bounds(climb, dtype, seed):
    """The dual value rises with every step, strengths stay in their box, h stays y - K b, and a sum rule is kept."""
    K, y, box = problem(24, seed, dtype=dtype)
    before = 0.0
    for _ in range(40):
        if climb(box, 0.0, 1) == 0:
            break
        now = value(K, y, box.b)
        assert now >= before - 1e-6
        assert (box.lo <= box.b).all()
        assert (box.b <= box.hi).all()
        assert np.abs(box.h - (y - K @ box.b)).max() < 1e-4
        if climb is climb_free:
            assert abs(box.b.sum()) < 1e-12
        before = now


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("dtype", KINDS)
def test_with_a_free_bias_the_top_is_libsvms(C, dtype):
    """The dual value is that of SVC on the same matrix."""
    K, y, box = problem(60, 5, C, dtype)
    climb_free(box, 1e-5, 100_000)
    machine = SVC(C=C, kernel="precomputed", tol=1e-8).fit(K, y)
    theirs = np.zeros(60)
    theirs[machine.support_] = machine.dual_coef_[0]
    assert value(K, y, box.b) == pytest.approx(value(K, y, theirs), rel=1e-5)


@pytest.mark.parametrize("climb", [climb_free, climb_pairs])
def test_the_gap_bounds_the_distance_to_the_top(climb):
    """At any moment the value is below the top by at most the gap."""
    K, y, box = problem(40, 2)
    _, _, best = problem(40, 2, dtype=np.float64)
    climb(best, 1e-12, 100_000)
    top = value(K, y, best.b)
    for _ in range(10):
        climb(box, 0.0, 3)
        o = middle(box.h, box.b, box.lo, box.hi)[0] if climb is climb_free else 0.0
        h = y - K @ box.b
        assert top - value(K, y, box.b) <= gap_at(h, box.b, box.lo, box.hi, o) + 1e-9


@pytest.mark.parametrize("dtype", KINDS)
def test_twins_of_different_classes_go_to_their_bounds_at_once(dtype):
    """Two equal rows with different labels gain without end: one step takes both to the cap."""
    K = np.ones((2, 2), dtype=dtype)
    y, C = np.array([1.0, -1.0]), 1e6
    box = Box(K, np.ones(2, dtype), y.astype(dtype), np.zeros(2), np.array([0.0, -C]), np.array([C, 0.0]))
    steps = climb_pairs(box, 1e-6, 100)
    assert steps <= 3
    assert np.abs(box.b).tolist() == [C, C]


@pytest.mark.compiled
def test_more_examples_than_a_key_has_room_for():
    """The search for the largest goes on beyond blocks of 4,096."""
    rng = np.random.default_rng(0)
    n = 5000
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    K = np.eye(n, dtype=np.float32) + np.float32(0.1)
    lo, hi = np.where(y > 0, 0.0, -10.0), np.where(y > 0, 10.0, 0.0)
    for climb in (climb_free, climb_pairs):
        box = Box(K, np.full(n, 1.1, np.float32), y.astype(np.float32), np.zeros(n), lo, hi)
        climb(box, 1.0, 100_000)
        o = middle(box.h, box.b, lo, hi)[0] if climb is climb_free else 0.0
        assert gap_at(y - K.astype(float) @ box.b, box.b, lo, hi, o) < 2.0


@pytest.mark.parametrize("dtype", KINDS)
def test_the_middle_is_finite_where_none_may_rise_or_fall(dtype):
    """With all strengths at one bound the bias is the nearest h of those that may move the other way; with none it is 0."""
    h, ones, nothing = np.array([-3.0, 2.0], dtype), np.ones(2), np.zeros(2)
    assert middle(h, ones, nothing, ones)[0] == -3.0
    assert middle(h, nothing, nothing, ones)[0] == 2.0
    assert middle(h, nothing, nothing, nothing)[0] == 0.0
