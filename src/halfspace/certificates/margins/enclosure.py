"""What two values say that enclose an optimum: how far apart they are, and, errors forbidden, the margin they bracket."""

import numpy as np

__all__ = ["Enclosure"]


class Enclosure:
    """`dual <= optimum <= primal` of a large-margin problem with cap C."""

    primal: float
    dual: float
    C: float

    @property
    def relative_gap(self) -> float:
        """(primal - dual) / primal; infinite if the primal value is, 0 if it is 0."""
        if not np.isfinite(self.primal):
            return np.inf
        return (self.primal - self.dual) / self.primal if self.primal > 0.0 else 0.0

    @property
    def margin(self) -> tuple[float, float]:
        """For C = inf: the bracket of the best margin, 1 over the length of the best plane, that both values prove."""
        if np.isfinite(self.C):
            msg = "only a certificate with C = inf brackets the margin"
            raise AttributeError(msg)
        lower = 1.0 / np.sqrt(2.0 * self.primal) if self.primal > 0.0 else np.inf
        return float(lower), float(1.0 / np.sqrt(2.0 * self.dual)) if self.dual > 0.0 else np.inf
