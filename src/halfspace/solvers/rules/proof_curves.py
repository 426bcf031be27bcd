"""The convergence proof of a perceptron, mistake by mistake.

Curves     M(t) = w·w*  and  Q(t) = ‖w‖²  after t mistakes, with w* of length 1 and margin kappa.
Bounds     M(t) >= t·slowest·kappa - ‖w_0‖,  Q(t) <= ‖w_0‖² + t (fastest² R² + 2 fastest c),  and  M²/Q = cos² <= 1;  so their
           ratio would exceed 1 if there were more mistakes than `Novikoff` allows.
"""

from typing import NamedTuple

import numpy as np

from halfspace._typing import FloatArray, View
from halfspace.certificates import Novikoff
from halfspace.rows.views import axpy
from halfspace.solvers.rules.voted import Log

__all__ = ["ProofCurves", "curves_of"]


class ProofCurves(NamedTuple):
    """What the convergence proof says after t = 0, 1, 2, ... mistakes, and what was the case."""

    overlap: FloatArray  # (T + 1,) M(t) = w·w*
    square: FloatArray  # (T + 1,) Q(t) = ‖w‖²
    least_overlap: FloatArray  # (T + 1,) the least M(t) can be
    most_square: FloatArray  # (T + 1,) the most Q(t) can be
    kappa: float  # margin of w*
    radius: float  # length of the longest example
    theorem: Novikoff

    @property
    def cosine_squared(self) -> FloatArray:
        """cos² of the angle between w and w*, shape (T + 1,); 0 for zero weights."""
        return self.overlap**2 / np.where(self.square > 0.0, self.square, 1.0)

    @property
    def least_cosine_squared(self) -> FloatArray:
        """The least cos² can be once M(t) is surely positive, shape (T + 1,); it reaches 1 at the bound."""
        return np.maximum(self.least_overlap, 0.0) ** 2 / np.where(self.most_square > 0.0, self.most_square, 1.0)

    @property
    def bound(self) -> float:
        """The most mistakes there can be."""
        return self.theorem.bound(self.radius, self.kappa)


def curves_of(
    X: View, log: Log, start: FloatArray, teacher: FloatArray, kappa: float, radius: float, theorem: Novikoff
) -> ProofCurves:
    """Go through a log of mistakes of one problem, from the weights `start` (D,), beside a teacher of length 1 (D,)."""
    w = start.copy()
    M, Q = np.empty(log.row.size + 1), np.empty(log.row.size + 1)
    M[0], Q[0] = w @ teacher, w @ w
    for t, (row, change) in enumerate(zip(log.row.tolist(), log.change.tolist(), strict=True), 1):
        axpy(change, X, row, w)
        M[t], Q[t] = w @ teacher, w @ w
    counts = np.arange(M.size)
    return ProofCurves(M, Q, theorem.least_overlap(counts, kappa), theorem.most_square(counts, radius), kappa, radius, theorem)
