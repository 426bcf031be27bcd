"""Would more labels help: what the curve measures, and what its intervals do."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Perceptron

import halfspace as hs
from halfspace.errors import InputError
from halfspace.questions.learning_curve import HELD, Extrapolation

CHANCE = np.random.default_rng(1)


class Scripted:
    """A classifier whose error is a known function of the rows it has learnt from, for tests."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def get_params(self, deep=True):  # noqa: ARG002  (scikit-learn's name)
        return {"shift": self.shift}

    def set_params(self, **params):
        self.__dict__.update(params)
        return self

    def fit(self, X, y):  # noqa: ARG002  (scikit-learn's names)
        self.rate = 0.05 + 2.0 / (len(y) + self.shift)
        return self

    def predict(self, X):
        return np.where(CHANCE.random(len(X)) < self.rate, 1 - X[:, 1], X[:, 1]).astype(int)


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return np.stack([rng.standard_normal(n), y], axis=1), y


def test_a_known_curve_is_found():
    """Errors that fall like 0.05 + 2/m are met by the interval at ten times the rows."""
    held = 0
    for seed in range(5):
        curve = hs.LearningCurve(Scripted(), n_repeats=8, random_state=seed).fit(*rows(300, seed))
        found = curve.predict(3000)
        held += found.low <= 0.05 + 2.0 / 3000 <= found.high
        assert found.high - found.low < 0.08
    assert held >= 4


def test_what_cannot_improve_is_said_not_to():
    """A model that ignores the inputs has the same error at any size, and the sentence promises nothing."""
    X, y = rows(200)
    curve = hs.LearningCurve(DummyClassifier(strategy="most_frequent"), n_repeats=5).fit(X, y)
    found = curve.predict(2000)
    assert found.low - 0.02 <= np.mean(y != np.bincount(y).argmax()) <= found.high + 0.05
    assert "more rows help" not in str(found)
    assert str(found).startswith("From 200 to 2,000 rows: error ")


def test_rows_are_never_on_both_sides():
    """A model that remembers its rows is wrong on all others at every size."""

    class Memory(Scripted):
        def fit(self, X, y):  # noqa: ARG002
            self.seen = set(X[:, 0].tolist())
            return self

        def predict(self, X):
            assert not self.seen & set(X[:, 0].tolist())
            return (1 - X[:, 1]).astype(int)

    curve = hs.LearningCurve(Memory(), n_repeats=3).fit(*rows(100))
    assert (curve.errors_ == 1.0).all()


def test_samples_keep_the_shares_of_the_classes():
    """With few positives every sample has some."""
    X, y = rows(200)
    y[:] = np.arange(200) < 8
    curve = hs.LearningCurve(Perceptron(), n_repeats=3).fit(X, y)
    assert curve.sizes_[0] == 16
    assert curve.n_repeats_ == 3


def test_the_record_is_that_of_the_kept_run():
    """How often intervals held is what the benchmark measured, and the sentence names the nearest multiple."""
    kept = Path(__file__).parents[2] / "benchmarks" / "results" / "learning_curves.json"
    shares = [
        one["seconds"]["ours"] for one in json.loads(kept.read_text(encoding="utf-8"))["results"] if "held" in one["name"]
    ]
    assert shares == [held / tried for held, tried in HELD.values()]
    assert "at 4 times the rows" in Extrapolation(450, 0.1, 0.05, 0.2, 0.9, 100, 0.15).record


def test_time_is_kept():
    """A limit ends the repeats, but for three."""
    assert hs.LearningCurve(DummyClassifier(), max_time=1e-9).fit(*rows(100)).n_repeats_ == 3


@pytest.mark.parametrize("bad", [{"n_repeats": 2}, {"n_sizes": 1.5}])
def test_bad_parameters_are_refused(bad):
    """Too few repeats, sizes, rows, and questions about fewer rows than were measured."""
    X, y = rows(100)
    with pytest.raises(InputError, match=next(iter(bad))):
        hs.LearningCurve(DummyClassifier(), **bad).fit(X, y)
    with pytest.raises(InputError, match="at least 40"):
        hs.LearningCurve(DummyClassifier()).fit(X[:30], y[:30])
    curve = hs.LearningCurve(DummyClassifier(), n_repeats=3).fit(X, y)
    with pytest.raises(InputError, match="'n'"):
        curve.predict(3)
    with pytest.raises(InputError, match="'level'"):
        curve.predict(300, level=90)
