"""What the winner did on rows it had not seen, and what it looks at."""

from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, balanced_accuracy_score

from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.ladder.calibration import Calibration
from halfspace.ladder.climbing import labels_of
from halfspace.ladder.preparing import take
from halfspace.report import influence, outputs
from halfspace.report.findings import Histogram, Influence, ReliabilityBin

__all__ = ["came_true", "how_weighed", "inputs_of", "linear_weights", "looked_at", "shuffled_columns", "stability"]

Group = tuple[str, int, int]
"""A column's name, its first input, and the one after its last."""
LEAST_RELIABLE, MOST_RELIABLE = 30, 100_000
"""Fewer rows give no reliability curve; of more outputs than this a sample of the rows does."""


def linear_weights(ladder: Any) -> FloatArray | None:
    """Return the weights of a linear winner, shape (1, D) or (K, D).

    Examples
    --------
    >>> import halfspace as hs
    >>> X, y, *_ = hs.data.two_clouds(60, distance=6.0)
    >>> linear_weights(hs.Ladder(rungs=("perceptron",)).fit(X, y)).shape
    (1, 2)
    """
    linear = ladder.winner_ in {"perceptron", "adaline", "adatron"}
    return np.atleast_2d(np.asarray(ladder.estimator_.coef_, dtype=np.float64)) if linear else None


def how_weighed(ladder: Any) -> str:
    """Say by what it is shown what the winner looks at: "weights", "relevances", "permutation", or "" for nothing.

    Examples
    --------
    >>> import halfspace as hs
    >>> X, y, *_ = hs.data.two_clouds(60, distance=6.0)
    >>> how_weighed(hs.Ladder(rungs=("majority",)).fit(X, y))
    ''
    """
    if ladder.winner_ == "majority":
        return ""
    if linear_weights(ladder) is not None:
        return "weights"
    return "relevances" if ladder.relevances_ else "permutation"


def looked_at(ladder: Any, X: Any, truth: IntArray, weighed: str) -> tuple[Influence, ...]:
    """Return what the winner looks at, by the measure named; `truth` are the class numbers of the rows X.

    Examples
    --------
    >>> import halfspace as hs
    >>> X, y, *_ = hs.data.two_clouds(60, distance=6.0)
    >>> ladder = hs.Ladder(rungs=("perceptron",)).fit(X, y)
    >>> len(looked_at(ladder, X, (y == ladder.classes_[1]).astype(int), "weights")[0].names)
    2
    """
    if weighed == "relevances":
        return influence.relevances(ladder.relevances_)
    coef = linear_weights(ladder)
    names, groups = inputs_of(ladder, X)
    if coef is not None:
        return influence.weights(coef, names, ladder.classes_.tolist())
    return shuffled_columns(ladder, X, truth, groups)


def stability(ladder: Any, found: outputs.Potentials, coef: FloatArray | None, missing: dict[str, str]) -> Histogram | None:
    """Draw up the histogram of potentials, with the support vectors; where there is none, `missing` is told why.

    Examples
    --------
    >>> import halfspace as hs
    >>> X, y, *_ = hs.data.two_clouds(60, distance=6.0)
    >>> ladder = hs.Ladder(rungs=("perceptron",)).fit(X, y)
    >>> found = outputs.potentials(ladder.out_of_fold_, (y == ladder.classes_[1]).astype(int)[ladder.train_], None)
    >>> stability(ladder, found, None, {}).n
    48
    """
    distance = "distance from the boundary" if coef is not None else "potential"
    if ladder.winner_ == "majority":
        missing["stability"] = "The majority class gives every row the same output, so there is nothing to spread."
        return None
    support = _support(ladder)
    histogram = outputs.histogram(found, support, distance)
    if histogram is None:
        missing["stability"] = "There are no out-of-fold outputs, or they are all equal."
    return histogram


def _support(ladder: Any) -> IntArray | None:
    """Return which training rows the winner rests on; None where it rests on all, or on none."""
    alpha = getattr(ladder.estimator_, "alpha_", None)
    if ladder.winner_ == "adaline" or alpha is None or np.ndim(alpha) == 0 or np.shape(alpha)[-1] != np.size(ladder.learnt_):
        return None
    held = np.asarray(ladder.learnt_)[np.any(np.atleast_2d(alpha) != 0, axis=0)]
    return np.flatnonzero(np.isin(ladder.train_, held))


