"""Kernel values of rows with support vectors, as nodes of a graph: one small function per kernel."""

from functools import singledispatch
from typing import Any

import numpy as np

from halfspace._typing import FloatArray, IntArray
from halfspace.errors import InputError
from halfspace.exports.graph import Graph
from halfspace.kernels import (
    RBF,
    Centered,
    Constant,
    Cosine,
    Kernel,
    Laplacian,
    Linear,
    Manhattan,
    Normalized,
    OnColumns,
    OnScales,
    Polynomial,
    Power,
    Product,
    Scaled,
    Sigmoid,
    Sum,
)
from halfspace.kernels.products import dense, unit_rows

__all__ = ["kernel_values", "scaled_columns"]


@singledispatch
def kernel_values(kernel: Kernel, graph: Graph, X: str, S: FloatArray) -> str:
    """Return the name of k(x_i, s_j), shape (n, m), for the rows named X and the support vectors S, shape (m, d)."""
    del graph, X, S
    msg = (
        f"to_onnx: the kernel {kernel} cannot be exported. These can: Linear, Polynomial, RBF, Laplacian, Manhattan, Cosine, "
        "Sigmoid, Constant and Precomputed, their sums, products, multiples and powers, normalized, centered, on some columns "
        "and on scales."
    )
    raise InputError(msg)


@singledispatch
def own_values(kernel: Kernel, graph: Graph, X: str) -> str:
    """Return the name of k(x_i, x_i), shape (n, 1), for the rows named X."""
    del graph, X
    msg = f"to_onnx: the lengths of rows in the space of {kernel} cannot be exported, so it cannot be normalized there."
    raise InputError(msg)


@kernel_values.register
def _(kernel: Linear, graph: Graph, X: str, S: FloatArray) -> str:
    del kernel
    return graph("MatMul", X, S.T)


@own_values.register
def _(kernel: Linear, graph: Graph, X: str) -> str:
    del kernel
    return graph.sum(X, "ReduceSumSquare")


def _affine(kernel: Any, graph: Graph, products: str) -> str:
    """Return gamma times the products plus coef0."""
    return graph("Add", graph("Mul", products, float(kernel.gamma)), float(kernel.coef0))


@kernel_values.register
def _(kernel: Polynomial, graph: Graph, X: str, S: FloatArray) -> str:
    return graph("Pow", _affine(kernel, graph, graph("MatMul", X, S.T)), float(kernel.degree))


@own_values.register
def _(kernel: Polynomial, graph: Graph, X: str) -> str:
    return graph("Pow", _affine(kernel, graph, graph.sum(X, "ReduceSumSquare")), float(kernel.degree))


@kernel_values.register
def _(kernel: Sigmoid, graph: Graph, X: str, S: FloatArray) -> str:
    return graph("Tanh", _affine(kernel, graph, graph("MatMul", X, S.T)))


@kernel_values.register
def _(kernel: RBF, graph: Graph, X: str, S: FloatArray) -> str:
    centre = S.mean(axis=0)  # distances stay, and lose no digits where rows are far from 0
    rows, support = graph("Sub", X, centre), S - centre
    products = graph("MatMul", rows, -2.0 * support.T)
    lengths = graph("Add", graph.sum(rows, "ReduceSumSquare"), (support**2).sum(axis=1))
    squares = graph("Max", graph("Add", products, lengths), 0.0)
    return graph("Exp", graph("Mul", squares, -float(kernel.gamma)))


@kernel_values.register
def _(kernel: Laplacian, graph: Graph, X: str, S: FloatArray) -> str:
    distances = graph("Sqrt", graph.each_row(X, S.shape[1], S))
    return graph("Exp", graph("Mul", distances, -float(kernel.gamma)))


@kernel_values.register
def _(kernel: Manhattan, graph: Graph, X: str, S: FloatArray) -> str:
    distances = graph.each_row(X, S.shape[1], S, squared=False)
    return graph("Exp", graph("Mul", distances, -float(kernel.gamma)))


@own_values.register(RBF)
@own_values.register(Laplacian)
@own_values.register(Manhattan)
def _(kernel: RBF | Laplacian | Manhattan, graph: Graph, X: str) -> str:
    del kernel
    return _same(graph, X, 1.0)


def _same(graph: Graph, X: str, value: float) -> str:
    """Return the same number for every row, shape (n, 1)."""
    return graph("Add", graph.sum(graph("Mul", X, 0.0)), value)


@kernel_values.register
def _(kernel: Constant, graph: Graph, X: str, S: FloatArray) -> str:
    return graph("Add", _same(graph, X, float(kernel.value)), np.zeros(S.shape[0]))


@own_values.register
def _(kernel: Constant, graph: Graph, X: str) -> str:
    return _same(graph, X, float(kernel.value))


@kernel_values.register
def _(kernel: Cosine, graph: Graph, X: str, S: FloatArray) -> str:
    del kernel
    rows = _divided(graph, X, graph.sum(graph("Abs", X), "ReduceMax"))  # first, so that no square is lost or too large
    rows = _divided(graph, rows, graph("Sqrt", graph.sum(rows, "ReduceSumSquare")))
    return graph("MatMul", rows, unit_rows(S).T)


