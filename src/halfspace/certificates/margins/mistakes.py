"""The mistake bound: how many mistakes were made, and the most that theory allows on these examples.

The bound needs a margin that is certain, so it uses the lower side of a margin bracket, measured on the data; where no
plane is known to separate them the bound is infinite and says so. A theorem is a small value with the run's parameters.
"""

from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

import numpy as np

from halfspace._typing import Labels, Matrix
from halfspace.certificates.base import Certificate, Verdict
from halfspace.certificates.fields import faults
from halfspace.certificates.margins.bracket import KernelBracket, KeslerBracket, MarginBracket

__all__ = ["MistakeBound", "Novikoff", "PassiveAggressiveBound"]

Bracket = MarginBracket | KeslerBracket | KernelBracket


class Novikoff(NamedTuple):
    """Mistakes of Rosenblatt's rule with rates between `slowest` and `fastest`, margin c, from weights of length `start`.

    After t mistakes  w·w* >= t·slowest·kappa - start  and  ‖w‖² <= start² + t (fastest² R² + 2 fastest c); so
    t <= (fastest² R² + 2 fastest c + 2 start slowest kappa) / (slowest kappa)².

    Examples
    --------
    >>> Novikoff().bound(radius=1.0, kappa=0.125)
    64.0
    """

    slowest: Annotated[float, "finite > 0"] = 1.0
    fastest: Annotated[float, "finite > 0"] = 1.0
    margin: Annotated[float, "finite >= 0"] = 0.0
    start: Annotated[float, "finite >= 0"] = 0.0

    def bound(self, radius: float, kappa: float) -> float:
        """Return the most mistakes on examples of length at most `radius` with margin `kappa`; infinite if kappa <= 0."""
        if kappa <= 0.0:
            return np.inf
        with np.errstate(all="ignore"):
            slowest, fastest, R, k = np.float64(self.slowest), np.float64(self.fastest), np.float64(radius), np.float64(kappa)
            growth = (fastest / slowest) ** 2 * (R / k) ** 2 + 2.0 * (fastest / slowest) * (self.margin / slowest / k / k)
            most = float(growth + 2.0 * self.start / slowest / k)
        return most if np.isfinite(most) else np.inf

    def well_formed(self) -> Verdict:
        """Check the parameters, and that the rates are in order."""
        found = faults(self) or ([] if self.slowest <= self.fastest else ["the slowest rate is above the fastest"])
        return Verdict(holds=not found, reasons=tuple(found))


class PassiveAggressiveBound(NamedTuple):
    """Mistakes (E <= 0) of the passive-aggressive rules with cap C and softness 1/(2C), from weights of length `start`.

    Crammer et al. 2006, theorems 2, 4 and 5 with u = w*/kappa: at most  max(R² + softness, 1/cap) (start + 1/kappa)².

    Examples
    --------
    >>> PassiveAggressiveBound().bound(radius=1.0, kappa=0.5)
    4.0
    """

    cap: Annotated[float, "real > 0"] = np.inf
    softness: Annotated[float, "finite >= 0"] = 0.0
    start: Annotated[float, "finite >= 0"] = 0.0

    def bound(self, radius: float, kappa: float) -> float:
        """Return the most mistakes on examples of length at most `radius` with margin `kappa`; infinite if kappa <= 0."""
        if kappa <= 0.0:
            return np.inf
        with np.errstate(all="ignore"):
            squared = np.square(np.float64(radius)) + self.softness
            most = float(max(squared, 1.0 / np.float64(self.cap)) * np.square(self.start + 1.0 / np.float64(kappa)))
        return most if np.isfinite(most) else np.inf

    def well_formed(self) -> Verdict:
        """Check the parameters."""
        found = faults(self)
        return Verdict(holds=not found, reasons=tuple(found))


def bound_holds(mistakes: int, claimed: float, bound: float) -> list[tuple[bool, str]]:
    """Return the claims that a bound is the theorem's, and that the mistakes do not contradict it."""
    same = claimed == bound or (np.isfinite(bound) and abs(bound - claimed) <= 1e-9 * bound)
    return [
        (bool(same), f"the theorem allows {bound:.6g} mistakes, not {claimed:.6g}"),
        (mistakes <= claimed * (1 + 1e-9), f"{mistakes} mistakes contradict a bound of {claimed:.6g}"),
    ]


@dataclass(frozen=True, eq=False)
class MistakeBound(Certificate):
    """Mistakes made, and the most that a theorem allows with the certified margin.

    Parameters
    ----------
    mistakes : int
        Mistakes made while learning.
    bound : float
        The most the theorem allows; infinite while no separating plane is known.
    bracket : MarginBracket, KeslerBracket or KernelBracket
        Margin bracket on the same examples; its lower side is the margin in the bound, its radius the length of examples.
    theorem : Novikoff or PassiveAggressiveBound
        The theorem, with the parameters of the run.

    Examples
    --------
    >>> import halfspace as hs
    >>> X, y = np.array([[1.0], [-1.0]]), np.array([1, 0])
    >>> proof = hs.Perceptron(intercept="none").fit(X, y).certificate_
    >>> print(proof)
    1 mistake, at most 1 by Novikoff's theorem; 1 <= kappa* <= 1
    >>> bool(proof.verify(X, y))
    True
    """

    mistakes: Annotated[int, "int >= 0"]
    bound: Annotated[float, "real >= 0"]
    bracket: Bracket
    theorem: Novikoff | PassiveAggressiveBound

    @classmethod
    def of(cls, mistakes: int, bracket: Bracket, theorem: Novikoff | PassiveAggressiveBound) -> Self:
        """Apply the theorem to the certified margin."""
        return cls(int(mistakes), theorem.bound(bracket.radius, bracket.lower), bracket, theorem)

    def __str__(self) -> str:
        made = f"{self.mistakes:,} mistake{'' if self.mistakes == 1 else 's'}"
        if np.isinf(self.bound):
            return f"{made}, no bound, as these weights do not separate the rows; {self.bracket}"
        name = "Novikoff's theorem" if isinstance(self.theorem, Novikoff) else "Crammer et al.'s theorem"
        return f"{made}, at most {np.floor(self.bound * (1 + 1e-9)):,.0f} by {name}; {self.bracket}"

    def consistent(self) -> list[tuple[bool, str]]:
        """Check the arithmetic that needs no data."""
        return bound_holds(self.mistakes, self.bound, self.theorem.bound(self.bracket.radius, self.bracket.lower))

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute the margin and the radius behind the bound."""
        return Verdict.all_of([("bracket", self.bracket.confirm(X, y))])
