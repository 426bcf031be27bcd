"""A run of the kernel solver: what is to be solved, how long to go on, where it stands, and its answer."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from halfspace._typing import FloatArray, IntArray
from halfspace.kernels.gram import LazyGram
from halfspace.solvers.kernel.pair_steps import gap_at
from halfspace.solvers.kernel.working_set import WorkingSet
from halfspace.solvers.linear.soft_margin import best_bias
from halfspace.solvers.outcome import Reason

__all__ = ["KernelAnswer", "KernelLimits", "KernelProblem", "Run"]


class KernelProblem(NamedTuple):
    """What is to be solved: kernel values, the rows that count, their labels ±1 and caps, and whether the bias is free."""

    gram: LazyGram
    rows: IntArray
    y: FloatArray
    c: FloatArray
    free: bool
    room: int = 20_000  # most examples in the working set

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and the highest signed strengths."""
        return np.where(self.y > 0, 0.0, -self.c), np.where(self.y > 0, self.c, 0.0)


class KernelLimits(NamedTuple):
    """How long to go on, and whom to tell."""

    max_iter: int = 10_000
    deadline: float | None = None  # by time.perf_counter()
    watch: Callable[[int, float], bool] = lambda _round, _gap: False
    cancelled: Callable[[], bool] = lambda: False


class KernelAnswer(NamedTuple):
    """Signed strengths, bias, the gradient in double precision, both values, why the run ended, and its course.

    Where the gradient is so far on the safe side that single precision is enough to know it, `error` bounds how far off it is.
    """

    b: FloatArray
    bias: float
    h: FloatArray
    error: FloatArray
    primal: float
    dual: float
    reason: Reason
    rounds: int
    course: list[tuple[int, float, float, float]]


@dataclass
class Run:
    """A run on the examples in a random order, of which the first m count."""

    problem: KernelProblem
    order: IntArray  # rows of the kernel matrix
    y: FloatArray
    lo: FloatArray
    hi: FloatArray
    b: FloatArray
    h: FloatArray
    limits: KernelLimits
    work: WorkingSet
    travelled: FloatArray  # (n,) sum of all changes of strengths that h was updated by: what single precision errs on
    began: float
    bias: float = 0.0
    rounds: int = 0
    reason: Reason | None = None
    course: list[tuple[int, float, float, float]] = field(default_factory=list)

    def state(self, m: int) -> tuple[float, float, float]:
        """Return bias, gap and primal value of the first m examples."""
        h, b, lo, hi = self.h[:m], self.b[:m], self.lo[:m], self.hi[:m]
        o = self.bias = _bias(h, self.y[:m], hi - lo, self.bias) if self.problem.free else 0.0
        r = h - o
        loss = float(np.where(r > 0.0, r * hi, r * lo).sum())  # hi or lo is 0
        return o, float(gap_at(h, b, lo, hi, o)), 0.5 * float(b @ (self.y[:m] - h)) + loss

    def times(self, rows: IntArray, columns: IntArray, change: FloatArray | None = None, dtype: Any = np.float32) -> FloatArray:
        """Return what the strengths (or changes) of `rows` give on `columns`."""
        coefficients = self.b[rows] if change is None else change
        return self.problem.gram.times(self.order[rows], coefficients, self.order[columns], dtype)

    def stopped(self, gap: float) -> bool:
        """Tell whether to stop, for a reason other than success."""
        limits = self.limits
        if limits.cancelled():
            self.reason = "interrupted"
        elif limits.deadline is not None and time.perf_counter() >= limits.deadline:
            self.reason = "time budget spent"
        elif self.rounds >= limits.max_iter:
            self.reason = "iteration budget spent"
        elif limits.watch(self.rounds, gap):
            self.reason = "stopped by callback"
        return self.reason is not None


def _bias(h: FloatArray, y: FloatArray, c: FloatArray, guess: float) -> float:
    """Return the best bias; only examples near the last one are sorted, if it did not move far."""
    needed = float(c[y > 0].sum())
    for width in (1e-3, 3e-2):
        low = h < guess - width
        near = np.flatnonzero((h <= guess + width) ^ low)
        below, points = float(c[low].sum()), h[near]
        order = np.argsort(points)
        slopes = below + np.cumsum(c[near][order])
        k = int(np.searchsorted(slopes, needed * (1.0 - 1e-12)))
        if below < needed and k + 1 < slopes.size:
            flat = slopes[k] <= needed * (1.0 + 1e-12)  # all biases in between are as good: the middle
            return float(0.5 * (points[order[k]] + points[order[k + 1]]) if flat else points[order[k]])
    return best_bias(y - h, y, c)
