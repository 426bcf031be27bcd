"""JSON lines: one object per line, keys are columns.

A key that a line lacks, null and NaN are missing values. Numbers keep their text until all rows are seen, so that a column is
typed by the whole file (see `columns`); strings are words even where they look like numbers. Columns with lists or objects in
them are left out with a note.
"""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from halfspace._json import json_reader
from halfspace.errors import FileError
from halfspace.files.kinds import Columns, TextReader
from halfspace.files.opening import OpenedFile, admit_columns
from halfspace.files.sampling import Piece
from halfspace.files.text import line_blocks
from halfspace.notes import Note

__all__ = ["Reader"]

CELLS = 1 << 22
"""Values of a piece: where every line has keys of its own, a table of many lines would be nearly all gaps."""
MANY_KEYS, FILLED = 20_000, 0.01
"""Columns from which a table with a smaller share of values than this is none."""


class _Number(str):
    """The text of a number."""

    __slots__ = ()


CONSTANTS = {"NaN": None, "Infinity": _Number("inf"), "-Infinity": _Number("-inf")}
parse = json_reader(parse_int=_Number, parse_float=_Number, parse_constant=CONSTANTS.__getitem__)


class Reader(TextReader):
    """Read JSON lines."""

    def __init__(self, file: OpenedFile) -> None:
        super().__init__(file)
        self.columns = Columns(self.notes)
        self._nested: set[str] = set()
        self._n_rows = self._n_values = 0
        self.names = ()

    def pieces(self, batch_rows: int) -> Iterator[Piece]:
        """Yield the rows as tables of text."""
        line = 1
        objects: list[dict[str, Any]] = []
        keys = set[str]()
        for block in line_blocks(self.file, self.notes, 1 << 20):
            # Only "\n" ends a line here: strings may hold other separators.
            for text in block.decode().removesuffix("\n").split("\n"):
                if text.strip():
                    objects.append(self._object(text, line))
                    keys.update(objects[-1])
                line += 1
                if len(objects) >= batch_rows or len(objects) * len(keys) > CELLS:
                    yield self._piece(objects)
                    objects, keys = [], set()
        if objects:
            yield self._piece(objects)

    def _object(self, text: str, line: int) -> dict[str, Any]:
        """Decode one line."""
        try:
            found = parse(text.strip())
        except ValueError as error:
            msg = f"{self.file.name}: line {line} is not JSON ({error}); expected one object per line."
            raise FileError(msg) from None
        if not isinstance(found, dict):
            msg = f"{self.file.name}: line {line} is a JSON {type(found).__name__}; expected one object per line."
            raise FileError(msg)
        return found

    def _piece(self, objects: list[dict[str, Any]]) -> Piece:
        """Make a table of text of some objects, and learn from it."""
        names = dict.fromkeys(key for found in objects for key in found)
        every = len(self.columns.kinds.keys() | names.keys())
        admit_columns(every, self.file.name)
        self._n_rows, self._n_values = self._n_rows + len(objects), self._n_values + sum(map(len, objects))
        if every > MANY_KEYS and self._n_values < FILLED * every * self._n_rows:
            msg = (
                f"{self.file.name}: has {every:,} different keys, hardly any of which repeat; expected the same keys in every "
            )
            raise FileError(msg + "line. Store many features of which a row has few as svmlight.")
        columns, texts = [], set()
        for name in names:
            values = [found.get(name) for found in objects]
            kinds = set(map(type, values))
            if kinds & {dict, list} and name not in self._nested:
                self._nested.add(name)
                self.notes.append(Note("nested", name, detail="lists or objects"))
            if str in kinds:
                texts.add(name)
            try:
                columns.append(pa.array(map(_text, values), pa.string()))
            except UnicodeEncodeError:
                msg = f"{self.file.name}: column {name!r} contains a lone surrogate such as \\ud800: not valid Unicode."
                raise FileError(msg) from None
        table = pa.table(columns, names=list(names)) if names else pa.table({"": pa.nulls(len(objects), pa.string())})
        self.columns.learn(table, frozenset(texts))
        self.names = tuple(name for name in self.columns.kinds if name not in self._nested)
        return Piece(table)


def _text(value: Any) -> str | None:
    """Return a plain JSON value as text; a list or object counts as missing."""
    if value is None or isinstance(value, (dict, list)):
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)
