"""Findings: plain, complete for every kind of winner, and true to the file's rows."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import StandardScaler

import halfspace as hs
from halfspace._text import shown
from halfspace.errors import InputError
from halfspace.ladder import climbing
from halfspace.report import gather, render
from halfspace.report.gathering import balance
from halfspace.report.page import confusions

KERNEL = pytest.param("kernel", marks=pytest.mark.compiled)
PROTOTYPES = [pytest.param(name, marks=pytest.mark.compiled) for name in ("glvq", "gmlvq")]
WINNERS = ("majority", "neighbours", "perceptron", "adaline", "adatron", *PROTOTYPES, KERNEL)


@pytest.mark.parametrize("n_classes", [2, 3], ids=["two", "three"])
@pytest.mark.parametrize("winner", WINNERS)
def test_every_winner_has_plain_findings(climbed, winner, n_classes):
    """Findings of every kind of winner are JSON, and what they have is what that kind can have."""
    found = gather(*climbed(winner, n_classes))
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["winner"] == winner
    assert found.n_train + found.n_test == found.n_rows == 90
    linear = winner in {"perceptron", "adaline", "adatron"}
    assert found.weighed == ("weights" if linear else "relevances" if winner == "gmlvq" else "")
    assert len(found.influence) == (0 if not found.weighed else n_classes if linear and n_classes > 2 else 1)
    assert (found.importance is None) == (winner == "majority")
    assert found.guarantee.covered >= 0.5
    assert 0 <= found.baseline <= 0.7
    assert (found.ranking is None) == (winner == "majority" or n_classes > 2)
    assert (found.stability is None) == (winner == "majority") == (not found.hardest) == (not found.reliability)
    assert found.test.confusion.sum() == found.n_test
    assert found.rungs is climbed(winner, n_classes)[0].rungs_
    assert found.claim.sentence
    assert found.learning_curve


@pytest.mark.parametrize("winner", ["adatron", KERNEL, "perceptron", "neighbours"])
def test_stability_counts_every_row_and_no_more_support_than_rows(climbed, winner):
    """The bars hold every training row, those left of 0 exactly the wrong ones, and support vectors are among them."""
    found = gather(*climbed(winner, 2)).stability
    left = sum(c for edge, c in zip(found.edges[1:], found.counts, strict=True) if edge <= 1e-12)
    assert sum(found.counts) == found.n == 72
    assert left == found.n_wrong
    assert all(held <= count for held, count in zip(found.support, found.counts, strict=False))
    assert bool(found.support) == (winner != "neighbours")


def test_rows_are_those_of_the_file(climbed):
    """Hard examples, obstacles and contradictions are told by their rows in the file, not in the table that was kept."""
    ladder, X, y = climbed("perceptron", 2)
    kept = SimpleNamespace(rows=1000 + 3 * np.arange(90), notes=("A note.",), source=SimpleNamespace(name="t.csv"))
    found, plain = gather(ladder, X, y, dataset=kept), gather(ladder, X, y)
    assert [e.row for e in found.hardest] == [1000 + 3 * e.row for e in plain.hardest]
    rows = [proof.obstacle.tolist() for _, proof in plain.separability]
    assert [proof.obstacle.tolist() for _, proof in found.separability] == [[1000 + 3 * r for r in part] for part in rows]
    assert found.source == "t.csv"
    assert "A note." in found.notes
    assert all(e.label == shown(y[e.row]) for e in plain.hardest)


def test_hardest_rows_come_in_order_and_are_misread_when_negative(climbed):
    """Hard examples come by potential, and a negative one is one that the folds got wrong."""
    for winner in ("adaline", "neighbours"):
        found = gather(*climbed(winner, 3)).hardest
        assert [e.potential for e in found] == sorted(e.potential for e in found)
        assert all((e.potential < 0) <= (e.label != e.predicted) for e in found)


def test_contradicting_rows_are_found():
    """Equal rows with different labels are counted and named; equal rows with one label are not."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    X[7], X[9], X[11] = X[3], X[4], X[3]
    y = np.arange(40) % 2 == 0
    found = gather(hs.Ladder(rungs=("majority",), test_size=0).fit(X, y), X, y).contradictions
    assert (found.n_groups, found.n_rows, found.groups) == (1, 2, ((4, 9),))
    both = gather(hs.Ladder(rungs=("majority",), test_size=0).fit(sparse.csr_matrix(X), y), sparse.csr_matrix(X), y)
    assert both.contradictions == found
    assert both.test is None


