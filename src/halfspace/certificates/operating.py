"""Operating points: which label follows from probabilities.

Rule       The label is the class k with the largest w_k p_k: the weight w_k is what it costs to miss the class. Weights of 1
           give the most probable class; 1/π_k, with the shares π_k of the classes, what balanced accuracy asks for. Of two
           classes the positive one is predicted where its probability is above  w_neg/(w_neg + w_pos), the threshold.
Cost       With the cost of a false negative and of a false positive, this label has the least expected cost (Elkan, 2001).
Threshold  "recall>=0.95": of all thresholds that reach it for the out-of-fold rows, the one with the highest precision; for
           "precision>=" and "specificity>=" the one with the highest recall. "f1": the one with the largest F1.
Test       What was asked for is measured once on held-out rows, with the exact interval of Clopper and Pearson (1934).
"""

import re
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple, Self

import numpy as np
from scipy import stats

from halfspace._text import listed, number, shown
from halfspace._typing import FloatArray, IntArray, Label, Labels
from halfspace.errors import InputError
from halfspace.rows.labels import positive_number

__all__ = ["Demand", "OperatingPoint", "Share"]

LEVEL = 0.95
SHARES = ("recall", "precision", "specificity")
BALANCED, ACCURATE, F1 = "balanced_accuracy", "accuracy", "f1"


class Demand(NamedTuple):
    """What is asked of the labels: one of accuracy, balanced accuracy, F1, costs of mistakes, or a share to be reached.

    Examples
    --------
    >>> Demand.read(cost="FN=5,FP=1").costs, Demand.read(threshold="recall >= 0.95").text
    ((('FN', 5.0), ('FP', 1.0)), 'recall>=0.95')
    """

    text: str
    costs: tuple[tuple[str, float], ...] = ()
    share: str = ""
    least: float = 0.0

    @classmethod
    def read(cls, scoring: str = ACCURATE, cost: str = "", threshold: str = "") -> Self:
        """Read what was asked for: costs "FN=5,FP=1" or "a=5,b=1", or a threshold "recall>=0.95"; else the score decides."""
        if cost and threshold:
            raise InputError("Give costs or a threshold, not both: each of them decides which label is predicted.")
        if cost:
            costs = tuple(_cost(part, cost) for part in cost.split(","))
            if len({name for name, _ in costs}) < len(costs):
                msg = f"Each cost is to be given once. Got {cost!r}."
                raise InputError(msg)
            return cls(",".join(f"{name}={value:g}" for name, value in costs), costs)
        if threshold:
            found = re.fullmatch(r"\s*(\w+)\s*>=\s*(\d*\.?\d+)\s*(%?)\s*", threshold)
            least = float(found[2]) / (100.0 if found[3] else 1.0) if found else 0.0
            if found is None or found[1] not in SHARES or not 0.0 < least <= 1.0:
                msg = (
                    f'A threshold reads like "recall>=0.95": one of {", ".join(SHARES)} and a share up to 1. Got {threshold!r}.'
                )
                raise InputError(msg)
            return cls(f"{found[1]}>={least:g}", share=found[1], least=least)
        return cls(scoring if scoring in (BALANCED, F1) else ACCURATE)

    @classmethod
    def of_text(cls, text: str) -> Self:
        """Read what `text` of a demand says."""
        return cls.read(text) if "=" not in text else cls.read(threshold=text) if ">=" in text else cls.read(cost=text)


def _cost(part: str, text: str) -> tuple[str, float]:
    """Return the name and the value of one cost."""
    name, _, value = part.rpartition("=")
    try:
        cost = float(value)
    except ValueError:
        cost = float("nan")
    if not name.strip() or not 1e-9 <= cost <= 1e9:
        msg = f'Costs read like "FN=5,FP=1", or by class "spam=5,ham=1", each from 1e-9 to 1e9. Got {text!r}.'
        raise InputError(msg)
    return name.strip(), cost


