"""Open functions: one name, one implementation per value type, in Python and in compiled code alike.

A view, a rule or a memory is a NamedTuple; `dot`, `strengthen` or `remember` is an open function of it::

    @open_function
    def dot(X, i, w): ...

    @dot.register(CSR)
    def _(X, i, w): ...

Compiled code resolves the call by type at compile time, at no cost, and (unlike jitclasses and function arguments) a new
process finds the result in Numba's on-disk cache. Plain Python looks the type up in a table, so with the JIT switched off
the very same code runs under a debugger and under coverage.

The sums in the implementations may be reordered (they feed solvers); certificates therefore never call them.
"""

import functools
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numba import njit, types
from numba.core import event
from numba.core.typing.templates import builtin_registry
from numba.extending import overload

from halfspace._collector import pause, resume
from halfspace._flags import compared_quickly
from halfspace._linking import linked

__all__ = [
    "LateCompilationError",
    "OpenFunction",
    "compiled",
    "compiled_and_inside",
    "compiled_and_inside_as_written",
    "compiled_as_written",
    "compiled_inside",
    "compiled_inside_as_written",
    "compiled_inside_exactly",
    "compiling_until",
    "hearing_compilations",
    "only_inlined",
    "open_function",
]

REORDER = {"reassoc", "contract", "nsz", "arcp"}
"""Reordering and fused multiply-add, but NaN and infinity keep their meaning."""

AS_WRITTEN = {"contract", "nnan", "ninf", "nsz", "arcp"}
"""Fused multiply-add, but every sum in the order written: for tricks that rounding makes work."""

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
"""No wrapper for C, which nobody here calls."""

LINKED = linked()
"""How what compiled functions alone call becomes a part of its callers."""

COMPILING = 5.0
"""Seconds that compiling a function may well take."""

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile the one way this package does: cached on disk, other threads go on, division by zero gives infinity."""
    return _cached(function, REORDER)


def compiled_as_written(function: F) -> F:
    """Compile likewise, but without leave to reorder sums; NaN and infinity must not occur."""
    return _cached(function, AS_WRITTEN)


def compiled_inside(function: F) -> F:
    """Compile likewise what compiled functions alone call: without an entry from Python, and kept as part of its callers."""
    return _inside(function, REORDER)


def compiled_inside_as_written(function: F) -> F:
    """Compile what compiled functions alone call, without leave to reorder sums."""
    return _inside(function, AS_WRITTEN)


def compiled_and_inside(function: F) -> F:
    """Compile what both Python and compiled functions call: for the latter as a part of themselves, and only so."""
    return _both(function, REORDER)


def compiled_and_inside_as_written(function: F) -> F:
    """Compile what both call, without leave to reorder sums."""
    return _both(function, AS_WRITTEN)


def lean(function: F) -> F:
    """Compile what compiled functions alone call, and what makes no arrays: references to those it is given are not counted.

    Each count is a message to all cores, and takes as long as a pass over a hundred numbers.
    """
    return _inside(function, REORDER, _nrt=False)


def lean_as_written(function: F) -> F:
    """Compile likewise, without leave to reorder sums."""
    return _inside(function, AS_WRITTEN, _nrt=False)


def compiled_inside_exactly(function: F) -> F:
    """Compile what compiled functions alone call, to the bits that Python gives."""
    return _inside(function, set())


def _jit(function: Callable[..., Any], **options: Any) -> Any:
    """Return Numba's dispatcher of a function, or the function itself with the JIT switched off."""
    dispatcher: Any = njit(**options)(function)
    compared_quickly(dispatcher)
    return dispatcher


def _inside(function: F, fastmath: set[str], **more: Any) -> F:
    """Compile for compiled callers; Python, which has no way in, runs the function as it is written."""
    options: dict[str, Any] = {**OPTIONS, "fastmath": fastmath, "no_cpython_wrapper": True, **LINKED, **more}
    dispatcher = _jit(function, **options)
    if dispatcher is not function:  # as it is with the JIT switched off
        dispatcher._insert = lambda *_, **__: None  # noqa: SLF001  (private to Numba: Python would be sent to an address of 0)
        dispatcher._compile_for_args = lambda *_, **__: function  # noqa: SLF001
    return cast("F", dispatcher)


