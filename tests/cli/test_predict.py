"""Claims about `halfspace predict`."""

import csv
import io
import json
from functools import partial

import numpy as np
import pytest
from pyarrow import csv as arrow_csv
from pyarrow import parquet
from scipy import sparse

import halfspace as hs
from halfspace.cli import predict
from halfspace.files import read, stream


def rows_of(text):
    """Return CSV text as dictionaries."""
    return list(csv.DictReader(io.StringIO(text)))


def test_standard_output_is_csv(halfspace, model, table):
    """Without --out the predictions are CSV on standard output, equal to the model's own."""
    ran = halfspace("predict", model, table)
    assert ran.code == 0
    assert ran.err == ""  # the target in the file needs no note
    data = read(table, "kept")
    expected = hs.load(model).predict(data.X)
    assert [row["prediction"] for row in rows_of(ran.out)] == expected.tolist()
    assert [int(row["row"]) for row in rows_of(ran.out)] == data.rows.tolist()


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_probabilities_in_every_format(halfspace, model, table, tmp_path, suffix):
    """--proba adds a column per class, in each format the same numbers, bit for bit."""
    out = tmp_path / f"p{suffix}"
    assert halfspace("predict", model, table, "--proba", "--out", out).code == 0
    readers = {
        ".csv": lambda: arrow_csv.read_csv(out).to_pylist(),
        ".parquet": lambda: parquet.read_table(out).to_pylist(),
        ".jsonl": lambda: [json.loads(line) for line in out.read_text().splitlines()],
    }
    found = readers[suffix]()
    shares = np.array([[row["probability_no"], row["probability_yes"]] for row in found])
    assert np.array_equal(shares, hs.load(model).predict_proba(read(table, "kept").X))
    assert all(row["prediction"] == ("yes" if p[1] > p[0] else "no") for row, p in zip(found, shares, strict=True))


def test_json_holds_the_predictions_or_names_the_file(answer, model, table, tmp_path):
    """With --json the predictions are in the object, or in --out."""
    inside = answer("predict", model, table, "--proba")
    assert len(inside["predictions"]) == inside["n_rows"] == 120
    outside = answer("predict", model, table, "--out", tmp_path / "p.csv")
    assert "predictions" not in outside
    assert len(rows_of((tmp_path / "p.csv").read_text())) == 120


def test_other_columns_and_values(halfspace, model, tmp_path):
    """Columns may come in any order, be missing or be too many; unknown categories and bad numbers are counted in notes."""
    path = tmp_path / "new.csv"
    path.write_text("shape,colour,size\nround,red,0.5\nround,violet,big\nflat,,-1\nflat,pink,2\n")
    ran = halfspace("predict", model, path)
    assert ran.code == 0
    assert len(rows_of(ran.out)) == 4
    for words in ("'shape' was ignored", "'age' is absent", "'colour': 2 values were never seen", "'size': 1 value cannot"):
        assert words in ran.err


def test_batches_are_counted_once(halfspace, model, tmp_path, monkeypatch):
    """A file in several batches gives the rows of one, and one note per column."""
    path = tmp_path / "new.csv"
    path.write_text("size,age,colour\n" + "0.5,30,violet\n" * 10)
    whole = halfspace("predict", model, path)
    monkeypatch.setattr(predict, "stream", partial(stream, batch_rows=3))
    parts = halfspace("predict", model, path)
    assert whole.out == parts.out
    assert whole.err == parts.err
    assert "10 values were never seen" in parts.err


def test_a_model_saved_from_python(halfspace, tmp_path):
    """A model without preprocessing takes a table of numbers, columns in order."""
    X, y = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 0.0]]), np.array([0, 0, 1, 1])
    hs.save(hs.Adaline().fit(X, y), tmp_path / "m")
    (tmp_path / "t.csv").write_text("a,b\n0,1\n3,0\n")
    assert [row["prediction"] for row in rows_of(halfspace("predict", tmp_path / "m", tmp_path / "t.csv").out)] == ["0", "1"]
    (tmp_path / "words.csv").write_text("a,b\n0,x\n3,y\n")
    for arguments in (("words.csv",), ("t.csv", "--proba")):
        ran = halfspace("predict", tmp_path / "m", tmp_path / arguments[0], *arguments[1:])
        assert ran.code == 2
        assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("out", "word"), [("p.xlsx", ".parquet"), ("model", "overwrite"), ("table", "overwrite")], ids=["format", "model", "input"]
)
def test_bad_outputs(halfspace, model, table, tmp_path, out, word):
    """Unknown formats and the inputs themselves are refused as outputs, and nothing is written."""
    path = {"model": model, "table": table}.get(out, tmp_path / out)
    ran = halfspace("predict", model, table, "--out", path)
    assert ran.code == 2
    assert word in ran.err
    assert not list(tmp_path.iterdir())


