"""The plane of maximal stability from the origin, in a kernel's space: one-class AdaTron.

Problem    min  ½‖w‖² - rho + 1/(nu n) Σ max(0, rho - w·φ(x_i))   over w and rho: the plane w·φ(x) = rho furthest from the
           origin, with at most a share nu of the examples below it. f(x) = w·φ(x) is large where examples are dense.
Dual       max  -½ Σ alpha_i alpha_j K_ij   over   0 <= alpha_i <= 1/(nu n),  Σ alpha_i = 1;   w = Σ alpha_i φ(x_i):  the
           shortest vector of the reduced convex hull. With nu = 1 all strengths are 1/n, and f is Parzen's estimate.
Rule       Two strengths at a time: one rises by what the other falls, the pair that gains most (`pair_steps`); working sets,
           precision and refinement are those of `machine.py`, whose problem with all labels +1 and a free bias this is, but
           for the sum of the strengths. Rows that lie lowest by a sample's function start at the cap.
Gap        With f of these alpha and any rho,  rho - ½‖w‖² - 1/(nu n) Σ max(0, rho - f_i) <= ½‖w*‖² <= ½‖w‖²;  both differ by
           Σ max((rho - f_i)(cap - alpha_i), (f_i - rho) alpha_i),  every term >= 0, and  ‖w - w*‖² is at most that.
Theorem    At most nu n examples lie below the plane, and at least nu n have positive strength; with probability 1 both shares
           tend to nu if the examples come from a continuous source and the kernel is analytic.
Reference  Schölkopf, Platt, Shawe-Taylor, Smola and Williamson 2001, proposition 3 (the shares) and section 4 (pairs).

The theorem is about the examples learnt from: it promises nothing about new ones. That is what rows set apart are for.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from halfspace._typing import FloatArray, IntArray
from halfspace.kernels.gram import LazyGram
from halfspace.solvers.kernel.machine import Climb, KernelMachine, KernelProblem, State, soft_plan
from halfspace.solvers.outcome import Reason

__all__ = ["OneClassAnswer", "OneClassMachine", "one_class"]

SMALLEST = 1500
"""Examples of the smallest sample that is solved first."""
GROWTH = 4
"""Each sample is so many times as large as the last."""
TRIED = 300
"""Examples by which the first guess is made."""
LOWEST = 1e-6
"""A first guess of rho is at least this share of the mean k(x, x); rows that are all 0 have none."""
COARSE = 1e-2
"""Relative gap to which samples are solved."""


class OneClassAnswer(NamedTuple):
    """Strengths, the offset rho, the outputs f in double precision, off by at most `error`, and both sides of ½‖w*‖²."""

    alpha: FloatArray
    rho: float
    outputs: FloatArray
    error: FloatArray
    lower: float
    upper: float


@dataclass
class OneClassState(State):
    """Where the machine stands; strengths add up to `unit`, so that rho is about 1."""

    unit: float = 1.0


def one_class(gram: LazyGram, nu: float, room: int) -> KernelProblem:
    """Return the problem on all examples of a kernel matrix, as `machine.py` reads it: labels +1, strengths with sum 1."""
    n = gram.n
    return KernelProblem(gram, np.arange(n), np.ones(n), np.full(n, 1.0 / (nu * n)), free=True, room=room, total=1.0)


def lowest(outputs: FloatArray, cap: float, total: float) -> FloatArray:
    """Return strengths that are at the cap where outputs are lowest, 0 where they are highest, and add up to `total`."""
    order, alpha = np.argsort(outputs, kind="stable"), np.empty(outputs.size)
    alpha[order] = np.clip(total - cap * np.arange(outputs.size), 0.0, cap)
    return alpha


def _plan(state: OneClassState, problem: KernelProblem, tol: float, seed: int) -> Iterator[Climb | None]:
    """Plan samples of growing size, each started from what the last one says of its examples, then all examples."""
    gram, n = problem.gram, problem.y.size
    order, sizes = np.random.default_rng(seed).permutation(n), [n]
    while sizes[0] > GROWTH * SMALLEST // 2:
        sizes.insert(0, -(-sizes[0] // GROWTH))
    support: IntArray = order[:TRIED]
    c: FloatArray = np.full(support.size, 1.0 / support.size)
    rho: float | None = None
    for m in sizes:
        rows = np.arange(n) if m == n else order[:m]
        outputs = gram.times(support, c, rows)
        state.unit = 1.0 / (rho or max(float(outputs.mean()), LOWEST * float(gram.diagonal.mean())) or 1.0)
        cap = state.unit * float(problem.c[0]) * n / m
        part = problem._replace(rows=rows, y=np.ones(m), c=np.full(m, cap), total=state.unit)
        start = lowest(outputs, cap, state.unit)
        for climb in soft_plan(state, part, tol if m == n else max(tol, COARSE), seed, start):
            if m < n:
                state.course = []  # values of a sample are none of the whole
            yield climb
        answer = state.known_answer(hard=False)
        if m < n:
            state.reason = None
            used = np.flatnonzero(answer.b)
            support, c, rho = rows[used], answer.b[used] / state.unit, (1.0 - answer.bias) / state.unit
            rho = rho if rho > 0.0 else None


@dataclass(frozen=True)
class OneClassMachine(KernelMachine):
    """The method: pair steps on working sets, until the relative gap in double precision is at most `tol`."""

    def start(self, before: FloatArray | None = None) -> OneClassState:
        """Return the state to begin with; there is nothing to go on from."""
        del before
        state = OneClassState()
        state.plan = _plan(state, self.problem, self.tol, self.seed)
        return state

    def status(self, state: State) -> Reason | None:
        """Return why nothing is left to do, or None; a sample that is solved is no reason."""
        return state.reason if self._whole(state) else None

    def _whole(self, state: State) -> bool:
        """Tell whether the level that is worked on has all examples."""
        return state.level is not None and state.level.b.size == self.problem.y.size

    def answer(self, state: OneClassState) -> OneClassAnswer:
        """Return the strengths with their outputs in double precision, and both sides of ½‖w*‖²."""
        if not self._whole(state):  # interrupted while a sample was solved
            self.finish(state)
        found, unit = self.certify(state), state.unit
        f, square = (1.0 - found.h) / unit, unit * unit
        rho = (1.0 - found.bias) / unit
        return OneClassAnswer(found.b / unit, rho, f, found.error / unit, found.dual / square, found.primal / square)
