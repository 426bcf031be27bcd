"""Online quantisers: present a row, measure all prototypes, move some. Vector quantisation, and the engine of neural gas too.

Problem.    Prototypes w_1..w_K that minimise the quantisation error  E(W) = Σ_i min_k ‖x_i - w_k‖².
Update.     Vector quantisation (competitive learning): only the nearest prototype of a row x moves,  w_k += rate (x - w_k).
            The rate falls geometrically over the presentations. The rule that runs is `_move_winner`, below.
Guarantee.  A step of stochastic gradient descent on ½ E: -(x - w_k) is the gradient of the row's own term. With rates whose
            sum diverges and whose squares' sum does not, it converges to a stationary point of E with probability 1
            (Bottou 1998). For rates <= 1 prototypes never leave the convex hull of the start and the rows.
            Which stationary point depends on the start; a prototype that never wins stays where it is.
Dead units. A prototype that won nothing for a whole epoch is put on a row drawn in proportion to its squared distance (as
            k-means++ draws its centres, Arthur and Vassilvitskii 2007): the error falls by at least that row's share.
Reference.  Linde, Buzo and Gray 1980; Kohonen 1982; Hertz, Krogh and Palmer 1991, section 9.1.

Prototypes are kept as columns, V (d, P) with P a multiple of 8, so that distances and moves run over all prototypes at once,
four or eight to an instruction; for the usual 100 prototypes in 20 dimensions V stays in the first-level cache. Rows of any
storage come in as small dense blocks, so there is one compiled loop for all of them.

Invariants: distances are sums of squared differences, never expanded squares. Of equal distances the lower number comes
first. Any cut of the rows into pieces gives the same prototypes, bit by bit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple, Protocol, Self

import numpy as np

from halfspace._dispatch import compiled, compiled_inside
from halfspace._typing import FloatArray, IntArray, View
from halfspace.rows.operations import gathered
from halfspace.rows.orders import Geometric
from halfspace.rows.threads import in_chunks
from halfspace.rows.views import n_columns, n_rows
from halfspace.solvers.outcome import Reason

__all__ = [
    "HOLD",
    "Quantising",
    "Rule",
    "State",
    "WinnerTakesAll",
    "all_distances",
    "nearest",
    "pull_column",
    "shares",
    "winners",
]

LANES = 8
"""Columns are padded to a multiple of this: a vector of single precision."""
PIECE_ENTRIES = 1 << 15
"""Entries of the rows presented between two looks at the clock: milliseconds, and they stay in the second-level cache."""
BLOCK_ENTRIES, BLOCK_ROWS = 1 << 18, 1024
"""Entries of a block of rows and their distances: two megabytes; rows of a stream presented at a time."""
HOLD = 16
"""Presentations for which a rate stays: renewing it each time would cost a tenth of the work."""


class State(NamedTuple):
    """Where a quantiser stands; changed in place.

    Examples
    --------
    >>> State.of(np.array([[1.0, 2.0]])).W
    array([[1., 2.]])
    """

    V: Annotated[FloatArray, "f8(d,_m)"]  # (d, P): the prototypes as columns
    wins: Annotated[IntArray, "i8(P)"]  # (K,): in this epoch
    error: Annotated[FloatArray, "f8(1)"]  # (1,): Σ squared distance from the nearest of the rows presented in this epoch
    counts: Annotated[IntArray, "i8(2)"]  # (2,): presentations so far, prototypes revived

    @classmethod
    def of(cls, W: FloatArray) -> Self:
        """Return the state to begin with, for prototypes (K, d)."""
        return cls(columns(W), np.zeros(W.shape[0], dtype=np.int64), np.zeros(1), np.zeros(2, dtype=np.int64))

    @property
    def W(self) -> FloatArray:  # noqa: N802  (the symbol of the prototypes everywhere)
        """The prototypes, shape (K, d)."""
        return np.ascontiguousarray(self.V[:, : self.wins.size].T)


class Rule(Protocol):
    """How rows move prototypes."""

    def present(self, rows: FloatArray, state: State, total: int = 0) -> None:
        """Present rows (m, d), one after another, in a course of `total` presentations; 0 for a stream, which has no end."""


def shares(clock: int, count: int, total: int) -> FloatArray:
    """Return what share of the course has gone by at the next `count` presentations, one number for every 16 of them.

    Number (clock % HOLD + t) // HOLD is in force at the t-th of them. All has gone by in a stream, whose `total` is 0.
    """
    numbers = np.arange(clock // HOLD, (clock + count - 1) // HOLD + 1, dtype=np.float64)
    return numbers * (HOLD / total) if total else np.ones(numbers.size)


def columns(W: FloatArray) -> FloatArray:
    """Return prototypes W, shape (K, d), as columns, padded with zeros: shape (d, P)."""
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


@compiled_inside
def nearest(D: FloatArray, K: int) -> int:
    """Return the number of the least of D[:K]; of equal ones the first."""
    least = D[0]
    for k in range(K):
        least = min(least, D[k])
    for k in range(K):
        if D[k] == least:
            return k
    return 0


@compiled_inside
def pull_column(rate: float, x: FloatArray, V: FloatArray, k: int) -> None:
    """Move prototype k towards x: v_k += rate (x - v_k)."""
    for j in range(V.shape[0]):
        V[j, k] += rate * (x[j] - V[j, k])


@compiled
def _move_winner(rows: FloatArray, rates: FloatArray, held: int, V: FloatArray, wins: IntArray) -> float:
    """Present rows one after another; return the sum of their squared distances from the winners, before these moved."""
    D, error = np.empty(V.shape[1]), 0.0
    for t in range(rows.shape[0]):
        squared_distances(rows[t], V, D)
        k = nearest(D, wins.size)
        pull_column(rates[(held + t) // HOLD], rows[t], V, k)  # w_k += rate (x - w_k)
        wins[k] += 1
        error += D[k]
    return error


class WinnerTakesAll(NamedTuple):
    """The rule of vector quantisation, with its rate over the course of a fit; in a stream the rate is the last one throughout.

    Examples
    --------
    >>> state = State.of(np.array([[0.0], [10.0]]))
    >>> WinnerTakesAll(Geometric(0.5, 0.5)).present(np.array([[2.0], [8.0]]), state)
    >>> state.W.ravel().tolist(), state.error.tolist()
    ([1.0, 9.0], [8.0])
    """

    rate: Geometric

    def present(self, rows: FloatArray, state: State, total: int = 0) -> None:
        """Present rows (m, d), one after another."""
        rates = self.rate.at(shares(int(state.counts[0]), len(rows), total))
        state.error[0] += _move_winner(rows, rates, int(state.counts[0]) % HOLD, state.V, state.wins)
        state.counts[0] += len(rows)


@dataclass(frozen=True)
class Quantising:
    """The method: rows, a rule, the order of the rows in each epoch, how many epochs, and a seed if dead units are revived.

    Examples
    --------
    >>> from halfspace.solvers.run import Budget, run
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> method = Quantising(X, WinnerTakesAll(Geometric(0.5, 0.01)), lambda epoch: np.arange(4), 20)
    >>> end = run(method, Budget(20), State.of(X[1:3]))
    >>> end.state.W.round(1).ravel().tolist(), end.outcome.reason, end.course.history()["error"].size
    ([0.5, 8.5], 'passes done', 20)
    """

    X: View
    rule: Rule
    order: Callable[[int], IntArray]
    epochs: int
    seed: int | None = None
    unit: ClassVar[str] = "epoch"
    columns: ClassVar[tuple[str, ...]] = ("error",)

    def step(self, state: State, most: int) -> tuple[FloatArray, ...]:
        """Present a piece of an epoch; return its error if this ended it."""
        del most
        n, d = n_rows(self.X), n_columns(self.X)
        epoch, first = divmod(int(state.counts[0]), n)
        rows = self.order(epoch)[first : first + max(1, PIECE_ENTRIES // d)]
        self.rule.present(gathered(self.X, rows), state, self.epochs * n)
        if first + rows.size < n:
            return ()
        dead, error = np.flatnonzero(state.wins == 0), state.error.copy()
        if self.seed is not None and dead.size and epoch + 1 < self.epochs:  # after the last epoch they could not learn
            self._revive(state, dead, np.random.default_rng([self.seed, epoch, 1]))
        state.wins[:], state.error[:] = 0, 0.0
        return (error,)

    def _revive(self, state: State, dead: IntArray, rng: np.random.Generator) -> None:
        """Put dead prototypes on rows drawn in proportion to their squared distance, without replacement."""
        _, squares = winners(self.X, state.W)
        dead = dead[: np.count_nonzero(squares)]
        if dead.size:
            drawn = rng.choice(squares.size, dead.size, replace=False, p=squares / squares.sum())
            state.V[:, dead] = gathered(self.X, drawn).T
            state.counts[1] += dead.size

    def status(self, state: State) -> Reason | None:
        """Return why nothing is left to do, or None."""
        return "passes done" if state.counts[0] >= self.epochs * n_rows(self.X) else None


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
    """Return for every row its nearest prototype, the first of equally near ones, and the squared distance, shapes (n,)."""
    labels, least = np.empty(n_rows(X), dtype=np.int64), np.empty(n_rows(X))

    def use(rows: slice, D: FloatArray) -> None:
        labels[rows] = D.argmin(axis=1)
        least[rows] = D.min(axis=1)

    _blocks(X, W, use)
    return labels, least


def all_distances(X: View, W: FloatArray) -> FloatArray:
    """Return the distances of all rows from all prototypes, shape (n, K)."""
    distances = np.empty((n_rows(X), W.shape[0]))

    def use(rows: slice, D: FloatArray) -> None:
        np.sqrt(D, out=distances[rows])

    _blocks(X, W, use)
    return distances
