"""What models with prototypes of rows share: learning them online from a data set or a stream, assigning rows, the proof."""

import time
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from halfspace._typing import FloatArray, IntArray, Matrix, View
from halfspace.certificates.prototypes.quantisation import Quantisation
from halfspace.models.certified import Certified
from halfspace.models.parameters import (
    UNLABELLED,
    budget_of,
    check_common,
    read_matrix,
    refuse_vanishing,
    require,
    require_number,
    restored_on_error,
    usable_rows,
)
from halfspace.models.progress import Reporter
from halfspace.models.prototypes.starts import first_prototypes, given_prototypes, require_rows
from halfspace.rows.operations import gathered
from halfspace.rows.orders import Orders
from halfspace.rows.threads import one_blas_thread
from halfspace.solvers.outcome import Outcome, Reason
from halfspace.solvers.prototypes.quantising import BLOCK_ROWS, Quantising, Rule, State, all_distances, winners
from halfspace.solvers.run import Progress, run

__all__ = ["Quantiser"]


class Quantiser(
    Certified, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, CallbackSupportMixin, BaseEstimator
):
    """A model that learns prototypes of rows by presenting these one after another.

    A subclass says which rule (`_rule`). It has the parameters `n_prototypes`, `init`, `eta0`, `eta_end`, `max_iter`,
    `max_time`, `shuffle`, `warm_start`, `random_state` and `verbose`; `revive` if dead prototypes may be put elsewhere.
    """

    learnt: ClassVar[dict[str, Any]] = {
        **UNLABELLED,
        "prototypes_": "finite8(P,d)",
        "?labels_": "i8(n) in 0..P",
        "?inertia_": "number",
        "_state": State | None,
        **dict.fromkeys(("_presented", "_rows", "_seed"), "int"),
    }

    n_prototypes: int
    init: Any
    max_iter: int
    max_time: float | None
    shuffle: bool
    warm_start: bool
    random_state: Any
    verbose: int
    prototypes_: FloatArray

    def __sklearn_tags__(self) -> Any:
        """Say that sparse rows are taken."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _rule(self) -> Rule:
        """Return the rule."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        check_common(self)
        for name in ("eta0", "eta_end"):
            require_number(self, name)
            require(self, name, "a number above 0, at most 1", holds=float(getattr(self, name)) <= 1.0)
        if isinstance(self.init, str):
            require(self, "init", "'sample', 'k-means++' or an array", holds=self.init in {"sample", "k-means++"})

    # ------------------------------------------------------------ learning from a data set
    @with_callbacks
    def fit(self, X: Matrix, y: Any = None) -> Self:
        """Learn prototypes.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Rows, at least as many as prototypes; float32 and float64 are used as they are.
        y : ignored
            For scikit-learn's pipelines.

        Returns
        -------
        self
            With `prototypes_`, `labels_`, `inertia_`, `certificate_`, `outcome_`, `history_`, `n_iter_`.
        """
        del y
        with restored_on_error(self):
            return self._learn(X)

    def _learn(self, X: Matrix) -> Self:
        began = time.perf_counter()
        self._check_parameters()
        before = dict(vars(self))
        X = read_matrix(self, X, reset=True)
        view, q = usable_rows(X, None, type(self).__name__)
        refuse_vanishing(X, q, 0.0, type(self).__name__)
        n = X.shape[0]
        require_rows(self, n)
        state, self._seed, history = self._begin(X, view, before)
        order = lru_cache(maxsize=1)(Orders(np.arange(n), int(self.shuffle), self._seed).at)
        seed = self._seed if getattr(self, "revive", False) else None
        method = Quantising(view, self._rule(), order, self.max_iter, seed)
        gone = float(history["seconds"][-1]) if history["seconds"].size else 0.0

        def text(at: Progress) -> str:
            return f"epoch {state.counts[0] // n}: error {at.table[0][-1]:.6g} while learning, {gone + at.seconds:.1f} s"

        reporter = Reporter(self, X, None, lambda: {"prototypes_": state.W}, self.max_iter, text)
        end = run(method, budget_of(self, began, 2.0 * n * state.W.size), state, reporter.watch)
        course = end.course.history()
        self.history_ = {
            "epoch": np.arange(1, history["error"].size + course["error"].size + 1),
            "seconds": np.append(history["seconds"], gone + course["seconds"]),
            "error": np.append(history["error"], course["error"]),
        }
        self._conclude(X, view, state)
        self.outcome_ = self._explained(end.outcome.reason, state, n)
        reporter.line(str(self.outcome_))
        reporter.close()
        return self

    def _begin(self, X: Matrix, view: View, before: dict[str, Any]) -> tuple[State, int, dict[str, FloatArray]]:
        """Return where to start, the seed of the orders, and the history so far.

        With `warm_start` from the prototypes of the last fit, and where it stopped if it was cut short.
        """
        rng = check_random_state(self.random_state)
        old, state = before.get("prototypes_"), before.get("_state")
        none = {"seconds": np.empty(0), "error": np.empty(0)}
        if not self.warm_start or old is None or old.shape != (self.n_prototypes, X.shape[1]):
            with one_blas_thread():
                old, state = first_prototypes(self, X, view, np.ones(X.shape[0]), rng), None
        if state is not None and before["_rows"] == X.shape[0] and state.counts[0] < self.max_iter * X.shape[0]:
            return State(*(array.copy() for array in state)), before["_seed"], before["history_"]
        return State.of(old), int(rng.randint(np.iinfo(np.int32).max)), none

    def _conclude(self, X: Matrix, view: View, state: State) -> None:
        """Store what was learnt, and the proof."""
        self.prototypes_ = state.W
        self.labels_, squares = winners(view, self.prototypes_)
        self.inertia_ = float(squares.sum())
        self._rows, self._presented = X.shape[0], int(state.counts[0])
        self._state = state if self._presented < self.max_iter * X.shape[0] else None
        self.n_iter_ = -(-self._presented // X.shape[0])
        with one_blas_thread():
            self.certificate_ = Quantisation.measure(X, prototypes=self.prototypes_)

    def _explained(self, reason: Reason, state: State, n: int) -> Outcome:
        """Return why the fit stopped, what was reached and what to do."""
        dead, revived = self.certificate_.dead.size, state.counts[1]
        said = [
            f"{self._presented / n:.4g} of {self.max_iter} epochs presented: quantisation error {self.inertia_:.6g}.",
            f"Prototypes without a win in an epoch were revived {revived} times." if revived else "",
            f"{dead} of {self.n_prototypes} prototypes are nearest to no row." if dead else "",
        ]
        sentence = " ".join(part for part in said if part)
        if reason != "passes done":
            return Outcome(reason, f"{reason.capitalize()}: {sentence}", "Call fit with warm_start=True to go on from there.")
        return Outcome(reason, sentence, "Ask for fewer prototypes or allow more epochs (max_iter)." if dead else "")

    # ------------------------------------------------------------ learning from a stream
    def partial_fit(self, X: Matrix, y: Any = None) -> Self:
        """Learn from the next rows of a stream, each once and in order; any cut into chunks gives the same prototypes.

        A stream has no end to anneal towards, so the rate is `eta_end` throughout (and the range of a neural gas
        `lambda_end`). The prototypes begin as the array `init`, or else as the first rows: the first chunk must have as many.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            The next rows.
        y : ignored
            For scikit-learn's pipelines.

        Returns
        -------
        self
            Ready to predict. A stream has no data set to certify against, so labels and certificate of an earlier fit are
            removed; `certify(X)` makes a certificate for any rows at hand.
        """
        del y
        with restored_on_error(self):
            return self._take_in(X)

    def _take_in(self, X: Matrix) -> Self:
        self._check_parameters()
        first = not hasattr(self, "prototypes_")
        X = read_matrix(self, X, reset=first)
        view, _ = usable_rows(X, None, type(self).__name__)
        if not first:
            W = self.prototypes_
        elif isinstance(self.init, str):
            require_rows(self, X.shape[0])
            W = gathered(view, np.arange(self.n_prototypes))
        else:
            W = given_prototypes(self, X.shape[1])
        state, rule = State.of(W), self._rule()
        for start in range(0, X.shape[0], BLOCK_ROWS):
            rule.present(gathered(view, np.arange(start, min(start + BLOCK_ROWS, X.shape[0]))), state)
        self.prototypes_ = state.W
        self._rows, self._presented = X.shape[0], (0 if first else self._presented) + X.shape[0]
        self.n_iter_, self._seed, self._state = 1, 0, None
        self.outcome_ = Outcome("passes done", f"{self._presented:,} rows of a stream, each seen once.")
        for name in {"certificate_", "history_", "labels_", "inertia_"} & vars(self).keys():
            delattr(self, name)
        return self

    # ------------------------------------------------------------ using what was learnt
    @property
    def cluster_centers_(self) -> FloatArray:
        """The prototypes, by scikit-learn's name, shape (K, d)."""
        return self.prototypes_

    @property
    def _n_features_out(self) -> int:
        return len(self.prototypes_)

    def _read(self, X: Matrix) -> tuple[Matrix, View]:
        """Check rows, and return them and their view."""
        check_is_fitted(self, "prototypes_")
        X = read_matrix(self, X, reset=False)
        return X, usable_rows(X, None, type(self).__name__)[0]

    def predict(self, X: Matrix) -> IntArray:
        """Return the number of the nearest prototype of each row; of equally near ones the first.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            Rows.

        Returns
        -------
        ndarray of int, shape (n,)
            Numbers of prototypes.
        """
        return winners(self._read(X)[1], self.prototypes_)[0]

    def transform(self, X: Matrix) -> FloatArray:
        """Return the distances of rows X, shape (n, d), from all prototypes, shape (n, K)."""
        return all_distances(self._read(X)[1], self.prototypes_)

    def score(self, X: Matrix, y: Any = None) -> float:
        """Return minus the quantisation error of rows X, shape (n, d): larger is better. A y is not looked at."""
        del y
        return -float(winners(self._read(X)[1], self.prototypes_)[1].sum())

    def certify(self, X: Matrix) -> Quantisation:
        """Measure the present prototypes on any rows X, shape (n, d); the certificate is not stored on the model."""
        X, _ = self._read(X)
        with one_blas_thread():
            return Quantisation.measure(X, prototypes=self.prototypes_)

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse a state of other prototypes."""
        state = fitted["_state"]
        if state is not None and (state.V.shape[1] != -(-sizes["P"] // 8) * 8 or state.counts.min() < 0):
            raise ValueError("_state: its prototypes are not those of the model")
