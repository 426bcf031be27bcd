"""Kernel ridge regression: ten widths and twenty ridges by leave-one-out, against a grid search in folds.

Ours is one `KernelRegression` with its default search: one eigendecomposition per width and exact leave-one-out errors of all
ridges, widths left that a quarter or half of the rows rule out, then the fit and its certificate. The peer is GridSearchCV of
KernelRidge in 5 folds on the same grid: 1,000 fits, which take long, so its time is that of GridSearchCV on `SAMPLE` points
of the grid, times 200 over that: every point is the same work. Times are CPU seconds, linear algebra of both in one thread.
That leave-one-out errors are those of refits is checked on few rows.
"""

import time
from functools import cache

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.race import Case
from halfspace import KernelRegression

ROWS, SMALL = 5_000, 300
GAMMAS, RIDGES = np.geomspace(0.01, 3.0, 10), np.geomspace(1e-4, 10.0, 20)
SAMPLE = 2
"""Points of the grid that the peer is timed on."""


@cache
def problem(n, seed=0):
    """Return six features and a curved, noisy target."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    return X, np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n)


def our_seconds(n, found):
    """Return the CPU seconds of our search and fit; `found` gets the model."""
    X, y = problem(n)
    with threadpool_limits(1):
        begin = time.process_time()
        found["model"] = KernelRegression(gammas=GAMMAS, ridges=RIDGES, kernel_rows=n, n_jobs=1).fit(X, y)
        return time.process_time() - begin


def peer_seconds(n):
    """Return the CPU seconds that the peer takes for the whole grid, from some points of it."""
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.model_selection import GridSearchCV

    X, y = problem(n)
    search = GridSearchCV(KernelRidge(kernel="rbf", gamma=0.1), {"alpha": RIDGES[-SAMPLE:]}, cv=5, refit=False)
    with threadpool_limits(1):
        begin = time.process_time()
        search.fit(X, y)
        return (time.process_time() - begin) * GAMMAS.size * RIDGES.size / SAMPLE


def brute_force(n):
    """Return the largest relative difference of leave-one-out errors from those of refits, over four points of the grid."""
    X, y = problem(n)
    worst = 0.0
    for gamma in GAMMAS[[2, 7]]:
        for ridge in RIDGES[[4, 15]]:
            model = KernelRegression(gamma=gamma, ridge=ridge).fit(X, y)
            K = np.exp(-gamma * np.square(X[:, None] - X).sum(axis=2))
            refits = np.empty(n)
            for i in range(n):
                rest = np.delete(np.arange(n), i)
                A = np.ones((n, n))
                A[:-1, :-1] = K[np.ix_(rest, rest)] + ridge * np.eye(n - 1)
                A[-1, -1] = 0.0
                a = np.linalg.solve(A, np.append(y[rest], 0.0))
                refits[i] = K[i, rest] @ a[:-1] + a[-1]
            worst = max(worst, abs(model.left_out_error_ / np.mean((y - refits) ** 2) - 1.0))
    return worst


def _remark(model):
    off = brute_force(SMALL)
    if off > 1e-6:
        msg = f"leave-one-out errors differ from those of refits by {off:.2g}"
        raise AssertionError(msg)
    found = f"gamma {model.kernel_.gamma:.3g}, λ {model.ridge_:.3g}, left out {np.sqrt(model.left_out_error_):.3f}"
    return f"{found}; equal to refits at n = {SMALL} to {off:.0e}; the peer's time from {SAMPLE} of its 200 points"


def cases():
    found = {}
    yield Case(
        f"kernel ridge, {ROWS:,} rows, 10 gammas x 20 lambdas",
        {
            "halfspace": lambda: our_seconds(ROWS, found),
            "GridSearchCV(KernelRidge), 5 folds": lambda: peer_seconds(ROWS),
        },
        20.0,
        check=lambda _: _remark(found["model"]),
        repeats=1,
        cold=True,
    )
