"""Leaks: columns that give the answer away, and held-out rows that were seen in training."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from halfspace.ladder.leaks import leak_notes, seen_before


def columns(d):
    return [(f"x{j}", j, j + 1) for j in range(d)]


@pytest.mark.parametrize("classify", [True, False], ids=["classes", "numbers"])
@pytest.mark.parametrize("n", [60, 5000])
def test_a_column_that_gives_the_answer_away_is_named(classify, n):
    """A copy of the target with a little noise is named, and no other column; a dense and a sparse matrix agree."""
    random = np.random.default_rng(n)
    X = random.normal(size=(n, 6))
    y = (X[:, 0] + random.normal(size=n) > 0).astype(int) if classify else X[:, 0] + random.normal(size=n)
    X[:, 4] = 2.0 * y + random.normal(size=n) / 100
    notes = leak_notes(X, columns(6), y, classify=classify)
    assert [(note.kind, note.column) for note in notes] == [("gives away", "x4")]
    assert leak_notes(sparse.csr_matrix(X), columns(6), y, classify=classify) == notes


def test_a_category_may_give_it_away_too():
    """The outputs of one category are one column."""
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 200)
    X = np.column_stack([random.normal(size=(200, 2)), np.eye(3)[y]])
    assert [note.column for note in leak_notes(X, [("a", 0, 1), ("b", 1, 2), ("c", 2, 5)], y, classify=True)] == ["c"]


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_wine, load_diabetes])
def test_honest_tables_have_none(load):
    """Real measurements are not suspicious."""
    X, y = load(return_X_y=True)
    assert leak_notes(X, columns(X.shape[1]), y, classify=load is not load_diabetes) == []


def test_what_is_not_suspicious():
    """An easy problem, the only column, a rare class that nothing finds, few rows, constants and single rows of a class."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 300)
    easy = y[:, None] * 10.0 + random.normal(size=(300, 5))
    rare = (np.arange(300) < 2).astype(int)
    assert leak_notes(easy, columns(5), y, classify=True) == []
    assert leak_notes(easy[:, :1], columns(1), y, classify=True) == []
    assert leak_notes(random.normal(size=(300, 5)), columns(5), rare, classify=True) == []
    assert leak_notes(easy[:40], columns(5), y[:40], classify=True) == []
    assert leak_notes(np.ones((300, 3)), columns(3), y, classify=True) == []
    assert leak_notes(random.normal(size=(300, 3)), columns(3), np.arange(300), classify=True) == []
    assert leak_notes(random.normal(size=(300, 3)), columns(3), np.ones(300), classify=False) == []


def test_of_very_many_columns_the_best_are_tried():
    """Among 3,000 columns the one that gives the answer away is found."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 100)
    X = random.normal(size=(100, 3000))
    X[:, 2500] += 20 * y
    X[:, 7] = 1.0
    assert [note.column for note in leak_notes(X, columns(3000), y, classify=True)] == ["x2500"]


def test_rows_seen_before_are_counted():
    """Rows of the test that training has are counted, dense and sparse, however zeros are stored."""
    random = np.random.default_rng(0)
    training = random.integers(0, 2, (50, 20)) * 1.5
    held_out = np.vstack([training[:7], training[:1], training[7:9] + 1.0])
    stored = sparse.csr_matrix(held_out)
    stored.data[:1] = 0.0
    stored[0, stored.indices[0]] = held_out[0, stored.indices[0]]
    assert seen_before(training, held_out) == seen_before(sparse.csr_matrix(training), stored) == 8
    assert seen_before(training, held_out[8:]) == 0
