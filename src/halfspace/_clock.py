"""The deadline of the command at hand, for steps below the models: reading and encoding tables of very many columns.

A command with a time limit sets it. Reading predicts its seconds from the number of columns before it begins, and looks at the
clock from column to column, as does encoding; what is late ends in one sentence.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["in_time", "seconds_left", "until"]

FEW = 1000
"""Columns that are always read and encoded: that takes no time."""

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def until(deadline: float | None) -> Iterator[None]:
    """Set the deadline of everything inside, on the clock of `time.perf_counter`; None for no limit."""
    token = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(token)


def seconds_left() -> float | None:
    """Return the seconds until the deadline, None if there is none."""
    deadline = _deadline.get()
    return None if deadline is None else deadline - time.perf_counter()


def in_time(done: int, count: int) -> None:
    """Refuse to go on to the next of `count` columns, of more than FEW, if the deadline has passed.

    Examples
    --------
    >>> with until(time.perf_counter() - 1.0):
    ...     in_time(5, 2000)
    Traceback (most recent call last):
    ...
    halfspace.errors.InputError: The time limit was reached at column 5 of 2,000: raise it, or leave columns out.
    """
    left = seconds_left() if count > FEW else None
    if left is not None and left <= 0.0:
        from halfspace.errors import InputError  # noqa: PLC0415  (the command line must not load scikit-learn for its help)

        msg = f"The time limit was reached at column {done:,} of {count:,}: raise it, or leave columns out."
        raise InputError(msg)
