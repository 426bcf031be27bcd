"""The ladder of numbers: mean, neighbours, least squares, ridge, Bayesian, kernel ridge; the simplest that is as good wins."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from halfspace import LogTarget
from halfspace._matrices import admitted
from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.errors import InputError
from halfspace.ladder.base import BaseLadder
from halfspace.ladder.climbing import Climbed, Training
from halfspace.ladder.components import behind
from halfspace.ladder.conformal import Intervals, predictions_of
from halfspace.ladder.measures import measure_of
from halfspace.ladder.number_rungs import NUMBER_RUNGS
from halfspace.ladder.plans import Plan
from halfspace.ladder.preparing import checked_labels
from halfspace.ladder.tasks import Numbers
from halfspace.ladder.values import NumberTest, Progress

__all__ = ["RegressionLadder"]


class RegressionLadder(RegressorMixin, BaseLadder):
    """From a table to the simplest model that predicts a number well enough, with its proof.

    The rungs are the mean, nearest neighbours, least squares, ridge regression with λ by leave-one-out, Bayesian linear
    regression, kernel ridge with width and λ by leave-one-out, and the relevance kernel machine. All are scored in the same
    repeated folds (the last one by its own predictions for rows that it did not learn from), and the winner is the
    simplest within one standard error of the best, if there is evidence that anything is better than the mean. Where all
    targets are positive and skewed, rungs also try the logarithm of the target; predictions are in the target's own units.
    The held-out rows are used once, at the end; then the winner learns from all rows. `Ladder` does the same for classes.

    Parameters
    ----------
    rungs : sequence of str, optional
        Some of "mean", "neighbours", "least_squares", "ridge", "bayesian", "kernel", "relevance"; all by default.
    encoder : transformer, optional
        Turns rows into numbers; `TableEncoder()` by default. It sees the training rows only, and no targets.
    kernel : str or Kernel, default "rbf"
        For the kernel rung.
    kernel_rows : int, default 10000
        Most rows that nearest neighbours learn from; of more they take a sample. Kernel ridge makes cells of many rows.
    test_size : float, default 0.2
        Share of the rows held out for the test at the end; 0 for none.
    n_splits : int, default 5
        Folds.
    n_repeats : int or "auto", default "auto"
        Passes through the folds; "auto": 2 up to 100 training rows, else 1.
    scoring : {"auto", "rmse", "mae", "r2"}, default "auto"
        Root of the mean squared error ("auto"), mean absolute error, or R².
    refit : bool, default True
        Whether the winner learns from all rows after the test; the scores told are those measured before.
    yardstick : bool, default False
        Whether to measure scikit-learn's boosted trees in the same folds; they never win. `halfspace fit` does.
    novelty : bool, default False
        Whether to learn what the training rows look like (`novelty_`), so that rows unlike them can be told. `halfspace fit`
        does.
    max_time, max_memory, curve, n_jobs, on_progress, verbose, random_state
        As for `Ladder`.

    Attributes
    ----------
    rungs_, winner_, best_, estimator_, encoder_, certificate_, evidence_, yardstick_, train_, test_, learnt_, learning_curve_
        As for `Ladder`; so are `outcome_`, `verdict_` and `notes_`.
    test_result_ : NumberTest or None
        Score and interval on the held-out rows, by all measures.
    test_outputs_ : ndarray, shape (n_test,)
        Predictions for the held-out rows, before the refit.
    out_of_fold_ : ndarray, shape (n_train,)
        The winner's predictions for training rows it had not seen, averaged over the repeats.

    Examples
    --------
    >>> import halfspace as hs
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> ladder = hs.RegressionLadder(rungs=["mean", "least_squares"]).fit(X, y)
    >>> ladder.winner_, bool(ladder.verify(X, y)), ladder.predict(X[:2]).shape
    ('least_squares', True, (2,))
    """

    learnt: ClassVar[dict[str, Any]] = {
        "test_result_": NumberTest | None,
        "out_of_fold_": "f8(a)",
        "?test_outputs_": "f8(b) | f8(0)",
    }
    task = "regress"
    plans: ClassVar[dict[str, Plan]] = NUMBER_RUNGS

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

    def _read_targets(self, X: Any, y: Any) -> FloatArray:  # noqa: ARG002  (targets say all)
        owner = type(self).__name__
        y = admitted(checked_labels(y, owner), owner, "y")
        if y.dtype.kind not in "biuf":
            msg = f"{owner} predicts numbers, but y holds {y.dtype} (Unknown label type). For classes use Ladder."
            raise InputError(msg)
        y = y.astype(np.float64)
        if not np.isfinite(y).all():
            msg = f"{owner}: Input y contains NaN or infinity. Leave such rows out."
            raise InputError(msg)
        if y.size < 4:
            msg = f"{owner} needs at least 4 rows to learn and to test, but there are {y.size} (n_samples = {y.size})."
            raise InputError(msg)
        return np.asarray(y)

    def _task_of(self, y: Labels, *, note: bool) -> Numbers:  # noqa: ARG002  (nothing is special about numbers)
        return Numbers(measure_of("rmse" if self.scoring == "auto" else self.scoring, "regress"))

    def _tested(self, y: Labels) -> NumberTest:
        return NumberTest.measure(self.test_outputs_, y, self.measure_)

    def _guarantee(self, winner: Climbed, training: Training, fold: IntArray) -> Intervals:  # noqa: ARG002  (models say all)
        logarithm = all(isinstance(behind(model), LogTarget) for model in self.fold_models_)
        predictions = predictions_of(self.fold_models_, training.X, fold)
        return Intervals.of(training.y, predictions, fold, training.X, logarithm=logarithm)

    def predict_interval(self, X: Any, level: float = 0.9) -> FloatArray:
        """Return for each row the ends of an interval that holds its target at the level asked for, shape (n, 2).

        Cross-validation+ (Barber, Candès, Ramdas and Tibshirani, 2021): for rows like those of the fit, it holds the target
        with a probability of at least 1 - 2 (1 - level) less a small term (`halfspace.ladder.conformal`), in practice `level`.
        It is an average over rows, not a promise for each kind of row; widths follow how hard such rows were.
        """
        return self.interval_of(self.encode(X), level)

    def interval_of(self, Z: Matrix, level: float) -> FloatArray:
        """Return what `predict_interval` does for encoded rows Z, shape (n, D); the prediction itself is always inside."""
        predictions, own = self._asked_folds(Z), self.estimator_.predict(Z)
        kept: Intervals = self.conformal_
        low, high = kept.between(predictions, Z, level)
        return np.stack([np.minimum(low, own), np.maximum(high, own)], axis=1)

    def predict(self, X: Any) -> FloatArray:
        """Return the predicted numbers, shape (n,)."""
        Z = self.encode(X)
        predicted: FloatArray = self.estimator_.predict(Z)
        return predicted

    @classmethod
    def check_learnt(cls, fitted: dict[str, Any], sizes: dict[str, int]) -> None:
        """Refuse parts that are fitted to different tables."""
        cls.check_parts(fitted, sizes)
