"""The kernel AdaTron: LIBSVM's optimum with a free bias, one function whatever the way to it, and a proof in every case."""

import copy
import json
import os
import pickle
import signal
import threading
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.callback import ScoringMonitor
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC

import halfspace as hs
from halfspace import kernels as ks
from halfspace.certificates import from_json
from halfspace.errors import GapWarning, InputError, NotSeparatedWarning
from halfspace.kernels.gram import LazyGram
from halfspace.models.kernel.margin import Claims, KernelPlan
from halfspace.models.multiclass import Task
from halfspace.models.parameters import Examples
from halfspace.solvers.run import Budget

X = np.array(
    [[1.0, 2.0], [2.0, 1.0], [1.5, -0.5], [0.5, 0.25], [-1.0, -1.0], [-2.0, 0.5], [-0.5, -2.0], [0.25, -0.75], [-1.5, 1.0]]
)
Y = np.array([1, 1, 1, 1, 0, 0, 0, 1, 0])
Y3 = np.array([0, 0, 2, 2, 1, 1, 2, 2, 1])
XOR, XOR_Y = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]), np.array([1, 1, 0, 0])
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
every_kind = pytest.mark.parametrize("intercept", ["clamped", "free", "none"])


def moons(n=60, noise=0.3, seed=0):
    return make_moons(n, noise=noise, random_state=seed)


def state_of(model):
    return pickle.dumps({name: value for name, value in vars(model).items() if not name.startswith("_skl")})


def sound(model, data, labels):
    """Check that a fit is finite, says why it stopped, and proves what it claims."""
    for part in (model.alpha_, model.dual_coef_, model.intercept_, model.decision_function(data)):
        assert np.isfinite(part).all()
    assert (model.alpha_ >= 0).all()
    assert str(model.outcome_)
    verdict = model.certificate_.verify(data, labels)
    assert verdict, str(verdict)
    assert from_json(model.certificate_.to_json()).verify(data, labels)
    assert set(np.asarray(model.predict(data)).tolist()) <= set(model.classes_.tolist())


def objective(kernel, data, labels, signed, bias, C):
    """Return primal and dual value of signed strengths, by the textbook."""
    f = kernel.exact(data, data) @ signed
    sign = np.where(labels == np.unique(labels)[1], 1.0, -1.0)
    loss = np.maximum(0.0, 1.0 - sign * (f + bias)).sum()
    return 0.5 * signed @ f + C * loss, np.abs(signed).sum() - 0.5 * signed @ f


# ---------------------------------------------------------------- LIBSVM
def six_sets():
    cancer, iris, wine, digits = (load(return_X_y=True) for load in (load_breast_cancer, load_iris, load_wine, load_digits))
    made = make_classification(300, 10, weights=[0.97], flip_y=0.0, class_sep=0.5, random_state=1)
    return {
        "cancer": (scale(cancer[0]), cancer[1]),
        "iris": (iris[0], (iris[1] == 1) * 1),
        "wine": (scale(wine[0]), (wine[1] == 0) * 1),
        "digits": (digits[0][:500] / 16.0, digits[1][:500] % 2),
        "moons": moons(300),
        "3 %": made,
    }


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["cancer", "iris", "wine", "digits", "moons", "3 %"])
@pytest.mark.parametrize(("kernel", "C"), [("rbf", 1.0), ("rbf", 10.0), ("linear", 0.1), ("poly", 0.1)])
def test_with_a_free_bias_the_optimum_is_that_of_libsvm(name, kernel, C):
    """Same objective to 1e-6 at tol 1e-6, same support vectors, and outputs within 1e-3 of a well-solved SVC's."""
    data, labels = six_sets()[name]
    options = {"gamma": 0.1, "coef0": 1.0} if kernel == "poly" else {"gamma": "scale"}
    model = hs.KernelAdaTron(kernel, C=C, intercept="free", tol=1e-6, **options).fit(data, labels)
    peer = SVC(kernel=kernel, C=C, tol=1e-6, **options).fit(data, labels)  # at 1e-9 one of them takes LIBSVM 40 s
    assert model.outcome_.reason == "converged"
    assert model.certificate_.verify(data, labels)
    signed = np.zeros(labels.size)
    signed[peer.support_] = peer.dual_coef_[0]
    primal, dual = objective(model.kernel_, data, labels, signed, peer.intercept_, C)
    assert dual <= model.certificate_.primal * (1 + 1e-9)
    assert model.certificate_.dual <= primal * (1 + 1e-9)
    assert model.certificate_.dual == pytest.approx(dual, rel=1.1e-6)
    assert_allclose(model.decision_function(data), peer.decision_function(data), atol=1e-3)
    sure = np.abs(np.where(labels == 1, 1.0, -1.0) * peer.decision_function(data) - 1.0) > 1e-2  # no ties at the margin's edge
    assert_array_equal((model.alpha_ > 0)[sure], (signed != 0)[sure])
    assert_allclose(model.dual_coef_.sum(), 0.0, atol=1e-9 * C * labels.size)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["cancer", "iris", "wine", "digits", "moons", "3 %"])
