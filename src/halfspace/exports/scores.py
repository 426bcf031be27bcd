"""Outputs of fitted models as nodes of a graph: planes, lines, sums of kernel values, distances from prototypes.

A model that is none of these (a vote, a baseline) has a method `to_graph(graph, X)` of its own, which adds its nodes and
returns the name of its outputs: it stands beside the class and needs nothing from here.
"""

from itertools import combinations
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from halfspace.errors import InputError
from halfspace.exports.graph import Graph
from halfspace.exports.kernels import kernel_values, scaled_columns
from halfspace.kernels import OnScales
from halfspace.kernels.products import dense
from halfspace.models.kernel.prediction import Expansion

__all__ = ["model_scores", "refusal"]


def model_scores(model: Any, graph: Graph, X: str) -> str:
    """Return the name of a fitted model's outputs, shape (n, K), K = 1 for two classes or one target, on the rows named X.

    A choice by cross-validation gives the model that was chosen; a model of any make may bring a method `to_graph`.
    """
    chosen = getattr(model, "estimator_", model)
    if hasattr(chosen, "to_graph"):
        return str(chosen.to_graph(graph, X))
    numbers = is_regressor(chosen) and (hasattr(chosen, "intercept_") or hasattr(chosen, "regressor_"))
    answers = hasattr(chosen, "classes_") or numbers
    if not (answers and any(kind.__module__.startswith("halfspace.") for kind in type(chosen).__mro__)):
        raise refusal(model)
    if hasattr(chosen, "prototype_labels_"):
        return _prototypes(chosen, graph, X)
    if hasattr(chosen, "regressor_"):
        return _from_log(chosen, graph, X)
    if hasattr(chosen, "_expansion"):
        return _kernel_machine(chosen, graph, X)
    return graph("Add", graph("MatMul", X, np.atleast_2d(chosen.coef_).T), chosen.intercept_)


def refusal(model: Any) -> InputError:
    """Return the error for something that cannot be exported."""
    what = type(model).__name__
    return InputError(
        "to_onnx exports fitted models of halfspace (every classifier and regression but AdaptiveFilter, which needs the rows "
        "before; TableEncoder, Ladder, and scikit-learn pipelines of TableEncoder or StandardScaler with one of these models); "
        f"got {what}."
    )


def _from_log(model: Any, graph: Graph, X: str) -> str:
    """Return the predictions of a model of the logarithm in the target's own units."""
    low, high = model.range_
    logs = model_scores(model.regressor_, graph, X)
    held = graph("Max", graph("Min", logs, float(high + (high - low))), float(low - (high - low)))
    return graph("Mul", graph("Exp", held), float(model.factor_))


def _kernel_machine(model: Any, graph: Graph, X: str) -> str:
    """Return the outputs of a kernel model, by whichever of its routes they are computed."""
    expansion: Expansion = model._expansion  # noqa: SLF001  (an export reads what a model knows)
    learner, cells = getattr(model, "_learner", None), getattr(model, "_cells", None)
    if learner is not None and learner.setting.variant == "voted":
        log, votes = learner.votes()
        products = graph("Add", _values(expansion, graph, X), learner.setting.shift)
        tally = graph.running_votes(products, log, votes, expansion.coefficients.shape[0])
        return graph("Div", tally, max(float(learner.clock), 1.0))
    if cells is not None:
        return _by_cell(expansion, cells, graph, X)
    if expansion.rows.size == 0:  # no support vector: a bias for every row
        flat = np.zeros((expansion.bias.size, model.n_features_in_)).T
        return graph("Add", graph("MatMul", X, flat), expansion.bias)
    scores = graph("Add", graph("MatMul", _values(expansion, graph, X), expansion.coefficients.T), expansion.bias)
    return _pair_votes(graph, scores, model.classes_.size) if getattr(model, "_voting", False) else scores


def _values(expansion: Expansion, graph: Graph, X: str) -> str:
    """Return the kernel values of the rows with the support vectors, shape (n, m)."""
    if expansion.kernel.is_precomputed:
        return graph("Gather", X, expansion.rows, axis=1)
    return kernel_values(expansion.kernel, graph, X, dense(expansion.support))


