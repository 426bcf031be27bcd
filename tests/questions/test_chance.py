"""What separability is worth: the rank is proved, the count is Cover's, and one class may stand alone."""

import inspect
import math
from dataclasses import replace
from importlib import import_module
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

import halfspace as hs
from halfspace.certificates.margins import label_count
from halfspace.certificates.margins.label_count import LabelCount, log_share, modular_rank
from halfspace.errors import InputError
from halfspace.questions.chance import ByChance


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


def test_random_orders_are_tried_until_enough_or_undecided(monkeypatch):
    """Each separable order counts, an undecided one ends it, and so does the end of the time; shares are the labels'."""
    chance, asked = import_module("halfspace.questions.chance"), []

    def answers(*verdicts):
        left = list(verdicts)

        def separability(_X, y, *, max_time):
            asked.append((sorted(y.tolist()), max_time))
            return SimpleNamespace(verdict=left.pop(0))

        monkeypatch.setattr(chance, "separability", separability)

    X, y = np.arange(5.0)[:, None] ** 2, [1, 0, 0, 0, 0]
    yes, no, unsure = "separable", "inseparable", "undecided"
    for verdicts, most, expected in (
        ((yes, no, unsure, yes), 19, (2, 1)),
        ((yes, yes, no), 3, (3, 2)),
        ((no, yes), 1, (1, 0)),
        ((), 0, (0, 0)),
    ):
        answers(*verdicts)
        found = hs.separable_by_chance(X, y, permutations=most)
        assert (found.tried, found.separable) == expected
        assert found.p_value == (1 + expected[1]) / (1 + expected[0])
        assert (found.positives, found.ratio) == (0.2, 5 / 2)
        assert found.threshold == pytest.approx(hs.theory.capacity(positives=0.2))
    assert set(map(str, asked)) == {str(([0, 0, 0, 0, 1], None))}
    monkeypatch.setattr(chance, "time", SimpleNamespace(perf_counter=lambda: 7.0))
    answers(no, no)
    assert hs.separable_by_chance(X, y, permutations=2, max_time=0.5).tried == 2
    assert asked[-1][1] == 0.5
    assert hs.separable_by_chance(X, y, max_time=0.0).tried == 0
    assert [
        inspect.signature(hs.separable_by_chance).parameters[name].default for name in ("permutations", "random_state")
    ] == [19, 0]


def test_separability_says_something_unless_all_orders_are_separable():
    """Nothing if every labelling or every order tried is separable; without an order tried the count alone speaks."""
    some, every = LabelCount.measure(np.arange(5.0)[:, None]), LabelCount.measure(np.eye(3))
    for count, tried, separable, says in ((some, 3, 3, False), (some, 3, 2, True), (some, 0, 0, True), (some, 1, 1, False)):
        assert ByChance(count, 0.5, 2.0, 2.0, tried, separable).says_something is says
    assert not ByChance(every, 0.5, 2.0, 2.0, 3, 0).says_something


def test_shares_of_labelings_are_those_counted():
    """For all small n and r the logarithm is that of Cover's sum over 2^n; no labelling at rank 0, all from rank n on."""
    for n in range(1, 13):
        for r in range(1, n + 2):
            count = min(2**n, 2 * sum(math.comb(n - 1, k) for k in range(r)))
            assert log_share(n, r) == pytest.approx(math.log(count / 2**n), abs=1e-12)
        assert log_share(n, 0) == -np.inf
    X = np.random.default_rng(1).standard_normal((12, 2))
    count, share = LabelCount.measure(X), log_share(12, 3)
    assert (count.examples, count.inputs, count.rank, count.most, count.log_share) == (12, 3, 3, 3, share)
    room = 1e-9 * (1.0 + abs(share))
    for off in (-1.0, 1.0):
        assert replace(count, log_share=share + 0.999 * off * room).verify(X)
        assert not replace(count, log_share=share + 1.001 * off * room).verify(X)
    for change in ({"rank": 2}, {"most": 4, "inputs": 4}, {"examples": 13}, {"inputs": 4}, {"rank": 4, "most": 4, "inputs": 4}):
        assert not replace(count, **change).verify(X)
    for change, sound in (({"rank": 4}, False), ({"most": 4}, False), ({"rank": 0}, True), ({"inputs": 2}, False)):
        assert bool(replace(count, **change).well_formed()) is sound
    tall = LabelCount.measure(X.T)
    assert (tall.rank, tall.most, tall.everything) == (2, 2, True)
    assert not replace(tall, examples=1).well_formed()
    assert not count.everything