def test_at_usual_tolerances_the_two_agree(name):
    """At tol 1e-3 here and SVC's default there, nearly all predictions are the same."""
    data, labels = six_sets()[name]
    model, peer = hs.KernelAdaTron(C=10.0, intercept="free").fit(data, labels), SVC(C=10.0).fit(data, labels)
    assert np.mean(model.predict(data) == peer.predict(data)) >= 0.99
    assert model.certificate_.relative_gap <= 1e-3


@pytest.mark.compiled
def test_many_classes_by_pairs_vote_as_in_libsvm():
    """One-vs-one on the digits: SVC's pairs, and its predictions nearly everywhere."""
    data, labels = load_digits(return_X_y=True)
    data, labels = data[:600] / 16.0, labels[:600]
    model = hs.KernelAdaTron(C=5.0, intercept="free", multi_class="ovo", tol=1e-5).fit(data, labels)
    peer = SVC(C=5.0, tol=1e-8, decision_function_shape="ovo").fit(data, labels)
    assert np.mean(model.predict(data) == peer.predict(data)) >= 0.995
    pairs = model._expansion.outputs(data)
    assert_allclose(-pairs, peer.decision_function(data), atol=2e-2)  # SVC counts the first class of a pair as +1
    assert model.certificate_.verify(data, labels)
    assert len(model.certificate_.parts) == 45


# ---------------------------------------------------------------- one function, many ways
@every_kind
@pytest.mark.parametrize("C", [0.1, 3.0])
def test_sweeps_and_pairs_find_one_function(intercept, C):
    """The plain rule and the fast solver give the same function, each with a true certificate."""
    data, labels = moons(40)
    outputs = []
    for solver in ("auto", "sweep"):
        model = hs.KernelAdaTron(C=C, intercept=intercept, gamma=1.0, tol=1e-6, solver=solver).fit(data, labels)
        assert model.outcome_.reason == "converged"
        sound(model, data, labels)
        outputs.append(model.decision_function(data))
    assert_allclose(outputs[0], outputs[1], atol=5e-3)


@every_kind
@pytest.mark.parametrize("rate", [0.5, 1.5])
def test_sweeps_find_the_largest_margin_without_errors(intercept, rate):
    """C = inf by the plain rule at any rate, as it was printed: the fast solver's margin, with a true certificate."""
    data, labels = moons(30)
    fast, plain = (
        hs.KernelAdaTron(C=np.inf, intercept=intercept, gamma=2.0, tol=1e-3, solver=solver, rate=rate).fit(data, labels)
        for solver in ("auto", "sweep")
    )
    assert plain.outcome_.reason == "converged"
    sound(plain, data, labels)
    assert plain.certificate_.primal == pytest.approx(fast.certificate_.primal, rel=3e-3)


def test_a_clamped_input_is_the_kernel_plus_its_square():
    """intercept_scaling=2 is the precomputed kernel K + 4 without bias."""
    data, labels = moons(40)
    clamped = hs.KernelAdaTron(gamma=1.0, intercept_scaling=2.0, tol=1e-7).fit(data, labels)
    K = ks.RBF(1.0).exact(data, data) + 4.0
    plain = hs.KernelAdaTron("precomputed", intercept="none", tol=1e-7).fit(K, labels)
    assert clamped.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=1e-6)
    assert_allclose(clamped.decision_function(data), plain.decision_function(K), atol=2e-3)


KERNELS = {
    "rbf": ("rbf", ks.RBF("scale")),
    "linear": ("linear", ks.Linear()),
    "poly": ("poly", ks.Polynomial(3, gamma="scale", coef0=1.0)),
    "laplacian": ("laplacian", ks.Laplacian("scale")),
    "cosine": ("cosine", ks.Cosine()),
    "spline": (ks.BSpline(1, 2.0), ks.BSpline(1, 2.0)),
    "sum": (ks.RBF(0.5) + 0.5 * ks.Polynomial(2, coef0=1.0), ks.RBF(0.5) + 0.5 * ks.Polynomial(2, coef0=1.0)),
    "product on columns": (ks.RBF(0.5).on([0]) * ks.Linear().on([1]), ks.RBF(0.5).on([0]) * ks.Linear().on([1])),
    "normalised": (ks.Polynomial(2, coef0=1.0).normalized(),) * 2,
    "function": (lambda a, b: float(a @ b + 1.0) ** 2, ks.Polynomial(2, coef0=1.0)),
}


@every_kind
@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_by_value_by_name_and_as_a_matrix(name, intercept):
    """A kernel by name, as a value, and its matrix computed beforehand give one function; also on sparse rows."""
    data, labels = moons(30)
    given, value = KERNELS[name]
    options = {"C": 2.0, "intercept": intercept, "tol": 1e-6}
    named = hs.KernelAdaTron(given, coef0=1.0, **options).fit(data, labels)
    value = value.resolved(data)
    if name != "function":
        assert str(named.kernel_) == str(value)
        sound(named, data, labels)
    K = value.exact(data, data)
    other = hs.KernelAdaTron("precomputed", **options).fit(K, labels)
    assert other.certificate_.verify(K, labels)
    assert other.certificate_.primal == pytest.approx(named.certificate_.primal, rel=1e-5)
    assert_allclose(other.decision_function(K), named.decision_function(data), atol=2e-2)
    if name not in {"function", "product on columns"}:
        rows = sparse.csr_array(data)
        thin = hs.KernelAdaTron(given, coef0=1.0, **options).fit(rows, labels)
        assert thin.certificate_.verify(data, labels)
        assert_allclose(thin.decision_function(rows), named.decision_function(data), atol=2e-2)


