"""Examples on which one term of a checker decides alone, found by changing the checkers (`python -m benchmarks.mutants`)."""

from dataclasses import replace
from math import comb, exp, log

import numpy as np
import pytest

import halfspace as hs
from halfspace import certificates as proofs
from halfspace.certificates import baselines, groups
from halfspace.certificates.margins import ballot, support

LINE, SIDES = np.linspace(-1.0, 1.0, 10)[:, None], np.repeat([0, 1], 5)


# ---------------------------------------------------------------- what support vectors say
def test_bounds_from_a_false_gap_are_refused():
    """Support counted from a dual value that is too large follows from nothing, however right the arithmetic is."""
    gap = hs.AdaTron(C=1.0, tol=0.5).fit(LINE, SIDES).certificate_
    false = replace(gap, dual=gap.primal)
    assert proofs.SupportBounds.measure(LINE, SIDES, gap).verify(LINE, SIDES)
    assert not proofs.SupportBounds.measure(LINE, SIDES, false).verify(LINE, SIDES)


@pytest.mark.parametrize(("n", "k", "delta"), [(1000, 10, 0.05), (1001, 10, 0.05), (5000, 900, 0.5), (5000, 0, 0.01)])
def test_the_compression_bound_is_littlestone_and_warmuths(n, k, delta):
    """The bound is 1 - exp(-(ln binom(n, k) + ln(n / delta)) / (n - k)), whichever way the logarithm is taken."""
    found = support._compression(n, k, delta)
    assert found == pytest.approx(1.0 - exp(-(log(comb(n, k)) + log(n / delta)) / (n - k)), rel=1e-9)
    assert found < support._compression(n, n - 1, delta) < support._compression(n, n, delta) == 1.0


@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("clamp", [0.0, 2.0])
def test_an_example_is_a_possible_support_vector_up_to_the_distance_of_the_optimum(C, clamp):
    """Potentials up to 1 + √(2 gap) ‖x‖ count, those a millionth above do not."""
    X, y = np.array([[1.0, 0.0], [-1.0, 0.0], [2.0, 0.0], [-3.0, 1.0]]), np.array([1, 0, 1, 0])
    weights = np.array([1.25, 0.0, 0.0] if clamp else [1.25, 0.0])
    gap = proofs.DualityGap.measure(X, y, weights=weights, strengths=np.full(4, 0.1), C=C, clamp=clamp, positive=1)
    unit = 1.25 if np.isinf(C) else 1.0  # a hard margin is that of the weights scaled to least potential 1
    gap = replace(gap, primal=0.8, dual=0.5)  # any two values: only the distance they prove counts here
    distance = np.sqrt(0.6)
    slope = 1.25 / unit

    def above(t):
        return slope * t - 1.0 - distance * np.hypot(t, clamp)

    low, high = 1.0, 1e6
    for _ in range(200):
        low, high = (low, 0.5 * (low + high)) if above(0.5 * (low + high)) > 0.0 else (0.5 * (low + high), high)
    for share, more in ((1.0 - 1e-6, 1), (1.0 + 1e-6, 0)):
        rows, labels = np.vstack([X[:2], [[share * high, 0.0]]]), np.array([1, 0, 1])
        for slack in (1.0, 4.0, 64.0):
            assert support._possible_support(rows, labels, gap, slack) == 2 + more


# ---------------------------------------------------------------- the vote of all there were
VOTED = hs.VotedPerceptron(random_state=0, max_iter=3)


def test_a_vote_about_rows_outside_the_data_is_refused():
    """A mistake on row n of n examples is none."""
    X, y = LINE[::-1] + 0.05, np.array([0, 1, 0, 1, 1, 0, 1, 0, 0, 1])
    proof = VOTED.fit(X, y).certificate_
    assert proof.verify(X, y)
    n = y.size
    outside = proof.ballot._replace(rows=np.where(np.arange(proof.ballot.rows.size) == 1, n, proof.ballot.rows))
    verdict = replace(proof, ballot=outside).verify(X, y)
    assert not verdict
    assert "a row outside 0..9" in str(verdict)


