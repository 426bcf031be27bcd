"""Opening: from a path, or standard input, to bytes that can be read again from the start, and the format they are in."""

import gzip
import re
import shutil
import struct
import sys
import tempfile
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, cast

from halfspace._memory import admit
from halfspace.errors import FileError, InputError

__all__ = ["COLUMN_BYTES", "FORMATS", "OpenedFile", "admit_columns", "explained", "format_of", "opened"]

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

NUMBER = rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
SVMLIGHT_LINE = re.compile(rb"\s*" + NUMBER + rb"(\s+qid:\d+)?(\s+\d+:\S+)+\s*(#.*)?")

COLUMN_BYTES = 10_000
"""Bytes of a column of a table, whatever it holds: pyarrow's buffers, a name, a recipe."""
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
    """Refuse a table of so many columns that they alone do not fit the memory limit."""
    remedy = "leave some out, or store numbers as .npz or svmlight (are rows and columns exchanged?)"
    admit(file, COLUMN_BYTES * count, f"a table of {count:,} columns", remedy)


@contextmanager
def opened(path: str | Path) -> Iterator[OpenedFile]:
    """Open a path, or spool standard input for "-" into a temporary file that is removed at the end."""
    if str(path) != "-":
        book, mark, sheet = str(path).rpartition("#")
        if mark and Path(book).suffix.lower() in {".xlsx", ".xlsm"} and not Path(path).exists():
            yield replace(_checked(Path(book), Path(book).name), sheet=sheet)
        else:
            yield _checked(Path(path), Path(path).name)
        return
    source = getattr(sys.stdin, "buffer", sys.stdin)
    if source is None or source.isatty():
        msg = "standard input: expected data, as in `halfspace fit - --target y < table.csv`; got a terminal."
        raise FileError(msg)
    with tempfile.TemporaryDirectory(prefix="halfspace-") as folder:
        spooled = Path(folder) / "stdin"
        try:
            with spooled.open("wb") as out:
                shutil.copyfileobj(source, out, 1 << 20)
        except OSError as error:
            msg = f"standard input: cannot be copied to a temporary file ({error.strerror}); save it to a file first."
            raise FileError(msg) from error
        yield _checked(spooled, "standard input")


def _checked(path: Path, name: str) -> OpenedFile:
    """Look at a path and its first bytes; refuse what is not a file with something in it."""
    if path.is_dir():
        msg = f"{name or path}: is a directory; give a file."
        raise FileError(msg)
    try:
        with path.open("rb") as stream:
            magic = stream.read(6)
        n_bytes = path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        msg = f"there is no file {str(path)!r}; check the name and the directory."
        raise FileError(msg) from None
    except (OSError, ValueError) as error:
        msg = f"{name}: cannot be opened ({getattr(error, 'strerror', None) or error})."
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
    """Tell the format: as asked for, else by the suffix (`.gz` taken off), else by the first bytes."""
    if asked is not None:
        found = {"tsv": "csv", **{name: name for name in FORMATS}}.get(asked)
        if found is None:
            msg = f"'format' must be one of {', '.join((*FORMATS, 'tsv'))}. Got {asked!r} instead."
            raise InputError(msg)
        return found
    suffixes = [s.lower() for s in Path(file.name).suffixes if s.lower() != ".gz"]
    return SUFFIXES.get(suffixes[-1] if suffixes else "", "") or _format_of_bytes(file)


def _format_of_bytes(file: OpenedFile) -> str:
    """Tell the format from the first bytes; text that is nothing else is CSV."""
    head = file.head()
    for mark, found in MAGIC.items():
        if head.startswith(mark):
            return found
    if head.startswith(b"PK"):
        with suppress(zipfile.BadZipFile, OSError), zipfile.ZipFile(file.path) as archive:
            return "excel" if "xl/workbook.xml" in archive.namelist() else "npz"
        return "npz"
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
