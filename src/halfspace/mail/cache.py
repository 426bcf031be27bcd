"""A learner on the disk: its arrays mapped from the weights' file, the messages it keeps for replay behind them.

A kept message is a record: strength, its cap, label, how many were learnt before it, its number in the journal, and the counts
of its slots as they were then, from which the frozen entries of its vector follow; its slots are in the journal.
"""

import math
import os
import struct
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from halfspace.mail.extraction import VERSION
from halfspace.mail.journal import Journal
from halfspace.mail.learner import SETTINGS, SLOT, Learner, Plane, logarithms, rarities
from halfspace.mail.weights import HEADER, LAYOUT, MAGIC, SIZE, SLOTS, WeightsFile, boot

__all__ = ["Cache", "Copy"]

RECORD = struct.Struct("<ddqqqq")
"""Strength, cap, label, position, number, bytes of the counts."""


def _small(counts: Any) -> bytes:
    """Return counts in few bytes: all low bytes, then all second ones, and so on, compressed."""
    planes = np.asarray(counts, np.uint32).view(np.uint8).reshape(-1, 4).T
    return zlib.compress(planes.tobytes(), 1)


def _counts_of(data: bytes) -> Any:
    """Return the counts of `_small`; none of no bytes."""
    if not data:
        return np.zeros(0, np.uint32)
    planes = np.frombuffer(zlib.decompress(data), np.uint8).reshape(4, -1)
    return np.ascontiguousarray(planes.T).view(np.uint32).ravel()


def _vector(logs: Any, n: int, counts: Any) -> Any:
    """Return the entries of a message that came after n others, from the counts of its slots then."""
    entries = np.empty(counts.size)
    length = rarities(logs, n, counts, entries)
    return (entries / (length or 1.0)).astype(np.float32)


class Kept(NamedTuple):
    """A kept message as it is stored: its number in the journal, where its record is, and its counts in few bytes."""

    number: int
    place: int
    counts: bytes


class Row(NamedTuple):
    """A kept message as the learner has it; slots and entries are empty if no replay shows it again."""

    cap: float
    label: int
    position: int
    slots: Any
    entries: Any


class Copy(NamedTuple):
    """A learner as it was after the message with a number, and what it kept."""

    number: int
    learner: Learner
    kept: list[Kept]