@pytest.mark.parametrize("form", [np.float32, np.asfortranarray, sparse.csc_array, pd.DataFrame, lambda data: data[::-1][::-1]])
def test_forms_of_X_give_one_function(form):
    """Single precision, any order in memory, sparse or a table: the same function."""
    data, labels = moons(40)
    data = data.astype(np.float32).astype(np.float64)
    given = form(data)
    plain, other = hs.KernelAdaTron(tol=1e-6).fit(data, labels), hs.KernelAdaTron(tol=1e-6).fit(given, labels)
    assert_allclose(other.decision_function(given), plain.decision_function(data), atol=1e-3)
    assert other.certificate_.verify(data, labels)


@every_kind
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_weights_are_copies(intercept, C):
    """A weight of 2 is the example twice, one of 0 leaves it out."""
    data, labels = moons(30, 0.1) if np.isinf(C) else moons(30)
    s = np.array([0.0, 1.0, 2.0])[np.arange(30) % 3]
    options = {"C": C, "gamma": 2.0, "intercept": intercept, "tol": 1e-6}
    weighted = hs.KernelAdaTron(**options).fit(data, labels, sample_weight=s)
    rows = np.repeat(np.arange(30), s.astype(int))
    copied = hs.KernelAdaTron(**options).fit(data[rows], labels[rows])
    assert weighted.certificate_.primal == pytest.approx(copied.certificate_.primal, rel=3e-6)
    assert_allclose(weighted.decision_function(data), copied.decision_function(data), atol=2e-2)
    assert not weighted.alpha_[s == 0].any()
    sound(weighted, data, labels)


def test_class_weights_multiply_the_caps():
    """class_weight is a sample weight per class, and "balanced" makes up for rarity."""
    data, labels = make_classification(60, 4, weights=[0.9], random_state=0)
    s = np.where(labels == 1, 9.0, 1.0)
    one = hs.KernelAdaTron(class_weight={1: 9.0}, tol=1e-6).fit(data, labels)
    two = hs.KernelAdaTron(tol=1e-6).fit(data, labels, sample_weight=s)
    assert_allclose(one.decision_function(data), two.decision_function(data), atol=1e-3)
    assert one.alpha_.max() <= 9.0
    sound(hs.KernelAdaTron(class_weight="balanced").fit(data, labels), data, labels)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_a_class_without_weight_is_refused(multi_class):
    """Where weights of 0 leave a class without examples, that is said."""
    with pytest.raises(InputError, match="positive weight"):
        hs.KernelAdaTron(multi_class=multi_class).fit(X, Y3, sample_weight=(Y3 != 1) * 1.0)


# ---------------------------------------------------------------- many classes
@quiet
@every_kind
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("classes", [3, 4])
def test_many_classes(intercept, multi_class, classes):
    """Each against the rest or each against each: shapes, proofs, table, and the same answer for any number of threads."""
    rng = np.random.default_rng(0)
    data = rng.standard_normal((40, 2))
    labels = np.array(["a", "b", "c", "d"])[
        (np.arctan2(data[:, 0], data[:, 1]) / np.pi * classes / 2 + classes / 2).astype(int) % classes
    ]
    models = [
        hs.KernelAdaTron(C=5.0, intercept=intercept, multi_class=multi_class, n_jobs=j).fit(data, labels) for j in (1, 2, -1)
    ]
    for model in models:
        assert_array_equal(model.alpha_, models[0].alpha_)
        assert_array_equal(model.decision_function(data), models[0].decision_function(data))
    model, problems = models[0], classes if multi_class == "ovr" else classes * (classes - 1) // 2
    sound(model, data, labels)
    assert model.alpha_.shape == (problems, 40)
    assert model.dual_coef_.shape == (problems, model.support_.size)
    assert model.decision_function(data).shape == (40, classes)
    assert model.score(data, labels) > 0.85
    table = model.support_table()
    assert len(table) == np.count_nonzero(model.alpha_)
    assert table["class"].nunique() == problems
    if multi_class == "ovo":
        assert all(row.label in row["class"].split(" or ") for _, row in table.iterrows())
        everyone = model.support_table(everyone=True)
        assert len(everyone) == (classes - 1) * 40


# ---------------------------------------------------------------- no errors tolerated
@every_kind
def test_the_largest_margin(intercept):
    """C = inf on separable data: a bracket of the margin, the least potential 1, and SVC's plane for a large C."""
    data, labels = moons(40, 0.05)
    model = hs.KernelAdaTron(C=np.inf, gamma=2.0, intercept=intercept, tol=1e-6).fit(data, labels)
    sound(model, data, labels)
    lower, upper = model.certificate_.margin
    assert 0 < lower <= upper <= lower * (1 + 1e-6)
    E = np.where(labels == 1, 1.0, -1.0) * model.decision_function(data)
    assert E.min() == pytest.approx(1.0, abs=1e-3)
    if intercept == "free":
        peer = SVC(C=1e6, gamma=2.0, tol=1e-8).fit(data, labels)
        assert_allclose(model.decision_function(data), peer.decision_function(data), atol=1e-2)


