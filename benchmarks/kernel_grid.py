"""Choosing C and gamma: 5 folds x 10 x 10, against GridSearchCV with SVC and scikit-learn-intelex, and against liquidSVM.

GridSearchCV gets two processes, and runs once. liquidSVM chooses its own grid; ours then races it on that same grid, without
a bias, as liquidSVM has none: its width g is our gamma = 1/g², its lambda our C = 1/(2·lambda·rows in four folds). liquidSVM
stops at a gap of 1e-3 of C times the number of rows, ours at a gap of 1e-2 of the objective itself.
"""

import json
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.kernel_setup import POINT, ROOT, disqualify, run_child, sample, seconds_of
from benchmarks.race import Case, Result

BASE = {"covtype": 0.1, "a9a": 0.05}
SIZES = (2_000, 5_000)
LIMIT = {"SVC": 1800.0, "sklearnex": 900.0, "liquidSVM": 300.0}
"""Seconds after which a peer is stopped."""
BARS = {"SVC": 30.0, "sklearnex": 5.0, "liquidSVM": 1.0}
ELSEWHERE = ROOT / ".venv" / "liquidsvm"

START = """
import json, sys, sysconfig, time
sysconfig.get_config_vars()["SO"] = sysconfig.get_config_var("EXT_SUFFIX")  # gone from Python 3.11, read by liquidSVM
import numpy as np
import liquidSVM
"""
LIQUID = f"""{START}
data = np.load(sys.argv[1])
begin = time.perf_counter()
model = liquidSVM.mcSVM(data["X"], np.where(data["y"] == 1, 1.0, -1.0), threads=2, folds=5, display=0)
taken = time.perf_counter() - begin
table = np.array(model.errTrain)  # columns: task, cell, fold, gamma, weight, lambda, training error, validation error, ...
widths, lambdas = np.unique(table[:, 3]), np.unique(table[:, 5])
errors = [table[(table[:, 3] == w) & (table[:, 5] == l), 7].mean() for w in widths for l in lambdas]
print(json.dumps(dict(seconds=taken, widths=list(widths), lambdas=list(lambdas), error=min(errors))))
"""


def grid(name):
    """Return ten values of C and ten of gamma."""
    return np.logspace(-1.0, 3.0, 10), BASE[name] * np.logspace(-2.0, 1.0, 10)


def folds():
    """Return the folds that everybody uses except liquidSVM, which cuts its own."""
    from sklearn.model_selection import StratifiedKFold

    return StratifiedKFold(5, shuffle=True, random_state=0)


def _search(peer, name, n):
    """Run GridSearchCV in this process (a child's); return its seconds and its best score."""
    from sklearn.model_selection import GridSearchCV

    if peer == "SVC":
        from sklearn.svm import SVC
    else:
        from sklearnex.svm import SVC
    split = sample(name, n)
    X, _ = split.forms(peer)
    Cs, gammas = grid(name)
    GridSearchCV(SVC(), {"C": [1.0]}, cv=2, n_jobs=2).fit(X[:200], split.y[:200])  # starts the two processes
    begin = time.perf_counter()
    search = GridSearchCV(SVC(), {"C": Cs, "gamma": gammas}, cv=folds(), n_jobs=2).fit(X, split.y)
    return {"seconds": time.perf_counter() - begin, "score": float(search.best_score_)}


def _chosen(Cs, gammas, split, intercept):
    """Choose among a grid with our machine."""
    import halfspace as hs

    X, _ = split.forms("halfspace")
    model = hs.KernelAdaTronCV(kernel="rbf", Cs=Cs, gammas=gammas, cv=folds(), tol=1e-2, intercept=intercept, n_jobs=2)
    return model.fit(X, split.y)


def _score(model):
    return float(np.max(model.cv_results_["mean_test_score"]))


