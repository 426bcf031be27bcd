"""Certificates: claims that are re-derived from the data by code that knows no solver."""

from halfspace.certificates.base import Certificate, Verdict, check, from_json
from halfspace.certificates.baselines import ClassCounts, NeighbourErrors
from halfspace.certificates.cells import OneLabel, PerCell
from halfspace.certificates.margins.budgeted import BudgetedMistakes, Forgetron, Projection
from halfspace.certificates.margins.duality import DualityGap
from halfspace.certificates.margins.kernel_gap import KernelGap
from halfspace.certificates.margins.kernel_margin import KernelBracket
from halfspace.certificates.margins.kesler import KeslerBracket
from halfspace.certificates.margins.margin import MarginBracket
from halfspace.certificates.margins.mistakes import MistakeBound, Novikoff, PassiveAggressiveBound
from halfspace.certificates.margins.separability import Separability
from halfspace.certificates.margins.support import SupportBounds
from halfspace.certificates.margins.vote import CommitteeVote
from halfspace.certificates.pairs import PerPair
from halfspace.certificates.per_class import PerClass
from halfspace.certificates.prototypes.errors import PrototypeErrors
from halfspace.certificates.prototypes.mixture import MixtureLikelihood
from halfspace.certificates.prototypes.quantisation import Quantisation
from halfspace.certificates.regression.filtering import FilterBound
from halfspace.certificates.regression.least_squares import LeastSquaresGap
from halfspace.certificates.regression.posterior import GaussianPosterior
from halfspace.certificates.regression.ridge import PerOutput, RidgeGap

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
