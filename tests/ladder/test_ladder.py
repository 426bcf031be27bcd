"""The ladder: what it promises about its winner, its probabilities, its limits and its mistakes."""

import signal
import time
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import halfspace as hs
from halfspace.errors import InputError
from halfspace.ladder import Ladder, RegressionLadder, climbing, rungs
from halfspace.ladder.climbing import undisturbed
from halfspace.ladder.measures import MEASURES
from halfspace.ladder.rungs import RUNGS
from halfspace.ladder.tasks import Classes, make_folds

pytestmark = pytest.mark.compiled
QUICK = ["majority", "perceptron", "adatron"]


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X, np.where(y == 1, "benign", "malignant")


@pytest.fixture(scope="module")
def climbed(cancer):
    return Ladder(curve=True).fit(*cancer)


@parametrize_with_checks(
    [
        Ladder(rungs=["perceptron"], n_splits=2, n_repeats=1, test_size=0.0),  # the majority would win over the checks' noise
        RegressionLadder(rungs=["least_squares"], n_splits=2, n_repeats=1, test_size=0.0),
    ]
)
def test_scikit_learn_contract(estimator, check):
    """The ladders keep scikit-learn's contract, without an expected failure."""
    check(estimator)


def test_the_winner_is_the_simplest_within_one_standard_error(climbed):
    """No simpler rung is within one standard error of the best, and the winner is."""
    rungs = {rung.name: rung for rung in climbed.rungs_ if rung.climbed}
    best, winner = rungs[climbed.best_], rungs[climbed.winner_]
    assert best.score == max(rung.score for rung in rungs.values())
    assert best.score - winner.score <= max(best.error, winner.error)
    for rung in rungs.values():
        if RUNGS[rung.name].keeps < RUNGS[winner.name].keeps:
            assert best.score - rung.score > max(best.error, rung.error)


def test_its_certificate_holds_for_the_rows_it_learnt_from_and_no_others(climbed, cancer):
    """`verify` confirms the winner's proof on the data of the fit, and refutes it on other labels."""
    X, y = cancer
    assert climbed.verify(X, y)
    assert not climbed.verify(X, np.where(y == "benign", "malignant", "benign"))


def test_training_and_held_out_rows_are_all_rows_once(climbed, cancer):
    """Every row is learnt from or held out, and the test says how many it saw."""
    everyone = np.sort(np.concatenate([climbed.train_, climbed.test_]))
    assert np.array_equal(everyone, np.arange(cancer[1].size))
    assert climbed.test_result_.n == climbed.test_.size == climbed.test_result_.confusion.sum()
    assert climbed.test_result_.low <= climbed.test_result_.score <= climbed.test_result_.high


def test_the_held_out_score_is_that_of_its_predictions(climbed, cancer):
    """The reported score can be had again from the outputs for the held-out rows, made before the refit."""
    y = cancer[1][climbed.test_]
    predicted = climbed.labels_of(climbed.test_outputs_)
    assert np.mean(predicted == y) == climbed.test_result_.score


def test_without_a_refit_the_model_that_was_tested_is_kept(cancer):
    """With refit=False the winner knows the training rows alone, and scores as it was told."""
    X, y = cancer
    ladder = Ladder(rungs=QUICK, refit=False).fit(X, y)
    assert np.array_equal(ladder.learnt_, ladder.train_)
    assert ladder.score(X[ladder.test_], y[ladder.test_]) == ladder.test_result_.score
    assert ladder.verify(X, y)


def test_the_refit_learns_from_all_rows_and_leaves_the_scores(cancer):
    """After the one look the winner learns from every row, its certificate too; scores and held-out test stay."""
    X, y = cancer
    kept, again = Ladder(rungs=QUICK, refit=False).fit(X, y), Ladder(rungs=QUICK).fit(X, y)
    assert np.array_equal(again.learnt_, np.arange(y.size))
    assert again.test_result_.score == kept.test_result_.score
    assert [rung.scores for rung in again.rungs_] == [rung.scores for rung in kept.rungs_]
    assert again.verify(X, y)


