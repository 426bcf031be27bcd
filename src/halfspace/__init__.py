"""Perceptrons, large-margin classifiers and their kin, that prove what they claim."""

from halfspace import certificates, data
from halfspace.margins import margin_bracket
from halfspace.models import (
    Adaline,
    AdaTron,
    AdaTronCV,
    AdaTronPath,
    AveragedPerceptron,
    HebbClassifier,
    MinOver,
    PassiveAggressive,
    Perceptron,
    PerceptronCommittee,
    PocketPerceptron,
    VotedPerceptron,
    adatron_path,
)
from halfspace.proofs import separability

__all__ = [
    "AdaTron",
    "AdaTronCV",
    "AdaTronPath",
    "Adaline",
    "AveragedPerceptron",
    "HebbClassifier",
    "MinOver",
    "PassiveAggressive",
    "Perceptron",
    "PerceptronCommittee",
    "PocketPerceptron",
    "VotedPerceptron",
    "adatron_path",
    "certificates",
    "data",
    "margin_bracket",
    "separability",
]

__version__ = "0.1.0"
