"""The kernel AdaTron as it is printed: present one example after another, in order, the kernel matrix in memory.

Problem    max  Σ alpha_i - ½ Σ alpha_i alpha_j y_i y_j K_ij   over   0 <= alpha_i <= C_i   (C_i = inf: no errors tolerated).
Rule       E_i = y_i f(x_i),  f = Σ_j alpha_j y_j k(x_j, ·);  alpha_i <- min(C_i, max(0, alpha_i + rate (1 - E_i)/K_ii)),  and
           the outputs of all examples follow by one row of the kernel matrix: `sweep` with the rule of `rules/adatron.py` on
           the `Gram` view.
Theorem    That of `rules/adatron.py`: for 0 < rate < 2 no step lowers the dual. For C = inf the bracket of `hard_gap`.
Bias       A free one by the method of multipliers: sweeps with a clamped input of square q, the mean of K_ii (K + q), then the
           fixed part of the bias moves by q Σ alpha_i y_i, until that sum is 0.
Reference  Frieß, Cristianini and Campbell 1998, section 3.

This is the plain rule, `KernelAdaTron(solver="sweep")`. The default takes an accelerator with the same optimum, working sets
and pairs of examples: `machine.py`.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfspace._typing import FloatArray
from halfspace.rows.views import Gram
from halfspace.solvers.kernel.machine import KernelAnswer, KernelProblem, hard_gap
from halfspace.solvers.kernel.pair_steps import gap_at
from halfspace.solvers.linear.soft_margin import balanced, best_bias
from halfspace.solvers.outcome import Reason
from halfspace.solvers.rules import sweep as presenting
from halfspace.solvers.rules.adatron import AdaTron
from halfspace.solvers.run import PIECE

__all__ = ["KernelSweep"]

VALUES = 1 << 20
"""Values of the kernel matrix, of short rows, that are computed between two looks at the clock."""


@dataclass
class State:
    """Strengths and outputs, the fixed part of a free bias, and what the last sweep made of them."""

    K: FloatArray  # its rows are computed first, in pieces
    task: presenting.Task  # the matrix with the clamped input that stands for a free bias
    state: presenting.State
    rows: int = 0  # of K that are there
    position: int = 0  # examples presented in this sweep
    fixed: float = 0.0
    answer: KernelAnswer | None = None
    gap: float = np.inf


@dataclass(frozen=True)
class KernelSweep:
    """The method: sweeps alone, to a relative gap of `tol`; the kernel matrix is held in memory."""

    problem: KernelProblem
    tol: float
    rate: float = 1.0

    unit: ClassVar[str] = "sweep"
    columns: ClassVar[tuple[str, ...]] = ("primal", "dual")

    def start(self, before: FloatArray | None = None) -> State:
        """Return the state to begin with, or to go on from signed strengths."""
        problem, n = self.problem, self.problem.y.size
        K = np.empty((n, n))
        target = (problem.y > 0).astype(np.int64)
        task = presenting.Task(Gram(K), target, np.array([1]), np.ones(n), problem.c)
        state = presenting.start(task)
        if before is not None:
            state.alpha[0] = np.minimum(np.abs(before), problem.c)
        return State(K, task, state)

    def step(self, state: State, most: int) -> tuple[FloatArray, ...]:
        """Compute some rows of the matrix; or present some examples, the last of which end a sweep."""
        del most
        y, alpha = self.problem.y, state.state.alpha[0]
        if state.rows < y.size:
            self._fill(state)
            return ()
        if state.position == 0:
            state.state.W[0] = state.task.X.K @ (alpha * y) + state.fixed
        some = np.arange(state.position, min(state.position + max(1, PIECE // y.size), y.size))
        presenting.sweep(AdaTron(self.rate), presenting.Forget(), state.task, state.state, 0, some)
        state.position = (state.position + some.size) % y.size
        return self._ended(state) if state.position == 0 else ()

    def _fill(self, state: State) -> None:
        """Compute some rows of the kernel matrix; after the last, the matrix that is swept over."""
        problem, n = self.problem, self.problem.y.size
        longer, rows = 1.0 + problem.gram.width / 64, problem.rows
        last = min(state.rows + max(1, int(VALUES / (n * longer))), n)
        everyone = rows[state.rows : last] if last - state.rows < n else rows
        state.K[state.rows : last] = problem.gram.block(everyone, rows, np.float64)
        state.rows = last
        if last == n:
            clamped = state.K + state.K.diagonal().mean() if problem.free else state.K
            state.task = state.task._replace(X=Gram(clamped), q=clamped.diagonal().copy())

    def _ended(self, state: State) -> tuple[FloatArray, ...]:
        """Move the fixed part of a free bias after a sweep, and measure what it brought."""
        y, alpha, clamped = self.problem.y, state.state.alpha[0], state.task.X.K
        if self.problem.free:
            state.fixed += float(clamped[0, 0] - state.K[0, 0]) * float(alpha @ y)
        primal, dual = self._measure(state, alpha)
        state.gap = (primal - dual) / max(primal, 1e-300) if primal < np.inf else np.inf
        return np.array([primal]), np.array([dual])

    def _measure(self, state: State, alpha: FloatArray) -> tuple[float, float]:
        """Return primal and dual value of the strengths, and note the answer."""
        problem, y, c = self.problem, self.problem.y, self.problem.c
        b = balanced(alpha, problem) * y if problem.free else alpha * y
        h = y - state.K @ b if b.any() else y.copy()
        if problem.hard:
            bias, primal, dual = hard_gap(y, b, h, free=problem.free)
            dual = min(dual, primal)
        else:
            bias = best_bias(y - h, y, c) if problem.free else 0.0
            primal = 0.5 * float(b @ (y - h)) + float((c * np.maximum(0.0, y * (h - bias))).sum())
            dual = primal - float(gap_at(h, b, *problem.bounds(), bias))
        state.answer = KernelAnswer(b, bias, h, np.zeros(y.size), primal, dual)
        return primal, dual

    def status(self, state: State) -> Reason | None:
        """Return why nothing is left to do, or None."""
        return "converged" if state.gap <= self.tol else None

    def so_far(self, state: State) -> tuple[FloatArray, float]:
        """Return the signed strengths as they stand, shape (n,), and their bias."""
        return (np.zeros(self.problem.y.size), 0.0) if state.answer is None else (state.answer.b, state.answer.bias)

    def certify(self, state: State) -> KernelAnswer:
        """Return the strengths with their gradient, and both values."""
        if state.answer is None:  # ended before the first sweep: what was presented, if the matrix is there
            alpha = state.state.alpha[0]
            self._measure(state, alpha if state.rows == alpha.size else np.zeros(alpha.size))
        if state.answer is None:
            raise AssertionError("what is measured has an answer")
        return state.answer
