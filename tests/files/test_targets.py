"""Targets: found by name or place, and labels of the right type or a sentence."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from halfspace.errors import FileError, InputError
from halfspace.files import read

TABLE = "height,weight,Species\n1,2,rose\n3,4,lily\n"


@pytest.mark.parametrize("target", ["Species", "2", "-1", 2], ids=["name", "place", "last", "number"])
def test_a_target_is_found(tmp_path, target):
    """A target is named, or given by its place."""
    (tmp_path / "t.csv").write_text(TABLE)
    found = read(tmp_path / "t.csv", target)
    assert (found.target, found.y.tolist(), found.X.column_names) == ("Species", ["rose", "lily"], ["height", "weight"])


def test_a_name_goes_before_a_place(tmp_path):
    """Where a column is called 1, target 1 means that column."""
    (tmp_path / "t.csv").write_text("1,a,b\nu,1,2\nv,3,4\n")
    assert read(tmp_path / "t.csv", "1").y.tolist() == ["u", "v"]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (None, "name the column that holds the classes with --target .*columns are: height, weight, Species"),
        ("specis", "there is no column 'specis'; did you mean 'Species'"),
        ("SPECIES", "did you mean 'Species'"),
        ("age", "there is no column 'age'; the columns are: height, weight, Species"),
        ("7", "there is no column '7'"),
    ],
    ids=["none", "misspelt", "upper case", "unknown", "beyond"],
)
def test_a_target_that_is_not_there_lists_the_columns(tmp_path, target, message):
    """The sentence lists the columns, and suggests a close name."""
    (tmp_path / "t.csv").write_text(TABLE)
    with pytest.raises(FileError, match=message):
        read(tmp_path / "t.csv", target)


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (["true", "False"], np.array([True, False])),
        (["3", "-1"], np.array([3, -1])),
        (["1.0", "0"], np.array([1, 0])),
        ([" a ", "b"], np.array(["a", "b"])),
        (["0.5", "1"], np.array(["0.5", "1.0"])),
    ],
    ids=["bool", "whole", "whole as real", "words", "reals"],
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_labels_have_their_type(tmp_path, values, labels, kind):
    """Bools stay bools, whole numbers become int64 however written, words and the few reals strings; a part as the whole."""
    path = tmp_path / f"t.{kind}"
    path.write_text("a,y\n" + "".join(f"1,{v}\n" for v in [*values, ""]))
    if kind == "parquet":
        pq.write_table(parquet_of(values), path)
    found = read(path, "y")
    assert found.y.dtype == labels.dtype
    assert found.y.tolist() == labels.tolist()
    last = read(path, "y", rows=[1])
    assert (last.y.dtype, last.y.tolist()) == (labels.dtype, labels[1:].tolist())


def parquet_of(values):
    words = [v.strip() for v in values]
    try:
        column = [float(v) for v in words]
    except ValueError:
        column = [v == "true" for v in words] if "true" in words else words
    return pa.table({"a": [1, 1, 1], "y": [*column, None]})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["u"] * 30, "has only one class, u"),
        ([f"id{i}" for i in range(30)], r"looks like an id or a quantity, not classes \(30 different values in 30 rows\)"),
        ([str(i) for i in range(30)], "looks like an id"),
        ([f"{i / 7}" for i in range(30)] * 3, "looks like a quantity, not classes"),
        ([f"2020-01-{i:02}" for i in range(1, 31)], "holds timestamp.us. values; expected classes"),
        (["?"] * 30, "is missing in all rows"),
        (["long" * 100, "short"] * 15, "text of up to 400 characters"),
    ],
    ids=["one class", "id", "number", "quantity", "dates", "missing", "texts"],
)
def test_a_target_without_classes_is_refused(tmp_path, values, message):
    """A target with one class, an id, a quantity, dates, texts or nothing is refused in one sentence that names it."""
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"1,{v}\n" for v in values))
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path / "t.csv", "y")
    assert str(caught.value).startswith("t.csv: the target 'y' ")


def test_many_classes_are_classes(tmp_path):
    """Thirty classes with enough rows each are no id."""
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"1,c{i % 30}\n" for i in range(90)))
    assert np.unique(read(tmp_path / "t.csv", "y").y).size == 30
