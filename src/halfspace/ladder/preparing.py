"""Before the climb: parameters that can be used, rows of any kind, the held-out rows, the scoring, and the folds."""

import time
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, column_or_1d

from halfspace._memory import admit, bytes_of, parsed, room
from halfspace._typing import IntArray, Labels, Matrix
from halfspace.certificates.calibration import ENOUGH
from halfspace.errors import InputError
from halfspace.ladder.climbing import Training
from halfspace.ladder.components import admit_components, checked_pca
from halfspace.ladder.measures import MEASURES, measure_of
from halfspace.ladder.plans import Plan, Setting
from halfspace.ladder.tasks import Classes, Rows, Task, make_folds
from halfspace.models.parameters import require, require_choice, require_number, require_switch
from halfspace.notes import Note
from halfspace.rows.labels import example_weights

IMBALANCED = 0.8
"""Above this share of the largest class, accuracy says little."""
FEW_ROWS = 100
"""Up to so many rows the folds are repeated."""
LARGEST = 1e70
"""Largest encoded number: squares of rows stay within what the models accept."""
ENCODED_BYTES = 24
"""Bytes of an encoded number: itself, a fold's copy, and what a model makes of that."""
KEPT, MOST_RUNGS = 0.25, 10
"""Share of the room that outputs for unseen rows may take, of all rungs together."""
FLOPS = 2e9
"""Operations of a factorisation in a second, where the machine is slow."""
MOST, THIN = 50_000_000, 0.1
"""Most entries of a matrix that is made dense or rotated, and share of entries below which a sparse one stays sparse."""


def admit_classes(K: int, X: Any) -> None:
    """Refuse so many classes that the table of which is taken for which does not fit the memory limit."""
    admit("Ladder", 24.0 * K * K, f"the {K:,} x {K:,} table of errors", "merge rare classes, or choose another target", X)


def admit_encoded(encoder: Any, X: Any, n: int) -> None:
    """Refuse n training rows that do not fit the memory limit once encoded; how wide they are the encoder says."""
    groups, scattered = getattr(encoder, "groups_", ()), getattr(encoder, "sparse_", True)
    if groups and not scattered:
        width = groups[-1][2]
        needed, row = 2.0 * bytes_of(X), ENCODED_BYTES * width
        fitting = max(int((room(X) - needed) / row), 0)
        remedy = f"learn from a sample of at most {fitting:,} rows (--max-rows)" if fitting > 100 else "leave columns out"
        admit("Ladder", needed + row * n, f"{n:,} training rows of {width:,} encoded inputs", remedy, X)


def checked_plans(ladder: Any, rungs: dict[str, Plan]) -> list[Plan]:
    """Refuse parameters that cannot be used; return those of the rungs that are requested."""
    require_choice(ladder, "scoring", "auto", *(m.name for m in MEASURES.values() if m.task == ladder.task))
    for switch in ("curve", "refit", "yardstick", "novelty"):
        require_switch(ladder, switch)
    verbose = isinstance(ladder.verbose, int | np.integer) and int(ladder.verbose) >= 0
    require(ladder, "verbose", "a whole number >= 0", holds=verbose)
    require(ladder, "on_progress", "a function, or None", holds=ladder.on_progress is None or callable(ladder.on_progress))
    require_number(ladder, "test_size", least=0.0)
    require(ladder, "test_size", "a share below 1", holds=ladder.test_size < 1)
    for name, least in (("n_splits", 2), ("kernel_rows", 10), ("n_repeats", 1), ("random_state", 0)):
        value = getattr(ladder, name)
        auto = name == "n_repeats" and isinstance(value, str) and value == "auto"
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        require(ladder, name, f"a whole number from {least} to 2**31", holds=auto or (whole and least <= value < 2**31))
    if ladder.max_time is not None:
        require_number(ladder, "max_time")
    if ladder.max_memory is not None:
        parsed(ladder.max_memory)
    listed = isinstance(ladder.rungs, Collection) and not isinstance(ladder.rungs, str)
    share = "None, a share of the variance below 1 or a number of components"
    require(ladder, "pca", share, holds=checked_pca(ladder.pca))
    encodes = ladder.encoder is None or (hasattr(ladder.encoder, "transform") and not isinstance(ladder.encoder, type))
    require(ladder, "encoder", "a transformer, or None", holds=encodes)
    names = list(rungs) if ladder.rungs is None else list(ladder.rungs) if listed else []
    known = bool(names) and all(isinstance(name, str) and name in rungs for name in names)
    require(ladder, "rungs", f"a list of some of {', '.join(rungs)}", holds=known)
    return [plan for name, plan in rungs.items() if name in names]


