"""A Gaussian kernel matrix of 10k x 10k in 100 dimensions, against scikit-learn's, in single and double precision."""

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

import halfspace as hs
from benchmarks.kernel_setup import disqualify
from benchmarks.race import Case

ROWS, DIMENSIONS, GAMMA = 10_000, 100, 0.005
LARGEST = {"float32": 1e-5, "float64": 1e-12}
"""Largest difference from the true values that still counts as the same matrix."""


def _race(dtype):
    rng = np.random.default_rng(0)
    A, B = (rng.standard_normal((ROWS, DIMENSIONS)).astype(dtype) for _ in range(2))
    kernel = hs.kernels.RBF(GAMMA)
    some = np.arange(0, ROWS, 101)
    truth = rbf_kernel(A[some].astype(np.float64), B[some].astype(np.float64), gamma=GAMMA)

    def kept(matrix):
        """Keep a few values, so that the matrices of all contestants need not be held."""
        return matrix[np.ix_(some, some)], matrix.dtype

    def check(outputs):
        errors = {name: float(np.abs(values - truth).max()) for name, (values, _) in outputs.items()}
        same = errors["halfspace"] <= LARGEST[dtype] and outputs["halfspace"][1] == dtype
        if not same:
            disqualify(case)
        told = ", ".join(f"{name} {error:.0e}" for name, error in errors.items())
        return ("" if same else "**MISSED** ") + f"largest error: {told}"

    contestants = {
        "halfspace": lambda: kept(kernel.matrix(A, B)),
        "scikit-learn": lambda: kept(rbf_kernel(A, B, gamma=GAMMA)),
    }
    name = f"RBF kernel matrix {ROWS // 1000}k x {ROWS // 1000}k, d={DIMENSIONS}, {dtype}"
    case = Case(name, contestants, 3.0, check=check)
    return case


def cases():
    for dtype in LARGEST:
        yield _race(dtype)
