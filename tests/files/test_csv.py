"""CSV: dialects, encodings, types, and what is wrong with a file named by its line."""

import numpy as np
import pyarrow as pa
import pytest

from halfspace.errors import FileError
from halfspace.files import csv, read, stream, text
from halfspace.files.csv import dialect_of
from halfspace.notes import Note


def written(folder, content, name="t.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("content", "delimiter", "decimal", "header"),
    [
        ("a,b\n1,2\n3,4\n", ",", ".", ("a", "b")),
        ("a\tb\n1,5\t2\n3,5\t4\n", "\t", ".", ("a", "b")),
        ("a;b\n1,5;2\n3,5;4\n", ";", ",", ("a", "b")),
        ("1,5;2\n3,5;4\n", ";", ",", ()),
        ("a|b\n1|2\n", "|", ".", ("a", "b")),
        ("a b\n1 2\n3 4\n", " ", ".", ("a", "b")),
        ('"x, y",b\n"1, 2",3\n', ",", ".", ("x, y", "b")),
        ("1,2\n3,4\n", ",", ".", ()),
        ("red,1\ngreen,2\n", ",", ".", ()),
        ("colour,kind\nred,big\ngreen,small\n", ",", ".", ("colour", "kind")),
        ("red,big\ngreen,small\nred,big\n", ",", ".", ()),
        (",0,1\n0,5.5,6.5\n1,7.5,8.5\n", ",", ".", ("", "0", "1")),
        ("2019,2020,land\n1,2,x\n3,4,y\n", ",", ".", ()),
        ("when,y\n2020-01-01 10:00,1\n2020-01-02 11:00,2\n", ",", ".", ("when", "y")),
        ("word\nthe cat\na dog\n", ",", ".", ("word",)),
        (",,t\n1,2,x\n3,4,y\n5,6,x\n", ",", ".", ("", "", "t")),
        (",,x\n1,2,x\n3,4,y\n", ",", ".", ()),
        ("NA,t\n1,x\n3,y\n", ",", ".", ()),
    ],
    ids=[
        *("commas", "tabs", "semicolons", "no header, decimal comma", "bars", "spaces", "quotes", "numbers only"),
        *(
            "words and numbers",
            "words only",
            "words come again",
            "pandas",
            "years",
            "dates",
            "one column",
            "nameless",
            "gaps",
            "missing",
        ),
    ],
)
def test_the_dialect_is_found(content, delimiter, decimal, header):
    """Delimiter, decimal mark and header are found from the first rows."""
    found = dialect_of(content)
    assert (found.delimiter, found.decimal, found.header) == (delimiter, decimal, header)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252"])
def test_encodings(tmp_path, encoding):
    """UTF-8, UTF-16 by its mark and Windows-1252 are read alike; the last is said."""
    content = "größe,y\n1,für\n2,öl\n".encode(encoding)
    content = b"\xfe\xff" + content if encoding == "utf-16-be" else content
    found = read(written(tmp_path, content), "y")
    assert found.X.column_names == ["größe"]
    assert found.y.tolist() == ["für", "öl"]
    assert any(note.kind == "encoding" for note in found.notes) == (encoding == "cp1252")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("last", [True, False], ids=["ended", "open"])
def test_line_ends(tmp_path, end, last):
    """Any line end will do, and the last may be missing."""
    found = read(written(tmp_path, end.join(["a,y", "1,u", "", "2,v"]) + end * last), "y")
    assert (found.X["a"].to_pylist(), found.y.tolist()) == ([1, 2], ["u", "v"])


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", " 2 ", ""], pa.int64()),
        (["1", "2.5", "NA"], pa.float64()),
        (["1", "+2.5", "1e400"], pa.float64()),
        (["12345678901234567890", "1", "?"], pa.float64()),
        (["true", "FALSE", "null"], pa.bool_()),
        (["2020-01-31", "2020-01-31 10:00", "?"], pa.timestamp("us")),
        (["2020-01-31T10:00:00Z", "2020-01-31T10:00:00Z", "nan"], pa.timestamp("us", "UTC")),
        (["1", "x", "NaN"], pa.string()),
        (["true", "1", "NULL"], pa.string()),
        (["", "NA", "?"], pa.null()),
    ],
    ids=["whole", "real", "sign", "beyond int64", "bool", "dates", "zone", "words", "mixed", "nothing"],
)
def test_types_come_from_all_values(tmp_path, values, kind):
    """A column has the narrowest type of all its values; white space is taken off and missing values are null."""
    rows = "".join(f"{value},{i % 2}\n" for i, value in enumerate(values))
    found = read(written(tmp_path, "a,y\n" + rows, "t.csv"), "y")
    assert found.X.schema.types == [kind]
    assert found.X["a"][0].as_py() != values[0] or kind == pa.string()


