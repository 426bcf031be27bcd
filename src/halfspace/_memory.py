"""The admission rule: the bytes of a step are predicted from shapes and types before anything is allocated.

Limit     `max_memory`; by default the smaller of a quarter of the machine's memory and max(2 GB, 20 times the input's bytes).
          It depends on the machine and on the input, never on what else is running.
Rule      A step is admitted if its bytes fit the limit beside OVERHEAD, which stands for Python and its libraries. What is
          not admitted goes another way (blocks, one class at a time, a sample) or ends in `MemoryLimitError`: one sentence
          with the number and a remedy.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

from halfspace.errors import InputError, MemoryLimitError

__all__ = ["OVERHEAD", "admit", "bytes_of", "limit_of", "memory_limit", "parsed", "room", "size"]

LEAST = 2 * 10**9
TIMES = 20
OVERHEAD = 5 * 10**8
"""Bytes of Python, its libraries and what they compile: measured at 300 to 450 MB."""
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
TEXT = re.compile(r"\s*(\d+\.?\d*|\.\d+)\s*([a-z]*)\s*", re.IGNORECASE)
GROUP = Path("/sys/fs/cgroup/memory.max")

_in_force: ContextVar[int | None] = ContextVar("memory_limit", default=None)


@cache
def machine() -> int:
    """Return the bytes of memory that this machine has, or that its container may use."""
    found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 1 << 33
    with suppress(OSError, ValueError):
        found = min(found, int(GROUP.read_text()))
    return found


def parsed(value: Any) -> int:
    """Return a number of bytes, given as such or as text with a unit.

    Examples
    --------
    >>> parsed("2GB"), parsed("1.5 GiB"), parsed(10_000_000)
    (2000000000, 1610612736, 10000000)
    """
    found = TEXT.fullmatch(value) if isinstance(value, str) else None
    if found is not None and found[2].upper() in UNITS:
        number = float(found[1]) * UNITS[found[2].upper()]
    else:
        number = value if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
    if not 1e6 <= number <= 1e18:
        msg = f"'max_memory' must be a number of bytes, at least 1e6, or text such as '2GB' or '500 MB'. Got {value!r} instead."
        raise InputError(msg)
    return int(number)


def size(n_bytes: float) -> str:
    """Return a number of bytes for people.

    Examples
    --------
    >>> size(2e9), size(123_456_789), size(1.5e13)
    ('2 GB', '123 MB', '15,000 GB')
    """
    return f"{n_bytes / 1e6:,.0f} MB" if n_bytes < 1e9 else f"{n_bytes / 1e9:,.1f}".removesuffix(".0") + " GB"


def bytes_of(*values: Any) -> int:
    """Return the bytes that arrays, sparse matrices and tables hold; what does not say counts as nothing."""
    total = 0
    for value in values:
        if hasattr(value, "indptr"):
            total += bytes_of(value.data, value.indices, value.indptr)
        elif hasattr(value, "memory_usage"):  # pandas
            total += int(value.memory_usage(index=False).sum())
        else:
            total += int(getattr(value, "nbytes", 0))
    return total


def limit_of(max_memory: Any = None, n_bytes: int = 0) -> int:
    """Return the limit in bytes: as given, or the default for an input of so many bytes."""
    return parsed(max_memory) if max_memory is not None else min(machine() // 4, max(LEAST, TIMES * n_bytes))


@contextmanager
def memory_limit(max_memory: Any = None, n_bytes: int = 0) -> Iterator[int]:
    """Set the memory limit of everything that is fitted inside.

    Every estimator predicts the bytes it will need, and refuses in one sentence what does not fit. Without this, the limit is
    the smaller of a quarter of the machine's memory and max(2 GB, 20 times the bytes of the data).

    Parameters
    ----------
    max_memory : int, float or str, optional
        Bytes, or text such as "2GB". If it is left out, a limit that is in force already stays.
    n_bytes : int, default 0
        Bytes of the input, which the default grows with.

    Yields
    ------
    int
        The limit in bytes.

    Examples
    --------
    >>> import halfspace as hs
    >>> with hs.memory_limit("8GB") as limit:
    ...     limit
    8000000000
    """
    before = _in_force.get()
    limit = before if before is not None and max_memory is None else limit_of(max_memory, n_bytes)
    token = _in_force.set(limit)
    try:
        yield limit
    finally:
        _in_force.reset(token)


def _limit(inputs: tuple[Any, ...]) -> int:
    """Return the limit in force, or the default for these inputs."""
    limit = _in_force.get()
    return limit_of(None, bytes_of(*inputs)) if limit is None else limit


def room(*inputs: Any) -> int:
    """Return the bytes that a step may take: of the limit in force, or of the default for these inputs."""
    return max(_limit(inputs) - OVERHEAD, 0)


def admit(who: str, needed: float, what: str, remedy: str, *inputs: Any) -> None:
    """Refuse a step that needs more bytes than there is room for.

    Parameters
    ----------
    who, what, remedy : str
        For the sentence: whose step it is, what the bytes are for, and what to do other than to raise the limit.
    needed : float
        Bytes of the step, predicted.
    *inputs : arrays or tables
        What the default limit depends on.
    """
    if needed > room(*inputs):
        msg = (
            f"{who}: {what} would need about {size(needed)}, but the memory limit of {size(_limit(inputs))} leaves "
            f"{size(room(*inputs))}; {remedy}, or raise the limit (max_memory)."
        )
        raise MemoryLimitError(msg)
