"""A raw message as headers and parts, by the standard library, in bounded time, whatever the bytes.

Python's `email` recurses with the depth of nesting, takes 30 ms to import and several times as long as what is done here: three
searches. A header block is split at line ends, a multipart body at its boundary, and a part is decoded by `binascii`. Nothing
raises, nothing is looked up on a network, and the work is linear in the size of the message, times the depth that is looked
into.

Limits  `SIZE` bytes of a message are read, `PARTS` parts of it, `DEPTH` levels of nesting, `FIELDS` fields of a header, and
        `VALUE` bytes of one.
Forms   Line ends may be CRLF or LF, an mbox's "From " line is dropped, and so is our own header. Files without the empty line
        after their header (Enron), and texts without any header (SMS), are read too.
"""

import binascii
import re
from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["DEPTH", "FIELDS", "KNOWN", "PARTS", "SIZE", "VALUE", "Message", "Part", "as_text", "opened", "parts_of", "read"]

SIZE = 262_144
PARTS = 60
DEPTH = 12
FIELDS = 1_000
VALUE = 4_096

_FIELD = re.compile(rb"[!-9;-~]{1,80}:")
KNOWN = tuple(
    b"subject from to received date message-id content-type mime-version return-path delivered-to reply-to sender x-mailer"
    b" content-transfer-encoding cc x-spam-status list-id dkim-signature authentication-results received-spf".split()
)
"""Fields of which a header has at least one."""
_PARAMETERS = re.compile(
    rb'\b(boundary|charset|name|filename)\*?(?:0\*?)?=[ \t]*("[^"\n]{1,200}|[^\s;"]{1,200})', re.IGNORECASE
)
_CHARSETS = {
    name.replace("-", ""): name
    for name in (
        *(f"iso-8859-{k}" for k in (*range(1, 11), 13, 14, 15)),
        *(f"{family}{k}" for family in ("windows-", "cp") for k in range(1250, 1259)),
        *(f"cp{k}" for k in (437, 850, 866, 874, 932, 949)),
        *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "latin1", "koi8-r", "koi8-u", "gb2312", "gbk", "gb18030", "big5"),
        *("big5hkscs", "euc-kr", "iso-2022-kr", "iso-2022-jp", "euc-jp", "shift-jis"),
    )
} | {"ksc56011987": "euc-kr"}
"""Those decoders of Python that read text in linear time (`punycode` and others do not)."""

