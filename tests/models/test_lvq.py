"""Prototype classifiers as estimators: answers, refusals, streams, budgets."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from halfspace.errors import InputError
from halfspace.models.prototypes.glvq import GLVQ
from halfspace.models.prototypes.gmlvq import GMLVQ
from halfspace.models.prototypes.grlvq import GRLVQ
from halfspace.models.prototypes.lvq import LVQ
from halfspace.solvers.prototypes import online

LEARNERS = [
    LVQ(max_iter=5, random_state=0),
    LVQ(variant="2.1", max_iter=5, random_state=0),
    LVQ(variant="3", n_prototypes=2, max_iter=5, random_state=0),
    GLVQ(optimizer="online", max_iter=5, random_state=0),
    GRLVQ(optimizer="online", max_iter=5, random_state=0),
    GMLVQ(optimizer="online", max_iter=5, random_state=0),
]
each = pytest.mark.parametrize("model", LEARNERS, ids=["LVQ1", "LVQ2.1", "LVQ3", "GLVQ", "GRLVQ", "GMLVQ"])


def clouds(n=60, d=3, distance=2.5, seed=0):
    rng = np.random.default_rng(seed)
    target = rng.integers(0, 3, n)
    X = rng.standard_normal((n, d))
    X[np.arange(n), target] += distance
    return X, np.array(["a", "b", "c"])[target]


@each
def test_storage_does_not_matter(model):
    """Dense and CSR rows give the same prototypes, and the certificate holds."""
    X, y = clouds()
    X[np.abs(X) < 0.5] = 0.0
    dense = model.fit(X, y)
    W = dense.prototypes_
    assert dense.certificate_.verify(X, y)
    assert dense.certificate_.errors == np.count_nonzero(dense.predict(X) != y)
    rows = model.fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(rows.prototypes_, W, rtol=1e-9, atol=1e-12)
    assert (rows.predict(sparse.csr_matrix(X)) == rows.predict(X)).all()


@each
def test_chunks_do_not_matter(model):
    """A stream cut anywhere teaches the same prototypes; the first rows of each class become its prototypes."""
    X, y = clouds(40)
    whole = model.__class__(**model.get_params()).partial_fit(X, y, classes=["a", "b", "c"])
    cut = model.__class__(**model.get_params())
    for rows in np.split(np.arange(40), [1, 2, 9, 30]):
        cut.partial_fit(X[rows], y[rows], classes=["a", "b", "c"])
    np.testing.assert_array_equal(cut.prototypes_, whole.prototypes_)
    np.testing.assert_array_equal(cut._metric(), whole._metric())
    assert cut.prototype_labels_.tolist() == whole.prototype_labels_.tolist()
    assert not hasattr(whole, "certificate_")
    assert whole.certify(X, y).verify(X, y)


@each
def test_answers_belong_together(model):
    """The label is that of the largest relative distance, whose size is the reject score."""
    X, y = clouds()
    model.fit(X, y)
    scores, clear = model.decision_function(X), model.reject_score(X)
    assert scores.shape == (60, 3)
    assert (model.classes_[scores.argmax(axis=1)] == model.predict(X)).all()
    np.testing.assert_allclose(scores.max(axis=1), clear)
    assert (clear >= 0.0).all()
    assert (clear <= 1.0).all()
    answers = model.predict_with_reject(X, threshold=0.4, rejected="?")
    assert ((answers == "?") == (clear < 0.4)).all()
    assert (answers[clear >= 0.4] == model.predict(X)[clear >= 0.4]).all()


def test_the_reject_curve_counts():
    """Each threshold accepts the share of rows at least as clear, and the accuracy is theirs."""
    X, y = clouds(distance=1.0)
    model = GLVQ(max_iter=5).fit(X, y)
    curve, clear, right = model.reject_curve(X, y), model.reject_score(X), model.predict(X) == y
    assert curve.accepted[0] == 1.0
    assert curve.accuracy[0] == pytest.approx(right.mean())
    for t, share, accuracy in list(zip(*curve, strict=True))[::10]:
        assert share == pytest.approx(np.mean(clear >= t))
        assert accuracy == pytest.approx(right[clear >= t].mean())
    with pytest.raises(InputError, match="one label per row"):
        model.reject_curve(X, y[:5])


def test_two_classes_have_one_column():
    """For two classes the relative distance is that of the second, positive where it answers; a tie goes to the first."""
    model = LVQ(max_iter=1, eta0=1e-9).fit([[0.0], [4.0]], ["n", "p"])
    np.testing.assert_allclose(model.decision_function([[1.0], [2.0], [4.0]]), [-0.8, 0.0, 1.0], atol=1e-6)
    model.prototypes_ = np.array([[0.0], [4.0]])
    assert model.predict([[1.0], [2.0], [3.0]]).tolist() == ["n", "n", "p"]


def test_prototypes_per_class():
    """A dict says how many prototypes each class has; a class of fewer rows has as many as rows."""
    X, y = clouds()
    model = LVQ(n_prototypes={"a": 2, "b": 1, "c": 3}, max_iter=2, random_state=0).fit(X, y)
    assert model.prototype_labels_.tolist() == ["a", "a", "b", "c", "c", "c"]
    few = np.append(np.flatnonzero(y == "a")[:2], np.flatnonzero(y == "b"))
    assert LVQ(n_prototypes=4, max_iter=2).fit(X[few], y[few]).prototype_labels_.tolist() == ["a"] * 2 + ["b"] * 4


@pytest.mark.parametrize("init", ["k-means", "mean", "sample"])
def test_starts(init):
    """Every start gives usable prototypes, dense or sparse, with one seed the same."""
    X, y = clouds()
    model = LVQ(n_prototypes=2, init=init, max_iter=2, random_state=0)
    W = model.fit(X, y).prototypes_
    np.testing.assert_allclose(model.fit(sparse.csr_matrix(X), y).prototypes_, W, rtol=1e-9, atol=1e-12)
    assert np.unique(W, axis=0).shape == (6, 3)


def test_unusable_parameters_are_refused():
    """The message names the parameter, what is allowed and what came."""
    X, y = clouds()
    for model, words in [
        (LVQ(variant="4"), "'variant' parameter of LVQ must be '1', '2.1' or '3'. Got '4' instead"),
        (LVQ(n_prototypes=0), "'n_prototypes' parameter of LVQ must be a positive integer"),
        (LVQ(n_prototypes={"a": 1}), "must have the labels of y as its keys"),
        (LVQ(window=1.0), "'window' parameter"),
        (GLVQ(beta=-1.0), "'beta' parameter"),
        (GLVQ(optimizer="newton"), "'optimizer' parameter"),
        (GMLVQ(rank=0), "'rank' parameter"),
        (GMLVQ(per_class=True, optimizer="online"), "batch optimiser only"),
    ]:
        with pytest.raises(InputError, match=words.replace(".", r"\.")):
            model.fit(X, y)
        assert not hasattr(model, "prototypes_")
    with pytest.raises(InputError, match="takes no sample_weight"):
        GLVQ(optimizer="online").fit(X, y, sample_weight=np.ones(60))
    with pytest.raises(InputError, match="classes must be passed"):
        GLVQ().partial_fit(X, y)
    with pytest.raises(InputError, match="balanced"):
        GLVQ(class_weight="balanced").partial_fit(X, y, classes=["a", "b", "c"])
    assert not hasattr(GMLVQ(per_class=True), "partial_fit")


@pytest.mark.parametrize("far", [np.nan, 1e12], ids=["NaN", "far"])
def test_prototypes_that_run_away_are_not_kept(far, monkeypatch):
    """The outcome says so, and the model is the last sound one; a stream forgets the chunk."""
    X, y = clouds()
    model = LVQ(random_state=0).partial_fit(X, y, classes=["a", "b", "c"])
    W = model.prototypes_

    def run_away(rows, target, s, book, rule):  # noqa: ARG001
        book.W[:] *= far
        return 0

    monkeypatch.setattr(online, "learn_kohonen", run_away)
    model.partial_fit(X, y)
    assert model.outcome_.reason == "diverged"
    assert (model.prototypes_ == W).all()
    model.fit(X, y)
    assert model.outcome_.reason == "diverged"
    assert "Lower eta0" in str(model.outcome_)
    assert model.certificate_.verify(X, y)


@each
def test_ctrl_c_keeps_what_was_learnt(model, monkeypatch):
    """Ctrl-C in the middle of an epoch leaves a usable model that says so; a warm start goes on as if nothing had happened."""
    X, y = clouds()
    whole = clone(model).set_params(warm_start=True).fit(X, y)
    monkeypatch.setattr(online, "BLOCK", 25)
    real, calls = online.gathered, []

    def interrupted(*args):
        calls.append(1)
        if len(calls) == 8:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(online, "gathered", interrupted)
    model = clone(model).set_params(warm_start=True).fit(X, y)
    assert model.outcome_.reason == "interrupted"
    assert model.n_iter_ == 2
    assert model.certificate_.verify(X, y)
    np.testing.assert_array_equal(model.set_params(max_iter=3).fit(X, y).prototypes_, whole.prototypes_)


@each
def test_cut_and_resumed_is_one_go(model, monkeypatch):
    """Stepped epoch by epoch, stopped by the clock in the middle of epochs, or run in one go: the same bits and errors."""
    X, y = clouds()
    whole = clone(model).set_params(tol=0.0).fit(X, y)
    by_epoch = clone(model).set_params(tol=0.0, warm_start=True, max_iter=1)
    errors = [int(by_epoch.fit(X, y).history_["errors"][0]) for _ in range(5)]
    assert errors == whole.history_["errors"].tolist()
    monkeypatch.setattr(online, "PIECE", 0)
    monkeypatch.setattr(online, "LEAST", 17)
    by_clock = clone(model).set_params(tol=0.0, warm_start=True, max_time=1e-9)
    for _ in range(5 * 4):
        by_clock.fit(X, y)
    for other in (by_epoch, by_clock):
        np.testing.assert_array_equal(other.prototypes_, whole.prototypes_)
        np.testing.assert_array_equal(other._metric(), whole._metric())


@each
def test_a_changed_model_is_not_proved(model):
    """Model and certificate share one memory: who changes the prototypes that answer changes what is checked."""
    X, y = clouds()
    model = clone(model).fit(X, y)
    assert np.shares_memory(model.prototypes_, model.certificate_.prototypes)
    assert not hasattr(model, "omega_") or np.shares_memory(model.omega_, model.certificate_.omega)
    model.prototypes_[:] = -model.prototypes_
    assert not model.certificate_.verify(X, y)


@pytest.mark.parametrize("learner", [GLVQ, GRLVQ, GMLVQ])
def test_the_plain_rule_is_what_the_accelerators_do(learner):
    """optimizer="plain" runs the rule as it is written, and ends where "online" does, also in a stream."""
    X, y = clouds()
    fast, plain = (learner(optimizer=name, max_iter=3, random_state=0).fit(X, y) for name in ("online", "plain"))
    np.testing.assert_allclose(plain.prototypes_, fast.prototypes_, rtol=1e-9)
    assert plain.history_["errors"].tolist() == fast.history_["errors"].tolist()
    fast, plain = (learner(optimizer=name).partial_fit(X, y, classes=["a", "b", "c"]) for name in ("online", "plain"))
    np.testing.assert_allclose(plain.prototypes_, fast.prototypes_, rtol=1e-9)


def test_ctrl_c_before_anything_was_learnt_is_passed_on(monkeypatch):
    """A descent that is interrupted before its first cost is known leaves the model as it was."""

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("halfspace.solvers.prototypes.glvq_batch.cost_and_gradient", interrupted)
    model = GLVQ()
    with pytest.raises(KeyboardInterrupt):
        model.fit(*clouds())
    assert not hasattr(model, "prototypes_")


def test_a_descent_goes_on_as_if_it_had_not_stopped():
    """With warm_start, batch fits of a few steps end where one fit with as many steps does, to the last bit."""
    X, y = clouds(distance=1.0)
    whole = GMLVQ(max_iter=9, tol=0.0, warm_start=True, random_state=0).fit(X, y)
    parts = GMLVQ(max_iter=3, tol=0.0, warm_start=True, random_state=0).fit(X, y).fit(X, y).fit(X, y)
    np.testing.assert_array_equal(parts.prototypes_, whole.prototypes_)


@pytest.mark.parametrize("optimizer", ["online", "batch"])
def test_a_time_budget_ends_a_fit(optimizer):
    """max_time stops after the piece at hand; a warm start goes on from there."""
    X, y = clouds(distance=1.0)
    model = GLVQ(optimizer=optimizer, max_time=1e-9, warm_start=True, random_state=0).fit(X, y)
    assert model.outcome_.reason == "time budget spent"
    before = model.cost_
    model.set_params(max_time=None, max_iter=20).fit(X, y)
    assert model.cost_ < before


def test_progress_is_told(capsys):
    """verbose=2 prints a line per epoch or step and the outcome, to standard error."""
    X, y = clouds()
    GLVQ(optimizer="online", max_iter=2, verbose=2).fit(X, y)
    GLVQ(optimizer="batch", max_iter=2, verbose=2).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("[GLVQ] epoch 1: ")
    assert lines[2].startswith("[GLVQ] 2 epochs done")
    assert lines[3].startswith("[GLVQ] step 1: cost ")
