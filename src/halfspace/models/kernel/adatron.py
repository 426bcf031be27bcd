"""The kernel AdaTron: planes of maximal margin in a kernel's space."""

import time
from functools import cached_property
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import check_random_state

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.certificates import KernelGap
from halfspace.kernels import Kernel
from halfspace.kernels.gram import LazyGram
from halfspace.models.kernel.large import fit_large
from halfspace.models.kernel.margin import (
    Claims,
    KernelPlan,
    Solved,
    Task,
    groups_of,
    solve_tasks,
    tasks_of,
    together,
)
from halfspace.models.kernel.outcome import announced, told
from halfspace.models.kernel.prediction import Expansion
from halfspace.models.kernel.routes import RoutedMixin
from halfspace.models.kernel.routes import _votes as _votes  # noqa: PLC0414  (kernel_path takes it from here)
from halfspace.models.parameters import (
    Examples,
    as_float,
    check_common,
    read_examples,
    require,
    require_choice,
    require_number,
    restored_on_error,
)
from halfspace.models.progress import Reporter
from halfspace.rows.labels import example_weights
from halfspace.solvers.kernel.machine import KernelAnswer, KernelLimits

__all__ = ["KernelAdaTron"]


class KernelAdaTron(RoutedMixin, ClassifierMixin, CallbackSupportMixin, BaseEstimator):
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
        "sweep": the plain rule, one example after another, the kernel matrix in memory: for teaching.
    max_iter : int, default 10000
        Maximum number of rounds (or sweeps) per problem.
    max_time : float, optional
        Time limit in seconds.
    cache_size : float, default 2000.0
        Most megabytes for kernel values.
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
        with restored_on_error(self):
            began = time.perf_counter()
            self._check_parameters()
            before = dict(vars(self))
            data = read_examples(self, X, y, self._asked_clamp())
            data.inspection()
            s = example_weights(self.class_weight, sample_weight, data.classes, data.target, type(self).__name__)
            if self.n_cells is not None:
                fit_large(self, self._plan(), data, s, began, (X, y))
                return self
            kernel, shift = self._proved_kernel(data.X)
            self._refuse_large(data)
            tasks = tasks_of(data, s, pairs=self.multi_class == "ovo")
            self._fitted_clamp, self.classes_ = data.clamp, data.classes
            self._cells, self._voting = None, self.multi_class == "ovo" and data.classes.size > 2
            claims = Claims.about(data, kernel, shift, self._plan())
            solved = self._solve(claims, data, tasks, before if self.warm_start else {}, began, (X, y))
            self._conclude(kernel, data, tasks, [answer for answer, _ in solved], [part for _, part in solved])
            return self

    def _check_parameters(self) -> None:
        number = isinstance(self.C, Real) and not isinstance(self.C, bool)
        sensible = number and (1e-50 <= as_float(self.C) <= 1e50 or (isinstance(self.C, float) and np.isposinf(self.C)))
        require(self, "C", "a positive number from 1e-50 to 1e50, or inf for no errors", holds=bool(sensible))
        require_number(self, "tol")
        require(self, "tol", "below 1", holds=self.tol < 1)
        require_number(self, "cache_size")
        require_choice(self, "intercept", "clamped", "free", "none")
        require_choice(self, "multi_class", "ovr", "ovo")
        require_choice(self, "solver", "auto", "sweep")
        require(self, "solver", "'auto' for C = inf", holds=self.solver == "auto" or bool(np.isfinite(self.C)))
        self._asked_kernel()
        self._check_large()
        check_common(self)

    def _plan(self) -> KernelPlan:
        """Return how to go about it."""
        room = max(int(np.sqrt(1e6 * self.cache_size / 4)), 64)
        return KernelPlan(float(self.C), 0.98 * float(self.tol), self.intercept == "free", self.solver == "sweep", room)

    def _solve(
        self,
        claims: Claims,
        data: Examples,
        tasks: list[Task],
        before: dict[str, Any],
        began: float,
        given: tuple[Any, Any],
    ) -> list[tuple[KernelAnswer, KernelGap]]:
        """Solve every two-class problem, from where `before` left off if it fits."""
        gram = LazyGram(claims.kernel, data.X, data.clamp)
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=len(tasks)).tolist()
        known = "_solved" in before and np.array_equal(before["classes_"], data.classes)
        starts = before["_solved"].starts(tasks, data.y.size) if known else [None] * len(tasks)
        deadline = None if self.max_time is None else began + 0.9 * float(self.max_time)
        reporter = Reporter(self, *given, lambda: {"classes_": self.classes_}, int(self.max_iter) + 1)

        def watch(rounds: int, gap: float) -> bool:
            return len(tasks) == 1 and reporter.tell(f"round {rounds}: relative gap {gap:.2g}")

        def work(k: int, limits: KernelLimits) -> tuple[KernelAnswer, KernelGap]:
            answer, part = claims.solve(gram, tasks[k], limits, seeds[k], starts[k])
            if len(tasks) > 1:
                reporter.line(f"problem {k + 1} of {len(tasks)}: relative gap {part.relative_gap:.2g}")
            return answer, part

        solved = solve_tasks(work, len(tasks), KernelLimits(int(self.max_iter), deadline, watch), self.n_jobs)
        reporter.close()
        return solved

    def _conclude(
        self, kernel: Kernel, data: Examples, tasks: list[Task], answers: list[KernelAnswer], parts: list[KernelGap]
    ) -> None:
        """Store what was learnt, why it stopped, and the proof."""
        for stale in ("_alpha", "_potentials"):
            self.__dict__.pop(stale, None)
        self._solved, s = Solved(data.y.size, tasks, answers), np.zeros(data.y.size)
        for task in tasks:
            s[task.rows] = task.s
        rows, c = self._solved.coefficients()
        bias = np.array([answer.bias for answer in answers]) + data.clamp**2 * c.sum(axis=1)
        self._expansion, self._lengths = (
            Expansion(kernel, data.X[rows], rows, c, bias, groups_of(data, rows) if self._voting else ()),
            self._solved.lengths(),
        )
        self._caps, self._labels = np.where(s > 0, float(self.C) * np.maximum(s, 1e-300), 0.0), data.y.copy()
        slowest = max(answers, key=lambda answer: answer.rounds)
        self.n_iter_ = slowest.rounds
        self.history_ = dict(zip(("round", "seconds", "primal", "dual"), np.array(slowest.course).T, strict=True))
        self.certificate_ = together(data, tasks, parts)
        gap = max(float(part.relative_gap) for part in parts)
        self.outcome_ = told(self, gap, [answer.reason for answer in answers])
        announced(self, gap)

    @cached_property
    def _alpha(self) -> FloatArray:  # type: ignore[override]
        """Strengths, shape (K, n), made when asked for."""
        return self._solved.alpha()

    @cached_property
    def _potentials(self) -> FloatArray:  # type: ignore[override]
        """Potentials, shape (K, n), made when asked for."""
        return self._solved.potentials()
