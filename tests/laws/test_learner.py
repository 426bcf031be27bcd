"""The learner and the teacher."""

import numpy as np
import pytest

import halfspace as hs
from halfspace.data import teacher_student
from halfspace.errors import InputError


def as_dict(row):
    return {f"x{j}": value for j, value in enumerate(row.tolist())}


@pytest.mark.parametrize(
    "model",
    [
        hs.Perceptron(),
        hs.Perceptron(start="unit", margin=0.2),
        hs.AveragedPerceptron(),
        hs.PassiveAggressive(),
        hs.PocketPerceptron(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_it_is_partial_fit_bit_for_bit(model):
    """One dict after the other gives the weights, mistakes and answers of the rows in one table."""
    toy = teacher_student(40, 5, margin=0.1, random_state=0)
    learner = hs.Learner(model, classes=[-1, 1])
    for row, label in zip(toy.X, toy.y.tolist(), strict=True):
        learner.learn_one(as_dict(row), label)
    other = type(model)(**model.get_params()).partial_fit(toy.X, toy.y, classes=[-1, 1])
    assert np.array_equal(learner.estimator_.coef_, other.coef_)
    assert np.array_equal(learner.estimator_.intercept_, other.intercept_)
    assert learner.mistakes_ == other.mistakes_
    assert [learner.predict_one(as_dict(row)) for row in toy.X] == other.predict(toy.X).tolist()


def test_it_answers_before_it_has_seen_anything():
    """Zero weights say the negative class; those of the unit start what they say."""
    assert hs.Learner(hs.Perceptron()).predict_one({"a": 5.0}) is False
    assert hs.Learner(hs.Perceptron(), classes=list("abc")).predict_one([1.0, 2.0]) == "a"
    started = hs.Learner(hs.Perceptron(start="unit", intercept="none"), features=["a", "b"])
    assert started.predict_one({"a": 5.0}) is True
    assert started.predict_one({"a": -5.0}) is False


def test_new_features_begin_with_weight_zero():
    """A feature that turns up later changes nothing that was learnt before, and is learnt from then on."""
    learner = hs.Learner(hs.Perceptron())
    learner.learn_one({"a": 1.0}, True).learn_one({"a": -1.0}, False)
    before = learner.estimator_.coef_[0].tolist()
    learner.learn_one({"b": 2.0}, False)
    assert learner.features_ == ["a", "b"]
    assert learner.estimator_.coef_[0, :1].tolist() == before
    assert learner.estimator_.coef_[0, 1] == -2.0
    whole = hs.Perceptron().partial_fit([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0]], [True, False, False], classes=[False, True])
    assert np.array_equal(learner.estimator_.coef_, whole.coef_)
    assert np.array_equal(learner.estimator_.intercept_, whole.intercept_)
    with pytest.raises(InputError, match="all `features` at once"):
        hs.Learner(hs.AveragedPerceptron()).learn_one({"a": 1.0}, True).learn_one({"b": 1.0}, False)


@pytest.mark.parametrize("options", [{}, {"eta0": 0.2, "margin": 0.1}, {"start": "unit"}, {"class_weight": {-1: 2.0}}])
def test_mistakes_stay_below_the_bound(options):
    """At every moment, by the teacher and by the plane of largest margin; the latter bound is the smaller one."""
    toy = teacher_student(60, 4, margin=0.1, random_state=1)
    known = hs.Learner(hs.Perceptron(intercept="none", **options), classes=[-1, 1], teacher=toy.teacher)
    unknown = hs.Learner(hs.Perceptron(intercept="none", **options), classes=[-1, 1])
    for t, (row, label) in enumerate(zip(toy.X, toy.y.tolist(), strict=True), 1):
        known.learn_one(row, label)
        unknown.learn_one(row, label)
        if t % 12 == 0:
            assert known.mistakes_ <= unknown.bound() <= known.bound() * (1 + 1e-3)
    assert f"{known.mistakes_} mistakes in 60 examples; at most" in str(known)


def test_the_teacher_may_be_known_by_name():
    """A mapping of weights, an array with a bias, and an array without one."""
    X, y = np.array([[1.0, 0.0], [-1.0, 0.5], [2.0, 1.0]]), [True, False, True]
    bounds = []
    for teacher in ({"x0": 2.0}, np.array([1.0, 0.0]), np.array([1.0, 0.0, 0.0])):
        learner = hs.Learner(hs.Perceptron(), teacher=teacher)
        for row, label in zip(X, y, strict=True):
            learner.learn_one(as_dict(row), label)
        bounds.append(learner.bound())
    assert bounds == pytest.approx([bounds[0]] * 3)
    assert bounds[0] == pytest.approx(6.0)  # R² = 4 + 1 + 1, kappa = 1


def test_without_a_plane_there_is_no_bound():
    """An example with both labels, or one class only: the bound is infinite, and the sentence says the mistakes alone."""
    learner = hs.Learner(hs.Perceptron()).learn_one({"a": 1.0}, True)
    assert learner.bound() == np.inf
    learner.learn_one({"a": 1.0}, False)
    assert learner.bound() == np.inf
    assert str(learner) == "2 mistakes in 2 examples"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: hs.Learner(hs.AdaTron()), "needs a model that presents examples"),
        (lambda: hs.Learner(hs.Perceptron(), classes=[1]), "two or more different labels"),
        (lambda: hs.Learner(hs.Perceptron()).learn_one({}, True), "must have a feature"),
        (lambda: hs.Learner(hs.Perceptron(), features=["a"]).predict_one([1.0, 2.0]), "1 numbers in a row"),
        (lambda: hs.Learner(hs.Perceptron(), classes=list("abc")).bound(), "about two classes"),
    ],
)
def test_what_cannot_be_done_is_said(call, said):
    """Errors say what was expected."""
    with pytest.raises(InputError, match=said):
        call()
