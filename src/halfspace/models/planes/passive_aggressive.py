"""The passive-aggressive classifiers."""

from typing import Any

import numpy as np

from halfspace._typing import FloatArray
from halfspace.certificates import PassiveAggressiveBound
from halfspace.models.parameters import require_choice, require_number
from halfspace.models.planes.presenting import PresentingClassifier
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.rules.passive_aggressive import PassiveAggressive as Rule

__all__ = ["PassiveAggressive"]


class PassiveAggressive(PresentingClassifier):
    """Do the least that makes the present example right with a margin of 1: made for streams.

    Parameters
    ----------
    C : float, default 1.0
        Aggressiveness: the most strength an example can gain per visit (PA-I), or the softness 1/(2C) (PA-II).
    variant : {"PA", "PA-I", "PA-II"}, default "PA-I"
        No forgiveness, a cap, or a soft step.
    intercept : {"clamped", "none"}, default "clamped"
        Bias as the weight of a clamped input, or none.
    intercept_scaling : float, default 1.0
        Value of the clamped input.
    max_iter : int, default 10
        Epochs, fewer if one changes nothing.
    max_time : float, optional
        Time limit in seconds.
    shuffle : bool, default True
        New order in every epoch, in blocks for large data.
    multi_class : {"ovr", "native"}, default "ovr"
        One plane each against the rest, or all together.
    class_weight : dict or "balanced", optional
        Multiplies C per class.
    warm_start : bool, default False
        Go on from the last fit.
    verbose : int, default 0
        1: a line every half second; 2: a line every epoch.
    random_state : int, RandomState or None
        Seed of the order.

    Attributes
    ----------
    certificate_ : MistakeBound or PerClass
        Mistakes made (potential <= 0), the most the theorem allows, and the margin bracket.
    outcome_, coef_, intercept_, alpha_, mistakes_, history_, classes_, n_features_in_, n_iter_
        As for `Perceptron`.

    Examples
    --------
    >>> import numpy as np, halfspace as hs
    >>> X, y = np.array([[2.0], [-2.0]]), np.array([1, 0])
    >>> model = hs.PassiveAggressive(variant="PA", intercept="none").fit(X, y)
    >>> print(model.coef_.tolist(), model.certificate_)
    [[0.5]] at most 1 mistake by Crammer et al.'s theorem; 2 <= kappa* <= 2; reported by the run, not proved: 1 mistake
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        variant: str = "PA-I",
        intercept: str = "clamped",
        intercept_scaling: float = 1.0,
        max_iter: int = 10,
        max_time: float | None = None,
        shuffle: bool = True,
        multi_class: str = "ovr",
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.variant = variant
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.max_time = max_time
        self.shuffle = shuffle
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_number(self, "C")
        require_choice(self, "variant", "PA", "PA-I", "PA-II")

    def _caps(self) -> tuple[float, float]:
        """Return the cap and the softness of the variant."""
        cap = float(self.C) if self.variant == "PA-I" else np.inf
        return cap, 0.5 / float(self.C) if self.variant == "PA-II" else 0.0

    def _rule(self) -> Rule:
        return Rule(*self._caps())

    def _theorem(self, s: FloatArray, began: float) -> PassiveAggressiveBound:
        cap, softness = self._caps()
        return PassiveAggressiveBound(cap * float(s.min()), softness / float(s.min()), began)

    def _explained(self, outcome: Outcome) -> Outcome:
        if outcome.reason == "converged":
            return Outcome("converged", f"Converged: epoch {self.n_iter_} changed nothing, so no other will.")
        if outcome.reason == "iteration budget spent":
            return Outcome("passes done", f"{self.n_iter_} epochs, as asked.")
        return outcome