@pytest.mark.parametrize(
    "rungs",
    [["majority"], ["neighbours"], ["perceptron"], ["adaline"], ["adatron"], ["glvq"], ["gmlvq"], ["kernel"], ["relevance"]],
    ids=lambda r: r[0],
)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_most_probable_class_is_the_predicted_one(rungs, classes):
    """argmax of predict_proba is predict, for every kind of winner, and probabilities add up to one."""
    X, y = make_classification(150, 6, n_informative=4, n_classes=classes, flip_y=0.2, random_state=3)
    ladder = Ladder(rungs=rungs, n_repeats=1, n_splits=3).fit(X, y)
    rows = np.random.default_rng(0).standard_normal((2000, 6)) * np.logspace(-8, 3, 2000)[:, None]
    P = ladder.predict_proba(rows)
    assert np.array_equal(ladder.classes_[P.argmax(axis=1)], ladder.predict(rows))
    assert np.allclose(P.sum(axis=1), 1.0)
    assert (P >= 0).all()
    assert ladder.verify(X, y)


def test_probabilities_rise_with_the_output(climbed, cancer):
    """With two classes, a larger output never has a smaller probability."""
    f = np.sort(climbed.estimator_.decision_function(climbed.encode(cancer[0])))
    assert (np.diff(climbed.calibration_.probabilities(f)[:, 1]) >= 0).all()


def test_probabilities_are_calibrated():
    """On many held-out rows of noisy data, the mean probability is near the share of the class, in each half."""
    X, y = make_classification(4000, 5, n_informative=5, n_redundant=0, flip_y=0.3, random_state=0)
    ladder = Ladder(rungs=["adatron"], test_size=0.5, refit=False).fit(X, y)
    P, right = ladder.predict_proba(X[ladder.test_])[:, 1], y[ladder.test_]
    for side in (P > 0.5, P <= 0.5):
        assert abs(P[side].mean() - right[side].mean()) < 0.03


def test_relevances_are_by_column():
    """A metric that wins says how much each column counts: shares of one, largest first, words as one column."""
    rng = np.random.default_rng(0)
    pandas = pytest.importorskip("pandas")
    y = rng.integers(2, size=300)
    word = np.where(rng.random(300) < 0.8, np.where(y == 1, "red", "blue"), "green")
    table = pandas.DataFrame({"noise": rng.standard_normal(300), "tells": 2.0 * y + rng.standard_normal(300), "colour": word})
    ladder = Ladder(rungs=["gmlvq"], n_splits=3, curve=False).fit(table, y)
    shares = dict(ladder.relevances_)
    assert list(shares) == sorted(shares, key=lambda name: -shares[name])
    assert set(shares) == {"noise", "tells", "colour"}
    assert np.isclose(sum(shares.values()), 1.0)
    assert list(shares)[-1] == "noise"
    assert Ladder(rungs=["adaline"], n_splits=3, curve=False).fit(table, y).relevances_ == ()


def test_a_perfect_simple_rung_ends_the_climb():
    """Where the perceptron is perfect, what keeps more is not climbed, and the reason is said."""
    X, y, *_ = hs.data.two_clouds(200, distance=12.0, random_state=0)
    ladder = Ladder().fit(X, y)
    assert ladder.winner_ == "perceptron"
    skipped = {rung.name: rung.skipped for rung in ladder.rungs_}
    assert "already within one standard error of perfect" in skipped["kernel"]
    assert ladder.separability_[0][1].verdict == "separable"


def test_a_rung_that_can_no_longer_win_is_left():
    """Far behind the best, a rung is not scored in all folds, and the reason gives its score."""
    X, y, *_ = hs.data.rings(300, random_state=0)
    ladder = Ladder(rungs=["neighbours", "perceptron"]).fit(X, y)
    assert ladder.winner_ == "neighbours"
    assert "can no longer come near" in ladder.rungs_[1].skipped


