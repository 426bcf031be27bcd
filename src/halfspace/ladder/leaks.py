"""Signs of a leak: a column that gives the answer away, and held-out rows that training has seen.

A column alone predicts nearly everything where a small decision tree that sees nothing else (for numbers also a straight line),
cross-validated on at most 2,000 rows, leaves at most 1 % of errors (of the variance, for numbers), and a tenth of those of the
commonest class. Where more than a third of the columns do so, the problem is easy, and none of them is suspicious.
"""

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_selection import f_classif, f_regression
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.notes import Note

__all__ = ["leak_notes", "lone_scores", "seen_before"]

ENOUGH_ROWS, FEWEST_ROWS, FOLDS = 2000, 50, 3
HARDLY = 0.9
"""Accuracy or R² of a part below which a column is not looked at any further."""
MOST_COLUMNS = 200
"""Columns that are tried: of more, those with the largest F statistic."""
NEARLY_ALL, MUCH_LESS = 0.01, 0.1
"""Errors that such a column leaves at most: of all rows, and of the errors of the commonest class."""
EASY = 1 / 3
"""Share of the columns beyond which they are all good, rather than one too good."""


def leak_notes(
    Z: Matrix, groups: list[tuple[str, int, int]], y: Labels, *, classify: bool, random_state: int = 0
) -> list[Note]:
    """Return a note on every column that alone predicts nearly everything.

    Parameters
    ----------
    Z : ndarray or CSR matrix, shape (n, D)
        Encoded training rows.
    groups : list of (str, int, int)
        Name of each column, its first output and the one after its last, as `TableEncoder.groups_`.
    y : ndarray, shape (n,)
        Labels, or numbers.
    classify : bool
        Whether y holds classes.
    random_state : int
        Seed of the rows that are looked at.

    Returns
    -------
    list of Note
        Of kind "gives away".

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> y = random.integers(0, 2, 300)
    >>> Z = np.column_stack([random.normal(size=(300, 3)), 3.0 * y + random.normal(size=300) / 10])
    >>> print(*leak_notes(Z, [("a", 0, 1), ("b", 1, 2), ("c", 2, 3), ("paid", 3, 4)], y, classify=True))
    Column 'paid' alone predicts 100.0 % of the target: is it known before the outcome?
    """
    if len(groups) < 2 or y.size < FEWEST_ROWS:
        return []
    scores = lone_scores(Z, groups, y, classify=classify, random_state=random_state)
    most = 1.0 - NEARLY_ALL
    if classify:
        majority = np.unique(y, return_counts=True)[1].max() / y.size
        most = max(most, 1.0 - MUCH_LESS * (1.0 - majority))
    found = [(name, score) for (name, _, _), score in zip(groups, scores, strict=True) if score >= most]
    if len(found) > max(1.0, EASY * len(groups)):
        return []
    what = "of the target" if classify else "of the target's variance"
    return [Note("gives away", name, detail=f"{100 * score:.1f} % {what}") for name, score in found]


def lone_scores(
    Z: Matrix, groups: list[tuple[str, int, int]], y: Labels, *, classify: bool, random_state: int = 0
) -> FloatArray:
    """Return the cross-validated accuracy, or R², of each column alone, shape (len(groups),); 0 where it is far from 1."""
    random = np.random.default_rng(random_state)
    rows = np.sort(random.choice(y.size, ENOUGH_ROWS, replace=False)) if y.size > ENOUGH_ROWS else np.arange(y.size)
    classes, counts = np.unique(y[rows], return_counts=True)
    if classify:  # a split needs each class on both sides
        rows = rows[np.isin(y[rows], classes[counts >= FOLDS])]
    Z, y, scores = Z[rows], y[rows], np.zeros(len(groups))
    if np.unique(y).size < 2:
        return scores
    folds = (StratifiedKFold if classify else KFold)(FOLDS, shuffle=True, random_state=random_state)
    parts = list(folds.split(np.zeros(y.size), y))
    for k in _promising(Z, groups, y, classify=classify):
        _, first, end = groups[k]
        alone = Z[:, first:end].toarray() if sparse.issparse(Z) else Z[:, first:end]
        scores[k] = _score(alone, y, parts, classify=classify)
    return scores


def _score(alone: FloatArray, y: Labels, parts: list[Any], *, classify: bool) -> float:
    """Return the accuracy or R² of one column's outputs, shape (n, m); 0 as soon as a part is far from suspicious."""
    rules: list[Any] = [DecisionTreeClassifier(max_depth=6, random_state=0)]
    if not classify:  # a tree has steps, and few of them on few rows
        rules = [DecisionTreeRegressor(max_depth=8, random_state=0), LinearRegression()]
    best = 0.0
    for rule in rules:
        found = []
        for training, left_out in parts:
            predicted = rule.fit(alone[training], y[training]).predict(alone[left_out])
            found.append(np.mean(predicted == y[left_out]) if classify else r2_score(y[left_out], predicted))
            if found[-1] < HARDLY:
                break
        else:
            best = max(best, float(np.mean(found)))
    return best


def _promising(Z: Matrix, groups: list[tuple[str, int, int]], y: Labels, *, classify: bool) -> list[int]:
    """Return the columns to be tried: all, or those with the largest F statistic of an output."""
    if len(groups) <= MOST_COLUMNS:
        return list(range(len(groups)))
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):  # columns may be constant
        F = np.nan_to_num((f_classif if classify else f_regression)(Z, y)[0], posinf=np.finfo(float).max)
    largest = np.array([F[first:end].max(initial=0.0) for _, first, end in groups])
    return sorted(np.argsort(-largest, kind="stable")[:MOST_COLUMNS].tolist())


def seen_before(training: Matrix, held_out: Matrix, targets: tuple[Labels, Labels] | None = None) -> int:
    """Count the held-out rows that equal a training row in every encoded value, and in the target if it is given.

    Parameters
    ----------
    training, held_out : ndarray or CSR matrix, shapes (n, D) and (m, D)
        Encoded rows.
    targets : pair of ndarray, shapes (n,) and (m,), optional
        Their labels or numbers.

    Returns
    -------
    int
        Number of such rows of `held_out`.

    Examples
    --------
    >>> training, held_out = np.array([[1.0, 2.0], [0.0, 3.0]]), np.array([[-0.0, 3.0], [1.0, 2.0]])
    >>> seen_before(training, held_out), seen_before(training, held_out, (np.array([0, 1]), np.array([1, 1])))
    (2, 1)
    """
    seen, new = targets or (np.zeros(training.shape[0]), np.zeros(held_out.shape[0]))
    known = set(zip(_keys(training), seen.tolist(), strict=True))
    return sum(key in known for key in zip(_keys(held_out), new.tolist(), strict=True))


def _keys(Z: Matrix) -> list[int]:
    """Return a number for each row that equal rows share."""
    if not sparse.issparse(Z):
        return [hash((row + 0.0).tobytes()) for row in np.asarray(Z)]  # -0.0 becomes 0.0
    Z = sparse.csr_matrix(Z, copy=True)
    Z.sum_duplicates()
    Z.eliminate_zeros()
    bounds = zip(Z.indptr[:-1], Z.indptr[1:], strict=True)
    return [hash((Z.indices[a:b].tobytes(), Z.data[a:b].tobytes())) for a, b in bounds]
