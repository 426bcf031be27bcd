"""The rules of prototypes, step by step."""

import numpy as np
import pytest
from scipy import sparse

from halfspace.rows.views import view_of
from halfspace.solvers.prototypes.distances import class_distances, distances
from halfspace.solvers.prototypes.glvq import Book, Rates, bend, learn_plain, slope, slopes
from halfspace.solvers.prototypes.glvq_batch import Descent, DescentState, Landscape, cost_and_gradient
from halfspace.solvers.prototypes.kohonen import LVQ1, LVQ3
from halfspace.solvers.prototypes.online import learner
from halfspace.solvers.run import Budget, run, steps

LABELS = np.array([0, 0, 1])


def shown(rule, x, c, W=((0.0,), (2.0,), (9.0,)), s=1.0):
    book = Book.of(np.array(W), LABELS, np.ones(1))
    wrong = learner(rule, book)(np.array([[x]]), np.array([c]), np.array([s]), book, rule)
    return book.W.ravel().tolist(), wrong


def test_lvq1_moves_the_winner_alone():
    """LVQ1 draws the nearest prototype if it has the row's class and pushes it if it has not."""
    assert shown(LVQ1(0.5), 3.0, 0) == ([0.0, 2.5, 9.0], 0)
    assert shown(LVQ1(0.5), 3.0, 1) == ([0.0, 1.5, 9.0], 1)


def test_lvq1_ties_go_to_the_first():
    """Of two prototypes equally near, the first moves."""
    assert shown(LVQ1(0.5), 1.0, 0) == ([0.5, 2.0, 9.0], 0)


def test_weights_scale_the_rate_but_no_row_is_overshot():
    """A row's weight multiplies the rate, which is cut where the prototype meets the row."""
    assert shown(LVQ1(0.25), 3.0, 0, s=2.0)[0] == [0.0, 2.5, 9.0]
    assert shown(LVQ1(0.25), 3.0, 0, s=99.0)[0] == [0.0, 3.0, 9.0]


def test_lvq21_moves_both_sides_inside_the_window():
    """LVQ2.1 moves the two nearest if they differ in class and x lies in the window: 3 : 4 is in for 0.3, 2 : 5 is out."""
    assert shown(LVQ3(0.5, 0.3, 0.0), 5.0, 0) == ([0.0, 3.5, 11.0], 0)
    assert shown(LVQ3(0.5, 0.3, 0.0), 5.0, 1) == ([0.0, 0.5, 7.0], 1)
    assert shown(LVQ3(0.5, 0.3, 0.0), 7.0, 1)[0] == [0.0, 2.0, 9.0]


def test_lvq21_leaves_two_of_a_class_alone_and_lvq3_draws_both():
    """Where both nearest have the row's class, LVQ2.1 does nothing; LVQ3 draws both by epsilon times the rate."""
    assert shown(LVQ3(0.5, 0.3, 0.0), 1.2, 0)[0] == [0.0, 2.0, 9.0]
    after, wrong = shown(LVQ3(0.5, 0.3, 0.2), 1.2, 0)
    np.testing.assert_allclose(after, [0.12, 1.92, 9.0])
    assert wrong == 0
    assert shown(LVQ3(0.5, 0.3, 0.2), 1.2, 1) == ([0.0, 2.0, 9.0], 1)
    assert shown(LVQ3(0.5, 0.3, 0.2), 5.0, 0)[0] == [0.0, 3.5, 11.0]


@pytest.mark.parametrize("beta", [0.0, 4.0], ids=["identity", "sigmoid"])
def test_slopes_are_derivatives(beta):
    """f', ξ₊ and ξ₋ are the derivatives of f with respect to μ, d₊ and -d₋."""
    h, (a, b) = 1e-6, (1.0, 2.5)
    assert slope(beta, 0.3) == pytest.approx((bend(beta, 0.3 + h) - bend(beta, 0.3 - h)) / (2 * h), rel=1e-6)
    cost = lambda a, b: bend(beta, (a - b) / (a + b))  # noqa: E731
    plus, minus = slopes(beta, a, b)
    assert plus == pytest.approx((cost(a + h, b) - cost(a - h, b)) / (2 * h), rel=1e-6)
    assert minus == pytest.approx((cost(a, b - h) - cost(a, b + h)) / (2 * h), rel=1e-6)


def problem(n=40, d=5, seed=0):
    rng = np.random.default_rng(seed)
    target = rng.integers(0, 3, n)
    X = rng.standard_normal((n, d)) + 3.0
    X[np.arange(n), target] += 1.5
    labels = np.array([0, 0, 1, 2, 2])
    W = np.stack([X[target == c][k] for k, c in enumerate(labels)])
    return X, target, W, labels, rng


METRICS = {"plain": (5,), "diagonal": (5,), "square": (5, 5), "wide": (2, 5), "classwise": (3, 2, 5)}


def metric(name, rng):
    omega = np.ones(5) if name == "plain" else rng.standard_normal(METRICS[name])
    return (
        omega
        if name == "plain"
        else omega / np.sqrt(np.square(omega).sum(axis=(-2, -1) if omega.ndim > 1 else None, keepdims=True))
    )


