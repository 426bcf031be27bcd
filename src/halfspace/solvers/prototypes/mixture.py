"""Expectation and maximisation (EM) for a mixture of isotropic Gaussians.

Problem.    Maximise  L = Σ_i s_i log Σ_k π_k N(x_i; w_k, σ_k² I)  over weights π, centres w and deviations σ.
Update.     With responsibilities r_ik = π_k N(x_i; w_k, σ_k² I) / Σ_l π_l N(x_i; w_l, σ_l² I) and N_k = Σ_i s_i r_ik:
                π_k = N_k / Σ_l N_l,    w_k = Σ_i s_i r_ik x_i / N_k,    σ_k² = Σ_i s_i r_ik ‖x_i - w_k‖² / (d N_k);
            a common σ² is the mean of the σ_k² weighted by π_k; a σ below its floor is raised to it.
Guarantee.  L never falls (Dempster, Laird and Rubin 1977, theorem 1). The floor keeps that: as a function of σ_k alone, what a
            step maximises rises up to the σ_k above and falls beyond it. Without a floor L has no maximum: a centre on a single
            row with σ -> 0 makes it infinite.
Limit.      As σ -> 0 each row belongs to its nearest centre alone, and a step is a step of K-means (Lloyd 1982).

A centre that no row belongs to stays where it is, with weight 0.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from halfspace._typing import FloatArray, View
from halfspace.rows.views import n_columns
from halfspace.solvers.outcome import Reason
from halfspace.solvers.prototypes.mixture_pass import Mixture, Sums
from halfspace.solvers.prototypes.mixture_wide import sums

__all__ = ["Climb", "Common", "Each", "Fixed", "Limits", "Sigma", "carried", "climb", "maximised", "quantised", "spread"]


class Common(NamedTuple):
    """One σ for all centres, at least `floor`."""

    floor: float


class Each(NamedTuple):
    """A σ for each centre, at least `floor`."""

    floor: float


class Fixed(NamedTuple):
    """A σ that is given."""

    sigma: float


Sigma = Common | Each | Fixed


class Climb(NamedTuple):
    """Where EM ended.

    `course` holds L at the start and after every step; `found` is the pass over the data at the end, `gain` what one more step
    would have added.
    """

    mixture: Mixture
    course: list[float]
    found: Sums
    gain: float
    reason: Reason


class Limits(NamedTuple):
    """When to stop: the gain of a step, the number of steps, the time on the clock of `time.perf_counter`."""

    gain: float
    max_iter: int
    deadline: float


def maximised(found: Sums, before: Mixture, rule: Sigma) -> Mixture:
    """Make the next mixture of the sums of a pass with the one before.

    The scatter about the new centres is that about the old ones less what the move explains (Huygens).

    Examples
    --------
    >>> before = Mixture(np.array([1.0]), np.array([[0.0]]), np.array([1.0]))
    >>> maximised(Sums(0.0, np.array([2.0]), np.array([[4.0]]), np.array([10.0])), before, Each(0.0))
    Mixture(weights=array([1.]), centres=array([[2.]]), sigmas=array([1.]))
    """
    N = np.where(found.N > 0.0, found.N, 1.0)  # an empty centre has M = 0 and Q = 0: it stays
    move = found.M / N[:, None]
    scatter = np.maximum(found.Q - found.N * (move**2).sum(axis=1), 0.0)
    return Mixture(found.N / found.N.sum(), before.centres + move, _sigmas(rule, scatter, found.N, before))


def _sigmas(rule: Sigma, scatter: FloatArray, N: FloatArray, before: Mixture) -> FloatArray:
    """Return the deviations, shape (K,), by their rule."""
    K, d = before.centres.shape
    if isinstance(rule, Fixed):
        return np.full(K, rule.sigma)
    if isinstance(rule, Common):
        return np.full(K, max(np.sqrt(scatter.sum() / (d * N.sum())), rule.floor))
    alive = N > 0.0
    found = np.sqrt(scatter / (d * np.where(alive, N, 1.0)))
    return np.maximum(np.where(alive, found, before.sigmas), rule.floor)


def quantised(X: View, s: FloatArray, centres: FloatArray, spread: float, rule: Sigma) -> Mixture:
    """Make the first mixture by a step of K-means from centres, shape (K, d): EM with a σ of nearly 0 beside the data's spread.

    Examples
    --------
    >>> X = np.array([[0.0], [2.0], [9.0], [11.0]])
    >>> quantised(X, np.ones(4), np.array([[0.0], [9.0]]), 5.0, Common(0.0))
    Mixture(weights=array([0.5, 0.5]), centres=array([[ 1.],
           [10.]]), sigmas=array([1., 1.]))
    """
    K = centres.shape[0]
    hard = Mixture(np.full(K, 1.0 / K), centres, np.full(K, 1e-8 * spread))
    return maximised(sums(X, s, hard), hard, rule)


def carried(old: Mixture, rule: Sigma) -> FloatArray:
    """Return the deviations of an earlier mixture, shape (K,), as a rule allows them.

    Examples
    --------
    >>> old = Mixture(np.array([0.5, 0.5]), np.zeros((2, 1)), np.array([1.0, 7.0]))
    >>> carried(old, Each(2.0)).tolist(), carried(old, Common(2.0)).tolist(), carried(old, Fixed(3.0)).tolist()
    ([2.0, 7.0], [5.0, 5.0], [3.0, 3.0])
    """
    if isinstance(rule, Fixed):
        return np.full_like(old.sigmas, rule.sigma)
    if isinstance(rule, Common) and np.ptp(old.sigmas) > 0.0:
        return np.full_like(old.sigmas, max(np.sqrt(old.weights @ old.sigmas**2), rule.floor))
    return np.maximum(old.sigmas, rule.floor)


def spread(X: View, s: FloatArray) -> float:
    """Return the deviation of the rows of a view from their mean, per feature: σ of a mixture with one centre.

    Examples
    --------
    >>> spread(np.array([[7.0, 5.0], [9.0, 5.0]]), np.ones(2)) ** 2
    0.5000000000000001
    """
    d = n_columns(X)
    origin = Mixture(np.ones(1), np.zeros((1, d)), np.ones(1))
    mean = maximised(sums(X, s, origin), origin, Fixed(1.0))
    return float(np.sqrt(sums(X, s, mean).Q[0] / (d * s.sum())))


def climb(
    X: View, s: FloatArray, mixture: Mixture, rule: Sigma, limits: Limits, watch: Callable[[Mixture, list[float]], bool]
) -> Climb:
    """Take EM steps on the rows of a view, weighted by s, shape (n,), until a limit is reached.

    The pass that finds the gain too small, or is one too many, is that of the step which is not taken: so the mixture returned
    comes with the gain of one more step. `watch(mixture, course)` returns whether to stop. Ctrl-C ends the climb at the mixture
    that was last found.

    Examples
    --------
    >>> X = np.array([[0.0], [2.0], [9.0], [11.0]])
    >>> start = Mixture(np.array([0.5, 0.5]), np.array([[0.0], [9.0]]), np.full(2, 3.0))
    >>> end = climb(X, np.ones(4), start, Common(0.1), Limits(1e-9, 100, np.inf), lambda mixture, course: False)
    >>> end.mixture.centres.round(3).ravel().tolist(), end.mixture.sigmas.round(3).tolist(), end.reason
    ([1.0, 10.0], [1.0, 1.0], 'converged')
    """
    found = sums(X, s, mixture)
    course = [found.log_likelihood]
    reason: Reason | None = None
    while True:
        try:
            following = maximised(found, mixture, rule)
            ahead = sums(X, s, following)
        except KeyboardInterrupt:
            reason = "interrupted"
            continue
        gain = ahead.log_likelihood - found.log_likelihood
        reason = reason or _limit_reached(gain, len(course) - 1, limits)
        if reason is not None:
            return Climb(mixture, course, found, gain, reason)
        mixture, found = following, ahead
        course.append(found.log_likelihood)
        if watch(mixture, course):
            reason = "stopped by callback"


def _limit_reached(gain: float, steps: int, limits: Limits) -> Reason | None:
    """Return which limit has been reached, if any."""
    if gain <= limits.gain:
        return "converged"
    if steps >= limits.max_iter:
        return "iteration budget spent"
    return "time budget spent" if time.perf_counter() >= limits.deadline else None