def _both(function: F, fastmath: set[str]) -> F:
    """Compile for Python with a cache on disk; compiled callers are led to a twin that becomes a part of them."""
    dispatcher: Any = _cached(function, fastmath)
    if dispatcher is not function:
        twin: Any = _inside(function, fastmath)
        dispatcher.get_call_template, dispatcher.get_overload = twin.get_call_template, twin.get_overload
    return cast("F", dispatcher)


def _cached(function: F, fastmath: set[str]) -> F:
    """Compile with a cache on disk, or without one where Numba finds no folder for it, or can no longer write there."""
    try:
        dispatcher = _jit(function, cache=True, fastmath=fastmath, **OPTIONS)
    except RuntimeError as error:
        if "cannot cache function" not in str(error):
            raise
        _say_that_nothing_is_kept()
        return cast("F", _jit(function, fastmath=fastmath, **OPTIONS))
    cache: Any = getattr(dispatcher, "_cache", None)  # private to Numba
    if hasattr(cache, "save_overload"):
        cache.save_overload = _saving(cache.save_overload)
    return cast("F", dispatcher)


def _saving(save: Callable[..., None]) -> Callable[..., None]:
    """Return a way to save what was compiled that goes on where it cannot be saved: the disk is full, say."""

    def save_or_go_on(*args: Any) -> None:
        try:
            save(*args)
        except OSError:
            _say_that_nothing_is_kept()

    return save_or_go_on


@functools.cache
def _say_that_nothing_is_kept() -> None:
    """Warn, once in a process."""
    msg = (
        "halfspace cannot keep its compiled code: neither its own folder nor a cache in the home directory can be written, so"
        " every process compiles anew, for some seconds at each first use. Set the environment variable NUMBA_CACHE_DIR to a"
        " folder that can be written."
    )
    warnings.warn(msg, RuntimeWarning, stacklevel=2)


class LateCompilationError(Exception):
    """A function would have to be compiled, and there is no time for it."""


class _Watch(event.Listener):
    """Hears of every function that is about to be compiled, not of those that are found in the cache."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self.tell = tell

    def on_start(self, event: Any) -> None:  # noqa: ARG002  (Numba's name)
        self.tell()

    def on_end(self, event: Any) -> None:
        pass


class _Undisturbed(event.Listener):
    """Lets the collector of cycles rest while a thread compiles or loads, and holds Ctrl-C back while the main thread does.

    Ctrl-C comes as soon as Numba has given its lock back: in the middle of a compilation it would leave LLVM's lock taken for
    ever, so that the next thread to compile never returns, or free memory twice.
    """

    def __init__(self) -> None:
        self.depth, self.pressed = 0, False
        self.handler: Any = None

    def on_start(self, event: Any) -> None:  # noqa: ARG002  (Numba's name)
        pause()
        if threading.current_thread() is not threading.main_thread():
            return
        self.depth += 1
        if self.depth == 1:
            self.handler = signal.getsignal(signal.SIGINT)
            if callable(self.handler):
                signal.signal(signal.SIGINT, self.press)

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        resume()
        if threading.current_thread() is not threading.main_thread():
            return
        self.depth -= 1
        if self.depth or not callable(self.handler):
            return
        signal.signal(signal.SIGINT, self.handler)
        if self.pressed:
            self.pressed = False
            signal.raise_signal(signal.SIGINT)

    def press(self, *_: Any) -> None:
        """Take the place of the handler of Ctrl-C."""
        self.pressed = True


event.register("numba:compiler_lock", _Undisturbed())


@contextmanager
def hearing_compilations(tell: Callable[[], None]) -> Iterator[None]:
    """Call `tell` before each function that is compiled inside; those that an earlier run left on disk are loaded as ever."""
    with event.install_listener("numba:compile", _Watch(tell)):
        yield


@contextmanager
def compiling_until(deadline: float | None) -> Iterator[None]:
    """Refuse to compile inside what may not be ready at the deadline, on the clock of `time.perf_counter`; None: no limit."""
    if deadline is None:
        yield
        return

    def refuse_if_late() -> None:
        if time.perf_counter() + COMPILING > deadline:
            msg = "it would have to be compiled, once and for all, which takes more time than is left"
            raise LateCompilationError(msg)

    with hearing_compilations(refuse_if_late):
        yield


class OpenFunction(Protocol):
    """A function that further types can join by `register`."""

    def __call__(self, *args: Any) -> Any:
        """Call the implementation registered for the type of the deciding argument."""

    def register(self, kind: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Add the implementation for values of type `kind`."""


