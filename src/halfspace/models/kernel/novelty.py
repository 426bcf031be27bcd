"""Novel or typical: the plane of maximal stability from the origin, and p-values by rows set apart."""

import time
import warnings
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse, stats
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import check_random_state
from sklearn.utils.sparsefuncs import min_max_axis
from sklearn.utils.validation import check_is_fitted

from halfspace._memory import room
from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.certificates.arithmetic import EPS, columns_scaled
from halfspace.certificates.expansion import indefiniteness, scales
from halfspace.certificates.margins.bracket import SLACK
from halfspace.certificates.novelty import OneClassGap, allowed, needed, own_part
from halfspace.errors import FewRowsWarning, InputError
from halfspace.kernels import Kernel, as_kernel
from halfspace.kernels.gram import VALUES, LazyGram
from halfspace.kernels.parameters import GammaKernel
from halfspace.kernels.products import doubled, squared_distances
from halfspace.models.certified import Certified
from halfspace.models.kernel.margin import SQUARE_BYTES
from halfspace.models.kernel.prediction import Expansion
from halfspace.models.multiclass import report_outcome
from halfspace.models.parameters import (
    UNLABELLED,
    budget_of,
    check_common,
    is_count,
    is_ready,
    read_matrix,
    require,
    require_number,
    require_switch,
    restored_on_error,
    usable_rows,
)
from halfspace.models.progress import Reporter
from halfspace.solvers.kernel.one_class import OneClassAnswer, OneClassMachine, OneClassState, one_class
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.run import Budget, Progress, Run, run

__all__ = ["Drift", "Novelty"]

LEAST = 20
"""Rows that are learnt from at least, where rows are few."""
NEAREST, SAMPLE = 5, 500
"""gamma="near" looks at the distance to this neighbour, among so many rows."""
SHARE = 0.25
"""Part of the time limit for which kernel values of all pairs may be computed."""
NO_PLANE = 0.5
"""With a relative gap of over this no plane was found that has the rows on one side and the origin on the other."""
RARE = 0.01
"""More novel rows than promised are called drift if so many have at most this chance."""


class Drift(NamedTuple):
    """How many rows of a batch are called novel, and what the chance is of that many if they are like the past.

    Attributes
    ----------
    rows, novel : int
        Rows of the batch, and those called novel.
    promised : float
        Share of rows like the past that is called novel at most.
    p_value : float
        Chance of `novel` or more among `rows` that are like the past, exactly: the number of novel rows has a beta-binomial
        distribution, because the threshold is itself a score of one of finitely many rows.

    Examples
    --------
    >>> print(Drift(500, 37, 0.01, 2.5e-9))
    37 of 500 rows (7.4 %) look unlike the rows learnt from, where 1 % is promised; the chance of so many is 2.5e-09.
    >>> print(Drift(500, 4, 0.01, 0.7))
    4 of 500 rows (0.8 %) look unlike the rows learnt from; 1 % is promised, so there is no sign of drift.
    """

    rows: int
    novel: int
    promised: float
    p_value: float

    @property
    def found(self) -> bool:
        """Whether so many have a chance of at most 1 %."""
        return self.p_value <= RARE

    def __str__(self) -> str:
        if self.promised == 0.0:
            return "Too few rows were set apart to call any row novel at this level."
        text = f"{self.novel:,} of {self.rows:,} rows ({100.0 * self.novel / self.rows:.3g} %) look unlike the rows learnt from"
        share = f"{100.0 * self.promised:.3g} % is promised"
        if self.found:
            return f"{text}, where {share}; the chance of so many is {self.p_value:.2g}."
        return f"{text}; {share}, so there is no sign of drift."


class _Parts(NamedTuple):
    """Rows to learn from and rows set apart, by number, and what both were multiplied by."""

    learnt: IntArray
    apart: IntArray
    scale: FloatArray | None