def test_where_a_plane_fails_the_kernel_wins():
    """On rings the linear rungs are no better than chance and a curved one wins."""
    X, y, *_ = hs.data.rings(300, random_state=0)
    ladder = Ladder(rungs=["majority", "perceptron", "adaline", "adatron", "kernel"]).fit(X, y)
    assert ladder.winner_ == "kernel"


def test_labels_without_meaning_leave_the_majority():
    """Where labels are thrown at random, no rung beats the majority by more than its error."""
    rng = np.random.default_rng(0)
    ladder = Ladder(rungs=QUICK).fit(rng.standard_normal((300, 5)), rng.random(300) < 0.7)
    assert ladder.winner_ == "majority"
    assert "Nothing here is reliably better than the majority class" in ladder.verdict_


def test_imbalanced_classes_are_scored_by_balanced_accuracy():
    """When one class has more than 80 % of the rows, the score is the mean over the classes, and a note says so."""
    X, y = make_classification(600, 5, weights=[0.92], flip_y=0.02, random_state=0)
    ladder = Ladder(rungs=QUICK).fit(X, y)
    assert ladder.scoring_ == "balanced_accuracy"
    assert any("balanced accuracy" in str(note) for note in ladder.notes_)
    assert ladder.rungs_[0].score == pytest.approx(0.5)
    right = ladder.labels_of(ladder.test_outputs_) == y[ladder.test_]
    assert ladder.test_result_.score == pytest.approx(np.mean([right[y[ladder.test_] == c].mean() for c in (0, 1)]))


def test_the_same_seed_gives_the_same_ladder(cancer):
    """Scores, winner and outputs do not depend on the threads."""
    one, two = (Ladder(rungs=["adatron", "kernel"], n_repeats=1, n_splits=3, n_jobs=jobs).fit(*cancer) for jobs in (1, 2))
    assert [rung.scores for rung in one.rungs_] == [rung.scores for rung in two.rungs_]
    assert np.array_equal(one.decision_function(cancer[0]), two.decision_function(cancer[0]))


def test_costly_rungs_learn_from_a_sample_and_say_so():
    """Beyond `kernel_rows` nearest neighbours see a sample; their certificate is about that, and still holds."""
    X, y, *_ = hs.data.rings(400, random_state=0)
    ladder = Ladder(rungs=["neighbours"], kernel_rows=100).fit(X, y)
    assert "sample of 100 of" in ladder.rungs_[0].note
    assert ladder.learnt_.size == 100
    assert ladder.verify(X, y)


def test_the_last_fits_of_many_rows_take_the_point_that_was_best_over_all_folds(monkeypatch):
    """Beyond the rows that a search takes, C and width have the best mean score over the folds' samples, also in the refit."""
    monkeypatch.setattr(rungs, "TUNE", 60)
    monkeypatch.setattr(rungs, "_scores", lambda _search: next(tables))
    best = np.zeros((5, 24))
    best[[0, 1, 2, 3, 4], [3, 7, 9, 11, 13]] = 1.0
    best[1:3, 17] = 0.9
    best[0, 0] = np.nan
    tables = iter(best)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    ladder = Ladder(rungs=["kernel"], random_state=1).fit(X, np.where(X[:, 0] * X[:, 1] > 0, "same", "different"))
    assert ladder.refitted_
    assert ladder.estimator_.C == ladder.rungs_[0].params["C"] == rungs.KERNEL_CAPS[17 % 4]
    assert next(tables, None) is None


def test_a_spent_time_budget_keeps_the_rungs_done(cancer, monkeypatch):
    """A rung whose share of the time is over is skipped, those that have some left are not; the outcome says so."""
    X, y = cancer

    def late(plan, training, best, real=climbing.score_rung):
        if plan.name == "adatron":
            raise climbing.OutOfTimeError("its time was over")
        return real(plan, training, best)

    monkeypatch.setattr(climbing, "score_rung", late)
    ladder = Ladder(rungs=["majority", "adaline", "adatron", "perceptron"], max_time=100.0).fit(X, y)
    assert ladder.outcome_.reason == "time budget spent"
    assert {rung.name: rung.skipped for rung in ladder.rungs_ if rung.skipped} == {"adatron": "its time was over"}
    assert ladder.verify(X, y)


