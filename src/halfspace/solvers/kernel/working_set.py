"""The working set of a kernel machine: its square matrix, and the kernel rows that bring the others up to date.

Where rows are short, a kernel value is computed faster than it is fetched, so nothing but the square is kept. Where they are
long (`KEEP` columns or more), each member's row of kernel values is computed once and kept: a new level only adds the columns
of its new examples, the square is gathered from the rows, and an update of the others reads them. Where several problems have
the same examples, and not many, they share the whole matrix.
"""

from typing import Any

import numpy as np

from halfspace._dispatch import compiled_as_written
from halfspace._typing import FloatArray, IntArray
from halfspace.kernels.gram import LazyGram
from halfspace.rows.threads import each

__all__ = ["WorkingSet", "in_double", "working_set"]

KEEP = 96
"""Columns from which kernel rows are kept."""
PIECE = 2048
"""Columns of a kept row read at a time by a thread."""


class WorkingSet:
    """Examples that may change, known by their places in the random order of all; nothing is kept but their square."""

    def __init__(self, gram: LazyGram, order: IntArray, dtype: Any = np.float32) -> None:
        self.gram, self.order, self.dtype = gram, order, dtype
        self.members, self.K = np.empty(0, dtype=np.int64), np.empty((0, 0), dtype=dtype)  # K may have room for more
        self.diagonal = np.empty(0, dtype=dtype)

    def choose(self, members: IntArray) -> None:
        """Begin anew with these members."""
        self.members, rows = members, self.order[members]
        self.K = self.gram.block(rows, rows, self.dtype)
        self.diagonal = self.gram.diagonal[rows].astype(self.dtype)

    def grow(self, new: IntArray) -> None:
        """Let further examples join."""
        w, everyone = self.members.size, np.concatenate([self.members, new])
        rows = self._rows(new, everyone)
        self.K = _roomy(self.K, w, everyone.size)
        self.K[w : everyone.size, : everyone.size] = rows
        self.K[:w, w : everyone.size] = rows[:, :w].T
        self.members, self.diagonal = everyone, self.gram.diagonal[self.order[everyone]].astype(self.dtype)

    def _rows(self, new: IntArray, everyone: IntArray) -> Any:
        """Return the kernel values of some examples with others."""
        return self.gram.block(self.order[new], self.order[everyone], self.dtype)

    def effect(self, change: FloatArray, others: IntArray) -> FloatArray:
        """Return what changes of the members' strengths do to the outputs of others."""
        moving = np.flatnonzero(change)
        return self.gram.times(self.order[self.members[moving]], change[moving], self.order[others], self.dtype)

    def entry(self, support: IntArray, strengths: FloatArray, first: int, m: int) -> FloatArray:
        """Return the outputs of examples first..m that the support gives them."""
        return self.gram.times(self.order[support], strengths, self.order[first:m], self.dtype)

    def outputs(self, support: IntArray, strengths: FloatArray) -> tuple[FloatArray, FloatArray] | None:  # noqa: ARG002
        """Return the outputs of all examples, and the same sums of absolute values, if that is cheap."""
        return None


