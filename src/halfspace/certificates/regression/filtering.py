"""What an adaptive filter can prove about the errors it made while it learnt, whatever the signal was.

Theorem  A filter makes the errors e_t = y_t - w_t·u_t and moves by  w_(t+1) = w_t + mu_t e_t u_t,  with mu_t ‖u_t‖² <= rho < 2.
         Then for every w*, with  A = ‖w* - w_0‖²,  v_t = y_t - w*·u_t  and  B = Σ mu_t v_t²:

             Σ mu_t e_t²  <=  [ (√B + √(B + (2 - rho) A)) / (2 - rho) ]²

Proof    (w* - w_t)·u_t = e_t - v_t, so one step changes the squared distance to w* by
             ‖w* - w_(t+1)‖² - ‖w* - w_t‖²  =  -2 mu e (e - v) + mu² e² ‖u‖²  <=  -(2 - rho) mu e² + 2 mu e v.
         Sum over t; the left side telescopes to at least -A, and Σ mu e v <= √(S B) with S = Σ mu e² (Cauchy and Schwarz):
             (2 - rho) S  <=  A + 2 √(S B),   a quadratic in √S.  ∎
         (With mu ‖u‖² <= 1 the same line gives  Σ mu (e - v)² <= A + B: Hassibi, Sayed and Kailath 1996, the H∞ bound of LMS.)

The weights at the end serve as w*: in hindsight, how much worse was learning than having known them? Nothing is assumed of
the signals; samples at which the filter was frozen have mu = 0 and count in neither sum. The checker runs the filter again,
sample by sample, in NumPy. Rounding does not grow on the way: a step with mu ‖u‖² < 2 lengthens no difference of weights.

Reference: Cesa-Bianchi, Long and Warmuth 1996 for a constant rate; the form above is for any rates.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import sparse

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.certificates.arithmetic import EPS, as_rows, held, squares
from halfspace.certificates.base import Certificate, Verdict

__all__ = ["FilterBound", "FilterRun", "most_errors"]

BLOCK = 1 << 20
"""Entries of windows laid out at a time."""
VANISHING = 1e-290
"""A window whose squared length is below this holds nothing to learn from."""
SPARE = 1e-9
"""Relative room for the rounding of two different orders of summation over a run."""


class FilterRun(NamedTuple):
    """The sums of a run: Σ e², Σ mu e², Σ mu v² of the final weights, Σ mu y², the largest mu ‖u‖², and Σ mu |e| ‖u‖."""

    energy: float
    errors: float
    noise: float
    signal: float
    rho: float
    path: float = np.inf

    @classmethod
    def of(cls, e: FloatArray, v: FloatArray, y: FloatArray, mu: FloatArray, rho: float) -> Self:
        """Sum up errors, what the final weights leave, observations and steps, each of shape (n,)."""
        errors, noise, signal = (float((mu * part * part).sum()) for part in (e, v, y))
        return cls(float((e * e).sum()), errors, noise, signal, rho)


def most_errors(length: float, noise: float, rho: float) -> float:
    """Return the most that Σ mu e² can be, for A = `length`, B = `noise` and rho < 2, rounded up."""
    root = (np.sqrt(noise) + np.sqrt(noise + (2.0 - rho) * length)) / (2.0 - rho)
    return float(root * root * (1.0 + 0.5 * SPARE))


@dataclass(frozen=True, eq=False)
class FilterBound(Certificate):
    """The errors an adaptive filter made while learning, and the most that the theorem above allows.

    Parameters
    ----------
    energy : float
        Σ e_t², of the errors before each step.
    errors : float
        Σ mu_t e_t².
    noise : float
        Σ mu_t v_t² of the final weights, used from the beginning: what they leave unexplained.
    bound : float
        The most that `errors` could have been.
    weights : ndarray, shape (d, n_taps)
        The filter at the end; it began with zeros.
    samples : int
        How many samples it has seen, from the first.
    normalised : bool
        Whether steps are divided by the squared length of the window (NLMS), or not (LMS).
    rate, delta : float
        Size of the steps; what NLMS adds to the squared length of the window.
    threshold, hangover : float, int
        Frozen where `|y| > threshold max |u|` and for so many samples after; infinite: never.

    Examples
    --------
    >>> X, y = np.array([[2.0], [1.0]]), np.array([6.0, 3.0])
    >>> rule = {"normalised": True, "rate": 1.0, "delta": 0.0, "threshold": np.inf, "hangover": 0}
    >>> proof = FilterBound.measure(X, y, n_taps=1, **rule)
    >>> print(proof, bool(proof.verify(X, y)), bool(proof.verify(X, -y)))
    2 samples: errors of 9 while learning, at most 9 by the theorem for any filter True False
    """

    energy: Annotated[float, "finite >= 0"]
    errors: Annotated[float, "finite >= 0"]
    noise: Annotated[float, "finite >= 0"]
    bound: Annotated[float, "finite >= 0"]
    weights: Annotated[FloatArray, "finite(d,taps)"]
    samples: Annotated[int, "int in 1..9007199254740992"]
    normalised: Annotated[bool, "bool", "asked"]
    rate: Annotated[float, "finite >= 0", "asked"]
    delta: Annotated[float, "finite >= 0", "asked"]
    threshold: Annotated[float, "real >= 0", "asked"]
    hangover: Annotated[int, "int in 0..9007199254740992", "asked"]

    def __str__(self) -> str:
        return (
            f"{self.samples:,} samples: errors of {self.errors:.4g} while learning, "
            f"at most {self.bound:.4g} by the theorem for any filter"
        )

    @classmethod
    def of(cls, run: FilterRun, weights: FloatArray, samples: int, **rule: Any) -> Self:
        """Claim the sums of a run, with the weights (d, n_taps) at its end."""
        bound = most_errors(float(np.square(weights).sum()), run.noise, run.rho)
        return cls(run.energy, run.errors, run.noise, bound, held(weights), samples, **rule)

    @classmethod
    def measure(cls, X: Matrix, y: Labels, *, n_taps: int, **rule: Any) -> Self:
        """Run a filter of n_taps on the inputs X (n, d) and observations y (n,), and claim what it did."""
        X, y = as_rows(X, y)
        shape = np.zeros((X.shape[1], n_taps))
        replay = cls(0.0, 0.0, 0.0, 0.0, shape, X.shape[0], **rule)
        learnt, run = replay.replayed(X, np.asarray(y, dtype=np.float64), known=False)
        return cls.of(run, learnt, X.shape[0], **rule)

    def consistent(self) -> list[tuple[bool, str]]:
        """Check that there are taps, and that normalised steps are below 2."""
        return [
            (self.weights.size > 0, "the filter has no taps"),
            (not self.normalised or self.rate < 2.0, "normalised steps need a rate below 2"),
        ]

    def predictor(self, y: Labels) -> dict[str, Any]:  # noqa: ARG002  (one signature for all)
        """Return the filter."""
        return {"weights": self.weights}

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Run the filter again and compare."""
        d, taps = self.weights.shape
        shaped = Verdict.of(
            (X.shape[1] == d, f"the filter is for {d} inputs, but X has {X.shape[1]}"),
            (X.shape[0] >= self.samples, f"the filter has seen {self.samples:,} samples, but X has {X.shape[0]:,}"),
            (y.dtype.kind in "fiub", "y does not hold numbers"),
        )
        if not shaped:
            return shaped
        y = np.asarray(y[: self.samples], dtype=np.float64)
        learnt, run = self.replayed(X[: self.samples], y)
        length = float(np.square(self.weights).sum())
        bound = most_errors(length, run.noise, run.rho) if run.rho < 2.0 else np.inf
        # No ‖w_t‖² on the way exceeds this: the proof above with w* = 0.
        peak = 2.0 * np.sqrt(run.errors) * np.sqrt(run.signal)
        reached = min(run.path, max(np.sqrt(peak), float(np.abs(learnt).max())))  # squares of small weights underflow
        rounding = np.square(8.0 * (d * taps + self.samples) * EPS)
        tiny = rounding * (run.signal + self.samples * run.rho * (peak + length))
        loud = rounding * (float((y * y).sum()) + peak * taps * float(squares(X[: self.samples]).sum()))
        return Verdict.of(
            (run.rho < 2.0, f"a step has mu ‖u‖² = {run.rho:.3g}; the theorem needs less than 2"),
            (bool(np.abs(learnt - self.weights).max() <= SPARE * reached), "the filter does not end with these weights"),
            (_close(self.energy, run.energy, loud), f"the energy of the errors is {run.energy:.6g}, not {self.energy:.6g}"),
            (_close(self.errors, run.errors, tiny), f"the errors are {run.errors:.6g}, not {self.errors:.6g}"),
            (_close(self.noise, run.noise, tiny), f"the noise is {run.noise:.6g}, not {self.noise:.6g}"),
            (_close(self.bound, bound, tiny), f"the bound is {bound:.6g}, not {self.bound:.6g}"),
            (self.errors <= self.bound, "the errors exceed their bound"),
        )

    def replayed(self, X: Matrix, y: FloatArray, *, known: bool = True) -> tuple[FloatArray, FilterRun]:
        """Run the filter; return the weights (d, n_taps) it ends with, and the sums, with v by the `known` ones or by those."""
        d, taps = self.weights.shape
        lengths = [(np.einsum("ij,ij->i", u, u), np.abs(u).max(axis=1)) for u in _windows(X, taps)]
        q, largest = (np.concatenate(parts) for parts in zip(*lengths, strict=True))
        mu = self._steps(y, q, largest)
        w, e, t = np.zeros(taps * d), y.copy(), 0
        for windows in _windows(X, taps):
            for u in windows:
                e[t] -= u @ w
                if mu[t]:
                    w += (mu[t] * e[t]) * u
                t += 1
        final = self.weights.T[::-1].ravel() if known else w
        v = y - np.concatenate([windows @ final for windows in _windows(X, taps)])
        run = FilterRun.of(e, v, y, mu, float((mu * q).max()))
        return w.reshape(taps, d)[::-1].T, run._replace(path=float((mu * np.abs(e) * np.sqrt(q)).sum()))

    def _steps(self, y: FloatArray, q: FloatArray, largest: FloatArray) -> FloatArray:
        """Return mu_t for every sample; it depends on the signals alone."""
        t = np.arange(y.size)
        talking = np.abs(y) > self.threshold * largest if self.threshold < np.inf else np.zeros(y.size, dtype=bool)
        last = np.maximum.accumulate(np.where(talking, t, -self.hangover - 1))
        length = q + self.delta if self.normalised else np.ones(y.size)
        moving = (t - last > self.hangover) & (length > VANISHING)
        return np.divide(self.rate, length, out=np.zeros(y.size), where=moving)


def _windows(X: Matrix, taps: int) -> Iterator[FloatArray]:
    """Yield the windows of X (n, d) in blocks of shape (m, taps d), oldest sample first; before the first there is silence."""
    n, d = X.shape
    step = max(1, BLOCK // (taps * d))
    past = np.zeros((taps - 1, d))
    for first in range(0, n, step):
        block: Any = X[first : first + step]
        rows = block.toarray() if sparse.issparse(block) else block
        joined = np.concatenate([past, rows.astype(np.float64, copy=False)])
        past = joined[rows.shape[0] :]
        yield sliding_window_view(joined.ravel(), taps * d)[::d]


def _close(claimed: float, found: float, tiny: float = 0.0) -> bool:
    """Tell whether two sums of squares agree up to rounding; `tiny` is the square of what rounding adds to a root of them."""
    room = SPARE * found + 2.0 * np.sqrt(found) * np.sqrt(tiny) + tiny
    return bool(np.isfinite(found) and np.isfinite(room) and abs(claimed - found) <= room)
