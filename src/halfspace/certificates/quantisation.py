"""The certificate of a quantisation: prototypes, the row each stands for, and how good any others could be.

Quantisation error of prototypes w_1..w_K:  E = Σ s_i min_k ‖x_i - w_k‖².  Four claims, each recomputed from the data:

- every row belongs to its nearest prototype, up to rounding;
- the error is as stated;
- no K prototypes whatever have an error below  Σ_{j>=K} λ_j,  λ_1 >= λ_2 >= ... the eigenvalues of the scatter matrix
  Σ s_i (x_i - m)(x_i - m)ᵀ about the mean m  (Ding and He 2004, theorem 3.1: K centres span at most K - 1 directions
  about the mean);
- moving each prototype to the mean of its cell would lower the error by exactly  Σ_k s(cell k) ‖w_k - mean_k‖²  before
  rows change cells (Huygens): zero at a fixed point of K-means.

Rounding: a direct difference is off by eps of itself, so a squared distance by (d + 4) eps of itself; the expanded form
‖x‖² + ‖w‖² - 2 x·w, which one matrix product gives for all prototypes, by (d + 8) eps (‖x‖ + ‖w‖)². Claims give away four
times such a bound, the checker demands one.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.certificates.arithmetic import EPS, as_rows, is_array, is_number
from halfspace.certificates.base import Unlabelled, Verdict
from halfspace.certificates.scatter import spectral_bound
from halfspace.errors import InputError

__all__ = ["Quantisation"]

BLOCK_ENTRIES = 1 << 18
"""Entries held at a time: they stay in cache."""
ENERGY_ROUNDING = 1e-9
"""How far, relative to the error, an energy of the course may be off: solvers sum in their own order."""


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
    energies : tuple of float
        Errors in the course of a batch method, which never rise; the last one is the error. Empty for other methods.

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
    energies: tuple[float, ...] = ()

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
        cls,
        X: Matrix,
        *,
        prototypes: FloatArray,
        labels: Labels | None = None,
        sample_weight: FloatArray | None = None,
        energies: tuple[float, ...] = (),
        spectral: bool = True,
    ) -> Self:
        """Measure prototypes (K, d) on examples X (n, d).

        Labels that the solver knows, shape (n,), save most of the work. They are taken as they are for float64 rows; on
        float32 rows a solver may have compared distances in single precision, so the nearest prototypes are found anew.
        With `spectral=False`, and where it would take more than about a second, the lower bound is 0.
        """
        X, _ = as_rows(X, np.zeros(X.shape[0]))
        W = np.array(prototypes, dtype=np.float64)
        s = None if sample_weight is None else np.array(sample_weight, dtype=np.float64)
        _check_shapes(X, W, s)
        known = labels is not None and X.dtype == np.float64
        found = _measured(X, W, s, np.array(labels, dtype=np.int64) if known else None, compare=False)
        lower, noise = spectral_bound(X, s, W.shape[0]) if spectral else (0.0, 0.0)
        error = found.error + 4.0 * found.noise
        return cls(
            error,
            float(np.clip(lower - 4.0 * noise, 0.0, error)),
            found.gain + 4.0 * found.gain_noise,
            W,
            found.labels,
            found.sizes,
            s,
            tuple(float(energy) for energy in energies),
        )

    def well_formed(self) -> Verdict:
        """Check types, shapes and ranges of the fields."""
        numbers = all(is_number(value, least=0.0) for value in (self.error, self.lower, self.step_gain))
        shaped = is_array(self.prototypes, 2) and self.prototypes.size > 0 and is_array(self.labels, 1, "i")
        K = self.prototypes.shape[0] if shaped else 0
        inside = shaped and self.labels.size > 0 and bool(((self.labels >= 0) & (self.labels < K)).all())
        s = self.sample_weight
        weighted = s is None or (is_array(s, 1) and s.shape == np.shape(self.labels) and bool((s >= 0.0).all()))
        sized = is_array(self.sizes, 1) and self.sizes.shape == (K,)
        listed = isinstance(self.energies, tuple) and all(is_number(energy, least=0.0) for energy in self.energies)
        return Verdict.of(
            (numbers and self.lower <= self.error, "error, lower bound and gain are not numbers with 0 <= lower <= error"),
            (shaped, "the prototypes are not a table of finite numbers, or the labels not whole numbers"),
            (inside, "a label is not the number of a prototype"),
            (weighted, "there is not one sample weight >= 0 per label"),
            (sized, "there is not one size per prototype"),
            (listed, "the energies are not numbers >= 0"),
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
        found = _measured(X, self.prototypes, self.sample_weight, self.labels, compare=True)
        lower, noise = spectral_bound(X, self.sample_weight, len(self.prototypes)) if self.lower > 0.0 else (0.0, 0.0)
        below = self.lower == 0.0 or lower - 8.0 * noise <= self.lower <= lower - noise
        sizes_off = np.abs(self.sizes - found.sizes).max()
        rounding = ENERGY_ROUNDING * self.error + 8.0 * found.noise
        course = np.array(self.energies)
        return Verdict.of(
            (found.strays == 0, f"{found.strays:,} rows are nearer to another prototype"),
            (_enclosed(self.error, found.error, found.noise), f"the error is {found.error:.6g}, not {self.error:.6g}"),
            (
                _enclosed(self.step_gain, found.gain, found.gain_noise),
                f"a step gains {found.gain:.3g}, not {self.step_gain:.3g}",
            ),
            (bool(below), f"the lower bound is {lower:.6g}, not {self.lower:.6g}"),
            (bool(sizes_off <= 2.0 * n * EPS * found.sizes.sum()), "the cells have other sizes"),
            (bool((np.diff(course) <= rounding).all()), "an energy rises"),
            (course.size == 0 or bool(abs(course[-1] - found.error) <= rounding), "the last energy is not the error"),
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
            "energies": tuple(body.get("energies", ())),
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


def _measured(X: Matrix, W: FloatArray, s: FloatArray | None, labels: IntArray | None, *, compare: bool) -> _Found:
    """Go over the rows once; with `compare`, or without labels, through all distances."""
    (n, d), K = X.shape, W.shape[0]
    s = np.ones(n) if s is None else s
    assigned = np.empty(n, dtype=np.int64) if labels is None else labels
    # Expanded squares lose what the rows have in common: they are taken about a point among the prototypes.
    shift = np.zeros(d) if sparse.issparse(X) else W.mean(axis=0)
    own, noise, sums, strays = np.empty(n), np.empty(n), np.zeros((K, d)), 0
    step = max(1, BLOCK_ENTRIES // (K + d))
    for rows in (slice(first, min(first + step, n)) for first in range(0, n, step)):
        block = X[rows].astype(np.float64, copy=False)
        if labels is None:
            assigned[rows] = np.argmin(_all_distances(block, W, shift)[0], axis=1)
        own[rows], noise[rows], part = _own_cells(block, W, assigned[rows], s[rows])
        sums += part
        if compare:
            distances, spare = _all_distances(block, W, shift)
            strays += int(np.count_nonzero(~(own[rows] <= distances.min(axis=1) + 2.0 * spare)))
    return _summed(own, noise, sums, strays, assigned, s, W if sparse.issparse(X) else np.zeros((K, 1)))


def _own_cells(block: Any, W: FloatArray, labels: IntArray, s: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return each row's squared distance to its prototype, its rounding, and per cell Σ s (x - w), or Σ s x of sparse rows."""
    cells = sparse.csr_array((s, labels, np.arange(labels.size + 1)), shape=(labels.size, W.shape[0])).T
    if sparse.issparse(block):
        distances, spare = _all_distances(block, W, np.zeros(W.shape[1]))
        return np.maximum(distances[np.arange(labels.size), labels], 0.0), spare, (cells @ block).toarray()
    differences = block - W[labels]
    own = np.einsum("ij,ij->i", differences, differences)
    return own, (W.shape[1] + 4) * EPS * own, cells @ differences


