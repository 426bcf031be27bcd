"""What the winner looks at: what shuffling a column costs, weights of a plane by name, shares of columns in a metric."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from halfspace._text import shown
from halfspace._typing import FloatArray, Labels
from halfspace.ladder.importance import column_importance
from halfspace.report.charts import CONSTANT
from halfspace.report.findings import Influence

__all__ = ["find_influence", "importances", "linear_weights", "weights"]

MOST_NAMES, MOST_CLASSES = 20, 10
"""Bars of a chart, and charts where every class has one."""


def weights(coef: FloatArray, names: Sequence[str], classes: Sequence[object]) -> tuple[Influence, ...]:
    """List the largest weights (1, D) of a plane, or of each of the first ten classes' planes (K, D), by the inputs' names."""
    labels = classes[1:2] if len(coef) == 1 else classes[:MOST_CLASSES]
    most = MOST_NAMES if len(coef) == 1 else MOST_NAMES // 2
    return tuple(_largest(shown(label), names, w, most) for label, w in zip(labels, coef, strict=False))


def _largest(label: str, names: Sequence[str], values: FloatArray, most: int) -> Influence:
    """Keep the values of largest size, but no zeros."""
    order = np.argsort(-np.abs(values), kind="stable")[:most]
    order = order[values[order] != 0]
    kept = tuple(shown(names[i], 60) for i in order)
    return Influence(label, kept, tuple(values[order].tolist()), (), len(names) - order.size)


def linear_weights(ladder: Any) -> FloatArray | None:
    """Return the weights of a linear winner, shape (1, D) or (K, D); None for others."""
    coef = getattr(ladder.estimator_, "coef_", None)
    return None if coef is None else np.atleast_2d(np.asarray(coef, dtype=np.float64))


def find_influence(ladder: Any, names: Sequence[str]) -> tuple[str, tuple[Influence, ...]]:
    """Return what the winner has learnt about inputs, and what that is: "weights", "relevances", or "" for nothing."""
    coef = linear_weights(ladder)
    if coef is not None:
        return "weights", weights(coef, names, ladder.classes_.tolist())
    if ladder.relevances_:
        columns, shares = zip(*ladder.relevances_, strict=True)
        return "relevances", (_largest("", columns, np.array(shares), MOST_NAMES),)
    return "", ()


def importances(ladder: Any, X: Any, y: Labels) -> Influence | None:
    """Return what shuffling each column costs on rows not learnt from, with standard errors; None of a constant prediction."""
    if ladder.winner_ in CONSTANT:
        return None
    found = column_importance(ladder, X, y)
    kept = [column for column in found[:MOST_NAMES] if column.cost > 0]
    return Influence(
        label="",
        names=tuple(shown(column.name, 60) for column in kept),
        values=tuple(column.cost for column in kept),
        spread=tuple(column.error for column in kept),
        n_others=len(found) - len(kept),
        evident=tuple(column.evident for column in kept),
    )
