"""The rungs, from the simplest to the one that keeps most: how each learns, and what its certificate says in a few words.

A rung is a function from examples to a model with the parameters it chose. Tuning happens inside it, on the rows it is given,
so that scoring a rung in folds is nested cross-validation. Above `TUNE` rows the parameters are chosen on a stratified sample
and the model is fitted to all rows. The last fits, to all training rows and to all rows, then take the point of the grid that
was best on average over the samples of the folds: one more sample would have only its own luck.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.class_weight import compute_sample_weight

from halfspace import (
    GLVQ,
    GMLVQ,
    Adaline,
    AdaTron,
    AveragedPerceptron,
    KernelAdaTron,
    KernelAdaTronCV,
    RelevanceKernelClassifier,
)
from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.errors import InputError, MemoryLimitError
from halfspace.kernels import as_kernel
from halfspace.ladder.baselines import Majority, Neighbours, seconds_of_neighbours
from halfspace.ladder.evidence import paired_error, row_losses
from halfspace.ladder.plans import Chosen, Plan, Setting, kept_metric
from halfspace.ladder.tasks import sample_of

__all__ = ["RUNGS", "widths"]

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
GROW, GROWING, GROWTH = 1_000, 3_000, ((8, 100, 40), (16, 100, 40))
"""Rows from which on a learnt metric may have more of all three, rows (or an eighth) on which it is decided, the steps up."""
FEW_ROWS = 200
"""Training rows below which prototypes are tried only if requested: several per class would represent a few rows each."""
WIDEST, MOST_PROTOTYPES = 1_000, 1_000_000
"""Most inputs of a metric, and most numbers that all prototypes may have: they are dense, whatever the rows are."""
MANY_CLASSES = 30
"""From so many classes on, kernel machines are trained on pairs of classes."""
CELLS = 4
"""Cells of as many rows as one kernel machine may learn from; the smaller they are, the quicker."""


def _untuned(kind: Callable[..., Any], _X: Matrix, _y: Labels, setting: Setting, **_weights: Any) -> Chosen:
    return Chosen(kind(random_state=setting.seed, **setting.common()), {})


def _neighbours(_X: Matrix, _y: Labels, _setting: Setting) -> Chosen:
    return Chosen(Neighbours(), {})


def _adatron(X: Matrix, y: Labels, setting: Setting, sample_weight: Any = None) -> Chosen:
    began = time.perf_counter()
    shared = {**setting.common(), "n_jobs": _threads(y, setting)}
    model = AdaTron(random_state=setting.seed, **shared)
    if _folds(y) < 2:
        return Chosen(model, {})
    # On few rows the linear kernel's grid search finds the same cap sooner: it shares one matrix among all folds and caps.
    rows, draw = sample_of(y, TUNE, setting.seed), None
    if setting.draws and rows.size < y.size:
        params = {"C": CAPS[_best(setting.draws)]}
    else:
        grid = KernelAdaTronCV("linear", Cs=CAPS, tol=LOOSE, **shared)
        try:
            _for_search(grid, y[rows], setting, SEARCHING)
            run, _ = grid._choose(X[rows], y[rows], _some(sample_weight, rows))  # noqa: SLF001  (a machine for all is not needed)
        except MemoryLimitError:  # of very many classes; the default C is as good a guess as any
            return Chosen(model, {})
        if run.reason == "interrupted":
            raise KeyboardInterrupt
        params, draw = {"C": grid.best_params_["C"]}, _scores(grid)
    return Chosen(model.set_params(**params, max_time=setting.left_of(began)), params, draw=draw)


def _kernel(X: Matrix, y: Labels, setting: Setting, sample_weight: Any = None) -> Chosen:
    """Choose kernel machines: on pairs of many classes, on each class against the rest if pairs do not fit the memory limit."""
    if np.unique(y).size < MANY_CLASSES or y.size > setting.most_rows:  # cells have no pairs
        return _machines(X, y, sample_weight, setting, "ovr")
    try:
        chosen = _machines(X, y, sample_weight, setting, "ovo")
        return chosen if chosen.fitted else chosen._replace(model=chosen.model.fit(X, y, sample_weight), fitted=True)
    except MemoryLimitError:
        return _machines(X, y, sample_weight, setting, "ovr")


def _machines(X: Matrix, y: Labels, sample_weight: Any, setting: Setting, multi_class: str) -> Chosen:
    """Choose kernel machines by cross-validation, if there are examples enough; on many by what all folds have found."""
    began = time.perf_counter()
    shared = {**setting.common(), "n_jobs": _threads(y, setting), "multi_class": multi_class}
    cells = -(-CELLS * y.size // setting.most_rows) if y.size > setting.most_rows else None
    single = KernelAdaTron(setting.kernel, n_cells=cells, random_state=setting.seed, **shared)
    if _folds(y) < 2:
        return Chosen(single, {})
    rows = sample_of(y, TUNE, setting.seed)
    gammas = widths(setting.kernel, X[rows])
    if setting.draws and rows.size < y.size:
        width, cap = divmod(_best(setting.draws), len(KERNEL_CAPS))
        params = {"C": KERNEL_CAPS[cap]} | ({} if gammas is None else {"gamma": gammas[width]})
        return Chosen(single.set_params(**params), params)
    model = KernelAdaTronCV(setting.kernel, Cs=KERNEL_CAPS, gammas=gammas, **shared)
    whole = rows.size == y.size and cells is None
    search = _searched(model, X[rows], y[rows], _some(sample_weight, rows), setting, 1.0 if whole else SEARCHING)
    draw = _scores(search)
    if whole:
        return Chosen(search.estimator_, search.best_params_, fitted=True, draw=draw)
    single = clone(search.estimator_).set_params(n_cells=cells, max_time=setting.left_of(began))
    return Chosen(single, search.best_params_, draw=draw)


def _scores(search: Any) -> FloatArray | None:
    """Return the score of every point of a grid, shape (points,), unless time allowed none."""
    scores: FloatArray = search.cv_results_["mean_test_score"]
    return scores if np.isfinite(scores).any() else None


def _best(draws: tuple[FloatArray, ...]) -> int:
    """Return the point of a grid with the best mean over several searches, each of shape (points,); NaN: not scored."""
    filled = [np.where(np.isfinite(draw), draw, np.nanmin(draw)) for draw in draws]
    return int(np.argmax(np.mean(filled, axis=0)))


def _glvq(X: Matrix, y: Labels, setting: Setting, **_weights: Any) -> Chosen:
    return _prototypes(GLVQ(), X, y, setting)


def _gmlvq(X: Matrix, y: Labels, setting: Setting, sample_weight: Any = None) -> Chosen:
    if X.shape[1] > WIDEST:
        msg = f"the ladder learns metrics of at most {WIDEST:,} inputs, not of {X.shape[1]:,}; fit GMLVQ itself to such rows"
        raise InputError(msg)
    small = _prototypes(GMLVQ(rank=min(DIRECTIONS, X.shape[1])), X, y, setting)
    fixed = y.size < GROW or _folds(y) < 2 or sample_weight is not None
    return small if fixed else _grown(small.model, X, y, setting)


def _grown(best: Any, X: Matrix, y: Labels, setting: Setting) -> Chosen:
    """Grow prototypes, steps and rank while they pay: fewer errors, by more than one standard error, on a third left out."""
    began, rows = time.perf_counter(), sample_of(y, max(GROWING, y.size // 8), setting.seed)
    names, truth = np.unique(y[rows], return_inverse=True)
    train, held = next(StratifiedKFold(_folds(y[rows]), shuffle=True, random_state=setting.seed).split(rows, truth))
    limit = None if setting.max_time is None else SEARCHING * setting.max_time / (1 + len(GROWTH))
    least = None
    for number, steps, rank in ((best.n_prototypes, best.max_iter, best.rank), *GROWTH):
        if number * names.size * X.shape[1] > MOST_PROTOTYPES:
            break
        model = clone(best).set_params(n_prototypes=number, max_iter=steps, rank=min(rank, X.shape[1]), max_time=limit)
        found = model.fit(X[rows[train]], y[rows[train]]).predict(X[rows[held]])
        if model.outcome_.reason == "interrupted":
            raise KeyboardInterrupt
        measure = "balanced_accuracy" if setting.balanced else "accuracy"
        losses = row_losses(measure, truth[held], np.searchsorted(names, found))
        if least is not None and paired_error(least, losses).within_one_error:
            break
        best, least = model, losses
    grown = {} if best.n_prototypes == PROTOTYPES else {"n_prototypes": best.n_prototypes}
    return Chosen(clone(best).set_params(max_time=setting.left_of(began)), grown)


def _prototypes(model: Any, X: Matrix, y: Labels, setting: Setting) -> Chosen:
    """Choose a handful of prototypes per class and few steps: more fit the noise."""
    size = np.unique(y).size * PROTOTYPES * X.shape[1]
    if size > MOST_PROTOTYPES:
        msg = f"its prototypes would have {size:,} numbers, more than {MOST_PROTOTYPES:,}; planes are quicker on such rows"
        raise InputError(msg)
    few = {"n_prototypes": PROTOTYPES, "max_iter": STEPS, "random_state": setting.seed}
    return Chosen(model.set_params(**few, **setting.common()), {})


def _relevance(X: Matrix, y: Labels, setting: Setting, sample_weight: Any = None) -> Chosen:
    """Learn the metric and the machine; the parameters keep both, so that a curve or a refit needs no new search."""
    if X.shape[1] > WIDEST:
        msg = f"the ladder learns metrics of at most {WIDEST:,} inputs, not of {X.shape[1]:,}"
        raise InputError(msg)
    weight = None
    if setting.class_weight is not None or sample_weight is not None:
        weight = compute_sample_weight(setting.class_weight, y) * (1.0 if sample_weight is None else sample_weight)
    model = RelevanceKernelClassifier(max_time=setting.max_time, n_jobs=_threads(y, setting), random_state=setting.seed)
    return kept_metric(model.fit(X, y, weight))


def _threads(y: Labels, setting: Setting) -> int | None:
    """Return the threads to use: one on few rows, where they would only wait for each other. The result is the same."""
    return 1 if setting.n_jobs is None and y.size <= FEW else setting.n_jobs


def _folds(y: Labels) -> int:
    """Return the number of inner folds that the smallest class allows; below 2 nothing can be tuned."""
    return min(FOLDS, int(np.unique(y, return_counts=True)[1].min()))


def _some(sample_weight: Any, rows: Any) -> Any:
    """Return the weights of some rows, if there are weights."""
    return None if sample_weight is None else sample_weight[rows]


def _searched(search: Any, X: Matrix, y: Labels, sample_weight: Any, setting: Setting, share: float) -> Any:
    """Fit a grid search in a share of the time; pass on an interrupt that it has caught to keep its best so far."""
    _for_search(search, y, setting, share).fit(X, y, sample_weight)
    if search.outcome_.reason == "interrupted":
        raise KeyboardInterrupt
    return search


def _for_search(search: Any, y: Labels, setting: Setting, share: float) -> Any:
    """Give a grid search its folds, its score, its seed and a share of the time; return it."""
    scoring = "balanced_accuracy" if setting.balanced else "accuracy"
    limit = None if setting.max_time is None else share * setting.max_time
    return search.set_params(max_time=limit, cv=_folds(y), scoring=scoring, random_state=setting.seed)


def widths(kernel: Any, X: Matrix) -> list[float] | None:
    """Return the widths to choose from for a kernel given by its name, if it has one; a kernel value keeps its own."""
    if not isinstance(kernel, str) or kernel not in {"rbf", "laplacian"}:
        return None
    suggested = as_kernel(kernel, gamma="median").resolved(X).get_params()["gamma"]
    return [width * float(suggested) for width in WIDTHS]


RUNGS = {
    plan.name: plan
    for plan in (
        Plan("majority", "majority class", 0, lambda _X, _y, _setting: Chosen(Majority(), {})),
        Plan("neighbours", "nearest neighbours", 7, _neighbours, sampled=True, weighs=False, seconds=seconds_of_neighbours),
        Plan("perceptron", "averaged perceptron", 1, partial(_untuned, AveragedPerceptron), weighs=False),
        Plan("adaline", "Adaline (least squares)", 2, partial(_untuned, Adaline)),
        Plan("adatron", "AdaTron (linear large margin)", 3, _adatron),
        Plan("glvq", "GLVQ (prototypes)", 4, _glvq, least=FEW_ROWS),
        Plan("gmlvq", "GMLVQ (prototypes and a metric)", 5, _gmlvq, least=FEW_ROWS),
        Plan("kernel", "kernel AdaTron", 6, _kernel, sampled=True, celled=True),
        Plan("relevance", "relevance kernel machine", 8, _relevance, own=True),
    )
}
"""In the order in which they are climbed; `keeps` says which is simpler."""