def test_a_time_budget_is_kept(cancer):
    """A ladder that would take longer stops near its limit."""
    ladder = Ladder(max_time=1.0, n_repeats=50).fit(*cancer)
    assert ladder.outcome_.reason == "time budget spent"
    assert ladder.seconds_ < 5.0


@pytest.mark.parametrize("rungs", [None, ["kernel", "adaline"]])
def test_something_is_kept_however_short_the_time(cancer, rungs):
    """With no time at all the majority class answers, with its score and its proof, even if it was not asked for."""
    X, y = cancer
    ladder = Ladder(rungs=rungs, max_time=1e-9).fit(X, y)
    assert ladder.outcome_.reason == "time budget spent"
    assert (ladder.winner_, [rung.name for rung in ladder.rungs_ if rung.climbed]) == ("majority", ["majority"])
    assert 0.5 < ladder.rungs_[0].score < 0.7
    assert all("time limit" in rung.skipped for rung in ladder.rungs_[1:])
    assert ladder.test_result_.score > 0.5
    assert ladder.verify(X, y)


def test_a_rung_that_knows_no_limit_is_skipped_if_it_would_take_too_long(cancer, monkeypatch):
    """Nearest neighbours are left out where the prediction of their time says so, and the reason names it."""
    monkeypatch.setitem(RUNGS, "neighbours", replace(RUNGS["neighbours"], seconds=lambda *_: 1e6))
    ladder = Ladder(rungs=["majority", "neighbours", "perceptron"], max_time=50.0).fit(*cancer)
    assert [rung.name for rung in ladder.rungs_ if rung.skipped] == ["neighbours"]
    assert "it would take about 1e+06 s" in ladder.rungs_[1].skipped


def test_rungs_share_the_time_and_leave_some_for_the_end():
    """No rung takes more than half of what is left unless it is the last, and fits and predictions of a rung share that."""
    X, y = np.zeros((20, 1)), np.arange(20) % 2
    task = Classes(np.arange(2), MEASURES["accuracy"])
    folds = make_folds(task, y, 2, 1, 0)
    now = time.perf_counter()
    training = climbing.Training(X, X, y, task, folds, 1, climbing.Setting(), 10, now + 1000.0, print, np.arange(20))
    plan = RUNGS["adaline"]
    assert 490 < training.for_rung(plan, 5).seconds_left() < 501
    assert 990 < training.for_rung(plan, 1).seconds_left() < 1001
    assert 290 < training.setting_for(2, 50.0).max_time < 301
    assert training.for_rung(RUNGS["majority"], 5).setting_for(2, 50.0).max_time is None
    with pytest.raises(climbing.OutOfTimeError, match="limit was reached"):
        replace(training, deadline=now).for_rung(plan, 1)
    with pytest.raises(climbing.OutOfTimeError, match="in the middle"):
        replace(training, deadline=now + 90.0).setting_for(2, 50.0)


def test_ctrl_c_keeps_the_best_so_far(cancer):
    """Interrupted in the middle of a rung, the ladder answers with those that were done."""
    X, y = cancer

    def impatient(news):
        if news.rung == "adaline" and news.fold == 2:
            raise KeyboardInterrupt

    ladder = Ladder(on_progress=impatient).fit(X, y)
    assert ladder.outcome_.reason == "interrupted"
    assert [rung.name for rung in ladder.rungs_ if rung.climbed] == ["majority", "neighbours", "perceptron"]
    assert ladder.verify(X, y)


