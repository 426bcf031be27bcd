"""Presenting labelled rows to prototypes, epoch by epoch: the method that LVQ, GLVQ, GRLVQ and GMLVQ share, for `solvers.run`.

Rule       That of `kohonen`, or of `glvq` (optimizer="plain") by one of its accelerators (`glvq_online`, `gmlvq_online`).
Rate       In epoch t, counted from 0, the full one divided by 1 + t / half_life.
Order      Of the rows in epoch t: a function of the seed and of t alone.
Ends       When an epoch moves the prototypes by no more than a share `tol` of their spread; or when one runs away (LVQ2.1 may
           push without end), and then with the prototypes of the epoch before.
Invariant  All that a presentation changes is in the state, so cut anywhere and resumed a run gives the same bits.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

import numpy as np

from halfspace._typing import FloatArray, IntArray, View
from halfspace.rows.operations import gathered
from halfspace.rows.views import n_columns
from halfspace.solvers.outcome import Reason
from halfspace.solvers.prototypes.glvq import Book, Rates, learn_plain
from halfspace.solvers.prototypes.glvq_online import learn
from halfspace.solvers.prototypes.gmlvq_online import freshen, learn_matrix, project_prototypes
from halfspace.solvers.prototypes.kohonen import LVQ1, LVQ3, learn_kohonen

__all__ = ["BLOCK", "FAR", "Online", "Rule", "State", "has_run_away", "learner"]

BLOCK = 512
"""Rows copied at a time, into the same memory: fresh pages would cost more than the copy."""
PIECE, LEAST = 1 << 23, 1024
"""Products of rows and prototypes between two looks at the clock, some ten milliseconds, but no fewer rows than these."""
FAR = 1e6
"""A prototype this many times as far out as the longest row, or the first prototypes, has run away."""


Rule = LVQ1 | LVQ3 | Rates


@dataclass
class State:
    """Where a run stands: prototypes and metric, those at the start of the epoch if it is not finished, and some counts."""

    book: Book
    last: Book | None
    counts: Annotated[IntArray, "i8(4)"]  # (4,): epochs finished, rows shown since, errors among them, 1 if prototypes ran away
    moved: Annotated[FloatArray, "f8(2)"]  # (2,): share by which the last epoch moved the prototypes; how far out they may get

    @classmethod
    def of(cls, book: Book, epochs: int = 0) -> Self:
        """Return the state at the beginning of an epoch."""
        limit = FAR * (1.0 + float(np.abs(book.W).max()))
        return cls(book, None, np.array([epochs, 0, 0, 0], dtype=np.int64), np.array([np.inf, limit]))

    def check(self, labels: IntArray) -> None:
        """Refuse a state read from a file that is not of prototypes with these labels, or not at a place where runs are cut."""
        for book in (self.book, self.last):
            if book is not None:
                m, matrix = book.Q.shape[1], book.omega.ndim == 2
                projected = m == book.omega.shape[0] and m % 4 == 0 if matrix else m == 0
                if not projected or not np.array_equal(book.labels, labels):
                    raise ValueError("_state: its prototypes are not those of the model")
        if self.counts.min() < 0 or bool(self.counts[1]) != (self.last is not None):
            raise ValueError("_state: an epoch is not at its start, and the start is not there")

    def copied(self) -> Self:
        """Return a copy."""
        last = None if self.last is None else self.last.copied()
        return type(self)(self.book.copied(), last, self.counts.copy(), self.moved.copy())


def learner(rule: Rule, book: Book, *, plain: bool = False) -> Callable[..., int]:
    """Return the function `learn(rows, target, s, book, rule)` that presents dense rows, with weights s, by a rule."""
    if not isinstance(rule, Rates):
        return learn_kohonen
    return learn_plain if plain else learn_matrix if book.omega.ndim == 2 else learn


def has_run_away(book: Book, limit: float) -> bool:
    """Tell whether a prototype lies beyond a limit, or a number is not finite; NaN fails the comparison."""
    return not (bool(np.abs(book.W).max() <= limit) and bool(np.isfinite(book.omega).all()))


@dataclass(frozen=True)
class Online:
    """The method: labelled rows with weights of their steps, a rule, and when to stop.

    Examples
    --------
    >>> from halfspace.solvers.run import Budget, run
    >>> X, target = np.array([[0.0], [1.0], [4.0]]), np.array([0, 0, 1])
    >>> method = Online(X, target, np.ones(3), LVQ1(0.5), lambda epoch: np.arange(3), tol=0.2)
    >>> end = run(method, Budget(9), State.of(Book.of(np.array([[0.0], [3.0]]), np.array([0, 1]), np.ones(1))))
    >>> end.outcome.reason, end.rounds, end.state.book.W.tolist()
    ('converged', 2, [[0.625], [3.75]])
    """

    X: View
    target: IntArray
    s: FloatArray
    rule: Rule
    order: Callable[[int], IntArray]
    half_life: float = np.inf
    tol: float = 0.0
    plain: bool = False
    unit: ClassVar[str] = "epoch"
    columns: ClassVar[tuple[str, ...]] = ("errors", "moved")

    def start(self, before: State) -> State:
        """Return the state of another run, to go on from."""
        before.counts[3], before.moved[0] = 0, np.inf
        return before

    def step(self, state: State, most: int) -> tuple[FloatArray, ...]:
        """Present some rows; return the errors and the move of an epoch that this ended."""
        del most
        book, counts, n = state.book, state.counts, self.target.size
        if counts[1] == 0:
            if book.omega.ndim == 2:
                project_prototypes(book)
            state.last = book.copied()
        order, rule = self.order(int(counts[0])), self.rule.scaled(1.0 / (1.0 + counts[0] / self.half_life))
        learn_rows = learner(rule, book, plain=self.plain)
        stop = min(int(counts[1]) + max(LEAST, PIECE // book.W.size), n)
        room = np.empty((min(BLOCK, n), n_columns(self.X)))
        while counts[1] < stop:
            rows = order[counts[1] : min(counts[1] + BLOCK, stop)]
            counts[2] += learn_rows(gathered(self.X, rows, room), self.target[rows], self.s[rows], book, rule)
            counts[1] += rows.size
        return self._ended(state) if stop == n or has_run_away(book, state.moved[1]) else ()

    def _ended(self, state: State) -> tuple[FloatArray, ...]:
        """End an epoch: note how far prototypes moved, or go back to its start if one ran away."""
        book, last, counts = state.book, state.last, state.counts
        assert last is not None  # noqa: S101  (set when the epoch began)
        errors, counts[1:3], state.last = int(counts[2]), 0, None
        if has_run_away(book, state.moved[1]):
            book.restore(last)
            counts[3] = 1
            return ()
        if book.omega.ndim == 2:
            freshen(book)
        spread = np.square(last.W - last.W.mean(axis=0)).sum()
        state.moved[0] = np.sqrt(np.square(book.W - last.W).sum() / spread) if spread > 0.0 else np.inf
        counts[0] += 1
        return np.array([errors]), state.moved[:1].copy()

    def status(self, state: State) -> Reason | None:
        """Return why nothing is left to do, or None."""
        if state.counts[3]:
            return "diverged"
        return "converged" if state.counts[1] == 0 and state.moved[0] <= self.tol else None
