"""Outputs of kernel machines that are many: one per pair of classes, which vote, or one per cell of the space."""

from itertools import combinations
from typing import Any

import numpy as np

from halfspace._typing import FloatArray, Matrix
from halfspace.certificates import Certificate
from halfspace.errors import InputError
from halfspace.kernels import Kernel
from halfspace.models.kernel.cells import Cells
from halfspace.models.kernel.prediction import KernelPlaneMixin
from halfspace.models.multiclass import support_table
from halfspace.models.parameters import Examples, require, usable_rows

__all__ = ["RoutedMixin", "refuse_extreme"]

EXTREME = 1e18
"""Largest value of a kernel on the examples, and 1 over the smallest that the largest may be: squares fit single precision."""


class RoutedMixin(KernelPlaneMixin):
    """A kernel model whose answer is one expansion, or one per pair of classes, or one per cell."""

    C: float
    n_cells: int | None
    multi_class: str
    solver: str
    cache_size: float
    certificate_: Certificate
    _cells: Cells | None
    _voting: bool

    def _check_large(self) -> None:
        """Refuse what cannot be used among the parameters for many examples."""
        require(self, "n_cells", "a positive integer, or None", holds=self.n_cells is None or _is_count(self.n_cells))
        if self.n_cells is not None:
            require(self, "multi_class", "'ovr' with n_cells", holds=self.multi_class == "ovr")

    def _proved_kernel(self, X: Matrix) -> tuple[Kernel, float]:
        kernel, shift = super()._proved_kernel(X)
        refuse_extreme(kernel, X, type(self).__name__)
        return kernel, shift

    def _refuse_large(self, data: Examples) -> None:
        """Refuse what cannot fit the stated memory, and say what to do."""
        n, d = data.X.shape
        needed = 8e-6 * n * n if self.solver == "sweep" else 12e-6 * n  # megabytes
        if needed > self.cache_size:
            msg = (
                f"{type(self).__name__}: {n:,} x {d:,} examples need about {needed:,.0f} MB, but "
                f"cache_size={self.cache_size:g} MB. Raise cache_size, use solver='auto', n_cells=..., "
                "fewer rows, make_pipeline(Nystroem(...), AdaTron()), or KernelPerceptron(budget=...)."
            )
            raise InputError(msg)

    def _scores(self, X: Matrix) -> FloatArray:
        if self._cells is not None:
            usable_rows(X, 0.0, type(self).__name__)
            return self._cells.outputs(self._expansion, X)
        scores = super()._scores(X)
        return _votes(scores, self.classes_.size) if self._voting else scores

    def support_table(self, *, everyone: bool = False) -> Any:
        """List the support vectors: row, label, strength, stability, slack and role (with more than two classes: class).

        Parameters
        ----------
        everyone : bool, default False
            List the examples of strength 0 too.

        Returns
        -------
        DataFrame or structured array
            Of the last `fit`; a structured array where pandas is not installed. With `multi_class="ovo"` the column "class"
            names the pair, and lists the examples of its two classes.

        Examples
        --------
        >>> import numpy as np, halfspace as hs
        >>> X, y = np.array([[1.0], [2.0], [-1.0]]), np.array([1, 1, 0])
        >>> table = hs.KernelAdaTron("linear", C=10.0, tol=1e-9).fit(X, y).support_table()
        >>> table["row"].tolist(), table["role"].tolist()
        ([0, 2], ['free', 'free'])
        """
        alpha = self._known()[1]
        if self._cells is not None:
            msg = f"{type(self).__name__}.support_table is about one machine, but this model has one per cell; see alpha_"
            raise AttributeError(msg)
        if not self._voting:
            return super().support_table(everyone=everyone)
        names = [f"{a} or {b}" for a, b in combinations(self.classes_.tolist(), 2)]
        table = support_table(alpha, self._potentials, self._lengths, self._caps, self._labels, names, everyone=everyone)
        return table[~np.isnan(np.asarray(table["slack"]))]


def refuse_extreme(kernel: Kernel, X: Matrix, owner: str) -> None:
    """Refuse kernel values that single precision cannot hold."""
    largest = float((X.diagonal() if kernel.is_precomputed else kernel.exact_diagonal(X)).max())
    if largest != 0.0 and not 1.0 / EXTREME <= largest <= EXTREME:
        msg = (
            f"{owner}: the largest value of the kernel {kernel} on these rows is {largest:.3g}, but from {1 / EXTREME:g} "
            f"to {EXTREME:g} is expected. Scale the features, e.g. with StandardScaler, or the kernel."
        )
        raise InputError(msg)


def _is_count(value: Any) -> bool:
    """Tell whether this is a whole number above 0."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) > 0


def _votes(scores: FloatArray, classes: int) -> FloatArray:
    """Turn the outputs of all pairs of classes into one number per class: its votes, ties broken by the sum of outputs."""
    pairs = np.array(list(combinations(range(classes), 2)))
    every = np.arange(classes)
    second, first = (pairs[:, 1:] == every).astype(float), (pairs[:, :1] == every).astype(float)
    won = (scores > 0).astype(float)
    total = scores @ (second - first)
    decided: FloatArray = won @ second + (1.0 - won) @ first + total / (3.0 * (np.abs(total) + 1.0))
    return decided
