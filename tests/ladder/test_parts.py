"""The parts of the ladder: baselines and their certificates, folds, samples, probabilities, intervals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.datasets import load_iris
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import halfspace as hs
from halfspace.certificates import ClassCounts, NeighbourErrors, NeighbourMeans, PerCell, TargetMean, from_json
from halfspace.certificates.calibration import Calibration, Curve
from halfspace.errors import InputError
from halfspace.ladder.baselines import MEANS, Majority, Mean, NeighbourMean, Neighbours
from halfspace.ladder.measures import MEASURES
from halfspace.ladder.plans import Setting
from halfspace.ladder.rungs import PROTOTYPES, RUNGS
from halfspace.ladder.tasks import Classes, Numbers, Rows, make_folds, sample_of, split
from halfspace.ladder.values import TestResult


def test_neighbours_are_those_of_scikit_learn():
    """Predictions are KNeighborsClassifier's, and k is the one of fewest leave-one-out errors."""
    X, y = load_iris(return_X_y=True)
    model = Neighbours().fit(X[::2], y[::2])
    peer = KNeighborsClassifier(n_neighbors=model.k_).fit(X[::2], y[::2])
    assert np.array_equal(model.predict(X), peer.predict(X))


@pytest.mark.parametrize("k", [1, 3, 5])
def test_the_neighbours_certificate_counts_what_leaving_one_out_counts(k):
    """Without ties the claim is the true leave-one-out error count."""
    rng = np.random.default_rng(k)
    X, y = rng.standard_normal((80, 3)), rng.integers(0, 2, 80)
    wrong = 0
    for i in range(80):
        rest = np.arange(80) != i
        wrong += KNeighborsClassifier(k).fit(X[rest], y[rest]).predict(X[i : i + 1])[0] != y[i]
    proof = NeighbourErrors.measure(X, y, k=k)
    assert proof.errors == wrong
    assert proof.verify(X, y)


def test_ties_count_as_errors_whichever_way_they_fall():
    """Two copies of a point with different labels mislead each other, and a tie is nobody's win."""
    X, y = np.array([[0.0], [0.0], [1.0], [-1.0]]), np.array([0, 1, 0, 1])
    assert NeighbourErrors.measure(X, y, k=1).errors == 4
    assert NeighbourErrors.measure(np.zeros((4, 1)), np.array([1, 1, 1, 1]), k=1).errors == 0


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_extreme_sizes_do_not_make_a_false_claim_hold(size):
    """Where squares overflow or vanish, the count is still the true one."""
    X, y = size * np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    assert NeighbourErrors.measure(X, y, k=1).errors == 4
    assert not NeighbourErrors(1, 0, 4, (0, 1)).verify(X, y)


@pytest.mark.parametrize(
    "proof",
    [NeighbourErrors(1, 3, 4, (0, 1)), ClassCounts((0, 1), (3, 1)), ClassCounts((0,), (4,))],
    ids=["neighbours", "counts", "one class"],
)
def test_false_claims_of_baselines_are_refuted(proof):
    """A claim that is too good, or about other labels, is refuted; the file form keeps it."""
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    assert not proof.verify(X, y)
    assert from_json(proof.to_json()).to_dict() == proof.to_dict()


def test_baseline_certificates_with_wrong_fields_are_not_sound():
    """Negative, fractional and impossible counts are found before any arithmetic."""
    for proof in (
        NeighbourErrors(0, 1, 4, (0, 1)),
        NeighbourErrors(4, 1, 4, (0, 1)),
        NeighbourErrors(1, 5, 4, (0, 1)),
        ClassCounts((0, 0), (1, 1)),
        ClassCounts((0, 1), (1,)),
        ClassCounts((0, 1), (1.5, 2)),
    ):
        assert not proof.well_formed()


def test_the_majority_is_the_first_of_the_largest():
    """Of equally large classes the first is predicted, as its outputs say."""
    model = Majority().fit(np.zeros((4, 1)), np.array(["b", "a", "b", "a"]))
    assert model.predict(np.zeros((1, 1))).tolist() == ["a"]
    assert model.decision_function(np.zeros((2, 1))).tolist() == [0.0, 0.0]


def _classes(y):
    return Classes(np.unique(y), MEASURES["accuracy"])


