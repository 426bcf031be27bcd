"""The language in which fields are annotated: for every form of it, values that it takes and values that it refuses."""

from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

import numpy as np
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier

from halfspace.certificates import DualityGap, Novikoff, OneLabel, PassiveAggressiveBound, Projection, fields
from halfspace.certificates.fields import Record, Scope, check, faults, is_label, is_plain, reports, revived, roles, type_name
from halfspace.errors import ModelFileError
from halfspace.kernels import RBF, Linear

TABLES = {
    "none": ([None], [0, False, "none"]),
    "bool": ([True, False, np.True_], [1, 0.0, None, "True"]),
    "str": (["", "a"], [1, None, b"a"]),
    "label": (["a", 1, 0.5, np.int64(3), -(1 << 63), (1 << 64) - 1], [None, [], -(1 << 63) - 1, 1 << 64]),
    "plain": ([1, [1, {"a": (2,)}], None], [Record("A", {}), [Record("A", {})], {"a": (Record("A", {}),)}]),
    "dict": ([{}, {"a": 1}], [[], None]),
    "kernel": ([RBF(0.5), Linear()], [RBF("scale"), "RBF", None]),
    "certificate": ([OneLabel("a")], [None, Novikoff()]),
    "int": ([0, -5, np.int64(3), 10**30], [0.5, 1.0, True, "1", None]),
    "finite": ([0.0, -1, np.float32(2.0), 10**300], [np.inf, np.nan, True, "1", 10**400, None]),
    "real": ([np.inf, -np.inf, 0], [np.nan, 10**400, True]),
    "number": ([np.nan, np.inf, 1], [True, "nan", None]),
    "int >= 2": ([2, 3], [1, 2.0]),
    "int in 0..3": ([0, 2], [-1, 3]),
    "finite > 0": ([5e-324, 1], [0.0, -1.0]),
    "finite >= 1e-300": ([1e-300], [0.9e-300]),
    "finite in 0..1": ([0.0, 0.999], [1.0, -1e-9]),
    "int in 0..q": ([], [0, 1]),
    "=K": ([0, 4], [-1, 0.5, True, "4"]),
    "int | none": ([3, None], [0.5]),
    "tuple(2) of int": ([(1, 2)], [(1,), (1, 2, 3), (1, 0.5), [1, 2], None]),
    "tuple(k) of tuple(2) of int in 0..3": ([(), ((0, 2),)], [((0, 3),), ((0, 1, 2),), (0, 1)]),
    "finite(n)": ([np.ones(3), np.ones(0), np.ones(2, np.float32)], [np.ones((1, 3)), np.arange(3), np.array([np.inf]), [1.0]]),
    "finite(3)": ([np.ones(3)], [np.ones(2)]),
    "finite(n,n)": ([np.eye(2)], [np.ones((2, 3)), np.ones(2)]),
    "finite(n) >= 0": ([np.zeros(2), np.zeros(0)], [np.array([1.0, -1e-9])]),
    "finite(n) > 0": ([np.ones(2), np.zeros(0)], [np.array([1.0, 0.0])]),
    "int(n) in -1..4": ([np.array([-1, 3])], [np.array([-2, 0]), np.array([0, 4]), np.array([0.0])]),
    "finite8(n)": ([np.ones(1)], [np.ones(1, np.float32), np.array([np.nan])]),
    "f8(n)": ([np.array([np.nan, np.inf])], [np.ones(1, np.float32), np.ones(1, int)]),
    "i8(n)": ([np.arange(2)], [np.arange(2, dtype=np.int32), np.ones(2)]),
    "i4(n)": ([np.arange(2, dtype=np.int32)], [np.arange(2)]),
    "b(n)": ([np.array([True])], [np.array([1], np.int8)]),
    "rows(n,d)": (
        [np.ones((2, 1)), sparse.csr_array(np.eye(2)), np.ones((1, 1), np.float32)],
        [np.arange(2)[:, None], np.ones(2), [[1.0]], sparse.csr_array(np.eye(2, dtype=int))],
    ),
    "labels(n)": (
        [
            *(np.array(["a"]), np.array([1]), np.array([0.5, np.nan]), np.array([True]), np.array(["a", "b"], object)),
            *(np.array([1, 2.5], object), np.array([1], np.uint8), np.array([], object)),
        ],
        [np.array(["a", 1], object), np.array([None, 1], object), np.array([b"a"]), ["a"], np.array([1j])],
    ),
    "names(n)": ([np.array(["a"]), np.array(["a"], object)], [np.array([1]), np.array([1], object), np.array([True])]),
    "distinct(n)": (
        [np.array(["a", "b"]), np.array([1, 2, 3])],
        [np.array(["a"]), np.array([1, 1]), np.array(["a", "b", "a"])],
    ),
    "classes(K)": ([("a", "b"), (0, 1, 2)], [("a",), ("a", "a"), ["a", "b"], ("a", None), ()]),
}


