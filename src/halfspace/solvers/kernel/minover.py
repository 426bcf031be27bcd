"""MinOver in a kernel's space: the function of maximal stability by pushing the example of lowest potential.

Problem    Maximise  kappa(f) = min_i E_i/‖f‖,  E_i = y_i f(x_i),  over f = Σ_j alpha_j y_j k(x_j, ·);  the best is kappa*.
Rule       With mu the example of lowest potential,  alpha_mu += 1,  hence  f(x_i) += y_mu k(x_i, x_mu)  for all i.
           Ties go to the lowest row.
Theorem    That of `rules/minover.py`, in the kernel's space: after t pushes  min_i E_i/‖f‖ <= kappa* <= ‖f‖/t,  and the sides
           meet like 1/sqrt(t).
Reference  Krauth and Mézard 1987, section 3; the potentials are all that it needs, so a kernel will do.

The pushes are those of `rules/minover.py` on the `Gram` view, whose weights are the outputs of all examples; one reads one row
of the kernel matrix. Accelerator: where the matrix does not fit the memory, rows are kept in a table (`GramRows`); a row that
is missing is computed together with those of the next lowest potentials, and takes the place of the oldest ones.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np

from halfspace._dispatch import compiled, compiled_inside_as_written
from halfspace._typing import FloatArray, IntArray, View
from halfspace.kernels.gram import VALUES, LazyGram
from halfspace.rows.views import axpy, n_columns, n_rows
from halfspace.solvers.linear.minover import LONGEST, Pushes, Pushing
from halfspace.solvers.rules.minover import GOING, Problem, State, keep_witnesses, measure, push, status_of
from halfspace.solvers.run import PIECE

__all__ = ["GramRows", "KernelPushing", "Table", "push_present"]

MISSING = 3
"""A piece of pushes ended at a row that is not in the table."""
TOGETHER = 16
"""Rows computed at a time where they are not all kept."""
SPAN = 256
"""Examples among which the least potential is found at a time."""


class GramRows(NamedTuple):
    """A `Gram` view of which only some rows are there: row i is K[slot[i]]."""

    K: Any  # (places, n)
    slot: IntArray  # (n,) place of each row, -1 if it is not there


@axpy.register(GramRows)
def _(a: float, X: View, i: int, w: FloatArray) -> None:
    row = X.K[X.slot[i]]
    for j in range(row.size):
        w[j] += a * row[j]


@n_rows.register(GramRows)
@n_columns.register(GramRows)
def _(X: View) -> int:
    return X.slot.size


@compiled_inside_as_written
def _least(y: FloatArray, w: FloatArray) -> float:
    """Return the least potential; the loop is vectorised."""
    least = y[0] * w[0]
    for i in range(y.size):
        least = min(least, y[i] * w[i])
    return least


@compiled
def _lowest(y: FloatArray, w: FloatArray) -> int:
    """Return the first example of the lowest potential."""
    start, least = 0, np.inf
    for first in range(0, y.size, SPAN):
        E = _least(y[first : first + SPAN], w[first : first + SPAN])
        if least > E:
            start, least = first, E
    while y[start] * w[start] > least:
        start += 1
    return start


@compiled
def push_present(problem: Problem, state: State, pushed: IntArray, tol: float) -> tuple[int, int]:
    """Push like `push_plain` as long as the rows that are due are there; only the first length is a sum over all examples."""
    X, y, w = problem.X, problem.y, state.w
    done, status, square = 0, GOING, 0.0
    for i in range(w.size):
        square += state.alpha[i] * y[i] * w[i]
    while done < pushed.size and status == GOING:
        mu = state.counts[1]
        if X.slot[mu] < 0:
            status = MISSING
        else:
            square += 2.0 * y[mu] * w[mu] + problem.q[mu]
            pushed[done] = push(problem, state)
            mu = _lowest(y, w)
            state.counts[1] = mu
            measure(state, y[mu] * w[mu], max(square, 0.0), done)
            status = status_of(state, tol)
            done += 1
    keep_witnesses(state, pushed, done)
    return done, status


class Table:
    """Rows of the kernel matrix: all, or those that were asked for last."""

    def __init__(self, gram: LazyGram, room: float, seconds: float | None = None, problems: int = 1) -> None:
        self.gram, K = gram, gram.whole(np.float64, room, seconds)
        self.whole, self.together = K is not None, TOGETHER
        if seconds is not None:  # a round, in which each problem may fetch rows, takes a fifth of the time at most
            row = gram.n * (1.0 + gram.width / 64) / VALUES
            self.together = int(np.clip(0.2 * seconds / (problems * row), 1, TOGETHER))
        places = gram.n if self.whole else int(np.clip(room // (8 * gram.n), TOGETHER, gram.n))
        self.rows = GramRows(K, np.arange(places)) if self.whole else GramRows(np.empty((places, gram.n)), np.full(gram.n, -1))
        self.holds, self.next = np.full(places, -1), 0

    def fetch(self, E: FloatArray, due: int) -> None:
        """Compute the row that is due and those of the lowest potentials, in the places of the oldest."""
        slot, most = self.rows.slot, min(self.together - 1, E.size - 1)
        lowest = np.argpartition(E, most)[: most + 1]
        wanted = np.r_[due, lowest[(slot[lowest] < 0) & (lowest != due)][:most]]
        places = (self.next + np.arange(wanted.size)) % self.holds.size
        self.next = int(places[-1] + 1) % self.holds.size
        gone = self.holds[places]
        slot[gone[gone >= 0]] = -1
        self.rows.K[places] = self.gram.block(wanted, np.arange(self.gram.n), np.float64)
        slot[wanted], self.holds[places] = places, wanted


@dataclass(frozen=True)
class KernelPushing(Pushing):
    """Push in a kernel's space, with rows from a table that the problems share; weights that return prove nothing there."""

    table: Table = field(kw_only=True)

    @classmethod
    def of(cls, signs: FloatArray, table: Table, tol: float, most: int, seconds: float | None = None) -> Self:
        """Return the method for labels ±1 of K two-class problems, shape (K, n), in so many seconds.

        In a round all problems push, and each may push rows of its own: a round adds a fifth of the time to the proof at most.
        """
        problems, longest = [Problem(table.rows, y, table.gram.diagonal) for y in signs], LONGEST
        if seconds is not None:
            proof = table.gram.seconds(float(signs.size), 2 * len(signs))  # of a row more for every problem
            longest = int(np.clip(0.2 * seconds / proof, 1, LONGEST))
        return cls(problems, tol, most, plain=True, longest=longest, table=table)

    def _piece(self, problem: Problem, state: State, most: int, memory: Any) -> int:
        del memory
        length = min(most, 64 + int(state.counts[0]) // 8, self.longest, PIECE // problem.y.size)
        status = int(push_present(problem, state, np.empty(max(1, length), dtype=np.int64), self.tol)[1])
        if status == MISSING:
            self.table.fetch(problem.y * state.w, int(state.counts[1]))
        return status

    def ending(self, pushes: Pushes) -> float:
        """Predict the seconds for the rows that are fetched next, and the outputs that all support vectors give to all."""
        held = np.any([(state.lower_alpha != 0) | (state.upper_alpha != 0) for state in pushes.states], axis=0)
        fetched = 0 if self.table.whole else self.table.together
        gram, values = self.table.gram, float(held.size) * np.count_nonzero(held)
        return gram.seconds(float(held.size) * fetched) + gram.seconds(values, 2 * len(pushes.states))

    def certify(self, pushes: Pushes) -> FloatArray:
        """Return the coefficients of the most stable functions, shape (K, n), which `models` makes a certificate of."""
        return np.array([state.lower_alpha * problem.y for problem, state in zip(self.problems, pushes.states, strict=True)])
