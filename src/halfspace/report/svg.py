"""A few marks on a pair of axes, as SVG that follows the page's colours.

The marks carry class names only; the page's style sheet colours them, so that one drawing serves light, dark and paper. Text
goes through ElementTree, which escapes it: a column may be called `<script>`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self
from xml.etree import ElementTree as ET

from halfspace._text import number

__all__ = ["Axis", "Chart"]

WIDTH = 420
"""Width of every chart in its own units: at 390 pixels of screen its 13-unit text is still 11 pixels high."""
RIGHT, TOP, BOTTOM = 16, 14, 46
SIZE = 5.0
"""Half the width of a mark."""


@dataclass(frozen=True)
class Axis:
    """A range of numbers with its ticks and its name.

    Examples
    --------
    >>> Axis.over([0.12, 0.93], "share").ticks
    ((0.2, '0.2'), (0.4, '0.4'), (0.6, '0.6'), (0.8, '0.8'))
    """

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

    Examples
    --------
    >>> chart = Chart("c", "A line", "From 0 to 1.", Axis.over([0, 1], "x"), Axis.over([0, 1], "y"))
    >>> chart.line([(0, 0), (1, 1)])
    >>> 'role="img"' in chart.svg()
    True
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
