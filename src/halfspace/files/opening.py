"""Opening: from a path, a pipe or standard input to bytes that can be read again from the start, and the format they are in."""

import gzip
import os
import re
import shutil
import struct
import sys
import tempfile
import time
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, cast

from halfspace._clock import seconds_left
from halfspace._memory import admit
from halfspace._paths import fault_of, sheet_of
from halfspace._text import listed, shown
from halfspace.errors import FileError, InputError

__all__ = ["COLUMN_BYTES", "FORMATS", "OpenedFile", "admit_columns", "explained", "format_of", "on_disk", "opened"]

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".svm": "svmlight",
    ".libsvm": "svmlight",
    ".svmlight": "svmlight",
    ".npz": "npz",
    ".xlsx": "excel",
    ".xlsm": "excel",
}
FORMATS = tuple(dict.fromkeys(SUFFIXES.values()))

MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
"""How binary formats begin; an Arrow stream begins with a continuation mark instead of a name."""

STRANGERS = {
    b"BZh": "compressed with bzip2; decompress it first",
    b"\xfd7zXZ": "compressed with xz; decompress it first",
    b"\x28\xb5\x2f\xfd": "compressed with Zstandard; decompress it first",
    b"\x89HDF": "an HDF5 file; save the table as Parquet or CSV",
    b"FEA1": "a Feather version 1 file; save it again with a current Arrow",
    b"%PDF": "a PDF document; save the table as CSV",
    b"\xd0\xcf\x11\xe0": "an old (.xls) or encrypted Excel workbook; save it as .xlsx without a password",
}

CHUNK = 1 << 20
LARGEST_COPY = 64 << 30
"""Bytes of a pipe that are copied at most; half of what is free on the disk, if that is less."""
PATIENCE = 5.0
"""Seconds to wait for a program that writes to a pipe."""

NUMBER = rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
SVMLIGHT_LINE = re.compile(rb"\s*" + NUMBER + rb"(\s+qid:\d+)?(\s+\d+:\S+)+\s*(#.*)?")

COLUMN_BYTES, COLUMN_SECONDS = 14_000, 1.2e-4
"""Bytes and seconds of a column of a table, whatever it holds: pyarrow's buffers, a name, a recipe."""
DECODING_ERRORS = (
    OSError,
    EOFError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    RuntimeError,
    SyntaxError,
    tokenize.TokenError,
    OverflowError,
    zlib.error,
    zipfile.BadZipFile,
    struct.error,
)
"""What decoders raise on damaged bytes; pyarrow's own errors derive from these."""


@dataclass(frozen=True)
class OpenedFile:
    """A file on disk that may be read any number of times; `stream` decompresses gzip."""

    path: Path
    name: str
    n_bytes: int
    gzipped: bool
    sheet: str | None = None

    def stream(self) -> BinaryIO:
        """Open the (decompressed) bytes from the start."""
        return cast("BinaryIO", gzip.open(self.path, "rb")) if self.gzipped else self.path.open("rb")

    def head(self, size: int = 1 << 16) -> bytes:
        """Return the first (decompressed) bytes."""
        with explained(self.name, "gzip" if self.gzipped else "this"), self.stream() as stream:
            return stream.read(size)


@contextmanager
def explained(name: str, kind: str) -> Iterator[None]:
    """Turn what a decoder raises into one sentence that names the file; errors of ours pass."""
    try:
        yield
    except InputError:
        raise
    except MemoryError as error:
        msg = f"{name}: not enough memory to read it; it may be damaged, or read a sample of its rows."
        raise FileError(msg) from error
    except DECODING_ERRORS as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        msg = f"{name}: the file is damaged, truncated or not {kind} ({reason}). Write or copy it again."
        raise FileError(msg) from error


def admit_columns(count: int, file: str) -> None:
    """Refuse a table of so many columns that they alone do not fit the memory limit, or the time that is left."""
    remedy = "leave some out, or store numbers as .npz or svmlight (are rows and columns exchanged?)"
    admit(file, COLUMN_BYTES * count, f"a table of {count:,} columns", remedy)
    left, needed = seconds_left(), COLUMN_SECONDS * count
    if left is not None and needed > max(left, 0.5):  # tables of some thousand columns are read, however little time there is
        msg = (
            f"{file}: a table of {count:,} columns takes about {needed:.0f} s to read, but the time limit leaves "
            f"{max(left, 0.0):.1f} s; {remedy}, or raise the limit (max_time)."
        )
        raise FileError(msg)


@contextmanager
def opened(path: str | Path) -> Iterator[OpenedFile]:
    """Open a path, or "-" for standard input; what can be read only once is copied to a temporary file first."""
    if str(path) == "-":
        source: Any = getattr(sys.stdin, "buffer", sys.stdin)
        if source is None or source.isatty():
            msg = "standard input: expected data, as in `halfspace fit - --target y < table.csv`; got a terminal."
            raise FileError(msg)
        with _copied(source, "standard input") as copy:
            yield _checked(copy, "standard input")
        return
    book, sheet = sheet_of(path)
    if fault := fault_of(book):
        raise FileError(fault)
    with on_disk(book) as found:
        yield replace(_checked(found, book.name if found == book else str(book)), sheet=sheet)


