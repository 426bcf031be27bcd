"""Corrupted certificates: the checker refuses every false claim, accepts every true one, and never fails in another way."""

import json
import warnings
from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

import halfspace as hs
from halfspace.certificates import (
    KeslerBracket,
    LeastSquaresGap,
    MarginBracket,
    MistakeBound,
    Novikoff,
    PassiveAggressiveBound,
    PerClass,
    Verdict,
    check,
    from_json,
)
from halfspace.errors import CertificateError, InputError

QUICK = settings(max_examples=25, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])

X = np.array([[1.0, 2.0], [2.0, 1.0], [-1.0, -1.0], [-2.0, -1.5]])
Y = np.array([1, 1, 0, 0])
XOR = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
X3 = np.array([[2.0, 0.0], [1.5, 0.25], [-1.0, 2.0], [-1.0, 1.5], [-1.0, -2.0], [-1.25, -2.0]])
Y3 = np.array(["a", "a", "b", "b", "c", "c"])


class Case(NamedTuple):
    """A true certificate and its data."""

    certificate: Any
    X: Any
    y: Any


def margin_bracket():
    return MarginBracket.measure(
        X, Y, weights=np.array([1.0, 1.0, 0.25]), strengths=np.array([0.0, 2.0, 2.0, 0.0]), clamp=1.0, positive=1
    )


def gordan_bracket():
    return MarginBracket.measure(XOR, Y, weights=np.array([1.0, 1.0, 0.5]), strengths=np.ones(4), clamp=1.0, positive=1)


def kesler_bracket():
    planes = np.array([[2.0, 0.0, 0.5], [-1.0, 2.0, 0.0], [-1.0, -2.0, 0.0]])
    return KeslerBracket.measure(X3, Y3, weights=planes, strengths=np.ones((3, 6)), clamp=1.0, classes=np.unique(Y3))


def one_against_rest(label):
    towards = {"a": [2.0, 0.0, -0.5], "b": [-1.0, 3.0, -2.0], "c": [-1.0, -3.0, -2.0]}[label]
    return MarginBracket.measure(X3, Y3, weights=np.array(towards), strengths=np.ones(6), clamp=1.0, positive=label)


def gap(weights, sample_weight=None):
    return LeastSquaresGap.measure(X, Y, weights=np.array(weights), sample_weight=sample_weight, clamp=1.0, positive=1)


BUILD = {
    "margin": lambda: Case(margin_bracket(), X, Y),
    "gordan": lambda: Case(gordan_bracket(), XOR, Y),
    "kesler": lambda: Case(kesler_bracket(), X3, Y3),
    "novikoff": lambda: Case(MistakeBound.of(3, margin_bracket(), Novikoff(0.5, 2.0, 1.0, 1.0)), X, Y),
    "crammer": lambda: Case(MistakeBound.of(3, margin_bracket(), PassiveAggressiveBound(0.0625, 0.5, 1.0)), X, Y),
    "kesler mistakes": lambda: Case(MistakeBound.of(4, kesler_bracket(), Novikoff()), X3, Y3),
    "unbounded": lambda: Case(MistakeBound.of(40, gordan_bracket(), Novikoff()), XOR, Y),
    "rough gap": lambda: Case(gap([0.5, 0.25, 0.125]), X, Y),
    "weighted gap": lambda: Case(gap([0.5, 0.25, 0.125], np.array([1.0, 2.0, 0.5, 1.0])), X, Y),
    "classes": lambda: Case(PerClass(("a", "b", "c"), tuple(one_against_rest(label) for label in "abc")), X3, Y3),
    "class mistakes": lambda: Case(
        PerClass(("a", "b", "c"), tuple(MistakeBound.of(2, one_against_rest(label), Novikoff()) for label in "abc")), X3, Y3
    ),
}
CASES = list(BUILD)
every_case = pytest.mark.parametrize("case", CASES)


@lru_cache
def true(case):
    return BUILD[case]()


