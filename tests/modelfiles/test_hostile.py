"""Files made to do harm, with a correct checksum, end in `ModelFileError`."""

import contextlib
import functools
import json
import os
import random
import time
import tracemalloc

import numpy as np
import pytest
from fuzz.models import all_models, ladders_and_encoders
from fuzz.mutations import change_tree
from sklearn.exceptions import NotFittedError

import halfspace as hs
from halfspace.errors import InputError, ModelFileError
from halfspace.files import opening
from halfspace.ladder.components import OnComponents


def refused(raw, path, words=None):
    """Check that a file is refused for this reason."""
    path.write_bytes(raw)
    with pytest.raises(ModelFileError, match=words):
        hs.load(path)


def _set(*path, to):
    """Return a change of one learnt array: all its entries."""

    def change(file):
        node = file.learnt(*path)
        file.array(node)[...] = to

    return change


def _put(*path, to):
    """Return a change of one node: another value."""

    def change(file):
        parent = file.tree["fitted"] if len(path) == 1 else file.learnt(*path[:-1])
        parent = parent["fields"] if isinstance(parent, dict) and "fields" in parent else parent
        parent[path[-1]] = to

    return change


def _log_of_page(name, to):
    def change(file):
        log = file.learnt("_pages")[0]["@tuple"][1]
        file.array(log["fields"][name])[...] = to

    return change


def _slots(name, to):
    def change(file):
        slots = file.learnt("_learner", "kept", "slots")[0]
        file.array(slots["fields"][name])[...] = to

    return change


def _clock(file):
    file.array(file.learnt("_learner", "kept", "counts")["fields"]["clock"])[...] = -7


def _page_rows(file):
    page = file.learnt("_learner", "page")
    file.array(page["fields"]["log"]["fields"]["row"])[...] = 10**6


def _sparse_indices(file):
    file.array(file.learnt("_expansion", "support")["indices"])[...] = 10**6


def _groups(file):
    first = file.learnt("_expansion", "groups")["@tuple"][0]
    file.array(first["@tuple"][0])[...] = 10**6


def _cells(file):
    for columns in file.learnt("_cells", "columns"):
        file.array(columns)[...] = 10**6


def _kernel(kind, **params):
    def change(file):
        file.learnt("_expansion")["fields"]["kernel"] = {"@kernel": kind, "params": params}

    return change


def _flat_sums(file):
    file.learnt("_sums")["@dict"][0][1].update({"from": 0, "shape": [4, 1]})


def _shaped(*path, to):
    """Return a change of one array: another shape."""
    return lambda file: file.learnt(*path).update({"from": 0, "shape": to})


def _without(name):
    """Return a change of what was learnt: something is missing."""
    return lambda file: file.tree["fitted"].pop(name)


def _nothing_within(name):
    """Return a change of a model within: it learnt nothing."""
    return lambda file: file.tree["fitted"][name].update(fitted={})


