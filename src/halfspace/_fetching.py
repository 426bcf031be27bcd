"""Asking for memory before it is needed: while one row is computed with, later ones come nearer.

Processors do so by themselves where rows follow each other, but not far enough ahead: told by hand, passes over rows that are
not in cache take half to two thirds of the time.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

__all__ = ["fetch"]


def fetch(array: Any, place: Any) -> None:
    """Ask compiled code's processor for the cache line of an entry, whose place is a number or a tuple of them."""


@intrinsic
def _fetch_line(typing_context: Any, array: Any, place: Any) -> Any:  # noqa: ARG001  (Numba's form)
    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind = signature.args[0]
        places = cgutils.unpack_tuple(builder, values[1]) if isinstance(place, types.BaseTuple) else [values[1]]
        entry = cgutils.get_item_pointer(context, builder, kind, context.make_array(kind)(context, builder, values[0]), places)
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        request = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        called = cgutils.get_or_insert_function(builder.module, request, "llvm.prefetch.p0")
        builder.call(called, [builder.bitcast(entry, byte), number(0), number(3), number(1)])  # to read, to keep, data
        return context.get_dummy_value()

    return types.void(array, place), emit


@overload(fetch, inline="always")
def _fetch(array: Any, place: Any) -> Callable[..., None]:  # noqa: ARG001  (Numba asks for the same names)
    def ask(array: Any, place: Any) -> None:
        _fetch_line(array, place)  # type: ignore[call-arg]  # (Numba gives the first one)

    return ask
