"""Which rows are kept, in one pass and bounded memory.

`Everything` keeps all. `Sample` gives each row a uniform random key and keeps the rows with the `size` smallest keys: a uniform
sample without replacement, the same for a seed however the file is cut into pieces. `Chosen` keeps rows by number.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfspace._typing import IntArray, Labels
from halfspace.errors import InputError

__all__ = ["Chosen", "Everything", "Piece", "Sample"]

Mask = NDArray[np.bool_]


class Piece(NamedTuple):
    """What a format's reader hands on: consecutive rows, not yet of their final types, and labels if the format has them."""

    X: Any
    y: Labels | None = None


def _masked(piece: Piece, mask: Mask) -> Piece:
    """Return the rows of a piece where the mask is True."""
    if mask.all():
        return piece
    X = piece.X.filter(mask) if hasattr(piece.X, "filter") else piece.X[mask]
    return Piece(X, None if piece.y is None else piece.y[mask])


class Everything:
    """Keep all rows that have a label."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.rows: list[IntArray] = []
        self.n_labelled = 0

    def add(self, first: int, piece: Piece, labelled: Mask) -> None:
        """Take a piece whose first row has number `first`."""
        self.n_labelled += int(labelled.sum())
        self._keep(first, piece, self._wanted(first, labelled))

    def _wanted(self, first: int, labelled: Mask) -> Mask:
        """Tell which rows of a piece are kept."""
        del first
        return labelled

    def _keep(self, first: int, piece: Piece, mask: Mask) -> None:
        """Store rows."""
        if mask.any():
            self.pieces.append(_masked(piece, mask))
            self.rows.append(first + np.flatnonzero(mask))

    def all_rows(self) -> IntArray:
        """Return the numbers of the rows kept, ascending."""
        return np.concatenate(self.rows) if self.rows else np.empty(0, dtype=np.int64)

    def order(self) -> IntArray | None:
        """Return how the rows kept must be arranged, or None if they are in order."""
        return None


class Sample(Everything):
    """Keep a uniform random sample."""

    def __init__(self, size: int, seed: int) -> None:
        super().__init__()
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
            msg = f"'max_rows' must be a whole number of at least 1, or None. Got {size!r} instead."
            raise InputError(msg)
        self._size = int(size)
        self._random = np.random.default_rng(seed)
        self._keys: list[NDArray[np.float64]] = []
        self._limit = np.inf
        self.lack = ""

    def restrict(self, size: int, lack: str) -> None:
        """Keep no more than so many rows, of those that are stored too, for lack of memory or time."""
        if size < self._size:
            self._size, self.lack = size, lack

    def _wanted(self, first: int, labelled: Mask) -> Mask:
        del first
        keys = self._random.random(labelled.size)
        wanted: Mask = labelled & (keys < self._limit)
        if wanted.any():
            self._keys.append(keys[wanted])
        return wanted

    @property
    def is_full(self) -> bool:
        """Whether so much is stored that it is time to prune."""
        return sum(map(len, self.rows)) > 2 * self._size

    def prune(self) -> None:
        """Keep the rows with the smallest keys only."""
        keys = np.concatenate(self._keys) if self._keys else np.empty(0)
        if keys.size <= self._size:
            return
        largest = float(np.partition(keys, self._size - 1)[self._size - 1])
        stored = list(zip(self.pieces, self.rows, self._keys, strict=True))
        self._limit = largest
        self.pieces, self.rows, self._keys = [], [], []
        for piece, rows, its_keys in stored:
            mask = its_keys <= largest
            if mask.any():
                self.pieces.append(_masked(piece, mask))
                self.rows.append(rows[mask])
                self._keys.append(its_keys[mask])


class Chosen(Everything):
    """Keep the rows with given numbers, in the order given."""

    def __init__(self, rows: Any) -> None:
        super().__init__()
        wanted = np.asarray(rows)
        if wanted.ndim != 1 or wanted.dtype.kind not in "iu" or not wanted.size or wanted.min() < 0:
            msg = f"'rows' must be a list of at least one row number, from 0. Got {rows!r} instead."
            raise InputError(msg)
        self._wanted_rows = wanted.astype(np.int64)
        self._sorted = np.unique(self._wanted_rows)

    def _wanted(self, first: int, labelled: Mask) -> Mask:
        begin, end = np.searchsorted(self._sorted, [first, first + labelled.size])
        inside = self._sorted[begin:end] - first
        if not labelled[inside].all():
            msg = f"row {first + int(inside[~labelled[inside]][0])} has no target; 'rows' must name labelled rows."
            raise InputError(msg)
        mask = np.zeros(labelled.size, dtype=bool)
        mask[inside] = True
        return mask

    def order(self) -> IntArray | None:
        """Return how the rows kept must be arranged, or None if they are in order."""
        found = self.all_rows()
        if found.size < self._sorted.size:
            msg = f"the file has no row {int(self._sorted[found.size])}; is it the file that the rows were taken from?"
            raise InputError(msg)
        if np.array_equal(found, self._wanted_rows):
            return None
        return np.searchsorted(self._sorted, self._wanted_rows)
