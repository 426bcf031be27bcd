"""The AdaTron as an estimator: what it refuses, what it bears, and what it tells."""

import builtins
import copy
import json
import pickle
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

import halfspace as hs
from halfspace.certificates import from_json
from halfspace.errors import GapWarning, InputError, NotSeparatedWarning

X = np.array(
    [[1.0, 2.0], [2.0, 1.0], [1.5, -0.5], [0.5, 0.25], [-1.0, -1.0], [-2.0, 0.5], [-0.5, -2.0], [0.25, -0.75], [-1.5, 1.0]]
)
Y = np.array([1, 1, 1, 1, 0, 0, 0, 1, 0])
Y3 = np.array([0, 0, 2, 2, 1, 1, 2, 2, 1])
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
every_kind = pytest.mark.parametrize("intercept", ["clamped", "free", "none"])


def state_of(model):
    return pickle.dumps({name: value for name, value in vars(model).items() if not name.startswith("_skl")})


def sound(model, data, labels):
    """Check that a fit is finite, says why it stopped, and proves what it claims."""
    for part in (model.coef_, model.intercept_, model.alpha_, model.decision_function(data)):
        assert np.isfinite(part).all()
    assert (model.alpha_ >= 0).all()
    assert str(model.outcome_)
    verdict = model.certificate_.verify(data, labels)
    assert verdict, str(verdict)
    assert from_json(model.certificate_.to_json()).verify(data, labels)
    assert set(np.asarray(model.predict(data)).tolist()) <= set(model.classes_.tolist())


def refuses(action, *words, kind=(InputError, ValueError)):
    with pytest.raises(kind) as caught:
        action()
    for word in words:
        assert word in str(caught.value)


# ---------------------------------------------------------------- parameters
NUMBERS = {"C": [np.inf], "tol": [], "rate": [], "intercept_scaling": [], "max_time": []}
NOT_NUMBERS = [0, 0.0, -1, -np.inf, np.nan, "1", True, [1.0], (1.0, 2.0), 1 + 1j, 1e-60, 1e60, {"a": 1}, np.ones(2)]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", NOT_NUMBERS, ids=str)
def test_parameters_that_are_no_sensible_numbers_are_refused(name, value):
    """A number that is none, or beyond arithmetic, is refused with the parameter's name and the value given."""
    refuses(lambda: hs.AdaTron(**{name: value}).fit(X, Y), f"'{name}'", "AdaTron", "must be")


REFUSED = {
    "tol": [1.0, 2.0, None, np.inf],
    "rate": [2.0, 2.5, np.inf],
    "C": [None],
    "intercept_scaling": [None, np.inf],
    "max_time": [np.inf],
    "solver": ["newton", "", None, 1, ["auto"], b"auto"],
    "intercept": ["bias", "", None, True, 1, ["free"]],
    "max_iter": [0, -1, 1.5, 10.0, "10", None, True, np.inf],
    "warm_start": ["yes", 1, None],
    "n_jobs": [0, 1.5, "2", True],
    "verbose": [-1, "loud", 0.5, None],
    "random_state": ["seed", -1, 1.5, [1, "a"]],
    "class_weight": ["unbalanced", 3, {1: -1.0}, {1: "a"}, {1: np.nan}, {1: np.inf}, [1.0, 2.0]],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in REFUSED.items() for value in values], ids=str)
def test_bad_parameters_are_refused_by_name(name, value):
    """A parameter that cannot be used is refused by name, before anything is learnt or changed."""
    model = hs.AdaTron().fit(X, Y).set_params(**{name: value})
    before = state_of(model)
    refuses(lambda: model.fit(X, Y), name)
    assert state_of(model) == before


def test_the_message_about_the_cap_mentions_infinity():
    """Who gives a bad C is told that infinity is allowed."""
    refuses(lambda: hs.AdaTron(C=0.0).fit(X, Y), "'C'", "inf")


