"""What classes and numbers do differently on the ladder: outputs, samples, folds, and the rows held out.

Folds     keep the classes in proportion. Rows of one group are all learnt from or all tested. In time, each fold tests a part
          of the rows and learns from all that came before it; what came first is never tested.
Held out  is a share of the rows by the same rules; in time the last ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, train_test_split

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.certificates.log_odds import LogOdds
from halfspace.errors import InputError
from halfspace.ladder.measures import Measure

__all__ = ["Classes", "Numbers", "Rows", "Task", "labels_of", "make_folds", "sample_of", "split"]

Fold = tuple[IntArray, IntArray]
"""Rows to learn from, and rows to test on."""


class Rows(NamedTuple):
    """What is known of the rows besides inputs and targets, each of shape (n,): weights, groups, and when they came."""

    weight: FloatArray | None = None
    group: Labels | None = None
    time: Labels | None = None

    def of(self, rows: IntArray) -> "Rows":
        """Return the same of some rows."""
        return Rows(*(None if values is None else values[rows] for values in self))


@dataclass(frozen=True)
class Classes:
    """Rows that belong to classes."""

    labels: Labels
    """The classes, sorted."""
    measure: Measure
    weight: Any = None
    """Class weights that the rungs learn with."""
    baseline = "majority"

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the outputs for one row."""
        return () if self.labels.size == 2 else (self.labels.size,)

    def outputs(self, model: Any, X: Matrix) -> FloatArray:
        """Return what a model says about rows: one number, or one for each of more than two classes."""
        found: FloatArray = model.decision_function(X)
        return found

    def answers(self, outputs: FloatArray) -> Labels:
        """Return the labels that outputs stand for."""
        return labels_of(outputs, self.labels)

    def probabilities(self, known: FloatArray, y: Labels, outputs: FloatArray) -> FloatArray:
        """Return probabilities (n, K) for outputs, calibrated by those known for rows with labels y."""
        return LogOdds.of(known, np.searchsorted(self.labels, y)).probabilities(outputs)

    def score(self, y: Labels, given: Any, measure: Measure | None = None) -> float:
        """Return the score of labels, outputs or probabilities, as the measure needs."""
        return (measure or self.measure).score(y, given, self.labels)

    def losses(self, y: Labels, given: Any) -> FloatArray | None:
        """Return the loss of every row, shape (n,), where the measure is a mean over them."""
        return self.measure.losses(y, given, self.labels)

    def sample(self, y: Labels, most: int, seed: int) -> IntArray:
        """Return about so many row numbers, the classes in proportion."""
        return sample_of(y, most, seed)

    def complete(self, y: Labels) -> bool:
        """Tell whether these labels can be learnt from: every class is among them."""
        return bool(np.unique(y).size == self.labels.size)

    def folds(self, y: Labels, n_splits: int, seed: int, group: Labels | None) -> Iterator[Fold]:
        """Yield the folds of one pass; a class with a single example stays on the learning side."""
        _, target, counts = np.unique(y, return_inverse=True, return_counts=True)
        if group is not None:
            yield from StratifiedGroupKFold(n_splits, shuffle=True, random_state=seed).split(y[:, None], target, group)
            return
        single, rest = np.flatnonzero(counts[target] == 1), np.flatnonzero(counts[target] > 1)
        for train, test in StratifiedKFold(n_splits, shuffle=True, random_state=seed).split(rest[:, None], target[rest]):
            yield np.sort(np.concatenate([rest[train], single])), rest[test]

    def held_out(self, y: Labels, share: float, seed: int) -> IntArray:
        """Return the rows held out, in proportion; classes of fewer than four examples are learnt from."""
        everyone = np.arange(y.size)
        _, first, target, counts = np.unique(y, return_index=True, return_inverse=True, return_counts=True)
        # Numbered as they first occur, so that the rows held out do not depend on the names of the classes.
        order = np.argsort(first)
        target, counts = np.argsort(order)[target], counts[order]
        common = everyone[counts[target] >= 4]
        wanted = round(share * y.size)
        kinds = int((counts >= 4).sum())
        if wanted < max(kinds, 1) or common.size - wanted < kinds or kinds < 2:
            return everyone[:0]
        _, test = train_test_split(common, test_size=wanted, stratify=target[common], random_state=seed)
        test = np.sort(test)
        for number in np.flatnonzero(counts - np.bincount(target[test], minlength=counts.size) < 2):
            test = np.setdiff1d(test, np.flatnonzero(target == number)[:2])  # two of each class are learnt from
        return test


