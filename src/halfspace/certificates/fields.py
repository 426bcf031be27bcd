"""Types, shapes and ranges of fields: one small language for certificates and model files.

A certificate says it in the annotation of a field, `Annotated[FloatArray, "finite(m) >= 0"]`; a model file in a table of names.
No array from a file reaches arithmetic or compiled code before it was compared with what is written there.

- "finite", "real", "number": a finite number, one that may be infinite, any; "int": a whole number. A range may follow:
  "finite >= 0", "real > 0", "int in 0..K" (at least 0 and below K), "finite in 0..1e51".
- "finite(K,D)", "int(m)": arrays of finite or whole numbers of any width, with a range or without. A letter stands for the
  same number in all fields, and is bound by the first array that has it.
- "f8(K,D)", "i8(m)", "i4(n)", "b(q,K)": arrays of float64, int64, int32, truth values.
- "rows(_m,d)": finite float32 or float64 rows, an array or a CSR matrix; a letter with _ counts within its record alone.
- "finite8(K,D)": an array of float64 that are finite: what predicts.
- "labels(n)": n labels; "distinct(c)": c >= 2 different ones; "names(d)": d texts; "=n": the whole number n.
- "classes(K)": a tuple of K >= 2 different labels; "tuple(K) of label": a tuple of K labels, and so for any other kind.
- "model:AdaTron": that model, "model": any; a class, or a union of classes, of ours: a record of it, by its own fields.
- "none", "bool", "str", "label", "plain", "dict", "kernel", "certificate": what they say; "certificate:ClassCounts": that one.
- "int | i8(K)": one of them; [spec]: a list of them; (spec, spec): a pair; {name: spec}: a table with these names.

A field that is not annotated so is judged by its type: float "finite", int "int", bool, str, Kernel, Any "label"; a type of
ours, or a union of such types, by its own fields.

A second word of the annotation says what a field of a certificate is to the checker. Without one it is *proved*: recomputed,
or a witness that something recomputed depends on. "asked": a parameter of the question; with another value it is another
claim, which is checked for itself. "reported": what the run says of itself, which no data can confirm; it is printed apart.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass
from functools import cache
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np
from scipy import sparse

from halfspace import kernels
from halfspace.errors import ModelFileError
from halfspace.kernels import Kernel

__all__ = [
    "Record",
    "Scope",
    "check",
    "check_fields",
    "faults",
    "is_label",
    "is_plain",
    "reports",
    "revived",
    "roles",
    "type_name",
]

PATTERN = re.compile(
    r"(?P<kind>\w+)(?:\((?P<axes>[\w,]*)\))?(?: (?P<sign>>=?|in) (?P<low>-?\d+(?:e-?\d+)?)(?:\.\.(?P<high>\w+))?)?"
)
WIDTHS = {"f8": ("f", 8), "finite8": ("f", 8), "i8": ("i", 8), "i4": ("i", 4), "b": ("b", 1)}
WHOLE, REAL = (int, np.integer), (int, float, np.integer, np.floating)
NUMBERS = {"finite": "finite numbers", "real": "numbers", "number": "numbers", "int": "whole numbers"}
SIMPLY = {float: "finite", int: "int", bool: "bool", str: "str", Kernel: "kernel", Any: "label"}


@dataclass
class Record:
    """A record read from a file, not yet an object: the name of its class, its fields and, once checked, the class."""

    key: str
    fields: dict[str, Any]
    kind: Any = None


class Scope(NamedTuple):
    """What the letters stand for, in the whole model and in the record at hand."""

    shared: dict[str, int]
    own: dict[str, int]

    def inner(self) -> "Scope":
        """Return the scope of a record within."""
        return self._replace(own=dict(self.own))

    def agrees(self, letter: str, size: int) -> bool:
        """Tell whether a number is what the letter stands for; if it stands for nothing yet, it does from now on."""
        if letter.isdecimal():
            return size == int(letter)
        names = self.own if letter.startswith("_") else self.shared
        return names.setdefault(letter, size) == size

    def value(self, letter: str) -> float | None:
        """Return what the letter stands for, or the number that stands there."""
        if letter[0].isdecimal():
            return int(letter) if letter.isdecimal() else float(letter)
        return (self.own if letter.startswith("_") else self.shared).get(letter)


def type_name(value: Any) -> str:
    """Say what a value is, for a message."""
    if isinstance(value, Record):
        return value.key
    return f"{value.dtype} {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__


# ------------------------------------------------------------------------------------------------- values against a spec
def check(spec: Any, value: Any, scope: Scope, where: str) -> None:
    """Refuse a value of a model file that is not as it should be, by name."""
    if isinstance(spec, list | tuple | dict):
        _check_several(spec, value, scope, where)
    elif not isinstance(spec, str):
        kinds = get_args(spec) or (spec,)
        if not any(_is_record(kind, value, scope, where) for kind in kinds):
            _refuse(where, " or ".join(_short(kind) for kind in kinds), value)
    elif not _is_one_of(spec, value, scope, where):
        _refuse(where, spec, value)


def _check_several(spec: Any, value: Any, scope: Scope, where: str) -> None:
    """Refuse a list, a tuple or a table with something in it that is not as it should be."""
    inner = scope.inner()
    if isinstance(spec, list):
        if not isinstance(value, list | tuple):
            _refuse(where, "a list", value)
        for part in value:
            check(spec[0], part, scope.inner(), where)
    elif isinstance(spec, tuple):
        if not isinstance(value, tuple) or len(value) != len(spec):
            _refuse(where, f"{len(spec)} values", value)
        for one, part in zip(spec, value, strict=True):
            check(one, part, inner, where)
    elif isinstance(value, dict):
        check_fields(spec, value, inner, where)
    else:
        _refuse(where, "a table", value)


def _is_record(kind: Any, value: Any, scope: Scope, where: str) -> bool:
    """Tell whether this is a record of that class, whose fields are as they are annotated there."""
    if kind is type(None):
        return value is None
    if not isinstance(value, Record) or value.key != kind.__name__:
        return False
    check_fields(_declared(kind), value.fields, scope.inner(), f"{where}.{value.key}")
    value.kind = kind
    return True


@cache
def _declared(kind: Any) -> dict[str, Any]:
    """Return the spec of every field of a class of records, with a ? before the name of those that have a default."""
    defaults = getattr(kind, "_field_defaults", None)
    if defaults is None:  # files of earlier versions lack what was added to a dataclass since, with a default
        plain = getattr(kind, "__dataclass_fields__", {})
        defaults = {name for name, one in plain.items() if one.default is not MISSING or one.default_factory is not MISSING}
    return {f"?{name}" if name in defaults else name: spec for name, spec in specs(kind).items()}


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


def _refuse(where: str, expected: str, value: Any) -> None:
    msg = f"{where} should be {expected}, and is {type_name(value)}"
    raise ModelFileError(msg)


def _is_one_of(spec: str, value: Any, scope: Scope, where: str) -> bool:
    """Tell whether a value is as one of the alternatives says."""
    return any(_is(one, value, scope, where) for one in _alternatives(spec))


@cache
def _alternatives(spec: str) -> tuple[str, ...]:
    return tuple(spec.split(" | "))


@cache
def _parsed(spec: str) -> re.Match[str]:
    """Return the parts of a spec of numbers or of an array."""
    found = PATTERN.fullmatch(spec)
    if found is None:
        msg = f"no such kind of value: {spec}"
        raise AssertionError(msg)
    return found


def _is(spec: str, value: Any, scope: Scope, where: str) -> bool:
    """Tell whether a value is as one alternative says."""
    if spec in PLAINLY:
        return bool(PLAINLY[spec](value))
    if spec.startswith("="):
        return type(value) is int and value >= 0 and scope.agrees(spec[1:], value)
    if spec.startswith("certificate:"):
        return _is_certificate(value) and type(value).__name__ == spec.removeprefix("certificate:")
    if spec == "model" or spec.startswith("model:"):
        named = type(value).__name__ in spec.removeprefix("model:").split(",")
        return hasattr(value, "get_params") and (named or spec == "model")
    if spec.startswith("tuple("):
        size, _, each = spec.removeprefix("tuple(").partition(") of ")
        sized = isinstance(value, tuple) and scope.agrees(size, len(value))
        return sized and all(_is(each, part, scope, where) for part in value)
    found = _parsed(spec)
    return _is_number(found, value, scope) if found["axes"] is None else _is_array(found, value, scope)


def _is_number(spec: re.Match[str], value: Any, scope: Scope) -> bool:
    """Tell whether this is a number of that kind, in range."""
    if not isinstance(value, WHOLE if spec["kind"] == "int" else REAL) or isinstance(value, bool):
        return False
    if spec["kind"] in ("finite", "real"):
        try:
            number = float(value)
        except OverflowError:
            return False
        if math.isnan(number) or (spec["kind"] == "finite" and math.isinf(number)):
            return False
    return _in_range(spec, value, value, scope)


def _is_array(spec: re.Match[str], value: Any, scope: Scope) -> bool:
    """Tell whether this is an array of the right type, shape and range."""
    kind, axes = spec["kind"], spec["axes"].split(",")
    if kind == "classes":
        several = isinstance(value, tuple) and len(value) >= 2 and all(map(is_label, value))
        return several and len(set(value)) == len(value) and scope.agrees(axes[0], len(value))
    if kind == "rows":
        typed = (isinstance(value, np.ndarray) or sparse.issparse(value)) and value.dtype in (np.float64, np.float32)
    elif kind in ("labels", "names", "distinct"):
        texts = kind == "names"
        typed = isinstance(value, np.ndarray) and (value.dtype.kind == "U" or _is_label_array(value, texts=texts))
        typed = typed and (kind != "distinct" or 2 <= value.size == len(set(value.ravel().tolist())))
    elif kind in ("finite", "int"):
        typed = isinstance(value, np.ndarray) and value.dtype.kind == kind[0]
    else:
        typed = isinstance(value, np.ndarray) and (value.dtype.kind, value.dtype.itemsize) == WIDTHS[kind]
    shaped = typed and len(value.shape) == len(axes) and all(map(scope.agrees, axes, value.shape))
    finite = kind.startswith("finite") or kind == "rows"
    if not shaped or (finite and not np.isfinite(value.data if sparse.issparse(value) else value).all()):
        return False
    return spec["low"] is None or value.size == 0 or _in_range(spec, value.min(), value.max(), scope)


def _in_range(spec: re.Match[str], least: Any, most: Any, scope: Scope) -> bool:
    """Tell whether numbers from `least` to `most` are in the range of the spec, if it has one."""
    if spec["sign"] is None:
        return True
    above = least > float(spec["low"]) if spec["sign"] == ">" else least >= float(spec["low"])
    if spec["high"] is None or not above:
        return bool(above)
    high = scope.value(spec["high"])
    return high is not None and bool(most < high)


def _is_label_array(value: Any, *, texts: bool) -> bool:
    """Tell whether an array holds labels."""
    if value.dtype.kind == "O":
        words = {isinstance(one, str) for one in value.ravel()}  # labels of both kinds cannot be sorted
        return words <= {True} or (words == {False} and not texts and all(map(is_label, value.ravel())))
    return value.dtype.kind in "biuf" and not texts


def is_label(value: Any) -> bool:
    """Tell whether this can be a label: of whole numbers, one that NumPy can hold."""
    if isinstance(value, int):
        return -(1 << 63) <= value < 1 << 64
    return isinstance(value, str | float | np.generic)


def is_plain(value: Any) -> bool:
    """Tell whether there is no record within."""
    if isinstance(value, Record):
        return False
    if isinstance(value, dict):
        return all(map(is_plain, value.values()))
    return all(map(is_plain, value)) if isinstance(value, list | tuple) else True


def _is_certificate(value: Any) -> bool:
    from halfspace.certificates.base import Certificate  # noqa: PLC0415  (which is built on this module)

    return isinstance(value, Certificate)


PLAINLY: dict[str, Callable[[Any], bool]] = {
    "none": lambda value: value is None,
    "bool": lambda value: isinstance(value, bool | np.bool_),
    "str": lambda value: isinstance(value, str),
    "label": is_label,
    "plain": is_plain,
    "dict": lambda value: isinstance(value, dict),
    "kernel": lambda value: isinstance(value, Kernel) and value.is_resolved(),
    "certificate": _is_certificate,
}
WORDS = {
    "none": "null",
    "bool": "true or false",
    "str": "a text",
    "label": "a label",
    "dict": "a table",
    "kernel": "a kernel whose parameters are numbers",
    "certificate": "a certificate",
    "finite": "a finite number",
    "real": "a number",
    "int": "a whole number",
}


# --------------------------------------------------------------------------------------------------- annotated fields
@cache
def specs(kind: Any) -> dict[str, Any]:
    """Return the spec of every annotated field of a dataclass or NamedTuple; a type for objects of our own.

    Examples
    --------
    >>> from halfspace.certificates import DualityGap, MistakeBound
    >>> specs(DualityGap)["strengths"], specs(DualityGap)["free"], specs(MistakeBound)["theorem"]
    ('finite(m) >= 0', 'bool', halfspace...Novikoff | halfspace...PassiveAggressiveBound)
    """
    hints = get_type_hints(kind, include_extras=True)  # of base classes first: the order is that of the fields
    return {name: _spec(hints[name]) for name in _names(kind)}


def _spec(hint: Any) -> Any:
    if get_origin(hint) is Annotated:
        return hint.__metadata__[0]
    return [_spec(get_args(hint)[0])] if get_origin(hint) is list else SIMPLY.get(hint, hint)


@cache
def roles(kind: Any) -> dict[str, str]:
    """Return what every field of a certificate or theorem is to the checker: "proved", "asked" or "reported".

    Examples
    --------
    >>> from halfspace.certificates import MistakeBound
    >>> roles(MistakeBound)
    {'mistakes': 'reported', 'bound': 'proved', 'bracket': 'proved', 'theorem': 'proved', 'ballot': 'proved'}
    """
    hints = get_type_hints(kind, include_extras=True)
    return {name: [*getattr(hints[name], "__metadata__", ()), "proved", "proved"][1] for name in _names(kind)}


SAID = {"slowest": "smallest rate", "fastest": "largest rate"}
"""Names of fields that need more words where they are printed."""


def reports(thing: Any) -> list[str]:
    """Return in words what the run says of itself, in a certificate, its theorem and its parts; a default says nothing.

    Examples
    --------
    >>> from halfspace.certificates import Novikoff, Projection
    >>> reports(Projection(budget=10, lost=0.5)), reports(Novikoff())
    (['budget 10', 'lost 0.5'], [])
    """
    kind: Any = type(thing)
    found = []
    for name, role in roles(kind).items():
        value = getattr(thing, name)
        if hasattr(value, "_fields"):
            found += reports(value)
        elif isinstance(value, tuple) and role == "proved":
            found += [said for part in value if hasattr(part, "reports") for said in part.reports()]
        elif role == "reported":
            found += _in_a_report(name, value, _default(thing, name))
    return found


def _default(thing: Any, name: str) -> Any:
    defaults = getattr(thing, "_field_defaults", None)
    return defaults.get(name) if defaults is not None else thing.__dataclass_fields__[name].default


def _in_a_report(name: str, value: Any, default: Any) -> list[str]:
    """Say one reported value: a count, a number by name, or how many numbers there are; nothing where it is the default."""
    if isinstance(value, tuple | np.ndarray):
        return [f"{name} ({len(value):,} values)"] if len(value) else []
    if value == default:
        return []
    if isinstance(value, int | np.integer) and name.endswith("s"):
        return [f"{value:,} {name.removesuffix('s') if value == 1 else name}"]
    name = SAID.get(name, name)
    return [f"{name} {value:,}" if isinstance(value, int | np.integer) else f"{name} {value:.4g}"]


def _names(kind: Any) -> Any:
    return getattr(kind, "_fields", None) or getattr(kind, "__dataclass_fields__", None) or kind.__annotations__


def faults(thing: Any) -> list[str]:
    """Return what is wrong with the fields of a dataclass or NamedTuple, each by itself; nothing if all is well."""
    kind: Any = type(thing)
    scope, found, inner = Scope({}, {}), [], []
    for name, spec in specs(kind).items():
        value = getattr(thing, name)
        if isinstance(spec, str):
            fine = _is_one_of(spec, value, scope, name)
            expected = "" if fine else _in_words(spec, scope)
        else:
            fine = isinstance(value, spec)
            expected = "" if fine else " or ".join(_short(kind) for kind in get_args(spec) or (spec,))
        if not fine:
            found.append(f"{name}: expected {expected}, got {type_name(value)}")
        elif isinstance(spec, str) and spec.startswith("tuple("):
            inner += [(f"{name}[{k}]", part) for k, part in enumerate(value)]
        else:
            inner.append((name, value))
    return found or [f"{name}: {reason}" for name, part in inner for reason in _faults_within(part)]


def _faults_within(part: Any) -> Iterable[str]:
    """Return what is wrong within a certificate or theorem."""
    if hasattr(part, "well_formed"):
        return part.well_formed().reasons  # type: ignore[no-any-return]
    return faults(part) if hasattr(part, "_fields") else ()


def _short(kind: Any) -> str:
    return "null" if kind is type(None) else str(kind.__name__)


def _in_words(spec: str, scope: Scope) -> str:
    """Say what a spec expects.

    Examples
    --------
    >>> _in_words("finite(m,D) >= 0 | none", Scope({"D": 3}, {}))
    'an array of finite numbers >= 0, shape (m, 3), or null'
    """
    alternatives = []
    for one in spec.split(" | "):
        found, (size, _, each) = PATTERN.fullmatch(one), one.removeprefix("tuple(").partition(") of ")
        if one.startswith("tuple("):
            alternatives.append(f"{scope.value(size) or 'a list'} of: {_in_words(each, scope)}")
        elif found is None or (found["axes"] is None and found["low"] is None):
            alternatives.append(WORDS.get(one, one.replace("certificate:", "a certificate ")))
        elif found["kind"] == "classes":
            alternatives.append("at least two different labels")
        else:
            bound = f" in {found['low']}..{found['high']}" if found["high"] else f" {found['sign']} {found['low']}"
            bound = bound if found["low"] else ""
            if found["axes"] is None:
                alternatives.append(WORDS[found["kind"]] + bound)
                continue
            axes = [str(scope.value(letter) or letter) for letter in found["axes"].split(",")]
            shape = ", ".join(axes) + "," * (len(axes) == 1)
            alternatives.append(f"an array of {NUMBERS[found['kind']]}{bound}, shape ({shape})")
    return ", or ".join(alternatives)


# --------------------------------------------------------------------------------------------------- plain values to fields
def revived(kind: type, body: Mapping[str, Any], nested: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """Turn plain values of some fields, as JSON holds them, into what the annotations of a dataclass or NamedTuple expect."""
    known = specs(kind)
    return {name: _revived(known[name], value, nested) for name, value in body.items()}


def _revived(spec: Any, value: Any, nested: Callable[[dict[str, Any]], Any]) -> Any:
    if value is None:
        return None
    if not isinstance(spec, str):
        return _revived_object(spec, value, nested)
    if spec.startswith("tuple("):
        return tuple(_revived(spec.partition(") of ")[2], part, nested) for part in _listed(value))
    if spec.startswith("classes("):
        return tuple(_listed(value))
    if spec == "certificate":
        return nested(value)
    if spec == "kernel":
        return kernels.from_dict(value)
    if spec.startswith("int("):
        return _whole(value)
    if spec.startswith("finite("):
        return np.asarray(value, dtype=np.float64)
    real = spec.startswith(("finite", "real")) and (type(value) is int or value in ("inf", "-inf", "nan"))
    return float(value) if real else value  # JSON has no infinity, so it is written as text


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list):
        msg = f"a list expected, not {type_name(value)}"
        raise TypeError(msg)
    return value


def _whole(values: Any) -> Any:
    """Turn plain numbers into an array of whole numbers, without rounding fractions."""
    array = np.asarray(values, dtype=np.float64)
    if not (np.array_equal(array, np.trunc(array)) and (np.abs(array) < 2**53).all()):
        msg = "a row or class number is not a whole number"
        raise ValueError(msg)
    return array.astype(np.int64)


def _revived_object(kinds: Any, value: Any, nested: Callable[[dict[str, Any]], Any]) -> Any:
    """Make a certificate, or the NamedTuple that a dictionary names as its theorem."""
    if not isinstance(value, dict) or "theorem" not in value or "kind" in value:
        return nested(value)
    body = dict(value)
    name, known = body.pop("theorem"), {kind.__name__: kind for kind in get_args(kinds) or (kinds,)}
    if name not in known:
        msg = f"unknown theorem {name!r}; there are: {', '.join(known)}"
        raise ValueError(msg)
    theorem = known[name]
    if set(body) != set(theorem._fields):
        msg = f"its theorem has the fields {sorted(body)}, not {sorted(theorem._fields)}"
        raise ValueError(msg)
    return theorem(**revived(theorem, body, nested))
