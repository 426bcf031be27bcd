"""Excel workbooks: sheets, headers, types, gaps and dates; damaged ones end in one sentence."""

import datetime as dt
import io
import subprocess
import sys
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from fuzz.workbooks import workbook

from halfspace.errors import FileError, MemoryLimitError
from halfspace.files import read, stream
from halfspace.notes import Note

HEADER = ["size", "weight", "word", "flag", "day", "y"]
ROWS = [
    [1, 0.1, "x", True, dt.date(2023, 12, 31), "p"],
    [2, None, "5", False, dt.date(2020, 1, 1), "q"],
    [3, "#DIV/0!", 7, None, None, "p"],
]


def test_types_dates_and_gaps(tmp_path):
    """Cells give columns the types of all their rows, bit for bit; empty cells and error values are missing."""
    found = read(workbook(tmp_path / "t.xlsx", One=[HEADER, *ROWS]), "y")
    assert found.X.schema.types == [pa.int64(), pa.float64(), pa.string(), pa.bool_(), pa.timestamp("us")]
    assert found.X["weight"].to_pylist() == [0.1, None, None]
    assert found.X["day"].to_pylist()[:2] == [dt.datetime(2023, 12, 31), dt.datetime(2020, 1, 1)]  # noqa: DTZ001
    assert found.y.tolist() == ["p", "q", "p"]
    assert (found.notes, found.source.details) == ((), ("sheet 'One'", "header in row 1"))


def test_numbers_as_people_write_them(tmp_path):
    """Cells of text with a currency, a percent sign or grouped thousands are numbers, as in CSV."""
    rows = [["a", "b", "c", "y"], ["$5", "12.3%", "1,234.50", 0], ["$1,000", "4%", "7", 1]]
    found = read(workbook(tmp_path / "t.xlsx", One=rows), "y").X.to_pydict()
    assert found == {"a": [5, 1000], "b": [12.3, 4.0], "c": [1234.5, 7.0]}


def test_numbers_keep_every_bit(tmp_path):
    """A number in a cell is the double that was written."""
    values = np.random.default_rng(0).standard_normal(50) * 10.0 ** np.arange(-25, 25)
    path = workbook(tmp_path / "t.xlsx", One=[["a", "y"], *([value, i % 2] for i, value in enumerate(values.tolist()))])
    np.testing.assert_array_equal(read(path, "y").X["a"].to_numpy(), values)


def test_a_sheet_is_chosen_by_name(tmp_path):
    """The first sheet is read and the others are named in a note; `#name` chooses another, and a wrong one is refused."""
    path = workbook(tmp_path / "t.xlsx", One=[HEADER, *ROWS], Two=[["a", "y"], [1, "u"], [2, "v"]])
    assert read(path, "y").notes == (Note("sheet", "One", detail="'Two'"),)
    found = read(f"{path}#Two", "y")
    assert (found.X.column_names, found.y.tolist(), found.notes) == (["a"], ["u", "v"], ())
    assert [batch.X.column_names for batch in stream(f"{path}#Two")] == [["a", "y"]]
    with pytest.raises(FileError, match="there is no sheet 'Three'; the sheets are: 'One', 'Two'"):
        read(f"{path}#Three", "y")


def test_titles_and_empty_rows_are_skipped(tmp_path):
    """The header may stand below a title; rows without a cell do not count; the content tells the format."""
    rows = [["Prices of 2023"], [], HEADER, ROWS[0], [None] * 6, ROWS[1], ROWS[2], [" "]]
    found = read(workbook(tmp_path / "book", One=rows), "y")
    assert (found.n_rows, found.source.format, found.source.details[1]) == (3, "excel", "header in row 3")
    numbers = read(workbook(tmp_path / "n.xlsx", One=[[1, 2, 0], [3, 4, 1], [5, 6, 0]]), "x2")
    assert (numbers.n_rows, numbers.notes[0].kind) == (3, "no header")


