"""Bad input: a clear error, and an estimator that is exactly what it was before; odd but good input simply works."""

import copy
import pickle
import re
import warnings
from functools import cache, partial
from itertools import product

import numba
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import halfspace as hs
from halfspace.certificates import from_json
from halfspace.errors import InputError, NotSeparatedWarning

pytestmark = [pytest.mark.filterwarnings("ignore::halfspace.errors.NotSeparatedWarning")]
if numba.config.DISABLE_JIT:  # plain Python warns where compiled code overflows silently, before the same check refuses it
    pytestmark.append(pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered in scalar:RuntimeWarning"))

QUICK = settings(
    max_examples=10 if numba.config.DISABLE_JIT else 25,  # the same code, drawn more often where it is quick
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)

X = np.array([[1.0, 2.0], [2.0, 1.0], [-1.0, -1.0], [-2.0, -1.5], [0.5, 1.5]])
Y = np.array([1, 1, 0, 0, 1])
X3 = np.array([[2.0, 0.0], [1.5, 0.25], [-1.0, 2.0], [-1.0, 1.5], [-1.0, -2.0], [-1.25, -2.0]])
Y3 = np.array([0, 0, 1, 1, 2, 2])
PROBE = np.array([[0.5, -0.25], [3.0, 1.0], [-1.0, 0.75]])

MODELS = {
    "Perceptron": hs.Perceptron(max_iter=5, random_state=0),
    "AveragedPerceptron": hs.AveragedPerceptron(max_iter=3, random_state=0),
    "VotedPerceptron": hs.VotedPerceptron(max_iter=2, random_state=0),
    "PocketPerceptron": hs.PocketPerceptron(max_iter=3, random_state=0),
    "HebbClassifier": hs.HebbClassifier(),
    "Adaline": hs.Adaline(),
    "PassiveAggressive": hs.PassiveAggressive(max_iter=3, random_state=0),
}
VARIANTS = MODELS | {
    "Perceptron-native": hs.Perceptron(max_iter=5, multi_class="native", random_state=0),
    "AveragedPerceptron-native": hs.AveragedPerceptron(max_iter=3, multi_class="native", random_state=0),
    "Adaline-online": hs.Adaline(solver="online", max_iter=3, random_state=0),
    "PassiveAggressive-PA": hs.PassiveAggressive(variant="PA", max_iter=3, random_state=0),
    "PassiveAggressive-native": hs.PassiveAggressive(variant="PA-II", multi_class="native", max_iter=3, random_state=0),
}
every_model = pytest.mark.parametrize("name", MODELS)
OTHERS = ("AveragedPerceptron-native", "PassiveAggressive-PA", "PassiveAggressive-native")
every_variant = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.variant) if name in OTHERS else name for name in VARIANTS]
)


def fresh(name):
    return clone(VARIANTS[name])


@cache
def learnt(name):
    return fresh(name).fit(X, Y), fresh(name).partial_fit(X, Y, classes=[0, 1])


def fitted(name):
    return copy.deepcopy(learnt(name)[0])


def streamed(name):
    return copy.deepcopy(learnt(name)[1])


def in_every_state(name):
    return fresh(name), fitted(name), streamed(name)


def with_entry(value):
    spoilt = X.copy()
    spoilt[1, 1] = value
    return spoilt


def outputs_of(model):
    return model.decision_function(PROBE).tobytes() if hasattr(model, "classes_") else b""


def refuses(model, cases, outputs=None):
    """Assert that each call raises a ValueError or TypeError that says all its patterns, and that none changes anything.

    `cases` maps names to (call, *patterns).
    """
    before, names = pickle.dumps(vars(model)), sorted(vars(model))
    outputs = outputs_of(model) if outputs is None else outputs
    for case, (call, *patterns) in cases.items():
        try:
            call()
        except (ValueError, TypeError) as error:
            for pattern in patterns:
                assert re.search(f"(?is){pattern}", str(error)), (case, pattern, error)  # noqa: PT017
        else:
            pytest.fail(f"{type(model).__name__} took {case}")
        assert sorted(vars(model)) == names, case
        assert pickle.dumps(vars(model)) == before, case
    assert outputs_of(model) == outputs


def certified(model, data, labels):
    """Assert that the fit is finite and proved: its certificate verifies, also after a trip through JSON."""
    if not isinstance(model, hs.VotedPerceptron):
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.intercept_).all()
    verdict = model.certificate_.verify(data, labels)
    assert verdict, str(verdict)
    assert from_json(model.certificate_.to_json()).verify(data, labels)
    assert set(model.predict(data).tolist()) <= set(np.unique(labels).tolist())


