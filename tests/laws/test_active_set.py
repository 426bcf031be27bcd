"""The linear system of the few examples that decide a margin, hard or soft."""

import time

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import nnls

import halfspace as hs
from halfspace.rows.operations import squared_norms
from halfspace.rows.views import view_of
from halfspace.solvers.linear.active_set import pivoted
from halfspace.solvers.linear.soft_margin import Pace, Problem, combined


def problem(P, N, seed):
    """Return a random problem that a teacher labels, and its signed rows."""
    rng = np.random.default_rng(seed)
    teacher, X = rng.standard_normal(N), rng.standard_normal((P, N))
    y = np.where(X @ teacher > 0, 1.0, -1.0)
    view = view_of(X)
    return Problem(view, y, np.full(P, np.inf), squared_norms(view)), X * y[:, None]


def finished(work):
    """Return what a generator returns."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


@pytest.mark.parametrize("seed", range(5))
def test_from_nearly_the_right_examples_it_is_the_optimum(seed):
    """From the true support with some examples too many and some missing it finds what non-negative least squares finds."""
    hard, A = problem(40, 30, seed)
    M = np.vstack([A.T, 1e4 * np.ones(40)])  # the shortest Σ λ a with Σ λ = 1
    shares = nnls(M, np.append(np.zeros(30), 1e4))[0]
    begin = shares.copy()
    begin[np.flatnonzero(shares)[0]] = 0.0
    begin[np.flatnonzero(shares == 0.0)[:2]] = 1.0
    alpha = finished(pivoted(hard, begin, Pace()))
    assert alpha is not None
    E = A @ combined(hard, alpha)
    assert E.min() > 1 - 1e-8
    assert np.abs(alpha * (E - 1)).max() < 1e-8 * alpha.max()
    assert alpha / alpha.sum() == pytest.approx(shares, abs=1e-5)


@pytest.mark.parametrize("C", [0.01, 0.02])
def test_with_caps_it_is_the_optimum_too(C):
    """From the sides of an optimum with some examples moved it comes back: at 0 E >= 1, at C E <= 1, between E = 1."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((120, 40))
    y = np.where(X[:, 0] + rng.standard_normal(120) > 0.0, 1.0, -1.0)
    view, A = view_of(X), X * y[:, None]
    soft = Problem(view, y, np.full(120, C), squared_norms(view))
    true = hs.AdaTron(C=C, intercept="none", tol=1e-10).fit(X, y).alpha_
    begin = np.where(true > 0.999999 * C, C, np.where(true < 1e-6 * C, 0.0, true))
    moved = [np.flatnonzero(side)[0] for side in (begin == 0.0, begin == C, (begin > 0.0) & (begin < C))]
    begin[moved] = [0.5 * C, 0.5 * C, 0.0]
    alpha = finished(pivoted(soft, begin, Pace()))
    E = A @ combined(soft, alpha)
    assert (alpha.min(), alpha.max()) == (0.0, C)
    assert E[alpha == 0.0].min() > 1 - 1e-8
    assert E[alpha == C].max() < 1 + 1e-8
    assert E[(alpha > 0.0) & (alpha < C)] == pytest.approx(1.0, abs=1e-8)
    assert alpha == pytest.approx(true, abs=1e-3 * C)


def test_nobody_need_be_free():
    """Where all examples are at a bound there is no system: with a tiny cap all are at it, and that is the optimum."""
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((30, 5)), rng.choice([-1.0, 1.0], 30)
    view = view_of(X)
    soft = Problem(view, y, np.full(30, 1e-4), squared_norms(view))
    assert (finished(pivoted(soft, np.full(30, 1e-4), Pace())) == 1e-4).all()
    hard = soft._replace(c=np.full(30, np.inf))
    assert finished(pivoted(hard, np.zeros(30), Pace())) is None


def test_it_gives_up_where_there_is_no_system_to_solve():
    """More examples than weights, two equal examples, or a hurry: nothing is returned, and sweeps go on."""
    hard, _ = problem(60, 10, 0)
    assert finished(pivoted(hard, np.ones(60), Pace())) is None
    X = np.array([[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0]])
    same = Problem(view_of(X), np.array([1.0, 1.0, -1.0]), np.full(3, np.inf), np.ones(3))
    assert finished(pivoted(same, np.array([1.0, 1.0, 0.0]), Pace())) is None
    pace = Pace()
    pace.hurry = True
    assert finished(pivoted(hard, np.eye(60)[0], pace)) is None


@pytest.mark.parametrize("intercept", ["none", "clamped", "free"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_hard_margin_is_the_kernel_machines(intercept, form):
    """AdaTron(C=inf) gives the margin of KernelAdaTron with a linear kernel, with any bias, dense or sparse, and its proof."""
    _, A = problem(150, 40, 1)
    rng = np.random.default_rng(2)
    y = rng.integers(2, size=150)
    X = A * np.where(y == 1, 1.0, -1.0)[:, None] + 0.1
    model = hs.AdaTron(C=np.inf, intercept=intercept, random_state=0).fit(form(X), y)
    other = hs.KernelAdaTron("linear", C=np.inf, intercept=intercept, tol=1e-6).fit(X, y)
    assert model.outcome_.converged
    assert model.verify(form(X), y)
    assert model.certificate_.primal == pytest.approx(other.certificate_.primal, rel=2e-4)


@pytest.mark.filterwarnings("ignore::halfspace.errors.NotSeparatedWarning")
def test_a_time_limit_is_kept():
    """Cut after no time, a fit ends with a point, and a proof of what is known."""
    hard, A = problem(1000, 300, 3)
    began = time.perf_counter()
    model = hs.AdaTron(C=np.inf, intercept="none", max_time=1e-3).fit(A * hard.y[:, None], hard.y)
    assert time.perf_counter() - began < 30.0
    assert model.certificate_.verify(A * hard.y[:, None], hard.y)
