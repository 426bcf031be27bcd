"""From the tree to objects: every value is checked before an object is made of it."""

from importlib import import_module
from typing import Any, Never

import numpy as np
from scipy import sparse

from halfspace.certificates.fields import Model, Record
from halfspace.errors import ModelFileError
from halfspace.modelfiles.agreement import agree
from halfspace.modelfiles.records import RECORDS, upgraded
from halfspace.modelfiles.table import FORMER, MODELS

__all__ = ["Decoder"]

DEEPEST = 60
FLOATS = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}
STEEPEST = 1000
"""Largest degree, order or exponent of a kernel: computing time grows with it."""
DAMAGES = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)


def damaged(what: str) -> Never:
    """Refuse a tree."""
    msg = f"its tree is damaged: {what}"
    raise ModelFileError(msg)


class Decoder:
    """Turns a tree into objects; each array is used once, so that no file can ask for more memory than it has bytes.

    Examples
    --------
    >>> Decoder({"0": np.zeros(2)}).decode({"@tuple": [1, {"@float": "inf"}, {"@array": "0"}]})
    (1, inf, array([0., 0.]))
    """

    def __init__(self, arrays: dict[str, Any]) -> None:
        self.arrays = dict(arrays)
        self.tags: dict[str, tuple[set[str], Any]] = {
            "@float": (set(), self._float),
            "@tuple": (set(), self._tuple),
            "@dict": (set(), self._dict),
            "@array": ({"order"}, self._array),
            "@text": ({"shape"}, self._text),
            "@labels": ({"codes"}, self._labels),
            "@scalar": (set(), self._scalar),
            "@csr": ({"shape", "data", "indices", "indptr"}, self._csr),
            "@kernel": ({"params"}, self._kernel),
            "@certificate": (set(), self._certificate),
            "@random": ({"place", "gauss"}, self._random_state),
            "@record": ({"fields"}, self._record),
            "@model": ({"params", "fitted"}, self._model),
        }

    def decode(self, node: Any, *, whole: bool = True) -> Any:
        """Return the object of a node.

        Parameters
        ----------
        node : JSON value
            Of the tree.
        whole : bool
            Make models and records of what is checked, rather than leave them as `Model` and `Record`.
        """
        try:
            value = self._value(node, 0)
            return built(value) if whole else value
        except DAMAGES as error:
            if isinstance(error, ModelFileError):
                raise
            msg = f"its tree is damaged: {error}"
            raise ModelFileError(msg) from error

    def _value(self, node: Any, depth: int) -> Any:
        """Return the value of a node."""
        if depth > DEEPEST:
            damaged("it is nested too deeply")
        if node is None or isinstance(node, bool | str | float):
            return node
        if isinstance(node, int):
            return node if -(1 << 63) <= node < 1 << 64 else damaged("a whole number has more than 64 bits")
        if isinstance(node, list):
            return [self._value(part, depth + 1) for part in node]
        tag = next((name for name in node if name.startswith("@")), "")
        if tag not in self.tags:
            damaged(f"{tag!r} is no kind of value")
        names, decode = self.tags[tag]
        if not set(node) <= names | {tag} or (len(node) <= len(names) and tag != "@array"):
            damaged(f"a value of kind {tag} has the fields {sorted(node)}")
        return decode(node, depth + 1)

    def _take(self, name: Any) -> Any:
        """Return an array, once."""
        if not isinstance(name, str) or name not in self.arrays:
            damaged("an array is missing, or used twice")
        return self.arrays.pop(name)

    def _float(self, node: dict[str, Any], _depth: int) -> float:
        return FLOATS[node["@float"]]

    def _tuple(self, node: dict[str, Any], depth: int) -> tuple[Any, ...]:
        return tuple(self._value(part, depth) for part in _listed(node["@tuple"]))

    def _dict(self, node: dict[str, Any], depth: int) -> dict[Any, Any]:
        pairs = [(self._value(key, depth), self._value(part, depth)) for key, part in _listed(node["@dict"])]
        return dict(pairs)

    def _named(self, node: Any, depth: int) -> dict[str, Any]:
        """Return the values of a JSON object whose names are just names."""
        if not isinstance(node, dict):
            damaged("names are missing")
        return {name: self._value(part, depth) for name, part in node.items()}

    def _array(self, node: dict[str, Any], _depth: int) -> Any:
        order = node.get("order", "C")
        if order not in ("C", "F"):
            damaged("an array has no such order")
        array = self._take(node["@array"])
        return array.T if order == "F" else array

    def _text(self, node: dict[str, Any], _depth: int) -> Any:
        codes = self._take(node["@text"])
        if codes.dtype != np.uint32 or codes.ndim != 2 or not 1 <= codes.shape[1] <= 1 << 24:
            damaged("texts are not stored as characters")
        if codes.size and codes.max() > 0x10FFFF:
            damaged("a text has a character that does not exist")
        return codes.view(f"<U{codes.shape[1]}").reshape(_shape(node["shape"]))

    def _labels(self, node: dict[str, Any], depth: int) -> Any:
        words = [self._value(word, depth) for word in _listed(node["@labels"])]
        codes = self._take(node["codes"])
        plain = all(isinstance(word, str | bool | int | float) for word in words)
        if not plain or codes.dtype != np.int64 or (codes.size and not 0 <= codes.min() <= codes.max() < len(words)):
            damaged("labels are not among those listed")
        found = np.empty(len(words), dtype=object)
        found[:] = words
        return found[codes]

    def _scalar(self, node: dict[str, Any], _depth: int) -> Any:
        array = self._take(node["@scalar"])
        return array[0] if array.shape == (1,) else damaged("a number is not one number")

    def _csr(self, node: dict[str, Any], _depth: int) -> Any:
        data, indices, indptr = (self._take(node[name]) for name in ("data", "indices", "indptr"))
        shape = _shape(node["shape"])
        whole = indices.dtype == indptr.dtype and indices.dtype in (np.int32, np.int64)
        sized = len(shape) == 2 and data.shape == indices.shape == (data.size,) and indptr.shape == (shape[0] + 1,)
        if not (whole and sized and indptr[0] == 0 and indptr[-1] == data.size and (np.diff(indptr) >= 0).all()):
            damaged("the parts of a sparse matrix do not fit together")
        if data.dtype.kind not in "biuf" or (indices.size and not 0 <= indices.min() <= indices.max() < shape[1]):
            damaged("a sparse matrix has entries outside its columns")
        make = {"array": sparse.csr_array, "matrix": sparse.csr_matrix}[node["@csr"]]
        return make((data, indices, indptr), shape=shape)

    def _kernel(self, node: dict[str, Any], depth: int) -> Any:
        from halfspace.kernels import FromFunction, Kernel  # noqa: PLC0415  (only models with kernels need it)
        from halfspace.kernels.values import Value  # noqa: PLC0415

        kind, params = node["@kernel"], self._named(node["params"], depth)
        if not isinstance(kind, str) or kind not in Value.kinds or kind == FromFunction.__name__:
            damaged(f"there is no kernel {kind!r}")
        if any(isinstance(params.get(name), int) and params[name] > STEEPEST for name in ("degree", "order", "exponent")):
            damaged(f"a kernel of degree above {STEEPEST}")
        value = Value.kinds[kind](**params)
        return value if isinstance(value, Kernel) else damaged(f"{kind} is no kernel")

    def _certificate(self, node: dict[str, Any], depth: int) -> Any:
        from halfspace.certificates.base import from_dict  # noqa: PLC0415  (which imports no solver)

        import_module("halfspace.certificates")  # which knows all kinds
        return from_dict(self._claims(node["@certificate"], depth))

    def _claims(self, node: Any, depth: int) -> Any:
        """Return the plain form of a certificate, bulk numbers as arrays."""
        if depth > DEEPEST:
            damaged("it is nested too deeply")
        if isinstance(node, list):
            return [self._claims(part, depth + 1) for part in node]
        if not isinstance(node, dict):
            return node
        if set(node) == {"@array"}:
            return self._take(node["@array"])
        if any(isinstance(node.get(name), int) and node[name] > STEEPEST for name in ("degree", "order", "exponent")):
            damaged(f"a kernel of degree above {STEEPEST}")
        return {name: self._claims(part, depth + 1) for name, part in node.items()}

    def _random_state(self, node: dict[str, Any], _depth: int) -> np.random.RandomState:
        keys, place, gauss = self._take(node["@random"]), node["place"], _listed(node["gauss"])
        sound = keys.dtype == np.uint32 and keys.shape == (624,) and type(place) is int and 0 <= place <= 624
        if not sound or len(gauss) != 2 or gauss[0] not in (0, 1):
            damaged("the state of a random generator is not valid")
        state = np.random.RandomState(0)
        state.set_state(("MT19937", keys, place, int(gauss[0]), float(gauss[1])))
        return state

    def _record(self, node: dict[str, Any], depth: int) -> Record:
        key, fields = upgraded(node["@record"], self._named(node["fields"], depth))
        if key not in RECORDS:
            damaged(f"there is no record {key!r}")
        return Record(key, fields)

    def _model(self, node: dict[str, Any], depth: int) -> Model:
        if node["@model"] not in MODELS:
            damaged(f"there is no model {node['@model']!r}: is the file of a newer version?")
        model = Model(node["@model"], self._named(node["params"], depth), self._named(node["fitted"], depth))
        agree(model)
        return model