def taken(spec, value, scope=None):
    """Tell whether a value is as a spec says."""
    try:
        check(spec, value, scope or Scope({}, {}), "here")
    except ModelFileError as error:
        assert str(error).startswith("here")  # noqa: PT017
        return False
    return True


@pytest.mark.parametrize("spec", TABLES)
def test_each_form_takes_what_it_says_and_nothing_else(spec):
    """Types, whole and finite numbers, ranges with their ends, shapes, labels, and alternatives."""
    right, wrong = TABLES[spec]
    assert [value for value in right if not taken(spec, value)] == []
    assert [value for value in wrong if taken(spec, value)] == []


def test_a_model_is_one_with_parameters_and_of_a_name_that_is_listed():
    """Of any class, or of those named."""
    model = DummyClassifier()
    assert taken("model", model)
    assert taken("model:Other,DummyClassifier", model)
    assert not taken("model:Other", model)
    assert not taken("model", OneLabel("a"))
    assert not taken("model:OneLabel", OneLabel("a"))


def test_a_letter_stands_for_one_number_in_its_scope():
    """Shared letters hold in the whole model, those with a dash below in one record; numbers stand for themselves."""
    scope = Scope({"n": 3}, {"_m": 2})
    assert taken("finite(n,_m)", np.ones((3, 2)), scope)
    assert not taken("finite(n)", np.ones(2), scope)
    assert not taken("finite(_m)", np.ones(3), scope)
    assert taken("finite(_new)", np.ones(5), scope)
    assert "_new" not in scope.shared
    assert scope.own["_new"] == 5
    inner = scope.inner()
    assert not inner.agrees("_m", 3)
    assert inner.agrees("_k", 7)
    assert "_k" not in scope.own
    assert taken("int in 0..n", 2, scope)
    assert not taken("int in 0..n", 3, scope)
    assert [scope.value(letter) for letter in ("n", "_m", "q", "5", "1e3")] == [3, 2, None, 5, 1000.0]
    assert not taken("=n", 4, scope)
    assert taken("=n", 3, scope)
    with pytest.raises(AssertionError):
        taken("nonsense of", 1)


class Pair(NamedTuple):
    """A record within a record."""

    left: Annotated[float, "finite"]
    right: Annotated[int, "int >= 0"] = 2


@dataclass
class Whole:
    """A record with a default, as files of earlier versions lack it."""

    pairs: list[Pair]
    one: Pair | None
    size: Annotated[float, "finite(_m)"]
    late: Annotated[float, "finite(_m)", "asked"] = 0.5
    made: list[Pair] = field(default_factory=list)


def record(**changed):
    pair = Record("Pair", {"left": 1.0, "right": 3})
    return Record("Whole", {"pairs": [pair], "one": None, "size": np.ones(2), **changed})


def test_records_have_their_fields_and_no_others():
    """Fields with a default may be missing; each is as annotated, down to the records within; a class is remembered."""
    whole = record()
    assert taken(Whole, whole)
    assert whole.kind is Whole
    assert whole.fields["pairs"][0].kind is Pair
    for good in ({"late": np.zeros(2)}, {"one": Record("Pair", {"left": 0.0})}, {"pairs": []}, {"made": [], "pairs": ()}):
        assert taken(Whole, record(**good)), good
    for bad in (
        {"late": np.zeros(3)},
        {"one": Record("Pair", {"right": 1})},
        {"one": Record("Other", {"left": 0.0})},
        {"pairs": [Record("Pair", {"left": 0.0, "right": -1})]},
        {"pairs": None},
        {"pairs": [None]},
        {"extra": 1},
        {"one": 1},
    ):
        assert not taken(Whole, record(**bad)), bad
    assert not taken(Whole, Record("Whole", {"pairs": [], "one": None}))
    assert not taken(Whole, None)
    assert taken(type(None), None)
    with pytest.raises(ModelFileError, match=r"here should be Pair or null, and is int64 \(2,\)"):
        check(Pair | None, np.arange(2), Scope({}, {}), "here")


