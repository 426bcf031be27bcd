"""The picture of quantisation errors over the number of prototypes."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from halfspace._typing import FloatArray, IntArray
from halfspace.plots.axes import axes_or_new

__all__ = ["ElbowDisplay"]


@dataclass
class ElbowDisplay:
    """Quantisation errors over K, and what no K prototypes can come below.

    Parameters
    ----------
    Ks : ndarray of int, shape (m,)
        Numbers of prototypes, rising.
    errors, lowers : ndarray, shape (m,)
        Errors reached, and certified lower bounds of the least possible ones; 0 where none is known.

    Examples
    --------
    >>> import numpy as np
    >>> from halfspace import elbow
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [9.0, 0.0], [9.0, 1.0]])
    >>> ElbowDisplay.from_elbow(elbow(X, [1, 2])).errors.round(3).tolist()
    [82.0, 1.0]
    """

    Ks: IntArray
    errors: FloatArray
    lowers: FloatArray

    @classmethod
    def from_elbow(cls, elbow: Any) -> Self:
        """Read an `Elbow`, as `elbow` returns it."""
        return cls(elbow.Ks, elbow.errors, elbow.lowers)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes given, or on new ones; `ax_` and `figure_` hold them."""
        self.ax_ = axes_or_new(ax)
        self.figure_ = self.ax_.figure
        self.ax_.plot(self.Ks, self.errors, color="black", marker="o", label="error reached")
        self.ax_.fill_between(
            self.Ks, self.lowers, self.errors, color="#2166ac", alpha=0.15, label="the least error is in here"
        )
        known = np.where(self.lowers > 0.0, self.lowers, np.nan)
        self.ax_.plot(self.Ks, known, color="#2166ac", marker=".", linestyle="--", label="none below (certified)")
        self.ax_.set(xlabel="prototypes K", ylabel="quantisation error", ylim=(0.0, None))
        self.ax_.set_title("errors compare only at the same K", fontsize=9)
        self.ax_.legend(fontsize=8)
        return self
