"""Lines of svmlight text to the parts of a CSR matrix, in compiled code.

A line is `label index:value index:value ... # comment`, with `qid:number` allowed before the first index. What the compiled
code cannot decide by itself (numbers of more than 19 digits, nan) it lists as hard, and Python's `float` decides.
"""

from typing import Any, NamedTuple

import numpy as np

from halfspace.files.decimals import HASH, NINE, SPACE, ZERO, exactly, read_decimal

__all__ = ["FINE", "HUGE", "MALFORMED", "Found", "Room", "room_for", "scan"]

NEWLINE, COLON, SMALL_Q = (np.uint8(ord(c)) for c in "\n:q")
LARGEST_INDEX = 2**31 - 1
FINE, MALFORMED, HUGE = range(3)


class Room(NamedTuple):
    """Where the parts go; `hard` lists (slot, place in the text), labels with slots -1 - row."""

    labels: Any  # bits of doubles, (rows,)
    values: Any  # bits of doubles, (entries,)
    indices: Any  # int32, (entries,)
    indptr: Any  # int64, (rows + 1,)
    begins: Any  # int64, (rows,): where each row begins in the text
    hard: Any  # int64, (rows + entries, 2)


class Found(NamedTuple):
    """What a scan found; `place` is where the fault is, if there is one."""

    n_rows: int
    n_entries: int
    n_hard: int
    n_lines: int
    any_qid: bool
    fault: int
    place: int


def room_for(text: bytes) -> Room:
    r"""Make room for all that the text can hold.

    Parameters
    ----------
    text : bytes
        Whole lines.

    Returns
    -------
    Room
        Untouched memory costs nothing, so the bounds are generous.

    Examples
    --------
    >>> room_for(b"1 3:4\n").indices.shape
    (2,)
    """
    rows, entries = len(text) // 2 + 1, len(text) // 4 + 1  # "1\n" is the shortest row, " 1:2" the shortest entry
    return Room(
        np.empty(rows, dtype=np.uint64),
        np.empty(entries, dtype=np.uint64),
        np.empty(entries, dtype=np.int32),
        np.empty(rows + 1, dtype=np.int64),
        np.empty(rows, dtype=np.int64),
        np.empty((rows + entries, 2), dtype=np.int64),
    )


@exactly
def _after_blanks(text: Any, p: int) -> int:
    """Return the place of the next byte that is not blank, or of the line end."""
    while text[p] <= SPACE and text[p] != NEWLINE:
        p += 1
    return p


@exactly
def _after_token(text: Any, p: int) -> int:
    """Return the place after the word that stands at p."""
    while text[p] > SPACE and text[p] != HASH:
        p += 1
    return p


@exactly
def _read_index(text: Any, p: int) -> Any:
    """Read `digits:`; return the index, capped, and the place after the colon, or -1 if something else stands there."""
    index, begin = 0, p
    while ZERO <= text[p] <= NINE:
        index = min(index * 10 + int(text[p]) - 48, LARGEST_INDEX + 1)
        p += 1
    return index, p + 1 if p > begin and text[p] == COLON else -1


@exactly
def _scan_entries(text: Any, p: int, room: Room, entry: int, n_hard: int) -> Any:
    """Read the entries of one row; return where they end, the new counts, and the fault if there is one."""
    while text[p] != NEWLINE and text[p] != HASH:
        index, value_at = _read_index(text, p)
        if value_at < 0 or text[value_at] <= SPACE:
            return p, entry, n_hard, MALFORMED
        if index > LARGEST_INDEX:
            return p, entry, n_hard, HUGE
        room.indices[entry] = index
        room.values[entry], p, certain = read_decimal(text, value_at)
        if not certain:
            room.hard[n_hard, 0], room.hard[n_hard, 1] = entry, value_at
            n_hard += 1
            p = _after_token(text, value_at)
        entry += 1
        p = _after_blanks(text, p)
    return p, entry, n_hard, FINE


@exactly
def scan(text: Any, room: Room) -> Found:
    r"""Fill the room from the text.

    Parameters
    ----------
    text : ndarray of uint8
        Whole lines; the last byte is a line end.
    room : Room
        From `room_for`.

    Returns
    -------
    Found
        Counts, and the first fault.

    Examples
    --------
    >>> lines = b"+1 2:0.5 7:1e3\n-1 # nothing\n"
    >>> found = scan(np.frombuffer(lines, np.uint8), room_for(lines))
    >>> found.n_rows, found.n_entries
    (2, 2)
    """
    row, entry, n_hard, n_lines, any_qid, p = 0, 0, 0, 0, False, 0
    room.indptr[0] = 0
    while p < text.size:
        p = _after_blanks(text, p)
        if text[p] != NEWLINE and text[p] != HASH:
            room.begins[row] = p
            room.labels[row], _, certain = read_decimal(text, p)
            if not certain:
                room.hard[n_hard, 0], room.hard[n_hard, 1] = -1 - row, p
                n_hard += 1
            p = _after_blanks(text, _after_token(text, p))
            if text[p] == SMALL_Q:
                any_qid, p = True, _after_blanks(text, _after_token(text, p))
            p, entry, n_hard, fault = _scan_entries(text, p, room, entry, n_hard)
            if fault != FINE:
                return Found(row, entry, n_hard, n_lines, any_qid, fault, p)
            row += 1
            room.indptr[row] = entry
        while text[p] != NEWLINE:
            p += 1
        p += 1
        n_lines += 1
    return Found(row, entry, n_hard, n_lines, any_qid, FINE, 0)
