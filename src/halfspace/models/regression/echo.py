"""How much of an echo a canceller takes away, in decibels and in words."""

import numpy as np

from halfspace._typing import FloatArray
from halfspace.errors import InputError
from halfspace.solvers.linear.adaptive_filter import LONGEST, Filtered, Rule
from halfspace.solvers.outcome import Outcome

__all__ = ["erle", "how_it_went"]

SILENCE = 1e-8
"""Power, relative to the mean, below which a stretch of a signal counts as silent."""


def erle(observed: FloatArray, residual: FloatArray, window: int) -> FloatArray:
    """Echo return loss enhancement in decibels, 10 log10(mean y² / mean e²), window by window.

    Parameters
    ----------
    observed : ndarray, shape (n,)
        The signal with the echo.
    residual : ndarray, shape (n,)
        What the canceller left of it.
    window : int
        Samples per window; the last one takes what remains.

    Returns
    -------
    ndarray, shape (ceil(n / window),)
        NaN where the observed signal is silent (80 dB below its mean power), infinite where nothing is left of it.

    Examples
    --------
    >>> erle(np.array([1.0, -1.0, 0.0, 0.0]), np.array([0.1, 0.1, 0.0, 0.0]), 2).round(6).tolist()
    [20.0, nan]
    """
    observed, residual = np.asarray(observed, dtype=np.float64), np.asarray(residual, dtype=np.float64)
    if observed.ndim != 1 or observed.shape != residual.shape or observed.size == 0:
        shapes = f"{observed.shape} and {residual.shape}"
        msg = f"erle compares two signals of the same length; got shapes {shapes}. Pass 1-d arrays, sample for sample."
        raise InputError(msg)
    if not isinstance(window, int | np.integer) or window < 1:
        msg = f"erle: window must be a whole number of samples >= 1. Got {window!r} instead."
        raise InputError(msg)
    starts = np.arange(0, observed.size, int(window))
    count = np.diff(np.append(starts, observed.size))
    before, after = (np.add.reduceat(np.square(part), starts) / count for part in (observed, residual))
    silent = before <= SILENCE * np.square(observed).mean()
    with np.errstate(divide="ignore", invalid="ignore"):
        level: FloatArray = 10.0 * np.log10(before / after)
    level[silent] = np.nan
    return level


def how_it_went(run: Filtered, y: FloatArray, rule: Rule) -> Outcome:
    """Say how much a run of a filter left of y (n,), and what to do if it made it worse.

    Examples
    --------
    >>> from halfspace.solvers.linear.adaptive_filter import Filtering, begin, run_through
    >>> run = run_through(Filtering(Rule(), np.ones((2, 1)), np.array([2.0, 1.0])), begin(1, 1))
    >>> print(how_it_went(run, np.array([2.0, 1.0]), Rule()))
    2 samples, each seen once; what is left of y is 1.0 dB weaker than y.
    """
    done, longest = run.errors.size, float(run.stream.tally[LONGEST])
    left, whole = float(np.square(run.errors).sum()), float(np.square(y[:done]).sum())
    unsafe = not rule.normalised and rule.rate * longest > 2.0
    if run.blown or (unsafe and left > whole):
        fate = ", and the filter was set back to zeros" if run.blown else ""
        safe = (
            f"Use eta0={1.0 / longest:.3g}, which is safe for these signals, or variant='nlms'."
            if unsafe and longest < 1e50
            else ""
        )
        sentence = f"Diverged: eta0={rule.rate:g} is too long a step where ‖window‖² reaches {longest:.3g}{fate}."
        return Outcome("diverged", sentence, safe or "Scale the signals to numbers around 1.")
    sentence = f"{done:,} samples, each seen once; {_compared(whole, left)}."
    if run.reason == "passes done":
        return Outcome("passes done", sentence)
    remedy = f"Go on with partial_fit(X[{done}:], y[{done}:])."
    return Outcome(run.reason, f"Stopped after {done:,} of {y.size:,} samples ({run.reason}): {sentence}", remedy)


def _compared(whole: float, left: float) -> str:
    """Say how the energy that is left of a signal compares with the whole."""
    if whole == 0.0 or left == 0.0:
        return "y is silent" if whole == 0.0 else "nothing of y is left"
    level = 10.0 * np.log10(whole / left)
    return f"what is left of y is {abs(level):.1f} dB {'weaker' if level >= 0 else 'louder'} than y"
