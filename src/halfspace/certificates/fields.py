"""What must agree: a small language for types and shapes, so that no array from a file can lead compiled code astray.

- "f8(K,D)": float64 array with K rows and D columns; a letter stands for the same number everywhere in a model.
- "i8(m) in 0..n": int64 array whose entries are at least 0 and below n; "i4(n)": int32; "b(q,K)": truth values.
- "rows(_m,d)": float32 or float64 rows, an array or a CSR matrix; a letter with _ counts within its record alone.
- "labels(n)": n labels; "names(d)": d texts; "=n": the whole number n.
- "@sweep.State": that record, by its own fields; "model:AdaTron": that model.
- "none", "bool", "int", "number", "str", "label", "plain", "kernel", "certificate": what they say.
- "int | i8(K)": one of them; [spec]: a list of them; (spec, spec): a pair.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from halfspace.errors import ModelFileError

__all__ = ["Model", "Record", "Scope", "check", "check_fields", "is_plain", "type_name"]

PATTERN = re.compile(r"(?P<kind>\w+)\((?P<axes>[\w,]*)\)(?: in (?P<low>-?\d+)\.\.(?P<high>\w+))?")
KINDS = {"f8": ("f", 8), "i8": ("i", 8), "i4": ("i", 4), "b": ("b", 1)}


class Record(NamedTuple):
    """A record decoded from a file, not yet made into an object: its key in the table, and its fields."""

    key: str
    fields: dict[str, Any]


class Model(NamedTuple):
    """A model decoded from a file, not yet made into an object."""

    key: str
    params: dict[str, Any]
    fitted: dict[str, Any]


class Scope(NamedTuple):
    """What the letters stand for, in the whole model and in the record at hand, and the fields of all records."""

    shared: dict[str, int]
    own: dict[str, int]
    records: Mapping[str, Mapping[str, Any]]

    def inner(self) -> "Scope":
        """Return the scope of a record within."""
        return self._replace(own=dict(self.own))

    def agrees(self, letter: str, size: int) -> bool:
        """Tell whether a number is what the letter stands for; if it stands for nothing yet, it does from now on."""
        if letter.isdecimal():
            return size == int(letter)
        names = self.own if letter.startswith("_") else self.shared
        return names.setdefault(letter, size) == size

    def value(self, letter: str) -> int | None:
        """Return what the letter stands for."""
        return int(letter) if letter.isdecimal() else (self.own if letter.startswith("_") else self.shared).get(letter)


def type_name(value: Any) -> str:
    """Say what a value is, for a message."""
    if isinstance(value, Record | Model):
        return value.key
    return f"{value.dtype} {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__


def check(spec: Any, value: Any, scope: Scope, where: str) -> None:
    """Refuse a value that is not as it should be, by name."""
    if isinstance(spec, list):
        if not isinstance(value, list | tuple):
            _refuse(where, "a list", value)
        for part in value:
            check(spec[0], part, scope.inner(), where)
    elif isinstance(spec, tuple):
        if not isinstance(value, tuple) or len(value) != len(spec):
            _refuse(where, f"{len(spec)} values", value)
        inner = scope.inner()
        for one, part in zip(spec, value, strict=True):
            check(one, part, inner, where)
    elif not any(_is(one, value, scope, where) for one in spec.split(" | ")):
        _refuse(where, spec, value)


def _refuse(where: str, expected: str, value: Any) -> None:
    msg = f"{where} should be {expected}, and is {type_name(value)}"
    raise ModelFileError(msg)


def _is(spec: str, value: Any, scope: Scope, where: str) -> bool:
    """Tell whether a value is as one alternative says."""
    if spec in PLAINLY:
        return bool(PLAINLY[spec](value))
    if spec.startswith("="):
        return type(value) is int and value >= 0 and scope.agrees(spec[1:], value)
    if spec.startswith("model:"):
        return isinstance(value, Model) and value.key in spec.removeprefix("model:").split(",")
    if spec.startswith("@"):
        if not isinstance(value, Record) or value.key != spec[1:]:
            return False
        inner = scope.inner()
        check_fields(scope.records[value.key], value.fields, inner, f"{where}.{value.key}")
        return True
    return _is_array(spec, value, scope)


def check_fields(specs: Mapping[str, Any], fields: dict[str, Any], scope: Scope, where: str) -> None:
    """Check named values: those with a ? may be missing, none may be unknown."""
    known = {name.lstrip("?"): spec for name, spec in specs.items()}
    missing = [name for name in specs if not name.startswith("?") and name not in fields]
    unknown = [name for name in fields if name not in known]
    if missing or unknown:
        msg = f"{where} lacks {missing} and has {unknown}, which it should not"
        raise ModelFileError(msg)
    for name, value in fields.items():
        check(known[name], value, scope, f"{where}.{name}")


def _is_array(spec: str, value: Any, scope: Scope) -> bool:
    """Tell whether this is an array of the right type, shape and range."""
    found = PATTERN.fullmatch(spec)
    if found is None:
        msg = f"no such kind of value: {spec}"
        raise AssertionError(msg)
    kind, axes = found["kind"], found["axes"].split(",")
    if kind == "rows":
        typed = (isinstance(value, np.ndarray) or sparse.issparse(value)) and value.dtype in (np.float64, np.float32)
    elif kind in ("labels", "names"):
        texts = kind == "names"
        typed = isinstance(value, np.ndarray) and (value.dtype.kind == "U" or _is_label_array(value, texts=texts))
    else:
        typed = isinstance(value, np.ndarray) and (value.dtype.kind, value.dtype.itemsize) == KINDS[kind]
    shaped = typed and len(value.shape) == len(axes) and all(map(scope.agrees, axes, value.shape))
    if not shaped or found["low"] is None or value.size == 0:
        return bool(shaped)
    high = scope.value(found["high"])
    return high is not None and value.min() >= int(found["low"]) and value.max() < high


def _is_label_array(value: Any, *, texts: bool) -> bool:
    """Tell whether an array holds labels."""
    if value.dtype.kind == "O":
        return all(isinstance(one, str) or (not texts and is_label(one)) for one in value.ravel())
    return value.dtype.kind in "biuf" and not texts


def is_label(value: Any) -> bool:
    """Tell whether this can be a label."""
    return isinstance(value, str | bool | int | float | np.generic)


def is_plain(value: Any) -> bool:
    """Tell whether there is no record and no model within."""
    if isinstance(value, Record | Model):
        return False
    if isinstance(value, dict):
        return all(map(is_plain, value.values()))
    return all(map(is_plain, value)) if isinstance(value, list | tuple) else True


def _is_kernel(value: Any) -> bool:
    from halfspace.kernels import Kernel  # noqa: PLC0415  (only models with kernels need it)

    return isinstance(value, Kernel)


def _is_certificate(value: Any) -> bool:
    from halfspace.certificates import Certificate  # noqa: PLC0415

    return isinstance(value, Certificate)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


PLAINLY = {
    "none": lambda value: value is None,
    "bool": lambda value: isinstance(value, bool | np.bool_),
    "int": lambda value: isinstance(value, int | np.integer) and not isinstance(value, bool),
    "number": _is_number,
    "str": lambda value: isinstance(value, str),
    "label": is_label,
    "plain": is_plain,
    "kernel": _is_kernel,
    "certificate": _is_certificate,
}
