"""The delta rule of the Adaline.

Problem    min over w of  ½ Σ (y_i - w·x_i)² = ½ Σ (1 - E_i)².
Rule       w += rate (y_i - w·x_i) x_i,  that is  alpha_i += rate (1 - E_i): stochastic gradient descent, example by example.
           The step is cut at 1/‖x_i‖², where it makes E_i = 1: a long row must not overshoot.
Theorem    With 0 < rate ‖x_i‖² < 2 each presentation lowers that example's own error. From w = 0 the weights stay in the
           span of the examples, so where several planes have no error the rule finds the one of smallest norm; where none
           has, a falling rate leads to the least-squares plane.
Reference  Widrow and Hoff 1960; for consistent systems Kaczmarz 1937.
"""

from typing import NamedTuple

import numpy as np

from halfspace.solvers.rules.sweep import at_epoch, strengthen

__all__ = ["Delta"]


class Delta(NamedTuple):
    """Move the output towards the label by a fraction of the error, which falls as rate / (1 + epoch / half_life)."""

    rate: float = 0.01
    half_life: float = np.inf
    margin: float = 0.0


@at_epoch.register(Delta)
def _(rule: Delta, epoch: int) -> Delta:
    return Delta(rule.rate / (1.0 + epoch / rule.half_life), rule.half_life, rule.margin)


@strengthen.register(Delta)
def _(rule: Delta, E: float, alpha: float, q: float, s: float) -> float:
    return min(rule.rate * s, 1.0 / q) * (1.0 - E) if q > 0.0 else 0.0
