"""Pictures of a fit: the gap that closes, and the perceptron's convergence proof."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from halfspace._typing import FloatArray
from halfspace.certificates import Novikoff
from halfspace.errors import InputError
from halfspace.plots.axes import innermost, place, place_panels

__all__ = ["GapDisplay", "MistakeBoundDisplay"]


@dataclass
class GapDisplay:
    """How a fit closed in on the best answer: the bounds proved from both sides, and below them the relative gap.

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
    def from_estimator(cls, estimator: Any, *, seconds: bool = False, axes: Any = None) -> Self:
        """Draw the course of a fitted `AdaTron` or `MinOver`, with or without a kernel, over its iterations or over seconds."""
        estimator = innermost(estimator)
        course, name = getattr(estimator, "history_", {}), type(estimator).__name__
        if "primal" in course:
            unit = "iterations" if "iteration" in course else "rounds"
            value, columns = "objective", (course[unit.removesuffix("s")], course["dual"], course["primal"])
        elif "push" in course:
            unit, value, columns = "pushes", "margin", (course["push"], course["lower"], course["upper"])
        else:
            msg = f"GapDisplay needs a fitted AdaTron or MinOver with a `history_` of both sides; got {name}."
            raise InputError(msg)
        position, lower, upper = (np.asarray(column, dtype=float) for column in columns)
        if lower.ndim == 2:  # of several classes the one with the widest gap
            k = int(np.argmax(1.0 - lower[-1] / upper[-1]))
            position, lower, upper = position[:, k], lower[:, k], upper[:, k]
        known = np.isfinite(lower) & np.isfinite(upper)
        if not known.any():
            msg = f"this {name} found no plane, so there is no gap to show; its `outcome_` says why: {estimator.outcome_}"
            raise InputError(msg)
        position, unit = (np.asarray(course["seconds"], dtype=float), "seconds") if seconds else (position, unit)
        return cls(position[known], lower[known], upper[known], unit, value).plot(axes)

    def plot(self, axes: Any = None) -> Self:
        """Draw on the two axes given, or on new ones; `axes_` and `figure_` hold them."""
        sides, gap = place_panels(self, axes, (2.0, 1.0))
        sides.plot(self.position, self.upper, color="#b2182b", marker=".", label=f"{self.value}, at most")
        sides.plot(self.position, self.lower, color="#2166ac", marker=".", label=f"{self.value}, at least")
        sides.fill_between(self.position, self.lower, self.upper, color="black", alpha=0.08, linewidth=0)
        sides.set_ylabel(f"best {self.value}")
        sides.legend(fontsize=8)
        gap.semilogy(self.position, np.where(self.gap > 0, self.gap, np.nan), color="black", marker=".")
        gap.set(xlabel=self.unit, ylabel="relative gap")
        sides.set_title(f"{self.lower[-1]:.6g} <= best {self.value} <= {self.upper[-1]:.6g}", fontsize=10)
        return self


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
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the proof of a fitted two-class `Perceptron` that converged."""
        bracket = getattr(estimator.certificate_, "bracket", None)
        plain = getattr(estimator.certificate_, "theorem", None) == Novikoff()
        if bracket is None or bracket.lower <= 0 or not plain or not hasattr(estimator, "coef_"):
            msg = "MistakeBoundDisplay needs a two-class Perceptron (rate 1, margin 0, from zero) that separated its examples."
            raise InputError(msg)
        course = estimator.history_
        from_zero = [
            np.append(0.0, column) for column in (course["mistakes"], course["overlap"], np.sqrt(course["squared_norm"]))
        ]
        return cls(from_zero[0], from_zero[1], from_zero[2], bracket.lower, bracket.radius).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes given, or on new ones; `ax_` and `figure_` hold them."""
        ax = place(self, ax)
        t = np.linspace(0, max(self.mistakes.max(), 1.0), 200)
        ax.plot(t, self.radius * np.sqrt(t), color="#b2182b", linestyle="--", label=r"$R\sqrt{t}$: the most $\|w\|$ can be")
        ax.plot(t, self.kappa * t, color="#2166ac", linestyle="--", label=r"$\kappa t$: the least $w\cdot w^*$ can be")
        ax.plot(self.mistakes, self.length, color="#b2182b", marker=".", label=r"$\|w\|$")
        ax.plot(self.mistakes, self.overlap, color="#2166ac", marker=".", label=r"$w\cdot w^*$")
        ax.set_xlabel("mistakes t")
        ax.set_title(f"They must cross before t = (R/κ)² = {(self.radius / self.kappa) ** 2:,.0f}", fontsize=10)
        ax.legend(fontsize=8)
        return self
