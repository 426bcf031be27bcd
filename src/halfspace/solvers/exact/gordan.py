"""Gordan's alternative decided in rational arithmetic, on a few rows.

Problem    Signed rows a_i = y_i x̃_i, shape (D,). Either  w·a_i > 0  for all i,  or  λ >= 0, Σ λ_i = 1, Σ λ_i a_i = 0.
Rule       `vertex`: the rows are a basis that floats found; solve for λ in whole numbers and look at the signs.
           `simplex`: phase one of the simplex method on  Σ λ_i (a_i, 1) = (0, 1)  with one artificial variable per equation.
           The inverse of the basis is kept as whole numbers over one denominator; a pivot on u_r turns row i into
           (u_r M_i - u_i M_r) / (old denominator), which divides without remainder (Edmonds 1967; Bareiss 1968).
Theorem    If the artificial variables can be driven to zero, λ is found, with at most D + 1 rows. If not, the prices π of the
           last basis have  π·(a_i, 1) <= 0 < π·(0, 1),  so  w = -π  has  w·a_i >= π_last > 0  for all i. With Bland's choice of
           the lowest index no basis comes twice, so one of the two happens (Bland 1977, theorem 1.1).
Reference  Schrijver 1986, sections 7.8 and 11.

Floats choose the pivots as long as they can tell signs, which changes the path but not what is proved.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpz_mat

from halfspace._typing import FloatArray
from halfspace.certificates.rational import whole

__all__ = ["rounded_planes", "simplex", "vertex"]

PATIENCE = 20
"""Pivots without progress until Bland's rule takes over: it is slow, but it cannot go in circles."""
TRIES = 40
"""Scales at which a rational plane is rounded to floats."""


def _whole_columns(A: FloatArray) -> tuple[Any, list[int]]:
    """Return whole numbers k, shape (m, D), and exponents e, one per column, with a_ij = k_ij 2^e_j."""
    parts = [whole(column) for column in A.T]
    return np.array([k for k, _ in parts], dtype=object).reshape(A.T.shape).T, [e for _, e in parts]


def vertex(A: FloatArray) -> list[Fraction] | None:
    """Return the only λ > 0 with Σ λ_i a_i = 0 and sum 1, for rows A, shape (m, D); None if there is none, or more than one.

    Examples
    --------
    >>> [str(share) for share in vertex(np.array([[1.0, 0.5], [-3.0, -1.5]]))]
    ['3/4', '1/4']
    """
    k, _ = _whole_columns(A)
    m, D = A.shape
    if m == D + 1:
        unit = fmpz_mat([[0]] * D + [[1]])
        try:
            solution: Any = fmpz_mat([*k.T.tolist(), [1] * m]).solve(unit)
        except ZeroDivisionError:
            return _only_relation(k)
        return _shares([int(v) for v in solution.numer_denom()[0].entries()])
    return _only_relation(k)


def _only_relation(k: Any) -> list[Fraction] | None:
    """Return the shares of the only linear relation between rows of whole numbers, if it is a positive one."""
    reduced, denominator, rank = fmpz_mat(k.T.tolist()).rref()
    m = k.shape[0]
    if rank != m - 1:
        return None
    table = [[int(v) for v in row] for row in reduced.tolist()[:rank]]
    leading = [next(j for j, v in enumerate(row) if v) for row in table]
    free = next(j for j in range(m) if j not in set(leading))
    relation = [0] * m
    relation[free] = int(denominator)
    for row, j in zip(table, leading, strict=True):
        relation[j] = -row[free]
    return _shares(relation)


def _shares(relation: list[int]) -> list[Fraction] | None:
    """Return numbers of one sign as shares of their sum; None if they have different signs, or one is zero."""
    total = sum(relation)
    return [Fraction(v, total) for v in relation] if total and all(v * total > 0 for v in relation) else None


def _largest(k: Any) -> list[int]:
    """Return the largest absolute value of each column of whole numbers, at least 1."""
    return [max(1, *(abs(v) for v in column)) for column in k.T.tolist()]


def _shrunk(k: Any, scale: list[int]) -> FloatArray:
    """Return whole numbers as floats, each column divided by its scale."""
    columns = zip(k.T.tolist(), scale, strict=True)
    return np.array([[float(Fraction(v, s)) for v in column] for column, s in columns]).T