def _is_kind(numba_type: Any, kind: type) -> bool:
    """Tell whether a Numba type stands for the Python type `kind`."""
    if kind is np.ndarray:
        return isinstance(numba_type, types.Array)
    return isinstance(numba_type, types.BaseNamedTuple) and getattr(numba_type, "instance_class", None) is kind


def only_inlined(chooser: Callable[..., Any]) -> None:
    """Keep Numba from doing work on the implementations a chooser returns that nobody needs: much of the compile time.

    It would compile them also as functions that nobody calls: inlining needs their types alone, and a dispatcher that may not
    compile gives them. And it would infer these types anew at every look at a call, of which there are many: they are kept.
    The attributes are private to Numba: where they are missing, all goes on as without.
    """
    template: Any = builtin_registry.functions[-1]
    private = ("_get_jit_decorator", "generic")
    if getattr(template, "_overload_func", None) is not chooser or not all(hasattr(template, name) for name in private):
        return
    ordinary, infer = template._get_jit_decorator, template.generic  # noqa: SLF001  (guarded above)
    known: dict[Any, Any] = {}

    def decorator(self: Any) -> Callable[..., Any]:
        jit = ordinary(self)

        def prepare(**options: Any) -> Callable[..., Any]:
            def wrap(function: Callable[..., Any]) -> Any:
                dispatcher = jit(**options)(function)
                dispatcher._can_compile = False  # noqa: SLF001  (disable_compile wants it compiled once)
                return dispatcher

            return wrap

        return prepare

    def generic(self: Any, args: Any, kws: Any) -> Any:
        key = (self.context, tuple(args), tuple(kws.items()))
        if key not in known:
            known[key] = infer(self, args, kws)
        return known[key]

    template._get_jit_decorator = decorator  # noqa: SLF001  (guarded above)
    template.generic = generic


def open_function(declaration: Callable[..., Any], otherwise: Callable[..., Any] | None = None) -> OpenFunction:
    """Make an open function of a declaration; the argument named `X`, or else the first, decides.

    Parameters
    ----------
    declaration : callable
        Gives name, arguments and docstring; its body is never run.
    otherwise : callable, optional
        What to do with values of types that nothing is registered for; an error by default.

    Returns
    -------
    OpenFunction
        Callable from Python and from compiled code, with a `register` method.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> class Doubled(NamedTuple):
    ...     value: float
    >>> @open_function
    ... def read(thing): ...
    >>> @read.register(Doubled)
    ... def _(thing):
    ...     return 2 * thing.value
    >>> read(Doubled(21.0))
    42.0
    """
    names = declaration.__code__.co_varnames[: declaration.__code__.co_argcount]
    deciding = names.index("X") if "X" in names else 0
    table: dict[type, Callable[..., Any]] = {}

    @functools.wraps(declaration)
    def call(*args: Any) -> Any:
        kind = type(args[deciding])
        if kind not in table and otherwise is not None:
            return otherwise(*args)
        if kind not in table:
            known = ", ".join(sorted(k.__name__ for k in table))
            msg = f"{declaration.__name__} has no implementation for {kind.__name__}; there are: {known}"
            raise TypeError(msg)
        return table[kind](*args)

    def register(kind: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def add(implementation: Callable[..., Any]) -> Callable[..., Any]:
            table[kind] = implementation
            return implementation

        return add

    # Inlined, so that reference counts of a view's arrays are not touched at every call: up to twice as fast.
    @overload(call, strict=False, inline="always")
    def choose(*args: Any) -> Callable[..., Any] | None:
        return next((table[kind] for kind in table if _is_kind(args[deciding], kind)), otherwise)

    only_inlined(choose)
    call.register = register  # type: ignore[attr-defined]
    return cast("OpenFunction", call)
