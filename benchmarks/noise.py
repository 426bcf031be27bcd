"""Noise called noise: how often the ladder claims a model better than a constant where there is nothing, and where there is.

Noise  480 generated tables, 80 of each kind: two equal classes, 90/10, many classes (3 to 10), normal and skewed numbers, 40 to
       1,000 rows, 1 to 20 columns (normal, skewed or of three values); and 12 to 60 rows of two equal classes with 400
       columns. No column knows the target; all default rungs. A claim is a winner other than the majority class or the mean.
       Nominal level 2.5 % per table, bar 5 % of each kind.
Real   Twelve published tables with a signal, named here before the first run of this file: none may be lost (bar 0). Nine of
       them, and four left out as too near to chance to ask for (lung, turnout, Pima.tr2, the 38 rows of leukemia), were looked
       at with stand-in losses when the test of `halfspace.ladder.evidence` was designed; the three with numbers were not.
The ratio is the share of claims, or of tables lost. Rows beyond 600 of a real table are left out.
"""

import sys
import time
from functools import cache

import numpy as np

import halfspace as hs
from benchmarks.problems import SHARED, load_shared
from benchmarks.race import Result

TABLES, MOST = 80, 600
KINDS = ("balanced", "90/10", "many classes", "normal numbers", "skewed numbers", "few rows, many columns")
REAL = (
    "survey",
    "Participation",
    "biopsy",
    "Hdma",
    "heart_scale",
    "sonar",
    "ionosphere",
    "australian",
    "pima",
    "mpg",
    "airquality",
    "faithful",
)


def noise(kind, seed):
    """Return columns and a target that have nothing to do with each other."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    n, d = int(np.exp(rng.uniform(np.log(40), np.log(1000 if seed % 10 == 0 else 200)))), int(rng.choice([1, 2, 4, 8, 20]))
    if kind == "few rows, many columns":
        n, d = 2 * int(np.exp(rng.uniform(np.log(6), np.log(30)))), 400
    X = rng.standard_normal((n, d))
    if seed % 3 == 1:
        X = np.exp(1.5 * X)
    if seed % 3 == 2:
        X[:, ::2] = rng.integers(0, 3, X[:, ::2].shape)
    y = {
        "balanced": lambda: rng.permutation(np.arange(n) % 2),
        "few rows, many columns": lambda: rng.permutation(np.arange(n) % 2),
        "90/10": lambda: rng.permutation((np.arange(n) < max(n // 10, 3)).astype(int)),
        "many classes": lambda: rng.integers(0, min(10, max(3, n // 15)), n),
        "normal numbers": lambda: rng.standard_normal(n),
        "skewed numbers": lambda: np.exp(1.2 * rng.standard_normal(n)),
    }[kind]()
    return X, y


def real(name):
    """Return the rows of a published table and its target."""
    import pandas as pd

    folder = SHARED.parent / "tables"
    index = pd.read_csv(folder / "index.csv").set_index("name")
    if name not in index.index:
        X, y, *_ = load_shared(name)
        rows = np.random.default_rng(0).permutation(y.size)[:MOST]
        return np.asarray(X[rows], dtype=np.float64), y[rows]
    target = index.target[name]
    table = pd.read_csv(folder / f"{name}.csv.xz").dropna(subset=[target])
    table = table.sample(min(len(table), MOST), random_state=0)
    y = table[target].to_numpy()
    return table.drop(columns=target), y.astype(float) if index.task[name] == "regress" else y.astype(str)


def claimed(X, y, seed=0):
    """Tell whether a ladder claims more than a constant, and its winner with the p-value of all rungs."""
    numbers = y.dtype.kind == "f"
    ladder = (hs.RegressionLadder if numbers else hs.Ladder)(random_state=seed, refit=False, n_jobs=1).fit(X, y)
    found = f"{ladder.winner_}, p {ladder.evidence_.p_values.min():.2g}"
    print(f"    {y.size} rows, {X.shape[1]} columns: {found}", file=sys.stderr, flush=True)
    return ladder.winner_ not in {"majority", "mean"}, found


@cache
def _warm():
    """Compile before the clock starts."""
    for kind in KINDS:
        claimed(*noise(kind, 10))


def _measured(name, problems, *, lost):
    """Fit the ladder to problems (label, X, y, seed) and return the result."""
    print(f"{name} ...", file=sys.stderr, flush=True)
    began = time.process_time()
    answers = {label: claimed(X, y, seed) for label, X, y, seed in problems}
    return result(name, answers, time.process_time() - began, lost=lost)


def result(name, answers, seconds, *, lost):
    """Return the share of claims among answers (claim, winner) by label, or with `lost` of tables without one."""
    wrong = {label: winner for label, (claim, winner) in answers.items() if claim != lost}
    which = ", ".join(f"{label} ({winner})" for label, winner in wrong.items())
    remark = f"{len(wrong)} of {len(answers)}" + (f": {which}" if which else "")
    bar = 0.0 if lost else 0.05
    return Result(name, {"CPU seconds of all": seconds}, 0.0, len(wrong) / len(answers), bar, at_most=True, remark=remark)


def cases():
    """Nothing is raced."""
    return ()


def summary(_results):
    """Return the share of claims for each kind of noise, and of the real tables that are lost."""
    _warm()
    found = [
        _measured(
            f"claims on noise, {kind}", [(f"table {seed}", *noise(kind, seed), seed) for seed in range(TABLES)], lost=False
        )
        for kind in KINDS
    ]
    if SHARED.exists():
        found.append(_measured("real signals lost", ((name, *real(name), 0) for name in REAL), lost=True))
    return found
