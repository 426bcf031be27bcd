"""Scoring rungs in the same folds, and choosing among them.

Rule      The winner is the simplest rung whose mean score is within one standard error of the best rung's: the larger of the
          two errors counts.
Theorem   Scores are at most 1. If a rung has 1 - score <= error, no rung that keeps more can win over it, so those are
          skipped. And a rung is left as soon as perfect scores in all remaining folds would not bring it near the best: m
          scores between 0 and 1 have a standard deviation of at most ½ √(m/(m - 1)), which bounds its error.
Errors    The standard deviation over all folds divided by the root of the folds of one pass: repeated passes share their rows
          and steady the mean, but are no new evidence.
Time      A rung may take half of what is left, or its share if that is more, and its fits share that. What comes after the
          climb has its time set apart. The majority class is scored whatever the time; so something is always kept.
Ctrl-C    ends the climb, the separability questions or the learning curve early and keeps what was found, by `Interruptible`.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from halfspace import separability
from halfspace._dispatch import LateCompilationError, compiling_until
from halfspace._typing import FloatArray, IntArray, Label, Labels, Matrix
from halfspace.certificates import Separability
from halfspace.errors import InputError
from halfspace.ladder.rungs import RUNGS, Plan, Setting, describe, quietly, sample_of, widest_gap
from halfspace.ladder.values import Rung
from halfspace.notes import Note
from halfspace.rows.labels import mean_per_class
from halfspace.solvers.outcome import Reason

TESTED = 20_000
"""Most rows of a fold that a rung which learns from a sample is tested on."""
OUTPUTS = 1 << 23
"""Outputs computed at a time."""
CURVE = (0.1, 0.18, 0.32, 0.56, 1.0)
CURVE_FOLDS = 3
BY_PRODUCTS = {"rbf", "linear", "poly", "sigmoid", "cosine"}
"""Kernels that are functions of inner products."""
LEAST_TIME = 1e-2
"""Seconds of the shortest time limit that is worth a fit or a question."""
SEPARABILITY_SECONDS = 10.0
"""Time limit for the separability of all classes together."""
STOPPED = {"time budget spent": "the time limit was reached", "interrupted": "interrupted"}


class HopelessError(Exception):
    """A rung can no longer win; the message says why."""


class OutOfTimeError(Exception):
    """The time limit was reached in the middle of a rung, or would be; the message says which."""


class Interruptible:
    """A block that Ctrl-C ends early: what it has found so far is kept, and `interrupted` says so afterwards."""

    interrupted = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool:
        self.interrupted = isinstance(error, KeyboardInterrupt)
        return self.interrupted


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ignore Ctrl-C inside, in the main thread of a program whose handler is Python's to change: the climb is done."""
    before = signal.getsignal(signal.SIGINT)
    if before is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@dataclass(frozen=True)
class Training:
    """What all rungs share: the encoded training rows, the folds, the scoring, and the clock."""

    X: Matrix
    scored: Matrix  # the same rows for scoring, in fewer coordinates if there are very many
    y: Labels
    classes: Labels
    folds: list[tuple[IntArray, IntArray]]
    passes: int
    setting: Setting
    most_rows: int
    deadline: float | None  # for the climb
    report: Callable[..., None]  # plan, fold, score so far, message
    watched: IntArray  # rows whose outputs are kept, ascending

    def rows_for(self, plan: Plan) -> Matrix:
        """Return the rows that a rung is scored on: only a kernel or a metric may see more in them than inner products."""
        if plan.name == "gmlvq":
            return self.X
        turned = plan.name != "kernel" or (isinstance(self.setting.kernel, str) and self.setting.kernel in BY_PRODUCTS)
        return self.scored if turned else self.X

    def split_for(self, plan: Plan, fold: int) -> tuple[IntArray, IntArray]:
        """Return the rows to learn from and to test on, for a costly rung samples; after the last fold all rows, and none."""
        after = fold == len(self.folds)
        train, test = (np.arange(self.y.size), np.empty(0, dtype=np.int64)) if after else self.folds[fold]
        if not plan.sampled:
            return train, test
        seed = self.setting.seed + fold
        kept = test if test.size <= TESTED else test[sample_of(self.y[test], TESTED, seed)]
        return train[sample_of(self.y[train], self.most_rows, seed)], kept

    def seconds_left(self) -> float | None:
        """Return the seconds until the deadline, if there is one."""
        return None if self.deadline is None else self.deadline - time.perf_counter()

    def for_rung(self, plan: Plan, rungs_left: int) -> "Training":
        """Return the same with the deadline of a rung, the first of so many; refuse one that would take too long."""
        left = self.seconds_left()
        if left is None or plan.name == "majority":
            return replace(self, deadline=None)
        share = left * max(0.5, 1.0 / rungs_left)
        if left <= 0.0:
            raise OutOfTimeError(STOPPED["time budget spent"])
        rows, held = self.split_for(plan, 0)
        needed = plan.seconds(self.rows_for(plan)[rows], held.size, len(self.folds))
        if needed > share:
            msg = f"it would take about {needed:.2g} s, and {share:.2g} s are left for it"
            raise OutOfTimeError(msg)
        return replace(self, deadline=time.perf_counter() + share)

    def setting_for(self, folds_left: int, predicting: float) -> Setting:
        """Return the setting with the time limit of a fit; folds to come, their predictions and the last fit have theirs."""
        left = self.seconds_left()
        if left is None:
            return self.setting
        left -= folds_left * predicting
        if left <= 0.0 and folds_left:
            raise OutOfTimeError("the time limit was reached in the middle of it")
        return self.setting._replace(max_time=max(left / (folds_left + 1), LEAST_TIME))

    def measure(self, model: Any, X: Matrix, held: IntArray, sums: FloatArray | None = None) -> float:
        """Return the accuracy of a model for rows of X, or its mean over the classes; outputs of watched rows go to `sums`."""
        y, part = self.y[held], X[held]
        right = np.empty(held.size, dtype=bool)
        for rows in blocks(part, self.classes.size):
            outputs = model.decision_function(part[rows])
            right[rows] = labels_of(outputs, self.classes) == y[rows]
            if sums is not None:
                mine = np.isin(held[rows], self.watched)
                sums[np.searchsorted(self.watched, held[rows][mine])] += outputs[mine]
        return mean_per_class(right, np.unique(y, return_inverse=True)[1]) if self.setting.balanced else float(np.mean(right))