@quiet
@pytest.mark.parametrize(
    "settings",
    [
        {"C": 1e-50},
        {"C": 1e50},
        {"C": np.float32(2.0)},
        {"C": 2},
        {"C": np.float64(np.inf)},
        {"tol": 1e-50},
        {"tol": 0.999},
        {"rate": 1e-50},
        {"rate": 1.999},
        {"intercept_scaling": 1e-50},
        {"intercept_scaling": 1e50},
        {"max_time": 1e-50},
        {"max_time": 1e50},
        {"max_iter": np.int64(5)},
        {"n_jobs": -1},
        {"n_jobs": np.int64(2)},
        {"random_state": np.random.RandomState(0)},
        {"random_state": None},
        {"class_weight": {0: 1e50, 1: 1e-50}},
        {"class_weight": {0: 1e50, 1: 1e50}, "C": 1e50},
        {"class_weight": {0: 1e-50, 1: 1e-50}, "C": 1e-50},
    ],
    ids=lambda settings: ", ".join(f"{name}={value}".split(" at 0x")[0] for name, value in settings.items()),
)
@every_kind
def test_extreme_but_allowed_parameters_are_refused_by_name_or_proved(settings, intercept):
    """At the ends of what is allowed a fit is finite and proved, or refused by name."""
    model = hs.AdaTron(**{"max_iter": 50, "intercept": intercept} | settings)
    try:
        model.fit(X, Y)
    except InputError as error:
        assert any(name in str(error) for name in settings)  # noqa: PT017
    else:
        sound(model, X, Y)


@quiet
@pytest.mark.parametrize("weight", [1e-50, 1e-10, 1e10, 1e50])
@every_kind
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_extreme_weights_of_examples_work(weight, intercept, C):
    """One example may weigh immensely more or less than the others."""
    s = np.ones(9)
    s[2] = weight
    sound(hs.AdaTron(C=C, intercept=intercept, max_iter=50).fit(X, Y, sample_weight=s), X, Y)


@pytest.mark.parametrize(
    "s",
    [np.zeros(9), -np.ones(9), np.full(9, np.nan), np.full(9, np.inf), np.ones(8), np.ones((9, 1)), ["a"] * 9, [None] * 9],
    ids=str,
)
def test_bad_sample_weights_are_refused(s):
    """Weights that are not one number >= 0 per example, some positive, are refused by name."""
    with pytest.raises(ValueError, match=r"(?i)sample.?weight"):
        hs.AdaTron().fit(X, Y, sample_weight=s)


# ---------------------------------------------------------------- data that are refused
def with_entry(value):
    data = X.copy()
    data[4, 1] = value
    return data


