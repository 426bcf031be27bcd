"""The kernel AdaTron: planes of maximal margin in a kernel's space."""

import time
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import check_random_state

from halfspace._text import plural
from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.certificates import Certificate, KernelGap
from halfspace.errors import InputError
from halfspace.kernels import Kernel
from halfspace.kernels.gram import LazyGram
from halfspace.models.kernel.cells import Cells, learn_cells
from halfspace.models.kernel.margin import Claims, KernelPlan, Solved, expanded, fitting
from halfspace.models.kernel.prediction import KernelPlaneMixin
from halfspace.models.multiclass import (
    Task,
    certificate_of,
    fit_outcome,
    history_of,
    report_outcome,
    support_table,
    tasks_of,
    votes,
)
from halfspace.models.parameters import (
    Examples,
    budget_of,
    check_common,
    read_examples,
    require,
    require_cap_and_tolerance,
    require_choice,
    require_number,
    restored_on_error,
    seeds_of,
    usable_rows,
)
from halfspace.models.progress import Reporter
from halfspace.rows.labels import example_weights
from halfspace.rows.threads import one_blas_thread
from halfspace.solvers.kernel.machine import KernelAnswer
from halfspace.solvers.outcome import Reason
from halfspace.solvers.run import Budget, Run

__all__ = ["KernelAdaTron"]

PAIR_OUTPUTS = 1 << 23
"""Outputs of pairs of classes that are computed at a time."""
CLAIM = 50
"""Entries that are read in the time that a claim about one example in one problem takes."""
BEGIN = 1e-3
"""Seconds that a problem takes if it is hardly begun."""
EXTREME = 1e18
"""Largest value of a kernel on the examples, and 1 over the smallest that the largest may be: squares fit single precision."""
EARLY: set[Reason] = {"iteration budget spent", "time budget spent", "rounding limit reached"}
"""Reasons to warn."""
UNSEPARATED = (
    "Use a finite C, which tolerates errors, or a kernel that tells the examples better apart (a larger gamma); no kernel "
    "separates equal examples with different labels."
)