def judge(make, data, labels):
    """Return the verdict, or False for a certificate that is malformed; let any other error pass."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # nonsense may overflow on its way to being refused
        try:
            return make().verify(data, labels)
        except (CertificateError, InputError) as error:
            assert str(error)  # noqa: PT017
            return False


def refused(make, data, labels, name=""):
    verdict = judge(make, data, labels)
    assert not verdict, f"a false claim was accepted: {name}"
    if verdict is not False:
        assert isinstance(verdict, Verdict)
        assert verdict.reasons
        assert all(isinstance(reason, str) and reason for reason in verdict.reasons)
        assert str(verdict).startswith("refuted: ")


def all_refused(lies, case):
    """Assert that each lie about a true certificate is refused."""
    certificate, data, labels = true(case)
    for name, lie in lies.items():
        refused(partial(lie, certificate), data, labels, name)


def accepted(certificate, data, labels):
    verdict = certificate.verify(data, labels)
    assert verdict, str(verdict)
    assert verdict.reasons == ()
    assert str(verdict) == "holds"


def same_bits(one, other):
    assert type(one) is type(other)
    for field in fields(one):
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        if isinstance(mine, np.ndarray):
            assert mine.dtype == theirs.dtype
            assert mine.tobytes() == theirs.tobytes()
        elif field.name == "bracket":
            same_bits(mine, theirs)
        elif field.name == "parts":
            for my_part, their_part in zip(mine, theirs, strict=True):
                same_bits(my_part, their_part)
        else:
            assert mine == theirs


# ---------------------------------------------------------------- true claims
@every_case
def test_true_certificates_hold(case):
    """A certificate measured on the data holds on them."""
    accepted(*true(case))


@every_case
def test_json_keeps_every_bit(case, tmp_path):
    """A certificate that went through JSON, as text or as a file, has the same bits and still holds."""
    certificate, data, labels = true(case)
    path = tmp_path / "certificate.json"
    again = from_json(certificate.to_json(path))
    same_bits(certificate, again)
    assert again.to_json() == certificate.to_json()
    accepted(again, data, labels)
    assert check(path, data, labels)


@every_case
def test_true_certificates_hold_on_any_form_of_the_data(case):
    """A certificate holds for the same numbers as a list, sparse, float32 or in Fortran order, with labels in a list."""
    certificate, data, labels = true(case)
    for form in (np.asfortranarray, sparse.csr_array, sparse.csc_array, np.ndarray.tolist, np.float32):
        accepted(certificate, form(data), labels.tolist())


BRACKET_WEAKER = {
    "lower lowered": lambda c: replace(c, lower=c.lower - 0.1),
    "lower a little lower": lambda c: replace(c, lower=np.nextafter(c.lower, -9.0)),
    "lower at minus the radius": lambda c: replace(c, lower=-c.radius),
    "lower at minus infinity": lambda c: replace(c, lower=-np.inf),
    "upper raised": lambda c: replace(c, upper=c.upper + 0.1),
    "upper a little higher": lambda c: replace(c, upper=np.nextafter(c.upper, 9.0) + 1e-12),
    "upper at the radius": lambda c: replace(c, upper=c.radius),
    "upper at infinity": lambda c: replace(c, upper=np.inf),
    "both sides given away": lambda c: replace(c, lower=-np.inf, upper=np.inf),
    "weights doubled": lambda c: replace(c, weights=2.0 * c.weights),
    "weights times 2^-30": lambda c: replace(c, weights=2.0**-30 * c.weights),
    "weights times 2^500": lambda c: replace(c, weights=2.0**500 * c.weights),
    "weights times 2^-500": lambda c: replace(c, weights=2.0**-500 * c.weights),
    "strengths doubled": lambda c: replace(c, strengths=2.0 * c.strengths),
    "strengths times 2^500": lambda c: replace(c, strengths=2.0**500 * c.strengths),
    "strengths times 2^-500": lambda c: replace(c, strengths=2.0**-500 * c.strengths),
    "terms in another order": lambda c: replace(
        c,
        rows=c.rows[::-1],
        strengths=c.strengths[::-1],
        **({"rivals": c.rivals[::-1]} if isinstance(c, KeslerBracket) else {}),
    ),
    "radius within rounding": lambda c: replace(c, radius=c.radius * (1 + 1e-12)),
    "rows as int32": lambda c: replace(c, rows=c.rows.astype(np.int32)),
}


@pytest.mark.parametrize("case", ["margin", "kesler", "gordan"])
def test_weaker_brackets_hold(case):
    """A bracket that claims less, or the same with other witnesses, holds, also after a trip through JSON."""
    certificate, data, labels = true(case)
    for change in BRACKET_WEAKER.values():
        weaker = change(certificate)
        accepted(weaker, data, labels)
        accepted(from_json(weaker.to_json()), data, labels)


OTHER_TRUTHS = {
    "a term of strength zero": (
        "margin",
        lambda c: replace(c, rows=np.append(c.rows, 3), strengths=np.append(c.strengths, 0.0)),
    ),
    "a negative clamp and weight": (
        "margin",
        lambda c: replace(c, clamp=-1.0, weights=c.weights * np.array([1.0, 1.0, -1.0])),
    ),
    "label as float": ("margin", lambda c: replace(c, positive=1.0)),
    "a much lower margin": ("novikoff", lambda c: MistakeBound.of(3, replace(c.bracket, lower=1e-100), c.theorem)),
    "a margin whose square underflows": ("novikoff", lambda c: MistakeBound.of(3, replace(c.bracket, lower=1e-200), c.theorem)),
    "a tiny margin after Crammer": ("crammer", lambda c: MistakeBound.of(3, replace(c.bracket, lower=1e-200), c.theorem)),
    "no margin": ("novikoff", lambda c: MistakeBound.of(3, replace(c.bracket, lower=-0.5), c.theorem)),
    "as many mistakes as allowed": ("novikoff", lambda c: replace(c, mistakes=int(c.bound))),
    "no mistake": ("novikoff", lambda c: replace(c, mistakes=0)),
    "slow rates": ("novikoff", lambda c: MistakeBound.of(3, c.bracket, Novikoff(1e-200, 1e-200))),
    "fast rates": ("novikoff", lambda c: MistakeBound.of(3, c.bracket, Novikoff(1e200, 1e200))),
    "a later start": ("crammer", lambda c: MistakeBound.of(3, c.bracket, PassiveAggressiveBound(1.0, 0.0, 2.0))),
    "backward error raised": ("rough gap", lambda c: replace(c, backward_error=2.0 * c.backward_error)),
    "backward error infinite": ("rough gap", lambda c: replace(c, backward_error=np.inf)),
    "sample weights of one": ("rough gap", lambda c: replace(c, sample_weight=np.ones(4))),
    "classes in another order": ("classes", lambda c: PerClass(c.classes[::-1], c.parts[::-1])),
    "one class claims less": ("classes", lambda c: replace(c, parts=(replace(c.parts[0], lower=-1.0), *c.parts[1:]))),
}


def test_other_true_claims_hold():
    """A claim that is weaker or said in another way is true, so it holds, also after a trip through JSON."""
    for case, change in OTHER_TRUTHS.values():
        certificate, data, labels = true(case)
        accepted(change(certificate), data, labels)
        accepted(from_json(change(certificate).to_json()), data, labels)


MODELS = [
    hs.Perceptron(max_iter=5, random_state=0),
    hs.Perceptron(max_iter=5, multi_class="native", random_state=0),
    hs.AveragedPerceptron(max_iter=2, random_state=0),
    hs.PocketPerceptron(max_iter=2, random_state=0),
    hs.HebbClassifier(),
    hs.Adaline(),
    hs.PassiveAggressive(max_iter=2, random_state=0),
]


@pytest.mark.filterwarnings("ignore::halfspace.errors.NotSeparatedWarning")
@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("labels", [Y3, np.array([True, True, False, False, False, False]), np.array([-1, -1, 0, 0, 7, 7])])
def test_certificates_of_models_hold_and_others_data_refute_them(model, labels):
    """What a model claims holds on its data after a trip through JSON, and not with the labels rotated."""
    certificate = from_json(model.fit(X3, labels).certificate_.to_json())
    accepted(certificate, X3, labels)
    refused(lambda: certificate, X3, np.roll(labels, 3))


# ---------------------------------------------------------------- false claims about the margin of two classes
def edit(array, place, value):
    changed = np.array(array)
    changed[place] = value
    return changed


SIDES_FALSE = {
    "lower raised a little": lambda c: replace(c, lower=c.lower + 1e-9),
    "lower raised": lambda c: replace(c, lower=c.lower + 0.1),
    "lower at the radius": lambda c: replace(c, lower=c.radius),
    "lower infinite": lambda c: replace(c, lower=np.inf),
    "upper lowered a little": lambda c: replace(c, upper=c.upper - 1e-9),
    "upper halved": lambda c: replace(c, upper=c.upper / 2 if c.upper else -1.0),
    "upper negative": lambda c: replace(c, upper=-1.0),
    "upper minus infinity": lambda c: replace(c, upper=-np.inf),
    "sides swapped": lambda c: replace(c, lower=c.upper + 0.5, upper=c.lower),
    "radius a little larger": lambda c: replace(c, radius=c.radius * 1.000001),
    "radius a little smaller": lambda c: replace(c, radius=c.radius / 1.000001),
    "radius zero": lambda c: replace(c, radius=0.0),
    "radius negative": lambda c: replace(c, radius=-c.radius),
    "radius infinite": lambda c: replace(c, radius=np.inf),
    "weights negated": lambda c: replace(c, weights=-c.weights),
    "weights zero": lambda c: replace(c, weights=0.0 * c.weights),
    "one weight infinite": lambda c: replace(c, weights=edit(c.weights, (..., 0), np.inf)),
    "one weight too many": lambda c: replace(c, weights=np.concatenate([c.weights, c.weights[..., :1]], axis=-1)),
    "one weight too few": lambda c: replace(c, weights=c.weights[..., :-1]),
    "no weights": lambda c: replace(c, weights=c.weights[..., :0]),
    "weights with one dimension more": lambda c: replace(c, weights=c.weights[None]),
    "weights repeated to a square": lambda c: replace(c, weights=np.stack([c.weights] * 3)),
    "row beyond the last": lambda c: replace(c, rows=edit(c.rows, 0, 6)),
    "row far beyond the last": lambda c: replace(c, rows=edit(c.rows, 0, 2**40)),
    "row negative": lambda c: replace(c, rows=edit(c.rows, 0, -1)),
    "no rows": lambda c: replace(c, rows=c.rows[:0]),
    "no rows and no strengths": lambda c: replace(c, rows=c.rows[:0], strengths=c.strengths[:0]),
    "one row too few": lambda c: replace(c, rows=c.rows[1:]),
    "one row too many": lambda c: replace(c, rows=np.append(c.rows, 0)),
    "rows in a table": lambda c: replace(c, rows=c.rows[None], strengths=c.strengths[None]),
    "fractional rows": lambda c: replace(c, rows=c.rows + 0.5),
    "one strength negative": lambda c: replace(c, strengths=edit(c.strengths, 0, -1.0)),
    "strengths negated": lambda c: replace(c, strengths=-c.strengths),
    "strengths zero": lambda c: replace(c, strengths=0.0 * c.strengths),
    "one strength infinite": lambda c: replace(c, strengths=edit(c.strengths, 0, np.inf)),
    "one strength too few": lambda c: replace(c, strengths=c.strengths[1:]),
    "one strength too many": lambda c: replace(c, strengths=np.append(c.strengths, 1.0)),
    "strengths that sum to infinity": lambda c: replace(c, strengths=np.full(c.rows.shape, 1e308), upper=c.upper / 1e6 - 1e-9),
    "clamp zero": lambda c: replace(c, clamp=0.0),
    "clamp doubled": lambda c: replace(c, clamp=2.0 * c.clamp),
    "clamp halved": lambda c: replace(c, clamp=c.clamp / 2),
    "clamp huge": lambda c: replace(c, clamp=1e200),
}


@pytest.mark.parametrize("case", ["margin", "kesler", "gordan"])
def test_false_brackets_are_refused(case):
    """A bracket with one corrupted field is refused, with a reason or as malformed."""
    all_refused(SIDES_FALSE, case)


MARGIN_FALSE = {
    "first weight negated": lambda c: replace(c, weights=c.weights * np.array([-1.0, 1.0, 1.0])),
    "first weight scaled": lambda c: replace(c, weights=c.weights * np.array([9.0, 1.0, 1.0])),
    "weights swapped": lambda c: replace(c, weights=c.weights[[2, 1, 0]]),
    "another row": lambda c: replace(c, rows=edit(c.rows, 1, 3)),
    "both rows exchanged for others": lambda c: replace(c, rows=np.array([0, 3])),
    "a row twice": lambda c: replace(c, rows=np.append(c.rows, 1), strengths=np.append(c.strengths, 1.0)),
    "rows moved by one": lambda c: replace(c, rows=c.rows - 1),
    "one strength scaled": lambda c: replace(c, strengths=c.strengths * np.array([9.0, 1.0])),
    "one strength dropped": lambda c: replace(c, strengths=c.strengths * np.array([1.0, 0.0])),
    "upper zero without proof": lambda c: replace(c, upper=0.0),
    "upper minus zero without proof": lambda c: replace(c, upper=-0.0),
    "the other label": lambda c: replace(c, positive=0),
    "an unknown label": lambda c: replace(c, positive=7),
    "a label of another type": lambda c: replace(c, positive="1"),
    "a list of labels": lambda c: replace(c, positive=[1, 1, 0, 0]),
    "an empty list of labels": lambda c: replace(c, positive=[]),
    "two labels": lambda c: replace(c, positive=[0, 1]),
    "a label that is not a number": lambda c: replace(c, positive=np.nan),
}


def test_false_margins_are_refused():
    """A margin bracket whose witnesses or label were exchanged is refused."""
    all_refused(MARGIN_FALSE, "margin")


GORDAN_FALSE = {
    "one strength a little larger": lambda c: replace(c, strengths=edit(c.strengths, 0, np.nextafter(1.0, 2.0))),
    "one strength a little smaller": lambda c: replace(c, strengths=edit(c.strengths, 3, np.nextafter(1.0, 0.0))),
    "one strength zero": lambda c: replace(c, strengths=edit(c.strengths, 1, 0.0)),
    "one term missing": lambda c: replace(c, rows=c.rows[1:], strengths=c.strengths[1:]),
    "a term twice": lambda c: replace(c, rows=edit(c.rows, 0, 1)),
    "the classes separated": lambda c: replace(c, lower=1e-6),
    "the other clamp": lambda c: replace(c, clamp=0.5),
}


def test_false_proofs_of_inseparability_are_refused():
    """An upper side of exactly 0 needs strengths that cancel exactly: one bit off is refused."""
    all_refused(GORDAN_FALSE, "gordan")


def test_a_proof_of_inseparability_is_for_its_data():
    """A proof of inseparability is refused for data that differ in one bit."""
    for amount in (2.0**-52, 2.0**-30, 1e-3):
        refused(lambda: true("gordan").certificate, edit(XOR, (0, 0), XOR[0, 0] + amount), Y)


def forged(**changes):
    """Return a bracket that calls the XOR separable: all its signs are made equal by a label that is none."""
    honest = gordan_bracket()
    claims = {"lower": 0.25, "upper": honest.radius, "weights": np.array([0.0, 0.0, 1.0])}
    return replace(honest, rows=np.array([0]), strengths=np.array([1.0]), **{**claims, **changes})


@pytest.mark.parametrize("positive", ["none", 7, None, np.nan, "1", {}], ids=str)
def test_an_unknown_label_does_not_separate_the_xor(positive):
    """With a positive label that no example has all signs are equal, which must not count as separating two classes."""
    refused(lambda: forged(positive=positive, weights=np.array([0.0, 0.0, -1.0])), XOR, Y)


@pytest.mark.parametrize("positive", [Y.tolist(), tuple(Y.tolist()), Y], ids=["list", "tuple", "array"])
def test_labels_in_a_list_do_not_separate_the_xor(positive):
    """A list in the place of the positive label would make every example positive; it is refused."""
    refused(lambda: forged(positive=positive), XOR, Y)


WITNESSES_BEYOND_FLOATS = {
    "outputs overflow": {"weights": np.array([1e308, 1e308]), "lower": 50.0, "upper": 100.0},
    "weights and length lose their bits": {"weights": np.array([5e-324, 5e-324]), "lower": 1.5, "upper": 100.0},
    "strengths sum to infinity": {"strengths": np.array([1e308, 1e308]), "lower": -9.0, "upper": 1e-9},
}


@pytest.mark.parametrize("lie", WITNESSES_BEYOND_FLOATS)
def test_witnesses_beyond_floats_prove_nothing(lie):
    """Weights or strengths so large or small that sums of them overflow or lose their bits prove no false claim."""
    data, labels = np.array([[0.625, 0.625], [-0.625, -0.625]]), np.array([1, 0])
    data = 2.0 * data if lie == "outputs overflow" else data
    honest = MarginBracket.measure(data, labels, weights=np.ones(2), strengths=np.ones(2), positive=1)
    accepted(honest, data, labels)
    refused(lambda: replace(honest, **WITNESSES_BEYOND_FLOATS[lie]), data, labels)


@pytest.mark.parametrize(("scale", "claimed"), [(1e-200, 0.0), (1e-170, 1e-165), (1e200, 5.0), (1e200, np.inf)])
def test_radius_beyond_floats_is_not_confirmed(scale, claimed):
    """Where the squares of the data overflow or underflow, a wrong radius is refused all the same."""
    claim = MarginBracket(-np.inf, np.inf, claimed, np.ones(2), np.array([0]), np.ones(1), 0.0, 1)
    refused(lambda: claim, X * scale, Y)


# ---------------------------------------------------------------- false claims about several classes
KESLER_FALSE = {
    "planes exchanged": lambda c: replace(c, weights=c.weights[[1, 0, 2]]),
    "one plane negated": lambda c: replace(c, weights=c.weights * np.array([[-1.0], [1.0], [1.0]])),
    "one plane missing": lambda c: replace(c, weights=c.weights[:2]),
    "one plane too many": lambda c: replace(c, weights=np.vstack([c.weights, c.weights[:1]])),
    "one plane alone": lambda c: replace(c, weights=c.weights[0]),
    "planes in a flat list": lambda c: replace(c, weights=c.weights.ravel()),
    "the truth as rival": lambda c: replace(c, rivals=edit(c.rivals, 0, np.searchsorted(c.classes, Y3[c.rows[0]]))),
    "rival beyond the last": lambda c: replace(c, rivals=edit(c.rivals, 0, 3)),
    "rival negative": lambda c: replace(c, rivals=edit(c.rivals, 0, -1)),
    "one rival too few": lambda c: replace(c, rivals=c.rivals[1:]),
    "fractional rivals": lambda c: replace(c, rivals=c.rivals + 0.25),
    "rivals in a table": lambda c: replace(c, rivals=c.rivals[None]),
    "all the weight on one term": lambda c: replace(c, strengths=edit(0.0 * c.strengths, 0, 1.0)),
    "labels exchanged": lambda c: replace(c, classes=("b", "a", "c")),
    "a label missing": lambda c: replace(c, classes=("a", "b")),
    "a label renamed": lambda c: replace(c, classes=("a", "b", "z")),
    "a label too many": lambda c: replace(c, classes=("a", "b", "c", "d")),
    "a label twice": lambda c: replace(c, classes=("a", "b", "b")),
    "labels of another type": lambda c: replace(c, classes=(0, 1, 2)),
    "labels in lists": lambda c: replace(c, classes=(["a"], ["b"], ["c"])),
    "no labels": lambda c: replace(c, classes=()),
    "upper zero": lambda c: replace(c, upper=0.0),
}


def test_false_kesler_brackets_are_refused():
    """A bracket of several classes with exchanged planes, rivals, strengths or labels is refused."""
    all_refused(KESLER_FALSE, "kesler")


PER_CLASS_FALSE = {
    "parts exchanged": lambda c: replace(c, parts=(c.parts[1], c.parts[0], c.parts[2])),
    "labels exchanged": lambda c: replace(c, classes=("b", "a", "c")),
    "labels renamed": lambda c: replace(c, classes=("x", "y", "z")),
    "one part for all": lambda c: replace(c, parts=(c.parts[0],) * 3),
    "one class for all": lambda c: replace(c, classes=("a",) * 3, parts=(c.parts[0],) * 3),
    "a class missing": lambda c: PerClass(c.classes[:2], c.parts[:2]),
    "nothing claimed": lambda _: PerClass((), ()),
    "more parts than classes": lambda c: replace(c, classes=c.classes[:2]),
    "more classes than parts": lambda c: replace(c, parts=c.parts[:2]),
}


@pytest.mark.parametrize("case", ["classes", "class mistakes"])
def test_false_collections_are_refused(case):
    """A collection whose parts do not belong to its labels, or that leaves a class of the data out, is refused."""
    all_refused(PER_CLASS_FALSE, case)


def test_one_false_part_refutes_all():
    """A collection with one false part is refused, and the reason names the part."""
    certificate, data, labels = true("classes")
    lies = ["lower raised", "upper halved", "radius zero", "weights negated", "row negative"]
    for part, lie in product(range(3), lies):
        parts = list(certificate.parts)
        parts[part] = SIDES_FALSE[lie](parts[part])
        verdict = replace(certificate, parts=tuple(parts)).verify(data, labels)
        assert not verdict
        named = (f"class {certificate.classes[part]}: ", f"parts[{part}]: ")
        assert all(reason.startswith(named) for reason in verdict.reasons)


# ---------------------------------------------------------------- false claims about mistakes
def with_theorem(certificate, theorem):
    """Put in another theorem, with the bound it would give if it were one."""
    bound = theorem.bound(certificate.bracket.radius, certificate.bracket.lower)
    return replace(certificate, theorem=theorem, bound=bound, mistakes=0)


MISTAKES_FALSE = {
    "bound halved": lambda c: replace(c, bound=c.bound / 2),
    "bound a little lower": lambda c: replace(c, bound=c.bound * (1 - 1e-6)),
    "bound zero": lambda c: replace(c, bound=0.0, mistakes=0),
    "bound negative": lambda c: replace(c, bound=-1.0),
    "more mistakes than allowed": lambda c: replace(c, mistakes=int(c.bound) + 1),
    "far more mistakes than allowed": lambda c: replace(c, mistakes=10**30),
    "mistakes negative": lambda c: replace(c, mistakes=-1),
    "a bracket that is none": lambda c: replace(c, bracket=true("rough gap").certificate),
    "margin raised": lambda c: MistakeBound.of(1, replace(c.bracket, lower=c.bracket.lower + 0.1), c.theorem),
    "radius lowered": lambda c: MistakeBound.of(1, replace(c.bracket, radius=c.bracket.radius / 2), c.theorem),
    "radius huge": lambda c: replace(c, bracket=replace(c.bracket, radius=1e200)),
    "margin infinite": lambda c: replace(c, bracket=replace(c.bracket, lower=np.inf)),
    "weights negated": lambda c: replace(c, bracket=replace(c.bracket, weights=-c.bracket.weights)),
    "the slowest rate above the fastest": lambda c: with_theorem(c, Novikoff(2.0, 1.0)),
    "no rate": lambda c: replace(c, theorem=Novikoff(0.0, 1.0), bound=50.0),
    "rates negative": lambda c: with_theorem(c, Novikoff(-1.0, -1.0)),
    "rate infinite": lambda c: replace(c, theorem=Novikoff(1.0, np.inf)),
    "margin of the rule infinite": lambda c: replace(c, theorem=Novikoff(1.0, 1.0, np.inf)),
    "start of Crammer's infinite": lambda c: replace(c, theorem=PassiveAggressiveBound(1.0, 0.0, np.inf)),
    "rate not a number": lambda c: with_theorem(c, Novikoff(np.nan, 1.0)),
    "margin of the rule negative": lambda c: with_theorem(c, Novikoff(1.0, 1.0, -1.0)),
    "start negative": lambda c: with_theorem(c, Novikoff(1.0, 1.0, 0.0, -1.0)),
    "no cap": lambda c: replace(c, theorem=PassiveAggressiveBound(0.0), bound=50.0),
    "cap negative": lambda c: with_theorem(c, PassiveAggressiveBound(-1.0)),
    "softness negative": lambda c: with_theorem(c, PassiveAggressiveBound(np.inf, -1.0)),
    "start of Crammer's negative": lambda c: with_theorem(c, PassiveAggressiveBound(1.0, 0.0, -1.0)),
    "cap not a number": lambda c: with_theorem(c, PassiveAggressiveBound(np.nan)),
    "a word for a rate": lambda c: replace(c, theorem=Novikoff("slow", 1.0)),
}


@pytest.mark.parametrize("case", ["novikoff", "crammer", "kesler mistakes"])
def test_false_mistake_bounds_are_refused(case):
    """A count, bound, theorem or bracket that cannot be is refused."""
    all_refused(MISTAKES_FALSE, case)


@pytest.mark.parametrize("bound", [40.0, 41.0, 1e6, 1e300, -1.0, np.nan])
def test_no_bound_without_a_margin(bound):
    """Where no plane is known to separate the classes every finite bound on the mistakes is refused."""
    certificate, data, labels = true("unbounded")
    refused(lambda: replace(certificate, bound=bound), data, labels)


@pytest.mark.parametrize(("case", "theorem"), [("novikoff", PassiveAggressiveBound()), ("crammer", Novikoff())])
def test_the_bound_of_another_theorem_is_refused(case, theorem):
    """The bound of one theorem under the name of another is refused."""
    certificate, data, labels = true(case)
    refused(lambda: replace(certificate, theorem=theorem), data, labels)


# ---------------------------------------------------------------- false claims about least squares
GAP_FALSE = {
    "loss lowered": lambda c: replace(c, loss=c.loss * (1 - 1e-6)),
    "loss raised": lambda c: replace(c, loss=c.loss * (1 + 1e-6)),
    "loss zero": lambda c: replace(c, loss=0.0),
    "loss negated": lambda c: replace(c, loss=-c.loss),
    "loss infinite": lambda c: replace(c, loss=np.inf),
    "backward error lowered": lambda c: replace(c, backward_error=c.backward_error * (1 - 1e-6)),
    "backward error zero": lambda c: replace(c, backward_error=0.0),
    "backward error negated": lambda c: replace(c, backward_error=-c.backward_error),
    "weights negated": lambda c: replace(c, weights=-c.weights),
    "weights scaled": lambda c: replace(c, weights=1.001 * c.weights),
    "weights exchanged": lambda c: replace(c, weights=c.weights[::-1]),
    "weight infinite": lambda c: replace(c, weights=edit(c.weights, 0, np.inf)),
    "weights so large that the loss overflows": lambda c: replace(c, weights=np.full(3, 1e308), backward_error=0.0),
    "large weights": lambda c: replace(c, weights=np.full(3, 1e200), backward_error=0.0),
    "one weight too few": lambda c: replace(c, weights=c.weights[:-1]),
    "one weight too many": lambda c: replace(c, weights=np.append(c.weights, 0.0)),
    "no weights": lambda c: replace(c, weights=c.weights[:0]),
    "weights in a table": lambda c: replace(c, weights=c.weights[None]),
    "sample weights changed": lambda c: replace(c, sample_weight=np.array([1.0, 2.0, 3.0, 4.0])),
    "sample weights too few": lambda c: replace(c, sample_weight=np.ones(3)),
    "sample weights in a table": lambda c: replace(c, sample_weight=np.ones((4, 1))),
    "sample weight infinite": lambda c: replace(c, sample_weight=np.array([1.0, 1.0, np.inf, 1.0])),
    "clamp zero": lambda c: replace(c, clamp=0.0),
    "clamp doubled": lambda c: replace(c, clamp=2.0),
    "clamp negated": lambda c: replace(c, clamp=-1.0),
    "clamp huge": lambda c: replace(c, clamp=1e200),
    "the other label": lambda c: replace(c, positive=0),
    "an unknown label": lambda c: replace(c, positive=7),
    "a list of labels": lambda c: replace(c, positive=[1, 1, 0, 0]),
    "two labels": lambda c: replace(c, positive=[0, 1]),
}


@pytest.mark.parametrize("case", ["rough gap", "weighted gap"])
def test_false_least_squares_are_refused(case):
    """A least-squares certificate with one corrupted field is refused."""
    all_refused(GAP_FALSE, case)


def test_negative_sample_weights_are_refused():
    """A loss with negative weights is no least-squares problem, whatever its value."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        claim = gap([0.5, 0.25, 0.125], np.array([1.0, 1.0, -0.125, 1.0]))
    refused(lambda: claim, X, Y)


