"""The AdaTron: adaptive strengths that climb the dual of the large-margin problem.

Problem    min_w  ½‖w‖² + Σ C_i max(0, 1 - E_i),   E_i = y_i w·x_i      (C_i = inf: no errors, E_i >= 1 for all i)
Dual       max    Σ alpha_i - ½‖w‖²,   w = Σ alpha_i y_i x_i,   0 <= alpha_i <= C_i
Rule       alpha_i <- min(C_i, max(0, alpha_i + rate (1 - E_i) / ‖x_i‖²)),   0 < rate < 2,   example by example.
           With rate 1 each step maximises the dual along its coordinate: it is the dual coordinate descent of LIBLINEAR
           (Hsieh et al. 2008), nineteen years earlier. A rate between 1 and 2 is over-relaxation: it pays when C ‖x‖² is
           large (`benchmarks/large_margin_sparse.py` measures it).
Theorem    No step lowers the dual: the gain is  rate (2 - rate) (1 - E_i)² / (2 ‖x_i‖²)  where no bound stops it, and a
           bound stops it on the way uphill. So the dual rises every sweep, and since any strengths within their bounds give
           a lower bound and any weights an upper bound on the same number, their gap is a proof at every moment.
           For C = inf:  1/‖w‖ -> kappa_max, and the dual grows beyond all bounds exactly when no plane separates the classes.
Reference  Anlauf and Biehl 1989; with errors: Frieß, Cristianini and Campbell 1998; Hsieh, Chang, Lin, Keerthi and
           Sundararajan 2008.
"""

from typing import NamedTuple

from halfspace.solvers.rules.sweep import strengthen

__all__ = ["AdaTron"]


class AdaTron(NamedTuple):
    """Move a strength towards potential 1, between 0 and the cap; an example's weight multiplies its cap."""

    rate: float = 1.0
    cap: float = 1.0
    margin: float = 0.0


@strengthen.register(AdaTron)
def _(rule: AdaTron, E: float, alpha: float, q: float, s: float) -> float:
    if q == 0.0:  # an example of zeros moves no weights: its strength is a matter of the bias alone
        return (rule.cap * s if E < 1.0 else 0.0) - alpha if rule.cap < float("inf") else 0.0
    return min(max(alpha + rule.rate * (1.0 - E) / q, 0.0), rule.cap * s) - alpha
