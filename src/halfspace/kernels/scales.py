"""Kernels of scaled columns: a rising curve and a factor for every column, learnt once and kept as numbers.

A curve is straight between its knots and constant beyond them, so that no value is further away than any that was seen at a
distance of 8 deviations. Three kinds: *standard*, to mean 0 and variance 1; *log*, the same after ln(x - min + 0.05) in units
of the deviation, for columns of skewness beyond 1 (mirrored where it is negative); *normal*, the probability integral
transform: each value goes where its rank would be in a normal distribution, cut at 3 deviations. A metric learns the factors.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.errors import InputError
from halfspace.kernels.algebra import bracketed
from halfspace.kernels.base import Kernel
from halfspace.kernels.derived import OfOtherRows
from halfspace.kernels.products import checked, doubled

__all__ = ["SCALES", "Curves", "OnScales", "learn_curves"]

SCALES = ("standard", "log", "normal")
FARTHEST, TAIL, SKEWED, NEAREST = 8.0, 3.0, 1.0, 0.05
"""Deviations at which columns are cut, and ranks; skewness beyond which a logarithm is taken, and what is added before."""
KNOTS, SAMPLE, PIECE = 128, 20_000, 1 << 20
"""Most knots of a curve, rows that curves are learnt from, and entries that are looked at together."""
LINE = np.array([-FARTHEST, FARTHEST])


class Curves(NamedTuple):
    """A curve for each of d columns: those of column j have the knots and heights starts[j]:starts[j + 1]."""

    starts: IntArray  # (d + 1,)
    knots: FloatArray  # (q,) rising within a column
    heights: FloatArray  # (q,) nowhere falling within a column

    def __call__(self, X: Any, columns: IntArray) -> FloatArray:
        """Return some columns of X on their scales, shape (n, columns)."""
        rows = X[:, columns]
        rows = rows.toarray() if sparse.issparse(rows) else rows
        out = np.empty(rows.shape)
        for k, j in enumerate(columns.tolist()):
            own = slice(self.starts[j], self.starts[j + 1])
            out[:, k] = np.interp(rows[:, k], self.knots[own], self.heights[own])
        return out


def learn_curves(X: Matrix, scale: str) -> Curves:
    """Learn a curve for every column of X, shape (n, d), from at most SAMPLE rows, evenly spread."""
    rows = X[:: -(-X.shape[0] // SAMPLE)]
    found: list[tuple[FloatArray, FloatArray]] = []
    for first in range(0, X.shape[1], step := 1 + PIECE // max(rows.shape[0], 1)):
        part = rows[:, first : first + step]
        dense = part.toarray() if sparse.issparse(part) else part
        found += _curves(np.ascontiguousarray(dense.T, dtype=np.float64), scale)
    starts = np.cumsum([0, *(knots.size for knots, _ in found)])
    knots, heights = (np.concatenate([pair[k] for pair in found]) for k in range(2))
    return Curves(starts, knots, heights)


def _curves(x: FloatArray, scale: str) -> list[tuple[FloatArray, FloatArray]]:
    """Return knots and heights for every column, the rows of x; a constant one goes to 0."""
    mean = x.mean(axis=1, keepdims=True)
    size = np.abs(x - mean).max(axis=1, keepdims=True)
    apart = np.where(size > 0.0, size, 1.0)
    deviation = size * np.sqrt(np.mean(((x - mean) / apart) ** 2, axis=1, keepdims=True))
    varies = (deviation > 1e-12 * np.abs(mean)) & np.isfinite(deviation) & (mean + deviation * 1e-3 > mean)
    skew = np.mean(((x - mean) / np.where(varies, deviation, 1.0)) ** 3, axis=1)
    found = [*zip(mean + LINE * deviation, np.broadcast_to(LINE, (x.shape[0], 2)), strict=True)]
    for j in np.flatnonzero(~varies).tolist():
        found[j] = mean[j], np.zeros(1)
    bent = varies[:, 0] & (scale == "normal" or (scale == "log") & (np.abs(skew) > SKEWED))
    for j in np.flatnonzero(bent).tolist():
        knots, heights = _ranks(x[j]) if scale == "normal" else _logarithm(x[j], mean[j], deviation[j], np.sign(skew[j]))
        z = np.interp(x[j], knots, heights)
        spread = float(z.std())
        found[j] = knots, np.clip((heights - z.mean()) / (spread if spread > 0.0 else 1.0), -FARTHEST, FARTHEST)
    return found


def _logarithm(x: FloatArray, mean: FloatArray, deviation: FloatArray, turn: float) -> tuple[FloatArray, FloatArray]:
    """Return knots of a skewed column, and logarithms of them, mirrored if `turn` is -1."""
    u = turn * (x - mean) / deviation
    above = np.geomspace(NEAREST, float(u.max() - u.min()) + NEAREST, KNOTS)
    knots, heights = turn * (above - NEAREST + u.min()) * deviation + mean, turn * np.log(above)
    return (knots, heights) if turn > 0.0 else (knots[::-1], heights[::-1])


def _ranks(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the values of a column, or some of many, and where they would be in a normal distribution."""
    values, counts = np.unique(x, return_counts=True)
    shares = (np.cumsum(counts) - 0.5 * counts) / x.size
    if values.size > KNOTS:
        some = np.unique(np.round(np.linspace(0, values.size - 1, KNOTS)).astype(np.int64))
        values, shares = values[some], shares[some]
    return values, np.clip(ndtri(shares), -TAIL, TAIL)


