"""What the two baselines can prove: how many examples each class has, and how often near neighbours mislead.

Neighbours  Leave one example out and let its k nearest vote. Where distances tie, up to rounding, who is near depends on the
            order of a sum; so an example counts as right only if its label wins however such ties fall. The claim is an upper
            bound on the errors that way, and the checker recomputes it from all distances.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from scipy import sparse

from halfspace._typing import FloatArray, IntArray, Label, Labels, Matrix
from halfspace.certificates.arithmetic import as_rows, block_squares, known_labels, unit_scale
from halfspace.certificates.base import Certificate, Verdict

__all__ = ["ClassCounts", "NeighbourErrors"]

CHUNK = 1 << 22
"""Distances held at a time."""


@dataclass(frozen=True, eq=False)
class ClassCounts(Certificate):
    """How many examples each class has; the first of the largest classes is the majority.

    Parameters
    ----------
    classes : tuple
        The labels.
    counts : tuple of int
        Examples of each.

    Examples
    --------
    >>> y = np.array(["a", "b", "b"])
    >>> proof = ClassCounts(("a", "b"), (1, 2))
    >>> print(proof, bool(proof.verify(np.zeros((3, 1)), y)))
    'b' has 2 of 3 examples True
    """

    classes: Annotated[tuple[Label, ...], "tuple(K) of label"]
    counts: Annotated[tuple[int, ...], "tuple(K) of int >= 0"]

    def __str__(self) -> str:
        largest = int(np.argmax(self.counts))
        return f"{self.classes[largest]!r} has {self.counts[largest]:,} of {sum(self.counts):,} examples"

    def consistent(self) -> list[tuple[bool, str]]:
        """Check that the classes differ."""
        return [_different(self.classes)]

    def confirm(self, X: Matrix, y: Labels) -> Verdict:  # noqa: ARG002  (the examples do not matter)
        """Count again."""
        labels, counts = np.unique(y, return_counts=True)
        found = dict(zip(labels.tolist(), counts.tolist(), strict=True))
        same = found == {c: n for c, n in zip(self.classes, self.counts, strict=True) if n}
        return Verdict.of((same, f"the classes have {found} examples"))


@dataclass(frozen=True, eq=False)
class NeighbourErrors(Certificate):
    """At most how many examples their k nearest neighbours would mislead, each example left out in turn.

    Parameters
    ----------
    k : int
        Neighbours that vote.
    errors : int
        Examples whose label does not surely win.
    n : int
        Examples.
    classes : tuple
        The labels.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), np.array([0, 0, 1, 1])
    >>> proof = NeighbourErrors.measure(X, y, k=1)
    >>> print(proof, bool(proof.verify(X, y)), bool(proof.verify(X, 1 - y[[0, 2, 1, 3]])))
    1 neighbour: at most 0 of 4 examples misled, leaving one out True False
    """

    k: Annotated[int, "int >= 1", "asked"]
    errors: Annotated[int, "int >= 0"]
    n: Annotated[int, "int >= 0"]
    classes: Annotated[tuple[Label, ...], "tuple(K) of label"]

    def __str__(self) -> str:
        voters = "1 neighbour" if self.k == 1 else f"{self.k} neighbours"
        return f"{voters}: at most {self.errors:,} of {self.n:,} examples misled, leaving one out"

    @classmethod
    def measure(cls, X: Matrix, y: Labels, *, k: int) -> Self:
        """Count on examples X, shape (n, d), with labels y, shape (n,); k < n."""
        X, y = as_rows(X, y)
        classes, target = np.unique(y, return_inverse=True)
        right = surely_right(X, target, k)
        return cls(k, int(target.size - right.sum()), int(target.size), tuple(classes.tolist()))

    def consistent(self) -> list[tuple[bool, str]]:
        """Check that the classes differ and the counts are possible."""
        return [_different(self.classes), (self.k < self.n and self.errors <= self.n, "k or errors are more than the examples")]

    def predictor(self, y: Labels) -> dict[str, Any]:  # noqa: ARG002  (one signature for all)
        """Return how many neighbours vote."""
        return {"number of neighbours": self.k}

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Count again from all distances."""
        if y.size != self.n:
            return Verdict.of((False, f"there are {y.size:,} examples, not {self.n:,}"))
        labels, target = np.unique(y, return_inverse=True)
        known = Verdict.of(known_labels(labels, self.classes))
        if not known:
            return known
        errors = int(self.n - surely_right(X, target, self.k).sum())
        return Verdict.of((errors <= self.errors, f"{errors:,} examples are misled, not {self.errors:,}"))


def surely_right(X: Matrix, target: IntArray, k: int) -> Any:
    """Tell for each example whether its class wins the vote of its k nearest others, however ties of distance fall."""
    X = X.tocsr().astype(np.float64) if sparse.issparse(X) else np.array(X, dtype=np.float64)
    n = target.size
    values = X.data if sparse.issparse(X) else X
    values[...] = unit_scale(values)  # so that no square overflows or vanishes
    squares = block_squares(X)
    rounding = 8.0 * (X.shape[1] + 4) * np.finfo(np.float64).eps
    right, step = np.empty(n, dtype=bool), max(1, CHUNK // n)
    for first in range(0, n, step):
        rows = slice(first, min(first + step, n))
        products = X[rows] @ X.T
        products = products.toarray() if sparse.issparse(products) else products
        distances = squares[rows, None] + squares - 2.0 * products
        distances[np.arange(rows.stop - first), np.arange(first, rows.stop)] = np.inf
        spare = rounding * (squares[rows] + squares.max())
        right[rows] = _wins(distances, target, target[rows], k, spare)
    return right


def _votes(voters: Any, target: IntArray) -> FloatArray:
    """Count the voters of each class, shape (n, K), of a mask of shape (n, m) and the class numbers (m,) of those it marks."""
    (rows, columns), K = np.nonzero(voters), int(target.max()) + 1
    return np.bincount(rows * K + target[columns], minlength=voters.shape[0] * K).reshape(-1, K).astype(np.float64)


def _wins(distances: FloatArray, target: IntArray, own: IntArray, k: int, spare: FloatArray) -> Any:
    """Tell which rows keep their own class when every vote that a tie leaves open goes to its strongest rival."""
    last = np.partition(distances, k - 1, axis=1)[:, k - 1]
    sure = distances < (last - 2.0 * spare)[:, None]
    known = _votes(sure, target)
    open_votes = k - known.sum(axis=1)
    tied = _votes((distances <= (last + 2.0 * spare)[:, None]) & ~sure, target)
    if_own_only = tied.sum(axis=1) == tied[np.arange(own.size), own]  # all that tie are of the own class
    mine = known[np.arange(own.size), own] + np.where(if_own_only, open_votes, 0.0)
    rivals = known.copy()
    rivals[np.arange(own.size), own] = -1.0
    return mine > rivals.max(axis=1) + np.where(if_own_only, 0.0, open_votes)


def _different(classes: tuple[Label, ...]) -> tuple[bool, str]:
    return len(set(classes)) == len(classes) >= 1, "the classes are not different labels"
