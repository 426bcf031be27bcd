"""The loop around MinOver's pushes: pieces of compiled work, budgets, the course of the bracket.

Where the pieces are cut changes neither the pushes nor the bracket. One-vs-rest problems take turns, so that a budget of time
is shared fairly.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from halfspace._typing import FloatArray, IntArray
from halfspace.rows.views import entries_per_row
from halfspace.solvers.linear.minover_accelerated import Columns, accelerate, push_columns, push_nearby
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.rules.minover import RETURNED, Problem, State, width
from halfspace.solvers.run import PIECE, Budget

__all__ = ["Course", "Progress", "Run", "solve"]

ROOM = 128e6
"""Bytes for inner products, all problems together."""
LONGEST = 1 << 16
"""Most pushes between two looks at the clock."""
KEPT = 512
"""Most rows of the course; beyond, every other one is dropped."""


class Progress(NamedTuple):
    """Where a run stands after a round of pieces."""

    round: int
    pushes: IntArray  # (K,) in this run
    states: list[State]
    seconds: float


class Course:
    """The bracket over the pushes."""

    def __init__(self) -> None:
        self.rows: list[tuple[float, IntArray, FloatArray, FloatArray]] = []
        self.stride, self.seen = 1, 0

    def record(self, seconds: float, states: list[State], *, last: bool = False) -> None:
        """Note both sides of every problem."""
        self.seen += 1
        if self.seen % self.stride == 0 or last:
            sides = np.array([state.sides for state in states])
            self.rows.append((seconds, np.array([state.counts[0] for state in states]), sides[:, 0], sides[:, 1]))
        if len(self.rows) > KEPT:
            self.rows, self.stride = self.rows[1::2], 2 * self.stride

    def history(self) -> dict[str, Any]:
        """Return the course as arrays by name: (rounds,) for one problem, (rounds, K) for more; seconds are (rounds,)."""
        seconds, push, lower, upper = (np.array(column) for column in zip(*self.rows, strict=True))
        sides = {"push": push, "lower": lower, "upper": upper}
        return {"seconds": seconds, **{name: c[:, 0] if c.shape[1] == 1 else c for name, c in sides.items()}}


@dataclass
class Run:
    """The end of a run: why it stopped, pushes per problem, its course, and multipliers that prove problems inseparable."""

    outcome: Outcome
    pushes: IntArray
    course: Course = field(default_factory=Course)
    proofs: dict[int, FloatArray] = field(default_factory=dict)


class _Pieces:
    """One problem, its state and its accelerator."""

    def __init__(self, problem: Problem, state: State, tol: float, room: float) -> None:
        self.problem, self.state, self.tol = problem, state, tol
        self.memory = accelerate(problem, state, room)
        self.budget = int(PIECE // max(entries_per_row(problem.X), 1.0)) + 1
        self.push: Any = push_columns if isinstance(self.memory, Columns) else push_nearby

    def go_on(self, most: int) -> tuple[int, int]:
        """Push for some milliseconds, at most `most` times; return how often, and how it ended."""
        pushed = np.empty(min(most, 16 + int(self.state.counts[0]) // 16, LONGEST), dtype=np.int64)
        done: tuple[int, int] = self.push(self.problem, self.state, self.memory, pushed, self.tol, self.budget)
        return done


def solve(
    problems: list[Problem],
    states: list[State],
    tol: float,
    budget: Budget,
    *,
    prove: Callable[[int, FloatArray], bool],
    watch: Callable[[Progress], bool],
) -> Run:
    """Push until every bracket is within `tol` or proved empty, a budget is spent, or the user interrupts.

    Parameters
    ----------
    problems, states : list of Problem, State
        One per two-class problem; the states are updated in place.
    tol : float
        Relative width of the bracket to reach.
    budget : Budget
        Limits on pushes per problem and time.
    prove : callable
        Given a problem's number and multipliers (n,), tells whether they prove it inseparable; asked when weights return.
    watch : callable
        Called after every round; a true answer stops the run.
    """
    begin, rounds = time.perf_counter(), 0
    run = Run(Outcome("converged", "Converged."), np.zeros(len(states), dtype=np.int64))
    pieces = [_Pieces(problem, state, tol, ROOM / len(states)) for problem, state in zip(problems, states, strict=True)]
    active = [k for k, state in enumerate(states) if width(state) > tol]
    try:
        while active:
            for k in list(active):
                if _finished(k, pieces[k], run, budget.max_iter, prove):
                    active.remove(k)
                if budget.max_time is not None and time.perf_counter() - begin >= budget.max_time:
                    break
            seconds = time.perf_counter() - begin
            run.course.record(seconds, states)
            if active and budget.max_time is not None and seconds >= budget.max_time:
                run.outcome = Outcome("time budget spent", f"Stopped after {seconds:.3g} s (max_time={budget.max_time:g}).")
                break
            if watch(Progress(rounds, run.pushes, states, seconds)) and active:
                run.outcome = Outcome("stopped by callback", f"Stopped by a callback after {run.pushes.max()} pushes.")
                break
            rounds += 1
    except KeyboardInterrupt:
        sentence = f"Interrupted after {run.pushes.max()} pushes."
        run.outcome = Outcome("interrupted", sentence, "warm_start=True goes on from here.")
    run.course.record(time.perf_counter() - begin, states, last=True)
    return run


def _finished(k: int, piece: _Pieces, run: Run, max_iter: int, prove: Callable[[int, FloatArray], bool]) -> bool:
    """Do a piece of problem k and tell whether nothing is left to be done for it."""
    done, status = piece.go_on(max_iter - int(run.pushes[k]))
    run.pushes[k] += done
    state = piece.state
    if status == RETURNED:
        gained = state.alpha - state.anchor_alpha
        if prove(k, gained):
            run.proofs[k] = gained
            return True
        state.anchor_w[:] = np.nan  # equal by rounding only: do not ask again
        state.counts[2] = 0
        status = 0
    if status == 0 and run.pushes[k] >= max_iter:
        run.outcome = Outcome("iteration budget spent", f"Stopped after {max_iter} pushes (max_iter={max_iter}).")
        return True
    return status != 0
