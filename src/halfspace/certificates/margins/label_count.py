"""How many labelings of some examples planes can separate: what separability by itself is worth.

Count      Planes separate at most  C(n, r) = 2 Σ_{k<r} binom(n - 1, k)  of the 2^n labelings of n examples whose inputs (the
           constant 1 included, if the plane may have a bias) have rank r; exactly so many in general position (Cover 1965,
           theorem 1). If r = n, all of them.
Lower side Floats are whole numbers times powers of 2, so an odd prime p has a residue for each, and a minor that is not 0
           modulo p is not 0: the rank modulo p is at most the rank. Elimination modulo p = 2^23 - 15 is exact in float64, as
           sums of 64 products of residues of at most p/2 are below 2^53. Before that floats try: where A Aᵀ has a Cholesky
           factor with more than all rounding taken off its diagonal, its rank is full (`surely_full_rank`).
Upper side The smaller number of rows and inputs, unless the rank was computed in whole numbers (small tables).
"""

from dataclasses import dataclass
from math import log
from typing import Annotated, Self

import numpy as np
from scipy import sparse
from scipy.special import gammaln, logsumexp

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.certificates.arithmetic import EPS, checked_rows
from halfspace.certificates.base import Unlabelled, Verdict
from halfspace.certificates.rational import whole

__all__ = ["LabelCount", "log_share", "modular_rank", "surely_full_rank"]

PRIME = (1 << 23) - 15
BLOCK = 64
SPARE = 32
"""Rows or columns beyond the smaller side that are looked at before all are."""
LARGEST = 4e9
"""Products beyond which the rank is only that of some rows and columns."""
EXACT = 2e6
"""Products of whole numbers up to which the rank is computed without a prime."""


@dataclass(frozen=True, eq=False)
class LabelCount(Unlabelled):
    """How many labelings of these examples planes separate, at most.

    Parameters
    ----------
    examples, inputs : int
        Rows, and columns with the constant 1 if `intercept`.
    rank : int
        The rank is at least this.
    most : int
        The rank is at most this.
    log_share : float
        ln (C(n, most)/2^n): the share of all labelings that can be separable is at most exp(log_share).
    intercept : bool
        Whether planes may have a bias.

    Examples
    --------
    >>> print(LabelCount.measure(np.array([[0.0], [1.0], [2.0], [3.0]])))
    rank 2 of 4 examples: at most a share 0.5 of their labelings is separable
    >>> print(LabelCount.measure(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])))
    rank 3 of 3 examples: every labelling is separable, so separability says nothing
    """

    examples: Annotated[int, "int > 0"]
    inputs: Annotated[int, "int > 0"]
    rank: Annotated[int, "int >= 0"]
    most: Annotated[int, "int >= 0"]
    log_share: float
    intercept: Annotated[bool, "bool", "asked"]

    @property
    def everything(self) -> bool:
        """Whether every labelling is separable: the rank is the number of examples."""
        return self.rank == self.examples

    def __str__(self) -> str:
        rank = f"rank {self.rank}" if self.rank == self.most else f"rank {self.rank} to {self.most}"
        if self.everything:
            return f"{rank} of {self.examples:,} examples: every labelling is separable, so separability says nothing"
        share = np.exp(self.log_share)
        size = f"{share:.3g}" if self.log_share > -600 else f"1e{self.log_share / log(10.0):.0f}"
        return f"{rank} of {self.examples:,} examples: at most a share {size} of their labelings is separable"

    @classmethod
    def measure(cls, X: Matrix, *, intercept: bool = True) -> Self:
        """Compute the rank of the examples X, shape (n, d), from both sides."""
        X = checked_rows(X)
        rank, most = _ranks(X, intercept=intercept)
        n = int(X.shape[0])
        return cls(n, int(X.shape[1]) + intercept, rank, most, log_share(n, most), intercept)

    def consistent(self) -> list[tuple[bool, str]]:
        """Check that the sides are in order."""
        possible = self.rank <= self.most <= min(self.examples, self.inputs)
        return [(possible, "the rank is above its upper side, or above the number of examples or inputs")]

    def confirm(self, X: Matrix, y: Labels) -> Verdict:  # noqa: ARG002  (there are no labels)
        """Compute both sides of the rank and the count again."""
        (n, d), (rank, most) = X.shape, _ranks(X, intercept=self.intercept)
        share = log_share(n, self.most)
        return Verdict.of(
            (self.examples == n, f"there are {n} examples, not {self.examples}"),
            (self.inputs == d + self.intercept, f"there are {d + self.intercept} inputs, not {self.inputs}"),
            (self.rank == rank, f"the rank is proved to be at least {rank}, not {self.rank}"),
            (self.most == most, f"the rank is proved to be at most {most}, not {self.most}"),
            (abs(self.log_share - share) <= 1e-9 * (1.0 + abs(share)), f"ln share is {share:.12g}, not {self.log_share:.12g}"),
        )


def log_share(n: int, r: int) -> float:
    """Return ln of C(n, r)/2^n, the share of labelings of n points of rank r that are separable; 0 for r >= n.

    Examples
    --------
    >>> round(float(np.exp(log_share(40, 20))), 12), log_share(5, 5)
    (0.5, 0.0)
    """
    if r >= n:
        return 0.0
    k = np.arange(r)
    return float(logsumexp(gammaln(n) - gammaln(k + 1) - gammaln(n - k)) - (n - 1) * log(2.0)) if r else -np.inf


