"""Claims about pictures of over-fitting: the numbers drawn are those of the search."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, validation_curve
from sklearn.neighbors import KNeighborsClassifier

import halfspace as hs
from halfspace.errors import InputError
from halfspace.plots import LearningCurveDisplay, ValidationDisplay

mpl.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    """Close the figures of a test."""
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(scope="module")
def clouds():
    """Return rows of two overlapping classes."""
    X, y, *_ = hs.data.two_clouds(80, distance=2.0)
    return X, y


def test_searches_of_machines_show_their_best_scores(clouds):
    """Over C, and over gamma, the highest point is the search's best score."""
    search = hs.KernelAdaTronCV(Cs=[0.1, 10.0], gammas=[0.01, 1.0], cv=3, full_grid=True).fit(*clouds)
    for parameter in ("C", "gamma"):
        display = ValidationDisplay.from_search(search, parameter)
        assert display.validation.max() == search.best_score_
    linear = hs.AdaTronCV(Cs=[1.0, 0.01, 0.1], cv=3).fit(*clouds)
    display = ValidationDisplay.from_search(linear)
    assert display.values.tolist() == [0.01, 0.1, 1.0]
    assert display.validation.max() == linear.mean_scores_.max()


def test_regressions_show_their_leave_one_out_errors():
    """A ridge regression's lowest point is the ridge it chose; a path gives the same curve."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5))
    y = X[:, 0] + rng.standard_normal(40)
    model = hs.LinearRegression(ridge="cv").fit(X, y)
    display = ValidationDisplay.from_search(model)
    assert display.best == model.ridge_
    path = hs.ridge_path(X, y)
    assert ValidationDisplay.from_search(path).validation.tolist() == path.loo_errors.tolist()
    kernel = hs.KernelRegression().fit(X, y)
    assert ValidationDisplay.from_search(kernel, "ridge").best == pytest.approx(kernel.ridge_)


def test_both_sides_come_from_scikit_learn_too(clouds):
    """A grid search with training scores, and a validation curve, show both sides; one neighbour memorises."""
    grid = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}, cv=3, return_train_score=True).fit(*clouds)
    display = ValidationDisplay.from_search(grid, "n_neighbors")
    assert display.training[0] == 1.0
    scores = validation_curve(KNeighborsClassifier(), *clouds, param_name="n_neighbors", param_range=[1, 5, 15], cv=3)
    again = ValidationDisplay.from_scores([1, 5, 15], *scores, parameter="n_neighbors")
    np.testing.assert_allclose(again.validation, display.validation)
    assert again.ax_.get_xlabel() == "n_neighbors"


def test_a_learning_curve_has_both_sides(clouds):
    """The curve of one neighbour is perfect on what it saw and is not on what it did not."""
    display = LearningCurveDisplay.from_estimator(KNeighborsClassifier(1), *clouds, cv=3)
    assert display.training.min() == 1.0
    assert display.validation.max() < 1.0


def test_what_has_no_curve_is_refused(clouds):
    """A model without a search, an unknown parameter, and a ladder without a curve are refused with what to do."""
    with pytest.raises(InputError, match="fitted search"):
        ValidationDisplay.from_search(hs.Perceptron())
    grid = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, cv=2).fit(*clouds)
    with pytest.raises(InputError, match="it has: n_neighbors"):
        ValidationDisplay.from_search(grid, "C")
    with pytest.raises(InputError, match="curve=True"):
        LearningCurveDisplay.from_ladder(hs.Ladder())
