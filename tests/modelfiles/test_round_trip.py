"""What is saved is what is loaded."""

import subprocess
import sys

import numpy as np
import pytest

import halfspace as hs
from halfspace.errors import ModelFileError
from halfspace.kernels import FromFunction
from halfspace.modelfiles import read_tree

NAMES = [
    *("perceptron", "native", "no bias", "averaged", "averaged sparse", "voted", "voted sparse", "pocket", "hebb", "adaline"),
    *("adaline online", "passive aggressive", "minover", "adatron", "adatron free", "adatron tuned", "committee"),
    *("committee parts", "kernel plain", "kernel voted", "kernel averaged", "projectron", "tabled budget"),
    *("kernel minover", "machine", "machine single", "machine sparse", "machine pairs", "machine cells"),
    *("machine free", "machine formula", "machine matrix", "machine chance"),
    *("lvq", "glvq", "glvq online", "grlvq", "gmlvq", "gmlvq per class"),
    pytest.param("machine tuned", marks=pytest.mark.compiled),
]
STREAMS = [
    *("perceptron", "native", "averaged", "averaged sparse", "voted", "pocket", "hebb", "adaline online"),
    *("passive aggressive", "kernel plain", "kernel voted", "kernel averaged", "projectron", "tabled budget"),
    *("lvq", "glvq online"),
]
LEARNT = ("coef_", "intercept_", "alpha_", "support_", "dual_coef_", "mistakes_", "votes_", "n_iter_", "classes_")


def same(a, b):
    """Tell whether two answers are bit-equal, and of the same type."""
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and (a.tolist() == b.tolist() or a.tobytes() == b.tobytes())


@pytest.mark.parametrize("name", NAMES)
def test_a_loaded_model_gives_bit_equal_answers(name, fitted, tmp_path):
    """Outputs, labels, strengths, parameters, outcome and certificate are those of the model that was saved."""
    model, X, y = fitted(name)
    hs.save(model, tmp_path / "model.halfspace")
    loaded = hs.load(tmp_path / "model.halfspace")
    assert type(loaded) is type(model)
    assert same(loaded.decision_function(X), model.decision_function(X))
    assert same(loaded.predict(X), model.predict(X))
    for attribute in LEARNT:
        assert hasattr(loaded, attribute) == hasattr(model, attribute)
        if hasattr(model, attribute):
            assert same(getattr(loaded, attribute), getattr(model, attribute)), attribute
    mine, theirs = model.get_params(), loaded.get_params()
    assert mine.keys() == theirs.keys()
    assert all(mine[key] == theirs[key] for key in mine if key != "random_state")
    assert str(loaded.outcome_) == str(model.outcome_)
    assert loaded.certificate_.to_dict() == model.certificate_.to_dict()
    assert loaded.certificate_.verify(X, y)


@pytest.mark.parametrize(
    "name", ["quantizer", "gas", "k-means", "mixture", "mixture each", "regression", "regression twice", "bayesian", "filter"]
)
def test_a_loaded_quantiser_or_regression_gives_bit_equal_answers(name, fitted, tmp_path):
    """Predictions, all that was learnt, parameters, outcome and certificate are those of the model that was saved."""
    model, X, y = fitted(name)
    hs.save(model, tmp_path / "model.halfspace")
    loaded = hs.load(tmp_path / "model.halfspace")
    assert type(loaded) is type(model)
    assert same(loaded.predict(X), model.predict(X))
    for learnt in ("prototypes_", "labels_", "sigma_", "weights_", "coef_", "intercept_", "alpha_", "covariance_"):
        assert same(getattr(loaded, learnt, 0), getattr(model, learnt, 0)), learnt
    assert loaded.get_params() == model.get_params()
    assert str(loaded.outcome_) == str(model.outcome_)
    assert loaded.certificate_.to_dict() == model.certificate_.to_dict()
    assert loaded.certificate_.verify(X, y)


def test_a_stream_that_has_not_seen_every_class_is_saved(tmp_path):
    """Prototypes of the classes seen so far come back, and those of the others can still join them."""
    X, y = np.array([[0.0], [1.0], [5.0]]), np.array([0, 0, 1])
    model = hs.LVQ().partial_fit(X, y, classes=[0, 1, 2])
    hs.save(model, tmp_path / "model.halfspace")
    loaded = hs.load(tmp_path / "model.halfspace")
    assert same(loaded.predict(X), model.predict(X))
    assert loaded.partial_fit([[9.0]], [2]).prototype_labels_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", ["quantizer", "gas", "bayesian", "filter"])
