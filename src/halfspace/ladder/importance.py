"""What matters: how much worse a ladder predicts rows that it has not seen when a column is shuffled.

Rule      The inputs of one column of the table are shuffled together among the rows, the winner predicts again, and the loss of
          every row is compared with what it was (Breiman, 2001, section 10). A column that the winner could do without costs
          nothing; two columns that say the same each cost little.
Rows      Only rows that the model asked has not learnt from: the models of the folds are asked about their own held-out rows.
          Where they were not kept, the rows held out, if the winner has not learnt from them since; else the winner is fitted
          again in folds, to a sample of the rows.
Error     Rows differ, and so do shuffles. A row's cost is its mean over the shuffles; the standard error is that of the mean of
          these costs. A random column has a mean within a few errors of 0: `evident` asks Student's quantile at 2.5 % divided
          by the number of columns.
Cost      Columns x shuffles predictions of a sample of rows, each of about as many multiplications as the model has numbers.
          The sample is as large as `WORK` allows, so that the answer does not depend on the clock; of more than 50 columns
          those of largest F statistic are shuffled.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse, stats
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import f_classif, f_regression
from sklearn.model_selection import KFold, StratifiedKFold

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.ladder.evidence import LEVEL, row_losses
from halfspace.ladder.preparing import input_groups
from halfspace.tables.columns import take

__all__ = ["Importance", "column_importance"]

MOST_COLUMNS, MOST_ROWS, LEAST_ROWS = 50, 2_000, 50
WORK = 5e9
"""Multiplications that shuffling may cost, a few seconds."""
FOLDS = 3
"""Folds of a winner that has to be fitted again."""
Group = tuple[str, int, int]
"""A column's name, its first input, and the one after its last."""
Part = tuple[Any, IntArray]
"""A model, and the rows that it is asked about."""


class Importance(NamedTuple):
    """What shuffling one column costs.

    Parameters
    ----------
    name : str
        The column.
    cost, error : float
        Mean increase of the loss over rows and shuffles, and its standard error: of the share of wrong answers, of balanced
        error, or for numbers of the squared error as a share of the target's variance.
    evident : bool
        Whether the cost is told from 0, corrected for the number of columns.
    """

    name: str
    cost: float
    error: float
    evident: bool

    def __str__(self) -> str:
        told = "" if self.evident else ", not told from 0"
        return f"{self.name}: {self.cost:+.3f} ± {self.error:.3f}{told}"


