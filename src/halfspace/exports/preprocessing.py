"""Preprocessing of numbers as nodes of a graph: gaps filled and marked, then scaled as the encoder learnt it."""

from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from halfspace._typing import FloatArray
from halfspace.errors import InputError
from halfspace.exports.graph import Graph
from halfspace.tables import TableEncoder
from halfspace.tables.numbers import FARTHEST, RANK_WIDTH

__all__ = ["encoded"]

CENTRE = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457, 13731.693765509461125,
     1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
    (5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867, 5394.1960214247511077,
     687.1870074920579083, 42.313330701600911252, 1.0),
)  # fmt: skip
TAILS = (
    (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
     3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
     0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0),
)  # fmt: skip
"""Wichura's coefficients, numerator and denominator: within 0.425 of a half, and beyond."""


def encoded(encoder: Any, graph: Graph, X: str) -> str:
    """Return the name of the encoded rows, shape (n, D), of the rows named X, shape (n, d), NaN where a value is missing."""
    if isinstance(encoder, StandardScaler):
        mean = np.zeros(encoder.n_features_in_) if encoder.mean_ is None else encoder.mean_
        return graph("Div", graph("Sub", X, mean), np.ones(mean.size) if encoder.scale_ is None else encoder.scale_)
    if not isinstance(encoder, TableEncoder):
        msg = f"to_onnx exports the encoders TableEncoder and StandardScaler; got {type(encoder).__name__}."
        raise InputError(msg)
    if encoder.largest_ is not None:  # it was fitted to a sparse matrix
        used = getattr(encoder, "used_", None)
        return graph("Div", X if used is None else graph("Gather", X, used, axis=1), encoder.largest_)
    others = [encoder.columns_[recipe["column"]] for recipe in encoder.recipes_ if recipe["kind"] not in ("number", "gap")]
    if others:
        names = ", ".join(map(repr, others[:5])) + (" and others" if len(others) > 5 else "")
        msg = (
            f"to_onnx exports preprocessing of numbers only, but these columns hold categories, dates or text: {names}. "
            "Fit without them, or export the model behind (ladder.estimator_) and give it encoded rows (ladder.encode)."
        )
        raise InputError(msg)
    return _table(encoder, graph, X)


def _table(encoder: TableEncoder, graph: Graph, X: str) -> str:
    """Return scaled columns and marks of gaps, in the order of the encoder's outputs."""
    pieces, order, scaled, marked = [], [], 0, 0
    numbers = [recipe for recipe in encoder.recipes_ if recipe["kind"] == "number"]
    marks = [recipe for recipe in encoder.recipes_ if recipe["kind"] == "gap" or recipe["indicator"]]
    for recipe in encoder.recipes_:
        if recipe["kind"] == "number":
            order.append(scaled)
            scaled += 1
        if recipe["kind"] == "gap" or recipe["indicator"]:
            order.append(len(numbers) + marked)
            marked += 1
    if numbers:
        pieces.append(_scaled(numbers, graph, X))
    if marks:
        gaps = graph("IsNaN", graph("Gather", X, np.array([recipe["column"] for recipe in marks]), axis=1))
        pieces.append(graph("Where", gaps, 1.0, 0.0))
    return graph("Gather", graph("Concat", *pieces, axis=1), np.array(order), axis=1)


