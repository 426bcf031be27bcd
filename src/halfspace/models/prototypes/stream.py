"""Learning prototypes from a stream: `partial_fit`."""

from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.errors import InputError
from halfspace.models.parameters import read_matrix, restored_on_error, usable_rows
from halfspace.models.prototypes.nearest_prototype import NearestPrototypeMixin
from halfspace.models.prototypes.starts import counts_per_class
from halfspace.rows.labels import class_numbers, example_weights, given_classes
from halfspace.rows.operations import gathered
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.prototypes.glvq import Book
from halfspace.solvers.prototypes.loop import FAR, is_sound
from halfspace.solvers.prototypes.passes import present_rows

__all__ = ["PrototypeStreamMixin"]


class PrototypeStreamMixin(NearestPrototypeMixin):
    """A prototype classifier that can take in the next examples at any time."""

    class_weight: dict[Any, float] | str | None
    random_state: Any
    n_iter_: int
    outcome_: Outcome
    _tally: FloatArray

    def _check_parameters(self) -> None:
        """Refuse parameters out of range."""
        raise NotImplementedError

    def _rule(self, share: float) -> Any:
        """Return the rule at a share of the full rate."""
        raise NotImplementedError

    def _first_metric(self, W: FloatArray, n_classes: int, rng: Any) -> FloatArray:
        """Return the metric to start with, for first prototypes W, shape (P, d)."""
        return np.ones(W.shape[1])

    def _keep_metric(self, omega: FloatArray) -> None:
        """Store a learnt metric."""

    def _book(self) -> Book:
        """Return the book of a fitted model."""
        return Book(self.prototypes_.copy(), self._numbers(), self._metric().copy(), self._tally.copy())

    def _keep(self, book: Book) -> None:
        """Store what was learnt."""
        self.prototypes_, self.prototype_labels_, self._tally = book.W, self.classes_[book.labels], book.tally
        self._keep_metric(book.omega)

    @available_if(lambda self: not getattr(self, "per_class", False))
    def partial_fit(self, X: Matrix, y: Labels, classes: Labels | None = None) -> Self:
        """Learn from the next examples of a stream, each once and in order, at the rate `eta0`.

        Any cut into chunks gives the same prototypes, up to rounding. The first rows of each class become its prototypes.

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
            announced = self.classes_ if classes is None else given_classes(classes, type(self).__name__)
            if not first and not np.array_equal(announced, self.classes_):
                msg = f"classes={classes!r} is not the same as on the first call to partial_fit: {self.classes_.tolist()}."
                raise InputError(msg)
            X, y = read_matrix(self, X, y, reset=first)
            return self._take_in(X, y, announced, first=first)

    def _take_in(self, X: Matrix, y: Labels, classes: Labels, *, first: bool) -> Self:
        """Present checked rows in order; the first rows of a class become its prototypes."""
        owner = type(self).__name__
        view, q = usable_rows(X, 0.0, owner)
        target = class_numbers(y, classes, owner)
        s = example_weights(self.class_weight, None, classes, target, owner)
        if first:
            nobody = np.empty((0, X.shape[1]))
            omega = self._first_metric(nobody, classes.size, check_random_state(self.random_state))
            book = Book(nobody, np.empty(0, dtype=np.int64), omega, np.zeros(3))
        else:
            book = self._book()
        founders = _founders(target, counts_per_class(self, classes) - np.bincount(book.labels, minlength=classes.size))
        before, at = book, 0
        for stop in (*founders, target.size):
            if stop > at:
                book, _ = present_rows(self._rule(1.0), book, view, np.arange(at, stop), target, s)
            if stop < target.size:
                book = _joined(book, gathered(view, np.array([stop])), int(target[stop]))
            at = stop + 1
        self.classes_ = classes
        limit = FAR * (1.0 + max(float(np.sqrt(q.max())), float(np.abs(before.W).max(initial=0.0))))
        return self._stream_end(book, before, target.size, sound=is_sound(book, limit))

    def _stream_end(self, book: Book, before: Book, n: int, *, sound: bool) -> Self:
        """Store what a chunk of n rows taught; nothing of it if prototypes ran away."""
        if sound:
            self._keep(book)
            self.outcome_ = Outcome("passes done", f"{n:,} more examples of a stream, each seen once.")
        elif before.W.size == 0:
            msg = f"{type(self).__name__}.partial_fit: prototypes ran away at once. Lower eta0, or scale the features."
            raise InputError(msg)
        else:
            remedy = "Lower eta0, or scale the features, e.g. with StandardScaler."
            self.outcome_ = Outcome("diverged", f"Prototypes ran away in {n:,} more examples, which were forgotten.", remedy)
        self.n_iter_ = 1
        for name in ("certificate_", "history_", "cost_"):
            vars(self).pop(name, None)
        return self


def _founders(target: IntArray, missing: IntArray) -> list[int]:
    """Return the rows that become prototypes: the first of each class that still misses some."""
    rows = [np.flatnonzero(target == c)[:count] for c, count in enumerate(missing) if count > 0]
    return sorted(np.concatenate(rows).tolist()) if rows else []


def _joined(book: Book, w: FloatArray, c: int) -> Book:
    """Return the book with one more prototype w, shape (1, d), of class c, after those of its class."""
    at = int(np.searchsorted(book.labels, c, side="right"))
    W = np.concatenate([book.W[:at], w, book.W[at:]])
    return book._replace(W=W, labels=np.insert(book.labels, at, c))
