"""Online passes of GMLVQ: the rule of `glvq` with a matrix, arranged for speed.

A step changes Ω by a matrix of rank 2 and two prototypes, so the projected prototypes ΩW are kept and changed likewise; they
are computed afresh every 512 presentations against drift. Ω is divided by its length only then; until then its squared length
is carried along, which the theorem of `glvq` makes a matter of one product: a step G multiplies it by 1 + ‖G‖². Ω is read
twice per presentation: for Λv, and in the step, which projects the next row on its way. Rows of Ω are taken four or two
at a time, prototypes two at a time: short loops need several sums to keep the processor busy.
"""

from typing import NamedTuple

import numpy as np

from halfspace._dispatch import compiled
from halfspace._typing import FloatArray, IntArray
from halfspace.solvers.glvq import Book, Rates, slopes
from halfspace.solvers.glvq_online import class_starts, nearest_other, nearest_own, share

__all__ = ["OpenMatrix", "closed_matrix", "learn_matrix", "opened_matrix"]

FRESH = 512
"""Presentations between two fresh projections."""


class OpenMatrix(NamedTuple):
    """A book with a matrix, opened for writing; zeros fill Ω's rows up to a multiple of four, prototypes to one of two."""

    W: FloatArray  # (P, d)
    Q: FloatArray  # (P, m): the prototypes projected
    starts: IntArray  # (K + 1,)
    omega: FloatArray  # (m, d)
    tally: FloatArray  # (4,): the last is ‖Ω‖²
    near: FloatArray  # (P,): distances of the row at hand
    ends: FloatArray  # (5, m): the row projected, Ωv of both prototypes, ΩΛv of both
    sides: FloatArray  # (4, d): v = x - w of both prototypes, Λv of both


def opened_matrix(book: Book) -> OpenMatrix:
    """Return a copy of the book to write in.

    Examples
    --------
    >>> book = opened_matrix(Book(np.ones((3, 2)), np.array([0, 1, 1]), np.ones((1, 2)), np.zeros(3)))
    >>> book.omega.shape, book.W.shape, book.Q[0].tolist()
    ((4, 2), (4, 2), [2.0, 0.0, 0.0, 0.0])
    """
    omega, W = _filled(book.omega, 4), _filled(book.W, 2)
    tally = np.append(book.tally, np.square(omega).sum())
    scratch = np.empty(W.shape[0]), np.empty((5, omega.shape[0])), np.empty((4, W.shape[1]))
    return OpenMatrix(W, W @ omega.T, class_starts(book.labels), omega, tally, *scratch)


def closed_matrix(after: OpenMatrix, book: Book) -> Book:
    """Return what was written, in the form of the book it began with.

    Examples
    --------
    >>> book = Book(np.ones((3, 2)), np.array([0, 1, 1]), np.array([[0.6, 0.8]]), np.zeros(3))
    >>> closed_matrix(opened_matrix(book), book).omega.round(2).tolist()
    [[0.6, 0.8]]
    """
    omega = after.omega[: book.omega.shape[0]]
    return Book(after.W[: book.labels.size].copy(), book.labels, omega / np.linalg.norm(omega), after.tally[:3].copy())


def _filled(rows: FloatArray, multiple: int) -> FloatArray:
    """Return a copy, filled up with rows of zeros to a multiple."""
    return np.concatenate([rows, np.zeros((-rows.shape[0] % multiple, rows.shape[1]))])


@compiled
def _product(a: FloatArray, b: FloatArray) -> float:
    total = 0.0
    for j in range(a.size):
        total += a[j] * b[j]
    return total


@compiled
def _add(rate: float, step: FloatArray, out: FloatArray) -> None:
    for j in range(out.size):
        out[j] += rate * step[j]


@compiled
def _project(omega: FloatArray, x: FloatArray, out: FloatArray) -> None:
    """Write Ωx."""
    for r in range(0, out.size, 4):
        p = q = s = t = 0.0
        for j in range(x.size):
            p += omega[r, j] * x[j]
            q += omega[r + 1, j] * x[j]
            s += omega[r + 2, j] * x[j]
            t += omega[r + 3, j] * x[j]
        out[r], out[r + 1], out[r + 2], out[r + 3] = p, q, s, t


@compiled
def _freshen(book: OpenMatrix) -> None:
    """Give Ω length 1 and project the prototypes afresh."""
    square = 0.0
    for r in range(book.omega.shape[0]):
        square += _product(book.omega[r], book.omega[r])
    book.omega[:] = book.omega / np.sqrt(square)
    book.tally[3] = 1.0
    for k in range(book.near.size):
        _project(book.omega, book.W[k], book.Q[k])


@compiled
def _measure(x: FloatArray, book: OpenMatrix) -> None:
    """Project a row, and write ‖z - q_k‖² for every projected prototype k."""
    z = book.ends[0]
    _project(book.omega, x, z)
    for k in range(book.near.size):
        q, total = book.Q[k], 0.0
        for r in range(z.size):
            v = z[r] - q[r]
            total += v * v
        book.near[k] = total


@compiled
def _differ(x: FloatArray, w: FloatArray, u: FloatArray, out: FloatArray) -> tuple[float, float, float]:
    """Write x - w and x - u; return their squares and their product."""
    a = b = c = 0.0
    for j in range(x.size):
        v, v_minus = x[j] - w[j], x[j] - u[j]
        out[0, j], out[1, j] = v, v_minus
        a += v * v
        b += v_minus * v_minus
        c += v * v_minus
    return a, b, c


