"""Estimators with scikit-learn's habits: validate, build a view, solve, store. The arithmetic is elsewhere."""

from halfspace.models.adaline import Adaline
from halfspace.models.adaptive_filter import AdaptiveFilter
from halfspace.models.adatron import AdaTron
from halfspace.models.adatron_cv import AdaTronCV
from halfspace.models.adatron_path import AdaTronPath, adatron_path
from halfspace.models.averaged import AveragedPerceptron
from halfspace.models.bayesian_regression import BayesianRegression
from halfspace.models.committee import PerceptronCommittee
from halfspace.models.echo import erle
from halfspace.models.elbow import Elbow, elbow
from halfspace.models.glvq import GLVQ
from halfspace.models.gmlvq import GMLVQ
from halfspace.models.grlvq import GRLVQ
from halfspace.models.hebb import HebbClassifier
from halfspace.models.isotropic_mixture import IsotropicMixture
from halfspace.models.k_means import KMeans
from halfspace.models.kernel_adatron import KernelAdaTron
from halfspace.models.kernel_adatron_cv import KernelAdaTronCV
from halfspace.models.kernel_minover import KernelMinOver
from halfspace.models.kernel_path import KernelPath, kernel_path
from halfspace.models.kernel_perceptron import KernelPerceptron
from halfspace.models.linear_regression import LinearRegression
from halfspace.models.lvq import LVQ
from halfspace.models.minover import MinOver
from halfspace.models.neural_gas import NeuralGas
from halfspace.models.passive_aggressive import PassiveAggressive
from halfspace.models.perceptron import Perceptron
from halfspace.models.pocket import PocketPerceptron
from halfspace.models.ridge_path import RidgePath, ridge_path
from halfspace.models.vector_quantizer import VectorQuantizer
from halfspace.models.voted import VotedPerceptron

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
    "LinearRegression",
    "MinOver",
    "NeuralGas",
    "PassiveAggressive",
    "Perceptron",
    "PerceptronCommittee",
    "PocketPerceptron",
    "RidgePath",
    "VectorQuantizer",
    "VotedPerceptron",
    "adatron_path",
    "elbow",
    "erle",
    "kernel_path",
    "ridge_path",
]
