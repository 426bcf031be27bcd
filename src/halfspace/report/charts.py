"""The charts of a report, one function each: from findings to SVG that follows the page's colours.

No chart relies on colour alone: the winner is a diamond among circles, support vectors are filled bars among outlines, and the
sign of a weight is the side of its bar. Marks carry class names only; the page's style sheet colours them, so that one drawing
serves light, dark and paper. Text goes through ElementTree, which escapes it: a column may be called `<script>`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self
from xml.etree import ElementTree as ET

from halfspace._text import number, shown
from halfspace.ladder import Rung
from halfspace.report.findings import Histogram, Influence, ReliabilityBin

__all__ = ["Axis", "Chart", "influence_chart", "ladder_chart", "learning_chart", "reliability_chart", "stability_chart"]

NAMES = 172
"""Room for names to the left of a chart."""
ROW = 26
WIDTH = 420
"""Width of every chart in its own units: at 390 pixels of screen its 13-unit text is still 11 pixels high."""
RIGHT, TOP, BOTTOM = 16, 14, 46
CONSTANT = frozenset({"majority", "mean"})
"""Rungs that predict the same for every row."""
SIZE = 5.0
"""Half the width of a mark."""


@dataclass(frozen=True)
class Axis:
    """A range of numbers with its ticks and its name."""

    low: float
    high: float
    label: str
    ticks: tuple[tuple[float, str], ...]

    @classmethod
    def over(cls, values: Sequence[float], label: str, *, zero: bool = False) -> Self:
        """Span the values, with 0 if asked for, and a little more; ticks at 1, 2 or 5 times a power of 10."""
        low, high = min(values), max(values)
        low, high = (min(low, 0.0), max(high, 0.0)) if zero else (low, high)
        spare = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
        low, high = low - spare * (not zero or low < 0), high + spare * (not zero or high > 0)
        return cls(low, high, label, _ticks(low, high))

    def place(self, value: float, start: float, end: float) -> float:
        """Return where a value lies between two positions on the page."""
        return start + (value - self.low) / (self.high - self.low) * (end - start)


def _ticks(low: float, high: float, most: int = 6) -> tuple[tuple[float, str], ...]:
    """Return at most `most` round numbers in a range, with their text."""
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(power * m for m in (1, 2, 5, 10, 20) if (high - low) / (power * m) <= most)
    first = math.ceil(low / step - 1e-9)
    values = [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]
    return tuple((float(f"{value:.12g}"), number(float(f"{value:.12g}"), 6)) for value in values)


class Chart:
    """A drawing with axes, to which marks are added.

    Parameters
    ----------
    name : str
        Unique on the page: the ids of title and description begin with it.
    title, description : str
        What a screen reader says.
    x, y : Axis
        Ranges; the ticks of y may be names.
    height, left : int
        Height, and room for the ticks of y.
    """

    def __init__(self, name: str, title: str, description: str, x: Axis, y: Axis, height: int = 270, left: int = 62) -> None:
        self.x, self.y, self.height, self.left = x, y, height, left
        self.root = ET.Element(
            "svg",
            {
                "viewBox": f"0 0 {WIDTH} {height}",
                "role": "img",
                "class": "chart",
                "aria-labelledby": f"{name}-title {name}-description",
            },
        )
        ET.SubElement(self.root, "title", {"id": f"{name}-title"}).text = title
        ET.SubElement(self.root, "desc", {"id": f"{name}-description"}).text = description
        self._axes()

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the position of a pair of values."""
        return self.x.place(x, self.left, WIDTH - RIGHT), self.y.place(y, self.height - BOTTOM, TOP)

    def line(self, points: Sequence[tuple[float, float]], kind: str = "line") -> None:
        """Join points by straight lines."""
        places = (self.at(*point) for point in points)
        self._add("polyline", kind, points=" ".join(f"{x:.1f},{y:.1f}" for x, y in places))

    def bar(self, corner: tuple[float, float], opposite: tuple[float, float], kind: str = "bar", title: str = "") -> None:
        """Fill a rectangle between two corners; the title is shown where the pointer rests."""
        (x0, y0), (x1, y1) = self.at(*corner), self.at(*opposite)
        size = {"width": f"{abs(x1 - x0):.1f}", "height": f"{abs(y1 - y0):.1f}"}
        mark = self._add("rect", kind, x=f"{min(x0, x1):.1f}", y=f"{min(y0, y1):.1f}", **size)
        if title:
            ET.SubElement(mark, "title").text = title

    def point(self, x: float, y: float, kind: str = "point") -> None:
        """Mark a point by a circle, or by a diamond if its kind is "winner"."""
        u, v = self.at(x, y)
        if kind == "winner":
            d = 1.5 * SIZE
            self._add("path", kind, d=f"M{u:.1f} {v - d:.1f}l{d} {d}l{-d} {d}l{-d} {-d}z")
        else:
            self._add("circle", kind, cx=f"{u:.1f}", cy=f"{v:.1f}", r=f"{SIZE}")

    def dots(self, points: Sequence[tuple[float, float]], kind: str = "dots", shape: str = "h0") -> None:
        """Mark many points by one path: a stroke with round ends for each, or another shape around it."""
        places = (self.at(*point) for point in points)
        self._add("path", kind, d="".join(f"M{x:.1f} {y:.1f}{shape}" for x, y in places))

    def whisker(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Draw the bar of a standard error."""
        self.line([start, end], "whisker")

    def note(self, x: float, y: float, text: str, anchor: str = "middle", shift: float = 0.0) -> None:
        """Write at a point; `shift` moves it down."""
        u, v = self.at(x, y)
        self._text(u, v + shift, text, anchor, "note")

    def svg(self) -> str:
        """Return the markup."""
        return ET.tostring(self.root, encoding="unicode", short_empty_elements=False)

    def _add(self, tag: str, kind: str, **attributes: str) -> ET.Element:
        """Add a mark of a class."""
        return ET.SubElement(self.root, tag, {"class": kind, **attributes})

    def _text(self, x: float, y: float, text: str, anchor: str, kind: str) -> None:
        """Add words."""
        self._add("text", kind, x=f"{x:.1f}", y=f"{y:.1f}", **{"text-anchor": anchor}).text = text

    def _axes(self) -> None:
        """Draw the grid, the ticks and the names of the axes."""
        bottom, right = self.height - BOTTOM, WIDTH - RIGHT
        for value, text in self.x.ticks:
            u = self.x.place(value, self.left, right)
            self._add("line", "grid", x1=f"{u:.1f}", x2=f"{u:.1f}", y1=f"{TOP}", y2=f"{bottom}")
            self._text(u, bottom + 17, text, "middle", "tick")
        for value, text in self.y.ticks:
            v = self.y.place(value, bottom, TOP)
            self._add("line", "grid", x1=f"{self.left}", x2=f"{right}", y1=f"{v:.1f}", y2=f"{v:.1f}")
            self._text(self.left - 7, v + 4.5, text, "end", "tick")
        self._text((self.left + right) / 2, self.height - 8, self.x.label, "middle", "axis")
        if self.y.label:
            middle = (TOP + bottom) / 2
            turned = self._add("text", "axis", transform=f"translate(14 {middle:.1f}) rotate(-90)", **{"text-anchor": "middle"})
            turned.text = self.y.label


def ladder_chart(rungs: Sequence[Rung], winner: str, scoring: str) -> str:
    """Draw the score of every climbed rung with its standard error; empty if none was climbed."""
    climbed = [(rung, rung.score, rung.error) for rung in rungs if rung.climbed]
    if not climbed:
        return ""
    places = {rung.name: float(len(climbed) - k) for k, (rung, _, _) in enumerate(climbed)}
    scaled = [part for part in climbed if part[0].name not in CONSTANT] or climbed
    ends = [score + sign * error for _, score, error in scaled for sign in (-1, 1)]
    y = Axis(
        0.4, len(climbed) + 0.6, "", tuple((places[rung.name], shown(rung.title.split(" (")[0], 21)) for rung, _, _ in climbed)
    )
    described = ", ".join(f"{shown(rung.title)} {number(score)} ± {number(error, 2)}" for rung, score, error in climbed)
    x = Axis.over(ends, f"{scoring}, ± one standard error")
    chart = Chart("ladder", "Score of each rung", f"{described}.", x, y, height=70 + 34 * len(climbed), left=NAMES)
    for rung, score, error in climbed:
        level = places[rung.name]
        if score < x.low:  # a constant prediction, far away: it would squeeze the others together
            chart.note(x.low, level, f"\N{NO-BREAK SPACE}← {number(score)}", "start", shift=4.5)
        elif score > x.high:
            chart.note(x.high, level, f"{number(score)} →\N{NO-BREAK SPACE}", "end", shift=4.5)
        else:
            chart.whisker((score - error, level), (score + error, level))
            chart.point(score, level, "winner" if rung.name == winner else "point")
    return chart.svg()


def stability_chart(histogram: Histogram) -> str:
    """Draw how the potentials spread, support vectors filled."""
    x = Axis.over(histogram.edges, f"{histogram.quantity}, out of fold")
    y = Axis.over([1.15 * max(histogram.counts)], "rows", zero=True)
    text = f"{histogram.n_wrong:,} of {histogram.n:,} training rows are on the wrong side, left of 0."
    chart = Chart("stability", f"How far the rows are on their side: {histogram.quantity}", text, x, y)
    support = histogram.support or (0,) * len(histogram.counts)
    for a, b, count, held in zip(histogram.edges[:-1], histogram.edges[1:], histogram.counts, support, strict=True):
        where = f"{number(a)} to {number(b)}: {count:,} rows" + (f", {held:,} support vectors" if histogram.support else "")
        if count:
            chart.bar((a, 0), (b, count), "outline", where)
        if held:
            chart.bar((a, 0), (b, held), "bar", where)
    chart.line([(0, y.low), (0, y.high)], "zero")
    chart.note(0, y.high, "← wrong\N{NO-BREAK SPACE}", "end", shift=12)
    chart.note(0, y.high, "\N{NO-BREAK SPACE}right →", "start", shift=12)
    return chart.svg()


def influence_chart(found: Influence, name: str, quantity: str) -> str:
    """Draw weights, or losses of score with their spread, as bars to either side of 0."""
    count = len(found.names)
    y = Axis(0.4, count + 0.6, "", tuple((float(count - k), shown(text, 20)) for k, text in enumerate(found.names)))
    spread = found.spread or (0.0,) * count
    sizes = [s if math.isfinite(s) else 0.0 for s in spread]
    ends = [value + sign * s for value, s in zip(found.values, sizes, strict=True) for sign in (-1, 1)]
    x = Axis.over(ends or [1.0], quantity, zero=True)
    title = f"Largest: {quantity}" + (f", class {found.label}" if found.label else "")
    described = "; ".join(f"{text} {number(value)}" for text, value in zip(found.names, found.values, strict=True))
    chart = Chart(name, title, f"{described}.", x, y, height=60 + ROW * count, left=NAMES)
    for k, (value, s) in enumerate(zip(found.values, spread, strict=True)):
        level = float(count - k)
        chart.bar((0, level - 0.32), (value, level + 0.32), "bar" if value > 0 else "outline", number(value))
        if s and math.isfinite(s):
            chart.whisker((value - s, level), (value + s, level))
    chart.line([(0, y.low), (0, y.high)], "zero")
    return chart.svg()


def reliability_chart(bins: Sequence[ReliabilityBin]) -> str:
    """Draw how often probabilities came true against what they said, ± one standard error of chance; the diagonal is ideal."""
    errors = [math.sqrt(b.probability * (1.0 - b.probability) / b.count) for b in bins]
    ends = [(max(b.frequency - e, 0.0), min(b.frequency + e, 1.0)) for b, e in zip(bins, errors, strict=True)]
    lowest = min(min(b.probability, low) for b, (low, _) in zip(bins, ends, strict=True))
    lowest = 0.0 if lowest < 0.4 else lowest
    x = Axis.over([lowest, 1.0], "probability given, out of fold")
    y = Axis.over([lowest, 1.0], "share that came true")
    text = "; ".join(f"said {number(b.probability, 2)}, came true {number(b.frequency, 2)}, {b.count:,} rows" for b in bins)
    chart = Chart("reliability", "Probabilities against what came true", f"{text}.", x, y, height=320)
    chart.line([(lowest, lowest), (1.0, 1.0)], "threshold")
    for b, (low, high) in zip(bins, ends, strict=True):
        chart.whisker((b.probability, low), (b.probability, high))
        chart.point(b.probability, b.frequency)
    return chart.svg()


def learning_chart(points: Sequence[tuple[int, float, float, float]], scoring: str) -> str:
    """Draw the score of unseen rows, with its standard error, and that of rows learnt from, against their number."""
    x = Axis.over([n for n, *_ in points], "training rows", zero=True)
    y = Axis.over([value for _, score, error, seen in points for value in (score - error, score + error, seen)], scoring)
    text = "; ".join(
        f"{n:,} rows: {number(score)} ± {number(error, 2)}, seen {number(seen)}" for n, score, error, seen in points
    )
    chart = Chart("learning", "Score by number of training rows", f"{text}.", x, y)
    chart.line([(n, score) for n, score, *_ in points])
    chart.line([(n, seen) for n, *_, seen in points], "dashed")
    for n, score, error, _ in points:
        chart.whisker((n, score - error), (n, score + error))
        chart.point(n, score)
    return chart.svg()
