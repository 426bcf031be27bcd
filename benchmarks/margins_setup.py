"""What the races of large-margin solvers share: peers, the objective, and who arrives where.

Every contestant must reach the same place: weights whose primal value is within a relative `target` of the optimum. Ours stops
on a certified duality gap of that size. Peers have no certificate, so they are tried with ever tighter tolerances, and race
with the loosest one that arrives, as if they had known it. The optimum is the dual value that our certificate proves at
a gap of 1e-8 (a true lower bound, so nobody is favoured).
"""

import multiprocessing
import time

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC

import halfspace as hs
from benchmarks.race import Case

__all__ = ["arrival_case", "objective"]

LIMIT = 20.0
"""Seconds after which an attempt of a peer is given up."""


def objective(X, y, C, w, b):
    """Return ½‖w‖² + ½b² + C Σ hinge, the clamped weight counted."""
    return 0.5 * (w @ w + b * b) + C * np.maximum(0.0, 1.0 - np.where(y == 1, 1.0, -1.0) * (X @ w + b)).sum()


def linear_svc(X, y, C):
    def run(tol):
        model = LinearSVC(loss="hinge", C=C, tol=tol, max_iter=100_000, random_state=0).fit(X, y)
        return model.coef_[0], float(model.intercept_[0])

    return run, [1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 1e-3, 1e-4, 1e-5]


def liblinear(X, y, C):
    from liblinear.liblinearutil import parameter, problem, train

    data = problem(np.where(y == 1, 1.0, -1.0), X, bias=1.0)

    def run(tol):
        model = train(data, parameter(f"-s 3 -c {C} -B 1 -e {tol} -q"))
        sign = 1.0 if model.get_labels()[0] == 1 else -1.0
        w = sign * np.array(model.w[: X.shape[1] + 1])
        return w[:-1], float(w[-1])

    return run, [1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 1e-3, 1e-4]


def snap(threads):
    def peer(X, y, C):
        from snapml import SupportVectorMachine

        labels = np.where(y == 1, 1.0, -1.0)
        epochs = 3000 if X.shape[0] < 60_000 else 300

        def run(tol):
            model = SupportVectorMachine(
                max_iter=epochs, regularizer=1.0 / C, tol=tol, n_jobs=threads, fit_intercept=True, random_state=0
            ).fit(X, labels)
            return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])

        run.forks = False  # its threads do not survive a fork; its number of epochs limits its time
        return run, [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8]

    return peer


def sgd(X, y, C):
    def run(epochs):
        model = SGDClassifier(loss="hinge", alpha=1.0 / (C * y.size), max_iter=epochs, tol=None, random_state=0).fit(X, y)
        return model.coef_[0], float(model.intercept_[0])

    return run, [5, 20, 80]


PEERS = {"LinearSVC": linear_svc, "LIBLINEAR": liblinear, "snapml x1": snap(1), "snapml x2": snap(2), "SGD": sgd}


def _attempt(run, tol, pipe):
    begin = time.perf_counter()
    w, b = run(tol)
    pipe.send((time.perf_counter() - begin, w, b))


def limited(run, tol, seconds):
    """Run in a child process that is stopped after some seconds; return (seconds, w, b) or None."""
    if not getattr(run, "forks", True):
        begin = time.perf_counter()
        w, b = run(tol)
        return time.perf_counter() - begin, w, b
    here, there = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_attempt, args=(run, tol, there))
    child.start()
    answer = here.recv() if here.poll(seconds) else None
    child.terminate()
    child.join()
    return answer


def _scan(run, tolerances, above, target):
    """Return the loosest tolerance that arrives and its time, or None and what happened instead.

    A slow peer is spared some tolerances in between: from the second attempt on, only every third is tried.
    """
    nearest, left = np.inf, list(tolerances)
    while left:
        tol = left.pop(0)
        answer = limited(run, tol, LIMIT)
        if answer is None:
            return None, f"gave up after {LIMIT:.0f} s" + (f", {nearest:.1e} above" if nearest < np.inf else "")
        took, reached = answer[0], above(*answer[1:])
        if reached <= target:
            return (tol, took), ""
        if took > 5.0 and reached > 0.98 * nearest:  # a tighter tolerance no longer helps: its limit of iterations is reached
            break
        nearest = min(nearest, reached)
        if took > 5.0:
            left = left[2:-1:3] + left[-1:]
    return None, f"never arrives ({min(nearest, reached):.1e} above)"


def _arrivals(X, y, C, best, target, peers):
    """Return for each peer the loosest tolerance that arrives, and a remark on those that do not."""
    arriving, remarks = {}, []
    for name in peers:
        try:
            run, tolerances = PEERS[name](X, y, C)
        except ImportError:
            remarks.append(f"{name} is not installed")
            continue
        arrived, remark = _scan(run, tolerances, lambda w, b: objective(X, y, C, w, b) / best - 1.0, target)
        if arrived is not None:
            arriving[name] = (run, *arrived)
        else:
            remarks.append(f"{name} {remark}")
    return arriving, remarks


BEST = {}


def _optimum(X, y, C):
    """Return the largest value that the optimum is proved to have, in a minute at most."""
    key = id(X), C
    if key not in BEST:
        BEST[key] = hs.AdaTron(C=C, tol=1e-8, max_time=60.0).fit(X, y).certificate_.dual
    return BEST[key]


def arrival_case(name, data, C, target, bar, peers=("LinearSVC", "LIBLINEAR", "snapml x1", "snapml x2", "SGD"), repeats=3):
    """Return the race to a suboptimality of `target` on (X, y) with cap C."""
    X, y = data
    best = _optimum(X, y, C)
    arriving, remarks = _arrivals(X, y, C, best, target, peers)

    def ours():
        return hs.AdaTron(C=C, tol=target).fit(X, y)

    begin = time.perf_counter()
    model = ours()
    repeats = 1 if time.perf_counter() - begin > 5.0 else repeats
    reached = objective(X, y, C, model.coef_[0], float(model.intercept_[0])) / best - 1.0
    gap = model.certificate_.relative_gap
    if gap > target:
        msg = f"{name}: our certified gap is {gap:.2g}, above {target:g}"
        raise AssertionError(msg)
    remarks = [f"certified gap {gap:.1e}, {reached:.1e} above the optimum", *remarks]
    # A peer too slow to repeat is charged for its one attempt above.
    slow = {peer: took for peer, (_, _, took) in arriving.items() if took > 5.0}
    contestants = {"halfspace": ours}
    for peer, (run, tol, _) in arriving.items():
        if peer not in slow:
            contestants[f"{peer} ({tol:g})"] = lambda run=run, tol=tol: run(tol)
    known = {f"{peer} (once)": took for peer, took in slow.items()}
    if len(contestants) == 1 and not known:
        known = {f"nobody in {LIMIT:.0f} s": LIMIT}
    return Case(name, contestants, bar, check=lambda _: "; ".join(remarks), repeats=repeats, known=known)
