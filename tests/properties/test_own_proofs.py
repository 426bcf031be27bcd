"""No fit's own proof is refuted, whatever the scales, the order in memory and the ties of the data."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import halfspace as hs
from halfspace.kernels import FromFunction

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.filterwarnings("ignore::halfspace.errors.NotSeparatedWarning"),
    pytest.mark.filterwarnings("ignore::halfspace.errors.GapWarning"),
]


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_one_against_one_proves_each_pair_by_the_rounding_of_its_own_examples(kernel, storage):
    """A class at 1e4 times the others' scale does not blur the proofs of the pairs it has no part in."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = np.arange(60) % 3
        X = rng.normal(size=(60, 4)) * 1e4 ** (y == 0)[:, None]
        model = hs.KernelAdaTron(kernel, multi_class="ovo", max_iter=200).fit(storage(X), y)
        for rows in (X, np.asfortranarray(X), sparse.csr_matrix(X)):
            assert model.certificate_.verify(rows, y), model.certificate_.verify(rows, y)


def test_pairs_of_a_kernel_without_a_proof_are_shifted_by_their_own_rounding():
    """Ten classes: the shift that makes the matrix of all examples surely definite is far above that of a pair."""
    X, y = np.random.default_rng(0).normal(size=(50, 3)), np.arange(50) % 10
    kernel = FromFunction(lambda a, b: (1.0 + float(a @ b)) ** 2)
    model = hs.KernelAdaTron(kernel, multi_class="ovo", max_iter=50).fit(X, y)
    assert model.certificate_.verify(X, y), model.certificate_.verify(X, y)


@pytest.mark.parametrize("model", [hs.Perceptron(max_iter=30, random_state=0), hs.MinOver(max_iter=300)], ids=["p", "m"])
def test_a_bracket_at_its_edge_holds_in_any_order_of_summation(model):
    """Equal rows of different labels leave a margin of minus the radius, which a data frame sums in another order."""
    for seed in range(25):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(4, 40)), np.array([0, 1, 0, 1])
        X[1] = X[0]
        frame = pd.DataFrame({f"x{k}": X[:, k] for k in range(40)})
        proof = model.fit(frame, y).certificate_
        for rows in (frame, X, np.asfortranarray(X)):
            assert proof.verify(rows, y), (seed, proof.verify(rows, y))
