"""The rules of the theory as experiments: students of a random teacher, learnt by this package's own estimators."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfspace import theory
from halfspace._typing import FloatArray
from halfspace.errors import InputError
from halfspace.models.planes.adaline import Adaline
from halfspace.models.planes.adatron import AdaTron
from halfspace.models.planes.hebb import HebbClassifier
from halfspace.models.planes.perceptron import Perceptron
from halfspace.models.regression.linear_regression import LinearRegression
from halfspace.questions.version_space import VersionSpace

__all__ = ["Experiment", "experiment"]

MEMBERS, TESTS = 1000, 2000
"""Members of the version space whose mean stands for its centre; random examples that committees vote on."""


@dataclass(frozen=True)
class Experiment:
    """Measured errors of a rule with the theory beside them.

    Parameters
    ----------
    rule : str
        The rule, as in `theory.learning_curve`.
    N, seeds : int
        Inputs, and teachers with their examples at each alpha.
    alphas, means, standard_errors, expected : ndarray, shape (m,)
        P/N as drawn (P is a whole number), mean error, its standard error over the seeds, and the error for large N.
    flipped : float
        Share of wrong labels.
    members : int
        Size of the committee.
    """

    rule: str
    N: int
    seeds: int
    alphas: FloatArray
    means: FloatArray
    standard_errors: FloatArray
    expected: FloatArray
    flipped: float = 0.0
    members: int = 3

    @property
    def z(self) -> FloatArray:
        """Difference to the theory in standard errors, shape (m,)."""
        return (self.means - self.expected) / self.standard_errors

    def __str__(self) -> str:
        rows = zip(self.alphas, self.means, self.standard_errors, self.expected, strict=True)
        lines = [f"alpha {a:g}: {m:.4f} ± {s:.4f}, theory {t:.4f}" for a, m, s, t in rows]
        return "\n".join([f"{self.rule}, N = {self.N}, {self.seeds} seeds", *lines])


def experiment(
    rule: str,
    N: int,
    alphas: Sequence[float],
    seeds: int = 25,
    *,
    flipped: float = 0.0,
    members: int = 3,
    random_state: int = 0,
) -> Experiment:
    """Let students learn from random teachers, and compare their errors with the theory for large N.

    Inputs are normal, the teacher is a random direction, and there is no bias. The error is exact: the angle between student
    and teacher over π (`theory.generalisation_error`), but for committees, which vote on random examples.

    Parameters
    ----------
    rule : str
        "hebb" (`HebbClassifier`), "adaline" (`Adaline`), "ridge" (`LinearRegression` on the labels, with the best penalty),
        "perceptron" (`Perceptron`, one pass), "stability" (`AdaTron(C=inf)`), "gibbs", "bayes", "committee" (`VersionSpace`).
    N : int
        Number of inputs.
    alphas : sequence of float
        Examples per input; there are at least two examples.
    seeds : int, default 25
        Teachers at each alpha, at least 2.
    flipped : float, default 0.0
        Share of wrong labels, for the first four rules; the error is against the teacher.
    members : int, default 3
        Size of the committee.
    random_state : int, default 0
        First seed.

    Returns
    -------
    Experiment
        Means, standard errors, theory.

    Examples
    --------
    >>> import halfspace as hs
    >>> found = hs.experiment("hebb", 50, [2.0], seeds=20)
    >>> round(float(found.expected[0]), 3), bool(abs(found.z[0]) < 3)
    (0.231, True)
    """
    for name, value, least in (("N", N, 2), ("seeds", seeds, 2)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            msg = f"The {name!r} parameter of experiment must be a whole number of at least {least}. Got {value!r} instead."
            raise InputError(msg)
    sizes = np.maximum(2, np.rint(np.asarray(alphas, dtype=np.float64) * N)).astype(int)
    expected = theory.learning_curve(rule, sizes / N, flipped, members)  # refuses what is not known
    errors = np.array([[_error(rule, N, P, flipped, members, random_state + s) for s in range(seeds)] for P in sizes.tolist()])
    spread = errors.std(axis=1, ddof=1) / np.sqrt(seeds)
    return Experiment(rule, N, seeds, sizes / N, errors.mean(axis=1), spread, expected, flipped, members)


def _error(rule: str, N: int, P: int, flipped: float, members: int, seed: int) -> float:
    """Return the error of one student."""
    rng = np.random.default_rng(seed)
    teacher, X = rng.standard_normal(N), rng.standard_normal((P, N))
    clean = np.where(X @ teacher > 0.0, 1.0, -1.0)
    y = np.where(rng.random(P) < flipped, -clean, clean)
    if np.unique(y).size == 1:  # without a bias only y x matters: turn one example around
        X[0], y[0] = -X[0], -y[0]
    if rule == "ridge":
        b = (1.0 - 2.0 * flipped) ** 2 * 2.0 / np.pi
        w = LinearRegression(ridge=N * (1.0 - b) / b, intercept="none").fit(X, y).coef_
    elif rule in STUDENTS:
        w = STUDENTS[rule](X, y).coef_[0]
    else:
        space = VersionSpace(X, y, intercept="none", random_state=rng)
        if rule == "committee":
            tests = rng.standard_normal((TESTS, N))
            W = space.sample(members * 50)[rng.permutation(members * 50)].reshape(50, members, N)
            votes = np.sign(np.sign(W @ tests.T).sum(axis=1))  # of 50 committees
            return float(0.5 * (1.0 - (votes * np.sign(tests @ teacher)).mean()))
        W = space.sample(MEMBERS)
        w = W.mean(axis=0) if rule == "bayes" else W
    return float(np.mean(theory.generalisation_error(w, teacher)))


STUDENTS: dict[str, Callable[[Any, Any], Any]] = {
    "hebb": lambda X, y: HebbClassifier(intercept="none").fit(X, y),
    "adaline": lambda X, y: Adaline(intercept="none").fit(X, y),
    "perceptron": lambda X, y: Perceptron(intercept="none").partial_fit(X, y, classes=np.array([-1.0, 1.0])),
    "stability": lambda X, y: AdaTron(C=np.inf, intercept="none", tol=1e-4, random_state=0).fit(X, y),
}
