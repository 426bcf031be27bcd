"""Kernel AdaTrons for many caps and widths on the same examples."""

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs

from halfspace._memory import admit, room
from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.certificates.expansion import indefiniteness
from halfspace.errors import GapWarning, InputError
from halfspace.kernels import Kernel
from halfspace.kernels.gram import LazyGram
from halfspace.models.kernel.adatron import KernelAdaTron
from halfspace.models.multiclass import Task, tasks_of, votes
from halfspace.models.parameters import Examples, read_examples
from halfspace.models.planes.adatron_path import read_caps
from halfspace.rows.labels import example_weights
from halfspace.solvers.kernel.grid import Place, WidthMatrices
from halfspace.solvers.kernel.grid_search import GridPlan, GridRun, Machine, search_grid

__all__ = ["KernelPath", "Width", "class_numbers", "kernel_path", "matrices_of", "problems_of", "progress_printer", "read_grid"]

CAPS = np.logspace(-1.0, 3.0, 10)
WIDTHS = np.logspace(-1.0, 2.0, 10)
"""Default gammas, in units of the one that the median distance of the rows suggests."""
EVERY = 0.5
"""Seconds between two lines about progress."""


class Width(NamedTuple):
    """A kernel of the grid, every parameter a number, and its gamma; NaN if it has none, or several."""

    gamma: float
    kernel: Kernel


def read_grid(owner: str, Cs: Any, gammas: Any, kernel: Kernel, X: Matrix) -> tuple[FloatArray, list[Width]]:
    """Return caps and widths, ascending and each once; those not given are chosen for the data."""
    caps = np.unique(read_caps(CAPS if Cs is None else Cs, owner))
    if np.isinf(caps[-1]):
        msg = f"The 'Cs' parameter of {owner} must be finite numbers. Got {Cs!r} instead; C = inf is for KernelAdaTron."
        raise InputError(msg)
    names = [name for name in kernel.get_params() if name.rpartition("__")[2] == "gamma"]
    if len(names) != 1:
        if gammas is not None:
            msg = (
                f"The 'gammas' parameter of {owner} must be None for {kernel}, which has not one gamma. Got {gammas!r} instead."
            )
            raise InputError(msg)
        return caps, [Width(np.nan, kernel.resolved(X))]
    own = kernel.get_params()[names[0]]
    if gammas is None:
        values = [own] if not isinstance(own, str) else (_suggested(kernel, names[0], X) * WIDTHS).tolist()
    else:
        values = _read_gammas(owner, gammas)
    return caps, [Width(float(g), kernel.with_params(**{names[0]: float(g)}).resolved(X)) for g in values]


def _suggested(kernel: Kernel, name: str, X: Matrix) -> float:
    """Return the gamma that the median distance suggests, or where a kernel knows no such word, the usual scale."""
    try:
        asked = kernel.with_params(**{name: "median"})
    except InputError:
        asked = kernel.with_params(**{name: "scale"})
    return float(asked.resolved(X).get_params()[name])


def _read_gammas(owner: str, gammas: Any) -> list[float]:
    """Return the gammas as numbers, ascending and each once, or refuse them."""
    try:
        values = np.unique(np.asarray(gammas, dtype=np.float64))
    except (TypeError, ValueError):
        values = np.empty(0)
    if np.ndim(gammas) != 1 or values.size == 0 or not ((values >= 1e-50) & (values <= 1e50)).all():
        msg = f"The 'gammas' parameter of {owner} must be a list of positive numbers, or None. Got {gammas!r} instead."
        raise InputError(msg)
    return [float(gamma) for gamma in values]


def problems_of(tasks: list[Task], train: IntArray, n: int, owner: str) -> list[tuple[FloatArray, FloatArray]]:
    """Return labels and caps of the two-class problems of some training examples; all others have a cap of 0."""
    problems = []
    for task in tasks:
        y, c, here = np.zeros(n), np.zeros(n), np.zeros(n)
        y[task.rows], c[task.rows], here[train] = task.sign, task.s, 1.0
        c *= here
        if not (c[y > 0].any() and c[y < 0].any()):
            msg = f"{owner}: a fold has no training example for or none against class {task.positive!r}; use fewer folds"
            raise InputError(msg)
        problems.append((y, c))
    return problems


