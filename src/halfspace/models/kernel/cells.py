"""Kernel machines for more examples than one machine can handle: one machine per cell.

K-means cuts the space; the examples of a cell train a machine of their own, and a new row is asked of the machine of its
nearest centre (as in liquidSVM's large mode). Work grows like n² / cells. This answers another problem than the one machine
for all examples; it proves the gaps of the problems it did solve.
"""

import threading
import warnings
from functools import partial
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans

from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.certificates import Certificate, OneLabel, PerCell
from halfspace.certificates.expansion import indefiniteness
from halfspace.certificates.groups import nearest_centres
from halfspace.errors import InputError
from halfspace.kernels import Kernel
from halfspace.kernels.gram import LazyGram
from halfspace.models.kernel.margin import Claims, KernelPlan
from halfspace.models.kernel.prediction import Expansion
from halfspace.models.multiclass import certificate_of, history_of, tasks_of
from halfspace.models.parameters import Examples
from halfspace.models.progress import Reporter
from halfspace.rows.views import view_of
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.run import Budget, Course, Run, run_all

__all__ = ["Cells", "CellsLearnt", "borrow", "cut", "learn_cells"]

SAMPLE = 100
"""Examples per centre that K-means sees."""
ROUNDS = 20
"""Iterations of K-means: good centres will do."""
RATE = 2e9
"""Products of entries of rows and centres in a second."""
VALUES = 1 << 21
"""Distances held at a time."""
LARGEST = 2.0
"""Cells with more examples than this many times the mean are cut again."""


class Cells(NamedTuple):
    """Machines that know one cell each: their centres, and which support vectors and bias they have.

    A cell of one class has no support vectors, and a bias of 1 (or -1) for its class.
    """

    centres: Annotated[FloatArray, "f8(_q,d)"]  # (cells, d)
    columns: Annotated[list[IntArray], ["i8(_c)"]]  # of each cell: its support vectors, numbers within the expansion of all
    bias: Annotated[FloatArray, "f8(_q,K)"]  # (cells, K)
    present: Annotated[Any, "b(_q,K)"]  # (cells, K) bool: the classes that live in a cell; all for two classes

    def check(self, m: int) -> None:
        """Refuse cells read from a file that point outside the m support vectors."""
        inside = all(c.size == 0 or 0 <= c.min() <= c.max() < m for c in self.columns)
        if not inside or len(self.columns) != self.centres.shape[0] or not self.present.any(axis=1).all():
            raise ValueError("cells point outside the support vectors, or are without a class")

    def outputs(self, expansion: Expansion, X: Matrix, places: Matrix | None = None) -> FloatArray:
        """Return the outputs on rows of X, shape (n, K), each by the machine of the centre nearest to it or to its `places`."""
        cells, scores = (
            nearest_centres(X if places is None else places, self.centres),
            np.empty((X.shape[0], self.bias.shape[1])),
        )
        order = np.argsort(cells, kind="stable")
        ends = np.searchsorted(cells[order], np.arange(len(self.columns) + 1))
        for k in np.flatnonzero(np.diff(ends)):
            rows, columns = order[ends[k] : ends[k + 1]], self.columns[k]
            own = expansion._replace(
                support=expansion.support[columns],
                rows=expansion.rows[columns],
                coefficients=expansion.coefficients[:, columns],
                bias=self.bias[k],
            )
            found, absent = own.outputs(X[rows]), ~self.present[k]
            if absent.any():  # a class that was never seen here loses to those that were
                found[:, absent] = found[:, ~absent].min(axis=1, keepdims=True) - 1.0
            scores[rows] = found
        return scores


def _centres(X: Matrix, count: int, rng: np.random.Generator) -> FloatArray:
    """Return centres of the rows of X by K-means on a sample of them, at most `count`."""
    n = X.shape[0]
    chosen = np.sort(rng.choice(n, min(n, SAMPLE * count), replace=False))
    seed = int(rng.integers(np.iinfo(np.int32).max))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer different rows than centres: then there are fewer cells
        found = KMeans(min(count, chosen.size), n_init=1, max_iter=ROUNDS, random_state=seed).fit(X[chosen])
    return np.asarray(found.cluster_centers_, dtype=np.float64)


