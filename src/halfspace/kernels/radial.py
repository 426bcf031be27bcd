"""The kernels that are functions of the distance: Gaussian, exponential, and exponential of the Manhattan distance."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from halfspace._typing import FloatArray, Matrix
from halfspace.kernels.parameters import GammaKernel, coefficient
from halfspace.kernels.products import EPS, dense, distance_reach, distances, doubled, moved, squared_distances, squares

__all__ = ["RBF", "Laplacian", "Manhattan"]


@dataclass(frozen=True, eq=False)
class RBF(GammaKernel):
    """The Gaussian kernel, k(x, x') = exp(-gamma ‖x - x'‖²).

    Parameters
    ----------
    gamma : float, "scale", "auto" or "median"
        Inverse squared width, > 0. "scale" is 1/(d Var X) and "auto" 1/d, as in scikit-learn; "median" is 1/(2 m²), m the
        median distance of a sample of pairs of rows.

    Examples
    --------
    >>> print(RBF(0.5))
    exp(-0.5‖x - x'‖²)
    >>> round(RBF(0.5)([0.0], [2.0]), 6)  # exp(-2)
    0.135335
    """

    at_most_1: ClassVar[bool] = True
    words: ClassVar[tuple[str, ...]] = ("scale", "auto", "median")
    power: ClassVar[int] = 2

    gamma: float | str = "scale"

    def __str__(self) -> str:
        return f"exp(-{coefficient(self.gamma).rstrip()}‖x - x'‖²)"

    def values(self, A: Any, B: Any) -> FloatArray:
        """Return exp(-gamma ‖a_i - b_j‖²)."""
        out = squared_distances(A, B)
        out *= -float(self.gamma)
        return np.exp(out, out=out)

    def own_values(self, A: Any) -> FloatArray:
        """Return 1 for every row."""
        return np.ones(A.shape[0])

    def bounds(self, A: Any, B: Any) -> tuple[float, float]:
        """Return bounds on value and rounding: exp(-t) changes by no more than t does.

        With u = EPS / 2 the product errs by d u ‖a‖‖b‖, twice, the squares by d u ‖a‖² and d u ‖b‖², moving the rows, the
        sums and the product with gamma by less than 8 u (‖a‖ + ‖b‖)²: all in all (d + 8) u (‖a‖ + ‖b‖)².
        """
        return 1.0, min(float(self.gamma) * 0.5 * (A.shape[1] + 8) * EPS * distance_reach(A, B) ** 2, 1.0) + 16 * EPS

    def rounding_by_row(self, A: Matrix) -> tuple[float, FloatArray] | None:
        """Return the unit and the distances of rows from their mean (of sparse rows, which are not moved, from 0).

        As in `bounds`, with (‖a‖ + ‖b‖)² <= 2 ‖a‖² + 2 ‖b‖²; the mean of a part is no farther from the mean of all than the
        rows of the part are on average.
        """
        rows = doubled(A)
        return float(self.gamma) * (A.shape[1] + 8) * EPS, np.sqrt(squares(moved(rows, rows)[0])) * (1 + 8 * EPS)

    def reason(self) -> str | None:
        """Return the proof."""
        return f"{self} has a Gaussian, positive everywhere, for its Fourier transform (Bochner)"


@dataclass(frozen=True, eq=False)
class Laplacian(GammaKernel):
    """The exponential kernel, k(x, x') = exp(-gamma ‖x - x'‖), of the Euclidean distance.

    Parameters
    ----------
    gamma : float, "scale", "auto" or "median"
        Inverse width, > 0. "scale" is 1/(d Var X) and "auto" 1/d, as in scikit-learn; "median" is 1/m, m the median distance
        of a sample of pairs of rows.

    Examples
    --------
    >>> round(Laplacian(0.5)([0.0, 0.0], [3.0, 4.0]), 6)  # exp(-2.5)
    0.082085
    """

    at_most_1: ClassVar[bool] = True
    words: ClassVar[tuple[str, ...]] = ("scale", "auto", "median")

    gamma: float | str = "scale"

    def __str__(self) -> str:
        return f"exp(-{coefficient(self.gamma).rstrip()}‖x - x'‖)"

    def values(self, A: Any, B: Any) -> FloatArray:
        """Return exp(-gamma ‖a_i - b_j‖)."""
        out = distances(A, B)
        out *= -float(self.gamma)
        return np.exp(out, out=out)

    def own_values(self, A: Any) -> FloatArray:
        """Return 1 for every row."""
        return np.ones(A.shape[0])

    def bounds(self, A: Any, B: Any) -> tuple[float, float]:
        """Return bounds on value and rounding.

        A pair not computed from its difference has ‖a - b‖ of at least 0.007 of their lengths, so its rounding is at most
        143 times that of the lengths; the same relative to the distance is 20,000, and t exp(-t) is below 1.
        """
        unit = (A.shape[1] + 8) * EPS
        return 1.0, min(20_000 * unit, 150 * float(self.gamma) * unit * distance_reach(A, B), 1.0) + 16 * EPS + 2 * unit

    def reason(self) -> str | None:
        """Return the proof."""
        return f"{self} is a mixture of Gaussian kernels of all widths with weights >= 0 (Schoenberg)"


@dataclass(frozen=True, eq=False)
class Manhattan(GammaKernel):
    """The product of one-column exponential kernels, k(x, x') = exp(-gamma Σ_j abs(x_j - x'_j)).

    Its functions may bend differently along every column, at no place in particular: on tables they behave like sums and
    products of steps, which is what trees are made of. (scikit-learn calls it "laplacian".)

    Parameters
    ----------
    gamma : float, "scale" or "auto"
        Inverse width, > 0. "scale" is 1/(d Var X) and "auto" 1/d, as in scikit-learn.

    Examples
    --------
    >>> round(Manhattan(0.5)([0.0, 0.0], [3.0, 4.0]), 6)  # exp(-3.5)
    0.030197
    """

    at_most_1: ClassVar[bool] = True

    gamma: float | str = "auto"

    def __str__(self) -> str:
        return f"exp(-{coefficient(self.gamma).rstrip()}‖x - x'‖₁)"

    def values(self, A: Any, B: Any) -> FloatArray:
        """Return exp(-gamma ‖a_i - b_j‖₁)."""
        out: FloatArray = cdist(dense(A), dense(B), "cityblock")
        out *= -float(self.gamma)
        return np.exp(out, out=out)

    def own_values(self, A: Any) -> FloatArray:
        """Return 1 for every row."""
        return np.ones(A.shape[0])

    def bounds(self, A: Any, B: Any) -> tuple[float, float]:
        """Return bounds on value and rounding: a sum of d terms >= 0 has a small relative error, and t exp(-t) is below 1."""
        del B
        return 1.0, (A.shape[1] + 16) * EPS

    def reason(self) -> str | None:
        """Return the proof."""
        return f"{self} is a product of kernels of one column, each with a Cauchy density for its Fourier transform (Bochner)"