def test_means_of_neighbours_are_those_of_scikit_learn():
    """Predictions are KNeighborsRegressor's, k is the one of least leave-one-out error, and the claim is that error."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = np.sin(X[:, 0]) + 0.3 * rng.standard_normal(60)
    model = NeighbourMean().fit(X[:40], y[:40])
    left_out = {k: cross_val_predict(KNeighborsRegressor(k), X[:40], y[:40], cv=LeaveOneOut()) for k in MEANS}
    errors = {k: np.sqrt(np.mean((found - y[:40]) ** 2)) for k, found in left_out.items()}
    assert model.k_ == min(errors, key=errors.get)
    assert model.left_out_ == pytest.approx(left_out[model.k_])
    assert model.certificate_.error == pytest.approx(errors[model.k_], rel=1e-12)
    assert model.predict(X) == pytest.approx(KNeighborsRegressor(model.k_).fit(X[:40], y[:40]).predict(X))


def test_ties_take_the_neighbours_furthest_from_the_truth():
    """Where distances tie, the error counts the worst choice of neighbours, and less is refuted."""
    X, y = np.array([[0.0], [1.0], [-1.0]]), np.array([0.0, 1.0, -3.0])
    proof = NeighbourMeans.measure(X, y, k=1)
    assert proof.error == pytest.approx(np.sqrt((9.0 + 1.0 + 9.0) / 3.0))
    assert proof.verify(X, y)
    assert not NeighbourMeans(1, np.sqrt((1.0 + 1.0 + 9.0) / 3.0), 3).verify(X, y)
    same = NeighbourMeans.measure(np.zeros((5, 1)), np.arange(5.0), k=2)
    assert same.error == pytest.approx(np.sqrt(np.mean(np.square([3.5, 2.5, 1.5, 2.5, 3.5]))))


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_the_mean_is_exact_at_any_size(size):
    """Mean and deviation are right to rounding where sums and squares would overflow, vanish or cancel, and less is refuted."""
    y = size * np.array([1.0, 1e16, 1.0, -1e16, 2.0])
    proof = TargetMean.measure(np.zeros((5, 1)), y)
    assert proof.mean == pytest.approx(0.8 * size, rel=1e-15)
    assert proof.deviation == pytest.approx(size * 1e16 * np.sqrt(0.4), rel=1e-15)
    assert proof.verify(np.zeros((5, 1)), y)
    assert not TargetMean(proof.mean * (1 + 1e-14), proof.deviation, 5).verify(np.zeros((5, 1)), y)


@pytest.mark.parametrize("model", [Mean(), NeighbourMean()], ids=lambda model: type(model).__name__)
def test_baselines_for_numbers_are_kept_in_files(model, tmp_path):
    """A saved baseline predicts the same and its proof holds, on sparse rows too; with other targets it is refuted."""
    rng = np.random.default_rng(0)
    X = sparse.random(30, 4, density=0.5, random_state=0, format="csr")
    y = X @ np.ones(4) + rng.standard_normal(30)
    hs.save(model.fit(X, y), tmp_path / "model")
    other = hs.load(tmp_path / "model")
    assert np.array_equal(other.predict(X), model.predict(X))
    assert other.verify(X, y)
    assert not other.verify(X, y[::-1] * 2.0)


def test_neighbours_need_a_neighbour():
    """One example has no neighbours, and the error says so."""
    with pytest.raises(InputError, match="at least 2 examples"):
        NeighbourMean().fit(np.zeros((1, 1)), np.zeros(1))


def test_folds_test_every_row_once_per_repeat():
    """In each repeat every row is tested once, and never learnt from in the same fold."""
    y = np.repeat([0, 1, 2], [30, 20, 10])
    folds = make_folds(_classes(y), y, 5, 3, seed=1)
    assert len(folds) == 15
    for repeat in range(3):
        tested = np.concatenate([test for _, test in folds[5 * repeat : 5 * repeat + 5]])
        assert np.array_equal(np.sort(tested), np.arange(60))
    assert all(not set(train) & set(test) for train, test in folds)


@given(st.integers(20, 400), st.integers(10, 100), st.integers(0, 5))
@settings(max_examples=50, deadline=None)
def test_samples_hold_every_class(n, most, seed):
    """A sample is no larger than asked by more than its rare classes, sorted, and has every class."""
    y = np.random.default_rng(seed).choice(3, n, p=[0.9, 0.08, 0.02])
    rows = sample_of(y, most, seed)
    assert (np.diff(rows) > 0).all()
    assert set(y[rows]) == set(y)
    assert rows.size <= max(most, 2 * 3) + 3 * 2 * (n // most + 1)


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=60), st.integers(0, 3))
@settings(max_examples=100, deadline=None)
def test_probabilities_agree_with_any_outputs(values, seed):
    """Whatever the outputs and labels, slopes are positive and finite, and the sign of f decides."""
    f = np.array(values)
    fair = Calibration.of(f, np.random.default_rng(seed).integers(0, 2, f.size))
    for curve in fair:
        assert 0 < curve.slope < np.inf
        assert 0 <= curve.noise < 1
    P = fair.probabilities(np.concatenate([f, [0.0, 5e-324, -5e-324, 1e300, -1e300]]))
    upper = np.concatenate([f > 0, [False, True, False, True, False]])
    assert np.array_equal(P.argmax(axis=1) == 1, upper)


def test_near_ties_of_many_classes_go_to_the_largest_output():
    """Outputs that differ by a rounding error have the right order of probabilities."""
    f = np.array([[1.0, np.nextafter(1.0, 2.0), 0.0], [0.0, -1e-300, 1e-300]])
    P = Calibration(Curve(1.0, 0.0), Curve(1.0, 0.0)).probabilities(f)
    assert P.argmax(axis=1).tolist() == [1, 2]


def test_the_interval_is_that_of_clopper_and_pearson():
    """The exact interval's ends are quantiles of beta distributions."""
    y = np.repeat([0, 1], 50)
    predicted = y.copy()
    predicted[:7] = 1
    result = TestResult.measure(predicted, y, np.array([0, 1]), MEASURES["accuracy"])
    assert result.low == pytest.approx(stats.beta.ppf(0.025, 93, 8))
    assert result.high == pytest.approx(stats.beta.ppf(0.975, 94, 7))


