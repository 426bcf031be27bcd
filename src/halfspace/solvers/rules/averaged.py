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

from typing import NamedTuple

import numpy as np

from halfspace._dispatch import compiled
from halfspace._typing import FloatArray
from halfspace.rows.views import axpy
from halfspace.solvers.rules.sweep import State, Task, remember

__all__ = ["Mean", "mean", "settle", "start_mean"]


class Mean(NamedTuple):
    """What is missing from the mean: booked per example, and, once settled, summed over examples."""

    beta: FloatArray  # (K, n) booked
    settled: FloatArray  # (K, n) no longer in beta, but in U
    U: FloatArray  # (K, D)


@remember.register(Mean)
def _(memory: Mean, task: Task, state: State, k: int, i: int, change: float, t: int) -> None:
    memory.beta[k, i] += (state.clock[0] + t) * change


@compiled
def settle(memory: Mean, task: Task) -> None:
    """Move what is booked per example into the sums."""
    beta, settled, U = memory.beta, memory.settled, memory.U
    for k in range(U.shape[0]):
        u = U[k]
        for i in range(beta.shape[1]):
            if beta[k, i] != 0.0:
                axpy(beta[k, i], task.X, i, u)
                settled[k, i] += abs(beta[k, i])
                beta[k, i] = 0.0


def start_mean(state: State) -> Mean:
    """Begin with nothing missing from the mean."""
    return Mean(np.zeros_like(state.alpha), np.zeros_like(state.alpha), np.zeros_like(state.W))


def mean(memory: Mean, state: State) -> tuple[FloatArray, FloatArray]:
    """Return the mean weights (K, D) and the mean strengths (K, n) over all presentations so far, once settled."""
    T = max(int(state.clock[0]), 1)
    return state.W - memory.U / T, state.alpha - memory.settled / T
