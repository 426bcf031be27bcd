"""Perceptrons, large-margin classifiers and their kin, that prove what they claim."""

from halfspace import certificates, data, kernels
from halfspace.margins import margin_bracket
from halfspace.models import (
    Adaline,
    AdaTron,
    AdaTronCV,
    AdaTronPath,
    AveragedPerceptron,
    HebbClassifier,
    KernelAdaTron,
    KernelAdaTronCV,
    KernelMinOver,
    KernelPath,
    KernelPerceptron,
    MinOver,
    PassiveAggressive,
    Perceptron,
    PerceptronCommittee,
    PocketPerceptron,
    VotedPerceptron,
    adatron_path,
    kernel_path,
)
from halfspace.proofs import separability

__all__ = [
    "AdaTron",
    "AdaTronCV",
    "AdaTronPath",
    "Adaline",
    "AveragedPerceptron",
    "HebbClassifier",
    "KernelAdaTron",
    "KernelAdaTronCV",
    "KernelMinOver",
    "KernelPath",
    "KernelPerceptron",
    "MinOver",
    "PassiveAggressive",
    "Perceptron",
    "PerceptronCommittee",
    "PocketPerceptron",
    "VotedPerceptron",
    "adatron_path",
    "certificates",
    "data",
    "kernel_path",
    "kernels",
    "margin_bracket",
    "separability",
]

__version__ = "0.1.0"
