"""Fields and their annotations: in every kind of certificate, what is not as annotated is refused, in memory and in a file."""

import json
import math
import warnings
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from halfspace.certificates import from_json
from halfspace.certificates.fields import specs
from halfspace.errors import CertificateError, InputError

FILES = sorted((Path(__file__).parent / "stored").glob("*.json"))
every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
NUMBER = [None, "words", "", [], [1.0], [[0.5]] * 3, {"a": 1}, True, math.nan]
ARRAY = ["words", 1.0, True, {"a": 1}, [[[[0.5]]]], [1.0, [2.0]], ["a"] * 3, [None] * 5, [10**400] * 3, [math.nan], [math.inf]]
WRONG = {
    "finite": [*NUMBER, math.inf, "-inf", 10**400],
    "real": [*NUMBER, 10**400],
    "int": [*NUMBER, 0.5, math.inf],
    "bool": [None, "true", 1, 0.0, [], {}],
    "str": [None, 1, True, [], {}],
    "label": [None, [], [1], {}],
    "kernel": [None, {}, "RBF", 1, [], {"kind": "Horoscope"}, {"kernel": "Horoscope"}],
    "finite(": ARRAY,
    "int(": [*ARRAY, [0.5], [2**70]],
    "classes(": [None, "ab", 1, [], ["a"], ["a", "a"], [["a"], ["b"]], {"a": 1}],
    "tuple(": [None, "ab", 1, {"a": 1}, [None], [{}], [[]]],
    "dict": [None, "a", 1, [], [1]],
    "certificate": [None, {}, "words", 1, [], {"kind": "Horoscope"}],
}
NESTED = [None, {}, "words", 1, [], {"kind": "Horoscope"}, {"theorem": "Fermat"}, {"theorem": []}]


def wrong_values(spec):
    """Return values, as JSON has them, that a spec does not allow."""
    if not isinstance(spec, str):
        return NESTED[1:] if "None" in str(spec) else NESTED
    first = spec.split(" | ")[0]
    found = max(([kind, values] for kind, values in WRONG.items() if first.startswith(kind)), key=lambda item: len(item[0]))[1]
    found = [value for value in found if value is not None] if "none" in spec else [*found, None]
    return [*found, *([-12.5, [-3.0]] if "> " in first or ">= 0" in first else [])]


def read(path):
    """Return a stored certificate as JSON has it, and its data."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    return stored["certificate"], np.array(stored["X"]), None if stored["y"] is None else np.array(stored["y"])


@every_file
def test_what_is_not_as_annotated_is_no_certificate(path):
    """A file with a value of another type, shape or range in any one field is a CertificateError, and never another error."""
    body, _, _ = read(path)
    kind = type(from_json(json.dumps(body)))
    known, absent = specs(kind), (None, False)
    later = {field.name for field in fields(kind) if any(field.default is value for value in absent)}
    assert set(known) - later <= set(body) - {"kind", "halfspace", "format"} <= set(known)
    for name, spec in known.items():
        for value in wrong_values(spec):
            with pytest.raises(CertificateError):
                pytest.fail(f"{name} = {value!r}: {from_json(json.dumps({**body, name: value}))}")


@every_file
def test_a_fault_in_memory_names_its_field(path):
    """A certificate made with a wrong value in one field does not hold, and the reason names the field."""
    body, X, y = read(path)
    certificate = from_json(json.dumps(body))
    for name, spec in specs(type(certificate)).items():
        for value in (
            object(),
            b"words",
            np.array([[["a"]]]),
            np.array([None]),
            np.datetime64("NaT") if spec != "label" else {},
        ):
            verdict = replace(certificate, **{name: value}).verify(X, y)
            assert any(reason.startswith(f"{name}: ") for reason in verdict.reasons), (name, value, verdict)


@every_file
def test_other_numbers_never_break_the_checker(path):
    """Any number or list in any field gives a verdict or a CertificateError, never another error."""
    body, X, y = read(path)
    for name in body:
        for value in (-1.5, 0, 1, 3, 1e300, 5e-324, math.inf, [], [1.0], [0, 1, 2, 3], [[0.5, 1.0]] * 3, "a", True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # nonsense may overflow on its way to being refused
                try:
                    verdict = from_json(json.dumps({**body, name: value})).verify(X, y)
                except (CertificateError, InputError) as error:
                    assert str(error)  # noqa: PT017
                else:
                    assert verdict or verdict.reasons


def test_shapes_are_compared_with_each_other():
    """A letter stands for one number: rows and strengths of different lengths are refused, and the message says so."""
    body = read(FILES[0].with_name("MarginBracket.json"))[0]
    expected = r"strengths: expected an array of finite numbers >= 0, shape \(4,\), got float64 \(1,\)"
    with pytest.raises(CertificateError, match=expected):
        from_json(json.dumps({**body, "strengths": [1.0]}))
