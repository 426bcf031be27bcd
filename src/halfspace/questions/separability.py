"""Whether a plane separates two classes: an answer with its proof, without a model."""

import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from halfspace._typing import IntArray, Label, Labels, Matrix
from halfspace.certificates.arithmetic import combination
from halfspace.certificates.margins.bracket import MarginBracket
from halfspace.certificates.margins.separability import Separability
from halfspace.errors import InputError
from halfspace.models.parameters import PROVED, read_matrix, usable_rows
from halfspace.rows.labels import read_classes
from halfspace.rows.threads import beside
from halfspace.rows.views import entries_per_row
from halfspace.solvers.exact.separating import Finding, Signed, search, wide_search
from halfspace.solvers.run import Budget

__all__ = ["read_intercept", "renumbered", "separability"]

WIDE, SMALL = 3000, 20_000_000
"""More inputs than this, unless the examples have few entries (stored or not), are left to the perceptron alone."""
BRACKETS = 4.0
"""Passes over the examples that measuring a bracket takes."""
OWNER = type("separability", (BaseEstimator,), {})
"""In whose name scikit-learn's checks speak."""


def separability(
    X: Matrix,
    y: Labels,
    intercept: str = "free",
    max_time: float | None = None,
    *,
    one_class: bool = False,
) -> Separability:
    """Decide whether a plane separates two classes, and prove it without rounding.

    A plane with y_i (w·x_i + b) > 0 for all i is a proof as it stands. That there is none is proved by Gordan's theorem: by
    λ >= 0, not all zero, with Σ λ_i y_i (x_i, 1) = 0, that is by a point in the hulls of both classes. A float residual does
    not prove it, however small: 1e-17 may be the rounding of 0, where the hulls touch, or of 1e-17, where a plane fits
    between them. So λ is solved for in whole numbers of any length (python-flint) on the few rows that floats point to, and
    both kinds of proof are checked in rational arithmetic: every float is a fraction.

    In the words of lectures: whether the dichotomy of the examples is realizable by a plane; a linear program.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Examples; float32 and float64 are used as they are.
    y : array, shape (n,)
        Labels of two classes, of any kind.
    intercept : {"free", "clamped", "none"}, default "free"
        Whether the plane may have a bias b, with the words of the models; whether it is free or clamped makes no difference to
        this question. True and False are understood as "free" and "none", with a FutureWarning.
    max_time : float, optional
        Time limit in seconds. When it is reached, the answer may be "undecided", with a bracket around the best margin.
    one_class : bool, default False
        Whether y may have a single label. The question is then whether all examples lie on one side of a plane, as the
        storage problem has it: of the 2^n labelings two have one class only. Without a bias the answer may be no.

    Returns
    -------
    Separability
        `verdict` is "separable" with `w`, shape (d,), `b` and `margin`; "inseparable" with `multipliers` (row to λ, sum 1; the
        rows are at most d + 2 and also in `obstacle`); or "undecided" with `bracket`. `verify(X, y)` checks it anew.

    Raises
    ------
    InputError
        If there are not exactly two classes, or a parameter is not usable; scikit-learn's ValueError for NaN and shapes.

    Notes
    -----
    A small set of rows decides, and grows by the rows its plane gets wrong; see `halfspace.solvers.exact.separating`. Undecided
    without a time limit is possible where the gap is too thin for any plane of floats near the best one, and with more than
    1000 features, where solving exactly would take minutes; beyond 3000 features only the perceptron looks for a plane.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> proof = separability(X, ["low", "low", "high", "high"])
    >>> proof.verdict, bool(proof.verify(X, np.array(["low", "low", "high", "high"])))
    ('separable', True)
    >>> proof = separability(X, ["low", "high", "low", "high"])
    >>> proof.verdict, sorted(str(share) for share in proof.multipliers.values())
    ('inseparable', ['1/2', '1/4', '1/4'])
    """
    budget = _budget(max_time)
    biased = read_intercept(intercept, "separability") != "none"
    if y is None:
        msg = "separability needs labels: y must have one label per row of X. Got None instead."
        raise InputError(msg)
    X, y = read_matrix(OWNER(), X, y, reset=True)
    if one_class and y.size and (y == y[0]).all():
        return _one_side(X, y, biased=biased)
    classes, target = read_classes(y, "separability")
    if classes.size > 2:
        msg = (
            f"separability is a question about two classes, but y has {classes.size}: {classes.tolist()[:5]}. "
            "Ask for each class against the rest, e.g. separability(X, y == label)."
        )
        raise InputError(msg)
    clamp = float(biased)
    view, _ = usable_rows(X, clamp, "separability")
    positive = classes.tolist()[1]
    look = search if X.shape[1] <= WIDE or X.shape[0] * X.shape[1] <= SMALL else wide_search
    budget = budget._replace(reserve=BRACKETS * X.shape[0] * entries_per_row(view) / PROVED)
    found = _found(look, Signed(X, view, np.where(target == 1, 1.0, -1.0), clamp), budget)
    if found.margin > 0.0:
        return Separability.by_plane(found.weights, found.margin, intercept=biased, positive=positive)
    if found.multipliers:
        return Separability.by_multipliers(found.multipliers, X.shape[1], intercept=biased, positive=positive)
    bracket = _bracket(found, X, y, clamp, positive)
    return Separability.by_bracket(bracket, intercept=biased)


