"""As accurate as boosted trees? 31 classification sets and 13 tables of numbers, ours against the peers people use on tables.

Random 75/25 splits (5; 3 above 2,000 rows), stratified for classes, the same for everyone; large sets are samples. All methods
read the columns that one `TableEncoder` learnt from the training rows. Everything runs on one thread; seconds are CPU seconds
of the whole procedure, choice of parameters included. `DEAR` ones run on the first split only, except up to `FEW` rows; those
in `CAPPED` each in a process that ends after `CAP` CPU seconds. Scores are accuracies, or root mean squared errors of numbers.

    python -m benchmarks.relevance HGB RF            # runs these columns; --sets sonar pima, --again, --first, --every
    python -m benchmarks.relevance                   # prints the tables; python -m benchmarks --tables writes docs/tables.md

What has run is kept in results/relevance.json with the commit or the version that ran it, and is not run again.
"""

import argparse
import fcntl
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from benchmarks.problems import SHARED, load_shared

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "benchmarks" / "results" / "relevance.json"
FEW, CAP = 1_500, 300
"""Rows up to which dear peers run on all splits, and the CPU seconds after which they are stopped."""
TUNE, LEARN = 2_000, 10_000
"""Most rows on which the grid of the support vector machines chooses, and from which it learns."""
TABLES = ["biopsy", "Pima.tr2", "Hdma", "survey", "Chile", "Train", "turnout", "titanic", "Participation", "OME", "lung"]
SETS = ["sonar", "ionosphere", "australian", "pima", "vowel", "banknote", "splice", "madelon", "spambase"]
SAMPLES = {
    "svmguide1": 4_000,
    "mushrooms": 4_000,
    "skin_nonskin": 10_000,
    "a9a": 6_000,
    "optdigits": 3_000,
    "ijcnn1": 10_000,
    "higgs_sample": 10_984,
    "letter": 6_000,
    "usps": 2_500,
    "clarity": 12_000,
    "covtype": 20_000,
}
CLASSES = [*TABLES, *SETS, *SAMPLES]
NUMBERS = ["Housing", "mpg", "Salaries", "Caschool", "CPSch3", "BudgetFood", "airquality", "quakes", "cpus"]
NUMBERS += ["faithful", "nlschools", "mcycle", "diamonds"]
MOST_NUMBERS = 12_000


def _table(name):
    """Return columns and target of a table."""
    import pandas as pd

    folder = SHARED.parent / "tables"
    index = pd.read_csv(folder / "index.csv").set_index("name")
    file, target = ("diamonds", "clarity") if name == "clarity" else (name, index.target[name])
    table = pd.read_csv(folder / f"{file}.csv.xz").dropna(subset=[target]).reset_index(drop=True)
    return table.drop(columns=target), table[target].to_numpy()


def _whole(name):
    """Return all rows of a set, shape (n, d), its test part included, and its labels."""
    from scipy import sparse

    X, y, X_test, y_test = load_shared(name)
    X, X_test = (x.toarray() if sparse.issparse(x) else x for x in (X, X_test))
    if X_test is not None:
        X, y = np.vstack([X, X_test]), np.concatenate([y, y_test])
    return X.astype(np.float64), y


@cache
def rows_of(name):
    """Return rows and targets of a set: an array or a data frame, and classes from 0 or floats."""
    X, y = _table(name) if name in [*TABLES, *NUMBERS, "clarity"] else _whole(name)
    most = SAMPLES.get(name, MOST_NUMBERS if name in NUMBERS else len(y))
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:most])
    X = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
    return X, (y[rows].astype(float) if name in NUMBERS else np.unique(y[rows].astype(str), return_inverse=True)[1])


def n_splits(name):
    """Return the number of splits of a set."""
    return 5 if len(rows_of(name)[1]) <= 2_000 else 3


@cache
def split(name, k):
    """Return encoded training rows, their targets, encoded test rows and theirs, of a split."""
    from sklearn.model_selection import train_test_split

    import halfspace as hs

    X, y = rows_of(name)
    train, test = train_test_split(np.arange(len(y)), test_size=0.25, random_state=k, stratify=y if name in CLASSES else None)
    some = X.iloc if hasattr(X, "iloc") else X
    encoder = hs.TableEncoder().fit(some[train])
    Z, Z_test = (z.toarray() if hasattr(z, "toarray") else z for z in map(encoder.transform, (some[train], some[test])))
    return Z, y[train], Z_test, y[test]


