"""A grid of caps and widths, in every fold: side by side in threads, and without what can no longer win.

Order     One width after another; for each the caps rise, and for each cap the folds follow each other. So every width needs
          one matrix, and each fold starts from its own machine for the cap before.
Theorem   If a point of the grid has scores s_1..s_f so far and F folds in all, its mean is at most (Σ s + F - f)/F. Once that
          is below a mean that another point has reached, it cannot be the best, and its remaining folds are skipped.
          Which means are known when depends on the grid alone (two widths first, then all others), never on the threads.
"""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from halfspace._typing import FloatArray, IntArray
from halfspace.solvers.kernel.grid import Place, Shared, WidthMatrices, enlarge, refresh
from halfspace.solvers.kernel.pair_steps import Free, Penalised, gap_at
from halfspace.solvers.linear.soft_margin import best_bias
from halfspace.solvers.outcome import Reason
from halfspace.solvers.run import Budget, run, run_all

__all__ = ["GridPlan", "GridRun", "Machines", "WidthSearch", "chosen_point", "results_table", "search_grid"]

CHUNK, GROUP, ENTRIES = 1 << 16, 16, 1 << 25
"""Steps between two looks at the clock; how many problems share them at most, and entries of their matrices in all."""
FINE, TRIES = 1e-3, 10
"""Up to this relative gap h is always computed anew before it is believed, at most so many times."""


class GridPlan(NamedTuple):
    """How exact to be, the kind of bias, whether to skip what cannot win, and whom to tell the share that is done."""

    tol: float
    free: bool
    skip: bool = True
    tell: Callable[[float], None] = lambda _share: None
    anew: Callable[[int, Place], None] | None = None  # computes h of a width in the end


