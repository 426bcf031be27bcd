"""The lectures' other numbers of a perceptron: proof curves, criterion, bounds from mistakes, sgn(0), draws, the unit start."""

import numpy as np
import pytest

import halfspace as hs
from halfspace.data import teacher_student
from halfspace.errors import InputError
from halfspace.plots import MistakeBoundDisplay
from halfspace.rows.orders import Orders

SETTINGS = [
    {},
    {"eta0": 0.1, "margin": 0.2},
    {"start": "unit", "eta0": 0.3},
    {"class_weight": {-1: 2.0, 1: 0.5}},
    {"at_zero": "negative"},
    {"replacement": True},
    {"shuffle": False, "intercept": "none"},
]


@pytest.mark.parametrize("options", SETTINGS, ids=str)
def test_both_proof_curves_keep_their_bounds_at_every_mistake(options):
    """M(t) is never below and Q(t) never above its bound, beside the answer and beside the teacher; they end at the weights."""
    toy = teacher_student(80, 5, margin=0.1, random_state=1)
    model = hs.Perceptron(random_state=0, **options).fit(toy.X, toy.y)
    teacher = toy.teacher if options.get("intercept") == "none" else np.append(toy.teacher, 0.0)
    for curves in (model.proof_curves(toy.X, toy.y), model.proof_curves(toy.X, toy.y, teacher)):
        assert curves.overlap.size == model.mistakes_ + 1
        assert (curves.overlap >= curves.least_overlap - 1e-9).all()
        assert (curves.square <= curves.most_square + 1e-9).all()
        assert (curves.cosine_squared <= 1 + 1e-9).all()
        assert (curves.cosine_squared >= np.where(curves.least_overlap > 0, curves.least_cosine_squared, 0.0) - 1e-9).all()
        assert model.mistakes_ <= curves.bound
        w = np.append(model.coef_[0], model.intercept_ if teacher.size > 5 else [])
        assert curves.square[-1] == pytest.approx(w @ w)
    assert curves.kappa >= toy.margin - 1e-9


def test_the_least_cosine_reaches_one_at_the_bound():
    """From zero the bounds of M² and Q meet exactly where Novikoff's bound says that no further mistake is possible."""
    toy = teacher_student(50, 4, margin=0.2, random_state=2)
    curves = hs.Perceptron(eta0=0.5, margin=0.3, random_state=0).fit(toy.X, toy.y).proof_curves(toy.X, toy.y)
    t = curves.bound
    assert curves.theorem.least_overlap(t, curves.kappa) ** 2 == pytest.approx(curves.theorem.most_square(t, curves.radius))


def test_proof_curves_are_of_the_examples_of_the_fit():
    """Other examples, inseparable ones, a teacher that separates nothing, or a stream are refused in a sentence."""
    toy = teacher_student(40, 3, margin=0.1, random_state=3)
    model = hs.Perceptron(random_state=0).fit(toy.X, toy.y)
    with pytest.raises(InputError, match="not the examples"):
        model.proof_curves(toy.X[::-1].copy(), toy.y[::-1])
    with pytest.raises(InputError, match="do not separate"):
        model.proof_curves(toy.X, toy.y, -np.append(toy.teacher, 0.0))
    with pytest.raises(InputError, match="must have 4 weights"):
        model.proof_curves(toy.X, toy.y, toy.teacher)
    with pytest.raises(InputError, match="needs a fit of two classes"):
        hs.Perceptron().partial_fit(toy.X, toy.y, classes=[-1, 1]).proof_curves(toy.X, toy.y)


def test_the_display_draws_every_mistake_for_any_rate():
    """Given the examples there is a point per mistake; with another start than zero they are asked for."""
    toy = teacher_student(60, 4, margin=0.1, random_state=4)
    model = hs.Perceptron(eta0=0.2, margin=0.1, start="unit", random_state=0).fit(toy.X, toy.y)
    display = MistakeBoundDisplay.from_estimator(model, toy.X, toy.y)
    assert display.mistakes.size == model.mistakes_ + 1
    assert display.length[0] == pytest.approx(1.0)
    with pytest.raises(InputError, match="needs the examples"):
        MistakeBoundDisplay.from_estimator(model)


