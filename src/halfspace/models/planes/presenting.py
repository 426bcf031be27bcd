"""What all models that learn by presenting examples share: data sets, streams, proofs and outcomes."""

import time
import warnings
from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils.validation import check_is_fitted

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.certificates import Certificate, KeslerBracket, MarginBracket, MistakeBound, Novikoff, PerClass
from halfspace.certificates.arithmetic import combination, vanishes_exactly
from halfspace.certificates.margins.bracket import Sides, rivals_only
from halfspace.errors import InputError, NotSeparatedWarning
from halfspace.models.parameters import (
    Examples,
    budget_of,
    check_common,
    read_examples,
    read_matrix,
    require_choice,
    require_number,
    restored_on_error,
    seeds_of,
    usable_rows,
)
from halfspace.models.planes.prediction import PlaneMixin, StreamMixin, shared
from halfspace.models.progress import Reporter
from halfspace.rows.labels import class_numbers, example_weights
from halfspace.rows.operations import learnt_outputs
from halfspace.rows.orders import Orders
from halfspace.rows.views import entries_per_row, lead_of
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.rules.presenting import Presenting, Training, copied, overlaps
from halfspace.solvers.rules.rosenblatt import Rosenblatt
from halfspace.solvers.rules.sweep import EPOCH, PRESENTED, SEED, Forget, State, Task, start
from halfspace.solvers.run import Budget, Course, Progress, Run, ended, run, steps
from halfspace.theory import stream_bound

__all__ = ["PresentingClassifier"]

OVERLAPPED = 1 << 20
"""Entries from which measuring the rows beside the first epoch pays."""


