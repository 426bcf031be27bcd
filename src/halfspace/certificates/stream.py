"""Claims about a stream: how many mistakes a large-margin rule can have made, and how much ham a threshold loses.

Stream    Examples come in order, none longer than 1, and each is answered before its label is told. The rule's weights are
          w = Σ alpha_i y_i x_i with 0 <= alpha <= C, every step raises D = Σ alpha - ‖w‖²/2, and the step after a mistake
          (E = y w·x <= 0) raises it by at least `gain`. With the strength C it adds C(1 - E) - C²‖x‖²/2 >= C - C²/2, that is
          1/2 for C = 1; a rule that doubts labels takes shorter steps, and says what is left.
Theorem   D <= ‖v‖²/2 + C Σ max(0, 1 - y_i v·x_i) for any v (weak duality). So there are at most
          (‖v‖²/2 + C Σ max(0, 1 - y_i v·x_i))/gain mistakes (Shalev-Shwartz and Singer 2007, theorem 1, for C = 1).
Ham       Of n scores of ham k are above a threshold; with probability `confidence` the share of such ham above it is at most
          the upper end of the interval of Clopper and Pearson (1934).
"""

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from scipy import sparse, stats

from halfspace._typing import FloatArray, IntArray, Label, Labels, Matrix
from halfspace.certificates.arithmetic import EPS, signs
from halfspace.certificates.base import Certificate, Verdict, apart
from halfspace.errors import InputError

__all__ = ["HamLoss", "StreamMistakes"]

ROUNDING = 1e-9
"""By so much, relatively, a bound is stated above what was computed; the checker wants a tenth of that."""


