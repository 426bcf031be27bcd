"""HTML as text, and its links, by one linear search for angle brackets.

A parser is not needed to know the words of a page, and those of the standard library and of regular expressions take quadratic
time on comments that never end. Here every search goes on where the last one stopped, and what is never found is looked for
once.
"""

import re

__all__ = ["CAP", "text_and_links"]

CAP = 60_000
"""Bytes of a part that are read as HTML."""

_HREF = re.compile(rb"""\b(?:href|src|action|background)[ \t\n]{0,9}=[ \t\n]{0,9}["']?([^"' >]{1,400})""", re.IGNORECASE)
_ENTITY = re.compile(rb"&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,6}));?")
_NAMED = {b"nbsp": b" ", b"amp": b"&", b"lt": b"<", b"gt": b">", b"quot": b'"', b"copy": b"\xc2\xa9", b"apos": b"'"}
_WORD_BREAKS = frozenset((b"b", b"i", b"u", b"a", b"em", b"font", b"span", b"strong", b"big", b"small", b"tt", b"sub", b"sup"))
"""Elements that do not part words."""

_STARTS = frozenset(bytes([c]) for c in b"abcdefghijklmnopqrstuvwxyz/!?")
"""What may follow the bracket of a tag."""


def _character(match: re.Match[bytes]) -> bytes:
    """Return what an entity stands for."""
    decimal, hexadecimal, name = match.groups()
    if name:
        return _NAMED.get(name.lower(), match[0])
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(code).encode() if 31 < code < 0xD800 or 0xE000 <= code < 0x110000 else b" "


def text_and_links(page: bytes) -> tuple[bytes, list[tuple[bytes, bytes]], list[bytes]]:  # noqa: C901
    """Return the words of a page, its links with the text that leads to each (empty for pictures), and its elements' names.

    Examples
    --------
    >>> text_and_links(b'<p>Go <b>th</b>ere: <a href="http://example.com/x">here</a><!-- never ends')
    (b' Go there: here', [(b'http://example.com/x', b'here')], [b'p', b'b', b'a'])
    """
    page = page[:CAP]
    words: list[bytes] = []
    links: list[tuple[bytes, bytes]] = []
    names: list[bytes] = []
    place, anchor, started = 0, b"", 0
    ends = {b"-->": 0, b"</script": 0, b"</style": 0}
    lower = page.lower()
    while True:
        opened = page.find(b"<", place)
        words.append(page[place:] if opened < 0 else page[place:opened])
        if opened < 0:
            break
        if lower.startswith(b"<!--", opened):
            place = _after(lower, b"-->", opened, ends)
            continue
        if lower[opened + 1 : opened + 2] not in _STARTS:
            words.append(b"<")
            place = opened + 1
            continue
        closed = page.find(b">", opened)
        tag = page[opened + 1 :] if closed < 0 else page[opened + 1 : closed]
        place = len(page) if closed < 0 else closed + 1
        name = lower[opened + 1 : opened + 13].split(b">", 1)[0].split(None, 1)
        element = name[0].rstrip(b"/") if name and name[0] != b"/" else b""
        if not element.startswith(b"/"):
            names.append(element)
        if element.lstrip(b"/") not in _WORD_BREAKS:
            words.append(b" ")
        if element == b"/a" and anchor:
            links.append((anchor, b"".join(words[started:])[:400].strip()))
            anchor = b""
        elif b"=" in tag:
            found = _HREF.search(tag[:1000])
            if found and element == b"a":
                anchor, started = found[1], len(words)
            elif found:
                links.append((found[1], b""))
        if element in {b"script", b"style"} and closed >= 0:
            place = _after(lower, b"</" + element, place, ends)
    if anchor:
        links.append((anchor, b""))
    return _ENTITY.sub(_character, b"".join(words)), links, names


def _after(page: bytes, mark: bytes, start: int, ends: dict[bytes, int]) -> int:
    """Return the place after a mark; once it is not found it is not looked for again, and the page ends."""
    if ends[mark] < 0:
        return len(page)
    found = page.find(mark, start)
    ends[mark] = found
    return len(page) if found < 0 else found + len(mark)
