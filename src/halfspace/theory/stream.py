"""The perceptron that sees each example once.

Rule       On a mistake, E = y w·x <= 0, add y x; from w = 0.
Theorem    With r = w·w*/N and Q = ‖w‖²/N per alpha = P/N, rho = r/sqrt(Q) = cos(theta), and a share p of flipped labels,
               r' = (1 - 2p - rho)/sqrt(2π),
               Q' = P(mistake) - 2 sqrt(Q) (1 - (1-2p) rho)/sqrt(2π),   P(mistake) = p + (1-2p) theta/π,
           as E[y u; E < 0] = (E[y u] - E[u sgn h])/2 for the fields u of the teacher and h of the student, and likewise for h.
           Solved for theta and sqrt(Q) over ln alpha. With flips it ends in the fixed point rho = 1 - 2p; without, theta falls
           as alpha^(-1/3).
Reference  Biehl and Riegler (1994) for the method; Rosenblatt's rule for the update.
"""

from functools import lru_cache
from math import acos, cos, exp, log, pi, sin, sqrt
from typing import Any

import numpy as np
from scipy.integrate import odeint
from scipy.interpolate import make_interp_spline

__all__ = ["stream_angle"]

FIRST, LAST, POINTS = 1e-10, 1e5, 801
"""The solution is kept from here, where it is known, to here: later the power law goes on."""
ROOT = sqrt(2.0 * pi)


def stream_angle(alpha: float, flipped: float) -> float:
    """Return the angle between student and teacher after one pass."""
    if alpha <= FIRST:
        return acos((1.0 - 2.0 * flipped) * sqrt(alpha / pi))
    angle: float = _solved(flipped)(log(min(alpha, LAST))).item()
    return angle if flipped or alpha <= LAST else angle * (LAST / alpha) ** (1.0 / 3.0)


@lru_cache(maxsize=64)
def _solved(p: float) -> Any:
    """Return the angle as a function of ln alpha."""
    c = 1.0 - 2.0 * p

    def slopes(state: list[float], log_alpha: float) -> list[float]:
        theta, length = state
        alpha, cosine = exp(log_alpha), cos(theta)
        grows = (p + c * theta / pi) / (2.0 * length) - (1.0 - c * cosine) / ROOT
        turns = (cosine * grows - (c - cosine) / ROOT) / (length * sin(theta))
        return [alpha * turns, alpha * grows]

    grid = np.linspace(log(FIRST), log(LAST), POINTS)
    start = [acos(c * sqrt(FIRST / pi)), sqrt(FIRST / 2.0)]
    angles = odeint(slopes, start, grid, rtol=1e-12, atol=1e-15, mxstep=10000)[:, 0]
    return make_interp_spline(grid, angles, k=7)
