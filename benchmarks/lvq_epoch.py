"""One epoch of GLVQ and GMLVQ, online, one prototype per class: ours against steepest gradient descent of sklvq, row by row.

Ours is a fit of 21 epochs less a fit of one, over 20: checks, start and certificate happen once in a fit, and the remark tells
how long a fit of one epoch takes with them. sklvq's is a fit of one epoch, of which they are a thousandth. Both pass over
all rows in random order and move the two nearest prototypes, and Ω, after each.
"""

import time

import halfspace as hs
from benchmarks.lvq_setup import EPOCH, peer, standardised
from benchmarks.race import Case

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


def _remark(model, data, reached):
    once = min(fit(model, data, 1, reached) for _ in range(3))
    accuracies = ", ".join(f"{who} {100 * share:.1f} %" for who, share in sorted(reached.items()))
    return f"test accuracy by epochs: {accuracies}; a fit of one epoch alone {1000 * once:.1f} ms"


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
                check=lambda _, model=model, data=data, reached=reached: _remark(model, data, reached),
                repeats=3,
                cold=True,
            )
