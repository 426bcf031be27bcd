"""Small tables: fits against scikit-learn's counterparts, and sklvq's, on six sets of 150 to 1,797 rows; one row predicted.

Everybody gets the same standardised doubles and its default settings, but for what makes the work the same: `LinearSVC` takes
the hinge loss and a tolerance of 1e-4, the searches go over the same caps and widths in the same five folds. The clock
includes reading `certificate_`; what numba compiles is in the first call, which is reported apart. Searches of peers get one
process and two, and the faster one counts; sklvq runs in a Python of its own, with its default optimiser and with L-BFGS, and
its clock runs around `fit` alone.
"""

import math
import tempfile
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
from sklearn import cluster, datasets, linear_model, svm
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold

import halfspace as hs
from benchmarks.lvq_setup import SOLVERS, peer_file
from benchmarks.problems import load_shared
from benchmarks.race import Case, Result

SETS = ("iris", "wine", "breast cancer", "digits", "heart_scale", "sonar")
CAPS = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
ROWS = 200
"""Rows that are predicted one by one."""
SEEDS = 10
MEAN_BAR = 2.0
SEARCH_BAR = 30.0


@dataclass(frozen=True, eq=False)
class Small:
    """A small set with standardised columns."""

    name: str
    X: np.ndarray
    y: np.ndarray

    def __str__(self):
        return f"{self.name} {self.y.size:,} x {self.X.shape[1]}"


@cache
def standardised(name):
    """Return a set with standardised columns, or None (and a line saying so) where it is not there."""
    built_in = {"iris": datasets.load_iris, "wine": datasets.load_wine, "breast cancer": datasets.load_breast_cancer}
    built_in["digits"] = datasets.load_digits
    found = built_in[name](return_X_y=True) if name in built_in else load_shared(name)
    if found is None:
        print(f"{name}: left out, ../shared/data is not there")
        return None
    X, y = np.asarray(found[0], dtype=np.float64), np.asarray(found[1])
    spread = X.std(axis=0)
    return Small(name, np.ascontiguousarray((X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)), y)


# ------------------------------------------------------------ what a contestant does
def certified(make, data, target=None):
    """Fit one of ours and read its proof."""
    model = make().fit(data.X, data.y if target is None else target)
    if model.certificate_ is None:
        msg = f"{type(model).__name__} has no certificate"
        raise AssertionError(msg)
    return model


def fitted(make, data, target=None):
    """Fit a peer."""
    return make().fit(data.X, data.y if target is None else target)


def folds():
    """Return the folds of all searches."""
    return StratifiedKFold(5, shuffle=True, random_state=0)


def search(model, grid, n_jobs):
    """Return GridSearchCV over a grid in the common folds."""
    return GridSearchCV(model, grid, cv=folds(), n_jobs=n_jobs)


def widths(data):
    """Return ten widths from 0.1 to 100 times 1/d, and ten caps from 0.1 to 1000."""
    return np.logspace(-1.0, 2.0, 10) / data.X.shape[1], np.logspace(-1.0, 3.0, 10)


def hinge(C=1.0):
    """Return the linear machine that solves our problem."""
    return svm.LinearSVC(C=C, loss="hinge", tol=1e-4, random_state=0)


# ------------------------------------------------------------ the pairs
def pairs(data):
    """Yield, for a set, the name of an estimator, ours, and its counterparts, as functions that make them, and the bar."""
    sk = "scikit-learn"
    perceptron = partial(linear_model.Perceptron, random_state=0)
    yield "Perceptron", partial(hs.Perceptron, random_state=0), {sk: perceptron}, 1.0
    yield "AveragedPerceptron", partial(hs.AveragedPerceptron, random_state=0), {f"{sk} Perceptron": perceptron}, 1.0
    yield "AdaTron", hs.AdaTron, {f"{sk} LinearSVC": hinge}, 1.0
    caps = {"C": list(CAPS)}
    peers = {f"GridSearchCV(LinearSVC), {n} at once": partial(search, hinge(), caps, n) for n in (1, 2)}
    yield "AdaTronCV", partial(hs.AdaTronCV, Cs=CAPS, cv=folds()), peers, 1.0
    yield "KernelAdaTron", hs.KernelAdaTron, {"SVC": svm.SVC}, 1.0
    gammas, Cs = widths(data)
    grid = {"C": list(Cs), "gamma": list(gammas)}
    peers = {f"GridSearchCV(SVC), {n} at once": partial(search, svm.SVC(), grid, n) for n in (1, 2)}
    yield "KernelAdaTronCV", partial(hs.KernelAdaTronCV, Cs=Cs, gammas=gammas, cv=folds()), peers, SEARCH_BAR


def accuracy(data, outputs):
    """Return the accuracies on the training rows; raise if ours is more than two points below the best peer's.

    The last weights of a perceptron that no plane stops are those of chance: its accuracy is the mean of `SEEDS` fits, and two
    standard errors of the difference are forgiven.
    """
    right, unsure = {}, {}
    for name, model in outputs.items():
        chance = "Perceptron" in type(model).__name__
        models = [clone(model).set_params(random_state=k).fit(data.X, data.y) for k in range(SEEDS)] if chance else [model]
        shares = [np.mean(one.predict(data.X) == data.y) for one in models]
        right[name], unsure[name] = float(np.mean(shares)), float(np.var(shares)) / max(len(shares) - 1, 1)
    ours, *others = right.values()
    if ours < max(others) - 0.02 - 2.0 * math.sqrt(sum(unsure.values())):
        msg = f"less accurate on {data}: {right}"
        raise AssertionError(msg)
    return "training accuracy: " + ", ".join(f"{name} {100 * share:.1f} %" for name, share in right.items())


