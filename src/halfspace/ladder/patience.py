"""Moments in which Ctrl-C must wait: the climb is done, and a second more saves its result."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["undisturbed"]


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ignore Ctrl-C inside, in the main thread of a program whose handler is Python's to change.

    Examples
    --------
    >>> with undisturbed():
    ...     signal.raise_signal(signal.SIGINT)
    """
    before = signal.getsignal(signal.SIGINT)
    if before is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