def test_large_weights_in_the_null_space_do_not_hide_the_residual():
    """Weights far from optimal are not called optimal because an idle weight is so large that rounding could be."""
    data = np.column_stack([X[:, 0], np.zeros(4)])
    honest = LeastSquaresGap.measure(data, Y, weights=np.array([0.0, 1.0]), positive=1)
    assert honest.backward_error > 0.5
    accepted(honest, data, Y)
    refused(lambda: replace(honest, weights=np.array([0.0, 1e17]), backward_error=0.0), data, Y)


# ---------------------------------------------------------------- other data
@every_case
def test_other_data_refute(case):
    """A true certificate is refused for data that were scaled or negated, and for labels that were reversed."""
    certificate, data, labels = true(case)
    if case not in {"gordan", "unbounded"}:
        refused(lambda: certificate, -data, labels)
        refused(lambda: certificate, data, labels[::-1])
    refused(lambda: certificate, 1.001 * data, labels)
    refused(lambda: certificate, data[:, :1], labels)
    refused(lambda: certificate, np.hstack([data, data]), labels)


@every_case
def test_bad_data_are_refused_as_such(case):
    """Data with NaN or infinity, or of the wrong length, are an error of the input, not a verdict."""
    certificate, data, labels = true(case)
    for spoil in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            certificate.verify(edit(data, (0, 0), spoil), labels)
    with pytest.raises(ValueError, match="inconsistent"):
        certificate.verify(data, labels[1:])


