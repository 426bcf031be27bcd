"""What a checker says to every field that is changed, of every kind of certificate, and to data that are not those it is about.

Each field of the stored certificates is changed in many gross ways. What each change is refuted for, numbers left out, is
recorded in `reasons.json` as a hash: a reason that is no longer given, or given to something else, fails here. Whoever means it
runs this file, which writes the record anew, and reads the differences of what it prints.
"""

import json
import re
import sys
import warnings
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from halfspace.certificates import Certificate, from_json
from halfspace.certificates.fields import roles
from halfspace.errors import CertificateError, InputError

RECORD = Path(__file__).with_name("reasons.json")
FILES = sorted((Path(__file__).parent / "stored").glob("*.json"))
NUMBER = re.compile(r"[-+]?\b(?:\d[\d.,]*(?:e[-+]?\d+)?|inf|nan)\b|\[[^\]]*\]")


def stored(path):
    kept = json.loads(path.read_text(encoding="utf-8"))
    X, y = np.array(kept["X"], dtype=np.float64), None if kept["y"] is None else np.array(kept["y"])
    return from_json(json.dumps(kept["certificate"])), X, y


def said(proof, X, y):
    """Return the verdict in words, or the error, without numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return NUMBER.sub("#", str(proof().verify(X, y)))
        except (CertificateError, InputError) as error:
            return type(error).__name__  # of other libraries, whose words change


def others(value):
    """Yield other values of a field."""
    if isinstance(value, np.ndarray):
        first = np.arange(value.size).reshape(value.shape) == 0
        numbers = (2.0, -1.0, 0.0, 1e9, np.nan) if value.dtype.kind == "f" else (2, -1, 0, 10**9)
        yield from (np.where(first, value * k + (k == 0), value).astype(value.dtype) for k in numbers)
        yield from (np.where(first, value, value * 0), value[::-1], value[:-1], np.concatenate([value, value[-1:]]), value[:0])
        yield from (value[None], value.astype(np.float32), None)
    elif isinstance(value, bool):
        yield from (not value, 1)
    elif isinstance(value, int | float):
        yield from (value + 1, value - 1, value * 2, -value, value * 0, 10**9, float("nan"), float("inf"), "1", None)
    elif isinstance(value, str):
        yield from (value + "!", 7, None)
    elif isinstance(value, tuple) and not hasattr(value, "_fields"):
        yield from (value[::-1], value[:-1], (*value, *value[-1:]), (*value[:-1], "other"), (), list(value))
    elif isinstance(value, dict):
        yield from (
            {k: 2 * v for k, v in value.items()},
            dict(list(value.items())[1:]),
            {10**6 + k: v for k, v in value.items()},
            {},
        )
    elif value is None:
        yield from (np.ones(3), np.full(3, 2.0), 1.0)


def changes(part, whole=lambda part: part, path=""):
    """Yield the name of each field of a certificate and of what it holds, and the certificates with another value of it."""
    for name in roles(type(part)):
        value = getattr(part, name)

        def put(new, part=part, name=name):
            return whole(part._replace(**{name: new}) if hasattr(part, "_fields") else replace(part, **{name: new}))

        yield path + name, [lambda new=new, put=put: put(new) for new in others(value)]
        if isinstance(value, Certificate) or hasattr(value, "_fields"):
            yield from changes(value, put, f"{path}{name}.")
        elif isinstance(value, tuple) and value and isinstance(value[0], Certificate):
            yield from changes(value[0], lambda new, put=put, value=value: put((new, *value[1:])), f"{path}{name}[0].")


def other_data(X, y):
    """Yield examples and labels that a claim is not about."""
    yield from ((X[:-1], None if y is None else y[:-1]), (X[:, :-1], y), (np.hstack([X, X]), y), (2.0 * X, y), (0.0 * X, y))
    yield from (
        (np.vstack([X, X]), None if y is None else np.append(y, y)),
        (X[::-1], y),
        (X, None),
        (X[:0], y),
        (np.nan * X, y),
    )
    if y is not None:
        stranger = "zz" if y.dtype.kind == "U" else 77
        first = np.arange(y.size).reshape(y.shape) == 0
        yield from (
            (X, y[::-1]),
            (X, np.tile(y[:1], (len(y), *[1] * (y.ndim - 1))).reshape(y.shape)),
            (X, np.where(first, stranger, y)),
        )
        yield (X, y[:-1])
        yield from ((X, np.stack([y, y], axis=1)), (X, y.astype(str)))


def reasons(path):
    """Return what is said to each change of each field, and to other data."""
    proof, X, y = stored(path)
    found = {name: [said(change, X, y) for change in ways] for name, ways in changes(proof)}
    found["other data"] = [said(lambda: proof, *data) for data in other_data(X, y)]
    return found


def digest(texts):
    return zlib.crc32("\n".join(texts).encode())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_change_of_a_field_is_refuted_for_its_reason(path):
    """Each reason is given to the same changes as when it was recorded."""
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))[path.stem]
    found = reasons(path)
    assert {name: digest(texts) for name, texts in found.items()} == recorded, {
        name: texts for name, texts in found.items() if digest(texts) != recorded.get(name)
    }


if __name__ == "__main__":
    found = {path.stem: reasons(path) for path in FILES}
    sys.stdout.writelines(
        f"{s} {name}: {text}\n" for s, fields in found.items() for name, texts in fields.items() for text in texts
    )
    lines = (f" {json.dumps(stem)}: {json.dumps({k: digest(v) for k, v in fields.items()})}" for stem, fields in found.items())
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
