"""Probabilities from outputs, fitted freely: monotone, calibrated, never surer than the rows can tell."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

import halfspace as hs
from halfspace.certificates.log_odds import LogOdds

RNG = np.random.default_rng(0)


def log_loss(P, target):
    return float(-np.mean(np.log(P[np.arange(target.size), target])))


@given(st.lists(st.floats(-1e300, 1e300), max_size=30), st.integers(0, 3))
@settings(max_examples=25, deadline=None)
def test_any_outputs_make_probabilities_that_rise(values, seed):
    """Whatever the outputs and labels, probabilities add up to one, are never 0, and never fall with the output."""
    f = np.array(values)
    fair = LogOdds.of(f, np.random.default_rng(seed).integers(0, 2, f.size))
    assert fair.sound(2)
    P = fair.probabilities(np.sort(np.concatenate([f, [0.0, 5e-324, -5e-324, 1e300, -1e300]])))
    assert np.allclose(P.sum(axis=1), 1.0)
    assert (P > 0).all()
    assert (np.diff(P[:, 1]) >= -1e-15).all()


@pytest.mark.parametrize("classes", [3, 40])
def test_any_outputs_of_many_classes_make_probabilities(classes):
    """Outputs of very different sizes, with classes that have no rows, still give finite probabilities."""
    f = RNG.normal(size=(80, classes)) * np.logspace(-200, 200, classes)
    fair = LogOdds.of(f, RNG.integers(0, classes - 1, 80))
    P = fair.probabilities(np.vstack([f, 1e100 * f, 0.0 * f]))
    assert fair.sound(classes)
    assert np.allclose(P.sum(axis=1), 1.0)
    assert (P > 0).all()


@pytest.mark.parametrize("offset", [0.0, 4.0])
def test_a_shifted_sigmoid_is_found(offset):
    """Where p = σ(2 f - offset), the probabilities are near that, though f = 0 is far from p = 1/2."""
    f = RNG.normal(size=20_000)
    truth = expit(2.0 * f - offset)
    fair = LogOdds.of(f, (RNG.random(f.size) < truth).astype(int))
    at = np.linspace(-2, 2, 50)
    assert np.abs(fair.probabilities(at)[:, 1] - expit(2.0 * at - offset)).max() < 0.03


@pytest.mark.parametrize("share", [0.015, 0.5])
def test_noise_gives_the_base_rate(share):
    """Outputs without information do not cost more than a hundredth of a nat against the shares of the classes."""
    f, target = RNG.normal(size=4000), (RNG.random(4000) < share).astype(int)
    fair = LogOdds.of(f[:2000], target[:2000])
    base = np.tile([1.0 - target[:2000].mean(), target[:2000].mean()], (2000, 1))
    assert log_loss(fair.probabilities(f[2000:]), target[2000:]) < log_loss(base, target[2000:]) + 0.01


def test_constant_outputs_give_the_shares():
    """A model that says the same of every row, as the majority class does, gives the shares of the classes, smoothed."""
    P = LogOdds.of(np.full(98, -1.0), np.repeat([0, 1], [88, 10])).probabilities(np.array([-1.0, 7.0]))
    assert pytest.approx(np.tile([88.5 / 99, 10.5 / 99], (2, 1))) == P
    P = LogOdds.of(np.tile([1.0, 0.0, 0.0], (500, 1)), np.repeat([0, 1, 2], [400, 75, 25])).probabilities(np.eye(3)[:1])
    assert P[0] == pytest.approx([0.8, 0.15, 0.05], abs=0.03)


def test_no_output_is_surer_than_the_rows_can_tell():
    """With n rows, all right, the part 1/(n + 2) of a probability stays the class's share; without rows the sign decides."""
    fair = LogOdds.of(np.repeat([-1.0, 1.0], 10), np.repeat([0, 1], 10))
    assert fair.probabilities(np.array([1e9]))[0, 0] == pytest.approx(0.5 / 22)
    assert LogOdds.of(np.empty(0), np.empty(0, dtype=int)).probabilities(np.array([-1.0, 1.0])).argmax(axis=1).tolist() == [
        0,
        1,
    ]


def test_nan_rows_are_left_out():
    """Rows that no fold has predicted do not count."""
    f, target = RNG.normal(size=50), RNG.integers(0, 2, 50)
    with_gaps = LogOdds.of(np.append(f, np.nan), np.append(target, 1))
    for part, other in zip(with_gaps, LogOdds.of(f, target), strict=True):
        assert np.array_equal(part, other)


@pytest.mark.parametrize(
    "change",
    [
        lambda fair: fair._replace(slopes=1.2 * fair.slopes),
        lambda fair: fair._replace(slopes=-fair.slopes),
        lambda fair: fair._replace(knots=fair.knots + 0.5),
        lambda fair: fair._replace(knots=fair.knots[1:]),
        lambda fair: fair._replace(offsets=fair.offsets + np.arange(fair.offsets.size)),
        lambda fair: fair._replace(shares=fair.shares[::-1].copy()),
        lambda fair: fair._replace(noise=0.0),
        lambda fair: fair._replace(slopes=np.append(fair.slopes[:-1], 3.0 * fair.slopes[-1])),
    ],
)
@pytest.mark.parametrize("classes", [2, 3])
def test_other_probabilities_are_found_out(change, classes):
    """The check fits anew to the out-of-fold outputs, and refuses any other curve, offset or limit."""
    target = np.random.default_rng(1).choice(classes, 300, p=[0.5, 0.3, 0.2][-classes:] / np.sum([0.5, 0.3, 0.2][-classes:]))
    f = np.random.default_rng(2).normal(size=(300, classes)) + (target[:, None] == np.arange(classes))
    f = f[:, 1] if classes == 2 else f
    fair = LogOdds.of(f, target)
    assert fair.agrees(f, target)
    assert not change(fair).agrees(f, target)


def test_a_ladder_with_them_is_exported_and_labels_follow_the_operating_point():
    """ONNX gives the same probabilities and, with an operating point, the labels that it decides."""
    pytest.importorskip("onnx")
    from onnx.reference import ReferenceEvaluator

    X = np.random.default_rng(3).normal(size=(120, 3))
    for classes in (2, 3):
        y = np.digitize(X[:, 0] + 0.5 * X[:, 1], [-0.5, 0.7][: classes - 1])
        ladder = hs.Ladder(rungs=["perceptron"], n_splits=2, n_repeats=1, scoring="balanced_accuracy").fit(X, y)
        P = ladder.predict_proba(X)
        graph = ReferenceEvaluator(hs.to_onnx(ladder))
        found = dict(zip([o.name for o in graph.proto_.graph.output], graph.run(None, {"X": X}), strict=True))
        assert found["probabilities"] == pytest.approx(P, abs=1e-12)
        assert found["label"].tolist() == ladder.operating_point_.labels(P, ladder.classes_).tolist()