def _roomy(K: Any, w: int, size: int) -> Any:
    """Return a square with room for `size` members, the first w of them as in K."""
    if size <= K.shape[0]:
        return K
    room = np.empty((max(size, w + w // 4),) * 2, dtype=K.dtype)
    room[:w, :w] = K[:w, :w]
    return room


@compiled_as_written
def _combine(K: Any, slots: Any, coefficients: Any, first: int, last: int, out: Any) -> None:
    """Add coefficients times kept rows to out[first:last]; few rows in single precision, all of them in double."""
    part = np.empty(last - first, np.float32)
    for begin in range(0, slots.size, 32):
        part[:] = 0
        for p in range(begin, min(begin + 32, slots.size)):
            row, c = K[slots[p], first:last], coefficients[p]
            for j in range(part.size):
                part[j] += c * row[j]
        for j in range(part.size):
            out[first + j] += part[j]


@compiled_as_written
def _gather(K: Any, slots: Any, columns: Any, first: int, last: int, out: Any) -> None:
    """Copy these columns of kept rows."""
    for p in range(first, last):
        row, target = K[slots[p]], out[p]
        for j in range(columns.size):
            target[j] = row[columns[j]]


@compiled_as_written
def _transpose(source: Any, first: int, last: int, out: Any) -> None:
    """Write columns first..last of the source as rows, block by block."""
    for i in range(first, last, 32):
        for j in range(0, source.shape[0], 32):
            for r in range(i, min(i + 32, last)):
                for c in range(j, min(j + 32, source.shape[0])):
                    out[r, c] = source[c, r]


class _Kept(WorkingSet):
    """Rows of all whose strength changed at this level are kept, over the examples of the level."""

    def __init__(self, gram: LazyGram, order: IntArray, room: int) -> None:
        super().__init__(gram, order)
        self.m, self.count = 0, 0
        self.slot = np.full(order.size, -1, dtype=np.int64)
        self.rows = np.empty((min(room, order.size), order.size), dtype=np.float32)  # pages are taken when they are written
        self.packed, self.width = gram.packed(order), gram.inputs

    def _fill(self, examples: IntArray, first: int, last: int, out: Any) -> None:
        """Compute kernel rows over examples first..last."""
        packed = None if self.packed is None or first % 16 else self.packed[first * self.width :]
        self.gram.block(self.order[examples], self.order[first:last], out=out, packed=packed)

    def _reach(self, m: int, support: IntArray) -> None:
        """Go on to the first m examples: extend the rows of the support, forget the others."""
        support = support[np.argsort(self.slot[support])]
        slots, k = self.slot[support], int(np.count_nonzero(self.slot[support] >= 0))
        support, slots = support[support.size - k :], slots[support.size - k :]
        for new, old in enumerate(slots.tolist()):
            if new != old:
                self.rows[new, : self.m] = self.rows[old, : self.m]
        self.slot[:] = -1
        self.slot[support], self.count = np.arange(k), k
        if k:
            self._fill(support, self.m, m, self.rows[:k, self.m : m])
        self.m = m

    def _keep(self, members: IntArray) -> IntArray:
        """Compute the rows of those that have none yet, as far as there is room; return those without."""
        new = members[self.slot[members] < 0]
        new, without = new[: self.rows.shape[0] - self.count], new[self.rows.shape[0] - self.count :]
        if new.size:
            last = self.count + new.size
            self._fill(new, 0, self.m, self.rows[self.count : last, : self.m])
            self.slot[new], self.count = np.arange(self.count, last), last
        return without

    def choose(self, members: IntArray) -> None:
        kept = self.slot[members] >= 0
        first, others = members[kept], members[~kept]
        everyone, k, w = np.concatenate([first, others]), first.size, members.size
        self.members, self.K = everyone, np.empty((w, w), dtype=np.float32)
        slots, K = self.slot[first], self.K
        _in_pieces(lambda a, b: _gather(self.rows, slots, everyone, a, b, K), k, 256)
        _in_pieces(lambda a, b: _transpose(K[:k, k:], a, b, K[k:, :k]), w - k, 256)
        if k < w:
            rows = self.order[others]
            K[k:, k:] = self.gram.block(rows, rows)
        self.diagonal = self.gram.diagonal[self.order[everyone]].astype(np.float32)

    def _rows(self, new: IntArray, everyone: IntArray) -> Any:
        kept, others = np.flatnonzero(self.slot[new] >= 0), np.flatnonzero(self.slot[new] < 0)
        part = np.empty((new.size, everyone.size), dtype=np.float32)
        part[kept] = self.rows[self.slot[new[kept]]][:, everyone]
        if others.size:
            part[others] = self.gram.block(self.order[new[others]], self.order[everyone])
        return part

    def effect(self, change: FloatArray, others: IntArray) -> FloatArray:
        moving = np.flatnonzero(change)
        return self._combined(self.members[moving], change[moving], 0)[others]

    def entry(self, support: IntArray, strengths: FloatArray, first: int, m: int) -> FloatArray:
        if first == 0:
            self.m = m
        else:
            self._reach(m, support)
        return self._combined(support, strengths, first)

    def outputs(self, support: IntArray, strengths: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        if self.m < self.order.size or (self.slot[support] < 0).any():
            return None
        return self._combined(support, strengths, 0), self._combined(support, np.abs(strengths), 0)

    def _combined(self, members: IntArray, coefficients: FloatArray, first: int) -> FloatArray:
        """Return the sum of the members' rows, times coefficients, over examples first..m."""
        without = self._keep(members)
        kept = self.slot[members] >= 0
        out, slots, c = np.zeros(self.m - first), self.slot[members[kept]], coefficients[kept].astype(np.float32)
        rows = self.rows[:, first:]
        _in_pieces(lambda a, b: _combine(rows, slots, c, a, b, out), out.size, PIECE)
        if without.size:
            out += self.gram.times(self.order[members[~kept]], coefficients[~kept], self.order[first : self.m])
        return out


class _Shared(WorkingSet):
    """All kernel values are there, shared with other problems."""

    def choose(self, members: IntArray) -> None:
        self.members = members
        self.K, self.diagonal = self._rows(members, members), self.gram.diagonal[self.order[members]].astype(np.float32)

    def _rows(self, new: IntArray, everyone: IntArray) -> Any:
        rows, columns, out = self.order[new], self.order[everyone], np.empty((new.size, everyone.size), np.float32)
        _in_pieces(lambda a, b: _gather(self.gram.shared, rows, columns, a, b, out), new.size, 256)
        return out

    def effect(self, change: FloatArray, others: IntArray) -> FloatArray:
        moving = np.flatnonzero(change)
        return self._combined(self.members[moving], change[moving])[others]

    def entry(self, support: IntArray, strengths: FloatArray, first: int, m: int) -> FloatArray:
        return self._combined(support, strengths)[first:m]

    def outputs(self, support: IntArray, strengths: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        return self._combined(support, strengths), self._combined(support, np.abs(strengths))

    def _combined(self, members: IntArray, coefficients: FloatArray) -> FloatArray:
        """Return the sum of the members' rows, times coefficients, over all examples in the random order."""
        K, rows, c, out = self.gram.shared, self.order[members], coefficients.astype(np.float32), np.zeros(self.gram.n)
        _in_pieces(lambda a, b: _combine(K, rows, c, a, b, out), out.size, PIECE)
        return out[self.order]


def _in_pieces(work: Any, n: int, step: int) -> None:
    """Call work(first, last) for pieces of 0..n, in threads if there are several."""
    each(lambda first: work(first, min(first + step, n)), n, step, n << 12)


def in_double(gram: LazyGram, order: IntArray) -> WorkingSet:
    """Return a working set in double precision, for what single precision cannot tell."""
    return WorkingSet(gram, order, np.float64)


def working_set(gram: LazyGram, order: IntArray, room: int) -> WorkingSet:
    """Return a working set that keeps what pays, of at most `room` members (kept rows take as much again)."""
    if gram.shared is not None:
        return _Shared(gram, order)
    kept = gram.width >= KEEP and not gram.lookup and order.size <= 2 * room
    return _Kept(gram, order, room) if kept else WorkingSet(gram, order)
