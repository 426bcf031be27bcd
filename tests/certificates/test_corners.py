"""Corners of single functions that no data of a fit reach: the last number on one side, and the first on the other."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from halfspace import certificates as proofs
from halfspace.certificates import calibration, predictor
from halfspace.certificates.margins import separability, support
from halfspace.certificates.prototypes import quantisation

PAIR, SIGNS = np.array([[1.0], [-1.0]]), np.array([1, 0])


# ---------------------------------------------------------------- numbers
@pytest.mark.parametrize("tenths", [1, 9, 10, 15, 19, 20, 35, 10**6 + 5])
def test_roots_of_fractions_are_rounded_down_to_the_smallest_float(tenths):
    """So many tenths of the smallest float have a root of as many whole ones as they contain."""
    tiny = Fraction(1, 2**1074)
    assert separability._root((Fraction(tenths, 10) * tiny) ** 2) == (tenths // 10) * 5e-324
    assert separability._root(Fraction(tenths, 10) ** 2) == pytest.approx(tenths / 10, rel=1e-14)
    assert Fraction(separability._root(Fraction(tenths, 10))) ** 2 <= Fraction(tenths, 10)


# ---------------------------------------------------------------- rows and what is kept of them
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_kept_by_number_are_counted_from_zero(form):
    """Numbers below 0 and beyond the last row name nothing, wherever they stand; none at all are rows of anything."""
    X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    for rows, fine in (([0, 2], True), ([2, 1], True), ([-1, 1], False), ([1, -1], False), ([-3, -1], False), ([], True)):
        numbers = np.array(rows, dtype=np.int64)
        assert predictor._are_rows(form(X), numbers, form(X)[numbers]) is fine
    for rows in ([1, 3], [3, 1]):
        assert not predictor._are_rows(form(X), np.array(rows), form(X)[:2])
    assert not predictor._are_rows(form(X), np.array([0]), form(X)[:1, :1])
    assert not predictor._are_rows(form(X), np.array([0]), form(X)[1:2])


def test_a_bound_of_one_is_one():
    """Where every example may be a support vector, compression says nothing: 1, and no other number."""
    gap = proofs.DualityGap.measure(PAIR, SIGNS, weights=np.ones(1), strengths=np.full(2, 0.5), C=1.0, positive=1)
    proof = proofs.SupportBounds.measure(PAIR, SIGNS, gap)
    assert (proof.support, proof.compression) == (2, 1.0)
    assert proof.verify(PAIR, SIGNS)
    for other in (1000.0, 0.001, 1.0 + 1e-9):
        assert not replace(proof, compression=other).verify(PAIR, SIGNS)


# ---------------------------------------------------------------- probabilities
@pytest.mark.parametrize("columns", [1, 3])
def test_curves_are_fitted_to_all_rows_until_there_are_enough(columns, monkeypatch):
    """With at most as many numbers as are enough every row counts, with twice as many every second."""
    monkeypatch.setattr(calibration, "ENOUGH", 20 * columns)
    rng, used = np.random.default_rng(0), []
    for name in ("_sigmoid_curve", "_softmax_curve"):
        monkeypatch.setattr(calibration, name, lambda seen, _: used.append(len(seen)) or calibration.Curve(1.0, 0.0))
    for n, most in ((10, 10), (20, 20), (39, 39), (40, 20), (60, 20), (65, 22)):
        outputs, target = rng.normal(size=(n, columns)), rng.integers(0, 2, n)
        calibration.Calibration.of(outputs[:, 0] if columns == 1 else outputs, target)
        assert sum(used) == most
        used.clear()


# ---------------------------------------------------------------- nearest prototypes
def test_a_prototype_far_away_leaves_the_others_clear(monkeypatch):
    """Distances are taken from the median: rows far from 0, and one prototype far from them, need no second look."""
    W = 1e7 + np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1e12, 1e12]])
    rows = 1e7 + np.array([[0.1, 0.2], [0.9, 0.2], [0.2, 0.9], [0.8, 0.9]])
    monkeypatch.setattr(quantisation, "own_squares", lambda _: pytest.fail("a second look"))
    assert quantisation.nearest(rows, W).tolist() == [0, 1, 2, 3]
