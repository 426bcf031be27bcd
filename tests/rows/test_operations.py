"""Operations on rows taken together, and the small functions around them, on numbers one can check by hand."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from halfspace.rows.design import Design, column_means
from halfspace.rows.labels import class_numbers, given_classes, mean_per_class
from halfspace.rows.operations import (
    fill_squared_norms,
    gathered,
    gram,
    learnt_outputs,
    outputs,
    potentials,
    squared_norms,
    take,
)
from halfspace.rows.threads import beside, in_chunks, libraries, n_workers, one_blas_thread
from halfspace.rows.views import Clamped, axpy, entries_per_row, view_of
from halfspace.solvers.linear.soft_margin import Problem, best_bias, combined, value


def test_outputs_lengths_and_potentials():
    """Each row by itself: w·x, ‖x‖² and y w·x."""
    assert outputs(np.array([[1.0, 2.0]]), np.array([[1.0, 1.0], [0.0, -1.0]])).tolist() == [[3.0, -2.0]]
    assert squared_norms(np.array([[3.0, 4.0], [0.0, 1.0]])).tolist() == [25.0, 1.0]
    out = np.empty(1)
    fill_squared_norms(np.array([[3.0, 4.0]]), out)
    assert out.tolist() == [25.0]
    potentials(np.array([[1.0, 2.0]]), np.array([-1.0]), np.array([3.0, 1.0]), out)
    assert out.tolist() == [-5.0]


@pytest.mark.parametrize("clamp", [0.0, 2.0])
@pytest.mark.parametrize("stored", [np.asarray, np.float32, csr_array], ids=["doubles", "floats", "CSR"])
def test_rows_that_were_learnt_from_are_taken_together(stored, clamp):
    """Outputs by one product and combinations of rows are those made row by row, whatever their storage."""
    rng = np.random.default_rng(0)
    view, y = view_of(stored(rng.normal(size=(30, 4))), clamp), np.where(rng.random(30) < 0.5, 1.0, -1.0)
    W, alpha = rng.normal(size=(2, 4 + bool(clamp))), np.maximum(rng.normal(size=30), 0.0)
    np.testing.assert_allclose(learnt_outputs(view, W), outputs(view, W), rtol=1e-12, atol=1e-12)
    by_row = np.zeros(W.shape[1])
    for i in range(30):
        axpy(alpha[i] * y[i], view, i, by_row)
    found = combined(Problem(view, y, np.ones(30), squared_norms(view)), alpha)
    np.testing.assert_allclose(found, by_row, rtol=1e-12, atol=1e-12)


def test_copies_of_rows_and_their_gram_matrix():
    """Rows are copied in the order asked for; the Gram matrix holds scale² x xᵀ."""
    assert take(np.eye(3), np.array([2])).tolist() == [[0.0, 0.0, 1.0]]
    assert gathered(np.eye(3, dtype=np.float32), np.array([2, 0])).tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    assert np.triu(gram(np.array([[1.0, 2.0]]), np.array([0]), np.array([2.0]))).tolist() == [[4.0, 8.0], [0.0, 16.0]]
    assert entries_per_row(Clamped(np.eye(3), 1.0)) == 4.0


def test_labels_and_designs():
    """Classes are sorted, labels numbered by them; means are weighted, and the clamped column is not centred."""
    assert given_classes(["b", "a"], "Perceptron").tolist() == ["a", "b"]
    assert class_numbers(np.array([3, 1]), np.array([1, 2, 3]), "Perceptron").tolist() == [2, 0]
    assert mean_per_class(np.array([True, True, True, False]), np.array([0, 0, 0, 1])) == 0.5
    assert column_means(np.array([[1.0], [4.0]]), np.array([2.0, 1.0])).tolist() == [2.0]
    design = Design(np.array([[1.0], [3.0]]), np.ones(2), 1.0, np.array([2.0]))
    assert design.rows(0, 2).tolist() == [[-1.0, 1.0], [1.0, 1.0]]


def test_work_in_threads():
    """Small passes are done in one piece; no more threads than problems; limits end with their block."""
    assert in_chunks(lambda start, stop: stop - start, 10, 4.0) == [10]
    assert (n_workers(4, 3), n_workers(1, 3)) == (3, 1)
    assert beside(sum, [1, 2]).result() == 3
    with one_blas_thread(), libraries().limit(limits=1, user_api="openmp"):
        assert np.ones(3) @ np.ones(3) == 3.0


def test_the_values_of_a_point():
    """Σ alpha y x, the gap of an optimal point, and the bias in the middle of two outputs."""
    problem = Problem(np.eye(2), np.array([1.0, -1.0]), np.ones(2), np.ones(2))
    assert combined(problem, np.array([3.0, 2.0])).tolist() == [3.0, -2.0]
    one = np.ones(1)
    assert value(Problem(np.eye(1), one, one, one), one, one, one).gap == 0.0
    assert best_bias(np.array([3.0, 1.0]), np.array([1.0, -1.0]), np.ones(2)) == -2.0