@pytest.mark.parametrize(
    ("early", "late", "kind"),
    [("1", "2.5", pa.float64()), ("1", "x", pa.string()), ("", "7", pa.int64()), ("true", "1", pa.string())],
    ids=["int to float", "int to text", "nothing to int", "bool to text"],
)
def test_a_late_value_widens_the_column(tmp_path, monkeypatch, early, late, kind):
    """A value that does not fit in a later block widens the column everywhere; nothing breaks."""
    monkeypatch.setattr(csv, "LARGEST_BLOCK", 4096)
    monkeypatch.setattr(text.line_blocks, "__defaults__", (4096,))
    path = written(tmp_path, "a,y\n" + f"{early},0\n" * 9000 + f"{late},1\n")
    found = read(path, "y")
    assert (found.X.schema.types, found.n_rows) == ([kind], 9001)
    assert found.X["a"][-1].as_py() == (late if kind == pa.string() else float(late))
    if kind == pa.string():
        assert found.X["a"][0].as_py() == early
    assert {batch.X.schema.field("a").type for batch in stream(path, batch_rows=1000)} == {kind}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b,y\n1,2,u\n1,2\n1,2,v\n", "line 3 has 2 fields where 3 are expected"),
        ("a,y\n1,u\n" * 1 + "2,v,w\n", "line 3 has 3 fields where 2 are expected"),
        ('a,y\n"1\n2",u\n\n3,u,v\n', "line 5 has 3 fields where 2"),
        ("a,y\n" + "1,u\n" * 50_000 + "1\n", "line 50002 has 1 fields where 2"),
        ('a,y\n1,u\n2,"v\n3,w\n', "row that begins in line 3 does not end"),
        ('a,y\n1,u\n2,"' + "v\n3,w\n" * 4_000_000, "row that begins in line 3 does not end"),
        ("a,y\n1,\0\n", "is not text"),
        (b"\x01\x02\x00\x7f" * 100, "is not text"),
        ("a,b,y\n", "has no rows"),
        ("\n \n", "only blank lines"),
        ("a,y\n1," + "x" * (65 << 20), "a line of more than 64 MB"),
        (b"\xff\xfea", "damaged"),
    ],
    ids=[
        *("short row", "long row", "after a quoted line end", "far down", "open quote", "open quote in a large file"),
        *("NUL", "binary", "header only", "blank", "one huge line", "half a UTF-16 letter"),
    ],
)
def test_a_broken_table_is_one_sentence(tmp_path, content, message):
    """What breaks a table is said in one sentence that names the file, and the line where there is one."""
    with pytest.raises(FileError, match=message) as caught:
        read(written(tmp_path, content), "y")
    assert str(caught.value).startswith("t.csv: ")
    assert "\n" not in str(caught.value)


def test_names_are_made_unique(tmp_path):
    """Columns without a name, or with one that is taken, get another, and a note says so."""
    found = read(written(tmp_path, "a,a,,a.1,y\n1,2,3,4,u\n5,6,7,8,v\n"), "y")
    assert found.X.column_names == ["a", "a.2", "x2", "a.1"]
    assert len(found.notes) == 2


def test_no_header_is_noted(tmp_path):
    """Without a header columns are called x0, x1, ..., and the last is a target like any other."""
    found = read(written(tmp_path, "1,2,0\n3,4,1\n"), "-1")
    assert (found.X.column_names, found.target) == (["x0", "x1"], "x2")
    assert found.notes[0].kind == "no header"


def test_numbers_are_the_nearest_doubles(tmp_path):
    """A number written in full is read back bit for bit."""
    values = np.random.default_rng(0).standard_normal(500) * 10.0 ** np.arange(-250, 250)
    path = written(tmp_path, "a,y\n" + "".join(f"{v!r},{i % 2}\n" for i, v in enumerate(values.tolist())))
    assert read(path, "y").X["a"].to_pylist() == values.tolist()