# ---------------------------------------------------------------- the JSON form
def leaves(body, path=()):
    """Yield the path of every field in a JSON form, those of nested forms too; of a list only the first element."""
    items = body.items() if isinstance(body, dict) else enumerate(body[:1])
    for key, value in items:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from leaves(value, (*path, key))


def changed(case, path, change):
    """Return the JSON text of a certificate with the field at `path` changed in place by `change(parent, key)`."""
    body = json.loads(true(case).certificate.to_json())
    parent = body
    for key in path[:-1]:
        parent = parent[key]
    change(parent, path[-1])
    return json.dumps(body)


def put(value) -> Callable[[Any, Any], None]:
    return lambda parent, key: parent.__setitem__(key, value)


NONSENSE = {
    "missing": lambda parent, key: parent.pop(key),
    "null": put(None),
    "word": put("abc"),
    "empty word": put(""),
    "empty list": put([]),
    "list": put([[1.0, 2.0]]),
    "square": put([[1.0, 2.0, 3.0]] * 3),
    "object": put({"a": 1}),
    "number": put(-12.5),
    "large number": put(10**400),
    "not a number": put(float("nan")),
    "infinite": put(float("inf")),
    "true": put(True),
}


@every_case
def test_nonsense_in_any_field_is_refused(case):
    """Nonsense in any field of the JSON form is refused as malformed or refuted; where it means the same, it is the same."""
    certificate, data, labels = true(case)
    for path, (name, change) in product(leaves(json.loads(certificate.to_json())), NONSENSE.items()):
        text = changed(case, path, change)
        verdict = judge(lambda text=text: from_json(text), data, labels)
        if verdict and not weaker_or_same(certificate.to_dict(), from_json(text).to_dict()):
            pytest.fail(f"{name} was accepted at {path}")