CASES = [
    ("bayesian", _flat_sums, "sums in a column"),
    ("bayesian", _put("_sums", to={"@dict": []}), "no sums"),
    ("bayesian", _shaped("covariance_", to=[1, 1]), "covariance of one weight"),
    ("bayesian", _put("noise_precision_", to=0.0), "no precision"),
    ("adatron tuned", _nothing_within("estimator_"), "a model within that learnt nothing"),
    ("adatron tuned", _shaped("classes_", to=[1]), "one class"),
    ("adatron", _set("_W", to=np.nan), "weights that are no numbers"),
    ("perceptron", _set("_state", "W", to=np.inf), "infinite weights"),
    ("no bias", _put("_native", to=True), "a plane for each of two classes"),
    ("kernel plain", _without("_caps"), "potentials without caps"),
    ("adatron", _without("_labels"), "potentials without labels"),
    ("machine", _without("_lengths"), "answers without lengths"),
    ("k-means", _put("_n_threads", to=2**40), "threads"),
    ("regression twice", _put("intercept_", to=1.0), "one constant for two targets"),
    ("adatron", _put("n_features_in_", to=2), "wide"),
    ("adatron", _put("n_features_in_", to=10**12), "huge width"),
    ("adatron", _put("classes_", to=["a", "b", "c"]), "classes in a list"),
    ("adatron", _put("_fitted_clamp", to=0.0), "no clamp"),
    ("adatron", _put("_W", to={"@array": "0", "order": "F"}), "array twice"),
    ("adatron", _put("predict", to=1), "method replaced"),
    ("adatron", _put("certificate_", to=None), "no certificate"),
    ("adatron", _put("outcome_", to={"@record": "Slots", "fields": {}}), "another record"),
    ("adatron", _put("outcome_", to={"@record": "os.system", "fields": {}}), "a name of code"),
    ("adatron tuned", _put("predict", to=1), "method of a tuner replaced"),
    ("adatron tuned", _put("n_iter_", to=1), "property of a tuner replaced"),
    ("adatron tuned", _put("C_", to={"@record": "Outcome", "fields": {}}), "record among plain values"),
    ("averaged", _put("_memory", "U", to={"@array": "0"}), "mean of another width"),
    ("voted", _log_of_page("row", 10**6), "rows of a log"),
    ("voted", _log_of_page("k", -1), "problems of a log"),
    ("voted", _put("_pages", to=[]), "no pages"),
    ("pocket", _put("_memory", "W", to=1.5), "pocket without weights"),
    ("minover", _put("_states", to=[]), "no states"),
    ("committee", _put("_fitted_vote", to="dice"), "vote"),
    ("projectron", _slots("counts", 10**6), "slots in use"),
    ("projectron", _slots("counts", -5), "slots below zero"),
    ("projectron", _put("_learner", "budget", to=10**9), "budget"),
    ("tabled budget", _slots("row", 10**6), "rows of slots"),
    ("kernel voted", _page_rows, "rows of a kernel log"),
    ("kernel voted", _put("_learner", "page", to=None), "no page"),
    ("projectron", _clock, "a clock before its start"),
    ("kernel minover", _put("_states", to=[]), "no kernel states"),
    ("machine sparse", _sparse_indices, "sparse indices"),
    ("machine pairs", _groups, "groups"),
    ("machine", _put("_voting", to=True), "votes"),
    ("kernel regression cells", _cells, "columns of cells of numbers"),
    ("log target", _put("n_features_in_", to=64), "a model of other features"),
    ("bayesian unknown", _put("degrees_of_freedom_", to=-1.0), "no degrees of freedom"),
    ("relevance", _shaped("calibration_", "knots", to=[2]), "fewer knots"),
    ("machine cells", _cells, "columns of cells"),
    ("machine matrix", _set("_expansion", "rows", to=10**6), "columns of a matrix"),
    ("machine", _put("_solved", "n", to=10**15), "number of examples"),
    ("machine", _kernel("Polynomial", degree=10**9, gamma=1.0, coef0=0.0), "endless degree"),
    ("machine", _kernel("RBF", gamma=-1.0), "negative width"),
    ("machine", _kernel("RBF", gamma="scale"), "width to be learnt"),
    ("machine", _kernel("FromFunction", f="print"), "a function"),
    ("machine", _kernel("RBF", nonsense=1), "parameter that is none"),
    ("machine", _kernel("Sum", left=1, right=2), "sum of numbers"),
]


@pytest.mark.parametrize(("name", "change"), [pytest.param(n, c, id=f"{n}: {i}") for n, c, i in CASES])
def test_parts_that_do_not_agree_are_refused(name, change, saved, parts_of, tmp_path):
    """A sealed file whose arrays would lead compiled code outside them is refused when loading."""
    file = parts_of(saved(name))
    change(file)
    refused(file.sealed(), tmp_path / "bad")


def test_endless_nesting_is_refused(saved, parts_of, tmp_path):
    """Nesting without end is refused, by the depth of the tree or by the parser."""
    file = parts_of(saved("adatron"))
    file.tree["params"]["C"] = json.loads("[" * 200 + "]" * 200)
    refused(file.sealed(), tmp_path / "bad", "nested")
    refused(file.sealed("[" * 100_000 + "1" + "]" * 100_000), tmp_path / "bad", "JSON")


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param({"dtype": "F64", "shape": [1 << 61], "data_offsets": [0, 8]}, id="larger than the file"),
        pytest.param({"dtype": "F64", "shape": [1 << 40, 1 << 40, 0], "data_offsets": [0, 0]}, id="overflow"),
        pytest.param({"dtype": "F64", "shape": [-1], "data_offsets": [0, 8]}, id="negative"),
        pytest.param({"dtype": "F64", "shape": [True], "data_offsets": [0, 8]}, id="no number"),
        pytest.param({"dtype": "F64", "shape": [0] * 40, "data_offsets": [0, 0]}, id="many axes"),
        pytest.param({"dtype": "O", "shape": [1], "data_offsets": [0, 8]}, id="objects"),
        pytest.param({"dtype": ["F64"], "shape": [1], "data_offsets": [0, 8]}, id="list for a type"),
        pytest.param({"dtype": "F64", "shape": 1, "data_offsets": [0, 8]}, id="no shape"),
        pytest.param({"dtype": "F64", "shape": [1], "data_offsets": [8, 16]}, id="gap"),
        pytest.param({"dtype": "F64", "shape": [1], "data_offsets": None}, id="no offsets"),
        pytest.param([], id="no entry"),
    ],
)
def test_arrays_described_falsely_are_refused(entry, saved, parts_of, tmp_path):
    """Sizes are checked before memory is taken."""
    file = parts_of(saved("adatron"))
    first = next(name for name in file.header if name != "__metadata__")
    file.header[first] = entry
    began = time.perf_counter()
    refused(file.sealed(), tmp_path / "bad")
    assert time.perf_counter() - began < 1.0


