"""What models of large margin share: one problem per class, solved side by side, and the table of support vectors."""

import sys
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs

from halfspace._typing import FloatArray, IntArray, Labels
from halfspace.certificates import Certificate, DualityGap, KernelGap
from halfspace.certificates.margins.separability import Separability
from halfspace.errors import GapWarning, InputError, NotSeparatedWarning
from halfspace.models.parameters import Examples
from halfspace.rows.operations import sparsified, take
from halfspace.rows.threads import one_blas_thread
from halfspace.rows.views import view_of
from halfspace.solvers.exact.separating import Signed, search
from halfspace.solvers.linear.free_bias import balanced
from halfspace.solvers.linear.large_margin import Answer, Limits, Plan, solve
from halfspace.solvers.linear.soft_margin import Point, Problem, combined, dual_value, primal_value, value
from halfspace.solvers.outcome import Outcome, Reason

__all__ = ["Fitting", "announce", "explained", "prove_inseparable", "solve_classes", "support_table"]


class Fitting(NamedTuple):
    """Checked data as the solvers of all classes read them: examples of weight 0 are left out."""

    data: Examples
    s: FloatArray  # (n,) weights of all examples
    rows: IntArray | None  # the examples of positive weight, if that is not all
    view: Any
    q: FloatArray

    @classmethod
    def of(cls, data: Examples, s: FloatArray) -> "Fitting":
        """Leave out what has no weight, and store mostly zero rows sparsely."""
        if s.all():
            return cls(data, s, None, sparsified(data.view), data.q)
        rows = np.flatnonzero(s)
        absent = np.bincount(data.target[rows], minlength=data.classes.size) == 0
        if absent.any():
            msg = f"Every class needs an example of positive weight, but these have none: {data.classes[absent].tolist()}."
            raise InputError(msg)
        return cls(data, s, rows, sparsified(take(data.view, rows)), data.q[rows])

    def problem(self, number: int, C: float) -> Problem:
        """Return the problem of class `number` against the rest."""
        target, s = (self.data.target, self.s) if self.rows is None else (self.data.target[self.rows], self.s[self.rows])
        caps = np.full(s.size, np.inf) if np.isinf(C) else C * s
        return Problem(self.view, np.where(target == number, 1.0, -1.0), caps, self.q)

    def spread(self, alpha: FloatArray) -> FloatArray:
        """Return strengths of all examples, 0 for those left out."""
        if self.rows is None:
            return alpha
        everyone = np.zeros(self.s.size)
        everyone[self.rows] = alpha
        return everyone

    def starts(self, problems: list[Problem], before: dict[str, Any], *, free: bool) -> list[Point | None]:
        """Return the points of the last fit, if it was one on data of this shape."""
        data, W = self.data, before.get("_W", np.empty(0))
        same = W.shape == (len(problems), data.X.shape[1] + bool(data.clamp))
        if not same or before["_alpha"].shape[1] != data.y.size or not np.array_equal(before["classes_"], data.classes):
            return [None] * len(problems)
        alpha, caps = before["_alpha"], before["_caps"]
        if not problems[0].hard:  # who took all there was will take all there is
            alpha = np.where((alpha >= caps) & (caps > 0), np.finfo(float).max, alpha)
        answers = zip(problems, W, alpha, before["_bias"], strict=True)
        return [self._start(problem, w, a, float(b) if free else 0.0, free=free) for problem, w, a, b in answers]

    def _start(self, problem: Problem, w: FloatArray, alpha: FloatArray, bias: float, *, free: bool) -> Point:
        """Return the point of an earlier answer, its strengths cut at the caps."""
        kept = np.minimum(alpha if self.rows is None else alpha[self.rows], problem.c)
        if not free:
            return value(problem, w, kept, combined(problem, kept))
        kept = balanced(kept, problem)
        dual = dual_value(problem, kept, combined(problem, kept))
        return Point(w, kept, primal_value(problem._replace(shift=bias), w), dual, bias)


def prove_inseparable(fitting: Fitting, number: int, *, intercept: bool, deadline: float | None) -> Separability | None:
    """Return the exact proof that no plane separates a class from the rest, if there is one and it is found in time."""
    data, rows = fitting.data, fitting.rows
    X, target = (data.X, data.target) if rows is None else (data.X[rows], data.target[rows])
    clamp = 1.0 if intercept else 0.0
    signed = Signed(X, view_of(X, clamp), np.where(target == number, 1.0, -1.0), clamp)
    found = _in_time(lambda late: search(signed, late), deadline)
    if found is None or not found.multipliers:
        return None
    multipliers = found.multipliers if rows is None else {int(rows[i]): share for i, share in found.multipliers.items()}
    positive = data.classes[number : number + 1].tolist()[0]
    return Separability.by_multipliers(multipliers, X.shape[1], intercept=intercept, positive=positive)


def _in_time(work: Callable[[Callable[[], bool]], Any], deadline: float | None) -> Any:
    """Return what `work(late)` does, or None if it is not done in time: its steps are too long to wait for the next look."""
    if deadline is None:
        return work(lambda: False)
    pool = ThreadPoolExecutor(1)
    future = pool.submit(work, lambda: time.perf_counter() >= deadline)
    pool.shutdown(wait=False)
    try:
        return future.result(max(deadline - time.perf_counter(), 0.0))
    except TimeoutError:
        return None


