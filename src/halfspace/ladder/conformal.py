"""Intervals for numbers and sets of classes that hold the truth as often as they say: cross-validation+.

Given    n rows in m folds; for each fold k a model µ_k learnt from the rows outside it; a new row x, target y; α = 1 - level.
Scores   R_i = s_k(x_i, y_i), i in fold k, with s_k(x, y) = |y - µ_k(x)| / σ_k(x) for numbers, and for classes how far the
         largest output of another class is above that of y.
Rule     y belongs to the answer unless at least (1 - α)(n + 1) rows i have R_i < s_k(x, y), k the fold of i. For numbers this
         is within [j-th smallest µ_k(x) - R_i σ_k(x), j-th largest µ_k(x) + R_i σ_k(x)], j = floor(α (n + 1)).
Theorem  If all rows, old and new, are exchangeable and s_k is a symmetric function of the rows outside fold k alone, the answer
         holds y with probability at least 1 - 2α - min(2 (1 - 1/m) / (n/m + 1), (1 - m/n) / (m + 1)) (folds of equal size).
         Where the models of the folds are alike it is about 1 - α. It is an average over rows, no promise for a kind of row.
Reference  Barber, Candès, Ramdas and Tibshirani (2021), theorem 4; for classes Romano, Sesia and Candès (2020).

Why σ may be learnt. The proof compares row i of fold k with the new row through s_k, and swaps the two: s_k must have seen
neither. µ_k has not seen fold k. The usual out-of-fold residuals of the other rows have: they come from models that learnt from
fold k. So σ_k is learnt from residuals of µ_k itself on the rows outside fold k: leave-one-out residuals where the model has
them, else those of the fit. These may be too small, but a constant factor cancels, and only their pattern counts. What is
larger than the answer keeps the guarantee: an interval may be widened, a class may be added.

What the theorem does not cover: that the kind of model was chosen by the scores of these same folds, and that stratified folds
follow the labels. Both are mild (one choice among few; classes spread evenly), and held-out rows measure what they cost.

A target learnt by its logarithm is scored by its logarithm, and the interval's ends are mapped back: the same event.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from halfspace import LinearRegression
from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.errors import InputError

__all__ = ["Difficulty", "Intervals", "Sets", "predictions_of", "proved_level", "rows_needed"]

MOST_COLUMNS = 50
"""With more columns than this the difficulty of a row is learnt from its prediction alone."""
ENOUGH = 5_000
"""Rows that a difficulty is learnt from; of more a random sample."""
FURTHEST, STEEPEST = 3.0, math.log(5.0)
"""Features of the difficulty count up to so many deviations from their mean, and change a width by at most a factor of five."""
LEAST_RESIDUAL = 0.1
"""Residuals count as at least this share of the median one: the logarithm of a lucky hit says nothing."""
BLOCK, HALVINGS = 1 << 14, 60
"""New rows treated at a time; halvings of a bracket after which its ends differ by rounding."""


class Difficulty(NamedTuple):
    """How the spread of the errors depends on a row, for each fold: log σ = Σ w_j (features), bounded.

    The features are the prediction and the columns, standardised by the rows outside the fold, and their absolute values.

    Parameters
    ----------
    centre, scale : ndarray, shape (m, f)
        Of the prediction and of f - 1 columns.
    weights : ndarray, shape (m, 2f)
        Of the features and of their absolute values.
    """

    centre: Annotated[FloatArray, "finite8(_m,_f)"]
    scale: Annotated[FloatArray, "finite8(_m,_f) > 0"]
    weights: Annotated[FloatArray, "finite8(_m,_w)"]

    @classmethod
    def of(cls, y: FloatArray, predictions: FloatArray, fold: IntArray, Z: Matrix) -> Self:
        """Learn from the rows outside each fold; see `Intervals.of`."""
        parts = []
        for k in range(predictions.shape[1]):
            rows = _sample(np.flatnonzero((fold != k) & np.isfinite(predictions[:, k])), k)
            parts.append(_spread_of(y[rows] - predictions[rows, k], _features(predictions[rows, k], Z[rows])))
        centres, scales, weights = zip(*parts, strict=True)
        return cls(np.stack(centres), np.stack(scales), np.stack(weights))

    def at(self, predictions: FloatArray, Z: Matrix, k: int) -> FloatArray:
        """Return σ_k of rows, shape (n,), from the predictions of model k, shape (n,), and the rows."""
        inputs = _features(predictions, Z) if self.centre.shape[1] > 1 else predictions[:, None]
        sigma: FloatArray = np.exp(
            np.clip(_pairs(inputs, self.centre[k], self.scale[k]) @ self.weights[k], -STEEPEST, STEEPEST)
        )
        return sigma


@dataclass(frozen=True, eq=False)
class Intervals:
    """What prediction intervals need beside the models of the folds.

    Parameters
    ----------
    scores : ndarray, shape (n,)
        Errors of the rows as shares of σ, by models that had not seen them: fold after fold, sorted within each.
    sizes : ndarray, shape (m,)
        Rows of each fold.
    difficulty : Difficulty
        σ for each fold.
    logarithm : bool
        Whether errors are those of the logarithm of the target.

    Examples
    --------
    >>> import numpy as np, halfspace as hs
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.uniform(-2.0, 2.0, (300, 1))
    >>> y = Z[:, 0] + (0.1 + Z[:, 0] ** 2) * rng.standard_normal(300)
    >>> fold = np.arange(300) % 5
    >>> models = [hs.LinearRegression().fit(Z[fold != k], y[fold != k]) for k in range(5)]
    >>> intervals = Intervals.of(y, predictions_of(models, Z, fold), fold, Z)
    >>> new = np.array([[0.0], [2.0]])
    >>> low, high = intervals.between(np.stack([model.predict(new) for model in models], axis=1), new, 0.9)
    >>> (high - low).round(1).tolist()
    [1.6, 6.4]
    """

    scores: Annotated[FloatArray, "finite8(_n) >= 0"]
    sizes: Annotated[IntArray, "i8(_m) >= 0"]
    difficulty: Difficulty
    logarithm: bool = False

    def fits(self, m: int, width: int) -> bool:
        """Tell whether this is about m folds and rows of so many columns."""
        f = self.difficulty.centre.shape[1]
        features = f == 1 or (f == 1 + width and width <= MOST_COLUMNS)
        return features and self.difficulty.weights.shape[1] == 2 * f and _are_of_folds(self.scores, self.sizes, m)

    @classmethod
    def of(cls, y: FloatArray, predictions: FloatArray, fold: IntArray, Z: Matrix, *, logarithm: bool = False) -> Self:
        """Score every row by the model that had not seen it.

        Parameters
        ----------
        y : ndarray, shape (n,)
            Targets.
        predictions : ndarray, shape (n, m)
            Of each fold's model for every row, in the units of the target, as `predictions_of` makes them: in column
            `fold[i]` for a row that the model has not seen. A row without this one (NaN) is left out.
        fold : ndarray, shape (n,)
            Fold of each row, 0 to m - 1.
        Z : array or CSR matrix, shape (n, D)
            The rows as the models see them.
        logarithm : bool, default False
            Score the logarithm of the target, which must be positive like all predictions.
        """
        if logarithm:
            y, predictions = np.log(y), np.log(predictions)
        own = predictions[np.arange(y.size), fold]
        rows = np.flatnonzero(np.isfinite(own))
        difficulty = Difficulty.of(y[rows], predictions[rows], fold[rows], Z[rows])
        lists = []
        for k in range(predictions.shape[1]):
            held = rows[fold[rows] == k]
            lists.append(np.sort(np.abs(y[held] - own[held]) / difficulty.at(own[held], Z[held], k)))
        return cls(np.concatenate(lists), np.array([part.size for part in lists], dtype=np.int64), difficulty, logarithm)

    def between(self, predictions: FloatArray, Z: Matrix, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper ends for new rows, each of shape (n_new,).

        Parameters
        ----------
        predictions : ndarray, shape (n_new, m)
            Of each fold's model, in the units of the target.
        Z : array or CSR matrix, shape (n_new, D)
            The new rows as the models see them.
        level : float
            Share of the rows that the interval is to hold, such as 0.9.
        """
        left_out = _rows_left_out(level, self.scores.size, "an interval")
        low, high = np.empty(predictions.shape[0]), np.empty(predictions.shape[0])
        parts = _by_fold(self.scores, self.sizes)
        for block in _blocks(predictions.shape[0]):
            mu = np.log(predictions[block]) if self.logarithm else predictions[block]
            sigma = np.stack([self.difficulty.at(mu[:, k], Z[block], k) for k in range(mu.shape[1])], axis=1)
            rank = self.scores.size + 1 - left_out
            low[block], high[block] = -_ranked(-mu, sigma, parts, rank), _ranked(mu, sigma, parts, rank)
        return (np.exp(low), np.exp(high)) if self.logarithm else (low, high)


