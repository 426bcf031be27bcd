"""What a report says whatever was learnt: a constant's score, a picture of the rows, and sets of classes."""

import numpy as np
import pytest

import halfspace as hs
from halfspace.report import gather, render
from halfspace.report.overview import constant_score


def test_the_constant_is_the_largest_class_of_the_training_rows(climbed, regressed):
    """Beside an accuracy stands the share of held-out rows in the largest class; beside an RMSE the deviation from the mean."""
    ladder, _, y = climbed("perceptron", 3)
    labels, counts = np.unique(y[ladder.train_], return_counts=True)
    assert constant_score(ladder, y) == pytest.approx(np.mean(y[ladder.test_] == labels[counts.argmax()]))
    ladder, _, y = regressed("least_squares")
    expected = np.sqrt(np.mean((y[ladder.test_] - y[ladder.train_].mean()) ** 2))
    assert constant_score(ladder, y) == pytest.approx(expected)


@pytest.mark.parametrize(("scoring", "score"), [("roc_auc", 0.5), ("log_loss", np.log(2))])
def test_a_constant_knows_nothing_by_other_measures(scoring, score):
    """A constant has an area of one half, and of two equal classes the log loss of a coin."""
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    assert constant_score(hs.Ladder(rungs=("majority",), scoring=scoring, test_size=0).fit(X, y), y) == pytest.approx(score)


def test_the_picture_marks_classes_and_errors(climbed):
    """Every training row has a place, its class, and a ring if the folds got it wrong; the shares are those of PCA."""
    ladder, X, y = climbed("perceptron", 3)
    found = gather(ladder, X, y)
    picture = found.picture
    assert len(picture.x) == len(picture.group) == len(picture.wrong) == found.n_train
    assert list(picture.wrong) == (ladder.labels_of(ladder.out_of_fold_) != y[ladder.train_]).tolist()
    assert 0 < picture.shares[1] <= picture.shares[0] < 1
    assert not picture.moved
    assert "Dots: " in render(found)


def test_rows_in_the_same_place_are_moved_apart():
    """Of a few kinds of rows all are seen: they are moved a little, and the page says so."""
    X = np.random.default_rng(0).integers(0, 2, (80, 3)).astype(float)
    y = np.where(X[:, 0] > 0, "yes", "no")
    found = gather(hs.Ladder(rungs=("majority", "perceptron"), n_splits=2, n_repeats=1).fit(X, y), X, y)
    assert len(set(found.picture.x)) == len(found.picture.x)
    assert "moved apart a little" in render(found)


def test_sets_are_counted_on_held_out_rows(climbed):
    """Coverage and size are those of predict_set for the rows held out."""
    ladder, X, y = climbed("perceptron", 3)
    found = gather(ladder, X, y).guarantee
    members = ladder.predict_set(X[ladder.test_], 0.9)
    own = members[np.arange(ladder.test_.size), np.searchsorted(ladder.classes_, y[ladder.test_])]
    assert (found.covered, found.size) == (own.mean(), members.sum(axis=1).mean())
