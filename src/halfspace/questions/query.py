"""Which rows to label next: those the model is least sure of, spread out, and random ones to see how wrong it is.

Margin     The rows with the smallest |f|/‖x‖ of a plane, the smallest |f| of another function, or, where there are only
           probabilities or more than two classes, the smallest lead of the best class over the second.
Batch      Rows that lie close together tell the same, so of the 2k rows of smallest margin, but not of the surer half of
           the pool, the k are taken that are farthest apart: first the smallest margin, then whichever is farthest from
           all taken (Gonzalez 1985).
Blind      A model that sees one class in the whole pool has no border there, and the rows nearest to it may all be of that
           class, round after round: the batch is random then.
Forced     If a plane separates the labelled rows and only one label of a new row leaves them separable, Gordan's multipliers
           prove that label: there is nothing to ask, provided some plane separates everything.
Audit      Savings are not provable, an error rate is: k random rows give the exact interval of Clopper and Pearson (1934). Rows
           chosen by their margin do not, as they are the hardest.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import beta

from halfspace._text import plural
from halfspace._typing import FloatArray, IntArray, Label, Labels, Matrix
from halfspace.certificates.arithmetic import checked_rows, squares
from halfspace.certificates.margins.separability import Separability
from halfspace.certificates.rational import dense_rows
from halfspace.errors import InputError
from halfspace.questions.separability import separability

__all__ = ["Audit", "Forced", "Query", "audit", "query"]

WIDER = 2
"""So many times more rows than asked for are candidates."""
BLIND = 200
"""Of more rows than this, random ones are taken where fewer than one in so many is given another class than the others."""
RANDOM = {"margin": "random: the model sees one class nearly everywhere", "random": "random"}
"""The strategies, and why each takes a random row."""


@dataclass(frozen=True)
class Forced:
    """A label that follows from the labelled rows, if some plane separates all rows.

    Parameters
    ----------
    label : label
        The only label that leaves the rows separable.
    proof : Separability
        That the other label does not: about the labelled rows with this row last, labelled otherwise.
    """

    label: Label
    proof: Separability


@dataclass(frozen=True)
class Audit:
    """How wrong a model is on random rows.

    Parameters
    ----------
    errors, n : int
        Wrong predictions, and rows.
    low, high : float
        Exact interval of the error rate (Clopper and Pearson).
    level : float
        Its confidence.

    Examples
    --------
    >>> print(audit([1, 1, 0, 0], [1, 1, 0, 1]))
    1 of 4 random rows wrong: the error rate is between 0.6 % and 80.6 % (95 % confidence)
    """

    errors: int
    n: int
    low: float
    high: float
    level: float

    def __str__(self) -> str:
        between = f"between {100 * self.low:.1f} % and {100 * self.high:.1f} %"
        return f"{self.errors} of {self.n} random rows wrong: the error rate is {between} ({100 * self.level:g} % confidence)"


@dataclass(frozen=True)
class Query:
    """Rows of a pool to label next.

    Parameters
    ----------
    rows : ndarray, shape (k,)
        Their numbers, the least certain first.
    margins : ndarray, shape (k,)
        How sure the model is of each; NaN for random ones.
    predicted : ndarray, shape (k,)
        What it predicts.
    reasons : tuple of str
        Why each was chosen.
    forced : dict of int to Forced
        Rows among them whose label follows from the labelled ones.
    audit_rows : ndarray, shape (m,)
        Random rows to label too, to measure the model by `audit`.
    unsure : int
        Rows of the pool inside the margin, -1 < f < 1, or where the best class leads by less than 0.5.
    n_pool : int
        Rows of the pool.
    """

    rows: IntArray
    margins: FloatArray
    predicted: Labels
    reasons: tuple[str, ...]
    forced: dict[int, Forced]
    audit_rows: IntArray
    unsure: int
    n_pool: int

    def __str__(self) -> str:
        return f"{plural(self.rows.size, 'row')} to label next: {', '.join(map(str, self.rows.tolist()))}. {self.advice}"

    @property
    def advice(self) -> str:
        """Whether to go on, in a sentence."""
        if self.unsure == 0:
            return (
                "The model is sure of every row of the pool: labels of rows chosen this way have little more to say. Stop, and "
                "label random rows to see how wrong it is."
            )
        return f"The model is unsure of {self.unsure:,} of {plural(self.n_pool, 'row')}: go on, and audit it with random rows."


def query(
    model: Any,
    pool: Any,
    k: int = 20,
    strategy: str = "margin",
    *,
    labelled: tuple[Any, Labels] | None = None,
    n_audit: int = 0,
    random_state: int | None = 0,
) -> Query:
    """Choose the rows of a pool whose labels are worth asking for.

    Parameters
    ----------
    model : fitted classifier
        Any with `decision_function` or `predict_proba`; of a `Ladder` the pool may have mixed columns.
    pool : array, sparse matrix or table, shape (n, d)
        Rows without labels.
    k : int, default 20
        Rows to choose, all at once.
    strategy : {"margin", "random"}, default "margin"
        The least certain rows, spread out (random ones where the model sees one class nearly everywhere); or random ones.
    labelled : tuple of (X, y), optional
        The labelled rows: labels that follow from them are then marked, with proof. Two classes.
    n_audit : int, default 0
        Random rows to draw besides, to measure the model on.
    random_state : int or None, default 0
        Random seed.

    Returns
    -------
    Query
        `rows`, with `reasons`, `forced`, `audit_rows`, and whether to go on as a sentence.

    Examples
    --------
    >>> import numpy as np, halfspace as hs
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    >>> pool = np.array([[-1.5], [0.1], [3.0], [0.6], [0.11]])
    >>> found = hs.query(hs.AdaTron(C=np.inf).fit(X, y), pool, k=2, labelled=(X, y))
    >>> found.rows.tolist(), found.forced
    ([1, 3], {})
    """
    _check(model, k, strategy, n_audit)
    encode = getattr(model, "encode", None)
    Z = encode(pool) if callable(encode) else checked_rows(pool)
    pool = pool if callable(encode) else Z
    n = int(Z.shape[0])
    margins, inside, sides = _margins(model, pool, Z)
    rng, k = np.random.default_rng(random_state), min(int(k), n)
    if strategy == "random" or (n > BLIND and BLIND * (n - np.bincount(sides).max()) < n):
        rows, margins = rng.choice(n, k, replace=False), np.full(n, np.nan)
    else:
        near = _smallest(margins, min(WIDER * k, max(k, (n + 1) // 2)))
        rows = near[_spread(dense_rows(Z, near, 0.0), k)]
        rows = rows[np.argsort(margins[rows], kind="stable")]
    rest = np.setdiff1d(np.arange(n), rows)
    audit_rows = np.sort(rng.choice(rest, min(int(n_audit), rest.size), replace=False))
    predicted, forced = np.asarray(model.predict(_taken(pool, rows))), _forced(encode, labelled, Z, rows)
    reasons = tuple(_reason(margins, row, forced.get(row), random=RANDOM[strategy]) for row in rows.tolist())
    return Query(rows, margins[rows], predicted, reasons, forced, audit_rows, int(inside.sum()), n)


def audit(labels: Labels, predicted: Labels, *, level: float = 0.95) -> Audit:
    """Measure a model on random rows: `labels` and predictions, each of shape (n,), give an exact interval of its error rate.

    Parameters
    ----------
    labels, predicted : array, shape (n,)
        What the rows turned out to be, and what the model says.
    level : float, default 0.95
        Confidence of the interval.

    Returns
    -------
    Audit
        Errors and the interval of Clopper and Pearson; printed, a sentence.

    Examples
    --------
    >>> found = audit([0] * 50, [0] * 50)
    >>> found.low, round(found.high, 4)
    (0.0, 0.0711)
    """
    labels, predicted = np.asarray(labels), np.asarray(predicted)
    if labels.shape != predicted.shape or labels.ndim != 1 or not labels.size:
        msg = (
            f"audit needs as many labels as predictions, at least one. Got shapes {labels.shape} and {predicted.shape} instead."
        )
        raise InputError(msg)
    if not isinstance(level, float) or not 0.0 < level < 1.0:
        msg = f"The 'level' parameter of audit must be between 0 and 1. Got {level!r} instead."
        raise InputError(msg)
    n, errors, tail = labels.size, int((labels != predicted).sum()), (1.0 - level) / 2.0
    low = float(beta.ppf(tail, errors, n - errors + 1)) if errors else 0.0
    high = float(beta.ppf(1.0 - tail, errors + 1, n - errors)) if errors < n else 1.0
    return Audit(errors, int(n), low, high, level)


def _check(model: Any, k: Any, strategy: Any, n_audit: Any) -> None:
    """Refuse parameters that cannot be used."""
    if not (hasattr(model, "decision_function") or hasattr(model, "predict_proba")) or not hasattr(model, "predict"):
        name = type(model).__name__
        msg = f"query needs a fitted classifier with decision_function or predict_proba. Got {name} instead."
        raise InputError(msg)
    if strategy not in RANDOM:
        msg = f"The 'strategy' parameter of query must be 'margin' or 'random'. Got {strategy!r} instead."
        raise InputError(msg)
    for name, value, least in (("k", k, 1), ("n_audit", n_audit, 0)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            msg = f"The {name!r} parameter of query must be a whole number of at least {least}. Got {value!r} instead."
            raise InputError(msg)


def _margins(model: Any, pool: Any, Z: Matrix) -> tuple[FloatArray, Any, IntArray]:
    """Return how sure the model is of every row, shape (n,), which rows it is unsure of, and the class it sees in each."""
    if hasattr(model, "decision_function"):
        f = np.asarray(model.decision_function(pool), dtype=np.float64)
        if f.ndim == 1:
            plane = hasattr(model, "coef_")
            size = np.sqrt(squares(Z) + 1.0) if plane else 1.0
            return np.abs(f) / size, np.abs(f) < 1.0, (f > 0.0).astype(np.int64)
        lead = np.diff(np.partition(f, -2, axis=1)[:, -2:], axis=1)[:, 0]
        return lead, lead < 1.0, f.argmax(axis=1)
    P = np.asarray(model.predict_proba(pool), dtype=np.float64)
    lead = np.diff(np.partition(P, -2, axis=1)[:, -2:], axis=1)[:, 0]
    return lead, lead < 0.5, P.argmax(axis=1)


def _smallest(margins: FloatArray, m: int) -> IntArray:
    """Return the rows of the m smallest margins, smallest first; of equal ones the first."""
    near = np.argpartition(margins, m - 1)[:m] if m < margins.size else np.arange(margins.size)
    return near[np.lexsort((near, margins[near]))]


def _spread(Z: FloatArray, k: int) -> IntArray:
    """Return k of the rows Z, the first of them first, then always one that is farthest from all taken before."""
    scale = Z.std(axis=0)
    A = Z / np.where(scale > 0, scale, 1.0)
    taken, distance = [0], np.full(A.shape[0], np.inf)
    while len(taken) < k:
        distance = np.minimum(distance, np.square(A - A[taken[-1]]).sum(axis=1))
        distance[taken] = -1.0
        taken.append(int(distance.argmax()))
    return np.array(taken)


def _taken(table: Any, rows: IntArray) -> Any:
    """Return some rows of a matrix or a table."""
    if hasattr(table, "iloc"):
        return table.iloc[rows]
    if hasattr(table, "dtype"):
        return table[rows]
    return table.take(rows) if hasattr(table, "take") else [table[row] for row in rows.tolist()]


def _reason(margins: FloatArray, row: int, forced: Forced | None, *, random: str) -> str:
    """Say why a row was chosen."""
    if np.isnan(margins[row]):
        return random
    reason = f"margin {margins[row]:.3g}: rank {int((margins < margins[row]).sum()) + 1} of {margins.size:,}"
    return reason if forced is None else f"{reason}; {forced.label!r} is certain if a plane separates all rows"


def _forced(encode: Any, labelled: tuple[Any, Labels] | None, Z: Matrix, rows: IntArray) -> dict[int, Forced]:
    """Return the rows whose label follows from the labelled ones, with the proof that the other label is impossible."""
    if labelled is None:
        return {}
    X, y = (encode(labelled[0]) if callable(encode) else checked_rows(labelled[0])), np.asarray(labelled[1])
    classes = np.unique(y)
    if classes.size != 2 or separability(X, y).verdict != "separable":
        return {}
    found, X = {}, dense_rows(X, np.arange(X.shape[0]), 0.0)
    for row, z in zip(rows.tolist(), dense_rows(Z, rows, 0.0), strict=True):
        proofs = {label: separability(np.vstack([X, z]), np.append(y, label)) for label in classes.tolist()}
        impossible = [label for label, proof in proofs.items() if proof.verdict == "inseparable"]
        if len(impossible) == 1:
            (other,) = set(classes.tolist()) - set(impossible)
            found[row] = Forced(other, proofs[impossible[0]])
    return found
