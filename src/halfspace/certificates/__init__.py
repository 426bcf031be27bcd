"""Certificates: claims that are re-derived from the data by code that knows no solver."""

from halfspace.certificates.base import Certificate, Verdict, check, from_json
from halfspace.certificates.baselines import ClassCounts, NeighbourErrors
from halfspace.certificates.budgeted import BudgetedMistakes, Forgetron, Projection
from halfspace.certificates.cells import OneLabel, PerCell
from halfspace.certificates.duality import DualityGap
from halfspace.certificates.filtering import FilterBound
from halfspace.certificates.kernel_gap import KernelGap
from halfspace.certificates.kernel_margin import KernelBracket
from halfspace.certificates.kesler import KeslerBracket
from halfspace.certificates.landmarks import LandmarkGap
from halfspace.certificates.least_squares import LeastSquaresGap
from halfspace.certificates.margin import MarginBracket
from halfspace.certificates.mistakes import MistakeBound, Novikoff, PassiveAggressiveBound
from halfspace.certificates.mixture import MixtureLikelihood
from halfspace.certificates.pairs import PerPair
from halfspace.certificates.per_class import PerClass
from halfspace.certificates.posterior import GaussianPosterior
from halfspace.certificates.prototypes import PrototypeErrors
from halfspace.certificates.quantisation import Quantisation
from halfspace.certificates.ridge import PerOutput, RidgeGap
from halfspace.certificates.separability import Separability
from halfspace.certificates.support import SupportBounds
from halfspace.certificates.vote import CommitteeVote

__all__ = [
    "BudgetedMistakes",
    "Certificate",
    "ClassCounts",
    "CommitteeVote",
    "DualityGap",
    "FilterBound",
    "Forgetron",
    "GaussianPosterior",
    "KernelBracket",
    "KernelGap",
    "KeslerBracket",
    "LandmarkGap",
    "LeastSquaresGap",
    "MarginBracket",
    "MistakeBound",
    "MixtureLikelihood",
    "NeighbourErrors",
    "Novikoff",
    "OneLabel",
    "PassiveAggressiveBound",
    "PerCell",
    "PerClass",
    "PerOutput",
    "PerPair",
    "Projection",
    "PrototypeErrors",
    "Quantisation",
    "RidgeGap",
    "Separability",
    "SupportBounds",
    "Verdict",
    "check",
    "from_json",
]
