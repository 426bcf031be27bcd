"""Axes to draw on, colours, and what several pictures read from a model."""

from typing import Any

import numpy as np

from halfspace._typing import FloatArray

__all__ = ["class_colours", "grid_around", "innermost", "input_names", "place", "place_panels", "training_support"]

TWO = ("#b2182b", "#2166ac")
"""Colours of the negative and the positive class, distinguishable by colour-blind readers too."""
MANY = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377")
"""Colours of more than two classes, as far as they go; then again from the first."""
MARKERS = "osD^vP"
"""Shapes of the classes, for readers without colours."""


def _pyplot() -> Any:
    """Return matplotlib, imported only when a picture is drawn."""
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415  (an extra)
    except ImportError as error:
        msg = 'halfspace.plots needs the package matplotlib: pip install "halfspace[plots]"'
        raise ImportError(msg) from error
    return plt


def place(display: Any, ax: Any) -> Any:
    """Return the axes given, or new ones, and keep them in the display as `ax_` and `figure_`."""
    display.ax_ = _pyplot().subplots()[1] if ax is None else ax
    display.figure_ = display.ax_.figure
    return display.ax_


def place_panels(display: Any, axes: Any, heights: tuple[float, ...]) -> Any:
    """Return the axes given, one per panel, or new ones above each other; kept in the display as `axes_` and `figure_`."""
    if axes is None:
        axes = _pyplot().subplots(len(heights), 1, sharex=True, layout="constrained", height_ratios=heights)[1]
    display.axes_, display.figure_ = axes, axes[0].figure
    return axes


def grid_around(rows: FloatArray, resolution: int, room: float) -> tuple[FloatArray, FloatArray]:
    """Return a grid (r, r) of both coordinates around rows (n, 2), with room at each side as a share of their range."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    pad = room * np.where(high > low, high - low, 1.0)
    xx0, xx1 = np.meshgrid(*(np.linspace(low[j] - pad[j], high[j] + pad[j], resolution) for j in range(2)))
    return xx0, xx1


def input_names(model: Any, count: int) -> list[str]:
    """Return the names of the columns that a model was fitted to (by a ladder: encoded), or "input 0", "input 1", ..."""
    if hasattr(model, "encoder_"):
        return [str(name) for name in model.encoder_.get_feature_names_out()]
    return [str(name) for name in getattr(model, "feature_names_in_", [f"input {j}" for j in range(count)])]


def innermost(model: Any) -> Any:
    """Return the model inside a ladder or a choice by cross-validation."""
    while hasattr(model, "estimator_"):
        model = model.estimator_
    return model


def class_colours(count: int) -> list[str]:
    """Return one colour per class."""
    return list(TWO) if count == 2 else [MANY[k % len(MANY)] for k in range(count)]


def training_support(model: Any, n: int) -> Any:
    """Return the support vectors of a model as row numbers, shape (m,); none if it was not trained on n rows."""
    inner, rows = model, np.arange(n)
    if hasattr(model, "learnt_"):  # a ladder: its winner learnt from the rows that were not held out
        inner, rows = model.estimator_, np.asarray(model.learnt_)
    try:
        trained, support = np.shape(inner.alpha_)[-1], np.asarray(inner.support_)
    except AttributeError:  # a model without strengths, such as a committee
        return np.zeros(0, dtype=np.int64)
    return rows[support] if trained == rows.size and n > rows.max(initial=0) else np.zeros(0, dtype=np.int64)
