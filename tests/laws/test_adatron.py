"""The laws of the AdaTron: one plane, whatever the way to it, and a proof at every moment."""

import signal
import time
from functools import lru_cache
from itertools import pairwise
from math import comb

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, sparse
from sklearn.callback import ScoringMonitor
from sklearn.svm import SVC, LinearSVC

import halfspace as hs
from halfspace.certificates.margins.separability import Separability
from halfspace.errors import GapWarning, NotSeparatedWarning
from halfspace.models.planes.minover import MinOver
from halfspace.questions.separability import separability
from halfspace.rows.operations import squared_norms
from halfspace.rows.views import view_of
from halfspace.solvers.linear.shrinking import ascend
from halfspace.solvers.linear.soft_margin import Pace, Problem, dual_value, primal_value
from halfspace.solvers.rules.adatron import AdaTron as Rule
from halfspace.solvers.rules.sweep import strengthen

KINDS = ("clamped", "free", "none")
every_kind = pytest.mark.parametrize("intercept", KINDS)
hard_and_soft = pytest.mark.parametrize("C", [np.inf, 1.0], ids=["hard", "soft"])
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@lru_cache
def clouds(n=40, d=3, noise=0.8, seed=0, gap=0.0):
    """Return two classes that overlap, or that a plane through the origin separates by `gap` for noise 0."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    teacher = np.ones(d) / np.sqrt(d)
    y = np.where(X @ teacher + noise * rng.standard_normal(n) > 0, 1, -1)
    X = X + gap * y[:, None] * teacher
    X.setflags(write=True)
    return X, y


def data_for(C, n=40, d=3, seed=0):
    return clouds(n, d, 0.0, seed, 0.1) if np.isinf(C) else clouds(n, d, 0.8, seed)


def plane(model):
    return np.append(model.coef_.ravel(), model.intercept_)


def same_plane(one, other, tol=1e-4):
    """Tell whether two planes agree to `tol` of their length."""
    assert_allclose(plane(one), plane(other), atol=tol * np.linalg.norm(plane(other)), rtol=0)


def fitted(X, y, sample_weight=None, **settings):
    settings = {"tol": 1e-9, "max_iter": 20_000} | settings
    return hs.AdaTron(**settings).fit(X, y, sample_weight=sample_weight)


def objective(w, b, X, y, C, clamp=0.0):
    """Return the value of a plane: what the weights cost, a clamped one included, and the errors."""
    extra = (b / clamp) ** 2 if clamp else 0.0
    return 0.5 * (w @ w + extra) + C * np.maximum(0.0, 1.0 - y * (X @ w + b)).sum()


# ---------------------------------------------------------------- the rule
def test_rule_is_the_textbooks():
    """A step is min(C, max(0, alpha + rate (1 - E)/q)) - alpha, by hand."""
    assert strengthen(Rule(1.0, 10.0), 0.5, 0.25, 2.0, 1.0) == 0.25
    assert strengthen(Rule(1.5, 10.0), 0.5, 0.25, 2.0, 1.0) == 0.375
    assert strengthen(Rule(1.0, 0.3), 0.5, 0.25, 2.0, 1.0) == pytest.approx(0.05)
    assert strengthen(Rule(1.0, 0.3), 0.5, 0.25, 2.0, 2.0) == 0.25  # a weight of 2 doubles the cap
    assert strengthen(Rule(1.0, np.inf), 3.0, 0.25, 2.0, 1.0) == -0.25


def problem_of(X, y, C, clamp=0.0):
    view = view_of(X, clamp)
    return Problem(view, y.astype(float), np.full(y.size, float(C)), squared_norms(view))


@pytest.mark.parametrize("rate", [0.1, 0.5, 1.0, 1.5, 1.9])
@hard_and_soft
def test_the_dual_rises_every_sweep_and_the_gap_is_a_proof(rate, C):
    """Every sweep of the plain rule raises the dual, and at every moment dual <= optimum <= primal."""
    X, y = data_for(C)
    problem = problem_of(X, y, C, 1.0)
    best = hs.AdaTron(C=C, tol=1e-10, max_iter=50_000).fit(X, y).certificate_
    alpha, w = np.zeros(y.size), np.zeros(X.shape[1] + 1)
    rng, duals, points = np.random.default_rng(0), [], 0
    for beat in ascend(problem, alpha, w, rng, tol=1e-9, rate=rate, shrink=False, pace=Pace()):
        if beat.point is None:
            continue
        points += 1
        duals.append(float(alpha.sum() - 0.5 * w @ w))
        assert_allclose(w, (alpha * y) @ np.c_[X, np.ones(y.size)], atol=1e-9 * (1 + np.abs(w).max()))
        assert (alpha >= 0).all()
        assert (alpha <= C).all()
        assert beat.point.dual <= best.primal * (1 + 1e-12)
        assert beat.point.primal >= best.dual * (1 - 1e-12)
        assert beat.point.primal == pytest.approx(primal_value(problem, w))
        assert beat.point.dual == pytest.approx(dual_value(problem, alpha, w))
        if points == 60:
            break
    assert all(after >= before - 1e-12 * abs(before) for before, after in pairwise(duals))
    assert duals[-1] > duals[0]


@pytest.mark.parametrize("rate", [0.5, 1.0, 1.5, 1.9])
@pytest.mark.parametrize("solver", ["auto", "sweep"])
@hard_and_soft
def test_every_rate_leads_to_the_same_plane(rate, solver, C):
    """The plane does not depend on the rate between 0 and 2, nor on the solver."""
    X, y = data_for(C)
    same_plane(fitted(X, y, C=C, rate=rate, solver=solver), fitted(X, y, C=C))


# ---------------------------------------------------------------- one plane
@every_kind
@hard_and_soft
def test_kkt_points_share_their_plane(intercept, C):
    """Different seeds, solvers and starts end in the same plane, and its strengths satisfy the KKT conditions."""
    X, y = data_for(C)
    first = fitted(X, y, C=C, intercept=intercept)
    for settings in ({"random_state": 7}, {"solver": "sweep"}, {"rate": 0.7}):
        same_plane(fitted(X, y, C=C, intercept=intercept, **settings), first)
    warm = hs.AdaTron(C=C, intercept=intercept, tol=0.3, warm_start=True, max_iter=20_000).fit(X, -y)
    same_plane(warm.set_params(tol=1e-9).fit(X, y), first)
    E, alpha = y * first.decision_function(X), first.alpha_
    assert_allclose((alpha * y) @ X, first.coef_[0], atol=1e-3 * np.linalg.norm(first.coef_))
    strong = alpha > 1e-3 * alpha.max()
    assert (E[~strong] > 1 - 1e-3).all()
    assert (E[strong & (alpha >= C)] < 1 + 1e-3).all()
    assert_allclose(E[strong & (alpha < 0.999 * C)], 1.0, atol=1e-3)
    if intercept == "free":
        assert abs((alpha * y).sum()) <= 1e-9 * alpha.sum()


@pytest.mark.parametrize("seed", range(4))
def test_the_margin_is_one_over_the_length(seed):
    """For C = inf kappa_max = 1/‖w‖, inside the bracket, the bracket of MinOver, and what the exact LP allows."""
    X, y = clouds(30, 3, 0.0, seed, 0.2)
    model = fitted(X, y, C=np.inf, intercept="none")
    kappa = (y * model.decision_function(X)).min() / np.linalg.norm(model.coef_)
    assert kappa == pytest.approx(1.0 / np.linalg.norm(model.coef_), rel=1e-6)
    lower, upper = model.certificate_.margin
    assert lower <= upper
    assert lower == pytest.approx(kappa, rel=1e-6)
    assert upper == pytest.approx(kappa, rel=1e-6)
    pushed = MinOver(tol=0.02, intercept="none", max_iter=20_000).fit(X, y).certificate_
    assert pushed.lower <= upper
    assert lower <= pushed.upper
    proof = separability(X, y, intercept="none")
    assert proof.verdict == "separable"
    assert proof.margin <= upper


@every_kind
@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-8])
def test_the_hard_plane_has_least_potential_one(intercept, tol):
    """For C = inf the plane is scaled so that the least potential is 1, and the strengths so that w = Σ alpha_i y_i x_i."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n, d = rng.integers(4, 30), rng.integers(1, 6)
        X = rng.standard_normal((n, d))
        y = np.where(X @ rng.standard_normal(d) > 0, 1, -1)
        if y.min() == y.max():
            continue
        model = hs.AdaTron(C=np.inf, intercept=intercept, tol=tol).fit(X, y)
        assert (y * model.decision_function(X)).min() == pytest.approx(1.0, abs=3 * np.sqrt(tol))
        v = (model.alpha_ * y) @ X
        assert np.linalg.norm(v - model.coef_[0]) <= 3 * np.sqrt(tol) * np.sqrt(2 * model.certificate_.primal)


