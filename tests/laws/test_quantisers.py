"""Laws of vector quantisation and neural gas."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.cluster import KMeans

from halfspace.models.prototypes.neural_gas import NeuralGas
from halfspace.models.prototypes.vector_quantizer import VectorQuantizer
from halfspace.rows.orders import Geometric
from halfspace.rows.threads import libraries
from halfspace.solvers.prototypes.neural_gas import Gas
from halfspace.solvers.prototypes.quantising import HOLD, State, WinnerTakesAll, all_distances, winners

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 5))
RATE = Geometric(0.5, 0.05)
MODELS = {"gas": NeuralGas, "winner": VectorQuantizer}
every_model = pytest.mark.parametrize("make", list(MODELS.values()), ids=list(MODELS))


def by_the_book(rows, W, width, total):
    """Present rows by the rule as the paper states it; a rate holds for 16 presentations."""
    W = W.copy()
    for t, x in enumerate(rows):
        gone = t // HOLD * HOLD / total
        rank = np.argsort(np.argsort(((x - W) ** 2).sum(axis=1), kind="stable"))
        W += (RATE.at(gone) * np.exp(-rank / width.at(gone)))[:, None] * (x - W)
    return W


@pytest.mark.parametrize("width", [Geometric(6.0, 0.01), Geometric(0.2, 0.05)], ids=["wide", "narrow"])
@pytest.mark.parametrize("K", [1, 11])
def test_gas_follows_its_rule(width, K):
    """The accelerated gas moves prototypes as the rule of Martinetz, Berkovich and Schulten does."""
    fast, plain = State.of(X[:K]), State.of(X[:K])
    Gas(RATE, width).present(X, fast, 40)
    Gas(RATE, width, plain=True).present(X, plain, 40)
    assert_allclose(plain.W, fast.W, rtol=1e-12, atol=1e-13)
    assert_allclose(plain.error, fast.error)
    assert_allclose(fast.W, by_the_book(X, X[:K], width, 40), rtol=1e-12, atol=1e-13)


def test_of_equal_distances_the_lower_number_ranks_first():
    """Prototypes in the same place are ranked by number, and the first of them wins."""
    W = np.repeat(X[:4], 3, axis=0)
    state = State.of(W)
    Gas(RATE, Geometric(4.0, 4.0)).present(X[:10], state, 40)
    assert_allclose(state.W, by_the_book(X[:10], W, Geometric(4.0, 4.0), 40), rtol=1e-12, atol=1e-13)
    assert winners(X, W)[0].tolist() == (3 * winners(X, X[:4])[0]).tolist()


def test_gas_of_no_range_is_vector_quantisation():
    """λ -> 0 gives the prototypes of vector quantisation, bit by bit, for the same order and rates."""
    common = {"eta0": 0.5, "eta_end": 0.01, "max_iter": 2, "init": "sample", "random_state": 3}
    ranked = NeuralGas(4, lambda0=1e-3, lambda_end=1e-3, **common).fit(X)
    winner = VectorQuantizer(4, revive=False, **common).fit(X)
    assert_array_equal(ranked.prototypes_, winner.prototypes_)
    plain = NeuralGas(4, lambda0=1e-3, lambda_end=1e-3, solver="plain", **common).fit(X)
    assert_allclose(plain.prototypes_, winner.prototypes_, rtol=1e-12)


@pytest.mark.parametrize("rule", [WinnerTakesAll(RATE), Gas(RATE, Geometric(3.0, 0.01))], ids=["winner", "gas"])
def test_cuts_do_not_matter(rule):
    """Rows presented in pieces of any size give the same prototypes, bit by bit."""
    whole, pieces = State.of(X[:5]), State.of(X[:5])
    rule.present(X, whole, 40)
    for piece in np.split(X, [1, 18, 19]):
        rule.present(piece, pieces, 40)
    assert_array_equal(whole.V, pieces.V)


@every_model
def test_prototypes_stay_in_the_convex_hull(make):
    """In no direction does a prototype lie beyond the outermost row, even at the rate 1."""
    model = make(6, eta0=1.0, max_iter=2, random_state=0).fit(X)
    directions = RNG.standard_normal((5, 50))
    assert ((model.prototypes_ @ directions).max(axis=0) <= (X @ directions).max(axis=0) + 1e-12).all()


@every_model
def test_storage_does_not_matter(make):
    """Dense and sparse rows, and single-precision ones and their copies in double precision, give the same prototypes."""
    rows = np.maximum(X, 0.0)
    expected = make(4, max_iter=2, init="sample", random_state=0).fit(rows)
    stored = make(4, max_iter=2, init="sample", random_state=0).fit(sparse.csr_array(rows))
    assert_array_equal(stored.prototypes_, expected.prototypes_)
    assert_array_equal(stored.labels_, expected.labels_)
    assert stored.certificate_.verify(sparse.csr_array(rows))


@every_model
@pytest.mark.compiled
def test_single_precision_is_close(make):
    """Rows in single precision are learnt in double precision: as their copies, bit by bit."""
    rows = X.astype(np.float32)
    single, double = (make(4, max_iter=2, init="sample", random_state=0).fit(r) for r in (rows, rows.astype(np.float64)))
    assert_array_equal(single.prototypes_, double.prototypes_)
    assert single.certificate_.verify(rows)


@every_model
def test_equivariance(make):
    """Scaled, shifted and reordered columns scale, shift and reorder the prototypes."""
    fitted = make(4, max_iter=2, init="sample", random_state=0).fit(X).prototypes_
    again = make(4, max_iter=2, init="sample", random_state=0)
    turn = [3, 1, 4, 0, 2]
    assert_array_equal(again.fit(4.0 * X).prototypes_, 4.0 * fitted)
    assert_allclose(again.fit(X + 100.0).prototypes_, fitted + 100.0, rtol=1e-11)
    assert_allclose(again.fit(X[:, turn]).prototypes_, fitted[:, turn], rtol=1e-9, atol=1e-12)


def test_distances():
    """Distances from all prototypes, for any number of columns, are those of NumPy."""
    for d in (1, 3, 4, 5):
        expected = np.linalg.norm(X[:, None, :d] - X[None, :9, :d], axis=2)
        assert_allclose(all_distances(np.ascontiguousarray(X[:, :d]), X[:9, :d]), expected, rtol=1e-14, atol=1e-15)


@pytest.mark.compiled
def test_neural_gas_beats_k_means_over_random_starts():
    """On a mixture, from 50 random starts, the gas' median error is below K-means' lower quartile, at the same K."""
    rng = np.random.default_rng(2)
    centres = rng.uniform(-12.0, 12.0, (15, 2))
    rows = centres[rng.integers(15, size=300)] + rng.standard_normal((300, 2))
    gases = [NeuralGas(15, random_state=seed).fit(rows).inertia_ for seed in range(50)]
    with libraries().limit(limits=1):  # waiting threads would take most of the time
        means = [KMeans(15, init="random", n_init=1, random_state=seed).fit(rows).inertia_ for seed in range(50)]
    assert np.median(gases) < np.quantile(means, 0.25)
