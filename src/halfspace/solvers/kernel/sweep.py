"""The plain kernel AdaTron, for teaching and for tests: present one example after another, in order.

Problem   max  Σ alpha_i - ½ Σ alpha_i alpha_j y_i y_j K_ij   over   0 <= alpha_i <= cap_i.
Rule      E_i = y_i (Σ_j alpha_j y_j K_ij + bias);   alpha_i changes by the AdaTron rule (`adatron.py`), and the
          potentials of all examples follow by one row of the kernel matrix.
Bias      A free one by the method of multipliers: sweeps with a clamped input of square q, the mean of K_ii (K + q), then the
          fixed part of the bias moves by q Σ alpha_i y_i, until that sum is 0.
"""

import time

import numpy as np

from halfspace._dispatch import compiled
from halfspace._typing import FloatArray, IntArray
from halfspace.solvers.kernel.machine import KernelAnswer, KernelLimits, KernelProblem
from halfspace.solvers.kernel.pair_steps import gap_at
from halfspace.solvers.linear.soft_margin import balanced, best_bias
from halfspace.solvers.outcome import Reason
from halfspace.solvers.rules.adatron import AdaTron
from halfspace.solvers.rules.sweep import strengthen

__all__ = ["solve_sweep"]


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


def solve_sweep(
    problem: KernelProblem, tol: float, limits: KernelLimits, rate: float = 1.0, start: FloatArray | None = None
) -> KernelAnswer:
    """Solve by sweeps alone, to a relative gap of `tol`; the kernel matrix is held in memory."""
    y, caps, n, rows = problem.y, problem.c, problem.y.size, problem.rows
    K = problem.gram.block(rows, rows, np.float64)
    pull = float(np.diag(K).mean()) if problem.free else 0.0
    pulled, (lo, hi), order = K + pull, problem.bounds(), np.arange(n)
    alpha = np.zeros(n) if start is None else np.minimum(np.abs(start), caps)
    bias, began, course, sweeps = 0.0, time.perf_counter(), [], 0
    rule, reason = AdaTron(rate, 1.0), None
    while True:
        f = pulled @ (alpha * y) + bias
        _sweep(rule, pulled, y, caps, alpha, f, order)
        sweeps += 1
        bias += pull * float((alpha * y).sum())
        b = balanced(alpha, problem) * y if problem.free else alpha * y
        h = y - K @ b
        o = best_bias(y - h, y, caps) if problem.free else 0.0
        gap = float(gap_at(h, b, lo, hi, o))
        primal = 0.5 * float(b @ (y - h)) + float((caps * np.maximum(0.0, y * (h - o))).sum())
        course.append((sweeps, time.perf_counter() - began, primal, primal - gap))
        reason = _reason(limits, sweeps, gap, tol, primal)
        if reason is not None:
            return KernelAnswer(b, o, h, np.zeros(n), primal, primal - gap, reason, sweeps, course)


def _reason(limits: KernelLimits, sweeps: int, gap: float, tol: float, primal: float) -> Reason | None:
    """Return why to stop now, or None to go on."""
    if gap <= tol * primal:
        return "converged"
    if limits.cancelled():
        return "interrupted"
    if limits.deadline is not None and time.perf_counter() >= limits.deadline:
        return "time budget spent"
    if sweeps >= limits.max_iter:
        return "iteration budget spent"
    return "stopped by callback" if limits.watch(sweeps, gap / max(primal, 1e-300)) else None