def test_the_balanced_interval_covers():
    """In simulations, 95 % intervals of balanced accuracy cover the truth about that often."""
    rng = np.random.default_rng(0)
    y, covered = np.repeat([0, 1], [200, 30]), 0
    for _ in range(400):
        predicted = np.where(rng.random(y.size) < np.where(y == 0, 0.9, 0.7), y, 1 - y)
        result = TestResult.measure(predicted, y, np.array([0, 1]), MEASURES["balanced_accuracy"])
        covered += result.low <= 0.8 <= result.high
    assert covered >= 0.93 * 400


def test_too_few_rows_hold_nothing_out():
    """With too few rows of each class there is no held-out part."""
    few, enough = np.array([0, 1, 0, 1, 0]), np.repeat([0, 1], 10)
    assert split(_classes(few), few, 0.2, 0)[1].size == 0
    assert split(_classes(enough), enough, 0.2, 0)[1].size == 4


@pytest.mark.parametrize("task", [_classes(np.arange(2)), Numbers(MEASURES["rmse"])], ids=["classes", "numbers"])
def test_rows_of_a_group_are_never_on_both_sides(task):
    """Neither a fold nor the held-out part separates rows of one group."""
    rng = np.random.default_rng(0)
    y, group = np.arange(120) % 2, rng.integers(15, size=120)
    folds = [*make_folds(task, y, 4, 1, 0, Rows(group=group)), split(task, y, 0.25, 0, Rows(group=group))]
    for train, test in folds:
        assert test.size
        assert not set(group[train]) & set(group[test])


@pytest.mark.parametrize("task", [_classes(np.arange(2)), Numbers(MEASURES["rmse"])], ids=["classes", "numbers"])
def test_in_time_the_past_is_learnt_from_and_the_future_tested(task):
    """Every row tested came after every row learnt from; rows of one moment are on one side."""
    rng = np.random.default_rng(0)
    y, time = np.arange(120) % 2, rng.integers(30, size=120)
    folds = [*make_folds(task, y, 4, 2, 0, Rows(time=time)), split(task, y, 0.25, 0, Rows(time=time))]
    assert len(folds) == 5
    for train, test in folds:
        assert time[train].max() < time[test].min()


@pytest.mark.compiled
def test_prototypes_are_grown_while_they_pay():
    """More prototypes are chosen for classes of eight clusters each, with nearly no errors; not for noise, nor for few rows."""
    rng = np.random.default_rng(0)
    which, noise = rng.integers(0, 16, 1500), rng.integers(0, 2, 1500)
    X, y = 5.0 * rng.standard_normal((16, 3))[which] + rng.standard_normal((1500, 3)), np.array(["a", "b"])[which % 2]
    grown = RUNGS["gmlvq"].choose(X, y, Setting(balanced=True, class_weight={"a": 1.0, "b": 1.0}, max_time=60.0))
    assert grown.params["n_prototypes"] == grown.model.n_prototypes > PROTOTYPES
    assert grown.model.fit(X, y).score(X, y) > 0.9
    for rows, labels in ((X, noise), (X[:900], y[:900])):
        chosen = RUNGS["gmlvq"].choose(rows, labels, Setting())
        assert (chosen.params, chosen.model.n_prototypes) == ({}, PROTOTYPES)


@pytest.mark.compiled
@pytest.mark.parametrize("classes", [2, 3])
def test_beyond_kernel_rows_machines_learn_in_cells(classes, tmp_path):
    """The kernel rung learns from all rows, a machine for each cell; its proof holds, and a model file predicts the same."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 2))
    y = (np.floor(1.5 * np.hypot(*X.T)) % classes).astype(int)
    ladder = hs.Ladder(rungs=["majority", "kernel"], kernel_rows=200, n_splits=2, curve=False, test_size=0.0).fit(X, y)
    assert (ladder.winner_, ladder.rungs_[-1].note) == ("kernel", "")
    assert isinstance(ladder.estimator_.certificate_, PerCell)
    assert "cells, gap" in ladder.rungs_[-1].proof
    assert ladder.verify(X, y)
    assert ladder.score(X, y) > 0.9
    hs.save(ladder, tmp_path / "ladder.halfspace")
    assert np.array_equal(hs.load(tmp_path / "ladder.halfspace").predict(X), ladder.predict(X))
