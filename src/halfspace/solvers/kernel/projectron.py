"""The Projectron: on a full budget, project a new example on the support vectors there are.

Problem    Follow a stream of examples with a function of at most B support vectors, none of which is ever forgotten.
Rule       On a mistake let  k_t = k(x_t, ·)  have the projection  p_t = Σ_b d_b k(x_b, ·),  d = K⁻¹ (k(x_b, x_t))_b,  on the
           span of the support vectors, and the rest  δ_t = k_t - p_t.  While there is room and δ_t is not negligible, x_t joins
           the support vectors,  f <- f + y_t k_t;  otherwise  f <- f + y_t p_t,  which changes weights only.
Theorem    For any g with hinge losses  l_t = max(0, 1 - y_t g(x_t)/R²),  R² the largest k(x, x),
               M <= (‖g‖/R)² + 2 Σ l_t + 2 (‖g‖/R) Σ ‖δ_t‖/R - Σ ‖δ_t‖²/R²,
           the sums of the rests over the mistakes that were projected: each mistake brings f nearer to g by at least
           R²(1 - 2 l_t) - 2‖g‖‖δ_t‖ + ‖δ_t‖².
Reference  Orabona, Keshet and Caputo 2009, algorithm 2 and the proof of theorem 3, with the threshold replaced by the budget.

`slots.sums` holds R², Σ ‖δ_t‖ and Σ ‖δ_t‖².  The inverse of K costs B² per new support vector, and a projection B² too.
"""

from typing import Any, NamedTuple

import numpy as np

from halfspace._dispatch import compiled
from halfspace._typing import FloatArray
from halfspace.solvers.kernel.budget import Slots, learn, place, seat

__all__ = ["Projectron"]

NEGLIGIBLE = 1e-6
"""Squared rest, as a share of k(x, x), below which an example is taken to lie in the span: the inverse stays accurate."""


class Projectron(NamedTuple):
    """Project on a full budget."""

    inverse: FloatArray  # (B, B) inverse of the kernel matrix of the slots in use


@compiled
def _coordinates(inverse: FloatArray, slots: Slots) -> float:
    """Write d = K⁻¹ value to `slots.scratch`; return the squared length of the projection, d·value."""
    m, value, d, total = slots.counts[0], slots.value, slots.scratch, 0.0
    for b in range(m):
        dot, row = 0.0, inverse[b]
        for o in range(m):
            dot += row[o] * value[o]
        d[b] = dot
        total += dot * value[b]
    return total


@compiled
def _extend(inverse: FloatArray, d: FloatArray, m: int, rest: float) -> None:
    """Bring the inverse up to date for one more row: a change of rank one."""
    for b in range(m):
        share, row = d[b] / rest, inverse[b]
        for o in range(m):
            row[o] += share * d[o]
        row[m] = -share
        inverse[m, b] = -share
    inverse[m, m] = 1.0 / rest


@learn.register(Projectron)
def _(rule: Projectron, form: Any, slots: Slots, i: int, t: int, change: float, square: float) -> None:
    m, d = slots.counts[0], slots.scratch
    rest = max(square - _coordinates(rule.inverse, slots), 0.0)
    if m < slots.weight.size and rest > NEGLIGIBLE * square:
        _extend(rule.inverse, d, m, rest)
        place(form, slots, i, t, m)
        seat(slots, i, m, change, square)
        slots.counts[0] = m + 1
    else:
        for b in range(m):
            slots.weight[b] += change * d[b]
        slots.sums[1] += np.sqrt(rest)
        slots.sums[2] += rest
