"""Pictures of models over two inputs: outputs and boundaries, a plane and its margin."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.errors import InputError
from halfspace.plots.axes import MARKERS, class_colours, grid_around, place, training_support

__all__ = ["DecisionSurfaceDisplay", "MarginDisplay"]


@dataclass
class DecisionSurfaceDisplay:
    """A model over two inputs: its output by colour, the lines where the output is -1, 0 and 1, and its support vectors.

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
    def from_estimator(
        cls, estimator: Any, X: Matrix, y: Labels, *, grid_resolution: int = 200, eps: float = 0.1, ax: Any = None
    ) -> Self:
        """Draw a fitted model on a grid around examples X, shape (n, 2), with labels y, shape (n,).

        `eps` is the room around them, as a share of their range. Support vectors are ringed if these are the examples that
        the model was fitted to.
        """
        rows = np.asarray(X, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != 2 or estimator.n_features_in_ != 2:
            shape = " x ".join(map(str, rows.shape))
            msg = f"DecisionSurfaceDisplay shows two inputs; got examples of {shape} numbers and a model of "
            msg += f"{estimator.n_features_in_} inputs. Fit a model to two columns to show it."
            raise InputError(msg)
        xx0, xx1 = grid_around(rows, grid_resolution, eps)
        outputs = np.asarray(estimator.decision_function(np.column_stack([xx0.ravel(), xx1.ravel()])))
        response = outputs.reshape(*xx0.shape, *outputs.shape[1:])
        support = training_support(estimator, rows.shape[0])
        return cls(rows, np.asarray(y), xx0, xx1, response, estimator.classes_, support).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes given, or on new ones; `ax_` and `figure_` hold them."""
        ax = place(self, ax)
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


@dataclass
class MarginDisplay:
    """A plane in two dimensions: the line, its margin, and the examples, drawn larger the larger their strength.

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
    def from_estimator(cls, estimator: Any, X: Matrix, y: Labels, *, ax: Any = None) -> Self:
        """Draw a fitted two-class model with `coef_` and `alpha_` on its training examples X, shape (n, 2)."""
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
        return cls(X, signs, estimator.alpha_, plane, float(distances.min()), str(estimator.certificate_)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes given, or on new ones; `ax_` and `figure_` hold them."""
        ax = place(self, ax)
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
