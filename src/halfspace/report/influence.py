"""What the winner looks at: weights of a plane by name, shares of columns in a metric, or what shuffling a column costs."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.feature_selection import f_classif

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.report.findings import Influence
from halfspace.report.texts import shown

__all__ = ["MOST_CLASSES", "permutation", "relevances", "sample_size", "weights"]

MOST_NAMES, MOST_CLASSES = 20, 10
"""Bars of a chart, and charts where every class has one."""
MOST_COLUMNS, REPEATS = 50, 5
WORK = 5e9
"""Multiplications that shuffling may cost, a few seconds."""


def weights(coef: FloatArray, names: Sequence[str], classes: Sequence[object]) -> tuple[Influence, ...]:
    """List the largest weights (1, D) of a plane, or of each of the first ten classes' planes (K, D), by the inputs' names.

    Examples
    --------
    >>> weights(np.array([[0.5, -2.0]]), ["age", "size"], ["no", "yes"])
    (Influence(label='yes', names=('size', 'age'), values=(-2.0, 0.5), spread=(), n_others=0),)
    """
    labels = classes[1:2] if len(coef) == 1 else classes[:MOST_CLASSES]
    most = MOST_NAMES if len(coef) == 1 else MOST_NAMES // 2
    return tuple(_largest(shown(label), names, w, most) for label, w in zip(labels, coef, strict=False))


def relevances(found: Sequence[tuple[str, float]]) -> tuple[Influence, ...]:
    """List the columns with the largest shares of a metric, by name.

    Examples
    --------
    >>> relevances([("age", 0.75), ("size", 0.25)])
    (Influence(label='', names=('age', 'size'), values=(0.75, 0.25), spread=(), n_others=0),)
    """
    return (_largest("", [name for name, _ in found], np.array([share for _, share in found]), MOST_NAMES),)


def _largest(label: str, names: Sequence[str], values: FloatArray, most: int) -> Influence:
    """Keep the values of largest size, but no zeros."""
    order = np.argsort(-np.abs(values), kind="stable")[:most]
    order = order[values[order] != 0]
    kept = tuple(shown(names[i], 60) for i in order)
    return Influence(label, kept, tuple(values[order].tolist()), (), len(names) - order.size)


def sample_size(n: int, n_groups: int, work_per_row: float) -> int:
    """Return how many rows to shuffle: 500, or fewer where the model is large.

    Examples
    --------
    >>> sample_size(10_000, 30, work_per_row=1e4), sample_size(10_000, 50, work_per_row=2.5e5)
    (500, 80)
    """
    affordable = WORK / (max(min(n_groups, MOST_COLUMNS), 1) * REPEATS * max(work_per_row, 1.0))
    return int(min(n, 500, max(affordable, 50)))


def permutation(
    score: Callable[[Matrix], float],
    encoded: Matrix,
    y: Labels,
    groups: Sequence[tuple[Any, int, int]],
    rng: np.random.Generator,
) -> Influence:
    """Measure what shuffling each column costs: the mean fall of the score over five shuffles, and its standard deviation.

    Parameters
    ----------
    score : callable
        From encoded rows to the score of the model on them.
    encoded : ndarray or CSR matrix, shape (m, D)
        A sample of encoded training rows.
    y : ndarray, shape (m,)
        Their class numbers; used to choose the fifty columns of largest F statistic where there are more.
    groups : sequence of (name, start, end)
        Which inputs come from which column.
    rng : Generator
        Source of the shuffles.

    Examples
    --------
    >>> X, y = np.array([[0.0, 1.0], [1.0, 1.0]] * 50), np.array([0, 1] * 50)
    >>> found = permutation(lambda E: float(np.mean(E[:, 0] == y)), X, y, [("a", 0, 1), ("b", 1, 2)], np.random.default_rng(0))
    >>> found.names, found.n_others
    (('a',), 1)
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


def _telling(encoded: Matrix, y: Labels, groups: Sequence[tuple[Any, int, int]]) -> list[tuple[Any, int, int]]:
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
    from scipy import sparse  # noqa: PLC0415  (dense tables do not need it)

    return sparse.hstack([encoded[:, :a], encoded[order][:, a:b], encoded[:, b:]], format="csr")
