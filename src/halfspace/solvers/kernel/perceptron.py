"""The kernel perceptron: Rosenblatt's rule where the weights are known only by their outputs.

Problem    Find f = Σ_j alpha_j y_j k(x_j, ·)  with  y_i f(x_i) > 0  for all i.
Rule       On a mistake,  E_i = y_i f(x_i) <= 0,  do  alpha_i += eta,  hence  f(x_j) += eta y_i k(x_i, x_j)  for all j.
Theorem    As for Rosenblatt's rule, in the kernel's space: with  k(x_i, x_i) <= R²  and a unit function of margin kappa there
           are at most (R/kappa)² mistakes, and on a finite feature map φ the mistakes are those of the perceptron on φ(x), in
           the same order.
Reference  Aizerman, Braverman and Rozonoer 1964; Freund and Schapire 1999, section 3.

The outputs of all n examples are kept, so an example that is right costs nothing and a mistake one row of the kernel matrix.
Where the matrix fits the memory this is all. Where not, examples are presented in blocks: their kernel values among
themselves are all that the rule needs until the block is over, and then the outputs of everyone are brought up to date by
one product with the rows that were changed. Both give the mistakes of the plain rule on the `Gram` view.
"""

from typing import Any, NamedTuple

import numpy as np

from halfspace._dispatch import compiled
from halfspace._typing import FloatArray, IntArray
from halfspace.solvers.kernel.rows import KernelRows
from halfspace.solvers.rules.sweep import Task, remember, strengthen
from halfspace.solvers.run import PIECE

__all__ = ["CachedOutputs", "State", "start"]

BLOCK_VALUES = 1 << 26
"""Kernel values, at most, to bring the outputs up to date after a block."""


class State(NamedTuple):
    """All a presentation changes; the arrays are updated in place."""

    outputs: FloatArray  # (K, n) f(x_i)
    alpha: FloatArray  # (K, n) strengths
    mistakes: IntArray  # (K,)
    updates: IntArray  # (K,)
    clock: IntArray  # (1,) examples presented so far


def start(task: Task, outputs: FloatArray | None = None) -> State:
    """Begin at a function with these outputs (K, n), copied, or at zero."""
    K, n = task.positive.size, task.target.size
    counts = np.zeros(K, dtype=np.int64)
    outputs = np.zeros((K, n)) if outputs is None else np.array(outputs, dtype=np.float64)
    return State(outputs, np.zeros((K, n)), counts, counts.copy(), np.zeros(1, dtype=np.int64))


@compiled
def sweep_cached(
    rule: Any, memory: Any, task: Task, state: State, k: int, K: Any, outputs: FloatArray, rows: IntArray, order: IntArray
) -> None:
    """Present the places in `order` to problem k; place p is example rows[p], and `outputs` are those of the places."""
    target, q, s, alpha, positive = task.target, task.q, task.s, state.alpha[k], task.positive[k]
    mistakes, updates, f = 0, 0, outputs[k]
    for t in range(order.size):
        p = order[t]
        i = rows[p]
        y = 1.0 if target[i] == positive else -1.0
        E = y * f[p]
        change = strengthen(rule, E, alpha[i], q[i], s[i])
        if change != 0.0:
            remember(memory, task, state, k, i, change * y, t)
            for j in range(f.size):
                f[j] += change * y * K[p, j]
            alpha[i] += change
            updates += 1
        if rule.margin >= E:
            mistakes += 1
    state.mistakes[k] += mistakes
    state.updates[k] += updates


class CachedOutputs:
    """Presents examples to K problems, keeping the outputs of all of them up to date.

    Parameters
    ----------
    rule, memory : NamedTuple
        What to do with an example, and what to remember of it (see `sweep.py`).
    kernel : KernelRows
        Kernel values of the examples.
    task : Task
        Labels and weights; its view is not read.
    state : State
        Updated in place.
    """

    def __init__(self, rule: Any, memory: Any, kernel: KernelRows, task: Task, state: State) -> None:
        self.rule, self.memory, self.kernel, self.task, self.state = rule, memory, kernel, task, state
        n = kernel.n
        self.everyone = np.arange(n)
        self.signs = np.where(task.target == task.positive[:, None], 1.0, -1.0)
        whole = kernel.whole is not None
        self.piece = max(1, PIECE // (n * task.positive.size)) if whole else int(np.clip(BLOCK_VALUES // n, 16, 1024))

    def present(self, order: IntArray, active: IntArray) -> None:
        """Present the examples in `order`, at most `piece` of them, to the problems in `active`."""
        state, whole = self.state, self.kernel.whole
        if whole is not None:
            for k in active:
                sweep_cached(self.rule, self.memory, self.task, state, k, whole, state.outputs, self.everyone, order)
        else:
            self._present_block(order, active)
        state.clock[0] += order.size

    def _present_block(self, rows: IntArray, active: IntArray) -> None:
        """Present a block with its own kernel values, then bring everyone's outputs up to date."""
        state, before = self.state, self.state.alpha[:, rows]
        outputs, among = state.outputs[:, rows], self.kernel.between(rows, rows)
        for k in active:
            sweep_cached(self.rule, self.memory, self.task, state, k, among, outputs, rows, np.arange(rows.size))
        gained = (state.alpha[:, rows] - before) * self.signs[:, rows]
        changed = np.flatnonzero(gained.any(axis=0))
        if changed.size:
            self.kernel.add_combination(rows[changed], gained[:, changed], state.outputs)

    def squares(self) -> FloatArray:
        """Return ‖f‖² of every problem, shape (K,), as far as this run's examples hold f: Σ alpha_i y_i f(x_i)."""
        return np.einsum("kn,kn,kn->k", self.state.alpha, self.signs, self.state.outputs)

    def overlap(self, alpha: FloatArray) -> FloatArray:
        """Return f_then·f/‖f‖ with the present f for the strengths (K, n) of an earlier moment."""
        length = np.sqrt(np.maximum(self.squares(), 0.0))
        products = np.einsum("kn,kn,kn->k", alpha, self.signs, self.state.outputs)
        return np.asarray(products / np.where(length > 0, length, 1.0))