INSEPARABLE = {
    "contradicting duplicates": ("rbf", np.vstack([X, X]), np.r_[Y, 1 - Y]),
    "one example twice": ("rbf", np.vstack([X, X[:1]]), np.r_[Y, 0]),
    "XOR by a line": ("linear", XOR, XOR_Y),
    "two equal rows": ("rbf", X[[0, 0]], np.array([0, 1])),
    "nothing but zeros": ("linear", np.zeros((9, 2)), Y),
}


@pytest.mark.compiled
@every_kind
@pytest.mark.parametrize("name", INSEPARABLE)
def test_what_cannot_be_separated_is_said_aloud(name, intercept):
    """C = inf on inseparable data: a warning, an infinite gap and a remedy, never a silent return."""
    kernel, data, labels = INSEPARABLE[name]
    model = hs.KernelAdaTron(kernel, C=np.inf, intercept=intercept, max_iter=50)
    with pytest.warns(NotSeparatedWarning, match="finite C"):
        model.fit(data, labels)
    assert model.certificate_.relative_gap == np.inf
    sound(model, data, labels)


@pytest.mark.compiled
@every_kind
@pytest.mark.parametrize("name", INSEPARABLE)
def test_what_cannot_be_separated_ends_by_itself(name, intercept):
    """A handful of inseparable examples does not keep a machine busy for seconds."""
    kernel, data, labels = INSEPARABLE[name]
    with pytest.warns(NotSeparatedWarning):
        model = hs.KernelAdaTron(kernel, C=np.inf, intercept=intercept, max_time=5.0).fit(data, labels)
    assert model.outcome_.reason != "time budget spent"


# ---------------------------------------------------------------- hostile data
@pytest.mark.compiled
@every_kind
@pytest.mark.parametrize("C", [1.0, 1000.0, 1e6])
def test_duplicates_and_contradictions_with_large_caps(C, intercept):
    """Each example twice, or with both labels: converged at any cap, and proved."""
    for labels in (np.r_[Y, Y], np.r_[Y, 1 - Y], np.r_[Y, Y[:8], 1 - Y[8]]):
        data = np.vstack([X, X])
        model = hs.KernelAdaTron(C=C, intercept=intercept, max_time=5.0).fit(data, labels)
        sound(model, data, labels)
        assert model.outcome_.reason == "converged"


@pytest.mark.compiled
@quiet
@every_kind
@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize(
    "data",
    [
        np.c_[X, np.ones(9), np.zeros(9), np.full(9, -3.0)],
        np.zeros((9, 2)),
        np.tile(X[:1], (9, 1)),
        np.vstack([np.zeros((3, 2)), X[3:]]),
        X * 1e70,
        X * 1e-70,
        X * np.array([1e70, 1e-70]),
        X * np.array([1.0, 5e-324]),
        X * np.logspace(-60, 60, 9)[:, None],
        X + 1e10,
    ],
    ids=["constant", "zeros", "one row", "zero rows", "huge", "tiny", "both", "denormal", "all sizes", "far"],
)
def test_hostile_numbers_are_refused_or_proved(data, C, intercept):
    """Degenerate and extreme data are fitted with a true certificate, or refused with the hint to scale."""
    for kernel in ("rbf", "linear", "poly"):
        model = hs.KernelAdaTron(kernel, C=C, intercept=intercept, max_iter=20)
        try:
            model.fit(data, Y)
        except InputError as error:
            assert "cale" in str(error)  # noqa: PT017
        else:
            sound(model, data, Y)


@quiet
@every_kind
@pytest.mark.parametrize("gamma", [1e-30, 1e-9, 1e-3, 1e3, 1e9, 1e30])
def test_any_gamma(gamma, intercept):
    """Kernels that see everything as one point, or every point for itself, give true certificates."""
    for C in (1.0, 1000.0):
        sound(hs.KernelAdaTron(gamma=gamma, C=C, intercept=intercept, max_iter=20).fit(X, Y), X, Y)


@pytest.mark.compiled
@every_kind
@pytest.mark.parametrize("factor", [1e-5, 1e5])
def test_units_do_not_matter_to_a_linear_kernel(factor, intercept):
    """Features in other units: caps scale with the square of the unit, and the fit converges as before."""
    model = hs.KernelAdaTron("linear", C=factor**-2, intercept=intercept, intercept_scaling=factor).fit(X * factor, Y)
    assert model.outcome_.reason == "converged"
    sound(model, X * factor, Y)


@every_kind
def test_two_examples_are_enough(intercept):
    """The smallest problem there is: the function between two points."""
    data, labels = np.array([[3.0], [1.0 if intercept == "free" else -1.0]]), np.array(["b", "a"])
    model = hs.KernelAdaTron("linear", C=np.inf, intercept=intercept, tol=1e-9).fit(data, labels)
    sound(model, data, labels)
    assert_array_equal(model.predict(data), labels)
    if intercept == "free":
        assert_allclose(model.decision_function(np.array([[2.0]])), [0.0], atol=1e-6)


