"""The fixed table of what a model file may hold: which key stands for which class, where it lives, and what it learns.

A file names keys of this table, never code. Modules are imported when an object of theirs is made, not before.
"""

from typing import Any

from halfspace.modelfiles.records import Place

__all__ = ["LEFT_OUT", "MODELS", "left_out"]

LEFT_OUT = {
    "_seen": "a cache of parameters, renewed by the next partial_fit",
    "_metadata_request": "scikit-learn's routing of weights, a setting of the program that runs",
    "_sklearn_output_config": "scikit-learn's set_output, a setting of the program that runs",
    "_callback_fit_ctx": "an open callback",
    "on_progress": "a function, which a file cannot hold; it is None after loading",
}
"""What is not written, and why. Attributes of scikit-learn's callbacks (`_skl_...`) are left out too."""


def left_out(name: str) -> bool:
    """Tell whether an attribute is left out of model files.

    Examples
    --------
    >>> left_out("_seen"), left_out("coef_")
    (True, False)
    """
    return name in LEFT_OUT or name.startswith("_skl_")


_FITTED = {"n_features_in_": "=d", "?feature_names_in_": "names(d)", "classes_": "labels(c)"}
_PROVED = {"?certificate_": "certificate", "outcome_": "@Outcome", "n_iter_": "int", "?history_": "plain"}
_LINEAR = {**_FITTED, **_PROVED, "_fitted_clamp": "number"}
_PRESENTING = {
    **_LINEAR,
    "mistakes_": "int | i8(K)",
    "_native": "bool",
    "_state": "@sweep.State",
    "_memory": "@sweep.Forget",
    "_began": "f8(K,D)",
}
_KERNEL = {
    **_LINEAR,
    "_expansion": "@Expansion",
    "?_lengths": "f8(K)",
    "?_caps": "f8(t)",
    "?_labels": "labels(t)",
    "?_potentials": "f8(K,t)",
}
_MACHINE = {**_KERNEL, "?_lengths": "f8(K) | none", "_cells": "none | @Cells", "_voting": "bool", "?_solved": "@Solved"}
_MACHINES = "model:KernelAdaTron"
_RULES = ("Perceptron", "HebbClassifier", "Adaline", "PassiveAggressive")
_ANY_WINNER = "model:Majority,Neighbours,AveragedPerceptron,Perceptron,Adaline,AdaTron,AdaTronCV,KernelAdaTron,KernelAdaTronCV"


def _model(module: str, name: str, fields: dict[str, Any], *, others: bool = False) -> dict[str, Place]:
    return {name: Place(module, name, fields, others)}


MODELS: dict[str, Place] = {
    **{name: Place("models", name, _PRESENTING) for name in _RULES},
    **_model("models", "AveragedPerceptron", {**_PRESENTING, "_memory": "@averaged.Mean"}),
    **_model("models", "PocketPerceptron", {**_PRESENTING, "_memory": "@pocket.Pocket", "?errors_": "int | i8(K)"}),
    **_model(
        "models",
        "VotedPerceptron",
        {**_PRESENTING, "_memory": "@voted.Log", "_pages": [("rows(_m,d)", "@voted.Log")], "_loose": ["@voted.Log"]},
    ),
    **_model("models", "MinOver", {**_LINEAR, "_states": ["@minover.State"]}),
    **_model(
        "models",
        "AdaTron",
        {
            **_LINEAR,
            "_W": "f8(K,D)",
            "_alpha": "f8(K,n)",
            "_bias": "f8(K)",
            "?_caps": "f8(n)",
            "?_potentials": "f8(K,n)",
            "?_labels": "labels(n)",
        },
    ),
    **_model(
        "models",
        "PerceptronCommittee",
        {**_LINEAR, "members_": "f8(M,K,D)", "_radius": "number", "_fitted_vote": "str", "disagreement_": "f8(n)"},
    ),
    **_model(
        "models",
        "KernelPerceptron",
        {**_KERNEL, "mistakes_": "int | i8(K)", "_native": "bool", "_alpha": "f8(K,n)", "_learner": "@Unbounded | @OnBudget"},
    ),
    **_model(
        "models",
        "KernelMinOver",
        {**_KERNEL, "_alpha": "f8(K,t)", "_mark": ("str", "kernel", "number"), "_states": ["@kernel_minover.State"]},
    ),
    **_model("models", "KernelAdaTron", {**_MACHINE, "?_alpha": "f8(K,n)"}),
    **_model("models", "AdaTronCV", {**_FITTED, "estimator_": "model:AdaTron"}, others=True),
    **_model(
        "models", "KernelAdaTronCV", {**_FITTED, "outcome_": "@Outcome", "estimator_": "model:KernelAdaTron"}, others=True
    ),
    **_model(
        "tables",
        "TableEncoder",
        {
            "n_features_in_": "=d",
            "columns_": ["str"],
            "named_": "bool",
            "sparse_": "bool",
            "recipes_": "plain",
            "groups_": [("str", "int", "int")],
            "largest_": "none | f8(d)",
        },
        others=True,
    ),
    **_model("ladder.baselines", "Majority", {"classes_": "labels(c)", "certificate_": "certificate", "outcome_": "@Outcome"}),
    **_model(
        "ladder.baselines",
        "Neighbours",
        {
            "classes_": "labels(c)",
            "k_": "int",
            "X_": "rows(n,d)",
            "target_": "i8(n) in 0..c",
            "outcome_": "@Outcome",
            "_certificate": "none | certificate",
        },
    ),
    **_model(
        "ladder",
        "Ladder",
        {
            "encoder_": "model:TableEncoder",
            **_FITTED,
            "estimator_": _ANY_WINNER,
            "rungs_": ["@Rung"],
            "test_result_": "none | @TestResult",
            "outcome_": "@Outcome",
            "calibration_": "@Calibration",
            "train_": "i8(a)",
            "test_": "i8(b)",
            "learnt_": "i8(e)",
            "out_of_fold_": "f8(a) | f8(a,c)",
        },
        others=True,
    ),
}
