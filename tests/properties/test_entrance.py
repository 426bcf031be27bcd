"""What a model learns from and what a checker reads are the numbers handed in, to the last bit, or the data are refused."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import halfspace as hs
from halfspace._matrices import admitted, canonical, held_exactly
from halfspace.certificates import MarginBracket, RidgeGap
from halfspace.errors import InputError
from halfspace.kernels import RBF

pytestmark = [
    pytest.mark.filterwarnings("ignore::halfspace.errors.NotSeparatedWarning"),
    pytest.mark.filterwarnings("ignore::halfspace.errors.GapWarning"),
]

g = np.random.default_rng(0)
X = np.where(g.random((24, 5)) < 0.6, g.integers(-64, 64, (24, 5)) / 8.0, 0.0)
Y = (X @ [1.0, -2.0, 0.5, 1.0, 1.0] > 0.3).astype(int)


def messy(A, dtype=np.float64):
    """CSR with every entry in two parts, unsorted, explicit zeros, and room beyond the last entry."""
    n, d = A.shape
    columns = np.concatenate([np.r_[np.arange(d)[::-1], np.arange(d)] for _ in range(n)])
    values = np.concatenate([np.r_[row[::-1] - 1.0, np.ones(d)] for row in A])
    room = np.full(3, 7.0)
    S = sparse.csr_matrix((0, d), dtype=dtype)
    S.data, S.indices = np.r_[values, room].astype(dtype), np.r_[columns, np.zeros(3)].astype(np.int32)
    S.indptr = (2 * d * np.arange(n + 1)).astype(np.int32)
    S._shape = (n, d)
    return S


def twice(A):
    i, j = np.indices(A.shape)
    return (np.r_[A.ravel() - 1.0, np.ones(A.size)], (np.r_[i.ravel(), i.ravel()], np.r_[j.ravel(), j.ravel()]))


STORED = {
    "csr": messy,
    "coo": lambda A: sparse.coo_matrix(twice(A), shape=A.shape),
    "coo array": lambda A: sparse.coo_array(twice(A), shape=A.shape),
    "csc": lambda A: sparse.csc_matrix(messy(A.T).T),
    "bsr": lambda A: sparse.bsr_matrix(sparse.csr_matrix(A), blocksize=(2, 1)),
    "lil": sparse.lil_matrix,
    "zeros": lambda A: sparse.csr_array((A.ravel(), np.tile(np.arange(5), len(A)), 5 * np.arange(len(A) + 1)), shape=A.shape),
}


@pytest.mark.parametrize("storage", STORED)
def test_however_a_sparse_matrix_is_stored_it_enters_as_one_entry_each_and_is_left_as_it_was(storage):
    """Duplicates are summed, columns rise; the caller's arrays keep their bytes, 64-bit indices included."""
    S = STORED[storage](X)
    before = [getattr(S, name).tobytes() for name in ("data", "indices", "indptr") if hasattr(S, "indices")]
    for rows in (S, _wide_indices(S)):
        found = admitted(rows, "test")
        assert found.format == "csr"
        assert found.nnz <= X.size
        np.testing.assert_array_equal(found.multiply(found).toarray(), X * X)
        np.testing.assert_array_equal(found.data.max(), X.max())
    assert before == [getattr(S, name).tobytes() for name in ("data", "indices", "indptr") if hasattr(S, "indices")]


def _wide_indices(S):
    S = S.copy()
    for name in {"indices", "indptr"} & set(vars(S)):
        setattr(S, name, getattr(S, name).astype(np.int64))
    return S


ESTIMATORS = [
    hs.Perceptron(max_iter=20, shuffle=False),
    hs.MinOver(max_iter=200),
    hs.AdaTron(),
    hs.Adaline(),
    hs.KernelAdaTron("rbf", gamma=0.1),
    hs.KernelPerceptron("linear", max_iter=5, random_state=0),
    hs.PerceptronCommittee(n_members=3, max_iter=5, random_state=0),
    hs.KMeans(3, random_state=0),
    hs.IsotropicMixture(2, random_state=0, max_iter=10),
    hs.GLVQ(max_iter=10, random_state=0),
    hs.LinearRegression(),
    hs.BayesianRegression(),
    hs.AdaptiveFilter(n_taps=2),
]


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_a_proof_on_a_messy_sparse_matrix_is_the_proof_on_the_same_numbers_in_good_order(model):
    """Fit on duplicates equals fit on their sums, and each proof holds on both and on the array."""
    S, clean = messy(X), sparse.csr_matrix(X)
    proof = model.fit(S, Y).certificate_
    assert proof.to_json() == model.fit(clean, Y).certificate_.to_json()
    for rows in (S, clean, X):
        assert proof.verify(rows, Y), proof.verify(rows, Y)
    if hasattr(model, "predict"):
        np.testing.assert_array_equal(model.predict(S), model.predict(clean))


