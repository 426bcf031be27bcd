"""Classifiers by prototypes as nodes of a graph."""

from typing import Any

import numpy as np

from halfspace.exports.graph import Graph

__all__ = ["prototype_scores"]


def prototype_scores(model: Any, graph: Graph, X: str) -> str:
    """Return the name of the relative distances, shape (n, K), K = 1 for two classes, on the rows named X.

    For class c that is (e - d)/(e + d), with d the squared distance from the nearest prototype of c and e that from the nearest
    prototype of any other class; 0 where both vanish.

    Parameters
    ----------
    model : LVQ, GLVQ, GRLVQ or GMLVQ
        Fitted.
    graph : Graph
        Where the nodes go.
    X : str
        Name of the rows, shape (n, d).

    Examples
    --------
    >>> import halfspace as hs
    >>> graph = Graph()
    >>> model = hs.LVQ(max_iter=1).fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> name = prototype_scores(model, graph, "X")
    >>> graph.nodes[-1].op_type
    'Where'
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
