"""What kernel ridge machines share: from targets to functions of a kernel, in cells if there are many examples, with proof."""

import time
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.certificates.expansion import indefiniteness
from halfspace.certificates.regression.kernel_ridge import KernelRidgeCells, KernelRidgeGap
from halfspace.errors import InputError
from halfspace.kernels import Kernel
from halfspace.kernels.gram import VALUES
from halfspace.kernels.products import doubled
from halfspace.models.certified import Certified
from halfspace.models.kernel.cells import Cells, borrow, cut
from halfspace.models.kernel.prediction import Expansion
from halfspace.models.parameters import check_common, require
from halfspace.models.regression.base import Regression, RegressionMixin, read_regression
from halfspace.rows.operations import distinct_rows
from halfspace.rows.threads import alone, side_by_side
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.regression.kernel_ridge import KernelFit, kernel_ridge

__all__ = ["DECOMPOSED", "KernelRidgeModel"]

DECOMPOSED, SOLVED, BEGUN = 2e-10, 4e-10, 3e-3
"""Seconds for an eigendecomposition and for a solution with its proof, over the cube of the rows; and to begin with a cell."""
TARGETS = 4.0
"""Examples that take as long to solve for as one target more."""
SMALL, FEWEST = 250, 50
"""Examples that a cell has at least for want of time, and those of the smallest sample and of the smallest cell."""


