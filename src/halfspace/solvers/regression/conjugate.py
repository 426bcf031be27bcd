"""Least squares by conjugate gradients: all that is asked of the rows are products with them.

Problem    min over W of  ½ ‖A W - Y‖²,  the W of smallest norm where several do; K targets, the columns of Y, at once.
Rule       With the residuals R = Y - A W and the gradient S = AᵀR:  W += α P,  R -= α A P,  P = S + β P, for each target with
           α = ‖S‖²/‖A P‖² and β = ‖S_new‖²/‖S_old‖². The strengths a with W = Aᵀa follow along: P = AᵀQ with Q = R + β Q.
Theorem    From W = 0 the k-th W has the least residual in the span of (AᵀA)^j AᵀY, j < k. So in exact arithmetic it ends after
           at most as many steps as A has different singular values, and at the solution of smallest norm.
Reference  Hestenes and Stiefel 1952, section 10; Björck 1996, section 7.4 (CGLS).

A target is left alone once its backward error ‖S‖/(‖R‖ ‖A‖) is at most `tol`, or its residual below `exact` times its length.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from halfspace._typing import FloatArray
from halfspace.solvers.outcome import Reason

__all__ = ["ConjugateGradients"]

EXACT = 5e-10
"""Residuals this small, relative to the target, count as none."""


@dataclass
class State:
    """Weights W (D, K) and strengths a (n, K), residuals R, directions P and Q, and the squares of gradients and residuals."""

    W: FloatArray
    a: FloatArray
    R: FloatArray
    P: FloatArray
    Q: FloatArray
    gradient: FloatArray
    residual: FloatArray
    best: float = np.inf  # largest backward error of a target, at its least
    stuck: int = 0  # steps since then


@dataclass(frozen=True)
class ConjugateGradients:
    """The method: a step takes two products with A (n, D), for all targets Y (n, K) together.

    A is dense, sparse, or knows its `shape`, its `length` ‖A‖, products with @, and its transpose `T`.
    """

    A: Any
    Y: FloatArray
    tol: float
    exact: float = EXACT

    unit: ClassVar[str] = "step"
    columns: ClassVar[tuple[str, ...]] = ("backward_error",)
    PATIENCE: ClassVar[int] = 200
    """Steps without a smaller error after which rounding is what is in the way."""

    @cached_property
    def size(self) -> float:
        """The length ‖A‖, by Frobenius."""
        if hasattr(self.A, "length"):
            return float(self.A.length)
        return float(np.linalg.norm(self.A.data if sparse.issparse(self.A) else self.A))

    @cached_property
    def turned(self) -> Any:
        """The rows as columns: Aᵀ, stored so that products with it are quick."""
        return self.A.T

    def start(self, before: State | None = None) -> State:
        """Return zero weights, or go on."""
        if before is not None:
            return before
        (n, D), K = self.A.shape, self.Y.shape[1]
        S = self.turned @ self.Y
        zero = np.zeros((D, K)), np.zeros((n, K))
        return State(*zero, self.Y.copy(), S.copy(), self.Y.copy(), _squares(S), _squares(self.Y))

    def errors(self, state: State) -> FloatArray:
        """Return the backward error of each target, 0 where nothing is left of it."""
        done = (state.residual <= self.exact**2 * _squares(self.Y)) | (state.gradient == 0.0)
        lengths = np.sqrt(np.where(done, 1.0, state.residual)) * (self.size or 1.0)
        return np.where(done, 0.0, np.sqrt(state.gradient) / lengths)

    def step(self, state: State, most: int) -> tuple[FloatArray, ...]:
        """Make a step for all targets that are not done."""
        del most
        open_ = self.errors(state) > self.tol
        T = self.A @ state.P
        along = _squares(T)
        alpha = np.where(open_ & (along > 0.0), state.gradient / np.where(along > 0.0, along, 1.0), 0.0)
        state.W += alpha * state.P
        state.a += alpha * state.Q
        state.R -= alpha * T
        S = self.turned @ state.R
        squares = np.where(open_, _squares(S), state.gradient)
        beta = np.where(open_ & (state.gradient > 0.0), squares / np.where(state.gradient > 0.0, state.gradient, 1.0), 0.0)
        state.P *= beta
        state.P += S
        state.Q *= beta
        state.Q += state.R
        state.gradient, state.residual = squares, _squares(state.R)
        worst = float(self.errors(state).max(initial=0.0))
        state.stuck = 0 if worst < 0.99 * state.best else state.stuck + 1
        state.best = min(worst, state.best)
        return (np.array([worst]),)

    def status(self, state: State) -> Reason | None:
        """Return why nothing is left to do, or None."""
        if not (self.errors(state) > self.tol).any():
            return "converged"
        return "rounding limit reached" if state.stuck >= self.PATIENCE else None


def _squares(A: FloatArray) -> FloatArray:
    """Return the squared length of each column."""
    return np.asarray(np.einsum("ij,ij->j", A, A))
