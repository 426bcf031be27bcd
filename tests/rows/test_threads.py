"""Work shared among threads."""

import threading

import numpy as np
import pytest

from halfspace.rows import threads


def test_a_pass_within_a_pass_does_not_wait_for_its_own_threads():
    """More passes than threads, each of which makes a pass of its own, come to an end."""

    def outer(start, stop):
        return sum(threads.in_chunks(lambda a, b: b - a, stop - start, 1 << 21))

    assert sum(threads.in_chunks(outer, 1000, 1 << 21)) == 1000


def in_time(work):
    """Do some work in a thread, and fail if it does not end."""
    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    worker.join(60)
    assert not worker.is_alive(), "work in the pool waits for itself"


@pytest.mark.parametrize("inner", ["in_chunks", "each", "side_by_side", "beside"])
def test_work_in_the_pool_waits_for_no_other_thread(inner):
    """Whatever a thread of the pool asks for, with as much of it as there are threads and more, is done by that thread."""
    seen, ended = [], []
    count = lambda *_: seen.append(threading.get_ident())  # noqa: E731
    ask = {
        "in_chunks": lambda: threads.in_chunks(count, 100, 1 << 21),
        "each": lambda: threads.each(count, 100, 1, 1 << 30),
        "side_by_side": lambda: threads.side_by_side(count, range(5), 5),
        "beside": lambda: threads.beside(threads.in_chunks, count, 100, 1 << 21).result(),
    }[inner]

    def outer(_):
        here = len(seen)
        ask()
        ended.append(threading.get_ident() in seen[here:])

    in_time(lambda: threads.each(outer, 40, 1, 1 << 30))
    assert ended == [True] * 40
    assert set(seen) <= {thread.ident for thread in threads.pool()._threads}


def test_alone_keeps_passes_in_the_calling_thread():
    """Within `alone`, nested or not, no other thread does any work."""
    seen = set()
    with threads.alone():
        with threads.alone():
            pass
        threads.in_chunks(lambda *_: seen.add(threading.get_ident()), 100, 1 << 21)
        threads.each(lambda _: seen.add(threading.get_ident()), 100, 1, 1 << 30)
    assert seen == {threading.get_ident()}


@pytest.mark.parametrize("jobs", [1, 3])
def test_results_side_by_side_come_in_order(jobs):
    """Results are in the order of the items, however many threads there are."""
    assert threads.side_by_side(np.square, range(5), jobs) == [0, 1, 4, 9, 16]
    assert threads.side_by_side(np.square, [], jobs) == []


def test_an_error_side_by_side_stops_the_others_and_is_raised():
    """The first error tells the others to stop, and arrives once they have."""
    stop, ended = threading.Event(), []

    def work(k):
        if k == 0:
            raise RuntimeError("no")
        stop.wait(10)
        ended.append(k)

    with pytest.raises(RuntimeError, match="no"):
        threads.side_by_side(work, range(2), 2, stop.set)
    assert stop.is_set()
    assert ended == [1]
    with pytest.raises(RuntimeError, match="no"):
        threads.side_by_side(work, range(2), 2)
