"""The storage problem: how many random labels a plane can hold at a given stability.

Problem    Labels of P = alpha N points x ~ N(0, I), and a plane w with y_i w·x_i >= kappa ‖w‖ for all of them.
Theorem    For large N there is one if alpha < alpha_c and none if alpha > alpha_c. With G(k) = (1 + k²) Phi(k) + k phi(k):
           fair coins         1/alpha_c = G(kappa), so 2 at kappa = 0
           a share f of +1    1/alpha_c = min_b f G(kappa - b) + (1-f) G(kappa + b), with a free bias b
           a teacher whose labels are flipped with probability p
                              1/alpha_c = min_a E [(1-p) G(k - a|t|) + p G(k + a|t|)],  k = kappa sqrt(1 + a²),  t normal,
           where the best plane has the angle arccot(a) to the teacher.
Proof      By Gordon's comparison, max_w min_λ of the Gaussian field has the sign of its value on independent vectors: the
           constraints hold for a w with overlap R if alpha E (kappa - R y t - sqrt(1-R²) g)₊² < 1 - R². Divide by 1 - R².
Reference  Gardner (1988) for the first; the others follow from the same comparison (Gordon 1988).
"""

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from halfspace.errors import InputError
from halfspace.theory.arguments import share
from halfspace.theory.integrals import hinge, over_half_line, squared_hinge

__all__ = ["capacity"]


def capacity(stability: float = 0.0, positives: float = 0.5, flipped: float | None = None) -> float:
    """Return the largest alpha = P/N up to which a plane holds all labels at a given stability.

    1/alpha_c = (1 + kappa²) Phi(kappa) + kappa phi(kappa) for labels by fair coins (Gardner 1988); with a share of
    positives, or with flipped labels of a teacher, a minimum of such terms (see `halfspace.theory.storage`).

    Parameters
    ----------
    stability : float, default 0.0
        Least y w·x/‖w‖ wanted, for inputs of variance 1 (divide by sqrt(N) for rows of length 1).
    positives : float, default 0.5
        Share of the labels that are +1, tossed independently of the inputs; the plane has a free bias.
    flipped : float, optional
        If given, the labels are a teacher's and this share of them is wrong: 0.5 are coins again, and 0 can always be held at
        stability 0.

    Returns
    -------
    float
        Threshold of alpha, for large N.

    Examples
    --------
    >>> import halfspace as hs
    >>> round(hs.theory.capacity(), 6), round(hs.theory.capacity(positives=0.05), 3), round(hs.theory.capacity(flipped=0.1), 3)
    (2.0, 6.083, 2.992)
    """
    if not np.isfinite(stability):
        msg = f"capacity: 'stability' must be finite. Got {stability!r} instead."
        raise InputError(msg)
    f = share("capacity", "positives", positives)
    if flipped is not None:
        if f != 0.5:
            msg = f"capacity: give 'positives' or 'flipped', not both. Got {positives!r} and {flipped!r} instead."
            raise InputError(msg)
        return _flipped(float(stability), share("capacity", "flipped", flipped))
    if f in {0.0, 1.0}:
        return float("inf")

    def slope(b: float) -> float:
        return float((1.0 - f) * hinge(stability + b) - f * hinge(stability - b))

    bound = 40.0 + abs(stability)
    b = brentq(slope, -bound, bound, xtol=1e-14)
    return float(1.0 / (f * squared_hinge(stability - b) + (1.0 - f) * squared_hinge(stability + b)))


def _flipped(kappa: float, flipped: float) -> float:
    """Return the threshold for a teacher's labels; those all flipped are another teacher's."""
    p = min(flipped, 1.0 - flipped)
    if p == 0.0 and kappa <= 0.0:
        return float("inf")

    def load(log_a: float) -> float:
        a = np.exp(log_a)
        k = kappa * np.hypot(1.0, a)
        right, weights = over_half_line(k, a)
        wrong, others = over_half_line(-k, a)  # G(x) = 1 + x² - G(-x)
        mean = 1.0 + k * k + a * a + 2.0 * k * a * np.sqrt(2.0 / np.pi) - others @ squared_hinge(wrong)
        return float((1.0 - p) * (weights @ squared_hinge(right)) + p * mean)

    best = minimize_scalar(load, bounds=(-18.0, 18.0), method="bounded", options={"xatol": 1e-9})
    return float(1.0 / best.fun)