def checked_labels(y: Any, owner: str = "Ladder") -> Labels:
    """Return the labels as an array, shape (n,), or say what is wrong with them."""
    if y is None:
        msg = f"{owner} requires y to be passed, but the target y is None."
        raise InputError(msg)
    if hasattr(y, "iloc") and y.ndim == 2 and y.shape[1] == 1:
        y = y.iloc[:, 0]
    if not isinstance(getattr(y, "dtype", np.dtype(float)), np.dtype):  # pandas' own types would become floats
        if hasattr(y, "isna") and y.isna().any():
            msg = f"{owner}: Input y contains NaN: labels are missing. Leave their rows out."
            raise InputError(msg)
        y = np.array(y.tolist())
    y = check_array(y, ensure_2d=False, dtype=None, input_name="y", estimator=owner)
    labels: Labels = column_or_1d(y, warn=True)
    return labels


def as_matrix(X: Any) -> Matrix:
    """Return what an encoder gave as an array or CSR matrix: some give data frames."""
    return X.tocsr() if sparse.issparse(X) else np.asarray(X)


def dense_if_small(X: Matrix) -> Matrix:
    """Return a sparse matrix that is neither large nor thin as a dense one, which is then quicker to learn from."""
    if not sparse.issparse(X):
        return X
    size = X.shape[0] * X.shape[1]
    return X.toarray() if size <= MOST and X.nnz > THIN * size else X


def input_groups(encoder: Any, width: int) -> tuple[list[str], list[tuple[str, int, int]]]:
    """Return the names of `width` encoded inputs, and each column's name with its first input and the one after its last."""
    names = [f"x{k}" for k in range(width)]
    if hasattr(encoder, "get_feature_names_out"):
        names = [str(name) for name in encoder.get_feature_names_out()]
    return names, list(getattr(encoder, "groups_", [(name, k, k + 1) for k, name in enumerate(names)]))


def checked_rows(ladder: Any, given: dict[str, Any], y: Labels) -> Rows:
    """Return what `fit` was given about its rows besides X and targets y (n,), checked."""
    unknown = sorted(set(given) - {"sample_weight", "groups", "times"})
    if unknown:
        msg = f"{type(ladder).__name__}.fit takes sample_weight, groups and times besides X and y. Got {unknown[0]!r} instead."
        raise TypeError(msg)
    owner, weight, n = type(ladder).__name__, given.get("sample_weight"), y.size
    if weight is not None:
        weight = example_weights(None, weight, np.zeros(1), np.zeros(n, dtype=np.int64), owner)
        if np.unique(y[weight > 0]).size < 2:
            msg = f"{owner}: the rows with a sample_weight above 0 have one class or number only; at least 2 are needed."
            raise InputError(msg)
    others = []
    for name in ("groups", "times"):
        values = given.get(name)
        values = None if values is None else np.asarray(values)
        if values is not None and (values.shape != (n,) or values.dtype.kind == "O"):
            msg = (
                f"{owner}: {name} must be {n} values of one kind, one for each row. Got {values.dtype} of shape {values.shape}."
            )
            raise InputError(msg)
        others.append(values)
    rows = Rows(weight, *others)
    if rows.group is not None and rows.time is not None:
        msg = f"{owner}: rows are kept together by groups or validated forwards in time, not both; leave one out."
        raise InputError(msg)
    if rows.group is not None and np.unique(rows.group).size < 3:
        msg = f"{owner}: groups must have at least 3 different values, so that some can be learnt from and some tested."
        raise InputError(msg)
    return rows


def admit_sizes(Z: Matrix) -> None:
    """Refuse encoded rows with numbers that squares do not fit in."""
    largest = float(np.abs(Z.data if sparse.issparse(Z) else Z).max(initial=0.0))
    if not largest <= LARGEST:
        msg = (
            f"Ladder: encoded rows hold {largest:.3g}, but at most {LARGEST:g} is expected; use TableEncoder(scale='standard')."
        )
        raise InputError(msg)