@pytest.mark.compiled
def test_thirty_thousand_columns(tmp_path):
    """A very wide table is slow, not impossible."""
    names = ",".join(f"c{i}" for i in range(30_000))
    row = ",".join(["1"] * 30_000)
    found = read(written(tmp_path, f"{names},y\n{row},u\n{row},v\n"), "y")
    assert found.X.shape == (2, 30_000)


@pytest.mark.parametrize("start", ["\n", "  \r\n", "\t\n\n"], ids=["empty", "spaces", "tab"])
def test_blank_lines_before_the_header_are_skipped(tmp_path, start):
    """The header is the first line that holds something."""
    found = read(written(tmp_path, start + "a,y\n1,u\n2,v\n"), "y")
    assert (found.X.column_names, found.y.tolist()) == (["a"], ["u", "v"])


def test_points_between_thousands_go_with_a_decimal_comma(tmp_path):
    """Where the comma is the decimal mark, a point groups digits."""
    found = read(written(tmp_path, "a;y\n1.234,5;u\n12,25;v\n1.000.000,0;u\n"), "y")
    assert found.X["a"].to_pylist() == [1234.5, 12.25, 1000000.0]


def test_codes_stay_text(tmp_path):
    """Numbers with a leading zero are codes, as features and as labels."""
    found = read(written(tmp_path, "zip,y\n01234,01\n55555,1\n"), "y")
    assert found.X["zip"].to_pylist() == ["01234", "55555"]
    assert found.y.tolist() == ["01", "1"]


def test_a_dash_is_missing_among_numbers_and_a_word_among_words(tmp_path):
    """The same sign is a gap in a column of numbers and a class in a target of + and -."""
    found = read(written(tmp_path, "a,y\n1,+\n-,-\n2.5,+\n"), "y")
    assert found.X["a"].to_pylist() == [1.0, None, 2.5]
    assert found.y.tolist() == ["+", "-", "+"]


def test_columns_that_were_text_can_be_kept_so(tmp_path):
    """A stream leaves named columns as text although these rows look like numbers."""
    path = written(tmp_path, "code,a\n10,1\n20,2\n")
    assert next(stream(path)).X.schema.types == [pa.int64(), pa.int64()]
    assert next(stream(path, texts=["code"])).X.schema.types == [pa.string(), pa.int64()]


@pytest.mark.parametrize(
    ("values", "day", "noted"),
    [
        (["31.12.2023", "1.2.2023 14:05"], (31, 1), False),
        (["12/31/2023", "2/1/2023"], (31, 1), False),
        (["31/12/2023", "01/02/2023"], (31, 1), False),
        (["3/4/2023", "5/6/2023"], (4, 6), True),
    ],
    ids=["points", "month first", "day first", "either"],
)
def test_dates_with_points_and_slashes(tmp_path, values, day, noted):
    """Dates with points are day.month.year; with slashes the order that all rows allow, month first if they allow both."""
    found = read(written(tmp_path, "d;y\n" + "".join(f"{value};{i}\n" for i, value in enumerate(values))), "y")
    assert [value.day for value in found.X["d"].to_pylist()] == list(day)
    assert found.notes == ((Note("date order", "d"),) if noted else ())


