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
from halfspace.modelfiles.writing import write_whole
from halfspace.report import charts
from halfspace.report.claims import words
from halfspace.report.findings import Findings
from halfspace.report.gathering import gather

__all__ = ["render", "write"]

MOST_CLASSES, MOST_CONFUSIONS, MOST_SEPARATIONS = 20, 20, 20
"""Largest confusion matrix that is shown whole, pairs listed from a larger one, and classes of the separability table."""
SCORES = {"accuracy": "accuracy", "balanced_accuracy": "balanced accuracy"}


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
    if findings.test is None:
        return []
    wrong = findings.test.confusion - np.diag(np.diag(findings.test.confusion))
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
    environment.filters["listed"] = partial(listed, show=shown)
    environment.globals.update(plural=plural, zip=zip, style=_template("page.css"))
    scoring = SCORES.get(findings.scoring, findings.scoring)
    limits = {"most_classes": MOST_CLASSES, "most_separations": MOST_SEPARATIONS, "confusions": confusions(findings)}
    template = environment.get_template("page.html")
    page: str = template.render(found=findings, scoring=scoring, charts=_charts(findings, scoring), **limits)
    return page.encode("utf-8", "replace").decode("utf-8")


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

    quantity = {"weights": "weight", "relevances": "share of the metric"}.get(found.weighed, f"{scoring} lost")
    drawn = {
        "ladder": charts.ladder_chart(found.rungs, found.winner, found.best, scoring),
        "stability": charts.stability_chart(found.stability) if found.stability is not None else "",
        "reliability": charts.reliability_chart(found.reliability) if found.reliability else "",
        "learning": charts.learning_chart(found.learning_curve, scoring) if found.learning_curve else "",
    }
    weighed = [charts.influence_chart(part, f"influence-{k}", quantity) for k, part in enumerate(found.influence)]
    ready: dict[str, Any] = {name: Markup(chart) for name, chart in drawn.items()}  # noqa: S704
    return {**ready, "influence": [Markup(chart) for chart in weighed]}  # noqa: S704
