"""Passive-aggressive learning.

Problem    On a stream: the new w is the nearest to the old one with  E_i >= 1;  PA-I and PA-II forgive at a price C.
Rule       alpha_i += min(cap, (1 - E_i) / (‖x_i‖² + softness))  where  E_i < 1;  nothing otherwise.
               PA:    cap = inf, softness = 0
               PA-I:  cap = C,   softness = 0
               PA-II: cap = inf, softness = 1/(2C)
Theorem    If some unit vector has margin kappa > 0 and ‖x_i‖ <= R, mistakes (E_i <= 0) number at most
               R²/kappa²,   max(R², 1/C)/kappa²,   (R² + 1/(2C))/kappa²
           for PA, PA-I and PA-II: apply the loss bounds to u = w*/kappa, which has no loss at all.
Reference  Crammer, Dekel, Keshet, Shalev-Shwartz, Singer 2006, theorems 2, 4 and 5.
"""

from typing import NamedTuple

import numpy as np

from halfspace.solvers.rules.sweep import strengthen

__all__ = ["PassiveAggressive"]


class PassiveAggressive(NamedTuple):
    """Do the least that makes E_i = 1, up to `cap` and softened by `softness`."""

    cap: float = np.inf
    softness: float = 0.0
    margin: float = 0.0


@strengthen.register(PassiveAggressive)
def _(rule: PassiveAggressive, E: float, alpha: float, q: float, s: float) -> float:
    if E >= 1.0 or q == 0.0:
        return 0.0
    return min(rule.cap * s, (1.0 - E) / (q + rule.softness / s))
