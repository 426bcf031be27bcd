"""MinOver in a kernel's space."""

import time
import warnings
from copy import deepcopy
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.certificates import PerClass
from halfspace.errors import NotSeparatedWarning
from halfspace.kernels import Kernel
from halfspace.kernels.gram import LazyGram
from halfspace.models.kernel.learners import fingerprint
from halfspace.models.kernel.prediction import MEASURED, Expansion, KernelPlaneMixin, Measured, measured
from halfspace.models.parameters import (
    Examples,
    budget_of,
    check_common,
    read_examples,
    require,
    require_choice,
    require_number,
    restored_on_error,
)
from halfspace.models.progress import Reporter
from halfspace.solvers.kernel.minover import KernelPushing, Table
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.rules.minover import State, check_states, width
from halfspace.solvers.run import Progress, run

__all__ = ["KernelMinOver"]

UNLIMITED = 1 << 62
"""Rounds of the driver: the method counts pushes itself."""


class KernelMinOver(KernelPlaneMixin, ClassifierMixin, CallbackSupportMixin, BaseEstimator):
    """The function of maximal stability in a kernel's space: push the example of lowest potential until the margin is known.

    After every push the best margin kappa* lies between the stability of the function and ‖f‖/pushes; the fit stops when the
    two are within `tol` of each other, which takes pushes like 1/tol². It tolerates no errors. A push costs one row of the
    kernel matrix, computed once if the matrix fits `cache_size`.

    Parameters
    ----------
    kernel : str, Kernel or callable, default "rbf"
        "rbf", "linear", "poly", "laplacian", "cosine", "sigmoid", "precomputed", a value of `halfspace.kernels`, or a function
        of two rows.
    gamma, degree, coef0
        Parameters of a kernel given by name, as in scikit-learn.
    tol : float, default 1e-2
        Relative width of the bracket, (upper - lower)/upper, to reach; below 1.
    intercept : {"clamped", "none"}, default "clamped"
        Bias as the weight of a clamped input, which adds the square of `intercept_scaling` to the kernel, or none.
    intercept_scaling : float, default 1.0
        Value of the clamped input.
    max_iter : int, default 100_000
        Maximum number of pushes, for each class where there are more than two.
    max_time : float, optional
        Time limit in seconds.
    cache_size : float, default 512.0
        Megabytes for rows of the kernel matrix; those that do not fit are computed when they are needed.
    warm_start : bool, default False
        Go on from the last fit if the data are the same; with other data start afresh.
    verbose : int, default 0
        1: a line every half second; 2: a line every few milliseconds.

    Attributes
    ----------
    certificate_ : KernelBracket or PerClass
        `lower <= kappa* <= upper` with the witnesses of both sides; `certificate_.verify(X, y)` checks it.
    outcome_ : Outcome
        Why the fit stopped, and a remedy.
    kernel_ : Kernel
        The kernel, every parameter a number.
    alpha_ : ndarray, shape (n,) or (K, n)
        Strengths: how often each example was pushed on the way to the most stable function found.
    support_, support_vectors_, dual_coef_, intercept_
        As in scikit-learn's SVC; `dual_coef_` has one row per class, or one for two classes.
    history_ : dict of ndarray
        `push`, `lower`, `upper` and `seconds`, thinned out: the bracket over the pushes.
    n_iter_ : int
        Pushes made in this fit; the most of any class.
    classes_, n_features_in_
        As in scikit-learn.

    Examples
    --------
    >>> import halfspace as hs
    >>> X, y, *_ = hs.data.xor()
    >>> model = hs.KernelMinOver("poly", degree=2, gamma=1.0, coef0=1.0, intercept="none").fit(X, y)
    >>> print(model.certificate_, model.outcome_.reason, bool(model.certificate_.verify(X, y)))
    1.414 <= kappa* <= 1.414 converged True
    """

    learnt: ClassVar[dict[str, Any]] = {"_alpha": "f8(K,t)", "_mark": ("str", "kernel", "number"), "_states": [State]}

    _states: list[State]

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float = 1e-2,
        intercept: str = "clamped",
        intercept_scaling: float = 1.0,
        max_iter: int = 100_000,
        max_time: float | None = None,
        cache_size: float = 512.0,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.max_time = max_time
        self.cache_size = cache_size
        self.warm_start = warm_start
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        """Say that overlapping classes are not what it is for: it looks at the worst example only."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

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
            With `certificate_`, `outcome_`, `alpha_`, `support_`, `dual_coef_`, `history_`, `n_iter_`, `classes_`.
        """
        with restored_on_error(self):
            return self._fit(X, y, time.perf_counter())

    def _fit(self, X: Matrix, y: Labels, begin: float) -> Self:
        self._check_parameters()
        before = dict(vars(self))
        data = read_examples(self, X, y, self._asked_clamp())
        data.inspection()
        kernel, shift = self._proved_kernel(data.X)
        signs = np.where(data.target == data.positive[:, None], 1.0, -1.0)
        self._mark = (fingerprint(data.X, data.target), kernel, data.clamp)
        again = self.warm_start and before.get("_mark") == self._mark and np.array_equal(before["classes_"], data.classes)
        self._fitted_clamp, self.classes_ = data.clamp, data.classes
        budget = budget_of(self, begin, MEASURED * signs.size)._replace(max_iter=UNLIMITED)
        gram = LazyGram(kernel, data.X, data.clamp, stored=0.0, seconds=budget.left())
        table = Table(gram, 1e6 * self.cache_size, budget.left(), data.positive.size)
        method = KernelPushing.of(signs, table, float(self.tol), int(self.max_iter), budget.left())
        state = method.start(deepcopy(before["_states"]) if again else None)
        self._states = state.states

        def so_far() -> dict[str, Any]:
            self._store(data, kernel, signs)
            return deepcopy({name: value for name, value in vars(self).items() if name.startswith("_") or name == "classes_"})

        def text(at: Progress) -> str:
            widest = max(map(width, self._states))
            return f"{int(at.state.made().sum()):,} pushes, bracket within {widest:.2g}, {at.seconds:.1f} s"

        reporter = Reporter(self, X, y, so_far, int(self.max_iter) + 1, text)
        done = run(method, budget, state, reporter.watch)
        self.n_iter_, self.history_ = int(state.made().max()), done.course.history()
        self.history_.pop("round")
        seen = self._certify(data, kernel, shift, signs)
        self.outcome_ = self._explained(done.outcome, seen, whole=table.whole)
        reporter.line(str(self.outcome_))
        reporter.close()
        return self

    def _check_parameters(self) -> None:
        require_number(self, "tol")
        require(self, "tol", "below 1", holds=self.tol < 1)
        require_choice(self, "intercept", "clamped", "none")
        require_number(self, "cache_size")
        self._asked_kernel()
        check_common(self)

    def _store(self, data: Examples, kernel: Kernel, signs: FloatArray) -> None:
        """Keep the most stable functions found."""
        self._alpha = np.array([state.lower_alpha for state in self._states])
        rows = np.flatnonzero(self._alpha.any(axis=0))
        c = (self._alpha * signs)[:, rows]
        self._expansion = Expansion(kernel, data.X[rows], rows, c, data.clamp**2 * c.sum(axis=1))

    def _certify(self, data: Examples, kernel: Kernel, shift: float, signs: FloatArray) -> Measured:
        """Measure the bracket of every problem from the data, in double precision."""
        self._store(data, kernel, signs)
        seen = measured(data, shift, np.array([state.upper_alpha for state in self._states]), self._expansion)
        parts, labels = tuple(seen.parts), data.classes.tolist()
        self.certificate_ = parts[0] if len(parts) == 1 else PerClass(tuple(labels), parts)
        self._potentials, self._lengths, self._labels = seen.E, seen.lengths, data.y
        self._caps = np.full(data.y.size, np.inf)
        return seen

    def _explained(self, ended: Outcome, seen: Measured, *, whole: bool) -> Outcome:
        """Say how far the fit came, and what to do if that is not far enough."""
        if ended.reason == "iteration budget spent":
            ended = Outcome(ended.reason, f"Stopped after {self.n_iter_} pushes (max_iter={self.max_iter}).")
        reached = max((part.upper - part.lower) / part.upper if part.upper > 0.0 else np.inf for part in seen.parts)
        counted, share = max(map(width, self._states)), f"{self.tol:.3g}"
        rows = f" Rows of the kernel matrix, too large for cache_size={self.cache_size:g} MB, were computed when needed."
        rows = "" if whole else rows
        if counted <= self.tol:
            known = f"after {self.n_iter_} pushes: the margin is known to within {reached:.2g}."
            if reached <= self.tol * (1 + 1e-6):
                return Outcome("converged", f"Converged {known}{rows}")
            remedy = (
                f"Rounding errors do not allow a narrower bracket: use a tol above {reached:.2g}, or scale the kernel's inputs."
            )
            return Outcome("rounding limit reached", f"Stopped {known}{rows}", remedy)
        remedy = "Raise max_iter or max_time (warm_start=True goes on), or accept a larger tol."
        if all(part.lower > 0.0 for part in seen.parts):
            known = f"Separated; the best margin is known to within {reached:.2g} > tol={share}."
            return Outcome(ended.reason, f"{ended.sentence} {known}{rows}", remedy)
        remedy += " If the kernel does not separate the classes, use a narrower one (larger gamma or degree)."
        sentence = f"{ended.sentence} The classes are neither separated nor proved inseparable.{rows}"
        outcome = Outcome(ended.reason, sentence, remedy)
        if outcome.reason != "interrupted":
            warnings.warn(f"{type(self).__name__}: {outcome}", NotSeparatedWarning, stacklevel=5)
        return outcome

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse states of other problems: here the weights are the outputs of all examples."""
        super().check_learnt(fitted, sizes)
        check_states(fitted["_states"], sizes, sizes["n"])