def test_large_caps_tend_to_the_hard_margin():
    """The larger C, the nearer the plane to that of C = inf; beyond the largest strength it is the same."""
    X, y = clouds(30, 2, 0.0, 3, 0.15)
    hard = fitted(X, y, C=np.inf)
    far = [np.linalg.norm(plane(fitted(X, y, C=C)) - plane(hard)) for C in (0.01, 1.0, 2.0 * hard.alpha_.max())]
    assert far[0] > far[1] > far[2]
    assert far[2] <= 1e-4 * np.linalg.norm(plane(hard))


def quadratic_programme(X, y, C, *, free):
    """Solve the dual of a tiny instance with scipy and return w, b and the optimum."""
    Z = y[:, None] * X
    Q = Z @ Z.T
    balance = [{"type": "eq", "fun": lambda a: a @ y, "jac": lambda _: y.astype(float)}] if free else []
    found = optimize.minimize(
        lambda a: 0.5 * a @ Q @ a - a.sum(),
        np.full(y.size, 1e-3),
        jac=lambda a: Q @ a - 1.0,
        bounds=[(0.0, None if np.isinf(C) else C)] * y.size,
        constraints=balance,
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 2000},
    )
    alpha = found.x
    w = (alpha * y) @ X
    on = (alpha > 1e-6 * alpha.max()) & (alpha < 0.999 * C)
    return w, float(np.mean(y[on] - X[on] @ w)) if free else 0.0, -found.fun


