"""Kernel perceptrons on a budget: the rule as published, what never grows, and the mistake bound."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import halfspace as hs
from halfspace.certificates import BudgetedMistakes, KernelBracket, PerClass, Projection, from_json
from halfspace.data import spirals
from halfspace.kernels import RBF, Laplacian, Linear, Polynomial
from halfspace.kernels.fast.activations import exp2_inplace

Model = hs.KernelPerceptron
KERNELS = [RBF(0.7), Polynomial(2, 0.5, 1.0), Linear(), Laplacian(1.0)]


def stream(n=120, d=3, seed=0, noise=0.15):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where((X[:, 0] * X[:, 1] + X[:, 2] > 0) ^ (rng.random(n) < noise), 1, -1)


def literal_projectron(K, y, B):
    """Return coefficients, mistakes and the summed length of the rests."""
    c, kept, M, lost = np.zeros(len(y)), [], 0, 0.0
    for t in range(len(y)):
        if y[t] * (K[t] @ c) > 0:
            continue
        M += 1
        d = np.linalg.solve(K[np.ix_(kept, kept)], K[kept, t]) if kept else np.zeros(0)
        rest = max(K[t, t] - K[t, kept] @ d, 0.0)
        if len(kept) < B and rest > 1e-6 * K[t, t]:
            kept.append(t)
            c[t] += y[t]
        else:
            c[kept] += y[t] * d
            lost += np.sqrt(rest)
    return c, M, lost


@pytest.mark.parametrize("kernel", [RBF(0.7), Polynomial(3, 0.5, 1.0), Laplacian(1.0)], ids=str)
@pytest.mark.parametrize("B", [1, 7, 18])
def test_the_projectron_projects(kernel, B):
    """Mistakes, coefficients and rests agree with projections solved anew each time."""
    X, y = stream(seed=1)
    c, M, lost = literal_projectron(kernel.exact(X) + 1.0, y, B)
    model = Model(kernel, budget=B, shuffle=False, max_iter=1).fit(X, y)
    assert model.mistakes_ == M
    assert_allclose(model.alpha_ * y, c, rtol=1e-5, atol=1e-6)
    assert model._learner.kept.slots[0].sums[1] == pytest.approx(lost, rel=1e-6)


@pytest.mark.parametrize("kernel", KERNELS[:3], ids=str)
def test_tables_of_any_kernel_give_what_the_compiled_forms_give(kernel):
    """A kernel times 1, which is tabled, makes the same mistakes as the kernel itself; so do sparse rows and small chunks."""
    X, y = stream(seed=2)
    options = {"budget": 9}
    direct = Model(kernel, shuffle=False, max_iter=2, **options).fit(X, y)
    for other, rows in ((1.0 * kernel, X), (kernel, sparse.csr_array(X))):
        tabled = Model(other, shuffle=False, max_iter=2, **options).fit(rows, y)
        assert tabled.mistakes_ == direct.mistakes_
        assert_allclose(tabled.decision_function(rows), direct.decision_function(X), rtol=1e-5, atol=1e-7)
    streams = [Model(k, **options) for k in (kernel, 1.0 * kernel, kernel)]
    for first in range(0, 120, 25):
        rows = slice(first, first + 25)
        for model, form in zip(streams, (X, X, sparse.csr_array(X)), strict=True):
            model.partial_fit(form[rows], y[rows], classes=[-1, 1])
    assert len({model.mistakes_ for model in streams}) == 1
    for model in streams[1:]:
        assert_allclose(model.decision_function(X), streams[0].decision_function(X), rtol=1e-5, atol=1e-7)


def test_a_stream_in_chunks_is_one_epoch_in_order():
    """With a kernel whose k(x, x) is constant, partial_fit in any chunks makes the mistakes of fit with one epoch in order."""
    X, y = stream(seed=3)
    whole = Model(RBF(0.7), budget=8, shuffle=False, max_iter=1).fit(X, y)
    model = Model(RBF(0.7), budget=8)
    for rows in np.split(np.arange(120), [1, 40, 41, 100]):
        model.partial_fit(X[rows], y[rows], classes=[-1, 1])
    assert model.mistakes_ == whole.mistakes_
    assert_allclose(model.decision_function(X), whole.decision_function(X), rtol=1e-9, atol=1e-9)


def test_nothing_grows():
    """However long the stream, there are at most B support vectors and the arrays stay the very same."""
    model, seen = Model(RBF(0.7), budget=6), set()
    for seed in range(6):
        X, y = stream(60, seed=seed)
        model.partial_fit(X.astype(np.float32) if seed % 2 else X, y, classes=[-1, 1])
        seen.add(tuple((array.ctypes.data, array.nbytes) for array in model._learner.kept.slots[0]))
        assert len(seen) == 1
        assert model.support_vectors_.shape[0] <= 6
        assert model.dual_coef_.shape == (1, model.support_vectors_.shape[0])
    assert model.mistakes_ > 6


def test_a_budget_that_is_never_full_changes_nothing():
    """With room for all mistakes the model is the plain kernel perceptron (up to repeated examples)."""
    X, y, *_ = spirals(80, turns=1.0)
    plain = Model(gamma=20.0, shuffle=False).fit(X, y)
    model = Model(gamma=20.0, shuffle=False, budget=200).fit(X, y)
    assert model.outcome_.converged
    assert model.mistakes_ == plain.mistakes_
    assert_allclose(model.decision_function(X), plain.decision_function(X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("B", [5, 40])
def test_the_mistakes_obey_the_theorem_with_the_sums_of_the_run(B):
    """For any g: M <= (‖g‖/R)² + 2 Σ hinge + 2 (‖g‖/R) Σ ‖δ‖/R - Σ ‖δ‖²/R²."""
    X, y = stream(seed=4)
    K, rng = RBF(0.7).exact(X) + 1.0, np.random.default_rng(0)
    learner = Model(RBF(0.7), budget=B, shuffle=False, max_iter=1).fit(X, y)._learner
    R2, rests, squares = learner.kept.slots[0].sums
    ridge = np.linalg.solve(K + 0.1 * np.eye(len(y)), R2 * y)
    for g in (ridge, 0.3 * ridge, 0 * ridge, rng.standard_normal(len(y))):
        norm, losses = np.sqrt(g @ K @ g / R2), np.maximum(0.0, 1.0 - y * (K @ g) / R2).sum()
        bound = norm**2 + 2 * losses + 2 * norm * rests / np.sqrt(R2) - squares / R2
        assert learner.mistakes[0] <= bound + 1e-9


def test_the_certificate_bounds_the_mistakes_and_verifies():
    """The bound is above the mistakes, every number is confirmed from the data, JSON keeps it, other labels refute it."""
    X, y = stream(seed=5, noise=0.0)
    model = Model(RBF(0.3), budget=90, shuffle=False, max_iter=2).fit(X, y)
    proof = model.certificate_
    assert isinstance(proof, BudgetedMistakes)
    assert isinstance(proof.theorem, Projection)
    assert model.mistakes_ <= proof.bound < np.inf
    assert from_json(proof.to_json()).verify(X, y)
    assert not proof.verify(X, -y)


def test_unequal_weights_leave_the_bracket():
    """The theorem knows one rate: with unequal class weights the certificate is the margin bracket alone."""
    X, y = stream(seed=6)
    model = Model(RBF(0.7), budget=10, class_weight={1: 2.0}, max_iter=1).fit(X, y)
    assert isinstance(model.certificate_, KernelBracket)
    assert model.certificate_.verify(X, y)


def test_equal_weights_only_scale():
    """A weight of 4 for all makes the same mistakes and four times the function."""
    X, y = stream(seed=7)
    options = {"kernel": RBF(0.7), "budget": 9, "shuffle": False, "max_iter": 1}
    one, four = Model(**options).fit(X, y), Model(**options, class_weight={-1: 4.0, 1: 4.0}).fit(X, y)
    assert one.mistakes_ == four.mistakes_
    assert_allclose(four.alpha_, 4.0 * one.alpha_, rtol=1e-9)


def test_classes_have_a_budget_each():
    """One-vs-rest: each class is its own two-class model, in a fit and in a stream, and the proof has a part for each."""
    X = np.random.default_rng(8).standard_normal((90, 2))
    y = np.arange(90) % 3
    X = X + 2.0 * np.array([[0, 1], [1, -1], [-1, -1]])[y]
    options = {"kernel": RBF(0.7), "budget": 12, "shuffle": False, "max_iter": 1}
    model = Model(**options).fit(X, y)
    streamed = Model(**options).partial_fit(X[:50], y[:50], classes=[0, 1, 2]).partial_fit(X[50:], y[50:])
    assert isinstance(model.certificate_, PerClass)
    assert model.certificate_.verify(X, y)
    assert model.score(X, y) > 0.8
    assert_allclose(streamed.decision_function(X), model.decision_function(X), rtol=1e-9, atol=1e-9)
    for k in range(3):
        alone = Model(**options).fit(X, y == k)
        assert alone.mistakes_ == model.mistakes_[k]
        assert_allclose(alone.alpha_, model.alpha_[k], rtol=1e-9)


def test_a_warm_start_goes_on_with_the_same_slots():
    """Three fits of one epoch are one of three, and a fit that fails leaves the slots as they were."""
    X, y = stream(seed=9)
    options = {"kernel": RBF(0.7), "budget": 9, "shuffle": False}
    whole = Model(**options, max_iter=3).fit(X, y)
    parts = Model(**options, max_iter=1, warm_start=True).fit(X, y).fit(X, y)
    kept = parts.decision_function(X)
    with pytest.raises(ValueError, match="NaN"):
        parts.fit(np.where(X > 1, np.nan, X), y)
    assert_array_equal(parts.decision_function(X), kept)
    parts.fit(X, y)
    assert_array_equal(parts.alpha_, whole.alpha_)
    assert parts.mistakes_ == whole.mistakes_
    assert parts.certificate_.passes == 3
    assert parts.certificate_.verify(X, y)


def test_a_precomputed_matrix_with_a_budget():
    """The matrix itself and the kernel it is of make the same mistakes."""
    X, y = stream(seed=10)
    options = {"budget": 9, "shuffle": False, "max_iter": 2}
    given, model = Model("precomputed", **options).fit(RBF(0.7).exact(X), y), Model(RBF(0.7), **options).fit(X, y)
    assert given.mistakes_ == model.mistakes_
    assert_allclose(given.decision_function(RBF(0.7).exact(X)), model.decision_function(X), rtol=1e-9, atol=1e-9)


def test_the_exponential_is_exact_to_rounding():
    """2^z by polynomial and exponent bits is within a few units in the last place of NumPy's."""
    powers = np.r_[0.0, -np.geomspace(1e-12, 120.0, 400), -0.5, -1.0]
    expected = np.exp2(powers)
    exp2_inplace(powers)
    assert_allclose(powers, expected, rtol=3e-15)
