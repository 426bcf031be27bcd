"""HTML as text, and its links, by regular expressions that cannot stall.

A parser is not needed to know the words of a page, and the standard library's takes quadratic time on comments that never end,
as do expressions that insist on the end of a tag: looked for in vain from every start. Here a tag, a comment or a script that
never ends goes on to the end of the page, so every match succeeds where it starts, and the search is linear.
"""

import re

__all__ = ["CAP", "text_and_links"]

CAP = 60_000
"""Bytes of a part that are read as HTML."""

_WITHIN_WORDS = re.compile(rb"</?(?:b|i|u|a|em|font|span|strong|big|small|tt|sub|sup)(?:[\s/][^>]*)?(?:>|\Z)")
"""Elements that do not part words."""
_MARKS = re.compile(rb"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1|\Z)|<[a-z/!?][^>]*(?:>|\Z)", re.DOTALL)
_ANCHOR = re.compile(rb"""<a\s[^>]{0,200}?href\s{0,5}=\s{0,5}["']?([^"'\s>]{1,300})[^>]{0,200}>(.{0,200}?)</a""", re.DOTALL)
_SOURCE = re.compile(rb"""(?:src|action|background)\s{0,5}=\s{0,5}["']?([^"'\s>]{1,300})""")
_ENTITY = re.compile(rb"&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));?")
_NAMED = {b"nbsp": b" ", b"amp": b"&", b"lt": b"<", b"gt": b">", b"quot": b'"', b"copy": b"\xc2\xa9", b"apos": b"'"}


def _character(match: re.Match[bytes]) -> bytes:
    """Return what an entity stands for."""
    decimal, hexadecimal, name = match.groups()
    if name:
        return _NAMED.get(name, match[0])
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(code).lower().encode() if 31 < code < 0xD800 or 0xE000 <= code < 0x110000 else b" "


def text_and_links(page: bytes) -> tuple[bytes, list[tuple[bytes, bytes]]]:
    """Return the words of a page in lower case, and its links with the text that leads to each, empty for pictures.

    Examples
    --------
    >>> text_and_links(b'<p>go <b>th</b>ere: <a href="http://example.com/x">here</a><!-- never ends')
    (b' go there: here ', [(b'http://example.com/x', b'here')])
    """
    page = page[:CAP]
    links = _ANCHOR.findall(page) if b"<a" in page else []
    links += [(target, b"") for target in _SOURCE.findall(page)]
    text = _MARKS.sub(b" ", _WITHIN_WORDS.sub(b"", page))
    return _ENTITY.sub(_character, text) if b"&" in text else text, links
