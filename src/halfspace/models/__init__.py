"""Estimators with scikit-learn's habits: validate, build a view, solve, store. The arithmetic is elsewhere."""

from halfspace.models.kernel.adatron import KernelAdaTron
from halfspace.models.kernel.adatron_cv import KernelAdaTronCV
from halfspace.models.kernel.minover import KernelMinOver
from halfspace.models.kernel.path import KernelPath, kernel_path
from halfspace.models.kernel.perceptron import KernelPerceptron
from halfspace.models.planes.adaline import Adaline
from halfspace.models.planes.adatron import AdaTron
from halfspace.models.planes.adatron_cv import AdaTronCV
from halfspace.models.planes.adatron_path import AdaTronPath, adatron_path
from halfspace.models.planes.averaged import AveragedPerceptron
from halfspace.models.planes.committee import PerceptronCommittee
from halfspace.models.planes.hebb import HebbClassifier
from halfspace.models.planes.minover import MinOver
from halfspace.models.planes.passive_aggressive import PassiveAggressive
from halfspace.models.planes.perceptron import Perceptron
from halfspace.models.planes.pocket import PocketPerceptron
from halfspace.models.planes.voted import VotedPerceptron
from halfspace.models.prototypes.elbow import Elbow, elbow
from halfspace.models.prototypes.glvq import GLVQ
from halfspace.models.prototypes.gmlvq import GMLVQ
from halfspace.models.prototypes.grlvq import GRLVQ
from halfspace.models.prototypes.isotropic_mixture import IsotropicMixture
from halfspace.models.prototypes.k_means import KMeans
from halfspace.models.prototypes.lvq import LVQ
from halfspace.models.prototypes.neural_gas import NeuralGas
from halfspace.models.prototypes.vector_quantizer import VectorQuantizer
from halfspace.models.regression.adaptive_filter import AdaptiveFilter
from halfspace.models.regression.bayesian_regression import BayesianRegression
from halfspace.models.regression.echo import erle
from halfspace.models.regression.linear_regression import LinearRegression
from halfspace.models.regression.ridge_path import RidgePath, ridge_path

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
