"""Mistakes of a kernel perceptron on a budget, and the most that theory allows against a competitor g.

Stream   Examples in order, k(x, x) + clamp² <= 1 after division by `scale`; a mistake is a potential E <= 0 before the update.
Losses   L = Σ_t max(0, 1 - y_t g(x_t))  of any function g in the kernel's space: the better g, the better the bound.
Theorem  `Projection`: each mistake adds y_t P φ(x_t), P a projection onto a space that holds the weights. With δ_t the
         length of what P takes away and lost = Σ δ_t over the mistakes,  M - L - lost ‖g‖ <= w·g  and  ‖w‖² <= M, so
         M <= L + (lost + sqrt(M)) ‖g‖  and  mistakes <= (‖g‖/2 + sqrt(‖g‖²/4 + L + lost ‖g‖))².
         Without projection (lost = 0) that is the perceptron's own bound (Gentile 2003), for any budget never reached.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from halfspace import kernels
from halfspace._typing import FloatArray, IntArray, Label, Labels, Matrix
from halfspace.certificates.arithmetic import EPS, as_rows, signs
from halfspace.certificates.base import Certificate, Verdict
from halfspace.certificates.expansion import indefiniteness, outputs, scales, squares_of
from halfspace.certificates.fields import is_label
from halfspace.certificates.margins.bracket import SLACK
from halfspace.certificates.margins.checks import both_signs, is_array, is_number, rebuilt, sound_kernel
from halfspace.errors import InputError
from halfspace.kernels import Kernel

__all__ = ["BudgetedMistakes", "Projection"]


def is_count(value: Any) -> bool:
    """Tell whether a field is a whole number."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