# ---------------------------------------------------------------- X that cannot be used
SCALE = "scale"
BAD_X = {
    "nan": (with_entry(np.nan), "X", "NaN"),
    "inf": (with_entry(np.inf), "X", "infinity"),
    "minus inf": (with_entry(-np.inf), "X", "infinity"),
    "float32 nan": (with_entry(np.nan).astype(np.float32), "X", "NaN"),
    "float16 inf": (with_entry(np.inf).astype(np.float16), "X", "infinity"),
    "object nan": (with_entry(np.nan).astype(object), "X", "NaN"),
    "sparse nan": (sparse.csr_array(with_entry(np.nan)), "X", "NaN"),
    "sparse inf": (sparse.csc_array(with_entry(np.inf)), "X", "infinity"),
    "no rows": (X[:0], "0 sample", r"\(0, 2\)", "minimum of 1"),
    "no columns": (X[:, :0], "0 feature", r"\(5, 0\)", "minimum of 1"),
    "sparse without columns": (sparse.csr_array((5, 0)), "0 feature", "minimum of 1"),
    "one-dimensional": (X[:, 0], "2D array", "1D array"),
    "three-dimensional": (X[None], "dim 3", "dim <= 2"),
    "a number": (3.0, "2D array", "scalar"),
    "nothing": (None, "2D array"),
    "huge": (with_entry(1e200), "X", "large", SCALE),
    "sparse huge": (sparse.csr_array(with_entry(-1e200)), "X", "large", SCALE),
    "complex": (X + 1j, "complex"),
    "sparse complex": (sparse.csr_array(X + 1j), "complex"),
    "strings": (np.full((5, 2), "a"), "could not convert string to float", "a"),
    "object strings": (np.full((5, 2), "a", dtype=object), "could not convert string to float", "a"),
    "dictionaries": (np.full((5, 2), {}, dtype=object), "dict"),
    "numbers beyond float": (np.full((5, 2), 10**400, dtype=object), "X|large|float"),
    "datetime": (np.full((5, 2), "2020-01-01", dtype="datetime64[D]"), "datetime"),
    "timedelta": (np.full((5, 2), 3, dtype="timedelta64[s]"), "timedelta"),
}
BAD_X_TO_FIT = {
    **BAD_X,
    "tiny": (np.full((5, 2), 1e-310), "X", "small", SCALE),
    "smallest": (np.full((5, 2), 5e-324), "X", "small", SCALE),
    "sparse tiny": (sparse.csr_array(X * 1e-310), "X", "small", SCALE),
    "squares underflow": (X * 1e-170, "X", "small", SCALE),
}


@every_model
def test_fit_refuses_bad_X(name):
    """A fit with unusable X says what is wrong with X and leaves the estimator as it was, in whatever state."""
    for model in in_every_state(name):
        refuses(model, {case: (partial(model.fit, data, Y), *says) for case, (data, *says) in BAD_X_TO_FIT.items()})


@every_model
def test_partial_fit_refuses_bad_X(name):
    """A chunk with unusable X is refused with a reason and leaves the stream as it was, in whatever state."""
    for model in in_every_state(name):
        learn = partial(model.partial_fit, classes=[0, 1])
        refuses(model, {case: (partial(learn, data, Y), *says) for case, (data, *says) in BAD_X.items()})


@every_model
def test_prediction_refuses_bad_X(name):
    """A prediction, or for perceptrons a certificate, for unusable X is refused with a reason and changes nothing."""
    model = fitted(name)
    for method in (model.predict, model.decision_function):
        refuses(model, {case: (partial(method, data), *says) for case, (data, *says) in BAD_X.items()})
    if name == "Perceptron":
        refuses(model, {case: (partial(model.certify, data, Y), *says) for case, (data, *says) in BAD_X.items()})


@every_model
def test_lengths_must_match(name):
    """X and y of different lengths are refused with both lengths named."""
    for model in in_every_state(name):
        cases = {}
        for labels in (Y[:3], np.r_[Y, Y]):
            says = "inconsistent numbers of samples", f"5, {labels.size}"
            cases[f"fit {labels.size}"] = (partial(model.fit, X, labels), *says)
            cases[f"partial_fit {labels.size}"] = (partial(model.partial_fit, X, labels, classes=[0, 1]), *says)
        refuses(model, cases)


@every_model
def test_width_is_fixed_by_fit(name):
    """Another number of features than at fit is refused, with both numbers, and changes nothing."""
    model, cases = fitted(name), {}
    for method, form, width in product(
        ("predict", "decision_function", "partial_fit", "certify"), (np.asarray, sparse.csr_array, sparse.csc_array), (1, 3)
    ):
        labels = (Y,) if method in {"partial_fit", "certify"} else ()
        call = partial(getattr(model, method), form(np.ones((5, width))), *labels)
        cases[method, form, width] = call, f"X has {width} features", "expecting 2 features"
    refuses(model, cases)


@every_variant
def test_unfitted_models_do_not_predict(name):
    """An unfitted estimator says so."""
    model = fresh(name)
    for method in (model.predict, model.decision_function):
        with pytest.raises(NotFittedError, match="not fitted"):
            method(X)
    assert not hasattr(model, "classes_")


@every_model
def test_prediction_of_a_tiny_row_does_not_depend_on_its_company(name):
    """A row of tiny values is predicted alone as it is among others: outputs are computed row by row."""
    model, tiny = fitted(name), np.array([[1e-200, -1e-200]])
    together = model.decision_function(np.vstack([tiny, PROBE]))
    assert_array_equal(model.decision_function(tiny), together[:1])


