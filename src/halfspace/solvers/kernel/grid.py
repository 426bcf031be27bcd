"""One machine for every cap, fold and width: problems that share a kernel matrix, each started from the one before.

Problem   For every cap C and fold:  max  Σ y_i b_i - ½ bᵀKb   over   lo_i <= b_i <= hi_i  (and Σ b_i = 0 if the bias is free);
          b_i = alpha_i y_i is a signed strength, h = y - K b the gradient.
Folds     are bounds, not matrices: who is held out has lo = hi = 0. All folds read the same K, and h of those held out holds
          their outputs, y - h, without further work.
Caps      rise. The strengths s·b, with the s >= 1 that climbs highest, s = min(Σ y_i b_i / bᵀKb, C'/C), start the next cap; h
          and bᵀKb are known, so that costs one pass over h. If nobody was at the cap, s is near 1 and hardly a step is left.
Rounds    After some steps those that are free, violate, or lie near the margin move to a square of their own, small enough
          for the cache; h of the others follows at the end of the round.
Widths    Distances are computed once, and each width is one pass over them: exp(-γ‖x - x'‖²) from their squares (RBF),
          exp(-γ‖x - x'‖) from the distances (Laplacian). Other kernels are computed anew for every width, by `Kernel.matrix`.
Precision The matrix is in single precision, and h too while steps run. The gap is what these numbers say: it steers a search,
          and no certificate rests on it. Whoever needs a small gap computes h anew and goes on from there.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from halfspace._dispatch import compiled_and_inside_as_written, compiled_as_written, compiled_inside_as_written
from halfspace._typing import FloatArray, Matrix
from halfspace.kernels import RBF, Kernel, Laplacian
from halfspace.kernels.fast.activations import exp2
from halfspace.kernels.gram import VALUES
from halfspace.kernels.products import distances, doubled, squared_distances
from halfspace.rows.threads import each, one_blas_thread
from halfspace.solvers.kernel.pair_steps import Box, bias_of, climb, gap_at

__all__ = [
    "SHARE",
    "Place",
    "Shared",
    "WidthMatrices",
    "advance",
    "confine",
    "enlarge",
    "primal_at",
    "refresh",
    "room_of",
    "stretch",
]

NEAR = 0.25
"""Examples with a potential this near to 1 move to the square too."""
BLOCK, ROWS = 1 << 22, 512
"""Distances computed at a time by a thread, and of how many rows."""
PLAIN = 1000
"""Examples up to which NumPy makes the matrix."""
SHARE = 0.7
"""Of the examples at most so many move to a square."""


class Shared(NamedTuple):
    """What all problems of a kernel share: its matrix, its diagonal, room for a square of some examples, the kind of bias."""

    K: Any  # (n, n) float32
    diagonal: Any  # (n,) float32
    room: Any  # float32, flat
    bias: Any  # Free or Penalised


class Place(NamedTuple):
    """Where a problem stands: labels, gradient, signed strengths and their bounds, each of shape (n,)."""

    y: FloatArray
    h: FloatArray
    b: FloatArray
    lo: FloatArray
    hi: FloatArray


@compiled_inside_as_written
def confine(at: Place, c: FloatArray, C: float) -> None:
    """Write the bounds for caps of C times c_i."""
    for i in range(c.size):
        at.lo[i] = -C * c[i] if at.y[i] < 0.0 else 0.0
        at.hi[i] = C * c[i] if at.y[i] > 0.0 else 0.0


@compiled_inside_as_written
def stretch(at: Place, ratio: float) -> float:
    """Scale strengths by the factor that climbs highest, from 1 to `ratio`; h follows. Return the factor."""
    y, h, b = at.y, at.h, at.b
    total = square = 0.0
    for i in range(y.size):
        total += y[i] * b[i]
        square += b[i] * (y[i] - h[i])
    s = min(max(total / square, 1.0), ratio) if square > 0.0 else 1.0
    if s > 1.0:
        for i in range(y.size):
            b[i] *= s
            h[i] = y[i] - s * (y[i] - h[i])
    return s


@compiled_inside_as_written
def primal_at(at: Place, o: float) -> float:
    """Return the primal value at the bias o."""
    square = loss = 0.0
    for i in range(at.y.size):
        r = at.h[i] - o
        square += at.b[i] * (at.y[i] - at.h[i])
        loss += r * (at.hi[i] if r > 0.0 else at.lo[i])
    return 0.5 * square + loss


@compiled_inside_as_written
def _members(at: Place, o: float) -> Any:
    """Return the examples that are free, violate, or lie near the margin."""
    _, h, b, lo, hi = at
    chosen, count = np.empty(h.size, np.int64), 0
    for i in range(h.size):
        r = h[i] - o
        needed = (r > 0.0 or b[i] > lo[i]) and (r < 0.0 or b[i] < hi[i])
        if hi[i] > lo[i] and (needed or abs(r) < NEAR):
            chosen[count] = i
            count += 1
    return chosen[:count]


@compiled_inside_as_written
def _gather(K: Any, members: Any, out: Any) -> None:
    for i in range(members.size):
        row = K[members[i]]
        for j in range(members.size):
            out[i, j] = row[members[j]]


@compiled_inside_as_written
def _whole(shared: Shared, at: Place, o: float, target: float, most: int) -> int:
    """Climb on all examples; return the steps."""
    single = np.empty(at.h.size, np.float32)
    for i in range(single.size):
        single[i] = at.h[i] - o  # what is near 0 has digits to spare
    box = Box(shared.K, shared.diagonal, single, at.b, at.lo, at.hi)
    done = climb(shared.bias, box, target, most)
    for i in range(single.size):
        at.h[i] = single[i] + o
    return done


@compiled_inside_as_written
def _some(shared: Shared, at: Place, o: float, members: Any, target: float, most: int) -> int:
    """Climb on some examples, then bring h of the others up to date; return the steps."""
    w, n, h, b = members.size, at.h.size, at.h, at.b
    square = shared.room[: w * w].reshape(w, w)
    _gather(shared.K, members, square)
    single, diagonal = np.empty(w, np.float32), np.empty(w, np.float32)
    before, own, lo, hi = np.empty(w), np.empty(w), np.empty(w), np.empty(w)
    for k in range(w):
        i = members[k]
        single[k], diagonal[k] = h[i] - o, shared.diagonal[i]
        before[k], own[k], lo[k], hi[k] = b[i], b[i], at.lo[i], at.hi[i]
    box = Box(square, diagonal, single, own, lo, hi)
    target = max(target, 0.1 * gap_at(single, box.b, box.lo, box.hi, 0.0))
    done = climb(shared.bias, box, target, most)
    change = np.zeros(n, np.float32)
    for k in range(w):
        s = box.b[k] - before[k]
        if s != 0.0:
            row, step = shared.K[members[k]], np.float32(s)
            for j in range(n):
                change[j] += step * row[j]
    for j in range(n):
        h[j] -= change[j]
    for k in range(w):
        b[members[k]], h[members[k]] = box.b[k], single[k] + o
    return done


@compiled_inside_as_written
def _climbed(shared: Shared, at: Place, o: float, target: float, steps: int, most: int) -> int:
    """Climb for a round, after so many steps; return the steps."""
    members = _members(at, o) if steps >= at.h.size // 2 else np.empty(0, np.int64)
    if 0 < members.size * members.size <= shared.room.size:
        return _some(shared, at, o, members, target, most - steps)
    return _whole(shared, at, o, target, min(at.h.size // 2 + 64, most - steps))


@compiled_and_inside_as_written
def refresh(K: Any, at: Place) -> None:
    """Compute h = y - K b anew from the single precision matrix, sums in double."""
    for j in range(at.y.size):  # a slice would compile messages about shapes
        at.h[j] = at.y[j]
    for i in range(at.y.size):
        if at.b[i] != 0.0:
            row, s = K[i], at.b[i]
            for j in range(at.y.size):
                at.h[j] -= s * row[j]


@compiled_inside_as_written
def advance(shared: Shared, at: Place, tol: float, most: int) -> tuple[float, float, int]:
    """Climb until the relative gap is at most `tol` or about `most` steps are done; h and b change in place.

    Returns gap and primal value, at the bias half way between those that may rise and fall if it is free, and the steps done:
    fewer than `most` without success if no step helps any more.
    """
    _, h, b, lo, hi = at
    steps = 0
    while True:
        o = bias_of(shared.bias, h, b, lo, hi)
        gap, primal = gap_at(h, b, lo, hi, o), primal_at(at, o)
        if gap <= tol * primal or steps >= most:
            return gap, primal, steps
        done = _climbed(shared, at, o, 0.8 * tol * primal, steps, most)
        if done == 0:
            return gap, primal, steps
        steps += done


@compiled_as_written
def enlarge(
    shared: Shared, places: Place, c: FloatArray, caps: tuple[float, float], tol: float, limits: tuple[int, int], found: Any
) -> int:
    """Take problems from caps of C times c_i, 0 at the start, to caps of C' times c_i, which may be the same, and `advance`.

    Each is a row of the arrays of `places` and of c, shape (K, n), and of `found`, shape (K, 4): gap, primal value, steps so
    far, and 1 as long as there is something to do, which ends when the gap is small enough, no step helps any more, or the
    steps come to the second limit; the first one is of the steps done now. Returns how many have something to do.
    """
    (before, C), (most, limit), left = caps, limits, 0
    for k in range(c.shape[0]):
        if found[k, 3] == 0.0:
            continue
        at = Place(places.y[k], places.h[k], places.b[k], places.lo[k], places.hi[k])
        if before != C:
            confine(at, c[k], C)
        if 0.0 < before < C:
            stretch(at, C / before)
        gap, primal, done = advance(shared, at, tol, most)
        found[k, 0], found[k, 1] = gap, primal
        found[k, 2] += done
        if gap > tol * primal and done >= most and found[k, 2] < limit:
            left += 1
        else:
            found[k, 3] = 0.0
    return left


@compiled_as_written
def _fade(D: Any, slope: Any, clamped: Any, out: Any) -> None:
    """Write 2^(-slope·D) + clamped."""
    for i in range(D.shape[0]):
        row, target = D[i], out[i]
        for j in range(row.size):
            target[j] = exp2(-slope * row[j]) + clamped


def room_of(n: int) -> Any:
    """Return room for a square of some of n examples."""
    return np.empty(int(SHARE * n) ** 2, np.float32)


class WidthMatrices:
    """Kernel matrices in single precision, one per width, one after another into memory that is used again."""

    def __init__(self, kernels: list[Kernel], X: Matrix, clamp: float) -> None:
        self.kernels, self.X, self.n = kernels, X, int(X.shape[0])
        self.clamped = np.float32(clamp * clamp)
        kind = type(kernels[0])
        self.radial = kind in {RBF, Laplacian} and all(type(kernel) is kind for kernel in kernels)
        self._measure = distances if kind is Laplacian else squared_distances
        self._D: Any = None

    @staticmethod
    def megabytes(n: int, workers: int) -> float:
        """Return the memory that n examples and some threads need."""
        return 4e-6 * n * n * (1.0 + workers * (1.0 + SHARE * SHARE))

    def seconds(self) -> float:
        """Predict the seconds until the first matrix is there."""
        entries = self.X.nnz / self.n if hasattr(self.X, "nnz") else self.X.shape[1]
        return self.n * self.n * (1.0 + entries / 64) / VALUES

    def prepare(self) -> None:
        """Compute the distances that all widths need."""
        if not self.radial:
            return
        X, n = doubled(self.X), self.n
        D, step = np.empty((n, n), np.float32), max(1, min(ROWS, BLOCK // n))

        def work(first: int) -> None:
            D[first : first + step] = self._measure(X[first : first + step], X)

        each(work, n, step, n * n)
        np.fill_diagonal(D, 0.0)
        self._D = D

    def memory(self) -> Any:
        """Return room for one matrix, for a thread to keep."""
        return np.empty((self.n, self.n) if self.radial else (0, 0), np.float32)

    def room(self) -> Any:
        """Return room for a square of some examples, for a thread to keep."""
        return room_of(self.n)

    def _plain(self, kernel: Kernel) -> Any:
        """Return the matrix of few examples by NumPy, which compiles nothing; None if it is beyond single precision."""
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            K = kernel.exact(self.X)
        return K.astype(np.float32) if np.abs(K).max() <= np.finfo(np.float32).max else None

    def fill(self, number: int, memory: Any) -> Any:
        """Return the matrix of a width, in this memory where that is possible."""
        kernel = self.kernels[number]
        if self._D is None:
            K = self._plain(kernel) if self.n <= PLAIN else None
            K = kernel.matrix(self.X, dtype=np.float32) if K is None else K
            K += self.clamped
            return K
        slope = float(kernel.get_params()["gamma"]) * math.log2(math.e)
        _fade(self._D, np.float32(min(slope, 1e38)), self.clamped, memory)
        return memory
