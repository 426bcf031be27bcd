"""The text of a page and the links of a message, compiled: what `html` and `extraction` do, in one pass over the bytes."""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from halfspace._dispatch import compiled_inside_exactly
from halfspace.mail import extraction
from halfspace.mail.compiled_header import NOTES, WORDS, Sheet, bucket, domain_of, next_word, put, say, spelled, write
from halfspace.mail.extraction import LINKS
from halfspace.mail.html import CAP, INLINE, NAMED, SHOWN

__all__ = ["Links", "link_tokens", "links_in", "no_links", "text_of"]

_PHRASES = tuple(
    b"kind: host: domain: top: at: user-in-link port: number-as-host shortener host-like-sender host-unlike-sender"
    b" text-unlike-target links: http https ftp <!-- --> </a script style href src action background :// www. </ http://".split()
)
_TEXTS = (*_PHRASES, *extraction.SHORTENERS, *INLINE, *NAMED)
LETTERS = np.frombuffer(b"".join(_TEXTS), np.uint8).copy()
STARTS = np.cumsum([0, *map(len, _TEXTS)])
[
    KIND,
    HOST,
    DOMAIN,
    TOP,
    AT,
    USER,
    PORT,
    NUMBER,
    SHORTENER,
    LIKE,
    UNLIKE,
    TEXT_UNLIKE,
    COUNT,
    HTTP,
    HTTPS,
    FTP,
    COMMENT,
    COMMENT_END,
    ANCHOR_END,
    SCRIPT,
    STYLE,
    HREF,
    SRC,
    ACTION,
    BACKGROUND,
    SCHEME,
    WWW,
    CLOSING,
    HTTP_SCHEME,
] = range(len(_PHRASES))
SHORTENERS = len(_PHRASES)
INLINES = SHORTENERS + len(extraction.SHORTENERS)
ENTITIES = INLINES + len(INLINE)
END = ENTITIES + len(NAMED)
MEANT = np.array([value[0] if len(value) == 1 else 169 for value in NAMED.values()])
ANCHOR = INLINES + INLINE.index(b"a")
STOPS = np.zeros(256, np.uint8)
for _c in range(256):
    _space = 4 if _c == 32 or 9 <= _c <= 13 else 0
    STOPS[_c] = (1 if _space or _c in b"\"'>" else 0) | (2 if _space or _c in b"\"'<>)]" else 0) | _space
TARGET_STOP, PLAIN_STOP, SPACE = 1, 2, 4
"""Kinds of bytes, bits of `STOPS`: ends of a link in a tag, of one in a text, and white space."""
LONGEST = 300


class Links(NamedTuple):
    """The different links of a message: their bytes, and of each where target and text begin and end; how many there are."""

    sheet: Any
    table: Any
    count: Any


def no_links() -> Links:
    """Return room for the links of a message."""
    sheet = Sheet(np.empty(LINKS * (LONGEST + SHOWN + 8), np.uint8), np.zeros(1, np.int64))
    return Links(sheet, np.zeros((LINKS, 3), np.int64), np.zeros(1, np.int64))


@compiled_inside_exactly
def at_hand(text: Any, place: Any, last: Any, k: Any) -> bool:
    """Tell whether one of the texts stands here."""
    start, size = STARTS[k], STARTS[k + 1] - STARTS[k]
    if place + size > last:
        return False
    i = 0
    while i < size and text[place + i] == LETTERS[start + i]:
        i += 1
    return i == size


@compiled_inside_exactly
def find(text: Any, place: Any, last: Any, k: Any) -> int:
    """Return where one of the texts stands next, -1 if nowhere."""
    start = LETTERS[STARTS[k]]
    for i in range(place, last):
        if text[i] == start and at_hand(text, i, last, k):
            return i
    return -1


@compiled_inside_exactly
def phrase(out: Any, k: Any, first: Any, last: Any) -> None:
    """Write a token: one of the texts and a piece."""
    say(out, k)
    write(out, first, last)
    put(out, 32)


