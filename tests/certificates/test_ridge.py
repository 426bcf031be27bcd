"""Certificates of regressions: true claims hold, changed ones do not, damaged ones are refused."""

from dataclasses import fields, replace

import numpy as np
import pytest

from halfspace.certificates import from_json
from halfspace.certificates.ridge import PerOutput, RidgeGap
from halfspace.errors import CertificateError, InputError
from halfspace.models.bayesian_regression import BayesianRegression
from halfspace.models.linear_regression import LinearRegression

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 3)) + 1.0
Y = X @ RNG.standard_normal((3, 2)) + RNG.standard_normal((30, 2))
S = RNG.integers(1, 4, 30).astype(float)


def linear(**parameters):
    return LinearRegression(**parameters).fit(X, Y[:, 0], sample_weight=S).certificate_


def bayesian(**parameters):
    return BayesianRegression(**parameters).fit(X, Y[:, 0]).certificate_


CLAIMS = {
    "least squares": linear,
    "ridge": lambda: linear(ridge=2.0, intercept="free"),
    "clamped ridge": lambda: linear(ridge=2.0),
    "posterior": bayesian,
    "given posterior": lambda: bayesian(alpha=1.0, beta=2.0, intercept="free"),
}
WEAKER = {"gap": 0.0, "backward_error": -1.0, "precision": 0.0}
"""Bounds may be raised; these values are the ones that are too small."""


def changed(value):
    """Return a field changed by much more than rounding."""
    if isinstance(value, np.ndarray):
        other = value.copy()
        other.flat[0] += 1e-3 * (np.abs(value).max() + 1.0)
        return other
    return value * 1.001 + 1e-3


@pytest.mark.parametrize("name", CLAIMS)
def test_every_changed_number_is_refuted(name):
    """A true claim holds; with any number in it changed it does not, nor for other data."""
    claim = CLAIMS[name]()
    assert claim.verify(X, Y[:, 0])
    assert not claim.verify(X, Y[:, 1])
    for field in fields(claim):
        value = getattr(claim, field.name)
        if value is None or isinstance(value, bool | tuple) or (field.name == "constant" and not claim.free):
            continue
        if field.name in WEAKER:
            if np.isfinite(value) and value > 1e-12:
                assert not replace(claim, **{field.name: WEAKER[field.name]}).verify(X, Y[:, 0]), field.name
            continue
        assert not replace(claim, **{field.name: changed(value)}).verify(X, Y[:, 0]), field.name


@pytest.mark.parametrize("name", CLAIMS)
def test_json_keeps_every_bit(name):
    """Written and read again, a claim is the same."""
    claim = CLAIMS[name]()
    again = from_json(claim.to_json())
    assert again.to_json() == claim.to_json()
    assert str(again) == str(claim)
    assert again.verify(X, Y[:, 0])


@pytest.mark.parametrize("name", CLAIMS)
def test_hostile_fields_are_refused(name):
    """Fields of another type, shape or range are refused before any arithmetic."""
    claim = CLAIMS[name]()
    allowed = {("sample_weight", "None"), ("free", "True")}
    allowed |= {(name, "-1") for name in ("log_likelihood", "log_evidence", "gamma", "clamp", *["constant"] * claim.free)}
    hostile = [None, "1", [], {}, -1, np.nan, np.array([np.nan]), np.ones((2, 2), dtype=int), True]
    for field in fields(claim):
        for value in hostile:
            sound = replace(claim, **{field.name: value}).well_formed()
            assert bool(sound) == ((field.name, str(value)) in allowed), (field.name, value)


def test_the_gap_bounds_the_objective():
    """At weights off the best by any step, the objective is above the least by no more than the gap, free constant included."""
    best = linear(ridge=2.0, intercept="free")
    for step in (1e-6, 1e-2, 1.0, 100.0):
        w, c = best.weights + step * np.array([1.0, -2.0, 0.5]), best.constant + step
        off = RidgeGap.measure(X, Y[:, 0], weights=w, ridge=2.0, constant=c, sample_weight=S)
        assert off.objective - best.objective <= off.gap
        assert off.verify(X, Y[:, 0])


def test_several_targets_have_a_certificate_each():
    """The parts are about the columns in order; a missing or strange part is refused."""
    model = LinearRegression(ridge=1.0).fit(X, Y)
    proof = model.certificate_
    assert proof.verify(X, Y)
    assert not proof.verify(X, Y[:, ::-1])
    assert not proof.verify(X, Y[:, :1])
    assert from_json(proof.to_json()).verify(X, Y)
    assert "target 1" in str(proof)
    assert proof[1].verify(X, Y[:, 1])
    assert not PerOutput(()).well_formed()
    with pytest.raises(CertificateError):
        from_json(proof.to_json().replace('"RidgeGap"', '"ClassCounts"'))


def test_targets_are_needed():
    """A checker without targets, or with too few, says so."""
    proof = linear()
    with pytest.raises(InputError, match="needs the targets"):
        proof.verify(X)
    with pytest.raises(ValueError, match="inconsistent"):
        proof.verify(X, Y[:5, 0])
    assert not proof.verify(X[:, :2], Y[:, 0])
    assert not proof.verify(X[:20], Y[:20, 0])
    assert not bayesian().verify(X[:, :2], Y[:, 0])


def test_reproduced_targets_leave_nothing_to_lower():
    """Weights that reproduce the targets have no backward error, and their claim holds, whatever the scale."""
    for scale in (1e-30, 1.0, 1e30):
        y = scale * (X @ np.array([1.0, -1.0, 2.0]))
        proof = LinearRegression().fit(X, y).certificate_
        assert proof.backward_error == 0.0
        assert proof.verify(X, y)
