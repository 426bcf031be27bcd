"""What the ladders of classes and of numbers share: reading, climbing, the one look at the held-out rows, and the refit.

Order     Rows are held out; the encoder learns from the others; every rung is scored in the same folds of these; the winner is
          tested once on the rows held out; then it learns from all rows (`refit`). The score told is the one measured before.
          The encoder stays that of the training rows: folds, probabilities and intervals were measured with it.
Two ways  `Ladder` is a classifier and `RegressionLadder` a regressor, because scikit-learn's splitters, scorers and searches
          ask an estimator which of the two it is before they have seen a target. `halfspace fit` chooses by the target.
"""

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from halfspace import Novelty
from halfspace._learnt import Learnt
from halfspace._memory import bytes_of, memory_limit
from halfspace._text import plural
from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.certificates import Certificate, Verdict
from halfspace.certificates.pipeline import Pipeline
from halfspace.errors import FewRowsWarning, InputError
from halfspace.ladder.climbing import (
    Climbed,
    Interruptible,
    Training,
    choose_winner,
    climb,
    learning_curve,
    undisturbed,
    with_folds,
)
from halfspace.ladder.components import OnComponents
from halfspace.ladder.conformal import Intervals, Sets
from halfspace.ladder.evidence import Evidence
from halfspace.ladder.leaks import leak_notes, seen_before
from halfspace.ladder.measures import Measure, measure_of
from halfspace.ladder.plans import Plan, describe, quietly
from halfspace.ladder.preparing import (
    admit_encoded,
    as_matrix,
    checked_plans,
    checked_rows,
    dense_if_small,
    input_groups,
    training_for,
)
from halfspace.ladder.tasks import Rows, Task, split
from halfspace.ladder.values import NumberTest, Progress, Rung, TestResult, summarise_outcome, summarise_result
from halfspace.ladder.yardstick import Yardstick, measure_yardstick
from halfspace.models.parameters import restored_on_error
from halfspace.notes import Note
from halfspace.rows.threads import one_blas_thread
from halfspace.solvers.outcome import Outcome, Reason
from halfspace.tables import TableEncoder
from halfspace.tables.columns import take

__all__ = ["BaseLadder"]

LOOKING = 2.0
"""Seconds that the search for leaks may take."""
NOVELTY_ROWS = 1_000
"""Most rows that novelty is learnt from, and, less one, that are set apart for its threshold."""
MOST_KEPT = 20_000_000
"""Most numbers of all models of the folds together that are kept for intervals or sets of predictions."""