@every_kind
@pytest.mark.parametrize("C", [0.1, 10.0, np.inf])
def test_agrees_with_a_quadratic_programme(intercept, C):
    """On a tiny instance AdaTron, scipy's SLSQP and the certificate agree on the optimum and the plane."""
    X, y = clouds(10, 2, 0.0 if np.isinf(C) else 0.8, 4, 0.3)
    model = fitted(X, y, C=C, intercept=intercept)
    inputs = np.c_[X, np.ones(y.size)] if intercept == "clamped" else X
    w, b, optimum = quadratic_programme(inputs, y, C, free=intercept == "free")
    w, b = (w[:-1], w[-1]) if intercept == "clamped" else (w, b)
    assert_allclose(plane(model), np.append(w, b), atol=2e-4 * (1 + np.linalg.norm(w)))
    assert model.certificate_.primal == pytest.approx(optimum, rel=1e-6)
    assert model.certificate_.dual == pytest.approx(optimum, rel=1e-6)


@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_agrees_with_libsvm(C):
    """With a free bias AdaTron finds the plane of scikit-learn's SVC (LIBSVM)."""
    X, y = clouds(60, 3)
    model = fitted(X, y, C=C, intercept="free")
    peer = SVC(kernel="linear", C=C, tol=1e-9).fit(X, y)
    assert_allclose(plane(model), plane(peer), atol=1e-4 * np.linalg.norm(plane(peer)))
    value = objective(peer.coef_[0], peer.intercept_[0], X, y, C)
    assert model.certificate_.dual <= value * (1 + 1e-9)
    assert model.certificate_.primal == pytest.approx(value, rel=1e-6)


@quiet
@pytest.mark.parametrize("scaling", [1.0, 5.0])
@pytest.mark.parametrize("C", [0.05, 1.0])
def test_agrees_with_liblinear(C, scaling):
    """With a clamped input AdaTron finds the plane of scikit-learn's LinearSVC (LIBLINEAR)."""
    X, y = clouds(60, 3)
    model = fitted(X, y, C=C, intercept_scaling=scaling)
    peer = LinearSVC(loss="hinge", C=C, tol=1e-10, max_iter=100_000, intercept_scaling=scaling, random_state=0).fit(X, y)
    assert_allclose(plane(model), plane(peer), atol=1e-3 * np.linalg.norm(plane(peer)))
    value = objective(peer.coef_[0], peer.intercept_[0], X, y, C, clamp=scaling)
    assert model.certificate_.dual <= value * (1 + 1e-9)
    assert model.certificate_.primal == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("intercept", ["clamped", "none"])
