"""The bound by PAC-Bayes is that of its formula, solved another way."""

from inspect import signature
from math import erfc, log, sqrt

import numpy as np
import pytest
from scipy import sparse

import halfspace as hs
from halfspace.errors import InputError
from halfspace.questions.pac_bayes import _inverse, _kl


class Plane:
    """A plane that was found somewhere."""

    def __init__(self, w, b):
        self.coef_, self.intercept_, self.classes_ = np.array([w]), np.array([b]), np.array([3, 7])


def by_hand(model, X, y, delta):
    """Return twice the least error, over forty lengths, whose divergence is within the budget, by bisection."""
    (w, n, best), b = (model.coef_[0], len(y), 1.0), model.intercept_[0]
    cosines = []
    for x, label in zip(X, y, strict=True):
        f = sum(w * x) + b
        cosines.append((f if label == 7 else -f) / sqrt((sum(w * w) + b * b) * (sum(x * x) + 1.0)))
    for k in range(40):
        mu = 0.5 * 400.0 ** (k / 39)
        q = sum(0.5 * erfc(mu * cosine / sqrt(2.0)) for cosine in cosines) / n
        most, low, high = (mu**2 / 2 + log(2 * sqrt(n) * 40 / delta)) / n, q, 1.0 - 1e-12
        for _ in range(60):
            p = (low + high) / 2
            kl = (q * log(q / p) if q else 0.0) + (1 - q) * log((1 - q) / (1 - p))
            low, high = (p, high) if kl <= most else (low, p)
        best = min(best, low)
    return min(1.0, 2.0 * best)


@pytest.mark.parametrize(("n", "delta"), [(150, 0.05), (150, 0.5), (4, 0.05)])
def test_the_bound_is_that_of_the_formula(n, delta):
    """For dense and sparse rows, any label of the second class counting as positive; with few rows it says nothing."""
    X = np.random.default_rng(0).standard_normal((n, 2))
    model, y = Plane([1.0, -2.0], 0.5), np.where(X @ [1.0, -1.8] > -0.4, 7, 3)
    expected = by_hand(model, X, y, delta)
    assert hs.pac_bayes(model, X, y, delta=delta) == pytest.approx(expected, rel=1e-6)
    assert hs.pac_bayes(model, sparse.csr_array(X), y, delta=delta) == pytest.approx(expected, rel=1e-6)
    assert bool(expected < 0.75) is (n > 4)
    assert signature(hs.pac_bayes).parameters["delta"].default == 0.05


def test_rows_far_from_the_plane_have_a_bound():
    """Where all drawn planes are right, to the last float, the error is bounded by the budget alone."""
    X = np.array([[3.0], [-3.0]])[np.arange(200) % 2]
    y = np.where(X[:, 0] > 0, 7, 3)
    assert hs.pac_bayes(Plane([1.0], 0.0), X, y) == pytest.approx(by_hand(Plane([1.0], 0.0), X, y, 0.05), rel=1e-6)


def test_divergences_are_inverted_up_to_one():
    """The error found has just the divergence allowed; where every error below 1 is allowed it is 1."""
    for share in (0.0, 0.3):
        all_of_it = float(_kl(share, 1.0 - 1e-12))
        for most in (1e-3, 1.0, 15.0, all_of_it - 0.5):
            found = _inverse(share, most)
            assert share < found < 1.0
            assert float(_kl(share, found)) == pytest.approx(most, rel=0.02)
        assert _inverse(share, all_of_it) == _inverse(share, all_of_it + 0.5) == 1.0


@pytest.mark.parametrize("delta", [0.0, 1.0, 2, "0.1"])
def test_wrong_arguments_are_refused(delta):
    """A probability of failure is between 0 and 1, and the model is one plane."""
    X, y = np.eye(3), np.array([0, 1, 2])
    with pytest.raises(InputError, match="'delta' parameter of pac_bayes"):
        hs.pac_bayes(Plane([1.0, 0.0, 0.0], 0.0), X, y, delta=delta)
    several = Plane([1.0, 0.0, 0.0], 0.0)
    several.coef_ = np.eye(3)
    for model in (hs.KMeans(), several):
        with pytest.raises(InputError, match="pac_bayes is about one plane"):
            hs.pac_bayes(model, X, y)
