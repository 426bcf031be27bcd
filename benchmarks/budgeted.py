"""A budgeted kernel perceptron on a stream of a million rows: rows a second, and whether that stays so.

B = 1000 support vectors, d = 20 inputs, Gaussian kernel, chunks of 10,000 rows through `partial_fit`. The bar is 20,000 rows
a second. `python -m benchmarks.budgeted [--rows N]` prints the rate of every slice of 100,000 rows.
"""

import argparse
import time
from functools import cache

import numpy as np

import halfspace as hs
from benchmarks.race import Case

ROWS, SLICE, CHUNK, BUDGET, WIDTH, RATE = 1_000_000, 100_000, 10_000, 1000, 20, 20_000


def chunks(rows):
    """Yield Gaussian rows in chunks, labelled by a curved boundary, a twentieth of the labels flipped."""
    rng = np.random.default_rng(0)
    for _ in range(rows // CHUNK):
        X = rng.standard_normal((CHUNK, WIDTH))
        yield X, ((X[:, 0] * X[:, 1] + X[:, 2] > 0) ^ (rng.random(CHUNK) < 0.05)).astype(np.int64)


@cache
def rates(rows=ROWS):
    """Return the rows per second of each slice, the clock running inside `partial_fit` only, and the share of mistakes."""
    model = hs.KernelPerceptron(gamma=0.05, budget=BUDGET)
    model.partial_fit(*next(chunks(CHUNK)), classes=[0, 1])  # compiles
    model = hs.KernelPerceptron(gamma=0.05, budget=BUDGET)
    taken = np.zeros(rows // SLICE)
    for number, (X, y) in enumerate(chunks(rows)):
        begin = time.perf_counter()
        model.partial_fit(X, y, classes=[0, 1])
        taken[number * CHUNK // SLICE] += time.perf_counter() - begin
    if model.support_vectors_.shape[0] > BUDGET:
        msg = f"{model.support_vectors_.shape[0]} support vectors are more than the budget of {BUDGET}"
        raise AssertionError(msg)
    return SLICE / taken, model.mistakes_ / rows


def _remark():
    by_slice, share = rates()
    flat = f"last/first {by_slice[-1] / by_slice[0]:.2f}"
    return f"{by_slice.min():,.0f} to {by_slice.max():,.0f} rows/s by slices of 100k, {flat}; mistakes {share:.1%}"


def cases():
    yield Case(
        f"budgeted kernel perceptron, projectron, B = {BUDGET}, d = {WIDTH}, a stream of {ROWS:,} rows",
        {"halfspace": lambda: float((SLICE / rates()[0]).sum()), "20,000 rows/s": lambda: ROWS / RATE},
        1.0,
        check=lambda _: _remark(),
        repeats=1,
        cold=True,
    )


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.budgeted", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="length of the stream, in hundred thousands")
    options = parser.parse_args()
    by_slice, share = rates(max(SLICE, options.rows // SLICE * SLICE))
    for number, rate in enumerate(by_slice):
        print(f"rows {number * SLICE:>9,} to {(number + 1) * SLICE:>9,}: {rate:>10,.0f} rows/s")
    print(f"last/first {by_slice[-1] / by_slice[0]:.2f}, mistakes {share:.1%}, bar {RATE:,} rows/s")


if __name__ == "__main__":
    main()
