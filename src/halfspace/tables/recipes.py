"""What is done with one column: learnt once, kept as plain data, then carried out on any rows.

A recipe is a dictionary of plain values, so that a model file can hold it:

- `kind` "number" or "moment": `parts`, one recipe of `numbers` per output; `indicator`, whether one more output marks gaps.
- `kind` "category": `values`, `other`, `missing`, `switch`, see `categories`.
- `kind` "gap": the values never differ, but some are missing; the only output marks those.
"""

from typing import Any, NamedTuple

import numpy as np

from halfspace._typing import FloatArray
from halfspace.tables import categories, numbers
from halfspace.tables.columns import kind_of, moments_of, numbers_of, texts_of
from halfspace.tables.moments import parts_of

__all__ = ["Counts", "Learned", "learn", "suffixes", "width", "write"]

MOSTLY = 0.95
"""Text is read as numbers or dates if more than this share of it can be."""
NEARLY_ALL = 0.9
FEW_ROWS = 20

Recipe = dict[str, Any]


class Learned(NamedTuple):
    """A recipe, or the reason for leaving the column out; and how many values could not be read, and how many are missing."""

    recipe: Recipe | None = None
    reason: str = ""
    lost: int = 0
    gaps: int = 0


class Counts(NamedTuple):
    """What happened to the values of a column: how many could not be read, and how many categories were never seen before."""

    unreadable: int = 0
    unseen: int = 0


def learn(column: Any, name: str, scale: str, max_categories: int) -> Learned:
    """Learn what to do with a column, shape (n,).

    Examples
    --------
    >>> learn(np.array([4.0, 4.0]), "a", "standard", 50).reason
    'always the same value'
    """
    kind = kind_of(column)
    if kind == "number":
        return _learn_number(column, name, scale)
    if kind == "moment":
        return _learn_moment(column, name, scale)
    if kind == "text":
        return _learn_text(column, name, scale, max_categories)
    if kind in ("switch", "choice"):
        return _learn_category(column, max_categories, switch=kind == "switch")
    return Learned(
        reason="no value at all" if kind == "nothing" else f"values of type {kind}, which are neither numbers nor text"
    )


def _learn_number(column: Any, name: str, scale: str) -> Learned:
    """Learn a column of numbers; leave out one that is empty, constant, or only counts the rows of a table."""
    values, lost = numbers_of(column)
    values = np.ascontiguousarray(values, dtype=np.float64)
    if np.isnan(values).all():
        return Learned(reason="no value at all")
    if not isinstance(column, np.ndarray) and numbers.counts_rows(values):
        return Learned(reason="it only counts the rows")
    part = numbers.learn(values, scale, name)
    gaps = part["gaps"]
    if part["low"] == part["high"]:
        return Learned({"kind": "gap"}, gaps=gaps, lost=lost) if gaps else Learned(reason="always the same value")
    return Learned({"kind": "number", "parts": [part], "suffixes": [""], "indicator": gaps > 0}, lost=lost, gaps=gaps)


def _learn_moment(column: Any, name: str, scale: str) -> Learned:
    """Learn a column of dates or times: the parts that are not always the same."""
    moments, lost = moments_of(column)
    gaps = int(np.isnat(moments).sum())
    if gaps == moments.size:
        return Learned(reason="no value at all")
    parts, kept = [], []
    for part_name, values in parts_of(moments).items():
        part = numbers.learn(values, scale, name)
        if part["low"] < part["high"]:
            parts.append(part)
            kept.append(f" {part_name}")
    if not parts:
        return Learned({"kind": "gap"}, gaps=gaps, lost=lost) if gaps else Learned(reason="always the same value")
    return Learned({"kind": "moment", "parts": parts, "suffixes": kept, "indicator": gaps > 0}, lost=lost, gaps=gaps)


def _learn_text(column: Any, name: str, scale: str, max_categories: int) -> Learned:
    """Learn a column of text: as numbers or dates if nearly all of it can be read so, else as categories."""
    text = texts_of(column)
    given = len(text) - text.null_count
    if given == 0:
        return Learned(reason="no value at all")
    if numbers_of(column)[1] < (1.0 - MOSTLY) * given:
        return _learn_number(column, name, scale)
    if moments_of(column)[1] < (1.0 - MOSTLY) * given:
        return _learn_moment(column, name, scale)
    return _learn_category(column, max_categories, switch=False)


def _learn_category(column: Any, max_categories: int, *, switch: bool) -> Learned:
    """Learn the values of a column of categories; leave out one with a single value, or with hardly a value that repeats."""
    text = texts_of(column).drop_null()
    gaps = len(column) - len(text)
    counts = text.value_counts()
    if len(counts) == 0:
        return Learned(reason="no value at all")
    if len(counts) == 1 and not gaps:
        return Learned(reason="always the same value")
    if len(text) > FEW_ROWS and len(counts) > NEARLY_ALL * len(text):
        return Learned(reason="text that hardly ever repeats, such as an id or a remark")
    words = dict(zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True))
    return Learned({"kind": "category", **categories.learn(words, gaps, max_categories, switch=switch)}, gaps=gaps)


def width(recipe: Recipe) -> int:
    """Return the number of outputs of a column.

    Examples
    --------
    >>> width({"kind": "gap"})
    1
    """
    return len(suffixes(recipe))


def suffixes(recipe: Recipe) -> list[str]:
    """Return what each output's name adds to the name of the column.

    Examples
    --------
    >>> suffixes({"kind": "number", "suffixes": [""], "indicator": True})
    ['', ' missing']
    """
    if recipe["kind"] == "gap":
        return [" missing"]
    if recipe["kind"] == "category":
        return categories.suffixes(recipe)
    return [*recipe["suffixes"], *([" missing"] if recipe["indicator"] else [])]


def write(recipe: Recipe, column: Any, name: str, out: FloatArray) -> Counts:
    """Write the outputs of a column, shape (n, width), into `out`, which holds zeros.

    Examples
    --------
    >>> out = np.zeros((2, 1))
    >>> write({"kind": "gap"}, np.array([np.nan, 7.0]), "a", out), out.tolist()
    (Counts(unreadable=0, unseen=0), [[1.0], [0.0]])
    """
    if recipe["kind"] == "category":
        return Counts(unseen=categories.write(recipe, column, out))
    if recipe["kind"] == "moment":
        moments, lost = moments_of(column)
        every = parts_of(moments)
        parts = [every[suffix[1:]] for suffix in recipe["suffixes"]]
        gaps = np.isnat(moments)
    else:
        values, lost = numbers_of(column)
        parts = [values] if recipe["kind"] == "number" else []
        gaps = np.isnan(values)
    for j, values in enumerate(parts):
        part = recipe["parts"][j]
        numbers.write(part, numbers.fill(part, values, gaps, name), out[:, j])
    if len(parts) < out.shape[1]:
        out[:, -1] = gaps
    return Counts(unreadable=lost)
