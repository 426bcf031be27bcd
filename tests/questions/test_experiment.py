"""Experiments agree with the theory."""

import matplotlib as mpl
import numpy as np
import pytest

import halfspace as hs
from halfspace.errors import InputError
from halfspace.plots import TheoryDisplay, VersionSpaceDisplay

mpl.use("Agg")
RULES = ("hebb", "adaline", "ridge", "perceptron", "stability", "gibbs", "bayes", "committee")


@pytest.mark.compiled
@pytest.mark.parametrize("rule", RULES)
def test_students_err_as_the_theory_says(rule):
    """With 60 inputs and 8 teachers every rule is within four standard errors, and 0.02 for the small N, of theory."""
    found = hs.experiment(rule, 60, [2.0], seeds=8)
    assert abs(found.means - found.expected)[0] < 4 * found.standard_errors[0] + 0.02
    assert "theory" in str(found)


def test_flipped_labels_are_learnt_against_the_teacher():
    """With a tenth of the labels flipped the error against the clean rule is what theory says."""
    found = hs.experiment("hebb", 100, [2.0, 5.0], seeds=20, flipped=0.1)
    assert (abs(found.z) < 4).all()


def test_one_class_of_labels_is_no_obstacle():
    """Two examples, often of one class, can be learnt from."""
    assert 0.0 < hs.experiment("stability", 5, [0.2], seeds=6).means[0] < 0.5


def test_curves_and_points_are_drawn():
    """The display holds a line for each rule and points for each experiment; a version space is drawn around its centre."""
    display = TheoryDisplay.from_experiments(
        [hs.experiment("hebb", 20, [1.0, 2.0], seeds=3), hs.experiment("ridge", 20, [1.0], seeds=3)]
    )
    assert set(display.curves) == {"hebb", "ridge"}
    assert len(display.ax_.containers) == 2
    assert TheoryDisplay.from_rules(["bayes"], [0.5, 1.0]).curves["bayes"][1] == hs.theory.learning_curve("bayes", 1.0)
    space = hs.VersionSpace(np.array([[1.0, 0.2], [0.1, 1.0], [-1.0, -0.5]]), np.array([1, 1, 0]))
    picture = VersionSpaceDisplay.from_space(space, n=20)
    assert np.abs(picture.centre).max() < 1e-12
    mpl.pyplot.close("all")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("hebb", 1, [1.0]), "'N' parameter of experiment must be a whole number of at least 2. Got 1"),
        (("hebb", 10, [1.0], 1), "'seeds' parameter"),
        (("pocket", 10, [1.0]), "'rule' must be one of"),
    ],
)
def test_wrong_arguments_are_named(arguments, said):
    """Errors name the parameter, what it must be and what came."""
    with pytest.raises(InputError, match=said):
        hs.experiment(*arguments)
