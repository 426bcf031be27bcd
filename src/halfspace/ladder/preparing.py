"""Before the climb: parameters that can be used, the scoring, and the folds."""

from collections.abc import Collection
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, column_or_1d

from halfspace._typing import Labels, Matrix
from halfspace.errors import InputError
from halfspace.ladder.climbing import Ground, cuts
from halfspace.ladder.rungs import RUNGS, Plan, Setting
from halfspace.models.parameters import require, require_choice, require_number, require_switch
from halfspace.notes import Note

__all__ = ["checked_labels", "checked_plans", "prepared", "shorter"]

IMBALANCED = 0.8
"""Above this share of the largest class, accuracy says little."""
FEW_ROWS = 100
"""Up to so many rows the folds are repeated."""
LARGEST = 1e70
"""Largest encoded number: squares of rows stay within what the models accept."""
MOST = 50_000_000
"""Most numbers of a matrix that is turned."""


def checked_plans(ladder: Any) -> list[Plan]:
    """Refuse parameters that cannot be used; return the rungs asked for."""
    require_choice(ladder, "scoring", "auto", "accuracy", "balanced_accuracy")
    require_switch(ladder, "curve")
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
    listed = isinstance(ladder.rungs, Collection) and not isinstance(ladder.rungs, str)
    encodes = ladder.encoder is None or (hasattr(ladder.encoder, "transform") and not isinstance(ladder.encoder, type))
    require(ladder, "encoder", "a transformer, or None", holds=encodes)
    names = list(RUNGS) if ladder.rungs is None else list(ladder.rungs) if listed else []
    known = bool(names) and all(isinstance(name, str) and name in RUNGS for name in names)
    require(ladder, "rungs", f"a list of some of {', '.join(RUNGS)}", holds=known)
    return [plan for name, plan in RUNGS.items() if name in names]


def checked_labels(y: Any) -> Labels:
    """Return the labels as an array, shape (n,), or say what is wrong with them."""
    if y is None:
        msg = "Ladder requires y to be passed, but the target y is None."
        raise InputError(msg)
    if hasattr(y, "iloc") and y.ndim == 2 and y.shape[1] == 1:
        y = y.iloc[:, 0]
    if not isinstance(getattr(y, "dtype", np.dtype(float)), np.dtype):  # pandas' own types would become floats
        if hasattr(y, "isna") and y.isna().any():
            msg = "Ladder: Input y contains NaN: labels are missing. Leave their rows out."
            raise InputError(msg)
        y = np.array(y.tolist())
    y = check_array(y, ensure_2d=False, dtype=None, input_name="y", estimator="Ladder")
    labels: Labels = column_or_1d(y, warn=True)
    return labels


def prepared(ladder: Any, Z: Matrix, y: Labels, began: float) -> tuple[Ground, list[Note]]:
    """Choose scoring and folds for encoded rows Z, shape (n, D), and say in notes what was special."""
    notes = []
    largest = float(np.abs(Z.data if sparse.issparse(Z) else Z).max(initial=0.0))
    if not largest <= LARGEST:
        msg = (
            f"Ladder: encoded rows hold {largest:.3g}, but at most {LARGEST:g} is expected; use TableEncoder(scale='standard')."
        )
        raise InputError(msg)
    counts = np.unique(y, return_counts=True)[1]
    share = counts.max() / y.size
    balanced = ladder.scoring == "balanced_accuracy" or (ladder.scoring == "auto" and share > IMBALANCED)
    if balanced and ladder.scoring == "auto":
        notes.append(Note("balanced", count=round(100 * share)))
    several = counts[counts > 1]
    if not several.size:
        msg = f"Ladder needs at least 2 examples of some class to learn and to test, but all {counts.size} classes have one."
        raise InputError(msg)
    if several.size < counts.size:
        notes.append(Note("single rows", count=counts.size - several.size))
    splits = int(min(ladder.n_splits, max(2, several.min())))
    repeats = int((2 if y.size <= FEW_ROWS else 1) if ladder.n_repeats == "auto" else ladder.n_repeats)
    ground = Ground(
        Z,
        shorter(Z),
        y,
        cuts(y, splits, repeats, int(ladder.random_state)),
        repeats,
        Setting(balanced, ladder.kernel, ladder.n_jobs, int(ladder.random_state)),
        int(ladder.kernel_rows),
        None if ladder.max_time is None else began + float(ladder.max_time),
    )
    return ground, notes


def shorter(X: Matrix) -> Matrix:
    """Return rows, shape (n, d), in coordinates of their own span, shape (n, n), if there are far fewer rows than columns.

    With Xᵀ = QR the rows of Rᵀ have the same inner products as those of X, and all rungs but some kernels see no more.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((3, 100))
    >>> Z = shorter(X)
    >>> Z.shape, bool(np.allclose(Z @ Z.T, X @ X.T))
    ((3, 3), True)
    """
    n, d = X.shape
    if d <= 2 * n or n * d > MOST:
        return X
    triangle: Any = np.linalg.qr((X.toarray() if sparse.issparse(X) else X).T, mode="r")
    return np.ascontiguousarray(triangle.T)
