"""Better than chance? What the folds prove about a ladder that tries several rungs and keeps the best.

Problem    A rung is better than the best constant prediction (the largest class, the mean) on new rows: is there evidence, or
           is it the luck of these rows and of having tried several rungs?
Test       Row i was predicted by a model that had not seen it. Its gain d_i is the loss of the best constant minus the loss of
           the rung. t = mean(d)/s with  s² = (Σ (d_i - mean)² + max d²)/(n (n - 1)),  as if one more row had gone as far astray
           as any: without it a few rows that are all right would have no variance. All rungs are judged on the same rows, so
           the largest of their t is compared with the largest of R Student variables that have the same correlations (Westfall
           and Young, 1993, single step). That holds the level of the whole ladder; alike rungs cost little.
Constant   The best one in hindsight, from the labels of all rows at once. The majority of a fold's training rows would be an
           easier rival: in stratified folds of odd classes it is the class that the fold has fewer of.
Overlap    Folds learn from each other's rows. In noise a score is a sum of terms y_i y_j k(x_i, x_j), each of which comes
           twice, once with i held out and once with j, so its variance is twice that of as many independent terms. Against a
           constant the gains of rows of different classes differ in their mean, and s² contains this difference: between two
           equal classes it is again the double. `python -m benchmarks noise` measures the level that is left.
Numbers    Squared errors have long tails, and few rows hardly reach the level by them. So numbers are also judged by the
           correlation r of predictions and targets: t = r √((n - 2)/(1 - r²))/√2, the root for the double variance above, times
           the number of rungs (Bonferroni), for rungs whose mean gain is positive. Two classes are judged so too, by their
           outputs, for rungs whose gain is above its standard error. Either test may find evidence; `python -m benchmarks
           noise` measures the level of both together.
Centre     Columns are centred on all rows before they are cut into folds. With about as many inputs as rows, what a model says
           of a fold's rows then has a fixed sum: one row of each fold tells nothing new. So many rows are taken off the
           number that a test believes in (`lost`), and correlations are judged as if of half the rest.
Passes     Repeated passes through the folds are averaged row by row before all this: they are no new evidence.
Folds      A measure that is no mean over rows (the area under a ROC curve) has m scores, one per fold. Their differences have
           the variance  s² (1/m + 1/(n_splits - 1))  (Nadeau and Bengio, 2003, section 3: the rows tested on over those learnt
           from), with n_splits - 1 degrees of freedom.
"""

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from halfspace._typing import FloatArray, Labels

__all__ = [
    "LEVEL",
    "Difference",
    "Evidence",
    "compare_in_folds",
    "compare_numbers",
    "compare_rows",
    "constant_losses",
    "paired_error",
    "row_losses",
]

LEVEL = 0.025
"""One-sided level of the whole ladder."""
DRAWS = 20_000
"""Draws of the largest of several correlated Student variables; the seed is fixed."""
SMALLEST = 1e-12
"""Least probability that a logarithmic loss believes."""


class Evidence(NamedTuple):
    """Which rungs are better than the best constant prediction.

    Parameters
    ----------
    gains, errors : ndarray, shape (R,)
        Mean gain of each rung over the constant, and its standard error, in units of the loss.
    p_values : ndarray, shape (R,)
        How often noise would show such a gain in at least one of the R rungs: corrected for having tried them all.
    level : float
        Nominal level of the claim.
    """

    gains: Annotated[FloatArray, "f8(_r)"]
    errors: Annotated[FloatArray, "f8(_r)"]
    p_values: Annotated[FloatArray, "f8(_r)"]
    level: float = LEVEL

    @property
    def supported(self) -> NDArray[np.bool_]:
        """Which rungs are reliably better than the constant, shape (R,): only they may win over it."""
        found: NDArray[np.bool_] = self.p_values <= self.level
        return found

    @property
    def claimed(self) -> bool:
        """Whether any rung is."""
        return bool(self.supported.any())

    def __str__(self) -> str:
        tried = "a single rung" if self.p_values.size == 1 else f"one of {self.p_values.size} rungs"
        if not self.p_values.size:
            return "Nothing was compared with a constant prediction."
        p = float(self.p_values.min())
        chance = "fewer than 1 in 1,000 tables" if p < 1e-3 else f"{100 * p:.{1 if p < 0.1 else 0}f} % of tables"
        if self.claimed:
            return f"Better than a constant prediction: by chance {tried} would look so good in {chance}."
        return (
            f"Nothing here is reliably better than a constant prediction: by chance {tried} would look as good in "
            f"{chance}, and at most {100 * self.level:.1f} % count as evidence."
        )