def test_ctrl_c_before_any_rung_leaves_the_ladder_as_it_was(cancer):
    """Interrupted in the first rung there is nothing to keep: the interrupt goes on, and an old fit stays."""

    def impatient(_news):
        raise KeyboardInterrupt

    ladder = Ladder(rungs=QUICK).fit(*cancer)
    before = ladder.predict(cancer[0])
    ladder.set_params(on_progress=impatient)
    with pytest.raises(KeyboardInterrupt):
        ladder.fit(*cancer)
    assert np.array_equal(ladder.predict(cancer[0]), before)


def test_progress_is_told_for_every_fold(cancer):
    """Listeners hear of the beginning and of every fold of every rung."""
    heard = []
    Ladder(rungs=QUICK, n_repeats=1, on_progress=heard.append).fit(*cancer)
    assert [(news.rung, news.fold) for news in heard] == [(name, fold) for name in QUICK for fold in range(6)]


def test_the_learning_curve_grows_in_rows(climbed):
    """Sizes rise and scores are shares."""
    sizes = [size for size, *_ in climbed.learning_curve_]
    assert sizes == sorted(set(sizes))
    assert len(sizes) >= 4
    assert all(0.0 <= score <= 1.0 and 0.0 <= seen <= 1.0 for _, score, _, seen in climbed.learning_curve_)


def test_sparse_rows_give_the_same_winner_as_dense_ones():
    """A CSR matrix climbs like its dense form when the encoder leaves the numbers alone."""
    X, y = load_iris(return_X_y=True)
    plain = hs.TableEncoder(scale="none")
    dense, thin = (Ladder(rungs=QUICK, encoder=plain).fit(rows, y) for rows in (X, sparse.csr_matrix(X)))
    assert dense.winner_ == thin.winner_
    assert np.array_equal(dense.predict(X), thin.predict(sparse.csr_matrix(X)))


