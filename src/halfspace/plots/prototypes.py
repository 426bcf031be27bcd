"""Pictures of prototype models: prototypes among the examples they stand for, and the relevances of a learnt metric."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.errors import InputError
from halfspace.plots.axes import MARKERS, class_colours, grid_around, innermost, input_names, place

__all__ = ["PrototypesDisplay", "RelevanceDisplay"]

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
    >>> from halfspace.plots import PrototypesDisplay
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
    def from_estimator(cls, estimator: Any, X: Matrix, y: Labels | None = None, *, axes: Any = None, ax: Any = None) -> Self:
        """Draw a fitted model with prototypes among examples X, shape (n, d), with labels y, shape (n,).

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
            return cls(points, shown, prototypes, owned, ("first direction", "second direction"), None).plot(ax)
        pair = _pair(axes, d)
        inputs = input_names(estimator, d)
        names = (inputs[pair[0]], inputs[pair[1]])
        regions = None
        if d == 2 and pair == [0, 1]:
            xx0, xx1 = grid_around(rows, GRID, 0.1)
            found = np.asarray(estimator.predict(np.column_stack([xx0.ravel(), xx1.ravel()])))
            regions = xx0, xx1, found.reshape(xx0.shape)
        return cls(rows[:, pair], shown, np.asarray(estimator.prototypes_)[:, pair], owned, names, regions).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the axes given, or on new ones; `ax_` and `figure_` hold them."""
        ax = place(self, ax)
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


SHOWN = 20
"""Inputs that get a bar: those of largest relevance."""
NAMED = 30
"""Most inputs whose names fit beside a matrix."""


@dataclass
class RelevanceDisplay:
    """Relevances of the inputs as bars, or the whole matrix Λ = ΩᵀΩ, whose other entries show which inputs act together.

    Parameters
    ----------
    relevances : ndarray, shape (c, d)
        How much each input counts in the metric: one row, or one per class.
    matrix : ndarray, shape (c, d, d), or None
        Λ of the same metrics; None for relevances alone.
    names : list of str, length d
        Names of the inputs.
    classes : list of str, length c
        Names of the classes; one empty name if all share a metric.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from halfspace import GRLVQ
    >>> from halfspace.plots import RelevanceDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = RelevanceDisplay.from_estimator(GRLVQ(random_state=0).fit(X, y), ["sl", "sw", "pl", "pw"])
    >>> display.names[display.relevances.argmax()], display.relevances.shape, display.matrix
    ('pw', (1, 4), None)
    """

    relevances: FloatArray
    matrix: FloatArray | None
    names: list[str]
    classes: list[str]

    @classmethod
    def from_estimator(
        cls, estimator: Any, feature_names: Any = None, *, kind: str = "bars", label: str | None = None, ax: Any = None
    ) -> Self:
        """Draw the metric of a fitted GRLVQ or GMLVQ, or of a ladder that one of them won.

        The names default to the columns it was fitted to; `kind`, `label` and `ax` are those of `plot`.
        """
        given, estimator = estimator, innermost(estimator)
        if not hasattr(estimator, "relevances_"):
            msg = "RelevanceDisplay shows the relevances_ of a fitted GRLVQ or GMLVQ; "
            raise InputError(msg + f"got {type(estimator).__name__}, which has none")
        relevances = np.atleast_2d(estimator.relevances_)
        d = relevances.shape[1]
        feature_names = input_names(given, d) if feature_names is None else feature_names
        if len(feature_names) != d:
            msg = f"RelevanceDisplay: feature_names must name the {d} inputs of the model, got {len(feature_names)} names"
            raise InputError(msg)
        omega = np.asarray(getattr(estimator, "omega_", np.zeros(0)))
        matrix = None if omega.ndim < 2 else np.stack([part.T @ part for part in omega.reshape(-1, *omega.shape[-2:])])
        classes = [str(label) for label in estimator.classes_] if relevances.shape[0] > 1 else [""]
        return cls(relevances, matrix, [str(name) for name in feature_names], classes).plot(ax, kind=kind, label=label)

    def plot(self, ax: Any = None, *, kind: str = "bars", label: str | None = None) -> Self:
        """Draw on the axes given, or on new ones; `ax_` and `figure_` hold them.

        `kind` is "bars", the relevances, largest first, or "matrix", all of Λ for the class `label` (if each has its own).
        """
        if kind not in {"bars", "matrix"} or (kind == "matrix" and self.matrix is None):
            msg = f'RelevanceDisplay: kind must be "bars", or "matrix" for a GMLVQ, got {kind!r} for {len(self.names)} inputs'
            raise InputError(msg + (" without a matrix" if self.matrix is None else ""))
        ax = place(self, ax)
        if kind == "bars":
            self._draw_bars(ax)
        else:
            self._draw_matrix(ax, label)
        return self

    def _draw_bars(self, ax: Any) -> None:
        """Show the inputs of largest relevance, one bar for each metric, the largest on top."""
        order = np.argsort(-self.relevances.max(axis=0), kind="stable")[:SHOWN]
        height = 0.8 / len(self.classes)
        for k, name in enumerate(self.classes):
            colour = "#444444" if len(self.classes) == 1 else class_colours(len(self.classes))[k]
            places = np.arange(order.size) + height * (k - 0.5 * (len(self.classes) - 1))
            ax.barh(places, self.relevances[k, order], height=height, color=colour, label=name or None)
        ax.set_yticks(range(order.size), [self.names[j] for j in order])
        ax.invert_yaxis()
        hidden = len(self.names) - order.size
        ax.set(xlabel="relevance" + (f" (the largest {order.size} of {len(self.names)})" if hidden else ""), xlim=(0.0, None))
        if len(self.classes) > 1:
            ax.legend(fontsize=8)

    def _draw_matrix(self, ax: Any, label: str | None) -> None:
        """Show Λ by colour, 0 in white."""
        if len(self.classes) > 1 and str(label) not in self.classes:
            msg = f"RelevanceDisplay: every class has its own matrix; label must be one of {self.classes}, got {label!r}"
            raise InputError(msg)
        shown = np.asarray(self.matrix)[self.classes.index(str(label)) if len(self.classes) > 1 else 0]
        most = float(np.abs(shown).max()) or 1.0
        image = ax.imshow(shown, cmap="RdBu", vmin=-most, vmax=most)
        ax.figure.colorbar(image, ax=ax, label="Λ" + (f" of {label}" if len(self.classes) > 1 else ""))
        if len(self.names) <= NAMED:
            ax.set_xticks(range(len(self.names)), self.names, rotation=90)
            ax.set_yticks(range(len(self.names)), self.names)
