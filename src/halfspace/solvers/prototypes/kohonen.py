"""Kohonen's learning vector quantisation: prototypes are drawn to rows of their class and pushed from others.

Rule       LVQ1    the nearest prototype w:  w += rate (x - w) if it has x's class, else w -= rate (x - w).
           LVQ2.1  of the two nearest, if one has x's class and the other has not, and x lies in the window between them,
                   min(a/b, b/a) > (1 - window) / (1 + window) with a and b the distances (not squared): the first is
                   drawn, the second pushed.
           LVQ3    LVQ2.1; and if both of the two nearest have x's class, both are drawn by epsilon times the rate.
Guarantee  None for a fixed rate: the rules are heuristics without a cost. LVQ2.1 may push prototypes away without end, which
           the fit reports; GLVQ is the rule with a cost.
Ties       Of prototypes equally near, the one that comes first is the nearest.
Reference  Kohonen 1990, "The self-organizing map", sections on LVQ1, LVQ2 and LVQ3; Kohonen, Self-Organizing Maps, chapter 6.
"""

from typing import NamedTuple, Self

import numpy as np

from halfspace._dispatch import compiled, compiled_inside, open_function
from halfspace._typing import FloatArray, IntArray
from halfspace.rows.distances import pull, sqdist
from halfspace.solvers.prototypes.glvq import Book

__all__ = ["LVQ1", "LVQ3", "adapt", "learn_kohonen"]


class LVQ1(NamedTuple):
    """The winner alone moves."""

    rate: float

    def scaled(self, factor: float) -> Self:
        """Return the same rule at a lower rate."""
        return self._replace(rate=factor * self.rate)


class LVQ3(NamedTuple):
    """Winner and runner-up move; with epsilon = 0 this is LVQ2.1."""

    rate: float
    window: float
    epsilon: float

    def scaled(self, factor: float) -> Self:
        """Return the same rule at a lower rate."""
        return self._replace(rate=factor * self.rate)


@open_function
def adapt(rule: NamedTuple, rate: float, rows: FloatArray, i: int, c: int, W: FloatArray, labels: IntArray) -> bool:
    """Present row i of class c: move prototypes, and return whether the nearest one has another class."""


@compiled_inside
def _two_nearest(rows: FloatArray, i: int, W: FloatArray) -> tuple[int, int, float, float]:
    """Return the two nearest prototypes and their squared distances."""
    first, second, a, b = 0, 0, np.inf, np.inf
    for k in range(W.shape[0]):
        d = sqdist(rows, i, W, k)
        if d < a:
            first, second, a, b = k, first, d, a
        elif d < b:
            second, b = k, d
    return first, second, a, b


@compiled_inside
def _in_window(window: float, a: float, b: float) -> bool:
    """Tell whether x lies in the window between two prototypes at squared distances a <= b."""
    return np.sqrt(a) * (1.0 + window) > np.sqrt(b) * (1.0 - window)


@adapt.register(LVQ1)
def _(rule: LVQ1, rate: float, rows: FloatArray, i: int, c: int, W: FloatArray, labels: IntArray) -> bool:
    winner = _two_nearest(rows, i, W)[0]
    pull(rate if labels[winner] == c else -rate, rows, i, W, winner)
    return labels[winner] != c


@adapt.register(LVQ3)
def _(rule: LVQ3, rate: float, rows: FloatArray, i: int, c: int, W: FloatArray, labels: IntArray) -> bool:
    first, second, a, b = _two_nearest(rows, i, W)
    wrong, other_wrong = labels[first] != c, labels[second] != c
    step = other_step = 0.0
    if wrong != other_wrong and _in_window(rule.window, a, b):
        step = -rate if wrong else rate
        other_step = -step
    elif not wrong and not other_wrong and first != second:
        step = other_step = rule.epsilon * rate
    pull(step, rows, i, W, first)
    pull(other_step, rows, i, W, second)
    return wrong


@compiled
def learn_kohonen(rows: FloatArray, target: IntArray, s: FloatArray, book: Book, rule: LVQ1 | LVQ3) -> int:
    """Present dense rows (n, d) at the rate times their weights s, at most 1; return how many were classified wrongly."""
    wrong = 0
    for i in range(target.size):
        wrong += adapt(rule, min(rule.rate * s[i], 1.0), rows, i, target[i], book.W, book.labels)
    return wrong