@every_model
def test_a_stream_with_a_tiny_row_can_be_cut_anywhere(name):
    """Cutting a stream into chunks gives the same outputs also where one chunk holds nothing but tiny values."""
    data, labels = np.vstack([X[:2], [[1e-200, 1e-200]], X[2:]]), np.r_[Y[:2], 0, Y[2:]]
    whole, cut = fresh(name).partial_fit(data, labels, classes=[0, 1]), fresh(name)
    for i in range(labels.size):
        cut.partial_fit(data[i : i + 1], labels[i : i + 1], classes=[0, 1])
    assert_array_equal(cut.decision_function(PROBE), whole.decision_function(PROBE))


@pytest.mark.parametrize("data", [np.ones((4, 2)) + 0.5j, with_entry(np.nan)[:4]], ids=["complex", "nan"])
def test_checks_come_before_learning(data):
    """A second fit that is refused leaves the attributes that scikit-learn sets (n_features_in_) alone too."""
    model = fitted("Perceptron")
    refuses(model, {"a second fit": (lambda: model.fit(np.hstack([data, data]), Y[:4]),)})
    assert model.n_features_in_ == 2


@every_model
def test_sparse_columns_out_of_range_are_refused(name):
    """A CSR matrix whose column numbers exceed its width is refused, not read past the end of the weights."""
    broken = sparse.csr_array((np.ones(3), np.array([0, 1, 0]), np.arange(4)), shape=(3, 2))
    broken.indices[2] = 2
    model = fitted(name)
    refuses(model, {"columns": (lambda: model.decision_function(broken), "X|ind(ex|ices)|column")})


# ---------------------------------------------------------------- labels that cannot be used
OPAQUE = r"^(?!.*not supported between)"
BAD_Y = {
    "one class": (np.zeros(5, dtype=int), "y", "at least 2 classes", "only one class", "0"),
    "one class, strings": (np.full(5, "ham"), "y", "at least 2 classes", "ham"),
    "one class, bools": (np.ones(5, dtype=bool), "y", "at least 2 classes", "True"),
    "continuous": (np.array([0.1, 0.2, 0.3, 0.4, 0.5]), "label type", "continuous"),
    "nan": (np.array([1.0, 0.0, np.nan, 0.0, 1.0]), "y", "NaN"),
    "inf": (np.array([1.0, 0.0, np.inf, 0.0, 1.0]), "y", "infinity"),
    "nothing": (None, "requires y", "None"),
    "None among strings": (np.array(["a", "b", None, "a", "b"], dtype=object), OPAQUE, "label|y "),
    "numbers among strings": (np.array(["a", 1, "a", 1, "a"], dtype=object), OPAQUE, "label|y "),
    "two columns": (np.c_[Y, Y], "y should be a 1d array", r"\(5, 2\)"),
    "complex": (Y + 1j, "complex"),
    "a number": (3, "y|1d array|array"),
    "dictionaries": (np.full(5, {}, dtype=object), OPAQUE, "label|y "),
}


@every_model
def test_fit_refuses_bad_y(name):
    """A fit with unusable labels says what is wrong with y and leaves the estimator as it was."""
    for model in in_every_state(name):
        refuses(model, {case: (partial(model.fit, X, labels), *says) for case, (labels, *says) in BAD_Y.items()})


BAD_STREAM_Y = {
    "unknown number": (np.array([0, 1, 7, 0, 1]), "partial_fit", "7", r"\[0, 1\]"),
    "unknown in a list": ([0, 1, 7, 0, 1], "partial_fit", "7", r"\[0, 1\]"),
    "fraction": (np.array([0, 1, 0.5, 0, 1]), "0.5"),
    "nan": (np.array([0, 1, np.nan, 0, 1]), "nan"),
    "inf": (np.array([0, 1, -np.inf, 0, 1]), "inf"),
    "strings": (np.array(["a", "b", "a", "b", "a"]), "'a', 'b'", r"\[0, 1\]"),
    "None": (np.array([0, 1, None, 0, 1], dtype=object), OPAQUE, "None|label|y "),
    "strings among numbers": (np.array([0, 1, "a", 0, 1], dtype=object), OPAQUE, "'a'|label|y "),
    "strings and None": (np.array([0, 1, "a", None, 1], dtype=object), OPAQUE, "'a'|label|y "),
    "dates": (np.full(5, "2020-01-01", dtype="datetime64[D]"), OPAQUE, "2020|label|y "),
    "two columns": (np.c_[Y, Y], "1d array", r"\(5, 2\)"),
    "nothing": (None, "requires y", "None"),
}


@every_model
def test_partial_fit_refuses_unknown_labels(name):
    """A chunk with labels that are not among the classes is refused with them named, and nothing is learnt."""
    for model in in_every_state(name):
        learn = partial(model.partial_fit, X, classes=[0, 1])
        refuses(model, {case: (partial(learn, labels), *says) for case, (labels, *says) in BAD_STREAM_Y.items()})


