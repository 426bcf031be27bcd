"""Kernels made of one kernel: its features moved to length 1 or to mean 0, or its rows changed before it sees them."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from halfspace._typing import FloatArray, Matrix
from halfspace.errors import InputError
from halfspace.kernels.algebra import Composite, bracketed
from halfspace.kernels.base import Entries, Kernel
from halfspace.kernels.products import EPS, checked, doubled
from halfspace.kernels.values import frozen

__all__ = ["Centered", "Mapped", "Normalized", "OfOtherRows", "OnColumns"]


@dataclass(frozen=True, eq=False)
class Normalized(Composite):
    """k(x, x') / sqrt(k(x, x) k(x', x')): the cosine in feature space; 0 where k(x, x) is.

    Parameters
    ----------
    kernel : Kernel
        What is normalised.

    Examples
    --------
    >>> from halfspace.kernels import Polynomial
    >>> Polynomial(2).normalized()([1.0, 0.0], [3.0, 4.0])
    0.36
    """

    because: ClassVar[str] = "dividing by lengths in feature space keeps a kernel one"

    kernel: Kernel

    def __str__(self) -> str:
        return f"normalized({self.kernel})"

    def composed(self, A: Any, B: Any, of: Entries) -> FloatArray:
        """Return the values divided by both lengths."""
        mine = self._inverse_lengths(A)
        out = of(self.kernel, A, B)
        out *= mine[:, None]
        out *= mine if A is B else self._inverse_lengths(B)
        return out

    def own_values(self, A: Any) -> FloatArray:
        """Return 1 for every row that is not 0 in feature space."""
        return np.where(self._inverse_lengths(A) > 0.0, 1.0, 0.0)

    def bounds(self, A: Any, B: Any) -> tuple[float, float]:
        """Return bounds on value and rounding, both from the shortest row in feature space."""
        least = min(own[own != 0.0].min(initial=np.inf) for own in map(self.kernel.own_values, (A, B)))
        error = max(self.kernel.bounds(*pair)[1] for pair in ((A, B), (A, A), (B, B)))
        size = 1.0 if self.kernel.reason() else self.kernel.bounds(A, B)[0] / least
        relative = error / least if least > 0.0 else np.inf
        return size, np.inf if relative > 0.25 else 2.0 * relative * (1.0 + size) + 8 * EPS * size

    def mapped(self, A: Any) -> FloatArray:
        """Return the features divided by their length."""
        return self.kernel.mapped(A) * self._inverse_lengths(A)[:, None]

    def _inverse_lengths(self, A: Any) -> FloatArray:
        """Return 1/sqrt(k(a_i, a_i)), 0 where there is no length."""
        own = self.kernel.own_values(A)
        return np.where(own > 0.0, 1.0 / np.sqrt(np.where(own > 0.0, own, 1.0)), 0.0)


@dataclass(frozen=True, eq=False)
class Centered(Composite):
    """The kernel of φ(x) - mean φ, the mean over reference rows: k(x, x') - m(x) - m(x') + mean of m, m(x) = mean k(x, ·).

    A value with a new row takes one kernel value with every reference row; the value keeps a copy of those rows (and so does
    its plain form in a file).

    Parameters
    ----------
    kernel : Kernel
        What is centred.
    reference : array or CSR matrix, shape (r, d), optional
        Reference rows; learnt by `resolved(X)`, which takes X.

    Examples
    --------
    >>> from halfspace.kernels import Linear
    >>> X = np.array([[1.0], [3.0]])
    >>> Linear().centered().resolved(X)([2.0], [7.0]), Linear().centered().resolved(X).exact(X).sum()
    (0.0, np.float64(0.0))
    """

    because: ClassVar[str] = "it is the inner product of features minus their mean"

    kernel: Kernel
    reference: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reference is not None:
            object.__setattr__(self, "reference", frozen(checked(self.reference, "reference", "Centered")))

    def __str__(self) -> str:
        return f"centered({self.kernel})"

    def is_resolved(self) -> bool:
        """Tell whether the reference rows are known."""
        return self.reference is not None and self.kernel.is_resolved()

    def resolved(self, X: Matrix) -> Kernel:
        """Return the kernel with X as its reference rows, if it has none yet."""
        if self.is_resolved():
            return self
        return replace(self, kernel=self.kernel.resolved(X), reference=X if self.reference is None else self.reference)

    def composed(self, A: Any, B: Any, of: Entries) -> FloatArray:
        """Return the centred values."""
        mine = self._means(A)
        out = of(self.kernel, A, B)
        out -= mine[:, None] + (mine if A is B else self._means(B))
        out += self._mean
        return out

    def matrix(self, A: Matrix, B: Matrix | None = None, *, dtype: Any = None) -> Any:
        """Return the centred values, the means of every row taken once."""
        first, second = self._rows(A, B)
        single = first.dtype == second.dtype == np.float32
        out = self.kernel.matrix(A, B, dtype=np.float64)
        mine = self._means(doubled(first))
        out -= mine[:, None] + (mine if first is second else self._means(doubled(second)))
        out += self._mean
        if first is second:
            np.fill_diagonal(out, self.own_values(doubled(first)))
        return out.astype(dtype or (np.float32 if single else np.float64), copy=False)

    def own_values(self, A: Any) -> FloatArray:
        """Return the centred squares of lengths."""
        return self.kernel.own_values(A) - 2.0 * self._means(A) + self._mean

    def bounds(self, A: Any, B: Any) -> tuple[float, float]:
        """Return bounds on value and rounding."""
        R = doubled(self.reference)
        found = [self.kernel.bounds(*pair) for pair in ((A, B), (A, R), (R, B), (R, R))]
        size, error = sum(s for s, _ in found), sum(e for _, e in found)
        return size, error + 2 * (R.shape[0] + 8) * EPS * (size + error)

    def mapped(self, A: Any) -> FloatArray:
        """Return the features minus their mean over the reference rows."""
        return self.kernel.mapped(A) - self.kernel.mapped(doubled(self.reference)).mean(axis=0)

    @cached_property
    def _mean(self) -> float:
        """The mean of k over all pairs of reference rows."""
        return float(self._means(doubled(self.reference)).mean())

    def _means(self, A: Any) -> FloatArray:
        """Return the mean of k(a_i, ·) over the reference rows, in blocks."""
        R = doubled(self.reference)
        if A.shape[1] != R.shape[1]:
            msg = f"Centered: its reference rows have {R.shape[1]} columns, these rows have {A.shape[1]}"
            raise InputError(msg)
        step = max(1, (1 << 22) // R.shape[0])
        parts = [self.kernel.values(A[i : i + step], R).mean(axis=1) for i in range(0, A.shape[0], step)]
        means: FloatArray = np.concatenate(parts)
        return means


class OfOtherRows(Composite):
    """A kernel of rows that were changed, by `_changed`, before it sees them."""

    kernel: Kernel

    def _changed(self, X: Any) -> Any:
        """Return the rows that the kernel sees, in float64."""
        raise NotImplementedError

    def composed(self, A: Any, B: Any, of: Entries) -> FloatArray:
        """Return the values of the changed rows."""
        mine = self._changed(A)
        return of(self.kernel, mine, mine if A is B else self._changed(B))

    def own_values(self, A: Any) -> FloatArray:
        """Return the values of the changed rows with themselves."""
        return self.kernel.own_values(self._changed(A))

    def bounds(self, A: Any, B: Any) -> tuple[float, float]:
        """Return bounds on value and rounding, taking the changed rows to be what they are meant to be."""
        mine = self._changed(A)
        return self.kernel.bounds(mine, mine if A is B else self._changed(B))

    def mapped(self, A: Any) -> FloatArray:
        """Return the features of the changed rows."""
        return self.kernel.mapped(self._changed(A))


@dataclass(frozen=True, eq=False)
class OnColumns(OfOtherRows):
    """A kernel of some columns of the rows.

    Parameters
    ----------
    kernel : Kernel
        What is computed from these columns.
    columns : sequence of int, or mask
        Their numbers, from 0; kept as a tuple.

    Examples
    --------
    >>> from halfspace.kernels import Linear, RBF
    >>> print(Linear().on([0, 1]) + RBF(1.0).on([2]))
    x·x' on columns 0, 1 + exp(-‖x - x'‖²) on columns 2
    """

    because: ClassVar[str] = "a kernel of some columns is a kernel of all"

    kernel: Kernel
    columns: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        given = np.atleast_1d(np.asarray(self.columns))
        numbers = np.flatnonzero(given) if given.dtype == bool else given
        if numbers.ndim != 1 or numbers.size == 0 or numbers.dtype.kind not in "iu" or (numbers < 0).any():
            msg = f"OnColumns: column numbers >= 0 or a mask expected, at least one column, got {self.columns!r}"
            raise InputError(msg)
        object.__setattr__(self, "columns", tuple(numbers.tolist()))

    def __str__(self) -> str:
        return f"{bracketed(self.kernel)} on columns {', '.join(map(str, self.columns))}"

    def resolved(self, X: Matrix) -> Kernel:
        """Return the kernel with what it learns from its columns of X."""
        return replace(self, kernel=self.kernel.resolved(self._changed(checked(X, "X", "OnColumns"))))

    def _changed(self, X: Any) -> Any:
        """Return the columns of X."""
        if max(self.columns) >= X.shape[1]:
            msg = f"OnColumns: column {max(self.columns)} wanted, but the rows have {X.shape[1]} columns, numbered from 0"
            raise InputError(msg)
        return X[:, list(self.columns)]


@dataclass(frozen=True, eq=False)
class Mapped(OfOtherRows):
    """k(t(x), t(x')): a kernel of the rows after a map.

    Parameters
    ----------
    kernel : Kernel
        What is computed from the mapped rows.
    transform : transformer or callable
        A scikit-learn transformer (one that is not fitted yet is copied and fitted by `resolved(X)`), or a function from
        rows, shape (n, d), to rows, shape (n, D).

    Examples
    --------
    >>> from halfspace.kernels import Linear
    >>> Linear().after(np.abs)([-1.0, 2.0], [1.0, 2.0])
    5.0
    """

    because: ClassVar[str] = "a kernel of mapped rows is a kernel of the rows"

    kernel: Kernel
    transform: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (callable(self.transform) or hasattr(self.transform, "transform")):
            msg = f"Mapped: a scikit-learn transformer or a function of a matrix expected, got {self.transform!r}"
            raise InputError(msg)

    def __str__(self) -> str:
        name = getattr(self.transform, "__name__", type(self.transform).__name__)
        return f"{bracketed(self.kernel)} after {name}"

    def is_resolved(self) -> bool:
        """Tell whether map and kernel are fitted."""
        return self.kernel.is_resolved() and self._is_fitted()

    def resolved(self, X: Matrix) -> Kernel:
        """Return the kernel with its map and what follows it fitted to X."""
        rows = checked(X, "X", "Mapped")
        fitted = self if self._is_fitted() else replace(self, transform=clone(self.transform).fit(rows))
        return replace(fitted, kernel=self.kernel.resolved(fitted._changed(rows)))  # noqa: SLF001  (its own kind)

    def _is_fitted(self) -> bool:
        """Tell whether the map can be applied."""
        if not hasattr(self.transform, "transform"):
            return True
        try:
            check_is_fitted(self.transform)
        except NotFittedError:
            return False
        return True

    def _changed(self, X: Any) -> Any:
        """Return the mapped rows, checked and in float64."""
        apply = getattr(self.transform, "transform", self.transform)
        return doubled(checked(apply(X), "the mapped rows", "Mapped"))
