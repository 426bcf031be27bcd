"""Every estimator on rows of many shapes, dense and sparse, in a process of its own that a watchdog ends if it hangs.

`python tests/contract/watchdog.py` goes through all shapes up to 3,000 x 30,000, the largest first, in about half an hour;
with `--quick` through a few in seconds, which is what the test suite does; with names of estimators through these only; with
`--cpu` limits are CPU time of the process, for a busy machine. A fit either learns or refuses its data with our own errors,
and it ends: after `HANGS` seconds the watchdog prints where every thread stands, and ends it all. Fits that took more CPU
time than their limit, 10 % and half a second are counted apart: some of that may be the compiler's.
"""

import faulthandler
import inspect
import sys
import time
import warnings
from itertools import product

import numpy as np
from scipy import sparse

import halfspace as hs
from halfspace.errors import InputError

HANGS = 1800.0
FULL = ((1, 2, 40, 300, 3000), (1, 2, 50, 2000, 8000, 30_000))
QUICK = ((1, 2, 300), (1, 40))


def estimators():
    """Return the public classes that can be fitted."""
    classes = {name: getattr(hs, name) for name in hs.__all__}
    fitted = {name: kind for name, kind in classes.items() if inspect.isclass(kind) and hasattr(kind, "fit")}
    for other in ("TableEncoder", "LearningCurve"):  # of columns, and of another estimator's fits
        fitted.pop(other)
    return fitted


def problem(n, d, *, thin):
    """Return rows of a shape, dense or sparse, with labels; of regression real ones would be no different."""
    rng = np.random.default_rng(n * 31 + d)
    if thin:
        X = sparse.random(n, d, min(1.0, max(0.005, 20.0 / d)), format="csr", random_state=rng)
    else:
        X = rng.standard_normal((n, d))
    return X, np.arange(n) % 2


def attempt(kind, X, y, seconds):
    """Fit one estimator; return what came of it in a word, or the error that should not have been."""
    model = kind()
    limits = {"max_time": seconds, "n_clusters": min(3, X.shape[0]), "n_prototypes": 1}
    model.set_params(**{name: value for name, value in limits.items() if name in model.get_params()})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
    except (InputError, ValueError, TypeError) as error:  # scikit-learn's checks raise the last two
        return f"refused: {error}"[:90]
    return "fitted"


def shapes(rows, columns):
    """Return numbers of rows and columns, the largest matrices first."""
    return sorted(((n, d) for n in rows for d in columns), key=lambda shape: -shape[0] * shape[1])


def watched(name, data, limit):
    """Fit one estimator under the eyes of the watchdog; return what came of it, and the CPU seconds."""
    faulthandler.dump_traceback_later(HANGS, exit=True)
    began = time.process_time()
    try:
        result = attempt(estimators()[name], *data, limit)
    except Exception as error:  # noqa: BLE001  (all are told)
        result = f"FAILED: {type(error).__name__}: {error}"[:200]
    faulthandler.cancel_dump_traceback_later()
    return result, time.process_time() - began


def main(arguments):
    """Go through shapes and estimators; return how many failed."""
    quick, limit = "--quick" in arguments, 0.05 if "--quick" in arguments else 0.1
    names = [name for name in arguments if not name.startswith("--")] or list(estimators())
    failed, late, slowest = 0, 0, (0.0, "")
    part, of = next((map(int, text[7:].split("/")) for text in arguments if text.startswith("--part=")), (1, 1))
    for (n, d), thin in list(product(shapes(*(QUICK if quick else FULL)), (False, True)))[part - 1 :: of]:
        data = problem(n, d, thin=thin)
        for name in names:
            what = f"{name} {n} x {d} {'sparse' if thin else 'dense'}"
            result, seconds = watched(name, data, limit)
            failed += result.startswith("FAILED")
            late += "max_time" in estimators()[name]().get_params() and seconds > 1.1 * limit + 0.5
            slowest = max(slowest, (seconds, what))
            if not quick or result.startswith("FAILED"):
                sys.stdout.write(f"{seconds:7.2f} s  {what}: {result}\n")
                sys.stdout.flush()
    sys.stdout.write(f"{failed} failed, {late} were late; the slowest took {slowest[0]:.1f} CPU s: {slowest[1]}\n")
    return failed


if __name__ == "__main__":
    if "--cpu" in sys.argv:
        time.perf_counter = time.process_time
    sys.exit(min(main(sys.argv[1:]), 1))
