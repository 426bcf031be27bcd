"""Columns of text find their types: from all rows of the file, so that a sample has the types of the whole.

A column is of the first of these that all its values are, missing ones aside::

    bool (true, false)  ·  int64  ·  float64  ·  timestamp (ISO 8601)  ·  timestamp in UTC  ·  string

`Columns.learn` sees the pieces of a file one by one; `Columns.typed` casts pieces kept as text when all have been seen.
"""

from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from halfspace.notes import Note

__all__ = ["MISSING", "Columns", "concatenated", "nothing_nested", "unique_names"]

MISSING = ("", "NA", "N/A", "n/a", "#N/A", "#NA", "NaN", "nan", "-nan", "-NaN", "NULL", "null", "?")
"""Spellings of a missing value in CSV files, after white space is taken off."""

NUMBERS = {pa.int64(), pa.float64()}
CODE = r"^[+-]?0\d"
TRUTHS = pa.array(["true", "false"])
TYPES = (pa.int64(), pa.float64(), pa.bool_(), pa.timestamp("us"), pa.timestamp("us", "UTC"))


def _cast(column: Any, kind: Any) -> Any:
    """Cast text to a type, or return None if some value is not of it; a code such as 007 is not a number."""
    if kind in NUMBERS and pc.any(pc.match_substring_regex(column, CODE)).as_py():
        return None
    if kind == pa.bool_() and not pc.all(pc.is_in(pc.utf8_lower(column.drop_null()), value_set=TRUTHS)).as_py():
        return None
    try:
        return pc.cast(column, kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _kind_of(column: Any, kinds: Iterable[Any]) -> Any:
    """Return the first type that all values have; the null type if there are none."""
    if column.null_count == len(column):
        return pa.null()
    return next((kind for kind in kinds if _cast(column, kind) is not None), pa.string())


class Columns:
    """The types of the columns of a file, as far as its rows have been seen.

    Parameters
    ----------
    clean : callable, default: nothing is done
        Makes a text column ready for the casts, e.g. takes white space off.
    texts : frozenset of str
        Columns that stay text whatever is in them.

    Examples
    --------
    >>> columns = Columns()
    >>> columns.learn(pa.table({"a": ["1", "2"], "b": ["x", None]}))
    >>> columns.learn(pa.table({"a": ["2.5", None], "b": ["1", "2"]}))
    >>> columns.typed(pa.table({"a": ["1"], "b": ["1"]})).schema.types
    [DataType(double), DataType(string)]
    """

    def __init__(self, clean: Callable[[Any], Any] = lambda column: column, texts: frozenset[str] = frozenset()) -> None:
        self._clean = clean
        self.texts = texts
        self.kinds: dict[str, Any] = {}

    def learn(self, table: Any, texts: frozenset[str] = frozenset()) -> None:
        """Take the values of one piece into account; columns named in `texts` hold words even where they look like numbers."""
        for name, column in zip(table.column_names, table.columns, strict=True):
            known = self.kinds.setdefault(name, pa.string() if name in self.texts else pa.null())
            if known != pa.string() and (known == pa.null() or name in texts or _cast(column, known) is None):
                self.kinds[name] = _joined(known, self._found(column, TYPES[3:] if name in texts else TYPES))

    def _found(self, column: Any, kinds: Iterable[Any]) -> Any:
        """Return the type of a column; most need no cleaning, which takes longer than the casts."""
        found = _kind_of(column, kinds)
        if found == pa.string():
            column = self._clean(column)
            found = _kind_of(column, kinds)
        return _kind_of(_without_dashes(column), kinds) if found == pa.string() else found

    def typed(self, table: Any) -> Any:
        """Cast a piece of text to the types learnt; columns that this piece lacks are missing in all its rows."""
        given = dict(zip(table.column_names, table.columns, strict=True))
        arrays = []
        for name, kind in self.kinds.items():
            if kind == pa.null() or name not in given:
                arrays.append(pa.nulls(table.num_rows, kind))
            else:
                plain = None if kind == pa.string() else _cast(given[name], kind)
                arrays.append(self._typed(given[name], kind) if plain is None else plain)
        return pa.table(arrays, names=list(self.kinds))

    def _typed(self, column: Any, kind: Any) -> Any:
        """Cast a column that needs cleaning."""
        cleaned = self._clean(column)
        return cleaned if kind == pa.string() else pc.cast(_without_dashes(cleaned), kind)


def _without_dashes(column: Any) -> Any:
    """Make a lone dash missing: it is that among numbers, dates and truth values, but a word among words."""
    return pc.if_else(pc.equal(column, "-"), pa.scalar(None, pa.string()), column)


def _joined(first: Any, second: Any) -> Any:
    """Return the narrowest type that holds both: whole numbers are numbers, everything is text."""
    if first in {pa.null(), second}:
        return second
    if second == pa.null():
        return first
    return pa.float64() if {first, second} == NUMBERS else pa.string()


def concatenated(tables: list[Any]) -> Any:
    """Put tables one below the other; a column that one lacks is missing there."""
    return tables[0] if len(tables) == 1 else pa.concat_tables(tables, promote_options="permissive")


def unique_names(names: Iterable[str], notes: list[Note]) -> list[str]:
    """Name nameless columns by their place, and number names that come again.

    Examples
    --------
    >>> unique_names(["a", "", "a"], [])
    ['a', 'x1', 'a.1']
    """
    taken: dict[str, None] = {}
    given = [name.strip() for name in names]
    reserved = set(given)
    for place, name in enumerate(given):
        unique, count = name or f"x{place}", 1
        while unique in taken or (unique != name and unique in reserved):
            unique, count = f"{name or f'x{place}'}.{count}", count + 1
        if unique != name:
            notes.append(Note("renamed", unique, detail=name) if name else Note("nameless", unique, place + 1))
        taken[unique] = None
    return list(taken)


def nothing_nested(schema: Any, notes: list[Note]) -> tuple[list[str], Any]:
    """Return the columns that a table can use and the schema of their plain types: nested and binary ones are left out."""
    names, fields = [], []
    for field in schema:
        kind = _plain(field.type)
        if kind is None:
            notes.append(Note("nested", field.name, detail=str(field.type)))
        else:
            names.append(field.name)
            fields.append(pa.field(field.name, kind))
    return names, pa.schema(fields)


def _plain(kind: Any) -> Any:
    """Return the plain type that holds such values, or None if there is none."""
    t = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return _plain(kind.storage_type)
    if t.is_dictionary(kind):
        return _plain(kind.value_type)
    if t.is_large_string(kind) or t.is_string_view(kind):
        return pa.string()
    if t.is_decimal(kind) or t.is_float16(kind) or t.is_uint64(kind):
        return pa.float64()
    if t.is_nested(kind) or t.is_binary(kind) or t.is_large_binary(kind) or t.is_fixed_size_binary(kind):
        return None
    return kind
