"""Numba's options of a compilation, compared quickly.

While it infers types, Numba looks each call up in tables whose keys hold all options in force, and compares these one by one,
through properties: up to a third of the time of a compilation. Here what was set is compared, in one step.
Nothing promises that these classes of Numba stay as they are: where something is missing, all goes on as without.
"""

from typing import Any

from numba.core.compiler import Flags

__all__ = ["QuickFlags", "compared_quickly"]

HASH = hash(Flags())
"""Numba's hash, which is that of the names of all options, whatever their values."""


class QuickFlags(Flags):
    """Options that are equal if the same were set to the same values; to others Numba compares them."""

    __slots__ = ()

    def __hash__(self) -> int:
        return HASH

    def __eq__(self, other: object) -> bool:
        return bool(self._values == other._values if type(other) is QuickFlags else super().__eq__(other))


def compared_quickly(dispatcher: Any) -> None:
    """Have what a dispatcher compiles use such options."""
    compiler = getattr(dispatcher, "_compiler", None)
    if hasattr(compiler, "_customize_flags") and hasattr(Flags(), "_values"):
        compiler._customize_flags = QuickFlags  # type: ignore[union-attr]  # noqa: SLF001  (guarded above)