def test_a_stream_without_classes_goes_on_after_loading(name, fitted, tmp_path):
    """The next rows lead a loaded model to where they lead the model that was saved."""
    model, X, y = fitted(name)
    hs.save(model, tmp_path / "model.halfspace")
    more = (X[:9],) if y is None else (X[:9], y[:9])
    one, other = (hs.load(tmp_path / "model.halfspace").partial_fit(*more) for _ in range(2))
    hs.save(one, tmp_path / "model.halfspace")
    assert same(one.predict(X), other.predict(X))
    assert same(hs.load(tmp_path / "model.halfspace").predict(X), one.predict(X))


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_goes_on_after_loading(name, fitted, tmp_path):
    """The next examples of a stream lead a loaded model to the same weights."""
    model, X, y = fitted(name)
    hs.save(model, tmp_path / "model.halfspace")
    one, other = hs.load(tmp_path / "model.halfspace"), hs.load(tmp_path / "model.halfspace")
    one.partial_fit(X[:9], y[:9])
    hs.save(one, tmp_path / "model.halfspace")
    again = hs.load(tmp_path / "model.halfspace")
    other.partial_fit(X[:9], y[:9])
    assert same(one.decision_function(X), other.decision_function(X))
    assert same(one.decision_function(X), again.decision_function(X))


@pytest.mark.parametrize("name", ["perceptron", "voted", "pocket", "minover", "kernel voted", "kernel minover", "machine"])
@pytest.mark.filterwarnings("ignore::halfspace.errors.NotSeparatedWarning", "ignore::halfspace.errors.GapWarning")
def test_a_warm_start_goes_on_after_loading(name, fitted, tmp_path):
    """Fitting a loaded model with warm_start=True does what it would have done without the file."""
    model, X, y = fitted(name)
    hs.save(model, tmp_path / "model.halfspace")
    one, other = hs.load(tmp_path / "model.halfspace"), hs.load(tmp_path / "model.halfspace")
    for each in (one, other):
        each.set_params(warm_start=True, max_iter=2)
        if "random_state" in each.get_params():
            each.set_params(random_state=0)
    one.fit(X, y)
    vars(other).update({key: value for key, value in vars(model).items() if key not in model.get_params()})
    assert same(one.decision_function(X), other.fit(X, y).decision_function(X))


@pytest.mark.parametrize("model", [hs.AdaTron(C=np.inf), hs.KernelAdaTron("poly", gamma=0.5), hs.TableEncoder(scale="rank")])
def test_an_unfitted_model_keeps_its_parameters(model, tmp_path):
    """A model that learnt nothing is saved as its parameters."""
    hs.save(model, tmp_path / "model.halfspace")
    loaded = hs.load(tmp_path / "model.halfspace")
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    assert vars(loaded).keys() == vars(model).keys()


def test_a_source_of_chance_goes_on(fitted, tmp_path):
    """A RandomState among the parameters draws the same numbers after loading."""
    model = fitted("machine chance")[0]
    hs.save(model, tmp_path / "model.halfspace")
    drawn = hs.load(tmp_path / "model.halfspace").random_state.random_sample(5)
    state = np.random.RandomState(3)
    state.set_state(model.random_state.get_state())
    assert same(drawn, state.random_sample(5))


def test_arrays_of_a_loaded_model_can_be_written_to(fitted, tmp_path):
    """Loaded arrays are aligned, writable memory, as compiled code expects."""
    hs.save(fitted("adatron")[0], tmp_path / "model.halfspace")
    flags = hs.load(tmp_path / "model.halfspace")._W.flags
    assert flags.writeable
    assert flags.aligned
    assert flags.c_contiguous


@pytest.mark.parametrize(
    ("model", "words"),
    [
        pytest.param(hs.KernelAdaTron(lambda a, b: float(a @ b)), "is a function", id="function"),
        pytest.param(hs.KernelAdaTron(FromFunction(lambda a, b: float(a @ b))), "is a function", id="kernel of a function"),
        pytest.param(hs.AdaTron(C=10**30), "more than 64 bits", id="long number"),
        pytest.param(hs.AdaTron(class_weight={0: object()}), "cannot hold", id="object"),
        pytest.param(object(), "not a object", id="no model"),
    ],
)
def test_what_a_file_cannot_hold_is_refused_when_saving(model, words, tmp_path):
    """Functions and strange objects are refused in a sentence, and no file is left."""
    with pytest.raises(ModelFileError, match=words):
        hs.save(model, tmp_path / "model.halfspace")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_attribute_is_refused_when_saving(fitted, tmp_path):
    """What the table does not list is not silently lost."""
    _, X, y = fitted("adatron")
    stray = hs.AdaTron().fit(X, y)
    stray.extra_ = 1
    with pytest.raises(ModelFileError, match="extra_"):
        hs.save(stray, tmp_path / "model.halfspace")


