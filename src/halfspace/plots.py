"""Pictures: matplotlib displays in scikit-learn's style. Needs the extra `[plots]`."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.certificates import Novikoff
from halfspace.errors import InputError

__all__ = ["MarginDisplay", "MistakeBoundDisplay"]


def _axes(ax: Any) -> Any:
    """Return the axes given, or new ones."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt  # noqa: PLC0415  (an extra: imported only when a picture is asked for)

    return plt.subplots()[1]


@dataclass
class MarginDisplay:
    """A plane in two dimensions: the line, its margin, and the examples that made it, larger the stronger.

    Parameters
    ----------
    X : ndarray, shape (n, 2)
        Examples.
    y : ndarray, shape (n,)
        Signs, -1 or +1.
    strengths : ndarray, shape (n,)
        Strength of each example.
    plane : ndarray, shape (3,)
        Weights and bias.
    margin : float
        Distance from the plane to the nearest example; negative if an example is on the wrong side.
    title : str
        What to write above.

    Examples
    --------
    >>> import halfspace as hs
    >>> from halfspace.plots import MarginDisplay
    >>> X, y, *_ = hs.data.two_clouds(40, distance=6.0)
    >>> display = MarginDisplay.from_estimator(hs.Perceptron(random_state=0).fit(X, y), X, y)
    >>> bool(display.margin > 0)
    True
    """

    X: FloatArray
    y: FloatArray
    strengths: FloatArray
    plane: FloatArray
    margin: float
    title: str = ""

    @classmethod
    def from_estimator(cls, estimator: Any, X: Matrix, y: Labels) -> Self:
        """Read a fitted two-class model with `coef_` and `alpha_` on its training examples X, shape (n, 2)."""
        X = np.asarray(X, dtype=float)
        if X.shape[1] != 2 or len(estimator.classes_) != 2:
            msg = f"MarginDisplay shows two features and two classes; got {X.shape[1]} and {len(estimator.classes_)}."
            raise InputError(msg)
        plane = np.append(estimator.coef_[0], estimator.intercept_[0])
        if not plane[:2].any():
            msg = f"this {type(estimator).__name__} has no plane to show: its weights are zero."
            raise InputError(msg)
        signs = np.where(np.asarray(y) == estimator.classes_[1], 1.0, -1.0)
        distances = signs * (X @ plane[:2] + plane[2]) / np.linalg.norm(plane[:2])
        return cls(X, signs, estimator.alpha_, plane, float(distances.min()), str(estimator.certificate_))

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes given, or on new ones; `ax_` holds them."""
        self.ax_ = ax = _axes(ax)
        for sign, colour, marker in ((-1, "#b2182b", "o"), (1, "#2166ac", "s")):
            mine = self.y == sign
            sizes = 14 + 30 * np.sqrt(np.abs(self.strengths[mine]))
            edges = np.where(self.strengths[mine] != 0, 1.2, 0.0)
            ax.scatter(*self.X[mine].T, s=sizes, c=colour, marker=marker, alpha=0.75, edgecolors="black", linewidths=edges)
        low, high = self.X.min(axis=0), self.X.max(axis=0)
        pad = 0.08 * (high - low)
        ax.set_xlim(low[0] - pad[0], high[0] + pad[0])
        ax.set_ylim(low[1] - pad[1], high[1] + pad[1])
        gx, gy = np.meshgrid(*(np.linspace(limits[0], limits[1], 200) for limits in (ax.get_xlim(), ax.get_ylim())))
        distance = (self.plane[0] * gx + self.plane[1] * gy + self.plane[2]) / np.linalg.norm(self.plane[:2])
        ax.contour(gx, gy, distance, levels=[0.0], colors="black", linewidths=2)
        if self.margin > 0:
            ax.contour(gx, gy, distance, levels=[-self.margin, self.margin], colors="black", linewidths=1, linestyles="--")
        ax.set_title(self.title, fontsize=10)
        ax.set_xlabel("first input")
        ax.set_ylabel("second input")
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
        """Draw on the axes given, or on new ones; `ax_` holds them."""
        self.ax_ = ax = _axes(ax)
        t = np.linspace(0, max(self.mistakes.max(), 1.0), 200)
        ax.plot(t, self.radius * np.sqrt(t), color="#b2182b", linestyle="--", label=r"$R\sqrt{t}$: the most $\|w\|$ can be")
        ax.plot(t, self.kappa * t, color="#2166ac", linestyle="--", label=r"$\kappa t$: the least $w\cdot w^*$ can be")
        ax.plot(self.mistakes, self.length, color="#b2182b", marker=".", label=r"$\|w\|$")
        ax.plot(self.mistakes, self.overlap, color="#2166ac", marker=".", label=r"$w\cdot w^*$")
        ax.set_xlabel("mistakes t")
        ax.set_title(f"They must cross before t = (R/κ)² = {(self.radius / self.kappa) ** 2:,.0f}", fontsize=10)
        ax.legend(fontsize=8)
        return self
