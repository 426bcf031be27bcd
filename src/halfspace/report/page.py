"""From findings to one HTML file: no script, nothing from outside, every text escaped."""

from functools import partial
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from halfspace._text import listed, number, plural, shown
from halfspace._typing import Labels
from halfspace.errors import FileError, ModelFileError
from halfspace.ladder import TestResult
from halfspace.ladder.measures import MEASURES
from halfspace.modelfiles.writing import write_whole
from halfspace.report import charts
from halfspace.report.claims import words
from halfspace.report.curves import class_table, precision_recall_chart, roc_chart
from halfspace.report.findings import Findings, Numbers
from halfspace.report.gathering import gather
from halfspace.report.scatter import MARKS, pairs_chart, picture_chart, residual_chart

__all__ = ["render", "write"]

MOST_CLASSES, MOST_CONFUSIONS, MOST_SEPARATIONS = 20, 20, 20
"""Largest confusion matrix that is shown whole, pairs listed from a larger one, and classes of the separability table."""
NUMBERS = (
    ("held-out", "Predictions"),
    ("guarantee", "Intervals"),
    ("residuals", "Residuals"),
    ("inputs", "Inputs"),
)
CLASSES = (
    ("separable", "Separability"),
    ("theory", "Theory"),
    ("held-out", "Held-out rows"),
    ("thresholds", "Thresholds"),
    ("stabilities", "Stability"),
    ("inputs", "Inputs"),
    ("hard", "Hard examples"),
    ("probabilities", "Probabilities"),
    ("guarantee", "Sets"),
)
OTHERS = (("picture", "Picture"), ("more-rows", "Learning curve"), ("proof", "Certificate"), ("data", "Data"))
"""Sections and their short names: of numbers, of classes, and those that follow."""


def percent(share: float) -> str:
    """Write a share of 1 in per cent."""
    return f"{100 * share:.1f}\N{NO-BREAK SPACE}%"


def duration(seconds: float) -> str:
    """Write a time with the unit that suits it."""
    if seconds < 1:
        return f"{max(1000 * seconds, 1):.0f}\N{NO-BREAK SPACE}ms"
    return f"{seconds:.1f}\N{NO-BREAK SPACE}s" if seconds < 120 else f"{seconds / 60:.0f}\N{NO-BREAK SPACE}min"


def confusions(findings: Findings) -> list[tuple[str, str, int]]:
    """Return the commonest confusions of the held-out rows: true label, predicted label, rows."""
    confusion = getattr(findings.test, "confusion", None)
    if confusion is None:
        return []
    wrong = confusion - np.diag(np.diag(confusion))
    order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_CONFUSIONS]
    pairs = zip(*np.unravel_index(order, wrong.shape), strict=True)
    return [(findings.classes[i], findings.classes[j], int(wrong[i, j])) for i, j in pairs if wrong[i, j]]


def render(findings: Findings) -> str:
    """Make the page.

    Parameters
    ----------
    findings : Findings
        From `gather`.

    Returns
    -------
    str
        A whole HTML document.
    """
    jinja2 = _jinja2()
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_template),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(percent=percent, duration=duration, number=number, shown=shown, words=words)
    measure = MEASURES[findings.scoring]
    environment.filters["listed"] = partial(listed, show=shown)
    environment.filters["nobreak"] = _nobreak
    environment.filters["written"] = lambda value: _nobreak(measure.written(value))
    environment.globals.update(plural=plural, zip=zip, style=_template("page.css"))
    limits = {"most_classes": MOST_CLASSES, "most_separations": MOST_SEPARATIONS, "confusions": confusions(findings)}
    parts = NUMBERS if findings.task == "regress" else CLASSES
    page: str = environment.get_template("page.html").render(
        found=findings,
        measure=measure,
        measures=MEASURES,
        scoring=measure.title,
        charts=_charts(findings, measure.title),
        contents=(("the-ladder", "Ladder"), *(part for part in parts if part[0] != "theory" or findings.theory), *OTHERS),
        marks=MARKS,
        majority=_majority(findings),
        **limits,
    )
    return page.encode("utf-8", "replace").decode("utf-8")


