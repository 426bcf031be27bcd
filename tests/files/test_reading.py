"""`read` and `stream`: whole, sampled, by row numbers, in batches; every format the same rows."""

import gzip
import io
import json
import os
import sys
import threading
import zipfile
from contextlib import contextmanager
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from halfspace.errors import FileError, InputError
from halfspace.files import FORMATS, opening, read, stream
from halfspace.files.sampling import Piece, Sample
from halfspace.notes import Note

TABLE = pa.table(
    {
        "height": [1.5, 2.0, None, -3e-5, 7.0],
        "count": [1, 2, 3, 4, 5],
        "colour": ["red", "green", None, "red", "blau, grün"],
        "when": pa.array([0, 86_400_000_000, None, 1, 2], pa.timestamp("us")),
        "y": ["a", "b", "a", None, "b"],
    }
)


def csv_of(table, delimiter=","):
    def field(value):
        text = "" if value is None else str(value)
        return f'"{text}"' if delimiter in text else text

    rows = [table.column_names, *(row.values() for row in table.to_pylist())]
    return "".join(delimiter.join(map(field, row)) + "\n" for row in rows).encode()


def bytes_of(table, kind):
    out = io.BytesIO()
    if kind == "parquet":
        pq.write_table(table, out)
    elif kind == "arrow":
        feather.write_feather(table, out)
    elif kind == "stream":
        with pa.ipc.new_stream(out, table.schema) as writer:
            writer.write_table(table)
    elif kind == "jsonl":
        lines = [json.dumps(row, default=str, ensure_ascii=False) for row in table.to_pylist()]
        return "\n".join(lines).encode()
    else:
        return csv_of(table, {"csv": ",", "tsv": "\t", "semicolons": ";"}[kind])
    return out.getvalue()


KINDS = ["csv", "tsv", "semicolons", "jsonl", "parquet", "arrow", "stream"]


@pytest.mark.parametrize("suffix", ["right", "none"])
@pytest.mark.parametrize("kind", KINDS)
def test_all_table_formats_give_the_same_rows(tmp_path, kind, suffix):
    """The same table written in any format, with or without a telling suffix, is read as the same values and types."""
    suffixes = {"semicolons": ".csv", "stream": ".arrows"}
    path = tmp_path / ("table" + (suffixes.get(kind, f".{kind}") if suffix == "right" else ""))
    path.write_bytes(bytes_of(TABLE, kind))
    found = read(path, "y")
    labelled = TABLE.filter(TABLE["y"].is_valid()).drop_columns(["y"])
    assert found.X.schema.types == labelled.schema.types
    assert found.X.to_pylist() == labelled.to_pylist()
    assert found.y.tolist() == ["a", "b", "a", "b"]
    assert found.rows.tolist() == [0, 1, 2, 4]
    assert (found.n_rows, found.target, found.source.columns) == (5, "y", tuple(TABLE.column_names))
    assert list(map(str, found.notes)) == ["1 of 5 rows has no target and is left out."]
    assert found.source.n_bytes == path.stat().st_size


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_text_is_read_through_gzip(tmp_path, kind):
    """A packed text file gives what the plain one gives."""
    plain, packed = tmp_path / f"t.{kind}", tmp_path / f"t.{kind}.gz"
    plain.write_bytes(bytes_of(TABLE, kind))
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert read(packed, "y").X.equals(read(plain, "y").X)
    assert "gzip" in read(packed, "y").source.details


@pytest.mark.parametrize("kind", KINDS)
def test_standard_input_is_spooled_and_recognised(monkeypatch, kind):
    """A dash reads standard input, whatever the format."""
    content = bytes_of(TABLE, kind)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    found = read("-", "y")
    assert (found.source.name, found.n_rows) == ("standard input", 5)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "arrow", "npz", "svm"])
def test_rows_by_number_have_the_bits_of_the_whole(tmp_path, ending):
    """Reading all rows by number, or any of them in any order, gives the values of the whole file bit for bit."""
    path = large_file(tmp_path, ending)
    whole = read(path, "y" if ending not in {"npz", "svm"} else None)
    for rows in (np.arange(whole.n_rows), np.array([700, 3, 3, 999])):
        part = read(path, whole.target, rows=rows)
        np.testing.assert_array_equal(part.rows, rows)
        np.testing.assert_array_equal(part.y, whole.y[rows])
        assert part.y.dtype == whole.y.dtype
        assert same(part.X, whole.X.take(rows) if hasattr(whole.X, "schema") else whole.X[rows])


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "arrow", "npz", "svm"])
def test_batches_make_up_the_whole(tmp_path, ending):
    """The batches of a stream, one below the other, are the whole file, and all of one type."""
    path = large_file(tmp_path, ending)
    whole = read(path, "y" if ending not in {"npz", "svm"} else None)
    batches = list(stream(path, batch_rows=300))
    assert [batch.first for batch in batches] == [0, 300, 600, 900]
    for batch in batches:
        part = batch.X.drop_columns(["y"]) if whole.target else batch.X
        chosen = np.arange(batch.first, batch.first + part.shape[0])
        assert same(part, whole.X.take(chosen) if whole.target else whole.X[chosen])


