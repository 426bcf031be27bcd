"""The sums behind a duality gap in a kernel's space, and the fields that certificates there have in common."""

from typing import Any, NamedTuple

import numpy as np

from halfspace._typing import FloatArray
from halfspace.certificates.arithmetic import is_number
from halfspace.certificates.margins.margin import SLACK
from halfspace.kernels import Kernel

__all__ = ["GapSums", "sound_bias", "sound_kernel"]


class GapSums(NamedTuple):
    """What both values are made of, each with a bound on its rounding."""

    E: FloatArray  # potentials, (n,)
    error: FloatArray  # (n,)
    caps: FloatArray  # C s_i, (n,)
    square: float  # ‖f‖²
    square_error: float
    total: float  # Σ alpha_i
    rest: float  # what is left of Σ alpha_i y_i, with a free bias
    radius: float
    spare: float  # relative rounding of sums over the examples

    def soft(self, slack: float) -> tuple[float, float]:
        """Return primal and dual value, moved apart by `slack` rounding errors."""
        near = 1.0 + SLACK * self.error > self.E
        caps, error = self.caps[near], self.error[near]
        loss = float((caps * np.maximum(0.0, 1.0 - self.E[near])).sum())
        primal_error = 0.5 * self.square_error + self.spare * (self.square + loss) + float((caps * error).sum())
        # Strengths that do not quite balance can be made to by taking the rest away from the stronger class.
        moved = self.rest * (1.0 + np.sqrt(self.square) * self.radius + self.rest * self.radius**2)
        dual_error = 0.5 * self.square_error + self.spare * (self.total + self.square) + moved
        return 0.5 * self.square + loss + slack * primal_error, self.total - 0.5 * self.square - slack * float(dual_error)

    def hard(self, slack: float) -> tuple[float, float]:
        """Return both values for C = inf, where only directions matter."""
        least = float((self.E - slack * self.error)[self.caps > 0].min())
        longest = np.float64(self.square + slack * self.square_error)
        primal = float(0.5 * longest * (1.0 + slack * self.spare) / least**2) if least > 0.0 else np.inf
        total = self.total * (1.0 - slack * self.spare) - slack * self.rest
        size = np.sqrt(longest) + slack * self.rest * self.radius
        return primal, float(0.5 * (total / size) ** 2) if total > 0.0 else 0.0


def sound_kernel(kernel: Any) -> bool:
    """Tell whether a field is a kernel with nothing left to learn from data."""
    return isinstance(kernel, Kernel) and kernel.is_resolved()


def sound_bias(certificate: Any) -> list[tuple[bool, str]]:
    """Return the claims about bias and clamped input."""
    c = certificate
    return [
        (isinstance(c.free, bool), "free is neither true nor false"),
        (is_number(c.bias) and (c.free is True or c.bias == 0.0), "the bias is not a number, or not free and not 0"),
        (is_number(c.clamp), "the clamped input is not a number"),
        (not (c.free is True and c.clamp), "a bias cannot be both free and clamped"),
    ]
