"""From models to a tree of JSON values with arrays, and back: every value is checked before an object is made of it.

JSON's own values stand for themselves (null, truth values, whole numbers, finite floats, texts, lists). Everything else is an
object with one name that begins with @: see `docs/model_files.md`. What a class learns is declared in the class (`Learnt`), so
the tree names classes but no code: a name is looked up among the classes that declare something, and a record is only ever
what the declaration of the attribute says it is.

An array that shares memory with one already written (the weights of a model and of its certificate) is written once, and
shares memory again when it is read.
"""

import dataclasses
import math
from importlib import import_module
from typing import Any, Never

import numpy as np
from scipy import sparse

from halfspace._learnt import Learnt
from halfspace.certificates.fields import Record, Scope, check_fields, is_plain, specs
from halfspace.errors import ModelFileError
from halfspace.modelfiles.container import TYPES

__all__ = ["Decoder", "Encoder"]

DEEPEST = 60
SIMPLE = (bool, str, float)
FLOATS = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}
STEEPEST = 1000
"""Largest degree, order or exponent of a kernel: computing time grows with it."""
DAMAGES = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
SETTINGS = {"_metadata_request", "_sklearn_output_config", "_callback_fit_ctx"}
"""scikit-learn's settings of the program that runs, and an open callback: not written, like its `_skl_...`."""


def _is_left_out(cls: Any, name: str) -> bool:
    return name in SETTINGS or name.startswith("_skl_") or name in cls.left_out


def _is_free(cls: Any, name: str) -> bool:
    """Tell whether a name can be that of a learnt attribute that is not declared: nothing of the class is called so."""
    return cls.learns_more and name.isidentifier() and name.endswith("_") and name[0] != "_" and not hasattr(cls, name)


