"""The kernel perceptron: Rosenblatt's rule where the weights are known only by their outputs.

Problem    Find f = Σ_j alpha_j y_j k(x_j, ·)  with  y_i f(x_i) > 0  for all i.
Rule       On a mistake,  E_i = y_i f(x_i) <= 0,  do  alpha_i += eta,  hence  f(x_j) += eta y_i k(x_i, x_j)  for all j.
Theorem    As for Rosenblatt's rule, in the kernel's space: with  k(x_i, x_i) <= R²  and a unit function of margin kappa there
           are at most (R/kappa)² mistakes, and on a finite feature map φ the mistakes are those of the perceptron on φ(x), in
           the same order.
Reference  Aizerman, Braverman and Rozonoer 1964; Freund and Schapire 1999, section 3.

The rule is not written again here: it is `sweep` with Rosenblatt's rule on the `Gram` view, whose weights are the outputs of
all n examples. An example that is right costs nothing, a mistake one row of the kernel matrix.

Accelerator: where the matrix does not fit the memory, examples are presented in blocks of at most 1,024. Their kernel values
among themselves are a small Gram problem, all that the rule needs until the block is over; then the outputs of everyone are
brought up to date by one product with the rows that were changed. The mistakes are the same.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from halfspace._typing import FloatArray, IntArray
from halfspace.kernels.gram import VALUES, LazyGram
from halfspace.rows.orders import Orders
from halfspace.rows.views import Gram
from halfspace.solvers.outcome import Reason
from halfspace.solvers.rules.averaged import Mean
from halfspace.solvers.rules.presenting import seconds_of_votes
from halfspace.solvers.rules.rosenblatt import Rosenblatt
from halfspace.solvers.rules.sweep import EPOCH, POSITION, PRESENTED, Forget, State, Task, sweep
from halfspace.solvers.rules.sweep import start as start_state
from halfspace.solvers.rules.voted import Log, drain
from halfspace.solvers.run import PIECE

__all__ = ["Epochs", "KernelPresenting", "Training", "overlaps"]

ROSENBLATT = Rosenblatt()
BLOCK_VALUES = 1 << 26
"""Kernel values, at most, to bring the outputs up to date after a block."""
PRODUCTS = 1e9
"""Products of matrices that are computed in a second, where the machine is slow."""
LONG = 128
"""Columns that make a kernel value take twice as long: of longer rows a block has fewer."""


class Epochs:
    """The order of the examples, epoch by epoch, cut into pieces; where they are cut does not change the answer."""

    def __init__(self, orders: Orders) -> None:
        self.orders, self.held = orders, -1
        self.order: IntArray = orders.rows

    def piece(self, clock: IntArray, most: int) -> IntArray:
        """Return the next examples, at most so many, all of the epoch that the clock shows."""
        if self.held != clock[EPOCH]:
            self.order, self.held = self.orders.at(int(clock[EPOCH])), int(clock[EPOCH])
        first = int(clock[POSITION])
        return self.order[first : first + most]

    def closed(self, counts: Any, presented: int) -> bool:
        """Move the clock of a state or counts; at the end of an epoch, find out which problems still change."""
        clock = counts.clock
        clock[PRESENTED] += presented
        clock[POSITION] += presented
        if clock[POSITION] < self.order.size:
            return False
        counts.active[:] &= counts.updates > counts.earlier
        counts.earlier[:], clock[EPOCH], clock[POSITION] = counts.updates, clock[EPOCH] + 1, 0
        return True


class Training(NamedTuple):
    """All that a run changes: outputs and strengths, the memory of them, and the mistakes that a voting memory noted."""

    state: State
    memory: Any
    logs: list[Log]


@dataclass(frozen=True)
class KernelPresenting:
    """Present examples by a rule, in a kernel's space, until an epoch changes nothing."""

    gram: LazyGram
    task: Task
    """Labels and weights; its view is not read."""
    orders: Orders
    whole: Any = None
    """The kernel matrix, shape (n, n), where it fits."""
    first: FloatArray | None = None
    """Outputs to begin with, shape (K, n); zero by default."""
    remembering: Callable[[State], Any] = lambda _: Forget()
    """Makes the memory of a fresh state."""
    rule: Any = ROSENBLATT
    dtype: Any = np.float64
    seconds: float | None = None
    """Time limit: a block takes a tenth of it at most."""
    unit: str = "epoch"
    columns: tuple[str, ...] = ("mistakes", "squared_norm")
    signs: FloatArray = field(init=False, repr=False)
    epochs: Epochs = field(init=False, repr=False)

    def __post_init__(self) -> None:
        signs = np.where(self.task.target == self.task.positive[:, None], 1.0, -1.0)
        object.__setattr__(self, "signs", signs)
        object.__setattr__(self, "epochs", Epochs(self.orders))

    def start(self, before: Training | None = None) -> Training:
        """Begin afresh, or go on."""
        if before is not None:
            before.state.active[:] = 1
            return before
        outputs = np.zeros(self.signs.shape) if self.first is None else self.first
        state = start_state(self.task, outputs, self.orders.seed)
        return Training(state, self.remembering(state), [])

    def step(self, training: Training, most: int) -> tuple[Any, ...]:
        """Present a piece of an epoch."""
        del most
        state, memory = training.state, training.memory
        rows = self.epochs.piece(state.clock, self.piece)
        if self.whole is None:
            self._present_block(state, memory, rows)
        else:
            for k in np.flatnonzero(state.active).tolist():
                sweep(self.rule, memory, self.task._replace(X=Gram(self.whole)), state, k, rows)
        if isinstance(memory, Log):
            training.logs.append(drain(memory))
        if not self.epochs.closed(state, rows.size):
            return ()
        return state.mistakes[None].copy(), self.squares(state)[None], state.alpha[None]

    @property
    def piece(self) -> int:
        """Examples of a step, or of a block."""
        n, K, longer = self.gram.n, self.signs.shape[0], 1.0 + self.gram.width / LONG
        if self.whole is not None:
            return max(1, PIECE // (n * K))
        most = int(np.clip(BLOCK_VALUES / (n * longer), 16, 1024))
        return most if self.seconds is None else max(1, min(most, int(0.1 * self.seconds / self._row())))

    def _row(self) -> float:
        """Predict the seconds that an example of a block takes: its values with all, in the outputs of all problems."""
        n, K = self.gram.n, self.signs.shape[0]
        return n * (1.0 + self.gram.width / 64) / VALUES + K * n / PRODUCTS

    def _present_block(self, state: State, memory: Any, rows: IntArray) -> None:
        """Present a block as a small problem of its own, then bring everyone's outputs up to date."""
        task, among = self.task, self.gram.block(rows, rows, self.dtype)
        np.fill_diagonal(among, self.gram.diagonal[rows])
        small = Task(Gram(among), task.target[rows], task.positive, task.q[rows], task.s[rows])
        own = state._replace(W=state.W.take(rows, axis=1), alpha=state.alpha.take(rows, axis=1))  # in C order, as compiled
        part = memory._replace(beta=memory.beta.take(rows, axis=1)) if isinstance(memory, Mean) else memory
        for k in np.flatnonzero(state.active).tolist():
            sweep(self.rule, part, small, own, k, np.arange(rows.size))
        if isinstance(memory, Mean):
            memory.beta[:, rows] = part.beta
        elif isinstance(memory, Log):
            memory.row[: memory.size[0]] = rows[memory.row[: memory.size[0]]]
        gained = (own.alpha - state.alpha[:, rows]) * self.signs[:, rows]
        state.alpha[:, rows] = own.alpha
        changed = np.flatnonzero(gained.any(axis=0))
        if changed.size:
            self.gram.add(rows[changed], gained[:, changed], state.W, self.dtype)

    def squares(self, state: State) -> FloatArray:
        """Return ‖f‖² of every problem, shape (K,), as far as this run's examples hold f: Σ alpha_i y_i f(x_i)."""
        return np.einsum("kn,kn,kn->k", state.alpha, self.signs, state.W)

    def status(self, training: Training) -> Reason | None:
        """Tell whether nothing changes any more."""
        return None if training.state.active.any() else "converged"

    def ending(self, training: Training) -> float:
        """Predict the seconds for a block, for the outputs that all support vectors give to all, and to count votes."""
        votes = seconds_of_votes(self.gram.n, training.state) if isinstance(training.memory, Log) else 0.0
        block = self.piece if self.whole is None else 0
        values, functions = float(self.gram.n) * np.count_nonzero(training.state.alpha.any(axis=0)), 2 * self.signs.shape[0]
        return votes + self.gram.seconds(float(self.gram.n) * block) + self.gram.seconds(values, functions)

    def certify(self, training: Training) -> FloatArray:
        """Return the coefficients of the functions, shape (K, n), which `models` makes a certificate of."""
        return training.state.alpha * self.signs


def overlaps(
    history: dict[str, Any], snapshots: list[tuple[int, FloatArray]], signs: FloatArray, state: State
) -> dict[str, Any]:
    """Add the `overlap` f·f*/‖f*‖ of the functions along the way with the last f*, NaN where they were not kept."""
    signed = signs * state.W
    length = np.sqrt(np.maximum(np.einsum("kn,kn->k", state.alpha, signed), 0.0))
    rounds, squares = history["epoch"].tolist(), history["squared_norm"]
    overlap = np.full((len(rounds), signs.shape[0]), np.nan)
    for number, alpha in snapshots:
        if number - 1 in rounds:
            overlap[rounds.index(number - 1)] = np.einsum("kn,kn->k", alpha, signed) / np.where(length > 0, length, 1.0)
    return {**history, "overlap": overlap.reshape(squares.shape)}
