"""The certificate of a mixture: it holds, it travels, and what is not true of the data is refuted."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from halfspace.certificates.base import from_json
from halfspace.certificates.prototypes.mixture import MixtureLikelihood
from halfspace.errors import CertificateError

RNG = np.random.default_rng(0)
X = 3.0 * RNG.standard_normal((2, 3))[np.arange(40) % 2] + RNG.standard_normal((40, 3))
S = RNG.integers(0, 3, 40).astype(float)
PARTS = {"weights": np.array([0.4, 0.6]), "prototypes": X[:2] + 0.1, "sigmas": np.array([1.1, 0.9])}


def proof(rule="each", sample_weight=None, **changed):
    parts = {**PARTS, **({} if rule == "each" else {"sigmas": np.ones(2)}), **changed}
    return MixtureLikelihood.measure(X, rule=rule, floor=0.05, sample_weight=sample_weight, **parts)


@pytest.mark.parametrize("rule", ["common", "each", "fixed"])
@pytest.mark.parametrize("s", [None, S], ids=["unweighted", "weighted"])
def test_a_measured_claim_holds_and_travels(rule, s):
    """What was measured is confirmed, dense and sparse, and JSON gives back every bit."""
    claim = proof(rule, s)
    again = from_json(claim.to_json())
    for certificate in (claim, again):
        assert certificate.verify(X)
        assert certificate.verify(sparse.csr_array(X))
    assert again.to_json() == claim.to_json()
    assert "one more step" in str(claim)


def test_the_numbers_are_the_textbooks():
    """The log-likelihood is that of the formula, and the gain is what a step of EM by hand adds."""

    def densities(weights, prototypes, sigmas):
        q = ((X[:, None] - prototypes) ** 2).sum(axis=2)
        return weights * np.exp(-q / (2 * sigmas**2)) / (2 * np.pi * sigmas**2) ** 1.5

    p = densities(**PARTS)
    r = p / p.sum(axis=1, keepdims=True)
    N = r.sum(axis=0)
    W = r.T @ X / N[:, None]
    sigmas = np.sqrt((r * ((X[:, None] - W) ** 2).sum(axis=2)).sum(axis=0) / (3 * N))
    after = densities(N / 40, W, sigmas)
    claim = proof()
    assert claim.log_likelihood == pytest.approx(np.log(p.sum(axis=1)).sum(), rel=1e-12)
    assert claim.gain == pytest.approx(np.log(after.sum(axis=1)).sum() - claim.log_likelihood, rel=1e-8)


@pytest.mark.parametrize("rule", ["common", "each", "fixed"])
@pytest.mark.parametrize("floor", [0.0, 0.3, 0.8], ids=["no floor", "a floor below", "a floor above some"])
def test_a_step_sets_the_deviations_by_its_rule(rule, floor):
    """The gain is that of a step by hand, weights of rows and the floor of the deviations included."""
    sigmas = np.array([1.1, 0.9]) if rule == "each" else np.ones(2)
    s = 0.5 + np.arange(40) % 3

    def level(weights, prototypes, sigmas):
        q = ((X[:, None] - prototypes) ** 2).sum(axis=2)
        p = weights * np.exp(-q / (2 * sigmas**2)) / (2 * np.pi * sigmas**2) ** 1.5
        return p / p.sum(axis=1, keepdims=True), s @ np.log(p.sum(axis=1))

    r, before = level(PARTS["weights"], PARTS["prototypes"], sigmas)
    r = s[:, None] * r
    N = r.sum(axis=0)
    W = r.T @ X / N[:, None]
    spread = (r * ((X[:, None] - W) ** 2).sum(axis=2)).sum(axis=0)
    low = floor * np.sqrt((spread / (3 * N)).max())
    new = {
        "common": np.full(2, max(np.sqrt(spread.sum() / (3 * s.sum())), low)),
        "each": np.maximum(np.sqrt(spread / (3 * N)), low),
        "fixed": sigmas,
    }[rule]
    claim = MixtureLikelihood.measure(
        X, weights=PARTS["weights"], prototypes=PARTS["prototypes"], sigmas=sigmas, rule=rule, floor=low, sample_weight=s
    )
    assert claim.gain == pytest.approx(level(N / s.sum(), W, new)[1] - before, rel=1e-8)
    assert claim.rows == s.sum()


def test_a_high_floor_is_where_common_deviations_end():
    """A floor above what a step would set is set."""
    wide = 5.0
    claim = proof("common", sigmas=np.full(2, wide))
    high = MixtureLikelihood.measure(
        X, weights=PARTS["weights"], prototypes=PARTS["prototypes"], sigmas=np.full(2, wide), rule="common", floor=wide
    )
    fixed = proof("fixed", sigmas=np.full(2, wide))
    assert high.gain == pytest.approx(fixed.gain, rel=1e-9)  # the deviations stay where they are
    assert claim.gain > 1.5 * high.gain


CORRUPTIONS = {
    "log_likelihood": lambda c: replace(c, log_likelihood=c.log_likelihood * (1 + 1e-8)),
    "gain down": lambda c: replace(c, gain=0.999 * c.gain),
    "gain up": lambda c: replace(c, gain=1.001 * c.gain),
    "rows": lambda c: replace(c, rows=c.rows + 1e-6),
    "weights": lambda c: replace(c, weights=np.array([0.4001, 0.5999])),
    "prototypes": lambda c: replace(c, prototypes=c.prototypes + 1e-6),
    "sigmas": lambda c: replace(c, sigmas=c.sigmas * 1.0001),
    "rule": lambda c: replace(c, rule="common"),
    "floor": lambda c: replace(c, floor=2.0),
    "sample weights": lambda c: replace(c, sample_weight=S),
    "a course that falls": lambda c: replace(c, course=(c.log_likelihood + 1.0, c.log_likelihood)),
    "a course that ends elsewhere": lambda c: replace(c, course=(c.log_likelihood - 1.0,)),
    "another width": lambda c: replace(c, prototypes=c.prototypes[:, :2]),
}


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_a_changed_number_is_refuted(name):
    """A claim that was changed beyond rounding is refuted with a reason."""
    verdict = CORRUPTIONS[name](proof()).verify(X)
    assert not verdict
    assert verdict.reasons


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("log_likelihood", "nan"), ("log_likelihood", None), ("gain", -1.0), ("rows", 0.0), ("weights", [0.5, 0.6]),
        ("weights", [1.0]), ("weights", [-1.0, 2.0]), ("prototypes", [[1.0], ["x"]]), ("prototypes", []),
        ("sigmas", [0.0, 1.0]), ("rule", "some"), ("rule", []), ("floor", -1.0), ("sample_weight", [-1.0]),
        ("course", [None]), ("course", 3), ("weights", [0.4, 0.6 + 1e-10]),
    ],
)  # fmt: skip
def test_hostile_fields_are_refused(name, value):
    """A file whose fields are not what they should be is refused before any arithmetic."""
    body = json.loads(proof().to_json())
    with pytest.raises(CertificateError):
        from_json(json.dumps({**body, name: value}))
