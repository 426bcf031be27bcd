"""What the parts of a model must agree on, beyond what the table can say: checked before the model is made."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Never

import numpy as np

from halfspace.certificates.fields import Model, Record, Scope, check_fields, is_plain
from halfspace.errors import ModelFileError
from halfspace.modelfiles.records import RECORDS
from halfspace.modelfiles.table import MODELS

__all__ = ["agree"]

MOMENTS = {"year", "month", "day", "weekday", "hour", "day number"}
_FIELDS = {key: place.fields for key, place in RECORDS.items()}


def agree(model: Model) -> None:
    """Refuse a model whose parts do not fit together."""
    with suppress(KeyError, AttributeError, TypeError, ValueError, IndexError):  # what is damaged is refused below
        _renew(model.fitted)
    place, fitted = MODELS[model.key], model.fitted
    for name, value in model.params.items():
        _check_plain(value, f"{model.key}.{name}")
    if not fitted:
        return
    scope = Scope(_letters(fitted), {}, _FIELDS)
    known = {name.lstrip("?") for name in place.fields}
    free = {name: value for name, value in fitted.items() if name not in known} if place.others else {}
    for name, value in free.items():
        if not (name.isidentifier() and name.endswith("_") and not name.startswith("_")):
            _refuse(model.key, f"{name!r} is no name of an attribute")
        _check_plain(value, f"{model.key}.{name}")
    check_fields(place.fields, {name: value for name, value in fitted.items() if name not in free}, scope, model.key)
    if model.key in _CHECKS:
        _CHECKS[model.key](fitted, scope.shared)


def _renew(fitted: dict[str, Any]) -> None:
    """Bring presenting models of earlier files up to date: states knew no epochs, and memories answered themselves."""
    fields = fitted["_state"].fields
    if "earlier" in fields:
        return
    fitted.pop("_loose", None)
    memory, clock = fitted["_memory"], fields["clock"]
    fields["earlier"], fields["active"] = fields["updates"].copy(), np.ones_like(fields["updates"])
    fields["clock"] = np.array([clock[0], 0, 0, 0])
    if memory.key == "averaged.Mean":
        T, settled, U = max(int(clock[0]), 1), memory.fields.pop("settled"), memory.fields["U"]
        fitted["_W"], fitted["_alpha"] = fields["W"] - U / T, fields["alpha"] - settled / T
        memory.fields["total"] = U.copy()
    if memory.key == "pocket.Pocket":
        fitted["_W"], fitted["_alpha"] = memory.fields["W"].copy(), memory.fields["alpha"].copy()


def _letters(fitted: dict[str, Any]) -> dict[str, int]:
    """Return what the letters stand for that other attributes decide: K problems, and D weights each."""
    letters: dict[str, int] = {}
    classes, width = fitted.get("classes_"), fitted.get("n_features_in_")
    if isinstance(classes, np.ndarray) and classes.ndim == 1:
        c = classes.size
        if c < 2:
            _refuse("classes_", "there are fewer than two")
        letters["c"] = c
        letters["K"] = c * (c - 1) // 2 if fitted.get("_voting") is True and c > 2 else 1 if c == 2 else c
    if type(width) is int and width > 0:
        letters["d"] = width
        clamp = fitted.get("_fitted_clamp")
        if "_expansion" not in fitted:  # in a kernel's space the weights are outputs, one per example
            letters["D"] = width + (1 if isinstance(clamp, float) and clamp != 0.0 else 0)
    return letters


def _refuse(who: str, why: str) -> Never:
    msg = f"its parts do not fit together: {who}: {why}"
    raise ModelFileError(msg)


def _check_plain(value: Any, where: str) -> None:
    """Refuse records where plain values or models are expected."""
    if not isinstance(value, Model) and not is_plain(value):
        _refuse(where, "a record has no place here")


def _inside(values: Any, low: int, high: int, who: str) -> None:
    """Refuse numbers outside low <= number < high: compiled code would follow them."""
    if values.size and not (values.min() >= low and values.max() < high):
        _refuse(who, "a number points outside")


def _many(values: Any, count: int, who: str) -> None:
    """Refuse a list of another length."""
    if len(values) != count:
        _refuse(who, f"{count} expected, and there are {len(values)}")


def _log(log: Record, K: int, rows: int) -> None:
    """Refuse a log of mistakes on problems or rows that there are not."""
    _inside(log.fields["k"], 0, K, "a log of mistakes")
    _inside(log.fields["row"], 0, rows, "a log of mistakes")
    log.fields["size"][:] = log.fields["k"].size


def _fresh(log: Record, capacity: int) -> None:
    """Give an emptied log room for as many mistakes as an epoch can bring: the file holds what is in use only."""
    if log.fields["k"].size:
        _refuse("a log of mistakes", "it should be empty")
    kinds = {"k": np.int64, "row": np.int64, "change": np.float64, "time": np.int64}
    log.fields.update({name: np.empty(capacity, dtype=kind) for name, kind in kinds.items()})
    log.fields["size"][:] = 0


def _averaged(fitted: dict[str, Any], _letters: dict[str, int]) -> None:
    state, mean = fitted["_state"].fields, fitted["_memory"].fields
    if mean["U"].shape != state["W"].shape or mean["total"].shape != state["W"].shape:
        _refuse("AveragedPerceptron", "the mean is not of the weights")


def _voted(fitted: dict[str, Any], letters: dict[str, int]) -> None:
    if not fitted["_pages"]:
        _refuse("VotedPerceptron", "it has no votes")
    for support, log in fitted["_pages"]:
        _log(log, letters["K"], support.shape[0])
    _fresh(fitted["_memory"], fitted["_state"].fields["alpha"].size)


def _pushes(fitted: dict[str, Any], letters: dict[str, int]) -> None:
    _many(fitted["_states"], letters["K"], "_states")
    for state in fitted["_states"]:
        _inside(state.fields["counts"][1:2], 0, letters["n"], "the row to push next")


def _kernel_pushes(fitted: dict[str, Any], letters: dict[str, int]) -> None:
    _pushes(fitted, letters)
    _expansion(fitted, letters)
    if any(state.fields["w"].size != state.fields["alpha"].size for state in fitted["_states"]):
        _refuse("KernelMinOver", "there is not one output per example")


def _expansion(fitted: dict[str, Any], letters: dict[str, int]) -> None:
    _usable(fitted["_expansion"], letters)


def _usable(expansion: Record, letters: dict[str, int]) -> None:
    """Refuse a kernel that cannot be computed on the support vectors."""
    kernel, support = expansion.fields["kernel"], expansion.fields["support"]
    if kernel.is_precomputed:
        _inside(expansion.fields["rows"], 0, letters["d"], "columns of a precomputed kernel")
    elif support.shape[0]:
        kernel.exact(support[:1])


def _learner(fitted: dict[str, Any], letters: dict[str, int]) -> None:
    _expansion(fitted, letters)
    learner = fitted["_learner"]
    (_unbounded if learner.key == "Unbounded" else _budgeted)(learner.fields, letters)


def _unbounded(learner: dict[str, Any], letters: dict[str, int]) -> None:
    K, n, variant = letters["K"], learner["state"].fields["alpha"].shape[1], learner["setting"].fields["variant"]
    kinds = {"plain": "sweep.Forget", "averaged": "averaged.Mean", "voted": "voted.Log"}
    if learner["state"].fields["W"].shape != learner["state"].fields["alpha"].shape:
        _refuse("KernelPerceptron", "there is not one output per example")
    if learner["memory"].key != kinds.get(variant):
        _refuse("KernelPerceptron", f"its memory is not that of the variant {variant!r}")
    for page in (learner["base"], learner["page"]):
        if page is not None:
            _log(page.fields["log"], K, page.fields["rows"].size)
    for log in learner["logs"]:
        _log(log, K, n)
    if variant == "voted":
        _fresh(learner["memory"], K * n)


def _budgeted(learner: dict[str, Any], letters: dict[str, int]) -> None:
    kept, K, B = learner["kept"].fields, letters["K"], letters["B"]
    if learner["setting"].fields["variant"] != "plain":
        _refuse("KernelPerceptron", "only the plain variant has a budget")
    _usable(learner["answer"], letters)
    for name in ("slots", "rules", "rows"):
        _many(kept[name], K, f"KernelPerceptron: {name}")
    for slots in kept["slots"]:
        if not 0 <= slots.fields["counts"][0] <= B or slots.fields["columns"].shape[0] not in (0, letters["d"]):
            _refuse("KernelPerceptron", "more slots are in use than there are")
    _inside(np.concatenate([slots.fields["row"] for slots in kept["slots"]]), -1, learner["signs"].shape[1], "rows of slots")


def _machine(fitted: dict[str, Any], letters: dict[str, int]) -> None:
    expansion, cells, solved = fitted["_expansion"], fitted["_cells"], fitted.get("_solved")
    _usable(expansion, letters)
    if fitted["_voting"] and (letters["c"] <= 2 or cells is not None):
        _refuse("KernelAdaTron", "two classes have no votes")
    if cells is not None:
        _many(cells.fields["columns"], cells.fields["centres"].shape[0], "cells")
        for columns in cells.fields["columns"]:
            _inside(columns, 0, expansion.fields["rows"].size, "support vectors of a cell")
    if solved is not None:
        _solved(solved.fields, fitted, letters)
    elif "_alpha" not in fitted:
        _refuse("KernelAdaTron", "it has no strengths")


def _solved(solved: dict[str, Any], fitted: dict[str, Any], letters: dict[str, int]) -> None:
    if "_labels" not in fitted or fitted["_labels"].size != solved["n"]:
        _refuse("KernelAdaTron", "it was not learnt from as many examples as there are labels")
    _many(solved["tasks"], letters["K"], "problems")
    _many(solved["answers"], letters["K"], "answers")
    for task, answer in zip(solved["tasks"], solved["answers"], strict=True):
        _many(answer.fields["b"], task.fields["rows"].size, "strengths")


def _committee(fitted: dict[str, Any], _letters: dict[str, int]) -> None:
    if fitted["_fitted_vote"] not in ("majority", "stability"):
        _refuse("PerceptronCommittee", "there is no such vote")


def _chosen(fitted: dict[str, Any], _letters: dict[str, int]) -> None:
    inner = fitted["estimator_"].fitted
    same = inner.get("n_features_in_") == fitted["n_features_in_"] and "classes_" in inner
    if not same or not np.array_equal(inner["classes_"], fitted["classes_"]):
        _refuse("estimator_", "it knows other features or classes")


def _neighbours(fitted: dict[str, Any], letters: dict[str, int]) -> None:
    if not 1 <= fitted["k_"] <= letters["n"]:
        _refuse("Neighbours", "there are fewer examples than neighbours")


def _prototypes(fitted: dict[str, Any], letters: dict[str, int]) -> None:
    """Refuse prototypes of other labels than the classes, or not sorted by class: compiled code looks for a class in its place.

    A stream may not have seen every class yet.
    """
    classes, labels = fitted["classes_"], fitted["prototype_labels_"]
    numbers = np.searchsorted(classes, labels).clip(max=classes.size - 1)
    if not np.array_equal(classes[numbers], labels) or (np.diff(numbers) < 0).any():
        _refuse("prototype_labels_", "they are not those of the classes, in their order")
    if not letters["P"] or not np.isfinite(fitted["prototypes_"]).all():
        _refuse("prototypes_", "there are none, or they are not finite")
    state = fitted["_state"].fields if fitted.get("_state") else {}
    for book in (state[name].fields for name in ("book", "last") if state.get(name)):
        omega, Q = book["omega"], book["Q"]
        projected = omega.shape[0] % 4 == 0 and Q.shape[1] == omega.shape[0] if omega.ndim == 2 else Q.shape[1] == 0
        if not projected or not np.array_equal(book["labels"], numbers):
            _refuse("_state", "its prototypes are not those of the model")
    if "book" in state and (state["counts"].min() < 0 or bool(state["counts"][1]) != bool(state["last"])):
        _refuse("_state", "an epoch is not at its start, and the start is not there")
    if "theta" in state and state["theta"].size not in (state["W"].size, state["W"].size + state["omega"].size):
        _refuse("_state", "its point has other coordinates than prototypes and metric")


def _quantiser(fitted: dict[str, Any], letters: dict[str, int]) -> None:
    state = fitted["_state"].fields if fitted["_state"] else None
    if state and (state["V"].shape[1] != -(-letters["P"] // 8) * 8 or state["counts"].min() < 0):
        _refuse("_state", "its prototypes are not those of the model")


def _filter(fitted: dict[str, Any], letters: dict[str, int]) -> None:
    stream = fitted["_stream"].fields
    if stream["weights"].size != letters["d"] * (stream["past"].shape[0] + 1):
        _refuse("AdaptiveFilter", "its weights are not one for each input and delay")


def _encoder(fitted: dict[str, Any], letters: dict[str, int]) -> None:
    """Refuse recipes and outputs that do not fit: the outputs decide how much memory encoding takes."""
    from halfspace.tables.recipes import width  # noqa: PLC0415  (only encoders need it)

    _many(fitted["columns_"], letters["d"], "columns")
    if fitted["largest_"] is not None:
        return
    recipes, groups = fitted["recipes_"], fitted["groups_"]
    if not isinstance(recipes, list) or not recipes or not all(map(_is_recipe, recipes)):
        _refuse("TableEncoder", "it has no recipes, or one that is none")
    _many(groups, len(recipes), "columns of the table")
    at = 0
    for recipe, (_, first, end) in zip(recipes, groups, strict=True):
        if type(recipe["column"]) is not int or not 0 <= recipe["column"] < letters["d"]:
            _refuse("TableEncoder", "there is no such column")
        if (first, end) != (at, at + width(recipe)):
            _refuse("TableEncoder", "the outputs are not those of the recipes")
        at = end


def _is_recipe(recipe: Any) -> bool:
    """Tell whether encoding can follow a recipe."""
    kind = recipe.get("kind") if isinstance(recipe, dict) else None
    if kind == "category":
        values = recipe.get("values")
        switches = all(isinstance(recipe.get(name), bool) for name in ("other", "missing", "switch"))
        return switches and isinstance(values, list) and all(isinstance(value, str) for value in values)
    if kind == "gap":
        return True
    if kind not in ("number", "moment") or not isinstance(recipe.get("indicator"), bool):
        return False
    parts, suffixes = recipe.get("parts"), recipe.get("suffixes")
    if not (isinstance(parts, list) and isinstance(suffixes, list) and 1 <= len(parts) == len(suffixes)):
        return False
    known = suffixes == [""] if kind == "number" else all(isinstance(one, str) and one[1:] in MOMENTS for one in suffixes)
    return known and all(map(_is_scale, parts))


def _is_scale(part: Any) -> bool:
    """Tell whether a number can be filled and scaled this way."""
    if not isinstance(part, dict) or not all(isinstance(part.get(name), float) for name in ("fill", "unit", "shift", "spread")):
        return False
    quantiles = part.get("quantiles", np.zeros(1))
    sound = isinstance(quantiles, np.ndarray) and quantiles.dtype == np.float64 and quantiles.ndim == 1 and quantiles.size > 0
    finite = all(np.isfinite(part[name]) for name in ("fill", "unit", "shift", "spread"))
    return sound and finite and part["unit"] > 0.0 and part["spread"] > 0.0


def _ladder(fitted: dict[str, Any], _letters: dict[str, int]) -> None:
    encoder, winner = fitted["encoder_"].fitted, fitted["estimator_"].fitted
    if not encoder or encoder["n_features_in_"] != fitted["n_features_in_"] or "classes_" not in winner:
        _refuse("Ladder", "its parts are not fitted to the same table")
    width = len(encoder["columns_"]) if encoder["largest_"] is not None else encoder["groups_"][-1][2]
    if winner.get("n_features_in_", width) != width or not np.array_equal(winner["classes_"], fitted["classes_"]):
        _refuse("Ladder", "the winner knows other features or classes")
    for curve in (fitted["calibration_"].fields[name].fields for name in ("below", "above")):
        if not (0.0 < curve["slope"] < np.inf and 0.0 <= curve["noise"] < 1.0):
            _refuse("Ladder", "its probabilities would not be any")


_CHECKS: dict[str, Callable[[dict[str, Any], dict[str, int]], None]] = {
    "AveragedPerceptron": _averaged,
    "VotedPerceptron": _voted,
    "MinOver": _pushes,
    "KernelMinOver": _kernel_pushes,
    "KernelPerceptron": _learner,
    "KernelAdaTron": _machine,
    "PerceptronCommittee": _committee,
    "AdaTronCV": _chosen,
    "KernelAdaTronCV": _chosen,
    "Ladder": _ladder,
    "Neighbours": _neighbours,
    **dict.fromkeys(("VectorQuantizer", "NeuralGas"), _quantiser),
    **dict.fromkeys(("LVQ", "GLVQ", "GRLVQ", "GMLVQ"), _prototypes),
    "AdaptiveFilter": _filter,
    "TableEncoder": _encoder,
}
