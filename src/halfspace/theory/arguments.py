"""Scalars and arrays alike, and what may be handed in."""

from collections.abc import Callable
from typing import Any

import numpy as np

from halfspace.errors import InputError

__all__ = ["at_each", "share", "whole"]


def at_each(name: str, function: Callable[[float], float], values: Any) -> Any:
    """Return a function of alpha at each value, of whatever shape: a float for a number, else an array."""
    alphas = np.asarray(values, dtype=np.float64)
    if not (np.isfinite(alphas) & (alphas >= 0.0)).all():
        msg = f"{name}: 'alpha' = P/N must be finite and not negative. Got {values!r} instead."
        raise InputError(msg)
    found = np.array([function(alpha) for alpha in alphas.ravel().tolist()], dtype=np.float64).reshape(alphas.shape)
    return found if found.ndim else found.item()


def share(name: str, parameter: str, value: float, most: float = 1.0) -> float:
    """Return a share, checked."""
    if not 0.0 <= value <= most:
        msg = f"{name}: {parameter!r} must be a share from 0 to {most:g}. Got {value!r} instead."
        raise InputError(msg)
    return float(value)


def whole(name: str, parameter: str, value: Any, least: int = 0) -> int:
    """Return a whole number, checked."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        msg = f"{name}: {parameter!r} must be a whole number of at least {least}. Got {value!r} instead."
        raise InputError(msg)
    return int(value)
