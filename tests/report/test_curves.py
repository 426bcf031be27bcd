"""ROC, precision against recall, and the table of classes."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from halfspace.certificates.operating import Demand, OperatingPoint
from halfspace.report.curves import class_table, precision_recall_chart, roc_chart

RNG = np.random.default_rng(0)
OWN = RNG.random(2000) < 0.1
F = RNG.normal(size=2000) + 1.5 * OWN
P = np.stack([1 - 1 / (1 + np.exp(-F)), 1 / (1 + np.exp(-F))], axis=1)


@pytest.mark.parametrize(("draw", "area"), [(roc_chart, roc_auc_score), (precision_recall_chart, average_precision_score)])
def test_a_curve_says_its_area_and_marks_the_operating_point(draw, area):
    """The area is scikit-learn's, of few points, in words for screen readers; the operating point is the diamond."""
    point = OperatingPoint.choose(Demand.read(threshold="recall>=0.8"), P, OWN, np.array([False, True]))
    drawn = draw(F, OWN, "<b>spam</b>", point)
    root = ET.fromstring(drawn)  # noqa: S314  (our own)
    assert f"{area(OWN, F):.3g}" in root.find("desc").text
    assert "<b>" not in drawn
    assert drawn.count('class="winner"') == 1
    assert len(drawn) < 12_000
    assert draw(F, OWN, "spam").count('class="winner"') == 0


@pytest.mark.parametrize("draw", [roc_chart, precision_recall_chart])
def test_one_class_has_no_curve(draw):
    """Where all rows are of one class there is nothing to draw."""
    assert draw(F, np.zeros(2000, dtype=bool), "yes") == draw(F, np.ones(2000, dtype=bool), "yes") == ""


def test_each_class_has_its_recall_and_precision():
    """Shares of rows and of columns of the confusion matrix, with exact intervals; none where there are no rows."""
    table = ET.fromstring(class_table(np.array([[8, 2, 0], [0, 5, 0], [0, 0, 0]]), np.array(["a", "<b>", "c"])))  # noqa: S314
    rows = [[cell.text for cell in row] for row in table.find("tbody")]
    assert [row[0] for row in rows] == ["a", "<b>", "c"]
    assert rows[0][1:3] == ["10", "80.0 % (44.4 to 97.5)"]
    assert rows[1][4].startswith("71.4 % (")
    assert rows[2][1:] == ["0", "–", "0", "–"]


def test_of_many_classes_the_worst_are_shown():
    """A table of 300 classes has 20 rows, those of lowest recall, and says so."""
    confusion = 5 * np.eye(300, dtype=int)
    confusion[7, :2] += 1
    drawn = class_table(confusion, np.arange(300))
    assert drawn.count("<tr>") == 21
    assert "280 others left out" in drawn
    assert drawn.index('<th scope="row">7</th>') < drawn.index('<th scope="row">0</th>')
