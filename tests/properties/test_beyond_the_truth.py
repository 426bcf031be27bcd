"""Claims that go a little beyond the truth are refuted, each for a term of a checker or of a fit that nothing else demands."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin

import halfspace as hs
from halfspace.certificates import (
    BudgetedMistakes,
    DualityGap,
    KernelBracket,
    KernelGap,
    LeastSquaresGap,
    MarginBracket,
    MixtureLikelihood,
    NeighbourErrors,
    OneLabel,
    PassiveAggressiveBound,
    PerCell,
    PerClass,
    Projection,
    PrototypeErrors,
    RidgeGap,
    Separability,
)
from halfspace.certificates.prototypes import mixture
from halfspace.kernels import RBF, Linear

ROWS = np.array([[1.0], [2.0], [3.0]])
EVEN = np.ones(3)
ABOUT_TWO_CLASSES = {
    "bracket": lambda y: MarginBracket.measure(ROWS, y, weights=np.ones(1), strengths=EVEN, positive=1),
    "kernel bracket": lambda y: KernelBracket.measure(ROWS, y, kernel=Linear(), strengths=EVEN, positive=1),
    "gap": lambda y: DualityGap.measure(ROWS, y, weights=np.ones(1), strengths=EVEN, C=1.0, positive=1),
    "kernel gap": lambda y: KernelGap.measure(ROWS, y, kernel=Linear(), strengths=EVEN, C=1.0, positive=1),
    "least squares": lambda y: LeastSquaresGap.measure(ROWS, y, weights=np.ones(1), positive=1),
    "separability": lambda _: Separability.by_plane(np.ones(1), 0.5, intercept=False, positive=1),
    "budget": lambda y: BudgetedMistakes.measure(
        0, ROWS, y, kernel=RBF(1.0), coefficients=EVEN, theorem=Projection(3), positive=1
    ),
}


@pytest.mark.parametrize("name", ABOUT_TWO_CLASSES)
@pytest.mark.parametrize("label", [1, 0])
def test_a_single_class_is_separated_from_nothing(name, label):
    """On labels of one class, whichever, no claim about two holds, however right its numbers are."""
    y = np.full(3, label)
    verdict = ABOUT_TWO_CLASSES[name](y).verify(ROWS, y)
    assert not verdict
    assert "not both" in str(verdict)


def on_a_line(rng):
    """Draw two classes on a line, +1 above -1, and return also half the width of the gap between them: the best margin."""
    above, below = rng.uniform(2.0, 5.0, size=3), rng.uniform(-1.0, 1.0, size=3)
    return np.append(above, below)[:, None], np.repeat([1, 0], 3), 0.5 * float(above.min() - below.max())


@pytest.mark.parametrize("seed", range(8))
def test_with_a_free_bias_strengths_that_do_not_balance_prove_no_more_than_the_truth(seed):
    """Whatever the strengths, upper sides are no less than the best margin, and dual values no more than the optimum."""
    rng = np.random.default_rng(seed)
    X, y, kappa = on_a_line(rng)
    strengths = rng.uniform(size=6) * (rng.random(6) < 0.5) + 1e-3 * np.eye(6)[seed % 6]
    about = {"strengths": strengths, "positive": 1, "bias": 0.0}
    optimum = 0.5 / kappa**2
    assert MarginBracket.measure(X, y, weights=np.ones(1), **about).upper >= kappa
    assert KernelBracket.measure(X, y, kernel=Linear(), **about).upper >= kappa
    for C in (1.0, np.inf):
        assert DualityGap.measure(X, y, weights=np.ones(1), C=C, **about).dual <= optimum
        assert KernelGap.measure(X, y, kernel=Linear(), C=C, **about).dual <= optimum


def test_gordans_witnesses_balance_where_the_bias_is_free():
    """A row of zeros proves inseparable only through the origin: with an intercept the shares of both classes must be equal."""
    X, y, lone = np.array([[0.0], [1.0], [2.0]]), np.array([1, 0, 0]), np.array([1.0, 0.0, 0.0])
    through_origin = MarginBracket.measure(X, y, weights=np.ones(1), strengths=lone, positive=1)
    assert through_origin.upper == 0.0
    assert through_origin.verify(X, y)
    anywhere = MarginBracket.measure(X, y, weights=np.ones(1), strengths=lone, positive=1, bias=0.0)
    assert anywhere.upper > 0.0
    assert not replace(anywhere, upper=0.0).verify(X, y)
    for intercept in (True, False):
        proof = Separability.by_multipliers({0: Fraction(1)}, 1, intercept=intercept, positive=1)
        assert bool(proof.verify(X, y)) is not intercept


def test_the_gap_of_ridge_weights_is_all_of_it():
    """Where only the penalty curves the objective, the bound is the gap itself, and a hundredth less is refuted."""
    X, y = np.zeros((3, 1)), np.array([1.0, 2.0, 4.0])
    proof = RidgeGap.measure(X, y, weights=np.ones(1), ridge=2.0)
    assert proof.gap == pytest.approx(2.0, rel=1e-6)
    assert proof.gap >= 2.0
    assert not replace(proof, gap=1.98).verify(X, y)


def test_a_constant_that_is_off_is_paid_for():
    """An unpenalised constant off by 0.1 costs 0.01 for each example, though the gradient at its best value is zero."""
    X, y = np.zeros((3, 1)), np.array([1.0, 2.0, 6.0])
    proof = RidgeGap.measure(X, y, weights=np.zeros(1), ridge=1.0, constant=3.1)
    assert proof.gap >= 0.03 * (1 - 1e-12)
    assert not replace(proof, gap=0.0297).verify(X, y)


def test_a_course_of_the_cost_that_rises_is_refuted():
    """A batch method's cost falls to the cost claimed; a course that rises to it is no course of such a method."""
    X, y = np.array([[0.0], [1.0], [4.0]]), np.array(["a", "a", "b"])
    about = {"prototypes": np.array([[0.0], [4.0]]), "labels": ["a", "b"], "beta": 1.0}
    cost = PrototypeErrors.measure(X, y, **about).cost
    assert PrototypeErrors.measure(X, y, **about, costs=(cost + 1.0, cost)).verify(X, y)
    assert not PrototypeErrors.measure(X, y, **about, costs=(cost - 1e-6, cost)).verify(X, y)