def test_residues_are_those_of_whole_numbers():
    """A float is a whole number times a power of 2: so is its residue, at most about half the prime; 0 if divisible."""
    numbers = np.array([[0.0, 1.0, -1.0, 0.375, -2.5e-7], [1e18, -(2.0**60), 3.0**30, 2.0**-1000, label_count.PRIME * 8.0]])
    found = label_count._residues(numbers)
    assert label_count.PRIME == 2**23 - 15
    for number, residue in zip(numbers.ravel().tolist(), found.ravel().tolist(), strict=True):
        top, bottom = number.as_integer_ratio()
        assert (int(residue) * bottom - top) % label_count.PRIME == 0
        assert residue == int(residue)
        assert abs(residue) <= label_count.PRIME / 2 + 1
    assert found[1, -1] == 0.0


@pytest.mark.parametrize(("n", "m", "r"), [(200, 140, 130), (70, 300, 65), (64, 64, 64), (129, 129, 128), (1, 5, 1), (3, 4, 0)])
def test_ranks_are_found_across_blocks_of_columns(n, m, r):
    """However rank and blocks lie: products of random factors with zeros have their rank, dense columns first or last."""
    rng = np.random.default_rng(n)
    left, right = rng.integers(-3, 4, (n, r)) / 4.0, rng.integers(-3, 4, (r, m)) * 1.0
    left[:r] += 9.0 * np.eye(r)
    right[:, m - r :] += 11.0 * np.eye(r)
    A = np.hstack([np.zeros((n, 3)), left @ right])
    assert modular_rank(A) == modular_rank(A[:, ::-1]) == modular_rank(A.T) == r


def test_small_tables_are_decided_exactly_and_huge_ones_by_a_part(monkeypatch):
    """First some rows and columns, then all unless there are too many, then in whole numbers if there are few; ends belong."""
    X = np.zeros((40, 2))
    X[35:] = np.random.default_rng(0).standard_normal((5, 2))
    assert label_count._ranks(X, intercept=True) == (3, 3)
    assert (label_count.LARGEST, label_count.EXACT, label_count.SPARE, label_count.BLOCK) == (4e9, 2e6, 32, 64)
    for rows, ranks in ((35, (1, 3)), (36, (1, 3))):
        with monkeypatch.context() as patch:
            patch.setattr(label_count, "LARGEST", 0.0)
            patch.setattr(label_count, "EXACT", 0.0)
            assert label_count._ranks(X[:rows] if rows == 35 else X[[*range(35), 39]], intercept=True) == ranks
    work = 40.0 * 3 * 3
    twin = np.column_stack([X[:, 0], X[:, 0]])
    for largest, exact, ranks in (
        (work, 0.0, (2, 3)),
        (work - 1, 0.0, (1, 3)),
        (work, work, (2, 2)),
        (0.0, work, (1, 2)),
        (work, work - 1, (2, 3)),
    ):
        monkeypatch.setattr(label_count, "LARGEST", largest)
        monkeypatch.setattr(label_count, "EXACT", exact)
        assert label_count._ranks(twin, intercept=True) == ranks
    assert label_count._ranks(np.ones((2, 40)), intercept=False) == (1, 1)
    assert label_count._dense(np.eye(3), 4, 3).tolist() == [[1, 1, 0], [1, 0, 1], [1, 0, 0]]
    assert label_count._dense(np.eye(2), 2, 5).tolist() == np.eye(2).tolist()
    assert label_count._dense(np.eye(2), 3, 0).tolist() == [[1], [1]]
