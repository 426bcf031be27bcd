"""Files the command writes: checked before the work begins, complete or absent when it ends; predictions a batch at a time."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, parquet

from halfspace._text import plain
from halfspace.cli.frame import refuse
from halfspace.modelfiles.writing import whole_file
from halfspace.notes import Note, total

__all__ = ["Writer", "check_outputs", "complete_file", "without_formulas", "writer_for"]

FORMULA, NUMBER = r"^[=+\-@\t\r\n]", r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
"""How cells begin that a spreadsheet runs, and those among them that are plain numbers all the same."""


def check_outputs(inputs: list[str | None], outputs: dict[str, str | None], *, devices: bool = False) -> None:
    """Refuse outputs that cannot be written, or that would overwrite an input or each other.

    An output that is renamed into place may not be a device or a pipe; others may (`devices`).
    """
    taken = [Path(name).resolve() for name in inputs if name not in {None, "-"}]
    for option, name in outputs.items():
        if name is None:
            continue
        path = Path(name)
        if name == "-":
            refuse(f"{option} - : give the name of a file")
        if path.resolve() in taken:
            refuse(f"{option} {path} would overwrite an input or another output; choose another name")
        if not path.parent.is_dir():
            refuse(f"{option} {path}: there is no folder {path.parent}; make it first")
        if path.is_dir():
            refuse(f"{option} {path} is a folder; give the name of a file")
        if not devices and path.exists() and not path.is_file():
            refuse(f"{option} {path} is a device or a pipe; give the name of a file")
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            refuse(f"{option} {path}: no permission to write there")
        taken.append(path.resolve())


@contextmanager
def complete_file(name: str) -> Iterator[BinaryIO]:
    """Open a file that gets its name only when it is complete; on failure what was there stays.

    Devices and pipes are written as they are: a rename would put a file in their place.
    """
    path = Path(name)
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    with whole_file(path) as file:
        yield file


class Writer(Protocol):
    """Takes tables one after another, all with the same columns."""

    def write(self, table: pa.Table) -> None:
        """Write the next rows."""

    def close(self) -> None:
        """Write what is left; the file itself stays open."""


class _ByArrow:
    """CSV or Parquet by pyarrow's writers, which want the columns before the first row."""

    def __init__(self, opened: Callable[[pa.Schema], Any]) -> None:
        self._opened = opened
        self._writer: Any = None

    def write(self, table: pa.Table) -> None:
        """Write the next rows."""
        if self._writer is None:
            self._writer = self._opened(table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        """Write what is left."""
        if self._writer is not None:
            self._writer.close()


class _Lines:
    """JSON lines: an object per row."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, table: pa.Table) -> None:
        """Write the next rows."""
        for row in table.to_pylist():
            self._file.write(json.dumps(plain(row)).encode() + b"\n")

    def close(self) -> None:
        """Nothing is left."""


_KINDS: dict[str, Callable[[Any], Writer]] = {
    ".csv": lambda file: _ByArrow(lambda schema: csv.CSVWriter(file, schema)),
    ".parquet": lambda file: _ByArrow(lambda schema: parquet.ParquetWriter(file, schema)),
    ".jsonl": _Lines,
}


def without_formulas(table: pa.Table, said: list[Note]) -> pa.Table:
    """Return a table whose text begins with an apostrophe where a spreadsheet would run it; how often goes to `said`."""
    for place, column in enumerate(table.columns):
        if not pa.types.is_string(column.type):
            continue
        runs = pc.and_not(pc.match_substring_regex(column, FORMULA), pc.match_substring_regex(column, NUMBER))
        count = pc.sum(runs).as_py() or 0
        if count:
            said[:] = total([*said, Note("guarded", table.column_names[place], count)])
            guarded = pc.if_else(runs, pc.binary_join_element_wise("'", column, ""), column)
            table = table.set_column(place, table.column_names[place], guarded)
    return table


def writer_for(name: str, file: IO[bytes]) -> Writer:
    """Return the writer for a file name."""
    suffix = Path(name).suffix.lower()
    if suffix not in _KINDS:
        refuse(f"predictions are written as {', '.join(_KINDS)}, not {suffix or 'a file without a suffix'!r}")
    return _KINDS[suffix](file)
