"""What kernel machines of large margin share: how a two-class problem is solved, and what its answer proves."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy import sparse

from halfspace._memory import admit, room
from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.certificates import KernelGap
from halfspace.certificates.arithmetic import EPS
from halfspace.certificates.expansion import Scales, scales
from halfspace.certificates.margins.bracket import SLACK
from halfspace.kernels import Kernel
from halfspace.kernels.gram import LazyGram
from halfspace.models.kernel.prediction import Expansion
from halfspace.models.multiclass import Task, pair_groups
from halfspace.models.parameters import Examples
from halfspace.models.progress import Reporter
from halfspace.rows.threads import n_workers
from halfspace.solvers.kernel.machine import KernelAnswer, KernelMachine, KernelProblem, share_values, solve_at_once
from halfspace.solvers.kernel.sweep import KernelSweep
from halfspace.solvers.linear.soft_margin import balanced
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.run import SMALL, Budget, Course, Progress, Run, run, run_all

__all__ = ["Claims", "KernelPlan", "Solved", "Work", "expanded", "fitting"]


ANSWER_BYTES, COEFFICIENT_BYTES, PROBLEM_BYTES, SQUARE_BYTES = 96, 24, 20_000, 12
"""Bytes of an example in a problem; of one in the expansion of all problems; of a problem; and of a pair in a working set: the
square, and a copy while it grows or its rows are kept."""
ENOUGH = 1500
"""Examples of a working set without which a machine is slow."""

COARSE, FINE = 2.0, 2e-8
"""Where some examples reach so much less far than all do, a claim about them is measured by themselves; but not if all together
make the gap no wider than this share of the dual value, a fifth of what a checker allows."""


def paid_for(part: KernelGap, answer: KernelAnswer) -> float:
    """Return how much wider rounding made a claim's relative gap than that of its answer."""
    return part.relative_gap - (answer.primal - answer.dual) / max(answer.primal, 1e-300)


class Solved(NamedTuple):
    """The answers of all tasks, each about its own examples; dense tables of strengths and potentials only when asked for."""

    n: Annotated[int, "=n"]
    tasks: list[Task]
    answers: list[KernelAnswer]

    def check(self, labels: Any, K: int) -> None:
        """Refuse answers read from a file that are not one per problem, or about other examples."""
        counts = [(task.rows.size, answer.b.size) for task, answer in zip(self.tasks, self.answers, strict=False)]
        if len(labels) != self.n or len(self.tasks) != K or len(self.answers) != K or any(a != b for a, b in counts):
            raise ValueError("answers are not those of the problems")

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
        squares = [float(a.b @ np.where(a.b != 0, t.sign - a.h, 0.0)) for t, a in zip(self.tasks, self.answers, strict=True)]
        return np.sqrt(np.maximum(squares, 0.0))

    def starts(self, tasks: list[Task], n: int) -> list[FloatArray | None]:
        """Return the strengths to start the same tasks from; none if they are others."""
        same = n == self.n and all(np.array_equal(a.rows, b.rows) for a, b in zip(tasks, self.tasks, strict=False))
        kept = same and len(tasks) == len(self.tasks)
        return [np.abs(answer.b) for answer in self.answers] if kept else [None] * len(tasks)


def expanded(
    kernel: Kernel, data: Examples, tasks: list[Task], parts: list[tuple[FloatArray, float]], *, voting: bool
) -> Expansion:
    """Return the functions of all tasks, each with its signed strengths and its bias, as one expansion over their support."""
    n = data.y.size
    held, place = np.zeros(n, dtype=bool), np.zeros(n, dtype=np.int64)
    for task, (b, _) in zip(tasks, parts, strict=True):
        held[task.rows[b != 0]] = True
    rows = np.flatnonzero(held)
    place[rows] = np.arange(rows.size)
    c = np.zeros((len(tasks), rows.size))
    for row, task, (b, _) in zip(c, tasks, parts, strict=True):
        used = np.flatnonzero(b)
        row[place[task.rows[used]]] = b[used]
    bias = np.array([own for _, own in parts]) + data.clamp**2 * c.sum(axis=1)
    return Expansion(kernel, data.X[rows], rows, c, bias, pair_groups(data, rows) if voting else ())


