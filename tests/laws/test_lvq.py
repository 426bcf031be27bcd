"""Laws of prototype classifiers."""

import numpy as np
import pytest

from halfspace.models.prototypes.glvq import GLVQ
from halfspace.models.prototypes.gmlvq import GMLVQ
from halfspace.models.prototypes.grlvq import GRLVQ
from halfspace.models.prototypes.lvq import LVQ

MODELS = [
    LVQ(max_iter=3, random_state=0),
    LVQ(variant="2.1", max_iter=3, random_state=0),
    GLVQ(max_iter=5),
    GRLVQ(max_iter=5),
    GMLVQ(max_iter=5),
    GLVQ(optimizer="online", max_iter=3, random_state=0),
    GRLVQ(optimizer="online", max_iter=3, random_state=0),
    GMLVQ(optimizer="online", max_iter=3, random_state=0),
]
NAMES = ["LVQ1", "LVQ2.1", "GLVQ", "GRLVQ", "GMLVQ", "GLVQ online", "GRLVQ online", "GMLVQ online"]
each = pytest.mark.parametrize("model", MODELS, ids=NAMES)


def clouds(n=50, d=3, distance=1.5, seed=0):
    rng = np.random.default_rng(seed)
    target = rng.integers(0, 3, n)
    X = rng.standard_normal((n, d))
    X[np.arange(n), target] += distance
    return X, target


@each
def test_shifted_rows_have_shifted_prototypes(model):
    """Rows shifted by a vector give prototypes shifted by it, and the same answers."""
    X, y = clouds()
    shift = np.array([3.0, -2.0, 7.0])
    W, scores = model.fit(X, y).prototypes_, model.decision_function(X)
    np.testing.assert_allclose(model.fit(X + shift, y).prototypes_, W + shift, atol=1e-6)
    np.testing.assert_allclose(model.decision_function(X + shift), scores, atol=1e-6)


@each
def test_rows_in_other_units_learn_the_same(model):
    """Rows multiplied by a number give prototypes multiplied by it, and the same answers: no rate depends on the units."""
    X, y = clouds()
    W, scores = model.fit(X, y).prototypes_, model.decision_function(X)
    np.testing.assert_allclose(model.fit(64.0 * X, y).prototypes_, 64.0 * W, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(model.decision_function(64.0 * X), scores, atol=1e-6)


@each
def test_names_of_labels_do_not_matter(model):
    """Labels renamed in the same order give the same prototypes; in another order, other names for the same answers."""
    X, y = clouds()
    W = model.fit(X, y).prototypes_
    assert (model.fit(X, np.array(["p", "q", "r"])[y]).prototypes_ == W).all()
    if "online" not in str(model) and not isinstance(model, LVQ):
        answers = model.fit(X, y).predict(X)
        turned = np.array([2, 0, 1])
        assert (model.fit(X, turned[y]).predict(X) == turned[answers]).all()


def informative(n, seed=0):
    """Four classes told apart by two directions among ten inputs."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    corner = 1.5 * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])[y]
    X = rng.standard_normal((n, 10))
    X[:, :2] = 0.5 * X[:, :2] + corner
    return X, y, rng


@pytest.mark.compiled
@pytest.mark.parametrize("optimizer", ["batch", "online"])
def test_grlvq_finds_the_informative_features(optimizer):
    """Of ten features the two that tell the classes apart have nearly all the relevance."""
    X, y, _ = informative(1500)
    model = GRLVQ(optimizer=optimizer, beta=4.0, max_iter=20, random_state=0).fit(X, y)
    assert model.relevances_[:2].sum() > 0.95
    assert (model.relevances_ >= 0.0).all()
    assert model.relevances_.sum() == pytest.approx(1.0)


@pytest.mark.compiled
@pytest.mark.parametrize("optimizer", ["batch", "online"])
def test_gmlvq_finds_the_informative_subspace(optimizer):
    """With the inputs rotated, Λ's two leading directions span the informative plane up to a few degrees."""
    X, y, rng = informative(1500)
    turn = np.linalg.qr(rng.standard_normal((10, 10)))[0]
    model = GMLVQ(optimizer=optimizer, beta=4.0, max_iter=20, random_state=0).fit(X @ turn, y)
    values, vectors = np.linalg.eigh(model.lambda_)
    cosines = np.linalg.svd(turn[:2] @ vectors[:, -2:], compute_uv=False)
    assert np.degrees(np.arccos(cosines.min())) < 10.0
    assert values[-2:].sum() > 0.9


@pytest.mark.compiled
def test_online_descends_too():
    """Presenting rows at a falling rate comes within a few per cent of the cost that the batch optimiser finds."""
    X, y, _ = informative(1500)
    X[:, :2] *= 0.6
    batch = GLVQ(optimizer="batch", max_iter=100).fit(X, y).cost_
    online = GLVQ(optimizer="online", max_iter=30, half_life=3.0, random_state=0).fit(X, y).cost_
    assert online < 1.1 * batch


def test_glvq_learns_what_means_cannot():
    """GLVQ's cost ends below that of the class means it starts from, and so do its errors."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    X = rng.standard_normal((80, 2)) * np.where(y, 0.3, 2.0)[:, None] + np.where(y, 1.2, 0.0)[:, None]
    start = GLVQ(optimizer="online", eta0=1e-12, max_iter=1).fit(X, y)
    model = GLVQ(max_iter=30).fit(X, y)
    assert model.cost_ < 0.9 * start.cost_
    assert model.certificate_.errors <= start.certificate_.errors
