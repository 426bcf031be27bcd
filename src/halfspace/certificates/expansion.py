"""A function in a kernel's space, f = Σ_j c_j (k(x_j, ·) + clamp²): its outputs and its length, with bounds on their rounding.

Only `kernel.exact` is used: plain NumPy in double precision, in blocks of rows, so that memory stays small. An entry of the
kernel matrix is off by at most `kernel.rounding`, and |k(x, x') + clamp²| <= r r' with r = sqrt(k(x, x) + clamp²): that gives
the bounds below, each doubled to be safe. All of it needs a positive semi-definite kernel. Either the kernel proves that by
construction, or the matrix of these examples is factored (Cholesky): if that succeeds with `shift` added to its diagonal, it
is positive semi-definite up to `shift` (Rump 2006), and the shift is paid for like rounding.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.certificates.arithmetic import EPS, largest_entry
from halfspace.errors import InputError
from halfspace.kernels import Kernel
from halfspace.kernels.products import HIDDEN

__all__ = ["Scales", "indefiniteness", "outputs", "proved_scales", "scales", "squares_of"]

BLOCK_ENTRIES = 1 << 22
LARGEST = 4000
"""Kernels without a proof are checked on the data up to this many examples."""
FLOOR = 1e-290
"""What underflow can take away from a value of a kernel."""
VANISHING = 1e10 * FLOOR
"""Squared lengths in the kernel's space that are all below this are blurred by what underflow takes."""
ASYMMETRY = 1e-6
"""A precomputed matrix may differ from its transpose by this share of its largest entry; the difference is paid for."""


