"""The patch of the circle or the sphere that half-spaces leave, without rounding.

Problem    The corners of  {w : A w >= 0}  on the circle (N = 2) or the sphere (N = 3).
Rule       Begin with N independent rows, whose corners are known, and cut with one row after another. Where it cuts the edge
           from p to q, with s_p = a·p > 0 > a·q = s_q, the new corner is  s_p q - s_q p.  All are whole numbers, divided by
           their greatest common divisor: a corner is the primitive vector where two rows cross, after any number of cuts.
Reference  Sutherland and Hodgman 1974, on a sphere.
"""

from math import gcd

from halfspace._typing import FloatArray
from halfspace.certificates.rational import whole

__all__ = ["corners"]

Corner = tuple[int, ...]


def corners(A: FloatArray) -> tuple[list[Corner], list[int]]:
    """Return the corners in order as primitive whole vectors, and for each the row that bounds the edge to the next corner.

    Of an arc (N = 2) the two ends, and the row that bounds each. Nothing if there is no interior, or the rows do not span.
    """
    rows = [tuple(int(x) for x in row) for row in whole(A)[0].reshape(A.shape)]
    first = _independent(rows)
    if not first:
        return [], []
    ring, edges = _simplex(rows, first)
    for i, a in enumerate(rows):
        if i not in first:
            ring, edges = _cut(ring, edges, a, i)
            if len(ring) < len(a):
                return [], []
    return ring, edges


def _dot(a: Corner, b: Corner) -> int:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _cross(a: Corner, b: Corner) -> Corner:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def _primitive(v: Corner) -> Corner:
    common = gcd(*v)
    return tuple(x // common for x in v)


def _independent(rows: list[Corner]) -> tuple[int, ...]:
    """Return the numbers of the first independent rows that span the space."""
    i = next((i for i, a in enumerate(rows) if any(a)), None)
    if i is None:
        return ()
    N, a = len(rows[0]), rows[i]
    if N == 2:
        return next(((i, j) for j, b in enumerate(rows) if a[0] * b[1] != a[1] * b[0]), ())
    j = next((j for j, b in enumerate(rows) if any(_cross(a, b))), None)
    if j is None:
        return ()
    normal = _cross(a, rows[j])
    return next(((i, j, k) for k, c in enumerate(rows) if _dot(normal, c)), ())


def _simplex(rows: list[Corner], first: tuple[int, ...]) -> tuple[list[Corner], list[int]]:
    """Return the corners that N independent rows leave: each on all rows but one, and inside that one."""
    ring = []
    for k in first:
        a, b = rows[k], [rows[i] for i in first if i != k]
        v = (-b[0][1], b[0][0]) if len(a) == 2 else _cross(b[0], b[1])
        ring.append(_primitive(v if _dot(a, v) > 0 else tuple(-x for x in v)))
    return ring, [first[1], first[0]] if len(first) == 2 else [first[2], first[0], first[1]]


def _cut(ring: list[Corner], edges: list[int], a: Corner, row: int) -> tuple[list[Corner], list[int]]:
    """Return what row a leaves of a ring of corners."""
    s = [_dot(a, v) for v in ring]
    if min(s) >= 0:
        return ring, edges
    new: list[tuple[Corner, int]] = []
    for t, (v, edge) in enumerate(zip(ring, edges, strict=True)):
        after = (t + 1) % len(ring)
        if s[t] >= 0:
            new.append((v, row if s[t] == 0 > s[after] and len(a) == 3 else edge))
        if s[t] * s[after] < 0 and (s[t] < 0 or len(a) == 3):
            crossing = _primitive(tuple(abs(s[t]) * y + abs(s[after]) * x for x, y in zip(v, ring[after], strict=True)))
            new.append((crossing, edge if s[t] < 0 and len(a) == 3 else row))
    return [v for v, _ in new], [edge for _, edge in new]