@dataclass(frozen=True)
class Share:
    """A share of rows: so many of so many, with its exact 95 % interval."""

    name: str
    count: int
    of: int
    low: Annotated[float, "number"]
    high: Annotated[float, "number"]

    @classmethod
    def measure(cls, name: str, y: IntArray, predicted: IntArray, positive: int) -> Self:
        """Count the rows that recall, precision or specificity is about, from class numbers, shape (n,)."""
        own, called = y == positive, predicted == positive
        among = {"recall": own, "precision": called, "specificity": ~own}[name]
        return cls.of_counts(name, int(np.count_nonzero(among & (own == called))), int(np.count_nonzero(among)))

    @classmethod
    def of_counts(cls, name: str, count: int, of: int) -> Self:
        """Return so many of so many."""
        if of == 0:
            return cls(name, 0, 0, 0.0, 1.0)
        exact = stats.binomtest(count, of).proportion_ci(LEVEL, method="exact")
        return cls(name, count, of, float(exact.low), float(exact.high))

    @property
    def value(self) -> float:
        """The share; NaN of no rows."""
        return self.count / self.of if self.of else float("nan")

    def __str__(self) -> str:
        if not self.of:
            return f"{self.name} unknown (no such rows)"
        interval = f"95 % interval {_percent(self.low)} to {_percent(self.high)}"
        return f"{self.name} {_percent(self.value)} ({self.count:,} of {self.of:,}; {interval})"