def test_partial_fit_refuses_unknown_labels_among_three():
    """Labels that are not among three classes are refused with a reason, whatever their type, and nothing is learnt."""
    model, says = fresh("Perceptron").partial_fit(X3, Y3, classes=[0, 1, 2]), (OPAQUE, "label|y ", r"\[0, 1, 2\]")
    unknown = {case: labels for case, (labels, *_) in BAD_STREAM_Y.items() if case not in {"two columns", "nothing"}}
    refuses(model, {case: (partial(model.partial_fit, X, labels), *says) for case, labels in unknown.items()})


BAD_CLASSES = {
    "missing": (None, "classes must be passed on the first call"),
    "none": ([], "at least 2 classes"),
    "one": ([0], "at least 2 classes", "0"),
    "a number": (1, "at least 2 classes", "1"),
    "nan": ([0.0, 1.0, np.nan], "classes", "nan"),
    "None": ([0, 1, None], OPAQUE, "classes"),
    "mixed": (np.array([0, 1, "a"], dtype=object), OPAQUE, "classes"),
}


@every_model
def test_classes_are_needed_first_and_cannot_change(name):
    """The first chunk needs all classes there will be, at least two of one kind; later others are refused, with a reason."""
    model, later = fresh(name), streamed(name)
    cases = {case: (partial(model.partial_fit, X, Y, classes=some), *says) for case, (some, *says) in BAD_CLASSES.items()}
    refuses(model, cases)
    others = [[0], [0, 1, 2], [1, 2], ["a", "b"], [], [None, 1]]
    refuses(later, {str(some): (partial(later.partial_fit, X, Y, classes=some), OPAQUE, "classes|label") for some in others})


GOOD_LABELS = {
    "bools": (False, True, bool),
    "strings": ("ham", "spam", str),
    "object strings": ("ham", "spam", object),
    "negative": (-1, 1, int),
    "far apart": (-(2**62), 2**62, np.int64),
    "int8": (-128, 127, np.int8),
    "int16": (-32768, 32767, np.int16),
    "uint8": (0, 255, np.uint8),
    "uint64": (0, 2**64 - 1, np.uint64),
    "whole floats": (-1.0, 2.0, float),
    "float32": (0.0, 1.0, np.float32),
}


@every_model
def test_labels_of_any_kind(name):
    """Bool, string, negative, narrow, wide and whole-float labels give the same model, and come back from predict."""
    for low, high, kind in GOOD_LABELS.values():
        labels = np.array([high if one else low for one in Y], dtype=kind)
        model = fresh(name).fit(X, labels)
        assert_array_equal(model.decision_function(PROBE), learnt(name)[0].decision_function(PROBE))
        assert model.predict(X).dtype == labels.dtype
        assert_array_equal(model.predict(X), labels)
        assert_array_equal(model.classes_, np.unique(labels))
        certified(model, X, labels)


@every_model
def test_many_narrow_labels(name):
    """int8 labels over their whole range, many enough to be counted instead of sorted, are read as they are."""
    labels = np.array([-128, 127, -128, 127, 0, 0], dtype=np.int8)
    model = fresh(name).fit(X3, labels)
    assert model.classes_.tolist() == [-128, 0, 127]
    certified(model, X3, labels)


# ---------------------------------------------------------------- parameters out of range
POSITIVE = (0, -1.0, np.nan, np.inf, "1", True, [1.0], 10**400)
WORD = ("wrong", None, ["a list"])
SHARED = {"intercept": ("free", *WORD), "intercept_scaling": (*POSITIVE, None)}
BUDGET = {"max_iter": (0, -1, 2.5, "3", None, np.nan, True, [3]), "max_time": POSITIVE}
MARGIN = {"margin": (-1.0, np.nan, np.inf, "0", None, True, [0.0])}
RANGES = {
    "Perceptron": {**SHARED, **BUDGET, **MARGIN, "eta0": (*POSITIVE, None), "start": WORD, "multi_class": WORD},
    "AveragedPerceptron": {**SHARED, **BUDGET, **MARGIN, "multi_class": WORD},
    "VotedPerceptron": {**SHARED, **BUDGET, **MARGIN},
    "PocketPerceptron": {**SHARED, **BUDGET},
    "HebbClassifier": SHARED,
    "Adaline": {
        **SHARED,
        **BUDGET,
        "eta0": (*POSITIVE, None),
        "tol": (*POSITIVE, None),
        "half_life": (0, -1.0, np.nan, -np.inf, "10", None, True, [1.0]),
        "solver": WORD,
    },
    "PassiveAggressive": {**SHARED, **BUDGET, "C": (*POSITIVE, None), "variant": WORD, "multi_class": WORD},
}
STREAMED = {"intercept", "intercept_scaling", "eta0", "margin", "half_life", "C", "variant"}


