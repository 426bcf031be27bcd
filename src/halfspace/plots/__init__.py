"""Pictures: matplotlib displays in scikit-learn's style. Needs the extra `[plots]`.

`Display.from_estimator(..., ax=None)` reads the numbers and draws them; `ax_` (or `axes_`) and `figure_` are there for changes
and for saving. `.plot(ax)` draws them once more.
"""

from halfspace.plots.convergence import GapDisplay, MistakeBoundDisplay
from halfspace.plots.echo import EchoDisplay
from halfspace.plots.extrapolation import ExtrapolationDisplay
from halfspace.plots.paths import ElbowDisplay, PathDisplay
from halfspace.plots.planes import DecisionSurfaceDisplay, MarginDisplay
from halfspace.plots.prototypes import PrototypesDisplay, RelevanceDisplay
from halfspace.plots.stability import StabilityDisplay
from halfspace.plots.theory import TheoryDisplay, VersionSpaceDisplay
from halfspace.plots.validation import LearningCurveDisplay, ValidationDisplay

__all__ = [
    "DecisionSurfaceDisplay",
    "EchoDisplay",
    "ElbowDisplay",
    "ExtrapolationDisplay",
    "GapDisplay",
    "LearningCurveDisplay",
    "MarginDisplay",
    "MistakeBoundDisplay",
    "PathDisplay",
    "PrototypesDisplay",
    "RelevanceDisplay",
    "StabilityDisplay",
    "TheoryDisplay",
    "ValidationDisplay",
    "VersionSpaceDisplay",
]
