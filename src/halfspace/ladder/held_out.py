"""The held-out rows: which they are, and the one look at them.

Accuracy comes with the exact interval of Clopper and Pearson (1934), which covers the truth in at least 95 % of cases. The
interval of balanced accuracy is the normal one from the variances of the classes' shares, with two right and two wrong answers
added to each class (Agresti and Coull, 1998) so that no share is without variance.
"""

import numpy as np
from scipy import stats
from sklearn.model_selection import train_test_split

from halfspace._typing import IntArray, Labels
from halfspace.ladder.values import TestResult

__all__ = ["judged", "split"]

LEVEL = 0.95


def split(y: Labels, share: float, seed: int) -> tuple[IntArray, IntArray]:
    """Return the rows to learn from and those held out, in proportion; classes of fewer than four examples are learnt from.

    Examples
    --------
    >>> train, test = split(np.repeat([0, 1], 50), 0.2, seed=0)
    >>> train.size, test.size
    (80, 20)
    """
    everyone = np.arange(y.size)
    _, first, target, counts = np.unique(y, return_index=True, return_inverse=True, return_counts=True)
    # Numbered as they first occur, so that the rows held out do not depend on the names of the classes.
    order = np.argsort(first)
    target, counts = np.argsort(order)[target], counts[order]
    common = everyone[counts[target] >= 4]
    wanted = round(share * y.size)
    kinds = int((counts >= 4).sum())
    if wanted < max(kinds, 1) or common.size - wanted < kinds or kinds < 2:
        return everyone, everyone[:0]
    _, test = train_test_split(common, test_size=wanted, stratify=target[common], random_state=seed)
    test = np.sort(test)
    for number in np.flatnonzero(counts - np.bincount(target[test], minlength=counts.size) < 2):
        test = np.setdiff1d(test, np.flatnonzero(target == number)[:2])  # two of each class are learnt from
    return np.setdiff1d(everyone, test), test


def judged(predicted: Labels, y: Labels, classes: Labels, scoring: str) -> TestResult:
    """Compare predictions with the truth, once.

    Examples
    --------
    >>> y = np.array(["a"] * 9 + ["b"])
    >>> result = judged(np.array(["a"] * 10), y, np.array(["a", "b"]), "accuracy")
    >>> result.score, round(result.low, 3), round(result.high, 3), result.confusion.tolist()
    (0.9, 0.555, 0.997, [[9, 0], [1, 0]])
    """
    K = classes.size
    pairs = np.searchsorted(classes, y) * K + np.searchsorted(classes, predicted)
    confusion = np.bincount(pairs, minlength=K * K).reshape(K, K)
    right, n = int(np.trace(confusion)), int(y.size)
    if scoring == "accuracy":
        exact = stats.binomtest(right, n).proportion_ci(LEVEL, method="exact")
        return TestResult(right / n, float(exact.low), float(exact.high), n, scoring, right / n, confusion)
    sizes = confusion.sum(axis=1)
    there = sizes > 0
    shares = np.diag(confusion)[there] / sizes[there]
    steady = (np.diag(confusion)[there] + 2.0) / (sizes[there] + 4.0)
    score = float(shares.mean())
    error = float(np.sqrt(np.sum(steady * (1.0 - steady) / (sizes[there] + 4.0)))) / shares.size
    spread, centre = float(stats.norm.ppf(0.5 + LEVEL / 2.0)) * error, float(steady.mean())
    low, high = max(min(score, centre - spread), 0.0), min(max(score, centre + spread), 1.0)
    return TestResult(score, low, high, n, scoring, right / n, confusion)