def _boosted(task, **settings):
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    made = HistGradientBoostingClassifier if task == "classes" else HistGradientBoostingRegressor
    return made(random_state=0, **settings)


def _searched(model, grid, folds=3):
    from sklearn.model_selection import GridSearchCV

    return GridSearchCV(model, grid, cv=folds, scoring=None if hasattr(model, "predict_proba") else "neg_mean_squared_error")


def _tuned_boosted(task):
    grid = {"learning_rate": (0.03, 0.1), "max_leaf_nodes": (6, 31), "min_samples_leaf": (5, 20)}
    return _searched(_boosted(task), grid)


def _forest(task):
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    return (RandomForestClassifier if task == "classes" else RandomForestRegressor)(300, random_state=0, n_jobs=1)


def _catboost(task):
    from catboost import CatBoostClassifier, CatBoostRegressor

    made = CatBoostClassifier if task == "classes" else CatBoostRegressor
    return made(random_seed=0, thread_count=1, verbose=False, allow_writing_files=False)


def _lightgbm(task):
    from lightgbm import LGBMClassifier, LGBMRegressor

    return (LGBMClassifier if task == "classes" else LGBMRegressor)(random_state=0, n_jobs=1, verbose=-1)


def _linear(task):
    from sklearn.linear_model import LogisticRegressionCV, RidgeCV

    if task == "numbers":
        return RidgeCV(np.logspace(-4, 4, 25))
    return LogisticRegressionCV(Cs=np.logspace(-3, 3, 7), cv=3, max_iter=200, use_legacy_attributes=False, l1_ratios=(0.0,))


class _Vectors:
    """Support vector machines, C and width chosen on at most 2,000 rows, fitted to at most 10,000."""

    def __init__(self, task):
        self.task = task

    def fit(self, X, y):
        from sklearn.base import clone
        from sklearn.compose import TransformedTargetRegressor
        from sklearn.model_selection import GridSearchCV
        from sklearn.preprocessing import StandardScaler
        from sklearn.svm import SVC, SVR

        name = "" if self.task == "classes" else "regressor__"
        model = SVC() if self.task == "classes" else TransformedTargetRegressor(SVR(), transformer=StandardScaler())
        grid = {f"{name}C": (0.3, 3.0, 30.0, 300.0), f"{name}gamma": tuple(np.array([0.05, 0.2, 0.8, 3.0]) / X.shape[1])}
        order = np.random.default_rng(0).permutation(len(y))
        few, many = order[:TUNE], order[:LEARN]
        search = GridSearchCV(model, grid, cv=3, refit=False).fit(X[few], y[few])
        self.best = clone(model).set_params(**search.best_params_).fit(X[many], y[many])
        return self

    def predict(self, X):
        return self.best.predict(X)


class _RecursiveFeatureMachine:
    """The package xrfm: two bandwidths times three ridges, the best on a fifth of the rows."""

    def __init__(self, task):
        from xrfm import xRFM

        self.task, self.made = task, xRFM

    def fit(self, X, y):
        from sklearn.model_selection import train_test_split

        numbers = self.task == "numbers"
        self.mean, self.spread = (y.mean(), y.std() or 1.0) if numbers else (0, 1)
        target = (((y - self.mean) / self.spread)[:, None] if numbers else y).astype(np.float32 if numbers else np.int64)
        train, held = train_test_split(np.arange(len(y)), test_size=0.2, random_state=0, stratify=None if numbers else y)
        X, best = X.astype(np.float32), np.inf
        for bandwidth in (5.0, 20.0):
            for ridge in (1e-3, 1e-2, 1e-1):
                shape = {"kernel": "l2", "bandwidth": bandwidth, "exponent": 1.0, "diag": False, "bandwidth_mode": "constant"}
                run = {"reg": ridge, "iters": 3, "verbose": False, "early_stop_rfm": True, "return_best_params": True}
                metric = "mse" if numbers else "accuracy"
                model = self.made({"model": shape, "fit": run}, device="cpu", tuning_metric=metric, n_threads=1, verbose=False)
                model.fit(X[train], target[train], X[held], target[held])
                answers = np.asarray(model.predict(X[held])).ravel()
                loss = np.mean(np.square(answers - target[held].ravel()) if numbers else answers != target[held])
                if loss < best:
                    best, self.model = loss, model
        return self

    def predict(self, X):
        answers = np.asarray(self.model.predict(X.astype(np.float32))).ravel()
        return answers * self.spread + self.mean if self.task == "numbers" else answers