def matrices_of(
    owner: str, widths: list[Width], data: Examples, machines: int, cache_size: float, n_jobs: int | None
) -> tuple[WidthMatrices, int]:
    """Return the matrices of the widths, and how many threads have room for those and for their machines.

    What does not fit or is no kernel is refused. `machines` is the number of two-class problems in all folds together.
    """
    n = data.y.size

    def predicted(workers: int) -> float:
        return 1e6 * WidthMatrices.megabytes(n, workers) + 8.0 * n * machines * (2 + 6 * workers)

    workers = effective_n_jobs(-1 if n_jobs is None else n_jobs)
    while workers > 1 and (WidthMatrices.megabytes(n, workers) > cache_size or predicted(workers) > room(data.X)):
        workers -= 1
    what = f"a grid with {machines:,} machines on {n:,} examples"
    admit(owner, predicted(1), what, "use multi_class='ovr', fewer folds, or choose the parameters on fewer rows", data.X)
    needed = WidthMatrices.megabytes(n, 1)
    if needed > cache_size:
        msg = (
            f"{owner}: {n:,} examples need about {needed:,.0f} MB for kernel matrices, but cache_size={cache_size:g} MB. Raise "
            "cache_size, or choose the parameters on fewer rows (a random half is often enough) and fit KernelAdaTron on all."
        )
        raise InputError(msg)
    for width in widths:
        objection = indefiniteness(width.kernel, data.X)[1]
        if objection is not None:
            msg = f"{owner}: {objection}"
            raise InputError(msg)
    return WidthMatrices([width.kernel for width in widths], data.X, data.clamp), workers


def class_numbers(outputs: FloatArray, classes: int, *, voting: bool) -> IntArray:
    """Return the class numbers that outputs, shape (n, problems), stand for."""
    if voting:
        outputs = votes(outputs, classes)
    numbers: IntArray = (outputs[:, 0] > 0).astype(np.int64) if outputs.shape[1] == 1 else outputs.argmax(axis=1)
    return numbers


def progress_printer(owner: str, verbose: int) -> Callable[[float], None]:
    """Return what prints the share that is done and the time that is left."""
    began, printed = time.perf_counter(), [time.perf_counter()]

    def tell(share: float) -> None:
        now = time.perf_counter()
        if verbose and (verbose > 1 or now - printed[0] >= EVERY):
            printed[0] = now
            left = (now - began) * (1.0 - share) / share
            sys.stderr.write(f"[{owner}] {100 * share:.0f} % of the grid done, about {left:.1f} s left\n")

    return tell


@dataclass(frozen=True)
class KernelPath:
    """Kernel AdaTrons for G widths and m caps, K two-class problems each, all fitted to the same n examples.

    Parameters
    ----------
    Cs : ndarray, shape (m,)
        Caps, ascending.
    gammas : ndarray, shape (G,)
        Widths, ascending; NaN for a kernel that has none.
    kernels : tuple of Kernel
        The kernel of every width.
    alphas : ndarray, shape (G, m, K, n)
        Strengths; NaN where the time was spent before.
    biases : ndarray, shape (G, m, K)
        The part of the bias that is free; a clamped input is in the kernel.
    gaps : ndarray, shape (G, m)
        Relative duality gaps, in double precision, the largest of the K problems.
    errors : ndarray, shape (G, m)
        Shares of the examples that are classified wrongly.
    """

    Cs: FloatArray
    gammas: FloatArray
    kernels: tuple[Kernel, ...]
    alphas: FloatArray
    biases: FloatArray
    gaps: FloatArray
    errors: FloatArray

    @property
    def n_support(self) -> IntArray:
        """Numbers of examples of positive strength in any problem, shape (G, m)."""
        counts: IntArray = np.count_nonzero((self.alphas > 0).any(axis=2), axis=2)
        return counts


