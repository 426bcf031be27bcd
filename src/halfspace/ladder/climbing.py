"""Scoring rungs in the same folds, and choosing among them.

Rule      The winner is the simplest rung that is within one standard error of the best one, the error of their difference on
          the same rows (`evidence`), and also of the best one that was judged by all rows. "Better than the baseline" is a
          claim of its own: without evidence the baseline wins.
Theorem   If a rung is within its error of a perfect score, no rung that keeps more can win over it, so those are skipped. And
          a rung scored by shares is left as soon as perfect scores in all remaining folds would not bring it near the best: m
          scores between 0 and 1 have a standard deviation of at most ½ √(m/(m - 1)), which bounds its error.
Errors    The standard deviation over all folds divided by the root of the folds of one pass: repeated passes share their rows
          and steady the mean, but are no new evidence.
Time      A rung may take half of what is left, or its share if that is more, and its fits share that. What comes after the
          climb has its time set apart. The majority class is scored whatever the time; so something is always kept.
Ctrl-C    ends the climb, the separability questions or the learning curve early and keeps what was found, by `Interruptible`.
"""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone

from halfspace import separability
from halfspace._dispatch import LateCompilationError, compiling_until
from halfspace._typing import FloatArray, IntArray, Label, Labels, Matrix
from halfspace.certificates import Separability
from halfspace.errors import InputError
from halfspace.ladder.components import Components, OnComponents, seconds_of_components
from halfspace.ladder.evidence import Evidence, compare_in_folds, compare_numbers, compare_rows, constant_losses, paired_error
from halfspace.ladder.measures import MEASURES, Measure
from halfspace.ladder.plans import Chosen, Plan, Setting, describe, quietly, widest_gap
from halfspace.ladder.tasks import Classes, Fold, Task
from halfspace.ladder.values import Rung
from halfspace.notes import Note
from halfspace.solvers.outcome import Reason

