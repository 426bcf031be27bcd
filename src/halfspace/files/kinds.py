"""Kinds of columns: what a column of text holds, for the readers of files and for `TableEncoder` alike.

A column of a file is of the first of these kinds that all its values have, missing ones aside::

    int64  ·  float64  ·  bool (true, false)  ·  dates and times: ISO 8601, with UTC offset, 31.12.2023, 12/31/2023  ·  text

Numbers may be written as people do: 1,234.50 with grouped thousands, $1234.50 or 1234.50 € (one currency per column),
€ 1.234,50, 12.3% (read as 12.3, if all values of the column have the sign), (123) for -123.

The encoder asks the same of text in memory, and lets a few values be unreadable. `Columns.learn` sees the blocks of a file one
by one, so that a sample has the types of the whole; `Columns.typed` casts what was kept as text once all blocks have been seen.

Dates with slashes are day/month or month/day, whichever all rows allow; where they allow both, month/day, with a note.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from halfspace._clock import in_time
from halfspace.files.opening import OpenedFile
from halfspace.notes import Note

__all__ = ["MISSING", "Columns", "Kind", "TextReader", "concatenated", "lenient", "mostly", "plain_schema", "unique_names"]

MISSING = ("", "NA", "N/A", "n/a", "#N/A", "#NA", "NaN", "nan", "-nan", "-NaN", "NULL", "null", "?")
"""Spellings of a missing value in CSV files, after white space is stripped."""


class Kind(NamedTuple):
    """A kind of value: its type, how text of this kind looks, and for dates in which order (a regular expression's groups)."""

    name: str
    type: Any
    pattern: str = ""
    iso: str = ""


TIME = r"([ T]\d\d:\d\d(:\d\d(\.\d+)?)?)?$"
SLASHES = r"^(\d{1,2})/(\d{1,2})/(\d{4})" + TIME
NOTHING, TEXT = Kind("nothing", pa.null()), Kind("text", pa.string())
WHOLE = Kind("whole", pa.int64())
NUMBER = Kind("number", pa.float64(), r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
PERCENT = Kind("percent", pa.float64(), r"^[+-]?(\d+\.?\d*|\.\d+)\s?%$")
COMMA = Kind("comma", pa.float64(), r"^[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?$")
TRUTH = Kind("truth", pa.bool_())
ISO = Kind("iso", pa.timestamp("us"), r"^(\d{4})-(\d\d)-(\d\d)([ T]\d\d:\d\d(:\d\d(\.\d+)?)?Z?)?$")
OFFSET = Kind("offset", pa.timestamp("us", "UTC"))
DOTS = Kind("day.month", pa.timestamp("us"), r"^(\d{1,2})\.(\d{1,2})\.(\d{4})" + TIME, r"\3-\2-\1\4")
DAY_FIRST = Kind("day/month", pa.timestamp("us"), SLASHES, r"\3-\2-\1\4")
MONTH_FIRST = Kind("month/day", pa.timestamp("us"), SLASHES, r"\3-\1-\2\4")
EITHER = MONTH_FIRST._replace(name="either")
DATES = (ISO, OFFSET, DOTS, EITHER, MONTH_FIRST, DAY_FIRST)
KINDS = (WHOLE, NUMBER, PERCENT, TRUTH, *DATES)
NUMBERS = (WHOLE, NUMBER, PERCENT, COMMA)
SPELLED = {kind.name: kind for kind in (ISO, DOTS, MONTH_FIRST, DAY_FIRST)}
CODE = r"^[+-]?0\d"
WORD = r"^[ \t]*[A-Za-z]+[ \t]*$"
NO_WORD = r"(?i)^[ \t]*(true|false|yes|no|inf|infinity|nan|na|nat|none|null|[fnty])[ \t]*$"
"""Letters alone that may stand for something else than a word."""
MANY_COLUMNS, FEW_ROWS = 100, 1000
"""Columns from which, and rows up to which, a block is looked at as a whole."""
SURE_DIGITS = 15
"""Every whole number of so many digits is a float."""
GROUPED = {".": (",", r"^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$"), ",": (".", r"^[+-]?\d{1,3}(\.\d{3})+(,\d+)?$")}
"""By decimal mark: the character that groups thousands, and numbers that have it."""
SIGNS, BLANK = "$€£¥", r"[\s\x{a0}\x{202f}]?"
BEFORE, BEHIND = rf"^([+-]?){BLANK}[{SIGNS}]{BLANK}([+-]?[\d.,]+)$", rf"^([+-]?[\d.,]+){BLANK}[{SIGNS}]$"
OWED = rf"^\({BLANK}([{SIGNS}]?{BLANK}[\d.,]+{BLANK}[{SIGNS}%]?){BLANK}\)$"
"""Amounts with their currency, and debts in parentheses."""
POINTED = r"^[+-]?\d{1,3}(\.\d{3})+,\d+$"


WIDER = {(WHOLE, NUMBER), (WHOLE, COMMA), (EITHER, DAY_FIRST), (EITHER, MONTH_FIRST)}
"""Kinds, and those that hold all their values."""


def _iso(text: Any, kind: Kind) -> Any:
    """Return dates in ISO order, two digits for day and month."""
    text = pc.replace_substring_regex(text, kind.pattern, kind.iso)
    text = pc.replace_substring_regex(text, r"^(\d{4})-(\d)-", r"\1-0\2-")
    return pc.replace_substring_regex(text, r"^(\d{4}-\d\d)-(\d)([ T]|$)", r"\1-0\2\3")


def _some_false(mask: Any) -> bool:
    return pc.all(mask).as_py() is False  # of no values at all it is None


def _strict(text: Any, kind: Kind) -> Any:
    """Cast text, or return None if some value is not of the kind."""
    if kind is EITHER and _strict(text, DAY_FIRST) is None:
        return None
    if kind in {WHOLE, NUMBER} and pc.any(pc.match_substring_regex(text, CODE)).as_py():  # 007 is a code, not a number
        return None
    if kind is TRUTH and _some_false(pc.is_in(pc.utf8_lower(text.drop_null()), value_set=pa.array(["true", "false"]))):
        return None
    if kind in {PERCENT, COMMA}:
        if _some_false(pc.match_substring_regex(text, kind.pattern)):
            return None
        text = (
            _without_percent(text) if kind is PERCENT else pc.replace_substring(pc.replace_substring(text, ".", ""), ",", ".")
        )
    if kind.iso:
        if _some_false(pc.match_substring_regex(text, kind.pattern)):
            return None
        text = _iso(text, kind)
    try:
        return pc.cast(text, kind.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _without_percent(text: Any) -> Any:
    return pc.replace_substring_regex(text, rf"{BLANK}%$", "")


def _is_plain(text: Any) -> bool:
    """Tell whether all values are numbers as machines write them, with a decimal point, or null."""
    try:
        return not pc.any(pc.is_nan(pc.cast(text, pa.float64()))).as_py()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False


def unmarked(text: Any) -> Any:
    """Return amounts without their currency, and debts in parentheses as negative numbers; other text as it is."""
    text = pc.replace_substring_regex(text, OWED, r"-\1")
    text = pc.replace_substring_regex(text, BEFORE, r"\1\2")
    return pc.replace_substring_regex(text, BEHIND, r"\1")


def signs_in(text: Any) -> set[str]:
    """Return the currency signs of amounts."""
    amounts = text.filter(pc.match_substring_regex(text, f"{BEFORE}|{BEHIND}|{OWED}"))
    return {sign for sign in SIGNS if pc.any(pc.match_substring(amounts, sign)).as_py()}


def plain_numbers(text: Any) -> Any:
    """Return numbers as people write them (1,234.50, $5, 12.3%, (5)) as plain ones, value by value, with a decimal point."""
    if not pc.any(pc.match_substring_regex(text, r"[,%()$€£¥]")).as_py():
        return text
    text = unmarked(_without_percent(text))
    return pc.if_else(pc.match_substring_regex(text, GROUPED["."][1]), pc.replace_substring(text, ",", ""), text)


def _compare(text: Any) -> bool:
    """Tell whether numbers in text are of one currency at most, and percentages all or none."""
    shares = pc.match_substring_regex(text, PERCENT.pattern)
    return len(signs_in(text)) < 2 and (pc.all(shares).as_py() or not pc.any(shares).as_py())


def lenient(text: Any, kind: Kind) -> Any:
    """Cast text to numbers or dates, null where a value is not of the kind."""
    text = pc.if_else(pc.match_substring_regex(text, kind.pattern), text, pa.scalar(None, text.type))
    if kind.name != "number":
        text = _iso(pc.replace_substring(text, "Z", ""), kind) if kind.iso else pc.replace_substring(text, "Z", "")
    try:
        return pc.cast(text, kind.type)
    except pa.ArrowInvalid:  # dates that no calendar has
        chunks = text.chunks if isinstance(text, pa.ChunkedArray) else [text]
        return pa.chunked_array([_one_by_one(chunk, kind.type) for chunk in chunks], type=kind.type)


def _one_by_one(text: Any, type_: Any) -> Any:
    """Cast value by value."""

    def cast(value: Any) -> Any:
        try:
            return value.cast(type_).as_py()
        except pa.ArrowInvalid:
            return None

    return pa.array([cast(value) for value in text], type=type_)


def mostly(text: Any, share: float) -> Kind:
    """Return the kind that more than a share of the values have: numbers, or dates in one order; else text."""
    most = (1.0 - share) * (len(text) - text.null_count)
    codes = pc.sum(pc.match_substring_regex(text, CODE)).as_py() or 0
    for kind in (NUMBER, *SPELLED.values()):
        spelled = plain_numbers(text) if kind is NUMBER and _compare(text) else text
        unreadable = lenient(spelled, kind).null_count - text.null_count + codes
        if unreadable < most:
            other = lenient(text, DAY_FIRST).null_count - text.null_count if kind is MONTH_FIRST else unreadable
            return DAY_FIRST if other < unreadable else kind
        codes = 0
    return TEXT


def _kind_of(text: Any, kinds: Iterable[Kind]) -> Kind:
    """Return the first kind that all values have; nothing if there are none."""
    if text.null_count == len(text):
        return NOTHING
    return next((kind for kind in kinds if _strict(text, kind) is not None), TEXT)


def _is_pointed(text: Any, signs: set[str]) -> bool:
    """Tell whether numbers can only have a decimal comma: 1.234,50, or 12,50 with a currency."""
    sure = pc.any(pc.match_substring_regex(text, POINTED)).as_py()
    cents = bool(signs) and pc.any(pc.match_substring_regex(text, r",\d{2}$")).as_py()
    return bool(sure or cents)


def _joined(first: Kind, second: Kind) -> Kind:
    """Return the narrowest kind that holds both: whole numbers are numbers, everything is text."""
    for one, other in ((first, second), (second, first)):
        if one in {NOTHING, other} or (one, other) in WIDER:
            return other
    return TEXT


def _is_wide(columns: int, rows: int) -> bool:
    """Tell whether a block has so many short columns that looking at each by itself would take most of the time."""
    return columns >= MANY_COLUMNS and 0 < rows <= FEW_ROWS


def _end_to_end(columns: list[Any]) -> Any:
    """Return columns of text as one array, one after another."""
    return pa.concat_arrays([part for column in columns for part in getattr(column, "chunks", [column])])


def _plain(columns: dict[str, Any], rows: int) -> dict[str, Kind]:
    """Return the columns of a wide block that are plain numbers, whole or not, or words, found by one look at all of them.

    What is found here is what `_kind_of` would find; what is not found may be of such a kind all the same, written otherwise.
    """
    if not _is_wide(len(columns), rows):
        return {}
    text, shape, found = _end_to_end(list(columns.values())), (len(columns), rows), dict[str, Kind]()

    def each(pattern: str) -> Any:
        return np.asarray(pc.fill_null(pc.match_substring_regex(text, pattern), fill_value=True)).reshape(shape)

    filled = np.asarray(text.is_valid()).reshape(shape)
    usual = filled.any(axis=1) & ~(each(CODE) & filled).any(axis=1)
    whole = usual & each(r"^[+-]?\d{1,18}$").all(axis=1)
    number = usual & each(NUMBER.pattern).all(axis=1) & (each("[.eE]") & filled).any(axis=1)
    names = list(columns)
    words = (each(WORD) & ~each(NO_WORD) & filled).any(axis=1)
    found |= {names[k]: TEXT for k in np.flatnonzero(words)}
    for kind, mask in ((WHOLE, whole), (NUMBER, number)):
        chosen = [names[k] for k in np.flatnonzero(mask)]
        if chosen and _strict(_end_to_end([columns[name] for name in chosen]), kind) is not None:
            found |= dict.fromkeys(chosen, kind)
    return found


class Columns:
    """The kinds of the columns of a file, as far as its rows have been seen.

    Parameters
    ----------
    notes : list of Note
        Where to say what was assumed.
    trim : callable, default: nothing is done
        Strips white space and makes missing values null.
    decimal : {".", ","}
        The decimal mark; the other one may group thousands.
    texts, day_first : frozenset of str
        Columns that stay text whatever they hold, and those whose dates are day/month where both orders fit.
    """

    def __init__(self, notes: list[Note], trim: Callable[[Any], Any] = lambda text: text, decimal: str = ".") -> None:
        self._notes, self.trim, self._decimal = notes, trim, decimal
        self.texts: frozenset[str] = frozenset()
        self.day_first: frozenset[str] = frozenset()
        self.kinds: dict[str, Kind] = {}
        self._signs: dict[str, set[str]] = {}

    def learn(self, table: Any, texts: frozenset[str] = frozenset()) -> None:
        """Take the values of one block into account; columns named in `texts` hold words even where they look like numbers."""
        columns = dict(zip(table.column_names, table.columns, strict=True))
        plain = {name: kind for name, kind in _plain(columns, table.num_rows).items() if name not in texts}
        for k, (name, text) in enumerate(columns.items()):
            in_time(k, len(columns))
            known = self.kinds.setdefault(name, TEXT if name in self.texts else NOTHING)
            if name in plain and (plain[name] is TEXT or known in {NOTHING, WHOLE, NUMBER}):
                self.kinds[name] = _joined(known, plain[name])
            elif known is not TEXT and (known is NOTHING or name in texts or _strict(text, known) is None):
                self.kinds[name] = _joined(known, self._found(name, text, DATES if name in texts else KINDS))

    def _found(self, name: str, text: Any, kinds: Iterable[Kind]) -> Kind:
        """Return the kind of a block of a column; most need no cleaning, which takes longer than the casts."""
        found = _kind_of(text, kinds)
        for clean in (self.trim, self.respelled, _without_dashes) if found is TEXT else ():
            text = clean(text)
            found = _kind_of(text, kinds)
            if found is not TEXT:
                return found
        return self._marked(name, text) if found is TEXT and kinds is KINDS else found

    def _marked(self, name: str, text: Any) -> Kind:
        """Return the kind of amounts of money and of debts, without dashes; text if there are several currencies."""
        signs = self._signs.setdefault(name, set())
        signs |= signs_in(text)
        text = unmarked(text)
        sure = self.kinds[name] is COMMA or _is_pointed(text, signs)
        if self._decimal == "." and sure and _strict(text, COMMA) is not None:
            return COMMA
        found = _kind_of(self.respelled(text), (WHOLE, NUMBER, PERCENT))
        return TEXT if len(signs) > 1 else found

    def respelled(self, text: Any) -> Any:
        """Return numbers without grouped thousands, and with a decimal point."""
        mark, grouped = GROUPED[self._decimal]
        text = pc.if_else(pc.match_substring_regex(text, grouped), pc.replace_substring(text, mark, ""), text)
        return text if self._decimal == "." else pc.replace_substring_regex(text, r"^([+-]?\d+),(\d+\s?%?)$", r"\1.\2")

    def cleaned(self, text: Any) -> Any:
        """Return numbers spelled plainly, whatever else there is as it is, and what is missing as null."""
        if self._decimal == "." and _is_plain(text):  # a cast takes a tenth of the time
            return text
        return _without_percent(self.respelled(unmarked(self.trim(text))))

    def in_day_first(self) -> tuple[str, ...]:
        """Return the columns whose dates with slashes are day/month."""
        return tuple(n for n, kind in self.kinds.items() if kind is DAY_FIRST or (kind is EITHER and n in self.day_first))

    def typed(self, table: Any) -> Any:
        """Cast a block of text to the types learnt; columns that this block lacks are missing in all its rows."""
        given = dict(zip(table.column_names, table.columns, strict=True))
        arrays, cast = [], self._cast_together(given, table.num_rows)
        for k, (name, kind) in enumerate(self.kinds.items()):
            in_time(k, len(self.kinds))
            if name in cast:
                arrays.append(cast[name])
            elif kind is NOTHING or name not in given:
                arrays.append(pa.nulls(table.num_rows, kind.type))
            elif kind is TEXT:
                arrays.append(self.trim(given[name]))
            else:
                arrays.append(self._typed(name, given[name], kind))
        return pa.table(arrays, names=list(self.kinds))

    def _cast_together(self, given: dict[str, Any], n: int) -> dict[str, Any]:
        """Return the columns of a wide block that are plain numbers throughout, cast at once."""
        if not _is_wide(len(given), n):
            return {}
        found: dict[str, Any] = {}
        for kind in (WHOLE, NUMBER):
            names = [name for name, own in self.kinds.items() if own is kind and name in given]
            values = _strict(_end_to_end([given[name] for name in names]), kind) if names else None
            if values is not None:
                found |= {name: values.slice(k * n, n) for k, name in enumerate(names)}
        return found

    def _typed(self, name: str, text: Any, kind: Kind) -> Any:
        """Cast a column to its kind, cleaned if it must be."""
        self._notes += [Note("percent", name)] * (kind is PERCENT) + [Note("comma", name)] * (kind is COMMA)
        if kind is EITHER:
            kind = DAY_FIRST if name in self.day_first else MONTH_FIRST
            self._notes += [Note("date order", name)] * (name not in self.day_first)
        plain = _strict(text, kind)
        if plain is not None:
            return plain
        trimmed = self.trim(text)
        if kind not in NUMBERS:
            return _strict(_without_dashes(trimmed), kind)
        plain = unmarked(_without_dashes(trimmed))
        mark, grouped = GROUPED[self._decimal]
        said = {
            "grouped": (mark, kind is not COMMA and pc.any(pc.match_substring_regex(plain, grouped)).as_py()),
            "currency": ("".join(sorted(self._signs.get(name, ()))), bool(self._signs.get(name))),
            "owed": ("", pc.any(pc.match_substring_regex(trimmed, OWED)).as_py()),
        }
        self._notes += [Note(what, name, detail=detail) for what, (detail, holds) in said.items() if holds]
        return _strict(plain if kind is COMMA else self.respelled(plain), kind)


def _without_dashes(text: Any) -> Any:
    """Make a lone dash missing: it is that among numbers, dates and truth values, but a word among words."""
    return pc.if_else(pc.equal(text, "-"), pa.scalar(None, pa.string()), text)


class TextReader:
    """What readers of formats without types share; see `halfspace.files.reading.Reader` for what the members mean."""

    settled = False
    details: tuple[str, ...] = ()
    names: tuple[str, ...]
    columns: Columns

    def __init__(self, file: OpenedFile) -> None:
        self.file = file
        self.notes: list[Note] = []

    def join(self, pieces: list[Any]) -> Any:
        """Return one table with the types of the whole file."""
        return concatenated([self.columns.typed(pieces.pop(0)).select(self.names) for _ in range(len(pieces))])

    def cleaned(self, column: Any) -> Any:
        """Return a column of a piece with all that is missing in it null."""
        return self.columns.cleaned(column)


def concatenated(tables: list[Any]) -> Any:
    """Put tables one below the other; a column that one lacks is missing there."""
    return tables[0] if len(tables) == 1 else pa.concat_tables(tables, promote_options="permissive")


def unique_names(names: Iterable[str], notes: list[Note]) -> list[str]:
    """Name nameless columns by their place, and number repeated names."""
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


def plain_schema(schema: Any, notes: list[Note]) -> Any:
    """Return the columns that a table can use, with plain types: nested and binary ones are left out."""
    fields = []
    for field in schema:
        kind = _plain_type(field.type)
        if kind is None:
            notes.append(Note("nested", field.name, detail=str(field.type)))
        else:
            fields.append(pa.field(field.name, kind))
    return pa.schema(fields)


def _plain_type(kind: Any) -> Any:
    """Return the plain type that holds such values, or None if there is none."""
    t = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return _plain_type(kind.storage_type)
    if t.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if t.is_large_string(kind) or t.is_string_view(kind):
        return pa.string()
    if t.is_decimal(kind):  # those of long whole numbers, such as ids, stay as they are
        return kind if kind.scale <= 0 and kind.precision > SURE_DIGITS else pa.float64()
    if t.is_float16(kind):
        return pa.float64()
    if t.is_nested(kind) or t.is_binary(kind) or t.is_large_binary(kind) or t.is_fixed_size_binary(kind):
        return None
    return kind
