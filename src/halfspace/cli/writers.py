"""Predictions out: CSV, Parquet or JSON lines, a batch at a time."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Protocol

import pyarrow as pa
from pyarrow import csv, parquet

from halfspace._text import plain
from halfspace.cli.frame import refuse

__all__ = ["Writer", "writer_for"]


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


def writer_for(name: str, file: IO[bytes]) -> Writer:
    """Return the writer for a file name.

    Examples
    --------
    >>> import io
    >>> page = io.BytesIO()
    >>> writer = writer_for("out.csv", page)
    >>> writer.write(pa.table({"row": [0, 1], "prediction": ["a", "b"]}))
    >>> writer.close()
    >>> page.getvalue().decode().split()
    ['"row","prediction"', '0,"a"', '1,"b"']
    """
    suffix = Path(name).suffix.lower()
    if suffix not in _KINDS:
        refuse(f"predictions are written as {', '.join(_KINDS)}, not {suffix or 'a file without a suffix'!r}")
    return _KINDS[suffix](file)
