"""Scoring rungs in the same folds, and choosing among them.

Rule      The winner is the simplest rung whose mean score is within one standard error of the best rung's: the larger of the
          two errors counts.
Theorem   Scores are at most 1. If a rung has 1 - score <= error, no rung that keeps more can win over it, so those are not
          climbed. And a rung is left as soon as perfect scores in all folds to come would not bring it near the best: m scores
          between 0 and 1 have a standard deviation of at most ½ √(m/(m - 1)), which bounds its error.
Errors    The standard deviation over all folds divided by the root of the folds of one pass: repeated passes share their rows
          and steady the mean, but are no new evidence.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.errors import InputError
from halfspace.ladder.rungs import RUNGS, Learnt, Plan, Setting, again, describe, gap_of, quietly, sample_of
from halfspace.ladder.values import Rung
from halfspace.rows.labels import mean_per_class
from halfspace.solvers.outcome import Reason

__all__ = [
    "Climbed",
    "Ground",
    "HopelessError",
    "OutOfTimeError",
    "attempt",
    "chosen",
    "climb",
    "cuts",
    "hopeless",
    "labels_of",
    "learning_curve",
    "score_of",
]

TESTED = 20_000
"""Most rows of a fold that a rung which learns from a sample is tested on."""
CURVE = (0.1, 0.18, 0.32, 0.56, 1.0)
CURVE_FOLDS = 3
BY_PRODUCTS = {"rbf", "linear", "poly", "sigmoid", "cosine"}
"""Kernels that are functions of inner products."""


class HopelessError(Exception):
    """A rung can no longer win; the message says why."""


class OutOfTimeError(Exception):
    """The time budget was spent in the middle of a rung."""


@dataclass(frozen=True)
class Ground:
    """What all rungs share: the encoded training rows, the folds, the scoring, and the clock."""

    X: Matrix
    scored: Matrix  # the same rows for scoring, in fewer coordinates if there are very many
    y: Labels
    folds: list[tuple[IntArray, IntArray]]
    passes: int
    setting: Setting
    most_rows: int
    deadline: float | None = None
    tell: Callable[..., None] = lambda *_news: None  # plan, fold, score so far, message

    def rows_for(self, plan: Plan) -> Matrix:
        """Return the rows that a rung is scored on: only a kernel or a metric may see more in them than inner products."""
        if plan.name == "gmlvq":
            return self.X
        turned = plan.name != "kernel" or (isinstance(self.setting.kernel, str) and self.setting.kernel in BY_PRODUCTS)
        return self.scored if turned else self.X

    def seconds_left(self) -> float | None:
        """Return the seconds until the deadline, if there is one."""
        return None if self.deadline is None else self.deadline - time.perf_counter()


class Climbed(NamedTuple):
    """A rung with all its scores, its final model, the rows that learnt from, and outputs for unseen rows (NaN: not asked)."""

    rung: Rung
    model: Any
    rows: IntArray
    outputs: FloatArray


def cuts(y: Labels, n_splits: int, n_repeats: int, seed: int) -> list[tuple[IntArray, IntArray]]:
    """Return the rows to learn from and to test on, for every fold of every repeat.

    Classes keep their proportions. A class with a single example stays on the learning side.

    Examples
    --------
    >>> folds = cuts(np.array([0, 0, 1, 1, 2]), 2, 1, seed=0)
    >>> [sorted(test.tolist()) for _, test in folds], all(4 in train for train, _ in folds)
    ([[1, 2], [0, 3]], True)
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


def score_of(predicted: Labels, y: Labels, *, balanced: bool) -> float:
    """Return accuracy, or its mean over the classes."""
    right = predicted == y
    return mean_per_class(right, np.unique(y, return_inverse=True)[1]) if balanced else float(np.mean(right))


def climb(plan: Plan, ground: Ground, known: Labels, best: float) -> Climbed:
    """Score a rung in every fold, then fit it to all training rows; `known` are the classes, `best` the best score so far."""
    scores, fitting, predicting, tested = [], [], [], 0
    width = (ground.y.size,) if known.size == 2 else (ground.y.size, known.size)
    sums, times = np.zeros(width), np.zeros(ground.y.size)
    X = ground.rows_for(plan)
    for fold, (train, test) in enumerate(ground.folds):
        rows, held = _parts(plan, ground, train, test, fold)
        began = time.perf_counter()
        model = _learn(plan, ground, X, rows, len(ground.folds) - fold).model
        learnt = time.perf_counter()
        outputs = model.decision_function(X[held])
        predicting.append(time.perf_counter() - learnt)
        fitting.append(learnt - began)
        sums[held] += outputs
        times[held] += 1
        tested += held.size
        scores.append(score_of(labels_of(outputs, known), ground.y[held], balanced=ground.setting.balanced))
        ground.tell(plan, fold + 1, float(np.mean(scores)), gap_of(model))
        _leave_if_hopeless(scores, ground, best)
    everyone = _parts(plan, ground, np.arange(ground.y.size), np.empty(0, dtype=np.int64), len(ground.folds))[0]
    model, params = _learn(plan, ground, ground.X, everyone, 0)
    support, proof = describe(model)
    rung = Rung(
        plan.name,
        plan.title,
        tuple(scores),
        float(np.mean(scores)),
        float(np.std(scores, ddof=1) / np.sqrt(len(scores) / ground.passes)),
        float(np.median(fitting)),
        float(np.median(predicting)),
        tested // len(scores),
        support,
        proof,
        params,
        note=f"fitted to a sample of {everyone.size:,} of {ground.y.size:,} rows" if everyone.size < ground.y.size else "",
    )
    with np.errstate(invalid="ignore"):
        return Climbed(rung, model, everyone, (sums.T / np.where(times > 0, times, np.nan)).T)


