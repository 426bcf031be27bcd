"""Presenting rows to prototypes by any of the online rules: Kohonen's, or the gradient of generalised LVQ."""

from typing import Any

import numpy as np

from halfspace._typing import FloatArray, IntArray, View
from halfspace.rows.operations import gathered
from halfspace.rows.views import n_columns
from halfspace.solvers.prototypes.glvq import Book, Rates
from halfspace.solvers.prototypes.glvq_online import learn, opened
from halfspace.solvers.prototypes.gmlvq_online import closed_matrix, learn_matrix, opened_matrix
from halfspace.solvers.prototypes.kohonen import learn_kohonen

__all__ = ["present_rows"]

BLOCK = 512
"""Rows copied at a time, into the same memory: fresh pages would cost more than the copy."""


def present_rows(rule: Any, book: Book, X: View, order: IntArray, target: IntArray, s: FloatArray) -> tuple[Book, int]:
    """Present rows in an order; return the book after them, and how many were classified wrongly when shown.

    Parameters
    ----------
    rule : Rates, or a pair of one of Kohonen's rules and its rate
        What a presentation does.
    book : Book
        Prototypes, sorted by class, and metric; left as it is.
    X : View
        The rows, shape (n, d).
    order : ndarray, shape (m,)
        Which rows, in which order.
    target, s : ndarray, shape (n,)
        Class numbers of all rows, and weights of their steps.

    Examples
    --------
    >>> from halfspace.solvers.prototypes.kohonen import LVQ1
    >>> book = Book(np.array([[0.0], [4.0]]), np.array([0, 1]), np.ones(1), np.zeros(3))
    >>> rows, target = np.array([[1.0], [3.0]]), np.array([0, 0])
    >>> after, wrong = present_rows((LVQ1(), 0.5), book, rows, np.arange(2), target, np.ones(2))
    >>> after.W.tolist(), wrong
    ([[0.5], [4.5]], 1)
    """
    cuts = [order[first : first + BLOCK] for first in range(0, order.size, BLOCK)]
    room = np.empty((min(BLOCK, order.size), n_columns(X)))
    blocks = ((gathered(X, rows, room), target[rows], s[rows]) for rows in cuts)
    if not isinstance(rule, Rates):
        (kohonen, rate), W = rule, book.W.copy()
        wrong = sum(learn_kohonen(rows, c, rate * weight, W, book.labels, kohonen) for rows, c, weight in blocks)
        return book._replace(W=W), int(wrong)
    if book.omega.ndim == 2:
        matrix = opened_matrix(book)
        wrong = sum(learn_matrix(*block, matrix, rule) for block in blocks)
        return closed_matrix(matrix, book), int(wrong)
    after = opened(book)
    wrong = sum(learn(*block, after, rule) for block in blocks)
    return Book(after.W, book.labels, after.omega, after.tally), int(wrong)