def _relevance(task):
    import halfspace as hs

    return (hs.RelevanceKernelClassifier if task == "classes" else hs.RelevanceKernelRegressor)(random_state=0, n_jobs=1)


class _LargeMargin:
    """The metric of the relevance kernel machine, and in the place of ridge a plane of large margin, C by 3 folds."""

    def __init__(self, task):
        if task == "numbers":
            raise LookupError("a large margin is one between classes")

    def fit(self, X, y):
        import halfspace as hs

        kernel = _relevance("classes").fit(X, y).kernel_
        self.model = hs.KernelAdaTronCV(kernel, Cs=(0.1, 1.0, 10.0, 100.0), cv=3, n_jobs=1).fit(X, y)
        return self

    def predict(self, X):
        return self.model.predict(X)


def _ladder(task):
    import halfspace as hs

    shared = {"test_size": 0.0, "curve": False, "n_jobs": 1}
    return hs.Ladder(scoring="accuracy", **shared) if task == "classes" else hs.RegressionLadder(**shared)


PEERS = {
    "HGB": (_boosted, "scikit-learn", "HistGradientBoosting as it comes"),
    "RF": (_forest, "scikit-learn", "random forest of 300 trees"),
    "LightGBM": (_lightgbm, "lightgbm", "as it comes"),
    "linear": (_linear, "scikit-learn", "LogisticRegressionCV (7 values of C, 3 folds) or RidgeCV (25 values)"),
    "HGB tuned": (_tuned_boosted, "scikit-learn", "rate 0.03 or 0.1, 6 or 31 leaves, 5 or 20 rows a leaf, by 3 folds"),
    "CatBoost": (_catboost, "catboost", "as it comes"),
    "SVM": (_Vectors, "scikit-learn", "SVC or SVR, 4 values of C, 4 widths, 3 folds, on at most 2,000 rows"),
    "large margin": (_LargeMargin, "halfspace", "the metric of relevance, then KernelAdaTronCV over 4 values of C, 3 folds"),
    "xrfm": (_RecursiveFeatureMachine, "xrfm", "2 bandwidths, 3 ridges, by a fifth of the rows"),
}
OURS = {"relevance": (_relevance, "halfspace", "as it comes"), "ladder": (_ladder, "halfspace", "as it comes")}
COLUMNS = OURS | PEERS
CAPPED = ("HGB tuned", "CatBoost", "SVM", "xrfm")
DEAR = (*CAPPED, "linear", "ladder")


