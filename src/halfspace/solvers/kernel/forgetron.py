"""The Forgetron: on a full budget, shrink the function a little and forget its oldest support vector.

Problem    Follow a stream of examples with a function of at most B support vectors.
Rule       On a mistake  f' = f + y_t k(x_t, ·).  If that has B + 1 support vectors,  f'' = phi f',  and the oldest, x_r with
           weight y_r sigma in f', is left out:  f <- f'' - y_r lambda k(x_r, ·),  lambda = phi sigma.
           phi is the largest number in (0, 1] with  Σ Psi <= (15/32) M,  where M counts the mistakes and, with R² the largest
           k(x, x),  Psi = lambda² k(x_r, x_r)/R² + 2 lambda - 2 lambda y_r f''(x_r)/R²  is what a removal can cost.
Theorem    For any g with hinge losses  l_t = max(0, 1 - y_t g(x_t)/R²),
               M <= (‖g‖/R)² (1 + Σ (1 - phi_t)) + 2 Σ l_t + Σ Psi_t,
           with the sums of this very run; and for B >= 83 and  ‖g‖/R <= U = ¼ sqrt((B + 1)/log(B + 1)),
               M <= 2 (‖g‖/R)² + 4 Σ l_t.
           Each mistake brings f nearer to g by R²(1 - 2 l_t); shrinking takes it away by at most (1 - phi)‖g‖²; what a removal
           takes back is at most R² Psi, because an example that was added with weight 1 is removed with lambda <= 1.
Reference  Dekel, Shalev-Shwartz and Singer 2008, figure 2 (the self-tuned Forgetron) and theorem 5.5.

`slots.sums` holds R², Σ (lambda² k(x_r, x_r) - 2 lambda y_r f''(x_r)), Σ lambda and Σ (1 - phi).
"""

from typing import Any, NamedTuple

import numpy as np

from halfspace._dispatch import compiled
from halfspace._typing import IntArray
from halfspace.solvers.kernel.budget import Slots, learn, place, seat

__all__ = ["Forgetron", "shrinking"]

ALLOWED = 15.0 / 32.0
"""Share of the mistakes that removals may cost."""


class Forgetron(NamedTuple):
    """Forget the oldest; examples are added with weights up to `fastest`, which scales f and nothing else."""

    mistakes: IntArray  # (1,) so far
    fastest: float = 1.0


@compiled
def shrinking(curve: float, slope: float, room: float) -> float:
    """Return the largest phi in (0, 1] with  curve phi² + slope phi <= room,  for slope > 0 and room > 0."""
    if curve + slope <= room:
        return 1.0
    return min(1.0, 2.0 * room / (slope + np.sqrt(max(slope * slope + 4.0 * curve * room, 0.0))))


@learn.register(Forgetron)
def _(rule: Forgetron, form: Any, slots: Slots, i: int, t: int, change: float, square: float) -> None:
    rule.mistakes[0] += 1
    m, B, sums = slots.counts[0], slots.weight.size, slots.sums
    if m < B:
        place(form, slots, i, t, m)
        seat(slots, i, m, change, square)
        slots.counts[0] = m + 1
    else:
        r = slots.counts[1]
        sigma, sign = abs(slots.weight[r]), np.sign(slots.weight[r])
        output = change * slots.value[r]
        for b in range(B):
            output += slots.weight[b] * slots.K[r, b]
        margin = sums[0] * rule.fastest
        curve, slope = sigma * sigma * slots.K[r, r] - 2.0 * sigma * sign * output, 2.0 * margin * sigma
        allowed = ALLOWED * margin * rule.fastest
        room = max(allowed * rule.mistakes[0] - sums[1] - 2.0 * margin * sums[2], allowed)
        phi = shrinking(curve, slope, room) if sigma > 0.0 else 1.0
        sums[1] += phi * phi * curve
        sums[2] += phi * sigma
        sums[3] += 1.0 - phi
        for b in range(B):
            slots.weight[b] *= phi
        place(form, slots, i, t, r)
        seat(slots, i, r, phi * change, square)
        slots.counts[1] = (r + 1) % B
