"""The journal of a mail filter: what it has learnt, message by message, in SQLite: the truth, from which all else is rebuilt.

A message is a row of `learnt` (small: its id, label, score before it was learnt, time) and a row of `content` (its features as
packed differences, and the message itself where it is kept); `bulk` has the numbers of those that were trained in bulk. A row
is there or not there, never half, and is on the disk when `append` returns: write-ahead log, `synchronous=FULL`. Numbers only
ever rise, so that "all up to number N" means one thing.
"""

import os
import sqlite3
import struct
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from halfspace.mail.hashing import SLOT_BITS

__all__ = ["Entry", "Journal", "Known", "are_slots", "packed", "unpacked"]

Slots = NDArray[np.uint32]
"""Features of a message: rising numbers of slots."""

_TABLES = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS learnt (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, spam INTEGER NOT NULL, score REAL, at REAL NOT NULL);
CREATE INDEX IF NOT EXISTS by_id ON learnt (id);
CREATE TABLE IF NOT EXISTS content (number INTEGER PRIMARY KEY, features BLOB NOT NULL, message BLOB);
CREATE TABLE IF NOT EXISTS bulk (number INTEGER PRIMARY KEY);
"""
SLOTS = 1 << SLOT_BITS
DAMAGED = "the journal is damaged: the features of a message are none; put a copy of the state in its place, or train anew"
PAGE = 1024
"""Bytes of a page of the database: a message takes a few whole ones, so little is left empty, and a commit writes little."""


class Entry(NamedTuple):
    """A message to be written: its id, label, score before learning, features, and itself if it is kept."""

    id: str
    spam: bool
    score: float
    features: Slots
    message: bytes | None = None


class Known(NamedTuple):
    """A message that was learnt: its number and label."""

    number: int
    spam: bool


@njit(cache=True, nogil=True)
def _bits(features: Any, k: Any) -> Any:
    """Return differences in Rice's code: the part above the low k bits as so many zeros and a one, then the low bits."""
    n_bits, before = features.size * (k + 1), np.int64(0)
    for feature in features:
        n_bits += (np.int64(feature) - before) >> k
        before = np.int64(feature)
    out = np.zeros((n_bits + 7 >> 3) + 3, np.uint8)
    place, before = 0, np.int64(0)
    for feature in features:
        gap, before = np.int64(feature) - before, np.int64(feature)
        place += gap >> k
        word = (((gap & ((1 << k) - 1)) << 1) | 1) << (place & 7)
        for b in range(4):
            out[min((place >> 3) + b, out.size - 1)] |= np.uint8((word >> (8 * b)) & 255)
        place += k + 1
    return out


@njit(cache=True, nogil=True)
def _from_bits(data: Any, n: Any, k: Any) -> Any:
    """Return the sums of the numbers that `_bits` wrote."""
    out = np.empty(n, np.uint32)
    place, total, last = 0, np.int64(0), 8 * (data.size - 4)
    for j in range(n):
        while place < last and not (data[place >> 3] >> (place & 7)) & 1:
            total += np.int64(1) << k
            place += 1
        place = min(place + 1, last)
        b = place >> 3
        word = np.int64(data[b]) | np.int64(data[b + 1]) << 8 | np.int64(data[b + 2]) << 16 | np.int64(data[b + 3]) << 24
        total += (word >> (place & 7)) & ((np.int64(1) << k) - 1)
        place += k
        out[j] = total
    return out


