"""Kernels of scaled columns: curves learnt from data, and the same values fast, exact and after a trip through a file."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from halfspace.errors import InputError
from halfspace.kernels import RBF, Laplacian, Linear, Manhattan, OnScales, from_dict, scales
from halfspace.kernels.fast.manhattan import pulls
from halfspace.kernels.scales import learn_curves

X = np.random.default_rng(0).lognormal(size=(60, 4))


@pytest.mark.parametrize("scale", ["standard", "log", "normal"])
@pytest.mark.parametrize("made", [Linear(), RBF(0.3), Laplacian("median"), Manhattan(0.2)], ids=str)
def test_fast_and_exact_values_agree(made, scale):
    """Both forms agree up to rounding, dense and sparse, and a trip through plain data keeps every number."""
    known = made.on_scales(scale).resolved(X)
    assert known.is_resolved()
    assert from_dict(known.to_dict()) == known
    K = known.exact(X[:40], X[40:])
    np.testing.assert_allclose(known.matrix(X[:40], X[40:]), K, atol=2e-14 * max(1.0, np.abs(K).max()))
    np.testing.assert_allclose(known.exact(sparse.csr_array(X[:40]), X[40:]), K, atol=1e-14 * max(1.0, np.abs(K).max()))
    assert known.reason() is not None
    assert np.linalg.eigvalsh(known.exact(X)).min() > -1e-9


def test_scales_do_what_they_say():
    """Standard columns have mean 0 and variance 1, normal ones the ranks of a normal distribution; none go beyond 8."""
    for scale in ("standard", "log", "normal"):
        Z = Linear().on_scales(scale).resolved(X).coordinates(X)
        assert np.abs(Z).max() <= 8.0
        if scale != "standard":
            np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=0.05)
        assert (np.diff(Z[np.argsort(X[:, 0]), 0]) >= 0.0).all()
        far = Linear().on_scales(scale).resolved(X).coordinates(1e6 * X)
        assert np.abs(far).max() <= 8.0


def test_columns_of_factor_0_are_not_read():
    """A factor of 0 takes a column out, and factors multiply what the curves give."""
    known = Manhattan(1.0).on_scales().resolved(X)
    half = OnScales(known.kernel, "standard", np.array([0.5, 0.0, 1.0, 0.0]), known.curves)
    Z = known.coordinates(X) * half.factors
    np.testing.assert_allclose(half.coordinates(X), Z)
    np.testing.assert_allclose(half.exact(X), np.exp(-cdist(Z, Z, "cityblock")), atol=1e-14)
    changed = X.copy()
    changed[:, 3] = 9.0
    assert np.array_equal(half.exact(X, changed), half.exact(X))


def test_a_column_of_one_value_goes_to_0():
    """Constant columns count for nothing on any scale."""
    rows = np.column_stack([X[:, 0], np.full(60, 3.0)])
    for scale in ("standard", "log", "normal"):
        assert not RBF(1.0).on_scales(scale).resolved(rows).coordinates(rows)[:, 1].any()


@pytest.mark.parametrize(
    "wrong",
    [
        {"scale": "rank"},
        {"factors": [-1.0, 1.0]},
        {"factors": [0.0]},
        {"factors": "many"},
        {"curves": ((0, 2), (1.0, 1.0), (0.0, 1.0))},
        {"curves": ((0, 2), (0.0, 1.0), (1.0, 0.0))},
        {"curves": ((0, 1), (0.0, 1.0), (1.0, 2.0))},
        {"curves": ((0, 2), (0.0, 1.0), (0.0, 1.0)), "factors": [1.0, 1.0]},
    ],
)
def test_what_is_no_scale_is_refused(wrong):
    """Curves rise, factors are numbers >= 0 for every column."""
    with pytest.raises(InputError):
        OnScales(RBF(1.0), **wrong)


def test_rows_of_other_columns_are_refused():
    """Curves belong to columns."""
    with pytest.raises(InputError, match="4 columns"):
        RBF(1.0).on_scales().resolved(X).exact(X[:, :3])


def test_pulls_are_slopes_of_the_manhattan_distance():
    """Sums of weighted signs are the slopes of the weighted distances, by a difference quotient."""
    A, B = X[:5], X[5:20]
    W = np.random.default_rng(1).normal(size=(5, 15))
    step = 1e-7
    for j in range(4):
        moved = A.copy()
        moved[:, j] += step
        slopes = (W * (cdist(moved, B, "cityblock") - cdist(A, B, "cityblock"))).sum(axis=1) / step
        np.testing.assert_allclose(pulls(A, B, W)[:, j], slopes, atol=1e-5)


@pytest.mark.parametrize("scale", ["standard", "log", "normal"])
@pytest.mark.parametrize("piece", [1, 200, 1 << 20])
def test_a_curve_is_that_of_its_column_alone(scale, piece, monkeypatch):
    """Columns that are looked at together, in pieces of any size, dense or sparse, have the curves that each has alone."""
    mixed = np.column_stack([X, -X, np.full(60, 3.0), np.arange(60) % 3, 1e9 + X[:, :1]])
    alone = [learn_curves(mixed[:, [j]], scale) for j in range(mixed.shape[1])]
    monkeypatch.setattr(scales, "PIECE", piece)
    for together in (learn_curves(mixed, scale), learn_curves(sparse.csr_array(mixed), scale)):
        assert np.diff(together.starts).tolist() == [one.knots.size for one in alone]
        assert np.array_equal(together.knots, np.concatenate([one.knots for one in alone]))
        assert np.array_equal(together.heights, np.concatenate([one.heights for one in alone]))
