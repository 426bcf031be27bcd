"""The private helpers of `halfspace.report`, each on a small case."""

import numpy as np

from halfspace.certificates import LeastSquaresGap, MarginBracket, MistakeBound, Novikoff
from halfspace.ladder import Rung
from halfspace.report import charts, claims, gathering, influence, outputs, page
from halfspace.report.findings import Histogram, Influence, ReliabilityBin


def test_charts():
    """Each chart draws one mark per value, and says what it is."""
    assert charts.Axis.over([0.12, 0.93], "share").ticks == ((0.2, "0.2"), (0.4, "0.4"), (0.6, "0.6"), (0.8, "0.8"))
    chart = charts.Chart("c", "A line", "From 0 to 1.", charts.Axis.over([0, 1], "x"), charts.Axis.over([0, 1], "y"))
    chart.line([(0, 0), (1, 1)])
    assert 'role="img"' in chart.svg()
    rung = Rung("majority", "Majority", score=0.6, error=0.1)
    assert charts.ladder_chart([rung], "majority", "accuracy").count('class="winner"') == 1
    assert charts.stability_chart(Histogram("potential", (-1.0, 0.0, 1.0), (1, 9), (1, 0), 1, 10)).count("<rect") == 3
    assert (
        charts.influence_chart(Influence("yes", ("size", "age"), (-2.0, 0.5), (), 0), "weights-0", "weight").count("<rect") == 2
    )
    assert charts.reliability_chart([ReliabilityBin(0.1, 0.0, 5), ReliabilityBin(0.9, 1.0, 5)]).count("<circle") == 2
    assert charts.learning_chart([(50, 0.8, 0.02, 0.95), (100, 0.9, 0.01, 0.93)], "accuracy").count("<circle") == 2


def test_claims():
    """A claim names its certificate, its numbers and the command that checks it."""
    assert (
        claims.command("my model.halfspace", "table.csv"),
        claims.command(None, None),
        claims.command("m", None, built_in=True),
    ) == ("halfspace certify 'my model.halfspace' table.csv", "halfspace certify MODEL FILE", "halfspace certify m")
    X, y = (np.array([[1.0], [1.0]]), np.array([1, 0]))
    found = claims.claim(LeastSquaresGap.measure(X, y, weights=np.array([0.0]), positive=1), "halfspace certify m f")
    assert (found.kind, found.numbers[0]) == ("LeastSquaresGap", ("loss", "1"))


def test_what_is_only_reported_is_said_apart():
    """The number of mistakes is in no sentence about theorems, but in one that says that it is only reported."""
    X, y = np.array([[2.0], [-2.0]]), np.array([1, 0])
    bracket = MarginBracket.measure(X, y, weights=np.array([1.0]), strengths=np.ones(2), positive=1)
    found = claims.claim(MistakeBound.of(1, bracket, Novikoff(margin=0.5)), "halfspace certify m f")
    assert found.sentence.endswith(" Reported by the run, not proved: 1 mistake, margin 0.5.")
    assert ("reported by the run, not proved", "1 mistake, margin 0.5") in found.numbers
    assert not any("mistakes" in name and "at most" not in name for name, _ in found.numbers)


def test_gathering():
    """Classes and contradictions are counted."""
    assert repr(gathering.balance(["a", "b"], np.array([1, 1, 0]))) == "Balance(labels=('b', 'a'), counts=(2, 1), n_others=0)"
    X = np.array([[1.0], [2.0], [1.0], [2.0]])
    assert (
        repr(gathering.contradictions(lambda rows: rows, X, np.array([0, 1, 1, 1]), np.arange(4)))
        == "Contradictions(n_groups=1, n_rows=2, groups=((0, 2),))"
    )


def test_influence():
    """Inputs are listed by size of weight."""
    assert (
        repr(influence.weights(np.array([[0.5, -2.0]]), ["age", "size"], ["no", "yes"]))
        == "(Influence(label='yes', names=('size', 'age'), values=(-2.0, 0.5), spread=(), n_others=0, evident=()),)"
    )


def test_outputs():
    """Potentials, their histogram, the hardest rows and the reliability are those of the definition."""
    found = outputs.potentials(np.array([2.0, 1.0, np.nan]), np.array([1, 0, 1]), np.array([[0.0, 2.0]]))
    assert (found.E.tolist(), found.predicted.tolist()) == ([1.0, -0.5], [1, 1])
    found = outputs.potentials(np.array([2.0, 1.0, -4.0]), np.array([1, 0, 0]), None)
    bars = outputs.histogram(found, np.array([1]), "potential")
    assert (sum(bars.counts), sum(bars.support), bars.n_wrong) == (3, 1, 1)
    found = outputs.potentials(np.array([2.0, 3.0, -4.0]), np.array([1, 0, 0]), None)
    assert (
        repr(outputs.hardest(found, ["no", "yes"], np.array([10, 11, 12]))[0])
        == "Example(row=11, label='no', predicted='yes', potential=-3.0, suspect=False)"
    )
    assert (
        repr(outputs.reliability(np.array([0.1, 0.1, 0.9, 0.9]), np.array([0.0, 0.0, 1.0, 0.0]), bins=2)[1])
        == "ReliabilityBin(probability=0.9, frequency=0.5, count=2)"
    )


def test_page():
    """Shares and times have units."""
    assert page.percent(0.9736).split() == ["97.4", "%"]
    assert [page.duration(seconds).split() for seconds in (0.0123, 7.26, 600)] == [["12", "ms"], ["7.3", "s"], ["10", "min"]]
