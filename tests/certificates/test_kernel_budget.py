"""Mistake bounds of kernel perceptrons on a budget: true runs hold, and what contradicts theorem or data is refused."""

import warnings
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from halfspace.certificates import BudgetedMistakes, Projection, check, from_json
from halfspace.errors import CertificateError, InputError
from halfspace.kernels import RBF, Linear

KERNEL = RBF(0.5)


def stream(seed=0, n=120):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    flips = rng.random(n) < 0.03
    return X, np.where((X[:, 0] * X[:, 1] > 0) ^ flips, 1, 0)


def projectron(K, sign, budget):
    """Return mistakes and the summed length of what was projected away, of a perceptron that keeps at most `budget` rows."""
    kept, c, mistakes, lost = [], np.zeros(0), 0, 0.0
    for t in range(sign.size):
        if sign[t] * (K[t, kept] @ c) > 0.0:
            continue
        mistakes += 1
        if len(kept) < budget:
            kept.append(t)
            c = np.append(c, sign[t])
        else:
            d = np.linalg.solve(K[np.ix_(kept, kept)], K[kept, t])
            c += sign[t] * d
            lost += np.sqrt(max(K[t, t] - d @ K[kept, t], 0.0))
    return mistakes, lost


def competitor(K, sign):
    """Return the coefficients of a ridge solution: some good function, it does not matter which."""
    return np.linalg.solve(K + 0.5 * np.eye(sign.size), sign)


@cache
def run(seed=0, budget=15):
    X, y = stream(seed)
    K, sign = KERNEL.exact(X, X), np.where(y == 1, 1.0, -1.0)
    mistakes, lost = projectron(K, sign, budget)
    theorem = Projection(budget, lost * (1 + 1e-9))
    return mistakes, X, y, {"kernel": KERNEL, "coefficients": competitor(K, sign), "theorem": theorem, "positive": 1}


def made(seed=0, **change):
    mistakes, X, y, options = run(seed)
    return BudgetedMistakes.measure(mistakes, X, y, **(options | change)), X, y


def refused(make, X, y, name=""):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            verdict = make().verify(X, y)
        except (CertificateError, InputError) as error:
            assert str(error)  # noqa: PT017
            return
    assert not verdict, f"a false claim was accepted: {name}"
    assert all(verdict.reasons)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), budget=st.integers(2, 40))
def test_projection_keeps_its_bound(seed, budget):
    """Whatever the stream and the budget, a projected perceptron makes no more mistakes than its theorem allows."""
    mistakes, X, y, options = run(seed, budget)
    proof = BudgetedMistakes.measure(mistakes, X, y, rescale=True, **options)
    assert mistakes <= proof.bound
    assert proof.verify(X, y)
    assert proof.bound <= BudgetedMistakes.measure(mistakes, X, y, **options).bound


def test_true_certificates_hold_in_every_form(tmp_path):
    """The certificate holds on dense, sparse and listed data and after a trip through a file with every bit."""
    proof, X, y = made()
    path = tmp_path / "budget.json"
    again = from_json(proof.to_json(path))
    assert again.to_json() == proof.to_json()
    assert check(path, X, y)
    assert again.verify(sparse.csr_array(X), y.tolist())
    assert str(proof).endswith("reported by the run, not proved: 34 mistakes, budget 15, lost 4.043")


def test_passes_and_clamp_and_scale_count():
    """Two passes have twice the loss; a clamped input must fit under the scale."""
    once, X, y = made()
    twice, _, _ = made(passes=2)
    assert twice.loss == pytest.approx(2 * once.loss)
    assert twice.verify(X, y)
    refused(lambda: replace(twice, passes=1), X, y)
    with pytest.raises(InputError, match=r"up to 2.*scale"):
        made(clamp=1.0)
    clamped, _, _ = made(clamp=1.0, scale=2.0)
    assert clamped.verify(X, y)
    refused(lambda: replace(clamped, scale=1.0), X, y)
    refused(lambda: replace(clamped, clamp=0.0), X, y)


FALSE = {
    "more mistakes than the bound": lambda p: replace(p, mistakes=int(p.bound) + 1),
    "mistakes negative": lambda p: replace(p, mistakes=-1),
    "bound lower": lambda p: replace(p, bound=0.99 * p.bound),
    "bound infinite": lambda p: replace(p, bound=np.inf),
    "shorter competitor": lambda p: replace(p, norm=0.99 * p.norm, bound=p.theorem.bound(0.99 * p.norm, p.loss)),
    "better competitor": lambda p: replace(p, loss=0.99 * p.loss, bound=p.theorem.bound(p.norm, 0.99 * p.loss)),
    "worse competitor": lambda p: replace(p, loss=1.01 * p.loss, bound=p.theorem.bound(p.norm, 1.01 * p.loss)),
    "another competitor": lambda p: replace(p, coefficients=p.coefficients[::-1].copy()),
    "another gamma": lambda p: replace(p, kernel=RBF(0.51)),
    "another kernel": lambda p: replace(p, kernel=Linear()),
    "rows moved": lambda p: replace(p, rows=np.roll(p.rows, 1)),
    "a row beyond the last": lambda p: replace(p, rows=p.rows + 1),
    "a row twice": lambda p: replace(p, rows=np.zeros_like(p.rows)),
    "less lost": lambda p: replace(p, theorem=Projection(15, 0.5 * p.theorem.lost)),
    "lost negative": lambda p: replace(p, theorem=Projection(15, -1.0)),
    "no budget": lambda p: replace(p, theorem=Projection(0, p.theorem.lost)),
    "no passes": lambda p: replace(p, passes=0),
    "scale zero": lambda p: replace(p, scale=0.0),
    "scale changed": lambda p: replace(p, scale=2.0),
    "clamp changed": lambda p: replace(p, clamp=0.1),
    "other label": lambda p: replace(p, positive=0),
    "unknown label": lambda p: replace(p, positive=7),
}


def test_false_certificates_are_refused():
    """A certificate with any field changed is refused with a reason, in memory and in a file."""
    proof, X, y = made()
    for name, lie in FALSE.items():
        refused(partial(lie, proof), X, y, name)
        try:
            text = lie(proof).to_json()
        except CertificateError:
            continue
        refused(partial(from_json, text), X, y, name)


def test_certificates_are_refused_on_other_streams():
    """Another label or row, or a shorter stream than mistakes were made on, refutes the certificate."""
    proof, X, y = made()
    refused(lambda: proof, X, 1 - y)
    refused(lambda: proof, X[::-1], y)
    refused(lambda: proof, 3.0 * X, y)
    refused(lambda: proof, X[:10], y[:10])
