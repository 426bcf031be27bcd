"""Kernel ridge regression, the Adaline in a kernel's space, for many ridges from one decomposition.

Problem    min Σ s_i (y_i - f(x_i) - c)² + λ‖f‖²  over functions f of the kernel's space, and over c if it is free.
Solution   f = Σ a_i k(x_i, ·)  with  a = √S b  and  (√S K √S + λ) b = √S (y - c);  a free c makes b orthogonal to u = √s:
           b = M √S y  with  M = G - G u uᵀ G / uᵀGu  (without a constant M = G).  With  √S K √S = U Λ Uᵀ  there is
           G = U (Λ + λ)⁻¹ Uᵀ  for every λ, and each costs two products.
Left out   Without example i, its whole weight included, its residual is  b_i / (√s_i M_ii),  exactly.
Tried      A band in place of eigenvectors (block reflections; G_ii from the factors of B + λ): all matrix products, but no
           faster in double precision. Single precision fails where λ is below 1e-7 of the largest eigenvalue.
Reference  Saunders, Gammerman and Vovk 1998. Left out: Allen 1974 ("PRESS").
"""

from typing import NamedTuple

import numpy as np

from halfspace._typing import FloatArray
from halfspace.errors import InputError
from halfspace.solvers.regression.cholesky import factor, inverse_diagonal, product, solve

__all__ = ["KernelFit", "KernelSpectrum", "decompose", "default_kernel_ridges", "kernel_ridge", "left_out_residuals"]

SELF = 1e-12
"""An example whose prediction follows its own target up to this is not predicted by the others."""
BLOCK = 1 << 21
"""Squares of eigenvectors held at a time."""


class KernelSpectrum(NamedTuple):
    """√S K √S = U Λ Uᵀ, and the targets and √s in it."""

    values: FloatArray  # (n,) Λ, none negative
    U: FloatArray  # (n, n)
    z: FloatArray  # (n, m) Uᵀ√S Y
    p: FloatArray  # (n,) Uᵀ√s
    root: FloatArray  # (n,) √s
    free: bool


class KernelFit(NamedTuple):
    """Coefficients (m, n), constants (m,), and the residuals of the examples when left out, shape (m, n)."""

    coefficients: FloatArray
    constants: FloatArray
    left_out: FloatArray


def decompose(K: FloatArray, Y: FloatArray, s: FloatArray, *, free: bool) -> KernelSpectrum:
    """Decompose the kernel matrix K (n, n), which is overwritten, of examples with weights s > 0 (n,) and targets Y (n, m)."""
    root = np.sqrt(s)
    if (s != 1.0).any():
        K *= root
        K *= root[:, None]
    values, U = np.linalg.eigh(K)  # unlike SciPy's, it lets other threads run
    return KernelSpectrum(np.maximum(values, 0.0), U, U.T @ (root[:, None] * Y), U.T @ root, root, free)


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
        _answer(squares[k], solved[:, k], along[k], parts.root, ridge, free=parts.free)[2] for k, ridge in enumerate(ridges)
    ]
    return np.stack(answers, axis=1)


def kernel_ridge(K: FloatArray, Y: FloatArray, s: FloatArray, ridge: float, *, free: bool) -> KernelFit:
    """Solve for one λ by Cholesky, for a kernel matrix K (n, n), which is overwritten, weights s > 0 (n,), targets Y (n, m)."""
    K, root = np.ascontiguousarray(K), np.sqrt(s)
    if (s != 1.0).any():
        K *= root
        K *= root[:, None]
    K[np.diag_indices(s.size)] += ridge
    diagonal, right = K.diagonal().copy(), np.column_stack([root[:, None] * Y, root])
    if not factor(K):
        msg = f"kernel ridge regression: with ridge {ridge:.3g} the kernel matrix is singular to rounding. Give a larger ridge."
        raise InputError(msg)
    solved = solve(K, right)
    solved += solve(K, right - product(K, diagonal, solved))  # one step of refinement
    squares = inverse_diagonal(K)
    b, constants, left_out = _answer(squares, solved[:, :-1].T, solved[:, -1], root, ridge, free=free)
    return KernelFit(b * root, constants, left_out)


def _answer(
    squares: FloatArray, b: FloatArray, along: FloatArray, root: FloatArray, ridge: float, *, free: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return b (m, n), constants (m,) and left-out residuals (m, n), from G_ii (n,), G√S Y as b (m, n), and Gu (n,)."""
    constants = np.zeros(b.shape[0])
    if free:
        total = float(root @ along)
        constants = b @ root / total
        b, squares = b - constants[:, None] * along, squares - along**2 / total
    with np.errstate(divide="ignore", invalid="ignore"):
        return b, constants, np.where(ridge * squares > SELF, b / root / squares, np.inf)
