"""The native multiclass rule: truth up, winner down.

Problem    Find W with  w_y·x > w_v·x  for the true class y of every x and every other class v.
Rule       Take the strongest rival v of the truth and read the potential  E = (w_y - w_v)·x.  Where the rule asks for a
           change, the truth moves up and the rival moves down by that much of x.
Theorem    This is the two-class rule on the vectors (e_y - e_v) ⊗ x in K·D dimensions, of squared norm 2‖x‖² (Kesler's
           construction). So every bound of the two-class rule holds with R² doubled and kappa the multiclass margin,
           min over i and v of (w_y - w_v)·x_i / ‖W‖.
Reference  Nilsson 1965, section 5.6 (Kesler); Crammer and Singer 2003.
"""

from typing import Any

import numpy as np

from halfspace._dispatch import compiled, compiled_inside
from halfspace._typing import FloatArray, IntArray
from halfspace.rows.views import axpy, dot
from halfspace.solvers.rules.sweep import (
    Plan,
    State,
    Table,
    Task,
    at_epoch,
    close_epoch,
    open_epoch,
    remember,
    strengthen,
)

__all__ = ["present_native"]


@compiled_inside
def _rival(scores: FloatArray, truth: int) -> int:
    """Return the class other than the truth with the highest score, the first of equals."""
    best = 1 if truth == 0 else 0
    for v in range(scores.size):
        if v != truth and scores[v] > scores[best]:
            best = v
    return best


@compiled_inside
def sweep_native(rule: Any, memory: Any, task: Task, state: State, order: IntArray, scores: FloatArray) -> None:
    """Present the examples in `order`; `scores` is room for K numbers.

    Both classes keep the strength of the step, so `w_k = Σ alpha_ki y_ki x_i` holds here too, with y = +1 for the truth.
    """
    X, W, alpha = task.X, state.W, state.alpha
    for t in range(order.size):
        i = order[t]
        for v in range(W.shape[0]):
            scores[v] = dot(X, i, W[v])
        truth = task.target[i]
        v = _rival(scores, truth)
        E = scores[truth] - scores[v]
        change = strengthen(rule, E, alpha[v, i], 2.0 * task.q[i], task.s[i])
        if change != 0.0:
            for k, step in ((truth, change), (v, -change)):
                remember(memory, task, state, k, i, step, t)
                axpy(step, X, i, W[k])
                alpha[k, i] += change
            state.updates[truth] += 1
        if rule.margin >= E:
            state.mistakes[truth] += 1
    state.clock[0] += order.size
    state.clock[2] += order.size


@compiled
def present_native(rule: Any, memory: Any, task: Task, state: State, plan: Plan, table: Table) -> int:
    """Present examples to all classes at once; return how many epochs were completed."""
    finished, left, scores = 0, plan.rows, np.empty(state.W.shape[0])
    while left > 0 and finished < table.mistakes.shape[0]:
        first, last = state.clock[2], open_epoch(plan, state.clock, left)
        left -= last - first
        sweep_native(at_epoch(rule, state.clock[1]), memory, task, state, plan.order[first:last], scores)
        if state.clock[2] == plan.order.size:
            finished += 1
            if close_epoch(state, table, finished - 1):
                break
            for k in range(state.active.size):  # a class that was right may still be another's rival
                state.active[k] = 1
    return finished
