"""What a report says whatever was learnt: what a constant would score, what answers with a guarantee gave, and a picture."""

from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.decomposition import PCA, TruncatedSVD

from halfspace._text import number, shown
from halfspace._typing import IntArray, Labels
from halfspace.certificates.operating import Share
from halfspace.ladder.conformal import proved_level, rows_needed
from halfspace.ladder.preparing import dense_if_small
from halfspace.report.findings import Guarantee, Picture
from halfspace.tables.columns import take

__all__ = ["constant_score", "draw_table", "try_guarantee"]

LEVEL = 0.9
MOST_ROWS, MOST_POINTS, MOST_GROUPS = 2_000, 1_000, 6
"""Held-out rows that a guarantee is tried on, rows of a picture, and kinds of marks in it."""
CROWDED, JITTER = 0.5, 0.015
"""Share of different places below which rows are moved a little, and by how much of the range, so that all are seen."""
FURTHEST = 0.05
"""Share of the rows, of largest residual, that are marked as errors of numbers."""


def constant_score(ladder: Any, y: Labels) -> float:
    """Return the score on the held-out rows, or without any on the training rows, of the best constant of the training rows."""
    measure, train = ladder.measure_, y[ladder.train_]
    rows = y[ladder.test_] if np.size(ladder.test_) else train
    if ladder.task == "regress":
        centre = np.median(train) if measure.name == "mae" else np.mean(train)
        return float(measure.score(rows, np.full(rows.size, centre)))
    classes = ladder.classes_
    counts = np.bincount(np.searchsorted(classes, train), minlength=classes.size)
    if measure.needs == "labels":
        given = np.full(rows.size, classes[counts.argmax()])
    elif measure.needs == "probabilities":
        given = np.tile(counts / train.size, (rows.size, 1))
    else:
        given = np.zeros(rows.size if classes.size == 2 else (rows.size, classes.size))
    return float(measure.score(rows, given, classes))


def try_guarantee(ladder: Any, X: Any, y: Labels, missing: dict[str, str]) -> Guarantee | None:
    """Count how often 90 % intervals, or sets of classes, hold the truth of held-out rows; else `missing` gets the reason."""
    kept, test = getattr(ladder, "conformal_", None), np.asarray(ladder.test_)
    if kept is None:
        missing["guarantee"] = "No models of the folds were kept, which such answers need; the notes say why."
        return None
    if not test.size or kept.scores.size < rows_needed(LEVEL):
        missing["guarantee"] = "There are no held-out rows to try them on, or too few rows to learn from."
        return None
    if test.size > MOST_ROWS:
        test = np.sort(np.random.default_rng(0).choice(test, MOST_ROWS, replace=False))
    Z = ladder.encode(take(X, test))
    if ladder.task == "regress":
        low, high = ladder.interval_of(Z, LEVEL).T
        held, sizes = (low <= y[test]) & (y[test] <= high), high - low
    else:
        members = ladder.set_of(Z, LEVEL)
        held, sizes = members[np.arange(test.size), np.searchsorted(ladder.classes_, y[test])], members.sum(axis=1)
    share = Share.of_counts("coverage", int(np.count_nonzero(held)), int(test.size))
    proved = proved_level(LEVEL, kept.scores.size, kept.sizes.size)
    mean, median = float(np.mean(sizes)), float(np.median(sizes))
    return Guarantee(LEVEL, proved, share.of, share.value, share.low, share.high, mean, median)


def draw_table(ladder: Any, X: Any, y: Labels, missing: dict[str, str]) -> Picture | None:
    """Place a sample of the encoded training rows on their first two principal components; errors are those out of fold."""
    train = np.asarray(ladder.train_)
    some = np.arange(train.size)
    if some.size > MOST_POINTS:
        some = np.sort(np.random.default_rng(0).choice(some, MOST_POINTS, replace=False))
    Z = ladder.encode(take(X, train[some]))
    Z = dense_if_small(Z)
    if min(Z.shape) < 2 or not abs(Z.max(axis=0) - Z.min(axis=0)).sum() > 0:
        missing["picture"] = "Two principal components need two inputs and rows that differ."
        return None
    flat: Any = PCA(2, random_state=0) if isinstance(Z, np.ndarray) else TruncatedSVD(2, random_state=0)
    places = flat.fit_transform(Z)
    crowded = len(np.unique(places.round(9), axis=0)) < CROWDED * len(places)
    if crowded:
        places = places + JITTER * np.ptp(places, axis=0) * np.random.default_rng(0).standard_normal(places.shape)
    group, names = _groups(ladder, y, train[some])
    wrong = _wrong(ladder, y[train])
    return Picture(
        x=tuple(places[:, 0].tolist()),
        y=tuple(places[:, 1].tolist()),
        group=tuple(group.tolist()),
        names=names,
        wrong=tuple(wrong[some].tolist()) if wrong.size else (),
        shares=(float(flat.explained_variance_ratio_[0]), float(flat.explained_variance_ratio_[1])),
        n_rows=int(train.size),
        moved=crowded,
    )


def _groups(ladder: Any, y: Labels, rows: IntArray) -> tuple[IntArray, tuple[str, ...]]:
    """Return the group of each row and the groups' names: the largest classes and the others, or fifths of a target."""
    if ladder.task == "regress":
        ends = np.unique(np.quantile(y[rows], [0.2, 0.4, 0.6, 0.8]))
        bounds = [float(y[rows].min()), *ends.tolist(), float(y[rows].max())]
        named = tuple(f"{number(a)} to {number(b)}" for a, b in pairwise(bounds))
        return np.searchsorted(ends, y[rows], side="left"), named
    numbers = np.searchsorted(ladder.classes_, y[rows])
    counts = np.bincount(numbers, minlength=ladder.classes_.size)
    order = np.argsort(-counts, kind="stable")
    first = order if order.size <= MOST_GROUPS else order[: MOST_GROUPS - 1]
    place = np.full(order.size, first.size)
    place[first] = np.arange(first.size)
    others = ("others",) if first.size < order.size else ()
    return place[numbers], (*(shown(label) for label in ladder.classes_[first].tolist()), *others)


def _wrong(ladder: Any, y: Labels) -> Any:
    """Return which training rows were predicted wrongly by folds that had not seen them; empty where it is not known."""
    outputs = np.asarray(ladder.out_of_fold_)
    if len(outputs) < y.size:
        return np.zeros(0, dtype=bool)
    if ladder.task == "regress":
        size = np.abs(y - outputs)
        return size > np.nanquantile(size, 1.0 - FURTHEST)
    known = np.isfinite(outputs).all(axis=tuple(range(1, outputs.ndim)))
    wrong = np.zeros(y.size, dtype=bool)
    wrong[known] = ladder.labels_of(outputs[known]) != y[known]
    return wrong
