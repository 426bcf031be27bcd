"""CSV and TSV, by pyarrow in blocks: every value is read as text, and types are found from all rows (see `columns`).

White space around values is taken off; `columns.MISSING` lists the spellings of a missing value. Blank lines are skipped.
"""

import csv
import io
import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from halfspace.errors import FileError
from halfspace.files.columns import MISSING, Columns, concatenated, unique_names
from halfspace.files.dialect import DELIMITERS, dialect_of
from halfspace.files.opening import OpenedFile, explained
from halfspace.files.text import LineStream, line_blocks
from halfspace.files.values import Piece
from halfspace.notes import Note

__all__ = ["Reader"]

HEAD = 1 << 18
SMALLEST_BLOCK, LARGEST_BLOCK = 1 << 20, 64 << 20
MISSING_ARRAY = pa.array(MISSING)
BLANK_LINES = re.compile(rb"\A(?:[ \t]*\r?\n)+")


class Reader:
    """Read a CSV or TSV file; see `halfspace.files.reading.Reader` for what the members mean."""

    settled = False

    def __init__(self, file: OpenedFile) -> None:
        self._file = file
        self.notes: list[Note] = []
        delimiters = "\t" if any(s in file.name.lower() for s in (".tsv", ".tab")) else DELIMITERS
        head = _first_lines(file, self.notes)
        self._dialect = dialect_of(head, delimiters)
        # pyarrow holds some ten blocks at a time, and each costs a little per column: small ones, but of many rows.
        self._block = min(max(SMALLEST_BLOCK, 256 * max(map(len, head.splitlines()))), LARGEST_BLOCK)
        names = self._dialect.header
        if not names:
            names = tuple(f"x{i}" for i in range(self._dialect.n_fields))
            self.notes.append(Note("no header", detail=file.name))
        if self._dialect.decimal == ",":
            self.notes.append(Note("decimal comma"))
        self.names = tuple(unique_names(names, self.notes))
        self._columns = Columns(self._clean)

    @property
    def details(self) -> tuple[str, ...]:
        """How the rows are written."""
        return (f"delimiter {self._dialect.delimiter!r}",)

    def pieces(self, batch_rows: int) -> Iterator[Piece]:
        """Yield the rows as tables of text."""
        stream = LineStream(_without_blank_start(line_blocks(self._file, self.notes)))
        last = None
        for batch in self._batches(stream):
            last = batch
            self._columns.learn(batch)
            for first in range(0, batch.num_rows, batch_rows):
                yield Piece(pa.Table.from_batches([batch.slice(first, batch_rows)]))
        if stream.n_quotes % 2 and last is not None and "\n" in (last.column(last.num_columns - 1)[-1].as_py() or ""):
            raise FileError(self._fault())

    def join(self, pieces: list[Any]) -> Any:
        """Return one table with the types of the whole file."""
        return concatenated([self._columns.typed(pieces.pop(0)) for _ in range(len(pieces))])

    def cleaned(self, column: Any) -> Any:
        """Return a column of a piece with all that is missing in it null."""
        return self._clean(column)

    def keep_text(self, names: frozenset[str]) -> None:
        """Leave columns as text whatever is in them."""
        self._columns.texts = names

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
                explained(self._file.name, "a table in CSV"),
                pacsv.open_csv(stream, read_options=read, parse_options=parse, convert_options=convert) as batches,
            ):
                yield from batches
        except FileError as error:
            if isinstance(error.__cause__, pa.ArrowInvalid):
                raise FileError(self._fault() or str(error)) from error.__cause__
            raise

    def _fault(self) -> str:
        """Go through the file again, row by row, and say which line is the first that breaks the table."""
        lines = chain.from_iterable(io.StringIO(b.decode(), newline="") for b in line_blocks(self._file, []))
        reader = csv.reader(lines, delimiter=self._dialect.delimiter, strict=True)
        name, expected, begin = self._file.name, len(self.names), 1
        try:
            for row in reader:
                if row and len(row) != expected:
                    return (
                        f"{name}: line {begin} has {len(row)} fields where {expected} are expected, as in the first row; "
                        f"mend the line, or quote fields that contain {self._dialect.delimiter!r}."
                    )
                begin = reader.line_num + 1
        except csv.Error:
            return f"{name}: the row that begins in line {begin} does not end; a quote in it is probably not closed."
        return ""

    def _clean(self, column: Any) -> Any:
        """Take white space off, and make missing values null."""
        column = pc.ascii_trim_whitespace(column)
        if self._dialect.decimal == ",":
            grouped = pc.match_substring_regex(column, r"^[+-]?\d{1,3}(\.\d{3})+(,\d+)?$")
            column = pc.if_else(grouped, pc.replace_substring(column, ".", ""), column)
            column = pc.replace_substring_regex(column, r"^([+-]?\d+),(\d+)$", r"\1.\2")
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
