"""Exact leave-one-out errors against fitting n times, and the bound behind them against the truth.

The race: `hs.leave_one_out` with its proof, and LinearSVC (hinge loss, the same clamped bias) fitted once for every example
that is left out. Both must find the same errors. Times are CPU seconds of one run, as the peer takes long.
The checks: random problems, random strengths of gaps from about 1e-6 to 100; no example that the bound clears may be wrong, and
none may have a potential below it, when the model is learnt again without it to a gap of 1e-9.
"""

import time
from functools import cache

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC

from benchmarks.problems import load_shared
from benchmarks.race import Case, Result
from halfspace import AdaTron, leave_one_out
from halfspace.certificates import DualityGap
from halfspace.certificates.margins.leave_one_out import LeaveOneOut

C, CHECKS = 0.01, 5_000


@cache
def data(name):
    if name == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return scale(X), y
    X, y, *_ = load_shared(name)
    return scale(X.astype(np.float64)), y


FOUND = {}


def timed(name, who, count):
    def work():
        begin = time.process_time()
        FOUND[name, who] = count(*data(name))
        return time.process_time() - begin

    return work


def ours(X, y):
    proof = leave_one_out(AdaTron(C=C), X, y)
    return proof.errors, proof.undecided


def brute_force(X, y):
    wrong, rows = 0, np.arange(y.size)
    for i in rows:
        model = LinearSVC(C=C, loss="hinge", tol=1e-4, max_iter=10_000).fit(X[rows != i], y[rows != i])
        wrong += model.predict(X[[i]])[0] != y[i]
    return wrong, 0


def remark(name, _):
    """Check that both found the same errors."""
    mine, theirs = FOUND[name, "halfspace"], FOUND[name, "LinearSVC"]
    if mine != theirs:
        message = f"{name}: errors and undecided {mine}, LinearSVC {theirs}"
        raise AssertionError(message)
    return f"{mine[0]} errors of {data(name)[1].size:,}, none undecided; the same by both"


def cases():
    """Yield one case per set."""
    for name in ("breast cancer", "spambase"):
        if name == "breast cancer" or load_shared(name) is not None:
            ours(*data(name))  # compiles
            runs = {who: timed(name, who, work) for who, work in (("halfspace", ours), ("LinearSVC", brute_force))}
            yield Case(f"leave one out, {name}", runs, bar=10.0, repeats=0, check=lambda _, name=name: remark(name, _))


def checked(seed):
    """Return how many examples were compared with the truth, and how many violate the bound."""
    rng = np.random.default_rng(seed)
    n, d, cap = int(rng.integers(15, 40)), int(rng.integers(1, 6)), 10.0 ** rng.uniform(-2, 1)
    y = rng.integers(0, 2, n)
    y[:4] = 0, 1, 0, 1
    X = rng.standard_normal((n, d)) + rng.uniform(0, 2) * (2 * y[:, None] - 1)
    rows, s = np.arange(n), 2.0 * y - 1.0
    truth = np.array(
        [s[i] * AdaTron(C=cap, tol=1e-9).fit(X[rows != i], y[rows != i]).decision_function(X[[i]])[0] for i in rows]
    )
    best, compared, violations = AdaTron(C=cap, tol=1e-9).fit(X, y).alpha_, 0, 0
    for noise in (0.0, 1e-4, 1e-2, 0.1, 1.0):
        alpha = np.clip(best + noise * cap * rng.uniform(-1, 1, n), 0.0, cap)
        w = np.append(X.T @ (alpha * s), alpha @ s)
        gap = DualityGap.measure(X, y, weights=w, strengths=alpha, C=cap, clamp=1.0, positive=1)
        cleared = np.setdiff1d(rows, LeaveOneOut.draft(X, y, gap).suspects)
        compared, violations = compared + n, violations + int((truth[cleared] <= 0).sum())
    return compared, violations


def summary(_):
    """Return the violations of the bound."""
    compared = violations = seed = 0
    while compared < CHECKS:
        more, wrong = checked(seed)
        compared, violations, seed = compared + more, violations + wrong, seed + 1
    said = f"{compared:,} examples of {seed} random problems, gaps from rounding to the size of the optimum"
    name = "leave one out: examples cleared by the bound that are wrong (number, not s)"
    return [Result(name, {"ours": float(violations), "allowed": 0.0}, 0.0, float(violations), 0.0, at_most=True, remark=said)]
