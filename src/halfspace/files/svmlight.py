"""svmlight (libsvm) text: `label index:value index:value ... # comment`, indices from 0 or from 1.

As in scikit-learn, indices count from 1 unless the file has an index 0. They need not ascend, but must not come twice in a row;
blank lines and comments are skipped, `qid` is ignored with a note. Every number is the double nearest to its text.
"""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, vstack

from halfspace.errors import FileError
from halfspace.files.opening import OpenedFile
from halfspace.files.svmlight_lines import FINE, HUGE, LARGEST_INDEX, MALFORMED, Room, room_for, scan
from halfspace.files.text import line_blocks
from halfspace.files.values import Piece
from halfspace.notes import Note

__all__ = ["Reader"]

TOKEN = re.compile(rb"[^\s#]+")
FAULTS = {
    MALFORMED: "expected 'index:value' with a whole index of at least 0",
    HUGE: f"the index is above the limit {LARGEST_INDEX}",
}


class Reader:
    """Read svmlight text; see `halfspace.files.reading.Reader` for what the members mean."""

    settled = False
    names: tuple[str, ...] = ()

    def __init__(self, file: OpenedFile) -> None:
        self._file = file
        self.notes: list[Note] = []
        self._lowest, self._highest = LARGEST_INDEX, -1
        self.first_index: int | None = None

    @property
    def _base(self) -> int:
        """The number of the first column, 0 or 1: as told, or 0 if it occurs."""
        if self.first_index is None:
            return int(0 < self._lowest <= self._highest)
        if self._lowest < self.first_index:
            msg = f"{self._file.name}: index {self._lowest} occurs, but columns are to be counted from {self.first_index}."
            raise FileError(msg)
        return self.first_index

    @property
    def details(self) -> tuple[str, ...]:
        """Where indices begin."""
        return (f"indices from {self._base}",)

    def pieces(self, batch_rows: int) -> Iterator[Piece]:
        """Yield rows with their labels; columns are numbered as in the file."""
        line = 1
        for block in line_blocks(self._file, self.notes):
            text = block if b"\n" in block else block.replace(b"\r", b"\n")
            text = text if text.endswith(b"\n") else text + b"\n"
            X, y, n_lines = self._parsed(text, line)
            line += n_lines
            for first in range(0, y.size, batch_rows):
                rows = slice(first, first + batch_rows)
                yield Piece(X if y.size <= batch_rows else X[rows], y[rows])

    def _parsed(self, text: bytes, line: int) -> tuple[Any, Any, int]:
        """Parse whole lines, the first of which has number `line`."""
        room = room_for(text)
        found = scan(np.frombuffer(text, dtype=np.uint8), room)
        if found.fault != FINE:
            raise FileError(self._sentence(text, found.place, line, FAULTS[found.fault]))
        if found.any_qid:
            self.notes.append(Note("query numbers"))
        for slot, place in room.hard[: found.n_hard].tolist():
            self._decide(room, text, slot, place, line)
        m, n = found.n_entries, found.n_rows
        values, indices = room.values[:m].view(np.float64), room.indices[:m]
        if m:
            self._lowest, self._highest = min(self._lowest, int(indices.min())), max(self._highest, int(indices.max()))
        X = csr_matrix((values, indices, room.indptr[: n + 1]), shape=(n, min(self._highest, LARGEST_INDEX - 1) + 1))
        if not X.has_canonical_format:
            self._sort(X, room, text, line)
        return X, room.labels[:n].view(np.float64), found.n_lines

    def _decide(self, room: Room, text: bytes, slot: int, place: int, line: int) -> None:
        """Let Python read a number that the compiled code left open."""
        token = TOKEN.match(text, place)
        try:
            number = float(token.group()) if token else float("")
        except ValueError:
            what = "expected a label" if slot < 0 else "expected a number after the colon"
            raise FileError(self._sentence(text, place, line, what)) from None
        part, slot = (room.values, slot) if slot >= 0 else (room.labels, -1 - slot)
        part.view(np.float64)[slot] = number

    def _sort(self, X: Any, room: Room, text: bytes, line: int) -> None:
        """Sort the indices of all rows; refuse one that comes twice."""
        X.sort_indices()
        same = np.flatnonzero(np.diff(X.indices) == 0)
        row = np.searchsorted(X.indptr, same, side="right") - 1
        inside = same + 1 < X.indptr[row + 1]
        if inside.any():
            place = int(room.begins[row[inside][0]])
            raise FileError(self._sentence(text, place, line, f"index {X.indices[same[inside][0]]} comes twice in this row"))

    def _sentence(self, text: bytes, place: int, line: int, what: str) -> str:
        """Say what is wrong in which line."""
        token = TOKEN.match(text, place)
        came = (token.group() if token else b"")[:40].decode(errors="replace")
        line += text.count(b"\n", 0, place)
        return f"{self._file.name}: line {line}: {what}. Got {came!r} instead."

    def cleaned(self, column: Any) -> Any:
        """Return the column: the format names none, so this is never asked."""
        return column

    def join(self, pieces: list[Any]) -> Any:
        """Return one CSR matrix whose columns count from 0, as wide as the largest index of the file."""
        base = self._base
        width = self._highest + 1 - base
        if width > LARGEST_INDEX:
            msg = f"{self._file.name}: index {self._highest} makes {width} columns; the limit is {LARGEST_INDEX}."
            raise FileError(msg)
        parts = [csr_matrix((X.data, X.indices - np.int32(base), X.indptr), shape=(X.shape[0], width)) for X in pieces]
        return parts[0] if len(parts) == 1 else vstack(parts, format="csr")
