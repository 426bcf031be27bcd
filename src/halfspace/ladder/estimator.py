"""The ladder of classes: baseline, perceptron, large margin, prototypes, kernel; the simplest that is as good wins."""

import time
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.certificates.calibration import Calibration
from halfspace.certificates.log_odds import LogOdds
from halfspace.certificates.operating import Demand, OperatingPoint
from halfspace.ladder.base import BaseLadder
from halfspace.ladder.climbing import Climbed, Training, ask_separable, blocks, undisturbed
from halfspace.ladder.conformal import Sets
from halfspace.ladder.plans import Plan
from halfspace.ladder.preparing import admit_classes, checked_labels, class_task
from halfspace.ladder.rungs import RUNGS
from halfspace.ladder.tasks import Classes, labels_of
from halfspace.ladder.values import Progress, TestResult
from halfspace.notes import Note
from halfspace.rows.labels import read_classes

__all__ = ["Ladder"]

CALIBRATED, LEAST_CALIBRATED = 50_000, 1_000
"""Outputs that log-odds are fitted to in a second, and in any case."""
TIED = 1e-4
"""Log-odds below this are no more than the end of a search: the first of two classes is as good as the second."""


class Ladder(ClassifierMixin, BaseLadder):
    """From a table to the simplest model that is good enough, with its proof.

    The rungs are the majority class, nearest neighbours, the averaged perceptron, Adaline, the AdaTron with C chosen by
    cross-validation, four prototypes per class (GLVQ; GMLVQ, with a metric of their own, says which columns matter in
    `relevances_`), the kernel AdaTron with C and gamma chosen, and the relevance kernel machine. All are scored in the same
    repeated stratified folds (those that tune, nested; the last one by its own outputs for rows that it did not learn from),
    and the winner is the simplest within one standard error of the best, if there is evidence that anything is better
    than the majority class. Simple means: keeps little; nearest neighbours, which keep every example, and then the relevance
    machine count as the least simple. Rungs that can no longer win are skipped. The held-out rows are used once, at the end;
    then the winner learns from all rows. `RegressionLadder` does the same for numbers.

    Parameters
    ----------
    rungs : sequence of str, optional
        Some of "majority", "neighbours", "perceptron", "adaline", "adatron", "glvq", "gmlvq", "kernel", "relevance"; all by
        default, but the prototypes only from 200 training rows on.
    encoder : transformer, optional
        Turns rows into numbers; `TableEncoder()` by default. It sees the training rows only, and no labels.
    pca : float or int, optional
        Let every rung but the majority class see principal components of the encoded rows instead of them: as many as hold this
        share of the variance (such as 0.95), or so many (at most as many as there are). They are learnt inside the folds.
    kernel : str or Kernel, default "rbf"
        For the kernel rung.
    kernel_rows : int, default 10000
        Most rows that the neighbours rung and one kernel machine learn from. Of more, neighbours take a stratified sample, and
        there is a kernel machine for each of the cells that the rows (a sample of ten times as many, at most) are cut into.
    test_size : float, default 0.2
        Share of the rows held out for the test at the end; 0 for none.
    n_splits : int, default 5
        Folds; fewer if the smallest class has fewer examples.
    n_repeats : int or "auto", default "auto"
        Passes through the folds; "auto": 2 up to 100 training rows, else 1.
    scoring : str, default "auto"
        "accuracy", "balanced_accuracy", "roc_auc", "average_precision", "f1" or "log_loss". "auto": accuracy, or balanced
        accuracy when one class has more than 80 % of the examples.
    positive : label, optional
        The class that ROC, precision and F1 are about; the second of two by default.
    cost : str, optional
        What mistakes cost, "FN=5,FP=1" of two classes or by class "spam=5,ham=1": labels have the least expected cost.
    threshold : str, optional
        A demand such as "recall>=0.95" ("precision", "specificity"), for two classes: the label of the positive class starts
        at the probability that reaches it on rows left out.
    class_weight : dict, "balanced" or None, default None
        Weights of the classes in learning, and what it costs to miss them unless `cost` or `threshold` says so. None: balanced
        in learning if the scoring is balanced accuracy, or where one class has more than 80 % of the examples and the scoring
        is not accuracy; else all the same.
    refit : bool, default True
        Whether the winner learns from all rows after the test; the scores told are those measured before.
    yardstick : bool, default False
        Whether to measure scikit-learn's boosted trees in the same folds; they never win. `halfspace fit` does.
    novelty : bool, default False
        Whether to learn what the training rows look like (`novelty_`), so that rows unlike them can be told. `halfspace fit`
        does.
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
    evidence_ : Evidence or None
        Whether any rung is better than the majority class; None if that was no rung.
    test_result_ : TestResult or None
        Score, interval and confusion matrix on the held-out rows.
    test_outputs_ : ndarray, shape (n_test,) or (n_test, K)
        Outputs for the held-out rows, before the refit.
    yardstick_ : Yardstick or None
        What boosted trees reach.
    novelty_ : Novelty or None
        Tells rows unlike the training rows, given encoded: `ladder.novelty_.p_values(ladder.encode(X))`.
    separability_ : tuple of (label, Separability)
        Whether a plane separates a class from the rest: for the second of two classes, or for each of more.
    out_of_fold_ : ndarray, shape (n_train,) or (n_train, K)
        The winner's outputs for training rows it had not seen, averaged over the repeats; NaN where there is none. Of so many
        classes that they do not fit the memory limit, none are kept.
    calibration_ : LogOdds
        From outputs to probabilities, fitted to `out_of_fold_`.
    operating_point_ : OperatingPoint
        From probabilities to labels: the most probable class, or what the score, costs or a threshold ask for.
    train_, test_, learnt_ : ndarray
        Numbers of the training rows, of the rows held out, and of those that the winner learnt from: all rows, the training
        rows without a refit, or the sample that a costly rung takes of very many. The certificate is about the last.
    learning_curve_ : tuple of (int, float, float, float)
        Rows, score of rows not seen, its standard error, score of the rows learnt from; empty unless `curve`.
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
        "classes_": "distinct(c)",
        "test_result_": TestResult | None,
        "calibration_": LogOdds | Calibration,
        "?operating_point_": OperatingPoint | None,
        "out_of_fold_": "f8(a) | f8(a,c) | f8(0,c) | f8(0)",
        "?test_outputs_": "f8(b) | f8(b,c) | f8(0,c) | f8(0)",
    }
    task = "classify"
    plans: ClassVar[dict[str, Plan]] = RUNGS

    def __init__(
        self,
        *,
        rungs: Any = None,
        encoder: Any = None,
        pca: Any = None,
        kernel: Any = "rbf",
        kernel_rows: int = 10_000,
        test_size: float = 0.2,
        n_splits: int = 5,
        n_repeats: Any = "auto",
        scoring: str = "auto",
        positive: Any = None,
        cost: str | None = None,
        threshold: str | None = None,
        class_weight: Any = None,
        refit: bool = True,
        yardstick: bool = False,
        novelty: bool = False,
        max_time: float | None = None,
        max_memory: Any = None,
        curve: bool = False,
        n_jobs: int | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        verbose: int = 0,
        random_state: int = 0,
    ) -> None:
        super().__init__(
            rungs=rungs,
            encoder=encoder,
            pca=pca,
            kernel=kernel,
            kernel_rows=kernel_rows,
            test_size=test_size,
            n_splits=n_splits,
            n_repeats=n_repeats,
            scoring=scoring,
            refit=refit,
            yardstick=yardstick,
            novelty=novelty,
            max_time=max_time,
            max_memory=max_memory,
            curve=curve,
            n_jobs=n_jobs,
            on_progress=on_progress,
            verbose=verbose,
            random_state=random_state,
        )
        self.positive = positive
        self.cost = cost
        self.threshold = threshold
        self.class_weight = class_weight

    def _read_targets(self, X: Any, y: Any) -> Labels:
        labels = checked_labels(y)
        classes, _ = read_classes(labels, type(self).__name__)
        admit_classes(classes.size, X)
        return labels

    def _task_of(self, y: Labels, *, note: bool) -> Classes:
        task, notes = class_task(self, y)
        Demand.read(cost=self.cost or "", threshold=self.threshold or "")  # what cannot be read is refused before the climb
        if note:
            self.classes_ = task.labels
            self._notes.extend(notes)
        return task

    def _calibrate(self, winner: Climbed, training: Training, until: float | None) -> None:
        with undisturbed():
            y, outputs = training.y[training.watched], winner.outputs
            if winner.plan.name == training.task.baseline:  # the same for every row: what differs between folds says nothing
                outputs = training.task.outputs(winner.model, training.X[training.watched])
            outputs = _thinned(outputs, until)
            self.out_of_fold_ = outputs[: self.out_of_fold_.shape[0]]
            self.calibration_ = LogOdds.of(outputs, np.searchsorted(self.classes_, y))
            demand = self._demand()
            P = self.calibration_.probabilities(outputs)
            self.operating_point_ = OperatingPoint.choose(demand, P, y, self.classes_, self.positive)

    def _demand(self) -> Demand:
        """Return what the labels are to reach: by cost or threshold, else by class weights, else by the score."""
        if self.cost or self.threshold or self.class_weight is None:
            return Demand.read(self.scoring_, self.cost or "", self.threshold or "")
        if isinstance(self.class_weight, str):
            return Demand.read("balanced_accuracy")
        costs = (f"{label}={min(max(weight, 1e-9), 1e9)!r}" for label, weight in self.class_weight.items())
        return Demand.read(cost=",".join(costs))

    def _about_classes(self, training: Training, until: float | None) -> list[Note]:
        self.separability_, notes = ask_separable(training, until)
        return notes

    def _tested(self, y: Labels) -> TestResult:
        outputs, measure = self.test_outputs_, self.measure_
        P = self.calibration_.probabilities(outputs)
        self.operating_point_ = self.operating_point_.tested(P, y, self.classes_)
        given = P if measure.needs == "probabilities" else outputs
        return TestResult.measure(self.labels_of(outputs), y, self.classes_, measure, given)

    def _guarantee(self, winner: Climbed, training: Training, fold: IntArray) -> Sets:
        return Sets.of(winner.first, np.searchsorted(self.classes_, training.y), fold)

    def predict_set(self, X: Any, level: float = 0.9) -> Any:
        """Return which classes each row may have, bool, shape (n, K): at the level asked for, its true class is among them.

        Cross-validation+ (Romano, Sesia and Candès, 2020): for rows like those of the fit, the set holds the true class with a
        probability of at least 1 - 2 (1 - level) less a small term (`halfspace.ladder.conformal`), in practice about `level`.
        It is an average over rows, not a promise for each kind of row. No set is empty.
        """
        return self.set_of(self.encode(X), level)

    def set_of(self, Z: Matrix, level: float) -> Any:
        """Return what `predict_set` does for encoded rows Z, shape (n, D)."""
        outputs = self._asked_folds(Z)
        kept: Sets = self.conformal_
        return kept.members(outputs, level)

    def labels_of(self, outputs: FloatArray) -> Labels:
        """Return the labels that the winner's outputs stand for, shape (n,), by probabilities and operating point."""
        return labels_of(self._log_odds(outputs), self.classes_)

    def _log_odds(self, outputs: FloatArray) -> FloatArray:
        """Return log w_k p_k of every class, shape (n, K), of two classes the difference, shape (n,), from outputs."""
        point = getattr(self, "operating_point_", None)
        if point is None:  # of a model of an earlier version
            return outputs
        logs: FloatArray = np.log(self.calibration_.probabilities(outputs)) + np.log(point.weights / point.weights.max())
        if logs.shape[1] > 2:
            return logs
        odds: FloatArray = logs[:, 1] - logs[:, 0]
        return np.where(np.abs(odds) < TIED, 0.0, odds)

    def decision_function(self, X: Any) -> FloatArray:
        """Return log-odds, shape (n,) for two classes and (n, K) for more: the label is the sign, or the largest.

        They are the logarithms of the probabilities times the weights of the operating point; monotone in the winner's own
        outputs, which are `ladder.estimator_.decision_function(ladder.encode(X))`.
        """
        Z = self.encode(X)
        return self._log_odds(self.estimator_.decision_function(Z))

    def predict(self, X: Any) -> Labels:
        """Return the predicted labels, shape (n,)."""
        check_is_fitted(self, "estimator_")
        Z = self.encode(X)
        labels = [self.labels_of(self.estimator_.decision_function(Z[rows])) for rows in blocks(Z, self.classes_.size)]
        joined: Labels = np.concatenate(labels)
        return joined

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes, shape (n, K): monotone in the outputs."""
        check_is_fitted(self, "estimator_")
        P: FloatArray = self.calibration_.probabilities(self.estimator_.decision_function(self.encode(X)))
        return P

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse parts that are fitted to different tables, and probabilities that would not be any."""
        cls.check_parts(fitted, sizes)
        fair = fitted["calibration_"]
        if isinstance(fair, LogOdds):
            sound = fair.sound(fitted["classes_"].size)
        else:
            sound = all(0.0 < curve.slope < np.inf and 0.0 <= curve.noise < 1.0 for curve in fair)
        if not sound:
            raise ValueError("Ladder: its probabilities would not be any")


def _thinned(outputs: FloatArray, until: float | None) -> FloatArray:
    """Return outputs, shape (n,) or (n, K), with NaN for those that a calibration has no time for: half of what is left."""
    if until is None:
        return outputs
    numbers = (*outputs.shape, 2)[1]
    most = max(LEAST_CALIBRATED, int(0.5 * CALIBRATED * (until - time.perf_counter()) / numbers))
    seen = np.flatnonzero(np.isfinite(outputs if outputs.ndim == 1 else outputs.sum(axis=1)))
    if seen.size <= most:
        return outputs
    kept = seen[:: -(-seen.size // most)]
    found = np.full_like(outputs, np.nan)
    found[kept] = outputs[kept]
    return found
