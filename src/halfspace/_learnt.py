"""What a class learns, declared where the class is written, so that model files need no table of their own."""

from functools import cache
from types import CellType, FunctionType
from typing import Any, ClassVar

__all__ = ["Learnt"]


class Learnt:
    """A class whose objects can be written to model files.

    `learnt` says what each learnt attribute must be, in the language of `halfspace.certificates.fields`; a name that begins
    with ? may be missing, and a subclass adds to what its bases declare. Nothing else has to be registered.

    Examples
    --------
    >>> class Threshold(Learnt):
    ...     learnt = {"threshold_": "number"}
    >>> class Named(Threshold):
    ...     learnt = {"?name_": "str"}
    >>> Named.declared()
    {'threshold_': 'number', '?name_': 'str'}
    """

    kinds: ClassVar[dict[str, type["Learnt"]]] = {}
    learnt: ClassVar[dict[str, Any]] = {}
    left_out: ClassVar[frozenset[str]] = frozenset()
    """Attributes that are not written: caches, and parameters that are functions, which are None after loading."""
    made_late: ClassVar[tuple[str, ...]] = ("certificate_",)
    """Attributes that may be made when first asked for: they are before a model is written."""
    needs: ClassVar[dict[str, tuple[str, ...]]] = {}
    """Attributes that may be missing, and what else must be there if they are."""
    earlier: ClassVar[dict[str, Any]] = {}
    """Parameters that files written earlier lack, and the values that do what was done then."""
    learns_more: ClassVar[bool] = False
    """Whether other plain attributes whose names end in _ may come along."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        Learnt.kinds[cls.__name__] = cls
        for name, method in _inherited(cls).items():
            setattr(cls, name, _renamed(method, f"{cls.__qualname__}.{name}"))

    @classmethod
    def declared(cls) -> dict[str, Any]:
        """Return what the class and its bases declare; the nearest declaration of a name counts."""
        kind: Any = cls  # mypy does not know that a class can be hashed
        return dict(_declared(kind))

    @classmethod
    def sizes(cls, fitted: dict[str, Any]) -> dict[str, int]:
        """Return what letters of the declaration stand for: c classes, K two-class problems, d features."""
        found: dict[str, int] = {}
        if getattr(fitted.get("classes_"), "ndim", None) == 1:
            c = fitted["classes_"].size
            found.update(c=c, K=1 if c == 2 else c)
        if type(fitted.get("n_features_in_")) is int:
            found["d"] = fitted["n_features_in_"]
        return found

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Raise ValueError if parts read from a file do not fit together in a way that `learnt` cannot say.

        Parameters
        ----------
        fitted : dict
            The learnt attributes, each as declared.
        sizes : dict
            What the letters of the declaration stand for.
        """


@cache
def _declared(cls: type) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        for name, spec in vars(base).get("learnt", {}).items():
            found.pop(name.removeprefix("?"), None)
            found.pop(f"?{name.removeprefix('?')}", None)
            found[name] = spec
    return found


def _inherited(cls: type) -> dict[str, FunctionType]:
    """Return the public methods that a class has from others of this package."""
    found = {}
    for name in dir(cls):
        method = vars(cls).get(name) or next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
        own = name.startswith("_") or name in vars(cls) or not isinstance(method, FunctionType)
        if not own and isinstance(method, FunctionType) and method.__module__.startswith("halfspace."):
            found[name] = method
    return found


def _renamed(method: FunctionType, name: str) -> FunctionType:
    """Return a method under another name, which Python says where arguments do not fit: not that of an internal base class."""
    cells = tuple(
        CellType(_renamed(cell.cell_contents, name)) if cell.cell_contents is getattr(method, "__wrapped__", method) else cell
        for cell in method.__closure__ or ()
    )
    copy = FunctionType(method.__code__, method.__globals__, method.__name__, method.__defaults__, cells or None)
    copy.__kwdefaults__, copy.__qualname__ = method.__kwdefaults__, name
    vars(copy).update(vars(method))
    copy.__doc__, copy.__annotations__, copy.__module__ = method.__doc__, method.__annotations__, method.__module__
    return copy
