"""Duality gaps: how far a large-margin plane, or a function of a kernel, is from the best one, between two numbers.

Problem    P(w) = ½‖w‖² + Σ C s_i max(0, 1 - E_i),   E_i = y_i (w·x_i + bias);   C = inf demands E_i >= 1.
Upper side The value P(w) of any weights; for C = inf of the weights scaled so that the least potential is 1.
Lower side For strengths 0 <= alpha_i <= C s_i and v = Σ alpha_i y_i x_i:  Σ alpha_i - ½‖v‖² <= P(w) for every w, because
           max(0, 1 - E_i) C s_i >= alpha_i (1 - E_i)  and  ½‖w‖² - v·w >= -½‖v‖².  For C = inf any multiple of the strengths
           will do, the best giving  ½ (Σ alpha_i / ‖v‖)²;  then  kappa* = 1/‖w*‖  and the gap is a margin bracket.
           A clamped input counts in w and v. A free bias is in neither, and Σ alpha_i y_i = 0 is demanded instead: what
           rounding leaves of that sum is paid for in full.
Kernels    The function f = Σ_j alpha_j y_j (k(x_j, ·) + clamp²) takes the place of w and of v: a positive semi-definite kernel
           is an inner product of examples. One that is not so by construction must be so on these examples; the checker finds
           out by itself.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np

from halfspace._typing import FloatArray, IntArray, Label, Labels, Matrix
from halfspace.certificates.arithmetic import (
    EPS,
    as_rows,
    both_signs,
    matching,
    norm,
    one_weight_each,
    potentials_and_sums,
    radius,
    rounding,
    signs,
    some_weight,
    unit_scale,
)
from halfspace.certificates.base import Certificate, Verdict
from halfspace.certificates.expansion import Scales, outputs, proved_scales, squares_of
from halfspace.certificates.margins.bracket import SLACK, consistent_bias, different, within
from halfspace.certificates.predictor import one_function
from halfspace.errors import InputError
from halfspace.kernels import Kernel

__all__ = ["DualityGap", "Enclosure", "KernelGap"]

TINY = 1e-300
"""What underflow can take from a sum of squares."""
MOST = 1e300
"""The largest dual value that is claimed: where nothing but zeros allows any, the optimum is infinite."""


class Enclosure(Certificate, abstract=True):
    """`dual <= optimum <= primal` of a large-margin problem with cap C: what gaps of planes and of kernels have in common."""

    primal: float
    dual: float
    C: float
    sample_weight: FloatArray | None
    rows: IntArray
    strengths: FloatArray
    positive: Annotated[Label, "label", "asked"]

    what: ClassVar[str]
    loosest: ClassVar[float]
    """A claim may be looser than the truth by this share: a solver's numbers need not be the checker's."""
    loose_of_lowest: ClassVar[bool]
    """Whether that is a share of the dual value with 64 rounding errors given away, or of the dual value itself."""
    least_shown: ClassVar[float]
    """A relative gap below this is shown as 0."""

    def __str__(self) -> str:
        gap = 0.0 if self.relative_gap < self.least_shown else self.relative_gap
        return f"{self.dual:.6g} <= optimum <= {self.primal:.6g}, relative gap {gap:.2g}"

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

    @classmethod
    def draft(
        cls,
        function: Any,
        strengths: FloatArray,
        C: float,
        sample_weight: FloatArray | None,
        bias: float | None,
        clamp: float,
        positive: Label,
    ) -> Self:
        """Return the certificate that claims nothing yet, of weights (D,), not copied, or a kernel; a given `bias` is free."""
        rows, free = np.flatnonzero(strengths > 0), bias is not None
        kept = np.asarray(strengths, dtype=np.float64)[rows]
        return cls(np.inf, 0.0, float(C), sample_weight, function, rows, kept, float(bias or 0.0), free, clamp, positive)  # type: ignore[call-arg]  # (the fields are in the subclasses)

    def _claiming(self, sums: Any) -> Self:
        """Return this certificate with the values of these sums, several rounding errors given away."""
        primal, dual = sums.values(SLACK, hard=np.isinf(self.C))
        return replace(self, primal=float(primal), dual=float(min(max(dual, 0.0), primal)))  # type: ignore[type-var]

    def consistent(self) -> list[tuple[bool, str]]:
        """Check the order of the values, weights and strengths, and the bias."""
        return [
            (self.dual <= self.primal, "the dual value is above the primal one"),
            some_weight(self.sample_weight),
            (self.rows.size == 0 or bool(self.strengths.any()), "no strength is positive"),
            different(self.rows),
            *consistent_bias(self),
        ]

    def fits(self, X: Matrix, y: Labels) -> list[tuple[bool, str]]:
        """Return the claims that the certificate is about data of this shape and these labels."""
        return [
            within(self.rows, y.size),
            one_weight_each(self.sample_weight, X.shape[0]),
            both_signs(y, self.positive),
        ]

    def _caps(self, n: int) -> FloatArray:
        """Return C s_i for all examples; an example without weight has cap 0, also for C = inf."""
        s = self.sample_weight
        return np.full(n, self.C) if s is None else np.multiply(s, self.C, out=np.zeros(n), where=s > 0)

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute both values and the bounds on the strengths."""
        fits = Verdict.of(*self.fits(X, y))
        if not fits:
            return fits
        try:
            sums: Any = self._sums(X, signs(y, self.positive))
        except InputError as error:  # the kernel is indefinite, or was made for other data
            return Verdict.of((False, str(error)))
        hard, loose = np.isinf(self.C), self.loosest
        (primal, dual), (highest, lowest) = sums.values(1.0, hard=hard), sums.values(64.0, hard=hard)
        same = self.primal == primal == np.inf or (np.isfinite(primal) and primal <= self.primal <= highest * (1 + loose))
        least = max(lowest, 0.0) * (1 - loose) if self.loose_of_lowest else max(lowest - loose * abs(dual), 0.0)
        true = np.isfinite(dual) and least <= self.dual <= max(dual, 0.0)
        return Verdict.of(
            (bool((self.strengths <= self._caps(y.size)[self.rows]).all()), "a strength is above its cap"),
            (bool(same), f"the {self.what} {primal:.12g}, not {self.primal:.12g}"),
            (bool(true), f"the strengths prove {dual:.12g}, not {self.dual:.12g}"),
        )

    def _sums(self, X: Matrix, sign: FloatArray) -> Any:
        """Compute from checked data what both values are made of."""
        raise NotImplementedError


