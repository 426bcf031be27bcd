"""The charts of a report, one function each: from findings to SVG.

No chart tells by colour alone: the winner is a diamond among circles, support vectors are filled bars among outlines, and the
sign of a weight is the side of its bar.
"""

import math
from collections.abc import Sequence

from halfspace._text import number
from halfspace.report.findings import Histogram, Influence, LearningPoint, ReliabilityBin, RungScore
from halfspace.report.svg import Axis, Chart
from halfspace.report.texts import shown

__all__ = ["influence_chart", "ladder_chart", "learning_chart", "reliability_chart", "stability_chart"]

NAMES = 172
"""Room for names to the left of a chart."""
ROW = 26


def ladder_chart(rungs: Sequence[RungScore], winner: str, best: str, scoring: str) -> str:
    """Draw the score of every climbed rung with its standard error; empty if none was climbed.

    Examples
    --------
    >>> rung = RungScore("majority", "Majority", 0.6, 0.1, 0.0, 0.0, None, "", "", "", "")
    >>> ladder_chart([rung], "majority", "majority", "accuracy").count('class="winner"')
    1
    """
    climbed = [(rung, rung.score, rung.error or 0.0) for rung in rungs if rung.score is not None]
    if not climbed:
        return ""
    places = {rung.name: float(len(climbed) - k) for k, (rung, _, _) in enumerate(climbed)}
    scaled = [part for part in climbed if part[0].name != "majority"] or climbed
    ends = [score + sign * error for _, score, error in scaled for sign in (-1, 1)]
    y = Axis(
        0.4, len(climbed) + 0.6, "", tuple((places[rung.name], shown(rung.title.split(" (")[0], 21)) for rung, _, _ in climbed)
    )
    described = ", ".join(f"{shown(rung.title)} {number(score)} ± {number(error, 2)}" for rung, score, error in climbed)
    x = Axis.over(ends, f"{scoring}, ± one standard error")
    chart = Chart("ladder", "Score of each rung", f"{described}.", x, y, height=70 + 34 * len(climbed), left=NAMES)
    errors = [error for rung, _, error in climbed if rung.name in (best, winner)]
    threshold = next((score - max(errors) for rung, score, _ in climbed if rung.name == best), None)
    if threshold is not None:
        chart.line([(threshold, y.low), (threshold, y.high)], "threshold")
    for rung, score, error in climbed:
        level = places[rung.name]
        if score < x.low:  # the majority class, far below: it would squeeze the others together
            chart.note(x.low, level, f"\N{NO-BREAK SPACE}← {number(score)}", "start", shift=4.5)
            continue
        chart.whisker((score - error, level), (score + error, level))
        chart.point(score, level, "winner" if rung.name == winner else "point")
    return chart.svg()


def stability_chart(histogram: Histogram) -> str:
    """Draw how the potentials spread, support vectors filled.

    Examples
    --------
    >>> stability_chart(Histogram("potential", (-1.0, 0.0, 1.0), (1, 9), (1, 0), 1, 10)).count("<rect")
    3
    """
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
    """Draw weights, or losses of score with their spread, as bars to either side of 0.

    Examples
    --------
    >>> influence_chart(Influence("yes", ("size", "age"), (-2.0, 0.5), (), 0), "weights-0", "weight").count("<rect")
    2
    """
    count = len(found.names)
    y = Axis(0.4, count + 0.6, "", tuple((float(count - k), shown(text, 20)) for k, text in enumerate(found.names)))
    spread = found.spread or (0.0,) * count
    ends = [value + sign * s for value, s in zip(found.values, spread, strict=True) for sign in (-1, 1)]
    x = Axis.over(ends or [1.0], quantity, zero=True)
    title = f"Largest: {quantity}" + (f", class {found.label}" if found.label else "")
    described = "; ".join(f"{text} {number(value)}" for text, value in zip(found.names, found.values, strict=True))
    chart = Chart(name, title, f"{described}.", x, y, height=60 + ROW * count, left=NAMES)
    for k, (value, s) in enumerate(zip(found.values, spread, strict=True)):
        level = float(count - k)
        chart.bar((0, level - 0.32), (value, level + 0.32), "bar" if value > 0 else "outline", number(value))
        if s:
            chart.whisker((value - s, level), (value + s, level))
    chart.line([(0, y.low), (0, y.high)], "zero")
    return chart.svg()


def reliability_chart(bins: Sequence[ReliabilityBin]) -> str:
    """Draw how often probabilities came true against what they said, ± one standard error of chance; the diagonal is perfect.

    Examples
    --------
    >>> reliability_chart([ReliabilityBin(0.1, 0.0, 5), ReliabilityBin(0.9, 1.0, 5)]).count("<circle")
    2
    """
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


def learning_chart(points: Sequence[LearningPoint], scoring: str) -> str:
    """Draw the score against the number of training rows.

    Examples
    --------
    >>> learning_chart([LearningPoint(50, 0.8, 0.02), LearningPoint(100, 0.9, 0.01)], "accuracy").count("<circle")
    2
    """
    x = Axis.over([p.n for p in points], "training rows", zero=True)
    y = Axis.over([p.score + sign * p.error for p in points for sign in (-1, 1)], scoring)
    text = "; ".join(f"{p.n:,} rows: {number(p.score)} ± {number(p.error, 2)}" for p in points)
    chart = Chart("learning", "Score by number of training rows", f"{text}.", x, y)
    chart.line([(p.n, p.score) for p in points])
    for p in points:
        chart.whisker((p.n, p.score - p.error), (p.n, p.score + p.error))
        chart.point(p.n, p.score)
    return chart.svg()
