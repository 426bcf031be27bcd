"""Presenting examples, epoch by epoch, as a method of the driver: rule, memory, orders, one-vs-rest or native classes.

All that decides what comes next are whole numbers in the state (epoch, examples of it presented, seed), so a run that is cut
inside an epoch, watched, or resumed presents the same examples in the same order as one that is not. Small data are presented
many epochs at a time, large data in pieces of an epoch.

Patience  A problem is left when the fewest mistakes that it made in an epoch have not fallen for `patience` epochs, unless its
          theorem may yet promise an end. With the margin kappa <= upper = ‖Σ alpha_i y_i x_i‖ / Σ alpha_i that the strengths
          prove, the bound B(kappa) on all mistakes is at least B(upper). The problem is left if what B(upper) still allows
          exceeds max_iter times its fewest mistakes in an epoch: it would not be used up in time. Each epoch brings a
          mistake or is the last; so a run that B(kappa) <= max_iter promises to end in time is never left.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from halfspace._typing import FloatArray, IntArray
from halfspace.rows.operations import outputs
from halfspace.rows.orders import Orders
from halfspace.rows.views import entries_per_row
from halfspace.solvers.outcome import Reason
from halfspace.solvers.rules.multiclass import present_native
from halfspace.solvers.rules.pocket import Pocket
from halfspace.solvers.rules.signum import Signum
from halfspace.solvers.rules.sweep import EPOCH, POSITION, Forget, Plan, State, Table, Task, present, start
from halfspace.solvers.rules.voted import Log, drain
from halfspace.solvers.run import PIECE, Course, Progress, Run

__all__ = ["Presenting", "Training", "copied", "overlaps", "seconds_of_votes"]

CACHE_BLOCK = 1 << 14
"""Entries of a block of rows that stays in cache while all classes see it."""
MOST_EPOCHS = 512
"""Most epochs in one call of compiled code."""
FIRST_LOOK = 4
"""Epochs after which weights that come back are first looked for: on small data a look costs as much as two epochs."""
LOGGED, JUDGED = 2e-7, 1e-7
"""Seconds per mistake that a voting memory has noted: to put it away, and for its vote on an example; on a slow machine."""
VOTING_ROWS = 1000
"""Examples in a piece of a voting memory, and those that its certificate judges, about."""
POCKET_ROWS = 1 << 12
"""Examples in a piece of a pocket."""
SNAPSHOT_ROOM = 1 << 22
"""Bytes for the weights after each of these epochs."""


@dataclass
class Training:
    """All that a run changes: the state, the memory of it, and what was found on the way."""

    state: State
    memory: Any
    anchor: State | None  # earlier weights and strengths, to notice when they come back
    begun: int = 0  # the epoch at which the run began
    due: int = 1  # the epoch at which the anchor moves on
    logs: list[Log] = field(default_factory=list)  # of a voting memory, drained
    pages: list[Any] = field(default_factory=list)  # of earlier calls: rows that mistakes were made on, and their logs
    proofs: dict[int, FloatArray] = field(default_factory=dict)  # multipliers that prove problems inseparable
    precise: bool = False  # whether `enough` says so
    fewest: list[float] = field(default_factory=list)  # mistakes of each problem in its best epoch
    since: list[int] = field(default_factory=list)  # the epoch after which they were known
    counted: Any = 0  # mistakes of each problem before this epoch
    left: set[int] = field(default_factory=set)  # problems without progress


@dataclass(frozen=True)
class Presenting:
    """Present examples by a rule until an epoch changes nothing or inseparability is proved.

    Weights that come back are watched for: between two visits Σ (change of alpha_i) y_i x_i = 0, Gordan's certificate. Brent's
    method, an anchor moved after 4, 8, 16, ... epochs, finds any cycle with two copies of the state.
    """

    rule: Any
    task: Task
    orders: Orders
    native: bool = False
    first: FloatArray | None = None
    """Weights to begin with, shape (K, D); zero by default."""
    remembering: Callable[[State], Any] = lambda _: Forget()
    """Makes the memory of a fresh state."""
    prove: Callable[[int, FloatArray], bool] | None = None
    """Given a problem and multipliers, tells whether they prove it inseparable; asked when weights come back."""
    enough: Callable[[State], bool] | None = None
    """Whether a state will do; asked ever more rarely, as the answer costs about an epoch."""
    patience: int | None = None
    """Epochs without fewer mistakes after which a problem is left; None to go on."""
    promised: Callable[[State, int, float], bool] = lambda *_: False
    """Whether the theorem may promise that a problem with so many mistakes an epoch ends in time; asked without patience."""
    inspect: Callable[[], None] = lambda: None
    """Refuses rows that cannot be used; called after every epoch, beside whose first the rows are measured."""
    claim: Callable[[Training], Any] = lambda _: None
    """Makes the certificate."""
    unit: str = "epoch"
    columns: tuple[str, ...] = ("mistakes", "squared_norm")
    order: IntArray = field(init=False, repr=False)
    held: IntArray = field(init=False, repr=False)
    entries: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", np.empty_like(self.orders.rows))
        object.__setattr__(self, "held", np.array([-1]))
        object.__setattr__(self, "entries", max(entries_per_row(self.task.X), 1.0))

    def start(self, before: tuple[State, Any] | None = None) -> Training:
        """Begin afresh, or go on with a state and its memory, which are changed in place."""
        if before is None:
            state = start(self.task, self.first, self.orders.seed)
            memory = self.remembering(state)
        else:
            state, memory = before
            state.active[:] = 1  # the rule may be another one
            np.maximum(state.clock, 0, out=state.clock)
            state.clock[POSITION] %= max(self.orders.rows.size, 1)  # whatever a file says
        epoch = int(state.clock[EPOCH])
        exact = self.prove is not None and isinstance(memory, Forget) and not self.native
        training = Training(
            state, memory, copied(state) if exact else None, epoch, epoch + FIRST_LOOK, counted=state.mistakes.copy()
        )
        K = state.active.size
        training.fewest, training.since = [np.inf] * K, [epoch] * K
        return training

    def step(self, training: Training, most: int) -> tuple[Any, ...]:
        """Present examples for some milliseconds."""
        plan, table = self._plan(training), self._table(training, most)
        work = present_native if self.native else present
        finished = work(self.rule, training.memory, self.task, training.state, plan, table)
        if isinstance(training.memory, Log):
            training.logs.append(drain(training.memory))
        if not finished:
            return ()
        self.inspect()
        if self.orders.block < 0:
            self._look_at_all(training.state)
        if training.anchor is not None and self.prove is not None:
            self._look_back(training, training.anchor, self.prove)
        if self.patience is not None:
            self._lose_patience(training, table.mistakes[:finished], self.patience)
        if self.enough is not None and training.state.clock[EPOCH] == _next_due(int(training.state.clock[EPOCH]) - 1):
            training.precise = self.enough(training.state)
        columns = table.mistakes[:finished], table.squares[:finished]
        return (*columns, table.W[:finished]) if table.W.size else columns

    def _plan(self, training: Training) -> Plan:
        entries, active = self.entries, max(sum(training.state.active.tolist()), 1)
        rows = max(1, int(PIECE // (entries * active)))
        if isinstance(training.memory, Log):  # whose mistakes cost more to prove than to make
            rows = min(rows, VOTING_ROWS)
        elif isinstance(training.memory, Pocket):  # a mistake may make it count the errors on all examples
            rows = min(rows, POCKET_ROWS)
        block = max(1, int(CACHE_BLOCK // entries)) if active > 1 else rows
        return Plan(self.orders, self.order, self.held, rows, block)

    def _table(self, training: Training, most: int) -> Table:
        """Make room for the epochs that may be presented in a step."""
        state, epoch = training.state, int(training.state.clock[EPOCH])
        W, fits = state.W, 2 * state.W.nbytes <= Course.ROOM
        most = min(most, MOST_EPOCHS, max(1, SNAPSHOT_ROOM // max(W.nbytes, 1)) if fits else MOST_EPOCHS)
        if isinstance(training.memory, Log) or self.orders.block < 0:
            most = 1  # as many mistakes as there is room for; or all examples are looked at before an epoch is the last
        if self.enough is not None:
            most = min(most, _next_due(epoch) - epoch)
        if training.anchor is not None:
            most = min(most, training.due - epoch)
        if self.patience is not None:
            most = min([most, *(training.since[k] + self.patience - epoch for k in self._problems(state))])
        K, D = W.shape
        anchor = np.empty((0, D)) if training.anchor is None else training.anchor.W
        return Table(np.empty((most, K), dtype=np.int64), np.empty((most, K)), np.empty((most if fits else 0, K, D)), anchor)

    def _look_at_all(self, state: State) -> None:
        """Go on with problems whose epoch brought no mistake because the examples that would were not drawn."""
        quiet, task = np.flatnonzero(state.active == 0), self.task
        if quiet.size:
            f = outputs(task.X, state.W[quiet])
            y = np.where(task.target[:, None] == task.positive[quiet], 1.0, -1.0)
            E = np.where((f == 0.0) & (y < 0.0), 1.0, y * f) if isinstance(self.rule, Signum) else y * f
            state.active[quiet[~(self.rule.margin < E).all(axis=0)]] = 1

    def _look_back(self, training: Training, anchor: State, prove: Callable[[int, FloatArray], bool]) -> None:
        """Take the strengths gained since problems were at the anchor as a proof, and move the anchor when it is due."""
        state, epoch = training.state, int(training.state.clock[EPOCH])
        same = (state.W == anchor.W).all(axis=1)
        for k in self._problems(state) if same.any() else ():
            if same[k] and k not in training.proofs:
                gained = state.alpha[k] - anchor.alpha[k]
                if gained.any() and prove(k, gained):
                    training.proofs[k] = gained
        if epoch == training.due:
            np.copyto(anchor.W, state.W)  # into the same memory: fresh pages cost more than the copy
            np.copyto(anchor.alpha, state.alpha)
            training.due = 2 * epoch - training.begun

    def _problems(self, state: State) -> list[int]:
        """Return the problems that go on; classes learnt together are one."""
        going = [k for k, active in enumerate(state.active.tolist()) if active]
        return [0] if self.native and going else going

    def _lose_patience(self, training: Training, mistakes: IntArray, patience: int) -> None:
        """Leave problems that made no progress, given all mistakes after each of the last epochs, shape (epochs, K)."""
        state, epoch = training.state, int(training.state.clock[EPOCH])
        made = mistakes.copy()
        made[1:] -= mistakes[:-1]
        made[0] -= training.counted
        made, training.counted = made.sum(axis=1, keepdims=True) if self.native else made, mistakes[-1].copy()
        first, least = made.argmin(axis=0).tolist(), made.min(axis=0).tolist()
        for k in self._problems(state):
            if least[k] < training.fewest[k]:
                training.fewest[k], training.since[k] = least[k], epoch - len(made) + first[k] + 1
            if epoch - training.since[k] >= patience:
                training.since[k] = epoch
                if not self.promised(state, k, training.fewest[k]):
                    training.left.add(k)
                    state.active[k if not self.native else slice(None)] = 0

    def status(self, training: Training) -> Reason | None:
        """Tell whether nothing changes any more, what does is left or proved inseparable, or weights overflowed."""
        state, proofs = training.state, training.proofs
        going = [k for k, active in enumerate(state.active.tolist()) if active]
        if training.precise or not (going or training.left):
            return "converged"
        if (proofs or training.left) and all(k in proofs for k in going):
            return "no progress" if training.left - proofs.keys() else "proved inseparable"
        return None if np.isfinite(state.W[:, -1]).all() else "diverged"

    def ending(self, training: Training) -> float:
        """Predict the seconds for putting the log of a voting memory away, and for counting its votes."""
        return seconds_of_votes(self.task.target.size, training.state) if isinstance(training.memory, Log) else 0.0

    def certify(self, training: Training) -> Any:
        """Return the proof."""
        return self.claim(training)


def seconds_of_votes(n: int, state: State) -> float:
    """Predict the seconds to count the votes of all vectors of a state on n examples, or on as many as a certificate judges."""
    return float(state.mistakes.sum()) * (LOGGED + JUDGED * min(n, VOTING_ROWS))


def _next_due(epoch: int) -> int:
    """Return the next epoch to look closely at: four of them each time their number doubles."""
    stride = 1 << max(epoch.bit_length() - 3, 0)
    return (epoch // stride + 1) * stride


def copied(arrays: Any) -> Any:
    """Copy a state or a memory, so that a fit that fails leaves the old one as it was."""
    return type(arrays)(*(part.copy() if isinstance(part, np.ndarray) else part for part in arrays))


def overlaps(end: Run, W: FloatArray) -> dict[str, Any]:
    """Return the course as arrays by name, with the `overlap` w·w*/‖w*‖ of the weights with W, NaN where they were not kept.

    A run that was cut in its first epoch has one row, of where it stands.
    """
    course, state = end.course, end.state.state
    if not course.last:
        squares = np.einsum("kd,kd->k", state.W, state.W)
        course.note(Progress(1, 1, state, end.seconds, (state.mistakes[None].copy(), squares[None], state.W[None])))
    history = course.history()
    rounds, shape = history.pop("round"), history["squared_norm"].shape
    overlap = np.full((rounds.size, W.shape[0]), np.nan)
    lengths = np.linalg.norm(W, axis=1)
    if course.snapshots:
        numbers, snapshots = zip(*course.snapshots, strict=True)
        kept = {number: row for row, number in enumerate(rounds.tolist())}
        found = np.einsum("skd,kd->sk", np.array(snapshots), W) / np.where(lengths > 0, lengths, 1.0)
        for number, values in zip(numbers, found, strict=True):
            if number in kept:
                overlap[kept[number]] = values
    return {"epoch": rounds - 1, **history, "overlap": overlap.reshape(shape)}
