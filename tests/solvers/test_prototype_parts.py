"""Claims about the small parts that the prototype solvers are made of."""

import numpy as np

from halfspace.solvers.prototypes.distances import class_distances, distances, map_blocks, project
from halfspace.solvers.prototypes.em import quantised, spread
from halfspace.solvers.prototypes.farthest_first import farthest_first
from halfspace.solvers.prototypes.glvq import Book, bend, slope, slopes
from halfspace.solvers.prototypes.glvq_batch import of_length_one
from halfspace.solvers.prototypes.glvq_online import class_starts
from halfspace.solvers.prototypes.mixture import Common, Each, Fixed, Mixture, Sums, carried, maximised
from halfspace.solvers.prototypes.online import has_run_away
from halfspace.solvers.prototypes.quantising import all_distances, columns, shares, winners


def test_projection_and_distances():
    """A vector ω stands for its diagonal matrix; a class without prototypes is infinitely far."""
    assert project(np.array([[1.0, 2.0]]), np.array([3.0, 0.5])).tolist() == [[3.0, 1.0]]
    assert project(np.eye(2), np.array([[1.0, 2.0]])).tolist() == [[1.0], [2.0]]
    assert distances(np.array([[1.0]]), np.array([[0.0], [3.0]]), np.array([0, 1]), np.ones(1)).tolist() == [[1.0, 4.0]]
    assert class_distances(np.array([[3.0, 1.0, 2.0]]), np.array([0, 0, 1]), 3).tolist() == [[1.0, 2.0, np.inf]]
    assert map_blocks(lambda _, block: block.sum(), np.eye(3), 1.0) == [3.0]


def test_slopes_of_the_cost():
    """f is the identity or the sigmoid; x on a prototype of its class and on another's gives no slope."""
    assert (bend(0.0, -0.5), bend(2.0, 0.0)) == (-0.5, 0.5)
    assert (slope(0.0, -0.5), slope(2.0, 0.0)) == (1.0, 0.5)
    assert (slopes(0.0, 1.0, 3.0), slopes(0.0, 0.0, 0.0)) == ((0.375, 0.125), (0.0, 0.0))


def test_book():
    """A book fills Ω up to a multiple of four rows, and knows where classes begin and when numbers have run away."""
    book = Book.of(np.ones((3, 2)), np.array([0, 1, 1]), np.ones((1, 2)))
    assert (book.omega.shape, book.Q[0].tolist()) == ((4, 2), [2.0, 0.0, 0.0, 0.0])
    assert class_starts(book.labels).tolist() == [0, 1, 3]
    assert has_run_away(Book.of(np.array([[np.nan]]), np.array([0]), np.ones(1)), 1.0)
    assert of_length_one(np.array([3.0, 4.0])).tolist() == [0.6, 0.8]


def test_quantisers():
    """Of equally near prototypes the first wins; rates are held for 16 presentations; columns are padded to eight."""
    assert [part.tolist() for part in winners(np.array([[0.0], [2.0], [9.0]]), np.array([[1.0], [10.0]]))] == [
        [0, 0, 1],
        [1] * 3,
    ]
    assert all_distances(np.array([[3.0, 4.0]]), np.array([[0.0, 0.0], [3.0, 5.0]])).tolist() == [[5.0, 1.0]]
    assert (shares(10, 20, 64).tolist(), shares(0, 16, 0).tolist()) == ([0.0, 0.25], [1.0])
    assert columns(np.ones((3, 2))).shape == (2, 8)
    X = np.array([[0.0], [1.0], [2.0], [6.0], [-9.0]])
    assert farthest_first(X, np.ones(5), 3).ravel().tolist() == [0.0, -9.0, 6.0]


def test_first_mixture_and_step():
    """The first mixture is a step of K-means; the scatter is taken about the new centres; earlier σ obey the rule."""
    X = np.array([[0.0], [2.0], [9.0], [11.0]])
    first = quantised(X, np.ones(4), np.array([[0.0], [9.0]]), 5.0, Common(0.0))
    np.testing.assert_allclose(first.centres.ravel(), [1.0, 10.0])
    np.testing.assert_allclose([first.weights, first.sigmas], [[0.5, 0.5], [1.0, 1.0]])
    np.testing.assert_allclose(spread(np.array([[7.0, 5.0], [9.0, 5.0]]), np.ones(2)) ** 2, 0.5)
    before = Mixture(np.array([1.0]), np.array([[0.0]]), np.array([1.0]))
    after = maximised(Sums(0.0, np.array([2.0]), np.array([[4.0]]), np.array([10.0])), before, Each(0.0))
    assert [part.ravel().tolist() for part in after] == [[1.0], [2.0], [1.0]]
    old = Mixture(np.array([0.5, 0.5]), np.zeros((2, 1)), np.array([1.0, 7.0]))
    assert [carried(old, rule).tolist() for rule in (Each(2.0), Common(2.0), Fixed(3.0))] == [[2, 7], [5, 5], [3, 3]]
