"""The probability that a message is spam, from its score, learnt online from scores taken before learning.

Model  p = 1/(1 + exp(-(a s + b))), Platt's, with a and b moved by one Newton step a message: H += p(1 - p) (s, 1)(s, 1)ᵀ and
       (a, b) -= H⁻¹ (p - y)(s, 1), from a = 4, b = 0 and a prior H of 1 (Hazan's online Newton step, for two parameters).
"""

import math
from typing import NamedTuple, Self

__all__ = ["Calibration"]


class Calibration(NamedTuple):
    """The two parameters, and the matrix of second derivatives.

    Examples
    --------
    >>> known = Calibration()
    >>> for score, spam in [(1.0, True), (-1.0, False), (0.9, True), (-0.8, False)]:
    ...     known = known.learnt(score, spam=spam)
    >>> known.probability(1.0) > 0.95, known.probability(-1.0) < 0.05
    (True, True)
    """

    slope: float = 4.0
    offset: float = 0.0
    h_ss: float = 1.0
    h_s1: float = 0.0
    h_11: float = 1.0

    def probability(self, score: float) -> float:
        """Return the probability that a message with this score is spam."""
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, self.slope * score + self.offset))))

    def learnt(self, score: float, *, spam: bool) -> Self:
        """Return the calibration that has seen one more score and what the message was."""
        p = self.probability(score)
        step, weight = p - spam, max(p * (1.0 - p), 1e-3)
        h_ss, h_s1, h_11 = self.h_ss + weight * score * score, self.h_s1 + weight * score, self.h_11 + weight
        scale = step / (h_ss * h_11 - h_s1 * h_s1)
        slope = max(0.1, self.slope - scale * (h_11 * score - h_s1))
        return self._replace(slope=slope, offset=self.offset - scale * (h_ss - h_s1 * score), h_ss=h_ss, h_s1=h_s1, h_11=h_11)
