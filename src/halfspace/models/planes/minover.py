"""MinOver."""

import time
import warnings
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.certificates import Certificate, MarginBracket, PerClass
from halfspace.certificates.arithmetic import combination, vanishes_exactly
from halfspace.errors import NotSeparatedWarning
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
from halfspace.models.planes.prediction import PlaneMixin, shared
from halfspace.models.progress import Reporter
from halfspace.rows.views import entries_per_row, n_rows
from halfspace.solvers.linear.minover import LONGEST, Pushes, Pushing
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.rules.minover import Problem, State, check_states, width
from halfspace.solvers.run import Budget, Course, Progress, Run, ended, run, steps

__all__ = ["MinOver"]

UNLIMITED = 10**15
"""Rounds: pushes are what is counted."""


class MinOver(PlaneMixin, ClassifierMixin, CallbackSupportMixin, BaseEstimator):
    """The plane of maximal stability: push the example of lowest potential until the margin is bracketed.

    After every push the best margin kappa* lies between the stability of the weights and ‖w‖/pushes, so the fit knows how
    far it is from the best plane and stops when the two are within `tol` of each other. The pushes needed grow like 1/tol²:
    MinOver shows how stability is found, `AdaTron(C=inf)` is the fast way to it. It tolerates no errors: on inseparable data
    it stops at a budget, or with a proof that no plane exists. The bias is a clamped input; a free one is not offered.

    In the words of lectures: the perceptron of optimal stability, the centre of the largest ball in version space.

    Parameters
    ----------
    tol : float, default 1e-2
        Relative width of the bracket, (upper - lower)/upper, to reach; below 1.
    solver : {"auto", "plain"}, default "auto"
        The same pushes in the same order with less reading (`halfspace.solvers.linear.minover_accelerated`), or the rule as it
        is printed, which looks at every example after every push.
    intercept : {"clamped", "none"}, default "clamped"
        Bias as the weight of a clamped input, or none.
    intercept_scaling : float, default 1.0
        Value of the clamped input.
    max_iter : int, default 100_000
        Maximum number of pushes, for each class where there are more than two.
    max_time : float, optional
        Time limit in seconds.
    warm_start : bool, default False
        Go on from the last fit if the data are the same; with other data start afresh.
    verbose : int, default 0
        1: a line every half second; 2: a line every few milliseconds.

    Attributes
    ----------
    certificate_ : MarginBracket or PerClass
        `lower <= kappa* <= upper` with the witnesses of both sides; `certificate_.verify(X, y)` checks it.
    outcome_ : Outcome
        Why the fit stopped, and a remedy.
    coef_, intercept_ : ndarray, shape (K, d), (K,)
        The most stable plane found.
    alpha_ : ndarray, shape (n,) or (K, n)
        Strengths: how often each example was pushed on the way to that plane, `w = Σ alpha_i y_i x_i`.
    history_ : dict of ndarray
        `push`, `lower`, `upper` and `seconds`, thinned out: the bracket over the pushes.
    n_iter_ : int
        Pushes made in this fit; the most of any class.
    classes_, n_features_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> import halfspace as hs
    >>> X, y = np.array([[3.0, 1.0], [3.0, -1.0], [-1.0, 0.0]]), np.array([1, 1, 0])
    >>> model = hs.MinOver(intercept="none").fit(X, y)
    >>> print(model.certificate_, model.outcome_.reason, bool(model.certificate_.verify(X, y)))
    1 <= kappa* <= 1.01 converged True
    """

    learnt: ClassVar[dict[str, Any]] = {"_states": [State]}

    classes_: Labels
    _states: list[State]

    def __init__(
        self,
        *,
        tol: float = 1e-2,
        solver: str = "auto",
        intercept: str = "clamped",
        intercept_scaling: float = 1.0,
        max_iter: int = 100_000,
        max_time: float | None = None,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.tol = tol
        self.solver = solver
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.max_time = max_time
        self.warm_start = warm_start
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Matrix, y: Labels) -> Self:
        """Learn from examples.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples; float32 and float64 are used as they are.
        y : array, shape (n,)
            Labels of any kind: numbers, strings, bools.

        Returns
        -------
        self
            With `certificate_`, `outcome_`, `coef_`, `intercept_`, `alpha_`, `history_`, `n_iter_`, `classes_`.
        """
        with restored_on_error(self):
            began = time.perf_counter()
            method, pushes = self._prepare(X, y)
            reporter = Reporter(self, X, y, self._so_far, int(self.max_iter) + 1, self._progress)
            return self._store(method, run(method, self._budget(began, method), pushes, reporter.watch), reporter)

    def steps(self, X: Matrix, y: Labels) -> Iterator[Progress]:
        """Learn from examples like `fit`, pausing after every push of each class: for animations.

        The model predicts from the most stable weights so far. When the iteration ends by itself, it is as `fit` would have
        left it.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        y : array, shape (n,)
            Labels.

        Yields
        ------
        Progress
            Rounds finished, seconds, and the state: `state.states[k].sides` is the bracket of the moment.
        """
        began = time.perf_counter()
        method, pushes = self._prepare(X, y, longest=1)
        for name in {"certificate_", "outcome_", "history_", "n_iter_"} & vars(self).keys():
            delattr(self, name)
        budget, course, at = self._budget(began, method), Course(method.columns), Progress(0, 0, pushes, 0.0)
        for at in steps(method, pushes, budget, every=1):
            course.note(at)
            yield at
        self._store(method, ended(method, at, budget, course))

    def _budget(self, began: float, method: Pushing) -> Budget:
        """Return the time for a fit that was called at `began`; the method counts its pushes itself."""
        X = method.problems[0].X
        entries = n_rows(X) * entries_per_row(X)
        return budget_of(self, began, 2 * len(method.problems) * entries)._replace(max_iter=UNLIMITED)

    def _prepare(self, X: Matrix, y: Labels, longest: int = LONGEST) -> tuple[Pushing, Pushes]:
        """Check parameters and examples; return what to do with them, and where to begin."""
        self._check_parameters()
        before = dict(vars(self))
        data = read_examples(self, X, y, self._asked_clamp())
        data.inspection()
        signs = np.where(data.target == data.positive[:, None], 1.0, -1.0)
        method = Pushing(
            [Problem(data.view, sign, data.q) for sign in signs],
            float(self.tol),
            int(self.max_iter),
            prove=lambda k, multipliers: vanishes_exactly(data.X, multipliers * signs[k], data.clamp),
            claim=lambda pushes: self._certify(data, pushes),
            plain=self.solver == "plain",
            longest=longest,
        )
        pushes = method.start(_same_run(before, data, signs) if self.warm_start and "_states" in before else None)
        self._fitted_clamp, self.classes_, self._states = data.clamp, data.classes, pushes.states
        return method, pushes

    def _so_far(self) -> dict[str, Any]:
        """Return what a callback needs to predict with the model as it is now."""
        return deepcopy({name: value for name, value in vars(self).items() if name.startswith("_") or name == "classes_"})

    def _progress(self, at: Progress) -> str:
        widest = max(map(width, at.state.states))
        return f"{int(at.state.made().sum()):,} pushes, bracket within {widest:.2g}, {at.seconds:.1f} s"

    def _store(self, method: Pushing, end: Run, reporter: Reporter | None = None) -> Self:
        """Store what was found, why it stopped, and the proof."""
        self.n_iter_, self.history_ = int(end.state.made().max()), end.course.history()
        self.history_.pop("round")
        self.certificate_ = method.certify(end.state)
        self.outcome_ = self._explained(end)
        if reporter is not None:
            reporter.line(str(self.outcome_))
            reporter.close()
        return self

    def _check_parameters(self) -> None:
        require_number(self, "tol")
        require(self, "tol", "below 1", holds=self.tol < 1)
        require_choice(self, "solver", "auto", "plain")
        require_choice(self, "intercept", "clamped", "none")
        check_common(self)

    def _answer(self) -> tuple[FloatArray, FloatArray]:
        return np.array([s.lower_w for s in self._states]), np.array([s.lower_alpha for s in self._states])

    def _certify(self, data: Examples, pushes: Pushes) -> Certificate:
        """Measure the bracket of every problem from the data."""
        labels = data.classes[data.positive].tolist()
        parts = tuple(
            MarginBracket.measure(
                data.X,
                data.y,
                weights=shared(state.lower_w),
                strengths=pushes.proofs.get(k, state.upper_alpha),
                clamp=data.clamp,
                positive=label,
            )
            for k, (state, label) in enumerate(zip(self._states, labels, strict=True))
        )
        return parts[0] if len(parts) == 1 else PerClass(tuple(labels), parts)

    def _explained(self, end: Run) -> Outcome:
        """Say how far the fit came, and what to do if that is not far enough."""
        stopped, proofs = end.outcome, end.state.proofs
        if stopped.reason == "iteration budget spent":
            stopped = Outcome(stopped.reason, f"Stopped after {self.n_iter_:,} pushes (max_iter={self.max_iter}).")
        elif stopped.reason in {"time budget spent", "stopped by callback", "interrupted"}:
            stopped = replace(stopped, sentence=f"{stopped.reason.capitalize()} after {self.n_iter_:,} pushes.")
        reached, share = max(map(width, self._states)), f"{self.tol:.3g}"
        if reached <= self.tol:
            return Outcome("converged", f"Converged after {self.n_iter_} pushes: the margin is known to within {reached:.2g}.")
        separated = all(state.sides[0] > 0.0 for state in self._states)
        if separated:
            known = f"Separated; the best margin is known to within {reached:.2g} > tol={share}."
            remedy = "Raise max_iter or max_time (warm_start=True goes on), or use AdaTron(C=inf), which is faster."
            return Outcome(stopped.reason, f"{stopped.sentence} {known}", remedy)
        open_problems = [k for k, state in enumerate(self._states) if not width(state) <= self.tol]
        ways = "AdaTron(C=1) tolerates errors."
        if all(k in proofs for k in open_problems):
            sentence = f"Proved inseparable after {self.n_iter_} pushes: the weights came back to where they were."
            outcome = Outcome("proved inseparable", sentence, f"No plane separates these data: {ways}")
        else:
            known = "The classes are neither separated nor proved inseparable."
            remedy = f"hs.separability(X, y) gives the proof; if a plane exists, raise max_iter; if not, {ways}"
            outcome = Outcome(stopped.reason, f"{stopped.sentence} {known}", f"{stopped.remedy} {remedy}".strip())
        if outcome.reason != "interrupted":
            warnings.warn(f"{type(self).__name__}: {outcome}", NotSeparatedWarning, stacklevel=5)
        return outcome

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse states of other problems."""
        check_states(fitted["_states"], sizes, sizes["D"])


def _same_run(before: dict[str, Any], data: Examples, signs: FloatArray) -> list[State] | None:
    """Return copies of the last fit's states if it was on these data: its weights are Σ alpha_i y_i x_i."""
    old: list[State] = before["_states"]
    fits = len(old) == len(signs) and old[0].alpha.size == data.y.size and before["_fitted_clamp"] == data.clamp
    if not fits or old[0].w.size != data.X.shape[1] + bool(data.clamp) or not np.array_equal(before["classes_"], data.classes):
        return None
    W, alpha = np.array([s.w for s in old]), np.array([s.alpha for s in old])
    learnt = combination(data.X, alpha * signs, data.clamp)
    scale = alpha.sum(axis=1, keepdims=True) * data.radius  # lengths that were added up: weights may have cancelled
    return deepcopy(old) if bool((np.abs(learnt - W) <= 1e-9 * scale).all()) else None