class KernelRidgeModel(Certified, RegressionMixin, BaseEstimator):
    """A machine made of functions of a kernel, fitted to targets by ridge; how its kernel is found is up to the class.

    A class says so in four methods: `_plan` (what to choose from), `_searching` (seconds that takes), `_search` and
    `_explained`.
    """

    learnt: ClassVar[dict[str, Any]] = {
        "ridge_": "number",
        "left_out_": "f8(n) | f8(n,K)",
        "_fitted_clamp": "finite",
        "_expansion": Expansion,
        "_cells": Cells | None,
    }

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse functions, or cells of them, that cannot be computed, and numbers of one target beside several functions."""
        expansion, cells = fitted["_expansion"], fitted["_cells"]
        expansion.check(sizes["d"])
        if cells is not None:
            cells.check(expansion.rows.size)
        if fitted["left_out_"].ndim == 1 and expansion.coefficients.shape[0] != 1:
            msg = f"{cls.__name__}: its numbers are not one for each target"
            raise ValueError(msg)

    borrowed: ClassVar[float] = 0.0
    """The machine of a cell knows also so many examples of other cells, relative to its own, those next to the border."""

    kernel_rows: int
    max_time: float | None
    n_jobs: int | None
    random_state: Any
    ridge_: float
    left_out_: FloatArray

    def _plan(self, data: Regression) -> Any:
        """Return what there is to choose from."""
        raise NotImplementedError

    def _searching(self, plan: Any, r: int, matrix: float) -> float:
        """Return the seconds that a search takes on r examples, whose kernel matrix takes `matrix` seconds."""
        raise NotImplementedError

    def _search(self, data: Regression, rows: IntArray, plan: Any, rng: Any, began: float) -> Kernel:
        """Choose the ridge (`ridge_`), and return the kernel, by what they do on some rows."""
        raise NotImplementedError

    def _explained(self, plan: Any, cells: int) -> Outcome:
        """Say how kernel and ridge were chosen, and what was solved."""
        raise NotImplementedError

    def _cell_share(self, share: float) -> float:
        """Return the size of a cell relative to the largest machine, which may know such a share of the examples."""
        return 1.0

    def _divisible(self, plan: Any) -> bool:
        """Tell whether the examples can be cut into cells."""
        return True

    def _check_rows(self) -> None:
        """Refuse what cannot be used among the parameters that all have."""
        check_common(self)
        rows = self.kernel_rows
        whole = isinstance(rows, int | np.integer) and not isinstance(rows, bool)
        require(self, "kernel_rows", "a whole number of at least 10", holds=whole and rows >= 10)

    def _learn(self, X: Matrix, y: Any, sample_weight: Any, began: float) -> None:
        """Choose a kernel and a ridge for targets y, (n,) or (n, m), and fit functions to them."""
        data = read_regression(self, X, y, sample_weight)
        plan = self._plan(data)
        used = np.flatnonzero(data.design.s)
        if used.size < 2:
            msg = f"{type(self).__name__} leaves examples out to judge them, so it needs at least 2; n_samples = {used.size}."
            raise InputError(msg)
        rng = check_random_state(self.random_state)
        everyone, (learnt, most) = used.size, self._affordable(used.size, data, plan, began)
        if learnt < everyone:
            used = np.sort(rng.choice(used, learnt, replace=False))
            weights = np.zeros(data.Y.shape[0])
            weights[used] = data.design.s[used]
            data = read_regression(self, X, y, weights)
        rows = used
        if used.size > most:
            if not self._divisible(plan):
                name = type(self).__name__
                msg = f"{name}: a precomputed kernel of {used.size:,} rows cannot be cut into cells. Raise kernel_rows."
                raise InputError(msg)
            rows = np.sort(rng.choice(used, most, replace=False))
        kernel = self._search(data, rows, plan, rng, began)
        seed = int(rng.randint(1 << 30))
        by_cell, centres, borrowed = [used], None, [used[:0]]
        if used.size > most:
            mean = max(8, int(most * self._cell_share(most / used.size)))  # examples of a cell
            places = kernel.coordinates(data.X[used])
            centres, found = cut(places, -(-used.size // mean), seed, least=min(FEWEST, mean // 4))
            by_cell = np.split(used[np.argsort(found, kind="stable")], np.cumsum(np.bincount(found))[:-1])
            borrowed = [used[others] for others in borrow(places, centres, found, self.borrowed)]
        self._solve(data, kernel, (by_cell, borrowed), centres)
        outcome = self._explained(plan, len(by_cell))
        if learnt < everyone:
            sample = f"Learnt from a sample of {learnt:,} of {everyone:,} examples: max_time={self.max_time:g} allows no more."
            outcome = Outcome("time budget spent", f"{sample} {outcome.sentence}", "Raise max_time.")
        self.outcome_ = outcome

    def _affordable(self, n: int, data: Regression, plan: Any, began: float) -> tuple[int, int]:
        """Return of how many of n examples to learn, and how many a function may know: n and `kernel_rows`, or what fits.

        Cells become smaller first, as long as they have SMALL examples; then a sample is drawn.
        """
        most = int(self.kernel_rows)
        if self.max_time is None:
            return n, most
        left = began + float(self.max_time) - time.perf_counter()
        X, targets = data.X, data.Y.shape[1]
        entries = getattr(X, "nnz", X.size) / X.shape[0]

        def seconds(n: int, r: int) -> float:
            matrix, cells = r * r * (2.0 + entries / 32) / VALUES, -(-n // r)
            cutting = 4e-9 * n * cells * X.shape[1] if cells > 1 else 0.0
            return float(
                self._searching(plan, r, matrix)
                + cells * (3.0 * matrix + SOLVED * r * r * (r + TARGETS * (targets - 1)) + BEGUN)
                + cutting
            )

        wanted = [r for k in range(40) if (r := int(most * 0.8**k)) >= min(most, FEWEST)]
        for r in wanted if self._divisible(plan) else wanted[:1]:
            if (r >= min(SMALL, most) or r >= n) and seconds(n, min(r, n)) <= left:
                return n, r
        return next((r for r in wanted if r <= n and seconds(r, r) <= left), min(n, FEWEST)), most

    def _matrix(self, data: Regression, kernel: Kernel, rows: IntArray) -> tuple[FloatArray, IntArray]:
        """Return the kernel matrix of the different ones among some rows (r,), shape (u, u), and which each is, shape (r,)."""
        of = np.arange(rows.size)
        if kernel.is_precomputed:
            K = np.array(data.X[np.ix_(rows, rows)], dtype=np.float64)
        else:
            first, of = distinct_rows(data.X[rows])
            K = kernel.matrix(data.X[rows[first]], dtype=np.float64)
        return np.asarray(K + data.design.clamp**2) if data.design.clamp else K, of

    def _solve(
        self, data: Regression, kernel: Kernel, rows_of: tuple[list[IntArray], list[IntArray]], centres: FloatArray | None
    ) -> None:
        """Fit a function to the rows of every cell and those it borrows, and keep what predicts and the proof."""
        (by_cell, borrowed), (n, m), s = rows_of, data.Y.shape, data.design.s
        objection = indefiniteness(kernel, data.X)[1] if centres is None else None
        if objection is not None:
            msg = f"{type(self).__name__}: {objection}"
            raise InputError(msg)

        def solve(rows: IntArray) -> tuple[KernelFit, KernelRidgeGap]:
            with alone():
                K, of = self._matrix(data, kernel, rows)
                fit = kernel_ridge(K, data.Y[rows], s[rows], of, self.ridge_, free=data.free)
                del K
                return fit, self._proof(data, kernel, rows if centres is not None else None, fit)

        known = [np.sort(np.concatenate(pair)) for pair in zip(by_cell, borrowed, strict=True)]
        fits, proofs = zip(*side_by_side(solve, known, self.n_jobs), strict=True)
        residuals, cells = np.zeros((m, n)), np.full(n, -1)
        for k, (rows, own, fit) in enumerate(zip(known, by_cell, fits, strict=True)):
            residuals[:, own], cells[own] = fit.left_out[:, np.searchsorted(rows, own)], k
        left_out = np.where(s > 0.0, data.Y.T - residuals, np.nan)
        self.left_out_ = left_out[0] if data.single else np.ascontiguousarray(left_out.T)
        support, rows, clamp = doubled(data.X), np.arange(n), data.design.clamp
        self._fitted_clamp, self._cells = clamp, None
        if centres is None:
            self.certificate_: Any = proofs[0]
            bias = fits[0].constants + clamp**2 * proofs[0].coefficients.sum(axis=1)
            self._expansion = Expansion(kernel, support, rows, proofs[0].coefficients, bias)
            return
        columns, lent, claims = by_cell, np.concatenate(borrowed), {}
        if lent.size:  # an example stands once for every machine that knows it
            rows, ends = np.concatenate(known), np.cumsum([0, *(mine.size for mine in known)])
            support, columns = support[rows], [np.arange(*pair) for pair in pairwise(ends)]
            error = (s * residuals**2).sum(axis=1) / s.sum()
            claims = {
                "borrowed": lent,
                "borrowers": np.repeat(np.arange(len(known)), [r.size for r in borrowed]),
                "own_error": error,
            }
        coefficients = np.zeros((m, rows.size))
        for mine, fit in zip(columns, fits, strict=True):
            coefficients[:, mine] = fit.coefficients
        bias = np.stack([fit.constants + clamp**2 * fit.coefficients.sum(axis=1) for fit in fits])
        self._expansion = Expansion(kernel, support, rows, coefficients, np.full(m, np.nan))
        self._cells = Cells(centres, columns, bias, np.ones((len(known), m), dtype=bool))
        self.certificate_ = KernelRidgeCells(centres, cells, proofs, data.sample_weight, **claims)

    def _proof(self, data: Regression, kernel: Kernel, rows: IntArray | None, fit: KernelFit) -> KernelRidgeGap:
        """Return the proof of the function of some rows, or of all, of which those without weight have no coefficient."""
        some, s = np.flatnonzero(data.design.s) if rows is None else rows, data.design.s
        coefficients = fit.coefficients
        if rows is None:
            coefficients = np.zeros((data.Y.shape[1], data.Y.shape[0]))
            coefficients[:, some] = fit.coefficients
        weights = data.sample_weight if rows is None or data.sample_weight is None else s[rows]
        return KernelRidgeGap.measure(
            data.X if rows is None else data.X[rows],
            data.Y if rows is None else data.Y[rows],
            kernel=kernel,
            coefficients=coefficients,
            ridge=self.ridge_,
            constants=fit.constants if data.free else None,
            clamp=data.design.clamp,
            sample_weight=weights,
            left_out_error=(s[some] * fit.left_out**2).sum(axis=1) / s[some].sum(),
        )

    def _outputs(self, X: Matrix) -> FloatArray:
        """Return the outputs for rows of X, shape (n, m)."""
        X = self._read(X)
        if self._cells is None:
            return self._expansion.outputs(X)
        return self._cells.outputs(self._expansion, X, self._expansion.kernel.coordinates(X))

    @property
    def _single(self) -> bool:
        """Whether there is one target, without a second axis."""
        return bool(self.left_out_.ndim == 1)

    @property
    def kernel_(self) -> Kernel:
        """The kernel, every parameter a number."""
        check_is_fitted(self)
        return self._expansion.kernel

    @property
    def dual_coef_(self) -> FloatArray:
        """Coefficients of the examples, shape (n,) or (m, n); if cells borrow, of those each knows, cell after cell."""
        check_is_fitted(self)
        return (self._expansion.coefficients[0] if self._single else self._expansion.coefficients).copy()

    @property
    def intercept_(self) -> Any:
        """Constant, a float or shape (m,); with cells one row for each, shape (cells, m)."""
        check_is_fitted(self)
        if self._cells is not None:
            return self._cells.bias.copy()
        return float(self._expansion.bias[0]) if self._single else self._expansion.bias.copy()

    @property
    def left_out_error_(self) -> Any:
        """Mean squared error of the predictions `left_out_`, a float or shape (m,)."""
        check_is_fitted(self)
        found: FloatArray = self.certificate_.left_out_error
        return float(found[0]) if self._single else found
