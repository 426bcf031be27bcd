"""Outputs of fitted models as nodes of a graph: planes, sums of kernel values, and those that vote."""

from itertools import combinations
from typing import Any

import numpy as np

from halfspace import GLVQ, GMLVQ, GRLVQ, LVQ, PerceptronCommittee, VotedPerceptron
from halfspace._typing import FloatArray
from halfspace.certificates.margins.vote import TIE_BREAK
from halfspace.errors import InputError
from halfspace.exports.graph import Graph
from halfspace.exports.kernels import kernel_values
from halfspace.exports.prototypes import prototype_scores
from halfspace.kernels import Linear
from halfspace.kernels.products import dense
from halfspace.models.kernel.prediction import Expansion, KernelPlaneMixin
from halfspace.models.planes.prediction import PlaneMixin
from halfspace.solvers.rules.voted import Log, join

__all__ = ["model_scores", "refusal"]


def model_scores(model: Any, graph: Graph, X: str) -> str:
    """Return the name of a fitted model's outputs, shape (n, K), K = 1 for two classes, on the rows named X.

    Parameters
    ----------
    model : estimator
        A fitted model of this package (of a choice by cross-validation, the model that was chosen).
    graph : Graph
        Where the nodes go.
    X : str
        Name of the rows, shape (n, d).

    Examples
    --------
    >>> import halfspace as hs
    >>> graph = Graph()
    >>> name = model_scores(hs.HebbClassifier().fit([[1.0], [-1.0]], [1, 0]), graph, "X")
    >>> [node.op_type for node in graph.nodes]
    ['MatMul', 'Add']
    """
    chosen = getattr(model, "estimator_", model)
    if isinstance(chosen, PlaneMixin):
        return graph("Add", graph("MatMul", X, chosen.coef_.T), chosen.intercept_)
    if isinstance(chosen, VotedPerceptron):
        return _voted_planes(chosen, graph, X)
    if isinstance(chosen, PerceptronCommittee):
        return _committee(chosen, graph, X)
    if isinstance(chosen, LVQ | GLVQ | GRLVQ | GMLVQ):
        return prototype_scores(chosen, graph, X)
    if isinstance(chosen, KernelPlaneMixin):
        return _kernel_machine(chosen, graph, X)
    raise refusal(model)


def refusal(model: Any) -> InputError:
    """Return the error for something that cannot be exported."""
    what = type(model).__name__
    return InputError(
        "to_onnx exports fitted models of halfspace (every classifier, TableEncoder, Ladder, and scikit-learn pipelines of "
        f"TableEncoder or StandardScaler with one of the classifiers); got {what}."
    )


# ------------------------------------------------------------ kernels
def _kernel_machine(model: Any, graph: Graph, X: str) -> str:
    """Return the outputs of a kernel model, by whichever of its routes they are computed."""
    expansion: Expansion = model._expansion  # noqa: SLF001  (an export reads what a model knows)
    learner, cells = getattr(model, "_learner", None), getattr(model, "_cells", None)
    if learner is not None and learner.setting.variant == "voted":
        log, votes = learner.votes()
        products = graph("Add", _values(expansion, graph, X), learner.setting.shift)
        return graph(
            "Div", _tally(graph, products, log, votes, expansion.coefficients.shape[0]), max(float(learner.clock), 1.0)
        )
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
    halves = graph("Sub", 0.5 * (cells.centres**2).sum(axis=1), graph("MatMul", X, cells.centres.T))
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


# ------------------------------------------------------------ votes
def _voted_planes(model: VotedPerceptron, graph: Graph, X: str) -> str:
    """Let every weight vector that a perceptron ever had vote, as often as it survived examples."""
    pages, state, first = model._pages, model._state, 0  # noqa: SLF001  (an export reads what a model knows)
    logs: list[Log] = []
    for support, log in pages:
        logs.append(log._replace(row=log.row + first))
        first += support.shape[0]
    support, votes = np.concatenate([dense(rows) for rows, _ in pages]), np.concatenate(model._votes())  # noqa: SLF001
    products = graph("Add", kernel_values(Linear(), graph, X, support), model._clamp**2)  # noqa: SLF001
    tally = _tally(graph, products, join(logs), votes, state.W.shape[0])
    return graph("Div", tally, max(float(state.clock[0]), 1.0))


def _tally(graph: Graph, products: str, log: Log, votes: FloatArray, problems: int) -> str:
    """Return the votes for minus those against, shape (n, K): the outputs are running sums over the mistakes."""
    columns = []
    for k in range(problems):
        mine = np.flatnonzero(log.k == k)
        steps = graph("Mul", graph("Gather", products, log.row[mine], axis=1), log.change[mine])
        right = graph("Greater", graph("CumSum", steps, np.array(1)), 0.0)
        columns.append(graph.sum(graph("Where", right, votes[mine], -votes[mine])))
    return graph("Concat", *columns, axis=1)


def _committee(model: PerceptronCommittee, graph: Graph, X: str) -> str:
    """Add up the votes of the members, or their stabilities, as `halfspace.certificates.margins.vote.count_votes` does."""
    (M, K, _), clamp, R = model.members_.shape, model._clamp, model._radius or 1.0  # noqa: SLF001
    lengths = np.linalg.norm(model.members_, axis=2)
    W = model.members_[:, :, :-1] if clamp else model.members_
    bias = model.members_[:, :, -1] * clamp if clamp else np.zeros((M, K))
    outputs = graph("Add", graph("MatMul", X, W.reshape(M * K, -1).T), bias.ravel())
    planes = graph("Reshape", outputs, np.array([-1, M, K]))
    stability = graph("ReduceMean", graph("Div", planes, np.where(lengths > 0, lengths, 1.0)), np.array([1]), keepdims=0)
    if model._fitted_vote == "stability":  # noqa: SLF001
        return stability
    if K == 1:
        shares = graph("Where", graph("Greater", planes, 0.0), 1.0, -1.0)
    else:
        shares = graph("Gather", np.eye(K), graph("ArgMax", planes, axis=2, keepdims=0), axis=0)
    units = graph("Div", stability, R)
    broken = graph("Mul", graph("Div", units, graph("Add", graph("Abs", units), 1.0)), TIE_BREAK)
    votes = graph("Add", graph("ReduceSum", shares, np.array([1]), keepdims=0), broken)
    return graph("Div", votes, float(M))
