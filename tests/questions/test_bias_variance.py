"""Noise, bias and variance are what the formulas say."""

from dataclasses import replace
from inspect import signature

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier

import halfspace as hs
from halfspace.errors import InputError
from halfspace.questions import bias_variance as questions
from halfspace.questions.bias_variance import _answer, _squared_parts, _zero_one_parts

DESIGN = np.random.default_rng(0).standard_normal((30, 4))
CURVE = DESIGN @ np.array([1.0, -2.0, 0.5, 0.0]) + np.sin(3.0 * DESIGN[:, 0])


def fixed_design(rng):
    """Draw new noise of deviation 0.5 on the same rows."""
    return DESIGN, CURVE + 0.5 * rng.standard_normal(30), CURVE


def two_classes(rng):
    """Draw labels of which a fifth is wrong."""
    X = rng.standard_normal((40, 2))
    p = np.where(X[:, 0] > 0, 0.8, 0.2)
    return X, np.where(rng.random(40) < p, "yes", "no"), np.column_stack([1.0 - p, p])


def test_least_squares_has_the_variance_of_its_closed_form():
    """On fixed rows with noise σ² the variance is σ² p/n, the bias² that of the projection, each within 4 standard errors."""
    found = hs.bias_variance(hs.LinearRegression(), fixed_design, n_sets=200, n_points=30)
    inputs = np.column_stack([DESIGN, np.ones(30)])
    projection = inputs @ np.linalg.pinv(inputs)
    expected = {"noise": 0.25, "variance": 0.25 * 5 / 30, "bias": np.mean((CURVE - projection @ CURVE) ** 2)}
    for name, value in expected.items():
        error = found.standard_errors[name]
        assert abs(getattr(found, name) - value) < 4.0 * error < 0.05, name
    assert found.error == pytest.approx(sum(expected.values()), abs=4.0 * found.standard_errors["error"])


def test_the_parts_add_up():
    """error = noise + bias + variance to rounding, for both losses."""
    for model, problem in ((hs.LinearRegression(), fixed_design), (hs.HebbClassifier(), two_classes)):
        found = hs.bias_variance(model, problem, n_sets=20, n_points=100)
        assert found.error == pytest.approx(found.noise + found.bias + found.variance, abs=1e-12)


def test_domingos_identity_for_two_classes():
    """E(error) = c1 N + B + c2 V with c1 = 2q - 1 and c2 = ±1, row by row, is what the parts add up to."""
    rng = np.random.default_rng(0)
    codes, p = rng.integers(2, size=(25, 60)), rng.random(60)
    truth = np.column_stack([1.0 - p, p])
    best = truth.argmax(axis=1)
    main = (codes.mean(axis=0) > 0.5).astype(int)
    V, B, q = np.mean(codes != main, axis=0), main != best, np.mean(codes == best, axis=0)
    N, c2 = 1.0 - truth.max(axis=1), np.where(B, -1.0, 1.0)
    expected = [np.mean((2 * q - 1) * N + B + c2 * V), np.mean((2 * q - 1) * N), np.mean(B), np.mean(c2 * V)]
    np.testing.assert_allclose(_zero_one_parts(codes, truth), expected, atol=1e-12)


def test_a_constant_answer_has_no_variance():
    """A model that never looks at the rows has bias where it is wrong, noise of either sign, and no variance."""
    found = hs.bias_variance(DummyClassifier(strategy="constant", constant="yes"), two_classes, n_sets=5, n_points=400)
    assert found.variance == 0.0
    assert found.bias == pytest.approx(0.5, abs=0.1)
    assert found.noise == pytest.approx(0.2 * (1.0 - 2.0 * found.bias), abs=1e-12)
    assert found.standard_errors["variance"] == 0.0


class Thrower(ClassifierMixin, BaseEstimator):
    """Says one of three classes for all rows, by the first number it saw."""

    def fit(self, X, y):
        self.classes_, self.said_ = np.unique(y), np.unique(y)[int(abs(X[0, 0]) * 1e6) % 3]
        return self

    def predict(self, X):
        return np.full(X.shape[0], self.said_)


def test_three_classes_thrown_at_random():
    """Answers thrown at random err in two of three cases where the class is certain."""

    def certain(rng):
        X = rng.standard_normal((30, 1))
        return X, np.arange(30) % 3, np.eye(3)[np.arange(30) % 3]

    found = hs.bias_variance(Thrower(), certain, n_sets=300, n_points=30)
    assert found.error == pytest.approx(2.0 / 3.0, abs=1e-9)
    assert found.noise == 0.0
    assert found.bias == pytest.approx(2.0 / 3.0)


def test_the_sentence_says_what_to_do():
    """A line through a curve needs a richer model, as many weights as rows more examples, and the truth itself nothing."""
    found = hs.bias_variance(hs.LinearRegression(), fixed_design, n_sets=10, n_points=30)
    assert str(found).startswith("Squared error ")
    assert "bias outweighs variance: a richer model" in str(found)
    assert "variance outweighs bias: more examples" in str(replace(found, error=0.3, bias=0.0))
    assert "nearly all of it is noise" in str(replace(found, bias=0.0, variance=0.001))
    assert "Error rate" in str(hs.bias_variance(hs.HebbClassifier(), two_classes, n_sets=3, n_points=40))


