"""Neural gas: every prototype moves, the nearer it ranks the more.

Problem.    As vector quantisation, but independent of the start: minimise the quantisation error.
Update.     Present a row x; rank all prototypes by distance (0 the nearest; of equal ones the lower number first);

                w_k += rate · exp(-rank_k / λ) · (x - w_k).

            rate and range λ fall geometrically over the presentations.
Guarantee.  For fixed λ a step of stochastic gradient descent on  E_λ(W) = Σ_i Σ_k exp(-rank_k / λ) ‖x_i - w_k‖² / 2C(λ)
            (Martinetz, Berkovich and Schulten 1993). E_λ has fewer minima the larger λ
            is, so annealing λ leads past the local minima of E_0, the quantisation error. λ -> 0 is vector quantisation.
            For rates <= 1 prototypes never leave the convex hull of the start and the rows.
Rounding.   Where exp(-rank/λ) < 2^-53 a move is less than the rounding of x - w itself: those prototypes stay, and need not
            be ranked.
Solver.     solver="plain" presents by this rule as it stands (`_present_plain`); the default by `_present`, which ranks by
            counting, keeps powers of exp(-1/λ), and moves all prototypes at once.
Reference.  Martinetz, Berkovich and Schulten 1993.
"""

from typing import Any, NamedTuple

import numpy as np

from halfspace._dispatch import compiled, compiled_inside
from halfspace._typing import FloatArray, IntArray
from halfspace.rows.orders import Geometric
from halfspace.solvers.prototypes.quantising import HOLD, State, nearest, pull_column, shares, squared_distances

__all__ = ["Gas"]

REACH = 53.0 * np.log(2.0)
"""exp(-rank/λ) >= 2^-53 up to rank = REACH · λ."""
FEW = 8
"""Up to this many moving prototypes are found one after another; more are ranked all together."""


class Steps(NamedTuple):
    """Rate, exp(-1/λ) and the number of prototypes that move, one of each for every 16 presentations."""

    rate: FloatArray
    decay: FloatArray
    reach: IntArray
    held: int  # presentations for which the first ones have been in force


@compiled_inside
def _rank(D: FloatArray, K: int, keys: Any, ranks: Any) -> float:
    """Write how many of D[:K] come before each, by counting, in single precision if that tells all apart; return the least."""
    least, largest = D[0], 0.0
    for k in range(K):
        least, largest = min(least, D[k]), max(largest, D[k])
    scale = 1.0 / largest if largest > 0.0 else 0.0
    for k in range(keys.size):
        keys[k] = D[k] * scale if k < K else np.inf
        ranks[k] = 0
    for o in range(0, K, 8):
        a, b, c, d = keys[o], keys[o + 1], keys[o + 2], keys[o + 3]
        e, f, g, h = keys[o + 4], keys[o + 5], keys[o + 6], keys[o + 7]
        for k in range(keys.size):
            key = keys[k]
            ranks[k] += np.int32(
                np.int32(a < key) + np.int32(b < key) + np.int32(c < key) + np.int32(d < key)
                + np.int32(e < key) + np.int32(f < key) + np.int32(g < key) + np.int32(h < key)
            )  # fmt: skip
    total = 0
    for k in range(K):
        total += ranks[k]
    if total != K * (K - 1) // 2:  # equal keys share a rank, so the sum falls short
        _rank_ties(D, K, ranks)
    return least


@compiled_inside
def _rank_ties(D: FloatArray, K: int, ranks: Any) -> None:
    """Count in double precision; of equal distances the lower number comes first."""
    for k in range(K):
        ranks[k] = 0
        for o in range(K):
            ranks[k] += D[o] < D[k] or (D[o] == D[k] and o < k)


@compiled_inside
def _powers(first: float, decay: float, out: FloatArray) -> None:
    """Write first · decay^r for r = 0, 1, ...: eight chains of products, which do not wait for each other."""
    out[0] = first
    for r in range(1, 8):
        out[r] = out[r - 1] * decay
    step = decay**8
    for r in range(8, out.size):
        out[r] = out[r - 8] * step


@compiled_inside
def _pull_all(x: FloatArray, V: FloatArray, moves: FloatArray) -> None:
    """Move every prototype towards x: v_k += moves_k (x - v_k)."""
    for j in range(V.shape[0]):
        xj, v = x[j], V[j]
        for k in range(moves.size):
            v[k] += moves[k] * (xj - v[k])


@compiled_inside
def _pull_few(rate: float, decay: float, reach: int, x: FloatArray, V: FloatArray, D: FloatArray, K: int) -> float:
    """Move the nearest prototypes, found one after another; return the least distance."""
    k = nearest(D, K)
    least = D[k]
    pull_column(rate, x, V, k)
    for _ in range(1, reach):
        D[k] = np.inf
        k = nearest(D, K)
        rate *= decay
        pull_column(rate, x, V, k)
    return least


@compiled
def _present(rows: FloatArray, steps: Steps, V: FloatArray, K: int) -> float:
    """Present rows one after another; return the sum of their squared distances from the nearest, before any moved."""
    P = V.shape[1]
    D, powers, moves, error, known = np.empty(P), np.empty(P), np.zeros(P), 0.0, -1
    keys, ranks = np.empty(P, dtype=np.float32), np.empty(P, dtype=np.int32)
    for t in range(rows.shape[0]):
        x, s = rows[t], (steps.held + t) // HOLD
        squared_distances(x, V, D)
        if steps.reach[s] <= FEW:
            error += _pull_few(steps.rate[s], steps.decay[s], steps.reach[s], x, V, D, K)
            continue
        error += _rank(D, K, keys, ranks)
        if s != known:
            _powers(steps.rate[s], steps.decay[s], powers)
            known = s
        for k in range(K):
            moves[k] = powers[ranks[k]]  # rate · exp(-rank / λ)
        _pull_all(x, V, moves)
    return error


def _present_plain(rows: FloatArray, steps: Steps, V: FloatArray, K: int) -> float:
    """Present rows by the rule as it stands above; `_present` does the same, faster."""
    error = 0.0
    for t, x in enumerate(rows):
        D = np.square(x[:, None] - V[:, :K]).sum(axis=0)
        rank = np.argsort(np.argsort(D, kind="stable"))
        s = (steps.held + t) // HOLD
        V[:, :K] += steps.rate[s] * steps.decay[s] ** rank * (x[:, None] - V[:, :K])
        error += float(D.min())
    return error


class Gas(NamedTuple):
    """The rule, with rate and range λ over the course of a fit; in a stream both are the last ones throughout.

    Examples
    --------
    >>> state = State.of(np.array([[0.0], [10.0]]))
    >>> Gas(Geometric(0.5, 0.5), Geometric(1.0, 1.0)).present(np.array([[2.0]]), state)
    >>> state.W.ravel().round(3).tolist(), state.error.tolist()
    ([1.0, 8.528], [4.0])
    """

    rate: Geometric
    width: Geometric
    plain: bool = False

    def present(self, rows: FloatArray, state: State, total: int = 0) -> None:
        """Present rows (m, d), one after another."""
        clock, K = int(state.counts[0]), state.wins.size
        gone = shares(clock, len(rows), total)
        width = self.width.at(gone)
        reach = np.minimum(np.floor(REACH * width) + 1.0, K).astype(np.int64)
        steps = Steps(self.rate.at(gone), np.exp(-1.0 / width), reach, clock % HOLD)
        state.error[0] += (_present_plain if self.plain else _present)(rows, steps, state.V, K)
        state.counts[0] += len(rows)