@dataclass(frozen=True, eq=False)
class Sets:
    """What sets of classes need beside the models of the folds.

    The score of a class is how far the largest output of another class is above its own: small where the class is likely. It
    needs no probabilities, hence none that were calibrated on the rows to be scored.

    Parameters
    ----------
    scores : ndarray, shape (n,)
        Scores of the rows' own classes, by models that had not seen them: fold after fold, sorted within each.
    sizes : ndarray, shape (m,)
        Rows of each fold.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> target, fold = np.arange(300) % 2, np.arange(300) // 60
    >>> outputs = 2.0 * target - 1.0 + rng.standard_normal(300)
    >>> sets = Sets.of(outputs, target, fold)
    >>> sets.members(np.array([[-3.0] * 5, [0.0] * 5]), 0.9).tolist()
    [[True, False], [True, True]]
    """

    scores: Annotated[FloatArray, "finite8(_n)"]
    sizes: Annotated[IntArray, "i8(_m) >= 0"]

    def fits(self, m: int, width: int) -> bool:  # noqa: ARG002  (as for intervals)
        """Tell whether this is about m folds."""
        return _are_of_folds(self.scores, self.sizes, m)

    @classmethod
    def of(cls, outputs: FloatArray, target: IntArray, fold: IntArray) -> Self:
        """Score every row by the model that had not seen it.

        Parameters
        ----------
        outputs : ndarray, shape (n,) for two classes or (n, K)
            Of the model that has not seen the row; the larger, the likelier the class (of two, the second). Rows with NaN are
            left out.
        target, fold : ndarray, shape (n,)
            Class, 0 to K - 1, and fold, 0 to m - 1, of each row.
        """
        own = _behind(outputs)[np.arange(target.size), target]
        lists = [np.sort(own[(fold == k) & np.isfinite(own)]) for k in range(int(fold.max()) + 1)]
        return cls(np.concatenate(lists), np.array([part.size for part in lists], dtype=np.int64))

    def members(self, outputs: FloatArray, level: float) -> Any:
        """Return which classes belong to the sets of new rows, bool, shape (n_new, K); no set is empty.

        Parameters
        ----------
        outputs : ndarray, shape (n_new, m) for two classes or (n_new, m, K)
            Of each fold's model.
        level : float
            Share of the rows whose set is to hold their class, such as 0.9.
        """
        rank = self.scores.size + 1 - _rows_left_out(level, self.scores.size, "a set")
        parts = _by_fold(self.scores, self.sizes)
        found = []
        for block in _blocks(outputs.shape[0]):
            lower = sum(np.searchsorted(part, _behind(outputs[block, k])) for k, part in enumerate(parts))
            found.append((lower < rank) | (lower == np.min(lower, axis=1, keepdims=True)))
        return np.concatenate(found) if found else np.zeros((0, 2 if outputs.ndim == 2 else outputs.shape[2]), dtype=bool)