@pytest.mark.parametrize("batch_rows", [1, 2, 100])
def test_batches_have_the_types_of_the_sheet(tmp_path, batch_rows):
    """However the rows are cut, all batches have the same types."""
    path = workbook(tmp_path / "t.xlsx", One=[HEADER, *ROWS])
    assert {tuple(batch.X.schema.types) for batch in stream(path, batch_rows=batch_rows)} == {
        (pa.int64(), pa.float64(), pa.string(), pa.bool_(), pa.timestamp("us"), pa.string())
    }


def test_damaged_workbooks_end_in_one_sentence(tmp_path):
    """Cut short, with changed bytes, without a sheet or empty: a `FileError`, never another exception."""
    whole = workbook(tmp_path / "t.xlsx", One=[HEADER, *ROWS]).read_bytes()
    random = np.random.default_rng(0)
    damaged = [whole[: len(whole) // 2], whole[:10], *(bytearray(whole) for _ in range(40))]
    for copy in damaged[2:]:
        copy[random.integers(len(whole))] ^= 1 << random.integers(8)
    path = tmp_path / "d.xlsx"
    for content in damaged:
        path.write_bytes(bytes(content))
        try:
            read(path, "y")
        except FileError as error:
            assert "d.xlsx" in str(error)  # noqa: PT017  (a changed byte may do no harm)
    for sheets in ({"One": []}, {"One": [["a", "y"]]}, {}):
        with pytest.raises(FileError, match=r"d\.xlsx"):
            read(workbook(path, **sheets), "y")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("word/document.xml", "<w/>")
    path.write_bytes(packed.getvalue())
    with pytest.raises(FileError, match="an office document, but no"):
        read(path, "y")


def test_without_fastexcel_the_extra_is_named(tmp_path):
    """Where fastexcel is not installed the message says how to install it."""
    path = workbook(tmp_path / "t.xlsx", One=[HEADER, *ROWS])
    code = f"import sys; sys.modules['fastexcel'] = None\nfrom halfspace.files import read\nread({str(path)!r}, 'y')"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert 'pip install "halfspace[excel]"' in ran.stderr


@pytest.mark.parametrize("cell", ['<c r="AAA900000">', '<x:c s="1" r="AAA900000" t="n">'])
def test_a_sheet_is_as_large_as_its_last_cell(tmp_path, cell):
    """Two cells far apart make a sheet that does not fit: the names of the cells are read first."""
    workbook(tmp_path / "near.xlsx", data=[["a", "b"], [1, 2]])
    with zipfile.ZipFile(tmp_path / "near.xlsx") as near, zipfile.ZipFile(tmp_path / "far.xlsx", "w") as far:
        for part in near.infolist():
            far.writestr(part, near.read(part).replace(b'<c r="B2">', cell.encode()))
    with pytest.raises(MemoryLimitError, match="a sheet of 900,000 rows and 703 columns would need about 63"):
        read(tmp_path / "far.xlsx", "a")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'r="A4"', b'r="XFD1048576"'),
        (b'r="A4"', b'r="A999999999"'),
        (b'r="A4"', b"r = 'xfd1048576'"),
        (b'<row r="4"><c r="A4"', b'<row r="99999999"><c'),
        (b'<c r="A4"', b'<c note="' + b"x" * 100 + b'" r="XFD1048576"'),
    ],
    ids=["last cell", "beyond it", "in other words", "a row", "far from its tag"],
)
@pytest.mark.parametrize("home", ["worksheets/s0.xml", "Worksheets/s0.xml", "elsewhere/s0"])
def test_a_cell_far_out_is_refused_however_it_is_written(tmp_path, before, after, home):
    """A sheet needs memory for all cells up to its last one, so a small file with a cell far out is refused by its extent."""
    workbook(tmp_path / "t.xlsx", One=[HEADER, *ROWS])
    with zipfile.ZipFile(tmp_path / "t.xlsx") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(tmp_path / "far.xlsx", "w") as archive:
        for name, content in parts.items():
            place = name.replace("worksheets/s0.xml", home)
            archive.writestr(place, content.replace(before, after).replace(b"worksheets/s0.xml", home.encode()))
    with pytest.raises(MemoryLimitError, match=r"rows and .* columns would need"):
        read(tmp_path / "far.xlsx", "y")
