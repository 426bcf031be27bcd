"""The relevance kernel machines: what is proved given the metric, and that rows which did not teach a metric judge it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import halfspace as hs
from halfspace.errors import InputError
from halfspace.solvers.regression import relevance
from halfspace.solvers.regression.relevance import Ends, Task, find_metric

pytestmark = pytest.mark.filterwarnings("ignore::halfspace.errors.FewRowsWarning")


def waves(n=120, d=5, seed=0):
    """Return rows of which only the first column matters, and a wave of it with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(2.5 * X[:, 0]) + 0.1 * rng.normal(size=n)


def rings(n=120, classes=3, seed=0):
    """Return rows, and the ring about the origin of the first two columns that they are in."""
    X = np.random.default_rng(seed).normal(size=(n, 4))
    return X, np.minimum((np.hypot(X[:, 0], X[:, 1]) * 1.2).astype(int), classes - 1)


@pytest.fixture(scope="module")
def regressor():
    X, y = waves()
    return hs.RelevanceKernelRegressor().fit(X, y)


@pytest.fixture(scope="module")
def classifier():
    X, y = rings()
    return hs.RelevanceKernelClassifier().fit(X, y)


def test_the_relevant_column_is_found(regressor):
    """The column that matters has the largest relevance by far, and the metric reads it."""
    assert regressor.relevances_.argmax() == 0
    assert regressor.relevances_[1:].max() < 0.2
    assert regressor.metric_.shape == regressor.relevances_.shape == (5,)
    assert regressor.metric_[0] > 0.0
    assert regressor.transform(waves()[0]).shape == (120, 5)


def test_noise_columns_are_left_out_of_a_wide_table():
    """Of more than 128 columns, rounds leave out those of least relevance, until the two that matter are left."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 150))
    y = np.sin(2.0 * X[:, 3]) + np.square(X[:, 7]) > 1.0
    model = hs.RelevanceKernelClassifier().fit(X, y)
    assert set(np.argsort(-model.metric_)[:2]) == {3, 7}
    assert np.count_nonzero(model.metric_) <= 0.6 * 0.6 * 150
    assert model.verify(X, y)


def test_left_out_outputs_are_those_of_refits(regressor, classifier):
    """Given metric and ridge, the output for a row left out is that of a machine fitted to the other rows."""
    for model, (X, y) in ((regressor, waves()), (classifier, rings())):
        for i in (0, 7, 50):
            again = type(model)(kernel=model.kernel_, ridge=model.ridge_).fit(np.delete(X, i, 0), np.delete(y, i))
            output = getattr(again, "decision_function", again.predict)(X[i : i + 1])
            np.testing.assert_allclose(output[0], model.left_out_[i], atol=1e-6)


def test_every_changed_number_is_refuted(classifier):
    """Another count of mistakes, gap, leave-one-out error, metric or label is refuted."""
    X, y = rings()
    proof = classifier.certificate_
    assert proof.verify(X, y)
    part = proof.part
    scaled = replace(part.kernel, factors=part.kernel.factors * 1.01)
    for changed in (
        replace(proof, mistakes=proof.mistakes + 1),
        replace(proof, part=replace(part, gap=part.gap * 0.01)),
        replace(proof, part=replace(part, left_out_error=part.left_out_error * 1.01)),
        replace(proof, part=replace(part, kernel=scaled)),
        replace(proof, classes=(1, 0, 2)),
    ):
        assert not changed.verify(X, y)
    assert not proof.verify(X, np.roll(y, 1))


def test_a_column_that_leaks_through_the_metric_is_not_rewarded():
    """Noise columns that a metric latches on to make leave-one-out errors small, not those of rows that taught nothing."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 50)), np.where(rng.random(60) < 0.5, 1.0, -1.0)
    task = Task(X, y[:, None].astype(np.float32), np.ones(60, np.float32), True)
    found = find_metric(task, np.random.RandomState(0))
    seen = ~np.isnan(found.unseen[:, 0])
    assert seen.all()
    assert ((found.unseen[:, 0] > 0) != (y > 0)).mean() > 0.35  # what is learnt is worth nothing, and is seen to be
    losses = dict(
        zip(zip(*(found.history[k] for k in ("kernel", "rounds", "factor")), strict=True), found.history["loss"], strict=True)
    )
    assert losses["laplacian", 1, 1.0] > 0.35


