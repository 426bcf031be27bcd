"""One sentence, many algorithms.

*Present an example, measure its potential, change its strength by a rule, move the weights by that much of the example.*

    E_i     = y_i w·x_i
    alpha_i = alpha_i + strengthen(rule, E_i, alpha_i, ‖x_i‖², s_i)
    w       = w + (that change) y_i x_i

Whatever the rule, `w = w_start + Σ alpha_i y_i x_i` holds at every moment. A rule is a NamedTuple in a file of its own
(`rosenblatt.py`, `hebb.py`, `delta.py`, `passive_aggressive.py`); a memory (`averaged.py`, `voted.py`, `pocket.py`) watches
each change go by and keeps what a single weight vector forgets.

Invariants: a rule has a field `margin`, and `E_i <= rule.margin` counts as a mistake; a change of exactly 0 is no update.
"""

from typing import Any, NamedTuple

import numpy as np

from halfspace._dispatch import compiled, open_function
from halfspace._typing import FloatArray, IntArray, View
from halfspace.rows.views import axpy, dot, n_columns, n_rows

__all__ = ["Forget", "State", "Task", "present", "remember", "start", "strengthen", "sweep"]


class Task(NamedTuple):
    """The data as the compiled loops see them: K two-class problems on the same n rows."""

    X: View
    target: IntArray  # (n,) class number of each example
    positive: IntArray  # (K,) the class number that counts as +1 in problem k
    q: FloatArray  # (n,) squared norms
    s: FloatArray  # (n,) weight of each example: the rule's rate or cap is multiplied by it


class State(NamedTuple):
    """All a presentation changes; the arrays are updated in place."""

    W: FloatArray  # (K, D) weights, the clamped one last
    alpha: FloatArray  # (K, n) strengths
    mistakes: IntArray  # (K,)
    updates: IntArray  # (K,)
    clock: IntArray  # (1,) examples presented so far


class Forget(NamedTuple):
    """The memory that keeps nothing: the last weights are the answer."""

    nothing: int = 0


@open_function
def strengthen(rule: Any, E: float, alpha: float, q: float, s: float) -> float:
    """Change of the strength of an example with potential E, strength alpha, squared norm q and weight s."""


@open_function
def remember(memory: Any, task: Task, state: State, k: int, i: int, change: float, t: int) -> None:
    """See the weights of problem k just before they move by `change` times row i, `t` examples after the clock."""


@remember.register(Forget)
def _(memory: Forget, task: Task, state: State, k: int, i: int, change: float, t: int) -> None:
    pass


def start(task: Task, W: FloatArray | None = None) -> State:
    """Begin at `W` (copied), or at zero."""
    K, n = task.positive.size, n_rows(task.X)
    W = np.zeros((K, n_columns(task.X))) if W is None else np.array(W, dtype=np.float64)
    counts = np.zeros(K, dtype=np.int64)
    return State(W, np.zeros((K, n)), counts, counts.copy(), np.zeros(1, dtype=np.int64))


@compiled
def sweep(rule: Any, memory: Any, task: Task, state: State, k: int, order: IntArray) -> None:
    """Present the examples in `order` to problem k."""
    X, target, q, s = task.X, task.target, task.q, task.s
    w, alpha, positive = state.W[k], state.alpha[k], task.positive[k]
    mistakes, updates = 0, 0
    for t in range(order.size):
        i = order[t]
        y = 1.0 if target[i] == positive else -1.0
        E = y * dot(X, i, w)
        change = strengthen(rule, E, alpha[i], q[i], s[i])
        if change != 0.0:
            remember(memory, task, state, k, i, change * y, t)
            axpy(change * y, X, i, w)
            alpha[i] += change
            updates += 1
        if rule.margin >= E:
            mistakes += 1
    state.mistakes[k] += mistakes
    state.updates[k] += updates


@compiled
def present(rule: Any, memory: Any, task: Task, state: State, order: IntArray, active: IntArray, block: int) -> None:
    """Present the examples in `order` to the problems in `active`.

    One-vs-rest problems do not talk to each other, so a block of rows that fits the cache is shown to each in turn: every
    row is read from memory once for all classes, and the answer is that of K separate fits.
    """
    for begin in range(0, order.size, block):
        rows = order[begin : begin + block]
        for k in active:
            sweep(rule, memory, task, state, k, rows)
        state.clock[0] += rows.size
