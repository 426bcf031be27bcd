"""Principal components before a rung: learnt inside the folds, kept, proved and exported with the model behind them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA

import halfspace as hs
from halfspace.certificates import from_json
from halfspace.certificates.arithmetic import projected
from halfspace.errors import InputError, MemoryLimitError
from halfspace.ladder.components import Components, OnComponents, admit_components
from halfspace.report.gathering import gather

rng = np.random.default_rng(0)
X = rng.standard_normal((90, 3)) @ rng.standard_normal((3, 8)) + 0.1 * rng.standard_normal((90, 8)) + np.arange(8.0)
Y, T = (X @ rng.standard_normal(8) > 20.0).astype(int), X @ np.arange(8.0)
QUICK = {"rungs": ["majority", "perceptron"], "pca": 0.9}


def fitted(model, pca=2, rows=X, y=T):
    """Return a model of components, fitted."""
    return OnComponents(model, pca).fit(rows, y)


@pytest.fixture(scope="module")
def ladder():
    """Return a ladder whose rungs see components."""
    return hs.Ladder(**QUICK).fit(X, Y)


def test_components_are_scikit_learns():
    """Directions, variances and components of rows are those of PCA, dense and sparse."""
    expected = PCA(2).fit(X)
    for rows in (X, sparse.csr_array(X)):
        found = Components.of(rows, 2)
        np.testing.assert_allclose(np.abs(found.directions), np.abs(expected.components_), atol=1e-9)
        np.testing.assert_allclose(found.variances, expected.explained_variance_)
        np.testing.assert_allclose(np.abs(found(rows)), np.abs(expected.transform(X)), atol=1e-9)


def test_a_share_of_the_variance_decides_how_many():
    """With a share there are as many components as hold it, and no fewer would."""
    found = Components.of(X, 0.9)
    assert found.variances.sum() >= 0.9 * found.total > found.variances[:-1].sum()
    assert len(Components.of(X, 500).directions) == 8


def test_a_row_has_the_same_components_in_any_company():
    """Alone, among others, stored densely or sparsely: bit for bit."""
    V, mean = PCA(3).fit(X).components_, X.mean(axis=0)
    whole = projected(X, mean, V)
    assert np.array_equal(np.vstack([projected(row[None], mean, V) for row in X]), whole)
    assert np.array_equal(projected(sparse.csr_array(X), mean, V), whole)


MODELS = [hs.LinearRegression(), hs.BayesianRegression(), hs.KernelRegression(gamma=0.1, ridge=0.1), hs.LogTarget()]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_proof_holds_and_is_about_these_rows(model, kind):
    """It holds for the rows of the fit, is refuted by others, and survives JSON; so does that of a copy fitted anew."""
    rows, y = kind(X), np.exp(0.01 * T)
    for one in (fitted(model, rows=rows, y=y), clone(fitted(model, y=y)).fit(rows, y)):
        assert one.verify(rows, y)
        assert from_json(one.certificate_.to_json()).verify(rows, y)
        assert not one.verify(rows[::-1], y)
        assert not one.certificate_.verify(kind(X * np.append(np.ones(7), 1.01)), y)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("few", [1, 400])
def test_components_that_are_not_the_largest_are_refuted(wide, few, monkeypatch):
    """The second and third components without the first are orthonormal and principal, but not the largest."""
    monkeypatch.setattr("halfspace.certificates.components.SMALL", few)
    rows = X[:7] if wide else X
    found = fitted(hs.LinearRegression(), 3, rows, T[: len(rows)])
    V, v = found.components_[1:], found.variances_[1:]
    other = OnComponents(hs.LinearRegression(), 2)
    moved = Components(found.mean_, V, v, found.total_)
    other.around(hs.LinearRegression().fit(moved(rows), T[: len(rows)]), moved)
    said = str(other.certificate_.verify(rows, T[: len(rows)]))
    assert "a direction left out has a variance of" in said
    assert found.certificate_.verify(rows, T[: len(rows)])


def test_weights_are_those_of_the_inputs():
    """Weights and constant of a line behind components are those of the line it draws in the inputs."""
    model = fitted(hs.LinearRegression())
    np.testing.assert_allclose(X @ model.coef_ + model.intercept_, model.predict(X))
    assert not hasattr(fitted(hs.KernelRegression(gamma=0.1, ridge=0.1)), "coef_")


@pytest.mark.compiled
def test_relevances_are_those_of_the_inputs():
    """The metric of a model behind components is one of the inputs: shares of its diagonal."""
    model = fitted(hs.GMLVQ(max_iter=5), y=Y)
    metric = (model.model_.omega_ @ model.components_).T @ (model.model_.omega_ @ model.components_)
    np.testing.assert_allclose(model.relevances_, np.diag(metric) / np.trace(metric))


def test_they_are_learnt_inside_the_folds(ladder):
    """Every fold's model has components of its own rows, other than the winner's, and a note says how many there are."""
    for k, model in enumerate(ladder.fold_models_):
        rows = ladder.train_[ladder.fold_ != k]
        assert model.certificate_.verify(ladder.encode(X[rows]), Y[rows])
        assert not np.array_equal(model.components_, ladder.estimator_.components_)
    assert any("principal components with" in str(note) for note in ladder.notes_)
    assert ladder.rungs_[1].params["components"] == 3
    assert ladder.rungs_[0].params == {}


def test_a_ladder_is_proved_and_kept_with_them(ladder, tmp_path):
    """`verify` holds and refutes other directions; a loaded ladder answers the same, sets included."""
    assert ladder.verify(X, Y)
    hs.save(ladder, tmp_path / "model")
    loaded = hs.load(tmp_path / "model")
    assert np.array_equal(loaded.decision_function(X), ladder.decision_function(X))
    assert np.array_equal(loaded.predict_set(X, 0.8), ladder.predict_set(X, 0.8))
    loaded.estimator_.components_ = -loaded.estimator_.components_
    assert "directions" in str(loaded.verify(X, Y))


def test_an_exported_ladder_multiplies_by_a_matrix(ladder):
    """The ONNX graph gives the same labels and probabilities."""
    evaluator = pytest.importorskip("onnx.reference").ReferenceEvaluator(hs.to_onnx(ladder))
    label, _, chances = evaluator.run(None, {"X": X})
    assert np.array_equal(label, ladder.predict(X))
    np.testing.assert_allclose(chances, ladder.predict_proba(X), rtol=1e-9)


def test_numbers_too():
    """A ladder of numbers behind components is proved, and its report names the inputs with errors of their weights."""
    ladder = hs.RegressionLadder(rungs=["mean", "least_squares"], pca=3).fit(X, T)
    assert ladder.winner_ == "least_squares"
    assert ladder.verify(X, T)
    found = gather(ladder, X, T)
    assert set(found.numbers.coefficients.names) == {f"x{j}" for j in range(8)}
    assert "sees 3 principal components of 8 inputs" in found.claim.sentence


@pytest.mark.parametrize("pca", [0, 1.0, -0.5, True, "0.9", 2.5])
def test_other_numbers_are_refused(pca):
    """A share is below 1, a number of components a whole one."""
    with pytest.raises(InputError, match="'pca' parameter of Ladder must be None, a share of the variance below 1"):
        hs.Ladder(pca=pca).fit(X, Y)


def test_a_share_of_thin_sparse_rows_is_refused_with_a_remedy():
    """Of sparse rows the number of components must be given; then they are found, and proved."""
    rows = sparse.random_array((60, 300), density=0.03, rng=np.random.default_rng(1), format="csr")
    with pytest.raises(InputError, match=r"give the number of components instead, such as --pca 50 \(pca=50\)"):
        hs.Ladder(**QUICK).fit(rows, Y[:60])
    assert hs.Ladder(rungs=["perceptron"], pca=4).fit(rows, Y[:60]).verify(rows, Y[:60])


def test_what_does_not_fit_the_memory_limit_is_refused():
    """The bytes are predicted before anything is decomposed."""
    wide = sparse.csr_array((2_000, 100_000))
    with hs.memory_limit("600MB"), pytest.raises(MemoryLimitError, match="1,000 principal components of 100,000 inputs"):
        admit_components("Ladder", 1_000, wide)


def test_rows_that_are_the_same_have_none():
    """Constant rows are refused in a sentence."""
    with pytest.raises(InputError, match="all rows are the same"):
        fitted(hs.LinearRegression(), rows=np.ones((5, 2)), y=T[:5])