def _divided(graph: Graph, X: str, lengths: str) -> str:
    """Return rows divided by numbers of their own, those of 0 left as they are."""
    return graph("Div", X, graph("Where", graph("Greater", lengths, 0.0), lengths, 1.0))


@kernel_values.register(Sum)
@kernel_values.register(Product)
def _(kernel: Sum | Product, graph: Graph, X: str, S: FloatArray) -> str:
    operator = "Add" if isinstance(kernel, Sum) else "Mul"
    return graph(operator, kernel_values(kernel.left, graph, X, S), kernel_values(kernel.right, graph, X, S))


@own_values.register(Sum)
@own_values.register(Product)
def _(kernel: Sum | Product, graph: Graph, X: str) -> str:
    operator = "Add" if isinstance(kernel, Sum) else "Mul"
    return graph(operator, own_values(kernel.left, graph, X), own_values(kernel.right, graph, X))


@kernel_values.register
def _(kernel: Scaled, graph: Graph, X: str, S: FloatArray) -> str:
    return graph("Mul", kernel_values(kernel.kernel, graph, X, S), float(kernel.factor))


@own_values.register
def _(kernel: Scaled, graph: Graph, X: str) -> str:
    return graph("Mul", own_values(kernel.kernel, graph, X), float(kernel.factor))


@kernel_values.register
def _(kernel: Power, graph: Graph, X: str, S: FloatArray) -> str:
    return graph("Pow", kernel_values(kernel.kernel, graph, X, S), float(kernel.exponent))


@own_values.register
def _(kernel: Power, graph: Graph, X: str) -> str:
    return graph("Pow", own_values(kernel.kernel, graph, X), float(kernel.exponent))


@kernel_values.register
def _(kernel: OnColumns, graph: Graph, X: str, S: FloatArray) -> str:
    columns = np.array(kernel.columns)
    return kernel_values(kernel.kernel, graph, graph("Gather", X, columns, axis=1), S[:, columns])


@own_values.register
def _(kernel: OnColumns, graph: Graph, X: str) -> str:
    columns = np.array(kernel.columns)
    return own_values(kernel.kernel, graph, graph("Gather", X, columns, axis=1))


def scaled_columns(kernel: OnScales, graph: Graph, X: str, columns: IntArray) -> str:
    """Return some columns on their scales, times their factors, shape (n, columns): pieces of each curve, added up."""
    starts, knots, heights = kernel.curves
    factors = np.ones(starts.size - 1) if kernel.factors is None else kernel.factors
    found = []
    for j in columns.tolist():
        x, h = knots[starts[j] : starts[j + 1]], factors[j] * heights[starts[j] : starts[j + 1]]
        if x.size == 1:  # a column of one value
            x, h = np.array([x[0], x[0] + 1.0]), np.repeat(h, 2)
        held = graph("Max", graph("Min", graph("Gather", X, np.array([j]), axis=1), x[1:]), x[:-1])
        slopes = (np.diff(h) / np.diff(x))[:, None]
        found.append(graph("Add", graph("MatMul", graph("Sub", held, x[:-1]), slopes), h[0]))
    return graph("Concat", *found, axis=1)


def _used(kernel: OnScales) -> IntArray:
    """Return the columns that a kernel on scales reads."""
    return np.arange(kernel.curves[0].size - 1) if kernel.factors is None else np.flatnonzero(kernel.factors)


@kernel_values.register
def _(kernel: OnScales, graph: Graph, X: str, S: FloatArray) -> str:
    used = _used(kernel)
    return kernel_values(kernel.kernel, graph, scaled_columns(kernel, graph, X, used), kernel.coordinates(S)[:, used])


@own_values.register
def _(kernel: OnScales, graph: Graph, X: str) -> str:
    return own_values(kernel.kernel, graph, scaled_columns(kernel, graph, X, _used(kernel)))


@kernel_values.register
def _(kernel: Normalized, graph: Graph, X: str, S: FloatArray) -> str:
    own = own_values(kernel.kernel, graph, X)
    some = graph("Greater", own, 0.0)
    mine = graph("Where", some, graph("Div", 1.0, graph("Sqrt", graph("Where", some, own, 1.0))), 0.0)
    theirs = kernel._inverse_lengths(S)  # noqa: SLF001  (the kernel's own arithmetic)
    return graph("Mul", graph("Mul", kernel_values(kernel.kernel, graph, X, S), mine), theirs)


@kernel_values.register
def _(kernel: Centered, graph: Graph, X: str, S: FloatArray) -> str:
    mine = graph.sum(kernel_values(kernel.kernel, graph, X, dense(kernel.reference)), "ReduceMean")
    theirs = kernel._means(S) - kernel._mean  # noqa: SLF001  (the kernel's own arithmetic)
    return graph("Sub", graph("Sub", kernel_values(kernel.kernel, graph, X, S), mine), theirs)
