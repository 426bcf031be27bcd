"""What the loop of kernel MinOver records; it goes when that becomes a method of the driver."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from halfspace._typing import FloatArray, IntArray
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.rules.minover import State

__all__ = ["Course", "Progress", "Run"]

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
