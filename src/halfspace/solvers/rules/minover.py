"""MinOver: the plane of maximal stability by pushing the example of lowest potential.

Problem    Maximise the stability  kappa(w) = min_i E_i/‖w‖,  E_i = y_i w·x_i;  the best is kappa*.
Rule       With mu the example of lowest potential,  w += y_mu x_mu,  that is  alpha_mu += 1.  Ties go to the lowest row.
Theorem    After every push, with t of them made so far,
               min_i E_i/‖w‖ <= kappa* <= ‖w‖/t.
           The left side is the stability of one plane, which the best cannot be below. The right side is the length of the
           mean of t signed examples: a unit vector with stability kappa* has an inner product of at least kappa* with each,
           hence with their mean, which is then at least as long. And they meet: with ‖x_i‖ <= R the mean's squared length
           falls to its minimum kappa*² like 1/t (up to a logarithm), being minimised by steps of 1/t towards the most
           useful vertex, so the best stability so far is  >= kappa* - O(1/sqrt(t)),  and halving the bracket costs about
           four times the pushes. If no plane exists, kappa* <= 0, the left side stays <= 0 and the right side tends to 0.
Reference  Krauth and Mézard 1987, section 3, for the rule and its convergence; Frank and Wolfe 1956 for the mean.

Potentials are recomputed from the weights, one pass over the rows: the same reading as adding x_i·x_mu to each, without the
drift. `minover_fast.py` makes the same pushes with less reading.

Both sides are kept at their best, each with its witness: the bracket is nested, whatever single pushes do.
"""

from typing import Annotated, NamedTuple

import numpy as np

from halfspace._dispatch import compiled, compiled_inside
from halfspace._typing import FloatArray, IntArray, View
from halfspace.rows.views import axpy, dot, n_columns, n_rows, sqlength

__all__ = [
    "GOING",
    "RETURNED",
    "TIGHT",
    "Problem",
    "State",
    "keep_witnesses",
    "measure",
    "push",
    "push_plain",
    "squared_length",
    "start",
    "status_of",
    "width",
]

GOING, TIGHT, RETURNED = 0, 1, 2
"""How a piece of pushes ended: with work left, with a bracket within `tol`, or with weights that were there before."""


class Problem(NamedTuple):
    """One two-class problem as the compiled loops see it."""

    X: View
    y: FloatArray  # (n,) labels, -1 or +1
    q: FloatArray  # (n,) squared norms


class State(NamedTuple):
    """All that pushes change, in place."""

    w: Annotated[FloatArray, "f8(_w)"]  # (D,) weights
    alpha: Annotated[FloatArray, "f8(n)"]  # (n,) pushes of each example
    lower_w: Annotated[FloatArray, "f8(_w)"]  # (D,) the most stable weights so far, the witness of the lower side
    lower_alpha: Annotated[FloatArray, "f8(n)"]  # (n,) their strengths
    upper_alpha: Annotated[FloatArray, "f8(n)"]  # (n,) strengths of the shortest mean so far, the witness of the upper side
    anchor_w: Annotated[FloatArray, "f8(_w)"]  # (D,) earlier weights, to notice when they come back
    anchor_alpha: Annotated[FloatArray, "f8(n)"]  # (n,) their strengths
    sides: Annotated[FloatArray, "f8(2)"]  # (2,) best lower and upper side so far
    counts: Annotated[IntArray, "i8(3)"]  # (3,) pushes so far, the row to push next, the push at which the anchor moves
    marks: Annotated[IntArray, "i8(2)"]  # (2,) the push of this piece that gave the best lower and upper side, -1 for none


def check_states(states: list[State], sizes: dict[str, int], width: int) -> None:
    """Refuse states read from a file that are not one per problem, of `width` weights, and about the examples."""
    if len(states) != sizes["K"] or any(state.w.size != width for state in states):
        raise ValueError("MinOver: there is not one state per problem, or it has other weights")
    if not all(0 <= state.counts[1] < sizes["n"] for state in states):
        raise ValueError("MinOver: the row to push next is none")


