"""The duality gap in a kernel's space: how far a large-margin function is from the best one, between two numbers.

Problem    P(f) = ½‖f‖² + Σ C s_i max(0, 1 - E_i),   E_i = y_i (f(x_i) + bias);   C = inf demands E_i >= 1.
Function   f = Σ_j alpha_j y_j (k(x_j, ·) + clamp²)  with strengths  0 <= alpha_i <= C s_i.
Upper side The value P(f); for C = inf of f scaled so that the least potential is 1.
Lower side Σ alpha_i - ½‖f‖² <= P(g) for every g, as for planes (`halfspace.certificates.margins.duality`), because a positive
           semi-definite kernel is an inner product of examples; for C = inf the best multiple gives ½ (Σ alpha_i / ‖f‖)².
           A free bias demands Σ alpha_i y_i = 0: what rounding leaves of that sum is paid for in full.

A kernel that is not positive semi-definite by construction must be so on these examples; the checker finds out by itself.
"""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from halfspace import kernels
from halfspace._typing import FloatArray, IntArray, Label, Labels, Matrix
from halfspace.certificates.arithmetic import EPS, as_rows, is_array, is_label, is_number, signs
from halfspace.certificates.base import Certificate, Verdict
from halfspace.certificates.expansion import Scales, indefiniteness, outputs, scales, squares_of
from halfspace.certificates.margins.enclosure import Enclosure
from halfspace.certificates.margins.kernel_sums import GapSums, sound_bias, sound_kernel
from halfspace.certificates.margins.margin import SLACK, both_signs, rebuilt, sound_witnesses
from halfspace.errors import InputError
from halfspace.kernels import Kernel

__all__ = ["KernelGap"]

LOOSE = 1e-7
"""A claim may be looser than the truth by this share: a solver's numbers need not be the checker's."""