@compiled_inside_exactly
def add(links: Any, text: Any, first: Any, last: Any, shown: Any, scheme: Any) -> None:
    """Note a link if it is new and there is room; `shown` ends its text, which begins where a tag does, -1 for none."""
    n, sheet = links.count[0], links.sheet
    if n == LINKS:
        return
    begin = sheet.end[0]
    size = last - first
    if scheme:
        for i in range(7):
            sheet.data[begin + i] = LETTERS[STARTS[HTTP_SCHEME] + i]
        size += 7
    sheet.data[begin + size - (last - first) : begin + size] = text[first:last]
    for k in range(n):
        other = links.table[k, 0]
        same = links.table[k, 1] - other == size
        i = 0
        while same and i < size:
            same = sheet.data[other + i] == sheet.data[begin + i]
            i += 1
        if same:
            return
    sheet.end[0] = begin + size
    links.table[n, 0], links.table[n, 1], links.table[n, 2] = begin, begin + size, begin + size
    links.count[0] += 1
    if shown >= 0:
        start = shown & 0xFFFFFF
        length = (shown >> 24) - start
        sheet.data[begin + size : begin + size + length] = text[start : start + length]
        sheet.end[0] += length
        links.table[n, 2] += length


@compiled_inside_exactly
def target_in(text: Any, place: Any, last: Any) -> tuple[int, int]:
    """Return the first target of a link in a tag, empty if there is none."""
    for i in range(place, last):
        k = -1
        for name in (HREF, SRC, ACTION, BACKGROUND):
            if text[i] == LETTERS[STARTS[name]] and at_hand(text, i, last, name):
                k = name
        if k < 0:
            continue
        j = i + STARTS[k + 1] - STARTS[k]
        j = after_spaces(text, j, last)
        if j >= last or text[j] != 61:
            continue
        j = after_spaces(text, j + 1, last)
        if j < last and (text[j] == 34 or text[j] == 39):
            j += 1
        end = j
        while end < last and end - j < LONGEST and not STOPS[text[end]] & TARGET_STOP:
            end += 1
        if end > j:
            return j, end
    return 0, 0


@compiled_inside_exactly
def after_spaces(text: Any, place: Any, last: Any) -> int:
    """Return the place after at most five blanks."""
    end = min(last, place + 5)
    while place < end and STOPS[text[place]] & SPACE:
        place += 1
    return place


@compiled_inside_exactly
def name_in(page: Any, place: Any, last: Any) -> tuple[int, int]:
    """Return where the name of a tag begins and ends, nothing if it is none of letters only."""
    start = place + 1
    if start < last and page[start] == 47:
        start += 1
    end = start
    while end < last and 97 <= page[end] <= 122:
        end += 1
    if end < last and not (STOPS[page[end]] & SPACE or page[end] == 47 or page[end] == 62):
        return start, start
    return start, end


@compiled_inside_exactly
def mark(page: Any, place: Any, links: Any) -> tuple[int, bool]:  # noqa: C901, PLR0912  (a grammar)
    """Return where the comment, script or tag ends that begins here, and whether it parts words; nowhere if none begins."""
    last = page.size
    if at_hand(page, place, last, COMMENT):
        end = find(page, place + 4, last, COMMENT_END)
        return (end + 3 if end >= 0 else last), True
    for k in (SCRIPT, STYLE):
        if at_hand(page, place + 1, last, k):
            end = place + 1 + STARTS[k + 1] - STARTS[k]
            c = page[end] if end < last else 32
            if c == 95 or 48 <= c <= 57 or 65 <= c <= 90 or 97 <= c <= 122:
                continue
            while True:
                end = find(page, end, last, CLOSING)
                if end < 0:
                    return last, True
                if at_hand(page, end + 2, last, k):
                    return end + 2 + STARTS[k + 1] - STARTS[k], True
                end += 1
    c = page[place + 1] if place + 1 < last else 0
    if not (97 <= c <= 122 or c == 47 or c == 33 or c == 63):  # noqa: PLR1714  (compiled)
        return place, False
    end = place + 1
    while end < last and page[end] != 62:
        end += 1
    end = min(last, end + 1)
    first, stop = name_in(page, place, end)
    size, inside, anchor = stop - first, False, False
    for k in range(INLINES, ENTITIES):
        if STARTS[k + 1] - STARTS[k] == size and at_hand(page, first, stop, k):
            inside, anchor = True, k == ANCHOR
    if c != 47:
        a, b = target_in(page, place, end)
        if a < b:
            shown = find(page, end, min(last, end + SHOWN), ANCHOR_END) if anchor else -1
            add(links, page, a, b, shown << 24 | end if shown >= 0 else -1, 0)
    return end, not inside