def _one_side(X: Matrix, y: Labels, *, biased: bool) -> Separability:
    """Decide whether all examples lie on one side of a plane: with a bias always, else by Gordan's alternative."""
    view, _ = usable_rows(X, 0.0, "separability")
    positive = y.tolist()[0]
    if biased:
        proof = Separability.by_plane(np.append(np.zeros(X.shape[1]), 1.0), 1.0, intercept=True, positive=positive)
        return replace(proof, one_class=True)
    found = search(Signed(X, view, np.ones(y.size), 0.0), lambda: False)
    if found.margin > 0.0:
        proof = Separability.by_plane(found.weights, found.margin, intercept=False, positive=positive)
    elif found.multipliers:
        proof = Separability.by_multipliers(found.multipliers, X.shape[1], intercept=False, positive=positive)
    else:
        msg = "separability: the gap is too thin for floats to decide whether all examples lie on one side of a plane."
        raise InputError(msg)
    return replace(proof, one_class=True)


def read_intercept(intercept: Any, owner: str) -> str:
    """Return the kind of bias by its word; the truth values of earlier versions still say whether there is one."""
    if isinstance(intercept, bool | np.bool_):
        word = "free" if intercept else "none"
        msg = f"{owner}: intercept={bool(intercept)} is now written intercept={word!r}."
        warnings.warn(msg, FutureWarning, stacklevel=3)
        return word
    if not isinstance(intercept, str) or intercept not in {"clamped", "free", "none"}:
        msg = f"The 'intercept' parameter of {owner} must be 'clamped', 'free' or 'none'. Got {intercept!r} instead."
        raise InputError(msg)
    return intercept


def _budget(max_time: float | None) -> Budget:
    """Return how long to look, beginning now; refuse a limit that is not a positive number."""
    if max_time is None:
        return Budget(1)
    if not isinstance(max_time, Real) or isinstance(max_time, bool) or not max_time > 0:
        msg = (
            f"The 'max_time' parameter of separability must be a positive number of seconds or None. Got {max_time!r} instead."
        )
        raise InputError(msg)
    return Budget(1, float(max_time), began=time.perf_counter())


def _found(look: Callable[[Signed, Callable[[], bool]], Finding], signed: Signed, budget: Budget) -> Finding:
    """Look for a plane or multipliers as long as there is time; else take the sum of all signed rows for a plane."""
    if budget.max_time is None:
        return look(signed, lambda: False)
    try:  # its steps may be too long to wait for the next look at the clock
        return beside(look, signed, lambda: budget.left() == 0.0).result(budget.left())
    except TimeoutError:
        plane = combination(signed.X, signed.y[None], signed.clamp)[0]
        return Finding(plane, strengths=np.ones(signed.y.size))


def _bracket(found: Finding, X: Matrix, y: Labels, clamp: float, positive: Label) -> MarginBracket:
    """Measure what is known of the best margin, with a lower side that claims no more than was proved."""
    measured = MarginBracket.measure(X, y, weights=found.weights, strengths=found.strengths, clamp=clamp, positive=positive)
    return replace(measured, lower=min(measured.lower, 0.0))


def renumbered(proofs: Iterable[tuple[Label, Separability]], rows: IntArray) -> list[tuple[Label, Separability]]:
    """Return separability proofs about some rows with the row numbers of the file, shape (n,), for people to read."""
    return [
        (label, replace(proof, multipliers={int(rows[row]): share for row, share in proof.multipliers.items()}))
        for label, proof in proofs
    ]
