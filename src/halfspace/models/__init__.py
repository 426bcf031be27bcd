"""Estimators with scikit-learn's habits: validate, build a view, solve, store. The arithmetic is elsewhere."""

from halfspace.models.adaline import Adaline
from halfspace.models.adatron import AdaTron
from halfspace.models.adatron_cv import AdaTronCV
from halfspace.models.adatron_path import AdaTronPath, adatron_path
from halfspace.models.averaged import AveragedPerceptron
from halfspace.models.committee import PerceptronCommittee
from halfspace.models.hebb import HebbClassifier
from halfspace.models.kernel_adatron import KernelAdaTron
from halfspace.models.kernel_adatron_cv import KernelAdaTronCV
from halfspace.models.kernel_minover import KernelMinOver
from halfspace.models.kernel_path import KernelPath, kernel_path
from halfspace.models.kernel_perceptron import KernelPerceptron
from halfspace.models.minover import MinOver
from halfspace.models.passive_aggressive import PassiveAggressive
from halfspace.models.perceptron import Perceptron
from halfspace.models.pocket import PocketPerceptron
from halfspace.models.voted import VotedPerceptron

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
    "kernel_path",
]
