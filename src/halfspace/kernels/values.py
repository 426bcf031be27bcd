"""What makes a kernel a value: parameters by name, equality by value, a plain form for files."""

from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from halfspace._text import plain
from halfspace.errors import InputError

__all__ = ["Value", "from_dict", "frozen"]


_names: Callable[[Any], tuple[str, ...]] = cache(lambda kind: tuple(f.name for f in fields(kind) if f.init))
"""Names of the parameters of a class of values."""


class Value:
    """An immutable record: subclasses are frozen dataclasses, found by name in `kinds`."""

    kinds: ClassVar[dict[str, Callable[..., Any]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        Value.kinds[cls.__name__] = cls

    def parts(self) -> dict[str, Any]:
        """Return the values this one is made of, by parameter name."""
        return {name: value for name in _names(type(self)) if isinstance(value := getattr(self, name), Value)}

    def get_params(self, *, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; `deep` adds those of the parts as `part__name`."""
        own = {name: getattr(self, name) for name in _names(type(self))}
        if not deep:
            return own
        return {**own, **{f"{name}__{key}": v for name, p in self.parts().items() for key, v in p.get_params().items()}}

    def with_params(self, **params: Any) -> Self:
        """Return a new value with some parameters changed; `left__gamma=2.0` changes a part."""
        own = self.get_params(deep=False)
        changed: dict[str, Any] = {}
        nested: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            name, _, rest = key.partition("__")
            if name not in own or (rest and not isinstance(params.get(name, own[name]), Value)):
                msg = f"{type(self).__name__} has no parameter {key!r}; it has: {', '.join(sorted(self.get_params()))}"
                raise InputError(msg)
            if rest:
                nested.setdefault(name, {})[rest] = value
            else:
                changed[name] = value
        for name, inside in nested.items():
            changed[name] = changed.get(name, own[name]).with_params(**inside)
        return replace(self, **changed)  # type: ignore[type-var]

    def set_params(self, **params: Any) -> Self:
        """Return this value; it cannot change, so any parameter is refused."""
        if params:
            given = ", ".join(f"{name}=..." for name in params)
            msg = f"{type(self).__name__} is an immutable value; with_params({given}) returns a new one, changed"
            raise TypeError(msg)
        return self

    def __sklearn_clone__(self) -> Self:
        """Return this value itself: what cannot change needs no copy."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the value as plain numbers, strings, lists and dictionaries, every float exact."""
        own, who = self.get_params(deep=False), type(self).__name__
        return {"kind": who, **{name: _plain(value, f"{who}.{name}") for name, value in own.items()}}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and type(self) is type(other) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        """Return what equality and hash are made of."""
        return (type(self).__name__, *(_comparable(value) for value in self.get_params(deep=False).values()))


def frozen(X: Any) -> Any:
    """Return a copy of an array or CSR matrix that cannot be written to."""
    if sparse.issparse(X):
        copy = sparse.csr_array(X, copy=True)
        copy.sum_duplicates()  # which nobody can do later
        for buffer in (copy.data, copy.indices, copy.indptr):
            buffer.flags.writeable = False
        return copy
    array = np.array(X)
    array.flags.writeable = False
    return array


def _comparable(value: Any) -> Any:
    """Return a parameter in a form that compares and hashes by value."""
    if sparse.issparse(value):
        return (value.shape, *(_comparable(buffer) for buffer in (value.data, value.indices, value.indptr)))
    if isinstance(value, np.ndarray):
        return (value.shape, value.dtype.str, value.tobytes())
    if isinstance(value, list | tuple):
        return tuple(_comparable(v) for v in value)
    return value


def _plain(value: Any, who: str) -> Any:
    """Turn a parameter into what JSON can hold."""

    def refuse(value: Any) -> None:
        msg = f"{who} is {value!r}, which cannot be written to a file: numbers and kernels can"
        raise InputError(msg)

    return plain(value, _RULES, refuse)


def _csr(value: Any) -> dict[str, Any]:
    """Return the buffers of a CSR matrix."""
    return {"csr": {name: _array(getattr(value, name)) for name in ("data", "indices", "indptr")}, "shape": list(value.shape)}


def _array(value: Any) -> dict[str, Any]:
    """Return the numbers of an array, their type and its shape."""
    return {"array": value.ravel().tolist(), "dtype": value.dtype.str, "shape": list(value.shape)}


_RULES: dict[Any, Callable[[Any], Any]] = {
    Value: lambda value: value.to_dict(),
    sparse.sparray: _csr,
    sparse.spmatrix: _csr,
    np.ndarray: _array,
    float: float,  # infinity stays
}


def _revived(value: Any) -> Any:
    """Undo `_plain`."""
    if isinstance(value, list):
        return tuple(_revived(v) for v in value)
    if not isinstance(value, dict):
        return value
    if "csr" in value:
        buffers = tuple(_revived(value["csr"][name]) for name in ("data", "indices", "indptr"))
        return sparse.csr_array(buffers, shape=tuple(value["shape"]))
    if "array" in value:
        return np.array(value["array"], dtype=np.dtype(value["dtype"])).reshape(value["shape"])
    return from_dict(value)


def from_dict(body: dict[str, Any]) -> Any:
    """Rebuild a kernel from its plain form.

    Parameters
    ----------
    body : dict
        What `Kernel.to_dict` returned, perhaps after a trip through JSON.

    Returns
    -------
    Kernel
        An equal kernel, every number bit-equal.

    Examples
    --------
    >>> from halfspace.kernels import Linear, RBF
    >>> from_dict((RBF(0.5) + Linear()).to_dict()) == RBF(0.5) + Linear()
    True
    """
    kind = body.get("kind") if isinstance(body, dict) else body
    if not isinstance(kind, str) or kind not in Value.kinds:
        msg = f"from_dict: a kernel of a known kind expected, got {kind!r}; there are: {', '.join(sorted(Value.kinds))}"
        raise InputError(msg)
    try:
        return Value.kinds[kind](**{name: _revived(value) for name, value in body.items() if name != "kind"})
    except InputError:
        raise
    except (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
        msg = f"from_dict: this {kind} is damaged, write it again with to_dict: {error}"
        raise InputError(msg) from error
