"""The dialect of a CSV file, guessed from its first rows: delimiter, decimal mark, header."""

import csv
import io
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass

from halfspace.files.columns import MISSING

__all__ = ["Dialect", "dialect_of"]

DELIMITERS = "\t;|, "
"""In the order of preference where several divide the rows equally well: the rarer within values comes first."""

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf", re.IGNORECASE)
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


@dataclass(frozen=True)
class Dialect:
    r"""How the rows of a CSV file are written.

    Parameters
    ----------
    delimiter : str
        One character.
    decimal : str
        "." or ",".
    header : tuple of str
        The names in the first row, or empty if the first row holds values.
    n_fields : int
        Fields in the first row.

    Examples
    --------
    >>> dialect_of("a;b\n1,5;2\n")
    Dialect(delimiter=';', decimal=',', header=('a', 'b'), n_fields=2)
    """

    delimiter: str
    decimal: str
    header: tuple[str, ...]
    n_fields: int


def dialect_of(head: str, delimiters: str = DELIMITERS) -> Dialect:
    r"""Guess the dialect from the first lines of a file.

    Parameters
    ----------
    head : str
        Whole lines.
    delimiters : str
        Candidates.

    Returns
    -------
    Dialect
        The delimiter is the one for which most rows have equally many fields, at least two.

    Examples
    --------
    >>> dialect_of("1,2\n3,4\n").header
    ()
    """
    parsed = {delimiter: _rows(head, delimiter) for delimiter in delimiters}
    if " " in parsed and len({len(row) for row in parsed[" "]}) > 1:
        parsed[" "] = []  # words in a text divide rows, but not all alike
    best = max(delimiters, key=lambda delimiter: _agreement(parsed[delimiter]))
    if _agreement(parsed[best]) == 0.0:
        best = "," if "," in parsed else delimiters[0]
    rows = parsed[best] or _rows(head, best)
    fields = [cell for row in rows[1:] for cell in row]
    comma = best == ";" and any(map(DECIMAL_COMMA.fullmatch, fields)) and not any("." in f and _is_number(f) for f in fields)
    if comma:
        rows = [[cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell for cell in row] for row in rows]
    first = rows[0] if rows else []
    header = tuple(first) if _is_header(rows) else ()
    return Dialect(best, "," if comma else ".", header, len(first))


def _rows(head: str, delimiter: str) -> list[list[str]]:
    """Split lines into rows of trimmed cells; the csv module stops where a field is beyond its limit."""
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows.extend(map(_trimmed, csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)))
    return [row for row in rows if row]


def _trimmed(row: list[str]) -> list[str]:
    return [cell.strip() for cell in row]


def _agreement(rows: list[list[str]]) -> float:
    """Return the share of rows that have the commonest number of fields, or 0 if that is one field.

    Nine tenths are as good as all: a header without decimal commas and a broken row must not decide.
    """
    if not rows:
        return 0.0
    (fields, count), *_ = Counter(map(len, rows)).most_common(1)
    share = count / len(rows) if fields > 1 else 0.0
    return 1.0 if share >= 0.9 else share


def _is_number(cell: str) -> bool:
    return NUMBER.fullmatch(cell) is not None


def _is_header(rows: list[list[str]]) -> bool:
    """Tell whether the first row names the columns: words above numbers, or words that never come again.

    Columns that pandas named by their place, 0, 1, 2, ..., count as named if they are so many that it is no chance.
    """
    if not rows:
        return False
    first, rest = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    places = first if first[0] else first[1:]
    if places == [str(i) for i in range(len(places))] and (len(places) > 4 or not first[0]):
        return True
    if not rest:
        return not any(map(_is_number, first))
    columns = [[cell for cell in column if cell not in MISSING] for column in zip(*rest, strict=True)]
    numeric = [bool(column) and all(map(_is_number, column)) for column in columns]
    above = [_is_number(cell) for cell, is_numeric in zip(first, numeric, strict=True) if is_numeric]
    named = [cell not in MISSING for cell, is_numeric in zip(first, numeric, strict=True) if is_numeric]
    if above:
        words = sum(name and not number for name, number in zip(named, above, strict=True))
        return words > sum(above)
    if any(map(_is_number, first)):
        return False
    return len(set(first)) == len(first) and not any(cell in column for cell, column in zip(first, columns, strict=True))
