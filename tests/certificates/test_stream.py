"""Claims about a stream: the bound of the theorem and the interval of ham lost, and both ends of what may be claimed."""

import json
from dataclasses import replace
from inspect import signature

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import binom

from halfspace.certificates import HamLoss, StreamMistakes, from_json, stream
from halfspace.errors import InputError

X = np.array([[0.6, -0.8], [0.1, 0.5], [-0.3, 0.2], [0.25, 0.25], [0.0, -1.0]])
Y = np.array(["spam", "ham", "ham", "spam", "ham"])
SIGN = np.array([1.0, -1.0, -1.0, 1.0, -1.0])


def claimed(**more):
    about = {"rows": np.array([3, 0]), "strengths": np.array([0.5, 2.0]), "positive": "spam"} | more
    return StreamMistakes.measure(2, X, Y, **about)


def test_the_bound_is_that_of_shalev_shwartz_and_singer():
    """‖v‖² + 2 Σ max(0, 1 - y v·x), a billionth more; dense and sparse."""
    v = 0.5 * X[3] + 2.0 * X[0]
    loss = sum(max(0.0, 1.0 - s * (x @ v)) for s, x in zip(SIGN, X, strict=True))
    for data in (X, sparse.csr_array(X)):
        proof = replace(claimed(), mistakes=2)
        assert proof.square == pytest.approx(v @ v, rel=1e-14)
        assert proof.bound == pytest.approx((v @ v + 2.0 * loss) * (1 + 1e-9), rel=1e-12)
        assert proof.verify(data, Y)
        least = (v @ v + 2.0 * loss) * (1 + 1e-10)
        for field, end, beyond in (
            ("bound", least * (1 + 1e-13), least * (1 - 1e-13)),
            ("square", v @ v * (1 + 0.999e-9), v @ v * (1 + 1.001e-9)),
            ("square", v @ v * (1 - 0.999e-9), v @ v * (1 - 1.001e-9)),
        ):
            assert replace(proof, **{field: end}).verify(data, Y)
            assert not replace(proof, **{field: beyond}).verify(data, Y)
    assert StreamMistakes.measure(0, X, Y, rows=np.array([], dtype=int), strengths=np.zeros(0), positive="spam").verify(X, Y)


def test_a_rule_with_shorter_steps_has_a_bound_of_its_own():
    """With strengths up to C and a smaller gain the bound is (‖v‖²/2 + C loss)/gain; no gain is above C - C²/2."""
    proof, v = claimed(C=0.8, gain=0.2), 0.5 * X[3] + 2.0 * X[0]
    loss = sum(max(0.0, 1.0 - s * (x @ v)) for s, x in zip(SIGN, X, strict=True))
    assert proof.bound == pytest.approx((v @ v / 2.0 + 0.8 * loss) / 0.2, rel=2e-9)
    assert proof.verify(X, Y)
    assert "a gain of 0.2 a mistake" in str(proof)
    assert not replace(proof, gain=0.19).verify(X, Y)
    assert "no mistake gains more" in str(replace(proof, gain=0.49).well_formed())
    assert replace(proof, gain=0.48, bound=1e3).verify(X, Y)
    assert "above 1" in str(replace(proof, C=1.5, gain=0.3).well_formed())


def test_a_certificate_of_before_is_about_the_usual_rule():
    """A file without C and gain is read as C = 1 and a gain of 1/2."""
    known = json.loads(claimed().to_json())
    assert (known.pop("C"), known.pop("gain")) == (1.0, 0.5)
    old = from_json(json.dumps(known))
    assert (old.C, old.gain) == (1.0, 0.5)
    assert old.verify(X, Y)


