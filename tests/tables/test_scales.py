"""Scales of numbers beyond mean and deviation: logarithms of long tails, and ranks as normal values."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse
from scipy.stats import norm, skew
from sklearn.preprocessing import QuantileTransformer

import halfspace as hs
from halfspace.certificates.pipeline import Pipeline
from halfspace.errors import InputError
from halfspace.tables import TableEncoder
from halfspace.tables.recipes import check_recipes

RANDOM = np.random.default_rng(0)
PRICES = RANDOM.lognormal(3.0, 1.0, 400)
COUNTS = RANDOM.geometric(0.2, 400) - 1.0
HEIGHTS = RANDOM.normal(170.0, 10.0, 400)
CHANGES = RANDOM.exponential(1.0, 400) - 0.5


def test_long_tails_are_taken_by_their_logarithm():
    """Skewed columns are standardised logarithms, with zeros of 1 + x, else of the distance from the end without the tail."""
    X = np.column_stack([PRICES, COUNTS, CHANGES, -PRICES, HEIGHTS])
    Z = TableEncoder(scale="log").fit(X).transform(X)
    ends = (0.05 * values.std() + values - values.min() for values in (CHANGES, PRICES))
    for k, inside in enumerate((PRICES, 1.0 + COUNTS, *ends)):
        values = np.log(inside)
        np.testing.assert_allclose(Z[:, k], (values - values.mean()) / values.std(), atol=1e-12)
    np.testing.assert_array_equal(Z[:, 4], TableEncoder().fit(X).transform(X)[:, 4])
    assert abs(skew(Z[:, 0])) < 0.3
    assert skew(PRICES) > 1.0


def test_below_the_least_value_that_value_counts():
    """The logarithm of what was never seen stays finite."""
    encoder = TableEncoder(scale="log").fit(PRICES[:, None])
    new = encoder.transform([[0.0], [-5.0], [PRICES.min()], [1e300]])
    assert np.isfinite(new).all()
    assert new[0] == new[1] == new[2] == encoder.transform(PRICES[:, None]).min()
    encoder = TableEncoder(scale="log").fit(-PRICES[:, None])
    new = encoder.transform([[0.0], [5.0], [-PRICES.min()], [-1e300]])
    assert np.isfinite(new).all()
    assert new[0] == new[1] == new[2] == encoder.transform(-PRICES[:, None]).min()


def test_a_logarithm_that_does_not_exist_is_refused():
    """A recipe read from a file whose logarithm some number lacks is none."""
    encoder = TableEncoder(scale="log").fit(np.column_stack([PRICES, -PRICES]))
    for column, changed in ((0, {"offset": -PRICES.min()}), (1, {"sign": 1.0}), (1, {"sign": 2.0}), (0, {"sign": None})):
        recipes = [recipe | {"parts": [dict(recipe["parts"][0])]} for recipe in encoder.recipes_]
        recipes[column]["parts"][0] |= changed
        with pytest.raises(ValueError, match="it has no recipes, or one that is none"):
            check_recipes(recipes, list(encoder.groups_), 2)
    check_recipes(encoder.recipes_, list(encoder.groups_), 2)


@pytest.mark.parametrize("n", [200, 3000])
def test_ranks_become_normal_values(n):
    """As by scikit-learn's QuantileTransformer, but the ends stay at half a row and within ±3; ties share their middle."""
    X = np.random.default_rng(1).exponential(1.0, (n, 1))
    encoder = TableEncoder(scale="normal").fit(X)
    Z = encoder.transform(X)
    peer = QuantileTransformer(n_quantiles=min(n, 1000), output_distribution="normal", subsample=None).fit_transform(X)
    inner = np.abs(peer) < 2.5
    np.testing.assert_allclose(Z[inner], peer[inner], atol=1e-6)
    assert np.abs(encoder.transform([[-1e9], [1e9]])).max() == pytest.approx(min(3.0, norm.isf(0.5 / n)))
    assert abs(Z.std() - 1.0) < 0.02
    assert TableEncoder(scale="normal").fit_transform([[1.0], [1.0], [2.0], [3.0]])[0] < 0.0


@pytest.mark.parametrize("scale", ["log", "normal"])
def test_they_are_kept_and_checked(scale, tmp_path):
    """A loaded encoder gives the same bits, is what its training rows make, and a changed one is found out."""
    prices = PRICES.tolist()
    prices[::11] = [None] * len(prices[::11])
    X = pa.table({"price": prices, "height": HEIGHTS, "when": pa.array(range(10**9, 10**9 + 400), type=pa.timestamp("s"))})
    encoder = TableEncoder(scale=scale).fit(X)
    hs.save(encoder, tmp_path / "encoder.halfspace")
    loaded = hs.load(tmp_path / "encoder.halfspace")
    np.testing.assert_array_equal(loaded.transform(X), encoder.transform(X))
    assert Pipeline(loaded, None, None, None, {}, None)._refitted(X)
    part = loaded.recipes_[0]["parts"][0]
    part |= {"offset": 1.0} if scale == "log" else {"tail": 0.01}
    assert not Pipeline(loaded, None, None, None, {}, None)._refitted(X)


@pytest.mark.parametrize("scale", ["log", "normal", "rank"])
def test_a_sparse_matrix_is_refused(scale):
    """Zeros would not stay zeros."""
    with pytest.raises(InputError, match=f"scale='{scale}' would make a sparse matrix dense"):
        TableEncoder(scale=scale).fit(sparse.csr_matrix(np.eye(5)))


@pytest.mark.parametrize("scale", ["log", "normal"])
def test_odd_columns(scale):
    """Constant, tiny, huge and nearly constant columns stay finite, one by one and many at once."""
    X = np.column_stack([np.ones(50), np.arange(50) * 1e-300, np.arange(50) * 1e300, [*[0.0] * 49, 1.0], np.arange(50.0) % 3])
    Z = TableEncoder(scale=scale).fit_transform(np.hstack([X] * 30))
    assert np.isfinite(Z).all()
    np.testing.assert_array_equal(Z[:, :4], TableEncoder(scale=scale).fit_transform(X))
