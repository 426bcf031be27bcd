"""Small fitted ladders, one for each kind of winner, shared by the tests of the report."""

from functools import cache

import numpy as np
import pytest

import halfspace as hs

HOSTILE = '<script>alert("1")</script>'


def rows(n_classes):
    """Rows of overlapping clouds with named labels, one of them hostile, one long."""
    rng = np.random.default_rng(n_classes)
    y = np.arange(90) % n_classes
    X = rng.normal(size=(90, 4))
    X[:, 0] += 2.0 * y
    labels = np.array([HOSTILE, "b & 'c'", "long " + 60 * "x", *(f"class {k}" for k in range(3, 12))])
    return X, labels[y]


@cache
def fitted(winner, n_classes, **options):
    """Return a ladder of one rung, which so is the winner, and its data."""
    X, y = rows(n_classes)
    return hs.Ladder(rungs=(winner,), n_splits=2, n_repeats=1, curve=True, **options).fit(X, y), X, y


@pytest.fixture(scope="session")
def climbed():
    """A function from winner and number of classes to a fitted ladder, its rows and its labels."""
    return fitted


@pytest.fixture(scope="session")
def breast_cancer():
    """The first four rungs on the breast-cancer data, with named columns, and its data."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = np.where(y, "benign", "malignant")
    rungs = ("majority", "neighbours", "perceptron", "adaline")
    return hs.Ladder(rungs=rungs, n_splits=3, n_repeats=1, curve=True).fit(X, y), X, y