class BaseLadder(Learnt, BaseEstimator):
    """A ladder of rungs for a task, which subclasses name."""

    learnt: ClassVar[dict[str, Any]] = {
        "encoder_": "model:TableEncoder",
        "n_features_in_": "=d",
        "?feature_names_in_": "names(d)",
        "estimator_": "model",
        "rungs_": [Rung],
        "?notes_": [Note],
        "outcome_": Outcome,
        "train_": "i8(a)",
        "test_": "i8(b)",
        "learnt_": "i8(e)",
        "?evidence_": Evidence | None,
        "?yardstick_": Yardstick | None,
        "?fold_models_": ["model"],
        "?conformal_": Intervals | Sets | None,
        "?novelty_": "none | model:Novelty",
    }
    left_out: ClassVar[frozenset[str]] = frozenset({"on_progress"})
    learns_more: ClassVar[bool] = True
    task: ClassVar[str]
    plans: ClassVar[dict[str, Plan]]

    def __init__(
        self,
        *,
        rungs: Any,
        encoder: Any,
        pca: Any,
        kernel: Any,
        kernel_rows: int,
        test_size: float,
        n_splits: int,
        n_repeats: Any,
        scoring: str,
        refit: bool,
        yardstick: bool,
        novelty: bool,
        max_time: float | None,
        max_memory: Any,
        curve: bool,
        n_jobs: int | None,
        on_progress: Callable[[Progress], None] | None,
        verbose: int,
        random_state: int,
    ) -> None:
        self.rungs = rungs
        self.encoder = encoder
        self.pca = pca
        self.kernel = kernel
        self.kernel_rows = kernel_rows
        self.test_size = test_size
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.scoring = scoring
        self.refit = refit
        self.yardstick = yardstick
        self.novelty = novelty
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

    def fit(self, X: Any, y: Any, **rows: Any) -> Self:
        """Climb.

        Parameters
        ----------
        X : array, sparse matrix or table, shape (n, d)
            Rows; anything the encoder takes.
        y : array, shape (n,)
            Labels of two or more classes, or numbers.
        **rows : arrays, shape (n,)
            `sample_weight`: how much each row counts, in learning and in the scores. `groups`: rows of one group are never on
            both sides of a split. `times`: numbers, dates or texts that sort; every fold learns from the past and is tested on
            what came next, and the last rows are held out.
        """
        with restored_on_error(self), one_blas_thread(), memory_limit(self.max_memory, bytes_of(X)):
            began = time.perf_counter()
            plans = checked_plans(self, self.plans)
            y = self._read_targets(X, y)
            check_consistent_length(X if hasattr(X, "shape") else np.asarray(X), y)
            about = checked_rows(self, rows, y)
            self._notes = list[Note]()
            task = self._task_of(y, note=False)
            self.train_, self.test_ = split(task, y, float(self.test_size), self.random_state, about)
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
            task = self._task_of(y[self.train_], note=True)
            data = Z, y[self.train_], about.of(self.train_)
            training = training_for(self, task, data, deadline, partial(self._report, began))
            self.scoring_ = task.measure.name
            self.n_repeats_, self.n_splits_ = training.passes, len(training.folds) // training.passes
            done, self.rungs_, reason = climb(plans, training, by_name=self.rungs is not None)
            if not done:  # no rung was asked for that takes no time
                done, kept, _ = climb([self.plans[task.baseline]], training, by_name=True)
                self.rungs_ = (*kept, *self.rungs_)
            self._conclude(done, training, reason, (X, y, about), None if end is None else end - 0.5 * after)
            self.seconds_ = time.perf_counter() - began
            return self

    def _read_targets(self, X: Any, y: Any) -> Any:
        """Return the targets as an array, shape (n,), or refuse them."""
        raise NotImplementedError

    def _task_of(self, y: Labels, *, note: bool) -> Task:
        """Return what is to be learnt from targets y, shape (n,), with a note on what is special if asked."""
        raise NotImplementedError

    def _report(self, began: float, plan: Plan, fold: int, score: float, message: str = "") -> None:
        """Report progress to the callback and to standard error."""
        folds, seconds = self.n_splits_ * self.n_repeats_, time.perf_counter() - began
        if self.on_progress is not None:
            self.on_progress(Progress(plan.name, plan.title, fold, folds, seconds, score, message))
        if self.verbose > 1 or (self.verbose and (fold == folds or (fold == 0 and message))):
            news = ", ".join(filter(None, (f"fold {fold} of {folds}, score {score:.4f}" if fold else "", message))) or "begins"
            sys.stderr.write(f"[{type(self).__name__}] {plan.title}: {news}, {seconds:.1f} s\n")

    def _seconds_after(self, encoding: float) -> float:
        """Return what to leave for the end: to encode the rows held out, as those to learn from were, to test, to calibrate."""
        limit = float(self.max_time or 0.0)
        return min(0.05 * limit + encoding * self.test_.size / self.train_.size + 0.5, 0.3 * limit)

    def _conclude(
        self,
        done: list[Climbed],
        training: Training,
        reason: Reason,
        given: tuple[Any, Labels, Rows],
        until: float | None,
    ) -> None:
        """Choose the winner, look at the held-out rows once, and let the winner learn from all rows."""
        choice = choose_winner(done, training)
        winner, best = choice.winner, choice.best
        self.winner_, self.best_, self.evidence_ = winner.rung.name, best.rung.name, choice.evidence
        self.estimator_, self.learnt_ = winner.model, self.train_[winner.rows]
        self.out_of_fold_ = winner.outputs if training.watched.size == training.y.size else winner.outputs[:0]
        self._calibrate(winner, training, until)
        notes = self._about_classes(training, until)
        self.learning_curve_ = learning_curve(winner, training, until) if self.curve and reason == "converged" else ()
        self.test_result_, self.test_outputs_ = None, np.empty((0, *training.task.shape))
        Z_test = None
        if self.test_.size:
            with undisturbed():
                Z_test = self.encode(take(given[0], self.test_))
                self.test_outputs_ = training.task.outputs(self.estimator_, Z_test)
                self.test_result_ = self._tested(given[1][self.test_])
        self._note_components(done)
        self._look_for_leaks(training, Z_test, given[1], until)
        self._keep_folds(winner, training, given[2], until)
        self.novelty_ = self._novelty_of(training.X, until) if self.novelty and reason != "interrupted" else None
        self.yardstick_ = measure_yardstick(training, until) if self.yardstick and reason == "converged" else None
        rung = self._refitted(winner, training, (Z_test, given[1], given[2]), until)
        self.rungs_ = tuple(rung if other.name == rung.name else other for other in self.rungs_)
        self.outcome_ = summarise_outcome(reason, self.rungs_)
        best_rung = rung if best is winner else best.rung
        self.verdict_ = summarise_result(rung, best_rung, self.test_result_, training.task, choice.evidence)
        self.notes_ = (*self._notes, *notes, *getattr(self.encoder_, "notes_", ()))
        del self._notes

    def _note_components(self, done: list[Climbed]) -> None:
        """Note what rungs saw of the rows, if principal components."""
        for model in (one.model for one in done if isinstance(one.model, OnComponents)):
            seen = plural(len(model.components_), "principal component")
            held = f"{100 * model.certificate_.share:.1f} % of the variance of {plural(model.n_features_in_, 'input')}"
            self._notes.append(Note("components", detail=f"{seen} with {held}"))
            return

    def _look_for_leaks(self, training: Training, Z_test: Any, y: Labels, until: float | None) -> None:
        """Note columns that give the answer away, and held-out rows that are among the training rows, if there is time."""
        if _late(until, LOOKING):
            return
        groups = input_groups(self.encoder_, training.X.shape[1])[1]
        with quietly():
            self._notes.extend(leak_notes(training.X, groups, training.y, classify=self.task == "classify"))
        if Z_test is not None:
            again = seen_before(training.X, Z_test, (training.y, y[self.test_]))
            if again:
                self._notes.append(Note("seen before", count=again, detail=f"{self.test_.size:,}"))

    def _novelty_of(self, Z: Matrix, until: float | None) -> Novelty | None:
        """Learn what training rows look like, from a sample of them, if there is time."""
        left = None if until is None else until - time.perf_counter()
        if left is not None and left < LOOKING:
            return None
        model = Novelty(
            kernel_rows=NOVELTY_ROWS, calibration_rows=NOVELTY_ROWS - 1, max_time=None if left is None else 0.5 * left
        )
        with Interruptible(), warnings.catch_warnings(action="ignore", category=FewRowsWarning), quietly():
            try:
                return model.fit(Z)
            except InputError:
                self._notes.append(Note("no novelty"))
        return None

    def _calibrate(self, winner: Climbed, training: Training, until: float | None) -> None:
        """Learn from the outputs for rows left out how to read them, from as many as there is time for."""

    def _about_classes(self, training: Training, until: float | None) -> list[Note]:  # noqa: ARG002
        """Find out what there is to know about classes; return notes on what could not be found."""
        return []

    def _tested(self, y: Labels) -> TestResult | NumberTest:
        """Compare the outputs for held-out rows with their targets."""
        raise NotImplementedError

    def _keep_folds(self, winner: Climbed, training: Training, about: Rows, until: float | None) -> None:
        """Keep the models of the folds, and how wrong they were on rows that they had not seen, for answers with a guarantee.

        Nothing is kept where the theorem says nothing (rows in time), where outputs are not known of all rows, or where the
        models are large; a note says so.
        """
        self.fold_models_: list[Any] = []
        self.conformal_: Any = None
        why, m = "", len(training.folds) // training.passes
        again = not winner.folds or training.rows_for(winner.plan) is not training.X
        if about.time is not None:
            why = "rows in time are not exchangeable"
        elif training.watched.size < training.y.size:
            why = "there are too many classes"
        elif m * _numbers_in(vars((*winner.folds, winner.model)[0])) > MOST_KEPT:
            why = "the models of the folds are too large to be kept"
        elif _late(until, again * m * winner.rung.fit_seconds):
            why = "there was no time"
        elif not winner.folds:
            with Interruptible() as block:
                winner = with_folds(winner, training, None if until is None else 0.5 * (until - time.perf_counter()))
            why = "interrupted" if block.interrupted else ""
        if why:
            self._notes.append(Note("no guarantee", detail=why))
            return
        fold = np.zeros(training.y.size, dtype=np.int64)
        for k, (_, test) in enumerate(training.folds[: len(winner.folds)]):
            fold[test] = k
        self.fold_models_ = [self._unrotated(winner, training, k) for k in range(len(winner.folds))]
        self.fold_ = fold
        self.conformal_ = self._guarantee(winner, training, fold)

    def _unrotated(self, winner: Climbed, training: Training, k: int) -> Any:
        """Return the model of a fold for rows as the encoder gives them: scores may have been made in fewer coordinates."""
        if training.rows_for(winner.plan) is training.X:
            return winner.folds[k]
        rows, _ = training.split_for(winner.plan, k)
        with quietly():
            return clone(winner.folds[k]).fit(training.X[rows], training.y[rows], **training.weights_for(winner.plan, rows))

    def _guarantee(self, winner: Climbed, training: Training, fold: IntArray) -> Any:
        """Return what answers with a guarantee need beside the models of the folds."""
        raise NotImplementedError

    def _asked_folds(self, Z: Matrix) -> FloatArray:
        """Return what each fold's model says about encoded rows, shape (n, m) or (n, m, K)."""
        check_is_fitted(self, "estimator_")
        if getattr(self, "conformal_", None) is None:
            msg = f"this {type(self).__name__} has kept no models of its folds, which answers with a guarantee need; see notes_"
            raise InputError(msg)
        method = "decision_function" if self.task == "classify" else "predict"
        answers = [np.asarray(getattr(model, method)(Z)) for model in self.fold_models_]
        classes = vars(self).get("classes_", ())
        expected = (Z.shape[0], len(classes)) if len(classes) > 2 else (Z.shape[0],)
        if any(one.shape != expected or one.dtype.kind != "f" for one in answers):
            msg = f"the models of the folds of this {type(self).__name__} do not answer for every row and class; fit it again"
            raise InputError(msg)
        return np.stack(answers, axis=1)

    def _refitted(self, winner: Climbed, training: Training, held: tuple[Any, Labels, Rows], until: float | None) -> Rung:
        """Let the winner learn from all rows, if there is time, and return its rung with what is new."""
        Z_test, y, about = held
        self.refitted_ = False
        if not self.refit or Z_test is None:
            return winner.rung
        left = None if until is None else until - time.perf_counter()
        if left is not None and left < 1.5 * winner.rung.fit_seconds:
            self._notes.append(Note("not refitted"))
            return winner.rung
        order = np.argsort(np.concatenate([self.train_, self.test_]), kind="stable")
        Z = _stacked(training.X, Z_test)[order]
        everyone = replace(training, X=Z, scored=Z, y=y, weight=about.weight, folds=[])
        rows, _ = everyone.split_for(winner.plan, 0)
        with Interruptible() as block:
            try:
                setting = training.setting._replace(max_time=left, draws=winner.draws)
                model, chosen = everyone.fitted(winner.plan, Z, rows, setting)
            except InputError as error:
                self._notes.append(Note("not refitted", detail=f": {error}"))
                return winner.rung
        if block.interrupted:
            self._notes.append(Note("not refitted", detail=": interrupted"))
            return winner.rung
        self.estimator_, self.learnt_, self.refitted_ = model, rows, True
        support, proof = describe(model)
        note = f"fitted to a sample of {rows.size:,} of {y.size:,} rows" if rows.size < y.size else ""
        params = chosen.params | ({"k": model.k_} if hasattr(model, "k_") else {})
        return replace(winner.rung, support=support, proof=proof, params=params, note=note)

    @property
    def measure_(self) -> Measure:
        """The measure that the rungs were scored by."""
        check_is_fitted(self, "estimator_")
        return measure_of(self.scoring_, self.task, getattr(self, "positive", None))

    @property
    def certificate_(self) -> Certificate:
        """The winner's proof, about the encoded rows that it learnt from."""
        check_is_fitted(self, "estimator_")
        proof: Certificate | None = getattr(self.estimator_, "certificate_", None)
        if proof is None:
            msg = f"the winner of this {type(self).__name__} has no certificate"
            raise AttributeError(msg)
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

    def verify(self, X: Any, y: Labels) -> Verdict:
        """Check everything that predicts against the X and y that were given to `fit`.

        The winner's certificate holds and is about the numbers that predict; the encoder is the one that the training rows
        make; the probabilities are those that the outputs for rows left out make. Those outputs, like the scores of the rungs,
        are reported by the run and not proved.
        """
        check_is_fitted(self, "estimator_")
        y, fitted = self._read_targets(X, y), self.train_.size + self.test_.size
        if y.size != fitted:
            return Verdict.of((False, f"there are {y.size:,} labels, but the ladder was fitted to {fitted:,}"))
        if not hasattr(self, "certificate_"):
            return Verdict.of((False, "the winner has no certificate"))
        for rows in (self.train_, self.learnt_):
            if not (rows.size and 0 <= rows.min() <= rows.max() < y.size):
                return Verdict.of((False, "it claims to have learnt from rows that there are not"))
        with one_blas_thread():
            return self._pipeline().verify(partial(take, X), y, self.train_, self.learnt_)

    def _pipeline(self) -> Pipeline:
        """Return all that predicts, to be checked."""
        model = getattr(self.estimator_, "estimator_", self.estimator_)
        classes, calibration = getattr(self, "classes_", None), getattr(self, "calibration_", None)
        around = self.encoder_, classes, calibration, self.out_of_fold_
        return Pipeline(*around, vars(model), self.certificate_, getattr(self, "operating_point_", None))

    @classmethod
    def check_parts(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse parts that are fitted to different tables."""
        encoder = vars(fitted["encoder_"])
        if "scoring_" in fitted:
            measure_of(fitted["scoring_"], cls.task)
        if encoder.get("n_features_in_") != sizes["d"]:
            msg = f"{cls.__name__}: its parts are not fitted to the same table"
            raise ValueError(msg)
        width = len(encoder["columns_"]) if encoder["largest_"] is not None else encoder["groups_"][-1][2]
        folds, kept = fitted.get("fold_models_", []), fitted.get("conformal_")
        if not np.array_equal(vars(fitted["estimator_"]).get("classes_", ()), fitted.get("classes_", ())):
            msg = f"{cls.__name__}: the winner knows other classes"
            raise ValueError(msg)
        for model in (fitted["estimator_"], *folds):
            cls._check_model(model, width)
        guarantee = Sets if cls.task == "classify" else Intervals
        if kept is not None and not (isinstance(kept, guarantee) and kept.fits(len(folds), width)):
            msg = f"{cls.__name__}: what its guarantees need is not of its folds"
            raise ValueError(msg)

    @classmethod
    def _check_model(cls, model: Any, width: int) -> None:
        """Refuse a model that cannot say anything about encoded rows of this width."""
        examples = vars(model).get("X_")  # of nearest neighbours
        if vars(model).get("n_features_in_", width if examples is None else examples.shape[1]) != width:
            msg = f"{cls.__name__}: the winner, or the model of a fold, knows other features"
            raise ValueError(msg)
        if not hasattr(type(model), "decision_function" if cls.task == "classify" else "predict"):
            msg = f"{cls.__name__}: a {type(model).__name__} does not predict what it does"
            raise ValueError(msg)


def _late(until: float | None, seconds: float) -> bool:
    """Tell whether work of so many seconds would end too late."""
    return until is not None and time.perf_counter() + seconds > until


def _numbers_in(value: Any) -> int:
    """Count the numbers of all arrays in a model's attributes."""
    if isinstance(value, np.ndarray):
        return int(value.size)
    if isinstance(value, dict):
        return sum(map(_numbers_in, value.values()))
    if isinstance(value, list | tuple):
        return sum(map(_numbers_in, value))
    if hasattr(value, "nnz"):
        return int(value.nnz)
    return _numbers_in(vars(value)) if isinstance(value, BaseEstimator) else 0


def _stacked(first: Matrix, second: Matrix) -> Matrix:
    """Return rows of two encoded tables, one below the other, in the form of the first."""
    if isinstance(first, np.ndarray):
        return np.vstack([first, second if isinstance(second, np.ndarray) else second.toarray()])
    from scipy import sparse  # noqa: PLC0415

    return sparse.vstack([first, sparse.csr_matrix(second)], format="csr")