@pytest.mark.compiled
@every_kind
def test_several_thousand_examples_with_levels(intercept):
    """Nested samples: 5,000 examples of which 3 % are positive, the same optimum as SVC, proved in double precision."""
    data, labels = make_classification(5000, 8, weights=[0.97], class_sep=0.7, flip_y=0.01, random_state=0)
    model = hs.KernelAdaTron(C=10.0, intercept=intercept).fit(data.astype(np.float32), labels)
    assert model.outcome_.reason == "converged"
    assert model.certificate_.verify(data.astype(np.float32), labels)
    if intercept == "free":
        peer = SVC(C=10.0).fit(data, labels)
        signed = np.zeros(5000)
        signed[peer.support_] = peer.dual_coef_[0]
        primal, dual = objective(model.kernel_, data, labels, signed, peer.intercept_, 10.0)
        assert model.certificate_.dual <= primal * (1 + 1e-6)
        assert dual <= model.certificate_.primal * (1 + 1e-6)


@pytest.mark.compiled
@quiet
def test_little_memory_is_enough():
    """A working set with little room gives the same answer, and a matrix that cannot fit is refused with ways out."""
    data, labels = moons(2000, 0.35)
    model = hs.KernelAdaTron(C=1.0, cache_size=0.3).fit(data, labels)
    assert model.certificate_.verify(data, labels)
    plain = hs.KernelAdaTron(C=1.0).fit(data, labels)
    assert model.certificate_.primal >= plain.certificate_.dual
    with pytest.raises(InputError, match="cells"):
        hs.KernelAdaTron(solver="sweep", cache_size=1.0).fit(data, labels)


# ---------------------------------------------------------------- what is no kernel
def test_what_is_no_kernel_is_refused():
    """A matrix or function that is not positive semi-definite is refused with its eigenvalue; one that is not square, too."""
    box = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
    labels = np.array([0, 1, 0])
    with pytest.raises(InputError, match=r"positive semi-definite.*-0\.414"):
        hs.KernelAdaTron("precomputed").fit(box, labels)
    line = np.array([[1.0], [2.0], [3.0]])
    with pytest.raises(InputError, match="positive semi-definite"):
        hs.KernelAdaTron(lambda a, b: float(abs(a[0] - b[0]) <= 1)).fit(line, labels)
    with pytest.raises(InputError, match="positive semi-definite"):
        hs.KernelAdaTron("sigmoid", gamma=1.0, coef0=-1.0).fit(X, Y)
    with pytest.raises(InputError, match="square"):
        hs.KernelAdaTron("precomputed").fit(X, Y)
    with pytest.raises(InputError, match="symmetric"):
        hs.KernelAdaTron("precomputed").fit(np.array([[1.0, 0.5], [0.0, 1.0]]), np.array([0, 1]))


REFUSED = {
    "kernel": ["gauss", 3, None, ["rbf"]],
    "C": [0, -1.0, np.nan, "1", True, None, 1e60],
    "gamma": [0.0, -1.0, "wide", np.nan],
    "tol": [0.0, 1.0, "a", np.inf],
    "intercept": ["bias", None, True],
    "multi_class": ["crammer", None],
    "solver": ["newton", None],
    "max_iter": [0, 1.5, True],
    "max_time": [0, -1.0, "a"],
    "cache_size": [0.0, -1, "a"],
    "n_cells": [0, -1, 2.5, True],
    "class_weight": ["unbalanced", {1: -1.0}],
    "n_jobs": [0, 1.5],
    "random_state": ["seed"],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in REFUSED.items() for value in values], ids=str)
def test_bad_parameters_are_refused_by_name(name, value):
    """A parameter that cannot be used is refused by name, before anything is learnt or changed."""
    model = hs.KernelAdaTron().fit(X, Y).set_params(**{name: value})
    before = state_of(model)
    with pytest.raises(ValueError, match=name):
        model.fit(X, Y)
    assert state_of(model) == before


