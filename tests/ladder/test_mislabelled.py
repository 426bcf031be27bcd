"""Claims about the list of perhaps mislabelled rows: empty on clean data, mostly right on data with wrong labels."""

import numpy as np
import pytest

from halfspace.ladder.mislabelled import find_mislabelled


def plane_out_of_fold(X, y):
    """Return what least squares in five folds says about rows not learnt from: one output, or one per class."""
    A, fold = np.column_stack([X, np.ones(y.size)]), np.arange(y.size) % 5
    Y = 2.0 * np.eye(y.max() + 1)[y] - 1.0
    outputs = np.empty(Y.shape)
    for k in range(5):
        outputs[fold == k] = A[fold == k] @ np.linalg.lstsq(A[fold != k], Y[fold != k], rcond=None)[0]
    return outputs[:, 1] if Y.shape[1] == 2 else outputs


def draw(seed, distance, n=400, K=2, share=0.0):
    """Return rows of Gaussian classes so far apart, their labels, and which of these are wrong."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    X = rng.standard_normal((n, 3)) + distance * np.eye(K, 3)[y]
    flipped = rng.random(n) < share
    return X, np.where(flipped, (y + 1) % K, y), flipped


@pytest.mark.parametrize(("distance", "K"), [(1.5, 2), (4.0, 2), (3.0, 3)])
def test_on_clean_data_the_list_is_empty(distance, K):
    """Whether classes overlap much, little or hardly, at most one clean table of twelve has a suspect."""
    listed = [find_mislabelled(plane_out_of_fold(X, y), y).rows.size for X, y, _ in (draw(s, distance, K=K) for s in range(12))]
    assert np.count_nonzero(listed) <= 1


def test_of_the_rows_listed_at_least_half_have_a_wrong_label():
    """With 2 % of the labels flipped most tables have a list, and most rows listed are flipped."""
    found = right = tables = 0
    for seed in range(12):
        X, y, flipped = draw(seed, 4.5, n=600, share=0.02)
        rows = find_mislabelled(plane_out_of_fold(X, y), y).rows
        found, right, tables = found + rows.size, right + np.count_nonzero(flipped[rows]), tables + (rows.size > 0)
    assert tables >= 6
    assert right >= 0.75 * found


def test_nothing_is_said_of_outputs_that_say_nothing():
    """Equal outputs, no errors, no outputs, and missing ones list nobody, and the answer says so."""
    y = np.arange(40) % 2
    for outputs in (np.ones(40), 2.0 * y - 1.0, np.full(40, np.nan), np.zeros((40, 2))):
        assert not find_mislabelled(outputs, y).rows.size
    assert "No label is reliably wrong" in str(find_mislabelled(np.empty(0), np.empty(0, dtype=int)))
