"""Would more labels help: what the curve measures, and what its intervals do."""

import json
from inspect import signature
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Perceptron

import halfspace as hs
from halfspace.errors import InputError
from halfspace.questions import learning_curve
from halfspace.questions.learning_curve import HELD, Extrapolation, _order, _quantiles

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


class Limited(DummyClassifier):
    """A classifier that notes its time limits, for tests."""

    def __init__(self, max_time=None):
        super().__init__()
        self.max_time = max_time

    def fit(self, X, y):
        """Note the limit."""
        SEEN.append(self.max_time)
        return super().fit(X, y)


SEEN = []


def test_the_estimator_shares_the_time():
    """Each fit of the first three repeats gets its share of the limit, if it has none of its own."""
    SEEN.clear()
    hs.LearningCurve(Limited(), n_repeats=3, max_time=60.0).fit(*rows(100))
    assert all(60.0 / 24 / 2 < seconds <= 60.0 / 8 for seconds in SEEN)
    SEEN.clear()
    hs.LearningCurve(Limited(7.0), n_repeats=3, max_time=60.0).fit(*rows(100))
    hs.LearningCurve(Limited(), n_repeats=3).fit(*rows(100))
    assert set(SEEN) == {7.0, None}


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


def measured(errors, spread, d=3, n=120):
    """Return a curve of these mean errors, as if it had been measured."""
    curve, K = hs.LearningCurve(None), len(errors)
    curve.sizes_, curve.errors_ = np.unique(np.geomspace(10, 96, K).astype(int)), np.array(errors)
    curve.covariance_ = spread**2 * (0.5 * np.eye(K) + 0.5)
    curve.n_features_in_, curve.n_rows_ = d, n
    return curve


@pytest.mark.parametrize(
    ("errors", "spread"), [([0.4, 0.3, 0.24, 0.2], 0.02), ([0.3, 0.2, 0.12, 0.05], 0.001), ([0.1, 0.2, 0.3, 0.9], 0.01)]
)
def test_the_answer_is_that_of_bayes_by_hand(errors, spread, monkeypatch):
    """Ten curves, a grid of a and b each within six deviations and the prior, weighed by evidence; quantiles of all points."""
    monkeypatch.setattr(learning_curve, "GRID", 6)
    curve, points = measured(errors, spread), []
    S = np.linalg.inv(curve.covariance_)
    for c, j in product((0.5, 1.0), (0.0, 0.5, 1.0, 2.0, 4.0)):
        fall = lambda m, c=c, j=j: ((10 + 3 * j) / (m + 3 * j)) ** c  # noqa: E731
        x = np.array([fall(m) for m in curve.sizes_])
        ones = np.ones(4)
        M = np.array([[ones @ S @ ones, ones @ S @ x], [ones @ S @ x, x @ S @ x]]) + 1e-9 * np.eye(2)
        best, wide = np.linalg.solve(M, [ones @ S @ errors, x @ S @ errors]), 6.0 * np.sqrt(np.linalg.inv(M).diagonal())
        grids, share = [], 1.0
        for k, most in ((0, 0.6), (1, 1.0)):
            ends = max(0.0, best[k] - wide[k]), min(most, best[k] + wide[k])
            ends = ends if ends[1] > ends[0] else (0.0, most)
            grids.append([ends[0] + (ends[1] - ends[0]) * i / 5 for i in range(6)])
            share *= (ends[1] - ends[0]) / most
        for a, b in product(*grids):
            rest = np.array(errors) - a - b * x
            points.append((-0.5 * rest @ S @ rest + np.log(share), a + b * fall(120), a + b * fall(1000)))
    logs, now, then = np.array(points).T
    weights = np.exp(logs - logs.max())

    def quantile(values, q):
        order = np.argsort(values)
        reached = np.cumsum(weights[order]) >= q * weights.sum() * (1 - 1e-12)
        return values[order][reached.argmax()]

    found = curve.predict(1000, level=0.8)
    expected = [quantile(then, 0.1), quantile(then, 0.5), quantile(then, 0.9), quantile(now, 0.5)]
    assert [found.low, found.error, found.high, found.error_now] == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert (found.n, found.n_now, found.level) == (1000, 120, 0.8)


def test_settings_of_the_curve_are_those_documented():
    """Grid, defaults and limits; both ends of what may be asked."""
    assert (learning_curve.GRID, learning_curve.FEWEST, learning_curve.HIGHEST) == (120, 40, 0.6)
    defaults = signature(hs.LearningCurve).parameters
    assert [defaults[name].default for name in ("n_repeats", "n_sizes", "random_state")] == [25, 8, 0]
    curve = measured([0.4, 0.3, 0.24, 0.2], 0.02)
    assert curve.predict(10).level == 0.9
    for wrong in (9, True, 100.0):
        with pytest.raises(InputError, match="'n'"):
            curve.predict(wrong)
    for wrong in (0.0, 1.0, 1):
        with pytest.raises(InputError, match="'level'"):
            curve.predict(100, level=wrong)
    X, y = rows(40)
    assert hs.LearningCurve(DummyClassifier(), n_repeats=3, n_sizes=4).fit(X, y).n_rows_ == 40
    for wrong in ({"n_repeats": True}, {"n_sizes": 3}, {"n_sizes": 4.0}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            hs.LearningCurve(DummyClassifier(), **wrong).fit(X, y)
    for data in ((X[:39], y[:39]), (X, np.zeros(40))):
        with pytest.raises(InputError, match="at least 40 rows of at least two classes"):
            hs.LearningCurve(DummyClassifier()).fit(*data)


def test_quantiles_are_the_first_values_that_reach_a_share():
    """Values 1, 2, 3 of weights 1, 2, 1: a quarter is reached at 1, three quarters at 2, and all at 3."""
    values, weights = np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0])
    assert _quantiles(values, weights, (0.0, 0.25, 0.26, 0.75, 0.76, 1.0)) == [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]
    assert _quantiles(values, weights, (2.0,)) == [3.0]


