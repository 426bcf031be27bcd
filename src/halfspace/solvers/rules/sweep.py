"""One sentence, many algorithms.

*Present an example, measure its potential, change its strength by a rule, move the weights by that much of the example.*

    E_i     = y_i w·x_i
    alpha_i = alpha_i + strengthen(rule, E_i, alpha_i, ‖x_i‖², s_i)
    w       = w + (that change) y_i x_i

Whatever the rule, `w = w_start + Σ alpha_i y_i x_i` holds at every moment. A rule is a NamedTuple in a file of its own
(`rosenblatt.py`, `hebb.py`, `delta.py`, `passive_aggressive.py`); a memory (`averaged.py`, `voted.py`, `pocket.py`) watches
each change go by and keeps what a single weight vector forgets. `presenting.py` is the method that the driver runs.

Invariants: a rule has a field `margin`, and `E_i <= rule.margin` counts as a mistake; a change of exactly 0 is no update.
"""

from functools import partial
from typing import Annotated, Any, NamedTuple

import numpy as np

from halfspace._dispatch import compiled, compiled_and_inside, compiled_inside, open_function
from halfspace._typing import FloatArray, IntArray, View
from halfspace.rows.orders import Orders, write_order
from halfspace.rows.views import ahead, axpy, dot, n_columns, n_rows

__all__ = [
    "Forget",
    "Plan",
    "State",
    "Table",
    "Task",
    "at_epoch",
    "close_epoch",
    "open_epoch",
    "potential",
    "present",
    "remember",
    "start",
    "strengthen",
    "sweep",
]

PRESENTED, EPOCH, POSITION, SEED = range(4)
"""Places in the clock of a state."""


class Task(NamedTuple):
    """The data as the compiled loops see them: K two-class problems on the same n rows."""

    X: View
    target: IntArray  # (n,) class number of each example
    positive: IntArray  # (K,) the class number that counts as +1 in problem k
    q: FloatArray  # (n,) squared norms
    s: FloatArray  # (n,) weight of each example: the rule's rate or cap is multiplied by it
    lead: int = 0  # rows ahead of the one at hand that are asked for


class State(NamedTuple):
    """All a presentation changes; the arrays are updated in place."""

    W: Annotated[FloatArray, "f8(K,_w)"]  # (K, D) weights, the clamped one last
    alpha: Annotated[FloatArray, "f8(K,n)"]  # (K, n) strengths
    mistakes: Annotated[IntArray, "i8(K)"]  # (K,)
    updates: Annotated[IntArray, "i8(K)"]  # (K,)
    earlier: Annotated[IntArray, "i8(K)"]  # (K,) updates before this epoch
    active: Annotated[IntArray, "i8(K)"]  # (K,) 1 for the problems that the last full epoch changed and that go on
    clock: Annotated[
        IntArray, "i8(4) in 0..1e18"
    ]  # (4,) examples presented so far, epoch, examples of the epoch presented, seed of the orders


class Plan(NamedTuple):
    """What a piece of work is to present."""

    orders: Orders
    order: IntArray  # (n,) room for the order of an epoch
    held: IntArray  # (1,) the epoch whose order is there, -1 for none
    rows: int  # examples to present before a look at the clock
    block: int  # rows that stay in cache while all problems see them


class Table(NamedTuple):
    """What is noted after every epoch, one line each, as many as there is room for; and where weights were before."""

    mistakes: IntArray  # (most, K)
    squares: FloatArray  # (most, K) squared lengths of the weights
    W: FloatArray  # (most, K, D), or (0, K, D) to note none
    anchor: FloatArray  # (K, D) earlier weights, to notice when they come back; (0, D) not to look


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


def _as_it_is(rule: Any, epoch: int) -> Any:
    return rule


@partial(open_function, otherwise=_as_it_is)
def at_epoch(rule: Any, epoch: int) -> Any:
    """Return the rule in force in an epoch, counted from 0; most rules stay as they are."""


def _signed(rule: Any, f: float, y: float) -> float:
    return y * f


