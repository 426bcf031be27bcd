"""`halfspace inspect`: what a model file holds."""

from typing import Any

import numpy as np

from halfspace import __version__
from halfspace._text import listed, plural
from halfspace.cli.frame import Answer, clean
from halfspace.cli.ladders import facts, summary
from halfspace.cli.text import proof_of, shortened, table
from halfspace.files.opening import on_disk
from halfspace.ladder.base import BaseLadder
from halfspace.modelfiles import load
from halfspace.notes import sentences

__all__ = ["run"]

MOST_CLASSES = 10
PLAIN = (type(None), bool, int, float, str, list, tuple)
"""Types of parameters that can be shown as they are."""


def run(model: str, top: int = 10) -> Answer:
    """Describe a model file; at most `top` weights per class and `top` examples are listed."""
    with on_disk(model) as file:
        held, n_bytes = load(file), file.stat().st_size
    ladder = held if isinstance(held, BaseLadder) and hasattr(held, "estimator_") else None
    inner = held if ladder is None else ladder.estimator_
    fitted = any(name.endswith("_") and not name.startswith("__") for name in vars(held))
    proof = getattr(inner, "certificate_", None) if fitted else None
    body: dict[str, Any] = {
        "command": "inspect",
        "halfspace": __version__,
        "model": model,
        "kind": type(held).__name__,
        "fitted": fitted,
        "n_bytes": n_bytes,
        "params": {name: value for name, value in held.get_params(deep=False).items() if isinstance(value, PLAIN)},
        "trained_on": _trained_on(getattr(held, "origin_", None)),
        "ladder": None if ladder is None else facts(ladder),
        "classes": np.asarray(held.classes_).tolist() if hasattr(held, "classes_") else None,
        "n_inputs": int(inner.n_features_in_) if fitted and hasattr(inner, "n_features_in_") else None,
        "weights": _weights(inner, _names(held, inner), top) if fitted else [],
        "relevances": _relevances(inner, _names(held, inner), top),
        "n_support": int(inner.support_.size) if fitted and hasattr(inner, "support_") else None,
        "hardest": _hardest(held, inner, top) if fitted else None,
        "proof": None if proof is None else proof_of(proof),
        "outcome": str(held.outcome_) if hasattr(held, "outcome_") else None,
        "notes": sentences(getattr(held, "notes_", ())),
    }
    return Answer(body, _text(body, "" if ladder is None else summary(ladder)))


