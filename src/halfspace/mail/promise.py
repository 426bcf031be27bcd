"""The threshold, with a promise about lost ham.

Claim    With 95 % confidence, at most a share eps of ham like the past is above the threshold.
Theorem  Of n scores of past ham, each taken before the message was learnt, let k be above the threshold. If
         P(Binomial(n, eps) <= k) <= 5 %, the share of such ham above it is below eps with that confidence (Clopper and
         Pearson 1934). The largest such k gives the lowest threshold: the (k + 1)-th largest score. k = 0 needs
         n >= log(0.05)/log(1 - eps): 299, 598 and 2,995 ham for 1, 0.5 and 0.1 %.
It speaks of ham like the past only: scores of another kind of mail, or of a filter that has got worse, are not covered.

Without a promise the threshold is the 99 % rank of past ham, but at least 0, from `ENOUGH` ham on.
"""

import math
from collections.abc import Sequence

__all__ = ["allowed", "answer", "default_threshold", "needed", "promised_threshold"]

CONFIDENCE = 0.95
ENOUGH = 5
UNSURE = -0.1
"""Scores above this and not above the threshold are neither ham nor spam."""


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


def promised_threshold(ham_scores: Sequence[float], eps: float, confidence: float = CONFIDENCE) -> float | None:
    """Return the lowest threshold with the promise, or None if there are fewer than `needed` ham scores."""
    k = allowed(len(ham_scores), eps, confidence)
    return None if k < 0 else sorted(ham_scores)[len(ham_scores) - 1 - k]


def default_threshold(ham_scores: Sequence[float]) -> float:
    """Return the 99 % rank of past ham scores, at least 0; 0 for fewer than 5.

    Examples
    --------
    >>> default_threshold([0.5] * 4), default_threshold([-1.0] * 95 + [0.25] * 5)
    (0.0, 0.25)
    """
    n = len(ham_scores)
    return 0.0 if n < ENOUGH else max(0.0, sorted(ham_scores)[n - 1 - n // 100])


def answer(score: float, threshold: float) -> str:
    """Return "spam" above the threshold, "ham" at most at `UNSURE`, and "unsure" between.

    Examples
    --------
    >>> answer(0.5, 0.0), answer(0.0, 0.0), answer(-0.5, 0.0)
    ('spam', 'unsure', 'ham')
    """
    return "spam" if score > threshold else "unsure" if score > UNSURE else "ham"