@pytest.mark.parametrize(
    ("data", "labels"),
    [(np.where(X == 1.5, np.nan, X), Y), (X, np.ones(9)), (X, Y[:-1]), (X * 1e160, Y), (X[:, 0], Y), (np.empty((0, 2)), [])],
    ids=["NaN", "one class", "labels too few", "overflowing", "one dimension", "no rows"],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_bad_data_are_refused_and_the_old_model_stays(data, labels):
    """Data that cannot be used are refused, and the old model is as it was."""
    model = hs.KernelAdaTron(warm_start=True).fit(X, Y)
    before = state_of(model)
    with pytest.raises(ValueError, match=r"(?s)."):
        model.fit(data, labels)
    assert state_of(model) == before
    with pytest.raises(ValueError, match="X"):
        model.predict(np.full((1, 2), np.nan))
    with pytest.raises((NotFittedError, AttributeError), match="fit"):
        hs.KernelAdaTron().predict(X)


# ---------------------------------------------------------------- budgets
def test_one_round_is_too_few_and_said_so():
    """max_iter=1 warns with the true gap at the caller's line, and a warm start goes on from there."""
    data, labels = moons(60)
    model = hs.KernelAdaTron(C=100.0, gamma=5.0, tol=1e-8, max_iter=1, solver="sweep", warm_start=True)
    with pytest.warns(GapWarning, match="iteration budget") as caught:
        model.fit(data, labels)
    assert caught[0].filename == __file__
    gap = model.certificate_.relative_gap
    sound(model, data, labels)
    model.set_params(max_iter=20, solver="auto")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(data, labels)
    assert model.certificate_.relative_gap < gap


@every_kind
def test_a_warm_start_on_the_same_data_is_nearly_free(intercept):
    """Fit again with warm_start: no more than one round; with another C it goes on from the old strengths."""
    data, labels = moons(60)
    model = hs.KernelAdaTron(C=5.0, intercept=intercept, warm_start=True).fit(data, labels)
    assert model.fit(data, labels).n_iter_ <= 1
    model.set_params(C=6.0).fit(data, labels)
    sound(model, data, labels)
    assert model.alpha_.max() <= 6.0
    cold = hs.KernelAdaTron(C=6.0, intercept=intercept).fit(data, labels)
    assert model.certificate_.dual <= cold.certificate_.primal
    assert cold.certificate_.dual <= model.certificate_.primal
    model.fit(data[:50], labels[:50])  # as many as before no more: from the start
    sound(model, data[:50], labels[:50])
    assert model.set_params(gamma=3.0).fit(X, Y3).alpha_.shape == (3, 9)


@pytest.mark.compiled
def test_time_is_kept():
    """max_time ends a fit in time, with a warning and a true certificate."""
    data, labels = moons(6000, 0.4)
    hs.KernelAdaTron().fit(data[:100], labels[:100])
    with pytest.warns(GapWarning, match="time budget"):
        model = hs.KernelAdaTron(C=1e5, gamma=50.0, tol=1e-9, max_time=0.5).fit(data, labels)
    assert model.history_["seconds"][-1] < 1.5
    assert model.certificate_.verify(data, labels)


@pytest.mark.compiled
@pytest.mark.parametrize("multi", [False, True])
def test_ctrl_c_keeps_the_best_so_far(multi):
    """Ctrl-C is an outcome, not an error: what was learnt stays, with its true gap."""
    data, labels = moons(6000, 0.4)
    if multi:
        labels = labels + 2 * (data[:, 0] > 0.5)
    model = hs.KernelAdaTron(C=1e5, gamma=50.0, tol=1e-10, max_time=60.0)
    hs.KernelAdaTron().fit(data[:100], labels[:100])
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # in case the tests run in the background
    timer = threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        model.fit(data, labels)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    assert model.outcome_.reason == "interrupted"
    assert "warm_start" in model.outcome_.remedy
    assert model.certificate_.verify(data, labels)


class Listener:
    """A callback of scikit-learn that counts, and asks to stop when told to."""

    def __init__(self, stop_at=None):
        self.stop_at, self.count = stop_at, 0

    def setup(self, estimator, context): ...

    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context):
        del estimator, context
        self.count += 1
        return self.count == self.stop_at

    def teardown(self, estimator, context): ...


def test_callbacks_are_called_and_can_stop():
    """scikit-learn's callbacks hear of every sweep and may end the fit."""
    data, labels = moons(30)
    listener = Listener(stop_at=2)
    model = hs.KernelAdaTron(C=100.0, tol=1e-9, solver="sweep").set_callbacks(listener).fit(data, labels)
    assert listener.count >= 2
    assert model.outcome_.reason == "stopped by callback"
    sound(model, data, labels)


def test_progress_is_told_on_request(capsys):
    """verbose=2 tells gaps and the outcome on standard error; silence is the default."""
    hs.KernelAdaTron().fit(X, Y)
    assert capsys.readouterr() == ("", "")
    hs.KernelAdaTron(verbose=2).fit(X, Y)
    told = capsys.readouterr()
    assert told.out == ""
    assert "[KernelAdaTron]" in told.err
    assert "relative gap" in told.err
    assert "Converged" in told.err
    hs.KernelAdaTron(verbose=2).fit(X, Y3)
    assert "problem 3 of 3" in capsys.readouterr().err


# ---------------------------------------------------------------- what it tells
@every_kind
@pytest.mark.parametrize("C", [0.2, np.inf])
def test_the_table_of_support_vectors(intercept, C):
    """Roles partition the examples; stability is y f/‖f‖ in the kernel's space with the clamped input in it."""
    data, labels = moons(24, 0.1)
    model = hs.KernelAdaTron(C=C, gamma=1.0, intercept=intercept, intercept_scaling=2.0, tol=1e-7).fit(data, labels)
    table, alpha = model.support_table(everyone=True), model.alpha_
    signed = alpha * np.where(labels == 1, 1.0, -1.0)
    K = ks.RBF(1.0).exact(data, data) + (4.0 if intercept == "clamped" else 0.0)
    E = np.where(labels == 1, 1.0, -1.0) * model.decision_function(data)
    assert_array_equal(table["strength"], alpha)
    assert_allclose(table["stability"], E / np.sqrt(signed @ K @ signed), rtol=1e-4)
    assert_allclose(table["slack"], np.maximum(0.0, 1.0 - E), atol=1e-4)
    assert_array_equal(table["role"], np.where(alpha == 0, "outside", np.where(alpha == C, "capped", "free")))
    assert_array_equal(model.support_table()["row"], model.support_)
    assert_array_equal(model.support_vectors_, data[model.support_])
    assert_allclose(model.dual_coef_[0], signed[model.support_])
    if intercept == "clamped":
        assert_allclose(model.intercept_, 4.0 * signed.sum())


