"""Would more labels help: a learning curve measured on the rows there are, carried on to more rows, with an interval.

Measure    In each repeat the rows are shuffled; the first m are learnt from, all others predicted, for growing m. e_ik is the
           share of wrong answers on row i at size k.
Errors     Rows are the clusters: the means at all sizes are of the same rows, so their covariance is cov(e_i)/n, and repeats
           add their spread over their number on the diagonal. Without this, intervals are far too narrow. One row in n
           more, at all sizes alike: no error in n rows does not mean that there is none.
Curve      error(m) = a + b (m + j d)^-c  with d inputs, c in {½, 1} and j in {0, ½, 1, 2, 4}: the exponents of learning theory
           (1 without noise, ½ with it), shifted by the inputs, below which theory has another regime. The usual exponent that
           is fitted as well is not known well enough from one decade of sizes.
Answer     Bayes: for every (c, j) a flat prior over 0 <= a <= 0.6 and b >= 0 (at most error 1 at the smallest size), Gaussian
           errors; the ten are weighed by their evidence. The interval is that of the expected error at the size asked for.

It is statistics, not a proof: rows must be drawn like those that will come, and the curve may have steps that no small sample
shows.
"""

import time
import warnings
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.certificates.arithmetic import as_rows
from halfspace.errors import InputError

__all__ = ["Extrapolation", "LearningCurve"]

EXPONENTS, SHIFTS = (0.5, 1.0), (0.0, 0.5, 1.0, 2.0, 4.0)
HIGHEST = 0.6
"""Largest error that unlimited data can leave."""
GRID = 120
HELD = {2: (17, 20), 4: (18, 20), 10: (17, 20)}
"""Intervals of level 0.9 that held, of those tried, at multiples of the rows, on ten published sets: the kept
run of `benchmarks/learning_curves.py`, with which a test compares."""
FEWEST = 40
"""Rows below which there is no curve to speak of."""


@dataclass(frozen=True)
class Extrapolation:
    """The expected error of a model that learns from n rows.

    Parameters
    ----------
    n : int
        Rows.
    error, low, high : float
        Median and interval of the expected error.
    level : float
        Nominal level of the interval.
    n_now, error_now : int, float
        Rows there are, and the expected error with that many.
    """

    n: int
    error: float
    low: float
    high: float
    level: float
    n_now: int
    error_now: float

    @property
    def record(self) -> str:
        """How often such intervals held on test sets, at the nearest multiple of the rows that was tried."""
        factor = min(HELD, key=lambda tried: abs(np.log(tried * self.n_now / self.n)))
        held, tried = HELD[factor]
        return f"Such intervals (nominally 90 %) held {held} times in {tried} at {factor} times the rows, on ten test sets."

    def __str__(self) -> str:
        interval = f"{100 * self.low:.1f} to {100 * self.high:.1f} %"
        gain = self.error_now - self.high
        worth = "more rows help" if gain > 0.0 else "more rows may or may not help"
        if self.error_now - self.low < 0.01:
            worth = "more rows hardly help: at most a point"
        return (
            f"From {self.n_now:,} to {self.n:,} rows: error {100 * self.error_now:.1f} % -> {interval} "
            f"({100 * self.level:g} % interval); {worth}."
        )


