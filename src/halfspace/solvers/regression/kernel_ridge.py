"""Kernel ridge regression, the Adaline in a kernel's space, for many ridges from one decomposition.

Problem    min Σ s_i (y_i - f(x_i) - c)² + λ‖f‖²  over the functions f of the kernel's space, and over c if the constant is free.
Method     f = Σ a_i k(x_i, ·)  with  a = √S b  and  (√S K √S + λ) b = √S (y - c);  a free c makes b orthogonal to u = √s.
           With √S K √S = U Λ Uᵀ every λ costs two products: b = M √S y,  M = G - G u uᵀ G / uᵀGu,  G = U (Λ + λ)⁻¹ Uᵀ.
Leave one out   The residual is r = λ b / √s and the influence of a target on its own prediction h_i = (1 - λ M_ii) / s_i. Without
           the example (one of its copies, if its weight is above 1) the residual is  r_i / (1 - min(s_i, 1) h_i),  exactly.
Reference  Saunders, Gammerman and Vovk 1998; leave-one-out: Allen 1974 ("PRESS"), Cawley and Talbot 2003.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg

from halfspace._typing import FloatArray

__all__ = ["KernelFit", "KernelSpectrum", "decompose", "default_kernel_ridges", "kernel_ridge", "leave_one_out_errors"]

SINGLE = 1e-4
"""Ridges below this share of the mean diagonal need double precision."""
SELF = 1e-12
"""An example whose prediction follows its own target up to this is not predicted by the others."""
BLOCK = 1 << 22
"""Squares of eigenvectors held at a time."""


class KernelSpectrum(NamedTuple):
    """√S K √S = U Λ Uᵀ, and the targets and √s in it."""

    values: FloatArray  # (n,) Λ, none negative
    U: FloatArray  # (n, n)
    z: FloatArray  # (n, m) Uᵀ√S Y
    p: FloatArray  # (n,) Uᵀ√s
    root: FloatArray  # (n,) √s
    free: bool

    def damped(self, ridges: FloatArray) -> FloatArray:
        """Return 1/(Λ + λ), shape (n, L)."""
        return np.asarray(1.0 / (self.values[:, None] + ridges))


class KernelFit(NamedTuple):
    """Coefficients a (n, m), constants (m,) and the residuals of the examples when left out (n, m)."""

    coefficients: FloatArray
    constants: FloatArray
    left_out: FloatArray


def decompose(K: FloatArray, Y: FloatArray, s: FloatArray, *, free: bool) -> KernelSpectrum:
    """Decompose the kernel matrix K (n, n) of examples with weights s > 0 (n,) and targets Y (n, m); K is overwritten.

    In single precision if K is.
    """
    root = np.sqrt(s)
    if (s != 1.0).any():
        K *= root[:, None].astype(K.dtype)
        K *= root.astype(K.dtype)
    values, U = linalg.eigh(K, overwrite_a=True, check_finite=False, driver="evd")
    z, p = U.T @ (root[:, None] * Y).astype(K.dtype), U.T @ root.astype(K.dtype)
    return KernelSpectrum(np.maximum(values, 0.0).astype(np.float64), U, z.astype(np.float64), p.astype(np.float64), root, free)


def default_kernel_ridges(K: FloatArray, count: int = 20) -> FloatArray:
    """Return ridges from 1e-5 to 1e2 times the mean of the diagonal of K, evenly by logarithm, shape (count,)."""
    mean = float(np.trace(K)) / K.shape[0]
    return (mean if mean > 0.0 else 1.0) * np.geomspace(1e-5, 1e2, count)


def _influences(parts: KernelSpectrum, damped: FloatArray, along: FloatArray, total: FloatArray) -> FloatArray:
    """Return M_ii, shape (n, L); `along` is Gu (n, L), `total` uᵀGu (L,)."""
    n = parts.U.shape[0]
    step = max(1, BLOCK // n)
    narrow = damped.astype(parts.U.dtype)
    own = np.concatenate([np.square(parts.U[k : k + step]) @ narrow for k in range(0, n, step)]).astype(np.float64)
    return own - along**2 / total if parts.free else own


def _solutions(parts: KernelSpectrum, ridges: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return b (n, m, L), the constants (m, L) and the residuals of the examples when left out (n, m, L)."""
    n, m, L = parts.U.shape[0], parts.z.shape[1], ridges.size
    damped = parts.damped(ridges)
    moved = (parts.z[:, :, None] * damped[:, None, :]).reshape(n, m * L)
    both = parts.U @ np.hstack([moved, parts.p[:, None] * damped]).astype(parts.U.dtype)
    b, along = both[:, : m * L].reshape(n, m, L).astype(np.float64), both[:, m * L :].astype(np.float64)
    total, constants = parts.p**2 @ damped, np.zeros((m, L))
    if parts.free:
        constants = np.einsum("i,iml->ml", parts.p, moved.reshape(n, m, L)) / total
        b -= along[:, None, :] * constants
    M, s = _influences(parts, damped, along, total), parts.root**2
    spare = 1.0 - (np.minimum(s, 1.0) / s)[:, None] * (1.0 - ridges * M)
    with np.errstate(divide="ignore", invalid="ignore"):
        left_out = np.where(spare > SELF, 1.0, np.inf)[:, None, :] * (ridges * b / parts.root[:, None, None] / spare[:, None, :])
    return b, constants, left_out


def leave_one_out_errors(parts: KernelSpectrum, ridges: FloatArray) -> FloatArray:
    """Return the mean squared leave-one-out error of each target for every λ, shape (m, L)."""
    s = parts.root**2
    errors: FloatArray = np.einsum("i,iml->ml", s, _solutions(parts, ridges)[2] ** 2) / s.sum()
    return np.where(np.isnan(errors), np.inf, errors)


def kernel_ridge(parts: KernelSpectrum, ridge: float) -> KernelFit:
    """Return the function for one λ."""
    b, constants, left_out = _solutions(parts, np.array([ridge]))
    return KernelFit(parts.root[:, None] * b[:, :, 0], constants[:, 0], left_out[:, :, 0])
