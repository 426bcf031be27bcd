"""The loop around presentations in a kernel's space: epochs, budgets, the course.

Whoever presents, with all outputs kept (`kernel_perceptron.py`) or with a budget of support vectors (`budget.py`), does it
in pieces of a few milliseconds; where the pieces are cut does not change the answer.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from halfspace._typing import FloatArray, IntArray
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.run import Budget

__all__ = ["Course", "Presenter", "Progress", "Run", "solve"]

ROOM = 32e6
"""Bytes for strengths of earlier epochs."""


class Presenter(Protocol):
    """Who presents: see `CachedOutputs` and `Budgeted`."""

    piece: int
    state: Any

    def present(self, order: IntArray, active: IntArray) -> None:
        """Present the examples in `order`, at most `piece` of them, to the problems in `active`."""

    def squares(self) -> FloatArray:
        """Return ‖f‖² of every problem, shape (K,)."""


class Progress(NamedTuple):
    """Where a run stands after a piece of work."""

    epoch: int
    finished: bool  # whether this piece ended the epoch
    mistakes: int  # of all problems
    active: IntArray  # problems that still change
    seconds: float


class Course:
    """Mistakes, squared norm and (some) strengths after each epoch; at most 64 snapshots or 32 MB of strengths are kept."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, float, IntArray, FloatArray]] = []
        self.snapshots: list[tuple[int, FloatArray]] = []
        self.stride = 1

    def record(self, at: Progress, presenter: Presenter) -> None:
        """Note where the run stands at the end of an epoch."""
        state = presenter.state
        self.rows.append((at.epoch, at.seconds, state.mistakes.copy(), presenter.squares()))
        if hasattr(presenter, "overlap"):
            if at.epoch % self.stride == 0 and 2 * state.alpha.nbytes <= ROOM:
                self.snapshots.append((len(self.rows) - 1, state.alpha.copy()))
            if len(self.snapshots) > min(64, ROOM // state.alpha.nbytes):
                self.snapshots, self.stride = self.snapshots[1::2], 2 * self.stride

    def history(self, presenter: Presenter) -> dict[str, Any]:
        """Return the course as arrays by name; `overlap` is f·f*/‖f*‖ with the last f*, NaN where no snapshot is left."""
        epochs, seconds, mistakes, squares = (np.array(column) for column in zip(*self.rows, strict=True))
        overlap = np.full(squares.shape, np.nan)
        for row, alpha in self.snapshots:
            overlap[row] = presenter.overlap(alpha)  # type: ignore[attr-defined]
        per_problem = {"mistakes": mistakes, "squared_norm": squares, "overlap": overlap}
        flat = {name: column[:, 0] if column.shape[1] == 1 else column for name, column in per_problem.items()}
        return {"epoch": epochs, "seconds": seconds, **flat}


@dataclass
class Run:
    """The end of a run: why it stopped, how far it came, and its course epoch by epoch."""

    outcome: Outcome
    epochs: int = 0
    course: Course = field(default_factory=Course)


def iterate(presenter: Presenter, orders: Iterator[IntArray]) -> Iterator[Progress]:
    """Present examples for ever, yielding after every piece; stops by itself only when an epoch changes nothing."""
    begin, state = time.perf_counter(), presenter.state
    active = np.arange(state.updates.size)
    for epoch, order in enumerate(orders):
        before = state.updates.copy()
        for first in range(0, order.size, presenter.piece):
            presenter.present(order[first : first + presenter.piece], active)
            last = first + presenter.piece >= order.size
            if last:
                active = active[state.updates[active] > before[active]]
            yield Progress(epoch, last, int(state.mistakes.sum()), active, time.perf_counter() - begin)
        if active.size == 0:
            return


def solve(presenter: Presenter, orders: Iterator[IntArray], budget: Budget, watch: Callable[[Progress], bool]) -> Run:
    """Run until nothing changes, a budget is spent, or the user interrupts.

    Parameters
    ----------
    presenter : Presenter
        Who presents; its state is updated in place.
    orders : iterator of ndarray, shape (n,)
        The order of the examples in each epoch.
    budget : Budget
        Limits on epochs and time.
    watch : callable
        Called after every epoch; a true answer stops the run.

    Returns
    -------
    Run
        Ctrl-C counts as an outcome, not as an error.
    """
    run = Run(Outcome("iteration budget spent", f"Stopped after {budget.max_iter} epochs."))
    at = Progress(0, finished=True, mistakes=0, active=np.arange(0), seconds=0.0)
    try:
        for at in iterate(presenter, orders):
            if at.finished:
                run.epochs = at.epoch + 1
                run.course.record(at, presenter)
            stop = _reason(at, run, budget, watch)
            if stop is not None:
                run.outcome = stop
                break
    except KeyboardInterrupt:
        sentence = f"Interrupted after {run.epochs} full epochs."
        run.outcome = Outcome("interrupted", sentence, "warm_start=True goes on from here.")
    if not run.course.rows:
        run.course.record(at, presenter)
    return run


def _reason(at: Progress, run: Run, budget: Budget, watch: Callable[[Progress], bool]) -> Outcome | None:
    """Return why to stop now, or None to go on."""
    if at.finished and at.active.size == 0:
        return Outcome("converged", f"Converged: epoch {run.epochs} brought no mistake, so none will come.")
    if budget.max_time is not None and at.seconds >= budget.max_time:
        sentence = f"Stopped after {at.seconds:.3g} s (max_time={budget.max_time:g}) in epoch {at.epoch + 1}."
        return Outcome("time budget spent", sentence)
    if at.finished and watch(at):
        return Outcome("stopped by callback", f"Stopped by a callback after {run.epochs} epochs.")
    if at.finished and run.epochs >= budget.max_iter:
        return Outcome("iteration budget spent", f"Stopped after {run.epochs} epochs (max_iter={budget.max_iter}).")
    return None