def test_agrees_with_the_exact_programme_on_separability(seed, intercept):
    """C = inf converges exactly when the LP finds a plane, and proves inseparable exactly when the LP does."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, (8, 3)).astype(float), np.r_[0, 1, rng.integers(0, 2, 6)]
    expected = separability(X, y, intercept=intercept).verdict
    model = hs.AdaTron(C=np.inf, intercept=intercept)
    if expected == "separable":
        assert model.fit(X, y).outcome_.reason == "converged"
    else:
        with pytest.warns(NotSeparatedWarning, match="inseparable"):
            assert model.fit(X, y).outcome_.reason == "proved inseparable"


# ---------------------------------------------------------------- invariance
@every_kind
@hard_and_soft
def test_the_plane_turns_with_the_data(intercept, C):
    """Rotating the data rotates the weights and leaves bias, strengths and optimum alone."""
    X, y = data_for(C)
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    here, there = fitted(X, y, C=C, intercept=intercept), fitted(X @ turn, y, C=C, intercept=intercept)
    assert_allclose(there.coef_, here.coef_ @ turn, atol=1e-4 * np.linalg.norm(here.coef_))
    assert_allclose(there.intercept_, here.intercept_, atol=1e-4 * np.linalg.norm(here.coef_))
    assert there.certificate_.primal == pytest.approx(here.certificate_.primal, rel=1e-8)


@every_kind
@hard_and_soft
def test_order_and_names_of_the_classes_do_not_matter(intercept, C):
    """The order of the rows does not matter, and swapping the labels negates the plane."""
    X, y = data_for(C)
    model = fitted(X, y, C=C, intercept=intercept)
    order = np.random.default_rng(2).permutation(y.size)
    same_plane(fitted(X[order], y[order], C=C, intercept=intercept), model)
    flipped = fitted(X, -y, C=C, intercept=intercept)
    assert_allclose(plane(flipped), -plane(model), atol=1e-4 * np.linalg.norm(plane(model)))


@every_kind
def test_scaling_the_data_scales_the_hard_margin(intercept):
    """Data (and clamped input) k times as large have a margin k times as large; k² times the cap for a soft one."""
    for C, k in ((np.inf, 1e-3), (np.inf, 1e3), (1.0, 100.0)):
        X, y = data_for(C)
        here = fitted(X, y, C=C, intercept=intercept)
        there = fitted(k * X, y, C=C / k**2, intercept=intercept, intercept_scaling=k)
        assert_allclose(k * there.coef_, here.coef_, atol=1e-4 * np.linalg.norm(here.coef_))
        assert there.certificate_.primal * k**2 == pytest.approx(here.certificate_.primal, rel=1e-8)


@every_kind
@hard_and_soft
def test_only_support_vectors_matter(intercept, C):
    """Removing examples outside the margin changes nothing; neither does moving them further out."""
    X, y = data_for(C)
    model = fitted(X, y, C=C, intercept=intercept)
    E = y * model.decision_function(X)
    kept = E < 1.0 + 1e-2
    assert 2 <= kept.sum() < y.size
    same_plane(fitted(X[kept], y[kept], C=C, intercept=intercept), model)
    moved = X + np.where(kept, 0.0, y)[:, None] * model.coef_
    same_plane(fitted(moved, y, C=C, intercept=intercept), model)


# ---------------------------------------------------------------- forms of the data
@every_kind
@hard_and_soft
def test_dense_and_sparse_data_give_one_plane(intercept, C):
    """CSR rows give the plane of dense rows."""
    X, y = data_for(C)
    same_plane(fitted(sparse.csr_array(X), y, C=C, intercept=intercept), fitted(X, y, C=C, intercept=intercept))


@pytest.mark.compiled
@pytest.mark.parametrize(("intercept", "form"), [("clamped", np.asarray), ("none", sparse.csr_array)])
def test_single_precision_data_give_the_plane_of_the_same_numbers(intercept, form):
    """float32 rows, dense or sparse, give the plane of the same numbers in float64: sums are double."""
    X, y = clouds()
    X = X.astype(np.float32)
    model = fitted(form(X), y, intercept=intercept)
    same_plane(model, fitted(X.astype(np.float64), y, intercept=intercept))
    assert model.certificate_.verify(X, y)


@pytest.mark.compiled
def test_mostly_zero_dense_rows_are_no_exception():
    """Large dense data that are mostly zeros, which the solver reads as sparse, give the plane of the CSR matrix."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((600, 120)) * (rng.random((600, 120)) < 0.05)
    y = np.where(X[:, :10].sum(axis=1) + 0.3 * rng.standard_normal(600) > 0, 1, -1)
    for intercept in KINDS:
        dense, csr = (fitted(form(X), y, tol=1e-8, intercept=intercept) for form in (np.asarray, sparse.csr_array))
        same_plane(dense, csr)
        assert dense.certificate_.verify(X, y)


# ---------------------------------------------------------------- weights of examples
@every_kind
@hard_and_soft
def test_weights_are_repetitions(intercept, C):
    """A weight of 2 is the example twice, a weight of 0 the example left out."""
    X, y = data_for(C)
    s = np.random.default_rng(3).integers(0, 4, y.size)
    weighted = fitted(X, y, sample_weight=s, C=C, intercept=intercept)
    repeated = fitted(np.repeat(X, s, axis=0), np.repeat(y, s), C=C, intercept=intercept)
    same_plane(weighted, repeated)
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=1e-8)
    assert weighted.certificate_.verify(X, y)
    assert (weighted.alpha_[s == 0] == 0).all()


def test_an_example_of_weight_zero_may_contradict():
    """Without errors an example on the wrong side does not matter if its weight is 0."""
    X, y = data_for(np.inf)
    model = fitted(np.vstack([X, X[:1]]), np.append(y, -y[0]), sample_weight=np.r_[np.ones(40), 0.0], C=np.inf)
    assert model.outcome_.reason == "converged"
    same_plane(model, fitted(X, y, C=np.inf))


@every_kind
def test_class_weights_are_sample_weights(intercept):
    """class_weight says the same as a weight per example, and so does "balanced"."""
    X, y = clouds(50, 3, 0.8, 6)
    for weight in ({1: 3.0, -1: 0.5}, "balanced"):
        counts = {label: (y == label).sum() for label in (1, -1)}
        table = {label: y.size / (2 * counts[label]) for label in (1, -1)} if weight == "balanced" else weight
        s = np.array([table[label] for label in y])
        one, other = fitted(X, y, class_weight=weight, intercept=intercept), fitted(X, y, sample_weight=s, intercept=intercept)
        assert_array_equal(plane(one), plane(other))
        doubled = fitted(X, y, sample_weight=2 * s, C=0.5, intercept=intercept)
        same_plane(doubled, one)


