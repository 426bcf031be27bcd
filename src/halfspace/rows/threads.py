"""Work shared among threads: the answer never depends on how many there are.

Passes over data are cut into pieces by the problem, and the threads of one pool, shared by all, do them: `in_chunks` for ranges
of rows, `each` for pieces of a fixed size. Whole problems get threads of their own, because they wait for passes:
`side_by_side` for many, `beside` for one. A thread of the shared pool waits for no other thread: whatever its work asks for,
passes or whole problems, is done where it is. So the pool always gets on with its work, and nothing can wait for itself.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any, TypeVar

import numpy as np
from joblib import cpu_count, effective_n_jobs
from threadpoolctl import ThreadpoolController

__all__ = [
    "CHUNK_ENTRIES",
    "alone",
    "beside",
    "each",
    "in_chunks",
    "libraries",
    "n_threads",
    "n_workers",
    "one_blas_thread",
    "side_by_side",
]

T = TypeVar("T")

CHUNK_ENTRIES = 1 << 20
"""Entries of a piece of work for a thread; a pass over less is done at once."""


class _Here(threading.local):
    """Whether passes of this thread are to use no others, and whether it is one of the shared pool."""

    alone = False
    pooled = False


def _join_pool() -> None:
    _here.alone = _here.pooled = True


_here = _Here()


@cache
def _cores() -> int:
    """Return how many cores there are; to ask takes a quarter of a millisecond, so it is done once."""
    return int(cpu_count())


@cache
def pool() -> ThreadPoolExecutor:
    """Return the threads that all passes share."""
    return ThreadPoolExecutor(_cores(), initializer=_join_pool)


os.register_at_fork(after_in_child=pool.cache_clear)  # threads do not survive a fork


@contextmanager
def alone() -> Iterator[None]:
    """Do all passes in this thread: where problems are solved side by side, each has a core already."""
    before, _here.alone = _here.alone, True
    try:
        yield
    finally:
        _here.alone = before


def n_threads() -> int:
    """Return how many threads share a pass over data that is made from here."""
    return 1 if _here.alone else _cores()


def in_chunks(work: Callable[[int, int], Any], n: int, entries: float) -> list[Any]:
    """Call `work(start, stop)` on ranges that cover 0..n, in threads if there are many entries; results in row order.

    The cuts depend on the data alone, never on the number of threads.
    """
    if n * entries < 2 * CHUNK_ENTRIES:
        return [work(0, n)]
    chunks = min(int(n * entries / CHUNK_ENTRIES), 16)
    cuts = np.linspace(0, n, chunks + 1).astype(np.int64).tolist()
    return list((map if _here.alone else pool().map)(work, cuts[:-1], cuts[1:]))


def each(work: Callable[[int], None], n: int, step: int, size: int) -> None:
    """Call `work(first)` for pieces of 0..n, in threads if there is enough to do."""
    starts = range(0, n, step)
    if size < 1 << 21 or len(starts) == 1 or _here.alone:
        for first in starts:
            work(first)
    else:
        list(pool().map(work, starts))


def n_workers(n_jobs: int | None, count: int) -> int:
    """Return how many threads work on `count` problems; `n_jobs` as in scikit-learn, with None for all cores."""
    return 1 if count <= 1 else max(1, min(effective_n_jobs(-1 if n_jobs is None else n_jobs), count))


def side_by_side(
    work: Callable[..., T], items: Iterable[Any], n_jobs: int | None, stop: Callable[[], None] | None = None
) -> list[T]:
    """Call `work(item)` for each item, in at most `n_jobs` threads of their own; results in the order of the items.

    Ctrl-C, or an error in one of them, is raised once all have ended: `stop` is called at once, to tell those under way to
    end early; without it those that have not begun never do.

    Examples
    --------
    >>> side_by_side(lambda k: k * k, range(3), n_jobs=2)
    [0, 1, 4]
    """
    items = list(items)
    workers = n_workers(n_jobs, len(items))
    if workers == 1 or _here.pooled:
        return [work(item) for item in items]
    with ThreadPoolExecutor(workers) as own:
        try:
            waiting = [own.submit(work, item) for item in items]
            return [future.result() for future in waiting]
        except BaseException:
            if stop is None:
                own.shutdown(wait=False, cancel_futures=True)
            else:
                stop()
            raise


def beside(work: Callable[..., T], *arguments: Any, small: bool = False) -> Future[T]:
    """Begin `work(*arguments)` in a thread of its own; `result()` waits for it. A thread of the pool does it at once.

    So does every thread if the work is small: to start a thread takes longer. Work that nobody waits for any more does not
    keep the program from ending.
    """
    future: Future[T] = Future()

    def answer() -> None:
        try:
            future.set_result(work(*arguments))
        except BaseException as error:  # noqa: BLE001  (raised where the result is asked for)
            future.set_exception(error)

    if small or _here.pooled:
        answer()
    else:
        threading.Thread(target=answer, daemon=True).start()
    return future


@cache
def libraries() -> ThreadpoolController:
    """Return the libraries with threads of their own; finding them takes milliseconds, so it is done once."""
    return ThreadpoolController()


@cache
def _blas() -> list[Any]:
    """Return the BLAS libraries, found once: to ask one for its threads, or to set them, takes microseconds."""
    return [library for library in libraries().lib_controllers if library.user_api == "blas"]


class _OneThread:
    """BLAS in one thread for as long as anyone wants that: the first who does sets it, the last one gives the threads back."""

    def __init__(self) -> None:
        self.lock, self.callers = threading.Lock(), 0
        self.before: list[tuple[Any, int]] = []

    def __enter__(self) -> None:
        with self.lock:
            self.callers += 1
            if self.callers == 1:
                self.before = [(library, count) for library in _blas() if (count := library.get_num_threads()) != 1]
                for library, _ in self.before:
                    library.set_num_threads(1)

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.callers -= 1
            if self.callers == 0:
                for library, count in self.before:
                    library.set_num_threads(count)


_one_thread = _OneThread()


def one_blas_thread() -> AbstractContextManager[None]:
    """Run BLAS in the calling thread alone, inside of a `with`.

    Its threads wait for each other by spinning: on small matrices, or beside another busy process, that costs up to ten times
    the work itself. And a sum then does not depend on the number of cores.
    """
    return _one_thread
