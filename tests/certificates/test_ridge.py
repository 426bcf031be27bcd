"""Certificates of regressions: true claims hold, changed ones do not, damaged ones are refused."""

from dataclasses import fields, replace
from fractions import Fraction
from operator import mul

import numpy as np
import pytest
from scipy import sparse

import halfspace as hs
from halfspace.certificates import from_json
from halfspace.certificates.regression.ridge import PerOutput, RidgeGap
from halfspace.errors import CertificateError, InputError
from halfspace.models.regression.bayesian_regression import BayesianRegression
from halfspace.models.regression.linear_regression import LinearRegression

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
    "given posterior": lambda: bayesian(prior_precision=1.0, noise_precision=2.0, intercept="free"),
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
    allowed = {("sample_weight", "None"), ("free", "True"), ("rounding", "None"), ("means", "None"), ("freedom", "None")}
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
    """Weights that reproduce the targets have a backward error of rounding, and a gap; so says the claim, at any scale."""
    for scale in (1e-30, 1.0, 1e30):
        y = scale * (X @ np.array([1.0, -1.0, 2.0]))
        proof = LinearRegression().fit(X, y).certificate_
        assert proof.backward_error < 1e-12
        assert proof.gap < 1e-24 * (y @ y)
        assert proof.verify(X, y)


FORGED = {
    "targets so large that squares overflow": (X, 1e170 * Y[:, 0], {"weights": np.zeros(3)}),
    "a clamped input so large that its square overflows": (X, Y[:, 0], {"weights": np.zeros(4), "clamp": 1e200}),
    "examples so small that squares vanish": (1e-200 * X, Y[:, 0], {"weights": np.zeros(3)}),
    "sample weights so small that products vanish": (
        1e-100 * X,
        Y[:, 0],
        {"weights": np.zeros(3), "sample_weight": np.full(30, 1e-200)},
    ),
    "targets so small that squares vanish": (X, 1e-170 * Y[:, 0], {"weights": np.full(3, 1e-171)}),
    "a ridge so small that the gap's square vanishes": (
        1e-30 * X,
        1e-140 * Y[:, 0],
        {"weights": np.full(3, 1e-140), "ridge": 1e-320},
    ),
    "a constant far from its best": (X + 1e6, Y[:, 0], {"weights": np.zeros(3), "constant": 1e3}),
}


@pytest.mark.parametrize("name", FORGED)
def test_bad_weights_are_not_optimal_in_extreme_numbers(name):
    """Where squares overflow or underflow, a claim that bad weights are optimal, or their variance another, does not hold."""
    data, y, given = FORGED[name]
    given = {"ridge": 0.0, "constant": None, "clamp": 0.0, "sample_weight": None, **given}
    for low in ({"gap": 0.0, "backward_error": 1e-9}, {"gap": np.inf, "backward_error": 1e-9}):
        free = given["constant"] is not None
        numbers = {**given, "constant": given["constant"] or 0.0, "free": free, **low}
        with np.errstate(all="ignore"):
            try:
                honest = RidgeGap.measure(data, y, **given)
            except InputError:
                honest = RidgeGap.measure(X, Y[:, 0], weights=np.zeros(3))
        forged = replace(honest, **numbers)
        assert not forged.verify(data, y)


def test_a_likelihood_belongs_to_its_variance():
    """Where the targets are reproduced to rounding, the log-likelihood is still that of the variance claimed."""
    y = X @ np.ones(3)
    proof = LinearRegression(intercept="none").fit(X, y).certificate_
    assert proof.verify(X, y)
    for other in (np.inf, 1e300, proof.log_likelihood * 1.01):
        assert not replace(proof, log_likelihood=other).verify(X, y)


def test_a_covariance_is_checked_where_the_data_say_little():
    """With a weak prior the largest variances are those without data: enlarged, or made negative, they are refuted."""
    few = X[:2]
    proof = BayesianRegression(prior_precision=1e-12, noise_precision=1.0, intercept="none").fit(few, Y[:2, 0]).certificate_
    assert proof.verify(few, Y[:2, 0])
    alone = np.linalg.svd(few)[2][2]
    for factor in (1e10, -2e12):
        forged = proof.covariance + factor * np.outer(alone, alone)
        assert not replace(proof, covariance=forged, precision=1e-3).verify(few, Y[:2, 0])


@pytest.mark.parametrize("stored", [sparse.csr_array, np.asfortranarray, np.ndarray.tolist], ids=["csr", "fortran", "list"])
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_other_storage_gives_the_same_verdict(stored, offset):
    """A claim made on an array holds for the same numbers stored otherwise, far from the origin too."""
    data = X[:6] + offset
    for model in (LinearRegression(intercept="free"), LinearRegression(ridge=1e-6), BayesianRegression(intercept="free")):
        proof = model.fit(data, Y[:6, 0]).certificate_
        assert proof.verify(stored(data), Y[:6, 0]), str(proof.verify(stored(data), Y[:6, 0]))


def exact_objective(X, y, w, c=0.0, ridge=0.0):
    """Σ (y_i - w·x_i - c)² + λ‖w‖² in rational arithmetic."""
    rows, w = [[Fraction(float(x)) for x in row] for row in X], [Fraction(float(v)) for v in w]
    r = [Fraction(float(t)) - sum(map(mul, row, w)) - Fraction(c) for row, t in zip(rows, y, strict=True)]
    return sum(v * v for v in r) + Fraction(ridge) * sum(v * v for v in w)


@pytest.mark.parametrize("apart", [1e-8, 1e-10, 1e-12, 1e-13])
@pytest.mark.parametrize("intercept", ["free", "none"])
def test_the_objective_is_within_the_rounding_that_is_claimed(apart, intercept):
    """Weights of nearly equal columns are huge and cancel: the exact objective lies between the sides claimed, none nearer."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=30)
    A, y = np.c_[x, x + apart * rng.normal(size=30)], rng.normal(size=30)
    model = LinearRegression(intercept=intercept).fit(A, y)
    proof = model.certificate_
    assert proof.verify(A, y)
    true = exact_objective(A, y, proof.weights, proof.constant)
    assert abs(true - Fraction(proof.objective)) <= Fraction(proof.rounding)
    assert abs(true / 30 - Fraction(proof.sigma2)) <= Fraction(proof.rounding) / 30
    assert not replace(proof, rounding=proof.rounding / 16).verify(A, y)
    assert not replace(proof, rounding=proof.rounding * 64).verify(A, y)
    if apart < 1e-11:
        assert not replace(proof, rounding=None).verify(A, y)
        assert "between" in str(proof)
    labels = (y > 0).astype(int)
    loss = hs.Adaline(intercept="none").fit(A, labels).certificate_
    assert loss.verify(A, labels)
    assert abs(exact_objective(A, 2.0 * labels - 1.0, loss.weights) / 2 - Fraction(loss.loss)) <= Fraction(loss.rounding)
