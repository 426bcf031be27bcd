"""Claims about the small parts that the regression solvers are made of."""

import numpy as np
import pytest

from halfspace.certificates.regression.posterior import Sums
from halfspace.rows.design import Design
from halfspace.solvers.regression.evidence import Problem, least_ridge, log_evidence, maximise, precisions, problem
from halfspace.solvers.regression.least_squares import least_squares
from halfspace.solvers.regression.posterior import gathered, infer, joined
from halfspace.solvers.regression.ridge import default_ridges, from_spectrum, leave_one_out, path_weights, ridge_regression
from halfspace.solvers.regression.spectrum import Spectrum, spectrum, triangle
from halfspace.solvers.run import Budget

LINE = Design(np.array([[1.0], [2.0]]), np.ones(2), 0.0, np.zeros(1))
Y = np.array([[3.0], [6.0]])
ONE = Spectrum(np.ones(1), np.ones((1, 1)), np.ones((1, 1)), np.zeros(1))


def test_ridge_by_every_route():
    """A ridge of λ = Σx² halves the slope of y = 3x: by Cholesky, by singular values, and on the path."""
    parts = Spectrum(np.sqrt(np.array([5.0])), np.ones((1, 1)), np.array([[15.0]]) / np.sqrt(5.0), np.zeros(1))
    assert ridge_regression(LINE, Y, 5.0).W.item() == pytest.approx(1.5)
    assert from_spectrum(LINE, spectrum(LINE, Y, 5.0), Y, 5.0).W.item() == pytest.approx(1.5)
    np.testing.assert_allclose(path_weights(LINE, parts, np.array([0.0, 5.0])).ravel(), [3.0, 1.5])
    np.testing.assert_allclose(default_ridges(ONE, 4), [1e-6, 1e-3, 1.0, 1e3])
    slope = least_squares(np.array([[1.0], [2.0]]), np.array([[2.0], [4.0]]), np.ones(2), 0.0, 1e-9, Budget(1)).W
    assert slope.item() == pytest.approx(2.0)


def test_leave_one_out_of_a_mean():
    """Each of two targets is predicted by the other one."""
    mean = Design(np.zeros((2, 1)), np.ones(2), 0.0, np.zeros(1))
    none = Spectrum(np.zeros(0), np.zeros((1, 0)), np.zeros((0, 1)), np.ones(1))
    assert leave_one_out(mean, none, np.array([[-1.0], [1.0]]), np.ones(1), constant=True).tolist() == [4.0]


def test_decompositions():
    """Singular values come out falling; the triangle of (A, y) holds the lengths of both."""
    plane = Design(np.array([[3.0, 0.0], [4.0, 0.0], [0.0, 2.0]]), np.ones(3), 0.0, np.zeros(2))
    np.testing.assert_allclose(spectrum(plane, np.ones((3, 1)), 0.0).s, [5.0, 2.0])
    column = Design(np.array([[3.0], [4.0]]), np.ones(2), 0.0, np.zeros(1))
    for R in (triangle(column, np.array([[3.0], [4.0]])), gathered(column, np.array([3.0, 4.0]), 0.0).triangle):
        np.testing.assert_allclose(np.abs(R), [[5.0, 5.0], [0.0, 0.0]], atol=1e-12)


def test_evidence():
    """MacKay's fixed point holds at the maximum; a rest below the floor is no noise; y = 0 = w x has variance 1 + 1."""
    task = Problem(np.array([4.0]), np.array([[9.0]]), np.array([2.0]), 3.0)
    best = maximise(task)
    gamma, length, error = task.terms(best.ridge)
    assert best.ridge == pytest.approx(gamma * error[0] / ((3.0 - gamma) * length[0]))
    assert best.at_edge == ""
    assert problem(ONE, 4.0, np.array([0.5])).rest.tolist() == [0.0]
    assert precisions(Problem(np.array([1.0]), np.array([[4.0]]), np.array([1.0]), 6.0), 1.0).tolist() == [2.0]
    alone = Problem(np.array([1.0]), np.array([[0.0]]), np.array([0.0]), 1.0)
    assert log_evidence(alone, 1.0, np.ones(1))[0] == pytest.approx(-0.5 * np.log(4 * np.pi))
    assert least_ridge(np.zeros(3), 10.0) == 0.0


def test_posterior_of_batches():
    """Two batches of one row each say what both rows about their mean say; the posterior is Bishop's."""
    one, two = (Sums(np.zeros((1, 2)), 1.0, np.array([x]), 2.0 * x) for x in (1.0, 3.0))
    R = joined(one, two).triangle
    np.testing.assert_allclose(R.T @ R, [[2.0, 4.0], [4.0, 8.0]])
    found = infer(Sums(np.array([[2.0, 1.0], [0.0, 3.0]]), 2.0, np.zeros(1), 0.0), 0.0, 1.0, 1.0)
    assert (found.mean.item(), found.covariance.item()) == (pytest.approx(0.4), pytest.approx(0.2))
