"""Schedules: in which order examples are shown, and how a rate falls.

The order of an epoch is a function of the seed and the epoch alone: Fisher and Yates's shuffle with the numbers of a counter
(splitmix64; Steele, Lea and Flood 2014). So a run may be cut anywhere, in compiled code or between two calls, and goes on with
the same order.
"""

from typing import NamedTuple, Self

import numpy as np

from halfspace._dispatch import compiled_and_inside, compiled_inside
from halfspace._typing import FloatArray, IntArray

__all__ = ["Geometric", "Harmonic", "Orders", "write_order"]

BLOCK = 32
"""Rows that stay together in a block shuffle, at least; narrow rows up to eight times as many."""
BLOCK_ENTRIES = 1 << 13
"""Entries that a block should have: 64 KB, enough that the jump to the next one costs little."""
CACHE_ENTRIES = 1 << 15
"""Data of at most this many entries are shuffled row by row: they are in cache anyway."""
WORD = 0xFFFFFFFFFFFFFFFF
GOLDEN = 0x9E3779B97F4A7C15


class Orders(NamedTuple):
    """The order in which rows are shown, epoch by epoch.

    Examples
    --------
    >>> orders = Orders.shuffled(5, 2.0, np.array([0, 1, 0, 1, 0]), seed=0)
    >>> orders.at(0).tolist(), orders.at(1).tolist()
    ([1, 2, 4, 3, 0], [0, 4, 1, 2, 3])
    """

    rows: IntArray  # (n,) what is put in order
    block: int  # how many rows stay together; 1 shuffles them one by one, 0 leaves them as they are, -1 draws with replacement
    seed: int = 0

    @classmethod
    def in_order(cls, n: int) -> Self:
        """Show n rows as they lie, in every epoch."""
        return cls(np.arange(n), 0)

    @classmethod
    def shuffled(cls, n: int, entries: float, target: IntArray, seed: int) -> Self:
        """Shuffle n rows in every epoch, without walking randomly through memory.

        Rows far apart in memory cost three times as much to visit as neighbours. So blocks of neighbouring rows (32 to 256,
        about 64 KB) are shuffled, not rows, and the cuts between blocks fall elsewhere in every epoch. Where this could hurt,
        rows are shuffled one by one: in data that fit the cache or have few rows, and in data sorted by class (labels change
        less than half as often from row to row as they would by chance). `benchmarks/shuffling.py` shows that held-out
        accuracy does not suffer.

        Parameters
        ----------
        n : int
            Number of examples.
        entries : float
            Stored entries per row.
        target : ndarray, shape (n,)
            Class numbers.
        seed : int
            Random seed, not negative.
        """
        block = int(np.clip(BLOCK_ENTRIES // max(entries, 1.0), BLOCK, 8 * BLOCK))
        if n * entries <= CACHE_ENTRIES or n < 64 * block or _sorted_by_class(target):
            block = 1
        return cls(np.arange(n), block, seed)

    @classmethod
    def drawn(cls, n: int, seed: int) -> Self:
        """Draw n rows at random in every epoch, with replacement: some come twice and some not at all."""
        return cls(np.arange(n), -1, seed)

    def at(self, epoch: int) -> IntArray:
        """Return the rows in the order of an epoch, shape (n,)."""
        order = np.empty_like(self.rows)
        write_order(self, epoch, order)
        return order


def _sorted_by_class(target: IntArray) -> bool:
    """Tell whether labels change less than half as often from row to row as they would by chance."""
    share = np.bincount(target) / max(target.size, 1)
    changes = np.count_nonzero(np.diff(target)) / max(target.size - 1, 1)
    return bool(changes < 0.5 * (1.0 - float(share @ share)))


@compiled_inside
def _mixed(z: int) -> int:
    """Scramble 64 bits; without a word of 64 bits (JIT off) the products are cut to one."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


@compiled_inside
def _below(limit: int, key: int, count: int) -> np.int64:
    """Return random number `count` of the sequence `key`, from 0 to limit - 1; limits are below 2^32."""
    z = _mixed((key + int(np.uint64(count + 1)) * GOLDEN) & WORD)
    return np.int64(((z >> 32) * int(np.uint64(limit))) >> 32)


@compiled_inside
def _shuffle(order: IntArray, key: int) -> None:
    """Fisher and Yates's shuffle."""
    for i in range(order.size - 1, 0, -1):
        j = _below(i + 1, key, i)
        order[i], order[j] = order[j], order[i]


@compiled_and_inside
def write_order(orders: Orders, epoch: int, out: IntArray) -> None:
    """Write the order of an epoch into `out`, shape (n,).

    Blocks are cut at a random offset; the incomplete ones at both ends come last.
    """
    rows, block, n = orders.rows, orders.block, orders.rows.size
    for i in range(n):
        out[i] = rows[i]
    if block == 0:
        return
    key = _mixed((_mixed(int(np.uint64(orders.seed))) + int(np.uint64(epoch)) * GOLDEN) & WORD)
    if block == 1:
        _shuffle(out, key)
        return
    if block < 0:
        for i in range(n):
            out[i] = rows[_below(n, key, i)]
        return
    first = _below(block, key, n)
    blocks = (n - first) // block
    places = out[n - blocks :]  # each is read before it is written over
    for b in range(blocks):
        places[b] = b
    _shuffle(places, key)
    for b in range(blocks):
        begin = first + places[b] * block
        for i in range(block):
            out[b * block + i] = rows[begin + i]
    for i in range(n - blocks * block):
        out[blocks * block + i] = rows[i if i < first else blocks * block + i]


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
