"""What LVQ, GLVQ, GRLVQ and GMLVQ share: fitting and streaming prototypes, their answers, and the right to refuse one."""

import copy
import time
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from halfspace._memory import admit
from halfspace._typing import FloatArray, IntArray, Labels, Matrix, View
from halfspace.certificates.prototypes.errors import PrototypeErrors
from halfspace.errors import InputError
from halfspace.models.certified import Certified
from halfspace.models.parameters import (
    LABELLED,
    Examples,
    budget_of,
    check_common,
    is_ready,
    read_examples,
    read_matrix,
    require_choice,
    require_number,
    restored_on_error,
    usable_rows,
)
from halfspace.models.progress import Reporter
from halfspace.models.prototypes.starts import check_counts, counts_per_class, starting_prototypes
from halfspace.rows.labels import class_numbers, example_weights, given_classes
from halfspace.rows.operations import gathered
from halfspace.rows.orders import Orders
from halfspace.rows.threads import one_blas_thread
from halfspace.rows.views import entries_per_row
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.prototypes import glvq_batch, online
from halfspace.solvers.prototypes.distances import Prototypes
from halfspace.solvers.prototypes.glvq import Book, Rates
from halfspace.solvers.run import Progress, Run, run

__all__ = ["PrototypeClassifier", "RejectCurve"]

DESCENT, PAIR_BYTES = 30, 40.0
"""Copies of the parameters that a descent holds (ten steps and their gradients, and what it computes the next from), and bytes
of a pair of prototypes, whose distance the proof measures."""
SMALL = 2000
"""Rows up to which optimizer="auto" descends the whole cost."""
RESTLESS = 0.01
"""Share of their spread by which prototypes of a finished fit should no longer move in an epoch."""
_Method = glvq_batch.Descent | online.Online
GO_ON = "call fit with warm_start=True to go on."


class RejectCurve(NamedTuple):
    """What a threshold on the relative distance would do, threshold by threshold."""

    thresholds: FloatArray  # (m,), rising
    accepted: FloatArray  # (m,) share of rows answered
    accuracy: FloatArray  # (m,) share of right answers among them