def test_names_that_come_twice_are_refused(saved, parts_of, tmp_path):
    """JSON with a name twice means different things to different readers."""
    file = parts_of(saved("adatron"))
    tree = json.dumps(file.tree)
    refused(file.sealed('{"@model":"AdaTron",' + tree[1:]), tmp_path / "bad", "twice")


@pytest.mark.parametrize("name", all_models())
def test_a_model_that_learnt_nothing_says_so(name, tmp_path):
    """A file of a model that is not fitted is loaded, and the model asks to be fitted, whatever is wanted of it."""
    hs.save(all_models()[name][0], tmp_path / "model")
    model = hs.load(tmp_path / "model")
    with pytest.raises(NotFittedError):
        model.predict(np.zeros((2, 3)))
    with pytest.raises((AttributeError, NotFittedError)):
        model.certificate_.verify(np.zeros((2, 3)))
    if hasattr(model, "support_table"):
        with pytest.raises((AttributeError, NotFittedError)):
            model.support_table()


def test_no_mutant_takes_more_memory_than_twice_its_size(saved, parts_of, tmp_path):
    """Peak memory while loading sealed mutants stays below twice the file, and a little for Python itself."""
    chance = random.Random(4)  # noqa: S311  (mutants are no secrets)
    for name in ("adatron", "voted", "projectron", "machine pairs", "machine cells"):
        for _ in range(12):
            file = parts_of(saved(name))
            change_tree(file.tree, chance)
            (tmp_path / "mutant").write_bytes(file.sealed())
            tracemalloc.start()
            with contextlib.suppress(ModelFileError):
                hs.load(tmp_path / "mutant")
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 2 * (tmp_path / "mutant").stat().st_size + 500_000


def test_many_tiny_values_are_refused_before_they_take_memory(saved, parts_of, tmp_path):
    """A file of millions of empty lists is refused, and takes no more than twice its size."""
    file = parts_of(saved("adatron"))
    file.tree["params"]["C"] = [[]] * 1_500_000
    raw = file.sealed()
    (tmp_path / "bad").write_bytes(raw)
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="too large"):
        hs.load(tmp_path / "bad")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * len(raw)


