"""Online passes of GLVQ and GRLVQ, compiled: the accelerator of `glvq.learn_plain`.

Prototypes are sorted by class: those of class c are starts[c] to starts[c + 1].
"""

import numpy as np

from halfspace._dispatch import compiled, lean
from halfspace._typing import FloatArray, IntArray
from halfspace.solvers.prototypes.glvq import Book, Rates, share, slopes

__all__ = ["class_starts", "learn", "measure_plainly", "nearest_other", "nearest_own"]


@compiled
def class_starts(labels: IntArray) -> IntArray:
    """Return where the prototypes of each class begin, shape (K + 1,), of class numbers that are sorted."""
    starts = np.zeros(labels[-1] + 2, dtype=np.int64)
    for label in labels:
        starts[label + 1] += 1
    return np.cumsum(starts)


@lean
def nearest_own(near: FloatArray, starts: IntArray, c: int) -> int:
    """Return the first of the nearest prototypes of class c."""
    best = starts[c]
    for k in range(starts[c] + 1, starts[c + 1]):
        if near[k] < near[best]:
            best = k
    return best


@lean
def nearest_other(near: FloatArray, starts: IntArray, c: int) -> int:
    """Return the first of the nearest prototypes of all classes but c; -1 if there is none, or none at a finite distance."""
    best, least = -1, np.inf
    for k in range(starts[c]):
        if near[k] < least:
            best, least = k, near[k]
    for k in range(starts[c + 1], starts[starts.size - 1]):
        if near[k] < least:
            best, least = k, near[k]
    return best


@lean
def _measure(x: FloatArray, W: FloatArray, omega: FloatArray, near: FloatArray) -> None:
    """Write Σ_j (ω_j (x_j - w_kj))² for every prototype k."""
    for k in range(near.size):
        w, total = W[k], 0.0
        for j in range(x.size):
            v = omega[j] * (x[j] - w[j])
            total += v * v
        near[k] = total


@lean
def _move(
    x: FloatArray, book: Book, near: FloatArray, pair: tuple[int, int], xi: tuple[float, float], rates: tuple[float, float]
) -> None:
    """Take the step of the rule: both prototypes, then ω."""
    plus, minus = pair
    w, u, omega, tally = book.W[plus], book.W[minus], book.omega, book.tally
    a = b = 0.0
    for j in range(x.size):
        square = omega[j] ** 4
        a += square * (x[j] - w[j]) ** 2
        b += square * (x[j] - u[j]) ** 2
    tally[0] += 1.0
    tally[1] += near[plus] + near[minus]
    tally[2] += a + b
    rate = 2.0 * rates[0] * tally[1] ** 2 / (tally[0] * tally[2]) if tally[2] > 0.0 else 0.0
    towards, away = share(rate * xi[0], near[plus], a), share(rate * xi[1], near[minus], b)
    length = 0.0
    for j in range(x.size):
        v, v_minus, relevance = x[j] - w[j], x[j] - u[j], omega[j] ** 2
        w[j] += towards * relevance * v
        u[j] -= away * relevance * v_minus
        omega[j] -= 2.0 * rates[1] * omega[j] * (xi[0] * v * v - xi[1] * v_minus * v_minus)
        length += omega[j] ** 2
    if rates[1] > 0.0:
        omega /= np.sqrt(length)


@lean
def measure_plainly(x: FloatArray, W: FloatArray, near: FloatArray) -> None:
    """Write ‖x - w_k‖² for every prototype k."""
    for k in range(near.size):
        w, total = W[k], 0.0
        for j in range(x.size):
            v = x[j] - w[j]
            total += v * v
        near[k] = total


@lean
def _move_plainly(
    x: FloatArray, book: Book, near: FloatArray, pair: tuple[int, int], xi: tuple[float, float], full: float
) -> None:
    """Take the step of the rule where the metric is Euclid's and stays so: ‖Λv‖² is the distance itself."""
    w, u, tally = book.W[pair[0]], book.W[pair[1]], book.tally
    a, b = near[pair[0]], near[pair[1]]
    tally[0] += 1.0
    tally[1] += a + b
    tally[2] += a + b
    rate = 2.0 * full * tally[1] ** 2 / (tally[0] * tally[2]) if tally[2] > 0.0 else 0.0
    towards, away = share(rate * xi[0], a, a), share(rate * xi[1], b, b)
    for j in range(x.size):
        w[j] += towards * (x[j] - w[j])
        u[j] -= away * (x[j] - u[j])


@compiled
def learn(rows: FloatArray, target: IntArray, s: FloatArray, book: Book, rates: Rates) -> int:
    """Present dense rows, shape (n, d), with weights s of their steps; return how many were classified wrongly."""
    near, starts = np.empty(book.W.shape[0]), class_starts(book.labels)
    plain = rates.metric == 0.0 and bool((book.omega == 1.0).all())
    wrong = 0
    for i in range(target.size):
        if plain:
            measure_plainly(rows[i], book.W, near)
        else:
            _measure(rows[i], book.W, book.omega, near)
        plus, minus = nearest_own(near, starts, target[i]), nearest_other(near, starts, target[i])
        if minus < 0:
            continue
        wrong += near[plus] > near[minus] or (near[plus] == near[minus] and minus < plus)
        xi = slopes(rates.beta, near[plus], near[minus])
        if plain:
            _move_plainly(rows[i], book, near, (plus, minus), xi, s[i] * rates.prototypes)
        else:
            _move(rows[i], book, near, (plus, minus), xi, (s[i] * rates.prototypes, s[i] * rates.metric))
    return wrong