def _nobreak(text: str) -> str:
    """Keep a number and its per cent sign on one line."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def _majority(found: Findings) -> float:
    """Return the share of the held-out rows that are of the commonest class there; NaN without any."""
    return float(found.test.confusion.sum(axis=1).max() / found.test.n) if isinstance(found.test, TestResult) else float("nan")


def write(
    ladder: Any,
    X: Any,
    y: Labels,
    path: str | Path,
    *,
    dataset: Any = None,
    model_path: str | PathLike[str] | None = None,
    file_path: str | PathLike[str] | None = None,
) -> None:
    """Write the report of a fitted ladder; an older file stays whole until the new one is complete.

    Parameters
    ----------
    ladder : Ladder
        Fitted.
    X, y : table (n, d) and array (n,)
        What was given to its `fit`.
    path : path
        Where the HTML goes.
    dataset, model_path, file_path : optional
        As for `gather`.

    Raises
    ------
    FileError
        If the file cannot be written.
    """
    page = render(gather(ladder, X, y, dataset=dataset, model_path=model_path, file_path=file_path))
    try:
        write_whole(path, [page.encode()])
    except ModelFileError as error:  # its sentence is about any file
        raise FileError(str(error)) from error


def _jinja2() -> Any:
    """Import the template engine, or say how to get it."""
    try:
        import jinja2  # noqa: PLC0415  (an extra: imported only when a report is asked for)
    except ImportError as error:
        msg = 'a report needs jinja2; install it with: pip install "halfspace[cli]"'
        raise ImportError(msg) from error
    return jinja2


def _template(name: str) -> str:
    """Read a file of this package."""
    return files("halfspace.report").joinpath(name).read_text(encoding="utf-8")


def _charts(found: Findings, scoring: str) -> dict[str, Any]:
    """Draw every chart there is something for; markup that needs no escaping, because ElementTree did it."""
    from markupsafe import Markup  # noqa: PLC0415  (comes with jinja2)

    drawn = {
        "ladder": charts.ladder_chart(found.rungs, found.winner, scoring),
        "learning": charts.learning_chart(found.learning_curve, scoring) if found.learning_curve else "",
        "picture": picture_chart(found.picture, numbers=found.numbers is not None) if found.picture is not None else "",
    }
    if found.importance is not None and found.importance.names:
        lost = "cost / variance" if found.numbers is not None else "more errors"
        drawn["importance"] = charts.influence_chart(found.importance, "importance", f"{lost}, ± one standard error")
    several: dict[str, list[str]] = {}
    if found.numbers is not None:
        drawn |= _drawn_numbers(found.numbers)
        several["residuals"] = [residual_chart(part, f"residuals-{k}") for k, part in enumerate(found.numbers.residuals)]
    else:
        drawn |= _drawn_classes(found)
        quantity = {"weights": "weight", "relevances": "share of the metric"}.get(found.weighed, "")
        weighed = enumerate(found.influence)
        several["influence"] = [charts.influence_chart(part, f"influence-{k}", quantity) for k, part in weighed]
    ready: dict[str, Any] = {name: Markup(chart) for name, chart in drawn.items()}  # noqa: S704
    return ready | {name: [Markup(chart) for chart in parts] for name, parts in several.items()}  # noqa: S704


def _drawn_numbers(found: Numbers) -> dict[str, str]:
    """Draw what is about numbers."""
    weights = found.coefficients
    return {
        "pairs": pairs_chart(found.pairs) if found.pairs is not None else "",
        "coefficients": charts.influence_chart(weights, "coefficients", "weight, ± one standard error")
        if weights is not None and weights.names
        else "",
    }


def _drawn_classes(found: Findings) -> dict[str, str]:
    """Draw what is about classes."""
    drawn = {
        "stability": charts.stability_chart(found.stability) if found.stability is not None else "",
        "reliability": charts.reliability_chart(found.reliability) if found.reliability else "",
        "per_class": class_table(found.test.confusion, np.array(found.classes)) if isinstance(found.test, TestResult) else "",
        "roc": "",
        "precision": "",
    }
    if found.ranking is not None:
        outputs, own, label = np.array(found.ranking.outputs), np.array(found.ranking.own), found.ranking.label
        point = found.point if found.point is not None and found.point.positive >= 0 else None
        drawn["roc"] = roc_chart(outputs, own, label, point)
        drawn["precision"] = precision_recall_chart(outputs, own, label, point)
    return drawn
