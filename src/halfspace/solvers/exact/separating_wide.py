"""Separable or not, with more inputs than a matrix of them can hold: the perceptron alone.

Problem    Find w with  w·a_i > 0  for all signed rows a_i = y_i x̃_i, where D × D numbers would not fit.
Rule       Rosenblatt's: on a mistake add the row. An epoch without a mistake ends the search.
Theorem    Novikoff 1962: if a plane with margin kappa exists there are at most (R/kappa)² mistakes. If none exists the epochs
           go on; only an example with both labels is proved inseparable here.
Reference  Novikoff 1962, theorem 1.
"""

from collections.abc import Callable

import numpy as np

from halfspace.rows.outputs import outputs, squared_norms
from halfspace.rows.views import n_rows
from halfspace.solvers.exact.separating import Finding, Signed, contradiction, judge
from halfspace.solvers.rules.rosenblatt import Rosenblatt
from halfspace.solvers.rules.sweep import Forget, Task, start, sweep

__all__ = ["wide_search"]

EPOCHS = 1000
"""Most epochs."""


def wide_search(data: Signed, late: Callable[[], bool]) -> Finding:
    """Look for a plane, or for an example with both labels, until one is found or it is late."""
    n = n_rows(data.view)
    task = Task(data.view, (data.y > 0.0).astype(np.int64), np.array([1]), squared_norms(data.view), np.ones(n))
    state, order = start(task), np.arange(n)
    for epoch in range(EPOCHS):
        before = int(state.mistakes[0])
        sweep(Rosenblatt(), Forget(), task, state, 0, order)
        w = state.W[0]
        if int(state.mistakes[0]) == before:
            margin, _, _ = judge(data, w, order[:0])
            if margin > 0.0:
                return Finding(w, margin)
        if epoch == 0 and (pair := contradiction(data, data.y * outputs(data.view, w[None])[:, 0])):
            return Finding(w, multipliers=pair)
        if late():
            break
    return Finding(w, strengths=state.alpha[0])
