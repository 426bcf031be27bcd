"""Hebb's rule.

Problem    Learn from one look at each example, without looking at the own output.
Rule       w += y_i x_i,  that is  alpha_i += 1, for every example once.
Theorem    None on separation; the weights are the difference of the class sums, so the plane is normal to the line between
           the class means when the classes are equally large. For a teacher on the sphere the error falls as
           0.40 / sqrt(P/N), against 0.50 N/P for the plane of maximal stability.
Reference  Hebb 1949; Vallet 1989 for the learning curve.
"""

from typing import NamedTuple

from halfspace.solvers.rules.sweep import strengthen

__all__ = ["Hebb"]


class Hebb(NamedTuple):
    """Add every example once, right or wrong."""

    margin: float = 0.0


@strengthen.register(Hebb)
def _(rule: Hebb, E: float, alpha: float, q: float, s: float) -> float:
    return s
