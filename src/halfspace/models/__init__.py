"""Estimators with scikit-learn's habits: validate, build a view, solve, store. The arithmetic is elsewhere."""

from halfspace.models.adaline import Adaline
from halfspace.models.averaged import AveragedPerceptron
from halfspace.models.hebb import HebbClassifier
from halfspace.models.passive_aggressive import PassiveAggressive
from halfspace.models.perceptron import Perceptron
from halfspace.models.pocket import PocketPerceptron
from halfspace.models.voted import VotedPerceptron

__all__ = [
    "Adaline",
    "AveragedPerceptron",
    "HebbClassifier",
    "PassiveAggressive",
    "Perceptron",
    "PocketPerceptron",
    "VotedPerceptron",
]