class _Basis:
    """A basis of the phase-one problem: which variables are in it, and its inverse M over a common denominator."""

    def __init__(self, A: FloatArray) -> None:
        k, exponents = _whole_columns(A)
        largest = np.abs(_shrunk(k, _largest(k))).max(axis=1, initial=0.0)
        self.lifts = np.where(largest > 0.0, 1 - np.frexp(largest)[1], 0).tolist()
        k = k << np.array(self.lifts, dtype=object)[:, None]
        columns = np.hstack([k, np.ones((k.shape[0], 1), dtype=object)])  # the columns (a_i, 1) of the problem
        bits = [v.bit_length() for v in _largest(columns)]
        up = [max(bits) - b for b in bits]
        # Powers of 2 make rows and columns of one size: then the margin of the plane is one that floats can hold.
        self.V = columns << np.array(up, dtype=object)
        self.exponents = [e - shift for e, shift in zip(exponents, up, strict=False)]
        self.scale = _largest(self.V)
        self.floats = _shrunk(self.V, self.scale)
        D = self.V.shape[1]
        self.M = np.array([[int(i == j) for j in range(D)] for i in range(D)], dtype=object)
        self.denominator = 1
        self.variables = list(range(-D, 0))  # artificial variables are negative: they leave first and never return

    def prices(self) -> Any:
        """Return the prices π times the denominator: what the artificial variables in the basis cost."""
        return self.M[[i for i, v in enumerate(self.variables) if v < 0]].sum(axis=0)

    def entering(self, prices: Any, *, bland: bool) -> int | None:
        """Return a row that lowers the artificial sum, π·(a_i, 1) > 0; None if there is none, in exact arithmetic."""
        scaled = [int(p) * s for p, s in zip(prices, self.scale, strict=True)]
        most = max(1, *(abs(p) for p in scaled))
        guess = self.floats @ np.array([float(Fraction(p, most)) for p in scaled])
        best = int(np.argmax(guess))
        if not bland and guess[best] > 1e-9:
            return best
        for i in np.flatnonzero(guess > -1e-9):  # the float is off by 1e-12 at most
            if self.V[i] @ prices > 0:
                return int(i)
        return None

    def pivot(self, row: int) -> bool:
        """Bring a row into the basis, by the ratio test with ties to the lowest index; tell whether anything moved."""
        u, x = self.M @ self.V[row], self.M[:, -1]
        leaving = min((Fraction(int(x[i]), int(u[i])), self.variables[i], i) for i in range(u.size) if u[i] > 0)
        r = leaving[2]
        u_r, M_r = u[r], self.M[r].copy()
        self.M = (u_r * self.M - np.multiply.outer(u, M_r)) // self.denominator
        self.M[r] = M_r
        self.denominator, self.variables[r] = u_r, row
        return leaving[0] > 0


def simplex(A: FloatArray, late: Callable[[], bool]) -> tuple[dict[int, Fraction], list[Fraction]] | None:
    """Decide for signed rows A, shape (m, D): λ by row and no plane, or no λ and a plane, shape (D,); None if late.

    Examples
    --------
    >>> relation, _ = simplex(np.array([[1.0], [2.0], [-1.0]]), lambda: False)
    >>> {row: str(share) for row, share in relation.items()}
    {0: '1/2', 2: '1/2'}
    >>> simplex(np.array([[1.0, 3.0], [0.0, 1.0]]), lambda: False)[0]
    {}
    """
    basis, still = _Basis(A), 0
    while not late():
        prices = basis.prices()
        row = basis.entering(prices, bland=still > PATIENCE) if prices[-1] > 0 else None
        if row is None:
            break
        still = 0 if basis.pivot(row) else still + 1
    else:
        return None
    if prices[-1] > 0:
        return {}, [-int(p) / Fraction(2) ** e for p, e in zip(prices[:-1], basis.exponents, strict=True)]
    x = {v: int(value) << basis.lifts[v] for v, value in zip(basis.variables, basis.M[:, -1], strict=True) if v >= 0 < value}
    return {v: Fraction(value, sum(x.values())) for v, value in x.items()}, []


def rounded_planes(plane: list[Fraction]) -> Iterator[FloatArray]:
    """Yield a rational plane, shape (D,), rounded to floats at several scales: where one rounds badly another may not."""
    largest = max(abs(v) for v in plane)
    rng = np.random.default_rng(0)
    for factor in [1.0, *rng.uniform(1.0, 2.0, TRIES)]:
        scale = Fraction(factor) / largest
        yield np.array([float(v * scale) for v in plane])
