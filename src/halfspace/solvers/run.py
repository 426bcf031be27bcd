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
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from halfspace.rows.threads import alone, n_workers, one_blas_thread, side_by_side
from halfspace.solvers.outcome import Outcome, Reason

__all__ = [
    "PIECE",
    "SMALL",
    "Budget",
    "Course",
    "Method",
    "Progress",
    "Run",
    "Shares",
    "at_once",
    "ended",
    "in_pieces",
    "run",
    "run_all",
    "steps",
]

PIECE = 1 << 23
"""Entries to read in a step, between two looks at the clock: under ten milliseconds."""
QUANTUM = 2e-3
"""Seconds of the least share of a problem's time: less would be spent on beginning."""
SHORT = 1e-2
"""Seconds up to which a problem looks at the clock after every round."""
SMALL = 1 << 16
"""Numbers that problems go through in each pass, below which they are solved in the calling thread."""
RESUME = "warm_start=True goes on from here."


def _never() -> bool:
    return False


class Budget(NamedTuple):
    """How long to go on: rounds, seconds, and a question that another thread may answer with yes.

    Examples
    --------
    >>> began = time.perf_counter() - 3.0  # reading the data took as long
    >>> budget = Budget(1000, 10.0, began=began, reserve=2.0)
    >>> round(budget.left())
    5
    """

    max_iter: int
    max_time: float | None = None
    cancelled: Callable[[], bool] = _never
    began: float | None = None
    """When `max_time` began to count, on the clock of `time.perf_counter`; None: with the run."""
    reserve: float = 0.0
    """Seconds of `max_time`, at most half of it, that are left to what follows the run: the proof."""
    piece: int = 1 << 62
    """Rounds between two looks at the clock, at most: few where many problems share little time."""

    @property
    def seconds(self) -> float:
        """Seconds after which the run ends."""
        return np.inf if self.max_time is None else self.max_time - min(self.reserve, 0.5 * self.max_time)

    def left(self) -> float | None:
        """Return the seconds that a run may take from now on; None if there is no limit."""
        if self.max_time is None:
            return None
        gone = 0.0 if self.began is None else time.perf_counter() - self.began
        return max(float(self.seconds) - gone, 0.0)


