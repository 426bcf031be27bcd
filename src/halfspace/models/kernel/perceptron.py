"""The kernel perceptron, on data sets and on streams."""

import time
import warnings
from copy import deepcopy
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import check_random_state

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.errors import InputError, NotSeparatedWarning
from halfspace.models.kernel.learners import OnBudget, Setting, Unbounded, fingerprint, mistakes_certificate
from halfspace.models.kernel.prediction import MEASURED, KernelPlaneMixin
from halfspace.models.parameters import (
    Examples,
    as_float,
    budget_of,
    check_common,
    read_examples,
    require,
    require_choice,
    require_number,
    restored_on_error,
    usable_rows,
)
from halfspace.models.planes.prediction import StreamMixin
from halfspace.models.progress import Reporter
from halfspace.rows.labels import class_numbers, example_weights
from halfspace.rows.orders import Orders
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.rules.sweep import Task
from halfspace.solvers.run import Budget, Progress, run, steps

__all__ = ["KernelPerceptron"]


class KernelPerceptron(StreamMixin, KernelPlaneMixin, ClassifierMixin, CallbackSupportMixin, BaseEstimator):
    """Rosenblatt's perceptron in a kernel's space: plain, averaged or voted, with all its support vectors or a budget of them.

    It makes the mistakes of the perceptron on the feature map, in the same order, and at most (R/kappa)² of them where the
    kernel separates the classes. With `budget=B` it follows a stream in constant memory: B support vectors per class.

    Parameters
    ----------
    kernel : str, Kernel or callable, default "rbf"
        "rbf", "linear", "poly", "laplacian", "cosine", "sigmoid", "precomputed", a value of `halfspace.kernels`, or a function
        of two rows.
    gamma, degree, coef0
        Parameters of a kernel given by name, as in scikit-learn.
    variant : {"plain", "averaged", "voted"}, default "plain"
        Predict by the last function, by the mean of all, or by the vote of all (Freund and Schapire 1999).
    budget : int, optional
        Largest number of support vectors of a class; only for `variant="plain"`. On a full budget examples are projected on
        the support vectors there are (the Projectron), B² work per mistake.
    intercept : {"clamped", "none"}, default "clamped"
        Bias as the weight of a clamped input, which adds the square of `intercept_scaling` to the kernel, or none.
    intercept_scaling : float, default 1.0
        Value of the clamped input.
    max_iter : int, default 100
        Maximum number of epochs; fewer if one passes without a mistake.
    max_time : float, optional
        Time limit in seconds.
    shuffle : bool, default True
        New order in every epoch.
    class_weight : dict or "balanced", optional
        Rate multiplier per class.
    cache_size : float, default 512.0
        Megabytes for kernel values. A larger kernel matrix is never built: examples are presented in blocks instead.
    warm_start : bool, default False
        Go on from the last fit if the data are the same; with other data start afresh (`partial_fit` goes on with others).
    verbose : int, default 0
        1: a line every half second; 2: a line every epoch.
    random_state : int, RandomState or None
        Seed of the order.

    Attributes
    ----------
    certificate_ : MistakeBound, BudgetedMistakes, KernelBracket or PerClass
        Mistakes made and the most the theorem allows, with the margin bracket in the kernel's space.
    outcome_ : Outcome
        Why the fit stopped, and a remedy.
    kernel_ : Kernel
        The kernel, every parameter a number.
    alpha_ : ndarray, shape (n,) or (K, n)
        Strengths of the training examples (of a stream: of the last chunk's).
    support_, support_vectors_, dual_coef_, intercept_
        As in scikit-learn's SVC; `dual_coef_` has one row per class, or one for two classes.
    mistakes_ : int or ndarray, shape (K,)
        Mistakes made.
    history_ : dict of ndarray
        Per epoch: mistakes so far, squared norm of the function, overlap with the last one, seconds.
    classes_, n_features_in_, n_iter_
        As in scikit-learn.

    Examples
    --------
    >>> import halfspace as hs
    >>> X, y, *_ = hs.data.xor()
    >>> model = hs.KernelPerceptron("poly", degree=2, gamma=1.0, intercept="none", shuffle=False).fit(X, y)
    >>> model.predict(X).tolist(), model.mistakes_
    ([1, -1, -1, 1], 2)
    >>> print(model.certificate_, bool(model.certificate_.verify(X, y)))
    at most 2 mistakes by Novikoff's theorem; 1.414 <= kappa* <= 1.414; reported by the run, not proved: 2 mistakes True
    """

    learnt: ClassVar[dict[str, Any]] = {
        "mistakes_": "int | i8(K)",
        "_native": "bool",
        "_alpha": "f8(K,n)",
        "_learner": Unbounded | OnBudget,
    }

    _learner: Any  # Unbounded or OnBudget

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        variant: str = "plain",
        budget: int | None = None,
        intercept: str = "clamped",
        intercept_scaling: float = 1.0,
        max_iter: int = 100,
        max_time: float | None = None,
        shuffle: bool = True,
        class_weight: dict[Any, float] | str | None = None,
        cache_size: float = 512.0,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.variant = variant
        self.budget = budget
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.max_time = max_time
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.cache_size = cache_size
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Matrix, y: Labels) -> Self:
        """Learn from examples.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples; of a precomputed kernel its matrix, shape (n, n).
        y : array, shape (n,)
            Labels of any kind: numbers, strings, bools.

        Returns
        -------
        self
            With `certificate_`, `outcome_`, `alpha_`, `support_`, `dual_coef_`, `mistakes_`, `history_`, `classes_`.
        """
        with restored_on_error(self):
            return self._fit(X, y, time.perf_counter())

    def _fit(self, X: Matrix, y: Labels, begin: float) -> Self:
        self._check_parameters()
        before = dict(vars(self))
        data = read_examples(self, X, y, self._asked_clamp())
        data.inspection()
        kernel, shift = self._proved_kernel(data.X)
        s = example_weights(self.class_weight, None, data.classes, data.target, type(self).__name__)
        task = Task(data.view, data.target, data.positive, data.q, s)
        setting = Setting(kernel, data.clamp**2, self.variant, 1e6 * self.cache_size)
        budget = budget_of(self, begin, MEASURED * data.positive.size * data.y.size)
        self._learner, method, state = self._begin(setting, data, task, before, budget)
        self._fitted_clamp, self.classes_, self._native = data.clamp, data.classes, False
        reporter = Reporter(self, X, y, lambda: self._so_far(data.X), int(self.max_iter))

        def watch(at: Progress) -> bool:
            text = f"epoch {at.round}: {int(at.table[0][-1].sum()):,} mistakes, {at.seconds:.1f} s"
            return reporter.tell(text, last=at.round >= self.max_iter)

        done = run(method, budget, state, watch)
        self._store(data.X)
        self.n_iter_, self.history_ = done.rounds, self._learner.history(done.course)
        self.certificate_, seen = mistakes_certificate(
            self._learner, self._expansion, data, s, shift, None if self.max_time is None else 0.5 * self.max_time
        )
        self._potentials, self._lengths, self._labels = seen.E, seen.lengths, data.y
        self._caps = np.full(data.y.size, np.inf)
        self.outcome_ = self._explained(done.outcome)
        reporter.line(str(self.outcome_))
        reporter.close()
        return self

    def partial_fit(self, X: Matrix, y: Labels, classes: Labels | None = None, sample_weight: Any = None) -> Self:
        """Learn from the next examples of a stream, each once and in order; any cut into chunks makes the same mistakes.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            The next examples. A `gamma` that is learnt from data is learnt from the first ones.
        y : array, shape (n,)
            Their labels.
        classes : array, shape (K,), optional
            All labels there will ever be; needed at the first call.
        sample_weight : array, shape (n,), optional
            Rate multipliers.

        Returns
        -------
        self
            Ready to predict; `alpha_` is of the rows of this call. Without a budget the support grows with the mistakes.
        """
        return self._partial_fit(X, y, classes, sample_weight)

    def _check_parameters(self) -> None:
        require_choice(self, "variant", "plain", "averaged", "voted")
        require_choice(self, "intercept", "clamped", "none")
        whole = isinstance(self.budget, int | np.integer) and not isinstance(self.budget, bool)
        require(
            self, "budget", "a whole number >= 1, or None", holds=self.budget is None or (whole and as_float(self.budget) >= 1)
        )
        require(self, "budget", "None unless variant='plain'", holds=self.budget is None or self.variant == "plain")
        require_number(self, "cache_size")
        self._asked_kernel()
        check_common(self)

    @property
    def votes_(self) -> list[IntArray]:
        """Votes of each function, per problem, in the order they arose; only with `variant="voted"`."""
        self._known()
        if self._learner.setting.variant != "voted":
            msg = f"only variant='voted' has votes_, this KernelPerceptron is {self._learner.setting.variant}"
            raise AttributeError(msg)
        log, votes = self._learner.votes()
        return [votes[log.k == k].astype(np.int64) for k in range(self._expansion.coefficients.shape[0])]

    def _scores(self, X: Matrix) -> FloatArray:
        if self._learner.setting.variant != "voted":
            return super()._scores(X)
        usable_rows(X, 0.0, type(self).__name__)
        tally: FloatArray = self._learner.tally(X)
        return tally

    def _explained(self, outcome: Outcome) -> Outcome:
        """Add what the certificate knows, and a remedy, to why the loop stopped."""
        memory = ""
        if outcome.converged:
            outcome = Outcome("converged", f"Converged: epoch {self.n_iter_} brought no mistake, so none will come.")
        if not self._learner.whole:
            memory = f" The kernel matrix does not fit cache_size={self.cache_size:g} MB: examples were presented in blocks."
        if outcome.converged or outcome.reason == "interrupted":
            return Outcome(outcome.reason, outcome.sentence + memory, outcome.remedy)
        if self.variant != "plain" or self.budget is not None:
            kept = f"{self._expansion.rows.size:,} support vectors, {int(np.sum(self.mistakes_)):,} mistakes."
            if outcome.reason == "iteration budget spent":
                return Outcome("passes done", f"{self.n_iter_} epochs, as asked; {kept}{memory}")
            return Outcome(outcome.reason, f"{outcome.sentence} {kept}{memory}", outcome.remedy)
        sentence = f"{outcome.sentence} The last epoch still brought mistakes.{memory}"
        remedy = "If the kernel separates the classes, raise max_iter or max_time (warm_start=True goes on); if not, "
        remedy += "variant='averaged' or 'voted' tolerates errors, and so does a narrower kernel (larger gamma or degree)."
        outcome = Outcome(outcome.reason, sentence, remedy)
        warnings.warn(f"{type(self).__name__}: {outcome}", NotSeparatedWarning, stacklevel=5)
        return outcome

    def _begin(
        self, setting: Setting, data: Examples, task: Task, before: dict[str, Any], budget: Budget
    ) -> tuple[Any, Any, Any]:
        """Return learner, method and state: fresh ones, or those of the last fit if `warm_start` and the data are the same."""
        mark, old = fingerprint(data.X, data.target), before.get("_learner") if self.warm_start else None
        same = old is not None and old.mark == mark and np.array_equal(before["classes_"], data.classes)
        if old is not None and same and old.setting == setting and isinstance(old, OnBudget) == (self.budget is not None):
            learner = old.resumed()
            return learner, *learner.go_on(data.X, task, self._orders(data, learner.seed), budget.left())
        learner = self._new_learner(setting, data.X.shape[1], data.positive.size)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max) if self.shuffle else 0
        return learner, *learner.begin(data.X, task, self._orders(data, seed), mark, budget.left())

    def _new_learner(self, setting: Setting, width: int, n_problems: int) -> Unbounded | OnBudget:
        """Return a learner that knows nothing yet; refuse a budget that the memory has no room for."""
        if self.budget is None:
            return Unbounded(setting)
        needed = 8.0 * n_problems * self.budget * (2 * self.budget + width)
        if needed > setting.room:
            msg = f"KernelPerceptron: a budget of {self.budget:,} for {n_problems} problem(s) needs {needed / 1e6:,.0f} "
            msg += f"MB, but cache_size allows {self.cache_size:g}. Lower the budget or raise cache_size."
            raise InputError(msg)
        return OnBudget(setting, int(self.budget))

    def _orders(self, data: Examples, seed: int) -> Orders:
        """Return the order of the examples in each epoch."""
        n, target = data.y.size, data.target
        return Orders.shuffled(n, float(data.X.shape[1]), target, seed) if self.shuffle else Orders.in_order(n)

    def _take_in(self, X: Matrix, y: Labels, sample_weight: Any) -> Self:
        owner = type(self).__name__
        view, q = usable_rows(X, self._clamp, owner)
        target = class_numbers(y, self.classes_, owner)
        s = example_weights(self.class_weight, sample_weight, self.classes_, target, owner)
        positive = np.array([1]) if self.classes_.size == 2 else np.arange(self.classes_.size)
        if not hasattr(self, "_learner"):
            kernel = self._asked_kernel().resolved(X)
            setting = Setting(kernel, self._clamp**2, self.variant, 1e6 * self.cache_size)
            self._learner = self._new_learner(setting, X.shape[1], positive.size)
        if self._learner.setting.kernel.is_precomputed:
            msg = "KernelPerceptron.partial_fit cannot use a precomputed kernel: new rows have no columns yet. Use fit."
            raise InputError(msg)
        method, state = self._learner.begin(X, Task(view, target, positive, q, s), Orders.in_order(target.size))
        for _ in steps(method, state, Budget(1)):
            pass
        self._store(X)
        self.n_iter_ = 1
        self.outcome_ = Outcome("passes done", f"{self._learner.clock:,} examples of a stream, each seen once.")
        for name in ("certificate_", "history_", "_potentials"):
            self.__dict__.pop(name, None)
        return self

    def _store(self, X: Matrix) -> None:
        """Read the answer from the learner."""
        learner = self._learner
        learner.settle(X)
        self._expansion, self._alpha, self.mistakes_ = learner.expansion(), learner.alpha(), self._mistakes()

    def _so_far(self, X: Matrix) -> dict[str, Any]:
        """Return what a callback needs to predict with the model as it is now."""
        self._store(X)
        return deepcopy({name: value for name, value in vars(self).items() if name.startswith("_") or name == "classes_"})

    def _mistakes(self) -> int | IntArray:
        """Mistakes so far: a number, or one per class."""
        counts: IntArray = self._learner.mistakes
        return int(counts[0]) if counts.size == 1 else counts.copy()

    @property
    def certify(self) -> NoReturn:
        """Not offered: a certificate names its support vectors by their rows, which a stream does not keep."""
        msg = f"{type(self).__name__} has no certify: its certificates name support vectors by their rows. fit gives one."
        raise AttributeError(msg)

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse what a learner cannot go on from."""
        super().check_learnt(fitted, sizes)
        fitted["_learner"].check(sizes)