def test_the_unit_start_is_equal_weights():
    """start="unit" begins at (1/√D, ..., 1/√D), the clamped weight among them."""
    toy = teacher_student(30, 3, margin=0.3, random_state=5)
    for intercept, D in (("clamped", 4), ("none", 3)):
        model = hs.Perceptron(start="unit", intercept=intercept, random_state=0).fit(toy.X, toy.y)
        assert model._began[0].tolist() == [1 / np.sqrt(D)] * D


@pytest.mark.filterwarnings("ignore::halfspace.errors.NotSeparatedWarning")
def test_the_criterion_is_the_sum_over_wrong_examples():
    """criterion_ is Σ max(0, -y f) of the answer: 0 if separated, one per class against the rest, one for native classes."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(3, size=60)
    two = hs.Perceptron(max_iter=3, random_state=0).fit(X, y == 0)
    sign = np.where(y == 0, 1.0, -1.0)
    assert two.criterion_ == pytest.approx(np.maximum(-sign * two.decision_function(X), 0.0).sum())
    many = hs.Perceptron(max_iter=3, random_state=0).fit(X, y)
    signs = np.where(y[:, None] == [0, 1, 2], 1.0, -1.0)
    assert many.criterion_ == pytest.approx(np.maximum(-signs * many.decision_function(X), 0.0).sum(axis=0))
    native = hs.Perceptron(max_iter=3, multi_class="native", random_state=0).fit(X, y)
    f = native.decision_function(X)
    assert native.criterion_ == pytest.approx((f.max(axis=1) - f[np.arange(60), y]).sum())
    toy = teacher_student(40, 3, margin=0.2, random_state=1)
    assert hs.Perceptron().fit(toy.X, toy.y).criterion_ == 0.0


def threshold_unit(X, y, epochs):
    """Return weights and mistakes of the rule on sgn(w·x) != y with sgn(0) = -1, as lectures write it, example by example."""
    w, mistakes = np.zeros(X.shape[1]), 0
    for _ in range(epochs):
        for x, label in zip(X, y, strict=True):
            if (1 if w @ x > 0 else -1) != label:
                w, mistakes = w + label * x, mistakes + 1
    return w, mistakes


def test_a_threshold_unit_makes_its_own_mistakes():
    """With at_zero="negative" the mistakes and weights are those of sgn(f) != y; the two meanings differ from zero weights."""
    OR, labels = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([-1, 1, 1, 1])
    clamped = np.hstack([OR, np.ones((4, 1))])
    model = hs.Perceptron(at_zero="negative", shuffle=False).fit(OR, labels)
    w, mistakes = threshold_unit(clamped, labels, model.n_iter_)
    assert np.append(model.coef_, model.intercept_).tolist() == w.tolist()
    assert model.mistakes_ == mistakes
    assert (model.predict(OR) == labels).all()
    assert hs.Perceptron(shuffle=False).fit(OR, labels).mistakes_ != mistakes
    toy = teacher_student(50, 4, margin=0.05, random_state=6)
    model = hs.Perceptron(at_zero="negative", shuffle=False, intercept="none").fit(toy.X, toy.y)
    w, mistakes = threshold_unit(toy.X, toy.y, model.n_iter_)
    assert model.mistakes_ == mistakes
    assert model.coef_[0] == pytest.approx(w)


@pytest.mark.parametrize("options", [{"margin": 0.1}, {"multi_class": "native"}])
def test_a_threshold_unit_has_no_margin(options):
    """sgn knows neither a margin nor several classes at once."""
    with pytest.raises(InputError, match="'at_zero'"):
        hs.Perceptron(at_zero="negative", **options).fit([[0.0], [1.0]], [0, 1])


def test_draws_with_replacement_repeat_rows():
    """An epoch has n draws, the same for the same seed; some rows come twice."""
    orders = Orders.drawn(200, seed=3)
    drawn = orders.at(0)
    assert np.array_equal(drawn, Orders.drawn(200, seed=3).at(0))
    assert not np.array_equal(drawn, orders.at(1))
    assert 100 < np.unique(drawn).size < 150  # about 1 - 1/e of them
    assert drawn.min() >= 0
    assert drawn.max() < 200


def test_with_replacement_the_end_is_an_end():
    """A fit that converged has no example left that would be a mistake, also if no epoch drew it; steps give the same."""
    for seed in range(20):
        toy = teacher_student(12, 3, margin=0.1, random_state=seed)
        model = hs.Perceptron(replacement=True, random_state=seed).fit(toy.X, toy.y)
        assert model.outcome_.converged
        assert (toy.y * model.decision_function(toy.X) > 0).all()
        other = hs.Perceptron(replacement=True, random_state=seed)
        for _ in other.steps(toy.X, toy.y):
            pass
        assert np.array_equal(other.coef_, model.coef_)
    with pytest.raises(InputError, match="'replacement'"):
        hs.Perceptron(replacement=True, shuffle=False).fit(toy.X, toy.y)


def test_the_bound_of_a_stream_holds():
    """In at least 95 of 100 streams the mean error of the weights on the way is below the bound; without delta it is M/n."""
    held = 0
    rng = np.random.default_rng(0)
    for seed in range(100):
        X = np.random.default_rng(seed).standard_normal((200, 5))
        teacher = rng.standard_normal(5)
        y, new = X @ teacher > 0, rng.standard_normal((300, 5))
        model, errors = hs.Perceptron(intercept="none"), []
        w = np.zeros(5)
        for x, label in zip(X, y, strict=True):
            errors.append(((new @ w > 0) != (new @ teacher > 0)).mean())
            s = 1.0 if label else -1.0
            w = w + s * x if s * (w @ x) <= 0 else w
        model.partial_fit(X, y, classes=[False, True])
        held += np.mean(errors) <= model.stream_bound(0.05)
        assert model.stream_bound(1.0) == model.mistakes_ / 200
    assert held >= 95
    with pytest.raises(InputError, match="seen once"):
        hs.Perceptron(patience=None).fit(X, y).stream_bound()


def test_the_compression_bound_holds_and_the_compressed_examples_are_enough():
    """The examples erred on, alone and in the same order, give the same weights; the error is below the bound."""
    rng = np.random.default_rng(1)
    teacher, X, new = rng.standard_normal(5), rng.standard_normal((2000, 5)), rng.standard_normal((5000, 5))
    y = X @ teacher > 0
    apart = np.abs(X @ teacher) > 0.1
    X, y = X[apart], y[apart]
    model = hs.Perceptron(intercept="none", shuffle=False).fit(X, y)
    again = hs.Perceptron(intercept="none", shuffle=False).fit(X[model.support_], y[model.support_])
    assert np.array_equal(again.coef_, model.coef_)
    new = new[np.abs(new @ teacher) > 0.1]
    assert (model.predict(new) != (new @ teacher > 0)).mean() <= model.compression_bound() < 1.0
    assert model.compression_bound() == hs.theory.compression_bound(model.support_.size, y.size)
    with pytest.raises(InputError, match="needs a fit that converged"):
        hs.Perceptron(intercept="none").partial_fit(X, y, classes=[False, True]).compression_bound()


@pytest.mark.parametrize("bad", [0.0, 1.5, -1, "x"])
def test_a_probability_is_asked_for(bad):
    """delta is above 0 and at most 1."""
    for ask in (hs.theory.stream_bound, hs.theory.compression_bound):
        with pytest.raises(InputError, match="'delta'"):
            ask(1, 10, bad)