@dataclass(frozen=True, eq=False)
class OnScales(OfOtherRows):
    """A kernel of columns that were scaled, by a curve and a factor each.

    Parameters
    ----------
    kernel : Kernel
        What is computed from the scaled columns.
    scale : {"standard", "log", "normal"}
        How curves are learnt from data by `resolved(X)`: to mean 0 and variance 1; the same after the logarithm of skewed
        columns; or where ranks would be in a normal distribution.
    factors : array, shape (d,), optional
        What columns are multiplied by after that, >= 0; those of factor 0 are not read. All 1 by default.
    curves : tuple of (starts, knots, heights), optional
        The curves, if they are known: knots and heights, shape (q,), of all columns one after the other, and where those of
        each begin, shape (d + 1,).

    Examples
    --------
    >>> from halfspace.kernels import Laplacian
    >>> X = np.array([[0.0], [10.0], [20.0]])
    >>> round(Laplacian(1.0).on_scales().resolved(X)(X[0], X[2]), 4)  # 20 is 2.45 deviations
    0.0863
    """

    because: ClassVar[str] = "a kernel of scaled columns is a kernel"

    kernel: Kernel
    scale: str = "standard"
    factors: Any = None
    curves: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scale not in SCALES:
            msg = f"OnScales: scale must be one of {', '.join(map(repr, SCALES))}, got {self.scale!r}"
            raise InputError(msg)
        if self.factors is not None:
            object.__setattr__(self, "factors", _numbers(self.factors, "factors"))
            if not ((self.factors >= 0.0).all() and (self.factors > 0.0).any()):
                raise InputError("OnScales: factors must be numbers >= 0, not all of them 0")
        if self.curves is not None:
            object.__setattr__(self, "curves", self._checked_curves())

    def _checked_curves(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return the curves as arrays that nobody can change, or refuse them."""
        expected = "OnScales: curves must be (starts, knots, heights): rising knots and heights, one or more for each column"
        if not isinstance(self.curves, tuple) or len(self.curves) != 3:
            raise InputError(expected)
        knots, heights = (_numbers(c, "curves") for c in self.curves[1:])
        starts = _numbers(self.curves[0], "curves").astype(np.int64)
        within = np.ones(max(knots.size, 1), dtype=bool)
        fits = starts.size >= 2 and starts[0] == 0 and starts[-1] == knots.size == heights.size and (np.diff(starts) > 0).all()
        if fits:
            within[starts[:-1]] = False  # differences across columns do not count
            rises = np.diff(heights, prepend=0.0)[within]
            fits = bool((np.diff(knots, prepend=knots[0])[within] > 0.0).all() and (rises >= 0.0).all())
        if not fits or (self.factors is not None and self.factors.size != starts.size - 1):
            raise InputError(expected)
        starts.flags.writeable = False
        return starts, knots, heights

    def __str__(self) -> str:
        read = "" if self.factors is None else f" of {np.count_nonzero(self.factors)} columns by relevance"
        return f"{bracketed(self.kernel)} on {self.scale} scales{read}"

    def is_resolved(self) -> bool:
        """Tell whether curves and kernel are known."""
        return self.curves is not None and self.kernel.is_resolved()

    def resolved(self, X: Matrix) -> Kernel:
        """Return the kernel with its curves, and what follows them, learnt from X."""
        if self.is_resolved():
            return self
        rows = checked(X, "X", "OnScales")
        known = self if self.curves is not None else replace(self, curves=tuple(learn_curves(rows, self.scale)))
        return replace(known, kernel=self.kernel.resolved(known._changed(rows)))  # noqa: SLF001  (its own kind)

    def coordinates(self, X: Any) -> FloatArray:
        """Return all columns, scaled, in float64; 0 where the factor is."""
        out = np.zeros((X.shape[0], self._columns(X)))
        used = np.arange(out.shape[1]) if self.factors is None else np.flatnonzero(self.factors)
        out[:, used] = self._changed(X)
        return out

    def _columns(self, X: Any) -> int:
        """Return the number of columns, which X must have."""
        d = int(self.curves[0].size) - 1
        if X.shape[1] != d:
            msg = f"OnScales: curves of {d} columns, but the rows have {X.shape[1]}"
            raise InputError(msg)
        return d

    def _changed(self, X: Any) -> Any:
        """Return the scaled columns whose factor is not 0, in float64."""
        curves, d = Curves(*self.curves), self._columns(X)
        if self.factors is None:
            return curves(X, np.arange(d))
        used = np.flatnonzero(self.factors)
        return curves(X, used) * self.factors[used]

    def matrix(self, A: Matrix, B: Matrix | None = None, *, dtype: Any = None) -> Any:
        """Return the values, every row scaled once."""
        self._require_resolved()
        first, second = self._rows(A, B)
        single = first.dtype == second.dtype == np.float32
        mine = self._changed(doubled(first))
        other = None if first is second else self._changed(doubled(second))
        return self.kernel.matrix(mine, other, dtype=dtype or (np.float32 if single else np.float64))


def _numbers(values: Any, name: str) -> FloatArray:
    """Return finite numbers, shape (q,), that nobody can change, or refuse them."""
    try:
        found = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = f"OnScales: {name} must be numbers"
        raise InputError(msg) from error
    if found.ndim != 1 or found.size == 0 or not np.isfinite(found).all():
        msg = f"OnScales: {name} must be finite numbers, shape (d,)"
        raise InputError(msg)
    found.flags.writeable = False
    return found
