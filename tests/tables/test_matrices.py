"""Plain matrices: columns by position, NaN where missing; sparse ones stay sparse."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.preprocessing import MaxAbsScaler

from halfspace.errors import InputError
from halfspace.tables import TableEncoder, recipes


def test_missing_numbers_of_an_array():
    """NaN in an array is filled with the median and marked; constant and empty columns are left out; counting ones stay."""
    X = np.array([[0.0, 1.0, 5.0, np.nan], [1.0, np.nan, 5.0, np.nan], [2.0, 4.0, 5.0, np.nan]])
    encoder = TableEncoder(scale="none").fit(X)
    assert encoder.get_feature_names_out().tolist() == ["x0", "x1", "x1 missing"]
    assert encoder.transform(X).tolist() == [[0, 1, 0], [1, 2.5, 1], [2, 4, 0]]
    assert [name for name, _ in encoder.dropped_] == ["x2", "x3"]


def test_the_number_of_columns_must_match():
    """An array of another width is refused in scikit-learn's words; so is a table after a fit on an array."""
    encoder = TableEncoder().fit(np.eye(3))
    for X in (np.eye(2), pa.table({"a": [1.0], "b": [2.0]})):
        with pytest.raises(ValueError, match="X has 2 features, but TableEncoder is expecting 3 features as input"):
            encoder.transform(X)
    assert encoder.transform(pa.table({name: [1.0, 0.0] for name in "abc"})).shape == (2, 3)


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix], ids=lambda kind: kind.__name__)
def test_sparse_columns_over_their_largest(container):
    """A sparse matrix stays sparse, each column over its largest absolute value, as scikit-learn's MaxAbsScaler has it."""
    X = container(sparse.random(30, 8, density=0.3, random_state=0, format="csr") * 7)
    encoder = TableEncoder().fit(X)
    Z = encoder.transform(X)
    assert Z.format == "csr"
    np.testing.assert_allclose(Z.toarray(), MaxAbsScaler().fit_transform(sparse.csr_matrix(X)).toarray())
    assert np.array_equal(encoder.transform(X.toarray()).toarray(), Z.toarray())
    table = pa.table({str(j): column for j, column in enumerate(X.toarray().T)})
    assert np.array_equal(encoder.transform(table).toarray(), Z.toarray())
    assert np.array_equal(TableEncoder(scale="none").fit_transform(X).toarray(), X.toarray())


def test_what_sparse_matrices_cannot_have():
    """Ranks, NaN and infinity are refused for sparse matrices, the last two with the column's name."""
    X = sparse.csr_matrix(np.array([[1.0, 0.0], [0.0, np.nan]]))
    with pytest.raises(InputError, match="column 'x1' of the sparse matrix contains nan"):
        TableEncoder().fit(X)
    with pytest.raises(InputError, match="would make a sparse matrix dense"):
        TableEncoder(scale="rank").fit(sparse.eye(3, format="csr"))


def test_a_sparse_matrix_after_a_dense_fit():
    """Rows given sparse to an encoder fitted on an array are encoded as the array would be."""
    X = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
    encoder = TableEncoder().fit(X)
    assert np.array_equal(encoder.transform(sparse.csr_matrix(X)), encoder.transform(X))


def test_many_categories_come_out_sparse():
    """More than 100 outputs of which fewer than 10 % differ from 0 come out as CSR, and in batches the same."""
    rng = np.random.default_rng(0)
    table = pa.table({"a": [f"a{k}" for k in rng.integers(0, 90, 500)], "b": [f"b{k}" for k in rng.integers(0, 80, 500)]})
    encoder = TableEncoder(max_categories=100).fit(table)
    Z = encoder.transform(table)
    assert Z.format == "csr"
    assert Z.shape == (500, 170)
    assert (Z.sum(axis=1) == 2).all()
    parts = sparse.vstack([encoder.transform(table.slice(i, 130)) for i in range(0, 500, 130)])
    assert np.array_equal(parts.toarray(), Z.toarray())
    assert encoder.transform(table.slice(0, 0)).shape == (0, 170)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (pa.table({}), "0 rows and 0 columns"),
        (pa.table({"a": pa.array([], type=pa.float64())}), "0 rows and 1 columns"),
        (pa.table([[1, 2], [3, 4]], names=["a", "a"]), "2 columns are named 'a'"),
        (pa.table({"id": [1, 2, 3], "k": ["x", "x", "x"]}), "'id': it only counts the rows; 'k': always the same value"),
        (np.array(["2020-01-01"], dtype="datetime64[D]")[:, None], "array of datetime64"),
        (pd.Series([1.0, 2.0], name="a"), "2-dimensional|2D array"),
        (np.array([["a", "b"]]), "not compatible with arrays of bytes/strings|could not convert"),
    ],
    ids=["no-columns", "no-rows", "twins", "nothing-left", "dates", "series", "words"],
)
def test_what_cannot_be_fitted(X, words):
    """What cannot be encoded is refused with a sentence that says why."""
    with pytest.raises(ValueError, match=words):
        TableEncoder().fit(X)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"scale": "cube"}, "'scale' parameter"), ({"max_categories": 0}, "'max_categories'"), ({"max_categories": True}, "True")],
    ids=["scale", "zero", "switch"],
)
def test_parameters_are_checked(options, words):
    """A parameter that makes no sense is refused by name."""
    with pytest.raises(InputError, match=words):
        TableEncoder(**options).fit(np.eye(3))


def test_arrays_need_no_pyarrow():
    """Arrays are encoded where pyarrow is not installed, and a table says which extra brings it; no solver is imported."""
    program = """
import sys
sys.modules["pyarrow"] = None
import numpy as np
from halfspace.errors import InputError
from halfspace.tables import TableEncoder, recipes

assert TableEncoder().fit_transform(np.eye(3)).shape == (3, 3)
assert not any(name.startswith(("halfspace.solvers", "halfspace.models", "numba")) for name in sys.modules)

class Table:
    def __arrow_c_stream__(self):
        return None

try:
    TableEncoder().fit(Table())
except InputError as error:
    assert "halfspace[cli]" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


@pytest.mark.parametrize("scale", ["standard", "none"])
def test_many_columns_at_once_are_encoded_as_one_by_one(scale, monkeypatch):
    """The quick way for wide matrices gives the outputs of the slow one to rounding in fit, and to the bit in transform."""
    rng = np.random.default_rng(0)
    X, new = rng.standard_normal((30, 150)) * np.logspace(-3, 3, 150), rng.standard_normal((7, 150))
    X[:, 5] = 1.0
    quick = TableEncoder(scale=scale).fit(X)
    at_once = quick.transform(new)
    monkeypatch.setattr(recipes, "MANY_COLUMNS", 1000)
    slow = TableEncoder(scale=scale).fit(X)
    assert slow.groups_ == quick.groups_
    assert slow.notes_ == quick.notes_
    assert np.allclose(slow.transform(new), at_once, rtol=1e-12, atol=1e-12)
    assert np.array_equal(quick.transform(new), at_once)


def test_one_gap_among_many_columns_is_filled():
    """A missing value met in transform is filled by its median although fit saw none."""
    X = np.random.default_rng(0).standard_normal((11, 120))
    encoder = TableEncoder(scale="none").fit(X)
    new = X[:2].copy()
    new[1, 7] = np.nan
    assert encoder.transform(new)[1, 7] == np.median(X[:, 7])
