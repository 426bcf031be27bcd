"""A second-order finish for many rows and few columns: Newton's method on a smoothed hinge whose width shrinks.

Problem    As in `adatron.py`, with finite caps c_i. Let  u_i = 1 - E_i  be the slack of an example, and let its loss be
           u²/(2 mu) for 0 < u < mu  and  u - mu/2  beyond: the hinge with a bend of width mu.
Rule       Strengths  alpha_i = c_i clip(u_i/mu, 0, 1)  and  v = Σ alpha_i y_i x_i  make  w - v  the gradient. Newton's
           step solves  (I + Σ_Z (c_i/mu) x_i x_iᵀ) dw = v - w,  where Z are the examples in the bend, and a line search
           along dw, whose derivative rises piecewise linearly, ends it. When the smoothing error outweighs what is left
           to gain, mu shrinks, and the next step keeps Z: it goes where the same examples would be in the narrower bend.
Theorem    The strengths are within their bounds, so for the *unsmoothed* problem, exactly,
               primal(w) - dual(alpha) = ½‖w - v‖² + Σ_{0<u<mu} c_i u_i (1 - u_i/mu):
           Newton's error plus smoothing error, stopping rule and certificate at once.
Band       A step moves u_i by at most ‖dw‖ ‖x_i‖, usually far less. Examples that stay off the bend for some steps add
           nothing, or a fixed linear term: only the band of those that might come near is copied and iterated on, inside a
           ball around w, and the bands nest. A wrong guess costs time, never truth: the outermost level sees everybody.
Reference  Mangasarian 2002 and Keerthi and DeCoste 2005 (Newton on a smoothed hinge); the identity, the bands and the step
           that keeps Z are this project's own.
"""

from collections.abc import Generator
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from halfspace._dispatch import compiled, compiled_inside
from halfspace._typing import FloatArray, IntArray, View
from halfspace.rows.operations import gram, potentials, take
from halfspace.rows.threads import in_chunks
from halfspace.rows.views import axpy, entries_per_row, n_columns, n_rows
from halfspace.solvers.linear.soft_margin import Beat, Pace, Point, Problem

__all__ = ["bend_for", "descend"]

FEWEST = 400
"""Rows below which taking a band is not worth the copy."""
MOST = 0.3
"""Largest share of the rows that counts as a band."""
OPERATIONS = 1 << 29
"""Multiplications between two looks at the clock."""
STEPS = 400
"""Steps on one level after which something else should be tried."""
PLENTY = 2
"""Examples in the bend, per weight, from which one four times as narrow holds enough of them. With fewer the path is followed
closely: where the bend holds fewer examples than there are weights, Newton's steps lead nowhere."""
ENOUGH = 0.1
"""Share of the first slope that may be left: a step need not be better than the direction it follows."""


class Level(NamedTuple):
    """The problem on some rows; the others are off the bend and folded into `base - lin·w`."""

    problem: Problem
    reach: FloatArray  # (n,) how far a unit step is expected to move a potential
    lin: FloatArray  # (D,)
    base: float


class _Place(NamedTuple):
    """Where a level stands: the arrays are changed in place."""

    w: FloatArray  # (D,)
    u: FloatArray  # (n,) slacks
    alpha: FloatArray  # (n,)
    v: FloatArray  # (D,) lin + Σ alpha_i y_i x_i


@compiled
def _settle(
    X: View, y: FloatArray, c: FloatArray, u: FloatArray, mu: float, alpha: FloatArray, v: FloatArray, start: int, stop: int
) -> tuple[float, float]:
    """Bring strengths and v up to date; return the smoothing error and the loss of these rows."""
    smoothing, loss = 0.0, 0.0
    for i in range(start, stop):
        share = min(max(u[i] / mu, 0.0), 1.0)
        if u[i] > 0.0:
            loss += c[i] * u[i]
            smoothing += c[i] * u[i] * (1.0 - share)
        change = c[i] * share - alpha[i]
        if change != 0.0:
            axpy(change * y[i], X, i, v)
            alpha[i] = c[i] * share
    return smoothing, loss


@compiled
def _zone(u: FloatArray, low: FloatArray, mu: float, reach: float, out: IntArray) -> int:
    """List the rows with  -reach low_i < u_i < mu + reach low_i  and return how many there are."""
    m = 0
    for i in range(u.size):
        out[m] = i
        m += (u[i] > -reach * low[i]) & (u[i] < mu + reach * low[i])
    return m