class PresentingClassifier(PlaneMixin, StreamMixin, ClassifierMixin, CallbackSupportMixin, BaseEstimator):
    """A model that learns by presenting one example after another: by Rosenblatt's rule, unless a subclass says otherwise.

    A subclass says which rule (`_rule`) and knows its theorem (`_theorem`, or `_claim`); it keeps a memory if it needs one
    (`_remembering`, `_settle`), and adds a remedy to the outcome (`_explained`). It has the parameters `intercept`,
    `intercept_scaling`, `class_weight` and `verbose`, and where they make sense `max_iter`, `max_time`, `warm_start`,
    `shuffle`, `random_state` and `multi_class`.
    """

    learnt: ClassVar[dict[str, Any]] = {
        "mistakes_": "int | i8(K)",
        "_native": "bool",
        "_state": State,
        "_memory": Forget,
        "_began": "f8(K,D)",
        "?criterion_": "number | f8(K)",
        "?_once": "bool",
    }

    eta0: float = 1.0
    margin: float = 0.0
    shuffle: bool = False
    replacement: bool = False
    random_state: Any = None
    patience: int | None = None
    verbose: int
    n_features_in_: int
    _state: State
    _memory: Any
    _began: FloatArray

    # ------------------------------------------------------------ what a subclass says
    def _rule(self) -> Any:
        """Return the rule."""
        return Rosenblatt(float(self.eta0), float(self.margin))

    def _theorem(self, s: FloatArray, began: float) -> Any:
        """Return the theorem that bounds the mistakes, given the weights of the examples and the length of the start."""
        return Novikoff(float(self.eta0 * s.min()), float(self.eta0 * s.max()), float(self.margin), began)

    def _claim(self, mistakes: int, bracket: Any, s: FloatArray, began: float) -> Certificate:
        """Return the certificate of one problem, from its mistakes, its bracket, the weights of examples and the start."""
        return MistakeBound.of(mistakes, bracket, self._theorem(s, began))

    def _remembering(self, state: State, memory: Any = None) -> Any:
        """Return a fresh memory for a state; of an earlier one, what concerns the weights stays, what concerns rows goes."""
        return Forget()

    def _settle(self, X: Matrix, task: Task, training: Training) -> None:
        """Bring the answer up to date with the memory, which stays as it is: the run may go on."""

    def _answer(self) -> tuple[FloatArray, FloatArray]:
        return self._state.W, self._state.alpha

    def _first_weights(self, shape: tuple[int, int]) -> FloatArray | None:
        """Return the weights to start from, shape (K, D); None for zero."""
        return None

    def _enough(self, data: Examples, s: FloatArray) -> Any:
        """Return a function of the state that tells whether it will do; None to go on until nothing changes."""
        return None

    def _promised(self, data: Examples, s: FloatArray, state: State, k: int, each: float) -> bool:
        """Tell whether the theorem, by the margin still possible, may allow at most `max_iter` more epochs of `each`."""
        every = slice(None) if self._native else slice(k, k + 1)
        total, began = float(state.alpha[every].sum()), self._began[every]
        if total <= 0.0:
            return True
        alpha = rivals_only(state.alpha, data.target) if self._native else state.alpha[every]
        upper = float(np.linalg.norm(state.W[every] - began)) / float(alpha.sum())
        radius = data.radius * (np.sqrt(2.0) if self._native else 1.0)
        most = self._theorem(s, float(np.linalg.norm(began))).bound(radius, upper * (1.0 + 1e-9))
        return bool(most - int(state.mistakes[every].sum()) <= each * getattr(self, "max_iter", 1))

    def _explained(self, outcome: Outcome) -> Outcome:
        """Add what the certificate knows, and a remedy, to why the run stopped."""
        return outcome

    def _check_parameters(self) -> None:
        require_choice(self, "intercept", "clamped", "none")
        require_choice(self, "multi_class", "ovr", "native")
        require_number(self, "eta0")
        require_number(self, "margin", least=0.0)
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
            began = time.perf_counter()
            data, method, training = self._prepare(X, y)
            reporter = self._reporter(X, y, data, method, training)
            return self._store(data, method, run(method, self._budget(began, data), training, reporter.watch), reporter)

    def steps(self, X: Matrix, y: Labels) -> Iterator[Progress]:
        """Learn from examples like `fit`, pausing after every epoch: for animations, and for stopping rules of your own.

        The model predicts from the state of the moment. When the iteration ends by itself, it is as `fit` would have left it.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        y : array, shape (n,)
            Labels.

        Yields
        ------
        Progress
            Epochs finished (`round`), seconds, and the state: `state.state.W` are the weights of the moment.
        """
        began = time.perf_counter()
        data, method, training = self._prepare(X, y)
        for name in {"certificate_", "criterion_", "outcome_", "history_", "n_iter_", "_once"} & vars(self).keys():
            delattr(self, name)
        budget, course, at = self._budget(began, data), Course(method.columns), Progress(0, 0, training, 0.0)
        for at in steps(method, training, budget, every=1):
            course.note(at)
            if at.finished:
                self._settle(data.X, method.task, training)
                yield at
        self._store(data, method, ended(method, at, budget, course))

    def _prepare(self, X: Matrix, y: Labels, sample_weight: Any = None) -> tuple[Examples, Presenting, Training]:
        """Check parameters and examples; return the examples, what to do with them, and where to begin."""
        self._check_parameters()
        before = dict(vars(self))
        data = read_examples(self, X, y, self._asked_clamp())
        self._fitted_clamp, self.classes_ = data.clamp, data.classes
        self._native = self.multi_class == "native" and data.classes.size > 2
        s = example_weights(self.class_weight, sample_weight, data.classes, data.target, type(self).__name__)
        task = Task(data.view, data.target, data.positive, data.q, s, lead_of(data.view))
        first, resumed = self._resumed(task, data, before)
        entries, n = entries_per_row(data.view), data.y.size
        orders = Orders.in_order(n)
        if self.shuffle:
            drawn = seeds_of(self.random_state, 1)[0]
            seed = int(resumed[0].clock[SEED]) if resumed else drawn
            orders = Orders.drawn(n, seed) if self.replacement else Orders.shuffled(n, entries, data.target, seed)
        rule = self._rule()
        if entries * n < OVERLAPPED or not isinstance(rule, Rosenblatt):  # the one rule that reads no norms
            data.inspection()

        def prove(k: int, strengths: FloatArray) -> bool:
            signs = np.where(data.target == data.positive[k], 1.0, -1.0)
            return vanishes_exactly(data.X, strengths * signs, data.clamp)

        method = Presenting(
            rule,
            task,
            orders,
            native=self._native,
            first=first,
            remembering=self._remembering,
            prove=prove,
            enough=self._enough(data, s),
            patience=None if self.replacement or np.ptp(s) > 0.0 else self.patience,  # which counts every mistake alike
            promised=partial(self._promised, data, s),
            inspect=data.inspection,
            claim=lambda training: self._certify(data, *self._answer(), s, training.proofs),
        )
        training = method.start(resumed)
        self._state, self._memory = training.state, training.memory
        self._began = before["_began"] if resumed else training.state.W.copy()
        self._settle(data.X, task, training)
        return data, method, training

    def _resumed(self, task: Task, data: Examples, before: dict[str, Any]) -> tuple[FloatArray | None, Any]:
        """Return the weights to start from, and for a warm start on the same data copies of the last fit's state and memory."""
        old: State | None = before.get("_state") if getattr(self, "warm_start", False) else None
        shape = task.positive.size, data.X.shape[1] + bool(data.clamp)
        if old is None or old.W.shape != shape or not np.array_equal(before["classes_"], data.classes):
            return self._first_weights(shape), None
        if old.alpha.shape[1] == data.y.size:
            signs = np.where(data.target == task.positive[:, None], 1.0, -1.0)
            with np.errstate(all="ignore"):  # a bad value is refused when the rows have been inspected
                learnt = before["_began"] + combination(data.X, old.alpha * signs, data.clamp)
            if np.allclose(learnt, old.W, rtol=1e-9, atol=1e-9 * np.abs(old.W).max(initial=0.0)):
                return None, (copied(old), copied(before["_memory"]))
        return old.W, None

    def _reporter(self, X: Matrix, y: Labels, data: Examples, method: Presenting, training: Training) -> Reporter:
        """Return who tells of the progress."""

        def so_far() -> dict[str, Any]:
            self._settle(data.X, method.task, training)
            return deepcopy({name: value for name, value in vars(self).items() if name.startswith("_") or name == "classes_"})

        def text(at: Progress) -> str:
            return f"epoch {at.round}: {int(at.state.state.mistakes.sum()):,} mistakes, {at.seconds:.1f} s"

        return Reporter(self, X, y, so_far, int(getattr(self, "max_iter", 1)), text)

    def _budget(self, began: float, data: Examples) -> Budget:
        """Return how long to go on: one epoch for a model that has no such parameters."""
        return budget_of(self, began, (1 + data.positive.size) * data.entries)

    def _store(self, data: Examples, method: Presenting, end: Run, reporter: Reporter | None = None) -> Self:
        """Store what was learnt, why it stopped, and the proof."""
        data.inspection()
        self._settle(data.X, method.task, end.state)
        self.n_iter_ = end.rounds
        self._once = int(self._state.clock[PRESENTED]) <= data.y.size and not self.replacement
        self.history_ = overlaps(end, self._answer()[0])
        self.mistakes_ = self._mistakes()
        self.certificate_ = method.certify(end.state)
        self.outcome_ = self._explained(self._described(end.outcome))
        if reporter is not None:
            reporter.line(str(self.outcome_))
            reporter.close()
        return self

    def _described(self, outcome: Outcome) -> Outcome:
        """Say what it means that a run of presentations stopped."""
        epoch = int(self._state.clock[EPOCH])
        if outcome.reason == "converged":
            return Outcome("converged", f"Converged: epoch {epoch} brought no mistake, so none will come.")
        if outcome.reason == "proved inseparable":
            return Outcome(outcome.reason, f"Proved inseparable in epoch {epoch}: the weights came back to where they were.")
        if outcome.reason == "no progress":
            waited = f"for {self.patience} epochs none had fewer mistakes than the best before"
            return Outcome(outcome.reason, f"Stopped in epoch {epoch} without progress: {waited}.")
        if outcome.reason == "diverged":
            return Outcome("diverged", "The weights overflowed.", "Use a smaller eta0, or scale the features.")
        return outcome

    def _mistakes(self) -> int | IntArray:
        """Mistakes so far: a number, or one per class for one-vs-rest."""
        counts = self._state.mistakes
        return int(counts.sum()) if counts.size == 1 or self._native else counts.copy()

    def _warn(self, outcome: Outcome) -> None:
        """Warn that the classes were not separated."""
        warnings.warn(f"{type(self).__name__}: {outcome}", NotSeparatedWarning, stacklevel=5)

    # ------------------------------------------------------------ learning from a stream
    def _take_in(self, X: Matrix, y: Labels, sample_weight: Any) -> Self:
        """Present checked rows in order, once."""
        owner = type(self).__name__
        view, q = usable_rows(X, self._clamp, owner)
        target = class_numbers(y, self.classes_, owner)
        s = example_weights(self.class_weight, sample_weight, self.classes_, target, owner)
        positive = np.array([1]) if self.classes_.size == 2 else np.arange(self.classes_.size)
        task = Task(view, target, positive, q, s)
        if hasattr(self, "_state"):
            old = copied(self._state) if "certificate_" in vars(self) else self._state  # a certificate holds the weights
            state = old._replace(alpha=np.zeros((positive.size, target.size)))
            state.earlier[:] = state.updates
            state.clock[EPOCH:SEED] = 0
        else:
            state = start(task, self._first_weights((positive.size, X.shape[1] + bool(self._clamp))))
            self._began, self._memory, self._once = state.W.copy(), None, True
        method = Presenting(self._rule(), task, Orders.in_order(target.size), native=self._native)
        memory = self._remembering(state) if self._memory is None else self._memory
        training = method.start((state, self._remembering(state, memory)))
        training.pages = getattr(self, "_pages", [])
        for _ in steps(method, training, Budget(1)):
            pass
        self._state, self._memory = training.state, training.memory
        self._settle(X, task, training)
        self.mistakes_, self.n_iter_ = self._mistakes(), 1
        self.outcome_ = Outcome("passes done", f"{int(state.clock[0]):,} examples of a stream, each seen once.")
        for name in {"certificate_", "criterion_", "history_"} & vars(self).keys():
            delattr(self, name)
        return self

    def _widen(self, extra: int) -> None:
        """Make room for more features, which have had the value 0 so far."""
        if not isinstance(self._memory, Forget):
            msg = (
                f"{type(self).__name__} remembers earlier weights, which cannot grow: give the Learner all `features` at once."
            )
            raise InputError(msg)
        at, none = self.n_features_in_, np.zeros(extra)
        wider = {name: np.insert(W, [at] * extra, none, axis=1) for name, W in (("W", self._state.W), ("began", self._began))}
        self._state, self._began = self._state._replace(W=wider["W"]), wider["began"]
        self.n_features_in_ = at + extra

    def stream_bound(self, delta: float = 0.05) -> float:
        """Bound the mean error on new examples of the weights that a stream went through (online to batch).

        Mistakes per example plus sqrt(2 ln(1/delta)/n), with probability 1 - delta over a stream of independent examples, each
        seen once: `halfspace.theory.stream_bound`. It is about weights picked at random among those that answered; with more
        than two classes it counts the mistakes of all planes.

        Parameters
        ----------
        delta : float, default 0.05
            Probability that the bound fails; 1 for the mean of mistakes alone.

        Returns
        -------
        float
            The bound, at most 1.
        """
        check_is_fitted(self)
        if not getattr(self, "_once", False):
            msg = f"{type(self).__name__}.stream_bound is about examples seen once: use partial_fit, or fit with max_iter=1."
            raise InputError(msg)
        return stream_bound(int(np.sum(self.mistakes_)), int(self._state.clock[PRESENTED]), delta)

    # ------------------------------------------------------------ proofs
    def _certify(
        self, data: Examples, W: FloatArray, alpha: FloatArray, s: FloatArray, proofs: dict[int, FloatArray]
    ) -> Certificate:
        """Return the proof: one certificate, or one per class.

        The claims are made of what the solver has: its outputs, and `w - w_start`, which is Σ alpha_i y_i x_i up to the
        rounding of as many additions as there were updates. The checker computes both sums anew.
        """
        scores, W = learnt_outputs(data.view, W), shared(W)
        terms = sum(data.X.shape) + int(self._state.updates.sum())
        mistakes, began = self._state.mistakes, np.linalg.norm(self._began, axis=1)
        if self._native:
            self.criterion_ = self._joint_criterion(data, scores)
            joint = self._joint_bracket(data, scores, W, alpha, terms)
            return self._claim(int(mistakes.sum()), joint, s, float(np.linalg.norm(began)))
        E = scores * np.where(data.target[:, None] == data.positive, 1.0, -1.0)
        criterion = -np.minimum(E, 0.0).sum(axis=0)
        self.criterion_ = float(criterion[0]) if criterion.size == 1 else criterion
        parts, labels = [], data.classes.tolist()
        for k, number in enumerate(data.positive.tolist()):
            sides = self._sides(data, E[:, k], W[k], k, alpha[k].sum(), terms)
            common: dict[str, Any] = {"weights": W[k], "clamp": data.clamp, "positive": labels[number]}
            if k in proofs or not alpha[k].any():
                bracket = MarginBracket.measure(data.X, data.y, strengths=proofs.get(k), **common)
            else:
                bracket = MarginBracket.claim(sides, strengths=alpha[k], **common)
            parts.append(self._claim(int(mistakes[k]), bracket, s, float(began[k])))
        return parts[0] if len(parts) == 1 else PerClass(tuple(labels), tuple(parts))

    def _joint_criterion(self, data: Examples, scores: FloatArray) -> float:
        """Return the perceptron criterion Σ max(0, -E) of classes learnt together, from their outputs (n, K)."""
        everyone, rivals = np.arange(data.y.size), scores.copy()
        rivals[everyone, data.target] = -np.inf
        return float(np.maximum(rivals.max(axis=1) - scores[everyone, data.target], 0.0).sum())

    def _sides(self, data: Examples, E: FloatArray, w: FloatArray, k: int, total: float, terms: int) -> Sides:
        """Return both sides of the bracket of one problem with potentials E."""
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

    def certify(self, X: Matrix, y: Labels) -> Certificate:
        """Measure the margin bracket of the current plane on any examples.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        y : array, shape (n,)
            Their labels, of the classes the model knows.

        Returns
        -------
        MarginBracket, KeslerBracket or PerClass
            For these examples; not stored on the model.
        """
        check_is_fitted(self)
        X, y = read_matrix(self, X, y, reset=False)
        class_numbers(y, self.classes_, type(self).__name__)
        usable_rows(X, self._clamp, type(self).__name__)
        W = self._answer()[0].copy()
        if self._native:
            nothing = np.zeros((W.shape[0], y.size))
            return KeslerBracket.measure(X, y, weights=W, strengths=nothing, clamp=self._clamp, classes=self.classes_)
        labels = self.classes_.tolist()
        positives = labels[1:] if len(labels) == 2 else labels
        parts = [MarginBracket.measure(X, y, weights=W[k], clamp=self._clamp, positive=p) for k, p in enumerate(positives)]
        return parts[0] if len(parts) == 1 else PerClass(tuple(labels), tuple(parts))

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse weights of another width than the data."""
        if fitted["_state"].W.shape[1] != sizes["D"] or not np.isfinite(fitted["_state"].W).all():
            msg = f"{cls.__name__}: there is not one finite weight per feature"
            raise ValueError(msg)
        if fitted["_native"] and sizes["c"] == 2:
            msg = f"{cls.__name__}: two classes have one plane, not one each"
            raise ValueError(msg)
