"""What Parquet and Arrow share: columns with names and types, handed on in batches."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from halfspace.files.columns import concatenated, nothing_nested, unique_names
from halfspace.files.opening import OpenedFile, explained
from halfspace.files.values import Piece
from halfspace.notes import Note

__all__ = ["TypedReader"]

CELLS = 1 << 24
"""Most values in a batch, so that very wide tables come in few rows."""


class TypedReader:
    """Read batches that have types; see `halfspace.files.reading.Reader` for what the members mean."""

    settled = True
    details: tuple[str, ...] = ()

    def __init__(self, file: OpenedFile, schema: Any) -> None:
        self.file = file
        self.notes = list[Note]()
        self.names: tuple[str, ...]
        every = unique_names(schema.names, self.notes)
        self._stored = pa.schema([field.with_name(name) for field, name in zip(schema, every, strict=True)])
        names, self._plain = nothing_nested(self._stored, self.notes)
        self.names = tuple(names)

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
