"""The report on numbers: pairs, residuals, weights with errors and intervals, and nothing about classes."""

import json

import numpy as np
import pytest

import halfspace as hs
from halfspace.report import gather, render
from halfspace.report.numbers import residuals_by_value, weights_with_errors


@pytest.mark.parametrize("winner", ["mean", "neighbours", "least_squares", "ridge", "bayesian"])
def test_every_winner_has_plain_findings(regressed, winner):
    """Findings of every kind of winner are JSON, about rows that it had not seen, with weights where it is linear."""
    ladder, X, y = regressed(winner)
    found = gather(ladder, X, y)
    kept = json.loads(json.dumps(found.to_dict(), allow_nan=False))["numbers"]
    assert kept["pairs"]["true"] == y[ladder.test_].tolist()
    assert kept["pairs"]["predicted"] == ladder.test_outputs_.tolist()
    assert (found.numbers.coefficients is None) == (winner in {"mean", "neighbours"})
    assert not found.classes
    assert found.balance is found.contradictions is None
    worst = found.numbers.far[0]
    assert worst.true == y[worst.row]
    assert worst.row in ladder.train_


def test_the_page_is_about_numbers(regressed):
    """The page names intervals, residuals and both sides of the ladder, and no classes or planes."""
    page = render(gather(*regressed("least_squares")))
    for said in ("Intervals with a guarantee", "Residuals against size", "Rows seen", "What is not:", "Predicted against true"):
        assert said in page
    for not_said in ("separating plane", "Classes</dt>", "mislabelled", "Confusion"):
        assert not_said not in page


def test_intervals_are_counted_on_held_out_rows(regressed):
    """Coverage and width are those of predict_interval for the rows held out."""
    ladder, X, y = regressed("least_squares")
    found = gather(ladder, X, y).guarantee
    low, high = ladder.predict_interval(X.iloc[ladder.test_], 0.9).T
    truth = y[ladder.test_]
    assert found.covered == np.mean((low <= truth) & (truth <= high))
    assert found.size == pytest.approx(np.mean(high - low))
    assert found.low <= found.covered <= found.high
    assert found.proved < 0.8


def test_without_held_out_rows_folds_take_their_place(regressed):
    """Without held-out rows the pairs are those out of fold, and the page says why there is no coverage."""
    _, X, y = regressed("mean")
    ladder = hs.RegressionLadder(rungs=("least_squares",), test_size=0, n_splits=3, n_repeats=1).fit(X, y)
    found = gather(ladder, X, y)
    assert not found.numbers.pairs.held_out
    assert found.numbers.pairs.n == 120
    assert found.guarantee is None
    assert found.missing["guarantee"] in render(found)


def test_residuals_show_what_is_missed():
    """Of a parabola a line misses the middle and the ends: means of groups leave 0 by many errors."""
    x = np.linspace(-1.0, 1.0, 200)
    X, y = x[:, None], x**2 + 0.01 * np.random.default_rng(0).normal(size=200)
    found = gather(hs.RegressionLadder(rungs=("least_squares",), n_splits=3, n_repeats=1).fit(X, y), X, y)
    column = found.numbers.residuals[-1]
    assert column.name == "x0"
    assert sum(count for *_, count in column.groups) == found.n_train
    means = [mean / error for _, mean, error, _ in column.groups]
    assert means[0] > 5
    assert means[len(means) // 2] < -5
    assert found.picture is None


def test_equal_numbers_stay_in_one_group():
    """A column of two values makes two groups."""
    found = residuals_by_value("x", np.arange(40.0) % 2, np.arange(40.0))
    assert [count for *_, count in found.groups] == [20, 20]


def test_errors_of_weights_are_those_of_the_model():
    """Standard errors come from the model, through a logarithm, and from a posterior's covariance."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    y = np.exp(X @ [1.0, -3.0] + rng.normal(size=50))
    model = hs.LogTarget().fit(X, y)
    found = weights_with_errors(model, ["a", "b"])
    assert found.names == ("b", "a")
    assert found.spread == tuple(model.regressor_.standard_errors_[::-1])
    bayesian = hs.BayesianRegression().fit(X, y)
    assert sorted(weights_with_errors(bayesian, "ab").spread) == sorted(np.sqrt(np.diag(bayesian.covariance_)))
    assert weights_with_errors(hs.KernelRegression().fit(X, y), "ab") is None
