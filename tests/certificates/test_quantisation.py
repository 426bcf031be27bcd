"""The certificate of a quantisation: what it claims holds, and what is changed is refuted."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from halfspace.certificates import from_json
from halfspace.certificates.quantisation import Quantisation
from halfspace.certificates.scatter import spectral_bound
from halfspace.errors import CertificateError, InputError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 6)) + 5.0 * RNG.integers(0, 2, (60, 1))
W = X[[0, 7, 20, 33]] + 0.1
S = RNG.random(60)

STORED = {
    "dense": lambda rows: rows,
    "csr": sparse.csr_array,
    "float32": lambda rows: rows.astype(np.float32),
    "shifted": lambda rows: rows + 1e6,
}


def measured(**options):
    return Quantisation.measure(X, prototypes=W, **options)


def error_of(rows, prototypes, weights=1.0):
    return float((weights * ((rows[:, None] - prototypes) ** 2).sum(axis=2).min(axis=1)).sum())


@pytest.mark.parametrize("stored", list(STORED))
@pytest.mark.parametrize("weights", [None, S], ids=["plain", "weighted"])
def test_true_claims_hold(stored, weights):
    """What was measured is confirmed, whatever the storage and the weights, also after a round trip through JSON."""
    rows, shift = STORED[stored](X), 1e6 * (stored == "shifted")
    proof = Quantisation.measure(rows, prototypes=W + shift, sample_weight=weights)
    assert proof.verify(rows)
    np.testing.assert_allclose(proof.error, error_of(X, W, 1.0 if weights is None else weights), rtol=1e-5)
    again = from_json(proof.to_json())
    assert again.verify(rows)
    assert again.to_json() == proof.to_json()


def test_known_labels_give_the_same_claim():
    """Labels that the solver knows save the search and change nothing."""
    whole = measured()
    assert measured(labels=whole.labels).to_json() == whole.to_json()


def test_lloyd_step_gains_what_is_claimed():
    """Moving prototypes to the means of their cells, rows staying where they are, lowers the error by exactly the gain."""
    proof = measured()
    means = np.array([X[proof.labels == k].mean(axis=0) for k in range(4)])
    after = ((X - means[proof.labels]) ** 2).sum()
    np.testing.assert_allclose(proof.error - after, proof.step_gain, rtol=1e-10)
    fixed = Quantisation.measure(X, prototypes=means, labels=proof.labels)
    assert fixed.step_gain <= 1e-20 * fixed.error


def test_no_partition_is_better_than_the_bound():
    """The best of all partitions of a few rows, weighted or not, has an error above the spectral bound."""
    rows = RNG.standard_normal((6, 3)) * [5.0, 2.0, 1.0]
    for K, weights in product((1, 2, 3), (np.ones(6), RNG.random(6))):
        best = np.inf
        for labels in product(range(K), repeat=6):
            cells = np.eye(K)[list(labels)] * weights[:, None]
            means = cells.T @ rows / np.maximum(cells.sum(axis=0), 1e-300)[:, None]
            best = min(best, weights @ ((rows - means[list(labels)]) ** 2).sum(axis=1))
        lower, noise = spectral_bound(rows, weights, K)
        assert lower - noise <= best
        if K == 1:
            np.testing.assert_allclose(lower, best, rtol=1e-12)


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_wide_data_have_the_same_bound(stored):
    """Inner products of wide rows and the scatter of tall ones have the same eigenvalues."""
    turned, _ = np.linalg.qr(RNG.standard_normal((80, 6)))
    tall, _ = spectral_bound(X, S, 2)
    wide, _ = spectral_bound(stored(X @ turned.T), S, 2)
    np.testing.assert_allclose(wide, tall, rtol=1e-10)


def test_bound_is_left_out_where_it_would_take_long(monkeypatch):
    """Without a bound the claim is 0, which holds."""
    monkeypatch.setattr("halfspace.certificates.scatter.WORK", 10)
    proof = measured()
    assert proof.lower == 0.0
    assert proof.relative_gap == 1.0
    assert proof.verify(X)


def swapped(labels):
    changed = labels.copy()
    changed[5] = (changed[5] + 1) % 4
    return changed


CORRUPTED = {
    "error larger": lambda p: {"error": 1.0001 * p.error},
    "error smaller": lambda p: {"error": 0.9999 * p.error},
    "lower larger": lambda p: {"lower": 1.0001 * p.lower},
    "lower smaller": lambda p: {"lower": 0.9999 * p.lower},
    "gain larger": lambda p: {"step_gain": 1.0001 * p.step_gain},
    "gain smaller": lambda p: {"step_gain": 0.9999 * p.step_gain},
    "prototype": lambda p: {"prototypes": p.prototypes + 1e-6},
    "label": lambda p: {"labels": swapped(p.labels)},
    "sizes": lambda p: {"sizes": p.sizes[::-1].copy()},
    "weight": lambda p: {"sample_weight": p.sample_weight * 1.0001},
    "no weights": lambda _: {"sample_weight": None},
    "rising energy": lambda p: {"energies": (p.error, 2.0 * p.error, p.error)},
    "last energy": lambda p: {"energies": (2.0 * p.error, 1.01 * p.error)},
    "fewer rows": lambda p: {"labels": p.labels[:-1], "sample_weight": p.sample_weight[:-1]},
    "narrower": lambda p: {"prototypes": p.prototypes[:, :2]},
}


@pytest.mark.parametrize("change", list(CORRUPTED))
def test_changed_claims_are_refuted(change):
    """A field changed beyond rounding is refuted, with a reason."""
    proof = measured(sample_weight=S, energies=(300.0 + error_of(X, W), error_of(X, W, S)))
    assert proof.verify(X)
    assert proof.lower > 0.0
    verdict = replace(proof, **CORRUPTED[change](proof)).verify(X)
    assert not verdict
    assert all(verdict.reasons)


HOSTILE = {
    "error": ["x", None, float("nan"), -1.0],
    "lower": [-1.0, 1e300],
    "step_gain": [None],
    "prototypes": [[], [1.0], [["a"]], [[float("nan")] * 6] * 4],
    "labels": [[], [0.5] * 60, [-1] * 60, [4] * 60, [2**70] * 60],
    "sizes": [[1.0], "x"],
    "sample_weight": [[1.0], [-1.0] * 60],
    "energies": [["x"], [-1.0]],
}


@pytest.mark.parametrize(
    ("field", "value"), [(f, v) for f, values in HOSTILE.items() for v in values], ids=lambda v: str(v)[:12]
)
def test_hostile_fields_are_refused(field, value):
    """A file whose fields are not what they should be is refused when read."""
    body = {**json.loads(measured().to_json()), field: value}
    with pytest.raises(CertificateError, match="damaged"):
        from_json(json.dumps(body))


def test_shapes_that_do_not_belong_together_are_refused():
    """Prototypes or weights made for other rows are refused with what was expected."""
    with pytest.raises(InputError, match="prototypes of shape"):
        Quantisation.measure(X, prototypes=W[:, :2])
    with pytest.raises(InputError, match="one sample weight"):
        measured(sample_weight=S[:3])


def test_dead_prototypes_are_named():
    """A prototype without rows has size 0, is named, and does not spoil the proof."""
    proof = Quantisation.measure(X, prototypes=np.vstack([W, np.full(6, 1e3)]))
    assert proof.dead.tolist() == [4]
    assert proof.verify(X)
    assert "5 prototypes" in str(proof)
