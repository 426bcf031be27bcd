"""The evidence: how probable the targets are under a prior on the weights and a noise, all weights integrated out.

Problem    w ~ N(0, I/α), y = X̃w + noise of variance 1/β. With the singular values s of the design, b = Uᵀy, λ = α/β:
           2 log p(y|α, β) = Σ_j log(λ/(s_j² + λ)) + n log(β/2π) - β Q(λ),
           Q(λ) = ‖y - X̃w‖² + λ‖w‖² = rest + Σ_j b_j² λ/(s_j² + λ).  Maximise over α and β, or over one of them.
Method     For a given λ the best β is n/Q(λ), so one unknown is left. Its slope by log λ is  γ - n λ‖w‖²/Q,  γ = Σ s²/(s² + λ)
           (if β is given: γ - α‖w‖²; if α is given: -(n - γ - β‖y - X̃w‖²)). All falling zeros on a fine grid are bracketed,
           each is found to the last bit, the one with the largest evidence wins. Where the design reproduces the targets the
           evidence can rise all the way to λ = 0, without bound if there are more rows than directions: like the spikes of a
           mixture's likelihood that end is taken only where there is no maximum inside. Its λ is a convention then, 1e-16 of
           the largest s²: any smaller one gives the same weights.
Guarantee  At a zero MacKay's fixed point holds: α = γ/‖w‖², β = (n - γ)/‖y - X̃w‖². An evidence without a maximum inside the
           range is reported as such: the data then show no effect (λ large), or no noise (λ small).
Reference  MacKay 1992, "Bayesian interpolation", section 4; Bishop 2006, section 3.5.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from halfspace._typing import FloatArray
from halfspace.solvers.regression.spectrum import Spectrum

__all__ = ["Found", "Problem", "least_ridge", "log_evidence", "maximise", "precisions", "problem"]

GRID = 200
"""Values of λ between which zeros of the slope are looked for."""
FLAT = 1e-13
"""Relative difference of two sums that counts as rounding."""
FAR = 1e10
"""How far the range of λ extends beyond the squares of the singular values."""


class Problem(NamedTuple):
    """What the evidence depends on; targets are columns, each with a noise of its own."""

    squares: FloatArray
    """s², shape (r,)."""
    b2: FloatArray
    """b², shape (r, m)."""
    rest: FloatArray
    """Squared length of each target outside the design's columns, shape (m,)."""
    n: float
    """Number of examples: the sum of their weights."""
    floor: FloatArray | float = 0.0
    """Sum of squares below which residuals are rounding, shape (m,): no noise is taken to be smaller."""
    least: float = 0.0
    """Smallest λ that is not lost in the rounding of the examples."""

    def terms(self, ridge: float) -> tuple[float, FloatArray, FloatArray]:
        """Return γ, and per target ‖w‖² and ‖y - X̃w‖²."""
        damped = self.squares + ridge
        gamma = float((self.squares / damped).sum())
        length = (self.squares / damped**2) @ self.b2
        return gamma, length, self.rest + (ridge / damped) ** 2 @ self.b2


class Found(NamedTuple):
    """The λ of the largest evidence, and where it lies."""

    ridge: float
    at_edge: str
    """"" inside the range; "low" or "high" where the evidence still rises at its end."""
    n_iter: int


def least_ridge(centre: FloatArray, n: float) -> float:
    """Return the least λ for n examples from which `centre` was subtracted: the square of 1000 times what that rounded."""
    return float((1e3 * np.finfo(np.float64).eps) ** 2 * (centre @ centre) * n)


def problem(parts: Spectrum, n: float, floor: FloatArray, least: float = 0.0) -> Problem:
    """Return the evidence's problem from a decomposition; a rest below `floor`, shape (m,), is no noise, λ >= `least`."""
    return Problem(parts.s**2, parts.b**2, np.where(parts.rest > floor, parts.rest, 0.0), n, floor, least)


