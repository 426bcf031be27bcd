"""The kernels that are functions of an inner product: linear, polynomial, cosine, and the sigmoid that is none."""

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import gammaln

from halfspace._typing import FloatArray
from halfspace.errors import InputError
from halfspace.kernels.base import Kernel
from halfspace.kernels.parameters import GammaKernel, check_count, check_number, coefficient
from halfspace.kernels.products import EPS, dense, inner, inner_bounds, squares, unit_rows

__all__ = ["Constant", "Cosine", "Linear", "Polynomial", "Sigmoid"]

WIDEST = 200_000
"""Features of a finite map: beyond, the kernel itself is far cheaper."""


def root(value: float, kernel: Any) -> float:
    """Return the square root of a coefficient, which must not be negative."""
    if value < 0:
        msg = f"{kernel} is no kernel in general, so it has no feature map: {value:g} must be >= 0"
        raise InputError(msg)
    return float(np.sqrt(value))


def check_width(columns: int) -> None:
    """Refuse maps into more dimensions than anybody could want."""
    if columns > WIDEST:
        msg = f"this feature map has {columns} features, more than {WIDEST}; use the kernel itself, or features(n_components)"
        raise InputError(msg)


def monomials(A: Any, degree: int, gamma: float, coef0: float) -> FloatArray:
    """Return the monomials x^α, |α| <= degree, weighted so that their inner product is (gamma x·x' + coef0)^degree.

    The weight of x^α is the square root of  degree! / (α! (degree - |α|)!) gamma^|α| coef0^(degree - |α|); without coef0
    only |α| = degree is left.
    """
    from sklearn.preprocessing import PolynomialFeatures  # noqa: PLC0415  (slow to import, and seldom needed)

    d = A.shape[1]
    check_width(comb(d + degree, degree) if coef0 else comb(d + degree - 1, degree))
    expand = PolynomialFeatures((0 if coef0 else degree, degree), include_bias=bool(coef0)).fit(np.zeros((1, d)))
    powers = expand.powers_
    total = powers.sum(axis=1)
    weights = np.exp(gammaln(degree + 1) - gammaln(powers + 1).sum(axis=1) - gammaln(degree - total + 1))
    weights = np.round(weights) * gamma**total * np.float64(coef0) ** (degree - total)
    products = expand.transform(A.toarray() if sparse.issparse(A) else A)
    found: FloatArray = products * np.sqrt(weights)
    return found


def tensor(P: FloatArray, Q: FloatArray) -> FloatArray:
    """Return all products of a feature of P, shape (n, p), with one of Q, shape (n, q): shape (n, p q)."""
    check_width(P.shape[1] * Q.shape[1])
    return (P[:, :, None] * Q[:, None, :]).reshape(P.shape[0], -1)


def integer_power(base: FloatArray, exponent: int) -> FloatArray:
    """Return base^exponent by repeated squaring: at most `exponent` roundings."""
    result, factor = None, base
    while exponent:
        if exponent & 1:
            result = factor.copy() if result is None else result * factor
        exponent >>= 1
        factor = factor * factor if exponent else factor
    return np.ones_like(base) if result is None else result


def power_bounds(size: float, error: float, exponent: int) -> tuple[float, float]:
    """Return bounds on |t^exponent| and its rounding error from those on t."""
    whole = float(np.float64(size) ** exponent)
    slope = exponent * float(np.float64(size + error) ** (exponent - 1))
    return whole, slope * error + 2 * exponent * EPS * (whole + slope * error)


@dataclass(frozen=True, eq=False)
class Linear(Kernel):
    """The inner product, k(x, x') = x·x'.

    Examples
    --------
    >>> Linear()([1.0, 2.0], [3.0, 4.0])
    11.0
    """

    def __str__(self) -> str:
        return "x·x'"

    def values(self, A: Any, B: Any) -> FloatArray:
        """Return a_i · b_j."""
        return inner(A, B)

    def own_values(self, A: Any) -> FloatArray:
        """Return ‖a_i‖²."""
        return squares(A)

    def bounds(self, A: Any, B: Any) -> tuple[float, float]:
        """Return bounds on value and rounding."""
        return inner_bounds(A, B)

    def mapped(self, A: Any) -> FloatArray:
        """Return the rows themselves."""
        return dense(A)

    def reason(self) -> str | None:
        """Return the proof."""
        return "x·x' is an inner product"


@dataclass(frozen=True, eq=False)
class Constant(Kernel):
    """The same value for every pair; added to a kernel it is a clamped input.

    Parameters
    ----------
    value : float
        The value; a kernel if it is >= 0.

    Examples
    --------
    >>> (Linear() + 1)([1.0], [1.0])
    2.0
    """

    value: float = 1.0

    def __post_init__(self) -> None:
        check_number(self.value, "Constant", "value")

    def __str__(self) -> str:
        return f"{self.value:g}"

    def values(self, A: Any, B: Any) -> FloatArray:
        """Return the value for every pair."""
        return np.full((A.shape[0], B.shape[0]), float(self.value))

    def own_values(self, A: Any) -> FloatArray:
        """Return the value for every row."""
        return np.full(A.shape[0], float(self.value))

    def bounds(self, A: Any, B: Any) -> tuple[float, float]:  # noqa: ARG002  (the same for all rows)
        """Return bounds on value and rounding."""
        return abs(float(self.value)), 0.0

    def mapped(self, A: Any) -> FloatArray:
        """Return one constant feature."""
        return np.full((A.shape[0], 1), root(self.value, self))

    def reason(self) -> str | None:
        """Return the proof."""
        return f"{self.value:g} = sqrt({self.value:g})² is the inner product of a constant feature" if self.value >= 0 else None


