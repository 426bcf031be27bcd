"""The one loop that drives every presenting algorithm.

`iterate` yields after every piece of work, a few milliseconds of compiled code each; `solve` consumes it until an epoch
changes nothing, a budget is spent, inseparability is proved or the user interrupts. Batch fits, progress displays and
animations are consumers of the same generator; cutting an epoch into pieces does not change the answer.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from halfspace._typing import FloatArray, IntArray
from halfspace.rows.views import entries_per_row
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.rules.multiclass import present_native
from halfspace.solvers.rules.sweep import Forget, State, Task, present

__all__ = ["Budget", "Method", "Progress", "Run", "iterate", "present_rows", "solve"]

PIECE = 1 << 23
"""Entries read between two looks at the clock: under ten milliseconds."""
CACHE_BLOCK = 1 << 14
"""Entries of a block of rows that stays in cache while all classes see it."""


class Method(NamedTuple):
    """What to do with each example: a rule per epoch, a memory, and whether classes are learnt together."""

    rule: Callable[[int], Any]  # epoch -> rule
    memory: Any = Forget()
    native: bool = False


class Budget(NamedTuple):
    """How long to go on."""

    max_iter: int
    max_time: float | None = None


class Progress(NamedTuple):
    """Where a run stands after a piece of work."""

    epoch: int
    finished: bool  # whether this piece ended the epoch
    state: State
    active: IntArray  # problems that still change
    seconds: float


@dataclass
class Run:
    """The end of a run: why it stopped, how far it came, and its course epoch by epoch."""

    state: State
    outcome: Outcome
    epochs: int
    course: "Course"
    proofs: dict[int, FloatArray] = field(default_factory=dict)


class Course:
    """Mistakes, squared norm and (some) weights after each epoch; at most 64 snapshots or 32 MB of weights are kept."""

    def __init__(self, state: State) -> None:
        self.rows: list[tuple[int, float, IntArray, FloatArray]] = []
        self.snapshots: list[tuple[int, FloatArray]] = []
        self.stride = 1
        self.room = min(64, int(32e6 // max(state.W.nbytes, 1)))

    def record(self, epoch: int, seconds: float, state: State) -> None:
        """Note where the run stands at the end of an epoch."""
        self.rows.append((epoch, seconds, state.mistakes.copy(), np.einsum("kd,kd->k", state.W, state.W)))
        if epoch % self.stride == 0 and self.room > 1:
            self.snapshots.append((len(self.rows) - 1, state.W.copy()))
        if len(self.snapshots) > self.room:
            self.snapshots = self.snapshots[1::2]
            self.stride *= 2

    def history(self, W: FloatArray) -> dict[str, Any]:
        """Return the course as arrays by name; `overlap` is w·w*/‖w*‖ with the answer `W`, NaN where no snapshot is left."""
        epochs, seconds, mistakes, squares = (np.array(column) for column in zip(*self.rows, strict=True))
        overlap = np.full(squares.shape, np.nan)
        lengths = np.linalg.norm(W, axis=1)
        for row, snapshot in self.snapshots:
            overlap[row] = np.einsum("kd,kd->k", snapshot, W) / np.where(lengths > 0, lengths, 1.0)
        per_problem = {"mistakes": mistakes, "squared_norm": squares, "overlap": overlap}
        flat = {name: column[:, 0] if column.shape[1] == 1 else column for name, column in per_problem.items()}
        return {"epoch": epochs, "seconds": seconds, **flat}


def present_rows(method: Method, epoch: int, task: Task, state: State, rows: IntArray, active: IntArray) -> None:
    """Present these rows in this order, once."""
    rule = method.rule(epoch)
    if method.native:
        present_native(rule, method.memory, task, state, rows)
        return
    block = max(1, int(CACHE_BLOCK // max(entries_per_row(task.X), 1.0))) if active.size > 1 else rows.size
    present(rule, method.memory, task, state, rows, active, max(block, 1))


def iterate(method: Method, task: Task, state: State, orders: Iterator[IntArray]) -> Iterator[Progress]:
    """Present examples for ever, yielding after every piece; stops by itself only when an epoch changes nothing.

    Parameters
    ----------
    method : Method
        Rule, memory and kind of multiclass.
    task : Task
        The data.
    state : State
        Where to start; updated in place. Copy what you want to keep.
    orders : iterator of ndarray, shape (n,)
        The order of the examples in each epoch.

    Yields
    ------
    Progress
        Epoch, whether it is complete, the state, and which problems still change.
    """
    begin = time.perf_counter()
    active = np.arange(state.W.shape[0])
    entries = max(entries_per_row(task.X), 1.0)
    for epoch, order in enumerate(orders):
        before = state.updates.copy()
        piece = max(1, int(PIECE // (entries * max(active.size, 1))))
        for first in range(0, order.size, piece):
            present_rows(method, epoch, task, state, order[first : first + piece], active)
            last = first + piece >= order.size
            if last:
                changed = state.updates > before
                active = active if method.native and changed.any() else active[changed[active]]
            yield Progress(epoch, last, state, active, time.perf_counter() - begin)
        if active.size == 0:
            return


class _Cycles:
    """Watch for weights that come back: between two visits Σ (change of alpha_i) y_i x_i = 0, Gordan's certificate.

    Brent's method: one anchor per problem, moved at epochs 1, 2, 4, 8, ..., finds any cycle with two copies of the state.
    """

    def __init__(self, state: State) -> None:
        self.W, self.alpha, self.next = state.W.copy(), np.zeros(state.alpha.shape), 1
        if state.alpha.any():
            np.copyto(self.alpha, state.alpha)

    def multipliers(self, epoch: int, state: State, active: IntArray) -> Iterator[tuple[int, FloatArray]]:
        """Yield the problems whose weights are back at the anchor, with the strengths gained since."""
        for k in active:
            if np.array_equal(state.W[k], self.W[k]):
                gained = state.alpha[k] - self.alpha[k]
                if gained.any():
                    yield int(k), gained
        if epoch + 1 == self.next:
            np.copyto(self.W, state.W)  # into the same memory: fresh pages cost more than the copy
            np.copyto(self.alpha, state.alpha)
            self.next *= 2


def solve(
    method: Method,
    task: Task,
    state: State,
    orders: Iterator[IntArray],
    budget: Budget,
    *,
    prove: Callable[[int, FloatArray], bool] | None = None,
    watch: Callable[[Progress], bool] | None = None,
) -> Run:
    """Run until nothing changes, a budget is spent, inseparability is proved, or the user interrupts.

    Parameters
    ----------
    method, task, state, orders
        As for `iterate`.
    budget : Budget
        Limits on epochs and time.
    prove : callable, optional
        Given a problem and multipliers, tells whether they prove it inseparable; asked when weights repeat.
    watch : callable, optional
        Called after every epoch; a true answer stops the run.

    Returns
    -------
    Run
        With the best state reached; Ctrl-C counts as an outcome, not as an error.
    """
    course, cycles = Course(state), _Cycles(state) if prove is not None else None
    run = Run(state, Outcome("iteration budget spent", f"Stopped after {budget.max_iter} epochs."), 0, course)
    try:
        for at in iterate(method, task, state, orders):
            if at.finished:
                run.epochs = at.epoch + 1
                course.record(at.epoch, at.seconds, state)
                if cycles is not None and prove is not None:
                    found = cycles.multipliers(at.epoch, state, at.active)
                    run.proofs.update({k: gained for k, gained in found if k not in run.proofs and prove(k, gained)})
            stop = _reason(at, run, budget, watch)
            if stop is not None:
                run.outcome = stop
                break
    except KeyboardInterrupt:
        run.outcome = Outcome(
            "interrupted", f"Interrupted after {run.epochs} full epochs.", "warm_start=True goes on from here."
        )
    if not course.rows:
        course.record(0, 0.0, state)
    return run


def _reason(at: Progress, run: Run, budget: Budget, watch: Callable[[Progress], bool] | None) -> Outcome | None:
    """Return why to stop now, or None to go on."""
    if at.finished and at.active.size == 0:
        return Outcome("converged", f"Converged: epoch {run.epochs} brought no mistake, so none will come.")
    if at.finished and at.active.size and all(int(k) in run.proofs for k in at.active):
        return Outcome(
            "proved inseparable", f"Proved inseparable in epoch {run.epochs}: the weights came back to where they were."
        )
    if not np.isfinite(at.state.W[:, -1]).all():
        return Outcome(
            "diverged", f"The weights overflowed in epoch {at.epoch + 1}.", "Use a smaller eta0, or scale the features."
        )
    if budget.max_time is not None and at.seconds >= budget.max_time:
        return Outcome(
            "time budget spent", f"Stopped after {at.seconds:.3g} s (max_time={budget.max_time:g}) in epoch {at.epoch + 1}."
        )
    if at.finished and watch is not None and watch(at):
        return Outcome("stopped by callback", f"Stopped by a callback after {run.epochs} epochs.")
    if at.finished and run.epochs >= budget.max_iter:
        return Outcome("iteration budget spent", f"Stopped after {run.epochs} epochs (max_iter={budget.max_iter}).")
    return None