class LearningCurve(BaseEstimator):  # type: ignore[misc]  # (scikit-learn's classes carry no types)
    """How the error of a classifier falls with the number of rows, beyond those there are.

    Parameters
    ----------
    estimator : classifier
        A clone of it learns from every sample.
    n_repeats : int, default 25
        Random orders of the rows.
    n_sizes : int, default 8
        Sizes between a twelfth and four fifths of the rows.
    max_time : float, optional
        Time limit in seconds. At least three repeats are made; an estimator with a `max_time` of None gets its share for each
        fit, so that they end in time.
    random_state : int or None, default 0
        Random seed.

    Attributes
    ----------
    sizes_ : ndarray, shape (K,)
        Rows learnt from.
    errors_, standard_errors_ : ndarray, shape (K,)
        Mean error at each size, and its standard error.
    covariance_ : ndarray, shape (K, K)
        Covariance of the mean errors.
    n_repeats_ : int
        Repeats made.

    Examples
    --------
    >>> import halfspace as hs
    >>> toy = hs.data.teacher_student(200, 5, random_state=0)
    >>> curve = hs.LearningCurve(hs.AdaTron(), n_repeats=5).fit(toy.X, toy.y)
    >>> found = curve.predict(2000)
    >>> bool(found.low < found.error < found.high < curve.errors_[0])
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        n_repeats: int = 25,
        n_sizes: int = 8,
        max_time: float | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.estimator = estimator
        self.n_repeats = n_repeats
        self.n_sizes = n_sizes
        self.max_time = max_time
        self.random_state = random_state

    def fit(self, X: Matrix, y: Labels) -> Self:
        """Measure the curve on rows X, shape (n, d), with labels y, shape (n,)."""
        began = time.perf_counter()
        for name, least in (("n_repeats", 3), ("n_sizes", 4)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
                msg = f"The {name!r} parameter of LearningCurve must be a whole number >= {least}. Got {value!r} instead."
                raise InputError(msg)
        X, y = as_rows(X, y)
        n = y.size
        if n < FEWEST or np.unique(y).size < 2:
            msg = f"LearningCurve needs at least {FEWEST} rows of at least two classes. Got {n} rows of {np.unique(y).size}."
            raise InputError(msg)
        until = began + (np.inf if self.max_time is None else float(self.max_time))
        self.sizes_ = np.unique(np.geomspace(max(n // 12, 8), 0.8 * n, self.n_sizes).astype(np.int64))
        self.n_features_in_, self.n_rows_ = int(X.shape[1]), n
        rng = np.random.default_rng(self.random_state)
        wrong, told, means = np.zeros((n, self.sizes_.size)), np.zeros((n, self.sizes_.size)), []
        longest = 0.0
        for repeat in range(int(self.n_repeats)):
            now = time.perf_counter()
            if repeat >= 3 and now + longest >= until:
                break
            means.append(self._repeat(X, y, _order(y, rng), wrong, told, (until - now) / max(3 - repeat, 1)))
            longest = max(longest, time.perf_counter() - now)
        self.n_repeats_ = len(means)
        e = np.where(told > 0, wrong / np.maximum(told, 1.0), np.nan)
        self.errors_ = np.nanmean(e, axis=0)
        e = np.where(np.isnan(e), self.errors_, e)
        spread = np.var(np.array(means), axis=0, ddof=1) / self.n_repeats_
        self.covariance_ = np.cov(e.T) / n + np.diag(spread + 1e-9) + 1.0 / n**2
        self.standard_errors_ = np.sqrt(self.covariance_.diagonal())
        return self

    def _repeat(self, X: Matrix, y: Labels, order: IntArray, wrong: FloatArray, told: FloatArray, seconds: float) -> FloatArray:
        """Learn from the first rows of an order, at every size; count wrong answers on the others, and return their shares."""
        shares, model = np.empty(self.sizes_.size), clone(self.estimator)
        if np.isfinite(seconds) and model.get_params().get("max_time", 0.0) is None:
            model.set_params(max_time=max(seconds / self.sizes_.size, 1e-3))
        for k, m in enumerate(self.sizes_.tolist()):
            own, others = order[:m], order[m:]
            with _quietly(seconds):
                missed = clone(model).fit(X[own], y[own]).predict(X[others]) != y[others]
            wrong[others, k] += missed
            told[others, k] += 1.0
            shares[k] = missed.mean()
        return shares

    def predict(self, n: int, level: float = 0.9) -> Extrapolation:
        """Return the expected error after learning from n rows, with an interval.

        Parameters
        ----------
        n : int
            Rows, at least as many as the smallest size measured.
        level : float, default 0.9
            Nominal level of the interval.
        """
        check_is_fitted(self, "errors_")
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < self.sizes_[0]:
            msg = f"LearningCurve.predict: 'n' must be a whole number of at least {self.sizes_[0]}. Got {n!r} instead."
            raise InputError(msg)
        if not isinstance(level, float) or not 0.0 < level < 1.0:
            msg = f"LearningCurve.predict: 'level' must be between 0 and 1. Got {level!r} instead."
            raise InputError(msg)
        weights, now, then = self._posterior(int(n))
        low, error, high = _quantiles(then, weights, ((1.0 - level) / 2.0, 0.5, (1.0 + level) / 2.0))
        (error_now,) = _quantiles(now, weights, (0.5,))
        return Extrapolation(int(n), error, low, high, level, self.n_rows_, error_now)

    def _posterior(self, n: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return points of the posterior of all curves: their weights, and the errors at the present size and at n."""
        inverse: FloatArray = np.linalg.inv(self.covariance_).astype(np.float64)
        parts = [self._of_curve(c, j * self.n_features_in_, inverse, n) for c in EXPONENTS for j in SHIFTS]
        logs, now, then = (np.concatenate(part) for part in zip(*parts, strict=True))
        return np.exp(logs - logs.max()), now, then

    def _of_curve(self, c: float, shift: float, inverse: FloatArray, n: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return, on a grid of a and b, the logarithm of the posterior, and the errors at the present size and at n."""
        first = self.sizes_[0] + shift

        def fall(m: Any) -> Any:
            return ((m + shift) / first) ** -c

        Phi = np.stack([np.ones(self.sizes_.size), fall(self.sizes_)], axis=1)
        V = np.linalg.inv(Phi.T @ inverse @ Phi + 1e-9 * np.eye(2))
        best, wide = V @ (Phi.T @ inverse @ self.errors_), 6.0 * np.sqrt(V.diagonal())
        axes, cell = [], 1.0
        for k, most in enumerate((HIGHEST, 1.0)):
            low, high = max(0.0, best[k] - wide[k]), min(most, best[k] + wide[k])
            low, high = (low, high) if high > low else (0.0, most)
            axes.append(np.linspace(low, high, GRID))
            cell *= high - low
        a, b = (axis.ravel() for axis in np.meshgrid(*axes, indexing="ij"))
        rest = self.errors_ - a[:, None] - b[:, None] * Phi[:, 1]
        logs = -0.5 * np.einsum("ij,jk,ik->i", rest, inverse, rest) + np.log(cell)
        return logs, a + b * fall(self.n_rows_), a + b * fall(n)


def _quietly(seconds: float) -> Any:
    """Keep fits with a limit from warning, one by one, that they were stopped by it."""
    if np.isfinite(seconds):
        return warnings.catch_warnings(action="ignore", category=ConvergenceWarning)
    return nullcontext()


def _order(y: Labels, rng: np.random.Generator) -> IntArray:
    """Return the rows in random order, classes spread evenly, one of each first: a sample has its shares of all classes."""
    place = np.empty(y.size)
    for label in np.unique(y):
        own = np.flatnonzero(y == label)
        turn = np.arange(own.size)
        place[rng.permutation(own)] = (turn + rng.random() * (turn > 0)) / own.size
    return np.argsort(place, kind="stable")


def _quantiles(values: FloatArray, weights: FloatArray, shares: tuple[float, ...]) -> list[float]:
    """Return weighted quantiles."""
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    return [float(values[order[min(np.searchsorted(total, q * total[-1]), order.size - 1)]]) for q in shares]