@every_model
def test_parameters_out_of_range_are_refused(name):
    """A parameter out of range is refused by name, with what was expected and what came, by a fit and by a chunk.

    A fitted model refuses to fit again, and a stream to go on, and their outputs stay bit-equal.
    """
    for parameter, values in RANGES[name].items():
        models = in_every_state(name)
        outputs, says = [outputs_of(model) for model in models], (f"'{parameter}' parameter of {name} must be", "Got .+")
        for value in values:
            new, old, stream = (model.set_params(**{parameter: value}) for model in models)
            first, again = partial(new.partial_fit, X, Y, classes=[0, 1]), partial(old.fit, X, Y)
            refuses(new, {f"{value!s:.9}": (partial(new.fit, X, Y), *says), f"chunk {value!s:.9}": (first, *says)}, outputs[0])
            refuses(old, {f"{value!s:.9}": (again, *says)}, outputs[1])
            if parameter in STREAMED:
                refuses(stream, {f"{value!s:.9}": (partial(stream.partial_fit, X, Y), *says)}, outputs[2])


@every_model
def test_fit_refuses_words_for_switches(name):
    """A switch, level or seed given as a word is refused by name: "no" must not count as yes."""
    switches = {"shuffle", "warm_start", "ratchet", "verbose", "random_state"} & set(fresh(name).get_params())
    assert "verbose" in switches
    for parameter in sorted(switches):
        model = fresh(name).set_params(**{parameter: "no"})
        refuses(model, {parameter: (partial(model.fit, X, Y), parameter, "no")})


@every_model
@pytest.mark.parametrize("intercept", ["clamped", "none"])
def test_parameters_set_after_a_fit_wait_for_the_next(name, intercept):
    """Setting a parameter changes no prediction of a fitted model before it is fitted again."""
    model = fresh(name).set_params(intercept=intercept).fit(X, Y)
    outputs = outputs_of(model)
    model.set_params(intercept="none" if intercept == "clamped" else "clamped", intercept_scaling=3.0)
    assert outputs_of(model) == outputs


BAD_CLASS_WEIGHT = {
    "unknown word": "heavy",
    "number": 3,
    "list": [1.0, 2.0],
    "array": np.array([1.0, 2.0]),
    "zero": {0: 0.0},
    "negative": {0: -1.0},
    "nan": {0: np.nan},
    "inf": {1: np.inf},
    "string": {0: "a"},
    "None": {0: None},
    "list inside": {0: [1.0]},
    "no known class": {5: 2.0},
}


@every_model
def test_bad_class_weight(name):
    """A class_weight that is not a positive number per known class is refused by name, and changes nothing."""
    for model in in_every_state(name):
        learn = {"fit": partial(model.fit, X, Y), "chunk": partial(model.partial_fit, X, Y, classes=[0, 1])}
        for case, weight in BAD_CLASS_WEIGHT.items():
            model.set_params(class_weight=weight)
            refuses(model, {f"{case}, {how}": (call, "class_weight") for how, call in learn.items()})


@every_model
def test_a_stream_cannot_be_balanced(name):
    """class_weight="balanced" needs all labels at once, so the first chunk is refused with a way out."""
    model = fresh(name).set_params(class_weight="balanced")
    refuses(model, {"balanced": (partial(model.partial_fit, X, Y, classes=[0, 1]), "class_weight='balanced'", "dict")})


BAD_SAMPLE_WEIGHT = {
    "nan": np.array([1.0, 1.0, np.nan, 1.0, 1.0]),
    "inf": np.array([1.0, 1.0, np.inf, 1.0, 1.0]),
    "negative": np.array([1.0, 1.0, -1.0, 1.0, 1.0]),
    "all zero": np.zeros(5),
    "too few": np.ones(4),
    "too many": np.ones(6),
    "column": np.ones((5, 1)),
    "none at all": np.ones(0),
    "negative number": -1.0,
    "nan number": np.nan,
    "word": "heavy",
    "words": ["a"] * 5,
    "complex": np.ones(5) + 1j,
    "dictionary": {0: 1.0},
    "None inside": [None] * 5,
    "ragged": [[1.0], [1.0, 2.0], 1.0, 1.0, 1.0],
}


@pytest.mark.parametrize("name", ["HebbClassifier", "Adaline"])
def test_bad_sample_weight(name):
    """Weights of examples that are not one finite number >= 0 each are refused by name, and nothing is learnt."""
    for model in in_every_state(name):
        learn = [partial(model.fit, X, Y), partial(model.partial_fit, X, Y, [0, 1])][: 1 + (name == "HebbClassifier")]
        for call in learn:
            cases = {case: partial(call, sample_weight=weight) for case, weight in BAD_SAMPLE_WEIGHT.items()}
            refuses(model, {case: (bad, "sample.?weight") for case, bad in cases.items()})


def test_online_adaline_takes_no_sample_weight():
    """The online Adaline refuses sample weights with two ways out, and a wrong solver is named before them."""
    model = fitted("Adaline-online")
    weighted = partial(model.fit, X, Y, sample_weight=np.ones(5))
    refuses(model, {"weights": (weighted, "sample_weight", "solver='exact'", "class_weight")})
    model = fresh("Adaline").set_params(solver="wrong")
    weighted = partial(model.fit, X, Y, sample_weight=np.ones(5))
    refuses(model, {"solver": (weighted, "'solver' parameter of Adaline must be")})


