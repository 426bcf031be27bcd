"""The certificate of a quantisation: prototypes, the row each stands for, and how good any others could be.

Quantisation error of prototypes w_1..w_K:  E = Σ s_i min_k ‖x_i - w_k‖².  Four claims, each recomputed from the data:

- every row belongs to its nearest prototype, up to rounding;
- the error is as stated;
- no K prototypes whatever have an error below  Σ_{j>=K} λ_j,  λ_1 >= λ_2 >= ... the eigenvalues of the scatter matrix
  Σ s_i (x_i - m)(x_i - m)ᵀ about the mean m  (Ding and He 2004, theorem 3.1: K centres span at most K - 1 directions
  about the mean);
- moving each prototype to the mean of its cell would lower the error by exactly  Σ_k s(cell k) ‖w_k - mean_k‖²  before
  rows change cells (Huygens): zero at a fixed point of K-means.

Rounding: squared distances are sums of squared differences, off by (d + 4) eps of themselves; their sum over n rows adds n eps
of itself. Claims give away four times such a bound, the checker demands one. Rows of any storage are read as dense blocks, so
dense, sparse and single-precision copies of the same numbers give the same claim.

Rows in dense blocks, and the nearest prototype of each, with no doubt left by rounding.

One matrix product gives all expanded squares  ‖y‖² - 2 y·v + ‖v‖²,  y = x - c and v = w - c about a centre c: each is off by
at most  (d + 8) eps (‖y‖ + ‖v‖)²  (Higham 2002, section 3.1; y and v are off by eps of themselves). Where that leaves more than
one prototype possible, the differences x - w are squared and summed: such a distance is off by (d + 4) eps of itself, wherever
the origin is, and by `TINY` a column where squares are too small for a float.

Blocks are dense float64 arrays whatever X is, so that a claim is the same, bit by bit, for the same numbers in any storage.

A lower bound on the error of any K prototypes, from the eigenvalues of the scatter matrix.

Theorem (Ding and He 2004, theorem 3.1). For any prototypes w_1..w_K and weights s_i >= 0

    Σ s_i min_k ‖x_i - w_k‖²  >=  Σ_{j >= K} λ_j(S),    S = Σ s_i (x_i - m)(x_i - m)ᵀ,   m the weighted mean.

Why: the best prototypes of a partition are its means; these, about m, span at most K - 1 directions, and a projection on
K - 1 directions takes at most the K - 1 largest eigenvalues from the trace.

The smaller of S (d x d) and the matrix of inner products (n x n), which has the same eigenvalues, is computed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.certificates.arithmetic import EPS, checked_rows, in_range, some_weight
from halfspace.certificates.base import Unlabelled, Verdict
from halfspace.errors import InputError

__all__ = ["TINY", "Quantisation", "dense_blocks", "nearest", "own_squares", "spectral_bound"]


@dataclass(frozen=True, eq=False)
class Quantisation(Unlabelled):
    """Error of prototypes on examples, with the assignment, a bound for all other prototypes and the gain of a step.

    Parameters
    ----------
    error : float
        Σ s_i ‖x_i - w_label(i)‖², an upper bound that is larger by rounding only.
    lower : float
        No K prototypes have a smaller error; 0 where the spectral bound was not computed.
    step_gain : float
        What moving every prototype to the mean of its cell would gain, an upper bound by rounding.
    prototypes : ndarray, shape (K, d)
        The prototypes W.
    labels : ndarray of int, shape (n,)
        The nearest prototype of each row.
    sizes : ndarray, shape (K,)
        Rows of each cell, or the sum of their weights.
    sample_weight : ndarray, shape (n,), or None
        Weights s_i of the rows, if not all 1.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [0.0, -1.0], [5.0, 1.0], [5.0, -1.0]])
    >>> proof = Quantisation.measure(X, prototypes=np.array([[0.0, 0.0], [5.0, 0.0]]))
    >>> print(proof)
    error 4 with 2 prototypes, none below 4 (gap 0.00 %), a Lloyd step gains 0
    >>> bool(proof.verify(X)), bool(proof.verify(X + 0.1))
    (True, False)
    """

    error: Annotated[float, "finite >= 0"]
    lower: Annotated[float, "finite >= 0"]
    step_gain: Annotated[float, "finite >= 0"]
    prototypes: Annotated[FloatArray, "finite(K,d)"]
    labels: Annotated[IntArray, "int(n) in 0..K"]
    sizes: Annotated[FloatArray, "finite(K)"]
    sample_weight: Annotated[FloatArray | None, "finite(n) >= 0 | none", "asked"]

    def __str__(self) -> str:
        gain = 0.0 if self.step_gain <= 1e-12 * self.error else self.step_gain
        limit = f", none below {self.lower:.4g} (gap {100 * self.relative_gap:.2f} %)" if self.lower > 0.0 else ""
        return f"error {self.error:.4g} with {len(self.prototypes)} prototypes{limit}, a Lloyd step gains {gain:.2g}"

    @property
    def relative_gap(self) -> float:
        """(error - lower) / error: at most this share of the error could be saved by other prototypes."""
        return (self.error - self.lower) / self.error if self.error > 0.0 else 0.0

    @property
    def dead(self) -> IntArray:
        """Numbers of the prototypes without rows."""
        return np.flatnonzero(self.sizes == 0.0)

    @classmethod
    def measure(
        cls, X: Matrix, *, prototypes: FloatArray, sample_weight: FloatArray | None = None, spectral: bool = True
    ) -> Self:
        """Measure prototypes (K, d) on examples X (n, d), weighted by `sample_weight`, shape (n,).

        With `spectral=False`, and where it would take more than about a second, the lower bound is 0.
        """
        X = checked_rows(X)
        W = np.asarray(prototypes, dtype=np.float64)  # the model's own memory: a changed model is not proved
        s = None if sample_weight is None else np.array(sample_weight, dtype=np.float64)
        if W.ndim != 2 or W.shape[1] != X.shape[1]:
            msg = f"Quantisation.measure expects prototypes of shape (K, {X.shape[1]}) for these rows. Got shape {W.shape}."
            raise InputError(msg)
        if s is not None and s.shape != (X.shape[0],):
            msg = f"Quantisation.measure expects one sample weight for each of {X.shape[0]} rows. Got shape {s.shape}."
            raise InputError(msg)
        sound, problem = in_range(X, W)
        if not sound:
            msg = f"Quantisation.measure: {problem}."
            raise InputError(msg)
        found = _measured(X, W, s)
        lower, noise = spectral_bound(X, s, W.shape[0]) if spectral else (0.0, 0.0)
        error, gain = found.error + 4.0 * found.noise, found.gain + 4.0 * found.gain_noise
        return cls(error, float(np.clip(lower - 4.0 * noise, 0.0, error)), gain, W, found.labels, found.sizes, s)

    def consistent(self) -> list[tuple[bool, str]]:
        """Check that there are prototypes and rows, and the order of the bounds."""
        return [
            (self.prototypes.size > 0 and self.labels.size > 0, "there are no prototypes or no rows"),
            (self.lower <= self.error, "the lower bound is above the error"),
            some_weight(self.sample_weight),
        ]

    def predictor(self, y: Labels) -> dict[str, Any]:  # noqa: ARG002  (one signature for all)
        """Return the prototypes."""
        return {"prototypes": self.prototypes}

    def confirm(self, X: Matrix, y: Labels) -> Verdict:  # noqa: ARG002  (there are no labels)
        """Recompute assignment, error, sizes, gain and lower bound."""
        n, d = X.shape
        shaped = Verdict.of(
            (self.labels.size == n, f"there are {n:,} rows, not {self.labels.size:,}"),
            (self.prototypes.shape[1] == d, f"prototypes of {self.prototypes.shape[1]} features, but X has {d}"),
            in_range(X, self.prototypes),
        )
        if not shaped:
            return shaped
        found = _measured(X, self.prototypes, self.sample_weight, self.labels)
        lower, noise = spectral_bound(X, self.sample_weight, len(self.prototypes)) if self.lower > 0.0 else (0.0, 0.0)
        below = self.lower == 0.0 or lower - 8.0 * noise <= self.lower <= lower - noise
        sized = (np.abs(self.sizes - found.sizes) <= 2.0 * n * EPS * found.sizes).all()
        return Verdict.of(
            (found.strays == 0, f"{found.strays:,} rows are nearer to another prototype"),
            (_enclosed(self.error, found.error, found.noise), f"the error is {found.error:.6g}, not {self.error:.6g}"),
            (
                _enclosed(self.step_gain, found.gain, found.gain_noise),
                f"a step gains {found.gain:.3g}, not {self.step_gain:.3g}",
            ),
            (bool(below), f"the lower bound is {lower:.6g}, not {self.lower:.6g}"),
            (bool(sized), "the cells have other sizes"),
        )


def _enclosed(claimed: float, found: float, noise: float) -> bool:
    """Tell whether a claimed upper bound is one by the checker's own rounding, and no larger than rounding explains."""
    return bool(found + noise <= claimed <= found + 8.0 * noise)