def test_many_rows_go_on_with_the_metric_in_cells(monkeypatch):
    """Beyond the rows of the search others teach in cells; those that judge them teach nothing, and are told of as unseen."""
    for name in ("FEW", "TAUGHT", "JUDGED", "MOST"):
        monkeypatch.setattr(relevance, name, 60)
    for name, value in (("HALVED", 90), ("APART", (80, 90)), ("CELL", 100), ("ROUNDS", 1)):
        monkeypatch.setattr(relevance, name, value)
    monkeypatch.setattr("halfspace.models.regression.relevance.ENOUGH", 80)
    X, y = waves(500, 8)
    lines = []
    task = Task(X, y[:, None].astype(np.float32), np.ones(500, np.float32), False)
    found = find_metric(task, np.random.RandomState(0), Ends(tell=lines.append))
    assert any("in cells" in line for line in lines)
    assert found.read.size == 410
    assert found.relevances.argmax() == 0
    model = hs.RelevanceKernelRegressor(kernel_rows=150).fit(X, y)
    seen = ~np.isnan(model.unseen_)
    assert seen.sum() == 90
    assert np.array_equal(model.unseen_[seen], model.left_out_[seen])
    assert model.verify(X, y)


def test_rows_without_weight_are_not_told_of_as_unseen(monkeypatch):
    """However many rows have no weight, the outputs for those that have are kept."""
    monkeypatch.setattr("halfspace.models.regression.relevance.ENOUGH", 50)
    X, y = waves(120, 2)
    s = (np.arange(120) < 60).astype(float)
    model = hs.RelevanceKernelRegressor().fit(X, y, sample_weight=s)
    assert np.array_equal(~np.isnan(model.unseen_), s > 0.0)


def test_rows_that_agree_share_a_cell():
    """Cells are cut at medians; rows that cannot be told apart stay together, and no more of them teach than a cell holds."""
    U, V = np.zeros((2500, 2), np.float32), np.zeros((7, 2), np.float32)
    ((mine, asked),) = relevance._cut(U, V)
    assert (mine.size, asked.size) == (relevance.CELL, 7)
    U[:, 1] = np.arange(2500)
    V[:, 1] = 400.0 * np.arange(7)
    cells = list(relevance._cut(U, V))
    assert sorted(mine.size for mine, _ in cells) == [625] * 4
    for mine, asked in cells:
        assert ((V[asked, 1] >= U[mine, 1].min() - 1) & (V[asked, 1] <= U[mine, 1].max() + 1)).all()


def test_probabilities_agree_with_outputs_and_labels(classifier):
    """The most probable class is the one of the largest output, and of two that of the side of 0."""
    X, y = rings()
    P, F = classifier.predict_proba(X), classifier.decision_function(X)
    assert np.array_equal(P.argmax(axis=1), F.argmax(axis=1))
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    two = hs.RelevanceKernelClassifier(kernel=classifier.kernel_, ridge=classifier.ridge_).fit(X, np.where(y > 0, "in", "out"))
    assert np.array_equal(two.predict_proba(X)[:, 1] > 0.5, two.decision_function(X) > 0.0)
    assert two.verify(X, np.where(y > 0, "in", "out"))
    two.calibration_ = two.calibration_._replace(slopes=2.0 * two.calibration_.slopes)
    assert not two.verify(X, np.where(y > 0, "in", "out"))


def test_cells_lie_in_the_space_of_the_metric(tmp_path):
    """With more rows than a machine may know there are cells, with a proof, also for weights, sparse rows and from a file."""
    X, y = waves(150)
    s = np.arange(150) % 3.0
    model = hs.RelevanceKernelRegressor(kernel_rows=60).fit(X, y, sample_weight=s)
    assert len(model.certificate_.parts) > 1
    assert model.verify(X, y)
    assert np.isnan(model.left_out_[s == 0]).all()
    hs.save(model, tmp_path / "model.halfspace")
    loaded = hs.load(tmp_path / "model.halfspace")
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert loaded.verify(X, y)
    same = hs.RelevanceKernelRegressor(kernel_rows=60).fit(sparse.csr_array(X), y, sample_weight=s)
    np.testing.assert_allclose(same.predict(X), model.predict(X), atol=1e-6)


