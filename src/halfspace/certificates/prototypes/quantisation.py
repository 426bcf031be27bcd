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
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.certificates.arithmetic import EPS, as_rows, is_array, is_number
from halfspace.certificates.base import Unlabelled, Verdict
from halfspace.certificates.prototypes.nearest import TINY, dense_blocks, nearest, own_squares
from halfspace.certificates.prototypes.scatter import spectral_bound
from halfspace.errors import InputError

__all__ = ["Quantisation"]


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

    error: float
    lower: float
    step_gain: float
    prototypes: FloatArray
    labels: IntArray
    sizes: FloatArray
    sample_weight: FloatArray | None

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
        X, _ = as_rows(X, np.zeros(X.shape[0]))
        W = np.array(prototypes, dtype=np.float64)
        s = None if sample_weight is None else np.array(sample_weight, dtype=np.float64)
        _check_shapes(X, W, s)
        found = _measured(X, W, s)
        lower, noise = spectral_bound(X, s, W.shape[0]) if spectral else (0.0, 0.0)
        error, gain = found.error + 4.0 * found.noise, found.gain + 4.0 * found.gain_noise
        return cls(error, float(np.clip(lower - 4.0 * noise, 0.0, error)), gain, W, found.labels, found.sizes, s)

    def well_formed(self) -> Verdict:
        """Check types, shapes and ranges of the fields."""
        numbers = all(is_number(value, least=0.0) for value in (self.error, self.lower, self.step_gain))
        shaped = is_array(self.prototypes, 2) and self.prototypes.size > 0 and is_array(self.labels, 1, "i")
        K = self.prototypes.shape[0] if shaped else 0
        inside = shaped and self.labels.size > 0 and bool(((self.labels >= 0) & (self.labels < K)).all())
        s = self.sample_weight
        weighted = s is None or (is_array(s, 1) and s.shape == np.shape(self.labels) and bool((s >= 0.0).all()))
        sized = is_array(self.sizes, 1) and self.sizes.shape == (K,)
        return Verdict.of(
            (numbers and self.lower <= self.error, "error, lower bound and gain are not numbers with 0 <= lower <= error"),
            (shaped, "the prototypes are not a table of finite numbers, or the labels not whole numbers"),
            (inside, "a label is not the number of a prototype"),
            (weighted, "there is not one sample weight >= 0 per label"),
            (sized, "there is not one size per prototype"),
        )

    def confirm(self, X: Matrix, y: Labels) -> Verdict:  # noqa: ARG002  (there are no labels)
        """Recompute assignment, error, sizes, gain and lower bound."""
        n, d = X.shape
        shaped = Verdict.of(
            (self.labels.size == n, f"there are {n:,} rows, not {self.labels.size:,}"),
            (self.prototypes.shape[1] == d, f"prototypes of {self.prototypes.shape[1]} features, but X has {d}"),
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

    @classmethod
    def from_fields(cls, body: dict[str, Any]) -> Self:
        """Rebuild from the plain form."""
        weighted = body["sample_weight"]
        fields: dict[str, Any] = {
            "prototypes": np.array(body["prototypes"], dtype=np.float64),
            "labels": np.array(body["labels"]),
            "sizes": np.array(body["sizes"], dtype=np.float64),
            "sample_weight": None if weighted is None else np.array(weighted, dtype=np.float64),
        }
        return cls(**{**body, **fields})


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


def _check_shapes(X: Matrix, W: FloatArray, s: FloatArray | None) -> None:
    """Refuse prototypes and weights that do not belong to the rows."""
    if W.ndim != 2 or W.shape[1] != X.shape[1]:
        msg = f"Quantisation.measure expects prototypes of shape (K, {X.shape[1]}) for these rows. Got shape {W.shape}."
        raise InputError(msg)
    if s is not None and s.shape != (X.shape[0],):
        msg = f"Quantisation.measure expects one sample weight for each of {X.shape[0]} rows. Got shape {s.shape}."
        raise InputError(msg)


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
        sums += _cells(labels[rows], s[rows], K) @ differences
    return _summed(own, noise, sums, strays, labels, s)


def _strays(block: FloatArray, W: FloatArray, found: IntArray, claimed: IntArray) -> int:
    """Count the rows that are nearer to the prototype found than to the one claimed, beyond rounding."""
    other = np.flatnonzero(found != claimed)
    (far, spare), (near, noise) = (own_squares(block[other] - W[labels[other]]) for labels in (claimed, found))
    return int(np.count_nonzero(~(far - spare <= near + 2.0 * noise)))


def _cells(labels: IntArray, s: FloatArray, K: int) -> Any:
    """Return the matrix, shape (K, rows), that sums weighted rows over their cells."""
    return sparse.csr_array((s, labels, np.arange(labels.size + 1)), shape=(labels.size, K)).T


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
