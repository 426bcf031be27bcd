"""The ladder on the 24 tables of ../shared/data/tables, as people have them: mixed columns, gaps, classes and numbers.

Peers: GridSearchCV over SVC or SVR (7 x 7 powers of ten, C from 0.01 to 10,000 and gamma from 1e-5 to 10; 5 folds, tuned on at
most 2,000 rows, fitted to at most 10,000), and LogisticRegressionCV or RidgeCV, behind scikit-learn's usual preparation (gaps
filled in, one-hot, scaled). All learn from the same three quarters and are tested on the same quarter (seed 0). The task is
that of `halfspace.files.task_of`. The bar: an error within 5 % (RMSE) or 1.5 standard errors (accuracy) of the best peer, a
proof that verifies, and beyond 1,000 rows at most half of the grid's time. Where one class has more than 80 % of the rows, all
are judged by balanced accuracy, and the peers weigh classes.

Times are CPU seconds of all threads together, the peers' with one process: they mean the same on a busy machine. The yardstick
is not measured.

The grids take most of the time: `remembered` of benchmarks/race.py keeps what they reached, if asked, for the next run.
"""

import time
import warnings

import numpy as np

from benchmarks.kernel_setup import disqualify
from benchmarks.problems import SHARED
from benchmarks.race import Case, remembered

HALF, MANY = 2.0, 1_000
TUNE, FIT = 2_000, 10_000
NEAR, ERRORS = 1.05, 1.5


def _prepared():
    """Return scikit-learn's usual preparation of a table."""
    from sklearn.compose import ColumnTransformer, make_column_selector
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    words = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore", max_categories=50, sparse_output=False)
    )
    select = make_column_selector
    return ColumnTransformer(
        [("numbers", numbers, select(dtype_include="number")), ("words", words, select(dtype_exclude="number"))]
    )


class _Grid:
    """A grid search on at most 2,000 rows, then a fit to at most 10,000."""

    def __init__(self, model, grid, scoring):
        self.model, self.grid, self.scoring = model, grid, scoring

    def fit(self, X, y):
        from sklearn.base import clone
        from sklearn.model_selection import GridSearchCV

        rng = np.random.default_rng(0)
        few, many = (np.sort(rng.permutation(len(y))[:most]) for most in (TUNE, FIT))
        search = GridSearchCV(self.model, self.grid, cv=5, scoring=self.scoring, refit=False).fit(X.iloc[few], y[few])
        self.best = clone(self.model).set_params(**search.best_params_).fit(X.iloc[many], y[many])
        return self

    def predict(self, X):
        return self.best.predict(X)


def _peers(task, scoring):
    """Return the peers, unfitted; prices are given to both as they are."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.linear_model import LogisticRegressionCV, RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC, SVR

    C, gamma = np.logspace(-2, 4, 7), np.logspace(-5, 1, 7)
    if task == "classify":
        weights = "balanced" if scoring == "balanced_accuracy" else None
        grid = {"svc__C": C, "svc__gamma": gamma}
        linear = LogisticRegressionCV(cv=5, scoring=scoring, class_weight=weights, max_iter=1000)
        return {
            "GridSearchCV(SVC)": _Grid(make_pipeline(_prepared(), SVC(class_weight=weights)), grid, scoring),
            "LogisticRegressionCV": make_pipeline(_prepared(), linear),
        }
    scaled = TransformedTargetRegressor(make_pipeline(_prepared(), SVR()), transformer=StandardScaler())
    grid = {"regressor__svr__C": C, "regressor__svr__gamma": gamma}
    return {
        "GridSearchCV(SVR)": _Grid(scaled, grid, "neg_mean_squared_error"),
        "RidgeCV": make_pipeline(_prepared(), RidgeCV(np.logspace(-4, 4, 25))),
    }


def _case(entry, folder):
    """Run the peers on a table, and return the race against the grid search."""
    import pandas as pd

    import halfspace as hs
    from halfspace.files import task_of

    table = pd.read_csv(folder / f"{entry.name}.csv.xz").dropna(subset=[entry.target]).reset_index(drop=True)
    X, y = table.drop(columns=entry.target), table[entry.target].to_numpy()
    task = task_of(y).task
    y = y.astype(float) if task == "regress" else y.astype(str)
    rows = np.random.default_rng(0).permutation(len(y))
    test, train = np.sort(rows[: len(y) // 4]), np.sort(rows[len(y) // 4 :])
    made = hs.RegressionLadder if task == "regress" else hs.Ladder
    share = np.unique(y[train], return_counts=True)[1].max() / train.size
    scoring = "rmse" if task == "regress" else "balanced_accuracy" if share > 0.8 else "accuracy"
    peers = _peers(task, scoring)
    reached, when = remembered(entry.name, lambda: _reached(peers, (X, y), (train, test), scoring))
    fitted = {}

    def ours():
        began = time.process_time()
        fitted["ladder"] = made().fit(X.iloc[train], y[train])
        return time.process_time() - began

    def check(_):
        ladder = fitted["ladder"]
        own, best = _loss(scoring, y[test], ladder.predict(X.iloc[test])), min(error for error, _ in reached.values())
        if task == "regress":
            good = own <= NEAR * best
        else:
            spread = max(own * (1.0 - own), best * (1.0 - best)) / test.size
            if scoring == "balanced_accuracy":  # of the smallest class
                spread *= test.size / (np.unique(y[test]).size * np.unique(y[test], return_counts=True)[1].min())
            good = own <= best + ERRORS * np.sqrt(spread)
        right, proved = task == entry.task, bool(ladder.verify(X.iloc[train], y[train]))
        if not (good and right and proved):
            disqualify(case)
        told = ", ".join(f"{peer} {error:.4g} ({seconds:.2g} s)" for peer, (error, seconds) in reached.items())
        words = [
            "as good" if good else "**worse**",
            f"{scoring} error {own:.4g} ({ladder.winner_})",
            told,
            *filter(None, [when]),
        ]
        return "; ".join([*words, *(["**wrong task**"] if not right else []), *(["**refuted**"] if not proved else [])])

    bar = HALF if train.size > MANY else 0.0
    name = f"{entry.name} ({train.size:,} x {X.shape[1]}, {task})"
    grid = next(iter(reached))
    known, repeats = {grid: reached[grid][1]}, int(train.size <= MANY)  # after small tables all is compiled
    case = Case(name, {"halfspace": ours}, bar, check=check, repeats=repeats, cold=True, known=known)
    return case


def _reached(peers, data, parts, scoring):
    """Return the error on the test rows and the CPU seconds of every peer."""
    (X, y), (train, test), found = data, parts, {}
    for peer, model in peers.items():
        began = time.process_time()
        with warnings.catch_warnings(action="ignore"):
            predicted = model.fit(X.iloc[train], y[train]).predict(X.iloc[test])
        seconds = time.process_time() - began
        found[peer] = _loss(scoring, y[test], predicted), seconds
    return found


def _loss(scoring, y, predicted):
    """Return RMSE, or one less (balanced) accuracy."""
    from sklearn.metrics import accuracy_score, balanced_accuracy_score

    if scoring == "rmse":
        return float(np.sqrt(np.mean((y - predicted) ** 2)))
    return 1.0 - (accuracy_score if scoring == "accuracy" else balanced_accuracy_score)(y, predicted)


def cases():
    import pandas as pd

    folder = SHARED.parent / "tables"
    if not folder.exists():
        print("real tables: left out, ../shared/data is not there")
        return
    for entry in pd.read_csv(folder / "index.csv").sort_values("rows", kind="stable").itertuples():
        yield _case(entry, folder)