EXTREME = [
    ("Perceptron", "eta0", 1e-200),
    ("Perceptron", "eta0", 1e-320),
    ("Perceptron", "eta0", 1e200),
    ("Perceptron", "margin", 1e300),
    ("Perceptron", "class_weight", {0: 1e-320, 1: 1e-320}),
    ("Perceptron", "class_weight", {0: 1e300}),
    ("Perceptron", "intercept_scaling", 1e-200),
    ("Perceptron", "intercept_scaling", 1e200),
    ("AveragedPerceptron", "class_weight", {0: 1e-200, 1: 1e-200}),
    ("PocketPerceptron", "class_weight", {0: 1e-200, 1: 1e-200}),
    ("PocketPerceptron", "intercept_scaling", 1e200),
    ("VotedPerceptron", "class_weight", {0: 1e200, 1: 1e200}),
    ("HebbClassifier", "class_weight", {0: 1e-200, 1: 1e-200}),
    ("HebbClassifier", "class_weight", {0: 1e308, 1: 1e308}),
    ("Adaline", "class_weight", {0: 1e-320, 1: 1e-320}),
    ("Adaline", "class_weight", {0: 1e308, 1: 1e308}),
    ("Adaline-online", "eta0", 1e-200),
    ("Adaline-online", "eta0", 1e200),
    ("Adaline-online", "half_life", 1e-320),
    ("PassiveAggressive", "C", 1e-320),
    ("PassiveAggressive", "C", 1e308),
    ("PassiveAggressive-native", "C", 1e-200),
    ("PassiveAggressive-native", "C", 1e308),
]


@pytest.mark.parametrize(("name", "parameter", "value"), EXTREME, ids=str)
def test_extreme_parameters_are_refused_by_name_or_proved(name, parameter, value):
    """An extreme but allowed parameter gives a finite model with a true certificate, or an error that names the parameter."""
    model = fresh(name).set_params(**{parameter: value})
    try:
        model.fit(X, Y)
    except (ValueError, TypeError) as error:
        assert parameter in str(error)  # noqa: PT017
    else:
        certified(model, X, Y)


@pytest.mark.parametrize("name", ["HebbClassifier", "Adaline"])
@pytest.mark.parametrize("weight", [1e-320, 1e-200, 1e200, 1e308])
def test_extreme_sample_weights_are_refused_by_name_or_proved(name, weight):
    """Extreme weights of examples give a finite model with a true certificate, or an error that names them."""
    model = fresh(name)
    try:
        model.fit(X, Y, sample_weight=np.full(5, weight))
    except (ValueError, TypeError) as error:
        assert "sample_weight" in str(error)  # noqa: PT017
    else:
        certified(model, X, Y)


# ---------------------------------------------------------------- odd X that works
@every_variant
def test_constant_columns_work(name):
    """Constant columns, zero ones too, are no obstacle to a fit with a true certificate."""
    data = np.c_[X3, np.ones(6), np.zeros(6), np.full(6, -2.0)]
    certified(fresh(name).fit(data, Y3), data, Y3)


@every_variant
def test_nothing_but_zeros_works(name):
    """Examples that are all zero teach nothing but break nothing, for two classes and for three."""
    for intercept, form in (("clamped", np.asarray), ("none", np.asarray), ("clamped", sparse.csr_array)):
        for labels in (Y3, np.minimum(Y3, 1)):
            data = form(np.zeros((6, 2)))
            certified(fresh(name).set_params(intercept=intercept).fit(data, labels), data, labels)


@every_variant
def test_a_few_denormals_work(name):
    """A few denormal values among normal ones are as good as zeros."""
    data = X3.copy()
    data[0, 1], data[3, 0], data[5, 1] = 1e-310, -5e-324, 1e-320
    certified(fresh(name).fit(data, Y3), data, Y3)


@pytest.mark.parametrize("name", ["Perceptron", "Perceptron-native"])
@pytest.mark.parametrize("intercept", ["clamped", "none"])
def test_contradictions_never_converge(name, intercept):
    """Where one example has two labels the Perceptron warns and never says it converged."""
    data, labels = np.vstack([X3, X3[:2]]), np.r_[Y3, 1, 2]
    model = fresh(name).set_params(intercept=intercept, max_iter=20)
    with pytest.warns(NotSeparatedWarning, match="Perceptron"):
        model.fit(data, labels)
    assert not model.outcome_.converged
    certified(model, data, labels)


@every_variant
def test_contradictions_work(name):
    """Where one example has two labels every model fits and proves what it found."""
    data, labels = np.vstack([X, X[:2]]), np.r_[Y, 0, 0]
    certified(fresh(name).fit(data, labels), data, labels)


@every_variant
def test_large_and_small_scales_are_refused_or_proved(name):
    """Data of any scale give a finite model with a true certificate, or an error that says to scale the features."""
    for scale, intercept in product([1e-140, 1e-100, 1e100, 1e140, 1e150, 1e153], ["clamped", "none"]):
        data, model = X3 * scale, fresh(name).set_params(intercept=intercept)
        try:
            model.fit(data, Y3)
        except InputError as error:
            assert "Scale" in str(error)  # noqa: PT017
        else:
            certified(model, data, Y3)


