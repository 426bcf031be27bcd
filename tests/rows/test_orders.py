"""Orders and rates."""

from collections import Counter

import numpy as np
import pytest

from halfspace.rows.orders import BLOCK, Harmonic, Orders


def mixed(n):
    return np.arange(n) % 2


@pytest.mark.parametrize("n", [1, 2, 33, 2047, 2048, 3001])
@pytest.mark.parametrize("entries", [1.0, 1e6])
def test_every_epoch_shows_every_example_once(n, entries):
    """Each order is a permutation, and epochs differ."""
    orders = Orders.shuffled(n, entries, mixed(n), seed=0)
    epochs = [orders.at(epoch) for epoch in range(4)]
    for order in epochs:
        np.testing.assert_array_equal(np.sort(order), np.arange(n))
    if n > 4:
        assert len({tuple(order) for order in epochs}) == 4


def test_large_data_stay_together_in_blocks_that_are_cut_anew():
    """Neighbours in a large data set are shown together, and the cuts fall elsewhere in every epoch."""
    orders = Orders.shuffled(3200, 1e6, mixed(3200), seed=0)
    assert orders.block == BLOCK
    cuts = [frozenset(order[:-1][np.diff(order) != 1]) for order in map(orders.at, range(3))]
    assert all(len(cut) <= 2 + 3200 // BLOCK for cut in cuts)
    assert len(set(cuts)) == 3


def test_sorted_labels_are_shuffled_row_by_row():
    """Data sorted by class are shuffled row by row: blocks of one class would be shown as such."""
    order = Orders.shuffled(3200, 1e6, np.repeat([0, 1], 1600), seed=0).at(0)
    assert np.count_nonzero(np.diff(order) == 1) < 20


@pytest.mark.parametrize("block", [1, 32])
def test_an_order_is_a_function_of_seed_and_epoch_alone(block):
    """Epochs may be asked for in any order; another seed, near or far, gives others."""
    first, second = (Orders(np.arange(500), block, 3) for _ in range(2))
    later = first.at(7)
    for epoch in range(3):
        first.at(epoch)
    np.testing.assert_array_equal(first.at(7), later)
    np.testing.assert_array_equal(second.at(7), later)
    others = [Orders(np.arange(500), block, seed).at(7) for seed in (2, 4, 2**62)]
    assert all((order != later).any() for order in others)


def test_all_orders_are_equally_frequent():
    """Over many epochs each of the six orders of three rows comes up a sixth of the time, also that of the first two."""
    orders = Orders(np.arange(3), 1, 5)
    counts = Counter(tuple(orders.at(epoch).tolist()) for epoch in range(3000))
    assert len(counts) == 6
    assert max(abs(count - 500) for count in counts.values()) < 5 * np.sqrt(500)


def test_rows_may_be_drawn_twice_and_in_order_is_in_order():
    """What is shuffled are the rows given, a bootstrap sample for instance; without shuffling they stay as they are."""
    sample = np.array([4, 4, 0, 2])
    assert sorted(Orders(sample, 1, 0).at(9).tolist()) == [0, 2, 4, 4]
    np.testing.assert_array_equal(Orders.in_order(4).at(3), np.arange(4))


def test_a_harmonic_rate_halves_after_its_half_life():
    """The rate is halved after the half-life, and constant if that is infinite."""
    assert Harmonic(1.0, 4.0).at(4) == 0.5
    assert Harmonic(1.0).at(1000) == 1.0
