"""Models as ONNX graphs, run by onnxruntime."""

import sys
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import halfspace as hs
from halfspace.errors import InputError
from halfspace.kernels import RBF, Cosine, Laplacian, Linear, Manhattan, Polynomial
from halfspace.ladder.baselines import Mean, NeighbourMean

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3)) + 1.0
NEW = np.vstack([X, 2.0 * RNG.standard_normal((60, 3))])  # training rows too: kernels are least smooth at their own vectors
LABELS = {"two": np.where(X[:, 0] * X[:, 1] + X[:, 2] > 2.0, "yes", "no"), "three": 5 * X.argmax(axis=1)}

pytestmark = [
    pytest.mark.filterwarnings("ignore::halfspace.errors.NotSeparatedWarning"),
    pytest.mark.filterwarnings("ignore::halfspace.errors.GapWarning"),
]


def run(model, rows):
    """Return the outputs of an exported model by name."""
    graph = hs.to_onnx(model)
    onnx.checker.check_model(graph, full_check=True)
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": np.asarray(rows, dtype=np.float64)}), strict=True))


def agrees(model, rows=NEW):
    """Compare labels, which must be equal, and scores, to 1e-9 of their size."""
    found, scores = run(model, rows), model.decision_function(rows)
    assert found["label"].tolist() == model.predict(rows).tolist()
    assert found["scores"].shape == scores.shape
    assert np.abs(found["scores"] - scores).max() <= 1e-9 * np.abs(scores).max()
    return found


PLANES = [
    hs.Perceptron(max_iter=5, random_state=0),
    hs.Perceptron(max_iter=5, random_state=0, multi_class="native", intercept="none"),
    hs.AveragedPerceptron(random_state=0),
    hs.PocketPerceptron(max_iter=5, random_state=0),
    hs.VotedPerceptron(random_state=0, max_iter=3),
    hs.PerceptronCommittee(random_state=0),
    hs.PerceptronCommittee(random_state=0, vote="stability"),
    hs.HebbClassifier(),
    hs.Adaline(),
    hs.PassiveAggressive(random_state=0),
    hs.MinOver(max_iter=50),
    hs.AdaTron(intercept_scaling=2.0),
    hs.AdaTron(intercept="free"),
    hs.AdaTronCV(Cs=[0.1, 1.0], cv=2),
]
KERNEL_MACHINES = [
    hs.KernelAdaTron(),
    hs.KernelAdaTron(intercept="free", multi_class="ovo"),
    hs.KernelAdaTron(n_cells=3),
    hs.KernelAdaTronCV(Cs=[1.0], gammas=[0.1, 1.0], cv=2),
    hs.KernelMinOver("rbf", max_iter=20),
    hs.KernelPerceptron("rbf", max_iter=2, random_state=0),
    hs.KernelPerceptron("rbf", max_iter=2, random_state=0, variant="averaged"),
    hs.KernelPerceptron("rbf", max_iter=2, random_state=0, variant="voted"),
    hs.KernelPerceptron("rbf", max_iter=2, random_state=0, budget=10),
    hs.RelevanceKernelClassifier(kernel=Manhattan(0.3).on_scales("log"), ridge=0.1),
    hs.RelevanceKernelClassifier(kernel=Laplacian(0.4).on_scales("normal"), ridge=0.1, kernel_rows=20),
]
BY_PROTOTYPES = [
    hs.LVQ(max_iter=3, random_state=0),
    hs.GLVQ(n_prototypes=2, max_iter=5, random_state=0),
    hs.GRLVQ(max_iter=5, random_state=0),
    hs.GMLVQ(max_iter=5, random_state=0),
    hs.GMLVQ(rank=2, per_class=True, max_iter=5, random_state=0),
]
CASES = list(product(PLANES + KERNEL_MACHINES + BY_PROTOTYPES, LABELS))


@pytest.mark.compiled
@pytest.mark.parametrize(("model", "which"), CASES, ids=[f"{i // 2}-{type(m).__name__}-{w}" for i, (m, w) in enumerate(CASES)])
def test_labels_and_scores_are_those_of_the_model(model, which):
    """Every classifier, of two classes or three, gives the same labels and, to 1e-9, the same outputs in onnxruntime."""
    agrees(model.fit(X, LABELS[which]))


def predicts(model, rows=NEW):
    """Compare predictions of numbers, to 1e-9 of their size."""
    found, expected = run(model, rows)["prediction"], model.predict(rows)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= 1e-9 * np.abs(expected).max()