@pytest.mark.compiled
def test_a_large_model_takes_no_more_than_twice_its_file(tmp_path):
    """Loading keeps one copy of the arrays: below twice the size of the file, the certificate included."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20_000, 60)), rng.integers(2, size=20_000)
    model = hs.AveragedPerceptron(max_iter=1).fit(X, y)
    hs.save(model, tmp_path / "model")
    size = (tmp_path / "model").stat().st_size
    hs.load(tmp_path / "model")
    tracemalloc.start()
    hs.load(tmp_path / "model")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size > 300_000
    assert peak < 2 * size


def test_what_is_no_regular_file_is_refused(tmp_path, monkeypatch):
    """A pipe that nobody fills, a device or a folder is refused instead of being read for ever."""
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(opening, "PATIENCE", 0.05)
    with pytest.raises(ModelFileError, match="no program writes to"):
        hs.load(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="regular"):
        hs.load("/dev/zero")
    with pytest.raises(OSError, match="directory"):
        hs.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        hs.load(tmp_path / "nothing")


@pytest.mark.parametrize("raw", [b"", b"\x00" * 8, b"\xff" * 64, b"PK\x03\x04" * 9, b"\x80\x04K\x01." * 9])
def test_other_files_are_refused(raw, tmp_path):
    """Empty files, archives and pickles are no model files."""
    refused(raw, tmp_path / "bad")


def test_a_newer_format_is_named(saved, parts_of, tmp_path):
    """A file of a later format says that halfspace is to be updated."""
    file = parts_of(saved("adatron"))
    file.about["format"] = 3
    refused(file.sealed(), tmp_path / "bad", "update halfspace")


def test_weights_that_were_changed_do_not_verify(saved, parts_of, fitted, tmp_path):
    """What predicts and what is proved are one array of the file: negated weights under a new checksum are refuted."""
    model, X, y = fitted("adatron")
    file = parts_of(saved("adatron"))
    file.array(file.learnt("_W"))[:] *= -1.0
    (tmp_path / "changed").write_bytes(file.sealed())
    changed = hs.load(tmp_path / "changed")
    assert np.array_equal(changed.decision_function(X), -model.decision_function(X))
    assert not changed.certificate_.verify(X, y)


@pytest.fixture(scope="module")
def ladder(tmp_path_factory):
    """Return a function that gives the bytes of a saved ladder by name, and its rows."""

    @functools.cache
    def save(name):
        model, X, y = ladders_and_encoders()[name]
        path = tmp_path_factory.mktemp("ladders") / "ladder.halfspace"
        hs.save(model.fit(X, y), path)
        return path.read_bytes(), X

    return save


def _infinite_example(file):
    file.array(file.tree["fitted"]["estimator_"]["fitted"]["X_"])[0] = np.inf


def _narrow_examples(file):
    file.tree["fitted"]["estimator_"]["fitted"]["X_"].update({"from": 0, "shape": [12, 2]})


def _class_without_examples(file):
    target = file.array(file.tree["fitted"]["estimator_"]["fitted"]["target_"])
    target[target == 1] = 0


def _no_such_class(file):
    file.learnt("operating_point_")["fields"]["positive"] = 9


def _encoder_for_a_winner(file):
    file.tree["fitted"]["estimator_"] = file.tree["fitted"]["encoder_"]


def _encoder_for_a_fold(file):
    file.tree["fitted"]["fold_models_"][0] = file.tree["fitted"]["encoder_"]


def _one_fold_less(file):
    del file.tree["fitted"]["fold_models_"][0]


def _one_row_more(file):
    file.array(file.learnt("conformal_", "sizes"))[0] += 1


def _flat_difficulty(file):
    file.learnt("conformal_", "difficulty")["fields"]["weights"].update({"from": 0, "shape": [2, 1]})


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("ladder of neighbours", _infinite_example, "X_ should be rows"),
        ("ladder of neighbours", _narrow_examples, "knows other features"),
        ("ladder of neighbours", _class_without_examples, "a class has no example"),
        ("neighbours of numbers", _infinite_example, "X_ should be rows"),
        ("ladder of numbers", _encoder_for_a_winner, "TableEncoder does not predict"),
        ("ladder", _no_such_class, "positive"),
        ("ladder", _encoder_for_a_fold, "TableEncoder does not predict"),
        ("ladder", _one_fold_less, "not of its folds"),
        ("ladder", _one_row_more, "not of its folds"),
        ("ladder of numbers", _one_fold_less, "not of its folds"),
        ("ladder of numbers", _flat_difficulty, "not of its folds"),
    ],
)
def test_ladders_whose_parts_do_not_agree_are_refused(name, change, words, ladder, parts_of, tmp_path):
    """Examples that are no numbers or too narrow, a part that cannot predict, or scores of other folds: no model is made."""
    file = parts_of(ladder(name)[0])
    change(file)
    refused(file.sealed(), tmp_path / "m", words)


@pytest.mark.parametrize("name", ["ladder of neighbours", "neighbours of numbers"])
def test_neighbours_take_rows_of_either_kind(name, ladder, parts_of, tmp_path):
    """An encoder that gives sparse rows to neighbours with dense examples changes no prediction."""
    raw, X = ladder(name)
    file = parts_of(raw)
    file.tree["fitted"]["encoder_"]["fitted"]["sparse_"] = True
    (tmp_path / "a").write_bytes(raw)
    (tmp_path / "b").write_bytes(file.sealed())
    np.testing.assert_array_equal(hs.load(tmp_path / "a").predict(X), hs.load(tmp_path / "b").predict(X))


def test_an_encoder_whose_scale_is_no_word_is_refused():
    """Also an array, which a damaged file may hold."""
    with pytest.raises(InputError, match="'scale' parameter"):
        hs.TableEncoder(scale=np.array(["log", "normal"])).fit(np.eye(3))


def test_components_that_overflow_are_refused():
    """A damaged file may hold components so large that rows have no finite ones."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)), np.arange(40) % 2
    model = OnComponents(hs.AdaTron(), pca=2).fit(X, y)
    model.components_ = 1e308 * model.components_
    with pytest.raises(InputError, match="products overflow"):
        model.decision_function(10.0 * X)
