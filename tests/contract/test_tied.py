"""The proof belongs to the model that predicts: whatever number is changed, the proof is refuted or the predictions stay."""

import copy
import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_regressor

import halfspace as hs
from halfspace.cli import certify
from halfspace.errors import CertificateError, InputError, ModelFileError
from halfspace.kernels.values import Value
from halfspace.ladder.baselines import Majority, Mean, NeighbourMean, Neighbours
from halfspace.modelfiles.codec import Encoder
from halfspace.modelfiles.container import write
from halfspace.tables import TableEncoder

from .test_sklearn_checks import ESTIMATORS, VARIANTS

g = np.random.default_rng(0)
X = g.normal(size=(48, 3)) + np.repeat([[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0], [2.0, -2.0, 0.0]], 16, axis=0)
TWO, THREE = np.repeat([0, 1], 24), np.repeat(["a", "b", "c"], 16)
REAL = X @ [1.0, 2.0, 3.0] + g.normal(size=48)
POSITIVE = np.exp(0.2 * REAL)
NEW = g.normal(size=(20, 3)) * 2
MORE = [
    hs.AdaTron(intercept="free"),
    hs.AdaTron(C=np.inf, tol=1e-2, max_iter=50),
    hs.MinOver(max_iter=50),
    hs.KernelAdaTron(n_cells=3),
    hs.KernelAdaTron("linear", multi_class="ovo"),
    hs.KernelPerceptron("rbf", variant="voted", max_iter=2, intercept="none"),
    hs.LinearRegression(ridge=1.0, intercept="free"),
    hs.BayesianRegression(intercept="free"),
    hs.BayesianRegression(noise="unknown", intercept="clamped"),
    hs.KernelRegression(kernel_rows=20, gamma=0.1, ridge=0.5),
    hs.IsotropicMixture(2, sigma="each", max_iter=20),
    hs.AdaptiveFilter(n_taps=2),
    hs.LogTarget(hs.BayesianRegression()),
    hs.LogTarget(hs.KernelRegression(kernel_rows=20, gamma=0.1, ridge=0.5)),
    Majority(),
    Neighbours(),
    Mean(),
    NeighbourMean(),
]
FAST = {"tol": 1e-3, "cv_tol": 1e-2}
MOST = 40
"""Changes of one attribute; of more, which are states to go on from, some."""
REFUSALS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
NOT_OF_PREDICTION = {"certificate_", "_certificate", "history_", "outcome_", "n_iter_", "notes_", "_n_threads"}


def cases():
    """Return every estimator with targets it can learn from: two classes, three classes, or numbers."""
    for k, model in enumerate([*ESTIMATORS, *VARIANTS, *MORE]):
        for y in (
            [POSITIVE]
            if isinstance(model, hs.LogTarget)
            else [REAL]
            if is_regressor(model)
            else [TWO, THREE]
            if k < len(ESTIMATORS)
            else [THREE]
        ):
            yield pytest.param(model, y, id=f"{type(model).__name__}-{len(np.unique(y))}")


def fitted(model, y):
    """Fit a copy, as quickly as will do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = {name: value for name, value in FAST.items() if name in model.get_params() and model.get_params()[name]}
        return clone(model).set_params(**known).fit(X, y)


def outputs(model):
    """Return all that a model answers about new rows."""
    names = ("predict", "decision_function", "predict_proba", "transform", "score_samples")
    names += ("disagreement",) * bool(len(getattr(model, "members_", ())) and all(map(len, model.members_)))
    found = [getattr(model, name)(NEW) for name in names if hasattr(model, name)]
    if isinstance(model, hs.BayesianRegression):
        found += [model.predict(NEW, return_std=True)[1], *model.sample_posterior(2, random_state=0)]
    return found


def unmoved(model, before):
    """Tell whether a model answers as before, or not at all."""
    try:
        pairs = list(zip(outputs(model), before, strict=True))  # sums in another order are off by rounding
        return all(np.array_equal(a, b) or (a.dtype.kind == "f" and np.allclose(a, b, 1e-9, 1e-12)) for a, b in pairs)
    except REFUSALS:
        return True


def refuted(model, y):
    """Tell whether a model's proof is refuted, or cannot be looked at."""
    try:
        return not model.verify(X, y)
    except REFUSALS:
        return True


