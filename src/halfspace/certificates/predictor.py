"""What predicts: read from what a model has learnt, and compared with what its certificate is about.

A certificate says by name which numbers it is about (`Certificate.predictor`). The same names are read here from the learnt
attributes of a model, or from the parts of its file, for which no model has to be made. They must be equal, number by number:
a proof about other weights than those that answer proves nothing. Rows that a model keeps (support vectors, neighbours) must be
those of the examples, and its labels those of y.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.certificates.arithmetic import columns_scaled, projected
from halfspace.certificates.base import Certificate, Verdict
from halfspace.certificates.fields import Record

__all__ = ["functions_of", "joined", "line", "one_function", "predictor_of", "same", "tied"]


def tied(learnt: Mapping[str, Any], certificate: Certificate, X: Matrix, y: Labels | None = None) -> Verdict:
    """Tell whether a model predicts with the very numbers that a certificate, checked before, is about.

    Parameters
    ----------
    learnt : mapping
        Learnt attributes by name: of a model, or of the tree of a model file.
    certificate : Certificate
        What is claimed.
    X : matrix, shape (n, d)
        The examples that the claim is about.
    y : array, shape (n,), optional
        Their labels or targets.

    Returns
    -------
    Verdict
        True only if every number that predicts is in the certificate, and equal there.

    Examples
    --------
    >>> import halfspace as hs
    >>> X, y = np.array([[1.0], [-1.0]]), np.array([1, 0])
    >>> model = hs.AdaTron().fit(X, y)
    >>> str(tied(vars(model), model.certificate_, X, y))
    'holds'
    >>> print(tied({**vars(model), "_W": -model._W}, model.certificate_, X, y))
    refuted: the model predicts with other weights than the certificate is about
    """
    X, y = certificate.read(X, y)
    found, said = predictor_of(learnt), certificate.predictor(y)
    silent = [name for name, value in found.items() if not (name in said or (isinstance(value, _Kept) and not value.of_claim))]
    if silent:
        return Verdict.of((False, f"the certificate says nothing about what the model predicts with: {', '.join(silent)}"))
    claims = []
    for name in dict.fromkeys([*found, *said]):
        kept = found.get(name)
        if isinstance(kept, _Kept):
            claims.append((_agree(kept, said, X, y), f"the {name} of the model are not those of the examples"))
        elif name == "positive":
            claims.append((said[name] == _positives(y, said), "the certificate counts another class as positive"))
        else:
            text = f"the model predicts with other {name} than the certificate is about"
            claims.append((name in found and same(kept, said[name]), text))
    return Verdict.of(*claims)


def _agree(kept: "_Kept", said: Mapping[str, Any], X: Any, y: Labels) -> bool:
    """Tell whether what a model kept agrees with a certificate; values of a kind that cannot be compared do not."""
    try:
        return bool(kept.agrees(said, X, y))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return False


def same(value: Any, other: Any) -> bool:
    """Tell whether two values are equal in every number: arrays, lists and tuples of them, numbers, texts or kernels."""
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        return len(value) == len(other) and all(map(same, value, other))
    if isinstance(value, np.ndarray) or isinstance(other, np.ndarray):
        return bool(np.array_equal(value, other))
    return bool(value == other)


def joined(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what predicts in several problems: arrays and lists one after the other, the rest once, if all agree."""
    found: dict[str, Any] = {}
    for name in parts[0]:
        values: list[Any] = [part.get(name) for part in parts]
        if isinstance(values[0], np.ndarray) and all(isinstance(value, np.ndarray) for value in values):
            found[name] = np.concatenate(values)
        elif isinstance(values[0], list) and all(isinstance(value, list) for value in values):
            found[name] = [each for value in values for each in value]
        else:
            found[name] = values[0] if all(same(value, values[0]) for value in values) else values
    return found


def _positives(y: Labels, said: Mapping[str, Any]) -> list[Any]:
    """Return the labels that count as +1: the second of two, each of many, or the second of each pair."""
    labels = _labels(y)
    return [second for _, second in combinations(labels, 2)] if len(labels) == 2 or said.get("voting") else labels


def _labels(y: Labels) -> list[Any]:
    """Return the labels of y in order."""
    found: list[Any] = np.unique(y).tolist()
    return found


def line(certificate: Any) -> dict[str, Any]:
    """Return what predicts according to a certificate about weights (D,), the clamped one last, and a constant."""
    d = certificate.weights.size - bool(certificate.clamp)
    constant = certificate.constant if certificate.free else certificate.clamp * certificate.weights[d:].sum()
    return {"coefficients": certificate.weights[None, :d], "intercept": np.array([constant])}


