"""Parquet, Arrow files (Feather version 2) and Arrow streams, by pyarrow in batches; the columns bring their types."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from halfspace._memory import admit, room
from halfspace.files.kinds import concatenated, plain_schema, unique_names
from halfspace.files.opening import OpenedFile, admit_columns, explained
from halfspace.files.sampling import Piece
from halfspace.notes import Note

__all__ = ["ArrowReader", "ParquetReader", "TypedReader"]

CELLS = 1 << 24
"""Maximum number of values in a batch, so that very wide tables come in few rows."""
PIECE = 1 << 26
"""Bytes of rows handed on at a time."""


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
        for whole in self.batches(fitting):
            with explained(self.file.name, "readable"):
                step = max(1, whole.num_rows * PIECE // max(_written_out(whole), PIECE))
            for first in range(0, whole.num_rows, step):
                with explained(self.file.name, "readable"):
                    table = pa.Table.from_batches([whole.slice(first, step)]).rename_columns(self._stored.names)
                    yield Piece(table.select(self.names).cast(self._plain, safe=False))

    def join(self, pieces: list[Any]) -> Any:
        """Return one table."""
        return concatenated(pieces) if pieces else self._plain.empty_table()

    def cleaned(self, column: Any) -> Any:
        """Return a column of a piece with all that is missing in it null."""
        if not pa.types.is_floating(column.type):
            return column
        return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)


def _written_out(batch: Any) -> int:
    """Return the bytes of a batch once its dictionaries are written out: a long word may stand in every row."""
    total = int(batch.nbytes)
    for column in batch.columns:
        if pa.types.is_dictionary(column.type) and pa.types.is_string(column.type.value_type):
            total += pc.sum(pc.binary_length(column.dictionary).cast(pa.int64()).take(column.indices)).as_py() or 0
    return total


class ParquetReader(TypedReader):
    """Read a Parquet file; its text comes as dictionaries where it is stored so."""

    def __init__(self, file: OpenedFile) -> None:
        with explained(file.name, "Parquet"), pq.ParquetFile(file.path) as parquet:
            super().__init__(file, parquet.schema_arrow)
            self._texts = [field.name for field in parquet.schema_arrow if pa.types.is_string(field.type)]
            groups = [parquet.metadata.row_group(k) for k in range(parquet.metadata.num_row_groups)]
        self._row_bytes = max((group.total_byte_size / max(group.num_rows, 1) for group in groups), default=0.0)
        if 2 * max((group.total_byte_size for group in groups), default=0) > room():
            # Only then: pyarrow ends the process when asked for a column whose statistics contradict each other.
            pages = ((group.column(j).total_uncompressed_size for j in range(group.num_columns)) for group in groups)
            largest = max((size for sizes in pages for size in sizes), default=0)
            admit(file.name, 2 * largest, "its largest block of a column", "write it in smaller row groups")

    def batches(self, batch_rows: int) -> Iterator[Any]:
        """Yield record batches of at most so many rows, each checked: a code may name a word that its dictionary lacks."""
        fitting = max(1, min(batch_rows, int(PIECE / max(self._row_bytes, 1.0))))
        options = {"memory_map": False, "read_dictionary": self._texts}
        with explained(self.file.name, "Parquet"), pq.ParquetFile(self.file.path, **options) as parquet:
            for batch in parquet.iter_batches(fitting):
                batch.validate(full=True)
                yield batch


class ArrowReader(TypedReader):
    """Read an Arrow file or stream."""

    def __init__(self, file: OpenedFile) -> None:
        with explained(file.name, "Arrow"), pa.OSFile(str(file.path)) as source:
            admit(file.name, 2 * _largest_batch(source), "its largest batch", "write it in smaller batches")
        with _opened(file) as (schema, _):
            super().__init__(file, schema)

    def batches(self, batch_rows: int) -> Iterator[Any]:
        """Yield record batches of at most so many rows, each checked: a damaged file must not be trusted with memory."""
        with _opened(self.file) as (_, stored):
            for batch in stored:
                batch.validate(full=True)
                for first in range(0, batch.num_rows, batch_rows):
                    yield batch.slice(first, batch_rows)


def _largest_batch(source: Any) -> int:
    """Return the bytes of the largest batch once decompressed; 0 if they are not compressed, for then the file is as large."""
    source.seek(8 if source.read(6) == b"ARROW1" else 0)
    reader, largest = pa.ipc.MessageReader.open_stream(source), 0
    while True:
        try:
            message = reader.read_next_message()
        except StopIteration:
            return largest
        if message.type in {"record batch", "dictionary"}:
            sizes = _buffer_sizes(message)
            if not sizes:
                return largest
            largest = max(largest, sum(sizes))


def _buffer_sizes(message: Any) -> list[int]:
    """Return what the buffers of a compressed batch say of their sizes; nothing for a plain one.

    The header is a FlatBuffers table of Message.fbs: RecordBatch is {length, nodes, buffers, compression}, buffers are pairs of
    offset and length, and a compressed buffer begins with its size (-1: stored as it is).
    """
    header, body = memoryview(message.metadata), memoryview(message.body)

    def number(kind: str, at: int) -> int:
        return int(struct.unpack_from("<" + kind, header, at)[0])

    def field(table: int, slot: int) -> int:
        """Return the place of a field of a table, 0 if it is left out."""
        names = table - number("i", table)
        offset = number("H", names + 4 + 2 * slot) if 4 + 2 * slot < number("H", names) else 0
        return table + offset if offset else 0

    def follow(place: int) -> int:
        return place + number("I", place)

    batch = follow(field(follow(0), 2))
    if message.type == "dictionary":
        batch = follow(field(batch, 1))
    if not field(batch, 3):
        return []
    buffers, sizes = follow(field(batch, 2)), []
    for k in range(number("I", buffers)):
        offset, length = struct.unpack_from("<qq", header, buffers + 4 + 16 * k)
        stored = struct.unpack_from("<q", body, offset)[0] if length >= 8 else -1
        sizes.append(length if stored < 0 else stored)
    return sizes or [0]


@contextmanager
def _opened(file: OpenedFile) -> Iterator[tuple[Any, Iterator[Any]]]:
    """Open either kind; give its schema and its batches."""
    is_file = file.head(6) == b"ARROW1"
    with explained(file.name, "Arrow"), pa.OSFile(str(file.path)) as source:
        reader = pa.ipc.open_file(source) if is_file else pa.ipc.open_stream(source)
        yield reader.schema, map(reader.get_batch, range(reader.num_record_batches)) if is_file else iter(reader)