class _Found(NamedTuple):
    """What one pass over the rows finds: sums, and bounds on their rounding."""

    error: float
    noise: float
    gain: float
    gain_noise: float
    sizes: FloatArray
    labels: IntArray
    strays: int  # rows that another prototype is nearer to


def _measured(X: Matrix, W: FloatArray, s: FloatArray | None, claimed: IntArray | None = None) -> _Found:
    """Go over the rows once; sums are those of the labels claimed, if there are some, else of the nearest prototypes."""
    (n, d), K = X.shape, W.shape[0]
    s = np.ones(n) if s is None else s
    labels, own, noise, sums, strays = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n), np.zeros((K, d)), 0
    for rows, block in dense_blocks(X, K + d):
        labels[rows] = nearest(block, W)
        if claimed is not None:
            strays += _strays(block, W, labels[rows], claimed[rows])
            labels[rows] = claimed[rows]
        differences = block - W[labels[rows]]
        own[rows], noise[rows] = own_squares(differences)
        m = labels[rows].size
        if m * K <= FEW:
            sums += (s[rows] * (labels[rows] == np.arange(K)[:, None])) @ differences
        else:
            sums += sparse.csr_array((s[rows], labels[rows], np.arange(m + 1)), shape=(m, K)).T @ differences
    return _summed(own, noise, sums, strays, labels, s)