TESTED = 20_000
"""Most rows of a fold that a rung which learns from a sample is tested on."""
MORE_IN_CELLS = 10
"""Times as many rows that a rung may learn from if it cuts them into cells."""
OUTPUTS = 1 << 23
"""Outputs computed at a time."""
CURVE = (0.1, 0.18, 0.32, 0.56, 1.0)
CURVE_FOLDS, LEAST_ROWS = 3, 4
OWN_ROWS = 50_000
"""Most rows that a rung which scores itself learns from; of more, a sample."""
RESEEN = 2_000
"""Most rows that a model learnt from and is asked about again."""
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
    """What all rungs share: the encoded training rows, the task, the folds, and the clock."""

    X: Matrix
    scored: Matrix  # the same rows for scoring, in fewer coordinates if there are very many
    y: Labels
    task: Task
    folds: list[Fold]
    passes: int
    setting: Setting
    most_rows: int
    deadline: float | None  # for the climb
    report: Callable[..., None]  # plan, fold, score so far, message
    watched: IntArray  # rows whose outputs are kept, ascending
    weight: FloatArray | None = None  # of every row
    pca: float | int | None = None  # components that all rungs but the baseline see
    components: dict[Any, Components] = field(default_factory=dict)  # found so far, by the rows they are of
    alone: bool = True  # rows are neither of groups nor in time
    until: float | None = None  # deadline of the ladder, also where a rung has none

    def rows_for(self, plan: Plan) -> Matrix:
        """Return the rows that a rung is scored on: only a kernel or a metric may see more in them than inner products."""
        if plan.name in {"gmlvq", "relevance"}:
            return self.X
        turned = plan.name != "kernel" or (isinstance(self.setting.kernel, str) and self.setting.kernel in BY_PRODUCTS)
        return self.scored if turned else self.X

    def split_for(self, plan: Plan, fold: int) -> Fold:
        """Return the rows to learn from and to test on, for a costly rung samples; after the last fold all rows, and none."""
        after = fold == len(self.folds)
        train, test = (np.arange(self.y.size), np.empty(0, dtype=np.int64)) if after else self.folds[fold]
        sampled = self.most_rows * (MORE_IN_CELLS if plan.celled else 1)
        most = sampled if plan.sampled else OWN_ROWS if plan.own else self.y.size
        if most >= self.y.size:
            return train, test
        seed = self.setting.seed + fold
        kept = test if test.size <= TESTED else test[self.task.sample(self.y[test], TESTED, seed)]
        return train[self.task.sample(self.y[train], most, seed)], kept

    def seconds_left(self) -> float | None:
        """Return the seconds until the deadline, if there is one."""
        return None if self.deadline is None else self.deadline - time.perf_counter()

    def for_rung(self, plan: Plan, rungs_left: int) -> "Training":
        """Return the same with the deadline of a rung, the first of so many; refuse one that would take too long."""
        left = self.seconds_left()
        if left is None or plan.name == self.task.baseline:
            return replace(self, deadline=None)
        share = left * max(0.5, 1.0 / rungs_left)
        if left <= 0.0:
            raise OutOfTimeError(STOPPED["time budget spent"])
        rows, held = self.split_for(plan, 0)
        X = self.rows_for(plan)
        needed = plan.seconds(X[rows], held.size, len(self.folds))
        if self.pca is not None and not self.components:
            needed += (len(self.folds) + 1) * seconds_of_components(self.pca, X)
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

    def weights_for(self, plan: Plan, rows: IntArray) -> dict[str, Any]:
        """Return the weights of rows as an argument of a rung's fit, if there are weights and it is not the baseline."""
        return {} if self.weight is None or plan.name == self.task.baseline else {"sample_weight": self.weight[rows]}

    def fitted(self, plan: Plan, X: Matrix, rows: IntArray, setting: Setting) -> tuple[Any, Chosen]:
        """Choose parameters on some rows of X, and fit to them."""
        weight, part, found = self.weights_for(plan, rows), X[rows], None
        with quietly():
            if self.pca is not None and plan.name != self.task.baseline:
                found = self._components(X, rows, part)
                part = found(part)
            chosen = plan.choose(part, self.y[rows], setting, **weight)
            model = chosen.model if chosen.fitted else chosen.model.fit(part, self.y[rows], **weight)
        if found is not None:
            model = OnComponents(clone(model), self.pca).around(model, found)
            chosen = chosen._replace(params={"components": len(found.directions), **chosen.params})
        if model.outcome_.reason == "interrupted":  # the model has kept its best so far; the ladder keeps its own
            raise KeyboardInterrupt
        return model, chosen

    def _components(self, X: Matrix, rows: IntArray, part: Matrix) -> Components:
        """Return the components of some rows of X, which most rungs share."""
        key = id(X), rows.tobytes()
        if key not in self.components:
            self.components[key] = Components.of(part, self.pca)
        return self.components[key]

    def judged(self, model: Any, X: Matrix, held: IntArray) -> "Judged":
        """Ask a model about rows of X: answers for all, outputs of those that are watched."""
        part, answers, outputs = X[held], list[Labels](), list[FloatArray]()
        mine = np.isin(held, self.watched)
        for rows in blocks(part, (*self.task.shape, 1)[0]):
            found = self.task.outputs(model, part[rows])
            answers.append(self.task.answers(found))
            outputs.append(found[mine[rows]])
        return Judged(held, held[mine], np.concatenate(answers), np.concatenate(outputs))

    def judged_in_time(self, model: Any, X: Matrix, rows: IntArray) -> "Judged":
        """Ask a model about as many of these rows, evenly chosen, as half of the time left allows: a tenth of them tell."""
        began, some = time.perf_counter(), self.judged(model, X, rows[::10])
        each = (time.perf_counter() - began) / max(some.held.size, 1)
        left = self.seconds_left()
        most = rows.size if left is None else min(rows.size, int(0.5 * left / max(each, 1e-9)))
        return some if most < 2 * some.held.size else self.judged(model, X, rows[:: -(-rows.size // most)])

    def score(self, judged: "Judged", given: Any = None, measure: Measure | None = None) -> tuple[float, FloatArray | None]:
        """Return the score of what a model said, and each row's loss where the score is a mean of them.

        `given` are the probabilities of watched rows, for measures of these.
        """
        measure = measure or self.task.measure
        by_answer = measure.needs in {"labels", "numbers"}
        rows = judged.held if by_answer else judged.kept
        given = judged.answers if by_answer else judged.outputs if given is None else given
        y = self.y[rows]
        losses = self.task.losses(y, given) if measure is self.task.measure else None
        if losses is None or self.weight is None or not self.weight[rows].any():
            return self.task.score(y, given, measure), losses
        return measure.of_mean(float(np.average(losses, weights=self.weight[rows]))), losses


class Judged(NamedTuple):
    """What a model said about rows: answers for those held, outputs for those kept among them."""

    held: IntArray
    kept: IntArray
    answers: Labels
    outputs: FloatArray


class Climbed(NamedTuple):
    """A rung with its scores and what is kept of it.

    Parameters
    ----------
    plan : Plan
        How it was climbed.
    rung : Rung
        What is told of it.
    model : estimator
        Fitted to all training rows.
    rows : ndarray, shape (m,)
        The training rows it learnt from.
    outputs : ndarray, shape (w,) or (w, K)
        For watched rows that a model had not seen; NaN: not predicted.
    losses : ndarray, shape (n,), or None
        Mean loss of each training row when it was not seen, NaN if it always was; None if the measure is no mean of rows.
    folds : tuple of estimator
        The models of the first pass through the folds.
    first : ndarray, shape (w,) or (w, K)
        Outputs of these for watched rows that they had not seen; NaN: not predicted.
    draws : tuple of ndarray
        What the searches of the folds have scored.
    """

    plan: Plan
    rung: Rung
    model: Any
    rows: IntArray
    outputs: FloatArray
    losses: FloatArray | None
    folds: tuple[Any, ...]
    first: FloatArray
    draws: tuple[FloatArray, ...]


def blocks(X: Matrix, K: int) -> list[slice]:
    """Cut rows into parts whose outputs of K classes are not too many at a time."""
    step = max(1, OUTPUTS // K)
    return [slice(first, first + step) for first in range(0, X.shape[0], step)]


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
        why = interrupted or _reason_to_skip(plan, done, training, np.inf if by_name else training.y.size)
        if not why:
            with Interruptible() as block, compiling_until(training.deadline if done else None):
                training.report(plan, 0, float("nan"))
                try:
                    best = max((c.rung.score for c in done), default=0.0)  # of shares, the only scores that a rung is left for
                    score = score_itself if plan.own and training.alone and training.pca is None else score_rung
                    done.append(score(plan, training.for_rung(plan, len(plans) - number), best))
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
    m, X = len(training.folds), training.rows_for(plan)
    tally = Tally(training)
    for fold in range(m):
        rows, held = training.split_for(plan, fold)
        began = time.perf_counter()
        model, chosen = training.fitted(plan, X, rows, training.setting_for(m - fold, max(tally.predicting, default=0.0)))
        tally.draws += () if chosen.draw is None else (chosen.draw,)
        learnt = time.perf_counter()
        seen = rows[training.task.sample(training.y[rows], RESEEN, fold)]
        tally.add(model, training.judged(model, X, held), training.judged(model, X, seen))
        tally.predicting.append(time.perf_counter() - learnt)
        tally.fitting.append(learnt - began)
        training.report(plan, fold + 1, float(np.mean(tally.provisional)), widest_gap(model))
        _leave_if_hopeless(tally.provisional, training, best)
    rows, _ = training.split_for(plan, m)
    model, chosen = training.fitted(plan, training.X, rows, training.setting_for(0, 0.0)._replace(draws=tally.draws))
    return tally.climbed(plan, model, chosen, rows)


def score_itself(plan: Plan, training: Training, _best: float) -> Climbed:
    """Fit a rung once, and score it in the parts of the folds by what its model says about rows that it did not learn from."""
    tally, (rows, _) = Tally(training), training.split_for(plan, len(training.folds))
    began = time.perf_counter()
    model, chosen = training.fitted(plan, training.X, rows, training.setting_for(0, 0.0))
    tally.fitting.append(time.perf_counter() - began)
    tally.predicting.append(0.0)
    unseen = np.full((training.y.size, *training.task.shape), np.nan)
    unseen[rows] = model.unseen_
    known = np.isfinite(unseen.reshape(training.y.size, -1)).all(axis=1)
    seen = training.judged_in_time(model, training.X, rows[training.task.sample(training.y[rows], RESEEN, 0)])
    for fold, (_, test) in enumerate(training.folds):
        held = test[known[test]]
        kept = held[np.isin(held, training.watched)]
        if held.size:
            tally.add(model, Judged(held, kept, training.task.answers(unseen[held]), unseen[kept]), seen)
            training.report(plan, fold + 1, float(np.mean(tally.provisional)))
    return tally.climbed(plan, model, chosen, rows)._replace(folds=())


def with_folds(climbed: Climbed, training: Training, seconds: float | None) -> Climbed:
    """Return a rung that scored itself with models of the first pass through the folds, within so many seconds."""
    m, first = len(training.folds) // training.passes, np.full((training.y.size, *training.task.shape), np.nan)
    setting = training.setting._replace(max_time=None if seconds is None else seconds / m)
    models = []
    for fold in range(m):
        rows, held = training.split_for(climbed.plan, fold)
        models.append(training.fitted(climbed.plan, training.X, rows, setting)[0])
        first[held] = training.task.outputs(models[-1], training.X[held])
    return climbed._replace(folds=tuple(models), first=first[training.watched])


class Tally:
    """What the folds of a rung have said so far."""

    def __init__(self, training: Training) -> None:
        self.training = training
        self.models: list[Any] = []
        self.draws: tuple[FloatArray, ...] = ()
        self.unseen: list[Judged] = []
        self.seen: list[Judged] = []
        self.provisional: list[float] = []  # scores of the folds done; of probabilities, accuracies
        self.fitting: list[float] = []
        self.predicting: list[float] = []

    def add(self, model: Any, unseen: Judged, seen: Judged) -> None:
        """Add the model of a fold, and what it said about rows that it had not seen and about some that it had."""
        measure = self.training.task.measure
        plain = MEASURES["accuracy"] if measure.needs == "probabilities" else measure
        self.models.append(model)
        self.unseen.append(unseen)
        self.seen.append(seen)
        self.provisional.append(self.training.score(unseen, measure=plain)[0])

    def climbed(self, plan: Plan, model: Any, chosen: Chosen, rows: IntArray) -> Climbed:
        """Sum up, with the model fitted to these of the training rows."""
        training, n = self.training, self.training.y.size
        scores, seen_scores, losses = self._scores()
        each = len(scores) // training.passes
        support, proof = describe(model)
        rung = Rung(
            plan.name,
            plan.title,
            tuple(scores),
            float(np.mean(scores)),
            self._error(scores),
            float(np.median(self.fitting)),
            float(np.median(self.predicting)),
            int(sum(part.held.size for part in self.unseen)) // len(scores),
            support,
            proof,
            chosen.params | ({"k": model.k_} if hasattr(model, "k_") else {}),
            note=f"fitted to a sample of {rows.size:,} of {n:,} rows" if rows.size < n else "",
            train_score=float(np.mean(seen_scores)),
            measures=self._others(),
        )
        first, every = self._averaged(self.unseen[:each]), self._averaged(self.unseen)
        return Climbed(plan, rung, model, rows, every, losses, tuple(self.models[:each]), first, self.draws)

    def _averaged(self, parts: list[Judged]) -> FloatArray:
        """Return the mean output of every watched row over some folds, shape (w,) or (w, K); NaN: not predicted."""
        watched = self.training.watched
        outputs, times = np.zeros((watched.size, *self.training.task.shape)), np.zeros(watched.size)
        for part in parts:
            places = np.searchsorted(watched, part.kept)
            outputs[places] += part.outputs
            times[places] += 1
        by_row = outputs.T
        by_row /= np.where(times > 0, times, np.nan)
        return outputs

    def _error(self, scores: Sequence[float]) -> float:
        return float(np.std(scores, ddof=1) / np.sqrt(len(scores) / self.training.passes))

    def _scores(self) -> tuple[list[float], list[float], FloatArray | None]:
        """Return the scores of the folds, those of rows seen, and the mean loss of every row when it was not seen."""
        training, n = self.training, self.training.y.size
        sums, times, complete = np.zeros(n), np.zeros(n), True
        scores, seen_scores = [], []
        for fold, (unseen, seen) in enumerate(zip(self.unseen, self.seen, strict=True)):
            score, losses = training.score(unseen, self._calibrated(fold, unseen))
            scores.append(score)
            seen_scores.append(training.score(seen, self._calibrated(fold, seen))[0])
            if losses is None:
                complete = False
            else:
                rows = unseen.held if losses.size == unseen.held.size else unseen.kept
                sums[rows] += losses
                times[rows] += 1
        return scores, seen_scores, sums / np.where(times > 0, times, np.nan) if complete else None

    def _calibrated(self, fold: int, judged: Judged) -> FloatArray | None:
        """Return probabilities by the outputs of the other folds of the same pass, if the measure needs them."""
        task = self.training.task
        if not isinstance(task, Classes) or task.measure.needs != "probabilities":
            return None
        each = len(self.unseen) // self.training.passes
        first = fold - fold % each
        others = [self.unseen[k] for k in range(first, first + each) if k != fold]
        known, y = np.concatenate([part.outputs for part in others]), self.training.y[np.concatenate([p.kept for p in others])]
        return task.probabilities(known, y, judged.outputs)

    def _others(self) -> dict[str, tuple[float, float]]:
        """Return mean and error of the other measures that need no probabilities; of none if there is no time."""
        training, found = self.training, dict[str, tuple[float, float]]()
        if training.until is not None and time.perf_counter() > training.until:
            return found
        kind = "classify" if isinstance(training.task, Classes) else "regress"
        for known in MEASURES.values():
            measure = replace(known, positive=training.task.measure.positive)
            if measure.task == kind and measure.needs != "probabilities" and not (measure.ranks and training.task.shape):
                scores = [training.score(part, measure=measure)[0] for part in self.unseen]
                found[measure.name] = (float(np.mean(scores)), self._error(scores))
        if "r2" in found:  # folds of a few rows have no variance of their own to speak of
            pooled, y = self._averaged(self.unseen), training.y[training.watched]
            seen = np.isfinite(pooled)
            found["r2"] = (training.task.score(y[seen], pooled[seen], MEASURES["r2"]), found["r2"][1])
        return found


def _leave_if_hopeless(scores: list[float], training: Training, best: float) -> None:
    """Give a rung up if perfect scores in the remaining folds would still leave it more than any standard error behind."""
    m, done = len(training.folds), len(scores)
    if not training.task.measure.percent or done == m:  # only shares of right answers have such a bound
        return
    largest_error = 0.5 * np.sqrt(m / (m - 1)) * np.sqrt(training.passes / m)
    if (sum(scores) + m - done) / m < best - largest_error:
        msg = f"given up after {done} of {m} folds: with a mean of {np.mean(scores):.3f} it can no longer come near {best:.3f}"
        raise HopelessError(msg)


def _reason_to_skip(plan: Plan, done: list[Climbed], training: Training, rows: float) -> str:
    """Say why a rung cannot win any more, or lacks training rows; empty if it can be climbed."""
    for climbed in done:
        rung = climbed.rung
        if climbed.plan.keeps < plan.keeps and abs(training.task.measure.best - rung.score) <= rung.error:
            return f"the simpler {rung.title} is already within one standard error of perfect"
    if training.weight is not None and not plan.weighs:
        return "it takes no weights"
    return f"fewer than {plan.least} training rows: tried only if requested by name" if rows < plan.least else ""


class Choice(NamedTuple):
    """The winner, the best, and the evidence that anything is better than the baseline, if that was climbed."""

    winner: Climbed
    best: Climbed
    evidence: Evidence | None


def choose_winner(done: list[Climbed], training: Training) -> Choice:
    """Choose the simplest rung that is within one standard error of the best, or the baseline where nothing is better."""
    sign = 1.0 if training.task.measure.greater else -1.0
    best = max(done, key=lambda c: (sign * c.rung.score, -c.plan.keeps))
    baseline = next((c for c in done if c.plan.name == training.task.baseline), None)
    others, rivals = [c for c in done if c is not baseline], (best, _most_judged(done, sign))

    def simplest(rungs: list[Climbed]) -> Climbed:
        near = [c for c in rungs if all(_near(c, rival, sign) for rival in rivals)]
        return min(near or [max(rungs, key=lambda c: sign * c.rung.score)], key=lambda c: c.plan.keeps)

    if baseline is None or not others:
        return Choice(simplest(done), best, None)
    evidence = _evidence(others, baseline, training, sign)
    better = [c for c, supported in zip(others, evidence.supported, strict=True) if supported]
    return Choice(simplest(better) if better else baseline, best, evidence)


def _evidence(others: list[Climbed], baseline: Climbed, training: Training, sign: float) -> Evidence:
    """Ask whether rungs are better than the best constant: by rows, or by folds if the measure is no mean of rows."""
    task, losses = training.task, [c.losses for c in others if c.losses is not None]
    splits, (n, d) = len(training.folds) // training.passes, training.X.shape
    lost = splits if 2 * d >= n else 0
    if len(losses) < len(others):
        scores = np.array([c.rung.scores for c in others])
        return compare_in_folds(sign * scores, sign * np.array(baseline.rung.scores), splits)
    truth: Any = np.searchsorted(task.labels, training.y) if isinstance(task, Classes) else training.y
    weight = 1.0 if training.weight is None else training.weight / training.weight.mean()
    both = weight * np.array(losses), weight * constant_losses(task.measure.name, truth)
    if task.shape or training.weight is not None or training.watched.size < training.y.size:
        return compare_rows(*both, lost=lost)
    outputs, least = np.array([c.outputs for c in others]), 1.0 if isinstance(task, Classes) else 0.0
    return compare_numbers(*both, outputs, truth.astype(np.float64), least, lost)


def _near(climbed: Climbed, rival: Climbed, sign: float) -> bool:
    """Tell whether a rung is within one standard error of another, by differences on the same rows or in the same folds."""
    if climbed.losses is not None and rival.losses is not None:
        return climbed is rival or paired_error(climbed.losses, rival.losses).within_one_error
    scores = (-sign * np.array(c.rung.scores) for c in (climbed, rival))
    return climbed is rival or paired_error(*scores).within_one_error


def _most_judged(done: list[Climbed], sign: float) -> Climbed:
    """Return the best of the rungs that were judged by the most rows: one that scores itself knows fewer."""

    def known(c: Climbed) -> int:
        return 0 if c.losses is None else int(np.isfinite(c.losses).sum())

    return max(done, key=lambda c: (known(c), sign * c.rung.score, -c.plan.keeps))


def ask_separable(training: Training, until: float | None) -> tuple[tuple[tuple[Label, Separability], ...], list[Note]]:
    """Decide for each class whether a plane separates it from the rest, until then at most.

    A note counts those that time did not suffice for.
    """
    deadline = min(time.perf_counter() + SEPARABILITY_SECONDS, np.inf if until is None else until)
    if not isinstance(training.task, Classes):
        return (), []
    classes = training.task.labels
    asked = classes[1:] if classes.size == 2 else classes
    found: list[tuple[Label, Separability]] = []
    with Interruptible():
        for label in asked.tolist():
            seconds = deadline - time.perf_counter()
            if seconds < LEAST_TIME:
                break
            found.append((label, separability(training.X, training.y == label, max_time=seconds)))
    rest = asked.size - len(found)
    return tuple(found), [Note("no time", count=rest)] if rest else []


def learning_curve(winner: Climbed, training: Training, until: float | None) -> tuple[tuple[int, float, float, float], ...]:
    """Return rows learnt from, mean score of unseen rows, its standard error, and mean score of the rows learnt from.

    They are measured on growing parts of three folds; nothing is tuned. It ends where the next point, which takes about twice
    as long as the last one, would not be there in time.
    """
    plan, task = winner.plan, training.task
    X, y = training.rows_for(plan), training.y
    points: list[tuple[int, float, float, float]] = []
    spent = winner.rung.fit_seconds if until is not None else 0.0
    measure = MEASURES["accuracy"] if task.measure.needs == "probabilities" else task.measure
    with Interruptible():
        for share in CURVE:
            began = time.perf_counter()
            if until is not None and began + 2.0 * spent > until:
                break
            sizes, scores, seen = [], [], []
            for fold in range(min(CURVE_FOLDS, len(training.folds))):
                rows, held = training.split_for(plan, fold)
                least = 2 * math.prod(task.shape) if task.shape else LEAST_ROWS
                part = rows[task.sample(y[rows], max(int(share * rows.size), least), training.setting.seed)]
                if not task.complete(y[part]):
                    continue
                with quietly():
                    model = clone(winner.model).fit(X[part], y[part], **training.weights_for(plan, part))
                scores.append(training.score(training.judged(model, X, held), measure=measure)[0])
                seen.append(training.score(training.judged(model, X, part[:RESEEN]), measure=measure)[0])
                sizes.append(part.size)
            if len(scores) > 1:
                error = float(np.std(scores, ddof=1) / np.sqrt(len(scores)))
                points.append((int(np.mean(sizes)), float(np.mean(scores)), error, float(np.mean(seen))))
            spent = time.perf_counter() - began
    return tuple(points)
