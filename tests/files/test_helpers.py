"""The private helpers of `halfspace.files`, each on a small case."""

import numpy as np
import pyarrow as pa
import pytest

from halfspace.files import csv, kinds, sampling, targets


def test_csv():
    """Delimiter, decimal mark and header are read off the first lines."""
    assert repr(csv.dialect_of("a;b\n1,5;2\n")) == "Dialect(delimiter=';', decimal=',', header=('a', 'b'), n_fields=2)"
    assert csv.dialect_of("1,2\n3,4\n").header == ()


def test_kinds():
    """The kind of a column follows from all values seen, and every column gets a name of its own."""
    assert kinds.lenient(pa.array(["31.1.2020", "31.2.2020"]), kinds.DOTS).null_count == 1
    assert (
        kinds.mostly(pa.array(["31/12/2023", "1/2/2023"]), 0.95).name,
        kinds.mostly(pa.array(["007", "010"]), 0.95).name,
    ) == ("day/month", "text")
    columns = kinds.Columns([])
    columns.learn(pa.table({"a": ["1", "2"], "b": ["x", None]}))
    columns.learn(pa.table({"a": ["2.5", None], "b": ["1", "2"]}))
    assert repr(columns.typed(pa.table({"a": ["1"], "b": ["1"]})).schema.types) == "[DataType(double), DataType(string)]"
    assert kinds.unique_names(["a", "", "a"], []) == ["a", "x1", "a.1"]


def test_sampling():
    """Rows asked for by number come in the order asked for."""
    chosen = sampling.Chosen([7, 2])
    chosen.add(0, sampling.Piece(np.arange(10.0)[:, None]), np.ones(10, dtype=bool))
    assert repr(chosen.all_rows()[chosen.order()]) == "array([7, 2])"


def test_targets():
    """A target is found by place, coded, and whole numbers stay whole."""
    assert targets.column_named("-1", ("height", "species"), "iris.csv") == "species"
    assert (targets.is_whole(np.array([1.0, 2.0])), targets.is_whole(np.array([0.5]))) == (True, False)
    assert repr(targets.coded(np.array([7.0, 5.0, 7.0]))[1]) == "array([5., 7.])"
    assert repr(targets.labels_of(np.array([0, 1, 0]), np.array([1.0, 2.0]), whole=True, name="y")) == "array([1, 2, 1])"


@pytest.mark.parametrize(("text", "plain"), [(["1", None, "2.5", "1e3"], True), (["1", "nan"], False), (["1", "$2"], False)])
def test_plain_numbers_are_not_cleaned(text, plain):
    """Numbers as machines write them are returned as they are, which is what cleaning would make of them."""
    given = pa.array(text, pa.string())
    columns = kinds.Columns([], csv.trimmed)
    assert (columns.cleaned(given) is given) == plain
    slowly = kinds._without_percent(columns.respelled(kinds.unmarked(csv.trimmed(given))))
    assert columns.cleaned(given).equals(slowly)