def attempt(plan: Plan, ground: Ground, known: Labels, done: list[Climbed]) -> tuple[Climbed | None, str, Reason]:
    """Climb a rung; return it, or why there is none, and whether the whole climb is over.

    What goes wrong in the first rung is raised: there is nothing to keep yet.
    """
    try:
        ground.tell(plan, 0, float("nan"))
        return climb(plan, ground, known, max((c.rung.score for c in done), default=0.0)), "", "converged"
    except HopelessError as error:
        return None, str(error), "converged"
    except OutOfTimeError:
        return None, "the time budget was spent in the middle of it", "time budget spent"
    except KeyboardInterrupt:
        if not done:
            raise
        return None, "interrupted in the middle of it", "interrupted"
    except InputError as error:
        if not done:
            raise
        return None, f"it cannot learn from these rows: {error}", "converged"


def _leave_if_hopeless(scores: list[float], ground: Ground, best: float) -> None:
    """Give a rung up if perfect scores in the folds to come would still leave it more than any standard error behind."""
    m, done = len(ground.folds), len(scores)
    largest_error = 0.5 * np.sqrt(m / (m - 1)) * np.sqrt(ground.passes / m)
    if done < m and (sum(scores) + m - done) / m < best - largest_error:
        msg = f"left after {done} of {m} folds: at {np.mean(scores):.3f} there, it can no longer come near {best:.3f}"
        raise HopelessError(msg)


def labels_of(outputs: FloatArray, classes: Labels) -> Labels:
    """Return the labels that outputs stand for; 0 is the first class."""
    labels: Labels = classes[(outputs > 0).astype(int) if outputs.ndim == 1 else outputs.argmax(axis=1)]
    return labels


def _parts(plan: Plan, ground: Ground, train: IntArray, test: IntArray, fold: int) -> tuple[IntArray, IntArray]:
    """Return the rows to learn from and to test on: all, or for a costly rung a sample."""
    if not plan.sampled:
        return train, test
    seed = ground.setting.seed + fold
    kept = test if test.size <= TESTED else test[sample_of(ground.y[test], TESTED, seed)]
    return train[sample_of(ground.y[train], ground.most_rows, seed)], kept


def _learn(plan: Plan, ground: Ground, X: Matrix, rows: IntArray, folds_left: int) -> Learnt:
    """Learn from some rows within the time that is left."""
    left, setting = ground.seconds_left(), ground.setting
    if left is not None:
        if left <= 0 and folds_left:
            raise OutOfTimeError
        setting = setting._replace(max_time=max(left, 0.1) / (folds_left + 1))
    with quietly():
        learnt = plan.learn(X[rows], ground.y[rows], setting)
    if learnt.model.outcome_.reason == "interrupted":  # the model has kept its best so far; the ladder keeps its own
        raise KeyboardInterrupt
    return learnt


def hopeless(plan: Plan, done: list[Climbed]) -> str:
    """Say why a rung cannot win any more; empty if it can."""
    for rung in (c.rung for c in done):
        if RUNGS[rung.name].keeps < plan.keeps and 1.0 - rung.score <= rung.error:
            short = f"{100 * (1.0 - rung.score):.2g} points" if rung.score < 1.0 else "nothing"
            return f"cannot pay: the {rung.title} is simpler and lacks {short} to a perfect score, within its standard error"
    return ""


def chosen(done: list[Climbed]) -> tuple[Climbed, Climbed]:
    """Return the winner and the best: of rungs within one standard error of the best the simplest."""
    best = max(done, key=lambda c: (c.rung.score, -RUNGS[c.rung.name].keeps))

    def as_good(c: Climbed) -> bool:
        return best.rung.score - c.rung.score <= max(c.rung.error, best.rung.error)

    return min(filter(as_good, done), key=lambda c: RUNGS[c.rung.name].keeps), best


def learning_curve(winner: Climbed, ground: Ground, known: Labels) -> tuple[tuple[int, float, float], ...]:
    """Return the points of the learning curve; an interrupt ends it early, as the climb is done."""
    found: list[tuple[int, float, float]] = []
    try:
        found.extend(_points(winner, ground, known))
    except KeyboardInterrupt:
        return tuple(found)
    return tuple(found)


def _points(winner: Climbed, ground: Ground, known: Labels) -> Iterator[tuple[int, float, float]]:
    """Yield the rows learnt from, the mean score and its standard error, for growing parts of three folds; nothing is tuned."""
    X = ground.rows_for(RUNGS[winner.rung.name])
    for share in CURVE:
        sizes, scores = [], []
        for fold, (train, test) in enumerate(ground.folds[:CURVE_FOLDS]):
            rows, held = _parts(RUNGS[winner.rung.name], ground, train, test, fold)
            part = rows[sample_of(ground.y[rows], max(int(share * rows.size), 2 * known.size), ground.setting.seed)]
            if np.unique(ground.y[part]).size < known.size:
                continue
            model = again(winner.model, X[part], ground.y[part])
            predicted = labels_of(model.decision_function(X[held]), known)
            scores.append(score_of(predicted, ground.y[held], balanced=ground.setting.balanced))
            sizes.append(part.size)
        if len(scores) > 1:
            yield int(np.mean(sizes)), float(np.mean(scores)), float(np.std(scores, ddof=1) / np.sqrt(len(scores)))
