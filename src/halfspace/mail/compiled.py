"""The compiled form of `hashing.slots_of`, equal to it bit for bit."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import njit

from halfspace._dispatch import compiled_inside_exactly
from halfspace.mail.compiled_header import READ_NAMES, header_of
from halfspace.mail.compiled_page import link_tokens, links_in, no_links, text_of
from halfspace.mail.extraction import (
    ALL,
    LIGHT,
    LIGHT_WORDS,
    PRINTABLE,
    WORD,
    address,
    domain_of,
    ends_of,
    is_page,
    keys_for,
    name_of,
    of_parts,
    readable,
    shape_of,
    texts_in,
    unencoded,
)
from halfspace.mail.hashing import GRAMS, LONGEST, PAIRS, SHAPE, SLOT_BITS, SUBJECT, WORD_LIMIT, WORDS
from halfspace.mail.message import Part, opened, parts_of, without_ours

FIRST = LONGEST // 4 + 2
SHIFT = np.uint64(64 - SLOT_BITS)
SEPARATOR, NEXT = 32, 10
WHOLE = 1 << (SLOT_BITS - 6)
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
"""Times a power of two it has another number in its six highest bits for each."""
PLACES = np.zeros(64, np.uint32)
for _k in range(64):
    PLACES[((0x03F79D71B4CB0A89 << _k) & (2**64 - 1)) >> 58] = _k
SENDER = ALL.index("sender")


@njit(cache=True, nogil=True)
def slots_of(text: Any, shape: Any, start: Any, keys: Any, pairs: bool) -> Any:  # noqa: FBT001  (compiled)
    """Return the slots, sorted, each once. `text`: the groups' buffers, parted by line ends.

    Each slot has a bit of `marks`, each 64 of these a bit of the words after them, and all are read in order at the end: no
    list of slots is sorted.
    """
    marks = np.zeros(WHOLE + (WHOLE >> 6), np.uint64)
    _tokens(text, keys, pairs, marks)
    _fours(shape, keys[FIRST + 3 * SHAPE], keys[FIRST + 3 * SHAPE + 2], marks)
    _fours(start, keys[FIRST + 3 * GRAMS], keys[FIRST + 3 * GRAMS + 2], marks)
    return _in_order(marks, text.size + 2 + shape.size + start.size)  # a token and what parts it: two bytes, two slots


@compiled_inside_exactly
def _mark(marks: Any, number: Any) -> None:
    """Mark the slot of a number."""
    k = number >> (SHIFT + np.uint64(6))
    marks[k] |= np.uint64(1) << ((number >> SHIFT) & np.uint64(63))
    marks[np.uint64(WHOLE) + (k >> np.uint64(6))] |= np.uint64(1) << (k & np.uint64(63))


@compiled_inside_exactly
def _tokens(text: Any, keys: Any, pairs: bool, marks: Any) -> None:  # noqa: C901, FBT001  (one loop over bytes)
    """Mark the slots of the tokens in the groups' buffers."""
    g, length, before, words = 0, 0, np.int64(-1), 0
    h, four = np.uint64(0), np.uint64(0)
    own, add = keys[FIRST], keys[FIRST + 2]
    for place in range(text.size + 1):
        c = text[place] if place < text.size else np.uint8(NEXT)
        if c > SEPARATOR:
            if length < LONGEST:
                four |= np.uint64(c) << np.uint64(8 * (length & 3))
                length += 1
                if length & 3 == 0:
                    h += four * keys[1 + (length >> 2)]
                    four = np.uint64(0)
            continue
        if length > 0:
            if length & 3:
                h += four * keys[2 + (length >> 2)]
            h = (h + keys[0] + keys[1] * np.uint64(length)) >> np.uint64(32)
            if g != PAIRS and (g != WORDS or words < WORD_LIMIT):
                _mark(marks, h * own + add)
                words += g == WORDS
                if pairs and (g == WORDS or g == SUBJECT):  # noqa: PLR1714, SIM109  (compiled)
                    if before >= 0:
                        k = FIRST + 3 * PAIRS
                        _mark(marks, np.uint64(before) * keys[k] + h * keys[k + 1] + keys[k + 2])
                    before = np.int64(h)
            length, h, four = 0, np.uint64(0), np.uint64(0)
        if c == NEXT:
            g += 1
            own, add = keys[FIRST + 3 * g], keys[FIRST + 3 * g + 2]
            before = np.int64(-1)


