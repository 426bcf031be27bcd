"""What the four perceptrons share: Rosenblatt's rule and Novikoff's theorem."""

from collections.abc import Callable
from typing import Any

from halfspace._typing import FloatArray
from halfspace.certificates import Novikoff
from halfspace.models.parameters import require_number
from halfspace.models.planes.presenting import PresentingClassifier
from halfspace.solvers.rules.rosenblatt import Rosenblatt

__all__ = ["RosenblattClassifier"]


class RosenblattClassifier(PresentingClassifier):
    """A model that learns by Rosenblatt's rule; `eta0` and `margin` are parameters where a subclass offers them."""

    _reads_norms = False
    eta0: float = 1.0
    margin: float = 0.0

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_number(self, "eta0")
        require_number(self, "margin", least=0.0)

    def _rule(self) -> Callable[[int], Any]:
        rule = Rosenblatt(float(self.eta0), float(self.margin))
        return lambda _: rule

    def _theorem(self, s: FloatArray, began: float) -> Novikoff:
        slowest, fastest = float(self.eta0 * s.min()), float(self.eta0 * s.max())
        return Novikoff(slowest, fastest, float(self.margin), began)