def changes(value):
    """Yield a value with one number or array within it changed, for every one of them, and its place in words."""
    if isinstance(value, bool):
        yield "", not value
    elif isinstance(value, int | float | np.number):
        yield from (("+1", value + 1), ("-", -value))
    elif isinstance(value, np.ndarray) and value.dtype.kind in "fiubU":
        yield from ((f"[{how}]", changed) for how, changed in changed_arrays(value) if not np.array_equal(changed, value))
    elif sparse.issparse(value):
        yield from ((f".data{how}", type(value)((data, value.indices, value.indptr))) for how, data in changes(value.data))
    elif isinstance(value, Value):
        numbers = {key: part for key, part in value.get_params(deep=False).items() if isinstance(part, float)}
        yield from ((f".{key}*2", value.with_params(**{key: 2.0 * part})) for key, part in numbers.items())
    else:
        parts, put = members(value)
        yield from ((f".{key}{how}", put(key, part)) for key in parts for how, part in changes(parts[key]))


def members(value):
    """Return the parts of a value by name or number, and a function that puts another in the place of one."""
    if isinstance(value, dict):
        return value, lambda key, part: {**value, key: part}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return value._asdict(), lambda key, part: value._replace(**{key: part})
    if isinstance(value, list | tuple):
        return dict(enumerate(value)), lambda k, part: type(value)([*value[:k], part, *value[k + 1 :]])
    if type(value).__module__.startswith("halfspace") and hasattr(value, "__dict__"):
        params = value.get_params(deep=False) if hasattr(value, "get_params") else ()
        learnt = {name: part for name, part in vars(value).items() if name not in {*params, *NOT_OF_PREDICTION}}
        return learnt, lambda name, part: with_attribute(value, name, part)
    return {}, None


def changed_arrays(value):
    """Yield an array in another order and, where these are no numbers of rows, with other numbers."""
    yield "reversed", value.ravel()[::-1].reshape(value.shape).copy()
    if value.dtype.kind == "f":
        yield "negated", -value
        other = value.copy()
        other.ravel()[-1:] += 1.0
        yield "+1", other.reshape(value.shape)
    if value.dtype.kind == "b":
        yield "not", ~value


def with_attribute(model, name, value):
    other = copy.copy(model)
    vars(other)[name] = value
    return other


def test_negated_weights_are_refuted():
    """The reproduction: an AdaTron with negated weights, or labels in another order, does not pass for proved."""
    model = fitted(hs.AdaTron(), TWO)
    assert str(model.verify(X, TWO)) == "holds"
    model._W = -model._W
    assert str(model.verify(X, TWO)) == "refuted: the model predicts with other weights than the certificate is about"
    assert model.certificate_.verify(X, TWO)
    model._W, model.classes_ = -model._W, model.classes_[::-1]
    assert "classes" in str(model.verify(X, TWO))


def test_both_proof_and_weights_negated_are_refuted():
    """A proof about the other class, with weights to match, is true of no model that predicts this one."""
    model = fitted(hs.AdaTron(), TWO)
    model.certificate_, model._W = replace(model.certificate_, weights=-model._W[0], positive=0), -model._W
    assert model.certificate_.verify(X, TWO)
    assert str(model.verify(X, TWO)) == "refuted: the certificate counts another class as positive"


