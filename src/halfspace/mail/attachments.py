"""The text of attachments: Office documents by the standard library, PDF where `pypdfium2` is installed (the extra `mail`).

What an attachment is, its first bytes say, not its name. Of a document that was cut off at `message.SIZE` nothing is read,
since both formats have their table of contents at the end.
Limits  `CAP` bytes of text, `MEMBERS` files of an Office document, `PAGES` pages of a PDF, and no PDF whose streams unpack to
        more than `UNPACKED` bytes. Nothing raises: a document that cannot be read has no text.
"""

import re
import zlib

from halfspace.mail.html import CAP

__all__ = ["attached_text"]

MEMBERS = 12
PAGES = 5
UNPACKED = 8_000_000
_WANTED = re.compile(r"word/(document|header\d*|footer\d*)\.xml|xl/sharedStrings\.xml|ppt/slides/slide\d+\.xml|content\.xml")
_TAG = re.compile(rb"<[^<>]*>")
_STREAM = re.compile(rb"stream\r?\n")


def attached_text(body: bytes) -> bytes:
    r"""Return the text of an Office document or a PDF, in UTF-8; nothing of anything else.

    Examples
    --------
    >>> import io, zipfile
    >>> with zipfile.ZipFile(file := io.BytesIO(), "w") as document:
    ...     document.writestr("word/document.xml", "<w:p><w:t>Buy</w:t></w:p><w:p><w:t>now</w:t></w:p>")
    >>> attached_text(file.getvalue()).split(), attached_text(b"GIF89a")
    ([b'Buy', b'now'], b'')
    """
    try:
        if body.startswith(b"PK\x03\x04"):
            return _office(body)
        return _pdf(body) if b"%PDF-" in body[:1024] else b""
    except Exception:  # noqa: BLE001  (whatever a hostile file does to a library, a message has features)
        return b""


def _office(body: bytes) -> bytes:
    """Return the text of a Word, Excel, PowerPoint or OpenDocument file: what stands between the tags of its XML."""
    import io  # noqa: PLC0415  (few messages have one, and a process lives for one message)
    import zipfile  # noqa: PLC0415

    texts, left = [], CAP
    with zipfile.ZipFile(io.BytesIO(body)) as document:
        wanted = [member for member in document.infolist() if _WANTED.fullmatch(member.filename)]
        for member in wanted[:MEMBERS]:
            if member.compress_type in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED} and left > 0:
                with document.open(member) as file:
                    texts.append(_TAG.sub(b" ", file.read(4 * CAP))[:left])
                left -= len(texts[-1])
    return b" ".join(texts)


def _pdf(body: bytes) -> bytes:
    """Return the text of the first pages of a PDF."""
    import pypdfium2  # noqa: PLC0415  (an extra)

    if not _unpacks_to_little(body):
        return b""
    document = pypdfium2.PdfDocument(body)
    try:
        texts = [document[k].get_textpage().get_text_bounded() for k in range(min(PAGES, len(document)))]
    finally:
        document.close()
    return " ".join(texts).encode("utf-8", "replace")[:CAP]


def _unpacks_to_little(body: bytes) -> bool:
    """Tell whether the compressed streams of a PDF have at most `UNPACKED` bytes in all."""
    left = UNPACKED
    for found in _STREAM.finditer(body):
        unpacking = zlib.decompressobj()
        try:
            left -= len(unpacking.decompress(body[found.end() : found.end() + 262_144], left))
        except zlib.error:
            continue
        if left <= 0 or unpacking.unconsumed_tail:
            return False
    return True