# ------------------------------------------------------------------------------------------------- what only data can confirm
class _Kept(NamedTuple):
    """Something that a model keeps of its examples: a function of (what the certificate says, X, y) tells whether it is."""

    agrees: Callable[[Mapping[str, Any], Any, Labels], bool]
    of_claim: bool = False  # whether the certificate must name it too


def _classes(classes: Any) -> _Kept:
    """Return the claim that these are the labels of y, in order."""
    return _Kept(lambda _said, _X, y: np.asarray(classes).tolist() == _labels(y))


def _rows(rows: IntArray, values: Matrix) -> _Kept:
    """Return the claim that these are rows of X, by number."""
    return _Kept(lambda _said, X, _y: _are_rows(X, rows, values))


def _are_rows(X: Any, rows: IntArray, values: Any, scale: FloatArray | None = None) -> bool:
    """Tell whether values, shape (m, d), are rows of X, by number, their columns times a scale if there is one."""
    if values.shape != (rows.size, X.shape[1]) or (rows.size and not 0 <= rows.min() <= rows.max() < X.shape[0]):
        return False
    own = columns_scaled(X[rows], scale)
    if sparse.issparse(own) or sparse.issparse(values):
        return bool(abs(sparse.csr_array(own, dtype=np.float64) - sparse.csr_array(values, dtype=np.float64)).sum() == 0.0)
    return bool(np.array_equal(own, values))


