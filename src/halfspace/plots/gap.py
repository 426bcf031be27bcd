"""The picture of a gap that closes."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from halfspace._typing import FloatArray
from halfspace.errors import InputError
from halfspace.plots.axes import panels_or_new

__all__ = ["GapDisplay"]


@dataclass
class GapDisplay:
    """How a fit closed in on the best answer: what was proved from both sides, and below it their relative distance.

    Parameters
    ----------
    position : ndarray, shape (m,)
        Iterations, pushes or seconds.
    lower, upper : ndarray, shape (m,)
        What was proved by then: dual and primal value of an AdaTron, both sides of the margin bracket of a MinOver.
    unit, value : str
        What the positions count, and what lies between the sides.

    Examples
    --------
    >>> import halfspace as hs
    >>> from halfspace.plots import GapDisplay
    >>> toy = hs.data.teacher_student(100, 5, margin=0.1)
    >>> display = GapDisplay.from_estimator(hs.MinOver(tol=0.1).fit(toy.X, toy.y))
    >>> bool((display.lower <= display.upper).all()), bool(display.gap[-1] <= 0.1)
    (True, True)
    """

    position: FloatArray
    lower: FloatArray
    upper: FloatArray
    unit: str = "iterations"
    value: str = "value"

    @property
    def gap(self) -> FloatArray:
        """(upper - lower) / upper, shape (m,)."""
        return (self.upper - self.lower) / self.upper

    @classmethod
    def from_estimator(cls, estimator: Any, *, seconds: bool = False) -> Self:
        """Read the course of a fitted `AdaTron` or `MinOver` over its iterations (pushes), or over seconds."""
        course, name = getattr(estimator, "history_", {}), type(estimator).__name__
        if "primal" in course:
            unit, value, columns = "iterations", "objective", (course["iteration"], course["dual"], course["primal"])
        elif "push" in course:
            unit, value, columns = "pushes", "margin", (course["push"], course["lower"], course["upper"])
        else:
            msg = f"GapDisplay needs a fitted AdaTron or MinOver with a `history_` of both sides; got {name}."
            raise InputError(msg)
        position, lower, upper = (np.asarray(column, dtype=float) for column in columns)
        if lower.ndim == 2:  # of several classes the one known least
            k = int(np.argmax(1.0 - lower[-1] / upper[-1]))
            position, lower, upper = position[:, k], lower[:, k], upper[:, k]
        known = np.isfinite(lower) & np.isfinite(upper)
        if not known.any():
            msg = f"this {name} found no plane, so there is no gap to show; its `outcome_` says why: {estimator.outcome_}"
            raise InputError(msg)
        position, unit = (np.asarray(course["seconds"], dtype=float), "seconds") if seconds else (position, unit)
        return cls(position[known], lower[known], upper[known], unit, value)

    def plot(self, axes: Any = None) -> Self:
        """Draw on the two axes given, or on new ones; `axes_` and `figure_` hold them."""
        self.axes_ = sides, gap = panels_or_new(axes, (2.0, 1.0))
        self.figure_ = sides.figure
        sides.plot(self.position, self.upper, color="#b2182b", marker=".", label=f"{self.value}: no more than this")
        sides.plot(self.position, self.lower, color="#2166ac", marker=".", label=f"{self.value}: no less than this")
        sides.fill_between(self.position, self.lower, self.upper, color="black", alpha=0.08, linewidth=0)
        sides.set_ylabel(f"best {self.value}")
        sides.legend(fontsize=8)
        gap.semilogy(self.position, np.where(self.gap > 0, self.gap, np.nan), color="black", marker=".")
        gap.set(xlabel=self.unit, ylabel="relative gap")
        sides.set_title(f"{self.lower[-1]:.6g} <= best {self.value} <= {self.upper[-1]:.6g}", fontsize=10)
        return self
