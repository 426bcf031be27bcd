"""Rules by which a ladder chooses, gives up and compares, each on examples small enough to be worked out by hand."""

from contextlib import nullcontext
from types import SimpleNamespace as Some

import numpy as np
import pytest
from scipy import sparse, stats

from halfspace.certificates import OneLabel, PerCell
from halfspace.errors import InputError
from halfspace.ladder import climbing, plans, yardstick
from halfspace.ladder.climbing import HopelessError, choose_winner
from halfspace.ladder.evidence import Evidence
from halfspace.ladder.measures import MEASURES, measure_of
from halfspace.ladder.tasks import Classes, Numbers, Rows, make_folds
from halfspace.ladder.values import NumberTest, Rung, TestResult, summarise_outcome
from halfspace.ladder.yardstick import Yardstick, measure_yardstick
from halfspace.models.kernel.adatron import KernelAdaTron
from halfspace.models.planes.adatron import AdaTron

ACCURACY, RMSE = MEASURES["accuracy"], MEASURES["rmse"]


# ---------------------------------------------------------------- choosing
def climbed(name, keeps, score, wrong=()):
    """Return a rung that keeps so many numbers and is wrong about these of a hundred rows."""
    losses = np.isin(np.arange(100), list(wrong)).astype(float)
    return Some(plan=Some(name=name, keeps=keeps), rung=Some(score=score, scores=(score,) * 3), losses=losses, outputs=losses)


def chosen(monkeypatch, rungs, supported, *, baseline="majority", greater=True):
    """Return the names of the winner and of the best, with the evidence as given."""
    p = np.where(supported, 0.0, 1.0)
    monkeypatch.setattr(climbing, "_evidence", lambda others, *_: Evidence(p, p, p[: len(others)]))
    training = Some(task=Some(measure=Some(greater=greater), baseline=baseline))
    choice = choose_winner(rungs, training)
    return choice.winner.plan.name, choice.best.plan.name, choice.evidence is not None


def test_the_simplest_rung_near_the_best_wins_if_it_is_better_than_the_baseline(monkeypatch):
    """Near is by paired rows; where nothing is supported the baseline wins; where nothing near is, the best supported."""
    base, near = climbed("majority", 0, 0.5, range(50)), climbed("near", 1, 0.9, range(10))
    best, far = climbed("best", 2, 0.91, range(9)), climbed("far", 1, 0.6, range(40))
    assert chosen(monkeypatch, [base, near, best], [True, True]) == ("near", "best", True)
    assert chosen(monkeypatch, [base, near, best], [False, True]) == ("best", "best", True)
    assert chosen(monkeypatch, [base, far, best], [True, True]) == ("best", "best", True)
    assert chosen(monkeypatch, [base, far, best], [True, False]) == ("far", "best", True)
    farther = climbed("farther", 0, 0.55, range(45))
    for rungs in ([base, farther, far, best], [base, far, farther, best]):
        assert chosen(monkeypatch, rungs, [True, True, False]) == ("far", "best", True)
    assert chosen(monkeypatch, [base, near, best], [False, False]) == ("majority", "best", True)
    assert chosen(monkeypatch, [base], []) == ("majority", "majority", False)
    assert chosen(monkeypatch, [near, best], [], baseline="mean") == ("near", "best", False)
    twin = climbed("twin", 1, 0.91, range(9))
    assert chosen(monkeypatch, [base, best, twin], [True, True]) == ("twin", "twin", True)
    assert chosen(monkeypatch, [base, near, best], [True, True], greater=False)[1] == "majority"
    low, lower = climbed("low", 1, 0.3), climbed("lower", 2, 0.2)
    assert chosen(monkeypatch, [base, low, lower], [True, True], greater=False)[1] == "lower"


def test_a_rung_judged_by_few_rows_does_not_hide_one_that_all_rows_tell_is_better(monkeypatch):
    """Simple is near the best on the half that the best knows, but all rows say that another one is better."""
    base, simple = climbed("majority", 0, 0.5, range(50)), climbed("simple", 1, 0.9, range(10))
    all_rows, own = climbed("kernel", 2, 0.95, range(5)), climbed("relevance", 3, 0.96, range(5, 9))
    own.losses[:50] = np.nan
    assert chosen(monkeypatch, [base, simple, own], [True, True]) == ("simple", "relevance", True)
    assert chosen(monkeypatch, [base, simple, all_rows, own], [True] * 3) == ("kernel", "relevance", True)
    own.losses[50:] = np.arange(50) < 20  # much worse than the other one on the rows that it knows
    assert chosen(monkeypatch, [all_rows, own], [], baseline="mean") == ("kernel", "relevance", False)


