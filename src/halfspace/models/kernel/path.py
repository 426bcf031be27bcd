"""Kernel AdaTrons for many caps and widths on the same examples."""

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.errors import GapWarning
from halfspace.kernels import Kernel
from halfspace.kernels.gram import LazyGram
from halfspace.models.kernel.adatron import KernelAdaTron
from halfspace.models.kernel.grid import Width, class_numbers, matrices_of, problems_of, progress_printer, read_grid
from halfspace.models.multiclass import tasks_of
from halfspace.models.parameters import Examples, read_examples
from halfspace.rows.labels import example_weights
from halfspace.solvers.kernel.grid import Place
from halfspace.solvers.kernel.grid_search import GridPlan, GridRun, Machines, search_grid

__all__ = ["KernelPath", "kernel_path"]


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

    def __call__(self, width: int, cap: int, fold: int, machines: Machines) -> float:
        """Keep the machines of one point; return their accuracy."""
        del fold
        outputs = machines.outputs(np.arange(self.data.y.size))
        self.alphas = self.alphas if self.alphas.flags.writeable else self.alphas.copy()
        self.alphas[width, cap], self.biases[width, cap] = np.abs(machines.at.b), machines.bias
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
    points = len(widths) * caps.size
    matrices, workers = matrices_of("kernel_path", widths, data, len(tasks), model.cache_size, model.n_jobs, points=points)
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
