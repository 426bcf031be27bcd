"""Certificates: claims that are re-derived from the data by code that knows no solver."""

from halfspace.certificates.base import Certificate, Verdict, check, from_json
from halfspace.certificates.duality import DualityGap
from halfspace.certificates.kesler import KeslerBracket
from halfspace.certificates.least_squares import LeastSquaresGap
from halfspace.certificates.margin import MarginBracket
from halfspace.certificates.mistakes import MistakeBound, Novikoff, PassiveAggressiveBound
from halfspace.certificates.per_class import PerClass
from halfspace.certificates.separability import Separability
from halfspace.certificates.support import SupportBounds
from halfspace.certificates.vote import CommitteeVote

__all__ = [
    "Certificate",
    "CommitteeVote",
    "DualityGap",
    "KeslerBracket",
    "LeastSquaresGap",
    "MarginBracket",
    "MistakeBound",
    "Novikoff",
    "PassiveAggressiveBound",
    "PerClass",
    "Separability",
    "SupportBounds",
    "Verdict",
    "check",
    "from_json",
]