@every_variant
def test_products_that_overflow_are_refused_or_proved(name):
    """Values whose squares just fit into a float are refused with a hint to scale, or fitted with a true certificate."""
    data = 8.8e153 * np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 0.99], [-1.0, -1.0]])
    labels, model = np.array([1, 1, 0, 0]), fresh(name)
    try:
        model.fit(data, labels)
    except InputError as error:
        assert "Scale" in str(error)  # noqa: PT017
        return
    certified(model, data, labels)
    if isinstance(model, hs.Perceptron) and model.outcome_.converged:
        assert_array_equal(model.predict(data), labels)


FORMS = {
    "list": lambda data: data.tolist(),
    "Fortran order": np.asfortranarray,
    "strided": lambda data: np.repeat(np.repeat(data, 2, axis=0), 2, axis=1)[::2, ::2],
    "big endian": lambda data: data.astype(">f8"),
    "read only": lambda data: np.frombuffer(data.tobytes()).reshape(data.shape),
    "object": lambda data: data.astype(object),
    "float16": lambda data: data.astype(np.float16),
    "float32": lambda data: data.astype(np.float32),
    "int8": lambda data: data.astype(np.int8),
    "int64": lambda data: data.astype(np.int64),
    "csr": sparse.csr_array,
    "csr matrix": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "lil": sparse.lil_array,
    "csr float32": lambda data: sparse.csr_array(data.astype(np.float32)),
    "csr int": lambda data: sparse.csr_array(data.astype(np.int64)),
}
WHOLE = np.array([[1.0, 2.0, 0.0], [2.0, 0.0, 1.0], [-1.0, -1.0, 0.0], [-2.0, 0.0, -3.0], [0.0, 1.0, 0.0]])


COMPILED_ANEW = {"read only", "float32", "csr float32"}  # types of their own to the compiler: one model will do


@every_model
def test_forms_of_X_give_one_model(name):
    """Lists, any order in memory, any real type and any sparse format give the model of the plain array."""
    plain = fresh(name).fit(WHOLE, Y).decision_function(WHOLE)
    for form in (make for kind, make in FORMS.items() if kind not in COMPILED_ANEW or name == "Perceptron"):
        other = fresh(name).fit(form(WHOLE), Y)
        assert_allclose(other.decision_function(WHOLE), plain, rtol=1e-6, atol=1e-6)
        assert_allclose(other.decision_function(form(WHOLE)), plain, rtol=1e-6, atol=1e-6)
        certified(other, WHOLE, Y)


@every_model
def test_bool_X_works(name):
    """Bool examples count as 0 and 1."""
    data = WHOLE > 0
    plain = fresh(name).fit(data.astype(float), Y).decision_function(data)
    for form in (np.asarray, sparse.csr_array, sparse.coo_array):
        model = fresh(name).fit(form(data), Y)
        assert_allclose(model.decision_function(data), plain, rtol=1e-6, atol=1e-9)
        certified(model, data, Y)


def untidy(data):
    """Return a CSR matrix equal to data with explicit zeros, entries in two halves, and columns out of order."""
    n, d = data.shape
    halves = np.hstack([data[:, ::-1] - 1.0, np.ones((n, d))])
    columns = np.tile(np.r_[np.arange(d)[::-1], np.arange(d)], n)
    return sparse.csr_array((halves.ravel(), columns, np.arange(n + 1) * 2 * d), shape=(n, d))


@every_variant
def test_untidy_sparse_matrices_give_the_dense_model(name):
    """Explicit zeros, duplicate entries and unsorted columns of a CSR matrix change neither the model nor the matrix."""
    data, labels = np.vstack([WHOLE, -WHOLE[:1]]), Y3
    given_, plain = untidy(data), fresh(name).fit(data, labels)
    assert_array_equal(given_.toarray(), data)
    before = [part.tobytes() for part in (given_.data, given_.indices, given_.indptr)]
    model = fresh(name).fit(given_, labels)
    assert [part.tobytes() for part in (given_.data, given_.indices, given_.indptr)] == before
    assert_allclose(model.decision_function(given_), plain.decision_function(data), rtol=1e-9, atol=1e-9)
    certified(model, given_, labels)
    certified(model, data, labels)


@every_variant
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_data_are_not_changed(name, form):
    """Neither fit nor partial_fit nor predict writes to X or y."""
    data, labels = form(X3), Y3.copy()
    values = data.data if sparse.issparse(data) else data
    before = values.tobytes()
    fresh(name).fit(data, labels).predict(data)
    fresh(name).partial_fit(data, labels, classes=[0, 1, 2]).predict(data)
    assert values.tobytes() == before
    assert_array_equal(labels, Y3)