@pytest.mark.parametrize("greater", [True, False])
def test_gains_over_the_baseline_are_in_the_units_of_the_measure(greater):
    """By folds: how much better each rung scores than the constant, positive where it is better, and its standard error."""
    turn = 1.0 if greater else -1.0
    gains = np.array([0.25, 0.125, 0.1875, 0.25, 0.1875])

    def rung(name, keeps, scores):
        found = Some(score=float(np.mean(scores)), scores=tuple(scores))
        return Some(plan=Some(name=name, keeps=keeps), rung=found, losses=None, outputs=None)

    rungs = [rung("mean", 0, np.full(5, 2.0)), rung("line", 1, 2.0 + turn * gains), rung("worse", 2, 2.0 - turn * gains)]
    task = Some(measure=Some(greater=greater), baseline="mean")
    choice = choose_winner(rungs, Some(task=task, folds=[None] * 5, passes=1, X=np.zeros((50, 2))))
    assert (choice.winner.plan.name, choice.best.plan.name) == ("line", "line")
    assert choice.evidence.gains.tolist() == [gains.mean(), -gains.mean()]
    assert choice.evidence.errors == pytest.approx(np.full(2, gains.std(ddof=1) * np.sqrt(1 / 5 + 1 / 4)))


@pytest.mark.parametrize(
    ("scores", "best", "given_up"),
    [
        ([0.5] * 3, 0.9, False),  # 0.75 with perfect folds, and the largest error is 0.5 √(6/5) √(1/6) = 0.2236
        ([0.5] * 3, 0.975, True),
        ([0.5] * 3, 0.9735, False),
        ([0.0] * 6, 0.99, False),  # all folds are done
        ([0.0], 0.99, False),
        ([0.0, 0.0], 0.9, True),
    ],
)
def test_a_rung_is_given_up_when_perfect_folds_would_not_save_it(scores, best, given_up):
    """Only where the rest, all perfect, leaves it further behind than any standard error of shares can be."""
    training = Some(folds=[None] * 6, passes=1, task=Some(measure=Some(percent=True)))
    found = False
    try:
        climbing._leave_if_hopeless(scores, training, best)
    except HopelessError as error:
        found = f"after {len(scores)} of 6 folds" in str(error)
    assert found is given_up
    training.task.measure.percent = False
    climbing._leave_if_hopeless(scores, training, best)
    training.task.measure.percent, training.passes = True, 6
    if scores == [0.5] * 3:
        climbing._leave_if_hopeless(scores, training, best)  # passes are no new rows: the error is larger


class Counted:
    """What folds of a rung tell, counted."""

    def __init__(self, training):
        self.training, self.predicting, self.fitting, self.provisional, self.draws = training, [], [], [], ()

    def add(self, model, held, seen):
        self.provisional.append((model, held, seen))

    def climbed(self, *about):
        return self, about


def test_a_rung_is_fitted_in_every_fold_and_then_to_all(monkeypatch):
    """Each fit may take its part of the time left, less what predictions took; the last one knows what was drawn before."""
    clock = iter(range(100))
    monkeypatch.setattr(climbing.time, "perf_counter", lambda: next(clock) ** 2)
    monkeypatch.setattr(climbing, "Tally", Counted)
    monkeypatch.setattr(climbing, "widest_gap", lambda _: "gap")
    monkeypatch.setattr(climbing, "_leave_if_hopeless", lambda *_: None)
    monkeypatch.setattr(climbing.np, "mean", len)
    settings, fits, told = [], [], []

    def setting_for(*left):
        settings.append(left)
        return Some(_replace=lambda draws: ("last", draws))

    def fitted(_plan, X, rows, setting):
        fits.append((X, rows.size, setting if isinstance(setting, tuple) else "fold"))
        return f"model {rows.size}", Some(draw=None if rows.size == 3 else rows.size)

    training = Some(
        folds=[None] * 3,
        rows_for=lambda _: "some",
        X="all",
        y=np.arange(9),
        split_for=lambda _, fold: (np.arange(fold + 2), fold),
        setting_for=setting_for,
        fitted=fitted,
        task=Some(sample=lambda y, _most, seed: np.array([seed % y.size])),
        judged=lambda _model, X, rows: (X, np.asarray(rows).tolist()),
        report=lambda _plan, *what: told.append(what),
    )
    tally, (_, model, _, rows) = climbing.score_rung("plan", training, 0.5)
    assert settings == [(3, 0.0), (2, 3), (1, 9), (0, 0.0)]  # seconds of predictions: 4 - 1, 25 - 16, 64 - 49
    assert (tally.fitting, tally.predicting) == ([1, 7, 13], [3, 9, 15])
    assert fits == [("some", 2, "fold"), ("some", 3, "fold"), ("some", 4, "fold"), ("all", 5, ("last", (2, 4)))]
    assert (model, rows.size) == ("model 5", 5)
    assert tally.provisional == [(f"model {k + 2}", ("some", k), ("some", [k])) for k in range(3)]
    assert told == [(1, 1.0, "gap"), (2, 2.0, "gap"), (3, 3.0, "gap")]


