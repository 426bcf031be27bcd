"""What online quantisers share: fitting a data set, going on after a stop, and taking in a stream."""

import time
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import check_random_state

from halfspace._typing import FloatArray, IntArray, Matrix, View
from halfspace.certificates.prototypes.quantisation import Quantisation
from halfspace.errors import InputError
from halfspace.models.parameters import check_common, read_matrix, require, require_number, restored_on_error, usable_rows
from halfspace.models.progress import Reporter
from halfspace.models.prototypes.assigning import AssigningMixin, as_dense, first_prototypes, given_prototypes
from halfspace.rows.threads import one_blas_thread
from halfspace.rows.views import n_rows
from halfspace.solvers.outcome import Outcome, Reason
from halfspace.solvers.prototypes.quantising import Learner, present, winners

__all__ = ["Quantiser"]


class Start(NamedTuple):
    """Where a fit begins: prototypes, a seed for orders, and the course of an earlier fit that was cut short."""

    W: FloatArray
    seed: int
    course: dict[str, Any] | None = None
    seconds: tuple[float, ...] = ()


class Quantiser(AssigningMixin, CallbackSupportMixin):
    """A model that learns prototypes of rows by presenting these one after another.

    A subclass says which rule (`_learner`) and what to tell of its course (`_remark`). It has the parameters `n_prototypes`,
    `init`, `eta0`, `eta_end`, `max_iter`, `max_time`, `shuffle`, `warm_start`, `random_state` and `verbose`.
    """

    n_prototypes: int
    init: Any
    max_iter: int
    max_time: float | None
    shuffle: bool
    warm_start: bool
    random_state: Any
    verbose: int

    # ------------------------------------------------------------ what a subclass says
    def _learner(self, W: FloatArray, total: int, seed: int) -> Learner:
        """Return the rule at its start, for a course of `total` presentations; 0 for a stream."""
        raise NotImplementedError

    def _remark(self, learner: Any) -> str:
        """Return a sentence about the course, if there is something to say."""
        del learner
        return ""

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
            return self._fit(X)

    def _fit(self, X: Matrix) -> Self:
        self._check_parameters()
        before = dict(vars(self))
        X = read_matrix(self, X, reset=True)
        view, _ = usable_rows(X, 0.0, type(self).__name__)
        self._require_rows(X.shape[0])
        start = self._begin(X, before)
        learner = self._learner(start.W, self.max_iter * X.shape[0], start.seed)
        if start.course:
            learner.resume(start.course)
        reporter = Reporter(self, X, None, lambda: {"prototypes_": learner.W}, self.max_iter)
        seconds = list(start.seconds)
        reason = self._run(learner, view, start.seed, reporter, seconds)
        self._conclude(X, view, learner, seconds)
        cut_short = learner.clock < self.max_iter * X.shape[0]
        self._course = {"seed": start.seed, "rows": X.shape[0], **learner.course()} if cut_short else None
        self.outcome_ = self._explained(reason, learner, X.shape[0])
        reporter.line(str(self.outcome_))
        reporter.close()
        return self

    def _run(self, learner: Learner, view: View, seed: int, reporter: Reporter, seconds: list[float]) -> Reason:
        """Present until done or stopped; return why it ended, and add the time at the end of every epoch to `seconds`."""
        n, total = n_rows(view), self.max_iter * n_rows(view)
        begin = time.perf_counter() - (seconds[-1] if seconds else 0.0)
        deadline = np.inf if self.max_time is None else time.perf_counter() + self.max_time
        orders: dict[int, IntArray] = {}

        def order_of(epoch: int) -> IntArray:
            if epoch not in orders:
                orders.clear()
                orders[epoch] = np.random.default_rng([seed, epoch]).permutation(n) if self.shuffle else np.arange(n)
            return orders[epoch]

        try:
            for clock in present(learner, view, order_of, self.max_iter):
                now = time.perf_counter()
                if len(learner.errors) > len(seconds):
                    seconds.append(now - begin)
                    text = f"epoch {clock // n}: error {learner.errors[-1]:.6g} while learning, {now - begin:.1f} s"
                    if reporter.tell(text, last=clock == total):
                        return "stopped by callback"
                if now >= deadline and clock < total:
                    return "time budget spent"
        except KeyboardInterrupt:
            return "interrupted"
        return "passes done"

    def _require_rows(self, n: int) -> None:
        """Refuse fewer rows than prototypes."""
        if n < self.n_prototypes:
            msg = (
                f"{type(self).__name__}: n_samples={n} should be >= n_prototypes={self.n_prototypes}. "
                "Ask for fewer prototypes or give more rows."
            )
            raise InputError(msg)

    def _begin(self, X: Matrix, before: dict[str, Any]) -> Start:
        """Return fresh prototypes; with `warm_start` those of the last fit, and its course if that was cut short."""
        chance = check_random_state(self.random_state)
        old, course = before.get("prototypes_"), before.get("_course")
        if not self.warm_start or old is None or old.shape != (self.n_prototypes, X.shape[1]):
            old, course = first_prototypes(X, self.init, self.n_prototypes, chance, type(self).__name__), None
        if course and course["rows"] == X.shape[0] and course["clock"] < self.max_iter * X.shape[0]:
            return Start(old, course["seed"], course, tuple(before["history_"]["seconds"].tolist()))
        return Start(old, chance.randint(np.iinfo(np.int32).max))

    def _conclude(self, X: Matrix, view: View, learner: Learner, seconds: list[float]) -> None:
        """Store what was learnt, and the proof."""
        self.prototypes_ = learner.W
        self.labels_, squares = winners(view, self.prototypes_)
        self.inertia_ = float(squares.sum())
        self.n_iter_ = -(-learner.clock // X.shape[0])
        self._presented = learner.clock
        errors = np.array(learner.errors[: len(seconds)], dtype=np.float64)
        self.history_ = {
            "epoch": np.arange(1, errors.size + 1),
            "seconds": np.array(seconds, dtype=np.float64),
            "error": errors,
        }
        with one_blas_thread():
            self.certificate_ = Quantisation.measure(X, prototypes=self.prototypes_)

    def _explained(self, reason: Reason, learner: Learner, n: int) -> Outcome:
        """Return why the fit stopped, what was reached and what to do."""
        dead = self.certificate_.dead.size
        said = [
            f"{learner.clock / n:.4g} of {self.max_iter} epochs presented: quantisation error {self.inertia_:.6g}.",
            self._remark(learner),
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
        view, _ = usable_rows(X, 0.0, type(self).__name__)
        if first and isinstance(self.init, str):
            self._require_rows(X.shape[0])
            self.prototypes_ = as_dense(X[: self.n_prototypes])
        elif first:
            self.prototypes_ = given_prototypes(self.init, self.n_prototypes, X.shape[1], type(self).__name__)
        learner = self._learner(self.prototypes_, 0, 0)
        for _ in present(learner, view, lambda _: np.arange(X.shape[0]), 1):
            pass
        self.prototypes_ = learner.W
        self._presented = (0 if first else self._presented) + X.shape[0]
        self.n_iter_, self._course = 1, None
        self.outcome_ = Outcome("passes done", f"{self._presented:,} rows of a stream, each seen once.")
        for name in {"certificate_", "history_", "labels_", "inertia_"} & vars(self).keys():
            delattr(self, name)
        return self
