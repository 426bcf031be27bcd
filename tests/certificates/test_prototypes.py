"""The certificate of a prototype classifier: true claims hold in every metric, false ones are refuted."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from halfspace.certificates.base import from_json
from halfspace.certificates.prototypes.errors import PrototypeErrors
from halfspace.errors import CertificateError, InputError

RNG = np.random.default_rng(6)
CENTRES = 2.0 * RNG.standard_normal((3, 4))
NUMBERS = np.arange(90) % 3
X = CENTRES[NUMBERS] + RNG.standard_normal((90, 4))
Y = np.array(["a", "b", "c"])[NUMBERS]
W = np.repeat(CENTRES, 2, axis=0) + 0.5 * RNG.standard_normal((6, 4))
LABELS = np.array(["a", "a", "b", "b", "c", "c"])
METRICS = {
    "euclid": None,
    "relevances": np.sqrt(np.array([0.4, 0.3, 0.2, 0.1])),
    "matrix": 0.4 * RNG.standard_normal((4, 4)),
    "low-rank": 0.5 * RNG.standard_normal((2, 4)),
    "per-class": 0.5 * RNG.standard_normal((3, 3, 4)),
}
every_metric = pytest.mark.parametrize("metric", list(METRICS))


def distances(points, prototypes, omega):
    """Return ‖Ω(x - w)‖² by the definition, shape (n, P)."""
    difference = points[:, None, :] - prototypes
    if omega is None:
        return (difference**2).sum(axis=2)
    if omega.ndim == 1:
        return ((difference * omega) ** 2).sum(axis=2)
    if omega.ndim == 2:
        return (np.einsum("md,npd->npm", omega, difference) ** 2).sum(axis=2)
    own = omega[np.searchsorted(np.unique(LABELS), LABELS)]
    return (np.einsum("pmd,npd->npm", own, difference) ** 2).sum(axis=2)


def cost(prototypes, omega, beta, s):
    """Return Σ s f(μ) by the definition."""
    D = distances(X, prototypes, omega)
    own = Y[:, None] == LABELS
    plus, minus = np.where(own, D, np.inf).min(axis=1), np.where(own, np.inf, D).min(axis=1)
    mu = (plus - minus) / (plus + minus)
    return float(s @ (expit(beta * mu) if beta else mu))


def proof(metric="euclid", beta=2.0, **given):
    return PrototypeErrors.measure(X, Y, prototypes=W, labels=LABELS, omega=METRICS[metric], beta=beta, **given)


@every_metric
def test_claims_are_those_of_the_definitions(metric):
    """Errors and cost equal those of plain loops over the definitions, with and without a sigmoid, weighted or not."""
    s = RNG.random(90)
    for beta in (0.0, 3.0):
        made = proof(metric, beta, sample_weight=s)
        D = distances(X, W, METRICS[metric])
        assert made.errors == int((LABELS[D.argmin(axis=1)] != Y).sum())
        assert made.cost == pytest.approx(cost(W, METRICS[metric], beta, s), rel=1e-10, abs=1e-10)
        assert made.verify(X, Y)


@every_metric
def test_no_move_within_the_radius_makes_a_right_row_wrong(metric):
    """Rows moved by less than the radius towards each wrong prototype keep their label."""
    made, D = proof(metric), distances(X, W, METRICS[metric])
    assert 0.0 < made.radius <= made.median_radius
    right = LABELS[D.argmin(axis=1)] == Y
    for _ in range(20):
        direction = RNG.standard_normal(X.shape)
        moved = X + 0.999 * made.radius * direction / np.linalg.norm(direction, axis=1, keepdims=True)
        still = LABELS[distances(moved, W, METRICS[metric]).argmin(axis=1)] == Y
        assert still[right].all()


def test_the_radius_is_the_distance_to_the_bisecting_plane():
    """With two prototypes the radius of a row is its distance to the plane half way between them, whatever Ω is common."""
    points, labels = np.array([[0.0, 0.0], [3.0, 1.0]]), np.array([0, 1])
    two = np.array([[0.0, 0.0], [4.0, 0.0]])
    made = PrototypeErrors.measure(points, labels, prototypes=two, labels=labels)
    assert made.radius == pytest.approx(1.0, rel=1e-9)
    stretched = PrototypeErrors.measure(points, labels, prototypes=two, labels=labels, omega=np.array([[0.1, 0.0], [0.0, 9.0]]))
    assert stretched.radius == pytest.approx(1.0, rel=1e-6)


@every_metric
def test_the_gradient_is_that_of_finite_differences(metric):
    """The claimed relative gradient follows from finite differences of the cost of the definition."""
    omega, s, step = METRICS[metric], 1.0 + RNG.random(90), 1e-6

    def slope(base, value):
        found = np.empty(base.size)
        for place in range(base.size):
            shift = np.zeros(base.size)
            shift[place] = step
            found[place] = (value(base + shift.reshape(base.shape)) - value(base - shift.reshape(base.shape))) / (2 * step)
        return np.linalg.norm(found)

    D = distances(X, W, omega)
    own = Y[:, None] == LABELS
    plus, minus = np.where(own, D, np.inf).min(axis=1), np.where(own, np.inf, D).min(axis=1)
    S, f = plus + minus, expit(2.0 * (plus - minus) / (plus + minus))
    c = 2.0 * s * f * (1.0 - f) * 2.0 / S**2
    norm = 1.0
    if omega is not None:
        norm = np.abs(omega).max() if omega.ndim == 1 else max(np.linalg.norm(part, 2) for part in np.atleast_3d(omega.T).T)
    parts = 2.0 * norm * (c @ (minus * np.sqrt(plus) + plus * np.sqrt(minus)))
    expected = slope(W, lambda moved: cost(moved, omega, 2.0, s)) / parts
    if omega is not None:
        turned = slope(omega, lambda other: cost(W, other, 2.0, s)) * np.linalg.norm(omega) / (4.0 * (c @ (plus * minus)))
        expected = max(expected, turned)
    assert proof(metric, 2.0, sample_weight=s).gradient == pytest.approx(expected, rel=1e-4)


@every_metric
def test_storage_does_not_matter(metric):
    """CSR and dense rows confirm each other's claims, also far from the origin."""
    made = proof(metric)
    assert made.verify(sparse.csr_matrix(X), Y)
    assert PrototypeErrors.measure(sparse.csr_array(X), Y, prototypes=W, labels=LABELS, omega=METRICS[metric], beta=2.0).verify(
        X, Y
    )
    far = PrototypeErrors.measure(X + 1e6, Y, prototypes=W + 1e6, labels=LABELS, omega=METRICS[metric], beta=2.0)
    assert far.errors == made.errors
    assert far.cost == pytest.approx(made.cost, rel=1e-6)