class Climbed(NamedTuple):
    """A rung with its scores, its final model, the rows it learnt from, and outputs of watched rows (NaN: not predicted)."""

    rung: Rung
    model: Any
    rows: IntArray
    outputs: FloatArray


def make_folds(y: Labels, n_splits: int, n_repeats: int, seed: int) -> list[tuple[IntArray, IntArray]]:
    """Return the rows to learn from and to test on, for every fold of every repeat.

    Classes keep their proportions. A class with a single example stays on the learning side.
    """
    _, target, counts = np.unique(y, return_inverse=True, return_counts=True)
    single = np.flatnonzero(counts[target] == 1)
    rest = np.flatnonzero(counts[target] > 1)
    folds = []
    for repeat in range(n_repeats):
        splitter = StratifiedKFold(n_splits, shuffle=True, random_state=seed + repeat)
        for train, test in splitter.split(rest[:, None], target[rest]):
            folds.append((np.sort(np.concatenate([rest[train], single])), rest[test]))
    return folds


def blocks(X: Matrix, K: int) -> list[slice]:
    """Cut rows into parts whose outputs of K classes are not too many at a time."""
    step = max(1, OUTPUTS // K)
    return [slice(first, first + step) for first in range(0, X.shape[0], step)]


def labels_of(outputs: FloatArray, classes: Labels) -> Labels:
    """Return the labels that outputs stand for; 0 is the first class."""
    labels: Labels = classes[(outputs > 0).astype(int) if outputs.ndim == 1 else outputs.argmax(axis=1)]
    return labels


def climb(plans: list[Plan], training: Training, *, by_name: bool) -> tuple[list[Climbed], tuple[Rung, ...], Reason]:
    """Climb rung by rung while there is time and a rung can still win; return those climbed, all rungs, and why it ended.

    `by_name` says that the rungs were requested by name, so that none is skipped for lack of rows. What goes wrong in the
    first rung is raised: there is nothing to keep yet.
    """
    done: list[Climbed] = []
    rungs: list[Rung] = []
    reason: Reason = "converged"
    for number, plan in enumerate(plans):
        interrupted = STOPPED["interrupted"] if reason == "interrupted" else ""
        why = interrupted or _reason_to_skip(plan, done, np.inf if by_name else training.y.size)
        if not why:
            with Interruptible() as block, compiling_until(training.deadline if done else None):
                training.report(plan, 0, float("nan"))
                try:
                    best = max((c.rung.score for c in done), default=0.0)
                    done.append(score_rung(plan, training.for_rung(plan, len(plans) - number), best))
                except HopelessError as error:
                    why = str(error)
                except (OutOfTimeError, LateCompilationError) as error:
                    why, reason = str(error), "time budget spent"
                except InputError as error:
                    if not done:
                        raise
                    why = f"it cannot learn from these rows: {error}"
            if block.interrupted:
                if not done:
                    raise KeyboardInterrupt
                why, reason = "interrupted in the middle of it", "interrupted"
        rungs.append(Rung(plan.name, plan.title, skipped=why) if why else done[-1].rung)
        if why:
            training.report(plan, 0, float("nan"), f"skipped: {why}")
    return done, tuple(rungs), reason


def score_rung(plan: Plan, training: Training, best: float) -> Climbed:
    """Score a rung in every fold, then fit it to all training rows; `best` is the best score so far."""
    m, y, X = len(training.folds), training.y, training.rows_for(plan)
    scores, fitting, predicting = list[float](), list[float](), list[float]()
    shape = (training.watched.size,) if training.classes.size == 2 else (training.watched.size, training.classes.size)
    sums, times = np.zeros(shape), np.zeros(y.size)
    for fold in range(m + 1):  # the last is the fit to all training rows
        rows, held = training.split_for(plan, fold)
        part, labels = (X if fold < m else training.X)[rows], y[rows]
        began = time.perf_counter()
        with quietly():
            chosen = plan.choose(part, labels, training.setting_for(m - fold, max(predicting, default=0.0)))
            model = chosen.model if chosen.fitted else chosen.model.fit(part, labels)
        if model.outcome_.reason == "interrupted":  # the model has kept its best so far; the ladder keeps its own
            raise KeyboardInterrupt
        if fold == m:
            break
        learnt = time.perf_counter()
        scores.append(training.measure(model, X, held, sums))
        predicting.append(time.perf_counter() - learnt)
        fitting.append(learnt - began)
        times[held] += 1
        training.report(plan, fold + 1, float(np.mean(scores)), widest_gap(model))
        _leave_if_hopeless(scores, training, best)
    support, proof = describe(model)
    rung = Rung(
        plan.name,
        plan.title,
        tuple(scores),
        float(np.mean(scores)),
        float(np.std(scores, ddof=1) / np.sqrt(m / training.passes)),
        float(np.median(fitting)),
        float(np.median(predicting)),
        int(times.sum()) // m,
        support,
        proof,
        {"k": model.k_} if hasattr(model, "k_") else chosen.params,
        note=f"fitted to a sample of {rows.size:,} of {y.size:,} rows" if rows.size < y.size else "",
    )
    seen, by_row = times[training.watched], sums.T
    by_row /= np.where(seen > 0, seen, np.nan)
    return Climbed(rung, model, rows, sums)


def _leave_if_hopeless(scores: list[float], training: Training, best: float) -> None:
    """Give a rung up if perfect scores in the remaining folds would still leave it more than any standard error behind."""
    m, done = len(training.folds), len(scores)
    largest_error = 0.5 * np.sqrt(m / (m - 1)) * np.sqrt(training.passes / m)
    if done < m and (sum(scores) + m - done) / m < best - largest_error:
        msg = f"given up after {done} of {m} folds: with a mean of {np.mean(scores):.3f} it can no longer come near {best:.3f}"
        raise HopelessError(msg)


def _reason_to_skip(plan: Plan, done: list[Climbed], rows: float) -> str:
    """Say why a rung cannot win any more, or lacks training rows; empty if it can be climbed."""
    for rung in (c.rung for c in done):
        if RUNGS[rung.name].keeps < plan.keeps and 1.0 - rung.score <= rung.error:
            return f"the simpler {rung.title} is already within one standard error of perfect"
    return f"fewer than {plan.least} training rows: tried only if requested by name" if rows < plan.least else ""


def choose_winner(done: list[Climbed]) -> tuple[Climbed, Climbed]:
    """Return the winner and the best: of rungs within one standard error of the best the simplest."""
    best = max(done, key=lambda c: (c.rung.score, -RUNGS[c.rung.name].keeps))
    good = [c for c in done if best.rung.score - c.rung.score <= max(c.rung.error, best.rung.error)]
    return min(good, key=lambda c: RUNGS[c.rung.name].keeps), best


def ask_separable(training: Training, until: float | None) -> tuple[tuple[tuple[Label, Separability], ...], list[Note]]:
    """Decide for each class whether a plane separates it from the rest, until then at most.

    A note counts those that time did not suffice for.
    """
    deadline = min(time.perf_counter() + SEPARABILITY_SECONDS, np.inf if until is None else until)
    asked = training.classes[1:] if training.classes.size == 2 else training.classes
    found: list[tuple[Label, Separability]] = []
    with Interruptible():
        for label in asked.tolist():
            seconds = deadline - time.perf_counter()
            if seconds < LEAST_TIME:
                break
            found.append((label, separability(training.X, training.y == label, max_time=seconds)))
    rest = asked.size - len(found)
    return tuple(found), [Note("no time", count=rest)] if rest else []


def learning_curve(winner: Climbed, training: Training, until: float | None) -> tuple[tuple[int, float, float], ...]:
    """Return rows learnt from, mean score and its standard error, for growing parts of three folds; nothing is tuned.

    It ends where the next point, which takes about twice as long as the last one, would not be there in time.
    """
    plan, classes = RUNGS[winner.rung.name], training.classes
    X, y = training.rows_for(plan), training.y
    points: list[tuple[int, float, float]] = []
    spent = winner.rung.fit_seconds if until is not None else 0.0
    with Interruptible():
        for share in CURVE:
            began = time.perf_counter()
            if until is not None and began + 2.0 * spent > until:
                break
            sizes, scores = [], []
            for fold in range(min(CURVE_FOLDS, len(training.folds))):
                rows, held = training.split_for(plan, fold)
                part = rows[sample_of(y[rows], max(int(share * rows.size), 2 * classes.size), training.setting.seed)]
                if np.unique(y[part]).size < classes.size:
                    continue
                with quietly():
                    model = clone(winner.model).fit(X[part], y[part])
                scores.append(training.measure(model, X, held))
                sizes.append(part.size)
            if len(scores) > 1:
                error = float(np.std(scores, ddof=1) / np.sqrt(len(scores)))
                points.append((int(np.mean(sizes)), float(np.mean(scores)), error))
            spent = time.perf_counter() - began
    return tuple(points)
