"""The one driver: clock, budget, cancellation, Ctrl-C, watching, the course and the outcome of every iterative method.

A method is a small value: the data, the rule and whatever makes it fast. It says how to `start`, does a `step`, tells by its
`status` whether anything is left to do, and can `certify` what it found. All that a step changes is in the state, so a run may
be cut anywhere: stepping, resuming and running in one go give the same answer.

`steps` yields after every piece of work, a few milliseconds of compiled code each; `run` consumes it. Batch fits, progress
displays, animations and streams are consumers of the same generator. No other module of the solvers loops over rounds or
catches Ctrl-C.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from halfspace.rows.threads import alone, n_workers, one_blas_thread, side_by_side
from halfspace.solvers.outcome import Outcome, Reason

__all__ = ["PIECE", "Budget", "Course", "Method", "Progress", "Run", "ended", "run", "run_all", "steps"]

T = TypeVar("T")

PIECE = 1 << 23
"""Entries to read in a step, between two looks at the clock: under ten milliseconds."""
RESUME = "warm_start=True goes on from here."


def _never() -> bool:
    return False


class Budget(NamedTuple):
    """How long to go on: rounds, seconds, and a question that another thread may answer with yes."""

    max_iter: int
    max_time: float | None = None
    cancelled: Callable[[], bool] = _never


class Method(Protocol):
    """What the driver asks of an iterative method.

    Optional: `start(before=None)` returns the state to begin with, where it follows from the method alone, or goes on from
    `before`; `certify(state)` returns the proof of what was found, where it needs nothing else; `finish(state)` takes a method
    that can end only at certain points to the next one, and is called when a budget is spent.
    """

    @property
    def unit(self) -> str:
        """What a round is called: "epoch", "push", "sweep"."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of what `step` returns."""

    def step(self, state: Any, most: int) -> Sequence[Any]:
        """Work for some milliseconds: less than a round, or up to `most` rounds.

        Return one new array per column, whose first axis are the rounds finished; nothing if no round was finished. One array
        more than there are columns holds snapshots, of which the course keeps a few.
        """

    def status(self, state: Any) -> Reason | None:
        """Return why nothing is left to do, or None; asked after every step."""


class Progress(NamedTuple):
    """Where a run stands after a piece of work."""

    round: int  # rounds finished in this run
    finished: int  # of them in this piece
    state: Any
    seconds: float
    table: Sequence[Any] = ()  # the columns of the rounds finished in this piece


