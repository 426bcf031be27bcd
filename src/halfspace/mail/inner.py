"""How functions are compiled that only compiled code calls: without an entry from Python, and kept with their callers.

`halfspace._dispatch` does so too, but with leave to reorder sums, or to do without NaN; here sums have the bits of Python.
"""

from collections.abc import Callable
from typing import Any

from numba import njit

__all__ = ["inner"]

_OPTIONS: dict[str, Any] = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def inner(function: Callable[..., Any]) -> Any:
    """Compile for compiled callers; Python, which has no way in, runs the function as it is written."""
    dispatcher: Any = njit(**_OPTIONS)(function)
    if dispatcher is not function:  # as it is with the JIT switched off
        dispatcher._insert = lambda *_, **__: None  # noqa: SLF001  (private to Numba: Python would be sent to an address of 0)
        dispatcher._compile_for_args = lambda *_, **__: function  # noqa: SLF001
    return dispatcher
