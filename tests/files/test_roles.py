"""Columns with another role than input: left out, names of rows, groups and times; and hints where there should be one."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from halfspace.errors import FileError, InputError
from halfspace.files import read
from halfspace.files.hints import hints_of

TABLE = """name,who,day,size,junk,y
a,p,2023-01-01,1,0,u
b,q,2023-01-03,2,0,v
c,p,2023-01-02,3,0,u
d,,2023-01-02,4,0,v
e,,2023-01-04,5,0,u
"""


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_have_roles(tmp_path, kind):
    """Left out, named, grouped: none of these is an input; times are in order of the file, and stay one."""
    path = tmp_path / "t.csv"
    path.write_text(TABLE)
    if kind == "parquet":
        X = read(path, "y").X.append_column("y", pa.array(list("uvuvu")))
        path = tmp_path / "t.parquet"
        pq.write_table(X, path)
    found = read(path, "y", drop=["junk"], id="name", group="who", time="day")
    assert found.X.column_names == ["day", "size"]
    assert found.ids.to_pylist() == list("abcde")
    assert found.groups.tolist() == [0, 1, 0, 2, 3]
    assert (found.times - found.times[0]).astype("timedelta64[D]").astype(int).tolist() == [0, 2, 1, 1, 3]
    part = read(path, "y", id=0, time="size", rows=[3, 1])
    assert (part.ids.to_pylist(), part.times.tolist(), part.groups) == (["d", "b"], [4.0, 2.0], None)


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"drop": ["jnk"]}, "there is no column 'jnk'; did you mean 'junk'"),
        ({"group": "y"}, "'y' is the target, and cannot be 'group' too"),
        ({"drop": "y"}, "'y' is the target, and cannot be 'drop' too"),
        ({"time": "who"}, "the time column 'who' is missing in 2 rows"),
        ({"time": "name"}, "the time column 'name' holds string values; expected dates"),
        ({"drop": ["name", "who", "day", "size", "junk"]}, "has no column beside the target"),
    ],
    ids=["misspelt", "target", "target left out", "gaps", "text", "nothing left"],
)
def test_roles_that_cannot_be(tmp_path, roles, message):
    """A column that is not there, the target, and times that cannot be put in order are refused by name."""
    (tmp_path / "t.csv").write_text(TABLE)
    with pytest.raises((FileError, InputError), match=message):
        read(tmp_path / "t.csv", "y", **roles)


def test_formats_without_names_have_no_roles(tmp_path):
    """An archive of a matrix has no column to be named."""
    np.savez(tmp_path / "t.npz", X=np.eye(4), y=np.array([0, 1, 0, 1]))
    with pytest.raises(FileError, match="has no named columns"):
        read(tmp_path / "t.npz", group="x1")


def test_repeated_individuals_and_times_are_pointed_out(tmp_path):
    """Ids that repeat a few times get a hint to group them, dates one to validate forwards; what is asked for gets none."""
    rows = "".join(f"{i // 3},{i % 7},2023-01-{1 + i % 28:02},{i % 2}\n" for i in range(90))
    (tmp_path / "t.csv").write_text("subject,dose,day,y\n" + rows)
    found = read(tmp_path / "t.csv", "y").notes
    assert [(note.kind, note.column, note.count) for note in found] == [("individuals", "subject", 30), ("times", "day", 0)]
    assert "--group subject" in str(found[0])
    assert "--time day" in str(found[1])
    assert read(tmp_path / "t.csv", "y", group="subject", time="day").notes == ()


RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("column", "name", "expected"),
    [
        (np.repeat(np.arange(100), 3), "x", True),
        ([f"p{i // 4}" for i in range(400)], "x", True),
        (RANDOM.permutation(np.repeat(np.arange(100), 3)), "patient_id", True),
        (RANDOM.permutation(np.repeat(np.arange(100), 3)), "PatientID", True),
        ([*range(280), *range(20)], "ID", True),
        (RANDOM.permutation(np.repeat(np.arange(100), 3)), "x", False),
        (RANDOM.integers(18, 90, 2000), "age", False),
        (np.arange(300), "id", False),
        (np.repeat(np.arange(4), 100), "site_id", False),
        (RANDOM.normal(size=300), "id", False),
        (np.repeat(RANDOM.normal(size=100), 3), "x", False),
        (RANDOM.permutation(np.repeat(np.arange(100), 3)), "liquid", False),
        (np.full(300, None), "id", False),
    ],
    ids=[
        *(
            "runs",
            "runs of words",
            "name",
            "camel case",
            "some repeat",
            "shuffled",
            "ages",
            "unique",
            "few",
            "reals",
            "real runs",
        ),
        *("liquid", "empty"),
    ],
)
def test_what_looks_like_individuals(column, name, expected):
    """Ids by their name or by rows that follow each other; not ages, row numbers, categories or measurements."""
    assert bool(hints_of(pa.table({name: pa.array(column)}))) == expected
