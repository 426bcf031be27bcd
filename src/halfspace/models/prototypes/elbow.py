"""Quantisation errors over the number of prototypes: the elbow."""

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array

from halfspace._matrices import admitted
from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.certificates.prototypes.quantisation import Quantisation
from halfspace.errors import InputError
from halfspace.models.prototypes.k_means import KMeans
from halfspace.models.prototypes.starts import parameter_of_count
from halfspace.solvers.outcome import Outcome, Reason
from halfspace.solvers.run import Budget, Progress, run

__all__ = ["Elbow", "ElbowRow", "elbow"]

CAVEAT = (
    "Errors compare only at the same K: more prototypes always fit the data they were learnt from better,",
    "so a bend in the column is a hint, not a proof.",
)


class ElbowRow(NamedTuple):
    """One number of prototypes: what was reached, what cannot be beaten, and the model with its proof."""

    K: int
    error: float
    lower: float
    relative: float  # error over that of one prototype, the mean
    seconds: float
    model: Any

    @property
    def certificate(self) -> Quantisation:
        """The proof of `error` and `lower`."""
        proof: Quantisation = self.model.certificate_
        return proof


@dataclass(frozen=True)
class Elbow:
    """Quantisation errors over K. `print` shows the table; `halfspace.plots.ElbowDisplay.from_elbow(table)` draws it.

    Parameters
    ----------
    rows : tuple of ElbowRow
        One per K, rising.
    outcome : Outcome
        Whether all were fitted.
    """

    rows: tuple[ElbowRow, ...]
    outcome: Outcome

    def __iter__(self) -> Iterator[ElbowRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def Ks(self) -> IntArray:  # noqa: N802  (K is a word here)
        """Numbers of prototypes, shape (m,)."""
        return np.array([row.K for row in self.rows])

    @property
    def errors(self) -> FloatArray:
        """Errors reached, shape (m,)."""
        return np.array([row.error for row in self.rows])

    @property
    def lowers(self) -> FloatArray:
        """Errors that no K prototypes can come below, shape (m,); 0 where nothing is known."""
        return np.array([row.lower for row in self.rows])

    def __str__(self) -> str:
        lines = [f"{'K':>5} {'error':>12} {'none below':>12} {'of K = 1':>9} {'seconds':>8}"]
        for row in self.rows:
            lower = f"{row.lower:12.5g}" if row.lower > 0.0 else f"{'-':>12}"
            lines.append(f"{row.K:5d} {row.error:12.5g} {lower} {100 * row.relative:7.2f} % {row.seconds:8.2f}")
        return "\n".join([*lines, *CAVEAT, *([] if self.outcome.converged else [str(self.outcome)])])


def elbow(
    X: Matrix,
    Ks: Iterable[int] = range(1, 11),
    *,
    estimator: Any = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    max_time: float | None = None,
    verbose: int = 0,
) -> Elbow:
    """Quantise examples with several numbers of prototypes, and certify each.

    Parameters
    ----------
    X : array or CSR matrix, shape (n, d)
        Examples.
    Ks : iterable of int, default 1 to 10
        Numbers of prototypes, all different; they are fitted in rising order.
    estimator : estimator, optional
        What to fit: `KMeans(n_init=10)` unless given; any with `n_clusters` or `n_prototypes`, and a `Quantisation`
        as its certificate.
    sample_weight : array, shape (n,), optional
        Weights of the rows, if the estimator takes them.
    random_state : int, RandomState or None, default 0
        Seed of every fit.
    max_time : float, optional
        Time limit in seconds; an estimator that has a `max_time` of its own is given what is left of it.
    verbose : int, default 0
        1: a line for every K.

    Returns
    -------
    Elbow
        A table; `print` shows it, `halfspace.plots.ElbowDisplay.from_elbow` draws it. Ctrl-C keeps the rows that are done.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [9.0, 0.0], [9.0, 1.0]])
    >>> [(row.K, round(row.error, 3), round(row.lower, 3)) for row in elbow(X, [2, 1])]
    [(1, 82.0, 82.0), (2, 1.0, 1.0)]
    """
    budget = Budget(1, max_time, began=perf_counter())
    rows = check_array(admitted(X, "elbow"), accept_sparse="csr", dtype=[np.float64, np.float32], estimator="elbow")
    counts = _read_counts(Ks, rows.shape[0])
    model = KMeans(n_init=10) if estimator is None else estimator
    fitting = {} if sample_weight is None else {"sample_weight": sample_weight}
    total = _fitted(KMeans(), 1, rows, fitting, random_state)[1].error

    def fit(K: int) -> tuple[Any, Quantisation]:
        timed = max_time is not None and "max_time" in model.get_params()
        limited = {"max_time": max(budget.left() or 0.0, 1e-3)} if timed else {}
        return _fitted(clone(model).set_params(**limited), K, rows, fitting, random_state)

    def watch(at: Progress) -> bool:
        if verbose:
            sys.stderr.write(f"[elbow] K = {at.state[-1].K}: {at.state[-1].certificate}\n")
        return False

    method = _Counts(counts, fit, total)
    end = run(method, budget._replace(max_iter=len(counts)), watch=watch)
    done, reason = end.state, end.outcome.reason
    if not done:
        raise KeyboardInterrupt
    outcome = Outcome("solved", f"All {len(counts)} numbers of prototypes were fitted.")
    if reason != "solved":
        remedy = "Raise max_time." if reason == "time budget spent" else "Ask for the other Ks."
        sentence = f"{'Interrupted' if reason == 'interrupted' else 'Stopped'} after K = {done[-1].K} of {counts[-1]}."
        outcome = Outcome(reason, sentence, remedy)
    return Elbow(tuple(done), outcome)


@dataclass(frozen=True)
class _Counts:
    """The method that fits one number of prototypes after the other; `total` is the error of one prototype."""

    counts: list[int]
    fitted: Callable[[int], tuple[Any, Quantisation]]
    total: float
    unit: ClassVar[str] = "fit"
    columns: ClassVar[tuple[str, ...]] = ("error",)

    def start(self, before: Any = None) -> list[ElbowRow]:
        """Return the rows before the first fit."""
        return before or []

    def step(self, state: list[ElbowRow], most: int) -> tuple[FloatArray, ...]:
        """Fit the next number of prototypes."""
        del most
        began = perf_counter()
        model, proof = self.fitted(self.counts[len(state)])
        share = proof.error / self.total if self.total > 0.0 else 1.0
        state.append(ElbowRow(self.counts[len(state)], proof.error, proof.lower, share, perf_counter() - began, model))
        return (np.array([proof.error]),)

    def status(self, state: list[ElbowRow]) -> Reason | None:
        """Return why nothing is left to do, or None."""
        return "solved" if len(state) == len(self.counts) else None

    def certify(self, state: list[ElbowRow]) -> Quantisation:
        """Return the proof of the last fit."""
        return state[-1].certificate


def _fitted(estimator: Any, K: int, X: Matrix, fitting: dict[str, Any], random_state: Any) -> tuple[Any, Quantisation]:
    """Fit a copy of an estimator with K prototypes; return it with its proof."""
    model = clone(estimator)
    try:
        model.set_params(**{parameter_of_count(model): K, "random_state": random_state})
    except ValueError as error:
        msg = f"elbow: the estimator must have the parameters n_clusters or n_prototypes, and random_state. {error}"
        raise InputError(msg) from error
    proof = model.fit(X, **fitting).certificate_
    if not isinstance(proof, Quantisation):
        msg = f"elbow compares quantisation errors, but {type(model).__name__} certifies a {type(proof).__name__}; use KMeans."
        raise InputError(msg)
    return model, proof


def _read_counts(Ks: Any, n: int) -> list[int]:
    """Return the numbers of prototypes, rising, or refuse them."""
    asked = list(Ks) if isinstance(Ks, Iterable) and not isinstance(Ks, str) else [Ks]
    whole = all(isinstance(K, int | np.integer) and not isinstance(K, bool) and 1 <= K <= n for K in asked)
    if not whole or not asked or len(set(asked)) < len(asked):
        msg = f"The 'Ks' parameter of elbow must hold different whole numbers from 1 to the {n} rows of X. Got {Ks!r} instead."
        raise InputError(msg)
    return sorted(int(K) for K in asked)