def _strays(block: FloatArray, W: FloatArray, found: IntArray, claimed: IntArray) -> int:
    """Count the rows that are nearer to the prototype found than to the one claimed, beyond rounding."""
    other = np.flatnonzero(found != claimed)
    (far, spare), (near, noise) = (own_squares(block[other] - W[labels[other]]) for labels in (claimed, found))
    return int(np.count_nonzero(~(far - spare <= near + 2.0 * noise)))


def _summed(own: FloatArray, noise: FloatArray, sums: FloatArray, strays: int, labels: IntArray, s: FloatArray) -> _Found:
    """Add up squared distances, and make the gain of per-cell sums  Σ s_i (x_i - w_k),  shape (K, d)."""
    (K, d), n = sums.shape, own.size
    error, some = float(s @ own), TINY if noise.any() else 0.0
    sizes: FloatArray = np.bincount(labels, weights=s, minlength=K).astype(np.float64)
    total_noise = float(s @ noise) + n * EPS * error + some
    offsets = sums / np.where(sizes > 0.0, sizes, 1.0)[:, None]
    gain = float(sizes @ np.einsum("kj,kj->k", offsets, offsets))
    # Σ_k s_k ‖error of offset_k‖² <= (n eps)² Σ s_i ‖x_i - w‖² by Cauchy and Schwarz
    slip = 2.0 * (n + 8) * EPS * np.sqrt(error + total_noise)
    gain_noise = slip * (2.0 * np.sqrt(gain) + slip) + (d + K) * EPS * gain + some * (1.0 + d * sizes.sum())
    return _Found(error, total_noise, gain, float(gain_noise), sizes, labels, strays)


FEW = 1 << 14
"""Entries up to which a table of rows and cells is multiplied as it is: to make it sparse would take longer."""
BLOCK_ENTRIES = 1 << 16
"""Entries held at a time: they stay in cache."""
TINY = float(np.finfo(np.float64).tiny)
"""A product that underflows is off by less than this."""


