"""The threshold, with a promise about lost ham.

Claim    With 95 % confidence, at most a share eps of ham like the past is above the threshold.
Theorem  Of n scores of past ham, each taken before the message was learnt, let k be above the threshold. If
         P(Binomial(n, eps) <= k) <= 5 %, the share of such ham above it is below eps with that confidence (Clopper and
         Pearson 1934). The largest such k gives the lowest threshold: the (k + 1)-th largest score. k = 0 needs
         n >= log(0.05)/log(1 - eps): 299, 598 and 2,995 ham for 1, 0.5 and 0.1 %.
It speaks of ham like the past only: scores of another kind of mail, or of a filter that has got worse, are not covered. Scores
of a filter that knew fewer than `ENOUGH` spam do not count. Of the last `LATEST` others as few do as give the same k, the most
recent ones: their number is chosen without looking at the scores.

Without a promise the threshold is a rank of all past ham scores, from `ENOUGH` on: a hundredth of them may be above it, and one
more for each time that ham outnumbers spam (where ham is rare, each counts). It is at least `LEAN` times ham/spam, down to
`LOWEST`: the plane has no bias, and leans to the class that it sees more of.
"""

import bisect
import math
from collections.abc import Iterable
from functools import lru_cache

__all__ = ["HamScores", "allowed", "answer", "least", "needed", "unsure_above"]

CONFIDENCE = 0.95
LATEST = 10_000
ENOUGH = 5
"""Spam that must be known before a promise counts ham, and ham that must be known before the threshold is another than 0."""
LEAN, LOWEST = -0.02, -0.1
BAND = 0.1
"""So far below the threshold, or below 0 if that is lower, scores are neither ham nor spam."""


def needed(eps: float, confidence: float = CONFIDENCE) -> int:
    """Return how many ham a promise needs at least.

    Examples
    --------
    >>> [needed(eps) for eps in (0.01, 0.005, 0.001)]
    [299, 598, 2995]
    """
    return math.ceil(math.log(1.0 - confidence) / math.log1p(-eps))


def allowed(n: int, eps: float, confidence: float = CONFIDENCE) -> int:
    """Return the largest k with P(Binomial(n, eps) <= k) <= 1 - confidence, or -1 if there is none.

    Examples
    --------
    >>> [allowed(n, 0.01) for n in (298, 299, 472, 473)]
    [-1, 0, 0, 1]
    """
    k, term, total = 0, n * math.log1p(-eps), 0.0
    while k <= n:
        total += math.exp(term)
        if total > 1.0 - confidence:
            return k - 1
        term += math.log((n - k) / (k + 1.0)) + math.log(eps) - math.log1p(-eps) if k < n else 0.0
        k += 1
    return n


@lru_cache(maxsize=1024)
def least(k: int, eps: float, confidence: float = CONFIDENCE) -> int:
    """Return the fewest ham of which k may be above the threshold.

    Examples
    --------
    >>> [least(k, 0.01) for k in (0, 1, 2)]
    [299, 473, 628]
    """
    high = 2 * needed(eps, confidence)
    while allowed(high, eps, confidence) < k:
        high *= 2
    return bisect.bisect_left(range(high), k, key=lambda n: allowed(n, eps, confidence))


class HamScores:
    """The scores of past ham, each taken before it was learnt, and the thresholds that follow from them.

    Parameters
    ----------
    past : iterable of (float, bool)
        Score and whether it was spam, of past messages in order.

    Examples
    --------
    >>> past = HamScores([(1.0, True)] * 399 + [(-1.0, False)] * 394 + [(0.25, False)] * 5)
    >>> past.default(), past.promised(0.01), past.promised(0.001)
    (0.25, 0.25, None)
    """

    def __init__(self, past: Iterable[tuple[float, bool]] = ()) -> None:
        self.n_spam = self.n_early = 0
        self.in_order: list[float] = []
        self._above: dict[float, int] = {}
        self._sorted: list[tuple[float, int]] = []
        self.extend(past)

    def extend(self, past: Iterable[tuple[float, bool]]) -> None:
        """Take in the scores of many messages, in order; they are sorted once."""
        first = len(self.in_order)
        for score, spam in past:
            self._note(score, spam=spam)
        self._sorted += [(score, k) for k, score in enumerate(self.in_order[first:], first)]
        self._sorted.sort()

    def add(self, score: float, *, spam: bool) -> None:
        """Take in the score of a message before it was learnt."""
        self._note(score, spam=spam)
        if not spam:
            bisect.insort(self._sorted, (score, len(self.in_order) - 1))

    def _note(self, score: float, *, spam: bool) -> None:
        """Count a message, and keep the score of ham."""
        if spam:
            self.n_spam += 1
            return
        self.n_early += self.n_spam < ENOUGH
        self.in_order.append(score)

    @property
    def n_ham(self) -> int:
        """Ham in all."""
        return len(self.in_order)

    @property
    def n_counted(self) -> int:
        """Ham that was scored when enough spam was known."""
        return self.n_ham - self.n_early

    def missing(self, eps: float) -> int:
        """Return how many more ham a promise needs."""
        return max(0, needed(eps) - self.n_counted)

    def default(self) -> float:
        """Return the threshold without a promise."""
        n, n_spam = self.n_ham, max(1, self.n_spam)
        if n < ENOUGH:
            return 0.0
        return max(LOWEST, LEAN * n / n_spam, self._sorted[max(0, n - 1 - n // 100 - n // n_spam)][0])

    def above(self, eps: float) -> int:
        """Return how many of the ham that a promise is about may be above its threshold; -1 if it cannot be given."""
        k, n = self._above.get(eps, -1), min(self.n_counted, LATEST)
        while least(k + 1, eps) <= n:  # they only ever become more, so most times there is nothing to compute
            k += 1
        self._above[eps] = k
        return k

    def latest(self, eps: float) -> int:
        """Return how many of the last ham a promise is about; 0 if it cannot be given."""
        k = self.above(eps)
        return 0 if k < 0 else least(k, eps)

    def promised(self, eps: float) -> float | None:
        """Return the lowest threshold with the promise, or None if there are fewer than `needed` ham."""
        k, first = self.above(eps), len(self.in_order) - self.latest(eps)
        for score, when in reversed(self._sorted if k >= 0 else []):
            if when >= first:
                if not k:
                    return score
                k -= 1
        return None


def unsure_above(threshold: float) -> float:
    """Return the score up to which a message is ham; a promised threshold that is lower still leaves nothing unsure."""
    return max(min(threshold, 0.0), LOWEST) - BAND


def answer(score: float, threshold: float) -> str:
    """Return "spam" above the threshold, "unsure" in a band below it, else "ham".

    Examples
    --------
    >>> answer(0.5, 0.0), answer(0.0, 0.0), answer(-0.5, 0.0)
    ('spam', 'unsure', 'ham')
    """
    return "spam" if score > threshold else "unsure" if score > unsure_above(threshold) else "ham"
