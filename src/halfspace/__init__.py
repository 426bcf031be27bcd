"""Perceptrons, large-margin classifiers and their kin, that prove what they claim.

The public names are listed once, in `__init__.pyi`, which type checkers and editors read. Here each is imported when it is
first used, so that a process that only checks a certificate imports no solver.
"""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    name: home
    for line in Path(__file__).with_suffix(".pyi").read_text("utf-8").splitlines()
    for home, name in re.findall(r"^from (\S+) import (\w+)", line)
}
"""The module of each public name."""

__all__ = [*_HOMES]  # noqa: PLE0604  (the names are strings)


def __getattr__(name: str) -> Any:
    """Import a public name from its module."""
    home = _HOMES.get(name)
    if home is None:
        msg = f"module 'halfspace' has no attribute {name!r}"
        raise AttributeError(msg)
    if home == "halfspace":
        return import_module(f"halfspace.{name}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
