"""The laws of Rosenblatt's rule and its theorem, step by step."""

import numpy as np
import pytest

import halfspace as hs
from halfspace.data import teacher_student
from halfspace.rows.operations import squared_norms
from halfspace.rows.orders import Orders
from halfspace.rows.views import view_of
from halfspace.solvers import Budget, Forget, Presenting, Rosenblatt, Task, start
from halfspace.solvers.rules.sweep import sweep
from halfspace.solvers.run import steps


def task_of(X, y, clamp=0.0):
    view = view_of(np.asarray(X, dtype=float), clamp)
    return Task(view, (np.asarray(y) > 0).astype(np.int64), np.array([1]), squared_norms(view), np.ones(len(y)))


def one_by_one(task, rule, epochs=3):
    """Yield the state after every single presentation."""
    state = start(task)
    for _ in range(epochs):
        for i in range(task.target.size):
            sweep(rule, Forget(), task, state, 0, np.array([i]))
            yield state


def textbook(X, y, eta, epochs):
    """Return the weights of the other textbook form, w + (eta/2)(y - g(x))x with g = sgn(w·x), sgn(0) = -1."""
    w, mistakes = np.zeros(X.shape[1]), 0
    for _ in range(epochs):
        for x, label in zip(X, y, strict=True):
            g = 1.0 if x @ w > 0 else -1.0
            # A zero output counts as a mistake for both labels: there g is taken opposite to the label.
            g = -label if x @ w == 0 else g
            w = w + 0.5 * eta * (label - g) * x
            mistakes += int(g != label)
    return w, mistakes


@pytest.mark.parametrize("eta", [1.0, 0.3])
def test_both_textbook_forms_are_the_same(eta):
    """w + (eta/2)(y - g(x))x equals w + eta·y·x on a mistake."""
    X, y, *_ = teacher_student(40, 5, margin=0.05, random_state=1)
    model = hs.Perceptron(eta0=eta, intercept="none", shuffle=False, max_iter=200).fit(X, y)
    w, mistakes = textbook(X, y, eta, model.n_iter_)
    assert mistakes == model.mistakes_
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-12, atol=1e-12)


