"""The weights of a mail filter in a file that is mapped into memory: a cache of what the journal says. Standard library only.

One process writes, under the lock of the state; any number read without one. Two counters tell a reader whether it read whole
weights: the writer sets `begun`, changes the weights, and sets `done` to the same number, that of the last message learnt.
Unequal counters in a file that nobody writes were left by a killed process: the weights are rebuilt, in a new file that takes
the place of the old. So they are if the machine went down before the mapped pages were on the disk.

    4,096 bytes   whole numbers (`FIELDS`), then the filter's own numbers (`NUMBERS`)
    16 MB         of each of 2^20 slots four numbers, side by side: weight, advice, its square, count
    the rest      the kept messages (`halfspace.mail.cache`)
"""

import mmap
import os

__all__ = ["FIELDS", "HEADER", "LAYOUT", "MAGIC", "NUMBERS", "SIZE", "SLOTS", "WeightsFile", "boot"]

MAGIC = int.from_bytes(b"halfmail", "little")
LAYOUT = 3
HEADER = 4096
SLOTS = 1 << 20
SIZE = HEADER + 4 * 4 * SLOTS
FIELDS = ("magic", "layout", "extractor", "epoch", "begun", "done", "synced", "boot", "kept", "end")
NUMBERS = ("n", "n_ham", "n_spam", "light", "threshold", "promise_1", "promise_05", "promise_01", "n_counted")
"""The filter's own numbers; a promise that cannot be given is infinite."""
FIRST = 16
"""Where these begin, in eights of bytes."""


def boot(known: list[int] = []) -> int:  # noqa: B006  (what was read is held: it cannot change)
    """Return a number of this run of the machine, 0 where there is none."""
    if not known:
        try:
            with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:  # noqa: PTH123  (pathlib takes 10 ms)
                known.append(int(file.read(8), 16))
        except (OSError, ValueError):
            known.append(0)
    return known[0]


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
        self.path = path
        self.number = os.open(path, os.O_RDWR if writing else os.O_RDONLY)
        found = os.fstat(self.number)
        if found.st_size < SIZE:
            os.close(self.number)
            msg = f"{path}: has {found.st_size:,} bytes, fewer than weights have; remove it, and it is made anew"
            raise ValueError(msg)
        self._which = (found.st_dev, found.st_ino)
        self.map = mmap.mmap(self.number, SIZE, access=mmap.ACCESS_WRITE if writing else mmap.ACCESS_READ)
        self._fields = memoryview(self.map)[: 8 * FIRST].cast("Q")
        self._numbers = memoryview(self.map)[8 * FIRST : HEADER].cast("d")

    def __getitem__(self, name: str) -> int:
        return self._fields[FIELDS.index(name)]

    def __setitem__(self, name: str, value: int) -> None:
        self._fields[FIELDS.index(name)] = value

    def number_of(self, name: str) -> float:
        """Return one of the filter's own numbers."""
        return self._numbers[NUMBERS.index(name)]

    def note(self, **values: float) -> None:
        """Write some of the filter's own numbers."""
        for name, value in values.items():
            self._numbers[NUMBERS.index(name)] = value

    def arrays(self) -> "tuple[memoryview[float], memoryview[float], memoryview[float], memoryview[int]]":
        """Return the arrays: weights, advice, its squares, counts, each every fourth number of the file."""
        numbers = memoryview(self.map)[HEADER:SIZE]
        reals, counts = numbers.cast("f"), numbers.cast("I")
        return reals[::4], reals[1::4], reals[2::4], counts[3::4]

    def whole(self) -> bool:
        """Tell whether the file is one of ours, and neither a killed writer nor a crash of the machine left it half changed."""
        ours = self["magic"] == MAGIC and self["layout"] == LAYOUT
        return ours and self["begun"] == self["done"] and (self["synced"] == self["done"] or self["boot"] == boot())

    def replaced(self) -> bool:
        """Tell whether another file has taken its place, or none."""
        try:
            found = os.stat(self.path)  # noqa: PTH116
        except OSError:
            return True
        return (found.st_dev, found.st_ino) != self._which

    def sync(self) -> None:
        """Put all on the disk, and note it."""
        self.map.flush()
        os.fsync(self.number)
        self["synced"] = self["done"]

    def close(self) -> None:
        """Close the file; the map goes with the last array of it."""
        os.close(self.number)