FREE = {"lower", "upper", "backward_error", "mistakes", "rounding"}
FREE_IF_FINITE = {"weights", "strengths", "slowest", "fastest", "margin", "start", "cap", "softness"}


def weaker_or_same(mine, theirs):
    """Tell whether an accepted JSON form claims what the true one does, but for other sides, witnesses or rates."""
    if isinstance(mine, list) and mine and isinstance(mine[0], dict):
        return len(mine) == len(theirs) and all(map(weaker_or_same, mine, theirs))
    if not isinstance(mine, dict):
        return mine == theirs
    finite = {name for name in FREE_IF_FINITE & mine.keys() if np.isfinite(np.array(theirs[name], dtype=float)).all()}
    compared = mine.keys() - FREE - finite
    same = mine.keys() - {"rounding"} == theirs.keys() - {"rounding"}  # without it a claim is right to nine digits
    return same and all(weaker_or_same(mine[name], theirs[name]) for name in compared)


STRICT = {
    "fractional mistakes": ("novikoff", ("mistakes",), put(3.5)),
    "fractional row": ("margin", ("rows",), put([1.5, 2.5])),
    "fractional rival": ("kesler", ("rivals", 0), put(0.5)),
    "extra field": ("margin", ("extra",), put(1)),
    "extra field of mistakes": ("novikoff", ("extra",), put(1)),
    "extra field of a bracket": ("novikoff", ("bracket", "extra"), put(1)),
    "extra field of a theorem": ("novikoff", ("theorem", "extra"), put(1)),
    "extra field of a gap": ("rough gap", ("extra",), put(1)),
    "extra field of a collection": ("classes", ("extra",), put(1)),
    "extra field of a part": ("classes", ("parts", 0, "extra"), put(1)),
    "missing rate": ("novikoff", ("theorem", "slowest"), NONSENSE["missing"]),
    "unknown theorem": ("novikoff", ("theorem", "theorem"), put("Fermat")),
    "theorem of the other kind": ("novikoff", ("theorem", "theorem"), put("PassiveAggressiveBound")),
    "bracket of another kind": ("novikoff", ("bracket", "kind"), put("LeastSquaresGap")),
    "unknown kind": ("margin", ("kind",), put("Horoscope")),
    "another kind": ("margin", ("kind",), put("KeslerBracket")),
    "the other kind": ("kesler", ("kind",), put("MarginBracket")),
    "kind of mistakes for a bracket": ("margin", ("kind",), put("MistakeBound")),
    "kind of a gap for a bracket": ("margin", ("kind",), put("LeastSquaresGap")),
    "kind of a collection for a bracket": ("margin", ("kind",), put("PerClass")),
    "abstract kind": ("margin", ("kind",), put("Certificate")),
    "kind in a list": ("margin", ("kind",), put(["MarginBracket"])),
    "kind in an object": ("margin", ("kind",), put({})),
    "no kind": ("margin", ("kind",), NONSENSE["missing"]),
    "newer format": ("margin", ("format",), put(2)),
    "older format": ("margin", ("format",), put(0)),
    "format as word": ("margin", ("format",), put("1")),
    "no format": ("margin", ("format",), NONSENSE["missing"]),
    "other file": ("margin", ("halfspace",), put("model")),
    "no mark": ("margin", ("halfspace",), NONSENSE["missing"]),
    "row beyond 64 bits": ("margin", ("rows", 0), put(2**70)),
}