@compiled
def _pull_back(omega: FloatArray, p: FloatArray, q: FloatArray, step: FloatArray, other: FloatArray) -> None:
    """Write Ωᵀp and Ωᵀq."""
    step[:] = 0.0
    other[:] = 0.0
    for r in range(0, p.size, 4):
        p0, p1, p2, p3 = p[r], p[r + 1], p[r + 2], p[r + 3]
        q0, q1, q2, q3 = q[r], q[r + 1], q[r + 2], q[r + 3]
        for j in range(step.size):
            a, b, c, d = omega[r, j], omega[r + 1, j], omega[r + 2, j], omega[r + 3, j]
            step[j] += (p0 * a + p1 * b) + (p2 * c + p3 * d)
            other[j] += (q0 * a + q1 * b) + (q2 * c + q3 * d)


@compiled
def _turn(omega: FloatArray, ends: FloatArray, sides: FloatArray, x: FloatArray) -> None:
    """Add p vᵀ + q uᵀ to Ω; write ΩΛv of both prototypes, with Ω as it was before, and Ωx of the next row, as it is after."""
    v, u, step, other = sides[0], sides[1], sides[2], sides[3]
    for r in range(0, omega.shape[0], 2):
        p, q, next_p, next_q = ends[1, r], ends[2, r], ends[1, r + 1], ends[2, r + 1]
        a = b = c = d = z = next_z = 0.0
        for j in range(v.size):
            o, e = omega[r, j], omega[r + 1, j]
            a += o * step[j]
            b += o * other[j]
            c += e * step[j]
            d += e * other[j]
            o += p * v[j] + q * u[j]
            e += next_p * v[j] + next_q * u[j]
            z += o * x[j]
            next_z += e * x[j]
            omega[r, j] = o
            omega[r + 1, j] = e
        ends[3, r], ends[4, r], ends[3, r + 1], ends[4, r + 1] = a, b, c, d
        ends[0, r], ends[0, r + 1] = z, next_z


@compiled
def _follow(book: OpenMatrix) -> None:
    """Add Ω's step times W, the prototypes after theirs, to the projections, and measure their distances from the next row."""
    W, Q, near = book.W, book.Q, book.near
    v, u, z, p, q = book.sides[0], book.sides[1], book.ends[0], book.ends[1], book.ends[2]
    for k in range(0, near.size, 2):
        a = b = c = d = 0.0
        for j in range(v.size):
            w, y = W[k, j], W[k + 1, j]
            a += v[j] * w
            b += u[j] * w
            c += v[j] * y
            d += u[j] * y
        e = f = 0.0
        for r in range(z.size):
            image, other = Q[k, r] + (a * p[r] + b * q[r]), Q[k + 1, r] + (c * p[r] + d * q[r])
            e += (z[r] - image) ** 2
            f += (z[r] - other) ** 2
            Q[k, r] = image
            Q[k + 1, r] = other
        near[k], near[k + 1] = e, f


@compiled
def _move(
    rows: FloatArray, i: int, book: OpenMatrix, plus: int, minus: int, xi: tuple[float, float], rates: tuple[float, float]
) -> None:
    """Take the step of the rule: Ω, both prototypes, and the projections that hang on them; measure the next row."""
    W, Q, tally, near, ends, sides = book.W, book.Q, book.tally, book.near, book.ends, book.sides
    d_plus, d_minus, long = near[plus], near[minus], tally[3]
    _, _, both = _differ(ends[0], Q[plus], Q[minus], ends[1:3])
    own, other, cross = _differ(rows[i], W[plus], W[minus], sides[:2])
    _pull_back(book.omega, ends[1], ends[2], sides[2], sides[3])
    a, b = _product(sides[2], sides[2]), _product(sides[3], sides[3])
    tally[0] += 1.0
    tally[1] += (d_plus + d_minus) / long
    tally[2] += (a + b) / long**2
    rate = 2.0 * rates[0] * tally[1] ** 2 / (tally[0] * tally[2]) if tally[2] > 0.0 else 0.0
    towards, away = share(rate * xi[0], d_plus, a), share(rate * xi[1], d_minus, b)
    metric = 2.0 * rates[1]
    square = xi[0] ** 2 * d_plus * own + xi[1] ** 2 * d_minus * other - 2.0 * xi[0] * xi[1] * both * cross
    tally[3] = long * (1.0 + metric * metric * long * square)
    for r in range(ends.shape[1]):
        ends[1, r] *= -metric * long * xi[0]
        ends[2, r] *= metric * long * xi[1]
    _turn(book.omega, ends, sides, rows[min(i + 1, rows.shape[0] - 1)])
    _add(towards, sides[2], W[plus])
    _add(-away, sides[3], W[minus])
    _add(towards, ends[3], Q[plus])
    _add(-away, ends[4], Q[minus])
    _follow(book)


@compiled
def learn_matrix(rows: FloatArray, target: IntArray, s: FloatArray, book: OpenMatrix, rates: Rates) -> int:
    """Present dense rows, shape (n, d), with weights s of their steps; return how many were classified wrongly."""
    near, starts = book.near, book.starts
    wrong, measured = 0, False
    for i in range(target.size):
        if book.tally[0] % FRESH == 0.0:
            _freshen(book)
            measured = False
        if not measured:
            _measure(rows[i], book)
        plus, minus = nearest_own(near, starts, target[i]), nearest_other(near, starts, target[i])
        measured = minus >= 0
        if not measured:
            continue
        wrong += near[plus] > near[minus] or (near[plus] == near[minus] and minus < plus)
        xi = slopes(rates.beta, near[plus], near[minus])
        _move(rows, i, book, plus, minus, xi, (s[i] * rates.prototypes, s[i] * rates.metric))
    return wrong
