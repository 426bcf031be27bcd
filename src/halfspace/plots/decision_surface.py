"""The picture of a model's output over two inputs."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.errors import InputError
from halfspace.plots.axes import MARKERS, axes_or_new, class_colours, training_support

__all__ = ["DecisionSurfaceDisplay"]


@dataclass
class DecisionSurfaceDisplay:
    """A model over two inputs: its output by colour, the boundary, the lines where the output is -1 and 1, and its makers.

    Parameters
    ----------
    X : ndarray, shape (n, 2)
        Examples.
    y : ndarray, shape (n,)
        Labels.
    xx0, xx1 : ndarray, shape (r, r)
        The grid.
    response : ndarray, shape (r, r) or (r, r, K)
        Outputs on the grid; K for more than two classes.
    classes : ndarray, shape (K,)
        Labels in the order of the outputs.
    support : ndarray, shape (m,)
        Row numbers of the support vectors.

    Examples
    --------
    >>> import halfspace as hs
    >>> from halfspace.plots import DecisionSurfaceDisplay
    >>> X, y, *_ = hs.data.xor()
    >>> model = hs.KernelAdaTron(hs.kernels.RBF(1.0), C=10.0).fit(X, y)
    >>> display = DecisionSurfaceDisplay.from_estimator(model, X, y, grid_resolution=50)
    >>> display.response.shape, display.support.tolist()
    ((50, 50), [0, 1, 2, 3])
    """

    X: FloatArray
    y: Labels
    xx0: FloatArray
    xx1: FloatArray
    response: FloatArray
    classes: Labels
    support: IntArray

    @classmethod
    def from_estimator(cls, estimator: Any, X: Matrix, y: Labels, *, grid_resolution: int = 200, eps: float = 0.1) -> Self:
        """Evaluate a fitted model on a grid around examples X, shape (n, 2), with labels y, shape (n,).

        `eps` is the room around them, as a share of their range. Support vectors are ringed if these are the examples that
        the model was fitted to.
        """
        rows = np.asarray(X, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != 2 or estimator.n_features_in_ != 2:
            shape = " x ".join(map(str, rows.shape))
            msg = f"DecisionSurfaceDisplay shows two inputs; got examples of {shape} numbers and a model of "
            msg += f"{estimator.n_features_in_} inputs. Fit a model to two columns to show it."
            raise InputError(msg)
        low, high = rows.min(axis=0), rows.max(axis=0)
        room = eps * np.where(high > low, high - low, 1.0)
        sides = [np.linspace(low[j] - room[j], high[j] + room[j], grid_resolution) for j in range(2)]
        xx0, xx1 = np.meshgrid(*sides)
        outputs = np.asarray(estimator.decision_function(np.column_stack([xx0.ravel(), xx1.ravel()])))
        response = outputs.reshape(*xx0.shape, *outputs.shape[1:])
        return cls(rows, np.asarray(y), xx0, xx1, response, estimator.classes_, training_support(estimator, rows.shape[0]))

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes given, or on new ones; `ax_` and `figure_` hold them."""
        self.ax_ = ax = axes_or_new(ax)
        self.figure_ = ax.figure
        if self.response.ndim == 2:
            self._draw_outputs(ax)
        else:
            self._draw_regions(ax)
        for k, label in enumerate(self.classes):
            mine, colour = self.X[self.y == label], class_colours(self.classes.size)[k]
            marker = MARKERS[k % len(MARKERS)]
            ax.scatter(*mine.T, c=colour, marker=marker, s=18, edgecolors="white", linewidths=0.5, label=str(label), zorder=3)
        if self.support.size:
            rings = {"facecolors": "none", "edgecolors": "black", "linewidths": 0.9}
            ax.scatter(*self.X[self.support].T, s=60, label=f"{self.support.size} support vectors", zorder=4, **rings)
        ax.set(xlabel="first input", ylabel="second input")
        ax.legend(fontsize=8)
        return self

    def _draw_outputs(self, ax: Any) -> None:
        """Show one output: by colour, with a line at 0 and dashed lines at -1 and 1, as far as it takes these values."""
        most = float(np.quantile(np.abs(self.response), 0.9)) or 1.0
        corners = (self.xx0[0, 0], self.xx0[0, -1], self.xx1[0, 0], self.xx1[-1, 0])
        colours = {"cmap": "RdBu", "vmin": -most, "vmax": most, "alpha": 0.45, "interpolation": "bilinear"}
        ax.imshow(self.response, extent=corners, origin="lower", aspect="auto", **colours)
        for value, style, width in ((0.0, "solid", 2.0), (-1.0, "dashed", 1.0), (1.0, "dashed", 1.0)):
            if self.response.min() < value < self.response.max():
                ax.contour(
                    self.xx0, self.xx1, self.response, levels=[value], colors="black", linestyles=style, linewidths=width
                )

    def _draw_regions(self, ax: Any) -> None:
        """Show the class of the largest output, and the lines between classes."""
        winner, K = self.response.argmax(axis=2), self.classes.size
        ax.contourf(self.xx0, self.xx1, winner, levels=np.arange(K + 1) - 0.5, colors=class_colours(K), alpha=0.3)
        for k in range(K):
            lead = self.response[:, :, k] - np.delete(self.response, k, axis=2).max(axis=2)
            if lead.min() < 0.0 < lead.max():
                ax.contour(self.xx0, self.xx1, lead, levels=[0.0], colors="black", linewidths=1.2)
