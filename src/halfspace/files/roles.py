"""Columns that are no inputs, or not only: left out, the name of a row, whose row it is, and when it was.

drop    left out.
id      names a row: kept beside the inputs for the predictions.
group   whose row it is: no input, for a model that knows an individual need not know what is common to all. A missing value is
        a group of its own.
time    when it was: dates, times or numbers, none missing. It stays an input: month, weekday and trend may carry something, and
        validation forwards in time says whether they do.
"""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from halfspace._typing import IntArray
from halfspace.errors import InputError
from halfspace.files.targets import column_named

__all__ = ["Aside", "Roles"]


class Aside(NamedTuple):
    """What stands beside the inputs.

    Parameters
    ----------
    X : pyarrow.Table, shape (n, d)
        The inputs.
    ids : pyarrow.ChunkedArray, shape (n,), or None
        Names of the rows.
    groups : ndarray of int64, shape (n,), or None
        Number of each row's group, in order of first appearance.
    times : ndarray of float64 or datetime64, shape (n,), or None
        When each row was.
    """

    X: Any
    ids: Any = None
    groups: IntArray | None = None
    times: Any = None


class Roles(NamedTuple):
    """Names or places of columns; None or empty for none."""

    drop: tuple[str, ...] = ()
    id: str | None = None
    group: str | None = None
    time: str | None = None

    @classmethod
    def named(cls, names: tuple[str, ...], file: str, target: str | None, **given: Any) -> "Roles":
        """Find columns as given (`drop`, `id`, `group`, `time`) among the names of a file; refuse what is not there."""
        drop = given.pop("drop", ())
        left_out = [column_named(column, names, file) for column in ((drop,) if isinstance(drop, str | int) else drop)]
        found = {role: column_named(column, names, file) for role, column in given.items() if column is not None}
        roles = cls(tuple(left_out), **found)
        for role, column in (*(("drop", column) for column in left_out), *found.items()):
            if column == target:
                msg = f"{file}: {column!r} is the target, and cannot be '{role}' too."
                raise InputError(msg)
        return roles

    def split(self, table: Any, file: str) -> Aside:
        """Take the columns out of a table, shape (n, d)."""
        gone = {*self.drop, self.id, self.group} - {None}
        return Aside(
            table.select([name for name in table.column_names if name not in gone]) if gone else table,
            None if self.id is None else table.column(self.id),
            None if self.group is None else _groups(table.column(self.group)),
            None if self.time is None else _times(table.column(self.time), f"{file}: the time column {self.time!r}"),
        )


def _groups(column: Any) -> IntArray:
    """Return the number of each row's value, shape (n,), in order of first appearance; a missing one is new every time."""
    encoded = (
        column.combine_chunks().dictionary_encode() if not pa.types.is_dictionary(column.type) else column.combine_chunks()
    )
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(float)
    gaps = np.isnan(codes)
    codes[gaps] = len(encoded.dictionary) + np.arange(gaps.sum())
    _, first, found = np.unique(codes, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[found].astype(np.int64)


def _times(column: Any, name: str) -> Any:
    """Return times that can be put in order, shape (n,)."""
    types, of = pa.types, column.type
    if column.null_count:
        msg = f"{name} is missing in {column.null_count:,} rows; fill it in, or leave these rows out."
        raise InputError(msg)
    if types.is_integer(of) or types.is_floating(of) or types.is_boolean(of) or types.is_decimal(of):
        return column.cast(pa.float64(), safe=False).to_numpy()
    if types.is_timestamp(of) or types.is_date(of):
        return column.cast(pa.timestamp("us", getattr(of, "tz", None))).to_numpy().astype("datetime64[us]")
    if types.is_time(of):
        return column.cast(pa.time64("us"), safe=False).cast(pa.int64()).to_numpy().astype(float)
    msg = f"{name} holds {of} values; expected dates, times or numbers."
    raise InputError(msg)