def test_the_seed_decides():
    """The same seed gives the same numbers, another one others."""
    one, again, other = (hs.bias_variance(hs.LinearRegression(), fixed_design, n_sets=5, random_state=s) for s in (1, 1, 2))
    assert one == again
    assert one != other


@pytest.mark.parametrize(
    ("problem", "options", "message"),
    [
        (fixed_design, {"n_sets": 1}, "'n_sets' parameter of bias_variance must be a whole number of at least 2"),
        (fixed_design, {"n_points": 0.5}, "'n_points' parameter"),
        (lambda rng: (DESIGN, rng.standard_normal(30)), {}, "return X, y and the truth"),
        (lambda rng: (DESIGN, rng.standard_normal(30), np.ones((30, 2))), {}, "expected targets"),
    ],
)
def test_what_cannot_be_used_is_refused(problem, options, message):
    """Parameters and problems of the wrong kind are refused by name."""
    with pytest.raises(InputError, match=message):
        hs.bias_variance(hs.LinearRegression(), problem, **options)


def test_classes_need_probabilities():
    """A classifier needs the probability of each class, one column for each label."""
    with pytest.raises(InputError, match="the probabilities of the classes"):
        hs.bias_variance(hs.HebbClassifier(), lambda rng: (*two_classes(rng)[:2], np.ones(40)))
    with pytest.raises(InputError, match="probabilities of 3 classes, but its labels are 2"):
        hs.bias_variance(hs.HebbClassifier(), lambda rng: (*two_classes(rng)[:2], np.ones((40, 3))), n_sets=2, n_points=40)


def test_standard_errors_are_those_of_the_jackknife(monkeypatch):
    """Each set, or group of sets, is left out in turn; that of the noise is its own, and adds to that of the error."""
    H, truth = np.array([[1.0, 2.0], [0.0, 4.0], [3.0, 1.0], [2.0, 2.0]]), np.array([1.0, 3.0])
    parts = lambda part: _squared_parts(part, truth, 0.5)  # noqa: E731
    for groups in ([[0], [1], [2], [3]], [[0, 1], [2, 3]]):
        monkeypatch.setattr(questions, "GROUPS", len(groups))
        left_out = np.stack([parts(np.delete(H, group, axis=0)) for group in groups])
        spread = np.sqrt((len(groups) - 1) / len(groups) * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0))
        found = _answer("squared", H, parts, 0.25)
        assert (found.n_sets, found.n_points, found.loss) == (4, 2, "squared")
        assert [getattr(found, name) for name in ("error", "noise", "bias", "variance")] == pytest.approx(parts(H).tolist())
        assert [found.standard_errors[name] for name in ("bias", "variance")] == pytest.approx(spread[2:].tolist())
        assert found.standard_errors["noise"] == 0.25
        assert found.standard_errors["error"] == pytest.approx(np.hypot(spread[0], 0.25))
        assert _answer("squared", H, parts).standard_errors["noise"] == 0.0
    monkeypatch.setattr(questions, "GROUPS", 50)
    assert np.isnan(_answer("squared", H[:2], parts).standard_errors["bias"])
    assert np.isfinite(_answer("squared", H[:3], parts).standard_errors["bias"])
    variance = H.var(axis=0, ddof=1)
    bias = (H.mean(axis=0) - truth) ** 2 - variance / 4
    assert parts(H) == pytest.approx([0.5 + (bias + variance).mean(), 0.5, bias.mean(), variance.mean()])


def test_noise_is_measured_on_all_rows_and_so_many_new_ones_are_drawn():
    """Noise is the mean square of y - E[y|x] over all draws, with the error of a mean; new rows until there are enough."""
    draws = []

    def problem(rng):
        draws.append(fixed_design(rng))
        return draws[-1]

    for n_points, tests in ((30, 1), (31, 2), (1, 1)):
        draws.clear()
        found = hs.bias_variance(hs.LinearRegression(), problem, n_sets=3, n_points=n_points)
        assert (len(draws), found.n_points, found.n_sets) == (3 + tests, 30 * tests, 3)
        squares = np.concatenate([(y - known) ** 2 for _, y, known in draws])
        assert found.noise == pytest.approx(squares.mean(), rel=1e-12)
        assert found.standard_errors["noise"] == pytest.approx(squares.std() / np.sqrt(squares.size), rel=1e-12)
    defaults = signature(hs.bias_variance).parameters
    assert [defaults[name].default for name in ("n_sets", "n_points", "random_state")] == [100, 1000, 0]
    assert hs.bias_variance(hs.LinearRegression(), problem, n_sets=2, n_points=1).n_sets == 2
    for wrong in ({"n_points": 0}, {"n_sets": True}, {"n_points": True}):
        with pytest.raises(InputError, match="whole number"):
            hs.bias_variance(hs.LinearRegression(), problem, **wrong)
    edge = replace(found, error=1.0, bias=0.05, variance=0.05)
    assert "variance outweighs bias" in str(edge)
    assert "nearly all" in str(replace(edge, bias=0.049))
    assert "bias outweighs" in str(replace(edge, bias=0.051))
