"""Probabilities from outputs: log-odds that rise with the output, fitted freely.

Two classes   p(x) = σ(h(f(x)) + b_1 - b_0), with h piecewise linear and nowhere falling.
More classes  p_k(x) ∝ exp(h(f_k(x)) + b_k): one curve for all outputs, one offset per class.
Limit         (1 - ε) p + ε π with the shares π of the classes and ε = 1/(n + 2): no output, however large, is surer than
              the n rows can tell.
Fit           by least cross-entropy on outputs for rows that the model had not seen. Up to 8 knots lie at quantiles of these
              outputs, both classes weighing the same. A penalty of 1 on squared differences of neighbouring log-slopes keeps
              the curve from bending without need, as does one on the offsets of more than two classes. Targets are smoothed by
              half a row per class (Jeffreys; Platt, 1999, takes a whole one), so that slopes stay finite where no error was
              seen.

Nothing ties p = 1/2 to f = 0: where classes are weighted or rare, the two have nothing to do with each other. Which label
follows from the probabilities is the business of the operating point. Calibrations of earlier versions are in `calibration`.
"""

from typing import Annotated, NamedTuple, Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from halfspace._typing import FloatArray, IntArray, Labels
from halfspace.certificates.calibration import ENOUGH, SMALLEST

__all__ = ["LogOdds"]

KNOTS = 8
LARGEST = 1e300
"""Bound of log-odds: differences of such numbers are finite."""
DIGITS, NEAR = 1e-9, 1e-3
"""What shares and log-odds may differ by from those of a new fit, which ends near the same place."""
STEEPEST = 12.0
"""Bound of log-slopes, in units of a quarter of the way from the first knot to the last."""


