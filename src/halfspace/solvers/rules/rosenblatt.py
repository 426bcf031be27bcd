"""Rosenblatt's rule.

Problem    Find w with  y_i w·x_i > c  for all i  (c = `margin`, usually 0).
Rule       On a mistake,  E_i = y_i w·x_i <= c,  do  w += eta y_i x_i,  that is  alpha_i += eta.
           The other textbook form,  w += (eta/2)(y_i - g(x_i)) x_i  with  g = sgn(w·x),  is the same step.
           It is the stochastic gradient of the perceptron criterion  Σ max(0, c - E_i),  whose gradient at an example is
           -y_i x_i  where E_i < c and 0 where E_i > c, with rate eta; at the kink E_i = c it steps. For c = 0 that is
           Σ max(0, -y_i f(x_i)),  `criterion_` of the models: 0 at every plane that separates, and at w = 0.
Theorem    If some unit vector has margin kappa > 0 on all examples and ‖x_i‖ <= R, then from w = 0 there are at most
               (R² + 2c/eta) / kappa²
           mistakes, whatever the order and the dimension: each raises w·w* by at least eta kappa and ‖w‖² by at most
           eta² R² + 2 eta c, and a line soon overtakes a square root.
Reference  Rosenblatt 1958; Novikoff 1962, theorem 1; with margin c: Krauth and Mézard 1987, and Biehl's lectures, where
           eta = 1/N makes it (2c + Gamma) N Q*/c².
"""

from typing import NamedTuple

from halfspace.solvers.rules.sweep import strengthen

__all__ = ["Rosenblatt"]


class Rosenblatt(NamedTuple):
    """Add `eta` of an example whose potential is at most `margin`."""

    eta: float = 1.0
    margin: float = 0.0


@strengthen.register(Rosenblatt)
def _(rule: Rosenblatt, E: float, alpha: float, q: float, s: float) -> float:
    return rule.eta * s if rule.margin >= E else 0.0
