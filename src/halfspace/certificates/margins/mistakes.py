"""The mistake bound: how many mistakes were made, and the most that theory allows on these examples.

The bound needs a margin that is certain, so it uses the lower side of a margin bracket, measured on the data; where no
plane is known to separate them the bound is infinite and says so. A theorem is a small value with the run's parameters.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from halfspace._typing import Labels, Matrix
from halfspace.certificates.arithmetic import is_number
from halfspace.certificates.base import Certificate, Verdict, from_dict
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

    slowest: float = 1.0
    fastest: float = 1.0
    margin: float = 0.0
    start: float = 0.0

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
        """Check that the rates are positive and in order, and the rest not negative."""
        rates = is_number(self.slowest, least=0.0) and is_number(self.fastest, least=0.0)
        return Verdict.of(
            (rates and 0 < self.slowest <= self.fastest, "the rates are not positive numbers in order"),
            (is_number(self.margin, least=0.0) and is_number(self.start, least=0.0), "margin and start are not numbers >= 0"),
        )


class PassiveAggressiveBound(NamedTuple):
    """Mistakes (E <= 0) of the passive-aggressive rules with cap C and softness 1/(2C), from weights of length `start`.

    Crammer et al. 2006, theorems 2, 4 and 5 with u = w*/kappa: at most  max(R² + softness, 1/cap) (start + 1/kappa)².

    Examples
    --------
    >>> PassiveAggressiveBound().bound(radius=1.0, kappa=0.5)
    4.0
    """

    cap: float = np.inf
    softness: float = 0.0
    start: float = 0.0

    def bound(self, radius: float, kappa: float) -> float:
        """Return the most mistakes on examples of length at most `radius` with margin `kappa`; infinite if kappa <= 0."""
        if kappa <= 0.0:
            return np.inf
        with np.errstate(all="ignore"):
            squared = np.square(np.float64(radius)) + self.softness
            most = float(max(squared, 1.0 / np.float64(self.cap)) * np.square(self.start + 1.0 / np.float64(kappa)))
        return most if np.isfinite(most) else np.inf

    def well_formed(self) -> Verdict:
        """Check that the cap is positive and the rest not negative."""
        soft = is_number(self.softness, least=0.0) and is_number(self.start, least=0.0)
        return Verdict.of(
            (is_number(self.cap, least=0.0, infinite=True) and self.cap > 0, "the cap is not a positive number"),
            (soft, "softness and start are not numbers >= 0"),
        )


THEOREMS: dict[str, Any] = {"Novikoff": Novikoff, "PassiveAggressiveBound": PassiveAggressiveBound}


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

    mistakes: int
    bound: float
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

    def well_formed(self) -> Verdict:
        """Check types and ranges of the fields, and the arithmetic that needs no data."""
        whole = isinstance(self.mistakes, int | np.integer) and not isinstance(self.mistakes, bool)
        counted = whole and is_number(self.bound, least=0.0, infinite=True)
        bracketed = isinstance(self.bracket, Bracket)
        if not (counted and bracketed and isinstance(self.theorem, Novikoff | PassiveAggressiveBound)):
            return Verdict.of((False, "mistakes, bound, bracket and theorem are not a count, a number, a bracket, a theorem"))
        sound = Verdict.all_of([("bracket", self.bracket.well_formed()), ("theorem", self.theorem.well_formed())])
        if not sound:
            return sound
        bound = self.theorem.bound(self.bracket.radius, self.bracket.lower)
        same = self.bound == bound or (np.isfinite(bound) and abs(bound - self.bound) <= 1e-9 * bound)
        return Verdict.of(
            (same, f"the theorem allows {bound:.6g} mistakes, not {self.bound:.6g}"),
            (0 <= self.mistakes <= self.bound * (1 + 1e-9), f"{self.mistakes} mistakes contradict a bound of {self.bound:.6g}"),
        )

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute the margin and the radius behind the bound."""
        return Verdict.all_of([("bracket", self.bracket.confirm(X, y))])

    @classmethod
    def from_fields(cls, body: dict[str, Any]) -> Self:
        """Rebuild from the plain form."""
        theorem = dict(body["theorem"])
        bracket = from_dict(body["bracket"])
        if not isinstance(bracket, Bracket):
            msg = "its bracket is not a margin bracket"
            raise TypeError(msg)
        kind = THEOREMS[theorem.pop("theorem")]
        if set(theorem) != set(kind._fields):
            msg = f"its theorem has the fields {sorted(theorem)}, not {sorted(kind._fields)}"
            raise ValueError(msg)
        return cls(
            body["mistakes"],
            float(body["bound"]),
            bracket,
            kind(**{name: float(value) for name, value in theorem.items()}),
        )
