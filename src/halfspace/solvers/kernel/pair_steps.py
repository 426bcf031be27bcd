"""Two strengths at a time: the AdaTron rule on the pair of examples that gains most.

Problem   max  Σ y_i b_i - ½ bᵀKb   over   lo_i <= b_i <= hi_i,   and with a free bias   Σ b_i = 0.
          b_i = alpha_i y_i is a signed strength, h = y - K b the gradient.
Rule      Without the sum rule: i is the worst violator, j the partner with which the pair climbs highest; both go to the top
          of their 2 x 2 problem, cut at the bounds (the AdaTron rule with rate 1 for two examples at once).
          With it: i has the largest h that may rise, j gains most when b_i rises by what b_j falls (Fan, Chen and Lin 2005,
          working set selection 2).
Stops     when the duality gap on these examples,  Σ max((h_i - o)(hi_i - b_i), (o - h_i)(b_i - lo_i)),  is at most a target.
          Every term is >= 0; o is the bias, 0 unless it is free.

The matrix and h are in single precision (or in double, where single leads no further), strengths in double. A step costs
three passes over arrays of w numbers: the search for the largest is a search for the largest whole number, of which the low 12
bits are the index and the others those of the value, because reductions of whole numbers vectorise where those of floats
do not.
"""

from typing import Any, NamedTuple

import numpy as np

from halfspace._dispatch import compiled_and_inside_as_written, lean_as_written, open_function
from halfspace._typing import FloatArray

__all__ = ["Box", "Free", "Penalised", "bias_of", "climb", "climb_free", "climb_pairs", "gap_at", "middle", "pair_step"]

LOW = 4095
"""Bits of a key that hold the index within a block."""
NONE = np.int32(-(2**31))
BIG, FAR = 3.0e38, 1e300
FLAT, FLATTER = 1e-4, 1e-12
"""Least curvature of a pair, in units of the largest diagonal value, in single and double precision: below is noise."""
LEAST = 1e-30
"""The same where all diagonal values are 0."""


class Box(NamedTuple):
    """The examples of a working set: their square matrix, gradient, strengths and bounds."""

    K: Any  # (w, >= w) float32 or float64, as diagonal and h
    diagonal: Any  # (w,)
    h: Any  # (w,) updated in place
    b: FloatArray  # (w,) updated in place
    lo: FloatArray  # (w,)
    hi: FloatArray  # (w,)


class Free(NamedTuple):
    """A bias that costs nothing: the strengths keep their sum."""


class Penalised(NamedTuple):
    """No bias, or one that is a weight like the others: each strength may change alone."""


@compiled_and_inside_as_written
def gap_at(h: Any, b: FloatArray, lo: FloatArray, hi: FloatArray, o: float) -> float:
    """Return the duality gap of strengths with gradient h at the bias o."""
    total = 0.0
    for i in range(h.size):
        r = h[i] - o
        total += r * (hi[i] - b[i]) if r > 0.0 else -r * (b[i] - lo[i])
    return total


@compiled_and_inside_as_written
def middle(h: Any, b: FloatArray, lo: FloatArray, hi: FloatArray) -> tuple[float, float, float]:
    """Return the bias half way between the largest h that may rise and the smallest that may fall, and these two.

    Where none may, it is far away, but not at infinity, which has no meaning in code compiled like this.
    """
    top, bottom = -FAR, FAR
    for i in range(h.size):
        if b[i] < hi[i]:
            top = max(top, np.float64(h[i]))
        if b[i] > lo[i]:
            bottom = min(bottom, np.float64(h[i]))
    if top == -FAR or bottom == FAR:
        return (0.0 if top == -bottom else (top if bottom == FAR else bottom)), top, bottom
    return 0.5 * (top + bottom), top, bottom


