"""Curves and tables of a classifier: what every threshold would give, and how each class fares.

The area under the ROC curve is the chance that a positive row has a larger output than a negative one; average precision is the
mean precision over the recalls that are reached. A classifier that knows nothing lies on the dashed line: its area is 1/2, and
its precision the share of positive rows.
"""

from xml.etree import ElementTree as ET

import numpy as np
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from halfspace._text import number, shown
from halfspace._typing import FloatArray, IntArray, Labels
from halfspace.certificates.operating import OperatingPoint, Share
from halfspace.report.charts import Axis, Chart

__all__ = ["class_table", "precision_recall_chart", "roc_chart"]

MOST_POINTS = 300
"""Points of a drawn curve."""
MOST_CLASSES = 20
"""Rows of a table of classes."""


def roc_chart(outputs: FloatArray, own: Labels, label: str, point: OperatingPoint | None = None) -> str:
    """Draw the ROC curve of outputs, shape (n,), for rows that are positive where `own`, shape (n,); empty if all are alike.

    Examples
    --------
    >>> import numpy as np
    >>> drawn = roc_chart(np.array([-1.0, 0.5, 0.2, 2.0]), np.array([False, False, True, True]), "yes")
    >>> "Area under the ROC curve of “yes”: 0.75" in drawn
    True
    """
    own = np.asarray(own, dtype=bool)
    if own.all() or not own.any():
        return ""
    false, true, _ = roc_curve(own, outputs)
    text = f"Area under the ROC curve of “{shown(label)}”: {number(float(roc_auc_score(own, outputs)))}."
    x, y = Axis.over([0.0, 1.0], "share of the others called positive"), Axis.over([0.0, 1.0], "recall")
    chart = Chart("roc", "ROC: recall against false alarms", text, x, y, height=320)
    chart.line([(0.0, 0.0), (1.0, 1.0)], "threshold")
    chart.line(_thinned(false, true))
    shares = _shares(point)
    if shares:
        chart.point(1.0 - shares["specificity"], shares["recall"], "winner")
    chart.note(0.97, 0.06, f"area {number(float(roc_auc_score(own, outputs)))}", "end")
    return chart.svg()


def precision_recall_chart(outputs: FloatArray, own: Labels, label: str, point: OperatingPoint | None = None) -> str:
    """Draw precision against recall of outputs, shape (n,), for rows that are positive where `own`, shape (n,)."""
    own = np.asarray(own, dtype=bool)
    if own.all() or not own.any():
        return ""
    precision, recall, _ = precision_recall_curve(own, outputs)
    mean, share = float(average_precision_score(own, outputs)), float(own.mean())
    text = f"Average precision of “{shown(label)}”: {number(mean)}; its share of the rows: {number(share)}."
    x, y = Axis.over([0.0, 1.0], "recall"), Axis.over([0.0, 1.0], "precision")
    chart = Chart("precision", "Precision against recall", text, x, y, height=320)
    chart.line([(0.0, share), (1.0, share)], "threshold")
    stairs = np.repeat(recall, 2)[1:], np.repeat(precision, 2)[:-1]  # as average precision adds them up
    chart.line(_thinned(*stairs))
    shares = _shares(point)
    if shares and "precision" in shares:
        chart.point(shares["recall"], shares["precision"], "winner")
    chart.note(0.03, 0.06, f"average precision {number(mean)}", "start")
    return chart.svg()


def class_table(confusion: IntArray, classes: Labels) -> str:
    """Return recall and precision of each class as an HTML table, from counts, shape (K, K), rows true, columns predicted.

    Of many classes those with the lowest recall are shown; shares come with their exact 95 % intervals.
    """
    names, recalls = (
        [shown(label) for label in np.asarray(classes).tolist()],
        np.diag(confusion) / confusion.sum(axis=1).clip(1),
    )
    order = np.arange(len(names)) if len(names) <= MOST_CLASSES else np.argsort(recalls, kind="stable")[:MOST_CLASSES]
    table = ET.Element("table")
    left_out = len(names) - len(order)
    rest = f"; the {len(order)} with the lowest recall, {left_out:,} others left out" if left_out else ""
    ET.SubElement(table, "caption").text = f"Recall and precision of each class on held-out rows, with 95 % intervals{rest}"
    head = ET.SubElement(ET.SubElement(table, "thead"), "tr")
    for text, kind in (
        ("Class", ""),
        ("Rows", "number"),
        ("Recall", "number"),
        ("Predicted", "number"),
        ("Precision", "number"),
    ):
        ET.SubElement(head, "th", {"scope": "col"} | ({"class": kind} if kind else {})).text = text
    body = ET.SubElement(table, "tbody")
    for k in order.tolist():
        row = ET.SubElement(body, "tr")
        ET.SubElement(row, "th", {"scope": "row"}).text = names[k]
        right, rows, called = (int(count) for count in (confusion[k, k], confusion[k].sum(), confusion[:, k].sum()))
        recall, precision = Share.of_counts("recall", right, rows), Share.of_counts("precision", right, called)
        for cell in (f"{rows:,}", _written(recall), f"{called:,}", _written(precision)):
            ET.SubElement(row, "td", {"class": "number"}).text = cell
    return ET.tostring(table, encoding="unicode", short_empty_elements=False)


def _written(share: Share) -> str:
    """Return a share with its interval."""
    if not share.of:
        return "–"
    return f"{100 * share.value:.1f} % ({100 * share.low:.1f} to {100 * share.high:.1f})"


def _shares(point: OperatingPoint | None) -> dict[str, float]:
    """Return the shares of an operating point by name, of held-out rows if there are some."""
    shares = (point.held_out or point.out_of_fold) if point is not None else ()
    return {share.name: share.value for share in shares if share.of}


def _thinned(x: FloatArray, y: FloatArray) -> list[tuple[float, float]]:
    """Return the points of a curve, or so many of them."""
    kept = np.unique(np.linspace(0, x.size - 1, MOST_POINTS).round().astype(int)) if x.size > MOST_POINTS else np.arange(x.size)
    return list(zip(x[kept].tolist(), y[kept].tolist(), strict=True))
