"""What learning theory says, as functions without data: counting, capacity, learning curves, volumes.

Setting    N inputs x ~ N(0, I), P = alpha N examples, no bias. Counting is exact for any P and N; all else is the limit of
           large N at fixed alpha. A teacher is a plane that labels the examples; a share `flipped` of the labels may be wrong.
Symbols    R is the cosine of the angle between student and teacher, and the error arccos(R)/π; phi and Phi are the density and
           the distribution function of the normal distribution, H = 1 - Phi.
"""

from halfspace.theory.counting import count, separable_share
from halfspace.theory.curves import generalisation_error, learning_curve
from halfspace.theory.maximal_stability import stability, support_share
from halfspace.theory.storage import capacity
from halfspace.theory.streams import compression_bound, stream_bound
from halfspace.theory.version_space import log_volume

__all__ = [
    "capacity",
    "compression_bound",
    "count",
    "generalisation_error",
    "learning_curve",
    "log_volume",
    "separable_share",
    "stability",
    "stream_bound",
    "support_share",
]
