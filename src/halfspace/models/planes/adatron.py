"""The AdaTron: planes of maximal margin, with or without errors."""

import time
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.certificates.margins.bracket import MarginBracket
from halfspace.certificates.margins.gap import DualityGap
from halfspace.certificates.margins.separability import Separability
from halfspace.models.multiclass import (
    Task,
    certificate_of,
    fit_outcome,
    history_of,
    report_outcome,
    support_table,
    tasks_of,
)
from halfspace.models.parameters import (
    budget_of,
    check_common,
    read_examples,
    require,
    require_cap_and_tolerance,
    require_choice,
    require_number,
    restored_on_error,
    seeds_of,
)
from halfspace.models.planes.large_margin import Fitting, prove_inseparable
from halfspace.models.planes.prediction import PlaneMixin
from halfspace.models.progress import Reporter
from halfspace.rows.labels import example_weights
from halfspace.rows.operations import learnt_outputs
from halfspace.rows.threads import n_workers, one_blas_thread
from halfspace.solvers.linear.large_margin import LargeMargin, Plan, begun
from halfspace.solvers.linear.soft_margin import Point, Problem, combined
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.run import SMALL, Budget, Course, Progress, Run, run, run_all

__all__ = ["AdaTron"]

LEAST_SEARCH = 0.02
"""Seconds below which the search for a proof that no plane exists is not begun."""