def large_file(folder, ending, n=1000):
    """Write a file whose column changes its type near the end: from whole numbers to others."""
    rng = np.random.default_rng(0)
    late = [str(i) if i < n - 20 else f"{i}.25" for i in range(n)]
    y = rng.integers(0, 2, n)
    path = folder / f"large.{ending}"
    table = pa.table({"late": np.array(late, float), "text": [f"t{i % 7}" for i in range(n)], "y": y})
    if ending == "csv":
        path.write_text("late,text,y\n" + "".join(f"{v},t{i % 7},{y[i]}\n" for i, v in enumerate(late)))
    elif ending in {"parquet", "arrow", "jsonl"}:
        path.write_bytes(bytes_of(table, ending))
    elif ending == "npz":
        np.savez(path, X=rng.standard_normal((n, 3)), y=y)
    else:
        path.write_text("".join(f"{y[i]} {1 + i % 3}:{v} 9:0.1\n" for i, v in enumerate(late)))
    return path


def same(A, B):
    if hasattr(A, "schema"):
        return A.equals(B)
    if hasattr(A, "indptr"):
        return A.shape == B.shape and (A != B).nnz == 0
    return np.array_equal(A, B)


def test_a_sample_is_uniform_repeatable_and_typed_by_the_whole(tmp_path):
    """`max_rows` keeps so many rows, each equally often over seeds, the same for the same seed, with the types of the whole."""
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "".join(f"{i or 'zero'},{i % 2}\n" for i in range(40)))
    counts = np.zeros(40, int)
    for seed in range(200):
        counts[read(path, "y", max_rows=10, random_state=seed).rows] += 1
    assert np.abs(counts - 50).max() < 30  # five standard deviations
    part = read(path, "y", max_rows=10, random_state=3)
    assert np.array_equal(part.rows, read(path, "y", max_rows=10, random_state=3).rows)
    assert (np.diff(part.rows) > 0).all()
    assert part.X.schema.types == [pa.string()]
    assert part.notes == (Note("sample", count=10, detail="40"),)
    assert read(path, "y", max_rows=40).notes == ()


def test_a_sample_does_not_depend_on_the_format(tmp_path):
    """One seed chooses the same rows from a CSV, a Parquet and an svmlight file, pruned or not."""
    chosen = [read(large_file(tmp_path, e), "y" if e != "svm" else None, max_rows=100).rows for e in ("csv", "parquet", "svm")]
    assert np.array_equal(chosen[0], chosen[1])
    assert np.array_equal(chosen[0], chosen[2])


def test_sampling_holds_few_rows():
    """However many rows pass, at most twice the sample and one batch are stored."""
    sample = Sample(50, seed=1)
    for first in range(0, 20_000, 100):
        sample.add(first, Piece(np.arange(first, first + 100.0)[:, None]), np.ones(100, bool))
        assert sum(map(len, sample.rows)) <= 2 * 50 + 100
        if sample.is_full:
            sample.prune()
    sample.prune()
    keys = np.random.default_rng(1).random(20_000)
    assert np.array_equal(sample.all_rows(), np.sort(np.argsort(keys)[:50]))
    assert np.array_equal(np.concatenate([p.X for p in sample.pieces])[:, 0], sample.all_rows())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_rows": 0}, "'max_rows' must be"),
        ({"max_rows": 2.5}, "'max_rows' must be"),
        ({"rows": []}, "'rows' must be"),
        ({"rows": [-1]}, "'rows' must be"),
        ({"rows": [0.5]}, "'rows' must be"),
        ({"rows": [5]}, "no row 5"),
        ({"rows": [3]}, "row 3 has no target"),
        ({"format": "xls"}, "'format' must be one of csv, parquet, arrow, jsonl, svmlight, npz, excel, tsv"),
    ],
    ids=["none", "fraction", "empty", "negative", "half", "beyond", "unlabelled", "format"],
)
def test_wrong_options_are_refused_by_name(tmp_path, options, message):
    """An option that cannot be met is named, with what is allowed."""
    path = tmp_path / "t.csv"
    path.write_bytes(csv_of(TABLE))
    with pytest.raises(InputError, match=message):
        read(path, "y", **options)


def test_paths_that_are_no_files_get_a_sentence(tmp_path, monkeypatch):
    """A folder, a missing file, an empty one and a terminal are told apart."""
    empty = tmp_path / "empty.csv"
    empty.touch()
    for path, message in ((tmp_path, "is a directory"), (tmp_path / "none.csv", "there is no file"), (empty, "is empty")):
        with pytest.raises(FileError, match=message):
            read(path, "y")
    monkeypatch.setattr(sys, "stdin", Terminal())
    with pytest.raises(FileError, match="got a terminal"):
        read("-", "y")


class Terminal:
    """Standard input of an interactive shell."""

    def isatty(self):
        return True


def test_formats_are_the_documented_ones():
    """The list of formats is public."""
    assert set(FORMATS) == {"csv", "parquet", "arrow", "jsonl", "svmlight", "npz", "excel"}


