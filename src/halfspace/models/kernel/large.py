"""Kernel machines for more examples than one machine can handle: one machine per cell.

K-means cuts the space; the examples of a cell train a machine of their own, and a new row is asked of the machine of its
nearest centre (as in liquidSVM's large mode). Work grows like n² / cells. This answers another problem than the one machine
for all examples; it proves the gaps of the problems it did solve.
"""

import threading
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from halfspace._typing import FloatArray, IntArray
from halfspace.certificates import Certificate, OneLabel, PerCell
from halfspace.certificates.expansion import indefiniteness
from halfspace.errors import InputError
from halfspace.kernels import Kernel
from halfspace.kernels.gram import LazyGram
from halfspace.models.kernel.cells import Cells, cut
from halfspace.models.kernel.margin import Claims, KernelPlan, solve_tasks, tasks_of, together
from halfspace.models.kernel.outcome import announced, told
from halfspace.models.kernel.prediction import Expansion
from halfspace.models.kernel.routes import refuse_extreme
from halfspace.models.parameters import Examples
from halfspace.models.progress import Reporter
from halfspace.rows.views import view_of
from halfspace.solvers.kernel.machine import KernelLimits
from halfspace.solvers.outcome import Reason

__all__ = ["fit_large"]


def fit_large(model: Any, plan: KernelPlan, data: Examples, s: FloatArray, began: float, given: tuple[Any, Any]) -> None:
    """Fit a `KernelAdaTron` in cells, and say how it went."""
    kernel = model._asked_kernel().resolved(data.X)  # noqa: SLF001  (a part of the model's fit)
    if kernel.is_precomputed:
        msg = f"{type(model).__name__}: n_cells needs examples, not a precomputed kernel matrix; use fewer rows"
        raise InputError(msg)
    refuse_extreme(kernel, data.X, type(model).__name__)
    tasks_of(data, s, pairs=False)  # refuses a class without weight
    gap, reasons, about = _learn_cells(model, plan, kernel, data, s, began, given)
    model._fitted_clamp, model.classes_, model._voting = data.clamp, data.classes, False  # noqa: SLF001
    model.outcome_ = told(model, gap, reasons, about)
    announced(model, gap)


# ------------------------------------------------------------ cells
class _Machine(NamedTuple):
    """What was learnt in one cell."""

    present: IntArray  # numbers of the classes that live there
    signed: FloatArray  # (problems, rows) strengths times labels; no rows of one class only
    bias: FloatArray  # (problems,)
    proof: Certificate
    gap: float
    reason: Reason
    rounds: int
    course: list[tuple[int, float, float, float]]


def _machine(
    kernel: Kernel, plan: KernelPlan, data: Examples, rows: IntArray, s: FloatArray, limits: KernelLimits, seed: int
) -> _Machine:
    """Learn from the examples of one cell."""
    present, target = np.unique(data.target[rows], return_inverse=True)
    classes = data.classes[present]
    if present.size == 1:
        nothing = np.zeros((0, rows.size))
        return _Machine(present, nothing, np.zeros(0), OneLabel(classes.tolist()[0]), 0.0, "solved", 0, [(0, 0.0, 0.0, 0.0)])
    X = data.X[rows]
    part = Examples(X, data.y[rows], view_of(X, data.clamp), classes, target, data.q[rows], data.clamp)
    shift, objection = indefiniteness(kernel, X)
    if objection is not None:
        msg = f"KernelAdaTron, in a cell of {rows.size:,} examples: {objection}"
        raise InputError(msg)
    tasks, gram = tasks_of(part, s[rows], pairs=False), LazyGram(kernel, X, data.clamp)
    claims = Claims.about(part, kernel, shift, plan)
    solved = [claims.solve(gram, task, limits, seed + k, None) for k, task in enumerate(tasks)]
    answers, gaps = [answer for answer, _ in solved], [gap for _, gap in solved]
    proof = together(part, tasks, gaps)
    slowest = max(answers, key=lambda answer: answer.rounds)
    reason = next((answer.reason for answer in answers if answer.reason != "converged"), slowest.reason)
    signed = np.stack([answer.b for answer in answers])
    bias = np.array([answer.bias for answer in answers]) + data.clamp**2 * signed.sum(axis=1)
    widest = max(gap.relative_gap for gap in gaps)
    return _Machine(present, signed, bias, proof, widest, reason, slowest.rounds, slowest.course)


def _learn_cells(
    model: Any, plan: KernelPlan, kernel: Kernel, data: Examples, s: FloatArray, began: float, given: tuple[Any, Any]
) -> tuple[float, list[Reason], str]:
    """Cut the examples into cells and learn a machine for each."""
    used = np.flatnonzero(s > 0)
    seed = int(check_random_state(model.random_state).randint(1 << 30))
    centres, found = cut(data.X if used.size == s.size else data.X[used], int(model.n_cells), seed)
    cells = np.full(s.size, -1)
    cells[used] = found
    by_cell = np.split(used[np.argsort(found, kind="stable")], np.cumsum(np.bincount(found))[:-1])
    order = np.argsort([-rows.size for rows in by_cell], kind="stable")  # the large ones first: no thread waits for one
    reporter, lock = Reporter(model, *given, lambda: {"classes_": data.classes}, len(by_cell) + 1), threading.Lock()

    def work(k: int, limits: KernelLimits) -> _Machine:
        cell = order[k]
        machine = _machine(kernel, plan, data, by_cell[cell], s, limits, seed + int(cell))
        with lock:
            size = by_cell[cell].size
            reporter.tell(f"cell {k + 1} of {order.size}, {size:,} examples: relative gap {machine.gap:.2g}")
        return machine

    deadline = None if model.max_time is None else began + 0.9 * float(model.max_time)
    solved = solve_tasks(work, order.size, KernelLimits(int(model.max_iter), deadline), model.n_jobs)
    reporter.close()
    machines = [solved[k] for k in np.argsort(order)]
    _keep_cells(model, kernel, data, by_cell, machines, centres)
    model.certificate_ = PerCell(centres, cells, tuple(machine.proof for machine in machines))
    slowest = max(machines, key=lambda machine: machine.rounds)
    model.n_iter_, model.history_ = slowest.rounds, _history("round", slowest.course)
    about = f"This is an approximation: {len(machines)} cells, each with a machine and a gap of its own (the widest is given)."
    return max(machine.gap for machine in machines), [machine.reason for machine in machines], about


def _keep_cells(
    model: Any, kernel: Kernel, data: Examples, by_cell: list[IntArray], machines: list[_Machine], centres: FloatArray
) -> None:
    """Store the functions of all cells as one expansion, and who knows which part of it."""
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
    model._expansion = Expansion(kernel, data.X[support], support, signed[:, support], single)  # noqa: SLF001
    model._alpha, model._cells = np.abs(signed), Cells(centres, columns, bias, present)  # noqa: SLF001


def _history(first: str, course: list[tuple[int, float, float, float]]) -> dict[str, FloatArray]:
    """Return the course of a run by name of its columns."""
    return dict(zip((first, "seconds", "primal", "dual"), np.array(course).T, strict=True))
