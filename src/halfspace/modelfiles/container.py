"""The container: arrays and one JSON text in a safetensors file, with a checksum over both.

The library `safetensors` reads and writes the bytes; it refuses shapes, types and offsets that do not fit the file. The text
is the one entry of its metadata, `{"halfspace": '{"format":2,"version":"0.1.0","sha256":"...","tree":{...}}'}`; the arrays are
called "0", "1", .... The checksum is the SHA-256 of the version, the tree and each array's name, type, shape and bytes, taken
of what was read, so a file that changes while it is read is refused too.

Invariant: no array is larger than what the file has bytes for, and the values of the text are counted before they are parsed.
"""

import hashlib
import os
import re
import stat
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from halfspace._json import parse_json
from halfspace.errors import ModelFileError
from halfspace.modelfiles.writing import whole_file

__all__ = ["Contents", "parse", "read", "write"]

FORMAT = 2
LARGEST_HEADER = 1 << 24
MOST_VALUES, BYTES_PER_VALUE = 2_000_000, 128
"""Values that the text may hold in any case (the recipes of 40,000 columns), and bytes of file for every further one: a parsed
value takes some 100 bytes."""
TEXT = re.compile(
    r'\{"format":(?P<format>\d{1,9}),"version":"(?P<version>[\w.+-]{1,50})",'
    r'"sha256":"(?P<sha256>[0-9a-f]{64})","tree":(?P<tree>.*)\}',
    re.DOTALL,
)
TYPES = {np.dtype(name) for name in ("?", "i1", "u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8")}
DAMAGES = (SafetensorError, OverflowError, KeyError, ValueError, TypeError)
"""What the library raises for damaged files; the last three come from its NumPy side, for types that NumPy lacks."""


class Contents(NamedTuple):
    """What a file holds: its format, the version of halfspace that wrote it, the JSON text of the tree, and the arrays."""

    format: int
    version: str
    tree: str
    arrays: dict[str, Any]


def write(path: str | Path, tree: str, arrays: list[Any]) -> None:
    """Write a file; a crash at any moment leaves what was there before.

    The arrays are in C order, little-endian, of the types in `TYPES`; their names are their places in the list.
    """
    named, version = {str(k): array for k, array in enumerate(arrays)}, str(import_module("halfspace").__version__)
    digest = _digest(version, tree, named)
    text = f'{{"format":{FORMAT},"version":"{version}","sha256":"{digest}","tree":{tree}}}'
    _check_size(text, len(text) + sum(array.nbytes for array in arrays))
    try:
        with whole_file(path) as file:
            save_file(named, file.name, {"halfspace": text})
    except (OSError, SafetensorError) as error:
        msg = f"{path} could not be written: {getattr(error, 'strerror', None) or error}. What was there before is unchanged."
        raise ModelFileError(msg) from error


def read(path: str | Path) -> Contents:
    """Read a file, and refuse it if anything in it is not as it was written."""
    with Path(path).open("rb") as file:
        status, lead = os.fstat(file.fileno()), b""
        if stat.S_ISREG(status.st_mode):
            lead = file.read(8)
    if not lead and not stat.S_ISREG(status.st_mode):
        raise ModelFileError("it is not a regular file")
    if len(lead) < 8 or int.from_bytes(lead, "little") > min(status.st_size - 8, LARGEST_HEADER):
        raise ModelFileError("it is not a halfspace model file: it does not begin with the length of a header")
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (not a dictionary)
    except DAMAGES as error:
        msg = f"it is not a halfspace model file, or it is damaged: {error}"
        raise ModelFileError(msg) from error
    if any(array.dtype == np.bool_ and array.view(np.uint8).max(initial=0) > 1 for array in arrays.values()):
        raise ModelFileError("an array holds truth values other than true and false")
    if metadata.get("format_version") == "1":
        _check_first_format(path, metadata.get("sha256", ""))
        _check_size(metadata.get("tree", ""), status.st_size)
        return Contents(1, metadata.get("halfspace", ""), metadata.get("tree", ""), arrays)
    text = metadata.get("halfspace", "")
    _check_size(text, status.st_size)
    found = TEXT.fullmatch(text)
    if found is None:
        raise ModelFileError("it is not a halfspace model file, or its first bytes are damaged")
    if int(found["format"]) > FORMAT:
        msg = f"its format {found['format']} is not known to this version, which reads up to {FORMAT}: update halfspace"
        raise ModelFileError(msg)
    if _digest(found["version"], found["tree"], arrays) != found["sha256"]:
        raise ModelFileError("its checksum does not agree: it was changed or cut off after it was written")
    return Contents(int(found["format"]), found["version"], found["tree"], arrays)


def _check_first_format(path: str | Path, expected: str) -> None:
    """Refuse a file of format 1 without the checksum in its header: of all bytes, the checksum's own digits as zeros."""
    raw = Path(path).read_bytes()
    if hashlib.sha256(raw.replace(expected.encode(), b"0" * 64, 1)).hexdigest() != expected:
        raise ModelFileError("its checksum does not agree: it was changed or cut off after it was written")


def _digest(version: str, tree: str, arrays: Mapping[str, Any]) -> str:
    """Return the checksum of what a file holds."""
    digest = hashlib.sha256(f"{version} {tree}".encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _check_size(text: str, size: int) -> None:
    """Refuse a text that would take much more memory than the file has bytes, before it is parsed."""
    values = sum(text.count(mark) for mark in ",[{")
    if len(text) > LARGEST_HEADER or values > MOST_VALUES + size // BYTES_PER_VALUE:
        msg = f"its descriptive part is too large ({len(text):,} characters, {values:,} values)"
        raise ModelFileError(msg)


def parse(text: str) -> Any:
    """Parse the text of a tree, strictly."""
    try:
        return parse_json(text)
    except ValueError as error:
        msg = f"its descriptive part is not valid JSON: {error}"
        raise ModelFileError(msg) from error
