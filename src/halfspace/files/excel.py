"""Excel workbooks (.xlsx, .xlsm), one sheet, by fastexcel: every cell is read as text, and types are found from all rows.

The first sheet is read unless the name says otherwise, as in `book.xlsx#Prices`. The header is the first row of which more than
half of the cells are filled, if it reads like one; titles above it and empty rows are skipped. Dates come in ISO form, numbers
with every bit, and error values such as #DIV/0! are missing.
"""

import re
import zipfile
from collections.abc import Iterator
from typing import Any

import fastexcel
import pyarrow as pa
import pyarrow.compute as pc

from halfspace._memory import admit
from halfspace._text import listed
from halfspace.errors import FileError
from halfspace.files.csv import is_header, trimmed
from halfspace.files.kinds import NUMBER, Columns, TextReader, lenient, unique_names
from halfspace.files.opening import OpenedFile, admit_columns, explained
from halfspace.files.sampling import Piece
from halfspace.notes import Note

__all__ = ["Reader"]

ERRORS = pa.array(["#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!"])
PLACE = re.compile(rb"""\sr\s*=\s*["']\s*([A-Za-z]*)(\d+)""")
"""The place that a row or a cell says it has."""
ROW, CELL = re.compile(rb"<(?:\w+:)?row\b"), re.compile(rb"<(?:\w+:)?c\b")
UNPACKED_BYTES, CELL_BYTES = 6, 100
"""Bytes that a byte of unpacked XML takes, and a cell of a sheet, be it empty: as a value, and twice as a column's text."""
HEAD = 100
"""Rows among which the header is looked for, and compared with those below it."""


class Reader(TextReader):
    """Read a sheet."""

    def __init__(self, file: OpenedFile) -> None:
        super().__init__(file)
        with explained(file.name, "an Excel workbook"), zipfile.ZipFile(file.path) as archive:
            _admit(file.name, archive)
        self._sheet, self._rows = self._load()
        header, first = self._header()
        self._rows = self._rows.slice(header + bool(first))
        names = [name or "" for name in first] or [f"x{i}" for i in range(self._rows.num_columns)]
        if not first:
            self.notes.append(Note("no header", detail=file.name))
        self.names = tuple(unique_names(names, self.notes))
        self.columns = Columns(self.notes, _cleaned)
        self.details = (f"sheet {self._sheet!r}", f"{'header in' if first else 'from'} row {header + 1}")

    def _load(self) -> tuple[str, Any]:
        """Return the sheet's name and its cells as a table of text, from the sheet's first row on."""
        try:
            with explained(self.file.name, "an Excel workbook"):
                book: Any = fastexcel.read_excel(self.file.path)
                name = self._chosen(book.sheet_names)
                options = {"header_row": None, "skip_rows": 0, "schema_sample_rows": 1}
                text, numbers = (book.load_sheet(name, dtypes=kind, **options).to_arrow() for kind in ("string", "float"))
                return name, pa.table(list(map(_exact, text.columns, numbers.columns)), names=text.schema.names)
        except BaseException as error:
            if type(error).__name__ != "PanicException" and not isinstance(error, fastexcel.FastExcelError):
                raise
            reason = " ".join(str(error).split())[:200]
            msg = f"{self.file.name}: the workbook is damaged or encrypted ({reason}). Save it again without a password."
            raise FileError(msg) from None

    def _chosen(self, sheets: list[str]) -> str:
        """Return the sheet asked for, or the first."""
        if not sheets or (self.file.sheet or sheets[0]) not in sheets:
            msg = f"{self.file.name}: there is no sheet {self.file.sheet!r}; the sheets are: {listed(sheets, 20, repr)}."
            raise FileError(msg)
        if self.file.sheet is None and len(sheets) > 1:
            self.notes.append(Note("sheet", sheets[0], detail=listed(sheets[1:], show=repr)))
        return self.file.sheet or sheets[0]

    def _header(self) -> tuple[int, list[str | None]]:
        """Return the place of the table's first row, and its names if it is a header."""
        head = [[value and value.strip() for value in row.values()] for row in self._rows.slice(0, HEAD).to_pylist()]
        filled = [sum(map(bool, row)) for row in head]
        if not any(filled):
            msg = f"{self.file.name}: the first {HEAD} rows of sheet {self._sheet!r} are empty; expected a table with a header."
            raise FileError(msg)
        place = next(i for i, n in enumerate(filled) if 2 * n > min(max(filled), len(head[0])))
        table = [[value or "" for value in row] for row, n in zip(head[place:], filled[place:], strict=True) if n]
        return place, head[place] if is_header(table) else []

    def pieces(self, batch_rows: int) -> Iterator[Piece]:
        """Yield the rows that are not empty, as tables of text."""
        for first in range(0, self._rows.num_rows, batch_rows):
            block = self._rows.slice(first, batch_rows).rename_columns(self.names)
            filled = pc.greater(pc.binary_length(pc.binary_join_element_wise(*block.columns, "", null_handling="replace")), 0)
            block = block.filter(filled)
            self.columns.learn(block)
            yield Piece(block)


def _admit(name: str, archive: zipfile.ZipFile) -> None:
    """Refuse a workbook that would not fit: its text, unpacked, and its widest sheet, whose empty cells need memory too."""
    remedy, parts = "save the sheet as CSV", archive.infolist()
    admit(name, UNPACKED_BYTES * sum(part.file_size for part in parts), "the unpacked workbook", remedy)
    for part in parts:
        if part.filename != "xl/sharedStrings.xml":  # the workbook says which of the others are sheets
            rows, columns = _extent(archive.read(part))
            admit_columns(columns, name)
            admit(name, CELL_BYTES * rows * columns, f"a sheet of {rows:,} rows and {columns:,} columns", remedy)


def _extent(sheet: bytes) -> tuple[int, int]:
    """Return the last row and the last column of a sheet: where cells say that they are, or how many of a row do not say."""
    rows, letters, placed = 0, b"", 0
    for place in PLACE.finditer(sheet):
        rows, placed = max(rows, int(place[2][:18])), placed + bool(place[1])
        letters = max(letters, place[1][:9].upper(), key=lambda word: (len(word), word))
    last = 0
    for letter in letters:
        last = 26 * last + letter - ord("A") + 1
    if sum(1 for _ in CELL.finditer(sheet)) > placed:
        last = max(last, *(len(CELL.findall(row)) for row in ROW.split(sheet)))
    return rows, last


def _exact(text: Any, numbers: Any) -> Any:
    """Return cells as text that gives every number back: fastexcel rounds to nine decimals where it writes numbers as text."""
    rounded = pc.fill_null(pc.not_equal(lenient(text, NUMBER), numbers), fill_value=False)
    return pc.if_else(rounded, numbers.cast(pa.string()), text)


def _cleaned(column: Any) -> Any:
    """Strip white space, and make missing values and error values null."""
    column = trimmed(column)
    return pc.if_else(pc.is_in(column, value_set=ERRORS), pa.scalar(None, pa.string()), column)