@partial(open_function, otherwise=_signed)
def potential(rule: Any, f: float, y: float) -> float:
    """Return the potential E of an example with output f and label y = ±1; of most rules y f."""


def start(task: Task, W: FloatArray | None = None, seed: int = 0) -> State:
    """Begin at `W` (copied), or at zero."""
    K, n = task.positive.size, n_rows(task.X)
    W = np.zeros((K, n_columns(task.X))) if W is None else np.array(W, dtype=np.float64, order="C")
    mistakes, updates, earlier = np.zeros((3, K), dtype=np.int64)
    return State(W, np.zeros((K, n)), mistakes, updates, earlier, np.ones(K, dtype=np.int64), np.array([0, 0, 0, seed]))


@compiled_and_inside
def sweep(rule: Any, memory: Any, task: Task, state: State, k: int, order: IntArray) -> None:
    """Present the examples in `order` to problem k."""
    X, target, q, s = task.X, task.target, task.q, task.s
    w, alpha, positive = state.W[k], state.alpha[k], task.positive[k]
    mistakes, updates = 0, 0
    for t in range(order.size):
        if 0 < task.lead < order.size - t:
            ahead(X, order[t + task.lead])
        i = order[t]
        y = 1.0 if target[i] == positive else -1.0
        E = potential(rule, dot(X, i, w), y)
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


@compiled_inside
def open_epoch(plan: Plan, clock: IntArray, rows: int) -> int:
    """Write the order of the epoch, if it is not there; return the end of the next examples to present, at most `rows`."""
    epoch = clock[EPOCH]
    if plan.held[0] != epoch and (plan.held[0] < 0 or plan.orders.block != 0):
        write_order(plan.orders, epoch, plan.order)
        plan.held[0] = epoch
    return min(clock[POSITION] + rows, plan.order.size)


@compiled_inside
def close_epoch(state: State, table: Table, row: int) -> bool:
    """Note the end of an epoch; return whether it is worth looking at: nothing changes any more, or weights came back."""
    W, n_active, overflow, returned = state.W, 0, False, False
    for k in range(W.shape[0]):
        if state.updates[k] == state.earlier[k]:
            state.active[k] = 0
        n_active += state.active[k]
        state.earlier[k] = state.updates[k]
        table.mistakes[row, k] = state.mistakes[k]
        square = 0.0
        for j in range(W.shape[1]):
            square += W[k, j] * W[k, j]
        table.squares[row, k] = square
        if table.W.shape[0] > 0:
            for j in range(W.shape[1]):
                table.W[row, k, j] = W[k, j]
        if state.active[k] == 1 and table.anchor.shape[0] > 0:
            j = 0
            while j < W.shape[1] and W[k, j] == table.anchor[k, j]:
                j += 1
            returned |= j == W.shape[1]
        overflow |= not np.isfinite(W[k, W.shape[1] - 1])
    state.clock[EPOCH] += 1
    state.clock[POSITION] = 0
    return n_active == 0 or overflow or returned


@compiled
def present(rule: Any, memory: Any, task: Task, state: State, plan: Plan, table: Table) -> int:
    """Present examples to the problems that still change; return how many epochs were completed.

    One-vs-rest problems do not talk to each other, so a block of rows that fits the cache is shown to each in turn: every
    row is read from memory once for all classes, and the answer is that of K separate fits.
    """
    finished, left, n = 0, plan.rows, plan.order.size
    while left > 0 and finished < table.mistakes.shape[0]:
        current = at_epoch(rule, state.clock[EPOCH])
        first, last = state.clock[POSITION], open_epoch(plan, state.clock, left)
        for begin in range(first, last, plan.block):
            rows = plan.order[begin : min(begin + plan.block, last)]
            for k in range(state.W.shape[0]):
                if state.active[k] == 1:
                    sweep(current, memory, task, state, k, rows)
            state.clock[PRESENTED] += rows.size
        state.clock[POSITION] = last
        left -= last - first
        if last == n:
            finished += 1
            if close_epoch(state, table, finished - 1):
                break
    return finished
