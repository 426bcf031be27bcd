"""The container: named arrays and one JSON text in the safetensors layout, with a checksum over every byte.

    8 bytes    length H of the header, little-endian
    H bytes    JSON: {"__metadata__": {text: text}, "0": {"dtype", "shape", "data_offsets"}, ...}, padded with spaces to 8 bytes
    the rest   the arrays, row by row, without gaps, the widest numbers first, so that each begins where its type needs it

`safetensors` can open such a file, but is not what reads or writes it here: see docs/model_files.md.
The checksum is the SHA-256 of the whole file with the checksum's own 64 digits as zeros.

Invariant: no array is larger than what the file has bytes for, each byte is read once, and the values of the header are counted
before they are parsed.
"""

import hashlib
import json
import math
import os
import re
import stat
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from halfspace.errors import ModelFileError

__all__ = ["Contents", "pack", "unpack"]

FORMAT = "1"
NAME = "halfspace model"
NO_DIGITS = "0" * 64
LARGEST_HEADER = 1 << 24
MOST_VALUES, BYTES_PER_VALUE = 1_000_000, 128
"""Values that a header may hold in any case (the recipes of 20,000 columns), and bytes of file for every further one: a parsed
value takes some 100 bytes."""
MOST_AXES = 8
OPENING = re.compile(
    rb'\{"__metadata__":\{"format":"halfspace model","format_version":"(?P<format>\d{1,9})",'
    rb'"halfspace":"(?P<version>[\w.+-]{1,50})","sha256":"(?P<sha256>[0-9a-f]{64})","tree":"'
)
DTYPES = {
    "BOOL": np.dtype(np.bool_),
    "I8": np.dtype("<i1"),
    "U8": np.dtype("<u1"),
    "I16": np.dtype("<i2"),
    "U16": np.dtype("<u2"),
    "I32": np.dtype("<i4"),
    "U32": np.dtype("<u4"),
    "I64": np.dtype("<i8"),
    "U64": np.dtype("<u8"),
    "F16": np.dtype("<f2"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


class Contents(NamedTuple):
    """What a file holds: the JSON text, the arrays by name, and the version of halfspace that wrote it."""

    text: str
    arrays: dict[str, Any]
    version: str


def pack(text: str, arrays: list[Any]) -> Iterator[Any]:
    """Yield the bytes of a file, piece by piece.

    Parameters
    ----------
    text : str
        JSON.
    arrays : list of ndarray
        In C order, of the types in `DTYPES`; their names are their places in the list.
    """
    order = sorted(range(len(arrays)), key=lambda k: -arrays[k].dtype.itemsize)
    entries, end = {}, 0
    for k in order:
        first, end = end, end + arrays[k].nbytes
        entries[str(k)] = {"dtype": NAMES[arrays[k].dtype], "shape": list(arrays[k].shape), "data_offsets": [first, end]}
    about = {"format": NAME, "format_version": FORMAT, "halfspace": _version(), "sha256": NO_DIGITS, "tree": text}
    header = json.dumps({"__metadata__": about, **entries}, separators=(",", ":")).encode("ascii")
    header += b" " * (-len(header) % 8)
    _check_header_size(header, 8 + len(header) + end)
    pieces: list[Any] = [
        len(header).to_bytes(8, "little"),
        header,
        *(memoryview(arrays[k].reshape(-1).view(np.uint8)) for k in order),
    ]
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    pieces[1] = header.replace(NO_DIGITS.encode(), digest.hexdigest().encode(), 1)
    yield from pieces


def _version() -> str:
    """Return the version of this package, which is above this module and so not imported by it."""
    return str(import_module("halfspace").__version__)


def unpack(path: str | Path) -> Contents:
    """Read a file once, and refuse it if a single bit of it is not as it was written."""
    with Path(path).open("rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            msg = "it is not a regular file"
            raise ModelFileError(msg)
        return _read(file, status.st_size)


def _read(file: Any, size: int) -> Contents:
    """Read the header, then the arrays, into memory of just the size they have."""
    lead = file.read(8)
    length = int.from_bytes(lead, "little")
    if len(lead) < 8 or not 2 <= length <= min(size - 8, LARGEST_HEADER):
        msg = "it is not a halfspace model file: it does not begin with the length of a header"
        raise ModelFileError(msg)
    header = file.read(length)
    opening = _opening(header)
    data: Any = np.empty(size - 8 - length, dtype=np.uint8)
    if len(header) < length or file.readinto(memoryview(data)) != data.size or file.read(1):
        msg = "its size changed while it was read"
        raise ModelFileError(msg)
    _check_digest(lead, header, data, opening.span("sha256"))
    _check_header_size(header, size)
    entries = parse(header)
    text = entries.pop("__metadata__").get("tree") if isinstance(entries, dict) else None
    if not isinstance(text, str):
        msg = "its description has no tree"
        raise ModelFileError(msg)
    return Contents(text, _arrays(entries, data), opening["version"].decode())


def _opening(header: bytes) -> re.Match[bytes]:
    """Return how a header begins, always in the same words; refuse what this version cannot read."""
    found = OPENING.match(header)
    if found is None:
        msg = "it is not a halfspace model file, or its first bytes are damaged"
        raise ModelFileError(msg)
    if found["format"] != FORMAT.encode():
        msg = f"its format {found['format'].decode()} is not known to this version, which reads {FORMAT}: update halfspace"
        raise ModelFileError(msg)
    return found


def _check_header_size(header: bytes, size: int) -> None:
    """Refuse a header that would take much more memory than the file has bytes, before it is parsed."""
    values = sum(header.count(mark) for mark in (b",", b"[", b"{"))
    if len(header) > LARGEST_HEADER or values > MOST_VALUES + size // BYTES_PER_VALUE:
        msg = f"its descriptive part is too large ({len(header):,} bytes, {values:,} values)"
        raise ModelFileError(msg)


def parse(text: bytes | str) -> Any:
    """Parse JSON strictly: no name twice, no NaN, no number of thousands of digits, no endless nesting."""
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        msg = f"its descriptive part is not sound JSON: {error}"
        raise ModelFileError(msg) from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a dictionary; refuse a name that comes twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        msg = "a name comes twice"
        raise ValueError(msg)
    return found


def _refuse_constant(name: str) -> Any:
    """Refuse NaN and Infinity, which are not JSON."""
    msg = f"{name} is not a number"
    raise ValueError(msg)


def _check_digest(lead: bytes, header: bytes, data: Any, digits: tuple[int, int]) -> None:
    """Refuse a file whose bytes do not have the checksum that stands in the header."""
    (first, end), whole = digits, memoryview(header)
    digest = hashlib.sha256(lead)
    for piece in (whole[:first], NO_DIGITS.encode(), whole[end:], data):
        digest.update(piece)
    if digest.hexdigest().encode() != header[first:end]:
        msg = "its checksum does not agree: it was changed or cut off after it was written"
        raise ModelFileError(msg)


def _arrays(entries: dict[str, Any], data: Any) -> dict[str, Any]:
    """Return views of the data, which together cover every byte once."""
    found, end = {}, 0
    for name, entry in entries.items():
        first, end = end, _end(entry, end, data.size)
        dtype = DTYPES[entry["dtype"]]
        part = data[first:end]
        if dtype.kind == "b" and part.size and part.max() > 1:
            msg = f"array {name} holds truth values other than true and false"
            raise ModelFileError(msg)
        found[name] = part.view(dtype).reshape(entry["shape"])
    if end != data.size:
        msg = "its arrays do not fill it"
        raise ModelFileError(msg)
    return found


def _end(entry: Any, first: int, size: int) -> int:
    """Return where an array ends that begins at `first`; refuse one that is not described soundly."""
    sound = isinstance(entry, dict) and set(entry) == {"dtype", "shape", "data_offsets"} and entry["dtype"] in NAMES.values()
    shape = entry["shape"] if sound else None
    if isinstance(shape, list) and len(shape) <= MOST_AXES and all(type(n) is int and 0 <= n < 1 << 62 for n in shape):
        itemsize = DTYPES[entry["dtype"]].itemsize
        end = first + math.prod(shape) * itemsize
        # NumPy multiplies the axes other than 0 as well, and they must fit its integers.
        room = math.prod(n for n in shape if n) * itemsize < 1 << 62
        if room and end <= size and entry["data_offsets"] == [first, end] and first % itemsize == 0:
            return end
    msg = "one of its arrays is not described soundly"
    raise ModelFileError(msg)