class Projection(NamedTuple):
    """A budget of B examples kept by projection: mistakes <= L + (lost + sqrt(mistakes)) ‖g‖.

    Examples
    --------
    >>> Projection(budget=10).bound(norm=2.0, loss=0.0)
    4.0
    """

    budget: int
    lost: float = 0.0

    def bound(self, norm: float, loss: float) -> float:
        """Return the most mistakes against a competitor of this length and summed loss."""
        return float((0.5 * norm + np.sqrt(0.25 * norm**2 + loss + self.lost * norm)) ** 2)

    def sound(self) -> bool:
        """Tell whether the budget is a whole number of at least 1 and the lost length a number >= 0."""
        return is_count(self.budget) and self.budget >= 1 and is_number(self.lost, least=0.0)


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
        Mistakes made on the stream.
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
        The theorem, with the parameters of the run.
    positive : label
        The label that counts as +1.
    passes : int
        How many times the stream was presented; the loss is that of all presentations.

    Examples
    --------
    >>> from halfspace.kernels import RBF
    >>> X, y = np.array([[2.0], [-2.0], [2.5], [-2.5]]), np.array([1, 0, 1, 0])
    >>> g = np.array([1.0, -1.0, 0.0, 0.0])
    >>> proof = BudgetedMistakes.measure(2, X, y, kernel=RBF(0.5), coefficients=g, theorem=Projection(4), positive=1)
    >>> print(proof)
    2 mistakes, at most 2 with a budget of 4, against a competitor of length 1.414 and loss 0.2358
    >>> bool(proof.verify(X, y)), bool(proof.verify(X, 1 - y))
    (True, False)
    """

    mistakes: int
    bound: float
    norm: float
    loss: float
    kernel: Kernel
    rows: IntArray
    coefficients: FloatArray
    clamp: float
    scale: float
    theorem: Projection
    positive: Label
    passes: int = 1

    def __str__(self) -> str:
        made = f"{self.mistakes:,} mistake{'' if self.mistakes == 1 else 's'}"
        most = f"at most {np.floor(self.bound * (1 + 1e-9)):,.0f}" if np.isfinite(self.bound) else "no bound"
        against = f"against a competitor of length {self.norm:.4g} and loss {self.loss:.4g}"
        return f"{made}, {most} with a budget of {self.theorem.budget:,}, {against}"

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
    ) -> Self:
        """Apply the theorem to a run over the stream X (n, d), y (n,) and a competitor with these coefficients (n,).

        With `rescale` the competitor is multiplied by the power of 2 that gives the best bound.
        """
        X, y = as_rows(X, y)
        kernel, rows = kernel.resolved(X), np.flatnonzero(coefficients)
        c = np.asarray(coefficients, dtype=np.float64)[rows]
        draft = cls(int(mistakes), np.inf, 0.0, 0.0, kernel, rows, c, clamp, scale, theorem, positive, passes)
        with np.errstate(all="ignore"):
            shift, objection = indefiniteness(kernel, X)
            if objection:
                raise InputError(objection)
            seen = draft._seen(X, signs(y, positive), shift)
        if not seen.radius <= 1.0 + 1e-9:
            largest = seen.radius**2 * scale
            msg = f"BudgetedMistakes: k(x, x) + clamp² <= scale expected, but it is up to {largest:.6g}; give that as scale"
            raise InputError(msg)
        trials = [(theorem.bound(*seen.upper(2.0**e, SLACK)), abs(e), e) for e in (range(-30, 31) if rescale else (0,))]
        factor = 2.0 ** min(trials)[2]
        norm, loss = seen.upper(factor, SLACK)
        return replace(draft, norm=norm, loss=loss, bound=theorem.bound(norm, loss), coefficients=factor * c)

    def _seen(self, X: Matrix, sign: FloatArray, shift: float) -> _Seen:
        """Compute the competitor's potentials and squared length, with bounds on their rounding."""
        size, c = scales(self.kernel, X, self.clamp, shift), self.coefficients[:, None]
        F = outputs(self.kernel, X, self.rows, c, self.clamp)
        error, square_error = size.errors(self.rows, c)
        E, square = sign * F[:, 0] / self.scale, squares_of(F, self.rows, c) / self.scale
        bounds = (error[:, 0] + EPS * np.abs(F[:, 0])) / self.scale, float(square_error[0]) / self.scale
        return _Seen(E, bounds[0], float(square[0]), bounds[1], self.passes, size.radius / float(np.sqrt(self.scale)))

    def well_formed(self) -> Verdict:
        """Check types and ranges of the fields, and the arithmetic that needs no data."""
        rows, c = self.rows, self.coefficients
        named = is_array(rows, 1, "i") and is_array(c, 1) and rows.shape == c.shape and bool((rows >= 0).all())
        numbers = all(is_number(v, least=0.0) for v in (self.norm, self.loss, self.scale)) and self.scale > 0.0
        counted = is_count(self.mistakes) and is_count(self.passes) and self.passes >= 1
        theorem = isinstance(self.theorem, Projection) and self.theorem.sound()
        sound = Verdict.of(
            (
                counted and is_number(self.bound, least=0.0, infinite=True),
                "mistakes, passes, bound are not counts and a number",
            ),
            (numbers and is_number(self.clamp), "norm, loss, scale and clamp are not numbers >= 0"),
            (sound_kernel(self.kernel), "the kernel is not a kernel whose parameters are numbers"),
            (named and np.unique(rows).size == rows.size, "rows and coefficients are not matching different rows and numbers"),
            (theorem, "the theorem is none, or its parameters are not a budget and numbers >= 0"),
            (is_label(self.positive), f"{self.positive!r} cannot be a label"),
        )
        if not sound:
            return sound
        bound = self.theorem.bound(self.norm, self.loss)
        same = self.bound == bound or (np.isfinite(bound) and abs(bound - self.bound) <= 1e-9 * bound)
        return Verdict.of(
            (same, f"the theorem allows {bound:.6g} mistakes, not {self.bound:.6g}"),
            (0 <= self.mistakes <= self.bound * (1 + 1e-9), f"{self.mistakes} mistakes contradict a bound of {self.bound:.6g}"),
        )

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute the competitor's length and losses, and the condition on the examples."""
        n = X.shape[0]
        shaped = Verdict.of(
            (bool((self.rows < n).all()), f"a row outside 0..{n - 1}"),
            (both_signs(y, self.positive), f"not both {self.positive!r} and others in y"),
        )
        if not shaped:
            return shaped
        try:
            shift, objection = indefiniteness(self.kernel, X)
            if objection:
                return Verdict.of((False, objection))
            seen = self._seen(X, signs(y, self.positive), shift)
        except InputError as error:  # the kernel was made for other data
            return Verdict.of((False, str(error)))
        (norm, loss), R = seen.upper(1.0, 1.0), seen.radius
        return Verdict.of(
            (bool(norm <= self.norm <= norm * (1.0 + 1e-6)), f"the competitor's length is {norm:.9g}, not {self.norm:.9g}"),
            (bool(loss <= self.loss <= loss + 1e-6 * n), f"the competitor's loss is {loss:.9g}, not {self.loss:.9g}"),
            (bool(R <= 1.0 + 1e-9), f"k(x, x) + clamp² is up to {R * R:.9g} times the scale, not at most 1"),
            (self.mistakes <= n * self.passes, f"{self.mistakes} mistakes in {self.passes} passes over {n} examples"),
        )

    @classmethod
    def from_fields(cls, body: dict[str, Any]) -> Self:
        """Rebuild from the plain form."""
        theorem = dict(body["theorem"])
        kind = theorem.pop("theorem")
        if kind != "Projection" or set(theorem) != set(Projection._fields):
            msg = f"its theorem is {kind!r} with {sorted(theorem)}, not 'Projection' with {sorted(Projection._fields)}"
            raise ValueError(msg)
        whole = rebuilt({"rows": body["rows"], "strengths": body["coefficients"]})
        numbers = {name: float(body[name]) for name in ("bound", "norm", "loss", "clamp", "scale")}
        arrays = {"rows": whole["rows"], "coefficients": whole["strengths"]}
        kernel = kernels.from_dict(body["kernel"])
        return cls(**{**body, **numbers, **arrays, "kernel": kernel, "theorem": Projection(**theorem)})