class PrototypeClassifier(Certified, ClassifierMixin, CallbackSupportMixin, BaseEstimator):
    """A classifier by the nearest prototype; of prototypes equally near, the one that comes first answers.

    A subclass has its parameters and a rule (`_rule`); if its metric learns, `_learns_metric` is set, `_first_metric` says
    where it starts, and it is kept as `omega_`. Without the parameter `optimizer` it presents examples one by one, without
    `beta` it has no cost.
    """

    learnt: ClassVar[dict[str, Any]] = {
        **LABELLED,
        "prototypes_": "f8(P,d)",
        "prototype_labels_": "labels(P)",
        "_tally": "f8(4)",
        "_epochs": "int",
        "_seed": "int",
        "_state": online.State | glvq_batch.DescentState | None,
        "?cost_": "number",
    }

    _learns_metric = False
    classes_: Labels
    prototypes_: FloatArray
    prototype_labels_: Labels
    omega_: FloatArray
    _tally: FloatArray
    _epochs: int
    _seed: int
    _state: online.State | glvq_batch.DescentState | None

    def __sklearn_tags__(self) -> Any:
        """Say that sparse matrices are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # ------------------------------------------------------------ what a subclass says
    def _check_parameters(self) -> None:
        check_counts(self)
        plain = copy.copy(self)
        plain.n_prototypes = 1  # `check_common` knows of numbers only
        check_common(plain)
        require_choice(self, "init", "k-means", "mean", "sample")
        require_number(self, "eta0")
        require_number(self, "tol", least=0.0)
        if not (isinstance(self.half_life, float) and self.half_life == np.inf):
            require_number(self, "half_life")
        if hasattr(self, "optimizer"):
            require_choice(self, "optimizer", "auto", "batch", "online", "plain")
            require_number(self, "beta", least=0.0)

    def _rule(self) -> online.Rule:
        """Return the rule at its full rate: the gradient of generalised LVQ."""
        steepest = float(self.beta) / 4.0 or 1.0
        metric = float(self.metric_eta0) if self._learns_metric else 0.0
        return Rates(float(self.eta0) / steepest, metric / steepest, float(self.beta))

    def _first_metric(self, W: FloatArray, n_classes: int, rng: Any, n_rows: int = 0) -> FloatArray:
        """Return the metric to start with, for first prototypes W, shape (P, d), and so many rows, if that is known."""
        return np.ones(W.shape[1])

    # ------------------------------------------------------------ learning from a data set
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
            Weights of the rows in the cost: a weight of 2 is the same as a row twice. Needs the batch optimiser: the online
            one depends on the order of the rows and takes class_weight only.

        Returns
        -------
        self
            With `prototypes_`, `prototype_labels_`, `certificate_`, `outcome_`, `cost_`, `history_`, `n_iter_`, `classes_`.
        """
        with restored_on_error(self):
            if sample_weight is not None and self.optimizer in ("online", "plain"):
                name = f"{type(self).__name__}(optimizer={self.optimizer!r})"
                msg = f"{name} takes no sample_weight: use optimizer='batch', or class_weight."
                raise InputError(msg)
            self._learn(X, y, sample_weight)
            self.cost_ = self.certificate_.cost
            return self

    copies: ClassVar[tuple[int, int]] = (1, 0)

    def _admit(self, data: Examples) -> None:
        """Refuse more prototypes than fit the memory limit: what a descent remembers of them, and their mutual distances."""
        P, d = int(counts_per_class(self, data.classes).sum()), data.X.shape[1]
        needed = 8.0 * DESCENT * P * d + PAIR_BYTES * P * P
        admit(type(self).__name__, needed, f"{P:,} prototypes of {d:,} features", "give fewer per class", data.X)

    def _learn(self, X: Matrix, y: Labels, sample_weight: Any = None) -> Self:
        """Build the method and the state to start from, run it, and store what was learnt with its proof."""
        began = time.perf_counter()
        self._check_parameters()
        before = dict(vars(self))
        data = read_examples(self, X, y, None)
        self._admit(data)
        data.inspection()
        s = example_weights(self.class_weight, sample_weight, data.classes, data.target, type(self).__name__)
        method, state, shape = self._method(data, s, before, weighted=sample_weight is not None)
        self.classes_ = data.classes

        def text(at: Progress) -> str:
            values = [column[-1] for column in at.table]
            if isinstance(method, glvq_batch.Descent):
                return f"step {at.round}: cost {values[0]:.6g}, {at.seconds:.1f} s"
            return f"epoch {at.round}: {values[0]:,} errors when shown, prototypes moved {values[1]:.2g}, {at.seconds:.1f} s"

        so_far = lambda: {"classes_": data.classes, **self._learnt(method, state, shape)}  # noqa: E731
        reporter = Reporter(self, X, y, so_far, self.max_iter, text)
        size = self._learnt(method, state, shape)["prototypes_"].size
        with one_blas_thread():
            end = run(method, budget_of(self, began, 2.0 * data.y.size * size), state, reporter.watch)
        if isinstance(method, glvq_batch.Descent) and not np.isfinite(state.costs[0]):
            raise KeyboardInterrupt  # before the first cost was known: nothing was learnt
        self.__dict__.update(self._learnt(method, state, shape))
        self._remember(method, state)
        self.n_iter_, self.history_ = max(end.rounds, 1), _history(method, end, float(s.sum()))
        weight, costs = None if (s == 1.0).all() else s, self.history_.get("cost", ())
        self.certificate_ = self._measured(data.X, data.y, sample_weight=weight, costs=costs)
        self.outcome_ = self._explained(method, end, data.y.size)
        reporter.line(str(self.outcome_))
        reporter.close()
        return self

    def _method(self, data: Examples, s: FloatArray, before: dict[str, Any], *, weighted: bool) -> tuple[_Method, Any, Any]:
        """Return what to run, from which state, and the shape of the metric."""
        rng = check_random_state(self.random_state)
        known = self.warm_start and "prototypes_" in before and np.array_equal(before["classes_"], data.classes)
        known = known and before["prototypes_"].shape[1] == data.X.shape[1]
        if known and np.array_equal(np.unique(before["prototype_labels_"]), data.classes):
            W, labels, omega = self._predictor()
            tally, epochs, seed, state = self._tally, self._epochs, self._seed, self._state
        else:
            W, labels = starting_prototypes(self, data, s, rng)
            omega = self._first_metric(W, data.classes.size, rng, data.y.size)
            tally, epochs, seed, state = None, 0, int(rng.randint(np.iinfo(np.int32).max)), None
        self._seed = seed
        optimizer = getattr(self, "optimizer", "online")
        few = weighted or data.y.size <= SMALL or omega.ndim == 3
        if optimizer == "batch" or (optimizer == "auto" and few):
            at = glvq_batch.Landscape(data.view, data.target, s, labels, float(self.beta), self._learns_metric)
            if not isinstance(state, glvq_batch.DescentState):
                state = glvq_batch.DescentState.of(W, omega, learns_metric=self._learns_metric)
            descent = glvq_batch.Descent(at, float(self.tol))
            return descent, descent.start(copy.deepcopy(state)), omega.shape
        n = data.y.size
        orders = Orders.shuffled(n, entries_per_row(data.view), data.target, seed) if self.shuffle else Orders.in_order(n)
        order = lru_cache(maxsize=1)(orders.at)
        if not isinstance(state, online.State) or state.counts[1] >= n:
            state = online.State.of(Book.of(W, labels, omega, tally), epochs)
        half_life, tol = float(self.half_life), float(self.tol)
        method = online.Online(data.view, data.target, s, self._rule(), order, half_life, tol, optimizer == "plain")
        return method, method.start(state.copied()), omega.shape

    def _learnt(self, method: _Method | None, state: Any, shape: tuple[int, ...]) -> dict[str, Any]:
        """Return the attributes that answer, as a state has them: views of its memory wherever they can be."""
        if isinstance(method, glvq_batch.Descent):
            W, omega = method.read(state)
            labels, tally = method.at.labels, np.array([0.0, 0.0, 0.0, 1.0])
        else:
            W, labels, omega, _, tally = state.book
            omega = omega if omega.ndim == 1 else omega[: shape[0]]
            omega = omega if tally[3] == 1.0 else omega / np.linalg.norm(omega)
        metric = {"omega_": omega} if self._learns_metric else {}
        return {"prototypes_": W, "prototype_labels_": self.classes_[labels], "_tally": tally, **metric}

    def _remember(self, method: _Method, state: Any) -> None:
        """Keep what going on needs beyond what answers: an unfinished epoch, or the steps of a descent for a warm start."""
        batch = isinstance(method, glvq_batch.Descent)
        self._epochs = 0 if batch else int(state.counts[0])
        self._state = state if (self.warm_start if batch else state.counts[1] > 0) else None

    def _explained(self, method: _Method, end: Run, n: int) -> Outcome:
        """Return why a fit stopped, what was reached and what to do."""
        reason, rounds = end.outcome.reason, end.rounds
        count = f"{rounds} {method.unit}{'' if rounds == 1 else 's'}"
        if isinstance(method, glvq_batch.Descent):
            fell = f"the mean cost fell from {end.state.costs[1]:.4g} to {end.state.costs[0]:.4g}"
            sentence, remedy = f"Stopped after {count}: {fell}.", GO_ON.capitalize()
            if reason == "converged":
                sentence = f"Converged after {count}: {fell}, in the last by less than tol={self.tol:g} of it."
            elif reason == "rounding limit reached":
                sentence = f"No lower cost was found in the direction of step {rounds + 1}, as at a kink of the cost: {fell}."
        else:
            moved = self.history_["moved"][-1] if rounds else np.inf
            rest = f"the last one moved the prototypes by {moved:.2g} of their spread"
            sentence, remedy = f"Stopped in epoch {rounds + (reason == 'interrupted')}.", GO_ON.capitalize()
            if reason == "iteration budget spent":
                reason, sentence = "passes done", f"{count} done: {rest}."
                remedy = "Raise max_iter, or lower eta0 or half_life." if moved > RESTLESS else ""
            elif reason == "converged":
                sentence = f"Converged after {count}: {rest}, tol={self.tol:g}."
            elif reason == "diverged":
                sentence = f"Prototypes ran away in epoch {rounds + 1}: the model is that of the epoch before."
                remedy = "Lower eta0, and scale the features if they are not alike, e.g. with StandardScaler."
            elif reason == "time budget spent":
                sentence = f"The time limit of {self.max_time:g} s was reached in epoch {rounds + 1}."
        if reason in {"converged", "rounding limit reached"}:
            remedy = ""
        elif reason in {"iteration budget spent", "time budget spent"}:
            remedy = f"Raise {'max_iter' if reason.startswith('iter') else 'max_time'}, or {GO_ON}"
        errors = f"{self.certificate_.errors:,} of {n:,} rows are nearer to a prototype of another class."
        return Outcome(reason, f"{sentence} {errors}", remedy)

    # ------------------------------------------------------------ learning from a stream
    @available_if(lambda self: not getattr(self, "per_class", False))
    def partial_fit(self, X: Matrix, y: Labels, classes: Labels | None = None) -> Self:
        """Learn from the next examples of a stream, each once and in order, at the rate `eta0`.

        Any cut into chunks gives the same prototypes. The first rows of each class become its prototypes.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            The next examples.
        y : array, shape (n,)
            Their labels.
        classes : array, shape (K,), optional
            All labels there will ever be; needed at the first call.

        Returns
        -------
        self
            Ready to predict. A stream has no data set to certify against, so a `certificate_` of an earlier fit is removed;
            `certify(X, y)` makes one for any examples at hand.
        """
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            msg = "class_weight='balanced' needs all labels at once: pass a dict of weights to use partial_fit."
            raise InputError(msg)
        with restored_on_error(self):
            self._check_parameters()
            first = not hasattr(self, "classes_")
            if first and classes is None:
                msg = "classes must be passed on the first call to partial_fit: all labels there will ever be."
                raise InputError(msg)
            expected = self.classes_ if classes is None else given_classes(classes, type(self).__name__)
            if not first and not np.array_equal(expected, self.classes_):
                msg = f"classes={classes!r} is not the same as on the first call to partial_fit: {self.classes_.tolist()}."
                raise InputError(msg)
            X, y = read_matrix(self, X, y, reset=first)
            return self._take_in(X, y, expected, first=first)

    def _take_in(self, X: Matrix, y: Labels, classes: Labels, *, first: bool) -> Self:
        """Present checked rows in order; the first rows of a class become its prototypes."""
        owner = type(self).__name__
        view, q = usable_rows(X, None, owner)
        target = class_numbers(y, classes, owner)
        s = example_weights(self.class_weight, None, classes, target, owner)
        if first:
            nobody = np.empty((0, X.shape[1]))
            omega = self._first_metric(nobody, classes.size, check_random_state(self.random_state))
            book = Book.of(nobody, np.empty(0, dtype=np.int64), omega)
        else:
            omega = self._metric()
            if omega.ndim == 3:
                msg = f"{owner} learnt one metric per class, which a stream cannot teach: call fit instead of partial_fit."
                raise InputError(msg)
            state = self._state
            book = state.book.copied() if isinstance(state, online.State) else Book.of(*self._predictor(), self._tally)
        start = float(np.abs(book.W).max(initial=0.0))
        missing = counts_per_class(self, classes) - np.bincount(book.labels, minlength=classes.size)
        book = self._shown(book, view, target, s, _founders(target, missing))
        if online.has_run_away(book, online.FAR * (1.0 + max(float(np.sqrt(q.max())), start))):
            if first:
                msg = f"{owner}.partial_fit: prototypes ran away at once. Lower eta0, or scale the features."
                raise InputError(msg)
            remedy = "Lower eta0, or scale the features, e.g. with StandardScaler."
            text = f"Prototypes ran away in {target.size:,} more examples, which were forgotten."
            self.outcome_ = Outcome("diverged", text, remedy)
        else:
            self.classes_, state = classes, online.State.of(book)
            self.__dict__.update(self._learnt(None, state, omega.shape))
            self._epochs, self._seed, self._state = 0, 0, state if omega.ndim == 2 else None
            self.outcome_ = Outcome("passes done", f"{target.size:,} more examples of a stream, each seen once.")
        self.n_iter_ = 1
        for name in ("certificate_", "history_", "cost_"):
            self.__dict__.pop(name, None)
        return self

    def _shown(self, book: Book, view: View, target: IntArray, s: FloatArray, founders: list[int]) -> Book:
        """Return the book after all rows were presented, but for founders, which become prototypes."""
        rule, plain, at = self._rule(), getattr(self, "optimizer", "") == "plain", 0
        for stop in (*founders, target.size):
            for first in range(at, stop, online.BLOCK):
                rows = np.arange(first, min(first + online.BLOCK, stop))
                online.learner(rule, book, plain=plain)(gathered(view, rows), target[rows], s[rows], book, rule)
            if stop < target.size:
                book = _joined(book, gathered(view, np.array([stop])), int(target[stop]))
            at = stop + 1
        return book

    # ------------------------------------------------------------ answers
    def _metric(self) -> FloatArray:
        """Return Ω, or ω for a diagonal one."""
        return self.omega_ if self._learns_metric else np.ones(self.prototypes_.shape[1])

    def _predictor(self) -> Prototypes:
        """Return what predicts, as one value."""
        numbers = np.searchsorted(self.classes_, self.prototype_labels_).astype(np.int64)
        return Prototypes(self.prototypes_, numbers, self._metric())

    def _near(self, X: Matrix) -> FloatArray:
        """Return the squared distances of the nearest prototype of each class, shape (n, K)."""
        check_is_fitted(self)
        if not is_ready(self, X):
            X = read_matrix(self, X, reset=False)
        view, _ = usable_rows(X, None, type(self).__name__)
        return self._predictor().outputs(view, self.classes_.size)

    def predict(self, X: Matrix) -> Labels:
        """Return the label of the nearest prototype of each row, shape (n,).

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        """
        winner = self._near(X).argmin(axis=1)
        return np.asarray(self.classes_[winner])

    def decision_function(self, X: Matrix) -> FloatArray:
        """Return relative distances, from -1 to 1: (d_others - d_class) / (d_others + d_class).

        d_class is the squared distance of the nearest prototype of a class, d_others that of the nearest of any other.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.

        Returns
        -------
        ndarray, shape (n,) or (n, K)
            For two classes of the second one, otherwise of every class; the label is that of the largest.
        """
        near = self._near(X)
        if near.shape[1] == 2:
            return _relative(near[:, 0], near[:, 1])
        winner, two = near.argmin(axis=1), np.partition(near, 1, axis=1)
        others = np.where(np.arange(near.shape[1]) == winner[:, None], two[:, 1:2], two[:, :1])
        return _relative(others, near)

    def reject_score(self, X: Matrix) -> FloatArray:
        """Return how clear each answer is, shape (n,): 0 on the border between two classes, 1 on a prototype.

        The relative distance of the class that answers: (d_others - d_class) / (d_others + d_class).

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        """
        two = np.partition(self._near(X), 1, axis=1)
        return _relative(two[:, 1], two[:, 0])

    def predict_with_reject(self, X: Matrix, threshold: float, rejected: Any = None) -> Labels:
        """Return the labels of clear answers, and `rejected` where `reject_score` is below a threshold, shape (n,).

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        threshold : float
            Least score of an answer, from 0 (answer all) to 1; `reject_curve` shows what each would do.
        rejected : label, default None
            What stands for no answer.
        """
        near = self._near(X)
        two = np.partition(near, 1, axis=1)
        labels = self.classes_[near.argmin(axis=1)]
        unclear = _relative(two[:, 1], two[:, 0]) < threshold
        if not unclear.any() and rejected is None:
            return np.asarray(labels)
        return np.where(unclear, np.array(rejected), labels)

    def reject_curve(self, X: Matrix, y: Labels) -> RejectCurve:
        """Return what every threshold would do on examples with known labels.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples, best those that were not learnt from.
        y : array, shape (n,)
            Their labels.

        Returns
        -------
        RejectCurve
            `thresholds`, `accepted` (share of rows answered) and `accuracy` (share of right answers among them), each
            of shape (m,); the first threshold accepts all.
        """
        scores, answers = self.reject_score(X), self.predict(X)
        if np.shape(y) != answers.shape:
            msg = f"{type(self).__name__}.reject_curve: one label per row expected, but y has shape {np.shape(y)}."
            raise InputError(msg)
        right = answers == np.asarray(y)
        order = np.argsort(scores, kind="stable")
        thresholds, first = np.unique(scores[order], return_index=True)
        left = scores.size - first
        answered = np.cumsum(right[order][::-1])[::-1][first]
        return RejectCurve(thresholds, left / scores.size, answered / left)

    def certify(self, X: Matrix, y: Labels) -> PrototypeErrors:
        """Measure errors, safe radii and cost on any examples.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Examples.
        y : array, shape (n,)
            Their labels, of the classes the model knows.

        Returns
        -------
        PrototypeErrors
            For these examples; not stored on the model.
        """
        check_is_fitted(self)
        X, y = read_matrix(self, X, y, reset=False)
        usable_rows(X, 0.0, type(self).__name__)
        class_numbers(y, self.classes_, type(self).__name__)
        return self._measured(X, y)

    def _measured(self, X: Matrix, y: Labels, **about: Any) -> PrototypeErrors:
        """Return the certificate for checked examples."""
        with one_blas_thread():
            return PrototypeErrors.measure(
                X,
                y,
                prototypes=self.prototypes_,
                labels=self.prototype_labels_,
                omega=self.omega_ if self._learns_metric else None,
                beta=getattr(self, "beta", None),
                **about,
            )

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse prototypes that are not sorted by class, where compiled code looks for them, and states of others.

        A stream may not have seen every class yet.
        """
        classes, labels = fitted["classes_"], fitted["prototype_labels_"]
        numbers = np.searchsorted(classes, labels).clip(max=classes.size - 1)
        if not np.array_equal(classes[numbers], labels) or (np.diff(numbers) < 0).any():
            raise ValueError("prototype_labels_: they are not those of the classes, in their order")
        if not sizes["P"] or not np.isfinite(fitted["prototypes_"]).all():
            raise ValueError("prototypes_: there are none, or they are not finite")
        if fitted["_state"] is not None:
            fitted["_state"].check(numbers)


def _history(method: _Method, end: Run, total: float) -> dict[str, FloatArray]:
    """Return the course of a run: of a descent with its start, and the cost as a sum."""
    history = end.course.history()
    del history["round"]
    if isinstance(method, glvq_batch.Descent):
        costs = np.append(end.state.costs[1], history["cost"])
        return {"cost": costs * total, "seconds": np.append(0.0, history["seconds"])}
    return history


def _founders(target: IntArray, missing: IntArray) -> list[int]:
    """Return the rows that become prototypes: the first of each class that still misses some."""
    rows = [np.flatnonzero(target == c)[:count] for c, count in enumerate(missing) if count > 0]
    return sorted(np.concatenate(rows).tolist()) if rows else []


def _joined(book: Book, w: FloatArray, c: int) -> Book:
    """Return the book with one more prototype w, shape (1, d), of class c, after those of its class."""
    at = int(np.searchsorted(book.labels, c, side="right"))
    W, labels = np.insert(book.W, at, w, axis=0), np.insert(book.labels, at, c)
    image = w @ book.omega.T if book.omega.ndim == 2 else np.empty((1, 0))
    return book._replace(W=W, labels=labels, Q=np.insert(book.Q, at, image, axis=0)).copied()


def _relative(far: FloatArray, near: FloatArray) -> FloatArray:
    """Return (far - near) / (far + near); 0 where both are 0, ±1 where only one class has prototypes."""
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = (far - near) / (far + near)
    unknown = np.where(np.isinf(near), -1.0, np.where(np.isinf(far), 1.0, 0.0))
    return np.asarray(np.where(np.isfinite(ratio), ratio, unknown))
