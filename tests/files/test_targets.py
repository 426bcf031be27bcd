"""Targets: found by name or place, and labels of the right type or a sentence."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from halfspace.errors import FileError, InputError
from halfspace.files import read, task_of
from halfspace.files.targets import coded, numbers_from

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
        (None, "name the column to predict with --target .*columns are: height, weight, Species"),
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
        ([f"id{i}" for i in range(30)], r"looks like an id, not classes \(30 different values in 30 rows, most of them once\)"),
        ([str(10**16 + i) for i in range(30)], "looks like an id .whole numbers of more than 15 digits"),
        ([f"2020-01-{i:02}" for i in range(1, 31)], "holds timestamp.us. values; expected classes"),
        (["?"] * 30, "is missing in all rows"),
        (["long" * 100, "short"] * 15, "text of up to 400 characters"),
    ],
    ids=["one class", "id", "long id", "dates", "missing", "texts"],
)
def test_a_target_without_classes_is_refused(tmp_path, values, message):
    """A target with one class, ids, dates, texts or nothing is refused in one sentence that names it."""
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"1,{v}\n" for v in values))
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path / "t.csv", "y")
    assert str(caught.value).startswith("t.csv: the target 'y' ")


def test_many_classes_are_classes(tmp_path):
    """Thirty classes with enough rows each are no id."""
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"1,c{i % 30}\n" for i in range(90)))
    assert np.unique(read(tmp_path / "t.csv", "y").y).size == 30


RANDOM = np.random.default_rng(0)
TARGETS = {
    "classify": {
        "words": ["yes", "no"] * 20,
        "truth": np.array([True, False] * 3),
        "0/1": [0, 1] * 10,
        "-1/1 as reals": [-1.0, 1.0, 1.0],
        "species": [0, 1, 2] * 50,
        "digits": RANDOM.integers(0, 10, 1797),
        "ratings 1 to 5": RANDOM.choice([1, 2, 3, 4, 5], 300, p=[0.02, 0.08, 0.2, 0.4, 0.3]),
        "ratings 1 to 10": RANDOM.choice(range(1, 11), 1000, p=np.array([1, 1, 2, 3, 5, 8, 10, 8, 5, 3]) / 46),
        "cylinders": [4, 6, 8] * 10,
        "two years": [1999, 2008] * 100,
        "doses": [0.5, 1.0, 2.0] * 20,
        "letters": RANDOM.integers(1, 27, 5000),
        "forty faces": np.repeat(np.arange(40), 10),
        "300 classes": RANDOM.integers(0, 300, 3000),
        "objects": np.array(["a", "b", "a"], dtype=object),
    },
    "regress": {
        "reals": RANDOM.normal(size=100),
        "magnitudes": RANDOM.integers(40, 65, 1000) / 10,
        "half stars": RANDOM.integers(1, 11, 2000) / 2,
        "counts": RANDOM.geometric(0.1, 2000),
        "small counts": np.minimum(RANDOM.poisson(2, 400), 8),
        "years": RANDOM.integers(1990, 2020, 900),
        "ages": RANDOM.integers(18, 90, 5000),
        "test scores": RANDOM.binomial(60, 0.6, 3000),
        "whole dollars": 1000 * RANDOM.integers(50, 900, 300),
        "postal codes": RANDOM.integers(10_000, 99_999, 1000),
        "one row each": [7, 3, 5, 9],
        "row numbers": np.arange(500),
        "objects": np.array([1.5, 2.5, 3.5, 4.0], dtype=object),
    },
}


@pytest.mark.parametrize(("task", "kind"), [(task, kind) for task, kinds in TARGETS.items() for kind in kinds])
def test_the_task_is_chosen_by_the_values(task, kind):
    """Names, codes and ratings are classes; measurements, counts, years and amounts are numbers; the reason says so."""
    choice = task_of(TARGETS[task][kind], "y")
    assert choice.task == task
    assert ("classes" if task == "classify" else "as a number; --task classify") in choice.reason


@pytest.mark.parametrize(
    "y", [["a"] * 3, [2, 2], [], [f"name {i}" for i in range(9)], np.array(["2020-01-01"], dtype="datetime64[D]")]
)
def test_what_is_neither_is_refused(y):
    """One value, no value, names of one row each and dates are neither classes nor numbers."""
    with pytest.raises(InputError, match=r"^the target y "):
        task_of(y)


def test_numbers_are_read_as_numbers_and_the_task_can_be_asked_for(tmp_path):
    """By default many numbers are floats and a note says so; asked for, they are classes; rows without one are left out."""
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"{i},{i * i % 37}\n" for i in range(60)) + "1,\n")
    found, classes = read(tmp_path / "t.csv", "y"), read(tmp_path / "t.csv", "y", task="classify")
    assert (found.y.dtype, found.task.task, found.y[:3].tolist()) == (np.float64, "regress", [0.0, 1.0, 4.0])
    assert [note.kind for note in found.notes] == ["unlabelled", "task"]
    assert (classes.y.dtype, classes.task.task, classes.notes[1:]) == (np.int64, "classify", ())
    part = read(tmp_path / "t.csv", "y", task="regress", rows=[5, 2])
    assert (part.y.tolist(), part.task.task) == ([25.0, 4.0], "regress")


def test_the_task_must_fit_the_target(tmp_path):
    """Words are no numbers, infinity is none to predict, and there are three tasks."""
    (tmp_path / "t.csv").write_text("a,y,z\n1,u,1\n2,v,inf\n3,u,2\n")
    with pytest.raises(InputError, match="holds text such as 'u'; expected numbers"):
        read(tmp_path / "t.csv", "y", task="regress")
    with pytest.raises(InputError, match="holds infinite numbers"):
        read(tmp_path / "t.csv", "z", task="regress")
    with pytest.raises(InputError, match="'task' must be one of auto, classify, regress"):
        read(tmp_path / "t.csv", "y", task="guess")


def test_words_among_numbers_are_named():
    """A column of numbers with a few words is no id: the sentence names a word, not a number."""
    cells = [f"{k}.5" for k in range(60)] + ["unknown", "unknown"]
    with pytest.raises(InputError, match="holds numbers, but also text such as 'unknown'; leave these cells empty"):
        task_of(cells)
    codes, values = coded(np.array(cells))
    with pytest.raises(InputError, match="holds text such as 'unknown'; expected numbers"):
        numbers_from(codes, values, name="the target")
