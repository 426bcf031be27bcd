"""A grid of caps and widths, in every fold: side by side in threads, and without what can no longer win.

Order     One width after another; for each the caps rise, and for each cap the folds follow each other. So every width needs
          one matrix, and each fold starts from its own machine for the cap before.
Theorem   If a point of the grid has scores s_1..s_f so far and F folds in all, its mean is at most (Σ s + F - f)/F. Once that
          is below a mean that another point has reached, it cannot be the best, and its remaining folds are skipped.
          Which means are known when depends on the grid alone (two widths first, then all others), never on the threads.
"""

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from halfspace._typing import FloatArray, IntArray
from halfspace.rows.threads import one_blas_thread
from halfspace.solvers.kernel.grid import Place, Shared, advance, confine, refresh, stretch
from halfspace.solvers.kernel.grid_matrices import WidthMatrices
from halfspace.solvers.kernel.pair_steps import gap_at
from halfspace.solvers.linear.soft_margin import best_bias
from halfspace.solvers.outcome import Reason

__all__ = ["GridLimits", "GridRun", "Machine", "search_grid"]

CHUNK = 1 << 16
"""Steps between two looks at the clock."""
FINE, TRIES = 1e-3, 10
"""Up to this relative gap h is always computed anew before it is believed, at most so many times."""


class GridLimits(NamedTuple):
    """How exact to be, how long to go on, whether to skip what cannot win, and whom to tell the share that is done."""

    tol: float
    free: bool
    deadline: float | None = None  # by time.perf_counter()
    skip: bool = True
    tell: Callable[[float], None] = lambda _share: None
    anew: Callable[[int, Place], None] | None = None  # computes h of a width in the end


@dataclass
class Machine:
    """One two-class problem in one fold, carried from cap to cap."""

    y: FloatArray  # (n,) labels ±1; 0: not of this problem
    c: FloatArray  # (n,) cap of every example in units of C; 0: not learnt from
    at: Place = field(init=False)
    C: float = 0.0
    bias: float = 0.0
    gap: float = np.inf
    steps: int = 0

    def __post_init__(self) -> None:
        n = self.y.size
        self.at = Place(self.y, self.y.copy(), np.zeros(n), np.zeros(n), np.zeros(n))

    def outputs(self, rows: IntArray) -> FloatArray:
        """Return f(x) of some examples."""
        f: FloatArray = self.y[rows] - self.at.h[rows] + self.bias
        return f

    def solve(
        self, shared: Shared, C: float, tol: float, stopped: Callable[[], bool], anew: Callable[[Place], None] | None
    ) -> None:
        """Go on to a larger cap; the gap is believed only after `anew`, if there is one, has computed h once more."""
        at, tries, stale = self.at, 0, False
        confine(at, self.c, C)
        if self.C > 0.0:
            stretch(at, C / self.C)
        self.C, self.steps, most = C, 0, (40 if anew is None else 500) * self.y.size + 10_000
        while True:
            gap, primal, done = advance(shared, at, tol, CHUNK)
            self.steps, stale = self.steps + done, stale or done > 0
            over = gap <= tol * primal or done < CHUNK or self.steps >= most or stopped()
            if over and stale and anew is not None:
                anew(at)
                tries, stale = tries + 1, False
                gap, primal, _ = advance(shared, at, tol, 0)
                over = gap <= tol * primal or tries == TRIES or self.steps >= most or stopped()
            if over:
                break
        if shared.free:
            rows = np.flatnonzero(self.c)
            self.bias = best_bias(self.y[rows] - at.h[rows], self.y[rows], C * self.c[rows])
            best = gap_at(at.h, at.b, at.lo, at.hi, self.bias)
            gap, primal = best, primal - gap + best
        self.gap = gap / primal if primal > 0.0 else 0.0


