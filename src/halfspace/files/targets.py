"""Targets: which column holds the labels, and labels from its values.

Bools stay bools, whole numbers (also written 1.0) become int64, words become strings. A column with one class, with dates, with
a quantity or with a different name in every row is refused.
"""

import difflib
from collections.abc import Sequence
from typing import Any

import numpy as np

from halfspace._text import listed
from halfspace._typing import IntArray, Labels
from halfspace.errors import FileError, InputError

__all__ = ["coded", "column_named", "is_whole", "labels_of"]

MANY = 20
"""Classes above which a column may be a quantity or an id."""
LONGEST_LABEL = 200
LARGEST_WHOLE = 2.0**53
"""Beyond, neighbouring whole numbers are the same double."""


def column_named(target: str | int | None, names: tuple[str, ...], file: str, again: Sequence[str] = ()) -> str:
    """Return the name of the target column: `target` itself, or the column at that place (from 0; -1 is the last).

    `again` holds the names given to further columns that the file calls by the name of the target: which one is meant?
    """
    columns = listed(names, 20)
    if target is None:
        msg = f"{file}: name the column that holds the classes with --target (target=); the columns are: {columns}."
        raise FileError(msg)
    text = str(target)
    if text in names and again:
        places = " or ".join(str(names.index(name)) for name in (text, *again))
        msg = f"{file}: {1 + len(again)} columns are named {text!r}; say which one by its number: --target {places}."
        raise FileError(msg)
    if text in names:
        return text
    place = int(text) if text.removeprefix("-").isdecimal() else None
    if place is not None and -len(names) <= place < len(names):
        return names[place]
    close = difflib.get_close_matches(text, names, n=1) or [n for n in names if n.lower() == text.lower()]
    hint = f"did you mean {close[0]!r}? The" if close else "the"
    msg = f"{file}: there is no column {text!r}; {hint} columns are: {columns}."
    raise FileError(msg)


def is_whole(values: Any) -> bool:
    """Tell whether all numbers are whole; what is not a number does not count as whole."""
    try:
        numbers = np.asarray(values.cast("float64") if hasattr(values, "cast") else values, dtype=float)
    except (ValueError, TypeError, NotImplementedError):
        return False
    return bool(np.all((np.abs(numbers) < LARGEST_WHOLE) & (numbers == np.floor(numbers))))


def coded(column: Any, name: str = "the target") -> tuple[IntArray, Labels]:
    """Split a column without missing values into codes (n,) and the distinct values (K,) they stand for."""
    if not hasattr(column, "dictionary_encode"):
        values, codes = np.unique(column, return_inverse=True)
        return codes, values
    kind = str(column.type)
    if kind.startswith(("timestamp", "date", "time", "duration")):
        msg = f"{name} holds {kind} values; expected classes: words, whole numbers or true and false."
        raise InputError(msg)
    encoded = column.dictionary_encode().unify_dictionaries()
    codes = np.concatenate([chunk.indices.to_numpy(zero_copy_only=False) for chunk in encoded.chunks] or [np.empty(0, int)])
    words = encoded.chunk(0).dictionary if encoded.num_chunks else column
    if kind == "string" and (longest := max(map(len, words.to_pylist()), default=0)) > LONGEST_LABEL:
        msg = f"{name} holds text of up to {longest} characters; expected names of classes."
        raise InputError(msg)
    return codes.astype(np.int64), np.array(words.to_pylist()) if kind in {"string", "bool"} else words.to_numpy()


def labels_of(codes: IntArray, values: Labels, *, whole: bool, name: str, check: bool = True) -> Labels:
    """Return the labels, or say why the target holds no classes."""
    if check:
        _refuse_what_is_no_class(codes.size, values, whole=whole, name=name)
    if values.dtype.kind in "bU":
        return np.asarray(values[codes])
    if values.dtype.kind == "i" or whole:
        return np.asarray(values.astype(np.int64)[codes])
    return np.array([str(value) for value in values.tolist()])[codes]


def _refuse_what_is_no_class(n: int, values: Labels, *, whole: bool, name: str) -> None:
    """Raise the sentence that fits, if one does."""
    many = f"{values.size:,} different values in {n:,} rows"
    if n == 0:
        msg = f"{name} has no values; expected a class for every row."
    elif values.size == 1:
        msg = f"{name} has only one class, {values[0]}; expected at least two."
    elif values.dtype.kind == "f" and not whole and values.size > MANY:
        msg = f"{name} looks like a quantity, not classes ({many}); bin it into classes first; regression is not supported."
    elif values.size > MANY and values.size > n / 2:
        msg = f"{name} looks like an id or a quantity, not classes ({many}); choose another target."
    else:
        return
    raise InputError(msg)