class Difference(NamedTuple):
    """How much worse a rung is than another on the same rows: mean difference of the losses, and its standard error."""

    mean: float
    error: float

    @property
    def within_one_error(self) -> bool:
        """Whether the rung is within one standard error of the other, or better: a single row's difference is its own error."""
        return self.mean <= self.error * (1.0 + 1e-9)

    def __str__(self) -> str:
        return f"{self.mean:+.4f} ± {self.error:.4f} on the same rows"


def row_losses(measure: str, truth: Labels, predicted: Labels) -> FloatArray:
    """Return the loss of every row, shape (n,), whose mean is what the measure is about.

    Parameters
    ----------
    measure : {"accuracy", "balanced_accuracy", "log_loss", "rmse", "r2", "mae"}
        Wrong or right; the same with weights n/(K n_class), whose mean is one minus the balanced accuracy; the negative
        logarithm of the probability of the label; squares, for "r2" divided by the variance of the truth; absolute values.
    truth : ndarray, shape (n,)
        Class numbers 0..K-1, or numbers.
    predicted : ndarray, shape (n,) or (n, K) or (passes, n) or (passes, n, K)
        Predicted class numbers, or numbers, or for "log_loss" probabilities; several passes are averaged.

    Examples
    --------
    >>> import numpy as np
    >>> row_losses("balanced_accuracy", np.array([0, 0, 0, 1]), np.array([0, 0, 1, 0])).round(2)
    array([0.  , 0.  , 0.67, 2.  ])
    """
    truth = np.asarray(truth)
    if measure == "log_loss":
        chances = np.asarray(predicted, dtype=np.float64)
        own = np.take_along_axis(chances, np.broadcast_to(truth[:, None], (*chances.shape[:-1], 1)), axis=-1)[..., 0]
        losses = -np.log(np.maximum(own, SMALLEST))
    elif measure in {"rmse", "r2"}:
        losses = (np.asarray(predicted, dtype=np.float64) - truth) ** 2 / ((np.var(truth) or 1.0) if measure == "r2" else 1.0)
    elif measure == "mae":
        losses = np.abs(np.asarray(predicted, dtype=np.float64) - truth)
    else:
        losses = (np.asarray(predicted) != truth) * _weights(measure, truth)
    mean: FloatArray = np.atleast_2d(losses).mean(axis=0)
    return mean


def _weights(measure: str, truth: Labels) -> FloatArray:
    """Return the weights of rows with class numbers, shape (n,): 1, or n/(K n_class)."""
    if measure == "accuracy":
        return np.ones(truth.size)
    if measure != "balanced_accuracy":
        msg = f"the measure {measure!r} is no mean over rows; compare its scores in folds (compare_in_folds)"
        raise ValueError(msg)
    counts = np.bincount(truth)
    weights: FloatArray = truth.size / (np.count_nonzero(counts) * counts[truth])
    return weights


def constant_losses(measure: str, truth: Labels) -> FloatArray:
    """Return the losses of the best constant prediction in hindsight, shape (n,).

    Parameters are those of `row_losses`: the largest class, the shares of the classes, the mean, or the median.

    Examples
    --------
    >>> import numpy as np
    >>> constant_losses("accuracy", np.array([0, 1, 1])), constant_losses("rmse", np.array([0.0, 1.0, 5.0]))
    (array([1., 0., 0.]), array([4., 1., 9.]))
    """
    truth = np.asarray(truth)
    if measure in {"rmse", "r2", "mae"}:
        centre = np.median(truth) if measure == "mae" else np.mean(truth)
        return row_losses(measure, truth, np.full(truth.size, centre))
    counts = np.bincount(truth)
    if measure == "log_loss":
        return row_losses(measure, truth, np.tile(counts / truth.size, (truth.size, 1)))
    return row_losses(measure, truth, np.full(truth.size, counts.argmax()))


