"""The certificates of kernel perceptrons."""

from typing import Any

import numpy as np

from halfspace._typing import FloatArray
from halfspace.certificates import BudgetedMistakes, Certificate, Forgetron, MistakeBound, Novikoff, PerClass, Projection
from halfspace.models.kernel.learners import OnBudget, Unbounded
from halfspace.models.kernel.prediction import Measured, measured
from halfspace.models.parameters import Examples

__all__ = ["mistakes_certificate"]

UNSURE = 1e-6
"""Share by which a sum of rests is rounded up: they come from an inverse that is brought up to date, not computed anew."""


def mistakes_certificate(
    learner: Unbounded | OnBudget, data: Examples, s: FloatArray, shift: float
) -> tuple[Certificate, Measured]:
    """Return the proof, one certificate or one per class, and the potentials of the answer.

    Without a budget it is the bracket of the answer and Novikoff's bound. With a budget it is the bound of the budget's
    theorem, with the answer as competitor; the theorems know one rate only, so with unequal weights it is the bracket alone.
    """
    kernel = learner.setting.kernel
    if isinstance(learner, Unbounded):
        coefficients = learner.alpha() * learner.signs
        seen = measured(data, kernel, shift, learner.alpha(), coefficients)
        theorem = Novikoff(float(s.min()), float(s.max()))
        parts: list[Certificate] = [
            MistakeBound.of(int(m), part, theorem) for m, part in zip(learner.mistakes, seen.parts, strict=True)
        ]
    else:
        seen = measured(data, kernel, shift, learner.alpha(), learner.signed)
        parts = [_budgeted(learner, data, k, seen) for k in range(len(seen.parts))] if s.min() == s.max() else list(seen.parts)
    return parts[0] if len(parts) == 1 else PerClass(tuple(data.classes.tolist()), tuple(parts)), seen


def _budgeted(learner: OnBudget, data: Examples, k: int, seen: Measured) -> Certificate:
    """Return the mistake bound of problem k against the best multiple of the answer."""
    bracket, kept = seen.parts[k], learner.kept
    if bracket.radius < 1e-100:  # nothing but zeros: no theorem has anything to say
        return bracket
    theorem: Any = Forgetron(learner.budget)
    scale = bracket.radius**2
    if learner.rule == "projectron" and kept is not None:
        lost = kept.slots[k].sums[1] / np.sqrt(scale)
        theorem = Projection(learner.budget, float(lost * (1.0 + UNSURE)))
    return BudgetedMistakes.measure(
        int(learner.mistakes[k]),
        data.X,
        data.y,
        kernel=learner.setting.kernel,
        coefficients=learner.signed[k] / seen.lengths[k] if seen.lengths[k] > 0.0 else learner.signed[k],
        theorem=theorem,
        clamp=data.clamp,
        scale=scale,
        positive=bracket.positive,
        passes=max(1, -(-learner.clock // data.y.size)),
        rescale=True,
    )