def _listed(node: Any) -> list[Any]:
    """Return a JSON list."""
    return node if isinstance(node, list) else damaged("a list is missing")


def _shape(node: Any) -> tuple[int, ...]:
    """Return a shape."""
    if not all(type(n) is int and 0 <= n < 1 << 48 for n in _listed(node)):
        damaged("a shape is not one")
    return tuple(node)


def built(value: Any) -> Any:
    """Return a checked value with all models and records within made into objects."""
    if isinstance(value, Model):
        return _built_model(value)
    if isinstance(value, Record):
        place = RECORDS[value.key]
        cls = getattr(import_module(f"halfspace.{place.module}"), place.name)
        gone = {name for name, now in FORMER.get(value.key, {}).items() if not now}
        fields = {name: built(part) for name, part in value.fields.items() if name not in gone}
        if hasattr(cls, "_fields") or hasattr(cls, "__dataclass_fields__"):
            return cls(**fields)
        made = cls.__new__(cls)
        vars(made).update(fields)
        return made
    if isinstance(value, list):
        return [built(part) for part in value]
    if type(value) is tuple:
        return tuple(built(part) for part in value)
    if isinstance(value, dict):
        return {name: built(part) for name, part in value.items()}
    return value


def _built_model(value: Model) -> Any:
    """Make a model: the constructor gets the parameters, the attributes are set as they were."""
    place = MODELS[value.key]
    home = "halfspace" if place.module == "models" else f"halfspace.{place.module}"
    cls = getattr(import_module(home), place.name)
    now = {name: FORMER.get(value.key, {}).get(name, name) for name in value.params}
    model = cls(**{now[name]: built(part) for name, part in value.params.items() if now[name]})
    known = {name.lstrip("?") for name in place.fields}
    for name in value.fitted:
        if name not in known and hasattr(cls, name):
            damaged(f"{value.key} has no attribute {name!r} to be set")
    vars(model).update({name: built(part) for name, part in value.fitted.items()})
    return model