def representable(primal: float) -> float:
    """Return the value of a plane that keeps a margin, neither 0 nor infinite; NaN, which confirms nothing, where it is."""
    return float(primal) if TINY < primal < np.inf else np.nan


class PlaneSums(NamedTuple):
    """What both values are made of, each with a bound on its rounding."""

    square: float  # ‖w‖²
    loss: float
    least: float  # least potential
    total: float  # Σ alpha_i
    size: float  # ‖v‖
    primal_error: float
    least_error: float
    dual_error: float
    size_error: float
    spare: float  # relative rounding of sums over the examples

    def values(self, slack: float, *, hard: bool) -> tuple[float, float]:
        """Return primal and dual value, moved apart by `slack` rounding errors."""
        if not hard:
            primal, dual = 0.5 * self.square + self.loss, self.total - 0.5 * self.size**2
            return primal + slack * self.primal_error, dual - slack * self.dual_error
        least, total = self.least - slack * self.least_error, self.total * (1.0 - slack * self.spare)
        primal = (
            representable(0.5 * (np.sqrt(self.square) / least) ** 2 * (1.0 + slack * self.spare)) if least > 0.0 else np.inf
        )
        longest = np.float64(self.size + slack * self.size_error)
        return primal, float(0.5 * (total / longest) ** 2) if total > 0.0 else 0.0


