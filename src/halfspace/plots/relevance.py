"""The picture of what a learnt metric looks at."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from halfspace._typing import FloatArray
from halfspace.errors import InputError
from halfspace.plots.axes import axes_or_new, class_colours

__all__ = ["RelevanceDisplay"]

SHOWN = 20
"""Inputs that get a bar: those of largest relevance."""
NAMED = 30
"""Most inputs whose names fit beside a matrix."""


@dataclass
class RelevanceDisplay:
    """Relevances of the inputs, as bars, or the whole matrix Λ = ΩᵀΩ, which also shows inputs that count together.

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
    >>> from halfspace.plots.relevance import RelevanceDisplay
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
    def from_estimator(cls, estimator: Any, feature_names: Any = None) -> Self:
        """Read the metric of a fitted GRLVQ or GMLVQ; the names default to the columns it was fitted to."""
        if not hasattr(estimator, "relevances_"):
            msg = "RelevanceDisplay shows the relevances_ of a fitted GRLVQ or GMLVQ; "
            raise InputError(msg + f"got {type(estimator).__name__}, which has none")
        relevances = np.atleast_2d(estimator.relevances_)
        d = relevances.shape[1]
        if feature_names is None:
            feature_names = getattr(estimator, "feature_names_in_", [f"input {j}" for j in range(d)])
        if len(feature_names) != d:
            msg = f"RelevanceDisplay: feature_names must name the {d} inputs of the model, got {len(feature_names)} names"
            raise InputError(msg)
        omega = np.asarray(getattr(estimator, "omega_", np.zeros(0)))
        matrix = None if omega.ndim < 2 else np.stack([part.T @ part for part in omega.reshape(-1, *omega.shape[-2:])])
        classes = [str(label) for label in estimator.classes_] if relevances.shape[0] > 1 else [""]
        return cls(relevances, matrix, [str(name) for name in feature_names], classes)

    def plot(self, ax: Any = None, *, kind: str = "bars", label: str | None = None) -> Self:
        """Draw on the axes given, or on new ones; `ax_` and `figure_` hold them.

        `kind` is "bars", the relevances, largest first, or "matrix", all of Λ for the class `label` (if each has its own).
        """
        if kind not in {"bars", "matrix"} or (kind == "matrix" and self.matrix is None):
            msg = f'RelevanceDisplay: kind must be "bars", or "matrix" for a GMLVQ, got {kind!r} for {len(self.names)} inputs'
            raise InputError(msg + (" without a matrix" if self.matrix is None else ""))
        self.ax_ = ax = axes_or_new(ax)
        self.figure_ = ax.figure
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
