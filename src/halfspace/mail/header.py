r"""The header field `X-Halfspace`: how an answer travels with a message.

    X-Halfspace: spam score=1.25 id=0123456789abcdef01234567 top=links:host-unlike-sender,words:offer

A sender may have put such a field in already, so every one is taken out before ours is put in, first in the header. The value
has letters that cannot end a line only. Every delivery imports this, so it imports nothing itself.
"""

__all__ = ["NAME", "id_in", "stamped", "unstamped", "value_of"]

NAME = "X-Halfspace"
LONGEST = 200
"""Characters of `top`, at most."""
SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.:@/_-")


def value_of(answer: str, score: float, key: str, top: tuple[str, ...] | list[str] = ()) -> str:
    r"""Return the value of our field.

    Parameters
    ----------
    answer : str
        "ham", "unsure" or "spam".
    score : float
        The score; larger is more like spam.
    key : str
        What the message is known by.
    top : list of str
        Names of the features that decided, most important first; whatever a sender put into them, one line comes out.

    Examples
    --------
    >>> value_of("spam", 1.25, "01ab", ["words:offer", "links:a\nb"])
    'spam score=1.2500 id=01ab top=words:offer,links:a-b'
    """
    names = ",".join("".join(letter if letter in SAFE else "-" for letter in name[:60]) for name in top)[:LONGEST]
    return f"{answer} score={score:.4f} id={key}" + (f" top={names}" if names else "")


def id_in(message: bytes) -> str:
    r"""Return the id in the first field of ours in the header of a message; empty if there is none.

    Examples
    --------
    >>> id_in(b"X-Halfspace: spam score=1.0 id=01ab\nSubject: hello\n\n")
    '01ab'
    """
    if not _mentioned(message):
        return ""
    _, ours, _ = _split(message)
    words = ours[0].partition(b":")[2].split() if ours else []
    return next((word[3:].decode("ascii", "replace") for word in words if word.startswith(b"id=")), "")


def unstamped(message: bytes) -> bytes:
    r"""Return a message without fields of ours, true or forged; nothing else is changed.

    Examples
    --------
    >>> unstamped(b"Subject: hello\nx-halfspace: ham\n score=-9\nTo: me\n\nX-Halfspace: in the text\n")
    b'Subject: hello\nTo: me\n\nX-Halfspace: in the text\n'
    """
    if not _mentioned(message):
        return message
    kept, ours, rest = _split(message)
    return b"".join(kept) + rest if ours else message


def stamped(message: bytes, value: str) -> bytes:
    r"""Return a message with our field put in first, all others of its name taken out, its line ends kept.

    Examples
    --------
    >>> stamped(b"X-Halfspace: ham\nSubject: hello\n\nworld\n", "spam score=1.0000 id=0")
    b'X-Halfspace: spam score=1.0000 id=0\nSubject: hello\n\nworld\n'
    """
    kept, _, rest = _split(message)
    first = 1 if kept and kept[0].startswith(b"From ") else 0
    end = b"\r\n" if (kept[0] if kept else rest).endswith(b"\r\n") else b"\n"
    field = f"{NAME}: {value}".encode("ascii", "replace") + end
    bare = b"" if not kept[first:] or any(b":" in line.split(b" ", 1)[0] for line in kept[first:]) else end  # a text alone
    return b"".join([*kept[:first], field, bare, *kept[first:], rest])


def _mentioned(message: bytes) -> bool:
    """Tell whether the name of our field is anywhere in a message; in most it is not."""
    return NAME.lower().encode() in message.lower()


def _split(message: bytes) -> tuple[list[bytes], list[bytes], bytes]:
    """Return the lines of the header without fields of ours, these, and the rest from the first empty line on.

    Two CR end it only where no line ends in LF: a reader of LF goes on past them.
    """
    marks = (b"\n\n", b"\n\r") if b"\n" in message else (b"\r\r",)
    ends = [place + 1 for mark in marks if (place := message.find(mark)) >= 0]
    end = 0 if message[:1] in (b"\r", b"\n") else min(ends, default=len(message))
    kept: list[bytes] = []
    ours: list[bytes] = []
    within = False
    for line in message[:end].splitlines(keepends=True):
        more = line[:1] in (b" ", b"\t")
        within = within if more else line.partition(b":")[0].strip().lower() == NAME.lower().encode() and b":" in line
        if not within:
            kept.append(line)
        elif more:
            ours[-1] += line
        else:
            ours.append(line)
    return kept, ours, message[end:]