TARGETS = 2.0 + np.sin(X[:, 0]) + 0.2 * X[:, 1]
REGRESSIONS = [
    hs.LinearRegression(),
    hs.LinearRegression(ridge="cv", intercept="clamped"),
    hs.BayesianRegression(),
    hs.KernelRegression(),
    hs.KernelRegression("poly", gamma=0.5, coef0=1.0, ridge=0.1, intercept="clamped"),
    hs.KernelRegression(kernel_rows=20, gamma=0.3, ridge=0.1),
    hs.LogTarget(hs.KernelRegression(gamma=0.3, ridge=0.1)),
    hs.RelevanceKernelRegressor(kernel=Manhattan(0.3).on_scales("normal"), ridge=0.1),
    hs.RelevanceKernelRegressor(kernel=Laplacian(0.4).on_scales(), ridge=0.1, kernel_rows=20),
    Mean(),
    NeighbourMean(),
]


@pytest.mark.compiled
@pytest.mark.parametrize("model", REGRESSIONS, ids=lambda model: type(model).__name__)
def test_predictions_of_numbers_are_those_of_the_model(model):
    """Every regression and baseline for numbers gives the same predictions, to 1e-9, in onnxruntime."""
    predicts(model.fit(X, TARGETS))


@pytest.mark.compiled
@pytest.mark.parametrize(
    "model", [hs.LinearRegression(), hs.KernelRegression(kernel_rows=20, gamma=0.3, ridge=0.1)], ids=["line", "cells"]
)
def test_several_targets_are_several_columns(model):
    """A model of two targets has predictions of shape (rows, 2), behind a scaler too."""
    predicts(make_pipeline(StandardScaler(), model).fit(X, np.column_stack([TARGETS, X[:, 2] ** 2])))


KERNELS = {
    "linear": Linear(),
    "polynomial": Polynomial(3, gamma=0.5, coef0=1.0),
    "laplacian": Laplacian(0.4),
    "cosine": Cosine(),
    "sum": RBF(1.0) + 2 * Linear() ** 2,
    "product": (Linear() + 1) * RBF(0.3),
    "normalized": (Polynomial(2, coef0=1.0) + RBF(1.0) * Linear() + 3 * Linear() ** 2).normalized(),
    "normalized columns": (Laplacian(1.0).on([0, 1]) + Linear() + 1).normalized(),
    "centered": RBF(0.5).centered(),
    "manhattan": Manhattan(0.4),
    "scales": Laplacian(0.4).on_scales("normal") + Manhattan(0.3).on_scales("log").normalized(),
    "columns": RBF(1.0).on([0, 2]) + Linear().on([1]),
}


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_kernels_are_computed_to_rounding(kernel):
    """Each kernel and each of the algebra's operations gives the same outputs, also at the support vectors themselves."""
    agrees(hs.KernelAdaTron(kernel).fit(X, LABELS["two"]))


def test_a_precomputed_kernel_reads_rows_of_the_matrix():
    """A model of a kernel matrix reads rows of kernel values with all training examples."""
    K = RBF(1.0).matrix(X)
    agrees(hs.KernelAdaTron("precomputed").fit(K, LABELS["three"]), K)


@pytest.mark.parametrize("make", [lambda rows: rows.astype(np.float32), sparse.csr_array], ids=["float32", "sparse"])
@pytest.mark.parametrize("model", [hs.AdaTron(), hs.KernelAdaTron()], ids=["plane", "kernel"])
def test_what_it_was_trained_on_does_not_matter(model, make):
    """A model of single-precision or sparse rows is exported as one of doubles, and reads dense rows."""
    model.fit(make(np.maximum(X, 0.0)), LABELS["three"])
    agrees(model, NEW.astype(np.float32).astype(np.float64))


@pytest.mark.parametrize(
    ("classes", "kind"),
    [([False, True], bool), ([1, 2], np.int64), ([1.0, 2.0], np.float64), (["a", "b"], object), (["a", "b", "c"], object)],
    ids=["bool", "int", "float", "str", "three"],
)
def test_labels_keep_their_kind(classes, kind):
    """Labels come out as what they went in: bools, whole numbers, doubles or words."""
    model = hs.HebbClassifier().fit(np.eye(len(classes)), np.array(classes))
    found = agrees(model, np.eye(len(classes)))
    assert found["label"].dtype == kind


def test_a_model_without_support_vectors_is_its_bias():
    """A kernel perceptron that never learnt anything answers the negative class for every row."""
    model = hs.KernelPerceptron("rbf", max_iter=1).fit(X, LABELS["two"])
    model._expansion = model._expansion._replace(
        support=np.zeros((0, 3)), rows=np.zeros(0, dtype=np.int64), coefficients=np.zeros((1, 0)), bias=np.array([-1.0])
    )
    found = run(model, NEW)
    assert (found["scores"] == -1.0).all()
    assert set(found["label"].tolist()) == {"no"}


def gappy():
    """Return rows with repeated values, gaps, and a column of which only the gaps tell something."""
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((120, 4)) * [1.0, 5.0, 1e3, 1e-3] + 3.0
    rows[:, 0] = rows[:, 0].round()
    rows[rng.random(120) < 0.1, 1] = np.nan
    rows[rng.random(120) < 0.5, 2] = np.nan
    only = np.where(rng.random(120) < 0.3, np.nan, 7.0)
    return np.column_stack([rows, only, np.ones(120)]), np.where(rows[:, 0] + rng.standard_normal(120) > 3.0, "up", "down")


