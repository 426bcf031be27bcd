"""The records that models hold: which key stands for which class of ours, and what its fields must be (see `shapes`)."""

from typing import Any, NamedTuple

import numpy as np

__all__ = ["RECORDS", "Place", "upgraded"]


class Place(NamedTuple):
    """Where a class lives, and what an object of it holds; names with ? may be missing."""

    module: str
    name: str
    fields: dict[str, Any]
    others: bool = False
    """Whether other plain attributes may come along; their names end in _ and are no names of the class."""


_LOG = {"k": "i8(_l)", "row": "i8(_l)", "change": "f8(_l)", "time": "i8(_l)", "size": "i8(1)"}
_PAGE = {
    "support": "rows(_m,d)",
    "rows": "i8(_m)",
    "signed": "f8(K,_m)",
    "missing": "f8(K,_m)",
    "log": "@voted.Log",
}
_ALL_ROWS = ("alpha", "lower_alpha", "upper_alpha")

RECORDS: dict[str, Place] = {
    "Note": Place("notes", "Note", {"kind": "str", "column": "str", "count": "int", "detail": "str"}),
    "Outcome": Place("solvers.outcome", "Outcome", {"reason": "str", "sentence": "str", "remedy": "str"}),
    "sweep.State": Place(
        "solvers.rules.sweep",
        "State",
        {
            "W": "f8(K,D)",
            "alpha": "f8(K,n)",
            **dict.fromkeys(("mistakes", "updates", "earlier", "active"), "i8(K)"),
            "clock": "i8(4)",
        },
    ),
    "sweep.Forget": Place("solvers.rules.sweep", "Forget", {"nothing": "int"}),
    "averaged.Mean": Place(
        "solvers.rules.averaged", "Mean", {"beta": "f8(K,n)", "U": "f8(K,D) | f8(K,0)", "total": "f8(K,D) | f8(K,0)"}
    ),
    "pocket.Pocket": Place(
        "solvers.rules.pocket",
        "Pocket",
        {"W": "f8(K,D)", "alpha": "f8(K,n)", "run": "i8(K)", "errors": "f8(K)", "last": "i8(K)", "ratchet": "i8(1)"},
    ),
    "voted.Log": Place("solvers.rules.voted", "Log", _LOG),
    "minover.State": Place(
        "solvers.rules.minover",
        "State",
        {
            **dict.fromkeys(("w", "lower_w", "anchor_w"), "f8(D)"),
            **dict.fromkeys((*_ALL_ROWS, "anchor_alpha"), "f8(n)"),
            "sides": "f8(2)",
            "counts": "i8(3)",
            "marks": "i8(2)",
        },
    ),
    "lvq.Book": Place(
        "solvers.prototypes.glvq",
        "Book",
        {
            "W": "f8(P,d)",
            "labels": "i8(P)",
            "omega": "f8(d) | f8(_m,d)",
            "Q": "f8(P,0) | f8(P,_m)",
            "tally": "f8(4)",
        },
    ),
    "lvq.State": Place(
        "solvers.prototypes.online",
        "State",
        {"book": "@lvq.Book", "last": "none | @lvq.Book", "counts": "i8(4)", "moved": "f8(2)"},
    ),
    "lvq.Descent": Place(
        "solvers.prototypes.glvq_batch",
        "State",
        {
            "W": "f8(P,d)",
            "omega": "f8(d) | f8(_m,d) | f8(_c,_m,d)",
            **dict.fromkeys(("theta", "gradient"), "f8(_p)"),
            **dict.fromkeys(("steps", "changes"), "f8(10,_p)"),
            "costs": "f8(3)",
            "counts": "i8(2)",
        },
    ),
    "quantising.State": Place(
        "solvers.prototypes.quantising",
        "State",
        {"V": "f8(d,_m)", "wins": "i8(P)", "error": "f8(1)", "counts": "i8(2)"},
    ),
    "Expansion": Place(
        "models.kernel.prediction",
        "Expansion",
        {
            "kernel": "kernel",
            "support": "rows(_m,d)",
            "rows": "i8(_m)",
            "coefficients": "f8(K,_m)",
            "bias": "f8(K)",
            "groups": [("i8(_g) in 0.._m", "i8(_f) in 0..K")],
        },
    ),
    "Cells": Place(
        "models.kernel.cells",
        "Cells",
        {"centres": "f8(_q,d)", "columns": ["i8(_c)"], "bias": "f8(_q,K)", "present": "b(_q,K)"},
    ),
    "kernel_margin.Task": Place(
        "models.multiclass",
        "Task",
        {"rows": "i8(_r) in 0..n", "sign": "f8(_r)", "s": "f8(_r)", "positive": "label"},
    ),
    "KernelAnswer": Place(
        "solvers.kernel.machine",
        "KernelAnswer",
        {
            **dict.fromkeys(("b", "h", "error"), "f8(_r)"),
            **dict.fromkeys(("bias", "primal", "dual"), "number"),
            "?reason": "str",
            "?rounds": "int",
            "?course": [("number", "number", "number", "number")],
        },
    ),
    "Solved": Place(
        "models.kernel.margin", "Solved", {"n": "=n", "tasks": ["@kernel_margin.Task"], "answers": ["@KernelAnswer"]}
    ),
    "Setting": Place(
        "models.kernel.learners", "Setting", {"kernel": "kernel", "shift": "number", "variant": "str", "room": "number"}
    ),
    "Page": Place("models.kernel.learners", "_Page", _PAGE),
    "Unbounded": Place(
        "models.kernel.learners",
        "Unbounded",
        {
            "setting": "@Setting",
            "base": "none | @Page",
            "page": "@Page",
            "clock": "int",
            "mistakes": "i8(K)",
            "mark": "str",
            "state": "@sweep.State",
            "memory": "@sweep.Forget | @averaged.Mean | @voted.Log",
            "logs": ["@voted.Log"],
            "signs": "f8(K,n)",
            "whole": "bool",
        },
    ),
    "OnBudget": Place(
        "models.kernel.learners",
        "OnBudget",
        {
            "setting": "@Setting",
            "budget": "=B",
            "whole": "bool",
            "kept": "@Keep",
            "mark": "str",
            "signs": "f8(K,n)",
            "clock": "int",
            "mistakes": "i8(K)",
            "signed": "f8(K,n)",
            "answer": "@Expansion",
        },
    ),
    "Keep": Place(
        "solvers.kernel.projectron",
        "Keep",
        {
            "slots": ["@Slots"],
            "rules": ["@Projectron"],
            "counts": "@Counts",
            "rows": ["none | rows(_r,d)"],
        },
    ),
    "Slots": Place(
        "solvers.kernel.slots",
        "Slots",
        {
            "columns": "f8(0,B) | f8(d,B)",
            **dict.fromkeys(("squares", "weight", "value", "scratch"), "f8(B)"),
            "row": "i8(B)",
            "K": "f8(B,B)",
            "sums": "f8(3) | f8(4)",
            "counts": "i8(1) | i8(2)",
        },
    ),
    "Counts": Place(
        "solvers.kernel.projectron",
        "Counts",
        {**dict.fromkeys(("mistakes", "updates", "earlier", "active"), "i8(K)"), "clock": "i8(4)"},
    ),
    "Projectron": Place("solvers.kernel.projectron", "Projectron", {"inverse": "f8(B,B)"}),
    "filter.Stream": Place(
        "solvers.linear.adaptive_filter", "Stream", {"weights": "f8(_w)", "past": "f8(_p,d)", "tally": "f8(6)"}
    ),
    "Rung": Place(
        "ladder.values",
        "Rung",
        {
            **dict.fromkeys(("name", "title", "proof", "skipped", "note"), "str"),
            **dict.fromkeys(("score", "error", "fit_seconds", "predict_seconds", "predicted"), "number"),
            "scores": ["number"],
            "support": "none | int",
            "params": "plain",
        },
    ),
    "TestResult": Place(
        "ladder.values",
        "TestResult",
        {
            **dict.fromkeys(("score", "low", "high", "n", "accuracy"), "number"),
            "scoring": "str",
            "confusion": "i8(c,c)",
        },
    ),
    "Curve": Place("ladder.calibration", "Curve", {"slope": "number", "noise": "number"}),
    "Calibration": Place("ladder.calibration", "Calibration", {"below": "@Curve", "above": "@Curve"}),
}


def upgraded(key: str, fields: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a record of an earlier version as it would be written today."""
    if key in {"sweep.State", "kernel_perceptron.State"} and "earlier" not in fields:
        weights = {"W": fields.pop("outputs")} if "outputs" in fields else {}
        clock = np.r_[fields["clock"], np.zeros(3, dtype=np.int64)]
        since = {"earlier": fields["updates"].copy(), "active": np.ones_like(fields["updates"]), "clock": clock}
        return "sweep.State", {**fields, **weights, **since}
    if key == "averaged.Mean" and "settled" in fields and fields["settled"].size == 0:
        return key, {"beta": fields["beta"], "U": fields["U"], "total": fields["U"].copy()}
    return key, fields