class AdaTron(PlaneMixin, ClassifierMixin, CallbackSupportMixin, BaseEstimator):
    """The plane of maximal margin (C = inf), or of the best trade between margin and errors: a linear support vector machine.

    The fit stops when the relative duality gap, a proof of how far the plane can be from the best one, is at most `tol`. It
    chooses by the shape of the data between sweeps of Anlauf and Biehl's rule and a second-order finish; both lead to
    the same plane.

    In the words of lectures: a quadratic program. The strengths `alpha_` (embedding strengths) are the Lagrange multipliers
    of the constraints on the local potentials, the lower value of the gap is the Wolfe dual, and a gap of zero says that
    the Kuhn-Tucker conditions hold, complementarity included; see `support_table`.

    Parameters
    ----------
    C : float, default 1.0
        Cap on the strength of an example. `inf`: no errors tolerated; inseparable data are then proved inseparable.
    tol : float, default 1e-4
        Relative duality gap at which to stop.
    rate : float, optional
        Rate of the rule, between 0 and 2; 1 climbs each coordinate to its top, more is over-relaxation. By default 1.5 where
        caps are wide (mean C‖x‖² at least 1), else 1.
    solver : {"auto", "sweep"}, default "auto"
        "sweep" keeps the plain rule, every example in every sweep, in order.
    intercept : {"clamped", "free", "none"}, default "clamped"
        Bias as the weight of a clamped input; a bias that costs nothing; or none.
    intercept_scaling : float, default 1.0
        Value of the clamped input.
    max_iter : int, default 10000
        Maximum number of iterations (sweeps and Newton steps) per class.
    max_time : float, optional
        Time limit in seconds.
    class_weight : dict or "balanced", optional
        Multiplies C per class.
    warm_start : bool, default False
        Go on from the last fit, with the gap it had.
    n_jobs : int, optional
        Threads for more than two classes; by default one per core. The answer does not depend on it.
    verbose : int, default 0
        1: a line every half second; 2: a line whenever the gap is computed.
    random_state : int, RandomState or None, default 0
        Seed of the order of examples.

    Attributes
    ----------
    certificate_ : DualityGap, PerClass or Separability
        Primal and dual value and their relative gap; for C = inf on inseparable data the exact proof of that (the plane is
        then the last one tried).
    outcome_ : Outcome
        Why the fit stopped, and a remedy.
    coef_, intercept_ : ndarray, shape (K, d), (K,)
        The plane.
    alpha_ : ndarray, shape (n,) or (K, n)
        Strengths, 0 <= alpha_i <= C; `w` is Σ alpha_i y_i x_i up to the gap.
    support_ : ndarray, shape (m,)
        Rows of positive strength, in any class.
    history_ : dict of ndarray
        Iteration, seconds, primal and dual value whenever the gap was computed; of the slowest class.
    classes_, n_features_in_, n_iter_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np, halfspace as hs
    >>> X, y = np.array([[2.0, 0.0], [3.0, 1.0], [-2.0, 0.0]]), np.array([1, 1, 0])
    >>> model = hs.AdaTron(C=np.inf, intercept="free").fit(X, y)
    >>> model.coef_.round(3).tolist(), bool(model.certificate_.verify(X, y))
    ([[0.5, 0.0]], True)
    >>> [round(side, 3) for side in model.certificate_.margin]
    [2.0, 2.0]
    """

    learnt: ClassVar[dict[str, Any]] = {
        "_W": "finite8(K,D)",
        "_alpha": "f8(K,n)",
        "_bias": "finite8(K)",
        "_caps": "f8(n)",
        "_potentials": "f8(K,n)",
        "_labels": "labels(n)",
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        tol: float = 1e-4,
        rate: float | None = None,
        solver: str = "auto",
        intercept: str = "clamped",
        intercept_scaling: float = 1.0,
        max_iter: int = 10_000,
        max_time: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = 0,
    ) -> None:
        self.C = C
        self.tol = tol
        self.rate = rate
        self.solver = solver
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.max_time = max_time
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
            Examples; float32 and float64 are used as they are.
        y : array, shape (n,)
            Labels of any kind: numbers, strings, bools.
        sample_weight : array, shape (n,), optional
            Multiplies C per example: a weight of 2 is the same as the example twice, 0 as leaving it out.

        Returns
        -------
        self
            With `certificate_`, `outcome_`, `coef_`, `intercept_`, `alpha_`, `support_`, `history_`, `n_iter_`, `classes_`.
        """
        with restored_on_error(self):
            began = time.perf_counter()
            self._check_parameters()
            before = dict(vars(self))
            data = read_examples(self, X, y, self._asked_clamp())
            data.inspection()
            s = example_weights(self.class_weight, sample_weight, data.classes, data.target, type(self).__name__)
            tasks = tasks_of(data, s)
            budget = budget_of(self, began, (1 + len(tasks)) * data.entries)
            return self._learn(Fitting.of(data, s), tasks, before if self.warm_start else {}, budget, (X, y))

    def _check_parameters(self) -> None:
        require_cap_and_tolerance(self)
        if self.rate is not None:
            require_number(self, "rate")
            require(self, "rate", "between 0 and 2, or None", holds=self.rate < 2)
        require_choice(self, "solver", "auto", "sweep")
        require_choice(self, "intercept", "clamped", "free", "none")
        check_common(self)

    def _learn(
        self, fitting: Fitting, tasks: list[Task], before: dict[str, Any], budget: Budget, given: tuple[Any, Any]
    ) -> Self:
        """Solve the problem of every class and certify the answers."""
        solved = self._solve(fitting, tasks, before, budget, given)
        with one_blas_thread():
            self._conclude(fitting, tasks, budget, *solved)
        return self

    def _solve(
        self, fitting: Fitting, tasks: list[Task], before: dict[str, Any], budget: Budget, given: tuple[Any, Any]
    ) -> tuple[list[LargeMargin], list[Run], list[Point], dict[int, Separability]]:
        """Solve the problem of every class, from where `before` left off if it fits."""
        data, K = fitting.data, len(tasks)
        self._fitted_clamp, self.classes_, C = data.clamp, data.classes, float(self.C)
        problems = [fitting.problem(task, C) for task in tasks]
        seeds = seeds_of(self.random_state, K)
        plan = Plan(0.95 * self.tol, self.rate, self.solver == "sweep", self.intercept == "free")
        self._W = np.zeros((K, data.X.shape[1] + bool(data.clamp)))
        self._alpha, self._bias, proofs = np.zeros((K, data.y.size)), np.zeros(K), {}
        left = budget.left()
        deadline = None if left is None else time.perf_counter() + left
        reporter = Reporter(self, *given, self._so_far, int(self.max_iter) + 1)

        def inseparable(k: int) -> bool:
            until = deadline
            if deadline is not None:  # every problem may ask, and leaves the others their share
                share = (deadline - time.perf_counter()) / K
                until = time.perf_counter() + share
                if share < LEAST_SEARCH:
                    return False
            proof = prove_inseparable(fitting, tasks[k], intercept=self.intercept != "none", deadline=until)
            if proof is not None:
                proofs[k] = proof
            return proof is not None

        def watch(at: Progress) -> bool:
            point = at.state.point()
            self._W[0], self._alpha[0], self._bias[0] = point.w, fitting.spread(point.alpha), point.bias
            return reporter.tell(f"iteration {at.round}: relative gap {point.gap:.2g}")

        heard = K == 1 and (reporter.root is not None or bool(self.verbose))
        alphas = fitting.strengths(problems, before)
        sweeps: list[Any] = [None] * K
        again = alphas is not None and before["C"] == self.C  # which may be solved already
        if not (heard or again) and (data.entries < SMALL or n_workers(self.n_jobs, K) == 1):
            nothing = np.zeros((K, problems[0].y.size))
            sweeps = begun(problems, plan, seeds, nothing if alphas is None else alphas, budget)
        methods = [
            LargeMargin(problem, plan._replace(begun=made), seed, partial(inseparable, k))
            for k, (problem, made, seed) in enumerate(zip(problems, sweeps, seeds, strict=True))
        ]
        runs: list[Any] = [method.finished(budget) for method in methods]
        rest = [k for k in range(K) if runs[k] is None]
        starts = fitting.starts(problems, before, alphas, free=plan.free) if rest else []
        watched = {"watch": watch, "every": 1 << 62} if heard else {}  # to watch changes nothing: pieces stay as large
        works = [partial(_solved, methods[k], starts[k], watched if K == 1 else None) for k in rest]
        for k, done in zip(rest, run_all(works, budget, self.n_jobs, entries=data.entries) if rest else [], strict=True):
            runs[k] = done
        points = [self._kept(fitting, k, method.certify(runs[k].state)) for k, method in enumerate(methods)]
        self._caps = np.where(fitting.s > 0, C * np.maximum(fitting.s, 1e-300), 0.0)
        reporter.close()
        return methods, runs, points, proofs

    def _so_far(self) -> dict[str, Any]:
        """Return what a callback needs to rebuild the model while it is being fitted."""
        names = ("_W", "_alpha", "_bias", "_fitted_clamp", "classes_", "n_features_in_")
        return {name: vars(self)[name] for name in names}

    def _conclude(
        self,
        fitting: Fitting,
        tasks: list[Task],
        budget: Budget,
        methods: list[LargeMargin],
        runs: list[Run],
        points: list[Point],
        proofs: dict[int, Separability],
    ) -> None:
        """Store what was learnt, why it stopped, and the proof; a problem whose proof rounding made too wide goes on."""
        data, parts = fitting.data, list[Any]()
        self._potentials = np.empty((len(tasks), data.y.size))
        view = fitting.view if fitting.rows is None else data.view
        scores = learnt_outputs(view, self._W)
        for k, (method, task) in enumerate(zip(methods, tasks, strict=True)):
            parts.append(self._claim(fitting, task, k, scores[:, k], proofs))
            tol = self._unproved(runs[k], points[k], parts[k])
            if tol is not None:
                again = replace(method, plan=method.plan._replace(tol=tol, begun=None))
                runs[k] = run(again, budget, replace(runs[k], state=again.start(points[k])))
                points[k] = self._kept(fitting, k, again.certify(runs[k].state))
                parts[k] = self._claim(fitting, task, k, learnt_outputs(view, self._W[k : k + 1])[:, 0], proofs)
        slowest = max(range(len(runs)), key=lambda k: runs[k].rounds)
        self.n_iter_ = runs[slowest].rounds
        self.history_ = history_of(runs[slowest], "iteration", points[slowest].primal, points[slowest].dual)
        self.certificate_ = certificate_of(data, parts)
        self._labels = data.y.copy()
        gap = max((part.relative_gap for part in parts if isinstance(part, DualityGap)), default=np.inf)
        faster = " solver='auto' is faster." if self.solver == "sweep" else ""
        decide = f"hs.separability(X, y) decides whether a plane exists; if so raise max_iter or max_time.{faster}"
        reasons = [done.outcome.reason for done in runs]
        self.outcome_ = fit_outcome(self, gap, reasons, "iteration", unseparated=decide)
        report_outcome(self, gap, {"proved inseparable", "iteration budget spent", "time budget spent"}, stacklevel=5)

    def _kept(self, fitting: Fitting, k: int, point: Point) -> Point:
        """Keep the answer to the problem of a class."""
        self._W[k], self._bias[k], self._alpha[k] = point.w, point.bias, fitting.spread(point.alpha)
        return point

    def _claim(self, fitting: Fitting, task: Task, k: int, scores: FloatArray, proofs: dict[int, Separability]) -> Any:
        """Return what the answer to the problem of a class proves, with its outputs (n,) on all examples."""
        data, s, w = fitting.data, fitting.s, self._W[k]
        bias = float(self._bias[k]) if self.intercept == "free" else None
        self._potentials[k] = task.sign * (scores + self._bias[k])
        if k in proofs:
            answer = MarginBracket.measure(data.X, data.y, weights=w, clamp=data.clamp, positive=task.positive, bias=bias)
            return replace(proofs[k], answer=answer)
        weight = None if (s == 1.0).all() else s
        draft = DualityGap.draft(w, self._alpha[k], float(self.C), weight, bias, data.clamp, task.positive)
        view = fitting.view if fitting.rows is None else data.view
        v = combined(Problem(view, task.sign, s, data.q), self._alpha[k])
        return draft.claim(self._potentials[k], v, data.radius, task.sign)

    def _unproved(self, done: Run, point: Point, part: Any) -> float | None:
        """Return the tolerance to go on with, if the gap is not as small as asked for once rounding is paid for; else None."""
        if done.outcome.reason != "converged" or not isinstance(part, DualityGap):
            return None
        paid, tol = part.relative_gap - point.gap, float(self.tol)
        return 0.95 * (tol - paid) if tol < part.relative_gap < np.inf and paid < 0.9 * tol else None

    # ------------------------------------------------------------ what was learnt
    def _answer(self) -> tuple[FloatArray, FloatArray]:
        return self._W, self._alpha

    @property
    def intercept_(self) -> FloatArray:
        """Bias, shape (K,): the clamped weight times the clamped input, or the free one."""
        return super().intercept_ + self._bias

    def _scores(self, X: Matrix) -> FloatArray:
        scores: FloatArray = super()._scores(X) + self._bias
        return scores

    def support_table(self, *, everyone: bool = False) -> Any:
        """List the support vectors: row, label, strength, stability, slack and role (with more than two classes: class).

        Parameters
        ----------
        everyone : bool, default False
            List the examples of strength 0 too.

        Returns
        -------
        DataFrame or structured array
            Roles: "free" (0 < alpha < C, on the margin), "capped" (alpha = C, inside the margin or wrong), "outside"
            (alpha = 0). A structured array where pandas is not installed.

        Examples
        --------
        >>> import numpy as np, halfspace as hs
        >>> X, y = np.array([[1.0], [2.0], [-1.0]]), np.array([1, 1, 0])
        >>> table = hs.AdaTron(C=10.0, tol=1e-9).fit(X, y).support_table()
        >>> table["row"].tolist(), table["role"].tolist()
        ([0, 2], ['free', 'free'])
        """
        W, alpha = self._known()
        length = np.linalg.norm(W, axis=1)
        classes = [None] if alpha.shape[0] == 1 else self.classes_.tolist()
        return support_table(alpha, self._potentials, length, self._caps, self._labels, classes, everyone=everyone)


def _solved(
    method: LargeMargin, start: Point | None, watched: dict[str, Any] | None, budget: Budget, before: Run | None
) -> Run:
    """Run a method from a start, or go on; computing the start takes its time too, so it is done here, in the thread.

    One of several problems, for which `watched` is None, stays where it starts if there is no time to begin it.
    """
    state = before or method.start(start)
    if watched is None and before is None and budget.left() == 0.0 and not budget.cancelled():
        return Run(state, Outcome("time budget spent", "There was no time to begin."), 0, Course(method.columns), 0.0)
    return run(method, budget, state, **(watched or {}))
