"""Categories: one output per value, or a single one for two values; rare values pooled; missing is a value of its own."""

from typing import Any

import numpy as np

from halfspace._typing import FloatArray, IntArray
from halfspace.tables.columns import arrow, texts_of

__all__ = ["learn", "suffixes", "write"]

Recipe = dict[str, Any]
TRUTH = {"1": "true", "0": "false"}


def learn(counts: dict[str, int], n_gaps: int, most: int, *, switch: bool) -> Recipe:
    """Learn the values of a column from how often each came.

    Returns
    -------
    dict
        `values`: the kept values in the order of the alphabet; `other`: whether there is a pool for the rest; `missing`:
        whether values were missing; `switch`: whether the column held true and false.
    """
    kept = sorted(sorted(counts, key=lambda value: (-counts[value], value))[:most])
    return {"values": kept, "other": len(kept) < len(counts), "missing": n_gaps > 0, "switch": switch}


def suffixes(recipe: Recipe) -> list[str]:
    """Return what each output's name adds to the column's name; of two values the second is named, as 1 stands for it."""
    names = [f"={value}" for value in recipe["values"]]
    names += ["=(other)"] * recipe["other"] + [" missing"] * recipe["missing"]
    return names[1:] if len(names) == 2 else names


def write(recipe: Recipe, column: Any, out: FloatArray) -> int:
    """Write the outputs of a column, shape (n, width), into `out`, which holds zeros; return how many values are unknown."""
    place, unknown = _places(recipe, column)
    if out.shape[1] == 1:
        out[:, 0] = place == 1
    else:
        rows = np.flatnonzero(place >= 0)
        out[rows, place[rows]] = 1.0
    return unknown


def _places(recipe: Recipe, column: Any) -> tuple[IntArray, int]:
    """Return the place of each row's value among the outputs, shape (n,), -1 for none, and how many values are unknown."""
    pa, pc, _ = arrow()
    text = texts_of(column)
    if recipe["switch"]:
        text = pc.utf8_lower(text)
        for number, word in TRUTH.items():
            text = pc.if_else(pc.equal(text, number), word, text)
    found = pc.index_in(text, value_set=pa.array(recipe["values"], type=pa.large_string()))
    place: IntArray = pc.fill_null(found, -1).to_numpy().astype(np.int64)
    gaps = pc.is_null(text).to_numpy()
    unknown = (place < 0) & ~gaps
    n_values = len(recipe["values"])
    elsewhere = n_values if recipe["other"] else -1
    place[unknown] = elsewhere
    place[gaps] = n_values + recipe["other"] if recipe["missing"] else elsewhere
    return place, int(unknown.sum())
