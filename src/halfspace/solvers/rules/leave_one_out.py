"""Learning again without one example: AdaTron's rule from the strengths of all, until the sign of that example is sure.

Problem    That of `adatron.py` without example i.
Rule       Its strength is taken away; then AdaTron's rule, presented only to examples whose strength could rise or fall, with a
           look at the potentials of all in between. Where that is slow, the strengths between their bounds climb together: the
           linear system  Σ_j y_i y_j x_i·x_j delta_j = 1 - E_i,  as far along delta as no bound is passed.
Theorem    With g the duality gap, the optimum is within √(2g) of the weights (for C = inf, of those of the best dual value on
           their ray), so the sign of the left-out example is sure once  E_i² > 2g ‖x_i‖²:  long before g is small.
Reference  `certificates/margins/leave_one_out.py`.
"""

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from halfspace._dispatch import compiled, compiled_inside
from halfspace._typing import FloatArray, IntArray, View
from halfspace.rows.operations import gathered
from halfspace.rows.views import Gram, axpy, dot, sqlength
from halfspace.solvers.rules.adatron import AdaTron
from halfspace.solvers.rules.sweep import Forget, State, Task, sweep

__all__ = ["settle"]

SURE = 1.02
"""The squared potential is to be beyond its bound by this factor: what rounding may take."""
SWEEPS, LOOKS = 8, 3
"""Sweeps over the examples that could change, between two looks at all; and looks before strengths climb together."""
MOST = 2000
"""More strengths than this never climb together."""
JITTER = 1e-12
"""Added to the diagonal of the system, as a share of it."""


def settle(rule: AdaTron, task: Task, state: State, out: int, *, rounds: int, tol: float = 0.0) -> bool:
    """Learn from all examples but `out` (-1: all) until its sign is sure, or the relative gap at most `tol`; tell whether.

    The state has one problem; its strengths and weights belong together, and that of `out` is 0.
    """
    order = np.empty(task.q.size, dtype=np.int64)
    for _ in range(rounds):
        if _climb(rule, task, state, out, order, LOOKS, tol):
            return True
        _climb_together(rule, task, state, out)
    return _climb(rule, task, state, out, order, 1, tol)


@compiled
def _climb(rule: AdaTron, task: Task, state: State, out: int, order: IntArray, rounds: int, tol: float) -> bool:
    """Present examples until `settle` has what it wants; `order`, shape (n,), is room for those that could change."""
    hard, y = np.isinf(rule.cap), np.empty(order.size)
    first: Any = np.int64(0)  # of the types that Python passes
    for j in range(y.size):
        y[j] = 1.0 if task.target[j] == task.positive[0] else -1.0
    for _ in range(rounds):
        loss, held, least, m = _look(rule, task, state, y, out, order)
        square = _square(task.X, state, y)
        primal, dual, t = 0.5 * square + loss, held - 0.5 * square, 1.0
        if hard:
            primal = 0.5 * square / (least * least) if least > 0.0 else np.inf
            dual, t = 0.5 * held * held / square, held / square
        gap = max(primal - dual, 0.0)
        if out >= 0:
            E = t * dot(task.X, out, state.W[0])
            if SURE * 2.0 * gap * task.q[out] < E * E:
                return True
        elif gap <= tol * primal:
            return True
        for _ in range(SWEEPS):
            sweep(rule, Forget(first), task, state, first, order[:m])
    return False


@compiled_inside
def _look(rule: AdaTron, task: Task, state: State, y: FloatArray, out: int, order: IntArray) -> tuple[float, float, float, int]:
    """Return the loss, the sum of the strengths, the least potential, and how many examples could change: those in `order`."""
    loss, held, least, m, w, alpha = 0.0, 0.0, np.inf, 0, state.W[0], state.alpha[0]
    for j in range(y.size):
        if j != out and task.s[j] > 0.0:
            E, cap = y[j] * dot(task.X, j, w), rule.cap * task.s[j]
            if E < 1.0 and cap < np.inf:
                loss += cap * (1.0 - E)
            least = min(least, E)
            held += alpha[j]
            if 0.0 < alpha[j] < cap or (E < 1.0 and alpha[j] < cap) or (E > 1.0 and alpha[j] > 0.0):
                order[m] = j
                m += 1
    return loss, held, least, m


@compiled_inside
def _square(X: View, state: State, y: FloatArray) -> float:
    return sqlength(X, state.W[0], state.alpha[0], y)


def _climb_together(rule: AdaTron, task: Task, state: State, out: int) -> None:
    """Move all strengths between their bounds to where their potentials are 1, or to the first bound, again and again."""
    w, alpha, caps = state.W[0], state.alpha[0], np.where(task.s > 0, rule.cap, 0.0) * np.maximum(task.s, 1e-300)
    free = np.flatnonzero((alpha > 0) & (alpha < caps))
    free = free[free != out]
    if not 0 < free.size <= MOST:
        return
    y = np.where(task.target[free] == task.positive[0], 1.0, -1.0)
    rows = None if isinstance(task.X, Gram) else gathered(task.X, free)
    G = (task.X.K[np.ix_(free, free)] if rows is None else rows @ rows.T) * y * y[:, None]
    inside = np.arange(free.size)
    before = alpha[free].copy()
    E = y * (w[free] if rows is None else rows @ w)
    while inside.size:
        part = G[np.ix_(inside, inside)]
        try:
            factor = cho_factor(part + JITTER * part.trace() * np.eye(inside.size))
        except LinAlgError:
            break
        delta = cho_solve(factor, 1.0 - E[inside])
        own, cap = alpha[free[inside]], caps[free[inside]]
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(delta > 0, (cap - own) / delta, np.where(delta < 0, -own / delta, np.inf))
        step = min(1.0, float(room.min()))
        alpha[free[inside]] = np.where(room <= step, np.where(delta > 0, cap, 0.0), own + step * delta)
        E = E + G[:, inside] @ (alpha[free[inside]] - own)
        if step == 1.0:
            break
        inside = inside[room > step]
    _move(task.X, free, (alpha[free] - before) * y, w)


@compiled
def _move(X: View, rows: IntArray, changes: FloatArray, w: FloatArray) -> None:
    for r in range(rows.size):
        axpy(changes[r], X, rows[r], w)
