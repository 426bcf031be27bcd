"""Cholesky's factors in place, by LAPACK, while other threads run.

SciPy's own wrappers keep Python's lock, so that problems solved side by side would wait for each other. The routines are those
that SciPy hands to compiled code (`scipy.linalg.cython_lapack`); whole numbers are passed in 8 bytes, of which a routine that
expects 4 reads the lower ones (all processors that Numba compiles for store these first).

A symmetric matrix A (n, n) in C order is its own transpose, so that LAPACK's lower triangle is A's upper one: after `factor` it
holds Lᵀ, and below the diagonal A is as it was.
"""

import ctypes
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import blas, cython_lapack

from halfspace._typing import FloatArray

__all__ = ["factor", "inverse_diagonal", "product", "solve"]

BLOCK = 256
"""Rows of squares held at a time."""


@cache
def _routine(name: str) -> Any:
    """Return a routine of LAPACK that other threads need not wait for."""
    capsule = cython_lapack.__pyx_capi__[name]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    named = ctypes.pythonapi.PyCapsule_GetName
    named.restype, named.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return ctypes.CFUNCTYPE(None)(pointer(capsule, named(capsule)))


def _called(name: str, letters: bytes, *arguments: Any) -> int:
    """Call a routine with letters, sizes and arrays, and return its last argument, info."""
    info = ctypes.c_int64(0)
    chars = [ctypes.c_char_p(letters[k : k + 1]) for k in range(len(letters))]
    given = [
        ctypes.byref(ctypes.c_int64(one)) if isinstance(one, int) else ctypes.c_void_p(one.ctypes.data) for one in arguments
    ]
    _routine(name)(*chars, *given, ctypes.byref(info))
    return info.value


def _letter(A: Any) -> str:
    return "s" if A.dtype == np.float32 else "d"


def factor(A: Any) -> bool:
    """Factor a symmetric matrix A (n, n), in C order and of either precision, in place; False if that fails."""
    n = A.shape[0]
    return _called(f"{_letter(A)}potrf", b"L", n, A, n) == 0


def solve(A: Any, B: Any) -> Any:
    """Return A⁻¹B, shape (n, m), in A's precision, for a matrix that was factored."""
    out = np.array(B, dtype=A.dtype, order="F")
    _called(f"{_letter(A)}potrs", b"L", A.shape[0], out.shape[1], A, A.shape[0], out, A.shape[0])
    return out


def product(A: Any, diagonal: FloatArray, B: Any) -> Any:
    """Return the product of a matrix in double precision, as it was before it was factored, with B (n, m)."""
    return blas.dsymm(1.0, A.T, np.asfortranarray(B), lower=0) + (diagonal - A.diagonal())[:, None] * B


def inverse_diagonal(A: Any) -> Any:
    """Return the diagonal of A⁻¹, shape (n,), for a matrix that was factored; it is overwritten."""
    n = A.shape[0]
    _called(f"{_letter(A)}trtri", b"LN", n, A, n)
    found = np.empty(n, dtype=A.dtype)
    for first in range(0, n, BLOCK):
        rows = A[first : first + BLOCK, first:]
        own = np.triu(rows[:, : rows.shape[0]])
        found[first : first + BLOCK] = (own * own).sum(axis=1)
        found[first : first + BLOCK] += np.square(rows[:, rows.shape[0] :]).sum(axis=1)
    return found
