"""The picture of prototypes among the examples they stand for."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.errors import InputError
from halfspace.plots.axes import MARKERS, axes_or_new, class_colours

__all__ = ["PrototypesDisplay"]

GRID = 200
"""Points along each side of the grid on which regions are found."""


@dataclass
class PrototypesDisplay:
    """Examples and prototypes in two coordinates: two of the inputs, or the two directions a learnt metric looks along.

    Parameters
    ----------
    points : ndarray, shape (n, 2)
        Examples.
    labels : ndarray, shape (n,)
        Their classes.
    prototypes : ndarray, shape (P, 2)
        Prototypes.
    prototype_labels : ndarray, shape (P,)
        Theirs; for prototypes without labels their numbers.
    names : tuple of str, length 2
        Names of the coordinates.
    regions : tuple of ndarray, or None
        Grid and labels on it (xx0, xx1, label), each shape (r, r), if the model has just these two inputs.

    Examples
    --------
    >>> import halfspace as hs
    >>> from halfspace import LVQ
    >>> from halfspace.plots.prototypes import PrototypesDisplay
    >>> X, y, *_ = hs.data.two_clouds(60)
    >>> display = PrototypesDisplay.from_estimator(LVQ(random_state=0).fit(X, y), X, y)
    >>> display.prototypes.shape, display.prototype_labels.tolist() == [-1, 1], display.regions is not None
    ((2, 2), True, True)
    """

    points: FloatArray
    labels: Labels
    prototypes: FloatArray
    prototype_labels: Labels
    names: tuple[str, str]
    regions: tuple[FloatArray, FloatArray, Labels] | None

    @classmethod
    def from_estimator(cls, estimator: Any, X: Matrix, y: Labels | None = None, *, axes: Any = None) -> Self:
        """Read a fitted model with prototypes and show it among examples X, shape (n, d), with labels y, shape (n,).

        `axes` are the numbers of the two inputs to show. By default they are those of a model with two inputs; else a
        classifier with a learnt metric is shown in the two leading coordinates of its `transform`. Without y, rows get the
        label the model predicts.
        """
        if not hasattr(estimator, "prototypes_"):
            msg = f"PrototypesDisplay shows a fitted model with prototypes_; got {type(estimator).__name__}, which has none"
            raise InputError(msg)
        rows, d = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float), estimator.n_features_in_
        shown = np.asarray(estimator.predict(X) if y is None else y)
        owned = np.asarray(getattr(estimator, "prototype_labels_", np.arange(len(estimator.prototypes_))))
        if axes is None and d != 2:
            points, prototypes = (_learnt(estimator, part) for part in (rows, estimator.prototypes_))
            return cls(points, shown, prototypes, owned, ("first direction", "second direction"), None)
        pair = _pair(axes, d)
        inputs = getattr(estimator, "feature_names_in_", [f"input {j}" for j in range(d)])
        names = (str(inputs[pair[0]]), str(inputs[pair[1]]))
        regions = _regions(estimator, rows) if d == 2 and pair == [0, 1] else None
        return cls(rows[:, pair], shown, np.asarray(estimator.prototypes_)[:, pair], owned, names, regions)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes given, or on new ones; `ax_` and `figure_` hold them."""
        self.ax_ = ax = axes_or_new(ax)
        self.figure_ = ax.figure
        classes = np.unique(np.concatenate([self.prototype_labels, self.labels]))
        colours = class_colours(classes.size)
        if self.regions is not None:
            number = np.searchsorted(classes, self.regions[2])
            edges = np.arange(classes.size + 1) - 0.5
            ax.contourf(*self.regions[:2], number, levels=edges, colors=colours, alpha=0.2)
        for k, label in enumerate(classes):
            style = {"c": colours[k], "marker": MARKERS[(k + k // len(MARKERS)) % len(MARKERS)]}
            own = self.points[self.labels == label]
            ax.scatter(*own.T, s=14, alpha=0.6, linewidths=0, label=str(label), **style)
            large = {"s": 130, "edgecolors": "black", "linewidths": 1.6, "zorder": 4}
            ax.scatter(*self.prototypes[self.prototype_labels == label].T, **style, **large)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        if classes.size <= len(MARKERS):
            ax.legend(fontsize=8, title="large: prototypes")
        return self


def _pair(axes: Any, d: int) -> list[int]:
    """Return the numbers of the two inputs to show."""
    pair = [0, 1] if axes is None else [int(j) for j in axes]
    if len(pair) != 2 or not all(0 <= j < d for j in pair):
        msg = f"PrototypesDisplay: axes must be two numbers of inputs from 0 to {d - 1}, got {axes!r}"
        raise InputError(msg)
    return pair


def _learnt(estimator: Any, rows: FloatArray) -> FloatArray:
    """Return the two leading coordinates of rows in a learnt metric."""
    if not (hasattr(estimator, "relevances_") and hasattr(estimator, "transform")):
        msg = (
            f"PrototypesDisplay: {type(estimator).__name__} has {estimator.n_features_in_} inputs and no learnt metric to show "
        )
        raise InputError(msg + "them in; choose two inputs, as in axes=(0, 1)")
    image = np.asarray(estimator.transform(rows))
    if image.shape[1] < 2:
        image = np.column_stack([image, np.zeros(image.shape[0])])
    leading: FloatArray = image[:, :2]
    return leading


def _regions(estimator: Any, rows: FloatArray) -> tuple[FloatArray, FloatArray, Labels]:
    """Return a grid around the rows and what the model says there."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    room = 0.1 * np.where(high > low, high - low, 1.0)
    xx0, xx1 = np.meshgrid(*(np.linspace(low[j] - room[j], high[j] + room[j], GRID) for j in range(2)))
    return xx0, xx1, np.asarray(estimator.predict(np.column_stack([xx0.ravel(), xx1.ravel()]))).reshape(xx0.shape)