def test_history_ends_at_the_certificate():
    """The course of a fit goes on in time and ends at the certificate's values."""
    data, labels = moons(60)
    model = hs.KernelAdaTron(C=10.0, tol=1e-5).fit(data, labels)
    history = model.history_
    assert set(history) == {"round", "seconds", "primal", "dual"}
    assert (np.diff(history["seconds"]) >= 0).all()
    assert history["primal"][-1] == pytest.approx(model.certificate_.primal, rel=1e-5)
    assert history["dual"][-1] == pytest.approx(model.certificate_.dual, rel=1e-5)
    assert history["round"][-1] == model.n_iter_


@every_kind
def test_a_corrupted_certificate_is_refuted(intercept):
    """Whoever changes a number of the proof, the data, or the labels is found out."""
    data, labels = moons(30)
    proof = hs.KernelAdaTron(C=2.0, gamma=1.0, intercept=intercept).fit(data, labels).certificate_
    assert proof.verify(data, labels)
    strengths = proof.strengths.copy()
    strengths[0] *= 0.5
    changes = [
        {"primal": proof.primal * (1 - 1e-5)},
        {"dual": min(proof.dual * (1 + 1e-4), proof.primal)},
        {"dual": proof.primal},
        {"strengths": strengths},
        {"strengths": proof.strengths * 1.5},
        {"C": 1.0},
        {"kernel": ks.RBF(1.1)},
        {"rows": np.roll(proof.rows, 1)},
        {"clamp": proof.clamp + 0.5, "free": False, "bias": 0.0},
        {"bias": proof.bias + 0.1, "free": True, "clamp": 0.0},
        {"positive": 5},
    ]
    for change in changes:
        assert not replace(proof, **change).verify(data, labels), change
    assert not proof.verify(data * 1.01, labels)
    assert not proof.verify(data, np.roll(labels, 1))
    assert not proof.verify(data[::-1], labels)
    assert not proof.verify(data[:-1], labels[:-1])


def test_zero_output_is_the_negative_class():
    """f(x) = 0 predicts the negative class, the first in order."""
    model = hs.KernelAdaTron("linear", intercept="none").fit(np.array([[1.0], [-1.0]]), np.array(["yes", "no"]))
    assert model.predict(np.array([[0.0]])) == ["no"]


# ---------------------------------------------------------------- scikit-learn's habits
def test_kernel_parameters_in_searches():
    """`kernel__gamma` reaches into a kernel value in set_params, a grid search and a pipeline; clones keep it."""
    data, labels = moons(40, 0.1)
    search = GridSearchCV(hs.KernelAdaTron(ks.RBF(1.0)), {"kernel__gamma": [1e-6, 1.0], "C": [1.0]}, cv=2).fit(data, labels)
    assert search.best_params_["kernel__gamma"] == 1.0
    pipe = make_pipeline(StandardScaler(), hs.KernelAdaTron(ks.RBF(1.0) + ks.Linear()))
    search = GridSearchCV(pipe, {"kerneladatron__kernel__left__gamma": [1e-6, 2.0]}, cv=2).fit(data, labels)
    assert search.score(data, labels) > 0.9
    assert str(search.best_estimator_[-1].kernel_) == str(ks.RBF(2.0) + ks.Linear())
    model = hs.KernelAdaTron(ks.RBF(1.0)).set_params(kernel__gamma=3.0, C=2.0)
    assert (model.kernel, model.C) == (ks.RBF(3.0), 2.0)
    assert clone(model).kernel == ks.RBF(3.0)
    with pytest.raises(InputError, match="gamma"):
        hs.KernelAdaTron("rbf").set_params(kernel__gamma=3.0)


def test_precomputed_matrices_in_searches():
    """Cross-validation cuts rows and columns of a precomputed matrix."""
    data, labels = moons(40, 0.1)
    K = ks.RBF(2.0).exact(data, data)
    search = GridSearchCV(hs.KernelAdaTron("precomputed"), {"C": [0.001, 10.0]}, cv=2).fit(K, labels)
    assert search.best_params_["C"] == 10.0
    assert search.score(K, labels) > 0.9


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))], ids=["deepcopy", "pickle"])  # noqa: S301
def test_copies_go_on(copied):
    """A copy predicts the same and has the same certificate."""
    model = hs.KernelAdaTron(warm_start=True).fit(X, Y)
    other = copied(model)
    assert_array_equal(other.decision_function(X), model.decision_function(X))
    assert other.certificate_.verify(X, Y)
    assert other.fit(X, Y).n_iter_ <= 1


