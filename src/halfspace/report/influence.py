"""What the winner looks at: weights of a plane by name, shares of columns in a metric, or what shuffling a column costs."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_selection import f_classif
from sklearn.metrics import accuracy_score, balanced_accuracy_score

from halfspace._text import shown
from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.ladder.tasks import labels_of
from halfspace.report.findings import Influence
from halfspace.tables.columns import take

__all__ = ["find_influence", "linear_weights", "permutation", "weights"]

Group = tuple[str, int, int]
"""A column's name, its first input, and the one after its last."""
MOST_NAMES, MOST_CLASSES = 20, 10
"""Bars of a chart, and charts where every class has one."""
MOST_COLUMNS, REPEATS = 50, 5
WORK = 5e9
"""Multiplications that shuffling may cost, a few seconds."""


def weights(coef: FloatArray, names: Sequence[str], classes: Sequence[object]) -> tuple[Influence, ...]:
    """List the largest weights (1, D) of a plane, or of each of the first ten classes' planes (K, D), by the inputs' names."""
    labels = classes[1:2] if len(coef) == 1 else classes[:MOST_CLASSES]
    most = MOST_NAMES if len(coef) == 1 else MOST_NAMES // 2
    return tuple(_largest(shown(label), names, w, most) for label, w in zip(labels, coef, strict=False))


def _largest(label: str, names: Sequence[str], values: FloatArray, most: int) -> Influence:
    """Keep the values of largest size, but no zeros."""
    order = np.argsort(-np.abs(values), kind="stable")[:most]
    order = order[values[order] != 0]
    kept = tuple(shown(names[i], 60) for i in order)
    return Influence(label, kept, tuple(values[order].tolist()), (), len(names) - order.size)


def linear_weights(ladder: Any) -> FloatArray | None:
    """Return the weights of a linear winner, shape (1, D) or (K, D); None for others."""
    coef = getattr(ladder.estimator_, "coef_", None)
    return None if coef is None else np.atleast_2d(np.asarray(coef, dtype=np.float64))


def find_influence(
    ladder: Any, X: Any, truth: IntArray, names: Sequence[str], groups: list[Group]
) -> tuple[str, tuple[Influence, ...]]:
    """Return what the winner looks at, and by what measure: "weights", "relevances", "permutation", or "" for nothing."""
    if ladder.winner_ == "majority":
        return "", ()
    coef = linear_weights(ladder)
    if coef is not None:
        return "weights", weights(coef, names, ladder.classes_.tolist())
    if ladder.relevances_:
        columns, shares = zip(*ladder.relevances_, strict=True)
        return "relevances", (_largest("", columns, np.array(shares), MOST_NAMES),)
    return "permutation", (_shuffled_columns(ladder, X, truth, groups),)


def _shuffled_columns(ladder: Any, X: Any, truth: IntArray, groups: list[Group]) -> Influence:
    """Shuffle the columns of a winner without weights, on a sample of training rows: 500, or fewer where it is large."""
    train, rng = np.asarray(ladder.train_), np.random.default_rng(0)
    held = next((rung.support for rung in ladder.rungs_ if rung.name == ladder.winner_), None) or train.size
    work = held * max(groups[-1][2], 1) if groups else 1
    affordable = WORK / (max(min(len(groups), MOST_COLUMNS), 1) * REPEATS * work)
    rows = np.sort(rng.choice(train, int(min(train.size, 500, max(affordable, 50))), replace=False))
    labels = ladder.classes_[truth[rows]]
    rule = balanced_accuracy_score if ladder.scoring_ == "balanced_accuracy" else accuracy_score

    def score(encoded: Matrix) -> float:
        return float(rule(labels, labels_of(ladder.estimator_.decision_function(encoded), ladder.classes_)))

    return permutation(score, ladder.encode(take(X, rows)), truth[rows], groups, rng)


def permutation(
    score: Callable[[Matrix], float],
    encoded: Matrix,
    y: Labels,
    groups: Sequence[Group],
    rng: np.random.Generator,
) -> Influence:
    """Measure what shuffling each column costs: the mean fall of the score over five shuffles, and its standard deviation.

    `encoded`, shape (m, D), is a sample of training rows, `y` their class numbers, which choose the fifty columns of largest F
    statistic where there are more; a group is (name, start, end).
    """
    chosen = _telling(encoded, y, groups)
    base = score(encoded)
    falls = np.array([[base - score(_shuffled(encoded, a, b, rng)) for _ in range(REPEATS)] for _, a, b in chosen])
    falls = falls.reshape(len(chosen), REPEATS)
    mean = falls.mean(axis=1)
    order = [i for i in np.argsort(-mean, kind="stable")[:MOST_NAMES] if mean[i] > 0]
    return Influence(
        label="",
        names=tuple(shown(chosen[i][0], 60) for i in order),
        values=tuple(mean[order].tolist()),
        spread=tuple(falls.std(axis=1)[order].tolist()),
        n_others=len(groups) - len(order),
    )


def _telling(encoded: Matrix, y: Labels, groups: Sequence[Group]) -> list[Group]:
    """Keep the columns whose inputs have the largest F statistic."""
    groups = [group for group in groups if group[2] > group[1]]
    if len(groups) <= MOST_COLUMNS:
        return groups
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # columns that are constant in the sample: their F is 0 here
        F = np.nan_to_num(f_classif(encoded, y)[0])
    best: IntArray = np.argsort([-F[a:b].max() for _, a, b in groups], kind="stable")[:MOST_COLUMNS]
    return [groups[i] for i in sorted(best.tolist())]


def _shuffled(encoded: Matrix, a: int, b: int, rng: np.random.Generator) -> Matrix:
    """Return the rows with the inputs a..b shuffled among them, together."""
    order = rng.permutation(encoded.shape[0])
    if isinstance(encoded, np.ndarray):
        mixed = encoded.copy()
        mixed[:, a:b] = encoded[order, a:b]
        return mixed
    return sparse.hstack([encoded[:, :a], encoded[order][:, a:b], encoded[:, b:]], format="csr")