@lean_as_written
def _rise(h: Any, first: Any, second: Any, s: Any, up: Any, o: Any) -> Any:
    """Update h by a step of s along row `first` minus row `second`; return the key of the largest h - o that may rise."""
    best = NONE
    for k in range(h.size):
        value = h[k] - s * (first[k] - second[k])
        h[k] = value
        bits = np.float32(value - o).view(np.int32)
        ordered = np.int32(bits ^ np.int32(np.int32(bits >> np.int32(31)) & np.int32(0x7FFFFFFF)))
        key = np.int32(np.int32(ordered & np.int32(~LOW)) | np.int32(k))
        best = max(best, np.int32(np.int32(key & up[k]) | np.int32(NONE & ~up[k])))
    return best


@lean_as_written
def _partner(h: Any, row: Any, diagonal: Any, down: Any, top: Any, own: Any, floor: Any) -> Any:
    """Return the key of the partner that gains most, of value bits and index; 0 if there is none."""
    best, zero = np.int32(0), h.dtype.type(0.0)
    for k in range(h.size):
        lead = max(top - h[k], zero)
        curvature = max(own + diagonal[k] - row[k] - row[k], floor)
        gain = np.float32(lead * lead / curvature)
        key = np.int32(np.int32(gain.view(np.int32) & np.int32(~LOW)) | np.int32(k))
        best = max(best, np.int32(key & down[k]))
    return best


@lean_as_written
def _largest(h: Any, first: Any, second: Any, s: Any, up: Any, o: Any) -> int:
    """Update h; return the index of the largest h that may rise, -1 if none may; near o it is told most finely."""
    where, top = -1, NONE
    for begin in range(0, h.size, LOW + 1):
        end = min(begin + LOW + 1, h.size)
        key = _rise(h[begin:end], first[begin:end], second[begin:end], s, up[begin:end], o)
        if key != NONE and (where < 0 or (key & np.int32(~LOW)) > (top & np.int32(~LOW))):
            where, top = begin + (key & LOW), key
    return where


@lean_as_written
def _best_partner(h: Any, row: Any, diagonal: Any, down: Any, i: int, floor: Any) -> int:
    """Return the partner of i that gains most, -1 if there is none."""
    where, most = -1, np.int32(0)
    for begin in range(0, h.size, LOW + 1):
        end = min(begin + LOW + 1, h.size)
        key = _partner(h[begin:end], row[begin:end], diagonal[begin:end], down[begin:end], h[i], diagonal[i], floor)
        if key > LOW and (key & np.int32(~LOW)) > (most & np.int32(~LOW)):
            where, most = begin + (key & LOW), key
    return where


@lean_as_written
def _mask(value: float, bound: float) -> Any:
    """Return all bits if the value is below the bound, else none."""
    return np.int32(-1) if value < bound else np.int32(0)


@lean_as_written
def _top(diagonal: Any) -> Any:
    """Return the largest value."""
    top = diagonal[0]
    for k in range(diagonal.size):
        top = max(top, diagonal[k])
    return top


@compiled_and_inside_as_written
def climb_free(box: Box, target: float, most: int) -> int:
    """Climb with Σ b kept as it is, until the gap is at most `target` or `most` steps are done; return the steps."""
    K, diagonal, h, b, lo, hi = box
    w, kind = h.size, h.dtype.type
    floor = kind((FLAT if h.itemsize == 4 else FLATTER) * _top(diagonal))
    up, down = np.empty(w, np.int32), np.empty(w, np.int32)
    for k in range(w):
        up[k], down[k] = _mask(b[k], hi[k]), _mask(lo[k], b[k])
    pause = w // 8 + 8
    i = j = 0
    s = o = 0.0
    for step in range(most + 1):
        look = step % pause == 0
        while True:
            i = _largest(h, K[i, :w], K[j, :w], kind(s), up, kind(o))
            if not look:
                break
            o, top, bottom = middle(h, b, lo, hi)
            if top <= bottom or gap_at(h, b, lo, hi, o) <= target:
                return step
            look, s = False, 0.0  # and once more, as near the new o as it gets
        if i < 0 or step == most:
            return step
        j = _best_partner(h, K[i, :w], diagonal, down, i, floor)
        if j < 0:
            return step
        curvature = max(np.float64(diagonal[i]) + diagonal[j] - 2.0 * K[i, j], np.float64(floor))
        s = min((np.float64(h[i]) - h[j]) / curvature, hi[i] - b[i], b[j] - lo[j])
        b[i] = hi[i] if s == hi[i] - b[i] else b[i] + s
        b[j] = lo[j] if s == b[j] - lo[j] else b[j] - s
        up[i], down[i] = _mask(b[i], hi[i]), _mask(lo[i], b[i])
        up[j], down[j] = _mask(b[j], hi[j]), _mask(lo[j], b[j])
    return most


