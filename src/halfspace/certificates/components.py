"""The certificate of a model behind principal components: they are those of the examples, and the model's claim is about them.

Problem    A model sees  t = V x - V m  instead of x: m is the mean of the examples, and the K rows of V are orthonormal
           directions in which the examples vary most.
Claim      m is the mean; V Vᵀ = 1; the covariance C of the examples has  C Vᵀ = Vᵀ diag(v),  so each direction is one of its
           eigenvectors; and no direction orthogonal to them has a variance above the least of v, so they are the largest.
           All numbers to nine digits of the largest beside them: another processor adds up in another order.
Sums       t is summed input by input (`projected`), so that a row has the same t alone or among others, stored densely or
           sparsely, on any processor: the claim of the model behind is about these very numbers.
Reference  Golub and Van Loan 2013, theorem 8.1.2 (a residual bounds the distance from eigenvalues).
"""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, eigsh

from halfspace._text import plural
from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.certificates.arithmetic import projected
from halfspace.certificates.base import Certificate, Verdict

__all__ = ["PrincipalComponents"]

DIGITS = 1e-9
LARGEST = 1e-6
"""Digits to which the largest variance that was left out is looked for: a search ends there."""
SMALL = 500
"""Rows or columns up to which all variances are computed at once."""


@dataclass(frozen=True, eq=False)
class PrincipalComponents(Certificate):
    """A claim about a model that sees principal components, and that they are those of the examples.

    Parameters
    ----------
    part : Certificate
        The claim of the model, about the components.
    mean : ndarray, shape (d,)
        Of the examples.
    components : ndarray, shape (k, d)
        Orthonormal directions of largest variance.
    variances : ndarray, shape (k,)
        Of the examples in these directions, the largest first; n - 1 divides.
    total : float
        Sum of the variances of all columns.

    Examples
    --------
    >>> from halfspace.certificates import RidgeGap
    >>> X, y = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]), np.array([0.0, 1.0, 2.0])
    >>> V, m = np.full((1, 2), np.sqrt(0.5)), np.ones(2)
    >>> part = RidgeGap.measure(projected(X, m, V), y - 1.0, weights=np.array([np.sqrt(0.5)]))
    >>> proof = PrincipalComponents(part, m, V, np.array([2.0]), 2.0)
    >>> bool(proof.verify(X, y - 1.0)), bool(proof.verify(X[:, ::-1] * [1.0, 2.0], y - 1.0))
    (True, False)
    """

    part: Annotated[Certificate, "certificate"]
    mean: Annotated[FloatArray, "finite(d)"]
    components: Annotated[FloatArray, "finite(k,d)"]
    variances: Annotated[FloatArray, "finite(k) >= 0"]
    total: Annotated[float, "finite >= 0"]

    @property
    def share(self) -> float:
        """Share of the variance of the examples that the components hold."""
        return float(self.variances.sum() / self.total) if self.total else 1.0

    def __str__(self) -> str:
        k, d = self.components.shape
        held = f"{100 * self.share:.1f} % of the variance of {plural(d, 'input')}"
        return f"of {plural(k, 'principal component')} ({held}): {self.part}"

    def read(self, X: Matrix, y: Labels | None) -> tuple[Any, Labels]:
        """Check what is handed in, as the part does."""
        return self.part.read(X, y)

    def consistent(self) -> list[tuple[bool, str]]:
        """Check that there are components, the largest first."""
        falling = self.variances.size > 0 and bool((np.diff(self.variances) <= 0.0).all())
        return [(falling, "there are no variances, or they do not fall")]

    def predictor(self, y: Labels) -> dict[str, Any]:
        """Return what the model behind predicts with, and what it sees."""
        return {**self.part.predictor(y), "means of inputs": self.mean, "directions": self.components}

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Check that the components are those of the examples, and the part about them."""
        if X.shape[1] != self.mean.size:
            return Verdict.of((False, f"components of {self.mean.size} inputs, but the data have {X.shape[1]}"))
        return self._principal(X) and self.part.confirm(projected(X, self.mean, self.components), y)

    def _principal(self, X: Any) -> Verdict:
        """Check mean, directions and variances against the examples."""
        n, V, v = X.shape[0], self.components, self.variances
        mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
        size = np.asarray(abs(X).max(axis=0).toarray() if sparse.issparse(X) else np.abs(X).max(axis=0)).ravel()
        square = np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2 if sparse.issparse(X) else np.var(X, axis=0)
        total = float(square.sum() * n / max(n - 1, 1))
        T = projected(X, mean, V)
        moved = (_transposed(X, T) - np.outer(mean, T.sum(axis=0))) / max(n - 1, 1)
        off, room = np.abs(moved - V.T * v).max(), DIGITS * v[0]
        left_out = _largest_left_out(X, mean, V, max(total - float(v.sum()), 0.0), total)
        return Verdict.of(
            (bool((np.abs(mean - self.mean) <= DIGITS * size).all()), "the means are not those of the examples"),
            (bool(np.abs(V @ V.T - np.eye(len(V))).max() <= DIGITS), "the directions are not orthonormal"),
            (abs(total - self.total) <= DIGITS * total, f"the columns have a variance of {total:.6g}, not {self.total:.6g}"),
            (bool(off <= room), "the directions are not principal ones with these variances"),
            (left_out <= v[-1] + LARGEST * v[0], f"a direction left out has a variance of {left_out:.6g}"),
        )


def _transposed(X: Any, T: FloatArray) -> FloatArray:
    """Return XᵀT, shape (d, k)."""
    return np.asarray(X.T @ T)


def _largest_left_out(X: Any, mean: FloatArray, V: FloatArray, rest: float, total: float) -> float:
    """Return the largest variance of the examples in a direction orthogonal to the rows of V, of which all have `rest`."""
    n, d = X.shape
    if len(V) >= min(n - 1, d) or rest <= DIGITS * total:
        return 0.0
    if min(n, d) <= SMALL:
        C = (X.toarray() if sparse.issparse(X) else X) - mean
        C = C - (C @ V.T) @ V
        square = C @ C.T if n <= d else C.T @ C
        top: FloatArray = linalg.eigvalsh(square, subset_by_index=[len(square) - 1] * 2)
        return float(top[0] / (n - 1))

    def varied(x: FloatArray) -> FloatArray:
        x = x.ravel() - V.T @ (V @ x.ravel())
        moved = np.asarray(X @ x).ravel() - mean @ x
        back = np.asarray(X.T @ moved).ravel() - mean * moved.sum()
        found: FloatArray = (back - V.T @ (V @ back)) / (n - 1)
        return found

    start = np.random.default_rng(0).standard_normal(d)
    return float(eigsh(LinearOperator((d, d), matvec=varied, dtype=np.float64), 1, v0=start, tol=LARGEST)[0][0])
