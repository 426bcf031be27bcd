"""GLVQ, GRLVQ and GMLVQ: weights, metrics, transforms."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse

from halfspace.models.prototypes import starts
from halfspace.models.prototypes.glvq import GLVQ
from halfspace.models.prototypes.gmlvq import GMLVQ
from halfspace.models.prototypes.grlvq import GRLVQ
from halfspace.rows import threads

MODELS = [GLVQ(), GRLVQ(), GMLVQ(), GMLVQ(rank=2), GMLVQ(per_class=True)]
each = pytest.mark.parametrize("model", MODELS, ids=["GLVQ", "GRLVQ", "GMLVQ", "rank 2", "per class"])


def clouds(n=60, d=4, distance=1.5, seed=0):
    rng = np.random.default_rng(seed)
    target = rng.integers(0, 3, n)
    X = rng.standard_normal((n, d))
    X[np.arange(n), target] += distance
    return X, target


@each
def test_a_weight_of_two_is_a_row_twice(model):
    """Whole weights in the cost are repeated rows, whatever the metric."""
    model.set_params(max_iter=10)
    X, y = clouds(40)
    weight = np.random.default_rng(1).integers(0, 3, 40)
    weighted = model.fit(X, y, sample_weight=weight)
    scores, cost = weighted.decision_function(X), weighted.cost_
    assert weighted.certificate_.verify(X, y)
    repeated = model.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(repeated.decision_function(X), scores, atol=1e-6)
    assert repeated.cost_ == pytest.approx(cost, rel=1e-6)


@each
def test_a_batch_fit_proves_its_course(model):
    """The cost of a batch fit never rises, ends in the certified one, and the certificate holds."""
    model.set_params(max_iter=10)
    X, y = clouds()
    model.fit(X, y)
    assert (np.diff(model.history_["cost"]) <= 0.0).all()
    assert model.history_["cost"][-1] == pytest.approx(model.cost_, rel=1e-6)
    assert model.certificate_.verify(X, y)
    assert model.outcome_.reason in {"converged", "iteration budget spent"}


@each
def test_a_certificate_holds_for_either_storage(model):
    """What was proved about dense rows far from the origin holds for the same rows in CSR, and the other way round."""
    model.set_params(max_iter=3)
    X, y = clouds(30)
    X += 1e6
    for one, other in ((X, sparse.csr_array(X)), (sparse.csr_array(X), X)):
        proof = model.fit(one, y).certificate_
        assert proof.verify(one, y)
        assert proof.verify(other, y)
        assert proof.median_radius > 0.1


@pytest.mark.parametrize("init", ["k-means", "mean", "sample"])
def test_squares_beyond_float32_do_not_matter(init):
    """Float32 rows whose squares overflow in float32 learn what the same rows in other units do."""
    X, y = clouds(30)
    model = GLVQ(n_prototypes=2, init=init, max_iter=3, random_state=0)
    small, large = (model.fit((X * unit).astype(np.float32), y).prototypes_ / unit for unit in (1.0, 2.0**100))
    np.testing.assert_allclose(large, small, rtol=1e-9)


@pytest.mark.compiled
def test_the_number_of_threads_does_not_matter(monkeypatch):
    """A batch fit gives the same bits with one thread and with three."""
    X, y = clouds(1300, 30)
    found = []
    for count in (1, 3):
        with ThreadPoolExecutor(count) as pool:
            monkeypatch.setattr(threads, "pool", lambda pool=pool: pool)
            found.append(GMLVQ(optimizer="batch", max_iter=3).fit(X, y))
    np.testing.assert_array_equal(found[0].prototypes_, found[1].prototypes_)
    np.testing.assert_array_equal(found[0].omega_, found[1].omega_)


@pytest.mark.compiled
def test_class_weights_count_in_both_optimisers():
    """A class that counts more is missed less often."""
    rng = np.random.default_rng(0)
    y = (rng.random(200) < 0.3).astype(int)
    X = rng.standard_normal((200, 2)) + 0.8 * y[:, None]
    for optimizer in ("batch", "online"):
        model = GLVQ(optimizer=optimizer, max_iter=10, random_state=0)
        plain = model.fit(X, y).predict(X)[y == 1].mean()
        assert model.set_params(class_weight={0: 1.0, 1: 5.0}).fit(X, y).predict(X)[y == 1].mean() > plain


def test_the_metric_of_gmlvq_is_a_metric():
    """Λ is symmetric, positive semidefinite and of trace 1, its diagonal are the relevances; so is each of one per class."""
    X, y = clouds()
    for model in (GMLVQ(), GMLVQ(rank=2), GMLVQ(per_class=True), GMLVQ(optimizer="online")):
        model.set_params(max_iter=5).fit(X, y)
        for L in model.lambda_.reshape(-1, 4, 4):
            np.testing.assert_allclose(L, L.T, atol=1e-15)
            assert np.linalg.eigvalsh(L).min() > -1e-12
            assert np.trace(L) == pytest.approx(1.0, abs=1e-12)
        np.testing.assert_allclose(model.relevances_, np.diagonal(model.lambda_, axis1=-2, axis2=-1))


def test_transform_keeps_the_metric():
    """In all directions that transform returns, and in GRLVQ's scaled features, plain distances are those of the metric."""
    X, y = clouds()
    for model in (GMLVQ(max_iter=5, n_components=4), GMLVQ(max_iter=5, rank=2), GRLVQ(max_iter=5)):
        Z = model.fit(X, y).transform(X)
        D = np.square(Z[:, None] - model.transform(model.prototypes_)[None]).sum(axis=2)
        assert (model.prototype_labels_[D.argmin(axis=1)] == model.predict(X)).all()
    leading = GMLVQ(max_iter=5, n_components=1).fit(X, y)
    assert leading.transform(X).shape == (60, 1)
    assert leading.get_feature_names_out().tolist() == ["gmlvq0"]
    axis = np.linalg.lstsq(X, leading.transform(X), rcond=None)[0].ravel()
    assert axis @ axis == pytest.approx(np.linalg.eigvalsh(leading.lambda_).max())