def test_how_a_climb_ended_is_said():
    """Interrupted and out of time name what was skipped."""
    rungs = [Rung("a", "A", skipped="no time"), Rung("b", "B"), Rung("c", "C", skipped="no rows")]
    for reason, words in (("interrupted", "Interrupted; skipped: A, C."), ("time budget spent", "The time limit was reached")):
        outcome = summarise_outcome(reason, rungs)
        assert outcome.reason == reason
        assert words in outcome.sentence
        assert outcome.remedy
    assert summarise_outcome("passes done", rungs).reason == "converged"


# ---------------------------------------------------------------- folds
def test_folds_without_every_class_are_left_out_and_two_must_be_left():
    """Of groups and moments only folds count whose rows to learn from have every class; without either all do."""
    task, y = Classes(np.arange(2), ACCURACY), np.array([0, 1, 1, 1, 0, 0, 0, 0])
    plain = make_folds(Numbers(RMSE), y.astype(float), 4, 3, 5)
    assert len(plain) == 12
    assert {tuple(test) for _, test in plain[:4]} != {tuple(test) for _, test in plain[4:8]}
    again = make_folds(Numbers(RMSE), y.astype(float), 4, 1, 6)
    assert [test.tolist() for _, test in again] == [test.tolist() for _, test in plain[4:8]]
    assert len(make_folds(task, y, 3, 1, 0, Rows(group=np.array([0, 0, 0, 0, 1, 1, 2, 2])))) == 2
    with pytest.raises(InputError, match="cannot keep rows of one group on one side: fewer than 2 of 2"):
        make_folds(task, np.repeat([0, 1], 4), 2, 1, 0, Rows(group=np.repeat([0, 1], 4)))
    early = np.array([1, 0, 0, 0, 0, 0, 0, 0])
    assert len(make_folds(task, early, 3, 2, 0, Rows(time=np.arange(8)))) == 3
    with pytest.raises(InputError, match="cannot keep rows in time: fewer than 2 of 3"):
        make_folds(task, early[::-1], 3, 2, 0, Rows(time=np.arange(8)))


# ---------------------------------------------------------------- tests and measures
def test_a_test_of_numbers_has_the_interval_of_the_mean_loss():
    """Of three losses by Student's t with two degrees of freedom, ends in order and none below no loss; of one, any."""
    y, predicted = np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 5.0])
    result = NumberTest.measure(predicted, y, RMSE)
    mean, spread = 5.0 / 3.0, stats.t.ppf(0.975, 2) * np.std([1.0, 0.0, 4.0], ddof=1) / np.sqrt(3.0)
    assert (result.score, result.low, result.high) == pytest.approx((np.sqrt(mean), 0.0, np.sqrt(mean + spread)))
    assert (result.n, result.scoring) == (3, "rmse")
    assert set(result.measures) == {name for name, measure in MEASURES.items() if measure.task == "regress"}
    assert NumberTest.measure(predicted[:1], y[:1], RMSE).high == np.inf
    many = NumberTest.measure(np.tile([1.0, 3.0], 50), np.full(100, 2.0) + np.tile([0.1, -0.1], 50), RMSE)
    assert many.low == pytest.approx(many.high)
    assert many.low == pytest.approx(1.1)


