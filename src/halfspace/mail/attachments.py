"""The text of attachments: Office documents by the standard library, PDF where `pypdfium2` is installed (the extra `mail`).

What an attachment is, its first bytes say, not its name. Of a document that was cut off at `message.SIZE` nothing is read,
since both formats have their table of contents at the end.
Limits  `CAP` bytes of text, `MEMBERS` files of an Office document, `PAGES` pages of a PDF. A PDF is read in a process of its
        own with a limit of time and memory: what it does to the library ends there. Nothing raises: a document that cannot
        be read has no text. `DOCUMENTS` of a message are read, and one PDF at most.
"""

import re
from functools import cache

from halfspace.mail.html import CAP

__all__ = ["DOCUMENTS", "attached_text", "document_in"]

DOCUMENTS = 3
MEMBERS = 12
PAGES = 5
SECONDS, MEMORY = 1, 500_000_000
"""Of the process that reads a PDF: CPU seconds, and bytes of address space."""
_WANTED = re.compile(r"word/(document|header\d*|footer\d*)\.xml|xl/sharedStrings\.xml|ppt/slides/slide\d+\.xml|content\.xml")
_BREAK = re.compile(rb"</(?:\w{1,20}:)?(?:p|h|si|tc)>|<(?:\w{1,20}:)?(?:br|cr|tab|s)(?=[\s/>])[^<>]*>")
_TAG = re.compile(rb"<[^<>]*>")
_READER = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}))
resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
import pypdfium2
document = pypdfium2.PdfDocument(sys.stdin.buffer.read())
texts = [document[k].get_textpage().get_text_bounded() for k in range(min({PAGES}, len(document)))]
sys.stdout.buffer.write(" ".join(texts).encode("utf-8", "replace")[:{CAP}])
"""


def document_in(body: bytes) -> str:
    """Return "office" or "pdf" for the bytes of such a document, else nothing."""
    return "office" if body.startswith(b"PK\x03\x04") else "pdf" if b"%PDF-" in body[:1024] else ""


def attached_text(body: bytes) -> bytes:
    r"""Return the text of an Office document or a PDF, in UTF-8; nothing of anything else.

    Examples
    --------
    >>> import io, zipfile
    >>> with zipfile.ZipFile(file := io.BytesIO(), "w") as document:
    ...     document.writestr("word/document.xml", "<w:p><w:t>B</w:t><w:t>uy</w:t></w:p><w:p><w:t>now</w:t></w:p>")
    >>> attached_text(file.getvalue()).split(), attached_text(b"GIF89a")
    ([b'Buy', b'now'], b'')
    """
    kind = document_in(body)
    try:
        return _office(body) if kind == "office" else _pdf(body) if kind == "pdf" and _reads_pdf() else b""
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
                    texts.append(_TAG.sub(b"", _BREAK.sub(b" ", file.read(4 * CAP)))[:left])
                left -= len(texts[-1])
    return b" ".join(texts)


@cache
def _reads_pdf() -> bool:
    """Tell whether the library that reads PDF is installed."""
    from importlib.util import find_spec  # noqa: PLC0415

    return find_spec("pypdfium2") is not None


def _pdf(body: bytes) -> bytes:
    """Return the text of the first pages of a PDF, from a process of its own."""
    import subprocess  # noqa: PLC0415
    import sys  # noqa: PLC0415

    command = [sys.executable, "-c", _READER]
    return subprocess.run(command, input=body, capture_output=True, check=True, timeout=2.0 * SECONDS).stdout  # noqa: S603
