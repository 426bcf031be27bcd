"""What is done with one column: learnt once, kept as plain data, then carried out on any rows.

A recipe is a dictionary of plain values, so that a model file can hold it:

- `kind` "number" or "moment": `parts`, one recipe of `numbers` per output; `indicator`, whether one more output marks gaps;
  for dates in text `spelled`, the order of their parts.
- `kind` "category": `values`, `other`, `missing`, `switch`, see `categories`.
- `kind` "words": `slots`, `idf`, `names`, `indicator`, see `words`.
- `kind` "gap": the values never differ, but some are missing; the only output marks those.

Many plain columns at once (a matrix of numbers without gaps) get the same recipes and outputs as column by column, sooner: an
output is (x - shift) / spread of its own input by the same operations as in `numbers.write`, so the two agree to the last bit.
"""

from typing import Any, NamedTuple

import numpy as np

from halfspace._typing import FloatArray, Matrix
from halfspace.tables import categories, numbers, words
from halfspace.tables.columns import (
    arrow,
    as_plain_matrix,
    is_table,
    kind_of,
    moments_of,
    numbers_of,
    parts_of,
    texts_of,
    trimmed_text,
    would_round,
)

MOMENTS = {"year", "month", "day", "weekday", "hour", "day number"}
__all__ = ["Counts", "Learned", "Options", "filled", "learn", "learn_matrix", "suffixes", "width", "write", "write_matrix"]

MOSTLY = 0.95
"""Text is read as numbers or dates if more than this share of it can be."""
NEARLY_ALL = 0.9
FEW_ROWS = 8
MANY_COLUMNS = 100
"""Fewer columns are not worth a way of their own."""

FEW_NUMBERS = 1 << 24
"""Numbers up to which a table is looked at as a whole: of more, columns are long enough to be worth a look each."""
COUNTS = "it only counts the rows"

Recipe = dict[str, Any]


class Learned(NamedTuple):
    """A recipe, or the reason for leaving the column out; and how many values could not be read, and how many are missing."""

    recipe: Recipe | None = None
    reason: str = ""
    lost: int = 0
    gaps: int = 0
    long: bool = False  # whole numbers that floats would round were read as text


class Counts(NamedTuple):
    """What happened to the values of a column: how many could not be read, and how many categories were never seen before."""

    unreadable: int = 0
    unseen: int = 0


class Options(NamedTuple):
    """The parameters of the encoder."""

    scale: str
    max_categories: int
    keep_text: bool | str


def learn(column: Any, name: str, options: Options) -> Learned:
    """Learn what to do with a column, shape (n,)."""
    kind = kind_of(column)
    if kind == "number" and would_round(column):
        return _learn_category(column, options._replace(keep_text=False))._replace(long=True)
    if kind == "number":
        return _learn_number(column, name, options.scale)
    if kind == "moment":
        return _learn_moment(column, name, options.scale)
    if kind == "text":
        return _learn_text(column, name, options)
    if kind in ("switch", "choice"):
        return _learn_category(column, options, switch=kind == "switch")
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
        return Learned(reason=COUNTS)
    part = numbers.learn(values, scale, name)
    gaps = part["gaps"]
    if part["low"] == part["high"]:
        return Learned({"kind": "gap"}, gaps=gaps, lost=lost) if gaps else Learned(reason="always the same value")
    return Learned({"kind": "number", "parts": [part], "suffixes": [""], "indicator": gaps > 0}, lost=lost, gaps=gaps)


def _learn_moment(column: Any, name: str, scale: str, spelled: str = "iso") -> Learned:
    """Learn a column of dates or times: the parts that are not always the same."""
    moments, lost = moments_of(column, spelled)
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
    recipe = {"kind": "moment", "parts": parts, "suffixes": kept, "indicator": gaps > 0, "spelled": spelled}
    return Learned(recipe, lost=lost, gaps=gaps)


def _learn_text(column: Any, name: str, options: Options) -> Learned:
    """Learn a column of text: as numbers or dates if nearly all of it can be read so, else as categories or words."""
    text = trimmed_text(column)
    if text.null_count == len(text):
        return Learned(reason="no value at all")
    kind = arrow()[2].mostly(text, MOSTLY)
    if kind.name == "number":
        return _learn_number(column, name, options.scale)
    if kind.name == "text":
        return _learn_category(column, options)
    return _learn_moment(column, name, options.scale, kind.name)