def test_a_test_of_labels_counts_them_and_has_the_interval_of_its_measure():
    """Rows of the confusion are the truth; balanced accuracy has its own interval, other measures that of drawn rows."""
    y, predicted, classes = np.array(list("aabbbc")), np.array(list("abbbab")), np.array(list("abc"))
    result = TestResult.measure(predicted, y, classes, ACCURACY)
    assert result.confusion.tolist() == [[1, 1, 0], [1, 2, 0], [0, 1, 0]]
    exact = stats.binomtest(3, 6).proportion_ci(0.95, method="exact")
    assert (result.score, result.low, result.high, result.n) == (0.5, exact.low, exact.high, 6)
    assert result.measures["balanced_accuracy"] == pytest.approx((1 / 2 + 2 / 3) / 3)
    balanced = TestResult.measure(predicted, y, classes, MEASURES["balanced_accuracy"])
    steady, sizes = np.array([3 / 6, 4 / 7, 2 / 5]), np.array([6.0, 7.0, 5.0])
    spread = stats.norm.ppf(0.975) * np.sqrt((steady * (1 - steady) / sizes).sum()) / 3
    assert balanced.low == pytest.approx(max(min(balanced.score, steady.mean() - spread), 0.0))
    assert balanced.high == pytest.approx(min(max(balanced.score, steady.mean() + spread), 1.0))
    assert balanced.accuracy == 0.5
    f1 = TestResult.measure(predicted[:5], y[:5], classes[:2], MEASURES["f1"])
    assert (f1.score, f1.scoring) == (pytest.approx(2 / 3), "f1")
    assert f1.low < f1.score < f1.high


def test_a_measure_is_one_of_its_task():
    """Those of the other task are not offered."""
    assert measure_of("rmse", "regress").name == "rmse"
    assert measure_of("rmse").name == "rmse"
    with pytest.raises(InputError, match="must be one of") as found:
        measure_of("rmse", "classify")
    assert "rmse" not in str(found.value).partition("Got")[0]


def test_one_rung_that_is_better_is_a_claim():
    """At the level itself it is still supported."""
    assert Evidence(np.zeros(2), np.zeros(2), np.array([0.9, 0.04]), 0.04).claimed
    assert not Evidence(np.zeros(2), np.zeros(2), np.array([0.9, 0.05]), 0.04).claimed


def test_the_widest_gap_of_a_machine_is_said():
    """Of classes or pairs the widest, of cells how many; other models have none."""
    for kind in (AdaTron, KernelAdaTron):
        model = kind()
        model.certificate_ = Some(parts=[Some(relative_gap=1e-4), Some(relative_gap=2e-3), Some()])
        assert plans.widest_gap(model) == "gap 2.0e-03"
        model.certificate_ = Some(relative_gap=0.5)
        assert plans.widest_gap(model) == "gap 5.0e-01"
        model.certificate_ = Some()
        assert plans.widest_gap(model) == ""
    model.certificate_ = PerCell(np.zeros((2, 1)), np.arange(2), (OneLabel("a"), OneLabel("b")))
    assert plans.widest_gap(model) == "2 cells, gap 0.0e+00"
    assert plans.widest_gap(Some(certificate_=Some(relative_gap=0.5))) == ""


# ---------------------------------------------------------------- the yardstick
class Trees:
    """A model that answers with the number of rows it learnt from."""

    def __init__(self, rows):
        self.rows = rows

    def predict_proba(self, X):
        return np.full((len(X), 2), float(len(self.rows)))