def _are_of_folds(scores: FloatArray, sizes: IntArray, m: int) -> bool:
    """Tell whether there are scores for each of m >= 1 folds of these sizes."""
    return 1 <= m == sizes.size and sum(sizes.tolist()) == scores.size


def predictions_of(models: Sequence[Any], Z: Matrix, fold: IntArray) -> FloatArray:
    """Return what each fold's model says of rows, shape (n, m): of those it has seen by leave-one-out, if it has that.

    Of very many rows that it has seen it is asked for a random sample, as many as a difficulty is learnt from; the rest is NaN.

    Parameters
    ----------
    models : sequence of m estimators
        Model k has learnt from rows outside fold k; if it has `left_out_` for all of them, in the order of the rows.
    Z : array or CSR matrix, shape (n, D)
        The rows as the models see them.
    fold : ndarray, shape (n,)
        Fold of each row, 0 to m - 1.
    """
    found = np.full((fold.size, len(models)), np.nan)
    for k, model in enumerate(models):
        rows, seen = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        left_out = getattr(model, "left_out_", None)
        if left_out is not None and left_out.shape == seen.shape:
            found[seen, k] = left_out
        else:
            rows = np.concatenate([rows, _sample(seen, k)])
        if rows.size:
            found[rows, k] = model.predict(Z[rows])
    return found


