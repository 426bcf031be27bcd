"""The relevance kernel machine as the top rung, scored by its own outputs for rows that it did not learn from."""

import numpy as np
import pytest

import halfspace as hs


def product(n, seed=0):
    """Return rows of which two of six columns matter, by a product."""
    g = np.random.default_rng(seed)
    X = g.normal(size=(n, 6))
    return X, np.sin(2.0 * X[:, 0]) * X[:, 1] + 0.1 * g.normal(size=n)


@pytest.mark.compiled
def test_it_wins_where_few_columns_matter_and_answers_with_a_guarantee(tmp_path):
    """Where columns interact it wins for numbers; its intervals, proof and file are those of any other rung."""
    X, y = product(300)
    ladder = hs.RegressionLadder(rungs=["mean", "ridge", "kernel", "relevance"], curve=False).fit(X, y)
    low, high = ladder.predict_interval(X).T
    assert ladder.winner_ == "relevance"
    assert ladder.verify(X, y)
    assert np.mean((low <= y) & (y <= high)) > 0.9
    hs.save(ladder, tmp_path / "model")
    assert np.array_equal(hs.load(tmp_path / "model").predict(X), ladder.predict(X))


@pytest.mark.compiled
def test_its_score_is_that_of_rows_it_did_not_learn_from():
    """The score told of classes is the share of right answers of `unseen_`, and near that on new rows."""
    X, y = product(400)
    labels = (y > 0.0).astype(int)
    ladder = hs.Ladder(rungs=["majority", "relevance"], test_size=0.0, refit=False, curve=False).fit(X[:300], labels[:300])
    rung = ladder.rungs_[1]
    model = ladder.estimator_
    right = (model.unseen_ > 0.0) == (labels[:300] == 1)
    assert rung.score == pytest.approx(right.mean(), abs=0.01)
    assert abs(rung.score - ladder.score(X[300:], labels[300:])) < 0.12


@pytest.mark.compiled
def test_groups_are_scored_in_folds():
    """Rows of one group are never split: the rung is then scored in folds like the others."""
    X, y = product(150)
    groups = np.repeat(np.arange(30), 5)
    X[:, 5] = groups  # names the group, and the group shifts the target: rows of a group would give each other away
    y = y + np.random.default_rng(1).normal(size=30)[groups] * 5.0
    free = hs.RegressionLadder(rungs=["mean", "relevance"], curve=False).fit(X, y)
    kept = hs.RegressionLadder(rungs=["mean", "relevance"], curve=False).fit(X, y, groups=groups)
    assert free.rungs_[1].score < 0.75 * kept.rungs_[1].score