def test_an_interrupted_climb_is_reported(climbed):
    """After Ctrl-C the findings have the rungs that were climbed, and the reason for the others."""
    _, X, y = climbed("majority", 2)

    def stop(progress):
        if progress.rung == "adaline" and progress.fold == 1:
            raise KeyboardInterrupt

    ladder = hs.Ladder(rungs=("majority", "perceptron", "adaline", "kernel"), n_splits=2, n_repeats=1, on_progress=stop)
    found = gather(ladder.fit(X, y), X, y)
    assert [bool(rung.skipped) for rung in found.rungs] == [False, False, True, True]
    assert np.isnan(found.rungs[2].score)
    assert not found.learning_curve
    assert "nterrupted" in found.outcome


@pytest.mark.compiled
def test_a_sampled_kernel_rung_marks_the_rows_it_learnt_from(climbed, monkeypatch):
    """Where the winner learnt from a sample of the rows, its support vectors are still rows of the training set."""
    _, X, y = climbed("majority", 2)
    monkeypatch.setattr(climbing, "MORE_IN_CELLS", 1)
    ladder = hs.Ladder(rungs=("kernel",), n_splits=2, n_repeats=1, kernel_rows=40).fit(X, y)
    found = gather(ladder, X, y)
    assert ladder.learnt_.size <= 44 < found.n_train
    assert 0 < sum(found.stability.support) <= 44


def test_any_encoder_will_do(climbed):
    """A transformer without notes or groups still gives names and importances."""
    _, X, y = climbed("majority", 2)
    for winner in ("perceptron", "neighbours"):
        ladder = hs.Ladder(rungs=(winner,), encoder=StandardScaler(), n_splits=2, n_repeats=1).fit(X, y)
        assert gather(ladder, X, y).importance.names[0] == "x0"


def test_thousands_of_sparse_columns(climbed):
    """A wide sparse matrix gives the twenty largest weights and counts the others."""
    _, _, y = climbed("majority", 2)
    X = sparse.random(90, 2000, 0.02, format="csr", random_state=0)
    for winner in ("adaline", "neighbours"):
        found = gather(hs.Ladder(rungs=(winner,), n_splits=2, n_repeats=1).fit(X, y), X, y)
        assert len(found.importance.names) <= 20
        assert all(part.n_others >= found.n_inputs - 20 for part in found.influence)


def test_a_thousand_classes_are_cut_short():
    """With a thousand classes the lists are short and say how many more there are."""
    truth, classes = np.arange(4000) % 1000, [f"class {k}" for k in range(1000)]
    found = balance(classes, truth)
    assert (len(found.labels), found.n_others) == (10, 990)
    confusion = np.eye(1000, dtype=np.int64)
    confusion[3, 5], confusion[:, 7] = 9, 1
    pairs = confusions(SimpleNamespace(test=SimpleNamespace(confusion=confusion), classes=classes))
    assert pairs[0] == ("class 3", "class 5", 9)
    assert len(pairs) == 20


def test_many_classes_are_cut_short_in_a_ladder():
    """With forty classes the confusion matrix becomes a list of pairs, and ten planes are shown."""
    X, y = np.random.default_rng(0).normal(size=(240, 3)), np.arange(240) % 40
    found = gather(hs.Ladder(rungs=("perceptron",), n_splits=2, n_repeats=1, max_time=20.0).fit(X, y), X, y)
    page = render(found)
    assert "The commonest confusions of 40 classes" in page
    assert page.count("Witness rows") <= 20
    assert len(found.influence) == 10
    assert found.claim.n_others == 30


@pytest.mark.parametrize(
    ("spoil", "said"),
    [(lambda X, y: (X[:50], y[:50]), "90 of them"), (lambda X, y: (X, np.where(y == y[3], "new", y)), "'new' in row")],
    ids=["fewer-rows", "other-labels"],
)
def test_other_data_are_refused(climbed, spoil, said):
    """Data that the ladder was not fitted to are refused in a sentence that says what was expected."""
    ladder, X, y = climbed("majority", 2)
    with pytest.raises(InputError, match=said):
        gather(ladder, *spoil(X, y))
