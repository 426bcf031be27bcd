"""The compiled form of `hashing.slots_of`, equal to it bit for bit."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import njit

from halfspace.mail.extraction import ALL, LIGHT, buffers_of, keys_for
from halfspace.mail.hashing import GRAMS, LONGEST, PAIRS, SHAPE, SLOT_BITS, SUBJECT, WORD_LIMIT, WORDS

FIRST = LONGEST // 4 + 2
SHIFT = np.uint64(64 - SLOT_BITS)
SEPARATOR, NEXT = 32, 10


@njit(cache=True, nogil=True)
def slots_of(text: Any, shape: Any, start: Any, keys: Any, pairs: bool) -> Any:  # noqa: C901, FBT001  (one loop over bytes)
    """Return the slots, sorted, each once. `text`: the groups' buffers, parted by line ends."""
    out = np.empty(2 * text.size + shape.size + start.size + 8, np.uint32)
    n, g, length, before, words = 0, 0, 0, np.int64(-1), 0
    h = np.uint64(0)
    four = np.uint64(0)
    for place in range(text.size + 1):
        c = text[place] if place < text.size else NEXT
        if c != SEPARATOR and c != NEXT:  # noqa: PLR1714  (compiled)
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
                k = FIRST + 3 * g
                out[n] = (h * keys[k] + keys[k + 2]) >> SHIFT
                n += 1
                if g == WORDS:
                    words += 1
                if pairs and (g == WORDS or g == SUBJECT):  # noqa: PLR1714, SIM109  (compiled)
                    if before >= 0:
                        k = FIRST + 3 * PAIRS
                        out[n] = (np.uint64(before) * keys[k] + h * keys[k + 1] + keys[k + 2]) >> SHIFT
                        n += 1
                    before = np.int64(h)
            length, h, four = 0, np.uint64(0), np.uint64(0)
        if c == NEXT:
            g += 1
            before = np.int64(-1)
    n = _fours(shape, keys[FIRST + 3 * SHAPE :], out, n)
    n = _fours(start, keys[FIRST + 3 * GRAMS :], out, n)
    return _distinct(out[:n])


@njit(cache=True, nogil=True)
def _fours(text: Any, keys: Any, out: Any, n: int) -> int:
    """Put the slots of all overlapping fours of bytes into `out` from place n on; return the place after them."""
    four = np.uint64(0)
    for place in range(text.size):
        four = four >> np.uint64(8) | np.uint64(text[place]) << np.uint64(24)
        if place > 2:
            out[n] = (four * keys[0] + keys[2]) >> SHIFT
            n += 1
    return n


@njit(cache=True, nogil=True)
def _distinct(slots: Any) -> Any:
    """Sort by two passes over ten bits each, and drop repetitions."""
    other = np.empty(slots.size, np.uint32)
    for shift in (0, 10):
        ends = np.zeros(1025, np.int64)
        for s in slots:
            ends[((s >> shift) & 1023) + 1] += 1
        for b in range(1024):
            ends[b + 1] += ends[b]
        for s in slots:
            b = (s >> shift) & 1023
            other[ends[b]] = s
            ends[b] += 1
        slots, other = other, slots
    n = 0
    for i in range(slots.size):
        if i == 0 or slots[i] != slots[i - 1]:
            other[n] = slots[i]
            n += 1
    return other[:n].copy()


def features(message: bytes, *, salt: bytes = b"", groups: Iterable[str] = ALL, light: bool = False) -> Any:
    """Return what `extraction.features` does, as an array of uint32, several times as fast."""
    buffers, shape, start = buffers_of(message, groups, light=light)
    text, shapes, first = (np.frombuffer(part, np.uint8) for part in (b"\n".join(buffers), shape, start))
    slots = slots_of(text, shapes, first, np.frombuffer(keys_for(salt), np.uint64), bool(buffers[PAIRS]))
    return slots[:LIGHT] if light else slots
