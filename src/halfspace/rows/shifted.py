"""Outputs with a bias that stays as it is: how a bias that belongs to no weight is shown to a rule."""

from typing import Any, NamedTuple

from halfspace._typing import FloatArray, View
from halfspace.rows.views import axpy, dot, n_columns, n_rows, sqnorm

__all__ = ["Shifted"]


class Shifted(NamedTuple):
    """The rows of another view; every output is higher by `shift`."""

    rows: Any
    shift: float


@dot.register(Shifted)
def _(X: View, i: int, w: FloatArray) -> float:
    return dot(X.rows, i, w) + X.shift


@axpy.register(Shifted)
def _(a: float, X: View, i: int, w: FloatArray) -> None:
    axpy(a, X.rows, i, w)


@sqnorm.register(Shifted)
def _(X: View, i: int) -> float:
    return sqnorm(X.rows, i)


@n_rows.register(Shifted)
def _(X: View) -> int:
    return n_rows(X.rows)


@n_columns.register(Shifted)
def _(X: View) -> int:
    return n_columns(X.rows)
