"""The weights of a mail filter as a file that is mapped into memory: a cache of what the journal says. Standard library only.

One process writes, under the lock of the state; any number read without one. Two counters tell a reader whether it read whole
weights: the writer sets `begun`, changes the weights, and sets `done` to the same number, that of the last message learnt. Unequal
counters in a file that nobody writes were left by a killed process: the weights are rebuilt, into a new file that replaces the
old. So they are if the machine went down before the mapped pages were written, or if a message was taken out of the journal.
"""

import mmap
import os

__all__ = ["HEADER", "NUMBERS", "SLOTS", "WeightsFile"]

MAGIC = int.from_bytes(b"halfmail", "little")
LAYOUT = 1
HEADER = 4096
"""Bytes before the arrays."""
SLOTS = 1 << 20
FIELDS = ("magic", "layout", "extractor", "epoch", "begun", "done", "synced", "boot")
"""Whole numbers at the beginning of the file, eight bytes each."""
NUMBERS = 16
"""Where the filter's own numbers (counts, thresholds) begin, eight bytes each."""


def boot() -> int:
    """Return a number of this run of the machine, 0 where there is none."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:  # noqa: PTH123  (pathlib takes 10 ms)
            return int(file.read(8), 16)
    except (OSError, ValueError):
        return 0


class WeightsFile:
    """The mapped file.

    Parameters
    ----------
    path : str
        The file; it must exist.
    writing : bool, default False
        Whether it may be changed.
    """

    def __init__(self, path: str, *, writing: bool = False) -> None:
        with open(path, "r+b" if writing else "rb") as file:  # noqa: PTH123
            self.identity = _identity(os.fstat(file.fileno()))
            self.map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_WRITE if writing else mmap.ACCESS_READ)
        self.path = path
        self._fields = memoryview(self.map).cast("Q")
        self.numbers = memoryview(self.map)[8 * NUMBERS : HEADER].cast("d")

    def __getitem__(self, field: str) -> int:
        return self._fields[FIELDS.index(field)]

    def __setitem__(self, field: str, value: int) -> None:
        self._fields[FIELDS.index(field)] = value

    def array(self, number: int) -> memoryview:
        """Return one of the arrays of 2^20 numbers of 32 bits."""
        start = HEADER + 4 * SLOTS * number
        return memoryview(self.map)[start : start + 4 * SLOTS].cast("f")

    def whole(self) -> bool:
        """Tell whether the file is one of ours and no writer left it half changed."""
        ours = self["magic"] == MAGIC and self["layout"] == LAYOUT
        return ours and self["begun"] == self["done"] and (self["synced"] == self["done"] or self["boot"] == boot())

    def replaced(self) -> bool:
        """Tell whether another file has taken its place."""
        try:
            return _identity(os.stat(self.path)) != self.identity  # noqa: PTH116
        except OSError:
            return True

    def sync(self) -> None:
        """Write all to the disk, and note it."""
        self.map.flush()
        self["synced"] = self["done"]

    def close(self) -> None:
        """Release the map, if no array of it is in use."""
        self._fields.release()
        self.numbers.release()
        self.map.close()


def _identity(found: os.stat_result) -> tuple[int, int]:
    """Return what tells one file from another."""
    return found.st_dev, found.st_ino
