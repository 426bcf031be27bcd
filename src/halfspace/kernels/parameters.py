"""Parameters of kernels: what is refused, and what is learnt from data."""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from halfspace._typing import Matrix
from halfspace.errors import InputError
from halfspace.kernels.base import Kernel, is_number
from halfspace.kernels.products import checked, doubled, squares

__all__ = ["GammaKernel", "check_count", "check_gamma", "check_number", "coefficient", "learnt_gamma", "median_distance"]

PAIRS = 10_000
"""Pairs of rows whose distances the median heuristic looks at."""
ENTRIES, BLOCK = 1 << 26, 1 << 17
"""Entries of all these pairs at most, and those that are held at a time."""


def coefficient(value: float | str) -> str:
    """Return a factor as it stands in a formula: nothing for 1."""
    if isinstance(value, str):
        return f"γ({value}) "
    return "" if value == 1 else f"{value:g} "


def learnt_gamma(gamma: float | str, X: Matrix, power: int, who: str) -> float | str:
    """Return gamma as a number: "scale" is 1/(d Var X), "auto" 1/d, "median" 1/(power · median distance^power)."""
    if not isinstance(gamma, str):
        return gamma
    rows = doubled(checked(X, "X", who))
    if gamma == "auto":
        return 1.0 / rows.shape[1]
    if gamma == "median":
        middle = median_distance(rows)
        return 1.0 / (power * middle**power) if middle > 0.0 else 1.0
    variance = rows.multiply(rows).mean() - rows.mean() ** 2 if sparse.issparse(rows) else rows.var()
    return float(1.0 / (rows.shape[1] * variance)) if variance > 0.0 else 1.0


class GammaKernel(Kernel):
    """A kernel with a parameter gamma: a number, or a word for how to learn it."""

    words: ClassVar[tuple[str, ...]] = ("scale", "auto")
    power: ClassVar[int] = 1  # of the distance that gamma multiplies

    gamma: float | str

    def __post_init__(self) -> None:
        check_gamma(self.gamma, type(self).__name__, self.words)

    def is_resolved(self) -> bool:
        """Tell whether gamma is a number."""
        return not isinstance(self.gamma, str)

    def resolved(self, X: Matrix) -> Kernel:
        """Return the kernel with gamma learnt from X."""
        if self.is_resolved():
            return self
        return replace(self, gamma=learnt_gamma(self.gamma, X, self.power, type(self).__name__))  # type: ignore[type-var]


def median_distance(X: Any) -> float:
    """Return the median distance of pairs of different rows, over a fixed sample of the pairs; 0 if all rows agree."""
    n, d = X.shape[0], max(1, (X.nnz if sparse.issparse(X) else X.size) // X.shape[0])  # entries of a row
    most = min(PAIRS, max(ENTRIES // d, 1))
    i, j = np.triu_indices(n, 1) if n * (n - 1) // 2 <= most else np.random.default_rng(0).integers(n, size=(2, most))
    step = max(1, BLOCK // d)
    blocks = [np.sqrt(squares(X[i[k : k + step]] - X[j[k : k + step]])) for k in range(0, i.size, step)]
    apart = np.concatenate(blocks) if blocks else np.zeros(1)
    return float(np.median(apart[apart > 0.0])) if apart.any() else 0.0


def check_gamma(gamma: Any, who: str, words: tuple[str, ...]) -> None:
    """Refuse a gamma that is neither a positive number nor one of the words."""
    if not (is_number(gamma) and gamma > 0) and not (isinstance(gamma, str) and gamma in words):
        msg = f"{who}: gamma must be a number > 0 or one of {', '.join(map(repr, words))}, got {gamma!r}"
        raise InputError(msg)


def check_number(value: Any, who: str, name: str) -> None:
    """Refuse what is not a finite number."""
    if not is_number(value):
        msg = f"{who}: {name} must be a finite number, got {value!r}"
        raise InputError(msg)


def check_count(value: Any, who: str, name: str, least: int = 1) -> None:
    """Refuse what is not a whole number of at least `least`."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        msg = f"{who}: {name} must be a whole number >= {least}, got {value!r}"
        raise InputError(msg)