@dataclass(frozen=True, eq=False)
class KernelGap(Enclosure, Certificate):
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

    primal: float
    dual: float
    C: float
    sample_weight: FloatArray | None
    kernel: Kernel
    rows: IntArray
    strengths: FloatArray
    bias: float
    free: bool
    clamp: float
    positive: Label

    def __str__(self) -> str:
        gap = 0.0 if self.relative_gap < 1e-10 else self.relative_gap
        return f"{self.dual:.6g} <= optimum <= {self.primal:.6g}, relative gap {gap:.2g}"

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
        with np.errstate(all="ignore"):
            shift, objection = indefiniteness(draft.kernel, X)
            if objection:
                raise InputError(objection)
            return draft._claiming(draft._sums(X, signs(y, positive), shift))  # noqa: SLF001  (its own kind)

    @classmethod
    def draft(
        cls,
        kernel: Kernel,
        strengths: FloatArray,
        C: float,
        sample_weight: FloatArray | None,
        bias: float | None,
        clamp: float,
        positive: Label,
    ) -> Self:
        """Return the certificate that claims nothing yet."""
        rows, free = np.flatnonzero(strengths > 0), bias is not None
        held = np.asarray(strengths, dtype=np.float64)[rows]
        return cls(np.inf, 0.0, float(C), sample_weight, kernel, rows, held, float(bias or 0.0), free, clamp, positive)

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

        Parameters
        ----------
        scales : Scales
            What `halfspace.certificates.expansion.scales` said of the examples, once for all claims about them.
        sign : ndarray, shape (n,)
            Labels, ±1.
        E : ndarray, shape (n,)
            Potentials y_i (f(x_i) + bias) of the strengths.
        square : float, optional
            ‖f‖², as exact as one sum in double precision; Σ strengths_i (E_i - y_i bias) by default, with its errors.
        error : ndarray, shape (n,), or float
            Bound on the error of each potential beyond that of one sum in double precision: of single precision, or of
            many updates. It may be large for examples far outside the margin, where it costs nothing. What it adds to the
            values elsewhere is claimed away, and `verify` refuses a claim that is looser than the truth by more than 1e-7.
        """
        with np.errstate(all="ignore"):
            a, bias, e = self._scaled()
            E, extra = np.asarray(E, dtype=np.float64), np.broadcast_to(np.asarray(error, dtype=np.float64), E.shape)
            E, extra = (E, extra) if e == 0 else (np.ldexp(E, -e), np.ldexp(extra, -e))
            held = float(a @ (E - sign * bias)[self.rows]) if square is None else float(np.ldexp(square, -2 * e))
            vague = float(a @ extra[self.rows]) if square is None else 0.0
            return self._claiming(self._collected(E, extra, (held, vague), sign, scales))

    def _claiming(self, sums: GapSums) -> Self:
        """Return this certificate with the values of these sums, several rounding errors given away."""
        primal, dual = sums.hard(SLACK) if np.isinf(self.C) else sums.soft(SLACK)
        return replace(self, primal=float(primal), dual=float(min(max(dual, 0.0), primal)))

    def well_formed(self) -> Verdict:
        """Check types, shapes and ranges of the fields."""
        sides = is_number(self.primal, least=0.0, infinite=True) and is_number(self.dual, least=0.0)
        s = self.sample_weight
        weighted = s is None or (is_array(s, 1) and bool((s >= 0).all()) and bool(s.any()))
        return Verdict.of(
            (sides, "the primal and dual values are not numbers >= 0"),
            (not sides or self.dual <= self.primal, "the dual value is above the primal one"),
            (is_number(self.C, infinite=True) and self.C > 0.0, "the cap is not a positive number"),
            (weighted, "the sample weights are not numbers >= 0, some positive"),
            (sound_kernel(self.kernel), "the kernel is not a kernel whose parameters are numbers"),
            (self._witnessed(), "rows and strengths are not matching different rows >= 0 and strengths >= 0"),
            *sound_bias(self),
            (is_label(self.positive), f"{self.positive!r} cannot be a label"),
        )

    def _witnessed(self) -> bool:
        """Tell whether rows and strengths are what they should be; there may be none."""
        nothing = is_array(self.rows, 1, "i") and is_array(self.strengths, 1) and self.rows.size == self.strengths.size == 0
        return nothing or (sound_witnesses(self) and np.unique(self.rows).size == self.rows.size)

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute both values and the bounds on the strengths."""
        n, s = X.shape[0], self.sample_weight
        shaped = Verdict.of(
            (bool((self.rows < n).all()), f"a row outside 0..{n - 1}"),
            (s is None or s.shape == y.shape, "one sample weight per example expected"),
            (both_signs(y, self.positive), f"not both {self.positive!r} and others in y"),
        )
        if not shaped:
            return shaped
        try:
            shift, objection = indefiniteness(self.kernel, X)
            sums = None if objection else self._sums(X, signs(y, self.positive), shift)
        except InputError as error:  # the kernel was made for other data
            return Verdict.of((False, str(error)))
        return Verdict.of((False, str(objection))) if sums is None else self._judged(sums)

    def _judged(self, sums: GapSums) -> Verdict:
        """Compare the claims with sums computed anew."""
        values = sums.hard if np.isinf(self.C) else sums.soft
        (primal, dual), (highest, lowest) = values(1.0), values(64.0)
        same = self.primal == primal == np.inf or (np.isfinite(primal) and primal <= self.primal <= highest * (1 + LOOSE))
        true = np.isfinite(dual) and max(lowest - LOOSE * abs(dual), 0.0) <= self.dual <= max(dual, 0.0)
        return Verdict.of(
            (bool((self.strengths <= sums.caps[self.rows]).all()), "a strength is above its cap"),
            (bool(same), f"the function costs {primal:.12g}, not {self.primal:.12g}"),
            (bool(true), f"the strengths prove {dual:.12g}, not {self.dual:.12g}"),
        )

    def _sums(self, X: Matrix, sign: FloatArray, shift: float) -> GapSums:
        """Compute from checked data what the values are made of."""
        a, bias, _ = self._scaled()
        c = (a * sign[self.rows])[:, None]
        F = outputs(self.kernel, X, self.rows, c, self.clamp)
        square = float(squares_of(F, self.rows, c)[0]), 0.0
        return self._collected(
            sign * (F[:, 0] + bias), np.zeros(sign.size), square, sign, scales(self.kernel, X, self.clamp, shift)
        )

    def _scaled(self) -> tuple[FloatArray, float, int]:
        """Return strengths and bias over 2^e, and e; for C = inf, where only directions matter, safe from underflow."""
        e = int(np.frexp(self.strengths.max(initial=0.0))[1]) if np.isinf(self.C) else 0
        return np.ldexp(self.strengths, -e), float(np.ldexp(self.bias, -e)), e

    def _collected(
        self, E: FloatArray, extra: FloatArray, square: tuple[float, float], sign: FloatArray, scales: Scales
    ) -> GapSums:
        """Put together potentials and squared length with bounds on the rounding of each, added to the errors they have."""
        (a, bias, _), n, s = self._scaled(), E.size, self.sample_weight
        error, square_error = scales.errors(self.rows, a[:, None])
        caps = np.full(n, self.C) if s is None else np.where(s > 0, self.C * s, 0.0)
        total, spare = float(a.sum()), 2 * (n + self.rows.size + 8) * EPS
        return GapSums(
            E=E,
            error=error[:, 0] + 8 * EPS * abs(bias) + extra,
            caps=caps,
            square=max(square[0], 0.0),
            square_error=float(square_error[0]) + square[1],
            total=total,
            rest=abs(float((a * sign[self.rows]).sum())) + spare * total if self.free else 0.0,
            radius=scales.radius,
            spare=spare,
        )

    @classmethod
    def from_fields(cls, body: dict[str, Any]) -> Self:
        """Rebuild from the plain form."""
        s = body["sample_weight"]
        weights = None if s is None else np.asarray(s, dtype=np.float64)
        return cls(**rebuilt({**body, "sample_weight": weights, "kernel": kernels.from_dict(body["kernel"])}))
