"""Certificates: claims that are re-derived from the data by code that knows no solver."""

from halfspace.certificates.base import Certificate, Verdict, check, from_json
from halfspace.certificates.baselines import ClassCounts, NeighbourErrors, NeighbourMeans, TargetMean
from halfspace.certificates.components import PrincipalComponents
from halfspace.certificates.groups import OneLabel, PerCell, PerClass, PerPair
from halfspace.certificates.margins.bracket import KernelBracket, KeslerBracket, MarginBracket
from halfspace.certificates.margins.centre import VersionSpaceCentre
from halfspace.certificates.margins.gap import DualityGap, KernelGap
from halfspace.certificates.margins.label_count import LabelCount
from halfspace.certificates.margins.leave_one_out import LeaveOneOut
from halfspace.certificates.margins.mistakes import BudgetedMistakes, MistakeBound, Novikoff, PassiveAggressiveBound, Projection
from halfspace.certificates.margins.separability import Separability
from halfspace.certificates.margins.support import SupportBounds
from halfspace.certificates.margins.vote import CommitteeVote
from halfspace.certificates.novelty import OneClassGap
from halfspace.certificates.prototypes.errors import PrototypeErrors
from halfspace.certificates.prototypes.mixture import MixtureLikelihood
from halfspace.certificates.prototypes.quantisation import Quantisation
from halfspace.certificates.regression.filtering import FilterBound
from halfspace.certificates.regression.kernel_ridge import KernelRidgeCells, KernelRidgeClasses, KernelRidgeGap
from halfspace.certificates.regression.posterior import GaussianPosterior
from halfspace.certificates.regression.ridge import LeastSquaresGap, PerOutput, RidgeGap
from halfspace.certificates.regression.smearing import LogSmearing
from halfspace.certificates.stream import HamLoss, StreamMistakes

__all__ = [
    "BudgetedMistakes",
    "Certificate",
    "ClassCounts",
    "CommitteeVote",
    "DualityGap",
    "FilterBound",
    "GaussianPosterior",
    "HamLoss",
    "KernelBracket",
    "KernelGap",
    "KernelRidgeCells",
    "KernelRidgeClasses",
    "KernelRidgeGap",
    "KeslerBracket",
    "LabelCount",
    "LeastSquaresGap",
    "LeaveOneOut",
    "LogSmearing",
    "MarginBracket",
    "MistakeBound",
    "MixtureLikelihood",
    "NeighbourErrors",
    "NeighbourMeans",
    "Novikoff",
    "OneClassGap",
    "OneLabel",
    "PassiveAggressiveBound",
    "PerCell",
    "PerClass",
    "PerOutput",
    "PerPair",
    "PrincipalComponents",
    "Projection",
    "PrototypeErrors",
    "Quantisation",
    "RidgeGap",
    "Separability",
    "StreamMistakes",
    "SupportBounds",
    "TargetMean",
    "Verdict",
    "VersionSpaceCentre",
    "check",
    "from_json",
]
