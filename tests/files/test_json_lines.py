"""JSON lines: ragged keys, types of the whole file, faults by line."""

import pyarrow as pa
import pytest

from halfspace.errors import FileError
from halfspace.files import json_lines, read


def written(folder, content):
    path = folder / "t.jsonl"
    path.write_text(content, encoding="utf-8")
    return path


def test_keys_may_come_and_go(tmp_path):
    """A key that a line lacks is a missing value; columns come in the order of their first appearance."""
    found = read(written(tmp_path, '{"b": 1, "y": 0}\n\n{"y": 1, "a": null}\n{"a": 2.5, "y": 1}\n'), "y")
    assert found.X.to_pydict() == {"b": [1, None, None], "a": [None, None, 2.5]}
    assert found.y.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2"], pa.int64()),
        (["1", "2.5"], pa.float64()),
        (["1", "NaN"], pa.int64()),
        (["Infinity", "1"], pa.float64()),
        (["true", "false"], pa.bool_()),
        (['"1"', '"2"'], pa.string()),
        (["1", '"x"'], pa.string()),
        (["true", '"true"'], pa.string()),
        (['"2020-01-01"', "null"], pa.timestamp("us")),
        (["null", "null"], pa.null()),
    ],
    ids=["whole", "real", "nan", "infinite", "bool", "digits in words", "mixed", "bool and word", "dates", "nothing"],
)
def test_types(tmp_path, values, kind):
    """Numbers are numbers, strings are words or dates, a mixture is words."""
    lines = [f'{{"a": {value}, "y": {i}}}' for i, value in enumerate(values)]
    assert read(written(tmp_path, "\n".join(lines)), "y").X.schema.types == [kind]


def test_nested_columns_are_left_out(tmp_path):
    """A column with a list or an object in any row is left out, and a note says so."""
    found = read(written(tmp_path, '{"a": 1, "b": 2, "y": 0}\n{"a": [1], "b": 3, "y": 1}\n{"c": {}, "y": 1}\n'), "y")
    assert found.X.column_names == ["b"]
    assert len(found.notes) == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": 1, "y": 2}\n{"a": 1', "line 2 is not JSON"),
        ('{"a": 1}\n[1, 2]\n', "line 2 is a JSON list"),
        ('{"a": ' + "[" * 100_000, "line 1 is not JSON"),
        ('{"a": 1}\n\n{"a": \0}', "is not text"),
        ('{"a": 1}\n', "name the column to predict .* are: a"),
        ("{}\n{}\n", "name the column"),
    ],
    ids=["cut short", "array", "deep", "NUL", "no target", "empty objects"],
)
def test_faults_are_sentences(tmp_path, content, message):
    """Each fault is one sentence with the line."""
    with pytest.raises(FileError, match=message):
        read(written(tmp_path, content))


def test_a_key_that_comes_twice_is_refused(tmp_path):
    """A line with a key twice means different things to different readers; the line is named."""
    with pytest.raises(FileError, match=r"line 2 .*'a' comes twice"):
        read(written(tmp_path, '{"a": 1, "y": 0}\n{"a": 1, "a": 2, "y": 1}\n'), "y")


def test_a_new_key_in_every_line_is_no_table(tmp_path, monkeypatch):
    """Very many keys that hardly repeat end in a sentence, soon."""
    monkeypatch.setattr(json_lines, "MANY_KEYS", 1000)
    (tmp_path / "keys.jsonl").write_text("\n".join(f'{{"k{i}": 1, "y": {i % 2}}}' for i in range(2000)))
    with pytest.raises(FileError, match="different keys, hardly any of which repeat"):
        read(tmp_path / "keys.jsonl", "y")