class KernelAdaTron(KernelPlaneMixin, ClassifierMixin, CallbackSupportMixin, BaseEstimator):
    """The plane of maximal margin in a kernel's space (C = inf), or of the best trade with errors: a support vector machine.

    With a free bias the optimum is LIBSVM's. The fit stops when the relative duality gap, computed in double precision, is at
    most `tol`: a proof of how far the answer can be from the best one.

    By the kernel trick the rule is that of `AdaTron`. The strengths are the Lagrange multipliers of the Wolfe dual; with a
    polynomial kernel the answer is a polynomial threshold function.

    Parameters
    ----------
    kernel : str, Kernel or callable, default "rbf"
        "rbf", "linear", "poly", "laplacian", "cosine", "sigmoid", "precomputed", a value of `halfspace.kernels`, or a function
        of two rows. What is not positive semi-definite on the data is refused.
    C : float, default 1.0
        Cap on the strength of an example. `inf`: no errors tolerated.
    gamma : float, "scale" or "median", default "scale"
        Of the kernels named by a word: 1/(d Var X), or by the median distance.
    degree, coef0 : int, float
        Of "poly" (and "sigmoid").
    intercept : {"clamped", "free", "none"}, default "clamped"
        Bias as a clamped input (K + 1); one that costs nothing, as in LIBSVM; or none.
    intercept_scaling : float, default 1.0
        Value of the clamped input.
    tol : float, default 1e-3
        Relative duality gap at which to stop.
    multi_class : {"ovr", "ovo"}, default "ovr"
        More than two classes: each against the rest, or each against each (as LIBSVM does), decided by votes.
    solver : {"auto", "sweep"}, default "auto"
        "sweep": the plain rule, one example after another, the kernel matrix in memory (`solvers/kernel/sweep.py`). The default
        takes an accelerator with the same optimum, working sets and pairs of examples (`solvers/kernel/machine.py`).
    rate : float, default 1.0
        Step of `solver="sweep"`, between 0 and 2; 1 maximises the dual along each coordinate.
    max_iter : int, default 10000
        Maximum number of rounds (or sweeps) per problem.
    max_time : float, optional
        Time limit in seconds.
    cache_size : float, default 2000.0
        Memory limit for kernel values, in megabytes.
    n_cells : int, optional
        For many examples: cut them into about so many cells (K-means), with a machine for each.
    class_weight : dict or "balanced", optional
        Multiplies C per class.
    warm_start : bool, default False
        Go on from the strengths of the last fit on as many examples.
    n_jobs : int, optional
        Threads for more than two classes; by default one per core. The answer does not depend on it.
    verbose : int, default 0
        1: a line every half second; 2: a line every round.
    random_state : int, RandomState or None, default 0
        Seed of the nested samples.

    Attributes
    ----------
    certificate_ : KernelGap, PerClass or PerPair, or PerCell
        Primal and dual value and their relative gap; `certificate_.verify(X, y)` recomputes them.
    outcome_ : Outcome
        Why the fit stopped, and a remedy.
    alpha_ : ndarray, shape (n,) or (K, n)
        Strengths, 0 <= alpha_i <= C.
    support_, support_vectors_ : ndarray, shape (m,), (m, d)
        Examples of positive strength.
    dual_coef_, intercept_ : ndarray, shape (K, m), (K,)
        Strength times label of each, and the bias.
    kernel_ : Kernel
        The kernel with every parameter a number.
    history_ : dict of ndarray
        Round, seconds, primal and dual value after every round, of the problem that took most.
    classes_, n_features_in_, n_iter_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np, halfspace as hs
    >>> X, y = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]), np.array([1, 1, 0, 0])  # XOR
    >>> model = hs.KernelAdaTron("poly", degree=2, gamma=1.0, coef0=1.0, C=np.inf, tol=1e-9).fit(X, y)
    >>> model.predict(X).tolist(), model.alpha_.round(3).tolist()
    ([1, 1, 0, 0], [0.125, 0.125, 0.125, 0.125])
    >>> bool(model.certificate_.verify(X, y)), [round(side, 3) for side in model.certificate_.margin]
    (True, [1.414, 1.414])
    """

    learnt: ClassVar[dict[str, Any]] = {
        "?_lengths": "f8(K) | none",
        "_cells": Cells | None,
        "_voting": "bool",
        "?_solved": Solved,
        "?_alpha": "f8(K,n)",
    }

    needs: ClassVar[dict[str, tuple[str, ...]]] = {**KernelPlaneMixin.needs, "_solved": ("_lengths", "_caps", "_labels")}

    certificate_: Certificate
    _cells: Cells | None
    _voting: bool

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        C: float = 1.0,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        intercept: str = "clamped",
        intercept_scaling: float = 1.0,
        tol: float = 1e-3,
        multi_class: str = "ovr",
        solver: str = "auto",
        rate: float = 1.0,
        max_iter: int = 10_000,
        max_time: float | None = None,
        cache_size: float = 2000.0,
        n_cells: int | None = None,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.multi_class = multi_class
        self.solver = solver
        self.rate = rate
        self.max_iter = max_iter
        self.max_time = max_time
        self.cache_size = cache_size
        self.n_cells = n_cells
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Matrix, y: Labels, sample_weight: Any = None) -> Self:
        """Learn from examples.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples; of a precomputed kernel its matrix, shape (n, n).
        y : array, shape (n,)
            Labels of any kind: numbers, strings, bools.
        sample_weight : array, shape (n,), optional
            Multiplies C per example: a weight of 2 is the same as the example twice, 0 as leaving it out.

        Returns
        -------
        self
            With `certificate_`, `outcome_`, `alpha_`, `support_`, `dual_coef_`, `intercept_`, `history_`, `n_iter_`.
        """
        with restored_on_error(self), one_blas_thread():
            began = time.perf_counter()
            self._check_parameters()
            before = dict(vars(self)) if self.warm_start else {}
            data = read_examples(self, X, y, self._asked_clamp())
            data.inspection()
            s = example_weights(self.class_weight, sample_weight, data.classes, data.target, type(self).__name__)
            if self.n_cells is not None:
                return self._fit_cells(data, s, began, (X, y))
            kernel, shift = self._proved_kernel(data.X)
            self._refuse_large(data)
            plan, pairs = self._plan(), self.multi_class == "ovo"
            workers, most = fitting(type(self).__name__, data, self.n_jobs, plan.room, pairs=pairs)
            tasks = tasks_of(data, s, pairs=pairs)
            self._fitted_clamp, self.classes_ = data.clamp, data.classes
            self._cells, self._voting = None, self.multi_class == "ovo" and data.classes.size > 2
            claims, budget = (
                Claims.about(data, kernel, shift, plan._replace(room=most)),
                self._budget(began, tasks),
            )
            gram = LazyGram(kernel, data.X, data.clamp, seconds=budget.left())
            reporter = Reporter(self, X, y, lambda: self._so_far(kernel, data, tasks, reporter), int(self.max_iter) + 1)
            seeds = seeds_of(self.random_state, len(tasks))
            known = "_solved" in before and np.array_equal(before["classes_"], self.classes_)
            starts = before["_solved"].starts(tasks, gram.n) if known else [None] * len(tasks)
            solved = claims.solve(gram, tasks, seeds, starts, budget, workers, reporter)
            reporter.close()
            self._conclude(kernel, data, tasks, *solved)
            return self

    def _check_parameters(self) -> None:
        require_cap_and_tolerance(self)
        require_number(self, "cache_size")
        require_choice(self, "intercept", "clamped", "free", "none")
        require_choice(self, "multi_class", "ovr", "ovo")
        require_choice(self, "solver", "auto", "sweep")
        require_number(self, "rate")
        require(self, "rate", "between 0 and 2", holds=self.rate < 2)
        self._asked_kernel()
        count = isinstance(self.n_cells, int | np.integer) and not isinstance(self.n_cells, bool) and int(self.n_cells) > 0
        require(self, "n_cells", "a positive integer, or None", holds=self.n_cells is None or count)
        require(self, "multi_class", "'ovr' with n_cells", holds=self.n_cells is None or self.multi_class == "ovr")
        check_common(self)

    def _plan(self) -> KernelPlan:
        """Return how to go about it."""
        room = max(int(np.sqrt(1e6 * self.cache_size / 4)), 64)
        sweep, rate = self.solver == "sweep", float(self.rate)
        return KernelPlan(float(self.C), 0.98 * float(self.tol), self.intercept == "free", sweep, room, rate)

    def _budget(self, began: float, tasks: list[Task]) -> Budget:
        """Return the budget of a fit that began then; a tenth of the time, or what claims take, is for the rest."""
        budget = budget_of(self, began, CLAIM * sum(task.rows.size for task in tasks))
        return budget._replace(reserve=max(budget.reserve, 0.1 * float(self.max_time or 0.0)))

    def _fit_cells(self, data: Examples, s: FloatArray, began: float, given: tuple[Any, Any]) -> Self:
        """Learn a machine for each cell, and say how it went."""
        kernel, n_cells = self._asked_kernel().resolved(data.X), int(self.n_cells or 1)
        if kernel.is_precomputed:
            msg = f"{type(self).__name__}: n_cells needs examples, not a precomputed kernel matrix; use fewer rows"
            raise InputError(msg)
        _refuse_extreme(kernel, data.X, type(self).__name__)
        budget = self._budget(began, tasks_of(data, s))  # which refuses a class without weight
        if self.max_time is not None:  # few cells where many classes leave no time to begin their problems in each
            n_cells = min(n_cells, max(1, int(0.3 * (budget.left() or 0.0) / (BEGIN * data.positive.size))))
        seed = int(check_random_state(self.random_state).randint(1 << 30))
        self._fitted_clamp, self.classes_, self._voting, self._labels = data.clamp, data.classes, False, data.y.copy()
        reporter = Reporter(self, *given, lambda: {"classes_": data.classes, **reporter.known[0]()}, n_cells + 1)
        learnt = learn_cells(kernel, self._plan(), data, s, n_cells, seed, budget, self.n_jobs, reporter)
        reporter.close()
        self._expansion, self._alpha, self._cells, self.certificate_ = learnt[:4]
        slowest = max(learnt.machines, key=lambda machine: machine.rounds)
        self.n_iter_, self.history_ = slowest.rounds, slowest.history
        count, gap = plural(len(learnt.machines), "cell"), max(machine.gap for machine in learnt.machines)
        about = f"This is an approximation: {count}, each with a machine and a gap of its own (the widest is given)."
        reasons = [machine.outcome.reason for machine in learnt.machines]
        self.outcome_ = fit_outcome(self, gap, reasons, "round", unseparated=UNSEPARATED, about=about)
        report_outcome(self, gap, EARLY, stacklevel=4)
        return self

    def _so_far(self, kernel: Kernel, data: Examples, tasks: list[Task], reporter: Reporter) -> dict[str, Any]:
        """Return the attributes by which a callback's copy predicts: 0 by tasks of which nothing is known yet."""
        nothing = [(np.zeros(task.rows.size), 0.0) for task in tasks]
        parts = [reporter.known[k]() if k in reporter.known else nothing[k] for k in range(len(tasks))]
        return {"classes_": self.classes_, "_expansion": expanded(kernel, data, tasks, parts, voting=self._voting)}

    def _conclude(
        self,
        kernel: Kernel,
        data: Examples,
        tasks: list[Task],
        runs: list[Run],
        answers: list[KernelAnswer],
        parts: list[KernelGap],
    ) -> None:
        """Store what was learnt, why it stopped, and the proof."""
        for stale in ("_alpha", "_potentials"):
            self.__dict__.pop(stale, None)
        self._solved, s = Solved(data.y.size, tasks, answers), np.zeros(data.y.size)
        for task in tasks:
            s[task.rows] = task.s
        parts_of = [(answer.b, answer.bias) for answer in answers]
        self._expansion = expanded(kernel, data, tasks, parts_of, voting=self._voting)
        self._lengths = self._solved.lengths()
        self._caps, self._labels = np.where(s > 0, float(self.C) * np.maximum(s, 1e-300), 0.0), data.y.copy()
        slowest = max(range(len(runs)), key=lambda k: runs[k].rounds)
        self.n_iter_ = runs[slowest].rounds
        self.history_ = history_of(runs[slowest], "round", answers[slowest].primal, answers[slowest].dual)
        self.certificate_ = certificate_of(data, parts)
        gap = max(float(part.relative_gap) for part in parts)
        self.outcome_ = fit_outcome(self, gap, [done.outcome.reason for done in runs], "round", unseparated=UNSEPARATED)
        report_outcome(self, gap, EARLY, stacklevel=4)

    @cached_property
    def _alpha(self) -> FloatArray:  # type: ignore[override]
        """Strengths, shape (K, n), made when asked for."""
        return self._solved.alpha()

    @cached_property
    def _potentials(self) -> FloatArray:  # type: ignore[override]
        """Potentials, shape (K, n), made when asked for."""
        return self._solved.potentials()

    def _proved_kernel(self, X: Matrix) -> tuple[Kernel, float]:
        kernel, shift = super()._proved_kernel(X)
        _refuse_extreme(kernel, X, type(self).__name__)
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
        if not self._voting:
            return super()._scores(X)
        step = max(1, PAIR_OUTPUTS // self._expansion.bias.size)
        parts = [super(KernelAdaTron, self)._scores(X[first : first + step]) for first in range(0, X.shape[0], step)]
        return np.concatenate([votes(scores, self.classes_.size) for scores in parts])

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

    @classmethod
    def sizes(cls, fitted: dict[str, Any]) -> dict[str, int]:
        """Return what letters stand for; with votes, the problems are the pairs of classes."""
        found = super().sizes(fitted)
        voting = fitted.get("_voting") is True and found.get("c", 0) > 2
        return {**found, "K": found["c"] * (found["c"] - 1) // 2} if voting else found

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse cells, votes and answers that do not fit the expansion."""
        super().check_learnt(fitted, sizes)
        cells, solved = fitted["_cells"], fitted.get("_solved")
        if fitted["_voting"] and (sizes["c"] <= 2 or cells is not None):
            raise ValueError("KernelAdaTron: two classes have no votes")
        if cells is not None:
            cells.check(fitted["_expansion"].rows.size)
        if solved is not None:
            if cells is None and fitted["_lengths"] is None:
                raise ValueError("KernelAdaTron: it has no lengths")
            solved.check(fitted.get("_labels", ()), sizes["K"])
        elif "_alpha" not in fitted:
            raise ValueError("KernelAdaTron: it has no strengths")


def _refuse_extreme(kernel: Kernel, X: Matrix, owner: str) -> None:
    """Refuse kernel values that single precision cannot hold."""
    largest = float((X.diagonal() if kernel.is_precomputed else kernel.exact_diagonal(X)).max())
    if largest != 0.0 and not 1.0 / EXTREME <= largest <= EXTREME:
        msg = (
            f"{owner}: the largest value of the kernel {kernel} on these rows is {largest:.3g}, but from {1 / EXTREME:g} "
            f"to {EXTREME:g} is expected. Scale the features, e.g. with StandardScaler, or the kernel."
        )
        raise InputError(msg)
