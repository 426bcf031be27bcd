"""Answers are values that do not change, and what questions assume is what is documented."""

from dataclasses import FrozenInstanceError, fields
from importlib import import_module
from inspect import signature

import numpy as np
import pytest

import halfspace as hs
from halfspace.certificates.margins.label_count import LabelCount
from halfspace.questions.bias_variance import _answer, _squared_parts
from halfspace.questions.chance import ByChance
from halfspace.questions.learning_curve import Extrapolation
from halfspace.questions.query import Forced, Query


def answers():
    """Yield one answer of each question."""
    H = np.array([[1.0, 2.0], [0.0, 4.0], [3.0, 1.0]])
    yield _answer("squared", H, lambda part: _squared_parts(part, np.ones(2), 0.5))
    by_chance = ByChance(LabelCount.measure(np.eye(3)), 0.5, 2.0, 2.0, 3, 1)
    assert by_chance.p_value == 0.5
    yield by_chance
    guess = Extrapolation(450, 0.1, 0.05, 0.2, 0.9, 100, 0.15)
    assert guess.record
    yield guess
    yield hs.audit([0, 1], [0, 0])
    yield Forced("a", None)
    query = Query(np.arange(2), np.zeros(2), np.zeros(2), ("", ""), {}, np.arange(0), 0, 9)
    assert query.advice
    yield query
    yield hs.VersionSpace(np.eye(2), np.array([1, 0]), intercept="none").polygon()
    yield hs.experiment("hebb", 2, [1.0], seeds=2)


def test_answers_do_not_change():
    """Nothing can be put into one."""
    for answer in answers():
        for field in fields(answer):
            with pytest.raises(FrozenInstanceError):
                setattr(answer, field.name, getattr(answer, field.name))


def test_students_of_theory_are_fitted_as_documented():
    """The perceptron passes once, from weights 0; the plane of largest stability is found to a ten-thousandth."""
    students = import_module("halfspace.questions.experiment").STUDENTS
    rng = np.random.default_rng(3)
    X = rng.standard_normal((12, 3))
    y = np.where(X @ [1.0, -0.5, 0.2] > 0, 1.0, -1.0)
    w = np.zeros(3)
    for x, label in zip(X, y, strict=True):
        w += label * x * (label * (w @ x) <= 0)
    once = students["perceptron"](X, y)
    assert once.classes_.tolist() == [-1.0, 1.0]
    assert once.coef_[0] / np.linalg.norm(once.coef_) == pytest.approx(w / np.linalg.norm(w))
    about = students["stability"](X, y).get_params()
    assert [about[name] for name in ("C", "intercept", "tol", "random_state")] == [np.inf, "none", 1e-4, 0]


def test_limits_of_questions_are_those_known():
    """Whoever changes one changes it here too."""
    left_out = import_module("halfspace.questions.leave_one_out")
    assert left_out._limit(2) == 2.0
    assert (left_out.TOL, left_out.ROUNDS) == (1e-6, 60)
    separability = import_module("halfspace.questions.separability")
    assert hs.separability(np.eye(2), [0, 1]).verdict == "separable"
    assert (separability.WIDE, separability.SMALL, separability.BRACKETS) == (3000, 20_000_000, 4.0)
    assert signature(hs.separability).parameters["one_class"].default is False
    assert hs.margin_bracket(np.eye(2), np.array([0, 1])).lower > 0.0
    assert signature(hs.margin_bracket).parameters["tol"].default == 1e-3
