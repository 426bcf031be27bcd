"""Probabilities from outputs: monotone in the output, and never at odds with the prediction.

Two classes   p(x) = (1 - ε) σ(a f(x)) + ε/2, with one pair (a > 0, 0 <= ε <= 0.999) where f > 0 and another where f <= 0: p is
              1/2 exactly where the prediction changes, so the more probable class is the predicted one by construction.
More classes  p(x) = (1 - ε) softmax(a f(x)) + ε/K: the largest output has the largest probability.
Reading       a share ε of the labels is thrown at random, and no output, however large, is surer than that.
Fit           by least cross-entropy on outputs for rows that the model had not seen, with smoothed targets (Platt, 1999:
              (right + 1)/(right + 2)), so that a stays finite where no error was seen.
"""

from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, softmax

from halfspace._typing import FloatArray, IntArray

__all__ = ["Calibration", "Curve"]

ENOUGH = 50_000
"""Outputs used for the fit; more are thinned out evenly."""
SMALLEST = 1e-280
"""Spread of outputs below which a slope would not be finite."""


class Curve(NamedTuple):
    """Slope a and share ε of one curve."""

    slope: float
    noise: float

    def of_sigmoid(self, outputs: FloatArray) -> FloatArray:
        """Return (1 - ε) σ(a f) + ε/2."""
        with np.errstate(over="ignore"):
            p: FloatArray = (1.0 - self.noise) * expit(self.slope * outputs) + self.noise / 2.0
        return p

    def of_softmax(self, outputs: FloatArray) -> FloatArray:
        """Return (1 - ε) softmax(a f) + ε/K, shape (n, K)."""
        with np.errstate(over="ignore", invalid="ignore"):
            differences = outputs - outputs.max(axis=1, keepdims=True)
            p: FloatArray = (1.0 - self.noise) * softmax(self.slope * differences, axis=1) + self.noise / outputs.shape[1]
        return p


class Calibration(NamedTuple):
    """Curves of the probabilities.

    Parameters
    ----------
    below, above : Curve
        For outputs up to 0, and above; with more than two classes both are the same.
    """

    below: Curve
    above: Curve

    @classmethod
    def of(cls, outputs: FloatArray, target: IntArray) -> Self:
        """Fit to outputs, shape (n,) or (n, K), of unseen rows and their class numbers, shape (n,); NaN rows are left out."""
        seen = np.flatnonzero(np.isfinite(outputs if outputs.ndim == 1 else outputs.sum(axis=1)))
        seen = seen[:: max(1, seen.size * outputs[:1].size // ENOUGH)]
        outputs, target = outputs[seen], target[seen]
        if outputs.ndim == 2:
            curve = _softmax_curve(outputs, target)
            return cls(curve, curve)
        right = (outputs > 0) == (target == 1)
        size = np.abs(outputs)
        return cls(*(_sigmoid_curve(size[side], right[side]) for side in (outputs <= 0, outputs > 0)))

    def probabilities(self, outputs: FloatArray) -> FloatArray:
        """Return the probabilities of the classes, shape (n, K)."""
        if outputs.ndim == 2:
            return _largest_first(self.above.of_softmax(outputs), outputs)
        upper = np.where(outputs > 0, self.above.of_sigmoid(outputs), self.below.of_sigmoid(outputs))
        upper = np.where(outputs > 0, np.maximum(upper, np.nextafter(0.5, 1.0)), np.minimum(upper, 0.5))
        return np.stack([1.0 - upper, upper], axis=1)


def _sigmoid_curve(size: FloatArray, right: IntArray) -> Curve:
    """Return the curve of least cross-entropy for the sizes |f| of one sign, and whether the sign was right."""
    n_right, n_wrong = int(right.sum()), int(right.size - right.sum())
    target = np.where(right, (n_right + 1.0) / (n_right + 2.0), 1.0 / (n_wrong + 2.0))

    def entropy(curve: Curve) -> float:
        p = curve.of_sigmoid(size)
        return -float(np.sum(target * np.log(p) + (1.0 - target) * np.log1p(-np.minimum(p, 1.0 - 1e-15))))

    return _least(entropy, float(size.mean()) if size.size else 0.0)


def _softmax_curve(outputs: FloatArray, target: IntArray) -> Curve:
    """Return the curve of least cross-entropy for outputs of K classes."""
    n = outputs.shape[0]
    rows = np.arange(n)

    def entropy(curve: Curve) -> float:
        p = np.maximum(curve.of_softmax(outputs), 1e-15)
        own = np.log(p[rows, target])
        return -float(np.sum(own) + np.log(p).sum() / n - own.sum() / n)  # a little of every class

    return _least(entropy, float(np.ptp(outputs, axis=1).mean()) if n else 0.0)


def _least(entropy: Callable[[Curve], float], spread: float) -> Curve:
    """Return the curve at which an entropy is least; without outputs to learn from, a gentle one."""
    if spread < SMALLEST:
        return Curve(1.0, 0.0)
    unit = 1.0 / spread

    def curve(at: FloatArray) -> Curve:
        return Curve(float(unit * np.exp(np.clip(at[0], -12.0, 12.0))), 0.999 * float(expit(at[1])))

    found = minimize(lambda at: entropy(curve(at)), np.array([0.7, -3.0]), method="Nelder-Mead", options={"maxfev": 200})
    return curve(found.x)


def _largest_first(P: FloatArray, outputs: FloatArray) -> FloatArray:
    """Make the class of the largest output strictly the most probable, where rounding has made it a tie."""
    rows, best = np.arange(P.shape[0]), outputs.argmax(axis=1)
    top = P.max(axis=1)
    tied = P.argmax(axis=1) != best
    P[rows[tied], best[tied]] = np.nextafter(top[tied], np.inf)
    return P
