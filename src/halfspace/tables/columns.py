"""One column, whatever it came in: read as numbers, as text or as moments; what cannot be read is missing and counted.

A column is a float64 array (from a plain matrix) or a pyarrow ChunkedArray (from a table).
"""

from collections import Counter
from functools import cache
from operator import itemgetter
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfspace._matrices import LARGEST_WHOLE, rounded
from halfspace._typing import FloatArray, IntArray
from halfspace.errors import InputError

__all__ = [
    "arranged",
    "as_plain_matrix",
    "as_table",
    "is_table",
    "kind_of",
    "moments_of",
    "numbers_of",
    "parts_of",
    "take",
    "texts_of",
    "would_round",
]

Moments = NDArray[np.datetime64]

SECONDS_PER = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}


@cache
def arrow() -> tuple[ModuleType, ModuleType, ModuleType]:
    """Return pyarrow, its compute module and our kinds of columns, or say which extra brings them."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - plain arrays need no pyarrow
        import pyarrow.compute as pc  # noqa: PLC0415

        from halfspace.files import kinds  # noqa: PLC0415
    except ImportError as error:
        msg = 'TableEncoder: a table with named columns needs pyarrow, which is not installed: pip install "halfspace[cli]".'
        raise InputError(msg) from error
    return pa, pc, kinds


def is_table(X: Any) -> bool:
    """Tell whether X is a table with named columns: pyarrow, pandas, polars, or any other with an Arrow interface."""
    interfaces = ("__arrow_c_stream__", "__arrow_c_array__", "iloc")
    return getattr(X, "ndim", 2) == 2 and any(hasattr(X, name) for name in interfaces)


def take(X: Any, rows: IntArray) -> Any:
    """Return some rows of an array, a sparse matrix or a table."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "take") and hasattr(X, "schema"):  # pyarrow
        return X.take(rows)
    if hasattr(X, "__arrow_c_stream__"):
        return as_table(X).take(rows)
    return (X.tocsr() if hasattr(X, "tocsr") else np.asarray(X))[rows]


def as_table(X: Any) -> Any:
    """Return a table as a pyarrow.Table; refuse two columns of the same name, as columns are found by name."""
    pa, _, _ = arrow()
    if isinstance(X, pa.Table):
        table = X
    elif hasattr(X, "iloc"):  # pandas would add its index as one more column
        names = [str(name) for name in X.columns]
        table = pa.table([_from_pandas(X.iloc[:, j]) for j in range(len(names))], names=names)
    else:
        table = pa.table(X)
    name, times = max(Counter(table.column_names).items(), key=itemgetter(1), default=("", 0))
    if times > 1:
        msg = f"TableEncoder: {times} columns are named {name!r}. Rename all but one of them."
        raise InputError(msg)
    return table


def arranged(table: Any, columns: tuple[str, ...]) -> Any:
    """Return the table with these columns in this order; an absent one is null."""
    pa, _, _ = arrow()
    there = set(table.column_names)
    arrays = [table.column(name) if name in there else pa.nulls(table.num_rows) for name in columns]
    return pa.table(arrays, names=list(columns))


def _from_pandas(series: Any) -> Any:
    """Return a pandas column as an Arrow array; a column of mixed types becomes text."""
    pa, _, _ = arrow()
    try:
        column = pa.array(series, from_pandas=True)
        inner = getattr(column.type, "value_type", column.type)
        if not pa.types.is_nested(inner) and not isinstance(inner, pa.BaseExtensionType):
            return column
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, UnicodeEncodeError):
        pass
    texts = [None if gap else str(value) for value, gap in zip(series, series.isna(), strict=True)]
    sound = [None if text is None else text.encode("utf-8", "replace").decode() for text in texts]
    return pa.array(sound, type=pa.large_string())


def as_plain_matrix(table: Any) -> Any:
    """Return a table of numbers without gaps, none too long for a float, as an array, shape (n, d); any other as it is."""
    types = arrow()[0].types
    if not all(types.is_integer(of) or types.is_floating(of) for of in set(table.schema.types)):
        return table
    if any(column.null_count for column in table.columns):
        return table
    matrix = np.column_stack([np.asarray(column.to_numpy(), dtype=np.float64) for column in table.columns])
    return table if (np.abs(matrix) >= LARGEST_WHOLE).any() else matrix


def kind_of(column: Any) -> str:
    """Return what a column holds.

    One of 'number', 'text', 'choice' (declared categories), 'switch' (true or false), 'moment', 'nothing', or else the name of
    an Arrow type that cannot be used.
    """
    if isinstance(column, np.ndarray):
        return "number"
    pa, _, _ = arrow()
    types, of = pa.types, column.type
    if types.is_dictionary(of):
        return str(of) if types.is_nested(of.value_type) or _is_bytes(of.value_type) else "choice"
    if types.is_integer(of) or types.is_floating(of) or types.is_decimal(of) or types.is_time(of) or types.is_duration(of):
        return "number"
    if types.is_string(of) or types.is_large_string(of) or types.is_string_view(of):
        return "text"
    if types.is_boolean(of):
        return "switch"
    if types.is_date(of) or types.is_timestamp(of):
        return "moment"
    return "nothing" if types.is_null(of) else str(of)


