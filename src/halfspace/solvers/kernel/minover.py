"""MinOver in a kernel's space: the function of maximal stability by pushing the example of lowest potential.

Problem    Maximise  kappa(f) = min_i E_i/‖f‖,  E_i = y_i f(x_i),  over f = Σ_j alpha_j y_j k(x_j, ·);  the best is kappa*.
Rule       With mu the example of lowest potential,  alpha_mu += 1,  hence  E_i += y_i y_mu k(x_i, x_mu)  for all i.
           Ties go to the lowest row.
Theorem    That of `minover.py`, in the kernel's space: after t pushes  min_i E_i/‖f‖ <= kappa* <= ‖f‖/t,  and the sides meet
           like 1/sqrt(t). The length needs no pass over the examples:  ‖f‖² <- ‖f‖² + 2 E_mu + k(x_mu, x_mu).
Reference  Krauth and Mézard 1987, section 3; the potentials are all that it needs, so a kernel will do.

A push reads one row of the kernel matrix. Rows are kept in a table, all of them if they fit the memory; where not, a row
that is missing is computed together with those of the next lowest potentials, and takes the place of the oldest ones.
"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from halfspace._dispatch import compiled
from halfspace._typing import FloatArray, IntArray
from halfspace.solvers.kernel.rows import KernelRows
from halfspace.solvers.linear.minover_loop import LONGEST, Progress, Run
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.rules.minover import GOING, TIGHT, keep_witnesses, width
from halfspace.solvers.run import PIECE, Budget

__all__ = ["State", "Table", "push_cached", "solve", "start"]

MISSING = 3
"""A piece of pushes ended at a row that is not in the table."""
TOGETHER = 16
"""Rows computed at a time where they are not all kept."""


class State(NamedTuple):
    """All that pushes change, in place."""

    E: FloatArray  # (n,) potentials
    alpha: FloatArray  # (n,) pushes of each example
    lower_alpha: FloatArray  # (n,) strengths of the most stable function so far, the witness of the lower side
    upper_alpha: FloatArray  # (n,) strengths of the shortest mean so far, the witness of the upper side
    sides: FloatArray  # (2,) best lower and upper side so far
    square: FloatArray  # (1,) ‖f‖²
    counts: IntArray  # (2,) pushes so far, the row to push next
    marks: IntArray  # (2,) the push of this piece that gave the best lower and upper side, -1 for none


def start(n: int) -> State:
    """Begin at the zero function."""
    E, alpha, lower_alpha, upper_alpha = np.zeros((4, n))
    marks = np.array([-1, -1])
    return State(E, alpha, lower_alpha, upper_alpha, np.array([-np.inf, np.inf]), np.zeros(1), np.array([0, 0]), marks)


@compiled
def _lowest(E: FloatArray) -> int:
    """Return the first place of the least entry."""
    place, least = 0, E[0]
    for i in range(E.size):
        if E[i] < least:
            place, least = i, E[i]
    return place


@compiled
def _measure(state: State, lowest: float, s: int) -> None:
    """Take both sides of the bracket and keep the better ones; `marks` notes the push s of this piece that gave it."""
    length = np.sqrt(max(state.square[0], 0.0))
    if length > 0.0 and lowest / length > state.sides[0]:
        state.sides[0] = lowest / length
        state.marks[0] = s
    if length / state.counts[0] < state.sides[1]:
        state.sides[1] = length / state.counts[0]
        state.marks[1] = s


@compiled
def push_cached(y: FloatArray, state: State, values: Any, slot: IntArray, pushed: IntArray, tol: float) -> tuple[int, int]:
    """Push as often as `pushed` has room and rows are there: row i is values[slot[i]], slot -1 if it is not.

    Returns how often, and how it ended; the pushed rows are written to `pushed`.
    """
    done, status, E = 0, GOING, state.E
    while done < pushed.size and status == GOING:
        mu = state.counts[1]
        if slot[mu] < 0:
            status = MISSING
        else:
            row = values[slot[mu]]
            state.square[0] += 2.0 * E[mu] + row[mu]
            for i in range(E.size):
                E[i] += y[mu] * y[i] * row[i]
            state.alpha[mu] += 1.0
            state.counts[0] += 1
            state.counts[1] = _lowest(E)
            _measure(state, E[state.counts[1]], done)
            pushed[done] = mu
            done += 1
            status = TIGHT if state.sides[1] - state.sides[0] <= tol * state.sides[1] else GOING
    keep_witnesses(state, pushed, done)  # type: ignore[arg-type]
    return done, status


class Table:
    """Rows of the kernel matrix: all, or those that were asked for last."""

    def __init__(self, kernel: KernelRows, room: float) -> None:
        self.kernel, n = kernel, kernel.n
        if kernel.whole is not None:
            self.values, self.slot = kernel.whole, np.arange(n)
            return
        places = int(np.clip(room // (n * kernel.dtype.itemsize), TOGETHER, n))
        self.values, self.slot = np.empty((places, n), dtype=kernel.dtype), np.full(n, -1)
        self.holds, self.next = np.full(places, -1), 0

    def fetch(self, E: FloatArray, due: int) -> None:
        """Compute the row that is due and those of the lowest potentials, in the places of the oldest."""
        most = min(TOGETHER - 1, E.size - 1)
        lowest = np.argpartition(E, most)[: most + 1]
        wanted = np.r_[due, lowest[(self.slot[lowest] < 0) & (lowest != due)][:most]]
        places = (self.next + np.arange(wanted.size)) % self.holds.size
        self.next = int(places[-1] + 1) % self.holds.size
        gone = self.holds[places]
        self.slot[gone[gone >= 0]] = -1
        self.values[places] = self.kernel.between(wanted, slice(0, self.kernel.n))
        self.slot[wanted], self.holds[places] = places, wanted


def _piece(y: FloatArray, state: State, table: Table, tol: float, most: int) -> tuple[int, int]:
    """Push for some milliseconds, at most `most` times; return how often, and how it ended."""
    room = max(1, min(most, 16 + int(state.counts[0]) // 16, LONGEST, PIECE // y.size))
    done, status = push_cached(y, state, table.values, table.slot, np.empty(room, dtype=np.int64), tol)
    if status == MISSING:
        table.fetch(state.E, int(state.counts[1]))
    return done, status


def solve(
    signs: FloatArray, states: list[State], table: Table, tol: float, budget: Budget, watch: Callable[[Progress], bool]
) -> Run:
    """Push until every bracket is within `tol`, a budget is spent, or the user interrupts.

    Parameters
    ----------
    signs : ndarray, shape (K, n)
        Labels ±1 of the K two-class problems.
    states : list of State
        One per problem, updated in place; the problems take turns.
    table : Table
        Rows of the kernel matrix, shared by the problems.
    tol : float
        Relative width of the bracket to reach.
    budget : Budget
        Limits on pushes per problem and time.
    watch : callable
        Called after every round; a true answer stops the run.
    """
    begin, rounds = time.perf_counter(), 0
    run = Run(Outcome("converged", "Converged."), np.zeros(len(states), dtype=np.int64))
    active = [k for k, state in enumerate(states) if not width(state) <= tol]  # type: ignore[arg-type]
    try:
        while active:
            for k in list(active):
                done, status = _piece(signs[k], states[k], table, tol, budget.max_iter - int(run.pushes[k]))
                run.pushes[k] += done
                if status != TIGHT and run.pushes[k] >= budget.max_iter:
                    sentence = f"Stopped after {budget.max_iter} pushes (max_iter={budget.max_iter})."
                    run.outcome = Outcome("iteration budget spent", sentence)
                if status == TIGHT or run.pushes[k] >= budget.max_iter:
                    active.remove(k)
            seconds = time.perf_counter() - begin
            run.course.record(seconds, states)  # type: ignore[arg-type]
            if active and budget.max_time is not None and seconds >= budget.max_time:
                run.outcome = Outcome("time budget spent", f"Stopped after {seconds:.3g} s (max_time={budget.max_time:g}).")
                break
            if watch(Progress(rounds, run.pushes, states, seconds)) and active:  # type: ignore[arg-type]
                run.outcome = Outcome("stopped by callback", f"Stopped by a callback after {run.pushes.max()} pushes.")
                break
            rounds += 1
    except KeyboardInterrupt:
        sentence = f"Interrupted after {run.pushes.max()} pushes."
        run.outcome = Outcome("interrupted", sentence, "warm_start=True goes on from here.")
    run.course.record(time.perf_counter() - begin, states, last=True)  # type: ignore[arg-type]
    return run