def fitting(owner: str, data: Examples, n_jobs: int | None, most: int, *, pairs: bool) -> tuple[int, int]:
    """Return how many threads and how large a working set, at most `most`, fit the memory limit; refuse too many problems."""
    n, K = data.y.size, data.classes.size
    problems = 1 if K == 2 else K * (K - 1) // 2 if pairs else K
    held = ANSWER_BYTES * n * (K - 1 if pairs and K > 2 else problems) + (COEFFICIENT_BYTES * n + PROBLEM_BYTES) * problems
    what = f"{problems:,} kernel machines on {n:,} examples"
    remedy = (
        "use multi_class='ovr'" if pairs and K > 2 else "merge rare classes, or give fewer rows" if K > 2 else "give fewer rows"
    )
    admit(owner, held + SQUARE_BYTES * min(n, ENOUGH) ** 2, what, remedy, data.X)
    spare, workers = room(data.X) - held, n_workers(n_jobs, 1 if n * n < SMALL else problems)
    while workers > 1 and SQUARE_BYTES * workers * min(n, 4 * ENOUGH) ** 2 > spare:
        workers -= 1
    return workers, min(most, int(np.sqrt(spare / (SQUARE_BYTES * workers))))


class KernelPlan(NamedTuple):
    """How to go about it."""

    C: float
    tol: float
    free: bool
    sweep: bool
    room: int
    rate: float = 1.0  # of sweeps
    seconds: float = np.inf  # for each problem, about


class Work(NamedTuple):
    """A two-class problem to be solved: its method, and where that begins."""

    method: KernelMachine | KernelSweep
    start: FloatArray | None
    task: Task
    used: IntArray  # the examples of the task that have weight

    def runner(self, reporter: Reporter | None = None, number: int = 1, count: int = 1) -> Callable[[Budget, Run | None], Run]:
        """Return what runs the method within a budget; it reports every round, or, one of many, its end."""

        def tell(at: Progress) -> bool:
            if reporter is None:
                return False
            reporter.known[number - 1] = partial(self.so_far, at.state)
            return reporter.tell(f"round {at.round}: relative gap {at.state.gap:.2g}")

        def run_and_report(budget: Budget, before: Run | None) -> Run:
            if count > 1 and before is None and self.start is None and budget.left() == 0.0 and not budget.cancelled():
                method: Any = self.method
                nothing = self.whole(method.certify(method.start()))  # the answer without any strengths
                why = Outcome("time budget spent", "There was no time to begin.")
                return Run(nothing, why, 0, Course(self.method.columns), 0.0)
            again = before and replace(before, state=self.method.start(self.answer(before).b[self.used]))
            done = run(self.method, budget, again or self.method.start(self.start), tell if count == 1 else None)
            answer = self.answer(done)
            if reporter is not None:
                reporter.known[number - 1] = partial(tuple, (answer.b, answer.bias))
                if count > 1:
                    reporter.line(f"problem {number} of {count}: relative gap {done.state.gap:.2g}")
            return replace(done, state=answer)  # of many problems no working set may outlive its run

        return run_and_report

    def so_far(self, state: Any) -> tuple[FloatArray, float]:
        """Return the signed strengths of all examples of the task as they stand, and the bias."""
        b, (own, bias) = np.zeros(self.task.rows.size), self.method.so_far(state)
        b[self.used] = own
        return b, bias

    def answer(self, done: Run) -> KernelAnswer:
        """Return strengths of all examples of the task, 0 for those without weight; their potentials are not known."""
        if isinstance(done.state, KernelAnswer):
            return done.state
        return self.whole(self.method.certify(done.state))

    def whole(self, answer: KernelAnswer) -> KernelAnswer:
        """Return an answer about the examples that have weight as one about all of the task."""
        n = self.task.rows.size
        if self.used.size == n:
            return answer
        b, h, error = np.zeros(n), np.full(n, np.nan), np.zeros(n)
        b[self.used], h[self.used], error[self.used] = answer.b, answer.h, answer.error
        return answer._replace(b=b, h=h, error=error)