@dataclass(frozen=True, eq=False)
class Polynomial(GammaKernel):
    """The polynomial kernel, k(x, x') = (gamma x·x' + coef0)^degree.

    The sign of a function in its space is a polynomial threshold function of the inputs.

    Parameters
    ----------
    degree : int
        At least 1.
    gamma : float, "scale" or "auto"
        Factor of the inner product, > 0; learnt from data as scikit-learn does if a word.
    coef0 : float
        Constant; below 0 the function is no kernel in general.

    Examples
    --------
    >>> Polynomial(2, coef0=1.0)([1.0, 1.0], [1.0, 2.0])
    16.0
    """

    degree: int = 3
    gamma: float | str = 1.0
    coef0: float = 0.0

    def __post_init__(self) -> None:
        check_count(self.degree, "Polynomial", "degree")
        super().__post_init__()
        check_number(self.coef0, "Polynomial", "coef0")

    def __str__(self) -> str:
        constant = f" {'+' if self.coef0 > 0 else '-'} {abs(self.coef0):g}" if self.coef0 else ""
        return f"({coefficient(self.gamma)}x·x'{constant})^{self.degree}"

    def values(self, A: Any, B: Any) -> FloatArray:
        """Return (gamma a_i · b_j + coef0)^degree."""
        return integer_power(self._base(inner(A, B)), self.degree)

    def own_values(self, A: Any) -> FloatArray:
        """Return (gamma ‖a_i‖² + coef0)^degree."""
        return integer_power(self._base(squares(A)), self.degree)

    def bounds(self, A: Any, B: Any) -> tuple[float, float]:
        """Return bounds on value and rounding."""
        return power_bounds(*affine_bounds(A, B, self.gamma, self.coef0), self.degree)

    def mapped(self, A: Any) -> FloatArray:
        """Return all monomials with the square roots of their multinomial weights."""
        root(self.coef0, self)
        return monomials(A, self.degree, float(self.gamma), float(self.coef0))

    def reason(self) -> str | None:
        """Return the proof."""
        if self.coef0 < 0:
            return None
        return f"{self} is a polynomial in an inner product with coefficients >= 0"

    def _base(self, products: FloatArray) -> FloatArray:
        """Return gamma times the products plus coef0, in place."""
        products *= float(self.gamma)
        products += self.coef0
        return products


def affine_bounds(A: Any, B: Any, gamma: Any, coef0: float) -> tuple[float, float]:
    """Return bounds on |gamma a·b + coef0| and its rounding error."""
    size, error = inner_bounds(A, B)
    whole = gamma * size + abs(coef0)
    return whole, gamma * error + 2 * EPS * (whole + gamma * error)


@dataclass(frozen=True, eq=False)
class Cosine(Kernel):
    """The cosine of the angle between two rows, k(x, x') = x·x' / (‖x‖‖x'‖); 0 for rows of zeros.

    Examples
    --------
    >>> Cosine()([1.0, 0.0], [0.0, 2.0])
    0.0
    """

    def __str__(self) -> str:
        return "x·x'/(‖x‖‖x'‖)"

    def values(self, A: Any, B: Any) -> FloatArray:
        """Return the cosines."""
        first = unit_rows(A)
        return inner(first, first if A is B else unit_rows(B))

    def own_values(self, A: Any) -> FloatArray:
        """Return 1 for every row that is not zero."""
        return np.where(squares(unit_rows(A)) > 0.0, 1.0, 0.0)

    def bounds(self, A: Any, B: Any) -> tuple[float, float]:  # noqa: ARG002  (the same for all rows)
        """Return bounds on value and rounding."""
        return 1.0, 8.0 * (A.shape[1] + 8) * EPS

    def mapped(self, A: Any) -> FloatArray:
        """Return the rows divided by their lengths."""
        return dense(unit_rows(A))

    def reason(self) -> str | None:
        """Return the proof."""
        return "it is the inner product of the rows divided by their lengths"


@dataclass(frozen=True, eq=False)
class Sigmoid(GammaKernel):
    """tanh(gamma x·x' + coef0): used as a kernel, but not positive semi-definite in general.

    Parameters
    ----------
    gamma : float, "scale" or "auto"
        Factor of the inner product, > 0; learnt from data as scikit-learn does if a word.
    coef0 : float
        Constant.

    Examples
    --------
    >>> Sigmoid(1.0)([1.0], [0.0]), Sigmoid(1.0).reason()
    (0.0, None)
    """

    gamma: float | str = "scale"
    coef0: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self.coef0, "Sigmoid", "coef0")

    def __str__(self) -> str:
        constant = f" {'+' if self.coef0 > 0 else '-'} {abs(self.coef0):g}" if self.coef0 else ""
        return f"tanh({coefficient(self.gamma)}x·x'{constant})"

    def values(self, A: Any, B: Any) -> FloatArray:
        """Return tanh(gamma a_i · b_j + coef0)."""
        return np.tanh(float(self.gamma) * inner(A, B) + self.coef0)

    def own_values(self, A: Any) -> FloatArray:
        """Return tanh(gamma ‖a_i‖² + coef0)."""
        return np.tanh(float(self.gamma) * squares(A) + self.coef0)

    def bounds(self, A: Any, B: Any) -> tuple[float, float]:
        """Return bounds on value and rounding: tanh changes by no more than its argument does."""
        return 1.0, min(affine_bounds(A, B, self.gamma, self.coef0)[1], 2.0) + 16 * EPS

    def reason(self) -> str | None:
        """Return None: there is no proof, and there are counterexamples."""
        return None
