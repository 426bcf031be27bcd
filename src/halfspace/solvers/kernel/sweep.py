"""The plain kernel AdaTron, for teaching and for tests: present one example after another, in order.

Problem   max  Σ alpha_i - ½ Σ alpha_i alpha_j y_i y_j K_ij   over   0 <= alpha_i <= cap_i.
Rule      E_i = y_i (Σ_j alpha_j y_j K_ij + bias);   alpha_i changes by the AdaTron rule (`adatron.py`), and the
          potentials of all examples follow by one row of the kernel matrix.
Bias      A free one by the method of multipliers: sweeps with a clamped input of square q, the mean of K_ii (K + q), then the
          fixed part of the bias moves by q Σ alpha_i y_i, until that sum is 0.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfspace._dispatch import compiled
from halfspace._typing import FloatArray, IntArray
from halfspace.solvers.kernel.machine import KernelAnswer, KernelProblem
from halfspace.solvers.kernel.pair_steps import gap_at
from halfspace.solvers.linear.soft_margin import balanced, best_bias
from halfspace.solvers.outcome import Reason
from halfspace.solvers.rules.adatron import AdaTron
from halfspace.solvers.rules.sweep import strengthen

__all__ = ["KernelSweep"]


@compiled
def _sweep(
    rule: AdaTron, K: FloatArray, y: FloatArray, caps: FloatArray, alpha: FloatArray, f: FloatArray, order: IntArray
) -> None:
    """Present the examples in this order; f, the outputs, follow."""
    for i in order:
        change = strengthen(rule, y[i] * f[i], alpha[i], K[i, i], caps[i])
        if change != 0.0:
            alpha[i] += change
            for j in range(f.size):
                f[j] += change * y[i] * K[i, j]


@dataclass
class State:
    """Strengths, the bias of the method of multipliers, and what the last sweep made of them."""

    K: FloatArray
    pull: float  # square of the clamped input that stands for a free bias
    alpha: FloatArray
    bias: float = 0.0
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
        problem = self.problem
        alpha = np.zeros(problem.y.size) if before is None else np.minimum(np.abs(before), problem.c)
        K = problem.gram.block(problem.rows, problem.rows, np.float64)
        return State(K, float(np.diag(K).mean()) if problem.free else 0.0, alpha)

    def step(self, state: State, most: int) -> tuple[FloatArray, ...]:
        """Present every example once."""
        del most
        problem, K, alpha, (lo, hi) = self.problem, state.K, state.alpha, self.problem.bounds()
        y, caps = problem.y, problem.c
        pulled = K + state.pull if problem.free else K
        f = pulled @ (alpha * y) + state.bias
        _sweep(AdaTron(self.rate, 1.0), pulled, y, caps, alpha, f, np.arange(y.size))
        state.bias += state.pull * float((alpha * y).sum())
        b = balanced(alpha, problem) * y if problem.free else alpha * y
        h = y - K @ b
        o = best_bias(y - h, y, caps) if problem.free else 0.0
        gap = float(gap_at(h, b, lo, hi, o))
        primal = 0.5 * float(b @ (y - h)) + float((caps * np.maximum(0.0, y * (h - o))).sum())
        state.answer, state.gap = KernelAnswer(b, o, h, np.zeros(y.size), primal, primal - gap), gap / max(primal, 1e-300)
        return np.array([primal]), np.array([primal - gap])

    def status(self, state: State) -> Reason | None:
        """Return why nothing is left to do, or None."""
        return "converged" if state.gap <= self.tol else None

    def certify(self, state: State) -> KernelAnswer:
        """Return the strengths with their gradient, and both values."""
        if state.answer is None:  # interrupted before the first sweep was over
            self.step(state, 1)
        if state.answer is None:
            raise AssertionError("a sweep has an answer")
        return state.answer