@compiled_inside_exactly
def without_marks(page: Any, links: Any) -> Any:
    """Return a page without comments, scripts and tags; note its links."""
    text, n, i = np.empty(page.size, np.uint8), 0, 0
    while i < page.size:
        if page[i] == 60:
            end, parts = mark(page, i, links)
            if end > i:
                if parts:
                    text[n] = 32
                    n += 1
                i = end
                continue
        text[n] = page[i]
        n += 1
        i += 1
    return text[:n]


@compiled_inside_exactly
def entity(text: Any, place: Any) -> tuple[int, int]:
    """Return where the entity ends that begins here, and the character it stands for; -1 if it is left as it is."""
    last, i = text.size, place + 1
    code: Any = 0
    if i < last and text[i] == 35:
        base = 16 if i + 1 < last and text[i + 1] == 120 else 10
        i += 2 if base == 16 else 1
        first = i
        while i < last and i - first < (6 if base == 16 else 7):
            c = np.int64(text[i])
            digit = c - 48 if 48 <= c <= 57 else c - 87 if base == 16 and 97 <= c <= 102 else -1
            if digit < 0:
                break
            code = base * code + digit
            i += 1
        if i == first:
            return place + 1, -1
        code += 32 if 65 <= code <= 90 or (192 <= code <= 222 and code != 215) else 0
        code = code if 31 < code < 0xD800 or 0xE000 <= code < 0x110000 else 32
    else:
        first, code = i, -1
        while i < last and i - first < 6 and 97 <= text[i] <= 122:
            i += 1
        for k in range(ENTITIES, END):
            if STARTS[k + 1] - STARTS[k] == i - first and at_hand(text, first, i, k):
                code = MEANT[k - ENTITIES]
        if code < 0:
            return place + 1, -1
    return (i + 1 if i < last and text[i] == 59 else i), code


@compiled_inside_exactly
def without_entities(text: Any) -> int:
    """Replace entities by what they stand for, in UTF-8, in place; return the new length."""
    n, i = 0, 0
    while i < text.size:
        end, code = entity(text, i) if text[i] == 38 else (i + 1, -1)
        if code < 0:
            text[n] = text[i]
            n += 1
        elif code < 128:
            text[n] = code
            n += 1
        else:
            size = 2 if code < 0x800 else 3 if code < 0x10000 else 4
            for k in range(size):
                bits = (code >> (6 * (size - 1 - k))) & 63
                text[n + k] = 128 | bits if k > 0 else (0xF00 >> size & 0xFF) | bits
            n += size
        i = end
    return n


@compiled_inside_exactly
def plain(text: Any, place: Any, last: Any) -> tuple[int, int]:
    """Return the next address in a text, from its host on, empty if there is none."""
    for i in range(place, last):
        start = -1
        if text[i] == 58 and at_hand(text, i, last, SCHEME):
            start = i + 3
        elif text[i] == 119 and at_hand(text, i, last, WWW) and i + 4 < last and not STOPS[text[i + 4]] & PLAIN_STOP:
            start = i
        if start >= 0:
            end = start
            while end < last and end - start < LONGEST and not STOPS[text[end]] & PLAIN_STOP:
                end += 1
            if end > start:
                return start, end
    return last, last


@njit(cache=True, nogil=True)
def text_of(page: Any, links: Any) -> Any:
    """Return the text of a page, and note its links."""
    text = without_marks(page[:CAP].copy(), links)
    text = text[: without_entities(text)]
    addresses(text, links)
    return text


