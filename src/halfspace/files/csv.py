"""CSV and TSV, by pyarrow in blocks: every value is read as text, and types are found from all rows (see `columns`).

White space around values is taken off; `columns.MISSING` lists the spellings of a missing value. Blank lines are skipped.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from halfspace.errors import FileError
from halfspace.files.kinds import MISSING, SIGNS, Columns, TextReader, unique_names
from halfspace.files.opening import OpenedFile, admit_columns, explained
from halfspace.files.sampling import Piece
from halfspace.files.text import LONGEST_LINE, LineStream, line_blocks
from halfspace.notes import Note

__all__ = ["Dialect", "Reader", "dialect_of", "is_header", "trimmed"]

HEAD = 1 << 18
SMALLEST_BLOCK, LARGEST_BLOCK = 1 << 20, 64 << 20
MISSING_ARRAY = pa.array(MISSING)
BLANK_LINES = re.compile(rb"\A(?:[ \t]*\r?\n)+")
DELIMITERS = "\t;|, "
"""In the order of preference where several divide the rows equally well: the rarer within values comes first."""

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf", re.IGNORECASE)
DECIMAL_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+")
GROUPED = re.compile(r"[+-]?\d{1,3}(\.\d{3})+")
MARKS = re.compile(rf"^\(?([+-]?)\s?[{SIGNS}]?\s?|\s?[{SIGNS}%]?\)?$")
"""What people write around a number: a currency, a percent sign, parentheses."""


class Reader(TextReader):
    """Read a CSV or TSV file."""

    def __init__(self, file: OpenedFile) -> None:
        super().__init__(file)
        delimiters = "\t" if any(s in file.name.lower() for s in (".tsv", ".tab")) else DELIMITERS
        head = _first_lines(file, self.notes)
        self._dialect = dialect_of(head, delimiters)
        admit_columns(self._dialect.n_fields, file.name)
        # pyarrow holds some ten blocks at a time, and each costs a little per column: small ones, but of many rows.
        self._block = min(max(SMALLEST_BLOCK, 256 * max(map(len, head.splitlines()))), LARGEST_BLOCK)
        names = self._dialect.header
        if not names:
            names = tuple(f"x{i}" for i in range(self._dialect.n_fields))
            self.notes.append(Note("no header", detail=file.name))
        if self._dialect.decimal == ",":
            self.notes.append(Note("decimal comma"))
        self.names = tuple(unique_names(names, self.notes))
        self.columns = Columns(self.notes, trimmed, self._dialect.decimal)
        self.details = (f"delimiter {self._dialect.delimiter!r}",)

    def pieces(self, batch_rows: int) -> Iterator[Piece]:
        """Yield the rows as tables of text."""
        stream = LineStream(_without_blank_start(line_blocks(self.file, self.notes)))
        last = None
        for batch in self._batches(stream):
            last = batch
            self.columns.learn(batch)
            for first in range(0, batch.num_rows, batch_rows):
                yield Piece(pa.Table.from_batches([batch.slice(first, batch_rows)]))
        if stream.n_quotes % 2 and last is not None and "\n" in (last.column(last.num_columns - 1)[-1].as_py() or ""):
            raise FileError(self._fault())

    def _batches(self, stream: LineStream) -> Iterator[Any]:
        """Yield pyarrow's batches; its errors become sentences with a line number."""
        kinds = dict.fromkeys(self.names, pa.string())
        convert = pacsv.ConvertOptions(column_types=kinds, null_values=MISSING, strings_can_be_null=True)
        parse = pacsv.ParseOptions(delimiter=self._dialect.delimiter, newlines_in_values=True)
        read = pacsv.ReadOptions(
            column_names=list(self.names), skip_rows_after_names=int(bool(self._dialect.header)), block_size=self._block
        )
        try:
            with (
                explained(self.file.name, "a table in CSV"),
                pacsv.open_csv(stream, read_options=read, parse_options=parse, convert_options=convert) as batches,
            ):
                yield from batches
        except FileError as error:
            if isinstance(error.__cause__, pa.ArrowInvalid):
                raise FileError(self._fault() or str(error)) from error.__cause__
            raise

    def _fault(self) -> str:
        """Go through the file again, row by row, and say which line is the first that breaks the table."""
        lines = chain.from_iterable(io.StringIO(b.decode(), newline="") for b in line_blocks(self.file, []))
        reader = csv.reader(lines, delimiter=self._dialect.delimiter, strict=True)
        name, expected, begin = self.file.name, len(self.names), 1
        usual = csv.field_size_limit(LONGEST_LINE)  # of the whole process: put back below
        try:
            for row in reader:
                if sum(map(len, row)) > self._block:
                    return (
                        f"{name}: the row in line {begin} has {sum(map(len, row)) / 1e6:,.1f} MB, more than the "
                        f"{self._block >> 20} MB that a row may have; shorten its longest cell, or leave out that column."
                    )
                if row and len(row) != expected:
                    return (
                        f"{name}: line {begin} has {len(row)} fields where {expected} are expected, as in the first row; "
                        f"fix the line, or quote fields that contain {self._dialect.delimiter!r}."
                    )
                begin = reader.line_num + 1
        except csv.Error:
            return f"{name}: the row that begins in line {begin} does not end; a quote in it is probably not closed."
        finally:
            csv.field_size_limit(usual)
        return ""


