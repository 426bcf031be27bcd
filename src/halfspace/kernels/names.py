"""Kernels by name, as estimators take them."""

from typing import Any

from halfspace.errors import InputError
from halfspace.kernels.base import Kernel
from halfspace.kernels.inner_product import Cosine, Linear, Polynomial, Sigmoid
from halfspace.kernels.precomputed import FromFunction, Precomputed
from halfspace.kernels.radial import RBF, Laplacian

__all__ = ["as_kernel"]

NAMES = ("rbf", "linear", "poly", "laplacian", "cosine", "sigmoid", "precomputed")


def as_kernel(spec: Any, *, gamma: Any = "scale", degree: int = 3, coef0: float = 0.0) -> Kernel:
    """Return the kernel that an estimator's parameters describe.

    Parameters
    ----------
    spec : str, Kernel or callable
        "rbf", "linear", "poly", "laplacian", "cosine", "sigmoid" or "precomputed"; a kernel, which has parameters of its own
        and ignores those below; or a function of two rows.
    gamma : float, "scale", "auto" or "median"
        Of "rbf", "poly", "laplacian" and "sigmoid".
    degree : int
        Of "poly".
    coef0 : float
        Of "poly" and "sigmoid".

    Examples
    --------
    >>> print(as_kernel("poly", gamma=1.0, degree=2, coef0=1.0))
    (x·x' + 1)^2
    """
    if isinstance(spec, Kernel):
        return spec
    if callable(spec):
        return FromFunction(spec)
    if spec == "rbf":
        return RBF(gamma)
    if spec == "linear":
        return Linear()
    if spec == "poly":
        return Polynomial(degree, gamma, coef0)
    if spec == "laplacian":
        return Laplacian(gamma)
    if spec == "cosine":
        return Cosine()
    if spec == "sigmoid":
        return Sigmoid(gamma, coef0)
    if spec == "precomputed":
        return Precomputed()
    msg = f"kernel must be one of {', '.join(map(repr, NAMES))}, a kernel of halfspace.kernels or a function, got {spec!r}"
    raise InputError(msg)
