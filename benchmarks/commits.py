"""Race two checkouts of halfspace: `python -m benchmarks.commits ../other [case ...]` prints the times of both and their ratio.

Each checkout runs in a process of its own, which is asked for one fit at a time, in turn with the other; best times count. A
ratio above 1 says that this checkout is faster than the other one.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
REPEATS = 15


def _dense(n, d, classes=2):
    """Return standard normal rows whose classes a random matrix decides, with some noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    scores = X @ rng.standard_normal((d, classes)) + 0.5 * rng.standard_normal((n, classes))
    return X, scores.argmax(axis=1)


def _sparse(n=100_000, d=50_000, per_row=75):
    """Return text-like rows of length 1 in CSR."""
    from scipy import sparse

    rng = np.random.default_rng(0)
    columns = np.sort((d * rng.random((n, per_row)) ** 3).astype(np.int32), axis=1)
    X = sparse.csr_matrix((rng.random(n * per_row), columns.ravel(), np.arange(n + 1) * per_row), shape=(n, d))
    X.sum_duplicates()
    X.data /= np.sqrt(np.repeat(np.asarray(X.multiply(X).sum(axis=1)).ravel(), np.diff(X.indptr)))
    return X, (X @ rng.standard_normal(d) > 0).astype(int)


def _iris():
    from sklearn.datasets import load_iris

    return load_iris(return_X_y=True)


def cases(hs):
    """Return by name how to make the data and what to fit."""
    perceptron = {"max_iter": 10, "random_state": 0}
    epoch = {"optimizer": "online", "max_iter": 1, "random_state": 0, "n_prototypes": 5}
    return {
        "perceptron dense shuffled": (lambda: _dense(200_000, 100), lambda: hs.Perceptron(**perceptron)),
        "perceptron dense in order": (lambda: _dense(200_000, 100), lambda: hs.Perceptron(shuffle=False, **perceptron)),
        "perceptron CSR shuffled": (_sparse, lambda: hs.Perceptron(**perceptron)),
        "perceptron CSR in order": (_sparse, lambda: hs.Perceptron(shuffle=False, **perceptron)),
        "averaged perceptron dense": (lambda: _dense(200_000, 100), lambda: hs.AveragedPerceptron(**perceptron)),
        "minover 5,000 x 20": (lambda: _dense(5_000, 20), lambda: hs.MinOver(max_iter=2_000)),
        "adatron dense 100k x 100": (lambda: _dense(100_000, 100), lambda: hs.AdaTron(tol=1e-6)),
        "adatron CSR": (_sparse, lambda: hs.AdaTron(tol=1e-3)),
        "kernel adatron 5,000 x 20": (lambda: _dense(5_000, 20), lambda: hs.KernelAdaTron("rbf", tol=1e-3)),
        "kernel adatron 5,000 x 200": (lambda: _dense(5_000, 200), lambda: hs.KernelAdaTron("rbf", tol=1e-3)),
        "kernel adatron, 10 classes": (lambda: _dense(4_000, 16, 10), lambda: hs.KernelAdaTron("rbf", multi_class="ovo")),
        "kernel perceptron 4,000": (lambda: _dense(4_000, 20), lambda: hs.KernelPerceptron(**perceptron)),
        "kernel minover 2,000": (lambda: _dense(2_000, 20), lambda: hs.KernelMinOver(max_iter=2_000)),
        "GLVQ epoch 20,000 x 16": (lambda: _dense(20_000, 16, 26), lambda: hs.GLVQ(**epoch)),
        "GLVQ epoch 4,000 x 64": (lambda: _dense(4_000, 64, 10), lambda: hs.GLVQ(**epoch)),
        "GMLVQ epoch 20,000 x 16": (lambda: _dense(20_000, 16, 26), lambda: hs.GMLVQ(**epoch)),
        "GMLVQ epoch 4,000 x 64": (lambda: _dense(4_000, 64, 10), lambda: hs.GMLVQ(**epoch)),
        "GLVQ batch": (lambda: _dense(1_800, 64, 10), lambda: hs.GLVQ(optimizer="batch", max_iter=30, random_state=0)),
        "neural gas 20,000 x 20": (
            lambda: (_dense(20_000, 20)[0], None),
            lambda: hs.NeuralGas(100, max_iter=2, random_state=0),
        ),
        "ridge 200k x 50": (lambda: _dense(200_000, 50), lambda: hs.LinearRegression(ridge=1.0)),
        "iris perceptron": (_iris, lambda: hs.Perceptron(max_iter=100, random_state=0)),
        "iris adatron": (_iris, lambda: hs.AdaTron(C=1.0)),
        "iris kernel adatron": (_iris, lambda: hs.KernelAdaTron(C=1.0)),
        "iris GLVQ": (_iris, lambda: hs.GLVQ(random_state=0)),
    }


def work():
    """Answer with the seconds of a fit for every name read from standard input."""
    import warnings

    import halfspace as hs

    warnings.simplefilter("ignore")
    known, data, last = cases(hs), None, None
    for line in sys.stdin:
        name = line.strip()
        make, model = known[name]
        if name != last:
            data, last = make(), name
            model().fit(*data)  # which may compile
        begin = time.perf_counter()
        model().fit(*data)
        print(json.dumps(time.perf_counter() - begin), flush=True)


def _start(folder):
    """Start a worker on the sources of a checkout."""
    cache = Path(folder).resolve() / ".numba_cache" / "commits"
    settings = {"PYTHONPATH": f"{Path(folder).resolve() / 'src'}:{ROOT}", "NUMBA_CACHE_DIR": str(cache)}
    code = "from benchmarks.commits import work; work()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", code], env=os.environ | settings, cwd=ROOT, **pipes)


def _ask(worker, name):
    worker.stdin.write(f"{name}\n")
    worker.stdin.flush()
    return float(json.loads(worker.stdout.readline()))


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.commits", description=__doc__)
    parser.add_argument("other", help="folder of the other checkout")
    parser.add_argument("cases", nargs="*", help="parts of the names of cases (default: all)")
    options = parser.parse_args()
    names = [name for name in cases(None) if not options.cases or any(part in name for part in options.cases)]
    workers = [_start(ROOT), _start(options.other)]
    print(f"{'case':28} {'this':>10} {'other':>10}   other/this")
    for name in names:
        times = np.array([[_ask(worker, name) for worker in workers] for _ in range(REPEATS)])
        ours, theirs = times.min(axis=0)
        print(f"{name:28} {1e3 * ours:8.2f}ms {1e3 * theirs:8.2f}ms   {theirs / ours:.2f}", flush=True)


if __name__ == "__main__":
    main()