def _learn_category(column: Any, options: Options, *, switch: bool = False) -> Learned:
    """Learn the values of a column of categories, or its words; leave out one with a single value, or hardly any twice."""
    text = texts_of(column).drop_null()
    gaps = len(column) - len(text)
    counts = text.value_counts()
    if len(counts) == 0:
        return Learned(reason="no value at all")
    if len(counts) == 1 and not gaps:
        return Learned(reason="always the same value")
    often = dict(zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True))
    unique = len(text) > FEW_ROWS and len(often) > NEARLY_ALL * len(text)
    free = options.keep_text is not False and words.is_free_text(often, options.max_categories)
    recipe = words.learn(column) if free or (unique and options.keep_text is True) else None
    if recipe is not None:
        return Learned({"kind": "words", **recipe}, gaps=gaps)
    if unique:
        return Learned(reason="text that hardly ever repeats, such as an id or a remark")
    return Learned({"kind": "category", **categories.learn(often, gaps, options.max_categories, switch=switch)}, gaps=gaps)


def width(recipe: Recipe) -> int:
    """Return the number of outputs of a column."""
    return len(suffixes(recipe))


def suffixes(recipe: Recipe) -> list[str]:
    """Return what each output's name adds to the name of the column."""
    if recipe["kind"] == "gap":
        return [" missing"]
    if recipe["kind"] == "category":
        return categories.suffixes(recipe)
    if recipe["kind"] == "words":
        return words.suffixes(recipe)
    return [*recipe["suffixes"], *([" missing"] if recipe["indicator"] else [])]


def write(recipe: Recipe, column: Any, name: str, out: FloatArray) -> Counts:
    """Write the outputs of a column, shape (n, width), into `out`, which holds zeros."""
    if recipe["kind"] == "category":
        return Counts(unseen=categories.write(recipe, column, out))
    if recipe["kind"] == "words":
        out[:] = words.write(recipe, column).toarray()
        return Counts()
    if recipe["kind"] == "moment":
        moments, lost = moments_of(column, recipe.get("spelled", "iso"))
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


def filled(recipe: Recipe) -> float:
    """Return how many outputs of a column differ from 0 in a row, at most or on average."""
    if recipe["kind"] == "words":
        return float(recipe["filled"])
    return 1 if recipe["kind"] in ("category", "gap") else width(recipe)


def learn_matrix(matrix: Matrix, scale: str) -> list[Learned] | None:
    """Return what to do with every column of a matrix or table, shape (n, d); None where they must be looked at one by one."""
    if matrix.shape[1] < MANY_COLUMNS or scale not in ("standard", "none"):
        return None
    values = _at_once(matrix)
    if values is None:
        return None
    counting = np.zeros(values.shape[1], dtype=bool)
    if values is not matrix and is_table(matrix):
        rising = np.flatnonzero((np.diff(values, axis=0) >= 1.0).all(axis=0))
        counting[rising] = [numbers.counts_rows(values[:, j]) for j in rising]
    values = np.asarray(values, dtype=np.float64)
    low, high = values.min(axis=0), values.max(axis=0)
    largest = np.maximum(np.abs(low), np.abs(high))
    usual = (largest <= numbers.EXTREME) & ((largest >= 1.0 / numbers.EXTREME) | (largest == 0.0))
    if not usual.all():  # NaN, infinite, or of an extreme size
        return None
    shift, spread = np.zeros(low.size), np.ones(low.size)
    if scale == "standard":
        shift, spread = values.mean(axis=0), values.std(axis=0)
        spread[spread == 0.0] = 1.0
    parts = (np.median(values, axis=0), low, high, shift, spread)
    learned = [_learned(*column) for column in zip(*(part.tolist() for part in parts), strict=True)]
    return [Learned(reason=COUNTS) if counts else one for counts, one in zip(counting, learned, strict=True)]


def _at_once(block: Any) -> Any:
    """Return numbers without gaps as an array, shape (n, d), also those of a wide table; None for anything else."""
    if isinstance(block, np.ndarray):
        return block
    if not is_table(block) or block.shape[0] * block.shape[1] > FEW_NUMBERS or block.shape[0] < 2:
        return None
    block = as_plain_matrix(block)
    return block if isinstance(block, np.ndarray) else None