# ---------------------------------------------------------------- errors in the middle of a fit
@pytest.mark.parametrize("warm_start", [False, True])
def test_a_warning_turned_error_changes_nothing(warm_start):
    """Where warnings are errors, a fit that fails with NotSeparatedWarning leaves the model as it was, warm start or not."""
    data, labels = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.125]]), np.array([1, 1, 0, 0])
    model = hs.Perceptron(max_iter=3, warm_start=warm_start, random_state=0).fit(data, labels)
    before, outputs = pickle.dumps(vars(model)), outputs_of(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(NotSeparatedWarning):
            model.fit(data, labels)
    assert outputs_of(model) == outputs
    assert pickle.dumps(vars(model)) == before


@pytest.mark.parametrize("name", [name for name in MODELS if name != "HebbClassifier"])
def test_a_refused_warm_start_changes_nothing(name):
    """A warm start with unusable data leaves the model as it was, and the next good fit goes on from there."""
    one = fresh(name).set_params(warm_start=True).fit(X, Y)
    other = fresh(name).set_params(warm_start=True).fit(X, Y)
    bad_y = partial(one.fit, X, np.zeros(5))
    refuses(one, {"NaN": (partial(one.fit, with_entry(np.nan), Y), "NaN"), "one class": (bad_y, "at least 2 classes")})
    assert outputs_of(one.fit(X, Y)) == outputs_of(other.fit(X, Y))


# ---------------------------------------------------------------- properties
def tables(elements):
    """Draw examples and labels with at least two classes among up to three."""

    def filled(shape):
        labels = st.lists(st.integers(0, 2), min_size=shape[0], max_size=shape[0]).filter(lambda y: len(set(y)) > 1)
        return st.tuples(arrays(np.float64, shape, elements=elements), labels.map(np.array))

    return st.tuples(st.integers(2, 7), st.integers(1, 3)).flatmap(filled)


TAME = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6).map(lambda x: float(np.round(x, 6))))
WILD = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 5e-324, -1e-310, 1e-200, 1e-150, -1e-100, 1e-16, 1e16, 1e100, -1e140]),
    st.floats(-1e150, 1e150, allow_nan=False),
)


@every_variant
@QUICK
@given(table=tables(TAME), intercept=st.sampled_from(["clamped", "none"]))
@example(table=(np.zeros((3, 1)), np.array([1, 2, 0])), intercept="none")
def test_any_small_table_fits_and_proves(name, intercept, table):
    """Any finite table with at least two classes gives finite weights and a certificate that verifies."""
    data, labels = table
    certified(fresh(name).set_params(intercept=intercept).fit(data, labels), data, labels)


@every_variant
@QUICK
@given(table=tables(WILD))
def test_wild_tables_are_refused_or_proved(name, table):
    """Any finite table of whatever magnitudes is fitted with a true certificate, or refused with a hint to scale."""
    data, labels = table
    model = fresh(name)
    try:
        model.fit(data, labels)
    except InputError as error:
        assert "Scale" in str(error)  # noqa: PT017
        assert not hasattr(model, "classes_")
    else:
        certified(model, data, labels)


@every_model
@QUICK
@given(
    row=st.integers(0, 4),
    column=st.integers(0, 1),
    value=st.sampled_from([np.nan, np.inf, -np.inf]),
    kind=st.sampled_from([np.float64, np.float32]),
    form=st.sampled_from([np.asarray, sparse.csr_array]),
    method=st.sampled_from(["fit", "partial_fit", "predict", "decision_function"]),
)
def test_not_a_number_is_found_anywhere(name, row, column, value, kind, form, method):
    """NaN and infinity are found in any place of dense and sparse X, by every method, and change nothing."""
    anew = form is sparse.csr_array and name != "Perceptron"  # a type of its own to the compiler: one model will do
    data = X.astype(np.float64 if anew else kind)
    data[row, column] = value
    model = fitted(name)
    labels = (Y,) if "fit" in method else ()
    refuses(model, {method: (lambda: getattr(model, method)(form(data), *labels), "X", "NaN|infinity")})


@QUICK
@given(table=tables(st.integers(-3, 3).map(float)), row=st.integers(0, 1), native=st.booleans())
def test_no_contradicting_table_converges(table, row, native):
    """Whatever the table, a contradicting copy of an example keeps the Perceptron from converging."""
    data, labels = table
    data, labels = np.vstack([data, data[row : row + 1]]), np.r_[labels, (labels[row] + 1) % 3]
    model = hs.Perceptron(max_iter=4, multi_class="native" if native else "ovr", random_state=0)
    with pytest.warns(NotSeparatedWarning):
        model.fit(data, labels)
    assert not model.outcome_.converged


@every_model
@QUICK
@given(table=tables(st.integers(-3, 3).map(float)))
def test_sparse_is_dense(name, table):
    """Any table of whole numbers gives the same model dense, sparse, and sparse with duplicates and explicit zeros."""
    data, labels = table
    plain = fresh(name).fit(data, labels).decision_function(data)
    for form in (sparse.csr_array(data), untidy(data)):
        assert_allclose(fresh(name).fit(form, labels).decision_function(form), plain, rtol=1e-7, atol=1e-7)
