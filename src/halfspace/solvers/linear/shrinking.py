"""Sweeps of AdaTron's rule that leave out examples with nothing to say.

An example at a bound whose potential pushes it further against that bound will not move; most end up there. Following
Joachims (1999) and Hsieh et al. (2008), a sweep drops such an example when its push is stronger than the strongest pull of
the last sweep. When the pulls that remain are small, everybody is shown again and the duality gap, computed from all
examples, decides whether that was the end. So a wrongly dropped example costs time, never truth.

Examples are visited in blocks of up to 32 neighbours, the blocks in random order: short rows far apart in memory cost three to
four times as much to visit, but the finer the order, the fewer sweeps are needed.

A clamped input couples every example with every other, and where thousands of strengths are free this coupling, not the
data, is what the sweeps labour at. Then the bias is taken out of the rule: it stays as it is for a sweep, and moves
between sweeps by Newton's step for it,
(Σ alpha_i y_i - b/s²) / (1/s² + Σ_free 1/‖x_i‖²),  which is exact for orthogonal rows. The gap judges this too.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from halfspace._dispatch import compiled, compiled_inside
from halfspace._typing import FloatArray, IntArray, View
from halfspace.rows.views import Clamped, Shifted, ahead, axpy, dot, entries_per_row, lead_of, n_columns, n_rows
from halfspace.solvers.linear.soft_margin import Beat, Pace, Point, Problem, value
from halfspace.solvers.rules.adatron import AdaTron
from halfspace.solvers.rules.sweep import strengthen

__all__ = ["FEW_SWEEPS", "Begun", "ascend", "ascend_few", "begin_each", "relaxation"]

BLOCK, BLOCK_ENTRIES = 32, 1024
"""Rows of a block at most; fewer of long ones, so that it has about so many entries."""
FEW = 1 << 17
"""Entries of active examples that stay in cache: these are swept many times in one call."""
SWEEPS = 200
"""Limit on the sweeps of one call."""
COUPLED = 3000.0
"""Sum of scale²/‖x_i‖² over the free examples from which the clamped input is taken out of the rule."""
ROOMS = (1 << 20, 3 << 20)
"""Entries that sweeps over few examples read before another method has its turn: about a millisecond, and three more if it is
nearly known by then which examples are free."""
FREE = 8
"""That is, there are at most so many times as many as weights."""
FEW_SWEEPS = 1000
"""Sweeps over few examples before another method has its turn."""
CLOSELY = 4
"""Sweeps over few examples between two looks at how many are left."""
PIECE = 1 << 22
"""Entries read between two looks at the clock: a few milliseconds."""


@compiled
def _sweep(
    rule: Any,
    X: View,
    y: FloatArray,
    c: FloatArray,
    q: FloatArray,
    alpha: FloatArray,
    w: FloatArray,
    active: IntArray,
    blocks: IntArray,
    block: int,
    pull: FloatArray,
    lead: int,
) -> None:
    """Show the active examples in these blocks; `pull` holds the last sweep's bounds and collects this one's.

    A dropped example is marked by a row number that does not exist.
    """
    above, below, top, bottom = pull[0], pull[1], pull[2], pull[3]
    for p in range(blocks.size):
        stop = min((blocks[p] + 1) * block, active.size)
        onwards = blocks[p + 1] * block if p + 1 < blocks.size else active.size
        for t in range(blocks[p] * block, stop):
            if lead > 0:
                later = t + lead if t + lead < stop else onwards + t + lead - stop
                if later < active.size and active[later] < alpha.size:
                    ahead(X, active[later])
            i = active[t]
            a = alpha[i]
            E = y[i] * dot(X, i, w)
            slope = E - 1.0
            if (a <= 0.0 and slope > above) or (a >= c[i] and slope < below):
                active[t] = alpha.size
                continue
            change = strengthen(rule, E, a, q[i], c[i])
            if change != 0.0:
                top, bottom = max(top, slope), min(bottom, slope)
                axpy(change * y[i], X, i, w)
                alpha[i] = min(max(a + change, 0.0), c[i])
    pull[2], pull[3] = top, bottom


@compiled
def _sweep_few(
    rule: Any,
    X: View,
    y: FloatArray,
    c: FloatArray,
    q: FloatArray,
    alpha: FloatArray,
    w: FloatArray,
    active: IntArray,
    most: int,
    threshold: float,
    seed: int,
    pull: FloatArray,
) -> tuple[int, int]:
    """Sweep up to `most` times over few examples, in cache and in any order; return how many are left, and the sweeps.

    The same rule and the same dropping as above, without a return to Python after each sweep.
    """
    m, state, sweeps = active.size, seed, 0
    while sweeps < most:
        sweeps += 1
        above, below, top, bottom = pull[0], pull[1], -np.inf, np.inf
        t = 0
        while t < m:
            state = (state * 48271) % 2147483647  # Park and Miller's generator: no overflow, with or without the JIT
            other = t + state % (m - t)
            i = active[other]
            active[other] = active[t]
            active[t] = i
            a = alpha[i]
            E = y[i] * dot(X, i, w)
            slope = E - 1.0
            if (a <= 0.0 and slope > above) or (a >= c[i] and slope < below):
                m -= 1
                active[t] = active[m]
                continue
            change = strengthen(rule, E, a, q[i], c[i])
            if change != 0.0:
                top, bottom = max(top, slope), min(bottom, slope)
                axpy(change * y[i], X, i, w)
                alpha[i] = min(max(a + change, 0.0), c[i])
            t += 1
        pull[2], pull[3] = top, bottom
        if top - bottom <= threshold or m == 0:
            break
        pull[0], pull[1] = top if top > 0.0 else np.inf, bottom if bottom < 0.0 else -np.inf
    return m, sweeps


@compiled_inside
def _solve_few(
    rule: Any,
    X: View,
    y: FloatArray,
    c: FloatArray,
    q: FloatArray,
    alpha: FloatArray,
    w: FloatArray,
    most: int,
    tol: float,
    seed: int,
    found: FloatArray,
) -> int:
    """Sweep up to `most` times over all examples and those with something to say, until the gap is at most tol; count sweeps.

    `found` holds the pull to stop at next, the shift of the outputs, and how many examples may still be shown; and on return,
    behind them, the primal and the dual value.
    """
    n, sweeps, pull, active = alpha.size, 0, np.empty(4), np.empty(alpha.size, np.int64)
    while True:
        m = n
        for i in range(n):
            active[i] = i
        pull[0], pull[1], pull[2], pull[3] = np.inf, -np.inf, -np.inf, np.inf
        while m > 0:
            now = min(most - sweeps, CLOSELY)
            left, swept = _sweep_few(rule, X, y, c, q, alpha, w, active[:m], now, found[0], seed + sweeps, pull)
            found[2] -= 0.5 * swept * (m + left)
            m, sweeps = left, sweeps + swept
            if pull[2] - pull[3] <= found[0] or sweeps >= most or found[2] <= 0.0:
                break
        loss, total, square = 0.0, 0.0, 0.0
        for i in range(n):
            E = y[i] * dot(X, i, w)
            if E < 1.0:
                loss += c[i] * (1.0 - E)
            total += alpha[i] * (1.0 - found[1] * y[i])
        for j in range(w.size):
            square += w[j] * w[j]
        found[3], found[4] = 0.5 * square + loss, total - 0.5 * square
        gap = (found[3] - found[4]) / found[3] if found[3] > 0.0 else 0.0
        if gap <= tol or sweeps >= most or found[2] <= 0.0:
            return sweeps
        if pull[2] - pull[3] <= found[0]:
            found[0] *= min(max(0.7 * np.sqrt(tol / min(gap, 1.0)), 0.2), 0.5)


@compiled
def _solve_each(
    rule: Any,
    X: View,
    Y: FloatArray,
    c: FloatArray,
    q: FloatArray,
    A: FloatArray,
    W: FloatArray,
    most: int,
    tol: float,
    seeds: IntArray,
    found: FloatArray,
) -> None:
    """Do `_solve_few` for each of several labellings, a row of Y, A, W and `found` each, whose last column counts sweeps.

    The weights W are those of the strengths A, whatever they were before.
    """
    for k in range(Y.shape[0]):
        W[k] = 0.0
        for i in range(q.size):
            if A[k, i] != 0.0:
                axpy(A[k, i] * Y[k, i], X, i, W[k])
        found[k, 5] = _solve_few(rule, X, Y[k], c, q, A[k], W[k], most, tol, seeds[k], found[k])


@lru_cache(256)
def _seed(seed: int) -> int:
    """Return the first that the generator of a problem draws; to make a generator takes as long as some sweeps."""
    return int(np.random.default_rng(seed).integers(1, 1 << 30))


class Begun(NamedTuple):
    """What the first sweeps over few examples have come to; the arrays are those to go on with."""

    alpha: FloatArray
    w: FloatArray
    found: FloatArray  # (6,)

    @property
    def sweeps(self) -> int:
        """Sweeps made."""
        return int(self.found[5])

    @property
    def point(self) -> Point:
        """Weights and strengths, and their values."""
        return Point(self.w, self.alpha, float(self.found[3]), float(self.found[4]))


def begin_each(problem: Problem, Y: FloatArray, A: FloatArray, seeds: Sequence[int], *, tol: float, rate: float) -> list[Begun]:
    """Do in one call what `ascend_few` begins with, for each of several labellings of the same examples.

    Parameters
    ----------
    problem : Problem
        The data; its labels are not read.
    Y, A : ndarray, shape (K, n)
        Labels ±1; strengths to begin with, which are changed in place.
    seeds : sequence of int, shape (K,)
        Of the generators that go on.
    tol, rate : float
        The gap that is aimed at, and the rate of the rule.
    """
    found, W = np.zeros((Y.shape[0], 6)), np.empty((Y.shape[0], n_columns(problem.X)))
    found[:, :3] = 1.0, problem.shift, ROOMS[0] / max(entries_per_row(problem.X), 1.0)
    first = np.array([_seed(seed) for seed in seeds])
    view = Shifted(problem.X, problem.shift)
    _solve_each(AdaTron(rate, 1.0), view, Y, problem.c, problem.q, A, W, FEW_SWEEPS, tol, first, found)
    return [Begun(*each) for each in zip(A, W, found, strict=True)]


def ascend_few(
    problem: Problem,
    alpha: FloatArray,
    w: FloatArray,
    rng: np.random.Generator,
    *,
    tol: float,
    rate: float,
    pace: Pace,
    begun: Begun | None = None,
) -> Iterator[Beat]:
    """Do what `ascend` does for few entries and finite caps, for some milliseconds; end with the last Point."""
    X, y, c, q, shift = problem
    found = np.array([[1.0, shift, 0.0, 0.0, 0.0, 0.0]]) if begun is None else begun.found[None]
    rule, view, first = AdaTron(rate, 1.0), Shifted(X, shift), int(rng.integers(1, 1 << 30))
    left = FEW_SWEEPS
    for room in ROOMS:
        if room > ROOMS[0] and np.count_nonzero((alpha > 0.0) & (alpha < c)) > FREE * w.size:
            break
        if begun is not None and room == ROOMS[0]:
            left, first = left - begun.sweeps, 0
            yield Beat(begun.sweeps, begun.point)
            continue
        found[0, 2] = room / max(entries_per_row(X), 1.0)
        while found[0, 2] > 0.0 and left > 0:
            most = 1 if pace.hurry else min(pace.left, left)
            seeds = np.array([first or int(rng.integers(1, 1 << 30))])
            _solve_each(rule, view, y[None], c, q, alpha[None], w[None], most, tol, seeds, found)
            done, first = Begun(alpha, w, found[0]), 0
            left -= done.sweeps
            yield Beat(done.sweeps, done.point)


def relaxation(problem: Problem) -> float:
    """Return the rate that serves best: 1.5 where caps are wide, else 1 (`benchmarks/large_margin_sparse.py` measures it)."""
    return 1.5 if problem.hard or float(np.mean(problem.c * problem.q)) >= 1.0 else 1.0


def ascend(
    problem: Problem,
    alpha: FloatArray,
    w: FloatArray,
    rng: np.random.Generator,
    *,
    tol: float,
    rate: float,
    shrink: bool = True,
    patience: int = 0,
    pace: Pace,
) -> Iterator[Beat]:
    """Sweep for ever, yielding after every piece of work, with a Point whenever the gap is computed.

    Parameters
    ----------
    problem : Problem
        The data.
    alpha, w : ndarray, shape (n,), (D,)
        Where to start, with w = Σ alpha_i y_i x_i; changed in place.
    rng : Generator
        Random order of the blocks.
    tol : float
        The gap that is aimed at.
    rate : float
        Rate of the rule, between 0 and 2.
    shrink : bool, default True
        False: show every example in every sweep, in order, and compute the gap after each: the plain rule.
    patience : int, default 0
        If not 0, the gap is computed at the latest after this many sweeps.
    pace : Pace
        Iterations left; in a hurry, the gap is computed at once.
    """
    X, y, c, _, _ = problem
    n, rule = n_rows(X), AdaTron(rate, np.inf if problem.hard else 1.0)
    entries = max(entries_per_row(X), 1.0)
    block = min(max(int(BLOCK_ENTRIES // entries), 1), BLOCK) if n >= 64 * BLOCK else 1
    piece = max(1, int(PIECE // (block * entries)))
    active, threshold, pull, silent = np.arange(n), 1.0, np.array([np.inf, -np.inf, -np.inf, np.inf]), 0
    bias, lead = _Bias(problem, alpha, w), lead_of(X, scattered=block == 1)
    while True:
        few = active.size * entries <= FEW and shrink and not bias.apart
        if few:
            most = min(int(PIECE // (active.size * entries + 1)) + 1, SWEEPS, pace.left)
            most = min(most, patience - silent) if patience else most
            seed = int(rng.integers(1, 2147483647))
            left, swept = _sweep_few(rule, bias.view, y, c, bias.q, alpha, bias.w, active, most, threshold, seed, pull)
            active = active[:left]
        else:
            blocks, swept = -(-active.size // block), 1
            order = rng.permutation(blocks) if shrink else np.arange(blocks)
            for first in range(0, order.size, piece):
                _sweep(rule, bias.view, y, c, bias.q, alpha, bias.w, active, order[first : first + piece], block, pull, lead)
                if first + piece < order.size:
                    yield Beat(0)
                    if pace.hurry:
                        break
            active = active[active < n]
            bias.move()
        silent, spread = silent + swept, pull[2] - pull[3]
        due = not shrink or spread <= threshold or active.size == 0 or (patience > 0 and silent >= patience)
        if not due and not pace.hurry:
            yield Beat(swept)
            swept = 0
        if due or pace.hurry:
            point = value(problem, bias.all, alpha, bias.combined())
            yield Beat(swept, point)
            gap = min(point.gap, 1.0)
            if spread <= threshold:
                threshold *= float(np.clip(0.7 * np.sqrt(tol / gap), 0.2, 0.5)) if gap > 0.0 else 0.05
            active, silent = np.arange(n), 0
            pull[:] = np.inf, -np.inf, -np.inf, np.inf
            if shrink:
                bias.choose(gap)
        else:
            pull[:] = pull[2] if pull[2] > 0.0 else np.inf, pull[3] if pull[3] < 0.0 else -np.inf, -np.inf, np.inf


class _Bias:
    """The clamped weight: part of the rule, or taken out of it where it couples too many free strengths."""

    def __init__(self, problem: Problem, alpha: FloatArray, w: FloatArray) -> None:
        self.problem, self.alpha, self.all = problem, alpha, w
        self.best, self.tries = np.inf, 0
        self._join()

    def _join(self) -> None:
        """Make the clamped input part of the rule."""
        self.apart = False
        self.view, self.w, self.q = Shifted(self.problem.X, self.problem.shift), self.all, self.problem.q

    def _free(self) -> FloatArray:
        """Return the shares 1/‖x_i‖² of the examples of free strength, without the clamped input."""
        X, _, c, q, _ = self.problem
        free = (self.alpha > 0.0) & (self.alpha < c)
        shares: FloatArray = 1.0 / np.maximum(q[free] - X.scale**2, 1e-3 * q[free])
        return shares

    def choose(self, gap: float) -> None:
        """Take the bias out of the rule where that should pay, and back in when it does not."""
        X = self.problem.X
        if self.apart:
            self.tries = 0 if gap < self.best else self.tries + 1
            if self.tries == 2:
                self.all[-1] = X.scale * float(self.alpha @ self.problem.y)
                self._join()
        elif isinstance(X, Clamped) and X.scale != 0.0 and self.tries == 0 and X.scale**2 * float(self._free().sum()) > COUPLED:
            self.apart = True
            self.w = self.all[:-1]
            self.q = np.maximum(self.problem.q - X.scale**2, 1e-3 * self.problem.q)
            self._show()
        self.best = min(self.best, gap)

    def _show(self) -> None:
        X = self.problem.X
        self.view = Shifted(Clamped(X.rows, 0.0), self.problem.shift + X.scale * float(self.all[-1]))

    def move(self) -> None:
        """Move a bias that is out of the rule by Newton's step, but not far."""
        if self.apart:
            square = self.problem.X.scale**2
            b, total = self.problem.X.scale * float(self.all[-1]), float(self.alpha @ self.problem.y)
            step = (total - b / square) / (1.0 / square + float(self._free().sum()))
            self.all[-1] = (b + float(np.clip(step, -0.2, 0.2))) / self.problem.X.scale
            self._show()

    def combined(self) -> FloatArray:
        """Return Σ alpha_i y_i x_i."""
        if not self.apart:
            return self.all
        v = self.all.copy()
        v[-1] = self.problem.X.scale * float(self.alpha @ self.problem.y)
        return v
