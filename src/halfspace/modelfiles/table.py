"""The fixed table of what a model file may hold: which key stands for which class, where it lives, and what it learns.

A file names keys of this table, never code. Modules are imported when an object of theirs is made, not before.
"""

from typing import Any

from halfspace.modelfiles.records import Place

__all__ = ["FORMER", "LEFT_OUT", "MODELS", "left_out"]

LEFT_OUT = {
    "_seen": "a cache of parameters, renewed by the next partial_fit",
    "_metadata_request": "scikit-learn's routing of weights, a setting of the program that runs",
    "_sklearn_output_config": "scikit-learn's set_output, a setting of the program that runs",
    "_callback_fit_ctx": "an open callback",
    "on_progress": "a function, which a file cannot hold; it is None after loading",
}
"""What is not written, and why. Attributes of scikit-learn's callbacks (`_skl_...`) are left out too."""

FORMER: dict[str, dict[str, str]] = {
    "KernelAdaTron": {"cells": "n_cells", "approximation": "", "n_components": ""},
    "KernelPerceptron": {"budget_rule": ""},
    "KernelAnswer": {"reason": "", "rounds": "", "course": ""},
}
"""Parameters and fields of earlier versions: their names today, empty for those that are gone."""


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
_ANSWER = {"_W": "f8(K,D)", "_alpha": "f8(K,n)"}
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
_WINNERS = ("Majority", "Neighbours", "AveragedPerceptron", "Perceptron", "Adaline", "AdaTron", "AdaTronCV", "GLVQ", "GMLVQ")
_ANY_WINNER = "model:" + ",".join((*_WINNERS, "KernelAdaTron", "KernelAdaTronCV"))
_UNLABELLED = {"n_features_in_": "=d", "?feature_names_in_": "names(d)", **_PROVED}
_QUANTISER = {
    **_UNLABELLED,
    "prototypes_": "f8(P,d)",
    "?labels_": "i8(n) in 0..P",
    "?inertia_": "number",
    "_state": "none | @quantising.State",
    **dict.fromkeys(("_presented", "_rows", "_seed"), "int"),
}
_NEAREST = {
    **_FITTED,
    **_PROVED,
    "prototypes_": "f8(P,d)",
    "prototype_labels_": "labels(P)",
    "_tally": "f8(4)",
    "_epochs": "int",
    "_seed": "int",
    "_state": "none | @lvq.State | @lvq.Descent",
    "?cost_": "number",
}
_PER_TARGET = "number | f8(m)"


def _model(module: str, name: str, fields: dict[str, Any], *, others: bool = False) -> dict[str, Place]:
    return {name: Place(module, name, fields, others)}


MODELS: dict[str, Place] = {
    **{name: Place("models", name, _PRESENTING) for name in _RULES},
    **_model("models", "AveragedPerceptron", {**_PRESENTING, **_ANSWER, "_memory": "@averaged.Mean"}),
    **_model("models", "PocketPerceptron", {**_PRESENTING, **_ANSWER, "_memory": "@pocket.Pocket", "?errors_": "int | i8(K)"}),
    **_model(
        "models",
        "VotedPerceptron",
        {**_PRESENTING, "_memory": "@voted.Log", "_pages": [("rows(_m,d)", "@voted.Log")]},
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
        {**_KERNEL, "_alpha": "f8(K,t)", "_mark": ("str", "kernel", "number"), "_states": ["@minover.State"]},
    ),
    **_model("models", "KernelAdaTron", {**_MACHINE, "?_alpha": "f8(K,n)"}),
    **{name: Place("models", name, _QUANTISER) for name in ("VectorQuantizer", "NeuralGas")},
    **_model(
        "models",
        "KMeans",
        {
            "n_features_in_": "=d",
            "?feature_names_in_": "names(d)",
            "cluster_centers_": "rows(P,d)",
            "labels_": "i4(n) in 0..P",
            "inertia_": "number",
            "n_iter_": "int",
            "outcome_": "@Outcome",
            "_certificate": "none | certificate",
            "_tol": "number",
            "_algorithm": "str",
            "_n_features_out": "=P",
            **dict.fromkeys(("_n_init", "_n_threads"), "int"),
        },
    ),
    **_model(
        "models",
        "IsotropicMixture",
        {
            **_UNLABELLED,
            "prototypes_": "f8(P,d)",
            "sigma_": "number | f8(P)",
            "weights_": "f8(P)",
            "log_likelihood_": "number",
        },
    ),
    **{name: Place("models", name, _NEAREST) for name in ("LVQ", "GLVQ")},
    **_model("models", "GRLVQ", {**_NEAREST, "omega_": "f8(d)"}),
    **_model("models", "GMLVQ", {**_NEAREST, "omega_": "f8(r,d) | f8(c,r,d)"}),
    **_model(
        "models",
        "LinearRegression",
        {
            **_UNLABELLED,
            "coef_": "f8(d) | f8(m,d)",
            "standard_errors_": "f8(d) | f8(m,d)",
            "alpha_": "none | f8(n) | f8(m,n)",
            **dict.fromkeys(("intercept_", "sigma2_", "noise_variance_", "tau2_", "log_likelihood_"), _PER_TARGET),
            "intercept_standard_error_": _PER_TARGET,
            **dict.fromkeys(("ridge_", "degrees_of_freedom_"), "number"),
            "rank_": "int",
        },
    ),
    **_model(
        "models",
        "BayesianRegression",
        {
            **_UNLABELLED,
            "coef_": "f8(d)",
            "covariance_": "f8(w,w)",
            **dict.fromkeys(
                ("intercept_", "prior_precision_", "noise_precision_", "gamma_", "log_evidence_", "_floor", "_clamp"), "number"
            ),
            "_sums": "plain",
            "_rows": "int",
            "_weights": "none | f8(n)",
            "_free": "bool",
        },
    ),
    **_model(
        "models",
        "AdaptiveFilter",
        {
            **_UNLABELLED,
            "?certificate_": "none | certificate",
            "power_": "none | number",
            "residual_": "f8(n)",
            "_stream": "@filter.Stream",
        },
    ),
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
            "?notes_": ["str | @Note"],
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
            "?notes_": ["str | @Note"],
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
