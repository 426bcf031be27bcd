"""What a ladder adds to its winner: the baselines, and probabilities from outputs."""

from typing import Any

import numpy as np

from halfspace.exports.graph import Graph
from halfspace.exports.scores import model_scores
from halfspace.kernels.products import dense

__all__ = ["probabilities", "winner_scores"]


def winner_scores(ladder: Any, graph: Graph, Z: str) -> str:
    """Return the name of the outputs of a ladder's winner, shape (n, K), K = 1 for two classes, on encoded rows named Z.

    Examples
    --------
    >>> import halfspace as hs
    >>> X, y, *_ = hs.data.two_clouds(40)
    >>> graph = Graph()
    >>> name = winner_scores(hs.Ladder(rungs=["majority"], curve=False).fit(X, y), graph, "Z")
    >>> [node.op_type for node in graph.nodes]
    ['Mul', 'ReduceSum', 'Add']
    """
    winner = ladder.estimator_
    if ladder.winner_ == "majority":
        shares = np.atleast_1d(np.squeeze(winner.decision_function(np.zeros((1, 1)))))
        return graph("Add", graph.sum(graph("Mul", Z, 0.0)), shares)
    if ladder.winner_ == "neighbours":
        return _neighbours(winner, graph, Z)
    return model_scores(winner, graph, Z)


def _neighbours(model: Any, graph: Graph, Z: str) -> str:
    """Return the shares of the votes of the nearest examples; for two classes their difference."""
    examples = dense(model.X_)
    squares = graph.each_row(Z, examples.shape[1], examples)
    nearest = graph.second("TopK", squares, np.array([model.k_]), axis=1, largest=0, sorted=1)
    votes = graph("Gather", np.eye(model.classes_.size)[model.target_], nearest, axis=0)
    shares = graph("ReduceMean", votes, np.array([1]), keepdims=0)
    return graph("MatMul", shares, np.array([[-1.0], [1.0]])) if model.classes_.size == 2 else shares


def probabilities(calibration: Any, graph: Graph, scores: str, classes: int) -> str:
    """Return the name of the probabilities, shape (n, K), of outputs of shape (n, K), K = 1 for two classes.

    As `halfspace.ladder.calibration.Calibration` has them: a slope and a share of chance above 0 and below, or one of each for
    several classes.

    Examples
    --------
    >>> from halfspace.ladder.calibration import Calibration, Curve
    >>> graph = Graph()
    >>> name = probabilities(Calibration(Curve(1.0, 0.0), Curve(1.0, 0.0)), graph, "scores", 3)
    >>> [node.op_type for node in graph.nodes]
    ['Mul', 'Softmax', 'Mul', 'Add']
    """
    below, above = calibration.below, calibration.above
    if classes > 2:
        shares = graph("Softmax", graph("Mul", scores, above.slope), axis=1)
        return graph("Add", graph("Mul", shares, 1.0 - above.noise), above.noise / classes)
    positive = graph("Greater", scores, 0.0)
    steep = graph("Sigmoid", graph("Mul", scores, graph("Where", positive, above.slope, below.slope)))
    chance = graph("Where", positive, above.noise, below.noise)
    upper = graph("Add", graph("Mul", graph("Sub", 1.0, chance), steep), graph("Mul", chance, 0.5))
    half = float(np.nextafter(0.5, 1.0))
    upper = graph("Where", positive, graph("Max", upper, half), graph("Min", upper, 0.5))
    return graph("Concat", graph("Sub", 1.0, upper), upper, axis=1)
