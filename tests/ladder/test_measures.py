"""Measures of predictions: scikit-learn's numbers, and each row's part of them."""

import numpy as np
import pytest
from sklearn import metrics

from halfspace.errors import InputError
from halfspace.ladder.measures import MEASURES, measure_of

RNG = np.random.default_rng(0)
CLASSES = np.array(["a", "b", "c"])
Y3 = CLASSES[RNG.integers(0, 3, 60)]
F3 = RNG.normal(size=(60, 3)) + (Y3[:, None] == CLASSES)
P3 = np.exp(F3) / np.exp(F3).sum(axis=1, keepdims=True)
L3 = CLASSES[F3.argmax(axis=1)]
V, W = RNG.normal(size=60), RNG.normal(size=60)


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("accuracy", L3, metrics.accuracy_score(Y3, L3)),
        ("balanced_accuracy", L3, metrics.balanced_accuracy_score(Y3, L3)),
        ("f1", L3, metrics.f1_score(Y3, L3, average="macro")),
        ("log_loss", P3, metrics.log_loss(Y3, P3, labels=CLASSES)),
        ("roc_auc", P3, metrics.roc_auc_score(Y3, P3, multi_class="ovr")),
        ("average_precision", F3, np.mean([metrics.average_precision_score(c == Y3, F3[:, k]) for k, c in enumerate(CLASSES)])),
        ("rmse", W, metrics.root_mean_squared_error(V, W)),
        ("mae", W, metrics.mean_absolute_error(V, W)),
        ("r2", W, metrics.r2_score(V, W)),
    ],
)
def test_scores_are_those_of_scikit_learn(name, given, expected):
    """For three classes and for numbers every measure gives scikit-learn's score."""
    y, classes = (V, None) if MEASURES[name].task == "regress" else (Y3, CLASSES)
    assert MEASURES[name].score(y, given, classes) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", MEASURES)
def test_losses_average_to_the_score(name):
    """The mean of the rows' losses is the distance of the score from the best one, for RMSE its square."""
    measure = MEASURES[name]
    y, given = (V, W) if measure.task == "regress" else (Y3, {"labels": L3, "outputs": F3, "probabilities": P3}[measure.needs])
    classes = None if measure.task == "regress" else CLASSES
    losses = measure.losses(y, given, classes)
    if name in {"roc_auc", "average_precision", "f1"}:
        assert losses is None
    else:
        away = abs(measure.best - measure.score(y, given, classes))
        assert losses.shape == (60,)
        assert losses.mean() == pytest.approx(away**2 if name == "rmse" else away, rel=1e-12)


def test_two_classes_are_about_the_second_or_the_named_one():
    """F1, ROC and precision are about the second class unless the first is named; for the area it makes no difference."""
    classes, y, f = np.array([0, 1]), np.array([0, 0, 0, 1, 1]), np.array([-2.0, 1.0, -1.0, 3.0, 0.5])
    assert measure_of("average_precision").score(y, f, classes) == pytest.approx(metrics.average_precision_score(y, f))
    of_first = metrics.average_precision_score(1 - y, -f)
    assert measure_of("average_precision", positive="0").score(y, f, classes) == pytest.approx(of_first)
    assert measure_of("roc_auc", positive=0).score(y, f, classes) == pytest.approx(measure_of("roc_auc").score(y, f, classes))
    labels = (f > 0).astype(int)
    assert measure_of("f1", positive=0).score(y, labels, classes) == metrics.f1_score(y, labels, pos_label=0)
    with pytest.raises(InputError, match="must be one of 0, 1"):
        measure_of("f1", positive="spam").score(y, labels, classes)


def test_rows_of_one_class_have_no_order():
    """Where only one class is there, ranks cannot be measured: NaN, written as unknown; balanced accuracy is its recall."""
    classes, y = np.array([0, 1]), np.zeros(4, dtype=int)
    assert np.isnan(measure_of("roc_auc").score(y, np.arange(4.0), classes))
    assert measure_of("roc_auc").written(float("nan")) == "unknown"
    assert measure_of("balanced_accuracy").score(y, np.array([0, 0, 0, 1]), classes) == 0.75
    assert measure_of("f1").score(np.array([0, 1]), np.array([0, 0]), classes) == 0.0


def test_certain_and_wrong_costs_much_but_not_everything():
    """The log loss of a probability of 0 is finite, and of a constant target R² is what the errors leave."""
    assert 30.0 < measure_of("log_loss").score(np.array([1]), np.array([[1.0, 0.0]]), np.array([0, 1])) < 40.0
    assert measure_of("r2").score(np.ones(3), np.ones(3)) == 1.0
    assert measure_of("r2").score(np.ones(3), np.zeros(3)) == 0.0


def test_scores_are_written_for_people():
    """Shares of rows as percentages, areas with three decimals, errors with three digits."""
    assert measure_of("balanced_accuracy").written(0.9412) == "94.1 %"
    assert measure_of("roc_auc").written(0.95) == "0.950"
    assert measure_of("r2").written(-0.25) == "−0.250"
    assert measure_of("rmse").written(0.0012345) == "0.00123"


def test_unknown_measures_are_refused_by_name():
    """The message lists the measures of the task."""
    with pytest.raises(InputError, match=r"one of rmse, mae, r2\. Got 'f1'"):
        measure_of("f1", "regress")
    with pytest.raises(InputError, match="needs the classes"):
        measure_of("accuracy").score(Y3, L3)
