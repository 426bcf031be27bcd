"""Many plain columns at once: a matrix of numbers without gaps gets the same recipes and outputs as column by column, sooner.

Invariant: an output is (x - shift) / spread of its own input, by the same operations as in `numbers.write`, so the two ways
agree to the last bit.
"""

from typing import Any

import numpy as np

from halfspace._typing import FloatArray, Matrix
from halfspace.tables.numbers import EXTREME, FARTHEST
from halfspace.tables.recipes import Learned

__all__ = ["learn", "write"]

MANY = 100
"""Fewer columns are not worth a way of their own."""


def learn(matrix: Matrix, scale: str) -> list[Learned] | None:
    """Return what to do with every column of a matrix, shape (n, d); None where they must be looked at one by one.

    Examples
    --------
    >>> learned = learn(np.arange(400.0).reshape(2, 200), "standard")
    >>> len(learned), learned[3].recipe["parts"][0]["shift"], learn(np.zeros((2, 3)), "standard")
    (200, 103.0, None)
    """
    if matrix.shape[1] < MANY or scale == "rank" or not isinstance(matrix, np.ndarray):
        return None
    values = np.asarray(matrix, dtype=np.float64)
    low, high = values.min(axis=0), values.max(axis=0)
    largest = np.maximum(np.abs(low), np.abs(high))
    usual = (largest <= EXTREME) & ((largest >= 1.0 / EXTREME) | (largest == 0.0))
    if not usual.all():  # NaN, infinite, or of an extreme size
        return None
    shift, spread = np.zeros(low.size), np.ones(low.size)
    if scale == "standard":
        shift, spread = values.mean(axis=0), values.std(axis=0)
        spread[spread == 0.0] = 1.0
    numbers = (np.median(values, axis=0), low, high, shift, spread)
    return [_learned(*column) for column in zip(*(part.tolist() for part in numbers), strict=True)]


def _learned(fill: float, low: float, high: float, shift: float, spread: float) -> Learned:
    """Return the recipe of one column, as `numbers.learn` and `recipes.learn` would."""
    if low == high:
        return Learned(reason="always the same value")
    part = {"fill": fill, "gaps": 0, "low": low, "high": high, "huge": False, "unit": 1.0, "shift": shift, "spread": spread}
    return Learned({"kind": "number", "parts": [part], "suffixes": [""], "indicator": False})


def write(recipes: list[dict[str, Any]], block: Any, out: FloatArray) -> bool:
    """Write the outputs of a block of rows, shape (n, D), if it can be done at once; tell whether it was.

    Examples
    --------
    >>> X = np.arange(400.0).reshape(2, 200)
    >>> kept = [one.recipe | {"column": j} for j, one in enumerate(learn(X, "standard"))]
    >>> out = np.zeros((2, 200))
    >>> write(kept, X, out), out[:, 0].tolist()
    (True, [-1.0, 1.0])
    """
    if not isinstance(block, np.ndarray) or out.shape[1] < MANY or len(recipes) != out.shape[1]:
        return False
    if any(recipe["kind"] != "number" or "quantiles" in recipe["parts"][0] for recipe in recipes):
        return False
    unit, shift, spread = np.array([[recipe["parts"][0][name] for name in ("unit", "shift", "spread")] for recipe in recipes]).T
    values = np.asarray(block[:, [recipe["column"] for recipe in recipes]], dtype=np.float64)
    plain = (shift == 0.0) & (spread == 1.0)
    if (unit != 1.0).any() or (plain.any() and not plain.all()) or not np.isfinite(values).all():
        return False
    if plain.all():
        out[:] = values
    else:
        with np.errstate(over="ignore"):
            np.clip((values - shift) / spread, -FARTHEST, FARTHEST, out=out)
    return True
