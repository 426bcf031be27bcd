"""What the ladder reports: its rungs, the held-out test, and how far it has come."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from halfspace._typing import IntArray

__all__ = ["Progress", "Rung", "TestResult"]


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
        Their mean and its standard error.
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
        Why the rung was not climbed; empty if it was.
    note : str
        What to know about it, e.g. that it saw a sample only.
    """

    name: str
    title: str
    scores: tuple[float, ...] = ()
    score: float = float("nan")
    error: float = float("nan")
    fit_seconds: float = float("nan")
    predict_seconds: float = float("nan")
    predicted: int = 0
    support: int | None = None
    proof: str = ""
    params: dict[str, Any] = field(default_factory=dict)
    skipped: str = ""
    note: str = ""

    @property
    def climbed(self) -> bool:
        """Whether the rung has scores in all folds."""
        return not self.skipped


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

    score: float
    low: float
    high: float
    n: int
    scoring: str
    accuracy: float
    confusion: IntArray


class Progress(NamedTuple):
    """How far a climb has come: fold 0 of a rung is its beginning."""

    rung: str
    title: str
    fold: int
    folds: int
    seconds: float
    score: float
    message: str
