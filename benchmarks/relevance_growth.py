"""How the relevance kernel machine grows: 4,000 to 400,000 rows of covtype on one thread, and two threads against one.

    python -m benchmarks.relevance_growth rows 4000 12000   # CPU seconds of fits to so many rows, accuracy on 10,000 others
    python -m benchmarks.relevance_growth threads 15000     # wall seconds with one thread and two, in turns, least of three

What has run is kept in results/relevance_growth.json with its commit; `python -m benchmarks --tables` writes docs/tables.md.
"""

import argparse
import json
import os
import time
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.relevance import _whole, commit

KEPT = Path(__file__).resolve().parent / "results" / "relevance_growth.json"
TESTED = 10_000
"""Rows that no fit sees."""


@cache
def covtype():
    """Return rows of covtype in a random order, shape (n, d), and their labels."""
    X, y = _whole("covtype")
    order = np.random.default_rng(0).permutation(y.size)
    return X[order], y[order]


def fitted(n, n_jobs=1):
    """Return CPU and wall seconds of a fit to n rows, and its accuracy on rows that it does not see."""
    import halfspace as hs

    X, y = covtype()
    began = time.process_time(), time.perf_counter()
    model = hs.RelevanceKernelClassifier(random_state=0, n_jobs=n_jobs).fit(X[TESTED : TESTED + n], y[TESTED : TESTED + n])
    cpu, wall = time.process_time() - began[0], time.perf_counter() - began[1]
    machines = 1 if model._cells is None else len(model._cells.columns)  # noqa: SLF001 - how many there are
    score = float(np.mean(model.predict(X[:TESTED]) == y[:TESTED]))
    return {"cpu": cpu, "wall": wall, "score": score, "machines": machines, "by": f"commit {commit()}"}


def keep(kind, n, told):
    """Keep what a run has told."""
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    kept.setdefault(kind, {})[str(n)] = told
    KEPT.write_text(json.dumps(kept, indent=0, sort_keys=True) + "\n", encoding="utf-8")
    print(kind, n, told, flush=True)


def exponent(kept, least=0):
    """Return the exponent of the power of n that fits CPU seconds best, by least squares of logarithms."""
    pairs = np.array([(int(n), told["cpu"]) for n, told in kept.items() if int(n) >= least])
    return float(np.polyfit(*np.log(pairs.T), 1)[0])


def page():
    """Return the lines of docs/tables.md about growth."""
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    if "rows" not in kept:
        return []
    rows = dict(sorted(kept["rows"].items(), key=lambda pair: int(pair[0])))
    by = ", ".join(sorted({told["by"] for part in kept.values() for told in part.values()}))
    lines = ["", "## Growth: covtype, one thread", "", f"Accuracy on {TESTED:,} other rows ({by}).", ""]
    lines += ["| rows | CPU s | machines | accuracy in % |", "|---|---|---|---|"]
    lines += [f"| {int(n):,} | {t['cpu']:.3g} | {t['machines']} | {100 * t['score']:.1f} |" for n, t in rows.items()]
    if len(rows) > 2:
        lines += ["", f"CPU seconds grow like n to the power {exponent(rows):.2f}."]
    for n, told in kept.get("threads", {}).items():
        one, two = told["one"], told["two"]
        lines += ["", f"Two threads fit {int(n):,} rows in {two:.3g} s, one in {one:.3g} s: {one / two:.2f} times as fast."]
    return lines


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.relevance_growth", description=__doc__)
    parser.add_argument("kind", choices=["rows", "threads"])
    parser.add_argument("sizes", nargs="+", type=int)
    options = parser.parse_args()
    fitted(4_000)  # compiles
    for n in options.sizes:
        if options.kind == "rows":
            keep("rows", n, fitted(n))
            continue
        runs = [[fitted(n, n_jobs)["wall"] for n_jobs in (1, 2)] for _ in range(3)]
        one, two = np.min(runs, axis=0).tolist()
        load = os.getloadavg()[0]
        keep("threads", n, {"one": one, "two": two, "runs": runs, "load": load, "by": f"commit {commit()}"})


if __name__ == "__main__":
    main()