def dense_blocks(X: Matrix, width: int) -> Iterator[tuple[slice, FloatArray]]:
    """Yield the rows of X, shape (n, d), as dense float64 blocks of about `BLOCK_ENTRIES` / `width` rows."""
    step = max(1, BLOCK_ENTRIES // width)
    for first in range(0, X.shape[0], step):
        rows = slice(first, min(first + step, X.shape[0]))
        block = X[rows].toarray() if sparse.issparse(X) else X[rows]
        yield rows, np.ascontiguousarray(block, dtype=np.float64)


def own_squares(differences: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Σ_j of squared differences for every row, shape (m,), and a bound on its rounding; exact zeros have none."""
    d = differences.shape[1]
    squares: FloatArray = np.einsum("ij,ij->i", differences, differences)
    noise = (d + 4) * EPS * squares
    if squares.min(initial=np.inf) < 1e-280:
        lost = np.flatnonzero(squares < 1e-280)
        noise[lost] += d * TINY * differences[lost].any(axis=1)
    return squares, noise


def nearest(block: FloatArray, W: FloatArray) -> IntArray:
    """Return the nearest of the prototypes W, shape (K, d), for every row of a block, shape (m,); of equal ones the first."""
    ordered, K = np.sort(W, axis=0), W.shape[0]
    centre = 0.5 * (ordered[(K - 1) // 2] + ordered[K // 2])  # the median: one prototype far away would move the mean
    low, high = _expanded(block - centre, W - centre)
    labels: IntArray = low.argmin(axis=1)
    possible = ~(low > high.min(axis=1, keepdims=True))  # also where a sum overflowed
    unsure = np.flatnonzero(np.add.reduce(possible, axis=1) != 1)
    if unsure.size:
        labels[unsure] = np.stack([own_squares(block[unsure] - w)[0] for w in W], axis=1).argmin(axis=1)
    return labels


def _expanded(Y: FloatArray, V: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a lower and an upper bound of ‖y_i - v_k‖², each of shape (m, K)."""
    squares, norms = np.einsum("ij,ij->i", Y, Y), np.einsum("kj,kj->k", V, V)
    distances = Y @ (-2.0 * V.T)
    distances += norms
    distances += squares[:, None]
    spare = np.sqrt(squares)[:, None] + np.sqrt(norms)
    spare *= spare
    spare *= (V.shape[1] + 8) * EPS
    spare += 4 * V.shape[1] * TINY
    return distances - spare, distances + spare


LARGEST = 2000
"""Most rows of the matrix whose eigenvalues are computed."""
WORK = 2e10
"""Most multiplications spent on the bound: about a second."""


def spectral_bound(X: Matrix, s: FloatArray | None, K: int) -> tuple[float, float]:
    """Return the sum of all but the K - 1 largest eigenvalues of the scatter, and a bound on its rounding.

    The rows X, shape (n, d), may have weights s, shape (n,). Where computing it would take too long or overflow it is 0.
    """
    n, d = X.shape
    small = min(n, d)
    weights = np.ones(n) if s is None else s
    if small > LARGEST or n * d * small + 10 * small**3 > WORK or not weights.any():
        return 0.0, 0.0
    matrix, shift = _scatter(X, weights)
    size = float(np.trace(matrix)) + shift
    if not np.isfinite(size):
        return 0.0, 0.0
    eigenvalues = np.linalg.eigvalsh(matrix)  # rising
    # The trace, and the sum of the largest K - 1, move by at most 1 + √K times the size of a perturbation (Weyl).
    noise = 4.0 * (1.0 + np.sqrt(min(K, small))) * (n + d + 64) * EPS * size
    return float(eigenvalues[: max(small - K + 1, 0)].sum()), float(noise) + small * n * TINY


def _scatter(X: Matrix, s: FloatArray) -> tuple[FloatArray, float]:
    """Return S, or with fewer rows than columns the inner products of rows, and what the mean's rounding may add to it.

    The computed mean is off by n eps of the rows' mean length, which adds its square, weighted, to the scatter.
    """
    (n, d), root = X.shape, None if (s == 1.0).all() else np.sqrt(s)
    mean = np.zeros(d)
    for rows, block in dense_blocks(X, d):
        mean += (s[rows] / s.sum()) @ block
    matrix = np.zeros((min(n, d), min(n, d)))
    if d <= n:
        for rows, block in dense_blocks(X, d):
            part = block - mean
            part *= 1.0 if root is None else root[rows, None]
            matrix += part.T @ part
    else:
        columns = X.T.tocsr() if sparse.issparse(X) else X.T
        for rows, block in dense_blocks(columns, n):
            part = block - mean[rows, None]
            part *= 1.0 if root is None else root
            matrix += part.T @ part
    return matrix, float(s.sum() * (mean @ mean) * n * EPS)
