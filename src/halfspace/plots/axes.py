"""Where pictures are drawn, and in which colours."""

from typing import Any

import numpy as np

__all__ = ["axes_or_new", "class_colours", "panels_or_new", "training_support"]

TWO = ("#b2182b", "#2166ac")
"""Colours of the negative and the positive class, told apart by colour-blind readers too."""
MANY = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377")
"""Colours of more than two classes, as far as they go; then again from the first."""
MARKERS = "osD^vP"
"""Shapes of the classes, for readers without colours."""


def _pyplot() -> Any:
    """Return matplotlib, imported only when a picture is asked for."""
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415  (an extra)
    except ImportError as error:
        msg = 'halfspace.plots needs the package matplotlib: pip install "halfspace[plots]"'
        raise ImportError(msg) from error
    return plt


def axes_or_new(ax: Any) -> Any:
    """Return the axes given, or new ones."""
    return _pyplot().subplots()[1] if ax is None else ax


def panels_or_new(axes: Any, heights: tuple[float, ...]) -> Any:
    """Return the axes given, one per panel, or new ones above each other."""
    if axes is not None:
        return axes
    return _pyplot().subplots(len(heights), 1, sharex=True, layout="constrained", height_ratios=heights)[1]


def class_colours(count: int) -> list[str]:
    """Return one colour per class.

    Examples
    --------
    >>> class_colours(2)
    ['#b2182b', '#2166ac']
    """
    return list(TWO) if count == 2 else [MANY[k % len(MANY)] for k in range(count)]


def training_support(model: Any, n: int) -> Any:
    """Return the support vectors of a model as row numbers, shape (m,); none if it was not trained on n rows.

    Examples
    --------
    >>> import halfspace as hs
    >>> model = hs.AdaTron().fit([[1.0], [5.0], [-1.0]], [1, 1, 0])
    >>> training_support(model, 3).tolist(), training_support(model, 7).tolist()
    ([0, 2], [])
    """
    inner, rows = model, np.arange(n)
    if hasattr(model, "learnt_"):  # a ladder: its winner learnt from the rows that were not held out
        inner, rows = model.estimator_, np.asarray(model.learnt_)
    try:
        trained, support = np.shape(inner.alpha_)[-1], np.asarray(inner.support_)
    except AttributeError:  # a model without strengths, such as a committee
        return np.zeros(0, dtype=np.int64)
    return rows[support] if trained == rows.size and n > rows.max(initial=0) else np.zeros(0, dtype=np.int64)
