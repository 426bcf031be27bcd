"""Room for B support vectors, and the kernel values of an example with all of them: constant memory, constant time.

The values of the Gaussian, polynomial and linear kernels on dense rows are computed here: the slots are stored column by
column, so that every loop runs over neighbouring slots and is vectorised. Any other kernel hands in tables of its values, a
block of examples at a time, with the same results.

Invariants: at most B slots are used; nothing grows with the number of examples; slots that are not in use hold zeros.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy import sparse

from halfspace._dispatch import compiled_inside, open_function
from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.kernels import RBF, Kernel, Linear, Polynomial
from halfspace.kernels.fast.activations import exp2_inplace
from halfspace.rows.views import view_of

__all__ = ["Gaussian", "Powers", "Slots", "Tabled", "fill_values", "form_of", "output_of", "place", "seat", "start_slots"]


class Slots(NamedTuple):
    """The support vectors of one problem, all arrays of fixed size; updated in place."""

    columns: Annotated[FloatArray, "f8(0,B) | f8(d,B)"]  # (d, B) support vectors, one per column
    squares: Annotated[FloatArray, "f8(B)"]  # (B,) their squared lengths
    weight: Annotated[FloatArray, "f8(B)"]  # (B,) signed strengths
    row: Annotated[IntArray, "i8(B)"]  # (B,) the example each came from
    K: Annotated[FloatArray, "f8(B,B)"]  # (B, B) kernel values among the slots
    value: Annotated[FloatArray, "f8(B)"]  # (B,) kernel values with the example at hand
    scratch: Annotated[FloatArray, "f8(B)"]  # (B,)
    sums: Annotated[
        FloatArray, "f8(3) | f8(4)"
    ]  # (3,) R², the largest k(x, x) met, and what the rule's theorem adds up, see there
    counts: Annotated[IntArray, "i8(1) | i8(2)"]  # (1,) slots in use


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


def form_of(kernel: Kernel, X: Matrix, shift: float) -> Any:
    """Return the kernel on these rows as the compiled loop computes it; None where it has to be tabled."""
    if sparse.issparse(X):  # the compiled loops run over columns of dense rows
        return None
    if type(kernel) is RBF:
        return Gaussian(view_of(X), float(kernel.gamma), shift)
    if type(kernel) is Linear:
        return Powers(view_of(X), 1.0, 0.0, 1, shift)
    if type(kernel) is Polynomial:
        return Powers(view_of(X), float(kernel.gamma), float(kernel.coef0), int(kernel.degree), shift)
    return None


@open_function
def fill_values(form: Any, slots: Slots, i: int, t: int) -> float:
    """Write the kernel values of example i, place t of its block, with the slots to `slots.value`; return k(x_i, x_i)."""


@open_function
def place(form: Any, slots: Slots, i: int, t: int, b: int) -> None:
    """Put example i into slot b, whose kernel values are those in `slots.value`."""


@compiled_inside
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


@compiled_inside
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
        value[b] = min(scale * (square - 2.0 * value[b] + slots.squares[b]), 0.0)
    exp2_inplace(value[:m])
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


@compiled_inside
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


@compiled_inside
def output_of(slots: Slots) -> float:
    """Return f(x) from the kernel values in `slots.value`."""
    total = 0.0
    for b in range(slots.counts[0]):
        total += slots.weight[b] * slots.value[b]
    return total


@compiled_inside
def seat(slots: Slots, i: int, b: int, change: float, square: float) -> None:
    """Note weight, origin and kernel values of the example put into slot b."""
    slots.weight[b], slots.row[b] = change, i
    for o in range(slots.counts[0]):
        slots.K[b, o] = slots.value[o]
        slots.K[o, b] = slots.value[o]
    slots.K[b, b] = square


def start_slots(budget: int, n_features: int) -> Slots:
    """Make room for `budget` support vectors of `n_features` inputs (0 where the kernel hands in tables)."""
    per_slot = [np.zeros(budget) for _ in range(4)]
    columns, K = np.zeros((n_features, budget)), np.zeros((budget, budget))
    rows, counts = np.full(budget, -1), np.zeros(1, dtype=np.int64)
    squares, weight, value, scratch = per_slot
    return Slots(columns, squares, weight, rows, K, value, scratch, np.zeros(3), counts)