@pytest.mark.parametrize("seed", range(4))
def test_votes_are_those_of_a_plain_loop(seed, monkeypatch):
    """Errors of the vote are those found function by function, whatever the blocks; others are refused."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(23, 2)), rng.integers(0, 2, 23)
    proof = VOTED.fit(X, y).certificate_
    monkeypatch.setattr(ballot, "JUDGED", 5 * (seed + 1))
    monkeypatch.setattr(ballot, "BLOCK", 3 * proof.ballot.rows.size)
    own, clamp = proof.ballot, proof.bracket.clamp
    lasting, wrong = np.diff(own.times, append=own.presented), 0
    for i in range(0, 23, -(-23 // ballot.JUDGED)):
        outputs = np.cumsum(own.steps * (X[own.rows] @ X[i] + clamp**2))
        wrong += ((np.where(outputs > 0, 1, -1) * lasting).sum() > 0) != (y[i] == 1)
    for errors in range(wrong - 1, wrong + 2):
        sign = np.where(y == 1, 1.0, -1.0)
        assert bool(own._replace(errors=errors).confirm(X, sign, proof.bracket)) == (errors == wrong)
    assert own.counted(X, sign, proof.bracket).errors == wrong


# ---------------------------------------------------------------- cells
@pytest.mark.parametrize("block", [1, 8, 1 << 22])
def test_every_example_must_be_in_its_cell(block, monkeypatch):
    """Whichever example is filed under another cell, first or last, in whichever block, the cells are refused."""
    monkeypatch.setattr(groups, "BLOCK_ENTRIES", block)
    X, centres = np.array([[0.0], [9.0], [1.0], [8.0], [4.0]]), np.array([[0.5], [8.5]])
    cells, y = groups.nearest_centres(X, centres), np.full(5, "a")
    assert cells.tolist() == [0, 1, 0, 1, 0]
    parts = proofs.OneLabel("a"), proofs.OneLabel("a")
    assert proofs.PerCell(centres, cells, parts).verify(X, y)
    for i in range(5):
        moved = np.where(np.arange(5) == i, 1 - cells, cells)
        verdict = proofs.PerCell(centres, moved, parts).verify(X, y)
        assert "1 examples are nearer" in str(verdict)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_no_example_of_weight_is_left_out_of_the_cells_of_a_regression():
    """Only an example of weight 0 may be in no cell: with any weight of its own it would be left out of the claim."""
    X = np.linspace(0.0, 6.0, 30)[:, None]
    y, s = np.sin(X[:, 0]), np.where(np.arange(30) == 7, 0.0, 1.0)
    proof = hs.KernelRegression(kernel_rows=15).fit(X, y, sample_weight=s).certificate_
    assert proof.verify(X, y)
    assert (proof.cells[s > 0.0] >= 0).all()
    outside = replace(proof, cells=np.where(np.arange(30) == 7, -1, proof.cells))
    assert outside.well_formed()
    assert not replace(outside, sample_weight=None).well_formed()
    assert not replace(outside, sample_weight=np.where(s > 0.0, s, 0.5)).well_formed()


# ---------------------------------------------------------------- neighbours
@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_neighbours_mislead_if_any_order_of_ties_does(k, seed, monkeypatch):
    """Of whole-number rows with many ties, an example is right only if its class wins whichever of the tied are nearest."""
    monkeypatch.setattr(baselines, "CHUNK", 37)
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 4, size=(16, 2)).astype(float), rng.integers(0, 3, 16)
    errors = 0
    for i in range(16):
        others = np.flatnonzero(np.arange(16) != i)
        distance = ((X[others] - X[i]) ** 2).sum(axis=1)
        last = np.sort(distance)[k - 1]
        sure, tied = y[others[distance < last]], y[others[distance == last]]
        left, wins = k - sure.size, True
        for rival in set(y.tolist()) - {int(y[i])}:
            strongest = (sure == rival).sum() + (left if (tied != y[i]).any() else 0)
            wins &= bool((sure == y[i]).sum() + (left if (tied == y[i]).all() else 0) > strongest)
        errors += not wins
    proof = proofs.NeighbourErrors.measure(X, y, k=k)
    assert proof.errors == errors
    assert proof.verify(X, y)
    assert not replace(proof, errors=errors - 1).verify(X, y)