class Novelty(Certified, OutlierMixin, BaseEstimator):
    """Novel or typical: the plane of maximal stability from the origin in a kernel's space, its threshold set with a guarantee.

    The one-class AdaTron learns f, which is high where rows are dense: the optimum is that of `sklearn.svm.OneClassSVM`. Rows
    that were set apart by chance and had no part in f are scored by it, and a new row's p-value is its place among them,
    (1 + #{scores <= f(x)})/(m + 1).

    Guarantee: of rows drawn from the same source as those given to `fit` (exchangeable with them), at most a share `level` is
    called novel, whatever the source, the kernel and nu, and however good f is; that is on average over the draws of the rows
    set apart, and for one fit the share is Beta(k, m + 1 - k) distributed, k = floor(level (m + 1)). No promise is made about
    how many novel rows are found. Rows set apart are given this role alone because the guarantee is then exact. Folds
    (cross-conformal, jackknife+) would learn from all rows, but promise twice the level at best, cost a machine per fold, and
    leave no exact test of drift.

    Parameters
    ----------
    kernel : str, Kernel or callable, default "rbf"
        As for `KernelAdaTron`.
    gamma : float, "near", "scale", "auto" or "median", default "near"
        Of the kernels named by a word. "near": 1 over the median squared distance of a row to the fifth nearest, in a sample of
        500 (kernels without a width: "scale").
    degree, coef0 : int, float
        Of "poly" (and "sigmoid").
    nu : float, default 0.1
        At most this share of the rows learnt from is below the plane. It has no part in the guarantee.
    level : float, default 0.01
        Rows with a p-value of at most this are called novel. Needs ceil(1/level) - 1 rows set apart.
    scale : bool, default True
        Divide every column by its range over the rows learnt from, the largest value less the smallest.
    tol : float, default 1e-3
        Relative duality gap at which to stop.
    kernel_rows : int, default 4000
        Most rows that are learnt from; of more, a sample.
    calibration_rows : int, default 4999
        Most rows that are set apart; of fewer than twice as many rows, half, if that is enough for the level.
    max_iter : int, default 10000
        Maximum number of rounds.
    max_time : float, optional
        Time limit in seconds; fewer rows are taken if all would take longer by prediction.
    verbose : int, default 0
        1: a line every half second; 2: a line every round.
    random_state : int, RandomState or None, default 0
        Seed of the rows set apart and of the samples.

    Attributes
    ----------
    certificate_ : OneClassGap
        Both sides of ½‖w*‖², the rows set apart with their scores, and the threshold; `verify(X)` recomputes them.
    outcome_ : Outcome
        Why the fit stopped, and a remedy.
    offset_ : float
        Threshold of the scores: rows below it are called novel. -inf if too few rows were set apart.
    calibration_scores_ : ndarray, shape (m,)
        Scores of the rows set apart, from the lowest up.
    scale_ : ndarray, shape (d,), or None
        What every column is multiplied by.
    kernel_, support_, support_vectors_, dual_coef_
        The kernel with every parameter a number; rows of positive strength, by number and (scaled) values; their strengths.
    history_, n_iter_, n_features_in_, feature_names_in_
        As for `KernelAdaTron`.

    Examples
    --------
    >>> import numpy as np, halfspace as hs
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = hs.Novelty().fit(X)
    >>> model.predict([[0.0, 0.0], [5.0, 5.0]]).tolist(), model.p_values([[0.0, 0.0], [5.0, 5.0]]).tolist()
    ([1, -1], [0.77, 0.005])
    >>> print(model.drift(X + 1.5))
    45 of 500 rows (9 %) look unlike the rows learnt from, where 1 % is promised; the chance of so many is 2.3e-06.
    """

    learnt: ClassVar[dict[str, Any]] = {
        **UNLABELLED,
        "_expansion": Expansion,
        "_fitted_clamp": "finite in 0..1",
        "scale_": "finite8(d) | none",
        "calibration_scores_": "finite8(q)",
        "offset_": "real",
        "level_": "finite in 0..1",
    }

    certificate_: OneClassGap

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: Any = "near",
        degree: int = 3,
        coef0: float = 0.0,
        nu: float = 0.1,
        level: float = 0.01,
        scale: bool = True,
        tol: float = 1e-3,
        kernel_rows: int = 4000,
        calibration_rows: int = 4999,
        max_iter: int = 10_000,
        max_time: float | None = None,
        verbose: int = 0,
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.nu = nu
        self.level = level
        self.scale = scale
        self.tol = tol
        self.kernel_rows = kernel_rows
        self.calibration_rows = calibration_rows
        self.max_iter = max_iter
        self.max_time = max_time
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Say that sparse matrices are welcome, and that rows of a precomputed kernel belong together with their columns."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = getattr(self.kernel, "is_precomputed", False) or self.kernel == "precomputed"
        return tags

    # ------------------------------------------------------------ learning
    def fit(self, X: Matrix, y: Any = None) -> Self:
        """Learn what is typical.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Rows; of a precomputed kernel its matrix, shape (n, n).
        y : ignored
            There for scikit-learn's pipelines.

        Returns
        -------
        self
        """
        del y
        with restored_on_error(self):
            began = time.perf_counter()
            self._check_parameters()
            X = read_matrix(self, X, reset=True)
            usable_rows(X, 0.0, type(self).__name__)
            parts = self._parted(X)
            kernel, gram = self._prepared(X, parts)
            done, method = self._solved(X, gram, began)
            answer = method.answer(done.state)
            self._conclude(X, kernel, parts, answer)
            self._explain(done, parts, X.shape[0])
            return self

    def _check_parameters(self) -> None:
        for name in ("nu", "level", "tol"):
            require_number(self, name)
        require(self, "nu", "at most 1", holds=self.nu <= 1)
        require(self, "level", "below 1", holds=self.level < 1)
        require(self, "tol", "below 1", holds=self.tol < 1)
        require_switch(self, "scale")
        require(self, "kernel_rows", f"a whole number of at least {LEAST}", holds=self._count("kernel_rows", LEAST))
        least = needed(float(self.level))
        enough = f"a whole number of at least {least:,}, as the level {self.level:g} needs"
        require(self, "calibration_rows", enough, holds=self._count("calibration_rows", least))
        check_common(self)
        self._asked_kernel()

    def _count(self, name: str, least: int) -> bool:
        return is_count(getattr(self, name)) and int(getattr(self, name)) >= least

    def _asked_kernel(self) -> Kernel:
        """Return the kernel that the parameters ask for; with gamma="near" it has no width yet."""
        known = isinstance(self.kernel, str | Kernel) or callable(self.kernel)
        require(self, "kernel", "the name of a kernel, a kernel or a function", holds=known)
        gamma = "scale" if self._near() else self.gamma
        try:
            return as_kernel(self.kernel, gamma=gamma, degree=self.degree, coef0=self.coef0)
        except InputError as error:
            msg = f"The 'kernel' parameter of {type(self).__name__} (with 'gamma', 'degree', 'coef0') cannot be used: {error}"
            raise InputError(msg) from error

    def _near(self) -> bool:
        """Tell whether the width of a kernel named by a word is that of near rows."""
        return isinstance(self.kernel, str) and isinstance(self.gamma, str) and self.gamma == "near"

    def _parted(self, X: Matrix) -> _Parts:
        """Choose by chance the rows to learn from and those set apart, and the scales of the columns."""
        n, level = X.shape[0], float(self.level)
        most, learnt = int(self.calibration_rows), int(self.kernel_rows)
        if self.max_time is not None:
            values = SHARE * float(self.max_time) * VALUES / (1.0 + X.shape[1] / 64)
            learnt = min(learnt, max(int(np.sqrt(values)), LEAST))
            most = min(most, max(int(values / learnt), needed(level)))
        k = max(allowed(level, min(n // 2, most)), int(n >= needed(level) + LEAST))
        m = needed(level, k) if k else n // 2
        order = check_random_state(self.random_state).permutation(n)
        rows, apart = np.sort(order[m : m + learnt]), order[:m]
        if not self.scale or self._asked_kernel().is_precomputed:
            return _Parts(rows, apart, None)
        part = doubled(X[rows])
        # A CSR matrix gives its largest entries as a matrix, for which scikit-learn has a function.
        low, high = min_max_axis(part, axis=0) if sparse.issparse(part) else (part.min(axis=0), part.max(axis=0))
        return _Parts(rows, apart, 1.0 / np.where(high > low, high - low, 1.0))

    def _prepared(self, X: Matrix, parts: _Parts) -> tuple[Kernel, LazyGram]:
        """Return the kernel with every parameter a number, and its values of the rows learnt from."""
        kernel = self._asked_kernel()
        part = own_part(kernel, X, parts.learnt, parts.scale)
        if self._near() and isinstance(kernel, GammaKernel) and "median" in kernel.words:
            kernel = kernel.with_params(gamma=near_gamma(part, kernel.power))
        kernel = kernel.resolved(part)
        objection = indefiniteness(kernel, part)[1]
        if objection is not None:
            msg = f"{type(self).__name__}: {objection}"
            raise InputError(msg)
        return kernel, LazyGram(kernel, part)

    def _solved(self, X: Matrix, gram: LazyGram, began: float) -> tuple[Run, OneClassMachine]:
        """Solve the problem within the budget."""
        most = max(int(np.sqrt(room(X) / SQUARE_BYTES)), 64)
        method = OneClassMachine(one_class(gram, float(self.nu), min(most, 20_000)), 0.9 * float(self.tol))
        reporter = Reporter(self, X, None, dict, int(self.max_iter), _line)
        budget: Budget = budget_of(self, began)._replace(reserve=0.2 * float(self.max_time or 0.0))
        done = run(method, budget, watch=reporter.watch)
        reporter.close()
        return done, method

    def _conclude(self, X: Matrix, kernel: Kernel, parts: _Parts, answer: OneClassAnswer) -> None:
        """Store what was learnt, score the rows set apart, and claim what it proves."""
        used = np.flatnonzero(answer.alpha > 0.0)
        rows = parts.learnt[used]
        self._fitted_clamp, self.scale_ = 0.0, parts.scale
        support = X[rows] if kernel.is_precomputed else doubled(columns_scaled(X[rows], parts.scale))
        self._expansion = Expansion(kernel, support, rows, answer.alpha[None, used], np.zeros(1))
        everyone = own_part(kernel, X, np.concatenate([parts.learnt, parts.apart]), parts.scale)
        size = scales(kernel, everyone, 0.0, indefiniteness(kernel, everyone)[0])
        if sparse.issparse(everyone):  # who checks may hold the rows as an array, for which the bound is wider
            size = size._replace(entry=3.0 * size.entry, unit=3.0 * size.unit)
        draft = OneClassGap.draft(kernel, parts.scale, parts.learnt, answer.alpha, float(self.nu), answer.rho)
        error = answer.error / SLACK + 32 * EPS * size.radius**2  # of the compiled exponential
        found = draft.claim(size, answer.outputs, error)
        scores = self._outputs(X[parts.apart]) if parts.apart.size else np.empty(0)
        self.certificate_ = found.calibrated(parts.apart, scores, float(self.level))
        self.calibration_scores_, self.offset_ = self.certificate_.scores, self.certificate_.threshold
        self.level_ = float(self.level)

    def _explain(self, done: Run, parts: _Parts, n: int) -> None:
        """Say how it went; warn where the gap is wide or rows are too few."""
        gap, m, level = self.certificate_.relative_gap, parts.apart.size, float(self.level)
        self.n_iter_, self.history_ = done.rounds, done.course.history()
        reason, remedy = done.outcome.reason, "Raise max_iter or max_time, or accept a larger tol."
        sentence = f"Stopped ({reason}) with relative duality gap {gap:.2g} > tol={self.tol:g}."
        if gap <= self.tol and reason != "interrupted":
            reason, remedy = "converged", ""
            sentence = f"Converged: relative duality gap {gap:.2g} <= tol={self.tol:g}."
        elif reason in {"converged", "rounding limit reached"}:
            reason, remedy = "rounding limit reached", "Use a larger tol."
            if gap > NO_PLANE:
                remedy = "The rows surround the origin of the kernel's space: use kernel='rbf'."
            sentence = f"Stopped with relative duality gap {gap:.2g} > tol={self.tol:g}: rounding errors hide smaller gaps."
        sentence += f" {parts.learnt.size:,} of {n:,} rows were learnt from, {m:,} set apart."
        self.outcome_ = Outcome(reason, sentence, remedy)
        report_outcome(self, gap, {"iteration budget spent", "time budget spent", "rounding limit reached"}, stacklevel=3)
        if allowed(level, m) == 0:
            least = needed(level)
            msg = f"{type(self).__name__}: no row can be called novel. level={level:g} needs {least:,} rows set apart and "
            msg += f"{LEAST} to learn from, {least + LEAST:,} in all, but n_samples = {n:,}. Give more rows, or a level of at "
            msg += f"least 1/{max(n - LEAST, n // 2) + 1}."
            warnings.warn(msg, FewRowsWarning, stacklevel=3)

    # ------------------------------------------------------------ judging
    def _outputs(self, X: Matrix) -> FloatArray:
        """Return the scores f(x) of checked rows, shape (n,)."""
        X = X if self._expansion.kernel.is_precomputed else columns_scaled(doubled(X), self.scale_)
        return self._expansion.outputs(X)[:, 0]

    def score_samples(self, X: Matrix) -> FloatArray:
        """Return the scores f(x) = Σ_j alpha_j k(x_j, x), shape (n,): the higher, the more typical.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Rows.
        """
        check_is_fitted(self)
        X = X if is_ready(self, X) else read_matrix(self, X, reset=False)
        usable_rows(X, 0.0, type(self).__name__)
        return self._outputs(X)

    def decision_function(self, X: Matrix) -> FloatArray:
        """Return the scores less the threshold, shape (n,): negative for novel rows.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Rows.
        """
        scores = self.score_samples(X)
        return scores - self.offset_

    def p_values(self, X: Matrix) -> FloatArray:
        """Return the p-value of every row, shape (n,): of rows like the past at most a share p has a p-value of at most p.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Rows that were not given to `fit`.
        """
        lower = np.searchsorted(self.calibration_scores_, self.score_samples(X), side="right")
        return np.asarray((1.0 + lower) / (self.calibration_scores_.size + 1.0), dtype=np.float64)

    def predict(self, X: Matrix) -> IntArray:
        """Return -1 for novel rows, those with a p-value of at most `level`, and +1 for typical ones, shape (n,).

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Rows.
        """
        labels: IntArray = np.where(self.decision_function(X) < 0.0, -1, 1)
        return labels

    def drift(self, X: Matrix) -> Drift:
        """Count the novel rows of a batch, and say how likely so many are if the rows are like the past.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Rows that were not given to `fit`.

        Returns
        -------
        Drift
            Its text is a sentence; `found` tells whether there are more than promised, `p_value` how sure that is.
        """
        return self.drift_of(self.p_values(X))

    def drift_of(self, p_values: FloatArray) -> Drift:
        """Say the same of p-values that are known.

        Parameters
        ----------
        p_values : array, shape (n,)
            What `p_values` returned.
        """
        check_is_fitted(self)
        p, m = np.asarray(p_values), self.calibration_scores_.size
        k, chance = allowed(self.level_, m), 1.0
        j = max(k, 1)  # where no row can be called novel, many beyond all rows that were set apart are still a sign
        novel = int(np.count_nonzero(p <= (self.level_ if k else 1.0 / (m + 1))))
        if novel:
            tail = stats.betabinom.pmf(np.arange(novel, p.size + 1), p.size, j, m + 1 - j)
            chance = min(float(tail[::-1].sum()), 1.0)
        found = Drift(p.size, novel, j / (m + 1), chance)
        return found if k or found.found else Drift(p.size, 0, 0.0, 1.0)

    # ------------------------------------------------------------ what was learnt
    @property
    def kernel_(self) -> Kernel:
        """The kernel, every parameter a number."""
        check_is_fitted(self)
        return self._expansion.kernel

    @property
    def support_(self) -> IntArray:
        """Rows of positive strength, shape (s,)."""
        check_is_fitted(self)
        return self._expansion.rows.copy()

    @property
    def support_vectors_(self) -> Matrix:
        """Their values, scaled, shape (s, d)."""
        check_is_fitted(self)
        return self._expansion.support.copy()

    @property
    def dual_coef_(self) -> FloatArray:
        """Their strengths, which add up to 1, shape (1, s)."""
        check_is_fitted(self)
        return self._expansion.coefficients.copy()

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse a kernel that cannot be computed on the support vectors, and scores that are not in order."""
        fitted["_expansion"].check(sizes["d"])
        if (np.diff(fitted["calibration_scores_"]) < 0.0).any():
            raise ValueError("scores of rows set apart are not in order")


def near_gamma(X: Matrix, power: int) -> float:
    """Return 1 over the median of distance^power of a row to its fifth nearest in a sample; 1 if all rows agree.

    Examples
    --------
    >>> near_gamma(2.0 * np.arange(100.0)[:, None], 2)  # two or three on each side
    0.027777777777777776
    """
    rows = doubled(X[np.linspace(0, X.shape[0] - 1, min(X.shape[0], SAMPLE)).astype(np.int64)])
    apart = np.sort(squared_distances(rows, rows, closely=True), axis=1)[:, 1:]
    for near in (apart[:, NEAREST - 1 : NEAREST], apart):  # where most rows are there several times, the others count
        if near.any():
            return float(np.median(near[near > 0.0]) ** (-0.5 * power))
    return 1.0


def _line(at: Progress) -> str:
    """Return a line about a round."""
    state: OneClassState = at.state
    return f"round {at.round}: relative gap {state.gap:.2g}"
