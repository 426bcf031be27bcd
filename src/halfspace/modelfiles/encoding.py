"""From objects to the tree: JSON values, and the arrays they refer to.

JSON's own values stand for themselves (null, truth values, whole numbers, finite floats, texts, lists). Everything else is an
object with one name that begins with @: see `docs/model_files.md`.
"""

import dataclasses
import math
import types
from typing import Any

import numpy as np
from scipy import sparse

from halfspace.certificates import Certificate
from halfspace.errors import ModelFileError
from halfspace.kernels.values import Value
from halfspace.modelfiles.container import NAMES
from halfspace.modelfiles.records import RECORDS
from halfspace.modelfiles.table import MODELS, left_out

__all__ = ["Encoder"]

_KEYS = {(f"halfspace.{place.module}", place.name): key for key, place in RECORDS.items()}
_MODEL_KEYS = {place.name: key for key, place in MODELS.items()}


class Encoder:
    """Turns a model into a tree, and collects its arrays.

    Examples
    --------
    >>> encoder = Encoder()
    >>> encoder.encode((1, float("inf"), np.zeros(2)), "it")
    {'@tuple': [1, {'@float': 'inf'}, {'@array': '0'}]}
    >>> encoder.arrays
    [array([0., 0.])]
    """

    def __init__(self) -> None:
        self.arrays: list[Any] = []

    def model(self, model: Any) -> dict[str, Any]:
        """Return the node of a model: its key, its parameters, and what it learnt."""
        key = _MODEL_KEYS.get(type(model).__name__, "")
        if not key or not type(model).__module__.startswith(f"halfspace.{MODELS[key].module}"):
            msg = f"a model file can hold the estimators of halfspace, not a {type(model).__name__} of {type(model).__module__}"
            raise ModelFileError(msg)
        if key in ("Neighbours", "KMeans"):
            getattr(model, "certificate_", None)  # counted when first asked for: it must not be missing from a file
        params = {name: None if left_out(name) else value for name, value in model.get_params(deep=False).items()}
        fitted = {name: value for name, value in vars(model).items() if name not in params and not left_out(name)}
        known = {name.lstrip("?") for name in MODELS[key].fields}
        strange = sorted(name for name in fitted if name not in known and not (MODELS[key].others and is_free(name, model)))
        if strange:
            msg = f"{key} has the attributes {strange}, which model files do not know: delete them, or report this"
            raise ModelFileError(msg)
        return {
            "@model": key,
            "params": {name: self.encode(value, f"{key}.{name}") for name, value in params.items()},
            "fitted": {name: self.encode(value, f"{key}.{name}") for name, value in fitted.items()},
        }

    def encode(self, value: Any, who: str) -> Any:
        """Return the node of any value; `who` is what to call it if it cannot be written."""
        if value is None or isinstance(value, bool | str):
            return str(value) if type(value) is not str and isinstance(value, str) else value
        if type(value) in (int, float):
            return self._number(value, who)
        for kind, encode in self._kinds():
            if isinstance(value, kind):
                return encode(value, who)
        return self._object(value, who)

    def _kinds(self) -> tuple[tuple[Any, Any], ...]:
        """Return what to call for which type; the first that fits counts."""
        return (
            (np.generic, self._scalar),
            (np.ndarray, self._array),
            (dict, self._dict),
            (Certificate, self._certificate),
            (Value, self._kernel),
            (np.random.RandomState, self._random_state),
        )

    def _object(self, value: Any, who: str) -> Any:
        """Return the node of what is neither plain nor an array."""
        if sparse.issparse(value):
            return self._csr(value, who)
        key = _KEYS.get((type(value).__module__, type(value).__qualname__))
        if key is not None:
            return self._record(key, value, who)
        if type(value) in (list, tuple):
            parts = [self.encode(part, who) for part in value]
            return parts if isinstance(value, list) else {"@tuple": parts}
        if hasattr(value, "get_params") and hasattr(value, "fit"):
            return self.model(value)
        if isinstance(value, types.FunctionType | types.BuiltinFunctionType | types.MethodType) or callable(value):
            msg = f"{who} is a function, which a model file cannot hold: nothing in it is ever run"
            raise ModelFileError(msg)
        msg = f"{who} is a {type(value).__module__}.{type(value).__qualname__}, which a model file cannot hold"
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
        return {"@scalar": self._reference(np.array([value]), who)}

    def _array(self, value: Any, who: str) -> Any:
        if value.dtype.kind == "O":
            return self._labels(value, who)
        if value.dtype.kind == "U":
            width = max(value.dtype.itemsize // 4, 1)
            flat = np.ascontiguousarray(value.ravel().astype(f"<U{width}"))
            return {"@text": self._reference(flat.view("<u4").reshape(value.size, width), who), "shape": list(value.shape)}
        if value.ndim > 1 and value.flags.f_contiguous and not value.flags.c_contiguous:
            return {"@array": self._reference(value.T, who), "order": "F"}
        return {"@array": self._reference(value, who)}

    def _reference(self, value: Any, who: str) -> str:
        """Keep an array and return its name."""
        if value.dtype.newbyteorder("<") not in NAMES:
            msg = f"{who} is an array of {value.dtype}, which a model file cannot hold: numbers, truth values and texts it can"
            raise ModelFileError(msg)
        self.arrays.append(np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<")).reshape(value.shape))
        return str(len(self.arrays) - 1)

    def _labels(self, value: Any, who: str) -> Any:
        """Write an array of Python objects as its distinct values and their places."""
        distinct: dict[Any, int] = {}
        if not all(isinstance(one, str | bool | int | float) for one in value.ravel()):
            msg = f"{who} holds objects other than texts and numbers, which a model file cannot hold"
            raise ModelFileError(msg)
        codes = [distinct.setdefault((type(one).__name__, one), len(distinct)) for one in value.ravel()]
        words = [self.encode(one, who) for _, one in distinct]
        return {"@labels": words, "codes": self._reference(np.array(codes, dtype=np.int64).reshape(value.shape), who)}

    def _csr(self, value: Any, who: str) -> Any:
        if value.format != "csr":
            msg = f"{who} is a sparse matrix in {value.format} format: a model file holds CSR"
            raise ModelFileError(msg)
        buffers = {name: self._reference(getattr(value, name), who) for name in ("data", "indices", "indptr")}
        return {"@csr": "array" if isinstance(value, sparse.sparray) else "matrix", "shape": list(value.shape), **buffers}

    def _dict(self, value: dict[Any, Any], who: str) -> Any:
        return {"@dict": [[self.encode(key, who), self.encode(part, who)] for key, part in value.items()]}

    def _record(self, key: str, value: Any, who: str) -> Any:
        names = [name.lstrip("?") for name in RECORDS[key].fields if hasattr(value, name.lstrip("?")) or name[0] != "?"]
        if key == "voted.Log":  # what is not in use is whatever was in memory
            used = int(value.size[0])
            value = value._replace(**{name: getattr(value, name)[:used] for name in names[:4]})
        if hasattr(value, "__dict__") and not dataclasses.is_dataclass(value) and set(vars(value)) - set(names):
            msg = f"{who} has the attributes {sorted(set(vars(value)) - set(names))}, which model files do not know"
            raise ModelFileError(msg)
        return {"@record": key, "fields": {name: self.encode(getattr(value, name), f"{who}.{name}") for name in names}}

    def _kernel(self, value: Value, who: str) -> Any:
        own = value.get_params(deep=False)
        params = {name: self.encode(part, f"{who}: {type(value).__name__}.{name}") for name, part in own.items()}
        return {"@kernel": type(value).__name__, "params": params}

    def _certificate(self, value: Certificate, who: str) -> Any:
        return {"@certificate": self._claims(value, who)}

    def _claims(self, value: Any, who: str) -> Any:
        """Return the plain form of a certificate, but numbers in bulk as arrays."""
        body = value.to_dict()
        for field in dataclasses.fields(value):
            part = getattr(value, field.name)
            if isinstance(part, Certificate):
                body[field.name] = self._claims(part, who)
            elif isinstance(part, tuple) and any(isinstance(one, Certificate) for one in part):
                body[field.name] = [self._claims(one, who) for one in part]
            elif isinstance(part, np.ndarray) and part.dtype.kind in "biuf":
                body[field.name] = {"@array": self._reference(part, who)}
        return body

    def _random_state(self, value: np.random.RandomState, who: str) -> Any:
        kind, keys, place, has_gauss, gauss = value.get_state(legacy=True)
        if kind != "MT19937":
            msg = f"{who} is a RandomState of {kind}, which a model file cannot hold: use a seed"
            raise ModelFileError(msg)
        return {"@random": self._reference(keys, who), "place": int(place), "gauss": [int(has_gauss), float(gauss)]}


def is_free(name: str, owner: Any) -> bool:
    """Tell whether a name can be that of a learnt attribute that the table does not list: nothing of the class is called so."""
    return name.isidentifier() and name.endswith("_") and not name.startswith("_") and not hasattr(type(owner), name)