def rows_needed(level: float) -> int:
    """Return how many rows an interval or a set of a level needs at least.

    Examples
    --------
    >>> [rows_needed(level) for level in (0.8, 0.9, 0.95, 0.99)]
    [4, 9, 19, 99]
    """
    return math.ceil(1.0 / (1.0 - level) - 1e-9) - 1


def proved_level(level: float, n: int, m: int) -> float:
    """Return the share that the theorem guarantees for n rows in m folds, whatever the data and the models.

    Examples
    --------
    >>> round(proved_level(0.9, 1000, 5), 3)
    0.792
    """
    alpha = 1.0 - level
    return 1.0 - 2.0 * alpha - max(0.0, min(2.0 * (1.0 - 1.0 / m) / (n / m + 1.0), (1.0 - m / n) / (m + 1.0)))


def _rows_left_out(level: float, n: int, what: str) -> int:
    """Return j = floor((1 - level)(n + 1)); refuse a level that n rows cannot give."""
    if not 0.0 < level < 1.0:
        msg = f"The level of {what} must be above 0 and below 1, such as 0.9. Got {level!r} instead."
        raise InputError(msg)
    if n < rows_needed(level):
        needed = f"needs at least {rows_needed(level):,} rows to learn from, and there are {n:,}: lower the level."
        msg = f"{what.capitalize()} of level {level:g} {needed}"
        raise InputError(msg)
    return math.floor((1.0 - level) * (n + 1) + 1e-9)


def _sample(rows: IntArray, k: int) -> IntArray:
    """Return enough of the rows outside fold k for its difficulty: drawn at random, since the theorem wants symmetry."""
    return rows if rows.size <= ENOUGH else np.sort(np.random.default_rng(k).choice(rows, ENOUGH, replace=False))


def _features(predictions: FloatArray, Z: Matrix) -> FloatArray:
    """Return predictions and, unless there are too many, columns, shape (n, f)."""
    if Z.shape[1] > MOST_COLUMNS:
        return predictions[:, None]
    return np.column_stack([predictions, Z.toarray() if sparse.issparse(Z) else Z])


def _pairs(inputs: FloatArray, centre: FloatArray, scale: FloatArray) -> FloatArray:
    """Return standardised inputs and their absolute values, shape (n, 2f)."""
    standard = np.clip((inputs - centre) / scale, -FURTHEST, FURTHEST)
    return np.hstack([standard, np.abs(standard)])


