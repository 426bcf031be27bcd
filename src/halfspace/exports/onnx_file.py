"""`to_onnx`: a fitted model as a graph of standard ONNX operators in double precision."""

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from halfspace.certificates.log_odds import LogOdds
from halfspace.exports.graph import Graph
from halfspace.exports.preprocessing import encoded
from halfspace.exports.scores import model_scores, refusal
from halfspace.tables import TableEncoder

__all__ = ["to_onnx"]


def to_onnx(model: Any, path: str | PathLike[str] | None = None) -> Any:
    """Write a fitted model as an ONNX graph, which onnxruntime and others run without Python or this package.

    The input "X" holds rows of doubles, shape (rows, d), for a model with an encoder NaN where a value is missing. The outputs
    are "label", shape (rows,), of the kind the labels have (int64, string, bool or double); "scores", what `decision_function`
    returns; and for a `Ladder`, or a model that has learnt them, "probabilities", shape (rows, K). A regression has one output,
    "prediction", what `predict` returns, and a `TableEncoder` alone "encoded". Everything is computed in double precision by
    standard operators, so labels agree with `predict` but for rows that rounding decides.

    Parameters
    ----------
    model : estimator
        A fitted classifier or regression of this package (but `AdaptiveFilter`, which needs the rows before); a ladder or
        `TableEncoder` of columns of numbers; or a scikit-learn `Pipeline` of `TableEncoder` or `StandardScaler` with one of
        these models.
    path : str or path, optional
        File to write to.

    Returns
    -------
    onnx.ModelProto
        The graph, checked by onnx.

    Examples
    --------
    >>> import numpy as np, halfspace as hs
    >>> from onnx.reference import ReferenceEvaluator
    >>> model = hs.HebbClassifier(intercept="none").fit(np.array([[1.0], [-1.0]]), ["up", "down"])
    >>> label, scores = ReferenceEvaluator(hs.to_onnx(model)).run(None, {"X": np.array([[3.0], [-2.0]])})
    >>> label.tolist(), (scores == model.decision_function([[3.0], [-2.0]])).all()
    (['up', 'down'], np.True_)
    """
    if not hasattr(model, "fit"):
        raise refusal(model)
    check_is_fitted(model)
    graph = Graph()
    outputs = _outputs(model, graph)
    exported = graph.model(model.n_features_in_, outputs, f"{type(model).__name__} of halfspace")
    if path is not None:
        Path(path).write_bytes(exported.SerializeToString())
    return exported


def _outputs(model: Any, graph: Graph) -> dict[str, tuple[str, list[Any], Any]]:
    """Add all nodes of a model; return the tensor, shape and an element of each output by its name."""
    if isinstance(model, TableEncoder):
        return {"encoded": (encoded(model, graph, "X"), ["rows", len(model.get_feature_names_out())], 0.0)}
    if hasattr(model, "calibration_") and not hasattr(model, "encoder_"):
        return _calibrated(model, graph)
    rows, last = _encoded(model, graph)
    scores = model_scores(last, graph, rows)
    if is_regressor(model):
        return _predicted(scores, last, graph)
    more = {}
    if hasattr(model, "calibration_"):  # a ladder
        chances = _probabilities(model.calibration_, graph, scores, model.classes_.size)
        more = {"probabilities": (chances, ["rows", model.classes_.size], 0.0)}
        if getattr(model, "operating_point_", None) is not None:
            weights = model.operating_point_.weights / model.operating_point_.weights.max()
            scores = graph("Add", graph("Log", chances), np.log(weights))
            if model.classes_.size == 2:
                scores = graph("MatMul", scores, np.array([[-1.0], [1.0]]))
    return _decided(scores, model.classes_, graph) | more


def _encoded(model: Any, graph: Graph) -> tuple[str, Any]:
    """Add what a ladder or pipeline does to rows; return their name, and the model that reads them."""
    if hasattr(model, "encoder_"):  # a ladder
        return encoded(model.encoder_, graph, "X"), model.estimator_
    if not isinstance(model, Pipeline):
        return "X", model
    rows = "X"
    for _, step in model.steps[:-1]:
        rows = encoded(step, graph, rows)
    return rows, model.steps[-1][1]


def _predicted(outputs: str, model: Any, graph: Graph) -> dict[str, tuple[str, list[Any], Any]]:
    """Return the targets as the model's own `predict` gives them, shape (rows,) or (rows, m)."""
    shape = model.predict(np.zeros((1, model.n_features_in_))).shape[1:]
    named = outputs if shape else graph("Squeeze", outputs, np.array([1]))
    return {"prediction": (named, ["rows", *shape], 0.0)}


def _decided(scores: str, classes: Any, graph: Graph) -> dict[str, tuple[str, list[Any], Any]]:
    """Return labels and scores as the model's own `predict` and `decision_function` give them."""
    if classes.size > 2:
        numbers = graph("ArgMax", scores, axis=1, keepdims=0)
        return {"label": (graph.label(numbers, classes), ["rows"], classes), "scores": (scores, ["rows", classes.size], 0.0)}
    flat = graph("Squeeze", scores, np.array([1]))
    numbers = graph("Where", graph("Greater", flat, 0.0), np.array(1), np.array(0))
    return {"label": (graph.label(numbers, classes), ["rows"], classes), "scores": (flat, ["rows"], 0.0)}


def _probabilities(calibration: Any, graph: Graph, scores: str, classes: int) -> str:
    """Return the probabilities of a calibration, shape (n, K), from outputs of shape (n, K) or (n, 1)."""
    if isinstance(calibration, LogOdds):
        return _from_log_odds(calibration, graph, scores, classes)
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


def _from_log_odds(calibration: LogOdds, graph: Graph, scores: str, classes: int) -> str:
    """Return the probabilities of `certificates/log_odds.py`."""
    knots, inner = calibration.knots, calibration.knots[1:-1]
    low, high = np.append(-np.inf, inner), np.append(inner, np.inf)
    begun = np.clip(knots[0], low, high)
    ways = graph("Sub", graph("Max", graph("Min", graph("Unsqueeze", scores, np.array([2])), high), low), begun)
    curve = graph("Squeeze", graph("MatMul", ways, calibration.slopes[:, None]), np.array([2]))
    if classes == 2:
        upper = graph("Add", curve, float(calibration.offsets[1] - calibration.offsets[0]))
        shares = graph("Concat", graph("Sigmoid", graph("Neg", upper)), graph("Sigmoid", upper), axis=1)
    else:
        shares = graph("Softmax", graph("Add", curve, calibration.offsets), axis=1)
    return graph("Add", graph("Mul", shares, 1.0 - calibration.noise), calibration.noise * calibration.shares)


def _calibrated(model: Any, graph: Graph) -> dict[str, tuple[str, list[Any], Any]]:
    """Return scores, probabilities and the most probable labels of a model that has learnt both."""
    scores, K = model_scores(getattr(model, "estimator_", model), graph, "X"), model.classes_.size
    P = _from_log_odds(model.calibration_, graph, scores, K)
    label = graph.label(graph("ArgMax", P, axis=1, keepdims=0), model.classes_), ["rows"], model.classes_
    return {**_decided(scores, model.classes_, graph), "label": label, "probabilities": (P, ["rows", K], 0.0)}