def test_damaged_json_is_an_error():
    """A JSON form with a wrong kind, format, field or type is a CertificateError when read, and says what is wrong."""
    for damage, change in STRICT.items():
        with pytest.raises(CertificateError, match=r"\w"):
            pytest.fail(f"{damage}: {from_json(changed(*change))}")


@every_case
def test_truncated_json_is_an_error(case):
    """A JSON form that was cut anywhere is a CertificateError."""
    text = true(case).certificate.to_json()
    for share in (0.0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0):
        with pytest.raises(CertificateError, match="not JSON"):
            from_json(text[: int(share * (len(text) - 1))])


NO_CERTIFICATES = ["", " ", "null", "1", "[]", "{}", '"spam"', "NaN", "{'a': 1}", "\x00", "[" * 10**5, "{}{}", "\ufeff{}"]


@pytest.mark.parametrize("text", NO_CERTIFICATES, ids=lambda text: repr(text[:8]))
def test_other_texts_are_an_error(text):
    """A text that is no certificate is a CertificateError."""
    with pytest.raises(CertificateError, match="not"):
        from_json(text)


@pytest.mark.parametrize("depth", [100, 300, 1000, 3000])
@pytest.mark.parametrize("kind", ["parts", "bracket"])
def test_nested_certificates_end(depth, kind):
    """Certificates nested in certificates give a verdict or a CertificateError, however deep: the stack is never full."""
    inner = json.dumps(true("margin").certificate.to_dict())
    head = {
        "parts": '{"halfspace": "certificate", "format": 1, "kind": "PerClass", "classes": [1], "parts": [',
        "bracket": '{"halfspace": "certificate", "format": 1, "kind": "MistakeBound", "mistakes": 1, "bound": 1, "bracket": ',
    }[kind]
    text = head * depth + inner + {"parts": "]}", "bracket": "}"}[kind] * depth
    judge(lambda: from_json(text), X, Y)


