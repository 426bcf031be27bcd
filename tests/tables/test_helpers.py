"""The private helpers of `halfspace.tables`, each on a small case."""

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy import sparse

from halfspace.tables import categories, columns, numbers, recipes, sparse_columns


def test_categories():
    """Frequent values get an output of their own, the others share one."""
    assert categories.learn({"red": 5, "blue": 2, "pink": 1}, 0, 2, switch=False) == {
        "values": ["blue", "red"],
        "other": True,
        "missing": False,
        "switch": False,
    }
    assert categories.suffixes({"values": ["blue", "red"], "other": False, "missing": False}) == ["=red"]
    out = np.zeros((2, 3))
    recipe = {"values": ["blue", "red"], "other": True, "missing": False, "switch": False}
    assert (categories.write(recipe, pa.chunked_array([["red", "pink"]]), out), out.tolist()) == (
        1,
        [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    )


def test_columns():
    """Columns of any make are read as numbers, text or moments."""
    assert not columns.is_table(np.eye(2))
    assert columns.as_table(pd.DataFrame({"a": [1, 2]}, index=[7, 8])).column_names == ["a"]
    assert columns.arranged(pa.table({"a": [1], "b": [2]}), ("b", "c")).to_pylist() == [{"b": 2, "c": None}]
    assert [columns.kind_of(pa.array(values)) for values in ([1.5], ["a"], [True], [None], [[1]])] == [
        "number",
        "text",
        "switch",
        "nothing",
        "list<item: int64>",
    ]
    assert repr(columns.numbers_of(pa.chunked_array([["1.5", None, "x"]]))) == "(array([1.5, nan, nan]), 1)"
    assert columns.texts_of(pa.chunked_array([[3.0, 2.5, None]])).to_pylist() == ["3", "2.5", None]
    moments, unreadable = columns.moments_of(pa.chunked_array([["2020-01-31", "2020-02-31"]]))
    assert repr((moments.tolist(), unreadable)) == "([datetime.datetime(2020, 1, 31, 0, 0), None], 1)"
    parts = columns.parts_of(np.array(["2021-03-01T13:00"], dtype="datetime64[s]"))
    assert {name: int(values[0]) for name, values in parts.items()} == {
        "year": 2021,
        "month": 3,
        "day": 1,
        "weekday": 0,
        "hour": 13,
        "day number": 18687,
    }


def test_numbers():
    """Gaps are filled with the median, and values scaled or ranked."""
    recipe = numbers.learn(np.array([1.0, np.nan, 5.0]), "standard", "a")
    assert (recipe["fill"], recipe["gaps"], recipe["shift"]) == (3.0, 1, 3.0)
    assert (numbers.counts_rows(np.array([1.0, 2.0, 3.0])), numbers.counts_rows(np.array([2.0, 3.0, 4.0]))) == (True, False)
    assert repr(numbers.fill({"fill": 3.0}, np.array([1.0, np.nan]), np.array([False, True]), "a")) == "array([1., 3.])"
    values, out = (np.array([1.0, 2.0, 3.0]), np.empty(3))
    numbers.write(numbers.learn(values, "rank", "a"), values, out)
    assert out.round(3).tolist() == [-1.732, 0.0, 1.732]


def test_recipes():
    """A recipe says how many outputs a column has, their names and their values; a matrix is done at once."""
    assert (
        recipes.learn(np.array([4.0, 4.0]), "a", recipes.Options("standard", 50, keep_text=False)).reason
        == "always the same value"
    )
    assert recipes.width({"kind": "gap"}) == 1
    assert recipes.suffixes({"kind": "number", "suffixes": [""], "indicator": True}) == ["", " missing"]
    out = np.zeros((2, 1))
    assert (
        repr((recipes.write({"kind": "gap"}, np.array([np.nan, 7.0]), "a", out), out.tolist()))
        == "(Counts(unreadable=0, unseen=0), [[1.0], [0.0]])"
    )
    learned = recipes.learn_matrix(np.arange(400.0).reshape(2, 200), "standard")
    assert (len(learned), learned[3].recipe["parts"][0]["shift"], recipes.learn_matrix(np.zeros((2, 3)), "standard")) == (
        200,
        103.0,
        None,
    )
    X = np.arange(400.0).reshape(2, 200)
    kept = [one.recipe | {"column": j} for j, one in enumerate(recipes.learn_matrix(X, "standard"))]
    out = np.zeros((2, 200))
    assert (recipes.write_matrix(kept, X, out), out[:, 0].tolist()) == (True, [-1.0, 1.0])


def test_sparse_columns():
    """Sparse columns are divided by their largest absolute value."""
    assert repr(sparse_columns.learn(sparse.csr_matrix([[0.0, -4.0], [2.0, 1.0]]), "standard")["largest_"]) == "array([2., 4.])"
    assert (
        repr(sparse_columns.divide(sparse.csr_matrix([[0.0, -4.0]]), np.array([2.0, 4.0]), None).toarray())
        == "array([[ 0., -1.]])"
    )
