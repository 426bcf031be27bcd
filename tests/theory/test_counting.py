"""Cover's count and the thresholds of storage."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from scipy.optimize import linprog

from halfspace import theory
from halfspace.errors import InputError


@pytest.mark.parametrize(("P", "N"), [(1, 1), (4, 3), (6, 2)])
def test_count_is_what_enumeration_finds(P, N):
    """The count of separable labelings is that of trying all labelings of random points by linear programming."""
    X = np.random.default_rng(P).standard_normal((P, N))
    held = 0
    for labels in product([-1.0, 1.0], repeat=P):
        A = -np.array(labels)[:, None] * X
        held += linprog(np.zeros(N), A_ub=A, b_ub=-np.ones(P), bounds=(None, None)).status == 0
    assert theory.count(P, N) == held


def test_count_is_covers_sum():
    """Counts are exact whole numbers of any length, all labelings up to P = N, and none in no dimensions."""
    assert all(theory.count(P, N) == 2 * sum(comb(P - 1, k) for k in range(N)) for P in range(1, 30) for N in range(35))
    assert theory.count(500, 1000) == 2**500
    assert theory.count(2000, 1000) == 2**1999


def test_shares_are_fractions():
    """At P = 2N one half of all labelings is separable, and a share far below the smallest float is still exact."""
    assert all(theory.separable_share(2 * N, N) == Fraction(1, 2) for N in (1, 7, 300))
    assert 0 < theory.separable_share(5000, 3) < Fraction(1, 2**4900)
    assert round(float(theory.separable_share(44, 20)), 3) == 0.271


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, 2.0),
        ({"positives": 0.3}, 2.236),
        ({"positives": 0.9}, 3.913),
        ({"positives": 0.05}, 6.083),
        ({"flipped": 0.2}, 2.391),
        ({"flipped": 0.95}, 3.810),
        ({"flipped": 0.5}, 2.0),
        ({"flipped": 0.0}, np.inf),
        ({"positives": 0.0}, np.inf),
    ],
)
def test_capacity_has_the_known_thresholds(arguments, expected):
    """Thresholds are those at which simulated labels stop being separable."""
    assert theory.capacity(**arguments) == pytest.approx(expected, abs=5e-4)


def test_capacity_at_a_stability_is_the_inverse_of_the_stability():
    """A noise-free teacher's labels can be held at stability kappa up to the alpha whose largest stability is kappa."""
    for alpha in (0.01, 1.0, 30.0):
        assert theory.capacity(theory.stability(alpha), flipped=0.0) == pytest.approx(alpha, rel=1e-9)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: theory.count(0, 3), "'P' must be a whole number of at least 1. Got 0"),
        (lambda: theory.count(5, 2.0), "'N' must be a whole number"),
        (lambda: theory.capacity(positives=1.2), "'positives' must be a share from 0 to 1. Got 1.2"),
        (lambda: theory.capacity(positives=0.2, flipped=0.1), "not both"),
        (lambda: theory.capacity(float("nan")), "'stability' must be finite"),
    ],
)
def test_wrong_arguments_are_named(call, said):
    """Errors name the function's parameter, what it must be and what came."""
    with pytest.raises(InputError, match=said):
        call()
