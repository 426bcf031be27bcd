"""What LVQ and its generalisations share: fitting prototypes online, epoch by epoch, with their proof and outcome."""

import copy
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.callback import CallbackSupportMixin
from sklearn.utils import check_random_state

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.models.parameters import Examples, check_common, read_examples, require_choice, require_number
from halfspace.models.progress import Reporter
from halfspace.models.prototypes.starts import check_counts, starting_prototypes
from halfspace.models.prototypes.stream import PrototypeStreamMixin
from halfspace.rows.labels import example_weights
from halfspace.rows.orders import Harmonic, in_order, shuffled
from halfspace.rows.views import entries_per_row
from halfspace.solvers.outcome import Outcome, Reason
from halfspace.solvers.prototypes.glvq import Book
from halfspace.solvers.prototypes.loop import Course, learn_online
from halfspace.solvers.prototypes.passes import present_rows
from halfspace.solvers.run import Budget

__all__ = ["Fitted", "PrototypeLearner"]

PIECE = 1 << 23
"""Products of rows and prototypes between two looks at the clock: some ten milliseconds."""
LEARNT = ("classes_", "prototypes_", "prototype_labels_", "relevances_", "omega_", "_tally")
"""What a model answers by."""
RESTLESS = 0.01
"""Share of their spread by which prototypes of a finished fit should no longer move in an epoch."""


class Fitted(NamedTuple):
    """The end of a fit: what was learnt, why it stopped, after how many epochs or steps, its course and what it says."""

    book: Book
    reason: Reason
    steps: int
    history: dict[str, FloatArray]
    sentence: str
    remedy: str


Learning = Callable[[Examples, FloatArray, Book, Any, Reporter], Fitted]
"""A way to learn from examples, their weights, a start, a random generator and a watcher."""


class PrototypeLearner(PrototypeStreamMixin, ClassifierMixin, CallbackSupportMixin, BaseEstimator):
    """A prototype classifier that learns from a data set.

    A subclass says which rule is in force at a share of the full rate (`_rule`) and, if the metric learns, with which one it
    starts (`_first_metric`) and where it is kept (`_metric`, `_keep_metric`).
    """

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

    def _fit(self, X: Matrix, y: Labels, sample_weight: Any = None, learn: Learning | None = None) -> Self:
        """Learn by presenting, or the way handed in."""
        self._check_parameters()
        before = dict(vars(self))
        data = read_examples(self, X, y, 0.0)
        data.inspection()
        s = example_weights(self.class_weight, sample_weight, data.classes, data.target, type(self).__name__)
        rng = check_random_state(self.random_state)
        book = self._begin(data, s, rng, before)
        self.classes_ = data.classes
        self._keep(book)
        reporter = Reporter(self, X, y, self._so_far, int(self.max_iter))
        end = (learn or self._present)(data, s, book, rng, reporter)
        self._keep(end.book)
        self.n_iter_, self.history_ = end.steps, end.history
        weight, costs = None if (s == 1.0).all() else s, end.history.get("cost", ())
        self.certificate_ = self._measured(data.X, data.y, sample_weight=weight, costs=costs)
        errors = f"{self.certificate_.errors:,} of {data.y.size:,} rows are nearer to a prototype of another class."
        self.outcome_ = Outcome(end.reason, f"{end.sentence} {errors}", end.remedy)
        reporter.line(str(self.outcome_))
        reporter.close()
        return self

    def _begin(self, data: Examples, s: FloatArray, rng: Any, before: dict[str, Any]) -> Book:
        """Return the book to start from: a fresh one, or that of the last fit if `warm_start`."""
        if self.warm_start and "prototypes_" in before:
            same = np.array_equal(before["classes_"], data.classes) and before["prototypes_"].shape[1] == data.X.shape[1]
            if same and np.array_equal(np.unique(before["prototype_labels_"]), data.classes):
                return self._book()
        W, labels = starting_prototypes(self, data, s, rng)
        return Book(W, labels, self._first_metric(W, data.classes.size, rng), np.zeros(3))

    def _so_far(self) -> dict[str, Any]:
        """Return what a model needs to answer as it stands."""
        return {name: copy.deepcopy(vars(self)[name]) for name in LEARNT if name in vars(self)}

    def _present(self, data: Examples, s: FloatArray, book: Book, rng: Any, reporter: Reporter) -> Fitted:
        """Learn by presenting one example after another."""
        n, falling = data.y.size, Harmonic(1.0, float(self.half_life))
        chance = np.random.default_rng(rng.randint(np.iinfo(np.int32).max))
        orders = shuffled(n, entries_per_row(data.view), data.target, chance) if self.shuffle else in_order(n)
        size = max(1024, PIECE // book.W.size)

        def show(epoch: int, book: Book) -> Iterator[tuple[Book, int]]:
            order, errors = next(orders), 0
            for first in range(0, n, size):
                rows = order[first : first + size]
                book, wrong = present_rows(self._rule(falling.at(epoch)), book, data.view, rows, data.target, s)
                errors += wrong
                yield book, errors

        def watch(book: Book, epoch: int, last: Course) -> bool:
            self._keep(book)
            text = f"epoch {epoch}: {last.errors:,} errors when shown, prototypes moved {last.moved:.2g}, {last.seconds:.1f} s"
            return reporter.tell(text, last=epoch >= self.max_iter)

        end = learn_online(show, book, Budget(int(self.max_iter), self.max_time), float(self.tol), watch)
        names = ("errors", "moved", "seconds")
        history = {name: np.array([getattr(epoch, name) for epoch in end.course]) for name in names}
        return Fitted(end.book, end.reason, max(len(end.course), 1), history, *self._told(end.reason, end.course))

    def _told(self, reason: Reason, course: list[Course]) -> tuple[str, str]:
        """Return what happened in an online fit, and what to do about it."""
        epochs, moved = len(course), course[-1].moved if course else np.inf
        on = "call fit with warm_start=True to go on."
        if reason == "diverged":
            text = f"Prototypes ran away in epoch {epochs + 1}: the model is that of the epoch before."
            return text, "Lower eta0, and scale the features if they are not alike, e.g. with StandardScaler."
        if reason == "time budget spent":
            return f"max_time={self.max_time:g} s were over in epoch {epochs + 1}.", f"Raise max_time, or {on}"
        rest = f"the last one moved the prototypes by {moved:.2g} of their spread"
        if reason == "converged":
            return f"Converged after {epochs} epochs: {rest}, tol={self.tol:g}.", ""
        if reason == "passes done":
            return f"{epochs} epochs done: {rest}.", "Raise max_iter, or lower eta0 or half_life." if moved > RESTLESS else ""
        return f"Stopped in epoch {epochs + 1 if reason == 'interrupted' else epochs}.", on.capitalize()