def test_cells_borrow_the_examples_next_to_their_borders(tmp_path):
    """The machine of a cell knows others' examples too; left out, each of its own is predicted as by a refit without it."""
    X, y = waves(400, 3)
    kernel = hs.kernels.Laplacian(0.5).on_scales().resolved(X)
    model = hs.RelevanceKernelRegressor(kernel=kernel, ridge=0.1, kernel_rows=150).fit(X, y)
    proof, i = model.certificate_, 7
    assert 0 < proof.borrowed.size <= 200
    assert (proof.cells[proof.borrowed] != proof.borrowers).all()
    k = proof.cells[i]
    known = proof.known(k, np.flatnonzero(proof.cells == k))
    others = known[known != i]
    assert known.size > np.count_nonzero(proof.cells == k)
    refit = hs.KernelRegression(kernel=kernel, ridge=0.1, intercept="free").fit(X[others], y[others])
    assert model.left_out_[i] == pytest.approx(refit.predict(X[[i]])[0], rel=1e-6)
    assert model.left_out_error_ == pytest.approx(np.mean(np.square(y - model.left_out_)))
    assert model.verify(X, y)
    np.testing.assert_allclose([model.predict(row[None])[0] for row in X[:5]], model.predict(X)[:5], rtol=1e-9)
    hs.save(model, tmp_path / "model.halfspace")
    loaded = hs.load(tmp_path / "model.halfspace")
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert loaded.verify(X, y)
    own = np.flatnonzero(proof.cells == proof.borrowers[0])[0]
    for changed in (
        {"borrowed": np.append(proof.borrowed[:-1], proof.borrowed[-2])},
        {"borrowed": np.append(own, proof.borrowed[1:])},
        {"borrowers": np.roll(proof.borrowers, 1)},
        {"own_error": 0.999 * proof.own_error},
        {"own_error": None},
        {"borrowed": None, "borrowers": None, "own_error": None},
    ):
        assert not replace(proof, **changed).verify(X, y)


def test_the_result_does_not_depend_on_the_threads():
    """Machines are solved side by side with generators of their own."""
    X, y = waves(150)
    one, two = (hs.RelevanceKernelRegressor(n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    assert np.array_equal(one.left_out_, two.left_out_)
    assert one.history_ == two.history_


def test_warm_start_keeps_the_metric(regressor):
    """A warm start solves for new rows with the metric that is known; other classes are refused."""
    X, y = waves(seed=1)
    model = hs.RelevanceKernelRegressor(warm_start=True).fit(*waves())
    before = model.kernel_
    assert model.fit(X, y).kernel_ == before == regressor.kernel_
    assert model.verify(X, y)
    other = hs.RelevanceKernelClassifier(warm_start=True).fit(*rings(40, 2))
    with pytest.raises(InputError, match="classes"):
        other.fit(*rings(40, 3))


def test_columns_have_straight_curves_where_bent_ones_take_too_long(monkeypatch):
    """With a limit that bent curves of all columns would break, none is learnt; without one they are."""
    X = np.random.default_rng(0).lognormal(sigma=2.0, size=(60, 3))
    y = np.log(X[:, 0]) > 0.0
    monkeypatch.setattr(relevance, "CURVE", 1e9)
    assert hs.RelevanceKernelClassifier(max_time=60.0, random_state=0).fit(X, y).kernel_.scale == "standard"
    assert hs.RelevanceKernelClassifier(random_state=0).fit(X, y).kernel_.scale != "standard"


def test_a_time_limit_or_ctrl_c_leaves_the_best_so_far(monkeypatch):
    """What was not tried is said, and the machine that is kept has its proof."""
    X, y = waves()
    model = hs.RelevanceKernelRegressor(max_time=1e-3).fit(X, y)
    assert model.outcome_.reason == "time budget spent"
    assert model.verify(X, y)
    calls = []

    def interrupted(shape, *rest):
        calls.append(shape.name)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return judge(shape, *rest)

    judge = relevance._judge_shape
    monkeypatch.setattr(relevance, "_judge_shape", interrupted)
    model = hs.RelevanceKernelRegressor().fit(X, y)
    assert model.outcome_.reason == "interrupted"
    assert model.verify(X, y)


def test_what_cannot_be_used_is_refused():
    """A kernel needs a ridge, a ridge a kernel, and a machine at least two rows."""
    X, y = waves(30)
    for wrong in ({"ridge": 1.0}, {"kernel": "rbf", "ridge": 1.0}, {"kernel": hs.kernels.RBF(1.0)}, {"kernel_rows": 5}):
        with pytest.raises(InputError):
            hs.RelevanceKernelRegressor(**wrong).fit(X, y)


def test_several_targets_and_constant_columns():
    """Many targets share the metric; a column of one value has no factor to speak of, and no relevance."""
    X, y = waves(80, 3)
    X[:, 2] = 7.0
    model = hs.RelevanceKernelRegressor().fit(X, np.column_stack([y, X[:, 1]]))
    assert model.predict(X).shape == (80, 2)
    assert model.relevances_[2] == 0.0
    assert model.verify(X, np.column_stack([y, X[:, 1]]))
