"""Potentials, reliability and importances, against their definitions."""

import numpy as np
import pytest

from halfspace._text import number
from halfspace.report import outputs
from halfspace.report.charts import Axis
from halfspace.report.influence import weights


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_a_potential_is_positive_exactly_where_the_prediction_is_right(n_classes):
    """The sign of the potential says whether the prediction is right, for two classes and for more, scaled or not."""
    rng = np.random.default_rng(n_classes)
    truth = rng.integers(n_classes, size=200)
    f = rng.normal(size=200) if n_classes == 2 else rng.normal(size=(200, n_classes))
    coef = rng.normal(size=(1 if n_classes == 2 else n_classes, 5))
    for w in (None, coef):
        found = outputs.potentials(f, truth, w)
        assert ((found.E > 0) == (found.predicted == truth)).all()


def test_a_potential_is_the_distance_from_the_boundary():
    """With the weights of planes, a potential is the distance to the strongest rival's boundary: moving by it gives a tie."""
    rng = np.random.default_rng(0)
    W, x = rng.normal(size=(3, 4)), rng.normal(size=4)
    f = W @ x
    truth, rival = np.argsort(-f)[:2]
    E = outputs.potentials(f[None], np.array([truth]), W).E[0]
    u = (W[truth] - W[rival]) / np.linalg.norm(W[truth] - W[rival])
    moved = W @ (x - E * u)
    assert moved[truth] == pytest.approx(moved[rival])


def test_rows_without_outputs_are_left_out():
    """Rows whose outputs are not numbers, because no fold judged them, have no potential."""
    found = outputs.potentials(np.array([[1.0, 0.0, 0.0], [np.nan, 0.0, 0.0]]), np.array([0, 1]), None)
    assert found.rows.tolist() == [0]
    assert outputs.histogram(outputs.potentials(np.full(3, np.nan), np.zeros(3, int), None), None, "potential") is None


def test_reliability_counts_every_row_once_and_is_exact_for_fair_probabilities():
    """The bins hold every row once; probabilities that are frequencies lie on the diagonal."""
    p = np.repeat([0.25, 0.5, 1.0], 40)
    hits = np.concatenate([np.repeat([0.0, 1.0], [30, 10]), np.repeat([0.0, 1.0], [20, 20]), np.ones(40)])
    bins = outputs.reliability(p, hits)
    assert sum(b.count for b in bins) == 120
    assert all(b.probability == pytest.approx(b.frequency) for b in bins)


def test_weights_are_listed_by_size_without_zeros():
    """Weights come by size, with their sign, and zeros are counted among the others."""
    found = weights(np.array([[0.0, -3.0, 1.0], [1.0, 0.0, 0.0]]), ["a", "b", "c"], ["p", "q"])
    assert found[0].names == ("b", "c")
    assert found[0].values == (-3.0, 1.0)
    assert found[1].n_others == 2


@pytest.mark.parametrize("values", [[0.97, 0.9700001], [5.0], [-3e-9, 4e-9], [0.0, 1e7], [0.0]], ids=str)
def test_axes_have_a_few_round_ticks_inside(values):
    """Whatever the range, there are one to seven ticks, all inside."""
    axis = Axis.over(values, "x")
    assert 1 <= len(axis.ticks) <= 7
    assert all(axis.low <= value <= axis.high for value, _ in axis.ticks)


def test_numbers_that_are_none_have_words():
    """Infinite and undefined numbers are written, not printed as nan."""
    assert [number(v) for v in (np.inf, -np.inf, np.nan)] == ["∞", "−∞", "unknown"]
