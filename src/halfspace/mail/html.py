"""HTML as text, and its links, by regular expressions that cannot stall.

A parser is not needed to know the words of a page, and the standard library's takes quadratic time on comments that never end,
as do expressions that insist on the end of a tag: looked for in vain from every start. Here a tag, a comment or a script that
never ends goes on to the end of the page, so every match succeeds where it starts, and the search is linear.
"""

import re

__all__ = ["CAP", "INLINE", "NAMED", "PLAIN", "text_and_links"]

CAP = 60_000
"""Bytes of a part that are read as HTML."""
SHOWN = 200
"""Bytes in which the text of a link must end."""
INLINE = tuple(b"b i u a em font span strong big small tt sub sup".split())
"""Elements that do not part words."""
NAMED = {b"nbsp": b" ", b"amp": b"&", b"lt": b"<", b"gt": b">", b"quot": b'"', b"copy": b"\xc2\xa9", b"apos": b"'"}
PLAIN = re.compile(rb"""(?:://|(?=www\.[^\s"'<>)\]]))([^\s"'<>)\]]{1,300})""")
"""An address in a text, from its host on."""

_MARKS = re.compile(rb"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1|\Z)|(<[a-z/!?][^>]*(?:>|\Z))", re.DOTALL)
_NAME = re.compile(rb"</?([a-z]+)(?=[\s/>]|\Z)")
_TARGET = re.compile(rb"""(?:href|src|action|background)\s{0,5}=\s{0,5}["']?([^"'\s>]{1,300})""")
_ENTITY = re.compile(rb"&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));?")


def _character(match: re.Match[bytes]) -> bytes:
    """Return what an entity stands for, letters of Latin-1 in lower case."""
    decimal, hexadecimal, name = match.groups()
    if name:
        return NAMED.get(name, match[0])
    code = int(decimal) if decimal else int(hexadecimal, 16)
    code += 32 if 65 <= code <= 90 or (192 <= code <= 222 and code != 215) else 0
    return chr(code).encode() if 31 < code < 0xD800 or 0xE000 <= code < 0x110000 else b" "


def text_and_links(page: bytes) -> tuple[bytes, list[tuple[bytes, bytes]]]:
    """Return the words of a page in lower case, and its links with the text that leads to each, empty for pictures.

    Examples
    --------
    >>> text_and_links(b'<p>go <b>th</b>ere: <a href="http://example.com/x">here</a><!-- never ends')
    (b' go there: here ', [(b'http://example.com/x', b'here')])
    """
    page = page[:CAP]
    links: list[tuple[bytes, bytes]] = []

    def mark(match: re.Match[bytes]) -> bytes:
        if not match[2]:
            return b" "
        found = _NAME.match(match[2])
        name = found[1] if found else b""
        target = None if match[2][1:2] == b"/" else _TARGET.search(match[2])
        if target:
            end = page.find(b"</a", match.end(), match.end() + SHOWN) if name == b"a" else -1
            links.append((target[1], page[match.end() : end] if end >= 0 else b""))
        return b"" if name in INLINE else b" "

    text = _MARKS.sub(mark, page)
    return _ENTITY.sub(_character, text) if b"&" in text else text, links
