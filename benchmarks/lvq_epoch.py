"""One epoch of GLVQ and GMLVQ, online, one prototype per class: ours against steepest gradient descent of sklvq, row by row.

Ours is a fit of 21 epochs less a fit of one, over 20: checks, start and certificate happen once in a fit, and the remark tells
how long a fit of one epoch takes with them. sklvq's is a fit of one epoch, of which they are a thousandth. Both pass over
all rows in random order and move the two nearest prototypes, and Ω, after each.

GMLVQ's remark tells how many multiplications and additions a row takes, how many are done in a second, and what one core does
at the most, in a product of large matrices of doubles: that is the limit for steps each of which waits for the one before.
"""

import time

import numpy as np

import halfspace as hs
from benchmarks.lvq_setup import EPOCH, peer, standardised
from benchmarks.race import Case
from halfspace.rows.threads import one_blas_thread

EPOCHS = 20
BAR = 500.0


def fit(model, data, epochs, reached):
    """Return the seconds of a fit; note the accuracy on the test rows."""
    estimator = getattr(hs, model)(optimizer="online", max_iter=epochs, tol=0.0, random_state=0)
    begin = time.perf_counter()
    estimator.fit(data.X, data.y)
    seconds = time.perf_counter() - begin
    if estimator.n_iter_ != epochs:
        msg = f"{model} stopped after {estimator.n_iter_} of {epochs} epochs: {estimator.outcome_}"
        raise AssertionError(msg)
    reached[f"ours after {epochs}"] = estimator.score(data.X_test, data.y_test)
    return seconds


def ours(model, data, reached):
    """Return the seconds of one epoch, from the best of three fits each."""
    times = [min(fit(model, data, epochs, reached) for _ in range(3)) for epochs in (1 + EPOCHS, 1)]
    return (times[0] - times[1]) / EPOCHS


def theirs(model, name, reached):
    """Return the seconds of one epoch of sklvq; note the accuracy on the test rows."""
    answer = peer(model, name, EPOCH)
    reached["sklvq after 1"] = answer["accuracy"]
    return answer["seconds"]


def operations(data):
    """Return the multiplications and additions of one presentation of GMLVQ with a square matrix.

    Ωx, the distances of all projections, ΛV of two prototypes, ΩΛV and Ω's step for both, and that step times all prototypes.
    """
    d, P = data.X.shape[1], np.unique(data.y).size
    return 2 * (d * d + P * d + 2 * d * d + 4 * d * d + 4 * P * d)


def peak():
    """Return the operations in a second of one core in a product of matrices."""
    A, best = np.ones((1000, 1000)), np.inf
    with one_blas_thread():
        for _ in range(5):
            begin = time.perf_counter()
            A @ A.copy()
            best = min(best, time.perf_counter() - begin)
    return 2e9 / best


def _speed(data, seconds):
    count = operations(data)
    done = count * data.y.size / seconds
    return f"; {count:,} operations a row, {done / 1e9:.0f} of a core's {peak() / 1e9:.0f} billion a second"


def _remark(model, data, reached, seconds):
    once = min(fit(model, data, 1, reached) for _ in range(3))
    accuracies = ", ".join(f"{who} {100 * share:.1f} %" for who, share in sorted(reached.items()))
    return f"test accuracy by epochs: {accuracies}; a fit of one epoch alone {1000 * once:.1f} ms" + (
        _speed(data, seconds) if model == "GMLVQ" else ""
    )


def cases():
    for name in ("letter", "optdigits"):
        data = standardised(name)
        if data is None:
            continue
        for model in ("GLVQ", "GMLVQ"):
            reached = {}
            yield Case(
                f"{model}, one epoch online, {data}",
                {
                    "halfspace": lambda model=model, data=data, reached=reached: ours(model, data, reached),
                    "sklvq": lambda model=model, name=name, reached=reached: theirs(model, name, reached),
                },
                BAR,
                check=lambda out, model=model, data=data, reached=reached: _remark(model, data, reached, out["halfspace"]),
                repeats=3,
                cold=True,
            )