@dataclass(frozen=True, eq=False)
class StreamMistakes(Certificate):
    """Mistakes on a stream, and the most that the theorem allows against fixed weights v = Σ strengths_i y_i x_i.

    Parameters
    ----------
    mistakes : int
        Mistakes made, as the run reports them.
    bound : float
        At least (‖v‖²/2 + C Σ max(0, 1 - y_i v·x_i))/gain over the whole stream.
    square : float
        ‖v‖².
    rows, strengths : ndarray, shape (m,)
        The examples that the fixed weights are made of, and how much of each.
    positive : label
        The positive class.
    C : float
        The largest strength of the rule, at most 1.
    gain : float
        How much a mistake raises the dual value at least, at most C - C²/2: it is the rule's, not proved by the data.

    Examples
    --------
    >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), np.array(["spam", "ham", "spam"])
    >>> proof = StreamMistakes.measure(2, X, y, rows=np.array([0, 1]), strengths=np.ones(2), positive="spam")
    >>> print(proof)
    at most 2 mistakes; reported by the run, not proved: 2 mistakes
    >>> bool(proof.verify(X, y))
    True
    """

    mistakes: Annotated[int, "int >= 0", "reported"]
    bound: Annotated[float, "finite >= 0"]
    square: Annotated[float, "finite >= 0"]
    rows: Annotated[IntArray, "int(m) >= 0"]
    strengths: Annotated[FloatArray, "finite(m) >= 0"]
    positive: Label
    C: Annotated[float, "finite > 0", "reported"] = 1.0
    gain: Annotated[float, "finite > 0", "reported"] = 0.5

    @classmethod
    def measure(
        cls,
        mistakes: int,
        X: Matrix,
        y: Labels,
        *,
        rows: IntArray,
        strengths: FloatArray,
        positive: Label,
        C: float = 1.0,
        gain: float = 0.5,
    ) -> Self:
        """Compute the bound from the examples X, shape (n, d), and their labels y, shape (n,)."""
        square, loss = _measured(X, signs(y, positive), rows, strengths)
        bound = (square / 2.0 + C * loss) / gain * (1.0 + ROUNDING)
        return cls(int(mistakes), bound, square, np.asarray(rows), np.asarray(strengths), positive, C, gain)

    def __str__(self) -> str:
        return apart(f"at most {int(self.bound):,} mistakes", self)

    def reports(self) -> list[str]:
        """Return the mistakes that the run counted, and its rule where it is not the usual one."""
        usual = self.C == 1.0 and self.gain == 0.5
        rule = [] if usual else [f"strengths of at most {self.C:g}", f"a gain of {self.gain:g} a mistake"]
        return [f"{self.mistakes:,} mistake{'s' if self.mistakes != 1 else ''}", *rule]

    def consistent(self) -> list[tuple[bool, str]]:
        """Check that the theorem is not contradicted, and that no example is named twice."""
        return [
            (self.mistakes <= self.bound, "there were more mistakes than the theorem allows"),
            (np.unique(self.rows).size == self.rows.size, "an example is named twice"),
            (self.C <= 1.0, "the largest strength is above 1, and the theorem is about none such"),
            (self.gain <= self.C * (1.0 - self.C / 2.0), "no mistake gains more than C - C²/2 for sure"),
        ]

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute the lengths of the examples and the bound."""
        if self.rows.size and self.rows.max() >= X.shape[0]:
            return Verdict.of((False, "it names examples that are not there"))
        square, loss = _measured(X, signs(y, self.positive), self.rows, self.strengths)
        least = (square / 2.0 + self.C * loss) / self.gain
        return Verdict.of(
            (abs(self.square - square) <= ROUNDING * square, "the fixed weights are of another length"),
            (self.bound >= least * (1.0 + ROUNDING / 10.0), f"the bound is below {least:.6g}, which the data give"),
        )


def _measured(X: Matrix, s: FloatArray, rows: IntArray, strengths: FloatArray) -> tuple[float, float]:
    """Return ‖v‖² and Σ max(0, 1 - y v·x), and refuse examples longer than 1."""
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() if hasattr(X, "multiply") else (X * X).sum(axis=1)
    if squares.max(initial=0.0) > 1.0 + 1e3 * EPS * X.shape[1] ** 0.5 + 1e-6:
        raise InputError("an example is longer than 1, and the theorem is about none such")
    v = np.asarray(X[rows].T @ (strengths * s[rows])).ravel()
    return float(v @ v), float(np.maximum(0.0, 1.0 - s * np.asarray(X @ v).ravel()).sum())


@dataclass(frozen=True, eq=False)
class HamLoss(Certificate):
    """How much ham like the past a threshold loses at most.

    Parameters
    ----------
    threshold : float
        Scores above it are called spam.
    ham, lost : int
        Ham scores, and how many of them are above the threshold.
    bound : float
        With probability `confidence` the share of such ham above the threshold is at most this.
    confidence : float
        Of the bound.
    positive : label
        The label of spam.

    Examples
    --------
    >>> scores, y = -np.ones((299, 1)), np.full(299, "ham")
    >>> proof = HamLoss.measure(scores, y, threshold=0.0, positive="spam")
    >>> print(proof)
    at most 1.00 % of ham like the past is above 0, with 95 % confidence (0 of 299 were)
    >>> bool(proof.verify(scores, y))
    True
    """

    threshold: Annotated[float, "finite", "asked"]
    ham: Annotated[int, "int in 1..1e12"]
    lost: Annotated[int, "int in 0..1e12"]
    bound: Annotated[float, "finite in 0..2"]
    confidence: Annotated[float, "finite > 0", "asked"]
    positive: Label

    @classmethod
    def measure(cls, X: FloatArray, y: Labels, *, threshold: float, positive: Label, confidence: float = 0.95) -> Self:
        """Count the ham scores X, shape (n, 1), each taken before the message was learnt, that are above the threshold."""
        scores = np.asarray(X)[np.asarray(y) != positive, 0]
        if not scores.size:
            raise InputError("HamLoss.measure expects at least one ham score, and there is none")
        lost = int(np.count_nonzero(scores > threshold))
        bound = _upper(lost, scores.size, confidence) * (1.0 + ROUNDING)
        return cls(float(threshold), scores.size, lost, bound, float(confidence), positive)

    def __str__(self) -> str:
        share = f"{100.0 * self.bound:.2f} %"
        sure = f"{100.0 * self.confidence:g} %"
        return (
            f"at most {share} of ham like the past is above {self.threshold:g}, with {sure} confidence"
            f" ({self.lost:,} of {self.ham:,} were)"
        )

    def consistent(self) -> list[tuple[bool, str]]:
        """Check the arithmetic that needs no data."""
        least = _upper(self.lost, self.ham, self.confidence)
        return [
            (self.confidence < 1.0, "a confidence is below 1"),
            (self.lost <= self.ham, "more ham is lost than there is"),
            (self.bound >= least * (1.0 + ROUNDING / 10.0), f"the bound is below {least:.6g}, which the counts give"),
        ]

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Count again."""
        if X.shape[1] != 1:
            return Verdict.of((False, "it is about one score for each message"))
        scores = np.asarray(X.toarray() if sparse.issparse(X) else X)[np.asarray(y) != self.positive, 0]
        return Verdict.of(
            (scores.size == self.ham, f"there are {scores.size} ham"),
            (np.count_nonzero(scores > self.threshold) == self.lost, "another number of ham is above the threshold"),
        )


def _upper(lost: int, ham: int, confidence: float) -> float:
    """Return the upper end of Clopper and Pearson's one-sided interval."""
    return 1.0 if lost >= ham else float(stats.beta.ppf(confidence, lost + 1, ham - lost))
