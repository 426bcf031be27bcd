"""Online passes of GMLVQ, arranged for speed: the accelerator of `glvq.learn_plain` with a matrix.

A step changes Ω by a matrix of rank 2 and two prototypes, so the projected prototypes ΩW are kept and changed likewise; they
are computed afresh every 512 presentations against drift. Ω is divided by its length only then; until then its squared length
is carried along, which the theorem of `glvq` makes a matter of one product: a step G multiplies it by 1 + ‖G‖². Ω is read
twice per presentation, four rows or two at a time: it may fill the first cache. What is carried along is part of the book, so
rows may be cut into pieces anywhere without changing a bit.
"""

from typing import NamedTuple

import numpy as np

from halfspace._dispatch import compiled, lean
from halfspace._typing import FloatArray, IntArray
from halfspace.solvers.prototypes.glvq import Book, Rates, share, slopes
from halfspace.solvers.prototypes.glvq_online import class_starts, measure_plainly, nearest_other, nearest_own

__all__ = ["freshen", "learn_matrix", "project_prototypes"]

FRESH = 512
"""Presentations between two fresh projections."""


class _Room(NamedTuple):
    """Scratch memory of a pass."""

    near: FloatArray  # (P,): distances of the row at hand
    ends: FloatArray  # (5, m): the row projected, Ωv of both prototypes, ΩΛv of both
    sides: FloatArray  # (4, d): v = x - w of both prototypes, Λv of both


@lean
def _product(a: FloatArray, b: FloatArray) -> float:
    total = 0.0
    for j in range(a.size):
        total += a[j] * b[j]
    return total


@lean
def _subtract(a: FloatArray, b: FloatArray, out: FloatArray) -> None:
    for j in range(out.size):
        out[j] = a[j] - b[j]


@lean
def _add(rate: float, step: FloatArray, out: FloatArray) -> None:
    for j in range(out.size):
        out[j] += rate * step[j]


@lean
def _project(omega: FloatArray, x: FloatArray, out: FloatArray) -> None:
    """Write Ωx."""
    for r in range(0, out.size, 4):
        a, b, c, d = omega[r], omega[r + 1], omega[r + 2], omega[r + 3]
        p = q = s = t = 0.0
        for j in range(x.size):
            p += a[j] * x[j]
            q += b[j] * x[j]
            s += c[j] * x[j]
            t += d[j] * x[j]
        out[r], out[r + 1], out[r + 2], out[r + 3] = p, q, s, t


@compiled
def project_prototypes(book: Book) -> None:
    """Project the prototypes afresh."""
    for k in range(book.W.shape[0]):
        _project(book.omega, book.W[k], book.Q[k])


@compiled
def freshen(book: Book) -> None:
    """Give Ω length 1 and project the prototypes afresh."""
    square = 0.0
    for r in range(book.omega.shape[0]):
        square += _product(book.omega[r], book.omega[r])
    for r in range(book.omega.shape[0]):  # by loops: assigned at a stroke they take seconds more to compile
        for j in range(book.omega.shape[1]):
            book.omega[r, j] /= np.sqrt(square)
    book.tally[3] = 1.0
    project_prototypes(book)


@lean
def _differ(x: FloatArray, book: Book, room: _Room, plus: int, minus: int) -> None:
    """Write v, Ωv and Λv of both prototypes."""
    omega, ends, sides = book.omega, room.ends, room.sides
    _subtract(ends[0], book.Q[plus], ends[1])
    _subtract(ends[0], book.Q[minus], ends[2])
    _subtract(x, book.W[plus], sides[0])
    _subtract(x, book.W[minus], sides[1])
    sides[2:] = 0.0
    step, other = sides[2], sides[3]
    for r in range(0, omega.shape[0], 4):
        p0, p1, p2, p3 = ends[1, r], ends[1, r + 1], ends[1, r + 2], ends[1, r + 3]
        q0, q1, q2, q3 = ends[2, r], ends[2, r + 1], ends[2, r + 2], ends[2, r + 3]
        for j in range(x.size):
            a, b, c, d = omega[r, j], omega[r + 1, j], omega[r + 2, j], omega[r + 3, j]
            step[j] += (p0 * a + p1 * b) + (p2 * c + p3 * d)
            other[j] += (q0 * a + q1 * b) + (q2 * c + q3 * d)


