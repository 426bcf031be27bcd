"""The duality gap: every true one is accepted, every false one refused, and nothing else ever happens."""

import json
import math
import warnings
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import sparse

import halfspace as hs
from halfspace.certificates import PerClass, check, from_json
from halfspace.certificates.margins.gap import DualityGap
from halfspace.errors import CertificateError, InputError

X = np.array(
    [
        [1.5, 2.0, 0.25],
        [2.0, 1.0, -0.5],
        [0.75, 1.25, 1.0],
        [3.0, 0.5, 0.0],
        [-1.0, -1.25, 0.5],
        [-2.0, -1.5, -1.0],
        [0.5, -2.0, 0.75],
    ]
)
Y = np.array([1, 1, 1, 1, 0, 0, 0])
SIGN = np.where(Y == 1, 1.0, -1.0)
STRENGTHS = 0.125 * np.array([0.125, 0.25, 0.5, 0.0, 0.375, 0.0, 0.4375])
WEIGHTS = np.array([0.3125, 0.4375, 0.0625])
S = np.array([1.0, 2.0, 0.75, 1.5, 1.0, 0.5, 1.25])


class Case(NamedTuple):
    """A true certificate and its data."""

    certificate: Any
    X: Any
    y: Any


def measured(C=0.5, s=None, bias=None, clamp=0.0, weights=WEIGHTS, strengths=STRENGTHS):
    weights = np.append(weights, 0.1875) if clamp else weights
    return DualityGap.measure(
        X, Y, weights=weights, strengths=strengths, C=C, sample_weight=s, bias=bias, clamp=clamp, positive=1
    )


BALANCED = 0.125 * np.array([0.125, 0.25, 0.25, 0.0, 0.375, 0.0, 0.25])
BUILD = {
    "plain": lambda: Case(measured(), X, Y),
    "clamped": lambda: Case(measured(clamp=2.0), X, Y),
    "weighted": lambda: Case(measured(s=S), X, Y),
    "free": lambda: Case(measured(bias=-0.25, strengths=BALANCED), X, Y),
    "hard": lambda: Case(measured(C=np.inf), X, Y),
    "hard clamped": lambda: Case(measured(C=np.inf, clamp=1.0), X, Y),
    "hard free": lambda: Case(measured(C=np.inf, bias=0.125, strengths=BALANCED), X, Y),
    "hard weighted": lambda: Case(measured(C=np.inf, s=S), X, Y),
}
CASES = list(BUILD)
every_case = pytest.mark.parametrize("case", CASES)


@lru_cache
def true(case):
    return BUILD[case]()


