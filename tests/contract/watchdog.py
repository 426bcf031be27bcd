"""Every estimator on rows of many shapes, dense and sparse, in a process of its own that a watchdog ends if it hangs.

`python tests/contract/watchdog.py` goes through all shapes up to 3,000 x 30,000 in about half an hour; with `--quick` through a
few in seconds, which is what the test suite does; with names of estimators through these only. A fit either learns or refuses
its data with our own errors, and it ends: after `HANGS` seconds the watchdog prints where every thread stands, and ends it all.
"""

import faulthandler
import inspect
import sys
import time
import warnings

import numpy as np
from scipy import sparse

import halfspace as hs
from halfspace.errors import InputError

HANGS = 600.0
MOST_DENSE = 30_000_000
FULL = ((1, 2, 3, 40, 300, 3000), (1, 2, 50, 2000, 8000, 30_000))
QUICK = ((1, 2, 300), (1, 40))


def estimators():
    """Return the public classes that can be fitted."""
    classes = {name: getattr(hs, name) for name in hs.__all__}
    fitted = {name: kind for name, kind in classes.items() if inspect.isclass(kind) and hasattr(kind, "fit")}
    fitted.pop("TableEncoder")
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


def main(arguments):
    """Go through shapes and estimators; return how many failed."""
    quick = "--quick" in arguments
    names = [name for name in arguments if not name.startswith("--")]
    rows, columns = QUICK if quick else FULL
    failed, slowest = 0, (0.0, "")
    for n in rows:
        for d in columns:
            for thin in (False, True):
                if not thin and n * d > MOST_DENSE:
                    continue
                X, y = problem(n, d, thin=thin)
                for name, kind in estimators().items():
                    if names and name not in names:
                        continue
                    what, began = f"{name} {n} x {d} {'sparse' if thin else 'dense'}", time.perf_counter()
                    faulthandler.dump_traceback_later(HANGS, exit=True)
                    try:
                        result = attempt(kind, X, y, 0.05 if quick else 0.2)
                    except Exception as error:  # noqa: BLE001  (all are told)
                        failed += 1
                        result = f"FAILED: {type(error).__name__}: {error}"[:200]
                    faulthandler.cancel_dump_traceback_later()
                    seconds = time.perf_counter() - began
                    slowest = max(slowest, (seconds, what))
                    if not quick or result.startswith("FAILED"):
                        sys.stdout.write(f"{seconds:7.2f} s  {what}: {result}\n")
                        sys.stdout.flush()
    sys.stdout.write(f"{failed} failed; the slowest took {slowest[0]:.1f} s: {slowest[1]}\n")
    return failed


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