@compiled
def _fold(level: Level, u: FloatArray, limit: float, reach: float, lin: FloatArray) -> float:
    """Add the rows beyond the band, all at their caps, to the linear term; return their constant."""
    X, y, c, _, shift = level.problem
    base = 0.0
    for i in range(u.size):
        if u[i] >= limit + reach * level.reach[i]:
            axpy(c[i] * y[i], X, i, lin)
            base += c[i] * (1.0 - shift * y[i])
    return base


@compiled
def _keep_zone(problem: Problem, place: _Place, mu: float, zone: IntArray, gradient: FloatArray) -> None:
    """Make of the gradient at the old width the one at the new width mu, if the rows in the bend stay in it."""
    X, y, c, u, alpha = problem.X, problem.y, problem.c, place.u, place.alpha
    for i in zone:
        axpy((alpha[i] - c[i] * u[i] / mu) * y[i], X, i, gradient)


@compiled
def _smoothing(c: FloatArray, u: FloatArray, mu: float) -> float:
    total = 0.0
    for i in range(u.size):
        if 0.0 < u[i] < mu:
            total += c[i] * u[i] * (1.0 - u[i] / mu)
    return total


def bend_for(problem: Problem, point: Point) -> float:
    """Return a width whose smoothing error is about half the gap of a point, at most 1."""
    u = np.empty(problem.y.size)
    _slacks(problem, point.w, u)
    mu, allowed = 1.0, 0.5 * (point.primal - point.dual)
    while mu > 1e-6 and _smoothing(problem.c, u, mu) > allowed:
        mu *= 0.5
    return mu


def _slacks(problem: Problem, w: FloatArray, out: FloatArray) -> None:
    """Write 1 - y_i (w·x_i + shift) into `out`."""
    potentials(problem.X, problem.y, w, out)
    np.subtract(1.0 - problem.shift * problem.y if problem.shift else 1.0, out, out=out)