@contextmanager
def on_disk(path: str | Path) -> Iterator[Path]:
    """Return a path that can be read any number of times: the one given, or for a pipe that of a temporary copy."""
    path = Path(path)
    if not path.is_fifo():
        yield path
        return
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as pipe:  # or opening would wait for a writer for ever
        begin = _begin(pipe.fileno(), str(path))
        os.set_blocking(pipe.fileno(), True)
        with _copied(pipe, str(path), begin) as copy:
            yield copy


def _begin(pipe: int, name: str) -> bytes:
    """Return what a pipe holds at once; refuse one that no program writes to. A slow writer is waited for elsewhere."""
    last = time.monotonic() + PATIENCE
    while time.monotonic() <= last:
        try:
            begin = os.read(pipe, CHUNK)
        except BlockingIOError:  # there is a writer, which has not written yet
            return b""
        if begin:
            return begin
        time.sleep(0.01)
    msg = f"{name}: is an empty pipe that no program writes to; start the program that fills it, or give a file."
    raise FileError(msg)


@contextmanager
def _copied(source: BinaryIO, name: str, begin: bytes = b"") -> Iterator[Path]:
    """Copy what can be read only once to a temporary file that is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="halfspace-") as folder:
        copy, most = Path(folder) / Path(name).name, min(LARGEST_COPY, shutil.disk_usage(folder).free // 2)
        try:
            with copy.open("wb") as out:
                chunk = begin or source.read(CHUNK)
                while chunk:
                    if out.tell() + len(chunk) > most:
                        msg = f"{name}: has more than {most / 1e9:,.1f} GB, the most that is copied to a temporary file; "
                        raise FileError(msg + "save it to a file first.")
                    out.write(chunk)
                    chunk = source.read(CHUNK)
        except OSError as error:
            msg = f"{name}: cannot be copied to a temporary file ({error.strerror}); save it to a file first."
            raise FileError(msg) from error
        yield copy


def _checked(path: Path, name: str) -> OpenedFile:
    """Look at the first bytes of a file on disk; refuse one with nothing in it, and formats that we do not read."""
    try:
        with path.open("rb") as stream:
            magic = stream.read(6)
        n_bytes = path.stat().st_size
    except OSError as error:
        msg = f"{name}: cannot be opened ({error.strerror or error})."
        raise FileError(msg) from error
    if not magic:
        msg = f"{name}: the file is empty; expected a table with a header and rows."
        raise FileError(msg)
    for mark, what in STRANGERS.items():
        if magic.startswith(mark):
            msg = f"{name}: is {what}."
            raise FileError(msg)
    return OpenedFile(path, name, n_bytes, gzipped=magic.startswith(b"\x1f\x8b"))


def format_of(file: OpenedFile, asked: str | None = None) -> str:
    """Tell the format: as asked for, else as binary files begin, else by the suffix (`.gz` taken off), else by the first lines.

    A table of text that is called a workbook, as some programs export them, is read as text.
    """
    if asked is not None:
        found = {"tsv": "csv", **{name: name for name in FORMATS}}.get(asked)
        if found is None:
            msg = f"'format' must be one of {', '.join((*FORMATS, 'tsv'))}. Got {asked!r} instead."
            raise InputError(msg)
        return found
    suffixes = [s.lower() for s in Path(file.name).suffixes if s.lower() != ".gz"]
    named, head = SUFFIXES.get(suffixes[-1] if suffixes else "", ""), file.head()
    found = _binary_format(file, head)
    if found or (named and (named != "excel" or b"\0" in head)):
        return found or named
    return _format_of_text(file, head)


def _binary_format(file: OpenedFile, head: bytes) -> str:
    """Tell the format of a binary file from how it begins; empty for any other."""
    if not head.startswith(b"PK\x03\x04"):
        return next((found for mark, found in MAGIC.items() if head.startswith(mark)), "")
    with explained(file.name, "a workbook (.xlsx) or a NumPy archive (.npz)"), zipfile.ZipFile(file.path) as archive:
        entries = archive.namelist()
    if any(entry.lower().startswith("xl/") for entry in entries):
        return "excel"
    if any(entry.endswith(".npy") for entry in entries):
        return "npz"
    office = any(entry.startswith(("[Content_Types]", "mimetype", "word/", "ppt/")) for entry in entries)
    what = "an office document, but no .xlsx workbook; save the table as .xlsx" if office else "a zip archive; unpack it first"
    msg = f"{file.name}: is {what}. It holds {listed(sorted(entries), show=shown)}."
    raise FileError(msg)


def _format_of_text(file: OpenedFile, head: bytes) -> str:
    """Tell the format from the first lines; text that is nothing else is CSV."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{"):
        return "jsonl"
    if text.startswith((b"[{", b"[\n", b"[\r", b"[ ")):
        msg = f"{file.name}: is one JSON array; expected JSON lines, one object per line (pandas: to_json(lines=True))."
        raise FileError(msg)
    lines = [line for line in text.splitlines()[:-1] or [text] if line.strip() and not line.lstrip().startswith(b"#")]
    if lines and all(SVMLIGHT_LINE.fullmatch(line) for line in lines[:20]):
        return "svmlight"
    return "csv"