def test_classes_are_spread_evenly_over_an_order():
    """The first of each class come first; the others at random places, each in its turn."""
    same = SimpleNamespace(permutation=lambda own: own[::-1], random=lambda: 0.5)
    y = np.array([0, 0, 0, 0, 1, 1])
    assert _order(y, same).tolist() == [3, 5, 2, 1, 4, 0]
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(60) % 10 == 0)
    for _ in range(5):
        found = np.cumsum(y[_order(y, rng)])
        assert found[1] == 1
        assert np.abs(found - 0.1 * np.arange(1, 61)).max() <= 1.1


def test_the_nearest_multiple_is_named():
    """Of 2, 4 and 10 times the rows, by the ratio."""
    for n, factor in ((100, 2), (280, 2), (290, 4), (620, 4), (640, 10), (5000, 10)):
        assert f"at {factor} times the rows" in Extrapolation(n, 0.1, 0.05, 0.2, 0.9, 100, 0.15).record


def test_errors_and_their_covariance_are_those_of_the_rows(monkeypatch):
    """Mean over rows of their share of wrong answers; covariance over rows, and over repeats on the diagonal."""
    kept, plain = [], hs.LearningCurve._repeat

    def repeat(self, X, y, order, wrong, told, seconds):
        before = wrong.copy(), told.copy()
        shares = plain(self, X, y, order, wrong, told, seconds)
        for k, m in enumerate(self.sizes_):
            missed, asked = wrong[:, k] - before[0][:, k], told[:, k] - before[1][:, k]
            assert (asked == ~np.isin(np.arange(y.size), order[:m])).all()
            assert shares[k] == missed.sum() / asked.sum()
            assert missed[order[:m]].sum() == 0
        kept.append((wrong, told, shares))
        return shares

    monkeypatch.setattr(hs.LearningCurve, "_repeat", repeat)
    for n, n_sizes in ((130, 5), (60, 4)):
        kept.clear()
        curve = hs.LearningCurve(Scripted(), n_repeats=3, n_sizes=n_sizes).fit(*rows(n))
        first = max(n // 12, 8)
        assert curve.sizes_.tolist() == [int(first * (0.8 * n / first) ** (k / (n_sizes - 1)) + 1e-9) for k in range(n_sizes)]
        wrong, told, _ = kept[-1]
        assert (told == 0).any()
        e = wrong / np.where(told, told, np.nan)
        mean = np.nanmean(e, axis=0)
        e = np.where(told > 0, e, mean)
        shares = np.array([one for *_, one in kept])
        spread = ((shares - shares.mean(axis=0)) ** 2).sum(axis=0) / 2 / 3
        covariance = (e - mean).T @ (e - mean) / (n - 1) / n + np.diag(spread + 1e-9) + n**-2
        assert curve.errors_ == pytest.approx(mean)
        np.testing.assert_allclose(curve.covariance_, covariance, rtol=1e-9, atol=1e-15)
        assert curve.standard_errors_ == pytest.approx(np.sqrt(covariance.diagonal()), rel=1e-9)
        assert (curve.n_features_in_, curve.n_rows_, curve.n_repeats_) == (2, n, 3)


def test_the_clock_is_asked_after_three_repeats(monkeypatch):
    """Without a limit all are made; with one, none from the fourth on that would end, like the longest, when it is reached."""
    given, plain = [], hs.LearningCurve._repeat

    def repeat(self, *data):
        given.append(data[-1])
        return plain(self, *data)

    monkeypatch.setattr(hs.LearningCurve, "_repeat", repeat)
    for limit, repeats in ((8.0, 3), (8.5, 4), (30.0, 6), (None, 6)):
        ticks = iter(range(99))
        monkeypatch.setattr(learning_curve, "time", SimpleNamespace(perf_counter=lambda ticks=ticks: float(next(ticks))))
        given.clear()
        assert hs.LearningCurve(DummyClassifier(), n_repeats=6, max_time=limit).fit(*rows(40)).n_repeats_ == repeats
        if limit == 30.0:
            assert given == pytest.approx([29 / 3, 27 / 2, 25, 23, 21, 19])
    assert given == [np.inf] * 6


def test_fits_share_the_seconds_of_a_repeat():
    """Equally over the sizes, but a thousandth of a second at least."""
    X, y = rows(100)
    for seconds, share in ((8.0, 2.0), (1e-9, 1e-3)):
        curve, SEEN[:] = hs.LearningCurve(Limited()), []
        curve.sizes_ = np.array([10, 20, 40, 80])
        curve._repeat(X, y, np.arange(100), np.zeros((100, 4)), np.zeros((100, 4)), seconds)
        assert [share] * 4 == SEEN
