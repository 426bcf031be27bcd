"""Mistake bounds: how many mistakes were made, and the most that theory allows on these examples.

A theorem is a small value with the run's parameters.

Margin   The bound needs a margin that is certain, so it uses the lower side of a margin bracket, measured on the data; where
         no plane is known to separate them the bound is infinite and says so.
Budget   Of a kernel perceptron on a budget, against a competitor g. Examples come in order, k(x, x) + clamp² <= 1 after
         division by `scale`; a mistake is a potential E <= 0 before the update.
Losses   L = Σ_t max(0, 1 - y_t g(x_t))  of any function g in the kernel's space: the better g, the better the bound.
Theorem  `Projection`: each mistake adds y_t P φ(x_t), P a projection onto a space that holds the weights. With δ_t the
         length of what P takes away and lost = Σ δ_t over the mistakes,  M - L - lost ‖g‖ <= w·g  and  ‖w‖² <= M, so
         M <= L + (lost + sqrt(M)) ‖g‖  and  mistakes <= (‖g‖/2 + sqrt(‖g‖²/4 + L + lost ‖g‖))².
         Without projection (lost = 0) that is the perceptron's own bound (Gentile 2003), for any budget never reached.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple, Self

import numpy as np

from halfspace._typing import FloatArray, IntArray, Label, Labels, Matrix
from halfspace.certificates.arithmetic import EPS, as_rows, both_signs, signs
from halfspace.certificates.base import Certificate, Verdict, apart
from halfspace.certificates.expansion import outputs, proved_scales, squares_of
from halfspace.certificates.fields import faults
from halfspace.certificates.margins.ballot import Ballot
from halfspace.certificates.margins.bracket import SLACK, KernelBracket, KeslerBracket, MarginBracket, different, within
from halfspace.errors import InputError
from halfspace.kernels import Kernel

__all__ = ["BudgetedMistakes", "MistakeBound", "Novikoff", "PassiveAggressiveBound", "Projection"]

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

    slowest: Annotated[float, "finite > 0", "reported"] = 1.0
    fastest: Annotated[float, "finite > 0", "reported"] = 1.0
    margin: Annotated[float, "finite >= 0", "reported"] = 0.0
    start: Annotated[float, "finite >= 0", "reported"] = 0.0

    def least_overlap(self, t: Any, kappa: float) -> Any:
        """Return the least w·w* can be after t mistakes, for w* of length 1 with margin `kappa`."""
        return self.slowest * kappa * t - self.start

    def most_square(self, t: Any, radius: float) -> Any:
        """Return the most ‖w‖² can be after t mistakes on examples of length at most `radius`."""
        return self.start**2 + t * (self.fastest**2 * radius**2 + 2.0 * self.fastest * self.margin)

    def bound(self, radius: float, kappa: float) -> float:
        """Return the most mistakes on examples of length at most `radius` with margin `kappa`; infinite if kappa <= 0."""
        with np.errstate(all="ignore"):
            slowest, fastest, R = np.float64(self.slowest), np.float64(self.fastest), np.float64(radius)
            k = np.float64(max(kappa, 0.0))
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

    cap: Annotated[float, "real > 0", "reported"] = np.inf
    softness: Annotated[float, "finite >= 0", "reported"] = 0.0
    start: Annotated[float, "finite >= 0", "reported"] = 0.0

    def bound(self, radius: float, kappa: float) -> float:
        """Return the most mistakes on examples of length at most `radius` with margin `kappa`; infinite if kappa <= 0."""
        with np.errstate(all="ignore"):
            squared = np.square(np.float64(radius)) + self.softness
            most = float(max(squared, 1.0 / np.float64(self.cap)) * np.square(self.start + 1.0 / np.float64(max(kappa, 0.0))))
        return most if np.isfinite(most) else np.inf


class Projection(NamedTuple):
    """A budget of B examples kept by projection: mistakes <= L + (lost + sqrt(mistakes)) ‖g‖.

    Examples
    --------
    >>> Projection(budget=10).bound(norm=2.0, loss=0.0)
    4.0
    """

    budget: Annotated[int, "int >= 1", "reported"]
    lost: Annotated[float, "finite >= 0", "reported"] = 0.0

    def bound(self, norm: float, loss: float) -> float:
        """Return the most mistakes against a competitor of this length and summed loss."""
        with np.errstate(over="ignore"):
            half = 0.5 * np.float64(norm)
            return float(np.square(half + np.sqrt(np.square(half) + loss + self.lost * norm)))


UNBOUNDED = "no bound on the mistakes, as these weights do not separate the rows"


def _at_most(bound: float) -> str:
    """Say a bound on a number of mistakes, which is whole."""
    most = np.floor(bound * (1 + 1e-9))
    return f"at most {most:,.0f} mistake{'' if most == 1 else 's'}"


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
        Mistakes made while learning, as the run reports them: the data can only contradict a number above the bound.
    bound : float
        The most the theorem allows; infinite while no separating plane is known.
    bracket : MarginBracket, KeslerBracket or KernelBracket
        Margin bracket on the same examples; its lower side is the margin in the bound, its radius the length of examples.
    theorem : Novikoff or PassiveAggressiveBound
        The theorem, with the parameters of the run as the run reports them.
    ballot : Ballot or None
        Where not the bracket's plane predicts, but the vote of all planes there were: that vote, and the errors it makes.

    Examples
    --------
    >>> import halfspace as hs
    >>> X, y = np.array([[1.0], [-1.0]]), np.array([1, 0])
    >>> proof = hs.Perceptron(intercept="none").fit(X, y).certificate_
    >>> print(proof)
    at most 1 mistake by Novikoff's theorem; 1 <= kappa* <= 1; reported by the run, not proved: 1 mistake
    >>> bool(proof.verify(X, y))
    True
    """

    mistakes: Annotated[int, "int >= 0", "reported"]
    bound: Annotated[float, "real >= 0"]
    bracket: Bracket
    theorem: Novikoff | PassiveAggressiveBound
    ballot: Ballot | None = None

    @classmethod
    def of(
        cls,
        mistakes: int,
        bracket: Bracket,
        theorem: Novikoff | PassiveAggressiveBound,
        ballot: Ballot | None = None,
    ) -> Self:
        """Apply the theorem to the certified margin."""
        return cls(int(mistakes), theorem.bound(bracket.radius, bracket.lower), bracket, theorem, ballot)

    def __str__(self) -> str:
        name = "Novikoff's theorem" if isinstance(self.theorem, Novikoff) else "Crammer et al.'s theorem"
        most = f"{_at_most(self.bound)} by {name}" if np.isfinite(self.bound) else UNBOUNDED
        vote = "" if self.ballot is None else f"; {self.ballot}"
        return apart(f"{most}; {self.bracket}{vote}", self)

    def consistent(self) -> list[tuple[bool, str]]:
        """Check the arithmetic that needs no data, and that the margin is that of the rule's own weights."""
        return [
            (not getattr(self.bracket, "free", False), "the theorem is not about a free bias"),
            (self.ballot is None or self.ballot.rows.size == self.mistakes, "the vote is not that of so many mistakes"),
            *bound_holds(self.mistakes, self.bound, self.theorem.bound(self.bracket.radius, self.bracket.lower)),
        ]

    def predictor(self, y: Labels) -> dict[str, Any]:
        """Return the vote, or else what the bracket is about."""
        answer, ballot = self.bracket.predictor(y), self.ballot
        if ballot is None:
            return answer
        vote = {"voters": [ballot.rows], "steps": [ballot.steps], "times": [ballot.times], "presented": ballot.presented}
        return {**vote, **{name: answer[name] for name in ("kernel", "clamp", "positive") if name in answer}}

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute the margin and the radius behind the bound, and count the votes."""
        bracket = Verdict.all_of([("bracket", self.bracket.confirm(X, y))])
        if self.ballot is None or not bracket:
            return bracket
        if isinstance(self.bracket, KeslerBracket):
            return Verdict.of((False, "a vote on many classes at once"))
        return self.ballot.confirm(X, signs(y, self.bracket.positive), self.bracket)


class _Seen(NamedTuple):
    """A competitor as the checker sees it, each number with a bound on its rounding."""

    E: FloatArray  # potentials, (n,)
    error: FloatArray  # (n,)
    square: float
    square_error: float
    passes: int
    radius: float  # length of the longest example

    def upper(self, factor: float, slack: float) -> tuple[float, float]:
        """Return length and summed loss of a multiple of the competitor, rounded up by `slack` errors."""
        up = 1.0 + slack * 2 * (self.E.size + 8) * EPS
        loss = np.maximum(0.0, 1.0 - factor * (self.E - slack * self.error)).sum()
        return factor * float(np.sqrt(self.square + slack * self.square_error)) * up, self.passes * float(loss) * up


@dataclass(frozen=True, eq=False)
class BudgetedMistakes(Certificate):
    """Mistakes made on a stream with a budget, and the most that a theorem allows against a competitor.

    Parameters
    ----------
    mistakes : int
        Mistakes made on the stream, as the run reports them.
    bound : float
        The most the theorem allows; infinite where it is silent about this competitor.
    norm, loss : float
        Length of the competitor and its summed hinge loss on the stream, both rounded up.
    kernel : Kernel
        The kernel, every parameter a number.
    rows, coefficients : ndarray, shape (m,)
        The competitor g = Σ_j coefficients_j (k(x_j, ·) + clamp²) / scale: examples of the stream, coefficients of any sign.
    clamp : float
        Value of the clamped input, whose square is added to the kernel; 0 for none.
    scale : float
        What the kernel is divided by, so that k(x, x) + clamp² <= scale.
    theorem : Projection
        The theorem, with the parameters of the run as the run reports them; `budget` does not enter the bound.
    positive : label
        The label that counts as +1.
    passes : int
        How many times the stream was presented; the loss is that of all presentations.
    answer : KernelBracket or None
        The margin bracket of the function that predicts; the competitor is a multiple of it. None in files of earlier versions.

    Examples
    --------
    >>> from halfspace.kernels import RBF
    >>> X, y = np.array([[2.0], [-2.0], [2.5], [-2.5]]), np.array([1, 0, 1, 0])
    >>> g = np.array([1.0, -1.0, 0.0, 0.0])
    >>> proof = BudgetedMistakes.measure(2, X, y, kernel=RBF(0.5), coefficients=g, theorem=Projection(4), positive=1)
    >>> print(proof)
    at most 2 mistakes, against a competitor of length 1.414 and loss 0.2358; reported by the run, not proved: 2 mistakes, ...
    >>> bool(proof.verify(X, y)), bool(proof.verify(X, 1 - y))
    (True, False)
    """

    mistakes: Annotated[int, "int >= 0", "reported"]
    bound: Annotated[float, "real >= 0"]
    norm: Annotated[float, "finite >= 0"]
    loss: Annotated[float, "finite >= 0"]
    kernel: Annotated[Kernel, "kernel", "asked"]
    rows: Annotated[IntArray, "int(m) >= 0"]
    coefficients: Annotated[FloatArray, "finite(m)"]
    clamp: Annotated[float, "finite", "asked"]
    scale: Annotated[float, "finite > 0", "asked"]
    theorem: Projection
    positive: Annotated[Label, "label", "asked"]
    passes: Annotated[int, "int >= 1", "asked"] = 1
    answer: KernelBracket | None = None

    def __str__(self) -> str:
        most = _at_most(self.bound) if np.isfinite(self.bound) else "no bound on the mistakes"
        against = f"against a competitor of length {self.norm:.4g} and loss {self.loss:.4g}"
        return apart(f"{most}, {against}", self)

    @classmethod
    def measure(
        cls,
        mistakes: int,
        X: Matrix,
        y: Labels,
        *,
        kernel: Kernel,
        coefficients: FloatArray,
        theorem: Projection,
        clamp: float = 0.0,
        scale: float = 1.0,
        positive: Label,
        passes: int = 1,
        rescale: bool = False,
        answer: KernelBracket | None = None,
    ) -> Self:
        """Apply the theorem to a run over the stream X (n, d), y (n,) and a competitor with these coefficients (n,).

        With `rescale` the competitor is multiplied by the power of 2 that gives the best bound.
        """
        X, y = as_rows(X, y)
        kernel, rows = kernel.resolved(X), np.flatnonzero(coefficients)
        c = np.asarray(coefficients, dtype=np.float64)[rows]
        draft = cls(int(mistakes), np.inf, 0.0, 0.0, kernel, rows, c, clamp, scale, theorem, positive, passes, answer)
        with np.errstate(all="ignore"):
            seen = draft._seen(X, signs(y, positive))
        if not seen.radius <= 1.0 + 1e-9:
            largest = seen.radius**2 * scale
            msg = f"BudgetedMistakes: k(x, x) + clamp² <= scale expected, but it is up to {largest:.6g}; give that as scale"
            raise InputError(msg)
        trials = [(theorem.bound(*seen.upper(2.0**e, SLACK)), abs(e), e) for e in (range(-30, 31) if rescale else (0,))]
        factor = 2.0 ** min(trials)[2]
        norm, loss = seen.upper(factor, SLACK)
        return replace(draft, norm=norm, loss=loss, bound=theorem.bound(norm, loss), coefficients=factor * c)

    def _seen(self, X: Matrix, sign: FloatArray) -> _Seen:
        """Compute the competitor's potentials and squared length, with bounds on their rounding."""
        size, c = proved_scales(self.kernel, X, self.clamp), self.coefficients[:, None]
        F = outputs(self.kernel, X, self.rows, c, self.clamp)
        error, square_error = size.errors(self.rows, c)
        E, square = sign * F[:, 0] / self.scale, squares_of(F, self.rows, c) / self.scale
        bounds = (error[:, 0] + EPS * np.abs(F[:, 0])) / self.scale, float(square_error[0]) / self.scale
        return _Seen(E, bounds[0], float(square[0]), bounds[1], self.passes, size.radius / float(np.sqrt(self.scale)))

    def predictor(self, y: Labels) -> dict[str, Any]:
        """Return the function that predicts."""
        return {} if self.answer is None else self.answer.predictor(y)

    def consistent(self) -> list[tuple[bool, str]]:
        """Check the arithmetic that needs no data."""
        return [different(self.rows), *bound_holds(self.mistakes, self.bound, self.theorem.bound(self.norm, self.loss))]

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute the competitor's length and losses, and the condition on the examples."""
        n = X.shape[0]
        fits = Verdict.of(within(self.rows, n), both_signs(y, self.positive))
        if not fits:
            return fits
        try:
            seen = self._seen(X, signs(y, self.positive))
        except InputError as error:  # the kernel is indefinite, or was made for other data
            return Verdict.of((False, str(error)))
        (norm, loss), R = seen.upper(1.0, 1.0), seen.radius
        most = [float(np.nan_to_num(number)) for number in seen.upper(1.0, 2.0 * SLACK)]  # what rounding alone may add
        longest, worst = max(norm * (1.0 + 1e-6), most[0]), max(loss + 1e-6 * n, most[1])
        bound = Verdict.of(
            (bool(norm <= self.norm <= longest), f"the competitor's length is {norm:.9g}, not {self.norm:.9g}"),
            (bool(loss <= self.loss <= worst), f"the competitor's loss is {loss:.9g}, not {self.loss:.9g}"),
            (bool(R <= 1.0 + 1e-9), f"k(x, x) + clamp² is up to {R * R:.9g} times the scale, not at most 1"),
            (self.mistakes <= n * self.passes, f"{self.mistakes} mistakes in {self.passes} passes over {n} examples"),
        )
        return bound and (bound if self.answer is None else Verdict.all_of([("answer", self.answer.confirm(X, y))]))
