"""The one driver: clock, budget, cancellation, Ctrl-C, watching, the course and the outcome of every iterative method.

A method is a small value: the data, the rule and whatever makes it fast. It says how to `start`, does a `step`, tells by its
`status` whether anything is left to do, and can `certify` what it found. All that a step changes is in the state, so a run may
be cut anywhere: stepping, resuming and running in one go give the same answer.

`steps` yields after every piece of work, a few milliseconds of compiled code each; `run` consumes it. Batch fits, progress
displays, animations and streams are consumers of the same generator. No other module of the solvers loops over rounds or
catches Ctrl-C.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from halfspace.solvers.outcome import Outcome, Reason

__all__ = ["Budget", "Course", "Method", "Progress", "Run", "run", "steps"]

RESUME = "warm_start=True goes on from here."


def _never() -> bool:
    return False


class Budget(NamedTuple):
    """How long to go on: rounds, seconds, and a question that another thread may answer with yes."""

    max_iter: int
    max_time: float | None = None
    cancelled: Callable[[], bool] = _never


class Method(Protocol):
    """What the driver asks of an iterative method."""

    unit: str
    """What a round is called: "epoch", "push", "sweep"."""
    columns: tuple[str, ...]
    """Names of what `step` returns."""

    def start(self, before: Any = None) -> Any:
        """Return the state to begin with, or to go on from `before`; it is changed in place."""

    def step(self, state: Any, most: int) -> Sequence[Any]:
        """Work for some milliseconds: less than a round, or up to `most` rounds.

        Return one array per column, whose first axis are the rounds finished; nothing if no round was finished.
        """

    def status(self, state: Any) -> Reason | None:
        """Return why nothing is left to do, or None."""

    def certify(self, state: Any) -> Any:
        """Return the proof of what was found."""


class Progress(NamedTuple):
    """Where a run stands after a piece of work."""

    round: int  # rounds finished in this run
    finished: int  # of them in this piece
    state: Any
    seconds: float
    table: Sequence[Any] = ()  # the columns of the rounds finished in this piece


class Course:
    """The rounds of a run by column; when there are too many, every other one is dropped.

    A method with a function `snapshot(state)` has its arrays kept along the way: at most 64, and 32 MB.

    Examples
    --------
    >>> course = Course(("mistakes",))
    >>> course.note(Progress(2, 2, None, 0.5, (np.array([3, 1]),)))
    >>> course.history()["round"].tolist(), course.history()["mistakes"].tolist()
    ([1, 2], [3, 1])
    """

    KEPT = 1 << 14
    SNAPSHOTS = 64
    ROOM = 32e6

    def __init__(self, columns: tuple[str, ...]) -> None:
        self.columns = columns
        self.rows: list[tuple[Any, ...]] = []
        self.snapshots: list[tuple[int, Any]] = []
        self.stride, self.snapshot_stride = 1, 1

    def note(self, at: Progress, snapshot: Callable[[Any], Any] | None = None) -> None:
        """Keep the rounds of a piece."""
        first = at.round - at.finished + 1
        for k in range(at.finished):
            if (first + k) % self.stride == 0:
                self.rows.append((first + k, at.seconds, *(column[k] for column in at.table)))
        if len(self.rows) > self.KEPT:
            self.rows, self.stride = self.rows[1::2], 2 * self.stride
        if snapshot is not None and at.finished and at.round % self.snapshot_stride == 0:
            self._keep(at.round, snapshot(at.state))

    def _keep(self, number: int, array: Any) -> None:
        if 2 * array.nbytes > self.ROOM:
            return
        self.snapshots.append((number, array.copy()))
        if len(self.snapshots) > min(self.SNAPSHOTS, self.ROOM // max(array.nbytes, 1)):
            self.snapshots, self.snapshot_stride = self.snapshots[1::2], 2 * self.snapshot_stride

    def history(self) -> dict[str, Any]:
        """Return the course as arrays by name; columns of a single problem are flat."""
        names = ("round", "seconds", *self.columns)
        if not self.rows:
            return {name: np.empty(0) for name in names}
        arrays = {name: np.array(column) for name, column in zip(names, zip(*self.rows, strict=True), strict=True)}
        return {name: a[:, 0] if a.ndim == 2 and a.shape[1] == 1 else a for name, a in arrays.items()}


@dataclass
class Run:
    """The end of a run: the state, why it stopped, after how many rounds, and its course."""

    state: Any
    outcome: Outcome
    rounds: int
    course: Course
    seconds: float = 0.0


def steps(method: Method, state: Any, budget: Budget, *, one_by_one: bool = False) -> Iterator[Progress]:
    """Work on a state for ever, in pieces; ends by itself when nothing is left to do.

    Parameters
    ----------
    method : Method
        What to do.
    state : state of the method
        Changed in place: copy what you want to keep.
    budget : Budget
        Only `max_iter` is read, as the most rounds that a step may take.
    one_by_one : bool
        Whether to yield after every round.

    Yields
    ------
    Progress
        Rounds finished, the state, the seconds gone by.
    """
    began, rounds = time.perf_counter(), 0
    while method.status(state) is None:
        table = method.step(state, 1 if one_by_one else max(budget.max_iter - rounds, 1))
        finished = len(table[0]) if len(table) else 0
        rounds += finished
        yield Progress(rounds, finished, state, time.perf_counter() - began, table)


def run(method: Method, budget: Budget, state: Any = None, watch: Callable[[Progress], bool] | None = None) -> Run:
    """Run until nothing is left to do, a budget is spent, `watch` says so, or the user interrupts.

    A method that can end only at certain points has a function `finish(state)`, which takes it to the next one; it is called
    when the budget is spent.

    Parameters
    ----------
    method : Method
        What to do.
    budget : Budget
        Rounds and seconds, and who may cancel.
    state : state of the method, optional
        Where to go on from, changed in place; `method.start()` by default.
    watch : callable, optional
        Called after every round with the progress; a true answer stops the run.

    Returns
    -------
    Run
        With the best state reached. Ctrl-C counts as an outcome, not as an error.
    """
    state = method.start() if state is None else state
    course, at = Course(method.columns), Progress(0, 0, state, 0.0)
    snapshot, reason = getattr(method, "snapshot", None), None
    try:
        for at in steps(method, state, budget, one_by_one=watch is not None):
            course.note(at, snapshot)
            reason = method.status(state) or _limit(at, budget) or ("stopped by callback" if _asked(watch, at) else None)
            if reason is not None:
                break
        if reason in {"time budget spent", "iteration budget spent"} and hasattr(method, "finish"):
            method.finish(state)
            reason = method.status(state) or reason
    except KeyboardInterrupt:
        reason = "interrupted"
    reason = reason or method.status(state) or "converged"
    return Run(state, _outcome(reason, method.unit, at, budget), at.round, course, at.seconds)


def _asked(watch: Callable[[Progress], bool] | None, at: Progress) -> bool:
    return watch is not None and at.finished > 0 and watch(at)


def _limit(at: Progress, budget: Budget) -> Reason | None:
    """Return which limit is reached, if any."""
    if budget.cancelled():
        return "interrupted"
    if budget.max_time is not None and at.seconds >= budget.max_time:
        return "time budget spent"
    return "iteration budget spent" if at.finished and at.round >= budget.max_iter else None


def _outcome(reason: Reason, unit: str, at: Progress, budget: Budget) -> Outcome:
    """Return why a run ended, as a sentence."""
    done = f"{at.round} {unit if at.round == 1 else unit + ('es' if unit.endswith('h') else 's')}"
    sentences = {
        "time budget spent": f"Stopped after {at.seconds:.3g} s (max_time={budget.max_time or 0.0:g}), {done}.",
        "iteration budget spent": f"Stopped after {done} (max_iter={budget.max_iter}).",
        "stopped by callback": f"Stopped by a callback after {done}.",
        "interrupted": f"Interrupted after {done}.",
        "diverged": f"Diverged after {done}.",
        "converged": f"Converged after {done}.",
    }
    sentence = sentences.get(reason, f"{reason.capitalize()} after {done}.")
    return Outcome(reason, sentence, RESUME if reason == "interrupted" else "")
