"""Kernels that are handed in: a matrix computed elsewhere, and any function of two rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.errors import InputError
from halfspace.kernels.base import Kernel, is_number
from halfspace.kernels.products import checked

__all__ = ["FromFunction", "Precomputed"]


@dataclass(frozen=True, eq=False)
class Precomputed(Kernel):
    """The kernel matrix itself, in scikit-learn's convention: fit gets K (n, n), predict gets K (m, n).

    A row holds the values of one example with all training examples, so `exact(K)` is K, and there is nothing to compute for
    other pairs of rows. `columns(K, rows)` picks the values with some training examples.

    Examples
    --------
    >>> K = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> Precomputed().columns(K, np.array([1]))
    array([[1.],
           [2.]])
    """

    def __str__(self) -> str:
        return "K(x, x')"

    @property
    def is_precomputed(self) -> bool:
        """True: rows are rows of a kernel matrix."""
        return True

    def is_symmetric(self) -> bool:
        """Return False: nobody has checked."""
        return False

    def columns(self, A: Matrix, rows: IntArray) -> FloatArray:
        """Return the values of the rows of A, shape (m, n), with the training examples `rows`, shape (m, len(rows))."""
        K = checked(A, "A", "Precomputed")
        picked = K[:, rows]
        return np.asarray(picked.toarray() if sparse.issparse(picked) else picked, dtype=np.float64)

    def values(self, A: Any, B: Any) -> FloatArray:
        """Return the matrix."""
        if A is not B:
            msg = "Precomputed: only exact(K) and matrix(K) are known, no values between two sets of rows; use columns(K, rows)"
            raise InputError(msg)
        return np.array(A.toarray() if sparse.issparse(A) else A, dtype=np.float64)

    def own_values(self, A: Any) -> FloatArray:
        """Return the diagonal of a square matrix."""
        if A.shape[0] != A.shape[1]:
            msg = f"Precomputed: the diagonal needs the square matrix of the training examples, got shape {A.shape}"
            raise InputError(msg)
        return np.array(A.diagonal(), dtype=np.float64)

    def matrix(self, A: Matrix, B: Matrix | None = None, *, dtype: Any = None) -> Any:
        """Return the matrix as it is, in its own precision; B is A or not given."""
        single = getattr(A, "dtype", None) == np.float32
        return self.exact(A, B).astype(dtype or (np.float32 if single else np.float64), copy=False)

    def bounds(self, A: Any, B: Any) -> tuple[float, float]:  # noqa: ARG002  (the matrix is A)
        """Return bounds on value and rounding: none, the matrix is the kernel."""
        return float(abs(A).max()), 0.0

    def reason(self) -> str | None:
        """Return None: only its eigenvalues can tell."""
        return None


@dataclass(frozen=True, eq=False)
class FromFunction(Kernel):
    """Any function of two rows, Python's or Numba's.

    Parameters
    ----------
    f : callable
        f(a, b) of two arrays of shape (d,), which returns a number and should not depend on their order.
    shift_invariant : bool
        Whether f(a, b) depends on a - b only: then `mercer` can look at its Fourier transform.
    error : float
        Bound on the rounding error of f, if known; by default the values of f are taken to be the kernel.
    name : str, optional
        What to print; the function's own name by default.

    Examples
    --------
    >>> overlap = FromFunction(lambda a, b: float(np.minimum(a, b).sum()), name="overlap")
    >>> print(overlap, overlap([1.0, 4.0], [3.0, 2.0]))
    overlap(x, x') 3.0
    """

    f: Callable[[FloatArray, FloatArray], float]
    shift_invariant: bool = False
    error: float = 0.0
    name: str | None = None

    def __post_init__(self) -> None:
        if not callable(self.f):
            msg = f"FromFunction: a function of two rows expected, got {self.f!r}"
            raise InputError(msg)
        if not is_number(self.error) or self.error < 0:
            msg = f"FromFunction: error must be a number >= 0, got {self.error!r}"
            raise InputError(msg)

    def __str__(self) -> str:
        return f"{self.name or getattr(self.f, '__name__', 'f')}(x, x')"

    def is_symmetric(self) -> bool:
        """Return False: nobody has checked."""
        return False

    def values(self, A: Any, B: Any) -> FloatArray:
        """Return f(a_i, b_j), one call each."""
        first, second = _dense(A), _dense(B)
        try:
            return np.array([[float(self.f(a, b)) for b in second] for a in first])
        except (IndexError, TypeError, ValueError) as error:
            msg = f"{self}: the function must return one number for two rows of shape ({A.shape[1]},); {error}"
            raise InputError(msg) from error

    def own_values(self, A: Any) -> FloatArray:
        """Return f(a_i, a_i)."""
        return np.array([self.values(row[None], row[None])[0, 0] for row in _dense(A)])

    def bounds(self, A: Any, B: Any) -> tuple[float, float]:
        """Return bounds on value and rounding; that on the value takes a call for every pair."""
        return float(np.abs(self.values(A, B)).max()), float(self.error)

    def reason(self) -> str | None:
        """Return None: nothing is known of the function."""
        return None


def _dense(X: Any) -> Any:
    """Return rows as an array."""
    return X.toarray() if sparse.issparse(X) else X