class Cache:
    """A learner that works in a file.

    Parameters
    ----------
    path : path
        The file of weights.
    journal : Journal
        Where the slots of kept messages are.

    Attributes
    ----------
    learner : Learner
        Its plane is the file: what it learns is seen by every process that has the file mapped.
    """

    def __init__(self, path: Path, journal: Journal) -> None:
        self.file = WeightsFile(str(path), writing=True)
        plane = Plane._make(map(np.asarray, self.file.arrays()))
        self.learner = Learner(SETTINGS, plane)
        self._kept: list[Kept] = []
        self._counts: list[bytes] = []
        self._written = np.zeros(0)
        self._done = 0
        if self.fits(journal.epoch()) and self.reread(journal):  # else it is rebuilt
            self.file["boot"] = boot()

    @staticmethod
    def make(path: Path, epoch: int) -> None:
        """Put a file of a filter that has learnt nothing in the place of the one that is there."""
        part = path.with_name(f"{path.name}.part")
        part.unlink(missing_ok=True)
        part.touch(mode=0o600)
        with part.open("wb") as out:
            out.seek(HEADER)
            empty = np.zeros(SLOTS, SLOT)
            empty["squares"] = SETTINGS.start
            out.write(empty.tobytes())
        file = WeightsFile(str(part), writing=True)
        file["magic"], file["layout"], file["extractor"], file["epoch"] = MAGIC, LAYOUT, VERSION, epoch
        file["boot"], file["end"] = boot(), SIZE
        file.note(promise_1=math.inf, promise_05=math.inf, promise_01=math.inf)
        file.close()
        part.replace(path)

    def fits(self, epoch: int) -> bool:
        """Tell whether the file is whole, in its place, and of the journal's epoch and today's features."""
        file = self.file
        return file.whole() and not file.replaced() and file["epoch"] == epoch and file["extractor"] == VERSION

    def current(self) -> bool:
        """Tell whether nobody else has learnt since we looked."""
        return self.file["done"] == self._done

    def reread(self, journal: Journal) -> bool:
        """Take over what other processes have learnt: the plane is shared, the kept messages are read.

        Records that are damaged are none of ours: then the file is torn, and False returned.
        """
        try:
            self._reread(journal)
        except (ArithmeticError, LookupError, MemoryError, OSError, TypeError, ValueError, struct.error, zlib.error):
            self.file["begun"] = self.file["done"] + 1
            return False
        return True

    def _reread(self, journal: Journal) -> None:
        data = os.pread(self.file.number, self.file["end"] - SIZE, SIZE)
        strengths, rows, place = [], [], 0
        logs = logarithms(2 * int(self.file.number_of("n")) + 3)
        held = self.learner.held_from(self.file["kept"])
        for k in range(self.file["kept"]):
            strength, cap, label, position, number, size = RECORD.unpack_from(data, place)
            strengths.append(strength)
            if k >= len(self._kept):
                counts = data[place + RECORD.size : place + RECORD.size + size]
                slots = journal.known(number)[1] if k >= held else np.zeros(0, np.uint32)
                entries = _vector(logs, position, _counts_of(counts if k >= held else b""))
                rows.append(Row(cap, label, position, slots, entries))
                self._kept.append(Kept(number, SIZE + place, counts))
            place += RECORD.size + size
        self._extend(rows)
        self.learner.kept.strengths[: len(strengths)] = strengths
        self.learner.n = int(self.file.number_of("n"))
        self._written, self._done = np.array(strengths), self.file["done"]

    def _extend(self, rows: list[Row]) -> None:
        """Append kept messages to those of the learner."""
        arrays = self.learner.to_arrays()
        more = {
            "strengths": np.zeros(len(rows)),
            "caps": [row.cap for row in rows],
            "labels": [row.label for row in rows],
            "numbers": [row.position for row in rows],
            "starts": arrays["kept_starts"][-1] + np.cumsum([row.slots.size for row in rows], dtype=np.int64),
            "slots": np.concatenate([np.zeros(0, np.uint32), *(row.slots for row in rows)]),
            "entries": np.concatenate([np.zeros(0, np.float32), *(row.entries for row in rows)]),
        }
        for name, new in more.items():
            old = arrays[f"kept_{name}"]
            arrays[f"kept_{name}"] = np.concatenate([old, np.asarray(new, old.dtype)])
        self.learner = Learner.from_arrays(arrays, self.learner.settings)
        self.learner.let_go()

    def learn(self, slots: Any, *, spam: bool) -> float:
        """Learn a message; the file is torn until `settle`. Return the score before."""
        self.file["begun"] = self.file["done"] + 1
        n_kept = self.learner.n_kept
        score = self.learner.learn(slots, 1 if spam else -1)
        if self.learner.n_kept > n_kept:
            self._counts.append(_small(self.learner.plane.counts[slots] - np.uint32(1)))  # as they were before it
        return score

    def settle(self, first: int, numbers: list[int], **values: float) -> None:
        """Write what was learnt since the position `first`, of messages with these numbers, and the filter's own numbers."""
        kept, n_kept = self.learner.kept, self.learner.n_kept
        for k in np.flatnonzero(self._written != kept.strengths[: self._written.size]).tolist():
            os.pwrite(self.file.number, struct.pack("<d", kept.strengths[k]), self._kept[k].place)
        for k, counts in enumerate(self._counts, len(self._kept)):
            self._append(k, numbers[int(kept.numbers[k]) - first], counts)
        self._counts = []
        self._written = kept.strengths[:n_kept].copy()
        self.file.note(n=self.learner.n, **values)
        self._done = numbers[-1]
        self.file["begun"] = self._done
        self.file["done"] = self._done

    def _append(self, k: int, number: int, counts: bytes) -> None:
        """Write the record of kept message k."""
        kept, end = self.learner.kept, self.file["end"]
        about = int(kept.labels[k]), int(kept.numbers[k]), number, len(counts)
        record = RECORD.pack(kept.strengths[k], kept.caps[k], *about)
        os.pwrite(self.file.number, record + counts, end)
        self._kept.append(Kept(number, end, counts))
        self.file["kept"], self.file["end"] = len(self._kept), end + len(record) + len(counts)

    def subtract(self, number: int, slots: Any) -> None:
        """Take the own share of a message out of the plane at once; what later steps owe to it goes with the replay."""
        rows = self.learner.kept
        for k in [k for k, kept in enumerate(self._kept) if kept.number == number]:
            position = int(rows.numbers[k])
            entries = _vector(logarithms(2 * position + 3), position, _counts_of(self._kept[k].counts))
            self.learner.plane.weights[slots] -= (rows.strengths[k] * rows.labels[k] * entries).astype(np.float32)

    def copy(self) -> Copy:
        """Return the learner as it is now."""
        return Copy(self._done, self.learner.copy(), self._kept[: self.learner.n_kept])

    def restore(self, copy: Copy, **values: float) -> None:
        """Make an empty file that of a copy."""
        self.file["begun"] = copy.number
        for mine, other in zip(self.learner.plane, copy.learner.plane, strict=True):
            mine[:] = other
        arrays = {**copy.learner.to_arrays(), **self.learner.plane._asdict()}
        self.learner = Learner.from_arrays(arrays, self.learner.settings)
        for k, kept in enumerate(copy.kept):
            self._append(k, kept.number, kept.counts)
        self._written = self.learner.kept.strengths[: self.learner.n_kept].copy()
        self.file.note(n=self.learner.n, **values)
        self._done = self.file["done"] = copy.number

    def move(self, path: Path) -> None:
        """Take the place of another file."""
        os.replace(self.file.path, path)  # noqa: PTH105  (its name is kept as text)
        self.file.path = str(path)

    def close(self, *, sync: bool) -> None:
        """Close the file; put it on the disk if that is worth the time."""
        if sync and self.file.whole():
            self.file.sync()
        self.file.close()
