"""The private helpers of `halfspace.cli`, each on a small case."""

import pyarrow as pa

from halfspace.cli import frame, problems, reading, schemas, text


def test_frame():
    """Text from a file is shown as one line without control characters."""
    assert frame.clean("a\x1b[2Jb") == "a?[2Jb"


def test_problems():
    """The built-in problems can be listed."""
    assert "xor" in [problem["name"] for problem in problems.list_all().body["problems"]]


def test_reading():
    """A built-in problem reads like a file with labels, and a table of numbers becomes a matrix."""
    assert reading.built_in("xor", n=8).source.format == "built-in"
    assert reading.labels(reading.built_in("xor", n=4)).size == 4
    assert reading.as_numbers(pa.table({"a": [1, 2], "b": [0.5, 1.5]})).tolist() == [[1.0, 0.5], [2.0, 1.5]]


def test_schemas():
    """Schemas are found by name."""
    assert "fit" in schemas.names()
    assert schemas.read("error")["required"] == ["error", "code"]


def test_text():
    """A table is aligned, an empty value is blank, and a long proof is cut after its first lines."""
    assert (
        text.table(["rung", "score"], [["majority", "0.6"], ["adatron", None]], right="lr")
        == " rung       score\n──────────────────\n majority     0.6\n adatron"
    )
    assert (text.shortened("one line"), text.shortened("a\nb\nc", most=2)) == ("one line", "\n  a\n  b\n  and 1 more")