def test_separability_of_duplicates_is_that_of_their_sums():
    """1 + 1 stored in two parts is 2, which a plane tells from 1; a lie about the flags does not help."""
    S = sparse.csr_matrix(([1.0, 1.0, 1.0], [0, 0, 0], [0, 2, 3]), shape=(2, 1))
    S.has_canonical_format = True
    proof = hs.separability(S, [1, 0])
    assert proof.verdict == "separable"
    assert proof.verify([[2.0], [1.0]], [1, 0])
    assert not proof.verify([[1.0], [1.0]], [1, 0])


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo"])
def test_a_damaged_sparse_matrix_is_refused_before_anything_follows_its_indices(form):
    """Column 7 of 2."""
    S = sparse.csr_matrix(np.eye(2)).asformat(form)
    (S.col if form == "coo" else S.indices)[1] = 7
    with pytest.raises(InputError, match="Perceptron: the sparse matrix X is damaged"):
        canonical(S, "Perceptron")


LARGE = 2**53 + 1
WIDE = {
    "int64": np.array([[2**53], [LARGE]]),
    "uint64": np.array([[2**63], [2**63 + 1]], dtype=np.uint64),
    "list": [[2**53], [LARGE]],
    "list with floats": [[0.5], [LARGE]],
    "object": np.array([[2**53], [LARGE]], dtype=object),
    "long": np.array([[1.0], [2.0]], dtype=np.longdouble),
    "long object": np.array([[np.longdouble(1)], [2.0]], dtype=object),
    "Decimal": np.array([[Decimal("0.1")], [Decimal("0.3")]]),
    "Fraction": [[Fraction(1, 3)], [Fraction(2, 3)]],
    "sparse": sparse.csr_matrix(np.array([[2**53], [LARGE]])),
    "frame": pd.DataFrame({"id": [2**53, LARGE]}),
    "frame of two": pd.DataFrame({"x": [0.5, 0.25], "id": [2**53, LARGE]}),
    "nullable": pd.DataFrame({"id": pd.array([2**53, LARGE], dtype="Int64")}),
    "frame of objects": pd.DataFrame({"id": [Decimal("0.1"), Decimal("0.3")]}),
}


@pytest.mark.parametrize("given", WIDE)
def test_numbers_that_float64_would_round_are_refused_everywhere(given):
    """By models, questions, kernels and checkers, with the array's name and a remedy."""
    rows, said = WIDE[given], r"(X|column 'id' of X) holds .* that float64 would round, .* Subtract an offset"
    bracket = MarginBracket.measure([[1.0], [-1.0]], [1, 0], weights=np.ones(1), positive=1)
    asked = (
        lambda: hs.separability(rows, [0, 1]),
        lambda: hs.AdaTron().fit(rows, [0, 1]),
        lambda: hs.LinearRegression().fit(rows, [0.0, 1.0]),
        lambda: bracket.verify(rows, [1, 0]),
        lambda: MarginBracket.measure(rows, [1, 0], weights=np.ones(1), positive=1),
        lambda: RBF(1.0).exact(rows),
    )
    for ask in asked:
        with pytest.raises(InputError, match=said.replace("(X", "([AX]")):
            ask()


def test_targets_that_float64_would_round_are_refused():
    """In a fit and in a check."""
    proof = RidgeGap.measure([[1.0], [2.0]], [1.0, 2.0], weights=np.ones(1))
    for ask in (lambda y: hs.LinearRegression().fit([[1.0], [2.0]], y), lambda y: proof.verify([[1.0], [2.0]], y)):
        with pytest.raises(InputError, match=r"y holds 9007199254740993, a whole number that float64 would round"):
            ask(np.array([1, LARGE]))


@pytest.mark.parametrize("rows", [[[2**53], [2**60]], np.array([[-(2**63)], [2**53 + 2]]), [[np.int64(2**53)], [0.5]]])
def test_whole_numbers_that_are_floats_are_welcome(rows):
    """Powers of 2, and even numbers above 2^53."""
    proof = hs.separability(rows, [0, 1])
    assert proof.verdict == "separable"
    assert proof.verify(rows, [0, 1])
    assert held_exactly(2**70)
    assert not held_exactly(-(2**70) - 1)
