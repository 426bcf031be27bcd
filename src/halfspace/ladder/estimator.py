"""The ladder as a scikit-learn classifier: baseline, perceptron, large margin, kernel; the simplest that is as good wins."""

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from halfspace._learnt import Learnt
from halfspace._memory import bytes_of, memory_limit
from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.certificates import Certificate, Verdict
from halfspace.certificates.calibration import Calibration
from halfspace.certificates.pipeline import Pipeline
from halfspace.ladder.climbing import (
    Climbed,
    Training,
    ask_separable,
    blocks,
    choose_winner,
    climb,
    labels_of,
    learning_curve,
    undisturbed,
)
from halfspace.ladder.preparing import (
    admit_classes,
    admit_encoded,
    as_matrix,
    checked_labels,
    checked_plans,
    dense_if_small,
    input_groups,
    split,
    take,
    training_for,
)
from halfspace.ladder.rungs import RUNGS, Plan
from halfspace.ladder.values import Progress, Rung, TestResult, summarise_outcome, summarise_result
from halfspace.models.parameters import restored_on_error
from halfspace.notes import Note
from halfspace.rows.labels import read_classes
from halfspace.rows.threads import one_blas_thread
from halfspace.solvers.outcome import Outcome, Reason
from halfspace.tables import TableEncoder

__all__ = ["Ladder"]