class Method(Protocol):
    """What the driver asks of an iterative method.

    Optional: `start(before=None)` returns the state to begin with, where it follows from the method alone, or goes on from
    `before`; `certify(state)` returns the proof of what was found, where it needs nothing else; `finish(state)` takes a method
    that can end only at certain points to the next one, and is called when a budget is spent; `ending(state)` predicts the
    seconds that this and the proof will take, where they depend on the state: a run ends so much earlier.
    """

    @property
    def unit(self) -> str:
        """What a round is called: "epoch", "push", "sweep"."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of what `step` returns."""

    def step(self, state: Any, most: int) -> Sequence[Any]:
        """Work for some milliseconds: less than a round, or up to `most` rounds.

        Return one new array or list per column, whose first axis are the rounds finished; nothing if no round was finished.
        One array more than there are columns holds snapshots, of which the course keeps a few.
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
        self.last = (at.round, at.seconds, *(column[-1] for column in columns))
        if at.finished == 1 and not skip:
            self.rows.append(self.last)
        else:
            self.rows.extend(zip(numbers, repeat(at.seconds), *(c[skip :: self.stride] for c in columns), strict=False))
        for array in at.table[len(self.columns) :]:
            self._keep_snapshots(first, array)

    def _keep_snapshots(self, first: int, arrays: Any) -> None:
        room = min(self.SNAPSHOTS, int(self.ROOM // max(arrays[0].nbytes, 1)))
        if self.snapshot_stride == 1 and 1 < len(self.snapshots) + len(arrays) <= room:
            self.snapshots.extend(zip(range(first, first + len(arrays)), arrays.copy(), strict=True))
            return
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

    def __init__(self, state: Any, budget: Budget, every: int, rounds: int = 0) -> None:
        self.began = time.perf_counter() if budget.began is None else budget.began
        self.budget, self.every = budget, every
        self.at, self.begun = Progress(rounds, 0, state, 0.0), False

    def most(self) -> int:
        """Return how many rounds the next step may take."""
        most = min(max(self.budget.max_iter - self.at.round, 1), self.budget.piece)
        return min(most, self.every - self.at.round % self.every) if self.every else most

    def count(self, table: Sequence[Any]) -> Progress:
        """Count the rounds of a step."""
        finished, self.begun = len(table[0]) if len(table) else 0, True
        self.at = Progress(self.at.round + finished, finished, self.at.state, time.perf_counter() - self.began, table)
        return self.at

    def goes_on(self, method: Method) -> bool:
        """Tell whether there is something left to do, and room in the budget; a step is made even in no time."""
        spent = _limit(method, self.at, self.budget) is not None if self.begun else self.budget.cancelled()
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
    state : state of the method or Run, optional
        Where to go on from, changed in place; `method.start()` by default. Of a run its course goes on too.
    watch : callable, optional
        Called with the progress; a true answer stops the run.
    every : int, default 1
        Rounds between two calls of `watch`.

    Returns
    -------
    Run
        With the best state reached. Ctrl-C counts as an outcome, not as an error.
    """
    course, rounds = Course(method.columns), 0
    if isinstance(state, Run):
        state, course, rounds = state.state, state.course, state.rounds
    elif state is None and hasattr(method, "start"):
        state = method.start()
    clock = _Clock(state, budget, every if watch is not None else 0, rounds)
    try:
        while clock.goes_on(method):
            at = clock.count(method.step(state, clock.most()))
            course.note(at)
            if watch is not None and at.finished and watch(at):
                break
        return ended(method, clock.at, budget, course)
    except KeyboardInterrupt:
        return Run(state, _outcome("interrupted", method.unit, clock.at, budget), clock.at.round, course, clock.at.seconds)


def at_once(method: Method, state: Any, table: Sequence[Any], budget: Budget) -> Run:
    """Return the run that ended with its first piece, which was made already, with those of others; `table` is its course."""
    clock, course = _Clock(state, budget, 0), Course(method.columns)
    course.note(clock.count(table))
    return ended(method, clock.at, budget, course)


def in_pieces(work: Iterator[str], tell: Callable[[str], Any], some: Callable[[], bool] = bool) -> bool:
    """Do work that yields a sentence after each piece, for `tell`; Ctrl-C ends it, and is raised if no piece was done.

    `some` tells whether a part of a piece was done that is of use; none is by default.

    Examples
    --------
    >>> in_pieces(iter(["one piece", "another"]), print)
    one piece
    another
    True
    """
    done = False
    try:
        for sentence in work:
            done = True
            tell(sentence)
    except KeyboardInterrupt:
        if not (done or some()):
            raise
        return False
    return True


def ended(method: Method, at: Progress, budget: Budget, course: Course) -> Run:
    """Return the end of a run that stands at `at`; a budget that is spent lets the method finish what it is at."""
    reason = method.status(at.state) or _limit(method, at, budget) or "stopped by callback"
    if reason in {"time budget spent", "iteration budget spent"} and hasattr(method, "finish"):
        method.finish(at.state)
        reason = method.status(at.state) or reason
    return Run(at.state, _outcome(reason, method.unit, at, budget), at.round, course, at.seconds)


class Ended(Protocol):
    """What comes of a problem: something that knows why it ended."""

    @property
    def outcome(self) -> Outcome:
        """Why the work on it ended."""


E = TypeVar("E", bound=Ended)
Work = Callable[[Budget, E | None], E]
"""Solves one problem within a budget, as `partial(run, method)` does, or goes on from its earlier answer."""


