"""The grid of caps and widths: read, cut into two-class problems, and given its matrices."""

import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs

from halfspace._memory import admit, room
from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.certificates.expansion import indefiniteness
from halfspace.errors import InputError
from halfspace.kernels import Kernel
from halfspace.models.multiclass import Task, votes
from halfspace.models.parameters import Examples, read_caps
from halfspace.solvers.kernel.grid import WidthMatrices

__all__ = ["Width", "class_numbers", "matrices_of", "problems_of", "progress_printer", "read_grid"]

CAPS = np.logspace(-1.0, 3.0, 10)
WIDTHS = np.logspace(-1.0, 2.0, 10)
"""Default gammas, in units of the one that the median distance of the rows suggests."""
EVERY = 0.5
"""Seconds between two lines about progress."""
FEW = 400
"""Examples up to which a grid is searched by one thread: its machines take less time than threads take to take turns."""


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


def problems_of(tasks: list[Task], train: IntArray, n: int, owner: str) -> tuple[FloatArray, FloatArray]:
    """Return labels and caps, (K, n), of the two-class problems of some training examples; all others have a cap of 0."""
    (Y, caps), here = np.zeros((2, len(tasks), n)), np.zeros(n)
    here[train] = 1.0
    for k, task in enumerate(tasks):
        Y[k, task.rows], caps[k, task.rows] = task.sign, task.s * here[task.rows]
        if not (caps[k, Y[k] > 0].any() and caps[k, Y[k] < 0].any()):
            msg = f"{owner}: a fold has no training example for or none against class {task.positive!r}; use fewer folds"
            raise InputError(msg)
    return Y, caps


def matrices_of(
    owner: str, widths: list[Width], data: Examples, machines: int, cache_size: float, n_jobs: int | None, *, points: int = 0
) -> tuple[WidthMatrices, int]:
    """Return the matrices of the widths, and how many threads have room for those and for their machines.

    What does not fit or is no kernel is refused. `machines` is the number of two-class problems in all folds together; of
    `points` of the grid their strengths are kept.
    """
    n = data.y.size

    def predicted(workers: int) -> float:
        return 1e6 * WidthMatrices.megabytes(n, workers) + 8.0 * n * machines * (2 + 6 * workers + points)

    workers = 1 if n <= FEW else effective_n_jobs(-1 if n_jobs is None else n_jobs)
    while workers > 1 and (WidthMatrices.megabytes(n, workers) > cache_size or predicted(workers) > room(data.X)):
        workers -= 1
    what = f"a grid with {machines:,} machines on {n:,} examples"
    remedy = "use multi_class='ovr', fewer folds, or choose the parameters on fewer rows"
    admit(owner, predicted(1), what, "give fewer Cs, gammas or rows" if points else remedy, data.X)
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