def solve_classes(
    problems: list[Problem],
    plan: Plan,
    limits: list[Limits],
    seeds: list[int],
    starts: list[Point | None],
    n_jobs: int | None,
) -> list[Answer]:
    """Solve the problem of every class, side by side in threads; the answers do not depend on how many there are."""
    stop, waiting_still = threading.Event(), iter(range(len(problems), 0, -1))

    def work(k: int) -> Answer:
        watched, now, still = limits[k]._replace(cancelled=stop.is_set), time.perf_counter(), next(waiting_still)
        if watched.deadline is not None:  # those that wait need their share of the time that is left
            share = min(1.0, workers / still) * max(watched.deadline - now, 0.0)
            watched = watched._replace(deadline=now + share)
        return solve(problems[k], plan, watched, np.random.default_rng(seeds[k]), starts[k])

    workers = min(effective_n_jobs(-1 if n_jobs is None else n_jobs), len(problems))
    with one_blas_thread():
        if workers == 1:
            answers: list[Answer] = []
            for k in range(len(problems)):
                answers.append(work(k))
                if answers[-1].reason == "interrupted":
                    stop.set()
            return answers
        with ThreadPoolExecutor(workers) as pool:
            waiting = [pool.submit(work, k) for k in range(len(problems))]
            try:
                return [future.result() for future in waiting]
            except KeyboardInterrupt:
                stop.set()
                return [future.result() for future in waiting]


def _widest(parts: list[Certificate]) -> float:
    """Return the largest relative gap; infinite where classes are not separated though they should be."""
    return max((part.relative_gap for part in parts if isinstance(part, DualityGap | KernelGap)), default=np.inf)


def explained(model: Any, parts: list[Certificate], reasons: list[Reason]) -> Outcome:
    """Say how far a fit came, and what to do if that is not far enough."""
    gap = _widest(parts)
    when = f"after {model.n_iter_} iterations"
    if any(isinstance(part, Separability) for part in parts):
        sentence = f"Proved inseparable {when}: no plane separates these data without errors."
        return Outcome(
            "proved inseparable",
            sentence,
            "Use a finite C, which tolerates errors, or a feature map (PolynomialFeatures, Nystroem).",
        )
    if gap <= model.tol:
        return Outcome("converged", f"Converged {when}: relative duality gap {gap:.2g} <= tol={model.tol:g}.")
    if all(reason == "converged" for reason in reasons):
        sentence = f"Stopped {when} with relative duality gap {gap:.2g}: rounding lets no smaller one be proved."
        return Outcome("rounding limit reached", sentence, f"tol={model.tol:g} is out of reach; use a larger one.")
    reason = next(reason for reason in reasons if reason != "converged")
    sentence = f"Stopped {when} ({reason}) with relative duality gap {gap:.2g} > tol={model.tol:g}."
    remedy = "warm_start=True goes on from here; raise max_iter or max_time, scale the features, or accept a larger tol."
    if np.isinf(gap):
        sentence = f"Stopped {when} ({reason}): the classes are neither separated nor proved inseparable."
        faster = " solver='auto' is faster." if model.solver == "sweep" else ""
        remedy = f"hs.separability(X, y) decides whether a plane exists; if so raise max_iter or max_time.{faster}"
    return Outcome(reason, sentence, remedy)


def announce(model: Any, parts: list[Certificate]) -> None:
    """Print the outcome if asked to, and warn if it is not what was asked for."""
    outcome = model.outcome_
    if model.verbose:
        sys.stderr.write(f"[{type(model).__name__}] {outcome}\n")
    if outcome.reason in {"proved inseparable", "iteration budget spent", "time budget spent"}:
        kind = NotSeparatedWarning if np.isinf(_widest(parts)) or outcome.reason == "proved inseparable" else GapWarning
        warnings.warn(f"{type(model).__name__}: {outcome}", kind, stacklevel=6)


def support_table(
    alpha: FloatArray, E: FloatArray, length: FloatArray, caps: FloatArray, y: Labels, classes: list[Any], *, everyone: bool
) -> Any:
    """List examples with strength, stability, slack and role; a DataFrame if pandas is there, else a structured array."""
    parts: list[dict[str, Any]] = []
    for k, label in enumerate(classes):
        rows = np.arange(y.size) if everyone else np.flatnonzero(alpha[k] > 0)
        a, potential = alpha[k, rows], E[k, rows]
        role = np.where(a <= 0, "outside", np.where(a >= caps[rows], "capped", "free"))
        stability = potential / length[k] if length[k] > 0 else np.zeros(rows.size)
        slack = np.maximum(0.0, 1.0 - potential)
        columns = {"row": rows, "label": y[rows], "strength": a, "stability": stability, "slack": slack, "role": role}
        parts.append({"class": np.full(rows.size, label), **columns} if len(classes) > 1 else columns)
    table = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    try:
        import pandas as pd  # noqa: PLC0415  (optional)
    except ImportError:
        kinds = [(name, column.dtype) for name, column in table.items()]
        array = np.empty(table["row"].size, dtype=kinds)
        for name, column in table.items():
            array[name] = column
        return array
    return pd.DataFrame(table)
