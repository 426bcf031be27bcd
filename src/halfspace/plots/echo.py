"""The picture of echo cancellation."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from halfspace._typing import FloatArray
from halfspace.errors import InputError
from halfspace.models.regression.adaptive_filter import erle
from halfspace.plots.axes import class_colours, place

__all__ = ["EchoDisplay"]


@dataclass
class EchoDisplay:
    """Echo return loss enhancement over time: by how many decibels cancellers reduce the observed signal.

    Parameters
    ----------
    time : ndarray, shape (m,)
        Middle of each window, in seconds, or in samples.
    levels : dict of str to ndarray, shape (m,)
        Decibels of each canceller by its name; NaN where the observed signal is silent.
    unit : str
        What `time` counts.

    Examples
    --------
    >>> y = np.ones(400)
    >>> display = EchoDisplay.from_signals(y, {"tenth": 0.1 * y, "nothing": y}, window=100)
    >>> display.time.tolist(), {name: level.round(6).tolist() for name, level in display.levels.items()}["tenth"]
    ([50.0, 150.0, 250.0, 350.0], [20.0, 20.0, 20.0, 20.0])
    """

    time: FloatArray
    levels: dict[str, FloatArray]
    unit: str = "samples"

    @classmethod
    def from_signals(
        cls,
        observed: FloatArray,
        residuals: dict[str, FloatArray],
        *,
        window: int,
        rate: float | None = None,
        ax: Any = None,
    ) -> Self:
        """Compare residuals of cancellers with the observed signal (n,), in windows of `window` samples, `rate` a second."""
        if not isinstance(residuals, dict) or not residuals:
            msg = f"EchoDisplay needs the residuals as a dictionary of names to signals; got {type(residuals).__name__}."
            raise InputError(msg)
        levels = {name: erle(observed, residual, window) for name, residual in residuals.items()}
        n = len(observed)
        starts = np.arange(0, n, window)
        middle: FloatArray = np.asarray(0.5 * (starts + np.minimum(starts + window, n)), dtype=np.float64)
        return (cls(middle / np.float64(rate), levels, "seconds") if rate else cls(middle, levels)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes given, or on new ones; `ax_` and `figure_` hold them."""
        ax = place(self, ax)
        for (name, level), colour in zip(self.levels.items(), class_colours(max(len(self.levels), 3)), strict=False):
            ax.plot(self.time, np.where(np.isfinite(level), level, np.nan), color=colour, label=name)
        ax.axhline(0.0, color="black", linewidth=0.8)
        ax.set(xlabel=self.unit, ylabel="echo return loss enhancement / dB")
        ax.legend(fontsize=8)
        return self
