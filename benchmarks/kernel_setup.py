"""What the races of kernel machines share: the problems, the peers, their limits, and who counts as equally good.

Everybody learns the same random rows with the same kernel and cap. Ours must prove a relative duality gap of 1e-3 in double
precision; peers stop at their own default tolerance. scikit-learn's SVC gets dense doubles, or CSR where the set is stored
sparse (the faster of the two for it); scikit-learn-intelex and ours get dense single precision. A peer first runs in a process
of its own under a limit of seconds; if it is quick it then races with ours, in turn, in this process, else that run counts.
"""

import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numba
import numpy as np
from scipy import sparse

from benchmarks.problems import load_shared
from benchmarks.race import Case, Result

__all__ = ["Problem", "disqualify", "fit_case", "fit_peer", "means", "ours", "run_child", "sample", "seconds_of", "widest_gap"]

# scikit-learn-intelex brings TBB, which Numba would take for its threads: keep the layer that users without it have.
numba.config.THREADING_LAYER_PRIORITY = ["omp", "tbb", "workqueue"]

ROOT = Path(__file__).resolve().parents[1]
TARGET = 1e-3
"""Relative duality gap that ours must prove."""
POINT = 1e-3
"""Share of held-out rows by which ours may be worse than the best peer: 0.1 point."""
QUICK = {"SVC": 2.0, "sklearnex": 8.0}
"""Seconds up to which a peer runs again and again beside ours."""

EVEN = (0, 2, 4, 6, 8)
POSITIVE = {"a9a": (1,), "covtype": (2,), "higgs_sample": (1,), "ijcnn1": (1,), "letter": (1,), "w8a": (1,)}
SCALES = {"mnist": 255.0, "letter": 15.0}
STANDARDISED = ("covtype", "higgs_sample")


@dataclass(frozen=True)
class Problem:
    """A published set, how many random rows of it, and the machine to fit; `multiclass` keeps all labels and the split."""

    name: str
    rows: int
    gamma: float
    C: float
    multiclass: bool = False

    def __str__(self):
        labels = {"covtype": " class 2", "letter": " class 1", "mnist": " even/odd", "usps": " even/odd"}
        which = " all classes" if self.multiclass else labels.get(self.name, "")
        return f"{self.name}{which} {self.rows / 1000:g}k, γ={self.gamma:g} C={self.C:g}"

    def split(self):
        """Return the rows to learn and those held out, or None where the data are not there."""
        return official(self.name) if self.multiclass else sample(self.name, self.rows)


@dataclass(frozen=True)
class Split:
    """Rows to learn and rows held out: CSR doubles if the set is stored sparse, else dense doubles."""

    X: np.ndarray | sparse.csr_matrix
    y: np.ndarray
    X_test: np.ndarray | sparse.csr_matrix
    y_test: np.ndarray

    def forms(self, who):
        """Return (X, X_test) as `who` likes them best."""
        if who == "SVC":
            return self.X, self.X_test
        return tuple(
            np.ascontiguousarray(A.toarray() if sparse.issparse(A) else A, dtype=np.float32) for A in (self.X, self.X_test)
        )


def _scaled(X, name):
    if name in SCALES:
        return X / SCALES[name]
    return X.astype(np.float64)


@cache
def sample(name, n, held_out=10_000):
    """Return n random rows and up to `held_out` others, two classes; of both published parts if the first has too few."""
    data = load_shared(name)
    if data is None:
        return None
    X, y, X_more, y_more = data
    if n + 2_000 > y.size and y_more is not None:
        X, y = (sparse.vstack([X, X_more]).tocsr() if sparse.issparse(X) else np.vstack([X, X_more])), np.append(y, y_more)
    order = np.random.default_rng(0).permutation(y.size)
    learnt, others = order[:n], order[n : n + held_out]
    labels = np.isin(y, POSITIVE.get(name, EVEN)).astype(np.int64)
    parts = [_scaled(X[learnt], name), _scaled(X[others], name)]
    if name in STANDARDISED:
        mean, spread = X.mean(axis=0), X.std(axis=0)
        parts = [(part - mean) / np.where(spread > 0, spread, 1.0) for part in parts]
    return Split(parts[0], labels[learnt], parts[1], labels[others])


@cache
def official(name):
    """Return a set with all its classes, split as its publisher did."""
    data = load_shared(name)
    return None if data is None else Split(_scaled(data[0], name), data[1], _scaled(data[2], name), data[3])


def ours(C, gamma, **options):
    """Return our machine, unfitted."""
    import halfspace as hs

    settings = {"kernel": "rbf", "intercept": "free", "tol": TARGET, "max_time": 300.0, "n_jobs": 2}
    return hs.KernelAdaTron(C=C, gamma=gamma, **(settings | options))


def fit_peer(peer, X, y, C, gamma):
    """Fit one of the peers."""
    if peer == "SVC":
        from sklearn.svm import SVC
    else:
        from sklearnex.svm import SVC
    return SVC(C=C, gamma=gamma).fit(X, y)