def _ranks(X: Matrix, *, intercept: bool) -> tuple[int, int]:
    """Return a lower and an upper side of the rank of (X, 1)."""
    n, D = X.shape[0], X.shape[1] + intercept
    least, some = min(n, D), min(n, D) + SPARE
    if surely_full_rank(_dense(X[:some], D, some)):
        return least, least
    rank = modular_rank(_dense(X[:some], D, some))
    if rank < least and float(n) * D * least <= LARGEST:
        rank = modular_rank(_dense(X, D, D))
    if rank < least and float(n) * D * least <= EXACT:
        from flint import fmpz_mat  # noqa: PLC0415  (not at the first fit: only exact proofs need it)

        k, _ = whole(_dense(X, D, D))
        small = k.T @ k if n > D else k @ k.T  # of the same rank: a real combination of length 0 is 0
        return rank, int(fmpz_mat(small.tolist()).rank())
    return rank, least


def _dense(X: Matrix, D: int, columns: int) -> FloatArray:
    """Return the last of the constant 1, if D says there is one, and other columns, at most so many in all."""
    constant = D - X.shape[1]
    part = X[:, : max(columns - constant, 0)]
    part = np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)
    return np.hstack([np.ones((X.shape[0], constant)), part])


def surely_full_rank(A: FloatArray) -> bool:
    """Tell whether floats prove that a matrix has as much rank as rows or columns; if not, nothing is known.

    With rows and columns scaled by powers of 2, which changes no rank, G = A Aᵀ is off by at most (D + 1) u tr G in length, and
    a Cholesky factor of it by (n + 1) u tr G (Rump 2006): if G less a few times these has a factor, A Aᵀ is positive definite.

    Examples
    --------
    >>> surely_full_rank(np.array([[0.1, 0.2], [0.3, 0.7]])), surely_full_rank(np.array([[0.1, 0.2], [0.3, 0.6]]))
    (True, False)
    """
    A = A if A.shape[0] <= A.shape[1] else A.T
    for axis in (0, 1):
        largest = np.abs(A).max(axis=axis, initial=0.0, keepdims=True)
        A = np.ldexp(A, -np.frexp(np.where(largest > 0.0, largest, 1.0))[1])
    G = A @ A.T
    shift = 4.0 * (sum(A.shape) + 10) * EPS * float(np.trace(G))
    try:
        np.linalg.cholesky(G - shift * np.eye(len(G)))
    except np.linalg.LinAlgError:
        return False
    return bool(len(G)) and bool(np.isfinite(shift))


def modular_rank(A: FloatArray) -> int:
    """Return the rank of a matrix of floats modulo a prime, which is at most its rank.

    Examples
    --------
    >>> modular_rank(np.array([[0.1, 0.2], [0.3, 0.6], [1e300, 2e300]])), modular_rank(np.array([[0.1, 0.2], [0.3, 0.7]]))
    (1, 2)
    """
    R = _residues(A if A.shape[0] <= A.shape[1] else A.T)
    rank, (n, m) = 0, R.shape
    for first in range(0, m, BLOCK):
        last, begin = min(first + BLOCK, m), rank
        panel, L = R[begin:, first:last].T.copy(), np.zeros((BLOCK, n - begin))
        for j in range(last - first):
            k = rank - begin
            pivots = np.flatnonzero(panel[j, k:])
            if not pivots.size:
                continue
            swap, own = k + int(pivots[0]), [begin + k, begin + k + int(pivots[0])]
            panel[:, [k, swap]], L[:, [k, swap]], R[own] = panel[:, [swap, k]], L[:, [swap, k]], R[own[::-1]]
            L[k, k + 1 :] = _reduced(panel[j, k + 1 :] * float(pow(int(panel[j, k]), -1, PRIME)))
            panel[j + 1 :, k + 1 :] = _reduced(panel[j + 1 :, k + 1 :] - np.outer(panel[j + 1 :, k], L[k, k + 1 :]))
            rank += 1
            if rank == n:
                return rank
        for i in range(1, rank - begin):
            R[begin + i, last:] = _reduced(R[begin + i, last:] - L[:i, i] @ R[begin : begin + i, last:])
        R[rank:, last:] = _reduced(R[rank:, last:] - L[: rank - begin, rank - begin :].T @ R[begin:rank, last:])
    return rank


def _reduced(A: FloatArray) -> FloatArray:
    """Return whole numbers modulo the prime, at most about half of it in size: 0 exactly where they are divisible."""
    A -= PRIME * np.rint(A * (1.0 / PRIME))
    return A


def _residues(A: FloatArray) -> FloatArray:
    """Return floats modulo the prime, as floats."""
    mantissa, exponent = np.frexp(A)
    k = np.ldexp(mantissa, 53).astype(np.int64) % PRIME
    least, most = int(exponent.min()), int(exponent.max())
    powers: IntArray = np.array([pow(2, e - 53, PRIME) for e in range(least, most + 1)], dtype=np.int64)
    return _reduced((k * powers[exponent - least] % PRIME).astype(np.float64))
