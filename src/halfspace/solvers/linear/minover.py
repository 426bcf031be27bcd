"""MinOver as a method of the driver: pieces of pushes, one-vs-rest problems in turns, so that time is shared fairly.

The rule is in `rules/minover.py` (`push_plain`); by default its accelerators in `linear/minover_accelerated.py` make the same
pushes with less reading. Where the pieces are cut changes neither the pushes nor the bracket.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from halfspace._typing import FloatArray, IntArray
from halfspace.rows.views import entries_per_row
from halfspace.solvers.linear.minover_accelerated import Columns, accelerate, push_columns, push_nearby
from halfspace.solvers.outcome import Reason
from halfspace.solvers.rules.minover import RETURNED, Problem, State, push_plain, start, width
from halfspace.solvers.run import PIECE

__all__ = ["Pushes", "Pushing"]

ROOM = 128e6
"""Bytes for inner products, all problems together."""
LONGEST = 1 << 16
"""Pushes of a piece, at most."""


@dataclass
class Pushes:
    """Where the K two-class problems stand, what their accelerators keep, and what was proved."""

    states: list[State]
    memories: list[Any]
    begun: IntArray  # (K,) pushes made before this run
    proofs: dict[int, FloatArray] = field(default_factory=dict)  # multipliers that prove problems inseparable

    def made(self) -> IntArray:
        """Return the pushes of this run, shape (K,)."""
        return np.array([state.counts[0] for state in self.states]) - self.begun


@dataclass(frozen=True)
class Pushing:
    """Push until every bracket is within `tol` or proved empty; a round is a piece of pushes for each problem."""

    problems: list[Problem]
    tol: float
    most: int
    """Pushes per problem."""
    prove: Callable[[int, FloatArray], bool] = lambda *_: False
    """Given a problem and multipliers (n,), tells whether they prove it inseparable; asked when weights return."""
    claim: Callable[[Pushes], Any] = lambda _: None
    """Makes the certificate."""
    plain: bool = False
    longest: int = LONGEST
    """Pushes of a piece, at most."""
    unit: str = "round"
    columns: tuple[str, ...] = ("push", "lower", "upper")

    def start(self, before: list[State] | None = None) -> Pushes:
        """Begin at zero weights, or go on with the states of an earlier run, which are changed in place."""
        states = [start(problem) for problem in self.problems] if before is None else before
        pairs, room = zip(self.problems, states, strict=True), ROOM / len(states)
        memories = [None if self.plain else accelerate(problem, state, room) for problem, state in pairs]
        return Pushes(states, memories, np.array([state.counts[0] for state in states]))

    def step(self, pushes: Pushes, most: int) -> tuple[Any, ...]:
        """Let every open problem push for some milliseconds."""
        del most
        made = pushes.made().tolist()
        for k in range(len(made)):
            if not self._done(pushes, k, made[k]):
                self._push(pushes, k, self.most - made[k])
        sides = np.array([state.sides for state in pushes.states])
        return np.array([[state.counts[0] for state in pushes.states]]), sides[None, :, 0], sides[None, :, 1]

    def _push(self, pushes: Pushes, k: int, most: int) -> None:
        state = pushes.states[k]
        if self._piece(self.problems[k], state, most, pushes.memories[k]) == RETURNED:
            gained = state.alpha - state.anchor_alpha
            if self.prove(k, gained):
                pushes.proofs[k] = gained
            else:  # equal by rounding only: do not ask again
                state.anchor_w[:] = np.nan
                state.counts[2] = 0

    def _piece(self, problem: Problem, state: State, most: int, memory: Any) -> int:
        """Push at most `most` times, for some milliseconds; return the status."""
        length = min(most, 16 + int(state.counts[0]) // 16, self.longest)
        rows = int(PIECE // max(entries_per_row(problem.X), 1.0)) + 1
        if memory is None:
            pushed = np.empty(max(1, min(length, rows // problem.y.size)), dtype=np.int64)
            return int(push_plain(problem, state, pushed, self.tol)[1])
        accelerated: Any = push_columns if isinstance(memory, Columns) else push_nearby
        return int(accelerated(problem, state, memory, np.empty(length, dtype=np.int64), self.tol, rows)[1])

    def _done(self, pushes: Pushes, k: int, made: int) -> bool:
        return k in pushes.proofs or made >= self.most or width(pushes.states[k]) <= self.tol

    def status(self, pushes: Pushes) -> Reason | None:
        """Tell whether all brackets are tight or proved empty, or all pushes spent."""
        if not all(self._done(pushes, k, made) for k, made in enumerate(pushes.made().tolist())):
            return None
        open_problems = [k for k, state in enumerate(pushes.states) if not width(state) <= self.tol]
        if not open_problems:
            return "converged"
        return "proved inseparable" if all(k in pushes.proofs for k in open_problems) else "iteration budget spent"

    def certify(self, pushes: Pushes) -> Any:
        """Return the proof."""
        return self.claim(pushes)