def _learned(fill: float, low: float, high: float, shift: float, spread: float) -> Learned:
    """Return the recipe of one column, as `numbers.learn` and `learn` would."""
    if low == high:
        return Learned(reason="always the same value")
    part = {"fill": fill, "gaps": 0, "low": low, "high": high, "huge": False, "unit": 1.0, "shift": shift, "spread": spread}
    return Learned({"kind": "number", "parts": [part], "suffixes": [""], "indicator": False})


def write_matrix(recipes: list[dict[str, Any]], block: Any, out: FloatArray) -> bool:
    """Write the outputs of a block of rows, shape (n, D), if it can be done at once; tell whether it was."""
    if out.shape[1] < MANY_COLUMNS or len(recipes) != out.shape[1]:
        return False
    if any(recipe["kind"] != "number" or recipe["parts"][0].keys() & {"quantiles", "offset"} for recipe in recipes):
        return False
    block = _at_once(block)
    if block is None:
        return False
    parts = [recipe["parts"][0] for recipe in recipes]
    unit, shift, spread = (np.array([part[name] for part in parts]) for name in ("unit", "shift", "spread"))
    values = np.asarray(block[:, [recipe["column"] for recipe in recipes]], dtype=np.float64)
    plain = (shift == 0.0) & (spread == 1.0)
    if (unit != 1.0).any() or (plain.any() and not plain.all()) or not np.isfinite(values).all():
        return False
    if plain.all():
        out[:] = values
    else:
        with np.errstate(over="ignore"):
            np.clip((values - shift) / spread, -numbers.FARTHEST, numbers.FARTHEST, out=out)
    return True


def check_recipes(recipes: Any, groups: list[tuple[str, int, int]], d: int) -> None:
    """Refuse recipes read from a file that encoding cannot follow, or whose outputs are not those of the groups."""
    if not isinstance(recipes, list) or not recipes or len(groups) != len(recipes) or not all(map(_is_recipe, recipes)):
        raise ValueError("TableEncoder: it has no recipes, or one that is none")
    at = 0
    for recipe, (_, first, end) in zip(recipes, groups, strict=True):
        if type(recipe["column"]) is not int or not 0 <= recipe["column"] < d:
            raise ValueError("TableEncoder: there is no such column")
        if (first, end) != (at, at + width(recipe)):
            raise ValueError("TableEncoder: the outputs are not those of the recipes")
        at = end


def _is_recipe(recipe: Any) -> bool:
    """Tell whether encoding can follow a recipe."""
    kind = recipe.get("kind") if isinstance(recipe, dict) else None
    if kind == "category":
        values = recipe.get("values")
        switches = all(isinstance(recipe.get(name), bool) for name in ("other", "missing", "switch"))
        return switches and isinstance(values, list) and all(isinstance(value, str) for value in values)
    if kind == "gap":
        return True
    if kind == "words":
        return words.is_recipe(recipe)
    if kind not in ("number", "moment") or not isinstance(recipe.get("indicator"), bool):
        return False
    parts, suffixes = recipe.get("parts"), recipe.get("suffixes")
    if not (isinstance(parts, list) and isinstance(suffixes, list) and 1 <= len(parts) == len(suffixes)):
        return False
    known = suffixes == [""] if kind == "number" else all(isinstance(one, str) and one[1:] in MOMENTS for one in suffixes)
    return known and all(map(_is_scale, parts))


def _is_scale(part: Any) -> bool:
    """Tell whether a number can be filled and scaled this way."""
    names = ("fill", "unit", "shift", "spread")
    if not isinstance(part, dict) or not all(isinstance(part.get(name), float) and np.isfinite(part[name]) for name in names):
        return False
    quantiles = part.get("quantiles", np.zeros(1))
    array = isinstance(quantiles, np.ndarray) and quantiles.dtype == np.float64 and quantiles.ndim == 1 and quantiles.size > 0
    tail = "tail" not in part or (isinstance(part["tail"], float) and 0.0 < part["tail"] <= 0.5 and "quantiles" in part)
    return array and tail and _is_logarithm(part) and part["unit"] > 0.0 and part["spread"] > 0.0


def _is_logarithm(part: dict[str, Any]) -> bool:
    """Tell whether the logarithm, if one is to be taken, exists for all numbers."""
    if "offset" not in part:
        return "sign" not in part
    end = part.get("low" if part.get("sign") == 1.0 else "high")
    floats = all(isinstance(one, float) for one in (part["offset"], part.get("sign"), end))
    return floats and abs(part["sign"]) == 1.0 and bool(0.0 < part["offset"] + part["sign"] * end < np.inf)
