"""Perceptrons, large-margin classifiers and their kin, that prove what they claim.

The names are found when they are first used, so that a process that only checks a certificate imports no solver.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from halfspace import certificates, data, kernels
    from halfspace.exports import to_onnx
    from halfspace.ladder import Ladder
    from halfspace.modelfiles import load, save
    from halfspace.models import (
        GLVQ,
        GMLVQ,
        GRLVQ,
        LVQ,
        Adaline,
        AdaptiveFilter,
        AdaTron,
        AdaTronCV,
        AveragedPerceptron,
        BayesianRegression,
        Elbow,
        HebbClassifier,
        IsotropicMixture,
        KernelAdaTron,
        KernelAdaTronCV,
        KernelMinOver,
        KernelPerceptron,
        KMeans,
        LinearRegression,
        MinOver,
        NeuralGas,
        PassiveAggressive,
        Perceptron,
        PerceptronCommittee,
        PocketPerceptron,
        RidgePath,
        VectorQuantizer,
        VotedPerceptron,
        erle,
    )
    from halfspace.models.kernel.path import KernelPath, kernel_path
    from halfspace.models.planes.adatron_path import AdaTronPath, adatron_path
    from halfspace.models.prototypes.elbow import elbow
    from halfspace.models.regression.ridge_path import ridge_path
    from halfspace.questions.margin_bracket import margin_bracket
    from halfspace.questions.separability import separability
    from halfspace.tables import TableEncoder

__all__ = [
    "GLVQ",
    "GMLVQ",
    "GRLVQ",
    "LVQ",
    "AdaTron",
    "AdaTronCV",
    "AdaTronPath",
    "Adaline",
    "AdaptiveFilter",
    "AveragedPerceptron",
    "BayesianRegression",
    "Elbow",
    "HebbClassifier",
    "IsotropicMixture",
    "KMeans",
    "KernelAdaTron",
    "KernelAdaTronCV",
    "KernelMinOver",
    "KernelPath",
    "KernelPerceptron",
    "Ladder",
    "LinearRegression",
    "MinOver",
    "NeuralGas",
    "PassiveAggressive",
    "Perceptron",
    "PerceptronCommittee",
    "PocketPerceptron",
    "RidgePath",
    "TableEncoder",
    "VectorQuantizer",
    "VotedPerceptron",
    "adatron_path",
    "certificates",
    "data",
    "elbow",
    "erle",
    "kernel_path",
    "kernels",
    "load",
    "margin_bracket",
    "ridge_path",
    "save",
    "separability",
    "to_onnx",
]

__version__ = "0.1.0"

_MODULES = {"certificates", "data", "kernels"}
_HOMES = {
    "Ladder": "ladder",
    "TableEncoder": "tables",
    "load": "modelfiles",
    "margin_bracket": "questions.margin_bracket",
    "save": "modelfiles",
    "separability": "questions.separability",
    "to_onnx": "exports",
}
"""Where a name is that is not one of the models."""


def __getattr__(name: str) -> Any:
    """Find a public name in its module."""
    if name in _MODULES:
        return import_module(f"halfspace.{name}")
    if name in __all__:
        value = getattr(import_module(f"halfspace.{_HOMES.get(name, 'models')}"), name)
        globals()[name] = value
        return value
    msg = f"module 'halfspace' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
