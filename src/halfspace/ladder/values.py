"""What the ladder reports: its rungs, the held-out test, its progress, and the sentences that sum them up.

Accuracy comes with the exact interval of Clopper and Pearson (1934), which covers the truth in at least 95 % of cases. The
interval of balanced accuracy is the normal one from the variances of the classes' shares, with two right and two wrong answers
added to each class (Agresti and Coull, 1998) so that no share is without variance. Errors of numbers have Student's interval of
the mean of their losses; other measures have the middle 95 % of a thousand bootstrap samples of the held-out rows.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from scipy import stats

from halfspace._typing import FloatArray, IntArray, Labels
from halfspace.ladder.evidence import Evidence
from halfspace.ladder.measures import MEASURES, Measure
from halfspace.ladder.tasks import Task
from halfspace.solvers.outcome import Outcome, Reason

__all__ = ["NumberTest", "Progress", "Rung", "TestResult", "summarise_outcome", "summarise_result"]

LEVEL = 0.95
DRAWS = 1_000
"""Bootstrap samples of the held-out rows."""
MOST_DRAWN = 20_000
"""Most held-out rows of which bootstrap samples are drawn; of more, the interval is that of a part, narrowed by the root."""


@dataclass(frozen=True)
class Rung:
    """What is known of one rung.

    Parameters
    ----------
    name, title : str
        For programs and for people.
    scores : tuple of float
        One per fold.
    score, error : float
        Their mean and its standard error; NaN if the rung was skipped, like the times.
    fit_seconds, predict_seconds : float
        Medians over the folds, tuning included: the first fold may have to compile.
    predicted : int
        Rows predicted in a fold.
    support : int or None
        Examples the model holds, when fitted to all training rows.
    proof : str
        What its certificate claims, in a few words.
    params : dict
        What was chosen by cross-validation.
    skipped : str
        Why the rung was skipped; empty if it was climbed.
    note : str
        What to know about it, e.g. that it was fitted to a sample.
    train_score : float
        Mean score on rows that the model of a fold had learnt from.
    measures : dict
        Mean and standard error by other measures, by their names.
    """

    name: str
    title: str
    scores: Annotated[tuple[float, ...], ["number"]] = ()
    score: Annotated[float, "number"] = float("nan")
    error: Annotated[float, "number"] = float("nan")
    fit_seconds: Annotated[float, "number"] = float("nan")
    predict_seconds: Annotated[float, "number"] = float("nan")
    predicted: Annotated[int, "number"] = 0
    support: Annotated[int | None, "none | int"] = None
    proof: str = ""
    params: Annotated[dict[str, Any], "plain"] = field(default_factory=dict)
    skipped: str = ""
    note: str = ""
    train_score: Annotated[float, "number"] = float("nan")
    measures: Annotated[dict[str, Any], "plain"] = field(default_factory=dict)

    def memorises(self, measure: Measure) -> bool:
        """Whether rows that it learnt from have at most a fifth of the loss of others, by more than three standard errors."""
        unseen, seen = abs(measure.best - self.score), abs(measure.best - self.train_score)
        return bool(seen <= 0.2 * unseen and unseen - seen > 3.0 * self.error)

    @property
    def climbed(self) -> bool:
        """Whether the rung has scores in all folds."""
        return not self.skipped

    @property
    def chosen(self) -> str:
        """The parameters that cross-validation chose, in words."""
        values = {name: f"{value:.3g}" if isinstance(value, float) else str(value) for name, value in self.params.items()}
        return ", ".join(f"{name}={value}" for name, value in values.items())


@dataclass(frozen=True, eq=False)
class TestResult:
    """The one look at the held-out rows.

    Parameters
    ----------
    score, low, high : float
        The score and its 95 % interval.
    n : int
        Held-out rows.
    scoring : str
        "accuracy" or "balanced_accuracy".
    accuracy : float
        Share of right predictions.
    confusion : ndarray, shape (K, K)
        Counts; rows are the true classes, columns the predicted ones.
    measures : dict
        Other measures, by their names.
    """

    __test__ = False  # not a test of pytest's

    score: Annotated[float, "number"]
    low: Annotated[float, "number"]
    high: Annotated[float, "number"]
    n: int
    scoring: str
    accuracy: Annotated[float, "number"]
    confusion: Annotated[IntArray, "i8(c,c)"]
    measures: Annotated[dict[str, Any], "plain"] = field(default_factory=dict)

    @classmethod
    def measure(cls, predicted: Labels, y: Labels, classes: Labels, measure: Measure, given: Any = None) -> Self:
        """Compare predictions with the truth; `given` are outputs or probabilities, for measures of these."""
        K = classes.size
        pairs = np.searchsorted(classes, y) * K + np.searchsorted(classes, predicted)
        confusion = np.bincount(pairs, minlength=K * K).reshape(K, K)
        right, n = int(np.trace(confusion)), int(y.size)
        accuracy = right / n
        if measure.name == "accuracy":
            exact = stats.binomtest(right, n).proportion_ci(LEVEL, method="exact")
            found = (accuracy, float(exact.low), float(exact.high))
        elif measure.name == "balanced_accuracy":
            found = _balanced(confusion)
        else:
            found = _bootstrapped(measure, y, predicted if measure.needs == "labels" else given, classes)
        others = {name: MEASURES[name].score(y, predicted, classes) for name in ("accuracy", "balanced_accuracy")}
        return cls(*found, n, measure.name, accuracy, confusion, others)


def _balanced(confusion: IntArray) -> tuple[float, float, float]:
    """Return balanced accuracy with its interval."""
    sizes = confusion.sum(axis=1)
    there = sizes > 0
    shares = np.diag(confusion)[there] / sizes[there]
    steady = (np.diag(confusion)[there] + 2.0) / (sizes[there] + 4.0)
    score = float(shares.mean())
    error = float(np.sqrt(np.sum(steady * (1.0 - steady) / (sizes[there] + 4.0)))) / shares.size
    spread, centre = float(stats.norm.ppf(0.5 + LEVEL / 2.0)) * error, float(steady.mean())
    return score, max(min(score, centre - spread), 0.0), min(max(score, centre + spread), 1.0)


def _bootstrapped(measure: Measure, y: Labels, given: Any, classes: Labels) -> tuple[float, float, float]:
    """Return a score with the middle 95 % of its bootstrap samples."""
    rng, n = np.random.default_rng(0), min(y.size, MOST_DRAWN)
    score = measure.score(y, given, classes)
    draws = (rng.integers(y.size, size=n) for _ in range(DRAWS))
    drawn = np.array([measure.score(y[rows], given[rows], classes) for rows in draws])
    if not np.isfinite(drawn).any():
        return score, float("nan"), float("nan")
    low, high = np.nanquantile(drawn, [0.5 - LEVEL / 2.0, 0.5 + LEVEL / 2.0])
    narrower = np.sqrt(n / y.size)
    return score, float(score + narrower * min(low - score, 0.0)), float(score + narrower * max(high - score, 0.0))


@dataclass(frozen=True)
class NumberTest:
    """The one look at the held-out rows of a regression.

    Parameters
    ----------
    score, low, high : float
        The score and its 95 % interval.
    n : int
        Held-out rows.
    scoring : str
        Name of the measure.
    measures : dict
        All measures of numbers, by their names.
    """

    score: Annotated[float, "number"]
    low: Annotated[float, "number"]
    high: Annotated[float, "number"]
    n: int
    scoring: str
    measures: Annotated[dict[str, Any], "plain"] = field(default_factory=dict)

    @classmethod
    def measure(cls, predicted: FloatArray, y: FloatArray, measure: Measure) -> Self:
        """Compare predictions with the truth."""
        losses = np.asarray(measure.losses(y, predicted))
        mean, n = float(losses.mean()), int(y.size)
        spread = float(stats.t.ppf(0.5 + LEVEL / 2.0, n - 1) * losses.std(ddof=1) / np.sqrt(n)) if n > 1 else float("inf")
        low, high = sorted(measure.of_mean(end) for end in (max(mean - spread, 0.0), mean + spread))
        named = {other.name: other.score(y, predicted) for other in MEASURES.values() if other.task == "regress"}
        return cls(measure.of_mean(mean), low, high, n, measure.name, named)


class Progress(NamedTuple):
    """Progress of a climb: fold 0 of a rung is its beginning."""

    rung: str
    title: str
    fold: int
    folds: int
    seconds: float
    score: float
    message: str


def summarise_result(
    winner: Rung, best: Rung, test: TestResult | NumberTest | None, task: Task, evidence: Evidence | None = None
) -> str:
    """Say which rung won, why, and how it did on the held-out rows."""
    measure = task.measure
    said = f"{measure.title} {measure.written(winner.score)} ± {measure.written(winner.error)} in cross-validation"
    chance = evidence is not None and not evidence.claimed
    named = f"the {winner.title}"
    found = f"{evidence} ".replace("a constant prediction", named) if chance else ""
    wins = "win" if winner.name == "neighbours" else "wins"
    found += f"T{named[1:]} {'is kept' if chance else wins}: {said}"
    if measure.task == "regress" and measure.name != "r2" and "r2" in winner.measures:
        found += f" (R² {MEASURES['r2'].written(winner.measures['r2'][0])})"
    if winner is not best and not chance:
        found += f", within one standard error of the best ({best.title}, {measure.written(best.score)}), and it is simpler"
    found += "."
    if winner.memorises(measure):
        seen, unseen = measure.written(winner.train_score), measure.written(winner.score)
        found += f" It memorises: {seen} on rows that it saw, {unseen} on rows that it did not."
    if test is None:
        return found + " No rows were held out to test it."
    interval = f"95 % interval {measure.written(test.low)} to {measure.written(test.high)}"
    return f"{found} On {test.n:,} held-out rows, used once: {measure.written(test.score)} ({interval})."


def summarise_outcome(reason: Reason, rungs: Iterable[Rung]) -> Outcome:
    """Say why the climb stopped."""
    skipped = ", ".join(rung.title for rung in rungs if rung.skipped)
    if reason == "interrupted":
        remedy = "The winner is the best of the rungs climbed; fit again to try them all."
        return Outcome(reason, f"Interrupted; skipped: {skipped}.", remedy)
    if reason == "time budget spent":
        return Outcome(reason, f"The time limit was reached; skipped: {skipped}.", "Raise max_time, or ask for fewer rungs.")
    return Outcome("converged", "Every rung that could still win was climbed.")