@dataclass(frozen=True, eq=False)
class DualityGap(Enclosure):
    """Primal and dual value of a large-margin problem, with the weights and strengths that prove them.

    The dual value is that of the Wolfe dual; a gap of zero says that the Kuhn-Tucker conditions hold.

    Parameters
    ----------
    primal, dual : float
        `dual <= optimum <= primal`, rounding allowed for; `primal` is the value of the weights, infinite if C is and some
        example is on the wrong side.
    C : float
        Cap; inf for no errors.
    sample_weight : ndarray, shape (n,), or None
        Weights s_i that multiply the caps, if not all 1; an example of weight 0 is not there.
    weights : ndarray, shape (D,)
        The plane, clamped weight last.
    rows, strengths : ndarray, shape (m,)
        The examples of positive strength, and their strengths.
    bias : float
        Free bias; 0 if there is none.
    free : bool
        Whether the bias is free, so that Σ strengths_i y_i = 0 is demanded.
    clamp : float
        Value of the clamped input; 0 for none.
    positive : label
        The label that counts as +1.

    Examples
    --------
    >>> X, y = np.array([[2.0], [-2.0]]), np.array([1, 0])
    >>> gap = DualityGap.measure(X, y, weights=np.array([0.5]), strengths=np.array([0.125, 0.125]), C=1.0, positive=1)
    >>> print(gap)
    0.125 <= optimum <= 0.125, relative gap 0
    >>> bool(gap.verify(X, y))
    True
    """

    primal: Annotated[float, "real >= 0"]
    dual: Annotated[float, "finite >= 0"]
    C: Annotated[float, "real > 0", "asked"]
    sample_weight: Annotated[FloatArray | None, "finite(n) >= 0 | none", "asked"]
    weights: Annotated[FloatArray, "finite(D)"]
    rows: Annotated[IntArray, "int(m) >= 0"]
    strengths: Annotated[FloatArray, "finite(m) >= 0"]
    bias: float
    free: Annotated[bool, "bool", "asked"]
    clamp: Annotated[float, "finite", "asked"]
    positive: Annotated[Label, "label", "asked"]

    what, loosest, loose_of_lowest, least_shown = "weights cost", 1e-9, True, 1e-12

    @classmethod
    def measure(
        cls,
        X: Matrix,
        y: Labels,
        *,
        weights: FloatArray,
        strengths: FloatArray,
        C: float,
        sample_weight: FloatArray | None = None,
        bias: float | None = None,
        clamp: float = 0.0,
        positive: Label,
    ) -> Self:
        """Measure the values of these weights (D,) and strengths (n,); a `bias` that is given is a free one."""
        X, y = as_rows(X, y)
        draft = cls.draft(weights, strengths, C, sample_weight, bias, clamp, positive)
        with np.errstate(all="ignore"):
            return draft._claiming(draft._sums(X, signs(y, positive)))  # noqa: SLF001  (its own kind)

    def claim(self, E: FloatArray, v: FloatArray, R: float, sign: FloatArray) -> Self:
        """Claim what follows from numbers that a solver has at hand; `verify` will not take its word for any of them.

        E, shape (n,), are the potentials of the weights, v, shape (D,), is Σ strengths_i y_i x_i, R the length of the longest
        example and `sign` the labels ±1.
        """
        with np.errstate(all="ignore"):
            return self._claiming(self.sums_of(E, v, R, sign))

    def sums_of(self, E: FloatArray, v: FloatArray, R: float, sign: FloatArray) -> PlaneSums:
        """Return what both values are made of, from the numbers of `claim`, nothing scaled."""
        strengths = np.zeros(E.size)
        strengths[self.rows] = self.strengths
        return self._collected(E, v, R, sign, (self.weights, strengths, np.float64(self.bias)))

    def predictor(self, y: Labels) -> dict[str, Any]:  # noqa: ARG002  (one signature for all)
        """Return the plane."""
        return {"weights": self.weights[None], "bias": np.array([self.bias]), "clamp": self.clamp, "positive": [self.positive]}

    def fits(self, X: Matrix, y: Labels) -> list[tuple[bool, str]]:
        """Return the claims that weights, rows and sample weights are for these data."""
        return [matching(self.weights, self.clamp, X), *super().fits(X, y)]

    def _sums(self, X: Matrix, sign: FloatArray) -> PlaneSums:
        """Compute from checked data what the values are made of."""
        strengths = np.zeros(sign.size)
        strengths[self.rows] = self.strengths
        scaled = self._scaled(strengths)
        outputs, sums = potentials_and_sums(X, scaled[0][None], (scaled[1] * sign)[None], self.clamp)
        return self._collected(sign * (outputs[:, 0] + scaled[2]), sums[0], radius(X, self.clamp), sign, scaled)

    def _scaled(self, strengths: FloatArray) -> tuple[FloatArray, FloatArray, Any]:
        """Return weights, strengths and bias; for C = inf, where only directions matter, safe from underflow."""
        w, bias = self.weights, np.float64(self.bias)
        if np.isfinite(self.C) or not w.any():
            return w, strengths if np.isfinite(self.C) else unit_scale(strengths), bias
        return unit_scale(w), unit_scale(strengths), bias * norm(unit_scale(w)) / norm(w)

    def _collected(self, E: FloatArray, v: FloatArray, R: float, sign: FloatArray, scaled: tuple[Any, Any, Any]) -> PlaneSums:
        """Put together potentials and the signed sum of the examples, with bounds on the rounding of each."""
        (w, strengths, bias), n, s = scaled, E.size, self.sample_weight
        total, spare = strengths.sum(), 2 * (n + w.size + 8) * EPS
        square, size = np.float64(norm(w)) ** 2, np.float64(norm(v))
        least_error = rounding(w.size, R) * np.sqrt(square) + 8 * EPS * abs(bias)
        size_error = rounding(n, R) * total
        loss = exposed = np.float64(0.0)
        if np.isfinite(self.C):
            near = ~(1.0 + least_error <= E)  # also what is not a number
            slack, caps = np.maximum(0.0, 1.0 - E[near]), self.C if s is None else self.C * s[near]
            loss, exposed = np.float64((caps * slack).sum()), np.float64((caps * np.ones(slack.size)).sum())
        dual_error = spare * (total + size**2) + size_error * (size + size_error) + TINY
        if self.free:  # strengths that do not quite balance can be made to by taking the rest away from the stronger class
            rest = abs((strengths * sign).sum()) + spare * total
            dual_error += rest * (1 + size * R + rest * R * R)
            size_error, spare = size_error + rest * R, spare + rest / max(total, 1e-300)
        primal_error = spare * (square + loss) + least_error * exposed + TINY
        least = np.float64((E if s is None else E[s > 0]).min())
        return PlaneSums(square, loss, least, total, size, primal_error, least_error, dual_error, size_error, spare)