BAD_DATA = {
    "NaN": (with_entry(np.nan), Y, "NaN"),
    "infinity": (with_entry(np.inf), Y, "infinity"),
    "sparse NaN": (sparse.csr_array(with_entry(np.nan)), Y, "NaN"),
    "one class": (X, np.ones(9), "class"),
    "no rows": (np.empty((0, 2)), np.empty(0), "0 sample"),
    "no columns": (np.empty((9, 0)), Y, "0 feature"),
    "one dimension": (X[:, 0], Y, "2D"),
    "three dimensions": (X[None], Y, "dim"),
    "labels too few": (X, Y[:-1], "inconsistent"),
    "labels in a table": (X, np.c_[Y, Y], "y"),
    "no labels": (X, None, "y"),
    "labels not numbers": (X, np.where(Y == 1, np.nan, 0.0), "NaN"),
    "continuous labels": (X, np.linspace(0.1, 0.9, 9), "class"),
    "words": (X.astype(str) + np.array("a"), Y, ""),
    "objects": (np.full((9, 2), object()), Y, ""),
    "complex": (X + 1j, Y, "omplex"),
    "dates": (X.astype("datetime64[s]"), Y, "date"),
    "overflowing": (X * 1e160, Y, "cale"),
    "vanishing": (X * 1e-170, Y, ""),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # without the JIT an overflow is told on its way to being refused
@pytest.mark.parametrize("bad", BAD_DATA)
@pytest.mark.parametrize("warm_start", [False, True])
def test_bad_data_are_refused_and_the_old_model_stays(bad, warm_start):
    """Data that cannot be used are refused with a word about what is wrong, and the old model is as it was."""
    data, labels, word = BAD_DATA[bad]
    model = hs.AdaTron(warm_start=warm_start, intercept="none").fit(X, Y)
    before, outputs = state_of(model), model.decision_function(X)
    refuses(lambda: model.fit(data, labels), word, kind=(ValueError, TypeError))
    assert state_of(model) == before
    assert_array_equal(model.decision_function(X), outputs)
    fresh = hs.AdaTron(intercept="none")
    refuses(lambda: fresh.fit(data, labels), word, kind=(ValueError, TypeError))
    assert not hasattr(fresh, "classes_")
    assert not hasattr(fresh, "coef_")


@pytest.mark.parametrize("settings", [{"max_iter": 1, "tol": 1e-9}, {"C": np.inf}], ids=str)
def test_a_warning_turned_error_changes_nothing(settings):
    """Where warnings are errors a fit that warns leaves the old model intact."""
    model = hs.AdaTron(tol=1e-3).fit(X, Y).set_params(**settings)
    before = state_of(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ConvergenceWarning):
            model.fit(np.vstack([X, X[:1]]), np.append(Y, 0))
    assert state_of(model) == before


@pytest.mark.parametrize("method", ["predict", "decision_function", "support_table"])
def test_an_unfitted_model_says_so(method):
    """Before fit every method says that the model is not fitted."""
    with pytest.raises((NotFittedError, AttributeError), match="fit"):
        getattr(hs.AdaTron(), method)(*() if method == "support_table" else (X,))
    assert not hasattr(hs.AdaTron(), "coef_")
    assert not hasattr(hs.AdaTron(), "support_")
    assert not hasattr(hs.AdaTron(), "intercept_")


@pytest.mark.parametrize("data", [X[:, :1], np.c_[X, X], with_entry(np.nan), with_entry(np.inf)], ids=str)
def test_bad_data_for_predictions_are_refused(data):
    """Predictions for data of another width or with NaN are refused."""
    model = hs.AdaTron().fit(X, Y)
    refuses(lambda: model.predict(data), "X")


# ---------------------------------------------------------------- data that work
@quiet
@every_kind
@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize(
    "data",
    [
        np.c_[X, np.ones(9), np.zeros(9), np.full(9, -3.0)],
        np.zeros((9, 2)),
        np.ones((9, 2)),
        np.vstack([np.zeros((3, 2)), X[3:]]),
        np.tile(X[:1], (9, 1)),
        X * 1e70,
        X * 1e-70,
        X * np.array([1e70, 1e-70]),
        X * np.array([1.0, 5e-324]),
        X * np.array([1.0, 1e-310]),
        X * np.logspace(-60, 60, 9)[:, None],
        X + 1e10,
        np.round(X) * 2.0**52,
    ],
    ids=[
        "constant columns",
        "zeros",
        "ones",
        "some rows zero",
        "one row nine times",
        "huge",
        "tiny",
        "huge and tiny",
        "a denormal column",
        "denormals",
        "rows of all sizes",
        "far away",
        "whole",
    ],
)
def test_hostile_numbers_are_refused_or_proved(data, C, intercept):
    """Degenerate and extreme data are fitted with a true certificate, or refused with the hint to scale."""
    for labels in (Y, Y3):
        model = hs.AdaTron(C=C, intercept=intercept, max_iter=60)
        try:
            model.fit(data, labels)
        except InputError as error:
            assert "cale" in str(error)  # noqa: PT017
        else:
            sound(model, data, labels)


@quiet
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("C", [1.0, 1e5])
def test_unscaled_features_give_finite_planes(seed, C):
    """Features far from zero and of large scale, with a free bias and wide caps, give finite weights and a true certificate."""
    rng = np.random.default_rng(seed)
    data, labels = 10.0 ** rng.uniform(1, 6) * (rng.standard_normal((20, 5)) + 100), rng.integers(0, 2, 20)
    for intercept in ("free", "clamped", "none"):
        sound(hs.AdaTron(C=C, intercept=intercept, max_iter=60).fit(data, labels), data, labels)


@quiet
@every_kind
@pytest.mark.parametrize("C", [0.5, np.inf])
def test_contradicting_duplicates(C, intercept):
    """An example with both labels is an error to be tolerated, or the proof that there is no plane."""
    data, labels = np.vstack([X, X]), np.r_[Y, 1 - Y]
    model = hs.AdaTron(C=C, intercept=intercept).fit(data, labels)
    sound(model, data, labels)
    assert model.outcome_.reason == ("proved inseparable" if np.isinf(C) else "converged")


@every_kind
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_a_class_without_weight_is_refused(C, intercept):
    """Where weights of 0 leave one class only there is nothing to separate, and that is said."""
    refuses(lambda: hs.AdaTron(C=C, intercept=intercept).fit(X, Y, sample_weight=Y.astype(float)), "positive weight", "[0]")


@quiet
@every_kind
def test_two_examples_are_enough(intercept):
    """The smallest problem there is: the plane between two points."""
    data, labels = np.array([[3.0], [1.0]]), np.array([1, 0])
    model = hs.AdaTron(C=np.inf, intercept=intercept, tol=1e-9).fit(data, labels)
    sound(model, data, labels)
    if intercept == "free":
        assert_allclose([model.coef_.item(), model.intercept_.item()], [1.0, -2.0], atol=1e-6)


def memory_map(data, tmp_path):
    np.save(tmp_path / "X.npy", data)
    return np.load(tmp_path / "X.npy", mmap_mode="r")


def read_only(data):
    data = data.copy()
    data.setflags(write=False)
    return data


WHOLE = np.round(2 * X)
FORMS = {
    "list": lambda data, _: data.tolist(),
    "Fortran order": lambda data, _: np.asfortranarray(data),
    "strided": lambda data, _: np.repeat(np.repeat(data, 2, axis=0), 2, axis=1)[::2, ::2],
    "reversed": lambda data, _: data[::-1].copy()[::-1],
    "int64": lambda data, _: data.astype(np.int64),
    "int8": lambda data, _: data.astype(np.int8),
    "object": lambda data, _: data.astype(object),
    "big endian": lambda data, _: data.astype(">f8"),
    "float16": lambda data, _: data.astype(np.float16),
    "DataFrame": lambda data, _: pd.DataFrame(data, columns=["a", "b"]),
    "csc": lambda data, _: sparse.csc_array(data),
    "coo": lambda data, _: sparse.coo_array(data),
    "csr matrix": lambda data, _: sparse.csr_matrix(data),
    "csr int": lambda data, _: sparse.csr_array(data.astype(np.int64)),
    "csr with int64 indices": lambda data, _: sparse.csr_array(
        (data.ravel(), np.tile(np.arange(2), 9), np.arange(0, 19, 2)), shape=data.shape
    ),
    "read only": lambda data, _: read_only(data),
    "memory map": memory_map,
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_X_give_one_model(form, tmp_path):
    """Lists, tables, any order in memory, any number type, read-only and mapped memory give the model of the plain array."""
    given = FORMS[form](WHOLE, tmp_path)
    plain, other = hs.AdaTron(tol=1e-8).fit(WHOLE, Y), hs.AdaTron(tol=1e-8).fit(given, Y)
    assert_allclose(other.coef_, plain.coef_, atol=1e-4)
    assert_allclose(other.decision_function(given), plain.decision_function(WHOLE), atol=1e-3)
    assert other.certificate_.verify(WHOLE, Y)


def test_bool_examples_are_zeros_and_ones():
    """Bool examples count as 0 and 1."""
    data = WHOLE > 0
    plain, other = hs.AdaTron().fit(data.astype(float), Y), hs.AdaTron().fit(data, Y)
    assert_array_equal(plain.coef_, other.coef_)


LABELS = {
    "words": np.where(Y == 1, "spam", "ham"),
    "objects": np.where(Y == 1, "spam", "ham").astype(object),
    "bools": Y == 1,
    "large": np.where(Y == 1, 2**62, -(2**62)),
    "unsigned": Y.astype(np.uint8),
    "floats": np.where(Y == 1, 1.5e10, -3.0),
    "list": np.where(Y == 1, "b", "a").tolist(),
    "series": pd.Series(Y + 5),
    "read only": read_only(Y),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_kind(kind):
    """Labels may be words, bools, large numbers or floats; they come back as they were, and in the certificate's file."""
    labels = LABELS[kind]
    if kind == "floats":
        labels = np.where(Y == 1, 3.0, -3.0)
    model, plain = hs.AdaTron().fit(X, labels), hs.AdaTron().fit(X, Y)
    assert_array_equal(model.coef_, plain.coef_)
    assert_array_equal(model.predict(X), np.asarray(labels)[np.where(plain.predict(X) == 1, 0, 4)])
    assert from_json(json.dumps(json.loads(model.certificate_.to_json()))).verify(X, labels)
    assert set(model.support_table()["label"]) <= set(np.asarray(labels).tolist())


def test_labels_in_a_column_are_taken_with_a_warning():
    """Labels of shape (n, 1) are flattened with scikit-learn's warning."""
    with pytest.warns(UserWarning, match="column-vector"):
        model = hs.AdaTron().fit(X, Y[:, None])
    assert_array_equal(model.coef_, hs.AdaTron().fit(X, Y).coef_)


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_nothing_given_is_changed_or_kept(form):
    """Fit writes neither to X nor to y nor to the weights, and the model does not change when they do later."""
    data, labels, s = form(X), Y.copy(), np.linspace(0.5, 2.0, 9)
    values = data.data if sparse.issparse(data) else data
    before = values.tobytes(), labels.tobytes(), s.tobytes()
    model = hs.AdaTron().fit(data, labels, sample_weight=s)
    assert (values.tobytes(), labels.tobytes(), s.tobytes()) == before
    state, table = state_of(model), model.support_table(everyone=True)
    values[:], labels[:], s[:] = 0.0, 7, 3.0
    assert state_of(model) == state
    assert table.equals(model.support_table(everyone=True))
    assert model.certificate_.verify(X, Y)


def test_a_gap_that_rounding_widened_is_closed_further():
    """Where the bounds on rounding lift a certified gap above the tolerance, the fit goes on until the certificate keeps it."""
    X, y = load_breast_cancer(return_X_y=True)
    model = hs.AdaTron(C=100.0, tol=1e-9).fit(scale(X), y)
    assert model.outcome_.converged
    assert model.certificate_.relative_gap <= 1e-9
    assert model.certificate_.verify(scale(X), y)


# ---------------------------------------------------------------- what it tells
@quiet
@every_kind
@pytest.mark.parametrize("C", [0.2, 5.0, np.inf])
def test_the_table_of_support_vectors(intercept, C):
    """Roles partition the examples; stability is y f/‖w‖ with the clamped weight in ‖w‖, and slack is max(0, 1 - E)."""
    data, labels = (X, Y) if np.isfinite(C) else (np.c_[X, np.where(Y == 1, 2.0, -2.0)], Y)
    model = hs.AdaTron(C=C, intercept=intercept, intercept_scaling=2.0, tol=1e-8).fit(data, labels)
    table, alpha = model.support_table(everyone=True), model.alpha_
    assert list(table.columns) == ["row", "label", "strength", "stability", "slack", "role"]
    assert_array_equal(table["row"], np.arange(9))
    assert_array_equal(table["label"], labels)
    assert_array_equal(table["strength"], alpha)
    clamped = (model.intercept_.item() / 2.0) if intercept == "clamped" else 0.0
    length = np.sqrt((model.coef_**2).sum() + clamped**2)
    E = np.where(labels == 1, 1.0, -1.0) * model.decision_function(data)
    assert_allclose(table["stability"], E / length, rtol=1e-12, atol=1e-15)
    assert_allclose(table["slack"], np.maximum(0.0, 1.0 - E), atol=1e-12)
    roles = np.where(alpha == 0, "outside", np.where(alpha == C, "capped", "free"))
    assert_array_equal(table["role"], roles)
    assert (table["slack"][table["role"] == "outside"] < 1e-3).all()
    assert (table["slack"][table["role"] == "free"] < 1e-3).all()
    only = model.support_table()
    assert_array_equal(only["row"], model.support_)
    assert_array_equal(model.support_, np.flatnonzero(alpha > 0))
    assert set(only["role"]) <= {"free", "capped"}


def test_weights_move_the_caps_in_the_table():
    """An example is capped at C times its weight, and one of weight 0 is outside."""
    s = np.array([1.0, 1.0, 0.5, 2.0, 1.0, 1.0, 1.0, 3.0, 0.0])
    model = hs.AdaTron(C=0.1, tol=1e-8).fit(X, Y, sample_weight=s)
    table = model.support_table(everyone=True)
    capped = (table["role"] == "capped").to_numpy()
    assert capped.any()
    assert_array_equal(table["strength"][capped], (0.1 * s)[capped])
    assert table["role"][8] == "outside"


def test_the_table_of_many_classes_names_the_class():
    """With three classes every line says in whose problem the example is a support vector."""
    model = hs.AdaTron().fit(X, np.array(["a", "b", "c"])[Y3])
    table = model.support_table()
    assert table.columns[0] == "class"
    for k, label in enumerate("abc"):
        assert_array_equal(table["row"][table["class"] == label], np.flatnonzero(model.alpha_[k] > 0))
    assert len(model.support_table(everyone=True)) == 27
    assert_array_equal(np.unique(table["row"]), model.support_)


@pytest.mark.parametrize("labels", [Y, np.where(Y == 1, "spam", "ham"), Y3], ids=str)
def test_without_pandas_the_table_is_a_structured_array(labels, monkeypatch):
    """Where pandas cannot be imported the table is a structured array with the same columns."""
    model = hs.AdaTron().fit(X, labels)
    expected = {name: column.tolist() for name, column in model.support_table().items()}
    real = builtins.__import__

    def blocked(name, *rest, **options):
        if name.partition(".")[0] == "pandas":
            raise ImportError(name)
        return real(name, *rest, **options)

    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setattr(builtins, "__import__", blocked)
    table = model.support_table()
    assert isinstance(table, np.ndarray)
    assert {name: table[name].tolist() for name in table.dtype.names} == expected


@pytest.mark.parametrize("labels", [Y, Y3])
def test_what_predicts_is_what_is_proved(labels):
    """The certificate has the weights that predict, not a copy: whoever changes these changes what is checked."""
    model = hs.AdaTron().fit(X, labels)
    for part in getattr(model.certificate_, "parts", (model.certificate_,)):
        assert np.shares_memory(part.weights, model._W)
    assert model.certificate_.verify(X, labels)
    model._W *= -1.0
    assert not model.certificate_.verify(X, labels)


@quiet
@every_kind
@pytest.mark.parametrize("solver", ["auto", "sweep"])
@pytest.mark.parametrize("C", [10.0, np.inf])
def test_history_is_monotone(intercept, solver, C):
    """Over the iterations the dual never falls, the primal never rises, time goes on, and the end is the certificate's."""
    data = X if np.isfinite(C) else np.c_[X, np.where(Y == 1, 2.0, -2.0)]
    model = hs.AdaTron(C=C, intercept=intercept, solver=solver, tol=1e-6).fit(data, Y)
    history = model.history_
    assert set(history) == {"iteration", "seconds", "primal", "dual"}
    assert len({column.size for column in history.values()}) == 1
    for name, sign in (("iteration", 1), ("seconds", 1), ("dual", 1), ("primal", -1)):
        column = history[name][np.isfinite(history[name])]
        assert (sign * np.diff(column) >= 0).all()
    assert history["iteration"][-1] <= model.n_iter_
    assert history["dual"][-1] == pytest.approx(model.certificate_.dual, rel=1e-6)
    assert history["primal"][-1] == pytest.approx(model.certificate_.primal, rel=1e-6)


def test_zero_output_is_the_negative_class():
    """f(x) = 0 predicts the negative class, the first in order."""
    data, labels = np.array([[1.0], [-1.0]]), np.array(["yes", "no"])
    model = hs.AdaTron(intercept="none").fit(data, labels)
    assert model.decision_function([[0.0]]) == 0.0
    assert model.predict([[0.0]]) == ["no"]
    flat = hs.AdaTron(intercept="none").fit(np.zeros((2, 1)), labels)
    assert_array_equal(flat.predict(data), ["no", "no"])


def test_shapes_of_what_is_learnt():
    """Two classes: (1, d), (1,), (n,); three: (3, d), (3,), (3, n)."""
    two, three = hs.AdaTron().fit(X, Y), hs.AdaTron().fit(X, Y3)
    assert (two.coef_.shape, two.intercept_.shape, two.alpha_.shape) == ((1, 2), (1,), (9,))
    assert (three.coef_.shape, three.intercept_.shape, three.alpha_.shape) == ((3, 2), (3,), (3, 9))
    assert two.decision_function(X).shape == (9,)
    assert three.decision_function(X).shape == (9, 3)
    assert_array_equal(three.predict(X), three.classes_[three.decision_function(X).argmax(axis=1)])
    two.coef_[:] = 0.0  # a copy
    assert two.coef_.any()


def test_progress_is_told_on_request(capsys):
    """verbose=2 tells every gap and the outcome on standard error; silence is the default."""
    hs.AdaTron().fit(X, Y)
    assert capsys.readouterr() == ("", "")
    hs.AdaTron(verbose=2).fit(X, Y)
    told = capsys.readouterr()
    assert told.out == ""
    assert "[AdaTron]" in told.err
    assert "relative gap" in told.err
    assert "Converged" in told.err


def test_warnings_point_at_the_caller():
    """A warning about the gap or about inseparable data names this file, where fit was called."""
    with pytest.warns(GapWarning) as caught:
        hs.AdaTron(max_iter=1, tol=1e-9).fit(X, Y)
    assert caught[0].filename == __file__
    with pytest.warns(NotSeparatedWarning) as caught:
        hs.AdaTron(C=np.inf).fit(np.vstack([X, X[:1]]), np.append(Y, 0))
    assert caught[0].filename == __file__


# ---------------------------------------------------------------- scikit-learn's habits
SETTINGS = {
    "C": 3.0,
    "tol": 1e-3,
    "rate": 1.2,
    "solver": "sweep",
    "intercept": "none",
    "intercept_scaling": 2.0,
    "max_iter": 77,
    "max_time": 9.0,
    "class_weight": "balanced",
    "warm_start": True,
    "n_jobs": 1,
    "verbose": 0,
    "random_state": 5,
}


def test_parameters_are_kept_as_given():
    """get_params, set_params and clone give back exactly what was given, and a clone is unfitted."""
    model = hs.AdaTron(**SETTINGS)
    assert model.get_params() == SETTINGS
    assert hs.AdaTron().set_params(**SETTINGS).get_params() == SETTINGS
    copied = clone(model.fit(X, Y))
    assert copied.get_params() == SETTINGS
    assert not hasattr(copied, "classes_")


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))], ids=["deepcopy", "pickle"])  # noqa: S301
def test_copies_go_on(copied):
    """A copy predicts the same, has the same certificate, and a warm start of it goes on."""
    model = hs.AdaTron(warm_start=True).fit(X, Y)
    other = copied(model)
    assert_array_equal(other.decision_function(X), model.decision_function(X))
    assert other.certificate_.verify(X, Y)
    assert other.fit(X, Y).n_iter_ == 0


