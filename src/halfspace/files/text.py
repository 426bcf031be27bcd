"""Text: any encoding becomes blocks of whole lines in UTF-8.

UTF-8 (with or without its mark) and UTF-16 (by its mark) are read as such. A line that is not UTF-8 is read as Windows-1252,
line by line, so that what a line becomes does not depend on where blocks begin. A NUL means the file is no text.
"""

import codecs
import io
from collections.abc import Iterator
from typing import Any, BinaryIO

from halfspace.errors import FileError
from halfspace.files.opening import OpenedFile, explained
from halfspace.notes import Note

__all__ = ["LONGEST_LINE", "LineStream", "line_blocks"]

BLOCK = 8 << 20
LONGEST_LINE = 64 << 20


def line_blocks(file: OpenedFile, notes: list[Note], block: int = BLOCK) -> Iterator[bytes]:
    """Yield the file as blocks of whole lines in UTF-8; what was assumed about the encoding goes to `notes`."""
    with explained(file.name, "readable"), file.stream() as stream:
        for lines in _whole_lines(_utf8_blocks(stream, block), file.name):
            if b"\0" in lines:
                msg = f"{file.name}: is not text (it has NUL bytes); if it is a known binary format, name it with --format."
                raise FileError(msg)
            yield _as_utf8(lines, file.name, notes)


def _utf8_blocks(stream: BinaryIO, block: int) -> Iterator[bytes]:
    """Yield the bytes without their mark; UTF-16 is recoded."""
    first = stream.read(block)
    if not first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        yield first.removeprefix(codecs.BOM_UTF8)
        while part := stream.read(block):
            yield part
        return
    decoder = codecs.getincrementaldecoder("utf-16")()
    part = first
    while part:
        yield decoder.decode(part).encode()
        part = stream.read(block)
    yield decoder.decode(b"", final=True).encode()


def _whole_lines(blocks: Iterator[bytes], name: str) -> Iterator[bytes]:
    """Cut blocks after their last line end."""
    rest = b""
    for block in blocks:
        cut = block.rfind(b"\n") + 1 or block.rfind(b"\r", 0, -1) + 1
        if not cut:
            rest += block
        else:
            yield rest + block[:cut]
            rest = block[cut:]
        if len(rest) > LONGEST_LINE:
            msg = f"{name}: has a line of more than {LONGEST_LINE >> 20} MB; expected a table, one row per line."
            raise FileError(msg)
    if rest:
        yield rest


def _as_utf8(lines: bytes, name: str, notes: list[Note]) -> bytes:
    """Return the lines, those that are not UTF-8 recoded from Windows-1252, whose unused codes become the replacement sign."""
    if lines.isascii() or _is_utf8(lines):
        return lines
    note = Note("encoding", detail=name)
    if note not in notes:
        notes.append(note)
    whole = lines.splitlines(keepends=True)
    return b"".join(line if _is_utf8(line) else line.decode("cp1252", errors="replace").encode() for line in whole)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


class LineStream(io.RawIOBase):
    """Blocks of lines as a file that pyarrow can read; counts the quotes that went by."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._left = memoryview(b"")
        self.n_quotes = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fill the buffer with what is at hand."""
        if not self._left:
            block = next(self._blocks, b"")
            self.n_quotes += block.count(b'"')
            self._left = memoryview(block)
        size = min(len(buffer), len(self._left))
        buffer[:size] = self._left[:size]
        self._left = self._left[size:]
        return size