def _pair_votes(graph: Graph, scores: str, classes: int) -> str:
    """Turn the outputs of all pairs of classes into one number per class: its votes, ties broken by the sum of outputs."""
    pairs, every = np.array(list(combinations(range(classes), 2))), np.arange(classes)
    second, first = (pairs[:, 1:] == every).astype(float), (pairs[:, :1] == every).astype(float)
    won = graph("Where", graph("Greater", scores, 0.0), 1.0, 0.0)
    votes = graph("Add", graph("MatMul", won, second), graph("MatMul", graph("Sub", 1.0, won), first))
    total = graph("MatMul", scores, second - first)
    return graph("Add", votes, graph("Div", total, graph("Mul", graph("Add", graph("Abs", total), 1.0), 3.0)))


def _by_cell(expansion: Expansion, cells: Any, graph: Graph, X: str) -> str:
    """Return the outputs of the machine of the nearest centre; a class never seen in its cell loses by 1."""
    count, m = len(cells.columns), expansion.rows.size
    kernel, places = expansion.kernel, X
    if isinstance(kernel, OnScales):
        places = scaled_columns(kernel, graph, X, np.arange(cells.centres.shape[1]))
    halves = graph("Sub", 0.5 * (cells.centres**2).sum(axis=1), graph("MatMul", places, cells.centres.T))
    mine = graph("Gather", np.eye(count), graph("ArgMin", halves, axis=1, keepdims=0), axis=0)
    scores = graph("MatMul", mine, cells.bias)
    if m:
        holds = np.zeros((count, m))
        for row, columns in zip(holds, cells.columns, strict=True):
            row[columns] = 1.0
        values = graph("Mul", _values(expansion, graph, X), graph("MatMul", mine, holds))
        scores = graph("Add", scores, graph("MatMul", values, expansion.coefficients.T))
    seen = graph("Greater", graph("MatMul", mine, np.asarray(cells.present, dtype=float)), 0.5)
    least = graph.sum(graph("Where", seen, scores, 1e300), "ReduceMin")
    return graph("Where", seen, scores, graph("Sub", least, 1.0))


def _prototypes(model: Any, graph: Graph, X: str) -> str:
    """Return the relative distances of the rows from the prototypes of a class and from those of the others.

    For class c that is (e - d)/(e + d), with d the squared distance from the nearest prototype of c and e that from the nearest
    prototype of any other class; 0 where both vanish.
    """
    nearest = [_nearest(model, graph, X, c) for c in range(model.classes_.size)]
    if len(nearest) == 2:
        return _relative(graph, nearest[1], nearest[0])
    columns = [
        _relative(graph, own, graph("Min", *(other for k, other in enumerate(nearest) if k != c)))
        for c, own in enumerate(nearest)
    ]
    return graph("Concat", *columns, axis=1)


def _nearest(model: Any, graph: Graph, X: str, c: int) -> str:
    """Return the squared distance from the nearest prototype of class c, shape (n, 1)."""
    W = np.asarray(model.prototypes_, dtype=np.float64)[np.asarray(model.prototype_labels_) == model.classes_[c]]
    omega = getattr(model, "omega_", None)
    if omega is not None and omega.ndim != 2:
        omega = omega[c] if omega.ndim == 3 else np.diag(omega)
    rows, width = X, W.shape[1]
    if omega is not None:
        rows, W, width = graph("MatMul", X, omega.T), W @ omega.T, omega.shape[0]
    return graph.sum(graph.each_row(rows, width, W), "ReduceMin")


def _relative(graph: Graph, own: str, other: str) -> str:
    """Return (other - own)/(other + own), 0 where both are."""
    total = graph("Add", other, own)
    some = graph("Greater", total, 0.0)
    return graph("Where", some, graph("Div", graph("Sub", other, own), graph("Where", some, total, 1.0)), 0.0)
