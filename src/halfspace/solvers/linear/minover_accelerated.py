"""MinOver's pushes with less reading: two accelerators around the same rule, tested to push the same rows in the same order.

`push_columns` keeps the potentials of all rows, and of every row that was ever pushed its inner products with all others: a
repeated push reads n numbers instead of n rows. Few rows are pushed often, and when the room for columns is used up a push
is a pass over the rows as before.

`push_nearby` looks at a few rows only. From weights v at the last pass over all rows,  w = c v + u  with u orthogonal to v, so
E_i >= c E_i(v) - ‖x_i‖ ‖u‖,  and c and ‖u‖ follow from E_mu(v) and E_mu in a few operations. Rows whose bound stays above
the lowest potential are not read. It needs no room, and wins where rows are short and the bound is therefore sharp.
"""

from typing import NamedTuple

import numpy as np

from halfspace._dispatch import compiled, compiled_inside
from halfspace._typing import FloatArray, IntArray
from halfspace.rows.operations import outputs
from halfspace.rows.views import axpy, dot, entries_per_row
from halfspace.solvers.rules.minover import (
    GOING,
    Problem,
    State,
    keep_witnesses,
    measure,
    push,
    squared_length,
    status_of,
)

__all__ = ["Columns", "Nearby", "accelerate", "push_columns", "push_nearby", "start_columns", "start_nearby"]

SHORT = 12.0
"""Entries per row up to which `push_nearby` is the faster one."""
AFRESH = 4096
"""Pushes after which kept potentials are computed anew, so that rounding does not add up."""
BLOCK = 512


class Columns(NamedTuple):
    """The memory of `push_columns`: all potentials, and inner products with the rows pushed so far."""

    E: FloatArray  # (n,) potentials
    slot: IntArray  # (n,) place of each row's column, -1 for none
    G: FloatArray  # (m, n) y_i y_mu x_i·x_mu, one line per pushed row mu
    used: IntArray  # (1,) lines filled
    row: FloatArray  # (D,) scratch for the row being pushed


