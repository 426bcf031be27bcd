"""Writing a file so that a crash at any moment leaves the old one whole."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from halfspace.errors import ModelFileError

__all__ = ["whole_file", "write_whole"]


def write_whole(path: str | Path, pieces: Iterable[Any]) -> None:
    """Write a file under a temporary name beside `path`, make sure it is on the disk, then give it its name."""
    try:
        with whole_file(path) as file:
            for piece in pieces:
                file.write(piece)
    except OSError as error:
        msg = f"{path} could not be written: {error.strerror or error}. What was there before is unchanged."
        raise ModelFileError(msg) from error


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file that gets its name only when it is complete and on the disk; on failure what was there stays."""
    path = Path(os.path.realpath(path))  # a link stays a link: what it points at is replaced
    if path.exists() and not path.is_file():
        msg = f"{path} is a folder or a device, which a file cannot replace; name a file."
        raise ModelFileError(msg)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:100]}.", suffix=".part", dir=path.parent)
    try:
        os.close(handle)
        with Path(temporary).open("wb") as file:
            yield file
        with Path(temporary).open("rb+") as file:  # what is there now: it may have been written by name
            os.fchmod(file.fileno(), _mode(path))
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise
    _settle(path.parent)


def _mode(path: Path) -> int:
    """Return the permissions of the file to be replaced, or those a new file gets."""
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _settle(folder: Path) -> None:
    """Make sure that the new name is on the disk too, where folders can be synchronised."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