@pytest.mark.parametrize("beta", [0.0, 5.0], ids=["identity", "sigmoid"])
@pytest.mark.parametrize("name", ["plain", "diagonal", "square", "wide"])
def test_a_pass_does_what_the_rule_says(name, beta):
    """Laid out for speed or written as in the book, presentations give the same prototypes, metric and tally to 1e-9."""
    X, target, W, labels, rng = problem()
    rates = Rates(0.05, 0.0 if name == "plain" else 0.01, beta)
    book = Book.of(W, labels, metric(name, rng))
    plain, fast, s = book.copied(), book.copied(), rng.random(target.size)
    assert learn_plain(X, target, s, plain, rates) == learner(rates, fast)(X, target, s, fast, rates)
    if fast.omega.ndim == 2:
        fast.omega[:] /= np.linalg.norm(fast.omega)
    for one, other in zip(plain[:3], fast[:3], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(plain.tally[:3], fast.tally[:3], rtol=1e-9)
    assert np.abs(plain.W - W).max() > 0.01
    if name != "plain":
        assert np.square(fast.omega).sum() == pytest.approx(1.0, abs=1e-12)
        assert np.abs(plain.omega - book.omega).max() > 1e-3


@pytest.mark.compiled
def test_a_long_pass_does_not_drift():
    """Projections that are carried along for thousands of presentations stay those of the rule; cuts do not change a bit."""
    X, target, W, labels, rng = problem(3000, 5, 1)
    rates, s = Rates(0.02, 0.003, 10.0), np.ones(3000)
    start = Book.of(W, labels, metric("square", rng))
    plain, whole, cut = (start.copied() for _ in range(3))
    learn_plain(X, target, s, plain, rates)
    learner(rates, whole)(X, target, s, whole, rates)
    for rows in np.split(np.arange(3000), [7, 700, 2500]):
        learner(rates, cut)(X[rows], target[rows], s[rows], cut, rates)
    for one, other in zip(whole, cut, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(plain.W, whole.W, rtol=1e-9)
    np.testing.assert_allclose(plain.omega, whole.omega / np.sqrt(whole.tally[3]), rtol=0, atol=1e-9)


def test_a_row_on_two_prototypes_moves_nothing():
    """Where d₊ = d₋ = 0 the cost has no slope, and no NaN comes of it."""
    rule = Rates(0.1, 0.1, 2.0)
    for omega in (np.full(2, np.sqrt(0.5)), np.eye(2) / np.sqrt(2)):
        for plain in (False, True):
            book = Book.of(np.ones((2, 2)), np.array([0, 1]), omega)
            learner(rule, book, plain=plain)(np.ones((1, 2)), np.array([0]), np.ones(1), book, rule)
            np.testing.assert_array_equal(book.W, np.ones((2, 2)))
            np.testing.assert_allclose(book.omega[:2], omega)


@pytest.mark.parametrize("name", list(METRICS))
def test_the_gradient_is_that_of_the_cost(name):
    """∂Φ/∂W and ∂Φ/∂Ω agree with finite differences."""
    X, target, W, labels, rng = problem()
    omega = metric(name, rng)
    at = Landscape(X, target, rng.random(target.size), labels, 3.0, name != "plain")
    _, slope_w, slope_m = cost_and_gradient(at, W, omega)
    h, V, M = 1e-6, rng.standard_normal(W.shape), rng.standard_normal(omega.shape)
    up, down = (cost_and_gradient(at, W + sign * h * V, omega)[0] for sign in (1, -1))
    assert np.sum(slope_w * V) == pytest.approx((up - down) / (2 * h), rel=1e-5)
    if name != "plain":
        up, down = (cost_and_gradient(at, W, omega + sign * h * M)[0] for sign in (1, -1))
        assert np.sum(slope_m * M) == pytest.approx((up - down) / (2 * h), rel=1e-5)


@pytest.mark.parametrize("name", list(METRICS))
def test_a_descent_never_rises(name):
    """Every step lowers the cost, whatever the metric; stopped after any step and resumed, the descent gives the same bits."""
    X, target, W, labels, rng = problem()
    at = Landscape(view_of(sparse.csr_matrix(X)), target, np.ones(target.size), labels, 5.0, name != "plain")
    method, omega = Descent(at, 1e-9), metric(name, rng)
    whole, cut = (DescentState.of(W, omega, learns_metric=at.learns_metric) for _ in range(2))
    end = run(method, Budget(15), whole)
    costs = end.course.history()["cost"]
    assert (np.diff(costs) <= 0.0).all()
    assert costs[-1] < 0.8 * whole.costs[1]
    assert cost_and_gradient(at, *method.read(whole))[0] == pytest.approx(costs[-1], rel=1e-12)
    for rounds in (1, 5, 9):
        for _ in steps(method, method.start(cut), Budget(rounds)):
            pass
    np.testing.assert_array_equal(cut.theta, whole.theta)


def test_distances_are_those_of_the_metric():
    """d_k = ‖Ω(x - w_k)‖² with the Ω of k's class; the nearest of a class counts for the class."""
    X, _, W, labels, rng = problem(20)
    omega = metric("classwise", rng)
    D = distances(X, W, labels, omega)
    expected = [[np.square(omega[c] @ (x - w)).sum() for w, c in zip(W, labels, strict=True)] for x in X]
    np.testing.assert_allclose(D, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(class_distances(D, labels, 3)[:, 2], D[:, 3:].min(axis=1))
