"""A learning curve beyond the rows there are."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from halfspace._typing import FloatArray, IntArray
from halfspace.plots.axes import place

__all__ = ["ExtrapolationDisplay"]


@dataclass
class ExtrapolationDisplay:
    """Errors measured at growing numbers of rows, and the interval of the error with more.

    Parameters
    ----------
    sizes : ndarray, shape (K,)
        Rows learnt from.
    errors, standard_errors : ndarray, shape (K,)
        Mean errors and their standard errors.
    further : ndarray, shape (m,)
        Numbers of rows beyond.
    middle, low, high : ndarray, shape (m,)
        Median and interval of the expected error there.
    level : float
        Nominal level of the interval.

    Examples
    --------
    >>> import halfspace as hs
    >>> from halfspace.plots import ExtrapolationDisplay
    >>> X, y, *_ = hs.data.two_clouds(60, distance=2.0)
    >>> display = ExtrapolationDisplay.from_estimator(hs.LearningCurve(hs.AdaTron(), n_repeats=3).fit(X, y))
    >>> int(display.further.max()), bool((display.low <= display.high).all())
    (600, True)
    """

    sizes: IntArray
    errors: FloatArray
    standard_errors: FloatArray
    further: IntArray
    middle: FloatArray
    low: FloatArray
    high: FloatArray
    level: float

    @classmethod
    def from_estimator(cls, curve: Any, *, factor: float = 10.0, level: float = 0.9, ax: Any = None) -> Self:
        """Draw a fitted `LearningCurve` up to `factor` times its rows."""
        further = np.unique(np.geomspace(curve.sizes_[0], factor * curve.n_rows_, 24).round().astype(np.int64))
        found = [curve.predict(int(n), level) for n in further]
        middle, low, high = np.array([[one.error, one.low, one.high] for one in found]).T
        return cls(curve.sizes_, curve.errors_, curve.standard_errors_, further, middle, low, high, level).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes given, or on new ones; `ax_` and `figure_` hold them."""
        ax = place(self, ax)
        label = f"{100 * self.level:g} % interval"
        ax.fill_between(self.further, 100 * self.low, 100 * self.high, color="#4477aa", alpha=0.25, linewidth=0, label=label)
        ax.plot(self.further, 100 * self.middle, color="#4477aa")
        spread = 100 * self.standard_errors
        ax.errorbar(self.sizes, 100 * self.errors, yerr=spread, color="black", fmt="o", markersize=4, label="measured ± 1 s.e.")
        ax.set(xscale="log", xlabel="rows learnt from", ylabel="error, %", ylim=(0, None))
        ax.legend()
        return self
