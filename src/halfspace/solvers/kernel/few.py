"""Kernel machines of few examples: all are in the working set, and several problems are solved in one compiled call.

Problem   That of `machine.py`, soft margins, on a kernel matrix in double precision that all problems share.
Round     Pairs climb on the whole matrix (`pair_steps`), the first time to a fiftieth of the gap, then to half of what is
          asked; then h = y - K b is computed anew, and with it the gap that is believed.
Ends      when the relative gap is at most `tol`, or a round takes less than a tenth of it away: rounding leads no further.
"""

from typing import Any, NamedTuple

import numpy as np

from halfspace._dispatch import compiled_as_written
from halfspace._typing import FloatArray
from halfspace.solvers.kernel.grid import Place, primal_at, refresh
from halfspace.solvers.kernel.pair_steps import Box, bias_of, climb, gap_at
from halfspace.solvers.outcome import Reason

__all__ = ["Few", "climb_few"]

COARSE, FINE = 0.02, 0.5
"""The gap aimed at in the first round, as a share of the one there is; later, as a share of the one asked for."""
STALLED = 0.9
"""A round that leaves more than this share of the gap is the last."""
ENDS: tuple[Reason | None, ...] = (None, "converged", "rounding limit reached")


@compiled_as_written
def climb_few(kind: Any, K: FloatArray, few: Any, tol: float, most: int) -> FloatArray:
    """Go on with each problem of a `Few` for at most so many rounds; return both values after each, shape (P, most, 2)."""
    places, found = few
    n, table = K.shape[0], np.empty((found.shape[0], most, 2))
    diagonal = np.empty(n)
    for i in range(n):
        diagonal[i] = K[i, i]
    for k in range(found.shape[0]):
        y, h, b, lo, hi = places.y[k], places.h[k], places.b[k], places.lo[k], places.hi[k]
        at, box, said = Place(y, h, b, lo, hi), Box(K, diagonal, h, b, lo, hi), found[k]
        rounds = 0
        while said[0] == 0.0 or (said[1] == 0.0 and rounds < most):
            before = np.inf
            if said[0] > 0.0:
                before = said[3]
                climb(kind, box, max(COARSE * before if said[0] == 1.0 else 0.0, FINE * tol * said[4]), 200 * n + 10_000)
            refresh(K, at)
            said[2] = bias_of(kind, h, b, lo, hi)
            said[3], said[4] = gap_at(h, b, lo, hi, said[2]), primal_at(at, said[2])
            if said[3] <= tol * said[4]:
                said[1] = 1.0
            elif said[3] > STALLED * before:
                said[1] = 2.0
            if said[0] > 0.0:
                table[k, rounds, 0], table[k, rounds, 1] = said[4], said[4] - said[3]
                rounds += 1
            said[0] += 1.0
    return table


class Few(NamedTuple):
    """Where climbing on few examples stands, of P problems."""

    places: Place  # of arrays of shape (P, n)
    found: FloatArray  # (P, 5): rounds and 1, or 0 before the first look; number in `ENDS`; bias, gap, primal value

    @classmethod
    def of(cls, y: FloatArray, b: FloatArray, lo: FloatArray, hi: FloatArray) -> "Few":
        """Begin with signed strengths b of problems with labels y, all of shape (P, n); they are changed in place."""
        return cls(Place(y, np.empty(y.shape), b, lo, hi), np.zeros((y.shape[0], 5)))

    def rounds(self, k: int) -> int:
        """Return the rounds of a problem; -1 before the first look."""
        return int(self.found[k, 0]) - 1

    def gap(self, k: int) -> float:
        """Return the relative gap of a problem."""
        return float(self.found[k, 3] / max(self.found[k, 4], 1e-300))

    def reason(self, k: int) -> Reason | None:
        """Return why nothing is left to do for a problem, or None."""
        return ENDS[int(self.found[k, 1])]