def measured_yardstick(monkeypatch, needs="labels", until=None, shape=(), times=(0.0, 0.0, 0.0, 0.0, 0.0), X=None, passes=1):
    """Return the yardstick of three folds whose scores are the size of the part judged, over 8."""
    clock = iter([*times, *[times[-1]] * 20])
    monkeypatch.setattr(yardstick.time, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(yardstick, "_fitted", lambda _, rows: Trees(rows))
    monkeypatch.setattr(yardstick, "_asked", lambda _, model, rows: Some(labels=rows, of=model.rows))
    X = np.zeros((8, 2)) if X is None else X
    folds = [(np.arange(k, 8), np.arange(k)) for k in (2, 3, 4)]

    def score(judged):
        size = len(judged.labels) if needs == "labels" else len(judged.outputs)
        return size / 8.0, None

    measure = Some(needs=needs)
    task = Some(measure=measure, shape=shape)
    return measure_yardstick(Some(task=task, X=X, folds=folds, passes=passes, score=score), until)


@pytest.mark.parametrize("needs", ["labels", "probabilities"])
def test_a_yardstick_is_the_mean_over_folds_of_rows_unseen(needs):
    """With its standard error, the mean over rows seen, and the seconds it took."""
    with pytest.MonkeyPatch.context() as patch:
        found = measured_yardstick(patch, needs, times=(1.0, 3.5))
    scores = np.array([2.0, 3.0, 4.0]) / 8.0
    assert (found.score, found.error) == pytest.approx((scores.mean(), scores.std(ddof=1) / np.sqrt(3.0)))
    assert found.train_score == pytest.approx((1.0 - scores).mean())
    assert found.seconds == 2.5
    with pytest.MonkeyPatch.context() as patch:
        twice = measured_yardstick(patch, passes=3)  # of three folds a pass each: one fold a pass counts
    assert twice.error == pytest.approx(scores.std(ddof=1))


@pytest.mark.parametrize(("small", "limits"), [(17, 1), (16, None)])
def test_small_tables_are_left_to_one_thread(small, limits, monkeypatch):
    """Those of fewer numbers than so many."""
    asked = []
    monkeypatch.setattr(yardstick, "SMALL", small)
    monkeypatch.setattr(yardstick, "libraries", lambda: Some(limit=lambda **how: asked.append(how["limits"]) or nullcontext()))
    measured_yardstick(monkeypatch)
    assert asked == [limits]


def test_a_yardstick_that_would_take_too_long_is_left_out(monkeypatch):
    """By the number of trees of all folds and outputs and of the numbers they read, in half of the time left or a minute."""
    monkeypatch.setattr(yardstick, "TREE", 0.01)
    monkeypatch.setattr(yardstick, "CELL", 0.001)  # 3 · 100 · (0.01 + 0.001 · 8 · 2) = 7.8 seconds
    assert measured_yardstick(monkeypatch) is not None
    assert measured_yardstick(monkeypatch, until=15.7) is not None
    assert measured_yardstick(monkeypatch, until=15.5) is None
    assert measured_yardstick(monkeypatch, until=16.7, times=(1.0,)) is not None
    assert measured_yardstick(monkeypatch, until=16.5, times=(1.0,)) is None
    assert measured_yardstick(monkeypatch, shape=(7,)) is not None
    assert measured_yardstick(monkeypatch, shape=(8,)) is None
    assert measured_yardstick(monkeypatch, X=sparse.csr_array(np.zeros((8, 2)))) is None
    assert measured_yardstick(monkeypatch, until=20.0, times=(0.0, 21.0)) is None
    assert measured_yardstick(monkeypatch, until=20.0, times=(0.0, 20.0)) is not None
    monkeypatch.setattr(yardstick, "TREE", 0.0)
    monkeypatch.setattr(yardstick, "CELL", 2.0**-10)  # of long tables 100,000 rows count
    for rows, most in ((200_000, 100_000), (99_999, 99_999)):
        for patience, fits in ((300 * most * 2.0**-10, True), (300 * most * 2.0**-10 - 0.1, False)):
            monkeypatch.setattr(yardstick, "PATIENCE", patience)
            assert (measured_yardstick(monkeypatch, X=np.zeros((rows, 1))) is not None) is fits


def test_a_yardstick_is_compared_by_standard_errors():
    """Ahead by more than the larger error is said to matter; behind is no worse, or better by more than it."""
    winner = Rung("a", "A", score=0.8, error=0.02)
    for score, error, words in (
        (0.9, 0.05, "If that matters more than a proof"),
        (0.84, 0.05, "no worse by more than a standard error"),
        (0.81, 0.005, "no worse by more than a standard error"),
        (0.83, 0.005, "If that matters"),
        (0.8, 0.05, ", no worse."),
        (0.77, 0.05, ", no worse."),
        (0.7, 0.05, ", which is better."),
    ):
        assert words in Yardstick("trees", score, error, 1.0, 0.0).sentence(winner, ACCURACY)
    assert "If that matters" in Yardstick("trees", 0.7, 0.05, 1.0, 0.0).sentence(winner, RMSE)