@pytest.mark.parametrize("scale", ["standard", "log", "rank", "normal", "none"])
def test_the_encoder_is_exported_with_its_gaps(scale):
    """Filling, marking and scaling of numbers give the same numbers, for new rows beyond the range too."""
    rows, _ = gappy()
    rows[:, 3] = np.exp(1e3 * rows[:, 3] - 3e3)
    rows = np.column_stack([rows, -rows[:, 3], rows[:, 3] - 1.0])  # a tail below, and one above negative values
    encoder = hs.TableEncoder(scale=scale).fit(rows)
    new = np.vstack([rows, 10.0 * rows - 5.0])
    assert run(encoder, new)["encoded"] == pytest.approx(encoder.transform(new), rel=1e-12, abs=1e-12)


def test_an_encoder_of_sparse_rows_divides():
    """Fitted to a sparse matrix, the encoder divides columns by their largest values."""
    rows = sparse.random(30, 5, density=0.5, random_state=0, format="csr")
    encoder = hs.TableEncoder().fit(rows)
    assert run(encoder, rows.toarray())["encoded"] == pytest.approx(encoder.transform(rows).toarray(), abs=1e-15)


@pytest.mark.parametrize(
    "encoder", [hs.TableEncoder(), StandardScaler(), StandardScaler(with_mean=False, with_std=False)], ids=str
)
def test_pipelines_are_exported_whole(encoder):
    """A scikit-learn pipeline of an encoder and a model is one graph."""
    agrees(make_pipeline(encoder, hs.AdaTron()).fit(X, LABELS["three"]))


@pytest.mark.compiled
@pytest.mark.parametrize("rung", ["majority", "neighbours", "adaline", "adatron", "kernel"])
@pytest.mark.parametrize("three", [False, True], ids=["two", "three"])
def test_a_ladder_is_exported_with_its_probabilities(rung, three):
    """Whatever rung has won: encoder, labels, scores and calibrated probabilities are in the graph."""
    rows, y = gappy()
    y = np.where(rows[:, 3] > 3.0005, "off", y) if three else y
    ladder = hs.Ladder(rungs=[rung], n_splits=2, n_repeats=1, curve=False).fit(rows, y)
    new = np.vstack([rows, 2.0 * rows])
    found = agrees(ladder, new)
    assert found["probabilities"] == pytest.approx(ladder.predict_proba(new), abs=1e-9)


def test_a_file_is_written(tmp_path):
    """With a path the graph is also a file."""
    model = hs.HebbClassifier().fit(X, LABELS["two"])
    graph = hs.to_onnx(model, tmp_path / "model.onnx")
    assert onnx.load(tmp_path / "model.onnx") == graph


def test_a_model_may_bring_its_own_graph():
    """A classifier with a method `to_graph` is exported by it, whoever wrote it: exports need not know its class."""

    class FirstInput(LogisticRegression):
        def to_graph(self, graph, X):
            return graph("Gather", X, np.array([0]), axis=1)

    exported = hs.to_onnx(FirstInput().fit(X, LABELS["two"]))
    session = onnxruntime.InferenceSession(exported.SerializeToString())
    assert (session.run(["scores"], {"X": X})[0] == X[:, 0]).all()


def test_what_cannot_be_exported_is_refused_by_name():
    """Foreign models and encoders, functions as kernels and columns of categories are refused in words."""
    y = LABELS["two"]
    with pytest.raises(InputError, match="got LogisticRegression"):
        hs.to_onnx(LogisticRegression().fit(X, y))
    with pytest.raises(InputError, match="got AdaptiveFilter"):
        hs.to_onnx(hs.AdaptiveFilter(n_taps=2).fit(X, TARGETS))
    with pytest.raises(InputError, match="got str"):
        hs.to_onnx("model")
    with pytest.raises(InputError, match="got MinMaxScaler"):
        hs.to_onnx(make_pipeline(MinMaxScaler(), hs.HebbClassifier()).fit(X, y))
    with pytest.raises(InputError, match="These can: Linear"):
        hs.to_onnx(hs.KernelPerceptron(Linear().after(np.abs), max_iter=1).fit(X, y))
    with pytest.raises(InputError, match="cannot be normalized there"):
        hs.to_onnx(hs.KernelPerceptron((Cosine() + 1).normalized(), max_iter=1).fit(X, y))
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"size": [1.0, 5.0, 2.0], "colour": ["red", "blue", "red"]})
    with pytest.raises(InputError, match="categories, dates or text: 'colour'"):
        hs.to_onnx(hs.TableEncoder().fit(table))


def test_without_onnx_the_extra_is_named(monkeypatch):
    """Where onnx is not installed the error says what to install."""
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"halfspace\[onnx\]"):
        hs.to_onnx(hs.HebbClassifier().fit(X, LABELS["two"]))