SPOILT = {
    "errors": [lambda v: v + 1],
    "radius": [lambda v: 1.001 * v],
    "median_radius": [lambda v: 1.001 * v],
    "cost": [lambda v: v - 1e-6, lambda v: v + 1e-6],
    "gradient": [lambda v: 0.99 * v],
    "prototypes": [lambda v: v + 0.01],
    "prototype_labels": [lambda v: v[::-1]],
    "beta": [lambda v: 1.01 * v],
    "sample_weight": [lambda v: 1.01 * v],
    "costs": [lambda v: v[::-1], lambda v: v - 1e-4],
    "omega": [lambda v: None if v is not None else np.arange(1.0, 5.0)],
}


@pytest.mark.parametrize("metric", ["euclid", "relevances", "per-class"])
def test_a_changed_number_is_refuted(metric):
    """The true certificate holds; with any one field changed it does not."""
    s = np.linspace(0.5, 1.5, 90)
    final = cost(W, METRICS[metric], 2.0, s)
    made = proof(metric, sample_weight=s, costs=[final + 2.0, final + 1.0, final])
    assert made.verify(X, Y), str(made.verify(X, Y))
    for field, spoil in ((field, spoil) for field, spoils in SPOILT.items() for spoil in spoils):
        verdict = replace(made, **{field: spoil(getattr(made, field))}).verify(X, Y)
        assert not verdict, field
        assert all(verdict.reasons)