def test_tables_with_missing_values_and_words_are_climbed():
    """A data frame with numbers, words and holes is encoded inside the ladder, and predicted from the same columns."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.integers(20, 70, 200).astype(float), "city": rng.choice(["Bonn", "Kiel"], 200)})
    y = np.where((table["age"] > 45) ^ (table["city"] == "Bonn"), "yes", "no")
    table.loc[::17, "age"] = np.nan
    ladder = Ladder(rungs=QUICK).fit(table, y)
    assert ladder.verify(table, y)
    assert set(ladder.predict(table.iloc[:5])) <= {"yes", "no"}


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"rungs": ["svm"]}, "rungs"),
        ({"rungs": "kernel"}, "rungs"),
        ({"rungs": []}, "rungs"),
        ({"test_size": 1.5}, "test_size"),
        ({"test_size": float("nan")}, "test_size"),
        ({"n_splits": 1}, "n_splits"),
        ({"n_repeats": 0}, "n_repeats"),
        ({"n_repeats": "many"}, "n_repeats"),
        ({"scoring": "rmse"}, "scoring"),
        ({"class_weight": "heavy"}, "class_weight"),
        ({"positive": "unknown", "scoring": "f1"}, "positive"),
        ({"refit": 1.5}, "refit"),
        ({"max_time": -1.0}, "max_time"),
        ({"kernel_rows": 2.5}, "kernel_rows"),
        ({"random_state": None}, "random_state"),
        ({"curve": "yes"}, "curve"),
        ({"rungs": 5}, "rungs"),
        ({"verbose": "loud"}, "verbose"),
        ({"on_progress": 3}, "on_progress"),
    ],
    ids=lambda value: str(value).replace(" ", ""),
)
def test_parameters_that_cannot_be_used_are_named(wrong, word, cancer):
    """A wrong parameter is refused by name, before anything is learnt."""
    with pytest.raises(InputError, match=word):
        Ladder(**wrong).fit(*cancer)


def test_one_class_and_all_single_classes_are_refused():
    """One class cannot be learnt, nor can classes of one example each."""
    with pytest.raises(InputError, match="one class"):
        Ladder().fit(np.zeros((5, 1)) + np.arange(5)[:, None] ** 2, ["a"] * 5)
    with pytest.raises(InputError, match="at least 2 examples"):
        Ladder().fit(np.arange(5.0)[:, None] ** 2, list("abcde"))


def test_a_class_with_one_example_is_kept_but_never_tested():
    """A single example stays among the rows learnt from, and a note says so."""
    X, y = load_iris(return_X_y=True)
    y = y.copy()
    y[0] = 7
    ladder = Ladder(rungs=QUICK).fit(X, y)
    assert 0 in ladder.train_
    assert any(note.kind == "single rows" for note in ladder.notes_)


def test_a_rung_that_fails_does_not_take_the_others_with_it(cancer):
    """A kernel that is none on these rows is told in its line of the table; the rungs before it stand."""
    ladder = Ladder(rungs=["majority", "perceptron", "kernel"], kernel="sigmoid").fit(*cancer)
    assert ladder.winner_ == "perceptron"
    assert "cannot learn from these rows" in ladder.rungs_[2].skipped


@pytest.mark.parametrize("share", [0.5, 0.9, 0.97])
def test_every_class_is_learnt_from_however_much_is_held_out(share):
    """Two rows of each class stay on the learning side."""
    X, y = load_iris(return_X_y=True)
    ladder = Ladder(rungs=["majority", "perceptron"], test_size=share).fit(X, y)
    assert (np.bincount(y[ladder.train_]) >= 2).all()


def test_encoders_may_give_data_frames(cancer):
    """A scikit-learn transformer with pandas output serves as an encoder."""
    scaler = StandardScaler().set_output(transform="pandas")
    ladder = Ladder(rungs=QUICK, encoder=scaler).fit(*cancer)
    assert ladder.verify(*cancer)
    assert not ladder.verify(cancer[0][:50], cancer[1][:50])


def test_labels_of_pandas_own_types_keep_their_kind():
    """Nullable whole numbers stay whole numbers."""
    pd = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True)
    ladder = Ladder(rungs=["majority"]).fit(X, pd.Series(y, dtype="Int64"))
    assert ladder.classes_.dtype.kind == "i"


def test_numbers_too_large_for_any_model_are_refused_by_name(cancer):
    """Without scaling, numbers near the end of the range are refused in one sentence."""
    X = cancer[0].copy()
    X[0, 0] = 1e308
    with pytest.raises(InputError, match="scale"):
        Ladder(encoder=hs.TableEncoder(scale="none"), rungs=QUICK, test_size=0.0).fit(X, cancer[1])


def test_the_names_of_the_classes_do_not_matter(cancer):
    """Other names, in another order of the alphabet, give the same split, scores and winner."""
    X, y = cancer
    one, two = Ladder(rungs=QUICK).fit(X, y), Ladder(rungs=QUICK).fit(X, np.where(y == "benign", "z", "a"))
    assert np.array_equal(one.test_, two.test_)
    assert [rung.scores for rung in one.rungs_] == [rung.scores for rung in two.rungs_]


@pytest.mark.parametrize("kind", ["category", "Int64"])
def test_missing_labels_are_refused(kind):
    """A missing label is no class."""
    pd = pytest.importorskip("pandas")
    y = pd.Series([None, *[0, 1] * 20], dtype="Int64").astype(kind)
    with pytest.raises(InputError, match="missing"):
        Ladder().fit(np.arange(41.0)[:, None] ** 2, y)


def test_ids_are_left_out_although_rows_are_held_out():
    """A column that counts the rows has gaps in the training part, and is still no feature."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"id": 100_000 + np.arange(200), "x": rng.standard_normal(200)})
    ladder = Ladder(rungs=["majority", "perceptron"]).fit(table, np.arange(200) < 100)
    assert [name for name, _, _ in ladder.encoder_.groups_] == ["x"]


def test_interrupts_wait_while_the_result_is_put_together():
    """In the last moments Ctrl-C is held back, and works again afterwards."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a runner may have started us with Ctrl-C ignored
    with undisturbed():
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    signal.signal(signal.SIGINT, before)