@lean_as_written
def _violation(h: Any, first: Any, s: Any, second: Any, t: Any, up: Any, down: Any) -> Any:
    """Update h by steps of s along row `first` and t along `second`; return the key of the worst violation."""
    best = np.int32(0)
    for k in range(h.size):
        value = h[k] - s * first[k] - t * second[k]
        h[k] = value
        worse = np.float32(max(min(value, up[k]), min(-value, down[k])))
        best = max(best, np.int32(np.int32(worse.view(np.int32) & np.int32(~LOW)) | np.int32(k)))
    return best


@lean_as_written
def _companion(h: Any, row: Any, diagonal: Any, up: Any, down: Any, s: Any, own: Any, floor: Any) -> Any:
    """Return the key of the example that gains most after a step of s of the one with this row."""
    best = np.int32(0)
    for k in range(h.size):
        value = h[k] - s * row[k]
        worse = max(min(value, up[k]), min(-value, down[k]))
        curvature = max(diagonal[k] - row[k] * row[k] / own, floor)
        gain = np.float32(worse * worse / curvature)
        best = max(best, np.int32(np.int32(gain.view(np.int32) & np.int32(~LOW)) | np.int32(k)))
    return best


@lean_as_written
def _worst(h: Any, first: Any, s: Any, second: Any, t: Any, up: Any, down: Any) -> int:
    """Update h; return the worst violator, -1 if none violates."""
    where, most = -1, np.int32(0)
    for begin in range(0, h.size, LOW + 1):
        end = min(begin + LOW + 1, h.size)
        part = h[begin:end]
        key = _violation(part, first[begin:end], s, second[begin:end], t, up[begin:end], down[begin:end])
        if key > LOW and (key & np.int32(~LOW)) > (most & np.int32(~LOW)):
            where, most = begin + (key & LOW), key
    return where


@lean_as_written
def _best_companion(box: Box, row: Any, up: Any, down: Any, s: Any, i: int, floor: Any) -> int:
    """Return the example that gains most after a step of s of example i; -1 if none gains."""
    where, most, own = -1, np.int32(0), max(box.diagonal[i], floor)
    for begin in range(0, up.size, LOW + 1):
        end = min(begin + LOW + 1, up.size)
        h, diagonal = box.h[begin:end], box.diagonal[begin:end]
        key = _companion(h, row[begin:end], diagonal, up[begin:end], down[begin:end], s, own, floor)
        if key > LOW and (key & np.int32(~LOW)) > (most & np.int32(~LOW)):
            where, most = begin + (key & LOW), key
    return where


