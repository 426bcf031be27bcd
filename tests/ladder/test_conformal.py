"""Cross-validation+ holds what it promises, costs what it should, and refuses what it cannot give."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris

import halfspace as hs
from halfspace.certificates.fields import faults
from halfspace.errors import InputError
from halfspace.ladder import conformal
from halfspace.ladder.conformal import Intervals, Sets, predictions_of, proved_level, rows_needed


def fitted(Z, y, m=5, make=lambda: hs.LinearRegression(ridge="cv")):
    """Return folds, their models and the intervals."""
    fold = np.arange(y.size) % m
    models = [make().fit(Z[fold != k], y[fold != k]) for k in range(m)]
    return fold, models, Intervals.of(y, predictions_of(models, Z, fold), fold, Z)


def new_predictions(models, Z):
    return np.stack([model.predict(Z) for model in models], axis=1)


def uneven(n, seed, d=3):
    """Return rows and targets whose noise grows with the last column."""
    rng = np.random.default_rng(seed)
    Z = rng.uniform(-1.5, 1.5, (n, d))
    return Z, Z.sum(axis=1) + np.exp(Z[:, -1]) * rng.standard_normal(n)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(("n", "m"), [(9, 5), (60, 7), (30, 2)])
def test_ranks_are_those_of_all_values_together(n, m, ties):
    """Every rank found by halving is the one found by sorting all n values, with ties and with empty folds."""
    rng = np.random.default_rng(n)
    R, fold = np.abs(rng.standard_normal(n)), rng.integers(m - 1, size=n)
    R = np.round(R) if ties else R
    mu, sigma = rng.standard_normal((20, m)), np.exp(rng.standard_normal((20, m)))
    parts = [np.sort(R[fold == k]) for k in range(m)]
    together = np.sort(mu[:, fold] + sigma[:, fold] * R, axis=1)
    for rank in range(1, n + 1):
        np.testing.assert_allclose(conformal._ranked(mu, sigma, parts, rank), together[:, rank - 1], rtol=0, atol=1e-12)


def test_an_interval_is_the_definition():
    """The ends are the j-th smallest and largest of µ_k(x) ± R_i σ_k(x), written out for every pair of rows."""
    Z, y = uneven(83, 0)
    fold, models, intervals = fitted(Z, y)
    fresh, j = uneven(40, 1)[0], 8  # floor(0.1 * 84)
    mu = new_predictions(models, fresh)
    low, high = intervals.between(mu, fresh, 0.9)
    sigma = np.stack([intervals.difficulty.at(mu[:, k], fresh, k) for k in range(5)], axis=1)
    own = np.empty(83)
    for k in range(5):
        held = Z[fold == k]
        said = models[k].predict(held)
        own[fold == k] = np.abs(y[fold == k] - said) / intervals.difficulty.at(said, held, k)
    np.testing.assert_allclose(low, np.sort(mu[:, fold] - own * sigma[:, fold], axis=1)[:, j - 1], atol=1e-12)
    np.testing.assert_allclose(high, np.sort(mu[:, fold] + own * sigma[:, fold], axis=1)[:, -j], atol=1e-12)


def test_the_spread_of_a_fold_has_not_seen_the_fold():
    """Other targets in fold 2 change neither its model nor its σ, which is what the theorem needs."""
    Z, y = uneven(100, 2)
    fold, models, intervals = fitted(Z, y)
    other = np.where(fold == 2, 10.0 - 7.0 * y, y)
    _, again, changed = fitted(Z, other)
    assert np.array_equal(models[2].coef_, again[2].coef_)
    assert np.array_equal(intervals.difficulty.weights[2], changed.difficulty.weights[2])
    assert not np.array_equal(intervals.difficulty.weights[1], changed.difficulty.weights[1])


def test_intervals_hold_as_many_targets_as_they_say():
    """Over 25 problems with noise that grows, and Student's with 3 degrees, the mean coverage is the level or a little more."""
    held = []
    for seed in range(25):
        n = 40 + 10 * seed
        Z, y = uneven(n + 400, seed)
        y += 0.5 * np.random.default_rng(seed).standard_t(3, y.size)
        _, models, intervals = fitted(Z[:n], y[:n])
        ends = [intervals.between(new_predictions(models, Z[n:]), Z[n:], level) for level in (0.8, 0.9)]
        held.append([np.mean((low <= y[n:]) & (y[n:] <= high)) for low, high in ends])
    share = np.mean(held, axis=0)
    assert 0.79 < share[0] < 0.825
    assert 0.895 < share[1] < 0.92