def test_numbers_with_thousands_of_digits_are_an_error():
    """A whole number longer than Python reads is a CertificateError like any other damage."""
    text = true("novikoff").certificate.to_json().replace('"mistakes": 3', '"mistakes": ' + "3" * 5000)
    with pytest.raises(CertificateError, match="certificate"):
        from_json(text)


def test_a_name_that_comes_twice_is_an_error():
    """A JSON form with a name twice in one object means different things to different readers, whichever object it is."""
    text = true("novikoff").certificate.to_json()
    for name in ("kind", "mistakes", "slowest"):
        with pytest.raises(CertificateError, match=f"'{name}' comes twice"):
            from_json(text.replace(f'"{name}": ', f'"{name}": 1, "{name}": ', 1))
    with pytest.raises(CertificateError, match="NaN"):
        from_json(text.replace('"mistakes": 3', '"mistakes": NaN'))


@pytest.mark.parametrize("path", sorted((Path(__file__).parent / "stored").glob("*.json")), ids=lambda path: path.stem)
def test_numbers_beyond_arithmetic_refute(path):
    """Whatever a number at the ends of double precision does to the arithmetic of a checker, the answer is a verdict."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    data, labels = np.array(stored["X"]), None if stored["y"] is None else np.array(stored["y"])
    for name, extreme in product(leaves(stored["certificate"]), (1e308, 1e155, 5e-324)):
        body = json.loads(path.read_text(encoding="utf-8"))["certificate"]
        parent = body
        for key in name[:-1]:
            parent = parent[key]
        if isinstance(parent[name[-1]], float):
            parent[name[-1]] = extreme
            judge(partial(from_json, json.dumps(body)), data, labels)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00{", b"\x80", b"", b"PK\x03\x04"])
def test_a_file_of_other_bytes_is_an_error(tmp_path, content):
    """A file that is not text in UTF-8 is a CertificateError, as is an empty one."""
    path = tmp_path / "certificate.json"
    path.write_bytes(content)
    with pytest.raises(CertificateError, match="not"):
        check(path, X, Y)


def test_labels_that_json_cannot_hold_are_an_error():
    """A certificate whose label is no string, number or bool says so when written."""
    with pytest.raises(CertificateError, match="label"):
        replace(margin_bracket(), positive=b"spam").to_json()


# ---------------------------------------------------------------- properties
SMALL = st.integers(-3, 3).map(float)
WITNESSES = st.tuples(
    arrays(np.float64, (4, 2), elements=SMALL),
    arrays(np.float64, 2, elements=SMALL),
    arrays(np.float64, 4, elements=st.integers(0, 3).map(float)),
)


def exact_squares(data, weights, strengths):
    """Return the signed square of the margin of the weights, and of the length of the mean, in rational arithmetic."""
    signs = [1 if label == 1 else -1 for label in Y]
    w, rows = [Fraction(v) for v in weights], [[sign * Fraction(v) for v in row] for sign, row in zip(signs, data, strict=True)]
    E = min(sum(a * b for a, b in zip(row, w, strict=True)) for row in rows)
    lam = [Fraction(v) for v in strengths]
    mean = [sum(a * row[j] for a, row in zip(lam, rows, strict=True)) / sum(lam) for j in range(2)]
    return E * abs(E) / sum(v * v for v in w), sum(v * v for v in mean)


def signed_root(square):
    return float(np.sign(float(square)) * np.sqrt(abs(float(square))))


@QUICK
@given(witnesses=WITNESSES, power=st.sampled_from([-1074, -1060, -600, -30, 0, 30, 600, 1020]))
def test_the_exact_margin_is_the_limit_of_what_is_accepted(witnesses, power):
    """A lower side just below the exact margin is accepted and one above it refused, whatever the scale of the weights."""
    data, weights, strengths = witnesses
    assume(weights.any() and strengths.any() and data.any())
    honest = MarginBracket.measure(data, Y, weights=weights, strengths=strengths, positive=1)
    margin = signed_root(exact_squares(data, weights, strengths)[0])
    scaled = replace(honest, weights=weights * 2.0**power)
    accepted(replace(scaled, lower=margin - 1e-9), data, Y)
    refused(lambda: replace(scaled, lower=margin + 1e-9), data, Y)


@QUICK
@given(witnesses=WITNESSES, power=st.sampled_from([-1074, -1060, -600, -30, 0, 30, 600, 1020]))
def test_the_exact_length_is_the_limit_of_what_is_accepted(witnesses, power):
    """An upper side just above the exact length is accepted and one below it refused, whatever the scale of the strengths."""
    data, _, strengths = witnesses
    assume(strengths.any() and data.any())
    honest = MarginBracket.measure(data, Y, weights=np.ones(2), strengths=strengths, positive=1)
    length = signed_root(exact_squares(data, np.ones(2), strengths)[1])
    scaled = replace(honest, strengths=strengths[honest.rows] * 2.0**power)
    accepted(replace(scaled, upper=length + 1e-9), data, Y)
    if length > 0:
        refused(lambda: replace(scaled, upper=length * (1 - 1e-9)), data, Y)
    else:
        accepted(replace(scaled, upper=0.0), data, Y)
    refused(lambda: replace(scaled, upper=-1e-9), data, Y)


@QUICK
@given(
    weights=arrays(np.float64, 3, elements=st.floats(-1e6, 1e6)), strengths=arrays(np.float64, 4, elements=st.floats(0, 1e6))
)
def test_measured_brackets_hold_and_survive_json(weights, strengths):
    """Whatever the weights and strengths, a bracket measured from them holds, and so does its JSON form, bit by bit."""
    bracket = MarginBracket.measure(X, Y, weights=weights, strengths=strengths, clamp=1.0, positive=1)
    accepted(bracket, X, Y)
    again = from_json(bracket.to_json())
    same_bits(bracket, again)
    accepted(again, X, Y)