def run_all(
    works: Sequence[Work[E]], budget: Budget, n_jobs: int | None, *, share: bool = True, entries: float = np.inf
) -> list[E]:
    """Solve problems side by side, in threads; without a time limit the answers do not depend on how many there are.

    Each problem leaves those that wait their share of the time. What they do not need is shared anew among the problems that
    were stopped by theirs, which go on, until all are solved or the time is over.

    Parameters
    ----------
    works : sequence of callable
        Each solves one problem within the budget it is given, or goes on from the answer it is given.
    budget : Budget
        For all of them. Ctrl-C, or an interrupted problem, cancels the others; their answers are kept.
    n_jobs : int or None
        Threads, as in scikit-learn; None for one per core.
    share : bool, default True
        Whether a problem leaves those that still wait their share of the time.
    entries : float, default inf
        Numbers that a pass over the data of one problem reads; with few of them threads would take longer than the work.
    """
    workers, answers = 1 if entries < SMALL else n_workers(n_jobs, len(works)), dict[int, E]()
    waiting, shares = list(range(len(works))), Shares.of(budget, workers if share else len(works), len(works))
    with one_blas_thread():
        while waiting:
            _solve_all(works, answers, waiting, shares, workers)
            cut = [k for k in waiting if answers[k].outcome.reason == "time budget spent"]
            waiting = [] if shares.over() else cut
            shares = shares.again(len(waiting))
    return [answers[k] for k in range(len(works))]


@dataclass
class Shares:
    """Hands out time, to one problem after the other: to each its share of what is left, in threads too."""

    budget: Budget
    deadline: float | None
    at_once: int  # problems that are worked on at the same time
    waiting: Iterator[int]
    stop: threading.Event = field(default_factory=threading.Event)

    @classmethod
    def of(cls, budget: Budget, at_once: int, count: int) -> "Shares":
        """Share a budget among `count` problems."""
        left = budget.left()
        return cls(budget, None if left is None else time.perf_counter() + left, at_once, iter(range(count, 0, -1)))

    def again(self, count: int) -> "Shares":
        """Share what is left among so many problems."""
        return replace(self, waiting=iter(range(count, 0, -1)))

    def over(self) -> bool:
        """Tell whether nothing is left to share, or there was no limit to begin with."""
        return self.deadline is None or self.stop.is_set() or time.perf_counter() >= self.deadline

    def cancelled(self) -> bool:
        """Tell whether all problems are to stop."""
        return self.stop.is_set() or self.budget.cancelled()

    def next(self) -> Budget:
        """Return the budget of the next problem; its clock begins now."""
        now, still, seconds, piece = time.perf_counter(), next(self.waiting, 1), None, self.budget.piece
        if self.deadline is not None:
            left = max(self.deadline - now, 0.0)
            seconds = min(left, max(self.at_once / still * left, QUANTUM))
            piece = 1 if seconds <= SHORT else piece
        return Budget(self.budget.max_iter, seconds, self.cancelled, now, piece=piece)


def _solve_all(works: Sequence[Work[E]], answers: dict[int, E], waiting: list[int], shares: Shares, workers: int) -> None:
    """Solve the problems that wait, or go on with them; one that has an answer keeps it if no time is left."""

    def solve(k: int) -> None:
        own = shares.next()
        if k in answers and own.max_time == 0.0:
            return
        answers[k] = works[k](own, answers.get(k))
        if answers[k].outcome.reason == "interrupted":
            shares.stop.set()

    def beside_others(k: int) -> None:
        with alone():
            solve(k)

    if workers == 1:
        for k in waiting:
            solve(k)
        return
    try:
        side_by_side(beside_others, waiting, workers, shares.stop.set)
    except KeyboardInterrupt:
        for k in set(waiting) - answers.keys():  # those that had not begun
            answers[k] = works[k](shares.next()._replace(cancelled=lambda: True), None)


def _limit(method: Method, at: Progress, budget: Budget) -> Reason | None:
    """Return which limit is reached, if any."""
    if budget.cancelled():
        return "interrupted"
    ending = method.ending(at.state) if budget.max_time is not None and hasattr(method, "ending") else 0.0
    if at.seconds + ending >= budget.seconds:
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
