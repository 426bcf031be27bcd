"""Dates and times: their parts (year, month, day of the month, day of the week, hour) and the day as a running number."""

import numpy as np

from halfspace._typing import FloatArray
from halfspace.tables.columns import Moments

__all__ = ["parts_of"]


def parts_of(moments: Moments) -> dict[str, FloatArray]:
    """Return the parts of moments, each of shape (n,), NaN where missing; day number 0 is 1 January 1970, weekday 0 Monday.

    Examples
    --------
    >>> parts = parts_of(np.array(["2021-03-01T13:00"], dtype="datetime64[s]"))
    >>> {name: int(values[0]) for name, values in parts.items()}
    {'year': 2021, 'month': 3, 'day': 1, 'weekday': 0, 'hour': 13, 'day number': 18687}
    """
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