def test_widths_follow_the_noise():
    """Where the noise is e² times larger, intervals are about as much wider; without a pattern they stay alike."""
    Z, y = uneven(600, 3)
    _, models, intervals = fitted(Z, y)
    ends = np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]])
    low, high = intervals.between(new_predictions(models, ends), ends, 0.9)
    assert 4.0 < (high - low)[1] / (high - low)[0] < 12.0
    even = Z.sum(axis=1) + np.random.default_rng(0).standard_normal(600)
    _, models, intervals = fitted(Z, even)
    low, high = intervals.between(new_predictions(models, Z), Z, 0.9)
    assert np.max(high - low) < 1.6 * np.min(high - low)


def test_a_higher_level_gives_a_wider_interval():
    """Intervals of growing level contain each other."""
    Z, y = uneven(150, 4)
    _, models, intervals = fitted(Z, y)
    mu = new_predictions(models, Z)
    ends = [intervals.between(mu, Z, level) for level in (0.5, 0.8, 0.9, 0.99)]
    for (low, high), (lower, higher) in pairwise(ends):
        assert np.all(lower <= low)
        assert np.all(high <= higher)


def test_blocks_and_sparse_rows_change_nothing(monkeypatch):
    """Rows by tens and CSR rows give the ends of dense rows in one go, but for rounding."""
    Z, y = uneven(120, 5)
    _, models, intervals = fitted(Z, y)
    mu = new_predictions(models, Z)
    whole = intervals.between(mu, Z, 0.9)
    monkeypatch.setattr(conformal, "BLOCK", 10)
    for one, other in zip(whole, intervals.between(mu, sparse.csr_array(Z), 0.9), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


def test_logarithms_are_scored_as_such():
    """With `logarithm` the ends are those of the interval of log y, and positive."""
    Z, y = uneven(120, 6)
    fold, models, plain = fitted(Z, y)
    said = predictions_of(models, Z, fold)
    logarithmic = Intervals.of(np.exp(y), np.exp(said), fold, Z, logarithm=True)
    for one, other in zip(plain.between(said, Z, 0.9), logarithmic.between(np.exp(said), Z, 0.9), strict=True):
        np.testing.assert_allclose(np.exp(one), other, rtol=1e-6)


def test_a_level_out_of_reach_is_refused():
    """Eight rows cannot give 90 %; the message says how many can, and nine do."""
    Z, y = uneven(9, 7, d=1)
    _, models, nine = fitted(Z, y, m=3)
    low, high = nine.between(new_predictions(models, Z), Z, 0.9)
    assert np.isfinite(high - low).all()
    _, models, eight = fitted(Z[:8], y[:8], m=4)
    with pytest.raises(InputError, match=r"level 0\.9 needs at least 9 rows to learn from, and there are 8"):
        eight.between(new_predictions(models, Z), Z, 0.9)
    with pytest.raises(InputError, match="above 0 and below 1"):
        nine.between(new_predictions(models, Z), Z, 1.0)
    assert [rows_needed(level) for level in (0.5, 0.9, 0.95, 0.999)] == [1, 9, 19, 999]


def test_rows_that_break_things_do_not_break_intervals():
    """One constant column, exact fits, rows all the same, rows without a prediction, many columns: ends are finite numbers."""
    rng = np.random.default_rng(8)
    fold = np.arange(60) % 5
    for Z, y in (
        (np.zeros((60, 1)), rng.standard_normal(60)),
        (np.arange(60.0)[:, None], 2.0 * np.arange(60.0)),
        (np.ones((60, 3)), np.ones(60)),
        (rng.standard_normal((60, 200)), rng.standard_normal(60)),
        (1e200 * rng.standard_normal((60, 2)), 1e200 * rng.standard_normal(60)),
        (1e-200 * rng.standard_normal((60, 2)), 1e-200 * rng.standard_normal(60)),
    ):
        said = np.tile(y.mean() + 0.1 * Z[:, :1], (1, 5))
        said[3, fold[3]] = np.nan
        intervals = Intervals.of(y, said, fold, Z)
        low, high = intervals.between(np.nan_to_num(said), Z, 0.9)
        assert intervals.sizes.sum() == 59
        assert np.isfinite(low).all()
        assert np.all(low <= high)
        assert faults(intervals) == []


def test_leave_one_out_residuals_are_taken_where_there_are_any():
    """Of rows it has seen a kernel machine gives its leave-one-out predictions."""
    Z, y = uneven(60, 9, d=1)
    fold, models, _ = fitted(Z, y, m=3, make=hs.KernelRegression)
    said = predictions_of(models, Z, fold)
    assert np.array_equal(said[fold != 1, 1], models[1].left_out_)
    np.testing.assert_allclose(said[fold == 1, 1], models[1].predict(Z[fold == 1]))


def test_of_many_rows_a_sample_is_asked_for(monkeypatch):
    """Beyond ENOUGH rows a model predicts its fold and a sample of the rest, and intervals hold as many targets as before."""
    Z, y = uneven(900, 10)
    monkeypatch.setattr(conformal, "ENOUGH", 100)
    fold, models, intervals = fitted(Z[:500], y[:500])
    said = predictions_of(models, Z[:500], fold)
    assert np.isfinite(said[np.arange(500), fold]).all()
    assert np.isfinite(said).sum(axis=0).tolist() == [200] * 5
    low, high = intervals.between(new_predictions(models, Z[500:]), Z[500:], 0.9)
    assert 0.86 < np.mean((low <= y[500:]) & (y[500:] <= high)) < 0.95


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_sets_hold_as_many_classes_as_they_say(load):
    """On rows left for the test, sets of two and three classes hold the truth, have about one class, and are never empty."""
    X, y = load(return_X_y=True)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    shares, counts = [], []
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(y.size)
        test, train = order[: y.size // 3], order[y.size // 3 :]
        fold = np.arange(train.size) % 5
        models = [hs.AveragedPerceptron(random_state=0).fit(Z[train[fold != k]], y[train[fold != k]]) for k in range(5)]
        outputs = np.stack([model.decision_function(Z) for model in models], axis=1)
        sets = Sets.of(outputs[train, fold], y[train], fold)
        members = sets.members(outputs[test], 0.9)
        shares.append(np.mean(members[np.arange(test.size), y[test]]))
        counts.append(members.sum(axis=1))
        assert faults(sets) == []
    assert np.mean(shares) > 0.88
    assert np.min(counts) == 1
    assert np.mean(counts) < 1.1


def test_sets_are_the_definition():
    """A class belongs to a set unless at least (1 - α)(n + 1) rows have a smaller score than it, here written out."""
    rng = np.random.default_rng(0)
    outputs, target, fold = rng.standard_normal((90, 4)), rng.integers(4, size=90), np.arange(90) % 3
    outputs[np.arange(90), target] += 2.0
    new = rng.standard_normal((50, 3, 4))
    members = Sets.of(outputs, target, fold).members(new, 0.8)

    def score(f, label):
        return max(f[c] for c in range(4) if c != label) - f[label]

    own = [score(outputs[i], target[i]) for i in range(90)]
    for x in range(50):
        lower = [sum(own[i] < score(new[x, fold[i]], label) for i in range(90)) for label in range(4)]
        assert members[x].tolist() == [count < 0.8 * 91 or count == min(lower) for count in lower]


def test_sets_out_of_reach_are_refused():
    """Sets of level 0.99 need 99 rows, and no new rows give no sets."""
    sets = Sets.of(np.arange(-10.0, 10.0), (np.arange(20) > 9).astype(int), np.arange(20) % 5)
    with pytest.raises(InputError, match=r"A set of level 0\.99 needs at least 99 rows"):
        sets.members(np.zeros((1, 5)), 0.99)
    assert sets.members(np.zeros((0, 5)), 0.9).shape == (0, 2)


def test_the_guarantee_is_the_theorems():
    """What is proved tends to 1 - 2α with the rows, is never more, and is at least 1 - 2α - √(2/n)."""
    for n in (20, 100, 10_000, 10**8):
        assert 0.8 - np.sqrt(2.0 / n) <= proved_level(0.9, n, 5) <= 0.8 + 1e-12
    assert proved_level(0.9, 10**8, 5) == pytest.approx(0.8, abs=1e-6)
