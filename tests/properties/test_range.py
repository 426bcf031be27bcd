"""At the ends of floating point nothing false verifies: a check is scaled by powers of 2, or what is lost refutes."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import halfspace as hs
from halfspace.certificates import (
    DualityGap,
    GaussianPosterior,
    LeastSquaresGap,
    MarginBracket,
    MixtureLikelihood,
    OneLabel,
    PerCell,
    PrototypeErrors,
    Quantisation,
    RidgeGap,
)
from halfspace.errors import InputError

g = np.random.default_rng(0)
X, Y = np.round(g.normal(size=(12, 2)), 3), np.arange(12) % 2
X[Y == 1] += 1.0
SCALES = [2.0**-1000, 2.0**-565, 2.0**-480, 1.0, 2.0**240, 2.0**500, 2.0**664, 2.0**1000]
every_scale = pytest.mark.parametrize("scale", SCALES, ids="{:.0e}".format)


@every_scale
@pytest.mark.parametrize("omega", [None, np.array([1.0, 0.5]), np.eye(2)], ids=["plain", "relevances", "matrix"])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_errors_of_prototypes_do_not_depend_on_the_units(scale, omega, storage):
    """The same errors, cost and gradient, radii in the units of the rows; another count, or a longer radius, is refuted."""
    W, labels = np.array([[0.0, 0.0], [1.0, 1.0]]), [0, 1]
    one = PrototypeErrors.measure(X, Y, prototypes=W, labels=labels, omega=omega, beta=2.0)
    rows = storage(scale * X)
    proof = PrototypeErrors.measure(rows, Y, prototypes=scale * W, labels=labels, omega=omega, beta=2.0)
    assert proof.verify(rows, Y), proof.verify(rows, Y)
    assert (proof.errors, proof.cost) == (one.errors, pytest.approx(one.cost))
    assert 0 < proof.errors < 12
    assert proof.median_radius == pytest.approx(scale * one.median_radius)
    for change in ({"errors": 0}, {"errors": 12}, {"radius": 2.0 * proof.radius + scale}, {"cost": 0.0}, {"gradient": 0.0}):
        assert not replace(proof, **change).verify(rows, Y), change


@every_scale
def test_least_squares_of_any_units_or_an_error_about_the_range(scale):
    """A loss is not made 0, nor a backward error, by squares that overflow or vanish."""
    w = np.array([0.5, -0.25]) / scale
    if not np.isfinite(w).all() or not w.all():
        return
    proof = LeastSquaresGap.measure(scale * X, Y, weights=w, positive=1)
    assert proof.verify(scale * X, Y), proof.verify(scale * X, Y)
    one = LeastSquaresGap.measure(X, Y, weights=w * scale, positive=1)
    assert (proof.loss, proof.backward_error) == (pytest.approx(one.loss), pytest.approx(one.backward_error))
    for change in (
        {"loss": 0.0},
        {"loss": 0.9 * proof.loss},
        {"backward_error": 0.0},
        {"backward_error": 0.5 * one.backward_error},
    ):
        assert not replace(proof, **change).verify(scale * X, Y), change


@every_scale
def test_other_certificates_hold_in_other_units_or_say_what_is_lost(scale):
    """Measured on rows of any scale: an InputError about the range, or a proof that holds; on other rows none does."""
    rows, other = scale * X, scale * (X[::-1] + 0.5)
    sigma = max(abs(scale), np.finfo(float).tiny)
    targets = X @ [1.0, 2.0] + 0.1 * g.normal(size=12)
    measured = {
        "quantisation": lambda: Quantisation.measure(rows, prototypes=rows[:3]),
        "mixture": lambda: MixtureLikelihood.measure(
            rows, weights=np.full(2, 0.5), prototypes=rows[:2], sigmas=np.full(2, sigma), rule="fixed"
        ),
        "bracket": lambda: MarginBracket.measure(rows, Y, weights=np.ones(2), strengths=np.ones(12), positive=1),
        "gap": lambda: DualityGap.measure(rows, Y, weights=np.ones(2) / scale, strengths=np.ones(12), C=1.0, positive=1),
        "ridge": lambda: RidgeGap.measure(rows, targets, weights=np.ones(2) / scale, constant=0.5),
        "small targets": lambda: RidgeGap.measure(X, scale * targets, weights=scale * np.ones(2), ridge=1.0),
    }
    about = dict.fromkeys(measured, Y) | {"ridge": targets, "small targets": scale * targets, "mixture": None}
    for name, measure in measured.items():
        try:
            with np.errstate(all="ignore"):
                proof = measure()
        except (InputError, ValueError):
            continue
        data = (X, X[::-1] + 0.5) if name == "small targets" else (rows, other)
        y = about[name]
        held = proof.verify(data[0], y)
        assert held or not 1e-140 < scale < 1e70 or name == "gap", (name, held)
        assert name == "gap" or not proof.verify(data[1], y), name


def test_an_overflow_in_a_checker_refutes():
    """A posterior, a filter and a mixture whose sums overflow confirm nothing, and nothing is raised."""
    rows = np.array([[1e200], [-1e200]])
    posterior = GaussianPosterior(1.0, 1.0, (), np.zeros(1), np.zeros((1, 1)), 0.0, False, 0.0, 0.0, 0.1, 0.0, None)
    mixture = MixtureLikelihood(0.0, 0.0, 2.0, np.ones(1), np.zeros((1, 1)), np.ones(1), "each", 0.0, None)
    assert not posterior.verify(rows, np.ones(2))
    assert not mixture.verify(rows)
    assert not Quantisation(0.0, 0.0, 0.0, np.zeros((1, 1)), np.zeros(2, int), np.full(1, 2.0), None).verify(rows)


def test_only_an_example_without_weight_may_be_in_no_cell():
    """An awkward row cannot be left out by giving it the cell -1; weights of the parts are those of the whole."""
    rows, labels = np.array([[0.0], [1.0], [8.0], [9.0]]), np.array(["a", "a", "b", "a"])
    centres, parts = np.array([[0.5], [8.5]]), (OneLabel("a"), OneLabel("b"))
    cells = np.array([0, 0, 1, -1])
    assert not PerCell(centres, cells, parts).verify(rows, labels)
    assert not PerCell(centres, cells, parts, np.ones(4)).verify(rows, labels)
    assert PerCell(centres, cells, parts, np.array([1.0, 1.0, 1.0, 0.0])).verify(rows, labels)
    s = np.array([1.0, 2.0, 1.0, 0.0, 1.0, 1.0])
    A, y = np.array([[0.0], [1.0], [8.0], [9.0], [8.5], [0.2]]), np.array([0, 1, 0, 1, 1, 1])
    proof = hs.KernelAdaTron(n_cells=2, random_state=0).fit(A, y, sample_weight=s).certificate_
    assert proof.cells[3] == -1
    assert proof.verify(A, y), proof.verify(A, y)
    assert not replace(proof, sample_weight=None).verify(A, y)
    assert not replace(proof, sample_weight=np.where(s > 1.0, 1.0, s)).verify(A, y)


@pytest.mark.parametrize("scale", [1e-170, 1e200])
def test_cells_are_told_apart_at_any_scale(scale):
    """Squares that vanish or overflow do not put an example into any cell."""
    rows, labels = scale * np.array([[0.0], [1.0], [8.0]]), np.array(["a", "a", "b"])
    proof = PerCell(scale * np.array([[0.5], [8.5]]), np.array([0, 0, 1]), (OneLabel("a"), OneLabel("b")))
    assert proof.verify(rows, labels), proof.verify(rows, labels)
    wrong = replace(proof, cells=np.array([0, 1, 1]), parts=(OneLabel("a"), OneLabel("b")))
    assert not wrong.verify(rows, np.array(["a", "b", "b"]))