class GridRun:
    """What came of a grid of G widths and m caps in F folds: scores, gaps and steps, each of shape (G, m, F).

    Parameters
    ----------
    matrices : WidthMatrices
        The kernel for each width.
    Cs : ndarray, shape (m,)
        Caps, ascending.
    folds : list of list of (y, c)
        The two-class problems of every fold, as `Machine` takes them.
    score : function
        `score(width, cap, fold, machines)`, called in threads: what these machines are worth, at most 1.
    limits : GridLimits
        How to go about it.
    """

    reason: Reason = "converged"

    def __init__(
        self,
        matrices: WidthMatrices,
        Cs: FloatArray,
        folds: list[list[tuple[FloatArray, FloatArray]]],
        score: Callable[[int, int, int, list[Machine]], float],
        limits: GridLimits,
    ) -> None:
        self.matrices, self.Cs, self.folds, self.score, self.limits = matrices, Cs, folds, score, limits
        shape = (len(matrices.kernels), Cs.size, len(folds))
        self.scores, self.gaps = np.full(shape, np.nan), np.full(shape, np.nan)
        self.steps = np.zeros(shape, dtype=np.int64)
        self.cancelled = threading.Event()
        self._effort = np.arange(1.0, Cs.size + 1.0) ** 2  # large caps take longer
        self._done, self._lock = 0.0, threading.Lock()

    def stopped(self) -> bool:
        """Tell whether to stop before the end."""
        if self.limits.deadline is not None and time.perf_counter() >= self.limits.deadline and not self.cancelled.is_set():
            self.reason = "time budget spent"
            self.cancelled.set()
        return self.cancelled.is_set()

    def means(self) -> FloatArray:
        """Return the mean scores of the points that have all their folds, NaN for the others, shape (G, m)."""
        means: FloatArray = self.scores.mean(axis=2)
        return means

    def climb(self, width: int, shared: Shared, folds: range, known: float) -> None:
        """Solve one width for all caps; `known` is a mean score that another width has."""
        machines = [[Machine(y, c) for y, c in fold] for fold in self.folds]
        total, skip = len(self.folds), self.limits.skip and len(folds) == len(self.folds)
        anew = partial(refresh, shared.K) if self.limits.tol <= FINE else None
        if self.limits.anew is not None:
            anew = partial(self.limits.anew, width)
        for k, C in enumerate(self.Cs.tolist()):
            for f in folds:
                hopeless = (self.scores[width, k, :f].sum() + total - f) / total < known - 1e-9
                if self.stopped() or (skip and hopeless):
                    break
                for machine in machines[f]:
                    machine.solve(shared, C, self.limits.tol, self.stopped, anew)
                if self.cancelled.is_set():
                    return
                self.gaps[width, k, f] = max(machine.gap for machine in machines[f])
                self.steps[width, k, f] = sum(machine.steps for machine in machines[f])
                self.scores[width, k, f] = self.score(width, k, f, machines[f])
            mean = self.scores[width, k].mean()
            known = max(known, mean) if mean == mean else known  # noqa: PLR0124  (not NaN)
            self._tell(self._effort[k] * len(folds) / total)

    def _tell(self, effort: float) -> None:
        with self._lock:
            self._done += effort
            share = self._done / (self._effort.sum() * len(self.matrices.kernels))
        self.limits.tell(share)


def search_grid(run: GridRun, workers: int) -> None:
    """Solve a grid, in threads; a keyboard interrupt keeps what is done, and `run.reason` says so."""
    matrices, folds = run.matrices, range(len(run.folds))
    widths = len(matrices.kernels)
    spare: queue.SimpleQueue[tuple[Any, Any]] = queue.SimpleQueue()  # memory that the next piece of work takes over
    for _ in range(workers):
        spare.put((matrices.memory() if widths > 1 else None, matrices.room()))

    def one(width: int, part: range, known: float, K: Any = None) -> None:
        memory, room = spare.get()
        try:
            if not run.stopped():
                K = matrices.fill(width, memory) if K is None else K
                run.climb(width, Shared(K, K.diagonal().copy(), room, run.limits.free), part, known)
        except BaseException:
            run.cancelled.set()  # here, before this thread takes up its next piece
            raise
        finally:
            spare.put((memory, room))

    with one_blas_thread(), ThreadPoolExecutor(workers) as pool:
        if widths == 1:  # the folds side by side, none skipped
            K = matrices.fill(0, matrices.memory())
            _together(run, [pool.submit(one, 0, range(f, f + 1), -np.inf, K) for f in folds])
            return
        first = [widths // 2 - 1, widths // 2] if run.limits.skip else list(range(widths))
        _together(run, [pool.submit(one, width, folds, -np.inf) for width in first])
        means = run.means()
        known = float(np.nanmax(means)) if np.isfinite(means).any() else -np.inf
        _together(run, [pool.submit(one, width, folds, known) for width in range(widths) if width not in first])


def _together(run: GridRun, waiting: list[Future[None]]) -> None:
    """Wait for all; what goes wrong in one ends the others."""
    try:
        for future in waiting:
            future.result()
    except KeyboardInterrupt:
        run.reason = "interrupted"
        run.cancelled.set()
        wait(waiting)
    except BaseException:
        run.cancelled.set()
        raise