class Claims(NamedTuple):
    """What answers prove about the problems of a data set."""

    kernel: Kernel
    X: Matrix
    size: Scales
    clamp: float
    plan: KernelPlan

    @classmethod
    def about(cls, data: Examples, kernel: Kernel, shift: float, plan: KernelPlan) -> "Claims":
        """Measure the examples once, for all claims about them."""
        size = scales(kernel, data.X, data.clamp, shift)
        if sparse.issparse(data.X):  # who checks may hold the rows as an array, for which the bound is wider
            size = size._replace(entry=3.0 * size.entry, unit=3.0 * size.unit)
        return cls(kernel, data.X, size, data.clamp, plan)

    def claim(self, task: Task, answer: KernelAnswer) -> KernelGap:
        """Claim what an answer proves; its gradient was computed anew in double precision."""
        weight, plan, size = None if (task.s == 1.0).all() else task.s, self.plan, self.size
        bias = answer.bias if plan.free else None
        draft = KernelGap.draft(self.kernel, np.abs(answer.b), plan.C, weight, bias, self.clamp, task.positive)
        E = np.where(task.s > 0, task.sign * (task.sign - answer.h + answer.bias), 1e300)
        own = size.of(task.rows)
        error = answer.error / SLACK + 32 * EPS * float(np.abs(answer.b).sum()) * own.radius**2  # of the compiled exponential
        claimed = draft.claim(own, task.sign, E, error=error)
        fine = paid_for(claimed, answer) * claimed.primal <= FINE * claimed.dual
        if not fine and self._too_coarse(task.rows):
            return draft.measured(self._part(task.rows), task.sign)
        return claimed

    def _part(self, rows: IntArray) -> Matrix:
        """Return some of the examples; of a precomputed matrix, their rows and columns."""
        return self.X[rows][:, rows] if self.kernel.is_precomputed else self.X[rows]

    def _too_coarse(self, rows: IntArray) -> bool:
        """Tell whether the rounding of all examples is far above that of these, by which a claim about them is judged."""
        if rows.size == self.size.lengths.size:
            return False
        if self.size.shift > 0.0:
            return True
        own = scales(self.kernel, self._part(rows), self.clamp)
        reach = self.size.reach is not None and own.reach is not None and own.reach.max() * COARSE < self.size.reach[rows].max()
        return bool(reach or own.entry * COARSE**2 < self.size.entry)

    def work(self, gram: LazyGram, task: Task, seed: int, start: FloatArray | None = None, tol: float | None = None) -> Work:
        """Return how a task is solved; `start` are the strengths of its examples, `tol` is that of the plan by default."""
        plan, used = self.plan, np.flatnonzero(task.s > 0)
        c = np.full(used.size, np.inf) if np.isinf(plan.C) else plan.C * task.s[used]
        problem = KernelProblem(gram, task.rows[used], task.sign[used], c, plan.free, plan.room, plan.seconds)
        if start is not None:
            start = np.clip(np.abs(start[used]), 0.0, c)
            start = problem.y * (balanced(start, problem) if plan.free else start)
        tol = plan.tol if tol is None else tol
        method = KernelSweep(problem, tol, plan.rate) if plan.sweep else KernelMachine(problem, tol, seed)
        return Work(method, start, task, used)

    def solve(
        self,
        gram: LazyGram,
        tasks: list[Task],
        seeds: list[int],
        starts: list[FloatArray | None],
        budget: Budget,
        n_jobs: int | None,
        reporter: Reporter | None = None,
    ) -> tuple[list[Run], list[KernelAnswer], list[KernelGap]]:
        """Solve all tasks within a budget; those whose proof rounding made too wide go on."""
        left = budget.left()
        share = np.inf if left is None else left * n_workers(n_jobs, len(tasks)) / len(tasks)
        timed = self._replace(plan=self.plan._replace(seconds=share))
        works = [timed.work(gram, *each) for each in zip(tasks, seeds, starts, strict=True)]
        methods = [work.method for work in works if isinstance(work.method, KernelMachine)]
        fresh = bool(methods) and all(start is None for start in starts) and (reporter is None or reporter.watch is None)
        runs: list[Any] = solve_at_once(methods, budget) if fresh else [None] * len(works)
        rest = [k for k, done in enumerate(runs) if done is None]
        if rest and len(methods) == len(works):
            share_values(methods)
        runners = [works[k].runner(reporter, k + 1, len(works)) for k in rest]
        entries, several = float(max(task.rows.size for task in tasks)) ** 2, len(works) > 1
        ends = run_all(runners, budget, n_jobs, entries=entries) if several else [own(budget, None) for own in runners]
        for k, done in zip(rest, ends, strict=True):
            runs[k] = done
        answers = [work.answer(done) for work, done in zip(works, runs, strict=True)]
        parts = [self.claim(task, answer) for task, answer in zip(tasks, answers, strict=True)]
        for k, tol in self._unproved(runs, answers, parts):
            work = self.work(gram, tasks[k], seeds[k], np.abs(answers[k].b), tol)
            runs[k] = run_all([work.runner()], budget, 1)[0]
            answers[k] = work.answer(runs[k])
            parts[k] = self.claim(tasks[k], answers[k])
        if reporter is not None:
            reporter.known.update({k: partial(tuple, (answer.b, answer.bias)) for k, answer in enumerate(answers)})
        return runs, answers, parts

    def _unproved(self, runs: list[Run], answers: list[KernelAnswer], parts: list[KernelGap]) -> list[tuple[int, float]]:
        """Return the problems whose gap, rounding paid for, is not as small as asked, and a tolerance to go on with."""
        short, tol = [], self.plan.tol
        for k, (done, answer, part) in enumerate(zip(runs, answers, parts, strict=True)):
            paid = paid_for(part, answer)
            if done.outcome.reason == "converged" and tol < part.relative_gap < np.inf and paid < 0.9 * tol:
                short.append((k, 0.95 * (tol - paid)))
        return short
