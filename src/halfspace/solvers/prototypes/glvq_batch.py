"""The cost of generalised LVQ over a whole data set, its gradient, and its descent by L-BFGS.

Problem    min over W and Ω of  Φ = Σ s_i f(μ_i) / Σ s_i,  as in `glvq`.
Gradient   ∂Φ/∂w_k = -2 Λ Σ_i g_ik (x_i - w_k) and ∂Φ/∂Ω = 2 Ω Σ_ik g_ik (x_i - w_k)(x_i - w_k)ᵀ, where g_ik is s_i ξ₊ if w_k is
           the nearest prototype of x_i's own class, -s_i ξ₋ if it is the nearest of the others, and else 0.
Guarantee  Every accepted step lowers Φ (the line search demands it). Φ has a kink where the nearest prototype changes; the
           search may end there, which is reported.
Reference  Limited-memory BFGS: Byrd, Lu, Nocedal and Zhu 1995 (SciPy's).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from halfspace._dispatch import compiled
from halfspace._typing import FloatArray, IntArray, View
from halfspace.rows.threads import one_blas_thread
from halfspace.solvers.outcome import Reason
from halfspace.solvers.prototypes.distances import distances, map_blocks
from halfspace.solvers.prototypes.glvq import bend, slopes

__all__ = ["Descent", "Landscape", "cost_and_gradient", "descend", "of_length_one"]

REASONS: dict[int, Reason] = {0: "converged", 1: "iteration budget spent", 2: "rounding limit reached"}
"""What L-BFGS' codes say: 2 is a line search that found no lower cost."""


class Landscape(NamedTuple):
    """What the cost depends on besides prototypes and metric."""

    X: View
    target: IntArray  # (n,) class numbers
    s: FloatArray  # (n,) weights of the rows
    labels: IntArray  # (P,) class numbers of the prototypes, sorted
    beta: float
    learns_metric: bool


class Descent(NamedTuple):
    """The end of a descent."""

    W: FloatArray
    omega: FloatArray
    costs: FloatArray  # (steps + 1,), the first one at the start
    reason: Reason


@compiled
def _weigh(
    D: FloatArray, target: IntArray, s: FloatArray, labels: IntArray, beta: float, near: IntArray, g: FloatArray
) -> float:
    """Write which two prototypes each row moves and g_ik of both, shape (n, 2), and return Σ s_i f(μ_i)."""
    total = 0.0
    for i in range(D.shape[0]):
        plus = minus = -1
        for k in range(D.shape[1]):
            if labels[k] == target[i]:
                if plus < 0 or D[i, k] < D[i, plus]:
                    plus = k
            elif minus < 0 or D[i, k] < D[i, minus]:
                minus = k
        a, b = D[i, plus], D[i, minus]
        xi_plus, xi_minus = slopes(beta, a, b)
        near[i, 0], near[i, 1] = plus, minus
        g[i, 0], g[i, 1] = s[i] * xi_plus, -s[i] * xi_minus
        total += s[i] * bend(beta, (a - b) / (a + b) if a + b > 0.0 else 0.0)
    return total


@compiled
def _attract(near: IntArray, g: FloatArray, rows: FloatArray, W: FloatArray, sums: FloatArray) -> None:
    """Add Σ_i g_ik v_ik and Σ_i g_ik v_ik² to `sums`, shape (2, P, d), with v_ik = x_i - w_k."""
    for i in range(near.shape[0]):
        for side in range(2):
            k, weight = near[i, side], g[i, side]
            pulls, squares, w = sums[0, k], sums[1, k], W[k]
            for j in range(w.size):
                v = rows[i, j] - w[j]
                pulls[j] += weight * v
                squares[j] += weight * v * v


def _turned(omega: FloatArray, near: IntArray, g: FloatArray, rows: FloatArray, W: FloatArray) -> FloatArray:
    """Return Ω Σ_ik g_ik v_ik v_ikᵀ, shape (m, d), multiplied in the order that costs less."""
    (m, d), n = omega.shape, rows.shape[0]
    V, U = rows - W[near[:, 0]], rows - W[near[:, 1]]
    left, right = (V * g[:, :1]).T, (U * g[:, 1:]).T
    if 2 * m * n <= (n + m) * d:
        return np.asarray((omega @ left) @ V + (omega @ right) @ U)
    return np.asarray(omega @ (left @ V + right @ U))


def _metric_slope(
    near: IntArray, g: FloatArray, rows: FloatArray, W: FloatArray, labels: IntArray, omega: FloatArray
) -> FloatArray:
    """Return half of ∂Φ/∂Ω of a matrix, or of one matrix per class."""
    if omega.ndim == 2:
        return _turned(omega, near, g, rows, W)
    slope = np.empty_like(omega)
    for c, own in enumerate(omega):
        weight = np.where(labels[near] == c, g, 0.0)
        moved = np.flatnonzero(weight.any(axis=1))
        slope[c] = _turned(own, near[moved], weight[moved], rows[moved], W)
    return slope


