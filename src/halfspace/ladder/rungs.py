"""The rungs, from the simplest to the one that keeps most: how each learns, and what its certificate says in a few words.

A rung is a function from examples to a model with the parameters it chose. Tuning happens inside it, on the rows it is given,
so that scoring a rung in folds is nested cross-validation. Above `TUNE` rows the parameters are chosen on a stratified sample
and the model is fitted to all rows.
"""

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from halfspace import GLVQ, GMLVQ, Adaline, AdaTron, AveragedPerceptron, KernelAdaTron, KernelAdaTronCV
from halfspace._typing import IntArray, Labels, Matrix
from halfspace.certificates import PerClass, PerPair, PrototypeErrors
from halfspace.errors import GapWarning, InputError, MemoryLimitError, NotSeparatedWarning
from halfspace.kernels import as_kernel
from halfspace.ladder.baselines import Majority, Neighbours, seconds_of_neighbours

__all__ = ["RUNGS", "Chosen", "Plan", "Setting", "describe", "quietly", "sample_of", "widest_gap"]

TUNE = 2_000
"""Most rows on which a rung chooses its parameters."""
FEW = 400
"""Rows up to which one thread is quicker than two."""
FOLDS, LOOSE = 3, 1e-2
"""Inner folds, and the gap to which a machine is fitted when only its C is compared."""
SEARCHING = 0.5
"""Part of a rung's time in which it chooses its parameters, if it has to be fitted afterwards."""
CAPS = (0.01, 0.1, 1.0, 10.0)
KERNEL_CAPS = (0.1, 1.0, 10.0, 100.0)
WIDTHS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Widths to choose from, in units of the one that the median distance of the rows suggests."""
PROTOTYPES, STEPS, DIRECTIONS = 4, 20, 10
"""Prototypes per class (one for each would draw planes, which other rungs do), steps of learning, directions of a metric."""
FEW_ROWS = 200
"""Training rows below which prototypes are tried only if requested: several per class would represent a few rows each."""
WIDEST, MOST_PROTOTYPES = 1_000, 1_000_000
"""Most inputs of a metric, and most numbers that all prototypes may have: they are dense, whatever the rows are."""
MANY_CLASSES = 30
"""From so many classes on, kernel machines are trained on pairs of classes."""


class Setting(NamedTuple):
    """What all rungs share: scoring, kernel, threads, seed and time limit."""

    balanced: bool = False
    kernel: Any = "rbf"
    n_jobs: int | None = None
    seed: int = 0
    max_time: float | None = None  # seconds for one fit

    def left_of(self, began: float) -> float | None:
        """Return what is left of the time limit of a fit that began then, and a little at least."""
        spent = time.perf_counter() - began
        return None if self.max_time is None else max(self.max_time - spent, 0.1 * self.max_time)

    def common(self) -> dict[str, Any]:
        """Return the parameters that all rungs with iterations share."""
        return {"class_weight": "balanced" if self.balanced else None, "max_time": self.max_time}


class Chosen(NamedTuple):
    """A model with the parameters that were chosen for it, to be fitted, or already `fitted` to the rows given."""

    model: Any
    params: dict[str, Any]
    fitted: bool = False


@dataclass(frozen=True)
class Plan:
    """How a rung is climbed.

    Parameters
    ----------
    name, title : str
        For programs and for people.
    keeps : int
        Order of simplicity: the rung with the smaller number keeps less.
    choose : function
        `choose(X, y, setting)` returns a `Chosen`.
    sampled : bool
        Whether it learns from a sample when there are very many rows.
    least : int
        Training rows below which it is climbed only if requested by name.
    seconds : function
        `seconds(X, tested, folds)` predicts how long so many fits to rows X and tests of so many others take, of a rung that
        knows no time limit.
    """

    name: str
    title: str
    keeps: int
    choose: Callable[[Matrix, Labels, Setting], Chosen]
    sampled: bool = False
    least: int = 0
    seconds: Callable[[Matrix, int, int], float] = lambda _X, _tested, _folds: 0.0


def sample_of(y: Labels, most: int, seed: int) -> IntArray:
    """Return about so many row numbers, ascending, with the classes in proportion and two of each class that has them."""
    if y.size <= most:
        return np.arange(y.size)
    _, target = np.unique(y, return_inverse=True)
    order = np.random.default_rng(seed).permutation(y.size)
    groups = np.split(order[np.argsort(target[order], kind="stable")], np.cumsum(np.bincount(target))[:-1])
    share = most / y.size
    return np.sort(np.concatenate([rows[: max(2, round(share * rows.size))] for rows in groups]))


def _untuned(kind: Callable[..., Any], _X: Matrix, _y: Labels, setting: Setting) -> Chosen:
    return Chosen(kind(random_state=setting.seed, **setting.common()), {})


def _neighbours(_X: Matrix, _y: Labels, _setting: Setting) -> Chosen:
    return Chosen(Neighbours(), {})


def _adatron(X: Matrix, y: Labels, setting: Setting) -> Chosen:
    began = time.perf_counter()
    shared = {**setting.common(), "n_jobs": _threads(y, setting)}
    model = AdaTron(random_state=setting.seed, **shared)
    if _folds(y) < 2:
        return Chosen(model, {})
    # On few rows the linear kernel's grid search finds the same cap sooner: it shares one matrix among all folds and caps.
    rows = sample_of(y, TUNE, setting.seed)
    try:
        search = _searched(KernelAdaTronCV("linear", Cs=CAPS, tol=LOOSE, **shared), X[rows], y[rows], setting, SEARCHING)
    except MemoryLimitError:  # of very many classes; the default C is as good a guess as any
        return Chosen(model, {})
    params = {"C": search.best_params_["C"]}
    return Chosen(model.set_params(**params, max_time=setting.left_of(began)), params)


def _kernel(X: Matrix, y: Labels, setting: Setting) -> Chosen:
    """Choose kernel machines: on pairs of many classes, on each class against the rest if pairs do not fit the memory limit."""
    if np.unique(y).size < MANY_CLASSES:
        return _machines(X, y, setting, "ovr")
    try:
        chosen = _machines(X, y, setting, "ovo")
        return chosen if chosen.fitted else chosen._replace(model=chosen.model.fit(X, y), fitted=True)
    except MemoryLimitError:
        return _machines(X, y, setting, "ovr")


def _machines(X: Matrix, y: Labels, setting: Setting, multi_class: str) -> Chosen:
    """Choose kernel machines by cross-validation, if there are examples enough."""
    began = time.perf_counter()
    shared = {**setting.common(), "n_jobs": _threads(y, setting), "multi_class": multi_class}
    if _folds(y) < 2:
        return Chosen(KernelAdaTron(setting.kernel, random_state=setting.seed, **shared), {})
    rows = sample_of(y, TUNE, setting.seed)
    widths = _widths(setting.kernel, X[rows])
    model, whole = KernelAdaTronCV(setting.kernel, Cs=KERNEL_CAPS, gammas=widths, **shared), rows.size == y.size
    search = _searched(model, X[rows], y[rows], setting, 1.0 if whole else SEARCHING)
    if whole:
        return Chosen(search.estimator_, search.best_params_, fitted=True)
    return Chosen(clone(search.estimator_).set_params(max_time=setting.left_of(began)), search.best_params_)


def _gmlvq(X: Matrix, y: Labels, setting: Setting) -> Chosen:
    if X.shape[1] > WIDEST:
        msg = f"the ladder learns metrics of at most {WIDEST:,} inputs, not of {X.shape[1]:,}; fit GMLVQ itself to such rows"
        raise InputError(msg)
    return _prototypes(GMLVQ(rank=min(DIRECTIONS, X.shape[1])), X, y, setting)


def _prototypes(model: Any, X: Matrix, y: Labels, setting: Setting) -> Chosen:
    """Choose a handful of prototypes per class and few steps: more fit the noise."""
    size = np.unique(y).size * PROTOTYPES * X.shape[1]
    if size > MOST_PROTOTYPES:
        msg = f"its prototypes would have {size:,} numbers, more than {MOST_PROTOTYPES:,}; planes are quicker on such rows"
        raise InputError(msg)
    few = {"n_prototypes": PROTOTYPES, "max_iter": STEPS, "random_state": setting.seed}
    return Chosen(model.set_params(**few, **setting.common()), {})


def _threads(y: Labels, setting: Setting) -> int | None:
    """Return the threads to use: one on few rows, where they would only wait for each other. The result is the same."""
    return 1 if setting.n_jobs is None and y.size <= FEW else setting.n_jobs


def _folds(y: Labels) -> int:
    """Return the number of inner folds that the smallest class allows; below 2 nothing can be tuned."""
    return min(FOLDS, int(np.unique(y, return_counts=True)[1].min()))


def _searched(search: Any, X: Matrix, y: Labels, setting: Setting, share: float) -> Any:
    """Fit a grid search in a share of the time; pass on an interrupt that it has caught to keep its best so far."""
    scoring = "balanced_accuracy" if setting.balanced else "accuracy"
    search.set_params(max_time=None if setting.max_time is None else share * setting.max_time)
    search.set_params(cv=_folds(y), scoring=scoring, random_state=setting.seed).fit(X, y)
    if search.outcome_.reason == "interrupted":
        raise KeyboardInterrupt
    return search


def _widths(kernel: Any, X: Matrix) -> list[float] | None:
    """Return the widths to choose from for a kernel given by its name, if it has one; a kernel value keeps its own."""
    if not isinstance(kernel, str) or kernel not in {"rbf", "laplacian"}:
        return None
    suggested = as_kernel(kernel, gamma="median").resolved(X).get_params()["gamma"]
    return [width * float(suggested) for width in WIDTHS]


@contextmanager
def quietly() -> Iterator[None]:
    """Silence a fit's warnings about its gap or its mistakes: the ladder's table says it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotSeparatedWarning)
        warnings.simplefilter("ignore", GapWarning)
        yield