# ---------------------------------------------------------------- the bias
def test_a_free_bias_is_the_limit_of_a_large_clamped_input():
    """The larger the clamped input, the cheaper its weight: the bias tends to the free one; the smaller, to none."""
    X, y = clouds(40, 2, 0.5, 8)
    X = X + 2.0
    free, none = fitted(X, y, intercept="free"), fitted(X, y, intercept="none")
    assert_allclose(plane(fitted(X, y, intercept_scaling=300.0, tol=1e-8)), plane(free), atol=2e-3)
    assert_allclose(plane(fitted(X, y, intercept_scaling=1e-4)), plane(none), atol=1e-3)
    assert none.intercept_ == 0.0


def test_a_free_bias_does_not_care_where_the_data_are():
    """Moving the data moves the plane with them if the bias is free."""
    X, y = clouds(40, 3, 0.8, 9)
    here, there = fitted(X, y, intercept="free"), fitted(X + 5.0, y, intercept="free")
    assert_allclose(there.coef_, here.coef_, atol=1e-4)
    assert_allclose(there.intercept_, here.intercept_ - 5.0 * here.coef_.sum(), atol=1e-3)


@pytest.mark.parametrize("C", [1e-4, 1e-2, 0.1])
@pytest.mark.parametrize("seed", range(4))
def test_a_free_bias_and_small_caps(seed, C):
    """With small caps and classes of different size, where all of one class is at its cap, a free bias is found as well."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((45, 5))
    y = np.where(X[:, 0] + 1.0 + rng.standard_normal(45) > 0, 1, -1)
    model = hs.AdaTron(C=C, intercept="free", tol=1e-6, max_iter=2000).fit(X, y)
    assert model.outcome_.reason == "converged"
    peer = SVC(kernel="linear", C=C, tol=1e-9).fit(X, y)
    assert model.certificate_.primal == pytest.approx(objective(peer.coef_[0], peer.intercept_[0], X, y, C), rel=1e-5)


@pytest.mark.parametrize("scaling", [0.5, 1.0, 3.0])
def test_a_clamped_input_is_a_constant_column(scaling):
    """intercept="clamped" is intercept="none" on data with one more column of constants."""
    X, y = clouds()
    clamped = fitted(X, y, intercept_scaling=scaling)
    column = fitted(np.c_[X, np.full(y.size, scaling)], y, intercept="none")
    assert_allclose(clamped.coef_[0], column.coef_[0, :3], atol=1e-5)
    assert_allclose(clamped.intercept_[0], scaling * column.coef_[0, 3], atol=1e-5)
    assert clamped.certificate_.primal == pytest.approx(column.certificate_.primal, rel=1e-8)


# ---------------------------------------------------------------- going on
@every_kind
@hard_and_soft
def test_a_warm_start_has_the_gap_it_had(intercept, C):
    """A second fit with the same tolerance ends at once with the same plane; with a smaller one it goes on from there."""
    X, y = data_for(C)
    model = hs.AdaTron(C=C, intercept=intercept, warm_start=True, max_iter=20_000).fit(X, y)
    before, gap = plane(model), model.certificate_.relative_gap
    model.fit(X, y)
    assert model.n_iter_ == 0
    assert model.outcome_.reason == "converged"
    assert_array_equal(plane(model), before)
    assert model.certificate_.relative_gap == pytest.approx(gap, rel=1e-6)
    model.set_params(tol=1e-9).fit(X, y)
    same_plane(model, fitted(X, y, C=C, intercept=intercept))
    assert model.certificate_.verify(X, y)


@pytest.mark.filterwarnings("ignore::halfspace.errors.GapWarning")
@every_kind
def test_a_warm_start_goes_on_with_another_cap(intercept):
    """After a change of C a warm start ends in the plane of the new C, also to and from C = inf."""
    X, y = data_for(np.inf)
    model = hs.AdaTron(intercept=intercept, warm_start=True, tol=1e-9, max_iter=20_000)
    for C in (1.0, 0.1, 5.0, np.inf, 0.5, np.inf):
        model.set_params(C=C).fit(X, y)
        assert model.certificate_.verify(X, y)
        same_plane(model, fitted(X, y, C=C, intercept=intercept))


def gaps_of_short_fits(intercept, solver, max_iter, fits):
    """Return the gaps of fits with a warm start and so few iterations each, until one converges."""
    X, y = clouds()
    model = hs.AdaTron(C=10.0, intercept=intercept, solver=solver, max_iter=max_iter, tol=1e-6, warm_start=True)
    gaps = []
    while len(gaps) < fits and not (gaps and model.outcome_.converged):
        gaps.append(model.fit(X, y).certificate_.relative_gap)
    return gaps


@pytest.mark.filterwarnings("ignore::halfspace.errors.GapWarning")
@pytest.mark.parametrize("solver", ["auto", "sweep"])
@every_kind
def test_going_on_never_makes_it_worse(intercept, solver):
    """Over fits of three iterations with a warm start the gap never widens."""
    gaps = gaps_of_short_fits(intercept, solver, 3, 60)
    assert all(after <= before * (1 + 1e-9) for before, after in pairwise(gaps))


@pytest.mark.filterwarnings("ignore::halfspace.errors.GapWarning")
@pytest.mark.parametrize("solver", ["auto", "sweep"])
@every_kind
def test_short_fits_add_up(intercept, solver):
    """Fits of ten iterations (with a free bias: fifty) and a warm start come to the tolerance, as one long fit does."""
    assert gaps_of_short_fits(intercept, solver, 50 if intercept == "free" else 10, 100)[-1] <= 1e-6


def test_a_warm_start_on_other_data_is_a_fresh_start():
    """With other data the old plane is at most a guess: the answer is that of the new data."""
    X, y = clouds()
    model = hs.AdaTron(warm_start=True, tol=1e-9, max_iter=20_000).fit(X, y)
    for data, labels in (clouds(seed=5), clouds(50), clouds(d=4), (X, -y), (100.0 * X, y)):
        same_plane(model.fit(data, labels), fitted(data, labels))
        assert model.certificate_.verify(data, labels)


# ---------------------------------------------------------------- determinism
@every_kind
def test_threads_and_seeds_give_the_same_bits(intercept):
    """The same seed gives the same bits, for any number of threads; the column of a class is its own problem's answer."""
    X, _ = clouds(60, 3, 0.8, 10)
    y = np.array(["a", "b", "c"])[np.argmax(X + 0.5 * np.random.default_rng(0).standard_normal(X.shape), axis=1)]
    one, two, again = (hs.AdaTron(intercept=intercept, n_jobs=jobs, max_iter=20_000).fit(X, y) for jobs in (1, 2, 2))
    for other in (two, again):
        assert plane(one).tobytes() == plane(other).tobytes()
        assert one.alpha_.tobytes() == other.alpha_.tobytes()
        assert one.certificate_.to_json() == other.certificate_.to_json()
    assert one.certificate_.verify(X, y)
    for k, label in enumerate("abc"):
        single = fitted(X, y == label, intercept=intercept)
        tight = fitted(X, y, intercept=intercept)
        assert_allclose(tight.coef_[k], single.coef_[0], atol=1e-4)


