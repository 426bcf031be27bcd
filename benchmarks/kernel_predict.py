"""Predictions of kernel machines, two classes and many: rows per second, against SVC and scikit-learn-intelex."""

import time
from importlib.util import find_spec

import numpy as np

from benchmarks.kernel_setup import QUICK, Problem, disqualify, fit_peer, ours
from benchmarks.race import Case, Result

ROWS = 5_000
BARS = {"SVC": 15.0, "sklearnex": 1.0}
PROBLEMS = [
    Problem("mnist", 10_000, 0.02, 10.0),
    Problem("a9a", 10_000, 0.05, 1.0),
    Problem("covtype", 10_000, 0.1, 10.0),
    Problem("letter", 16_000, 4.0, 16.0, multiclass=True),
    Problem("usps", 7_291, 1 / 128, 10.0, multiclass=True),
]


def _predictor(who, problem, split):
    """Return a function that predicts the held-out rows with a machine fitted beforehand."""
    X, X_test = split.forms(who)
    rows = X_test[:ROWS]
    if who == "halfspace":
        options = {"multi_class": "ovo"} if problem.multiclass else {}
        model = ours(problem.C, problem.gamma, **options).fit(X, split.y)
    else:
        model = fit_peer(who, X, split.y, problem.C, problem.gamma)
    return lambda: model.predict(rows)


def _race(problem, split):
    """Return the race to predict; a peer that is slow runs once, against ours in its turn."""
    truth = split.y_test[:ROWS]
    installed = [peer for peer in BARS if peer == "SVC" or find_spec("sklearnex") is not None]
    contestants, known, answers = {"halfspace": _predictor("halfspace", problem, split)}, {}, {}
    for peer in installed:
        predict = _predictor(peer, problem, split)
        predict()
        begin = time.perf_counter()
        answers[peer] = predict()
        taken = time.perf_counter() - begin
        if taken <= QUICK[peer]:
            contestants[peer] = predict
        else:
            known[f"{peer} (once)"] = taken

    def check(outputs):
        agreeing = min(float(np.mean(outputs["halfspace"] == answer)) for answer in answers.values())
        accuracy, best = np.mean(outputs["halfspace"] == truth), max(np.mean(answer == truth) for answer in answers.values())
        worse = accuracy < best - 1e-3
        if worse:
            disqualify(case)
        missed = "**MISSED** " if worse else ""
        return f"{missed}accuracy {100 * accuracy:.2f} %, best peer {100 * best:.2f} %; {100 * agreeing:.2f} % equal answers"

    name = f"predict {truth.size / 1000:g}k rows, {problem}"
    case = Case(name, contestants, BARS["sklearnex"], check=check, repeats=5, known=known)
    return case


def cases():
    for problem in PROBLEMS:
        split = problem.split()
        if split is None:
            print(f"predict {problem}: left out, ../shared/data is not there")
            continue
        yield _race(problem, split)


def summary(results):
    """Return, for every case, the race against SVC alone, in rows per second."""
    rows = []
    for r in results:
        count = 1000 * float(r.name.split()[1].removesuffix("k"))
        peer, slow = next((name, taken) for name, taken in r.seconds.items() if name.startswith("SVC"))
        fast = r.seconds["halfspace"]
        rates = f"{count / fast:,.0f} rows/s against {count / slow:,.0f}"
        rows.append(
            Result(
                f"{r.name}, against SVC",
                {"halfspace": fast, peer: slow},
                r.first_call,
                slow / fast,
                BARS["SVC"],
                at_most=False,
                remark=rates,
                late=r.late,
            )
        )
    return rows