def judge(make, data, labels):
    """Return the verdict, or False for a certificate that is malformed; let any other error pass."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            return make().verify(data, labels)
        except (CertificateError, InputError) as error:
            assert str(error)  # noqa: PT017
            return False


def refused(make, data, labels):
    verdict = judge(make, data, labels)
    assert not verdict, "a false claim was accepted"
    assert verdict is False or all(isinstance(reason, str) and reason for reason in verdict.reasons)


def accepted(certificate, data, labels):
    verdict = certificate.verify(data, labels)
    assert verdict, str(verdict)


def edit(array, place, value):
    changed = np.array(array)
    changed[place] = value
    return changed


def exact_sides(certificate, data, labels):
    """Return the primal value of the weights and the dual value of the strengths as fractions, infinity or None if none."""
    c = certificate
    rows = [[Fraction(float(v)) for v in row] + [Fraction(c.clamp)] * bool(c.clamp) for row in np.asarray(data)]
    sign = [1 if label == c.positive else -1 for label in labels]
    s = [Fraction(1)] * len(rows) if c.sample_weight is None else [Fraction(float(v)) for v in c.sample_weight]
    w = [Fraction(float(v)) for v in c.weights]
    E = [y * (sum(a * b for a, b in zip(row, w, strict=True)) + Fraction(c.bias)) for row, y in zip(rows, sign, strict=True)]
    square = sum(v * v for v in w) / 2
    alpha = dict(zip(c.rows.tolist(), [Fraction(float(v)) for v in c.strengths], strict=True))
    v = [sum(a * sign[i] * rows[i][j] for i, a in alpha.items()) for j in range(len(w))]
    total, size = sum(alpha.values()), sum(x * x for x in v)
    if np.isfinite(c.C):
        loss = sum(Fraction(c.C) * weight * max(Fraction(0), 1 - e) for weight, e in zip(s, E, strict=True))
        return square + loss, total - size / 2
    least = min(e for e, weight in zip(E, s, strict=True) if weight > 0)
    return (square / least**2 if least > 0 else math.inf), (total**2 / size / 2 if size else math.inf)


# ---------------------------------------------------------------- true claims
@every_case
def test_true_gaps_hold(case, tmp_path):
    """A gap measured on the data holds on them, in every form of the data, and after a trip through a file with every bit."""
    certificate, data, labels = true(case)
    path = tmp_path / "gap.json"
    again = from_json(certificate.to_json(path))
    assert again.to_json() == certificate.to_json()
    assert check(path, data, labels)
    for form in (np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_array, np.ndarray.tolist, np.float32):
        accepted(certificate, form(data), labels.tolist())
        accepted(again, form(data), labels)


@every_case
def test_sides_bracket_the_exact_values(case):
    """The claimed primal value is not below the exact one, nor the dual value above it, and both are close."""
    certificate, data, labels = true(case)
    primal, dual = exact_sides(certificate, data, labels)
    assert certificate.primal >= primal
    assert certificate.dual <= dual
    assert certificate.primal == pytest.approx(float(primal), rel=1e-9)
    assert certificate.dual == pytest.approx(float(dual), rel=1e-9)


SAME = {
    "terms in another order": lambda c: replace(c, rows=c.rows[::-1], strengths=c.strengths[::-1]),
    "rows as int32": lambda c: replace(c, rows=c.rows.astype(np.int32)),
    "a term of strength zero": lambda c: replace(c, rows=np.append(c.rows, 3), strengths=np.append(c.strengths, 0.0)),
    "label as float": lambda c: replace(c, positive=1.0),
}
SAME_HARD = {
    "weights doubled": lambda c: replace(c, weights=2.0 * c.weights, bias=2.0 * c.bias),
    "weights times 2^-30": lambda c: replace(c, weights=2.0**-30 * c.weights, bias=2.0**-30 * c.bias),
    "strengths doubled": lambda c: replace(c, strengths=2.0 * c.strengths),
    "strengths times 2^40": lambda c: replace(c, strengths=2.0**40 * c.strengths),
    "strengths times 2^-40": lambda c: replace(c, strengths=2.0**-40 * c.strengths),
}


@pytest.mark.parametrize(
    ("case", "change"),
    [(case, change) for case in CASES for change in SAME] + [(case, c) for case in CASES[4:] for c in SAME_HARD],
)
def test_the_same_claim_in_other_words_holds(case, change):
    """The order and type of the witnesses do not matter, nor, without errors, their scale."""
    certificate, data, labels = true(case)
    accepted((SAME | SAME_HARD)[change](certificate), data, labels)


def test_weights_of_one_are_no_weights():
    """Sample weights of 1 say the same as none."""
    certificate, data, labels = true("plain")
    accepted(replace(certificate, sample_weight=np.ones(7)), data, labels)


def test_no_strengths_prove_zero():
    """Without strengths the dual value is 0, which is always true, and more is refused."""
    certificate = measured(strengths=np.zeros(7))
    assert certificate.dual == 0.0
    assert certificate.rows.size == 0
    accepted(from_json(certificate.to_json()), X, Y)
    refused(lambda: replace(certificate, dual=1e-9), X, Y)


def test_a_plane_with_errors_has_an_infinite_value_without_caps():
    """For C = inf weights that err cost infinity; the gap is infinite, the lower side still holds, and JSON keeps it."""
    certificate = from_json(measured(C=np.inf, weights=np.array([-1.0, 0.25, 0.0])).to_json())
    assert certificate.primal == certificate.relative_gap == np.inf
    assert certificate.dual > 0.0
    assert certificate.margin[0] == 0.0
    accepted(certificate, X, Y)
    refused(lambda: replace(certificate, primal=1e6), X, Y)


def test_only_without_caps_is_there_a_margin():
    """The bracket of the margin is 1/sqrt(2 primal), 1/sqrt(2 dual), for C = inf only."""
    hard, soft = true("hard").certificate, true("plain").certificate
    lower, upper = hard.margin
    E = SIGN * (X @ WEIGHTS)
    assert lower == pytest.approx(E.min() / np.linalg.norm(WEIGHTS), rel=1e-9)
    assert upper == pytest.approx(np.linalg.norm((STRENGTHS * SIGN) @ X) / STRENGTHS.sum(), rel=1e-9)
    with pytest.raises(AttributeError, match="C = inf"):
        soft.margin  # noqa: B018


def random_case(seed):
    """Return a certificate of made-up weights and strengths on data of made-up shape and scale."""
    rng = np.random.default_rng(seed)
    n, d = rng.integers(2, 30), rng.integers(1, 9)
    scale, C = 10.0 ** rng.uniform(-6, 6), np.inf if seed % 4 == 0 else 10.0 ** rng.uniform(-6, 6)
    data = rng.standard_normal((n, d)) * scale * 10.0 ** rng.uniform(-2, 2, d) + rng.choice([0.0, 100.0]) * scale
    w = rng.standard_normal(d) / scale
    labels = np.where(data @ w > 0, 1, 0) if seed % 4 == 0 else rng.integers(0, 2, n)
    labels[0], labels[1] = (labels[0], labels[1]) if labels.min() < labels.max() else (0, 1)
    s = rng.choice([0.0, 0.5, 1.0, 3.0], n) if seed % 3 == 0 else None
    s = None if s is None or not s.any() else s
    caps = np.minimum(1.0, C) * (np.ones(n) if s is None else np.minimum(s, 1.0))
    strengths = caps * rng.random(n) * (rng.random(n) < 0.6)
    sign, bias, clamp = np.where(labels == 1, 1.0, -1.0), None, 0.0
    if seed % 5 == 0:
        bias, strong = rng.standard_normal(), strengths[sign > 0].sum() > strengths[sign < 0].sum()
        sums = sorted([strengths[sign > 0].sum(), strengths[sign < 0].sum()])
        strengths = np.where((sign > 0) == strong, strengths * (sums[0] / sums[1] if sums[1] else 0.0), strengths)
    elif seed % 5 == 1:
        clamp = 10.0 ** rng.uniform(-3, 3)
        w = np.append(w, rng.standard_normal() / clamp)
    certificate = DualityGap.measure(
        data, labels, weights=w, strengths=strengths, C=C, sample_weight=s, bias=bias, clamp=clamp, positive=1
    )
    return Case(certificate, data, labels)


@pytest.mark.parametrize("block", range(10))
def test_no_true_gap_is_refused(block):
    """Whatever the shape, the scale (1e-8 to 1e8) and C (1e-6 to 1e6 and infinity): what was measured holds, and is exact."""
    for seed in range(25 * block, 25 * block + 25):
        certificate, data, labels = random_case(seed)
        accepted(certificate, data, labels)
        accepted(from_json(certificate.to_json()), sparse.csr_array(data), labels)
        primal, dual = exact_sides(certificate, data, labels)
        assert certificate.primal >= primal
        assert certificate.free or certificate.dual <= max(dual, 0)


FITS = [{"C": 1.0}, {"C": 0.01, "intercept": "free"}, {"C": np.inf, "intercept": "none"}, {"C": 1e6, "intercept_scaling": 10.0}]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("settings", FITS, ids=str)
@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_gaps_of_fits_hold(settings, scale):
    """The certificate of a fit holds, at any scale, weighted or not, and is refused for the labels of others."""
    rng = np.random.default_rng(7)
    data = scale * rng.standard_normal((25, 3))
    labels = np.where(data @ np.array([1.0, -0.5, 0.25]) + 0.4 * scale * rng.standard_normal(25) > 0, "yes", "no")
    if settings["C"] == np.inf:
        labels = np.where(data @ np.array([1.0, -0.5, 0.25]) > 0, "yes", "no")
    for s in (None, rng.choice([0.0, 0.5, 2.0], 25)):
        certificate = hs.AdaTron(max_iter=60, **settings).fit(data, labels, sample_weight=s).certificate_
        accepted(certificate, data, labels)
        accepted(from_json(certificate.to_json()), sparse.csr_array(data), labels.tolist())
        refused(lambda c=certificate: c, data, np.roll(labels, 1))


def test_gaps_of_many_classes_hold(tmp_path):
    """One gap per class, together in a file, holds; with two parts swapped it does not."""
    rng = np.random.default_rng(3)
    labels = np.repeat(["a", "b", "c"], 8)
    data = rng.standard_normal((24, 2)) + np.repeat([[3.0, 0.0], [0.0, 3.0], [-3.0, -3.0]], 8, axis=0)
    certificate = hs.AdaTron(C=0.5).fit(data, labels).certificate_
    assert isinstance(certificate, PerClass)
    certificate.to_json(tmp_path / "gaps.json")
    assert check(tmp_path / "gaps.json", data, labels)
    swapped = PerClass(certificate.classes, (certificate.parts[1], certificate.parts[0], certificate.parts[2]))
    refused(lambda: swapped, data, labels)
    refused(lambda: replace(certificate, parts=(replace(certificate.parts[0], dual=1e6), *certificate.parts[1:])), data, labels)


# ---------------------------------------------------------------- false claims
def nudged(name, place, factor):
    return lambda c: replace(c, **{name: edit(getattr(c, name), place, getattr(c, name)[place] * factor)})


FALSE = {
    "primal a little lower": lambda c: replace(c, primal=c.primal * (1 - 1e-6)),
    "primal a little higher": lambda c: replace(c, primal=c.primal * (1 + 1e-6)),
    "primal halved": lambda c: replace(c, primal=max(0.5 * c.primal, c.dual)),
    "primal at the dual": lambda c: replace(c, primal=c.dual),
    "primal infinite": lambda c: replace(c, primal=np.inf),
    "primal negative": lambda c: replace(c, primal=-c.primal, dual=0.0),
    "primal not a number": lambda c: replace(c, primal=np.nan),
    "dual a little higher": lambda c: replace(c, dual=c.dual * (1 + 1e-6)),
    "dual a little lower": lambda c: replace(c, dual=c.dual * (1 - 1e-6)),
    "dual at the primal": lambda c: replace(c, dual=c.primal),
    "dual above the primal": lambda c: replace(c, dual=2.0 * c.primal),
    "dual negative": lambda c: replace(c, dual=-c.dual),
    "dual infinite": lambda c: replace(c, dual=np.inf),
    "dual not a number": lambda c: replace(c, dual=np.nan),
    "dual nothing": lambda c: replace(c, dual=None),
    "both sides at the middle": lambda c: replace(c, primal=0.5 * (c.primal + c.dual), dual=0.5 * (c.primal + c.dual)),
    "sides swapped": lambda c: replace(c, primal=c.dual, dual=c.primal),
    "cap zero": lambda c: replace(c, C=0.0),
    "cap negative": lambda c: replace(c, C=-c.C),
    "cap not a number": lambda c: replace(c, C=np.nan),
    "cap in words": lambda c: replace(c, C="inf"),
    "cap changed": lambda c: replace(c, C=0.40625 if np.isfinite(c.C) else 1.0),
    "cap large": lambda c: replace(c, C=2.0 if np.isfinite(c.C) else 1e6),
    "other kind of cap": lambda c: replace(c, C=np.inf if np.isfinite(c.C) else 0.5),
    "weights negated": lambda c: replace(c, weights=-c.weights),
    "weights zero": lambda c: replace(c, weights=0.0 * c.weights),
    "first weight up": nudged("weights", 0, 1 + 1e-6),
    "second weight down": nudged("weights", 1, 1 - 1e-6),
    "last weight negated": nudged("weights", -1, -1.0),
    "a weight not a number": lambda c: replace(c, weights=edit(c.weights, 0, np.nan)),
    "a weight infinite": lambda c: replace(c, weights=edit(c.weights, 0, np.inf)),
    "a weight of 1e200": lambda c: replace(c, weights=edit(c.weights, 0, 1e200)),
    "weights of 1e-200": lambda c: replace(c, weights=1e-200 * c.weights[::-1]),
    "a weight too many": lambda c: replace(c, weights=np.append(c.weights, 0.0)),
    "a weight too few": lambda c: replace(c, weights=c.weights[:-1]),
    "weights in a table": lambda c: replace(c, weights=c.weights[None]),
    "weights in words": lambda c: replace(c, weights=c.weights.astype(str)),
    "weights in a list": lambda c: replace(c, weights=c.weights.tolist()),
    "two weights swapped": lambda c: replace(c, weights=c.weights[np.r_[1, 0, 2 : c.weights.size]]),
    "first strength up": nudged("strengths", 0, 1 + 1e-6),
    "last strength down": nudged("strengths", -1, 1 - 1e-6),
    "a strength above its cap": lambda c: replace(c, strengths=edit(c.strengths, 0, 3.0)),
    "a strength of 1e200": lambda c: replace(c, strengths=edit(c.strengths, 0, 1e200)),
    "a strength of 1e308": lambda c: replace(c, strengths=edit(c.strengths, slice(None), 1e308)),
    "a strength negative": nudged("strengths", 1, -1.0),
    "a strength not a number": lambda c: replace(c, strengths=edit(c.strengths, 0, np.nan)),
    "a strength infinite": lambda c: replace(c, strengths=edit(c.strengths, 0, np.inf)),
    "a strength dropped": lambda c: replace(c, strengths=c.strengths[1:], rows=c.rows[1:]),
    "a strength without a row": lambda c: replace(c, rows=c.rows[1:]),
    "a row without a strength": lambda c: replace(c, strengths=c.strengths[1:]),
    "no strengths": lambda c: replace(c, strengths=c.strengths[:0], rows=c.rows[:0]),
    "all strengths zero": lambda c: replace(c, strengths=0.0 * c.strengths),
    "rows of another class": lambda c: replace(c, rows=(c.rows + 3) % 7),
    "two rows swapped": lambda c: replace(c, rows=c.rows[np.r_[1, 0, 2 : c.rows.size]]),
    "a row twice": lambda c: replace(c, rows=edit(c.rows, 1, c.rows[0])),
    "a row twice, halved": lambda c: replace(
        c,
        rows=np.append(c.rows, c.rows[0]),
        strengths=np.append(edit(c.strengths, 0, 0.5 * c.strengths[0]), c.strengths[0] / 2),
    ),
    "a row beyond the last": lambda c: replace(c, rows=edit(c.rows, -1, 7)),
    "a row far beyond the last": lambda c: replace(c, rows=edit(c.rows, -1, 2**40)),
    "a row from the end": lambda c: replace(c, rows=edit(c.rows, -1, -1)),
    "rows in fractions": lambda c: replace(c, rows=c.rows + 0.25),
    "rows in a list": lambda c: replace(c, rows=c.rows.tolist()),
    "rows nothing": lambda c: replace(c, rows=None),
    "bias changed": lambda c: replace(c, bias=c.bias + 0.125),
    "bias a little more": lambda c: replace(c, bias=c.bias + 1e-6),
    "bias not a number": lambda c: replace(c, bias=np.nan),
    "bias infinite": lambda c: replace(c, bias=np.inf, free=True, clamp=0.0),
    "bias enormous": lambda c: replace(c, bias=1e308, free=True, clamp=0.0),
    "bias nothing": lambda c: replace(c, bias=None),
    "free flipped": lambda c: replace(c, free=not c.free),
    "free as a number": lambda c: replace(c, free=int(c.free)),
    "free nothing": lambda c: replace(c, free=None),
    "free in words": lambda c: replace(c, free="yes"),
    "free in a list": lambda c: replace(c, free=[c.free]),
    "free in an array": lambda c: replace(c, free=np.array([c.free, c.free])),
    "clamp changed": lambda c: replace(c, clamp=c.clamp + 0.5),
    "clamp a little more": lambda c: replace(c, clamp=c.clamp * (1 + 1e-6) or 1e-6),
    "clamp negated": lambda c: replace(c, clamp=-c.clamp or -1.0),
    "clamp left out": lambda c: replace(c, clamp=0.0 if c.clamp else 1.0),
    "clamp not a number": lambda c: replace(c, clamp=np.nan),
    "clamp infinite": lambda c: replace(c, clamp=np.inf),
    "clamp nothing": lambda c: replace(c, clamp=None),
    "other positive label": lambda c: replace(c, positive=0),
    "unknown positive label": lambda c: replace(c, positive=2),
    "positive label in words": lambda c: replace(c, positive="1"),
    "positive label nothing": lambda c: replace(c, positive=None),
    "positive label in a list": lambda c: replace(c, positive=[1]),
    "positive label not a number": lambda c: replace(c, positive=np.nan),
    "all sample weights zero": lambda c: replace(c, sample_weight=np.zeros(7)),
    "a sample weight negative": lambda c: replace(c, sample_weight=edit(np.ones(7), 2, -1.0)),
    "a sample weight not a number": lambda c: replace(c, sample_weight=edit(np.ones(7), 2, np.nan)),
    "a sample weight infinite": lambda c: replace(c, sample_weight=edit(np.ones(7), 2, np.inf)),
    "a sample weight zero under a strength": lambda c: replace(c, sample_weight=edit(np.ones(7), 2, 0.0)),
    "a sample weight too few": lambda c: replace(c, sample_weight=np.ones(6)),
    "sample weights in a table": lambda c: replace(c, sample_weight=np.ones((7, 1))),
    "sample weights in a list": lambda c: replace(c, sample_weight=[1.0] * 7),
    "one sample weight for all": lambda c: replace(c, sample_weight=np.array(1.0)),
    "sample weights in words": lambda c: replace(c, sample_weight=np.full(7, "1")),
}


@pytest.mark.parametrize("lie", FALSE)
def test_false_gaps_are_refused(lie):
    """A gap with any field changed is refused with a reason, or is no certificate, in memory and in a file."""
    for case in CASES:
        certificate, data, labels = true(case)
        refused(partial(FALSE[lie], certificate), data, labels)
        try:
            text = FALSE[lie](certificate).to_json()
        except (CertificateError, TypeError):
            continue
        if " in a list" not in lie and "in words" not in lie and "int" not in lie:  # a file knows lists and numbers only
            refused(partial(from_json, text), data, labels)


SOFT_FALSE = {
    "strengths scaled up": lambda c: replace(c, strengths=c.strengths * (1 + 1e-6)),
    "strengths scaled down": lambda c: replace(c, strengths=c.strengths * (1 - 1e-6)),
    "weights scaled up": lambda c: replace(c, weights=c.weights * (1 + 1e-6)),
    "weights scaled down": lambda c: replace(c, weights=c.weights * (1 - 1e-6)),
    "cap a little larger": lambda c: replace(c, C=c.C * (1 + 1e-6)),
    "sample weights doubled": lambda c: replace(c, sample_weight=2.0 * (np.ones(7) if c.sample_weight is None else S)),
    "a sample weight changed": lambda c: replace(
        c, sample_weight=edit(np.ones(7) if c.sample_weight is None else S, 6, 1.0 + 1e-5)
    ),
    "sample weights in another order": lambda c: replace(c, sample_weight=S[::-1].copy()),
    "strengths of 1e-200": lambda c: replace(c, strengths=1e-200 * c.strengths),
}


@pytest.mark.parametrize("case", CASES[:4])
@pytest.mark.parametrize("lie", SOFT_FALSE)
def test_false_gaps_with_caps_are_refused(case, lie):
    """With errors allowed the scale of weights and strengths matters, and so does every weight of an example that errs."""
    certificate, data, labels = true(case)
    refused(lambda: SOFT_FALSE[lie](certificate), data, labels)


OTHER_DATA = {
    "a row nudged": lambda data, labels: (edit(data, (2, 0), data[2, 0] * (1 + 1e-6)), labels),
    "a row negated": lambda data, labels: (edit(data, 0, -data[0]), labels),
    "two rows swapped": lambda data, labels: (data[[4, 1, 2, 3, 0, 5, 6]], labels),
    "a row more": lambda data, labels: (np.vstack([data, -data[:1]]), np.append(labels, 1)),
    "a row less": lambda data, labels: (data[:-1], labels[:-1]),
    "a column more": lambda data, labels: (np.c_[data, data[:, 0]], labels),
    "a column less": lambda data, labels: (data[:, :-1], labels),
    "columns swapped": lambda data, labels: (data[:, ::-1], labels),
    "scaled up": lambda data, labels: (data * (1 + 1e-6), labels),
    "all zero": lambda data, labels: (0.0 * data, labels),
    "tiny": lambda data, labels: (1e-200 * data, labels),
    "denormal": lambda data, labels: (1e-310 * data, labels),
    "huge": lambda data, labels: (1e150 * data, labels),
    "beyond squares": lambda data, labels: (1e200 * data, labels),
    "at the end of floats": lambda data, labels: (5e307 * data, labels),
    "a label flipped": lambda data, labels: (data, edit(labels, 2, 0)),
    "labels flipped": lambda data, labels: (data, 1 - labels),
    "one class": lambda data, labels: (data, np.ones_like(labels)),
    "other labels": lambda data, labels: (data, labels + 5),
    "labels in words": lambda data, labels: (data, labels.astype(str)),
}


@pytest.mark.parametrize("change", OTHER_DATA)
def test_gaps_are_refused_on_other_data(change):
    """A gap says nothing about data changed by a row, a column, a label or a scale, and the checker says so."""
    for case in CASES:
        certificate, data, labels = true(case)
        refused(partial(replace, certificate), *OTHER_DATA[change](data, labels))


@pytest.mark.parametrize("value", [np.nan, np.inf])
@every_case
def test_data_that_are_not_numbers_are_an_error(case, value):
    """NaN and infinity in the data are scikit-learn's ValueError, not a verdict."""
    certificate, data, labels = true(case)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        certificate.verify(edit(data, (0, 0), value), labels)


