"""The picture of the perceptron's convergence proof."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from halfspace._typing import FloatArray
from halfspace.certificates import Novikoff
from halfspace.errors import InputError
from halfspace.plots.axes import axes_or_new

__all__ = ["MistakeBoundDisplay"]


@dataclass
class MistakeBoundDisplay:
    """The convergence proof as two curves: w·w* rises at least linearly with the mistakes, ‖w‖ at most as their root.

    Parameters
    ----------
    mistakes, overlap, length : ndarray, shape (1 + epochs,)
        Mistakes so far, w·w*/‖w*‖ and ‖w‖, at the start and after each epoch.
    kappa, radius : float
        Certified margin and radius.

    Examples
    --------
    >>> import halfspace as hs
    >>> from halfspace.plots import MistakeBoundDisplay
    >>> toy = hs.data.teacher_student(100, 5, margin=0.1)
    >>> display = MistakeBoundDisplay.from_estimator(hs.Perceptron(random_state=0).fit(toy.X, toy.y))
    >>> bool((display.overlap >= display.kappa * display.mistakes - 1e-9).all())
    True
    """

    mistakes: FloatArray
    overlap: FloatArray
    length: FloatArray
    kappa: float
    radius: float

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """Read a fitted two-class `Perceptron` that converged."""
        bracket = getattr(estimator.certificate_, "bracket", None)
        plain = getattr(estimator.certificate_, "theorem", None) == Novikoff()
        if bracket is None or bracket.lower <= 0 or not plain or not hasattr(estimator, "coef_"):
            msg = "MistakeBoundDisplay needs a two-class Perceptron (rate 1, margin 0, from zero) that separated its examples."
            raise InputError(msg)
        course = estimator.history_
        from_zero = [
            np.append(0.0, column) for column in (course["mistakes"], course["overlap"], np.sqrt(course["squared_norm"]))
        ]
        return cls(from_zero[0], from_zero[1], from_zero[2], bracket.lower, bracket.radius)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes given, or on new ones; `ax_` and `figure_` hold them."""
        self.ax_ = ax = axes_or_new(ax)
        self.figure_ = ax.figure
        t = np.linspace(0, max(self.mistakes.max(), 1.0), 200)
        ax.plot(t, self.radius * np.sqrt(t), color="#b2182b", linestyle="--", label=r"$R\sqrt{t}$: the most $\|w\|$ can be")
        ax.plot(t, self.kappa * t, color="#2166ac", linestyle="--", label=r"$\kappa t$: the least $w\cdot w^*$ can be")
        ax.plot(self.mistakes, self.length, color="#b2182b", marker=".", label=r"$\|w\|$")
        ax.plot(self.mistakes, self.overlap, color="#2166ac", marker=".", label=r"$w\cdot w^*$")
        ax.set_xlabel("mistakes t")
        ax.set_title(f"They must cross before t = (R/κ)² = {(self.radius / self.kappa) ** 2:,.0f}", fontsize=10)
        ax.legend(fontsize=8)
        return self