# ------------------------------------------------------------------------------------------------- reading a model
def predictor_of(learnt: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers that a model predicts with, by name, from its learnt attributes.

    Examples
    --------
    >>> predictor_of({"coef_": np.array([2.0]), "intercept_": 1.0})
    {'coefficients': array([[2.]]), 'intercept': array([1.])}
    """
    found = next((read(learnt) for name, read in READERS.items() if name in learnt), {})
    return {**found, "classes": _classes(learnt["classes_"])} if "classes_" in learnt else found


def _part(value: Any, name: str) -> Any:
    """Return a field of a value of ours, or of a record read from a file."""
    return value.fields[name] if isinstance(value, Record) else getattr(value, name)


def _planes(W: FloatArray, learnt: Mapping[str, Any]) -> dict[str, Any]:
    return {"weights": W, "bias": learnt.get("_bias", np.zeros(len(W))), "clamp": float(learnt["_fitted_clamp"])}


def _committee(learnt: Mapping[str, Any]) -> dict[str, Any]:
    names = {"members": "members_", "vote": "_fitted_vote", "radius": "_radius", "clamp": "_fitted_clamp"}
    return {role: learnt[name] for role, name in names.items()}


def _bayes_point(learnt: Mapping[str, Any]) -> dict[str, Any]:
    """Read the centre of a version space, and its members: a list, of a plane or function in each problem."""
    found = _planes(learnt["_W"], learnt) if "_W" in learnt else _expansion(learnt)
    return {**found, "members": learnt["members_"]}


def _prototype_classes(learnt: Mapping[str, Any]) -> dict[str, Any]:
    labels = np.asarray(learnt["prototype_labels_"]).tolist()
    return {"prototypes": learnt["prototypes_"], "labels of prototypes": labels, "metric": learnt.get("omega_")}


def _mixture(learnt: Mapping[str, Any]) -> dict[str, Any]:
    weights = learnt["weights_"]
    sigmas = np.full(len(weights), learnt["sigma_"])
    return {"prototypes": learnt["prototypes_"], "shares": weights, "deviations": sigmas}


def _filter(learnt: Mapping[str, Any]) -> dict[str, Any]:
    past = _part(learnt["_stream"], "past")
    weights = _part(learnt["_stream"], "weights").reshape(past.shape[0] + 1, past.shape[1])
    return {"weights": weights[::-1].T}


def _line(learnt: Mapping[str, Any]) -> dict[str, Any]:
    return {"coefficients": np.atleast_2d(learnt["coef_"]), "intercept": np.atleast_1d(learnt["intercept_"])}


def _log_target(learnt: Mapping[str, Any]) -> dict[str, Any]:
    model = learnt["regressor_"]
    inner = predictor_of(model if isinstance(model, Mapping) else vars(model))
    return {**inner, "factor": learnt["factor_"], "range": learnt["range_"]}


def _components(learnt: Mapping[str, Any]) -> dict[str, Any]:
    """Read a model behind principal components: what it keeps of its examples, it keeps of their components."""
    model, mean, V = learnt["model_"], learnt["mean_"], learnt["components_"]
    found = predictor_of(model if isinstance(model, Mapping) else vars(model))

    def behind(kept: _Kept) -> _Kept:
        return kept._replace(agrees=lambda said, X, y: kept.agrees(said, projected(X, mean, V), y))

    inner = {name: behind(value) if isinstance(value, _Kept) else value for name, value in found.items()}
    return {**inner, "means of inputs": mean, "directions": V}


def _posterior(learnt: Mapping[str, Any]) -> dict[str, Any]:
    sums, freedom = learnt["_sums"], learnt.get("degrees_of_freedom_", np.inf)
    return {
        **({"degrees of freedom": freedom} if freedom < np.inf else {}),
        **_line(learnt),
        "covariance": learnt["covariance_"],
        "noise precision": learnt["noise_precision_"],
        "clamp": learnt["_clamp"],
        "free constant": learnt["_free"],
        "means": np.append(sums["x_mean"], [sums["y_mean"], sums["total"]]),
    }


def _neighbours(learnt: Mapping[str, Any]) -> dict[str, Any]:
    target = learnt["target_"]
    known = np.asarray(learnt["classes_"])[target] if "classes_" in learnt else target
    right = _Kept(lambda _said, _X, y: known.tolist() == np.ravel(y).tolist())
    return {"number of neighbours": learnt["k_"], "neighbours": _rows(np.arange(target.size), learnt["X_"]), "labels": right}


# ------------------------------------------------------------------------------------------------- functions of a kernel
def _expansion(learnt: Mapping[str, Any]) -> dict[str, Any]:
    """Read a function of a kernel for each problem, or for each problem in each cell."""
    if "_learner" in learnt and _part(_part(learnt["_learner"], "setting"), "variant") == "voted":
        return _kernel_votes(learnt["_learner"])
    answer = learnt["_expansion"]
    kernel, support, rows, c, bias = (_part(answer, name) for name in ("kernel", "support", "rows", "coefficients", "bias"))
    found: dict[str, Any] = {"kernel": kernel} if rows.size or learnt.get("_cells") is None else {}
    if not kernel.is_precomputed:  # of which only the columns are read
        found["support vectors"] = _rows(rows, support)
    cells = learnt.get("_cells")
    if cells is None:
        groups = _part(answer, "groups") if not isinstance(answer, Record) else answer.fields.get("groups", ())
        found["functions"] = functions_of(rows, c) if _grouped(c, groups) else None
        # The square of the clamped input was added up over the support vectors of all problems, zeros included.
        found["bias"] = _Kept(lambda said, _X, _y: same(bias, said["bias"] + said["clamp"] ** 2 * c.sum(axis=1)), of_claim=True)
        return {**found, "clamp": float(learnt["_fitted_clamp"]), "voting": bool(learnt.get("_voting", False))}
    columns = _part(cells, "columns")
    found["functions"] = [functions_of(rows[own], c[:, own]) for own in columns]
    names = {"centres": "centres", "bias": "bias", "classes of cells": "present"}
    return {**found, **{role: _part(cells, name) for role, name in names.items()}}


def _novelty(learnt: Mapping[str, Any]) -> dict[str, Any]:
    """Read the function of a novelty detector, whose support vectors are rows times a scale for each column."""
    found, answer, scale = _expansion(learnt), learnt["_expansion"], learnt["scale_"]
    if scale is not None:
        rows, support = _part(answer, "rows"), _part(answer, "support")
        found["support vectors"] = _Kept(lambda _said, X, _y: _are_rows(X, rows, support, scale))
    return {**found, "scale": scale, "scores": learnt["calibration_scores_"], "threshold": float(learnt["offset_"])}


def functions_of(rows: IntArray, c: FloatArray) -> list[tuple[IntArray, FloatArray]]:
    """Return K functions with coefficients c (K, m) at these rows, each as its rows in order and coefficients other than 0.

    Examples
    --------
    >>> functions_of(np.array([7, 3]), np.array([[1.0, 2.0], [0.0, 5.0]]))
    [(array([3, 7]), array([2., 1.])), (array([3]), array([5.]))]
    """
    order = np.argsort(rows, kind="stable")
    return [(rows[own], row[own]) for row, own in ((row, order[row[order] != 0.0]) for row in c)]


def one_function(certificate: Any, rows: IntArray, coefficients: FloatArray) -> dict[str, Any]:
    """Return what predicts according to a certificate about one function of a kernel, with coefficients (m,) at these rows."""
    return {
        "kernel": certificate.kernel,
        "functions": functions_of(rows, coefficients[None]),
        "bias": np.array([getattr(certificate, "bias", 0.0)]),
        "clamp": certificate.clamp,
        "voting": False,
        "positive": [certificate.positive],
    }


def _grouped(c: FloatArray, groups: Any) -> bool:
    """Tell whether groups of support vectors and functions cover every coefficient other than 0 once."""
    if not groups:
        return True
    times = np.zeros(c.shape, dtype=np.int64)
    for members, users in groups:
        np.add.at(times, np.ix_(users, members), 1)
    return bool((times[c != 0.0] == 1).all())


# ------------------------------------------------------------------------------------------------- votes
def _votes(learnt: Mapping[str, Any]) -> dict[str, Any]:
    """Read the votes of every weight vector that a perceptron ever had."""
    state, pages, first = learnt["_state"], [], 0
    for support, log in learnt["_pages"]:
        entries = _entries(log)
        pages.append({**entries, "row": entries["row"] + first})
        first += support.shape[0]
    log = {name: np.concatenate([entries[name] for entries in pages]) for name in pages[0]}
    rows = [support for support, _ in learnt["_pages"]]
    support = sparse.vstack(rows, format="csr") if any(map(sparse.issparse, rows)) else np.concatenate(rows)
    found = _cast(log, _part(state, "W").shape[0], int(_part(state, "clock")[0]))
    return {**found, "voters": _voters(log, support), "clamp": float(learnt["_fitted_clamp"])}


def _kernel_votes(learner: Any) -> dict[str, Any]:
    """Read the votes of every function that a kernel perceptron ever had."""
    setting, page = _part(learner, "setting"), _part(learner, "page")
    kernel, shift, log = _part(setting, "kernel"), _part(setting, "shift"), _entries(_part(page, "log"))
    K = _part(page, "signed").shape[0]
    if kernel.is_precomputed:  # of which only the columns are read
        rows = _part(page, "rows")[log["row"]]
        voters: Any = [rows[log["k"] == k] for k in range(K)]
    else:
        voters = _voters(log, _part(page, "support"))
    clamp = _Kept(lambda said, _X, _y: bool(said["clamp"] ** 2 == shift), of_claim=True)
    return {**_cast(log, K, int(_part(learner, "clock"))), "voters": voters, "clamp": clamp, "kernel": kernel}


def _entries(log: Any) -> dict[str, Any]:
    """Return the entries of a log of mistakes that are in use."""
    size = int(_part(log, "size")[0])
    return {name: _part(log, name)[:size] for name in ("k", "row", "change", "time")}


def _cast(log: Mapping[str, Any], K: int, presented: int) -> dict[str, Any]:
    """Return the steps and the times of the mistakes of each of K problems, and how many examples were presented."""
    own = [log["k"] == k for k in range(K)]
    return {"steps": [log["change"][k] for k in own], "times": [log["time"][k] for k in own], "presented": presented}


def _voters(log: Mapping[str, Any], support: Any) -> _Kept:
    """Return the claim that the mistakes of each problem were made on the rows that the certificate names."""

    def agree(said: Mapping[str, Any], X: Any, _y: Labels) -> bool:
        own = [log["k"] == k for k in range(len(said["voters"]))]
        if [int(k.sum()) for k in own] != [named.size for named in said["voters"]]:
            return False
        numbers = np.full(log["row"].size, -1)
        for k, named in zip(own, said["voters"], strict=True):
            numbers[k] = named
        kept, numbers = np.unique([log["row"], numbers], axis=1)
        return _are_rows(X, numbers, support[kept])

    return _Kept(agree, of_claim=True)


READERS: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "components_": _components,
    "centre_error_": _bayes_point,
    "members_": _committee,
    "calibration_scores_": _novelty,
    "regressor_": _log_target,
    "_expansion": _expansion,
    "prototype_labels_": _prototype_classes,
    "sigma_": _mixture,
    "prototypes_": lambda learnt: {"prototypes": learnt["prototypes_"]},
    "cluster_centers_": lambda learnt: {"prototypes": learnt["cluster_centers_"]},
    "_stream": _filter,
    "covariance_": _posterior,
    "coef_": _line,
    "k_": _neighbours,
    "mean_": lambda learnt: {"mean": learnt["mean_"]},
    "_pages": _votes,
    "_W": lambda learnt: _planes(learnt["_W"], learnt),
    "_states": lambda learnt: _planes(np.array([_part(state, "lower_w") for state in learnt["_states"]]), learnt),
    "_state": lambda learnt: _planes(_part(learnt["_state"], "W"), learnt),
}
"""Who reads what predicts, by an attribute that tells one kind of model from the others; the first that is there counts."""