def packed(features: Slots) -> bytes:
    """Return rising numbers in few bytes: their differences in Rice's code, which is nearly as short as can be for chance.

    Parameters
    ----------
    features : array of unsigned 32-bit integers, shape (n,)
        Strictly rising.

    Examples
    --------
    >>> unpacked(packed(np.array([3, 5, 300_000], np.uint32)))
    array([     3,      5, 300000], dtype=uint32)
    """
    k = max(0, (int(features[-1]) // features.size).bit_length() - 1) if features.size else 0
    return struct.pack("<IB", features.size, k) + _bits(features, k).tobytes()


def unpacked(data: bytes) -> Slots:
    """Return the numbers that `packed` turned into bytes; a ValueError if it did not."""
    n, k = struct.unpack_from("<IB", data) if len(data) >= 8 else (-1, 0)
    if not 0 <= n <= SLOTS or k > SLOT_BITS:
        raise ValueError(DAMAGED)
    found: Slots = _from_bits(np.frombuffer(data + b"\0", np.uint8, offset=5), n, k)
    if not are_slots(found):
        raise ValueError(DAMAGED)
    return found


def are_slots(found: Slots) -> bool:
    """Tell whether numbers rise and are those of slots."""
    return not found.size or (bool((found[1:] > found[:-1]).all()) and int(found[-1]) < SLOTS)


class Journal:
    """The rows in one database file.

    Parameters
    ----------
    path : path
        The file; it is made if there is none.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = Journal(Path(folder, "journal"))
    ...     numbers = journal.append([Entry("a", True, 0.5, np.array([3, 5], np.uint32))])
    ...     found = journal.find("a"), next(journal.rows())
    ...     journal.close()
    >>> found
    (Known(number=1, spam=True), (1, Entry(id='a', spam=True, score=0.5, features=array([3, 5], dtype=uint32), message=None)))
    """

    def __init__(self, path: Path) -> None:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))  # nobody else may read what was learnt
        self._data = sqlite3.connect(path, timeout=30.0, isolation_level=None)
        try:
            self._data.execute(f"PRAGMA page_size={PAGE}")
            self._data.execute("PRAGMA journal_mode=WAL")
            self._data.execute("PRAGMA synchronous=FULL")
            self._data.execute("PRAGMA wal_autocheckpoint=4000")
            self._data.executescript(_TABLES)
        except sqlite3.DatabaseError as error:
            msg = f"{path}: is damaged ({error}); put a copy of the state in its place, or remove the state and train anew"
            raise ValueError(msg) from error

    def close(self) -> None:
        """Write the log into the database and close it."""
        self._data.close()

    def about(self, name: str, value: Any = None) -> Any:
        """Return what is noted under a name, or None; with a value, note it first."""
        if value is not None:
            self._data.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, value))
        found = self._data.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
        return found[0] if found else None

    def append(self, entries: Iterable[Entry], *, bulk: bool = False) -> list[int]:
        """Write messages in one transaction; return their numbers once they are on the disk."""
        numbers = []
        with self._data:
            self._data.execute("BEGIN IMMEDIATE")
            for entry in entries:
                row = (entry.id, entry.spam, entry.score, time.time())
                number = self._data.execute("INSERT INTO learnt (id, spam, score, at) VALUES (?, ?, ?, ?)", row).lastrowid
                content = (number, packed(entry.features), entry.message)
                self._data.execute("INSERT INTO content VALUES (?, ?, ?)", content)
                numbers.append(int(number or 0))
            if bulk:
                self._data.executemany("INSERT INTO bulk VALUES (?)", ((number,) for number in numbers))
        return numbers

    def mix(self) -> bool:
        """Give the messages of the bulk training at the end, if they are of both classes, new numbers that mix these evenly.

        Each class keeps its order. Tell whether anything changed; weights of before are void then.
        """
        query = "SELECT coalesce(max(number), 0) FROM learnt WHERE number NOT IN (SELECT number FROM bulk)"
        single = self._data.execute(query).fetchone()
        query = "SELECT number, spam FROM learnt JOIN bulk USING (number) WHERE number > ? ORDER BY number"
        rows = self._data.execute(query, single).fetchall()
        classes = [[number for number, spam in rows if bool(spam) is label] for label in (False, True)]
        places = [((k + 0.5) / len(own), number) for own in classes for k, number in enumerate(own)]
        order = [number for _, number in sorted(places)]
        if order == [number for number, _ in rows] or not all(classes):
            return False
        with self._data:
            self._data.execute("BEGIN IMMEDIATE")
            first = self.last() + 1
            for table in ("learnt", "content", "bulk"):
                pairs = enumerate(order, first)
                self._data.executemany(f"UPDATE {table} SET number = ?1 WHERE number = ?2", pairs)  # noqa: S608  (our names)
            self.about("epoch", self.epoch() + 1)
        return True

    def remove(self, number: int) -> int:
        """Take out a message and return the new epoch: weights of another epoch may hold what is no longer here."""
        with self._data:
            self._data.execute("BEGIN IMMEDIATE")
            self._data.execute("DELETE FROM learnt WHERE number = ?", (number,))
            self._data.execute("DELETE FROM content WHERE number = ?", (number,))
            self._data.execute("DELETE FROM bulk WHERE number = ?", (number,))
            return int(self.about("epoch", self.epoch() + 1))

    def epoch(self) -> int:
        """Return how often messages were taken out."""
        return int(self.about("epoch") or 0)

    def find(self, key: str) -> Known | None:
        """Return the message known by an id, or None."""
        found = self._data.execute("SELECT number, spam FROM learnt WHERE id = ? ORDER BY number DESC", (key,)).fetchone()
        return Known(found[0], bool(found[1])) if found else None

    def last(self) -> int:
        """Return the largest number, 0 if there is none."""
        return int(self._data.execute("SELECT coalesce(max(number), 0) FROM learnt").fetchone()[0])

    def counts(self) -> tuple[int, int]:
        """Return how many ham and spam messages there are."""
        found = dict(self._data.execute("SELECT spam, count(*) FROM learnt GROUP BY spam"))
        return int(found.get(0, 0)), int(found.get(1, 0))

    def scores(self, after: int, last: int) -> list[tuple[float, bool]]:
        """Return score before learning and label of the messages after a number, up to another, in order."""
        query = "SELECT score, spam FROM learnt WHERE number > ? AND number <= ? ORDER BY number"
        return [(score, bool(spam)) for score, spam in self._data.execute(query, (after, last))]

    def recent(self, count: int) -> list[tuple[float, bool]]:
        """Return score before learning and label of the last messages, the last first."""
        query = "SELECT score, spam FROM learnt ORDER BY number DESC LIMIT ?"
        return [(score, bool(spam)) for score, spam in self._data.execute(query, (count,))]

    def rescore(self, scores: Iterable[tuple[int, float]]) -> None:
        """Write the scores that messages have in a replay."""
        with self._data:
            self._data.execute("BEGIN IMMEDIATE")
            self._data.executemany("UPDATE learnt SET score = ?2 WHERE number = ?1", scores)

    def rows(self, after: int = 0) -> Iterator[tuple[int, Entry]]:
        """Yield the messages after a number, in order, each with its number and without itself."""
        query = """SELECT number, id, spam, score, features FROM learnt JOIN content USING (number)
                   WHERE number > ? ORDER BY number"""
        for number, key, spam, score, features in self._data.execute(query, (after,)):
            yield number, Entry(key, bool(spam), score, unpacked(features))

    def known(self, number: int) -> tuple[bool, Slots]:
        """Return label and features of one message."""
        query = "SELECT spam, features FROM learnt JOIN content USING (number) WHERE number = ?"
        spam, features = self._data.execute(query, (number,)).fetchone()
        return bool(spam), unpacked(features)

    def messages(self) -> Iterator[tuple[int, bytes | None]]:
        """Yield number and message of all, in order; None where the message was not kept."""
        yield from self._data.execute("SELECT number, message FROM content ORDER BY number")

    def replace_features(self, changed: Iterable[tuple[int, Slots]], extractor: int) -> None:
        """Write features that another version of the extractor has found, by number; weights of before are void."""
        with self._data:
            self._data.execute("BEGIN IMMEDIATE")
            pairs = ((number, packed(features)) for number, features in changed)
            self._data.executemany("UPDATE content SET features = ?2 WHERE number = ?1", pairs)
            self.about("extractor", extractor)
            self.about("epoch", self.epoch() + 1)
