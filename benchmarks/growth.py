"""How the cost of a fit grows with rows and columns: five families beside scikit-learn's counterparts, and a log-log plot.

Rows are standard normal, labels those of a random plane with a tenth of them flipped, numbers those of a plane with noise.
Both sides take the same settings: ten epochs of a perceptron, C = 1 and a tolerance of 1e-3 for large margins, ten centres.
Columns grow at a fixed number of rows, rows at a fixed number of columns; the power is that of the best straight line.
"""

import re
from functools import cache, partial

import numpy as np
from sklearn import cluster, linear_model, svm

import halfspace as hs
from benchmarks.kernel_scaling import exponent, name_sizes
from benchmarks.kernel_setup import ROOT
from benchmarks.race import Case, Result

PICTURE = ROOT / "docs" / "growth.png"
MIDDLE = {"kernel": (2_000, 20)}
"""Rows while columns grow, and columns while rows grow; of the others 5,000 and 50."""
ROWS = {"kernel": (500, 1_000, 2_000, 4_000, 8_000)}
COLUMNS = {"kernel": (5, 20, 80, 320)}
USUAL_ROWS, USUAL_COLUMNS = (2_000, 8_000, 32_000, 128_000), (10, 40, 160, 640)

FAMILIES = {
    "perceptron": (
        partial(hs.Perceptron, max_iter=10, patience=None, random_state=0),
        partial(linear_model.Perceptron, max_iter=10, tol=None, random_state=0),
    ),
    "large margin": (
        partial(hs.AdaTron, C=1.0, tol=1e-3),
        partial(svm.LinearSVC, C=1.0, loss="hinge", tol=1e-3, random_state=0),
    ),
    "kernel": (partial(hs.KernelAdaTron, C=1.0, tol=1e-3), partial(svm.SVC, C=1.0)),
    "k-means": (partial(hs.KMeans, 10, random_state=0), partial(cluster.KMeans, 10, random_state=0)),
    "regression": (partial(hs.LinearRegression, ridge=1.0), partial(linear_model.Ridge, alpha=1.0)),
}
SIDES = ("halfspace", "scikit-learn")


@cache
def data(n, d):
    """Return rows, labels and numbers."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    f = X @ rng.standard_normal(d) / np.sqrt(d)
    return X, np.where(rng.random(n) < 0.1, f <= 0.0, f > 0.0).astype(int), f + 0.3 * rng.standard_normal(n)


def fitted(family, make, n, d):
    """Fit, and read the proof where there is one."""
    X, labels, numbers = data(n, d)
    model = make().fit(X, numbers if family == "regression" else labels)
    return getattr(model, "certificate_", None)


def cases():
    """Yield a race for every family and shape."""
    for family, makers in FAMILIES.items():
        n, d = MIDDLE.get(family, (5_000, 50))
        shapes = [(rows, d) for rows in ROWS.get(family, USUAL_ROWS)]
        shapes += [(n, columns) for columns in COLUMNS.get(family, USUAL_COLUMNS)]
        for shape in dict.fromkeys(shapes):
            both = {who: partial(fitted, family, make, *shape) for who, make in zip(SIDES, makers, strict=True)}
            yield Case("growth, {}, {:,} x {}".format(family, *shape), both, 1.0, repeats=3)


def _curves(results, family):
    """Return sizes and seconds of both sides, for rows and for columns."""
    n, d = MIDDLE.get(family, (5_000, 50))
    found = {}
    for r in results:
        name, rows, columns = re.match(r"growth, ([a-z -]+), ([\d,]+) x (\d+)", r.name).groups()
        rows, columns = int(rows.replace(",", "")), int(columns)
        if name == family:
            for who in SIDES:
                if columns == d:
                    found.setdefault(("rows", who), []).append((rows, r.seconds[who]))
                if rows == n:
                    found.setdefault(("columns", who), []).append((columns, r.seconds[who]))
    return {key: np.array(sorted(points)).T for key, points in found.items()}


def _draw(curves):
    """Draw seconds against rows and columns, both axes logarithmic."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(2, len(curves), figsize=(3.0 * len(curves), 5.6), layout="constrained")
    for column, (family, found) in zip(panels.T, curves.items(), strict=True):
        for panel, what in zip(column, ("rows", "columns"), strict=True):
            for who, mark in zip(SIDES, "os", strict=True):
                curve = found[what, who]
                panel.loglog(*curve, marker=mark, label=f"{who}, power {exponent(curve):.1f}")
            panel.set(xlabel=what, title=family if what == "rows" else None)
            name_sizes(panel, found[what, SIDES[0]][0])
            panel.legend(frameon=False, fontsize=7)
        column[0].set_ylabel("seconds to fit" if family == next(iter(curves)) else "")
        column[1].set_ylabel("seconds to fit" if family == next(iter(curves)) else "")
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)


def summary(results):
    """Return the powers of both sides for every family, and draw the curves."""
    curves = {family: _curves(results, family) for family in FAMILIES}
    rows = []
    for family, found in curves.items():
        for what in ("rows", "columns"):
            powers = {who: exponent(found[what, who]) for who in SIDES}
            name = f"growth, {family}: power of {what} with which the time grows (powers, not s)"
            rows.append(Result(name, powers, 0.0, powers[SIDES[0]] / powers[SIDES[1]], 1.0, at_most=True))
    try:
        _draw(curves)
        rows[-1].remark = f"drawn in {PICTURE.relative_to(ROOT)}"
    except ImportError:
        print("no picture of the growth: matplotlib is not installed")
    return rows