def _against_search(name, n, split):
    """Return the race against GridSearchCV; both peers run once, beforehand."""
    known, scores, remarks = {}, [], []
    for peer in ("SVC", "sklearnex"):
        if peer == "sklearnex" and find_spec("sklearnex") is None:
            remarks.append("sklearnex is not installed")
            continue
        answer = run_child(["-m", "benchmarks.kernel_grid", peer, name, str(n)], LIMIT[peer])
        known[f"{peer} (once)"] = LIMIT[peer] if answer is None else answer["seconds"]
        if answer is None:
            remarks.append(f"{peer} was stopped after {LIMIT[peer]:.0f} s, which count as its time")
        else:
            scores.append(answer["score"])
    Cs, gammas = grid(name)

    def check(outputs):
        model, best = outputs["halfspace"], max(scores, default=0.0)
        short = _score(model) < best - POINT
        if short:
            disqualify(case)
        told = f"best accuracy {100 * _score(model):.2f} %, GridSearchCV {100 * best:.2f} %"
        chose = ", ".join(f"{key}={value:g}" for key, value in model.best_params_.items())
        return "; ".join([("**MISSED** " if short else "") + told, chose, *remarks])

    contestants = {"halfspace": lambda: _chosen(Cs, gammas, split, "free")}
    title = f"5-fold CV of 10 x 10 (C, gamma), {name} {n // 1000}k, GridSearchCV with two processes"
    case = Case(title, contestants, BARS["sklearnex"], check=check, repeats=3, known=known)
    return case


def liquid_python():
    """Return the Python of the little environment of liquidSVM, made on first use; None, with a line why, if it cannot be."""
    python, ready = ELSEWHERE / "bin" / "python", ELSEWHERE / "ready"
    if ready.exists():
        return python
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    steps = [
        [sys.executable, "-m", "venv", ELSEWHERE],
        [*install, "--constraint", ROOT / "constraints.txt", "numpy", "setuptools==80.9.0"],  # later ones lack pkg_resources
        [*install, "--no-build-isolation", "--no-deps", "liquidSVM==1.0.1"],  # compiled on the spot
        [python, "-W", "ignore", "-c", START],
    ]
    try:
        for step in steps:
            subprocess.run(step, check=True, timeout=600, capture_output=True, text=True)
    except (subprocess.SubprocessError, OSError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[-1:]
        print(f"liquidSVM: left out, its environment cannot be made (it needs a C++ compiler): {' '.join(said)}")
        return None
    ready.touch()
    return python


def _against_liquid(name, n, split, python):
    """Return the race against liquidSVM on its own grid; both tell their own time, and run in turn."""
    X, _ = split.forms("halfspace")
    seen = {}

    def liquid():
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "data.npz"
            np.savez(file, X=X.astype(np.float64), y=split.y)
            seen["liquidSVM"] = run_child(["-c", LIQUID, str(file)], LIMIT["liquidSVM"], python)
        return LIMIT["liquidSVM"] if seen["liquidSVM"] is None else seen["liquidSVM"]["seconds"]

    def ours():
        begin = time.perf_counter()
        seen["halfspace"] = _chosen(Cs, gammas, split, "none")
        return time.perf_counter() - begin

    def check(_):
        accuracy, peer = _score(seen["halfspace"]), 1.0 - (seen["liquidSVM"] or {"error": 1.0})["error"]
        short = accuracy < peer - 0.02
        if short:
            disqualify(case)
        told = f"best accuracy {100 * accuracy:.2f} %, liquidSVM {100 * peer:.2f} % on other folds"
        return ("**MISSED** " if short else "") + told

    liquid()
    answer = seen["liquidSVM"]
    if answer is None:
        print(f"liquidSVM on {name} {n}: left out, it was stopped after {LIMIT['liquidSVM']:.0f} s")
        return None
    Cs = 1.0 / (2.0 * np.array(answer["lambdas"][::-1]) * (0.8 * n))
    gammas = 1.0 / np.array(answer["widths"][::-1]) ** 2
    title = f"5-fold CV of 10 x 10 on liquidSVM's own grid, no bias, {name} {n // 1000}k"
    case = Case(title, {"halfspace": ours, "liquidSVM": liquid}, BARS["liquidSVM"], check=check, repeats=3, cold=True)
    return case


def cases():
    if sample("covtype", SIZES[0]) is None:
        print("grids of C and gamma: left out, ../shared/data is not there")
        return
    python = liquid_python()
    for n in SIZES:
        for name in BASE:
            split = sample(name, n)
            yield _against_search(name, n, split)
            case = _against_liquid(name, n, split, python) if python else None
            if case is not None:
                yield case


def summary(results):
    """Return the races against GridSearchCV with SVC alone, which have a bar of their own."""
    rows = []
    for r in results:
        slow, fast = seconds_of(r, "SVC"), r.seconds["halfspace"]
        if slow is not None:
            times = {"halfspace": fast, "SVC (once)": slow}
            title = f"{r.name}: against SVC"
            rows.append(Result(title, times, r.first_call, slow / fast, BARS["SVC"], at_most=False, late=r.late))
    return rows


if __name__ == "__main__":
    print(json.dumps(_search(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
