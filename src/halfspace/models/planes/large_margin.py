"""The data of a linear large-margin fit, and the proof that they are inseparable."""

import time
from typing import Any, NamedTuple

import numpy as np

from halfspace._typing import FloatArray, IntArray
from halfspace.certificates.margins.separability import Separability
from halfspace.models.multiclass import Task
from halfspace.models.parameters import Examples
from halfspace.rows.operations import sparsified, take
from halfspace.rows.threads import beside
from halfspace.rows.views import view_of
from halfspace.solvers.exact.separating import Signed, search
from halfspace.solvers.linear.soft_margin import Point, Problem, balanced, combined, dual_value, primal_value, value

__all__ = ["Fitting", "prove_inseparable"]


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
        return cls(data, s, rows, sparsified(take(data.view, rows)), data.q[rows])

    def problem(self, task: Task, C: float) -> Problem:
        """Return a two-class problem as the solver reads it."""
        sign, s = (task.sign, self.s) if self.rows is None else (task.sign[self.rows], self.s[self.rows])
        return Problem(self.view, sign, np.full(s.size, np.inf) if np.isinf(C) else C * s, self.q)

    def spread(self, alpha: FloatArray) -> FloatArray:
        """Return strengths of all examples, 0 for those left out."""
        if self.rows is None:
            return alpha
        everyone = np.zeros(self.s.size)
        everyone[self.rows] = alpha
        return everyone

    def strengths(self, problems: list[Problem], before: dict[str, Any]) -> FloatArray | None:
        """Return the strengths of the last fit, shape (K, n), of examples with weight, if it was one on data of this shape."""
        data, W = self.data, before.get("_W", np.empty(0))
        same = W.shape == (len(problems), data.X.shape[1] + bool(data.clamp))
        if not same or before["_alpha"].shape[1] != data.y.size or not np.array_equal(before["classes_"], data.classes):
            return None
        alpha, caps = before["_alpha"], before["_caps"]
        if not problems[0].hard:  # strengths at their cap start at the new cap
            alpha = np.where((alpha >= caps) & (caps > 0), np.finfo(float).max, alpha)
        return np.asarray(alpha if self.rows is None else alpha[:, self.rows])

    def starts(
        self, problems: list[Problem], before: dict[str, Any], alphas: FloatArray | None, *, free: bool
    ) -> list[Point | None]:
        """Return the points of the last fit, whose strengths are these, if it was one on data of this shape."""
        if alphas is None:
            return [None] * len(problems)
        answers = zip(problems, before["_W"], alphas, before["_bias"], strict=True)
        return [self._start(problem, w, a, float(b) if free else 0.0, free=free) for problem, w, a, b in answers]

    def _start(self, problem: Problem, w: FloatArray, alpha: FloatArray, bias: float, *, free: bool) -> Point:
        """Return the point of an earlier answer, its strengths cut at the caps."""
        kept = np.minimum(alpha, problem.c)
        if not free:
            return value(problem, w, kept, combined(problem, kept))
        kept = balanced(kept, problem)
        dual = dual_value(problem, kept, combined(problem, kept))
        return Point(w, kept, primal_value(problem._replace(shift=bias), w), dual, bias)


def prove_inseparable(fitting: Fitting, task: Task, *, intercept: bool, deadline: float | None) -> Separability | None:
    """Return the exact proof that no plane separates a class from the rest, if there is one and it is found in time."""
    data, rows = fitting.data, fitting.rows
    X, sign = (data.X, task.sign) if rows is None else (data.X[rows], task.sign[rows])
    clamp = 1.0 if intercept else 0.0
    signed = Signed(X, view_of(X, clamp), sign, clamp)
    if deadline is None:
        found = search(signed, lambda: False)
    else:  # its steps are too long to wait for the next look at the clock
        try:
            working = beside(search, signed, lambda: time.perf_counter() >= deadline)
            found = working.result(max(deadline - time.perf_counter(), 0.0))
        except TimeoutError:
            return None
    if not found.multipliers:
        return None
    multipliers = found.multipliers if rows is None else {int(rows[i]): share for i, share in found.multipliers.items()}
    return Separability.by_multipliers(multipliers, X.shape[1], intercept=intercept, positive=task.positive)
