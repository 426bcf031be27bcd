"""How good predictions are: measures as small values, which say what they need and how they are written for people.

Means     Accuracy, balanced accuracy, log loss and the errors of numbers are means over the rows: `losses` gives each row's
          part, smaller is better. Balanced accuracy weighs a row of class c by n/(K n_c), R² divides by the variance of y.
Ranks     Area under the ROC curve and average precision ask only in which order outputs put the rows; F1 is no mean either.
          They are about one class against the rest: the second of two classes or the one that is named, and for more than two
          classes the mean over all (macro). A class without rows, or without others to tell it from, is left out; if none is
          left, the score is NaN.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from halfspace._text import number
from halfspace._typing import FloatArray, Label, Labels
from halfspace.errors import InputError
from halfspace.rows.labels import positive_number

__all__ = ["MEASURES", "Measure", "measure_of"]

SMALLEST = float(np.finfo(np.float64).eps)
"""Smallest probability whose logarithm is taken, as in scikit-learn."""


@dataclass(frozen=True)
class Measure:
    """A measure of predictions.

    Parameters
    ----------
    name, title : str
        For programs and for people.
    task : {"classify", "regress"}
        What it measures.
    needs : {"labels", "outputs", "probabilities", "numbers"}
        What `given` is in `score` and `losses`: predicted labels, shape (n,); outputs, shape (n,) for two classes and (n, K)
        for more; probabilities, shape (n, K); or predicted numbers, shape (n,).
    greater : bool
        Whether more is better.
    best : float
        The score of perfect predictions.
    percent : bool
        Whether it is written as a percentage.
    positive : label, optional
        The class that ROC, precision and F1 are about, if there are two; the second by default.

    Examples
    --------
    >>> import numpy as np
    >>> classes, y = np.array(["no", "yes"]), np.array(["no", "no", "no", "yes"])
    >>> balanced = measure_of("balanced_accuracy")
    >>> balanced.score(y, np.full(4, "no"), classes), balanced.losses(y, np.full(4, "no"), classes).tolist()
    (0.5, [0.0, 0.0, 0.0, 2.0])
    >>> measure_of("accuracy").written(0.75), measure_of("rmse").written(1234.5)
    ('75.0 %', '1,234')
    """

    name: str
    title: str
    task: Literal["classify", "regress"]
    needs: Literal["labels", "outputs", "probabilities", "numbers"]
    greater: bool
    best: float
    percent: bool = False
    positive: Label | None = None

    @property
    def ranks(self) -> bool:
        """Whether it is about one class against the rest, and no mean over rows."""
        return self.name in RANKED

    def score(self, y: Labels, given: Labels, classes: Labels | None = None) -> float:
        """Return the score of what is given for rows with labels or numbers y (n,); of numbers there are no classes."""
        if self.name in RANKED:
            return self._one_class_against_rest(y, given, _known(classes))
        return self.of_mean(float(np.mean(self._parts(y, given, classes))))

    def of_mean(self, loss: float) -> float:
        """Return the score that a mean of losses makes."""
        if self.name == "rmse":
            return float(np.sqrt(loss))
        return 1.0 - loss if self.greater else loss

    def losses(self, y: Labels, given: Labels, classes: Labels | None = None) -> FloatArray | None:
        """Return each row's loss, shape (n,), whose mean makes the score; None if the measure is no mean over rows."""
        return None if self.name in RANKED else self._parts(y, given, classes)

    def written(self, value: float) -> str:
        """Return a score as people read it."""
        if not np.isfinite(value):
            return "unknown"
        if self.percent:
            return f"{100 * value:.1f} %"
        return number(value) if self.needs == "numbers" and self.name != "r2" else f"{value:.3f}".replace("-", "−")

    def _parts(self, y: Labels, given: Labels, classes: Labels | None) -> FloatArray:
        """Return each row's loss."""
        if self.task == "regress":
            errors = np.asarray(y, dtype=np.float64) - np.asarray(given, dtype=np.float64)
            if self.name == "mae":
                return abs(errors)
            spread = float(np.var(y)) if self.name == "r2" else 1.0
            squares: FloatArray = errors**2 / (spread or 1.0)
            return squares
        target = np.searchsorted(_known(classes), y)
        if self.name == "log_loss":
            own = np.asarray(given, dtype=np.float64)[np.arange(target.size), target]
            logs: FloatArray = -np.log(np.clip(own, SMALLEST, 1.0 - SMALLEST))
            return logs
        wrong: FloatArray = (np.asarray(given) != np.asarray(y)).astype(np.float64)
        if self.name == "accuracy":
            return wrong
        counts = np.bincount(target)
        weighed: FloatArray = wrong * (target.size / (np.count_nonzero(counts) * counts[target]))
        return weighed

    def _one_class_against_rest(self, y: Labels, given: Labels, classes: Labels) -> float:
        """Return the score of the positive class, or of more than two classes the mean over all."""
        y, given, score = np.asarray(y), np.asarray(given), RANKED[self.name]
        if classes.size == 2:
            asked = [positive_number(classes, self.positive)]
            given = given if self.needs == "labels" else np.stack([-given, given], axis=1) if given.ndim == 1 else given
        else:
            asked = list(range(classes.size))
        found = []
        for k in asked:
            own = y == classes[k]
            if 0 < np.count_nonzero(own) < own.size:
                found.append(score(own, given == classes[k] if self.needs == "labels" else given[:, k]))
        return float(np.mean(found)) if found else float("nan")