class Ladder(Learnt, ClassifierMixin, BaseEstimator):
    """From a table to the simplest model that is good enough, with its proof.

    The rungs are the majority class, nearest neighbours, the averaged perceptron, Adaline, the AdaTron with C chosen by
    cross-validation, four prototypes per class (GLVQ; GMLVQ, with a metric of their own, says which columns matter in
    `relevances_`), and the kernel AdaTron with C and gamma chosen. All are scored in the same repeated stratified folds
    (those that tune, nested), and the winner is the simplest within one standard error of the best. Simple means: keeps little;
    nearest neighbours, which keep every example, count as the least simple. Rungs that can no longer win are skipped. The
    held-out rows are used once, at the end.

    Parameters
    ----------
    rungs : sequence of str, optional
        Some of "majority", "neighbours", "perceptron", "adaline", "adatron", "glvq", "gmlvq", "kernel"; all by default,
        but the prototypes only from 200 training rows on.
    encoder : transformer, optional
        Turns rows into numbers; `TableEncoder()` by default. It sees the training rows only, and no labels.
    kernel : str or Kernel, default "rbf"
        For the kernel rung.
    kernel_rows : int, default 10000
        Most rows that the kernel and neighbours rungs learn from; of more they take a stratified sample.
    test_size : float, default 0.2
        Share of the rows held out for the test at the end; 0 for none.
    n_splits : int, default 5
        Folds; fewer if the smallest class has fewer examples.
    n_repeats : int or "auto", default "auto"
        Passes through the folds; "auto": 2 up to 100 training rows, else 1.
    scoring : {"auto", "accuracy", "balanced_accuracy"}, default "auto"
        "auto": balanced accuracy, with balanced class weights, when one class has more than 80 % of the examples.
    max_time : float, optional
        Time limit in seconds, from the call on; the best rung so far is kept, and at least the majority class.
    max_memory : int or str, optional
        Memory limit: bytes, or text such as "2GB". By default the smaller of a quarter of the machine's memory and max(2 GB, 20
        times the bytes of X). A rung that would need more takes another way or is skipped, and says so.
    curve : bool, default False
        Also measure a learning curve of the winner.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.
    on_progress : function, optional
        Called with a `Progress` after every fold.
    verbose : int, default 0
        1 prints a line per rung, 2 one per fold, to standard error.
    random_state : int, default 0
        Seed of the split, the folds and the samples.

    Attributes
    ----------
    rungs_ : tuple of Rung
        What is known of every rung, in the order of climbing.
    winner_, best_ : str
        Names of the rung chosen, and of the one with the best score.
    estimator_ : estimator
        The winner, fitted to the encoded training rows.
    encoder_ : transformer
        Rows to numbers.
    certificate_ : Certificate
        The winner's proof, about the encoded training rows; `verify(X, y)` checks it.
    test_result_ : TestResult or None
        Score, interval and confusion matrix on the held-out rows.
    separability_ : tuple of (label, Separability)
        Whether a plane separates a class from the rest: for the second of two classes, or for each of more.
    out_of_fold_ : ndarray, shape (n_train,) or (n_train, K)
        The winner's outputs for training rows it had not seen, averaged over the repeats; NaN where there is none. Of so many
        classes that they do not fit the memory limit, none are kept.
    calibration_ : Calibration
        Slopes of the probabilities.
    train_, test_, learnt_ : ndarray
        Numbers of the training rows, of the rows held out, and of those that the winner learnt from: all training rows, or
        the sample that a costly rung takes of very many. The certificate is about the last.
    learning_curve_ : tuple of (int, float, float)
        Rows, score and standard error; empty unless `curve`.
    outcome_, verdict_, notes_ : Outcome, str, tuple of Note
        Why the climb stopped, the result in a sentence, what to know about the data.
    classes_, n_features_in_, scoring_, n_splits_, n_repeats_, seconds_
        What they say.

    Examples
    --------
    >>> import halfspace as hs
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ladder = hs.Ladder(rungs=["majority", "perceptron"]).fit(X, y)
    >>> ladder.winner_, bool(ladder.verify(X, y)), ladder.predict_proba(X[:2]).shape
    ('perceptron', True, (2, 3))
    """

    learnt: ClassVar[dict[str, Any]] = {
        "encoder_": "model:TableEncoder",
        "n_features_in_": "=d",
        "?feature_names_in_": "names(d)",
        "classes_": "distinct(c)",
        "estimator_": "model",
        "rungs_": [Rung],
        "?notes_": [Note],
        "test_result_": TestResult | None,
        "outcome_": Outcome,
        "calibration_": Calibration,
        "train_": "i8(a)",
        "test_": "i8(b)",
        "learnt_": "i8(e)",
        "out_of_fold_": "f8(a) | f8(a,c) | f8(0,c)",
    }
    left_out: ClassVar[frozenset[str]] = frozenset({"on_progress"})
    learns_more: ClassVar[bool] = True

    def __init__(
        self,
        *,
        rungs: Any = None,
        encoder: Any = None,
        kernel: Any = "rbf",
        kernel_rows: int = 10_000,
        test_size: float = 0.2,
        n_splits: int = 5,
        n_repeats: Any = "auto",
        scoring: str = "auto",
        max_time: float | None = None,
        max_memory: Any = None,
        curve: bool = False,
        n_jobs: int | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        verbose: int = 0,
        random_state: int = 0,
    ) -> None:
        self.rungs = rungs
        self.encoder = encoder
        self.kernel = kernel
        self.kernel_rows = kernel_rows
        self.test_size = test_size
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.scoring = scoring
        self.max_time = max_time
        self.max_memory = max_memory
        self.curve = curve
        self.n_jobs = n_jobs
        self.on_progress = on_progress
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Say that sparse matrices and missing values are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Labels) -> Self:
        """Climb.

        Parameters
        ----------
        X : array, sparse matrix or table, shape (n, d)
            Rows; anything the encoder takes.
        y : array, shape (n,)
            Labels of two or more classes.
        """
        with restored_on_error(self), one_blas_thread(), memory_limit(self.max_memory, bytes_of(X)):
            began = time.perf_counter()
            plans = checked_plans(self)
            y = checked_labels(y)
            classes, _ = read_classes(y, type(self).__name__)
            admit_classes(classes.size, X)
            check_consistent_length(X if hasattr(X, "shape") else np.asarray(X), y)
            self.classes_, self._notes = classes, list[Note]()
            self.train_, self.test_ = split(y, float(self.test_size), self.random_state)
            if self.test_size and not self.test_.size:
                self._notes.append(Note("no test"))
            self.encoder_ = clone(TableEncoder() if self.encoder is None else self.encoder).fit(take(X, self.train_))
            admit_encoded(self.encoder_, X, self.train_.size)
            self.n_features_in_ = self.encoder_.n_features_in_
            if hasattr(self.encoder_, "feature_names_in_"):
                self.feature_names_in_ = self.encoder_.feature_names_in_
            reading = time.perf_counter()
            Z = dense_if_small(as_matrix(self.encoder_.transform(take(X, self.train_))))
            end = None if self.max_time is None else began + float(self.max_time)
            after = self._seconds_after(time.perf_counter() - reading)
            deadline = None if end is None else end - after
            training, notes = training_for(self, Z, y[self.train_], deadline, partial(self._report, began))
            self.scoring_ = "balanced_accuracy" if training.setting.balanced else "accuracy"
            self.n_repeats_, self.n_splits_ = training.passes, len(training.folds) // training.passes
            self._notes.extend(notes)
            done, self.rungs_, reason = climb(plans, training, by_name=self.rungs is not None)
            if not done:  # no rung was asked for that takes no time
                done, kept, _ = climb([RUNGS["majority"]], training, by_name=True)
                self.rungs_ = (*kept, *self.rungs_)
            self._conclude(done, training, reason, (X, y), None if end is None else end - 0.5 * after)
            self.seconds_ = time.perf_counter() - began
            return self

    def _report(self, began: float, plan: Plan, fold: int, score: float, message: str = "") -> None:
        """Report progress to the callback and to standard error."""
        folds, seconds = self.n_splits_ * self.n_repeats_, time.perf_counter() - began
        if self.on_progress is not None:
            self.on_progress(Progress(plan.name, plan.title, fold, folds, seconds, score, message))
        if self.verbose > 1 or (self.verbose and (fold == folds or (fold == 0 and message))):
            news = ", ".join(filter(None, (f"fold {fold} of {folds}, score {score:.4f}" if fold else "", message))) or "begins"
            sys.stderr.write(f"[Ladder] {plan.title}: {news}, {seconds:.1f} s\n")

    def _seconds_after(self, encoding: float) -> float:
        """Return what to leave for the end: to encode the rows held out, as those to learn from were, to test, to calibrate."""
        limit = float(self.max_time or 0.0)
        return min(0.05 * limit + encoding * self.test_.size / self.train_.size + 0.5, 0.3 * limit)

    def _conclude(
        self, done: list[Climbed], training: Training, reason: Reason, given: tuple[Any, Labels], until: float | None
    ) -> None:
        """Choose the winner, calibrate it, decide whether the classes are separable, and score the held-out rows once."""
        X, y = given
        winner, best = choose_winner(done)
        self.winner_, self.best_, self.estimator_ = winner.rung.name, best.rung.name, winner.model
        self.learnt_ = self.train_[winner.rows]
        self.out_of_fold_ = winner.outputs if training.watched.size == training.y.size else winner.outputs[:0]
        with undisturbed():
            self.calibration_ = Calibration.of(winner.outputs, np.searchsorted(self.classes_, training.y[training.watched]))
        self.separability_, notes = ask_separable(training, until)
        self.learning_curve_ = learning_curve(winner, training, until) if self.curve and reason == "converged" else ()
        self.test_result_ = None
        if self.test_.size:
            with undisturbed():
                predicted = self.predict(take(X, self.test_))
                self.test_result_ = TestResult.measure(predicted, y[self.test_], self.classes_, self.scoring_)
        self.outcome_ = summarise_outcome(reason, self.rungs_)
        self.verdict_ = summarise_result(winner.rung, best.rung, self.test_result_, self.scoring_)
        self.notes_ = (*self._notes, *notes, *getattr(self.encoder_, "notes_", ()))
        del self._notes

    @property
    def certificate_(self) -> Certificate:
        """The winner's proof, about the encoded training rows."""
        check_is_fitted(self, "estimator_")
        proof: Certificate = self.estimator_.certificate_
        return proof

    @property
    def relevances_(self) -> tuple[tuple[str, float], ...]:
        """Each column's share of the metric that the winner has learnt, largest first; empty if it has learnt none.

        A column that was encoded as several inputs has their sum. The encoder has brought the inputs to a common scale, so
        shares compare; a column can still be relevant and yet decide little where all classes agree in it.
        """
        check_is_fitted(self, "estimator_")
        found = getattr(self.estimator_, "relevances_", None)
        if found is None:
            return ()
        shares = np.atleast_2d(found).mean(axis=0)
        sums = [(str(name), float(shares[a:b].sum())) for name, a, b in input_groups(self.encoder_, shares.size)[1] if b > a]
        return tuple(sorted(sums, key=lambda column: -column[1]))

    def encode(self, X: Any) -> Matrix:
        """Return rows as the winner sees them, shape (n, D)."""
        check_is_fitted(self, "estimator_")
        return as_matrix(self.encoder_.transform(X))

    def decision_function(self, X: Any) -> FloatArray:
        """Return the winner's outputs, shape (n,) for two classes and (n, K) for more."""
        Z = self.encode(X)
        outputs: FloatArray = self.estimator_.decision_function(Z)
        return outputs

    def predict(self, X: Any) -> Labels:
        """Return the predicted labels, shape (n,)."""
        check_is_fitted(self, "estimator_")
        Z = self.encode(X)
        labels = [
            labels_of(self.estimator_.decision_function(Z[rows]), self.classes_) for rows in blocks(Z, self.classes_.size)
        ]
        return np.concatenate(labels)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes, shape (n, K): monotone in the outputs, largest for the predicted class."""
        check_is_fitted(self, "estimator_")
        return self.calibration_.probabilities(self.decision_function(X))

    def verify(self, X: Any, y: Labels) -> Verdict:
        """Check everything that predicts against the X and y that were given to `fit`.

        The winner's certificate holds and is about the numbers that predict; the encoder is the one that the training rows
        make; the probabilities are those that the outputs for rows left out make. Those outputs, like the scores of the rungs,
        are reported by the run and not proved.
        """
        check_is_fitted(self, "estimator_")
        y, fitted = checked_labels(y), self.train_.size + self.test_.size
        if y.size != fitted:
            return Verdict.of((False, f"there are {y.size:,} labels, but the ladder was fitted to {fitted:,}"))
        if not (self.train_.size and self.learnt_.size and 0 <= self.train_.min() <= self.train_.max() < y.size):
            return Verdict.of((False, "it claims to have learnt from rows that there are not"))
        about = np.searchsorted(self.train_, self.learnt_)
        if about.max() >= self.train_.size or not np.array_equal(self.train_[about], self.learnt_):
            return Verdict.of((False, "the winner learnt from rows that are no training rows"))
        around = self.encoder_, self.classes_, self.calibration_, self.out_of_fold_
        model = getattr(self.estimator_, "estimator_", self.estimator_)
        with one_blas_thread():
            return Pipeline(*around, vars(model), self.certificate_).verify(take(X, self.train_), y[self.train_], about)

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse parts that are fitted to different tables, and probabilities that would not be any."""
        encoder, winner = vars(fitted["encoder_"]), vars(fitted["estimator_"])
        if encoder.get("n_features_in_") != sizes["d"] or "classes_" not in winner:
            raise ValueError("Ladder: its parts are not fitted to the same table")
        width = len(encoder["columns_"]) if encoder["largest_"] is not None else encoder["groups_"][-1][2]
        if winner.get("n_features_in_", width) != width or not np.array_equal(winner["classes_"], fitted["classes_"]):
            raise ValueError("Ladder: the winner knows other features or classes")
        for curve in fitted["calibration_"]:
            if not (0.0 < curve.slope < np.inf and 0.0 <= curve.noise < 1.0):
                raise ValueError("Ladder: its probabilities would not be any")
