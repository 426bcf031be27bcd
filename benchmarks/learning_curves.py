"""How often intervals of `LearningCurve` hold: ten published sets.

From `ROWS` rows of a set (fewer where it is small) a curve is measured and carried on to 2, 4 and 10 times as many. The truth
is the mean error of the same model learnt from that many rows, in several draws, on rows that nothing else has seen. The peer
is the usual way: a + b n^-c fitted by least squares to the same mean errors, with the interval of the delta method. Shares, not
seconds; intervals are nominally 90 %. Draws share sets, so the coverage is uncertain by several points.
Sets with more than 64 columns keep 64 random ones, for time. Nothing here was chosen on these sets; the study that the
recipe comes from does not name all of its own, so some may be among them.
"""

import warnings

import numpy as np
from scipy.optimize import curve_fit
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.problems import load_shared
from benchmarks.race import Result
from halfspace import AdaTron, LearningCurve

SETS = {
    "letter": lambda y: y <= 13,
    "usps": lambda y: y <= 4,
    "mnist": lambda y: y % 2 == 0,
    "higgs_sample": lambda y: y == y.max(),
    "covtype": lambda y: y == 2,
    "skin_nonskin": lambda y: y == 1,
    "ijcnn1": lambda y: y == 1,
    "madelon": lambda y: y == 1,
    "dna": lambda y: y == 3,
    "sms_spam": lambda y: y == "spam",
}
ROWS, DRAWS, NEW, WIDEST = 400, 2, 3_000, 64
FACTORS = {2: 5, 4: 4, 10: 2}
"""How many times the rows, and draws of that many for the truth."""
LEVEL, LEAST, WIDEST_AT_10 = 0.9, 0.85, 8.0
"""Nominal level, the least share that must hold, and the points that an interval at 10x may be wide."""


def rows_of(name):
    """Return all rows of a set as numbers, labels of two classes, and how many rows a curve is measured on."""
    X, y, X_test, y_test = load_shared(name)
    if isinstance(X, list):
        X = HashingVectorizer(n_features=256, alternate_sign=False).transform([text.decode("latin-1") for text in X])
    if X_test is not None and X.shape[0] < 10_000 and not isinstance(X_test, list):
        dense = [part.toarray() if hasattr(part, "toarray") else part for part in (X, X_test)]
        X, y = np.vstack(dense), np.concatenate([y, y_test])
    keep = np.random.default_rng(0).permutation(y.size)[:12_000]
    X = X[keep].toarray() if hasattr(X, "toarray") else X[keep]
    X = X[:, np.random.default_rng(1).permutation(X.shape[1])[:WIDEST]]
    n = ROWS if keep.size >= 10 * ROWS + 500 else ROWS // 2
    return np.asarray(X, dtype=np.float64), SETS[name](y[keep]).astype(int), n


def model():
    return make_pipeline(StandardScaler(), AdaTron(C=0.1, tol=1e-3))


def usual(sizes, errors, n):
    """Return the interval of the usual fit, or None where it fails."""

    def law(m, a, b, c):
        return a + b * m**-c

    try:
        best, V = curve_fit(law, sizes, errors, p0=(errors[-1] * 0.8, 1.0, 0.5), bounds=([0, 0, 0.05], [1, 50, 3]))
    except RuntimeError:
        return None
    slope = np.array([1.0, n ** -best[2], -best[1] * np.log(n) * n ** -best[2]])
    spread = 1.645 * np.sqrt(max(slope @ V @ slope, 0.0))
    return law(n, *best) - spread, law(n, *best) + spread


def measured(name):
    """Yield factor, truth, our interval and the usual one, of every draw and factor of a set."""
    X, y, n = rows_of(name)
    for draw in range(DRAWS):
        rng = np.random.default_rng(100 + draw)
        order = rng.permutation(y.size)
        test = order[-min(NEW, y.size - 10 * n) :]
        pool = order[: y.size - test.size]
        curve = LearningCurve(model(), random_state=draw).fit(X[pool[:n]], y[pool[:n]])
        for factor, times in FACTORS.items():
            errors = []
            for _ in range(times):
                own = rng.permutation(pool)[: factor * n]
                errors.append(np.mean(model().fit(X[own], y[own]).predict(X[test]) != y[test]))
            found = curve.predict(factor * n, LEVEL)
            yield factor, np.mean(errors), (found.low, found.high), usual(curve.sizes_, curve.errors_, factor * n)


def cases():
    """There is no race."""
    return ()


def summary(_):
    """Return, for every factor, how often intervals held and how wide they are."""
    if load_shared("letter") is None:
        return []
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in SETS:
            found[name] = list(measured(name))
            print(name, [[round(100 * v, 1) for v in (row[1], *row[2])] for row in found[name]], flush=True)
    rows, results = [row for part in found.values() for row in part], []
    for factor in FACTORS:
        own = [row for row in rows if row[0] == factor]
        held = [low <= truth <= high for _, truth, (low, high), _ in own]
        theirs = [peer is not None and peer[0] <= truth <= peer[1] for _, truth, _, peer in own]
        widths = [100 * (high - low) for _, _, (low, high), _ in own]
        missed = [
            name
            for name, part in found.items()
            if any(not row[2][0] <= row[1] <= row[2][1] for row in part if row[0] == factor)
        ]
        shares = {"ours": float(np.mean(held)), "nominal": LEVEL}
        remark = (
            f"{len(own)} curves of {len(SETS)} sets; of a fitted power law {np.mean(theirs):.0%} held; median width "
            f"{np.median(widths):.1f} points; missed on: {', '.join(missed) or 'none'}"
        )
        name = f"learning curves: 90 % intervals at {factor}x that held (shares, not s)"
        results.append(Result(name, shares, 0.0, shares["ours"] / LEVEL, LEAST / LEVEL, at_most=False, remark=remark))
    width = {"ours": float(np.median(widths)), "allowed": WIDEST_AT_10}  # those at 10x, the last
    name = "learning curves: median width of 90 % intervals at 10x (points, not s)"
    results.append(Result(name, width, 0.0, width["ours"] / WIDEST_AT_10, 1.0, at_most=True))
    return results