class LogOdds(NamedTuple):
    """Log-odds as a function of the output.

    Parameters
    ----------
    knots : ndarray, shape (m,)
        Outputs between which the curve is straight, ascending, m >= 2; beyond the first and the last it goes on as before.
    slopes : ndarray, shape (m - 1,)
        Of the pieces between them, none negative; at the first knot the curve is 0.
    offsets : ndarray, shape (K,)
        Added for each class.
    shares : ndarray, shape (K,)
        Shares of the classes.
    noise : float
        Part ε of every probability that is the share of the class.

    Examples
    --------
    >>> import numpy as np
    >>> outputs, target = np.array([-3.0, -2.0, -1.0, 0.0, 1.0]), np.array([0, 0, 0, 1, 0])
    >>> fair = LogOdds.of(outputs, target)
    >>> P = fair.probabilities(outputs)
    >>> bool((np.diff(P[:, 1]) > 0).all()), float(P[:, 1].mean().round(2))
    (True, 0.23)
    """

    knots: Annotated[FloatArray, "finite8(_m)"]
    slopes: Annotated[FloatArray, "finite8(_r) >= 0"]
    offsets: Annotated[FloatArray, "finite8(c)"]
    shares: Annotated[FloatArray, "finite8(c) >= 0"]
    noise: Annotated[float, "finite in 0..1"]

    @classmethod
    def of(cls, outputs: FloatArray, target: IntArray, *, anchored: bool = False) -> Self:
        """Fit to outputs, shape (n,) or (n, K), of unseen rows and their class numbers, shape (n,); NaN rows are left out.

        `anchored`: the most probable class is that of the largest output, or of the side of 0: there are no offsets, and the
        limit of the probabilities is even.
        """
        seen = np.flatnonzero(np.isfinite(outputs if outputs.ndim == 1 else outputs.sum(axis=1)))
        seen = seen[:: max(1, seen.size * outputs[:1].size // ENOUGH)]
        outputs, target = outputs[seen], target[seen]
        n, K = target.size, 2 if outputs.ndim == 1 else outputs.shape[1]
        own = np.arange(K) == target[:, None]
        shares = np.full(K, 1.0 / K) if anchored else (own.sum(axis=0) + 0.5) / (n + 0.5 * K)
        knots = _knots(outputs, own[:, 1] if outputs.ndim == 1 else own)
        if knots.size < 2:  # nothing to learn from the outputs, if there are any
            slopes, offsets = (np.zeros(1), np.log(shares)) if n and not anchored else (np.ones(1), np.zeros(K))
            return cls(np.array([0.0, 1.0]), slopes, offsets, shares, 1.0 / (n + 2.0))
        unit = 0.25 * (knots[-1] - knots[0])
        pieces = _pieces(outputs, knots)
        if anchored:
            start = _pieces(np.zeros_like(outputs[:1]), knots)
            slopes, _ = _least_entropy((pieces - start) / unit, _smoothed(own), anchored=True)
            offsets = -(start @ (slopes / unit))[0]
            return cls(knots, slopes / unit, offsets - offsets[0], shares, 1.0 / (n + 2.0))
        slopes, offsets = _least_entropy(pieces / unit, _smoothed(own))
        return cls(knots, slopes / unit, offsets, shares, 1.0 / (n + 2.0))

    def probabilities(self, outputs: FloatArray) -> FloatArray:
        """Return the probabilities of the classes, shape (n, K)."""
        with np.errstate(over="ignore", invalid="ignore"):
            odds = np.clip(_pieces(outputs, self.knots) @ self.slopes, -LARGEST, LARGEST) + self.offsets
        P: FloatArray = (1.0 - self.noise) * softmax(odds, axis=1) + self.noise * self.shares
        return P

    def sound(self, classes: int) -> bool:
        """Tell whether this is a calibration of so many classes: knots ascend, and the curve does not fall."""
        sized = self.knots.ndim == 1 and self.slopes.shape == (self.knots.size - 1,) and self.slopes.size > 0
        sized = sized and self.offsets.shape == self.shares.shape == (classes,)
        if not sized or not all(np.isfinite(part).all() for part in self):
            return False
        rising = (np.diff(self.knots) > 0).all() and (self.slopes >= 0).all()
        return bool(rising and 0.0 <= self.noise < 1.0 and (self.shares >= 0).all() and abs(self.shares.sum() - 1.0) < 1e-6)

    def agrees(self, outputs: FloatArray, target: IntArray, *, anchored: bool = False) -> bool:
        """Tell whether this is the calibration that outputs and class numbers make, also for outputs beyond them."""
        if outputs.shape[0] != target.size:
            return False
        again = type(self).of(outputs, target, anchored=anchored)
        if not self.sound(again.offsets.size):
            return False
        seen = outputs[np.isfinite(outputs if outputs.ndim == 1 else outputs.sum(axis=1))]
        ends = [end(seen, axis=0, keepdims=True) for end in (np.min, np.max)] if len(seen) else [seen, seen]
        probes = np.concatenate([seen, 2.0 * ends[0] - ends[1], 2.0 * ends[1] - ends[0]])
        P, Q = self.probabilities(probes), again.probabilities(probes)
        limits = np.append(self.shares, self.noise), np.append(again.shares, again.noise)
        return bool(np.allclose(*limits, rtol=DIGITS, atol=0.0) and (abs(P - Q) <= NEAR * Q * (1.0 - Q) + DIGITS).all())


def _pieces(outputs: FloatArray, knots: FloatArray) -> FloatArray:
    """Return how far each output has come on each piece of the curve, shape (n, K, m - 1); of two classes 0 for the first."""
    low, high = np.append(-np.inf, knots[1:-1]), np.append(knots[1:-1], np.inf)
    ways: FloatArray = np.clip(outputs[..., None], low, high) - np.clip(knots[0], low, high)
    return ways if outputs.ndim == 2 else np.stack([np.zeros_like(ways), ways], axis=1)


def _spread(outputs: FloatArray) -> float:
    """Return the standard deviation of outputs of any size."""
    largest = float(np.abs(outputs).max(initial=0.0))
    return float(np.std(outputs / largest)) * largest if largest >= SMALLEST else 0.0


def _knots(outputs: FloatArray, own: Labels) -> FloatArray:
    """Return quantiles of the outputs, own class and others weighing the same; none if all outputs are equal."""
    f, own = outputs.ravel(), own.ravel()
    if _spread(f) < SMALLEST:
        return f[:0]
    weight = np.where(own, 1.0 / max(own.sum(), 1), 1.0 / max((~own).sum(), 1))
    order = np.argsort(f, kind="stable")
    below = np.cumsum(weight[order])
    places = np.searchsorted(below, below[-1] * (np.arange(KNOTS) + 0.5) / KNOTS)
    knots = np.unique(f[order][places])
    return knots if knots.size > 1 else np.array([f.min(), f.max()])


def _smoothed(own: Labels) -> FloatArray:
    """Return targets, shape (n, K), that leave half a row of every class to the others."""
    n, K = own.shape
    counts = own.sum(axis=0)
    found: FloatArray = np.where(own, n + 1.0 / K, 1.0 / K) / (n + 1.0)
    if K == 2:
        found = np.where(own, (counts + 0.5) / (counts + 1.0), 0.5 / (counts[::-1] + 1.0))
    return found


def _least_entropy(pieces: FloatArray, targets: FloatArray, *, anchored: bool = False) -> tuple[FloatArray, FloatArray]:
    """Return the slopes of the pieces, shape (r,), and the offsets, shape (K,), of least penalised cross-entropy."""
    (n, K), r = targets.shape, pieces.shape[2]
    flat, held = pieces.reshape(n * K, r), float(K > 2)

    def entropy(at: FloatArray) -> tuple[float, FloatArray]:
        slopes, offsets, bends = np.exp(at[:r]), at[r:], np.diff(at[:r])
        logs = log_softmax((flat @ slopes).reshape(n, K) + offsets, axis=1)
        wrong = np.exp(logs) - targets
        value = -np.sum(targets * logs) + bends @ bends + held * offsets @ offsets
        of_bends = 2.0 * (np.append(0.0, bends) - np.append(bends, 0.0))
        return float(value), np.append(slopes * (flat.T @ wrong.ravel()) + of_bends, wrong.sum(axis=0) + 2.0 * held * offsets)

    bounds = [(-STEEPEST, STEEPEST)] * r + [(0.0, 0.0) if anchored else (None, None)] * K
    options = {"maxiter": 1000, "maxfun": 2000, "ftol": 1e-11, "gtol": 1e-6}
    found = minimize(entropy, np.zeros(r + K), jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    return np.exp(found[:r]), found[r:]