# ---------------------------------------------------------------- inseparable data
XOR, XOR_LABELS = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 0, 1, 1])


@every_kind
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_inseparable_data_are_proved_so(intercept, form):
    """C = inf on inseparable data warns and hands over the exact proof, which verifies on these data and not on others."""
    with pytest.warns(NotSeparatedWarning, match="finite C"):
        model = hs.AdaTron(C=np.inf, intercept=intercept).fit(form(XOR), XOR_LABELS)
    assert model.outcome_.reason == "proved inseparable"
    assert not model.outcome_.converged
    assert isinstance(model.certificate_, Separability)
    assert model.certificate_.verdict == "inseparable"
    assert model.certificate_.verify(XOR, XOR_LABELS)
    assert hs.certificates.from_json(model.certificate_.to_json()).verify(XOR, XOR_LABELS)
    assert not model.certificate_.verify(XOR, np.array([0, 1, 1, 1]))
    assert np.isfinite(plane(model)).all()
    assert model.predict(form(XOR)).shape == (4,)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1]),
        ([[0.0, 0.0], [2.0, 2.0], [1.0, 1.0], [5.0, 0.0]], [0, 0, 1, 1]),
        ([[1.0, 1.0], [1.0, 1.0]], [0, 1]),
        ([[0.0, 0.0], [0.0, 0.0]], [0, 1]),
    ],
    ids=["a point in common", "a point on an edge", "a contradiction", "nothing but zeros"],
)
@pytest.mark.parametrize("intercept", ["clamped", "free"])
def test_touching_hulls_are_inseparable(X, y, intercept):
    """Hulls that only touch have no plane between them, and that is proved exactly."""
    X, y = np.array(X), np.array(y)
    with pytest.warns(NotSeparatedWarning, match="inseparable"):
        model = hs.AdaTron(C=np.inf, intercept=intercept).fit(X, y)
    assert model.certificate_.verify(X, y)


@quiet
@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9])
def test_thin_gaps_are_not_called_inseparable(gap):
    """Classes a hair apart are never called inseparable, and what is claimed about them verifies."""
    X, y = np.array([[0.0], [1.0], [1.0 + gap], [2.0]]), np.array([0, 0, 1, 1])
    model = hs.AdaTron(C=np.inf, intercept="free", max_iter=200).fit(X, y)
    assert model.outcome_.reason != "proved inseparable"
    assert model.certificate_.verify(X, y)
    lower, upper = model.certificate_.margin
    assert lower <= 0.5 * gap * (1 + 1e-6)
    assert upper >= 0.5 * gap * (1 - 1e-6)


