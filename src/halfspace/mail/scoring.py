"""The score of a message by the standard library, for a process that lives for one message; the bits of `Learner.score`."""

import math
from collections.abc import Sequence

__all__ = ["score"]


def score(slots: Sequence[int], n: int, weights: Sequence[float], advice: Sequence[float], counts: Sequence[int]) -> float:
    """Return f + tanh(g/4)/2 for a message's slots; the arrays may be views of mapped files.

    Examples
    --------
    >>> round(score([1, 2], 10, weights=[0.0, 1.0, 1.0], advice=[0.0, 0.0, 0.0], counts=[0, 5, 5]), 12)
    1.414213562373
    """
    total = square = advised = 0.0
    for slot in slots:
        rarity = math.log(n + counts[slot] + 2) - math.log(counts[slot] + 1)
        square += rarity * rarity
        total += weights[slot] * rarity
        advised += advice[slot]
    if not len(slots):
        return 0.0
    return total / math.sqrt(square) + math.tanh(advised / math.sqrt(len(slots)) / 4.0) / 2.0
