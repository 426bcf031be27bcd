"""Arrow files (Feather version 2) and Arrow streams, by pyarrow in batches; the columns bring their types."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from halfspace.files.opening import OpenedFile, explained
from halfspace.files.typed import TypedReader

__all__ = ["Reader"]


class Reader(TypedReader):
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
