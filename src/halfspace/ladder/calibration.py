"""Probabilities from outputs: monotone in the output, and never at odds with the prediction.

Two classes   p(x) = σ(a f(x)) with one slope a > 0 where f > 0 and another where f <= 0: p is 1/2 exactly where the prediction
              changes, so the more probable class is the predicted one by construction.
More classes  p(x) = softmax(a f(x)) with one slope: the largest output has the largest probability.
Slopes        are those of least cross-entropy on outputs for rows that the model had not seen, with smoothed targets
              (Platt, 1999: (right + 1)/(all + 2)), so they stay finite where no error was seen.
"""

from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_expit, logsumexp, softmax

from halfspace._typing import FloatArray, IntArray

__all__ = ["Calibration"]

WIDEST = 12.0
"""Slopes are sought from e^-12 to e^12 times the inverse of the outputs' spread."""


class Calibration(NamedTuple):
    """Slopes of the probabilities.

    Parameters
    ----------
    below, above : float
        For outputs up to 0, and above; with more than two classes `above` is the only one.

    Examples
    --------
    >>> f = np.array([-2.0, -1.0, 1.0, 2.0])
    >>> fair = Calibration.of(f, np.array([0, 1, 0, 1]))
    >>> P = fair.probabilities(f)
    >>> bool((np.diff(P[:, 1]) >= 0).all()), bool(((P[:, 1] > 0.5) == (f > 0)).all())
    (True, True)
    """

    below: float
    above: float

    @classmethod
    def of(cls, outputs: FloatArray, target: IntArray) -> Self:
        """Fit to outputs, shape (n,) or (n, K), of unseen rows and their class numbers, shape (n,); NaN rows are left out."""
        seen = np.isfinite(outputs if outputs.ndim == 1 else outputs.sum(axis=1))
        outputs, target = outputs[seen], target[seen]
        if outputs.ndim == 2:
            return cls(0.0, _softmax_slope(outputs, target))
        y = 2.0 * target - 1.0
        return cls(_slope((y * outputs)[outputs <= 0], np.abs(outputs)), _slope((y * outputs)[outputs > 0], np.abs(outputs)))

    def probabilities(self, outputs: FloatArray) -> FloatArray:
        """Return the probabilities of the classes, shape (n, K)."""
        if outputs.ndim == 2:
            return _largest_first(softmax(self.above * outputs, axis=1), outputs)
        upper = expit(np.where(outputs > 0, self.above, self.below) * outputs)
        upper = np.where(outputs > 0, np.maximum(upper, np.nextafter(0.5, 1.0)), np.minimum(upper, 0.5))
        return np.stack([1.0 - upper, upper], axis=1)


def _slope(E: FloatArray, sizes: FloatArray) -> float:
    """Return the slope of least cross-entropy for potentials E = y f of one sign of f."""
    right, wrong = int((E > 0).sum()), int((E <= 0).sum())
    target = np.where(E > 0, (right + 1.0) / (right + 2.0), 1.0 / (wrong + 2.0))
    size = np.abs(E)
    if not size.any():
        return 1.0 / (float(sizes.mean()) if sizes.any() else 1.0)

    def entropy(log_slope: float) -> float:
        z = np.exp(log_slope) * size
        return -float(np.sum(target * log_expit(z) + (1.0 - target) * log_expit(-z)))

    return _least(entropy, float(size.mean()))


def _softmax_slope(outputs: FloatArray, target: IntArray) -> float:
    """Return the slope of least cross-entropy for outputs of K classes."""
    if not target.size:
        return 1.0
    n, K = outputs.shape
    smooth = np.full((n, K), 1.0 / (n + K))
    smooth[np.arange(n), target] = (n + 1.0) / (n + K)
    spread = float(np.ptp(outputs, axis=1).mean()) or 1.0

    def entropy(log_slope: float) -> float:
        z = np.exp(log_slope) * outputs
        return -float(np.sum(smooth * (z - logsumexp(z, axis=1, keepdims=True))))

    return _least(entropy, spread)


def _least(entropy: Callable[[float], float], spread: float) -> float:
    """Return the slope at which a convex entropy of its logarithm is least."""
    centre = -np.log(spread)
    found = minimize_scalar(entropy, bounds=(centre - WIDEST, centre + WIDEST), method="bounded")
    return float(np.exp(found.x))


def _largest_first(P: FloatArray, outputs: FloatArray) -> FloatArray:
    """Make the class of the largest output strictly the most probable, where rounding has made it a tie."""
    rows, best = np.arange(P.shape[0]), outputs.argmax(axis=1)
    top = P.max(axis=1)
    tied = P.argmax(axis=1) != best
    P[rows[tied], best[tied]] = np.nextafter(top[tied], np.inf)
    return P