def test_no_model(halfspace, table, tmp_path):
    """What is no model file, or not there, is one sentence."""
    for path in (table, tmp_path / "none"):
        ran = halfspace("predict", path, table)
        assert ran.code == 2
        assert len(ran.err.splitlines()) == 1


def test_sparse_files_may_be_narrower_or_wider_than_the_model(halfspace, tmp_path):
    """A file of sparse rows is as wide as its largest column number: fewer columns are zeros, more are ignored and told."""
    rng = np.random.default_rng(0)
    lines = [f"{1 if a + b > 0 else -1} 1:{a:.3f} 2:{b:.3f} 3:{c:.3f}" for a, b, c in rng.standard_normal((60, 3))]
    (tmp_path / "three.svm").write_text("\n".join(lines) + "\n")
    model = tmp_path / "m.halfspace"
    assert halfspace("fit", tmp_path / "three.svm", "--rungs", "majority,adaline", "--save", model).code == 0
    narrow, wide = tmp_path / "narrow.svm", tmp_path / "wide.svm"
    narrow.write_text("1 1:2.0\n-1 1:-2.0\n")
    wide.write_text("1 1:2.0 9:5\n-1 1:-2.0\n")
    first, second = halfspace("predict", model, narrow), halfspace("predict", model, wide)
    assert first.code == second.code == 0
    assert first.out == second.out
    assert "Columns beyond the 3" in second.err


def test_sparse_columns_are_counted_as_in_training(halfspace, tmp_path):
    """Rows without an index 0 are read as the file was that the model learnt from, which had one."""
    rng = np.random.default_rng(0)
    lines = [f"{1 if a > 0 else -1} 0:{a:.3f} 1:{b:.3f} 2:{c:.3f}" for a, b, c in rng.standard_normal((60, 3))]
    (tmp_path / "from0.svm").write_text("\n".join(lines) + "\n")
    model, rest = tmp_path / "m.halfspace", tmp_path / "rest.svm"
    assert halfspace("fit", tmp_path / "from0.svm", "--rungs", "majority,adaline", "--save", model).code == 0
    rest.write_text("1 1:9.0\n1 1:-9.0\n")
    ran = halfspace("predict", model, rest, "--proba")
    loaded = hs.load(model)
    assert [row["prediction"] for row in rows_of(ran.out)] == [
        str(v) for v in loaded.predict(sparse.csr_matrix([[0, 9.0, 0], [0, -9.0, 0]]))
    ]


LABELS = np.array(["=1+1", "+a", "-b", "@c", "\tx", "-3", "+4.5e3", "plain", "a=b"])


def test_csv_does_not_run_in_a_spreadsheet(answer, halfspace, tmp_path):
    """Labels that a spreadsheet would run get an apostrophe in CSV, numbers and other formats none; --no-guard leaves all."""
    X = np.arange(LABELS.size, dtype=float)[:, None]
    hs.save(hs.LVQ(random_state=0).fit(X, LABELS), tmp_path / "m")
    (tmp_path / "t.csv").write_text("x\n" + "".join(f"{x:.0f}.0\n" for x in X[:, 0]))
    expected = hs.load(tmp_path / "m").predict(X)
    guarded = [f"'{label}" if label in LABELS[:5] else label for label in expected]
    assert set(guarded) >= {"'=1+1", "-3"}

    def written(suffix, *options):
        out = tmp_path / f"p{suffix}"
        ran = answer("predict", tmp_path / "m", tmp_path / "t.csv", "--out", out, *options)
        kept = rows_of(out.read_text()) if suffix == ".csv" else map(json.loads, out.read_text().splitlines())
        return [row["prediction"] for row in kept], ran["notes"]

    found, said = written(".csv")
    assert found == guarded
    assert "5 values were written with an apostrophe in front" in said[0]
    assert written(".csv", "--no-guard") == (expected.tolist(), [])
    assert written(".jsonl") == (expected.tolist(), [])
    assert [row["prediction"] for row in rows_of(halfspace("predict", tmp_path / "m", tmp_path / "t.csv").out)] == guarded