def test_other_parameters_after_fit_do_not_change_predictions():
    """Parameters set after fit say what the next fit does, not what this one did."""
    model = hs.AdaTron(intercept_scaling=2.0).fit(X, Y)
    before = model.decision_function(X), model.coef_, model.intercept_
    model.set_params(intercept="none", intercept_scaling=7.0, C=9.0)
    for was, now in zip(before, (model.decision_function(X), model.coef_, model.intercept_), strict=True):
        assert_array_equal(was, now)


def test_pipelines_and_searches():
    """It works inside pipelines, cross-validation and grid search."""
    rng = np.random.default_rng(0)
    data = rng.standard_normal((60, 3))
    labels = np.where(data[:, 0] > 0.1 * rng.standard_normal(60), "yes", "no")
    search = GridSearchCV(make_pipeline(StandardScaler(), hs.AdaTron()), {"adatron__C": [0.01, 1.0]}, cv=3)
    assert search.fit(data, labels).score(data, labels) > 0.8
    assert cross_val_score(hs.AdaTron(), data, labels, cv=3).mean() > 0.8


@pytest.mark.compiled
def test_a_forked_process_can_fit():
    """A process forked after a large fit, whose threads it has not inherited, can fit as well."""
    import multiprocessing

    rng = np.random.default_rng(0)
    data = rng.standard_normal((60_000, 20))
    labels = data[:, 0] > rng.standard_normal(60_000)

    def work():
        hs.AdaTron(tol=0.1).fit(data, labels)

    work()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 and later warn of forks beside threads
        child = multiprocessing.get_context("fork").Process(target=work)
        child.start()
    child.join(20)
    alive = child.is_alive()
    if alive:
        child.kill()
    assert not alive
    assert child.exitcode == 0
