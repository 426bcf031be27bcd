"""What separability is worth: the rank is proved, the count is Cover's, and one class may stand alone."""

from itertools import product

import numpy as np
import pytest

import halfspace as hs
from halfspace.certificates.margins.label_count import LabelCount, log_share, modular_rank
from halfspace.errors import InputError


def test_the_rank_modulo_a_prime_is_the_rank():
    """On products of small whole numbers over powers of 2 it is the rank that was put in."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        n, m, r = rng.integers(1, 80, 3)
        A = rng.integers(-3, 4, (n, r)) @ rng.integers(-3, 4, (r, m)) / 8.0
        assert modular_rank(A) == np.linalg.matrix_rank(A)


def test_nearly_dependent_is_independent():
    """Columns that differ in their last bit have full rank, which no float rank would say."""
    A = np.array([[1.0, 1.0], [1.0, np.nextafter(1.0, 2.0)]])
    assert modular_rank(A) == 2
    assert np.linalg.matrix_rank(A) == 1


def test_the_count_is_that_of_all_labelings():
    """Of all labelings of points in general position, one class included, planes separate exactly Cover's number."""
    X = np.random.default_rng(1).standard_normal((6, 2))
    for intercept, free in (("free", True), ("none", False)):
        found = sum(
            hs.separability(X, np.array(y), intercept, one_class=True).verdict == "separable" for y in product([0, 1], repeat=6)
        )
        count = LabelCount.measure(X, intercept=free)
        assert found == round(2**6 * np.exp(count.log_share)) == hs.theory.count(6, count.rank)
        assert count.verify(X)


def test_dependent_columns_lower_the_count():
    """In a small table the rank is exact: a column twice is one input."""
    X = np.random.default_rng(2).standard_normal((30, 3))
    count = LabelCount.measure(np.hstack([X, X, X @ np.ones((3, 1)) * 0.0]))
    assert (count.rank, count.most) == (4, 4)
    assert "1e-" not in str(LabelCount(10, 10, 10, 10, 0.0, intercept=True))


def test_where_every_labelling_is_separable_nothing_is_said():
    """More inputs than rows: separability is worth nothing, and no order of the labels is tried."""
    X = np.random.default_rng(3).standard_normal((20, 40))
    found = hs.separable_by_chance(X, np.arange(20) % 2)
    assert found.count.everything
    assert (found.tried, found.says_something) == (0, False)
    assert "worth: nothing" in str(found)


def test_labels_that_mean_something_are_told_from_chance():
    """Labels by a plane among 60 rows of 3 inputs: no random order of them is separable."""
    X = np.random.default_rng(4).standard_normal((60, 3))
    found = hs.separable_by_chance(X, X[:, 0] > 0.8)
    assert (found.separable, found.p_value) == (0, 0.05)
    assert found.threshold > 2.0
    assert "worth: something" in str(found)


def test_one_class_may_stand_alone():
    """All examples on one side of a plane through the origin, or proved not to be; with a bias always."""
    around, aside = np.array([[1.0, 0.0], [-1.0, 0.5], [0.0, -1.0]]), np.array([[1.0, 0.0], [0.5, 1.0]])
    for X, intercept, verdict in ((around, "none", "inseparable"), (aside, "none", "separable"), (around, "free", "separable")):
        y = np.ones(len(X))
        proof = hs.separability(X, y, intercept, one_class=True)
        assert proof.verdict == verdict
        assert hs.certificates.from_json(proof.to_json()).verify(X, y)
        assert not proof.verify(X, np.arange(len(X)))
    with pytest.raises(InputError, match="only one class"):
        hs.separability(around, np.ones(3))


def test_shares_of_large_tables_are_logarithms():
    """The share of a large table is far below the smallest float, and is still told."""
    assert log_share(10_000, 10) < -6000
    assert "1e-" in str(LabelCount(10_000, 10, 10, 10, log_share(10_000, 10), intercept=True))


@pytest.mark.parametrize("bad", [{"permutations": -1}, {"permutations": 1.5}])
def test_bad_parameters_are_refused(bad):
    """Only whole numbers of orders can be tried, and only two classes asked for."""
    with pytest.raises(InputError, match="permutations"):
        hs.separable_by_chance(np.eye(4), [0, 0, 1, 1], **bad)
    with pytest.raises(InputError, match="two classes"):
        hs.separable_by_chance(np.eye(4), [0, 1, 2, 1])
