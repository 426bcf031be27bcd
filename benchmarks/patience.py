"""Patience: what a perceptron loses that stops when the fewest mistakes in an epoch have not fallen for so many epochs.

Twenty sets of the collection, ten splits each, at most 4,000 rows, columns standardised: a perceptron with each patience, and
one with none, which makes a thousand epochs or separates its rows, are tested on the same quarter of the rows. The default is
the least patience tried whose mean error is not above that without patience; differences are within their standard error.
"""

from functools import cache

import numpy as np
from sklearn import datasets

import halfspace as hs
from benchmarks.problems import load_shared
from benchmarks.race import Result

BUILT_IN = {"iris": datasets.load_iris, "breast cancer": datasets.load_breast_cancer, "digits": datasets.load_digits}
OTHERS = "australian banknote dna fourclass heart_scale ionosphere madelon mushrooms optdigits pima sonar spambase splice"
SETS = (*BUILT_IN, *OTHERS.split(), "svmguide1", "usps", "vowel", "w8a")
WAITS = (10, 20, 30, 50, 100)
EPOCHS, SPLITS, ROWS = 1000, 10, 4000


def read(name):
    """Return at most 4,000 rows of a set, standardised; None where it is not there."""
    found = BUILT_IN[name](return_X_y=True) if name in BUILT_IN else load_shared(name)
    if found is None:
        return None
    X, y = found[:2]
    some = np.random.default_rng(0).permutation(len(y))[:ROWS]
    X = np.asarray(X[some].toarray() if hasattr(X, "toarray") else X[some], dtype=np.float64)
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0), np.asarray(y)[some]


def split_errors(X, y, seed):
    """Return, for each patience and for none, the test error and the epochs of one split."""
    order = np.random.default_rng(seed).permutation(y.size)
    train, test = order[: 3 * y.size // 4], order[3 * y.size // 4 :]
    models = [hs.Perceptron(max_iter=EPOCHS, patience=wait, random_state=seed) for wait in (*WAITS, None)]
    fits = [model.fit(X[train], y[train]) for model in models]
    return [(1.0 - model.score(X[test], y[test]), model.n_iter_) for model in fits]


@cache
def measured():
    """Return the sets found, and errors and epochs, shape (sets, splits, waits and a thousand epochs, 2)."""
    data = {name: found for name in SETS if (found := read(name)) is not None}
    return tuple(data), np.array([[split_errors(*rows, seed) for seed in range(SPLITS)] for rows in data.values()])


def cases():
    """Yield no race: all is measured in one go."""
    return ()


def summary(_):
    """Return the mean error with the default patience beside that of a thousand epochs; the others are in the remark."""
    names, found = measured()
    errors, epochs = found[..., 0].mean(axis=1), found[..., 1].mean(axis=(0, 1))  # (sets, waits), (waits,)
    chosen, means = WAITS.index(hs.Perceptron().patience), errors.mean(axis=0)
    lost = errors[:, chosen] - errors[:, -1]
    spread, worst = lost.std(ddof=1) / np.sqrt(len(names)), int(np.argmax(lost))
    tried = ", ".join(f"{wait}: {100 * means[j]:.2f} % after {epochs[j]:.0f}" for j, wait in enumerate((*WAITS, EPOCHS)))
    remark = f"errors and epochs by patience: {tried}; standard error of the difference {100 * spread:.2f} %; most lost on "
    remark += f"{names[worst]}: {100 * errors[worst, chosen]:.1f} % against {100 * errors[worst, -1]:.1f} %"
    figures = {f"patience {WAITS[chosen]}": means[chosen], "none": means[-1]}
    title = f"Perceptron with patience: mean error on {len(names)} sets (share, not s)"
    return [Result(title, figures, 0.0, means[chosen] / means[-1], 1.0, at_most=True, remark=remark)]
