"""Online vector quantisation: the winner takes all.

Problem.    Prototypes w_1..w_K that minimise the quantisation error  E(W) = Σ_i min_k ‖x_i - w_k‖².
Update.     Present a row x; only its nearest prototype moves:  w_k += rate (x - w_k).
Guarantee.  A step of stochastic gradient descent on ½ E: -(x - w_k) is the gradient of the row's own term. With rates whose
            sum diverges and whose squares' sum does not, it converges to a stationary point of E with probability 1
            (Bottou 1998). For rates <= 1 prototypes never leave the convex hull of the start and the rows.
            Which stationary point depends on the start; a prototype that never wins stays where it is.
Dead units. A prototype that won nothing for a whole epoch is put on a row drawn in proportion to its squared distance (as
            k-means++ draws its centres, Arthur and Vassilvitskii 2007): the error falls by at least that row's share.
Reference.  Linde, Buzo and Gray 1980; Kohonen 1982; Hertz, Krogh and Palmer 1991, section 9.1.
"""

from typing import Any

import numpy as np

from halfspace._dispatch import compiled
from halfspace._typing import FloatArray, IntArray, View
from halfspace.rows.operations import gathered
from halfspace.rows.orders import Geometric
from halfspace.solvers.prototypes.quantising import HOLD, Learner, nearest, pull_column, shares, squared_distances, winners

__all__ = ["WinnerTakesAll"]


@compiled
def _present(rows: FloatArray, rates: FloatArray, held: int, V: FloatArray, wins: IntArray) -> float:
    """Present rows one after another; return the sum of their squared distances from the winners, before these moved."""
    D, error = np.empty(V.shape[1]), 0.0
    for t in range(rows.shape[0]):
        squared_distances(rows[t], V, D)
        k = nearest(D, wins.size)
        pull_column(rates[(held + t) // HOLD], rows[t], V, k)  # w_k += rate (x - w_k)
        wins[k] += 1
        error += D[k]
    return error


class WinnerTakesAll(Learner):
    """The state of vector quantisation between two pieces of rows.

    Parameters
    ----------
    W : ndarray, shape (K, d)
        Prototypes to start from.
    rate : Geometric
        The rate over the course of the fit.
    total : int
        Presentations of the whole course; with 0, as for a stream, the rate is the last one throughout.
    seed : int or None
        Random seed for reviving dead prototypes; None leaves them.

    Examples
    --------
    >>> learner = WinnerTakesAll(np.array([[0.0], [10.0]]), Geometric(0.5, 0.5), 0)
    >>> learner.present(np.array([[2.0], [8.0]]))
    >>> learner.W.ravel().tolist(), float(learner.error)
    ([1.0, 9.0], 8.0)
    """

    def __init__(self, W: FloatArray, rate: Geometric, total: int, seed: int | None = None) -> None:
        super().__init__(W, total)
        self.rate, self.seed, self.revived = rate, seed, 0
        self.wins = np.zeros(self.K, dtype=np.int64)  # in this epoch

    def present(self, rows: FloatArray) -> None:
        """Take in rows, shape (m, d), one after another."""
        rates = self.rate.at(shares(self.clock, len(rows), self.total))
        self.error += _present(rows, rates, self.clock % HOLD, self.V, self.wins)
        self.clock += len(rows)

    def end_epoch(self, X: View, *, last: bool) -> None:
        """Note the error, and revive prototypes without a win; not after the last epoch, as they could not learn."""
        dead = np.flatnonzero(self.wins == 0)
        if self.seed is not None and dead.size and not last:
            self._revive(X, dead, np.random.default_rng([self.seed, len(self.errors), 1]))
        self.wins[:] = 0
        super().end_epoch(X, last=last)

    def _revive(self, X: View, dead: IntArray, rng: np.random.Generator) -> None:
        """Put dead prototypes on rows drawn in proportion to their squared distance, without replacement."""
        _, squares = winners(X, self.W)
        dead = dead[: np.count_nonzero(squares)]
        if dead.size:
            drawn = rng.choice(squares.size, dead.size, replace=False, p=squares / squares.sum())
            self.V[:, dead] = gathered(X, drawn).T
            self.revived += dead.size

    def course(self) -> dict[str, Any]:
        """Return what a learner needs besides prototypes to go on from here."""
        return {**super().course(), "wins": self.wins.copy(), "revived": self.revived}

    def resume(self, course: dict[str, Any]) -> None:
        """Go on from where another learner stopped."""
        super().resume(course)
        self.wins[:], self.revived = course["wins"], course["revived"]