class KernelSums(NamedTuple):
    """What both values are made of, each with a bound on its rounding."""

    E: FloatArray  # potentials, (n,)
    error: FloatArray  # (n,)
    caps: FloatArray  # C s_i, (n,)
    square: float  # ‖f‖²
    square_error: float
    total: float  # Σ alpha_i
    rest: float  # what is left of Σ alpha_i y_i, with a free bias
    radius: float
    spare: float  # relative rounding of sums over the examples

    def values(self, slack: float, *, hard: bool) -> tuple[float, float]:
        """Return primal and dual value, moved apart by `slack` rounding errors."""
        if hard:
            return self._hard(slack)
        near = ~(1.0 + SLACK * self.error <= self.E)  # also what is not a number
        caps, error = self.caps[near], self.error[near]
        loss = float((caps * np.maximum(0.0, 1.0 - self.E[near])).sum())
        primal_error = 0.5 * self.square_error + self.spare * (self.square + loss) + float((caps * error).sum())
        # Strengths that do not quite balance can be made to by taking the rest away from the stronger class.
        moved = self.rest * (1.0 + np.sqrt(self.square) * self.radius + self.rest * self.radius**2)
        dual_error = 0.5 * self.square_error + self.spare * (self.total + self.square) + moved
        return 0.5 * self.square + loss + slack * primal_error, self.total - 0.5 * self.square - slack * float(dual_error)

    def _hard(self, slack: float) -> tuple[float, float]:
        """Return both values for C = inf, where only directions matter."""
        least = float((self.E - slack * self.error)[self.caps > 0].min())
        longest = np.float64(self.square + slack * self.square_error)
        primal = representable(0.5 * (np.sqrt(longest) / least) ** 2 * (1.0 + slack * self.spare)) if least > 0.0 else np.inf
        total = self.total * (1.0 - slack * self.spare) - slack * self.rest
        size = np.sqrt(longest) + slack * self.rest * self.radius
        return primal, float(min(0.5 * (total / size) ** 2, MOST)) if total > 0.0 else 0.0