def start(problem: Problem) -> State:
    """Begin at zero weights."""
    n, D = n_rows(problem.X), n_columns(problem.X)
    per_row, per_column = (np.zeros((4, n)), np.zeros((3, D)))
    sides, counts, marks = np.array([-np.inf, np.inf]), np.array([0, 0, 1]), np.array([-1, -1])
    return State(
        per_column[0], per_row[0], per_column[1], per_row[1], per_row[2], per_column[2], per_row[3], sides, counts, marks
    )


def width(state: State) -> float:
    """Return the relative width of the bracket, (upper - lower)/upper; 1 or more while the lower side is not positive."""
    lower, upper = state.sides
    return float((upper - lower) / upper) if upper > 0.0 and np.isfinite(lower) else np.inf


@compiled
def push(problem: Problem, state: State) -> int:
    """Push the row that is due."""
    mu = state.counts[1]
    axpy(problem.y[mu], problem.X, mu, state.w)
    state.alpha[mu] += 1.0
    state.counts[0] += 1
    return mu


@compiled_inside
def squared_length(w: FloatArray) -> float:
    total = 0.0
    for j in range(w.size):
        total += w[j] * w[j]
    return total


@compiled
def copy(source: FloatArray, into: FloatArray) -> None:
    """Copy element by element: a slice assignment takes Numba a second to compile."""
    for j in range(into.size):
        into[j] = source[j]


@compiled
def measure(state: State, lowest: float, square: float, s: int) -> None:
    """Take both sides of the bracket and keep the better ones; `marks` notes the push s of this piece that gave it."""
    length = np.sqrt(square)
    if length > 0.0 and lowest / length > state.sides[0]:
        state.sides[0] = lowest / length
        copy(state.w, state.lower_w)
        state.marks[0] = s
    if length / state.counts[0] < state.sides[1]:
        state.sides[1] = length / state.counts[0]
        state.marks[1] = s


@compiled_inside
def status_of(state: State, tol: float) -> int:
    """Return why to stop, if there is a reason; otherwise move the anchor at pushes 1, 2, 4, 8, ... (Brent's method)."""
    lower, upper = state.sides[0], state.sides[1]
    if upper - lower <= tol * upper:
        return TIGHT
    same = True
    for j in range(state.w.size):
        if state.w[j] != state.anchor_w[j]:
            same = False
            break
    if same:
        return RETURNED
    if state.counts[0] == state.counts[2]:
        copy(state.w, state.anchor_w)
        copy(state.alpha, state.anchor_alpha)
        state.counts[2] *= 2
    return GOING


@compiled_inside
def _rewind(alpha: FloatArray, pushed: IntArray, first: int, end: int, into: FloatArray) -> None:
    """Write the strengths before the pushes from `first` to `end` into `into`."""
    copy(alpha, into)
    for s in range(first, end):
        into[pushed[s]] -= 1.0


@compiled
def keep_witnesses(state: State, pushed: IntArray, done: int) -> None:
    """Rebuild the strengths at the marked pushes: cheaper once per piece than a copy at every improvement."""
    if state.marks[0] >= 0:
        _rewind(state.alpha, pushed, state.marks[0] + 1, done, state.lower_alpha)
    if state.marks[1] >= 0:
        _rewind(state.alpha, pushed, state.marks[1] + 1, done, state.upper_alpha)
    state.marks[0] = state.marks[1] = -1


@compiled_inside
def _lowest(X: View, y: FloatArray, w: FloatArray) -> int:
    """Return the first row of the lowest potential."""
    mu, least = 0, np.inf
    for i in range(y.size):
        E = y[i] * dot(X, i, w)
        if least > E:
            mu, least = i, E
    return mu


@compiled
def push_plain(problem: Problem, state: State, pushed: IntArray, tol: float) -> tuple[int, int]:
    """Push as often as `pushed` has room, looking at every row; return how often, and how it ended.

    The pushed rows are written to `pushed`, one after the other.
    """
    X, y, w = problem.X, problem.y, state.w
    done, status = 0, GOING
    while done < pushed.size and status == GOING:
        pushed[done] = push(problem, state)
        mu = _lowest(X, y, w)
        state.counts[1] = mu
        measure(state, y[mu] * dot(X, mu, w), sqlength(X, w, state.alpha, y), done)
        status = status_of(state, tol)
        done += 1
    keep_witnesses(state, pushed, done)
    return done, status
