"""Parquet, by pyarrow in batches; the columns bring their types."""

from collections.abc import Iterator
from typing import Any

import pyarrow.parquet as pq

from halfspace.files.opening import OpenedFile, explained
from halfspace.files.typed import TypedReader

__all__ = ["Reader"]


class Reader(TypedReader):
    """Read a Parquet file."""

    def __init__(self, file: OpenedFile) -> None:
        with explained(file.name, "Parquet"), pq.ParquetFile(file.path) as parquet:
            super().__init__(file, parquet.schema_arrow)

    def batches(self, batch_rows: int) -> Iterator[Any]:
        """Yield record batches of at most so many rows."""
        with explained(self.file.name, "Parquet"), pq.ParquetFile(self.file.path, memory_map=False) as parquet:
            yield from parquet.iter_batches(batch_rows)
