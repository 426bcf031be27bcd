"""Kernels made of kernels: sums, products, multiples, powers.

Each keeps the proof of its parts: sums and products of positive semi-definite matrices (entry by entry: Schur) are positive
semi-definite. The rounding bounds follow the same operations.
"""

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from halfspace._typing import FloatArray
from halfspace.errors import InputError
from halfspace.kernels.base import Entries, Kernel, exact_values
from halfspace.kernels.inner_product import integer_power, power_bounds, root, tensor
from halfspace.kernels.parameters import check_count, check_number, coefficient
from halfspace.kernels.products import EPS

__all__ = ["Composite", "Power", "Product", "Scaled", "Sum", "bracketed", "check_kernel"]


def check_kernel(value: Any, who: str) -> None:
    """Refuse what is not a kernel."""
    if not isinstance(value, Kernel):
        msg = f"{who}: a kernel of halfspace.kernels expected, got {value!r}; make one of a function by FromFunction(f)"
        raise InputError(msg)


class Composite(Kernel):
    """A kernel made of others: its values are those of its parts, composed, and its proof follows from theirs."""

    because: ClassVar[str]  # why what is made of kernels this way is one

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]  # (the subclasses are dataclasses)
            if field.type is Kernel:
                check_kernel(getattr(self, field.name), type(self).__name__)

    def values(self, A: Any, B: Any) -> FloatArray:
        """Return the values, every part in plain NumPy."""
        return self.composed(A, B, exact_values)

    def reason(self) -> str | None:
        """Return the proof: that of all parts, and why it carries over."""
        reasons = [part.reason() for part in self.parts().values()]
        return f"{self.because}: {'; '.join(reasons)}" if all(reasons) else None


def bracketed(kernel: Kernel) -> str:
    """Return the formula of a kernel as a factor: sums and multiples in brackets."""
    return f"({kernel})" if isinstance(kernel, Sum | Scaled) else str(kernel)


@dataclass(frozen=True, eq=False)
class Sum(Composite):
    """left + right: the features of both, side by side.

    Parameters
    ----------
    left, right : Kernel
        The terms.

    Examples
    --------
    >>> from halfspace.kernels import Linear
    >>> print(Linear() + Linear() ** 2)
    x·x' + (x·x')^2
    """

    because: ClassVar[str] = "a sum of kernels is a kernel"

    left: Kernel
    right: Kernel

    def __str__(self) -> str:
        return f"{self.left} + {self.right}"

    def composed(self, A: Any, B: Any, of: Entries) -> FloatArray:
        """Return the sums."""
        out = of(self.left, A, B)
        out += of(self.right, A, B)
        return out

    def own_values(self, A: Any) -> FloatArray:
        """Return the sums for every row with itself."""
        return self.left.own_values(A) + self.right.own_values(A)

    def bounds(self, A: Any, B: Any) -> tuple[float, float]:
        """Return bounds on value and rounding."""
        (size, error), (more, extra) = self.left.bounds(A, B), self.right.bounds(A, B)
        return size + more, error + extra + EPS * (size + more + error + extra)

    def mapped(self, A: Any) -> FloatArray:
        """Return the features of both, side by side."""
        return np.hstack([self.left.mapped(A), self.right.mapped(A)])


@dataclass(frozen=True, eq=False)
class Product(Composite):
    """left · right: all products of a feature of one with a feature of the other.

    Parameters
    ----------
    left, right : Kernel
        The factors.

    Examples
    --------
    >>> from halfspace.kernels import Linear, RBF
    >>> print((Linear() + 1) * RBF(1.0))
    (x·x' + 1) · exp(-‖x - x'‖²)
    """

    because: ClassVar[str] = "a product of kernels is a kernel (Schur)"

    left: Kernel
    right: Kernel

    def __str__(self) -> str:
        return f"{bracketed(self.left)} · {bracketed(self.right)}"

    def composed(self, A: Any, B: Any, of: Entries) -> FloatArray:
        """Return the products."""
        out = of(self.left, A, B)
        out *= of(self.right, A, B)
        return out

    def own_values(self, A: Any) -> FloatArray:
        """Return the products for every row with itself."""
        return self.left.own_values(A) * self.right.own_values(A)

    def bounds(self, A: Any, B: Any) -> tuple[float, float]:
        """Return bounds on value and rounding."""
        (size, error), (other, extra) = self.left.bounds(A, B), self.right.bounds(A, B)
        return size * other, size * extra + other * error + error * extra + EPS * (size + error) * (other + extra)

    def mapped(self, A: Any) -> FloatArray:
        """Return all products of a feature of one with a feature of the other."""
        return tensor(self.left.mapped(A), self.right.mapped(A))


@dataclass(frozen=True, eq=False)
class Scaled(Composite):
    """factor · kernel.

    Parameters
    ----------
    kernel : Kernel
        What is multiplied.
    factor : float
        Below 0 the result is no kernel.

    Examples
    --------
    >>> from halfspace.kernels import Linear
    >>> print(0.5 * Linear(), (0.5 * Linear())([2.0], [3.0]))
    0.5 x·x' 3.0
    """

    kernel: Kernel
    factor: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self.factor, "Scaled", "factor")

    def __str__(self) -> str:
        return f"{coefficient(self.factor)}{bracketed(self.kernel)}"

    def composed(self, A: Any, B: Any, of: Entries) -> FloatArray:
        """Return the multiples."""
        out = of(self.kernel, A, B)
        out *= self.factor
        return out

    def own_values(self, A: Any) -> FloatArray:
        """Return the multiples for every row with itself."""
        return self.factor * self.kernel.own_values(A)

    def bounds(self, A: Any, B: Any) -> tuple[float, float]:
        """Return bounds on value and rounding."""
        (size, error), factor = self.kernel.bounds(A, B), abs(self.factor)
        return factor * size, factor * error + EPS * factor * (size + error)

    def mapped(self, A: Any) -> FloatArray:
        """Return the features times the root of the factor."""
        return root(self.factor, self) * self.kernel.mapped(A)

    def reason(self) -> str | None:
        """Return the proof."""
        reason = self.kernel.reason()
        return f"{reason}, times {self.factor:g} >= 0" if reason and self.factor >= 0 else None


@dataclass(frozen=True, eq=False)
class Power(Composite):
    """kernel^exponent: the product of a kernel with itself.

    Parameters
    ----------
    kernel : Kernel
        The base.
    exponent : int
        At least 1.

    Examples
    --------
    >>> from halfspace.kernels import Linear
    >>> print((Linear() + 1) ** 2)
    (x·x' + 1)^2
    """

    because: ClassVar[str] = "a power of a kernel is a kernel (Schur)"

    kernel: Kernel
    exponent: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self.exponent, "Power", "exponent")

    def __str__(self) -> str:
        return f"({self.kernel})^{self.exponent}"

    def composed(self, A: Any, B: Any, of: Entries) -> FloatArray:
        """Return the powers."""
        return integer_power(of(self.kernel, A, B), self.exponent)

    def own_values(self, A: Any) -> FloatArray:
        """Return the powers for every row with itself."""
        return integer_power(self.kernel.own_values(A), self.exponent)

    def bounds(self, A: Any, B: Any) -> tuple[float, float]:
        """Return bounds on value and rounding."""
        return power_bounds(*self.kernel.bounds(A, B), self.exponent)

    def mapped(self, A: Any) -> FloatArray:
        """Return all products of as many features as the exponent says."""
        features = found = self.kernel.mapped(A)
        for _ in range(self.exponent - 1):
            found = tensor(found, features)
        return found