@pytest.mark.parametrize("field", [*DualityGap.__dataclass_fields__, "kind", "halfspace", "format"])
def test_a_file_without_a_field_is_no_certificate(field):
    """A missing or an additional field makes a file no certificate."""
    body = json.loads(true("plain").certificate.to_json())
    del body[field]
    with pytest.raises(CertificateError):
        from_json(json.dumps(body))
    body = json.loads(true("plain").certificate.to_json()) | {field + "_": 1}
    with pytest.raises(CertificateError):
        from_json(json.dumps(body))


# ---------------------------------------------------------------- forgery
@pytest.mark.parametrize("strength", [1e-170, 1e-200, 1e-250, 1e-300, 5e-324, 1e200])
def test_strengths_whose_squares_vanish_prove_nothing_false(strength):
    """Strengths so small or large that their squares are lost do not prove a margin smaller than the true one."""
    data, labels = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1, 0])
    make = DualityGap.measure
    certificate = make(data, labels, weights=np.array([1e-13, 1.0]), strengths=np.full(2, strength), C=np.inf, positive=1)
    assert not certificate.verify(data, labels) or certificate.margin[1] >= 1.0 - 1e-9


@pytest.mark.parametrize("block", range(8))
def test_whatever_is_accepted_is_true(block):
    """Of certificates with weights, strengths and data of any magnitude, those accepted hold in exact arithmetic."""
    rng = np.random.default_rng(100 + block)
    for _ in range(40):
        n, d = rng.integers(2, 5), rng.integers(1, 4)
        data = rng.integers(-3, 4, (n, d)) * 10.0 ** rng.choice([-160, -100, -8, 0, 0, 0, 8, 100, 140])
        labels = np.r_[0, 1, rng.integers(0, 2, n - 2)]
        w = rng.standard_normal(d) * 10.0 ** rng.choice([-250, -160, -13, 0, 0, 13, 160], d)
        strengths = rng.random(n) * 10.0 ** rng.choice([-300, -200, -160, -8, 0, 0, 8, 160])
        C = rng.choice([np.inf, np.inf, 1.0, 1e-40, 1e40])
        certificate = DualityGap.measure(data, labels, weights=w, strengths=strengths, C=float(C), positive=1)
        if certificate.verify(data, labels):
            primal, dual = exact_sides(certificate, data, labels)
            assert certificate.primal >= primal
            assert certificate.dual <= max(dual, 0)


def test_unbalanced_strengths_are_paid_for():
    """With a free bias strengths that do not balance prove less than they would without one, and never more than is true."""
    data, labels = np.array([[2.0], [1.0], [-1.0]]), np.array([1, 1, 0])
    lopsided = np.array([0.0, 1.0, 0.25])
    certificate = DualityGap.measure(data, labels, weights=np.ones(1), strengths=lopsided, C=1.0, bias=0.0, positive=1)
    assert certificate.dual <= 0.5  # the best plane is w = 1, b = 0
    assert certificate.verify(data, labels)
    unpaid = DualityGap.measure(data, labels, weights=np.ones(1), strengths=lopsided, C=1.0, positive=1)
    refused(lambda: replace(certificate, dual=unpaid.dual), data, labels)