@lean
def _turn(omega: FloatArray, room: _Room, h_plus: float, h_minus: float) -> None:
    """Take Ω's step, and write ΩΛv of both prototypes, with Ω as it was before."""
    ends, sides = room.ends, room.sides
    v, u, step, other = sides[0], sides[1], sides[2], sides[3]
    for r in range(0, omega.shape[0], 2):
        row, next_row = omega[r], omega[r + 1]
        p, q = -h_plus * ends[1, r], h_minus * ends[2, r]
        next_p, next_q = -h_plus * ends[1, r + 1], h_minus * ends[2, r + 1]
        a = b = c = d = 0.0
        for j in range(v.size):
            o, e = row[j], next_row[j]
            a += o * step[j]
            b += o * other[j]
            c += e * step[j]
            d += e * other[j]
            row[j] = o + p * v[j] + q * u[j]
            next_row[j] = e + next_p * v[j] + next_q * u[j]
        ends[3, r], ends[4, r], ends[3, r + 1], ends[4, r + 1] = a, b, c, d


@lean
def _follow(book: Book, room: _Room, h_plus: float, h_minus: float) -> None:
    """Add Ω's step times W, the prototypes after theirs, to the projections."""
    v, u, p, q = room.sides[0], room.sides[1], room.ends[1], room.ends[2]
    for k in range(book.W.shape[0]):
        w, image = book.W[k], book.Q[k]
        a = b = 0.0
        for j in range(w.size):
            a += v[j] * w[j]
            b += u[j] * w[j]
        a, b = -h_plus * a, h_minus * b
        for r in range(image.size):
            image[r] += a * p[r] + b * q[r]


@lean
def _squared_step(room: _Room, square: float, xi_plus: float, xi_minus: float) -> float:
    """Return ‖ξ₊ Ωv₊v₊ᵀ - ξ₋ Ωv₋v₋ᵀ‖² for Ω of length 1, given that of squared length `square`."""
    p, q, v, u = room.ends[1], room.ends[2], room.sides[0], room.sides[1]
    own, other = _product(p, p) * _product(v, v), _product(q, q) * _product(u, u)
    cross = _product(p, q) * _product(v, u)
    return square * (xi_plus**2 * own + xi_minus**2 * other - 2.0 * xi_plus * xi_minus * cross)


@lean
def _move(
    x: FloatArray, book: Book, room: _Room, pair: tuple[int, int], xi: tuple[float, float], rates: tuple[float, float]
) -> None:
    """Take the step of the rule: Ω, both prototypes, and the projections that hang on them."""
    plus, minus = pair
    tally, near, ends, sides = book.tally, room.near, room.ends, room.sides
    _differ(x, book, room, plus, minus)
    a, b = _product(sides[2], sides[2]), _product(sides[3], sides[3])
    tally[0] += 1.0
    tally[1] += (near[plus] + near[minus]) / tally[3]
    tally[2] += (a + b) / tally[3] ** 2
    rate = 2.0 * rates[0] * tally[1] ** 2 / (tally[0] * tally[2]) if tally[2] > 0.0 else 0.0
    towards, away = share(rate * xi[0], near[plus], a), share(rate * xi[1], near[minus], b)
    metric = 2.0 * rates[1]
    h_plus, h_minus = metric * tally[3] * xi[0], metric * tally[3] * xi[1]
    longer = 1.0 + metric * metric * _squared_step(room, tally[3], xi[0], xi[1])
    _turn(book.omega, room, h_plus, h_minus)
    _add(towards, sides[2], book.W[plus])
    _add(-away, sides[3], book.W[minus])
    _add(towards, ends[3], book.Q[plus])
    _add(-away, ends[4], book.Q[minus])
    _follow(book, room, h_plus, h_minus)
    tally[3] *= longer


@compiled
def learn_matrix(rows: FloatArray, target: IntArray, s: FloatArray, book: Book, rates: Rates) -> int:
    """Present dense rows, shape (n, d), with weights s of their steps; return how many were classified wrongly."""
    near, starts, ends = np.empty(book.W.shape[0]), class_starts(book.labels), np.empty((5, book.omega.shape[0]))
    room = _Room(near, ends, np.empty((4, book.W.shape[1])))
    wrong = 0
    for i in range(target.size):
        if book.tally[0] % FRESH == 0.0:
            freshen(book)
        _project(book.omega, rows[i], ends[0])
        measure_plainly(ends[0], book.Q, near)
        plus, minus = nearest_own(near, starts, target[i]), nearest_other(near, starts, target[i])
        if minus < 0:
            continue
        wrong += near[plus] > near[minus] or (near[plus] == near[minus] and minus < plus)
        xi = slopes(rates.beta, near[plus], near[minus])
        _move(rows[i], book, room, (plus, minus), xi, (s[i] * rates.prototypes, s[i] * rates.metric))
    return wrong