@pytest.mark.compiled
@pytest.mark.parametrize(("model", "y"), list(cases()))
def test_a_model_that_predicts_otherwise_is_refuted(model, y):
    """Every fit verifies; after a change of any number it has learnt, it is refuted or answers as before."""
    model = fitted(model, y)
    assert model.verify(X, y)
    before, seen = outputs(model), 0
    learnt = {name for name in vars(model) if name[0] == "_" or name[-1] == "_"}
    for name in sorted(learnt - NOT_OF_PREDICTION):
        found = list(changes(vars(model)[name]))
        for how, part in found[:: 1 + len(found) // MOST]:
            other = with_attribute(model, name, part)
            seen += 1
            assert refuted(other, y) or unmoved(other, before), name + how
    assert seen > 0


# ------------------------------------------------------------ ladders
RUNGS = ["majority", "neighbours", "perceptron", "adatron", "glvq", "kernel"]


@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore:X (has|does not have)")
@pytest.mark.parametrize("rung", RUNGS)
def test_a_ladder_that_predicts_otherwise_is_refuted(rung):
    """Winner, encoder, probabilities and labels: after a change of any number, a ladder is refuted or answers as before."""
    y = THREE if rung == "perceptron" else TWO
    ladder = hs.Ladder(rungs=[rung], encoder=TableEncoder(scale="rank" if rung == "glvq" else "standard")).fit(X, y)
    assert ladder.verify(X, y)
    before = outputs(ladder)
    for name in ("encoder_", "estimator_", "calibration_", "classes_", "learnt_", "out_of_fold_"):
        seen = 0
        for how, part in changes(vars(ladder)[name]):
            other = with_attribute(ladder, name, part)
            gone = refuted(other, y)
            assert gone or unmoved(other, before), name + how
            seen += gone
        assert seen > 0 or rung == "majority" or name in ("learnt_", "out_of_fold_")


# ------------------------------------------------------------ model files
def written(path, tree, arrays):
    """Write a model file with a new checksum."""
    write(path, json.dumps(tree), arrays)
    return path


def holds(path, table):
    """Return what `halfspace certify` says; False for a file that it refuses."""
    try:
        return certify.run(str(path), str(table), target="y").body["holds"]
    except (SystemExit, ModelFileError, CertificateError, InputError):
        return False


def changed_trees(node):
    """Yield a tree with a number changed, for every number that a model has learnt, but for those of its certificate."""
    if isinstance(node, dict):
        for key in node.keys() - NOT_OF_PREDICTION - {"@certificate", "params", "from", "shape"}:
            yield from ({**node, key: part} for part in changed_trees(node[key]))
    elif isinstance(node, list):
        for k, part in enumerate(node):
            yield from ([*node[:k], other, *node[k + 1 :]] for other in changed_trees(part))
    elif type(node) in (int, float):
        yield node + 1


IN_FILES = [hs.AdaTron(), hs.VotedPerceptron(), hs.KernelAdaTron("linear", multi_class="ovo"), hs.GMLVQ(max_iter=20)]


@pytest.mark.compiled
@pytest.mark.parametrize("model", IN_FILES, ids=lambda model: type(model).__name__)
def test_a_changed_file_is_refuted(model, tmp_path):
    """With a new checksum too: certify refutes or refuses a file with any number changed, or its proof is about that number."""
    table = tmp_path / "table.csv"
    rows = (",".join(map(repr, row)) + f",{label}" for row, label in zip(X.tolist(), THREE, strict=True))
    table.write_text("a,b,c,y\n" + "\n".join(rows) + "\n")
    model, encoder, path = fitted(model, THREE), Encoder(), tmp_path / "model"
    tree, before, proof = encoder.model(model), outputs(model), model.certificate_.to_json()
    assert holds(written(path, tree, encoder.arrays), table)
    files = [(other, encoder.arrays) for other in changed_trees(tree)]
    for k, array in enumerate(encoder.arrays):
        files += [(tree, [*encoder.arrays[:k], other, *encoder.arrays[k + 1 :]]) for _, other in changes(array)]
    for file in files:
        if holds(written(path, *file), table):
            try:
                loaded = hs.load(path)
            except ModelFileError:
                continue
            assert loaded.verify(X, THREE)
            assert unmoved(loaded, before) or loaded.certificate_.to_json() != proof
