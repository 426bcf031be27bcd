"""The pocket algorithm with ratchet.

Problem    Fewest errors when no plane makes none. Finding the best is NP-hard; this keeps the best found.
Rule       Rosenblatt's; the weights with the longest run of correct answers so far wait in a pocket. With the ratchet a
           challenger goes in only if it also errs less on all the data, so the pocket's error count never rises.
Theorem    With the ratchet the errors of the pocket fall monotonically; for rational data the pocket holds an optimal
           vector with probability tending to 1. No rate is known, so the answer says "best found".
Reference  Gallant 1990, sections III and IV.

A stream has no "all the data": without the ratchet (`ratchet[0] == 0`) the run length alone decides.
"""

from typing import Annotated, NamedTuple

import numpy as np

from halfspace._dispatch import compiled, compiled_inside
from halfspace._typing import FloatArray, IntArray
from halfspace.rows.views import dot, n_rows
from halfspace.solvers.rules.sweep import State, Task, remember

__all__ = ["Pocket", "close_runs", "start_pocket"]


class Pocket(NamedTuple):
    """The best weights so far, per problem, and why they are the best."""

    W: Annotated[FloatArray, "f8(K,D)"]  # (K, D)
    alpha: Annotated[FloatArray, "f8(K,n)"]  # (K, n)
    run: Annotated[IntArray, "i8(K)"]  # (K,) correct answers in a row
    errors: Annotated[FloatArray, "f8(K)"]  # (K,) weight of the examples it gets wrong
    last: Annotated[IntArray, "i8(K)"]  # (K,) clock of the latest change of the current weights
    ratchet: Annotated[IntArray, "i8(1)"]  # (1,) 1: a challenger must err less on all data


@compiled_inside
def _errors(task: Task, w: FloatArray, positive: int, limit: float) -> float:
    """Weight of the examples with E <= 0, abandoned once it reaches `limit`."""
    total = 0.0
    for i in range(n_rows(task.X)):
        y = 1.0 if task.target[i] == positive else -1.0
        if y * dot(task.X, i, w) <= 0.0:
            total += task.s[i]
            if total >= limit:
                break
    return total


@compiled_inside
def _challenge(pocket: Pocket, task: Task, state: State, k: int, run: int) -> None:
    """Put the current weights of problem k, with their run of correct answers, into the pocket if they are better."""
    if run > pocket.run[k]:
        better = True
        if pocket.ratchet[0] == 1:
            errors = _errors(task, state.W[k], task.positive[k], pocket.errors[k])
            better = errors < pocket.errors[k]
            if better:
                pocket.errors[k] = errors
        if better:
            pocket.run[k] = run
            for j in range(state.W.shape[1]):  # by loops: assigned at a stroke they take seconds more to compile
                pocket.W[k, j] = state.W[k, j]
            for i in range(state.alpha.shape[1]):
                pocket.alpha[k, i] = state.alpha[k, i]


@remember.register(Pocket)
def _(memory: Pocket, task: Task, state: State, k: int, i: int, change: float, t: int) -> None:
    now = state.clock[0] + t
    _challenge(memory, task, state, k, now - memory.last[k])
    memory.last[k] = now + 1


@compiled
def close_runs(pocket: Pocket, task: Task, state: State) -> None:
    """Let the weights in force at the end compete too; with the ratchet their errors alone decide."""
    for k in range(state.W.shape[0]):
        run = state.clock[0] - pocket.last[k]
        _challenge(pocket, task, state, k, max(run, pocket.run[k] + 1) if pocket.ratchet[0] == 1 else run)


def start_pocket(state: State, *, ratchet: bool) -> Pocket:
    """Begin with the starting weights in the pocket, and no run to their credit."""
    K = state.W.shape[0]
    return Pocket(
        state.W.copy(),
        state.alpha.copy(),
        np.zeros(K, dtype=np.int64),
        np.full(K, np.inf),
        np.full(K, state.clock[0]),
        np.array([int(ratchet)]),
    )
