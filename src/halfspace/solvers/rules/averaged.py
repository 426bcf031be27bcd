"""The averaged perceptron.

Problem    The last weights remember the last mistakes best; use all of them.
Rule       Rosenblatt's; the answer is the mean of the weights after each presentation, (1/T) Σ_t w_t.
           Only mistakes cost anything, and only one addition each: a change made after p presentations is missing from the
           first p of the T terms, so each example keeps  beta_i = Σ p·change,  and with  u = Σ beta_i x_i,  summed when the
           mean is asked for, the mean is  w - u/T.
Theorem    The mistakes are Rosenblatt's, and so is their bound; the mean is the linear stand-in for the vote, whose
           expected error on one more example is at most  2/(n+1)  times the expected mistake bound.
Reference  Freund and Schapire 1999, section 2 and theorem 3; with u kept up to date: Daumé 2006, algorithm 13.
"""

from typing import Annotated, NamedTuple

import numpy as np

from halfspace._dispatch import compiled
from halfspace._typing import FloatArray
from halfspace.rows.views import axpy
from halfspace.solvers.rules.sweep import State, Task, remember

__all__ = ["Mean", "mean", "start_mean", "sum_up"]


class Mean(NamedTuple):
    """What is missing from the mean."""

    beta: Annotated[FloatArray, "f8(K,n)"]  # (K, n) booked per example
    U: Annotated[FloatArray, "f8(K,_u)"]  # (K, D) of the examples of earlier calls
    total: Annotated[FloatArray, "f8(K,_u)"]  # (K, D) U + Σ beta_i x_i, when it was last summed up


@remember.register(Mean)
def _(memory: Mean, task: Task, state: State, k: int, i: int, change: float, t: int) -> None:
    memory.beta[k, i] += (state.clock[0] + t) * change


@compiled
def sum_up(memory: Mean, task: Task) -> None:
    """Sum up what is missing; the booking goes on unchanged."""
    for k in range(memory.U.shape[0]):
        total = memory.total[k]
        for j in range(total.size):
            total[j] = memory.U[k, j]
        for i in range(memory.beta.shape[1]):
            if memory.beta[k, i] != 0.0:
                axpy(memory.beta[k, i], task.X, i, total)


def start_mean(state: State, U: FloatArray | None = None) -> Mean:
    """Begin with nothing missing from the mean, or with what is missing by earlier examples."""
    U = np.zeros_like(state.W) if U is None else U
    return Mean(np.zeros_like(state.alpha), U, U.copy())


def mean(memory: Mean, state: State) -> tuple[FloatArray, FloatArray]:
    """Return the mean weights (K, D) and the mean strengths (K, n) over all presentations so far, once summed up."""
    T = max(int(state.clock[0]), 1)
    return state.W - memory.total / T, state.alpha - np.abs(memory.beta) / T
