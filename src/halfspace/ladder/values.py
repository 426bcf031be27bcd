"""What the ladder reports: its rungs, the held-out test, its progress, and the sentences that sum them up.

Accuracy comes with the exact interval of Clopper and Pearson (1934), which covers the truth in at least 95 % of cases. The
interval of balanced accuracy is the normal one from the variances of the classes' shares, with two right and two wrong answers
added to each class (Agresti and Coull, 1998) so that no share is without variance.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from scipy import stats

from halfspace._typing import IntArray, Label, Labels
from halfspace.certificates import Separability
from halfspace.solvers.outcome import Outcome, Reason

__all__ = ["Progress", "Rung", "TestResult", "renumbered", "summarise_outcome", "summarise_result"]

LEVEL = 0.95


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
    """

    __test__ = False  # not a test of pytest's

    score: Annotated[float, "number"]
    low: Annotated[float, "number"]
    high: Annotated[float, "number"]
    n: int
    scoring: str
    accuracy: Annotated[float, "number"]
    confusion: Annotated[IntArray, "i8(c,c)"]

    @classmethod
    def measure(cls, predicted: Labels, y: Labels, classes: Labels, scoring: str) -> Self:
        """Compare predictions with the truth."""
        K = classes.size
        pairs = np.searchsorted(classes, y) * K + np.searchsorted(classes, predicted)
        confusion = np.bincount(pairs, minlength=K * K).reshape(K, K)
        right, n = int(np.trace(confusion)), int(y.size)
        if scoring == "accuracy":
            exact = stats.binomtest(right, n).proportion_ci(LEVEL, method="exact")
            return cls(right / n, float(exact.low), float(exact.high), n, scoring, right / n, confusion)
        sizes = confusion.sum(axis=1)
        there = sizes > 0
        shares = np.diag(confusion)[there] / sizes[there]
        steady = (np.diag(confusion)[there] + 2.0) / (sizes[there] + 4.0)
        score = float(shares.mean())
        error = float(np.sqrt(np.sum(steady * (1.0 - steady) / (sizes[there] + 4.0)))) / shares.size
        spread, centre = float(stats.norm.ppf(0.5 + LEVEL / 2.0)) * error, float(steady.mean())
        low, high = max(min(score, centre - spread), 0.0), min(max(score, centre + spread), 1.0)
        return cls(score, low, high, n, scoring, right / n, confusion)


class Progress(NamedTuple):
    """Progress of a climb: fold 0 of a rung is its beginning."""

    rung: str
    title: str
    fold: int
    folds: int
    seconds: float
    score: float
    message: str


def renumbered(proofs: Iterable[tuple[Label, Separability]], rows: IntArray) -> list[tuple[Label, Separability]]:
    """Return separability proofs about some rows with the row numbers of the file, shape (n,), for people to read."""
    return [
        (label, replace(proof, multipliers={int(rows[row]): share for row, share in proof.multipliers.items()}))
        for label, proof in proofs
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def summarise_result(winner: Rung, best: Rung, test: TestResult | None, scoring: str) -> str:
    """Say which rung won, why, and how it did on the held-out rows."""
    measure = "accuracy" if scoring == "accuracy" else "balanced accuracy"
    found = f"The {winner.title} wins: {measure} {_percent(winner.score)} ± {_percent(winner.error)} in cross-validation"
    if winner is not best:
        found += f", within one standard error of the best ({best.title}, {_percent(best.score)}), and it is simpler"
    if winner.name == "majority":
        found += "; nothing that was tried beats always predicting the largest class"
    if test is None:
        return found + ". No rows were held out to test it."
    interval = f"95 % interval {_percent(test.low)} to {_percent(test.high)}"
    return f"{found}. On {test.n:,} held-out rows, used once: {_percent(test.score)} ({interval})."


def summarise_outcome(reason: Reason, rungs: Iterable[Rung]) -> Outcome:
    """Say why the climb stopped."""
    skipped = ", ".join(rung.title for rung in rungs if rung.skipped)
    if reason == "interrupted":
        remedy = "The winner is the best of the rungs climbed; fit again to try them all."
        return Outcome(reason, f"Interrupted; skipped: {skipped}.", remedy)
    if reason == "time budget spent":
        return Outcome(reason, f"The time limit was reached; skipped: {skipped}.", "Raise max_time, or ask for fewer rungs.")
    return Outcome("converged", "Every rung that could still win was climbed.")
