"""From a score to an answer with its reasons, by the standard library: the arrays may be mapped files or NumPy's.

The threshold is the default one, or one with a promise about lost ham, which is refused while too little ham was learnt.
"""

import math
from collections.abc import Mapping, Sequence

from halfspace.mail.extraction import ALL
from halfspace.mail.promise import ENOUGH, needed
from halfspace.mail.weights import WeightsFile

__all__ = ["PROMISES", "READABLE", "reasons", "shares_of", "threshold_in", "top_of"]

READABLE = tuple(group for group in ALL if group != "grams")
"""The groups whose features a header names."""
PROMISES = {0.01: "promise_1", 0.005: "promise_05", 0.001: "promise_01"}
"""The ham losses whose thresholds are kept with the weights, and their names there."""


def threshold_in(file: WeightsFile, ham_loss: float | None) -> float:
    """Return the threshold; with a ham loss, the one that keeps the promise, or a ValueError that says what it needs."""
    if not file.number_of("n"):
        raise ValueError("nothing was learnt yet; teach it with: halfspace mail train or halfspace mail learn")
    if ham_loss is None:
        return file.number_of("threshold")
    if ham_loss not in PROMISES:
        msg = f"a ham loss is one of {', '.join(map(str, PROMISES))}, not {ham_loss}"
        raise ValueError(msg)
    found, counted = file.number_of(PROMISES[ham_loss]), int(file.number_of("n_counted"))
    if found == math.inf:
        missing = needed(ham_loss) - counted
        msg = (
            f"a ham loss of at most {ham_loss:.1%} cannot be promised yet: it takes {needed(ham_loss):,} ham, scored when"
            f" {ENOUGH} or more spam were known, and there are {counted:,}; teach {missing:,} more, or allow a larger loss"
        )
        raise ValueError(msg)
    return found


def shares_of(
    slots: Sequence[int], n: int, weights: Sequence[float], advice: Sequence[float], counts: Sequence[int]
) -> list[float]:
    """Return what each feature of a message adds to its score; they sum up to it.

    Examples
    --------
    >>> shares_of([0, 1, 2, 3], 1, weights=[1.0, -1.0, 0.5, 0.0], advice=[0.0] * 4, counts=[1] * 4)
    [0.5, -0.5, 0.25, 0.0]
    """
    rarities = [math.log(n + counts[slot] + 2) - math.log(counts[slot] + 1) for slot in slots]
    length = math.sqrt(sum(rarity * rarity for rarity in rarities)) or 1.0
    root = math.sqrt(len(slots)) or 1.0
    g = sum(advice[slot] for slot in slots) / root
    each = math.tanh(g / 4.0) / 2.0 / (g * root) if g else 0.0
    return [float(weights[s] * rarity / length + advice[s] * each) for s, rarity in zip(slots, rarities, strict=True)]


def reasons(
    named: Mapping[int, tuple[str, str]], slots: Sequence[int], shares: list[float], most: int = 10, *, spam: bool
) -> list[tuple[str, str, float]]:
    """Return the features that pushed a message most towards spam, or towards ham: group, token and share.

    Examples
    --------
    >>> reasons({3: ("words", "pills"), 5: ("words", "lunch")}, [3, 5], [0.5, -0.25], spam=True)
    [('words', 'pills', 0.5)]
    """
    sign = 1.0 if spam else -1.0
    order = sorted(range(len(slots)), key=lambda k: -sign * shares[k])[:most]
    return [(*named.get(slots[k], ("", "unnamed")), shares[k]) for k in order if sign * shares[k] > 0.0]


def top_of(named: Mapping[int, tuple[str, str]], slots: Sequence[int], shares: list[float], *, spam: bool) -> list[str]:
    """Return the three named features that decided most, for a header.

    Examples
    --------
    >>> top_of({5: ("words", "pills")}, [3, 5], [0.5, 0.25], spam=True)
    ['words:pills']
    """
    known = [k for k, slot in enumerate(slots) if slot in named]
    told = reasons(named, [slots[k] for k in known], [shares[k] for k in known], 3, spam=spam)
    return [f"{group}:{token}" for group, token, _ in told]