def _is_bytes(of: Any) -> bool:
    """Tell whether an Arrow type holds bytes that need not be text."""
    types = arrow()[0].types
    return bool(types.is_binary(of) or types.is_large_binary(of) or types.is_fixed_size_binary(of) or types.is_binary_view(of))


def numbers_of(column: Any) -> tuple[FloatArray, int]:
    """Return a column as float64, shape (n,), NaN where missing, and how many values there were that are no numbers."""
    if isinstance(column, np.ndarray):
        return column, 0
    pa, _, _ = arrow()
    kind, of = kind_of(column), column.type
    if kind in ("text", "choice"):
        text = trimmed_text(column)
        kinds = arrow()[2]
        found = kinds.lenient(kinds.plain_numbers(text), kinds.NUMBER)
        return found.to_numpy(zero_copy_only=False), found.null_count - text.null_count
    if kind not in ("number", "switch", "nothing"):
        return np.full(len(column), np.nan), len(column) - column.null_count
    per_second = SECONDS_PER[of.unit] if pa.types.is_time(of) or pa.types.is_duration(of) else None
    if per_second is not None:
        whole = pa.int32() if pa.types.is_time32(of) else pa.int64()
        return column.cast(whole).cast(pa.float64(), safe=False).to_numpy() / per_second, 0
    values: FloatArray = column.cast(pa.float64(), safe=False).to_numpy()
    return values, 0


def would_round(column: Any) -> bool:
    """Tell whether floats would round some of the whole numbers in a column: ids, say, of which two could become equal."""
    if isinstance(column, np.ndarray):
        return False
    pa, _, _ = arrow()
    if pa.types.is_integer(column.type):
        return rounded(column.drop_null().to_numpy()) is not None
    whole = pa.types.is_decimal(column.type) and column.type.scale <= 0
    return whole and rounded(np.array([int(value) for value in column.drop_null().to_pylist()], dtype=object)) is not None


def texts_of(column: Any) -> Any:
    """Return a column as Arrow text, null where missing or empty; whole numbers read the same from 3 and 3.0."""
    pa, pc, _ = arrow()
    if isinstance(column, np.ndarray):
        column = pa.chunked_array([pa.array(column, from_pandas=True)])
    kind = kind_of(column)
    if kind not in ("number", "text", "choice", "switch", "moment", "nothing"):
        return pa.chunked_array([pa.nulls(len(column), pa.large_string())])
    text = column.cast(pa.large_string())
    if pa.types.is_floating(column.type):
        value = column.cast(pa.float64())
        whole = pc.and_(pc.equal(pc.floor(value), value), pc.less(pc.abs(value), LARGEST_WHOLE))
        as_whole = pc.if_else(whole, value, None).cast(pa.int64()).cast(pa.large_string())
        text = pc.if_else(pc.is_nan(value), None, pc.coalesce(as_whole, text))
    return pc.if_else(pc.equal(text, ""), None, text)


def trimmed_text(column: Any) -> Any:
    """Return a column as Arrow text without white space around it, null where nothing is left."""
    _, pc, _ = arrow()
    text = pc.utf8_trim_whitespace(texts_of(column))
    return pc.if_else(pc.equal(text, ""), None, text)


def moments_of(column: Any, spelled: str = "iso") -> tuple[Moments, int]:
    """Return a column as datetime64[s] in UTC, shape (n,), NaT where missing, and how many values are not dates.

    Text is read as `spelled` says, a key of `halfspace.files.kinds.SPELLED`.
    """
    pa, _, kinds = arrow()
    kind = kind_of(column)
    if kind in ("text", "choice"):
        text = trimmed_text(column)
        found = kinds.lenient(text, kinds.SPELLED.get(spelled, kinds.ISO))
        return found.to_numpy(zero_copy_only=False).astype("datetime64[s]"), found.null_count - text.null_count
    if kind not in ("moment", "nothing"):
        values, lost = numbers_of(column)
        return np.full(values.size, "NaT", dtype="datetime64[s]"), int(np.isfinite(values).sum()) + lost
    return column.cast(pa.timestamp("s", getattr(column.type, "tz", None)), safe=False).to_numpy().astype("datetime64[s]"), 0


def parts_of(moments: Moments) -> dict[str, FloatArray]:
    """Return the parts of moments, each of shape (n,), NaN where missing; day number 0 is 1 January 1970, weekday 0 Monday."""
    gaps = np.isnat(moments)
    known = np.where(gaps, np.datetime64(0, "s"), moments)
    days = known.astype("datetime64[D]")
    months = known.astype("datetime64[M]")
    number = days.astype(np.int64)
    parts = {
        "year": known.astype("datetime64[Y]").astype(np.int64) + 1970,
        "month": months.astype(np.int64) % 12 + 1,
        "day": (days - months.astype("datetime64[D]")).astype(np.int64) + 1,
        "weekday": (number + 3) % 7,
        "hour": (known - days).astype(np.int64) // 3600,
        "day number": number,
    }
    return {name: np.where(gaps, np.nan, part) for name, part in parts.items()}
