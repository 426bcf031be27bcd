"""Kernel values that are computed when they are asked for: each way gives the same."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from halfspace.kernels import RBF
from halfspace.kernels import gram as module
from halfspace.kernels.gram import LazyGram


def rows(n=60, far=0.0):
    """Return rows around a place far away."""
    return np.random.default_rng(0).standard_normal((n, 5)) + far


@pytest.mark.parametrize("far", [0.0, 1e6])
@pytest.mark.parametrize("few", [0, 700])
def test_values_are_those_of_the_kernel_in_either_precision(monkeypatch, few, far):
    """NumPy's values of few examples and those of compiled tiles are the kernel's, wherever the rows lie."""
    monkeypatch.setattr(module, "PLAIN", few)
    X = rows(far=far)
    gram, some, others = LazyGram(RBF(0.3), X, clamp=2.0), np.arange(20), np.arange(10, 60)
    expected = rbf_kernel(X - far, gamma=0.3)[np.ix_(some, others)] + 4.0
    np.testing.assert_allclose(gram.block(some, others, np.float32), expected, rtol=3e-6)
    np.testing.assert_allclose(gram.block(some, others, np.float64), expected, rtol=1e-8)
    coefficients = np.linspace(-1.0, 1.0, 20)
    np.testing.assert_allclose(
        gram.times(some, coefficients, others, np.float64), coefficients @ expected, rtol=1e-7, atol=1e-7
    )
    assert (gram._source.__class__.__name__ == "_Plain") == bool(few)


@pytest.mark.parametrize("gamma", [1e4, 1e300])
def test_rows_too_far_apart_for_single_precision_are_left_to_tiles(gamma):
    """Where an exponent would have no digits left behind the point, values are computed otherwise, without a warning."""
    assert LazyGram(RBF(gamma), rows())._source.__class__.__name__ != "_Plain"
