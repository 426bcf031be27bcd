"""Linear regression: a ridge path with leave-one-out errors, plain least squares, more inputs than rows.

Ours in the first case is one `LinearRegression(ridge="cv")`: 50 values of λ, the exact leave-one-out error of each, the fit
and its certificate. The peer is `RidgeCV` on the same 50 values, and `Ridge` at the best. `python -m benchmarks.regression
[--rows N]` prints the memory of our fit beyond the data.
"""

import argparse
import time
import tracemalloc
from functools import cache

import numpy as np

from benchmarks.race import Case
from halfspace import LinearRegression, ridge_path

ROWS, WIDTH, RIDGES = 1_000_000, 50, 50


@cache
def problem(n, d, seed=0):
    """Return Gaussian rows whose columns fall in size, and noisy targets; λ matters, and the best one is inside the grid."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.geomspace(1.0, 0.03, d) + rng.standard_normal(d)
    return X, X @ (rng.standard_normal(d) / np.sqrt(d)) + 10.0 * rng.standard_normal(n)


def grid(n):
    """Return the values of λ, scaled with the number of rows."""
    return np.geomspace(1e-6, 10.0, RIDGES) * n


def ours_cv(n):
    X, y = problem(n, WIDTH)
    model = LinearRegression(ridge="cv", ridges=grid(n), intercept="free").fit(X, y)
    return model.ridge_, model.coef_


def peer_cv(n):
    from sklearn.linear_model import Ridge, RidgeCV

    X, y = problem(n, WIDTH)
    best = float(RidgeCV(alphas=grid(n)).fit(X, y).alpha_)
    return best, Ridge(alpha=best).fit(X, y).coef_


def peer_fits(n):
    from sklearn.linear_model import Ridge

    X, y = problem(n, WIDTH)
    return np.array([Ridge(alpha=ridge).fit(X, y).coef_ for ridge in grid(n)])


def _equal_cv(n):
    def check(outputs):
        (ridge, coef), (other, peer) = outputs.values()
        if not np.isclose(ridge, other, rtol=1e-12) or not 0 < np.searchsorted(grid(n), ridge) < RIDGES - 1:
            msg = f"the best ridge is {ridge}, for the peer {other}"
            raise AssertionError(msg)
        return f"same λ = {ridge:.4g} of {RIDGES}, {_difference(coef, peer)}"

    return check


def _difference(coef, peer):
    apart = float(np.abs(coef - peer).max() / np.abs(peer).max())
    if apart > 1e-8:
        msg = f"the weights differ by {apart:.2g}"
        raise AssertionError(msg)
    return f"weights equal to {apart:.0e}"


def _equal(outputs):
    return _difference(*outputs.values())


def _least_squares(n, d):
    from sklearn.linear_model import LinearRegression as Peer

    X, y = problem(n, d)
    return Case(
        f"least squares, {n:,} x {d}",
        {"halfspace": lambda: LinearRegression(intercept="free").fit(X, y).coef_, "sklearn": lambda: Peer().fit(X, y).coef_},
        1.0,
        check=_equal,
        repeats=3,
    )


def _wide(n, d):
    from sklearn.linear_model import Ridge

    X, y = problem(n, d)
    return Case(
        f"ridge, {n:,} x {d:,}: more inputs than rows",
        {
            "halfspace": lambda: LinearRegression(ridge=1.0, intercept="free").fit(X, y).coef_,
            "sklearn Ridge": lambda: Ridge(alpha=1.0).fit(X, y).coef_,
        },
        1.0,  # ours adds standard errors, as much work again as the fit, and a certificate
        check=_equal,
        repeats=3,
    )


def cases():
    yield Case(
        f"ridge path, {ROWS:,} x {WIDTH}, {RIDGES} ridges with leave-one-out errors",
        {"halfspace": lambda: ours_cv(ROWS), "sklearn RidgeCV + Ridge": lambda: peer_cv(ROWS)},
        3.0,
        check=_equal_cv(ROWS),
        repeats=1,
    )
    n = ROWS // 10
    yield Case(
        f"ridge path, {n:,} x {WIDTH}, weights of {RIDGES} ridges",
        {
            "halfspace ridge_path": lambda: ridge_path(*problem(n, WIDTH), grid(n), intercept="free").coefs,
            f"{RIDGES} x sklearn Ridge": lambda: peer_fits(n),
        },
        3.0,
        check=_equal,
        repeats=2,
    )
    yield _least_squares(ROWS, WIDTH)
    yield _wide(1_000, 20_000)


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.regression", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    rows = parser.parse_args().rows
    X, _ = problem(rows, WIDTH)
    ours_cv(1000)  # compiles
    begin = time.perf_counter()
    ours_cv(rows)
    taken = time.perf_counter() - begin
    tracemalloc.start()
    ours_cv(rows)
    more = tracemalloc.get_traced_memory()[1] / 2**20
    print(f"{rows:,} x {WIDTH}: {taken:.2f} s, {more:.0f} MB beyond the {X.nbytes / 2**20:.0f} MB of the data")


if __name__ == "__main__":
    main()
