"""How well a filter ordered a stream of messages: the measures of the TREC spam tracks.

Protocol  Messages come in order; each is scored, then its label is told. The scores below are those before learning.
1-ROCA    the share of pairs of a ham and a spam that are in the wrong order, ties half: the area above the ROC curve, in %.
lam       the logistic mean of the shares of ham and spam on the wrong side: logit^-1((logit h + logit s)/2), in %, counts
          smoothed by 1/2.
missed    the share of spam not above the threshold that loses at most floor(0.1 % or 0.5 % of ham), in %; ties are missed.
Interval  95 % by the bootstrap over messages.

Reference Cormack and Lynam, TREC 2005 Spam Track Overview.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from halfspace.errors import InputError

__all__ = ["Measures", "evaluate", "missed", "one_minus_roca"]

RESAMPLED = 200


class Measures(NamedTuple):
    """What a stream's scores are worth, all in %, with 95 % intervals for all but lam."""

    ham: int
    spam: int
    roca: float
    roca_interval: tuple[float, float]
    missed_1: float
    missed_1_interval: tuple[float, float]
    missed_5: float
    missed_5_interval: tuple[float, float]
    ham_lost: float
    spam_missed: float
    lam: float


def one_minus_roca(ham: Any, spam: Any) -> float:
    """Return 1-ROCA in % from scores of ham, shape (n,), and of spam, shape (m,).

    Examples
    --------
    >>> one_minus_roca(np.array([-1.0, 0.0]), np.array([0.0, 2.0]))
    12.5
    """
    ordered = np.sort(ham)
    below = np.searchsorted(ordered, spam, side="left") + np.searchsorted(ordered, spam, side="right")
    return float(100.0 * (1.0 - below.sum() / (2.0 * ham.size * spam.size)))


def missed(ham: Any, spam: Any, loss: float) -> float:
    """Return the % of spam missed if at most floor(loss times the number) of ham may be lost.

    Examples
    --------
    >>> missed(np.array([-1.0, 0.5]), np.array([0.0, 2.0]), 0.001)
    50.0
    """
    threshold = np.sort(ham)[ham.size - 1 - int(loss * ham.size)]
    return float(100.0 * np.mean(spam <= threshold))


def evaluate(scores: Any, labels: Any, called_spam: Any = None, *, seed: int = 0) -> Measures:
    """Measure scores, shape (n,), against labels, shape (n,), 1 for spam and -1 for ham.

    Parameters
    ----------
    scores, labels : ndarray
        The score of each message before it was learnt, and what it was.
    called_spam : ndarray of bool, optional
        The filter's answers at its own threshold; by default scores above 0.
    seed : int
        Of the bootstrap.

    Examples
    --------
    >>> found = evaluate(np.array([-1.0, 0.5, -0.5, 2.0]), np.array([-1, -1, 1, 1]))
    >>> found.roca, found.missed_1, found.ham_lost
    (25.0, 50.0, 50.0)
    """
    scores, labels = np.asarray(scores, dtype=np.float64), np.asarray(labels)
    ham, spam = scores[labels < 0], scores[labels > 0]
    if not ham.size or not spam.size:
        msg = f"evaluate expects messages of both classes; there are {ham.size} ham and {spam.size} spam"
        raise InputError(msg)
    called = scores > 0.0 if called_spam is None else np.asarray(called_spam, dtype=bool)
    lost, let_in = int(called[labels < 0].sum()), int((~called[labels > 0]).sum())
    rng = np.random.default_rng(seed)
    drawn = [(rng.choice(ham, ham.size), rng.choice(spam, spam.size)) for _ in range(RESAMPLED)]
    return Measures(
        ham.size,
        spam.size,
        one_minus_roca(ham, spam),
        _interval([one_minus_roca(h, s) for h, s in drawn]),
        missed(ham, spam, 0.001),
        _interval([missed(h, s, 0.001) for h, s in drawn]),
        missed(ham, spam, 0.005),
        _interval([missed(h, s, 0.005) for h, s in drawn]),
        100.0 * lost / ham.size,
        100.0 * let_in / spam.size,
        _logistic_mean(lost, ham.size, let_in, spam.size),
    )


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the middle 95 %."""
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def _logistic_mean(lost: int, ham: int, let_in: int, spam: int) -> float:
    """Return lam in %."""
    odds = [(k + 0.5) / (n - k + 0.5) for k, n in ((lost, ham), (let_in, spam))]
    mean = float(np.sqrt(odds[0] * odds[1]))
    return 100.0 * mean / (1.0 + mean)
