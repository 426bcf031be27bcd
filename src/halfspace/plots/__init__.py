"""Pictures: matplotlib displays in scikit-learn's style. Needs the extra `[plots]`.

`Display.from_estimator(...)` reads the numbers, `.plot(ax=None)` draws them; after that `ax_` (or `axes_`) and `figure_` are
there for changes and for saving.
"""

from halfspace.plots.decision_surface import DecisionSurfaceDisplay
from halfspace.plots.echo import EchoDisplay
from halfspace.plots.elbow import ElbowDisplay
from halfspace.plots.gap import GapDisplay
from halfspace.plots.margin import MarginDisplay
from halfspace.plots.mistake_bound import MistakeBoundDisplay
from halfspace.plots.path import PathDisplay
from halfspace.plots.prototypes import PrototypesDisplay
from halfspace.plots.relevance import RelevanceDisplay
from halfspace.plots.stability import StabilityDisplay

__all__ = [
    "DecisionSurfaceDisplay",
    "EchoDisplay",
    "ElbowDisplay",
    "GapDisplay",
    "MarginDisplay",
    "MistakeBoundDisplay",
    "PathDisplay",
    "PrototypesDisplay",
    "RelevanceDisplay",
    "StabilityDisplay",
]
