"""Prediction intervals and sets by cross-validation+: how often they hold the truth, how wide they are, and what they cost.

Nominal level 90 %, five folds. Bars set before the runs: over 200 generated problems (40 to 400 rows, 1 to 8 columns, linear or
not, noise even and uneven, Gaussian and Student's with 3 degrees) a mean coverage of 89.5 to 92 %; pooled over the regression
tables (a quarter held out, three seeds, at most 500 rows) 88 to 94 %. A case that misses its range counts as lost.
The ratio is the time of the intervals, scores and ends, over that of what they are made of: fits and predictions of folds.
The remark compares with intervals of one width (σ = 1) by mean width and by the interval score (width plus 20 times what a
target lies outside; Gneiting and Raftery, 2007), both as geometric means of ratios.
"""

import time
from functools import cache

import numpy as np

import halfspace as hs
from benchmarks.kernel_setup import disqualify
from benchmarks.problems import SHARED
from benchmarks.race import Case
from halfspace.ladder.conformal import Difficulty, Intervals, Sets, predictions_of

LEVEL, FOLDS = 0.9, 5
PROBLEMS, FRESH = 200, 500
SEEDS, MOST = 3, 500


def linear():
    return hs.LinearRegression(ridge="cv")


def generated(seed):
    """Return rows and targets to learn from, new ones, and a model: kernel machines for two of three curved problems."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(40, 401)), int(rng.integers(1, 9))
    X = rng.standard_normal((n + FRESH, d)) if rng.random() < 0.5 else rng.uniform(-1.7, 1.7, (n + FRESH, d))
    f = X @ rng.standard_normal(d)
    if seed % 2:
        f += 2.0 * np.sin(2.0 * X[:, 0])
    noise = rng.standard_normal(f.size) if seed // 2 % 2 else rng.standard_t(3, f.size)
    spreads = (np.ones(f.size), 0.2 + np.abs(X[:, -1]), np.exp(0.6 * X[:, 0]), 0.3 + np.abs(f) / np.abs(f).mean())
    y = f + rng.uniform(0.3, 1.5) * spreads[seed // 4 % 4] * noise
    return (X[:n], y[:n]), (X[n:], y[n:]), hs.KernelRegression if seed % 2 and seed % 3 else linear


def tables():
    """Yield every regression table: its name, how it is encoded, rows and targets to learn from, and a quarter held out."""
    import pandas as pd

    folder = SHARED.parent / "tables"
    index = pd.read_csv(folder / "index.csv")
    for entry in index[index.task == "regress"].itertuples():
        table = pd.read_csv(folder / f"{entry.name}.csv.xz").dropna(subset=[entry.target])
        X, y = table.drop(columns=entry.target), table[entry.target].to_numpy(float)
        for seed in range(SEEDS):
            rows = np.random.default_rng(seed).permutation(y.size)[: MOST * 4 // 3]
            test, train = np.split(rows, [rows.size // 4])
            encoder = hs.TableEncoder().fit(X.iloc[train])
            parts = [(encoder.transform(X.iloc[part]), y[part]) for part in (train, test)]
            yield entry.name, *parts


def measured(train, test, make, seed):
    """Return coverage, mean width, interval score for our intervals and for those of one width; and seconds of both stages."""
    (Z, y), (fresh, truth) = train, test
    fold = np.random.default_rng(seed).permutation(y.size) % FOLDS
    began = time.perf_counter()
    models = [make().fit(Z[fold != k], y[fold != k]) for k in range(FOLDS)]
    known, new = predictions_of(models, Z, fold), np.stack([model.predict(fresh) for model in models], axis=1)
    fitted = time.perf_counter()
    intervals = Intervals.of(y, known, fold, Z)
    ends = intervals.between(new, fresh, LEVEL)
    done = time.perf_counter()
    return judged(ends, truth), judged(one_width(y, known, fold, new), truth), (done - fitted, fitted - began)


def one_width(y, known, fold, new):
    """Return the ends of intervals whose σ is 1."""
    even = Difficulty(np.zeros((FOLDS, 1)), np.ones((FOLDS, 1)), np.zeros((FOLDS, 2)))
    lists = [np.sort(np.abs(y - known[:, k])[fold == k]) for k in range(FOLDS)]
    return Intervals(np.concatenate(lists), np.bincount(fold, minlength=FOLDS), even).between(new, new, LEVEL)


def judged(ends, truth):
    """Return the share of targets within, the mean width, and the interval score."""
    low, high = ends
    outside = np.maximum(low - truth, 0.0) + np.maximum(truth - high, 0.0)
    score = high - low + 2.0 / (1.0 - LEVEL) * outside
    return float(np.mean(outside == 0.0)), float(np.mean(high - low)), float(score.mean())


@cache
def on_generated():
    """Return what was measured on each generated problem, with the number of its new rows."""
    problems = map(generated, range(PROBLEMS))
    return [(*measured(*problem, seed), 1) for seed, problem in enumerate(problems)]


@cache
def on_tables():
    """Return what was measured on each table, with the number of rows held out."""
    found = []
    for number, (name, train, test) in enumerate(tables()):
        for make in (linear, hs.KernelRegression):
            found.append((*measured(train, test, make, number), test[1].size))
            print(f"    {name}, {make.__name__}: {found[-1][0][0]:.3f}", flush=True)
    return found


def interval_case(name, runs, low, high):
    """Return a case: the cost of intervals, and whether coverage is in its range."""

    def remark(_):
        weights = np.array([run[-1] for run in runs()], dtype=float)
        ours, even = np.array([run[0] for run in runs()]), np.array([run[1] for run in runs()])
        share = 100.0 * float(weights @ ours[:, 0] / weights.sum())
        if not low <= share <= high:
            disqualify(case)
        fair = even[:, 1] > 1e-6 * np.median(even[:, 1])  # a target that is a sum of columns has no width to compare
        width, score = np.exp(np.mean(np.log(ours[fair, 1:] / even[fair, 1:]), axis=0))
        other = 100.0 * float(weights @ even[:, 0] / weights.sum())
        return (
            f"coverage {share:.1f} % (range {low:g} to {high:g} %); intervals of one width {other:.1f} %; "
            f"width {width:.3f} and interval score {score:.3f} of theirs"
        )

    seconds = {name: (lambda k=k: sum(run[2][k] for run in runs())) for k, name in enumerate(("intervals", "folds"))}
    case = Case(name, seconds, 2.0, at_most=True, check=remark, repeats=1, cold=True)
    return case


@cache
def class_sets(name):
    """Return coverage, mean size and seconds of sets and of folds, averaged over the seeds."""
    from sklearn import datasets
    from sklearn.preprocessing import StandardScaler

    bundled = {"iris": datasets.load_iris, "digits": datasets.load_digits, "breast cancer": datasets.load_breast_cancer}
    if name in bundled:
        X, y = bundled[name](return_X_y=True)
    else:
        K = int(name.split()[1])
        X, y = datasets.make_classification(1200, 10, n_informative=6, n_classes=K, flip_y=0.05, random_state=K)
    found = []
    for seed in range(SEEDS):
        test, train = np.split(np.random.default_rng(seed).permutation(y.size), [y.size // 3])
        Z = StandardScaler().fit(X[train]).transform(X)
        fold = np.arange(train.size) % FOLDS
        began = time.perf_counter()
        models = [hs.KernelAdaTron(gamma="scale", C=2.0).fit(Z[train[fold != k]], y[train[fold != k]]) for k in range(FOLDS)]
        outputs = np.stack([model.decision_function(Z) for model in models], axis=1)
        fitted = time.perf_counter()
        members = Sets.of(outputs[train, fold], y[train], fold).members(outputs[test], LEVEL)
        done = time.perf_counter()
        right = np.mean([np.mean(model.predict(Z[test]) == y[test]) for model in models])
        found.append(
            (np.mean(members[np.arange(test.size), y[test]]), members.sum(axis=1).mean(), right, done - fitted, fitted - began)
        )
    return np.mean(found, axis=0)


def set_case(name):
    """Return a case: the cost of sets, with their coverage and size."""

    def remark(_):
        share, size, right, *_ = class_sets(name)
        if share < 0.88:
            disqualify(case)
        return f"coverage {100 * share:.1f} % (at least 88 %), {size:.2f} classes a set; accuracy {100 * right:.1f} %"

    seconds = {who: (lambda k=k: float(class_sets(name)[3 + k])) for k, who in enumerate(("sets", "folds"))}
    case = Case(f"sets of classes at 90 %, {name}", seconds, 2.0, at_most=True, check=remark, repeats=1, cold=True)
    return case


def cases():
    """Yield intervals on generated problems and on tables, and sets of classes."""
    yield interval_case(f"intervals at 90 %, {PROBLEMS} generated problems", on_generated, 89.5, 92.0)
    if SHARED.exists():
        yield interval_case("intervals at 90 %, regression tables, held-out quarters", on_tables, 88.0, 94.0)
    for name in ("iris", "digits", "breast cancer", "generated, 2 classes", "generated, 4 classes", "generated, 8 classes"):
        yield set_case(name)
