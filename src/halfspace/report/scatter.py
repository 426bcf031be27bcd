"""Charts of many points: predicted against true, residuals against a column, and the rows on two principal components."""

import math
from collections.abc import Sequence

from halfspace._text import number, plural
from halfspace.report.charts import NAMES, Axis, Chart
from halfspace.report.findings import Pairs, Picture, Residuals

__all__ = ["MARKS", "pairs_chart", "picture_chart", "residual_chart"]

MARKS = (
    ("dots", "Dots", "h0"),
    ("crosses", "Crosses", "m-3-3l6 6m0-6l-6 6"),
    ("triangles", "Triangles", "m-3.5 3h7l-3.5-6z"),
    ("squares", "Squares", "m-3-3h6v6h-6z"),
    ("pluses", "Plus signs", "m-3.5 0h7m-3.5-3.5v7"),
    ("others", "Small dots", "h0"),
)
"""Marks of classes: class of the style sheet, what it is called, and its shape."""
FIFTHS = ("fifth-1", "fifth-2", "fifth-3", "fifth-4", "fifth-5")
RING = "m-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0-11 0"


def pairs_chart(pairs: Pairs) -> str:
    """Draw true numbers against predicted ones; on the dashed line they agree."""
    both = [*pairs.true, *pairs.predicted]
    x, y = Axis.over(both, "predicted"), Axis.over(both, "true")
    text = f"{plural(len(pairs.true), 'row')}; true from {number(min(pairs.true))} to {number(max(pairs.true))}, "
    text += f"predicted from {number(min(pairs.predicted))} to {number(max(pairs.predicted))}."
    chart = Chart("pairs", "True against predicted numbers", text, x, y, height=330, left=74)
    chart.line([(min(both), min(both)), (max(both), max(both))], "threshold")
    chart.dots(list(zip(pairs.predicted, pairs.true, strict=True)))
    return chart.svg()


def residual_chart(found: Residuals, name: str) -> str:
    """Draw residuals against a column or the prediction, with the means of groups and their standard errors."""
    errors = [error if math.isfinite(error) else 0.0 for _, _, error, _ in found.groups]
    ends = [mean + sign * e for (_, mean, _, _), e in zip(found.groups, errors, strict=True) for sign in (-1, 1)]
    title = f"Residuals against {found.name}"
    if found.labels:
        return _residuals_by_label(found, name, title, Axis.over(ends, "mean residual", zero=True))
    text = "; ".join(f"{number(x)}: {number(mean)} ± {number(error, 2)}" for x, mean, error, _ in found.groups)
    x, y = Axis.over(found.x, found.name), Axis.over([*found.residuals, *ends], "true − predicted", zero=True)
    chart = Chart(name, title, f"Means of groups: {text}.", x, y, height=250, left=74)
    chart.dots(list(zip(found.x, found.residuals, strict=True)), "faint")
    chart.line([(x.low, 0.0), (x.high, 0.0)], "zero")
    for (place, mean, _, _), error in zip(found.groups, errors, strict=True):
        chart.whisker((place, mean - error), (place, mean + error))
        chart.point(place, mean)
    return chart.svg()


def _residuals_by_label(found: Residuals, name: str, title: str, x: Axis) -> str:
    """Draw the mean residual of each value of a column of text."""
    count = len(found.labels)
    y = Axis(0.4, count + 0.6, "", tuple((count + 1.0 - k, label) for k, label in enumerate(found.labels, 1)))
    parts = zip(found.labels, found.groups, strict=True)
    text = "; ".join(f"{label}: {number(mean)} ± {number(error, 2)}" for label, (_, mean, error, _) in parts)
    chart = Chart(name, title, f"{text}.", x, y, height=70 + 26 * count, left=NAMES)
    chart.line([(0.0, y.low), (0.0, y.high)], "zero")
    for place, mean, error, _ in found.groups:
        level = count + 1.0 - place
        if math.isfinite(error):
            chart.whisker((mean - error, level), (mean + error, level))
        chart.point(mean, level)
    return chart.svg()


def picture_chart(picture: Picture, *, numbers: bool) -> str:
    """Draw rows on two principal components; classes differ in their marks, fifths of a target in size; errors have rings."""
    x = Axis.over(picture.x, f"first principal component ({100 * picture.shares[0]:.0f} % of the variance)")
    y = Axis.over(picture.y, f"second ({100 * picture.shares[1]:.0f} %)")
    counts = [picture.group.count(k) for k in range(len(picture.names))]
    text = "; ".join(f"{name}: {plural(count, 'row')}" for name, count in zip(picture.names, counts, strict=True))
    errors = sum(picture.wrong)
    chart = Chart("picture", "Rows on two principal components", f"{text}; {errors:,} marked as errors.", x, y, height=340)
    for k in range(len(picture.names)):
        kind, _, shape = (FIFTHS[k], "", "h0") if numbers else MARKS[k]
        points = _points(picture, [group == k for group in picture.group])
        if points:
            chart.dots(points, kind, shape)
    wrong = _points(picture, picture.wrong)
    if wrong:
        chart.dots(wrong, "rings", RING)
    return chart.svg()


def _points(picture: Picture, chosen: Sequence[bool]) -> list[tuple[float, float]]:
    """Return the places of some rows."""
    return [(a, b) for a, b, there in zip(picture.x, picture.y, chosen, strict=False) if there]