def test_nothing_given_is_changed_or_kept():
    """Fit writes neither to X nor to y, and the model does not change when they do later."""
    data, labels = X.copy(), Y.copy()
    model = hs.KernelAdaTron().fit(data, labels)
    assert_array_equal(data, X)
    assert_array_equal(labels, Y)
    table = model.support_table(everyone=True)  # makes what is made when asked for
    state = state_of(model)
    data[:], labels[:] = 0.0, 7
    assert state_of(model) == state
    assert table.equals(model.support_table(everyone=True))


def test_labels_of_any_kind():
    """Words, bools and large numbers as labels come back as they were, and in the certificate's file."""
    for labels in (np.where(Y == 1, "spam", "ham"), Y == 1, np.where(Y == 1, 2**60, -(2**60)), pd.Series(Y + 5)):
        model = hs.KernelAdaTron().fit(X, labels)
        assert set(model.predict(X).tolist()) == set(np.asarray(labels).tolist())
        assert from_json(json.dumps(json.loads(model.certificate_.to_json()))).verify(X, labels)


@pytest.mark.compiled
def test_the_same_seed_gives_the_same_answer():
    """With one seed the answer is the same to the last bit, and any other seed gives the same function to the tolerance."""
    data, labels = moons(4000, 0.3)
    first, second, third = (hs.KernelAdaTron(C=10.0, random_state=seed).fit(data, labels) for seed in (0, 0, 7))
    assert_array_equal(first.alpha_, second.alpha_)
    assert first.certificate_.dual <= third.certificate_.primal
    assert third.certificate_.dual <= first.certificate_.primal


@pytest.mark.compiled
def test_a_forked_process_can_fit():
    """A process forked after a fit, whose threads it has not inherited, can fit as well."""
    import multiprocessing

    data, labels = moons(4000, 0.3)

    def work():
        hs.KernelAdaTron(tol=0.1).fit(data, labels).predict(data)

    work()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 and later warn of forks beside threads
        child = multiprocessing.get_context("fork").Process(target=work)
        child.start()
    child.join(30)
    alive = child.is_alive()
    if alive:
        child.kill()
    assert not alive
    assert child.exitcode == 0


@pytest.mark.parametrize("params", [{}, {"intercept": "free"}, {"multi_class": "ovo"}, {"n_cells": 4}], ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_model_whose_coefficients_were_changed_does_not_verify(params, classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y >= 3 - classes], np.array(["a", "b", "c"])[y[y >= 3 - classes]]
    model = hs.KernelAdaTron(**params).fit(X, y)
    assert model.verify(X, y)
    coefficients = model._expansion.coefficients
    coefficients.setflags(write=True)
    coefficients[:] *= -1.0
    assert not model.verify(X, y)
    coefficients[:] *= -1.0
    assert model.verify(X, y)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"solver": "sweep"},
        {"intercept": "free"},
        {"C": np.inf},
        {"n_cells": 3},
        {"classes": 3},
        {"classes": 3, "multi_class": "ovo"},
    ],
    ids=lambda given: ", ".join(map(str, given.values())) or "plain",
)
def test_callbacks_see_a_model_that_predicts(given):
    """A callback scores what is known so far, at the end the final model, and the fit is the same bit for bit."""
    options = {"C": 10.0, "random_state": 0, **given}
    count = options.pop("classes", 2)
    X = np.random.default_rng(0).standard_normal((80, 2))
    y = (X[:, 0] > 0).astype(int) if np.isinf(options["C"]) else np.floor(np.abs(X[:, 0]) * 2.0).clip(max=count - 1).astype(int)
    monitor = ScoringMonitor(scoring="accuracy")
    watched = hs.KernelAdaTron("rbf", **options).set_callbacks(monitor).fit(X, y)
    plain = hs.KernelAdaTron("rbf", **options).fit(X, y)
    assert np.array_equal(watched.decision_function(X), plain.decision_function(X))
    log = monitor.get_logs()
    scores = (log[0] if isinstance(log, list) else log).data_as_pandas["accuracy"].dropna()
    assert scores.between(0.0, 1.0).all()
    assert scores.iloc[-1] == plain.score(X, y)


def test_a_problem_stopped_by_its_share_goes_on_from_its_answer():
    """The answer of a problem that was cut, some of whose examples have no weight, is where its next share of time begins."""
    rng = np.random.default_rng(0)
    X, s = rng.standard_normal((300, 3)), np.r_[np.zeros(40), np.ones(260)]
    sign = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    task = Task(np.arange(300), sign, s, 1)
    claims = Claims.about(
        Examples(X, sign, X, np.array([-1.0, 1.0]), (sign > 0).astype(int), (X * X).sum(axis=1), 1.0),
        hs.kernels.RBF(1.0),
        0.0,
        KernelPlan(10.0, 1e-3, free=False, sweep=False, room=1000),
    )
    work = claims.work(LazyGram(hs.kernels.RBF(1.0), X, 1.0), task, 0)
    cut = work.runner()(Budget(1000, 0.0), None)
    end = work.runner()(Budget(1000), cut)
    assert cut.outcome.reason == "time budget spent"
    assert end.outcome.reason == "converged"
    assert end.rounds >= cut.rounds
    answer = work.answer(end)
    assert answer.primal - answer.dual <= 1e-3 * answer.primal
    assert not answer.b[:40].any()