def classifiers(data):
    """Yield the races of classifiers on a set."""
    large = data.y.size > 1000
    for name, ours, peers, bar in pairs(data):
        contestants = {"halfspace": partial(certified, ours, data)}
        contestants |= {peer: partial(fitted, make, data) for peer, make in peers.items()}
        repeats = (1 if large else 2) if name == "KernelAdaTronCV" else 5 if name.endswith("CV") else 15
        yield Case(f"{name}, {data}", contestants, bar, check=partial(accuracy, data), repeats=repeats)


# ------------------------------------------------------------ regression, clusters, prototypes
def same_line(data, outputs):
    """Check that both regressions predict the same numbers."""
    ours, theirs = (model.predict(data.X) for model in outputs.values())
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)
    return "same predictions"


def same_centres(outputs):
    """Check that both runs of k-means end at the same bits."""
    ours, theirs = outputs.values()
    np.testing.assert_array_equal(ours.cluster_centers_, theirs.cluster_centers_)
    return f"bit-equal after {ours.n_iter_} steps"


@cache
def sklvq(name, solver):
    """Return the best of three fits of sklvq's GLVQ: seconds and accuracies."""
    data = standardised(name)
    path = Path(tempfile.mkdtemp(prefix="halfspace-small-")) / "data.npz"
    np.savez(path, X=data.X, y=data.y, X_test=data.X, y_test=data.y)
    answers = [peer_file("GLVQ", path, SOLVERS[solver]) for _ in range(3)]
    return min((answer for answer in answers if answer), key=lambda answer: answer["seconds"], default=None)


def prototypes(data):
    """Return the race of GLVQ, or None where sklvq diverged throughout."""
    answers = {f"sklvq, {solver}": sklvq(data.name, solver) for solver in ("sgd", "lbfgs")}
    answers = {name: answer for name, answer in answers.items() if answer}
    if not answers:
        return None

    def remark(outputs):
        right = {"halfspace": float(np.mean(outputs["halfspace"].predict(data.X) == data.y))}
        right |= {name: answer["train"] for name, answer in answers.items()}
        if right["halfspace"] < max(answer["train"] for answer in answers.values()) - 0.02:
            msg = f"GLVQ is less accurate on {data}: {right}"
            raise AssertionError(msg)
        return "training accuracy: " + ", ".join(f"{name} {100 * share:.1f} %" for name, share in right.items())

    known = {name: answer["seconds"] for name, answer in answers.items()}
    ours = partial(certified, partial(hs.GLVQ, random_state=0), data)
    return Case(f"GLVQ, {data}", {"halfspace": ours}, 1.0, check=remark, repeats=7, known=known)


def others(data):
    """Yield the races of regression, k-means and GLVQ on a set."""
    numbers = data.y.astype(np.float64)
    contestants = {
        "halfspace": partial(certified, hs.LinearRegression, data, numbers),
        "scikit-learn": partial(fitted, linear_model.LinearRegression, data, numbers),
    }
    yield Case(f"LinearRegression, {data}", contestants, 1.0, check=partial(same_line, data), repeats=15)
    K = np.unique(data.y).size
    contestants = {
        "halfspace": partial(certified, partial(hs.KMeans, K, random_state=0), data),
        "scikit-learn": partial(fitted, partial(cluster.KMeans, K, random_state=0), data),
    }
    yield Case(f"KMeans, {data}, K = {K}", contestants, 1.05, at_most=True, check=same_centres, repeats=15)
    race = prototypes(data)
    if race is not None:
        yield race


# ------------------------------------------------------------ one row
def one_by_one(model, data):
    """Predict rows one by one."""
    for i in range(ROWS):
        model.predict(data.X[i : i + 1])


def predictions(data):
    """Yield the races of predictions of one row."""
    for name, ours, peers, _ in pairs(data):
        if name.endswith("CV"):
            continue
        contestants = {"halfspace": partial(one_by_one, ours().fit(data.X, data.y), data)}
        contestants |= {peer: partial(one_by_one, make().fit(data.X, data.y), data) for peer, make in peers.items()}
        yield Case(f"{name}: {ROWS} rows predicted one by one, {data}", contestants, 1.0, repeats=5)


def cases():
    """Yield all races."""
    for name in SETS:
        data = standardised(name)
        if data is not None:
            yield from classifiers(data)
            yield from others(data)
    yield from predictions(standardised("breast cancer"))


def summary(results):
    """Return the geometric mean of the ratios of all fits, peer over ours."""
    fits = [r for r in results if "one by one" not in r.name]
    if not fits:
        return []
    ratios = [1.0 / r.ratio if r.at_most else r.ratio for r in fits]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    lost = ", ".join(r.name for r in fits if not r.cleared)
    title = f"geometric mean of {len(ratios)} small fits"
    remark = f"below their bars: {lost}" if lost else "all cleared their bars"
    return [Result(title, {"halfspace": 1.0, "peers": mean}, 0.0, mean, MEAN_BAR, at_most=False, remark=remark)]