class Course:
    """The rounds of a run by column; when there are too many, every other one is dropped, but never the last.

    Of snapshots at most 64 are kept, and 32 MB.

    Examples
    --------
    >>> course = Course(("mistakes",))
    >>> course.note(Progress(2, 2, None, 0.5, (np.array([3, 1]),)))
    >>> course.history()["round"].tolist(), course.history()["mistakes"].tolist()
    ([1, 2], [3, 1])
    """

    KEPT = 1 << 12
    SNAPSHOTS = 64
    ROOM = 32e6

    def __init__(self, columns: tuple[str, ...]) -> None:
        self.columns = columns
        self.rows: list[tuple[Any, ...]] = []
        self.last: tuple[Any, ...] = ()
        self.snapshots: list[tuple[int, Any]] = []
        self.stride, self.snapshot_stride = 1, 1

    def note(self, at: Progress) -> None:
        """Keep the rounds of a piece."""
        if not at.finished:
            return
        while at.round > self.KEPT * self.stride:
            self.rows, self.stride = self.rows[1::2], 2 * self.stride
        columns, first = at.table[: len(self.columns)], at.round - at.finished + 1
        skip = -first % self.stride
        numbers = range(first + skip, at.round + 1, self.stride)
        self.rows.extend(zip(numbers, repeat(at.seconds), *(column[skip :: self.stride] for column in columns), strict=False))
        self.last = (at.round, at.seconds, *(column[-1] for column in columns))
        for array in at.table[len(self.columns) :]:
            self._keep_snapshots(first, array)

    def _keep_snapshots(self, first: int, arrays: Any) -> None:
        room = min(self.SNAPSHOTS, int(self.ROOM // max(arrays[0].nbytes, 1)))
        for k in range(len(arrays)) if room > 1 else ():
            if (first + k) % self.snapshot_stride == 0:
                self.snapshots.append((first + k, arrays[k].copy()))
                if len(self.snapshots) > room:
                    self.snapshots, self.snapshot_stride = self.snapshots[1::2], 2 * self.snapshot_stride

    def history(self) -> dict[str, Any]:
        """Return the course as arrays by name; columns of a single problem are flat."""
        names = ("round", "seconds", *self.columns)
        if not self.last:
            return {name: np.empty(0) for name in names}
        rows = self.rows if self.rows and self.rows[-1][0] == self.last[0] else [*self.rows, self.last]
        arrays = {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
        return {name: a[:, 0] if a.ndim == 2 and a.shape[1] == 1 else a for name, a in arrays.items()}


@dataclass
class Run:
    """The end of a run: the state, why it stopped, after how many rounds, its course and its seconds."""

    state: Any
    outcome: Outcome
    rounds: int
    course: Course
    seconds: float = 0.0


class _Clock:
    """Counts rounds and seconds, and keeps to the budget."""

    def __init__(self, state: Any, budget: Budget, every: int) -> None:
        self.began, self.budget, self.every = time.perf_counter(), budget, every
        self.at, self.begun = Progress(0, 0, state, 0.0), False

    def most(self) -> int:
        """Return how many rounds the next step may take."""
        most = max(self.budget.max_iter - self.at.round, 1)
        return min(most, self.every - self.at.round % self.every) if self.every else most

    def count(self, table: Sequence[Any]) -> Progress:
        """Count the rounds of a step."""
        finished, self.begun = len(table[0]) if len(table) else 0, True
        self.at = Progress(self.at.round + finished, finished, self.at.state, time.perf_counter() - self.began, table)
        return self.at

    def goes_on(self, method: Method) -> bool:
        """Tell whether there is something left to do, and room in the budget; a step is made even in no time."""
        spent = _limit(self.at, self.budget) is not None if self.begun else self.budget.cancelled()
        return method.status(self.at.state) is None and not spent


def steps(method: Method, state: Any, budget: Budget, *, every: int = 0) -> Iterator[Progress]:
    """Work on a state in pieces until nothing is left to do or the budget is spent.

    Parameters
    ----------
    method : Method
        What to do.
    state : state of the method
        Changed in place: copy what you want to keep.
    budget : Budget
        Rounds and seconds, and who may cancel.
    every : int
        Yield at least once every so many rounds; 0 leaves it to the method.

    Yields
    ------
    Progress
        Rounds finished, the state, the seconds gone by. A piece may be less than a round: `finished` is then 0.
    """
    clock = _Clock(state, budget, every)
    while clock.goes_on(method):
        yield clock.count(method.step(state, clock.most()))


def run(
    method: Method,
    budget: Budget,
    state: Any = None,
    watch: Callable[[Progress], bool] | None = None,
    every: int = 1,
) -> Run:
    """Run until nothing is left to do, a budget is spent, `watch` says so, or the user interrupts.

    It does what `steps` does; the loop is repeated, for a generator between them would be one more thing to step through.

    Parameters
    ----------
    method : Method
        What to do.
    budget : Budget
        Rounds and seconds, and who may cancel.
    state : state of the method, optional
        Where to go on from, changed in place; `method.start()` by default.
    watch : callable, optional
        Called with the progress; a true answer stops the run.
    every : int, default 1
        Rounds between two calls of `watch`.

    Returns
    -------
    Run
        With the best state reached. Ctrl-C counts as an outcome, not as an error.
    """
    state = method.start() if state is None and hasattr(method, "start") else state
    course, clock = Course(method.columns), _Clock(state, budget, every if watch is not None else 0)
    try:
        while clock.goes_on(method):
            at = clock.count(method.step(state, clock.most()))
            course.note(at)
            if watch is not None and at.finished and watch(at):
                break
        return ended(method, clock.at, budget, course)
    except KeyboardInterrupt:
        return Run(state, _outcome("interrupted", method.unit, clock.at, budget), clock.at.round, course, clock.at.seconds)


def ended(method: Method, at: Progress, budget: Budget, course: Course) -> Run:
    """Return the end of a run that stands at `at`; a budget that is spent lets the method finish what it is at."""
    reason = method.status(at.state) or _limit(at, budget) or "stopped by callback"
    if reason in {"time budget spent", "iteration budget spent"} and hasattr(method, "finish"):
        method.finish(at.state)
        reason = method.status(at.state) or reason
    return Run(at.state, _outcome(reason, method.unit, at, budget), at.round, course, at.seconds)


def run_all(works: Sequence[Callable[[Budget], T]], budget: Budget, n_jobs: int | None, *, share: bool = True) -> list[T]:
    """Solve problems side by side, in threads; the answers do not depend on how many there are.

    Parameters
    ----------
    works : sequence of callable
        Each solves one problem within the budget it is given, as `partial(run, method)` does, and returns something with the
        `outcome` of that.
    budget : Budget
        For all of them. Ctrl-C, or an interrupted problem, cancels the others; their answers are kept.
    n_jobs : int or None
        Threads, as in scikit-learn; None for one per core.
    share : bool, default True
        Whether a problem leaves those that still wait their share of the time.
    """
    stop, waiting, workers = threading.Event(), iter(range(len(works), 0, -1)), n_workers(n_jobs, len(works))
    deadline = None if budget.max_time is None else time.perf_counter() + budget.max_time
    answers: dict[int, T] = {}

    def own() -> Budget:
        still, left = next(waiting, 1), None if deadline is None else max(deadline - time.perf_counter(), 0.0)
        seconds = left if left is None or not share else min(1.0, workers / still) * left
        return Budget(budget.max_iter, seconds, lambda: stop.is_set() or budget.cancelled())

    def solve(k: int) -> None:
        with alone():
            answers[k] = works[k](own())

    with one_blas_thread():
        if workers == 1:
            for k, work in enumerate(works):
                answers[k] = work(own())
                if getattr(answers[k], "outcome").reason == "interrupted":  # noqa: B009  (of whatever type T is)
                    stop.set()
        else:
            try:
                side_by_side(solve, range(len(works)), workers, stop.set)
            except KeyboardInterrupt:
                for k in set(range(len(works))) - answers.keys():  # those that had not begun
                    answers[k] = works[k](own()._replace(cancelled=lambda: True))
    return [answers[k] for k in range(len(works))]


def _limit(at: Progress, budget: Budget) -> Reason | None:
    """Return which limit is reached, if any."""
    if budget.cancelled():
        return "interrupted"
    if budget.max_time is not None and at.seconds >= budget.max_time:
        return "time budget spent"
    return "iteration budget spent" if at.finished and at.round >= budget.max_iter else None


def _outcome(reason: Reason, unit: str, at: Progress, budget: Budget) -> Outcome:
    """Return why a run ended, as a sentence."""
    plural = unit + ("es" if unit.endswith(("sh", "ss", "tch")) else "s")
    done = f"{at.round:,} {unit if at.round == 1 else plural}"
    sentences = {
        "time budget spent": f"Stopped after {at.seconds:.3g} s (max_time={budget.max_time or 0.0:g}), {done}.",
        "iteration budget spent": f"Stopped after {done} (max_iter={budget.max_iter}).",
        "stopped by callback": f"Stopped by a callback after {done}.",
    }
    sentence = sentences.get(reason, f"{reason.capitalize()} after {done}.")
    return Outcome(reason, sentence, RESUME if reason == "interrupted" else "")
