"""Rosenblatt's rule where a threshold unit answers: an output of 0 is the negative class.

Problem    That of `rosenblatt.py`, with  sgn(0) = -1.
Rule       On  sgn(w·x_i) != y_i  do  w += eta y_i x_i.  It differs from  E_i <= 0  only where an output is exactly 0, as from
           zero weights: a negative example is right there.
Theorem    Every mistake has  E_i <= 0,  so that the bound of `rosenblatt.py` holds. That no mistake comes any more says less:
           negative examples may lie on the plane.
Reference  Rosenblatt 1958; lectures that begin with a threshold unit.
"""

from typing import NamedTuple

from halfspace.solvers.rules.sweep import potential, strengthen

__all__ = ["Signum"]


class Signum(NamedTuple):
    """Add `eta` of an example that a threshold unit with sgn(0) = -1 gets wrong."""

    eta: float = 1.0
    margin: float = 0.0


@strengthen.register(Signum)
def _(rule: Signum, E: float, alpha: float, q: float, s: float) -> float:
    return rule.eta * s if rule.margin >= E else 0.0


@potential.register(Signum)
def _(rule: Signum, f: float, y: float) -> float:
    return 1.0 if f == 0.0 and y < 0.0 else y * f