def test_mistakes_and_names_must_be_possible():
    """As many mistakes as the bound allows, no example twice, and none that is not there."""
    proof = replace(claimed(), bound=20.0)
    assert replace(proof, mistakes=20).verify(X, Y)
    assert "more mistakes" in str(replace(proof, mistakes=21).well_formed())
    assert "named twice" in str(replace(proof, rows=np.array([3, 3])).well_formed())
    assert replace(claimed(rows=np.array([4, 0])), mistakes=0).verify(X, Y)
    assert "not there" in str(replace(proof, rows=np.array([5, 0])).verify(X, Y))


def test_examples_are_at_most_of_length_one():
    """Up to a millionth beyond it, and rounding."""
    for square, fine in ((1.0, True), (1.0 + 0.9e-6, True), (1.0 + 1.1e-6, False)):
        data = X.copy()
        data[4] = [0.0, np.sqrt(square)]
        for form in (data, sparse.csr_array(data)):
            if fine:
                assert stream._measured(form, SIGN, np.array([0]), np.ones(1))[0] == pytest.approx(1.0)
            else:
                with pytest.raises(InputError, match="longer than 1"):
                    stream._measured(form, SIGN, np.array([0]), np.ones(1))
    assert stream._measured(X[:0], SIGN[:0], np.array([], dtype=int), np.zeros(0)) == (0.0, 0.0)


SCORES = np.array([[0.5], [1.0], [1.5], [-2.0], [1.0], [3.0]])
LABELS = np.array(["spam", "ham", "ham", "ham", "ham", "spam"])


@pytest.mark.parametrize(("threshold", "lost"), [(1.0, 1), (0.0, 3), (9.0, 0), (-9.0, 4)])
def test_ham_that_is_lost_has_clopper_and_pearson_s_upper_end(threshold, lost):
    """With it so few would be lost in one case of twenty; scores at the threshold are not lost; all lost bound nothing."""
    proof = HamLoss.measure(SCORES, LABELS, threshold=threshold, positive="spam")
    assert (proof.ham, proof.lost, proof.confidence, proof.threshold) == (4, lost, 0.95, threshold)
    upper = proof.bound / (1 + 1e-9)
    assert (
        (upper == pytest.approx(1.0, rel=1e-12)) if lost == 4 else (binom.cdf(lost, 4, upper) == pytest.approx(0.05, rel=1e-9))
    )
    for form in (np.asarray, sparse.csr_array):
        assert proof.verify(form(SCORES), LABELS)
    exact = stream._upper(lost, 4, 0.95)
    assert proof.bound == pytest.approx(exact * (1 + 1e-9), rel=1e-13)
    for off, fine in ((1.1e-10, True), (0.9e-10, False), (0.0, False)):
        assert bool(replace(proof, bound=exact * (1.0 + off)).well_formed()) is fine


def test_counts_of_ham_are_checked():
    """Another number of ham, or lost, is refused; so are no ham, two scores for each message, and a certain confidence."""
    proof = HamLoss.measure(SCORES, LABELS, threshold=1.0, positive="spam")
    assert not replace(proof, ham=5).verify(SCORES, LABELS)
    assert not replace(proof, lost=2, bound=1.5).verify(SCORES, LABELS)
    assert not replace(proof, lost=0).verify(SCORES, LABELS)
    assert "one score" in str(proof.verify(np.hstack([SCORES, SCORES]), LABELS))
    assert "below 1" in str(replace(proof, confidence=1.0, bound=1.75).well_formed())
    assert replace(proof, confidence=0.999, bound=1.75).well_formed()
    assert replace(proof, lost=4, bound=1.1).well_formed()
    assert "more ham is lost" in str(replace(proof, lost=5, bound=1.75).well_formed())
    with pytest.raises(InputError, match="at least one ham"):
        HamLoss.measure(SCORES[:1], LABELS[:1], threshold=1.0, positive="spam")
    assert HamLoss.measure(SCORES[1:2], LABELS[1:2], threshold=1.0, positive="spam").ham == 1
    assert signature(HamLoss.measure).parameters["confidence"].default == 0.95
    assert stream.ROUNDING == 1e-9