def scored(column, name, k):
    """Fit a method to a split, and return its score, CPU seconds, and for classes the balanced accuracy and the log loss."""
    from sklearn.metrics import balanced_accuracy_score, log_loss

    task = "classes" if name in CLASSES else "numbers"
    X, y, X_test, y_test = split(name, k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _warm(column, task)
        model, began = COLUMNS[column][0](task), time.process_time()
        model.fit(X, y)
        answers = np.asarray(model.predict(X_test)).ravel()
        told = {"cpu": time.process_time() - began, "tested": y_test.size}
        if task == "numbers":
            return told | {"score": float(np.sqrt(np.mean(np.square(answers - y_test))))}
        told |= {"score": float(np.mean(answers == y_test)), "balanced": float(balanced_accuracy_score(y_test, answers))}
        if hasattr(model, "predict_proba"):
            told["log_loss"] = float(log_loss(y_test, np.clip(model.predict_proba(X_test), 1e-6, 1.0), labels=np.unique(y)))
    return told


def _within(column, name, k, queue):
    """Score in a process that may compute for `CAP` seconds."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + CAP, resource.RLIM_INFINITY))
    queue.put(scored(column, name, k))


def capped(column, name, k):
    """Return what `scored` does, or that the time was not enough."""
    split(name, k)
    fork = multiprocessing.get_context("fork")
    queue = fork.SimpleQueue()
    process = fork.Process(target=_within, args=(column, name, k, queue))
    process.start()
    while process.is_alive() and queue.empty():
        time.sleep(0.05)
    told = None if queue.empty() else queue.get()
    process.join()
    return told or {"stopped": CAP if process.exitcode == -24 else f"exit code {process.exitcode}"}


@cache
def _warm(column, task):
    """Let what is loaded or compiled at the first call be there before the clock runs."""
    sizes = (200, 6_000) if column in OURS else (60,)
    for n in sizes:
        X = np.random.default_rng(0).standard_normal((n, 3))
        for y in (np.arange(n) % 2, np.arange(n) % 3) if task == "classes" else (np.exp(X[:, 0]),):
            COLUMNS[column][0](task).fit(X, y).predict(X)


def commit():
    """Return the commit of this checkout, with a star if its sources have changed since."""
    asked = (["git", "rev-parse", "--short", "HEAD"], ["git", "status", "--porcelain", "src"])
    short, changed = (subprocess.run(one, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip() for one in asked)
    return short + "*" * bool(changed)


def by_whom(column):
    """Return what runs a column: our commit, or a package and its version."""
    package = COLUMNS[column][1]
    try:
        return f"commit {commit()}" if package == "halfspace" else f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} is not installed"


@contextmanager
def opened():
    """Hand out what is kept, and keep what becomes of it; other processes wait."""
    with Path(tempfile.gettempdir(), "halfspace-relevance.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
        yield kept
        KEPT.write_text(json.dumps(kept, indent=0, sort_keys=True) + "\n", encoding="utf-8")


def run(columns, names, *, again=False, first=False, every=False, seconds=np.inf):
    """Run what has not run yet: all first splits before all second ones; after some seconds nothing more is begun."""
    began = time.monotonic()
    for k in range(5):
        for name in names:
            n = len(rows_of(name)[1])
            for column in columns:
                only = first or (column in DEAR and n > FEW and not every)
                key, who = f"{name} {k}", by_whom(column)
                if k >= n_splits(name) or (only and k > 0):
                    continue
                with opened() as kept:
                    there = kept.get(column, {}).get(key)
                if there and not (again and there["by"] != who):
                    continue
                if time.monotonic() - began > seconds:
                    return
                told = tried(column, name, k) | {"by": who}
                with opened() as kept:
                    kept.setdefault(column, {})[key] = told
                print(column, key, told, flush=True)


def tried(column, name, k):
    """Return what a run of a method on a split gave, or why it did not."""
    try:
        if column in CAPPED:
            return capped(column, name, k)
        return scored(column, name, k)
    except Exception as error:  # noqa: BLE001 - a column with a hole is better than none
        return {"stopped": f"{type(error).__name__}: {error}"[:200]}


def results():
    """Return the scores kept by column, set and split: those of methods that came to an end."""
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    found = {}
    for column in (one for one in COLUMNS if one in kept):
        for key, told in sorted(kept[column].items()):
            name, _, k = key.rpartition(" ")
            if "score" in told:
                found.setdefault(column, {}).setdefault(name, {})[int(k)] = told
    return found, {column: sorted({told["by"] for told in part.values()}) for column, part in kept.items() if column in COLUMNS}


def difference(ours, peer, name):
    """Return how much better ours is on the splits of both, points of accuracy or per cent of the peer's error, and its error.

    Of one split it is the error of two independent shares, or of two independent mean squares, on its test rows.
    """
    both = sorted(set(ours) & set(peer))
    mine, theirs = (np.array([one[k]["score"] for k in both]) for one in (ours, peer))
    better = 100.0 * (mine - theirs if name in CLASSES else (theirs - mine) / theirs.mean())
    if len(both) > 1:
        return better.mean(), better.std(ddof=1) / np.sqrt(len(both))
    n = ours[both[0]]["tested"]
    return better[0], 100.0 * np.sqrt((mine * (1 - mine) + theirs * (1 - theirs))[0] / n if name in CLASSES else 1.0 / n)


def _cell(part, name):
    """Return the mean score of a set and its CPU seconds; a star if only one split ran."""
    if name not in part:
        return ""
    score, cpu = (np.mean([told[what] for told in part[name].values()]) for what in ("score", "cpu"))
    star = "\\*" if len(part[name]) == 1 else ""
    return f"{100 * score:.1f}{star} ({cpu:.2g})" if name in CLASSES else f"{score:.4g}{star} ({cpu:.2g})"


def _counts(found, ours, peer, names):
    """Return how often ours is better, within one standard error, and worse, and by how much on average."""
    both = [name for name in names if name in found[ours] and name in found[peer]]
    if not both:
        return None
    told = np.array([difference(found[ours][name], found[peer][name], name) for name in both])
    wins, losses = int((told[:, 0] > told[:, 1]).sum()), int((told[:, 0] < -told[:, 1]).sum())
    return wins, len(both) - wins - losses, losses, told[:, 0].mean()


def _summary(found, names):
    """Return the table of wins, ties and losses of ours against each other column."""
    mine = [column for column in OURS if column in found]
    if not mine:
        return ["Ours have not run yet."]
    lines = [f"| peer | its median CPU s | {' | '.join(f'{column}: better, tied, worse; mean' for column in mine)} |"]
    lines += ["|---" * (2 + len(mine)) + "|"]
    for peer in found:
        cpu = [told["cpu"] for name, part in found[peer].items() if name in names for told in part.values()]
        cells = [_counts(found, column, peer, names) if column != peer else None for column in mine]
        told = ["" if c is None else f"{c[0]}, {c[1]}, {c[2]}; {c[3]:+.2f}" for c in cells]
        lines.append(f"| {peer} | {np.median(cpu) if cpu else np.nan:.2g} | {' | '.join(told)} |")
    return lines


def page():
    """Return the lines of docs/tables.md that are measured."""
    found, by = results()
    if not found:
        return []
    lines = ["What ran, and how it was tuned:", ""]
    lines += [f"- {column} ({', '.join(by[column])}): {COLUMNS[column][2]}" for column in found]
    for title, names, unit in (
        ("Classes", CLASSES, "accuracy in %, differences in points"),
        ("Numbers", NUMBERS, "root mean squared error, differences in % of the peer's"),
    ):
        lines += ["", f"## {title}: {unit}", "", *_summary(found, names), ""]
        lines += [f"| set | {' | '.join(found)} |", "|---" * (1 + len(found)) + "|"]
        lines += [f"| {name} | {' | '.join(_cell(found[column], name) for column in found)} |" for name in names]
    return lines


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.relevance", description=__doc__)
    parser.add_argument("columns", nargs="*", help=f"of {', '.join(COLUMNS)}")
    parser.add_argument("--sets", nargs="+", default=[*CLASSES, *NUMBERS])
    parser.add_argument("--again", action="store_true", help="also what another version or commit ran")
    parser.add_argument("--first", action="store_true", help="first splits only")
    parser.add_argument("--every", action="store_true", help="every split, of dear columns too")
    parser.add_argument("--seconds", type=float, default=np.inf, help="begin nothing more after so many")
    options = parser.parse_args()
    if unknown := {*options.columns} - {*COLUMNS} | {*options.sets} - {*CLASSES, *NUMBERS}:
        parser.error(f"no such column or set: {', '.join(sorted(unknown))}")
    chosen = {"again": options.again, "first": options.first, "every": options.every, "seconds": options.seconds}
    run(options.columns, options.sets, **chosen)
    if not options.columns:
        print("\n".join(page()))


if __name__ == "__main__":
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    if any(os.environ.get(name) != "1" for name in threads):  # they are read when libraries are loaded
        os.environ.update(dict.fromkeys(threads, "1"))
        os.execv(sys.executable, [sys.executable, "-m", "benchmarks.relevance", *sys.argv[1:]])  # noqa: S606 - itself
    main()
