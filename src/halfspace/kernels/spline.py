"""B-splines as kernels: k(x, x') = Π_j B_{2n+1}((x_j - x'_j) / scale).

B_m is the unit box convolved with itself m times: a bump of degree m on [-(m+1)/2, (m+1)/2]. The box has the Fourier transform
sinc, so B_m has sinc^(m+1), which is nowhere negative for odd m: these are kernels, and those of even m are not (Vapnik 1997).
"""

from dataclasses import dataclass
from math import comb, factorial
from typing import Any

import numpy as np
from scipy import sparse

from halfspace._typing import FloatArray
from halfspace.errors import InputError
from halfspace.kernels.base import Kernel, is_number
from halfspace.kernels.inner_product import integer_power
from halfspace.kernels.parameters import check_count
from halfspace.kernels.products import EPS

__all__ = ["BSpline"]

HIGHEST = 7
"""Orders beyond lose digits in the sum below, and look like a Gaussian anyway."""
IN_CACHE = 1 << 14
"""Values whose factors are computed at a time."""


@dataclass(frozen=True, eq=False)
class BSpline(Kernel):
    """The B-spline kernel, k(x, x') = Π_j B_{2n+1}((x_j - x'_j) / scale), which is 0 for rows far apart in any column.

    Parameters
    ----------
    order : int
        n, from 0 (hat functions) to 7; 1 gives cubic splines.
    scale : float
        Distance of the knots, > 0.

    Examples
    --------
    >>> kernel = BSpline(order=1)
    >>> print(kernel, [round(kernel([0.0], [t]), 4) for t in (0.0, 1.0, 2.0)])
    Π_j B_3(x_j - x'_j) [0.6667, 0.1667, 0.0]
    """

    order: int = 1
    scale: float = 1.0

    def __post_init__(self) -> None:
        check_count(self.order, "BSpline", "order", least=0)
        if self.order > HIGHEST:
            msg = f"BSpline: order must be at most {HIGHEST}, got {self.order!r}; a Gaussian, RBF(gamma), is the limit"
            raise InputError(msg)
        if not is_number(self.scale) or self.scale <= 0:
            msg = f"BSpline: scale must be a number > 0, got {self.scale!r}"
            raise InputError(msg)

    @property
    def degree(self) -> int:
        """Degree of the polynomial pieces, 2 order + 1."""
        return 2 * int(self.order) + 1

    def __str__(self) -> str:
        difference = "x_j - x'_j" if self.scale == 1 else f"(x_j - x'_j)/{self.scale:g}"
        return f"Π_j B_{self.degree}({difference})"

    def values(self, A: Any, B: Any) -> FloatArray:
        """Return the products over the columns."""
        first, second = (X.toarray() if sparse.issparse(X) else X for X in (A, B))
        columns = np.ascontiguousarray(second.T)
        out = np.ones((A.shape[0], B.shape[0]))
        step = max(1, IN_CACHE // B.shape[0])
        for begin in range(0, A.shape[0], step):
            block = out[begin : begin + step]
            for j in range(A.shape[1]):
                block *= self._bump((first[begin : begin + step, j, None] - columns[j]) / self.scale)
        return out

    def own_values(self, A: Any) -> FloatArray:
        """Return B(0)^d for every row."""
        return np.full(A.shape[0], float(self._bump(np.zeros(1))[0]) ** A.shape[1])

    def bounds(self, A: Any, B: Any) -> tuple[float, float]:  # noqa: ARG002  (the same for all rows)
        """Return bounds on value and rounding: of every factor that of its terms, and of its argument times the slope, <= 1."""
        m, d = self.degree, A.shape[1]
        terms = sum(comb(m + 1, k) * ((m + 1) / 2 - k) ** m for k in range((m + 1) // 2 + 1)) / factorial(m)
        error = 2 * (2 * m + 4) * EPS * terms + (m + 1) * EPS
        peak = float(self._bump(np.zeros(1))[0])
        return peak**d, d * (error + EPS) * (peak + error) ** (d - 1)

    def reason(self) -> str | None:
        """Return the proof."""
        return f"{self} has sinc^{self.degree + 1} >= 0 in every column for its Fourier transform (Bochner)"

    def _bump(self, t: FloatArray) -> FloatArray:
        """Return B_m(t) = Σ_k (-1)^k C(m+1, k) max(0, (m+1)/2 - |t| - k)^m / m!, which has few terms on its outer side."""
        m = self.degree
        left = (m + 1) / 2 - np.abs(t)
        total = np.zeros_like(left)
        for k in range((m + 1) // 2):
            total += (-1) ** k * comb(m + 1, k) * integer_power(np.maximum(left - k, 0.0), m)
        return np.maximum(total, 0.0) / factorial(m)