def run_child(arguments, seconds, python=sys.executable):
    """Run a program in a process group of its own; return the JSON value it printed last, or None after the limit."""
    child = subprocess.Popen(
        [python, "-W", "ignore", *arguments], stdout=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True
    )
    try:
        printed, _ = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        return None
    if child.returncode:
        msg = f"the process '{' '.join(map(str, arguments[:3]))} ...' ended with code {child.returncode}: see its message above"
        raise RuntimeError(msg)
    return json.loads(printed.splitlines()[-1])


def _first_run(peer, problem):
    """Fit a peer here, after a small fit that loads its libraries; return its seconds, the better of two if short, and more."""
    split = problem.split()
    X, X_test = split.forms(peer)
    fit_peer(peer, X[:300], np.arange(300) % 2, 1.0, 1.0)
    taken = []
    while not taken or (len(taken) < 2 and taken[0] < 30.0):
        begin = time.perf_counter()
        model = fit_peer(peer, X, split.y, problem.C, problem.gamma)
        taken.append(time.perf_counter() - begin)
    accuracy = float(np.mean(model.predict(X_test) == split.y_test))
    return {"seconds": min(taken), "accuracy": accuracy, "how": "best of 2" if len(taken) == 2 else "once"}


def peers_of(problem, names, seconds):
    """Return what each peer did in its first run, {name: {"seconds", "accuracy"}}, and remarks on those left out."""
    done, remarks = {}, []
    for peer in names:
        if peer == "sklearnex" and find_spec("sklearnex") is None:
            remarks.append("sklearnex is not installed")
            continue
        answer = run_child(["-m", "benchmarks.kernel_setup", peer, json.dumps(asdict(problem))], seconds)
        done[peer] = answer or {"seconds": seconds, "accuracy": 0.0, "how": "stopped"}
        if answer is None:
            remarks.append(f"{peer} was stopped after {seconds:.0f} s, which count as its time")
    return done, remarks


def disqualify(case):
    """Let no time count: the work was not done equally well, which the remark tells."""
    case.limit = 0.0


def widest_gap(certificate):
    """Return the relative gap, the widest one where there is one proof per class or pair of classes."""
    parts = getattr(certificate, "parts", None)
    return float(certificate.relative_gap) if parts is None else max(map(widest_gap, parts))


def judged(case, model, split, best, *, most_error=None):
    """Return remarks on the quality of our model, and disqualify the case where it falls short."""
    X, X_test = split.forms("halfspace")
    accuracy, gap = float(np.mean(model.predict(X_test) == split.y_test)), widest_gap(model.certificate_)
    proved = bool(model.certificate_.verify(X, split.y))
    short = accuracy < best - POINT or (most_error is not None and 1.0 - accuracy > most_error)
    if short or gap > TARGET or not proved:
        disqualify(case)
    return [
        ("**MISSED** " if short else "") + f"accuracy {100 * accuracy:.2f} %, best peer {100 * best:.2f} %",
        ("**MISSED** " if gap > TARGET else "") + f"certified gap {gap:.1e}",
        "verified" if proved else "**MISSED** the proof does not verify",
    ]


def fit_case(problem, bar, *, repeats=5, seconds=300.0, options=None, most_error=None, aside=()):
    """Return the race to fit a problem, or None (and a line saying so) where its data are not there.

    Peers named `aside` do not race: their times are told in the remark.
    """
    split = problem.split()
    if split is None:
        print(f"{problem}: left out, ../shared/data is not there")
        return None
    first, remarks = peers_of(problem, ("SVC", "sklearnex"), seconds)
    X, _ = split.forms("halfspace")
    contestants = {"halfspace": lambda: ours(problem.C, problem.gamma, **(options or {})).fit(X, split.y)}
    known = {}
    for peer, answer in first.items():
        if peer in aside:
            remarks.append(f"{peer} {answer['seconds']:.3g} s")
        elif answer["seconds"] <= QUICK[peer] and answer["how"] != "stopped":
            rows, _ = split.forms(peer)
            contestants[peer] = lambda peer=peer, rows=rows: fit_peer(peer, rows, split.y, problem.C, problem.gamma)
        else:
            known[f"{peer} ({answer['how']})"] = answer["seconds"]
    best = max((answer["accuracy"] for answer in first.values()), default=0.0)

    def check(outputs):
        said = judged(case, outputs["halfspace"], split, best, most_error=most_error)
        return "; ".join([*said, *remarks])

    case = Case(f"fit {problem}", contestants, bar, check=check, repeats=repeats, known=known)
    return case


def seconds_of(result, peer):
    """Return the seconds of a peer in a result, whether it ran once or often; None if it did not run."""
    return next((taken for name, taken in result.seconds.items() if name.split(" (")[0] == peer), None)


def means(results, bars, what):
    """Return one result per peer: the geometric mean of its seconds over ours, against its bar."""
    rows = []
    for peer, bar in bars.items():
        ratios = [seconds_of(r, peer) / r.seconds["halfspace"] for r in results if seconds_of(r, peer) is not None]
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            each = ", ".join(f"{ratio:.1f}" for ratio in ratios)
            name = f"geometric mean of {len(ratios)} {what} against {peer}"
            rows.append(Result(name, {"halfspace": 1.0, peer: mean}, 0.0, mean, bar, at_most=False, remark=f"each: {each}"))
    return rows


if __name__ == "__main__":
    print(json.dumps(_first_run(sys.argv[1], Problem(**json.loads(sys.argv[2])))))
