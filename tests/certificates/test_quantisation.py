"""The certificate of a quantisation: what it claims holds, and what is changed is refuted."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from halfspace.certificates import from_json
from halfspace.certificates.prototypes import quantisation
from halfspace.certificates.prototypes.quantisation import Quantisation, spectral_bound
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


THIN = np.where(X > 1.0, X, 0.0).astype(np.float32)
COPIES = {"float64": np.float64, "float32": np.float32, "csr": sparse.csr_array, "fortran": np.asfortranarray}


@pytest.mark.parametrize("shift", [0.0, 1e4], ids=["near", "far"])
def test_the_claim_does_not_depend_on_storage(shift):
    """Dense, sparse, single and double precision, rows or columns first: the same numbers give the same bits."""
    rows = THIN + np.float32(shift)
    claims = {Quantisation.measure(stored(rows), prototypes=W + shift, sample_weight=S).to_json() for stored in COPIES.values()}
    assert len(claims) == 1
    assert all(from_json(claims.copy().pop()).verify(stored(rows)) for stored in COPIES.values())


NASTY = {
    "far": X + 1e12,
    "outlier": np.vstack([X, np.full((1, 6), 1e40)]),
    "underflow": X * 1e-160,
    "denormal": X * 1e-310,
    "large": X * 1e70,
    "scales": X * np.logspace(-9, 9, 6),
    "equal": np.repeat(X[:2], 3, axis=0),
    "one row": X[:1],
}


def exact_squares(x, prototypes):
    return [sum((Fraction(float(a)) - Fraction(float(b))) ** 2 for a, b in zip(x, w, strict=True)) for w in prototypes]


@pytest.mark.parametrize("name", list(NASTY))
def test_claims_are_true_in_rational_arithmetic(name):
    """On data made to spoil sums, with a prototype far away, bound and error enclose the exact error; labels are nearest."""
    rows = NASTY[name]
    prototypes = np.vstack([rows[:4] * 1.01, np.full((1, 6), 1e60)])
    proof = Quantisation.measure(rows, prototypes=prototypes)
    assert proof.verify(rows)
    exact = [exact_squares(x, prototypes) for x in rows]
    least = sum(min(squares) for squares in exact)
    assert proof.lower <= least <= proof.error
    assert proof.error <= (1 + Fraction(1, 10**9)) * least + Fraction(1, 10**300)
    for squares, label in zip(exact, proof.labels, strict=True):
        assert squares[label] <= (1 + Fraction(1, 10**12)) * min(squares) + Fraction(1, 10**300)


@pytest.mark.parametrize("name", ["far", "outlier", "scales"])
def test_a_wrong_label_is_refuted_however_well_the_rest_fits(name):
    """A label that is not the nearest, with error, sizes and gain to match, is refuted also where products lose precision."""
    rows = NASTY[name]
    proof = Quantisation.measure(rows, prototypes=np.vstack([rows[:4] * 1.01, np.full((1, 6), 1e60)]))
    labels = swapped(proof.labels)
    found = quantisation._measured(rows, proof.prototypes, None, labels)
    sums = {"error": found.error + 4 * found.noise, "step_gain": found.gain + 4 * found.gain_noise, "sizes": found.sizes}
    assert "1 rows are nearer" in str(replace(proof, labels=labels, **sums).verify(rows))


def test_sums_that_overflow_are_refuted():
    """A certificate of other rows is refuted, without a warning, where the sums of these overflow."""
    assert not measured().verify(X * 1e200)


def test_lloyd_step_gains_what_is_claimed():
    """Moving prototypes to the means of their cells, rows staying where they are, lowers the error by exactly the gain."""
    proof = measured()
    means = np.array([X[proof.labels == k].mean(axis=0) for k in range(4)])
    after = ((X - means[proof.labels]) ** 2).sum()
    np.testing.assert_allclose(proof.error - after, proof.step_gain, rtol=1e-10)
    fixed = Quantisation.measure(X, prototypes=means)
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
    monkeypatch.setattr("halfspace.certificates.prototypes.quantisation.WORK", 10)
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
    "fewer rows": lambda p: {"labels": p.labels[:-1], "sample_weight": p.sample_weight[:-1]},
    "narrower": lambda p: {"prototypes": p.prototypes[:, :2]},
}


@pytest.mark.parametrize("change", list(CORRUPTED))
def test_changed_claims_are_refuted(change):
    """A field changed beyond rounding is refuted, with a reason."""
    proof = measured(sample_weight=S)
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
}


@pytest.mark.parametrize(
    ("field", "value"), [(f, v) for f, values in HOSTILE.items() for v in values], ids=lambda v: str(v)[:12]
)
def test_hostile_fields_are_refused(field, value):
    """A file whose fields are not what they should be is refused when read."""
    body = {**json.loads(measured().to_json()), field: value}
    with pytest.raises(CertificateError, match=r"damaged|not JSON"):  # NaN is no number of JSON
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