RUNGS = {
    plan.name: plan
    for plan in (
        Plan("majority", "majority class", 0, lambda _X, _y, _setting: Chosen(Majority(), {})),
        Plan("neighbours", "nearest neighbours", 7, _neighbours, sampled=True, seconds=seconds_of_neighbours),
        Plan("perceptron", "averaged perceptron", 1, partial(_untuned, AveragedPerceptron)),
        Plan("adaline", "Adaline (least squares)", 2, partial(_untuned, Adaline)),
        Plan("adatron", "AdaTron (linear large margin)", 3, _adatron),
        Plan("glvq", "GLVQ (prototypes)", 4, lambda X, y, setting: _prototypes(GLVQ(), X, y, setting), least=FEW_ROWS),
        Plan("gmlvq", "GMLVQ (prototypes and a metric)", 5, _gmlvq, least=FEW_ROWS),
        Plan("kernel", "kernel AdaTron", 6, _kernel, sampled=True),
    )
}
"""In the order in which they are climbed; `keeps` says which is simpler."""


def widest_gap(model: Any) -> str:
    """Return the widest relative gap of a large-margin model in words; empty for others."""
    if not isinstance(model, AdaTron | KernelAdaTron):
        return ""
    proof = model.certificate_
    gaps = [part.relative_gap for part in getattr(proof, "parts", [proof]) if hasattr(part, "relative_gap")]
    return f"gap {max(gaps):.1e}" if gaps else ""


def describe(model: Any) -> tuple[int | None, str]:
    """Return the number of examples or prototypes a model holds, and its proof in a few words."""
    proof = model.certificate_
    if isinstance(proof, PrototypeErrors):
        mistakes = f"{proof.errors:,} training error{'' if proof.errors == 1 else 's'}"
        return len(proof.prototype_labels), f"{mistakes}, half of the rows safe by {proof.median_radius:.2g}"
    support = model.support_.size if hasattr(model, "support_") else getattr(model, "target_", np.empty(0)).size or None
    parts = list(proof.parts) if isinstance(proof, PerClass | PerPair) else [proof]
    gap = widest_gap(model)
    if gap:
        return support, gap
    errors = [part.backward_error for part in parts if hasattr(part, "backward_error")]
    if errors:
        return support, f"backward error {max(errors):.1e}"
    brackets: list[Any] = [getattr(part, "bracket", part) for part in parts]
    lowest = min((b for b in brackets if hasattr(b, "lower")), key=lambda b: float(b.lower), default=None)
    if lowest is not None:
        return support, f"margin in [{lowest.lower:.3g}, {lowest.upper:.3g}]"
    return support, str(proof)