def test_the_same_model_gives_the_same_bytes(fitted, tmp_path):
    """Saving twice gives the same file."""
    for name in ("a", "b"):
        hs.save(fitted("voted")[0], tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_parts_are_decoded_without_importing_a_model(fitted, tmp_path):
    """A checker reads certificate and encoder from a file without importing a solver, a model or the ladder."""
    model, X, _ = fitted("machine")
    hs.save(model, tmp_path / "model.halfspace")
    hs.save(hs.TableEncoder().fit(X), tmp_path / "encoder.halfspace")
    program = """
import sys
from halfspace.modelfiles import load, read_tree
certificate = read_tree(sys.argv[1]).certificate()
encoder = load(sys.argv[2])
assert type(certificate).__name__ == "KernelGap" and type(encoder).__name__ == "TableEncoder"
bad = [name for name in sys.modules if name.startswith(("halfspace.solvers", "halfspace.models", "halfspace.ladder"))]
sys.exit(f"imported {bad}" if bad else 0)
"""
    files = [str(tmp_path / "model.halfspace"), str(tmp_path / "encoder.halfspace")]
    done = subprocess.run([sys.executable, "-c", program, *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_tree_says_what_is_in_the_file(fitted, tmp_path):
    """Names are known before anything is decoded; parts are trees themselves; what is not there is said."""
    model, X, y = fitted("adatron tuned")
    hs.save(model, tmp_path / "model.halfspace")
    tree = read_tree(tmp_path / "model.halfspace")
    assert (tree.model, tree.version) == ("AdaTronCV", hs.__version__)
    assert "Cs" in tree.params
    assert "estimator_" in tree
    assert tree.part("estimator_").model == "AdaTron"
    assert tree.certificate().verify(X, y)
    assert tree.decode("C_") == model.C_
    with pytest.raises(ModelFileError, match="has no 'coef_'"):
        tree.decode("coef_")
    with pytest.raises(ModelFileError, match="is no model"):
        tree.part("C_")


def table_and_labels():
    """Return a table with numbers, gaps, words, truth values and dates, and labels that depend on it."""
    arrow, rng = pytest.importorskip("pyarrow"), np.random.default_rng(0)
    size, y = rng.standard_normal(90), np.repeat(["no", "yes"], 45)
    columns = {
        "size": [None if k % 9 == 4 else float(v) + 3 * (k >= 45) for k, v in enumerate(size)],
        "colour": rng.choice(["red", "blå", 'a,b [c] "d"'], 90).tolist(),
        "wet": (rng.random(90) < 0.5).tolist(),
        "when": arrow.array(rng.integers(0, 10**9, 90), type=arrow.timestamp("s")),
        "constant": [1] * 90,
    }
    return arrow.table(columns), y


@pytest.mark.parametrize("scale", ["standard", "rank", "none"])
def test_an_encoder_gives_bit_equal_numbers(scale, tmp_path):
    """Preprocessing of all kinds of columns is the same after loading, notes and names included."""
    table, _ = table_and_labels()
    encoder = hs.TableEncoder(scale=scale).fit(table)
    hs.save(encoder, tmp_path / "encoder.halfspace")
    loaded = hs.load(tmp_path / "encoder.halfspace")
    assert same(loaded.transform(table), encoder.transform(table))
    assert loaded.notes_ == encoder.notes_
    assert loaded.groups_ == encoder.groups_
    assert loaded.get_feature_names_out().tolist() == encoder.get_feature_names_out().tolist()


@pytest.mark.compiled
@pytest.mark.parametrize("rung", ["majority", "neighbours", "perceptron", "adaline", "adatron", "kernel"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_ladder_gives_bit_equal_answers(rung, tmp_path):
    """Every kind of winner, with its preprocessing and calibration, answers the same after loading."""
    table, y = table_and_labels()
    ladder = hs.Ladder(rungs=[rung], n_splits=2, n_repeats=1, on_progress=lambda _: None).fit(table, y)
    hs.save(ladder, tmp_path / "ladder.halfspace")
    loaded = hs.load(tmp_path / "ladder.halfspace")
    for method in ("predict", "decision_function", "predict_proba"):
        assert same(getattr(loaded, method)(table), getattr(ladder, method)(table)), method
    assert vars(loaded).keys() == vars(ladder).keys()
    assert loaded.on_progress is None
    assert repr(loaded.rungs_) == repr(ladder.rungs_)
    assert loaded.verify(table, y)
    assert read_tree(tmp_path / "ladder.halfspace").certificate().to_dict() == ladder.certificate_.to_dict()


def test_column_names_are_kept(tmp_path):
    """A model fitted to a data frame knows its columns after loading, and complains about others."""
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"a": [1.0, 2.0, -1.0], "b": [0.0, 1.0, 0.0]})
    hs.save(hs.AdaTron().fit(X, [1, 1, 0]), tmp_path / "model.halfspace")
    loaded = hs.load(tmp_path / "model.halfspace")
    assert loaded.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(X.rename(columns={"b": "c"}))
