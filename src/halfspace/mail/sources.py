"""Where messages come from: folders, maildirs, mbox files, single files, and the index of a labelled stream.

Messages are read one at a time, as bytes, in a fixed order. Standard library only: Python's `mailbox` parses whole messages
and rewrites them, and a filter must see them as they came.
"""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from halfspace.errors import InputError

__all__ = ["Labelled", "indexed", "messages"]

_DATED = re.compile(rb"\d:\d\d(:\d\d)?\b.*\b\d{4}\b")
"""The time and the year in the line that parts two messages of an mbox; `From the desk of` has none."""
LARGEST = 50_000_000
"""Bytes of one message that are read; the rest of a larger one is left out, as a filter looks at its beginning only."""


class Labelled(NamedTuple):
    """A line of an index: where a message is, whether it is spam, and its path as the index has it."""

    path: Path
    spam: bool
    name: str


def messages(source: str | Path) -> Iterator[tuple[str, bytes]]:
    r"""Yield the messages of a source, each with its name.

    Parameters
    ----------
    source : str or path
        A maildir (its `cur` and `new`), another folder (every file below it, by name), an mbox file, or a file with a single
        message.

    Yields
    ------
    name : str
        Path of the file; in an mbox with `#` and the number of the message, from 1.
    message : bytes
        The message as it is stored; quoted `From ` lines of an mbox are unquoted.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     box = Path(folder, "box")
    ...     dated = b"From c Mon Jan  1 00:00:00 2001\nSubject: "
    ...     size = box.write_bytes(dated + b"1\n\n>From b\n\n" + dated + b"2\n\n")
    ...     [message for name, message in messages(box)]
    [b'Subject: 1\n\nFrom b\n', b'Subject: 2\n\n']
    """
    path = Path(source)
    if path.is_dir():
        boxes = [path / "cur", path / "new"]
        roots = [box for box in boxes if box.is_dir()] or [path]
        for file in sorted(file for root in roots for file in root.rglob("*") if file.is_file()):
            if not file.name.startswith("."):
                yield from _of_file(file)
    elif not path.exists():
        msg = f"there is no file or folder {str(path)!r}; give a folder of messages, a maildir or an mbox file"
        raise InputError(msg)
    else:
        yield from _of_file(path)


def _of_file(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the messages of an mbox, or the one of another file."""
    if not path.is_file() or not _is_mbox(path):
        yield str(path), _read(path)
        return
    for number, message in enumerate(_mbox(path), 1):
        yield f"{path}#{number}", message


def _read(path: Path) -> bytes:
    """Return the bytes of one file."""
    with path.open("rb") as file:
        return file.read(LARGEST)


def _is_mbox(path: Path) -> bool:
    """Tell whether a file begins as an mbox does."""
    with path.open("rb") as file:
        return file.read(5) == b"From "


def _mbox(path: Path) -> Iterator[bytes]:
    """Yield the messages of an mbox: each begins after a line `From ...` with a date, first or after an empty line."""
    lines: list[bytes] = []
    size, empty, inside = 0, True, False
    with path.open("rb") as file:
        for line in file:
            if empty and line.startswith(b"From ") and (not inside or _DATED.search(line)):
                if inside:
                    yield _unquoted(lines)
                lines, size, empty, inside = [], 0, False, True
                continue
            empty = not line.strip(b"\r\n")
            if size < LARGEST:
                lines.append(line)
                size += len(line)
    if inside:
        yield _unquoted(lines)


def _unquoted(lines: list[bytes]) -> bytes:
    """Return a message without the empty line that ends it in an mbox and without the marks before quoted `From `."""
    if lines and not lines[-1].strip(b"\r\n") and any(not line.strip(b"\r\n") for line in lines[:-1]):
        lines = lines[:-1]
    return b"".join(line[1:] if line.lstrip(b">").startswith(b"From ") and line[:1] == b">" else line for line in lines)


def indexed(index: str | Path) -> list[Labelled]:
    r"""Return the lines of an index, in order.

    Parameters
    ----------
    index : str or path
        One `spam path` or `ham path` per line (TREC's form), or CSV with the columns `path` and `label` (spam or ham). Paths
        are relative to the index.

    Returns
    -------
    list of Labelled
        Every path exists.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = Path(folder, "1").write_bytes(b"Subject: 1\n\n"), Path(folder, "index").write_text("spam 1\nham 1\n")
    ...     [line.spam for line in indexed(Path(folder, "index"))]
    [True, False]
    """
    index = Path(index)
    try:
        text = index.read_text(encoding="utf-8-sig", errors="surrogateescape")
    except OSError as error:
        msg = f"{index}: cannot be read ({error.strerror}); give an index of messages"
        raise InputError(msg) from error
    lines = text.splitlines()
    head = next(csv.reader(lines[:1]), [])
    pairs = _of_table(index, lines) if {"path", "label"} <= {name.strip() for name in head} else _of_trec(index, lines)
    found = [Labelled(index.parent / path, label == "spam", path) for label, path in pairs]
    if not found:
        msg = f"{index}: has no messages; expected lines such as: spam ../data/000/001"
        raise InputError(msg)
    absent = [line.path for line in found if not line.path.is_file()]
    if absent:
        msg = f"{index}: {len(absent)} of its {len(found)} paths are no files, the first is {str(absent[0])!r}"
        raise InputError(msg)
    return found


def _of_trec(index: Path, lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield label and path of lines such as `spam ../data/1`."""
    for number, line in [(k, line) for k, line in enumerate(lines, 1) if line.strip()]:
        label, *path = line.split(None, 1)
        yield _label(index, number, label), path[0].strip() if path else ""


def _of_table(index: Path, lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield label and path of the rows of a CSV file."""
    head, *rows = csv.reader(lines, skipinitialspace=True)
    names = [name.strip() for name in head]
    for number, cells in enumerate(rows, 2):
        row = {"path": "", "label": ""} | dict(zip(names, cells, strict=False))
        yield _label(index, number, row["label"].strip()), row["path"].strip()


def _label(index: Path, number: int, label: str) -> str:
    """Return spam or ham, or refuse the line."""
    if label.lower() not in {"spam", "ham"}:
        msg = f"{index}, line {number}: expected spam or ham before the path, got {label[:40]!r}"
        raise InputError(msg)
    return label.lower()
