"""Climbing to a maximum of the likelihood of a mixture by EM, from one start or several: the method for `solvers.run`.

A climb holds its mixture, the pass over the data with it, the mixture that one more step would make, and the pass with that:
so what a step gains is known before it is made, and a climb ends with the mixture after which a step gains too little.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from halfspace._typing import FloatArray, View
from halfspace.rows.views import n_columns
from halfspace.solvers.outcome import Reason
from halfspace.solvers.prototypes.mixture import Fixed, Mixture, Sigma, Sums, maximised
from halfspace.solvers.prototypes.mixture_wide import sums

__all__ = ["Climb", "Climbing", "State", "quantised", "spread"]


@dataclass
class Climb:
    """A mixture on its way up; `course` holds L at the start and after every step."""

    mixture: Mixture
    found: Sums
    following: Mixture
    ahead: Sums
    course: list[float]

    @property
    def gain(self) -> float:
        """What one more step would add to L."""
        return self.ahead.log_likelihood - self.found.log_likelihood


@dataclass
class State:
    """The climb at hand, the ends of those before, and the starts made."""

    climb: Climb | None = None
    ends: list[Climb] = field(default_factory=list)

    @property
    def best(self) -> Climb | None:
        """The climb that came highest so far, the first of equals."""
        climbs = [*self.ends, *([self.climb] if self.climb else [])]
        return max(climbs, key=lambda climb: climb.course[-1], default=None)


@dataclass(frozen=True)
class Climbing:
    """The method: rows of a view weighted by s, how σ is set, the least gain and the most steps of a climb, and the starts.

    Examples
    --------
    >>> from halfspace.solvers.prototypes.mixture import Common
    >>> from halfspace.solvers.run import Budget, run
    >>> X = np.array([[0.0], [2.0], [9.0], [11.0]])
    >>> start = Mixture(np.array([0.5, 0.5]), np.array([[0.0], [9.0]]), np.full(2, 3.0))
    >>> end = run(Climbing(X, np.ones(4), Common(0.1), 1e-9, 100, lambda: start), Budget(100))
    >>> end.state.best.mixture.centres.round(3).ravel().tolist(), end.outcome.reason
    ([1.0, 10.0], 'converged')
    """

    X: View
    s: FloatArray
    rule: Sigma
    tol: float
    max_iter: int
    first: Callable[[], Mixture]
    n_starts: int = 1
    unit: ClassVar[str] = "step"
    columns: ClassVar[tuple[str, ...]] = ("log_likelihood",)

    def start(self, before: State | None = None) -> State:
        """Return the state before the first start."""
        return before or State()

    def step(self, state: State, most: int) -> tuple[FloatArray, ...]:
        """Make one step of EM, or begin the next climb; return L after a step."""
        del most
        climb = state.climb
        if climb is None or self._has_ended(climb):
            mixture = self.first()
            begun = self._climb(mixture, sums(self.X, self.s, mixture), [])
            state.ends, state.climb = state.ends + ([] if climb is None else [climb]), begun
            return ()
        state.climb = self._climb(climb.following, climb.ahead, climb.course)
        return (np.array([state.climb.course[-1]]),)

    def _climb(self, mixture: Mixture, found: Sums, course: list[float]) -> Climb:
        """Return where a climb stands at a mixture, and look one step ahead."""
        following = maximised(found, mixture, self.rule)
        return Climb(mixture, found, following, sums(self.X, self.s, following), [*course, found.log_likelihood])

    def _has_ended(self, climb: Climb) -> bool:
        return climb.gain <= self.tol or len(climb.course) > self.max_iter

    def status(self, state: State) -> Reason | None:
        """Return why nothing is left to do, or None."""
        if state.climb is None or state.best is None or len(state.ends) + 1 < self.n_starts or not self._has_ended(state.climb):
            return None
        return "converged" if state.best.gain <= self.tol else "iteration budget spent"


def quantised(X: View, s: FloatArray, centres: FloatArray, spread: float, rule: Sigma) -> Mixture:
    """Make the first mixture by a step of K-means from centres, shape (K, d): EM with a σ of nearly 0."""
    K = centres.shape[0]
    hard = Mixture(np.full(K, 1.0 / K), centres, np.full(K, 1e-8 * spread))
    return maximised(sums(X, s, hard), hard, rule)


def spread(X: View, s: FloatArray) -> float:
    """Return the deviation of the rows of a view from their mean, per feature: σ of a mixture with one centre."""
    d = n_columns(X)
    origin = Mixture(np.ones(1), np.zeros((1, d)), np.ones(1))
    mean = maximised(sums(X, s, origin), origin, Fixed(1.0))
    return float(np.sqrt(sums(X, s, mean).Q[0] / (d * s.sum())))