class _Walk:
    """Collects the machines of a path; their gradients are in double precision."""

    def __init__(self, data: Examples, caps: FloatArray, widths: list[Width], tasks: int, model: KernelAdaTron) -> None:
        self.data, self.widths, self.free = data, widths, model.intercept == "free"
        self.voting = model.multi_class == "ovo" and data.classes.size > 2
        shape = (len(widths), caps.size)
        self.alphas: FloatArray = np.broadcast_to(np.nan, (*shape, tasks, data.y.size))  # memory once there is something
        self.biases = np.full((*shape, tasks), np.nan)
        self.errors = np.full(shape, np.nan)
        self.grams: dict[int, LazyGram] = {}

    def anew(self, width: int, at: Place) -> None:
        """Compute h in double precision, from kernel values in double precision."""
        if width not in self.grams:
            self.grams[width] = LazyGram(self.widths[width].kernel, self.data.X, self.data.clamp)
        rows = np.flatnonzero(at.b)
        at.h[:] = at.y - self.grams[width].times(rows, at.b[rows], np.arange(at.y.size), np.float64)

    def __call__(self, width: int, cap: int, fold: int, machines: list[Machine]) -> float:
        """Keep the machines of one point; return their accuracy."""
        del fold
        everyone = np.arange(self.data.y.size)
        outputs = np.stack([machine.outputs(everyone) for machine in machines], axis=1)
        self.alphas = self.alphas if self.alphas.flags.writeable else self.alphas.copy()
        for k, machine in enumerate(machines):
            self.alphas[width, cap, k], self.biases[width, cap, k] = np.abs(machine.at.b), machine.bias
        numbers = class_numbers(outputs, self.data.classes.size, voting=self.voting)
        self.errors[width, cap] = np.mean(numbers != self.data.target)
        return 1.0 - float(self.errors[width, cap])


def kernel_path(
    X: Matrix, y: Labels, *, kernel: Any = "rbf", Cs: Any = None, gammas: Any = None, sample_weight: Any = None, **params: Any
) -> KernelPath:
    """Fit a kernel AdaTron for each of several caps and widths, each cap warm-started from the next smaller one.

    Parameters
    ----------
    X : array or CSR matrix, shape (n, d)
        Examples; distances are computed once for all widths.
    y : array, shape (n,)
        Labels.
    kernel : str, Kernel or callable, default "rbf"
        As for `KernelAdaTron`; a kernel value whose gamma is a number keeps it unless `gammas` are given.
    Cs : sequence of float, optional
        Finite caps; ten from 0.1 to 1000 by default.
    gammas : sequence of float, optional
        Widths; by default ten from 0.1 to 100 times the one that the median distance of the rows suggests.
    sample_weight : array, shape (n,), optional
        Multiplies the caps per example.
    **params
        Parameters of `KernelAdaTron`; `max_time` counts for all points, `max_iter`, `solver` and `warm_start` for none.

    Returns
    -------
    KernelPath
        Strengths, gaps, errors and numbers of support vectors of all points.

    Examples
    --------
    >>> import numpy as np, halfspace as hs
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> path = hs.kernel_path(X, y, Cs=[0.1, 1000.0], gammas=[0.1, 10.0])
    >>> path.errors.tolist(), bool(path.gaps.max() <= 1e-3)
    ([[0.5, 0.0], [0.0, 0.0]], True)
    """
    began = time.perf_counter()
    model = KernelAdaTron(kernel, **params)
    model._check_parameters()  # noqa: SLF001  (a model and its path are one)
    data = read_examples(model, X, y, model._asked_clamp())  # noqa: SLF001
    data.inspection()
    s = example_weights(model.class_weight, sample_weight, data.classes, data.target, "kernel_path")
    caps, widths = read_grid("kernel_path", Cs, gammas, model._asked_kernel(), data.X)  # noqa: SLF001
    tasks = tasks_of(data, s, pairs=model.multi_class == "ovo")
    matrices, workers = matrices_of("kernel_path", widths, data, len(tasks), model.cache_size, model.n_jobs)
    walk = _Walk(data, caps, widths, len(tasks), model)
    tell = progress_printer("kernel_path", model.verbose)
    plan = GridPlan(0.98 * model.tol, walk.free, skip=False, tell=tell, anew=walk.anew)
    n = data.y.size
    run = GridRun(matrices, caps, [problems_of(tasks, np.arange(n), n, "kernel_path")], walk, plan)
    seconds = None if model.max_time is None else max(began + float(model.max_time) - time.perf_counter(), 0.0)
    search_grid(run, workers, seconds)
    gaps = run.gaps[:, :, 0]
    missed = int(np.count_nonzero(~(gaps <= model.tol)))
    if missed:
        why = run.reason if run.reason != "converged" else "rounding or the limit on steps"
        msg = f"kernel_path: {missed} of {gaps.size} points did not reach tol={model.tol:g} ({why}); see `gaps`."
        warnings.warn(msg, GapWarning, stacklevel=2)
    kernels = tuple(width.kernel for width in widths)
    values = np.array([width.gamma for width in widths])
    return KernelPath(caps, values, kernels, walk.alphas, walk.biases, gaps, walk.errors)
