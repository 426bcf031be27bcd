"""From tokens to slots: keyed, universal hashing that plain Python and compiled code compute to the same bits.

Keys    odd numbers of 64 bits, derived from a secret salt by BLAKE2b. Who does not know the salt can neither tell which
        words a slot stands for nor choose words that meet in one.
Token   its bytes as 32-bit numbers c_0, c_1, ... (little endian, the last filled up with zeros) and its length l:
        h = (k_0 + k_1 l + Σ k_{i+2} c_i  mod 2^64) >> 32,  strongly universal (Lemire and Kaser 2014, theorem 3.1).
Slot    of a token in group g: (a_g h + b_g mod 2^64) >> 44, multiply-shift (Dietzfelbinger 1996); of two neighbours h, h' :
        (a_g h + a'_g h' + b_g mod 2^64) >> 44; of four bytes c likewise, with c for h.
"""

import hashlib
from array import array
from itertools import pairwise
from operator import mul

__all__ = ["GROUPS", "LONGEST", "SLOT_BITS", "WORD_LIMIT", "Numbers", "keys_of", "named_slots", "slots_of"]

Numbers = array  # of unsigned numbers; a subscript would need quotes everywhere

SLOT_BITS = 20
LONGEST = 64
"""Bytes of a token that count."""
WORD_LIMIT = 5_000
"""Words of a message that count."""

GROUPS = ("date", "path", "ip", "sender", "authentication", "encoding", "links", "words", "pairs", "subject", "shape", "grams")
"""The groups of features: eight from the lectures, and ours."""
WORDS, PAIRS, SUBJECT, SHAPE, GRAMS = (GROUPS.index(name) for name in ("words", "pairs", "subject", "shape", "grams"))

_MASK = (1 << 64) - 1
_TOKEN_KEYS = LONGEST // 4 + 2


def keys_of(salt: bytes) -> "Numbers[int]":
    """Return the keys: those of the tokens, then three for each group."""
    count = _TOKEN_KEYS + 3 * len(GROUPS)
    parts = (hashlib.blake2b(b"halfspace mail %d" % k, key=salt[:64], digest_size=64).digest() for k in range(count // 8 + 1))
    keys = array("Q", b"".join(parts))[:count]
    return array("Q", (key | 1 for key in keys))


def slots_of(buffers: list[bytes], shape: bytes, start: bytes, keys: "Numbers[int]") -> "Numbers[int]":
    """Return the slots of a message, sorted, each once: of the tokens in each group's buffer, and of fours of bytes.

    Parameters
    ----------
    buffers : list of bytes
        For each group but the last two its tokens, parted by spaces. An empty buffer is a group left out; that of the pairs is
        empty or not, and the words are paired.
    shape, start : bytes
        The bytes whose overlapping fours count, in the last two groups.
    keys : array of 64-bit numbers
        From `keys_of`.
    """
    found: set[int] = set()
    for g, buffer in enumerate(buffers):
        if buffer and g != PAIRS:
            hashes = _hashes(_tokens(g, buffer), keys)
            a, _, b = _of_group(g, keys)
            found.update((h * a + b & _MASK) >> 44 for h in set(hashes))
            if g in {WORDS, SUBJECT} and buffers[PAIRS]:
                a, c, b = _of_group(PAIRS, keys)
                found.update((h * a + k * c + b & _MASK) >> 44 for h, k in pairwise(hashes))
    for g, text in ((SHAPE, shape), (GRAMS, start)):
        a, _, b = _of_group(g, keys)
        fours: set[int] = set()
        for offset in range(min(4, max(0, len(text) - 3))):
            fours.update(memoryview(text[offset : offset + (len(text) - offset) // 4 * 4]).cast("I"))
        found.update((four * a + b & _MASK) >> 44 for four in fours)
    return array("I", sorted(found))


def _tokens(g: int, buffer: bytes) -> list[bytes]:
    """Return the tokens of a group that count."""
    tokens = [token[:LONGEST] for token in buffer.split(b" ") if token]
    return tokens[:WORD_LIMIT] if g == WORDS else tokens


def _hashes(tokens: list[bytes], keys: "Numbers[int]") -> list[int]:
    """Return h of each token."""
    first, second, *numbers = keys[:_TOKEN_KEYS]
    return [
        (sum(map(mul, memoryview(token + _FILL[len(token) & 3]).cast("I"), numbers), first + second * len(token)) & _MASK) >> 32
        for token in tokens
    ]


def _of_group(g: int, keys: "Numbers[int]") -> "Numbers[int]":
    """Return the three keys of a group."""
    return keys[_TOKEN_KEYS + 3 * g : _TOKEN_KEYS + 3 * g + 3]


def named_slots(buffers: list[bytes], shape: bytes, start: bytes, keys: "Numbers[int]") -> dict[int, tuple[str, bytes]]:
    """Return for each slot its group and token; of two that meet in one, the later in the order of `GROUPS`."""
    found: dict[int, tuple[str, bytes]] = {}
    for g, text in ((GRAMS, start), (SHAPE, shape)):
        a, _, b = _of_group(g, keys)
        for place in range(len(text) - 3):
            four = text[place : place + 4]
            found[(int.from_bytes(four, "little") * a + b & _MASK) >> 44] = GROUPS[g], four
    for g, buffer in enumerate(buffers):
        if buffer and g != PAIRS:
            tokens = _tokens(g, buffer)
            hashes = _hashes(tokens, keys)
            if g in {WORDS, SUBJECT} and buffers[PAIRS]:
                a, c, b = _of_group(PAIRS, keys)
                for (h, k), two in zip(pairwise(hashes), pairwise(tokens), strict=True):
                    found[(h * a + k * c + b & _MASK) >> 44] = "pairs", b" ".join(two)
            a, _, b = _of_group(g, keys)
            found.update({(h * a + b & _MASK) >> 44: (GROUPS[g], token) for h, token in zip(hashes, tokens, strict=True)})
    return found


_FILL = (b"", b"\0\0\0", b"\0\0", b"\0")