class Encoder:
    """Turns a model into a tree, and collects its arrays."""

    def __init__(self) -> None:
        self.arrays: list[Any] = []
        self._stored: list[tuple[int, int, Any]] = []  # address, bytes, array as given

    def model(self, model: Any) -> dict[str, Any]:
        """Return the node of a model: its key, its parameters, and what it learnt."""
        cls = type(model)
        if Learnt.kinds.get(cls.__name__) is not cls:
            msg = f"a model file can hold the estimators of halfspace, not a {cls.__name__} of {cls.__module__}"
            raise ModelFileError(msg)
        for name in cls.made_late:
            getattr(model, name, None)
        params = {name: None if _is_left_out(cls, name) else value for name, value in model.get_params(deep=False).items()}
        fitted = {name: value for name, value in vars(model).items() if name not in params and not _is_left_out(cls, name)}
        declared = [name.removeprefix("?") for name in cls.declared()]
        strange = sorted(name for name in fitted if name not in declared and not _is_free(cls, name))
        if strange:
            msg = f"{cls.__name__} has the attributes {strange}, which it does not declare as learnt: delete or report them"
            raise ModelFileError(msg)
        names = sorted(fitted, key=lambda name: name.strip("_") == "certificate")  # last: it shares what predicts
        return {
            "@model": cls.__name__,
            "params": {name: self.encode(value, f"{cls.__name__}.{name}") for name, value in params.items()},
            "fitted": {name: self.encode(fitted[name], f"{cls.__name__}.{name}") for name in names},
        }

    def encode(self, value: Any, who: str) -> Any:
        """Return the node of any value; `who` is what to call it if it cannot be written."""
        from halfspace.certificates import Certificate  # noqa: PLC0415  (who only reads does not need them)
        from halfspace.kernels.values import Value  # noqa: PLC0415

        if value is None or isinstance(value, bool | str):
            return str(value) if isinstance(value, str) else value
        if type(value) in (int, float):
            return self._number(value, who)
        if type(value) in (list, tuple):
            parts = [self.encode(part, who) for part in value]
            return parts if isinstance(value, list) else {"@tuple": parts}
        kinds: tuple[tuple[Any, Any], ...] = (
            (np.generic, self._scalar),
            (np.ndarray, self._array),
            (dict, self._dict),
            (Certificate, self._certificate),
            (Value, self._kernel),
            (np.random.RandomState, self._random_state),
            (sparse.sparray | sparse.spmatrix, self._csr),
        )
        for one, encode in kinds:
            if isinstance(value, one):
                return encode(value, who)
        if hasattr(value, "get_params") and hasattr(value, "fit"):
            return self.model(value)
        kind: Any = type(value)
        if kind.__module__.startswith("halfspace.") and not callable(value):
            value = value.stored() if hasattr(value, "stored") else value
            fields = {name: self.encode(getattr(value, name), f"{who}.{name}") for name in specs(kind)}
            return {"@record": kind.__name__, "fields": fields}
        what = "function" if callable(value) else f"{kind.__module__}.{kind.__qualname__}"
        msg = f"{who} is a {what}, which a model file cannot hold: it holds data, and nothing in it is ever run"
        raise ModelFileError(msg)

    def _number(self, value: float, who: str) -> Any:
        if isinstance(value, float) and not math.isfinite(value):
            return {"@float": str(value)}
        if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
            msg = f"{who} is a whole number of more than 64 bits, which a model file cannot hold"
            raise ModelFileError(msg)
        return value

    def _scalar(self, value: Any, who: str) -> Any:
        if isinstance(value, np.str_):
            return str(value)
        return {"@scalar": self._keep(np.array([value]), who)}

    def _array(self, value: Any, who: str) -> Any:
        if value.dtype.kind == "O":
            return self._labels(value, who)
        if value.dtype.kind == "U":
            width = max(value.dtype.itemsize // 4, 1)
            flat = np.ascontiguousarray(value.ravel().astype(f"<U{width}"))
            return {"@text": self._keep(flat.view("<u4").reshape(value.size, width), who), "shape": list(value.shape)}
        if value.ndim > 1 and value.flags.f_contiguous and not value.flags.c_contiguous:
            return {**self._array(value.T, who), "order": "F"}
        shared = self._shared(value)
        return {"@array": self._keep(value, who)} if shared is None else shared

    def _shared(self, value: Any) -> dict[str, Any] | None:
        """Return the node of an array that lies within one already kept."""
        if value.flags.c_contiguous and value.size:
            address = value.__array_interface__["data"][0]
            for k, (first, size, kept) in enumerate(self._stored):
                inside = first <= address and address + value.nbytes <= first + size
                if inside and kept.dtype == value.dtype and (address - first) % value.itemsize == 0:
                    if (address, value.shape) == (first, kept.shape):
                        return {"@array": str(k)}
                    return {"@array": str(k), "from": (address - first) // value.itemsize, "shape": list(value.shape)}
        return None

    def _keep(self, value: Any, who: str) -> str:
        """Keep an array and return its name."""
        dtype = value.dtype.newbyteorder("<")
        if dtype not in TYPES:
            msg = f"{who} is an array of {value.dtype}, which a model file cannot hold: numbers, truth values and texts it can"
            raise ModelFileError(msg)
        self.arrays.append(np.ascontiguousarray(value, dtype=dtype).reshape(value.shape))
        contiguous = value.flags.c_contiguous and value.size
        self._stored.append(
            (value.__array_interface__["data"][0] if contiguous else 0, value.nbytes if contiguous else -1, value)
        )
        return str(len(self.arrays) - 1)

    def _labels(self, value: Any, who: str) -> Any:
        """Write an array of Python objects as its distinct values and their places."""
        distinct: dict[Any, int] = {}
        if not all(isinstance(one, str | bool | int | float) for one in value.ravel()):
            msg = f"{who} holds objects other than texts and numbers, which a model file cannot hold"
            raise ModelFileError(msg)
        codes = [distinct.setdefault((type(one).__name__, one), len(distinct)) for one in value.ravel()]
        words = [self.encode(one, who) for _, one in distinct]
        return {"@labels": words, "codes": self._keep(np.array(codes, dtype=np.int64).reshape(value.shape), who)}

    def _csr(self, value: Any, who: str) -> Any:
        if value.format != "csr":
            msg = f"{who} is a sparse matrix in {value.format} format: a model file holds CSR"
            raise ModelFileError(msg)
        buffers = {name: self._array(getattr(value, name), who) for name in ("data", "indices", "indptr")}
        return {"@csr": "array" if isinstance(value, sparse.sparray) else "matrix", "shape": list(value.shape), **buffers}

    def _dict(self, value: dict[Any, Any], who: str) -> Any:
        return {"@dict": [[self.encode(key, who), self.encode(part, who)] for key, part in value.items()]}

    def _kernel(self, value: Any, who: str) -> Any:
        own = value.get_params(deep=False)
        params = {name: self.encode(part, f"{who}: {type(value).__name__}.{name}") for name, part in own.items()}
        return {"@kernel": type(value).__name__, "params": params}

    def _certificate(self, value: Any, who: str) -> Any:
        return {"@certificate": self._claims(value, who)}

    def _claims(self, value: Any, who: str) -> Any:
        """Return the plain form of a certificate, but numbers in bulk as arrays."""
        body = value.to_dict()
        for field in dataclasses.fields(value):
            part = getattr(value, field.name)
            if dataclasses.is_dataclass(part) and hasattr(part, "to_dict"):
                body[field.name] = self._claims(part, who)
            elif isinstance(part, tuple) and part and hasattr(part[0], "to_dict"):
                body[field.name] = [self._claims(one, who) for one in part]
            elif hasattr(part, "_asdict"):
                arrays = {name: value for name, value in part._asdict().items() if isinstance(value, np.ndarray)}
                body[field.name] |= {name: self._array(array, who) for name, array in arrays.items()}
            elif isinstance(part, np.ndarray) and part.dtype.kind in "biuf":
                body[field.name] = self._array(part, who)
        return body

    def _random_state(self, value: np.random.RandomState, who: str) -> Any:
        kind, keys, place, has_gauss, gauss = value.get_state(legacy=True)
        if kind != "MT19937":
            msg = f"{who} is a RandomState of {kind}, which a model file cannot hold: use a seed"
            raise ModelFileError(msg)
        return {"@random": self._keep(keys, who), "place": int(place), "gauss": [int(has_gauss), float(gauss)]}


def damaged(what: str) -> Never:
    """Refuse a tree."""
    msg = f"its tree is damaged: {what}"
    raise ModelFileError(msg)


class Decoder:
    """Turns a tree into objects; an array used again is the same memory, so no file can ask for more than it has bytes."""

    def __init__(self, arrays: dict[str, Any]) -> None:
        self.arrays = arrays
        tags: dict[str, tuple[set[str], set[str], Any]] = {
            "@float": (set(), set(), lambda node, _: FLOATS[node["@float"]]),
            "@tuple": (set(), set(), lambda node, depth: tuple(self._value(part, depth) for part in _listed(node["@tuple"]))),
            "@dict": (set(), set(), self._dict),
            "@array": (set(), {"order", "from", "shape"}, self._array),
            "@text": ({"shape"}, set(), self._text),
            "@labels": ({"codes"}, set(), self._labels),
            "@scalar": (set(), set(), self._scalar),
            "@csr": ({"shape", "data", "indices", "indptr"}, set(), self._csr),
            "@kernel": ({"params"}, set(), self._kernel),
            "@certificate": (set(), set(), self._certificate),
            "@random": ({"place", "gauss"}, set(), self._random_state),
            "@record": ({"fields"}, set(), self._record),
            "@model": ({"params", "fitted"}, set(), self._model),
        }
        self.tags = {tag: ({tag, *needed}, {tag, *needed, *allowed}, decode) for tag, (needed, allowed, decode) in tags.items()}

    def decode(self, node: Any) -> Any:
        """Return the object of a node of the tree."""
        try:
            return self._value(node, 0)
        except DAMAGES as error:
            if isinstance(error, ModelFileError):
                raise
            msg = f"its tree is damaged: {error}"
            raise ModelFileError(msg) from error

    def _value(self, node: Any, depth: int) -> Any:
        """Return the value of a node; records are made only where a model declares them."""
        if depth > DEEPEST:
            damaged("it is nested too deeply")
        if node is None or isinstance(node, SIMPLE):
            return node
        if isinstance(node, int):
            return node if -(1 << 63) <= node < 1 << 64 else damaged("a whole number has more than 64 bits")
        if isinstance(node, list):
            return [self._value(part, depth + 1) for part in node]
        tag = next((name for name in node if name.startswith("@")), "")
        if tag not in self.tags:
            damaged(f"{tag!r} is no kind of value")
        needed, allowed, decode = self.tags[tag]
        if not needed <= node.keys() <= allowed:
            damaged(f"a value of kind {tag} has the fields {sorted(node)}")
        return decode(node, depth + 1)

    def _take(self, name: Any) -> Any:
        return self.arrays[name] if isinstance(name, str) and name in self.arrays else damaged("an array is missing")

    def _dict(self, node: dict[str, Any], depth: int) -> dict[Any, Any]:
        return {self._value(key, depth): self._value(part, depth) for key, part in _listed(node["@dict"])}

    def _record(self, node: dict[str, Any], depth: int) -> Record:
        return Record(str(node["@record"]), self._named(node["fields"], depth))

    def _named(self, node: Any, depth: int) -> dict[str, Any]:
        """Return the values of a JSON object whose names are just names."""
        if not isinstance(node, dict):
            damaged("names are missing")
        return {name: self._value(part, depth) for name, part in node.items()}

    def _array(self, node: dict[str, Any], _depth: int) -> Any:
        array = self._take(node["@array"])
        if "from" in node or "shape" in node:
            first, shape = node.get("from"), _shape(node.get("shape"))
            if type(first) is not int or not 0 <= first <= array.size - math.prod(shape):
                damaged("a part of an array lies outside it")
            array = array.reshape(-1)[first : first + math.prod(shape)].reshape(shape)
        return {"C": array, "F": array.T}[node.get("order", "C")]

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

    def _csr(self, node: dict[str, Any], depth: int) -> Any:
        data, indices, indptr = (self._value(node[name], depth) for name in ("data", "indices", "indptr"))
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
        _check_degree(params)
        value = Value.kinds[kind](**params)
        return value if isinstance(value, Kernel) else damaged(f"{kind} is no kernel")

    def _certificate(self, node: dict[str, Any], depth: int) -> Any:
        from halfspace.certificates.base import from_dict  # noqa: PLC0415  (which imports no solver)

        import_module("halfspace.certificates")  # which knows all kinds
        return from_dict(self._claims(node["@certificate"], depth))

    def _claims(self, node: Any, depth: int) -> Any:
        """Return the plain form of a certificate, numbers in bulk as arrays."""
        if depth > DEEPEST:
            damaged("it is nested too deeply")
        if isinstance(node, list):
            return [self._claims(part, depth + 1) for part in node]
        if not isinstance(node, dict):
            return node
        if "@array" in node:
            return self._value(node, depth)
        _check_degree(node)
        return {name: self._claims(part, depth + 1) for name, part in node.items()}

    def _random_state(self, node: dict[str, Any], _depth: int) -> np.random.RandomState:
        keys, place, gauss = self._take(node["@random"]), node["place"], _listed(node["gauss"])
        sound = keys.dtype == np.uint32 and keys.shape == (624,) and type(place) is int and 0 <= place <= 624
        if not sound or len(gauss) != 2 or gauss[0] not in (0, 1):
            damaged("the state of a random generator is not valid")
        state = np.random.RandomState(0)
        state.set_state(("MT19937", keys, place, int(gauss[0]), float(gauss[1])))
        return state

    def _model(self, node: dict[str, Any], depth: int) -> Any:
        cls = _class(node["@model"])
        params, fitted = self._renewed(cls.__name__, self._named(node["params"], depth), self._named(node["fitted"], depth))
        for name, value in params.items():
            _check_plain(value, f"{cls.__name__}.{name}")
        if fitted:
            fitted = _checked(cls, fitted)
        model = cls(**{**cls.earlier, **params})
        vars(model).update(fitted)
        return model

    def renewed(self, key: str, fitted: dict[str, Any]) -> dict[str, Any]:
        """Return the learnt attributes of a model as they are called today."""
        return self._renewed(key, {}, fitted)[1]

    def _renewed(self, _key: str, params: dict[str, Any], fitted: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what an earlier format called by other names."""
        return params, fitted


def _class(key: Any) -> Any:
    """Return the class of ours that a key names; it is imported if it is public."""
    package = import_module("halfspace")
    if key not in Learnt.kinds and key in package.__all__:
        getattr(package, key)
    if key not in Learnt.kinds:
        import_module("halfspace.ladder")  # whose baselines are not public
    return Learnt.kinds[key] if key in Learnt.kinds else damaged(f"there is no model {key!r}: is the file of a newer version?")


def _check_plain(value: Any, where: str) -> None:
    """Refuse records where plain values or models are expected."""
    if not is_plain(value):
        damaged(f"{where}: a record has no place here")


def _checked(cls: Any, fitted: dict[str, Any]) -> dict[str, Any]:
    """Return what a model learnt, records made into objects; refuse parts that are not as declared or do not fit together."""
    declared, who = cls.declared(), cls.__name__
    known = {name.removeprefix("?") for name in declared}
    free = {name: value for name, value in fitted.items() if name not in known and _is_free(cls, name)}
    for name, value in free.items():
        _check_plain(value, f"{who}.{name}")
    for name, others in cls.needs.items():
        if name in fitted and not set(others) <= set(fitted):
            damaged(f"{who} has {name}, but not all of {', '.join(others)}")
    scope = Scope(cls.sizes(fitted), {})
    check_fields(declared, {name: value for name, value in fitted.items() if name not in free}, scope, who)
    fitted = {name: _built(value) for name, value in fitted.items()}
    cls.check_learnt(fitted, scope.shared)
    return fitted


def _built(value: Any) -> Any:
    """Return a checked value with all records within made into objects."""
    if isinstance(value, Record):
        fields = {name: _built(part) for name, part in value.fields.items()}
        if hasattr(value.kind, "_fields") or dataclasses.is_dataclass(value.kind):
            return value.kind(**fields)
        made = object.__new__(value.kind)
        vars(made).update(fields)
        return made
    if type(value) in (list, tuple):
        return type(value)(_built(part) for part in value)
    return {name: _built(part) for name, part in value.items()} if type(value) is dict else value


def _check_degree(params: dict[str, Any]) -> None:
    """Refuse a kernel that would take for ever to compute."""
    if any(isinstance(params.get(name), int) and params[name] > STEEPEST for name in ("degree", "order", "exponent")):
        damaged(f"a kernel of degree above {STEEPEST}")


def _listed(node: Any) -> list[Any]:
    """Return a JSON list."""
    return node if isinstance(node, list) else damaged("a list is missing")


def _shape(node: Any) -> tuple[int, ...]:
    """Return a shape."""
    if not all(type(n) is int and 0 <= n < 1 << 48 for n in _listed(node)):
        damaged("a shape is not one")
    return tuple(node)
