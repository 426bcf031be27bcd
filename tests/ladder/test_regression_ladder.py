"""The ladder of numbers: what it promises about its winner, its intervals, its limits and its mistakes."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.datasets import load_diabetes, make_friedman1

import halfspace as hs
from halfspace.errors import InputError
from halfspace.ladder import RegressionLadder
from halfspace.ladder.number_rungs import NUMBER_RUNGS
from halfspace.models.regression.log_target import LogTarget

pytestmark = pytest.mark.compiled
QUICK = ["mean", "least_squares", "ridge"]


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True)


@pytest.fixture(scope="module")
def climbed(diabetes):
    return RegressionLadder(curve=True, yardstick=True, novelty=True).fit(*diabetes)


def test_it_is_a_regressor_with_a_proof(climbed, diabetes):
    """scikit-learn sees a regressor; the winner's proof holds for the data of the fit and for no other targets."""
    X, y = diabetes
    assert is_regressor(climbed)
    assert climbed.verify(X, y)
    assert not climbed.verify(X, y[::-1])
    assert climbed.score(X, y) > 0.4


def test_every_rung_is_scored_by_all_measures_on_both_sides(climbed):
    """Each rung has its score, the one of the rows it saw, and RMSE, mean absolute error and R² with errors."""
    for rung in climbed.rungs_:
        assert rung.climbed, rung.skipped
        assert set(rung.measures) == {"rmse", "mae", "r2"}
        assert rung.measures["rmse"][0] == pytest.approx(rung.score)
        assert np.isfinite(rung.train_score)
    assert [rung.name for rung in climbed.rungs_] == list(NUMBER_RUNGS)


def test_the_held_out_score_is_that_of_the_predictions_before_the_refit(climbed, diabetes):
    """RMSE, interval and other measures can be had again from the kept predictions."""
    errors = climbed.test_outputs_ - diabetes[1][climbed.test_]
    assert climbed.test_result_.score == pytest.approx(np.sqrt(np.mean(errors**2)))
    assert climbed.test_result_.low <= climbed.test_result_.score <= climbed.test_result_.high
    assert climbed.test_result_.measures["mae"] == pytest.approx(np.abs(errors).mean())


def test_a_model_file_holds_everything_that_answers(climbed, diabetes, tmp_path):
    """A saved ladder predicts, gives intervals and p-values, and is verified as before."""
    X, y = diabetes
    hs.save(climbed, tmp_path / "m")
    again = hs.load(tmp_path / "m")
    assert np.array_equal(again.predict(X), climbed.predict(X))
    assert np.array_equal(again.predict_interval(X[:9], 0.8), climbed.predict_interval(X[:9], 0.8))
    assert np.array_equal(again.novelty_.p_values(again.encode(X[:9])), climbed.novelty_.p_values(climbed.encode(X[:9])))
    assert again.verify(X, y)
    assert again.yardstick_ == climbed.yardstick_


def test_intervals_hold_what_they_say():
    """On new rows with noise that differs in size, 90 % intervals hold about 90 %, and are wider where noise is larger."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (900, 2))
    y = X[:, 0] + (0.2 + np.abs(X[:, 1])) * rng.standard_normal(900)
    ladder = RegressionLadder(rungs=QUICK).fit(X[:300], y[:300])
    low, high = ladder.predict_interval(X[300:]).T
    assert 0.85 < np.mean((low <= y[300:]) & (y[300:] <= high)) < 0.96
    wide = np.abs(X[300:, 1]) > 1.5
    assert (high - low)[wide].mean() > 1.3 * (high - low)[~wide].mean()


def test_targets_without_meaning_leave_the_mean():
    """Where targets have nothing to do with the rows, the mean is kept and the verdict says why."""
    rng = np.random.default_rng(1)
    ladder = RegressionLadder(rungs=QUICK).fit(rng.standard_normal((200, 4)), rng.standard_normal(200))
    assert ladder.winner_ == "mean"
    assert "Nothing here is reliably better than the mean" in ladder.verdict_
    assert not ladder.evidence_.claimed


def test_a_smooth_function_of_some_columns_is_climbed_to_the_top():
    """Where lines fall short kernels are better by far, and best with a metric where half of the columns say nothing."""
    X, y = make_friedman1(400, noise=0.5, random_state=0)
    ladder = RegressionLadder().fit(X, y)
    scores = {rung.name: rung.score for rung in ladder.rungs_}
    assert ladder.winner_ == "relevance"
    assert scores["relevance"] < 0.8 * scores["kernel"]
    assert scores["kernel"] < 0.7 * scores["least_squares"]


def test_prices_are_learnt_by_their_logarithm_and_predicted_as_prices():
    """Where effects multiply, the logarithm is chosen, said so, and predictions are in the target's own units."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    y = np.exp(2.0 + X @ [0.8, -0.5, 0.3] + 0.1 * rng.standard_normal(300))
    ladder = RegressionLadder(rungs=QUICK).fit(X, y)
    assert isinstance(ladder.estimator_, LogTarget)
    assert next(rung for rung in ladder.rungs_ if rung.name == ladder.winner_).params["target"] == "log"
    assert np.median(np.abs(ladder.predict(X) / y - 1.0)) < 0.12
    assert (ladder.predict_interval(X) > 0).all()
    assert ladder.verify(X, y)