@dataclass(frozen=True)
class Numbers:
    """Rows with a number each."""

    measure: Measure
    baseline = "mean"
    shape: tuple[int, ...] = ()
    weight: Any = None
    least = 5
    """Rows that must be left to learn from."""

    def outputs(self, model: Any, X: Matrix) -> FloatArray:
        """Return what a model predicts, shape (n,)."""
        found: FloatArray = np.asarray(model.predict(X), dtype=np.float64)
        return found

    def answers(self, outputs: FloatArray) -> FloatArray:
        """Return the predictions: the outputs themselves."""
        return outputs

    def score(self, y: Labels, given: Any, measure: Measure | None = None) -> float:
        """Return the score of predictions."""
        return (measure or self.measure).score(y, given)

    def losses(self, y: Labels, given: Any) -> FloatArray | None:
        """Return the loss of every row, shape (n,)."""
        return self.measure.losses(y, given)

    def sample(self, y: Labels, most: int, seed: int) -> IntArray:
        """Return at most so many row numbers, ascending."""
        if y.size <= most:
            return np.arange(y.size)
        return np.sort(np.random.default_rng(seed).choice(y.size, most, replace=False))

    def complete(self, y: Labels) -> bool:
        """Tell whether there are targets enough to learn from."""
        return y.size >= 2

    def folds(self, y: Labels, n_splits: int, seed: int, group: Labels | None) -> Iterator[Fold]:
        """Yield the folds of one pass."""
        kind = KFold if group is None else GroupKFold
        yield from kind(n_splits, shuffle=True, random_state=seed).split(y[:, None], y, group)

    def held_out(self, y: Labels, share: float, seed: int) -> IntArray:
        """Return the rows held out: a random share, none if fewer than some would be left."""
        wanted = round(share * y.size)
        if wanted < 1 or y.size - wanted < self.least:
            return np.empty(0, dtype=np.int64)
        return np.sort(np.random.default_rng(seed).permutation(y.size)[:wanted])


Task = Classes | Numbers


def labels_of(outputs: FloatArray, classes: Labels) -> Labels:
    """Return the labels that outputs stand for; 0 is the first class."""
    labels: Labels = classes[(outputs > 0).astype(int) if outputs.ndim == 1 else outputs.argmax(axis=1)]
    return labels


def sample_of(y: Labels, most: int, seed: int) -> IntArray:
    """Return about so many row numbers, ascending, with the classes in proportion and two of each class that has them."""
    if y.size <= most:
        return np.arange(y.size)
    _, target = np.unique(y, return_inverse=True)
    order = np.random.default_rng(seed).permutation(y.size)
    groups = np.split(order[np.argsort(target[order], kind="stable")], np.cumsum(np.bincount(target))[:-1])
    share = most / y.size
    return np.sort(np.concatenate([rows[: max(2, round(share * rows.size))] for rows in groups]))


def make_folds(task: Task, y: Labels, n_splits: int, n_repeats: int, seed: int, rows: Rows = Rows()) -> list[Fold]:  # noqa: B008
    """Return the rows to learn from and to test on, for every fold of every repeat; rows in time have one pass."""
    if rows.time is not None:
        found = list(_forwards(rows.time, n_splits))
    else:
        found = [fold for repeat in range(n_repeats) for fold in task.folds(y, n_splits, seed + repeat, rows.group)]
    if rows.group is None and rows.time is None:
        return found
    kept = [(train, test) for train, test in found if test.size and train.size and task.complete(y[train])]
    if len(kept) < 2:
        why = "of one group on one side" if rows.time is None else "in time"
        msg = (
            f"the ladder cannot keep rows {why}: fewer than 2 of {n_splits} folds have every class among the rows to learn from"
        )
        raise InputError(msg)
    return kept


def _forwards(time: Labels, n_splits: int) -> Iterator[Fold]:
    """Yield folds that learn from the past and test on what came next; rows of the same time stay together."""
    order = np.argsort(time, kind="stable")
    sorted_times = time[order]
    starts = [np.searchsorted(sorted_times, sorted_times[k * time.size // (n_splits + 1)]) for k in range(1, n_splits + 1)]
    for start, end in zip(starts, [*starts[1:], time.size], strict=True):
        if 0 < start < end:
            yield np.sort(order[:start]), np.sort(order[start:end])


def split(task: Task, y: Labels, share: float, seed: int, rows: Rows = Rows()) -> tuple[IntArray, IntArray]:  # noqa: B008
    """Return the rows to learn from and those held out."""
    everyone = np.arange(y.size)
    if not share:
        return everyone, everyone[:0]
    if rows.time is not None:
        order = np.argsort(rows.time, kind="stable")
        cut = np.searchsorted(rows.time[order], rows.time[order[min(round((1.0 - share) * y.size), y.size - 1)]])
        test = np.sort(order[cut:])
    elif rows.group is not None:
        parts = min(max(round(1.0 / share), 2), np.unique(rows.group).size)
        test = next(task.folds(y, parts, seed, rows.group))[1] if parts > 1 else everyone[:0]
    else:
        test = task.held_out(y, share, seed)
    learnt = np.ones(y.size, dtype=bool)
    learnt[test] = False
    train = everyone[learnt]
    return (train, test) if train.size and task.complete(y[train]) else (everyone, everyone[:0])