def _all_distances(block: Any, W: FloatArray, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ‖x_i - w_k‖² for rows and prototypes, shape (rows, K), in expanded form, and its rounding per row.

    The coordinates themselves are known to eps of their size about the origin, which the bound includes.
    """
    if sparse.issparse(block):
        squares = np.asarray(block.multiply(block).sum(axis=1)).ravel()
    else:
        block = block - shift
        squares = np.einsum("ij,ij->i", block, block)
    V = W - shift
    norms = np.einsum("kj,kj->k", V, V)
    distances = np.asarray(block @ (-2.0 * V.T))
    distances += norms
    distances += squares[:, None]
    reach = np.sqrt(squares) + np.sqrt(norms.max())
    return distances, 2.0 * (V.shape[1] + 8) * EPS * reach * (reach + np.linalg.norm(shift))


def _summed(
    own: FloatArray, noise: FloatArray, sums: FloatArray, strays: int, labels: IntArray, s: FloatArray, W: FloatArray
) -> _Found:
    """Sum the squared distances, and per cell the offsets: Σ s_i (x_i - w_k), or Σ s_i x_i where W is to be taken off."""
    K, d = sums.shape
    error = float(s @ own)
    sizes: FloatArray = np.bincount(labels, weights=s, minlength=K).astype(np.float64)
    total_noise = float(s @ noise) + (own.size * EPS) * error
    offsets = sums / np.where(sizes > 0.0, sizes, 1.0)[:, None] - np.where(sizes > 0.0, 1.0, 0.0)[:, None] * W
    gain = float(sizes @ np.einsum("kj,kj->k", offsets, offsets))
    # Σ_k s_k ‖error of offset_k‖² <= (n eps)² Σ s_i ‖term_i‖² by Cauchy and Schwarz
    terms = error + float(s @ np.einsum("kj,kj->k", W, W)[labels])
    slip = 2.0 * (own.size + 8) * EPS * np.sqrt(terms)
    gain_noise = slip * (2.0 * np.sqrt(gain) + slip) + (d + K) * EPS * gain
    return _Found(error, total_noise, gain, float(gain_noise), sizes, labels, strays)