@pytest.mark.parametrize("seed", range(5))
def test_neighbours_far_from_the_origin_are_not_told_apart_by_rounding(seed):
    """At an offset of 1e8 squared distances below 1 are rounding: rows whose nearest is of the other class count as misled."""
    rng = np.random.default_rng(seed)
    pairs = rng.uniform(0.0, 1.0, size=(10, 1, 3)) + 0.01 * np.array([0.0, 1.0])[:, None]
    X, y = 1e8 * rng.uniform(0.3, 1.0, size=3) + pairs.reshape(20, 3), np.tile([0, 1], 10)
    distances = np.linalg.norm(X[:, None] - X, axis=2) + 1e9 * np.eye(20)
    assert (y[distances.argmin(axis=1)] != y).all()
    assert NeighbourErrors.measure(X, y, k=1).errors == 20


def test_the_passive_aggressive_bound_counts_where_the_weights_began():
    """From weights of length 3 against the classes there are more mistakes than from none, and never more than the bound."""
    w, mistakes = -3.0, 0
    while (E := w) <= 0.0:
        mistakes, w = mistakes + 1, w + min(1.0, 1.0 - E)
    theorem = PassiveAggressiveBound(cap=1.0, start=3.0)
    assert PassiveAggressiveBound(cap=1.0).bound(1.0, 1.0) < mistakes <= theorem.bound(1.0, 1.0)
    assert theorem.bound(1.0, 1.0) == 16.0


def test_a_resumed_passive_aggressive_fit_proves_from_its_start():
    """The theorem of a fit that goes on from old weights starts at their length."""
    X, y = np.array([[1.0, 0.5], [-1.0, 0.25]]), np.array([1, 0])
    model = hs.PassiveAggressive(warm_start=True, random_state=0).fit(X, y)
    length = float(np.linalg.norm(np.append(model.coef_, model.intercept_)))
    proof = model.fit(X, 1 - y).certificate_
    assert proof.theorem.start == pytest.approx(length, rel=1e-12)
    assert proof.verify(X, 1 - y)


def test_an_example_in_the_wrong_cell_is_found_out():
    """An example nearer to another centre by less than a hundredth is not in the cell it is filed under."""
    X, y = np.array([[0.0], [5.02], [10.0]]), np.array(["a", "a", "a"])
    centres, parts = np.array([[0.0], [10.0]]), (OneLabel("a"), OneLabel("a"))
    assert PerCell(centres, np.array([0, 1, 1]), parts).verify(X, y)
    assert not PerCell(centres, np.array([0, 0, 1]), parts).verify(X, y)


