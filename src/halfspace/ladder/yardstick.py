"""Boosted trees in the same folds, as a yardstick under the ladder: they have no proof here and never win."""

import time
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from halfspace.ladder.climbing import Interruptible, Judged, Training
from halfspace.ladder.measures import Measure
from halfspace.ladder.tasks import Classes
from halfspace.ladder.values import Rung
from halfspace.rows.threads import libraries

__all__ = ["Yardstick", "measure_yardstick"]

TREES = 100
"""Trees for each output: scikit-learn's default."""
TREE, CELL = 2e-3, 3e-8
"""Seconds of a tree, and of each number it reads, where the machine is slow."""
SMALL = 1_000_000
"""Numbers of a table below which OpenMP's threads cost more than they bring."""
PATIENCE = 60.0
"""Seconds that a yardstick may take where there is no time limit."""


@dataclass(frozen=True)
class Yardstick:
    """What boosted trees reach in the folds of the ladder.

    Parameters
    ----------
    title : str
        What they are.
    score, error : float
        Mean over the folds and its standard error.
    train_score : float
        Mean over rows that they had learnt from.
    seconds : float
        Of all fits and predictions together; no part of the ladder's time.
    """

    title: str
    score: Annotated[float, "number"]
    error: Annotated[float, "number"]
    train_score: Annotated[float, "number"]
    seconds: Annotated[float, "number"]

    def sentence(self, winner: Rung, measure: Measure) -> str:
        """Say how the winner compares."""
        reached = f"{measure.written(self.score)} ± {measure.written(self.error)}"
        ahead = (self.score - winner.score) * (1.0 if measure.greater else -1.0)
        found = f"Yardstick: {self.title} reach {measure.title} {reached} in the same folds"
        found += f", the winner {measure.written(winner.score)}"
        if ahead > max(self.error, winner.error):
            return f"{found}. If that matters more than a proof, use them."
        if ahead < -max(self.error, winner.error):
            return f"{found}, which is better."
        return f"{found}, {'no worse by more than a standard error' if ahead > 0 else 'no worse'}."


def measure_yardstick(training: Training, until: float | None) -> Yardstick | None:
    """Score scikit-learn's HistGradientBoosting in the folds of a ladder; None if it would take too long."""
    task, X = training.task, training.X
    trees = len(training.folds) * TREES * (task.shape[0] if task.shape else 1)
    needed = trees * (TREE + CELL * min(X.shape[0], 100_000) * X.shape[1])
    began = time.perf_counter()
    if not isinstance(X, np.ndarray) or needed > (PATIENCE if until is None else 0.5 * (until - began)):
        return None
    scores, seen = list[float](), list[float]()
    few = X.shape[0] * X.shape[1] < SMALL
    with Interruptible(), libraries().limit(limits=1 if few else None, user_api="openmp"):
        for train, test in training.folds:
            model = _fitted(training, train)
            if task.measure.needs == "probabilities":
                held = Judged(test, test, test, model.predict_proba(X[test]))
                scores.append(training.score(held)[0])
                seen.append(training.score(Judged(train, train, train, model.predict_proba(X[train])))[0])
            else:
                scores.append(training.score(_asked(training, model, test))[0])
                seen.append(training.score(_asked(training, model, train))[0])
            if until is not None and time.perf_counter() > until:
                break
    if len(seen) < len(training.folds):
        return None
    error = float(np.std(scores, ddof=1) / np.sqrt(len(scores) / training.passes))
    seconds = time.perf_counter() - began
    return Yardstick("boosted trees", float(np.mean(scores)), error, float(np.mean(seen)), seconds)


def _fitted(training: Training, rows: Any) -> Any:
    """Fit boosted trees to some rows."""
    weight = None if training.weight is None else training.weight[rows]
    if isinstance(training.task, Classes):
        model = HistGradientBoostingClassifier(class_weight=training.task.weight, random_state=training.setting.seed)
    else:
        model = HistGradientBoostingRegressor(random_state=training.setting.seed)
    return model.fit(training.X[rows], training.y[rows], sample_weight=weight)


def _asked(training: Training, model: Any, rows: Any) -> Judged:
    """Ask trees about rows: answers, and outputs as the ladder's rungs give them."""
    X = training.X[rows]
    if not isinstance(training.task, Classes):
        numbers = model.predict(X)
        return Judged(rows, rows, numbers, numbers)
    outputs = model.decision_function(X) if training.task.measure.needs == "outputs" else np.empty(0)
    return Judged(rows, rows, model.predict(X), outputs)