def test_one_inseparable_class_among_three():
    """With three classes each has its own certificate: a proof for the one in the middle, gaps for the others."""
    X, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]), np.repeat(["low", "mid", "top"], 2)
    with pytest.warns(NotSeparatedWarning, match="inseparable"):
        model = hs.AdaTron(C=np.inf).fit(X, y)
    assert model.certificate_["mid"].verdict == "inseparable"
    assert model.certificate_["low"].relative_gap <= 1e-4
    assert model.certificate_.verify(X, y)
    assert hs.certificates.from_json(model.certificate_.to_json()).verify(X, y)


# ---------------------------------------------------------------- budgets
@every_kind
@pytest.mark.parametrize("solver", ["auto", "sweep"])
@hard_and_soft
def test_one_iteration_is_an_honest_answer(intercept, solver, C):
    """max_iter=1 warns with the gap reached, and the certificate verifies with it."""
    X, y = data_for(C)
    with pytest.warns((GapWarning, NotSeparatedWarning), match="max_iter"):
        model = hs.AdaTron(C=C, intercept=intercept, solver=solver, max_iter=1, tol=1e-8).fit(X, y)
    assert model.outcome_.reason == "iteration budget spent"
    assert not model.outcome_.converged
    assert model.n_iter_ <= 3
    assert model.certificate_.verify(X, y)
    assert model.certificate_.relative_gap > 1e-8


