"""Separable or not, with an exact proof, against HiGHS' answer in floats on all rows."""

import numpy as np
from scipy.optimize import linprog

from benchmarks.race import Case
from halfspace.questions.separability import separability

LIMIT = 60.0
"""Seconds given to a linear program; a peer that needs more is reported as not done, and counts with the limit."""


def _teacher(n, d, *, flipped):
    """Return Gaussian rows labelled by a random teacher, and one label flipped if asked for."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, d))
    y = np.where(X @ rng.standard_normal(d) > 0, 1, 0)
    y[17] ^= flipped
    return X, y


def _linear_program(X, y, method):
    """Ask HiGHS for w, b with y_i (w·x_i + b) >= 1: feasible or not, within the limit, up to its tolerance."""
    A = -np.hstack([X, np.ones((y.size, 1))]) * np.where(y == 1, 1.0, -1.0)[:, None]
    d = X.shape[1]
    options = {"time_limit": LIMIT}
    found = linprog(np.zeros(d + 1), A_ub=A, b_ub=-np.ones(y.size), bounds=(None, None), method=method, options=options)
    return {0: "separable", 2: "inseparable"}.get(found.status, f"not done in {LIMIT:.0f} s")


def _proved(X, y, verdict):
    """Check that our verdict is the true one and that its proof holds, and say what the peers found."""

    def check(outputs):
        proof, *peers = outputs.values()
        if proof.verdict != verdict or not proof.verify(X, y):
            msg = f"ours is not proved {verdict}: {proof}"
            raise AssertionError(msg)
        said = ", ".join(f"{name}: {answer}" for name, answer in zip(list(outputs)[1:], peers, strict=True))
        return f"{proof.verdict}, checked exactly; {said}"

    return check


def _race(n, d, peers, *, flipped):
    X, y = _teacher(n, d, flipped=flipped)
    names = {"highs-ds": "HiGHS simplex", "highs-ipm": "HiGHS interior point"}
    kind = "one label flipped" if flipped else "separable"
    return Case(
        f"separability {n // 1000}k x {d}, {kind}",
        {
            "halfspace": lambda: separability(X, y),
            **{names[method]: lambda method=method: _linear_program(X, y, method) for method in peers},
        },
        10.0,
        check=_proved(X, y, "inseparable" if flipped else "separable"),
        repeats=1,
    )


def cases():
    for flipped in (False, True):
        yield _race(50_000, 100, ("highs-ds", "highs-ipm"), flipped=flipped)
    for flipped in (False, True):
        yield _race(1_000_000, 50, ("highs-ipm",), flipped=flipped)