@every_metric
def test_json_keeps_every_bit(metric):
    """Written and read again, a certificate is the same and still holds."""
    made = proof(metric, sample_weight=RNG.random(90))
    back = from_json(made.to_json())
    assert back.to_json() == made.to_json()
    assert back.verify(X, Y)


UNFIT = {
    "prototypes": [[], [[1.0]]],
    "prototype_labels": [["a"], [["a"]] * 6, ["a"] * 6],
    "omega": [[[[1.0] * 4]], [1.0], 3.0, [[]]],
    "sample_weight": [[-1.0]],
    "beta": [-1.0, [1.0]],
}


def test_fields_that_do_not_fit_each_other_are_refused():
    """Shapes that do not belong together are refused when read, with a reason (other types: see test_fields)."""
    body = json.loads(proof().to_json())
    for field, value in ((field, value) for field, values in UNFIT.items() for value in values):
        with pytest.raises(CertificateError, match="damaged"):
            pytest.fail(f"{field} = {value!r}: {from_json(json.dumps(body | {field: value}))}")


def test_ties_may_fall_either_way():
    """A row half way between two prototypes counts as either; the first prototype wins when it is measured."""
    points, labels = np.array([[1.0], [0.0], [2.0]]), np.array([1, 0, 1])
    made = PrototypeErrors.measure(points, labels, prototypes=np.array([[0.0], [2.0]]), labels=[0, 1])
    assert made.errors == 1
    assert replace(made, errors=0).verify(points, labels)
    assert not replace(made, errors=2).verify(points, labels)
    swapped = PrototypeErrors.measure(points, labels, prototypes=np.array([[2.0], [0.0]]), labels=[1, 0])
    assert (swapped.errors, swapped.radius) == (0, 0.0)


def test_one_label_makes_no_error_and_has_no_cost():
    """Prototypes of a single label are never wrong, at any distance; a cost of theirs is refused."""
    labels = np.full(90, "a")
    made = PrototypeErrors.measure(X, labels, prototypes=W, labels=labels[:6])
    assert (made.errors, made.radius) == (0, np.inf)
    assert from_json(made.to_json()).verify(X, labels)
    with pytest.raises(InputError, match="two labels"):
        PrototypeErrors.measure(X, labels, prototypes=W, labels=labels[:6], beta=1.0)


def test_what_does_not_belong_together_is_refused():
    """Other widths, unknown labels and too few weights are refused with a sentence."""
    assert "4 inputs" in str(proof().verify(X[:, :3], Y))
    assert "without a prototype" in str(proof().verify(X, np.where(Y == "a", "z", Y)))
    assert "one sample weight" in str(proof(sample_weight=np.ones(90)).verify(X[:80], Y[:80]))
    with pytest.raises(InputError, match="without a prototype"):
        PrototypeErrors.measure(X, Y, prototypes=W[:4], labels=LABELS[:4])


def test_identical_rows_and_prototypes_have_no_slope():
    """Where both nearest prototypes lie on the row, μ counts as 0 and nothing is divided by zero."""
    made = PrototypeErrors.measure(
        np.zeros((2, 2)), np.array([0, 1]), prototypes=np.zeros((2, 2)), labels=[0, 1], omega=np.ones((1, 2)), beta=0.0
    )
    assert made.errors == 1
    assert (round(made.cost, 9), made.gradient) == (0.0, 0.0)
    assert made.verify(np.zeros((2, 2)), np.array([0, 1]))


def test_it_says_what_it_claims():
    """The line names errors, radii, cost and slope."""
    assert str(proof()).startswith("6 prototypes: ")
    assert "cost" in str(proof())
    assert "cost" not in str(proof(beta=None))