def test_from_zero_the_direction_does_not_depend_on_eta():
    """From w = 0 a rate of any size makes the same mistakes and gives the same direction."""
    X, y, *_ = teacher_student(60, 4, margin=0.1, random_state=2)
    models = [hs.Perceptron(eta0=eta, random_state=0).fit(X, y) for eta in (1.0, 0.25, 8.0)]
    assert len({model.mistakes_ for model in models}) == 1
    for model, eta in zip(models, (1.0, 0.25, 8.0), strict=True):
        np.testing.assert_allclose(model.coef_ / eta, models[0].coef_, rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("margin", [0.02, 0.2])
def test_the_theorem_holds_at_every_step(seed, margin):
    """After t mistakes w·w* >= t·kappa and ‖w‖² <= t·R², hence t <= (R/kappa)²."""
    toy = teacher_student(60, 6, margin=margin, random_state=seed)
    for state in one_by_one(task_of(toy.X, toy.y), Rosenblatt()):
        t, w = int(state.mistakes[0]), state.W[0]
        assert w @ toy.teacher >= t * toy.margin - 1e-9
        assert w @ w <= t * 1.0 + 1e-9
        assert t <= 1.0 / toy.margin**2


@pytest.mark.parametrize("c", [0.1, 1.0, 5.0])
def test_the_theorem_with_margin_c_holds_at_every_step(c):
    """With margin c there are at most (2c/eta + R²)/kappa² updates; with eta = 1/N this is Biehl's (2c + Gamma) N Q*/c²."""
    toy = teacher_student(40, 5, margin=0.15, random_state=4)
    n_features, eta = toy.X.shape[1], 1.0 / toy.X.shape[1]
    bound = (2 * c / eta + 1.0) / toy.margin**2
    gamma, q_star = 1.0 / n_features, (c / toy.margin) ** 2
    assert bound == pytest.approx((2 * c + gamma) * n_features * q_star / c**2)
    for state in one_by_one(task_of(toy.X, toy.y), Rosenblatt(eta, c), epochs=20):
        t = int(state.mistakes[0])
        assert t <= bound
        assert state.W[0] @ state.W[0] <= t * (eta**2 + 2 * eta * c) + 1e-9


@pytest.mark.parametrize("bias", [-0.4, 0.0, 0.7])
def test_the_theorem_with_the_clamped_input(bias):
    """With the clamped input there are at most (b*² + 1)(R² + 1)/rho² mistakes."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((200, 3))
    teacher = np.array([1.0, 0.0, 0.0])
    stability = X @ teacher + bias
    X, stability = X[np.abs(stability) > 0.3], stability[np.abs(stability) > 0.3]
    y, rho = np.where(stability > 0, 1, -1), np.abs(stability).min()
    R2 = (X**2).sum(axis=1).max()
    model = hs.Perceptron(random_state=0).fit(X, y)
    assert model.outcome_.converged
    assert model.mistakes_ <= (bias**2 + 1) * (R2 + 1) / rho**2


@pytest.mark.compiled
@pytest.mark.parametrize("n_features", [2, 10, 100, 1000, 10_000])
def test_the_bound_does_not_depend_on_the_dimension(n_features):
    """With the same margin and radius the bound is the same in 2 and in 10,000 dimensions, and it holds."""
    toy = teacher_student(100, n_features, margin=0.1, random_state=0)
    model = hs.Perceptron(intercept="none", random_state=0).fit(toy.X, toy.y)
    assert model.outcome_.converged
    assert model.mistakes_ <= 1.0 / 0.1**2 + 1e-6


def test_the_certified_bound_is_respected_and_verified():
    """The certificate's bound uses the certified margin only, is at least the number of mistakes, and verifies."""
    toy = teacher_student(80, 5, margin=0.1, random_state=3)
    for options in ({}, {"start": "unit"}, {"margin": 0.5, "eta0": 0.1}, {"class_weight": {-1: 2.0, 1: 0.5}}):
        model = hs.Perceptron(random_state=1, **options).fit(toy.X, toy.y)
        proof = model.certificate_
        assert model.mistakes_ == proof.mistakes <= proof.bound < np.inf
        assert proof.bracket.lower > 0
        assert proof.verify(toy.X, toy.y)


def test_the_two_curves_of_the_proof():
    """The overlap with the answer grows at least linearly in the mistakes, the squared norm at most linearly."""
    toy = teacher_student(100, 5, margin=0.05, random_state=7)
    model = hs.Perceptron(intercept="none", random_state=0).fit(toy.X, toy.y)
    course, bracket = model.history_, model.certificate_.bracket
    assert (course["overlap"] >= course["mistakes"] * bracket.lower - 1e-9).all()
    assert (course["squared_norm"] <= course["mistakes"] * bracket.radius**2 + 1e-9).all()


@pytest.mark.parametrize("options", [{}, {"eta0": 0.5}, {"class_weight": {-1: 3.0, 1: 1.0}}])
def test_the_weights_are_what_the_strengths_say(options):
    """w = Σ alpha_i y_i x_i, and alpha are non-negative integers times the rate."""
    toy = teacher_student(50, 4, margin=0.02, random_state=9)
    model = hs.Perceptron(random_state=3, **options).fit(toy.X, toy.y)
    held = (model.alpha_ * toy.y) @ np.column_stack([toy.X, np.ones(50)])
    np.testing.assert_allclose(np.append(model.coef_[0], model.intercept_), held, atol=1e-10)
    rate = options.get("eta0", 1.0) * np.array([options.get("class_weight", {}).get(label, 1.0) for label in toy.y])
    np.testing.assert_allclose(model.alpha_ / rate, np.round(model.alpha_ / rate), atol=1e-9)
    assert (model.alpha_ >= 0).all()


def test_a_zero_output_predicts_the_negative_class():
    """sgn(0) = -1."""
    model = hs.HebbClassifier(intercept="none").fit([[1.0, 0.0], [-1.0, 0.0]], ["yes", "no"])
    assert model.predict([[0.0, 5.0]]).tolist() == ["no"]


def test_steps_give_the_bracket_at_every_epoch():
    """At every moment kappa(w) <= kappa* <= ‖w‖/t."""
    toy = teacher_student(30, 3, margin=0.2, random_state=11)
    task = task_of(toy.X, toy.y)
    best = hs.Perceptron(intercept="none", margin=50.0, random_state=0).fit(toy.X, toy.y).certificate_.bracket
    method = Presenting(Rosenblatt(), task, Orders.in_order(30))
    for at in steps(method, method.start(), Budget(20), every=1):
        w, t = at.state.state.W[0], int(at.state.state.mistakes[0])
        lower = (toy.y * (toy.X @ w)).min() / np.linalg.norm(w)
        assert lower <= best.upper + 1e-12
        assert np.linalg.norm(w) / t >= best.lower - 1e-12
