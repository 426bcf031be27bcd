r"""The header field `X-Halfspace`: how an answer travels with a message, and how the message is known again later.

    X-Halfspace: spam score=1.25 id=0123456789abcdef01234567 top=links:host-unlike-sender,words:offer

A sender may have put such a field in already, so every one is taken out before ours is put in, first in the header. The value
has letters that cannot end a line only. The standard library is enough here: a delivery imports this for each message.
"""

import re
from collections.abc import Iterable
from hashlib import blake2b

__all__ = ["NAME", "identity", "issued", "stamped", "unstamped", "value_of"]

NAME = "X-Halfspace"
LONGEST = 200
"""Characters of `top`, at most."""
_LINES = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_FIELD = re.compile(rb"^[!-9;-~]+[ \t]*:", re.MULTILINE)
_OURS = re.compile(rb"x-halfspace[ \t]*:", re.IGNORECASE)
_ID = re.compile(rb"(?:^|\s)id=([0-9a-f]{24})(?:\s|$)")
_UNSAFE = re.compile(r"[^A-Za-z0-9.:@/_-]+")


def value_of(answer: str, score: float, key: str, top: Iterable[str] = ()) -> str:
    r"""Return the value of our field.

    Parameters
    ----------
    answer : str
        "ham", "unsure" or "spam".
    score : float
        The score; larger is more like spam.
    key : str
        What the message is known by, from `identity`.
    top : iterable of str
        Names of the features that decided, most important first; whatever a sender put into them, one line comes out.

    Examples
    --------
    >>> value_of("spam", 1.25, "01ab", ["words:offer", "links:a\nb"])
    'spam score=1.2500 id=01ab top=words:offer,links:a-b'
    """
    names = ",".join(_UNSAFE.sub("-", name)[:60] for name in top)[:LONGEST]
    return f"{answer} score={score:.4f} id={key}" + (f" top={names}" if names else "")


def identity(message: bytes, salt: bytes) -> str:
    r"""Return what a message is known by: 16 digits that depend on all of it and the salt, 8 that prove we issued them.

    Parameters
    ----------
    message : bytes
        The message as it came in, without a field of ours.
    salt : bytes
        The secret of the filter, at most 64 bytes.

    Returns
    -------
    str
        24 hexadecimal digits.

    Examples
    --------
    >>> key = identity(b"Subject: hello\n\nworld\n", b"secret")
    >>> len(key), key == identity(b"Subject: hello\r\n\r\nworld\r\n", b"secret")
    (24, True)
    """
    digits = blake2b(message.replace(b"\r\n", b"\n"), digest_size=8, key=salt, person=b"message").hexdigest()
    return digits + _check(digits, salt)


def _check(digits: str, salt: bytes) -> str:
    """Return the digits that only who has the salt can add."""
    return blake2b(digits.encode(), digest_size=4, key=salt, person=b"issued").hexdigest()


def issued(message: bytes, salt: bytes) -> str:
    """Return the id of the first field of ours in the header of a message; empty if there is none or it is not from us."""
    _, cut = _split(message)
    found = _ID.search(cut[0].partition(b":")[2]) if cut else None
    key = found[1].decode() if found else ""
    return key if key and key[16:] == _check(key[:16], salt) else ""


def unstamped(message: bytes) -> bytes:
    r"""Return a message without fields of ours, true or forged; nothing else is changed.

    Examples
    --------
    >>> unstamped(b"Subject: hello\nx-halfspace: ham\n score=-9\nTo: me\n\nX-Halfspace: in the text\n")
    b'Subject: hello\nTo: me\n\nX-Halfspace: in the text\n'
    """
    kept, cut = _split(message)
    return kept if cut else message


def _split(message: bytes) -> tuple[bytes, list[bytes]]:
    """Return a message without fields of ours, and these; the header ends at the first empty line, however odd it is."""
    if b"x-halfspace" not in message.lower():
        return message, []
    kept: list[bytes] = []
    cut: list[bytes] = []
    within, start = False, 0
    for found in _LINES.finditer(message):
        line = found[0]
        if not line.strip(b"\r\n"):
            start = found.start()
            break
        within = (within and line[:1] in b" \t") or bool(_OURS.match(line))
        if not within:
            kept.append(line)
        elif cut and line[:1] in b" \t":
            cut[-1] += line
        else:
            cut.append(line)
        start = found.end()
    return b"".join(kept) + message[start:], cut


def stamped(message: bytes, value: str) -> bytes:
    r"""Return a message with our field put in first, all others of its name taken out, its line ends kept.

    Examples
    --------
    >>> stamped(b"X-Halfspace: ham\nSubject: hello\n\nworld\n", "spam score=1.0000 id=0")
    b'X-Halfspace: spam score=1.0000 id=0\nSubject: hello\n\nworld\n'
    """
    message = unstamped(message)
    first = _LINES.match(message)
    line = first[0] if first else b""
    end = b"\r\n" if line.endswith(b"\r\n") else b"\n"
    start = len(line) if line.startswith(b"From ") else 0
    field = f"{NAME}: {value}".encode("ascii", "replace") + end
    header = message[start:].partition(2 * end)[0]
    bare = b"" if _FIELD.search(header) or not header else end  # a text alone gets a header of its own
    return message[:start] + field + bare + message[start:]
