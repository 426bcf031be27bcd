"""Schedules: in which order examples are shown, and how a rate falls."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from halfspace._typing import FloatArray, IntArray

__all__ = ["Geometric", "Harmonic", "in_order", "shuffled"]

BLOCK = 32
"""Rows that stay together in a block shuffle, at least; narrow rows up to eight times as many."""
BLOCK_ENTRIES = 1 << 13
"""Entries that a block should have: 64 KB, enough that the jump to the next one costs little."""
CACHE_ENTRIES = 1 << 15
"""Data of at most this many entries are shuffled row by row: they are in cache anyway."""


def in_order(n: int) -> Iterator[IntArray]:
    """Yield 0, 1, ..., n - 1 for ever.

    Examples
    --------
    >>> next(in_order(3))
    array([0, 1, 2])
    """
    order = np.arange(n)
    while True:
        yield order


def shuffled(n: int, entries: float, target: IntArray, rng: np.random.Generator) -> Iterator[IntArray]:
    """Yield a fresh order for every epoch that does not walk randomly through memory.

    Rows far apart in memory cost three times as much to visit as neighbours. So blocks of neighbouring rows (32 to 256,
    about 64 KB) are shuffled, not rows, and the cuts between blocks fall elsewhere in every epoch. Where this could hurt,
    rows are shuffled one by one: in data that fit the cache or have few rows, and in data sorted by class (labels change
    less than half as often from row to row as they would by chance). `benchmarks/shuffling.py` shows that held-out accuracy
    does not suffer.

    The array is reused from epoch to epoch: copy it to keep it.

    Parameters
    ----------
    n : int
        Number of examples.
    entries : float
        Stored entries per row.
    target : ndarray, shape (n,)
        Class numbers.
    rng : Generator
        Random number generator.

    Examples
    --------
    >>> next(shuffled(5, 2.0, np.array([0, 1, 0, 1, 0]), np.random.default_rng(0))).tolist()
    [2, 4, 3, 0, 1]
    """
    block = int(np.clip(BLOCK_ENTRIES // max(entries, 1.0), BLOCK, 8 * BLOCK))
    share = np.bincount(target) / max(n, 1)
    changes = np.count_nonzero(np.diff(target)) / max(n - 1, 1)
    by_row = n * entries <= CACHE_ENTRIES or n < 64 * block or changes < 0.5 * (1.0 - float(share @ share))
    rows, order = np.arange(n), np.empty(n, dtype=np.int64)
    while True:
        if by_row:
            yield rng.permutation(n)
        else:
            _shuffle_blocks(rows, order, block, rng)
            yield order


def _shuffle_blocks(rows: IntArray, order: IntArray, block: int, rng: np.random.Generator) -> None:
    """Cut the rows into blocks at a random offset and shuffle these; the incomplete ones at both ends come last."""
    first = int(rng.integers(block))
    blocks = (rows.size - first) // block
    last = blocks * block
    whole = rows[first : first + last].reshape(blocks, block)
    np.take(whole, rng.permutation(blocks), axis=0, out=order[:last].reshape(blocks, block))
    order[last : last + first] = rows[:first]
    order[last + first :] = rows[first + last :]


class Harmonic(NamedTuple):
    """A rate that falls as rate / (1 + epoch / half_life).

    Examples
    --------
    >>> Harmonic(0.5, half_life=10.0).at(10)
    0.25
    """

    rate: float
    half_life: float = np.inf

    def at(self, epoch: int) -> float:
        """Return the rate in force during an epoch, counted from 0."""
        return self.rate / (1.0 + epoch / self.half_life)


class Geometric(NamedTuple):
    """A number that falls from `first` to `last` by the same factor in equal times.

    Examples
    --------
    >>> Geometric(1.0, 0.01).at(np.array([0.0, 0.5, 1.0])).round(12).tolist()
    [1.0, 0.1, 0.01]
    """

    first: float
    last: float

    def at(self, share: FloatArray) -> FloatArray:
        """Return first (last / first)^share for shares of the time gone by, 0 to 1."""
        value: FloatArray = self.first * np.exp(share * np.log(self.last / self.first))
        return value