def test_groups_times_and_weights_are_heard():
    """Rows of a group stay together, time goes forwards and gives no intervals, weights of 0 count for nothing."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 3))
    y = X[:, 0] + 0.1 * rng.standard_normal(150)
    group = np.arange(150) // 5
    kept = RegressionLadder(rungs=QUICK).fit(X, y, groups=group)
    assert not set(group[kept.train_]) & set(group[kept.test_])
    forwards = RegressionLadder(rungs=QUICK).fit(X, y, times=np.arange(150.0))
    assert forwards.test_.min() > forwards.train_.max()
    with pytest.raises(InputError, match="guarantee"):
        forwards.predict_interval(X)
    y[:10] += 100.0
    weighed = RegressionLadder(rungs=QUICK).fit(X, y, sample_weight=np.arange(150) >= 10)
    assert np.abs(weighed.estimator_.coef_[0] * X[:, 0].std() ** -1 - 1.0) < 0.3
    with pytest.raises(TypeError, match="weights"):
        RegressionLadder(rungs=QUICK).fit(X, y, weights=group)


@pytest.mark.parametrize(
    ("X", "y", "word"),
    [
        (np.zeros((3, 2)) + np.arange(3)[:, None], np.arange(3.0), "at least 4 rows"),
        (np.arange(20.0)[:, None] ** 2, np.full(20, np.nan), "NaN"),
        (np.arange(20.0)[:, None] ** 2, list("ab" * 10), "numbers"),
    ],
    ids=["few rows", "missing targets", "words"],
)
def test_targets_that_cannot_be_used_are_refused(X, y, word):
    """Too few rows, missing targets and words are refused by a sentence."""
    with pytest.raises((InputError, ValueError), match=word):
        RegressionLadder(rungs=QUICK).fit(X, y)


@pytest.mark.parametrize("shape", [(12, 300), (60, 1), (200, 40)], ids=["wide", "one column", "sparse"])
def test_odd_shapes_are_climbed(shape):
    """Wide, narrow and sparse rows, constant and repeated columns give a winner whose proof holds."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape) * (rng.random(shape) < 0.3)
    X[:, 1 + shape[1] // 2 :: 7] = 3.0
    rows = sparse.csr_matrix(X) if shape[1] == 40 else X
    y = X[:, 0] + 0.1 * rng.standard_normal(shape[0])
    ladder = RegressionLadder().fit(rows, y)
    assert ladder.verify(rows, y)
    assert ladder.predict(rows).shape == y.shape


def test_constant_targets_are_predicted():
    """A target with one value is that value, with a proof."""
    X = np.random.default_rng(0).standard_normal((30, 2))
    ladder = RegressionLadder(rungs=QUICK).fit(X, np.full(30, 7.0))
    assert np.allclose(ladder.predict(X), 7.0)
    assert ladder.verify(X, np.full(30, 7.0))


def test_something_is_kept_however_short_the_time(diabetes):
    """With no time at all the mean answers, with its score and its proof."""
    ladder = RegressionLadder(max_time=1e-9).fit(*diabetes)
    assert (ladder.winner_, ladder.outcome_.reason) == ("mean", "time budget spent")
    assert ladder.verify(*diabetes)
