"""Kernel ridge regression, the Adaline in a kernel's space, for many ridges from one decomposition.

Problem    min Σ s_i (y_i - f(x_i) - c)² + λ‖f‖²  over functions f of the kernel's space, and over c if it is free.
Solution   f = Σ a_i k(x_i, ·)  with  a = √S b  and  (√S K √S + λ) b = √S (y - c);  a free c makes b orthogonal to u = √s:
           b = M √S y  with  M = G - G u uᵀ G / uᵀGu  (without a constant M = G).  With  √S K √S = U Λ Uᵀ  there is
           G = U (Λ + λ)⁻¹ Uᵀ  for every λ, and each costs two products.
Left out   Without example i, its whole weight included, its residual is  r_i / (λ M_ii),  r = λ S^(-1/2) b,  exactly.
Equal      Examples with equal rows are one, of the sum of their weights and the mean of their targets. Of an example with a
           share q of that weight  r_i = y_i - mean + r of that one,  a_i = s_i r_i/λ,  and left out  r_i / (1 - q + q λ M_ii).
           It is exact, and costs what the different rows cost.
Tried      A band in place of eigenvectors (block reflections; G_ii from the factors of B + λ): all matrix products, but no
           faster in double precision. Single precision fails where λ is below 1e-7 of the largest eigenvalue.
Reference  Saunders, Gammerman and Vovk 1998. Left out: Allen 1974 ("PRESS").
"""

from typing import NamedTuple

import numpy as np

from halfspace._typing import FloatArray, IntArray
from halfspace.errors import InputError
from halfspace.solvers.regression.cholesky import factor, inverse_diagonal, product, solve

__all__ = ["KernelFit", "KernelSpectrum", "decompose", "default_kernel_ridges", "kernel_ridge", "left_out_residuals"]

SELF = 1e-12
"""An example whose prediction follows its own target up to this is not predicted by the others."""
BLOCK = 1 << 21
"""Squares of eigenvectors held at a time."""


class KernelSpectrum(NamedTuple):
    """√S K √S = U Λ Uᵀ of u different rows, and the targets and √s in it."""

    values: FloatArray  # (u,) Λ, none negative
    U: FloatArray  # (u, u)
    z: FloatArray  # (u, m) Uᵀ√S Y
    p: FloatArray  # (u,) Uᵀ√s
    folded: "Folded"
    free: bool


class Folded(NamedTuple):
    """Examples whose equal rows are one."""

    of: IntArray  # (n,) the row of every example
    root: FloatArray  # (u,) √ of the sum of the weights
    means: FloatArray  # (u, m) of the targets
    apart: FloatArray  # (m, n) targets less these
    share: FloatArray  # (n,) of the weight of its row

    @classmethod
    def make(cls, Y: FloatArray, s: FloatArray, of: IntArray) -> "Folded":
        """Fold examples with weights s > 0 (n,) and targets Y (n, m)."""
        total = np.bincount(of, s)
        share, means = s / total[of], np.zeros((total.size, Y.shape[1]))
        np.add.at(means, of, share[:, None] * Y)
        return cls(of, np.sqrt(total), means, (Y - means[of]).T, share)

    def weighed(self, K: FloatArray) -> FloatArray:
        """Return √S K √S, in the place of K (u, u)."""
        if (self.root != 1.0).any():
            K *= self.root
            K *= self.root[:, None]
        return K

    def residuals(self, b: FloatArray, kept: FloatArray, ridge: float) -> tuple[FloatArray, FloatArray]:
        """Return the residuals of the examples, and those when left out, both (m, n), from b (m, u) and λ M_ii (u,)."""
        found = self.apart + (ridge * b / self.root)[:, self.of]
        kept = 1.0 - self.share + self.share * kept[self.of]
        with np.errstate(divide="ignore", invalid="ignore"):
            return found, np.where(kept > SELF, found / kept, np.inf)


class KernelFit(NamedTuple):
    """Coefficients (m, n), constants (m,), and the residuals of the examples when left out, shape (m, n)."""

    coefficients: FloatArray
    constants: FloatArray
    left_out: FloatArray


def decompose(K: FloatArray, Y: FloatArray, s: FloatArray, of: IntArray, *, free: bool) -> KernelSpectrum:
    """Decompose the kernel matrix K (u, u) of different rows, which is overwritten; examples are given as for `Folded`."""
    folded = Folded.make(Y, s, of)
    values, U = np.linalg.eigh(folded.weighed(K))  # unlike SciPy's, it lets other threads run
    z, p = U.T @ (folded.root[:, None] * folded.means), U.T @ folded.root
    return KernelSpectrum(np.maximum(values, 0.0), U, z, p, folded, free)


def default_kernel_ridges(diagonal: FloatArray, count: int = 20) -> FloatArray:
    """Return ridges from 1e-5 to 100 times the mean of k(x, x), evenly by logarithm, shape (count,)."""
    mean = float(diagonal.mean())
    return (mean if mean > 0.0 else 1.0) * np.geomspace(1e-5, 1e2, count)


def left_out_residuals(parts: KernelSpectrum, ridges: FloatArray) -> FloatArray:
    """Return the residuals of the examples when left out, for every target and λ, shape (m, L, n)."""
    n, U = parts.U.shape[0], parts.U
    damped = 1.0 / (parts.values + ridges[:, None])  # (L, n)
    step = max(1, BLOCK // n)
    squares = np.concatenate([damped @ np.square(U[k : k + step]).T for k in range(0, n, step)], axis=1)
    solved, along = (parts.z.T[:, None] * damped) @ U.T, (parts.p * damped) @ U.T
    answers = [
        _answer(squares[k], solved[:, k], along[k], parts.folded, ridge, free=parts.free)[2] for k, ridge in enumerate(ridges)
    ]
    return np.stack(answers, axis=1)


def kernel_ridge(K: FloatArray, Y: FloatArray, s: FloatArray, of: IntArray, ridge: float, *, free: bool) -> KernelFit:
    """Solve for one λ by Cholesky, for a kernel matrix K (u, u) of different rows, which is overwritten, and their examples."""
    folded = Folded.make(Y, s, of)
    K = folded.weighed(np.ascontiguousarray(K))
    K[np.diag_indices(K.shape[0])] += ridge
    diagonal, right = K.diagonal().copy(), np.column_stack([folded.root[:, None] * folded.means, folded.root])
    if not factor(K):
        msg = f"kernel ridge regression: with ridge {ridge:.3g} the kernel matrix is singular to rounding. Give a larger ridge."
        raise InputError(msg)
    solved = solve(K, right)
    solved += solve(K, right - product(K, diagonal, solved))  # one step of refinement
    constants, residuals, left_out = _answer(inverse_diagonal(K), solved[:, :-1].T, solved[:, -1], folded, ridge, free=free)
    return KernelFit(residuals * (s / ridge), constants, left_out)


def _answer(
    squares: FloatArray, b: FloatArray, along: FloatArray, folded: Folded, ridge: float, *, free: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return constants (m,), residuals and those left out (m, n), from G_ii (u,), G√S Y as b (m, u), and Gu (u,)."""
    constants = np.zeros(b.shape[0])
    if free:
        total = float(folded.root @ along)
        constants = b @ folded.root / total
        b, squares = b - constants[:, None] * along, squares - along**2 / total
    return constants, *folded.residuals(b, ridge * squares, ridge)