@lean_as_written
def _cut(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


@lean_as_written
def pair_step(hi: float, hj: float, a: float, c: float, d: float, ranges: Any) -> tuple[float, float]:
    """Return the steps of two examples that climb highest: gradients hi, hj, matrix ((a, c), (c, d)), ranges of both."""
    i_low, i_high, j_low, j_high = ranges
    det = a * d - c * c
    if det > 1e-9 * a * d:
        s, t = (hi * d - hj * c) / det, (hj * a - hi * c) / det
        if i_low <= s <= i_high and j_low <= t <= j_high:
            return s, t
    else:  # as good as twins: what one gains, the other gives, as far as the bounds allow
        s, t = (1e300 if hi * d > hj * c else -1e300), (1e300 if hj * a > hi * c else -1e300)
    s1 = _cut(s, i_low, i_high)
    t1 = _cut((hj - c * s1) / d, j_low, j_high)
    t2 = _cut(t, j_low, j_high)
    s2 = _cut((hi - c * t2) / a, i_low, i_high)
    gain1 = hi * s1 + hj * t1 - 0.5 * (a * s1 * s1 + 2.0 * c * s1 * t1 + d * t1 * t1)
    gain2 = hi * s2 + hj * t2 - 0.5 * (a * s2 * s2 + 2.0 * c * s2 * t2 + d * t2 * t2)
    return (s1, t1) if gain1 >= gain2 else (s2, t2)


@lean_as_written
def _move(b: FloatArray, lo: FloatArray, hi: FloatArray, i: int, s: float, up: Any, down: Any) -> None:
    """Add s to a strength, exactly to the bound if it leads there."""
    b[i] = hi[i] if s >= hi[i] - b[i] else (lo[i] if s <= lo[i] - b[i] else b[i] + s)
    up[i] = BIG if b[i] < hi[i] else 0.0
    down[i] = BIG if b[i] > lo[i] else 0.0


@compiled_and_inside_as_written
def climb_pairs(box: Box, target: float, most: int) -> int:
    """Climb without a sum rule, until the gap is at most `target` or `most` steps are done; return the steps."""
    K, diagonal, h, b, lo, hi = box
    w, kind = h.size, h.dtype.type
    # Rows that are all 0 have no curvature at all, and would be divided by it.
    floor = kind(max((FLAT if h.itemsize == 4 else FLATTER) * _top(diagonal), LEAST))
    up, down = np.empty(w, h.dtype), np.empty(w, h.dtype)
    for k in range(w):
        _move(b, lo, hi, k, 0.0, up, down)
    pause = w // 8 + 8
    i = j = 0
    s = t = 0.0
    for step in range(most + 1):
        i = _worst(h, K[i, :w], kind(s), K[j, :w], kind(t), up, down)
        if i < 0 or step == most or (step % pause == 0 and gap_at(h, b, lo, hi, 0.0) <= target):
            return step
        own = max(np.float64(diagonal[i]), 1e-30)
        s, t = _cut(np.float64(h[i]) / own, lo[i] - b[i], hi[i] - b[i]), 0.0
        j = _best_companion(box, K[i, :w], up, down, kind(s), i, floor)
        if j < 0 or j == i:
            j = i
        else:
            ranges = (lo[i] - b[i], hi[i] - b[i], lo[j] - b[j], hi[j] - b[j])
            other = max(np.float64(diagonal[j]), 1e-30)
            s, t = pair_step(np.float64(h[i]), np.float64(h[j]), own, np.float64(K[i, j]), other, ranges)
            _move(b, lo, hi, j, t, up, down)
        _move(b, lo, hi, i, s, up, down)
    return most


@open_function
def climb(kind: Any, box: Box, target: float, most: int) -> int:
    """Climb with a bias of this kind, until the gap is at most `target` or `most` steps are done; return the steps."""


@climb.register(Free)
def _(_kind: Free, box: Box, target: float, most: int) -> int:
    return climb_free(box, target, most)


@climb.register(Penalised)
def _(_kind: Penalised, box: Box, target: float, most: int) -> int:
    return climb_pairs(box, target, most)


@open_function
def bias_of(kind: Any, h: Any, b: FloatArray, lo: FloatArray, hi: FloatArray) -> float:
    """Return the bias half way between those that may rise and those that may fall; 0 if it is not free."""


@bias_of.register(Free)
def _(_kind: Free, h: Any, b: FloatArray, lo: FloatArray, hi: FloatArray) -> float:
    return middle(h, b, lo, hi)[0]


@bias_of.register(Penalised)
def _(_kind: Penalised, _h: Any, _b: FloatArray, _lo: FloatArray, _hi: FloatArray) -> float:
    return 0.0
