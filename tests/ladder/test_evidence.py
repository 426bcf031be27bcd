"""Claims about chance: noise is called noise, signals are not lost, and the correction knows how alike the rungs are."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.metrics import balanced_accuracy_score, log_loss, mean_squared_error
from sklearn.model_selection import StratifiedKFold

from halfspace.ladder.evidence import (
    LEVEL,
    compare_in_folds,
    compare_numbers,
    compare_rows,
    constant_losses,
    paired_error,
    row_losses,
)


def neighbours_out_of_fold(X, y, choices=(1, 3, 9)):
    """Return what the k nearest training rows in other folds say, for each k."""
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    fold = np.empty(y.size, dtype=int)
    for number, (_, test) in enumerate(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)):
        fold[test] = number
    distances[fold[:, None] == fold] = np.inf
    order = np.argsort(distances, axis=1)
    votes = np.eye(y.max() + 1)[y[order]]
    return [votes[:, :k].sum(axis=1).argmax(axis=1) for k in choices]


@pytest.mark.parametrize(("share", "measure"), [(0.5, "accuracy"), (0.1, "balanced_accuracy")])
def test_noise_is_rarely_claimed(share, measure):
    """On labels that no column knows, the best of several rungs is claimed in at most 5 % of tables."""
    claims = 0
    for seed in range(80):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((80, 3)), (np.arange(80) < 80 * share).astype(int)
        losses = np.stack([row_losses(measure, y, p) for p in neighbours_out_of_fold(X, y)])
        claims += compare_rows(losses, constant_losses(measure, y)).claimed
    assert claims <= 4


@pytest.mark.parametrize("n", [12, 20, 40])
def test_noise_is_rarely_claimed_where_inputs_outnumber_rows(n):
    """Rows that were centred together, folds included, tell less than their number: that is counted."""
    y, claims, rng = np.arange(n) % 2, 0, np.random.default_rng(n)
    for _ in range(100):
        X = rng.standard_normal((n, 200))
        X -= X.mean(axis=0)
        outputs = np.empty(n)
        for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
            K = X[train] @ X[train].T + 0.1 * np.eye(train.size)
            outputs[test] = X[test] @ X[train].T @ np.linalg.solve(K, 2.0 * y[train] - 1.0)
        losses = row_losses("accuracy", y, (outputs > 0).astype(int))[None]
        claims += compare_numbers(losses, constant_losses("accuracy", y), outputs[None], y.astype(float), 1.0, lost=5).claimed
    assert claims <= 5


def test_a_signal_is_claimed():
    """Two classes one and a half deviations apart are told from noise by 80 rows."""
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.standard_normal((80, 2)) + 1.5 * y[:, None]
    losses = np.stack([row_losses("accuracy", y, p) for p in neighbours_out_of_fold(X, y)])
    evidence = compare_rows(losses, constant_losses("accuracy", y))
    assert evidence.claimed
    assert str(evidence).startswith("Better than a constant")


@pytest.mark.parametrize("measure", ["accuracy", "balanced_accuracy", "log_loss", "rmse", "mae"])
def test_losses_are_what_the_measure_averages(measure):
    """The mean of the losses of rows is the measure as scikit-learn has it, and no constant does better than the best."""
    rng = np.random.default_rng(2)
    y = rng.choice(3, 60, p=[0.6, 0.3, 0.1])
    chances = rng.dirichlet(np.ones(3), 60)
    expected = {
        "accuracy": np.mean(chances.argmax(axis=1) != y),
        "balanced_accuracy": 1.0 - balanced_accuracy_score(y, chances.argmax(axis=1)),
        "log_loss": log_loss(y, chances),
        "rmse": mean_squared_error(y, chances[:, 0]),
        "mae": np.abs(chances[:, 0] - y).mean(),
    }
    given = {"log_loss": chances, "rmse": chances[:, 0], "mae": chances[:, 0]}.get(measure, chances.argmax(axis=1))
    assert_allclose(row_losses(measure, y, given).mean(), expected[measure])
    constants = [np.tile(np.eye(3)[k] * 0.8 + 0.2 / 3, (60, 1)) if measure == "log_loss" else np.full(60, k) for k in range(3)]
    assert all(constant_losses(measure, y).mean() <= row_losses(measure, y, constant).mean() + 1e-12 for constant in constants)


def test_equal_rungs_count_once_and_unlike_ones_as_often_as_they_are():
    """Ten copies of a rung cost nothing; ten independent ones as much as Bonferroni takes, nearly."""
    rng = np.random.default_rng(3)
    gains = rng.standard_normal((10, 400)) + 0.125
    alone = compare_rows(-gains[:1], np.zeros(400))
    copies = compare_rows(-np.repeat(gains[:1], 10, axis=0), np.zeros(400))
    independent = compare_rows(-gains, np.zeros(400))
    t = alone.gains[0] / alone.errors[0]
    assert_allclose(alone.p_values[0], stats.t.sf(t, 399), rtol=0.2)
    assert_allclose(copies.p_values, alone.p_values[0], rtol=0.2)
    assert_allclose(independent.p_values[0], 1 - (1 - stats.t.sf(t, 399)) ** 10, rtol=0.2)


def test_passes_are_no_new_evidence():
    """The same predictions ten times over are as much evidence as once."""
    rng = np.random.default_rng(4)
    y = np.arange(50) % 2
    guess = np.where(rng.random(50) < 0.7, y, 1 - y)
    once, often = (row_losses("accuracy", y, predicted) for predicted in (guess, np.tile(guess, (10, 1))))
    assert_allclose(once, often)


def test_what_equals_the_constant_is_no_evidence():
    """A rung that predicts the constant, rows nobody predicted, and no rungs at all prove nothing."""
    y = np.array([0, 0, 0, 1])
    constant = constant_losses("accuracy", y)
    assert compare_rows(constant[None], constant).p_values.tolist() == [1.0]
    assert not compare_rows(np.full((2, 4), np.nan), constant).claimed
    assert not compare_rows(np.empty((0, 4)), constant).claimed


def test_a_few_lucky_rows_are_no_evidence():
    """Three rows of three, all right, are not evidence: one more row could go astray."""
    assert not compare_rows(np.zeros((1, 3)), np.ones(3)).claimed
    assert compare_rows(np.zeros((1, 40)), np.ones(40)).claimed


def test_rows_that_a_rung_was_not_tested_on_do_not_count():
    """A rung tested on a sample is judged by that sample."""
    rng = np.random.default_rng(5)
    gains = rng.standard_normal((2, 300)) + np.array([[0.5], [0.0]])
    part = gains.copy()
    part[0, 200:] = np.nan
    short, whole = compare_rows(-part, np.zeros(300)), compare_rows(-gains[:1, :200], np.zeros(200))
    assert_allclose(short.gains[0], whole.gains[0])
    assert_allclose(short.errors[0], whole.errors[0])


def test_scores_of_folds_have_the_corrected_variance():
    """With one rung the test of folds is the corrected t test of Nadeau and Bengio."""
    scores = np.array([0.6, 0.75, 0.5, 0.65, 0.62])
    evidence = compare_in_folds(scores, np.full(5, 0.5), n_splits=5)
    error = scores.std(ddof=1) * np.sqrt(1 / 5 + 1 / 4)
    assert_allclose(evidence.errors[0], error)
    assert_allclose(evidence.p_values[0], stats.t.sf((scores.mean() - 0.5) / error, 4), rtol=0.2)
    assert evidence.claimed == (evidence.p_values[0] <= LEVEL)


def test_a_measure_without_rows_is_sent_to_the_folds():
    """A measure that is no mean over rows is refused with the way to go."""
    with pytest.raises(ValueError, match="compare_in_folds"):
        row_losses("roc_auc", np.array([0, 1]), np.array([0, 1]))


def test_paired_errors_do_not_count_what_both_get_wrong():
    """Two rungs that err on the same rows but a few are told apart though the error of either score is larger."""
    rng = np.random.default_rng(6)
    hard = rng.random(500) < 0.3
    best, other = hard.astype(float), (hard | (rng.random(500) < 0.03)).astype(float)
    difference = paired_error(other, best)
    assert not difference.within_one_error
    assert difference.error < 0.5 * best.std() / np.sqrt(500)
    assert difference.mean < 2 * other.std() / np.sqrt(500)
