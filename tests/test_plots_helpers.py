"""The private helpers of `halfspace.plots`, each on a small case."""

import numpy as np

from halfspace.plots import axes


def test_axes():
    """A grid leaves room around the rows, and classes have colours."""
    assert axes.grid_around(np.array([[0.0, 0.0], [1.0, 2.0]]), 2, 0.5)[1].tolist() == [[-1.0, -1.0], [3.0, 3.0]]
    assert axes.class_colours(2) == ["#b2182b", "#2166ac"]