@pytest.mark.parametrize("off", [-4.0, 4.0])
def test_a_likelihood_off_by_four_roundings_is_refuted(off):
    """The log-likelihood of a mixture is right up to two roundings of it, or refuted."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    parts = np.array([0.25, 0.75]), X[:2].copy(), np.ones(2)
    proof = MixtureLikelihood.measure(X, weights=parts[0], prototypes=parts[1], sigmas=parts[2])
    noise = mixture._noise(40, mixture._Parts(*parts), mixture._passed(X, np.ones(40), mixture._Parts(*parts)))
    assert proof.verify(X)
    verdict = replace(proof, log_likelihood=proof.log_likelihood + off * noise).verify(X)
    assert "the log-likelihood is" in str(verdict)
    assert 0.0 < noise < 1e-9 * abs(proof.log_likelihood)


def test_the_gap_of_cells_is_the_widest():
    """A certificate of many machines is as wide as its widest part, also where a cell has a part per class."""
    X, y = np.array([[2.0], [-2.0]]), np.array([1, 0])
    wide, narrow = (KernelGap.measure(X, y, kernel=Linear(), strengths=np.full(2, a), C=1.0, positive=1) for a in (0.05, 0.12))
    assert wide.relative_gap > narrow.relative_gap > 0.0
    for parts in ((wide, narrow), (narrow, wide), (OneLabel(1), PerClass((0, 1), (wide, narrow)))):
        cells = PerCell(np.array([[0.0], [9.0]]), np.zeros(2, dtype=np.int64), parts)
        assert cells.relative_gap == wide.relative_gap


RNG = np.random.default_rng(3)
OVERLAPPING = RNG.normal(size=(60, 3))
THREE = np.arange(60) % 3
OVERLAPPING[THREE == 1, 0] += 1.5
OVERLAPPING[THREE == 2, 1] -= 1.0
APART = OVERLAPPING + 9.0 * np.eye(3)[THREE]


def widths(proof):
    """Return what `tol` is compared with, for each part of a certificate."""
    if hasattr(proof, "parts"):
        return [width for part in proof.parts for width in widths(part)]
    if hasattr(proof, "relative_gap"):
        return [proof.relative_gap]
    return [(proof.upper - proof.lower) / proof.upper]


@pytest.mark.parametrize("tol", [0.3, 0.1, 0.03, 1e-3])
@pytest.mark.parametrize(
    "model",
    [
        hs.AdaTron(),
        hs.AdaTron(intercept="free", solver="sweep"),
        hs.AdaTron(C=np.inf),
        hs.KernelAdaTron(gamma=0.5),
        hs.KernelAdaTron(gamma=0.5, multi_class="ovo", intercept="free"),
        hs.KernelAdaTron(gamma=0.5, solver="sweep"),
        hs.MinOver(),
        hs.KernelMinOver(gamma=0.1),
    ],
    ids=str,
)
def test_converged_is_said_of_certificates_within_tol_only(model, tol):
    """A fit that says it converged has no part whose certified width is above tol: not twice it, and not its narrowest part."""
    separated = getattr(model, "C", np.inf) == np.inf
    model.set_params(tol=tol).fit(APART if separated else OVERLAPPING, THREE)
    assert model.outcome_.reason == "converged"
    assert max(widths(model.certificate_)) <= tol * (1 + 1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", [hs.AdaTron(solver="sweep"), hs.KernelAdaTron(gamma=0.5, solver="sweep")], ids=str)
def test_a_fit_out_of_iterations_has_converged_only_if_its_widest_part_has(model):
    """Whenever the iterations end, "converged" is said if, and only if, no part is wider than tol."""
    said = set()
    for max_iter in (1, 2, 4, 8, 16):
        for tol in np.geomspace(1e-3, 0.9, 10):
            model.set_params(tol=float(tol), max_iter=max_iter).fit(OVERLAPPING, THREE)
            converged = model.outcome_.reason == "converged"
            assert converged == (max(widths(model.certificate_)) <= tol)
            said.add(converged)
    assert said == {True, False}


class Watching(TransformerMixin, BaseEstimator):
    """An encoder that changes nothing and remembers the rows it learnt from."""

    def fit(self, X, y=None):  # noqa: ARG002  (scikit-learn's signature)
        self.seen_, self.n_features_in_ = np.array(X), X.shape[1]
        return self

    def transform(self, X):
        return np.asarray(X)


def test_no_held_out_row_is_seen_before_the_test():
    """The encoder of a ladder learns from the training rows alone, and the standard error counts one pass over them."""
    y = (THREE == 1).astype(int)
    ladder = hs.Ladder(rungs=["perceptron"], encoder=Watching(), n_splits=3, n_repeats=2, random_state=0).fit(OVERLAPPING, y)
    assert np.array_equal(ladder.encoder_.seen_, OVERLAPPING[ladder.train_])
    assert not set(ladder.train_.tolist()) & set(ladder.test_.tolist())
    climbed = [rung for rung in ladder.rungs_ if rung.scores]
    assert climbed
    for rung in climbed:
        assert len(rung.scores) == 6
        assert rung.error == pytest.approx(np.std(rung.scores, ddof=1) / np.sqrt(3), rel=1e-12)
