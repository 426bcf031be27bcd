"""Probabilities of outputs: the curves are those of the formulas, and no other curve has a lower cross-entropy."""

import numpy as np
import pytest
from scipy.special import expit, softmax

from halfspace.certificates.calibration import Calibration, Curve

RNG = np.random.default_rng(3)
F = 2.0 * RNG.normal(size=300)
T = (RNG.random(300) < 0.1 + 0.8 * expit(1.5 * F)).astype(int)
MANY = RNG.normal(size=(200, 3))
OF_MANY = np.where(RNG.random(200) < 0.75, (3.0 * MANY + RNG.gumbel(size=(200, 3))).argmax(axis=1), RNG.integers(0, 3, 200))


@pytest.mark.parametrize(("slope", "noise"), [(2.0, 0.0), (0.5, 0.3), (3.0, 0.9)])
def test_a_curve_is_a_sigmoid_or_softmax_with_a_share_at_random(slope, noise):
    """p = (1 - ε) σ(a f) + ε/2, and (1 - ε) softmax(a f) + ε/K."""
    curve = Curve(slope, noise)
    assert curve.of_sigmoid(F) == pytest.approx((1 - noise) / (1 + np.exp(-slope * F)) + noise / 2)
    assert curve.of_softmax(MANY) == pytest.approx((1 - noise) * softmax(slope * MANY, axis=1) + noise / 3)


def entropy_of_two(slope, noise, side):
    """Return the cross-entropy on one side of 0, with Platt's targets."""
    size, right = np.abs(F[side]), (F[side] > 0) == (T[side] == 1)
    target = np.where(right, (right.sum() + 1) / (right.sum() + 2), 1 / ((~right).sum() + 2))
    p = (1 - noise) * expit(slope * size) + noise / 2
    return -np.sum(target * np.log(p) + (1 - target) * np.log(1 - p))


def entropy_of_many(slope, noise):
    """Return the cross-entropy, with a row's share of 1/n for each other class."""
    logs, n = np.log((1 - noise) * softmax(slope * MANY, axis=1) + noise / 3), len(MANY)
    own = logs[np.arange(n), OF_MANY]
    return -(own.sum() + (logs.sum() - own.sum()) / n)


def test_no_curve_of_two_classes_is_better():
    """On each side of 0 the cross-entropy is the least on a fine grid of slopes and shares, to a thousandth."""
    found = Calibration.of(F, T)
    for curve, side in ((found.below, F <= 0), (found.above, F > 0)):
        least = min(entropy_of_two(a, e, side) for a in np.geomspace(0.05, 50, 40) for e in np.linspace(0.005, 0.99, 25))
        assert entropy_of_two(*curve, side) <= least + 1e-3 * abs(least)


def test_no_curve_of_many_classes_is_better():
    """The cross-entropy is the least on a fine grid, to a thousandth, and rows without outputs are left out."""
    found = Calibration.of(MANY, OF_MANY)
    assert found.below == found.above
    least = min(entropy_of_many(a, e) for a in np.geomspace(0.05, 50, 40) for e in np.linspace(0.005, 0.99, 25))
    assert entropy_of_many(*found.above) <= least + 1e-3 * abs(least)
    unseen = np.vstack([MANY, np.full((5, 3), np.nan)])
    assert Calibration.of(unseen, np.append(OF_MANY, np.zeros(5, dtype=int))) == found
    assert Calibration.of(np.append(F, np.nan), np.append(T, 1)) == Calibration.of(F, T)


@pytest.mark.parametrize("outputs", [np.zeros(0), np.zeros(4), np.zeros((0, 3)), np.full((4, 3), 7.0)])
def test_outputs_that_say_nothing_give_a_gentle_curve(outputs):
    """Without outputs, or with none that differ, the slope is 1 and no label is thrown at random."""
    assert Calibration.of(outputs, np.zeros(len(outputs), dtype=int)) == (Curve(1.0, 0.0), Curve(1.0, 0.0))


def test_probabilities_are_those_of_the_side_of_the_output():
    """Above 0 by one curve, up to 0 by the other; they sum to 1, and are a half only at 0 and below."""
    P = Calibration(Curve(1.0, 0.2), Curve(3.0, 0.4)).probabilities(np.array([-2.0, 0.0, 2.0, 5e-324]))
    upper = [0.8 * expit(-2.0) + 0.1, 0.5, 0.6 * expit(6.0) + 0.2, 0.5]
    assert P[:, 1] == pytest.approx(upper)
    assert P.sum(axis=1) == pytest.approx(np.ones(4))
    assert P[1, 1] == 0.5
    assert P[3, 1] > 0.5


def test_many_outputs_are_thinned_out_evenly(monkeypatch):
    """Of more outputs than enough, every so many-th is used."""
    from halfspace.certificates import calibration

    monkeypatch.setattr(calibration, "ENOUGH", 100)
    assert Calibration.of(F, T) == Calibration.of(F[::3], T[::3])
    assert Calibration.of(MANY, OF_MANY) == Calibration.of(MANY[::6], OF_MANY[::6])
