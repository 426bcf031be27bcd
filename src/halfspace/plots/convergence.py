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
    mistakes, overlap, length : ndarray, shape (m,)
        Mistakes so far, w·w*/‖w*‖ and ‖w‖: at the start and after each epoch, or after each mistake.
    kappa, radius : float
        Certified margin and radius.
    theorem : Novikoff
        What bounds the curves: rates, margin and the length of the start.

    Examples
    --------
    >>> import halfspace as hs
    >>> from halfspace.plots import MistakeBoundDisplay
    >>> toy = hs.data.teacher_student(100, 5, margin=0.1)
    >>> display = MistakeBoundDisplay.from_estimator(hs.Perceptron(random_state=0).fit(toy.X, toy.y))
    >>> bool((display.overlap >= display.kappa * display.mistakes - 1e-9).all())
    True
    >>> model = hs.Perceptron(eta0=0.1, margin=0.2, random_state=0).fit(toy.X, toy.y)
    >>> display = MistakeBoundDisplay.from_estimator(model, toy.X, toy.y)  # mistake by mistake
    >>> bool((display.length**2 <= display.theorem.most_square(display.mistakes, display.radius) + 1e-9).all())
    True
    """

    mistakes: FloatArray
    overlap: FloatArray
    length: FloatArray
    kappa: float
    radius: float
    theorem: Novikoff = Novikoff()  # noqa: RUF009  (a tuple)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None, y: Any = None, *, ax: Any = None) -> Self:
        """Draw the proof of a fitted two-class `Perceptron` that converged: epoch by epoch, or given its examples by mistakes.

        Parameters
        ----------
        estimator : Perceptron
            Of any rate, margin and start.
        X, y : arrays, optional
            The examples given to `fit`, for a point after every mistake (`Perceptron.proof_curves`).
        ax : matplotlib axes, optional
            Where to draw.
        """
        bracket = getattr(estimator.certificate_, "bracket", None)
        theorem = getattr(estimator.certificate_, "theorem", None)
        if bracket is None or bracket.lower <= 0 or not isinstance(theorem, Novikoff) or not hasattr(estimator, "coef_"):
            msg = "MistakeBoundDisplay needs a two-class Perceptron that separated its examples."
            raise InputError(msg)
        if X is not None:
            curves = estimator.proof_curves(X, y)
            t, length = np.arange(curves.overlap.size, dtype=float), np.sqrt(curves.square)
            return cls(t, curves.overlap, length, curves.kappa, curves.radius, theorem).plot(ax)
        course, began = estimator.history_, estimator.certificate_.theorem.start
        if began:
            msg = "MistakeBoundDisplay needs the examples, from_estimator(model, X, y), where a fit does not start from zero."
            raise InputError(msg)
        from_zero = [
            np.append(0.0, column) for column in (course["mistakes"], course["overlap"], np.sqrt(course["squared_norm"]))
        ]
        return cls(from_zero[0], from_zero[1], from_zero[2], bracket.lower, bracket.radius, theorem).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes given, or on new ones; `ax_` and `figure_` hold them."""
        ax = place(self, ax)
        t = np.linspace(0, max(self.mistakes.max(), 1.0), 200)
        most, least = np.sqrt(self.theorem.most_square(t, self.radius)), self.theorem.least_overlap(t, self.kappa)
        plain = self.theorem == Novikoff()
        high, low = (r"$R\sqrt{t}$: the", r"$\kappa t$: the") if plain else ("the", "the")
        ax.plot(t, most, color="#b2182b", linestyle="--", label=rf"{high} most $\|w\|$ can be")
        ax.plot(t, least, color="#2166ac", linestyle="--", label=rf"{low} least $w\cdot w^*$ can be")
        ax.plot(self.mistakes, self.length, color="#b2182b", marker=".", label=r"$\|w\|$")
        ax.plot(self.mistakes, self.overlap, color="#2166ac", marker=".", label=r"$w\cdot w^*$")
        ax.set_xlabel("mistakes t")
        bound = self.theorem.bound(self.radius, self.kappa)
        ax.set_title(f"They must cross before t = {'(R/κ)² = ' if plain else ''}{bound:,.0f}", fontsize=10)
        ax.legend(fontsize=8)
        return self
