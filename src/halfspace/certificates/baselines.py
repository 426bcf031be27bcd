"""What baselines can prove: how many examples each class has, or the mean of the targets, and how far neighbours mislead.

Neighbours  Leave one example out and let its k nearest vote. Where distances tie, up to rounding, who is near depends on the
            order of a sum; so an example counts as right only if its label wins however such ties fall. The claim is an upper
            bound on the errors that way, and the checker recomputes it from all distances.
Numbers     The same for the mean of the targets of the k nearest: of neighbours that tie the smallest targets are taken, or the
            largest, whichever is further from the truth.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from scipy import sparse

from halfspace._typing import FloatArray, IntArray, Label, Labels, Matrix
from halfspace.certificates.arithmetic import EPS, as_rows, block_squares, known_labels, norm, unit_scale
from halfspace.certificates.base import Certificate, Verdict
from halfspace.certificates.regression.ridge import read_targets

__all__ = ["ClassCounts", "NeighbourErrors", "NeighbourMeans", "TargetMean"]

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


@dataclass(frozen=True, eq=False)
class TargetMean(Certificate):
    """The mean of the targets, and how far they are from it.

    Parameters
    ----------
    mean : float
        Σ y_i / n.
    deviation : float
        The root of the mean of (y_i - mean)².
    n : int
        Examples.

    Examples
    --------
    >>> X, y = np.zeros((4, 1)), np.array([1.0, 2.0, 4.0, 5.0])
    >>> proof = TargetMean.measure(X, y)
    >>> print(proof, bool(proof.verify(X, y)), bool(proof.verify(X, y + 1)))
    mean 3 of 4 targets, root mean square deviation 1.58114 True False
    """

    mean: float
    deviation: Annotated[float, "finite >= 0"]
    n: Annotated[int, "int >= 1"]

    def __str__(self) -> str:
        return f"mean {self.mean:.6g} of {self.n:,} targets, root mean square deviation {self.deviation:.6g}"

    @classmethod
    def measure(cls, X: Matrix, y: Labels) -> Self:
        """Average targets y, shape (n,), of examples X, shape (n, d)."""
        _, Y = read_targets(X, y, "TargetMean")
        mean = _mean(Y[:, 0])
        return cls(mean, _deviation(Y[:, 0], mean), Y.shape[0])

    def read(self, X: Matrix, y: Labels | None) -> tuple[Any, Labels]:
        """Check what is handed in: finite examples, and one real target each."""
        return read_targets(X, y, type(self).__name__)

    def predictor(self, y: Labels) -> dict[str, Any]:  # noqa: ARG002  (one signature for all)
        """Return the mean."""
        return {"mean": self.mean}

    def confirm(self, X: Matrix, y: Labels) -> Verdict:  # noqa: ARG002  (the examples do not matter)
        """Average again, in sums without rounding."""
        if y.shape != (self.n, 1):
            return Verdict.of((False, f"there are targets of shape {y.shape}, not ({self.n}, 1)"))
        mean, spread = _mean(y[:, 0]), _deviation(y[:, 0], self.mean)
        return Verdict.of(
            (abs(self.mean - mean) <= 4.0 * EPS * abs(mean), f"the mean is {mean:.6g}, not {self.mean:.6g}"),
            (abs(self.deviation - spread) <= 8.0 * EPS * spread, f"the deviation is {spread:.6g}, not {self.deviation:.6g}"),
        )


def _mean(y: FloatArray) -> float:
    """Return the mean of targets y, shape (n,), but for two roundings."""
    largest = int(np.frexp(np.abs(y).max())[1])
    return float(np.ldexp(math.fsum(np.ldexp(y, -largest)) / y.size, largest))


def _deviation(y: FloatArray, mean: float) -> float:
    """Return the root of the mean of (y - mean)², with a relative error of a few roundings; the sum itself has none."""
    apart = y - mean
    largest = int(np.frexp(np.abs(apart).max())[1])
    return float(np.ldexp(math.sqrt(math.fsum(np.ldexp(apart, -largest) ** 2) / y.size), largest))


@dataclass(frozen=True, eq=False)
class NeighbourMeans(Certificate):
    """At most how far the mean target of the k nearest neighbours is from the truth, each example left out in turn.

    Parameters
    ----------
    k : int
        Neighbours that are averaged.
    error : float
        Root of the mean squared error, at most.
    n : int
        Examples.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), np.array([0.0, 1.0, 5.0, 6.0])
    >>> proof = NeighbourMeans.measure(X, y, k=1)
    >>> print(proof, bool(proof.verify(X, y)), bool(proof.verify(X, y[::-1] ** 2)))
    1 neighbour: 4 examples predicted with a root mean squared error of at most 1, leaving one out True False
    """

    k: Annotated[int, "int >= 1", "asked"]
    error: Annotated[float, "finite >= 0"]
    n: Annotated[int, "int >= 1"]

    def __str__(self) -> str:
        near = "1 neighbour" if self.k == 1 else f"{self.k} neighbours"
        most = f"a root mean squared error of at most {self.error:.6g}"
        return f"{near}: {self.n:,} examples predicted with {most}, leaving one out"

    @classmethod
    def measure(cls, X: Matrix, y: Labels, *, k: int) -> Self:
        """Measure on examples X, shape (n, d), with targets y, shape (n,); k < n."""
        X, Y = read_targets(X, y, "NeighbourMeans")
        return cls(k, _left_out(X, Y[:, 0], k, slack=3.0), Y.shape[0])

    def read(self, X: Matrix, y: Labels | None) -> tuple[Any, Labels]:
        """Check what is handed in: finite examples, and one real target each."""
        return read_targets(X, y, type(self).__name__)

    def consistent(self) -> list[tuple[bool, str]]:
        """Check that there are so many neighbours."""
        return [(self.k < self.n, "k is not less than the examples")]

    def predictor(self, y: Labels) -> dict[str, Any]:  # noqa: ARG002  (one signature for all)
        """Return how many neighbours are averaged."""
        return {"number of neighbours": self.k}

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Measure again from all distances."""
        if y.shape != (self.n, 1):
            return Verdict.of((False, f"there are targets of shape {y.shape}, not ({self.n}, 1)"))
        error = _left_out(X, y[:, 0], self.k, slack=1.0)
        return Verdict.of((error <= self.error, f"the error can be {error:.6g}, not only {self.error:.6g}"))


