"""Work cut into pieces by the problem, done by threads: the answer does not depend on how many there are."""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache

from joblib import cpu_count

__all__ = ["alone", "each", "pool"]


@cache
def pool() -> ThreadPoolExecutor:
    """Return the threads that all passes share."""
    return ThreadPoolExecutor(cpu_count())


class _Here(threading.local):
    """Whether passes of this thread are to use no others."""

    alone = False


_here = _Here()


@contextmanager
def alone() -> Iterator[None]:
    """Do all passes in this thread: where problems are solved side by side, each has a core already."""
    _here.alone = True
    try:
        yield
    finally:
        _here.alone = False


os.register_at_fork(after_in_child=pool.cache_clear)  # threads do not survive a fork


def each(work: Callable[[int], None], n: int, step: int, size: int) -> None:
    """Call `work(first)` for pieces of 0..n, in threads if there is enough to do."""
    starts = range(0, n, step)
    if size < 1 << 21 or len(starts) == 1 or _here.alone:
        for first in starts:
            work(first)
    else:
        list(pool().map(work, starts))