def cost_and_gradient(at: Landscape, W: FloatArray, omega: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Return Φ, ∂Φ/∂W and ∂Φ/∂Ω (zeros if the metric does not learn; then it is a diagonal).

    Examples
    --------
    >>> at = Landscape(np.array([[1.0]]), np.array([0]), np.ones(1), np.array([0, 1]), 0.0, False)
    >>> cost, slope, _ = cost_and_gradient(at, np.array([[0.0], [3.0]]), np.ones(1))
    >>> round(cost, 6), slope.round(6).tolist()
    (-0.6, [[-0.64], [-0.32]])
    """
    labels, total = at.labels, at.s.sum()

    def work(rows: IntArray, block: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        D = distances(block, W, labels, omega)
        near, g, sums = np.empty((rows.size, 2), dtype=np.int64), np.empty((rows.size, 2)), np.zeros((2, *W.shape))
        cost = _weigh(D, at.target[rows], at.s[rows], labels, at.beta, near, g)
        _attract(near, g, block, W, sums)
        if not at.learns_metric or omega.ndim == 1:
            return cost, sums[0], at.learns_metric * omega * sums[1].sum(axis=0)
        return cost, sums[0], _metric_slope(near, g, block, W, labels, omega)

    effort = W.size + (2.0 if at.learns_metric else 1.0) * omega.size
    costs, pulls, slopes_of_metric = zip(*map_blocks(work, at.X, effort), strict=True)
    pull: FloatArray = sum(pulls[1:], pulls[0])
    if omega.ndim == 1:
        back = pull * omega**2
    elif omega.ndim == 2:
        back = pull @ omega.T @ omega
    else:
        back = np.stack([p @ omega[c].T @ omega[c] for p, c in zip(pull, labels, strict=True)])
    turn: FloatArray = sum(slopes_of_metric[1:], slopes_of_metric[0])
    return float(sum(costs) / total), back * (-2.0 / total), turn * (2.0 / total)


def descend(at: Landscape, W: FloatArray, omega: FloatArray, max_iter: int, tol: float, watch: Callable[..., bool]) -> Descent:
    """Descend from W and Ω for at most `max_iter` steps, until one lowers the cost by less than `tol` of it.

    Lengths are measured in the spread of the prototypes at the start, so that other units change nothing.
    `watch(W, omega, cost)` is called after each step and may end the descent by returning True; Ctrl-C keeps the last step.

    Examples
    --------
    >>> X, target = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1])
    >>> at = Landscape(X, target, np.ones(4), np.array([0, 1]), 0.0, False)
    >>> end = descend(at, np.array([[1.0], [3.0]]), np.ones(1), 50, 1e-9, lambda *_: False)
    >>> bool(end.costs[-1] < end.costs[0]), bool((np.diff(end.costs) <= 0.0).all())
    (True, True)
    """
    width, start = W.size, np.concatenate([np.zeros(W.size), omega.ravel() if at.learns_metric else ()])
    unit = _spread(W)

    def read(theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        moved = W + unit * theta[:width].reshape(W.shape)
        return moved, of_length_one(theta[width:].reshape(omega.shape)) if at.learns_metric else omega

    def value(theta: FloatArray) -> tuple[float, FloatArray]:
        moved, metric = read(theta)
        cost, slope, turn = cost_and_gradient(at, moved, metric)
        if not at.learns_metric:
            return cost, unit * slope.ravel()
        inner = turn - metric * _along(metric * turn)  # a longer Ω is the same metric
        return cost, np.concatenate([unit * slope.ravel(), (inner / _length(theta[width:].reshape(omega.shape))).ravel()])

    best, costs = start, [value(start)[0]]

    def note(intermediate_result: Any) -> None:
        nonlocal best
        best = intermediate_result.x.copy()
        costs.append(float(intermediate_result.fun))
        if watch(*read(best), costs[-1]):
            raise StopIteration

    options = {"maxiter": max_iter, "maxfun": 20 * max_iter, "ftol": tol, "gtol": 0.0}
    reason: Reason
    try:
        with one_blas_thread():
            result = minimize(value, start, jac=True, method="L-BFGS-B", callback=note, options=options)
        reason = REASONS.get(result.status, "stopped by callback")
    except KeyboardInterrupt:
        reason = "interrupted"
    return Descent(*read(best), np.array(costs), reason)


def of_length_one(omega: FloatArray) -> FloatArray:
    """Return ω or Ω divided by its length; of one matrix per class, each by its own.

    Examples
    --------
    >>> of_length_one(np.array([3.0, 4.0])).tolist()
    [0.6, 0.8]
    """
    return np.asarray(omega / _length(omega))


def _along(array: FloatArray) -> FloatArray:
    """Return the sum over a vector, a matrix, or each matrix of a stack."""
    return np.asarray(array.sum(axis=(-2, -1) if array.ndim > 1 else None, keepdims=True))


def _length(omega: FloatArray) -> FloatArray:
    """Return the length of a vector, a matrix, or each matrix of a stack."""
    return np.asarray(np.sqrt(_along(omega * omega)))


def _spread(W: FloatArray) -> float:
    """Return the root of the mean squared distance of prototypes from their mean; 1 if they coincide."""
    return float(np.sqrt(np.square(W - W.mean(axis=0)).sum() / W.shape[0])) or 1.0
