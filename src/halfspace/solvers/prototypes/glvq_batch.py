"""The cost of generalised LVQ over a whole data set, its gradient, and its descent by L-BFGS.

Problem    min over W and Ω of  Φ = Σ s_i f(μ_i) / Σ s_i,  as in `glvq`.
Gradient   ∂Φ/∂w_k = -2 Λ Σ_i g_ik (x_i - w_k) and ∂Φ/∂Ω = 2 Ω Σ_ik g_ik (x_i - w_k)(x_i - w_k)ᵀ, where g_ik is s_i ξ₊ if w_k is
           the nearest prototype of x_i's own class, -s_i ξ₋ if it is the nearest of the others, and else 0.
Method     Limited-memory BFGS with ten pairs of steps and changes of the gradient, in units of the prototypes' spread at the
           start, so that other units change nothing. A line search by doubling and halving looks for a step with
               Φ(t) <= Φ(0) + c₁ t Φ'(0)   and   Φ'(t) >= c₂ Φ'(0),
           which it finds also where Φ is not smooth (Lewis and Overton 2013, theorem 4.5): Φ has a kink where the nearest
           prototype changes. Near one it settles for the first of these; where it finds no lower cost at all, the pairs are
           forgotten, and where steepest descent finds none either, the end is reported.
Guarantee  Every step lowers Φ. The pairs are part of the state, so stopped and resumed a descent gives the same bits.
Reference  Nocedal and Wright 2006, algorithm 7.4; Lewis and Overton 2013, "Nonsmooth optimization via quasi-Newton methods".
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np

from halfspace._dispatch import compiled, lean
from halfspace._typing import FloatArray, IntArray, View
from halfspace.solvers.outcome import Reason
from halfspace.solvers.prototypes.distances import distances, map_blocks
from halfspace.solvers.prototypes.glvq import bend, slopes

__all__ = ["Descent", "DescentState", "Landscape", "cost_and_gradient", "of_length_one"]

PAIRS = 10
"""Steps and changes of the gradient that are remembered."""
DESCENT, CURVATURE = 1e-4, 0.9
"""c₁ and c₂ of the line search."""
NARROW = 0.1
"""A bracket this narrow, by its upper end, is searched no further: at a kink the slope jumps, and no step may meet c₂."""
TRIALS = 20
"""Most points that a line search looks at."""


class Landscape(NamedTuple):
    """What the cost depends on besides prototypes and metric."""

    X: View
    target: IntArray  # (n,) class numbers
    s: FloatArray  # (n,) weights of the rows
    labels: IntArray  # (P,) class numbers of the prototypes, sorted
    beta: float
    learns_metric: bool


@lean
def _gains(row: FloatArray, c: int, s: float, labels: IntArray, beta: float, near: IntArray, g: FloatArray) -> float:
    """Write which two prototypes a row moves, of distances `row` (P,), and g_k of both, (2,); return s f(μ)."""
    plus = minus = -1
    for k in range(row.size):
        if labels[k] == c:
            if plus < 0 or row[k] < row[plus]:
                plus = k
        elif minus < 0 or row[k] < row[minus]:
            minus = k
    a, b = row[plus], row[minus]
    xi_plus, xi_minus = slopes(beta, a, b)
    near[0], near[1] = plus, minus
    g[0], g[1] = s * xi_plus, -s * xi_minus
    return s * bend(beta, (a - b) / (a + b) if a + b > 0.0 else 0.0)


@lean
def _attract(near: IntArray, g: FloatArray, x: FloatArray, W: FloatArray, pulls: FloatArray, squares: FloatArray) -> None:
    """Add g_k v_k of a row and its two prototypes to `pulls`, shape (P, d), and g_k v_k² to `squares`, (P, d) or (0, d)."""
    for side in range(2):
        k, weight = near[side], g[side]
        for j in range(x.size):
            pulls[k, j] += weight * (x[j] - W[k, j])
        if squares.shape[0] > 0:
            for j in range(x.size):
                v = x[j] - W[k, j]
                squares[k, j] += weight * v * v


@compiled
def _weigh(
    D: FloatArray,
    rows: FloatArray,
    W: FloatArray,
    target: IntArray,
    s: FloatArray,
    labels: IntArray,
    beta: float,
    near: IntArray,
    g: FloatArray,
    pulls: FloatArray,
) -> float:
    """Write which two prototypes each row moves and g_ik of both, shape (n, 2), add to `pulls`, and return Σ s_i f(μ_i)."""
    total, nothing = 0.0, np.empty((0, W.shape[1]))
    for i in range(D.shape[0]):
        total += _gains(D[i], target[i], s[i], labels, beta, near[i], g[i])
        _attract(near[i], g[i], rows[i], W, pulls, nothing)
    return total


class _Room(NamedTuple):
    """Scratch memory of a pass."""

    D: FloatArray  # (P,): distances of the row at hand
    near: IntArray  # (2,): the prototypes it moves
    g: FloatArray  # (2,)


@compiled
def _weigh_diagonal(
    rows: FloatArray,
    W: FloatArray,
    omega: FloatArray,
    target: IntArray,
    s: FloatArray,
    labels: IntArray,
    beta: float,
    pulls: FloatArray,
    squares: FloatArray,
) -> float:
    """Add to `pulls` and `squares` for a diagonal metric, and return Σ s_i f(μ_i): all in one pass."""
    room = _Room(np.empty(W.shape[0]), np.empty(2, np.int64), np.empty(2))
    return _weigh_rows(rows, W, omega, target, s, labels, beta, pulls, squares, room)


@lean
def _weigh_rows(
    rows: FloatArray,
    W: FloatArray,
    omega: FloatArray,
    target: IntArray,
    s: FloatArray,
    labels: IntArray,
    beta: float,
    pulls: FloatArray,
    squares: FloatArray,
    room: _Room,
) -> float:
    total, (D, near, g) = 0.0, room
    for i in range(rows.shape[0]):
        for k in range(W.shape[0]):
            square = 0.0
            for j in range(omega.size):
                v = omega[j] * (rows[i, j] - W[k, j])
                square += v * v
            D[k] = square
        total += _gains(D, target[i], s[i], labels, beta, near, g)
        _attract(near, g, rows[i], W, pulls, squares)
    return total


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
    """Return Φ, ∂Φ/∂W and ∂Φ/∂Ω (zeros if the metric does not learn; then it is a diagonal)."""
    labels, total = at.labels, at.s.sum()

    def work(rows: IntArray, block: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        pulls, classes, weights = np.zeros_like(W), at.target[rows], at.s[rows]
        if omega.ndim == 1:
            squares = np.zeros((W.shape[0] * at.learns_metric, W.shape[1]))
            cost = _weigh_diagonal(block, W, omega, classes, weights, labels, at.beta, pulls, squares)
            return cost, pulls, omega * squares.sum(axis=0)
        near, g = np.empty((rows.size, 2), dtype=np.int64), np.empty((rows.size, 2))
        cost = _weigh(distances(block, W, labels, omega), block, W, classes, weights, labels, at.beta, near, g, pulls)
        if not at.learns_metric:
            return cost, pulls, np.zeros_like(omega)
        return cost, pulls, _metric_slope(near, g, block, W, labels, omega)

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


@dataclass
class DescentState:
    """Where a descent stands: the point θ, its cost and gradient, and what is remembered of the last steps."""

    W: Annotated[FloatArray, "f8(P,d)"]  # (P, d): prototypes at the start; θ measures from here
    omega: Annotated[FloatArray, "f8(d) | f8(_m,d) | f8(_c,_m,d)"]  # metric at the start
    theta: Annotated[FloatArray, "f8(_p)"]  # (p,): moves of the prototypes in units of their spread, then Ω, if it learns
    gradient: Annotated[FloatArray, "f8(_p)"]  # (p,)
    steps: Annotated[FloatArray, "f8(10,_p)"]  # (10, p): the latest first
    changes: Annotated[FloatArray, "f8(10,_p)"]  # (10, p): of the gradient
    costs: Annotated[FloatArray, "f8(3)"]  # (3,): Φ at θ, at the start, and the share by which the last step lowered it
    counts: Annotated[IntArray, "i8(2)"]  # (2,): pairs remembered; 1 if no lower cost was found

    @cached_property
    def unit(self) -> float:
        """The root of the mean squared distance of the first prototypes from their mean; 1 if they coincide."""
        return float(np.sqrt(np.square(self.W - self.W.mean(axis=0)).sum() / self.W.shape[0])) or 1.0

    def check(self, _labels: Any) -> None:
        """Refuse a state read from a file whose point has other coordinates than prototypes and metric."""
        if self.theta.size not in (self.W.size, self.W.size + self.omega.size):
            raise ValueError("_state: its point has other coordinates than prototypes and metric")

    @classmethod
    def of(cls, W: FloatArray, omega: FloatArray, *, learns_metric: bool) -> Self:
        """Return the state to begin with, its cost still unknown."""
        theta = np.concatenate([np.zeros(W.size), omega.ravel() if learns_metric else ()])
        steps, changes = np.zeros((2, PAIRS, theta.size))
        return cls(W, omega, theta, np.zeros(theta.size), steps, changes, np.full(3, np.inf), np.zeros(2, dtype=np.int64))


@dataclass(frozen=True)
class Descent:
    """The method: a cost, and the share of it by which a step must lower it for another one to be made.

    Examples
    --------
    >>> from halfspace.solvers.run import Budget, run
    >>> X, target = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1])
    >>> method = Descent(Landscape(X, target, np.ones(4), np.array([0, 1]), 0.0, False), 1e-9)
    >>> end = run(method, Budget(50), DescentState.of(np.array([[1.0], [3.0]]), np.ones(1), learns_metric=False))
    >>> bool(end.state.costs[0] < end.state.costs[1]), bool((np.diff(end.course.history()["cost"]) <= 0.0).all())
    (True, True)
    """

    at: Landscape
    tol: float
    unit: ClassVar[str] = "step"
    columns: ClassVar[tuple[str, ...]] = ("cost",)

    def start(self, before: DescentState) -> DescentState:
        """Return the state of another run, to go on from."""
        before.counts[1], before.costs[:] = 0, np.inf  # the data may be others: the cost is measured again
        return before

    def read(self, state: DescentState, theta: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Return the prototypes and the metric, of length 1, at a point; where the state stands if none is given."""
        theta, size = state.theta if theta is None else theta, state.W.size
        W = state.W + state.unit * theta[:size].reshape(state.W.shape)
        return W, of_length_one(theta[size:].reshape(state.omega.shape)) if self.at.learns_metric else state.omega

    def _value(self, state: DescentState, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return Φ and its gradient at a point."""
        W, metric = self.read(state, theta)
        unit, size = state.unit, W.size
        cost, slope, turn = cost_and_gradient(self.at, W, metric)
        if not self.at.learns_metric:
            return cost, unit * slope.ravel()
        inner = turn - metric * _along(metric * turn)  # a longer Ω is the same metric
        length = _length(theta[size:].reshape(metric.shape))
        return cost, np.concatenate([unit * slope.ravel(), (inner / length).ravel()])

    def step(self, state: DescentState, most: int) -> tuple[FloatArray, ...]:
        """Make one step; return its cost. The first call measures the start, and returns nothing."""
        del most
        if not np.isfinite(state.costs[0]):
            cost, state.gradient[:] = self._value(state, state.theta)
            state.costs[:2] = cost
            return ()
        found = self._searched(state, _quasi_newton(state.gradient, state.steps, state.changes, int(state.counts[0])))
        if found is None:
            state.counts[:] = 0, state.counts[0] == 0  # once more by steepest descent, unless it was that
            return ()
        theta, cost, gradient = found
        step, change = theta - state.theta, gradient - state.gradient
        if step @ change > 0.0:
            for memory, pair in ((state.steps, step), (state.changes, change)):
                memory[1:], memory[0] = memory[:-1].copy(), pair
            state.counts[0] = min(state.counts[0] + 1, PAIRS)
        before = state.costs[0]
        state.costs[0], state.costs[2] = cost, (before - cost) / max(abs(before), abs(cost), 1.0)
        state.theta[:], state.gradient[:] = theta, gradient
        return (np.array([cost]),)

    def _searched(self, state: DescentState, direction: FloatArray) -> tuple[FloatArray, float, FloatArray] | None:
        """Return the end of a step along a direction, its cost and gradient; None if no lower cost is found."""
        fall, best = float(direction @ state.gradient), None
        low, high = 0.0, np.inf
        t = 1.0 if state.counts[0] else 1.0 / max(float(np.linalg.norm(direction)), 1e-300)
        for _ in range(TRIALS):
            theta = state.theta + t * direction
            cost, gradient = self._value(state, theta)
            if not cost <= state.costs[0] + DESCENT * t * fall:
                high = t
            else:
                best = theta, cost, gradient
                if float(direction @ gradient) >= CURVATURE * fall:
                    break
                low = t
            if best is not None and high < np.inf and high - low <= NARROW * high:
                break
            t = 2.0 * low if high == np.inf else 0.5 * (low + high)
        return best if best is not None and best[1] < state.costs[0] else None

    def status(self, state: DescentState) -> Reason | None:
        """Return why nothing is left to do, or None."""
        if state.counts[1]:
            return "rounding limit reached"
        return "converged" if state.costs[2] <= self.tol else None


@lean
def _dot(a: FloatArray, b: FloatArray) -> float:
    total = 0.0
    for j in range(a.size):
        total += a[j] * b[j]
    return total


@lean
def _add(scale: float, a: FloatArray, out: FloatArray) -> None:
    for j in range(a.size):
        out[j] += scale * a[j]


@compiled
def _quasi_newton(gradient: FloatArray, steps: FloatArray, changes: FloatArray, count: int) -> FloatArray:
    """Return -H g for the gradient g, with BFGS' approximation H of the inverse Hessian (Nocedal and Wright, algorithm 7.4)."""
    q, products, shares = -gradient, np.empty(count), np.empty(count)
    for k in range(count):
        products[k] = _dot(steps[k], changes[k])
        shares[k] = _dot(steps[k], q) / products[k]
        _add(-shares[k], changes[k], q)
    if count:
        q *= products[0] / _dot(changes[0], changes[0])
    for k in range(count - 1, -1, -1):
        _add(shares[k] - _dot(changes[k], q) / products[k], steps[k], q)
    return q


def of_length_one(omega: FloatArray) -> FloatArray:
    """Return ω or Ω divided by its length; of one matrix per class, each by its own."""
    return np.asarray(omega / _length(omega))


def _along(array: FloatArray) -> FloatArray:
    """Return the sum over a vector, a matrix, or each matrix of a stack."""
    return np.asarray(array.sum(axis=(-2, -1) if array.ndim > 1 else None, keepdims=True))


def _length(omega: FloatArray) -> FloatArray:
    """Return the length of a vector, a matrix, or each matrix of a stack."""
    return np.asarray(np.sqrt(_along(omega * omega)))
