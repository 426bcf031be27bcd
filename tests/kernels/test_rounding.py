"""Rounding: the bound of every kernel really bounds, also where differences cancel."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from halfspace.kernels import RBF, BSpline, Cosine, Laplacian, Linear, Polynomial, Sigmoid

WIDE = np.longdouble
FORMULAS = {
    "rbf": (RBF(0.3), lambda A, B: np.exp(-WIDE(0.3) * squared(A, B))),
    "narrow rbf": (RBF(1e4), lambda A, B: np.exp(-WIDE(1e4) * squared(A, B))),
    "laplacian": (Laplacian(0.7), lambda A, B: np.exp(-WIDE(0.7) * np.sqrt(squared(A, B)))),
    "narrow laplacian": (Laplacian(500.0), lambda A, B: np.exp(-WIDE(500.0) * np.sqrt(squared(A, B)))),
    "polynomial": (Polynomial(5, 0.3, 1.7), lambda A, B: (WIDE(0.3) * A @ B.T + WIDE(1.7)) ** 5),
    "sigmoid": (Sigmoid(0.3, -0.2), lambda A, B: np.tanh(WIDE(0.3) * A @ B.T - WIDE(0.2))),
    "cosine": (Cosine(), lambda A, B: (A @ B.T) / lengths(A)[:, None] / lengths(B)[None]),
    "normalized": (Polynomial(2, 1.0, 0.5).normalized(), lambda A, B: normalized((A @ B.T + 0.5) ** 2, A, B)),
    "algebra": (
        (RBF(0.3) + 2 * Linear()) ** 2 * Laplacian(0.7) + 1,
        lambda A, B: (np.exp(-WIDE(0.3) * squared(A, B)) + 2 * A @ B.T) ** 2 * np.exp(-WIDE(0.7) * np.sqrt(squared(A, B))) + 1,
    ),
}


def squared(A, B):
    return ((A[:, None] - B[None]) ** 2).sum(axis=2)


def lengths(A):
    return np.sqrt((A * A).sum(axis=1))


def normalized(K, A, B):
    return K / ((A * A).sum(axis=1) + 0.5)[:, None] / ((B * B).sum(axis=1) + 0.5)[None]


def data(offset, seed=0, n=14, d=6):
    """Rows far from the origin, some nearly or exactly the same."""
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(n, d)) + offset, rng.normal(size=(n - 3, d)) + offset
    B[0], B[1], B[2] = A[0], A[1] * (1 + 1e-9), A[2] + 1e-5
    return A, B


@pytest.mark.parametrize("offset", [0.0, 3.0, 1e3, 1e6])
@pytest.mark.parametrize("name", FORMULAS)
def test_the_bound_holds_against_extended_precision(name, offset):
    """|exact - true value| <= rounding, for dense and sparse rows, at any distance from the origin."""
    if np.finfo(WIDE).eps >= np.finfo(float).eps:
        pytest.skip("no extended precision on this machine")
    kernel, formula = FORMULAS[name]
    for seed in range(3):
        A, B = data(offset, seed)
        true = formula(A.astype(WIDE), B.astype(WIDE))
        for first, second in ((A, B), (sparse.csr_array(A), sparse.csr_array(B))):
            error = np.abs(kernel.exact(first, second).astype(WIDE) - true).max()
            assert error <= kernel.rounding(first, second)
        diagonal = np.diagonal(formula(A.astype(WIDE), A.astype(WIDE)))
        assert np.abs(kernel.exact_diagonal(A).astype(WIDE) - diagonal).max() <= kernel.rounding(A)
        part = kernel.exact(A[3:7], B[2:9]).astype(WIDE)
        assert np.abs(part - true[3:7, 2:9]).max() <= kernel.rounding(A, B)


def fraction_of_spline(order, t):
    """B_{2n+1}(t) in exact arithmetic, by the recursion from the box."""

    def bump(m, u):  # on [0, m + 1]
        if m == 0:
            return Fraction(int(0 <= u < 1))
        return (u * bump(m - 1, u) + (m + 1 - u) * bump(m - 1, u - 1)) / m

    m = 2 * order + 1
    return bump(m, Fraction(t) + Fraction(m + 1, 2))


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_splines_and_products_against_fractions(order):
    """Splines, inner products and powers against exact rational arithmetic."""
    rng = np.random.default_rng(order)
    A, B = rng.normal(size=(5, 2)), rng.normal(size=(4, 2))
    cases = {
        BSpline(order): lambda a, b: (
            fraction_of_spline(order, Fraction(a[0]) - Fraction(b[0]))
            * fraction_of_spline(order, Fraction(a[1]) - Fraction(b[1]))
        ),
        Polynomial(order + 1, 1.5, 0.25): lambda a, b: (
            (Fraction(3, 2) * sum(Fraction(u) * Fraction(v) for u, v in zip(a, b, strict=True)) + Fraction(1, 4)) ** (order + 1)
        ),
    }
    for kernel, formula in cases.items():
        K, bound = kernel.exact(A, B), Fraction(kernel.rounding(A, B))
        for i, a in enumerate(A.tolist()):
            for j, b in enumerate(B.tolist()):
                assert abs(Fraction(K[i, j]) - formula(a, b)) <= bound


def test_bounds_are_small_for_ordinary_data():
    """The bound is useful: about a thousand roundings, not more, for standardised rows."""
    A, B = data(0.0)
    for kernel in (RBF(0.3), Cosine(), Sigmoid(0.3), BSpline(1)):
        assert kernel.rounding(A, B) < 1e-11
    assert Laplacian(0.3).rounding(A, B) < 1e-10
    assert RBF(0.3).rounding(A + 1e5, B + 1e5) < 1e-11  # moved by the mean
    assert np.isinf((Linear() + (-2) * Linear()).normalized().rounding(A, B))  # no lengths to divide by
