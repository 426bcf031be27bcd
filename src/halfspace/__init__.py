"""Perceptrons, large-margin classifiers and their kin, that prove what they claim."""

from halfspace import certificates, data
from halfspace.models import (
    Adaline,
    AveragedPerceptron,
    HebbClassifier,
    PassiveAggressive,
    Perceptron,
    PocketPerceptron,
    VotedPerceptron,
)

__all__ = [
    "Adaline",
    "AveragedPerceptron",
    "HebbClassifier",
    "PassiveAggressive",
    "Perceptron",
    "PocketPerceptron",
    "VotedPerceptron",
    "certificates",
    "data",
]

__version__ = "0.1.0"