class Machines:
    """The K two-class problems of a fold, carried from cap to cap."""

    def __init__(self, y: FloatArray, c: FloatArray) -> None:
        self.y, self.c = y, c  # (K, n): labels ±1, 0: not of this problem; caps in units of C, 0: not learnt from
        self.at = Place(y, y.copy(), *np.zeros((3, *y.shape)))
        self.C, self.bias, self.found = 0.0, np.zeros(y.shape[0]), np.zeros((y.shape[0], 4))

    @property
    def gap(self) -> float:
        """The widest relative gap."""
        return max(gap / primal if primal > 0.0 else 0.0 for gap, primal in self.found[:, :2].tolist())

    @property
    def steps(self) -> int:
        """Steps done for the last cap."""
        return int(self.found[:, 2].sum())

    def outputs(self, rows: IntArray) -> FloatArray:
        """Return f(x) of some examples, shape (rows, K)."""
        f: FloatArray = (self.y[:, rows] - self.at.h[:, rows]).T + self.bias
        return f

    def solve(self, shared: Shared, C: float, tol: float, anew: Callable[[Place], None] | None) -> Iterator[None]:
        """Go on to a larger cap, yielding now and then.

        The gap is believed only after `anew`, if there is one, has computed h once more.
        """
        before, self.C, size = self.C, C, min(max(ENTRIES // self.y.shape[1] ** 2, 1), GROUP)
        for first in range(0, self.y.shape[0], size):
            some = slice(first, first + size)
            at, c, found = Place(*[part[some] for part in self.at]), self.c[some], self.found[some]
            found[:, 2:] = 0.0, 1.0
            (K, n), caps = c.shape, (before, C)
            limits = CHUNK // K, (40 if anew is None else 500) * n + 10_000
            if first:
                yield
            while enlarge(shared, at, c, caps, tol, limits, found):
                caps = C, C
                yield
            if anew is not None:
                yield from _believed(shared, at, c, tol, limits, found, anew)
        if isinstance(shared.bias, Free):
            for k in range(self.y.shape[0]):
                self._move_bias(k)

    def _move_bias(self, k: int) -> None:
        """Take the best free bias of a problem."""
        y, h, b, lo, hi = (part[k] for part in self.at)
        rows = np.flatnonzero(self.c[k])
        self.bias[k] = best_bias(y[rows] - h[rows], y[rows], self.C * self.c[k, rows])
        best = gap_at(h, b, lo, hi, self.bias[k])
        self.found[k, 1] += best - self.found[k, 0]
        self.found[k, 0] = best


def _believed(
    shared: Shared,
    at: Place,
    c: FloatArray,
    tol: float,
    limits: tuple[int, int],
    found: FloatArray,
    anew: Callable[[Place], None],
) -> Iterator[None]:
    """Compute h of some problems once more, and go on with those whose gap is not what it seemed to be."""
    caps, steps, going, known = (1.0, 1.0), found[:, 2], found[:, 3], np.zeros(c.shape[0])
    for tries in range(1, TRIES + 1):
        stale = np.flatnonzero(steps > known)
        for k in stale:
            anew(Place(*[part[k] for part in at]))
        known[:], going[:], going[stale] = steps, 0.0, 1.0
        if tries == TRIES or (steps[stale] >= limits[1]).all():
            enlarge(shared, at, c, caps, tol, (0, 0), found)
            return
        while enlarge(shared, at, c, caps, tol, limits, found):
            yield


class GridRun:
    """What came of a grid of G widths and m caps, ascending, in F folds: scores, gaps and steps, each of shape (G, m, F).

    A fold is y and c of its two-class problems, as `Machines` takes them. `score(width, cap, fold, machines)`, called in
    threads, says what these machines are worth, at most 1.
    """

    reason: Reason = "converged"
    deadline: float | None = None  # of `time.perf_counter`: no width is begun after it

    def __init__(
        self,
        matrices: WidthMatrices,
        Cs: FloatArray,
        folds: list[tuple[FloatArray, FloatArray]],
        score: Callable[[int, int, int, Machines], float],
        plan: GridPlan,
    ) -> None:
        self.matrices, self.Cs, self.folds, self.score, self.plan = matrices, Cs, folds, score, plan
        shape = (len(matrices.kernels), Cs.size, len(folds))
        self.scores, self.gaps = np.full(shape, np.nan), np.full(shape, np.nan)
        self.steps = np.zeros(shape, dtype=np.int64)
        self._effort = np.arange(1.0, Cs.size + 1.0) ** 2  # large caps take longer
        self._done, self._lock, self._memory = 0.0, threading.Lock(), threading.local()

    def means(self) -> FloatArray:
        """Return the mean scores of the points that have all their folds, NaN for the others, shape (G, m)."""
        means: FloatArray = self.scores.mean(axis=2)
        return means

    def shared(self, width: int, K: Any) -> Shared:
        """Return the matrix of a width, unless it is given, and room for squares, in memory that its thread uses again."""
        memory = self._memory
        if not hasattr(memory, "room"):
            memory.room, memory.K = self.matrices.room(), None if K is not None else self.matrices.memory()
        K = self.matrices.fill(width, memory.K) if K is None else K
        return Shared(K, K.diagonal().copy(), memory.room, Free() if self.plan.free else Penalised())

    def late(self) -> bool:
        """Tell whether the time is over; the reason is kept."""
        over = self.deadline is not None and time.perf_counter() > self.deadline
        self.reason = "time budget spent" if over else self.reason
        return over

    def tell(self, cap: int, share: float) -> None:
        """Say that a share of the folds of a cap is done."""
        with self._lock:
            self._done += self._effort[cap] * share
            done = self._done / (self._effort.sum() * len(self.matrices.kernels))
        self.plan.tell(done)


class _Work:
    """The work of a width, as it goes on."""

    def __init__(self, scores: Iterator[list[float]]) -> None:
        self.scores, self.over = scores, False


@dataclass(frozen=True)
class WidthSearch:
    """The method: one width for all caps, in some folds; `known` is a mean score that another width has."""

    grid: GridRun
    width: int
    folds: range
    known: float = -np.inf
    K: Any = None

    unit: ClassVar[str] = "machine"
    columns: ClassVar[tuple[str, ...]] = ("score",)

    def start(self, before: Any = None) -> _Work:  # noqa: ARG002  (a machine is not gone on with)
        """Return the work to be done."""
        return _Work(self._scores())

    def step(self, state: _Work, most: int) -> tuple[FloatArray, ...]:
        """Climb for a while; machines that are solved are scored."""
        del most
        scores = next(state.scores, None)
        state.over = scores is None
        return (np.array(scores),) if scores else ()

    def status(self, state: _Work) -> Reason | None:
        """Return whether all is done."""
        return "converged" if state.over else None

    def certify(self, state: _Work) -> FloatArray:
        """Return the scores, shape (m, F); no proof is claimed for them."""
        del state
        scores: FloatArray = self.grid.scores[self.width]
        return scores

    def _scores(self) -> Iterator[list[float]]:
        """Yield the scores of every cap, and nothing in between."""
        grid, width, known, plan = self.grid, self.width, self.known, self.grid.plan
        if grid.late():
            return
        shared = grid.shared(width, self.K)
        machines: dict[int, Machines] = {}
        total, skip = len(grid.folds), plan.skip and len(self.folds) == len(grid.folds)
        anew = partial(refresh, shared.K) if plan.tol <= FINE else None
        if plan.anew is not None:
            anew = partial(plan.anew, width)
        for k, C in enumerate(grid.Cs.tolist()):
            scores: list[float] = []
            for f in self.folds:
                if skip and (grid.scores[width, k, :f].sum() + total - f) / total < known - 1e-9:  # it cannot win any more
                    break
                own = machines[f] = machines.get(f) or Machines(*grid.folds[f])
                for _ in own.solve(shared, C, plan.tol, anew):
                    yield []
                grid.gaps[width, k, f], grid.steps[width, k, f] = own.gap, own.steps
                grid.scores[width, k, f] = score = grid.score(width, k, f, own)
                scores.append(score)
            yield scores
            mean = float(grid.scores[width, k].mean())
            known = known if np.isnan(mean) else max(known, mean)
            grid.tell(k, len(self.folds) / total)


def search_grid(grid: GridRun, workers: int, seconds: float | None = None) -> None:
    """Solve a grid, in threads; a limit or a keyboard interrupt keeps what is done, and `grid.reason` says so."""
    matrices, folds, widths = grid.matrices, range(len(grid.folds)), range(len(grid.matrices.kernels))
    deadline = grid.deadline = None if seconds is None else time.perf_counter() + seconds
    if seconds is not None and matrices.seconds() > seconds:
        grid.reason = "time budget spent"
        return
    matrices.prepare()

    def search(methods: list[WidthSearch]) -> None:
        left = None if deadline is None else max(deadline - time.perf_counter(), 0.0)
        if left == 0.0:
            grid.reason = "time budget spent"
            return
        works = [partial(run, method) for method in methods]
        ends = [done.outcome.reason for done in run_all(works, Budget(1 << 62, left), workers, share=False)]
        grid.reason = next((reason for reason in (grid.reason, *ends) if reason != "converged"), "converged")

    if len(widths) == 1:  # the folds side by side, none skipped
        K = matrices.fill(0, matrices.memory())
        search([WidthSearch(grid, 0, range(f, f + 1), K=K) for f in folds])
        return
    first = [len(widths) // 2 - 1, len(widths) // 2] if grid.plan.skip else list(widths)
    search([WidthSearch(grid, width, folds) for width in first])
    means = grid.means()
    known = float(np.nanmax(means)) if np.isfinite(means).any() else -np.inf
    if grid.reason == "converged":
        search([WidthSearch(grid, width, folds, known) for width in widths if width not in first])


class Point(NamedTuple):
    """A point of the grid by the numbers of its width and cap, and its mean score."""

    width: int
    cap: int
    score: float


def chosen_point(grid: GridRun, *, one_standard_error: bool) -> Point:
    """Return the point with the best mean score: of equals the smallest cap, then the smallest gamma.

    One standard error: the smallest cap that has a point within that of the best, and of its widths the best. If no point has
    all its folds, because the run was stopped, the mean is over those it has; if none has any, the middle of the grid is taken.
    """
    means, done = grid.means(), np.isfinite(grid.scores)
    if not done.any():
        if grid.reason == "interrupted":
            raise KeyboardInterrupt
        return Point(means.shape[0] // 2, means.shape[1] // 2, float("nan"))
    if not np.isfinite(means).any():
        means = np.nansum(grid.scores, axis=2) / np.where(done.any(axis=2), done.sum(axis=2), np.nan)
    known = np.where(np.isnan(means), -np.inf, means).T  # caps first
    cap, width = np.unravel_index(np.argmax(known), known.shape)
    folds = grid.scores.shape[2]
    if one_standard_error and folds > 1:
        spare = np.nan_to_num(grid.scores[width, cap].std(ddof=1) / np.sqrt(folds))
        cap = np.flatnonzero(known.max(axis=1) >= known[cap, width] - spare)[0]
        width = np.argmax(known[cap])
    return Point(int(width), int(cap), float(known[cap, width]))


def results_table(grid: GridRun, gammas: FloatArray) -> dict[str, Any]:
    """Return what is known of every point, in scikit-learn's form: gammas (NaN: none) outside, caps inside."""
    points = gammas.size * grid.Cs.size
    scores, gaps = grid.scores.reshape(points, -1), grid.gaps.reshape(points, -1)
    done = np.isfinite(scores)
    count = np.where(done.any(axis=1), done.sum(axis=1), np.nan)
    mean = np.nansum(scores, axis=1) / count
    spread = np.sqrt(np.nansum((scores - mean[:, None]) ** 2, axis=1) / count)
    Cs, widths = np.tile(grid.Cs, gammas.size), np.repeat(gammas, grid.Cs.size)
    best_first = np.where(np.isnan(mean), np.inf, -mean)
    pairs = zip(Cs.tolist(), widths.tolist(), strict=True)
    return {
        "params": [{"C": C} if np.isnan(gamma) else {"C": C, "gamma": gamma} for C, gamma in pairs],
        "param_C": Cs,
        "param_gamma": widths,
        **{f"split{fold}_test_score": scores[:, fold] for fold in range(scores.shape[1])},
        "mean_test_score": mean,
        "std_test_score": spread,
        "rank_test_score": 1 + np.searchsorted(np.sort(best_first), best_first),
        "skipped_folds": (~done).sum(axis=1),
        "reachable_score": np.where(done, scores, 1.0).mean(axis=1),
        "mean_gap": np.nansum(gaps, axis=1) / count,
        "steps": grid.steps.reshape(points, -1).sum(axis=1),
    }