def in_time(fit, limit, tries):
    """Tell whether one of some tries at a fit that spends its time budget ends in time; a busy machine may spoil a few."""
    for _ in range(tries):
        began = time.perf_counter()
        with pytest.warns(GapWarning, match="time budget spent"):
            fit()
        if time.perf_counter() - began <= limit:
            return True
    return False


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("settings", "n", "seconds"),
    [
        ({"C": 100.0}, 150_000, 0.2),
        ({"C": 100.0, "solver": "sweep"}, 20_000, 0.5),
        ({"C": 1e4, "intercept": "free"}, 20_000, 0.5),
    ],
    ids=str,
)
def test_the_time_limit_holds(settings, n, seconds):
    """max_time holds within 5 % and a few milliseconds, the certificate verifies, and its gap is what the outcome says."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 60))
    y = np.where(X[:, 0] + 2.0 * rng.standard_normal(n) > 0, 1, -1)
    model = hs.AdaTron(tol=1e-14, max_iter=10**9, max_time=seconds, **settings)
    with pytest.warns(GapWarning, match="time budget spent"):
        model.fit(X, y)
    assert in_time(lambda: model.fit(X, y), 1.05 * seconds + 0.02, tries=5)
    assert model.outcome_.reason == "time budget spent"
    assert model.certificate_.verify(X, y)
    assert f"{model.certificate_.relative_gap:.2g}" in model.outcome_.sentence


@pytest.mark.compiled
@pytest.mark.parametrize("jobs", [1, 2])
def test_the_time_limit_holds_for_many_classes(jobs):
    """With many classes the limit is for all of them together, none is left without a try, and the certificates verify."""
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((20_000, 30)), rng.integers(0, 8, 20_000)
    model = hs.AdaTron(C=100.0, tol=1e-12, max_iter=10**9, max_time=1.0, n_jobs=jobs, solver="sweep")
    assert in_time(lambda: model.fit(X, y), 1.05 + 0.03, tries=3)
    assert model.certificate_.verify(X, y)
    gaps = [part.relative_gap for _, part in model.certificate_]
    assert max(gaps) < 20 * min(gaps)


class Listener:
    """A callback of scikit-learn that calls `react` at every end of an epoch."""

    def __init__(self, react):
        self.react, self.count = react, 0

    def setup(self, estimator, context): ...

    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context):
        del estimator, context
        self.count += 1
        return self.react(self.count)

    def teardown(self, estimator, context): ...


def interrupt_at(number):
    def react(count):
        if count == number:
            raise KeyboardInterrupt

    return react


@every_kind
@pytest.mark.parametrize("number", [1, 3])
def test_an_interrupt_keeps_the_best_so_far(intercept, number):
    """Ctrl-C is an outcome, not an error: the best plane stays, with its true gap, and a warm start goes on."""
    X, y = clouds()
    model = hs.AdaTron(C=10.0, intercept=intercept, solver="sweep", tol=1e-8, warm_start=True, max_iter=20_000)
    model.set_callbacks(Listener(interrupt_at(number))).fit(X, y)
    assert model.outcome_.reason == "interrupted"
    assert "warm_start" in model.outcome_.remedy
    assert model.certificate_.verify(X, y)
    gap = model.certificate_.relative_gap
    model.set_callbacks().fit(X, y)
    assert model.certificate_.relative_gap < gap
    assert model.outcome_.reason == "converged"


@pytest.mark.parametrize("jobs", [1, 2])
def test_one_interrupt_ends_the_fit_of_all_classes(jobs, monkeypatch):
    """One Ctrl-C ends the fit of many classes, however many threads there are, and keeps what there is."""
    from halfspace.solvers.linear.large_margin import LargeMargin

    X, _ = clouds(60, 3, 0.8, 10)
    y = np.argmax(X, axis=1)
    real, calls = LargeMargin.step, []

    def interrupted(method, state, most):
        if not calls:
            calls.append(1)
            if jobs == 1:
                raise KeyboardInterrupt
            signal.raise_signal(signal.SIGINT)  # the main thread gets it
        return real(method, state, most)

    monkeypatch.setattr(LargeMargin, "step", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # in case the tests run in the background
    try:
        model = hs.AdaTron(C=1000.0, tol=1e-13, max_iter=2000, n_jobs=jobs, solver="sweep").fit(X, y)
    finally:
        signal.signal(signal.SIGINT, before)
    assert calls
    assert model.outcome_.reason == "interrupted"
    assert model.n_iter_ < 2000
    assert model.certificate_.verify(X, y)


def test_a_callback_may_stop_the_fit():
    """A callback that returns True ends the fit, without a warning, with a true certificate."""
    X, y = clouds()
    listener = Listener(lambda count: count >= 2)
    model = hs.AdaTron(C=10.0, solver="sweep", tol=1e-8).set_callbacks(listener).fit(X, y)
    assert model.outcome_.reason == "stopped by callback"
    assert model.certificate_.verify(X, y)
    assert model.n_iter_ <= 3


@pytest.mark.parametrize("solver", ["auto", "sweep"])
def test_scikit_learn_callbacks_see_the_model(solver):
    """ScoringMonitor scores the model while it is being fitted, and what it sees at the end is the final model."""
    X, y = clouds()
    monitor = ScoringMonitor(scoring="accuracy")
    model = hs.AdaTron(solver=solver).set_callbacks(monitor).fit(X, y)
    logs = monitor.get_logs()
    log = logs[0] if isinstance(logs, list) else logs
    data = log.data_as_pandas
    epochs = data[data["task_name"] == "epoch"]["accuracy"].dropna().to_numpy()
    assert data[data["task_name"] == "fit"]["accuracy"].item() == pytest.approx(model.score(X, y))
    assert epochs.size
    assert abs(epochs[-1] - model.score(X, y)) < 0.1


# ---------------------------------------------------------------- theory
def covers_fraction(P, N):
    """Return the fraction of dichotomies of P points in general position that planes through the origin separate."""
    return sum(comb(P - 1, k) for k in range(N)) / 2 ** (P - 1)


@pytest.mark.compiled
@pytest.mark.parametrize("N", [10, 16])
@pytest.mark.parametrize("alpha", [1, 2, 3])
def test_covers_count(alpha, N):
    """Of random dichotomies of P = N, 2N, 3N points the fraction that is separable is Cover's, within its error."""
    rng, trials, P = np.random.default_rng(N), 300, alpha * N
    found = sum(
        separability(rng.standard_normal((P, N)), np.r_[0, 1, rng.integers(0, 2, P - 2)], intercept="none").verdict
        == "separable"
        for _ in range(trials)
    )
    fraction = covers_fraction(P, N)
    assert abs(found - trials * fraction) <= 4 * np.sqrt(trials * fraction * (1 - fraction)) + 1e-9


def gardners_stability(alpha):
    """Return kappa with 1/alpha = ∫_{-kappa}^∞ Dt (t + kappa)²."""
    from scipy.special import ndtr

    def inverse(kappa):
        density = np.exp(-0.5 * kappa * kappa) / np.sqrt(2 * np.pi)
        return (1 + kappa * kappa) * ndtr(kappa) + kappa * density - 1.0 / alpha

    return optimize.brentq(inverse, 0.0, 20.0)


@pytest.mark.compiled
@pytest.mark.parametrize("alpha", [0.5, 0.75, 1.0, 1.3])
def test_gardners_stability(alpha):
    """The mean best stability of random dichotomies follows Gardner's curve within 3 %."""
    rng, N, samples = np.random.default_rng(int(100 * alpha)), 200, 24
    P = int(alpha * N)
    found = []
    for _ in range(samples):
        model = hs.AdaTron(C=np.inf, intercept="none", tol=1e-3).fit(rng.standard_normal((P, N)), rng.integers(0, 2, P))
        found.append(1.0 / np.linalg.norm(model.coef_))
        assert model.certificate_.margin[0] == pytest.approx(found[-1], rel=1e-2)
    error = 3 * np.std(found) / np.sqrt(samples)
    assert abs(np.mean(found) - gardners_stability(alpha)) <= 0.03 * gardners_stability(alpha) + error
