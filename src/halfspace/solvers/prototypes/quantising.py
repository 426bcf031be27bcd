"""The engine of online quantisers: present a row, measure all prototypes, move some.

Prototypes are kept as columns, V (d, P) with P a multiple of 8, so that distances and moves run over all prototypes at once,
four or eight to an instruction; for the usual 100 prototypes in 20 dimensions V stays in the first-level cache. Rows of any
storage come in as small dense blocks, so there is one compiled loop for all of them.

Invariants: distances are sums of squared differences, never expanded squares. Of equal distances the lower number comes
first. Any cut of the rows into pieces gives the same prototypes, bit by bit.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from halfspace._dispatch import compiled
from halfspace._typing import FloatArray, IntArray, View
from halfspace.rows.operations import gathered
from halfspace.rows.threads import in_chunks
from halfspace.rows.views import n_columns, n_rows

__all__ = ["HOLD", "Learner", "all_distances", "columns", "nearest", "present", "pull_column", "shares", "winners"]

LANES = 8
"""Columns are padded to a multiple of this: a vector of single precision."""
PIECE_ENTRIES = 1 << 15
"""Entries of the rows presented between two looks at the clock: milliseconds, and they stay in the second-level cache."""
BLOCK_ENTRIES = 1 << 18
"""Entries of a block of rows and their distances: two megabytes."""
HOLD = 16
"""Presentations for which a rate stays: renewing it each time would cost a tenth of the work."""


class Learner:
    """The state of a quantiser between two pieces of rows; a method adds how rows move prototypes.

    Parameters
    ----------
    W : ndarray, shape (K, d)
        Prototypes to start from.
    total : int
        Presentations of the whole course; 0 for a stream, which has no end.

    Examples
    --------
    >>> Learner(np.array([[1.0, 2.0]]), 0).W
    array([[1., 2.]])
    """

    def __init__(self, W: FloatArray, total: int) -> None:
        self.V, self.K, self.total = columns(W), W.shape[0], total
        self.clock, self.error = 0, 0.0
        self.errors: list[float] = []  # of the epochs completed: Σ squared distance from the nearest, when presented

    @property
    def W(self) -> FloatArray:  # noqa: N802  (the symbol of the prototypes everywhere)
        """The prototypes, shape (K, d)."""
        return np.ascontiguousarray(self.V[:, : self.K].T)

    def present(self, rows: FloatArray) -> None:
        """Take in rows, shape (m, d), one after another, and add m to the clock."""
        raise NotImplementedError

    def end_epoch(self, X: View, *, last: bool) -> None:
        """Note the error, after every row of X was presented once."""
        del X, last
        self.errors.append(self.error)
        self.error = 0.0

    def course(self) -> dict[str, Any]:
        """Return, in plain values, what a learner needs besides prototypes to go on from here."""
        return {"clock": self.clock, "error": self.error, "errors": np.array(self.errors, dtype=np.float64)}

    def resume(self, course: dict[str, Any]) -> None:
        """Go on from where another learner stopped."""
        self.clock, self.error, self.errors = course["clock"], course["error"], course["errors"].tolist()


def shares(clock: int, count: int, total: int) -> FloatArray:
    """Return what share of the course has gone by at the next `count` presentations, one number for every 16 of them.

    Number (clock % HOLD + t) // HOLD is in force at the t-th of them. All has gone by in a stream, whose `total` is 0.

    Examples
    --------
    >>> shares(10, 20, 64).tolist(), shares(0, 16, 0).tolist()
    ([0.0, 0.25], [1.0])
    """
    numbers = np.arange(clock // HOLD, (clock + count - 1) // HOLD + 1, dtype=np.float64)
    return numbers * (HOLD / total) if total else np.ones(numbers.size)


def columns(W: FloatArray) -> FloatArray:
    """Return prototypes W, shape (K, d), as columns, padded with zeros: shape (d, P).

    Examples
    --------
    >>> columns(np.ones((3, 2))).shape
    (2, 8)
    """
    K, d = W.shape
    V = np.zeros((d, -(-K // LANES) * LANES))
    V[:, :K] = W.T
    return V


@compiled
def squared_distances(x: FloatArray, V: FloatArray, D: FloatArray) -> None:
    """Write ‖x - v_k‖² into D, shape (P,); four dimensions at a time, so that D is read and written less often."""
    d = V.shape[0]
    whole = d - d % 4
    D[:] = 0.0
    for j in range(0, whole, 4):
        x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
        v0, v1, v2, v3 = V[j], V[j + 1], V[j + 2], V[j + 3]
        for k in range(D.size):
            a, b, c, e = x0 - v0[k], x1 - v1[k], x2 - v2[k], x3 - v3[k]
            D[k] += (a * a + b * b) + (c * c + e * e)
    for j in range(whole, d):
        for k in range(D.size):
            a = x[j] - V[j, k]
            D[k] += a * a


@compiled
def nearest(D: FloatArray, K: int) -> int:
    """Return the number of the least of D[:K]; of equal ones the first."""
    least = D[0]
    for k in range(K):
        least = min(least, D[k])
    for k in range(K):
        if D[k] == least:
            return k
    return 0


@compiled
def pull_column(rate: float, x: FloatArray, V: FloatArray, k: int) -> None:
    """Move prototype k towards x: v_k += rate (x - v_k)."""
    for j in range(V.shape[0]):
        V[j, k] += rate * (x[j] - V[j, k])


def present(learner: Learner, X: View, order_of: Callable[[int], IntArray], epochs: int) -> Iterator[int]:
    """Present all rows `epochs` times, from where the learner's clock stands; yield the clock after every piece.

    Parameters
    ----------
    learner : Learner
        The method and its state.
    X : View, n rows
        Examples.
    order_of : callable
        Order of the rows, shape (n,), in each epoch counted from 0.
    epochs : int
        Epochs to be completed.
    """
    n, d = n_rows(X), n_columns(X)
    piece = max(1, PIECE_ENTRIES // d)
    room = np.empty((min(piece, n), d))
    while learner.clock < epochs * n:
        epoch, begin = divmod(learner.clock, n)
        order = order_of(epoch)
        for first in range(begin, n, piece):
            learner.present(gathered(X, order[first : first + piece], room))
            if first + piece >= n:
                learner.end_epoch(X, last=epoch + 1 == epochs)
            yield learner.clock


@compiled
def _distances(rows: FloatArray, V: FloatArray, out: FloatArray) -> None:
    D = np.empty(V.shape[1])
    for r in range(rows.shape[0]):
        squared_distances(rows[r], V, D)
        for k in range(out.shape[1]):
            out[r, k] = D[k]


def _blocks(X: View, W: FloatArray, use: Callable[[slice, FloatArray], None]) -> None:
    """Call `use(rows, squared distances)` for blocks of rows, in threads."""
    V, (K, d) = columns(W), W.shape
    step = max(1, BLOCK_ENTRIES // (V.shape[1] + d))

    def work(start: int, stop: int) -> None:
        for first in range(start, stop, step):
            rows = np.arange(first, min(first + step, stop))
            D = np.empty((rows.size, K))
            _distances(gathered(X, rows), V, D)
            use(slice(first, first + rows.size), D)

    in_chunks(work, n_rows(X), V.size)


def winners(X: View, W: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return for every row its nearest prototype, the first of equally near ones, and the squared distance, shapes (n,).

    Examples
    --------
    >>> winners(np.array([[0.0], [2.0], [9.0]]), np.array([[1.0], [10.0]]))
    (array([0, 0, 1]), array([1., 1., 1.]))
    """
    labels, least = np.empty(n_rows(X), dtype=np.int64), np.empty(n_rows(X))

    def use(rows: slice, D: FloatArray) -> None:
        labels[rows] = D.argmin(axis=1)
        least[rows] = D.min(axis=1)

    _blocks(X, W, use)
    return labels, least


def all_distances(X: View, W: FloatArray) -> FloatArray:
    """Return the distances of all rows from all prototypes, shape (n, K).

    Examples
    --------
    >>> all_distances(np.array([[3.0, 4.0]]), np.array([[0.0, 0.0], [3.0, 5.0]]))
    array([[5., 1.]])
    """
    distances = np.empty((n_rows(X), W.shape[0]))

    def use(rows: slice, D: FloatArray) -> None:
        np.sqrt(D, out=distances[rows])

    _blocks(X, W, use)
    return distances
