"""Neural gas with 100 prototypes against the same rule as a vectorised NumPy loop, and whether an epoch is linear in rows.

Ours is a whole fit: checks, ten epochs, assignment, error and certificate. A presentation of the NumPy loop costs the same
from the first to the last, so its ten epochs are timed by one in ten of the presentations, spread over all of the annealing;
it runs in full once, for the error it reaches.
"""

import time
from functools import cache

import numpy as np

from benchmarks.race import Case
from halfspace import NeuralGas

ROWS, WIDTH, PROTOTYPES, EPOCHS = 100_000, 20, 100, 10
RATE, RANGE = (0.5, 0.005), (PROTOTYPES / 2, 0.01)
SPREAD = 10
"""One in so many presentations of the NumPy loop is timed."""


@cache
def mixture(rows):
    """Return rows of a mixture of 60 clouds."""
    rng = np.random.default_rng(0)
    centres = 2.0 * rng.standard_normal((60, WIDTH))
    return centres[rng.integers(60, size=rows)] + rng.standard_normal((rows, WIDTH))


def ours(rows=ROWS):
    """Fit, and return the model."""
    return NeuralGas(PROTOTYPES, max_iter=EPOCHS, random_state=0).fit(mixture(rows))


def numpy_loop(every=1):
    """Present the rows to a NumPy gas, one in `every` of them; return prototypes and seconds."""
    X, rng, total = mixture(ROWS), np.random.default_rng(0), ROWS * EPOCHS
    W = X[rng.choice(ROWS, PROTOTYPES, replace=False)]
    order = rng.integers(ROWS, size=total)
    begin = time.perf_counter()
    for t in range(0, total, every):
        x, gone = X[order[t]], t / total
        rate, width = RATE[0] * (RATE[1] / RATE[0]) ** gone, RANGE[0] * (RANGE[1] / RANGE[0]) ** gone
        D = ((x - W) ** 2).sum(axis=1)
        rank = np.argsort(np.argsort(D))
        W += (rate * np.exp(-rank / width))[:, None] * (x - W)
    return W, (time.perf_counter() - begin) * every


def timed(fit):
    """Return the seconds of a fit."""
    begin = time.perf_counter()
    fit()
    return time.perf_counter() - begin


@cache
def by_rows():
    """Return the seconds of a fit by its number of rows, the best of three interleaved."""
    best = {}
    for _ in range(3):
        for rows in (ROWS // 2, ROWS, 2 * ROWS):
            best[rows] = min(best.get(rows, np.inf), timed(lambda rows=rows: ours(rows)))
    return best


def _remark(_):
    X, model, (W, _) = mixture(ROWS), ours(), numpy_loop()
    peer = float(sum(((X[i : i + 1000, None] - W) ** 2).sum(axis=2).min(axis=1).sum() for i in range(0, ROWS, 1000)))
    if model.inertia_ > 1.02 * peer:
        msg = f"our error is {model.inertia_:.6g}, the NumPy loop's {peer:.6g}"
        raise AssertionError(msg)
    if not model.certificate_.verify(X):
        msg = "the certificate does not hold"
        raise AssertionError(msg)
    per_row = [f"{1e6 * seconds / rows / EPOCHS:.2f}" for rows, seconds in by_rows().items()]
    linear = f"{' / '.join(per_row)} us a presentation at 50k / 100k / 200k rows"
    return f"errors {model.inertia_:.5g} and {peer:.5g}; {linear}"


def cases():
    yield Case(
        f"NeuralGas, {PROTOTYPES} prototypes, {ROWS:,} x {WIDTH}, {EPOCHS} epochs, fit",
        {"halfspace": lambda: timed(ours), "NumPy loop": lambda: numpy_loop(SPREAD)[1]},
        30.0,
        check=_remark,
        repeats=3,
        cold=True,
    )
