"""The bound on an adaptive filter's errors: true for every signal, recomputed by a replay, refused when changed."""

import json
from dataclasses import fields, replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from halfspace.certificates.base import check, from_json
from halfspace.certificates.regression.filtering import FilterBound, most_errors
from halfspace.errors import CertificateError, InputError

QUICK = settings(max_examples=30, deadline=None, derandomize=True, database=None)
NLMS = {"normalised": True, "rate": 0.7, "delta": 0.01, "threshold": np.inf, "hangover": 0}
TALK = {"normalised": True, "rate": 0.7, "delta": 0.01, "threshold": 1.2, "hangover": 3}
LMS = {"normalised": False, "rate": 0.05, "delta": 0.0, "threshold": np.inf, "hangover": 0}
RULES = {"nlms": NLMS, "double talk": TALK, "lms": LMS}
every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)


def signals(seed=0, n=60, d=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X @ np.arange(1.0, d + 1) + 0.3 * rng.standard_normal(n)


def made(rule):
    return made_by(*rule.items())


@cache
def made_by(*rule):
    X, y = signals()
    return FilterBound.measure(X, y, n_taps=3, **dict(rule)), X, y


@every_rule
def test_a_measured_claim_holds_on_any_form_of_the_data(rule):
    """A claim made on the data holds on them, dense, sparse, in a list or in Fortran order."""
    proof, X, y = made(rule)
    for form in (np.asarray, sparse.csr_array, np.ndarray.tolist, np.asfortranarray):
        assert proof.verify(form(X), y), str(proof.verify(form(X), y))


@every_rule
def test_json_keeps_every_bit(rule, tmp_path):
    """A claim that went through JSON is the same to the bit and holds."""
    proof, X, y = made(rule)
    again = from_json(proof.to_json(tmp_path / "proof.json"))
    assert again.to_json() == proof.to_json()
    assert again.weights.tobytes() == proof.weights.tobytes()
    assert check(tmp_path / "proof.json", X, y)


@every_rule
def test_a_changed_number_is_refuted(rule):
    """Every number of a claim is pinned down by the data."""
    proof, X, y = made(rule)
    for name, factor in product(["energy", "errors", "noise", "bound", "weights", "rate"], [1.0 - 1e-5, 1.0 + 1e-5]):
        assert not replace(proof, **{name: factor * getattr(proof, name)}).verify(X, y), name


@every_rule
def test_a_claim_about_other_signals_or_another_rule_is_refuted(rule):
    """Other data, fewer samples, other steps or another order of the channels make the claim false."""
    proof, X, y = made(rule)
    assert not proof.verify(X, -y)
    assert not proof.verify(X[:, ::-1], y)
    assert not proof.verify(X[:40], y[:40])
    assert not replace(proof, samples=59).verify(X, y)
    assert not replace(proof, normalised=not proof.normalised, rate=0.01).verify(X, y)
    assert not replace(proof, threshold=0.9, hangover=5).verify(X, y)
    assert not proof.verify(X[:, :1], y)
    with pytest.raises(InputError, match="needs their labels"):
        proof.verify(X)


def test_a_claim_about_the_beginning_of_a_signal_holds_on_the_whole():
    """A fit that stopped early is checked on the samples it has seen."""
    X, y = signals()
    assert FilterBound.measure(X[:40], y[:40], n_taps=2, **NLMS).verify(X, y)


HOSTILE = {"weights": [[], [[]]], "samples": [0, 10**30], "rate": [2.0], "threshold": ["inflated"], "hangover": [10**40]}


def test_hostile_fields_are_refused():
    """A file whose numbers are no claim is refused before any arithmetic (other types: see test_fields)."""
    body = json.loads(made(NLMS)[0].to_json())
    for name, value in ((name, value) for name, values in HOSTILE.items() for value in values):
        with pytest.raises(CertificateError):
            pytest.fail(f"{name} = {value!r}: {from_json(json.dumps(body | {name: value}))}")


def test_every_field_is_needed():
    """A file without one of the fields is refused."""
    proof, _, _ = made(NLMS)
    for field in fields(proof):
        body = {name: value for name, value in json.loads(proof.to_json()).items() if name != field.name}
        with pytest.raises(CertificateError):
            from_json(json.dumps(body))


def test_steps_too_long_for_the_theorem_are_refuted():
    """Where a plain step overshoots there is no theorem, whatever the numbers."""
    X, y = signals()
    proof = FilterBound.measure(X, y, n_taps=1, **(LMS | {"rate": 0.05}))
    verdict = replace(proof, rate=1.0).verify(X, y)
    assert not verdict
    assert "needs less than 2" in str(verdict)


@QUICK
@given(st.integers(0, 2**32 - 1), st.floats(0.01, 1.99), st.integers(1, 5), st.integers(1, 3))
def test_the_theorem_holds_for_every_filter(seed, rate, taps, d):
    """For signals of any kind and every w*, the errors are at most the bound."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-3, 3, size=(n, 1))
    y = rng.standard_normal(n) * 10.0 ** rng.uniform(-3, 3)
    blank = FilterBound(0.0, 0.0, 0.0, 0.0, np.zeros((d, taps)), n, **(NLMS | {"rate": rate, "delta": 0.0}))
    learnt, run = blank.replayed(X, y)
    assert run.rho < 2.0
    for w in (learnt, 2.0 * learnt, rng.standard_normal((d, taps)), np.zeros((d, taps))):
        _, judged = replace(blank, weights=w).replayed(X, y)
        assert judged.errors <= most_errors(float(np.square(w).sum()), judged.noise, judged.rho)
    assert FilterBound.measure(X, y, n_taps=taps, **(NLMS | {"rate": rate, "delta": 0.0})).verify(X, y)


def test_the_bound_is_attained():
    """One sample and a filter that begins with zeros: the theorem leaves no room."""
    proof = FilterBound.measure(np.array([[2.0]]), np.array([3.0]), n_taps=1, **(NLMS | {"delta": 0.0}))
    assert proof.errors == pytest.approx(proof.bound, rel=1e-8)