def class_task(ladder: Any, y: Labels) -> tuple[Classes, list[Note]]:
    """Choose scoring and class weights for training labels y, shape (n,), and say in notes what was special."""
    notes = []
    classes, counts = np.unique(y, return_counts=True)
    share = counts.max() / y.size
    lopsided = ladder.scoring == "auto" and share > IMBALANCED
    if lopsided:
        notes.append(Note("balanced", count=round(100 * share)))
    several = counts[counts > 1]
    if not several.size:
        msg = f"Ladder needs at least 2 examples of some class to learn and to test, but all {counts.size} classes have one."
        raise InputError(msg)
    if several.size < counts.size:
        notes.append(Note("single rows", count=counts.size - several.size))
    name = ("balanced_accuracy" if lopsided else "accuracy") if ladder.scoring == "auto" else ladder.scoring
    ranked = share > IMBALANCED and name != "accuracy"  # unweighted machines would ignore the rare class
    balanced = (ranked or name == "balanced_accuracy") and ladder.class_weight is None
    example_weights(ladder.class_weight, None, classes, np.zeros(1, dtype=np.int64), type(ladder).__name__)
    return Classes(
        classes, measure_of(name, "classify", ladder.positive), "balanced" if balanced else ladder.class_weight
    ), notes


def training_for(
    ladder: Any, task: Task, data: tuple[Matrix, Labels, Rows], deadline: float | None, report: Callable[..., None]
) -> Training:
    """Choose the folds for encoded rows Z, shape (n, D), with targets y, shape (n,)."""
    Z, y, rows = data
    admit_sizes(Z)
    if ladder.pca is not None:
        admit_components(type(ladder).__name__, ladder.pca, Z)
    alone = rows.group is None and rows.time is None
    splits = int(ladder.n_splits)
    if rows.group is not None:
        splits = min(splits, np.unique(rows.group).size)
    elif isinstance(task, Classes) and alone:
        counts = np.unique(y, return_counts=True)[1]
        splits = int(min(splits, max(2, counts[counts > 1].min())))
    elif alone:
        splits = max(2, min(splits, y.size // 2))
    repeats = int((2 if y.size <= FEW_ROWS else 1) if ladder.n_repeats == "auto" else ladder.n_repeats) if alone else 1
    outputs = (*task.shape, 1)[0]
    weighed = task.weight == "balanced" and ladder.class_weight is None
    balanced = task.measure.name == "balanced_accuracy" or weighed
    return Training(
        X=Z,
        scored=_rotated(Z, None if deadline is None else 0.1 * (deadline - time.perf_counter())),
        y=y,
        task=task,
        folds=make_folds(task, y, splits, repeats, int(ladder.random_state), rows),
        passes=repeats,
        setting=Setting(
            task.weight, balanced, ladder.kernel, ladder.n_jobs, int(ladder.random_state), most_rows=int(ladder.kernel_rows)
        ),
        most_rows=int(ladder.kernel_rows),
        deadline=deadline,
        report=report,
        watched=_watched(y.size, outputs, Z),
        weight=rows.weight,
        pca=ladder.pca,
        alone=alone,
        until=deadline,
    )


def _watched(n: int, outputs: int, Z: Matrix) -> IntArray:
    """Return the rows whose outputs are kept, shape (m,): all, or of very many classes as many as calibration reads."""
    step = 1 if 8.0 * n * outputs * MOST_RUNGS <= KEPT * room(Z) else max(1, n * outputs // ENOUGH)
    return np.arange(n)[::step]


def _rotated(X: Matrix, seconds: float | None = None) -> Matrix:
    """Return rows, shape (n, d), in coordinates of their own span, shape (n, n), if there are far fewer rows than columns.

    With Xᵀ = QR the rows of Rᵀ have the same inner products as those of X, and all rungs but some kernels see no more. Rows so
    sparse that theirs would be more numbers stay as they are, and so do all where it would take more than these seconds.
    """
    n, d = X.shape
    late = seconds is not None and 2.0 * d * n * n > FLOPS * seconds
    if late or d <= 2 * n or n * d > MOST or (sparse.issparse(X) and n * n > X.nnz):
        return X
    triangle: Any = np.linalg.qr((X.toarray() if sparse.issparse(X) else X).T, mode="r")
    return np.ascontiguousarray(triangle.T)
