"""The loop around the online rules of prototypes: epochs, budgets, Ctrl-C, and what is kept when something goes wrong."""

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from halfspace._typing import FloatArray
from halfspace.solvers.outcome import Reason
from halfspace.solvers.prototypes.glvq import Book
from halfspace.solvers.run import Budget

__all__ = ["FAR", "Course", "End", "is_sound", "learn_online", "shift"]

FAR = 1e6
"""A prototype this many times as far out as the longest row, or the first prototypes, has diverged."""


class Course(NamedTuple):
    """One finished epoch: errors when shown, share by which the prototypes moved, seconds since the start."""

    errors: int
    moved: float
    seconds: float


class End(NamedTuple):
    """The end of a run."""

    book: Book
    reason: Reason
    course: list[Course]


def shift(before: FloatArray, after: FloatArray) -> float:
    """Return how far prototypes moved, as a share of their spread: root mean squares.

    Examples
    --------
    >>> shift(np.array([[-1.0], [1.0]]), np.array([[-1.5], [1.5]]))
    0.5
    """
    spread = float(np.square(before - before.mean(axis=0)).sum())
    return float(np.sqrt(np.square(after - before).sum() / spread)) if spread > 0.0 else np.inf


def learn_online(
    show: Callable[[int, Book], Iterator[tuple[Book, int]]],
    book: Book,
    budget: Budget,
    tol: float,
    watch: Callable[[Book, int, Course], bool],
) -> End:
    """Run epochs until the prototypes rest, a budget is spent, `watch` says so, or the user interrupts.

    Parameters
    ----------
    show : callable
        `show(epoch, book)` presents all rows once, in pieces, and yields after each the book and the errors so far.
    book : Book
        The start.
    budget : Budget
        Limits on epochs and time.
    tol : float
        An epoch that moves the prototypes by no more than this share of their spread is the last.
    watch : callable
        Called after each epoch with the book, the number of epochs and the course of the last; True ends the run.

    Returns
    -------
    End
        The last book; where prototypes ran away, the book before that epoch.

    Examples
    --------
    >>> book = Book(np.array([[0.0], [1.0]]), np.array([0, 1]), np.ones(1), np.zeros(3))
    >>> learn_online(lambda epoch, book: iter([(book, 0)]), book, Budget(5), 0.0, lambda *_: False).reason
    'converged'
    """
    began, last, now = time.perf_counter(), book, book
    course: list[Course] = []
    limit = FAR * (1.0 + float(np.abs(book.W).max()))
    reason: Reason = "passes done"
    try:
        for epoch in range(budget.max_iter):
            last, errors = now, 0
            for piece in show(epoch, last):
                now, errors = piece
                if budget.max_time is not None and time.perf_counter() - began > budget.max_time:
                    reason = "time budget spent"
                    break
            if not is_sound(now, limit):
                return End(last, "diverged", course)
            if reason == "time budget spent":
                break
            course.append(Course(errors, shift(last.W, now.W), time.perf_counter() - began))
            if watch(now, epoch + 1, course[-1]):
                reason = "stopped by callback"
                break
            if course[-1].moved <= tol:
                reason = "converged"
                break
    except KeyboardInterrupt:
        return End(now if is_sound(now, limit) else last, "interrupted", course)
    return End(now, reason, course)


def is_sound(book: Book, limit: float) -> bool:
    """Tell whether all numbers are finite and no prototype lies beyond a limit; NaN fails the comparison.

    Examples
    --------
    >>> is_sound(Book(np.array([[np.nan]]), np.array([0]), np.ones(1), np.zeros(3)), 1.0)
    False
    """
    return bool(np.abs(book.W).max() <= limit) and bool(np.isfinite(book.omega).all())
