"""A kernel perceptron with room for B support vectors: a stream runs in constant memory and constant time per example.

Rule       Present an example, add up  f(x) = Σ_b weight_b k(x_b, x)  over the B slots, and on a mistake let the budget's rule
           (`forgetron.py`, `projectron.py`) make room for it.
Cost       B kernel values per example. For the Gaussian, polynomial and linear kernels on dense rows they are computed here:
           the slots are stored column by column, so that every loop runs over neighbouring slots and is vectorised; any other
           kernel hands in tables of its values, a block of examples at a time, with the same results.

Invariants: at most B slots are used; nothing grows with the number of examples; slots that are not in use hold zeros.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from halfspace._dispatch import compiled, open_function
from halfspace._typing import FloatArray, IntArray
from halfspace.solvers.rules.sweep import Task

__all__ = ["Counts", "Gaussian", "Powers", "Slots", "Tabled", "learn", "present_budgeted", "start_slots"]

ELEMENTWISE = {"contract", "nnan", "ninf", "nsz", "arcp"}
"""No reordering: `exp2_inplace` rounds by adding and subtracting a large number, which reordering would cancel."""
MAGIC = 1.5 * 2.0**52
"""Added to a number of moderate size, it leaves the nearest whole number in the lowest bits."""
LOWEST = -1000.0
"""Exponents below are raised to this: 2^-1000 is nothing beside the other values."""
T = tuple(float(np.log(2.0) ** p / np.prod(np.arange(1.0, p + 1))) for p in range(14))
"""Taylor coefficients of 2^r: on |r| <= 1/2 the remainder after degree 13 is below 1e-17."""


class Slots(NamedTuple):
    """The support vectors of one problem, all arrays of fixed size; updated in place."""

    columns: FloatArray  # (d, B) support vectors, one per column
    squares: FloatArray  # (B,) their squared lengths
    weight: FloatArray  # (B,) signed strengths
    row: IntArray  # (B,) the example each came from
    K: FloatArray  # (B, B) kernel values among the slots
    value: FloatArray  # (B,) kernel values with the example at hand
    scratch: FloatArray  # (B,)
    sums: FloatArray  # (4,) what the rule's theorem adds up, see there; sums[0] is R², the largest k(x, x) met
    counts: IntArray  # (2,) slots in use, and the oldest of them


class Counts(NamedTuple):
    """What has happened so far."""

    mistakes: IntArray  # (K,)
    updates: IntArray  # (K,)
    clock: IntArray  # (1,) examples presented


class Gaussian(NamedTuple):
    """k(x, z) = exp(-gamma ‖x - z‖²) + shift on dense rows."""

    X: Any
    gamma: float
    shift: float


class Powers(NamedTuple):
    """k(x, z) = (gamma x·z + coef0)^degree + shift on dense rows."""

    X: Any
    gamma: float
    coef0: float
    degree: int
    shift: float


class Tabled(NamedTuple):
    """Any kernel, by its values: of a block of examples with the slots as they were, and among themselves."""

    table: FloatArray  # (b, B), brought up to date when a slot changes
    among: FloatArray  # (b, b)


@open_function
def fill_values(form: Any, slots: Slots, i: int, t: int) -> float:
    """Write the kernel values of example i, place t of its block, with the slots to `slots.value`; return k(x_i, x_i)."""


@open_function
def place(form: Any, slots: Slots, i: int, t: int, b: int) -> None:
    """Put example i into slot b, whose kernel values are those in `slots.value`."""


@open_function
def learn(rule: Any, form: Any, slots: Slots, i: int, t: int, change: float, square: float) -> None:
    """Add `change` (signed) of example i to f, whose kernel values are in `slots.value`; `square` is k(x_i, x_i)."""


@njit(cache=True, nogil=True, error_model="numpy", fastmath=ELEMENTWISE)
def exp2_inplace(z: FloatArray, whole: FloatArray, bits: IntArray, whole_bits: IntArray) -> None:
    """Replace z by 2^z for -1000 <= z <= 0: a polynomial for the fraction, the exponent's bits for the whole part.

    `whole` is scratch; `bits` and `whole_bits` are the same memory as `z` and `whole`, seen as whole numbers.
    """
    for b in range(z.size):
        t = z[b] + MAGIC
        whole[b] = t
        r = z[b] - (t - MAGIC)
        high = ((((((T[13] * r + T[12]) * r + T[11]) * r + T[10]) * r + T[9]) * r + T[8]) * r + T[7]) * r + T[6]
        z[b] = (((((high * r + T[5]) * r + T[4]) * r + T[3]) * r + T[2]) * r + T[1]) * r + T[0]
    for b in range(z.size):
        bits[b] += whole_bits[b] << 52


@compiled
def _products(X: Any, slots: Slots, i: int, m: int) -> float:
    """Write x_i·x_b for the first m slots to `slots.value`; return ‖x_i‖²."""
    value, square = slots.value, 0.0
    for b in range(m):
        value[b] = 0.0
    for j in range(X.shape[1]):
        x, column = np.float64(X[i, j]), slots.columns[j]
        square += x * x
        for b in range(m):
            value[b] += x * column[b]
    return square


@compiled
def _whole_power(base: float, degree: int) -> float:
    """Return base^degree by repeated squaring."""
    result = 1.0
    while degree > 0:
        if degree & 1:
            result *= base
        base *= base
        degree >>= 1
    return result


@fill_values.register(Gaussian)
def _(form: Gaussian, slots: Slots, i: int, t: int) -> float:
    m, value = slots.counts[0], slots.value
    square = _products(form.X, slots, i, m)
    scale = -form.gamma * 1.4426950408889634  # 1 / ln 2
    for b in range(m):
        value[b] = max(min(scale * (square - 2.0 * value[b] + slots.squares[b]), 0.0), LOWEST)
    z, whole = value[:m], slots.scratch[:m]
    exp2_inplace(z, whole, z.view(np.int64), whole.view(np.int64))
    for b in range(m):
        value[b] += form.shift
    return 1.0 + form.shift


@fill_values.register(Powers)
def _(form: Powers, slots: Slots, i: int, t: int) -> float:
    m, value, degree = slots.counts[0], slots.value, form.degree
    square = _products(form.X, slots, i, m)
    scratch = slots.scratch
    for b in range(m):
        scratch[b] = form.gamma * value[b] + form.coef0
        value[b] = scratch[b]
    for _ in range(degree - 1):
        for b in range(m):
            value[b] *= scratch[b]
    for b in range(m):
        value[b] += form.shift
    return _whole_power(form.gamma * square + form.coef0, degree) + form.shift


@fill_values.register(Tabled)
def _(form: Tabled, slots: Slots, i: int, t: int) -> float:
    for b in range(slots.counts[0]):
        slots.value[b] = form.table[t, b]
    return form.among[t, t]


@compiled
def _copy_row(X: Any, slots: Slots, i: int, b: int) -> None:
    """Copy example i into slot b."""
    square = 0.0
    for j in range(X.shape[1]):
        x = np.float64(X[i, j])
        slots.columns[j, b] = x
        square += x * x
    slots.squares[b] = square


@place.register(Gaussian)
def _(form: Gaussian, slots: Slots, i: int, t: int, b: int) -> None:
    _copy_row(form.X, slots, i, b)


@place.register(Powers)
def _(form: Powers, slots: Slots, i: int, t: int, b: int) -> None:
    _copy_row(form.X, slots, i, b)


@place.register(Tabled)
def _(form: Tabled, slots: Slots, i: int, t: int, b: int) -> None:
    for later in range(form.table.shape[0]):
        form.table[later, b] = form.among[later, t]


@compiled
def output_of(slots: Slots) -> float:
    """Return f(x) from the kernel values in `slots.value`."""
    total = 0.0
    for b in range(slots.counts[0]):
        total += slots.weight[b] * slots.value[b]
    return total


@compiled
def seat(slots: Slots, i: int, b: int, change: float, square: float) -> None:
    """Note weight, origin and kernel values of the example put into slot b."""
    slots.weight[b], slots.row[b] = change, i
    for o in range(slots.counts[0]):
        slots.K[b, o] = slots.value[o]
        slots.K[o, b] = slots.value[o]
    slots.K[b, b] = square


@compiled
def present_budgeted(rule: Any, form: Any, task: Task, slots: Slots, counts: Counts, k: int, order: IntArray) -> None:
    """Present the examples in `order`, one block, to problem k; an output of 0 is a mistake for both labels."""
    mistakes = 0
    for t in range(order.size):
        i = order[t]
        square = fill_values(form, slots, i, t)
        slots.sums[0] = max(slots.sums[0], square)
        y = 1.0 if task.target[i] == task.positive[k] else -1.0
        if y * output_of(slots) <= 0.0 and task.s[i] > 0.0:
            learn(rule, form, slots, i, t, y * task.s[i], square)
            mistakes += 1
    counts.mistakes[k] += mistakes
    counts.updates[k] += mistakes


def start_slots(budget: int, n_features: int) -> Slots:
    """Make room for `budget` support vectors of `n_features` inputs (0 where the kernel hands in tables)."""
    per_slot = [np.zeros(budget) for _ in range(4)]
    columns, K = np.zeros((n_features, budget)), np.zeros((budget, budget))
    rows, counts = np.full(budget, -1), np.zeros(2, dtype=np.int64)
    squares, weight, value, scratch = per_slot
    return Slots(columns, squares, weight, rows, K, value, scratch, np.zeros(4), counts)