@dataclass(frozen=True, eq=False)
class OperatingPoint:
    """Which label follows from probabilities: the class with the largest weight times probability.

    Parameters
    ----------
    demand : str
        What was asked for: "accuracy", "balanced_accuracy", "f1", "FN=5,FP=1", "recall>=0.95" and the like.
    weights : ndarray, shape (K,)
        What it costs to miss each class, up to a factor; they add up to 1.
    positive : int
        Number of the positive class, whose recall and precision are told; -1 for more than two classes.
    reached : bool
        Whether the out-of-fold rows reach what was asked for.
    out_of_fold, held_out : tuple of Share
        Recall, precision and specificity there; empty for more than two classes or before the test.

    Examples
    --------
    >>> import numpy as np
    >>> P, y = np.array([[0.9, 0.1], [0.7, 0.3], [0.6, 0.4], [0.2, 0.8]]), np.array(["no", "yes", "no", "yes"])
    >>> point = OperatingPoint.choose(Demand.read(threshold="recall>=0.9"), P, y, np.array(["no", "yes"]))
    >>> round(point.threshold, 3), point.labels(P, np.array(["no", "yes"])).tolist()
    (0.2, ['no', 'yes', 'yes', 'yes'])
    """

    demand: str
    weights: Annotated[FloatArray, "finite8(c) > 0"]
    positive: Annotated[int, "int in -1..c"]
    reached: bool
    out_of_fold: Annotated[tuple[Share, ...], [Share]] = ()
    held_out: Annotated[tuple[Share, ...], [Share]] = ()

    @classmethod
    def choose(cls, demand: Demand, P: FloatArray, y: Labels, classes: Labels, positive: Label | None = None) -> Self:
        """Choose by probabilities, shape (n, K), of out-of-fold rows with labels y (n,); NaN rows are left out."""
        seen = np.isfinite(P).all(axis=1)
        P, target, K = P[seen], np.searchsorted(classes, np.asarray(y)[seen]), classes.size
        if K > 2 and (demand.share or any(name in ("FN", "FP") for name, _ in demand.costs)):
            names = [shown(label) for label in classes.tolist()]
            msg = f'{demand.text} needs two classes, but there are {K}: {listed(names)}. Give costs by class: "{names[0]}=5".'
            raise InputError(msg)
        k = positive_number(classes, positive) if K == 2 else -1
        reached = True
        if demand.costs:
            weights = _weights_of_costs(demand, classes, k)
        elif demand.text == BALANCED:
            weights = 1.0 / np.maximum(np.bincount(target, minlength=K), 1.0)
        elif K == 2 and (demand.share or demand.text == F1):
            t, reached = _threshold(demand, P[:, k], target == k)
            weights = np.where(np.arange(2) == k, 1.0 - t, t)
        else:
            weights = np.ones(K)
        point = cls(demand.text, weights / weights.sum(), k, reached)
        return replace(point, out_of_fold=point._shares(P, target))

    def tested(self, P: FloatArray, y: Labels, classes: Labels) -> Self:
        """Return the same with recall, precision and specificity of held-out rows."""
        return replace(self, held_out=self._shares(P, np.searchsorted(classes, y)))

    def decide(self, P: FloatArray) -> IntArray:
        """Return the class numbers, shape (n,), that follow from probabilities, shape (n, K)."""
        found: IntArray = (P * (self.weights / self.weights.max())).argmax(axis=1)
        return found

    def labels(self, P: FloatArray, classes: Labels) -> Labels:
        """Return the labels, shape (n,), that follow from probabilities, shape (n, K)."""
        found: Labels = classes[self.decide(P)]
        return found

    @property
    def threshold(self) -> float:
        """The probability above which the positive of two classes is predicted; NaN for more classes."""
        if self.positive < 0:
            return float("nan")
        return float(self.weights[1 - self.positive] / self.weights.sum())

    @property
    def most_probable(self) -> bool:
        """Whether the label is always the most probable class."""
        return bool((self.weights == self.weights[0]).all())

    def sentence(self, classes: Labels) -> str:
        """Say which label is predicted, why, and what it reaches."""
        if self.most_probable:
            return "The predicted class is the most probable one."
        if self.positive < 0:
            why = "balanced accuracy" if self.demand == BALANCED else f"the costs {self.demand}"
            return f"For {why}, the predicted class has the largest probability times weight: not always the most probable one."
        said = (
            f"“{shown(classes.tolist()[self.positive])}” is predicted where its probability is above {number(self.threshold)}"
        )
        said += {
            BALANCED: ", its share of the training rows: that is what balanced accuracy asks for",
            F1: ", which gives the largest F1 out of fold",
        }.get(self.demand, f", chosen for {self.demand}" + (" out of fold" if ">=" in self.demand else ""))
        if not self.reached:
            said += "; no threshold reaches that, and this one comes closest"
        rows, where = (self.held_out, "held-out rows") if self.held_out else (self.out_of_fold, "out-of-fold rows")
        wanted = [share for share in rows if self.demand.startswith(share.name)] or [s for s in rows if s.name != "specificity"]
        return f"{said}. On {where}: {'; '.join(map(str, wanted))}." if wanted else f"{said}."

    def _shares(self, P: FloatArray, target: IntArray) -> tuple[Share, ...]:
        """Return recall, precision and specificity of the positive class."""
        if self.positive < 0:
            return ()
        predicted = self.decide(P)
        return tuple(Share.measure(name, target, predicted, self.positive) for name in SHARES)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _weights_of_costs(demand: Demand, classes: Labels, positive: int) -> FloatArray:
    """Return what it costs to miss each class: by FN and FP, or by the name of a class; 1 if nothing is said."""
    names = [str(label) for label in classes.tolist()]
    places = {name: k for k, name in enumerate(names)}
    if classes.size == 2 and not set(names) & {"FN", "FP"}:
        places |= {"FN": positive, "FP": 1 - positive}
    weights = np.ones(classes.size)
    for name, cost in demand.costs:
        if name not in places:
            also = "; of two classes also FN and FP" if classes.size == 2 else ""
            msg = f"There is no class {name!r} to give a cost for. The classes are {listed(names)}{also}."
            raise InputError(msg)
        weights[places[name]] = cost
    return weights


def _threshold(demand: Demand, p: FloatArray, own: IntArray) -> tuple[float, bool]:
    """Return the threshold that a demand asks for, by probabilities of the positive class, and whether it is reached.

    Thresholds lie in the middle between neighbouring probabilities, so that none decides by rounding.
    """
    if not own.any() or own.all():
        return 0.5, False
    order = np.argsort(-p, kind="stable")
    falling, hits = p[order], np.cumsum(own[order])
    ends = np.flatnonzero(np.append(np.diff(falling) < 0, True))  # the last of equal probabilities
    called, true = ends + 1.0, hits[ends]
    recall, precision = true / own.sum(), true / called
    specificity = 1.0 - (called - true) / np.count_nonzero(~own)
    lower = np.append(falling[ends[1:]], 0.0)
    middles = 0.5 * (falling[ends] + lower)
    if demand.text == F1:
        return float(middles[np.argmax(true / (called + own.sum()))]), True
    asked = {"recall": recall, "precision": precision, "specificity": specificity}[demand.share]
    other = precision if demand.share == "recall" else recall
    good = asked >= demand.least - 1e-12
    if not good.any():
        return float(middles[np.argmax(asked)]), False
    return float(middles[np.argmax(np.where(good, other, -1.0))]), True