@njit(cache=True, nogil=True)
def links_in(part: Any, links: Any) -> None:
    """Note the links of a text that is no page."""
    addresses(part.copy(), links)


@compiled_inside_exactly
def addresses(text: Any, links: Any) -> None:
    """Note the addresses in a text."""
    place, end = plain(text, 0, text.size)
    while place < end and links.count[0] < LINKS:
        add(links, text, place, end, -1, 1)
        place, end = plain(text, end, text.size)


@njit(cache=True, nogil=True)
def link_tokens(links: Any, writer: Any) -> Any:
    """Return the tokens of the links. `writer`: the domain of the sender."""
    out, count = Sheet(np.empty((NOTES, 3), np.int64), np.zeros(1, np.int64)), 0
    for n in range(links.count[0]):
        count += one_link(links.sheet.data, links.table[n], writer, out)
    if count > 0:
        say(out, COUNT)
        bucket(out, count)
    return spelled(out, links.sheet.data, LETTERS, STARTS)


@compiled_inside_exactly
def one_link(text: Any, row: Any, writer: Any, out: Any) -> bool:  # noqa: C901, PLR0912  (a grammar)
    """Write the tokens of a link; tell whether it leads to a host."""
    first, last = row[0], row[1]
    colon = first
    while colon < last and text[colon] != 58:
        colon += 1
    web = False
    for k in (HTTP, HTTPS, FTP):
        web |= colon - first == STARTS[k + 1] - STARTS[k] and at_hand(text, first, colon, k)
    if not web:
        phrase(out, KIND, first, min(colon, first + 12))
        return False
    a = min(last, colon + 1)
    while a < last and text[a] == 47:
        a += 1
    slash = a
    while slash < last and text[slash] != 47:
        slash += 1
    host, user = a, False
    for i in range(a, slash):
        if text[i] == 64:
            host, user = i + 1, True
    end = host
    while end < slash and text[end] != 58:
        end += 1
    about_host(text, host, end, writer, out)
    place = min(last, slash + 1)
    for _ in range(6):
        b, place = next_word(text, place, last, WORDS)
        if b < place:
            phrase(out, AT, b, place)
    if user:
        phrase(out, USER, 0, 0)
    if end + 1 < slash:
        phrase(out, PORT, end + 1, slash)
    c, d = domain_of(text, host, end)
    e, f = plain(text, last, row[2])
    if e < f:
        stop = e
        while stop < f and text[stop] != 47:
            stop += 1
        e, f = domain_of(text, e, stop)
        if not same(text, e, f, text, c, d):
            phrase(out, TEXT_UNLIKE, 0, 0)
    return True


@compiled_inside_exactly
def same(text: Any, first: Any, last: Any, other: Any, start: Any, end: Any) -> bool:
    """Tell whether two pieces are the same."""
    if last - first != end - start:
        return False
    i = first
    while i < last and text[i] == other[start + i - first]:
        i += 1
    return i == last


@compiled_inside_exactly
def about_host(text: Any, first: Any, last: Any, writer: Any, out: Any) -> None:
    """Write the tokens of the host of a link."""
    a, b = domain_of(text, first, last)
    phrase(out, HOST, first, last)
    phrase(out, DOMAIN, a, b)
    top = b
    while top > a and text[top - 1] != 46:
        top -= 1
    phrase(out, TOP, top, b)
    some, other = False, False
    for i in range(first, last):
        some |= 48 <= text[i] <= 57
        other |= text[i] != 46 and not 48 <= text[i] <= 57
    if some and not other:
        phrase(out, NUMBER, 0, 0)
    for k in range(SHORTENERS, INLINES):
        if STARTS[k + 1] - STARTS[k] == b - a and at_hand(text, a, b, k):
            phrase(out, SHORTENER, 0, 0)
    if writer.size > 0:
        phrase(out, LIKE if same(text, a, b, writer, 0, writer.size) else UNLIKE, 0, 0)
