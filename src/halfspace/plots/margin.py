"""The picture of a plane in two dimensions and of its margin."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.errors import InputError
from halfspace.plots.axes import axes_or_new

__all__ = ["MarginDisplay"]


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
        """Draw on the axes given, or on new ones; `ax_` and `figure_` hold them."""
        self.ax_ = ax = axes_or_new(ax)
        self.figure_ = ax.figure
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