def _scaled(numbers: list[dict[str, Any]], graph: Graph, X: str) -> str:
    """Return columns of numbers, gaps filled, scaled, shape (n, number of columns)."""
    parts = [recipe["parts"][0] for recipe in numbers]
    values = {name: np.array([part[name] for part in parts]) for name in ("fill", "unit", "shift", "spread")}
    columns = graph("Gather", X, np.array([recipe["column"] for recipe in numbers]), axis=1)
    filled = graph("Where", graph("IsNaN", columns), values["fill"], columns)
    shares = graph("Div", filled, values["unit"])
    logs = np.array(["offset" in part for part in parts])
    if logs.any():
        sign, offset = (np.array([part.get(name, 1.0) for part in parts]) for name in ("sign", "offset"))
        end = np.array([part["low" if part.get("sign", 1.0) > 0.0 else "high"] for part in parts])
        inside = graph("Where", logs, graph("Add", graph("Max", graph("Mul", shares, sign), sign * end), offset), 1.0)
        shares = graph("Where", logs, graph("Log", inside), shares)
    if "quantiles" not in parts[0]:
        whole = graph("Div", graph("Sub", shares, values["shift"]), values["spread"])
        return graph("Max", graph("Min", whole, FARTHEST), -FARTHEST)
    ranks = [_rank(part["quantiles"], graph, graph("Gather", shares, np.array([j]), axis=1)) for j, part in enumerate(parts)]
    shares = graph("Concat", *ranks, axis=1)
    if "tail" in parts[0]:
        tail = np.array([part["tail"] for part in parts])
        return _normal(graph, graph("Max", graph("Min", shares, 1.0 - tail), tail))
    return graph("Mul", graph("Sub", shares, 0.5), RANK_WIDTH)


def _normal(graph: Graph, p: str) -> str:
    """Return Φ⁻¹(p), shape (n, m), for shares from 1e-11 to 1 - 1e-11: Wichura's algorithm AS 241 (1988), PPND16."""
    q = graph("Sub", p, 0.5)
    middle = graph("Max", graph("Sub", 0.180625, graph("Mul", q, q)), 0.0)
    root = graph("Sub", graph("Sqrt", graph("Neg", graph("Log", graph("Min", p, graph("Sub", 1.0, p))))), 1.6)
    inner = graph("Mul", q, _ratio(graph, middle, CENTRE))
    outer = graph("Mul", graph("Sign", q), _ratio(graph, root, TAILS))
    return graph("Where", graph("LessOrEqual", graph("Abs", q), 0.425), inner, outer)


def _ratio(graph: Graph, x: str, coefficients: tuple[tuple[float, ...], tuple[float, ...]]) -> str:
    """Return a ratio of two polynomials, their highest powers first."""
    values = []
    for highest, *rest in coefficients:
        value = graph("Mul", x, highest)
        for one in rest[:-1]:
            value = graph("Mul", graph("Add", value, one), x)
        values.append(graph("Add", value, rest[-1]))
    return graph("Div", *values)


def _rank(quantiles: FloatArray, graph: Graph, x: str) -> str:
    """Return the empirical distribution function at x, shape (n, 1); a value that repeats gets the middle of its step."""
    steps = np.linspace(0.0, 1.0, quantiles.size)
    below = _interpolated(quantiles, steps, graph, x)
    above = _interpolated(-quantiles[::-1], -steps[::-1], graph, graph("Neg", x))
    return graph("Mul", graph("Sub", below, above), 0.5)


def _interpolated(knots: FloatArray, values: FloatArray, graph: Graph, x: str) -> str:
    """Return what `np.interp(x, knots, values)` does, shape (n, 1): of equal knots the last counts."""
    passed = graph("Where", graph("LessOrEqual", knots, x), np.array(1), np.array(0))
    left = graph("Min", graph("Max", graph("Sub", graph.sum(passed), np.array(1)), np.array(0)), np.array(knots.size - 2))
    low = graph("Gather", knots, left)
    width = graph("Gather", np.diff(knots), left)
    beyond = graph("Sub", x, low)
    # Knots are equal here only beyond the last one, or before the first.
    share = graph("Div", beyond, graph("Where", graph("Greater", width, 0.0), width, 1e-300))
    start = graph("Where", graph("GreaterOrEqual", beyond, width), 1.0, graph("Min", graph("Max", share, 0.0), 1.0))
    start = graph("Where", graph("Less", beyond, 0.0), 0.0, start)
    return graph("Add", graph("Gather", values, left), graph("Mul", start, graph("Gather", np.diff(values), left)))