def start_columns(problem: Problem, state: State, room: float) -> Columns:
    """Begin with the potentials of the state's weights and `room` bytes for columns."""
    n = problem.y.size
    E = problem.y * outputs(problem.X, state.w[None])[:, 0]
    return Columns(E, np.full(n, -1), np.empty((int(min(n, room // (8 * n))), n)), np.zeros(1, dtype=np.int64), state.w * 0.0)


@compiled
def _potentials(problem: Problem, w: FloatArray, E: FloatArray) -> int:
    """Take all potentials and return the row of the lowest."""
    mu = 0
    for i in range(E.size):
        E[i] = problem.y[i] * dot(problem.X, i, w)
        if E[mu] > E[i]:
            mu = i
    return mu


@compiled_inside
def _add(column: FloatArray, E: FloatArray) -> int:
    """Add a column to the potentials and return the row of the lowest; in blocks, so that the sum is vectorised."""
    mu = 0
    for begin in range(0, E.size, BLOCK):
        end = min(begin + BLOCK, E.size)
        for i in range(begin, end):
            E[i] += column[i]
        for i in range(begin, end):
            if E[mu] > E[i]:
                mu = i
    return mu


@compiled
def push_columns(problem: Problem, state: State, kept: Columns, pushed: IntArray, tol: float, budget: int) -> tuple[int, int]:
    """Push like `push_plain`, reading columns where there are any; stop also when `budget` rows were read."""
    done, status, read = 0, GOING, 0
    while done < pushed.size and status == GOING and read < budget:
        mu = push(problem, state)
        pushed[done] = mu
        read += 1 + problem.y.size // 16
        if kept.slot[mu] < 0 and kept.used[0] < kept.G.shape[0]:
            kept.slot[mu] = kept.used[0]
            kept.used[0] += 1
            for j in range(kept.row.size):
                kept.row[j] = 0.0
            axpy(problem.y[mu], problem.X, mu, kept.row)
            _potentials(problem, kept.row, kept.G[kept.slot[mu]])
            read += problem.y.size
        if kept.slot[mu] < 0 or state.counts[0] % AFRESH == 0:
            state.counts[1] = _potentials(problem, state.w, kept.E)
            read += problem.y.size
        else:
            state.counts[1] = _add(kept.G[kept.slot[mu]], kept.E)
        measure(state, kept.E[state.counts[1]], squared_length(state.w), done)
        status = status_of(state, tol)
        done += 1
    keep_witnesses(state, pushed, done)
    return done, status


class Nearby(NamedTuple):
    """The memory of `push_nearby`: rows that may have the lowest potential, and how far the others are."""

    E: FloatArray  # (n,) potentials at the last full pass
    r: FloatArray  # (n,) lengths of the rows
    rows: IntArray  # (n,) the candidates, in ascending order, in the first `size[0]` places
    size: IntArray  # (2,) number of candidates (0: make a full pass), pushes since the full pass
    reach: FloatArray  # (2,) largest ‖u‖/c the candidates are good for, and it in units of ‖v‖
    floor: FloatArray  # (2,) lowest bound on the other rows' potentials, divided by c, for ‖u‖ = 0 and for the full reach
    norms: FloatArray  # (3,) ‖v‖², v·w, ‖w‖²


def start_nearby(problem: Problem) -> Nearby:
    """Begin without candidates."""
    n = problem.y.size
    rows, size, reach = np.zeros(n, dtype=np.int64), np.zeros(2, dtype=np.int64), np.array([0.0, 0.1])
    return Nearby(np.zeros(n), np.sqrt(problem.q), rows, size, reach, np.zeros(2), np.zeros(3))


@compiled_inside
def _look_at_all(problem: Problem, state: State, near: Nearby) -> float:
    """Take all potentials, choose new candidates, and return the lowest potential."""
    E, r, n = near.E, near.r, problem.y.size
    mu = _potentials(problem, state.w, E)
    # Look further ahead if full passes took most of the reading since the last one, less far if the candidates did.
    near.reach[1] *= 1.5 if near.size[0] * near.size[1] < n else 0.67
    near.norms[0] = near.norms[1] = near.norms[2] = squared_length(state.w)
    near.reach[0] = near.reach[1] * np.sqrt(near.norms[0])
    near.floor[0] = near.floor[1] = np.inf
    k = 0
    for i in range(n):
        bound = E[i] - r[i] * near.reach[0]
        if bound > E[mu] + r[mu] * near.reach[0]:
            near.floor[0] = min(near.floor[0], E[i])
            near.floor[1] = min(near.floor[1], bound)
        else:
            near.rows[k] = i
            k += 1
    if 2 * k > n:
        near.reach[1] *= 0.5
        k = 0
    near.size[0] = k
    near.size[1] = 0
    state.counts[1] = mu
    return E[mu]


@compiled_inside
def _look_nearby(problem: Problem, state: State, near: Nearby) -> float:
    """Return the lowest potential if it is certain to be among the candidates, otherwise NaN."""
    if near.size[0] == 0:
        return np.nan
    turn = near.norms[1] / near.norms[0]
    # ‖u‖² and ‖w‖² are differences and sums of as many terms as there were pushes: allow for their rounding, which a
    # turn near 0 would magnify.
    across = near.norms[2] - turn * near.norms[1] + 1e-15 * (16 + near.size[1]) * near.norms[2]
    if not turn > 0.01 or not np.sqrt(max(across, 0.0)) < turn * near.reach[0]:
        return np.nan
    share = np.sqrt(max(across, 0.0)) / (turn * near.reach[0])
    lowest, mu = np.inf, 0
    for k in range(near.size[0]):
        i = near.rows[k]
        E = problem.y[i] * dot(problem.X, i, state.w)
        if lowest > E:
            lowest, mu = E, i
    # The minimum of falling lines is concave in ‖u‖, so it lies above the chord between its ends.
    floor = near.floor[0] if share == 0.0 else (1.0 - share) * near.floor[0] + share * near.floor[1]
    if not floor > lowest / turn + 1e-14 * (16 + state.w.size) * np.abs(near.floor[0]):
        return np.nan
    state.counts[1] = mu
    return lowest


@compiled
def push_nearby(problem: Problem, state: State, near: Nearby, pushed: IntArray, tol: float, budget: int) -> tuple[int, int]:
    """Push like `push_plain`, looking at candidates only where that is enough; stop also when `budget` rows were read."""
    done, status, read = 0, GOING, 0
    while done < pushed.size and status == GOING and read < budget:
        mu = state.counts[1]
        near.norms[1] += near.E[mu]
        near.norms[2] += 2.0 * problem.y[mu] * dot(problem.X, mu, state.w) + problem.q[mu]
        pushed[done] = push(problem, state)
        near.size[1] += 1
        read += near.size[0]
        lowest = _look_nearby(problem, state, near)
        if np.isnan(lowest):
            lowest = _look_at_all(problem, state, near)
            read += problem.y.size
        measure(state, lowest, near.norms[2], done)
        status = status_of(state, tol)
        done += 1
    keep_witnesses(state, pushed, done)
    return done, status


def accelerate(problem: Problem, state: State, room: float) -> Nearby | Columns:
    """Return the memory of the accelerator that suits the shape of the rows."""
    if entries_per_row(problem.X) <= SHORT or room < 64 * problem.y.size:
        return start_nearby(problem)
    return start_columns(problem, state, room)
