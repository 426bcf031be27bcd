"""Hints about rows that are not drawn one by one: several of the same individual, or one after another in time.

A column of whole numbers or of words is taken for a repeated individual if some of its values come more than once, at most
`MOST_EACH` times on average, and either its name ends like that of an id (`ID`, `patient_id`, `subject`) or the rows of each
value follow each other, at least two per value on average. These are guesses, so they are notes and change nothing.
"""

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from halfspace.notes import Note

__all__ = ["hints_of"]

FEWEST_ROWS, FEWEST_VALUES = 50, 20
"""Rows, and different values of a column, below which nothing is said."""
MOST_EACH = 50
"""Rows per different value beyond which they are a category."""
MOST_COLUMNS = 200
"""Columns that are looked at; beyond, a table is a matrix of measurements."""
WORDS = "id|subject|patient|person|individual|household|customer|client|user|student|pupil|participant|respondent|animal|family"
NAME = re.compile(rf"(?i:(?:^|[_.\s-])(?:{WORDS})$)|[a-z]I[Dd]$")
"""Names of columns that say whose row it is."""


def hints_of(table: Any) -> tuple[Note, ...]:
    """Say which columns of a table look like repeated individuals, and which hold times.

    Parameters
    ----------
    table : pyarrow.Table, shape (n, d)
        The rows in the order of the file, without the target.

    Returns
    -------
    tuple of Note
        At most one note per column, of kind "individuals" or "times".

    Examples
    --------
    >>> table = pa.table({"dose": [0.5, 1.5] * 40, "patient": [f"p{i // 4}" for i in range(80)]})
    >>> [(note.kind, note.column, note.count) for note in hints_of(table)]
    [('individuals', 'patient', 20)]
    """
    if table.num_rows < FEWEST_ROWS:
        return ()
    notes = []
    for name, column in list(zip(table.column_names, table.columns, strict=True))[:MOST_COLUMNS]:
        if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
            notes.append(Note("times", name))
        elif (values := _individuals(name, column)) > 0:
            notes.append(Note("individuals", name, values, f"{table.num_rows:,}"))
    return tuple(notes)


def _individuals(name: str, column: Any) -> int:
    """Return the number of individuals that a column names, 0 if it does not look like that."""
    if not (pa.types.is_integer(column.type) or pa.types.is_string(column.type)):
        return 0
    known = column.drop_null()
    n = len(known)
    values = pc.count_distinct(known).as_py()
    if n < FEWEST_ROWS or values < FEWEST_VALUES or values == n or MOST_EACH * values < n:
        return 0
    if NAME.search(name):
        return int(values)
    codes = np.concatenate([part.indices.to_numpy() for part in known.dictionary_encode().unify_dictionaries().chunks])
    runs = 1 + int(np.count_nonzero(np.diff(codes)))
    return int(values) if runs == values and n >= 2 * values else 0