def column_importance(
    ladder: Any, X: Any, y: Labels, *, n_repeats: int = 5, random_state: int = 0, work: float = WORK
) -> tuple[Importance, ...]:
    """Measure what shuffling each column of the table costs the winner on rows that it has not seen.

    Parameters
    ----------
    ladder : Ladder
        Fitted.
    X, y : table, shape (n, d), and array, shape (n,)
        The rows given to its `fit`, with their labels or numbers.
    n_repeats : int, default 5
        Shuffles of each column.
    random_state : int, default 0
        Seed of the shuffles and samples.
    work : float, default 5e9
        Multiplications, about; of large models a smaller sample of rows is shuffled.

    Returns
    -------
    tuple of Importance
        The most important column first. Columns that were not tried are missing.

    Examples
    --------
    >>> import halfspace as hs
    >>> from halfspace.ladder.importance import column_importance
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ladder = hs.Ladder(rungs=["majority", "perceptron"]).fit(X, y)
    >>> print(column_importance(ladder, X, y)[0])
    x2: +0.290 ± 0.026
    """
    y, rng = np.asarray(y), np.random.default_rng(random_state)
    parts = _unseen(ladder, X, y, rng)
    if not parts:
        return ()
    encoded = [ladder.encode(take(X, rows)) for _, rows in parts]
    groups = _telling(encoded[0], y[parts[0][1]], input_groups(ladder.encoder_, encoded[0].shape[1])[1], ladder)
    most = work / (max(_numbers(vars(parts[0][0])), encoded[0].shape[1]) * n_repeats * max(len(groups), 1))
    share = most / sum(rows.size for _, rows in parts)
    if share < 1.0:
        few = [
            np.sort(rng.permutation(rows.size)[: max(int(share * rows.size), LEAST_ROWS // len(parts))]) for _, rows in parts
        ]
        parts = [(model, rows[some]) for (model, rows), some in zip(parts, few, strict=True)]
        encoded = [Z[some] for Z, some in zip(encoded, few, strict=True)]
    before = [_losses(ladder, model, Z, y[rows]) for (model, rows), Z in zip(parts, encoded, strict=True)]
    costs = np.zeros((len(groups), sum(rows.size for _, rows in parts)))
    for number, (_, a, b) in enumerate(groups):
        for _ in range(n_repeats):
            after = [
                _losses(ladder, model, _shuffled(Z, a, b, rng), y[rows])
                for (model, rows), Z in zip(parts, encoded, strict=True)
            ]
            costs[number] += np.concatenate(after) - np.concatenate(before)
    return _ranked(groups, costs / n_repeats)


def _ranked(groups: list[Group], costs: FloatArray) -> tuple[Importance, ...]:
    """Return means and errors of costs, shape (columns, n), the largest first."""
    n = costs.shape[1]
    mean, error = costs.mean(axis=1), costs.std(axis=1, ddof=1) / np.sqrt(n)
    evident = mean > stats.t.isf(LEVEL / len(groups), n - 1) * error if groups else np.empty(0)
    found = [Importance(groups[k][0], float(mean[k]), float(error[k]), bool(evident[k])) for k in range(len(groups))]
    return tuple(sorted(found, key=lambda column: -column.cost))


def _losses(ladder: Any, model: Any, Z: Matrix, y: Labels) -> FloatArray:
    """Return the loss of rows Z, shape (n, D), with labels or numbers y, shape (n,)."""
    if not hasattr(ladder, "classes_"):
        return row_losses("rmse", y, model.predict(Z)) / (float(np.var(y)) or 1.0)
    outputs = model.decision_function(Z)
    predicted = (outputs > 0).astype(np.int64) if outputs.ndim == 1 else outputs.argmax(axis=1)
    measure = "accuracy" if ladder.scoring_ == "accuracy" else "balanced_accuracy"
    return row_losses(measure, np.searchsorted(ladder.classes_, y), predicted)


def _unseen(ladder: Any, X: Any, y: Labels, rng: np.random.Generator) -> list[Part]:
    """Return models with rows that they have not learnt from, at most so many in all."""
    models, fold = getattr(ladder, "fold_models_", ()), getattr(ladder, "fold_", None)
    if len(models) and fold is not None:
        sample = _sample(np.arange(ladder.train_.size), rng)
        parts = [(model, sample[fold[sample] == k]) for k, model in enumerate(models)]
        return [(model, ladder.train_[rows]) for model, rows in parts if rows.size]
    apart = np.setdiff1d(ladder.test_, ladder.learnt_)
    if apart.size >= LEAST_ROWS:
        return [(ladder.estimator_, _sample(apart, rng))]
    sample = _sample(ladder.train_, rng)
    if sample.size < 2 * FOLDS:
        return []
    Z, parts = ladder.encode(take(X, sample)), []
    kind = StratifiedKFold if hasattr(ladder, "classes_") else KFold
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes with fewer rows than folds, and of gaps: nothing is claimed of these fits
        for train, test in kind(FOLDS, shuffle=True, random_state=0).split(Z, y[sample]):
            if not hasattr(ladder, "classes_") or np.unique(y[sample[train]]).size == ladder.classes_.size:
                parts.append((clone(ladder.estimator_).fit(Z[train], y[sample[train]]), sample[test]))
    return parts


def _numbers(value: Any) -> int:
    """Count the numbers of all arrays in a model's attributes."""
    if isinstance(value, dict | list | tuple):
        return sum(_numbers(part) for part in (value.values() if isinstance(value, dict) else value))
    if isinstance(value, BaseEstimator):
        return _numbers(vars(value))
    return int(getattr(value, "nnz", value.size if isinstance(value, np.ndarray) else 0))


def _sample(rows: IntArray, rng: np.random.Generator) -> IntArray:
    """Return at most so many of the rows."""
    return rows if rows.size <= MOST_ROWS else np.sort(rng.choice(rows, MOST_ROWS, replace=False))


def _telling(encoded: Matrix, y: Labels, groups: list[Group], ladder: Any) -> list[Group]:
    """Keep the columns whose inputs have the largest F statistic."""
    groups = [group for group in groups if group[2] > group[1]]
    if len(groups) <= MOST_COLUMNS:
        return groups
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns that are constant in the sample: their F is 0 here
        F = np.nan_to_num((f_classif if hasattr(ladder, "classes_") else f_regression)(encoded, y)[0])
    best: IntArray = np.argsort([-F[a:b].max() for _, a, b in groups], kind="stable")[:MOST_COLUMNS]
    return [groups[k] for k in sorted(best.tolist())]


def _shuffled(encoded: Matrix, a: int, b: int, rng: np.random.Generator) -> Matrix:
    """Return the rows with the inputs a..b shuffled among them, together."""
    order = rng.permutation(encoded.shape[0])
    if isinstance(encoded, np.ndarray):
        mixed = encoded.copy()
        mixed[:, a:b] = encoded[order, a:b]
        return mixed
    return sparse.hstack([encoded[:, :a], encoded[order][:, a:b], encoded[:, b:]], format="csr")
