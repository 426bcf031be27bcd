"""Experiments agree with the theory."""

from importlib import import_module
from inspect import signature

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


questions = import_module("halfspace.questions.experiment")


def drawn(N, P, flipped, seed):
    """Return teacher, examples and labels, drawn as documented."""
    rng = np.random.default_rng(seed)
    teacher, X = rng.standard_normal(N), rng.standard_normal((P, N))
    y = np.sign(X @ teacher) * np.where(rng.random(P) < flipped, -1.0, 1.0)
    return teacher, X, y


def angle(w, teacher):
    return np.arccos(w @ teacher / np.sqrt((w @ w) * (teacher @ teacher))) / np.pi


@pytest.mark.parametrize("flipped", [0.0, 0.2])
def test_students_are_those_of_their_formulas(flipped):
    """Hebb's rule is the sum of examples times labels; ridge has the penalty N (1 - b)/b, b = (1 - 2 flipped)² 2/π."""
    for seed in range(3):
        teacher, X, y = drawn(7, 12, flipped, seed)
        b = (1.0 - 2.0 * flipped) ** 2 * 2.0 / np.pi
        ridge = np.linalg.solve(X.T @ X + 7 * (1.0 - b) / b * np.eye(7), X.T @ y)
        for rule, w in (("hebb", y @ X), ("ridge", ridge), ("adaline", np.linalg.lstsq(X, y, rcond=None)[0])):
            assert questions._error(rule, 7, 12, flipped, 3, seed) == pytest.approx(angle(w, teacher), abs=1e-3)


def test_labels_of_one_class_are_turned():
    """Where both examples have one label the rule learns y x all the same."""
    found = set()
    for seed in range(6):
        teacher, X, y = drawn(4, 2, 0.0, seed)
        found.add(abs(y.sum()))
        assert questions._error("hebb", 4, 2, 0.0, 3, seed) == pytest.approx(angle(y @ X, teacher), abs=1e-9)
    assert found == {0.0, 2.0}


def test_members_stand_for_their_rules(monkeypatch):
    """Gibbs is the mean error of 1,000 members, Bayes the error of their mean, a committee votes by its majority."""
    asked = []

    class Space:
        def __init__(self, X, y, *, intercept, random_state):
            assert intercept == "none"
            assert (y * (X @ drawn(3, 6, 0.0, 5)[0]) > 0).all()
            self.rng = random_state

        def sample(self, n):
            asked.append(n)
            return np.resize(np.array([[1.0, 0.2, 0.0], [0.3, 1.0, 0.0], [0.0, -0.5, 1.0]]), (n, 3))

    monkeypatch.setattr(questions, "VersionSpace", Space)
    teacher = drawn(3, 6, 0.0, 5)[0]
    W = Space.sample(None, 1000)
    mean = np.mean([angle(w, teacher) for w in W])
    assert questions._error("gibbs", 3, 6, 0.0, 3, 5) == pytest.approx(mean, rel=1e-9)
    assert questions._error("bayes", 3, 6, 0.0, 3, 5) == pytest.approx(angle(W.mean(axis=0), teacher), rel=1e-9)
    rng = np.random.default_rng(5)
    rng.standard_normal(3), rng.standard_normal((6, 3)), rng.random(6)
    tests = rng.standard_normal((2000, 3))
    committees = W[:250][rng.permutation(250)].reshape(50, 5, 3)
    wrong = [(np.sign(x @ teacher) != np.sign(np.sign(c @ x).sum())) for c in committees for x in tests[:100]]
    monkeypatch.setattr(questions, "TESTS", 2000)
    found = questions._error("committee", 3, 6, 0.0, 5, 5)
    assert found == pytest.approx(np.mean(wrong), abs=0.05)
    votes = np.sign(np.sign(np.einsum("cmi,ti->cmt", committees, tests)).sum(axis=1))
    assert found == pytest.approx((votes != np.sign(tests @ teacher)).mean(), abs=1e-12)
    assert asked == [1000, 1000, 1000, 250]
    assert (questions.MEMBERS, questions.TESTS) == (1000, 2000)


def test_means_and_standard_errors_are_over_the_seeds(monkeypatch):
    """Examples are a whole number of at least two; each seed counts up from the first."""
    monkeypatch.setattr(questions, "_error", lambda rule, N, P, flipped, members, seed: P + (seed - 3) ** 2)  # noqa: ARG005
    found = hs.experiment("hebb", 10, [0.05, 0.26, 2.0], seeds=4, flipped=0.1, random_state=3)
    assert found.alphas.tolist() == [0.2, 0.3, 2.0]
    assert found.means == pytest.approx(np.array([2, 3, 20]) + 14 / 4)
    spread = np.std([0, 1, 4, 9], ddof=1) / 2
    assert found.standard_errors == pytest.approx(np.full(3, spread))
    assert found.expected == pytest.approx(hs.theory.learning_curve("hebb", found.alphas, 0.1, 3))
    assert found.z == pytest.approx((found.means - found.expected) / spread)
    assert (found.N, found.seeds, found.flipped, found.members, found.rule) == (10, 4, 0.1, 3, "hebb")
    defaults, fields = signature(hs.experiment).parameters, signature(questions.Experiment).parameters
    assert [defaults[name].default for name in ("seeds", "flipped", "members", "random_state")] == [25, 0.0, 3, 0]
    assert [fields[name].default for name in ("flipped", "members")] == [0.0, 3]
    assert hs.experiment("hebb", 2, [1.0], seeds=2).means[0] == pytest.approx(2 + 9 / 2 + 4 / 2)
    for wrong in ((True, 4), (10, True), (10.0, 4), (1, 4), (10, 1)):
        with pytest.raises(InputError, match="whole number of at least 2"):
            hs.experiment("hebb", wrong[0], [1.0], seeds=wrong[1])
