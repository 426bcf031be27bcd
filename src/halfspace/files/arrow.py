"""Parquet, Arrow files (Feather version 2) and Arrow streams, by pyarrow in batches; the columns bring their types."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from halfspace.files.kinds import concatenated, plain_schema, unique_names
from halfspace.files.opening import OpenedFile, admit_columns, explained
from halfspace.files.sampling import Piece
from halfspace.notes import Note

__all__ = ["ArrowReader", "ParquetReader", "TypedReader"]

CELLS = 1 << 24
"""Maximum number of values in a batch, so that very wide tables come in few rows."""


class TypedReader:
    """Read batches that have types; see `halfspace.files.reading.Reader` for what the members mean."""

    settled = True
    details: tuple[str, ...] = ()

    def __init__(self, file: OpenedFile, schema: Any) -> None:
        self.file = file
        self.notes = list[Note]()
        self.names: tuple[str, ...]
        admit_columns(len(schema), file.name)
        every = unique_names(schema.names, self.notes)
        self._stored = pa.schema([field.with_name(name) for field, name in zip(schema, every, strict=True)])
        self._plain = plain_schema(self._stored, self.notes)
        self.names = tuple(self._plain.names)

    def batches(self, batch_rows: int) -> Iterator[Any]:
        """Yield record batches of at most so many rows."""
        raise NotImplementedError

    def pieces(self, batch_rows: int) -> Iterator[Piece]:
        """Yield the rows as tables of plain types."""
        fitting = max(1, min(batch_rows, CELLS // max(1, len(self.names))))
        for batch in self.batches(fitting):
            with explained(self.file.name, "readable"):
                table = pa.Table.from_batches([batch]).rename_columns(self._stored.names)
                yield Piece(table.select(self.names).cast(self._plain, safe=False))

    def join(self, pieces: list[Any]) -> Any:
        """Return one table."""
        return concatenated(pieces) if pieces else self._plain.empty_table()

    def cleaned(self, column: Any) -> Any:
        """Return a column of a piece with all that is missing in it null."""
        if not pa.types.is_floating(column.type):
            return column
        return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)


class ParquetReader(TypedReader):
    """Read a Parquet file."""

    def __init__(self, file: OpenedFile) -> None:
        with explained(file.name, "Parquet"), pq.ParquetFile(file.path) as parquet:
            super().__init__(file, parquet.schema_arrow)

    def batches(self, batch_rows: int) -> Iterator[Any]:
        """Yield record batches of at most so many rows."""
        with explained(self.file.name, "Parquet"), pq.ParquetFile(self.file.path, memory_map=False) as parquet:
            yield from parquet.iter_batches(batch_rows)


class ArrowReader(TypedReader):
    """Read an Arrow file or stream."""

    def __init__(self, file: OpenedFile) -> None:
        with _opened(file) as (schema, _):
            super().__init__(file, schema)

    def batches(self, batch_rows: int) -> Iterator[Any]:
        """Yield record batches of at most so many rows, each checked: a damaged file must not be trusted with memory."""
        with _opened(self.file) as (_, stored):
            for batch in stored:
                batch.validate(full=True)
                for first in range(0, batch.num_rows, batch_rows):
                    yield batch.slice(first, batch_rows)


@contextmanager
def _opened(file: OpenedFile) -> Iterator[tuple[Any, Iterator[Any]]]:
    """Open either kind; give its schema and its batches."""
    is_file = file.head(6) == b"ARROW1"
    with explained(file.name, "Arrow"), pa.OSFile(str(file.path)) as source:
        reader = pa.ipc.open_file(source) if is_file else pa.ipc.open_stream(source)
        yield reader.schema, map(reader.get_batch, range(reader.num_record_batches)) if is_file else iter(reader)
