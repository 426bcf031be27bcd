"""Learning curves, stability and volume against values by mpmath with 30 digits (make_reference.py), and their laws."""

import json
from pathlib import Path
from time import process_time

import numpy as np
import pytest

from halfspace import theory
from halfspace.errors import InputError

REFERENCE = json.loads(Path(__file__).with_name("reference.json").read_text(encoding="utf-8"))
ALPHAS = REFERENCE.pop("alphas")
OTHERS = {"kappa": theory.stability, "support_share": theory.support_share, "log_volume": theory.log_volume}
RULES = ("hebb", "adaline", "ridge", "perceptron", "stability", "gibbs", "bayes", "committee")


@pytest.mark.parametrize("name", REFERENCE)
def test_values_have_eight_digits(name):
    """For alpha from 1e-3 to 1e4 every value agrees with mpmath's to 1e-8 of itself, in an array as one by one."""
    rule, *flipped = name.split()
    function = OTHERS.get(rule, lambda a: theory.learning_curve(rule, a, *map(float, flipped)))
    found = function(np.array(ALPHAS)[:, None])
    np.testing.assert_allclose(found[:, 0], REFERENCE[name], rtol=1e-8)
    assert [function(alpha) for alpha in ALPHAS] == found[:, 0].tolist()


def test_a_value_takes_less_than_50_milliseconds():
    """No function needs more than 50 ms for a number, not even the first time."""
    calls = [lambda rule=rule: theory.learning_curve(rule, 7.7) for rule in RULES]
    calls += [lambda: theory.learning_curve("perceptron", 7.7, flipped=1e-4), lambda: theory.capacity(0.3, flipped=0.07)]
    calls += [lambda: theory.capacity(0.3, 0.07), lambda: theory.log_volume(7.7), lambda: theory.support_share(7.7)]
    for call in calls:
        began = process_time()
        call()
        assert process_time() - began < 0.05


def test_known_limits():
    """Errors fall as .5005/alpha, .6247/alpha and .4417/alpha, Hebb's as .40/sqrt(alpha); without examples all is a guess."""
    for rule, constant in (("stability", 0.5005), ("gibbs", 0.6247), ("bayes", 0.4417)):
        assert theory.learning_curve(rule, 1e4) * 1e4 == pytest.approx(constant, abs=1e-4)
    assert theory.learning_curve("hebb", 1e4) * 100 == pytest.approx(0.3989, abs=1e-4)
    assert [theory.learning_curve(rule, 0.0) for rule in RULES] == pytest.approx([0.5] * 8, rel=1e-15)
    assert theory.log_volume(1e-3) == pytest.approx(-1e-3 * np.log(2), rel=1e-3)
    assert (theory.stability(0.0), theory.support_share(0.0), theory.log_volume(0.0)) == (np.inf, 1.0, 0.0)


def test_adaline_has_its_peak():
    """As many examples as inputs teach the delta rule nothing; fewer and more teach it something."""
    assert theory.learning_curve("adaline", [0.5, 1.0, 1.5])[1] == 0.5
    assert theory.learning_curve("adaline", [0.5, 1.0, 1.5]).argmax() == 1


def test_no_rule_beats_bayes_and_no_linear_rule_the_best_ridge():
    """The order of the rules holds at every alpha."""
    alphas = np.geomspace(0.01, 1000, 12)
    curve = {rule: theory.learning_curve(rule, alphas) for rule in RULES}
    assert all((curve[rule] >= curve["bayes"]).all() for rule in RULES)
    assert (curve["hebb"] >= curve["ridge"]).all()
    assert (curve["adaline"] >= curve["ridge"]).all()
    assert (theory.support_share(alphas) >= curve["stability"]).all()


def test_committees_lie_between_one_member_and_the_centre():
    """One member is Gibbs, an even number is worth one fewer, and many are nearly the centre."""
    gibbs, bayes = theory.learning_curve("gibbs", 3.0), theory.learning_curve("bayes", 3.0)
    votes = [theory.learning_curve("committee", 3.0, members=K) for K in (1, 2, 3, 4, 101, 10001)]
    assert votes[0] == votes[1] == pytest.approx(gibbs, rel=1e-12)
    assert votes[2] == votes[3]
    assert votes == sorted(votes, reverse=True)
    assert bayes < votes[-1] < bayes + 1e-4


def test_labels_half_flipped_teach_nothing():
    """With half of the labels flipped every rule that allows flips stays at chance."""
    assert all(theory.learning_curve(rule, 5.0, flipped=0.5) == pytest.approx(0.5) for rule in RULES[:4])


def test_the_angle_is_the_error():
    """The error is the angle over π with its sign, to the last digits of a tiny angle, for rows as for one vector."""
    teacher = np.array([3.0, 4.0, 0.0])
    tiny = teacher + 1e-9 * 5.0 * np.array([0.0, 0.0, 1.0])
    assert theory.generalisation_error(tiny, teacher) == pytest.approx(1e-9 / np.pi, rel=1e-6)
    assert theory.generalisation_error([-teacher, 2 * teacher], teacher).tolist() == [1.0, 0.0]
    assert np.isnan(theory.generalisation_error(np.zeros(3), teacher))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: theory.learning_curve("adatron", 1.0), "'rule' must be one of hebb, adaline, .* Got 'adatron'"),
        (lambda: theory.learning_curve("gibbs", 1.0, flipped=0.1), "no formula for 'gibbs' with flipped labels"),
        (lambda: theory.learning_curve("hebb", [1.0, -2.0]), "'alpha' = P/N must be finite and not negative"),
        (lambda: theory.learning_curve("hebb", 1.0, flipped=0.7), "'flipped' must be a share from 0 to 0.5. Got 0.7"),
        (lambda: theory.learning_curve("committee", 1.0, members=0), "'members' must be a whole number of at least 1"),
        (lambda: theory.stability(float("nan")), "stability: 'alpha'"),
        (lambda: theory.generalisation_error([1.0, 2.0], [1.0, 2.0, 3.0]), "3 numbers a row, as the teacher has"),
    ],
)
def test_wrong_arguments_are_named(call, said):
    """Errors name what was expected and what came."""
    with pytest.raises(InputError, match=said):
        call()