def _f1(own: Labels, predicted: Labels) -> float:
    """Return F1, and 0 where the class was never predicted."""
    return 2.0 * float(np.count_nonzero(own & predicted)) / float(np.count_nonzero(own) + np.count_nonzero(predicted))


def _ranked(own: Labels, outputs: Labels) -> tuple[FloatArray, FloatArray]:
    """Return for every threshold, the highest first, how many rows of the class and how many in all are above it."""
    order = np.argsort(-outputs, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(outputs[order]) != 0.0, True))
    hits, above = np.cumsum(own[order], dtype=np.float64)[ends], np.arange(1.0, outputs.size + 1.0, dtype=np.float64)[ends]
    return hits, above


def _roc_auc(own: Labels, outputs: Labels) -> float:
    """Return the area under the ROC curve, as scikit-learn's `roc_auc_score` does; its checks of every call take longer."""
    hits, above = _ranked(own, outputs)
    false = above - hits
    area = np.sum(np.diff(false, prepend=0.0) * (hits + np.append(0.0, hits[:-1]))) / 2.0
    return float(area / (hits[-1] * false[-1]))


def _average_precision(own: Labels, outputs: Labels) -> float:
    """Return the mean precision over the rows of the class, as scikit-learn's `average_precision_score` does."""
    hits, above = _ranked(own, outputs)
    return float(np.sum(np.diff(hits, prepend=0.0) * hits / above) / hits[-1])


RANKED: dict[str, Callable[[Labels, Labels], float]] = {
    "roc_auc": _roc_auc,
    "average_precision": _average_precision,
    "f1": _f1,
}
"""Measures that are no means over the rows."""

MEASURES = {
    measure.name: measure
    for measure in (
        Measure("accuracy", "accuracy", "classify", "labels", greater=True, best=1.0, percent=True),
        Measure("balanced_accuracy", "balanced accuracy", "classify", "labels", greater=True, best=1.0, percent=True),
        Measure("roc_auc", "area under the ROC curve", "classify", "outputs", greater=True, best=1.0),
        Measure("average_precision", "average precision", "classify", "outputs", greater=True, best=1.0),
        Measure("f1", "F1", "classify", "labels", greater=True, best=1.0),
        Measure("log_loss", "log loss", "classify", "probabilities", greater=False, best=0.0),
        Measure("rmse", "RMSE", "regress", "numbers", greater=False, best=0.0),
        Measure("mae", "mean absolute error", "regress", "numbers", greater=False, best=0.0),
        Measure("r2", "R²", "regress", "numbers", greater=True, best=1.0),
    )
}
"""All measures by name."""


def measure_of(name: str, task: str | None = None, positive: Label | None = None) -> Measure:
    """Return a measure by its name, for a task if one is given, about a named class if one is.

    Examples
    --------
    >>> measure_of("f1", positive="yes").positive
    'yes'
    """
    known = [m.name for m in MEASURES.values() if task is None or m.task == task]
    if name not in known:
        msg = f"The score must be one of {', '.join(known)}. Got {name!r} instead."
        raise InputError(msg)
    return replace(MEASURES[name], positive=positive)


def _known(classes: Labels | None) -> Labels:
    """Return the classes, which every measure of labels needs."""
    if classes is None:
        raise InputError("A measure of a classifier needs the classes: pass classes, sorted, shape (K,).")
    return np.asarray(classes)
