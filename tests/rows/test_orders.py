"""Orders and rates."""

import numpy as np
import pytest

from halfspace.rows.orders import BLOCK, Harmonic, in_order, shuffled


def mixed(n):
    return np.arange(n) % 2


@pytest.mark.parametrize("n", [1, 2, 33, 2047, 2048, 3001])
@pytest.mark.parametrize("entries", [1.0, 1e6])
def test_every_epoch_shows_every_example_once(n, entries):
    """Each order is a permutation, and epochs differ."""
    orders = shuffled(n, entries, mixed(n), np.random.default_rng(0))
    epochs = [next(orders).copy() for _ in range(4)]
    for order in epochs:
        np.testing.assert_array_equal(np.sort(order), np.arange(n))
    if n > 4:
        assert len({tuple(order) for order in epochs}) == 4


def test_large_data_stay_together_in_blocks_that_are_cut_anew():
    """Neighbours in a large data set are shown together, and the cuts fall elsewhere in every epoch."""
    orders = shuffled(3200, 1e6, mixed(3200), np.random.default_rng(0))
    cuts = [frozenset(order[:-1][np.diff(order) != 1]) for order in (next(orders).copy() for _ in range(3))]
    assert all(len(cut) <= 2 + 3200 // BLOCK for cut in cuts)
    assert len(set(cuts)) == 3


def test_sorted_labels_are_shuffled_row_by_row():
    """Data sorted by class are shuffled row by row: blocks of one class would be shown as such."""
    order = next(shuffled(3200, 1e6, np.repeat([0, 1], 1600), np.random.default_rng(0)))
    assert np.count_nonzero(np.diff(order) == 1) < 20


def test_same_seed_same_orders_and_in_order_is_in_order():
    """The same seed gives the same orders; without shuffling the order is that of the rows."""
    first, second = (shuffled(500, 1e6, mixed(500), np.random.default_rng(3)) for _ in range(2))
    for _ in range(3):
        np.testing.assert_array_equal(next(first), next(second))
    np.testing.assert_array_equal(next(in_order(4)), np.arange(4))


def test_a_harmonic_rate_halves_after_its_half_life():
    """The rate is halved after the half-life, and constant if that is infinite."""
    assert Harmonic(1.0, 4.0).at(4) == 0.5
    assert Harmonic(1.0).at(1000) == 1.0