def _curvature(X: View, zone: IntArray, scale: FloatArray, pace: Pace) -> Generator[Beat, None, FloatArray]:
    """Return I + Σ_Z scale² x xᵀ (its upper triangle), with a look at the clock every few hundred million operations."""
    D = n_columns(X)
    H, piece = np.eye(D), max(1, OPERATIONS // (D * D))
    for first in range(0, zone.size, piece):
        H += gram(X, zone[first : first + piece], scale[first : first + piece])
        if zone.size > piece:
            yield Beat(0)
        if pace.hurry:
            break
    return H


def _newton_step(H: FloatArray, gradient: FloatArray) -> FloatArray | None:
    """Solve H dw = -gradient; None if rounding has made the matrix indefinite."""
    factor, failed = dpotrf(H.T, lower=1, overwrite_a=1)
    step: FloatArray = dpotrs(factor, -gradient, lower=1)[0]
    return None if failed or not np.isfinite(step).all() else step


@compiled_inside
def _slope(c: FloatArray, u: FloatArray, dE: FloatArray, mu: float, t: float) -> tuple[float, float]:
    """Return the slope of Σ c_i loss(u_i - t dE_i) in t, and the slope of that."""
    first, second = 0.0, 0.0
    for i in range(u.size):
        x = u[i] - t * dE[i]
        if x >= mu:
            first -= c[i] * dE[i]
        elif x > 0.0:
            k = c[i] * dE[i] / mu
            first -= k * x
            second += k * dE[i]
    return first, second


@compiled
def _line_search(c: FloatArray, u: FloatArray, dE: FloatArray, mu: float, linear: float, square: float) -> float:
    """Return the t > 0 where  linear t + square t²/2 + Σ c_i loss(u_i - t dE_i)  is nearly smallest.

    Newton's method on the slope, which rises, kept inside a bracket.
    """
    start = _slope(c, u, dE, mu, 0.0)[0] + linear
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(50):
        first, second = _slope(c, u, dE, mu, t)
        value = first + linear + t * square
        if abs(value) <= ENOUGH * abs(start):
            break
        if value < 0.0:
            low = t
        else:
            high = t
        t -= value / (second + square)
        if not low < t < high:
            t = 0.5 * (low + high) if high < np.inf else 2.0 * low
    return t


def _balance(level: Level, place: _Place, mu: float) -> tuple[float, float, float]:
    """Bring the strengths up to date; return Newton's error, smoothing error and primal value."""
    X, y, c, _, _ = level.problem
    w, u, alpha, v = place

    def work(start: int, stop: int) -> tuple[float, float, FloatArray]:
        part = np.zeros(v.size)
        return *_settle(X, y, c, u, mu, alpha, part, start, stop), part

    smoothing = loss = 0.0
    for part_of_smoothing, part_of_loss, part in in_chunks(work, u.size, entries_per_row(X)):
        smoothing, loss = smoothing + part_of_smoothing, loss + part_of_loss
        v += part
    error = 0.5 * float((w - v) @ (w - v))
    return error, smoothing, 0.5 * float(w @ w) - float(level.lin @ w) + level.base + loss


def _descend(
    level: Level, w: FloatArray, mu: float, tol: float, radius: float, pace: Pace, depth: int = 0
) -> Generator[Beat, None, tuple[FloatArray, float]]:
    """Iterate on one level until its gap is below tol or w leaves the ball; return weights and width."""
    problem = level.problem
    X, c, n = problem.X, problem.c, n_rows(problem.X)
    place = _Place(w.copy(), np.empty(n), np.zeros(n), level.lin.copy())
    w, u = place.w, place.u
    began, dE, index = w.copy(), np.empty(n), np.empty(n + 1, dtype=np.int64)
    _slacks(problem, w, u)
    decrement = np.inf
    for _ in range(STEPS):
        error, smoothing, primal = _balance(level, place, mu)
        point = Point(w, place.alpha, primal, primal - error - smoothing)
        yield Beat(1, point if depth == 0 else None)
        allowed = tol * primal
        if error + smoothing <= allowed or pace.hurry or (depth > 0 and np.linalg.norm(w - began) > radius):
            break
        if smoothing < 0.1 * allowed < 0.1 * min(error, decrement):  # narrower than it need be: widen
            mu, decrement = 4.0 * mu, np.inf
            continue
        zone = index[: _zone(u, u, mu, 0.0, index)]
        gradient = w - place.v
        plenty = zone.size > PLENTY * w.size
        narrow = smoothing > 0.6 * allowed and (error < smoothing or (plenty and decrement < 0.5 * smoothing))
        if narrow:
            mu /= min(max(smoothing / (0.5 * allowed), 1.3), 4.0 if plenty else 2.0)
            _keep_zone(problem, place, mu, zone, gradient)
        H = yield from _curvature(X, zone, np.sqrt(c[zone] / mu), pace)
        if pace.hurry:
            continue
        dw = _newton_step(H, gradient)
        if dw is None:
            break
        decrement = np.inf if narrow else -0.5 * float(gradient @ dw)
        reach = 3.0 * float(np.linalg.norm(dw)) if n > FEWEST and not narrow else np.inf
        if reach < np.inf and np.linalg.norm(w - began) + reach <= radius:
            band = index[: _zone(u, level.reach, mu, reach, index)]
            if band.size < MOST * n:
                child = _band_level(level, u, mu, reach, band)
                w[:], mu = yield from _descend(child, w, mu, 0.9 * tol, reach, pace, depth + 1)
                _slacks(problem, w, u)
                decrement = np.inf
                continue
        potentials(X, problem.y, dw, dE)
        t = _line_search(c, u, dE, mu, float((w - level.lin) @ dw), float(dw @ dw))
        w += t * dw
        u -= t * dE
    return w, mu


def _band_level(level: Level, u: FloatArray, mu: float, reach: float, band: IntArray) -> Level:
    """Return the problem on the band alone, everything else folded away."""
    X, y, c, q, shift = level.problem
    lin = level.lin.copy()
    base = level.base + _fold(level, u, mu, reach, lin)
    return Level(Problem(take(X, band), y[band], c[band], q[band], shift), level.reach[band], lin, base)


def descend(
    problem: Problem, w: FloatArray, mu: float, *, tol: float, pace: Pace
) -> Generator[Beat, None, tuple[FloatArray, float]]:
    """Yield after every step, with a Point if it was one on all rows, until the gap is below tol.

    Parameters
    ----------
    problem : Problem
        With finite caps.
    w : ndarray, shape (D,)
        Where to start.
    mu : float
        Width of the bend to start with.
    tol : float
        Relative duality gap to reach.
    pace : Pace
        In a hurry, the run ends after the next step on all rows.

    Returns
    -------
    w, mu
        The last weights and width.
    """
    D = n_columns(problem.X)
    typical = np.sqrt(problem.q) * min(1.0, 4.0 / np.sqrt(D))  # a direction of chance has a D-th of the length in each column
    return (yield from _descend(Level(problem, typical, np.zeros(D), 0.0), w, mu, tol, np.inf, pace))