def compare_rows(losses: FloatArray, constant: FloatArray, level: float = LEVEL, lost: int = 0) -> Evidence:
    """Decide which rungs are better than a constant prediction, by the losses of rows that were not learnt from.

    Parameters
    ----------
    losses : ndarray, shape (R, n)
        Out-of-fold losses of each rung, the mean over the passes; NaN where a row was not predicted. The constant itself is not
        among the rungs.
    constant : ndarray, shape (n,)
        Those of the best constant (`constant_losses`).
    level : float, default LEVEL
        One-sided level of the whole ladder.
    lost : int, default 0
        Rows that tell nothing new: the folds of a pass, where there are about as many inputs as rows.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.arange(100) % 2
    >>> coin = np.random.default_rng(1).integers(0, 2, 100)
    >>> rungs = np.stack([row_losses("accuracy", truth, guess) for guess in (coin, np.where(coin + truth > 0, truth, 1))])
    >>> evidence = compare_rows(rungs, constant_losses("accuracy", truth))
    >>> evidence.supported, evidence.gains.round(2)
    (array([False,  True]), array([0.06, 0.22]))
    """
    gains = np.asarray(constant, dtype=np.float64) - np.atleast_2d(np.asarray(losses, dtype=np.float64))
    seen = np.isfinite(gains)
    n = seen.sum(axis=1)
    if not gains.size or n.min() < 2 + lost:
        return Evidence(np.zeros(len(gains)), np.full(len(gains), np.inf), np.ones(len(gains)), level)
    gains = np.where(seen, gains, 0.0)
    mean = gains.sum(axis=1) / n
    centred = np.where(seen, gains - mean[:, None], 0.0)
    squares = (centred**2).sum(axis=1)
    error = np.sqrt((squares + (gains**2).max(axis=1)) / ((n - lost) * (n - 1.0)))
    return Evidence(mean, error, _largest(mean, error, centred, int(n.min()) - 1 - lost), level)


def compare_numbers(
    losses: FloatArray, constant: FloatArray, predicted: FloatArray, y: FloatArray, least: float = 0.0, lost: int = 0
) -> Evidence:
    """Decide which rungs predict numbers better than a constant: by their losses, or by their correlation with the targets.

    Parameters
    ----------
    losses, constant : ndarray, shapes (R, n) and (n,)
        As for `compare_rows`.
    predicted : ndarray, shape (R, n)
        Out-of-fold predictions, the mean over the passes; NaN where a row was not predicted.
    y : ndarray, shape (n,)
        The targets; of two classes 0 and 1.
    least : float, default 0.0
        Standard errors that the mean gain must be above for the correlation to count.
    lost : int, default 0
        As for `compare_rows`.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.arange(12.0)
    >>> predicted = y + np.tile([1.0, -1.0, 0.5], 4)
    >>> compare_numbers([(predicted - y) ** 2], constant_losses("rmse", y), [predicted], y).supported
    array([ True])
    """
    by_rows = compare_rows(losses, constant, lost=lost)
    p_values = np.array([_by_correlation(np.asarray(one, dtype=np.float64), y, lost) for one in predicted]) * len(predicted)
    p_values = np.where(by_rows.gains > np.maximum(least * by_rows.errors, 0.0), np.minimum(p_values, 1.0), 1.0)
    return by_rows._replace(p_values=np.minimum(by_rows.p_values, p_values))


def _by_correlation(predicted: FloatArray, y: FloatArray, lost: int) -> float:
    """Return how often noise would be as correlated with the targets, shape (n,), as predictions are."""
    seen = np.isfinite(predicted)
    a, b, n = predicted[seen] - predicted[seen].mean(), y[seen] - y[seen].mean(), int(seen.sum())
    size = float(np.sqrt(a @ a) * np.sqrt(b @ b))
    if n < 3 or not size > 0.0:
        return 1.0
    r = min(float(a @ b) / size, 1.0 - 1e-12)
    if lost:
        half = 0.5 * (n - lost) - 2.0
        return float(stats.t.sf(r * np.sqrt(half / (1.0 - r * r)), half)) if half > 0.0 else 1.0
    return float(stats.t.sf(r * np.sqrt((n - 2) / (1.0 - r * r)) / np.sqrt(2.0), n - 2))


