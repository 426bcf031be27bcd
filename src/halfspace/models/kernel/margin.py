"""What kernel machines of large margin share: the two-class problems of a data set, solved side by side and certified."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from itertools import combinations
from typing import Any, NamedTuple, TypeVar

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse

from halfspace._typing import FloatArray, IntArray, Label
from halfspace.certificates import Certificate, KernelGap, PerClass, PerPair
from halfspace.certificates.arithmetic import EPS
from halfspace.certificates.expansion import Scales, scales
from halfspace.certificates.margins.bracket import SLACK
from halfspace.errors import InputError
from halfspace.kernels import Kernel
from halfspace.kernels.gram import LazyGram
from halfspace.models.parameters import Examples
from halfspace.rows.threads import alone, one_blas_thread
from halfspace.solvers.kernel.hard_margin import solve_hard
from halfspace.solvers.kernel.machine import KernelAnswer, KernelLimits, KernelProblem, solve_kernel
from halfspace.solvers.kernel.sweep import solve_sweep
from halfspace.solvers.linear.soft_margin import balanced

__all__ = ["Claims", "KernelPlan", "Solved", "Task", "groups_of", "solve_tasks", "tasks_of", "together"]

T = TypeVar("T")


class Task(NamedTuple):
    """One two-class problem: the examples it is about, their labels ±1 and weights, and the label that counts as +1."""

    rows: IntArray
    sign: FloatArray
    s: FloatArray
    positive: Label


class Solved(NamedTuple):
    """The answers of all tasks, each about its own examples; dense tables of strengths and potentials only when asked for."""

    n: int
    tasks: list[Task]
    answers: list[KernelAnswer]

    def table(self, values: list[FloatArray], default: float) -> FloatArray:
        """Return one row per task, shape (K, n)."""
        out = np.full((len(self.tasks), self.n), default)
        for row, task, own in zip(out, self.tasks, values, strict=True):
            row[task.rows] = own
        return out

    def alpha(self) -> FloatArray:
        """Return the strengths of all examples in all tasks, shape (K, n)."""
        return self.table([np.abs(answer.b) for answer in self.answers], 0.0)

    def potentials(self) -> FloatArray:
        """Return the potentials of all examples in all tasks, shape (K, n), NaN where an example has no part in a task."""
        return self.table([t.sign * (t.sign - a.h + a.bias) for t, a in zip(self.tasks, self.answers, strict=True)], np.nan)

    def lengths(self) -> FloatArray:
        """Return ‖f‖ for every task, shape (K,)."""
        squares = [float(a.b @ (t.sign - np.nan_to_num(a.h))) for t, a in zip(self.tasks, self.answers, strict=True)]
        return np.sqrt(np.maximum(squares, 0.0))

    def coefficients(self) -> tuple[IntArray, FloatArray]:
        """Return the support, shape (m,), and strength times label of each in every task, shape (K, m)."""
        held, place = np.zeros(self.n, dtype=bool), np.zeros(self.n, dtype=np.int64)
        for task, answer in zip(self.tasks, self.answers, strict=True):
            held[task.rows[answer.b != 0]] = True
        rows = np.flatnonzero(held)
        place[rows] = np.arange(rows.size)
        c = np.zeros((len(self.tasks), rows.size))
        for row, task, answer in zip(c, self.tasks, self.answers, strict=True):
            used = np.flatnonzero(answer.b)
            row[place[task.rows[used]]] = answer.b[used]
        return rows, c

    def starts(self, tasks: list[Task], n: int) -> list[FloatArray | None]:
        """Return the strengths to start the same tasks from; none if they are others."""
        same = n == self.n and all(np.array_equal(a.rows, b.rows) for a, b in zip(tasks, self.tasks, strict=False))
        kept = same and len(tasks) == len(self.tasks)
        return [np.abs(answer.b) for answer in self.answers] if kept else [None] * len(tasks)


class KernelPlan(NamedTuple):
    """How to go about it."""

    C: float
    tol: float
    free: bool
    sweep: bool
    room: int

    def solve(
        self, gram: LazyGram, task: Task, limits: KernelLimits, seed: int, start: FloatArray | None = None
    ) -> KernelAnswer:
        """Solve one problem; `start` are signed strengths of its examples."""
        used = np.flatnonzero(task.s > 0)
        c = np.full(used.size, np.inf) if np.isinf(self.C) else self.C * task.s[used]
        problem = KernelProblem(gram, task.rows[used], task.sign[used], c, self.free, self.room)
        if start is not None:
            start = np.clip(np.abs(start[used]), 0.0, c)
            start = problem.y * (balanced(start, problem) if self.free else start)
        if self.sweep:
            return _spread(solve_sweep(problem, self.tol, limits, start=start), used, task)
        solver = solve_hard if np.isinf(self.C) else solve_kernel
        return _spread(solver(problem, self.tol, limits, np.random.default_rng(seed), start), used, task)


def _spread(answer: KernelAnswer, used: IntArray, task: Task) -> KernelAnswer:
    """Return strengths of all examples of a task, 0 for those without weight; their potentials are not known."""
    if used.size == task.rows.size:
        return answer
    b, h, error = np.zeros(task.rows.size), np.full(task.rows.size, np.nan), np.zeros(task.rows.size)
    b[used], h[used], error[used] = answer.b, answer.h, answer.error
    return answer._replace(b=b, h=h, error=error)


def tasks_of(data: Examples, s: FloatArray, *, pairs: bool) -> list[Task]:
    """Return the two-class problems of a data set: each class against the rest, or each pair of classes."""
    labels: list[Label] = data.classes.tolist()
    absent = np.bincount(data.target[s > 0], minlength=data.classes.size) == 0
    if absent.any():
        msg = f"Every class needs an example of positive weight, but these have none: {data.classes[absent].tolist()}."
        raise InputError(msg)
    if not pairs or data.classes.size == 2:
        everyone = np.arange(data.y.size)
        return [Task(everyone, np.where(data.target == k, 1.0, -1.0), s, labels[k]) for k in data.positive]
    tasks = []
    for i, j in combinations(range(data.classes.size), 2):
        rows = np.flatnonzero((data.target == i) | (data.target == j))
        tasks.append(Task(rows, np.where(data.target[rows] == j, 1.0, -1.0), s[rows], labels[j]))
    return tasks


def groups_of(data: Examples, rows: IntArray) -> tuple[tuple[IntArray, IntArray], ...]:
    """Return, of each class, which of these examples are in it, and the problems of pairs that it is part of."""
    pairs = np.array(list(combinations(range(data.classes.size), 2)))
    classes = range(data.classes.size)
    members = [np.flatnonzero(data.target[rows] == k) for k in classes]
    return tuple((members[k], np.flatnonzero((pairs == k).any(axis=1))) for k in classes if members[k].size)


def solve_tasks(work: Callable[[int, KernelLimits], T], count: int, limits: KernelLimits, n_jobs: int | None) -> list[T]:
    """Solve all problems, side by side in threads; the answers do not depend on how many there are."""
    stop, waiting_still = threading.Event(), iter(range(count, 0, -1))

    def one(k: int) -> T:
        now, still, own = time.perf_counter(), next(waiting_still), limits._replace(cancelled=stop.is_set)
        if own.deadline is not None:  # those that wait need their share of the time that is left
            own = own._replace(deadline=now + min(1.0, workers / still) * max(own.deadline - now, 0.0))
        with nullcontext() if count < 2 * workers else alone():
            return work(k, own)

    workers = min(effective_n_jobs(-1 if n_jobs is None else n_jobs), count)
    with one_blas_thread(), ThreadPoolExecutor(workers) as pool:
        waiting = [pool.submit(one, k) for k in range(count)]
        try:
            return [future.result() for future in waiting]
        except KeyboardInterrupt:
            stop.set()
            return [future.result() for future in waiting]


class Claims(NamedTuple):
    """What answers prove about the problems of a data set."""

    kernel: Kernel
    size: Scales
    clamp: float
    plan: KernelPlan

    @classmethod
    def about(cls, data: Examples, kernel: Kernel, shift: float, plan: KernelPlan) -> "Claims":
        """Measure the examples once, for all claims about them."""
        size = scales(kernel, data.X, data.clamp, shift)
        if sparse.issparse(data.X):  # who checks may hold the rows as an array, for which the bound is wider
            size = size._replace(entry=3.0 * size.entry, unit=3.0 * size.unit)
        return cls(kernel, size, data.clamp, plan)

    def claim(self, task: Task, answer: KernelAnswer) -> KernelGap:
        """Claim what an answer proves; its gradient was computed anew in double precision."""
        weight, plan, size = None if (task.s == 1.0).all() else task.s, self.plan, self.size
        bias = answer.bias if plan.free else None
        draft = KernelGap.draft(self.kernel, np.abs(answer.b), plan.C, weight, bias, self.clamp, task.positive)
        E = np.where(task.s > 0, task.sign * (task.sign - answer.h + answer.bias), np.inf)
        own = size.of(task.rows)
        error = answer.error / SLACK + 32 * EPS * float(np.abs(answer.b).sum()) * size.radius**2  # of the compiled exponential
        return draft.claim(own, task.sign, np.nan_to_num(E, posinf=1e300), error=error)

    def solve(
        self, gram: LazyGram, task: Task, limits: KernelLimits, seed: int, start: FloatArray | None
    ) -> tuple[KernelAnswer, KernelGap]:
        """Solve a problem until the gap that can be claimed, rounding paid for, is as small as asked."""
        plan = self.plan
        answer = plan.solve(gram, task, limits, seed, start)
        part = self.claim(task, answer)
        paid = part.relative_gap - (answer.primal - answer.dual) / max(answer.primal, 1e-300)
        if answer.reason == "converged" and plan.tol < part.relative_gap < np.inf and paid < 0.9 * plan.tol:
            tighter = plan._replace(tol=0.95 * (plan.tol - paid))
            answer = tighter.solve(gram, task, limits, seed, np.abs(answer.b))
            part = self.claim(task, answer)
        return answer, part


def together(data: Examples, tasks: list[Task], parts: list[KernelGap]) -> Certificate:
    """Return one certificate of the parts: of the only one, of each class, or of each pair of classes."""
    if len(parts) == 1:
        return parts[0]
    labels: tuple[Any, ...] = tuple(data.classes.tolist())
    if len(tasks) == len(labels) and tasks[0].rows.size == data.y.size:
        return PerClass(labels, tuple(parts))
    return PerPair(labels, tuple(combinations(range(len(labels)), 2)), tuple(parts))
