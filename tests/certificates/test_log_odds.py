"""Probabilities from outputs, fitted freely: monotone, calibrated, never surer than the rows can tell."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

import halfspace as hs
from halfspace.certificates import log_odds
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


def outputs_of(classes, n=60, seed=4):
    """Return outputs that say something of the class, and the classes, of unequal shares."""
    rng = np.random.default_rng(seed)
    target = rng.choice(classes, n, p=np.arange(1.0, classes + 1) / np.arange(1, classes + 1).sum())
    f = 3.0 * rng.normal(size=(n, classes)) + 4.0 * (target[:, None] == np.arange(classes)) + 1.0
    return (f[:, 1] if classes == 2 else f), target


def plain_curve(fair, f):
    """Return the curve at outputs by its definition: straight between knots, 0 at the first, going on beyond the ends."""
    heights = np.append(0.0, np.cumsum(fair.slopes * np.diff(fair.knots)))
    inside = np.interp(f, fair.knots, heights)
    beyond = np.minimum(f - fair.knots[0], 0.0) * fair.slopes[0] + np.maximum(f - fair.knots[-1], 0.0) * fair.slopes[-1]
    return inside + beyond


def plain_probabilities(fair, f):
    """Return p ∝ exp(h(f_k) + b_k), of two classes exp(b_0) and exp(h(f) + b_1), less ε for the shares."""
    f = np.stack([np.full(f.size, fair.knots[0]), f], axis=1) if f.ndim == 1 else f
    odds = np.exp(plain_curve(fair, f) + fair.offsets)
    return (1.0 - fair.noise) * odds / odds.sum(axis=1, keepdims=True) + fair.noise * fair.shares


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_curve_is_that_of_the_definition(classes, scale):
    """Knots, shares, limit, probabilities and the least penalised cross-entropy are as the module says, in any unit."""
    f, target = outputs_of(classes)
    f = f * scale
    n, fair = target.size, LogOdds.of(f, target)
    counts = np.bincount(target, minlength=classes)
    assert fair.shares == pytest.approx((counts + 0.5) / (n + 0.5 * classes), rel=1e-12)
    assert fair.noise == pytest.approx(1.0 / (n + 2), rel=1e-12)
    own = target == 1 if classes == 2 else (target[:, None] == np.arange(classes)).ravel()
    every = f.ravel()
    share = np.where(own, 1.0 / own.sum(), 1.0 / (~own).sum()) / 2.0  # both weigh a half
    below = np.array([share[every <= x].sum() for x in np.sort(every)])
    knots = [np.sort(every)[np.argmax(below >= (k + 0.5) / 8 - 1e-12)] for k in range(8)]
    assert fair.knots.tolist() == sorted(set(knots))
    ends = np.array([every.min() - 5.0 * scale, every.max() + 5.0 * scale])
    more = np.concatenate([f, ends]) if classes == 2 else np.vstack([f, np.tile(ends[:, None], 3)])
    assert fair.probabilities(more) == pytest.approx(plain_probabilities(fair, more), rel=1e-9)

    unit = 0.25 * (fair.knots[-1] - fair.knots[0])
    right = (counts + 0.5) / (counts + 1.0) if classes == 2 else np.full(classes, (n + 1 / classes) / (n + 1))
    wrong = 0.5 / (counts + 1.0) if classes == 2 else np.full(classes, 1 / classes / (n + 1))
    smooth = np.where(target[:, None] == np.arange(classes), right[target][:, None], 0.0)
    smooth += np.where(target[:, None] != np.arange(classes), wrong[target][:, None], 0.0)

    def entropy(at):
        slopes = np.exp(at[: fair.slopes.size]) / unit
        curve = fair._replace(slopes=slopes, offsets=at[fair.slopes.size :], noise=0.0)
        penalty = np.sum(np.diff(at[: fair.slopes.size]) ** 2) + (classes > 2) * np.sum(at[fair.slopes.size :] ** 2)
        return penalty - np.sum(smooth * np.log(plain_probabilities(curve, f)))

    at = np.append(np.log(fair.slopes * unit), fair.offsets)
    steps = 1e-4 * np.eye(at.size)
    slope = [(entropy(at + step) - entropy(at - step)) / 2e-4 for step in steps]
    assert np.abs(slope).max() < 2e-3
    assert min(entropy(at + 100.0 * sign * step) - entropy(at) for step in steps for sign in (-1, 1)) > -1e-6


@pytest.mark.parametrize("classes", [2, 3])
def test_a_calibration_is_sound_only_if_every_part_is(classes):
    """Knots ascend, slopes do not fall, sizes agree, shares are shares, the limit is below 1, and all is finite."""
    fair = LogOdds.of(*outputs_of(classes))
    assert fair.sound(classes)
    assert not fair.sound(classes + 1)
    first = np.arange(fair.slopes.size) == 0
    assert fair._replace(slopes=np.where(first, 0.0, fair.slopes)).sound(classes)
    assert fair._replace(noise=0.0).sound(classes)
    for change in (
        {"slopes": np.where(first, -1.0, fair.slopes)},
        {"slopes": fair.slopes[:-1]},
        {"slopes": np.where(first, np.nan, fair.slopes)},
        {"knots": fair.knots[::-1]},
        {"knots": np.append(fair.knots[1], fair.knots[1:])},
        {"knots": fair.knots[None]},
        {"knots": fair.knots[:1], "slopes": fair.slopes[:0]},
        {"offsets": fair.offsets[:-1]},
        {"offsets": fair.offsets + np.inf},
        {"shares": fair.shares[:-1]},
        {"shares": fair.shares * (1.0 + 3e-6)},
        {"shares": np.append([-0.25, 1.25], np.zeros(classes - 2))},
        {"noise": 1.0},
        {"noise": -0.1},
    ):
        assert not fair._replace(**change).sound(classes), change


@pytest.mark.parametrize("classes", [2, 3])
def test_limits_agree_to_nine_digits_and_probabilities_to_three(classes):
    """Shares and ε may differ by 1e-9, p by a thousandth of p (1 - p); an offset of all classes is no difference."""
    f, target = outputs_of(classes)
    fair = LogOdds.of(f, target)
    first = np.arange(classes) == 0
    for name, off, agrees in (
        ("noise", 1e-10, True),
        ("noise", 1e-7, False),
        ("shares", 1e-10, True),
        ("shares", 1e-7, False),
        ("offsets", 5e-4, True),
        ("offsets", 3e-3, False),
    ):
        part = getattr(fair, name)
        changed = part * (1.0 + off) if name == "noise" else part + off * (first if name == "offsets" else part * first)
        assert fair._replace(**{name: changed}).agrees(f, target) is agrees, (name, off)
    assert fair._replace(offsets=fair.offsets + 7.0).agrees(f, target)
    steep = fair._replace(slopes=np.where(np.arange(fair.slopes.size) == 0, 0.0, fair.slopes))
    assert not steep.agrees(f, target)  # seen below the first output only
    assert LogOdds.of(f[:0], target[:0]).agrees(f[:0], target[:0])


def test_no_more_outputs_than_enough_are_left_out(monkeypatch):
    """Up to as many outputs as are enough all count, twice as many are thinned out to every other."""
    monkeypatch.setattr(log_odds, "ENOUGH", 50)
    f, target = np.tile([-1.0, 0.5, 2.0, 0.0], 25), np.tile([0, 1], 50)
    for n, used in ((49, 49), (99, 99), (100, 50)):
        assert LogOdds.of(f[:n], target[:n]).noise == pytest.approx(1.0 / (used + 2), rel=1e-12)
    assert LogOdds.of(np.tile(f[:40, None], 2), target[:40]).noise == pytest.approx(1.0 / 42, rel=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("shift", [0.0, 2.5])
def test_anchored_the_most_probable_class_is_that_of_the_largest_output(classes, shift):
    """Without offsets but those that put an output of 0 at an even chance; shares are even, and the entropy is the least."""
    f, target = outputs_of(classes)
    f = f - shift
    n, fair = target.size, LogOdds.of(f, target, anchored=True)
    assert fair.shares.tolist() == [1.0 / classes] * classes
    assert fair.noise == pytest.approx(1.0 / (n + 2))
    P = fair.probabilities(f)
    assert P.argmax(axis=1).tolist() == ((f > 0).astype(int) if classes == 2 else f.argmax(axis=1)).tolist()
    even = fair.probabilities(np.zeros(1) if classes == 2 else np.zeros((1, classes)))
    assert even[0] == pytest.approx(np.full(classes, 1.0 / classes), rel=1e-12)
    assert fair.offsets[0] == 0.0
    assert fair.agrees(f, target, anchored=True)
    assert not fair.agrees(f, target)
    unit = 0.25 * (fair.knots[-1] - fair.knots[0])
    counts = np.bincount(target, minlength=classes)
    own = target[:, None] == np.arange(classes)
    right = ((counts + 0.5) / (counts + 1.0) if classes == 2 else np.full(classes, (n + 1 / classes) / (n + 1)))[target]
    smooth = np.where(own, right[:, None], (1.0 - right[:, None]) / (classes - 1))

    def entropy(at):
        slopes = np.exp(at) / unit
        at_zero = plain_curve(fair._replace(slopes=slopes), np.zeros(1))[0]
        offsets = np.array([0.0, -at_zero]) if classes == 2 else np.zeros(classes)
        curve = fair._replace(slopes=slopes, offsets=offsets, noise=0.0)
        return np.sum(np.diff(at) ** 2) - np.sum(smooth * np.log(plain_probabilities(curve, f)))

    at = np.log(fair.slopes * unit)
    free = np.abs(at) < 11.9
    for step in 1e-4 * np.eye(at.size)[free]:
        assert abs(entropy(at + step) - entropy(at - step)) < 2e-4 * 2e-3
    nothing = LogOdds.of(np.zeros(0), np.zeros(0, dtype=int), anchored=True)
    assert (nothing.slopes.tolist(), nothing.offsets.tolist(), nothing.noise) == ([1.0], [0.0, 0.0], 0.5)
    same = LogOdds.of(np.ones(4), np.array([0, 1, 1, 1]), anchored=True)
    assert (same.slopes.tolist(), same.offsets.tolist()) == ([1.0], [0.0, 0.0])
    same = LogOdds.of(np.ones(4), np.array([0, 1, 1, 1]))
    assert same.slopes.tolist() == [0.0]
    assert same.offsets == pytest.approx(np.log([1.5 / 5, 3.5 / 5]))
    two = LogOdds.of(np.array([1.0, 1.0, 1.0, 3.0]), np.array([0, 0, 0, 0]))
    assert two.knots.tolist() == [1.0, 3.0]