_OURS = b"x-halfspace"
_OUR_LINES = re.compile(rb"^x-halfspace:[^\n]*(?:\n[ \t][^\n]*)*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)


class Part(NamedTuple):
    """A leaf of a message: its type, what its header says of it, its level, and its decoded bytes."""

    kind: bytes
    charset: str
    transfer: bytes
    name: bytes
    disposition: bytes
    depth: int
    body: bytes


class Message(NamedTuple):
    """The header fields in order, names in lower case and values unfolded, the types of all parts, and the leaves."""

    fields: list[tuple[bytes, bytes]]
    named: dict[bytes, list[bytes]]
    shape: list[bytes]
    parts: list[Part]
    raw: bytes

    def values(self, name: bytes) -> list[bytes]:
        """Return the values of a header field, in order."""
        return self.named.get(name, [])

    def first(self, name: bytes) -> bytes:
        """Return the first value of a header field, or nothing."""
        found = self.named.get(name)
        return found[0] if found else b""


def read(message: bytes) -> Message:
    r"""Read a message.

    Examples
    --------
    >>> found = read(b"Subject: hello\r\nContent-Type: text/plain\r\n\r\nHow are you?\r\n")
    >>> found.first(b"subject"), found.parts[0].body
    (b'hello', b'How are you?\n')
    """
    raw = opened(message)
    fields, start = _header(raw)
    if any(name == _OURS for name, _ in fields):
        raw = without_ours(raw, start)
        fields, start = _header(raw)
    if not any(name in KNOWN for name, _ in fields):
        fields, start = [], 0
    named: dict[bytes, list[bytes]] = {}
    for name, value in fields:
        named.setdefault(name, []).append(value)
    shape, parts = parts_of(fields, raw[start:])
    return Message(fields, named, shape, parts, raw)


def opened(message: bytes) -> bytes:
    """Return the bytes of a message that are read, lines ended by LF, without an mbox's first line."""
    raw = message[:SIZE]
    raw = raw.replace(b"\r\n", b"\n") if b"\r" in raw else raw
    return raw[raw.find(b"\n") + 1 :] if raw.startswith((b"From ", b">From ")) else raw


def without_ours(raw: bytes, start: int) -> bytes:
    """Return a message without the fields that we put into its header, which ends at `start`."""
    return _OUR_LINES.sub(b"", raw[:start]) + raw[start:]


def _header(text: bytes) -> tuple[list[tuple[bytes, bytes]], int]:
    """Return the fields at the start of a text, and where its body begins: after an empty line, or where no field is."""
    end = text.find(b"\n\n")
    block = text if end < 0 else text[:end]
    fields: list[tuple[bytes, bytes]] = []
    if text[:1] == b"\n":
        return fields, 1
    place = 0
    for line in block.split(b"\n"):
        if line[:1] in (b" ", b"\t") and fields:
            name, value = fields[-1]
            if len(value) < VALUE:
                fields[-1] = name, value + b" " + line.strip()[:VALUE]
        elif _FIELD.match(line):
            name, _, value = line.partition(b":")
            if len(fields) < FIELDS:
                fields.append((name.lower(), value[:VALUE].strip()))
        else:
            return fields, place
        place += len(line) + 1
    return fields, min(place + 1, len(text))


def parts_of(fields: Iterable[tuple[bytes, bytes]], body: bytes) -> tuple[list[bytes], list[Part]]:
    """Return the types of all parts of a message, and its leaves, without recursion."""
    shape: list[bytes] = []
    parts: list[Part] = []
    waiting = [(fields, body, 0)]
    while waiting and len(shape) < PARTS:
        fields, body, depth = waiting.pop()
        said: dict[bytes, bytes] = {}
        for name, value in fields:
            said.setdefault(name, value)
        content = said.get(b"content-type", b"text/plain")
        kind = content.partition(b";")[0].strip().lower()[:80]
        more = {name.lower(): value.strip(b'" \t') for name, value in _PARAMETERS.findall(content)} if b"=" in content else {}
        shape.append(b"%d:%s" % (depth, kind))
        inner = _inside(kind, more.get(b"boundary", b""), body) if depth < DEPTH else []
        if inner:
            for text in reversed(inner[: PARTS - len(shape)]):
                head, start = _header(text)
                waiting.append((head, text[start:], depth + 1))
            continue
        transfer = said.get(b"content-transfer-encoding", b"").strip().lower()[:40]
        disposition = said.get(b"content-disposition", b"")
        if disposition:
            more = {n.lower(): v.strip(b'" \t') for n, v in _PARAMETERS.findall(disposition)} | more
        charset = more.get(b"charset", b"").decode("ascii", "replace").lower()
        name = more.get(b"name", more.get(b"filename", b""))
        how = disposition.partition(b";")[0].strip().lower()[:40]
        parts.append(Part(kind, charset, transfer, name, how, depth, _decoded(transfer, body)))
    return shape, parts


def _inside(kind: bytes, boundary: bytes, body: bytes) -> list[bytes]:
    """Return the texts of the parts of a multipart, or the message inside a message; nothing if there is none."""
    if kind == b"message/rfc822":
        return [body]
    if not kind.startswith(b"multipart/") or not boundary:
        return []
    pieces = (b"\n" + body).split(b"\n--" + boundary, PARTS)
    return [piece[piece.find(b"\n") + 1 :] for piece in pieces[1:] if not piece.startswith(b"--") and b"\n" in piece]


def _decoded(transfer: bytes, body: bytes) -> bytes:
    """Undo the transfer encoding, as far as the bytes allow."""
    if transfer == b"quoted-printable":
        return binascii.a2b_qp(body)
    if transfer != b"base64":
        return body
    for text in (body, body + b"==", body + b"="):
        try:
            return binascii.a2b_base64(text)
        except binascii.Error:
            continue
    return body


def as_text(body: bytes, charset: str) -> bytes:
    """Return text in lower case and in UTF-8, whatever it was in; what cannot be read is replaced.

    Examples
    --------
    >>> as_text("GRÜSSE".encode("latin-1"), "iso-8859-1").decode()
    'grüsse'
    """
    if body.isascii() and not charset.startswith(("utf-16", "utf16", "iso-2022")):
        return body.lower()
    name = _CHARSETS.get(charset.replace("-", "").replace("_", ""), "utf-8")
    if name == "utf-8":
        try:
            return body.decode().lower().encode("utf-8", "replace")
        except UnicodeDecodeError:
            name = "cp1252"
    return body.decode(name, "replace").lower().encode("utf-8", "replace")
