"""The design of a regression: examples with their weights, their constant input and their centre, read block by block.

A regression reads x̃_i = (x_i - centre, clamp): the clamped input makes the constant one more weight, a centre takes an
unpenalised constant out of the problem. Neither is ever stored: blocks of some thousand rows are made when they are read, so
that memory stays far below the data's size, in double precision, and in ranges cut by the data alone.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import iadd
from typing import Any

import numpy as np
from scipy import sparse

from halfspace._typing import FloatArray, Matrix
from halfspace.rows.threads import CHUNK_ENTRIES, in_chunks

__all__ = ["Design", "column_means"]

BLOCK = 1 << 18
"""Entries of a block: it stays in cache."""
SUMS, FEW_SUMS = 1 << 26, 1 << 22
"""Entries of all partial sums of squares together: 512 MB. More than four such sums are made only up to 32 MB, for to add
them up takes as long as to read data of their size."""
SCATTERED = 0.1
"""Share of stored entries below which products of sparse rows are cheaper than those of dense ones."""
NEAR = 16.0
"""Up to so many times the variance of its column, the square of a centre may be subtracted after products, not before."""


def column_means(X: Matrix, s: FloatArray) -> FloatArray:
    """Return Σ s_i x_i / Σ s_i, shape (d,)."""
    return Design(X, s, 0.0, np.zeros(X.shape[1])).combine(s[:, None])[:, 0] / s.sum()


@dataclass(frozen=True)
class Design:
    """Rows x̃_i with weights s_i.

    Parameters
    ----------
    X : ndarray or CSR matrix, shape (n, d)
        Examples.
    s : ndarray, shape (n,)
        Weights of the examples.
    clamp : float
        Value of the clamped input; 0 for none.
    centre : ndarray, shape (d,)
        What is subtracted from every example.
    """

    X: Matrix
    s: FloatArray
    clamp: float
    centre: FloatArray

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def D(self) -> int:  # noqa: N802  (a word here)
        """Number of inputs, the clamped one included."""
        return int(self.X.shape[1]) + bool(self.clamp)

    @property
    def entries(self) -> int:
        """Number of stored entries of the examples."""
        return int(self.X.nnz if sparse.issparse(self.X) else self.X.size)

    @property
    def tall(self) -> bool:
        """Whether there are at least as many rows as inputs."""
        return self.n >= self.D

    @cached_property
    def root(self) -> FloatArray:
        """Roots of the weights, shape (n, 1)."""
        return np.sqrt(self.s)[:, None]

    @cached_property
    def equal(self) -> bool:
        """Whether all weights are 1."""
        return bool((self.s == 1.0).all())

    @cached_property
    def _by_columns(self) -> Matrix:
        """The examples, stored so that ranges of columns are found fast."""
        return self.X.tocsc() if sparse.issparse(self.X) else self.X

    @cached_property
    def near(self) -> bool:
        """Whether products may be taken of the examples as they are stored: sparse, or doubles about their centre."""
        if sparse.issparse(self.X) or self.X.dtype != np.float64:
            return bool(sparse.issparse(self.X))
        if not self.centre.any():
            return True
        second = sum(self.in_rows(lambda a, b: self.s[a:b] @ np.square(self.X[a:b]), self.D))
        return bool((self.centre**2 * self.s.sum() * (1.0 + 1.0 / NEAR) <= second).all())

    # ------------------------------------------------------------ blocks
    def rows(self, start: int, stop: int) -> FloatArray:
        """Return the rows x̃_i of a range, shape (stop - start, D)."""
        d = self.X.shape[1]
        block = np.empty((stop - start, self.D))
        block[:, :d] = _dense(self.X[start:stop])
        block[:, :d] -= self.centre
        block[:, d:] = self.clamp
        return block

    def block(self, start: int, stop: int) -> FloatArray:
        """Return some rows of the tall matrix A: of √s X̃ if that is tall, else of its transpose."""
        if self.tall:
            return self.root[start:stop] * self.rows(start, stop)
        inner = slice(start, min(stop, self.X.shape[1]))
        block = np.full((self.n, stop - start), self.clamp)
        block[:, : inner.stop - start] = _dense(self._by_columns[:, inner])
        block[:, : inner.stop - start] -= self.centre[inner]
        block *= self.root
        return block.T

    def over_blocks(self, work: Callable[[Iterator[tuple[int, int]]], Any], least: int = 256) -> list[Any]:
        """Call `work` on iterators over the blocks of A's rows, one per piece of the data; results in row order."""
        length, width = max(self.n, self.D), min(self.n, self.D)
        step = max(least, BLOCK // width, width)
        pieces = min(length * width / CHUNK_ENTRIES, SUMS / width**2, max(FEW_SUMS / width**2, 4.0))
        return in_chunks(lambda a, b: work(_ranges(a, b, step)), length, pieces * CHUNK_ENTRIES / length)

    # ------------------------------------------------------------ products
    def normal(self) -> FloatArray:
        """Return AᵀA, shape (min(n, D), min(n, D)): X̃ᵀSX̃ if the design is tall, √S X̃X̃ᵀ √S otherwise."""
        if sparse.issparse(self.X):
            scattered = self.X.nnz < SCATTERED * self.n * self.X.shape[1]
            return self._stored_normal(self._scattered_square()) if scattered else self._dense_normal()
        return self._stored_normal(self._dense_normal(stored=True)) if self.near else self._dense_normal()

    def _dense_normal(self, *, stored: bool = False) -> FloatArray:
        """Return AᵀA of dense blocks; `stored`: without centre, clamped input and weights of a wide design."""
        d = self.X.shape[1]

        def products(ranges: Iterator[tuple[int, int]]) -> Iterator[FloatArray]:
            for start, stop in ranges:
                if not stored:
                    block = self.block(start, stop)
                elif not self.tall:
                    block = self.X[:, start : min(stop, d)].T
                else:
                    block = self.X[start:stop] if self.equal else self.root[start:stop] * self.X[start:stop]
                yield block.T @ block

        copied = not stored or (self.tall and not self.equal)
        parts = self.over_blocks(lambda ranges: reduce(iadd, products(ranges)), 256 if copied else max(self.n, d))
        return np.asarray(reduce(iadd, parts))

    def _scattered_square(self) -> FloatArray:
        """Return the products of sparse rows as they are stored, XXᵀ, or XᵀSX if the design is tall."""
        X = self.X.astype(np.float64)
        A = sparse.csr_array(sparse.diags_array(self.root[:, 0]) @ X) if self.tall else sparse.csr_array(X)
        return (A.T @ A if self.tall else A @ A.T).toarray()

    def _stored_normal(self, K: FloatArray) -> FloatArray:
        """Return AᵀA from products K of the examples as they are stored: centre, clamped input and weights are put in."""
        if not self.tall:
            along = self._outputs(self.centre[:, None]) - 0.5 * (self.centre @ self.centre + self.clamp**2)
            K -= along
            K -= along.T
            return K if self.equal else self.root * K * self.root.T
        d, total = self.X.shape[1], self.s.sum()
        sums = self._sums(self.s[:, None])[:, 0]
        if self.centre.any():
            across = np.outer(self.centre, 0.5 * total * self.centre - sums)
            K += across
            K += across.T
        if not self.clamp:
            return K
        G = np.full((self.D, self.D), self.clamp**2 * total)
        G[:d, :d] = K
        G[:d, d:] = (self.clamp * (sums - total * self.centre))[:, None]
        G[d:, :d] = G[:d, d:].T
        return G

    def _outputs(self, W: FloatArray) -> FloatArray:
        """Return XW, shape (n, m), of the examples as they are stored."""
        if sparse.issparse(self.X):
            return np.asarray(self.X @ W)
        return np.concatenate(in_chunks(lambda a, b: self.X[a:b] @ W, self.n, self.D))

    def outputs(self, W: FloatArray) -> FloatArray:
        """Return X̃W, shape (n, m), for weights W, shape (D, m)."""
        d = self.X.shape[1]
        if self.near:
            return self._outputs(W[:d]) + self._constant(W)
        return np.concatenate(self.in_rows(lambda a, b: self.rows(a, b) @ W, self.D))

    def _constant(self, W: FloatArray) -> FloatArray:
        """Return what the centre and the clamped input add to outputs, shape (m,)."""
        d = self.X.shape[1]
        return np.asarray(self.clamp * W[d:].sum(axis=0) - self.centre @ W[:d])

    def _sums(self, C: FloatArray) -> FloatArray:
        """Return XᵀC, shape (d, m), of the examples as they are stored."""
        if sparse.issparse(self.X):
            return np.asarray(self.X.T @ C)
        return np.asarray(sum(in_chunks(lambda a, b: self.X[a:b].T @ C[a:b], self.n, self.D)))

    def combine(self, C: FloatArray) -> FloatArray:
        """Return X̃ᵀC, shape (D, m), for coefficients C, shape (n, m)."""
        if self.near:
            sums = C.sum(axis=0)
            inner = self._sums(C) - self.centre[:, None] * sums
            return np.vstack([inner, self.clamp * sums]) if self.clamp else np.asarray(inner)
        return np.asarray(sum(self.in_rows(lambda a, b: self.rows(a, b).T @ C[a:b], self.D)))

    def residuals(self, Y: FloatArray, W: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return R = Y - X̃W, shape (n, m), and X̃ᵀSR, shape (D, m), reading dense rows once."""
        if self.near:
            R = Y - self.outputs(W)
            return R, self.combine(self.s[:, None] * R)

        def work(start: int, stop: int) -> tuple[FloatArray, FloatArray]:
            block = self.rows(start, stop)
            rest = Y[start:stop] - block @ W
            return rest, block.T @ (self.s[start:stop, None] * rest)

        done = self.in_rows(work, self.D)
        return np.concatenate([rest for rest, _ in done]), np.asarray(sum(part for _, part in done))

    def in_rows(self, work: Callable[[int, int], Any], entries: int) -> list[Any]:
        """Call `work` on blocks of rows, of so many entries a row, in threads if there are many; results in row order."""
        step = max(1, BLOCK // entries)
        done = in_chunks(lambda a, b: [work(*part) for part in _ranges(a, b, step)], self.n, self.D)
        return [part for piece in done for part in piece]


def _ranges(start: int, stop: int, step: int) -> Iterator[tuple[int, int]]:
    """Cut a range into steps."""
    for first in range(start, stop, step):
        yield first, min(first + step, stop)


def _dense(block: Any) -> Any:
    """Return rows or columns as an array."""
    return block.toarray() if sparse.issparse(block) else block
