"""Kernels of changed rows: of some of their columns, or after a map."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from halfspace._typing import FloatArray, Matrix
from halfspace.errors import InputError
from halfspace.kernels.algebra import Composite, bracketed, check_kernel
from halfspace.kernels.base import Entries, Kernel
from halfspace.kernels.rows import checked, doubled

__all__ = ["Mapped", "OnColumns"]


@dataclass(frozen=True, eq=False)
class OnColumns(Composite):
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

    kernel: Kernel
    columns: Any

    def __post_init__(self) -> None:
        check_kernel(self.kernel, "OnColumns")
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
        return replace(self, kernel=self.kernel.resolved(self._pick(checked(X, "X", "OnColumns"))))

    def composed(self, A: Any, B: Any, of: Entries) -> FloatArray:
        """Return the values of the columns."""
        mine = self._pick(A)
        return of(self.kernel, mine, mine if A is B else self._pick(B))

    def own_values(self, A: Any) -> FloatArray:
        """Return the values of the columns for every row with itself."""
        return self.kernel.own_values(self._pick(A))

    def bounds(self, A: Any, B: Any) -> tuple[float, float]:
        """Return bounds on value and rounding."""
        mine = self._pick(A)
        return self.kernel.bounds(mine, mine if A is B else self._pick(B))

    def mapped(self, A: Any) -> FloatArray:
        """Return the features of the columns."""
        return self.kernel.mapped(self._pick(A))

    def reason(self) -> str | None:
        """Return the proof."""
        reason = self.kernel.reason()
        return f"a kernel of some columns is a kernel of all: {reason}" if reason else None

    def _pick(self, X: Any) -> Any:
        """Return the columns of X."""
        if max(self.columns) >= X.shape[1]:
            msg = f"OnColumns: column {max(self.columns)} wanted, but the rows have {X.shape[1]} columns, numbered from 0"
            raise InputError(msg)
        return X[:, list(self.columns)]


@dataclass(frozen=True, eq=False)
class Mapped(Composite):
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

    kernel: Kernel
    transform: Any

    def __post_init__(self) -> None:
        check_kernel(self.kernel, "Mapped")
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
        return replace(fitted, kernel=self.kernel.resolved(fitted._mapped(rows)))  # noqa: SLF001  (its own kind)

    def composed(self, A: Any, B: Any, of: Entries) -> FloatArray:
        """Return the values of the mapped rows."""
        mine = self._mapped(A)
        return of(self.kernel, mine, mine if A is B else self._mapped(B))

    def own_values(self, A: Any) -> FloatArray:
        """Return the values of the mapped rows with themselves."""
        return self.kernel.own_values(self._mapped(A))

    def bounds(self, A: Any, B: Any) -> tuple[float, float]:
        """Return bounds on value and rounding, taking the mapped rows to be what they are meant to be."""
        mine = self._mapped(A)
        return self.kernel.bounds(mine, mine if A is B else self._mapped(B))

    def mapped(self, A: Any) -> FloatArray:
        """Return the features of the mapped rows."""
        return self.kernel.mapped(self._mapped(A))

    def reason(self) -> str | None:
        """Return the proof."""
        reason = self.kernel.reason()
        return f"a kernel of mapped rows is a kernel of the rows: {reason}" if reason else None

    def _is_fitted(self) -> bool:
        """Tell whether the map can be applied."""
        if not hasattr(self.transform, "transform"):
            return True
        try:
            check_is_fitted(self.transform)
        except NotFittedError:
            return False
        return True

    def _mapped(self, X: Any) -> Any:
        """Return the mapped rows, checked and in float64."""
        apply = getattr(self.transform, "transform", self.transform)
        return doubled(checked(apply(X), "the mapped rows", "Mapped"))
