"""What all models that learn by presenting examples share: fitting a data set, with its proof and its outcome."""

import warnings
from collections.abc import Callable
from copy import deepcopy
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import check_random_state

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.certificates import Certificate, KeslerBracket, MarginBracket, MistakeBound, PerClass
from halfspace.certificates.arithmetic import combination, vanishes_exactly
from halfspace.certificates.margins.bracket import Sides, rivals_only
from halfspace.errors import NotSeparatedWarning
from halfspace.models.parameters import (
    Examples,
    check_common,
    read_examples,
    require_choice,
    restored_on_error,
)
from halfspace.models.planes.stream import StreamMixin
from halfspace.models.progress import Reporter
from halfspace.rows.labels import example_weights
from halfspace.rows.orders import in_order, shuffled
from halfspace.rows.outputs import outputs
from halfspace.rows.views import entries_per_row
from halfspace.solvers.loop import Budget, Method, Progress, Run, solve
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.rules.sweep import Forget, State, Task, start

__all__ = ["PresentingClassifier"]

OVERLAPPED = 1 << 20
"""Entries from which measuring the rows beside the first epoch pays."""


class PresentingClassifier(StreamMixin, ClassifierMixin, CallbackSupportMixin, BaseEstimator):
    """A model that learns by presenting one example after another.

    A subclass says which rule (`_rule`), keeps a memory if it needs one (`_remembering`, `_answer`), and knows its theorem
    (`_claim`). It has the parameters `intercept`, `intercept_scaling`, `max_iter`, `max_time`, `class_weight`, `warm_start`
    and `verbose`, and where they make sense `shuffle`, `random_state` and `multi_class`.
    """

    _reads_norms: bool = True
    """Whether the rule reads the squared norms; if not, they are measured beside the first epoch."""
    shuffle: bool = False
    random_state: Any = None
    verbose: int

    # ------------------------------------------------------------ what a subclass says
    def _answer(self) -> tuple[FloatArray, FloatArray]:
        return self._state.W, self._state.alpha

    def _claim(self, mistakes: int, bracket: Any, s: FloatArray, began: float) -> Certificate:
        """Return the certificate of one problem, from its mistakes, its bracket, the weights of examples and the start."""
        return MistakeBound.of(mistakes, bracket, self._theorem(s, began))

    def _theorem(self, s: FloatArray, began: float) -> Any:
        """Return the theorem that bounds the mistakes."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        require_choice(self, "intercept", "clamped", "none")
        require_choice(self, "multi_class", "ovr", "native")
        check_common(self)

    # ------------------------------------------------------------ learning from a data set
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
            With `certificate_`, `outcome_`, `coef_`, `intercept_`, `alpha_`, `mistakes_`, `history_`, `n_iter_`, `classes_`.
        """
        with restored_on_error(self):
            return self._fit(X, y)

    def _fit(self, X: Matrix, y: Labels, sample_weight: Any = None) -> Self:
        self._check_parameters()
        before = dict(vars(self))
        data = read_examples(self, X, y, self._asked_clamp())
        self._fitted_clamp = data.clamp
        s = example_weights(self.class_weight, sample_weight, data.classes, data.target, type(self).__name__)
        task = Task(data.view, data.target, data.positive, data.q, s)
        self.classes_ = data.classes
        self._native = self.multi_class == "native" and data.classes.size > 2
        self._state, self._memory, self._began = self._begin(task, data, before)

        def so_far() -> dict[str, Any]:
            self._settled(task)
            return deepcopy({name: value for name, value in vars(self).items() if name.startswith("_") or name == "classes_"})

        if self._reads_norms or entries_per_row(data.view) * data.y.size < OVERLAPPED:
            data.inspection()
        reporter = Reporter(self, X, y, so_far, self._budget().max_iter)

        def watch(at: Progress) -> bool:
            data.inspection()
            return reporter(at)

        run = self._run(task, data, watch)
        data.inspection()
        self._settled(task)
        self._conclude(run, data, s)
        reporter.line(str(self.outcome_))
        reporter.close()
        return self

    def _begin(self, task: Task, data: Examples, before: dict[str, Any]) -> tuple[State, Any, FloatArray]:
        """Return state, memory and starting weights: fresh ones, or those of the last fit if `warm_start`."""
        old: State | None = before.get("_state") if getattr(self, "warm_start", False) else None
        width = task.positive.size, data.X.shape[1] + bool(data.clamp)
        if old is None or old.W.shape != width or not np.array_equal(before["classes_"], data.classes):
            state = start(task, self._first_weights(task))
            return state, self._remembering(state), state.W.copy()
        began = before["_began"]
        if old.alpha.shape[1] == data.y.size:
            signs = np.where(data.target == task.positive[:, None], 1.0, -1.0)
            with np.errstate(all="ignore"):  # a bad value is refused when the rows have been inspected
                learnt = began + combination(data.X, old.alpha * signs, data.clamp)
            if np.allclose(learnt, old.W, rtol=1e-9, atol=1e-9 * np.abs(old.W).max(initial=0.0)):
                return _copied(old), _copied(before["_memory"]), began
        state = start(task, old.W)
        return state, self._remembering(state), state.W.copy()

    def _run(self, task: Task, data: Examples, watch: Callable[..., bool]) -> Run:
        """Drive the loop."""
        n = data.y.size
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max) if self.shuffle else 0
        rng = np.random.default_rng(seed)
        orders = shuffled(n, entries_per_row(data.view), data.target, rng) if self.shuffle else in_order(n)
        method = Method(self._rule(), self._memory, self._native)

        def prove(k: int, strengths: FloatArray) -> bool:
            signs = np.where(data.target == task.positive[k], 1.0, -1.0)
            return vanishes_exactly(data.X, strengths * signs, data.clamp)

        exact = prove if isinstance(self._memory, Forget) and not self._native else None
        return solve(method, task, self._state, orders, self._budget(), prove=exact, watch=watch)

    def _budget(self) -> Budget:
        """Return how long to go on: one epoch for a model that has no such parameters."""
        return Budget(getattr(self, "max_iter", 1), getattr(self, "max_time", None))

    def _conclude(self, run: Run, data: Examples, s: FloatArray) -> None:
        """Store what was learnt, why it stopped, and the proof."""
        W, alpha = self._answer()
        self.n_iter_ = run.epochs
        self.history_ = run.course.history(W)
        self.mistakes_ = self._mistakes()
        self.certificate_ = self._certify(data, W, alpha, s, run.proofs)
        self.outcome_ = self._explained(run.outcome)

    def _certify(
        self, data: Examples, W: FloatArray, alpha: FloatArray, s: FloatArray, proofs: dict[int, FloatArray]
    ) -> Certificate:
        """Return the proof: one certificate, or one per class.

        The claims are made of what the solver has: its outputs, and `w - w_start`, which is Σ alpha_i y_i x_i up to the
        rounding of as many additions as there were updates. The checker computes both sums anew.
        """
        scores = outputs(data.view, W)
        terms = sum(data.X.shape) + int(self._state.updates.sum())
        mistakes, began = self._state.mistakes, np.linalg.norm(self._began, axis=1)
        if self._native:
            joint = self._joint_bracket(data, scores, W, alpha, terms)
            return self._claim(int(mistakes.sum()), joint, s, float(np.linalg.norm(began)))
        parts = []
        for k, number in enumerate(data.positive):
            positive = data.classes[number : number + 1].tolist()[0]
            sides = self._sides(data, number, scores[:, k], W[k], k, alpha[k].sum(), terms)
            common: dict[str, Any] = {"weights": W[k], "clamp": data.clamp, "positive": positive}
            if k in proofs or not alpha[k].any():
                bracket = MarginBracket.measure(data.X, data.y, strengths=proofs.get(k), **common)
            else:
                bracket = MarginBracket.claim(sides, strengths=alpha[k], **common)
            parts.append(self._claim(int(mistakes[k]), bracket, s, float(began[k])))
        return parts[0] if len(parts) == 1 else PerClass(tuple(data.classes.tolist()), tuple(parts))

    def _sides(self, data: Examples, number: int, scores: FloatArray, w: FloatArray, k: int, total: float, terms: int) -> Sides:
        """Return both sides of the bracket of one problem."""
        E = np.negative(scores, out=scores, where=data.target != number)
        length = np.linalg.norm(w)
        lower = float(E.min() / length) if length > 0 else -np.inf
        upper = float(np.linalg.norm(w - self._began[k]) / total) if total > 0 else np.inf
        return Sides(lower, upper, data.radius, terms)

    def _joint_bracket(self, data: Examples, scores: FloatArray, W: FloatArray, alpha: FloatArray, terms: int) -> KeslerBracket:
        """Return the bracket of classes learnt together."""
        alpha, everyone = rivals_only(alpha, data.target), np.arange(data.y.size)
        own = scores[everyone, data.target]
        scores[everyone, data.target] = -np.inf
        length = np.linalg.norm(W)
        lower = float((own - scores.max(axis=1)).min() / length) if length > 0 else -np.inf
        upper = float(np.linalg.norm(W - self._began) / alpha.sum()) if alpha.any() else np.inf
        sides = Sides(lower, upper, np.sqrt(2.0) * data.radius, 2 * terms)
        if not alpha.any():
            return KeslerBracket.measure(data.X, data.y, weights=W, strengths=alpha, clamp=data.clamp, classes=data.classes)
        return KeslerBracket.claim(sides, weights=W, strengths=alpha, clamp=data.clamp, classes=data.classes)

    def _explained(self, outcome: Outcome) -> Outcome:
        """Add what the certificate knows, and a remedy, to why the loop stopped."""
        return outcome

    def _warn(self, outcome: Outcome) -> None:
        """Say aloud that the classes were not separated."""
        warnings.warn(f"{type(self).__name__}: {outcome}", NotSeparatedWarning, stacklevel=6)


def _copied(arrays: Any) -> Any:
    """Copy a state or a memory, so that a fit that fails leaves the old one as it was."""
    return type(arrays)(*(part.copy() if isinstance(part, np.ndarray) else part for part in arrays))