def maximise(task: Problem, alpha: float | None = None, beta: float | None = None) -> Found:
    """Return the λ = α/β of the largest evidence; at most one of α and β may be given."""
    if task.squares.size == 0:
        return Found(1.0, "high", 1)
    low, high = _range(task)
    grid = np.linspace(np.log(low), np.log(high), GRID)
    slopes = np.array([_slope(task, t, alpha, beta) for t in grid])
    sloping = np.flatnonzero(slopes)
    if sloping.size == 0:  # every λ explains the targets equally well: the one that shrinks nothing
        return Found(float(np.exp(grid[0])), "low", 1)
    steps, inside = 0, []
    for j, k in pairwise(sloping):
        if slopes[j] > 0 > slopes[k]:
            t, report = brentq(lambda t: _slope(task, t, alpha, beta), grid[j], grid[k], xtol=1e-300, full_output=True)
            inside.append((t, ""))
            steps += report.iterations
    edges = [(grid[0], "low")] * bool(slopes[sloping[0]] < 0) + [(grid[-1], "high")] * bool(slopes[sloping[-1]] > 0)
    t, edge = max(inside or edges, key=lambda found: _value(task, found[0], alpha, beta))
    return Found(float(np.exp(t)), edge, max(steps, 1))


def _range(task: Problem) -> tuple[float, float]:
    """Return a range of λ outside which the slope does not change its sign, or nothing would be gained in double precision."""
    _, length, _ = task.terms(0.0)
    largest, smallest = float(task.squares.max()), float(task.squares.min())
    with np.errstate(divide="ignore", invalid="ignore"):
        falling = np.nanmin(task.rest / (task.n * length), initial=smallest)  # below, γ > n λ‖w‖²/Q
    low = max(min(falling, smallest) / 100.0, largest * 1e-16, task.least)
    return low, max(largest * FAR, 10.0 * low)


def precisions(task: Problem, ridge: float, alpha: float | None = None, beta: float | None = None) -> FloatArray:
    """Return the noise precision β of each target, shape (m,), that goes with a λ: given, α/λ, or the best one, n/Q(λ)."""
    if beta is not None:
        return np.full(task.rest.size, beta)
    if alpha is not None:
        return np.full(task.rest.size, alpha / ridge)
    _, length, error = task.terms(ridge)
    return np.asarray(task.n / np.maximum(error + ridge * length, task.floor))


def log_evidence(task: Problem, ridge: float, beta: FloatArray) -> FloatArray:
    """Return log p(y|α, β) of each target, shape (m,), for a shared λ = α/β and a β each, shape (m,)."""
    _, length, error = task.terms(ridge)
    shrunk = float(np.log(ridge / (task.squares + ridge)).sum())
    return np.asarray(0.5 * (shrunk + task.n * np.log(beta / (2 * np.pi)) - beta * (error + ridge * length)))


def _slope(task: Problem, t: float, alpha: float | None, beta: float | None) -> float:
    """Return twice the slope of the evidence by log λ; 0 where that is rounding.

    γ - nλ‖w‖²/Q is n‖y - X̃w‖²/Q - (n - γ), which loses no digits where λ is small.
    """
    ridge = float(np.exp(t))
    gamma, length, error = task.terms(ridge)
    if beta is not None:
        gains, losses = np.full(length.size, gamma), ridge * beta * length
    else:
        whole = error + ridge * length
        share = np.divide(task.n * error, whole, out=np.full(error.size, task.n), where=whole > 0.0)
        gains = share if alpha is None else alpha / ridge * error
        losses = np.full(error.size, task.n - task.squares.size + float((ridge / (task.squares + ridge)).sum()))
    slope = float(gains.sum() - losses.sum())
    return slope if abs(slope) > FLAT * float(np.abs(gains).sum() + np.abs(losses).sum()) else 0.0


def _value(task: Problem, t: float, alpha: float | None, beta: float | None) -> float:
    """Return the evidence at a λ, all targets together."""
    ridge = float(np.exp(t))
    return float(log_evidence(task, ridge, precisions(task, ridge, alpha, beta)).sum())