def test_the_order_of_dates_comes_from_all_rows(tmp_path, monkeypatch):
    """One late date decides the order in all blocks; two that contradict each other leave text; it can be given."""
    monkeypatch.setattr(csv, "SMALLEST_BLOCK", 1 << 10)
    early = "".join(f"{1 + i % 12}/{1 + i % 11}/2023,{i % 2}\n" for i in range(400))
    for late, twelfth in (("13/1/2023,0\n", 12), ("1/13/2023,0\n", 1)):
        data = read(written(tmp_path, f"d,y\n{early}{late}"), "y")
        found = data.X["d"]
        assert data.source.day_first == (("d",) if twelfth == 12 else ())
        assert found.type == pa.timestamp("us")
        assert [found[i].as_py().day for i in (0, 11, -1)] == [1, twelfth, 13]
    assert read(written(tmp_path, f"d,y\n{early}13/1/2023,0\n1/13/2023,1\n"), "y").X["d"].type == pa.string()
    ambiguous = written(tmp_path, "d\n3/4/2023\n5/6/2023\n")
    assert next(stream(ambiguous)).X["d"][0].as_py().day == 4
    assert next(stream(ambiguous, day_first=["d"])).X["d"][0].as_py().day == 3


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('a,y\n"1,234,567",0\n"12,000.5",1\n7,0\n', [1234567.0, 12000.5, 7.0]),
        ("a;y\n1.234.567,89;0\n-12.000;1\n7,5;0\n", [1234567.89, -12000.0, 7.5]),
        ("a\ty\n1,234\t0\n-1,000,000\t1\n7\t0\n", [1234, -1000000, 7]),
    ],
    ids=["commas", "points", "tabs"],
)
def test_grouped_thousands(tmp_path, content, expected):
    """Thousands grouped by the mark that is not the decimal one are numbers, and a note says so; text keeps its marks."""
    found = read(written(tmp_path, content), "y")
    assert found.X["a"].to_pylist() == expected
    assert "grouped" in {note.kind for note in found.notes}
    words = read(written(tmp_path, 'a,y\n"1,234",0\n"12,34",1\n'), "y").X["a"]
    assert words.to_pylist() == ["1,234", "12,34"]


@pytest.mark.parametrize(
    ("values", "expected", "notes"),
    [
        (["$1234.50", "$ 1,000", "-$3", "$-4"], [1234.5, 1000.0, -3.0, -4.0], {"currency", "grouped"}),
        (["12 €", "7€", "3", "-"], [12, 7, 3, None], {"currency"}),
        (["€ 1.234,50", "€ 3,20", "€ 1.000"], [1234.5, 3.2, 1000.0], {"currency", "comma"}),
        (["12.3%", "-4 %", "100%"], [12.3, -4.0, 100.0], {"percent"}),
        (["(123)", "7", "($1,000.5)"], [-123.0, 7.0, -1000.5], {"owed", "currency", "grouped"}),
        (["5%", "6"], ["5%", "6"], set()),
        (["$5", "€6"], ["$5", "€6"], set()),
        (["1,2", "3,4"], ["1,2", "3,4"], set()),
        (["(a)", "$"], ["(a)", "$"], set()),
    ],
    ids=[
        *("dollars", "euros behind", "decimal comma", "percent", "owed", "some percent", "two currencies", "pairs", "words"),
    ],
)
@pytest.mark.parametrize("split", [False, True], ids=["whole", "in blocks"])
def test_numbers_as_people_write_them(tmp_path, monkeypatch, values, expected, notes, split):
    """Amounts, percentages and debts are numbers, said in notes; what would not compare stays text, in blocks too."""
    rows = values * (200 if split else 1)
    if split:
        monkeypatch.setattr(csv, "SMALLEST_BLOCK", 1 << 10)
        rows = sorted(rows, key=values.index)
    found = read(written(tmp_path, "a,y\n" + "".join(f'"{value}",{i % 2}\n' for i, value in enumerate(rows))), "y")
    assert found.X["a"].unique().to_pylist() == expected
    assert {note.kind for note in found.notes} - {"individuals"} == notes


def test_a_decimal_comma_is_seen_behind_a_sign(tmp_path):
    """In a file with semicolons 12,3% and € 3,20 tell the decimal mark; amounts in the first row are no header."""
    found = read(written(tmp_path, "a;b;y\n12,3%;€ 1.234,50;$5\n4,0%;-€ 3,20;$6\n"), "y")
    assert (found.X["a"].to_pylist(), found.X["b"].to_pylist(), found.y.tolist()) == ([12.3, 4.0], [1234.5, -3.2], [5, 6])
    assert read(written(tmp_path, "$5,12%\n$6,13%\n$7,12%\n"), 1).X["x0"].to_pylist() == [5, 6, 7]


def test_a_row_beyond_the_block_is_said_to_be_too_long(tmp_path):
    """A cell of megabytes is named by its line and its size, with the limit; it is no open quote."""
    path = written(tmp_path, f"a,t\n1,x\n2,{'z' * 3_000_000}\n3,y\n")
    limit = csv.csv.field_size_limit()
    with pytest.raises(FileError, match=r"the row in line 3 has 3.0 MB, more than the 1 MB that a row may have"):
        read(path, "t")
    assert csv.csv.field_size_limit() == limit
