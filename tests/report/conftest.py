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


@cache
def fitted_to_numbers(winner, **options):
    """Return a ladder of one rung for numbers, which so is the winner, and its data: a column of text, dates, one with gaps."""
    import pandas as pd

    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(size=120), HOSTILE: rng.choice(["a", "<b>", "c"], 120), "gaps": rng.normal(size=120)})
    X["day"] = pd.date_range("2020-01-01", periods=120)
    X.loc[::7, "gaps"] = np.nan
    y = np.exp(X["size"] + (X[HOSTILE] == "a") + 0.2 * rng.normal(size=120)).to_numpy()
    ladder = hs.RegressionLadder(rungs=(winner,), n_splits=3, n_repeats=1, curve=True, **options)
    return ladder.fit(X, y), X, y


@pytest.fixture(scope="session")
def regressed():
    """A function from winner to a fitted ladder for numbers, its table and its targets."""
    return fitted_to_numbers


@pytest.fixture(scope="session")
def breast_cancer():
    """The first four rungs on the breast-cancer data, with named columns, and its data."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = np.where(y, "benign", "malignant")
    rungs = ("majority", "neighbours", "perceptron", "adaline")
    return hs.Ladder(rungs=rungs, n_splits=3, n_repeats=1, curve=True).fit(X, y), X, y
