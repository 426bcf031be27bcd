"""Cells: the examples cut by nearest centres, and the machines that know one cell each."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans

from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.certificates.groups import nearest_centres
from halfspace.models.kernel.prediction import Expansion

__all__ = ["Cells", "cut"]

SAMPLE = 100
"""Examples per centre that K-means sees."""
ROUNDS = 20
"""Iterations of K-means: good centres will do."""
LARGEST = 2.0
"""Cells with more examples than this many times the mean are cut again."""


class Cells(NamedTuple):
    """Machines that know one cell each: their centres, and which support vectors and bias they have.

    A cell of one class has no support vectors, and a bias of 1 (or -1) for its class.
    """

    centres: FloatArray  # (cells, d)
    columns: list[IntArray]  # of each cell: its support vectors, numbers within the expansion of all
    bias: FloatArray  # (cells, K)
    present: Any  # (cells, K) bool: the classes that live in a cell; all for two classes

    def outputs(self, expansion: Expansion, X: Matrix) -> FloatArray:
        """Return the outputs on rows of X, shape (n, K), each by the machine of the nearest centre."""
        cells, scores = nearest_centres(X, self.centres), np.empty((X.shape[0], self.bias.shape[1]))
        order = np.argsort(cells, kind="stable")
        ends = np.searchsorted(cells[order], np.arange(len(self.columns) + 1))
        for k in np.flatnonzero(np.diff(ends)):
            rows, columns = order[ends[k] : ends[k + 1]], self.columns[k]
            own = expansion._replace(
                support=expansion.support[columns],
                rows=expansion.rows[columns],
                coefficients=expansion.coefficients[:, columns],
                bias=self.bias[k],
            )
            found, absent = own.outputs(X[rows]), ~self.present[k]
            if absent.any():  # a class that was never seen here loses to those that were
                found[:, absent] = found[:, ~absent].min(axis=1, keepdims=True) - 1.0
            scores[rows] = found
        return scores


def _centres(X: Matrix, count: int, rng: np.random.Generator) -> FloatArray:
    """Return centres of the rows of X by K-means on a sample of them, at most `count`."""
    n = X.shape[0]
    chosen = np.sort(rng.choice(n, min(n, SAMPLE * count), replace=False))
    seed = int(rng.integers(np.iinfo(np.int32).max))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer different rows than centres: then there are fewer cells
        found = KMeans(min(count, chosen.size), n_init=1, max_iter=ROUNDS, random_state=seed).fit(X[chosen])
    return np.asarray(found.cluster_centers_, dtype=np.float64)


def cut(X: Matrix, count: int, seed: int) -> tuple[FloatArray, IntArray]:
    """Cut examples into about `count` cells, none much larger than the others where the data allow that.

    Returns
    -------
    centres : ndarray, shape (cells, d)
        One for every cell that has examples.
    cells : ndarray, shape (n,)
        The cell of each example.

    Examples
    --------
    >>> centres, cells = cut(np.array([[0.0], [1.0], [8.0], [9.0]]), 2, 0)
    >>> sorted(centres.ravel().tolist()), np.bincount(cells).tolist()
    ([0.5, 8.5], [2, 2])
    """
    rng, most = np.random.default_rng(seed), max(1, int(LARGEST * X.shape[0] / count))
    centres = _centres(X, count, rng)
    cells = nearest_centres(X, centres)
    for _ in range(6):
        sizes = np.bincount(cells, minlength=centres.shape[0])
        large = np.flatnonzero(sizes > most)
        if large.size == 0:
            break
        finer = [_centres(X[cells == k], 1 + int(sizes[k]) // most, rng) for k in large]
        centres = np.concatenate([np.delete(centres, large, axis=0), *finer])
        cells = nearest_centres(X, centres)
    used, cells = np.unique(cells, return_inverse=True)
    return centres[used], cells
