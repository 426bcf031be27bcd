"""The two row operations of prototypes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from halfspace.rows.distances import pull, sqdist
from halfspace.rows.views import view_of


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("kind", [np.float32, np.float64], ids=["float32", "float64"])
def test_distance_and_pull(stored, kind):
    """‖x_i - w_k‖² and w_k += rate (x_i - w_k), whatever the storage; the other prototypes stay."""
    rng = np.random.default_rng(0)
    X = np.maximum(rng.standard_normal((5, 7)), 0.0).astype(kind)
    X[3] = 0.0
    W = rng.standard_normal((2, 7))
    view = view_of(stored(X))
    for i in range(5):
        assert_allclose(sqdist(view, i, W, 1), ((X[i].astype(float) - W[1]) ** 2).sum(), rtol=1e-14)
    for i in (2, 3):
        moved = W.copy()
        pull(-0.3, view, i, moved, 1)
        assert_allclose(moved, [W[0], W[1] - 0.3 * (X[i] - W[1])], rtol=1e-13)