def _spread_of(residuals: FloatArray, inputs: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return centre, scale and weights of log |residual|, by the ridge that leave-one-out chooses: large without a pattern."""
    largest = np.abs(inputs).max(axis=0, initial=0.0)
    unit = np.where(largest > 0.0, largest, 1.0)  # squares of the inputs themselves might overflow, or vanish
    centre, scale = unit * (inputs / unit).mean(axis=0), unit * (inputs / unit).std(axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    size = np.abs(residuals)
    if not size.any() or size.size < 3:
        return centre, scale, np.zeros(2 * centre.size)
    logs = np.log(np.maximum(size, LEAST_RESIDUAL * np.median(size[size > 0.0])))
    return centre, scale, LinearRegression(ridge="cv").fit(_pairs(inputs, centre, scale), logs).coef_


def _behind(outputs: FloatArray) -> FloatArray:
    """Return how far each class is behind the best other one, shape (n, K), from outputs of shape (n,) or (n, K)."""
    if outputs.ndim == 1:
        outputs = np.stack([-outputs, outputs], axis=1)
    second, first = np.partition(outputs, -2, axis=1)[:, -2:].T[:, :, None]
    behind: FloatArray = np.where(outputs == first, second, first) - outputs
    return behind


def _by_fold(scores: FloatArray, sizes: IntArray) -> list[FloatArray]:
    return np.split(scores, np.cumsum(sizes)[:-1])


def _blocks(n: int) -> Iterator[slice]:
    return (slice(begin, begin + BLOCK) for begin in range(0, n, BLOCK))


def _ranked(mu: FloatArray, sigma: FloatArray, parts: list[FloatArray], rank: int) -> FloatArray:
    """Return for each new row the value of that rank among all µ_k + R_i σ_k, shape (n_new,), by halving a bracket of values.

    The largest of the folds' values of rank ceil(rank·n_k/n) has at least `rank` values at or below it, and the smallest of
    those of rank floor(rank·n_k/n) has fewer below it: they are the first bracket. A row is done when exactly `rank` values
    are at or below the upper end.
    """
    filled = [k for k, part in enumerate(parts) if part.size]
    mu, sigma, parts = mu[:, filled], sigma[:, filled], [parts[k] for k in filled]
    n = sum(part.size for part in parts)

    def at(whole: Callable[[float], int]) -> Any:
        """Return each fold's values of about its share of the rank, shape (n_new, m)."""
        return mu + sigma * np.array([part[min(max(whole(rank * part.size / n), 1), part.size) - 1] for part in parts])

    def count(rows: Any, value: FloatArray) -> IntArray:
        """Return how many values of each fold are at most `value`, shape (rows, m)."""
        places = (value[:, None] - mu[rows]) / sigma[rows]
        return np.stack([np.searchsorted(part, places[:, k], side="right") for k, part in enumerate(parts)], axis=1)

    high: FloatArray = at(math.ceil).max(axis=1)
    low: FloatArray = at(math.floor).min(axis=1)
    high += 4.0 * np.spacing(np.abs(high))  # a value at the end itself is counted, whatever its rounding
    open_rows = np.arange(high.size)
    for _ in range(HALVINGS):
        middle = low[open_rows] + 0.5 * (high[open_rows] - low[open_rows])
        counted = count(open_rows, middle).sum(axis=1)
        enough = counted >= rank
        high[open_rows[enough]], low[open_rows[~enough]] = middle[enough], middle[~enough]
        open_rows = open_rows[counted != rank]
        if not open_rows.size:
            break
    counts = count(slice(None), high)
    best = np.stack([part[np.maximum(counts[:, k] - 1, 0)] for k, part in enumerate(parts)], axis=1)
    values = np.where(counts > 0, mu + sigma * best, -np.inf)
    largest: FloatArray = values.max(axis=1)
    return largest