class Scales(NamedTuple):
    """How large the examples are in the kernel's space: all that bounds on rounding need to know of them."""

    lengths: FloatArray  # sqrt(k(x_i, x_i) + clamp²), shape (n,), rounded up
    entry: float  # rounding of one value of the kernel
    shift: float = 0.0  # what was added to the diagonal to make the matrix surely positive semi-definite
    unit: float = 0.0  # with `reach`, rounding of an entry by its rows: see `Kernel.rounding_by_row`
    reach: FloatArray | None = None  # (n,)

    @property
    def radius(self) -> float:
        """Length of the longest example."""
        return float(self.lengths.max())

    def errors(self, rows: IntArray, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bound the rounding of outputs (n, K) and squared lengths (K,) of functions with coefficients c (m, K) at rows."""
        size, share = np.abs(c), 2 * (rows.size + 8) * EPS
        longest = self.lengths[rows] @ size
        error = self._entries(rows, size) + share * self.lengths[:, None] * longest
        error[rows] += self.shift * size
        return error, (size * error[rows]).sum(axis=0) + share * longest**2

    def of(self, rows: IntArray) -> "Scales":
        """Return the scales of some of the examples."""
        return self._replace(lengths=self.lengths[rows], reach=None if self.reach is None else self.reach[rows])

    def _entries(self, rows: IntArray, size: FloatArray) -> FloatArray:
        """Bound what the rounding of entries does to the outputs, shape (n, K) or (1, K)."""
        total = size.sum(axis=0)
        if self.reach is None or rows.size == 0:
            return np.asarray(self.entry * total[None, :])
        each = self.unit * (self.reach + self.reach[rows].mean()) ** 2
        own: FloatArray = each[:, None] * total + each[rows] @ size + (16 * EPS + FLOOR) * total
        return np.asarray(np.minimum(own, self.entry * total))


def scales(kernel: Kernel, X: Matrix, clamp: float, shift: float = 0.0) -> Scales:
    """Measure the examples in the kernel's space; `shift` as in `indefiniteness`.

    Examples that are zero there have length 0. Examples so short that underflow blurs all of them are refused.
    """
    entry = _entry_error(kernel, X)
    diagonal = X.diagonal() if kernel.is_precomputed else kernel.exact_diagonal(X)
    if float(np.max(diagonal)) + clamp * clamp < VANISHING and largest_entry(X) > 0.0:
        msg = f"all of X is so small that {kernel} underflows. Scale the features, e.g. with StandardScaler."
        raise InputError(msg)
    by_row = None if kernel.is_precomputed else kernel.rounding_by_row(X)
    unit, reach = (0.0, None) if by_row is None else by_row
    return Scales(np.sqrt(np.maximum(diagonal, 0.0) + clamp * clamp + entry + shift) * (1 + 8 * EPS), entry, shift, unit, reach)


def _columns(kernel: Kernel, X: Matrix, rows: IntArray) -> Iterator[FloatArray]:
    """Yield k(x_i, x_j) for blocks of examples i, and j among the rows; of a precomputed matrix, these entries."""
    n = X.shape[0]
    others = X[:, rows] if kernel.is_precomputed else X[rows]
    step = max(1, BLOCK_ENTRIES // rows.size)
    for begin in range(0, n, step):
        block = slice(begin, min(begin + step, n))
        entries: Any = others[block] if kernel.is_precomputed else kernel.exact(X[block], others)
        yield np.asarray(entries.toarray() if sparse.issparse(entries) else entries, dtype=np.float64)


def outputs(kernel: Kernel, X: Matrix, rows: IntArray, c: FloatArray, clamp: float) -> FloatArray:
    """Return f_k(x_i), shape (n, K), of the functions with coefficients c, shape (m, K), at these rows."""
    if rows.size == 0:
        return np.zeros((X.shape[0], c.shape[1]))
    F: FloatArray = np.concatenate([block @ c for block in _columns(kernel, X, rows)]) + clamp * clamp * c.sum(axis=0)
    return F


def squares_of(F: FloatArray, rows: IntArray, c: FloatArray) -> FloatArray:
    """Return ‖f_k‖², shape (K,), from the outputs F, shape (n, K), at the rows of the coefficients."""
    squares: FloatArray = np.maximum((c * F[rows]).sum(axis=0), 0.0)
    return squares


def _entry_error(kernel: Kernel, X: Matrix) -> float:
    """Return a bound on the rounding of any entry of the kernel matrix of these examples; nothing but zeros loses nothing."""
    floor = FLOOR if largest_entry(X) > 0.0 else 0.0
    if kernel.is_precomputed:
        difference = abs(X - X.T)
        return 0.5 * float(difference.max()) + floor
    return float(kernel.rounding(X, X)) + floor


def indefiniteness(kernel: Kernel, X: Matrix) -> tuple[float, str | None]:
    """Return what must be added to the diagonal to make the kernel matrix surely positive semi-definite, or the objection.

    The shift is 0 for a kernel that is so by construction, else a few rounding errors of the matrix. The objection says why
    the matrix is not, or why that could not be found out, and what to do.
    """
    n = X.shape[0]
    if kernel.is_precomputed and X.shape[1] != n:
        return 0.0, f"a precomputed kernel needs the square matrix of the training examples, not {n} x {X.shape[1]}"
    if kernel.reason() is not None:
        return 0.0, None
    if n > LARGEST:
        return 0.0, (
            f"the kernel {kernel} is not positive semi-definite by construction, and {n:,} examples are too many to find out "
            f"(at most {LARGEST:,}); use a kernel whose reason() is not None, or fewer examples"
        )
    K, error = np.concatenate(list(_columns(kernel, X, np.arange(n)))), _entry_error(kernel, X)
    skew, allowed = float(np.abs(K - K.T).max()), ASYMMETRY * float(np.abs(K).max()) if kernel.is_precomputed else 2 * error
    if not skew <= allowed + FLOOR:
        return 0.0, f"the kernel {kernel} is not symmetric: k(x, x') and k(x', x) differ by up to {skew:.3g}; use their mean"
    K = 0.5 * (K + K.T)
    shift = (n + 8) * EPS * float(np.abs(K.diagonal()).sum()) + n * error
    if not (shift <= HIDDEN * float(np.abs(K).max()) or (kernel.is_precomputed and np.isfinite(shift))):
        return 0.0, (
            f"whether the kernel {kernel} is positive semi-definite on these examples cannot be told: rounding of up to "
            f"{error:.2g} a value hides it; scale the features down, or choose other parameters"
        )
    try:
        np.linalg.cholesky(K + shift * np.eye(n))
    except np.linalg.LinAlgError:
        least = float(np.linalg.eigvalsh(K)[0])
        return 0.0, (
            f"the kernel {kernel} is not positive semi-definite on these examples (smallest eigenvalue {least:.3g}), "
            "so no dual value bounds the primal one; repair the matrix or use another kernel"
        )
    return 2.0 * shift, None


def proved_scales(kernel: Kernel, X: Matrix, clamp: float) -> Scales:
    """Measure the examples in the space of a kernel that is positive semi-definite on them; else an InputError says why not."""
    shift, objection = indefiniteness(kernel, X)
    if objection:
        raise InputError(objection)
    return scales(kernel, X, clamp, shift)