def test_the_same_seed_gives_the_same_answer():
    """Order and start come from random_state alone."""
    X, y = clouds()
    for model in (GMLVQ(optimizer="online", n_prototypes=2), GMLVQ(rank=2)):
        first = model.set_params(max_iter=3, random_state=3).fit(X, y).prototypes_
        assert (model.fit(X, y).prototypes_ == first).all()


@pytest.mark.compiled
def test_auto_looks_at_the_rows():
    """optimizer="auto" descends the whole cost of few rows, and presents many."""
    X, y = clouds()
    assert "cost" in GLVQ(max_iter=2).fit(X, y).history_
    many = np.tile(X, (40, 1)), np.tile(y, 40)
    assert "errors" in GLVQ(max_iter=1).fit(*many).history_
    assert "cost" in GLVQ(max_iter=1).fit(*many, sample_weight=np.ones(2400)).history_


def test_k_means_sees_as_many_rows_as_a_time_limit_allows(monkeypatch):
    """With little time the first prototypes come from a sample of the rows, which does not depend on the clock."""
    seen = []

    class Watched(starts.KMeans):
        def fit(self, X, y=None, sample_weight=None):
            seen.append(X.shape[0])
            return super().fit(X, y, sample_weight)

    monkeypatch.setattr(starts, "KMeans", Watched)
    X = np.random.default_rng(0).standard_normal((3000, 5))
    y = np.arange(3000) % 2
    for max_time in (None, 1e-3, 1000.0):
        GLVQ(n_prototypes=2, max_iter=1, max_time=max_time, random_state=0).fit(X, y)
    assert seen == [1500, 1500, 200, 200, 1500, 1500]
