"""The rules against their theory, the billiard's members a second, sampled centres against exact polygons, margins, ranks.

python -m benchmarks.theory [rules | sampled | billiard | polygons | hard | rank ...] [--write]

Times are CPU seconds of one process. `--write` keeps what was run in results/theory.json, beside what was kept before.
"""

import argparse
import json
import time

import numpy as np

import halfspace as hs
from benchmarks.tables import KEPT
from halfspace.certificates import LabelCount

ALPHAS = [0.5, 1.0, 2.0, 3.0, 5.0]


def _cells(rules, N, seeds, alphas):
    """Return the errors of rules with their standard errors beside the theory, and print each."""
    found = []
    for rule in rules:
        for alpha in alphas:
            if rule == "adaline" and alpha == 1.0:  # the peak, which is rounded at any N
                continue
            began = time.process_time()
            one = hs.experiment(rule, N, [alpha], seeds=seeds)
            cell = {
                "rule": rule,
                "alpha": alpha,
                "mean": one.means[0],
                "error": one.standard_errors[0],
                "theory": one.expected[0],
            }
            found.append({name: value if isinstance(value, str) else round(float(value), 5) for name, value in cell.items()})
            found[-1] |= {"z": round(float(one.z[0]), 2), "seconds": round(time.process_time() - began, 1)}
            print(found[-1], flush=True)
    z = np.abs([cell["z"] for cell in found])
    return {"N": N, "seeds": seeds, "cells": found, "beyond_3": int((z > 3).sum()), "largest_z": float(z.max())}


def rules():
    """Rules that are fitted: all cells should be within three standard errors."""
    return _cells(("hebb", "adaline", "ridge", "perceptron", "stability"), 400, 25, ALPHAS)


def sampled():
    """Rules that are sampled from the version space."""
    return _cells(("gibbs", "bayes", "committee"), 200, 60, [0.5, 2.0, 5.0])


def _independent(W):
    """Return the effective number of members by the slowest coordinate: autocorrelations up to the first below 0.05."""
    M = W - W.mean(axis=0)
    time_of = np.ones(W.shape[1])
    still = np.ones(W.shape[1], dtype=bool)
    for lag in range(1, 100):
        r = (M[lag:] * M[:-lag]).mean(axis=0) / M.var(axis=0)
        still &= r > 0.05
        time_of += 2.0 * np.where(still, r, 0.0)
    return W.shape[0] / time_of.max()


def billiard():
    """Effective members a CPU second at N = 100, P = 300, of three problems; proofs included."""
    rates, proved = [], 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        teacher, X = rng.standard_normal(100), rng.standard_normal((300, 100))
        space = hs.VersionSpace(X, X @ teacher > 0, intercept="none", random_state=seed)
        space.sample(100)
        began = time.process_time()
        W = space.sample(5000)
        rates.append(_independent(W) / (time.process_time() - began))
        proved += len(W)
    print([round(rate) for rate in rates])
    return {"N": 100, "P": 300, "effective_per_cpu_second": [round(rate) for rate in rates], "proved_inside": proved}


def polygons():
    """Measure how far sampled centres of 1,000 random polygons are off, in standard errors of the direction."""
    off, rows = [], []
    began = time.process_time()
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        teacher, P = rng.standard_normal(3), int(rng.integers(4, 40))
        X = rng.standard_normal((P, 3))
        y = X @ teacher > 0
        if np.unique(y).size < 2:
            X[0], y[0] = -X[0], ~y[0]
        space = hs.VersionSpace(X, y, intercept="none", random_state=seed)
        exact = space.polygon()
        rows.append(len(exact.corners))
        off.append(np.linalg.norm(exact.centre - space.centre) / space.centre_error)
    found = {"polygons": len(off), "beyond_4": int((np.array(off) > 4).sum()), "largest": round(float(max(off)), 2)}
    found |= {"mean_corners": float(np.mean(rows)), "members_proved_inside": 2000 * len(off)}
    found |= {"seconds": round(time.process_time() - began, 1)}
    print(found)
    return found


def hard():
    """CPU seconds for the largest margin of 1200 x 400 random examples that a teacher labels: planes, and a linear kernel."""
    found = []
    for seed in range(-1, 5):  # the first one compiles
        rng = np.random.default_rng(abs(seed))
        teacher, X = rng.standard_normal(400), rng.standard_normal((1200, 400))
        y, row = X @ teacher > 0, {}
        for name, model in (
            ("AdaTron", hs.AdaTron(C=np.inf, intercept="none", random_state=0)),
            ("KernelAdaTron", hs.KernelAdaTron("linear", C=np.inf, intercept="none")),
            ("KernelAdaTron, tol of AdaTron", hs.KernelAdaTron("linear", C=np.inf, intercept="none", tol=1e-4)),
        ):
            began = time.process_time()
            model.fit(X, y)
            gap = float(model.certificate_.relative_gap)
            row[name] = {"seconds": round(time.process_time() - began, 3), "gap": float(f"{gap:.2g}")}
        if seed >= 0:
            found.append({"seed": seed, **row})
            print(found[-1], flush=True)
    return {"rows": 1200, "columns": 400, "runs": found}


def rank():
    """CPU seconds of the proof of the rank of n = 1,000 examples, made and checked."""
    found = []
    for columns in (400, 999, 1500):
        X = np.random.default_rng(columns).standard_normal((1000, columns))
        began = time.process_time()
        proof = LabelCount.measure(X)
        made = time.process_time()
        holds = bool(proof.verify(X))
        seconds = {"made": round(made - began, 3), "checked": round(time.process_time() - made, 3)}
        found.append({"columns": columns, "rank": proof.rank, "holds": holds, **seconds})
        print(found[-1], flush=True)
    return {"rows": 1000, "runs": found}


PARTS = {"rules": rules, "sampled": sampled, "billiard": billiard, "polygons": polygons, "hard": hard, "rank": rank}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.theory", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"what to run (default: {' '.join(PARTS)})")
    parser.add_argument("--write", action="store_true", help="keep the results")
    options = parser.parse_args()
    path = KEPT / "theory.json"
    for part in options.parts or PARTS:
        result = PARTS[part]()
        if options.write:
            kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
            path.write_text(json.dumps(kept | {part: result}, indent=1) + "\n", encoding="utf-8")
