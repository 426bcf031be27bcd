"""What every kernel is: an immutable value with a formula, a plain double-precision form and an algebra.

`exact` is plain NumPy and is what checkers use; `matrix` is the fast form that solvers use. Both give the same numbers up to
rounding, and `rounding` says how much that is for `exact`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.errors import InputError
from halfspace.kernels.products import checked_pair, doubled
from halfspace.kernels.values import Value
from halfspace.rows.threads import each

__all__ = ["Entries", "Kernel", "exact_values", "is_number"]

Entries = Callable[["Kernel", Any, Any], FloatArray]
"""How the values of a part of a kernel are computed."""
BLOCK_VALUES = 1 << 20
"""Kernel values that are computed at a time: 8 MB."""


def is_number(value: Any) -> bool:
    """Tell whether a parameter is a finite real number."""
    real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    try:
        return real and bool(np.isfinite(float(value)))
    except OverflowError:
        return False


class Kernel(Value, ABC):
    """A similarity of two rows, k(x, x'); a kernel proper if it is an inner product in some space.

    Kernels add, multiply, scale and take powers: `RBF(0.5) + 2 * Linear() ** 2`. They compare and hash by value, print as
    formulas, and change by `with_params` into new values.

    Examples
    --------
    >>> from halfspace.kernels import RBF, Linear
    >>> kernel = RBF(0.5) + 2 * Linear() ** 2
    >>> print(kernel)
    exp(-0.5‖x - x'‖²) + 2 (x·x')^2
    >>> kernel([1.0, 0.0], [1.0, 0.0])
    3.0
    """

    at_most_1: ClassVar[bool] = False  # whether no value is above 1, so that none can be too large

    # What a kernel must say of itself; rows come checked and in float64.
    @abstractmethod
    def values(self, A: Any, B: Any) -> FloatArray:
        """Return k(a_i, b_j) of checked float64 rows, shape (n, m), as a new array."""

    @abstractmethod
    def own_values(self, A: Any) -> FloatArray:
        """Return k(a_i, a_i) of checked float64 rows, shape (n,)."""

    @abstractmethod
    def bounds(self, A: Any, B: Any) -> tuple[float, float]:
        """Return bounds on `|k(a_i, b_j)|` and on its rounding error, for these rows and any part of them."""

    def rounding_by_row(self, A: Matrix) -> tuple[float, FloatArray] | None:  # noqa: ARG002
        """Return u and r, shape (n,), such that an entry errs by at most u ((r_i + m)² + (r_j + m)²) + 16 EPS; None if unknown.

        m is the mean of r over the second rows given to `exact`: far below `rounding` where few rows are much longer than most.
        """
        return None

    @abstractmethod
    def reason(self) -> str | None:
        """Return why this is positive semi-definite on any data, as a sentence; None where no proof is known."""

    @abstractmethod
    def __str__(self) -> str: ...

    def composed(self, A: Any, B: Any, of: Entries) -> FloatArray:
        """Return the same values, those of the parts computed by `of(part, A, B)`, which may be faster."""
        del of
        return self.values(A, B)

    def mapped(self, A: Any) -> FloatArray:
        """Return finite features φ(a_i), shape (n, D), whose inner products are the kernel; refuse if there are none."""
        del A
        msg = f"{self} has no finite feature map; use features(n_components), which approximates one"
        raise InputError(msg)

    def exact(self, A: Matrix, B: Matrix | None = None) -> FloatArray:
        """Return k(a_i, b_j), shape (n, m), in plain NumPy and double precision: the form that checkers use.

        Parameters
        ----------
        A : array or CSR matrix, shape (n, d)
            Rows.
        B : array or CSR matrix, shape (m, d), optional
            Other rows; A itself by default.
        """
        first, second = self._pair(A, B)
        with np.errstate(all="ignore"):
            out = self.values(first, second)
            if first is second and not self.is_precomputed:
                np.fill_diagonal(out, self.own_values(first))
        return self._finite(out)

    def exact_diagonal(self, A: Matrix) -> FloatArray:
        """Return k(a_i, a_i), shape (n,), in plain NumPy and double precision."""
        rows = self._pair(A, None)[0]
        with np.errstate(all="ignore"):
            return self._finite(self.own_values(rows))

    def rounding(self, A: Matrix, B: Matrix | None = None) -> float:
        """Return a bound on the absolute rounding error of any entry of `exact(A, B)`, for these rows and any part of them."""
        with np.errstate(all="ignore"):
            return float(self.bounds(*self._pair(A, B))[1])

    def matrix(self, A: Matrix, B: Matrix | None = None, *, dtype: Any = None) -> Any:
        """Return k(a_i, b_j), shape (n, m), fast: in blocks and threads, the same result for any number of them.

        Parameters
        ----------
        A : array or CSR matrix, shape (n, d)
            Rows.
        B : array or CSR matrix, shape (m, d), optional
            Other rows; A itself by default.
        dtype : dtype, optional
            float32 if both sets of rows are and float64 otherwise, by default.
        """
        self._require_resolved()
        first, second = self._rows(A, B)
        single = first.dtype == second.dtype == np.float32
        kind = np.dtype(dtype or (np.float32 if single else np.float64))
        if kind not in {np.dtype(np.float32), np.dtype(np.float64)}:
            msg = f"matrix: dtype must be float32 or float64, got {dtype!r}"
            raise InputError(msg)
        out = np.empty((first.shape[0], second.shape[0]), kind)
        if self.is_precomputed:
            out[...] = self.exact(A, B)
        else:
            _fill_in_blocks(self, first, second, out)
        if first is second and not self.is_precomputed:
            with np.errstate(all="ignore"):
                np.fill_diagonal(out, self.own_values(doubled(first)))
        return self._finite(out)

    def diagonal(self, A: Matrix) -> Any:
        """Return k(a_i, a_i), shape (n,), in float32 if the rows are and in float64 otherwise."""
        single = getattr(A, "dtype", None) == np.float32
        return self.exact_diagonal(A).astype(np.float32 if single else np.float64, copy=False)

    def __call__(self, a: Matrix, b: Matrix) -> Any:
        """Return k(a, b) of two rows, or the matrix of two sets of rows."""
        if np.ndim(a) == np.ndim(b) == 1:
            return float(self.exact(np.asarray(a)[None], np.asarray(b)[None])[0, 0])
        return self.matrix(a, b)

    def distance(self, A: Matrix, B: Matrix) -> Any:
        """Return ‖φ(a_i) - φ(b_j)‖ in feature space, shape (n, m); a number for two single rows."""
        if np.ndim(A) == np.ndim(B) == 1:
            return float(self.distance(np.asarray(A)[None], np.asarray(B)[None])[0, 0])
        squared = self.exact_diagonal(A)[:, None] + self.exact_diagonal(B)[None, :] - 2.0 * self.exact(A, B)
        return np.sqrt(np.maximum(squared, 0.0))

    def nearest(self, A: Matrix, B: Matrix, n_neighbors: int = 1) -> tuple[FloatArray, IntArray]:
        """Find for every row of A the rows of B that are nearest in feature space.

        Parameters
        ----------
        A : array or CSR matrix, shape (n, d)
            Rows.
        B : array or CSR matrix, shape (m, d)
            Candidates.
        n_neighbors : int
            How many to find, at most m.

        Returns
        -------
        distances, indices : ndarray, shape (n, n_neighbors)
            In order of distance, ties by index.
        """
        first, second = self._rows(A, B)
        if not 1 <= n_neighbors <= second.shape[0]:
            msg = f"nearest: n_neighbors must be from 1 to the {second.shape[0]} rows of B, got {n_neighbors!r}"
            raise InputError(msg)
        found, away = [], []
        for rows in _cuts(first.shape[0], second.shape[0]):
            D = self.distance(first[rows], second)
            order = np.argsort(D, axis=1, kind="stable")[:, :n_neighbors]
            found.append(order)
            away.append(np.take_along_axis(D, order, axis=1))
        return np.concatenate(away), np.concatenate(found)

    def resolved(self, X: Matrix) -> "Kernel":
        """Return this kernel with every parameter that depends on data learnt from the rows X, shape (n, d)."""
        if self.is_resolved():
            return self
        return replace(self, **{name: part.resolved(X) for name, part in self.parts().items()})  # type: ignore[type-var]

    def is_resolved(self) -> bool:
        """Tell whether every parameter is known, none left to be learnt from data."""
        return all(part.is_resolved() for part in self.parts().values())

    def is_symmetric(self) -> bool:
        """Tell whether k(x, x') = k(x', x) is known to hold."""
        return all(part.is_symmetric() for part in self.parts().values())

    @property
    def is_precomputed(self) -> bool:
        """Whether rows are rows of a kernel matrix, not examples."""
        return any(part.is_precomputed for part in self.parts().values())

    def feature_map(self) -> Any:
        """Return the finite feature map of this kernel as a scikit-learn transformer, if it has one."""
        from halfspace.kernels.feature_maps import FeatureMap  # noqa: PLC0415  (features are made of kernels)

        return FeatureMap(self)

    def features(self, n_components: int = 100, method: str = "nystroem", random_state: Any = 0) -> Any:
        """Return a scikit-learn transformer whose inner products approximate this kernel.

        Parameters
        ----------
        n_components : int
            Number of features.
        method : {"nystroem", "fourier"}
            Coordinates in the span of randomly chosen rows, for any kernel; or random waves, for RBF and Laplacian.
        random_state : int or None
            Seed.
        """
        from halfspace.kernels.feature_maps import features  # noqa: PLC0415  (features are made of kernels)

        return features(self, n_components, method, random_state)

    # The algebra; each result is a kernel again and keeps the proof.
    def __add__(self, other: Any) -> "Kernel":
        if is_number(other):
            other = Value.kinds["Constant"](other)
        return Value.kinds["Sum"](self, other) if isinstance(other, Kernel) else NotImplemented

    __radd__ = __add__

    def __mul__(self, other: Any) -> "Kernel":
        if isinstance(other, Kernel):
            return Value.kinds["Product"](self, other)
        return Value.kinds["Scaled"](self, other) if is_number(other) else NotImplemented

    __rmul__ = __mul__

    def __pow__(self, exponent: int) -> "Kernel":
        return Value.kinds["Power"](self, exponent)

    def normalized(self) -> "Kernel":
        """Return k(x, x') / sqrt(k(x, x) k(x', x')): every row has length 1 in feature space."""
        return Value.kinds["Normalized"](self)

    def centered(self) -> "Kernel":
        """Return the kernel of φ(x) - mean φ, the mean over the rows given to `resolved`."""
        return Value.kinds["Centered"](self)

    def on(self, columns: Any) -> "Kernel":
        """Return the kernel of some columns only: their numbers, or a mask."""
        return Value.kinds["OnColumns"](self, columns)

    def on_scales(self, scale: str = "standard") -> "Kernel":
        """Return the kernel of columns that a curve each has scaled: "standard", "log" or "normal"; see `OnScales`."""
        return Value.kinds["OnScales"](self, scale)

    def coordinates(self, X: Any) -> Any:
        """Return the rows that the kernel sees, shape (n, D): those in which cells of the space are cut."""
        return X

    def after(self, transform: Any) -> "Kernel":
        """Return k(t(x), t(x')) for a map t of rows: a scikit-learn transformer or a function of a matrix."""
        return Value.kinds["Mapped"](self, transform)

    def _rows(self, A: Matrix, B: Matrix | None) -> tuple[Any, Any]:
        """Return both sets of rows, checked."""
        return checked_pair(A, B, type(self).__name__)

    def _pair(self, A: Matrix, B: Matrix | None) -> tuple[Any, Any]:
        """Return both sets of rows, checked and in float64, for a kernel whose parameters are known."""
        self._require_resolved()
        first, second = self._rows(A, B)
        if self.is_precomputed and self.parts() and first.shape[0] != first.shape[1]:
            msg = f"{self}: made of a precomputed kernel it needs a square matrix, got shape {first.shape}; compose matrices"
            raise InputError(msg)
        wide = doubled(first)
        return wide, wide if second is first else doubled(second)

    def _require_resolved(self) -> None:
        """Refuse to compute with parameters that are still to be learnt."""
        if not self.is_resolved():
            msg = f"{self!r} has parameters to be learnt from data; call resolved(X) first, or give numbers"
            raise InputError(msg)

    def _finite(self, out: Any) -> Any:
        """Refuse values that are too large for floating point."""
        if not (np.isfinite(out.min()) and np.isfinite(out.max())):
            msg = f"{self}: a value is too large for {out.dtype}; scale the rows down, or use a lower degree"
            raise InputError(msg)
        return out


def exact_values(kernel: Kernel, A: Any, B: Any) -> FloatArray:
    """Return the values of a part of a kernel as `exact` does."""
    return kernel.values(A, B)


def _cuts(n: int, m: int) -> list[slice]:
    """Cut n rows of m values into blocks."""
    step = max(1, BLOCK_VALUES // max(m, 1))
    return [slice(begin, min(begin + step, n)) for begin in range(0, n, step)]


def _fast_values(kernel: Any, A: Any, B: Any) -> Any:
    """Return the values of float64 rows, compiled where there is a compiled form."""
    from halfspace.kernels.fast import blocked_products as tiles  # noqa: PLC0415  (compiled code: never loaded by a checker)

    out = np.empty((A.shape[0], B.shape[0]))
    return out if tiles.fill(kernel, A, B, out) else kernel.composed(A, B, _fast_values)


def _fill_in_blocks(kernel: Any, A: Any, B: Any, out: Any) -> None:
    """Fill `out`, shape (n, m), with k(a_i, b_j); of a symmetric matrix only half is computed, the rest copied."""
    from halfspace.kernels.fast import blocked_products as tiles  # noqa: PLC0415  (compiled code: never loaded by a checker)

    if tiles.fill(kernel, A, B, out):
        return
    mirror = A is B and kernel.is_symmetric()
    wide, blocks = doubled(B), _cuts(*out.shape)

    def work(rows: slice) -> None:
        columns = slice(0, rows.stop) if mirror else slice(0, wide.shape[0])
        with np.errstate(all="ignore"):
            out[rows, columns] = kernel.composed(doubled(A[rows]), wide[columns], _fast_values)

    each(lambda k: work(blocks[k]), len(blocks), 1, len(blocks) << 20)
    if mirror:
        for rows in blocks:
            out[: rows.start, rows] = out[rows, : rows.start].T
            square = out[rows, rows]
            square[...] = np.tril(square) + np.tril(square, -1).T