def _trained_on(origin: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return what a ladder was trained on; no data."""
    if origin is None:
        return None
    kept = ("source", "built_in", "target", "columns", "n_columns", "n_rows", "seed", "time", "versions")
    return {**{name: origin[name] for name in kept}, "n_used": len(origin["rows"])}


def _names(held: Any, inner: Any) -> Any:
    """Return the names of the inputs of the weights."""
    if hasattr(held, "encoder_"):
        return held.encoder_.get_feature_names_out()
    return getattr(inner, "feature_names_in_", [f"x{j}" for j in range(getattr(inner, "n_features_in_", 0))])


def _weights(inner: Any, names: Any, top: int) -> list[dict[str, Any]]:
    """Return the largest weights of each plane by name, the largest first."""
    coef = getattr(getattr(inner, "regressor_", inner), "coef_", None)
    if coef is None or len(names) != np.shape(coef)[-1]:
        return []
    coef = np.atleast_2d(coef)
    numbers = [None] if coef.shape[0] == 1 else [f"target {k}" for k in range(coef.shape[0])]
    classes = getattr(inner, "classes_", None)
    labels = numbers if classes is None else (classes[1:] if coef.shape[0] == 1 else classes).tolist()
    biases = np.broadcast_to(getattr(inner, "regressor_", inner).intercept_, (coef.shape[0],))
    found = []
    for label, w, bias in zip(labels, coef, biases, strict=True):
        largest = np.argsort(-np.abs(w), kind="stable")[:top]
        listing = [{"name": str(names[j]), "weight": float(w[j])} for j in largest]
        found.append({"label": label, "bias": float(bias), "n": int(w.size), "weights": listing})
    return found


def _relevances(inner: Any, names: Any, top: int) -> list[dict[str, Any]]:
    """Return the inputs of largest relevance by name, the mean over the classes where each has its own metric."""
    found = getattr(inner, "relevances_", None)
    if found is None or isinstance(inner, BaseLadder):
        return []
    shares = np.atleast_2d(found).mean(axis=0)
    largest = np.argsort(-shares, kind="stable")[:top]
    return [{"name": str(names[j]), "share": float(shares[j])} for j in largest]


def _hardest(held: Any, inner: Any, top: int) -> dict[str, Any] | None:
    """Return the training rows of lowest potential out of fold, or else those of the largest strength."""
    kept = getattr(held, "origin_", {}).get("hardest")
    if kept is not None:
        return {
            "measure": "potential out of fold",
            "rows": kept["rows"][:top].tolist(),
            "values": kept["potentials"][:top].tolist(),
        }
    strengths = getattr(inner, "alpha_", None)
    if strengths is None or isinstance(held, BaseLadder):
        return None
    strengths = np.abs(np.atleast_2d(strengths)).max(axis=0)
    rows = np.argsort(-strengths, kind="stable")[: min(top, np.count_nonzero(strengths))]
    return {"measure": "strength", "rows": rows.tolist(), "values": strengths[rows].tolist()}


def _text(body: dict[str, Any], ladder: str) -> str:
    """Return the answer for people."""
    parts = [f"{body['model']}: {body['kind']}{'' if body['fitted'] else ', not fitted'}, {body['n_bytes']:,} bytes"]
    if body["trained_on"]:
        parts += _trained_text(body["trained_on"])
    elif body["n_inputs"] is not None:
        classes = "" if body["classes"] is None else f"; classes: {listed(body['classes'], 10, clean)}"
        parts.append(f"Trained on {plural(body['n_inputs'], 'input')}{classes}.")
    if ladder:
        parts += ["", ladder]
    elif body["proof"]:
        parts += [body["outcome"] or "", f"Proof: {shortened(body['proof']['sentence'])}"]
    for plane in body["weights"][:MOST_CLASSES]:
        listing = [(one["name"], f"{one['weight']:+.4g}") for one in plane["weights"]]
        label = "" if plane["label"] is None else f" for {plane['label']}"
        head = f"Weights{label} ({len(listing)} largest of {plane['n']:,}; bias {plane['bias']:+.4g}):"
        parts += ["", head, table(("input", "weight"), listing, right="lr")]
    if body["relevances"]:
        listing = [(one["name"], f"{one['share']:.3f}") for one in body["relevances"]]
        parts += ["", "Relevances of the metric, largest first:", table(("input", "share"), listing, right="lr")]
    if body["hardest"] and body["hardest"]["rows"]:
        hardest = body["hardest"]
        listing = [(row, f"{value:.4g}") for row, value in zip(hardest["rows"], hardest["values"], strict=True)]
        parts += [
            "",
            "Hardest training examples, by row number from 0:",
            table(("row", hardest["measure"]), listing, right="rr"),
        ]
    return "\n".join([*parts, *(f"note: {note}" for note in body["notes"])])


def _trained_text(origin: dict[str, Any]) -> list[str]:
    """Say what a ladder was trained on."""
    source, versions = origin["source"], origin["versions"]
    rows = f"{origin['n_used']:,} of {plural(origin['n_rows'], 'row')}"
    names = f" ({listed(origin['columns'], 10, clean)})" if origin["columns"] else ""
    columns = plural(origin["n_columns"], "column") + names
    return [
        f"Fitted to {source['name']} ({source['format']}): {rows}, target {origin['target']}, {columns}.",
        f"On {origin['time']}, seed {origin['seed']}, with " + ", ".join(f"{name} {v}" for name, v in versions.items()) + ".",
    ]
