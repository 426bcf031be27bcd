"""The kernel AdaTron as it is printed: present one example after another, in order, the kernel matrix in memory.

Problem    max  Σ alpha_i - ½ Σ alpha_i alpha_j y_i y_j K_ij   over   0 <= alpha_i <= C_i   (C_i = inf: no errors tolerated).
Rule       E_i = y_i f(x_i),  f = Σ_j alpha_j y_j k(x_j, ·);  alpha_i <- min(C_i, max(0, alpha_i + rate (1 - E_i)/K_ii)),  and
           the outputs of all examples follow by one row of the kernel matrix: `sweep` with the rule of `rules/adatron.py` on
           the `Gram` view.
Theorem    That of `rules/adatron.py`: for 0 < rate < 2 no step lowers the dual. For C = inf the bracket of `hard_margin.py`.
Bias       A free one by the method of multipliers: sweeps with a clamped input of square q, the mean of K_ii (K + q), then the
           fixed part of the bias moves by q Σ alpha_i y_i, until that sum is 0.
Reference  Frieß, Cristianini and Campbell 1998, section 3.

This is the plain rule, `KernelAdaTron(solver="sweep")`. The default takes an accelerator with the same optimum, working sets
and pairs of examples: `machine.py`.
"""

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from halfspace._typing import FloatArray
from halfspace.rows.views import Gram
from halfspace.solvers.kernel.hard_margin import hard_gap
from halfspace.solvers.kernel.machine import KernelAnswer, KernelLimits, KernelProblem
from halfspace.solvers.kernel.pair_steps import gap_at
from halfspace.solvers.linear.soft_margin import balanced, best_bias
from halfspace.solvers.outcome import Reason
from halfspace.solvers.rules.adatron import AdaTron
from halfspace.solvers.rules.sweep import Forget, State, Task, start, sweep
from halfspace.solvers.run import Budget, Progress, run

__all__ = ["KernelSweeping", "Swept", "solve_sweep"]


@dataclass
class Swept:
    """Strengths and outputs, and what they are worth."""

    state: State  # of one problem; the outputs with the clamped input
    fixed: float  # the fixed part of the bias
    b: FloatArray  # (n,) signed strengths, balanced if the bias is free
    h: FloatArray  # (n,) gradient y - K b
    bias: float = 0.0
    primal: float = np.inf
    dual: float = 0.0


@dataclass(frozen=True)
class KernelSweeping:
    """Sweep until the relative duality gap is at most `tol`."""

    problem: KernelProblem
    tol: float
    rate: float = 1.0
    unit: str = "sweep"
    columns: tuple[str, ...] = ("primal", "dual")
    K: FloatArray = field(init=False, repr=False)
    task: Task = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rows, y = self.problem.rows, self.problem.y
        K = self.problem.gram.block(rows, rows, np.float64)
        clamped = K + K.diagonal().mean() if self.problem.free else K
        target = (y > 0).astype(np.int64)
        object.__setattr__(self, "K", K)
        object.__setattr__(self, "task", Task(Gram(clamped), target, np.array([1]), clamped.diagonal().copy(), self.problem.c))

    def start(self, before: FloatArray | None = None) -> Swept:
        """Begin at zero, or at these strengths (n,)."""
        state, n = start(self.task), self.problem.y.size
        if before is not None:
            state.alpha[0] = np.minimum(np.abs(before), self.problem.c)
        return Swept(state, 0.0, np.zeros(n), self.problem.y.copy())

    def step(self, swept: Swept, most: int) -> tuple[Any, ...]:
        """Present every example once, in order."""
        del most
        y, alpha, clamped = self.problem.y, swept.state.alpha[0], self.task.X.K
        swept.state.W[0] = clamped @ (alpha * y) + swept.fixed
        sweep(AdaTron(self.rate), Forget(), self.task, swept.state, 0, np.arange(y.size))
        if self.problem.free:
            swept.fixed += float(clamped[0, 0] - self.K[0, 0]) * float(alpha @ y)
        self._measure(swept, alpha)
        return np.array([swept.primal]), np.array([swept.dual])

    def _measure(self, swept: Swept, alpha: FloatArray) -> None:
        """Take both values of the strengths."""
        problem, y, c = self.problem, self.problem.y, self.problem.c
        swept.b = b = balanced(alpha, problem) * y if problem.free else alpha * y
        swept.h = h = y - self.K @ b
        if np.isinf(c[0]):
            swept.bias, swept.primal, swept.dual = hard_gap(y, b, h, free=problem.free)
            return
        swept.bias = best_bias(y - h, y, c) if problem.free else 0.0
        swept.primal = 0.5 * float(b @ (y - h)) + float((c * np.maximum(0.0, y * (h - swept.bias))).sum())
        swept.dual = swept.primal - float(gap_at(h, b, *problem.bounds(), swept.bias))

    def status(self, swept: Swept) -> Reason | None:
        """Tell whether the gap is small enough."""
        return "converged" if swept.primal - swept.dual <= self.tol * swept.primal < np.inf else None

    def certify(self, swept: Swept) -> KernelAnswer:
        """Return the answer, which `models` makes a certificate of."""
        zeros = np.zeros(swept.b.size)
        return KernelAnswer(swept.b, swept.bias, swept.h, zeros, swept.primal, swept.dual, "converged", 0, [])


def solve_sweep(
    problem: KernelProblem, tol: float, limits: KernelLimits, rate: float = 1.0, start: FloatArray | None = None
) -> KernelAnswer:
    """Solve by sweeps alone, to a relative gap of `tol`, from strengths (n,) if they are given."""

    def watch(at: Progress) -> bool:
        return limits.watch(at.round, (at.state.primal - at.state.dual) / max(at.state.primal, 1e-300))

    method = KernelSweeping(problem, tol, rate)
    left = None if limits.deadline is None else limits.deadline - time.perf_counter()
    done = run(method, Budget(limits.max_iter, left, limits.cancelled), method.start(start), watch)
    history = done.course.history()
    course = list(zip(*(history[name].tolist() for name in ("round", "seconds", "primal", "dual")), strict=True))
    return method.certify(done.state)._replace(reason=done.outcome.reason, rounds=done.rounds, course=course)
