"""Numbers: the median where one is missing, then z = (x - mean) / deviation, perhaps of the logarithm, or the rank.

standard   z = (x - mean) / deviation.
log        the same of a logarithm, where there is a long tail: a skewness beyond ±1 that the logarithm brings nearer to 0. Of a
           tail above values that are not negative, of ln x, or of ln(1 + x) if there are zeros; of others, of the distance from
           the end without the tail, 1/20 of the deviation added. What is beyond that end counts as the end.
rank       √12 (F(x) - 1/2), F the empirical distribution of the training values (the probability integral transform).
normal     Φ⁻¹(F(x)), cut at ±3: the values of a standard normal variable with the same rank, F off 0 and 1 by half a row.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import skew

from halfspace._typing import FloatArray
from halfspace.errors import InputError

__all__ = ["FARTHEST", "counts_rows", "fill", "learn", "write"]

EXTREME = 1e100
"""Beyond this, or below its inverse, squares leave the range of floating point: the column is first divided by a power of 2."""
FARTHEST = 1e50
"""Scaled values are cut off here, so that a product of two of them with weights stays finite."""
SKEWED = 1.0
"""Skewness beyond which a column has a long tail; an exponential variable has 2."""
NEAREST = 0.05
"""Deviations added to the distance from an end before its logarithm is taken, so that the end is not far from all others."""
FARTHEST_RANK = float(ndtr(-3.0))
"""Least share that becomes a normal value: -3."""
MAX_QUANTILES = 1000
MANY_ROWS = 20
"""Rows from which numbers that rise in whole steps, fewer than half of them left out, are taken for a count of the rows."""
RANK_WIDTH = float(np.sqrt(12.0))
"""A uniform variable on [0, 1] has variance 1/12, so √12 (F(x) - 1/2) has mean 0 and variance 1."""

Recipe = dict[str, Any]


def learn(values: FloatArray, scale: str, name: str) -> Recipe:
    """Learn how to fill and scale a column with at least one value, shape (n,), NaN where missing.

    Returns
    -------
    dict
        `fill`: the median; `gaps`: how many values were missing; `low`, `high`: the range; `huge`: whether it exceeds 1e100;
        `unit`, `shift`, `spread`: the scaled value is (x / unit - shift) / spread; `quantiles`: for ranks, x / unit at equal
        steps of the distribution function, all of them if there are not too many; `offset`, `sign`, if the logarithm is
        taken: of offset + sign x; `tail`, if ranks become normal: the least share.
    """
    gaps = np.isnan(values)
    n_gaps = int(gaps.sum())
    median = _median(values[~gaps] if n_gaps else values)
    filled = np.where(gaps, median, values) if n_gaps else values
    low, high = float(filled.min()), float(filled.max())
    refuse_infinite(low, high, name)
    largest = max(abs(low), abs(high))
    recipe: Recipe = {"fill": median, "gaps": n_gaps, "low": low, "high": high, "huge": largest > EXTREME}
    recipe |= {"unit": 1.0, "shift": 0.0, "spread": 1.0}
    tail = _tail(filled, low, high) if scale == "log" else None
    if tail is not None:
        logs = np.log(tail["offset"] + tail["sign"] * filled)
        recipe |= {**tail, "shift": float(logs.mean()), "spread": float(logs.std()) or 1.0}
    elif scale != "none":
        if largest != 0.0 and not 1.0 / EXTREME <= largest <= EXTREME:  # a power of 2 near an extreme size
            recipe["unit"] = float(np.ldexp(1.0, min(max(int(np.frexp(largest)[1]), -1021), 1023)))
        shares = filled / recipe["unit"]
        if scale in ("standard", "log"):
            recipe.update(shift=float(shares.mean()), spread=float(shares.std()) or 1.0)
        else:
            steps = np.linspace(0.0, 1.0, MAX_QUANTILES)
            few = shares.size <= MAX_QUANTILES  # else rounding may turn equal quantiles
            recipe["quantiles"] = np.sort(shares) if few else np.maximum.accumulate(np.quantile(shares, steps))
            recipe |= {"tail": max(0.5 / shares.size, FARTHEST_RANK)} if scale == "normal" else {}
    return recipe


def _tail(filled: FloatArray, low: float, high: float) -> Recipe | None:
    """Return offset and sign of the logarithm of a column, shape (n,); None where none should be taken."""
    largest = max(abs(low), abs(high))
    before = float(skew(filled)) if low < high and 1.0 / EXTREME <= largest <= EXTREME else 0.0
    if abs(before) <= SKEWED:
        return None
    sign, offset = float(np.sign(before)), 0.0 if low > 0.0 else 1.0
    if sign < 0.0 or low < 0.0:
        offset = NEAREST * float(filled.std()) - sign * (low if sign > 0.0 else high)
    shifted = offset + sign * filled
    return {"offset": offset, "sign": sign} if shifted.min() > 0.0 and abs(float(skew(np.log(shifted)))) < abs(before) else None


def _median(values: FloatArray) -> float:
    """Return the median; the mean of the two middle values is taken by halves, as their sum may overflow."""
    half = values.size // 2
    middle = np.partition(values, [max(half - 1, 0), half])
    return float(middle[half] if values.size % 2 else 0.5 * middle[half - 1] + 0.5 * middle[half])


def refuse_infinite(low: float, high: float, name: str) -> None:
    """Refuse a column whose range is not finite."""
    if not (np.isfinite(low) and np.isfinite(high)):
        msg = (
            f"TableEncoder: column {name!r} contains infinity, which cannot be scaled. Replace it with a finite number,"
            " or with NaN if it stands for a missing value."
        )
        raise InputError(msg)


def counts_rows(values: FloatArray) -> bool:
    """Tell whether a column only counts the rows: 0, 1, ..., n-1 or 1, 2, ..., n, or with gaps where rows were held out."""
    first, n = values[0], values.size
    if n > 2 and first in (0.0, 1.0) and np.array_equal(values, np.arange(first, first + n)):
        return True
    steps = np.diff(values)
    rising = n >= MANY_ROWS and bool((steps >= 1.0).all()) and bool((steps == np.floor(steps)).all())
    return rising and values[-1] - first < 2.0 * n


def fill(recipe: Recipe, values: FloatArray, gaps: NDArray[np.bool_], name: str) -> FloatArray:
    """Return the values with the median in the gaps; refuse infinity."""
    filled = np.where(gaps, recipe["fill"], values) if gaps.any() else values
    if filled.size:
        refuse_infinite(float(filled.min()), float(filled.max()), name)
    return filled


def write(recipe: Recipe, filled: FloatArray, out: FloatArray) -> None:
    """Write the scaled values of a column without gaps into `out`, both of shape (n,); value by value, in any batches."""
    unit, shift, spread = recipe["unit"], recipe["shift"], recipe["spread"]
    with np.errstate(over="ignore"):
        shares = filled if unit == 1.0 else filled / unit
        if "offset" in recipe:
            inside = np.maximum(shares, recipe["low"]) if recipe["sign"] > 0.0 else -np.minimum(shares, recipe["high"])
            shares = np.log(inside + recipe["offset"])
        if "tail" in recipe:
            out[:] = ndtri(np.clip(_distribution(recipe["quantiles"], shares), recipe["tail"], 1.0 - recipe["tail"]))
        elif "quantiles" in recipe:
            out[:] = RANK_WIDTH * (_distribution(recipe["quantiles"], shares) - 0.5)
        elif (shift, spread) == (0.0, 1.0):
            out[:] = shares
        else:
            np.clip((shares - shift) / spread, -FARTHEST, FARTHEST, out=out)


def _distribution(quantiles: FloatArray, values: FloatArray) -> FloatArray:
    """Return the empirical distribution function, clipped to [0, 1]; a value that repeats gets the middle of its step."""
    steps = np.linspace(0.0, 1.0, quantiles.size)
    from_below: FloatArray = np.interp(values, quantiles, steps)
    if (quantiles[1:] > quantiles[:-1]).all():  # no step, so nothing to take the middle of
        return from_below
    from_above = np.interp(-values, -quantiles[::-1], -steps[::-1])
    between: FloatArray = np.clip(0.5 * (from_below - from_above), 0.0, 1.0)
    return between
