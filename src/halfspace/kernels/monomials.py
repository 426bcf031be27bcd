"""Finite features of polynomials: weighted monomials, and all products of two sets of features."""

from math import comb
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import gammaln
from sklearn.preprocessing import PolynomialFeatures

from halfspace._typing import FloatArray
from halfspace.errors import InputError

__all__ = ["monomials", "root", "tensor"]

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
