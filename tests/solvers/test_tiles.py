"""Compiled kernel values are those of the plain formula, whatever the shape, the precision and the path."""

import numpy as np
import pytest
from scipy import sparse

from halfspace.kernels import RBF, Laplacian, Linear, Polynomial
from halfspace.kernels.fast.blocked_products import combined, fill, prepare, single_error, times, values
from halfspace.kernels.gram import LazyGram

pytestmark = pytest.mark.compiled

KERNELS = [RBF(0.3), Laplacian(0.7), Linear(), *(Polynomial(degree, 0.2, 0.5) for degree in (1, 2, 3, 4, 6))]
SHAPES = [(1, 1, 1), (5, 3, 2), (6, 16, 4), (49, 129, 7), (193, 1030, 3), (100, 90, 150)]


def rows(n, d, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("dtype", "error"), [(np.float32, 3e-5), (np.float64, 1e-7)], ids=["single", "double"])
def test_tiles_fill_a_matrix_with_the_values_of_the_formula(kernel, shape, dtype, error):
    """fill = exact for every kernel with a compiled form, any number of rows, columns and inputs."""
    n, m, d = shape
    A, B = rows(n, d, 1, dtype), rows(m, d, 2, dtype)
    out = np.empty((n, m), dtype=dtype)
    assert fill(kernel, A, B, out)
    exact = kernel.exact(A, B)
    assert np.abs(out - exact).max() <= error * max(1.0, np.abs(exact).max())


@pytest.mark.parametrize("d", [3, 40, 120])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_square_is_symmetric_and_the_same_as_any_other_matrix(d, dtype):
    """With A = B half of it is computed and half copied: nobody can tell."""
    A = rows(300, d, 3, dtype)
    square, other = np.empty((300, 300), dtype=dtype), np.empty((300, 300), dtype=dtype)
    assert fill(RBF(0.1), A, A, square)
    assert fill(RBF(0.1), A, A.copy(), other)
    assert np.abs(square - square.T).max() <= (1e-5 if dtype == np.float32 else 1e-14)
    assert np.abs(square - other).max() <= (1e-5 if dtype == np.float32 else 1e-14)


@pytest.mark.parametrize("kernel", KERNELS[:4], ids=str)
def test_sums_of_values_are_those_of_the_matrix(kernel):
    """`times` and `combined` are the matrix times coefficients, for one function, few and many."""
    A, B = rows(130, 5, 4), rows(1200, 5, 5)
    P = prepare(kernel, A, np.float64)
    Q = prepare(kernel, B, np.float64, P.centre)
    picked, columns = np.array([3, 0, 77]), np.arange(0, 1200, 7)
    c = np.array([1.0, -2.0, 0.5])
    exact = kernel.exact(A, B)
    assert np.allclose(times(P, picked, c, Q, columns), c @ exact[np.ix_(picked, columns)], rtol=0, atol=1e-7)
    for count in (1, 3, 8):
        C = np.random.default_rng(count).normal(size=(count, 130))
        assert np.allclose(combined(kernel, A, C, B, np.float64), (C @ exact).T, rtol=0, atol=1e-5)


def test_the_bound_on_single_precision_holds():
    """No value in single precision is further from the exact one than `single_error` allows."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        d = int(rng.integers(1, 60))
        X = rng.normal(size=(80, d)) * 10 ** rng.uniform(-2, 1) + 10 ** rng.uniform(-2, 2)
        kernel = RBF(float(10 ** rng.uniform(-2, 0.5)) / d)
        P = prepare(kernel, X, np.float32)
        out = np.empty((80, 80), dtype=np.float32)
        values(P, np.arange(80), P, np.arange(80), out)
        exact = kernel.exact(X)
        assert (np.abs(out - exact) <= single_error(P) * exact + 1e-30).all()


def test_no_bound_is_claimed_for_kernels_without_one():
    """Only the Gaussian kernel has a bound on its relative error in single precision."""
    assert single_error(prepare(Linear(), rows(4, 2), np.float32)) == np.inf


def test_rows_too_long_for_the_precision_are_left_to_others():
    """Squares that overflow have no compiled form, and say so."""
    assert prepare(Linear(), np.full((2, 2), 1e30), np.float32) is None
    assert prepare(RBF(1.0), np.array([[1e25], [0.0]]), np.float32) is None


@pytest.mark.parametrize("kernel", [RBF(0.5), Polynomial(2, 0.5, 1.0), 2 * RBF(0.5) + Linear()], ids=str)
@pytest.mark.parametrize("form", ["dense", "csr"])
def test_a_lazy_gram_is_the_gram_matrix(kernel, form):
    """Blocks and sums of LazyGram are those of K + clamp², in both precisions, stored, tiled or in blocks."""
    X = rows(60, 4, 6)
    X[:, 1] = 7.0  # a constant column changes no distance
    K = kernel.exact(X) + 0.25
    gram = LazyGram(kernel, X if form == "dense" else sparse.csr_array(X), clamp=0.5)
    some, others, c = np.array([4, 9, 30]), np.arange(60), np.array([1.0, -1.0, 3.0])
    scale = np.abs(K).max()
    assert np.allclose(gram.diagonal, np.diag(K))
    for dtype, error in ((np.float32, 1e-5), (np.float64, 1e-11)):
        assert np.abs(gram.block(some, others, dtype) - K[some]).max() <= error * scale
        assert np.abs(gram.times(some, c, others, dtype) - c @ K[some]).max() <= 5 * error * scale


def test_the_answer_does_not_depend_on_the_number_of_threads(monkeypatch):
    """Pieces are cut by the problem: one thread or many, the same bits."""
    from concurrent.futures import ThreadPoolExecutor

    from halfspace.rows import threads as pieces

    X, kernel = rows(2500, 30, 7, np.float32), RBF(0.1)
    before = kernel.matrix(X)
    with ThreadPoolExecutor(1) as alone:
        monkeypatch.setattr(pieces, "pool", lambda: alone)
        assert np.array_equal(before, kernel.matrix(X))