def inputs_of(ladder: Any, X: Any) -> tuple[list[str], list[Group]]:
    """Return the names of the winner's inputs, and which of them come from which column, whatever the encoder is.

    Examples
    --------
    >>> import halfspace as hs
    >>> X, y, *_ = hs.data.two_clouds(60, distance=6.0)
    >>> inputs_of(hs.Ladder(rungs=("majority",)).fit(X, y), X)
    (['x0', 'x1'], [('x0', 0, 1), ('x1', 1, 2)])
    """
    encoder = ladder.encoder_
    if hasattr(encoder, "get_feature_names_out"):
        names = [str(name) for name in encoder.get_feature_names_out()]
    else:
        names = [f"x{k}" for k in range(ladder.encode(take(X, np.arange(1))).shape[1])]
    return names, list(getattr(encoder, "groups_", [(name, k, k + 1) for k, name in enumerate(names)]))


def shuffled_columns(ladder: Any, X: Any, truth: IntArray, groups: list[Group]) -> tuple[Influence, ...]:
    """Shuffle the columns of a winner without weights, on a sample of training rows.

    Examples
    --------
    >>> import halfspace as hs
    >>> X, y, *_ = hs.data.two_clouds(60, distance=6.0)
    >>> ladder = hs.Ladder(rungs=("neighbours",)).fit(X, y)
    >>> found = shuffled_columns(ladder, X, (y == ladder.classes_[1]).astype(int), [("x0", 0, 1), ("x1", 1, 2)])
    >>> len(found[0].names) + found[0].n_others
    2
    """
    if ladder.winner_ == "majority":
        return ()
    train = np.asarray(ladder.train_)
    rng = np.random.default_rng(0)
    held = next((rung.support for rung in ladder.rungs_ if rung.name == ladder.winner_), None) or train.size
    size = influence.sample_size(train.size, len(groups), held * groups[-1][2] if groups else 1)
    rows = np.sort(rng.choice(train, size, replace=False))
    labels = ladder.classes_[truth[rows]]
    rule = balanced_accuracy_score if ladder.scoring_ == "balanced_accuracy" else accuracy_score

    def score(encoded: Matrix) -> float:
        return float(rule(labels, labels_of(ladder.estimator_.decision_function(encoded), ladder.classes_)))

    return (influence.permutation(score, ladder.encode(take(X, rows)), truth[rows], groups, rng),)


def came_true(ladder: Any, truth: IntArray, missing: dict[str, str]) -> tuple[ReliabilityBin, ...]:
    """Compare calibrated out-of-fold probabilities with what came true; each fifth is calibrated on the other four.

    Examples
    --------
    >>> import halfspace as hs
    >>> X, y, *_ = hs.data.two_clouds(60, distance=6.0)
    >>> ladder = hs.Ladder(rungs=("perceptron",)).fit(X, y)
    >>> bins = came_true(ladder, (y == ladder.classes_[1]).astype(int)[ladder.train_], {})
    >>> sum(part.count for part in bins)
    48
    """
    f, rng = np.asarray(ladder.out_of_fold_, dtype=np.float64), np.random.default_rng(0)
    seen = np.flatnonzero(np.isfinite(f.reshape(len(f), -1)).all(axis=1))
    if seen.size < LEAST_RELIABLE or ladder.winner_ == "majority":
        missing["reliability"] = f"It takes a winner with outputs of its own, and at least {LEAST_RELIABLE} training rows."
        return ()
    seen = rng.permutation(seen)[: max(MOST_RELIABLE // (f.size // len(f)), LEAST_RELIABLE)]
    f, truth, part = f[seen], truth[seen], np.arange(seen.size) % 5
    P = np.concatenate([Calibration.of(f[part != k], truth[part != k]).probabilities(f[part == k]) for k in range(5)])
    truth = np.concatenate([truth[part == k] for k in range(5)])
    if f.ndim == 1:
        return outputs.reliability(P[:, 1], (truth == 1).astype(np.float64))
    return outputs.reliability(P.max(axis=1), (P.argmax(axis=1) == truth).astype(np.float64))