@compiled_inside_exactly
def _fours(text: Any, own: Any, add: Any, marks: Any) -> None:
    """Mark the slots of all overlapping fours of bytes."""
    four = np.uint64(0)
    for place in range(min(3, text.size)):
        four = four >> np.uint64(8) | np.uint64(text[place]) << np.uint64(24)
    for place in range(3, text.size):
        four = four >> np.uint64(8) | np.uint64(text[place]) << np.uint64(24)
        _mark(marks, four * own + add)


@compiled_inside_exactly
def _in_order(marks: Any, most: Any) -> Any:
    """Return the slots that are marked, in order; there are at most so many."""
    n, out = 0, np.empty(most, np.uint32)
    for place in range(WHOLE, marks.size):
        words = marks[place]
        while words != 0:
            k = np.uint32(place - WHOLE << 6) | PLACES[((words & (~words + np.uint64(1))) * DE_BRUIJN) >> np.uint64(58)]
            words &= words - np.uint64(1)
            left = marks[k]
            while left != 0:
                lowest = left & (~left + np.uint64(1))
                out[n] = k << np.uint32(6) | PLACES[(lowest * DE_BRUIJN) >> np.uint64(58)]
                n += 1
                left ^= lowest
    return out[:n].copy()


def buffers_of(message: bytes, *, light: bool = False) -> tuple[list[bytes], bytes, bytes]:
    """Return what `extraction.buffers_of` does, of all groups, but for the order of tokens, and some more than once."""
    raw = opened(message)
    found, text, spots = _header(raw)
    if spots[1]:
        raw = without_ours(raw, spots[0])
        found, text, spots = _header(raw)
    said = {
        name: text[spots[k] : spots[k + 1]].tobytes()
        for name, k in zip(READ_NAMES, range(3, 13, 2), strict=True)
        if spots[k] < spots[k + 1]
    }
    shape, parts = parts_of(said.items(), raw[spots[0] :])
    sender = said.get(b"from", b"")
    of_header = (found.tobytes() + b" ".join(of_parts(shape, parts)).translate(PRINTABLE)).split(b"\n")
    if spots[2] and address(sender)[0]:
        of_header[SENDER] += b"".join(b" name:" + word for word in name_of(sender).split()[:6])
    texts, links = _texts(parts, sender)
    words = b" ".join(texts).translate(WORD)
    if light:
        words = b" ".join(words.split(None, LIGHT_WORDS)[:LIGHT_WORDS])
    buffers = [*of_header, links, words, b"" if light else b"+", unencoded(said.get(b"subject", b"")).translate(WORD)]
    return (buffers, b"", b"") if light else (buffers, shape_of(parts), ends_of(readable(raw, parts)))


def _header(raw: bytes) -> tuple[Any, Any, list[int]]:
    """Return the tokens of a header, the text of its fields, and where things are."""
    end = raw.find(b"\n\n")
    found, text, spots = header_of(np.frombuffer(raw, np.uint8), len(raw) if end < 0 else end, NEXT)
    return found, text, spots.tolist()


def _texts(parts: list[Part], sender: bytes) -> tuple[list[bytes], bytes]:
    """Return the text of every part that has some, and the tokens of all links."""
    texts, links = [], None
    for part, plain in texts_in(parts):
        text = plain
        page = is_page(part, text)
        if page or b"://" in text or b"www." in text:
            links = no_links() if links is None else links
            if page:
                text = text_of(np.frombuffer(text, np.uint8), links).tobytes()
            else:
                links_in(np.frombuffer(text, np.uint8), links)
        texts.append(text)
    if links is None or not links.count[0]:
        return texts, b""
    return texts, link_tokens(links, np.frombuffer(domain_of(address(sender)[1]), np.uint8)).tobytes()


def features(message: bytes, *, salt: bytes = b"", groups: Iterable[str] = ALL, light: bool = False) -> Any:
    """Return what `extraction.features` does, as an array of uint32, several times as fast."""
    buffers, shape, start = buffers_of(message, light=light)
    if groups is not ALL:
        wanted = frozenset(groups)
        buffers = [buffer if group in wanted else b"" for group, buffer in zip(ALL, buffers, strict=False)]
        shape, start = shape if "shape" in wanted else b"", start if "grams" in wanted else b""
    text, shapes, first = (np.frombuffer(part, np.uint8) for part in (b"\n".join(buffers), shape, start))
    slots = slots_of(text, shapes, first, np.frombuffer(keys_for(salt), np.uint64), bool(buffers[PAIRS]))
    return slots[:LIGHT] if light else slots
