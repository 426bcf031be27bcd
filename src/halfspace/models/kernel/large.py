"""Kernel machines for more examples than one machine can bear: one machine per cell, or functions of landmarks only.

Cells      K-means cuts the space; the examples of a cell train a machine of their own, and a new row is asked of the machine of
           its nearest centre (as in liquidSVM's large mode). Work grows like n² / cells.
Landmarks  Only functions f = Σ_j beta_j k(l_j, ·) of m random examples are considered (Nyström): with K_LL + ridge = B Bᵀ they
           are the planes of the features B⁻¹ k(L, x), which the linear AdaTron finds. Work grows like n m.
Both answer another problem than the one machine for all examples; each proves the gap of the problem it did solve.
"""

import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from sklearn.utils import check_random_state

from halfspace._typing import FloatArray, IntArray
from halfspace.certificates import Certificate, LandmarkGap, OneLabel, PerCell, PerClass
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
from halfspace.models.planes.adatron import AdaTron
from halfspace.models.progress import Reporter
from halfspace.rows.threads import one_blas_thread
from halfspace.rows.views import view_of
from halfspace.solvers.kernel.machine import KernelLimits
from halfspace.solvers.outcome import Reason

__all__ = ["fit_large"]

RIDGE = 1e-6
"""Added to the diagonal of the landmarks' matrix, in units of its mean: directions shorter than that are noise."""
BLOCK = 1 << 23
"""Kernel values computed at a time."""


def fit_large(model: Any, plan: KernelPlan, data: Examples, s: FloatArray, began: float, given: tuple[Any, Any]) -> None:
    """Fit a `KernelAdaTron` in cells or on landmarks, and say how it went."""
    kernel = model._asked_kernel().resolved(data.X)  # noqa: SLF001  (a part of the model's fit)
    if kernel.is_precomputed:
        msg = f"{type(model).__name__}: cells and approximation need examples, not a precomputed kernel matrix; use fewer rows"
        raise InputError(msg)
    refuse_extreme(kernel, data.X, type(model).__name__)
    tasks_of(data, s, pairs=False)  # refuses a class without weight
    learn = _learn_cells if model.cells is not None else _learn_landmarks
    gap, reasons, about = learn(model, plan, kernel, data, s, began, given)
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
    centres, found = cut(data.X if used.size == s.size else data.X[used], int(model.cells), seed)
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


# ------------------------------------------------------------ landmarks
def _learn_landmarks(
    model: Any, plan: KernelPlan, kernel: Kernel, data: Examples, s: FloatArray, began: float, given: tuple[Any, Any]
) -> tuple[float, list[Reason], str]:
    """Choose landmarks, map the examples, and let the linear AdaTron find the plane."""
    del given
    if kernel.reason() is None:
        msg = f"KernelAdaTron: approximation='nystroem' needs a kernel with a proof (kernel.reason()), which {kernel} has not"
        raise InputError(msg)
    used, random = np.flatnonzero(s > 0), check_random_state(model.random_state)
    landmarks = np.sort(random.choice(used, min(int(model.n_components), used.size), replace=False))
    L = data.X[landmarks]
    A = kernel.exact(L, L)
    ridge = RIDGE * max(float(A.diagonal().mean()), 1e-290)
    B = cholesky(A + ridge * np.eye(landmarks.size), lower=True)
    left = None if model.max_time is None else max(began + 0.9 * float(model.max_time) - time.perf_counter(), 1e-3)
    names = ("C", "intercept", "intercept_scaling", "solver", "max_iter", "n_jobs", "verbose", "random_state")
    plane = AdaTron(tol=0.9 * plan.tol, max_time=left, **{name: getattr(model, name) for name in names})
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # told below, in this model's name
        plane.fit(_features(model, kernel, data, L, B, Path(folder)), data.target, sample_weight=s)
    W = plane._W[:, : landmarks.size]  # noqa: SLF001
    beta = np.atleast_2d(solve_triangular(B, W.T, lower=True, trans="T").T)
    parts = _landmark_proofs(kernel, landmarks, ridge, beta, plane, data, s)
    labels: tuple[Any, ...] = tuple(data.classes.tolist())
    model.certificate_ = parts[0] if len(parts) == 1 else PerClass(labels, tuple(parts))
    model._expansion = Expansion(kernel, L, landmarks, beta, plane.intercept_)  # noqa: SLF001
    model._cells, model._alpha, model._labels = None, plane._alpha, data.y.copy()  # noqa: SLF001
    model._potentials, model._caps = plane._potentials, plane._caps  # noqa: SLF001
    model._lengths = np.linalg.norm(plane._W, axis=1)  # noqa: SLF001
    model.n_iter_, model.history_ = plane.n_iter_, plane.history_
    about = f"This is an approximation: functions of {landmarks.size} landmarks; the gap is that of the problem on them."
    return max(part.relative_gap for part in parts), [plane.outcome_.reason], about


def _features(model: Any, kernel: Kernel, data: Examples, L: Any, B: FloatArray, folder: Path) -> Any:
    """Return B⁻¹ k(L, x) for every example, shape (n, m), in memory or, if that exceeds `cache_size`, in a temporary file."""
    n, m, kind = data.y.size, B.shape[0], np.float32 if model.tol >= 1e-5 else np.float64
    Z: Any
    if n * m * np.dtype(kind).itemsize <= 1e6 * model.cache_size:
        Z = np.empty((n, m), dtype=kind)
    else:
        Z = np.memmap(folder / "features", dtype=kind, mode="w+", shape=(n, m))
    step = max(1, BLOCK // m)
    with one_blas_thread():
        for first in range(0, n, step):
            values = kernel.matrix(data.X[first : first + step], L, dtype=np.float64)
            Z[first : first + step] = solve_triangular(B, values.T, lower=True).T
    return Z


def _landmark_proofs(
    kernel: Kernel, landmarks: IntArray, ridge: float, beta: FloatArray, plane: AdaTron, data: Examples, s: FloatArray
) -> list[LandmarkGap]:
    """Measure both values of every problem in double precision, from the kernel itself."""
    weight, labels = None if (s == 1.0).all() else s, data.classes.tolist()
    parts = []
    for k, number in enumerate(data.positive):
        part = LandmarkGap.measure(
            data.X,
            data.y,
            kernel=kernel,
            landmarks=landmarks,
            ridge=ridge,
            coefficients=beta[k],
            strengths=plane._alpha[k],  # noqa: SLF001
            C=float(plane.C),
            sample_weight=weight,
            clamped=float(plane._W[k, -1]) if data.clamp else 0.0,  # noqa: SLF001
            bias=float(plane._bias[k]) if plane.intercept == "free" else None,  # noqa: SLF001
            clamp=data.clamp,
            positive=labels[number],
        )
        parts.append(part)
    return parts