def test_without_pyarrow_tables_name_the_extra_and_the_rest_works(tmp_path, monkeypatch):
    """Where pyarrow is missing, npz files are read all the same, and a CSV names what to install."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for name in [n for n in sys.modules if n.startswith("halfspace.files.") and n.endswith(("columns", "csv"))]:
        monkeypatch.delitem(sys.modules, name)
    path = tmp_path / "t.csv"
    path.write_bytes(csv_of(TABLE))
    with pytest.raises(InputError, match=r'pip install "halfspace\[cli\]"'):
        read(path, "y")
    np.savez(tmp_path / "t.npz", X=np.eye(2), y=np.arange(2))
    assert read(tmp_path / "t.npz").X.shape == (2, 2)


@contextmanager
def pipe_with(path, content):
    """Make a pipe that another thread fills once."""
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(content), daemon=True)
    writer.start()
    yield path
    writer.join()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_pipe_is_read_like_a_file(tmp_path, kind):
    """What can be read only once gives the rows of the file, by `read` and by `stream`, and leaves no copy behind."""
    path, before = tmp_path / "whole", set(opening.Path(opening.tempfile.gettempdir()).glob("halfspace-*"))
    path.write_bytes(bytes_of(TABLE, kind))
    whole = read(path, "y")
    with pipe_with(tmp_path / "once", path.read_bytes()) as pipe:
        found = read(pipe, "y")
    assert found.X.equals(whole.X)
    assert found.source.n_bytes == path.stat().st_size
    assert found.source.name == str(pipe)
    with pipe_with(tmp_path / "again", path.read_bytes()) as pipe:
        assert sum(batch.X.num_rows for batch in stream(pipe)) == 5
    assert set(opening.Path(opening.tempfile.gettempdir()).glob("halfspace-*")) <= before


def test_pipes_without_a_writer_or_an_end_are_refused(tmp_path, monkeypatch):
    """A pipe that nobody fills is refused after a while, and one that brings too much before the disk is full."""
    monkeypatch.setattr(opening, "PATIENCE", 0.05)
    os.mkfifo(tmp_path / "nobody")
    with pytest.raises(FileError, match="no program writes to"):
        read(tmp_path / "nobody", "y")
    monkeypatch.setattr(opening, "LARGEST_COPY", 10)
    with pipe_with(tmp_path / "endless", b"a,y\n1,2\n3,4\n") as pipe, pytest.raises(FileError, match="save it to a file first"):
        read(pipe, "y")
    with pytest.raises(FileError, match="is a device"):
        read("/dev/zero", "y")


def test_a_file_of_the_target_alone_says_so(tmp_path):
    """Where there is nothing to predict from, the sentence names the target, not an empty table."""
    path = tmp_path / "t.csv"
    path.write_text("t\nx\ny\nx\n")
    with pytest.raises(FileError, match=r"t\.csv: has no column beside the target 't'"):
        read(path, "t")


def test_a_target_name_that_comes_twice_is_refused(tmp_path):
    """Which of two columns of that name is meant is asked, not guessed; by number either can be had."""
    path = tmp_path / "t.csv"
    path.write_text("a,t,t\n1.5,x,p\n2.5,y,q\n")
    with pytest.raises(FileError, match="2 columns are named 't'; say which one by its number: --target 1 or 2"):
        read(path, "t")
    assert read(path, 1).y.tolist() == ["x", "y"]
    assert read(path, "2").y.tolist() == ["p", "q"]
    assert read(path, "t", rows=[1]).y.tolist() == ["y"]  # as a model file names it


def test_content_counts_more_than_a_wrong_suffix(tmp_path):
    """A Parquet file called .csv and a CSV file called .xlsx are read as what they are; other archives are named."""
    for name, kind in (("t.csv", "parquet"), ("t.xlsx", "csv")):
        path = tmp_path / name
        path.write_bytes(bytes_of(TABLE, kind))
        assert read(path, "y").source.format == kind
    for entry, message in (("t.csv", "is a zip archive; unpack it first"), ("word/document.xml", "is an office document")):
        path = tmp_path / "t.npz"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(entry, "a,y\n1,2\n")
        with pytest.raises(FileError, match=message):
            read(path, "y")


def test_long_ids_survive_the_reading_of_a_file(tmp_path):
    """Sixteen digits in CSV, uint64 and long whole decimals in Parquet keep their values."""
    (tmp_path / "ids.csv").write_text("id,t\n9007199254740993,a\n9007199254740995,b\n")
    assert read(tmp_path / "ids.csv", "t").X.column("id").to_pylist() == [9007199254740993, 9007199254740995]
    ids = [2**63 + 1, 2**63 + 3]
    decimals = pa.array([*map(Decimal, ids)], type=pa.decimal128(38, 0))
    pq.write_table(pa.table({"u": pa.array(ids, type=pa.uint64()), "d": decimals, "t": ["a", "b"]}), tmp_path / "ids.parquet")
    table = read(tmp_path / "ids.parquet", "t").X
    assert table.column("u").to_pylist() == ids
    assert [*map(int, table.column("d").to_pylist())] == ids
