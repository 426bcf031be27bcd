"""A new process, from import to the first fit finished, with Numba's cache filled by an earlier process."""

import subprocess
import sys

from benchmarks.race import Case

SCRIPT = """
import time
begin = time.perf_counter()
from {module} import Perceptron
import numpy as np
rng = np.random.default_rng(0)
X = rng.standard_normal((200, 10))
Perceptron(max_iter=20{options}).fit(X, X[:, 0] > 0)
print(time.perf_counter() - begin)
"""


def _process(module, options=""):
    script = SCRIPT.format(module=module, options=options)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=True)
    return float(done.stdout)


def cases():
    yield Case(
        "second process: import to first fit finished",
        {"halfspace": lambda: _process("halfspace"), "scikit-learn": lambda: _process("sklearn.linear_model", ", tol=None")},
        2.0,
        at_most=True,
        repeats=5,
        cold=True,
    )