def test_lists_tuples_and_tables_are_checked_one_by_one():
    """A list has any length, a tuple its own, a table the names given, those with a question mark perhaps."""
    assert taken(["int"], [1, 2])
    assert taken(["int"], ())
    assert not taken(["int"], [1, 0.5])
    assert not taken(["int"], 1)
    assert taken(["finite(_m)"], [np.ones(1), np.ones(2)])
    assert taken(("int", "str"), (1, "a"))
    assert not taken(("finite(_m)", "finite(_m)"), (np.ones(1), np.ones(2)))
    assert [taken(("int", "str"), value) for value in ((1,), [1, "a"], ("a", 1), (1, "a", 2))] == [False] * 4
    assert taken({"a": "int", "?b": "str"}, {"a": 1})
    assert taken({"a": "int", "?b": "str"}, {"a": 1, "b": "c"})
    for bad in ({}, {"b": "c"}, {"a": 1, "b": 2}, {"a": 1, "c": 2}, [("a", 1)]):
        assert not taken({"a": "int", "?b": "str"}, bad), bad


def test_words_for_what_is_expected():
    """Every form is said in words, with the sizes known and the bounds."""
    scope = Scope({"D": 3}, {})
    for spec, words in {
        "finite(D) > 0": "an array of finite numbers > 0, shape (3,)",
        "int(m) in 0..D | none": "an array of whole numbers in 0..D, shape (m,), or null",
        "finite(m,D)": "an array of finite numbers, shape (m, 3)",
        "tuple(D) of int >= 0": "3 of: a whole number >= 0",
        "tuple(q) of str": "a list of: a text",
        "classes(K)": "at least two different labels",
        "real": "a number",
        "finite in 0..1": "a finite number in 0..1",
        "kernel": "a kernel whose parameters are numbers",
    }.items():
        assert fields._in_words(spec, scope) == words
    assert type_name(Record("Pair", {})) == "Pair"
    assert type_name(np.zeros((2, 1))) == "float64 (2, 1)"
    assert type_name(3) == "int"
    assert not is_label(None)
    assert is_plain({"a": [1]})


def test_roles_and_reports():
    """What is annotated as reported is said, with the right plural, and a default is not."""
    assert roles(Whole) == {"pairs": "proved", "one": "proved", "size": "proved", "late": "asked", "made": "proved"}
    assert reports(Projection(1, 0.25)) == ["budget 1", "lost 0.25"]
    assert reports(Projection(1000)) == ["budget 1,000"]
    said = fields._in_a_report
    assert said("mistakes", 1, None) == ["1 mistake"]
    assert said("mistakes", 1200, None) == ["1,200 mistakes"]
    assert said("mistakes", 0, 0) == []
    assert said("course", (1.0, 2.0), None) == ["course (2 values)"]
    assert said("course", np.zeros(0), None) == []
    assert said("rate", 0.123456, None) == ["rate 0.1235"]


def test_faults_are_named_down_to_the_part():
    """A field that is not as annotated, and one within a theorem, are named; of a sound value nothing is."""
    assert faults(Novikoff(1.0, 1.0, 0.5, 0.25)) == []
    assert faults(Pair(np.nan, -1)) == [
        "left: expected a finite number, got float",
        "right: expected a whole number >= 0, got int",
    ]


def test_plain_values_become_what_is_annotated():
    """Numbers, arrays, tuples, infinities written as text, and theorems by name."""
    body = {"primal": 2, "dual": 0.5, "C": "inf", "rows": [0, 2.0], "strengths": [1, 2], "free": True, "weights": None}
    found = revived(DualityGap, body, lambda _: "nested")
    assert type(found["primal"]) is float
    assert found["C"] == np.inf
    assert found["rows"].dtype == np.int64
    assert found["strengths"].dtype == np.float64
    assert found["free"] is True
    assert found["weights"] is None
    for rows in ([0.5], [2.0**53], [-(2.0**53)]):
        with pytest.raises(ValueError, match="whole number"):
            revived(DualityGap, {"rows": rows}, lambda _: None)
    assert revived(DualityGap, {"rows": [2**53 - 1]}, lambda _: None)["rows"][0] == 2**53 - 1
    kinds = Novikoff | PassiveAggressiveBound
    theorem = fields._revived(kinds, {"theorem": "Novikoff", **Novikoff(1, 2, 3, 4)._asdict()}, lambda _: "nested")
    assert theorem == Novikoff(1.0, 2.0, 3.0, 4.0)
    assert fields._revived(kinds, {"kind": "x", "theorem": "Novikoff"}, lambda _: "nested") == "nested"
    for wrong in ({"theorem": "Fermat"}, {"theorem": "Novikoff"}, {"theorem": "Novikoff", **Novikoff()._asdict(), "more": 1}):
        with pytest.raises(ValueError, match="theorem"):
            fields._revived(kinds, wrong, lambda _: "nested")
    assert fields._revived("tuple(k) of classes(K)", [["a", "b"]], None) == (("a", "b"),)
    with pytest.raises(TypeError, match="a list expected, not str"):
        fields._revived("classes(K)", "ab", None)