@dataclass(frozen=True, eq=False)
class KernelGap(Enclosure):
    """Primal and dual value of a large-margin problem in a kernel's space, with the strengths that prove them.

    Parameters
    ----------
    primal, dual : float
        `dual <= optimum <= primal`, rounding allowed for; `primal` is the value of the function, infinite if C is and some
        example is on the wrong side.
    C : float
        Cap; inf for no errors.
    sample_weight : ndarray, shape (n,), or None
        Weights s_i that multiply the caps, if not all 1; an example of weight 0 is not there.
    kernel : Kernel
        The kernel, every parameter a number. For `Precomputed` the examples are the rows of the kernel matrix, shape (n, n).
    rows, strengths : ndarray, shape (m,)
        The examples of positive strength, and their strengths: they make both the function and the dual value.
    bias : float
        Free bias; 0 if there is none.
    free : bool
        Whether the bias is free, so that Σ strengths_i y_i = 0 is demanded.
    clamp : float
        Value of the clamped input, whose square is added to the kernel; 0 for none.
    positive : label
        The label that counts as +1.

    Examples
    --------
    >>> from halfspace.kernels import Polynomial
    >>> X, y = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]), np.array([1, 1, 0, 0])  # XOR
    >>> square = Polynomial(degree=2, coef0=1.0)
    >>> gap = KernelGap.measure(X, y, kernel=square, strengths=np.full(4, 0.125), C=np.inf, positive=1)
    >>> print(gap)
    0.25 <= optimum <= 0.25, relative gap 0
    >>> bool(gap.verify(X, y)), bool(gap.verify(2 * X, y))
    (True, False)
    """

    primal: Annotated[float, "real >= 0"]
    dual: Annotated[float, "finite >= 0"]
    C: Annotated[float, "real > 0", "asked"]
    sample_weight: Annotated[FloatArray | None, "finite(n) >= 0 | none", "asked"]
    kernel: Annotated[Kernel, "kernel", "asked"]
    rows: Annotated[IntArray, "int(m) >= 0"]
    strengths: Annotated[FloatArray, "finite(m) >= 0"]
    bias: float
    free: Annotated[bool, "bool", "asked"]
    clamp: Annotated[float, "finite", "asked"]
    positive: Annotated[Label, "label", "asked"]

    what, loosest, loose_of_lowest, least_shown = "function costs", 1e-7, False, 1e-10

    @classmethod
    def measure(
        cls,
        X: Matrix,
        y: Labels,
        *,
        kernel: Kernel,
        strengths: FloatArray,
        C: float,
        sample_weight: FloatArray | None = None,
        bias: float | None = None,
        clamp: float = 0.0,
        positive: Label,
    ) -> Self:
        """Measure the values of these strengths (n,); a `bias` that is given is a free one.

        Raises
        ------
        InputError
            If the kernel is not positive semi-definite on these examples, or that could not be found out.
        """
        X, y = as_rows(X, y)
        draft = cls.draft(kernel.resolved(X), strengths, C, sample_weight, bias, clamp, positive)
        return draft.measured(X, signs(y, positive))

    def measured(self, X: Matrix, sign: FloatArray) -> Self:
        """Claim what these strengths prove about checked examples with labels ±1 in `sign`."""
        with np.errstate(all="ignore"):
            return self._claiming(self._sums(X, sign))

    def claim(
        self,
        scales: Scales,
        sign: FloatArray,
        E: FloatArray,
        *,
        square: float | None = None,
        error: FloatArray | float = 0.0,
    ) -> Self:
        """Claim what follows from numbers that a solver has at hand; `verify` will not take its word for any of them.

        `scales` measures the examples, `sign` holds the labels ±1, and E, shape (n,), the potentials y_i (f(x_i) + bias) of the
        strengths. `square` is ‖f‖², as exact as one sum in double precision; Σ strengths_i (E_i - y_i bias) by default, with
        its errors. `error` bounds what each potential is off beyond one sum in double precision. It may be large far outside
        the margin, where it costs nothing; elsewhere `verify` refuses a claim that is looser than the truth by over 1e-7.
        """
        with np.errstate(all="ignore"):
            return self._claiming(self.sums_of(E, sign, scales, square=square, error=error))

    def sums_of(
        self,
        E: FloatArray,
        sign: FloatArray,
        scales: Scales,
        *,
        square: float | None = None,
        error: FloatArray | float = 0.0,
    ) -> KernelSums:
        """Return what both values are made of, from the numbers of `claim`; for C = inf, scaled by a power of 2."""
        a, bias, e = self._scaled()
        E, extra = np.asarray(E, dtype=np.float64), np.broadcast_to(np.asarray(error, dtype=np.float64), E.shape)
        E, extra = (E, extra) if e == 0 else (np.ldexp(E, -e), np.ldexp(extra, -e))
        held = float(a @ (E - sign * bias)[self.rows]) if square is None else float(np.ldexp(square, -2 * e))
        vague = float(a @ extra[self.rows]) if square is None else 0.0
        return self._collected(E, extra, (held, vague), sign, scales)

    def predictor(self, y: Labels) -> dict[str, Any]:
        """Return the function that the strengths make."""
        return one_function(self, self.rows, self.strengths * signs(y, self.positive)[self.rows])

    def _sums(self, X: Matrix, sign: FloatArray) -> KernelSums:
        """Compute from checked data what the values are made of."""
        proved, (a, bias, _) = proved_scales(self.kernel, X, self.clamp), self._scaled()
        c = (a * sign[self.rows])[:, None]
        F = outputs(self.kernel, X, self.rows, c, self.clamp)
        square = float(squares_of(F, self.rows, c)[0]), 0.0
        return self._collected(sign * (F[:, 0] + bias), np.zeros(sign.size), square, sign, proved)

    def _scaled(self) -> tuple[FloatArray, float, int]:
        """Return strengths and bias over 2^e, and e; for C = inf, where only directions matter, safe from underflow."""
        e = int(np.frexp(self.strengths.max(initial=0.0))[1]) if np.isinf(self.C) else 0
        return np.ldexp(self.strengths, -e), float(np.ldexp(self.bias, -e)), e

    def _collected(
        self, E: FloatArray, extra: FloatArray, square: tuple[float, float], sign: FloatArray, scales: Scales
    ) -> KernelSums:
        """Put together potentials and squared length with bounds on the rounding of each, added to the errors they have."""
        (a, bias, _), n = self._scaled(), E.size
        error, square_error = scales.errors(self.rows, a[:, None])
        total, spare = float(a.sum()), 2 * (n + self.rows.size + 8) * EPS
        return KernelSums(
            E=E,
            error=error[:, 0] + 8 * EPS * abs(bias) + extra,
            caps=self._caps(n),
            square=max(square[0], 0.0),
            square_error=float(square_error[0]) + square[1],
            total=total,
            rest=abs(float((a * sign[self.rows]).sum())) + spare * total if self.free else 0.0,
            radius=scales.radius,
            spare=spare,
        )
