"""The kernel AdaTron whose cap and width are chosen by cross-validation."""

import time
import warnings
from typing import Any, ClassVar, Self

import numpy as np

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.errors import GapWarning
from halfspace.kernels import Kernel
from halfspace.models.cv import CrossValidated
from halfspace.models.kernel.adatron import KernelAdaTron
from halfspace.models.kernel.grid import Width, class_numbers, matrices_of, problems_of, progress_printer, read_grid
from halfspace.models.multiclass import tasks_of
from halfspace.models.parameters import (
    Examples,
    read_examples,
    require,
    require_choice,
    require_number,
    require_switch,
    restored_on_error,
)
from halfspace.rows.labels import example_weights, mean_per_class
from halfspace.rows.threads import one_blas_thread
from halfspace.solvers.kernel.grid_search import GridPlan, GridRun, Machines, chosen_point, results_table, search_grid
from halfspace.solvers.outcome import Outcome

__all__ = ["KernelAdaTronCV"]


class KernelAdaTronCV(CrossValidated):
    """A kernel AdaTron whose cap C and width gamma are chosen by stratified cross-validation.

    For each gamma all folds and caps share one kernel matrix, and each cap starts from the machine of the one before. A point
    of the grid whose remaining folds cannot make it the best is left. The chosen point is fitted to all examples, to `tol` and
    with a certificate, as by `KernelAdaTron`.

    Parameters
    ----------
    kernel : str, Kernel or callable, default "rbf"
        As for `KernelAdaTron`. A kernel value whose gamma is a number keeps it unless `gammas` are given.
    Cs : sequence of float, optional
        Finite caps to choose from; ten from 0.1 to 1000 by default.
    gammas : sequence of float, optional
        Widths to choose from; by default ten from 0.1 to 100 times the one that the median distance of the rows suggests
        (`gamma="median"`). None for a kernel without gamma.
    cv : int or splitter, default 5
        Number of stratified folds, shuffled by `random_state`, or a scikit-learn splitter.
    one_standard_error : bool, default False
        Take the smallest cap that has a point within one standard error of the best, and of its widths the best one: the
        simplest machine that is as good. All folds of all points are then needed, as with `full_grid`.
    scoring : {"accuracy", "balanced_accuracy"}, default "accuracy"
        Share of right answers, or its mean over the classes.
    full_grid : bool, default False
        Score every point in every fold, also those that cannot win.
    cv_tol : float, default 1e-2
        Relative duality gap at which to stop inside the cross-validation, in single precision.
    tol : float, default 1e-3
        Relative duality gap of the final fit, certified.
    cache_size : float, default 2000.0
        Memory limit for kernel values, in megabytes: the search needs about 10 n² bytes per thread and 4 n² for all.
    max_time : float, optional
        Time limit in seconds; the search stops at four fifths of it and the best point so far is fitted.
    degree, coef0, intercept, intercept_scaling, multi_class, max_iter, class_weight, n_jobs, verbose, random_state
        As for `KernelAdaTron`; the choice does not depend on `n_jobs`.

    Attributes
    ----------
    best_params_ : dict
        "C", and "gamma" if the kernel has one.
    best_score_ : float
        Mean score of the chosen point.
    cv_results_ : dict of ndarray
        One entry per point, as in scikit-learn: params, param_C, param_gamma, split0_test_score, ..., mean_test_score (over the
        folds done), rank_test_score; ours: skipped_folds, reachable_score (the most the mean could become), mean_gap, steps.
    estimator_ : KernelAdaTron
        The model fitted to all examples; `certificate_`, `alpha_`, `support_`, `dual_coef_`, ... are its own.
    outcome_ : Outcome
        Why the last fit stopped; or why the search did, if that ended early.
    classes_, n_features_in_
        As usual.

    Examples
    --------
    >>> import numpy as np, halfspace as hs
    >>> X = np.random.default_rng(0).standard_normal((80, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "different")
    >>> model = hs.KernelAdaTronCV(Cs=[0.1, 10.0], gammas=[0.01, 1.0], cv=4).fit(X, y)
    >>> model.best_params_, bool(model.certificate_.verify(X, y))
    ({'C': 10.0, 'gamma': 1.0}, True)
    """

    learnt: ClassVar[dict[str, Any]] = {"outcome_": Outcome, "estimator_": "model:KernelAdaTron"}

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        Cs: Any = None,
        gammas: Any = None,
        cv: Any = 5,
        one_standard_error: bool = False,
        scoring: str = "accuracy",
        full_grid: bool = False,
        degree: int = 3,
        coef0: float = 0.0,
        intercept: str = "clamped",
        intercept_scaling: float = 1.0,
        tol: float = 1e-3,
        cv_tol: float = 1e-2,
        multi_class: str = "ovr",
        max_iter: int = 10_000,
        max_time: float | None = None,
        cache_size: float = 2000.0,
        class_weight: dict[Any, float] | str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.Cs = Cs
        self.gammas = gammas
        self.cv = cv
        self.one_standard_error = one_standard_error
        self.scoring = scoring
        self.full_grid = full_grid
        self.degree = degree
        self.coef0 = coef0
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.cv_tol = cv_tol
        self.multi_class = multi_class
        self.max_iter = max_iter
        self.max_time = max_time
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Say that rows of a precomputed kernel belong together with their columns."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = getattr(self.kernel, "is_precomputed", False) or self.kernel == "precomputed"
        return tags

    def _model(self, **chosen: Any) -> KernelAdaTron:
        """Return an unfitted KernelAdaTron with the parameters of this one."""
        own = {"Cs", "gammas", "cv", "one_standard_error", "scoring", "full_grid", "cv_tol"}
        return KernelAdaTron(**{n: v for n, v in self.get_params(deep=False).items() if n not in own} | chosen)

    def fit(self, X: Matrix, y: Labels, sample_weight: Any = None) -> Self:
        """Choose C and gamma, and learn from all examples with them.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples; of a precomputed kernel its matrix, shape (n, n).
        y : array, shape (n,)
            Labels.
        sample_weight : array, shape (n,), optional
            Multiplies the caps per example in every fold; scores are not weighted.
        """
        with restored_on_error(self), one_blas_thread():
            began = time.perf_counter()
            run, width = self._choose(X, y, sample_weight)
            self._refit(X, y, sample_weight, run, width, began)
            return self

    def _choose(self, X: Matrix, y: Labels, sample_weight: Any = None) -> tuple[GridRun, Width]:
        """Choose C and gamma: `best_params_` and `cv_results_`; return what came of the grid and the kernel chosen."""
        began = time.perf_counter()
        asked = self._model()
        asked._check_parameters()  # noqa: SLF001  (a model and its choice are one)
        for name in ("one_standard_error", "full_grid"):
            require_switch(self, name)
        require_choice(self, "scoring", "accuracy", "balanced_accuracy")
        require_number(self, "cv_tol")
        require(self, "cv_tol", "below 1", holds=self.cv_tol < 1)
        data = read_examples(self, X, y, asked._asked_clamp())  # noqa: SLF001
        data.inspection()
        s = example_weights(self.class_weight, sample_weight, data.classes, data.target, type(self).__name__)
        caps, widths = read_grid(type(self).__name__, self.Cs, self.gammas, asked._asked_kernel(), data.X)  # noqa: SLF001
        run = self._search(data, s, caps, widths, began)
        self.classes_ = data.classes
        self.cv_results_ = results_table(run, np.array([width.gamma for width in widths]))
        point = chosen_point(run, one_standard_error=self.one_standard_error)
        width = widths[point.width]
        self.best_params_ = {"C": float(caps[point.cap])} | ({} if np.isnan(width.gamma) else {"gamma": width.gamma})
        self.best_score_, self.best_index_ = point.score, point.width * caps.size + point.cap
        return run, width

    def _search(self, data: Examples, s: FloatArray, caps: FloatArray, widths: list[Width], began: float) -> GridRun:
        """Score the grid."""
        owner, n = type(self).__name__, data.y.size
        folds = self._folds(data)
        balanced, K = self.scoring == "balanced_accuracy", data.classes.size
        voting = self.multi_class == "ovo" and K > 2
        machines = len(folds) * (K * (K - 1) // 2 if voting else 1 if K == 2 else K)
        matrices, workers = matrices_of(owner, widths, data, machines, float(self.cache_size), self.n_jobs)
        tasks = tasks_of(data, s, pairs=voting)
        problems = [problems_of(tasks, train, n, owner) for train, _ in folds]
        targets = [data.target[test] for _, test in folds]

        def score(_width: int, _cap: int, fold: int, machines: Machines) -> float:
            right = class_numbers(machines.outputs(folds[fold][1]), K, voting=voting) == targets[fold]
            return float(mean_per_class(right, targets[fold]) if balanced else np.count_nonzero(right) / right.size)

        skip = not (self.full_grid or self.one_standard_error)
        plan = GridPlan(float(self.cv_tol), self.intercept == "free", skip, progress_printer(owner, self.verbose))
        run = GridRun(matrices, caps, problems, score, plan)
        seconds = None if self.max_time is None else max(began + 0.8 * float(self.max_time) - time.perf_counter(), 0.0)
        search_grid(run, workers, seconds)
        return run

    def _refit(self, X: Matrix, y: Labels, sample_weight: Any, run: GridRun, width: Width, began: float) -> None:
        """Fit the chosen point to all examples."""
        rest = self.max_time
        rest = None if rest is None else max(float(rest) - (time.perf_counter() - began), 0.1 * float(rest))
        self.estimator_ = self._model(kernel=width.kernel, C=self.best_params_["C"], max_time=rest).fit(X, y, sample_weight)
        self.outcome_ = self.estimator_.outcome_
        if run.reason != "converged":
            done, total = int(np.isfinite(run.scores).all(axis=2).sum()), run.scores.shape[0] * run.scores.shape[1]
            sentence = (
                f"The search stopped ({run.reason}) with {done} of {total} points scored in all folds; "
                f"the best so far, {self.best_params_}, was fitted to all examples. {self.outcome_.sentence}"
            )
            self.outcome_ = Outcome(run.reason, sentence, "Raise max_time, or give fewer Cs, gammas, folds or rows.")
            if run.reason == "time budget spent":
                warnings.warn(f"{type(self).__name__}: {self.outcome_}", GapWarning, stacklevel=3)

    # ------------------------------------------------------------ the model chosen
    @property
    def kernel_(self) -> Kernel:
        """The kernel chosen, every parameter a number."""
        kernel: Kernel = self._chosen().kernel_
        return kernel

    @property
    def support_vectors_(self) -> Matrix:
        """Support vectors, shape (m, d)."""
        return self._chosen().support_vectors_

    @property
    def dual_coef_(self) -> FloatArray:
        """Strength times label of every support vector, shape (K, m)."""
        coefficients: FloatArray = self._chosen().dual_coef_
        return coefficients