def _left_out(X: Matrix, y: FloatArray, k: int, slack: float) -> float:
    """Return at most how large the root mean squared error of the mean of the k nearest others is, however ties fall.

    `slack` times what rounding can have changed is given away: three times it covers what another order of sums would give.
    """
    order, size, worst = np.argsort(y, kind="stable"), float(np.abs(y).max()), np.empty(y.size)
    for rows, distances, spare in _distances(X):
        last, off = _last(distances, k), 2.0 * slack * spare
        near = distances <= (last + off)[:, None]
        means = np.tile(near @ y / k, (2, 1))
        unclear = np.flatnonzero(near.sum(axis=1) > k)
        sure = (distances[unclear] < (last - off)[unclear, None])[:, order]
        tied = near[unclear][:, order] & ~sure
        among, left = np.cumsum(tied, axis=1, dtype=np.int32), (k - sure.sum(axis=1))[:, None]
        means[0, unclear] = (sure | (tied & (among <= left))) @ y[order] / k
        means[1, unclear] = (sure | (tied & (among > among[:, -1:] - left))) @ y[order] / k
        worst[rows] = np.abs(y[rows] - means).max(axis=0) + 2.0 * slack * (k + 4) * EPS * size
    return float(norm(worst) / np.sqrt(y.size) * (1.0 + slack * (y.size + 8) * EPS))


def surely_right(X: Matrix, target: IntArray, k: int) -> Any:
    """Tell for each example whether its class wins the vote of its k nearest others, however ties of distance fall."""
    right = np.empty(target.size, dtype=bool)
    for rows, distances, spare in _distances(X):
        right[rows] = _wins(distances, target, target[rows], k, spare)
    return right


def _distances(X: Matrix) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
    """Yield blocks of rows, their squared distances from all, in units of the largest number, and how far these may be off.

    That of a row from itself is infinite.
    """
    X = X.tocsr().astype(np.float64) if sparse.issparse(X) else np.array(X, dtype=np.float64)
    n = X.shape[0]
    values = X.data if sparse.issparse(X) else X
    values[...] = unit_scale(values)  # so that no square overflows or vanishes
    squares = block_squares(X)
    rounding, step = 8.0 * (X.shape[1] + 4) * EPS, max(1, CHUNK // n)
    for first in range(0, n, step):
        rows = slice(first, min(first + step, n))
        products = X[rows] @ X.T
        products = products.toarray() if sparse.issparse(products) else products
        distances = squares[rows, None] + squares - 2.0 * products
        distances[np.arange(rows.stop - first), np.arange(first, rows.stop)] = np.inf
        yield rows, distances, rounding * (squares[rows] + squares.max())


def _last(distances: FloatArray, k: int) -> FloatArray:
    """Return the k-th smallest distance of each row."""
    found: FloatArray = np.partition(distances, k - 1, axis=1)[:, k - 1]
    return found


def _votes(voters: Any, target: IntArray) -> FloatArray:
    """Count the voters of each class, shape (n, K), of a mask of shape (n, m) and the class numbers (m,) of those it marks."""
    (rows, columns), K = np.nonzero(voters), int(target.max()) + 1
    return np.bincount(rows * K + target[columns], minlength=voters.shape[0] * K).reshape(-1, K).astype(np.float64)


def _wins(distances: FloatArray, target: IntArray, own: IntArray, k: int, spare: FloatArray) -> Any:
    """Tell which rows keep their own class when every vote that a tie leaves open goes to its strongest rival."""
    last = _last(distances, k)
    sure = distances < (last - 2.0 * spare)[:, None]
    known = _votes(sure, target)
    open_votes = k - known.sum(axis=1)
    tied = _votes((distances <= (last + 2.0 * spare)[:, None]) & ~sure, target)
    if_own_only = tied.sum(axis=1) == tied[np.arange(own.size), own]  # all that tie are of the own class
    mine = known[np.arange(own.size), own] + np.where(if_own_only, open_votes, 0.0)
    rivals = known.copy()
    rivals[np.arange(own.size), own] = -np.inf
    return mine > rivals.max(axis=1) + np.where(if_own_only, 0.0, open_votes)


def _different(classes: tuple[Label, ...]) -> tuple[bool, str]:
    return len(set(classes)) == len(classes) >= 1, "the classes are not different labels"