def cut(X: Matrix, count: int, seed: int, seconds: float = np.inf, least: int = 1) -> tuple[FloatArray, IntArray]:
    """Cut examples into about `count` cells, none much larger than the others where the data, and the seconds, allow that.

    Returns the centres, shape (cells, d), of those that have at least `least` examples, and the cell of each, shape (n,):
    examples that lie apart belong to the nearest cell that is not theirs alone.
    """
    rng, most = np.random.default_rng(seed), max(1, int(LARGEST * X.shape[0] / count))
    centres = _centres(X, count, rng)
    cells = nearest_centres(X, centres)
    for _ in range(int(min(6.0, 0.1 * seconds * RATE / (X.shape[0] * X.shape[1] * (8 + count))))):
        sizes = np.bincount(cells, minlength=centres.shape[0])
        large = np.flatnonzero(sizes > most)
        if large.size == 0:
            break
        finer = [_centres(X[cells == k], 1 + int(sizes[k]) // most, rng) for k in large]
        centres = np.concatenate([np.delete(centres, large, axis=0), *finer])
        cells = nearest_centres(X, centres)
    sizes = np.bincount(cells, minlength=centres.shape[0])
    while sizes.min() < min(least, sizes.max()):
        centres = centres[sizes >= min(least, sizes.max())]
        cells = nearest_centres(X, centres)
        sizes = np.bincount(cells, minlength=centres.shape[0])
    return centres, cells


def borrow(X: Matrix, centres: FloatArray, cells: IntArray, share: float) -> list[IntArray]:
    """Return for every cell the examples next to it whose second nearest centre is its own, at most `share` times its size.

    Nearest is the border that a step of the least share of the way between the two centres leads to.
    """
    second, depth = np.empty(cells.size, dtype=np.int64), np.empty(cells.size)
    rows, squared = (X.toarray() if sparse.issparse(X) else np.asarray(X)), (centres * centres).sum(axis=1)
    step = max(1, VALUES // (centres.shape[0] + centres.shape[1]))
    for first in range(0, cells.size, step):
        part = slice(first, first + step)
        D, own = squared - 2.0 * rows[part] @ centres.T, cells[part][:, None]  # squared distances, but for a number of each row
        near = np.take_along_axis(D, own, axis=1)[:, 0]
        np.put_along_axis(D, own, np.inf, axis=1)
        second[part] = D.argmin(axis=1)
        between = np.square(centres[second[part]] - centres[cells[part]]).sum(axis=1)
        depth[part] = (D.min(axis=1) - near) / np.where(between > 0.0, between, np.inf)
    order, sizes = np.lexsort((depth, second)), np.bincount(cells, minlength=centres.shape[0])
    ends = np.searchsorted(second[order], np.arange(centres.shape[0] + 1))
    return [np.sort(order[ends[k] : ends[k + 1]][: int(share * sizes[k])]) for k in range(centres.shape[0])]


# ------------------------------------------------------------ learning
class _Machine(NamedTuple):
    """What was learnt in one cell."""

    present: IntArray  # numbers of the classes that live there
    signed: FloatArray  # (problems, rows) strengths times labels; no rows of one class only
    bias: FloatArray  # (problems,)
    proof: Certificate
    gap: float
    outcome: Outcome
    rounds: int
    history: dict[str, FloatArray]


class CellsLearnt(NamedTuple):
    """What was learnt in all cells."""

    expansion: Expansion
    alpha: FloatArray  # (K, n)
    cells: Cells
    certificate: PerCell
    machines: list[_Machine]


def _largest_class(data: Examples, rows: IntArray) -> _Machine:
    """Return what knows a cell of one class; of a cell of several, all that is known before it is learnt."""
    present, solved = np.array([np.bincount(data.target[rows]).argmax()]), Outcome("solved", "")
    history = history_of(Run(None, solved, 0, Course(("primal", "dual"))), "round", 0.0, 0.0)
    label = OneLabel(data.classes[present].tolist()[0])
    return _Machine(present, np.zeros((0, rows.size)), np.zeros(0), label, 0.0, solved, 0, history)


def _learn_cell(
    kernel: Kernel,
    plan: KernelPlan,
    data: Examples,
    cell: tuple[IntArray, int],
    s: FloatArray,
    budget: Budget,
    before: _Machine | None,
) -> _Machine:
    """Learn from the examples of one cell, or go on from an earlier answer."""
    rows, seed = cell
    present, target = np.unique(data.target[rows], return_inverse=True)
    classes = data.classes[present]
    if present.size == 1:
        return _largest_class(data, rows)
    X = data.X[rows]
    part = Examples(X, data.y[rows], view_of(X, data.clamp), classes, target, data.q[rows], data.clamp)
    shift, objection = indefiniteness(kernel, X)
    if objection is not None:
        msg = f"KernelAdaTron, in a cell of {rows.size:,} examples: {objection}"
        raise InputError(msg)
    tasks, gram = tasks_of(part, s[rows]), LazyGram(kernel, X, data.clamp, seconds=budget.left())
    claims = Claims.about(part, kernel, shift, plan)
    seeds = [seed + k for k in range(len(tasks))]
    starts = [None] * len(tasks) if before is None else list(np.abs(before.signed))
    runs, answers, gaps = claims.solve(gram, tasks, seeds, starts, budget, 1)
    slowest = max(range(len(runs)), key=lambda k: runs[k].rounds)
    outcome = next((done.outcome for done in runs if done.outcome.reason != "converged"), runs[slowest].outcome)
    signed = np.stack([answer.b for answer in answers])
    bias = np.array([answer.bias for answer in answers]) + data.clamp**2 * signed.sum(axis=1)
    widest, proof = max(gap.relative_gap for gap in gaps), certificate_of(part, gaps)
    history = history_of(runs[slowest], "round", answers[slowest].primal, answers[slowest].dual)
    return _Machine(present, signed, bias, proof, widest, outcome, runs[slowest].rounds, history)


def learn_cells(
    kernel: Kernel,
    plan: KernelPlan,
    data: Examples,
    s: FloatArray,
    n_cells: int,
    seed: int,
    budget: Budget,
    n_jobs: int | None,
    reporter: Reporter,
) -> CellsLearnt:
    """Cut the examples of positive weight into about `n_cells` cells and learn a machine for each; `reporter` hears of all."""
    used = np.flatnonzero(s > 0)
    left = budget.left()
    centres, found = cut(data.X if used.size == s.size else data.X[used], n_cells, seed, np.inf if left is None else left)
    cells = np.full(s.size, -1)
    cells[used] = found
    by_cell = np.split(used[np.argsort(found, kind="stable")], np.cumsum(np.bincount(found))[:-1])
    order = np.argsort([-rows.size for rows in by_cell], kind="stable")  # the large ones first: no thread waits for one
    lock, known = threading.Lock(), [_largest_class(data, rows) for rows in by_cell]

    def so_far() -> dict[str, Any]:
        expansion, _, cells = _joined(kernel, data, by_cell, known, centres)
        return {"_expansion": expansion, "_cells": cells}

    reporter.known[0] = so_far

    def learn(k: int, budget: Budget, before: _Machine | None) -> _Machine:
        cell = int(order[k])
        machine = _learn_cell(kernel, plan, data, (by_cell[cell], seed + cell), s, budget, before)
        with lock:
            known[cell] = machine
            reporter.tell(f"cell {k + 1} of {order.size}, {by_cell[cell].size:,} examples: relative gap {machine.gap:.2g}")
        return machine

    solved = run_all([partial(learn, k) for k in range(order.size)], budget, n_jobs)
    machines = [solved[k] for k in np.argsort(order)]
    weight = None if (s == 1.0).all() else s
    proof = PerCell(centres, cells, tuple(machine.proof for machine in machines), weight)
    return CellsLearnt(*_joined(kernel, data, by_cell, machines, centres), proof, machines)


def _joined(
    kernel: Kernel, data: Examples, by_cell: list[IntArray], machines: list[_Machine], centres: FloatArray
) -> tuple[Expansion, FloatArray, Cells]:
    """Return the functions of all cells as one expansion, the strengths of all examples, and who knows which part of it."""
    n, K = data.y.size, data.positive.size
    signed, bias, present = np.zeros((K, n)), np.full((len(machines), K), -1.0), np.ones((len(machines), K), dtype=bool)
    for k, (rows, machine) in enumerate(zip(by_cell, machines, strict=True)):
        mine = machine.present
        if mine.size == 1:
            if K > 1 or mine[0] == 1:
                bias[k, mine[0] if K > 1 else 0] = 1.0
            continue
        if K > 1:
            present[k] = np.isin(np.arange(K), mine)
        turns = np.array([[1.0]]) if K == 1 else np.array([[-1.0], [1.0]])  # two of many classes: one is the other turned
        both = (turns * machine.signed, turns[:, 0] * machine.bias) if mine.size == 2 else (machine.signed, machine.bias)
        problems = np.zeros(1, dtype=int) if K == 1 else mine
        signed[np.ix_(problems, rows)], bias[k, problems] = both
    support = np.flatnonzero(signed.any(axis=0))
    number = np.full(n, -1)
    number[support] = np.arange(support.size)
    columns = [held[held >= 0] for held in (number[rows] for rows in by_cell)]
    single = bias[0] if len(machines) == 1 else np.full(K, np.nan)
    expansion = Expansion(kernel, data.X[support], support, signed[:, support], single)
    return expansion, np.abs(signed), Cells(centres, columns, bias, present)