def trimmed(column: Any) -> Any:
    """Strip white space, and make missing values null."""
    column = pc.ascii_trim_whitespace(column)
    return pc.if_else(pc.is_in(column, value_set=MISSING_ARRAY), pa.scalar(None, pa.string()), column)


def _without_blank_start(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Take off blank lines before the header: pyarrow would count the first of them as the header."""
    started = False
    for block in blocks:
        kept = block if started else BLANK_LINES.sub(b"", block, count=1)
        started = started or bool(kept)
        if kept:
            yield kept


def _first_lines(file: OpenedFile, notes: list[Note]) -> str:
    """Return whole lines from the start of the file."""
    block = next(_without_blank_start(line_blocks(file, notes)), b"")
    if len(block) > HEAD:
        block = block[: block.rfind(b"\n", 0, HEAD) + 1] or b"\n".join(block.split(b"\n", 3)[:3])
    if not block.strip():
        msg = f"{file.name}: has only blank lines; expected a table with a header and rows."
        raise FileError(msg)
    return block.decode()


@dataclass(frozen=True)
class Dialect:
    r"""How the rows of a CSV file are written.

    Parameters
    ----------
    delimiter : str
        One character.
    decimal : str
        "." or ",".
    header : tuple of str
        The names in the first row, or empty if the first row holds values.
    n_fields : int
        Fields in the first row.
    """

    delimiter: str
    decimal: str
    header: tuple[str, ...]
    n_fields: int


def dialect_of(head: str, delimiters: str = DELIMITERS) -> Dialect:
    """Guess the dialect from the first lines of a file."""
    parsed = {delimiter: _rows(head, delimiter) for delimiter in delimiters}
    if " " in parsed and len({len(row) for row in parsed[" "]}) > 1:
        parsed[" "] = []  # spaces between words split rows, but not into equally many fields
    best = max(delimiters, key=lambda delimiter: _agreement(parsed[delimiter]))
    if _agreement(parsed[best]) == 0.0:
        best = "," if "," in parsed else delimiters[0]
    rows = parsed[best] or _rows(head, best)
    fields = [MARKS.sub(r"\1", cell) for row in rows[1:] for cell in row] if best == ";" else []
    comma = any(map(DECIMAL_COMMA.fullmatch, fields)) and not any(map(_has_decimal_point, fields))
    if comma:
        rows = [
            [cell.replace(".", "").replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell for cell in row] for row in rows
        ]
    first = rows[0] if rows else []
    header = tuple(first) if is_header(rows) else ()
    return Dialect(best, "," if comma else ".", header, len(first))


def _rows(head: str, delimiter: str) -> list[list[str]]:
    """Split lines into rows of trimmed cells; the csv module stops where a field is beyond its limit."""
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows.extend([cell.strip() for cell in row] for row in csv.reader(io.StringIO(head, newline=""), delimiter=delimiter))
    return [row for row in rows if row]


def _agreement(rows: list[list[str]]) -> float:
    """Return the share of rows that have the commonest number of fields, or 0 if that is one field.

    Nine tenths count as all: a header without decimal commas or one broken row must not decide.
    """
    if not rows:
        return 0.0
    (fields, count), *_ = Counter(map(len, rows)).most_common(1)
    share = count / len(rows) if fields > 1 else 0.0
    return 1.0 if share >= 0.9 else share


def _has_decimal_point(cell: str) -> bool:
    """Tell whether a cell is a number whose point cannot group thousands."""
    return "." in cell and _is_number(cell) and not GROUPED.fullmatch(cell)


def _is_number(cell: str) -> bool:
    return (NUMBER.fullmatch(cell) or NUMBER.fullmatch(MARKS.sub(r"\1", cell))) is not None  # most have no marks


def is_header(rows: list[list[str]]) -> bool:
    """Tell whether the first row names the columns: words above numbers, or words that never come again.

    Columns that pandas named by their place, 0, 1, 2, ..., count as named if there are too many for a coincidence.
    """
    if not rows:
        return False
    first, rest = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    places = first if first[0] else first[1:]
    if places == [str(i) for i in range(len(places))] and (len(places) > 4 or not first[0]):
        return True
    if not rest:
        return not any(map(_is_number, first))
    columns = [[cell for cell in column if cell not in MISSING] for column in zip(*rest, strict=True)]
    numeric = [bool(column) and all(map(_is_number, column)) for column in columns]
    above = [_is_number(cell) for cell, is_numeric in zip(first, numeric, strict=True) if is_numeric]
    named = [cell not in MISSING for cell, is_numeric in zip(first, numeric, strict=True) if is_numeric]
    words = sum(name and not number for name, number in zip(named, above, strict=True))
    if words or any(above):
        return words > sum(above)
    if any(map(_is_number, first)) or any(cell and is_numeric for cell, is_numeric in zip(first, numeric, strict=True)):
        return False
    names = [cell for cell in first if cell]  # columns may be nameless
    new = not any(cell in column for cell, column in zip(first, columns, strict=True))
    return new and 0 < len(set(names)) == len(names)