def compare_in_folds(scores: FloatArray, constant: FloatArray, n_splits: int, level: float = LEVEL) -> Evidence:
    """Decide which rungs are better than a constant prediction, by scores of folds: for measures that are no mean over rows.

    Parameters
    ----------
    scores : ndarray, shape (R, m)
        Of each rung in each fold of each pass; larger is better.
    constant : ndarray, shape (m,)
        Scores of the constant in the same folds, e.g. 0.5 for the area under a ROC curve.
    n_splits : int
        Folds of one pass; m is a multiple of it.
    level : float, default LEVEL
        One-sided level of the whole ladder.

    Examples
    --------
    >>> import numpy as np
    >>> evidence = compare_in_folds([[0.71, 0.78, 0.74, 0.69, 0.75], [0.5, 0.6, 0.4, 0.7, 0.5]], np.full(5, 0.5), n_splits=5)
    >>> evidence.supported
    array([ True, False])
    """
    gains = np.atleast_2d(np.asarray(scores, dtype=np.float64)) - np.asarray(constant, dtype=np.float64)
    mean, m = gains.mean(axis=1), gains.shape[1]
    centred = gains - mean[:, None]
    variance = (centred**2).sum(axis=1) / (m - 1)
    error = np.sqrt(variance * (1.0 / m + 1.0 / (n_splits - 1)))
    return Evidence(mean, error, _largest(mean, error, centred, n_splits - 1), level)


def _largest(mean: FloatArray, error: FloatArray, centred: FloatArray, freedom: int) -> FloatArray:
    """Return for each mean how often the largest of R Student variables, correlated as the centred rows are, is above it."""
    t = np.where(mean > 0, mean / np.where(error > 0, error, np.finfo(float).tiny), 0.0)
    lengths = np.sqrt((centred**2).sum(axis=1, keepdims=True))
    directions = centred / np.where(lengths > 0, lengths, 1.0)
    correlation = directions @ directions.T
    np.fill_diagonal(correlation, 1.0)
    values, vectors = np.linalg.eigh(correlation)
    rng = np.random.default_rng(0)
    normal = rng.standard_normal((DRAWS, t.size)) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    largest = np.sort(normal.max(axis=1) / np.sqrt(rng.chisquare(freedom, DRAWS) / freedom))
    above = DRAWS - np.searchsorted(largest, t, side="left")
    # One rung alone is known exactly, and is never less likely than any of several: draws do not reach far into the tail.
    return np.where(t > 0, np.maximum((above + 1.0) / (DRAWS + 1.0), stats.t.sf(t, freedom)), 1.0)


def paired_error(losses: FloatArray, best: FloatArray) -> Difference:
    """Compare a rung with the best one on the rows that both predicted.

    Parameters
    ----------
    losses, best : ndarray, shape (n,)
        Out-of-fold losses of the rung and of the best one; NaN where a row was not predicted. With scores of folds instead, m
        per rung, give their negatives.

    Returns
    -------
    Difference
        Positive if the rung is worse. The standard error is that of the paired differences: what both get wrong alike does not
        count, so rungs that err on the same rows are told apart by much less than the error of either score.

    Examples
    --------
    >>> import numpy as np
    >>> both_wrong = np.repeat([1.0, 0.0], [30, 70])
    >>> also_wrong = np.where(np.arange(100) < 32, 1.0, 0.0)
    >>> print(paired_error(also_wrong, both_wrong))
    +0.0200 ± 0.0141 on the same rows
    """
    worse = np.asarray(losses, dtype=np.float64) - np.asarray(best, dtype=np.float64)
    worse = worse[np.isfinite(worse)]
    if worse.size < 2:
        return Difference(float(worse.sum()), np.inf)
    return Difference(float(worse.mean()), float(worse.std(ddof=1) / np.sqrt(worse.size)))
